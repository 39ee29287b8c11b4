"""`rideway tasks`, `run` and `judge`: the benchmark played and judged."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rideway.commands.board import board_text, rank_folders
from rideway.commands.terminal import (
    Bar,
    Line,
    json_object,
    measure,
    natural,
    positive,
    print_json,
    say,
)
from rideway.errors import InputError

if TYPE_CHECKING:
    from rideway.records import Task

_BUILT_IN = ("reference", "profile")


def add_to(commands: Any) -> None:
    """Add the commands of this module to the parser."""
    _add_tasks(commands)
    _add_run(commands)
    _add_judge(commands)


# --- tasks ------------------------------------------------------------------------------------


def _add_tasks(commands: Any) -> None:
    parser = commands.add_parser(
        "tasks", help="list the benchmark's tasks, or show one", description=tasks.__doc__
    )
    parser.add_argument("task_id", nargs="?", metavar="ID", help="with or without its split")
    parser.add_argument("--split", choices=("rh44", "custom14"), help="only this split")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=tasks)


def tasks(arguments: argparse.Namespace) -> int:
    """List the tasks with their floors, or show one in full."""
    from rideway.tasks import load_task, load_tasks

    if arguments.task_id is not None:
        task = load_task(arguments.task_id)
        if arguments.json:
            print_json(task.model_dump(mode="json"))
        else:
            print(_task_text(task))
        return 0
    found = load_tasks(arguments.split)
    if arguments.json:
        print_json([task.model_dump(mode="json") for task in found])
    else:
        print(_tasks_text(found))
    return 0


def _tasks_text(found: Sequence[Task]) -> str:
    from rideway.render import plural, table

    header = ("task", "city", "tools", "turns", "rubrics", "tags")
    rows = [
        (
            f"{t.split}/{t.task_id}",
            t.city,
            t.floors.tool,
            t.floors.turn,
            len(t.rubrics),
            ", ".join(t.capability_tags),
        )
        for t in found
    ]
    source = found[0].floors.source if found else "none"
    foot = f"{plural(len(found), 'task')}; floors: {source}, no human measured them"
    return f"{table(header, rows)}\n\n{foot}"


def _task_text(task: Task) -> str:
    from rideway.render import pairs

    floors = f"{task.floors.tool} tool calls, {task.floors.turn} turns ({task.floors.source})"
    head = pairs(
        [
            ("task", f"{task.split}/{task.task_id}"),
            ("city", task.city),
            ("tags", ", ".join(task.capability_tags)),
            ("floors", floors),
            ("episodes", ", ".join(f"{calls}/{turns}" for calls, turns in task.floors.counts)),
        ]
    )
    rubrics = "\n".join(f"  {i}. {item.text}" for i, item in enumerate(task.rubrics, 1))
    return (
        f"{head}\n\n人物：{task.persona}\n\n{task.scenario.strip()}\n\n"
        f"开场：{task.initial_query}\n\n评分项：\n{rubrics}"
    )


# --- run --------------------------------------------------------------------------------------


def _add_run(commands: Any) -> None:
    parser = commands.add_parser(
        "run", help="play the benchmark with an agent; resumes by itself", description=run.__doc__
    )
    parser.add_argument(
        "--agent",
        action="append",
        required=True,
        metavar="SPEC",
        help="reference, profile:NAME, openai:MODEL or python:module:factory; may be repeated",
    )
    parser.add_argument("--user", default="agenda", help="agenda (default) or openai:MODEL")
    _add_endpoint(parser, "the agent models")
    parser.add_argument("--tasks", default="*", metavar="GLOB", help="tasks by id, such as rh44/*")
    parser.add_argument(
        "--trials", type=positive, default=3, help="attempts at each task (default 3)"
    )
    parser.add_argument("--seed", type=natural, default=0, help="seed of the run (default 0)")
    parser.add_argument(
        "--concurrency",
        type=positive,
        metavar="N",
        help="episodes under way at once (models: 16; built-in agents: processes, 1)",
    )
    parser.add_argument("--temperature", type=measure, default=0.0, help="of the agent model")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="run folder")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Play agents x tasks x trials into a run folder; what the folder has is not played again."""
    chosen = _chosen(arguments.tasks)
    built_in = all(spec.partition(":")[0] in _BUILT_IN for spec in arguments.agent)
    if built_in and arguments.user == "agenda":
        return _run_built_in(arguments, chosen)
    return _run_models(arguments, chosen)


