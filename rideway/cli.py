"""The command `rideway`: parsing of the call and its exit status; the commands are in `commands/`.

Nothing heavy is imported before a command runs, so that `rideway --help` answers at once. Results
go to standard output, progress and messages to standard error. Exit status: 0 done, 1 the work
failed, 2 the call or its input was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from rideway import __version__
from rideway.commands import board, play, register, science, scoring
from rideway.commands.exits import finish

Command = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    return finish(lambda: _run(argv), "rideway")


def _run(argv: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(argv)
    command: Command = arguments.command
    return command(arguments)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="rideway",
        description="How much did a successful agent make its user work?",
        epilog="`rideway COMMAND --help` tells the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"rideway {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for module in (board, play, scoring, science, register):
        module.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
