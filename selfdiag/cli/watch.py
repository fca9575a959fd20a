"""Watching a run: progress in a terminal, plain lines elsewhere, and a clean stop at Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Any

import msgspec

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import say
from selfdiag.report.words import duration
from selfdiag.runs.engine import TRIAL
from selfdiag.runs.events import Answered, Asked, Event, Failed, Finished, Retried, Started, Structured
from selfdiag.runs.progress import Progress, SectionProgress
from selfdiag.runs.records import ANSWERED, SELF_REPORTS, SELFSELECT
from selfdiag.runs.session import Session

PLAIN_EVERY = 10.0
"""Seconds between two progress lines where there is no terminal."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How the asking ended: the word of ``Finished``, and why if the model could not be asked."""

    word: str
    failed: Failed | None = None


async def watch(session: Session, *, live: bool) -> Outcome:
    """Execute a session and show how it goes; the first Ctrl-C stops it, a second one ends the process.

    Args:
        session: what to execute.
        live: draw a moving display on standard error instead of printing lines.
    """
    display: _Lines | _Bars = _Bars(session) if live else _Lines(session)
    restore = _catch_signals(session)
    word, failed = "stopped", None
    try:
        with display:
            async with aclosing(session.events()) as events:
                async for event in events:
                    display.show(event)
                    if isinstance(event, Failed):
                        failed = event
                    elif isinstance(event, Finished):
                        word = event.outcome
    finally:
        restore()
    return Outcome(word=word, failed=failed)


def _catch_signals(session: Session) -> Callable[[], None]:
    interrupts = 0

    def interrupted(*_: Any) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            os._exit(ExitCode.INTERRUPTED)
        loop.call_soon_threadsafe(session.stop)
        with suppress(OSError):  # the terminal may be gone, which is why we stop
            say("\nselfdiag: stopping; once more to leave at once")

    loop = asyncio.get_running_loop()
    found = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # a signal that the caller ignores, as nohup does, stays ignored
    numbers = [number for number in found if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupted) for number in numbers}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    return restore


def _words(section: str, progress: SectionProgress) -> str:
    seen = progress.outcomes
    if section in SELF_REPORTS:
        missing = sum(seen.values()) - seen[ANSWERED]
        return f"✓ read {seen[ANSWERED]}" + (f"  ? missing {missing}" if missing else "")
    kept = ("correct", "incorrect", ANSWERED if section == SELFSELECT else "abstained")
    rest = sum(seen.values()) - sum(seen[outcome] for outcome in kept)
    other = f"  ? other {rest}" if rest else ""
    if section == SELFSELECT:
        # picks between two right or two wrong answers
        return f"✓ right {seen['correct']}  ✗ wrong {seen['incorrect']}  = alike {seen[ANSWERED]}{other}"
    if section == "traps":
        return f"○ spotted {seen['abstained']}  ! missed {seen['incorrect']}{other}"
    return f"✓ right {seen['correct']}  ✗ wrong {seen['incorrect']}  ○ abstained {seen['abstained']}{other}"


class _Lines:
    """Plain lines on standard error, for pipes, logs and ``--plain``."""

    def __init__(self, session: Session) -> None:
        self._progress = Progress(session.plan.calls)
        self._cost = _cost(session)
        self._last = time.monotonic()

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def show(self, event: Event) -> None:
        self._progress.count(event)
        if isinstance(event, Started):
            left, answered = event.total - len(event.answered), len(event.answered)
            many = f"{left} of {event.total}" if answered else f"{event.total}"
            say(f"asking {many} questions{self._cost if not answered else ''}")
        elif isinstance(event, Answered):
            if time.monotonic() - self._last >= PLAIN_EVERY:
                self._last = time.monotonic()
                say(f"{self._line()}  {_time_left(self._progress)}".rstrip())
        elif isinstance(event, Finished):
            say(self._line())
        elif line := _told(event):
            say(line)

    def _line(self) -> str:
        return " | ".join(
            f"{name} {section.done} of {section.total}: {_words(name, section)}"
            for name, section in self._progress.sections.items()
        )


class _Bars:
    """A moving line per section on standard error, and one below with the time left."""

    def __init__(self, session: Session) -> None:
        from rich import progress as bars
        from rich.console import Console, Group
        from rich.live import Live
        from rich.text import Text

        self._progress = Progress(session.plan.calls)
        self._bars = bars.Progress(
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(bar_width=14),
            bars.MofNCompleteColumn(),
            bars.TextColumn("{task.fields[words]}", markup=False),
        )
        self._tasks = {
            name: self._bars.add_task(name, total=section.total, words="")
            for name, section in self._progress.sections.items()
        }
        self._foot = Text(f"loading the model{_cost(session)}", style="dim")
        self._live = Live(
            Group(self._bars, self._foot),
            console=Console(stderr=True, highlight=False, markup=False),
            transient=True,
            refresh_per_second=8,
        )

    def __enter__(self) -> _Bars:
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    def show(self, event: Event) -> None:
        self._progress.count(event)
        if isinstance(event, Started | Answered):
            for name, section in self._progress.sections.items():
                self._bars.update(self._tasks[name], completed=section.done, words=_words(name, section))
            first = (
                "asking" if isinstance(event, Answered) and event.record.section != TRIAL else "trying the form first"
            )
            self._foot.plain = f"{_time_left(self._progress) or first}; ctrl-c stops and keeps what is answered"
        if line := _told(event):
            self._live.console.print(line)


def _cost(session: Session) -> str:
    """Return what asking takes, as far as it can be known beforehand."""
    estimate = session.plan.estimate(session.provider().info())
    time_words = "" if estimate.seconds is None else f", {duration(estimate.seconds)}"
    return f" (about {estimate.prompt_tokens:,} prompt tokens{time_words})"


def _time_left(progress: Progress) -> str:
    seconds = progress.seconds_left()
    return "" if seconds is None else f"about {duration(seconds)} left"


def _told(event: Event) -> str:
    """Return the line that an event is worth, or an empty text."""
    if isinstance(event, Structured):
        return event.said()
    if isinstance(event, Asked) and event.call is None:
        return "warming up (a model that is not loaded yet is loaded now)"
    if isinstance(event, Retried) and event.attempt == 1:
        return f"asking again: {event.message}"
    return ""
