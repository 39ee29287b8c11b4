"""ToolBench answers: a search tree with the messages of the chain that was taken.

`train_messages` is cumulative: its last list is the whole chain. Other branches of the tree are
left out; `Finish` is a call like any other. Single-chain answers hold the same part.
"""

from __future__ import annotations

from rideway.records import Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.chatmessages import read_messages
from rideway.trajectories.format import record_format
from rideway.trajectories.node import Node
from rideway.trajectories.values import truth

NAME = "toolbench"
LAST_CHAIN = "the chain that was taken: other branches of the search tree are left out"


def fits(node: Node) -> bool:
    """Whether a value is one answer."""
    return "train_messages" in node.get("answer_generation")


def _build(node: Node, index: int) -> Trajectory:
    answer = node.get("answer_generation")
    chains = answer.get("train_messages").texts()
    wrapped = Node(chains[-1]).under("train_messages") if chains else Node(b"{}")
    messages = read_messages(wrapped.objects("train_messages"), "train_messages")
    return assemble(
        NAME,
        index,
        messages,
        success=truth(node.at("win")),
        task_id=node.at("query_id"),
        notes=[LAST_CHAIN] if len(chains) > 1 else [],
    )


FORMAT = record_format(NAME, "ToolBench answers (answer_generation)", fits, _build)
