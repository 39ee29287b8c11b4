"""What running models costs: CPU per model call, and the rate of calls against the ideal one.

    python benchmarks/run.py [--calls N] [--seconds S]

A server in a process of its own answers after a fixed delay. Printed from one run:
* CPU of this process per call, for a request with the 26 tool schemas and 20 messages: by the
  client's `chat.completions.create`, by its low-level `post` with a ready body, and by our door;
  ours is the difference of the last two;
* with 64 calls in flight and answers after 300 ms: model calls a second against 64 / 0.3 s, of bare
  sockets (what machine and server give at that moment), of the door alone, and of a whole grid
  (agent and user both models, checks, scores, files).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

import contextlib

from rideway.cast import Cast
from rideway.chat import Endpoint, OpenAIChat, wire_message
from rideway.completions import read_completion, wire_body, wire_tools
from rideway.env import Environment
from rideway.model_run import play_models
from rideway.records import Message, ToolCall
from tests.faulty_server import FaultyServer
from tests.ride_tasks import reply, small_tasks

IN_FLIGHT = 64
DELAY = 0.3
SAID = {"role": "assistant", "content": "好的，请问几点出发？"}


def serve(told: Connection, delay: float, scripted: bool) -> None:
    """Serves until the other side closes the pipe."""

    async def run() -> None:
        answer = reply if scripted else lambda body: SAID
        async with FaultyServer(answer, delay=delay) as server:
            told.send(server.url)
            await asyncio.get_running_loop().run_in_executor(None, _closed, told)

    asyncio.run(run())


def _closed(told: Connection) -> None:
    with contextlib.suppress(EOFError):
        told.recv()


class Server:
    """A server in a process of its own: `with Server(delay) as url`."""

    def __init__(self, delay: float, *, scripted: bool = False) -> None:
        context = multiprocessing.get_context("spawn")
        self._told, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, delay, scripted), daemon=True)

    def __enter__(self) -> str:
        self._process.start()
        return str(self._told.recv())

    def __exit__(self, *error: object) -> None:
        self._told.send("stop")
        self._process.join(5)


def conversation() -> list[Message]:
    """Twenty messages as they come in an episode: texts, calls and their answers."""
    env = Environment.for_city("上海")
    messages = [Message(role="system", content="你是网约车平台的在线客服。" * 40)]
    while len(messages) < 20:
        n = len(messages)
        raw = json.dumps({"keyword": "虹桥", "limit": 3}, ensure_ascii=False)
        call = ToolCall(name="search_poi", arguments=raw, id=f"c{n}")
        answer = json.dumps(env.call(call.name, call.arguments), ensure_ascii=False)
        messages += [
            Message(role="user", content="明天早上八点，从家里去虹桥机场，两个人三个箱子。"),
            Message(role="assistant", tool_calls=(call,)),
            Message(role="tool", content=answer, tool_call_id=f"c{n}"),
            Message(role="assistant", content="虹桥有两个航站楼，请问您去哪一个？"),
        ]
    return messages[:20]


async def cpu_per_call(
    call: Callable[[], Awaitable[Any]], calls: int, in_flight: int = 16
) -> tuple[float, float]:
    """Milliseconds of CPU, and calls a second of wall time."""
    for _ in range(5):
        await call()
    left = iter(range(calls))

    async def worker() -> None:
        for _ in left:
            await call()

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return 1000 * (time.process_time() - cpu) / calls, calls / (time.perf_counter() - wall)


async def costs(url: str, calls: int) -> None:
    """The first table."""
    from openai import AsyncOpenAI

    messages, tools = conversation(), Environment.tool_schemas()
    options: dict[str, Any] = {"temperature": 0.0, "seed": 0, "max_tokens": 2048}
    endpoint = Endpoint(url)
    model = OpenAIChat("m", endpoint, extra={})
    client = AsyncOpenAI(api_key="none", base_url=url, max_retries=0)
    fields = {"model": "m", **options}
    written = wire_tools(tools)
    body = wire_body(fields, messages, written)
    whole: dict[str, Any] = {
        **fields,
        "messages": [wire_message(one) for one in messages],
        "tools": tools,
    }
    answer = json.dumps({"choices": [{"message": SAID}], "usage": {}}).encode()
    print(f"request of {len(tools)} schemas and {len(messages)} messages: {len(body):,} bytes")
    rows: list[tuple[str, Callable[[], Awaitable[Any]]]] = [
        ("chat.completions.create", lambda: client.chat.completions.create(**whole)),
        (
            "client.post, ready body",
            lambda: client.post("/chat/completions", cast_to=bytes, content=body),
        ),
        ("our door", lambda: model.complete(messages, tools, **options)),
    ]
    found = {}
    for name, call in rows:
        found[name] = min([(await cpu_per_call(call, calls))[0] for _ in range(3)])
        print(f"  {name:28s} {found[name]:6.2f} ms of CPU a call")
    ours = found["our door"] - found["client.post, ready body"]
    print(f"  {'of which ours':28s} {ours:6.2f} ms")
    start = time.process_time()
    for _ in range(calls):
        wire_body(fields, messages, written)
        read_completion(answer)
    ready = 1000 * (time.process_time() - start) / calls
    print(f"  {'writing and reading alone':28s} {ready:6.2f} ms")
    print(f"  create : door = {found['chat.completions.create'] / found['our door']:.1f} : 1")
    await client.close()
    await endpoint.close()


async def door_rate(url: str, seconds: float) -> tuple[float, float]:
    """CPU and rate of the door alone with 64 calls in flight."""
    messages, tools = conversation(), Environment.tool_schemas()
    endpoint = Endpoint(url, concurrency=IN_FLIGHT)
    model = OpenAIChat("m", endpoint, extra={})
    calls = round(IN_FLIGHT / DELAY * seconds)
    try:
        return await cpu_per_call(lambda: model.complete(messages, tools), calls, IN_FLIGHT)
    finally:
        await endpoint.close()


async def bare_rate(url: str, seconds: float) -> tuple[float, float]:
    """The same with bare sockets, one connection a worker: what machine and server give now."""
    messages, tools = conversation(), Environment.tool_schemas()
    body = wire_body({"model": "m"}, messages, wire_tools(tools))
    at = urlsplit(url)
    head = f"POST {at.path}/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}"
    request = head.encode() + b"\r\n\r\n" + body
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def call() -> None:
        if free:
            reader, writer = free.pop()
        else:
            reader, writer = await asyncio.open_connection(at.hostname, at.port)
        writer.write(request)
        headers = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(headers.split(b"content-length:")[1].split(b"\r\n")[0]))
        free.append((reader, writer))

    calls = round(IN_FLIGHT / DELAY * seconds)
    try:
        return await cpu_per_call(call, calls, IN_FLIGHT)
    finally:
        for _, writer in free:
            writer.close()


def grid_rate(url: str, tasks: int) -> tuple[float, float, int]:
    """CPU per call, calls a second and episodes of a whole grid with 64 under way.

    Four attempts at a multiple of 16 tasks keep all 64 places filled to the end.
    """
    cast = Cast(["openai:m"], "openai:m", base_url=url, concurrency=IN_FLIGHT)
    with tempfile.TemporaryDirectory() as out:
        cpu, wall = time.process_time(), time.perf_counter()
        state = play_models(cast, small_tasks(tasks), 4, out=Path(out), concurrency=IN_FLIGHT)
        seconds = time.perf_counter() - wall
        return 1000 * (time.process_time() - cpu) / state.calls, state.calls / seconds, state.done


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--tasks", type=int, default=128)
    given = parser.parse_args()
    os.environ.pop("OPENAI_BASE_URL", None)
    with Server(0.0) as url:
        asyncio.run(costs(url, given.calls))
    ideal = IN_FLIGHT / DELAY
    print(f"{IN_FLIGHT} in flight, answers after {1000 * DELAY:.0f} ms: ideal {ideal:.1f} calls/s")
    with Server(DELAY) as url:
        cpu, rate = asyncio.run(door_rate(url, given.seconds))
        _, bare = asyncio.run(bare_rate(url, given.seconds))
    print(f"  bare sockets     {bare:6.1f} calls/s = {bare / ideal:.1%}")
    print(f"  the door alone   {rate:6.1f} calls/s = {rate / ideal:.1%}, {cpu:.2f} ms CPU a call")
    with Server(DELAY, scripted=True) as url:
        cpu, rate, played = grid_rate(url, given.tasks)
    print(
        f"  a whole grid     {rate:6.1f} calls/s = {rate / ideal:.1%}, {cpu:.2f} ms CPU a call "
        f"({played} episodes)"
    )


if __name__ == "__main__":
    main()
