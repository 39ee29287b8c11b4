"""Preference votes as arrays, one row a vote: what every fit and every test of votes works on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rideway.errors import InputError
from rideway.metric.bradley_terry import BoolArray
from rideway.metric.resample import FloatArray

__all__ = ["FEW_VOTES", "VoteError", "Votes"]


class VoteError(InputError):
    """A table that is not one of votes; the text names the table, the row, the field, the mend."""


FEW_VOTES = 100
"""Below this the percentile intervals cover clearly less than they say."""


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Votes as arrays, n rows.

    Attributes:
        excess_a: Excess tool calls and turns of side a, (n, 2).
        excess_b: The same of side b, (n, 2).
        preference: 1 where a is preferred, 0 where b is, 1/2 for a tie, (n,).
        weight: Weight of each vote, (n,); 1 unless the table says otherwise.
        tasks: Task of each vote without its split, or None where the table has none.
        pairs: The pair that each vote is about (several annotators may share one), or None.
        counts_a: Counts behind `excess_a`, (n, 2), or None where the table has no counts.
        counts_b: Counts behind `excess_b`.
        floors: Floors of each vote's task, (n, 2), or None.
    """

    excess_a: FloatArray
    excess_b: FloatArray
    preference: FloatArray
    weight: FloatArray
    tasks: tuple[str, ...] | None = None
    pairs: tuple[str, ...] | None = None
    counts_a: FloatArray | None = None
    counts_b: FloatArray | None = None
    floors: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.preference)

    @property
    def difference(self) -> FloatArray:
        """What b has in excess over a, (n, 2): the model says P(a) = sigma(difference . (a, b))."""
        return self.excess_b - self.excess_a

    @property
    def directional(self) -> BoolArray:
        """Which votes name a side, (n,)."""
        named: BoolArray = self.preference != 0.5
        return named

    def groups(self, unit: str) -> tuple[str, ...]:
        """The task or the pair of each vote, for resampling by that unit.

        Raises:
            VoteError: The votes do not say.
        """
        names = {"task": self.tasks, "pair": self.pairs}[unit]
        if names is None:
            field = {"task": "`task_id`", "pair": "`trajectory_a` and `trajectory_b`"}[unit]
            raise VoteError(f"resampling by {unit} needs {field} in every vote")
        return names

    def group_warnings(self, unit: str) -> tuple[str, ...]:
        """What few tasks or pairs mean for a resampling by them; nothing for other units."""
        if unit not in ("task", "pair"):
            return ()
        n = len(set(self.groups(unit)))
        if n == 1:
            return (f"one {unit} only: every resample is the data again, intervals have no width",)
        ways = math.comb(2 * n - 1, n)
        told = f"{n} {unit}s can be resampled in {ways} ways only: the intervals are unreliable"
        return (told,) if n < 10 else ()

    def size_warnings(self) -> tuple[str, ...]:
        """What few votes mean for the intervals (the recovery study in docs/calibration.md)."""
        n = int(self.directional.sum())
        if n >= FEW_VOTES:
            return ()
        told = f"{n} votes with a direction are few: below {FEW_VOTES} the intervals are too short"
        return (told,)

    def shift_floors(self, delta: int) -> Votes:
        """The votes under floors moved by `delta` tool calls and turns each, not below 0 (A.1).

        Raises:
            VoteError: The votes carry excess alone, without the counts and floors behind it.
        """
        if self.counts_a is None or self.counts_b is None or self.floors is None:
            raise VoteError("moving the floors needs counts `c_*` and floors `f_tool`, `f_turn`")
        floors = np.maximum(0, self.floors + delta)
        return replace(
            self,
            floors=floors,
            excess_a=np.maximum(0, self.counts_a - floors),
            excess_b=np.maximum(0, self.counts_b - floors),
        )
