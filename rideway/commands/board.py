"""`rideway leaderboard` and `demo`: run folders ranked."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rideway.commands.terminal import Bar, natural, print_json, say
from rideway.errors import InputError

if TYPE_CHECKING:
    from rideway.leaderboard import Leaderboard


def add_to(commands: Any) -> None:
    """Add the commands of this module to the parser."""
    _add_demo(commands)
    _add_leaderboard(commands)


# --- leaderboard ------------------------------------------------------------------------------


def _add_leaderboard(commands: Any) -> None:
    parser = commands.add_parser(
        "leaderboard",
        help="success, Pass@3, Pass^3 and utility of run folders, ranked",
        description=leaderboard.__doc__,
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="run folders")
    parser.add_argument(
        "--draws", type=natural, default=5000, help="resamples of tasks (default 5000)"
    )
    parser.add_argument("--level", type=float, default=0.9, help="level of intervals (default 0.9)")
    parser.add_argument(
        "--seed", type=natural, default=0, help="seed of the resampling (default 0)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=leaderboard)


def leaderboard(arguments: argparse.Namespace) -> int:
    """Rank the models of run folders by Efficiency Utility, with task-level intervals."""
    if arguments.draws < 0 or not 0 < arguments.level < 1:
        raise InputError("--draws must be at least 0 and --level between 0 and 1")
    board = rank_folders(arguments.folders, arguments.draws, arguments.level, arguments.seed)
    if arguments.json:
        print_json(board.to_dict())
    else:
        print(board_text(board))
    return 0


def rank_folders(
    folders: Sequence[Path], draws: int = 5000, level: float = 0.9, seed: int = 0
) -> Leaderboard:
    """The leaderboard of run folders; raises InputError where they hold no scored episode."""
    from rideway.leaderboard import leaderboard as rank
    from rideway.run_folder import RunFolder

    rows: list[dict[str, Any]] = []
    for folder in map(RunFolder, folders):
        rows += folder.trial_rows()
        judges = folder.judges()
        if len(judges) > 1:
            told = ", ".join(f"{n} by {name}" for name, n in judges.most_common())
            say(f"{folder.path}: its outcomes have several judges ({told}): judge the rest")
    if not rows:
        named = ", ".join(str(folder) for folder in folders)
        raise InputError(f"{named}: holds no scored episode: play one with `rideway run`")
    return rank(rows, draws=draws, level=level, seed=seed)


def board_text(board: Leaderboard) -> str:
    """The leaderboard as tables, one a scope."""
    from rideway.render import interval, number, percent, table

    header = ["", "model", "trials", "success", "Pass@3", "Pass^3", "U", "interval"]
    header += ["U of successes", "undecided", "lost"]
    blocks = []
    for scope, ranked in board.to_dict().items():
        rows = [
            (
                number(row["rank"]),
                row["model"],
                row["n"],
                percent(row["success_rate"]),
                number(row["pass_at_3"]),
                number(row["pass_hat_3"]),
                number(row["efficiency_utility"]),
                interval(row["interval"]),
                number(row["conditional_efficiency_utility"]),
                row["undecided"],
                row["provider_errors"],
            )
            for row in ranked
        ]
        if rows:
            blocks.append(f"{scope}\n{table(header, rows)}")
    notes = "".join(f"\nnote: {warning}" for warning in board.warnings)
    return "\n\n".join(blocks) + notes


# --- demo -------------------------------------------------------------------------------------


def _add_demo(commands: Any) -> None:
    parser = commands.add_parser(
        "demo",
        help="the whole benchmark on built-in agents, without network or key",
        description=demo.__doc__,
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the run folder there")
    parser.add_argument(
        "--trials", type=natural, default=3, help="attempts at each task (default 3)"
    )
    parser.add_argument(
        "--processes", type=natural, default=2, metavar="N", help="at once (default 2)"
    )
    parser.set_defaults(command=demo)


def demo(arguments: argparse.Namespace) -> int:
    """Play all tasks with the built-in agents, judge by checks, score, print the leaderboard."""
    from rideway.env.profiles import PROFILES
    from rideway.run import play
    from rideway.tasks import load_tasks

    agents = ["reference", *(f"profile:{name}" for name in PROFILES)]
    with tempfile.TemporaryDirectory(prefix="rideway-demo-") as scratch, Bar("episodes") as bar:
        out = arguments.out or Path(scratch)
        play(
            agents,
            load_tasks(),
            arguments.trials,
            out=out,
            processes=arguments.processes,
            progress=bar.to,
        )
        board = rank_folders([out])
        if arguments.out is not None:
            path = out / "leaderboard.json"
            text = json.dumps(board.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
            path.write_text(text + "\n", encoding="utf-8")
    print(board_text(board))
    print("\nAgents are scripted, floors are authored references: no human measured either.")
    return 0
