"""Throughput that ``--concurrency auto`` finds on a server with few slots, against the best fixed setting. Bar: .95.

Both are counted over the second half of a run's replies: how it got there is part of the first.

Usage: python benchmarks/pace.py [--json FILE]
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import Literal

import table
from stub_server import StubServer, stub_server

FIXED = (1, 2, 4, 8, 16, 32)
SLOTS = (1, 4, 12)
LATENCY = 0.02
ROUNDS = 3


async def run(url: str, concurrency: int | Literal["auto"], repeat: int) -> None:
    from selfdiag.runs.records import RunSettings
    from selfdiag.runs.session import Session

    settings = RunSettings(model="openai:stub", base_url=url, battery="full", repeat=repeat, concurrency=concurrency)
    with tempfile.TemporaryDirectory() as place:
        async for _ in Session(settings, folder=Path(place) / "run").events():
            pass


def rate(server: StubServer, concurrency: int | Literal["auto"], repeat: int) -> float:
    server.reset()
    asyncio.run(run(server.url, concurrency, repeat))
    return server.timed().late_rate


def rows() -> list[table.Row]:
    found = []
    for slots in SLOTS:
        repeat = {1: 1, 4: 3}.get(slots, 9)
        with stub_server(latency=LATENCY, slots=slots) as server:
            rate(server, 16, 1)
            fixed = {setting: rate(server, setting, repeat) for setting in FIXED if setting <= 4 * slots}
            auto = statistics.median(rate(server, "auto", repeat) for _ in range(ROUNDS))
        best = max(fixed, key=lambda setting: fixed[setting])
        note = f"{auto:.1f} replies a second; the best fixed setting, {best}, has {fixed[best]:.1f}"
        name = f"auto against the best fixed setting, {slots} slot{'s' if slots > 1 else ''}"
        found.append(table.Row(name, auto / fixed[best], "times", 0.95, at_least=True, note=note))
    return found


if __name__ == "__main__":
    table.main("Compare auto concurrency with fixed settings.", rows)
