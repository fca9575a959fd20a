"""Asking again when it helps: one retry layer for every provider."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec
import stamina
from stamina.instrumentation import set_on_retry_hooks

from selfdiag.models.base import Call, Provider, ProviderError, Reply

MAX_WAIT = 120.0
"""Longest wait between two attempts in seconds, whatever a server asks for."""


# ``retried`` tells of every wait; stamina's own log lines would land on stderr, in the middle of the screen
set_on_retry_hooks(())


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often and how patiently a call is repeated. ``retries`` 0 means one attempt."""

    retries: int = 4
    first_wait: float = 0.5


class RepetitionBudget:
    """How many repetitions a whole run may make before its failed calls are not asked again any more.

    ``limit`` is that number and ``used`` how many there were; first attempts count nowhere. It ends no run by itself:
    calls that were never asked are asked still.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def take(self) -> bool:
        """Count one repetition, and return whether there was one left."""
        if self.used >= self.limit:
            return False
        self.used += 1
        return True


async def ask_patiently(
    provider: Provider,
    call: Call,
    policy: RetryPolicy,
    retried: Callable[[int, ProviderError], None],
    budget: RepetitionBudget | None = None,
) -> tuple[Reply, int]:
    """Return the reply and the number of attempts it took.

    Args:
        provider: an entered provider.
        call: what to ask.
        policy: how often to repeat.
        retried: called before each wait with the attempt that failed (1 for the first) and why.
        budget: the repetitions of the whole run; None is no limit.

    Raises:
        ProviderError: the last one, when no attempt worked, the fault is of a kind that does not heal, or the
            budget is spent. Its ``attempts`` attribute holds their number.
    """
    attempts = 1
    try:
        return await provider.ask(call), attempts  # stamina's own work is for the few calls that fail
    except ProviderError as error:
        error.attempts = attempts
        failed: ProviderError | None = error

    def wait_or_stop(error: Exception) -> bool | float:
        if not isinstance(error, ProviderError) or not error.retry or attempts > policy.retries:
            return False
        if budget is not None and not budget.take():
            return False
        retried(attempts, error)
        if error.retry_after is None:
            return True
        # the server's wish, bounded, and spread a little so that parallel calls do not come back at once
        wait, spread = error.retry_after, random.random() / 10
        return min(wait * (1 + spread), MAX_WAIT * (1 - spread)) if wait else 0.0

    reply: Reply | None = None
    async for attempt in stamina.retry_context(
        on=wait_or_stop,
        attempts=policy.retries + 1,
        timeout=None,
        wait_initial=policy.first_wait,
        wait_max=30.0,
    ):
        with attempt:
            if failed is not None:
                first, failed = failed, None
                raise first
            attempts += 1
            try:
                reply = await provider.ask(call)
            except ProviderError as error:
                error.attempts = attempts
                raise
    assert reply is not None  # noqa: S101 - stamina leaves the loop only with a reply or an exception
    return reply, attempts
