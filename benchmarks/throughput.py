"""Time of a run's calls against bare loops over the same server, which keeps the time itself.

1,008 calls without latency, 16 at once, with every record written down: bar .6 of a bare httpx loop. 2,016 calls with
50 ms of latency: bar 1.15 of the ideal (calls x .05 / 16) and 1.06 of a bare aiohttp loop that drops the replies.

Usage: python benchmarks/throughput.py [--json FILE]
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import table
from stub_server import StubServer, Timed, stub_server

PROMPTS = 336
"""Of the full battery."""
AT_ONCE = 16
LATENCY = 0.05
ROUNDS = 5
BODY = {
    "model": "stub",
    "messages": [{"role": "system", "content": "s" * 400}, {"role": "user", "content": "u" * 300}],
    "temperature": 0,
    "max_tokens": 128,
}


async def in_slots(calls: int, ask: Callable[[], Awaitable[object]]) -> None:
    jobs: Iterator[int] = iter(range(calls))

    async def slot() -> None:
        for _ in jobs:
            await ask()

    await asyncio.gather(*(slot() for _ in range(AT_ONCE)))


async def bare_httpx(url: str, calls: int) -> None:
    import httpx

    limits = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:

        async def ask() -> None:
            json.loads((await client.post(f"{url}/chat/completions", json=BODY)).content)

        await in_slots(calls, ask)


async def httpx_over_aiohttp(url: str, calls: int) -> None:
    import httpx
    from httpx_aiohttp import AiohttpTransport

    async with httpx.AsyncClient(transport=AiohttpTransport(), timeout=60) as client:

        async def ask() -> None:
            json.loads((await client.post(f"{url}/chat/completions", json=BODY)).content)

        await in_slots(calls, ask)


async def bare_aiohttp(url: str, calls: int) -> None:
    import aiohttp

    async with aiohttp.ClientSession() as client:

        async def ask() -> None:
            async with client.post(f"{url}/chat/completions", json=BODY) as answer:
                await answer.read()

        await in_slots(calls, ask)


async def selfdiag_run(url: str, repeat: int) -> int:
    """Ask the whole battery so often, and return how many calls that were."""
    from selfdiag.runs.events import Finished
    from selfdiag.runs.records import RunSettings
    from selfdiag.runs.session import Session

    settings = RunSettings(model="openai:stub", base_url=url, battery="full", repeat=repeat, concurrency=AT_ONCE)
    with tempfile.TemporaryDirectory() as place:
        session = Session(settings, folder=Path(place) / "run")
        async for event in session.events():
            if isinstance(event, Finished) and event.outcome != "complete":
                raise SystemExit(f"the run ended as {event.outcome}")
        return len(session.plan.calls)


def timed(server: StubServer, asking: Callable[[], Awaitable[object]]) -> Timed:
    server.reset()
    asyncio.run(_awaited(asking))
    return server.timed()


async def _awaited(asking: Callable[[], Awaitable[object]]) -> None:
    await asking()


def compared(repeat: int, latency: float, loops: dict[str, Callable[[str, int], Awaitable[None]]]) -> dict[str, float]:
    """Return the median seconds a call of a run and of each loop, asked in turns."""
    calls = repeat * PROMPTS
    found: dict[str, list[float]] = {"selfdiag": []} | {name: [] for name in loops}
    with stub_server(latency=latency) as server:
        timed(server, lambda: selfdiag_run(server.url, 1))  # what is imported at the first call is not timed
        for _ in range(ROUNDS):
            ours = timed(server, lambda: selfdiag_run(server.url, repeat))
            found["selfdiag"].append(ours.seconds / ours.requests)
            for name, loop in loops.items():
                theirs = timed(server, lambda loop=loop: loop(server.url, calls))
                found[name].append(theirs.seconds / theirs.requests)
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def rows() -> list[table.Row]:
    no_wait = compared(3, 0.0, {"httpx": bare_httpx, "httpx over aiohttp": httpx_over_aiohttp, "aiohttp": bare_aiohttp})
    waiting = compared(6, LATENCY, {"aiohttp": bare_aiohttp})
    ideal = LATENCY / AT_ONCE
    beside = [
        table.Row(f"1,000 calls without latency, {name}", 1000 * seconds, "s") for name, seconds in no_wait.items()
    ]
    return [
        table.Row("calls without latency, against bare httpx", no_wait["selfdiag"] / no_wait["httpx"], "times", 0.6),
        *beside,
        table.Row("calls with 50 ms latency, against the ideal", waiting["selfdiag"] / ideal, "times", 1.15),
        table.Row("calls with 50 ms latency, against aiohttp", waiting["selfdiag"] / waiting["aiohttp"], "times", 1.06),
    ]


if __name__ == "__main__":
    table.main("Time a run's calls against bare loops.", rows)
