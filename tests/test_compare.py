"""Two sides of one score: paired differences by hand, their parts, and what enters nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rideway.compare import compare_sides, side
from rideway.errors import InputError
from rideway.floors import floors_for
from rideway.records import Trajectory
from rideway.score import score_runs
from tests.made_runs import gather, run, scored


def compared(*runs: Trajectory, **options: Any) -> Any:
    score = scored(*runs)
    masks = [side(score.runs, "runs.jsonl", model) for model in ("x", "y")]
    return compare_sides(score, masks[0], masks[1], ("x", "y"), **options)


PAIRS = (
    run("a", 0, 4, 3, model="x"), run("a", 0, 5, 3, model="y"),
    run("b", 0, 4, 3, success=False, model="x"), run("b", 0, 4, 3, model="y"),
    run("c", 0, 4, 3, model="x"), run("c", 0, 4, 3, model="y"),
    run("d", 0, 4, 3, model="x"),
)  # fmt: skip


def test_paired_differences_by_hand() -> None:
    result = compared(*PAIRS)
    u = result.differences["efficiency_utility"]
    assert u.mean == pytest.approx(((0.8838 - 1) + 1 + 0) / 3)
    assert (u.tasks, u.higher, u.equal, u.lower) == (3, 1, 1, 1)
    assert u.interval[0] <= u.mean <= u.interval[1]
    calls = result.differences["excess_tool_calls"]
    assert (calls.mean, calls.tasks) == (0.5, 2)
    assert (result.only_a, result.only_b) == (["d"], [])
    assert result.by_task[0]["task_id"] == "b"


def test_parts_add_up_to_the_difference() -> None:
    result = compared(*PAIRS)
    parts = sum(part.mean for part in result.parts.values())
    assert parts == pytest.approx(result.differences["efficiency_utility"].mean)
    assert result.parts["success"].mean == pytest.approx(1 / 3)


def test_the_same_side_twice_differs_in_nothing() -> None:
    score = scored(*PAIRS)
    mask = side(score.runs, "runs.jsonl", "x")
    result = compare_sides(score, mask, mask, ("x", "x"), draws=50)
    assert {d.mean for d in result.differences.values()} == {0.0}
    assert result.differences["efficiency_utility"].interval == (0.0, 0.0)


def test_seed_fixes_the_interval_and_swapping_mirrors_it() -> None:
    first, again = compared(*PAIRS, seed=4), compared(*PAIRS, seed=4)
    assert first == again
    score = scored(*PAIRS)
    masks = [side(score.runs, "runs.jsonl", model) for model in ("y", "x")]
    swapped = compare_sides(score, masks[0], masks[1], ("y", "x"), seed=4)
    lo, hi = first.differences["efficiency_utility"].interval
    assert swapped.differences["efficiency_utility"].interval == pytest.approx((-hi, -lo))


def test_a_single_task_has_no_interval_and_unscored_tasks_are_told(tmp_path: Path) -> None:
    path = tmp_path / "floors.csv"
    path.write_text("task_id,tool_floor,turn_floor\na,4,3\n")
    both = [run(t, 0, 4, 3, model=m) for t in ("a", "b") for m in ("x", "y")]
    gathered = gather(*both)
    score = score_runs(gathered, floors_for(gathered, str(path)))
    masks = [side(gathered, "runs.jsonl", model) for model in ("x", "y")]
    result = compare_sides(score, masks[0], masks[1], ("x", "y"))
    assert result.differences["efficiency_utility"].interval is None
    assert (result.only_a, result.only_b, result.unscored) == ([], [], ["b"])


def test_sides_without_a_common_task_have_no_difference() -> None:
    result = compared(run("a", 0, 4, 3, model="x"), run("b", 0, 4, 3, model="y"))
    assert result.differences["efficiency_utility"].mean is None
    assert json.dumps(result.to_dict(), allow_nan=False)


def test_an_unknown_side_is_told() -> None:
    runs = gather(*PAIRS)
    with pytest.raises(InputError, match="no model 'z'; it has x, y"):
        side(runs, "runs.jsonl", "z")
    with pytest.raises(InputError, match="holds no run"):
        side(runs, "other.jsonl", None)


def test_side_masks_are_disjoint() -> None:
    runs = gather(*PAIRS)
    x, y = side(runs, "runs.jsonl", "x"), side(runs, "runs.jsonl", "y")
    assert not np.any(x & y)
    assert np.all(x | y)
