"""Every record of a run as a list that sorts and filters at once, however many there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from selfdiag.runs.records import MEASURED_SECTIONS
from selfdiag.safety import SelfdiagError, one_line
from selfdiag.tui.item_filter import COLUMNS, Column, ItemRow, read_filter, shown, sorted_rows
from selfdiag.tui.widgets.answers_before import fitted, said

HINT = "filter: words, wrong, conf>80, bin:physics, -trap"
"""Shown where a filter is typed."""
_GAP = 2
_OUTCOME, _CONF, _ANSWER = 11, 5, 18
_LONGEST_NAME, _SHORT_NAME = 20, 14


class _Place(NamedTuple):
    column: Column
    width: int


class ItemTable(ScrollView, can_focus=True):
    """Rows of which only those in sight are drawn; the first line names the columns."""

    HELP = "Every record of the run. A click on the name of a column sorts by it, a second one turns the order round."
    DEFAULT_CSS = """
    ItemTable { height: 1fr; background: $background; scrollbar-size-vertical: 1; overflow-x: hidden; }
    ItemTable > .item-table--head { color: $foreground 60%; }
    ItemTable > .item-table--sorted { color: $accent; }
    ItemTable > .item-table--cursor { background: $accent 25%; }
    ItemTable:ansi > .item-table--cursor { background: ansi_default; }
    ItemTable > .item-table--right { color: $success; }
    ItemTable > .item-table--wrong { color: $error; }
    ItemTable > .item-table--muted { color: $foreground; }
    ItemTable > .item-table--unknown { color: $foreground 60%; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"item-table--{name}" for name in ("head", "sorted", "cursor", "right", "wrong", "muted", "unknown")
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="items.open"),
        Binding("s", "sort", "sort", id="items.sort"),
        Binding("S", "turn_round", "sort backwards", show=False, id="items.sort_backwards"),
        Binding("up,k", "move(-1)", "row up", show=False, id="items.up"),
        Binding("down,j", "move(1)", "row down", show=False, id="items.down"),
        Binding("pageup", "page(-1)", "page up", show=False, id="items.page_up"),
        Binding("pagedown", "page(1)", "page down", show=False, id="items.page_down"),
        Binding("home", "end(-1)", "first row", show=False, id="items.first"),
        Binding("end", "end(1)", "last row", show=False, id="items.last"),
    ]

    class Opened(Message):
        """A row was chosen."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    class Sort(Message):
        """Another order is wanted: by ``column``, or the other way round by the same one."""

        def __init__(self, column: Column) -> None:
            super().__init__()
            self.column = column

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[ItemRow] = ()
        self.cursor = 0
        self.by: Column = "plan"
        self.backwards = False
        self._nothing = ""
        self._names: dict[Column, int] = {"topic": 0, "item": 0, "section": 0}
        self._with_section = True

    def measure(self, rows: Sequence[ItemRow]) -> None:
        """Take the widths of the columns from all rows, so that a filter does not move them."""
        found: dict[Column, set[str]] = {
            "topic": {row.record.bin for row in rows},
            "item": {row.record.item_id for row in rows},
            "section": {row.record.section for row in rows},
        }
        for column, names in found.items():
            longest = max((cell_len(name[: 2 * _LONGEST_NAME]) for name in names), default=0)
            self._names[column] = min(max(longest, len(column) + 1), _LONGEST_NAME)
        self._with_section = not {row.record.section for row in rows} <= set(MEASURED_SECTIONS)

    def show(self, rows: Sequence[ItemRow], *, by: Column, backwards: bool, nothing: str) -> None:
        """Show rows and keep the cursor on its record where that is among them.

        Args:
            rows: in the order in which they are shown.
            by: the column they are sorted by.
            backwards: the other way round.
            nothing: what to say when there is no row.
        """
        chosen = self.rows[self.cursor].record.call_id if self.cursor < len(self.rows) else ""
        self.rows, self.by, self.backwards, self._nothing = rows, by, backwards, nothing
        self.cursor = next((place for place, row in enumerate(rows) if row.record.call_id == chosen), 0)
        self.virtual_size = Size(self.size.width, len(rows) + 1)
        self._into_sight()
        self.refresh()

    def go_to(self, call_id: str) -> None:
        """Put the cursor on a record, if it is shown."""
        place = next((place for place, row in enumerate(self.rows) if row.record.call_id == call_id), None)
        if place is not None:
            self._move_to(place)

    def action_open(self) -> None:
        """Open the record under the cursor."""
        if self.rows:
            self.post_message(self.Opened(self.rows[self.cursor].record.call_id))

    def action_sort(self) -> None:
        """Sort by the next column."""
        self.post_message(self.Sort(COLUMNS[(COLUMNS.index(self.by) + 1) % len(COLUMNS)]))

    def action_turn_round(self) -> None:
        """Turn the order round."""
        self.post_message(self.Sort(self.by))

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self._move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by as many rows as are in sight."""
        self._move_to(self.cursor + by * max(self.size.height - 2, 1))

    def action_end(self, way: int) -> None:
        """Move the cursor to the first or to the last row."""
        self._move_to(0 if way < 0 else len(self.rows) - 1)

    def on_click(self, event: events.Click) -> None:
        """Sort by the column whose name is clicked, go to a row, and open it with a second click."""
        if event.y == 0:
            at = 1
            for column, width in self._places():
                if at <= event.x < at + width + _GAP:
                    self.post_message(self.Sort(column))
                at += width + _GAP
            return
        place = event.y - 1 + self.scroll_offset.y
        if place < len(self.rows):
            self._move_to(place)
            if event.chain == 2:
                self.action_open()

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self.virtual_size = Size(self.size.width, len(self.rows) + 1)
        self._into_sight()

    def _move_to(self, place: int) -> None:
        self.cursor = max(0, min(place, len(self.rows) - 1))
        self._into_sight()
        self.refresh()

    def _into_sight(self) -> None:
        seen = max(self.size.height - 1, 1)
        top = self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + seen:
            self.scroll_to(y=self.cursor - seen + 1, animate=False, force=True)

    def _places(self) -> list[_Place]:
        """Return the columns that there is room for, with their widths in cells."""
        widths: dict[Column, int] = {"outcome": _OUTCOME, "conf": _CONF, **self._names}

        def left() -> int:
            return self.size.width - sum(width + _GAP for width in widths.values()) - _GAP

        # where sections differ they say more than the topic, which the id often tells
        for column in ("topic", "section") if self._with_section else ("section", "topic"):
            if left() < _ANSWER:
                del widths[column]
        if left() < _ANSWER // 2:
            widths["item"] = min(widths["item"], _SHORT_NAME)
        widths["answer"] = max(left(), _CONF)
        return [_Place(column, widths[column]) for column in COLUMNS if column in widths]

    def render_line(self, y: int) -> Strip:
        """Return one line of the widget, of those in sight."""
        width, place = self.size.width, y - 1 + self.scroll_offset.y
        if y == 0:
            return Strip(self._head()).adjust_cell_length(width, self._style())
        if not self.rows and y == 1:
            return Strip([Segment(f" {self._nothing}", self._style("head"))]).adjust_cell_length(width, self._style())
        if place >= len(self.rows):
            return Strip.blank(width, self._style())
        under = ("cursor",) if place == self.cursor else ()
        return Strip(self._row(self.rows[place], *under)).adjust_cell_length(width, self._style(*under))

    def _style(self, *names: str) -> Style:
        """Return the style of components, the later ones over the earlier."""
        style = self.get_visual_style(*(f"item-table--{name}" for name in names)).rich_style
        # the terminal's own colours have no shades, and Textual's styles of components no reverse
        return style + Style(reverse=True) if "cursor" in names and self.app.native_ansi_color else style

    def _head(self) -> Iterable[Segment]:
        plain = bool(getattr(self.app, "ascii", False))
        arrow = ("v^" if plain else "▾▴")[self.backwards]
        for column, width in self._places():
            name = f"{column}{arrow}" if column == self.by else column
            shown_name = f"{name:>{width}}" if column == "conf" else name
            tone = "sorted" if column == self.by else "head"
            yield Segment(f" {fitted(shown_name, width)} ", self._style(tone))

    def _row(self, row: ItemRow, *under: str) -> Iterable[Segment]:
        record = row.record
        glyph, word, tone = shown(record)
        base, muted = self._style(*under), self._style(*under, "head")
        conf = "–" if record.confidence is None else str(record.confidence)
        texts = {
            "outcome": (f"{glyph} {word}", self._style(*under, tone)),
            "conf": (f"{conf:>{_CONF}}", base),
            "topic": (one_line(record.bin), muted),
            "item": (one_line(record.item_id), muted),
            "answer": (said(record), base),
            "section": (one_line(record.section), muted),
        }
        for column, width in self._places():
            text, style = texts[column]
            yield Segment(f" {fitted(text, width)} ", style)


