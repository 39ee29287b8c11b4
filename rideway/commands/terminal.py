"""What several commands share at the terminal: messages, one JSON document, progress."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any


def natural(text: str) -> int:
    """An option that is a whole number of at least 0; for `type=` of a parser."""
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, got {text!r}")
    return int(text)


def positive(text: str) -> int:
    """An option that is a whole number of at least 1; for `type=` of a parser."""
    if (number := natural(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return number


def measure(text: str) -> float:
    """An option that is a finite number of at least 0; for `type=` of a parser."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, got {text!r}")
    return number


def json_object(text: str) -> dict[str, Any]:
    """An option that is one JSON object; for `type=` of a parser."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"is no JSON ({error}): {text!r}") from None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f"must be a JSON object, got {text!r}")
    return found


def say(text: str) -> None:
    """A message on standard error."""
    print(f"rideway: {text}", file=sys.stderr)


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    json.dump(document, sys.stdout, ensure_ascii=False, allow_nan=False, indent=1)
    print()


class Bar:
    """A progress bar on standard error, only where somebody watches."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._bar: Any = None

    def to(self, done: int, total: int) -> None:
        """Show that `done` of `total` are done."""
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                total=total, initial=done - 1, unit=self._unit, disable=None, file=sys.stderr
            )
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()


class Line:
    """One line on standard error that is rewritten, or printed now and then to a file."""

    def __init__(self) -> None:
        self._watched = sys.stderr.isatty()
        self._shown = 0

    def show(self, text: str, *, urgent: bool = False) -> None:
        """Put `text` in the place of the line before; what is urgent is always printed."""
        if self._watched:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif urgent or self._shown % 25 == 0:
            print(text, file=sys.stderr, flush=True)
        self._shown += 1

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *error: object) -> None:
        if self._watched and self._shown:
            print(file=sys.stderr)
