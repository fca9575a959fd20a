"""One retry layer: how often, for what, and how long between."""

import asyncio
import logging
from math import inf

import pytest
from stamina.instrumentation import RetryDetails, get_on_retry_hooks, set_on_retry_hooks

from selfdiag.models import transport
from selfdiag.models.base import Call, ErrorKind, ModelInfo, Provider, ProviderError, Reply
from selfdiag.models.transport import RetryPolicy, ask_patiently

CALL = Call(system="s", user="u")


class Scripted:
    """A provider that raises the given errors one after the other, and then replies."""

    concurrency = 1
    takes_schema = False
    max_tokens = 1

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.asked: list[Call] = []

    async def __aenter__(self) -> Provider:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None

    def info(self) -> ModelInfo:
        return ModelInfo(provider="scripted", name="x")

    async def ask(self, call: Call) -> Reply:
        self.asked.append(call)
        if self.errors:
            raise self.errors.pop(0)
        return Reply(text="at last")


def fault(retry_after: float | None = 0.0, *, kind: ErrorKind = "provider", retry: bool = True) -> ProviderError:
    return ProviderError(kind, "broken", retry=retry, retry_after=retry_after)


async def first_wait(error: ProviderError, policy: RetryPolicy) -> float:
    """Return how long the first wait would have been, in seconds; it is cut short."""
    planned: list[float] = []
    waiting = asyncio.Event()

    def note(details: RetryDetails) -> None:
        planned.append(details.wait_for)
        waiting.set()

    provider = Scripted(error)
    before = get_on_retry_hooks()
    set_on_retry_hooks([note])
    try:
        task = asyncio.create_task(ask_patiently(provider, CALL, policy, lambda *_: None))
        async with asyncio.timeout(10):
            await waiting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    finally:
        set_on_retry_hooks(before)
    assert len(provider.asked) == 1
    return planned[0]


async def patiently(
    provider: Scripted, policy: RetryPolicy
) -> tuple[Reply | ProviderError, int, list[tuple[int, ProviderError]]]:
    """Return the reply or the last error, the attempts, and what ``retried`` was told."""
    told: list[tuple[int, ProviderError]] = []
    try:
        reply, attempts = await ask_patiently(provider, CALL, policy, lambda *what: told.append(what))
    except ProviderError as error:
        return error, error.attempts, told
    return reply, attempts, told


async def test_a_reply_at_once_takes_one_attempt() -> None:
    provider = Scripted()
    reply, attempts, told = await patiently(provider, RetryPolicy())
    assert isinstance(reply, Reply)
    assert (reply.text, attempts, told) == ("at last", 1, [])
    assert provider.asked == [CALL]


@pytest.mark.parametrize("count", [1, 2, 4])
async def test_faults_that_may_heal_are_tried_again(count: int) -> None:
    faults = [fault() for _ in range(count)]
    provider = Scripted(*faults)
    reply, attempts, told = await patiently(provider, RetryPolicy(retries=4))
    assert isinstance(reply, Reply)
    assert attempts == count + 1
    assert told == list(enumerate(faults, 1))
    assert provider.asked == [CALL] * (count + 1)


@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_retries_end(retries: int) -> None:
    faults = [fault() for _ in range(9)]
    provider = Scripted(*faults)
    error, attempts, told = await patiently(provider, RetryPolicy(retries=retries))
    assert error is faults[retries]
    assert attempts == len(provider.asked) == retries + 1
    assert [number for number, _ in told] == list(range(1, retries + 1))


@pytest.mark.parametrize("kind", ["unauthorized", "quota", "model_missing", "config", "provider"])
async def test_a_fault_that_does_not_heal_ends_at_once(kind: ErrorKind) -> None:
    first = fault(kind=kind, retry=False)
    provider = Scripted(first)
    error, attempts, told = await patiently(provider, RetryPolicy())
    assert error is first
    assert (attempts, told, len(provider.asked)) == (1, [], 1)


async def test_a_fault_that_does_not_heal_ends_later_too() -> None:
    provider = Scripted(fault(), fault(retry=False))
    error, attempts, told = await patiently(provider, RetryPolicy())
    assert isinstance(error, ProviderError)
    assert (attempts, len(told)) == (2, 1)


async def test_errors_of_our_own_are_not_repeated() -> None:
    provider = Scripted(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await patiently(provider, RetryPolicy())
    assert len(provider.asked) == 1


async def test_a_wait_of_nothing_is_no_wait() -> None:
    async with asyncio.timeout(10):
        _, attempts, _ = await patiently(Scripted(fault(0.0), fault(0.0)), RetryPolicy(first_wait=30.0))
    assert attempts == 3


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [(10.0, 10.0, 11.0), (0.5, 0.5, 0.55), (119.9, 108.0, 120.0), (3600.0, 108.0, 120.0), (inf, 108.0, 120.0)],
)
async def test_the_wait_that_a_server_asks_for_is_kept_and_capped(asked: float, least: float, most: float) -> None:
    assert transport.MAX_WAIT == 120.0
    assert least <= await first_wait(fault(asked), RetryPolicy()) <= most


async def test_parallel_calls_do_not_come_back_together() -> None:
    waits = [await first_wait(fault(10.0), RetryPolicy()) for _ in range(8)]
    assert len(set(waits)) == 8


@pytest.mark.parametrize(("first", "least", "most"), [(4.0, 4.0, 5.0), (500.0, 30.0, 30.0)])
async def test_without_a_wish_the_policy_says_how_long(first: float, least: float, most: float) -> None:
    assert least <= await first_wait(fault(None), RetryPolicy(first_wait=first)) <= most


async def test_retries_write_no_log_lines(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.DEBUG):
        await patiently(Scripted(fault(), fault()), RetryPolicy())
    assert [record for record in caplog.records if record.name.startswith("stamina")] == []
    assert capfd.readouterr() == ("", "")
