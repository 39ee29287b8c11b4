"""The questions of a sentence: which clauses ask, and what each of them wants to hear."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rideway.env.wording import clauses as marks
from rideway.env.wording.acts import Act, Question
from rideway.env.wording.asking import NOTE, joined, kinds_of, purpose
from rideway.env.wording.english import english_words
from rideway.env.wording.general import AMISS, AT_WILL, BOOK, MORE, NO_MORE_THAN, general
from rideway.env.wording.topics import Topic, topics_in
from rideway.env.wording.values import values_in
from rideway.env.wording.whereabouts import KIND_OF_PLACE


def questions_in(sentence: str, listed: bool) -> Iterator[Question]:
    """The questions of one sentence."""
    parts = joined(marks.clauses(sentence))
    if not parts:
        return
    marked = "?" in sentence
    headed = sentence.startswith(f"{parts[0]}:")
    if not listed and not marked and headed and NOTE.search(parts[0]):
        return  # "备注:到了请发短信" tells what was noted
    if listed and not marked and (len(parts) == 1 or headed):
        # "1. 出发时间" below "请提供以下信息:", "4. 车型:快车/专车"
        if not purpose(parts[0]):
            yield from _noted(parts[0], sentence)
        return
    kinds = kinds_of(parts, sentence)
    if headed and kinds[0] == "question" and not marked and len(parts) > 1 and not any(kinds[1:]):
        return  # "要不要提前约:要的,…" heads its answer
    yield from _told_apart(_by_clause(parts, kinds, parts[0] if headed else ""))


def _by_clause(parts: list[str], kinds: list[str], head: str) -> list[Question]:
    """What the asking clauses of a sentence want; `head` is the label in front of its colon."""
    ends = _ENDS.intersection(topics_in(head)) if head else frozenset()
    place = ended = 0
    last: Question | None = None
    found: list[Question] = []
    while place < len(parts):
        kind, end = kinds[place], place + 1
        if kind in ("request", "heading"):
            # the nouns after a request belong to it: "请告诉我出发地,目的地"
            while end < len(parts) and kinds[end] in ("", "bare") and not purpose(parts[end]):
                end += 1
        elif kind == "" or kind == "self":
            place = end
            continue
        words = ",".join(parts[place:end])
        before = [part for part, k in zip(parts[:place], kinds, strict=False) if k == ""]
        if found and ended == place and _another_option(words, found[-1]):
            # "13:00 是出发时间,还是要在13:00前到?" asks once
            if marks.ASKS_WHICH.search(found[-1].text):
                place = end
                continue
            words = f"{found.pop().text},{words}"
        place = ended = end
        question = _question(kind, words, before, last)
        if question is None:
            continue
        if len(ends) == 1 and place > 1 and question.topics and _ENDS.issuperset(question.topics):
            question = question._replace(topics=tuple(ends))  # "出发地:具体地址是?"
        vague = not question.topics or question.topics == (Topic.OTHER,)
        if last and vague and question.act is not Act.CONFIRM and not question.closing:
            if kind == "request" or question.act is not Act.ASK:
                continue  # "还差一个出发时间,麻烦补充一下" asks once
            question = question._replace(topics=last.topics)
        last = question if question.topics else last
        before = [part for part in before if part not in question.text]
        found.append(question._replace(before=",".join(before)) if before else question)
    return found


def _another_option(words: str, last: Question) -> bool:
    """Whether a clause goes on with the choice that the clause before it began."""
    return (
        words.startswith("还是")
        and not marks.POLAR_END.search(words)
        and not marks.POLAR_END.search(last.text)
    )


def _told_apart(found: list[Question]) -> Iterator[Question]:
    """The questions of a sentence without those that only announce the others."""
    lead = ""
    for number, question in enumerate(found):
        # "跟您确认两点:一是几点走,…" announces what it asks
        later = found[number + 1 :]
        if question.act is Act.CONFIRM and any(q.act is Act.ASK for q in later):
            bare = not (values_in(question.text) or marks.TAIL_TAG.search(question.text))
            announces = bare or bool(_ANNOUNCED.search(question.text))
        else:
            vague = question.topics == (Topic.OTHER,) and not _ANOTHER_CAR.search(question.text)
            announces = vague and bool(later)
        if announces:
            lead = f"{lead}{question.text},"
        else:
            # "伞长什么样子,什么颜色的?" is one question
            vague = bool(lead) and question.topics == (Topic.OTHER,)
            yield question._replace(text=lead + question.text) if vague else question
            lead = ""


def _noted(words: str, sentence: str) -> Iterator[Question]:
    """What a line of a list asks without a question mark: a noun, or a wish ("其他要求")."""
    which = marks.ASKS_WHICH.search(words) is not None
    more = MORE.search(words) is not None
    if topics := topics_in(words):
        polar = not which and marks.interrogative(words)
        wide = _WIDE.search(words) is not None
        yield Question(Act.ASK, topics, sentence, polar, more, wide)
    elif found := general(words, which, more):
        yield found


_INNER = re.compile(r"\(([^()]{2,60})\)")
_EXAMPLE = re.compile("^(?:包?含|包括|例|比如|譬如|如|即|根据|按|用于|方便|以|好让|可|选填|必填)")


def questions_in_brackets(line: str) -> Question | None:
    """What the brackets of a list's line ask in detail: "乘车人数(几大几小,是否带孩子)"."""
    found = [
        topic
        for inner in _INNER.findall(line)
        for part in re.split("[,、;/]", inner)
        if not _EXAMPLE.match(part) and not purpose(part)
        for topic in topics_in(part)
    ]
    topics = tuple(dict.fromkeys(found))
    wide = _WIDE.search(line) is not None
    return Question(Act.ASK, topics, line, wide=wide) if topics else None


