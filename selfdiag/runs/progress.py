"""How far a run is, for every front end."""

from __future__ import annotations

import time
from collections import Counter

from selfdiag.runs.events import Answered, Event, Finished, Paused, Started
from selfdiag.runs.records import PlannedCall, Record

FIRST_ESTIMATE = 3
"""So many answers are needed before the time left is told."""


class SectionProgress:
    """One section: ``total`` calls, ``done`` of them answered, and the outcomes so far."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.outcomes: Counter[str] = Counter()


class Progress:
    """Counts a run's events by section and estimates the time left."""

    def __init__(self, plan: tuple[PlannedCall, ...]) -> None:
        totals = Counter(call.section for call in plan)
        self.sections = {name: SectionProgress(total) for name, total in totals.items()}
        self._started = time.monotonic()
        self._resting: float | None = None
        self._now_answered = 0

    def count(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, Started):
            self._started = time.monotonic()
            for record in event.answered:
                self._add(record)
        elif isinstance(event, Answered):
            self._add(event.record)
            self._now_answered += 1
        elif isinstance(event, Paused):
            self._rest(resting=event.paused)
        elif isinstance(event, Finished):
            self._rest(resting=True)

    def seconds(self) -> float:
        """Return how long has been asked since the run began or went on, in seconds and without pauses."""
        now = time.monotonic() if self._resting is None else self._resting
        return now - self._started

    def seconds_left(self) -> float | None:
        """Return the estimated time to the end in seconds, or None when nothing can be said yet."""
        left = sum(section.total - section.done for section in self.sections.values())
        if self._now_answered < FIRST_ESTIMATE or left <= 0:
            return None
        return max(self.seconds() / self._now_answered * left, 1.0)

    def _rest(self, *, resting: bool) -> None:
        if resting and self._resting is None:
            self._resting = time.monotonic()
        elif not resting and self._resting is not None:
            self._started += time.monotonic() - self._resting
            self._resting = None

    def _add(self, record: Record) -> None:
        section = self.sections.get(record.section)
        if section is not None:
            section.done += 1
            section.outcomes[record.outcome] += 1
