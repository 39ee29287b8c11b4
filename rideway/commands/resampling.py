"""What the commands that resample ask of their options."""

from __future__ import annotations

from rideway.errors import InputError

_MOST_DRAWS = 100_000
"""Beyond it an interval no longer moves, while memory and time grow with every draw."""


def check_draws(option: str, draws: int, least: int = 1) -> None:
    """Refuse a number of resamples that gives no interval, or that no interval needs."""
    if not least <= draws <= _MOST_DRAWS:
        raise InputError(f"{option} must be between {least} and {_MOST_DRAWS}, got {draws}")


def check_level(level: float) -> None:
    """Refuse a level of intervals that is no share."""
    if not 0 < level < 1:
        raise InputError(f"--level must lie between 0 and 1, got {level:g}")
