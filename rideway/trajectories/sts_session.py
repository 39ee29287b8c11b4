"""Session traces as the Hub's viewer reads them: a `session` line, then `message` lines.

The header may carry the outcome (`task_id`, `trial`, `success`), as rideway's own export writes
it. Pi's sessions have the same lines, linked by `parentId`: the branch of the last line is read,
and its interface shows text beside calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rideway.records import Message, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.branches import BRANCHED, branch_of, whole_file
from rideway.trajectories.chatmessages import read_message
from rideway.trajectories.format import Format, LayoutMismatch, reading
from rideway.trajectories.jsontext import JsonError, kind_of
from rideway.trajectories.node import Node
from rideway.trajectories.units import Input
from rideway.trajectories.values import short_text, truth

NAME = "sts_session"


def is_header(node: Node) -> bool:
    """Whether a value is the first line of a session."""
    return node.string("type") == "session" and "message" not in node


def _speaks(node: Node) -> bool:
    return node.string("type") == "message" and "role" in node.get("message")


def matches(file: Input) -> bool:
    """Whether the file begins with a session line and holds messages, if anything."""
    if not file.objects or not is_header(file.objects[0]):
        return False
    return "harness" in file.objects[0] or any(_speaks(node) for node in file.objects)


def read(file: Input) -> Iterator[Trajectory]:
    """One trajectory a session line and what follows it."""
    log: _Session | None = None
    index = 0
    for unit in file.units():
        with reading(file, unit):
            if is_header(unit.node):
                if log is not None:
                    yield log.assemble(index)
                    index += 1
                log = _Session(unit.node)
            elif log is None or unit.node.string("type") is None:
                raise LayoutMismatch(unit)
            else:
                log.add(unit.node)
    if log is not None:
        yield log.assemble(index)


class _Session:
    """The lines of one session."""

    def __init__(self, header: Node) -> None:
        self.header = header
        self.lines: list[tuple[str | None, list[Message]]] = []
        self.model: str | None = None
        self.parents: dict[str, str | None] = {}

    def add(self, node: Node) -> None:
        """Take in one line; lines that say nothing still link others.

        Raises:
            JsonError: A message line without a message.
        """
        own_id = node.string("id")
        if own_id is not None and "parentId" in node:
            self.parents[own_id] = node.string("parentId")
        if node.string("type") != "message":
            return
        message = node.at("message")
        if not isinstance(message, dict):
            raise JsonError(f"field `message` must be an object, not {kind_of(message)}")
        self.model = self.model or short_text(message.get("model"))
        self.lines.append((own_id, _read(message)))

    def assemble(self, index: int) -> Trajectory:
        header = self.header
        everything = [(own, message) for own, read in self.lines for message in read]
        linked = bool(self.parents)
        branch = branch_of(self.lines[-1][0] if self.lines else None, self.parents)
        messages = [m for own, m in everything if not linked or own is None or own in branch]
        shown = truth(header.at("text_beside_calls_shown"))
        shown = linked if shown is None else shown
        alternatives, notes = {}, []
        if len(messages) < len(everything):
            alternatives = whole_file([m for _, m in everything], shown=shown)
            notes.append(BRANCHED)
        return assemble(
            NAME,
            index,
            messages,
            trajectory_id=header.at("id"),
            task_id=header.at("task_id"),
            trial=header.at("trial"),
            success=truth(header.at("success")),
            model=self.model,
            text_beside_calls_shown=shown,
            alternatives=alternatives,
            notes=notes,
        )


def _read(message: Mapping[str, Any]) -> list[Message]:
    renamed = dict(message)
    for camel, snake in (("toolCalls", "tool_calls"), ("toolCallId", "tool_call_id")):
        if camel in renamed and snake not in renamed:
            renamed[snake] = renamed[camel]
    return read_message(renamed)


FORMAT = Format(NAME, "session traces (STS) and Pi sessions", matches, read)
