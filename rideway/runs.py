"""Counted runs: what scoring keeps of a trajectory, as columns that stay small for long files.

A file of two gigabytes holds a hundred thousand trajectories and more; their messages are counted
while they stream by, and only numbers and ids remain.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rideway.errors import InputError
from rideway.metric.counts import DEFAULT_RULE, CountingRule, Effort, count_effort
from rideway.records import Ending

UNKNOWN = -1
"""What a column of whole numbers holds where a value is not known."""

_INTS = (
    "task",
    "model",
    "trial",
    "file",
    "success",
    "tool_calls",
    "turns",
    "turns_excluding_text_beside_calls",
    "turns_including_text_beside_calls",
    "reference_tool_calls",
)


class Runs:
    """Columns of counted runs; append with `add`, read with `column`.

    Attributes:
        ids: Trajectory ids, in file order.
        files: Files that held runs; the column `file` numbers them.
        task_names: Names behind the codes of the column `task`; likewise `model_names`.
        task_splits: The split of each of these names where it is part of what names the task.
        apart: Row -> why the run is listed apart and never scored.
        duplicates: Rows of `apart` that repeat a trial of the same file, model and task.
        notes: Note -> how many runs carry it.
        warnings: What the readers had to say, one line each.
        rules: How text beside calls was counted -> in how many runs.
        sub_agents_counted: Whether the rule counts sub-agents' calls.
        sub_agent_calls_left_out: Calls of sub-agents that the rule keeps out of the counts.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.files: list[str] = []
        self.task_names: list[str] = []
        self.task_splits: list[str | None] = []
        self.model_names: list[str] = []
        self.apart: dict[int, str] = {}
        self.duplicates: set[int] = set()
        self.notes: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.rules: Counter[bool] = Counter()
        self.formats: Counter[str] = Counter()
        self.sub_agents_counted = True
        self.sub_agent_calls_left_out = 0
        self._rows = array("q")  # row after row of the columns of _INTS
        self._sums = [0] * len(Effort._fields)
        self._tasks: dict[str, int] = {}
        self._models: dict[str, int] = {}
        self._seen: dict[tuple[int, int, int, int], int] = {}
        self._task_formats: set[tuple[int, str]] = set()

    def __len__(self) -> int:
        return len(self.ids)

    def column(self, name: str) -> NDArray[np.int64]:
        """One column of whole numbers, shape (runs,); `UNKNOWN` where a value is not known."""
        return self._table[:, _INTS.index(name)].copy()

    @property
    def _table(self) -> NDArray[np.int64]:
        return np.array(self._rows, dtype=np.int64).reshape(-1, len(_INTS))

    @property
    def sums(self) -> dict[str, int]:
        """Totals over all runs of every count and part that `Effort` has."""
        return dict(zip(Effort._fields, self._sums, strict=True))

    def _value(self, row: int, name: str) -> int:
        return self._rows[row * len(_INTS) + _INTS.index(name)]

    def task_of(self, row: int) -> str | None:
        """Task id of a run, None where the file names none."""
        code = self._value(row, "task")
        return self.task_names[code] if code != UNKNOWN else None

    def full_task(self, code: int) -> str:
        """Name of a task by its code, with its split where two splits may hold the same name."""
        split, name = self.task_splits[code], self.task_names[code]
        return name if split is None else f"{split}/{name}"

    def file_of(self, row: int) -> str:
        """Name of the file that held a run, as it was given."""
        return self.files[self._value(row, "file")]

    def model_of(self, row: int) -> str:
        """Model of a run, or the name of its file where the file names no model."""
        return self.model_names[self._value(row, "model")]

    def add(self, run: Any, rule: CountingRule, file: str, label: str = "(no name)") -> None:
        """Count one trajectory (a `Trajectory`, or anything with its attributes) and keep it.

        `label` stands for the model where the run names none.

        Raises:
            InputError: Its trial is no number that a run could have.
        """
        row = len(self.ids)
        if not self.files or self.files[-1] != file:
            self.files.append(file)
        effort = count_effort(
            run.messages,
            rule,
            text_beside_calls_shown=run.text_beside_calls_shown,
            has_user=run.has_user,
        )
        # ids of other benchmarks start anew in each of their splits; ours are unique
        split = None if run.format == "rideway" else getattr(run, "split", None)
        task = _code(self._tasks, self.task_names, run.task_id, split)
        if len(self.task_splits) < len(self.task_names):
            self.task_splits.append(split)
        model = _code(self._models, self.model_names, run.model or run.agent or label)
        trial = UNKNOWN if run.trial is None else run.trial
        if not UNKNOWN <= trial < 2**31:
            raise InputError(f"{file}: {run.trajectory_id}: field `trial` cannot be {trial}")
        reason = _why_apart(run)
        if reason is not None:
            self.apart[row] = reason
        elif task != UNKNOWN and trial != UNKNOWN:
            self._tell_repeat(row, (len(self.files), model, task, trial), run.success is not None)
        self.ids.append(run.trajectory_id)
        uncountable, reference = run.uncountable, run.reference_tool_calls
        self._rows.extend(
            (
                task,
                model,
                trial,
                len(self.files) - 1,
                UNKNOWN if run.success is None else int(run.success),
                UNKNOWN if "tool_calls" in uncountable else effort.tool_calls,
                UNKNOWN if "turns" in uncountable else effort.turns,
                effort.turns_excluding_text_beside_calls,
                effort.turns_including_text_beside_calls,
                UNKNOWN if reference is None else reference,
            )
        )
        self._sums = list(map(add, self._sums, effort))
        if rule.sub_agents == "none":
            self.sub_agents_counted = False
            self.sub_agent_calls_left_out += _sub_agent_calls(run.messages)
        self.rules[effort.text_beside_calls_counted] += 1
        self.formats[run.format] += 1
        if task != UNKNOWN:
            self._task_formats.add((task, run.format))
        self.notes.update(run.notes)

    def _tell_repeat(self, row: int, key: tuple[int, int, int, int], judged: bool) -> None:
        """Of several runs of one trial in a file, the first with an outcome counts."""
        first = self._seen.setdefault(key, row)
        if first == row:
            return
        other = row
        if judged and self._value(first, "success") == UNKNOWN:
            self._seen[key], other = row, first
        self.duplicates.add(other)
        self.apart[other] = (
            f"another run of trial {key[3]}: the first in the file that has an outcome counts"
        )

    def shared_tasks(self) -> list[str]:
        """A warning where runs of several formats name the same tasks: one benchmark, or two?"""
        times = Counter(task for task, _ in self._task_formats)
        shared = [task for task, formats in times.items() if formats > 1]
        if not shared:
            return []
        names = sorted({name for task, name in self._task_formats if times[task] > 1})
        of = " and of ".join([", of ".join(names[:-1]), names[-1]])
        one = "1 task id stands" if len(shared) == 1 else f"{len(shared)} task ids stand"
        return [
            f"{one} in runs of {of}: taken as the same tasks; score the files apart if they are of "
            "different benchmarks"
        ]

    def repeated_trials(self) -> list[str]:
        """A warning where files share trials of one model: further trials, or the same runs?"""
        trials = Counter(key[1:] for key in self._seen)
        again = sum(trials.values()) - len(trials)
        if not again:
            return []
        runs = "1 run has" if again == 1 else f"{again} runs have"
        return [
            f"{runs} the model, task and trial of a run in another file, taken as further trials; "
            "leave one file out if they are the same runs"
        ]

    def set_success(self, row: int, success: bool) -> None:
        """Take the outcome of one run from elsewhere."""
        self._rows[row * len(_INTS) + _INTS.index("success")] = int(success)

    def assume_success(self) -> int:
        """Take every run without a stored outcome as a success; returns their number."""
        unknown = np.flatnonzero(self.column("success") == UNKNOWN).tolist()
        for row in unknown:
            self.set_success(row, True)
        return len(unknown)


