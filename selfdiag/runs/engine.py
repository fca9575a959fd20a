"""Asking a plan's calls, a few at once, and telling what happens as typed events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from datetime import UTC, datetime

import msgspec

from selfdiag.battery.items import Trap
from selfdiag.elicit.grading import grade
from selfdiag.elicit.prompts import RESPONSE_SCHEMA
from selfdiag.elicit.reading import Reading, read_reply
from selfdiag.models.base import FATAL, Call, Provider, ProviderError, Reply, clipped
from selfdiag.models.transport import RetryPolicy, ask_patiently
from selfdiag.runs.plan import Plan, trial_id
from selfdiag.runs.records import Fault, PlannedCall, Record, RunSettings
from selfdiag.runs.store import RunWriter
from selfdiag.safety import one_line

TRIAL_CALLS = 5
TRIAL_NEEDS = 0.8
"""Share of the trial's replies that must parse in plain text; below it a schema is turned on."""
MAX_CONSECUTIVE_ERRORS = 5
WARM_UP_QUESTION = "What is 1 + 1? Answer as a number."


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """The run begins or goes on: ``total`` calls, of which ``done`` need not be asked again."""

    total: int
    done: int


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A call is under way; ``call`` is None for the warm-up."""

    call: PlannedCall | None


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A record has been written."""

    record: Record


