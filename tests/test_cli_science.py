"""`rideway calibrate`, `validate` and `reproduce` as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rideway.cli import main
from rideway.published import constructed
from rideway.records import Message, Trajectory
from rideway.tables import write_rows


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The constructed votes as files of three kinds."""
    folder = tmp_path_factory.mktemp("votes")
    files = {}
    for name in ("calibration_votes", "heldout_votes"):
        rows = list(constructed(name))
        for ending in ("jsonl", "csv", "parquet"):
            path = folder / f"{name}.{ending}"
            write_rows(path, list(rows[0]), rows)
            files[f"{name}.{ending}"] = str(path)
    return files


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_calibrate_json(capsys: pytest.CaptureFixture, votes: dict[str, str], ending: str) -> None:
    path = votes[f"calibration_votes.{ending}"]
    status, out, _ = run(capsys, "calibrate", path, "--bootstrap", "200", "--json")
    document = json.loads(out)
    assert status == 0
    assert (round(document["a"], 4), round(document["b"], 4)) == (0.1235, 0.2448)
    assert document["lambda_tool"] == pytest.approx(np.exp(-document["a"]))
    assert (document["n"], document["gamma"], document["bootstrap"]) == (320, 0.3, 200)
    lo, hi = document["intervals"]["b"]
    assert lo < document["b"] < hi


def test_calibrate_without_intervals(capsys: pytest.CaptureFixture, votes: dict[str, str]) -> None:
    path = votes["calibration_votes.jsonl"]
    _, out, _ = run(capsys, "calibrate", path, "--bootstrap", "0", "--json")
    document = json.loads(out)
    assert document["bootstrap"] == 0
    assert "intervals" not in document


