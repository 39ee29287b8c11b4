"""How a command ends: its exit status, one line for what went wrong, quiet when its reader left."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from rideway.errors import InputError


def finish(work: Callable[[], int], program: str) -> int:
    """Run a command and return its exit status: its own, or 2, 1 or 130 for an error told here.

    An `InputError` is 2, a failure of the machine 1, an interrupt 130; each is one line on standard
    error that begins with `program`. A reader of the output that goes away, as `head` does, is no
    error. Anything else is a bug and propagates.
    """
    try:
        status = work()
        sys.stdout.flush()  # a short output meets its closed pipe here, and not when Python exits
    except InputError as error:
        _tell(program, str(error))
        status = 2
    except BrokenPipeError:
        status = 0
    except KeyboardInterrupt:
        _tell(program, "stopped")
        status = 130
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        _tell(program, f"{place}{error.strerror or error}")
        status = 1
    finally:
        _let_go()
    return status


def _tell(program: str, text: str) -> None:
    print(f"{program}: {text}", file=sys.stderr)


def _let_go() -> None:
    """Drop what standard output can no longer take, lest Python complain about it on exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
