"""Putting a trajectory together from what a reader found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rideway.metric.counts import count_effort
from rideway.records import Ending, Message, Trajectory
from rideway.trajectories.node import Node
from rideway.trajectories.values import identifier, whole

NO_USER = "no user in the loop: its turns are 0 and a turn floor means nothing here"
NO_MESSAGES = "holds no message"
STORED_TURNS = ("num_turns", "n_turns", "turn_count", "turns")
STORED_CALLS = ("num_tool_calls", "n_tool_calls", "tool_call_count", "total_tool_calls")


def assemble(
    format: str,
    index: int,
    messages: Sequence[Message],
    *,
    trajectory_id: Any = None,
    task_id: Any = None,
    trial: Any = None,
    has_user: bool | None = None,
    notes: Sequence[str] = (),
    stored: Node | None = None,
    **known: Any,
) -> Trajectory:
    """A `Trajectory` with the id that the file gives, else `task/trial`, else `#index`.

    Args:
        format: Name of the layout.
        index: Number of the record in its file, from 0.
        messages: Its messages in order.
        trajectory_id: The id in the file, or None.
        task_id: Text or whole number, or None.
        trial: Whole number, or None.
        has_user: Whether a user takes part; None: if a message of a user is there.
        notes: Lines for people.
        stored: The record, to compare ready-made counts in it with the messages.
        known: Other fields of `Trajectory`.
    """
    task, attempt = identifier(task_id), whole(trial)
    own_id = identifier(trajectory_id)
    if own_id is None:
        own_id = f"{task}/{attempt}" if task is not None and attempt is not None else f"#{index}"
    told = list(notes)
    if has_user is None:
        has_user = not messages or any(message.role == "user" for message in messages)
    if not has_user:
        told.append(NO_USER)
    if not messages:
        told.append(NO_MESSAGES)
    if known.get("ending") is Ending.PROVIDER_ERROR:
        known["success"] = None  # a run that broke says nothing about the model
    if stored is not None:
        told += disagreements(stored, messages, known.get("text_beside_calls_shown", False))
    return Trajectory(
        trajectory_id=own_id,
        task_id=task,
        trial=attempt,
        messages=tuple(messages),
        has_user=has_user,
        format=format,
        notes=tuple(told),
        **known,
    )


def disagreements(record: Node, messages: Sequence[Message], shown: bool = False) -> list[str]:
    """Notes on ready-made counts stored in a record that differ from its messages' own counts."""
    found = []
    effort = None
    for name, keys in (("tool_calls", STORED_CALLS), ("turns", STORED_TURNS)):
        for key in keys:
            told = whole(record.at(key)) if key in record else None
            if told is None:
                continue
            effort = effort or count_effort(messages, text_beside_calls_shown=shown)
            counted = getattr(effort, name)
            if told != counted:
                found.append(f"stored {key} {told} is not used: the messages give {counted} {name}")
    return found
