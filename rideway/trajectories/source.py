"""Opening a trajectory file by its content, never by its name.

`open_source(path)` looks at the first bytes and gives a `Source` of one of three kinds:

* `jsonl`: one JSON value a line, at least two of them. `Source.lines()` streams them in memory
  bounded by the longest line.
* `json`: one JSON value (an object or an array, on one line or on many). `Source.document()` gives
  its bytes; a large file is mapped, not read.
* `zip`: an archive. `Source.members()` lists it, `Source.read_member()` unpacks one file of it.

Any of them may be compressed with gzip or zstd (several members or frames too). What a file may ask
of the machine is stated in `rideway.trajectories.compression.Limits`: a record of 256 MiB, no limit
on the length of a stream unless it decompresses more than 1000:1.
"""

from __future__ import annotations

import io
import mmap
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import IO, Literal

from rideway.trajectories.compression import (
    Compression,
    Limits,
    inflating_reader,
    read_zip_member,
    sniff_compression,
    zip_members,
)
from rideway.trajectories.errors import TrajectoryFileError
from rideway.trajectories.jsontext import is_complete, is_truncated

Kind = Literal["jsonl", "json", "zip"]

_UTF8_BOM = b"\xef\xbb\xbf"
_HEAD_BYTES = 1 << 16
_MOST_BLANK = 1 << 20
_MAP_FROM = 32 << 20
_FOREIGN = {
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"%PDF": "a PDF",
    b"\x89PNG": "an image",
    b"7z\xbc\xaf": "a 7z archive",
    b"SQLite format 3": "an SQLite database",
}


@dataclass
class Source:
    """One opened file.

    Attributes:
        name: The path as given (`<stdin>` for standard input): what errors and warnings name.
        kind: `jsonl`, `json` or `zip`.
        head: The first 64 KiB at most of the decompressed text (of the archive for `zip`).
        compression: `none`, `gzip` or `zstd`.
        warnings: Lines for people, filled while reading: a torn last line, a run without episodes.
    """

    name: str
    kind: Kind
    head: bytes
    compression: Compression
    limits: Limits
    _open: Callable[[int], IO[bytes]]
    warnings: list[str] = field(default_factory=list)
    _zip: zipfile.ZipFile | None = None

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Line number (from 1) and bytes of every line that is not blank, line end included.

        The lines are not parsed, but for the last: where it ends before its JSON value does, or has
        no line end and is no JSON, it was torn while being written; it is left out and named in
        `warnings`.

        Raises:
            TrajectoryFileError: A line is longer than `limits.record_bytes`, or the compressed data
                is damaged, truncated or a bomb.
        """
        longest = self.limits.record_bytes
        number = blank = last_number = 0
        last = b""
        with closing(self._open(self.limits.suspect_stream_bytes)) as stream:
            readline = stream.readline
            while line := readline(longest + 1):
                number += 1
                if line.isspace():
                    blank += 1
                    if blank > _MOST_BLANK:
                        raise self.error("holds over a million blank lines")
                    continue
                if len(line) > longest:
                    raise self.error(
                        f"is longer than {longest} bytes",
                        where=f"line {number}",
                        todo="write it to a JSON file of its own, which may be of any length",
                    )
                if last:
                    yield last_number, last
                elif line.startswith(_UTF8_BOM):
                    line = line[3:]
                last, last_number = line, number
        if not last:
            return
        if not is_complete(last) and (last[-1] != 10 or is_truncated(last.rstrip())):
            self.warnings.append(
                f"{self.name}: line {last_number}: torn last line left out "
                f"({len(last)} bytes that are no complete JSON value)"
            )
            return
        yield last_number, last

    def document(self) -> bytes | mmap.mmap | memoryview:
        """The bytes of the one JSON value of a `json` source.

        Raises:
            TrajectoryFileError: The compressed data is damaged, truncated or too large.
        """
        with closing(self._open(self.limits.suspect_document_bytes)) as stream:
            file = stream if self.compression == "none" and _is_file(stream) else None
            if file is None:
                file = self._spooled(stream)
            with closing(file):
                return _without_bom(_contents(file))

    def members(self) -> list[zipfile.ZipInfo]:
        """The files of a `zip` source, in the archive's order."""
        return zip_members(self._archive(), self.name, self.limits)

    def read_members(self, names: list[str]) -> Iterator[tuple[str, bytes]]:
        """Name and content of some members, one after another."""
        archive = self._archive()
        for name in names:
            info = archive.getinfo(name)
            yield name, read_zip_member(archive, info, self.name, self.limits)

    def error(
        self,
        what: str,
        *,
        where: str | None = None,
        field: str | None = None,
        todo: str | None = None,
    ) -> TrajectoryFileError:
        """A `TrajectoryFileError` that names this file."""
        return TrajectoryFileError(self.name, what, where=where, field=field, todo=todo)

    def _archive(self) -> zipfile.ZipFile:
        if self._zip is not None:
            return self._zip
        stream = self._open(self.limits.suspect_document_bytes)
        try:
            self._zip = zipfile.ZipFile(stream if _is_file(stream) else self._spooled(stream))
            return self._zip
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise self.error(
                f"zip archive is damaged or truncated ({error})", todo="copy or download it again"
            ) from None

    def _spooled(self, stream: IO[bytes]) -> IO[bytes]:
        """`stream` in a temporary file that goes away by itself."""
        spool = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
        size = 0
        while chunk := stream.read(1 << 20):
            size += len(chunk)
            if size > self.limits.document_bytes:
                raise self.error(
                    f"unpacks to more than {self.limits.document_bytes} bytes",
                    todo="decompress it first: a plain file may be of any length",
                )
            spool.write(chunk)
        spool.flush()
        spool.seek(0)
        return spool


