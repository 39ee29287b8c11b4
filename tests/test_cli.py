"""The command line as a person types it: output, exit status, messages."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rideway.cli import main
from rideway.render import pairs, shorten, table, width

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
FILES = [str(EXAMPLES / name) for name in ("rideway.jsonl", "tau_bench.json", "openai_chat.jsonl")]
OUTCOMES = str(EXAMPLES / "outcomes.csv")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = int(stop.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


def test_score_json_is_one_document_with_the_promised_keys(capsys: pytest.CaptureFixture) -> None:
    status, out, err = run(capsys, "score", *FILES, "--success", OUTCOMES, "--json")
    assert status == 0
    document = json.loads(out)
    assert {"n", "efficiency_utility", "success_rate", "floor_source", "records"} <= set(document)
    assert (document["n"], document["floor_source"]) == (12, "pool")
    keys = ("id", "task_id", "trial", "success", "tool_calls", "turns")
    keys += ("tool_floor", "turn_floor", "utility")
    for record in document["records"]:
        assert set(keys) <= set(record)
    mean = sum(r["utility"] for r in document["records"]) / 12
    assert document["efficiency_utility"] == pytest.approx(mean)
    assert "gave the outcome of 4 of 12 runs" in err


def test_counts_of_the_examples_by_hand(capsys: pytest.CaptureFixture) -> None:
    _, out, _ = run(capsys, "score", FILES[1], "--json")
    counted = [(r["tool_calls"], r["turns"], r["success"]) for r in json.loads(out)["records"]]
    assert counted == [(6, 6, True), (2, 1, False), (7, 3, True), (3, 3, True)]


def test_score_for_people_names_floors_rule_and_means(capsys: pytest.CaptureFixture) -> None:
    status, out, _ = run(capsys, "score", *FILES, "--success", OUTCOMES)
    assert status == 0
    for piece in (
        "12 runs · 2 tasks · 3 models",
        "not human",
        "success rate",
        "75.0 % of 12 judged runs",
    ):
        assert piece in out
    assert "text beside a tool call is no turn" in " ".join(out.split())
    assert "急性子" in out


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_out_writes_a_table(capsys: pytest.CaptureFixture, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"runs{suffix}"
    status, _, err = run(capsys, "score", FILES[0], "--out", str(path))
    assert status == 0
    assert "wrote 4 runs" in err
    if suffix == ".csv":
        with path.open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert (len(rows), rows[0]["task_id"]) == (4, "airport_pickup")


def test_compare_json_and_text(capsys: pytest.CaptureFixture) -> None:
    status, out, _ = run(capsys, "compare", FILES[1], FILES[0], "--json", "--draws", "200")
    assert status == 0
    document = json.loads(out)
    assert document["differences"]["efficiency_utility"]["tasks"] == 2
    assert document["differences"]["efficiency_utility"]["mean"] > 0
    status, out, _ = run(capsys, "compare", FILES[1], FILES[0], "--draws", "200")
    assert status == 0
    assert "Differences are B - A" in out


def test_compare_two_models_of_one_file(capsys: pytest.CaptureFixture, tmp_path: Path) -> None:
    both = tmp_path / "both.jsonl"
    lines = Path(FILES[0]).read_text(encoding="utf-8").splitlines(keepends=True)
    both.write_text("".join([*lines[:3], *(x.replace("小捷", "小慢") for x in lines[3:])]))
    status, out, _ = run(capsys, "compare", f"{both}@小捷", f"{both}@小慢", "--json")
    assert status == 0
    assert json.loads(out)["only_a"] == ["airport_pickup"]
    both.write_text("".join([*lines[:2], *(x.replace("小捷", "小慢") for x in lines[2:])]))
    status, _, err = run(capsys, "compare", f"{both}@小捷", f"{both}@小慢")
    assert status == 2
    assert "no task has scored runs on both sides" in err
    status, _, err = run(capsys, "compare", f"{both}@小捷", f"{both}@谁", "--json")
    assert status == 2
    assert "no model '谁'" in err


def test_a_side_that_shares_runs_with_the_other_is_told(capsys: pytest.CaptureFixture) -> None:
    status, out, err = run(capsys, "compare", FILES[0], f"{FILES[0]}@小捷", "--json")
    assert status == 0
    assert json.loads(out)["differences"]["efficiency_utility"]["mean"] == 0
    assert json.loads(out)["floor_notes"] == []
    assert err == "rideway: 4 runs on both sides: A is B there\n"


def write(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


BROKEN = {
    "empty": b"",
    "html": b"<!doctype html><html><body>502 Bad Gateway</body></html>",
    "junk": bytes(range(256)) * 40,
    "truncated": b'[{"task_id": 1, "reward": 1.0, "traj": [{"role": "user", "cont',
    "gzip": gzip.compress(b'{"a": 1}\n' * 100)[:-20],
    "foreign": b'{"rows": [1, 2, 3]}',
    "two": b'{"task_id":1,"reward":1.0,"info":{},"traj":[{"role":"user","content":"x"}]}\n'
    b'{"record_version":1,"trajectory_id":"t","messages":[]}\n',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_line_exit_2_and_nothing_written(
    capsys: pytest.CaptureFixture, tmp_path: Path, name: str
) -> None:
    path = write(tmp_path / f"{name}.json", BROKEN[name])
    out = tmp_path / "runs.csv"
    status, printed, err = run(capsys, "score", path, "--json", "--out", str(out))
    assert (status, printed) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith(f"rideway: {path}")
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["score"], "FILE"),
        (["score", "no-such-file.json"], "no-such-file.json: no such file"),
        (["score", FILES[0], "--format", "taubench"], "format 'taubench' is not one of"),
        (
            ["score", FILES[0], "--floors", "no-floors.csv"],
            "--floors no-floors.csv: is none of tasks, pool, reference",
        ),
        (["score", FILES[0], "--floors", "tasks"], "none of the benchmark's"),
        (["score", FILES[0], "--floors", "reference"], "no run stores reference calls"),
        (["score", FILES[0], "--lambda-tool", "1.5"], "--lambda-tool must lie in (0, 1]"),
        (["score", FILES[0], "--out", "runs.xlsx"], "ends in .csv, .jsonl, .parquet"),
        (["compare", FILES[0], FILES[1], "--draws", "0"], "--draws must be between 1 and 100000"),
        (["compare", FILES[0], FILES[1], "--draws", "100001"], "got 100001"),
        (["compare", FILES[0], FILES[1], "--level", "1"], "--level must lie between 0 and 1"),
        (["compare", FILES[0], f"{FILES[0]}@话痨"], "no model '话痨'; it has 小捷"),
        (["compare", FILES[0], FILES[2]], f"{FILES[2]}: none of its runs can be scored: no stored"),
        (["score", ""], "a FILE has no name"),
        (
            ["score", FILES[2], "--success", FILES[0]],
            "names none of the 4 runs: its first row is id a-1",
        ),
        (["fly"], "invalid choice"),
        ([], "COMMAND"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_2(
    capsys: pytest.CaptureFixture, arguments: Sequence[str], told: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert told in err
    assert "Traceback" not in err
    lines = [line for line in err.splitlines() if "taken as the same tasks" not in line]
    assert len(lines) == 1


def test_lambdas_reach_the_score(capsys: pytest.CaptureFixture) -> None:
    options = ["--lambda-tool", "1", "--lambda-turn", "1", "--json"]
    _, out, _ = run(capsys, "score", FILES[1], *options)
    document = json.loads(out)
    assert document["efficiency_utility"] == document["success_rate"] == 0.75


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("reader", "seen"), [("head -n 1", "4 runs"), ("(exec <&-; sleep 0.2)", "")]
)
def test_standard_input_and_a_closed_pipe(unbuffered: str, reader: str, seen: str) -> None:
    command = f"cat {FILES[1]} | {sys.executable} -m rideway.cli score - | {reader}"
    settings = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True, text=True, cwd=ROOT, env=settings, check=False,
    )  # fmt: skip
    assert done.stdout[: len("4 runs")] == seen
    assert (done.returncode, done.stderr) == (0, "")


def test_register_and_undo(
    capsys: pytest.CaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert "planted" in run(capsys, "register")[1]
    assert "removed" in run(capsys, "register", "--undo")[1]
    assert "nothing was planted" in run(capsys, "register", "--undo")[1]


def test_an_input_is_never_written_over(capsys: pytest.CaptureFixture, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(Path(FILES[0]).read_bytes())
    status, _, err = run(capsys, "score", str(path), "--out", str(path))
    assert status == 2
    assert "is an input" in err
    assert path.read_bytes() == Path(FILES[0]).read_bytes()


def test_names_in_a_file_do_not_steer_the_terminal(
    capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    text = Path(FILES[0]).read_text(encoding="utf-8")
    path = tmp_path / "runs.jsonl"
    path.write_text(text.replace("airport_pickup", "\\u001b[31mairport"), encoding="utf-8")
    _, out, _ = run(capsys, "score", str(path))
    assert "\x1b" not in out
    assert "airport" in out


def test_tasks_shared_by_two_formats_are_told(capsys: pytest.CaptureFixture) -> None:
    _, _, err = run(capsys, "score", FILES[0], FILES[1])
    assert "2 task ids stand in runs of rideway and of tau_bench" in err


def test_a_copy_of_a_file_is_told_when_scored(
    capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    copy = write(tmp_path / "copy.jsonl", Path(FILES[0]).read_bytes())
    _, out, err = run(capsys, "score", FILES[0], copy, "--json")
    assert "4 runs have the model, task and trial of a run in another file" in err
    assert err.startswith(f"rideway: {json.loads(out)['warnings'][0]}")
    _, _, err = run(capsys, "compare", FILES[0], copy)
    assert err == ""


def test_floor_source_of_a_file(capsys: pytest.CaptureFixture, tmp_path: Path) -> None:
    text = "task_id,tool_floor,turn_floor,floor_source\nairport_pickup,4,2,human\n"
    text += "dinner_for_six,3,3,authored_reference\n"
    floors = write(tmp_path / "floors.csv", text.encode())
    _, out, _ = run(capsys, "score", FILES[0], "--floors", floors, "--json")
    document = json.loads(out)
    assert document["floor_source"] == "mixed"
    assert "human (1 task), authored_reference (1 task)" in document["floor_notes"][0]
    _, out, _ = run(capsys, "compare", FILES[0], FILES[1], "--floors", floors)
    assert "floors.csv mixes sources" in out


def test_settings_of_a_file_reach_no_output(capsys: pytest.CaptureFixture, tmp_path: Path) -> None:
    secret = "sk-live-0123456789abcdef"
    record = json.loads(Path(FILES[1]).read_text(encoding="utf-8"))[0]
    record |= {"config": {"api_key": secret}, "llm_args": {"headers": {"Authorization": secret}}}
    record["info"]["agent_info"] = {"api_key": secret}
    path = write(tmp_path / "keys.json", json.dumps([record]).encode())
    for options in (["--json"], ["--out", str(tmp_path / "runs.jsonl")], []):
        _, out, err = run(capsys, "score", path, *options)
        assert secret not in out + err
    assert secret not in (tmp_path / "runs.jsonl").read_text()


def test_tables_leave_two_cells_for_chinese() -> None:
    assert width("话痨ab") == 6
    text = table(("名", "n"), [("急性子", 1), ("ab", 20)])
    assert len({width(line) for line in text.splitlines()[1:]}) == 1
    assert pairs([("任务", "1"), ("ab", "2")]).splitlines() == ["任务  1", "ab    2"]
    short = shorten("很长很长很长的任务名", 10)
    assert width(short) <= 10
    assert (short[0], short[-1]) == ("很", "名")
    assert shorten("短", 10) == "短"
