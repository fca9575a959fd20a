"""The palette: every action by its name."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.command import CommandList, CommandPalette

from selfdiag.tui.screens.stacked import Stacked
from selfdiag.tui.widgets.steady_list import SteadyList


class Palette(CommandPalette, Stacked[None]):
    """Textual's palette, which takes away only itself and whose list stands clicks while it is filled."""

    def compose(self) -> ComposeResult:
        """Yield what the palette is made of."""
        for widget in super().compose():
            yield _Commands() if isinstance(widget, CommandList) else widget

    def _gather_commands(self, search_value: str) -> None:  # type: ignore[override]
        # a palette that is closed at once is put up all the same, and would look for its list when that is gone
        if self in self.app.screen_stack:
            super()._gather_commands(search_value)


class _Commands(CommandList, SteadyList):
    """What is found."""