def open_source(path: str | os.PathLike[str], *, limits: Limits | None = None) -> Source:
    """Open a file, or standard input for `-`, by its content.

    Raises:
        TrajectoryFileError: Missing, no permission, a folder, empty, binary, a web page, not UTF-8,
            damaged, or not JSON.
    """
    limits = limits or Limits()
    if os.fspath(path) == "-":
        return _from_stream(sys.stdin.buffer, "<stdin>", limits)
    name = os.fspath(path)

    def raw() -> IO[bytes]:
        try:
            return open(name, "rb", buffering=1 << 20)
        except FileNotFoundError:
            raise TrajectoryFileError(name, "no such file") from None
        except IsADirectoryError:
            raise TrajectoryFileError(
                name, "is a folder, not a file", todo="name the files in it"
            ) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise TrajectoryFileError(name, f"cannot be opened ({why})") from None

    if os.path.isdir(name):
        raise TrajectoryFileError(name, "is a folder, not a file", todo="name the files in it")
    if os.path.exists(name) and not os.path.isfile(name):
        return _from_stream(raw(), name, limits)  # a pipe: it can be read only once
    with raw() as stream:
        compression = sniff_compression(_peek(stream, name, 4))

    def reopen(suspect_bytes: int) -> IO[bytes]:
        return inflating_reader(
            raw(), compression, name, limits=limits, suspect_bytes=suspect_bytes
        )

    with closing(reopen(limits.suspect_document_bytes)) as text:
        kind, head, _ = _sniff(text, name, limits)
    return Source(name, kind, head, compression, limits, reopen)


def _from_stream(stream: IO[bytes], name: str, limits: Limits) -> Source:
    """A source over a stream that can be read only once."""
    start = stream.read(4)
    compression = sniff_compression(start)
    text = inflating_reader(
        _Chained(start, stream).buffered(),
        compression,
        name,
        limits=limits,
        suspect_bytes=limits.suspect_document_bytes,
    )
    kind, head, consumed = _sniff(text, name, limits)
    rest: list[IO[bytes]] = [_Chained(consumed, text).buffered()]

    def once(_: int) -> IO[bytes]:
        if not rest:
            raise TrajectoryFileError(name, "is a pipe and can be read only once")
        return rest.pop()

    return Source(name, kind, head, compression, limits, once)


class _Chained(io.RawIOBase):
    """Bytes already read, then the stream they came from."""

    def __init__(self, start: bytes, stream: IO[bytes]) -> None:
        super().__init__()
        self._start, self._stream = memoryview(start), stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk: bytes | memoryview = self._start[: len(buffer)]
        self._start = self._start[len(chunk) :]
        if not chunk:
            chunk = self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def buffered(self) -> IO[bytes]:
        return io.BufferedReader(self, 1 << 20)


