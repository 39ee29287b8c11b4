"""Decompression with a floor under it: gzip, zstd and zip members, bounded and never cut short.

Two rules keep a crafted file from eating the machine, stated in `Limits`. Data that ends before
its own end mark is an error, which the usual stream readers of zstd do not report.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, Literal, NamedTuple, Protocol

from rideway.trajectories.errors import TrajectoryFileError

Compression = Literal["none", "gzip", "zstd"]

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_ZIP_ZSTD = 93
# 4 KiB of zstd can name at most about 130 MiB of output: one step stays bounded without a
# bounded-output call, which the package does not offer for data whose end must be checked.
_ZSTD_STEP = 4096
_GZIP_STEP = 1 << 16
_AS_JSON = "give the log as JSON (`inspect log convert --to json`), which may be of any length"


class Limits(NamedTuple):
    """What a file may ask of the reader; every limit can be raised by the caller.

    Attributes:
        record_bytes: Longest single record: a line, or one member of an archive.
        ratio: Decompression ratio above which the two totals below hold; below it a stream of
            lines may be as long as it likes.
        suspect_stream_bytes: Longest stream of lines that decompresses beyond `ratio`.
        suspect_document_bytes: Longest single JSON document that decompresses beyond `ratio`.
        document_bytes: Longest compressed single JSON document; it is unpacked to a temporary file.
        members: Most members of an archive.
    """

    record_bytes: int = 256 << 20
    ratio: int = 1000
    suspect_stream_bytes: int = 16 << 30
    suspect_document_bytes: int = 256 << 20
    document_bytes: int = 8 << 30
    members: int = 100_000


class _Inflate(Protocol):
    """What zlib and zstandard have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


def sniff_compression(head: bytes) -> Compression:
    """How a file that begins with `head` is compressed, by its magic number alone."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    if head.startswith(ZSTD_MAGIC) or int.from_bytes(head[:4], "little") in _ZSTD_SKIPPABLE:
        return "zstd"
    return "none"


class InflatingStream(io.RawIOBase):
    """Raw stream of what a gzip or zstd stream holds: all its members or frames, one after another.

    Args:
        stream: The compressed bytes.
        compression: `gzip` or `zstd`.
        name: The file, for errors.
        limits: See `Limits`; `suspect_bytes` of them is the one that holds here.
        suspect_bytes: Longest output beyond `limits.ratio`.
        where: The place in the file, for errors.

    Raises:
        TrajectoryFileError: On reading: damaged or truncated data, junk after it, a bomb.
    """

    def __init__(
        self,
        stream: IO[bytes],
        compression: Literal["gzip", "zstd"],
        name: str,
        *,
        limits: Limits,
        suspect_bytes: int,
        where: str | None = None,
    ) -> None:
        super().__init__()
        self._stream, self._compression, self._name = stream, compression, name
        self._limits, self._suspect, self._where = limits, suspect_bytes, where
        self._inflate: Any = None
        self._pending = memoryview(b"")
        self._tail = b""
        self._in = self._out = 0

    def readable(self) -> bool:
        """True."""
        return True

    def close(self) -> None:
        """Close the stream beneath as well."""
        self._stream.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with at least one byte; 0 at the end of the data."""
        view = memoryview(buffer)
        while not self._pending:
            out = self._step(len(view))
            if out is None:
                return 0
            self._pending = memoryview(out)
        taken = min(len(view), len(self._pending))
        view[:taken] = self._pending[:taken]
        self._pending = self._pending[taken:]
        return taken

    def _step(self, wanted: int) -> bytes | None:
        """The next output, maybe empty; None at the end."""
        data, self._tail = self._tail, b""
        if not data:
            data = self._stream.read(_GZIP_STEP if self._compression == "gzip" else _ZSTD_STEP)
            self._in += len(data)
        if not data:
            if self._inflate is not None:
                raise self._error(
                    f"{self._compression} data ends early: the file is truncated",
                    todo="copy or download it again",
                )
            return None
        if self._inflate is None:
            if self._out and not data.strip(b"\0"):
                return b""  # padding after the last member, as tape and disk tools write it
            self._inflate = self._fresh()
        try:
            out = self._decompress(data, wanted)
        except (zlib.error, self._zstd_error()) as error:
            raise self._error(f"{self._compression} data is damaged ({error})") from None
        self._out += len(out)
        if self._out > self._suspect and self._out > self._limits.ratio * self._in:
            raise self._error(
                f"decompresses more than {self._limits.ratio}:1 beyond {self._suspect} bytes, "
                "which looks like a decompression bomb",
                todo="decompress it yourself if you trust it",
            )
        return out

    def _decompress(self, data: bytes, wanted: int) -> bytes:
        inflate = self._inflate
        if self._compression == "gzip":
            out: bytes = inflate.decompress(data, max(wanted, 1))
            self._tail = inflate.unconsumed_tail
        else:
            out = inflate.decompress(data)
        if inflate.eof:
            self._tail = inflate.unused_data
            self._inflate = None
        return out

    def _fresh(self) -> _Inflate:
        if self._compression == "gzip":
            return zlib.decompressobj(wbits=31)
        import zstandard

        return zstandard.ZstdDecompressor().decompressobj()

    def _zstd_error(self) -> type[Exception]:
        if self._compression == "gzip":
            return zlib.error
        import zstandard

        return zstandard.ZstdError

    def _error(self, what: str, todo: str | None = None) -> TrajectoryFileError:
        return TrajectoryFileError(self._name, what, where=self._where, todo=todo)


