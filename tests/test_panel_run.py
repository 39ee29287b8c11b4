"""The panel over run folders: resume, what comes to count, and its agreement with the checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rideway.cast import Cast
from rideway.chat import Prompt, ProviderError, ScriptedChat, load_prompt
from rideway.errors import InputError
from rideway.model_run import play_models
from rideway.panel import Panel
from rideway.panel_agreement import compare_with_checks
from rideway.panel_run import judge_with_panel, panel_of_models
from rideway.records import Message
from rideway.run_folder import RunError, RunFolder
from tests.faulty_server import FaultyServer, completion, serving
from tests.ride_tasks import api_message, pretend, small_tasks

TASKS = small_tasks(4)
NAMES = ("a", "b", "c")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Twelve episodes of a model that forgets to confirm in the second of three trials."""

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        return api_message(pretend(body["messages"], careless=body["seed"] == 1))

    with serving(FaultyServer(reply)) as server:
        state = play_models(
            Cast(["openai:m"], "openai:m", base_url=server.url), TASKS, out=tmp_path
        )
    assert state.done == 12
    return RunFolder(tmp_path)


def by_state(messages: Sequence[Message], tools: Any) -> dict[str, Any]:
    """A judge that looks for a confirmed order in the final state it is shown."""
    prompt = messages[0].content or ""
    lines = prompt.split("\n")
    state = next(n for n, line in enumerate(lines) if line.startswith("===== 最终状态"))
    orders = json.loads(lines[state + 1])["orders"]
    met = [any(one["status"] == "confirmed" for one in orders), len(orders) <= 1]
    items = [{"item": n, "reason": "见状态", "met": one} for n, one in enumerate(met, 1)]
    text = json.dumps({"items": items, "verdict": "pass" if all(met) else "fail"})
    return completion({"role": "assistant", "content": text})


def panel(*judges: Any, names: Sequence[str] = NAMES) -> Panel:
    return Panel([ScriptedChat(one, name) for one, name in zip(judges, names, strict=True)])


def down(messages: Any, tools: Any) -> Exception:
    return ProviderError("down")


def garbled(messages: Any, tools: Any) -> str:
    return "不好说"


def contrary(messages: Any, tools: Any) -> str:
    return json.dumps(
        {"items": [{"item": n, "reason": "", "met": True} for n in (1, 2)], "verdict": "pass"}
    )


def test_a_folder_is_judged_once_and_the_panels_verdicts_come_to_count(folder: RunFolder) -> None:
    told = []
    judges = panel(by_state, by_state, garbled)
    state = judge_with_panel(folder, TASKS, judges, progress=lambda s: told.append(s.line()))
    assert (state.total, state.found, state.done, state.undecided) == (12, 0, 12, 0)
    assert state.unread == 36
    assert (state.calls, state.tokens_unknown) == (12 * (6 + 9), 12)
    assert len(told) == 12
    verdicts = folder.verdicts()
    assert {one.panel for one in verdicts.values()} == {"panel:a,b,c"}
    assert sum(one.outcome == "pass" for one in verdicts.values()) == 8
    assert sum(one.success is True for one in folder.scores().values()) == 8
    again = judge_with_panel(folder, TASKS, judges)
    assert (again.found, again.done) == (12, 0)


def test_undecided_verdicts_are_counted_and_in_no_score(folder: RunFolder) -> None:
    state = judge_with_panel(folder, TASKS, panel(contrary, by_state, garbled))
    assert (state.done, state.undecided) == (12, 4)
    assert "4 undecided" in state.line()
    assert sum(one.success is None for one in folder.scores().values()) == 4
    assert sum(one.utility is None for one in folder.scores().values()) == 4


def test_a_failing_provider_owes_verdicts_and_the_next_call_pays_them(folder: RunFolder) -> None:
    state = judge_with_panel(folder, TASKS, panel(by_state, down, down))
    assert (state.done, state.provider_errors) == (0, 12)
    assert folder.verdicts("panel:a,b,c") == {}
    state = judge_with_panel(folder, TASKS, panel(by_state, by_state, down))
    assert (state.found, state.done, state.provider_errors) == (0, 12, 0)


def test_an_older_panels_verdicts_count_again_without_new_calls(folder: RunFolder) -> None:
    first = panel(by_state, by_state, by_state)
    judge_with_panel(folder, TASKS, first)
    judge_with_panel(folder, TASKS, panel(contrary, contrary, contrary, names=("x", "y", "z")))
    assert {one.outcome for one in folder.verdicts().values()} == {"pass"}
    state = judge_with_panel(folder, TASKS, panel(down, down, down))
    assert (state.found, state.done) == (12, 0)
    assert sum(one.outcome == "pass" for one in folder.verdicts().values()) == 8
    assert sum(one.success is True for one in folder.scores().values()) == 8


def test_a_judge_among_the_agents_and_unknown_tasks_are_refused_before_any_call(
    folder: RunFolder,
) -> None:
    with pytest.raises(InputError, match="judge m is the agent itself"):
        judge_with_panel(folder, TASKS, panel(down, down, down, names=("a", "b", "m")))
    with pytest.raises(InputError, match="t_03 is not known"):
        judge_with_panel(folder, TASKS[:3], panel(down, down, down))


def limited(most: int, *judges: Any) -> Panel:
    models = [ScriptedChat(one, name) for one, name in zip(judges, NAMES, strict=True)]
    return Panel(models, max_tokens=most)


