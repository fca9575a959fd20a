"""A program on a terminal of its own: what it paints is read as it comes, and keys are pressed."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from types import TracebackType

COLUMNS, LINES = 120, 40
COLOURS = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
PATIENCE = 60.0
"""Seconds until something must have been painted."""
_TOKEN = re.compile(
    rb"\x1b\[([\d;]*)([Hm])|\x1b\[[\d;?<>=$]*[A-Za-z~]|\x1b[\]P_^].*?(?:\x07|\x1b\\)|\n|[^\x1b\n]+", re.DOTALL
)


class Terminal:
    """A child process on a pseudo-terminal; ``with`` ends it.

    Args:
        words: the program and its arguments.
        env: variables besides those of this process.
    """

    def __init__(self, words: list[str], env: dict[str, str]) -> None:
        self.started = time.perf_counter()
        self._pid, self._descriptor = pty.fork()
        if not self._pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.execvpe(words[0], words, os.environ | COLOURS | env)  # noqa: S606 - no shell is wanted

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._descriptor)

    def press(self, keys: bytes) -> float:
        """Send keys, and return when."""
        pressed = time.perf_counter()
        os.write(self._descriptor, keys)
        return pressed

    def read(self, seconds: float) -> bytes:
        """Return what is painted next, nothing when that takes longer."""
        if not select.select([self._descriptor], [], [], max(seconds, 0.0))[0]:
            return b""
        try:
            return os.read(self._descriptor, 1 << 20)
        except OSError:  # the program has ended
            raise SystemExit("the program ended on its terminal") from None

    def until(self, enough: Callable[[bytes], bool], seconds: float = PATIENCE) -> tuple[bytes, float]:
        """Return what was painted until it is enough, and when it was.

        Raises:
            TimeoutError: when that takes longer.
        """
        seen, deadline = b"", time.perf_counter() + seconds
        while time.perf_counter() < deadline:
            seen += self.read(deadline - time.perf_counter())
            if enough(seen):
                return seen, time.perf_counter()
        raise TimeoutError(f"not painted within {seconds:.0f} s: {seen[-300:]!r}")


class Highlight:
    """Follows on which line of the screen a background colour stands.

    Args:
        red, green, blue: of the colour.
    """

    def __init__(self, red: int, green: int, blue: int) -> None:
        self.line: int | None = None
        self._wanted = f"48;2;{red};{green};{blue}".encode()
        self._at, self._on = 0, False
        self._rest = b""

    def see(self, painted: bytes) -> int | None:
        """Take note of what was painted, and return the line."""
        text = self._rest + painted
        cut = text.rfind(b"\x1b")
        # what began and did not end yet is looked at with the next part
        whole = cut < 0 or re.match(rb"\x1b\[[\d;?<>=$]*[A-Za-z~]|\x1b\][^\x07]*\x07", text[cut:])
        self._rest = b"" if whole else text[cut:]
        for token in _TOKEN.finditer(text if whole else text[:cut]):
            values, kind = token[1], token[2]
            if kind == b"H":
                self._at = int(values.partition(b";")[0] or b"1")
            elif kind == b"m":
                self._on = self._wanted in values
            elif token[0] == b"\n":
                self._at += 1
            elif not token[0].startswith(b"\x1b") and self._on:
                self.line = self._at
        return self.line
