"""`rideway tasks`, `run`, `judge`, `leaderboard` and `demo` as a person types them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rideway.cli import main
from rideway.env.expressions import STOP
from rideway.tasks import load_tasks
from tests.faulty_server import FaultyServer, serving

FIRST = load_tasks("custom14")[0].task_id


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two agents on the held-out split, one trial each."""
    out = tmp_path_factory.mktemp("runs") / "run"
    agents = ["--agent", "reference", "--agent", "profile:hasty"]
    assert main(["run", *agents, "--tasks", "custom14/*", "--trials", "1", "--out", str(out)]) == 0
    return out


def test_tasks_are_listed_and_shown(capsys: pytest.CaptureFixture) -> None:
    _, out, _ = run(capsys, "tasks")
    assert f"{len(load_tasks())} tasks; floors: authored_reference" in out
    _, out, _ = run(capsys, "tasks", FIRST)
    assert "评分项" in out
    _, out, _ = run(capsys, "tasks", f"custom14/{FIRST}", "--json")
    assert json.loads(out)["task_id"] == FIRST
    _, out, _ = run(capsys, "tasks", "--split", "rh44", "--json")
    assert {task["split"] for task in json.loads(out)} == {"rh44"}


def test_a_run_leaves_its_four_files_and_resumes(
    capsys: pytest.CaptureFixture, folder: Path
) -> None:
    names = {path.name for path in folder.iterdir()}
    assert {"run.json", "trajectories.jsonl", "verdicts.jsonl", "scores.jsonl"} <= names
    before = (folder / "trajectories.jsonl").read_bytes()
    agents = ["--agent", "reference", "--agent", "profile:hasty"]
    arguments = [*agents, "--tasks", "custom14/*", "--trials", "1", "--out", str(folder)]
    status, _, err = run(capsys, "run", *arguments)
    assert status == 0
    assert "0 episodes played" in err
    assert (folder / "trajectories.jsonl").read_bytes() == before


def test_another_configuration_is_refused_with_the_difference(
    capsys: pytest.CaptureFixture, folder: Path
) -> None:
    arguments = ["--agent", "reference", "--tasks", "custom14/*", "--trials", "1"]
    status, _, err = run(capsys, "run", *arguments, "--out", str(folder))
    assert status == 2
    assert "agents" in err
    assert err.count("\n") == 1


def test_leaderboard_json_has_the_promised_shape(
    capsys: pytest.CaptureFixture, folder: Path
) -> None:
    _, out, _ = run(capsys, "leaderboard", str(folder), "--json", "--draws", "100")
    board = json.loads(out)
    assert list(board)[:3] == ["all", "rh44", "custom14"]
    first, last = board["custom14"]
    keys = ("rank", "model", "n", "success_rate", "pass_at_3", "pass_hat_3", "efficiency_utility")
    keys += ("interval", "conditional_efficiency_utility", "undecided", "provider_errors")
    assert set(keys) <= set(first)
    assert (first["model"], first["efficiency_utility"], first["success_rate"]) == (
        "reference",
        1,
        1,
    )
    assert (last["model"], last["efficiency_utility"]) == ("profile:hasty", 0)
    _, out, _ = run(capsys, "leaderboard", str(folder), "--draws", "100")
    assert "Pass^3" in out


def test_score_of_a_folder_joins_its_verdicts(capsys: pytest.CaptureFixture, folder: Path) -> None:
    _, out, _ = run(capsys, "score", str(folder), "--json")
    document = json.loads(out)
    assert document["floor_source"] == "tasks"
    assert document["n"] == 2 * len(load_tasks("custom14"))
    by_model = {m["model"]: m["efficiency_utility"] for m in document["models"]}
    assert by_model == {"reference": 1.0, "profile:hasty": 0.0}


def test_compare_two_models_of_a_folder(capsys: pytest.CaptureFixture, folder: Path) -> None:
    sides = [f"{folder}@profile:hasty", f"{folder}@reference"]
    _, out, _ = run(capsys, "compare", *sides, "--json", "--draws", "100")
    assert json.loads(out)["differences"]["success_rate"]["mean"] == 1.0


