"""Reading preference votes: any table of them becomes `Votes`, one row a vote (paper 5.1).

A vote compares two successful trajectories of one task, `a` and `b`. Its row holds

* `choice` (`label` is read too): `a`, `b` or `tie`, upper or lower case;
* the excess of both sides, `e_tool_a`, `e_turn_a`, `e_tool_b`, `e_turn_b`; or their counts `c_*`
  with floors `f_tool`, `f_turn` (or floors by task); or `trajectory_a`, `trajectory_b` with the
  counts of those trajectories;
* `task_id`, with or without its split; optionally `vote_id`, `weight`, and the two trajectories'
  ids, by which several annotators' votes on one pair are known to belong together.

Tables are lists of such mappings or of `rideway.records.Vote`, paths (JSON Lines, JSON, CSV,
Parquet), `NAME:CONFIG:SPLIT` of a dataset (`rideway:votes:heldout`), mappings of columns, and the
tables of datasets, pandas, polars and pyarrow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rideway.metric.resample import FloatArray
from rideway.metric.vote_arrays import VoteError, Votes
from rideway.tables import read_rows

__all__ = [
    "Columns",
    "VoteError",
    "Votes",
    "choices",
    "number_column",
    "read_columns",
    "read_votes",
]

AXES = ("tool", "turn")
SIDES = ("a", "b")
_DATASET = re.compile(r"([\w.-]{2,}(?:/[\w.-]+)?):([\w.-]+):([\w.-]+)")
_MOST_NAMES = 8
_PREFERENCE = {"a": 1.0, "b": 0.0, "tie": 0.5}

Efforts = Mapping[str, tuple[int, int]]
"""(tool calls, turns) of each trajectory, by its id."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A table as named columns of equal length, and the name it goes by in messages."""

    name: str
    columns: dict[str, list[Any]]
    n: int

    def fail(self, row: int, text: str) -> VoteError:
        """The error of one row, by its `vote_id` where there is one."""
        ids = self.columns.get("vote_id")
        who = f"vote {ids[row]!r}" if ids is not None and ids[row] is not None else f"row {row + 1}"
        return VoteError(f"{self.name}: {who}: {text}")

    @property
    def listed(self) -> str:
        """The columns that are there, as the end of an error about one that is not."""
        names = [str(name) for name in self.columns]
        more = ", …" if len(names) > _MOST_NAMES else ""
        return f"; the table has {', '.join(names[:_MOST_NAMES]) or 'no columns'}{more}"


def read_votes(
    source: Any,
    *,
    efforts: Efforts | None = None,
    floors: Mapping[str, tuple[float, float]] | None = None,
    weights: Sequence[float] | FloatArray | None = None,
) -> Votes:
    """The votes of any table.

    Args:
        source: A table as the module describes, or `Votes`, which come back as they are.
        efforts: Counts of trajectories by id, for rows that hold ids and no counts.
        floors: Floors (tool, turn) by task id, for rows that hold none.
        weights: Weight of each vote, (n,), in place of a column `weight`.

    Raises:
        VoteError: No votes, a missing or unreadable field, excess that contradicts counts and
            floors, or weights that are negative or all 0; the text names table, row and field.
    """
    if isinstance(source, Votes):
        return source if weights is None else replace(source, weight=_weights(weights, len(source)))
    table = read_columns(source)
    if table.n == 0:
        raise VoteError(f"{table.name}: holds no votes")
    tasks = _names(table, "task_id")
    counts = _counts(table, efforts)
    floor = _floors(table, tasks, floors) if counts is not None else None
    sides = _excess(table, counts, floor)
    if weights is None and "weight" in table.columns:
        weights = number_column(table, "weight")
    return Votes(
        excess_a=sides[0],
        excess_b=sides[1],
        preference=choices(table),
        weight=_weights(np.ones(table.n) if weights is None else weights, table.n),
        tasks=tasks,
        pairs=_pairs(table, tasks),
        counts_a=None if counts is None or floor is None else counts[0],
        counts_b=None if counts is None or floor is None else counts[1],
        floors=floor,
    )


