"""Cost models beyond two counts: the same fit for any non-negative features of a trajectory.

The paper leaves richer efficiency models to future work (section 8). Here a model is a list of
feature names (failed calls, repeated calls, seconds, tokens, money, labels of a diagnosis), its
cost C the sum of weight x feature, and its fit the Bradley-Terry fit of section 5.2 in k
dimensions. A larger model is worth having when it foretells *held-out* votes better than the
smaller one that it contains: :func:`compare_nested` puts paired intervals on that. Efficiency
Utility stays the two-count metric; no model of this module goes by its name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rideway.errors import InputError
from rideway.metric.bradley_terry import Cells, Refit, collapse, minimise, objective
from rideway.metric.calibrate import DEFAULT_GAMMA
from rideway.metric.comparators import Outcome, outcome, preferred
from rideway.metric.estimate import defined_interval
from rideway.metric.reliability import cross_entropy
from rideway.metric.resample import (
    DEFAULT_LEVEL,
    FloatArray,
    Interval,
    Seed,
    interval,
    resampled_sums,
    weight_blocks,
)
from rideway.metric.votes import AXES, Columns, Votes, number_column, read_columns, read_votes

__all__ = [
    "CostModel",
    "FeatureVotes",
    "NestedComparison",
    "compare_nested",
    "fit_features",
    "read_feature_votes",
]

TWO_COUNTS = tuple(f"e_{axis}" for axis in AXES)
Scale = Literal["none", "sd"]
Features = Mapping[str, Mapping[str, float]]
"""Features of each trajectory, by its id."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureVotes:
    """Votes with named features: `difference` (n, k) is side b's less side a's."""

    names: tuple[str, ...]
    difference: FloatArray
    votes: Votes

    def columns(self, names: Sequence[str]) -> FloatArray:
        """The differences of some of the features, (n, len(names))."""
        return self.difference[:, [self.names.index(name) for name in names]]


