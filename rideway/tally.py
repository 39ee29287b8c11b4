"""Where long work with models stands: how much is done and owed, what it cost, why it stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from rideway.records import Usage
from rideway.workers import run_interruptibly

MOST_FAILURES_IN_A_ROW = 20
"""Jobs in a row that a provider may fail before the work stops by itself."""


@dataclass
class Tally:
    """Jobs and costs of one call; the kinds of work add what else they count.

    Attributes:
        total: Jobs in all.
        found: Of them, those that an earlier call finished.
        done: Those that this call finished.
        provider_errors: Jobs of this call that a provider failed: owed again, in no score.
        calls: Model calls of this call's jobs; likewise the tokens.
        tokens_unknown: Jobs whose provider did not say how many tokens they took.
        last_failure: What the provider's last failure was.
        stopping: Whether nothing new is begun any more.
        stopped: Why the work ended early, None where it did not.
    """

    total: int
    found: int
    done: int = 0
    provider_errors: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_unknown: int = 0
    last_failure: str = ""
    stopping: bool = False
    stopped: str | None = None
    started: float = field(default_factory=time.monotonic)
    _in_a_row: int = 0

    @property
    def owed(self) -> int:
        """Jobs that are still to be done."""
        return self.total - self.found - self.done

    @property
    def seconds(self) -> float:
        """Since the work began."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float | None:
        """At the rate so far; None before the first job is done."""
        return self.owed * self.seconds / self.done if self.done else None

    def spend(self, usage: Usage | None) -> None:
        """Add what one job cost; None where nothing keeps count of it."""
        if usage is None or not usage.calls:
            return
        self.calls += usage.calls
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            self.tokens_unknown += 1
        else:
            self.prompt_tokens += usage.prompt_tokens
            self.completion_tokens += usage.completion_tokens

    def finish(self) -> None:
        """Count one job as done."""
        self.done += 1
        self._in_a_row = 0

    def fail(self, reason: str, what: str) -> bool:
        """Count one job that a provider failed; True where so many in a row end the work."""
        self.provider_errors += 1
        self.last_failure = reason
        self._in_a_row += 1
        if self._in_a_row < MOST_FAILURES_IN_A_ROW:
            return False
        self.stopped = f"{self._in_a_row} {what} in a row failed, last: {reason}"
        return True

    def line(self) -> str:
        """One line of progress."""
        return self.describe("jobs")

    def describe(self, unit: str, *oddities: str) -> str:
        """One line: jobs, rate, tokens, failures and oddities, time left."""
        parts = [
            f"{self.found + self.done}/{self.total} {unit}",
            f"{60 * self.done / max(self.seconds, 1e-9):.1f} a minute",
            f"{self.calls:,} calls",
            f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens",
        ]
        if self.tokens_unknown:
            parts.append(f"tokens of {self.tokens_unknown} unknown")
        if self.provider_errors:
            last = f"; last: {self.last_failure[:160]}" if self.last_failure else ""
            parts.append(f"{self.provider_errors} provider errors (owed again{last})")
        parts += oddities
        left = self.seconds_left
        if self.stopping and not self.stopped:
            parts.append("finishing what is under way; interrupt again to stop at once")
        elif left is not None and self.owed:
            parts.append(f"{int(left) // 3600}:{int(left) % 3600 // 60:02d} left")
        return ", ".join(parts)


T = TypeVar("T", bound=Tally)


def run_counted(
    state: T,
    main: Callable[[asyncio.Event], Awaitable[None]],
    progress: Callable[[T], None] | None,
) -> None:
    """Runs `main(stop)` to its end or to an interrupt, of which the state comes to tell.

    The first interrupt sets `stop` and is told at once, the second cancels `main`.
    """

    def interrupted() -> None:
        state.stopping = True
        if progress is not None:
            progress(state)

    if run_interruptibly(main, interrupted) and state.owed:
        state.stopped = "interrupted"
