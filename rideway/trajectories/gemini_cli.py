"""Sessions of Gemini CLI: one object with `messages` of type `user` and `gemini`, or JSON Lines.

In JSON Lines a message is written again in full when it grows: the last writing counts. A rewind
takes the messages after it back. The interface shows the text beside calls, so it is a turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rideway.chatshape import ShapeError, visible_text
from rideway.records import Message, Role, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.branches import whole_file
from rideway.trajectories.format import Format, LayoutMismatch, reading
from rideway.trajectories.gemini_parts import read_call
from rideway.trajectories.node import Node
from rideway.trajectories.units import Input
from rideway.trajectories.values import short_text

NAME = "gemini_cli"
_SPEAKERS: dict[str, Role] = {"user": "user", "gemini": "assistant"}
_TYPES = frozenset({"user", "gemini", "info", "error", "warning"})
_REWOUND = "the user rewound the session: counted without what was taken back"


def is_session(node: Node) -> bool:
    """Whether a value is a session, or the first line of one."""
    return "sessionId" in node and ("projectHash" in node or _has_messages(node))


def _has_messages(node: Node) -> bool:
    return any(m.string("type") in _TYPES for m in node.get("messages").items(3))


def is_line(node: Node) -> bool:
    """Whether a value can be a line of a session."""
    if is_session(node) or "$set" in node or "$rewindTo" in node:
        return True
    return "id" in node and node.string("type") in _TYPES and "message" not in node


def matches(file: Input) -> bool:
    """Whether the first value is a session or the first line of one."""
    return bool(file.objects) and is_session(file.objects[0])


def read(file: Input) -> Iterator[Trajectory]:
    """One trajectory a session."""
    log: _Session | None = None
    index = 0
    for unit in file.units():
        with reading(file, unit):
            if not is_line(unit.node):
                raise LayoutMismatch(unit)
            if is_session(unit.node):
                if log is not None:
                    yield log.assemble(index)
                    index += 1
                log = _Session(unit.node)
            elif log is not None:
                log.add(unit.node)
    if log is not None:
        yield log.assemble(index)


class _Session:
    """Messages of a session by id, the last writing of each."""

    def __init__(self, node: Node) -> None:
        self.session_id = node.string("sessionId")
        self.sub_agent = node.string("kind") == "subagent"
        self.model: str | None = None
        self.messages: dict[str, list[Message]] = {}
        self.taken_back: dict[str, list[Message]] = {}
        self.put_all(node.objects("messages"))

    def add(self, node: Node) -> None:
        """Take in one line: a message, new metadata, or a rewind."""
        rewound = node.string("$rewindTo")
        if rewound is not None:
            keys = list(self.messages)
            start = keys.index(rewound) if rewound in self.messages else 0
            for key in keys[start:]:
                self.taken_back[key] = self.messages.pop(key)
        elif "$set" in node:
            snapshot = node.get("$set").objects("messages")
            if snapshot:
                self.messages = {}
                self.put_all(snapshot)
        else:
            self.put_all([node.value()])

    def put_all(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            key = message.get("id")
            key = key if isinstance(key, str) else f"#{len(self.messages)}"
            self.model = self.model or short_text(message.get("model"))
            self.messages[key] = _read(message)

    def assemble(self, index: int) -> Trajectory:
        messages = [message for read in self.messages.values() for message in read]
        alternatives, notes = {}, []
        if self.taken_back:
            gone = [message for read in self.taken_back.values() for message in read]
            alternatives = whole_file([*messages, *gone], shown=True)
            notes.append(_REWOUND)
        return assemble(
            NAME,
            index,
            messages,
            trajectory_id=self.session_id,
            model=self.model,
            has_user=False if self.sub_agent else None,
            text_beside_calls_shown=True,
            alternatives=alternatives,
            notes=notes,
        )


def _read(message: Mapping[str, Any]) -> list[Message]:
    role = _SPEAKERS.get(str(message.get("type")))
    if role is None:
        return []
    content = message.get("content")
    if isinstance(content, Mapping):
        content = [content]
    calls = message.get("toolCalls") or []
    if not isinstance(calls, list) or not all(isinstance(call, Mapping) for call in calls):
        raise ShapeError("message: field `toolCalls` must be a list of objects")
    made = tuple(read_call(call, f"message, call {i}") for i, call in enumerate(calls))
    return [Message(role=role, content=visible_text(content), tool_calls=made)]


FORMAT = Format(NAME, "Gemini CLI sessions", matches, read)