class Retried(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt failed and the call will be asked again."""

    attempt: int
    kind: str
    message: str


class Structured(msgspec.Struct, frozen=True, kw_only=True):
    """The trial is over: whether the rest is asked with a schema, and how many of its replies parsed."""

    on: bool
    parsed: int
    asked: int


class Paused(msgspec.Struct, frozen=True, kw_only=True):
    """Asking rests or goes on again; calls under way are waited for."""

    paused: bool


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """The run stops because the model cannot be asked."""

    kind: str
    message: str


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing more is asked. ``outcome`` is ``complete``, ``stopped``, ``budget`` or ``failed``."""

    outcome: str


Event = Started | Asked | Answered | Retried | Structured | Paused | Failed | Finished


class _Landed(msgspec.Struct, frozen=True, kw_only=True):
    call: PlannedCall | None
    result: Reply | ProviderError
    attempts: int
    structured: bool


class Engine:
    """One execution of a plan against an entered provider; both front ends read its events."""

    def __init__(
        self,
        plan: Plan,
        provider: Provider,
        writer: RunWriter,
        settings: RunSettings,
        *,
        max_tokens: int,
        known: dict[str, Record] | None = None,
    ) -> None:
        self._plan = plan
        self._provider = provider
        self._writer = writer
        self._settings = settings
        self._max_tokens = max_tokens
        self._known = known or {}
        self._items = {item.id: item for item in plan.asked().items()}
        self._limit = settings.concurrency or provider.concurrency
        self._policy = RetryPolicy(retries=settings.max_retries)
        self._queue: asyncio.Queue[Event | _Landed | None] = asyncio.Queue(maxsize=4 * self._limit + 16)
        self._going = asyncio.Event()
        self._going.set()
        self._workers: list[asyncio.Task[None]] = []
        self._stopping = ""
        self._errors_in_a_row = 0
        self._tokens = 0
        self._deadline = 0.0

    def stop(self) -> None:
        """Ask nothing more and drop the calls under way; what has landed is kept."""
        self._stopping = self._stopping or "stopped"
        for worker in self._workers:
            worker.cancel()

    def pause(self) -> None:
        """Start no further call until ``go_on``."""
        self._going.clear()
        self._writer.sync()

    def go_on(self) -> None:
        """Go on after a pause."""
        self._going.set()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Ask every call that has no reply yet, and yield what happens; each record is on file first."""
        calls = self._plan.calls
        pending = [call for call in calls if not _is_done(self._known.get(call.call_id))]
        yield Started(total=len(calls), done=len(calls) - len(pending))
        budget = self._settings.budget_seconds
        self._deadline = time.monotonic() + budget if budget is not None else float("inf")
        warm_up = bool(pending) and not self._provider.info().simulated
        structured = self._mode()
        if structured is None:
            async with aclosing(self._trial(warm_up=warm_up)) as trial:
                async for event in trial:
                    if isinstance(event, Structured):
                        structured = event.on
                    yield event
            warm_up = False
            pending = [call for call in pending if not _is_done(self._known.get(call.call_id))]
        if not self._stopping:
            async with aclosing(self._ask(pending, structured=bool(structured), warm_up=warm_up)) as asking:
                async for landed in asking:
                    if isinstance(landed, _Landed):
                        record = self._record(landed)
                        self._writer.append(record)
                        yield Answered(record=record)
                        if failed := self._judge(record):
                            yield failed
                    else:
                        yield landed
        self._writer.sync()
        yield Finished(outcome=self._stopping or "complete")

    def _mode(self) -> bool | None:
        """Return whether a schema is used, or None when a trial must find out."""
        if not self._provider.takes_schema or self._settings.structured == "off":
            return False
        if self._settings.structured == "on":
            return True
        trial = self._trial_calls()
        tried = [trial_id(call) in self._known for call in trial]
        if any(tried):
            return True if all(tried) else None
        settled = [record.structured for record in self._known.values() if _is_done(record)]
        return settled[0] if settled else None

    def _trial_calls(self) -> tuple[PlannedCall, ...]:
        return self._plan.calls[:TRIAL_CALLS]

    async def _trial(self, *, warm_up: bool) -> AsyncGenerator[Event, None]:
        """Ask the first planned calls in plain text, and decide by how many of the replies parse.

        The replies are written only when the decision stands: as the run's own records when plain text
        does, else under the section ``trial``, outside every measure. A trial that was cut short after it
        had begun to be written had failed; then only what is missing of it is asked.
        """
        calls = self._trial_calls()
        missing = [call for call in calls if trial_id(call) not in self._known]
        had_failed = len(missing) < len(calls)
        records: list[Record] = []
        async with aclosing(self._ask(missing, structured=False, warm_up=warm_up)) as asking:
            async for landed in asking:
                if isinstance(landed, _Landed):
                    records.append(self._record(landed))
                    if failed := self._judge(records[-1]):
                        yield failed
                else:
                    yield landed
        if self._stopping or not records:
            return
        replies = [record for record in records if record.outcome != "error"]
        parsed = sum(record.parse != "none" and record.outcome != "truncated" for record in replies)
        on = had_failed or parsed < TRIAL_NEEDS * len(replies)
        if on:
            records = [
                msgspec.structs.replace(record, call_id=trial_id(call), section="trial")
                for record in records
                for call in calls
                if call.call_id == record.call_id
            ]
        self._writer.append(*records)
        self._known |= {record.call_id: record for record in records}
        yield Structured(on=on, parsed=parsed, asked=len(replies))
        for record in records:
            yield Answered(record=record)

    async def _ask(
        self, calls: list[PlannedCall], *, structured: bool, warm_up: bool
    ) -> AsyncGenerator[_Landed | Event, None]:
        if not calls:
            return
        jobs: Iterator[PlannedCall | None] = iter([None, *calls] if warm_up else calls)
        count = min(self._limit, len(calls) + warm_up)
        self._workers = [asyncio.create_task(self._work(jobs, structured)) for _ in range(count)]
        closing = asyncio.create_task(self._close_queue(self._workers))
        try:
            while (entry := await self._queue.get()) is not None:
                if isinstance(entry, _Landed) and entry.call is None:
                    # a server that the warm-up cannot reach after all retries is not tried with every item
                    if isinstance(entry.result, ProviderError) and entry.result.kind in {*FATAL, "unreachable"}:
                        yield self._fail(entry.result.kind, str(entry.result))
                    continue
                yield entry
        finally:
            for worker in self._workers:
                worker.cancel()
            closing.cancel()
            await asyncio.gather(closing, *self._workers, return_exceptions=True)

    async def _close_queue(self, workers: list[asyncio.Task[None]]) -> None:
        await asyncio.wait(workers)
        await self._queue.put(None)

    async def _work(self, jobs: Iterator[PlannedCall | None], structured: bool) -> None:
        # nothing but the transport stands between a reply and the next call: reading, grading and writing
        # happen where the queue is emptied, while the next call is already under way
        for planned in jobs:
            if not self._going.is_set():
                await self._queue.put(Paused(paused=True))
                await self._going.wait()
                await self._queue.put(Paused(paused=False))
            if self._stopping or self._over_budget():
                return
            await self._queue.put(Asked(call=planned))
            landed = await self._one(planned, structured)
            await self._queue.put(landed)
            if isinstance(landed.result, ProviderError) and landed.result.kind in FATAL:
                return

    async def _one(self, planned: PlannedCall | None, structured: bool) -> _Landed:
        call = self._call(planned, structured)
        result: Reply | ProviderError
        try:
            result, attempts = await ask_patiently(self._provider, call, self._policy, self._retried)
        except ProviderError as error:
            result, attempts = error, error.attempts
        except Exception as error:  # noqa: BLE001 - a fault of any library is an outcome, never a crash
            reason = one_line(f"{type(error).__name__}: {error}")
            result, attempts = ProviderError("internal", reason), 1
        if isinstance(result, Reply):
            self._tokens += (result.prompt_tokens or 0) + (result.completion_tokens or 0)
        return _Landed(call=planned, result=result, attempts=attempts, structured=structured)

    def _retried(self, attempt: int, error: ProviderError) -> None:
        with suppress(asyncio.QueueFull):  # the record keeps the number of attempts; this only told it early
            self._queue.put_nowait(Retried(attempt=attempt, kind=error.kind, message=one_line(str(error))))

    def _call(self, planned: PlannedCall | None, structured: bool) -> Call:
        if planned is None:
            system = next(iter(self._plan.systems.values()))
            user = WARM_UP_QUESTION
        else:
            prompt = self._plan.prompt(planned)
            system, user = prompt.system, prompt.user
        return Call(
            system=system,
            user=user,
            max_tokens=self._max_tokens,
            temperature=self._settings.temperature,
            seed=self._settings.seed,
            schema=RESPONSE_SCHEMA if structured else None,
        )

    def _over_budget(self) -> bool:
        tokens = self._settings.budget_tokens
        if time.monotonic() > self._deadline or (tokens is not None and self._tokens >= tokens):
            self._stopping = "budget"
            return True
        return False

    def _judge(self, record: Record) -> Failed | None:
        """Stop the run when its model can evidently not be asked."""
        if record.error is None:
            self._errors_in_a_row = 0
            return None
        self._errors_in_a_row += 1
        if self._stopping in {"failed", "stopped"}:
            return None
        if record.error.kind in FATAL:
            return self._fail(record.error.kind, record.error.message)
        if self._errors_in_a_row >= MAX_CONSECUTIVE_ERRORS:
            message = f"{self._errors_in_a_row} calls in a row failed, the last one so: {record.error.message}"
            return self._fail(record.error.kind, message)
        return None

    def _fail(self, kind: str, message: str) -> Failed:
        self.stop()
        self._stopping = "failed"
        return Failed(kind=kind, message=message)

    def _record(self, landed: _Landed) -> Record:
        call = landed.call
        assert call is not None  # noqa: S101 - the warm-up leaves no record
        item = self._items[call.item_id]
        base = Record(
            call_id=call.call_id,
            item_id=item.id,
            bin=item.bin,
            difficulty=getattr(item, "difficulty", None),
            trap=isinstance(item, Trap),
            family=getattr(item, "family", None),
            section=call.section,
            arm=call.arm,
            claim=call.claim,
            claim_bin=call.claim_bin,
            labelled=call.labelled,
            paraphrase=call.paraphrase,
            replicate=call.replicate,
            structured=landed.structured,
            prompt_sha256=call.prompt,
            attempts=landed.attempts,
            outcome="error",
            at=now(),
        )
        result = landed.result
        if isinstance(result, ProviderError):
            fault = Fault(kind=result.kind, message=one_line(str(result), 400))
            return msgspec.structs.replace(base, error=fault)
        reading = read_reply(result.text, cut=result.finish_reason == "length")
        verdict = grade(item, reading)
        outcome, rule = verdict.outcome, verdict.rule
        if result.overflow:
            outcome, rule = "overflow", "the prompt did not fit the context"
        elif result.refusal:
            outcome, rule = "refused", "the provider declined"
        elif not result.text.strip():
            empty = result.finish_reason != "length"
            outcome, rule = ("empty", "no text") if empty else ("truncated", "cut before any text")
        return msgspec.structs.replace(
            base,
            raw=_encodable(result.text),
            reasoning=_encodable(result.reasoning or clipped(reading.reasoning)),
            answer=None if reading.answer is None else _encodable(reading.answer),
            confidence=reading.confidence,
            parse=reading.parse,
            flags=_flags(reading, verdict.flags),
            outcome=outcome,
            rule=rule,
            finish_reason=result.finish_reason,
            latency_s=round(result.latency_s, 4),
            prompt_tokens=result.prompt_tokens,
            completion_tokens=result.completion_tokens,
        )


def now() -> str:
    """Return the time in UTC to the millisecond, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_done(record: Record | None) -> bool:
    return record is not None and record.error is None


def _flags(reading: Reading, grading: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*reading.flags, *grading)))


def _encodable(text: str) -> str:
    """Return the text with lone surrogates replaced: they have no UTF-8 form and would break the file."""
    return text.encode("utf-8", "replace").decode("utf-8")
