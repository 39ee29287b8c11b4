"""rideway's own layout: one `rideway.records.Trajectory` a line."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from rideway.records import RECORD_VERSION, Message, ToolCall, Trajectory, Usage
from rideway.trajectories.format import record_format
from rideway.trajectories.jsontext import JsonError, kind_of
from rideway.trajectories.node import Node

NAME = "rideway"


def fits(node: Node) -> bool:
    """Whether a value is one of our records, of any version."""
    return node.has("record_version", "trajectory_id")


def _build(node: Node, index: int) -> Trajectory:
    """The record as it was written; fields that a later version added are passed over."""
    record = node.value()
    version = record["record_version"]
    if version != RECORD_VERSION:
        raise JsonError(
            f"field `record_version` is {version!r}, this rideway reads {RECORD_VERSION}: "
            "read it with the version that wrote it"
        )
    messages = record.get("messages", [])
    if not isinstance(messages, list):
        raise JsonError(f"field `messages` must be a list, not {kind_of(messages)}")
    known = _known(record, Trajectory)
    known["messages"] = tuple(_message(message, i) for i, message in enumerate(messages))
    if isinstance(known.get("usage"), dict):
        known["usage"] = _known(known["usage"], Usage)
    return Trajectory.model_validate(known)


def _message(message: Any, position: int) -> dict[str, Any]:
    if not isinstance(message, dict):
        raise JsonError(
            f"field `messages`, item {position} must be an object, not {kind_of(message)}"
        )
    known = _known(message, Message)
    if isinstance(known.get("tool_calls"), list):
        known["tool_calls"] = [
            _known(call, ToolCall) if isinstance(call, dict) else call
            for call in known["tool_calls"]
        ]
    return known


def _known(record: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key in model.model_fields}


FORMAT = record_format(NAME, "rideway's own trajectories.jsonl, one record a line", fits, _build)
