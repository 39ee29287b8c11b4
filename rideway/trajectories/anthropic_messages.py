"""Anthropic's Messages API, recorded, and the session logs of Claude Code, which is built on it.

A record of the plain API is a request with its response, or a list of messages. The runner sends a
message with calls to the tools, so text beside calls is no turn by default; in a session log the
interface showed that text, so there it is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from rideway.records import Trajectory
from rideway.trajectories import anthropic_shapes, claude_code
from rideway.trajectories.assemble import assemble
from rideway.trajectories.chatmessages import read_message, read_messages
from rideway.trajectories.exchange import ONLY_ANSWER, assemble_exchange, with_answer
from rideway.trajectories.format import Format, read_conversation, read_records
from rideway.trajectories.node import Node
from rideway.trajectories.units import Input

NAME = "anthropic_messages"


def matches(file: Input) -> bool:
    """Whether the first value is a record of the Messages API, or the file a session log."""
    if claude_code.is_session(file):
        return True
    return bool(file.head) and (_is_one_conversation(file) or anthropic_shapes.fits(file.first))


def _is_one_conversation(file: Input) -> bool:
    if not file.is_list or not all(_is_message(unit.node) for unit in file.head):
        return False
    return any(anthropic_shapes.has_blocks_in(unit.node) for unit in file.head)


def _is_message(node: Node) -> bool:
    return node.string("role") in ("user", "assistant", "system") and "content" in node


def fits(node: Node) -> bool:
    """Whether a value is a record of the plain API, by its keys."""
    if node.is_list:
        return all(_is_message(message) for message in node.items(3))
    if any(key in node for key in ("reward", "record_version", "epoch", "run_info", "output")):
        return False
    call = anthropic_shapes.halves(node)
    return call.request.get("messages").is_list or anthropic_shapes.is_response(call.response)


def read(file: Input) -> Iterator[Trajectory]:
    """One trajectory a record, or one for a session log or a file of messages."""
    if claude_code.is_session(file):
        yield claude_code.read_session(file, NAME)
    elif _is_one_conversation(file):
        yield read_conversation(NAME, file, _is_message, lambda node: read_message(node.value()))
    else:
        yield from read_records(file, fits, _build)


def _build(node: Node, index: int) -> Trajectory:
    if node.is_list:
        return assemble(NAME, index, read_messages(node.under("messages").objects("messages")))
    call = anthropic_shapes.halves(node)
    messages = read_messages(call.request.objects("messages"))
    if anthropic_shapes.is_response(call.response):
        messages = with_answer(messages, read_message(call.response.value(), "response"))
    else:
        call = call._replace(response=Node(b"null"))
    notes = [ONLY_ANSWER] if call.request.is_null else []
    return assemble_exchange(NAME, index, node, call, messages, notes=notes)


FORMAT = Format(
    NAME,
    "Anthropic Messages requests and responses, Claude Code session logs",
    matches,
    read,
)
