"""One reply of the agenda user: what it owes, what is due, what its turn is, and whether to end."""

from __future__ import annotations

from datetime import datetime

from rideway.env.agenda_answers import Answers
from rideway.env.agenda_consent import INTERJECTION, Consent
from rideway.env.agenda_items import Agenda, Item
from rideway.env.agenda_memory import Memory
from rideway.env.agenda_speech import Speech
from rideway.env.expressions import Scene
from rideway.env.phrases import Phrase
from rideway.env.proposals import Judge
from rideway.env.understanding import Act, Question


class Turn:
    """The making of one reply from the memory of the conversation and the state of the world."""

    def __init__(
        self,
        agenda: Agenda,
        memory: Memory,
        judge: Judge,
        key: tuple[str, int],
        scene: Scene,
        now: datetime,
    ) -> None:
        self._agenda = agenda
        self._memory = memory
        self._scene = scene
        self._heard = memory.heard
        self._speech = Speech(memory, key)
        self._due = due = self._first_due()
        active = memory.active()
        self._active = [i for i in active if due is None or i.id not in due.replaces]
        self._consent = Consent(memory, self._speech, judge, self._active, due, now)
        self._answers = Answers(
            agenda, memory, self._speech, judge, self._active, due, self._consent.stands, now
        )
        self._ends = False

    def reply(self) -> tuple[str, bool]:
        """The text, and whether the conversation ends with it."""
        speech = self._speech
        if not self._heard.acts <= {Act.SILENT, Act.FOREIGN}:
            self._consent.correct()
            missing = self._answers.answer()
            self._consent.agree()
            self._answer_in_general(missing)
            if not self._ends:
                self._answers.admit(missing)
            if self._due is None:
                self._volunteer()
        if self._due is not None:
            speech.tell(self._due)
        speech.settle()
        if not speech.pieces:
            self._respond()
        elif not self._ends and not speech.told and self._only_nods() and self._reached():
            self._close()
        elif not self._ends and self._patience_ends:
            self._give_up()
        return speech.text, self._ends

    def give_up(self) -> str:
        """What the user says when the bound ends the conversation."""
        return self._speech.phrase(Phrase.GIVE_UP)

    # what is due

    def _first_due(self) -> Item | None:
        """The first revision whose state has come."""
        for item in self._agenda.items:
            if (
                item.when is not None
                and not self._memory.told[item.id]
                and self._memory.ready(item)
                and item.when.holds(self._scene)
            ):
                return item
        return None

    def _untold(self, *, open_too: bool = False) -> list[Item]:
        """What the user would still say by itself, or when asked in general."""
        return [
            item
            for item in self._active
            if not self._memory.told[item.id]
            and item.id not in self._speech.told
            and item.id not in self._memory.settled
            and (item.volunteer or (open_too and item.open))
        ]

    def _volunteer(self) -> None:
        """Brings in the next volunteered item: at its turn, or when nothing else was to be told.

        Its turn has come when every earlier item was said before this message.
        """
        waiting = self._untold()
        if not waiting:
            return
        told = self._memory.told
        first = next((i for i in self._active if not i.revision and not told[i.id]), None)
        if first is waiting[0] or not self._speech.told:
            self._speech.tell(waiting[0], self._besides(waiting[0]))

    def _besides(self, item: Item) -> str:
        """Words to bring something in by: every other time, and none before an interjection."""
        if item.plain or INTERJECTION.match(item.say[0]):
            return ""
        start = self._speech.drawn("besides", 2)
        begun = bool(self._speech.pieces) or self._memory.own > 2
        return (
            self._speech.phrase(Phrase.BESIDES) if begun and (start + self._memory.own) % 2 else ""
        )

    def _answer_in_general(self, missing: list[Question]) -> None:
        """Answers "还有什么要求吗" and the like with all that may be told so."""
        general = [q for q in self._heard.questions if q.act in (Act.ANYTHING_ELSE, Act.OPENING)]
        if not general:
            return
        for item in self._untold(open_too=True):
            self._speech.tell(item)
        if self._speech.told or self._due is not None:
            return
        if any(question.act is Act.ANYTHING_ELSE for question in general):
            self._nothing_else(any(question.closing for question in general), missing)
        elif not self._speech.pieces:
            self._speech.say(Phrase.OPENING)

    # reacting to what asks nothing, and ending

    def _respond(self) -> None:
        """Reacts to a message that asks nothing, when there is nothing to bring in."""
        acts = self._heard.acts
        if not acts & {Act.STALL, Act.FOREIGN} and self._reached():
            self._close()
        elif self._patience_ends:
            self._give_up()
        elif Act.FINISHED in acts:
            self._claimed(Phrase.DOUBT)
        elif Act.FOREIGN in acts:
            self._speech.say(Phrase.SPEAK_CHINESE)
        elif Act.SILENT in acts:
            self._speech.say(Phrase.CALLING)
        elif self._memory.flat > 3:
            self._speech.say(Phrase.HOW_FAR)
        elif Act.STALL in acts:
            self._speech.say(Phrase.WAIT)
        elif Act.UNABLE in acts:
            self._speech.say(Phrase.ANOTHER_WAY)
        else:
            self._speech.say(Phrase.OPENING if acts == {Act.GREET} else Phrase.ACKNOWLEDGE)

    def _reached(self) -> bool:
        """Whether the outcome that the user can see is there."""
        done = self._agenda.done.when
        return done is not None and done.holds(self._scene)

    def _nothing_else(self, closing: bool, missing: list[Question]) -> None:
        """The answer to "anything else?" when nothing is left to say.

        "要设个提醒吗？还有别的需要吗？" is answered whole: neither is wanted.
        """
        asks = any(question.act in (Act.ASK, Act.OFFER) for question in self._heard.questions)
        if asks and not self._answers.declines(missing):
            return
        if self._reached():
            self._speech.pieces.clear()
            self._close(f"{self._speech.phrase(Phrase.NO_MORE)}。", declines=asks)
        elif asks:
            return
        elif closing or self._memory.stale > 2:
            self._claimed(Phrase.NOT_DONE_YET)
        else:
            self._speech.say(Phrase.SO_FAR if self._more_comes() else Phrase.ALL_SAID)

    def _more_comes(self) -> bool:
        """Whether something waits behind what has not come up yet: nobody says "nothing else"."""
        memory = self._memory
        return any(
            (item.volunteer or item.open) and not (memory.told[item.id] or memory.ready(item))
            for item in self._agenda.items
        )

    def _close(self, prefix: str = "", *, declines: bool = False) -> None:
        """Ends with the agenda's closing words, and thanks where they hold none."""
        if declines:
            prefix = self._speech.phrase(Phrase.NO_THANK_YOU)
        words = self._agenda.done.say[0]
        thanks = "" if "谢" in words or not prefix else self._speech.phrase(Phrase.THANKS)
        self._speech.pieces.append(prefix + words + thanks)
        self._ends = self._may_end()

    def _claimed(self, doubt: Phrase) -> None:
        """The agent would end without the outcome: what is missing, once; then so be it."""
        memory = self._memory
        for number, notice in enumerate(self._agenda.notices):
            if number not in memory.noticed and notice.when_missing.holds(self._scene):
                self._speech.pieces.append(notice.say[0])
                return
        doubted = memory.phrases[Phrase.DOUBT] + memory.phrases[Phrase.NOT_DONE_YET]
        if not memory.noticed and not doubted:
            self._speech.say(doubt)
            return
        self._speech.say(Phrase.ACCEPT)
        self._ends = self._may_end()

    def _only_nods(self) -> bool:
        """Whether the agent only wants a nod, for the second time with nothing done between."""
        asked = {question.act for question in self._heard.questions}
        return asked == {Act.CONFIRM} and self._memory.stale >= 2

    @property
    def _patience_ends(self) -> bool:
        return self._may_end() and self._memory.patience_ends

    def _give_up(self) -> None:
        self._speech.say(Phrase.GIVE_UP)
        self._ends = True

    def _may_end(self) -> bool:
        """Never while a call is pending."""
        return self._memory.open_calls == 0
