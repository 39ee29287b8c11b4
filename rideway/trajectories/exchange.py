"""Recorded calls of a model API: request and response in the shapes that recorders use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rideway.records import Message, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.node import Node
from rideway.trajectories.values import identifier, short_text, truth, usage

ONLY_ANSWER = "only the model's answer is stored: what went before it is not here"
_REQUESTS = (("request",), ("request", "body"), ("request", "json"), ("body",), ("params",))
_RESPONSES = (("response",), ("response", "body"), ("response", "json"), ("completion",))
_NULL = Node(b"null")


class Exchange(NamedTuple):
    """The two halves of a call; a half that is not stored is null."""

    request: Node
    response: Node


def exchange(node: Node, request_keys: tuple[str, ...], response_keys: tuple[str, ...]) -> Exchange:
    """The halves of a record: flat in it, or in objects of their own, or in bodies stored as text.

    Args:
        node: The record.
        request_keys: A request has one of these keys.
        response_keys: A response has one of these keys.
    """
    return Exchange(
        _first([node, *_nested(node, _REQUESTS)], request_keys),
        _first([node, *_nested(node, _RESPONSES)], response_keys),
    )


def with_answer(asked: list[Message], said: list[Message]) -> list[Message]:
    """The messages of a request and of its answer, which some recorders put into both halves."""
    return asked if asked[-len(said) :] == said else asked + said


def assemble_exchange(
    format: str,
    index: int,
    record: Node,
    call: Exchange,
    messages: Sequence[Message],
    *,
    notes: Sequence[str] = (),
    **known: Any,
) -> Trajectory:
    """The trajectory of a recorded call.

    Args:
        format: Name of the layout.
        index: Number of the record in its file, from 0.
        record: The record.
        call: Its halves.
        messages: The messages of both, in order.
        notes: Lines for people; with `ONLY_ANSWER` among them a user is taken to have asked.
        known: Other fields of `Trajectory`.
    """
    return assemble(
        format,
        index,
        messages,
        trajectory_id=_record_id(record),
        task_id=record.at("task_id"),
        trial=record.at("trial"),
        model=short_text(call.request.at("model")) or short_text(call.response.at("model")),
        success=truth(record.at("success")),
        has_user=True if ONLY_ANSWER in notes else None,
        usage=usage([call.response.at("usage")]),
        notes=notes,
        stored=record,
        **known,
    )


def _record_id(record: Node) -> str | None:
    """The id that a record gives itself, under one of its usual names."""
    ids = (identifier(record.at(key)) for key in ("trajectory_id", "id", "custom_id"))
    return next((found for found in ids if found is not None), None)


def _nested(node: Node, paths: tuple[tuple[str, ...], ...]) -> list[Node]:
    found = []
    for path in paths:
        value = node.get(*path)
        if value.is_text:
            text = value.value()
            value = Node(text.encode()) if text.lstrip()[:1] == "{" else _NULL
        if value.is_object:
            found.append(value)
    return found


def _first(candidates: list[Node], keys: tuple[str, ...]) -> Node:
    for candidate in candidates:
        if any(not candidate.get(key).is_null for key in keys):
            return candidate
    return _NULL
