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


async def ask_patiently(
    provider: Provider,
    call: Call,
    policy: RetryPolicy,
    retried: Callable[[int, ProviderError], None],
) -> tuple[Reply, int]:
    """Return the reply and the number of attempts it took.

    Args:
        provider: an entered provider.
        call: what to ask.
        policy: how often to repeat.
        retried: called before each wait with the attempt that failed (1 for the first) and why.

    Raises:
        ProviderError: the last one, when no attempt worked or the fault is of a kind that does not heal.
            Its ``attempts`` attribute holds their number.
    """
    attempts = 0

    def wait_or_stop(error: Exception) -> bool | float:
        if not isinstance(error, ProviderError) or not error.retry:
            return False
        if attempts <= policy.retries:
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
            attempts += 1
            try:
                reply = await provider.ask(call)
            except ProviderError as error:
                error.attempts = attempts
                raise
    assert reply is not None  # noqa: S101 - stamina leaves the loop only with a reply or an exception
    return reply, attempts
