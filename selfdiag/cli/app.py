"""``selfdiag [MODEL]``: opens the terminal app."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import say
from selfdiag.safety import SelfdiagError

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp

LAST_RESORT = 5.0
"""Seconds after a signal at which the process ends, whatever holds it."""
LAST_MOMENT = 0.8
"""Seconds after the app has closed at which the process ends: a thread that looks up a name cannot be stopped."""


def open_app(model: str = "", base_url: str = "") -> int:
    """Open the terminal app and return the process's exit code.

    Args:
        model: chosen from the start, if named.
        base_url: of its server.

    Raises:
        SelfdiagError: when there is no terminal to draw on; not one escape character is written then.
    """
    if missing := _missing():
        raise SelfdiagError(f"the app needs a terminal, and {missing}: without one, ask by 'selfdiag run MODEL'")
    from selfdiag.tui.app import SelfdiagApp
    from selfdiag.tui.terminal import never_fail_to_write

    never_fail_to_write()
    return asyncio.run(_shown(SelfdiagApp(model, base_url)))


def _missing() -> str:
    """Return what a terminal app cannot do without, empty when all is there."""
    if os.environ.get("TEXTUAL_DRIVER"):  # drawn elsewhere, as in a browser
        return ""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, f"__{name}__")
        try:
            is_one = stream is not None and stream.isatty()
        except ValueError:  # closed
            is_one = False
        if not is_one:
            return f"{name} is none"
    return "TERM says that this one cannot move its cursor" if os.environ.get("TERM") in {"dumb", "unknown"} else ""


async def _shown(app: SelfdiagApp) -> int:
    restore = _catch_signals(app)
    try:
        code = await app.run_async() or ExitCode.OK
    finally:
        restore()
    if app.fault:
        say(f"selfdiag: {app.fault}")
        code = ExitCode.INCOMPLETE
    _end_within(LAST_MOMENT, code)
    return code


def _end_within(seconds: float, code: int) -> None:
    """End the process then, whatever it still waits for."""
    watchdog = threading.Timer(seconds, os._exit, (code,))
    watchdog.daemon = True
    watchdog.start()


def _catch_signals(app: SelfdiagApp) -> Any:
    """Let signals end the app in order, and return what undoes that."""
    loop = asyncio.get_running_loop()
    ending: set[asyncio.Task[None]] = set()

    def shut_down() -> None:
        if not ending:
            ending.add(loop.create_task(app.shut_down(ExitCode.INTERRUPTED)))

    def caught(number: int, _frame: object) -> None:
        if number == getattr(signal, "SIGHUP", None):
            _let_go_of_the_terminal()
        _end_within(LAST_RESORT, ExitCode.INTERRUPTED)
        loop.call_soon_threadsafe(shut_down)

    found = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # a signal that the caller ignores, as nohup does, stays ignored
    numbers = [number for number in found if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, caught) for number in numbers}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    return restore


def _let_go_of_the_terminal() -> None:
    """Let reading and writing go nowhere.

    A terminal that has hung up answers both with errors; the thread that writes would end, and the app wait for it.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        with suppress(OSError):
            os.dup2(nowhere, number)
