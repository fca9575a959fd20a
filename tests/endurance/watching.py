"""Sees what goes wrong in a process that must not fail: exceptions wherever they end, and a loop that stands still."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

OURS = "selfdiag"
BEAT = 0.05
SLOW, STUCK = 0.5, 2.0
"""Seconds between two beats of the loop that count as slow, and as blocked."""


class Findings:
    """Exceptions, each kind told once and counted.

    Args:
        told: given the whole text of a new one.
    """

    def __init__(self, told: Callable[[str], None]) -> None:
        self.counts: Counter[str] = Counter()
        self._told = told

    def note(self, where: str, error: BaseException | str) -> None:
        """Take note of what went wrong; the same exception seen in two places counts once."""
        if isinstance(error, BaseException):
            if vars(error).get("_noted"):
                return
            vars(error)["_noted"] = True
            frames = traceback.extract_tb(error.__traceback__)
            ours = [frame for frame in frames if OURS in Path(frame.filename).parts] or frames
            at = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in (*ours[-1:], *frames[-1:]))
            name = f"{type(error).__name__} at {at}"
            text = "".join(traceback.format_exception(error))
        else:
            name = text = error
        key = f"{where}: {name}"
        self.counts[key] += 1
        if self.counts[key] == 1:
            self._told(f"{where}\n{text}")

    def watch_process(self) -> None:
        """Take note of what ends in a thread, in a destructor, or as a warning."""

        def in_thread(found: threading.ExceptHookArgs) -> None:
            self.note("thread", found.exc_value or str(found.exc_type))

        def unraisable(found: sys.UnraisableHookArgs) -> None:
            self.note("destructor", found.exc_value or str(found.err_msg))

        def warned(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object) -> None:
            self.note("warning", f"{category.__name__} at {Path(filename).name}:{lineno}: {message}")

        threading.excepthook = in_thread
        sys.unraisablehook = unraisable
        warnings.simplefilter("always")
        warnings.showwarning = warned  # type: ignore[assignment]

    def watch_loop(self) -> None:
        """Take note of what the running event loop has nobody to tell of."""

        def handle(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            self.note("event loop", context.get("exception") or str(context["message"]))

        asyncio.get_running_loop().set_exception_handler(handle)


class Heartbeat:
    """Measures how long the event loop stands still, and remembers where it did for longest."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.computing = 0.0
        """Of the longest stand, the seconds in which the loop's thread was computing and not waiting its turn."""
        self.slow = self.stuck = 0
        self.stack: list[str] = []
        self._beat = time.monotonic()
        self._stopped = threading.Event()
        self._caught: list[str] = []
        self._loop_thread = threading.get_ident()

    async def run(self) -> None:
        """Beat for ever; belongs into a task of the loop that is watched."""
        watching = threading.Thread(target=self._watch, daemon=True)
        watching.start()
        try:
            while True:
                began, used = time.monotonic(), time.thread_time()
                self._beat = began
                await asyncio.sleep(BEAT)
                still = time.monotonic() - began - BEAT
                self.slow += still > SLOW
                self.stuck += still > STUCK
                if still > self.longest:
                    self.longest, self.computing = still, time.thread_time() - used
                    self.stack = self._caught
        finally:
            self._stopped.set()

    def _watch(self) -> None:
        beat = 0.0
        while not self._stopped.wait(0.1):
            if self._beat != beat and time.monotonic() - self._beat > SLOW:
                beat = self._beat
                frame: FrameType | None = sys._current_frames().get(self._loop_thread)
                self._caught = traceback.format_stack(frame)[-12:] if frame is not None else []


def megabytes() -> float:
    """Return the memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def open_files() -> int:
    """Return the number of open file descriptors."""
    gc.collect()
    return len(os.listdir("/proc/self/fd"))
