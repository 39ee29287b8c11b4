"""Floors from a file: which task a row names, what its source is called, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rideway.floors import FloorError, RunFloors, floors_for, read_floor_file
from rideway.metric.counts import DEFAULT_RULE
from rideway.records import Message, ToolCall, Trajectory
from rideway.runs import Runs
from rideway.score import score_runs

HEADER = "task_id,tool_floor,turn_floor"


def gather(*tasks: str, **known: Any) -> Runs:
    """One success of each task, five calls and three turns."""
    called = Message(role="assistant", tool_calls=(ToolCall(name="search_poi"),))
    said = Message(role="assistant", content="好的")
    messages = (Message(role="user", content="你好"), *[called] * 5, *[said] * 3)
    known = {"success": True, "trial": 0, "messages": messages} | known
    gathered = Runs()
    for task in tasks:
        split, _, name = task.rpartition(":")
        one = Trajectory(trajectory_id=task, task_id=name, split=split or None, **known)
        gathered.add(one, DEFAULT_RULE, "runs.jsonl")
    return gathered


def floors(tmp_path: Path, runs: Runs, text: str) -> RunFloors:
    path = tmp_path / "floors.csv"
    path.write_text(text, encoding="utf-8")
    return floors_for(runs, str(path))


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\nrh44/a,4,3\n",
        '{"a": {"tool": 4, "turn": 3}}',
        '[{"task_id": "a", "f_tool": 4, "f_turn": 3.0}]',
        '{"task_id": "a", "tool": 4, "turn": 3}\n{"task_id":"b","tool":1,"turn":1}\n',
    ],
)
@pytest.mark.parametrize("task", ["a", "rh44/a"])
def test_floors_from_a_file_name_tasks_with_and_without_split(
    tmp_path: Path, text: str, task: str
) -> None:
    runs = gather(task)
    found = floors(tmp_path, runs, text)
    assert score_runs(runs, found).utility.tolist() == [pytest.approx(0.8838)]
    assert (found.source, found.notes) == ("file", ())
    assert found.meaning == "floors of no stated source, read from floors.csv"


def test_a_task_without_split_is_not_guessed_among_several(tmp_path: Path) -> None:
    text = f"{HEADER}\nx/a,4,3\ny/a,5,3\nb,1,1\n"
    assert floors(tmp_path, gather("a", "b"), text).tool.tolist() == [-1, 1]
    text = f"{HEADER}\nx/a,4,3\ny/a,4,3\n"
    assert floors(tmp_path, gather("a"), text).tool.tolist() == [4]


def test_equal_tasks_of_two_splits_have_their_own_floors(tmp_path: Path) -> None:
    runs = gather("airline:10", "retail:10", "retail:11", format="tau2")
    with pytest.raises(FloorError, match="'10' stands for airline/10 and retail/10 in these runs"):
        floors(tmp_path, runs, f"{HEADER}\n10,4,3\n11,4,3\n")
    text = f"{HEADER}\nairline/10,4,3\nretail/10,2,3\n11,1,3\n"
    assert floors(tmp_path, runs, text).tool.tolist() == [4, 2, 1]


@pytest.mark.parametrize("source", ["human", "authored_reference", "pool", "reference", "file"])
def test_the_source_is_what_the_file_says(tmp_path: Path, source: str) -> None:
    found = floors(tmp_path, gather("a"), f"{HEADER},floor_source\na,4,3,{source}\n")
    assert found.source == source
    assert ("not human floors" in found.meaning) == (source not in ("human", "file"))


def test_mixed_sources_are_told_of_the_tasks_that_were_run(tmp_path: Path) -> None:
    text = f"{HEADER},floor_source\na,4,3,human\nb,4,3,pool\nc,4,3,human\nd,4,3,\n"
    mixed = floors(tmp_path, gather("a", "b", "c", "d"), text)
    assert mixed.source == "mixed"
    told = "floors.csv mixes sources: human (2 tasks), pool (1 task), file (1 task)"
    assert mixed.notes == (told,)
    assert floors(tmp_path, gather("a", "c"), text).source == "human"


def test_a_file_of_pool_floors_does_not_make_its_missing_tasks_worth_zero(tmp_path: Path) -> None:
    runs = gather("a", "b", success=False)
    found = floors(tmp_path, runs, f"{HEADER},floor_source\na,4,3,pool\n")
    score = score_runs(runs, found)
    assert score.unscored == {1: "the task has no floor in this source"}
    assert found.notes == ("1 of 2 tasks without a floor in floors.csv, the first b",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("task_id,tool_floor\na,4\n", "row 1 (a): field `turn_floor` is missing"),
        ("任务,工具,轮数\na,4,3\n", "row 1: field `task_id` is missing (so is `task`); "
         "the row has 任务, 工具, 轮数"),
        (f"{HEADER}\na,4,\n", "row 1 (a): field `turn_floor` is empty"),
        (f"{HEADER}\na,4,2.5\n", "row 1 (a): field `turn_floor`: must be a whole number"),
        (f"{HEADER}\na,-4,2\n", "row 1 (a): field `tool_floor`"),
        (f"{HEADER}\na,inf,2\n", "row 1 (a): field `tool_floor`"),
        (f"{HEADER}\na,nan,2\n", "row 1 (a): field `tool_floor`"),
        (f"{HEADER}\na,1e300,2\n", "row 1 (a): field `tool_floor`"),
        ('[{"task_id": "a", "tool": true, "turn": 1}]', "row 1 (a): field `tool_floor`"),
        (f"{HEADER}\na,4,2\na,5,2\n", "row 2 (a): the task has other floors"),
        (f"{HEADER},floor_source\na,4,2,pool\na,4,2,human\n", "row 2 (a): the task has other"),
        (f"{HEADER},floor_source\na,4,2,人工\n", "row 1 (a): field `floor_source` must be one of "
         "authored_reference, human, pool, reference, file, got '人工'"),
        (f"{HEADER}\n", "holds no floors"),
        ("", "holds no floors"),
        (f"{HEADER}\nb,4,2\n", "has a floor of none of the runs' tasks: its first task is 'b', the "
         "runs' first 'a'"),
    ],
)  # fmt: skip
def test_bad_floor_files_are_refused_by_row(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(FloorError) as refused:
        floors(tmp_path, gather("a"), text)
    assert f"floors.csv: {told}" in str(refused.value)


def test_a_file_reads_without_runs(tmp_path: Path) -> None:
    path = tmp_path / "floors.csv"
    path.write_text(f"{HEADER},floor_source\na,4,3,human\nb,2,1,\n")
    assert read_floor_file(path) == {"a": (4, 3, "human"), "b": (2, 1, "file")}
    assert floors_for(gather(), str(path)).source == "file"
