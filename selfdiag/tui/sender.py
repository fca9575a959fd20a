"""The lab's queue: calls that wait to be sent, one at a time, while the keys go on working."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from selfdiag.safety import SelfdiagError, one_line

if TYPE_CHECKING:
    from selfdiag.runs.records import PlannedCall
    from selfdiag.tui.bench import Bench

Purpose = Literal["claim", "series", "trial"]
STOPPED = "stopped; what was answered is kept"


class Sent(NamedTuple):
    """One call: what for, and whether nothing waits behind it."""

    planned: PlannedCall
    purpose: Purpose
    last: bool


class Sender:
    """Sends calls in their order.

    Args:
        landed: awaited after every reply.
        told: given one line for the person, and whether it is a fault.
    """

    def __init__(self, landed: Callable[[Sent], Awaitable[None]], told: Callable[[str, bool], None]) -> None:
        self._landed = landed
        self._told = told
        self._waiting: deque[tuple[PlannedCall, Purpose]] = deque()
        self._more = asyncio.Event()
        self._asking: asyncio.Task[object] | None = None
        self._stopping = False
        self._done = self._of = 0

    @property
    def busy(self) -> bool:
        """Whether a call is under way or waits."""
        return bool(self._waiting) or self._asking is not None

    def put(self, calls: Sequence[PlannedCall], purpose: Purpose) -> None:
        """Let calls wait behind those that do already."""
        if not self.busy:
            self._done = self._of = 0
        self._of += len(calls)
        self._waiting.extend((planned, purpose) for planned in calls)
        self._more.set()

    def stop(self) -> None:
        """Drop what waits, and the call under way."""
        self._waiting.clear()
        if self._asking is not None:
            self._stopping = self._asking.cancel()

    async def run(self, bench: Bench) -> None:
        """Send what waits, for ever; a fault drops what waits behind it."""
        from selfdiag.models.base import ProviderError

        while True:
            await self._more.wait()
            if not self._waiting:
                self._more.clear()
                continue
            planned, purpose = self._waiting.popleft()
            self._told(self._progress(planned, purpose), False)
            self._stopping = False
            self._asking = asyncio.ensure_future(bench.ask(planned))
            try:
                await self._asking
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not self._stopping or (task is not None and task.cancelling()):
                    raise
                self._told(STOPPED, False)
                continue
            except (ProviderError, SelfdiagError) as error:
                self._waiting.clear()
                self._told(str(error), True)
                continue
            finally:
                self._asking = None
            self._done += 1
            last = not self._waiting
            if last:
                self._told("", False)
            await self._landed(Sent(planned, purpose, last))

    def _progress(self, planned: PlannedCall, purpose: Purpose) -> str:
        number = f"{self._done + 1} of {self._of}; esc stops" if self._of > 1 else ""
        if purpose == "trial":
            return f"trying questions under two claims: {number}"
        named = f"asking with {planned.claim} % for {one_line(planned.claim_bin, 30)}"
        return f"{named}: {number}" if number else named
