"""OpenAI's Responses API: requests with responses, responses alone, or lists of items.

The interface behind a response shows its message items, so text beside calls is a turn by default.
A handoff goes on with another agent that speaks to the same user: its text counts too.
"""

from __future__ import annotations

from collections.abc import Iterator

from rideway.records import Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.exchange import ONLY_ANSWER, Exchange, assemble_exchange, exchange
from rideway.trajectories.format import Format, LayoutMismatch, read_records, reading
from rideway.trajectories.jsontext import JsonError
from rideway.trajectories.node import Node
from rideway.trajectories.responses_items import ItemReader, is_item, read_items
from rideway.trajectories.units import Input
from rideway.trajectories.values import identifier

NAME = "openai_responses"
_EARLIER = "continues an earlier response that is not in this record"
_OTHERS = ("record_version", "epoch", "reward", "run_info", "attributes", "choices", "history")
_LOOKED_AT = 24


def halves(node: Node) -> Exchange:
    """Request and response of a record."""
    return exchange(node, ("input",), ("output",))


def fits(node: Node) -> bool:
    """Whether a value is a record of the Responses API, or a list of its items."""
    if node.is_list:
        return _is_item_list(node)
    if any(key in node for key in _OTHERS):
        return False
    if _is_item_list(node.get("messages")) or _is_item_list(node.get("items")):
        return True
    call = halves(node)
    output = call.response.get("output")
    if output.is_list:
        return _is_item_list(output) or call.response.string("object") == "response"
    return _is_item_list(call.request.get("input"))


def _is_item_list(node: Node) -> bool:
    """Whether one of the first values of a list is an item that only this API has."""
    return any(_is_typed(item) for item in node.items(_LOOKED_AT))


def _is_typed(node: Node) -> bool:
    return node.is_object and "type" in node and is_item({"type": node.string("type")})


def matches(file: Input) -> bool:
    """Whether the first value is a record, or the file a list of items."""
    return bool(file.head) and (_is_one_conversation(file) or fits(file.first))


def _is_one_conversation(file: Input) -> bool:
    if not file.is_list or not all(_is_line(unit.node) for unit in file.head):
        return False
    return any(_is_typed(unit.node) and "message" not in unit.node for unit in file.head)


def _is_line(node: Node) -> bool:
    if any(key in node for key in ("payload", "message", "output", "messages", "choices")):
        return _is_typed(node) and "payload" not in node and "message" not in node
    return _is_typed(node) or node.has("role", "content") or node.string("type") is not None


def read(file: Input) -> Iterator[Trajectory]:
    """One trajectory a record, or one for a file of items."""
    if not _is_one_conversation(file):
        yield from read_records(file, fits, _build)
        return
    items = ItemReader()
    for unit in file.units():
        with reading(file, unit):
            if not _is_line(unit.node):
                raise LayoutMismatch(unit)
            items.add(unit.node.value())
    yield assemble(NAME, 0, items.finish(), text_beside_calls_shown=True)


def _build(node: Node, index: int) -> Trajectory:
    if node.is_list:
        listed = read_items(node.under("items").objects("items"), "items")
        return assemble(NAME, index, listed, text_beside_calls_shown=True)
    call = halves(node)
    given = next((k for k in ("messages", "items") if node.get(k).is_list), None)
    asked = node.objects(given) if given else _asked(call.request)
    answered = call.response.objects("output") if call.response.get("output").is_list else []
    messages = read_items([*asked, *answered], "input and output")
    notes = [] if asked else [ONLY_ANSWER]
    if any(identifier(half.at("previous_response_id")) for half in call):
        notes.append(_EARLIER)
    return assemble_exchange(
        NAME, index, node, call, messages, notes=notes, text_beside_calls_shown=True
    )


def _asked(request: Node) -> list[dict[str, object]]:
    """The input of a request: items, or one text of the user."""
    given = request.get("input")
    if given.is_text:
        return [{"role": "user", "content": given.value()}]
    if given.is_null or given.is_list:
        return request.objects("input")
    raise JsonError("field `input` must be text or a list of items")


FORMAT = Format(NAME, "OpenAI Responses requests, responses and items", matches, read)
