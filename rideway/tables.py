"""Small tables in files: rows of named values in, rows of named values out."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from rideway.errors import InputError


class TableError(InputError):
    """A file that is no such table; the text names the file, the line and what to do."""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a small table: CSV with a header, a JSON list or object, JSON Lines, or Parquet.

    Any of them may be compressed with gzip or zstd; all is told by content, never by the name. CSV
    cells may be divided by commas, semicolons or tabs. A JSON object of objects becomes one row a
    member, its key under `task_id`.

    Raises:
        TableError: The file cannot be read as any of them.
    """
    data = _content(path)
    if data.startswith(b"PAR1"):
        return _parquet_rows(data, path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        kind = "looks like an Excel or zip file" if data.startswith(b"PK") else "is not UTF-8 text"
        raise TableError(f"{path}: {kind}; save it as CSV in UTF-8, JSON or Parquet") from None
    if text.lstrip()[:1] not in ("{", "["):
        return _csv_rows(text, path)
    document = _json(text, path)
    if isinstance(document, dict) and document and _all_objects(document.values()):
        document = [{"task_id": name, **row} for name, row in document.items()]
    rows = [document] if isinstance(document, dict) else document
    if not (isinstance(rows, list) and _all_objects(rows)):
        raise TableError(f"{path}: must hold a list of objects, one a row")
    return rows


def _content(path: Path) -> bytes:
    """All bytes of a file, decompressed."""
    from rideway.trajectories.compression import Limits, inflating_reader, sniff_compression

    limits = Limits()
    try:
        with path.open("rb") as stream:
            compression = sniff_compression(stream.peek(4))
            text = inflating_reader(
                stream,
                compression,
                str(path),
                limits=limits,
                suspect_bytes=limits.suspect_document_bytes,
            )
            return text.read()
    except IsADirectoryError:
        raise TableError(f"{path}: is a folder; name the file in it") from None
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from None
    except InputError as error:  # damaged or cut short
        raise TableError(str(error)) from None


def _csv_rows(text: str, path: Path) -> list[dict[str, Any]]:
    header = text.partition("\n")[0]
    divider = max(",;\t", key=header.count)
    lines = csv.reader(StringIO(text, newline=""), delimiter=divider, skipinitialspace=True)
    rows: list[dict[str, Any]] = []
    try:
        names = [name.strip() for name in next(lines, [])]
        for name in names:
            if name and names.count(name) > 1:
                raise TableError(f"{path}: line 1: column `{name}` is there twice")
        for cells in lines:
            if not any(cells):
                continue
            if len(cells) > len(names):
                raise TableError(
                    f"{path}: line {lines.line_num}: {len(cells)} cells under {len(names)} names; "
                    "quote cells that hold a comma"
                )
            rows.append(dict(zip(names, [*cells, *[None] * len(names)], strict=False)))
    except csv.Error as error:
        raise TableError(f"{path}: line {lines.line_num}: is no CSV ({error})") from None
    return rows


def _json(text: str, path: Path) -> Any:
    """The document, or the list of the lines' documents where each line is one."""
    try:
        return json.loads(text)
    except ValueError:
        # not splitlines: a JSON text may hold other characters that end lines
        lines = enumerate(text.split("\n"), 1)
        return [_json_line(line, path, number) for number, line in lines if line.strip()]
    except RecursionError:
        raise TableError(f"{path}: is nested too deeply for a table") from None


def _all_objects(values: Any) -> bool:
    return all(isinstance(value, dict) for value in values)


def _json_line(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TableError(f"{path}: line {number}: is no JSON ({error})") from None


def _parquet_rows(data: bytes, path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[dict[str, Any]] = pq.read_table(pa.BufferReader(data)).to_pylist()
    except pa.ArrowInvalid as error:
        raise TableError(f"{path}: is no readable Parquet file ({error})") from None
    return rows


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> int:
    """Write rows as CSV, JSON Lines or Parquet, by the ending of the name; returns their number.

    The file appears complete or not at all.

    Raises:
        TableError: The ending is none of .csv, .jsonl, .parquet.
        OSError: The file cannot be written.
    """
    writers = {".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise TableError(f"{path}: give a name that ends in {', '.join(writers)}")
    if not path.parent.is_dir():
        raise TableError(f"{path}: there is no folder {path.parent}")
    partial = path.with_name(f".{path.name}.partial")
    try:
        number = writer(partial, columns, rows)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return number


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> int:
    number = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writeheader()
        for number, row in enumerate(rows, 1):  # noqa: B007 - the number is the result
            writer.writerow(row)
    return number


def _write_jsonl(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> int:
    number = 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for number, row in enumerate(rows, 1):  # noqa: B007 - the number is the result
            stream.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    return number


def _write_parquet(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    listed = list(rows)
    pq.write_table(pa.Table.from_pylist(listed), path, compression="zstd")
    return len(listed)
