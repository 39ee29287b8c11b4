"""What one row of a small table says, field by field: rows come from `rideway.tables.read_rows`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MOST_NAMES = 8


def text(row: Mapping[str, Any], *spellings: str) -> str | None:
    """The first filled field of these names as text; None where all are empty or missing."""
    for name in spellings:
        if row.get(name) not in (None, ""):
            return str(row[name])
    return None


def whole(value: Any) -> int | None:
    """A whole number of at least 0, as a number or in digits; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() and number >= 0 else None


def field_names(row: Mapping[str, Any]) -> str:
    """Names of the fields of a row in the order of the table, for messages."""
    names = [str(name) for name in row if name is not None]
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
