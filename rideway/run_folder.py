"""The folder of one run: its frozen configuration and append-only files of records.

    run.json             the configuration, written first
    tags.jsonl           why the steps of built-in agents are there; never part of a conversation
    trajectories.jsonl   one episode a line
    verdicts.jsonl       one verdict a line
    panels.jsonl         the configuration of each panel of models that judged here
    scores.jsonl         one row of counts, floors and utility a line

Nothing is rewritten: an episode that a later line repeats counts as the first of them that did not
end in a provider's error; a verdict or score as the last. A line that a dying process left
unfinished is told and cut off by the next.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from rideway.errors import InputError
from rideway.jsonl import JsonlReader, describe, digest
from rideway.records import RECORD_VERSION, Count, Ending, Record, Trajectory, Verdict

Key = tuple[str, str, int]
"""Agent, task id and trial."""


class RunError(InputError):
    """A run folder that cannot be used as asked; the text says why and what to do."""


class RunConfig(Record):
    """Everything that fixes what a run plays; two runs with equal ones are one run.

    `models` holds, for each agent and user that is a model, its name, address and settings, and the
    digests of the prompts; never a key.
    """

    record_version: Literal[1] = RECORD_VERSION
    rideway: str
    agents: tuple[str, ...]
    user: str
    models: dict[str, Any] = Field(default_factory=dict)
    tasks: tuple[str, ...]
    trials: Count
    seed: int
    tasks_digest: str
    tools_digest: str
    most_messages: Count
    most_user_messages: Count


class PanelConfig(Record):
    """Everything that fixes how a panel judges; `judges` holds models and addresses, never a key.

    `prompt` and `answer_format` are digests of the judge's prompt and of the schema it answers in.
    """

    record_version: Literal[1] = RECORD_VERSION
    rideway: str
    panel: str
    judges: tuple[dict[str, Any], ...]
    passes: Count
    asked_again: Count
    temperature: float
    max_tokens: Count
    prompt: str
    answer_format: str

    @property
    def digest(self) -> str:
        """What its verdicts name it by; the release of this package does not count."""
        return digest(self.model_dump(mode="json", exclude={"rideway"}))


def differences(mine: Record, theirs: Record) -> Iterator[str]:
    """What the second of two configurations has different, one text a field."""
    for name in type(mine).model_fields:
        ours, other = getattr(mine, name), getattr(theirs, name)
        if ours == other:
            continue
        if isinstance(ours, dict):
            for key in sorted(set(ours) | set(other)):
                if ours.get(key) != other.get(key):
                    yield f"{name}.{key}: {ours.get(key)!r} -> {other.get(key)!r}"
        elif isinstance(ours, tuple) and all(isinstance(one, str) for one in (*ours, *other)):
            gone, new = sorted(set(ours) - set(other)), sorted(set(other) - set(ours))
            yield f"{name}: without {gone[:5]}, with {new[:5]} ({len(ours)} -> {len(other)})"
        else:
            yield f"{name}: {ours!r} -> {other!r}"


class TagRow(Record):
    """One tagged step: position of the assistant message, of the call in it (None for a text)."""

    message: Count
    call: Count | None
    tag: Literal["waste", "verification", "preservation", "error"]
    behaviour: str


class TagRecord(Record):
    """The tagged steps of one trajectory."""

    trajectory_id: str
    tags: tuple[TagRow, ...]


class ScoreRow(Record):
    """Counts, floors, outcome and utility of one trajectory; None where there is no outcome."""

    id: str
    task_id: str
    split: str
    trial: int
    model: str
    success: bool | None
    tool_calls: Count
    turns: Count
    tool_floor: Count
    turn_floor: Count
    utility: float | None


class RunFolder:
    """A run's files; `open` makes or continues a folder, `RunFolder(path)` reads one.

    Attributes:
        torn: What unfinished lines were met while reading, one text each.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn: list[str] = []

    @classmethod
    def open(cls, path: Path, config: RunConfig) -> RunFolder:
        """The folder of a configuration, made if need be.

        Raises:
            RunError: The folder belongs to another configuration; the text shows the difference.
        """
        folder = cls(path)
        if not folder.file("run").exists():
            if any(folder.file(name).exists() for name in ("trajectories", "verdicts")):
                raise RunError(f"{path}: holds episodes but no run.json: choose another folder")
            path.mkdir(parents=True, exist_ok=True)
            text = json.dumps(config.model_dump(mode="json"), ensure_ascii=False, indent=1)
            partial = path / ".run.json.partial"
            partial.write_text(text + "\n", encoding="utf-8")
            partial.replace(folder.file("run"))
        elif different := list(differences(folder.config(), config)):
            raise RunError(
                f"{path}: was begun with another configuration ({'; '.join(different)}): "
                "use that one, or another folder"
            )
        return folder

    def file(self, name: str) -> Path:
        """Path of one of its files."""
        return self.path / ("run.json" if name == "run" else f"{name}.jsonl")

    def config(self) -> RunConfig:
        """The configuration; raises RunError where it cannot be read."""
        try:
            return RunConfig.model_validate_json(self.file("run").read_bytes())
        except FileNotFoundError:
            raise RunError(f"{self.path}: is no run folder, it has no run.json") from None
        except ValidationError as error:
            raise RunError(f"{self.file('run')}: {describe(error)}") from error

    def trajectories(self) -> Iterator[Trajectory]:
        """The episodes that count: the first of each agent, task and trial that was played out."""
        seen: set[Key] = set()
        for one in self._records("trajectories", Trajectory):
            key = key_of(one)
            if one.ending != Ending.PROVIDER_ERROR and key not in seen:
                seen.add(key)
                yield one

    def lost(self) -> Iterator[Trajectory]:
        """The last try of each episode that only ever ended in a provider's error: still owed."""
        played = {key_of(one) for one in self.trajectories()}
        owed = {
            key_of(one): one
            for one in self._records("trajectories", Trajectory)
            if one.ending == Ending.PROVIDER_ERROR
        }
        yield from (one for key, one in owed.items() if key not in played)

    def trial_rows(self) -> Iterator[dict[str, Any]]:
        """One row a trial for `rideway.leaderboard`: the scores, and the episodes still owed."""
        yield from (score.model_dump() for score in self.scores().values())
        for one in self.lost():
            yield {
                "id": one.trajectory_id,
                "task_id": one.task_id,
                "split": one.split,
                "trial": one.trial,
                "model": one.model or one.agent,
                "success": None,
                "ending": Ending.PROVIDER_ERROR.value,
            }

    def verdicts(self, panel: str | None = None, config: str | None = None) -> dict[str, Verdict]:
        """The last verdict on each trajectory, or the last of one panel, by trajectory id.

        Args:
            panel: Name of a panel.
            config: Digest of a panel's configuration.
        """
        return {
            one.trajectory_id: one
            for one in self._records("verdicts", Verdict)
            if panel in (None, one.panel) and config in (None, one.config)
        }

    def judges(self) -> Counter[str]:
        """Whose verdicts count, panels with the beginning of their configuration's digest."""
        return Counter(
            one.panel if one.config is None else f"{one.panel} ({one.config[:7]})"
            for one in self.verdicts().values()
        )

    def panels(self) -> dict[str, PanelConfig]:
        """The configurations of the panels of models that judged here, by their digests."""
        return {one.digest: one for one in self._records("panels", PanelConfig)}

    def scores(self) -> dict[str, ScoreRow]:
        """The last score of each trajectory, by its id."""
        return {one.id: one for one in self._records("scores", ScoreRow)}

    def tags(self) -> dict[str, TagRecord]:
        """The tagged steps of each trajectory of a built-in agent, by its id."""
        return {one.trajectory_id: one for one in self._records("tags", TagRecord)}

    def _records(self, name: str, kind: Any) -> Iterator[Any]:
        if not self.file(name).exists():
            return
        reader = JsonlReader(self.file(name), kind)
        yield from reader
        if reader.torn:
            self.torn.append(reader.torn)


def key_of(trajectory: Trajectory) -> Key:
    """Agent, task and trial of a trajectory of a run."""
    if trajectory.agent is None or trajectory.task_id is None or trajectory.trial is None:
        raise RunError(f"{trajectory.trajectory_id}: names no agent, task or trial")
    return trajectory.agent, trajectory.task_id, trajectory.trial
