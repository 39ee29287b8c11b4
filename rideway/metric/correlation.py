"""Correlation of two columns of numbers, with bootstrap intervals (paper 7.6, App. E, G).

Two rank conventions go by the name of Spearman. `spearman` is the textbook one: tied values share
the average of their ranks. `spearman_ordinal` gives them successive ranks in the order in which
they stand; it depends on that order, and is what the paper's printed coefficients follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rideway.errors import InputError
from rideway.metric.estimate import Estimate, defined_interval
from rideway.metric.resample import DEFAULT_LEVEL, FloatArray, IntArray, Interval, Seed

__all__ = [
    "Bootstrap",
    "Correlation",
    "average_ranks",
    "ordinal_ranks",
    "pearson",
    "spearman",
    "spearman_ordinal",
    "spearman_rows",
]

_CELLS_AT_ONCE = 1 << 19  # numbers of one block of resamples: 4 MB


@dataclass(frozen=True, slots=True)
class Correlation(Estimate):
    """One coefficient.

    Attributes:
        statistic: `pearson`, `spearman` or `spearman_ordinal`.
        value: The coefficient; None where it is undefined.
        n: Rows.
        reason: Why it is undefined, or what a reader must know of it; None if nothing.
        interval: Percentile interval over resampled rows, where asked for and defined.
    """

    statistic: str
    value: float | None
    n: int
    reason: str | None
    interval: Interval | None = None


class Bootstrap(TypedDict, total=False):
    """Options of every correlation: the resamples of rows behind its interval.

    Attributes:
        draws: How many; 0, unless told otherwise, for no interval.
        level: Level of the interval; `DEFAULT_LEVEL` unless told otherwise.
        seed: Seed of the resamples; 0 unless told otherwise.
        unit: What a row is, for the interval; `row` unless told otherwise.
        resamples: Row numbers of each resample, (draws, n), in place of drawn ones: to repeat
            somebody else's bootstrap to the last digit.
    """

    draws: int
    level: float
    seed: Seed
    unit: str
    resamples: IntArray | None


def pearson(x: ArrayLike, y: ArrayLike, **bootstrap: Unpack[Bootstrap]) -> Correlation:
    """Pearson's product-moment correlation of two columns (n,).

    Args:
        x: One column.
        y: The other.
        bootstrap: What the interval rests on, see :class:`Bootstrap`; none without `draws` or
            `resamples`.

    Returns:
        The coefficient; undefined, with the reason, where a column is constant.

    Raises:
        InputError: The columns differ in length, have fewer than two rows, or hold a value that is
            no finite number.
    """
    return _correlate("pearson", _same, x, y, **bootstrap)


def spearman(x: ArrayLike, y: ArrayLike, **bootstrap: Unpack[Bootstrap]) -> Correlation:
    """Spearman's rank correlation, tied values on average ranks; otherwise as :func:`pearson`."""
    return _correlate("spearman", average_ranks, x, y, **bootstrap)


def spearman_ordinal(x: ArrayLike, y: ArrayLike, **bootstrap: Unpack[Bootstrap]) -> Correlation:
    """Spearman's correlation on ordinal ranks, ties in order of appearance: the paper's variant.

    Where values tie, another order of the rows gives another number; `reason` then says so. In a
    resample the order is that of the draw. Otherwise as :func:`pearson`.
    """
    found = _correlate("spearman_ordinal", ordinal_ranks, x, y, **bootstrap)
    tied = sum(len(column) - len(np.unique(column)) for column in (np.asarray(x), np.asarray(y)))
    if found.value is None or not tied:
        return found
    told = f"{tied} rows tie with an earlier one: the value depends on the order of the rows"
    reason = "; ".join(text for text in (told, found.reason) if text)
    return Correlation(found.statistic, found.value, found.n, reason, found.interval)


def spearman_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    """:func:`spearman` of each row of x (rows, n) with that row of y, (rows,); NaN if undefined."""
    known = ~(np.isnan(x) | np.isnan(y)).any(axis=1)
    value: FloatArray = np.full(len(x), np.nan)
    value[known] = _product_moment(average_ranks(x[known]), average_ranks(y[known]))
    return value