def _run_built_in(arguments: argparse.Namespace, chosen: Sequence[Task]) -> int:
    from rideway.run import play

    with Bar("episodes") as bar:
        done = play(
            arguments.agent,
            chosen,
            arguments.trials,
            out=arguments.out,
            seed=arguments.seed,
            processes=arguments.concurrency or 1,
            progress=bar.to,
        )
    say(f"{done.played} episodes played, {done.found} found, in {arguments.out}")
    print(board_text(rank_folders([arguments.out])))
    return 0


def _run_models(arguments: argparse.Namespace, chosen: Sequence[Task]) -> int:
    from rideway.cast import Cast
    from rideway.chatmodel import Sampling
    from rideway.model_run import play_models
    from rideway.retry import Patience

    concurrency = arguments.concurrency or 16
    sampling = {"temperature": arguments.temperature, "seed": arguments.seed}
    if arguments.max_tokens is not None:
        sampling["max_tokens"] = arguments.max_tokens
    cast = Cast(
        arguments.agent,
        arguments.user,
        base_url=arguments.base_url,
        sampling=Sampling(**sampling),
        extra=arguments.extra,
        concurrency=concurrency,
        patience=Patience(attempt_seconds=arguments.timeout),
    )
    with Line() as line:
        state = play_models(
            cast,
            chosen,
            arguments.trials,
            out=arguments.out,
            seed=arguments.seed,
            concurrency=concurrency,
            progress=lambda state: line.show(state.line(), urgent=state.stopping),
        )
    say(state.line())
    if state.stopped:
        say(f"stopped: {state.stopped}; the same command goes on where it stopped")
    if state.found + state.done:
        print(board_text(rank_folders([arguments.out])))
    return 1 if state.owed else 0


# --- judge ------------------------------------------------------------------------------------


def _add_judge(commands: Any) -> None:
    parser = commands.add_parser(
        "judge", help="a verdict for each trajectory of a run folder", description=judge.__doc__
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="run folder")
    parser.add_argument(
        "--panel",
        default="checks",
        metavar="checks|openai:M1,M2,M3",
        help="offline checks (default), or three distinct models, three passes each",
    )
    _add_endpoint(parser, "the judges")
    parser.add_argument(
        "--allow-self", action="store_true", help="let a judge grade its own episodes"
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="judge again what this panel judged under another configuration",
    )
    parser.add_argument(
        "--concurrency",
        type=positive,
        default=4,
        metavar="N",
        help="trajectories under way at once, nine calls each (default 4)",
    )
    parser.add_argument(
        "--compare-checks",
        action="store_true",
        help="how far the panel and the checks agree, per verdict and rubric item",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=judge)


def judge(arguments: argparse.Namespace) -> int:
    """Judge what has no verdict yet, by the offline checks or by a panel of three models."""
    from rideway.run_folder import RunFolder
    from rideway.tasks import load_tasks

    folder = RunFolder(arguments.folder)
    known = {task.task_id: task for task in load_tasks()}
    chosen = [known[name] for name in (t.rpartition("/")[2] for t in folder.config().tasks)]
    if arguments.panel == "checks":
        from rideway.run import judge_folder

        new = judge_folder(folder, chosen)
        say(f"{new} new verdicts by checks")
        status = 0
    else:
        status = _judge_by_models(arguments, folder, chosen)
    outcomes: dict[str, int] = {"pass": 0, "fail": 0, "undecided": 0}
    for verdict in folder.verdicts().values():
        outcomes[verdict.outcome] += 1
    document: dict[str, Any] = {"folder": str(arguments.folder), "outcomes": outcomes}
    if arguments.compare_checks:
        document["agreement"] = _agreement(folder, chosen)
    if arguments.json:
        print_json(document)
    else:
        print(", ".join(f"{n} {outcome}" for outcome, n in outcomes.items()))
        if arguments.compare_checks:
            print(_agreement_text(document["agreement"]))
    return status


