"""SWE-agent trajectories: `history` of messages, or steps of actions that are text.

No user takes part: turns are 0. Actions written as text are no structured calls, so they cannot be
counted. Demonstrations put into the history are not the run's. mini-swe-agent's files are read too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rideway.records import Ending, Message, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.chatmessages import read_message
from rideway.trajectories.format import record_format
from rideway.trajectories.node import Node
from rideway.trajectories.values import usage

NAME = "swe_agent"
_TEXT_ACTIONS = "the agent's actions are text, not structured calls"
_STEPS_ONLY = "only steps of text actions are stored, no messages"


def fits(node: Node) -> bool:
    """Whether a value is one run of SWE-agent or mini-swe-agent."""
    if node.get("messages").is_list:
        return (node.string("trajectory_format") or "").startswith("mini-swe-agent")
    for step in node.get("trajectory").items(1):
        return step.has("action", "observation")
    return any(
        message.has("role", "content") and any(key in message for key in ("message_type", "agent"))
        for message in node.get("history").items(1)
    )


def _build(node: Node, index: int) -> Trajectory:
    field = "messages" if node.get("messages").is_list else "history"
    raw = [
        message
        for message in node.objects(field)
        if not message.get("is_demo") and message.get("role") != "exit"
    ]
    main = next((m.get("agent") for m in raw if m.get("role") == "assistant"), None)
    messages: list[Message] = []
    for position, item in enumerate(raw):
        agent = _sub_agent(item, main)
        for message in read_message(item, f"field `{field}`, message {position}"):
            messages.append(message.model_copy(update={"agent": agent}) if agent else message)
    info = node.get("info")
    stats = info.at("model_stats") if info.get("model_stats").is_object else {}
    tokens = {
        "prompt_tokens": stats.get("tokens_sent"),
        "completion_tokens": stats.get("tokens_received"),
    }
    return assemble(
        NAME,
        index,
        messages,
        trajectory_id=node.at("instance_id"),
        task_id=node.at("instance_id"),
        has_user=False,
        ending=_ending(info.string("exit_status")),
        usage=usage([tokens], cost=[stats.get("instance_cost")]),
        uncountable=_uncountable(messages),
    )


def _sub_agent(item: Mapping[str, Any], main: Any) -> str | None:
    """The agent that wrote a message, where it is not the one that wrote the first."""
    agent = item.get("agent")
    if item.get("role") != "assistant" or not isinstance(agent, str) or agent == main:
        return None
    return agent


def _ending(status: str | None) -> Ending:
    """The ending that SWE-agent's exit status names."""
    if not status:
        return Ending.UNKNOWN
    if status.lower() in ("submitted", "submitted (exit_context)"):
        return Ending.AGENT_STOP
    if "cost" in status or "context" in status or "Limits" in status or "timeout" in status:
        return Ending.MAX_STEPS
    if "api" in status or "environment" in status:
        return Ending.PROVIDER_ERROR
    return Ending.UNKNOWN


def _uncountable(messages: Sequence[Message]) -> dict[Literal["tool_calls", "turns"], str]:
    if not messages:
        return {"tool_calls": _STEPS_ONLY}
    if any(message.tool_calls for message in messages):
        return {}
    spoke = any(message.role == "assistant" for message in messages)
    return {"tool_calls": _TEXT_ACTIONS} if spoke else {}


FORMAT = record_format(NAME, "SWE-agent trajectories (.traj)", fits, _build)
