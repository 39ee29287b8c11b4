"""What the agenda user remembers, read from the conversation alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rideway.env.agenda_items import Agenda, Item
from rideway.env.phrases import CORRECTIONS, Phrase
from rideway.env.proposed import without_echoes
from rideway.env.understanding import Act, Understanding, understand
from rideway.env.wording.topics import Topic
from rideway.records import Message

PATIENCE_SILENT = 5
"""Messages in a row that say nothing; with the last of them the user gives up."""
PATIENCE_FLAT = 8
"""Messages in a row that ask nothing, with no call in between."""
PATIENCE_STALE = 12
"""Messages in a row that bring nothing forward: no call, no new question, no new fact."""
_NOTHING = Understanding(frozenset({Act.SILENT}), (), "")
_SETTLING = frozenset({Act.CONFIRM, Act.REPORT, Act.FINISHED, Act.INFORM})
_EMPTY_ACTS = frozenset({Act.SILENT, Act.FOREIGN, Act.GREET, Act.STALL})


class Memory:
    """Counts over the messages read so far; the same messages give the same memory.

    `told`: tellings by item; `corrected`: corrections by item; `refused`: the item last said to
    correct the agent, `just_corrected`: whether that was in the last message; `asked`: how often a
    topic was asked about, the last message included. `settled`: items whose `agree` the agent has
    proposed or reported by itself, so that nobody need say them. `words`: what the agent said
    last, without the user's own words in quotes. `idle`, `flat`, `stale` count the agent's
    messages in a row that say nothing, that ask nothing, and that bring nothing forward (no call,
    no new fact).
    """

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._seen: list[Message] = []
        self.told: Counter[str] = Counter()
        self.corrected: Counter[str] = Counter()
        self.refused = ""
        self.asked: Counter[Topic] = Counter()
        self.phrases: Counter[Phrase] = Counter()
        self.noticed: set[int] = set()
        self.settled: set[str] = set()
        self.just_corrected = False
        self.own = 0
        self.idle = self.flat = self.stale = 0
        self.open_calls = 0
        self.heard = _NOTHING
        self.words = ""
        self.last_text = ""

    def continues(self, messages: Sequence[Message]) -> bool:
        """Whether what was read is the beginning of these messages."""
        return len(messages) >= len(self._seen) and self._seen == list(messages[: len(self._seen)])

    def read(self, messages: Sequence[Message]) -> None:
        """Takes in the messages that were not read yet."""
        for message in messages[len(self._seen) :]:
            if message.role == "user":
                self._own_words(message.content or "")
            elif message.role == "tool":
                self.open_calls = max(0, self.open_calls - 1)
            elif message.role == "assistant" and message.tool_calls:
                self.open_calls = len(message.tool_calls)
                self.idle = self.flat = self.stale = 0
            elif message.role == "assistant":
                self.open_calls = 0
                self._heard(message.content or "")
            self._seen.append(message)

    def _own_words(self, text: str) -> None:
        self.own += 1
        self.heard, self.words = _NOTHING, ""
        self.just_corrected = False
        for item in self._agenda.items:
            for say in item.say:
                place = text.find(say)
                if place < 0:
                    continue
                if not self.told[item.id]:
                    self.stale = self.flat = self.idle = 0
                self.told[item.id] += 1
                if text[:place].endswith(CORRECTIONS):
                    self.corrected[item.id] += 1
                    self.just_corrected = True
                    self.refused = item.id
                break
        for phrase in _REMEMBERED:
            if any(words in text for words in phrase.value):
                self.phrases[phrase] += 1
        for number, notice in enumerate(self._agenda.notices):
            if any(words in text for words in notice.say):
                self.noticed.add(number)

    def _heard(self, text: str) -> None:
        heard = understand(text)
        echoed = without_echoes(text)
        words = heard.text if echoed == text else understand(echoed).text
        self._settle(heard)
        new = False
        for topic in heard.topics:
            new = new or not self.asked[topic]
            self.asked[topic] += 1
        repeated = not heard.asks and text == self.last_text
        self.idle = self.idle + 1 if heard.acts <= _EMPTY_ACTS or repeated else 0
        self.flat = 0 if heard.asks else self.flat + 1
        self.stale = 0 if new else self.stale + 1
        self.last_text = text
        if self.heard.text:
            # two messages in a row: the user answers both
            heard = Understanding(
                heard.acts | self.heard.acts,
                self.heard.questions + heard.questions,
                f"{self.heard.text}\n{heard.text}",
            )
            words = f"{self.words}\n{words}"
        self.heard, self.words = heard, words

    def _settle(self, heard: Understanding) -> None:
        """Notes what the agent takes care of, or tells, by itself."""
        if heard.acts.isdisjoint(_SETTLING):
            return
        text = heard.text
        for question in heard.questions:
            if question.act is not Act.CONFIRM:
                text = text.replace(question.text, "")
        for item in self._agenda.items:
            if any(pattern.search(text) for pattern in item.facts.agree):
                self.settled.add(item.id)

    @property
    def patience_ends(self) -> bool:
        """Whether the agent has brought nothing forward for too long."""
        return (
            self.stale >= PATIENCE_STALE
            or self.flat >= PATIENCE_FLAT
            or self.idle >= PATIENCE_SILENT
        )

    def ready(self, item: Item) -> bool:
        """Whether what must come before the item was said, or need not be."""
        return all(self.told[name] or name in self.settled for name in item.after)

    def active(self) -> list[Item]:
        """The items that the user holds true now, in their order."""
        gone = {name for item in self._agenda.items if self.told[item.id] for name in item.replaces}
        return [
            item
            for item in self._agenda.items
            if item.id not in gone
            and (self.told[item.id] or (item.when is None and self.ready(item)))
        ]


_REMEMBERED = (Phrase.DOUBT, Phrase.NOT_DONE_YET)
