"""The votes that a command was given, with counts and floors from the other files it was given."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rideway.commands.terminal import say
from rideway.errors import InputError

if TYPE_CHECKING:
    from rideway.metric.votes import Columns, Votes

_COUNTS = frozenset({"c_tool_a", "c_turn_a", "c_tool_b", "c_turn_b"})


def votes_of(arguments: argparse.Namespace) -> Votes:
    """Votes with their counts, taken from trajectories where the votes only name these."""
    from rideway.metric.votes import read_columns, read_votes

    votes = read_columns(arguments.votes)
    efforts = floors = None
    if arguments.trajectories:
        if votes.columns.keys() >= _COUNTS:
            say(f"{arguments.votes}: has counts of its own: --trajectories is not read")
        else:
            efforts = _efforts(arguments.trajectories, votes)
    if arguments.floors:
        if {"f_tool", "f_turn"} <= votes.columns.keys():
            say(f"{arguments.votes}: has floors of its own: --floors is not read")
        elif efforts is None and not votes.columns.keys() >= _COUNTS:
            say(f"{arguments.votes}: has no counts above any floors: --floors is not read")
        else:
            from rideway.floors import read_floor_file

            table = read_floor_file(Path(arguments.floors))
            floors = {name: (float(floor.tool), float(floor.turn)) for name, floor in table.items()}
    return read_votes(votes, efforts=efforts, floors=floors)


def _efforts(files: Sequence[str], votes: Columns) -> dict[str, tuple[int, int]]:
    """Counts of the trajectories that the votes name, by id.

    Raises:
        InputError: A named id stands for two runs of different counts, or its run has none.
    """
    from rideway.runs import UNKNOWN, count_runs

    runs = count_runs(files)
    for warning in runs.warnings:
        say(warning)
    ends = (votes.columns.get(f"trajectory_{side}", ()) for side in "ab")
    named = {str(name) for column in ends for name in column}
    columns = (runs.column(count).tolist() for count in ("tool_calls", "turns"))
    counted = list(zip(*columns, strict=True))
    efforts: dict[str, tuple[int, int]] = {}
    for row, (name, effort) in enumerate(zip(runs.ids, counted, strict=True)):
        if name not in named:
            continue
        if UNKNOWN in effort:
            raise InputError(f"{runs.file_of(row)}: {name}: {runs.apart[row]}")
        if efforts.setdefault(name, effort) != effort:
            raise InputError(
                f"{runs.file_of(row)}: {name}: another run of this id has other counts: give only "
                "the files whose runs the votes name"
            )
    return efforts
