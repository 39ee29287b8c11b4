"""Outcomes that come from elsewhere: a small table that says which runs succeeded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rideway.cells import field_names, text, whole
from rideway.errors import InputError
from rideway.metric.votes import bare_task
from rideway.runs import UNKNOWN, Runs
from rideway.tables import TableError, read_rows

Key = str | tuple[str, int]
"""A run's id, or its task and trial."""

_TRUE = frozenset({"true", "1", "1.0", "pass", "yes"})
_FALSE = frozenset({"false", "0", "0.0", "fail", "no"})
_TAKEN = "must be true or false (or 1 or 0, yes or no, pass or fail)"

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row of a table of outcomes.

    Attributes:
        where: File and row, for messages.
        key: The run's id, or its task and trial.
        success: What the row says.
        model: Model of the run, where the row names one; likewise the `file`.
    """

    where: str
    key: Key
    success: bool
    model: str | None
    file: str | None

    @property
    def name(self) -> str:
        """The run as the row names it."""
        named = {"model": self.model, "file": self.file}
        if isinstance(self.key, str):
            named = {"id": self.key, **named}
        else:
            named = {"task_id": self.key[0], "trial": str(self.key[1]), **named}
        return ", ".join(f"{name} {value}" for name, value in named.items() if value is not None)


def read_outcomes(path: Path) -> Iterator[Outcome]:
    """The rows of a table of outcomes: `success` by `id`, or by `task_id` and `trial`.

    A column `model` or `file` narrows a row to the runs of one model or file.

    Raises:
        TableError: The table holds no row, a row names no run, or its `success` is neither true nor
            false; the text names file, row, run and field.
    """
    rows = read_rows(path)
    if not rows:
        raise TableError(f"{path}: holds no outcomes")
    for number, row in enumerate(rows, 1):
        where = f"{path}: row {number}"
        key = _run_key(row, where)
        model, file = text(row, "model"), text(row, "file")
        outcome = Outcome(where, key, False, model, file)
        if "success" not in row:
            raise TableError(
                f"{where} ({outcome.name}): no field `success`; it {_TAKEN}, "
                f"and the row has {field_names(row)}"
            )
        value = row["success"]
        word = str(value).strip().lower()
        if word not in _TRUE | _FALSE:
            raise TableError(f"{where} ({outcome.name}): field `success` {_TAKEN}, got {value!r}")
        yield Outcome(where, key, word in _TRUE, model, file)


def give_outcomes(runs: Runs, path: Path) -> None:
    """Take the outcomes of a table; `runs.warnings` tells how far they went.

    Raises:
        InputError: The table is none of outcomes, a row fits several runs, two rows contradict each
            other, or no row names any of the runs.
    """
    by_key = _by_key(runs)
    stored = runs.column("success")
    given: dict[int, Outcome] = {}
    strange: list[Outcome] = []
    for outcome in read_outcomes(path):
        rows = [row for row in _named(by_key, outcome.key) if _fits(runs, row, outcome)]
        if not rows:
            strange.append(outcome)
            continue
        if len(rows) > 1:
            raise InputError(_several(runs, rows, outcome))
        earlier = given.setdefault(rows[0], outcome)
        if earlier.success != outcome.success:
            place = earlier.where.rpartition(": ")[2]
            raise InputError(f"{outcome.where} ({outcome.name}): contradicts {place}")
        runs.set_success(rows[0], outcome.success)
    if not given and len(runs):
        raise InputError(
            f"{path}: names none of the {len(runs)} runs: its first row is {strange[0].name}, "
            f"the first run is {_run_name(runs, 0)}"
        )
    told = f"{path}: gave the outcome of {len(given)} of {len(runs)} runs"
    against = sum(stored[row] == int(not outcome.success) for row, outcome in given.items())
    runs.warnings.append(f"{told}, of {against} against the stored one" if against else told)
    if strange:
        rows_are = "row names" if len(strange) == 1 else "rows name"
        runs.warnings.append(
            f"{path}: {len(strange)} {rows_are} no run here, the first {strange[0].name}"
        )


def _by_key(runs: Runs) -> dict[Key, list[int]]:
    """Rows by id, and by trial with the task's name, with and without split.

    Runs that repeat a trial of their file are found by their id alone.
    """
    found: dict[Key, list[int]] = {}
    codes, trials = runs.column("task").tolist(), runs.column("trial").tolist()
    for row, (trajectory_id, code, trial) in enumerate(zip(runs.ids, codes, trials, strict=True)):
        found.setdefault(trajectory_id, []).append(row)
        if UNKNOWN not in (code, trial) and row not in runs.duplicates:
            full = runs.full_task(code)
            for name in {full, runs.task_names[code], bare_task(full)}:
                found.setdefault((name, trial), []).append(row)
    return found


def _named(by_key: Mapping[Key, list[int]], key: Key) -> list[int]:
    if key in by_key or isinstance(key, str):
        return by_key.get(key, [])
    return by_key.get((bare_task(key[0]), key[1]), [])


def _fits(runs: Runs, row: int, outcome: Outcome) -> bool:
    if outcome.model is not None and outcome.model != runs.model_of(row):
        return False
    if outcome.file is None:
        return True
    wanted = Path(outcome.file).parts
    return Path(runs.file_of(row)).parts[-len(wanted) :] == wanted


def _several(runs: Runs, rows: Sequence[int], outcome: Outcome) -> str:
    """What to do about a row that fits several runs."""
    told = f"{outcome.where} ({outcome.name}): fits {len(rows)} runs"
    sources = {
        "file": dict.fromkeys(runs.file_of(row) for row in rows),
        "model": dict.fromkeys(runs.model_of(row) for row in rows),
        "id": dict.fromkeys(runs.ids[row] for row in rows),
    }
    for column, names in sources.items():
        if len(names) == len(rows):
            shown = ", ".join([*names][:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
            return f"{told}; tell them apart by a column `{column}` ({shown})"
    return f"{told} that nothing tells apart: give each run its own id, or score the files apart"


def _run_name(runs: Runs, row: int) -> str:
    task, trial = runs.task_of(row), int(runs.column("trial")[row])
    named = "" if task is None else f", task_id {task}"
    numbered = f", trial {trial}" if trial != UNKNOWN else ""
    return f"id {runs.ids[row]}{named}{numbered}, model {runs.model_of(row)}"


def _run_key(row: Mapping[str, Any], where: str) -> Key:
    if (run := text(row, "id", "trajectory_id")) is not None:
        return run
    task, trial = text(row, "task_id"), whole(row.get("trial"))
    if task is None or trial is None:
        raise TableError(
            f"{where}: needs `id`, or `task_id` and a whole `trial`; the row has {field_names(row)}"
        )
    return task, trial
