"""The panel: two majorities, unread passes kept apart, and transcripts that try to judge."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rideway.chat import ModelFault, ProviderError, ScriptedChat
from rideway.errors import InputError
from rideway.panel import (
    ANSWER_FORMAT,
    ASKED_AGAIN,
    Panel,
    UnreadableVerdict,
    decide,
    item_met,
    read_answer,
    same_model,
)
from rideway.records import Ending, JudgePass, Message, Trajectory, Usage, Verdict
from tests.faulty_server import completion
from tests.ride_tasks import small_task

TASK = small_task()
OFFICE = "sh_office_xuhui"


def answer(*met: bool, verdict: str | None = None, **more: Any) -> str:
    items = [{"item": n, "reason": "见状态", "met": one} for n, one in enumerate(met, 1)]
    outcome = verdict or ("pass" if all(met) else "fail")
    return json.dumps({"items": items, "verdict": outcome, **more}, ensure_ascii=False)


PASS, FAIL = answer(True, True), answer(False, True)


def episode(*messages: Message, status: str = "confirmed", **order: Any) -> Trajectory:
    orders = [{"order_id": "o1", "status": status, "destination_id": OFFICE, **order}]
    state = {"time": "2026-04-17T17:50:00+08:00", "orders": orders, "user": {"name": "周岚"}}
    return Trajectory(
        trajectory_id="a/t_00/0",
        task_id="t_00",
        model="the-agent",
        messages=messages or (Message(role="user", content="你好"), says("办好了。")),
        final_state=state,
        ending=Ending.USER_STOP,
    )


def says(text: str) -> Message:
    return Message(role="assistant", content=text)


def panel_of(*answers: Any, **more: Any) -> Panel:
    """Three judges; each is given the answers of its passes, in turn."""
    names = ("hy", "seed", "grok")
    scripts = [one if callable(one) else list(one) for one in answers]
    judges = [ScriptedChat(one, name) for one, name in zip(scripts, names, strict=True)]
    return Panel(judges, **more)


def judged(*answers: Any, trajectory: Trajectory | None = None) -> Verdict:
    panel = panel_of(*answers)
    return asyncio.run(panel.judge(TASK, trajectory or episode()))


# --- majorities ---------------------------------------------------------------------------------


def test_three_judges_of_three_passes_each_all_kept() -> None:
    verdict = judged([PASS] * 3, [PASS, FAIL, PASS], [FAIL] * 3)
    assert verdict.outcome == "pass"
    assert verdict.panel == "panel:hy,seed,grok"
    assert len(verdict.passes) == 9
    assert [one.outcome for one in verdict.passes if one.judge == "seed"] == [
        "pass",
        "fail",
        "pass",
    ]
    assert verdict.passes[-1].reasons == "1 unmet: 见状态\n2 met: 见状态"
    assert verdict.passes[-1].failed_items == (0,)
    assert verdict.failed_items == ()
    assert verdict.usage is not None
    assert verdict.usage.calls == 9
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


def votes(*judges: Sequence[str | None]) -> list[JudgePass]:
    return [
        JudgePass(judge=str(j), number=n, outcome=one, failed_items=(0,) if one == "fail" else ())
        for j, own in enumerate(judges)
        for n, one in enumerate(own)
    ]


P, F, N = "pass", "fail", None


@pytest.mark.parametrize(
    ("judges", "outcome", "met"),
    [
        ([(P, P, P), (P, P, P), (P, P, P)], "pass", True),
        ([(P, P, F), (F, F, F), (F, P, P)], "pass", True),
        ([(P, P, P), (F, F, F), (F, F, F)], "fail", False),
        ([(P, P, N), (P, N, P), (N, N, N)], "pass", True),
        ([(P, F, N), (P, P, P), (P, P, P)], "pass", True),
        ([(P, F, N), (P, N, N), (P, P, P)], "undecided", None),  # one judge alone decides nothing
        ([(P, P, P), (F, F, F), (N, N, N)], "undecided", None),  # pass, fail and an error
        ([(P, P, P), (N, N, N), (N, N, N)], "undecided", None),  # pass and two errors
        ([(N, N, N), (N, N, N), (N, N, N)], "undecided", None),
        ([(F, F, N), (F, N, F), (P, P, P)], "fail", False),
    ],
)
def test_two_passes_and_two_judges_must_agree(judges: Any, outcome: str, met: bool | None) -> None:
    assert decide(votes(*judges)) == outcome
    assert item_met(votes(*judges), 0) is met


@given(
    st.lists(st.lists(st.sampled_from([P, F, N]), min_size=3, max_size=3), min_size=3, max_size=3)
)
def test_order_is_no_matter_and_unread_passes_never_help(judges: list[list[Any]]) -> None:
    outcome = decide(votes(*judges))
    assert decide(votes(*([*reversed(own)] for own in reversed(judges)))) == outcome
    swapped = [[{P: F, F: P, N: N}[one] for one in own] for own in judges]
    opposite = {"pass": "fail", "fail": "pass", "undecided": "undecided"}[outcome]
    assert decide(votes(*swapped)) == opposite
    unread = [[N if own is judges[0] else one for one in own] for own in judges]
    assert decide(votes(*unread)) in (outcome, "undecided")


def test_failed_items_need_the_same_two_majorities() -> None:
    second = answer(True, False)
    verdict = judged([FAIL] * 3, [second] * 3, [answer(False, False)] * 3)
    assert verdict.outcome == "fail"
    assert verdict.failed_items == (0, 1)
    assert judged([FAIL] * 3, [second] * 3, [PASS] * 3).failed_items == ()


# --- what is read -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [PASS, f"```json\n{PASS}\n```", f"结论如下：\n{PASS}\n以上。", f"{PASS}\n{PASS}", f"  {PASS}"],
)
def test_the_one_object_counts_and_what_stands_around_it_is_ignored(text: str) -> None:
    assert read_answer(text, 2).outcome == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "抱歉，我不能评价这段对话。",
        PASS[:40],
        '```json\n{"success": "yes"}\n```',
        "pass",
        "true",
        "[]",
        f"{PASS}\n{FAIL}",
        answer(True),
        answer(True, True, True),
        answer(True, False, verdict="pass"),
        answer(True, True, verdict="fail"),
        answer(True, True, verdict="PASS"),
        PASS.replace("true", '"true"'),
        PASS.replace("true", "1"),
        PASS.replace("true", "null"),
        PASS.replace('"item": 2', '"item": 1'),
        PASS.replace('"item": 1', '"item": true'),
        PASS.replace("pass", "undecided"),
        '{"items": "all", "verdict": "pass"}',
        '{"items": [], "verdict": "pass"}',
        '{"items": ["1", "2"], "verdict": "pass"}',
        '{"verdict": "pass"}',
        "{" * 5000,
    ],
)
def test_anything_else_is_neither_pass_nor_fail(text: str) -> None:
    with pytest.raises(UnreadableVerdict):
        read_answer(text, 2)


@given(st.text())
def test_no_text_becomes_a_verdict_by_accident(text: str) -> None:
    with pytest.raises(UnreadableVerdict):
        read_answer(text, 2)


def test_the_answer_format_is_what_the_reader_reads() -> None:
    schema = ANSWER_FORMAT["json_schema"]["schema"]
    read = json.loads(PASS)
    assert set(read) == set(schema["required"]) == set(schema["properties"])
    item = schema["properties"]["items"]["items"]
    assert set(read["items"][0]) == set(item["required"]) == set(item["properties"])


def test_an_unread_pass_is_asked_again_and_then_kept_as_unread() -> None:
    verdict = judged(["好的", PASS, PASS, PASS], [PASS] * 3, [f"{PASS[:40]}"] * 9)
    assert verdict.outcome == "pass"
    assert [one.outcome for one in verdict.passes if one.judge == "hy"] == ["pass"] * 3
    unread = [one for one in verdict.passes if one.judge == "grok"]
    assert [one.outcome for one in unread] == [None] * 3
    assert all(one.usage is not None and one.usage.calls == 1 + ASKED_AGAIN for one in unread)
    assert "no verdict in the answer" in unread[0].reasons


def test_refusals_and_errors_decide_nothing() -> None:
    refusal = completion({"role": "assistant", "content": None, "refusal": "抱歉"})
    verdict = judged([PASS] * 3, [refusal] * 9, [ModelFault("too long")] * 3)
    assert verdict.outcome == "undecided"
    assert verdict.failed_items == ()


def test_a_providers_failure_leaves_the_verdict_owed_where_it_matters() -> None:
    down = [ProviderError("HTTP 500 three times")] * 3
    verdict = judged([PASS] * 3, [PASS] * 3, down)
    assert verdict.outcome == "pass"
    assert "HTTP 500" in verdict.passes[-1].reasons
    with pytest.raises(ProviderError, match="HTTP 500"):
        judged([PASS] * 3, [FAIL] * 3, down)
    with pytest.raises(ProviderError):
        judged(down, down, down)


def test_judges_are_asked_at_temperature_zero_for_the_schema_in_one_message() -> None:
    panel = panel_of([PASS] * 3, [PASS] * 3, [PASS] * 3)
    asyncio.run(panel.judge(TASK, episode()))
    prompts = []
    for judge in panel.judges:
        assert isinstance(judge, ScriptedChat)
        for asked in judge.asked:
            assert asked["temperature"] == 0.0
            assert asked["response_format"] == ANSWER_FORMAT
            assert asked["tools"] is None
            (message,) = asked["messages"]
            prompts.append(message.content)
    assert len(prompts) == 9
    assert len(set(prompts)) == 1  # a provider can keep what it has read
    again = panel_of([PASS] * 3, [PASS] * 3, [PASS] * 3)
    asyncio.run(again.judge(TASK, episode()))
    assert isinstance(again.judges[0], ScriptedChat)
    assert again.judges[0].asked[0]["messages"][0].content not in prompts  # another tag


def test_what_is_asked_again_has_a_tag_of_its_own() -> None:
    panel = panel_of([PASS] * 3, [PASS] * 3, ["？", "？", PASS, PASS, PASS])
    verdict = asyncio.run(panel.judge(TASK, episode()))
    assert all(one.outcome == "pass" for one in verdict.passes)
    judge = panel.judges[2]
    assert isinstance(judge, ScriptedChat)
    prompts = [asked["messages"][0].content for asked in judge.asked]
    assert (len(prompts), len(set(prompts))) == (5, 3)


# --- who may judge ------------------------------------------------------------------------------


def scripted(*names: str) -> list[ScriptedChat]:
    return [ScriptedChat([PASS] * 3, name) for name in names]


@pytest.mark.parametrize(
    "names", [("a", "b"), ("a", "b", "c", "d"), ("a", "b", "A"), ("a", "x/a", "b"), ("a", "a", "a")]
)
def test_three_distinct_judges(names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="3"):
        Panel(scripted(*names))


@pytest.mark.parametrize("judge", ["the-agent", "The-Agent", "lab/the-agent"])
def test_a_judge_that_is_the_agent_is_refused_unless_allowed(judge: str) -> None:
    with pytest.raises(InputError, match="is the agent itself"):
        asyncio.run(Panel(scripted("a", "b", judge)).judge(TASK, episode()))
    allowed = Panel(scripted("a", "b", judge), allow_self=True)
    assert asyncio.run(allowed.judge(TASK, episode())).outcome == "pass"


def test_names_of_one_model() -> None:
    assert same_model("openai:Lab/M-1@https://x/v1") == same_model("m-1")
    assert same_model("m-1") != same_model("m-2")


def test_a_trajectory_without_a_final_state_cannot_be_judged() -> None:
    bare = episode().model_copy(update={"final_state": None})
    with pytest.raises(InputError, match="final_state"):
        judged([PASS] * 3, [PASS] * 3, [PASS] * 3, trajectory=bare)


def test_a_judge_that_quotes_the_transcript_beside_its_answer_is_asked_again() -> None:
    """Quoting a claimed verdict must not make it count, nor be taken for the judge's own."""
    quoting = f"对话里出现了 {PASS}，但我的结论是：\n{FAIL}"
    verdict = judged([quoting, FAIL, FAIL, FAIL], [FAIL] * 3, [PASS] * 3)
    assert verdict.outcome == "fail"
    assert Usage.model_validate(verdict.passes[0].usage).calls == 2
