"""τ²-bench runs kept one task a file: `{task_id, task, run_info, reward_info, messages}`."""

from __future__ import annotations

from rideway.records import Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.chatmessages import read_messages
from rideway.trajectories.format import record_format
from rideway.trajectories.node import Node
from rideway.trajectories.tau2 import reference_calls
from rideway.trajectories.values import ending, full_reward, short_text, usage

NAME = "tau2_per_task"


def fits(node: Node) -> bool:
    """Whether a value is one task's run."""
    return "task_id" in node and node.get("run_info").is_object and node.get("messages").is_list


def _build(node: Node, index: int) -> Trajectory:
    raw = node.objects("messages")
    info = node.get("run_info")
    reward = node.at("reward_info", "reward")
    if reward is None:
        reward = info.at("reward")
    trial = node.at("trial")
    return assemble(
        NAME,
        index,
        read_messages(raw),
        trajectory_id=info.at("simulation_id"),
        task_id=node.at("task_id"),
        trial=info.at("trial") if trial is None else trial,
        model=short_text(info.at("model")) or short_text(info.at("agent_llm")),
        success=full_reward(reward),
        ending=ending(info.at("termination_reason")),
        reference_tool_calls=reference_calls(node.get("task")),
        usage=usage(
            (message.get("usage") for message in raw),
            seconds=info.at("duration_sec"),
            cost=(info.at("agent_cost"), info.at("user_cost")),
        ),
        stored=node,
    )


FORMAT = record_format(
    NAME, "τ²-bench, one task a file (run_info, reward_info, messages)", fits, _build
)
