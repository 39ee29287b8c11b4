"""What the agenda user says in one message: pieces set side by side, each item once."""

from __future__ import annotations

from rideway.env.agenda_items import Item
from rideway.env.agenda_memory import Memory
from rideway.env.draw import Draw
from rideway.env.phrases import Phrase


class Speech:
    """One message in the making.

    Args:
        memory: How often each item was told: the n-th telling takes the n-th paraphrase.
        key: Task and seed; they fix the order of the wordings of built-in texts.
    """

    def __init__(self, memory: Memory, key: tuple[str, int]) -> None:
        self._memory = memory
        self._key = key
        self.told: dict[str, None] = {}
        self.pieces: list[str] = []

    @property
    def text(self) -> str:
        """The message so far."""
        return "".join(self.pieces)

    def drawn(self, name: str, below: int) -> int:
        """A number that task and seed fix."""
        return Draw("agenda", *self._key, name).below(below)

    def phrase(self, kind: Phrase) -> str:
        """A wording of a built-in text; a new one each time, the order fixed by task and seed."""
        words: tuple[str, ...] = kind.value
        return words[(self.drawn(kind.name, len(words)) + self._memory.own) % len(words)]

    def say(self, kind: Phrase) -> None:
        """Says a built-in text, once in this message."""
        if (text := self.phrase(kind)) not in self.pieces:
            self.pieces.append(text)

    def tell(self, item: Item, prefix: str = "") -> None:
        """Says an item once in this message, in the paraphrase whose turn it is."""
        if item.id not in self.told:
            self.told[item.id] = None
            self.pieces.append(prefix + self.next_words(item))

    def next_words(self, item: Item) -> str:
        """The paraphrase of an item whose turn it is."""
        return item.say[self._memory.told[item.id] % len(item.say)]

    def settle(self) -> None:
        """Takes back "nothing else" where something else follows after all."""
        last = len(self.pieces) - 1
        kept = [
            piece
            for place, piece in enumerate(self.pieces)
            if place == last or piece not in Phrase.ALL_SAID.value
        ]
        self.pieces = kept
