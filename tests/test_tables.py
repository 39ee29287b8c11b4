"""Small tables as people save them: dividers, line ends, spaces, compression, and what is told."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from rideway.tables import TableError, read_rows

WANTED = [{"task_id": "机场", "n": "1"}, {"task_id": "b, c", "n": "2"}]


@pytest.mark.parametrize(
    "text",
    [
        'task_id,n\n机场,1\n"b, c",2\n',
        '\ufefftask_id,n\r\n机场,1\r\n"b, c",2\r\n',
        'task_id, n\n机场, 1\n\n"b, c", 2',
        "task_id;n\n机场;1\nb, c;2\n",
        "task_id\tn\n机场\t1\nb, c\t2\n",
        '[{"task_id": "机场", "n": "1"}, {"task_id": "b, c", "n": "2"}]',
        '{"task_id": "机场", "n": "1"}\r\n\n{"task_id": "b, c", "n": "2"}\n',
        '{"机场": {"n": "1"}, "b, c": {"n": "2"}}',
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_the_same_rows_however_saved(tmp_path: Path, text: str, pack: type[bytes]) -> None:
    path = tmp_path / "table"
    path.write_bytes(pack(text.encode()))
    assert read_rows(path) == WANTED


def test_characters_that_end_lines_elsewhere_stay_in_their_cell(tmp_path: Path) -> None:
    path = tmp_path / "table"
    odd = "一\u2028二\x0c三\x85四"
    path.write_text(f'{{"id": "{odd}"}}\n{{"id": "b"}}\n'.replace("\x0c", "\\f"), encoding="utf-8")
    assert read_rows(path) == [{"id": odd}, {"id": "b"}]
    path.write_text(f'id,n\n"{odd}\n五",1\n', encoding="utf-8")
    assert read_rows(path) == [{"id": f"{odd}\n五", "n": "1"}]


def test_cells_that_are_missing_are_none(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n1,2\n")
    assert read_rows(path) == [{"a": "1", "b": "2", "c": None}]
    path.write_text("")
    assert read_rows(path) == []


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("任务,次数\n机场,1\n".encode("gbk"), "is not UTF-8 text; save it as CSV in UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "is not UTF-8 text"),
        (b"PK\x03\x04\x14\x00\xff\xfe", "looks like an Excel or zip file; save it as CSV"),
        (b"a,b\n1,2,3\n", "line 2: 3 cells under 2 names"),
        (b"a,b,a\n1,2,3\n", "line 1: column `a` is there twice"),
        (b"a,b\n1," + b"x" * 200_000 + b"\n", "line 2: is no CSV"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a": 1}\n' + b"[" * 100_000, "line 2: is no JSON"),
        (b'{"a": 1}\n{"a": ', "line 2: is no JSON"),
        (b"[1, 2]", "must hold a list of objects"),
        (b"PAR1 and no more", "is no readable Parquet file"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-3], "gzip data ends early"),
        (b"\x1f\x8b and no more", "gzip data is damaged"),
    ],
)
def test_what_is_no_table_is_told(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "table"
    path.write_bytes(data)
    with pytest.raises(TableError) as refused:
        read_rows(path)
    assert f"table: {told}" in str(refused.value)


def test_a_folder_and_a_missing_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="is a folder; name the file in it"):
        read_rows(tmp_path)
    with pytest.raises(TableError, match=r"none\.csv: cannot be read \(No such file"):
        read_rows(tmp_path / "none.csv")
