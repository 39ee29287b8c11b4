"""Which words of a message propose, and which of several named values stand for the proposal.

A message that asks for leave holds more than its proposal: what was before, what a flight does,
what would be if, prices of other cars. What is asked about counts first, then what is stated as
chosen ("建议…", "帮您约…"), and only where neither names a value of a kind any that is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from rideway.env.wording.values import Later, Value, values_in

_TAKEN_BACK = re.compile(
    r"""
    取消|原来|原定|原先|原本|之前|改自|上次|历史|以前|撤|不再|没有(?!问题|烟|异味)|暂无|无法
    |[约叫订]不到|不支持|满了|不够|而不是
    """,
    re.VERBOSE,
)
_PAST = re.compile(
    r"""
    上(?:个?月|个?星期|个?礼拜|个?周|回|一次|趟)|那(?:位|次|回|趟|单|天(?!早|晚))|去年|昨[天晚日]|前[天晚]
    |当[时初]|送过|坐过
    """,
    re.VERBOSE,
)
"""Speaks of an earlier ride: its time and date are no proposal."""
_CONDITION = re.compile(
    r"""
    (?<!可以)(?<!没问题)(?<!没有问题)(?<!确认)(?<!同意)(?<!合适)(?<!方便)(?<!无误)(?<!行)(?<!好)(?<!接受)
        (?<!需要)(?<!OK)(?<!ok)的话
    |^\W*(?:如果|要是|万一|假如|若是|除非|倘若)(?!.{0,4}(?:没|可以|同意|确认|合适|方便))
    |^\W*(?:备选|候选|另外也|也可以选|其[他它]可选)
    """,
    re.VERBOSE,
)
"""What would be if, or instead."""
FLIGHT = re.compile(
    "航班|飞机|班机|高铁|火车(?!站)|动车|列车|轮渡|落地|起飞|降落|延误|(?<![A-Z\\d])[A-Z\\d]{2}\\d{3,4}(?!\\d)"
)
_RIDE = re.compile(
    "(?<![火动列发班])车|[接送]|您(?!的?(?:航班|飞机|班机|高铁|火车|动车|列车|[坐乘]))"
    "|帮|安排|出发|建议|目的地|路线|→"
)
_CARRIED = re.compile(
    "(?:航班|飞机|班机|高铁|火车|动车|列车|轮渡)[^,。;车接送]{0,6}[从由在][^,。;]{2,12}(?:出发|起飞|发车|始发)"
)
"""Speaks of a journey by something else than the car: "这次航班是从浦东机场T1出发的"."""
_CHOSEN = re.compile(
    r"""
    建议|推荐|首选|就(?:用|选|按|坐|订|约|要|定|换)|(?:换|改)[成为到用]|车型(?:是|为|:|用|选)
    |(?:帮|给|为|替)您[^,。;!?\n]{0,10}(?:订|约|选|安排|用|换|改|叫|派|配)
    |按[^,。;!?\n]{1,8}(?:订|约|来|安排|下单)|(?:选|用|订|约)的是
    """,
    re.VERBOSE,
)
_PIECE = re.compile(r"[^,。;!?\n]+[,。;!?\n]*")
_CLOSED = re.compile(r"[。;!?\n]\W*$")
_LISTED_KEYS = frozenset({"car_type", "price_max"})
"""What agents lay out side by side for comparison."""
_SUMMED_KEYS = frozenset({"passengers", "luggage"})
"""What adds up over clauses ("两个大人,一个小孩")."""


class Words(NamedTuple):
    """The words of a message that propose.

    `text`: without what is taken back, `proposed`: also without what was before or would be if,
    `sentences`: spans of `proposed` in which leave is asked, as spans of their clauses,
    `chosen`: spans of clauses that state a choice.
    """

    text: str
    proposed: str
    sentences: tuple[tuple[tuple[int, int], ...], ...]
    chosen: tuple[tuple[int, int], ...]


def words_that_propose(text: str, asked: Iterable[str], now: datetime) -> Words:
    """The proposing words of a normalised text; `asked`: the clauses in it that ask for leave."""
    kept, proposed = [], ""
    spans: list[tuple[int, int]] = []
    breaks: list[int] = []
    chosen: list[tuple[int, int]] = []
    elsewhere = False
    for piece in _PIECE.findall(text):
        elsewhere = (elsewhere or FLIGHT.search(piece) is not None) and not _RIDE.search(piece)
        ends = _CLOSED.search(piece) is not None
        if not _TAKEN_BACK.search(piece):
            kept.append(piece)
            if not (
                elsewhere
                or _PAST.search(piece)
                or _CONDITION.search(piece)
                or _long_ago(piece, now)
            ):
                span = (len(proposed), len(proposed) + len(piece))
                proposed += piece
                spans.append(span)
                if _CHOSEN.search(piece):
                    chosen.append(span)
        if ends:
            elsewhere = False
            breaks.append(len(proposed))
    sentences = []
    for question in asked:
        end = _end_of(question, proposed)
        start = max((at for at in breaks if at < end), default=0)
        if clauses := tuple(span for span in spans if start <= span[0] < end):
            sentences.append(clauses)
    return Words("".join(kept), proposed, tuple(sentences), tuple(chosen))


def _end_of(question: str, text: str) -> int:
    """Where a question ends in a text; 0 where it does not stand there."""
    for size in (16, 8, 5):
        tail = question.rstrip()[-size:]
        if (place := text.rfind(tail)) >= 0:
            return place + len(tail)
    return 0


def values_proposed(words: Words, now: datetime) -> dict[str, list[Value]]:
    """The values that stand for the proposal, by key."""
    named: dict[str, list[Value]] = {}
    for value in values_in(words.proposed):
        if value.key != "date" or not over(value, now):
            named.setdefault(value.key, []).append(value)
    if "time" in named:
        times = named["time"]
        exact = [v for v in times if not (isinstance(v.value, Later) and v.value.implied)]
        named["time"] = exact or times
    return {key: list(_meant(key, values, words)) for key, values in named.items()}


def _meant(key: str, values: Sequence[Value], words: Words) -> Iterable[Value]:
    """Of several values of a kind those that are proposed."""
    if len(values) < 2:
        return values
    found: list[Value] = []
    for clauses in words.sentences:
        if key in _SUMMED_KEYS:
            found += [v for v in values if any(_within(v, clause) for clause in clauses)]
            continue
        for clause in reversed(clauses):
            if here := [v for v in values if _within(v, clause)]:
                # "用快车(特惠快车便宜13元)": what stands in brackets is said beside it
                found += [v for v in here if not _in_brackets(v, words.proposed)] or here
                break
    if not found and key in _LISTED_KEYS:
        found = [v for v in values if any(_within(v, clause) for clause in words.chosen)]
    return found or values


def _in_brackets(value: Value, text: str) -> bool:
    return text.rfind("(", 0, value.start) > text.rfind(")", 0, value.start)


def _within(value: Value, span: tuple[int, int]) -> bool:
    return span[0] <= value.start < span[1]


def _long_ago(piece: str, now: datetime) -> bool:
    """Whether a clause tells of a journey that is no ride to come."""
    if _CARRIED.search(piece):
        return True
    days = [value for value in values_in(piece) if value.key == "date"]
    return bool(days) and all(over(value, now) for value in days)


def over(value: Value, now: datetime) -> bool:
    """Whether a date has passed: it is told of, not proposed."""
    days = value.value.dates(now.date())
    return bool(days) and max(days) < now.date()


_QUOTE = r"(?:“[^”\n]{1,10}”|「[^」\n]{1,10}」|『[^』\n]{1,10}』|\"[^\"\n]{1,10}\")"
_ECHO = re.compile(
    rf"""
    {_QUOTE}(?=,?，?(?:我|这边|咱|指|是指|的意思|按|这个说法))
    |(?<=您说)的?{_QUOTE}|(?<=您提到)的?{_QUOTE}|(?<=您刚才说)的?{_QUOTE}
    """,
    re.VERBOSE,
)


def without_echoes(text: str) -> str:
    """A raw text without the user's own words in quotes ("“回家”我按爸妈家订的")."""
    return _ECHO.sub("", text)