def test_fitted_penalties_feed_validation_and_plots(
    capsys: pytest.CaptureFixture, votes: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    contour, curves, fit = tmp_path / "fit.png", tmp_path / "curves.svg", tmp_path / "fit.json"
    train, test = votes["calibration_votes.jsonl"], votes["heldout_votes.jsonl"]
    status, out, _ = run(
        capsys, "calibrate", train, "--bootstrap", "100", "--json", "--plot", str(contour)
    )
    assert status == 0
    fit.write_text(out)
    arguments = ["--penalties", str(fit), "--calibration", train, "--bootstrap", "100"]
    status, out, _ = run(capsys, "validate", test, *arguments, "--json", "--plot", str(curves))
    document = json.loads(out)
    assert status == 0
    assert contour.stat().st_size > 5000
    assert curves.stat().st_size > 5000
    assert (document["n"], document["n_directional"]) == (80, 75)
    method = document["methods"]["efficiency_utility"]
    assert (round(method["accuracy"], 3), round(method["paired_tau"], 3)) == (0.787, 0.573)
    assert set(document["methods"]) == {
        "efficiency_utility", "tool_only", "turn_only", "equal_cost", "turn_first", "tool_first",
        "log_sqrt",
    }  # fmt: skip
    assert {"coverage", "accuracy", "tau_b", "paired_tau", "n_answered"} <= set(method)


def test_tables_for_people(capsys: pytest.CaptureFixture, votes: dict[str, str]) -> None:
    _, out, _ = run(capsys, "calibrate", votes["calibration_votes.csv"], "--bootstrap", "50")
    assert "320 votes (29 ties), gamma 0.3, 50 resamples by vote" in out
    assert "0.2448" in out
    _, out, _ = run(capsys, "validate", votes["heldout_votes.csv"], "--bootstrap", "50")
    assert "Turn-first lex." in out
    assert "pure_tool" in out


def test_votes_by_trajectory_id_take_their_counts_from_files(
    capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    examples = Path(__file__).parents[1] / "examples"
    table = tmp_path / "votes.csv"
    table.write_text(
        "task_id,trajectory_a,trajectory_b,choice\n"
        "airport_pickup,a-1,a-2,A\nairport_pickup,a-2,a-1,b\n"
    )
    floors = tmp_path / "floors.csv"
    floors.write_text("task_id,tool_floor,turn_floor\nairport_pickup,4,2\n")
    options = ["--trajectories", str(examples / "rideway.jsonl"), "--floors", str(floors)]
    status, out, err = run(capsys, "calibrate", str(table), *options, "--json", "--bootstrap", "0")
    assert status == 0, err
    document = json.loads(out)
    assert document["n"] == 2
    assert document["b"] > document["a"] > 0  # a-2 has 2 calls and 4 turns too many


NAMED = "task_id,trajectory_a,trajectory_b,choice\nairport_pickup,a-1,a-2,A\n"


def test_an_id_of_two_runs_is_refused_where_a_vote_names_it(
    capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    first = Path(__file__).parents[1] / "examples" / "rideway.jsonl"
    lines = first.read_text(encoding="utf-8").splitlines(keepends=True)
    other = tmp_path / "other.jsonl"
    other.write_text(lines[1].replace("a-2", "a-1"), encoding="utf-8")
    (table := tmp_path / "votes.csv").write_text(NAMED)
    (floors := tmp_path / "f.csv").write_text("task_id,f_tool,f_turn\nairport_pickup,4,2\n")
    options = ["--floors", str(floors), "--bootstrap", "0", "--json", "--trajectories", str(first)]
    status, _, err = run(capsys, "calibrate", str(table), *options, str(other))
    assert status == 2
    assert f"{other}: a-1: another run of this id has other counts" in err
    other.write_text(lines[0], encoding="utf-8")  # the same run again says the same
    assert run(capsys, "calibrate", str(table), *options, str(other))[0] == 0
    other.write_text(lines[2].replace("a-3", "b-1"), encoding="utf-8")  # named by no vote
    assert run(capsys, "calibrate", str(table), *options, str(other))[0] == 0


def test_a_count_that_is_not_known_is_never_a_vote(
    capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    runs = tmp_path / "runs.jsonl"
    said = (Message(role="user", content="你好"), Message(role="assistant", content="好的"))
    known = Trajectory(trajectory_id="a-1", messages=said)
    unknown = known.model_copy(
        update={"trajectory_id": "a-2", "uncountable": {"tool_calls": "calls are not stored"}}
    )
    runs.write_text(f"{known.model_dump_json()}\n{unknown.model_dump_json()}\n")
    (table := tmp_path / "votes.csv").write_text(NAMED)
    (floors := tmp_path / "f.csv").write_text("task_id,f_tool,f_turn\nairport_pickup,0,0\n")
    options = ["--trajectories", str(runs), "--floors", str(floors)]
    status, out, err = run(capsys, "calibrate", str(table), *options)
    assert (status, out) == (2, "")
    assert f"{runs}: a-2: tool_calls not countable: calls are not stored" in err


def test_options_that_are_not_read_are_told(
    capsys: pytest.CaptureFixture, votes: dict[str, str], tmp_path: Path
) -> None:
    options = ["--floors", "none.csv", "--trajectories", "none.jsonl", "--bootstrap", "0"]
    status, _, err = run(capsys, "calibrate", votes["calibration_votes.csv"], *options)
    assert status == 0
    assert "has counts of its own: --trajectories is not read" in err
    assert "has floors of its own: --floors is not read" in err
    (bare := tmp_path / "v.csv").write_text(
        "e_tool_a,e_turn_a,e_tool_b,e_turn_b,choice\n1,2,3,4,a\n"
    )
    status, out, err = run(capsys, "calibrate", str(bare), "--floors", "none.csv")
    assert status == 0
    assert "has no counts above any floors: --floors is not read" in err
    assert out.startswith("1 vote (0 ties), ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("task_id,choice\nx,a\n", "e_tool_a"),
        ("e_tool_a,e_turn_a,e_tool_b,e_turn_b,choice\n1,2,3,x,a\n", "e_turn_b"),
        ("e_tool_a,e_turn_a,e_tool_b,e_turn_b,choice\n1,2,3,4,left\n", "choice"),
        ("e_tool_a,e_turn_a,e_tool_b,e_turn_b,choice\n", "no votes"),
    ],
)
def test_bad_votes_are_one_line_and_exit_2(
    capsys: pytest.CaptureFixture, tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(text)
    for command in ("calibrate", "validate"):
        status, out, err = run(capsys, command, str(path), "--json")
        assert (status, out) == (2, "")
        assert told in err
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--bootstrap", "-1"],
        ["--bootstrap", "100001"],
        ["--level", "1"],
        ["--gamma", "-1"],
        ["--seed", "-3"],
    ],
)
def test_bad_options_are_told(
    capsys: pytest.CaptureFixture, votes: dict[str, str], options: list[str]
) -> None:
    try:
        status = main(["calibrate", votes["calibration_votes.jsonl"], *options])
    except SystemExit as stop:
        status = stop.code
    err = capsys.readouterr().err
    assert status == 2
    assert options[0].strip("-") in err
    assert err.count("\n") == 1


def test_what_a_reader_must_know_is_noted(
    capsys: pytest.CaptureFixture, votes: dict[str, str], tmp_path: Path
) -> None:
    path = votes["heldout_votes.jsonl"]
    _, out, _ = run(capsys, "validate", path, "--calibration", path, "--bootstrap", "50")
    assert "no held-out test" in out
    assert "gamma 8" in out
    one = tmp_path / "one.csv"
    one.write_text("e_tool_a,e_turn_a,e_tool_b,e_turn_b,choice\n1,2,3,4,a\n")
    _, out, _ = run(capsys, "calibrate", str(one), "--bootstrap", "50")
    assert "1 votes with a direction are few" in out


def test_verdicts_and_rows_of_reproduce_are_checked(
    capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    status, _, err = run(capsys, "reproduce", "--verdict", "foo")
    assert status == 2
    assert "the verdicts are recomputed" in err
    (tmp_path / "tasks.jsonl").write_text('{"task_id": "a", "source": "human"}\n')
    status, _, err = run(capsys, "reproduce", "--rows", str(tmp_path))
    assert status == 2
    assert str(tmp_path) in err


def test_reproduce_counts_its_verdicts(capsys: pytest.CaptureFixture) -> None:
    status, out, _ = run(capsys, "reproduce", "--json")
    document = json.loads(out)
    assert status == 0
    assert sum(document["verdicts"].values()) == document["n"] == len(document["rows"])
    assert document["verdicts"]["recomputed"] > 400
    _, out, _ = run(capsys, "reproduce", "--verdict", "needs")
    assert "needs the authors' data" in out
    assert "no evidence for the findings" in out
