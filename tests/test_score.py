"""Counted runs, floors and scores: small pools by hand, and what may not be scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from rideway.compare import side
from rideway.errors import InputError
from rideway.floors import FloorError, floors_for
from rideway.metric.counts import CountingRule
from rideway.metric.utility import Penalties
from rideway.outcomes import give_outcomes
from rideway.records import Ending, Message, ToolCall
from rideway.report_text import score_text
from rideway.runs import count_runs
from rideway.score import RECORD_COLUMNS, score_runs
from rideway.tables import TableError, read_rows, write_rows
from tests.made_runs import gather, run, scored

POOL = (
    run("a", 0, 5, 3, model="x"),
    run("a", 1, 4, 6, model="x"),
    run("a", 2, 2, 1, success=False, model="x"),
    run("a", 0, 7, 3, model="y"),
    run("b", 0, 3, 3, success=False, model="y"),
)


def test_pool_floors_are_the_lowest_counts_of_successes_per_axis() -> None:
    score = scored(*POOL)
    assert score.floors.tool.tolist() == [4, 4, 4, 4, -1]
    assert score.floors.turn.tolist() == [3, 3, 3, 3, -1]
    t, u = 0.8838, 0.7829
    assert score.utility == pytest.approx([t, u**3, 0.0, t**3, 0.0])
    assert "not human floors" in score.floors.meaning


def test_a_failed_task_scores_zero_and_has_no_floor_in_the_records() -> None:
    record = list(scored(*POOL).records())[-1]
    assert (record["utility"], record["tool_floor"], record["success"]) == (0.0, None, False)
    assert tuple(record) == RECORD_COLUMNS


def test_summary_by_hand() -> None:
    summary = scored(*POOL).summary()
    t, u = 0.8838, 0.7829
    total = t + u**3 + t**3
    assert summary["n"] == 5
    assert summary["success_rate"] == pytest.approx(3 / 5)
    assert summary["efficiency_utility"] == pytest.approx(total / 5)
    assert summary["conditional_efficiency_utility"] == pytest.approx(total / 3)
    assert summary["successes"] == {
        "n": 3,
        "zero_excess_tool_calls": pytest.approx(1 / 3),
        "zero_excess_turns": pytest.approx(2 / 3),
        "zero_excess": 0.0,
        "mean_excess_tool_calls": pytest.approx(4 / 3),
        "mean_excess_turns": 1.0,
    }


def test_models_and_tasks_split_the_same_runs() -> None:
    score = scored(*POOL)
    assert [(m["model"], m["n"]) for m in score.by_model()] == [("x", 3), ("y", 2)]
    assert [(t["task_id"], t["n"]) for t in score.by_task()] == [("a", 4), ("b", 1)]
    for groups in (score.by_model(), score.by_task()):
        whole = sum(g["n"] * g["efficiency_utility"] for g in groups)
        assert whole == pytest.approx(5 * score.summary()["efficiency_utility"])


def test_runs_that_broke_are_apart_in_no_denominator_and_in_no_pool() -> None:
    broken = run("a", 3, 0, 1, ending=Ending.PROVIDER_ERROR, success=None, model="x")
    empty = run("c", 0, 0, 0, success=False, model="x", messages=())
    before, after = scored(*POOL), scored(*POOL, broken, empty)
    assert after.summary() == before.summary()
    assert after.floors.turn.tolist()[:5] == before.floors.turn.tolist()
    assert set(after.unscored.values()) == {
        "ended in an infrastructure error: to be run again",
        "holds no message: to be run again",
    }
    table = after.pass_table()
    assert table[0]["trials_seen"] == 5
    assert table[0]["trials_expected"] == 2 * 4 + 2 * 1  # x ran a task four times, y once
    assert [row["tasks_short"] for row in table] == [1, 3, 3, 4]


def test_missing_trials_are_short_not_failed() -> None:
    outcomes = [run("A", 0, 1, 1)] + [
        run("B", k, 1, 1, success=None, ending=Ending.PROVIDER_ERROR) for k in range(3)
    ]
    table = scored(*outcomes).pass_table()
    assert [(r["k"], r["tasks"], r["tasks_short"]) for r in table] == [
        (1, 1, 1),
        (2, 0, 2),
        (3, 0, 2),
    ]
    assert [(r["trials_seen"], r["trials_expected"]) for r in table] == [(1, 6)] * 3
    assert table[2]["pass_at_k"] is None


def test_a_second_run_of_a_trial_does_not_replace_the_first() -> None:
    score = scored(run("3", 1, 4, 4, success=False, model="x"), run("3", 1, 2, 2, model="x"))
    assert score.summary()["success_rate"] == 0.0
    told = "another run of trial 1: the first in the file that has an outcome counts"
    assert score.unscored == {1: told}
    assert score.pass_table()[0]["trials_expected"] == 1


def test_of_two_runs_of_a_trial_the_first_with_an_outcome_counts() -> None:
    score = scored(run("3", 1, 4, 4, success=None, model="x"), run("3", 1, 2, 2, model="x"))
    assert score.summary()["success_rate"] == 1.0
    assert list(score.unscored) == [0]


def test_a_task_without_a_floor_leaves_with_all_its_runs(tmp_path: Path) -> None:
    path = tmp_path / "floors.csv"
    path.write_text("task_id,tool_floor,turn_floor\na,4,3\n")
    runs = (
        run("a", 0, 4, 3),
        run("b", 0, 4, 3),
        run("b", 1, 4, 3),
        run("b", 2, 1, 1, success=False),
    )
    score = scored(*runs, floors=str(path))
    summary = score.summary()
    assert (summary["n"], summary["judged"]) == (1, 4)
    assert summary["success_rate"] == 0.75
    assert summary["efficiency_utility"] == 1.0
    assert set(score.unscored) == {1, 2, 3}


def test_runs_without_a_task_keep_their_success_rate() -> None:
    runs = [run(None, None, 1, 1, success=i < 8) for i in range(10)]
    summary = scored(*runs).summary()
    assert (summary["n"], summary["success_rate"]) == (0, 0.8)
    assert summary["efficiency_utility"] is None


def test_a_trial_that_is_no_number_of_a_run_is_refused() -> None:
    with pytest.raises(InputError, match="field `trial` cannot be"):
        scored(run("a", 10**23, 1, 1))


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    paths = []
    for folder in ("gpt", "claude"):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "results.jsonl")
        paths[-1].write_text(run("a", 0, 2, 2, trajectory_id="x").model_dump_json() + "\n")
    assert count_runs(paths).model_names == ["(gpt/results.jsonl)", "(claude/results.jsonl)"]


def test_equal_ids_of_two_domains_are_two_tasks() -> None:
    airline = run("10", 0, 9, 9, format="tau2", split="airline")
    retail = run("10", 0, 2, 2, format="tau2", split="retail", model="y")
    score = scored(airline, retail)
    assert score.utility.tolist() == [1.0, 1.0]
    assert [t["task_id"] for t in score.by_task()] == ["10", "10"]
    ours = scored(run("a", 0, 2, 2, split="rh44"), run("a", 1, 3, 2))
    assert len(ours.by_task()) == 1


def test_the_same_trial_of_another_model_or_without_number_is_no_repeat() -> None:
    score = scored(
        run("3", 1, 4, 4, model="x"), run("3", 1, 4, 4, model="y"),
        run("3", None, 4, 4, model="x"), run("3", None, 4, 4, model="x"),
    )  # fmt: skip
    assert score.unscored == {}


def test_unknown_outcomes_are_told_and_can_be_given(tmp_path: Path) -> None:
    gathered = gather(run("a", 0, 4, 4, success=None), run("a", 1, 5, 5, success=None))
    score = score_runs(gathered, floors_for(gathered, "pool"))
    assert score.summary()["n"] == 0
    assert "no stored success" in score.unscored[0]
    path = tmp_path / "outcomes.csv"
    path.write_text("task_id,trial,success\na,0,true\na,1,0\nb,0,true\n")
    give_outcomes(gathered, path)
    assert gathered.column("success").tolist() == [1, 0]
    assert gathered.warnings == [
        f"{path}: gave the outcome of 2 of 2 runs",
        f"{path}: 1 row names no run here, the first task_id b, trial 0",
    ]


def test_assumed_successes_are_counted() -> None:
    gathered = gather(run("a", 0, 4, 4, success=None), run("a", 1, 5, 5, success=False))
    assert gathered.assume_success() == 1
    assert gathered.column("success").tolist() == [1, 0]


def test_uncountable_runs_are_never_zero() -> None:
    plain = run("a", 0, 0, 4, uncountable={"tool_calls": "calls are not stored"})
    score = scored(plain)
    record = next(score.records())
    assert (record["tool_calls"], record["turns"], record["utility"]) == (None, 4, None)
    assert record["unscored_because"] == "tool_calls not countable: calls are not stored"


def test_reference_floors_take_stored_calls_and_the_pools_turns() -> None:
    score = scored(
        run("a", 0, 5, 3, reference_tool_calls=4), run("a", 1, 4, 5, reference_tool_calls=4),
        run("b", 0, 4, 5), floors="reference",
    )  # fmt: skip
    assert score.floors.tool.tolist() == [4, 4, -1]
    assert score.floors.turn.tolist() == [3, 3, 5]
    assert score.unscored == {2: "the task has no floor in this source"}
    with pytest.raises(FloorError, match="no run stores reference calls"):
        scored(run("a", 0, 5, 3), floors="reference")


def test_runs_without_a_task_have_no_pool() -> None:
    score = scored(run(None, None, 5, 3), run("a", 0, 5, 3))
    assert score.unscored == {0: "the file names no task, so there is no floor"}


def test_a_task_with_one_success_is_told_to_be_its_own_floor() -> None:
    assert scored(*POOL).floors.notes == ()
    notes = scored(run("a", 0, 5, 3), run("b", 0, 5, 3), run("b", 1, 5, 3)).floors.notes
    assert notes == ("1 of 2 solved tasks have a single success, which is its own floor",)


def test_penalties_and_counting_rule_reach_the_score() -> None:
    beside = Message(role="assistant", content="我查一下", tool_calls=(ToolCall(name="t"),))
    with_text = run("a", 0, 0, 0, messages=(Message(role="user", content="你好"), beside))
    gathered = gather(run("a", 1, 1, 0), with_text, rule=CountingRule(text_beside_calls=True))
    floors = floors_for(gathered, "pool")
    assert score_runs(gathered, floors, Penalties(0.5, 0.25)).utility.tolist() == [1.0, 0.25]


@pytest.mark.parametrize(
    ("option", "counted", "calls"), [("calls", True, 5), ("all", True, 5), ("none", False, 2)]
)
def test_both_sums_of_calls_are_told_whatever_the_rule_for_sub_agents(
    option: Literal["calls", "all", "none"], counted: bool, calls: int
) -> None:
    call = ToolCall(name="t")
    messages = (
        Message(role="user", content="你好"),
        Message(role="assistant", tool_calls=(call, call)),
        Message(role="assistant", tool_calls=(call, call, call), agent="sub"),
        Message(role="assistant", content="查到了", agent="sub"),
        Message(role="assistant", content="好的"),
    )
    runs = gather(run("a", 0, 0, 0, messages=messages), rule=CountingRule(sub_agents=option))
    score = score_runs(runs, floors_for(runs, "pool"))
    counting = score.counting()
    assert runs.column("tool_calls").tolist() == [calls]
    assert counting["tool_calls_excluding_sub_agents"] == 2
    assert counting["tool_calls_including_sub_agents"] == 5
    assert counting["sub_agent_tool_calls"] == 3
    assert counting["sub_agent_calls"] == ("counted" if counted else "not counted")
    text = " ".join(score_text(score).split())
    assert "tool calls in all runs without them 2, with them 5." in text
    assert f"3 sub-agents' calls ({counting['sub_agent_calls']})" in text


def test_runs_without_sub_agents_say_nothing_of_them() -> None:
    assert "ub-agent" not in score_text(scored(*POOL))


def test_task_ids_shared_by_formats_are_one_warning() -> None:
    kinds = ("tau_bench", "openai_chat", "rideway")
    runs = gather(*(run(task, 0, 1, 1, format=kind) for task in ("a", "b") for kind in kinds))
    (told,) = runs.shared_tasks()
    assert told.startswith("2 task ids stand in runs of openai_chat, of rideway and of tau_bench:")
    apart = gather(*(run("a", 0, 1, 1, format="tau2", split=split) for split in ("x", "y")))
    assert apart.shared_tasks() == []
    assert (
        gather(run("a", 0, 1, 1, format="tau2", split="x"), run("a", 0, 1, 1)).shared_tasks() == []
    )


def test_trials_met_again_in_another_file_are_told(tmp_path: Path) -> None:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path in paths:
        lines = (run("a", trial, 1, 1, model="x").model_dump_json() + "\n" for trial in (0, 1))
        path.write_text("".join(lines))
    (told,) = count_runs(paths).repeated_trials()
    assert told.startswith("2 runs have the model, task and trial of a run in another file")
    assert count_runs(paths[:1]).repeated_trials() == []
    unnamed = gather(run("a", 0, 1, 1))
    unnamed.add(run("a", 0, 1, 1), CountingRule(), "other.jsonl", "(other.jsonl)")
    assert unnamed.repeated_trials() == []


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(run("a", 0, 1, 1).model_dump_json() + "\n")
    again = tmp_path / "folder" / ".." / "a.jsonl"
    (tmp_path / "folder").mkdir()
    runs = count_runs([path, path, again])
    assert len(runs) == 1
    assert [text.split(": ")[1].split(";")[0] for text in runs.warnings] == [
        "is given twice",
        f"is {path}, given twice",
    ]
    assert side(runs, str(again), None).tolist() == [True]


def test_the_document_is_plain_json_without_records_of_settings() -> None:
    document = scored(*POOL).to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert {"n", "efficiency_utility", "success_rate", "floor_source", "records"} <= set(document)


def test_nothing_at_all_has_no_means() -> None:
    score = scored()
    assert score.summary()["efficiency_utility"] is None
    assert score.to_dict()["records"] == []


@pytest.mark.parametrize("name", ["runs.csv", "runs.jsonl", "runs.parquet"])
def test_tables_read_back(tmp_path: Path, name: str) -> None:
    records = list(scored(*POOL).records())
    assert write_rows(tmp_path / name, RECORD_COLUMNS, records) == 5
    rows = read_rows(tmp_path / name)
    assert [float(row["utility"]) for row in rows] == [r["utility"] for r in records]
    assert list(tmp_path.iterdir()) == [tmp_path / name]
    with pytest.raises(TableError, match=r"ends in \.csv"):
        write_rows(tmp_path / "runs.xlsx", RECORD_COLUMNS, records)


def test_columns_survive_many_runs(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for i in range(300):
            one = run(f"t{i % 50}", i // 50, i % 7, i % 5, success=i % 3 != 0, model="模型")
            stream.write(one.model_dump_json() + "\n")
    runs = count_runs([path])
    assert runs.column("tool_calls").tolist() == [i % 7 for i in range(300)]
    assert runs.column("turns").tolist() == [i % 5 for i in range(300)]
    assert runs.sums["tool_calls"] == sum(i % 7 for i in range(300))
    assert (len(runs.task_names), runs.model_names) == (50, ["模型"])
