"""Session logs of Claude Code: JSON Lines linked by `parentUuid`, `loglines`, or `stream-json`.

One API message is written as several lines of one `message.id`: they are one message. A rewound or
forked session is a tree: the branch of the last line is read, and the sums of the whole file are
given as `alternatives`; after a compaction that branch begins at the compaction. Lines of a
side chain are a sub-agent's. API errors that the program shows as the assistant's are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rideway.records import Ending, Message, Trajectory
from rideway.trajectories.assemble import assemble, disagreements
from rideway.trajectories.branches import BRANCHED, branch_of, whole_file
from rideway.trajectories.chatmessages import read_message
from rideway.trajectories.format import LayoutMismatch, reading
from rideway.trajectories.jsontext import JsonError, kind_of
from rideway.trajectories.node import Node
from rideway.trajectories.units import Input, Unit
from rideway.trajectories.values import number, short_text, usage

_SPEAKERS = frozenset({"user", "assistant"})
_SESSION_KEYS = ("sessionId", "session_id", "uuid", "parentUuid", "leafUuid", "timestamp")
_SIDE = "sub-agent"
_SUB_AGENT_LOG = "the log of a sub-agent: no user reads its text"


def is_line(node: Node) -> bool:
    """Whether a value can be a line of a session: it has a type and a message or a session."""
    if node.string("type") is None or "payload" in node or "harness" in node:
        return False
    return _speaks(node) or any(key in node for key in _SESSION_KEYS) or "snapshot" in node


def _speaks(node: Node) -> bool:
    return node.string("type") in _SPEAKERS and "content" in node.get("message")


def is_session(file: Input) -> bool:
    """Whether the file is a session log."""
    if file.is_one_object and file.first.get("loglines").is_list:
        return True
    nodes = [unit.node for unit in file.head]
    if not nodes or not all(is_line(node) for node in nodes[:1]):
        return False
    return any(_speaks(node) for node in nodes if node.is_object)


@dataclass
class _Line:
    """What a line says that counting needs."""

    role: str
    message: Mapping[str, Any]
    uuid: str | None
    agent: str | None
    hidden: bool = False
    error: bool = False

    @property
    def message_id(self) -> str | None:
        """The id of the API message that the line is a part of."""
        found = self.message.get("id")
        return found if isinstance(found, str) else None


@dataclass
class _Session:
    """The lines of a session and how they hang together."""

    lines: list[_Line] = field(default_factory=list)
    parents: dict[str, str | None] = field(default_factory=dict)
    session_id: str | None = None
    result: Node | None = None

    def add(self, node: Node) -> None:
        """Take in one line.

        Raises:
            JsonError: It says that somebody spoke, without a message.
        """
        uuid = node.string("uuid")
        if uuid is not None:
            self.parents.setdefault(uuid, node.string("parentUuid"))
        self.session_id = node.string("sessionId") or node.string("session_id") or self.session_id
        kind = node.string("type")
        if kind == "result":
            self.result = node
        elif kind == "progress":
            self._add_progress(node)
        elif kind in _SPEAKERS:
            message = node.at("message")
            if not isinstance(message, dict):
                raise JsonError(f"field `message` must be an object, not {kind_of(message)}")
            side = node.at("isSidechain") is True or not node.get("parent_tool_use_id").is_null
            agent = node.string("agentId") or node.string("parent_tool_use_id") or _SIDE
            self.lines.append(
                _Line(
                    role=str(kind),
                    message=message,
                    uuid=uuid,
                    agent=agent if side else None,
                    hidden=node.at("isMeta") is True or node.at("isCompactSummary") is True,
                    error=node.at("isApiErrorMessage") is True
                    or message.get("model") == "<synthetic>",
                )
            )

    def _add_progress(self, node: Node) -> None:
        """A message of a sub-agent that is shown while it works."""
        inner = node.get("data", "message")
        message = inner.at("message")
        if inner.string("type") in _SPEAKERS and isinstance(message, dict):
            agent = node.string("data", "agentId") or _SIDE
            self.lines.append(_Line(str(inner.string("type")), message, None, agent))

    def branch(self) -> list[_Line]:
        """The lines from the first message to the last one, other branches left out."""
        leaf = next((line for line in reversed(self.lines) if line.agent is None), None)
        if leaf is None or leaf.uuid is None:
            return self.lines
        on_branch = branch_of(leaf.uuid, self.parents)
        # Calls made at once are siblings in the tree: one message is on the branch as a whole.
        ids = {line.message_id for line in self.lines if line.uuid in on_branch} - {None}
        return [
            line
            for line in self.lines
            if line.agent is not None
            or line.uuid is None
            or line.uuid in on_branch
            or line.message_id in ids
        ]


def read_session(file: Input, format: str) -> Trajectory:
    """The one trajectory of a session log."""
    session = _Session()
    unit = Unit(0, "the document", file.first)
    for unit in _lines(file):
        with reading(file, unit):
            if not is_line(unit.node):
                raise LayoutMismatch(unit)
            session.add(unit.node)
    with reading(file, unit):
        return _assemble(session, format)


def _lines(file: Input) -> Iterator[Unit]:
    if not file.is_one_object or "loglines" not in file.first:
        yield from file.units()
        return
    for index, line in enumerate(file.first.get("loglines").items()):
        yield Unit(index, f"line {index + 1} of loglines", line)


def _assemble(session: _Session, format: str) -> Trajectory:
    branch = session.branch()
    sub_agent_log = bool(session.lines) and all(line.agent for line in session.lines)
    messages = _messages(branch, sub_agent_log)
    notes = []
    alternatives = {}
    if len(branch) < len(session.lines):
        notes.append(BRANCHED)
        alternatives = whole_file(_messages(session.lines, sub_agent_log), shown=True)
    if sub_agent_log:
        notes.append(_SUB_AGENT_LOG)
    if session.result is not None:
        notes += disagreements(session.result, messages, shown=True)
    return assemble(
        format,
        0,
        messages,
        trajectory_id=session.session_id,
        model=_model(branch),
        ending=_ending(session, branch),
        has_user=not sub_agent_log,
        usage=_usage(session, branch),
        text_beside_calls_shown=True,
        alternatives=alternatives,
        notes=notes,
    )


def _messages(lines: Iterable[_Line], sub_agent_log: bool) -> list[Message]:
    """The messages of some lines, the lines of one API message joined into one."""
    groups: list[tuple[_Line, list[Any]]] = []
    by_id: dict[str, list[Any]] = {}
    seen: set[str] = set()
    for line in lines:
        if line.error or (line.uuid is not None and line.uuid in seen):
            continue
        if line.uuid is not None:
            seen.add(line.uuid)
        content = line.message.get("content")
        blocks = content if isinstance(content, list) else [content]
        message_id = line.message_id if line.role == "assistant" else None
        known = by_id.get(message_id) if message_id else None
        if known is not None:
            known.extend(block for block in blocks if block not in known)
            continue
        group = list(blocks)
        if message_id:
            by_id[message_id] = group
        groups.append((line, group))
    messages: list[Message] = []
    for line, blocks in groups:
        given = blocks if blocks != [None] else None
        role = "system" if line.hidden else line.role
        for message in read_message({"role": role, "content": given}):
            agent = None if sub_agent_log else line.agent
            messages.append(message.model_copy(update={"agent": agent}) if agent else message)
    return messages


def _model(lines: Iterable[_Line]) -> str | None:
    names = (short_text(line.message.get("model")) for line in lines if not line.error)
    return next((name for name in names if name), None)


def _ending(session: _Session, branch: list[_Line]) -> Ending:
    main = [line for line in branch if line.agent is None]
    if main and main[-1].error and main[-1].role == "assistant":
        return Ending.PROVIDER_ERROR
    if session.result is not None and session.result.string("subtype") == "error_max_turns":
        return Ending.MAX_STEPS
    return Ending.UNKNOWN


def _usage(session: _Session, lines: Iterable[_Line]) -> Any:
    last: dict[str | int, Any] = {}
    for position, line in enumerate(lines):
        if line.role == "assistant" and not line.error:
            last[line.message_id or position] = line.message.get("usage")
    result = session.result
    lasted = number(result.at("duration_ms")) if result else None
    cost = result.at("total_cost_usd") if result else None
    return usage(last.values(), seconds=lasted / 1000 if lasted else None, cost=[cost])
