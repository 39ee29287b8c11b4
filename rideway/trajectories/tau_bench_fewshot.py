"""τ-bench few-shot data: a plain transcript a record, in one string.

The calls were lost when the transcript was made (`assistant: None`), so they cannot be counted; the
texts of the assistant can.
"""

from __future__ import annotations

import re

from rideway.records import Message, Role, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.format import record_format
from rideway.trajectories.node import Node

NAME = "tau_bench_fewshot"
LOST_CALLS = "a plain transcript: calls are written as `assistant: None` and cannot be counted"
_SPEAKER = re.compile(r"^(system|user|assistant|tool): ?", re.MULTILINE)
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


def fits(node: Node) -> bool:
    """Whether a value holds a transcript."""
    return node.get("messages_display").is_text


def _build(node: Node, index: int) -> Trajectory:
    text = node.value()["messages_display"]
    parts = _SPEAKER.split(text)
    messages = []
    for speaker, said in zip(parts[1::2], parts[2::2], strict=True):
        content: str | None = said.removesuffix("\n")
        if speaker == "assistant" and content is not None and content.strip() == "None":
            continue  # a message that was only calls: it is no empty message of the assistant
        messages.append(Message(role=_ROLES[speaker], content=content))
    return assemble(
        NAME,
        index,
        messages,
        uncountable={"tool_calls": LOST_CALLS},
        stored=node,
    )


FORMAT = record_format(NAME, "τ-bench few-shot transcripts (messages_display)", fits, _build)
