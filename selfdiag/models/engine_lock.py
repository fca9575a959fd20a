"""One llama.cpp engine per machine: two at once fall to a tenth of the speed."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from selfdiag.safety import SelfdiagError, one_line

POLL_SECONDS = 0.25


class EngineLock:
    """The right to run the machine's one engine; it ends with the process that holds it."""

    def __init__(self) -> None:
        folder = Path(tempfile.gettempdir())
        self._lock = FileLock(folder / "selfdiag-engine.lock", mode=0o666)
        self._holder = folder / "selfdiag-engine.json"

    async def acquire(self, purpose: str, waiting: Callable[[str], None] | None) -> None:
        """Wait until no other engine runs.

        Args:
            purpose: what the engine is for, shown to others that wait.
            waiting: called once with a sentence that says who is waited for.

        Raises:
            SelfdiagError: when the lock file cannot be used.
        """
        told = False
        while True:
            try:
                self._lock.acquire(timeout=0)
                break
            except Timeout:
                if waiting is not None and not told:
                    waiting(f"waiting for the engine: {self._who()} uses it")
                    told = True
                await asyncio.sleep(POLL_SECONDS)
            except OSError as error:
                raise SelfdiagError(
                    f"the engine's lock {self._lock.lock_file} cannot be used ({error.strerror}): "
                    "remove that file, or set TMPDIR to a folder of yours"
                ) from None
        with suppress(OSError):  # only those who wait would have read it
            # the folder may be everybody's: a link that somebody else has put there is not followed
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(self._holder, flags, 0o644), "w", encoding="utf-8") as file:
                json.dump({"pid": os.getpid(), "purpose": purpose}, file)

    def release(self) -> None:
        """Let the next one in."""
        self._lock.release()

    def _who(self) -> str:
        try:
            holder = json.loads(self._holder.read_text(encoding="utf-8"))
            return f"process {int(holder['pid'])} ({one_line(str(holder['purpose']), 60)})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"