class FilterLine(Input):
    """Where a filter is typed."""

    HELP = (
        "Words are looked for in item, answer and question; wrong, right, abstained, missed and trap say what became "
        "of it. conf>80, bin:physics, item:07, section:traps, outcome:refused; -trap leaves out; "
        '"quotes" hold words together.'
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "clear the filter", id="items.clear"),
        Binding("down", "to_list", "to the list", show=False, id="items.to_list"),
    ]

    class Left(Message):
        """The list is to have the keys again."""

    def action_leave(self) -> None:
        """Clear the filter and go back to the list."""
        self.value = ""
        self.post_message(self.Left())

    def action_to_list(self) -> None:
        """Go to the list and keep the filter."""
        self.post_message(self.Left())


class ItemsTab(Vertical):
    """The list of records with the line that filters it."""

    DEFAULT_CSS = """
    ItemsTab > Horizontal { height: 1; }
    ItemsTab FilterLine { width: 1fr; background: $background; }
    ItemsTab FilterLine:focus { background: $surface; }
    ItemsTab .count { width: auto; padding: 0 1; color: $text-muted; }
    ItemsTab .fault { height: auto; padding: 0 1; color: $error; display: none; }
    ItemsTab.-fault .fault { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._rows: Sequence[ItemRow] = ()
        self._table = ItemTable()
        self._filter = FilterLine(placeholder=f"/ {HINT}", select_on_focus=False)
        self._count = Static("reading…", classes="count", markup=False)
        self._fault = Static("", classes="fault", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the filter line, its fault and the list."""
        with Horizontal():
            yield self._filter
            yield self._count
        yield self._fault
        yield self._table

    def show(self, rows: Sequence[ItemRow]) -> None:
        """Show the records of a run."""
        self._rows = rows
        self._table.measure(rows)
        self._apply(self._table.by, self._table.backwards)

    @property
    def order(self) -> list[str]:
        """The call ids of the rows in the order in which they are shown."""
        return [row.record.call_id for row in self._table.rows]

    def go_to(self, call_id: str) -> None:
        """Put the cursor on a record."""
        self._table.go_to(call_id)

    def start_filter(self) -> None:
        """Let a filter be typed."""
        self._filter.focus()

    @property
    def listing(self) -> ItemTable:
        """What takes the keys."""
        return self._table

    @on(Input.Changed)
    def _filtered(self) -> None:
        self._apply(self._table.by, self._table.backwards)

    @on(Input.Submitted)
    @on(FilterLine.Left)
    def _typed(self) -> None:
        self._table.focus()

    @on(ItemTable.Sort)
    def _sorted(self, event: ItemTable.Sort) -> None:
        again = event.column == self._table.by
        self._apply(event.column, again and not self._table.backwards)
        self._table.action_end(-1)

    def _apply(self, by: Column, backwards: bool) -> None:
        """Show what the filter picks; while it cannot be read, the rows stay and its fault is said."""
        try:
            picks = read_filter(self._filter.value)
        except SelfdiagError as error:
            self._fault.update(str(error))
            self.add_class("-fault")
            return
        self.remove_class("-fault")
        found = sorted_rows([row for row in self._rows if picks(row)], by, backwards=backwards)
        whole = f"{len(self._rows):,} record{'s' * (len(self._rows) != 1)}"
        self._count.update(whole if len(found) == len(self._rows) else f"{len(found):,} of {whole}")
        nothing = "no record matches; esc in the filter clears it" if self._rows else "no record yet"
        self._table.show(found, by=by, backwards=backwards, nothing=nothing)
