"""Whole grids against a server that misbehaves: they end, and end like faultless ones."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rideway.cast import Cast
from rideway.chat import Patience
from rideway.errors import InputError
from rideway.model_run import play_models
from rideway.records import Ending, Trajectory
from rideway.run_files import RunFiles
from rideway.run_folder import RunError, RunFolder, key_of
from rideway.tally import MOST_FAILURES_IN_A_ROW
from tests.faulty_server import FAULTS, FaultyServer, serving
from tests.ride_tasks import reply, small_tasks
from tests.run_grid import AGENT, PATIENCE, cast

TASKS = small_tasks(58)
EACH = dict.fromkeys(FAULTS, 0.05)
"""5 % of each fault: half of all tries meet one."""


def played(
    out: Path, tasks: int = 58, patience: Patience = PATIENCE, **faults: Any
) -> tuple[Any, FaultyServer]:
    with serving(FaultyServer(reply, **faults)) as server:
        who = cast(server.url, patience)
        return play_models(who, TASKS[:tasks], out=out, concurrency=64), server


def comparable(folder: RunFolder) -> dict[Any, dict[str, Any]]:
    """The episodes by key, without how long they took."""
    found = {}
    for one in folder.trajectories():
        assert one.usage is not None
        usage = one.usage.model_copy(update={"seconds": None})
        found[key_of(one)] = one.model_copy(update={"usage": usage}).model_dump()
    return found


# --- faults -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tasks", [16, pytest.param(58, marks=pytest.mark.slow)])
def test_with_five_percent_of_each_fault_the_grid_ends_like_the_faultless_one(
    tasks: int, tmp_path: Path
) -> None:
    total = 3 * tasks
    state, good = played(tmp_path / "good", tasks)
    assert (state.done, state.owed, state.provider_errors) == (total, 0, 0)
    assert set(good.met) == {"answered"}
    bad_state, bad = played(tmp_path / "bad", tasks, rates=EACH, hang=3.0)
    assert (bad_state.done, bad_state.owed, bad_state.provider_errors) == (total, 0, 0)
    print(f"{bad_state.line()}; tries: {dict(bad.met)}")  # noqa: T201  shown by pytest -rP
    assert set(bad.met) == {"answered", *FAULTS}
    assert min(bad.met.values()) >= tasks // 2
    without, with_faults = RunFolder(tmp_path / "good"), RunFolder(tmp_path / "bad")
    assert comparable(with_faults) == comparable(without)
    assert len(comparable(without)) == total
    outcomes = {one.outcome for one in with_faults.verdicts().values()}
    assert outcomes == {"pass"}
    assert with_faults.scores() == without.scores()
    assert bad_state.prompt_tokens == state.prompt_tokens > 0


def test_an_outage_is_owed_in_no_score_and_paid_by_the_next_run(tmp_path: Path) -> None:
    with serving(FaultyServer(reply, rates={"server error": 1.0})) as server:
        patient = cast(server.url)
        state = play_models(patient, TASKS[:4], out=tmp_path, concurrency=4)
        assert (state.done, state.provider_errors, state.owed) == (0, 12, 12)
        assert "12 provider errors (owed again; last: " in state.line()
        folder = RunFolder(tmp_path)
        assert list(folder.trajectories()) == []
        assert folder.verdicts() == folder.scores() == {}
        server._rates.clear()
        state = play_models(patient, TASKS[:4], out=tmp_path, concurrency=4)
    assert (state.found, state.done, state.owed) == (0, 12, 0)
    assert {one.ending for one in folder.trajectories()} == {Ending.USER_STOP}
    assert len(folder.scores()) == 12
    assert len(folder.file("trajectories").read_bytes().splitlines()) == 24


def test_a_run_that_meets_nothing_but_failures_stops_by_itself(tmp_path: Path) -> None:
    state, _ = played(tmp_path, patience=Patience(attempts=1), rates={"server error": 1.0})
    assert MOST_FAILURES_IN_A_ROW <= state.provider_errors < 174
    assert "in a row failed, last: 127.0.0.1: tried once, last HTTP 500" in state.stopped


def test_another_configuration_is_refused_with_the_difference(tmp_path: Path) -> None:
    with serving(FaultyServer(reply)) as server:
        play_models(cast(server.url), TASKS[:1], 1, out=tmp_path)
        with pytest.raises(RunError, match=r"trials: 1 -> 2"):
            play_models(cast(server.url), TASKS[:1], 2, out=tmp_path)
        other = cast(server.url.replace("127.0.0.1", "localhost"))
        with pytest.raises(RunError, match=r"models\.openai:pretended: .*localhost"):
            play_models(other, TASKS[:1], 1, out=tmp_path)
        config = json.loads((tmp_path / "run.json").read_text())
        assert config["models"][AGENT]["temperature"] == 0.0
        assert config["models"][AGENT]["seed"] == 0
        assert len(config["models"]["prompt agent"]) == 64
        again = play_models(cast(server.url), TASKS[:1], 1, out=tmp_path)
    assert (again.found, again.done) == (1, 0)


def test_one_name_for_two_agents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one name twice"):
        Cast(["openai:m@http://localhost:1/v1", "openai:m@http://localhost:2/v1"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_after_a_failed_write_nothing_more_is_written(tmp_path: Path) -> None:
    (tmp_path / "trajectories.jsonl").symlink_to("/dev/full")
    one = Trajectory(trajectory_id="a")
    with ExitStack() as stack:
        files = RunFiles(RunFolder(tmp_path), stack, "trajectories", "verdicts")
        for name in ("trajectories", "verdicts", "trajectories"):
            with pytest.raises(OSError, match="No space left") as caught:
                files.write(name, one)
            assert caught.value.filename == str(tmp_path / "trajectories.jsonl")
    assert (tmp_path / "verdicts.jsonl").read_bytes() == b""
