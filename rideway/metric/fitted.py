"""What a calibration returns: the fitted penalties, their intervals, and their JSON shape."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rideway.errors import InputError
from rideway.metric.identifiability import FitStatus
from rideway.metric.resample import FloatArray, Interval
from rideway.metric.utility import Penalties

__all__ = ["Matrix", "PenaltyBootstrap", "PenaltyFit", "Unit", "read_penalties"]

Matrix = tuple[tuple[float, float], tuple[float, float]]
Unit = Literal["vote", "pair", "task", "index"]


@dataclass(frozen=True, slots=True)
class PenaltyFit:
    """Fitted log-penalties of one excess tool call (`a`) and one excess turn (`b`).

    Attributes:
        a: Log-penalty of one excess tool call.
        b: Log-penalty of one excess turn.
        n: Votes read.
        n_ties: Votes that name no side.
        n_equal: Votes whose sides have equal excess on both axes: they say nothing.
        gamma: Weight of the regulariser that these numbers minimise.
        loss: The objective at the optimum: sum of cross-entropies plus regulariser.
        log_loss: Mean cross-entropy of a vote, weights respected.
        hessian: Second derivatives of the objective in (a, b), regulariser included.
        covariance: Inverse of `hessian`, the normal approximation; None where it is singular.
        nonnegative: Whether a, b >= 0 was required.
        unconstrained: Optimum without that requirement; None where there is no finite one.
        status: How far the votes determine the numbers; `warnings` say it in words.
        warnings: What a reader of the numbers must know.
    """

    a: float
    b: float
    n: int
    n_ties: int
    n_equal: int
    gamma: float
    loss: float
    log_loss: float
    hessian: Matrix
    covariance: Matrix | None
    nonnegative: bool
    unconstrained: tuple[float, float] | None
    status: FitStatus
    warnings: tuple[str, ...]

    @property
    def lambda_tool(self) -> float:
        """Discount per excess tool call, exp(-a)."""
        return math.exp(-self.a)

    @property
    def lambda_turn(self) -> float:
        """Discount per excess turn, exp(-b)."""
        return math.exp(-self.b)

    @property
    def ratio_b_over_a(self) -> float | None:
        """How many excess tool calls one excess turn weighs; None where a is 0."""
        return self.b / self.a if self.a != 0 else None

    @property
    def ratio_a_over_b(self) -> float | None:
        """How many excess turns one excess tool call weighs; None where b is 0."""
        return self.a / self.b if self.b != 0 else None

    @property
    def penalties(self) -> Penalties:
        """What `efficiency_utility` takes. Raises ValueError where a or b is negative."""
        return Penalties.from_costs(self.a, self.b)

    @property
    def slack(self) -> bool:
        """Whether a, b >= 0 changes nothing: the unconstrained optimum already fulfils it."""
        return self.unconstrained == (self.a, self.b)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of `calibrate --json`, without intervals."""
        return {
            "a": self.a,
            "b": self.b,
            "lambda_tool": self.lambda_tool,
            "lambda_turn": self.lambda_turn,
            "ratio_b_over_a": self.ratio_b_over_a,
            "n": self.n,
            "n_ties": self.n_ties,
            "n_equal": self.n_equal,
            "gamma": self.gamma,
            "loss": self.loss,
            "log_loss": self.log_loss,
            "nonnegative": self.nonnegative,
            "slack": self.slack,
            "unconstrained": None if self.unconstrained is None else list(self.unconstrained),
            "status": self.status.value,
            "warnings": list(self.warnings),
            "bootstrap": 0,
        }

    def rows(self) -> list[dict[str, float | str | None]]:
        """One row a parameter, for a table."""
        return [{"parameter": name, "estimate": value} for name, value in _parameters(self).items()]


