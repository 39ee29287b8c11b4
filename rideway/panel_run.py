"""The panel over a whole run folder: what has no verdict of this panel yet is judged and scored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from rideway.chat import Endpoints, Patience, ProviderError
from rideway.errors import InputError
from rideway.panel import MOST_TOKENS, Panel
from rideway.records import Task, Trajectory, Verdict
from rideway.render import plural
from rideway.run import score_row
from rideway.run_files import RunFiles
from rideway.run_folder import PanelConfig, RunError, RunFolder, differences
from rideway.tally import Tally, run_counted
from rideway.workers import work_through


@dataclass
class PanelState(Tally):
    """Where the judging of a folder stands; its jobs are verdicts.

    Attributes:
        undecided: Verdicts of this call that are undecided: in no numerator, always shown.
        unread: Passes of this call that could not be read.
    """

    undecided: int = 0
    unread: int = 0

    def add(self, verdict: Verdict) -> None:
        """Count one verdict."""
        self.finish()
        self.undecided += verdict.outcome == "undecided"
        self.unread += sum(one.outcome is None for one in verdict.passes)
        self.spend(verdict.usage)

    def line(self) -> str:
        """One line of progress: verdicts, rate, cost, failures, time left."""
        odd = {"undecided": self.undecided, "passes unread": self.unread}
        return self.describe("judged", *(f"{n} {what}" for what, n in odd.items() if n))


Progress = Callable[[PanelState], None]


def panel_of_models(
    spec: str,
    *,
    base_url: str | None = None,
    allow_self: bool = False,
    max_tokens: int = MOST_TOKENS,
    extra: Mapping[str, Any] | None = None,
    concurrency: int = 16,
    patience: Patience | None = None,
) -> tuple[Panel, Endpoints]:
    """The panel of `openai:A,B,C` and its endpoints; each name may have an `@URL` of its own.

    Args:
        spec: The three judges.
        base_url: Where judges without an address of their own are.
        allow_self: Whether a judge may be the agent that it judges.
        max_tokens: Limit of one answer.
        extra: Further request fields, in place of those that turn private reasoning off.
        concurrency: Calls in flight at one endpoint.
        patience: Retries and time limits of calls.

    Raises:
        InputError: It names other than three different models, or one without a key.
    """
    kind, _, names = spec.partition(":")
    if kind != "openai" or not names:
        raise InputError(f"panel {spec!r}: must be checks or openai:A,B,C")
    endpoints = Endpoints(base_url, concurrency=concurrency, patience=patience)
    judges = [endpoints.chat(f"openai:{name.strip()}", extra=extra) for name in names.split(",")]
    return Panel(judges, allow_self=allow_self, max_tokens=max_tokens), endpoints


def judge_with_panel(
    folder: RunFolder,
    tasks: Sequence[Task],
    panel: Panel,
    *,
    again: bool = False,
    endpoints: Endpoints | None = None,
    concurrency: int = 4,
    progress: Progress | None = None,
) -> PanelState:
    """Judges and scores each trajectory once with this panel; its verdicts come to count.

    Args:
        folder: A run folder.
        tasks: Where the tasks of its trajectories are found.
        panel: Who judges.
        again: Whether to judge again what this panel judged under another configuration.
        endpoints: Closed at the end.
        concurrency: Trajectories under way at once, nine calls each.
        progress: Told after each trajectory.

    Raises:
        InputError: A judge is an agent of the run, or a task is not among `tasks`.
        RunError: This panel judged here under another configuration; the text shows the difference.
        EndpointRefusal: An endpoint refuses key, model name or account.
        OSError: A file cannot be written; all lines written before are whole.
    """
    by_id = {task.task_id: task for task in tasks}
    trajectories = list(folder.trajectories())
    for trajectory in trajectories:
        panel.refuse_self(trajectory.model)
        if trajectory.task_id not in by_id:
            raise InputError(f"{trajectory.trajectory_id}: task {trajectory.task_id} is not known")
    config = panel.config
    own, last = folder.verdicts(panel.name, config.digest), folder.verdicts()
    owed = [one for one in trajectories if one.trajectory_id not in own]
    if not again:
        _refuse_another_configuration(folder, config, owed)
    state = PanelState(total=len(trajectories), found=len(trajectories) - len(owed))
    with ExitStack() as stack:
        files = RunFiles(folder, stack, "panels", "verdicts", "scores")
        if config.digest not in folder.panels():
            files.write("panels", config)
        run = _Judging(panel, by_id, files, state, progress)
        for trajectory in trajectories:  # verdicts of ours that others came after
            verdict = own.get(trajectory.trajectory_id)
            if verdict is not None and last[trajectory.trajectory_id] != verdict:
                run.keep(trajectory, verdict)
        run_counted(state, lambda stop: run.all(owed, concurrency, stop, endpoints), progress)
    return state


def _refuse_another_configuration(
    folder: RunFolder, config: PanelConfig, owed: Iterable[Trajectory]
) -> None:
    """Raises RunError where owed trajectories have verdicts of this panel under another one."""
    others = folder.verdicts(config.panel)
    stale = [others[one.trajectory_id] for one in owed if one.trajectory_id in others]
    if not stale:
        return
    before = folder.panels().get(stale[-1].config or "")
    changes = "; ".join(differences(before, config)) if before else "which is not recorded"
    raise RunError(
        f"{folder.path}: {plural(len(stale), 'verdict')} of {config.panel} came from another "
        f"configuration ({changes}): use that one, or judge again (--again)"
    )


class _Judging:
    def __init__(
        self,
        panel: Panel,
        tasks: Mapping[str, Task],
        files: RunFiles,
        state: PanelState,
        progress: Progress | None,
    ) -> None:
        self._panel = panel
        self._tasks = tasks
        self._files = files
        self._state = state
        self._progress = progress

    async def all(
        self,
        owed: Sequence[Trajectory],
        concurrency: int,
        stop: asyncio.Event,
        endpoints: Endpoints | None,
    ) -> None:
        """Judges what is owed, so many at once, until it is done or `stop` is set."""
        try:
            await work_through(iter(owed), lambda one: self._judge(one, stop), concurrency, stop)
        finally:
            if endpoints is not None:
                await endpoints.close()

    async def _judge(self, trajectory: Trajectory, stop: asyncio.Event) -> None:
        try:
            verdict = await self._panel.judge(self._task(trajectory), trajectory)
        except ProviderError as failure:
            if self._state.fail(str(failure), "verdicts"):
                stop.set()
        else:
            self.keep(trajectory, verdict)
            self._state.add(verdict)
        if self._progress is not None:
            self._progress(self._state)

    def keep(self, trajectory: Trajectory, verdict: Verdict) -> None:
        """Writes the verdict and the score that follows from it."""
        self._files.write("verdicts", verdict)
        self._files.write("scores", score_row(trajectory, verdict, self._task(trajectory)))

    def _task(self, trajectory: Trajectory) -> Task:
        return self._tasks[trajectory.task_id or ""]
