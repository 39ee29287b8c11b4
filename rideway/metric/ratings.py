"""What raters said of units, as numbers of categories: what agreement is computed from.

Ratings are any values that compare equal or not: texts, numbers, truth values. None and NaN mean
that a rater did not rate a unit. Units with fewer than two ratings say nothing about agreement:
they are left out and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from rideway.errors import InputError
from rideway.metric.resample import FloatArray, IntArray

__all__ = ["Ratings", "Units"]

Ratings = Sequence[Hashable]
"""What one rater said of each unit, in the order of the units."""

_MISSING = -1


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Units that two raters or more have rated.

    Attributes:
        all_codes: Category of each rating, (raters, units); -1 where there is none.
        codes: The same of units with at least two ratings, (raters, n).
        categories: Names of the categories in those units, (k,).
        table: How many raters chose each category, (n, k).
    """

    all_codes: IntArray
    codes: IntArray
    categories: tuple[str, ...]
    table: IntArray

    @classmethod
    def of(cls, raters: Sequence[Ratings]) -> Units:
        """The units of some raters, one sequence a rater.

        Raises:
            InputError: Fewer than two raters, sequences of different lengths, no unit that two
                raters rated.
        """
        rows = [list(rater) for rater in raters]
        if len(rows) < 2:
            raise InputError(f"ratings: agreement needs two raters or more, got {len(rows)}")
        lengths = [len(row) for row in rows]
        if len(set(lengths)) > 1:
            raise InputError(
                f"ratings: one rating a unit is needed of each rater (None where there is none), "
                f"got {', '.join(map(str, lengths))} ratings"
            )
        numbers: dict[Hashable, int] = {}
        every = np.array(
            [[_number(value, numbers) for value in row] for row in rows], dtype=np.int64
        ).reshape(len(rows), lengths[0])
        kept = (every != _MISSING).sum(axis=0) >= 2
        if not kept.any():
            raise InputError(
                "ratings: no unit was rated by two raters, so they cannot be compared"
                if lengths[0]
                else "ratings: there are no units"
            )
        used = np.unique(every[:, kept])
        used = used[used != _MISSING]
        names = {number: str(value) for value, number in numbers.items()}
        used = np.array(sorted(used.tolist(), key=names.__getitem__), dtype=np.int64)
        renumbered = np.full(len(numbers) + 1, _MISSING)
        renumbered[used] = np.arange(len(used))
        codes = renumbered[every[:, kept]]
        table = (codes[:, :, None] == np.arange(len(used))).sum(axis=0)
        return cls(every, codes, tuple(names[number] for number in used.tolist()), table)

    @property
    def n(self) -> int:
        """Units with at least two ratings."""
        return len(self.table)

    @property
    def left_out(self) -> int:
        """Units with fewer."""
        return int(self.all_codes.shape[1]) - self.n

    @property
    def raters(self) -> int:
        """Raters."""
        return len(self.codes)

    @property
    def incomplete(self) -> IntArray:
        """Numbers, from 0, of all the units that lack a rating."""
        return np.flatnonzero((self.all_codes == _MISSING).any(axis=0))

    @property
    def agreeing(self) -> FloatArray:
        """Share of pairs of ratings of each unit that agree, (n,)."""
        ratings = self.table.sum(axis=1)
        equal = (self.table * (self.table - 1)).sum(axis=1)
        share: FloatArray = equal / (ratings * (ratings - 1))
        return share


def _number(value: Hashable, numbers: dict[Hashable, int]) -> int:
    if value is None or value != value:  # NaN differs from itself
        return _MISSING
    return numbers.setdefault(value, len(numbers))
