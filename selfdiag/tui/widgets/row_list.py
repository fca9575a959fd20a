"""A list whose rows are drawn for whatever width there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

import msgspec
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.css.styles import RulesMap
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets.option_list import Option

from selfdiag.tui.widgets.steady_list import SteadyList

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp

MUTED = "$foreground-muted"
"""Style of a part of a text that matters less: ``$text-muted`` is white there."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row: ``draw`` returns it for a width in cells and whether it is highlighted, in so many ``lines``.

    A row that cannot be ``picked`` is a heading or a sentence.
    """

    draw: Callable[[int, bool], Content]
    lines: int = 1
    picked: bool = True


class RowList(SteadyList):
    """Rows of which one is highlighted; a click highlights, a double click or enter picks."""

    DEFAULT_CSS = """
    RowList {
        height: 1fr;
        text-wrap: nowrap;
        scrollbar-size-vertical: 1;
        background: $background;
        border: none;
        padding: 0;
    }
    RowList:focus { border: none; background-tint: $foreground 0%; }
    RowList > .option-list--option-disabled { color: $foreground-muted; }
    RowList > .option-list--option-highlighted,
    RowList:focus > .option-list--option-highlighted { color: $foreground; text-style: none; }
    RowList > .option-list--option-highlighted { background: $panel; }
    RowList:focus > .option-list--option-highlighted { background: $accent 25%; }
    RowList:ansi:focus > .option-list--option-highlighted { background: ansi_default; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "next", show=False, id="list.next"),
        Binding("k", "cursor_up", "previous", show=False, id="list.previous"),
    ]

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, markup=False)
        self._rows: Sequence[Row] = ()
        self._plain = False

    def fill(self, rows: Sequence[Row], highlighted: int | None) -> None:
        """Show rows in place of those before, with one of them highlighted."""
        self._rows = rows
        self.set_options(Option(_Drawn(self, row), disabled=not row.picked) for row in rows)
        self.highlighted = highlighted

    def redraw(self) -> None:
        """Draw the rows again: what they are drawn from has changed."""
        for index, row in enumerate(self._rows):
            self.replace_option_prompt_at_index(index, _Drawn(self, row))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return what is to be painted; rows are drawn again first where other glyphs are wanted than before."""
        if self._plain != self.plain:
            self._plain = self.plain
            self.redraw()
        return super().render_lines(crop)

    @property
    def plain(self) -> bool:
        """Whether plain characters are wanted."""
        return cast("SelfdiagApp", self.app).ascii

    def on_click(self, event: events.Click) -> None:
        """Highlight what is clicked; pick it when it is clicked twice."""
        event.prevent_default()
        index = self.clicked(event)
        if index is None or not self._rows[index].picked:
            return
        self.highlighted = index
        if event.chain == 2:
            self.action_select()

    def is_highlighted(self, row: Row) -> bool:
        """Return whether a row is the highlighted one."""
        return self.highlighted is not None and self._rows[self.highlighted] is row


class _Drawn(Visual):
    """A row as Textual asks for it."""

    def __init__(self, owner: RowList, row: Row) -> None:
        self._owner = owner
        self._row = row

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        highlighted = self._owner.is_highlighted(self._row)
        content = self._row.draw(width, highlighted)
        # the terminal's own colours have no shades, and Textual's styles of components no reverse
        if highlighted and self._owner.has_focus and self._owner.app.native_ansi_color:
            content = content.stylize("reverse")
        return content.render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:  # noqa: ARG002 - Textual's signature
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:  # noqa: ARG002 - as above
        return self._row.lines


def columns(width: int, *cells: tuple[Content, int, str]) -> Content:
    """Return cells side by side, each cut to or filled up to a width in terminal cells, never within a character.

    Args:
        width: of all of them; the last one gives way.
        cells: content, width and style of each.
    """
    parts: list[Content] = []
    left = width
    for content, wanted, style in cells:
        room = max(min(wanted, left), 0)
        if room:
            parts.append(content.truncate(room, ellipsis=True, pad=True).stylize(style))
        left -= room
    return Content("").join(parts)