def inflating_reader(
    stream: IO[bytes],
    compression: Compression,
    name: str,
    *,
    limits: Limits,
    suspect_bytes: int,
) -> IO[bytes]:
    """`stream` itself where nothing is compressed, else a buffered stream of what it holds."""
    if compression == "none":
        return stream
    raw = InflatingStream(stream, compression, name, limits=limits, suspect_bytes=suspect_bytes)
    return io.BufferedReader(raw, 1 << 20)


def zip_members(archive: zipfile.ZipFile, name: str, limits: Limits) -> list[zipfile.ZipInfo]:
    """The files of an archive in the archive's order.

    Raises:
        TrajectoryFileError: More members than the limit.
    """
    members = [info for info in archive.infolist() if not info.is_dir()]
    if len(members) > limits.members:
        raise TrajectoryFileError(
            name,
            f"the archive holds {len(members)} files, more than {limits.members}",
            todo=_AS_JSON,
        )
    return members


def read_zip_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, limits: Limits
) -> bytes:
    """The whole content of one member: stored, deflated, bzip2, LZMA or zstd.

    Raises:
        TrajectoryFileError: Encrypted, damaged, longer than a record may be, or a bomb.
    """
    where = f"member {info.filename}"
    if info.flag_bits & 0x1:
        raise TrajectoryFileError(name, "is encrypted", where=where, todo="decrypt it first")
    chunks = []
    size = 0
    try:
        for chunk in _member_chunks(archive, info, name, limits):
            size += len(chunk)
            if size > limits.record_bytes or (
                size > (1 << 24) and size > limits.ratio * max(info.compress_size, 1)
            ):
                raise TrajectoryFileError(
                    name,
                    f"unpacks to more than {size >> 20} MiB from {info.compress_size} bytes; "
                    f"the limit is {limits.record_bytes >> 20} MiB and {limits.ratio}:1",
                    where=where,
                    todo=_AS_JSON,
                )
            chunks.append(chunk)
    except TrajectoryFileError:
        raise
    except _damage() as error:
        raise TrajectoryFileError(name, f"is damaged ({error})", where=where) from None
    return b"".join(chunks)


def _damage() -> tuple[type[Exception], ...]:
    """What the readers of the compression methods raise for damaged data."""
    known = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError)
    try:
        from lzma import LZMAError
    except ImportError:  # some builds of Python go without
        return (*known, struct.error)
    return (*known, struct.error, LZMAError)


def _member_chunks(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, limits: Limits
) -> Iterator[bytes]:
    if info.compress_type != _ZIP_ZSTD:
        with archive.open(info) as member:
            while chunk := member.read(1 << 20):
                yield chunk
        return
    # The standard library reads zstd members from Python 3.14 on; the layout is simple enough.
    stream = archive.fp
    if stream is None:
        raise zipfile.BadZipFile("the archive is closed")
    stream.seek(info.header_offset)
    header = stream.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile("no local header")
    skipped = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    stream.seek(skipped, 1)
    packed = io.BytesIO(stream.read(info.compress_size))
    raw = InflatingStream(
        packed,
        "zstd",
        name,
        limits=limits,
        suspect_bytes=1 << 24,
        where=f"member {info.filename}",
    )
    crc = 0
    reader = io.BufferedReader(raw, 1 << 20)
    while chunk := reader.read(1 << 20):
        crc = zlib.crc32(chunk, crc)
        yield chunk
    if crc != info.CRC:
        raise zipfile.BadZipFile("checksum does not match")
