"""Validation: how far held-out preferences agree with the metric and with its rivals (paper 7.3).

`validate_preferences` scores the seven methods of Table 4 on directional votes, splits the metric's
accuracy by turn margin (Table 5), and puts a bootstrap interval on every number and on every
difference between methods, all from the same resamples, so that differences are paired.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rideway.errors import InputError
from rideway.metric.bradley_terry import BoolArray
from rideway.metric.calibrate import DEFAULT_GAMMA
from rideway.metric.comparators import METHODS, Costs, Outcome, Signs, outcome, preferred
from rideway.metric.paired_bootstrap import STATISTICS, PairedBootstrap, ResampleUnit
from rideway.metric.reliability import Reliability, reliability
from rideway.metric.resample import DEFAULT_LEVEL, Interval, Seed
from rideway.metric.robustness import Refitted, floor_perturbation, gamma_sweep, unconstrained_fit
from rideway.metric.utility import PUBLISHED_PENALTIES
from rideway.metric.votes import Votes, read_votes

__all__ = ["MethodResult", "Stratum", "Validation", "validate_preferences"]

DEFAULT_DRAWS = 10_000
SMALL_MARGIN = 3  # Table 5: at most this many excess turns apart is a small difference
METRIC, RIVAL = "efficiency_utility", "turn_first"
Intervals = dict[str, Interval | None]


@dataclass(frozen=True, slots=True)
class MethodResult:
    """One row of Table 4.

    Attributes:
        name: The method's name in files.
        label: Its name in the paper.
        n_answered: Directional votes on which it has an answer.
        outcome: Summed weights of right, wrong and unanswered votes.
        coverage_all: Answered share of all votes, ties among them.
        intervals: Of `coverage`, `accuracy`, `tau_b`, `paired_tau`; None where undefined.
        metric_minus: Intervals of Efficiency Utility minus this method, from the same resamples.
    """

    name: str
    label: str
    n_answered: int
    outcome: Outcome
    coverage_all: float
    intervals: Intervals
    metric_minus: Intervals

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            **{name: getattr(self.outcome, name) for name in STATISTICS},
            "n_answered": self.n_answered,
            "correct": self.outcome.correct,
            "wrong": self.outcome.wrong,
            "coverage_all": self.coverage_all,
            "intervals": _lists(self.intervals),
            "metric_minus": _lists(self.metric_minus),
        }


@dataclass(frozen=True, slots=True)
class Stratum:
    """Accuracy of Efficiency Utility on a part of the votes (Table 5).

    `n` counts directional votes, `n_all` ties too. `fewer` and `more` split the human votes by
    which side has fewer tool calls, as Table 5 does for pure-tool pairs.
    """

    name: str
    n: int
    n_all: int
    outcome: Outcome
    interval: Interval | None
    fewer: int
    more: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "n": self.n,
            "n_all": self.n_all,
            "correct": self.outcome.correct,
            "accuracy": self.outcome.accuracy,
            "interval": None if self.interval is None else self.interval.to_list(),
            "human_fewer_tools": self.fewer,
            "human_more_tools": self.more,
        }


@dataclass(frozen=True, slots=True)
class Validation:
    """Everything that a set of votes says about a pair of penalties.

    Attributes:
        n: Votes.
        n_directional: Votes that name a side.
        a: Log-penalty of a tool call under test.
        b: Log-penalty of a turn under test.
        methods: Rows of Table 4 by name.
        strata: Rows of Table 5 by name.
        margins: The same for every difference in excess turns that occurs.
        intervals: Of the metric's accuracy, tau_b, paired_tau and of these minus turn-first's.
        per_task: Accuracy of the metric by task; empty where votes name no tasks.
        reliability: Log-loss and calibration curve of the predicted probabilities.
        floors: Refits under moved floors, where calibration votes with counts were given.
        gammas: Refits over the regulariser's weight, where calibration votes were given.
        unconstrained: The refit without a, b >= 0, where calibration votes were given.
        draws: Resamples behind the intervals.
        level: Level of the intervals.
        unit: What was resampled.
        warnings: What a reader of the numbers must know.
    """

    n: int
    n_directional: int
    a: float
    b: float
    methods: dict[str, MethodResult]
    strata: dict[str, Stratum]
    margins: dict[str, Stratum]
    intervals: Intervals
    per_task: dict[str, Outcome]
    reliability: Reliability
    floors: tuple[Refitted, ...]
    gammas: tuple[Refitted, ...]
    unconstrained: Refitted | None
    draws: int
    level: float
    unit: str
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of `validate --json`."""
        return {
            "n": self.n,
            "n_directional": self.n_directional,
            "penalties": {"a": self.a, "b": self.b},
            "methods": {name: result.to_dict() for name, result in self.methods.items()},
            "strata": {name: stratum.to_dict() for name, stratum in self.strata.items()},
            "margins": {name: stratum.to_dict() for name, stratum in self.margins.items()},
            "intervals": _lists(self.intervals),
            "per_task": {
                task: {"n": int(found.total), "correct": found.correct, "accuracy": found.accuracy}
                for task, found in self.per_task.items()
            },
            "reliability": self.reliability.to_dict(),
            "floor_perturbation": [refit.to_dict() for refit in self.floors],
            "gamma_sweep": [refit.to_dict() for refit in self.gammas],
            "unconstrained": None if self.unconstrained is None else self.unconstrained.to_dict(),
            "level": self.level,
            "draws": self.draws,
            "unit": self.unit,
            "warnings": list(self.warnings),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Table 4: one row a method, with the ends of its accuracy interval."""
        out = []
        for result in self.methods.values():
            found = result.intervals["accuracy"]
            ends = (None, None) if found is None else (found.lo, found.hi)
            values = {name: getattr(result.outcome, name) for name in STATISTICS}
            out.append(
                {"method": result.label, **values, "accuracy_lo": ends[0], "accuracy_hi": ends[1]}
            )
        return out


def validate_preferences(
    votes: Any,
    penalties: Costs = PUBLISHED_PENALTIES,
    *,
    calibration: Any = None,
    gamma: float = DEFAULT_GAMMA,
    draws: int = DEFAULT_DRAWS,
    level: float = DEFAULT_LEVEL,
    seed: Seed = 0,
    unit: ResampleUnit = "vote",
) -> Validation:
    """How well the seven methods of Table 4 foretell preference votes (paper 7.3).

    Accuracy and both taus are taken over directional votes; a tie by the human is left out, a tie
    by the method counts as no answer. A vote's weight is respected throughout.

    Args:
        votes: Held-out votes, anything that `read_votes` takes.
        penalties: The penalties under test: `Penalties`, or a fit.
        calibration: Votes of other tasks to refit on: adds the gamma sweep, the unconstrained fit
            and, where both sets carry counts and floors, the floor perturbation.
        gamma: Weight of the regulariser in those refits.
        draws: Number of resamples.
        level: Level of the intervals.
        seed: Seed of the resamples.
        unit: What is resampled: `vote`, or all votes of a `pair` or a `task` together.

    Raises:
        InputError: The votes cannot be read, or do not name the unit.
    """
    _check(draws, unit)
    read = read_votes(votes)
    answers = _answers(read, penalties)
    methods, strata, margins = _tables(
        read, answers, draws=draws, level=level, seed=seed, unit=unit
    )
    train = None if calibration is None else read_votes(calibration)
    floors, gammas, unconstrained = _refits(train, read, gamma)
    return Validation(
        n=len(read),
        n_directional=int(read.directional.sum()),
        a=penalties.a,
        b=penalties.b,
        methods=methods,
        strata=strata,
        margins=margins,
        intervals=_headline(methods),
        per_task=_per_task(read, answers[METRIC]),
        reliability=reliability(read, penalties, draws=draws, level=level, seed=seed),
        floors=floors,
        gammas=gammas,
        unconstrained=unconstrained,
        draws=draws,
        level=level,
        unit=unit,
        warnings=_warnings(read, train, unit),
    )


def _check(draws: int, unit: str) -> None:
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    if unit not in ("vote", "pair", "task"):
        raise InputError(f"unit must be vote, pair or task, got {unit!r}")


def _answers(votes: Votes, penalties: Costs) -> dict[str, Signs]:
    return {
        name: method.prefer(votes.excess_a, votes.excess_b, penalties)
        for name, method in METHODS.items()
    }


def _tables(
    votes: Votes,
    answers: dict[str, Signs],
    *,
    draws: int,
    level: float,
    seed: Seed,
    unit: ResampleUnit,
) -> tuple[dict[str, MethodResult], dict[str, Stratum], dict[str, Stratum]]:
    """Table 4, Table 5 and the latter by margin, all from the same resamples."""
    strata, margins = _strata(votes), _margins(votes)
    held = strata | margins
    # Outside a part of the votes the metric counts as having no answer.
    partial = {name: answers[METRIC] * inside for name, inside in held.items()}
    bootstrap = PairedBootstrap.of(
        votes, answers | partial, draws=draws, level=level, seed=seed, unit=unit
    )
    methods = {name: _method(name, votes, answers[name], bootstrap) for name in METHODS}
    parts = {name: _stratum(name, votes, partial[name], held[name], bootstrap) for name in held}
    return methods, {name: parts[name] for name in strata}, {name: parts[name] for name in margins}


def _headline(methods: dict[str, MethodResult]) -> Intervals:
    """The intervals that the paper prints: of the metric, and of the metric minus turn-first."""
    own, rival = methods[METRIC].intervals, methods[RIVAL].metric_minus
    names = STATISTICS[1:]
    minus: Intervals = {f"{name}_minus_{RIVAL}": rival[name] for name in names}
    return {name: own[name] for name in names} | minus


def _warnings(votes: Votes, train: Votes | None, unit: str) -> tuple[str, ...]:
    told = votes.group_warnings(unit) + votes.size_warnings()
    if not votes.directional.any():
        told = ("every vote is a tie: accuracy and tau are undefined", *told)
    if train is not None and train.tasks and votes.tasks:
        shared = set(train.tasks) & set(votes.tasks)
        if shared:
            told += (
                f"{len(shared)} tasks stand in the calibration votes too: this is no held-out test",
            )
    return told


def _strata(votes: Votes) -> dict[str, BoolArray]:
    tool, turn = np.abs(votes.difference.T)
    return {
        "turn_differing": turn > 0,
        "small_turn_diff": (turn > 0) & (turn <= SMALL_MARGIN),
        "large_turn_diff": turn > SMALL_MARGIN,
        "pure_tool": (turn == 0) & (tool > 0),
    }


def _margins(votes: Votes) -> dict[str, BoolArray]:
    turn = np.abs(votes.difference[:, 1])
    return {f"{margin:g}": turn == margin for margin in np.unique(turn)}


def _method(name: str, votes: Votes, answer: Signs, bootstrap: PairedBootstrap) -> MethodResult:
    mine, metric = bootstrap.statistics(name), bootstrap.statistics(METRIC)
    answered = answer != 0
    return MethodResult(
        name=name,
        label=METHODS[name].label,
        n_answered=int((answered & votes.directional).sum()),
        outcome=outcome(answer, votes.preference, votes.weight),
        coverage_all=float(votes.weight[answered].sum() / votes.weight.sum()),
        intervals={key: bootstrap.interval(mine[key]) for key in STATISTICS},
        metric_minus={key: bootstrap.interval(metric[key] - mine[key]) for key in STATISTICS},
    )


def _stratum(
    name: str, votes: Votes, answer: Signs, held: BoolArray, bootstrap: PairedBootstrap
) -> Stratum:
    inside = held & votes.directional
    truth = preferred(votes.preference)
    # Positive where the preferred side has fewer tool calls than the other.
    saved = (truth * votes.difference[:, 0])[inside]
    return Stratum(
        name=name,
        n=int(inside.sum()),
        n_all=int(held.sum()),
        outcome=outcome(answer[held], votes.preference[held], votes.weight[held]),
        interval=bootstrap.interval(bootstrap.statistics(name)["accuracy"]),
        fewer=int((saved > 0).sum()),
        more=int((saved < 0).sum()),
    )


def _refits(
    train: Votes | None, votes: Votes, gamma: float
) -> tuple[tuple[Refitted, ...], tuple[Refitted, ...], Refitted | None]:
    """Refits under moved floors, over the regulariser's weight, and without a, b >= 0."""
    if train is None:
        return (), (), None
    counted = train.counts_a is not None and votes.counts_a is not None
    floors = floor_perturbation(train, votes, gamma=gamma) if counted else ()
    return floors, gamma_sweep(train, votes), unconstrained_fit(train, votes, gamma)


def _per_task(votes: Votes, answer: Signs) -> dict[str, Outcome]:
    if votes.tasks is None:
        return {}
    names = np.array(votes.tasks)
    return {
        str(task): outcome(
            answer[names == task], votes.preference[names == task], votes.weight[names == task]
        )
        for task in np.unique(names)
    }


def _lists(intervals: Intervals) -> dict[str, list[float] | None]:
    return {name: None if found is None else found.to_list() for name, found in intervals.items()}
