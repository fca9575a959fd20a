"""Going anywhere with one key: a letter stands over everything that can take the focus."""

from __future__ import annotations

from collections.abc import Sequence
from string import digits
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from selfdiag.tui.screens.stacked import Stacked

LETTERS = f"asdfghjklqwertyuiopzxcvbnm{digits}"
"""In the order in which they are given away: the nearest to the hand first."""


class JumpScreen(ModalScreen[None], Stacked[None]):
    """Letters over widgets; pressing one focuses its widget.

    Args:
        targets: what can be reached, on the screen below.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close", id="jump.close")]
    DEFAULT_CSS = """
    JumpScreen > _Letter {
        position: absolute; width: 3; height: 1; text-align: center;
        background: $accent; color: $background; text-style: bold;
    }
    JumpScreen:ansi > _Letter { background: ansi_default; color: $accent; text-style: bold reverse; }
    """

    def __init__(self, targets: Sequence[Widget]) -> None:
        super().__init__()
        self._targets = dict(zip(LETTERS, targets, strict=False))

    def compose(self) -> ComposeResult:
        """Yield a letter at the upper left corner of every target."""
        for letter, target in self._targets.items():
            yield _Letter(letter, target)

    def on_key(self, event: events.Key) -> None:
        """Go to the widget whose letter is pressed."""
        target = self._targets.get(event.character or "")
        if target is not None:
            event.stop()
            self._go(target)

    def on_click(self, event: events.Click) -> None:
        """Go to the widget whose letter is clicked, or close."""
        # the event itself always names the screen
        clicked, _ = self.get_widget_at(event.screen_x, event.screen_y)
        if isinstance(clicked, _Letter):
            self._go(clicked.target)
        else:
            self.dismiss()

    def _go(self, target: Widget) -> None:
        self.dismiss()
        if target.is_attached:
            target.screen.set_focus(target)


class _Letter(Static):
    """One letter over its target."""

    def __init__(self, letter: str, target: Widget) -> None:
        super().__init__(letter, markup=False)
        self.target = target
        self.styles.offset = target.region.offset
