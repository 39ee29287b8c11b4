"""Session logs of Codex: a header line, then Responses items and events, each in a `payload`.

Older logs write the items without a payload. The interface shows the text of every message, so text
beside calls is a turn by default. A rollback drops the turns that the user took back; the sums of
the whole file are given as `alternatives`. A compaction replaces the history that the model sees:
it adds nothing and takes nothing away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rideway.records import Message, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.branches import whole_file
from rideway.trajectories.format import Format, LayoutMismatch, reading
from rideway.trajectories.node import Node
from rideway.trajectories.responses_items import ItemReader, is_item
from rideway.trajectories.units import Input
from rideway.trajectories.values import short_text, usage, whole

NAME = "codex_rollout"
_ENVELOPES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
)
_ABORTED = "a turn was aborted by the user"
_ROLLED_BACK = "the user took turns back: counted without them"


def is_line(node: Node) -> bool:
    """Whether a value can be a line of a rollout."""
    if node.get("payload").is_object:
        return node.string("type") is not None
    return is_old_header(node) or "record_type" in node or _is_bare_item(node)


def is_old_header(node: Node) -> bool:
    """Whether a value is the first line of a rollout of an old version."""
    return node.has("id", "timestamp", "instructions") and "type" not in node


def _is_bare_item(node: Node) -> bool:
    return node.is_object and is_item({"type": node.string("type")})


def matches(file: Input) -> bool:
    """Whether the file begins as a rollout does."""
    if not file.head:
        return False
    if is_old_header(file.first):
        return file.is_list
    return file.first.get("payload").is_object and file.first.string("type") in _ENVELOPES


def read(file: Input) -> Iterator[Trajectory]:
    """The one trajectory of a rollout."""
    log = _Rollout()
    unit = file.head[0]
    for unit in file.units():
        with reading(file, unit):
            if not is_line(unit.node):
                raise LayoutMismatch(unit)
            log.add(unit.node)
    with reading(file, unit):
        yield log.assemble()


class _Rollout:
    """What the lines of a rollout add up to."""

    def __init__(self) -> None:
        self.items = ItemReader()
        self.dropped: list[tuple[int, list[Message]]] = []
        self.session_id: Any = None
        self.model: str | None = None
        self.tokens: Any = None
        self.notes: list[str] = []

    def add(self, node: Node) -> None:
        payload = node.get("payload")
        kind = node.string("type")
        if not payload.is_object:
            if is_old_header(node):
                self.session_id = node.at("id")
            elif _is_bare_item(node):
                self.items.add(node.value())
        elif kind == "response_item":
            self.items.add(payload.value(), "field `payload`")
        elif kind == "session_meta" and self.session_id is None:
            self.session_id = payload.at("id")
        elif kind == "turn_context":
            self.model = short_text(payload.at("model")) or self.model
        elif kind == "event_msg":
            self._add_event(payload)

    def _add_event(self, payload: Node) -> None:
        kind = payload.string("type")
        if kind == "turn_aborted" and _ABORTED not in self.notes:
            self.notes.append(_ABORTED)
        elif kind == "thread_rolled_back":
            self._roll_back(whole(payload.at("num_turns")) or 0)
        elif kind == "token_count":
            total = payload.at("info", "total_token_usage")
            self.tokens = total if isinstance(total, dict) else self.tokens

    def _roll_back(self, turns: int) -> None:
        """Take back the last turns, each a message of the user and all that followed it."""
        self.items.close()
        messages = self.items.messages
        starts = [i for i, message in enumerate(messages) if message.role == "user"]
        if turns and starts:
            cut = starts[-min(turns, len(starts))]
            self.dropped.append((cut, messages[cut:]))
            del messages[cut:]

    def assemble(self) -> Trajectory:
        messages = self.items.finish()
        alternatives = {}
        if self.dropped:
            everything = [*messages, *(m for _, part in self.dropped for m in part)]
            alternatives = whole_file(everything, shown=True)
            self.notes.append(_ROLLED_BACK)
        return assemble(
            NAME,
            0,
            messages,
            trajectory_id=self.session_id,
            model=self.model,
            usage=usage([self.tokens]),
            text_beside_calls_shown=True,
            alternatives=alternatives,
            notes=self.notes,
        )


FORMAT = Format(NAME, "Codex session logs (rollout JSON Lines)", matches, read)
