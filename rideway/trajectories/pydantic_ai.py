"""Message histories of Pydantic AI: requests and responses made of typed parts.

A built-in tool runs inside the response, so text after its return answers it and is a message of
its own. The runner sends a response with calls to the tools: text beside them is no turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rideway.chatshape import ShapeError, raw_arguments, visible_text
from rideway.records import Message, ToolCall, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.format import history, history_format
from rideway.trajectories.node import Node

NAME = "pydantic_ai"
_CALLS = frozenset({"tool-call", "builtin-tool-call"})
_RESULTS = frozenset({"tool-return", "retry-prompt"})


def is_message(node: Node) -> bool:
    """Whether a value is one request or response."""
    return node.get("parts").is_list and node.string("kind") in ("request", "response")


def _build(node: Node, index: int) -> Trajectory:
    messages: list[Message] = []
    for position, item in enumerate(history(node).items()):
        messages += _read(item, f"message {position}")
    return assemble(
        NAME,
        index,
        messages,
        trajectory_id=node.at("id"),
        task_id=node.at("task_id"),
        stored=node,
    )


def _read(node: Node, where: str) -> list[Message]:
    parts = node.objects("parts")
    if node.string("kind") == "request":
        return [m for i, part in enumerate(parts) for m in _asked(part, f"{where}, part {i}")]
    messages: list[Message] = []
    texts: list[str] = []
    calls: list[ToolCall] = []
    answered = False
    for position, part in enumerate(parts):
        kind, content = _kind(part), part.get("content")
        if kind == "text" and isinstance(content, str):
            if answered and content.strip():
                messages.append(_said(texts, calls))
                texts, calls, answered = [], [], False
            texts.append(content)
        elif kind in _CALLS:
            calls.append(_call(part, f"{where}, part {position}"))
        elif kind == "builtin-tool-return":
            answered = bool(calls)
    return [*messages, _said(texts, calls)]


def _kind(part: Mapping[str, Any]) -> str:
    kind = part.get("part_kind")
    return kind if isinstance(kind, str) else ""


def _said(texts: list[str], calls: list[ToolCall]) -> Message:
    text = "\n".join(texts) if texts else None
    return Message(role="assistant", content=text, tool_calls=tuple(calls))


def _asked(part: Mapping[str, Any], where: str) -> list[Message]:
    kind, content = _kind(part), part.get("content")
    if kind == "user-prompt":
        return [Message(role="user", content=visible_text(content, where))]
    if kind == "system-prompt":
        return [Message(role="system", content=visible_text(content, where))]
    name, call_id = part.get("tool_name"), part.get("tool_call_id")
    if kind not in _RESULTS or (kind == "retry-prompt" and name is None):
        return []
    return [
        Message(
            role="tool",
            content=content if isinstance(content, str) else raw_arguments(content),
            name=name if isinstance(name, str) else None,
            tool_call_id=call_id if isinstance(call_id, str) else None,
        )
    ]


def _call(part: Mapping[str, Any], where: str) -> ToolCall:
    name, call_id = part.get("tool_name"), part.get("tool_call_id")
    if not isinstance(name, str):
        raise ShapeError(f"{where}: field `tool_name` is missing")
    return ToolCall(
        name=name,
        arguments=raw_arguments(part.get("args")),
        id=call_id if isinstance(call_id, str) else None,
    )


FORMAT = history_format(
    NAME,
    "Pydantic AI message histories (kind, parts)",
    is_message,
    lambda node: _read(node, "message"),
    _build,
)