def _sniff(stream: IO[bytes], name: str, limits: Limits) -> tuple[Kind, bytes, bytes]:
    """Kind, head and all bytes that were consumed to find out."""
    start = _peek(stream, name, _HEAD_BYTES)
    if start[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "zip", start, start
    _refuse_foreign(start, name)
    if b"\n" not in start.lstrip() and len(start) == _HEAD_BYTES:
        start += stream.readline(limits.record_bytes)
    first, _, rest = start.lstrip().partition(b"\n")
    consumed = [start]
    more_follows = bool(rest.strip())
    while not more_follows and (more := stream.read(1 << 16)):
        consumed.append(more)
        more_follows = bool(more.strip())
        if len(consumed) > 1024:
            raise TrajectoryFileError(name, "holds a long stretch of white space")
    if first.startswith(_UTF8_BOM):
        first = first[3:]
    kind: Kind = "jsonl" if more_follows and is_complete(first) else "json"
    if kind == "json" and more_follows and _looks_like_lines(first, rest):
        raise TrajectoryFileError(
            name,
            "is no valid JSON, though the file looks like JSON Lines",
            where="line 1",
            todo="repair or remove the line",
        )
    return kind, start[:_HEAD_BYTES], b"".join(consumed)


def _looks_like_lines(first: bytes, rest: bytes) -> bool:
    """Whether a broken first line is followed by whole objects on lines of their own."""
    second = rest.lstrip().partition(b"\n")[0].strip()
    return first[:1] == b"{" and second[:1] == b"{" and is_complete(second)


def _peek(stream: IO[bytes], name: str, size: int) -> bytes:
    try:
        return stream.read(size)
    except OSError as error:
        raise TrajectoryFileError(name, f"cannot be read ({error.strerror or error})") from None


def _refuse_foreign(head: bytes, name: str) -> None:
    """Raise for what is no JSON text, naming what it seems to be."""
    text = head[3:] if head.startswith(_UTF8_BOM) else head
    text = text.lstrip()
    if not text:
        blank = len(head) >= _HEAD_BYTES
        what = "begins with a long stretch of white space" if blank else "is empty"
        raise TrajectoryFileError(name, what, todo="give a file that holds trajectories")
    if sniff_compression(head) != "none":
        raise TrajectoryFileError(name, "is compressed twice", todo="decompress it once")
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            todo = "convert it to UTF-8" if "UTF" in what else "convert it to JSON or JSON Lines"
            raise TrajectoryFileError(name, f"is {what}", todo=todo)
    if b"\0" in head[:64]:
        wide = text[:1] in (b"{", b"[") or head[1:2] in (b"{", b"[")
        what = "looks like UTF-16 text" if wide else "is binary data"
        raise TrajectoryFileError(
            name, f"{what}, not JSON", todo="give JSON or JSON Lines in UTF-8"
        )
    if text.startswith(b"version https://git-lfs"):
        raise TrajectoryFileError(
            name, "is a Git LFS pointer, not the file itself", todo="fetch it with git lfs pull"
        )
    if text[:1] == b"<":
        raise TrajectoryFileError(
            name,
            "is a web page or XML, not JSON: maybe an error page was saved in place of the file",
            todo="download the file itself",
        )
    if text[:1] not in (b"{", b"["):
        raise TrajectoryFileError(
            name,
            "is not JSON: it begins with neither { nor [",
            todo="give JSON, JSON Lines or an Inspect archive",
        )


def _is_file(stream: IO[bytes]) -> bool:
    return isinstance(stream, io.BufferedReader) and isinstance(stream.raw, io.FileIO)


def _contents(file: IO[bytes]) -> bytes | mmap.mmap:
    """All of a file: read when it is small, mapped when it is large."""
    size = os.fstat(file.fileno()).st_size
    if size < _MAP_FROM:
        return file.read()
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _without_bom(text: bytes | mmap.mmap) -> bytes | mmap.mmap | memoryview:
    return memoryview(text)[3:] if text[:3] == _UTF8_BOM else text
