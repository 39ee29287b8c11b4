"""ShareGPT conversations: `from` and `value`, with `function_call` and `observation` turns.

Calls are structured where they stand in a turn of their own (`function_call`, one call or a list of
them) or in `<tool_call>` tags. An assistant's text that an observation follows, or that names an
action and its input, is a call written as text: it is no turn, and the calls of such a conversation
cannot be counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rideway.chatshape import ShapeError, raw_arguments
from rideway.records import Message, Role, ToolCall, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.format import record_format
from rideway.trajectories.jsontext import JsonError, decode
from rideway.trajectories.node import Node
from rideway.trajectories.values import truth

NAME = "sharegpt"
TEXT_CALLS = "calls are written as text in the assistant's turns, not as structured calls"
_CALL = "function_call"
_ROLES: dict[str, str] = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bing": "assistant",
    "chatgpt": "assistant",
    "function_call": _CALL,
    "function-call": _CALL,
    "tool_call": _CALL,
    "observation": "tool",
    "tool": "tool",
    "function": "tool",
    "function_response": "tool",
    "function-response": "tool",
    "tool_response": "tool",
}
_TAG = re.compile(r"<(tool_call|functioncall)>(.*?)(?:</\1>|<\|endoftext\|>|\Z)", re.DOTALL)
_REACT = re.compile(r"^Action:?[ \t]*\S.*\nAction Input:", re.MULTILINE)
_OLD_SPEAKER = re.compile(r"^(USER|ASSISTANT|FUNCTION RESPONSE|SYSTEM): ?", re.MULTILINE)
_OLD_ROLES: dict[str, Role] = {
    "USER": "user",
    "ASSISTANT": "assistant",
    "FUNCTION RESPONSE": "tool",
    "SYSTEM": "system",
}


def _turns(node: Node) -> Node:
    return node.get("conversations" if "conversations" in node else "conversation")


def fits(node: Node) -> bool:
    """Whether a value is a conversation of such turns, or the one text of the original Glaive."""
    if node.get("chat").is_text and "messages" not in node:
        return bool(_OLD_SPEAKER.search(node.value()["chat"]))
    turns = _turns(node)
    if not turns.is_list or any(key in node for key in ("eval_id", "messages")):
        return False
    return all(
        turn.has("from", "value") or turn.has("role", "content") or turn.has("role", "value")
        for turn in turns.items(3)
    )


def _build(node: Node, index: int) -> Trajectory:
    if node.get("chat").is_text:
        turns = _old_turns(node.value()["chat"])
    else:
        field = "conversations" if "conversations" in node else "conversation"
        turns = [_turn(turn, i) for i, turn in enumerate(node.objects(field))]
    messages, text_calls = _messages(turns)
    return assemble(
        NAME,
        index,
        messages,
        trajectory_id=node.at("id"),
        task_id=node.at("task_id"),
        success=truth(node.at("success")),
        uncountable={"tool_calls": TEXT_CALLS} if text_calls else {},
        stored=node,
    )


def _turn(turn: Mapping[str, Any], position: int) -> tuple[str, Any]:
    speaker = turn.get("from", turn.get("role"))
    said = turn.get("value", turn.get("content"))
    where = f"field `conversations`, item {position}"
    role = _ROLES.get(speaker.lower()) if isinstance(speaker, str) else None
    if role is None:
        raise ShapeError(f"{where}: field `from` names no known speaker")
    if said is not None and not isinstance(said, str) and role != _CALL:
        said = raw_arguments(said)
    return role, said


def _old_turns(text: str) -> list[tuple[str, Any]]:
    parts = _OLD_SPEAKER.split(text)
    return [
        (_OLD_ROLES[speaker], said.replace("<|endoftext|>", "").strip())
        for speaker, said in zip(parts[1::2], parts[2::2], strict=True)
    ]


def _messages(turns: Sequence[tuple[str, Any]]) -> tuple[list[Message], bool]:
    """The messages of some turns, and whether some calls among them are text."""
    messages: list[Message] = []
    text_calls = False
    for position, (role, said) in enumerate(turns):
        if role == _CALL:
            messages.append(Message(role="assistant", tool_calls=_calls(said)))
        elif role == "assistant":
            text, calls = _tagged(said)
            follower = turns[position + 1][0] if position + 1 < len(turns) else None
            written = follower == "tool" or _REACT.search(text or "")
            if written and not calls and (text or "").strip():
                text_calls = True
                continue
            messages.append(Message(role="assistant", content=text, tool_calls=calls))
        else:
            known: Role = "user" if role == "user" else "tool" if role == "tool" else "system"
            messages.append(Message(role=known, content=said))
    return messages, text_calls


def _calls(said: Any) -> tuple[ToolCall, ...]:
    """The calls of a call turn: one or a list; a text that is no JSON is one broken call."""
    if isinstance(said, str):
        try:
            said = decode(said.encode(), object)
        except (JsonError, UnicodeEncodeError):
            return (ToolCall(name="", arguments=said),)
    calls = said if isinstance(said, list) else [said]
    return tuple(_one_call(call) for call in calls)


def _one_call(call: Any) -> ToolCall:
    body = call.get("function", call) if isinstance(call, Mapping) else {}
    body = body if isinstance(body, Mapping) else call
    name = body.get("name") if isinstance(body, Mapping) else None
    if not isinstance(name, str):
        return ToolCall(name="", arguments=msgspec.json.encode(call).decode())
    return ToolCall(name=name, arguments=raw_arguments(body.get("arguments")))


def _tagged(said: Any) -> tuple[str | None, tuple[ToolCall, ...]]:
    """The text of a turn and the calls in its tags."""
    if not isinstance(said, str) or "<" not in said:
        return said, ()
    calls = tuple(call for match in _TAG.finditer(said) for call in _calls(match[2].strip()))
    return (_TAG.sub("", said).strip(), calls) if calls else (said, ())


FORMAT = record_format(
    NAME, "ShareGPT conversations (from, value), Glaive and its kin", fits, _build
)
