"""A hand at the app's keyboard and mouse: it sends what a terminal would, and need not wait until it was taken."""

from __future__ import annotations

import unicodedata
from typing import Any

from textual import events
from textual.driver import Driver
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot

Cell = tuple[int, int]


class Hand:
    """Works on the app of a pilot."""

    def __init__(self, pilot: Pilot[Any]) -> None:
        self.app: Any = pilot.app
        self._pilot = pilot

    @property
    def usable(self) -> bool:
        """Whether the app still takes keys."""
        return bool(self.app.is_running and not self.app._exit and self.app.screen_stack)

    async def settle(self) -> None:
        """Wait until everything on the screen has done what it was told.

        Raises:
            WaitForScreenTimeout: when that takes longer than half a minute.
        """
        if self.usable:
            await self._pilot._wait_for_screen()

    def key(self, key: str) -> None:
        """Press a key, named as in a binding, or a character."""
        name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
        try:
            char: str | None = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(name, name)))
        except KeyError:
            char = key if len(key) == 1 else None
        self._send(events.Key(name, char))

    def click(self, cell: Cell, *, to: Cell | None = None) -> None:
        """Press the mouse's button on a cell, and let it go there or elsewhere."""
        self._send(_mouse(events.MouseMove, cell, 0), _mouse(events.MouseDown, cell, 1))
        if to is not None:
            self._send(_mouse(events.MouseMove, to, 1))
        self._send(_mouse(events.MouseUp, to or cell, 1))

    def wheel(self, cell: Cell, lines: int) -> None:
        """Turn the wheel over a cell, down or with a negative number up."""
        kind = events.MouseScrollDown if lines > 0 else events.MouseScrollUp
        self._send(*(_mouse(kind, cell, 0) for _ in range(abs(lines))))

    def paste(self, text: str) -> None:
        """Paste a text."""
        self._send(events.Paste(text))

    async def resize(self, size: Cell) -> None:
        """Change the size of the terminal."""
        await self._pilot.resize_terminal(*size)

    def _send(self, *sent: events.Event) -> None:
        driver = self.app._driver
        assert isinstance(driver, Driver)
        for event in sent:
            driver.process_message(event)


def _mouse(kind: type[events.MouseEvent], cell: Cell, button: int) -> events.MouseEvent:
    x, y = cell
    return kind(None, x, y, 0, 0, button, False, False, False, x, y)
