"""Where the floors of a score come from, and what they may be called.

Only floors measured on people are human floors. The lowest counts of a pool of runs, or the number
of reference calls that a benchmark stores, are stand-ins: every output names them as what they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rideway.cells import field_names, text, whole
from rideway.errors import InputError
from rideway.metric.utility import MAX_COUNT
from rideway.metric.votes import bare_task
from rideway.records import FloorSource
from rideway.render import plural
from rideway.runs import UNKNOWN, Runs
from rideway.tables import TableError, read_rows

Column = NDArray[np.int64]

MEANINGS = {
    "tasks": "the floors of the benchmark's tasks",
    "pool": "the lowest count of each task among the successful runs given here; "
    "not human floors, and lower with every run added",
    "reference": "tool floors: the number of reference calls stored in the file; "
    "turn floors: the lowest among the successful runs given here; not human floors",
}

_SAID = {
    "authored_reference": "reference episodes that were authored, not human floors",
    "human": "floors measured on people",
    "pool": "the lowest counts of a pool of successful runs, not human floors",
    "reference": "reference calls that a benchmark stores, not human floors",
    "file": "floors of no stated source",
    "mixed": "floors of several sources",
}
"""What a file's `floor_source` says its floors are."""


class FloorError(InputError):
    """Floors that cannot be had; the text says what is missing and what to do."""


@dataclass(frozen=True, slots=True)
class RunFloors:
    """Floors of each run, shape (runs,), `UNKNOWN` where there is none, and their provenance.

    `of_these_runs` tells floors that the runs themselves gave: a task has none because no run of it
    succeeded, not because the source lacks it.
    """

    source: str
    meaning: str
    tool: Column
    turn: Column
    notes: tuple[str, ...] = ()
    of_these_runs: bool = False


class Floor(NamedTuple):
    """Floors of one task, and what its file says they are."""

    tool: int
    turn: int
    source: FloorSource = "file"


def floors_for(runs: Runs, spec: str) -> RunFloors:
    """Floors of every run by `tasks`, `pool`, `reference`, `auto` or the name of a file.

    `auto` takes the benchmark's floors when every task is one of the benchmark's, else the pool's.
    A file's floors have the source that its column `floor_source` says, `file` where it says none,
    and `mixed` where the tasks of the runs differ in it.

    Raises:
        FloorError: The source has no floors for these runs, or the file is not one of floors.
    """
    if spec == "auto":
        known = _benchmark_floors()
        names = runs.task_names
        spec = "tasks" if names and all(bare_task(name) in known for name in names) else "pool"
    if spec == "tasks":
        known = _task_floors(runs)
        own = [Floor(*known[bare_task(name)]) for name in runs.task_names]
        return RunFloors("tasks", MEANINGS["tasks"], *_spread(runs, own))
    if spec == "pool":
        tool, turn = _pool(runs, "tool_calls"), _pool(runs, "turns")
        return RunFloors("pool", MEANINGS["pool"], tool, turn, _thin_pools(runs), True)
    if spec == "reference":
        tool = runs.column("reference_tool_calls")
        if len(runs) and (tool == UNKNOWN).all():
            raise FloorError("no run stores reference calls: use --floors pool or a file of floors")
        turn = _pool(runs, "turns")
        notes = _thin_pools(runs)
        return RunFloors("reference", MEANINGS["reference"], tool, turn, notes, True)
    if not Path(spec).exists():
        raise FloorError(f"--floors {spec}: is none of tasks, pool, reference, and no such file")
    return _from_file(runs, Path(spec))


def _usable(runs: Runs) -> NDArray[np.bool_]:
    """Runs that may lower a floor: successful, of a named task, not listed apart."""
    usable: NDArray[np.bool_] = runs.column("success") == 1
    usable &= runs.column("task") != UNKNOWN
    if runs.apart:
        usable[list(runs.apart)] = False
    return usable


def _thin_pools(runs: Runs) -> tuple[str, ...]:
    """A warning about tasks whose only success sets its own floor."""
    successes = np.bincount(runs.column("task")[_usable(runs)], minlength=1)
    alone = int((successes == 1).sum())
    tasks = int((successes > 0).sum())
    if not alone:
        return ()
    return (f"{alone} of {tasks} solved tasks have a single success, which is its own floor",)


def _pool(runs: Runs, count: str) -> Column:
    """Lowest count of each task over its successful, countable runs; spread back to the runs."""
    task, values, usable = runs.column("task"), runs.column(count), _usable(runs)
    highest = np.iinfo(np.int64).max
    lowest = np.full(len(runs.task_names) + 1, highest, dtype=np.int64)
    np.minimum.at(lowest, task[usable], values[usable])
    lowest[lowest == highest] = UNKNOWN
    lowest[-1] = UNKNOWN  # the code of an unnamed task, -1, ends up here
    return lowest[task]


