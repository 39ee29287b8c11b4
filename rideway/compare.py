"""Two agents on the same tasks: paired differences and where they come from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rideway.errors import InputError
from rideway.metric.resample import multinomial_counts, percentile_interval
from rideway.runs import UNKNOWN, Runs
from rideway.score import Score

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

MEASURES = (
    "efficiency_utility",
    "success_rate",
    "conditional_efficiency_utility",
    "excess_tool_calls",
    "excess_turns",
)
"""What is compared; the last three are means over successful runs."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean over tasks of (B - A), with a task-level percentile interval.

    `tasks` counts the tasks that enter, `higher`, `equal` and `lower` those where B is higher,
    equal and lower. `mean` is None when no task enters, `interval` when fewer than two do.
    """

    mean: float | None
    interval: tuple[float, float] | None
    tasks: int
    higher: int
    equal: int
    lower: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Paired comparison of two sides of one score.

    Attributes:
        labels: Names of A and B.
        differences: Measure -> paired difference over the tasks that both sides ran.
        parts: The utility difference split: `success` is what it would be had both sides the same
            utility given success, `efficiency` the rest. They add up to the whole.
        by_task: Per task: means of both sides and the differences, widest first.
        only_a: Tasks that only A ran; likewise `only_b`. They enter nothing.
        unscored: Tasks that both ran and one has no scored run of. They enter nothing either.
        level: Level of the intervals.
        draws: Number of resamples of the tasks.
    """

    labels: tuple[str, str]
    differences: dict[str, Difference]
    parts: dict[str, Difference]
    by_task: list[dict[str, Any]]
    only_a: list[str]
    only_b: list[str]
    unscored: list[str]
    level: float
    draws: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of the comparison."""
        return {
            "a": self.labels[0],
            "b": self.labels[1],
            "differences": {name: _plain(d) for name, d in self.differences.items()},
            "parts": {name: _plain(d) for name, d in self.parts.items()},
            "by_task": self.by_task,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "unscored": self.unscored,
            "level": self.level,
            "draws": self.draws,
        }


def side(runs: Runs, file: str, model: str | None) -> Mask:
    """Runs of one file, or of one model in it, shape (runs,).

    Raises:
        InputError: There is no such run.
    """
    files = [os.path.realpath(name) for name in runs.files]
    real = os.path.realpath(file)
    rows: Mask = runs.column("file") == (files.index(real) if real in files else UNKNOWN)
    if not rows.any():
        raise InputError(f"{file}: holds no run to compare")
    if model is None:
        return rows
    codes = runs.column("model")
    its = [runs.model_names[code] for code in dict.fromkeys(codes[rows].tolist())]
    if model not in its:
        raise InputError(f"{file}: no model {model!r}; it has {', '.join(its)}")
    rows &= codes == runs.model_names.index(model)
    return rows


def compare_sides(
    score: Score,
    side_a: Mask,
    side_b: Mask,
    labels: tuple[str, str],
    *,
    draws: int = 5000,
    level: float = 0.9,
    seed: int = 0,
) -> Comparison:
    """Compare two sets of runs of one score, task by task.

    Args:
        score: A score that holds both sides, so that pooled floors are common to them.
        side_a: Runs of A, shape (runs,).
        side_b: Runs of B, shape (runs,).
        labels: Names of the two sides.
        draws: Resamples of the tasks (paper B.4: 5,000 for task-level intervals).
        level: Level of the percentile intervals.
        seed: Seed of the resampling.
    """
    task = score.runs.column("task")
    usable = score.scored & (task != UNKNOWN)
    scored_a, scored_b = set(task[usable & side_a].tolist()), set(task[usable & side_b].tolist())
    ran_a, ran_b = (set(task[side].tolist()) - {UNKNOWN} for side in (side_a, side_b))
    codes = np.array(sorted(scored_a & scored_b), dtype=np.int64)
    means_a = _task_means(score, usable & side_a, codes)
    means_b = _task_means(score, usable & side_b, codes)
    counts = multinomial_counts(len(codes), draws, seed) if len(codes) else None
    differences = {
        name: _difference(means_b[name] - means_a[name], counts, level) for name in MEASURES
    }
    success_part, efficiency_part = _split(means_a, means_b)
    names = score.runs.task_names
    return Comparison(
        labels=labels,
        differences=differences,
        parts={
            "success": _difference(success_part, counts, level),
            "efficiency": _difference(efficiency_part, counts, level),
        },
        by_task=_rows([names[code] for code in codes.tolist()], means_a, means_b),
        only_a=[names[code] for code in sorted(ran_a - ran_b)],
        only_b=[names[code] for code in sorted(ran_b - ran_a)],
        unscored=[names[code] for code in sorted((ran_a & ran_b) - (scored_a & scored_b))],
        level=level,
        draws=draws,
    )


def _task_means(score: Score, rows: Mask, codes: NDArray[np.int64]) -> dict[str, Floats]:
    """Means per task, shape (tasks,); NaN where a task has no success to average over."""
    runs = score.runs
    task = np.searchsorted(codes, runs.column("task")[rows])
    inside = task < len(codes)
    inside[inside] = codes[task[inside]] == runs.column("task")[rows][inside]
    task = task[inside]
    passed = (runs.column("success")[rows] == 1)[inside]
    utility = score.utility[rows][inside]

    def mean(values: NDArray[Any], keep: Mask) -> Floats:
        n = np.bincount(task[keep], minlength=len(codes))
        total = np.bincount(task[keep], weights=values[keep], minlength=len(codes))
        means: Floats = np.full(len(codes), np.nan)
        np.divide(total, n, out=means, where=n > 0)
        return means

    everything = np.ones(len(task), dtype=np.bool_)
    excess_tool = score.excess("tool_calls")[rows][inside]
    excess_turn = score.excess("turns")[rows][inside]
    return {
        "efficiency_utility": mean(utility, everything),
        "success_rate": mean(passed, everything),
        "conditional_efficiency_utility": mean(utility, passed),
        "excess_tool_calls": mean(excess_tool, passed),
        "excess_turns": mean(excess_turn, passed),
    }


def _split(a: dict[str, Floats], b: dict[str, Floats]) -> tuple[Floats, Floats]:
    """U = SR x U given success, so dU = dSR x mean(U given s.) + mean(SR) x d(U given s.).

    Where a side never succeeded, its utility given success is not known; it is taken as the other
    side's, and the whole difference is one of success.
    """
    given_a, given_b = a["conditional_efficiency_utility"], b["conditional_efficiency_utility"]
    filled_a = np.nan_to_num(np.where(np.isnan(given_a), given_b, given_a))
    filled_b = np.nan_to_num(np.where(np.isnan(given_b), given_a, given_b))
    rate_a, rate_b = a["success_rate"], b["success_rate"]
    success = (rate_b - rate_a) * (filled_a + filled_b) / 2
    efficiency = (rate_a + rate_b) / 2 * (filled_b - filled_a)
    return success, efficiency


def _difference(values: Floats, counts: NDArray[np.int64] | None, level: float) -> Difference:
    known = ~np.isnan(values)
    n = int(known.sum())
    if counts is None or n == 0:
        return Difference(None, None, 0, 0, 0, 0)
    weights = counts[:, known]
    totals = weights.sum(axis=1)
    drawn = totals > 0  # a resample may hold none of the tasks where both sides succeeded
    means = (weights[drawn] @ values[known]) / totals[drawn]
    close = np.isclose(values[known], 0.0, atol=1e-12)
    higher = int(((values[known] > 0) & ~close).sum())
    equal = int(close.sum())
    return Difference(
        mean=float(values[known].mean()),
        interval=percentile_interval(means, level) if n > 1 else None,
        tasks=n,
        higher=higher,
        equal=equal,
        lower=n - higher - equal,
    )


def _rows(names: list[str], a: dict[str, Floats], b: dict[str, Floats]) -> list[dict[str, Any]]:
    rows = [
        {
            "task_id": name,
            "difference": float(b["efficiency_utility"][i] - a["efficiency_utility"][i]),
            **{f"{measure}_a": _number(a[measure][i]) for measure in MEASURES},
            **{f"{measure}_b": _number(b[measure][i]) for measure in MEASURES},
        }
        for i, name in enumerate(names)
    ]
    return sorted(rows, key=lambda row: (-abs(row["difference"]), row["task_id"]))


def _number(value: np.floating[Any]) -> float | None:
    return None if np.isnan(value) else float(value)


def _plain(difference: Difference) -> dict[str, Any]:
    return {
        "mean": difference.mean,
        "interval": list(difference.interval) if difference.interval else None,
        "tasks": difference.tasks,
        "higher": difference.higher,
        "equal": difference.equal,
        "lower": difference.lower,
    }