def count_runs(
    paths: Sequence[str | os.PathLike[str]],
    *,
    format: str = "auto",
    rule: CountingRule = DEFAULT_RULE,
) -> Runs:
    """Count every trajectory of the given files, in bounded memory.

    Args:
        paths: Files of any supported format, `-` for standard input, or run folders.
        format: Name of a format, or `auto`: found from the content.
        rule: The open choices of the counting rule.

    Raises:
        TrajectoryFileError: A file cannot be read; its text names file, record and field.
    """
    runs = Runs()
    labels = _labels([os.fspath(path) for path in paths])
    for path in _once(paths, runs):
        stream = _stream(path, format)
        name = os.fspath(path)
        for run in stream:
            runs.add(run, rule, name, labels[name])
        runs.warnings.extend(getattr(stream, "warnings", ()))
    runs.warnings.extend(runs.shared_tasks())
    return runs


def _once(paths: Sequence[str | os.PathLike[str]], runs: Runs) -> Iterator[str | os.PathLike[str]]:
    """Each file once, however often and under whatever names it is given."""
    seen: dict[str, str] = {}
    for path in paths:
        name = os.fspath(path)
        real = "-" if name == "-" else os.path.realpath(name)
        if real not in seen:
            seen[real] = name
            yield path
            continue
        same = "is given twice" if seen[real] == name else f"is {seen[real]}, given twice"
        runs.warnings.append(f"{name}: {same}; it is read once")


