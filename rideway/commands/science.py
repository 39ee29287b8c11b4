"""`rideway calibrate`, `validate` and `reproduce`: penalties, their validity, the paper."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rideway.commands.resampling import check_draws, check_level
from rideway.commands.terminal import natural
from rideway.commands.vote_files import votes_of
from rideway.errors import InputError

if TYPE_CHECKING:
    from rideway.metric.fitted import PenaltyBootstrap
    from rideway.metric.validate import Validation
    from rideway.metric.votes import Votes
    from rideway.reproduce import Reproduction

_VOTES = "table of votes (.jsonl, .csv, .parquet), or the name of a data set on the Hub"


def add_to(commands: Any) -> None:
    """Add the commands of this module to the parser."""
    _add_calibrate(commands)
    _add_validate(commands)
    _add_reproduce(commands)


def _add_votes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("votes", metavar="VOTES", help=_VOTES)
    parser.add_argument(
        "--trajectories",
        nargs="+",
        default=[],
        metavar="FILE",
        help="where the trajectories are that the votes name, if the votes carry no counts",
    )
    parser.add_argument("--floors", metavar="FILE", help="floors of the tasks, likewise")
    parser.add_argument("--gamma", type=float, default=0.3, help="regulariser (default 0.3)")
    parser.add_argument("--level", type=float, default=0.9, help="level of intervals (default 0.9)")
    parser.add_argument(
        "--seed", type=natural, default=0, help="seed of the resampling (default 0)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="also draw a .png or .svg")


# --- calibrate --------------------------------------------------------------------------------


def _add_calibrate(commands: Any) -> None:
    parser = commands.add_parser(
        "calibrate",
        help="fit the two penalties to preference votes, with intervals",
        description=calibrate.__doc__,
    )
    _add_votes(parser)
    parser.add_argument(
        "--bootstrap",
        type=natural,
        default=2500,
        metavar="B",
        help="resamples; 0 leaves intervals out",
    )
    parser.add_argument(
        "--unit",
        choices=("vote", "pair", "task", "index"),
        default="vote",
        help="what is resampled (default: votes)",
    )
    parser.add_argument(
        "--unconstrained", action="store_true", help="do not require penalties of at least 0"
    )
    parser.set_defaults(command=calibrate)


def calibrate(arguments: argparse.Namespace) -> int:
    """Fit lambda_tool and lambda_turn to preference votes by Bradley-Terry on excess effort."""
    from rideway.metric.calibrate import bootstrap_penalties, fit_penalties

    check_draws("--bootstrap", arguments.bootstrap, least=0)
    check_level(arguments.level)
    votes = votes_of(arguments)
    options = {"gamma": arguments.gamma, "nonnegative": not arguments.unconstrained}
    if arguments.bootstrap == 0:
        if arguments.plot:
            raise InputError("--plot draws the resamples: leave out --bootstrap 0")
        fit = fit_penalties(votes, **options)
        _show(fit.to_dict(), _calibration_text(fit.rows(), fit.to_dict()), arguments.json)
        return 0
    boot = bootstrap_penalties(
        votes,
        B=arguments.bootstrap,
        level=arguments.level,
        seed=arguments.seed,
        unit=arguments.unit,
        **options,
    )
    if arguments.plot:
        _draw_calibration(votes, boot, arguments.plot)
    _show(boot.to_dict(), _calibration_text(boot.rows(), boot.to_dict()), arguments.json)
    return 0


def _calibration_text(rows: Sequence[dict[str, Any]], document: dict[str, Any]) -> str:
    from rideway.render import interval, number, plural, table

    header = ["", "estimate"]
    shown = [[str(row["parameter"]), number(row["estimate"], 4)] for row in rows]
    if document["bootstrap"]:
        header += [f"{100 * document['level']:.0f} % interval", "median"]
        for line, row in zip(shown, rows, strict=True):
            ends = None if row["lo"] is None else (row["lo"], row["hi"])
            line += [interval(ends, 4), number(row["median"], 4)]
    ties = plural(document["n_ties"], "tie")
    head = f"{plural(document['n'], 'vote')} ({ties}), gamma {document['gamma']:g}"
    if document["bootstrap"]:
        head += f", {document['bootstrap']} resamples by {document['bootstrap_unit']}"
    return f"{head}\n\n{table(header, shown)}{_warnings(document)}"


def _draw_calibration(votes: Votes, boot: PenaltyBootstrap, path: Path) -> None:
    from rideway.plots import likelihood_contour

    _save(likelihood_contour(votes, boot).figure, path)


# --- validate ---------------------------------------------------------------------------------


def _add_validate(commands: Any) -> None:
    parser = commands.add_parser(
        "validate",
        help="how well penalties foretell held-out preference votes",
        description=validate.__doc__,
    )
    _add_votes(parser)
    parser.add_argument(
        "--penalties",
        type=Path,
        metavar="FILE",
        help="JSON with a and b, or lambda_tool and lambda_turn (default: the published ones)",
    )
    parser.add_argument(
        "--calibration",
        metavar="VOTES",
        help="votes of other tasks to refit on: moved floors, gamma sweep, unconstrained fit",
    )
    parser.add_argument(
        "--bootstrap", type=natural, default=10_000, metavar="B", help="resamples (default 10000)"
    )
    parser.add_argument(
        "--unit", choices=("vote", "pair", "task"), default="vote", help="what is resampled"
    )
    parser.set_defaults(command=validate)


def validate(arguments: argparse.Namespace) -> int:
    """Coverage, accuracy and tau of Efficiency Utility and six simpler rules on held-out votes."""
    from rideway.metric.fitted import read_penalties
    from rideway.metric.utility import PUBLISHED_PENALTIES
    from rideway.metric.validate import validate_preferences

    check_draws("--bootstrap", arguments.bootstrap)
    check_level(arguments.level)
    penalties = PUBLISHED_PENALTIES
    if arguments.penalties is not None:
        penalties = read_penalties(arguments.penalties)
    found = validate_preferences(
        votes_of(arguments),
        penalties,
        calibration=arguments.calibration,
        gamma=arguments.gamma,
        draws=arguments.bootstrap,
        level=arguments.level,
        seed=arguments.seed,
        unit=arguments.unit,
    )
    if arguments.plot:
        _draw_validation(found, arguments.plot)
    _show(found.to_dict(), _validation_text(found), arguments.json)
    return 0


def _validation_text(found: Validation) -> str:
    from rideway.render import interval, number, plural, table

    document = found.to_dict()
    methods = [
        [
            result.label,
            number(values["coverage"], 2),
            number(values["accuracy"]),
            interval(values["intervals"]["accuracy"], 2),
            number(values["tau_b"]),
            number(values["paired_tau"]),
            str(values["n_answered"]),
        ]
        for result, values in ((r, r.to_dict()) for r in found.methods.values())
    ]
    header = ("method", "coverage", "accuracy", "interval", "tau_b", "paired tau", "answered")
    strata = [
        [name, str(s["n"]), number(s["accuracy"]), interval(s["interval"], 2)]
        for name, s in ((name, s.to_dict()) for name, s in found.strata.items())
    ]
    head = (
        f"{plural(found.n, 'vote')}, {found.n_directional} with a direction; a {found.a:.4f}, "
        f"b {found.b:.4f}; {100 * found.level:.0f} % intervals by {found.draws} resamples "
        f"by {found.unit}"
    )
    minus = document["intervals"]
    blocks = [
        head,
        table(header, methods),
        "Efficiency Utility minus turn-first: accuracy "
        f"{interval(minus['accuracy_minus_turn_first'], 2)}, "
        f"paired tau {interval(minus['paired_tau_minus_turn_first'], 2)}",
        table(("votes that differ", "n", "accuracy", "interval"), strata),
        f"log-loss {number(document['reliability']['log_loss'])} (a coin: 0.693)",
        _refits_text(document),
    ]
    return "\n\n".join(block for block in blocks if block) + _warnings(document)


def _refits_text(document: dict[str, Any]) -> str:
    from rideway.render import number, table

    refits = [(f"floors {next(iter(r.values())):+g}", r) for r in document["floor_perturbation"]]
    refits += [(f"gamma {r['gamma']:g}", r) for r in document["gamma_sweep"]]
    if document["unconstrained"] is not None:
        refits.append(("no bound", document["unconstrained"]))
    rows = [
        (
            what,
            number(refit["a"], 4),
            number(refit["b"], 4),
            number(refit["accuracy"]),
            number(refit["paired_tau"]),
            number(refit["log_loss"]),
        )
        for what, refit in refits
    ]
    header = ("refitted under", "a", "b", "accuracy", "paired tau", "log-loss")
    return table(header, rows) if rows else ""


def _draw_validation(found: Validation, path: Path) -> None:
    from rideway.plots import validation_panels

    _save(validation_panels(found), path)


# --- reproduce --------------------------------------------------------------------------------


def _add_reproduce(commands: Any) -> None:
    parser = commands.add_parser(
        "reproduce",
        help="every number of the paper: printed, recomputed, verdict",
        description=reproduce.__doc__,
    )
    parser.add_argument(
        "--rows",
        type=Path,
        metavar="DIR",
        help="files of rows that take the place of the constructed ones (see docs/reproduce.md)",
    )
    parser.add_argument(
        "--verdict", metavar="TEXT", help="list only numbers whose verdict begins with TEXT"
    )
    parser.add_argument("--all", action="store_true", help="list every number, not only tables")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=reproduce)


def reproduce(arguments: argparse.Namespace) -> int:
    """Every number of the paper beside what follows from published cells or constructed rows."""
    from rideway.reproduce import read_sets
    from rideway.reproduce import reproduce as recompute

    rows = None if arguments.rows is None else read_sets(arguments.rows)
    try:
        found = recompute(rows)
    except InputError as error:
        raise InputError(f"{arguments.rows}: {error}" if rows else str(error)) from None
    _show(found.to_dict(), _reproduction_text(found, arguments), arguments.json)
    return 0


def _reproduction_text(found: Reproduction, arguments: argparse.Namespace) -> str:
    from rideway.render import shorten, table

    verdicts = list(found.verdicts)
    wanted = arguments.verdict or ("" if arguments.all else "differs")
    if not any(verdict.startswith(wanted) for verdict in verdicts):
        raise InputError(f"--verdict {wanted}: the verdicts are {', '.join(verdicts)}")
    header = ("table", "numbers", *verdicts)
    rows = [(r["table"], r["numbers"], *(r[v] for v in verdicts)) for r in found.summary()]
    rows.append(("all", len(found), *found.verdicts.values()))
    listed = [row for row in found.rows() if row["verdict"].startswith(wanted)]
    columns = ("table", "row", "column", "printed", "recomputed", "from", "reading, note")
    cells = [
        (
            r["table"],
            shorten(r["row"], 30),
            shorten(r["column"], 26),
            r["printed"],
            r["recomputed"] or "-",
            r["data_kind"],
            "; ".join(text for text in (r["reading"], r["note"]) if text),
        )
        for r in listed
    ]
    title = wanted or "all numbers"
    blocks = [table(header, rows), f"{title}\n{table(columns, cells)}"]
    blocks.append(
        "Recomputed means that the number follows from other published cells: the paper agrees\n"
        "with itself there, which is no replication. Constructed rows test definitions; they are\n"
        "no evidence for the findings. docs/reproduce.md explains each difference."
    )
    return "\n\n".join(blocks)


# --- shared -----------------------------------------------------------------------------------


def _show(document: dict[str, Any], text: str, as_json: bool) -> None:
    if as_json:
        json.dump(document, sys.stdout, ensure_ascii=False, allow_nan=False, indent=1)
        print()
    else:
        print(text)


def _warnings(document: dict[str, Any]) -> str:
    lines: Iterable[str] = document["warnings"]
    return "".join(f"\nnote: {line}" for line in lines)


def _save(figure: Any, path: Path) -> None:
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:  # matplotlib knows no such ending
        raise InputError(f"{path}: {error}") from None
    print(f"rideway: drew {path}", file=sys.stderr)
