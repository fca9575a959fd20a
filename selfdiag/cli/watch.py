"""Watching a run: progress in a terminal, plain lines elsewhere, and a clean stop at Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import msgspec

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import say
from selfdiag.report.words import duration
from selfdiag.runs.engine import Answered, Asked, Event, Failed, Finished, Retried, Started, Structured
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
        say("\nselfdiag: stopping; once more to leave at once")
        loop.call_soon_threadsafe(session.stop)

    loop = asyncio.get_running_loop()
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), interrupted) for name in names}

    def restore() -> None:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)

    return restore


class _Tally:
    """What a display counts of one section."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.outcomes: Counter[str] = Counter()

    def words(self, *, traps: bool) -> str:
        seen = self.outcomes
        rest = sum(seen.values()) - seen["correct"] - seen["incorrect"] - seen["abstained"]
        unread = f"  ? other {rest}" if rest else ""
        if traps:
            return f"○ spotted {seen['abstained']}  ! missed {seen['incorrect']}{unread}"
        return f"✓ right {seen['correct']}  ✗ wrong {seen['incorrect']}  ○ abstained {seen['abstained']}{unread}"


class _Progress:
    """The counts behind both displays."""

    def __init__(self, session: Session) -> None:
        sections = Counter(call.section for call in session.plan.calls)
        self.tallies = {section: _Tally(total) for section, total in sections.items()}
        self._started = time.monotonic()
        self._already = 0

    def begin(self, event: Started) -> None:
        self._already = event.done
        self._started = time.monotonic()

    def count(self, event: Answered) -> None:
        tally = self.tallies.get(event.record.section)
        if tally is not None:
            tally.done += 1
            tally.outcomes[event.record.outcome] += 1

    def time_left(self) -> str:
        done = sum(tally.done for tally in self.tallies.values())
        left = sum(tally.total for tally in self.tallies.values()) - done - self._already
        if done < 3 or left <= 0:
            return ""
        seconds = (time.monotonic() - self._started) / done * left
        return f"about {duration(max(seconds, 1.0))} left"


class _Lines(_Progress):
    """Plain lines on standard error, for pipes, logs and ``--plain``."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._last = time.monotonic()

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def show(self, event: Event) -> None:
        if isinstance(event, Started):
            self.begin(event)
            already = f", {event.done} already answered" if event.done else ""
            say(f"asking {event.total} questions{already}")
        elif isinstance(event, Answered):
            self.count(event)
            if time.monotonic() - self._last >= PLAIN_EVERY:
                self._last = time.monotonic()
                say(f"{self._line()}  {self.time_left()}".rstrip())
        elif isinstance(event, Finished):
            say(self._line())
        elif line := _told(event):
            say(line)

    def _line(self) -> str:
        parts = [
            f"{section} {tally.done} of {tally.total}: {tally.words(traps=section == 'traps')}"
            for section, tally in self.tallies.items()
        ]
        return " | ".join(parts)


class _Bars(_Progress):
    """A moving line per section on standard error, and one below with the time left."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        from rich.console import Console, Group
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.text import Text

        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=14),
            MofNCompleteColumn(),
            TextColumn("{task.fields[words]}", markup=False),
        )
        self._tasks = {
            section: self._progress.add_task(section, total=tally.total, words="")
            for section, tally in self.tallies.items()
        }
        self._foot = Text("loading the model", style="dim")
        self._live = Live(
            Group(self._progress, self._foot),
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
        if isinstance(event, Started):
            self.begin(event)
            self._foot.plain = "asking; ctrl-c stops and keeps what is answered"
            if event.done:
                self._live.console.print(f"{event.done} of {event.total} already answered")
        elif isinstance(event, Answered):
            self.count(event)
            for section, tally in self.tallies.items():
                words = tally.words(traps=section == "traps")
                self._progress.update(self._tasks[section], completed=tally.done, words=words)
            if left := self.time_left():
                self._foot.plain = f"{left}; ctrl-c stops and keeps what is answered"
        elif line := _told(event):
            self._live.console.print(line)


def _told(event: Event) -> str:
    """Return the line that an event is worth, or an empty text."""
    if isinstance(event, Structured) and event.on:
        return (
            f"only {event.parsed} of {event.asked} plain replies held the form: asking with a JSON schema from now on"
        )
    if isinstance(event, Asked) and event.call is None:
        return "warming up (a model that is not loaded yet is loaded now)"
    if isinstance(event, Retried) and event.attempt == 1 and event.kind != "provider":
        return f"asking again: {event.message}"
    return ""
