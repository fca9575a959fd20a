"""Work that holds up neither the screen nor the end of the app."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.worker import Worker

T = TypeVar("T")


def begin(
    owner: DOMNode, work: Callable[..., Coroutine[Any, Any, None]], *arguments: object, group: str = "default"
) -> None:
    """Do something on the event loop for a widget or screen, which hears of its end as ``Worker.StateChanged``.

    Nothing is begun for a screen that has been left: it may be taken apart before it was put up.

    Args:
        owner: the widget or screen; what it has begun ends with it.
        work: an async function.
        arguments: handed to it.
        group: what the owner has begun in the same group before is given up.
    """
    if not owner.is_attached or owner.screen not in owner.app.screen_stack:
        return
    _: Worker[None] = owner.run_worker(partial(work, *arguments), group=group, exclusive=True, exit_on_error=False)


async def in_background(work: Callable[..., T], *arguments: object) -> T:
    """Return what a function returns, called in a thread of its own.

    Python waits at its end for the threads of ``asyncio.to_thread``, and looking for a server or opening a pipe may
    take minutes; this thread ends with the process.

    Args:
        work: the function; it must touch no widget.
        arguments: handed to it.

    Raises:
        Exception: whatever the function raises.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def call() -> None:
        result: T | None = None
        failed: BaseException | None = None
        try:
            result = work(*arguments)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the result
            failed = error
        with suppress(RuntimeError):  # the app has ended meanwhile
            loop.call_soon_threadsafe(settle, result, failed)

    Thread(target=call, daemon=True).start()
    return await future
