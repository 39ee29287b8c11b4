"""Tables written without sight of the code: what riders type and what agents say.

Rows were written from the maps and the agendas alone, before the first measurement. A miss stays a
miss: a row may only change where its own expectation was wrong. The faults of the first sample were
mended after it was measured (54 of 66 queries, 96 of 110 questions, 28 of 30 statements then); the
second was written after that and measured once (64 of 66, 91 of 100, 29 of 30).
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rideway.env import Environment
from rideway.env.agenda import AgendaUser
from rideway.records import Message, Task
from rideway.tasks import NoSuchTask, load_task

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data"
RIGHT = 0.9
CLOSING = "。！？；，、～…,.!?;~ "

Row = dict[str, str]


def rows(name: str) -> list[Row]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


QUERIES = {n: rows(f"poi_queries_blind{n}.csv") for n in ("", "2")}
MESSAGES = {n: rows(f"agent_questions_blind{n}.csv") for n in ("", "2")}


def of_kind(sample: str, kind: str) -> list[Row]:
    return [row for row in MESSAGES[sample] if row["kind"] == kind]


@cache
def task(task_id: str) -> Task:
    """The task as shipped, else of its source file; a source that does not read is an error."""
    try:
        return load_task(task_id)
    except NoSuchTask:
        from dataset_builder.source_files import Faults
        from dataset_builder.task_files import read_task

        (path,) = (ROOT / "dataset_builder/source/tasks").glob(f"*/{task_id}.yaml")
        faults = Faults()
        found = read_task(path, faults)
        faults.raise_any()
        assert found is not None
        return found


@cache
def city(name: str) -> Environment:
    return Environment.for_city(name)


@cache
def document(task_id: str) -> dict[str, Any]:
    return Environment.for_task(task(task_id), seed=0).document()


def items(row: Row) -> list[dict[str, Any]]:
    """The agenda items that a row names."""
    by_id = {str(item["id"]): dict(item) for item in task(row["task_id"]).agenda}
    return [by_id[name] for name in row["expected_items"].split("|")]


def answer(row: Row) -> str:
    """What the user says to one message of an agent, right after the opening request."""
    messages = (
        Message(role="user", content=task(row["task_id"]).initial_query),
        Message(role="assistant", content=row["question"]),
    )
    return str(AgendaUser(task(row["task_id"]), 0).reply(messages, document(row["task_id"])))


def told(item: dict[str, Any], text: str) -> bool:
    return any(say.rstrip(CLOSING) in text for say in item["say"])


def first_place(row: Row) -> str | None:
    """What is wrong with the first place that is found for a query; None where it is right."""
    found = city(row["city"]).call("search_poi", {"keyword": row["query"]}).get("places", [])
    first = [str(place["place_id"]) for place in found[:3]]
    right = first[:1] and first[0] in row["expected_ids"].split("|")
    return None if right else f"{row['city']} {row['query']}: {row['expected_ids']} <- {first}"


def untold(row: Row) -> str | None:
    """The items that a question should have drawn out and did not; None where all were told."""
    text = answer(row)
    missing = [item["id"] for item in items(row) if not told(item, text)]
    return f"{row['task_id']} {row['question']}: {missing} not in {text!r}" if missing else None


def drawn(row: Row) -> str | None:
    """The items that a mere statement drew out; None where there were none."""
    text = answer(row)
    found = [item["id"] for item in items(row) if told(item, text)]
    return f"{row['task_id']} {row['question']}: {found} in {text!r}" if found else None


@pytest.mark.parametrize(
    ("table", "fault", "count"),
    [
        pytest.param(QUERIES[""], first_place, 66, id="search"),
        pytest.param(QUERIES["2"], first_place, 66, id="search, second sample"),
        pytest.param(of_kind("", "ask"), untold, 110, id="questions"),
        pytest.param(of_kind("2", "ask"), untold, 100, id="questions, second sample"),
        pytest.param(of_kind("", "statement"), drawn, 30, id="statements"),
        pytest.param(of_kind("2", "statement"), drawn, 30, id="statements, second sample"),
    ],
)
def test_nine_in_ten_rows_are_right(
    table: Sequence[Row], fault: Callable[[Row], str | None], count: int
) -> None:
    misses = [found for row in table if (found := fault(row)) is not None]
    rate = 1 - len(misses) / len(table)
    report = "\n".join([f"{len(table) - len(misses)} of {len(table)} right", *misses])
    sys.stdout.write(f"{report}\n")
    assert len(table) == count
    assert rate >= RIGHT, report


def test_expected_items_are_told_when_asked_about() -> None:
    """Others wait for a state or another item, whatever is asked."""
    for row in (*MESSAGES[""], *MESSAGES["2"]):
        for item in items(row):
            other = {"when", "after"} & {key for key in item if item[key]}
            assert not other, f"{row['task_id']}.{item['id']} waits: {sorted(other)}"


def test_every_city_has_its_queries() -> None:
    for sample in QUERIES.values():
        cities = [row["city"] for row in sample]
        assert {name: cities.count(name) for name in cities} == dict.fromkeys(cities, 6)
        assert len(set(cities)) == 11
