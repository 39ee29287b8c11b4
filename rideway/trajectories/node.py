"""A JSON value that is decoded only where it is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from rideway.trajectories.jsontext import JsonError, Text, decode, kind_of

_ABSENT = msgspec.Raw(b"null")
_OBJECTS = dict[str, msgspec.Raw]
_LISTS = list[msgspec.Raw]


class Node:
    """A view of one JSON value; `get` and `items` give views of its parts.

    A missing key reads as null, so that a path can be followed without asking at each step. Nothing
    is decoded that is not asked for: run settings, which can hold keys, stay undecoded text.

    Raises (all methods):
        JsonError: The text is no JSON.
    """

    __slots__ = ("_children", "_fields", "_texts", "text")

    def __init__(self, text: Text) -> None:
        self.text = text
        self._fields: dict[str, msgspec.Raw] | None = None
        self._texts: list[msgspec.Raw] | None = None
        self._children: dict[str, Node] = {}

    @property
    def first_byte(self) -> bytes:
        """The character that the value begins with: `{`, `[`, a quote, a digit, …"""
        for size in (64, 1 << 20):
            start = bytes(memoryview(self.text)[:size]).lstrip()[:1]
            if start:
                return start
        return b""

    @property
    def is_object(self) -> bool:
        """Whether the value is an object."""
        return self.first_byte == b"{"

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return self.first_byte == b"["

    @property
    def is_null(self) -> bool:
        """Whether the value is null, or was not there."""
        return self.first_byte == b"n"

    @property
    def is_text(self) -> bool:
        """Whether the value is a string."""
        return self.first_byte == b'"'

    @property
    def fields(self) -> Mapping[str, msgspec.Raw]:
        """The undecoded fields of an object; empty for anything else."""
        if self._fields is None:
            self._fields = decode(self.text, _OBJECTS) if self.is_object else {}
        return self._fields

    def __contains__(self, key: str) -> bool:
        return key in self.fields

    def has(self, *keys: str) -> bool:
        """Whether all of `keys` are there."""
        return all(key in self.fields for key in keys)

    def get(self, *path: str) -> Node:
        """The value at a path of keys; a null node where it leads nowhere."""
        node = self
        for key in path:
            child = node._children.get(key)
            if child is None:
                child = node._children[key] = Node(node.fields.get(key, _ABSENT))
            node = child
        return node

    def under(self, key: str) -> Node:
        """An object that holds the value under `key`, so that errors about it name that field."""
        return Node(b'{"' + key.encode() + b'":' + bytes(self.text) + b"}")

    def texts(self) -> list[msgspec.Raw]:
        """The undecoded elements of a list; none for anything else."""
        if self._texts is None:
            self._texts = decode(self.text, _LISTS) if self.is_list else []
        return self._texts

    def items(self, most: int | None = None) -> Iterator[Node]:
        """The elements of a list, or the first `most` of them; none for anything else."""
        for text in self.texts()[:most]:
            yield Node(text)

    def value(self) -> Any:
        """The value, fully decoded."""
        return decode(self.text, Any)

    def at(self, *path: str) -> Any:
        """The fully decoded value at a path of keys; None where it leads nowhere."""
        return self.get(*path).value()

    def string(self, *path: str) -> str | None:
        """The string at a path; None where there is none or something else."""
        node = self.get(*path)
        return node.value() if node.is_text else None

    def objects(self, *path: str) -> list[dict[str, Any]]:
        """The fully decoded list of objects at a path; empty where there is null.

        Raises:
            JsonError: The value is no list, or holds something other than objects.
        """
        node = self.get(*path)
        if node.is_null:
            return []
        name = ".".join(path)
        value = node.value()
        if not isinstance(value, list):
            raise JsonError(f"field `{name}` must be a list, not {kind_of(value)}")
        for position, item in enumerate(value):
            if not isinstance(item, dict):
                raise JsonError(
                    f"field `{name}`, item {position} must be an object, not {kind_of(item)}"
                )
        return value
