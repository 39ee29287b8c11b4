"""The answers of the agenda user: by cue, by topic, and to what it knows nothing of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from rideway.env.agenda_items import Agenda, Item
from rideway.env.agenda_memory import Memory
from rideway.env.agenda_speech import Speech
from rideway.env.phrases import Phrase
from rideway.env.proposals import Judge, Standing
from rideway.env.relevance import (
    MINDS,
    NO_WISH,
    answers,
    covered,
    echoed,
    meant_by_cue,
    of_a_return,
    ranked,
)
from rideway.env.understanding import Act, Question, Topic

_NEXT = re.compile(
    "第[二三四五六七八]|下一?[趟程单段位个]|接下来|其[余他它]几?[趟程单段]|剩下|另外[几两]?[趟程单段]"
)
"""Asks for what was not told yet: the next of several rides."""
_OFFERED = re.compile(
    "需不?需?要|要不要|用不用|想不想|是否需要|[帮给为替]您|(?:^|还|也|再)要[^,]*[吗么]"
)
_WHETHER_ANY = re.compile("有没有|有无|是否有|有[^,]*[吗么没]|带不带|带[^,]*[吗么]|[会是]不[会是]")


class Answers:
    """Answers the questions of one message.

    Args:
        active: The items that the user holds true.
        due: The revision that comes with this message, None where there is none.
        stands: How the message stands to the user's facts.
    """

    def __init__(
        self,
        agenda: Agenda,
        memory: Memory,
        speech: Speech,
        judge: Judge,
        active: Sequence[Item],
        due: Item | None,
        stands: Standing,
        now: datetime,
    ) -> None:
        self._agenda = agenda
        self._memory = memory
        self._speech = speech
        self._judge = judge
        self._active = active
        self._due = due
        self._stands = stands
        self._now = now

    def answer(self) -> list[Question]:
        """Answers what was asked; returns the questions that no item answers."""
        asked = [q for q in self._memory.heard.questions if q.act in (Act.ASK, Act.OFFER)]
        return [q for q in asked if not (self._choose(q) or self._answer_one(q))]

    def _choose(self, question: Question) -> bool:
        """Picks an offered option that fits the facts of what was already told."""
        if question.act is not Act.OFFER:
            return False
        known = [item for item in self._active if self._memory.told[item.id]]
        named = "还是" in question.text or "或" in question.text
        options = question.text if named else self._memory.heard.text
        label = self._judge.choice(options, known, self._now)
        if label is not None:
            self._speech.pieces.append(f"那就{label}吧。")
            return True
        if question.topics == (Topic.OTHER,) and (
            meant := echoed(question.text.split("还是"), known)
        ):
            self._speech.tell(meant)
            return True
        return False

    def _answer_one(self, question: Question) -> bool:
        """Answers each topic of a question with what fits it best; False: nothing was known."""
        refused = [item for item in self._active if item.id == self._memory.refused]
        if question.amiss and refused:
            self._speech.tell(refused[0])  # who asks what was wrong may hear it again
            return True
        if meant := meant_by_cue(question, self._active):
            for item in meant:
                self._retell(item)
            self._answer_beside(question, meant)
            return True
        if of_a_return(question) and not any(of_a_return(item) for item in self._active):
            return self._answer_later(question)
        if self._answer_next(question):
            return True
        answered = False
        for topic in question.topics:
            if found := ranked(question, topic, self._active, self._memory.told):
                answered = True
                if not self._told_all(question, found):
                    self._tell_best(question, topic, found[0])
        return answered or self._answer_later(question)

    def _answer_beside(self, question: Question, meant: list[Item]) -> None:
        """Tells what else a line asks for whose heading named the items meant."""
        words = f"{question.before},{question.text}"
        if any(not item.topics or item.means(words) for item in meant):
            return
        covering = {topic for item in meant for topic in item.topics}
        for topic in question.topics:
            found = ranked(question, topic, self._active, self._memory.told)
            if topic not in covering and found and not self._memory.told[found[0].id]:
                self._speech.tell(found[0])

    def _answer_next(self, question: Question) -> bool:
        """Answers what is asked of the next ride with the next item, if any, that tells of it."""
        if not _NEXT.search(f"{question.before},{question.text}") or question.polar:
            return False
        fresh = [item for item in self._active if not self._memory.told[item.id]]
        best = max(fresh, key=lambda item: covered(question, item), default=None)
        if best is None or not covered(question, best):
            return False
        self._speech.tell(best)
        return True

    def _answer_later(self, question: Question) -> bool:
        """Does not deny what is still to come: what is due answers, the rest is not settled yet."""
        told = self._memory.told
        coming = [i for i in self._agenda.items if i.revision and not told[i.id]]
        if not (meant := [item for item in coming if answers(question, item)]):
            return False
        if self._due not in meant:
            self._speech.say(Phrase.LATER)
        return True

    def _told_all(self, question: Question, found: list[Item]) -> bool:
        """Answers a question for wishes with all that was not said; False: all of it was."""
        if not (question.wide or question.more):
            return False
        fresh = [item for item in found if not self._memory.told[item.id]]
        for item in fresh:
            self._speech.tell(item)
        if fresh or any(item.id in self._speech.told for item in found):
            return True
        if question.more:
            self._speech.say(Phrase.ALL_SAID)
        return question.more

    def _tell_best(self, question: Question, topic: Topic, item: Item) -> None:
        right = question.polar and item in self._stands.right
        if right and self._memory.told[item.id] and self._memory.asked[topic] < 3:
            self._speech.say(Phrase.RIGHT)
        else:
            again = topic is item.topics[0] and self._memory.asked[topic] >= 3
            self._retell(item, self._speech.phrase(Phrase.RIGHT_AND) if right else "", again=again)

    def _retell(self, item: Item, prefix: str = "", *, again: bool = False) -> None:
        """Answers with an item; with impatience from the third telling on.

        `again`: it was asked for three times. Whoever has just corrected the agent is asked anew
        for a reason.
        """
        if again and self._memory.told[item.id] >= 2 and not self._memory.just_corrected:
            prefix = self._speech.phrase(Phrase.IMPATIENT)
        self._speech.tell(item, prefix)

    def declines(self, missing: list[Question]) -> bool:
        """Whether all that was asked are offers that the user does without."""
        asked = [q for q in self._memory.heard.questions if q.act in (Act.ASK, Act.OFFER)]
        without = (Phrase.NO_THANK_YOU, Phrase.NONE)
        return asked == missing and all(self._lack(question) in without for question in missing)

    def admit(self, missing: list[Question]) -> None:
        """Says of what the user has no fact for: no wish, none of it, or no knowledge."""
        told = bool(self._speech.told)
        if told:
            missing = [q for q in missing if q.topics != (Topic.OTHER,) or _OFFERED.search(q.text)]
        if not missing:
            return
        kinds = {self._lack(question) for question in missing}
        topics = [topic for question in missing for topic in question.topics]
        kind = next(kind for kind in _BY_WEIGHT if kind in kinds)
        if told or self._speech.pieces:
            kind = _BESIDE.get(kind, kind)
        elif kind is Phrase.UNKNOWN:
            again = (self._memory.asked[t] > 2 for t in topics if t is not Topic.OTHER)
            kind = Phrase.UNKNOWN_AGAIN if any(again) else kind
        self._speech.say(kind)

    def _lack(self, question: Question) -> Phrase:
        """What one says who has nothing to answer."""
        if question.act is Act.OFFER:
            return Phrase.ANY
        if of_a_return(question) and not question.polar:
            return Phrase.LATER
        if MINDS.search(question.text):
            return Phrase.NOT_MINDED
        if question.wide or (question.more and not question.polar):
            return Phrase.NO_NEED
        whether = question.polar or _WHETHER_ANY.search(question.text) is not None
        if whether and _OFFERED.search(question.text):
            return Phrase.NO_THANK_YOU
        if whether and _WHETHER_ANY.search(question.text):
            return Phrase.NONE
        return Phrase.NO_NEED if NO_WISH.issuperset(question.topics) else Phrase.UNKNOWN


_BY_WEIGHT = (
    Phrase.UNKNOWN,
    Phrase.LATER,
    Phrase.ANY,
    Phrase.NO_NEED,
    Phrase.NOT_MINDED,
    Phrase.NONE,
    Phrase.NO_THANK_YOU,
)
"""Of several lacks in one message the first is said: it holds for the others too."""
_BESIDE = {
    Phrase.UNKNOWN: Phrase.REST_UNKNOWN,
    Phrase.NO_NEED: Phrase.REST_FREE,
    Phrase.ANY: Phrase.REST_FREE,
    Phrase.NONE: Phrase.REST_NONE,
    Phrase.NO_THANK_YOU: Phrase.REST_NO_THANKS,
}
"""The same beside answers to other questions."""
