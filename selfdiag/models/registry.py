"""Finding the provider that a model string names."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import EntryPoint, entry_points
from threading import Thread
from typing import Any, TypeVar

import msgspec

from selfdiag.models.base import Listing, Provider, ProviderOptions
from selfdiag.safety import SelfdiagError, nearest, one_line, without_secrets

GROUP = "selfdiag.providers"
BARE = ("embedded",)
"""Providers that have one model and need no name."""
WITHOUT_ADDRESS = ("embedded", "gguf", "persona")
"""Providers that run on this machine: they have no address and no key."""
PATIENCE = 3.5
"""How long a provider may look for its models, in seconds."""
LONGEST_WAIT = 4.0
"""How long all of them together are waited for, in seconds, even if one cannot be stopped."""

T = TypeVar("T")


def providers() -> dict[str, EntryPoint]:
    """Return every installed provider by its name, the built-in ones and others."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def split(model: str) -> tuple[str, str]:
    """Split ``PROVIDER:NAME`` at its first colon; the name keeps its own colons.

    Raises:
        SelfdiagError: when there is no provider of that name, or no name where one is needed.
    """
    provider, colon, name = model.strip().partition(":")
    known = providers()
    if provider not in known:
        shown = one_line(model, 80)
        listed = ", ".join(known)
        hint = nearest(provider, list(known))
        raise SelfdiagError(f"unknown model {shown!r}: a model is PROVIDER:NAME, with a provider of {listed}.{hint}")
    if not name and provider not in BARE:
        raise SelfdiagError(f"{provider!r} needs a name: write {provider}:NAME")
    if colon and not name:
        raise SelfdiagError(f"write {provider!r} without the colon")
    return provider, name


def build(model: str, options: ProviderOptions) -> Provider:
    """Return the provider for a model string; it connects to nothing yet.

    Raises:
        SelfdiagError: for an unknown provider or a name it does not know.
    """
    provider, name = split(model)
    if options.base_url and provider in WITHOUT_ADDRESS:
        raise SelfdiagError(f"{provider!r} runs on this machine and has no address: leave --base-url away")
    point = providers()[provider]
    try:
        factory = point.load()
    except Exception as error:  # noqa: BLE001 - a foreign provider may fail in any way
        raise SelfdiagError(f"the provider {provider!r} cannot be loaded: {one_line(str(error))}") from None
    built: Provider = factory(name, options)
    return built


def discovered(provider: str = "") -> list[Listing]:
    """Return what each installed provider, or one of them, finds when it looks; all look at the same time.

    A provider's module may define ``async def discover(provider_name) -> list[Listing]``; without one, what it offers
    counts. A provider that fails, or takes longer than ``PATIENCE``, gets one line with the reason.

    Raises:
        SelfdiagError: when there is no provider of that name.
    """
    points = providers()
    if provider:
        if provider not in points:
            hint = nearest(provider, list(points))
            raise SelfdiagError(f"unknown provider {one_line(provider, 80)!r}: there are {', '.join(points)}.{hint}")
        points = {provider: points[provider]}
    answers: dict[str, list[Listing]] = {}

    def look(name: str, point: EntryPoint) -> None:
        answers[name] = _listed(name, point)

    # threads of their own, because a provider of another package may block its event loop; daemons, because it may
    # do so for ever
    threads = [Thread(target=look, args=item, daemon=True) for item in points.items()]
    deadline = time.monotonic() + LONGEST_WAIT
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0.0))
    return [listing for name in points for listing in answers.get(name) or [_absent(name, TimeoutError())]]


def run_briefly(work: Awaitable[T], seconds: float) -> T:
    """Run a coroutine in an event loop of its own, and leave nothing behind that keeps the process alive.

    Raises:
        TimeoutError: when it takes longer than so many seconds.
    """

    async def bounded() -> T:
        asyncio.get_running_loop().set_default_executor(_Daemons())
        async with asyncio.timeout(seconds):
            return await work

    return asyncio.run(bounded())


def _listed(name: str, point: EntryPoint) -> list[Listing]:
    """Return what looking at a provider brings; one that fails must not hide the others."""
    try:
        factory = point.load()
        module = sys.modules.get(getattr(factory, "__module__", ""))
        # another package may fill the fields with anything
        listings = msgspec.convert(msgspec.to_builtins(_found(name, module)), list[Listing])
    except Exception as error:  # noqa: BLE001 - as above
        return [_absent(name, error)]
    return [_harmless(listing) for listing in listings]


def _offered(name: str, module: Any) -> list[Listing]:
    offer = getattr(module, "offer", None)
    offers: list[Listing] = offer(name) if callable(offer) else [Listing(model=f"{name}:NAME", ready=True)]
    return offers


def _found(name: str, module: Any) -> list[Listing]:
    discover: Callable[[str], Awaitable[list[Listing]]] | None = getattr(module, "discover", None)
    if discover is None:
        return _offered(name, module)
    found = run_briefly(discover(name), PATIENCE)
    return found or [Listing(model=f"{name}:…", ready=False, remark="no models there")]


def _absent(name: str, error: Exception) -> Listing:
    if isinstance(error, TimeoutError):
        reason = f"no answer within {PATIENCE:.0f} seconds"
    else:
        reason = one_line(str(error)) or type(error).__name__
    return Listing(model=f"{name}:…", ready=False, remark=reason)


def _harmless(listing: Listing) -> Listing:
    """Return a listing without keys, whose words hold no control character; they may stand in the model string."""
    details = {one_line(key, 40): one_line(value) for key, value in listing.details.items()}
    provider, colon, name = listing.model.partition(":")
    # JSON has no lone surrogates
    model = f"{provider}{colon}{without_secrets(name)}".encode("utf-8", "replace").decode()
    return msgspec.structs.replace(listing, model=model, remark=one_line(listing.remark), details=details)


class _Daemons(ThreadPoolExecutor):
    """Runs each call in a daemon thread.

    Python waits at its end for a pool's threads, and resolving a host name, which cannot be cancelled, may take
    minutes.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the result
                future.set_exception(error)
            else:
                future.set_result(result)

        Thread(target=work, daemon=True).start()
        return future