def read_columns(source: Any) -> Columns:
    """Any supported table as named columns.

    Raises:
        VoteError: `source` is no table.
    """
    if isinstance(source, Columns):
        return source
    name = "votes"
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        named = _DATASET.fullmatch(name)
        source = _dataset(name, *named.groups()) if named else read_rows(Path(source))
    if isinstance(source, Mapping):
        if any(hasattr(part, "column_names") for part in source.values()):
            raise VoteError(f"{name}: several splits ({', '.join(map(str, source))}); give one")
        return _named(name, {str(key): list(column) for key, column in source.items()})
    if hasattr(source, "to_pydict"):  # pyarrow, daft
        return _named(name, dict(source.to_pydict()))
    titles = getattr(source, "column_names", None)  # datasets
    titles = getattr(source, "columns", None) if titles is None else titles  # pandas, polars
    if titles is not None and hasattr(source, "__getitem__"):
        return _named(name, {str(title): list(source[title]) for title in titles})
    if isinstance(source, Iterable):
        return _from_rows(name, list(source))
    raise VoteError(f"{name}: neither a table nor a list of rows but a {type(source).__name__}")


def number_column(table: Columns, field: str) -> FloatArray:
    """A column of finite numbers of at least 0, (n,).

    Raises:
        VoteError: The column is missing, or a value is no such number; the text names the row.
    """
    if field not in table.columns:
        raise VoteError(f"{table.name}: no column `{field}`{table.listed}")
    values = table.columns[field]
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 1 or array.size != table.n or bool in map(type, values):
        array = np.array([_number(value) for value in values])
    wrong = np.flatnonzero(~((array >= 0) & (array < np.inf)))
    if wrong.size:
        value = values[int(wrong[0])]
        raise table.fail(int(wrong[0]), f"`{field}` must be a number of at least 0, got {value!r}")
    return array


def choices(table: Columns) -> FloatArray:
    """Preference of each vote, (n,): 1 for `a`, 0 for `b`, 1/2 for `tie`.

    Raises:
        VoteError: Neither `choice` nor `label` is there, a value is none of the three, or both
            columns are there and contradict each other.
    """
    found = [field for field in ("choice", "label") if field in table.columns]
    if not found:
        raise VoteError(
            f"{table.name}: no column `choice` (nor `label`) with a, b or tie{table.listed}"
        )
    read = [_choice_column(table, field) for field in found]
    if len(read) == 2 and (read[0] != read[1]).any():
        row = int(np.flatnonzero(read[0] != read[1])[0])
        raise table.fail(row, "`choice` and `label` contradict each other; keep one of them")
    return read[0]


def _choice_column(table: Columns, field: str) -> FloatArray:
    known: dict[str, float] = {}
    out = np.empty(table.n)
    for row, value in enumerate(table.columns[field]):
        if not isinstance(value, str) or value not in known:
            word = value.strip().lower() if isinstance(value, str) else None
            if word not in _PREFERENCE:
                raise table.fail(row, f"`{field}` must be a, b or tie, got {value!r}")
            known[value] = _PREFERENCE[word]
        out[row] = known[value]
    return out


def _dataset(name: str, repository: str, config: str, split: str) -> Any:
    import datasets

    try:
        return datasets.load_dataset(repository, config, split=split)
    except (OSError, ValueError) as error:
        raise VoteError(f"{name}: cannot be loaded as a dataset ({error})") from None


def _named(name: str, columns: dict[str, list[Any]]) -> Columns:
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise VoteError(f"{name}: columns differ in length: {lengths}")
    return Columns(name, columns, next(iter(lengths.values()), 0))


def _from_rows(name: str, rows: list[Any]) -> Columns:
    plain = [row.model_dump() if hasattr(row, "model_dump") else row for row in rows]
    for number, row in enumerate(plain, 1):
        if not isinstance(row, Mapping):
            raise VoteError(f"{name}: row {number} is no mapping but a {type(row).__name__}")
    keys = dict.fromkeys(key for row in plain for key in row)
    return Columns(name, {key: [row.get(key) for row in plain] for key in keys}, len(plain))


def _number(value: Any) -> float:
    try:
        return float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return float("nan")


