"""The command line in a process of its own, with a home of its own, and never waited for without end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from selfdiag.runs.records import Record
from selfdiag.runs.store import Run

ROOT = Path(__file__).resolve().parents[2]
WATCHDOG = 300.0
"""Seconds after which a command counts as hanging, on a machine that does much else."""
VOLATILE = ("run_id",)
"""What two runs on the same replies need not share, beside the time they took."""


class Done(NamedTuple):
    """How a command ended; ``code`` is None when it had to be killed."""

    code: int | None
    stdout: str
    stderr: str

    @property
    def faults(self) -> list[str]:
        """The lines with which it told that something is wrong."""
        return [line for line in self.stderr.splitlines() if line.startswith("selfdiag: ")]

    @property
    def one_plain_line(self) -> bool:
        """Whether it told one thing, in one line and without a traceback."""
        return len(self.faults) == 1 and self.is_plain

    @property
    def is_plain(self) -> bool:
        """Whether there is neither a traceback nor a fault of selfdiag's own."""
        return "Traceback" not in self.stderr and "a fault in selfdiag itself" not in self.stderr

    def told(self) -> str:
        """Return the exit code and the last line, to show."""
        last = (self.stderr.splitlines() or [""])[-1]
        return f"exit {'none, it hung' if self.code is None else self.code}, {last[:200]!r}"


def surroundings(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a command: without keys and proxies of the person who runs it."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.lower().endswith("_proxy")
    }
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return kept | {"SELFDIAG_HOME": str(home), "PYTHONPATH": path, "PYTHONWARNINGS": "error", **more}


def start(
    home: Path,
    *words: str,
    through: Sequence[str] = (),
    python: Sequence[str] = ("-m", "selfdiag"),
    preexec: Callable[[], None] | None = None,
) -> subprocess.Popen[str]:
    """Start the command line; its two streams are pipes.

    Args:
        home: where it keeps runs and settings.
        words: what stands after ``selfdiag``.
        through: a command that starts the one that follows it.
        python: what Python executes.
        preexec: called in the new process first.
    """

    def ready() -> None:
        # a shell starts background jobs with Ctrl-C ignored, and children inherit that
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if preexec is not None:
            preexec()

    return subprocess.Popen(
        [*through, sys.executable, *python, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=surroundings(home),
        preexec_fn=ready,
    )


def end(process: subprocess.Popen[str], seconds: float = WATCHDOG) -> Done:
    """Wait for a command and return how it ended; one that takes longer than ``seconds`` is killed."""
    try:
        stdout, stderr = process.communicate(timeout=seconds)
        return Done(process.returncode, stdout, stderr)
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
        return Done(None, stdout, stderr)


def selfdiag(home: Path, *words: str, seconds: float = WATCHDOG, **more: Any) -> Done:
    """Run a command to its end; ``more`` is that of ``start``."""
    return end(start(home, *words, **more), seconds)


def summary(home: Path, run: Path) -> dict[str, Any]:
    """Return the summary of a run without what belongs to that run alone."""
    done = selfdiag(home, "report", str(run), "--format", "json")
    if done.code != 0:
        return {"report": done.told()}
    document: dict[str, Any] = json.loads(done.stdout)
    for name in VOLATILE:
        document.pop(name)
    document["usage"].pop("seconds")
    return document


def said(run: Run) -> dict[str, tuple[str, str, str | None, int | None]]:
    """Return for every call with a reply what counts of it: the reply, its outcome, answer and confidence."""
    return {record.call_id: _said(record) for record in run.planned() if record.error is None}


def _said(record: Record) -> tuple[str, str, str | None, int | None]:
    return record.raw, record.outcome, record.answer, record.confidence
