"""Runs with given counts, for tests of what is made of counts."""

from __future__ import annotations

from typing import Any

from rideway.floors import floors_for
from rideway.metric.counts import CountingRule
from rideway.records import Message, ToolCall, Trajectory
from rideway.runs import Runs
from rideway.score import Score, score_runs


def run(
    task: str | None,
    trial: int | None,
    calls: int,
    turns: int,
    success: bool | None = True,
    **known: Any,
) -> Trajectory:
    """A trajectory with the given counts."""
    said = Message(role="assistant", content="好的")
    called = Message(role="assistant", tool_calls=(ToolCall(name="search_poi"),))
    messages = (Message(role="user", content="你好"), *[called] * calls, *[said] * turns)
    known.setdefault("messages", messages)
    known.setdefault("trajectory_id", f"{known.get('model')}:{task}/{trial}")
    return Trajectory(task_id=task, trial=trial, success=success, **known)


def gather(*runs: Trajectory, rule: CountingRule | None = None) -> Runs:
    gathered = Runs()
    for one in runs:
        gathered.add(one, rule or CountingRule(), "runs.jsonl")
    return gathered


def scored(*runs: Trajectory, floors: str = "pool") -> Score:
    gathered = gather(*runs)
    return score_runs(gathered, floors_for(gathered, floors))