def _judge_by_models(arguments: argparse.Namespace, folder: Any, chosen: Sequence[Task]) -> int:
    from rideway.panel import MOST_TOKENS
    from rideway.panel_run import judge_with_panel, panel_of_models
    from rideway.retry import Patience

    panel, endpoints = panel_of_models(
        arguments.panel,
        base_url=arguments.base_url,
        allow_self=arguments.allow_self,
        max_tokens=arguments.max_tokens or MOST_TOKENS,
        extra=arguments.extra,
        concurrency=9 * arguments.concurrency,
        patience=Patience(attempt_seconds=arguments.timeout),
    )
    with Line() as line:
        state = judge_with_panel(
            folder,
            chosen,
            panel,
            again=arguments.again,
            endpoints=endpoints,
            concurrency=arguments.concurrency,
            progress=lambda state: line.show(state.line(), urgent=state.stopping),
        )
    say(state.line())
    if state.stopped:
        say(f"stopped: {state.stopped}; the same command goes on where it stopped")
    return 1 if state.owed else 0


def _agreement(folder: Any, chosen: Sequence[Task]) -> dict[str, Any]:
    from rideway.panel_agreement import compare_with_checks

    verdicts = {
        name: verdict for name, verdict in folder.verdicts().items() if verdict.panel != "checks"
    }
    return compare_with_checks(chosen, folder.trajectories(), verdicts).to_dict()


def _agreement_text(agreement: dict[str, Any]) -> str:
    from rideway.render import number, table

    parts = [agreement["verdicts"], agreement["all_items"], *agreement["items"]]
    rows = [
        (
            p["what"],
            number(p["raw"] and p["raw"]["value"]),
            number(p["kappa"] and p["kappa"]["value"]),
            p["checks_only"],
            p["panel_only"],
            p["left_out"],
        )
        for p in parts
    ]
    header = ("of", "agreement", "kappa", "checks only", "panel only", "left out")
    return table(header, rows)


# --- shared --------------------------------------------------------------------------------------


def _add_endpoint(parser: argparse.ArgumentParser, whose: str) -> None:
    """Options of whoever asks models over the network; `whose` settings they are."""
    parser.add_argument("--base-url", metavar="URL", help="OpenAI-compatible endpoint of models")
    parser.add_argument(
        "--max-tokens", type=positive, metavar="N", help=f"limit of one answer of {whose}"
    )
    parser.add_argument(
        "--extra",
        type=json_object,
        metavar="JSON",
        help=f"further request fields of {whose}, in place of those that turn thinking off",
    )
    parser.add_argument(
        "--timeout",
        type=positive,
        default=180,
        metavar="SECONDS",
        help="limit of one try of a call (default 180)",
    )


def _chosen(pattern: str) -> list[Task]:
    """Tasks whose id, with or without its split, fits a shell pattern; several by commas."""
    from rideway.tasks import load_tasks

    patterns = pattern.split(",")
    found = [
        task
        for task in load_tasks()
        if any(
            fnmatch.fnmatchcase(task.task_id, p)
            or fnmatch.fnmatchcase(f"{task.split}/{task.task_id}", p)
            for p in patterns
        )
    ]
    if not found:
        raise InputError(f"--tasks {pattern}: fits no task; `rideway tasks` lists them")
    return found