def test_judge_by_checks_finds_nothing_new(capsys: pytest.CaptureFixture, folder: Path) -> None:
    status, out, err = run(capsys, "judge", str(folder), "--json")
    assert status == 0
    n = len(load_tasks("custom14"))
    assert json.loads(out)["outcomes"] == {"pass": n, "fail": n, "undecided": 0}
    assert "0 new verdicts" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tasks", "lc_1"], "there is no task 'lc_1'"),
        (["run", "--agent", "profile:nobody", "--out", "x"], "'nobody'"),
        (["run", "--agent", "robot", "--out", "x"], "robot"),
        (["run", "--agent", "reference", "--tasks", "zz*", "--out", "x"], "fits no task"),
        (["leaderboard", "no-such-folder"], "no-such-folder"),
        (["judge", "no-such-folder"], "no-such-folder: is no run folder"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_2(
    capsys: pytest.CaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], told: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "--trials", "0"], "--trials: must be a whole number of at least 1, got '0'"),
        (["run", "--concurrency", "0"], "--concurrency: must be a whole number of at least 1"),
        (["run", "--temperature", "nan"], "--temperature: must be a number of at least 0"),
        (["run", "--extra", "[1]"], "--extra: must be a JSON object, got '[1]'"),
        (["run", "--extra", "{"], "--extra: is no JSON"),
        (["run", "--timeout", "0"], "--timeout: must be a whole number of at least 1"),
        (["judge", "x", "--concurrency", "0"], "--concurrency: must be a whole number"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_2(
    capsys: pytest.CaptureFixture, arguments: list[str], told: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert told in err


def answered(body: dict[str, Any]) -> dict[str, Any]:
    """The agent gives up at once; a judge finds nothing met."""
    if "response_format" not in body:
        return {"role": "assistant", "content": f"抱歉，办不了。{STOP}"}
    prompt = body["messages"][0]["content"]
    count = max(int(n) for n in re.findall(r'"item": (\d+)', prompt))
    items = [{"item": n, "reason": "无", "met": False} for n in range(1, count + 1)]
    text = json.dumps({"items": items, "verdict": "fail"}, ensure_ascii=False)
    return {"role": "assistant", "content": text}


def test_a_model_is_played_and_judged_by_its_options(
    capsys: pytest.CaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    out = str(tmp_path / "run")
    play = ["run", "--agent", "openai:m", "--tasks", "custom14/*", "--trials", "1", "--out", out]
    judge = ["judge", out, "--panel", "openai:A,B,C", "--compare-checks"]
    with serving(FaultyServer(answered, keep=True)) as server:
        at = ["--base-url", server.url]
        options = ["--extra", '{"reasoning_effort": "high"}', "--max-tokens", "77"]
        status, _, err = run(capsys, *play, *at, *options)
        assert status == 0, err
        assert "14/14 episodes" in err
        asked = server.requests
        assert {one["max_tokens"] for one in asked} == {77}
        assert {one["reasoning_effort"] for one in asked} == {"high"}
        assert all("chat_template_kwargs" not in one for one in asked)
        told = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
        assert told["models"]["openai:m"]["extra"] == {"reasoning_effort": "high"}
        asked.clear()
        status, text, err = run(capsys, *judge, *at, "--max-tokens", "900")
        assert status == 0, err
        assert "0 pass, 14 fail, 0 undecided" in text
        assert "14/14 judged" in err
        assert "126 calls" in err
        assert (len(asked), {one["max_tokens"] for one in asked}) == (126, {900})
        _, _, err = run(capsys, "leaderboard", out)
        assert err == ""
        status, text, err = run(capsys, *judge, *at)
        assert (status, text) == (2, "")
        assert "14 verdicts of panel:A,B,C came from another configuration" in err
        assert "max_tokens: 900 -> 4096" in err
        status, _, err = run(capsys, *judge, *at, "--again")
        assert (status, len(asked)) == (0, 252)
        status, _, err = run(capsys, *play[:-1], f"{out}2", *at, "--extra", '{"stream": true}')
        assert status == 2
        assert "the request fields stream are set by us" in err


def test_a_leaderboard_of_several_judges_says_so(
    capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    play = ["run", "--agent", "reference", "--tasks", f"*{FIRST}", "--out", str(tmp_path)]
    assert run(capsys, *play)[0] == 0
    verdicts = tmp_path / "verdicts.jsonl"
    text = verdicts.read_text(encoding="utf-8")
    other = json.loads(text.splitlines()[0]) | {"panel": "panel:a,b,c", "config": "0123456789"}
    verdicts.write_text(f"{text}{json.dumps(other)}\n", encoding="utf-8")
    _, _, err = run(capsys, "leaderboard", str(tmp_path))
    assert "several judges (2 by checks, 1 by panel:a,b,c (0123456))" in err


def test_demo_keeps_a_run_folder_and_a_leaderboard(
    capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    status, out, _ = run(
        capsys, "demo", "--trials", "1", "--processes", "1", "--out", str(tmp_path / "demo")
    )
    assert status == 0
    assert "no human measured either" in out
    board = json.loads((tmp_path / "demo" / "leaderboard.json").read_text(encoding="utf-8"))
    assert board["all"][0]["model"] == "reference"
    assert board["all"][0]["efficiency_utility"] == 1.0