_WIDE = re.compile(
    r"""
    要求|需求|偏好|讲究|注意|喜好|忌讳|习惯|特殊|特别|想法|期望|倾向|叮嘱|嘱咐|顾虑|担心
    |条件|指定|希望|在意|介意
    """,
    re.VERBOSE,
)
_EXTRA = frozenset(
    {
        Topic.CHILD,
        Topic.PET,
        Topic.NOTES,
        Topic.REMINDER,
        Topic.CAR_NEEDS,
        Topic.WAYPOINT,
        Topic.LUGGAGE,
        Topic.ROUTE,
        Topic.CONTACT,
        Topic.FLIGHT,
        Topic.BUDGET,
    }
)
"""Topics that "需要帮您…吗" asks about; elsewhere it offers to act."""
_CORE = frozenset({Topic.TIME, Topic.ORIGIN, Topic.DESTINATION, Topic.PEOPLE, Topic.CAR_TYPE})
_NEED = re.compile(
    r"""
    需要|要不要|需不需要|要求|偏好|介意|用不用|想要|有没有|有无|有什么|怕
    """,
    re.VERBOSE,
)
_IN_ORDER = re.compile(
    r"""
    (?:是否|有没有|有无)(?:都)?(?:正确|无误|准确|合适|可以|有误|同意|满意|可行)
    |(?:信息|订单|方案|安排|这样|以上|行程)[^,]{0,8}(?:有没有|有无|没|有)(?:什么)?(?:问题|错|误)
    """,
    re.VERBOSE,
)
_TO = re.compile("[去到往送]")
_LATIN = re.compile("[a-z]{4}")
_ENDS = frozenset({Topic.ORIGIN, Topic.DESTINATION, Topic.WAYPOINT})
_VAGUE_PLACE = re.compile(
    rf"""
    ^(?:那|请问|具体|详细|的|是|在|呢|啊|地址|位置|{marks.WHERE}|[?\s])+$
    """,
    re.VERBOSE,
)
_WHICH_ONE = re.compile("^(?:请问|那|您|你|说|指|的|是|要|想)*哪一?[位个][呀呢啊]?\\W*$")
_ANOTHER_CAR = re.compile(
    r"""
    (?:回程|返程|回去|回来|回[^,]{1,6})的?(?:车|行程)?[^,]{0,4}
        (?:需不?需?要|要不要|是否|用不用|要)[^,]{0,8}(?:约|订|叫|安排)
    |(?:需不?需?要|要不要|是否|用不用)[^,]{0,8}(?:约|订|叫|安排)[^,]{0,3}
        (?:回程|返程|回去|回来|回[^,]{1,6}的车)
    """,
    re.VERBOSE,
)
"""Offers a further car: a cue alone can tell whether the user has thought of it."""
_BARE_NAME = re.compile(
    rf"^[^,的]{{2,10}}?(?:(?P<road>大桥|隧道|高架|高速|[路环])|{KIND_OF_PLACE}\)?)\?+$"
)
"""A name alone with a question mark: whether the user means it."""
_INVITES = re.compile("^(?:那|好|您|你|先|继续)*(?:请讲|请说|请吩咐)(?:吧)?\\W*$")
_NEEDS_IT = re.compile(
    "^(?:您|你)?看?(?:是否|也|还)?(?:需要|要|用得上|介意)(?:吗|么|不|的?吗)\\W*$"
)
_AGREED_BEFORE = re.compile(
    r"""
    (?:的话,?|没问题,?|那|^)我?就(?:帮|给|为|替|直接)?(?:您|你)?(?:下单|约|订|定|确认|安排|叫|提交)
    """,
    re.VERBOSE,
)
_PLEASE = re.compile("请问|请教|借问|问(?:一下)?")
_SERVES = re.compile("(?:帮|为|给|替)(?:您|你)(?:再|先)?(?:查|看看|推荐|比较|对比|算|介绍|规划)")
_ANNOUNCED = re.compile("[两三几]项$|[几两三四]个(?:信息|问题|事)|以下|下面")
_ONLY_POLITE = re.compile("^[^,]{0,4}请问\\W*$|^(?:还|只|就)(?:差|缺)")


