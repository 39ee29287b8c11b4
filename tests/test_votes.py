from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from rideway.metric.votes import VoteError, Votes, read_votes
from rideway.records import Vote

ROWS: list[dict[str, Any]] = [
    {"vote_id": "v1", "task_id": "rh44/one", "trajectory_a": "t1", "trajectory_b": "t2",
     "f_tool": 7, "f_turn": 3, "c_tool_a": 10, "c_turn_a": 5, "c_tool_b": 6, "c_turn_b": 9,
     "e_tool_a": 3, "e_turn_a": 2, "e_tool_b": 0, "e_turn_b": 6, "choice": "a"},
    {"vote_id": "v2", "task_id": "one", "trajectory_a": "t2", "trajectory_b": "t1",
     "f_tool": 7, "f_turn": 3, "c_tool_a": 6, "c_turn_a": 9, "c_tool_b": 10, "c_turn_b": 5,
     "e_tool_a": 0, "e_turn_a": 6, "e_tool_b": 3, "e_turn_b": 2, "choice": "Tie"},
    {"vote_id": "v3", "task_id": "two", "trajectory_a": "t3", "trajectory_b": "t4",
     "f_tool": 1, "f_turn": 1, "c_tool_a": 2, "c_turn_a": 1, "c_tool_b": 2, "c_turn_b": 4,
     "e_tool_a": 1, "e_turn_a": 0, "e_tool_b": 1, "e_turn_b": 3, "choice": "B"},
]  # fmt: skip
EXCESS_A, EXCESS_B = [[3, 2], [0, 6], [1, 0]], [[0, 6], [3, 2], [1, 3]]


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {key: [row[key] for row in rows] for key in rows[0]}


def without(prefix: str) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if not k.startswith(prefix)} for row in ROWS]


def check(votes: Votes) -> None:
    assert votes.excess_a.tolist() == EXCESS_A
    assert votes.excess_b.tolist() == EXCESS_B
    assert votes.preference.tolist() == [1.0, 0.5, 0.0]
    assert votes.weight.tolist() == [1.0, 1.0, 1.0]
    assert votes.tasks == ("one", "one", "two")
    assert votes.pairs is not None
    assert votes.pairs[0] == votes.pairs[1] != votes.pairs[2]


def write(path: Path) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(ROWS[0]))
            writer.writeheader()
            writer.writerows(ROWS)
    elif path.suffix == ".json":
        path.write_text(json.dumps(ROWS), encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
def test_files(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"votes{suffix}")
    check(read_votes(path))
    check(read_votes(str(path)))


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet"])
@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_compressed_files(tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]) -> None:
    packed = tmp_path / "votes"  # told by content: the name does not matter
    packed.write_bytes(compress(write(tmp_path / f"votes{suffix}").read_bytes()))
    check(read_votes(packed))
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"votes: .*(truncated|damaged)"):
        read_votes(packed)


def test_rows_columns_and_iterators() -> None:
    check(read_votes(ROWS))
    check(read_votes(columns(ROWS)))
    check(read_votes(iter(ROWS)))


def test_tables_of_other_libraries() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("datasets")
    check(read_votes(pandas.DataFrame(ROWS)))
    check(read_votes(pyarrow.Table.from_pylist(ROWS)))
    loaded = datasets.Dataset.from_list(ROWS)
    check(read_votes(loaded))
    check(read_votes(loaded.to_iterable_dataset()))
    with pytest.raises(VoteError, match="several splits"):
        read_votes(datasets.DatasetDict({"calibration": loaded, "heldout": loaded}))


def test_records() -> None:
    fields = ("vote_id", "task_id", "trajectory_a", "trajectory_b", "e_tool_a", "e_turn_a",
              "e_tool_b", "e_turn_b")  # fmt: skip
    votes = [
        Vote(**{name: row[name] for name in fields}, choice=row["choice"].lower(), annotator="x",
             annotator_kind="constructed", source="constructed")
        for row in ROWS
    ]  # fmt: skip
    check(read_votes(votes))


def test_label_is_read_like_choice() -> None:
    renamed = [{("label" if k == "choice" else k): v for k, v in row.items()} for row in ROWS]
    check(read_votes(renamed))
    check(read_votes([row | {"label": row["choice"].upper()} for row in ROWS]))
    with pytest.raises(VoteError, match="contradict"):
        read_votes([row | {"label": "a"} for row in ROWS])


def test_excess_comes_from_counts_and_floors() -> None:
    check(read_votes(without("e_")))
    bare = [{k: v for k, v in row.items() if k[:2] not in ("e_", "f_")} for row in ROWS]
    check(read_votes(bare, floors={"one": (7, 3), "custom14/two": (1, 1)}))
    with pytest.raises(VoteError, match="task 'two' has no floors"):
        read_votes(bare, floors={"one": (7, 3)})
    with pytest.raises(VoteError, match="e_tool_a"):
        read_votes(bare)


def test_excess_comes_from_trajectories_and_floors() -> None:
    bare = [{k: v for k, v in row.items() if k[:2] not in ("e_", "f_", "c_")} for row in ROWS]
    efforts = {"t1": (10, 5), "t2": (6, 9), "t3": (2, 1), "t4": (2, 4)}
    check(read_votes(bare, efforts=efforts, floors={"one": (7, 3), "two": (1, 1)}))
    numbered = [row | {"trajectory_a": 1, "trajectory_b": 2} for row in bare[:1]]
    by_number = {"1": (10, 5), "2": (6, 9)}
    assert read_votes(numbered, efforts=by_number, floors={"one": (7, 3)}).excess_a.tolist() == [
        [3, 2]
    ]
    del efforts["t4"]
    with pytest.raises(VoteError, match=r"vote 'v3'.*'t4' is not among"):
        read_votes(bare, efforts=efforts, floors={"one": (7, 3), "two": (1, 1)})


