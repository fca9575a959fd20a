"""The answers of a run, newest first: one line each, to go through and to open."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import ClassVar

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from selfdiag.runs.records import Record
from selfdiag.safety import one_line
from selfdiag.tui.item_filter import Tone, shown
from selfdiag.tui.run_so_far import is_off_topic

MOST = 1000
"""So many answers are listed; a run has them all in its results."""
_WORD, _SURE, _GAP = 13, 3, 2
"""Cells of a row for the outcome, the confidence, and between columns."""
_ABOUT, _SHORTER = 15, 10
"""Cells for what an answer is about, where there is room and where there is less."""


class _Row(msgspec.Struct, frozen=True):
    call_id: str
    outcome: str
    tone: Tone
    sure: str
    said: str
    about: str


class AnswersBefore(ScrollView, can_focus=True):
    """A list that takes many answers a second; while it is gone through, it stays where it is."""

    DEFAULT_CSS = """
    AnswersBefore {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
    }
    AnswersBefore > .answers--right { color: $success; }
    AnswersBefore > .answers--wrong { color: $error; }
    AnswersBefore > .answers--plain { color: $foreground; }
    AnswersBefore > .answers--unknown { color: $foreground-muted; }
    AnswersBefore > .answers--muted { color: $foreground-muted; }
    AnswersBefore > .answers--cursor { background: $accent 25%; }
    AnswersBefore:ansi > .answers--cursor { background: ansi_default; text-style: reverse; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "answers--right",
        "answers--wrong",
        "answers--plain",
        "answers--unknown",
        "answers--muted",
        "answers--cursor",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open the answer", id="answers.open"),
        Binding("escape", "leave", "back to the newest", id="answers.leave"),
        Binding("up", "move(-1)", "newer answer", show=False, id="answers.newer"),
        Binding("down", "move(1)", "older answer", show=False, id="answers.older"),
        Binding("pageup", "page(-1)", "newer answers", show=False, id="answers.page_newer"),
        Binding("pagedown", "page(1)", "older answers", show=False, id="answers.page_older"),
        Binding("home", "newest", "newest answer", show=False, id="answers.newest"),
        Binding("end", "oldest", "oldest answer", show=False, id="answers.oldest"),
    ]

    cursor: reactive[int] = reactive(0)
    """Place of the chosen answer, 0 is the newest."""

    class Opened(Message):
        """Somebody wants to see an answer with everything that is known of it."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    def __init__(self) -> None:
        super().__init__()
        self._rows: deque[_Row] = deque(maxlen=MOST)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, records: Iterable[Record]) -> None:
        """Put answers on top, the last of them first."""
        added = 0
        for record in records:
            self._rows.appendleft(_row(record))
            added += 1
        if not added:
            return
        self._lengthen()
        last = max(len(self._rows) - 1, 0)
        if self.has_focus:
            # what somebody looks at stays under their eyes
            self.set_reactive(AnswersBefore.cursor, min(self.cursor + added, last))
            self.scroll_to(y=self.scroll_offset.y + added, animate=False, force=True, immediate=True)
        self.refresh()

    def _lengthen(self) -> None:
        """Let the scrollbar know how many lines there are."""
        size = Size(self.size.width, len(self._rows))
        if self.show_vertical_scrollbar and size.height > self.size.height:
            # the bar stays where it is: setting the size as usual would lay out the whole screen at every answer
            self.set_reactive(AnswersBefore.virtual_size, size)
            bar = self.vertical_scrollbar
            if size.height > 1.02 * bar.window_virtual_size:  # less cannot be seen, and painting it takes time
                bar.window_virtual_size = size.height
        else:
            self.virtual_size = size

    def clear(self) -> None:
        """Take all answers away."""
        self._rows.clear()
        self.cursor = 0
        self.virtual_size = Size(self.size.width, 0)
        self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        width, place = self.scrollable_content_region.width, y + self.scroll_offset.y
        if place >= len(self._rows):
            words = "" if self._rows or y else "none yet"
            return Strip([Segment(fitted(words, width), self._style("muted"))])
        row = self._rows[place]
        cursor = self._style("cursor")
        over = Style(bgcolor=cursor.bgcolor, reverse=cursor.reverse)
        if not self.has_focus or place != self.cursor:
            over = Style.null()
        # the last cell is air before the scrollbar
        room = max(width - _WORD - _SURE - 2 * _GAP - 1, 0)
        about = _ABOUT if room >= 2 * _ABOUT else _SHORTER if room >= 2 * _SHORTER else 0
        plain = self._style("plain")
        parts = [
            (row.outcome, _WORD, self._style(row.tone)),
            (f"{row.sure:>{_SURE}}", _SURE + _GAP, plain),
            (row.said, room - about, plain),
            ("", _GAP, plain),
            (row.about, about, self._style("muted")),
        ]
        segments = [Segment(fitted(text, cells), style + over) for text, cells, style in parts if cells > 0]
        return Strip(segments).adjust_cell_length(width, plain + over)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"answers--{name}")

    def watch_cursor(self) -> None:
        """Keep the chosen answer in sight."""
        if self.is_mounted:
            self.scroll_to_region(
                Region(0, self.cursor, max(self.size.width, 1), 1), animate=False, force=True, immediate=True
            )
            self.refresh()

    def validate_cursor(self, cursor: int) -> int:
        """Return the nearest place that has an answer."""
        return max(0, min(cursor, len(self._rows) - 1))

    def on_focus(self) -> None:
        """Show what is chosen: what is in sight, from the top on."""
        self.cursor = max(self.cursor, self.scroll_offset.y)
        self.refresh()

    def on_blur(self) -> None:
        """Go back to the newest answers."""
        self.cursor = 0
        self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Fit the rows into the new width."""
        self.virtual_size = Size(event.size.width, len(self._rows))

    def on_click(self, event: events.Click) -> None:
        """Open the answer that is clicked on."""
        place = event.y + self.scroll_offset.y
        if place < len(self._rows):
            self.cursor = place
            self.action_open()

    def action_open(self) -> None:
        """Open the chosen answer."""
        if self._rows:
            self.post_message(self.Opened(self._rows[self.cursor].call_id))

    def action_leave(self) -> None:
        """Leave the list to itself: it shows the newest answers again."""
        self.screen.set_focus(None)

    def action_move(self, lines: int) -> None:
        """Choose another answer."""
        self.cursor += lines

    def action_page(self, pages: int) -> None:
        """Choose an answer a screenful away."""
        self.cursor += pages * max(self.size.height - 1, 1)

    def action_newest(self) -> None:
        """Choose the newest answer."""
        self.cursor = 0

    def action_oldest(self) -> None:
        """Choose the oldest answer listed."""
        self.cursor = len(self._rows) - 1


