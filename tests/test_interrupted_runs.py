"""Runs that are killed, interrupted or out of disk, and what the next one finds."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from rideway.records import Trajectory
from rideway.run_folder import RunFolder, key_of
from tests.faulty_server import FaultyServer, serving
from tests.ride_tasks import reply, small_tasks
from tests.run_grid import AGENT

ROOT = Path(__file__).parents[1]


def start(out: Path, url: str, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.run_grid", str(out), url, *more]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished_lines(out: Path) -> list[bytes]:
    path = out / "trajectories.jsonl"
    data = path.read_bytes() if path.exists() else b""
    return [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]


def wait_for(out: Path, lines: int, process: subprocess.Popen[str]) -> None:
    while len(finished_lines(out)) < lines and process.poll() is None:
        time.sleep(0.002)


@pytest.mark.parametrize(
    ("kills", "tasks"), [(1, 14), pytest.param(10, 58, marks=pytest.mark.slow)]
)
def test_killed_at_random_moments_and_resumed_nothing_is_lost_or_doubled(
    kills: int, tasks: int, tmp_path: Path
) -> None:
    draw = random.Random(kills)
    total = 3 * tasks
    with serving(FaultyServer(reply, delay=0.004, rates={"server error": 0.05})) as server:
        before: list[bytes] = []
        for _ in range(kills):
            process = start(tmp_path, server.url, "--tasks", str(tasks))
            wait_for(tmp_path, len(before) + draw.randint(1, total // (kills + 3)), process)
            time.sleep(draw.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            now = finished_lines(tmp_path)
            assert now[: len(before)] == before
            before = now
            print(f"killed with {len(now)} whole lines, none of them changed")  # noqa: T201
        assert 0 < len(before) < total
        process = start(tmp_path, server.url, "--tasks", str(tasks))
        printed, told = process.communicate()
    assert process.returncode == 0, told
    state = json.loads(printed)
    print(f"resumed: {state['found']} found, {state['done']} played")  # noqa: T201
    assert (state["found"], state["done"]) == (len(before), total - len(before))
    lines = finished_lines(tmp_path)
    assert lines[: len(before)] == before
    keys = Counter(key_of(Trajectory.model_validate_json(line)) for line in lines)
    wanted = {(AGENT, task.task_id, trial) for task in small_tasks(tasks) for trial in range(3)}
    assert set(keys) == wanted
    assert set(keys.values()) == {1}
    folder = RunFolder(tmp_path)
    ids = {one.trajectory_id for one in folder.trajectories()}
    assert set(folder.verdicts()) == set(folder.scores()) == ids
    assert len(ids) == total


def test_one_interrupt_lets_what_is_under_way_finish(tmp_path: Path) -> None:
    with serving(FaultyServer(reply, delay=0.05)) as server:
        process = start(tmp_path, server.url, "--concurrency", "4")
        wait_for(tmp_path, 3, process)
        before = len(finished_lines(tmp_path))
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=20)
    assert process.returncode == 0, told
    assert "finishing what is under way; interrupt again to stop at once" in told
    state = json.loads(printed)
    assert state["stopped"] == "interrupted"
    assert before < state["done"] <= before + 8
    folder = RunFolder(tmp_path)
    assert len(list(folder.trajectories())) == len(folder.scores()) == state["done"]


def test_two_interrupts_stop_at_once_and_lose_no_finished_episode(tmp_path: Path) -> None:
    with serving(FaultyServer(reply, hang=60, rates={})) as server:
        process = start(tmp_path, server.url, "--concurrency", "4", "--seconds", "60")
        wait_for(tmp_path, 3, process)
        server._rates["hung"] = 1.0
        time.sleep(0.3)  # every call under way now hangs
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=20)
    assert process.returncode == 0, told
    state = json.loads(printed)
    assert state["stopped"] == "interrupted"
    assert len(finished_lines(tmp_path)) == state["done"] >= 3


def test_a_full_disk_is_reported_and_loses_nothing_that_was_written(tmp_path: Path) -> None:
    """The limit on a file's size stands for the disk: a write is cut short and then refused."""
    pytest.importorskip("resource")
    with serving(FaultyServer(reply)) as server:
        process = start(tmp_path, server.url, "--tasks", "14", "--largest-file", "100000")
        _, told = process.communicate(timeout=30)
        assert process.returncode == 1
        assert f"{tmp_path / 'trajectories.jsonl'}: File too large" in told
        before = finished_lines(tmp_path)
        assert len(before) > 5
        assert (tmp_path / "trajectories.jsonl").stat().st_size == 100_000
        process = start(tmp_path, server.url, "--tasks", "14")
        printed, told = process.communicate(timeout=30)
    assert process.returncode == 0, told
    assert json.loads(printed)["found"] == len(before)
    lines = finished_lines(tmp_path)
    assert lines[: len(before)] == before
    keys = {key_of(Trajectory.model_validate_json(line)) for line in lines}
    assert len(keys) == len(lines) == 42