def test_moved_floors_change_excess_and_stop_at_zero() -> None:
    votes = read_votes(ROWS)
    up, down = votes.shift_floors(1), votes.shift_floors(-2)
    assert up.excess_a.tolist() == [[2, 1], [0, 5], [0, 0]]
    assert down.floors is not None
    assert down.floors.tolist() == [[5, 1], [5, 1], [0, 0]]
    assert down.excess_b.tolist() == [[1, 8], [5, 4], [2, 4]]
    assert votes.excess_a.tolist() == EXCESS_A
    with pytest.raises(VoteError, match="counts"):
        read_votes(without("c_")).shift_floors(1)


def test_weights_from_the_table_or_the_caller() -> None:
    rows = [row | {"weight": w} for row, w in zip(ROWS, (1, 2.5, 0), strict=True)]
    assert read_votes(rows).weight.tolist() == [1, 2.5, 0]
    assert read_votes(rows, weights=[3, 3, 3]).weight.tolist() == [3, 3, 3]
    again = read_votes(read_votes(rows), weights=[1, 1, 1])
    assert again.weight.tolist() == [1, 1, 1]


def test_missing_tasks_and_pairs_are_told_only_when_needed() -> None:
    votes = read_votes(
        [{k: v for k, v in row.items() if not k.startswith(("task", "traj"))} for row in ROWS]
    )
    assert votes.tasks is votes.pairs is None
    with pytest.raises(VoteError, match="task_id"):
        votes.groups("task")
    with pytest.raises(VoteError, match="trajectory_a"):
        votes.groups("pair")


def test_few_tasks_are_told() -> None:
    votes = read_votes(ROWS)
    assert "3 ways only" in votes.group_warnings("task")[0]
    assert votes.group_warnings("vote") == ()
    assert "one task only" in read_votes(ROWS[:2]).group_warnings("task")[0]


def test_a_dataset_that_is_not_there_is_told() -> None:
    pytest.importorskip("datasets")
    with pytest.raises(VoteError, match="nowhere/none:votes:heldout: cannot be loaded"):
        read_votes("nowhere/none:votes:heldout")


BAD = [
    ([], "holds no votes"),
    ([ROWS[0], ROWS[1] | {"choice": "left"}], "vote 'v2': `choice` .* got 'left'"),
    ([ROWS[0] | {"choice": None}], "must be a, b or tie"),
    ([ROWS[0] | {"e_tool_a": -1}], "vote 'v1': `e_tool_a` must be .* got -1"),
    ([ROWS[0] | {"e_turn_b": float("nan")}], "`e_turn_b` must be"),
    ([ROWS[0] | {"e_turn_b": "many"}], "got 'many'"),
    ([ROWS[0] | {"e_turn_b": True}, ROWS[1]], "`e_turn_b` must be .* got True"),
    ([row | {"e_turn_b": [1]} for row in ROWS], r"`e_turn_b` must be .* got \[1\]"),
    ([ROWS[0] | {"choice": ["a"]}], r"must be a, b or tie, got \['a'\]"),
    ([ROWS[0] | {"choice": 1}], "must be a, b or tie, got 1"),
    ([ROWS[0], ROWS[1] | {"e_turn_b": None}], "vote 'v2': `e_turn_b`"),
    ([ROWS[0] | {"e_tool_a": 99}], "is not max"),
    ([{k: v for k, v in ROWS[0].items() if k != "choice"}], "no column `choice`"),
    ([{"choice": "a", "task_id": "x"}], "no column `e_tool_a`.* the table has choice, task_id"),
    ([{"选择": "a"} | dict.fromkeys("abcdefgh", 1)], "the table has 选择, a, b, c, d, e, f, g, …"),
    ([ROWS[0] | {"weight": -2}], "`weight` must be"),
    ([ROWS[0] | {"weight": 0}], "not all 0"),
    ({"choice": ["a"], "e_tool_a": [1, 2]}, "differ in length"),
    ([3], "row 1 is no mapping"),
    (7, "neither a table nor a list"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text"), BAD)
def test_bad_tables_name_the_row_and_the_field(source: Any, text: str) -> None:
    with pytest.raises(VoteError, match=text):
        read_votes(source)


def test_bad_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n" + json.dumps(ROWS[1])[:40], encoding="utf-8")
    with pytest.raises(ValueError, match=r"v\.jsonl: line 2"):
        read_votes(path)
    path.write_text(json.dumps(ROWS[0] | {"choice": "?"}) + "\n", encoding="utf-8")
    with pytest.raises(VoteError, match=r"v\.jsonl: vote 'v1': `choice`"):
        read_votes(path)
    with pytest.raises(ValueError, match="cannot be read"):
        read_votes(tmp_path / "absent.jsonl")


def test_weights_of_the_wrong_length() -> None:
    with pytest.raises(VoteError, match="one number a vote"):
        read_votes(ROWS, weights=[1.0])
    assert np.array_equal(read_votes(ROWS, weights=np.ones(3)).weight, np.ones(3))