@dataclass(frozen=True, slots=True, eq=False)
class PenaltyBootstrap:
    """Percentile intervals of a calibration.

    Attributes:
        fit: The point estimate.
        samples: (a, b) of every resample that has an optimum, (draws, 2).
        intervals: Of `a`, `b`, `lambda_tool`, `lambda_turn`, `a_over_b`, `b_over_a`; None where an
            end is infinite or undefined, which `warnings` explain.
        medians: Medians of the same; None likewise.
        draws: Resamples asked for.
        unit: What was resampled.
        level: Level of the intervals.
        seed: The seed, where it was a number.
        warnings: What a reader must know, those of the fit included.
    """

    fit: PenaltyFit
    samples: FloatArray
    intervals: dict[str, Interval | None]
    medians: dict[str, float | None]
    draws: int
    unit: Unit
    level: float
    seed: int | None
    warnings: tuple[str, ...]

    @property
    def at_zero(self) -> tuple[float, float]:
        """Shares of resamples in which a, and b, is 0 or less."""
        below = (self.samples <= 0).mean(axis=0) if len(self.samples) else np.zeros(2)
        return float(below[0]), float(below[1])

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of `calibrate --json`."""
        return self.fit.to_dict() | {
            "intervals": {
                name: None if found is None else found.to_list()
                for name, found in self.intervals.items()
            },
            "bootstrap": self.draws,
            "bootstrap_unit": self.unit,
            "level": self.level,
            "seed": self.seed,
            "medians": self.medians,
            "undefined_resamples": self.draws - len(self.samples),
            "share_at_zero": dict(zip("ab", self.at_zero, strict=True)),
            "warnings": list(self.warnings),
        }

    def rows(self) -> list[dict[str, float | str | None]]:
        """One row a parameter with its interval, for a table."""
        out: list[dict[str, float | str | None]] = []
        for name, value in _parameters(self.fit).items():
            found = self.intervals[name]
            lo, hi = (None, None) if found is None else (found.lo, found.hi)
            median = self.medians[name]
            out.append({"parameter": name, "estimate": value, "lo": lo, "hi": hi, "median": median})
        return out


_PAIRS = (("a", "b"), ("lambda_tool", "lambda_turn"))
_ROUNDING = 1e-3  # discounts and costs printed with three digits differ by less


def read_penalties(path: str | Path) -> Penalties:
    """Penalties from a JSON file: `a` and `b`, or `lambda_tool` and `lambda_turn`.

    A file may hold both pairs, as `rideway calibrate --json` writes them.

    Raises:
        InputError: The file holds neither pair or half of one, a value cannot be a penalty, or the
            two pairs contradict each other by more than rounding.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from None
    costs, discounts = (_pair(document, names, path) for names in _PAIRS)
    try:
        by_costs = None if costs is None else Penalties.from_costs(*costs)
        by_discounts = None if discounts is None else Penalties.from_lambdas(*discounts)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    if by_costs is not None and by_discounts is not None:
        for cost, discount in zip(*_PAIRS, strict=True):
            said = getattr(by_costs, discount)
            if abs(said - getattr(by_discounts, discount)) > _ROUNDING:
                raise InputError(
                    f"{path}: `{cost}` {document[cost]:g} makes {discount} {said:.4f}, but "
                    f"`{discount}` is {document[discount]:g}; keep the pair that you mean"
                )
    found = by_costs or by_discounts
    if found is None:
        raise InputError(f"{path}: needs numbers {_needed()}")
    return found


def _pair(document: Any, names: tuple[str, str], path: str | Path) -> tuple[float, float] | None:
    """Both numbers of a pair; None where neither is there."""
    stated = [document.get(name) if isinstance(document, dict) else None for name in names]
    if stated == [None, None]:
        return None
    numbers = []
    for name, value in zip(names, stated, strict=True):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{path}: needs numbers {_needed()}; `{name}` is {value!r}")
        numbers.append(float(value))
    return numbers[0], numbers[1]


def _needed() -> str:
    return ", or ".join(" and ".join(f"`{name}`" for name in pair) for pair in _PAIRS)


def _parameters(fit: PenaltyFit) -> dict[str, float | None]:
    return {
        "a": fit.a,
        "b": fit.b,
        "lambda_tool": fit.lambda_tool,
        "lambda_turn": fit.lambda_turn,
        "a_over_b": fit.ratio_a_over_b,
        "b_over_a": fit.ratio_b_over_a,
    }