def fitted(text: str, cells: int) -> str:
    """Return text in exactly so many cells: filled with blanks, or cut between characters and marked."""
    if cells <= 0:
        return ""
    if cell_len(text) > cells:
        text = f"{set_cell_size(text, cells - 1).rstrip()}…"
    return set_cell_size(text, cells)


def said(record: Record, limit: int = 200) -> str:
    """Return in one harmless line what a reply says: its answer, else its fault, its value, or how it begins.

    Args:
        record: with or without its long texts.
        limit: the longest line in characters.
    """
    if record.error is not None:
        return one_line(f"{record.error.kind}: {record.error.message}", limit)
    if record.answer is not None:
        return one_line(record.answer, limit)
    return one_line(record.raw if record.value is None else record.rule, limit)


def _about(record: Record) -> str:
    if record.trap:
        return "trap"
    if record.claim is None:
        return one_line(record.bin, 24)
    return f"off {record.claim} %" if is_off_topic(record, record.bin) else f"claim {record.claim} %"


def _row(record: Record) -> _Row:
    glyph, word, tone = shown(record)
    return _Row(
        call_id=record.call_id,
        outcome=f"{glyph} {word}",
        tone=tone,
        sure="–" if record.confidence is None else str(record.confidence),
        said=said(record, 160),
        about=_about(record),
    )
