"""One stretch of a run under way: its session, what has become of it so far, and how it ended."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from selfdiag.runs.events import Paused
from selfdiag.runs.store import MANIFEST
from selfdiag.safety import one_line
from selfdiag.tui.preparation import fault
from selfdiag.tui.run_so_far import RunSoFar

if TYPE_CHECKING:
    from selfdiag.runs.session import Session

_HEADINGS = {"budget": "the budget is used up", "failed": "the model cannot be asked any more"}


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a stretch ended, in a heading and plain words.

    ``kept`` says that there is a run to go on with, ``complete`` that it has a record for every call, and ``errors``
    counts the records of this run that are errors.
    """

    kept: bool
    complete: bool
    errors: int
    heading: str
    words: str


class Asking:
    """Asks what a session plans, and can be paused and stopped meanwhile.

    Args:
        session: prepared, and not begun.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.so_far = RunSoFar(session.plan)
        self._over = asyncio.Event()
        self._stopping = False

    async def until_over(self) -> Ending:
        """Ask everything, and return how it ended; whatever goes wrong is an ending too.

        Raises:
            CancelledError: when nobody wants to know any more; what was answered is kept.
        """
        trouble = ""
        try:
            async with aclosing(self.session.events()) as events:
                async for event in events:
                    self.so_far.count(event)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        except Exception as error:  # noqa: BLE001 - the app stays and tells it
            trouble = fault(error)
        finally:
            self.so_far.end()
            self._over.set()
        return self._ending(trouble)

    def rest(self, *, resting: bool) -> None:
        """Start no further call, or go on."""
        if resting:
            self.session.pause()
        else:
            self.session.go_on()
        # the engine tells it too, but not while its queue is full
        self.so_far.count(Paused(paused=resting))

    def stop(self) -> None:
        """Ask nothing more, drop the calls under way, and keep what is answered."""
        self._stopping = True
        self.session.stop()

    async def stopped(self, seconds: float) -> None:
        """Wait until everything is closed, but not longer than so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._over.wait()
        except TimeoutError:
            return

    def _ending(self, trouble: str) -> Ending:
        so_far = self.so_far
        reason = trouble or (one_line(so_far.failed.message, 400) if so_far.failed is not None else "")
        kept = (self.session.folder / MANIFEST).is_file()
        if kept:
            heading = "stopped by a fault" if trouble else _HEADINGS.get(so_far.outcome, so_far.outcome or "stopped")
            what_is_kept = f"{so_far.done - so_far.errors} of {so_far.total} calls are answered and kept."
        else:
            heading = "the model cannot be asked" if reason else "stopped before the first call"
            what_is_kept = "Nothing was written."
        return Ending(
            kept=kept,
            complete=kept and so_far.outcome == "complete" and not trouble,
            errors=so_far.errors,
            heading=heading,
            words=f"{reason.rstrip('.')}.\n{what_is_kept}" if reason else what_is_kept,
        )
