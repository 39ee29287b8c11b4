"""What an agent's Chinese message does: its acts, and the topics that it asks about.

A message is read sentence by sentence and clause by clause. Only a clause that asks (an
interrogative, a request, the bare noun in front of a question mark, a line of a list that a request
announces) can ask about a topic; a statement that mentions one never does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from rideway.env.wording import clauses as marks
from rideway.env.wording import layout
from rideway.env.wording.acts import QUESTIONS, Act, Question, statement_acts
from rideway.env.wording.dialect import standard
from rideway.env.wording.english import english_act, english_topics
from rideway.env.wording.questions import questions_in, questions_in_brackets
from rideway.env.wording.topics import CAR_TYPES, Topic

__all__ = ["QUESTIONS", "Act", "Question", "Topic", "Understanding", "topics_asked", "understand"]


class Understanding(NamedTuple):
    """What one message does; `text` is the normalised message."""

    acts: frozenset[Act]
    questions: tuple[Question, ...]
    text: str

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics asked about, each once, in their order."""
        asked = (q for q in self.questions if q.act in (Act.ASK, Act.OFFER))
        return tuple(dict.fromkeys(topic for question in asked for topic in question.topics))

    @property
    def asks(self) -> bool:
        """Whether the user owes an answer."""
        return not QUESTIONS.isdisjoint(self.acts)


def topics_asked(text: str) -> tuple[Topic, ...]:
    """The topics that a message asks the user about."""
    return understand(text).topics


@lru_cache(maxsize=8192)
def understand(text: str) -> Understanding:
    """What a message does; any text is read, an empty one is SILENT."""
    said = layout.without_tables(layout.without_notes(text))
    plain = _plain(text)
    spoken = plain if said == text else _plain(said)
    text = plain
    if not any(c.isalnum() for c in text):
        # a lone question mark is a prod of the agent's own
        return Understanding(frozenset({Act.SILENT}), (), text)
    if not marks.CHINESE.search(text):
        return _english(text)
    read = _Reading()
    for sentence in marks.sentences(spoken):
        read.take(sentence)
    questions = [_with_options(question, text) for question in read.all_questions()]
    acts = read.acts | {question.act for question in questions}
    if not acts or (acts == {Act.REPORT}):
        acts.add(Act.INFORM)
    return Understanding(frozenset(acts), tuple(questions), text)


def _plain(text: str) -> str:
    """Normalised text in standard words, the marks of layout turned into those of speech."""
    return standard(layout.with_points(layout.without_pictures(marks.normalise(text))))


