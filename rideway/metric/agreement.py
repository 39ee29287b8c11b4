"""Agreement of raters on categories: raw, Cohen, Fleiss, Krippendorff (paper 7.5, A.6).

Ratings are sequences of values, one a rater, as :mod:`rideway.metric.ratings` reads them. Every
result tells what it rests on, and a value that does not exist is None with its reason, never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rideway.errors import InputError
from rideway.metric.estimate import Estimate, defined_interval
from rideway.metric.ratings import Ratings, Units
from rideway.metric.resample import DEFAULT_LEVEL, FloatArray, Interval, Seed, count_blocks

__all__ = ["Agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "raw_agreement"]


@dataclass(frozen=True, slots=True)
class Agreement(Estimate):
    """One agreement statistic.

    Attributes:
        statistic: Its name.
        value: The value; None where it is undefined.
        n: Units with at least two ratings, which it rests on.
        left_out: Units with fewer.
        raters: Raters.
        categories: The categories that occur in those units, as texts, sorted.
        observed: Observed agreement: chance that two ratings of one unit agree.
        expected: Agreement that chance alone would give; None for raw agreement.
        reason: Why the value is undefined, or what a reader of it must know; None if nothing.
        interval: Percentile interval over resampled units, where draws were asked for.
    """

    statistic: str
    value: float | None
    n: int
    left_out: int
    raters: int
    categories: tuple[str, ...]
    observed: float
    expected: float | None
    reason: str | None
    interval: Interval | None = None

    def _details(self) -> dict[str, Any]:
        return {
            "left_out": self.left_out,
            "raters": self.raters,
            "categories": list(self.categories),
            "observed": self.observed,
            "expected": self.expected,
        }


def raw_agreement(
    *raters: Ratings, draws: int = 0, level: float = DEFAULT_LEVEL, seed: Seed = 0
) -> Agreement:
    """Share of units on which the raters agree; among more than two, of pairs of raters.

    With more than two raters each unit counts once: its share of agreeing pairs of ratings.

    Args:
        raters: What each rater said of each unit, one sequence a rater.
        draws: Resamples of units behind the interval; 0 for none.
        level: Level of the interval.
        seed: Seed of the resamples.

    Raises:
        InputError: Fewer than two raters, sequences of different lengths, no unit that two raters
            rated.
    """
    units = Units.of(raters)
    agreeing = units.agreeing
    values = np.column_stack([agreeing, np.ones(len(agreeing))])
    observed = float(agreeing.mean())
    bounds, told = _Resamples(draws, level, seed).interval(values, _mean)
    return _agreement("raw_agreement", units, observed, observed, None, told, bounds)


def cohen_kappa(
    a: Ratings, b: Ratings, *, draws: int = 0, level: float = DEFAULT_LEVEL, seed: Seed = 0
) -> Agreement:
    """Cohen's kappa of two raters, (p_o - p_e) / (1 - p_e), unweighted (Cohen, 1960).

    Undefined where both raters use one and the same category throughout (p_e = 1): the value is
    None although they agree on everything. Where one rater uses a single category and the other
    does not, it is 0 by construction, and `reason` says so.

    Args:
        a: What the first rater said of each unit.
        b: What the second said of the same units.
        draws: Resamples of units behind the interval; 0 for none.
        level: Level of the interval.
        seed: Seed of the resamples.

    Raises:
        InputError: The sequences differ in length, or no unit has both ratings.
    """
    units = Units.of([a, b])
    k = len(units.categories)
    cells = np.eye(k * k)[units.codes[0] * k + units.codes[1]]
    resamples = _Resamples(draws, level, seed)
    return _chance_corrected("cohen_kappa", units, cells, _cohen, resamples, _one_sided(units))


def fleiss_kappa(
    ratings: Sequence[Ratings], *, draws: int = 0, level: float = DEFAULT_LEVEL, seed: Seed = 0
) -> Agreement:
    """Fleiss' kappa of any number of raters who rated every unit (Fleiss, 1971).

    Chance agreement comes from the pooled categories. Undefined where one category alone occurs.

    Args:
        ratings: One sequence a rater: (raters, units).
        draws: Resamples of units behind the interval; 0 for none.
        level: Level of the interval.
        seed: Seed of the resamples.

    Raises:
        InputError: As :func:`raw_agreement`, or a unit lacks a rating: Fleiss' kappa needs as many
            ratings of each unit; :func:`krippendorff_alpha` does not.
    """
    units = Units.of(ratings)
    holes = units.incomplete
    if holes.size:
        raise InputError(
            f"ratings: unit {int(holes[0]) + 1} lacks a rating ({holes.size} units do): "
            "fleiss_kappa needs every rater on every unit; use krippendorff_alpha"
        )
    agreeing = units.agreeing
    values = np.column_stack([np.ones(len(agreeing)), agreeing, units.table])
    resamples = _Resamples(draws, level, seed)
    return _chance_corrected("fleiss_kappa", units, values, _fleiss, resamples)


def krippendorff_alpha(
    ratings: Sequence[Ratings], *, draws: int = 0, level: float = DEFAULT_LEVEL, seed: Seed = 0
) -> Agreement:
    """Krippendorff's alpha for nominal data: any number of raters, ratings may be missing.

    1 - D_o / D_e, both from the coincidences of ratings within units. Undefined where one category
    alone occurs (D_e = 0): the value is None although everybody agrees.

    Args:
        ratings: One sequence a rater, None where the rater did not rate a unit: (raters, units).
        draws: Resamples of units behind the interval; 0 for none.
        level: Level of the interval.
        seed: Seed of the resamples.

    Raises:
        InputError: As :func:`raw_agreement`.
    """
    units = Units.of(ratings)
    per_unit = units.table.sum(axis=1)
    # Coincidences of a unit: n_c (n_c - 1) / (m - 1) pairs of equal ratings, of m in all.
    equal = (units.table * (units.table - 1)).sum(axis=1) / (per_unit - 1)
    values = np.column_stack([equal, units.table])
    resamples = _Resamples(draws, level, seed)
    return _chance_corrected(
        "krippendorff_alpha", units, values, _alpha, resamples, _lone_rating(units)
    )


_Parts = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Observed and expected agreement from unit values summed over resamples, one row a resample."""


