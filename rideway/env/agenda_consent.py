"""Yes and no of the agenda user: what an agent's message proposes or reports, against the facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from rideway.env.agenda_items import Item
from rideway.env.agenda_memory import PATIENCE_STALE, Memory
from rideway.env.agenda_speech import Speech
from rideway.env.phrases import Phrase
from rideway.env.proposals import Judge, Standing
from rideway.env.relevance import meant_by_cue
from rideway.env.understanding import Act, Question

_NEUTRAL = Standing((), frozenset(), ())
_STATES = ("对", "是", "没错", "正确", "准确", "无误")
"""Marks of a question that states a fact ("19:30，对吗"), not one that asks leave."""
INTERJECTION = re.compile(
    "[哎唉诶欸咦哦噢啊呀喔喂嗯成嘿哈]|对了|还有|另外|等等|等一?[下等]|讲起|说起|那个|忘了|差点"
)
_CRY = re.compile("^.{0,8}(?:差点(?:儿|把)?忘|[!！]{2})")
"""Words that break in: no yes stands in front of "我妈!!! 差点忘了我妈!"."""
_OPEN_OFFER = re.compile("需不?需?要|要不?要?|用不?用?|还|想不?想?|帮您|给您|为您")
"""Marks of a question that offers something ("要绕去接吗"), not one that states it ("是…吗")."""
_LEAVE = re.compile("可以|行|好|帮|给您|为您|替您|成不成|同意|接受|怎么样|如何|合适")
_INTENDS = re.compile(
    r"""
    (?:
        (?:没有?(?:问题|意见|异议)|可以|行|同意|确认|合适|OK|ok|点头)(?:了)?的话,?
        |(?:如果|要是)?(?:您|你)(?:说|话|觉得|看|这边)?(?:同意|点头|确认|可以|OK|ok|订|没问题)[^,。;!?\n]{0,4},?
    )
    (?:那|我|这边|我们|就|马上|即刻|立[即刻]|现在|直接|给|帮|为|替|您|你)+[^,。;!?\n]{0,6}
    (?:下单|预?[约订]|叫|安排|办|确认|派|提交|取消|改|换)
    """,
    re.VERBOSE,
)
"""Announces an order that only silence stops: it is a proposal without a question mark."""


def _whole(question: Question) -> str:
    """A question with what it is about, where that stands before it ("八点走，对吗")."""
    return f"{question.before},{question.text}" if question.before else question.text


def _states(question: Question) -> bool:
    return any(mark in question.text for mark in _STATES)


class Consent:
    """What the user makes of the proposals and reports of one message.

    Args:
        active: The items that the user holds true.
        due: The revision that comes with this message, None where there is none.
    """

    def __init__(
        self,
        memory: Memory,
        speech: Speech,
        judge: Judge,
        active: Sequence[Item],
        due: Item | None,
        now: datetime,
    ) -> None:
        self._memory = memory
        self._speech = speech
        self._judge = judge
        self._active = active
        self._due = due
        self._now = now
        self._confirms = [q for q in memory.heard.questions if q.act is Act.CONFIRM]
        if not self._confirms and (announced := _INTENDS.search(memory.words)):
            self._confirms = [Question(Act.CONFIRM, (), announced[0], polar=True)]
        self.stands = self._standing()

    def _standing(self) -> Standing:
        """How the message stands to the user's facts, as far as it proposes or reports."""
        heard, due, confirms = self._memory.heard, self._due, self._confirms
        items = [*self._active, due] if due is not None and confirms else list(self._active)
        words = self._memory.words
        if confirms:
            asked = [question.text for question in confirms]
            return self._judge.standing(words, items, self._now, asked=asked)
        if Act.REPORT in heard.acts:
            return self._judge.standing(words, items, self._now, report=True)
        polar = "。".join(q.text for q in heard.questions if q.polar and q.act is Act.ASK)
        return self._judge.standing(polar, items, self._now) if polar else _NEUTRAL

    def correct(self) -> None:
        """Corrects what was proposed wrongly: once politely, then firmly."""
        for item in self.stands.wrong[:2]:
            if item is self._due:
                continue  # it comes anyway, and no fault of the agent's
            anew = self._starts_anew(item)
            self._speech.tell(item, "" if anew else self._speech.phrase(self._objection(item)))
        if self.stands.wrong and len(self._confirms) > 1:
            self._bear_out()

    def _starts_anew(self, item: Item) -> bool:
        """Whether an item begins with words that bring it in: no yes or no stands before them."""
        return INTERJECTION.match(self._speech.next_words(item)) is not None

    def _bear_out(self) -> None:
        """Says beside a correction what else was asked and is right: "对，从公司走"."""
        for question in self._confirms:
            alone = self._judge.standing(_whole(question), self._active, self._now)
            if alone.right and not alone.wrong:
                self._speech.tell(alone.right[0], self._speech.phrase(Phrase.RIGHT_AND))

    def _objection(self, item: Item) -> Phrase:
        """How to object to what contradicts an item: by the form of what contradicts it."""
        unwanted = item.id in self.stands.unwanted
        asked = [q for q in self._memory.heard.questions if q.polar and q.act is Act.ASK]
        blamed = [q for q in (*self._confirms, *asked) if self._contradicts(q, item)]
        texts = [q.text for q in blamed or self._confirms]
        if unwanted and any(_OPEN_OFFER.search(question.text) for question in blamed):
            return Phrase.NO_THANKS
        if self._memory.corrected[item.id]:
            return Phrase.NOT_SO_FIRM
        if item.id in self.stands.facts or not texts:
            return Phrase.NOT_SO
        if blamed and all(question.act is Act.ASK for question in blamed):
            return Phrase.NOT_SO
        if not unwanted and all(len(text) <= 6 and not _LEAVE.search(text) for text in texts):
            return Phrase.NOT_SO  # "现在走?"
        if any(mark in text for text in texts for mark in _STATES):
            return Phrase.NOT_SO
        return Phrase.NOT_THAT

    def _contradicts(self, question: Question, item: Item) -> bool:
        return bool(self._judge.standing(_whole(question), [item], self._now).wrong)

    def agree(self) -> None:
        """Says yes to what was proposed; with the fact in it where it was never told."""
        if not self._confirms or self.stands.wrong or self._overrules():
            return
        if self.stands.unsure:
            for item in self.stands.unsure:
                if self._memory.told[item.id] < 2:
                    self._speech.tell(item)
                else:
                    self._speech.say(Phrase.UNKNOWN)
        elif meant := self._unsaid_facts():
            for item in meant:
                right = item in self.stands.right and not self._speech.told
                right = right and not self._starts_anew(item)
                self._speech.tell(item, self._speech.phrase(Phrase.RIGHT_AND) if right else "")
        elif self._tells_instead():
            return
        elif self._memory.stale > PATIENCE_STALE // 2:
            self._speech.say(Phrase.JUST_DO)
        elif any(_LEAVE.search(q.text) and not _states(q) for q in self._confirms) or not any(
            _states(question) for question in self._confirms
        ):
            self._speech.say(Phrase.AND_YES if self._speech.told else Phrase.YES)
        else:
            self._speech.say(Phrase.RIGHT)

    def _tells_instead(self) -> bool:
        """Whether this message tells what is asked about, and nothing says that it agrees."""
        topics = {topic for question in self._confirms for topic in question.topics}
        told = [item for item in self._active if item.id in self._speech.told]
        return any(topics.intersection(i.topics[:1]) and i not in self.stands.right for i in told)

    def _overrules(self) -> bool:
        """Whether what is due stands in place of a yes: it changes what was said, or breaks in."""
        due = self._due
        return due is not None and (bool(due.replaces) or _CRY.search(due.say[0]) is not None)

    def _unsaid_facts(self) -> list[Item]:
        """What a short question of fact ("是…吗", "…对吧") is about, where it was never told.

        The user says it rather than nod to what may be wrong. Who asks leave ("可以吗") proposes,
        and gets a yes; unless he names what an untold item is about ("婚车这样可以吗").
        """
        told, right, confirms = self._memory.told, self.stands.right, self._confirms
        alone = [question._replace(line="", before="") for question in confirms]
        named = [item for question in alone for item in meant_by_cue(question, self._active)]
        if fresh := [i for i in named if not told[i.id] and i.id not in self._speech.told]:
            return fresh[:1]
        if any(told[item.id] for item in right) or len(right) > 1:
            return []
        topics = {topic for question in confirms for topic in question.topics}
        if len(topics) > 2 or any(_LEAVE.search(question.text) for question in confirms):
            return [item for item in right if len(topics) < 2]
        meant = [i for i in self._active if topics.intersection(i.topics) and not told[i.id]]
        best = {i.topics[0]: i for i in reversed(meant) if i.topics[0] in topics}
        chosen = [*right, *(best.values() or meant[:1])]
        return [item for item in self._active if item in chosen]