def _question(kind: str, words: str, before: list[str], last: Question | None) -> Question | None:
    """What one asking stretch of a sentence wants to hear.

    `before` are the statements in front of it, `last` the question asked before it.
    """
    if kind == "tag":
        return Question(Act.CONFIRM, (), words, polar=True)
    if _INVITES.match(words):
        return Question(Act.OPENING, (), words)
    if kind == "heading":
        kind, before = "request", []  # what is asked for stands below
    before = [part for part in before if not marks.CONDITION.match(part)]
    if words.startswith(("还是", "以及")) and before and not marks.POLAR_END.search(words):
        words = f"{before[-1]},{words}"
    if AMISS.search(words):
        return Question(Act.ASK, (Topic.OTHER,), words, amiss=True)
    topics = topics_in(words)
    if _LATIN.search(words):
        topics = _with_english(words, topics)
    which = marks.ASKS_WHICH.search(words) is not None
    more = MORE.search(words) is not None
    if _WHICH_ONE.match(words) and before:
        topics = topics_in(before[-1]) or topics
    elif _ANOTHER_CAR.search(words):
        return Question(Act.ASK, (Topic.OTHER,), words, polar=True)
    if _VAGUE_PLACE.match(words):
        topics = _ends_before(last, before, words) or topics
    if kind == "bare" and not topics and (name := _BARE_NAME.match(words)):
        topics = (Topic.ROUTE if name["road"] else Topic.DESTINATION,)
    if _AGREED_BEFORE.search(words) or (not topics and _IN_ORDER.search(words)):
        return Question(Act.CONFIRM, (), words, polar=True)
    checks = marks.CONFIRM_WORD.search(words) is not None
    if not (topics or checks or before) and kind == "request" and NO_MORE_THAN.match(words):
        return Question(Act.ASK, (), words)
    if not topics or (more and topics == (Topic.PURPOSE,)):
        looked = () if more else _topics_before(before, 24 if _NEEDS_IT.match(words) else 12)
        if not looked and (found := general(words, which, more)):
            return found
        if looked and not (marks.TAIL_TAG.search(words) or BOOK.search(words)):
            wide = _WIDE.search(words) is not None
            return Question(Act.ASK, looked, words, not which, more, wide)
    if _chooses(words, which):
        return Question(Act.OFFER, topics or (Topic.OTHER,), words)
    if not which and _confirms(kind, words, topics):
        return Question(Act.CONFIRM, topics, words, polar=True)
    if not topics:
        if _ONLY_POLITE.search(words) or AT_WILL.search(words):
            return None
        if kind == "request" and NO_MORE_THAN.match(words):
            return Question(Act.ASK, (), words)
        topics = (Topic.OTHER,)
    return Question(Act.ASK, topics, words, not which, more, _WIDE.search(words) is not None)


