"""What has become of a run so far: counted from its events, apart from how it is shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from selfdiag.battery.items import Probe, Trap
from selfdiag.runs.events import Answered, Asked, Event, Failed, Finished, Paused, Retried, Started, Structured
from selfdiag.runs.progress import Progress
from selfdiag.runs.records import MEASURED_SECTIONS, PlannedCall, Record
from selfdiag.safety import one_line

if TYPE_CHECKING:
    from selfdiag.runs.plan import Plan

MOST_LINES = 20
"""So many lines on faults are kept."""
LONGEST_KEPT = 2000
"""Characters of an answer that are kept here; the run's folder has all of it."""


class RunSoFar:
    """Counts one stretch of a run; cheap enough for thousands of events a second.

    Args:
        plan: every call of the run.
    """

    def __init__(self, plan: Plan) -> None:
        self.progress = Progress(plan.calls)
        self.total = len(plan.calls)
        self.records: list[Record] = []
        """What has landed, in that order and without the long texts; the trial of the form is not among it."""
        self.under_way: dict[str, PlannedCall] = {}
        self.latest: Record | None = None
        self.started = False
        """Whether the model has been reached and the run has begun."""
        self.warming_up = False
        self.trying = 0
        """Replies of the trial that have landed, 0 once it is over."""
        self.paused = False
        self.retries = 0
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self.failed: Failed | None = None
        self.outcome = ""
        self._followed: PlannedCall | None = None
        self._plan = plan
        self._topics = _topics(plan)
        self._tokens: int | None = None

    def count(self, event: Event) -> None:
        """Take note of an event."""
        self.progress.count(event)
        if isinstance(event, Started):
            self.started = True
            self.records += map(_short, event.answered)
        elif isinstance(event, Asked):
            self._asked(event.call)
        elif isinstance(event, Answered):
            self._landed(event.record)
        elif isinstance(event, Retried):
            self.retries += 1
            self._lines.append(f"asking again ({event.kind}): {event.message}")
        elif isinstance(event, Structured):
            self._decided(event)
        elif isinstance(event, Paused):
            self.paused = event.paused
        elif isinstance(event, Failed):
            self.failed = event
            self._lines.append(f"gave up ({event.kind}): {event.message}")
        elif isinstance(event, Finished):
            self.outcome = event.outcome
            self.end()

    def end(self) -> None:
        """Take note that nothing more is asked, whether or not an event says so."""
        self.under_way.clear()
        self.warming_up = self.paused = False
        self.progress.count(Finished(outcome=self.outcome))

    @property
    def done(self) -> int:
        """Calls of the plan that have a reply or a fault."""
        return sum(section.done for section in self.progress.sections.values())

    @property
    def errors(self) -> int:
        """Calls of the plan that have a fault instead of a reply."""
        return sum(section.outcomes["error"] for section in self.progress.sections.values())

    @property
    def in_flight(self) -> int:
        """Calls under way, the warm-up among them."""
        return len(self.under_way) + self.warming_up

    def asked_now(self) -> PlannedCall | None:
        """Return the call to show: the same one until it has landed and another is under way, then the newest."""
        if self.under_way and (self._followed is None or self._followed.call_id not in self.under_way):
            self._followed = next(reversed(self.under_way.values()))
        return self._followed

    def seconds(self) -> float:
        """Return how long this stretch has been asking, in seconds and without pauses."""
        return self.progress.seconds() if self.started else 0.0

    def tokens_a_second(self) -> float | None:
        """Return the tokens written a second, over all calls; None where no server counts them."""
        seconds = self.seconds()
        return None if self._tokens is None or seconds <= 0 else self._tokens / seconds

    def newest_lines(self, most: int) -> list[str]:
        """Return the last lines on what went wrong or was decided, as many as are wanted."""
        return list(self._lines)[-most:] if most > 0 else []

    def question(self, call: PlannedCall) -> str:
        """Return the user turn of a call's prompt."""
        return self._plan.prompt(call).user

    def asked(self, record: Record) -> str:
        """Return the user turn that a record answers."""
        text = self._plan.prompts.get(record.prompt_sha256)
        return text.user if text is not None else ""

    def topic(self, call: PlannedCall) -> str:
        """Return in a few words what a call is about: its section where that is no audit, its topic, and a claim."""
        about = self._topics.get(call.item_id, ())
        if call.section in MEASURED_SECTIONS:
            return " · ".join(about)
        elsewhere = f" on {call.claim_bin}" if is_off_topic(call, about[0] if about else "") else ""
        claimed = () if call.claim is None else (f"claim {call.claim} %{elsewhere}",)
        return " · ".join((call.section, *about[:1], *claimed))

    def _asked(self, call: PlannedCall | None) -> None:
        if call is None:
            self.warming_up = True
        else:
            self.under_way[call.call_id] = call

    def _landed(self, record: Record) -> None:
        self.warming_up = False
        if record.completion_tokens is not None:
            self._tokens = (self._tokens or 0) + record.completion_tokens
        short = _short(record)
        self.latest = short
        # what is tried in plain text first has a section and ids of its own, and is no answer of the run yet
        if record.section in self.progress.sections:
            self.trying = 0
            self.under_way.pop(record.call_id, None)
            self.records.append(short)
        else:
            self.trying += 1
            same = (call_id for call_id, call in self.under_way.items() if call.prompt == record.prompt_sha256)
            self.under_way.pop(next(same, ""), None)

    def _decided(self, event: Structured) -> None:
        self.trying = 0
        if said := event.said():
            self._lines.append(said)


def is_off_topic(asked: PlannedCall | Record, topic: str) -> bool:
    """Return whether a claim speaks of another topic than that of the question."""
    return asked.claim is not None and asked.claim_bin not in {"", topic}


def _short(record: Record) -> Record:
    """Return a record without its long texts: a run of many calls must not keep them all."""
    answer = record.answer if record.answer is None else record.answer[:LONGEST_KEPT]
    # where nothing could be read, the beginning of the reply shows why
    raw = one_line(record.raw) if answer is None else ""
    return msgspec.structs.replace(record, raw=raw, reasoning="", answer=answer)


def _topics(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return for each item what it is about."""
    assessed = plan.assessed.everything() if plan.assessed is not None else ()
    items: Iterable[object] = (*plan.asked().items(), *assessed)
    return {str(getattr(item, "id", "")): _about(item) for item in items}


def _about(item: object) -> tuple[str, ...]:
    if isinstance(item, Probe):
        return item.bin, item.difficulty
    if isinstance(item, Trap):
        return item.bin, "trap"
    return (str(getattr(item, "domain", "") or getattr(item, "criterion", "")),)
