"""Opening files by content: compression, limits, torn lines, one clear line for anything else."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import zstandard

from rideway.errors import InputError
from rideway.trajectories import TrajectoryFileError, read_trajectories
from rideway.trajectories.compression import Limits
from rideway.trajectories.source import open_source

RUN = {"task_id": 1, "reward": 1.0, "traj": [{"role": "user", "content": "叫车"}], "trial": 0}
LINE = json.dumps(RUN, ensure_ascii=False).encode() + b"\n"


def write(folder: Path, content: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def error_of(path: Path | str, **options: object) -> str:
    with pytest.raises(TrajectoryFileError) as caught:
        list(read_trajectories(path, **options))  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    assert str(path) in text
    return text


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (LINE * 2, "jsonl"),
        (b"\n\n" + LINE + b"\n" + LINE, "jsonl"),
        (b"\xef\xbb\xbf" + LINE * 2, "jsonl"),
        (LINE.replace(b"\n", b"\r\n") * 2, "jsonl"),
        (LINE, "json"),
        (LINE.strip(), "json"),
        (b"[" + LINE.strip() + b"]", "json"),
        (b"\xef\xbb\xbf" + json.dumps([RUN], indent=2).encode(), "json"),
    ],
)
def test_the_kind_is_seen_in_the_content(content: bytes, kind: str, tmp_path: Path) -> None:
    path = write(tmp_path, content, "whatever.zip")
    assert open_source(path).kind == kind
    assert {t.task_id for t in read_trajectories(path)} == {"1"}


def test_lines_are_streamed_with_their_numbers(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, LINE + b"\n  \n" + LINE + LINE.strip()))
    assert list(source.lines()) == [(1, LINE), (4, LINE), (5, LINE.strip())]
    assert next(iter(source.lines())) == (1, LINE), "a file can be read again"
    assert source.head.startswith(LINE)
    assert source.warnings == []


@pytest.mark.parametrize("torn", [LINE[:-9], LINE[: len(LINE) // 2], LINE[:-9] + b"\n", b"{"])
def test_a_torn_last_line_is_left_out_and_named(torn: bytes, tmp_path: Path) -> None:
    reader = read_trajectories(write(tmp_path, LINE * 2 + torn))
    assert len(list(reader)) == 2
    assert len(reader.warnings) == 1
    assert "line 3: torn last line left out" in reader.warnings[0]


@pytest.mark.parametrize("broken", [b'{"task_id": }\n', b"not json\n", LINE[:-9] + b"\n"])
def test_a_broken_line_in_the_middle_is_an_error(broken: bytes, tmp_path: Path) -> None:
    path = write(tmp_path, LINE + broken + LINE)
    assert "line 2: " in error_of(path)


def test_a_broken_last_line_that_is_whole_is_an_error(tmp_path: Path) -> None:
    assert "line 2: " in error_of(write(tmp_path, LINE + b'{"task_id": 1 2}\n'))


def test_a_broken_first_line_is_named(tmp_path: Path) -> None:
    assert "line 1: " in error_of(write(tmp_path, b'{"task_id": 1, }\n' + LINE))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\x00\x01\x02\xff" * 50, "binary data"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "web page"),
        (json.dumps(RUN).encode("utf-16"), "UTF-16"),
        (json.dumps(RUN).encode("utf-16-le"), "UTF-16"),
        (b"task_id,reward\n1,0\n", "not JSON"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS pointer"),
        (b"PAR1" + b"\0" * 40, "Parquet"),
        (b"%PDF-1.7", "PDF"),
        (b"{", "ends early"),
        (LINE[: len(LINE) // 2], "ends early"),
        (b"[" + LINE.strip() + b",", "ends early"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": "\xff\xfe"}', "no format"),
        (b"[]", "an empty list"),
        (b"[1, 2]", "a plain value"),
        (b"{}", "no keys"),
        (b"42\n43\n", "not JSON"),
        (b"PK\x03\x04broken", "zip archive is damaged"),
        (gzip.compress(LINE * 99, mtime=0)[:-20], "truncated"),
        (gzip.compress(LINE * 99, mtime=0)[:40], "truncated"),
        (zstandard.compress(LINE * 99)[:-4], "truncated"),
        (gzip.compress(LINE, mtime=0) + b"junk", "damaged"),
        (gzip.compress(gzip.compress(LINE), mtime=0), "compressed twice"),
        (b"\x1f\x8b" + b"x" * 30, "damaged"),
    ],
)
def test_what_is_no_file_of_trajectories_says_so(content: bytes, told: str, tmp_path: Path) -> None:
    assert told in error_of(write(tmp_path, content))


def test_damage_inside_compressed_data_is_an_error(tmp_path: Path) -> None:
    text = b"".join(LINE.replace(b"1.0", b"%d.0" % number) for number in range(500))
    checked = zstandard.ZstdCompressor(write_checksum=True)
    for packed in (gzip.compress(text, mtime=0), checked.compress(text)):
        for place in range(len(packed) // 3, len(packed) - 9, len(packed) // 7):
            damaged = bytearray(packed)
            damaged[place] ^= 0xFF
            told = error_of(write(tmp_path, bytes(damaged)))
            assert "damaged" in told or "truncated" in told or "JSON" in told


def test_missing_files_folders_and_unknown_formats(tmp_path: Path) -> None:
    assert "no such file" in error_of(tmp_path / "nothing.json")
    assert "is a folder" in error_of(tmp_path)
    with pytest.raises(InputError, match="not one of: auto, rideway"):
        read_trajectories(write(tmp_path, LINE), format="excel")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs a plain user")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = write(tmp_path, LINE)
    path.chmod(0)
    assert "Permission denied" in error_of(path)


def test_a_name_that_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(TrajectoryFileError, match="cannot be opened"):
        read_trajectories("a\0b")


def test_a_record_longer_than_the_limit_is_named(tmp_path: Path) -> None:
    limits = Limits(record_bytes=1000)
    path = write(tmp_path, LINE + LINE.replace("叫车".encode(), b"x" * 2000) + LINE)
    told = error_of(path, limits=limits)
    assert "line 2: is longer than 1000 bytes; write it to a JSON file of its own" in told
    assert len(list(read_trajectories(path))) == 3
    alone = write(tmp_path, LINE.replace("叫车".encode(), b"x" * 2000))
    assert len(list(read_trajectories(alone, limits=limits))) == 1


def test_a_stream_that_decompresses_too_far_is_refused(tmp_path: Path) -> None:
    limits = Limits(ratio=50, suspect_stream_bytes=10_000, suspect_document_bytes=10_000)
    lines, document = LINE * 2_000, b"[" + LINE.strip() + (b"," + LINE.strip()) * 1_999 + b"]"
    for content in (lines, document):
        path = write(tmp_path, zstandard.compress(content))
        assert "decompression bomb" in error_of(path, limits=limits)
        assert len(list(read_trajectories(path))) == 2_000


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\n" * (80 << 20), "a long stretch of white space"),
        (LINE + b"\n" * (80 << 20), "a long stretch of white space"),
        (LINE * 2 + b"\n" * (3 << 20), "over a million blank lines"),
    ],
)
def test_blank_bombs_end(content: bytes, told: str, tmp_path: Path) -> None:
    assert told in error_of(write(tmp_path, zstandard.compress(content)))


def test_an_archive_member_that_unpacks_too_far_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1_epoch_1.json", b'{"id": 1, "x": "' + b"x" * (40 << 20) + b'"}')
    told = error_of(path)
    assert "member samples/1_epoch_1.json: unpacks to more than" in told
    assert "give the log as JSON" in told


def test_an_archive_with_too_many_members_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(12):
            archive.writestr(f"samples/{number}_epoch_1.json", b"{}")
    assert "12 files, more than 10" in error_of(path, limits=Limits(members=10))


def test_an_archive_without_samples_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "other.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run.json", LINE)
    assert "without Inspect samples" in error_of(path)


READ = """
import sys
from rideway.trajectories import read_trajectories
reader = read_trajectories(sys.argv[1])
print(reader.format, [t.trajectory_id for t in reader], reader.warnings)
"""


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize("content", [LINE * 3, b"[" + LINE.strip() + b"]", LINE * 2 + LINE[:20]])
def test_standard_input_and_pipes(pack: object, content: bytes) -> None:
    packed = pack(content)  # type: ignore[operator]
    done = subprocess.run(
        [sys.executable, "-c", READ, "-"], input=packed, capture_output=True, check=True
    )
    assert done.stdout.decode().startswith("tau_bench ['1/0'")
    torn = content.endswith(LINE[:20])
    assert ("<stdin>: line 3: torn" in done.stdout.decode()) == torn


def test_an_archive_on_standard_input() -> None:
    packed = io.BytesIO()
    sample = {"id": "a", "epoch": 1, "messages": [], "target": "", "scores": {}}
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("samples/a_epoch_1.json", json.dumps(sample))
    done = subprocess.run(
        [sys.executable, "-c", READ, "-"], input=packed.getvalue(), capture_output=True, check=True
    )
    assert done.stdout.decode().startswith("inspect_ai ['a/1']")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = subprocess.Popen(
        [sys.executable, "-c", f"open({str(path)!r}, 'wb').write({LINE * 3!r})"]
    )
    assert len(list(read_trajectories(path))) == 3
    assert writer.wait() == 0


def test_a_record_of_twelve_megabytes_in_chinese(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "打车" * 2_000_000}, {"role": "assistant", "content": "好"}]
    long = RUN | {"traj": said}
    text = json.dumps(long, ensure_ascii=False).encode()
    assert len(text) > 12_000_000
    for content in (text, text + b"\n" + LINE, b"[" + text + b"]"):
        first = next(read_trajectories(write(tmp_path, content)))
        assert first.messages[0].content == "打车" * 2_000_000


def test_numbers_that_are_none_and_half_characters(tmp_path: Path) -> None:
    said = ['{"role": "user", "content": "\\ud83d"}']
    said += ['{"role": "assistant", "content": "NaN \\ude00 \\ud83d\\ude00"}']
    run = f'{{"task_id": 1, "reward": NaN, "trial": 0, "traj": [{", ".join(said)}]}}'
    for content in (f"{run}\n{run}\n", f"[{run}]"):
        first = next(read_trajectories(write(tmp_path, content.encode())))
        assert first.success is None
        assert [message.content for message in first.messages] == ["\ufffd", "NaN \ufffd 😀"]


def test_a_first_line_that_was_torn_is_named(tmp_path: Path) -> None:
    assert "line 1: " in error_of(write(tmp_path, LINE[:-20] + b"\n" + LINE * 2))
