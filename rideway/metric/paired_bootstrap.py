"""Paired bootstrap: how several methods do over the same resamples of votes (paper 7.3, B.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rideway.metric.comparators import Signs, preferred
from rideway.metric.estimate import defined_interval
from rideway.metric.resample import FloatArray, Interval, Seed, resampled_sums
from rideway.metric.votes import Votes

__all__ = ["STATISTICS", "PairedBootstrap", "ResampleUnit"]

STATISTICS = ("coverage", "accuracy", "tau_b", "paired_tau")
ResampleUnit = Literal["vote", "pair", "task"]


@dataclass(frozen=True, slots=True, eq=False)
class PairedBootstrap:
    """Right and wrong answers of methods over common resamples of the directional votes.

    Attributes:
        sums: Summed weights of each resample, (draws,): `total` of all votes, `NAME right` and
            `NAME wrong` of each method; empty where no vote names a side.
        level: Level of the intervals.
        unit: What is resampled.
    """

    sums: dict[str, FloatArray]
    level: float
    unit: ResampleUnit

    @classmethod
    def of(
        cls,
        votes: Votes,
        answers: Mapping[str, Signs],
        *,
        draws: int,
        level: float,
        seed: Seed,
        unit: ResampleUnit,
    ) -> PairedBootstrap:
        """The resamples of some votes.

        Args:
            votes: The votes.
            answers: Signed answers of each method, (n,), by its name.
            draws: Number of resamples.
            level: Level of the intervals.
            seed: Seed of the resamples.
            unit: What is resampled: `vote`, or all votes of a `pair` or a `task` together.

        Raises:
            VoteError: The votes do not name the unit.
        """
        held = votes.directional
        if not held.any():
            return cls({}, level, unit)
        truth, w = preferred(votes.preference)[held], votes.weight[held]
        columns = {"total": w}
        for name, answer in answers.items():
            match = answer[held] * truth
            columns[f"{name} right"], columns[f"{name} wrong"] = w * (match > 0), w * (match < 0)
        groups = None
        if unit != "vote":
            groups = [g for g, kept in zip(votes.groups(unit), held, strict=True) if kept]
        sums = resampled_sums(np.column_stack(list(columns.values())), draws, seed, groups)
        return cls(dict(zip(columns, sums.T, strict=True)), level, unit)

    def statistics(self, name: str) -> dict[str, FloatArray]:
        """`STATISTICS` of a method in every resample, (draws,); NaN where undefined."""
        if not self.sums:
            return dict.fromkeys(STATISTICS, np.empty(0))
        right, wrong = self.sums[f"{name} right"], self.sums[f"{name} wrong"]
        answered, total = right + wrong, self.sums["total"]
        with np.errstate(divide="ignore", invalid="ignore"):
            return {
                "coverage": answered / total,
                "accuracy": right / answered,
                "tau_b": (right - wrong) / np.sqrt(answered * total),
                "paired_tau": (right - wrong) / total,
            }

    def interval(self, values: FloatArray) -> Interval | None:
        """The interval over resamples that have a value (`Interval.draws` says how many)."""
        return defined_interval(values, self.level, self.unit)[0]
