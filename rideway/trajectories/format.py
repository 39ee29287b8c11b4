"""What a format is, and the loops that most of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from rideway.records import Message, Trajectory
from rideway.trajectories.assemble import assemble
from rideway.trajectories.errors import TrajectoryFileError
from rideway.trajectories.node import Node
from rideway.trajectories.units import Input, Unit


@dataclass(frozen=True, slots=True)
class Format:
    """A layout of trajectory files.

    Attributes:
        name: What `--format` takes and what `Trajectory.format` says.
        description: One line for people.
        matches: Whether a file is in this layout, judged by the keys and shapes of its first
            values. It never looks at the file's name or at an id.
        read: The trajectories of a file in this layout, one after another.
    """

    name: str
    description: str
    matches: Callable[[Input], bool]
    read: Callable[[Input], Iterator[Trajectory]]


class LayoutMismatch(Exception):
    """A value that is not in the layout of the file it stands in."""

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit.where)
        self.unit = unit


Fits = Callable[[Node], bool]
Build = Callable[[Node, int], Trajectory | Iterable[Trajectory]]


def record_format(name: str, description: str, fits: Fits, build: Build) -> Format:
    """The format of files of records: told by the first object, see :func:`read_records`."""

    def matches(file: Input) -> bool:
        return bool(file.objects) and fits(file.objects[0])

    def read(file: Input) -> Iterator[Trajectory]:
        return read_records(file, fits, build)

    return Format(name, description, matches, read)


def history_format(
    name: str,
    description: str,
    is_message: Fits,
    read_message: Callable[[Node], Iterable[Message]],
    build: Build,
) -> Format:
    """The format of files of message histories, or of nothing but messages: one history then.

    Args:
        name: The format's name.
        description: One line for people.
        is_message: Whether a value is a message.
        read_message: What one message of a file of messages says.
        build: The trajectory of one history, given it and its number.
    """

    def fits(node: Node) -> bool:
        return begins_with(history(node), is_message)

    def matches(file: Input) -> bool:
        return bool(file.head) and (fits(file.first) or (file.is_list and is_message(file.first)))

    def read(file: Input) -> Iterator[Trajectory]:
        if fits(file.first):
            yield from read_records(file, fits, build)
        else:
            yield read_conversation(name, file, is_message, read_message)

    return Format(name, description, matches, read)


def history(node: Node) -> Node:
    """The list of messages that a value is, or that it holds under `messages`."""
    return node if node.is_list else node.get("messages")


def begins_with(node: Node, is_message: Fits) -> bool:
    """Whether a value is a list of messages, judged by its first items."""
    first = list(node.items(3))
    return bool(first) and all(is_message(item) for item in first)


def read_records(file: Input, fits: Fits, build: Build) -> Iterator[Trajectory]:
    """The trajectories of a file whose values each hold one or more of them.

    Args:
        file: The file.
        fits: Whether a value is in the layout.
        build: Trajectories of one value, given it and its number.

    Raises:
        TrajectoryFileError: A value cannot be read; names the place.
        LayoutMismatch: A value is in another layout.
    """
    for unit in file.units():
        with reading(file, unit):
            if not fits(unit.node):
                raise LayoutMismatch(unit)
            built = build(unit.node, unit.index)
            trajectories = [built] if isinstance(built, Trajectory) else built
            yield from trajectories


def read_conversation(
    name: str, file: Input, is_message: Fits, read_message: Callable[[Node], Iterable[Message]]
) -> Trajectory:
    """The one trajectory of a file whose values are its messages.

    Args:
        name: The format's name.
        file: The file.
        is_message: Whether a value is a message.
        read_message: What one message says.

    Raises:
        TrajectoryFileError: A value cannot be read; names the place.
        LayoutMismatch: A value is no message.
    """
    messages: list[Message] = []
    for unit in file.units():
        with reading(file, unit):
            if not is_message(unit.node):
                raise LayoutMismatch(unit)
            messages += read_message(unit.node)
    return assemble(name, 0, messages)


class reading:
    """Context in which every error about a value of a file gets the file's name and the place."""

    def __init__(self, file: Input, unit: Unit) -> None:
        self.file, self.unit = file, unit

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, TrajectoryFileError):
            return
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            raise self.file.source.error(
                first["msg"], where=self.unit.where, field=field or None
            ) from None
        if isinstance(error, RecursionError):
            raise self.file.source.error("is nested too deeply", where=self.unit.where) from None
        if isinstance(error, ValueError):
            raise self.file.source.error(str(error), where=self.unit.where) from None
