"""OpenAI chat completions: lists of messages, training data, recorded requests and responses.

A record is `{messages, tools}`, a request with its response (`choices`), or a bare list of
messages; a file of nothing but messages is one trajectory. The runner sends a message with calls to
the tools, so text beside calls is no turn by default. LangChain's message dumps (`type: human`,
`ai`, `tool`) are read here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rideway.records import Message, Trajectory
from rideway.trajectories import (
    anthropic_shapes,
    openai_responses,
    tau2,
    tau2_per_task,
    tau_bench,
)
from rideway.trajectories.assemble import assemble
from rideway.trajectories.chatmessages import read_message, read_messages
from rideway.trajectories.exchange import (
    ONLY_ANSWER,
    assemble_exchange,
    exchange,
    with_answer,
)
from rideway.trajectories.format import Format, begins_with, read_conversation, read_records
from rideway.trajectories.jsontext import JsonError
from rideway.trajectories.node import Node
from rideway.trajectories.units import Input

NAME = "openai_chat"
_ROLES = frozenset(
    {"system", "developer", "user", "assistant", "tool", "function", "human", "ai", "model"}
)
_OTHERS = ("record_version", "epoch", "run_info", "trajectory_format", "sessionId", "loglines")
_SEVERAL = "several choices are stored: the first is read"


def is_message(node: Node) -> bool:
    """Whether a value is one chat message."""
    role = node.string("role") or node.string("type")
    if role not in _ROLES or "message" in node or "payload" in node or "messages" in node:
        return False
    return any(key in node for key in ("content", "tool_calls", "function_call", "data"))


def fits(node: Node) -> bool:
    """Whether a value is a record of chat messages and of no format that is built on them."""
    if node.is_list:
        return begins_with(node, is_message)
    if not node.is_object or any(key in node for key in _OTHERS):
        return False
    if tau_bench.fits(node) or tau2.is_simulation(node) or tau2_per_task.fits(node):
        return False
    call = exchange(node, ("messages",), ("choices",))
    if call.response.get("choices").is_list:
        return True
    messages = call.request.get("messages")
    return messages.is_list and (begins_with(messages, is_message) or not messages.texts())


def matches(file: Input) -> bool:
    """Whether the first value is a record of chat messages, or the file a list of messages."""
    if not file.head or openai_responses.matches(file):
        return False
    if _is_one_conversation(file):
        return True
    return fits(file.first) and not anthropic_shapes.fits(file.first)


def _is_one_conversation(file: Input) -> bool:
    if not file.is_list or not is_message(file.first):
        return False
    return not any(anthropic_shapes.has_blocks_in(unit.node) for unit in file.head)


def read(file: Input) -> Iterator[Trajectory]:
    """One trajectory a record, or one for a file of messages."""
    if _is_one_conversation(file):
        yield read_conversation(NAME, file, is_message, _read)
    else:
        yield from read_records(file, fits, _build)


def _read(node: Node) -> list[Message]:
    return read_message(_plain(node.value()))


def _build(node: Node, index: int) -> Trajectory:
    if node.is_list:
        return assemble(NAME, index, _read_list(node))
    call = exchange(node, ("messages",), ("choices",))
    messages = _read_list(call.request.get("messages"))
    notes = []
    choices = call.response.objects("choices")
    if len(choices) > 1:
        notes.append(_SEVERAL)
    if choices:
        answer = choices[0].get("message")
        if not isinstance(answer, Mapping):
            raise JsonError("field `choices`, item 0: field `message` is missing")
        said = read_message({"role": "assistant"} | dict(answer), "field `choices`, item 0")
        messages = with_answer(messages, said)
    if call.request.is_null:
        notes.append(ONLY_ANSWER)
    return assemble_exchange(NAME, index, node, call, messages, notes=notes)


def _read_list(node: Node) -> list[Message]:
    if node.is_null:
        return []
    items = node.under("messages").objects("messages")
    return read_messages(_plain(item) for item in items)


def _plain(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A LangChain dump `{type, data}` as the message that it wraps; others as they are."""
    data = item.get("data")
    if "role" not in item and isinstance(data, Mapping) and "content" in data:
        return {**data, "type": item.get("type", data.get("type"))}
    return item


FORMAT = Format(NAME, "OpenAI chat messages, requests and responses", matches, read)
