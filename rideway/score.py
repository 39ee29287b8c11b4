"""Efficiency Utility of counted runs: counts, outcomes and floors in, a score with parts out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rideway.floors import RunFloors
from rideway.metric.success import pass_estimate
from rideway.metric.utility import PUBLISHED_PENALTIES, Penalties, efficiency_utility
from rideway.runs import UNKNOWN, Runs

RECORD_COLUMNS = (
    "id",
    "task_id",
    "trial",
    "model",
    "success",
    "tool_calls",
    "turns",
    "tool_floor",
    "turn_floor",
    "utility",
    "unscored_because",
    "turns_excluding_text_beside_calls",
    "turns_including_text_beside_calls",
)
"""Columns of one scored run, in the order of every table written."""

_MOST_TRIALS = 8  # pass@k is shown up to here: beyond it the table tells nothing new


@dataclass(frozen=True, slots=True)
class Score:
    """Scored runs.

    Attributes:
        runs: The counted runs.
        floors: Floors of each run and where they come from.
        penalties: The discounts used.
        utility: Utility of each run, shape (runs,); NaN where a run is not scored.
        unscored: Row -> why the run is not scored; rows listed apart are among them.
    """

    runs: Runs
    floors: RunFloors
    penalties: Penalties
    utility: NDArray[np.float64]
    unscored: dict[int, str]

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which runs are scored, shape (runs,)."""
        return ~np.isnan(self.utility)

    def excess(self, count: Literal["tool_calls", "turns"]) -> NDArray[np.int64]:
        """Excess of each run on one axis, shape (runs,); meaningful for scored successes only."""
        floors = self.floors.tool if count == "tool_calls" else self.floors.turn
        over = np.subtract(self.runs.column(count), floors, dtype=np.int64)
        return np.maximum(over, 0, out=over)

    def records(self) -> Iterator[dict[str, Any]]:
        """One row a run, with the columns of `RECORD_COLUMNS`; None where a value is not known."""
        runs = self.runs
        columns = {name: runs.column(name).tolist() for name in _RECORD_INTS}
        tool, turn, utility = self.floors.tool.tolist(), self.floors.turn.tolist(), self.utility
        for row, trajectory_id in enumerate(runs.ids):
            success = columns["success"][row]
            yield {
                "id": trajectory_id,
                "task_id": runs.task_of(row),
                "trial": _known(columns["trial"][row]),
                "model": runs.model_of(row),
                "success": None if success == UNKNOWN else bool(success),
                "tool_calls": _known(columns["tool_calls"][row]),
                "turns": _known(columns["turns"][row]),
                "tool_floor": _known(tool[row]),
                "turn_floor": _known(turn[row]),
                "utility": None if row in self.unscored else float(utility[row]),
                "unscored_because": self.unscored.get(row),
                "turns_excluding_text_beside_calls": columns[_EXCLUDING][row],
                "turns_including_text_beside_calls": columns[_INCLUDING][row],
            }

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which runs have a known outcome and are not listed apart, shape (runs,)."""
        known: NDArray[np.bool_] = self.runs.column("success") != UNKNOWN
        known[list(self.runs.apart)] = False
        return known

    def summary(self, rows: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        """Means over runs (those of `rows`, a mask, or all); None where there is no run.

        The success rate is taken over all judged runs, utilities over the scored ones: a task
        without a floor can be succeeded at, but its runs have no utility.
        """
        mask = self.scored if rows is None else self.scored & rows
        judged = self.judged if rows is None else self.judged & rows
        rate = (self.runs.column("success") == 1)[judged]
        utility = self.utility[mask]
        passed = (self.runs.column("success") == 1)[mask]
        n, successes = int(mask.sum()), int(passed.sum())
        tool = self.excess("tool_calls")[mask][passed]
        turn = self.excess("turns")[mask][passed]
        return {
            "n": n,
            "efficiency_utility": float(utility.sum()) / n if n else None,
            "success_rate": float(rate.mean()) if len(rate) else None,
            "judged": len(rate),
            "conditional_efficiency_utility": float(utility.sum()) / successes
            if successes
            else None,
            "successes": {
                "n": successes,
                "zero_excess_tool_calls": _share(tool == 0),
                "zero_excess_turns": _share(turn == 0),
                "zero_excess": _share((tool == 0) & (turn == 0)),
                "mean_excess_tool_calls": _mean(tool),
                "mean_excess_turns": _mean(turn),
            },
        }

    def by_task(self) -> list[dict[str, Any]]:
        """Summary of each task, with its floors, in order of first appearance."""
        codes = self.runs.column("task")
        tables = []
        for code, rows in _groups(codes):
            first = int(rows[0])
            tables.append(
                {
                    "task_id": self.runs.task_of(first) if code != UNKNOWN else None,
                    "tool_floor": _known(int(self.floors.tool[first])),
                    "turn_floor": _known(int(self.floors.turn[first])),
                    **self._of(rows),
                }
            )
        return tables

    def by_model(self) -> list[dict[str, Any]]:
        """Summary of each model with pass@k and pass^k, in order of first appearance."""
        return [
            {
                "model": self.runs.model_of(int(rows[0])),
                **self._of(rows),
                "pass": self.pass_table(rows),
            }
            for _, rows in _groups(self.runs.column("model"))
        ]

    def pass_table(self, rows: NDArray[np.int64] | None = None) -> list[dict[str, Any]]:
        """pass@k and pass^k for k = 1 .. trials of a task, over (model, task) pairs.

        Runs to be run again count as missing trials; a task with fewer than k known outcomes is
        left out at k and counted in `tasks_short`. A model is expected to run each of its tasks as
        often as the one it ran most.
        """
        outcomes = self._outcomes(np.arange(len(self.runs)) if rows is None else rows)
        if not outcomes:
            return []
        longest: dict[int, int] = defaultdict(int)  # trials that each model was meant to run
        for (model, _), trials in outcomes.items():
            longest[model] = max(longest[model], len(trials))
        expected = sum(longest[model] for model, _ in outcomes)
        table = []
        for k in range(1, min(max(longest.values()), _MOST_TRIALS) + 1):
            estimate = pass_estimate(list(outcomes.values()), k)
            table.append(
                {
                    "k": k,
                    "pass_at_k": estimate.pass_at_k,
                    "pass_hat_k": estimate.pass_hat_k,
                    "tasks": estimate.tasks,
                    "tasks_short": estimate.tasks_short,
                    "trials_expected": expected,
                    "trials_seen": estimate.trials_seen,
                }
            )
        return table

    def to_dict(self, *, records: bool = True) -> dict[str, Any]:
        """The JSON document of the score; `records=False` leaves the rows of the runs out."""
        runs = self.runs
        document = {
            **self.summary(),
            "floor_source": self.floors.source,
            "floor_meaning": self.floors.meaning,
            "floor_notes": list(self.floors.notes),
            "penalties": {
                "lambda_tool": self.penalties.lambda_tool,
                "lambda_turn": self.penalties.lambda_turn,
            },
            "counting": self.counting(),
            "runs": len(runs),
            "unscored": _tally(self.unscored.values()),
            "pass": self.pass_table(),
            "models": self.by_model(),
            "tasks": self.by_task(),
            "formats": dict(runs.formats),
            "notes": dict(runs.notes),
            "warnings": list(runs.warnings),
        }
        return document | {"records": list(self.records())} if records else document

    def counting(self) -> dict[str, Any]:
        """The rules for text beside calls and for sub-agents, both sums of each, and the parts."""
        rules = self.runs.rules
        held = {True: "a turn", False: "no turn"}
        told = " / ".join(f"{held[rule]} ({n} runs)" for rule, n in sorted(rules.items()))
        sums, left_out = self.runs.sums, self.runs.sub_agent_calls_left_out
        parts = {name: sums.get(name, 0) for name in _PARTS}
        parts["sub_agent_tool_calls"] += left_out
        return {
            "text_beside_calls": told,
            "sub_agent_calls": "counted" if self.runs.sub_agents_counted else "not counted",
            "tool_calls_excluding_sub_agents": sums["tool_calls"] - sums["sub_agent_tool_calls"],
            "tool_calls_including_sub_agents": sums["tool_calls"] + left_out,
            **parts,
        }

    def _of(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        mask = np.zeros(len(self.runs), dtype=np.bool_)
        mask[rows] = True
        return self.summary(mask)

    def _outcomes(self, rows: NDArray[np.int64]) -> dict[tuple[int, int], list[bool | None]]:
        """Outcomes by (model, task); None for a run that is to be run again."""
        model, task = self.runs.column("model"), self.runs.column("task")
        success = self.runs.column("success")
        outcomes: dict[tuple[int, int], list[bool | None]] = defaultdict(list)
        for row in rows.tolist():
            if task[row] == UNKNOWN or row in self.runs.duplicates:
                continue
            known = row not in self.runs.apart and success[row] != UNKNOWN
            outcomes[int(model[row]), int(task[row])].append(bool(success[row]) if known else None)
        return outcomes


_EXCLUDING = "turns_excluding_text_beside_calls"
_INCLUDING = "turns_including_text_beside_calls"
_RECORD_INTS = ("trial", "success", "tool_calls", "turns", _EXCLUDING, _INCLUDING)
_PARTS = (
    _EXCLUDING,
    _INCLUDING,
    "greeting_before_user",
    "parallel_messages",
    "think_calls",
    "terminal_calls",
    "handoff_calls",
    "sub_agent_tool_calls",
    "user_side_tool_calls",
    "empty_assistant_messages",
    "control_only_messages",
)


def score_runs(runs: Runs, floors: RunFloors, penalties: Penalties = PUBLISHED_PENALTIES) -> Score:
    """Efficiency Utility of each run (paper, equation 1).

    A run is not scored, and told so, when it is listed apart, when its outcome is not known, or
    when its task has no floor. A task that a pool never solved has none either, but all of its
    runs failed: they are worth 0.
    """
    success = runs.column("success")
    tool, turn = runs.column("tool_calls"), runs.column("turns")
    no_floor = (floors.tool == UNKNOWN) | (floors.turn == UNKNOWN)
    unscored = dict(runs.apart)
    for row in np.flatnonzero(success == UNKNOWN).tolist():
        task = "" if runs.task_of(row) else "; it names no task either, so there is no floor"
        reason = f"no stored success: give --success FILE or --assume-success{task}"
        unscored.setdefault(row, reason)
    own = floors.of_these_runs
    hopeless = (success == 0) & (runs.column("task") != UNKNOWN) if own else False
    for row in np.flatnonzero((success != UNKNOWN) & no_floor & ~np.asarray(hopeless)).tolist():
        unscored.setdefault(row, _why_no_floor(runs, row))
    scored = np.ones(len(runs), dtype=np.bool_)
    scored[list(unscored)] = False
    gate = success[scored] == 1
    utility = np.full(len(runs), np.nan)
    utility[scored] = efficiency_utility(
        gate,
        np.maximum(tool[scored], 0),
        np.maximum(turn[scored], 0),
        np.maximum(floors.tool[scored], 0),
        np.maximum(floors.turn[scored], 0),
        penalties,
    )
    return Score(runs, floors, penalties, utility, unscored)


def _why_no_floor(runs: Runs, row: int) -> str:
    if runs.task_of(row) is None:
        return "the file names no task, so there is no floor"
    return "the task has no floor in this source"


def _groups(codes: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Rows of each code, codes in order of first appearance."""
    order = np.argsort(codes, kind="stable")
    values, starts = np.unique(codes[order], return_index=True)
    groups = zip(values.tolist(), np.split(order, starts[1:]), strict=True)
    yield from sorted(groups, key=lambda group: int(group[1][0])) if len(codes) else ()


def _known(value: int) -> int | None:
    return None if value == UNKNOWN else value


def _share(flags: NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if len(flags) else None


def _mean(values: NDArray[np.int64]) -> float | None:
    return float(values.mean()) if len(values) else None


def _tally(reasons: Any) -> dict[str, int]:
    counted: dict[str, int] = defaultdict(int)
    for reason in reasons:
        counted[reason] += 1
    return dict(counted)