@dataclass(frozen=True, slots=True)
class _Resamples:
    """Which resamples of the units an interval rests on."""

    draws: int
    level: float
    seed: Seed

    def interval(
        self, values: FloatArray, statistic: Callable[[FloatArray], FloatArray]
    ) -> tuple[Interval | None, str | None]:
        """The interval of a statistic, and what is to be told of it.

        Args:
            values: Additive values of each unit, (n, columns).
            statistic: The statistic of their sums, one row a resample; NaN where undefined.
        """
        if self.draws == 0:
            return None, None
        units, sizes = np.unique(values, axis=0, return_counts=True)
        blocks = count_blocks(sizes, self.draws, self.seed)
        found = np.concatenate([statistic(counts @ units) for counts in blocks])
        return defined_interval(found, self.level, "unit")


def _chance_corrected(
    statistic: str,
    units: Units,
    values: FloatArray,
    parts: _Parts,
    resamples: _Resamples,
    zero_because: str | None = None,
) -> Agreement:
    """(observed - expected) / (1 - expected), undefined where one category alone occurs.

    Args:
        statistic: Its name.
        units: The units.
        values: Additive values of each unit, (n, columns).
        parts: Observed and expected agreement from their sums.
        resamples: What the interval rests on.
        zero_because: Why it is 0 by construction; None where it is not.
    """
    observed, expected = (float(part[0]) for part in parts(values.sum(axis=0)[None, :]))
    if len(units.categories) == 1:
        reason = _one_category(units.categories[0])
        return _agreement(statistic, units, None, observed, expected, reason)
    # Exactly 0 where it is so by construction: the division would leave a rounding error.
    value = 0.0 if zero_because else (observed - expected) / (1 - expected) + 0.0
    bounds, told = resamples.interval(values, lambda sums: _corrected(*parts(sums)))
    reason = "; ".join(text for text in (zero_because, told) if text)
    return _agreement(statistic, units, value, observed, expected, reason or None, bounds)


def _agreement(
    statistic: str,
    units: Units,
    value: float | None,
    observed: float,
    expected: float | None,
    reason: str | None,
    bounds: Interval | None = None,
) -> Agreement:
    return Agreement(
        statistic=statistic,
        value=value,
        n=units.n,
        left_out=units.left_out,
        raters=units.raters,
        categories=units.categories,
        observed=observed,
        expected=expected,
        reason=reason,
        interval=bounds,
    )


def _one_category(name: str) -> str:
    return (
        f"undefined, one category: every rating is {name!r}, so chance alone would agree as much; "
        "raw agreement is 1.0"
    )


def _one_sided(units: Units) -> str | None:
    for rater, codes in enumerate(units.codes, 1):
        if (codes == codes[0]).all():
            name = units.categories[int(codes[0])]
            return f"0 by construction: rater {rater} says {name!r} of every unit"
    return None


def _lone_rating(units: Units) -> str | None:
    totals = units.table.sum(axis=0)
    if len(totals) != 2 or totals.min() != 1:
        return None
    odd, rest = units.categories[int(totals.argmin())], units.categories[int(totals.argmax())]
    return f"0 by construction: one rating is {odd!r}, all others are {rest!r}"


# Statistics of unit values summed over a resample, one row a resample.


def _mean(sums: FloatArray) -> FloatArray:
    """From columns: agreeing shares of units, units."""
    shares: FloatArray = sums[:, 0] / sums[:, 1]
    return shares


def _cohen(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Observed and chance agreement of joint tables, given as rows of k x k counts."""
    k = math.isqrt(sums.shape[1])
    table = sums.reshape(-1, k, k)
    n = table.sum(axis=(1, 2))
    observed = np.einsum("dii->d", table) / n
    expected = np.einsum("di,di->d", table.sum(axis=2), table.sum(axis=1)) / n**2
    return observed, expected


def _fleiss(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """From columns: units, their agreeing shares, ratings of each category."""
    totals = sums[:, 2:]
    share = totals / totals.sum(axis=1, keepdims=True)
    return sums[:, 1] / sums[:, 0], (share**2).sum(axis=1)


def _alpha(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """From columns: coincidences of equal ratings, ratings of each category."""
    totals = sums[:, 1:]
    n = totals.sum(axis=1)
    return sums[:, 0] / n, (totals * (totals - 1)).sum(axis=1) / (n * (n - 1))


def _corrected(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Chance-corrected agreement of each resample; NaN where it is undefined."""
    value: FloatArray = np.full(len(observed), np.nan)
    # One category: the sums are whole numbers, so p_e comes out as exactly 1.
    np.divide(observed - expected, 1 - expected, out=value, where=expected < 1)
    return value
