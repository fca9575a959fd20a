"""Waiting in a Pilot test for something to become true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.pilot import Pilot


async def wait_until(pilot: Pilot[object], condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Let the app work until the condition holds; fail when it does not come true in time."""
    async with asyncio.timeout(seconds):
        while not condition():
            await pilot.pause(0.01)
