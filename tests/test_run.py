"""The grid: what it writes, how it resumes, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rideway.env.profiles import UnknownAgent
from rideway.jsonl import JsonlWriter
from rideway.metric import PUBLISHED_PENALTIES
from rideway.records import Ending, RubricItem, Task
from rideway.run import judge_folder, play, play_one
from rideway.run_folder import RunConfig, RunError, RunFolder, differences, key_of
from tests.example_task import example

AGENTS = ("reference", "profile:confirmer=0.5")


def second() -> Task:
    """A task of another split, so that grids have two."""
    floors = example().floors.model_copy(update={"task_id": "twin"})
    return example().model_copy(update={"task_id": "twin", "split": "rh44", "floors": floors})


TASKS = (example(), second())


def keys(folder: RunFolder) -> list[tuple[str, str, int]]:
    return sorted(key_of(trajectory) for trajectory in folder.trajectories())


def files(folder: Path) -> dict[str, list[str]]:
    return {
        path.name: sorted(path.read_text(encoding="utf-8").splitlines())
        for path in folder.glob("*.jsonl")
    }


def test_a_grid_leaves_one_record_of_each_kind_an_episode(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    done = play(AGENTS, TASKS, 2, out=tmp_path, progress=lambda n, of: told.append((n, of)))
    assert (done.played, done.found, done.total) == (8, 0, 8)
    assert told == [(n, 8) for n in range(1, 9)]
    folder = RunFolder(tmp_path)
    names = [f"{agent}/{task.task_id}/{n}" for agent in AGENTS for task in TASKS for n in (0, 1)]
    for found in (folder.verdicts(), folder.scores(), folder.tags()):
        assert sorted(found) == sorted(names)
    assert [trajectory.trajectory_id for trajectory in folder.trajectories()] == names
    config = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert config["agents"] == list(AGENTS)
    assert config["tasks"] == ["custom14/custom_016", "rh44/twin"]
    assert config["trials"] == 2


def test_scores_are_counts_floors_outcome_and_utility(tmp_path: Path) -> None:
    play(("reference", "profile:confirmer", "profile:hasty"), TASKS[:1], 1, out=tmp_path)
    reference, confirmer, hasty = RunFolder(tmp_path).scores().values()
    assert (reference.tool_calls, reference.turns, reference.utility) == (7, 9, 1.0)
    assert reference.success is True
    over = confirmer.turns - confirmer.turn_floor
    assert over > 0
    assert confirmer.utility == pytest.approx(PUBLISHED_PENALTIES.lambda_turn**over)
    assert (hasty.success, hasty.utility) == (False, 0.0)


def test_what_is_there_is_not_played_again(tmp_path: Path) -> None:
    play(AGENTS, TASKS, 2, out=tmp_path)
    before = files(tmp_path)
    done = play(AGENTS, TASKS, 2, out=tmp_path)
    assert (done.played, done.found) == (0, 8)
    assert files(tmp_path) == before


@pytest.mark.parametrize("kept", [0, 1, 5])
def test_an_interrupted_run_resumes_to_the_same_records(tmp_path: Path, kept: int) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    play(AGENTS, TASKS, 2, out=whole)

    class Stop(Exception):
        pass

    def interrupt(done: int, total: int) -> None:
        if done > kept:
            raise Stop

    with pytest.raises(Stop):
        play(AGENTS, TASKS, 2, out=part, progress=interrupt)
    done = play(AGENTS, TASKS, 2, out=part)
    assert done.found == kept + 1
    assert files(part) == files(whole)


def test_a_torn_last_line_loses_that_episode_alone(tmp_path: Path) -> None:
    play(AGENTS, TASKS, 2, out=tmp_path)
    before = files(tmp_path)
    path = tmp_path / "trajectories.jsonl"
    path.write_bytes(path.read_bytes()[:-50])
    folder = RunFolder(tmp_path)
    assert len(keys(folder)) == 7
    assert "unfinished" in folder.torn[0]
    assert play(AGENTS, TASKS, 2, out=tmp_path).played == 1
    after = files(tmp_path)
    assert after["trajectories.jsonl"] == before["trajectories.jsonl"]
    assert len(RunFolder(tmp_path).scores()) == 8


@pytest.mark.parametrize("lost", ["verdicts", "scores"])
def test_missing_verdicts_and_scores_are_made_up_for(tmp_path: Path, lost: str) -> None:
    play(AGENTS, TASKS, 2, out=tmp_path)
    before = files(tmp_path)
    (tmp_path / f"{lost}.jsonl").unlink()
    done = play(AGENTS, TASKS, 2, out=tmp_path)
    assert done.played == 0
    assert files(tmp_path) == before


def test_judging_a_folder_again_adds_nothing(tmp_path: Path) -> None:
    play(AGENTS, TASKS, 1, out=tmp_path)
    before = files(tmp_path)
    assert judge_folder(RunFolder(tmp_path), TASKS) == 0
    assert files(tmp_path) == before


def test_episodes_lost_to_a_provider_are_owed_again(tmp_path: Path) -> None:
    play("reference", TASKS[:1], 2, out=tmp_path)
    path = tmp_path / "trajectories.jsonl"
    first, last = RunFolder(tmp_path).trajectories()
    path.unlink()
    with JsonlWriter(path) as writer:
        writer.write(first.model_copy(update={"ending": Ending.PROVIDER_ERROR}))
        writer.write(last)
    assert play("reference", TASKS[:1], 2, out=tmp_path).played == 1
    assert [t.trial for t in RunFolder(tmp_path).trajectories()] == [1, 0]


def test_another_configuration_is_refused_with_the_difference(tmp_path: Path) -> None:
    play("reference", TASKS, 2, out=tmp_path)
    before = files(tmp_path)
    with pytest.raises(RunError, match=r"trials: 2 -> 3") as caught:
        play("reference", TASKS, 3, out=tmp_path)
    assert "\n" not in str(caught.value)
    with pytest.raises(
        RunError, match=r"agents: without \['reference'\], with \['profile:hasty'\]"
    ):
        play("profile:hasty", TASKS, 2, out=tmp_path)
    with pytest.raises(RunError, match="seed: 0 -> 1"):
        play("reference", TASKS, 2, out=tmp_path, seed=1)
    changed = example().model_copy(
        update={"rubrics": (RubricItem(text="anything", check="`true`"),)}
    )
    with pytest.raises(RunError, match="tasks_digest"):
        play("reference", (changed, TASKS[1]), 2, out=tmp_path)
    assert files(tmp_path) == before


def test_a_folder_without_configuration_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "trajectories.jsonl").write_text("")
    with pytest.raises(RunError, match=r"no run\.json"):
        play("reference", TASKS, 1, out=tmp_path)
    with pytest.raises(RunError, match="is no run folder"):
        RunFolder(tmp_path).config()


def test_a_broken_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"agents": 3}')
    with pytest.raises(RunError, match=r"run\.json: field"):
        play("reference", TASKS, 1, out=tmp_path)


def test_unknown_agents_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UnknownAgent, match="nobody"):
        play(("reference", "profile:nobody"), TASKS, 1, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_processes_change_nothing_but_the_order(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    play(AGENTS, TASKS, 2, out=alone)
    done = play(AGENTS, TASKS, 2, out=together, processes=2)
    assert done.played == 8
    assert files(together) == files(alone)


def test_an_undecided_episode_has_no_utility(tmp_path: Path) -> None:
    open_item = RubricItem(text="司机态度好", check=None)
    task = example().model_copy(update={"rubrics": (*example().rubrics, open_item)})
    play("reference", (task,), 1, out=tmp_path)
    (score,) = RunFolder(tmp_path).scores().values()
    assert (score.success, score.utility) == (None, None)
    assert next(iter(RunFolder(tmp_path).verdicts().values())).outcome == "undecided"


def test_trials_of_the_reference_are_the_same_but_for_the_user(tmp_path: Path) -> None:
    first, again = play_one("reference", example()), play_one("reference", example())
    assert first == again
    for trial in range(3):
        assert play_one("reference", example(), trial=trial).verdict.outcome == "pass"


def test_the_configuration_reads_back() -> None:
    config = RunConfig(
        rideway="0",
        agents=("a",),
        user="agenda",
        tasks=("rh44/x",),
        trials=3,
        seed=0,
        tasks_digest="",
        tools_digest="",
        most_messages=200,
        most_user_messages=60,
    )
    assert RunConfig.model_validate_json(config.model_dump_json()) == config
    assert list(differences(config, config)) == []
