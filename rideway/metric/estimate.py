"""An estimate: a statistic with its value, or the reason why it has none, and its interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from rideway.metric.resample import FloatArray, Interval, interval

__all__ = ["Estimate", "defined_interval"]


class Estimate:
    """What every estimate can do; the records of a kind of statistic hold the fields.

    Attributes:
        statistic: Its name.
        value: The value; None where it is undefined.
        n: What it rests on.
        reason: Why the value is undefined, or what a reader of it must know; None if nothing.
        interval: Percentile interval over resamples, where asked for and defined.
    """

    __slots__ = ()

    statistic: str
    value: float | None
    n: int
    reason: str | None
    interval: Interval | None

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"{self.statistic} is undefined: {self.reason}")
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "statistic": self.statistic,
            "value": self.value,
            "n": self.n,
            **self._details(),
            "reason": self.reason,
            "interval": None if self.interval is None else self.interval.to_list(),
        }

    def _details(self) -> dict[str, Any]:
        """What a kind of statistic tells beside, JSON-ready."""
        return {}


def defined_interval(
    values: FloatArray, level: float, unit: str
) -> tuple[Interval | None, str | None]:
    """The interval over those resamples that have a value, and what is to be told of the others.

    Args:
        values: The statistic of each resample, (draws,); NaN where it is undefined.
        level: Level of the interval.
        unit: What was resampled.

    Returns:
        The interval, None where no resample has a value; the line for people, None where all do.
    """
    defined = values[~np.isnan(values)]
    lost = len(values) - len(defined)
    told = f"undefined in {lost} of {len(values)} resamples, which the interval leaves out"
    return interval(defined, level, unit) if defined.size else None, told if lost else None
