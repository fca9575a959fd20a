"""Headed texts of any length, of which only the lines in sight are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from selfdiag.tui.background import begin, in_background
from selfdiag.tui.text import block

Tone = Literal["plain", "right", "wrong", "muted", "unknown", "accent"]

_HEAD = 12
"""Cells for the words on the left."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A text with a word beside it; ``text`` is foreign, of several lines and any length."""

    head: str
    text: str
    tone: Tone = "plain"


class _Line(msgspec.Struct, frozen=True):
    head: str
    text: str
    tone: Tone


def laid_out(parts: Sequence[Part], width: int) -> list[_Line]:
    """Return the lines of texts wrapped for so many cells, with an empty one between two of them."""
    lines: list[_Line] = []
    for part in parts:
        wrapped = [line.plain for line in block(part.text).wrap(max(width - _HEAD, 10))] or [""]
        if lines and (len(wrapped) > 1 or lines[-1].head == ""):
            lines.append(_Line("", "", "plain"))
        lines += [_Line("" if place else part.head, text, part.tone) for place, text in enumerate(wrapped)]
    return lines


class LongText(ScrollView, can_focus=True):
    """Texts that may be very long; they are wrapped beside the event loop."""

    HELP = "The arrows scroll. Text that is marked with the mouse is copied with ctrl+c."
    DEFAULT_CSS = """
    LongText { height: 1fr; background: $background; scrollbar-size-vertical: 1; overflow-x: hidden; }
    LongText > .long-text--head { color: $foreground 60%; }
    LongText > .long-text--plain { color: $foreground; }
    LongText > .long-text--right { color: $success; text-style: bold; }
    LongText > .long-text--wrong { color: $error; text-style: bold; }
    LongText > .long-text--accent { color: $accent; }
    LongText > .long-text--muted { color: $foreground 60%; }
    LongText > .long-text--unknown { color: $foreground 60%; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"long-text--{name}" for name in ("head", "plain", "right", "wrong", "accent", "muted", "unknown")
    }

    def __init__(self) -> None:
        super().__init__()
        self._parts: Sequence[Part] = ()
        self._lines: Sequence[_Line] = ()

    def show(self, parts: Sequence[Part]) -> None:
        """Show texts from their beginning."""
        self._parts = parts
        self.scroll_to(y=0, animate=False, force=True)
        self._lay_out()

    def on_resize(self) -> None:
        """Wrap the texts for the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        if self.size.width:
            begin(self, self._wrap)

    async def _wrap(self) -> None:
        width = self.size.width
        self._lines = await in_background(laid_out, self._parts, width - 2)
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one line of those in sight."""
        base, width = self._style(), self.size.width
        place = y + self.scroll_offset.y
        if place >= len(self._lines):
            return Strip.blank(width, base)
        line = self._lines[place]
        told = "head" if line.tone not in {"right", "wrong"} else line.tone
        segments = [Segment(f" {line.head:<{_HEAD}}", self._style(told)), Segment(line.text, self._style(line.tone))]
        strip = Strip(segments).adjust_cell_length(width, base)
        selection = self.text_selection
        span = selection.get_span(place) if selection is not None else None
        if span is not None:
            start, end = span
            marked = self.screen.get_component_rich_style("screen--selection")
            last = width if end == -1 else end
            middle = strip.crop(start, last).apply_style(marked)
            strip = Strip.join([strip.crop(0, start), middle, strip.crop(last, width)])
        return strip.apply_offsets(0, place)

    def _style(self, *names: str) -> Style:
        return self.get_visual_style(*(f"long-text--{name}" for name in names)).rich_style

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that is selected with the mouse."""
        return selection.extract("\n".join(f" {line.head:<{_HEAD}}{line.text}" for line in self._lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - as Textual calls it
        """Show what is selected."""
        self.refresh()
