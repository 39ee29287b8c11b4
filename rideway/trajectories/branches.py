"""Sessions that branch or go back: the lines that count, and what the whole file adds up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rideway.metric.counts import count_effort
from rideway.records import Message

BRANCHED = "the session branches or was compacted: counted on the branch of its last line"


def branch_of(leaf: str | None, parents: Mapping[str, str | None]) -> set[str]:
    """Ids of a line and of all lines before it, up to the first one; empty without a line."""
    branch: set[str] = set()
    line = leaf
    while line is not None and line not in branch:
        branch.add(line)
        line = parents.get(line)
    return branch


def whole_file(messages: Sequence[Message], *, shown: bool) -> dict[str, int]:
    """The `alternatives` of a session some of whose messages are left out: the sums of them all."""
    effort = count_effort(messages, text_beside_calls_shown=shown)
    return {"whole_file_tool_calls": effort.tool_calls, "whole_file_turns": effort.turns}
