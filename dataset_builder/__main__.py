"""`python -m dataset_builder cities|tasks|published|check`: the package's data from its sources."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from dataset_builder.source_files import Faults, SourceError
from rideway.commands.exits import finish


def main(arguments: list[str] | None = None) -> int:
    """Runs one builder; 0 done, 1 the built files are stale (`--check`), 2 a source is wrong."""
    return finish(lambda: _run(arguments), "dataset_builder")


def _run(arguments: list[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dataset_builder", description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    _add_cities(parts)
    _add_tasks(parts)
    _add_published(parts)
    _add_check(parts)
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
    except SourceError as error:
        print(error, file=sys.stderr)
        return 2
    return status


def _add_cities(parts: Any) -> None:
    part = parts.add_parser("cities", help="the maps of the ride world")
    part.add_argument("slugs", nargs="*", metavar="CITY", help="only these (default: all)")
    part.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
    part.set_defaults(run=_cities)


def _cities(options: argparse.Namespace) -> int:
    from dataset_builder import cities

    return _tell(cities.build(options.slugs, check=options.check), options.check)


def _add_tasks(parts: Any) -> None:
    part = parts.add_parser("tasks", help="the benchmark's tasks, each one checked and played")
    part.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
    part.set_defaults(run=_tasks)


def _tasks(options: argparse.Namespace) -> int:
    from dataset_builder import tasks
    from rideway.tasks import load_tasks

    status = _tell(tasks.build(check=options.check), options.check)
    if status == 0:
        shipped = load_tasks()
        print(f"{len(shipped)} tasks")
        for axis, name in enumerate(("tool calls", "turns")):
            print(f"range of {name} over reference episodes: {tasks.spread(shipped, axis)}")
    return status


def _add_published(parts: Any) -> None:
    part = parts.add_parser("published", help="the paper's cells, and the constructed rows")
    part.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
    part.set_defaults(run=_published)


def _published(options: argparse.Namespace) -> int:
    from dataset_builder import published

    return _tell(published.build(check=options.check), options.check)


def _tell(stale: list[Path], check: bool) -> int:
    for path in stale:
        print(f"{'stale' if check else 'built'} {path.name}")
    return 1 if check and stale else 0


def _add_check(parts: Any) -> None:
    part = parts.add_parser("check", help="tells everything that is wrong with task files")
    part.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="a task file, or a folder"
    )
    part.add_argument(
        "--show",
        metavar="EPISODE",
        help="print one episode to read: brisk, plain, careful, profile:NAME or a violation's name",
    )
    part.add_argument(
        "--outcomes",
        action="store_true",
        help="list what violations, lazy agents and the profiles of traps came to (calls/turns)",
    )
    part.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    from dataset_builder.check import check_file

    faults = Faults()
    for given in options.files:
        paths = sorted(given.rglob("*.yaml")) if given.is_dir() else [given]
        if not paths:
            raise SourceError(f"{given}: holds no task file (*.yaml)")
        for path in paths:
            before = len(faults.lines)
            report = check_file(path, faults)
            if options.show:
                print(*report.show(options.show), sep="\n")
            if options.outcomes:
                print(*(f"{path.stem}: {line}" for line in report.outcomes), sep="\n")
            if len(faults.lines) == before:
                print(report.summary)
    faults.raise_any()
    return 0


if __name__ == "__main__":
    sys.exit(main())