@dataclass(frozen=True, slots=True)
class CostModel:
    """A fitted cost: log-penalty per unit of each feature.

    Attributes:
        weights: Weight by feature, per unit of the feature as given.
        scales: What each feature was divided by before the regulariser weighed its coefficient.
        intervals: Of the weights, where resamples were asked for.
        n: Votes fitted on.
        gamma: Weight of the regulariser.
        log_loss: Mean cross-entropy of the votes fitted on.
        warnings: What a reader of the weights must know.
    """

    weights: dict[str, float]
    scales: dict[str, float]
    intervals: dict[str, Interval]
    n: int
    gamma: float
    log_loss: float
    warnings: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(self.weights)

    def margin(self, votes: FeatureVotes) -> FloatArray:
        """Log-odds of side a, (n,): the cost of b less that of a."""
        margin: FloatArray = votes.columns(self.features) @ np.array(list(self.weights.values()))
        return margin

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "weights": self.weights,
            "scales": self.scales,
            "intervals": {name: found.to_list() for name, found in self.intervals.items()},
            "n": self.n,
            "gamma": self.gamma,
            "log_loss": self.log_loss,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class NestedComparison:
    """A larger model against one that it contains, on held-out votes.

    The gains are positive where the larger model is better: smaller log-loss, higher accuracy.
    Their intervals come from common resamples of the held-out votes, with both fits held fixed. A
    gain is None where a model answers no directional vote.
    """

    smaller: CostModel
    larger: CostModel
    n: int
    log_loss: tuple[float, float]
    outcomes: tuple[Outcome, Outcome]
    log_loss_gain: float
    log_loss_gain_interval: Interval
    accuracy_gain: float | None
    accuracy_gain_interval: Interval | None

    @property
    def improves(self) -> bool:
        """Whether the interval of the log-loss gain lies above 0."""
        return self.log_loss_gain_interval.lo > 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        found = self.accuracy_gain_interval
        return {
            "smaller": self.smaller.to_dict(),
            "larger": self.larger.to_dict(),
            "n": self.n,
            "log_loss": list(self.log_loss),
            "accuracy": [part.accuracy for part in self.outcomes],
            "log_loss_gain": self.log_loss_gain,
            "log_loss_gain_interval": self.log_loss_gain_interval.to_list(),
            "accuracy_gain": self.accuracy_gain,
            "accuracy_gain_interval": None if found is None else found.to_list(),
            "improves": self.improves,
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row a model, for a table."""
        pairs = zip((self.smaller, self.larger), self.log_loss, self.outcomes, strict=True)
        return [
            {"features": " + ".join(model.features), "log_loss": loss, "accuracy": part.accuracy}
            for model, loss, part in pairs
        ]


def read_feature_votes(
    source: Any, names: Sequence[str], trajectories: Features | None = None
) -> FeatureVotes:
    """Votes with the features `names` of both sides.

    A feature is read from columns `NAME_a` and `NAME_b`; or, with `trajectories`, looked up by the
    ids in `trajectory_a` and `trajectory_b`. `e_tool` and `e_turn` may come from counts and floors.

    Raises:
        InputError: A feature is missing, negative or no number, or the votes cannot be read.
    """
    if isinstance(source, FeatureVotes):
        if missing := [name for name in names if name not in source.names]:
            raise InputError(f"votes were read without the features {', '.join(missing)}")
        return source
    table = read_columns(source)
    wanted = tuple(dict.fromkeys(names))
    if not wanted:
        raise InputError("a cost model needs at least one feature")
    votes = read_votes(table if set(TWO_COUNTS) & set(wanted) else _uncounted(table))
    columns = [_difference(table, name, votes, trajectories) for name in wanted]
    return FeatureVotes(wanted, np.stack(columns, axis=1), votes)


def fit_features(
    votes: Any,
    features: Sequence[str],
    *,
    gamma: float = DEFAULT_GAMMA,
    nonnegative: bool = True,
    scale: Scale = "none",
    trajectories: Features | None = None,
    draws: int = 0,
    level: float = DEFAULT_LEVEL,
    seed: Seed = 0,
) -> CostModel:
    """Weights of named features, by the objective of section 5.2 in k dimensions.

    With `e_tool` and `e_turn` alone and `scale="none"` the weights are those of `fit_penalties`.

    Args:
        votes: Votes with the features of both sides, see :func:`read_feature_votes`.
        features: Names of the features.
        gamma: Weight of the regulariser, above 0: with many features it is what keeps the optimum
            finite and unique.
        nonnegative: Whether to require weights of at least 0.
        scale: `none` regularises the weight per unit as given; `sd` the weight per standard
            deviation of the difference, which treats seconds and calls alike.
        trajectories: Features by trajectory id, where the rows do not hold them.
        draws: Resamples of votes for intervals; 0 for none.
        level: Level of the intervals.
        seed: Seed of the resamples.

    Raises:
        InputError: The votes cannot be read, or gamma is not above 0.
    """
    if not (math.isfinite(gamma) and gamma > 0):
        raise InputError(f"gamma must be a finite number above 0, got {gamma!r}")
    read = read_feature_votes(votes, features, trajectories)
    names = tuple(dict.fromkeys(features))
    x = read.columns(names)
    scales = _scales(x, read.votes.weight) if scale == "sd" else np.ones(len(names))
    cells = collapse(x / scales, read.votes.preference, read.votes.weight)
    beta, found = minimise(cells, cells.total, gamma, nonnegative=nonnegative)
    if not found.all():
        raise ArithmeticError("no optimum found: a fault of the fit, not of the votes")
    loss = float(objective(beta, cells, cells.total, 0.0)[0])
    intervals = {}
    if draws:
        samples = _samples(cells, gamma, beta[:, 0], nonnegative, draws, seed) / scales
        intervals = {
            name: interval(column, level, "vote")
            for name, column in zip(names, samples.T, strict=True)
        }
    return CostModel(
        weights={n: float(v) for n, v in zip(names, beta[:, 0] / scales, strict=True)},
        scales={name: float(value) for name, value in zip(names, scales, strict=True)},
        intervals=intervals,
        n=len(read.votes),
        gamma=gamma,
        log_loss=loss / float(read.votes.weight.sum()),
        warnings=_warnings(names, x, beta[:, 0], nonnegative),
    )


def compare_nested(
    train: Any,
    test: Any,
    smaller: Sequence[str],
    larger: Sequence[str],
    *,
    gamma: float = DEFAULT_GAMMA,
    nonnegative: bool = True,
    scale: Scale = "none",
    trajectories: Features | None = None,
    unit: Literal["vote", "pair", "task"] = "vote",
    draws: int = 10_000,
    level: float = DEFAULT_LEVEL,
    seed: Seed = 0,
) -> NestedComparison:
    """Whether more features foretell held-out votes better than fewer.

    Both models are fitted on `train` and scored on `test`, which should hold other tasks.

    Args:
        train: Votes to fit on.
        test: Votes to score on.
        smaller: Features of the smaller model.
        larger: Features of the larger model; must contain the smaller one's.
        gamma: As for :func:`fit_features`.
        nonnegative: As for :func:`fit_features`.
        scale: As for :func:`fit_features`.
        trajectories: As for :func:`fit_features`.
        unit: What is resampled among the held-out votes.
        draws: Number of resamples.
        level: Level of the intervals.
        seed: Seed of the resamples.

    Raises:
        InputError: The models are not nested, or the votes cannot be read.
    """
    if extra := set(smaller) - set(larger):
        raise InputError(f"models are not nested: the larger one lacks {', '.join(sorted(extra))}")
    fitted_on = read_feature_votes(train, larger, trajectories)
    scored_on = read_feature_votes(test, larger, trajectories)
    models = [
        fit_features(fitted_on, names, gamma=gamma, nonnegative=nonnegative, scale=scale)
        for names in (smaller, larger)
    ]
    return _compared(models[0], models[1], scored_on, unit, (draws, level, seed))


def _compared(
    smaller: CostModel,
    larger: CostModel,
    scored_on: FeatureVotes,
    unit: Literal["vote", "pair", "task"],
    resampling: tuple[int, float, Seed],
) -> NestedComparison:
    votes, (draws, level, seed) = scored_on.votes, resampling
    w = votes.weight
    margins = [model.margin(scored_on) for model in (smaller, larger)]
    losses = [cross_entropy(margin, votes.preference) for margin in margins]
    answers = [np.sign(margin) * (np.abs(margin) > 1e-12) for margin in margins]
    parts = [outcome(answer, votes.preference, w) for answer in answers]
    columns = [w, w * (losses[0] - losses[1]), *_tallies(answers, votes)]
    groups = None if unit == "vote" else votes.groups(unit)
    sums = resampled_sums(np.column_stack(columns), draws, seed, groups)
    sums = sums[sums[:, 0] > 0]
    with np.errstate(invalid="ignore"):
        accuracy_gain = sums[:, 4] / sums[:, 5] - sums[:, 2] / sums[:, 3]
    mean = [float(w @ loss) / float(w.sum()) for loss in losses]
    before, after = parts[0].accuracy, parts[1].accuracy
    return NestedComparison(
        smaller=smaller,
        larger=larger,
        n=len(votes),
        log_loss=(mean[0], mean[1]),
        outcomes=(parts[0], parts[1]),
        log_loss_gain=mean[0] - mean[1],
        log_loss_gain_interval=interval(sums[:, 1] / sums[:, 0], level, unit),
        accuracy_gain=None if before is None or after is None else after - before,
        accuracy_gain_interval=defined_interval(accuracy_gain, level, unit)[0],
    )


def _tallies(answers: Sequence[FloatArray], votes: Votes) -> list[FloatArray]:
    """Correct and answered directional weight of each vote, for each model in turn."""
    truth = preferred(votes.preference)
    out = []
    for answer in answers:
        out.append(votes.weight * (answer * truth > 0))
        out.append(votes.weight * (answer * truth != 0))
    return out


def _uncounted(table: Columns) -> Columns:
    """The table with excess of 0: votes whose two counts no model asks for may lack them."""
    blank = {f"{name}_{side}": [0] * table.n for name in TWO_COUNTS for side in "ab"}
    rest = {k: v for k, v in table.columns.items() if not k.startswith(("c_", "f_", "e_"))}
    return Columns(table.name, rest | blank, table.n)


def _difference(
    table: Columns, name: str, votes: Votes, trajectories: Features | None
) -> FloatArray:
    fields = [f"{name}_a", f"{name}_b"]
    if all(field in table.columns for field in fields):
        a, b = (number_column(table, field) for field in fields)
        return b - a
    if name in TWO_COUNTS:
        return votes.difference[:, TWO_COUNTS.index(name)]
    if trajectories is None:
        raise InputError(f"{table.name}: no columns `{fields[0]}` and `{fields[1]}`")
    sides = []
    for side in ("a", "b"):
        ids = table.columns.get(f"trajectory_{side}")
        if ids is None:
            raise InputError(f"{table.name}: no column `trajectory_{side}` to look features up by")
        for row, key in enumerate(ids):
            if name not in trajectories.get(key, {}):
                raise table.fail(row, f"trajectory {key!r} has no feature `{name}`")
        values = [trajectories[key][name] for key in ids]
        looked_up = Columns(f"feature `{name}`", {name: values}, table.n)
        sides.append(number_column(looked_up, name))
    return sides[1] - sides[0]


def _scales(x: FloatArray, weight: FloatArray) -> FloatArray:
    """Root mean square of each difference: no mean is taken off, since the sides are arbitrary."""
    size: FloatArray = np.sqrt(weight @ x**2 / weight.sum())
    return np.where(size > 0, size, 1.0)


def _samples(
    cells: Cells, gamma: float, start: FloatArray, nonnegative: bool, draws: int, seed: Seed
) -> FloatArray:
    refit = Refit(cells, gamma, start, nonnegative=nonnegative)
    blocks = weight_blocks(cells.rows, draws, seed)
    return np.concatenate([refit(block * cells.weight[:, None])[0].T for block in blocks])


def _warnings(
    names: Sequence[str], x: FloatArray, beta: FloatArray, nonnegative: bool
) -> tuple[str, ...]:
    told = []
    for name, column, weight in zip(names, x.T, beta, strict=True):
        if not column.any():
            told.append(
                f"no vote compares sides that differ in {name}: its weight is 0 for want of data"
            )
        elif nonnegative and weight == 0:
            told.append(f"{name} is held at 0: the votes do not prefer less of it")
    varying = x[:, x.any(axis=0)]
    if np.linalg.matrix_rank(varying) < varying.shape[1]:
        told.append("some features are linear in others: gamma alone splits the weight among them")
    return tuple(told)