def _from_file(runs: Runs, path: Path) -> RunFloors:
    """Floors of a file, under the source that it states for the tasks of these runs."""
    table = read_floor_file(path)
    bare: dict[str, set[Floor]] = {}
    for name, floor in table.items():
        bare.setdefault(bare_task(name), set()).add(floor)
    names = [runs.full_task(code) for code in range(len(runs.task_names))]
    found = [_floor_of(*ids, table, bare) for ids in zip(names, runs.task_names, strict=True)]
    _refuse_shared(runs, names, table, path)
    sources = Counter(floor.source for floor in found if floor is not None)
    if runs.task_names and not sources:
        raise FloorError(
            f"{path}: has a floor of none of the runs' tasks: its first task is "
            f"{next(iter(table))!r}, the runs' first {names[0]!r}"
        )
    source = next(iter(sources)) if len(sources) == 1 else "mixed" if sources else "file"
    notes = []
    if len(sources) > 1:
        told = ", ".join(f"{name} ({plural(n, 'task')})" for name, n in sources.most_common())
        notes.append(f"{path.name} mixes sources: {told}")
    missing = [name for name, floor in zip(names, found, strict=True) if floor is None]
    if missing:
        notes.append(
            f"{len(missing)} of {plural(len(found), 'task')} without a floor in {path.name}, "
            f"the first {missing[0]}"
        )
    meaning = f"{_SAID[source]}, read from {path.name}"
    return RunFloors(source, meaning, *_spread(runs, found), tuple(notes))


def _floor_of(
    full: str, task: str, table: Mapping[str, Floor], bare: Mapping[str, set[Floor]]
) -> Floor | None:
    """The floor of a task by its id with split, else without where that names one task."""
    for name in (full, task, bare_task(full)):
        if name in table:
            return table[name]
    same = bare.get(full, set())
    return next(iter(same)) if len(same) == 1 else None


def _refuse_shared(
    runs: Runs, names: Sequence[str], table: Mapping[str, Floor], path: Path
) -> None:
    """Refuse a floor that two splits would share because the file names the task without one."""
    owners: dict[str, list[str]] = {}
    for name, task in zip(names, runs.task_names, strict=True):
        if name not in table and task in table:
            owners.setdefault(task, []).append(name)
    for task, several in owners.items():
        if len(several) > 1:
            raise FloorError(
                f"{path}: task {task!r} stands for {' and '.join(several)} in these runs; "
                "write their floors under those names"
            )


def _spread(runs: Runs, floors: Sequence[Floor | None]) -> tuple[Column, Column]:
    """Floors of tasks as columns over the runs."""
    nothing = (UNKNOWN, UNKNOWN)
    pairs = [nothing if floor is None else (floor.tool, floor.turn) for floor in floors]
    table = np.array([*pairs, nothing], dtype=np.int64)  # the code of no task, -1, is the last
    task = runs.column("task")
    return table[task, 0], table[task, 1]


def _benchmark_floors() -> dict[str, tuple[int, int]]:
    try:
        from rideway.tasks import task_floors
    except ModuleNotFoundError:
        return {}
    return dict(task_floors())


def _task_floors(runs: Runs) -> dict[str, tuple[int, int]]:
    known = _benchmark_floors()
    strange = [name for name in runs.task_names if bare_task(name) not in known]
    if strange or not known:
        named = f", for one {strange[0]!r}" if strange else ""
        raise FloorError(
            f"{len(strange)} of {len(runs.task_names)} tasks are none of the benchmark's{named}: "
            "use --floors pool, reference or a file of floors"
        )
    return known


_NAMES = {
    "task_id": ("task_id", "task"),
    "tool": ("tool_floor", "f_tool", "tool"),
    "turn": ("turn_floor", "f_turn", "turn"),
}


def read_floor_file(path: Path) -> dict[str, Floor]:
    """Floors by task id from a CSV, JSON, JSON Lines or Parquet file.

    Columns: `task_id`, `tool_floor` (or `f_tool`), `turn_floor` (or `f_turn`), and optionally
    `floor_source`, one of `rideway.records.FloorSource`. A JSON file holds a list of such objects,
    or one object from task id to {"tool": .., "turn": ..}.

    Raises:
        FloorError: A column is missing, a floor is no whole number of at least 0, a source is not
            known, or a task has two different floors; the text names file, row and field.
    """
    floors: dict[str, Floor] = {}
    try:
        rows = read_rows(path)
    except TableError as error:
        raise FloorError(str(error)) from None
    for number, row in enumerate(rows, 1):
        where = f"{path}: row {number}"
        task = _field(row, "task_id", where)
        where = f"{where} ({task})"
        floor = Floor(_count(row, "tool", where), _count(row, "turn", where), _source(row, where))
        if floors.setdefault(task, floor) != floor:
            raise FloorError(f"{where}: the task has other floors, or another source, further up")
    if not floors:
        raise FloorError(f"{path}: holds no floors")
    return floors


def _field(row: Mapping[str, Any], name: str, where: str) -> str:
    spellings = _NAMES[name]
    if (found := text(row, *spellings)) is not None:
        return found
    for spelling in spellings:
        if spelling in row:
            raise FloorError(f"{where}: field `{spelling}` is empty")
    others = ", ".join(f"`{spelling}`" for spelling in spellings[1:])
    raise FloorError(
        f"{where}: field `{spellings[0]}` is missing (so is {others}); "
        f"the row has {field_names(row)}"
    )


def _source(row: Mapping[str, Any], where: str) -> FloorSource:
    known: tuple[FloorSource, ...] = get_args(FloorSource)
    stated = text(row, "floor_source") or "file"
    for source in known:
        if source == stated:
            return source
    raise FloorError(
        f"{where}: field `floor_source` must be one of {', '.join(known)}, got {stated!r}"
    )


def _count(row: Mapping[str, Any], axis: str, where: str) -> int:
    value = _field(row, axis, where)
    count = whole(value)
    if count is None or count > MAX_COUNT:
        raise FloorError(
            f"{where}: field `{axis}_floor`: must be a whole number of at least 0, got {value!r}"
        )
    return count
