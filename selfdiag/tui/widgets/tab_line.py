"""The names of a screen's tabs in one line, each with the number that opens it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

_SHORT = 8
"""Letters of a name where the whole ones do not fit."""


class TabLine(Widget, can_focus=False):
    """Numbered names, as much of them as there is room for; a click chooses one."""

    DEFAULT_CSS = """
    TabLine { height: 1; padding: 0 1; color: $text-muted; }
    """

    class Chosen(Message):
        """The tab at ``place`` was clicked."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self) -> None:
        super().__init__()
        self._names: Sequence[str] = ()
        self._active = 0

    def show(self, names: Sequence[str], active: int) -> None:
        """Show tabs, of which the one at place ``active`` is open."""
        self._names, self._active = names, active
        self.refresh()

    def render(self) -> Content:
        """Return the line."""
        chosen = "bold reverse" if self.app.native_ansi_color else "bold $foreground on $accent 25%"
        parts: list[str | tuple[str, str]] = []
        for place, label in enumerate(self._labels()):
            number, _, name = label.partition(" ")
            if place == self._active:
                parts.append((label, chosen))
            else:
                parts += [(number, "$accent"), f" {name}" if name else ""]
            parts.append("  " if self._roomy() else " ")
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        """Choose the tab whose name is clicked."""
        at, gap = 1, 2 if self._roomy() else 1
        for place, label in enumerate(self._labels()):
            if at <= event.x < at + cell_len(label):
                self.post_message(self.Chosen(place))
            at += cell_len(label) + gap

    def _labels(self) -> list[str]:
        whole = [f"{place} {name}" for place, name in enumerate(self._names, 1)]
        short = [f"{place} {_cut(name)}" for place, name in enumerate(self._names, 1)]
        alone = [label if place == self._active else label.partition(" ")[0] for place, label in enumerate(whole)]
        return next((labels for labels in (whole, short) if _cells(labels, 1) <= self._room()), alone)

    def _roomy(self) -> bool:
        return _cells(self._labels(), 2) <= self._room()

    def _room(self) -> int:
        return self.content_size.width


def _cells(labels: Sequence[str], gap: int) -> int:
    return sum(map(cell_len, labels)) + gap * (len(labels) - 1)


def _cut(name: str) -> str:
    return name if len(name) <= _SHORT + 3 else f"{name[: _SHORT - 1]}."
