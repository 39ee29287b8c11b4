"""What a ranking of models is worth: separation, bands, task difficulty, functional form.

These are the checks that the paper puts beside its leaderboard (7.1, App. D, E, G).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rideway.errors import InputError
from rideway.metric.correlation import Correlation, average_ranks, spearman, spearman_rows
from rideway.metric.estimate import defined_interval
from rideway.metric.resample import DEFAULT_LEVEL, Seed
from rideway.metric.success import pass_estimate
from rideway.metric.trials import ATTEMPTS, Trials, resampled_means

__all__ = [
    "Band",
    "FormCheck",
    "Separation",
    "TaskDifficulty",
    "functional_form",
    "rank_separation",
    "reliability_bands",
    "task_difficulty",
]

DEFAULT_DRAWS = 5000


@dataclass(frozen=True, slots=True)
class Separation:
    """From which place on every model's interval lies wholly below this one's.

    `separated_from` is the first such place, counted from 1; None where there is none.
    `overlaps_next` says whether the interval meets that of the next place (the last has none).
    """

    place: int
    model: str
    separated_from: int | None
    overlaps_next: bool | None


def rank_separation(
    models: Sequence[str], intervals: Sequence[Sequence[float]]
) -> tuple[Separation, ...]:
    """How far apart two places must be for their intervals not to meet (App. E).

    Args:
        models: Names, best first.
        intervals: (lo, hi) of each, in the same order. Ends that touch count as meeting.
    """
    if len(models) != len(intervals):
        raise ValueError(f"{len(models)} models but {len(intervals)} intervals")
    out = []
    for i, (model, (lo, _)) in enumerate(zip(models, intervals, strict=True)):
        below = [hi < lo for _, hi in intervals[i + 1 :]]
        first = next((k for k in range(len(below)) if all(below[k:])), None)
        out.append(
            Separation(
                place=i + 1,
                model=model,
                separated_from=None if first is None else i + 2 + first,
                overlaps_next=not below[0] if below else None,
            )
        )
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Band:
    """Means of neighbouring models by success rate (Table 10); `gap` is Pass@3 minus Pass^3."""

    models: tuple[str, ...]
    success_rate: float
    pass_at_3: float
    pass_hat_3: float

    @property
    def gap(self) -> float:
        """How much of what succeeds once does not succeed three times."""
        return self.pass_at_3 - self.pass_hat_3


def reliability_bands(
    models: Sequence[str],
    success_rate: Sequence[float],
    pass_at_3: Sequence[float],
    pass_hat_3: Sequence[float],
    bands: int = 4,
) -> tuple[Band, ...]:
    """Models sorted by success rate and averaged in bands of as equal size as possible (Table 10).

    Models of equal success rate stay in the order given.
    """
    columns = np.array([success_rate, pass_at_3, pass_hat_3], dtype=np.float64)
    if columns.shape != (3, len(models)) or not 1 <= bands <= len(models):
        raise ValueError("give each model three numbers, and between one band and one a model")
    order = np.argsort(-columns[0], kind="stable")
    return tuple(
        Band(tuple(models[i] for i in part.tolist()), *columns[:, part].mean(axis=1).tolist())
        for part in np.array_split(order, bands)
    )


@dataclass(frozen=True, slots=True)
class TaskDifficulty:
    """One task over all models (Table 9): success rate, and Pass@3, Pass^3 averaged over models."""

    task_id: str
    split: str
    n: int
    success_rate: float
    pass_at_3: float | None
    pass_hat_3: float | None


def task_difficulty(trials: Trials) -> tuple[TaskDifficulty, ...]:
    """Every task that has a counted trial, hardest first (Table 9)."""
    found = []
    for task, name in enumerate(trials.tasks):
        n = int(trials.counted[:, task].sum())
        if n == 0:
            continue
        number = np.array([task])
        grid = [trials.outcomes(model, number)[0] for model in range(len(trials.models))]
        estimate = pass_estimate([outcomes for outcomes in grid if outcomes], ATTEMPTS)
        found.append(
            TaskDifficulty(
                task_id=name,
                split=trials.splits[task],
                n=n,
                success_rate=int(trials.successes[:, task].sum()) / n,
                pass_at_3=estimate.pass_at_k,
                pass_hat_3=estimate.pass_hat_k,
            )
        )
    return tuple(sorted(found, key=lambda task: (task.success_rate, task.task_id)))


@dataclass(frozen=True, slots=True)
class FormCheck:
    """Does the ranking depend on the exponential form (App. G)?

    Attributes:
        correlation: Spearman between mean exp(-C) and mean 1/(1+C) of the models, with its interval
            over resampled tasks.
        moved: Models whose rank differs -> (rank under exp(-C), rank under 1/(1+C)); equal means
            share the average of their ranks.
    """

    correlation: Correlation
    moved: dict[str, tuple[float, float]]


def functional_form(
    trials: Trials,
    split: str | None = None,
    *,
    draws: int = DEFAULT_DRAWS,
    level: float = DEFAULT_LEVEL,
    seed: Seed = 0,
) -> FormCheck:
    """Rank models by mean 1/(1+C) in place of mean exp(-C), failures 0 under both (App. G).

    Args:
        trials: Trials; models without one that counts are left out.
        split: Tasks to rank on; None for all.
        draws: Resamples of the tasks; 0 for no interval.
        level: Level of the interval.
        seed: Seed of the resamples.

    Raises:
        InputError: Fewer than two models have a trial that counts.
    """
    tasks = trials.scope(split)
    counted = trials.counted[:, tasks]
    ran = np.flatnonzero(counted.sum(axis=1) > 0)
    if len(ran) < 2:
        raise InputError(f"functional form: two models with trials are needed, got {len(ran)}")
    with np.errstate(divide="ignore"):
        cost = -np.log(trials.utility)  # U = exp(-C); a U of 0 costs without bound
    sums = [trials.summed(s)[np.ix_(ran, tasks)] for s in (trials.utility, 1.0 / (1.0 + cost))]
    counted = counted[ran]
    means = [summed.sum(axis=1) / counted.sum(axis=1) for summed in sums]
    found = spearman(*means)
    if draws and found.value is not None:
        # One call, so that both forms see the same resamples.
        drawn = resampled_means(np.vstack(sums), np.vstack([counted, counted]), draws, seed)
        rho = spearman_rows(*np.split(drawn, 2, axis=1))
        found = replace(found, interval=defined_interval(rho, level, "task")[0])
    places = [average_ranks(-mean) for mean in means]
    moved = {
        trials.models[model]: (float(before), float(after))
        for model, before, after in zip(ran.tolist(), *places, strict=True)
        if before != after
    }
    return FormCheck(found, moved)