def _with_english(words: str, topics: tuple[Topic, ...]) -> tuple[Topic, ...]:
    """The topics of a Chinese clause with English words in it ("pickup location 是哪里")."""
    english = english_words(words)
    if Topic.TIME in topics:
        english = tuple(topic for topic in english if topic is not Topic.ORIGIN)
    if _ENDS.intersection(english) and not _TO.search(words):
        topics = tuple(topic for topic in topics if topic not in _ENDS)
    return tuple(dict.fromkeys((*topics, *english)))


def _ends_before(last: Question | None, before: list[str], words: str) -> tuple[Topic, ...]:
    """Which end of the ride a bare "具体是哪里" means: that of the words in front of it."""
    if last and (ends := tuple(topic for topic in last.topics if topic in _ENDS)):
        return ends
    return topics_in(f"{before[-1]}{words}") if before else ()


def _topics_before(before: list[str], most: int) -> tuple[Topic, ...]:
    """The topics of a short lead such as "关于司机," or "您的出发时间,"."""
    for part in reversed(before):
        if (
            len(part) > (30 if "、" in part else most)
            or _OF_NO_TOPIC.search(part)
            or part.endswith("了")
            or marks.POLITE.match(part)
            or values_in(part)
        ):
            continue
        if topics := topics_in(part):
            return topics
    return ()


_OF_NO_TOPIC = re.compile("^为|(?:女士|先生|小姐|老师|阿姨|叔叔|大爷|[您你]好)\\W*$")


def _chooses(words: str, which: bool) -> bool:
    if marks.CHOICE.search(words) and not re.search("[吗么]\\W*$", words):
        return True
    if ("或" in words and marks.WHICH.search(words)) or _TAKES.search(words):
        return True
    return which and marks.WHICH.search(words) is not None and not topics_in(words)


_TAKES = re.compile("(?:选|用|按|挑|定|要)哪一?个(?:时间|时段|方案|价)")


_AS_IT_IS = re.compile("就是|我[订定约选按]")
_COUNTED = re.compile("算不算|是不是算|算[^,]{0,4}吗")


def _confirms(kind: str, words: str, topics: tuple[Topic, ...]) -> bool:
    """Whether a yes-or-no question proposes something, rather than asking for a fact."""
    valued = bool(values_in(words))
    tail = marks.TAIL_TAG.search(words) is not None
    requested = marks.REQUEST.search(_PLEASE.sub("", words)) is not None
    if _SERVES.search(words) and not requested:
        return True
    checks = marks.CONFIRM_WORD.search(words) is not None
    if _IN_ORDER.search(words) or (checks and (valued or not topics or _AS_IT_IS.search(words))):
        return True
    if tail and (valued or not topics or not requested):
        return True
    if kind == "bare" and valued:
        return True
    offers = valued or _EXTRA.isdisjoint(topics)
    if BOOK.search(words) and not requested and offers:
        return True
    if _COUNTED.search(words):
        return False
    return valued and len(_CORE.intersection(topics)) > 1 and not _NEED.search(words)
