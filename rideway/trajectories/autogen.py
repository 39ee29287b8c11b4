"""AutoGen's messages and events: `source`, `type` and `content`, as a task's result stores them.

What an agent of the team says is text for whoever started the task, who has the source `user`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rideway.chatshape import ShapeError, raw_arguments, tool_call, visible_text
from rideway.records import Ending, Message, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.chatmessages import part_kind
from rideway.trajectories.format import history_format
from rideway.trajectories.node import Node

NAME = "autogen"
_TEXTS = frozenset(
    {"TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "ToolCallSummaryMessage"}
)
_CALLS = "ToolCallRequestEvent"
_RESULTS = "ToolCallExecutionEvent"


def is_message(node: Node) -> bool:
    """Whether a value is one message or event."""
    kind = node.string("type") or ""
    return node.has("source", "content") and kind.endswith(("Message", "Event"))


def _build(node: Node, index: int) -> Trajectory:
    wrapped = node.under("messages") if node.is_list else node
    messages = []
    for position, item in enumerate(wrapped.objects("messages")):
        messages += _read(item, f"field `messages`, item {position}")
    reason = wrapped.string("stop_reason") or ""
    return assemble(
        NAME,
        index,
        messages,
        trajectory_id=wrapped.at("id"),
        task_id=wrapped.at("task_id"),
        ending=Ending.MAX_STEPS if "Maximum number of" in reason else Ending.UNKNOWN,
        stored=wrapped,
    )


def _read(item: Mapping[str, Any], where: str) -> list[Message]:
    kind, content = part_kind(item), item.get("content")
    if kind == _CALLS and isinstance(content, list):
        calls = tuple(tool_call(call, f"{where}, call {i}") for i, call in enumerate(content))
        return [Message(role="assistant", tool_calls=calls)]
    if kind == _RESULTS and isinstance(content, list):
        return [_result(result, where) for result in content]
    if kind not in _TEXTS:
        return []
    from_user = item.get("source") == "user"
    text = visible_text(content, where)
    return [Message(role="user" if from_user else "assistant", content=text)]


def _result(result: Any, where: str) -> Message:
    if not isinstance(result, Mapping):
        raise ShapeError(f"{where}: a result must be an object")
    given, call_id = result.get("content"), result.get("call_id")
    return Message(
        role="tool",
        content=given if isinstance(given, str) else raw_arguments(given),
        tool_call_id=call_id if isinstance(call_id, str) else None,
    )


FORMAT = history_format(
    NAME,
    "AutoGen task results (source, type, content)",
    is_message,
    lambda node: _read(node.value(), "message"),
    _build,
)
