"""How commands end: status, one line, and quiet when the reader of their output has left."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rideway.commands.exits import finish
from rideway.errors import InputError

ROOT = Path(__file__).parents[1]
TASK = "dataset_builder/source/tasks/rh44/airport_new_01_bj_capital_scheduled.yaml"


def fail(error: BaseException) -> Callable[[], int]:
    def work() -> int:
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (InputError("votes.csv: row 1: no"), 2, "it: votes.csv: row 1: no\n"),
        (KeyboardInterrupt(), 130, "it: stopped\n"),
        (
            PermissionError(13, "Permission denied", "out.csv"),
            1,
            "it: out.csv: Permission denied\n",
        ),
        (OSError(28, "No space left on device"), 1, "it: No space left on device\n"),
        (BrokenPipeError(32, "Broken pipe"), 0, ""),
    ],
)
def test_an_error_is_a_status_and_at_most_one_line(
    capsys: pytest.CaptureFixture[str], error: BaseException, status: int, told: str
) -> None:
    assert finish(fail(error), "it") == status
    assert capsys.readouterr() == ("", told)


def test_the_commands_own_status_stands_and_bugs_propagate() -> None:
    assert finish(lambda: 1, "it") == 1
    with pytest.raises(ZeroDivisionError):
        finish(lambda: 1 // 0, "it")
    with pytest.raises(SystemExit):
        finish(fail(SystemExit(2)), "it")


def piped(call: str, reader: str, buffered: bool) -> subprocess.CompletedProcess[str]:
    """Run a Python call whose output goes to `reader`; the status is that of the call."""
    settings = os.environ | {"PYTHONUNBUFFERED": "" if buffered else "1"}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{sys.executable} {call} {reader}"],
        capture_output=True, text=True, cwd=ROOT, env=settings, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    "call",
    [
        "-c 'import sys; from rideway.commands.exits import finish;"
        ' sys.exit(finish(lambda: print("x") or 0, "it"))\'',
        f"-m dataset_builder check {TASK} --show brisk",
    ],
)
def test_a_reader_that_left_is_no_error(call: str, buffered: bool) -> None:
    done = piped(call, "| (exec <&-; sleep 0.2)", buffered)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("buffered", [True, False])
def test_a_full_disk_is_one_line(buffered: bool) -> None:
    call = "-c 'import sys; from rideway.commands.exits import finish;"
    done = piped(
        f'{call} sys.exit(finish(lambda: print("x") or 0, "it"))\'', ">/dev/full", buffered
    )
    assert (done.returncode, done.stderr) == (1, "it: No space left on device\n")


def test_a_folder_without_tasks_is_told(tmp_path: Path) -> None:
    done = piped(f"-m dataset_builder check {tmp_path}", "", True)
    assert (done.returncode, done.stderr) == (2, f"{tmp_path}: holds no task file (*.yaml)\n")
