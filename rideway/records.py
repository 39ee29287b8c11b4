"""The nouns of rideway: one frozen record for each thing that a run hands over.

Task -> Trajectory -> Verdict -> (counts, utility) and Vote. Every record is immutable, refuses
fields it does not know, and reads back from its own JSON unchanged. A call's arguments stay the raw
string that the model emitted: parsing is the business of whoever executes the call, and a malformed
string is evidence that must not be repaired.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

RECORD_VERSION: Literal[1] = 1
"""Version of the shapes below; it changes when an old file can no longer be read as it stands."""

Count = Annotated[int, Field(ge=0, strict=True)]
Role = Literal["system", "user", "assistant", "tool"]
Source = Literal["scripted", "model", "simulated", "human", "published", "constructed", "imported"]
FloorSource = Literal["authored_reference", "human", "pool", "reference", "file"]
Outcome = Literal["pass", "fail", "undecided"]


class Record(BaseModel):
    """Base of all records: frozen, extra fields forbidden."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Ending(StrEnum):
    """Why an episode ended; `PROVIDER_ERROR` is owed again and never scored."""

    USER_STOP = "user_stop"
    AGENT_STOP = "agent_stop"
    MAX_STEPS = "max_steps"
    AGENT_ERROR = "agent_error"
    PROVIDER_ERROR = "provider_error"
    UNKNOWN = "unknown"


class ToolCall(Record):
    """One structured call as emitted; `arguments` is the raw string, valid JSON or not."""

    name: str
    arguments: str = "{}"
    id: str | None = None


class Message(Record):
    """One message in the OpenAI chat shape.

    `agent` names the sub-agent that wrote it (None: the main agent). `content` holds text only:
    reasoning and thinking parts never reach it.
    """

    role: Role
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    agent: str | None = None


class Usage(Record):
    """What the models of an episode or a verdict cost; None where the provider did not say."""

    calls: Count = 0
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    seconds: Annotated[float, Field(ge=0)] | None = None
    cost_usd: Annotated[float, Field(ge=0)] | None = None


class Floors(Record):
    """Reference effort of one task: the median counts of its reference episodes (paper, section 3).

    `counts` lists the (tool calls, turns) pairs that the medians were taken from.
    """

    task_id: str
    tool: Count
    turn: Count
    source: FloorSource
    counts: tuple[tuple[Count, Count], ...] = ()


class RubricItem(Record):
    """One thing that must hold for success, and its offline check (JMESPath), where it has one."""

    text: str
    check: str | None = None


class Violation(Record):
    """An episode that breaks one rubric item (numbered from 1), and the items it `implies`."""

    rubric: Annotated[int, Field(ge=1)]
    name: str
    steps: tuple[dict[str, Any], ...]
    implies: tuple[Annotated[int, Field(ge=1)], ...] = ()


class Trap(Record):
    """Where a hasty agent goes wrong: built-in agents that do, and others that do not.

    `breaks` names the rubric items, from 1, that it costs; none of them: it costs calls or turns.
    """

    text: str
    hit_by: tuple[str, ...]
    missed_by: tuple[str, ...]
    breaks: tuple[Annotated[int, Field(ge=1)], ...] = ()


class Task(Record):
    """One benchmark task as an agent, a user, a judge and a scripted agent need it.

    `initial_state`, `pinned`, `agenda` and `notices` make the world and the user; `reference` holds
    the plans of the reference episodes by variant, written out; `violations` the plans that break a
    rubric item. `docs/tasks.md` documents their shapes.
    """

    task_id: str
    split: str
    city: str
    capability_tags: tuple[str, ...]
    persona: str
    scenario: str
    initial_query: str
    rubrics: tuple[RubricItem, ...]
    floors: Floors
    initial_state: dict[str, Any] = {}
    pinned: dict[str, Any] = {}
    agenda: tuple[dict[str, Any], ...] = ()
    notices: tuple[dict[str, Any], ...] = ()
    reference: dict[str, tuple[dict[str, Any], ...]] = {}
    violations: tuple[Violation, ...] = ()
    traps: tuple[Trap, ...] = ()
    good_paths: tuple[str, ...] = ()


class Trajectory(Record):
    """One finished episode, ours or anybody's: the messages and what is known of the outcome.

    `success` is None where the file stores no outcome. `text_beside_calls_shown` says that the file
    is the log of an interface that shows the text of a message that also calls tools, so that this
    text is a turn by default; `has_user` is False for runs without any user in the loop.
    `uncountable` maps a count (`tool_calls`, `turns`) to the reason why this format cannot give it.
    `alternatives` holds other sums that the file allows (whole session, sub-agents), by name.
    """

    trajectory_id: str
    task_id: str | None = None
    split: str | None = None
    trial: int | None = None
    model: str | None = None
    agent: str | None = None
    seed: int | None = None
    messages: tuple[Message, ...] = ()
    ending: Ending = Ending.UNKNOWN
    final_state: dict[str, Any] | None = None
    success: StrictBool | None = None
    usage: Usage | None = None
    source: Source = "imported"
    format: str = "rideway"
    reference_tool_calls: Count | None = None
    text_beside_calls_shown: bool = False
    has_user: bool = True
    uncountable: dict[Literal["tool_calls", "turns"], str] = {}
    alternatives: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    record_version: Literal[1] = RECORD_VERSION


class JudgePass(Record):
    """One reading of one trajectory by one judge; `outcome` None: the answer could not be read.

    `failed_items` are the positions, from 0, of the rubric items that this reading found unmet.
    """

    judge: str
    number: Count
    outcome: Literal["pass", "fail"] | None
    failed_items: tuple[Count, ...] = ()
    reasons: str = ""
    usage: Usage | None = None


class Verdict(Record):
    """What the success gate says of one trajectory, with every pass that led to it (section 3).

    `config` is the digest of the panel's configuration, which the run folder's `panels.jsonl`
    holds; None for the checks.
    """

    trajectory_id: str
    panel: str
    outcome: Outcome
    passes: tuple[JudgePass, ...] = ()
    failed_items: tuple[int, ...] = ()
    usage: Usage | None = None
    config: str | None = None
    record_version: Literal[1] = RECORD_VERSION


class Vote(Record):
    """One preference between two successful trajectories of one task (section 5.1)."""

    vote_id: str
    task_id: str
    trajectory_a: str
    trajectory_b: str
    choice: Literal["a", "b", "tie"]
    annotator: str
    annotator_kind: Literal["human", "simulated", "constructed"]
    source: Source
    e_tool_a: Count
    e_turn_a: Count
    e_tool_b: Count
    e_turn_b: Count
    shown_left: Literal["a", "b"] | None = None
