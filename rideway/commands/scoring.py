"""`rideway score` and `rideway compare`: counts, utility and paired differences of run files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rideway.commands.resampling import check_draws, check_level
from rideway.commands.terminal import natural
from rideway.errors import InputError

if TYPE_CHECKING:
    from rideway.score import Score


def add_to(commands: Any) -> None:
    """Add the commands of this module to the parser."""
    _add_score(commands)
    _add_compare(commands)


def _add_score(commands: Any) -> None:
    parser = commands.add_parser(
        "score", help="Efficiency Utility of anybody's trajectory files", description=score.__doc__
    )
    _add_counting_options(parser)
    parser.add_argument("files", nargs="+", metavar="FILE", help="trajectory file; - reads stdin")
    parser.add_argument(
        "--records",
        type=natural,
        default=20,
        metavar="N",
        help="rows of tasks to print (default 20)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="also write the runs to .csv, .jsonl or .parquet"
    )
    parser.set_defaults(command=score)


def _add_counting_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", default="auto", help="name of a format (default: by content)")
    parser.add_argument(
        "--floors",
        default="auto",
        metavar="tasks|pool|reference|FILE",
        help="where floors come from (default: the benchmark's where it knows the tasks, "
        "else the lowest counts of the successful runs given); a FILE is a table of task_id, "
        "tool_floor, turn_floor and, where it is known, floor_source",
    )
    parser.add_argument(
        "--success",
        type=Path,
        metavar="FILE",
        help="table of outcomes: success (true or false) by id, or by task_id and trial; "
        "a column file or model tells equal ids apart",
    )
    parser.add_argument(
        "--assume-success", action="store_true", help="take runs without an outcome as successes"
    )
    parser.add_argument(
        "--text-beside-calls",
        choices=("format", "turn", "no-turn"),
        default="format",
        help="whether text in a message that also calls tools is a turn",
    )
    parser.add_argument(
        "--no-greeting", action="store_true", help="leave a harness's fixed greeting out of turns"
    )
    parser.add_argument(
        "--sub-agents",
        choices=("calls", "all", "none"),
        default="calls",
        help="count sub-agents' calls only (default), their text too, or nothing of them",
    )
    parser.add_argument("--lambda-tool", type=float, metavar="L", help="discount of an excess call")
    parser.add_argument("--lambda-turn", type=float, metavar="L", help="discount of an excess turn")


def score(arguments: argparse.Namespace) -> int:
    """Count tool calls and turns in trajectory files and score them with Efficiency Utility."""
    from rideway.report_text import score_text
    from rideway.score import RECORD_COLUMNS
    from rideway.tables import write_rows

    _spare_inputs(arguments)
    scored = _score(arguments.files, arguments)
    scored.runs.warnings.extend(scored.runs.repeated_trials())
    for warning in scored.runs.warnings:
        print(f"rideway: {warning}", file=sys.stderr)
    if arguments.out is not None:
        n = write_rows(arguments.out, RECORD_COLUMNS, scored.records())
        print(f"rideway: wrote {n} runs to {arguments.out}", file=sys.stderr)
    if arguments.json:
        _print_score_json(scored)
    else:
        print(score_text(scored, most_tasks=arguments.records))
    return 0


def _spare_inputs(arguments: argparse.Namespace) -> None:
    """Refuse to write over a file that is read."""
    if arguments.out is None or not arguments.out.exists():
        return
    for name in (*arguments.files, arguments.success, arguments.floors):
        if name is not None and Path(name).exists() and arguments.out.samefile(name):
            raise InputError(f"--out {arguments.out}: is an input; give another name")


def _score(files: Sequence[str], arguments: argparse.Namespace) -> Score:
    from rideway.floors import floors_for
    from rideway.metric.counts import CountingRule
    from rideway.outcomes import give_outcomes
    from rideway.render import plural
    from rideway.runs import count_runs
    from rideway.score import score_runs

    rule = CountingRule(
        text_beside_calls={"format": None, "turn": True, "no-turn": False}[
            arguments.text_beside_calls
        ],
        greeting=not arguments.no_greeting,
        sub_agents=arguments.sub_agents,
    )
    penalties = _penalties(arguments)
    if "" in files:
        raise InputError("a FILE has no name: it is an empty text")
    runs = count_runs(files, format=arguments.format, rule=rule)
    if arguments.success is not None:
        give_outcomes(runs, arguments.success)
    if arguments.assume_success:
        assumed = plural(runs.assume_success(), "run")
        runs.warnings.append(f"{assumed} without an outcome taken as successes, as asked")
    return score_runs(runs, floors_for(runs, arguments.floors), penalties)


def _penalties(arguments: argparse.Namespace) -> Any:
    from rideway.metric.utility import PUBLISHED_PENALTIES, Penalties

    tool, turn = arguments.lambda_tool, arguments.lambda_turn
    try:
        return Penalties(
            PUBLISHED_PENALTIES.lambda_tool if tool is None else tool,
            PUBLISHED_PENALTIES.lambda_turn if turn is None else turn,
        )
    except ValueError as error:
        raise InputError(f"--{str(error).replace('_', '-', 1)}") from None


def _print_score_json(scored: Score) -> None:
    """The document with its runs written one by one: they may be many."""
    head = json.dumps(scored.to_dict(records=False), ensure_ascii=False, allow_nan=False, indent=1)
    write = sys.stdout.write
    write(head.rstrip().removesuffix("}").rstrip() + ',\n "records": [')
    for i, record in enumerate(scored.records()):
        write(",\n  " if i else "\n  ")
        write(json.dumps(record, ensure_ascii=False, allow_nan=False))
    write("\n ]\n}\n")


def _add_compare(commands: Any) -> None:
    parser = commands.add_parser(
        "compare",
        help="two agents on the same tasks: paired differences with intervals",
        description=f"{compare.__doc__} A side is a FILE, or FILE@MODEL for one model of a file.",
    )
    parser.add_argument("a", metavar="A", help="FILE or FILE@MODEL")
    parser.add_argument("b", metavar="B", help="FILE or FILE@MODEL")
    _add_counting_options(parser)
    parser.add_argument(
        "--draws", type=natural, default=5000, help="resamples of tasks (default 5000)"
    )
    parser.add_argument("--level", type=float, default=0.9, help="level of intervals (default 0.9)")
    parser.add_argument(
        "--seed", type=natural, default=0, help="seed of the resampling (default 0)"
    )
    parser.add_argument(
        "--records",
        type=natural,
        default=10,
        metavar="N",
        help="rows of tasks to print (default 10)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=compare)


def compare(arguments: argparse.Namespace) -> int:
    """Compare two agents task by task; differences are B minus A."""
    from rideway.compare import compare_sides, side
    from rideway.render import plural
    from rideway.report_text import comparison_text

    check_draws("--draws", arguments.draws)
    check_level(arguments.level)
    sides = [_side_path(arguments.a), _side_path(arguments.b)]
    files = list(dict.fromkeys(path for path, _ in sides))
    scored = _score(files, arguments)
    for warning in scored.runs.warnings:
        print(f"rideway: {warning}", file=sys.stderr)
    masks = [side(scored.runs, path, model) for path, model in sides]
    if shared := int((masks[0] & masks[1]).sum()):
        print(f"rideway: {plural(shared, 'run')} on both sides: A is B there", file=sys.stderr)
    compared = compare_sides(
        scored,
        masks[0],
        masks[1],
        labels=(arguments.a, arguments.b),
        draws=arguments.draws,
        level=arguments.level,
        seed=arguments.seed,
    )
    if compared.differences["efficiency_utility"].tasks == 0:
        raise InputError(_why_no_pair(scored, (arguments.a, arguments.b), masks))
    if arguments.json:
        document = compared.to_dict() | {
            "floor_source": scored.floors.source,
            "floor_meaning": scored.floors.meaning,
            "floor_notes": list(scored.floors.notes),
        }
        print(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1))
    else:
        print(comparison_text(compared, scored, most_tasks=arguments.records))
    return 0


def _why_no_pair(scored: Score, labels: Sequence[str], sides: Sequence[Any]) -> str:
    """What keeps two sides from being compared: a side without scored runs, or other tasks."""
    for label, mask in zip(labels, sides, strict=True):
        if not (scored.scored & mask).any():
            reason = next(why for row, why in sorted(scored.unscored.items()) if mask[row])
            return f"{label}: none of its runs can be scored: {reason}"
    return f"{labels[0]} and {labels[1]}: no task has scored runs on both sides"


def _side_path(text: str) -> tuple[str, str | None]:
    """`FILE@MODEL` in its two halves; a file whose own name holds an @ stays whole."""
    if "@" not in text or Path(text).exists():
        return text, None
    path, _, model = text.partition("@")
    return path, model
