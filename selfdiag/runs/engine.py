"""Asking a plan's calls, a few at once, and telling what happens as typed events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from itertools import islice

import msgspec

from selfdiag.elicit.reasoning import set_reasoning_aside
from selfdiag.models.base import FATAL, Call, Provider, ProviderError, Reply
from selfdiag.models.thinking import THINKING_TOKENS
from selfdiag.models.transport import RepetitionBudget, RetryPolicy, ask_patiently
from selfdiag.runs.earlier import LATER
from selfdiag.runs.events import Answered, Asked, Event, Failed, Finished, Paused, Retried, Started, Structured
from selfdiag.runs.pace import MOST, Pace
from selfdiag.runs.plan import Plan, open_calls, trial_id
from selfdiag.runs.records import PlannedCall, Record, RunSettings
from selfdiag.runs.store import RunWriter
from selfdiag.runs.turns import Turns
from selfdiag.safety import SelfdiagError, one_line

TRIAL = "trial"
TRIAL_CALLS = 5
TRIAL_NEEDS = 0.8
"""Share of the trial's replies that must parse in plain text; below it a schema is turned on."""
MAX_CONSECUTIVE_ERRORS = 5
LEAST_REPETITIONS = 100
REPETITIONS_A_CALL = 3
"""A run makes at most so many repetitions a call, or the least: beyond that a server is not slow but broken."""
HOPELESS = frozenset({*FATAL, "unreachable", "timeout"})
"""Kinds that end the run when the warm-up meets them after all retries."""


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
        self._turns = Turns(plan, settings, self._known.values())
        finding = settings.concurrency == "auto"
        self._limit = MOST if settings.concurrency == "auto" else settings.concurrency or provider.concurrency
        self._pace = Pace(provider.concurrency if finding else self._limit, self._limit, finding=finding)
        self._policy = RetryPolicy(retries=settings.max_retries)
        self._repetitions = RepetitionBudget(max(LEAST_REPETITIONS, REPETITIONS_A_CALL * len(plan.calls)))
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
        if self._going.is_set():
            self._going.clear()
            self._tell(Paused(paused=True))
            with suppress(SelfdiagError):  # a pause is no place to fail at: the next record tells of a full disk
                self._writer.sync()

    def go_on(self) -> None:
        """Go on after a pause."""
        if not self._going.is_set():
            self._pace.begin_round()
            self._going.set()
            self._tell(Paused(paused=False))

    @property
    def max_tokens(self) -> int:
        """The longest reply that calls are asked with by now."""
        return self._max_tokens

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
            if mode is None and not self._stopping:
                # a plan may be shorter than the errors in a row that end a run
                fault = self._known[trial_id(trial[-1])].error
                assert fault is not None  # noqa: S101 - with a reply there is a verdict
                yield self._fail(fault.kind, f"no call got a reply, the last one failed so: {fault.message}")
        if not self._stopping and mode is not None:
            yield mode
            for event in self._adopted(mode):
                yield event
            first = [call for call in self._open() if call.section not in LATER]
            async with aclosing(self._asked(first, structured=mode.on, warm_up=warm_up)) as events:
                async for event in events:
                    yield event
            # what speaks of an answer can be asked once the answer is there
            then = [call for call in self._open() if call.section in LATER and self._turns.has_answer(call)]
            if not self._stopping:
                async with aclosing(self._asked(then, structured=mode.on, warm_up=False)) as events:
                    async for event in events:
                        yield event
        self._writer.sync()
        yield Finished(outcome=self._stopping or "complete")

    def _open(self) -> list[PlannedCall]:
        return open_calls(self._plan.calls, self._known)

    def _is_done(self, call_id: str) -> bool:
        record = self._known.get(call_id)
        return record is not None and record.error is None

    def _mode(self) -> Structured | None:
        """Return whether a schema is used, or None when the trial must find out."""
        if not self._provider.takes_schema or self._settings.structured == "off":
            return Structured(on=False)
        if self._settings.structured == "on":
            return Structured(on=True)
        for call in filter(self._turns.takes_schema, self._plan.calls):
            if self._is_done(call.call_id):
                return Structured(on=self._known[call.call_id].structured)
        complete = all(self._is_done(trial_id(call)) for call in self._trial_calls())
        return self._verdict() if complete else None

    def _trial_calls(self) -> tuple[PlannedCall, ...]:
        shaped = (call for call in self._plan.calls if call.section not in LATER and self._turns.takes_schema(call))
        return tuple(islice(shaped, TRIAL_CALLS))

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
        for record in records:
            self._remember(record)

    def _remember(self, record: Record) -> None:
        """Keep what the rest of the run needs of a record: a trial's whole, of others not the long texts."""
        short = record if record.section == TRIAL else msgspec.structs.replace(record, raw="", reasoning="")
        self._known[record.call_id] = short
        self._turns.note(record)

    async def _asked(
        self, calls: list[PlannedCall], *, structured: bool, warm_up: bool, trial: bool = False
    ) -> AsyncGenerator[Event, None]:
        """Ask calls, write each reply as it lands, and tell of it; a trial's under an id and section of its own."""
        async with aclosing(self._ask(calls, structured=structured, warm_up=warm_up)) as landing:
            async for landed in landing:
                if not isinstance(landed, _Landed):
                    yield landed
                    continue
                assert landed.call is not None  # noqa: S101 - the warm-up leaves no record
                record = self._turns.record(
                    landed.call, landed.result, attempts=landed.attempts, structured=landed.structured
                )
                if trial:
                    record = msgspec.structs.replace(record, call_id=trial_id(landed.call), section=TRIAL)
                self._writer.append(record)
                self._remember(record)
                yield Answered(record=record)
                if failed := self._judge(record):
                    yield failed

    async def _ask(
        self, calls: list[PlannedCall], *, structured: bool, warm_up: bool
    ) -> AsyncGenerator[_Landed | Event, None]:
        if not calls:
            return
        self._pace.begin_round()
        jobs: Iterator[PlannedCall | None] = iter([None, *calls] if warm_up else calls)
        count = min(self._limit, len(calls) + warm_up)
        self._workers = [asyncio.create_task(self._work(jobs, structured)) for _ in range(count)]
        closing = asyncio.create_task(self._close_queue(self._workers))
        try:
            while (entry := await self._queue.get()) is not None:
                if isinstance(entry, _Landed) and entry.call is None:
                    # a server that the warm-up cannot reach after all retries is not tried with every item
                    if isinstance(entry.result, ProviderError) and entry.result.kind in HOPELESS:
                        yield self._fail(entry.result.kind, one_line(str(entry.result), 400))
                    continue
                yield entry
            for worker in self._workers:
                if not worker.cancelled() and (crash := worker.exception()) is not None:
                    raise crash
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
            async with self._pace:
                await self._going.wait()
                if self._stopping or self._over_budget():
                    return
                await self._queue.put(Asked(call=planned))
                landed = await self._one(planned, structured)
            await self._queue.put(landed)
            if isinstance(landed.result, ProviderError) and landed.result.kind in FATAL:
                return

    async def _one(self, planned: PlannedCall | None, structured: bool) -> _Landed:
        call = self._turns.call(planned, structured=structured, max_tokens=self._max_tokens)
        result, attempts = await self._ask_once(call)
        # a limit that somebody has set stays as it is
        if isinstance(result, Reply) and self._settings.max_tokens is None and _cut_while_thinking(call, result):
            # one more try with twice the room, and more room for what follows
            self._max_tokens = max(self._max_tokens, THINKING_TOKENS)
            room = max(2 * call.max_tokens, self._max_tokens)
            cut = result
            result, again = await self._ask_once(msgspec.structs.replace(call, max_tokens=room))
            attempts += again
            if isinstance(result, Reply):
                result = _with_cost_of(result, cut)
        return _Landed(call=planned, result=result, attempts=attempts, structured=structured)

    async def _ask_once(self, call: Call) -> tuple[Reply | ProviderError, int]:
        sent = time.monotonic()

        def retried(attempt: int, error: ProviderError) -> None:
            nonlocal sent
            if error.overloaded:
                self._pace.overloaded(sent)
            sent = time.monotonic()
            self._tell(Retried(attempt=attempt, kind=error.kind, message=one_line(str(error))))

        try:
            reply, attempts = await ask_patiently(self._provider, call, self._policy, retried, self._repetitions)
        except ProviderError as error:
            return error, error.attempts
        except Exception as error:  # noqa: BLE001 - a fault of any library is an outcome, never a crash
            reason = one_line(f"{type(error).__name__}: {error}")
            return ProviderError("internal", reason), 1
        self._tokens += (reply.prompt_tokens or 0) + (reply.completion_tokens or 0)
        return reply, attempts

    def _tell(self, event: Event) -> None:
        with suppress(asyncio.QueueFull):  # nothing depends on these events: they only show something early
            self._queue.put_nowait(event)

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


def _with_cost_of(reply: Reply, cut: Reply) -> Reply:
    """Return a reply that also carries the tokens of the one it took the place of."""
    prompt, completion = (
        None if later is None and before is None else (later or 0) + (before or 0)
        for later, before in (
            (reply.prompt_tokens, cut.prompt_tokens),
            (reply.completion_tokens, cut.completion_tokens),
        )
    )
    return msgspec.structs.replace(reply, prompt_tokens=prompt, completion_tokens=completion)


def _cut_while_thinking(call: Call, reply: Reply) -> bool:
    if reply.finish_reason != "length":
        return False
    if call.think != "off" or reply.thought or reply.reasoning:
        return True
    # some servers leave the thoughts in the text
    aside = set_reasoning_aside(reply.text)
    return aside.unclosed or bool(aside.reasoning)
