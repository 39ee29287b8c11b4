"""Which agenda items a question means: by cue, by topic, by the words it shares with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from rideway.env.agenda_items import Item
from rideway.env.understanding import Act, Question
from rideway.env.wording.topics import Topic

_WHICH = re.compile("哪(?:一?[个边家头趟种间所位处]|$)|(?<!是)还是")
_COMMON = frozenset(
    "的了吗呢吧您你我是有要不什么几多少请问好这那个在和到去就会可以能想给对一上下大还点"
)
"""Characters that say nothing of what a question is about."""
NO_WISH = frozenset(
    {
        Topic.LUGGAGE,
        Topic.CHILD,
        Topic.PET,
        Topic.WAYPOINT,
        Topic.CAR_NEEDS,
        Topic.DRIVER,
        Topic.ROUTE,
        Topic.BUDGET,
        Topic.NOTES,
        Topic.REMINDER,
    }
)
"""Topics of which a rider without an item has no wish, rather than no knowledge."""
MINDS = re.compile("介意|在意|反对")
"""Asks whether something would bother the user: what he wishes of other things is no answer."""
_INSTEAD = {Topic.FLIGHT: Topic.TIME, Topic.CAR_NEEDS: Topic.CAR_TYPE}
"""Where nothing is known of a topic, the one that answers it as well."""


def candidates(topic: Topic, items: Sequence[Item], *, exactly: bool = False) -> list[Item]:
    """The items of a topic; of its stand-in where it has none, unless `exactly` it is meant."""
    found = [item for item in items if topic in item.topics]
    if not found and topic in _INSTEAD and not exactly:
        found = [item for item in items if _INSTEAD[topic] in item.topics]
    return found


def ranked(
    question: Question, topic: Topic, items: Sequence[Item], told: Mapping[str, int]
) -> list[Item]:
    """The items that a question about a topic may mean, best first.

    A cue wins over all; then an item whose first topic it is; then what was not said yet; then the
    item with fewer other topics, and the one that shares more characters with the question.
    """
    text = question.text

    def order(item: Item) -> tuple[bool, bool, bool, int, int]:
        return (
            not item.means(text),
            not item.topics or item.topics[0] is not topic,
            told.get(item.id, 0) > 0,
            -_shared(text, item),
            len(item.topics),
        )

    found = [
        item
        for item in candidates(topic, items, exactly=MINDS.search(text) is not None)
        if item.means(text) or not (told.get(item.id) and _settled(question, topic, item))
    ]
    found = [item for item in found if item.means(text) or not _at_another_time(text, item)]
    return found if len(found) < 2 else sorted(found, key=order)


_FURTHER = re.compile(
    "第[二三四五]|后[面头]?[两三几]|下一?[程趟站段]|回程|返程|回来|往回|另一?[程趟]|剩下|其余"
)
_PARTS_OF_DAY = (
    (re.compile("早上|早晨|清早|清晨|明早|今早"), 4 * 60, 11 * 60 + 30),
    (re.compile("上午"), 5 * 60, 12 * 60 + 30),
    (re.compile("中午"), 10 * 60 + 30, 14 * 60 + 30),
    (re.compile("下午"), 11 * 60 + 30, 19 * 60),
    (re.compile("傍晚"), 16 * 60, 20 * 60),
    (re.compile("晚上|今晚|明晚|夜里|夜间"), 17 * 60, 24 * 60),
)


def _settled(question: Question, topic: Topic, item: Item) -> bool:
    """Whether an item that was told is not what is asked now: of a further ride, or a detail.

    "后两程几点走" does not ask again for the time that was told, nor "17:20 和 17:30 用哪个" for
    the day.
    """
    if _FURTHER.search(question.text):
        return True
    of_the_day = item.facts.date and not item.facts.time
    return question.act is Act.OFFER and topic is Topic.TIME and bool(of_the_day)


def _at_another_time(text: str, item: Item) -> bool:
    """Whether a question speaks of another part of the day than an item ("傍晚几点走")."""
    times = item.facts.time
    return bool(times) and any(
        part.search(text) and not any(first <= time < end for time in times)
        for part, first, end in _PARTS_OF_DAY
    )


def meant_by_cue(question: Question, items: Sequence[Item]) -> list[Item]:
    """The items of which a cue stands in the question, whatever its topic.

    "…有东单和西单两个院区，您挂的哪边的号？": what it asks to choose among may stand before it.
    """
    found = [item for item in items if item.cues and item.means(question.text)]
    vague = question.topics == (Topic.OTHER,)
    if not found and question.before and (vague or _WHICH.search(question.text)):
        found = [item for item in items if item.cues and item.means(question.before)]
    if not found and question.line:
        heading = question.line.partition(question.text)[0]
        found = [
            item
            for item in items
            if item.cues
            and item.means(question.line)
            and (vague or _shares(question, item) or _spans(item, heading, question.text))
        ]
    # of "拍完日落去哪里" the end is meant, not the sunset
    fitting = [item for item in found if not item.topics or _shares(question, item)]
    return fitting or found


def _spans(item: Item, heading: str, text: str) -> bool:
    """Whether a cue begins in a heading and ends in the question below it."""
    return not item.means(heading) and item.means(heading + text)


def _shares(question: Question, item: Item) -> bool:
    return not set(item.topics).isdisjoint(question.topics)


_RETURN = re.compile("返程|回程|往返|返回时|回来(?:的(?:车|时候|那)|时|几点)|几点回来|去回|来回")


def of_a_return(about: Question | Item) -> bool:
    """Whether a question or an item speaks of the way back."""
    if isinstance(about, Question):
        return _RETURN.search(about.text) is not None
    return about.means("返程") or about.means("回程") or _speaks_of_a_return(about)


@lru_cache(maxsize=4096)
def _speaks_of_a_return(item: Item) -> bool:
    return any(_RETURN.search(text) or "回" in text for text in item.say)


def echoed(options: Sequence[str], items: Sequence[Item]) -> Item | None:
    """The item whose words one of several options repeats ("还是原话照抄"), the others none of."""
    pairs = [{option[at : at + 2] for at in range(len(option) - 1)} for option in options]
    heard: list[Item | None] = []
    for own in pairs:
        alone = {
            p for p in own if sum(p in other for other in pairs) == 1 and _COMMON.isdisjoint(p)
        }
        fits = (i for i in items if any(pair in text for pair in alone for text in i.say))
        heard.append(next(fits, None))
    found = [item for item in heard if item is not None]
    return found[0] if len(found) == 1 and len(pairs) > 1 else None


def covered(question: Question, item: Item) -> int:
    """How many of the topics of a question an item is about."""
    return len(set(item.topics).intersection(question.topics))


def _shared(text: str, item: Item) -> int:
    return len(_characters(item) & set(text))


@lru_cache(maxsize=4096)
def _characters(item: Item) -> frozenset[str]:
    return frozenset("".join(item.say)) - _COMMON


def answers(question: Question, item: Item) -> bool:
    """Whether an item is about a question at all, by a cue or a topic."""
    return item.means(question.text) or _shares(question, item)
