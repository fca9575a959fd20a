"""The list of models on the home screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from selfdiag.safety import one_line
from selfdiag.tui.discovery import Found
from selfdiag.tui.text import line
from selfdiag.tui.widgets.model_rows import Group, ModelRow, groups_of
from selfdiag.tui.widgets.row_list import MUTED, Row, RowList, columns

NARROWEST_NAME = 14
WIDEST_NAME = 40
ROOM_FOR_WORDS = 22
"""Columns of names, and those that names leave to what is said of a model."""


class ModelList(RowList):
    """Models grouped by where they run; groups fill in as their providers answer.

    Args:
        model: highlighted from the start.
        base_url: of its server.
        id: of the widget.
    """

    HELP = """
    ## models

    Everything that can be asked from here. `enter` starts the audit of the one that is highlighted, `/` leaves those
    whose names contain what you type. Write `PROVIDER:NAME` there for a model that is not listed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "start", id="home.start")]

    class Chosen(Message):
        """Another row is highlighted."""

    def __init__(self, model: str, base_url: str, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._found: dict[str, Found] = {}
        self._named = (model, base_url)
        self._kept = (model, base_url, 0)
        self._wanted = ""
        self._unfolded = False
        self._memory: int | None = None
        self._shown: list[ModelRow | None] = []
        self._name_width = NARROWEST_NAME
        self._filling = False

    @property
    def chosen(self) -> ModelRow | None:
        """The highlighted row."""
        return None if self.highlighted is None else self._shown[self.highlighted]

    def on_mount(self) -> None:
        """Show what is known before anything was looked for."""
        self._refill()

    def on_resize(self) -> None:
        """Put air between the groups where there is room for it."""
        self._refill()

    def add(self, found: Found, memory: int | None) -> None:
        """Show what a provider has.

        Args:
            found: what it has, in place of what it had before.
            memory: of this machine, in bytes.
        """
        self._found[found.provider] = found
        self._memory = memory
        self._refill()

    def choose(self, model: str, base_url: str) -> None:
        """Show a model that a person has named, and highlight it."""
        self._named = (model, base_url)
        self._kept = (model, base_url, 0)
        self._refill()

    def fold(self) -> None:
        """Show the simulated models, or fold them away."""
        self._unfolded = not self._unfolded
        self._refill()

    def filter(self, wanted: str) -> None:
        """Leave rows that contain these words; all rows when there are none."""
        self._wanted = wanted
        self._refill()

    def hold(self) -> None:
        """Keep the highlighted row, also where a filter and not the person has highlighted it."""
        if self.highlighted is not None:
            self._kept = self._keys()[self.highlighted] or self._kept

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Remember what is highlighted, so that it stays so when rows come and go."""
        super().watch_highlighted(highlighted)
        if self._filling or highlighted is None:
            return
        self.hold()
        self.post_message(self.Chosen())

    def _refill(self) -> None:
        before = self.chosen
        groups = groups_of(
            self._found,
            named=self._named,
            unfolded=self._unfolded,
            wanted=self._wanted,
            memory=self._memory,
        )
        self._shown = [row for _, row in _flat(groups)]
        airy = len(self._shown) + len(groups) - 1 <= self.size.height
        rows: list[Row] = []
        for group, row in _flat(groups):
            # a line of air above each group where there is room
            above = 1 if airy and rows and (row is None or (not group.heading and row is group.rows[0])) else 0
            draw = partial(self._heading, group) if row is None else partial(self._row, row)
            rows.append(Row(draw=partial(_below, above, draw), lines=1 + above, picked=row is not None))
        names = [Content(one_line(row.name, 80)).cell_length for row in self._shown if row is not None]
        self._name_width = min(max([NARROWEST_NAME, *names]), WIDEST_NAME)
        if not groups:
            rows = [Row(draw=self._nothing, picked=False)]
            self._shown = [None]
        keys = self._keys()
        first = next((index for index, key in enumerate(keys) if key is not None), None)
        # the rows before are gone while these are filled in: nothing was chosen by a person meanwhile
        self._filling = True
        try:
            self.fill(rows, keys.index(self._kept) if self._kept in keys else first)
        finally:
            self._filling = False
        if self.chosen != before:  # also when more is known of it now
            self.post_message(self.Chosen())

    def _keys(self) -> list[tuple[str, str, int] | None]:
        """Return what each row is known by, None for headings; a model that is listed twice is numbered."""
        seen: Counter[tuple[str, str]] = Counter()
        keys: list[tuple[str, str, int] | None] = []
        for row in self._shown:
            if row is None:
                keys.append(None)
                continue
            key = (row.model if row.kind in {"model", "absent"} else f"{row.model}…", row.base_url)
            keys.append((*key, seen[key]))
            seen[key] += 1
        return keys

    def _heading(self, group: Group, width: int, highlighted: bool) -> Content:  # noqa: ARG002 - as a row's draw
        return columns(width, (Content(" "), 1, ""), (line(group.heading), width - 1, MUTED))

    def _row(self, row: ModelRow, width: int, highlighted: bool) -> Content:
        # the name gives way before what is said of it does
        name_width = min(self._name_width, max(NARROWEST_NAME, width - 5 - ROOM_FOR_WORDS))
        name_style = MUTED if row.kind == "absent" else ""
        return columns(
            width,
            (Content(self._mark(highlighted)), 3, "$accent"),
            (line(row.name, 300), name_width, name_style),
            (Content(""), 2, ""),
            (line(row.words, 300), width, MUTED),
        )

    def _mark(self, highlighted: bool) -> str:
        if not highlighted:
            return ""
        return " > " if self.plain else " ▸ "

    def _nothing(self, width: int, highlighted: bool) -> Content:  # noqa: ARG002
        words = Content.assemble(" no name contains ", line(self._wanted.strip(), 60), "; esc shows all")
        return words.truncate(width, ellipsis=True).stylize(MUTED)


def _below(above: int, draw: Callable[[int, bool], Content], width: int, highlighted: bool) -> Content:
    """Return what is drawn, so many empty lines lower."""
    return Content("\n" * above) + draw(width, highlighted)


def _flat(groups: list[Group]) -> Iterator[tuple[Group, ModelRow | None]]:
    for group in groups:
        if group.heading:
            yield group, None
        for row in group.rows:
            yield group, row
