"""Many jobs at once in one event loop, and interrupts that lose nothing finished."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

T = TypeVar("T")


async def work_through(
    jobs: Iterator[T],
    work: Callable[[T], Awaitable[None]],
    concurrency: int,
    stop: asyncio.Event,
) -> None:
    """Does the jobs with so many workers; the first exception ends all of them and is raised.

    Once `stop` is set no further job is begun.
    """

    async def worker() -> None:
        for job in jobs:
            if stop.is_set():
                return
            await work(job)

    workers = [asyncio.create_task(worker()) for _ in range(concurrency)]
    try:
        await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for one in workers:
            one.cancel()
        ended = await asyncio.gather(*workers, return_exceptions=True)
    for outcome in ended:
        if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
            raise outcome


def run_interruptibly(
    main: Callable[[asyncio.Event], Awaitable[None]],
    on_first: Callable[[], None] = lambda: None,
) -> bool:
    """Runs `main(stop)` in an event loop; returns whether it was interrupted.

    The first interrupt sets `stop`, upon which `main` is to begin nothing new, and calls
    `on_first`; the second cancels it. Other signals, and interrupts outside the main thread, are
    left alone.
    """
    interrupts = 0

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(main(stop))

        def interrupted() -> None:
            nonlocal interrupts
            interrupts += 1
            if interrupts == 1:
                stop.set()
                on_first()
            else:
                task.cancel()

        def on_signal(number: int, frame: object) -> None:
            loop.call_soon_threadsafe(interrupted)

        in_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, on_signal) if in_main else None
        try:
            await task
        except asyncio.CancelledError:
            if interrupts < 2:
                raise
        finally:
            if in_main:
                signal.signal(signal.SIGINT, before)

    asyncio.run(run())
    return interrupts > 0