class _Reading:
    """What was read of a message so far, sentence by sentence."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.acts: set[Act] = set()
        self._listing = False  # a request announced the lines below
        self._checking = False  # it announced that they are to be confirmed
        self._lead = 0  # how many questions stood there when it did
        self._heading = ""  # the last line above the points of a list
        self._in_point = False  # in a line that is a point of a list
        self._starts = True  # a new line starts
        self._line = ""

    def take(self, sentence: str) -> None:
        """Reads one sentence with its closing marks."""
        bullet = marks.BULLET.match(sentence)
        body = marks.unbracketed(sentence[bullet.end() if bullet else 0 :])
        if self._starts:
            self._in_point, self._line = bullet is not None, ""
        found = self._asked(sentence, body, bullet is not None)
        self._note(found, sentence, body, bullet is not None)
        self._starts = "\n" in sentence
        self._line = body if len(self._line) > _SHORT else f"{self._line}{body}"
        if self._starts and not self._in_point and body:
            self._heading = self._line if body.endswith((":", "?")) else ""

    def _asked(self, sentence: str, body: str, bullet: bool) -> list[Question]:
        """The questions of a sentence, with the line that says what they are about."""
        listed = self._listing and (bullet or len(body) < 12)
        listed = listed or (self._checking and bullet and _NOUNS.fullmatch(body) is not None)
        if _ENGLISH.search(body) and not marks.CHINESE.search(body):
            found = list(_english(body).questions)
        else:
            found = list(questions_in(body, listed))
            if listed and (inner := questions_in_brackets(sentence)):
                found.append(inner)
        found = [_without_lead(question) for question in found]
        last = self.questions[-1] if self.questions and not self._starts else None
        if last and self.follows:
            found = [_guess(question, last) for question in found]
        if bullet or self._in_point:
            line = f"{self._heading}{body}"
        elif last and self.follows and len(body) <= _SHORT:
            line = f"{last.line or last.text}{body}"
        else:
            return [q._replace(line=body) if q.before or q.text not in body else q for q in found]
        if last and self.follows and len(body) <= _SHORT:
            line = f"{last.line or last.text}{body}"
        return [question._replace(line=line) for question in found]

    follows = False
    """Whether the sentence before asked something."""

    def _note(self, found: list[Question], sentence: str, body: str, bullet: bool) -> None:
        """Keeps what a sentence asks or does."""
        self.follows = bool(found)
        self.questions += found
        if not found:
            self.acts |= statement_acts(body)
        if (self._listing or self._checking) and bullet and found:
            # "麻烦告诉我几点:" asks nothing beside the lines below it
            head = [q for q in self.questions[: self._lead] if not _announces(q)]
            self.questions = head + self.questions[self._lead :]
            self._lead = len(head)
        elif not bullet and not (self._listing and found):
            announced = _LIST_HEADER.search(sentence) and marks.REQUEST.search(sentence)
            # below "请确认以下信息" stands a summary
            self._checking = any(question.act is Act.CONFIRM for question in found)
            self._listing = bool(announced) and not self._checking
            self._checking = self._checking and body.endswith(":")
            self._lead = len(self.questions)
        elif bullet:
            self._checking = False

    def all_questions(self) -> list[Question]:
        """The questions of the message, without those that only invite an answer."""
        found = self.questions
        if any(question.amiss for question in found):
            return [q for q in found if q.amiss or not _ALTERED.search(q.text)]
        asking = [q for q in found if q.topics or q.act is not Act.ASK]
        if asking or not found:
            return asking
        return [found[0]._replace(topics=(Topic.OTHER,))]


_LEAD = re.compile(
    r"""
    ^(?:等|先|您|你)?[^,]{0,4}(?:拍|看|吃|逛|玩|办|买|接|送|忙|听|参观)完[^,在是就要还去回从到几大什哪谁多往]{0,6}
    (?:之?后|以后)?(?=在|是|就|要|还|去|回|从|到|直接)
    """,
    re.VERBOSE,
)
"""What comes before that which is asked about: "拍完日落在哪下车?" does not ask about sunset."""


def _without_lead(question: Question) -> Question:
    return question._replace(text=_LEAD.sub("", question.text))


def _announces(question: Question) -> bool:
    """Whether a request says no more than that questions follow."""
    return not question.topics or question.topics == (Topic.OTHER,)


def _guess(question: Question, last: Question) -> Question:
    """A guess at the answer of the question in front of it: "送到哪里?是家里吗?"."""
    vague = question.topics == (Topic.OTHER,) and question.polar and _GUESS.match(question.text)
    between = _ENDS.issuperset((*question.topics, *last.topics)) and question.topics
    if vague or (
        between and marks.ASKS_WHICH.search(last.text) and not _TOWARDS.search(question.text)
    ):
        return question._replace(topics=last.topics)
    return question


_ENDS = frozenset({Topic.ORIGIN, Topic.DESTINATION})
_TOWARDS = re.compile("[去到从送回接]|[上下]车|出发")
_GUESS = re.compile("^(?:也|就|会)?(?:是|在)(?!不是)|^还是(?!需要)")
_ALTERED = re.compile("不合适|不满意|不行|不对|不妥|调整|换|改|还是")
"""Guesses at what was wrong, below the question what it was."""
_SHORT = 8
"""Characters of a question that goes on with the subject of the one in front of it ("几点?")."""
_ONE_OF: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    (Topic.CAR_TYPE, re.compile("|".join(CAR_TYPES))),
    (Topic.DRIVER, re.compile("师傅|司机")),
    (Topic.ROUTE, re.compile("路线|高速|高架|大桥|隧道")),
)


def _with_options(question: Question, text: str) -> Question:
    """A bare "您选哪个" with its topic: that of which the message names two or more."""
    bare = question.topics == (Topic.OTHER,) and not marks.CHOICE.search(question.text)
    if question.act is Act.OFFER and bare:
        for topic, pattern in _ONE_OF:
            if len(set(pattern.findall(text))) > 1 or len(pattern.findall(text)) > 1:
                return question._replace(topics=(topic,))
    return question


_ENGLISH = re.compile(r"[A-Za-z]{2,}\W+[A-Za-z]{2,}")
_LIST_HEADER = re.compile(
    r"""
    [:]\s*$|以下|如下|下面|这些|[几两三]项|几[样条](?:信息|问题|内容|情况|事)
    """,
    re.VERBOSE,
)
_NOUNS = re.compile(
    r"""
    [^:?]{0,8}(?:
        地点|地址|位置|时间|几点[^,:]{0,4}|人数|行李|车型|号码?|方式|要求|需求|备注|目的地|出发地|情况|数量
        |姓名|称呼|电话
    )(?:\(.*\))?[。;]?
    """,
    re.VERBOSE,
)
"""The line of a list that names what is wanted, and tells nothing."""

_INITIALS = re.compile(r"[A-Z][A-Z0-9&]{1,7}\?+$")
_ENGLISH_ACTS = {
    "anything_else": Act.ANYTHING_ELSE,
    "opening": Act.OPENING,
    "confirm": Act.CONFIRM,
    "finished": Act.FINISHED,
    "greet": Act.GREET,
}


def _english(text: str) -> Understanding:
    """A message without a Chinese character: the common questions, or FOREIGN."""
    if topics := english_topics(text):
        return Understanding(frozenset({Act.ASK}), (Question(Act.ASK, topics, text),), text)
    if _INITIALS.match(text):  # "IFS?" is a name of the map
        question = Question(Act.ASK, (Topic.DESTINATION,), text, polar=True)
        return Understanding(frozenset({Act.ASK}), (question,), text)
    name = english_act(text)
    if name is None:
        return Understanding(frozenset({Act.FOREIGN}), (), text)
    act = _ENGLISH_ACTS[name]
    if act not in QUESTIONS:
        return Understanding(frozenset({act}), (), text)
    question = Question(act, (), text, polar=True, more=act is Act.ANYTHING_ELSE, closing=True)
    return Understanding(frozenset({act}), (question,), text)