def test_another_configuration_of_a_panel_is_refused_with_the_difference(
    folder: RunFolder,
) -> None:
    first, second = limited(900, *[by_state] * 3), limited(700, *[contrary] * 3)
    judge_with_panel(folder, TASKS, first)
    with pytest.raises(RunError, match=r"12 verdicts .*\(max_tokens: 900 -> 700\).*--again"):
        judge_with_panel(folder, TASKS, second)
    assert sum(one.outcome == "pass" for one in folder.verdicts().values()) == 8
    state = judge_with_panel(folder, TASKS, second, again=True)
    assert (state.found, state.done) == (0, 12)
    assert {one.outcome for one in folder.verdicts().values()} == {"pass"}
    assert {one.max_tokens for one in folder.panels().values()} == {900, 700}
    state = judge_with_panel(folder, TASKS, limited(900, *[down] * 3))  # found, not judged again
    assert (state.found, state.done) == (12, 0)
    assert sum(one.outcome == "pass" for one in folder.verdicts().values()) == 8


def test_the_judges_prompt_is_part_of_a_panels_configuration(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_with_panel(folder, TASKS, panel(by_state, by_state, by_state))
    changed = Prompt("judge", load_prompt("judge").text + "\n请仔细。")
    monkeypatch.setattr("rideway.panel.load_prompt", lambda name: changed)
    with pytest.raises(RunError, match=f"prompt: '[0-9a-f]{{64}}' -> '{changed.digest}'"):
        judge_with_panel(folder, TASKS, panel(by_state, by_state, by_state))


def test_many_failures_in_a_row_stop_the_judging_and_what_was_judged_stays(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_with_panel(folder, TASKS[:4], panel(by_state, by_state, by_state, names=("x", "y", "z")))
    monkeypatch.setattr("rideway.tally.MOST_FAILURES_IN_A_ROW", 5)
    state = judge_with_panel(folder, TASKS, panel(by_state, down, down), concurrency=1)
    assert (state.provider_errors, state.done, state.owed) == (5, 0, 12)
    assert state.stopped is not None
    assert state.stopped.startswith("5 verdicts in a row failed, last: ")
    assert len(folder.verdicts("panel:x,y,z")) == 12


def test_agreement_with_the_checks_is_told_for_verdicts_and_each_item(folder: RunFolder) -> None:
    judge_with_panel(folder, TASKS, panel(by_state, by_state, by_state))
    same = compare_with_checks(TASKS, folder.trajectories(), folder.verdicts())
    assert same.disagreements == ()
    assert same.verdicts.raw is not None
    assert (same.verdicts.raw.value, same.verdicts.raw.n) == (1.0, 12)
    assert same.verdicts.kappa is not None
    assert same.verdicts.kappa.value == 1.0
    judge_with_panel(folder, TASKS, panel(contrary, contrary, contrary, names=("x", "y", "z")))
    other = compare_with_checks(TASKS, folder.trajectories(), folder.verdicts())
    assert len(other.disagreements) == 4
    assert other.verdicts.raw is not None
    assert other.verdicts.raw.value == pytest.approx(8 / 12)
    assert other.verdicts.kappa is not None
    assert other.verdicts.kappa.value == 0.0
    assert (other.verdicts.checks_only, other.verdicts.panel_only) == (0, 4)
    assert len(other.items) == 8
    first, second = other.items[:2]
    assert (first.what, second.what) == ("t_00, item 1", "t_00, item 2")
    assert first.raw is not None
    assert (first.raw.n, first.raw.value) == (3, pytest.approx(2 / 3))
    assert second.kappa is not None
    assert second.kappa.value is None  # both find it met throughout: undefined, not perfect
    assert other.all_items.raw is not None
    assert other.all_items.raw.n == 24
    assert json.loads(json.dumps(other.to_dict()))["verdicts"]["panel_only"] == 4


def test_undecided_verdicts_are_left_out_of_the_agreement(folder: RunFolder) -> None:
    judge_with_panel(folder, TASKS, panel(contrary, by_state, garbled))
    found = compare_with_checks(TASKS, folder.trajectories(), folder.verdicts())
    assert found.verdicts.left_out == 4
    assert found.verdicts.raw is not None
    assert found.verdicts.raw.n == 8
    with pytest.raises(InputError, match="judge first"):
        compare_with_checks(TASKS, folder.trajectories(), {})


def test_a_panel_by_its_names_over_a_real_socket(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        message = Message(role="user", content=body["messages"][0]["content"])
        found: dict[str, Any] = by_state([message], None)["choices"][0]["message"]
        return found

    with serving(FaultyServer(reply, rates={"server error": 0.1, "error page": 0.1})) as server:
        judges, endpoints = panel_of_models(f"openai:A, B,C@{server.url}", base_url=server.url)
        assert judges.name == "panel:A,B,C"
        state = judge_with_panel(folder, TASKS, judges, endpoints=endpoints)
    assert (state.done, state.unread, state.calls) == (12, 0, 108)
    assert state.prompt_tokens == 108_000
    assert "12/12 judged" in state.line()
    assert "108 calls, 108,000 + " in state.line()
    (config,) = RunFolder(folder.path).panels().values()
    assert [one["url"] for one in config.judges] == [server.url] * 3
    assert {one.config for one in folder.verdicts("panel:A,B,C").values()} == {config.digest}


@pytest.mark.parametrize("spec", ["checks", "openai:", "openai:a,b", "openai:a,b,a", "a,b,c"])
def test_what_is_no_panel_is_refused(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(InputError, match="panel"):
        panel_of_models(spec)


def test_the_folder_is_not_touched_while_nothing_is_owed(folder: RunFolder) -> None:
    judges = panel(by_state, by_state, by_state)
    judge_with_panel(folder, TASKS, judges)
    before = {name: folder.file(name).read_bytes() for name in ("verdicts", "scores")}
    judge_with_panel(folder, TASKS, judges)
    assert before == {name: folder.file(name).read_bytes() for name in before}
