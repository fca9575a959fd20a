"""The keys that work here, in the last line of a screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.widgets import Footer

_LAST = 2
"""Keys at the end that always stay: help and quit, of the app itself."""
_TO_ALL_ACTIONS = "-command-palette"
"""Textual's class of the key at the right end."""


class KeyLine(Footer):
    """As many keys as there is room for, each of them whole.

    Where they do not all fit, the way to all actions goes first, then some air, then what the screen has declared
    last: help, which tells all of them, and quit stay.
    """

    def compose(self) -> ComposeResult:
        """Yield the keys."""
        keys: list[Any] = list(super().compose())
        # the last cell of the last key is empty
        room = self.app.size.width - self.styles.padding.width + 1
        if keys and keys[-1].has_class(_TO_ALL_ACTIONS) and _cells(keys) > room:
            keys.pop()
        self.compact = _cells(keys) > room
        while len(keys) > _LAST and _cells(keys, compact=self.compact) > room:
            keys.pop(-1 - _LAST)
        yield from keys

    def on_resize(self) -> None:
        """Show what fits now."""
        self.refresh(recompose=True)


def _cells(keys: Sequence[Any], *, compact: bool = False) -> int:
    """Return the width of keys with what they do."""
    around = 2 if compact else 3
    told = sum(cell_len(key.key_display) + cell_len(key.description) + around for key in keys)
    # before the way to all actions stands a line, and after it a blank
    return told + (2 if keys and keys[-1].has_class(_TO_ALL_ACTIONS) else 0)
