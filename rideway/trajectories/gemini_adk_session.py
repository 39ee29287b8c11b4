"""Sessions of Google's Agent Development Kit: `{id, app_name, user_id, events}`.

The interface shows what every agent says, also beside its calls, so that text is a turn by default;
agents that hand over to each other speak to the same user. Pieces of a streamed answer (`partial`)
repeat the whole that follows them and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rideway.records import Message, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.format import record_format
from rideway.trajectories.gemini_parts import either, read_content
from rideway.trajectories.node import Node

NAME = "gemini_adk_session"


def fits(node: Node) -> bool:
    """Whether a value is a session: events with authors."""
    events = node.get("events")
    if not events.is_list or "attributes" in node or "epoch" in node:
        return False
    if any(key in node for key in ("app_name", "appName", "user_id", "userId")):
        return all(event.is_object for event in events.items(3))
    first = list(events.items(3))
    return bool(first) and all(event.string("author") is not None for event in first)


def _build(node: Node, index: int) -> Trajectory:
    return assemble(
        NAME,
        index,
        read_events(node.objects("events"), "events"),
        trajectory_id=node.at("id"),
        agent=node.string("app_name") or node.string("appName"),
        text_beside_calls_shown=True,
        stored=node,
    )


def read_events(events: list[dict[str, Any]], field: str) -> list[Message]:
    """The messages of some events, in order."""
    messages: list[Message] = []
    for position, event in enumerate(events):
        content = event.get("content")
        if not isinstance(content, Mapping) or event.get("partial") is True:
            continue
        author = either(event, "author")
        from_user = author == "user" or (author is None and content.get("role") == "user")
        messages += read_content(
            content, from_user=from_user, where=f"field `{field}`, item {position}"
        )
    return messages


FORMAT = record_format(NAME, "sessions of Google's Agent Development Kit (events)", fits, _build)
