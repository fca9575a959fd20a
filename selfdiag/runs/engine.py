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
from selfdiag.runs.events import Answered, Asked, Event, Failed, Finished, Paused, Retried, Started, Structured
from selfdiag.runs.plan import Plan, trial_id
from selfdiag.runs.records import Fault, PlannedCall, Record, RunSettings
from selfdiag.runs.store import RunWriter
from selfdiag.safety import one_line, without_secrets

TRIAL = "trial"
TRIAL_CALLS = 5
TRIAL_NEEDS = 0.8
"""Share of the trial's replies that must parse in plain text; below it a schema is turned on."""
MAX_CONSECUTIVE_ERRORS = 5
HOPELESS = frozenset({*FATAL, "unreachable", "timeout"})
"""Kinds that end the run when the warm-up meets them after all retries."""
WARM_UP_QUESTION = "What is 1 + 1? Answer as a number."


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
        # without the long texts: a run of many calls must not keep them all
        self._known = {
            call_id: record if record.section == TRIAL else msgspec.structs.replace(record, raw="", reasoning="")
            for call_id, record in (known or {}).items()
        }
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
        answered = tuple(self._known[call.call_id] for call in calls if self._is_done(call.call_id))
        yield Started(total=len(calls), answered=answered)
        budget = self._settings.budget_seconds
        self._deadline = time.monotonic() + budget if budget is not None else float("inf")
        warm_up = len(answered) < len(calls) and not self._provider.info().simulated
        mode = self._mode()
        if mode is None:
            trial = [call for call in self._trial_calls() if not self._is_done(trial_id(call))]
            async with aclosing(self._asked(trial, structured=False, warm_up=warm_up, trial=True)) as events:
                async for event in events:
                    yield event
            warm_up = False
            mode = self._verdict()
        if not self._stopping and mode is not None:
            yield mode
            for event in self._adopted(mode):
                yield event
            pending = [call for call in calls if not self._is_done(call.call_id)]
            async with aclosing(self._asked(pending, structured=mode.on, warm_up=warm_up)) as events:
                async for event in events:
                    yield event
        self._writer.sync()
        yield Finished(outcome=self._stopping or "complete")

    def _is_done(self, call_id: str) -> bool:
        record = self._known.get(call_id)
        return record is not None and record.error is None

    def _mode(self) -> Structured | None:
        """Return whether a schema is used, or None when the trial must find out."""
        if not self._provider.takes_schema or self._settings.structured == "off":
            return Structured(on=False)
        if self._settings.structured == "on":
            return Structured(on=True)
        for call in self._plan.calls:
            if self._is_done(call.call_id):
                return Structured(on=self._known[call.call_id].structured)
        complete = all(self._is_done(trial_id(call)) for call in self._trial_calls())
        return self._verdict() if complete else None

    def _trial_calls(self) -> tuple[PlannedCall, ...]:
        return self._plan.calls[:TRIAL_CALLS]

    def _verdict(self) -> Structured | None:
        """Return what the trial's replies on file say, or None when there is none."""
        found = [self._known[trial_id(call)] for call in self._trial_calls() if self._is_done(trial_id(call))]
        parsed = sum(record.parse != "none" and record.outcome != "truncated" for record in found)
        return Structured(on=parsed < TRIAL_NEEDS * len(found), parsed=parsed, asked=len(found)) if found else None

    def _adopted(self, mode: Structured) -> list[Event]:
        """Make the trial's plain replies the run's own, where plain text does, and tell of them."""
        if mode.on:
            return []
        records = [
            msgspec.structs.replace(self._known[trial_id(call)], call_id=call.call_id, section=call.section)
            for call in self._trial_calls()
            if self._is_done(trial_id(call)) and not self._is_done(call.call_id)
        ]
        self._keep(records)
        return [Answered(record=record) for record in records]

    def _keep(self, records: list[Record]) -> None:
        """Write records, and remember of them what the rest of the run needs."""
        self._writer.append(*records)
        self._known |= {record.call_id: record for record in records}

    async def _asked(
        self, calls: list[PlannedCall], *, structured: bool, warm_up: bool, trial: bool = False
    ) -> AsyncGenerator[Event, None]:
        """Ask calls, write each reply as it lands, and tell of it; a trial's under an id and section of its own."""
        async with aclosing(self._ask(calls, structured=structured, warm_up=warm_up)) as landing:
            async for landed in landing:
                if not isinstance(landed, _Landed):
                    yield landed
                    continue
                record = self._record(landed)
                if trial and landed.call is not None:
                    record = msgspec.structs.replace(record, call_id=trial_id(landed.call), section=TRIAL)
                self._writer.append(record)
                if trial:
                    self._known[record.call_id] = record
                yield Answered(record=record)
                if failed := self._judge(record):
                    yield failed

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
                    if isinstance(entry.result, ProviderError) and entry.result.kind in HOPELESS:
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
            raw=_storable(result.text),
            reasoning=_storable(result.reasoning or clipped(reading.reasoning)),
            answer=None if reading.answer is None else _storable(reading.answer),
            confidence=reading.confidence,
            parse=reading.parse,
            flags=_flags(reading, verdict.flags),
            outcome=outcome,
            rule=rule,
            finish_reason=one_line(result.finish_reason, 60),
            latency_s=round(result.latency_s, 4),
            prompt_tokens=result.prompt_tokens,
            completion_tokens=result.completion_tokens,
        )


def now() -> str:
    """Return the time in UTC to the millisecond, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _flags(reading: Reading, grading: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*reading.flags, *grading)))


def _storable(text: str) -> str:
    """Return the text without keys, and with lone surrogates replaced: they have no UTF-8 form."""
    return without_secrets(text).encode("utf-8", "replace").decode("utf-8")