def average_ranks(values: ArrayLike) -> FloatArray:
    """Ranks from 1 along the last axis, ties sharing the average of theirs; shape of `values`."""
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    n = rows.shape[1]
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    place = np.arange(n)
    starts = np.ones(ordered.shape, dtype=np.bool_)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    ends = np.ones(ordered.shape, dtype=np.bool_)
    ends[:, :-1] = starts[:, 1:]
    last = np.minimum.accumulate(np.where(ends, place, n)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return ranks.reshape(np.shape(values))


def ordinal_ranks(values: ArrayLike) -> FloatArray:
    """Ranks from 1 along the last axis, ties in order of appearance; shape of `values`."""
    rows = np.asarray(values, dtype=np.float64)
    order = np.argsort(rows, axis=-1, kind="stable")
    ranks = np.empty(rows.shape)
    place = np.broadcast_to(np.arange(1.0, rows.shape[-1] + 1), rows.shape)
    np.put_along_axis(ranks, order, place, axis=-1)
    return ranks


def _same(values: ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _correlate(
    statistic: str,
    transform: Callable[[ArrayLike], FloatArray],
    x: ArrayLike,
    y: ArrayLike,
    *,
    draws: int = 0,
    level: float = DEFAULT_LEVEL,
    seed: Seed = 0,
    unit: str = "row",
    resamples: IntArray | None = None,
) -> Correlation:
    columns = [_column(values, name) for values, name in ((x, "x"), (y, "y"))]
    n = len(columns[0])
    if len(columns[1]) != n:
        raise InputError(f"correlation: x has {n} values and y {len(columns[1])}; give pairs")
    if n < 2:
        raise InputError(f"correlation: two rows or more are needed, got {n}")
    for column, name in zip(columns, "xy", strict=True):
        if (column == column[0]).all():
            reason = f"undefined: all {n} values of {name} are {column[0]:g}"
            return Correlation(statistic, None, n, reason)
    value = float(_product_moment(*(transform(column[None, :]) for column in columns))[0])
    if not draws and resamples is None:
        return Correlation(statistic, value, n, None)
    blocks = _drawn(n, draws, seed) if resamples is None else _given(resamples, n)
    found = np.concatenate(
        [_product_moment(*(transform(column[rows]) for column in columns)) for rows in blocks]
    )
    bounds, told = defined_interval(found, level, unit)
    return Correlation(statistic, value, n, told, bounds)


def _drawn(n: int, draws: int, seed: Seed) -> Iterator[IntArray]:
    rng = np.random.default_rng(seed)
    size = max(1, _CELLS_AT_ONCE // n)
    for start in range(0, draws, size):
        yield rng.integers(0, n, (min(size, draws - start), n))


def _given(resamples: IntArray, n: int) -> Iterator[IntArray]:
    rows = np.asarray(resamples)
    fits = rows.ndim == 2 and rows.shape[1] == n and rows.dtype.kind in "iu"
    if not fits or rows.size == 0 or rows.min() < 0 or rows.max() >= n:
        raise InputError(f"correlation: resamples must be row numbers 0 to {n - 1}, (draws, {n})")
    yield rows


def _product_moment(x: FloatArray, y: FloatArray) -> FloatArray:
    """Correlation of each row of x with that row of y, (rows,); NaN where one is constant."""
    dx = x - x.mean(axis=1, keepdims=True)
    dy = y - y.mean(axis=1, keepdims=True)
    xx, yy = (dx * dx).sum(axis=1), (dy * dy).sum(axis=1)
    flat = (x == x[:, :1]).all(axis=1) | (y == y[:, :1]).all(axis=1)
    value: FloatArray = np.full(len(x), np.nan)
    np.divide((dx * dy).sum(axis=1), np.sqrt(xx) * np.sqrt(yy), out=value, where=~flat)
    return np.clip(value, -1.0, 1.0)


def _column(values: ArrayLike, name: str) -> FloatArray:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"correlation: {name} must be a column of numbers") from None
    if column.ndim != 1:
        raise InputError(f"correlation: {name} must be one column, got shape {column.shape}")
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        row = int(bad[0])
        raise InputError(f"correlation: {name}, row {row + 1}: {column[row]} is no finite number")
    return column