def _labels(names: Sequence[str]) -> dict[str, str]:
    """The shortest ends of the paths that tell the files apart, in brackets."""
    parts = {name: Path(name).parts for name in names}
    labels = {}
    for name, own in parts.items():
        others = [other for key, other in parts.items() if key != name]
        length = 1
        while length < len(own) and any(o[-length:] == own[-length:] for o in others):
            length += 1
        labels[name] = f"({'/'.join(own[-length:])})"
    return labels


def _stream(path: str | os.PathLike[str], format: str) -> Iterable[Any]:
    if os.path.isdir(path) and Path(path, "run.json").exists():
        return _judged(Path(path))
    from rideway.trajectories.fast import stream_runs  # readers load when files are read

    runs: Iterable[Any] = stream_runs(path, format)
    return runs


def _judged(path: Path) -> Iterator[Any]:
    """The episodes of a run folder with the outcomes of their verdicts, lost ones last."""
    from rideway.run_folder import RunFolder

    folder = RunFolder(path)
    outcome = {"pass": True, "fail": False, "undecided": None}
    verdicts = {name: outcome[v.outcome] for name, v in folder.verdicts().items()}
    for one in folder.trajectories():
        yield one.model_copy(update={"success": verdicts.get(one.trajectory_id)})
    yield from folder.lost()


def _sub_agent_calls(messages: Iterable[Any]) -> int:
    """Calls that a sub-agent emitted; the others are the main agent's."""
    return sum(
        len(message.tool_calls)
        for message in messages
        if message.role == "assistant" and message.agent is not None and message.tool_calls
    )


def _code(
    codes: dict[str, int], names: list[str], name: str | None, within: str | None = None
) -> int:
    if name is None:
        return UNKNOWN
    key = name if within is None else f"{within}\0{name}"
    code = codes.get(key)
    if code is None:
        code = codes[key] = len(names)
        names.append(name)
    return code


def _why_apart(run: Any) -> str | None:
    if run.ending == Ending.PROVIDER_ERROR:
        return "ended in an infrastructure error: to be run again"
    if not run.messages:
        return "holds no message: to be run again"
    if run.uncountable:
        return "; ".join(f"{count} not countable: {why}" for count, why in run.uncountable.items())
    return None