def _weights(values: Sequence[float] | FloatArray, n: int) -> FloatArray:
    weight = np.asarray(values, dtype=np.float64)
    if weight.shape != (n,):
        raise VoteError(f"weights must hold one number a vote ({n}), got shape {weight.shape}")
    if not ((weight >= 0) & (weight < np.inf)).all() or weight.sum() == 0:
        raise VoteError("weights must be finite numbers of at least 0, and not all 0")
    return weight


def bare_task(name: str) -> str:
    """A task id without its split: `rh44/lc_10` and `lc_10` are one task."""
    return name.rsplit("/", 1)[-1]


def _names(table: Columns, field: str) -> tuple[str, ...] | None:
    values = table.columns.get(field)
    if values is None or any(value is None or value == "" for value in values):
        return None
    return tuple(bare_task(str(value)) for value in values)


def _pairs(table: Columns, tasks: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if "pair_id" in table.columns:
        return tuple(str(value) for value in table.columns["pair_id"])
    if not {"trajectory_a", "trajectory_b"} <= table.columns.keys():
        return None
    sides = zip(table.columns["trajectory_a"], table.columns["trajectory_b"], strict=True)
    ends = [" | ".join(sorted((str(a), str(b)))) for a, b in sides]
    return tuple(ends if tasks is None else map(" : ".join, zip(tasks, ends, strict=True)))


def _counts(table: Columns, efforts: Efforts | None) -> tuple[FloatArray, FloatArray] | None:
    fields = [[f"c_{axis}_{side}" for axis in AXES] for side in SIDES]
    if all(field in table.columns for pair in fields for field in pair):
        a, b = ([number_column(table, field) for field in pair] for pair in fields)
        return np.stack(a, axis=1), np.stack(b, axis=1)
    if efforts is None:
        return None
    found = []
    for side in SIDES:
        field = f"trajectory_{side}"
        if field not in table.columns:
            raise VoteError(f"{table.name}: no column `{field}` to look its counts up by")
        names = [str(name) for name in table.columns[field]]
        for row, name in enumerate(names):
            if name not in efforts:
                raise table.fail(row, f"`{field}` {name!r} is not among the given trajectories")
        found.append(np.array([efforts[name] for name in names], dtype=np.float64))
    return found[0], found[1]


def _floors(
    table: Columns,
    tasks: tuple[str, ...] | None,
    floors: Mapping[str, tuple[float, float]] | None,
) -> FloatArray | None:
    if {"f_tool", "f_turn"} <= table.columns.keys():
        return np.stack([number_column(table, f"f_{axis}") for axis in AXES], axis=1)
    if floors is None:
        return None
    if tasks is None:
        raise VoteError(f"{table.name}: every vote needs its `task_id` to look its floors up by")
    known = {bare_task(name): pair for name, pair in floors.items()}
    for row, task in enumerate(tasks):
        if task not in known:
            raise table.fail(row, f"task {task!r} has no floors")
    return np.array([known[task] for task in tasks], dtype=np.float64)


def _excess(
    table: Columns, counts: tuple[FloatArray, FloatArray] | None, floors: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    fields = [[f"e_{axis}_{side}" for axis in AXES] for side in SIDES]
    given = [field for pair in fields for field in pair if field in table.columns]
    computed = None
    if counts is not None and floors is not None:
        computed = np.maximum(0, counts[0] - floors), np.maximum(0, counts[1] - floors)
    if len(given) < 4:
        if computed is None:
            missing = next(f for pair in fields for f in pair if f not in table.columns)
            raise VoteError(
                f"{table.name}: no column `{missing}`; give e_tool_a, e_turn_a, e_tool_b and "
                "e_turn_b, or counts c_* with floors f_tool, f_turn, or trajectories and floors"
                f"{table.listed}"
            )
        return computed
    a, b = (np.stack([number_column(table, f) for f in pair], axis=1) for pair in fields)
    if computed is not None:
        differs = (a != computed[0]).any(axis=1) | (b != computed[1]).any(axis=1)
        if differs.any():
            row = int(np.flatnonzero(differs)[0])
            raise table.fail(row, "excess `e_*` is not max(0, `c_*` - `f_*`); mend one of them")
    return a, b
