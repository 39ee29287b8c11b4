"""The grid with models in it: agents x tasks x trials as async episodes into a run folder.

Finished episodes are appended at once and never played again; one that a provider failed is owed.
The first interrupt lets what is under way finish, the second stops at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rideway.cast import Cast, Contestant
from rideway.env.live import play_episode
from rideway.judge import ChecksJudge
from rideway.records import Ending, Task, Trajectory
from rideway.run import judge_folder, run_config, score_row
from rideway.run_files import RunFiles
from rideway.run_folder import Key, RunFolder, key_of
from rideway.tally import Tally, run_counted
from rideway.workers import work_through


@dataclass
class RunState(Tally):
    """Where a run stands; its jobs are episodes.

    Attributes:
        agent_errors: Episodes of this call that the model could not finish; they count.
    """

    agent_errors: int = 0

    def add(self, trajectory: Trajectory) -> bool:
        """Count one episode; True where the provider failed too many in a row."""
        self.spend(trajectory.usage)
        if trajectory.ending == Ending.PROVIDER_ERROR:
            return self.fail(trajectory.notes[0] if trajectory.notes else "", "episodes")
        self.agent_errors += trajectory.ending == Ending.AGENT_ERROR
        self.finish()
        return False

    def line(self) -> str:
        """One line of progress: episodes, rate, cost, failures, time left."""
        odd = [f"{self.agent_errors} agent errors"] if self.agent_errors else []
        return self.describe("episodes", *odd)


Progress = Callable[[RunState], None]


class Job(NamedTuple):
    """One episode that is owed."""

    agent: Contestant
    task: Task
    trial: int


def play_models(
    cast: Cast,
    tasks: Sequence[Task],
    trials: int = 3,
    *,
    out: Path,
    seed: int = 0,
    concurrency: int = 16,
    progress: Progress | None = None,
) -> RunState:
    """Plays what a run folder owes, judged by the checks and scored; resumes by itself.

    Args:
        cast: Agents and user.
        tasks: Tasks of any split.
        trials: Attempts at each task.
        out: The run folder; made if need be.
        seed: Of the whole run.
        concurrency: Episodes under way at once.
        progress: Told after each episode.

    Returns:
        How it ended; `stopped` says why it is not complete, where it was stopped.

    Raises:
        RunError: The folder belongs to another configuration; the text shows the difference.
        EndpointRefusal: An endpoint refuses key, model name or account.
        OSError: A file cannot be written; all lines written before are whole.
    """
    names = tuple(agent.name for agent in cast.agents)
    config = run_config(names, tasks, trials, seed, user=cast.user, models=cast.settings())
    folder = RunFolder.open(out, config)
    judge_folder(folder, tasks)
    done = {key_of(trajectory) for trajectory in folder.trajectories()}
    grid = [
        Job(agent, task, trial)
        for agent in cast.agents
        for task in tasks
        for trial in range(trials)
    ]
    jobs = [job for job in grid if _key(job) not in done]
    state = RunState(total=len(grid), found=len(grid) - len(jobs))
    with ExitStack() as stack:
        files = RunFiles(folder, stack, "trajectories", "verdicts", "scores")
        run = _Run(cast, seed, files, state, progress)
        run_counted(state, lambda stop: run.all(jobs, concurrency, stop), progress)
    return state


def _key(job: Job) -> Key:
    return job.agent.name, job.task.task_id, job.trial


class _Run:
    def __init__(
        self, cast: Cast, seed: int, files: RunFiles, state: RunState, progress: Progress | None
    ) -> None:
        self._cast = cast
        self._seed = seed
        self._files = files
        self._state = state
        self._progress = progress

    async def all(self, jobs: Sequence[Job], concurrency: int, stop: asyncio.Event) -> None:
        """Plays the jobs, so many at once, until they are done or `stop` is set."""
        try:
            await work_through(iter(jobs), lambda job: self._play(job, stop), concurrency, stop)
        finally:
            await self._cast.endpoints.close()

    async def _play(self, job: Job, stop: asyncio.Event) -> None:
        trajectory = await play_episode(
            job.task,
            job.agent.make(job.task, self._seed, job.trial),
            self._cast.player(job.task, self._seed, job.trial),
            seed=self._seed,
            trial=job.trial,
            name=job.agent.name,
            model=job.agent.model,
        )
        self._files.write("trajectories", trajectory)
        if self._state.add(trajectory):
            stop.set()
        if trajectory.ending != Ending.PROVIDER_ERROR:
            verdict = ChecksJudge().judge(job.task, trajectory)
            self._files.write("verdicts", verdict)
            self._files.write("scores", score_row(trajectory, verdict, job.task))
        if self._progress is not None:
            self._progress(self._state)
