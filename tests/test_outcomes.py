"""Outcomes from a table: which run a row names, which words it may say, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rideway.errors import InputError
from rideway.metric.counts import DEFAULT_RULE
from rideway.outcomes import give_outcomes
from rideway.records import Message, Trajectory
from rideway.runs import UNKNOWN, Runs
from rideway.tables import TableError


def gather(*runs: tuple[str, dict[str, Any]]) -> Runs:
    """Runs without an outcome: (file, what the trajectory says of itself)."""
    said = (Message(role="user", content="你好"), Message(role="assistant", content="好的"))
    gathered = Runs()
    for file, known in runs:
        one = Trajectory(**{"trajectory_id": "x", "messages": said} | known)
        gathered.add(one, DEFAULT_RULE, file, f"({file})")
    return gathered


def given(tmp_path: Path, runs: Runs, text: str) -> list[int]:
    path = tmp_path / "outcomes"
    path.write_text(text, encoding="utf-8")
    give_outcomes(runs, path)
    return runs.column("success").tolist()


TWO = (("r.jsonl", {"trajectory_id": "x"}), ("r.jsonl", {"trajectory_id": "y"}))


@pytest.mark.parametrize("yes", ["true", "True", "1", "1.0", "yes", "PASS", " pass "])
@pytest.mark.parametrize("no", ["false", "0", "no", "fail"])
def test_words_of_a_text_table(tmp_path: Path, yes: str, no: str) -> None:
    assert given(tmp_path, gather(*TWO), f"id,success\nx,{yes}\ny,{no}\n") == [1, 0]


@pytest.mark.parametrize("pair", [("true", "false"), ("1", "0"), ('"yes"', '"no"')])
def test_values_of_a_json_table(tmp_path: Path, pair: tuple[str, str]) -> None:
    yes, no = pair
    text = f'[{{"id": "x", "success": {yes}}}, {{"trajectory_id": "y", "success": {no}}}]'
    assert given(tmp_path, gather(*TWO), text) == [1, 0]


@pytest.mark.parametrize(
    "value", ['"通过"', '"maybe"', '"success"', "null", "2", "0.5", '""', "[]"]
)
def test_any_other_value_is_refused_with_the_ones_that_are_taken(
    tmp_path: Path, value: str
) -> None:
    runs = gather(*TWO)
    text = f'{{"id": "y", "success": true}}\n{{"id": "x", "success": {value}}}\n'
    with pytest.raises(TableError, match=r"outcomes: row 2 \(id x\): field `success` must") as told:
        given(tmp_path, runs, text)
    assert "must be true or false (or 1 or 0, yes or no, pass or fail), got" in str(told.value)
    assert runs.column("success")[0] == UNKNOWN


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no outcomes"),
        ("id,success\n", "holds no outcomes"),
        ("id,passed\nx,true\n", r"row 1 \(id x\): no field `success`; .*the row has id, passed"),
        ("名称,结果\nx,true\n", "row 1: needs `id`, or .*the row has 名称, 结果"),
        ("task_id,trial,success\na,x,true\n", "row 1: needs `id`"),
        ("task_id,trial,success\na,-1,true\n", "row 1: needs `id`"),
        ("task_id,trial,success\na,0.5,true\n", "row 1: needs `id`"),
        ('[{"task_id": "a", "trial": true, "success": true}]', "row 1: needs `id`"),
        ('{"x": true, "y": false}', "row 1: needs `id`.*the row has x, y"),
        ('[{"id": "x"}', "line 1: is no JSON"),
        ("[1, 2]", "must hold a list of objects"),
        ("id,success\nx,true\ny,true\nx,false\n", r"row 3 \(id x\): contradicts row 1"),
        ("id,success\nz,true\n", "names none of the 2 runs: its first row is id z, the first run"),
    ],
)
def test_bad_tables_are_refused_by_row(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        given(tmp_path, gather(*TWO), text)


def test_tasks_are_named_with_and_without_split(tmp_path: Path) -> None:
    def runs() -> Runs:
        return gather(
            ("r", {"trajectory_id": "1", "task_id": "rh44/a", "trial": 0}),
            ("r", {"trajectory_id": "2", "task_id": "b", "trial": 0}),
        )

    assert given(tmp_path, runs(), "task_id,trial,success\na,0,1\ncustom14/b,0,0\n") == [1, 0]
    assert given(tmp_path, runs(), "task_id,trial,success\nrh44/a,0.0,1\n") == [1, UNKNOWN]


def test_equal_tasks_of_two_splits_need_their_split(tmp_path: Path) -> None:
    def runs() -> Runs:
        airline = {"task_id": "10", "trial": 0, "format": "tau2", "split": "airline"}
        retail = airline | {"split": "retail", "trajectory_id": "y"}
        return gather(("r", airline), ("r", retail))

    with pytest.raises(InputError, match=r"trial 0\): fits 2 runs; tell them apart by .*`id`"):
        given(tmp_path, runs(), "task_id,trial,success\n10,0,1\n")
    text = "task_id,trial,success\nairline/10,0,1\nretail/10,0,0\n"
    assert given(tmp_path, runs(), text) == [1, 0]


def test_equal_ids_are_told_apart_by_file_or_model(tmp_path: Path) -> None:
    def runs() -> Runs:
        return gather(("a/r.json", {"model": "m"}), ("b/r.json", {"model": "n"}))

    with pytest.raises(InputError, match=r"fits 2 runs; .*`file` \(a/r.json, b/r.json\)"):
        given(tmp_path, runs(), "id,success\nx,true\n")
    text = "id,file,success\nx,b/r.json,false\nx,a/r.json,true\n"
    assert given(tmp_path, runs(), text) == [1, 0]
    assert given(tmp_path, runs(), "id,model,success\nx,n,true\n") == [UNKNOWN, 1]
    with pytest.raises(InputError, match="id x, model o, the first run is id x, model m"):
        given(tmp_path, runs(), "id,model,success\nx,o,true\n")
    with pytest.raises(InputError, match="that nothing tells apart"):
        given(tmp_path, gather(("r", {}), ("r", {})), "id,success\nx,true\n")


def test_what_the_table_did_is_told(tmp_path: Path) -> None:
    runs = gather(
        ("r", {"success": True}),
        ("r", {"trajectory_id": "y", "success": True}),
        ("r", {"trajectory_id": "z"}),
    )
    given(tmp_path, runs, "id,success\nx,false\ny,true\nv,true\nw,true\n")
    path = tmp_path / "outcomes"
    assert runs.warnings == [
        f"{path}: gave the outcome of 2 of 3 runs, of 1 against the stored one",
        f"{path}: 2 rows name no run here, the first id v",
    ]
