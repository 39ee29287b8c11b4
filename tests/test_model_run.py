"""Casts and runs with models: who plays, what stops a run, what its line of progress says."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from rideway.cast import Cast
from rideway.chat import EndpointRefusal, Sampling
from rideway.env.agenda import AgendaUser
from rideway.env.participants import LLMUser
from rideway.env.profiles import UnknownAgent
from rideway.errors import InputError
from rideway.model_run import RunState, play_models
from rideway.records import Ending, Trajectory, Usage
from rideway.run_folder import RunFolder
from rideway.workers import run_interruptibly, work_through
from tests.faulty_server import FaultyServer, serving
from tests.ride_tasks import reply, small_tasks
from tests.run_grid import cast

TASKS = small_tasks(3)
ROOT = Path(__file__).parents[1]
PLUGIN = "python:examples.my_agent:make_agent"


def test_a_plugin_and_the_agenda_user_need_no_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(ROOT)
    who = Cast([PLUGIN])
    assert isinstance(who.player(TASKS[0], 0, 0), AgendaUser)
    state = play_models(who, TASKS, 2, out=tmp_path)
    assert (state.done, state.calls, state.owed) == (6, 0, 0)
    folder = RunFolder(tmp_path)
    for one in folder.trajectories():
        assert (one.agent, one.model, one.source) == (PLUGIN, PLUGIN, "model")
        assert one.usage is None
    assert {one.outcome for one in folder.verdicts().values()} == {"fail"}
    assert folder.config().models == {}


def test_each_attempt_has_a_seed_of_its_own_and_the_agent_and_user_their_settings() -> None:
    async def asked() -> list[dict[str, Any]]:
        async with FaultyServer(reply, keep=True) as server:
            who = Cast(
                ["openai:m"],
                "openai:u",
                base_url=server.url,
                sampling=Sampling(temperature=0.5, seed=7, max_tokens=11),
            )
            user = who.player(TASKS[0], 0, 2)
            assert isinstance(user, LLMUser)
            agent = who.agents[0].make(TASKS[0], 0, 2)
            heard = agent.act([], [])
            assert not isinstance(heard, Exception)
            message = await heard  # type: ignore[misc]
            await user.reply([message], {})
            await who.endpoints.close()
            settings = who.settings()
            assert settings["openai:m"]["seed"] == 7
            assert settings["user"]["max_tokens"] == 512
            return server.requests

    agent, user = asyncio.run(asked())
    assert (agent["model"], agent["seed"], agent["temperature"]) == ("m", 9, 0.5)
    assert agent["max_tokens"] == 11
    assert (user["model"], user["seed"], user["max_tokens"]) == ("u", 2, 512)


@pytest.mark.parametrize(
    ("spec", "error"), [("openai", InputError), ("nobody", UnknownAgent), ("python:x", InputError)]
)
def test_a_wrong_name_is_told_before_anything_is_played(spec: str, error: type) -> None:
    with pytest.raises(error):
        Cast([spec])


def test_a_refused_key_stops_the_run_and_what_was_finished_stays(tmp_path: Path) -> None:
    with serving(FaultyServer(reply)) as server:
        who = cast(server.url)
        play_models(who, TASKS[:1], out=tmp_path / "first")
        server._rates["unauthorized"] = 1.0
        with pytest.raises(EndpointRefusal, match="HTTP 401: no such key"):
            play_models(who, TASKS, out=tmp_path / "second", concurrency=4)
        assert server.met["unauthorized"] <= 4
        server._rates.clear()
        state = play_models(who, TASKS, out=tmp_path / "second", concurrency=4)
    assert (state.done, state.provider_errors) == (9, 0)
    assert len(list(RunFolder(tmp_path / "first").trajectories())) == 3


def test_a_conversation_too_long_for_the_model_counts_as_its_failure(tmp_path: Path) -> None:
    with serving(FaultyServer(reply, rates={"too long": 1.0})) as server:
        state = play_models(cast(server.url), TASKS[:1], out=tmp_path)
    assert (state.done, state.agent_errors, state.owed) == (3, 3, 0)
    assert "3 agent errors" in state.line()
    folder = RunFolder(tmp_path)
    assert {one.ending for one in folder.trajectories()} == {Ending.AGENT_ERROR}
    assert {one.success for one in folder.scores().values()} == {False}


def test_the_line_of_progress_tells_rate_tokens_failures_and_time_left() -> None:
    state = RunState(total=174, found=10)
    assert state.seconds_left is None
    known = Usage(calls=9, prompt_tokens=40_000, completion_tokens=800, seconds=3)
    one = Trajectory(trajectory_id="a", ending=Ending.USER_STOP, usage=known)
    state.started -= 60
    for _ in range(4):
        state.add(one)
    state.add(one.model_copy(update={"usage": Usage(calls=3)}))
    state.add(one.model_copy(update={"ending": Ending.PROVIDER_ERROR, "notes": ("no route",)}))
    state.add(one.model_copy(update={"ending": Ending.AGENT_ERROR}))
    assert (state.done, state.owed, state.calls) == (6, 158, 57)
    line = state.line()
    for part in (
        "16/174 episodes",
        "6.0 a minute",
        "240,000 + 4,800 tokens",
        "tokens of 1 unknown",
        "1 provider errors (owed again; last: no route)",
        "1 agent errors",
        "0:26 left",
    ):
        assert part in line


def test_the_first_exception_ends_all_workers_and_is_raised() -> None:
    done: list[int] = []

    async def work(job: int) -> None:
        await asyncio.sleep(0.01 * job)
        if job == 2:
            raise KeyError(job)
        done.append(job)

    async def run() -> None:
        await work_through(iter([1, 2, 50, 60]), work, 4, asyncio.Event())

    with pytest.raises(KeyError):
        asyncio.run(run())
    assert done == [1]


def test_nothing_is_begun_once_stop_is_set() -> None:
    done: list[int] = []

    async def main(stop: asyncio.Event) -> None:
        async def work(job: int) -> None:
            done.append(job)
            if job == 3:
                stop.set()
            await asyncio.sleep(0)

        await work_through(iter(range(100)), work, 2, stop)

    assert run_interruptibly(main) is False
    assert done == [0, 1, 2, 3]
