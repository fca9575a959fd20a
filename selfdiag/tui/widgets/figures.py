"""Measures one below the other: name, value, interval, and what must be said of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from selfdiag.tui.diagram_rows import MUTED
from selfdiag.tui.text import line
from selfdiag.tui.widgets.drawn import Drawn

if TYPE_CHECKING:
    from selfdiag.measure.estimate import Estimate

Kind = Literal["fraction", "signed", "percent"]
Rows = Callable[[int, bool], list[Content]]
"""Returns rows for a width in cells, and whether only ASCII may be used in bars."""

MISSING = "–"
"""What stands for a value that is missing."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measure: its value and interval as they are told, and remarks that stand below it."""

    name: str
    value: str
    interval: str = ""
    remarks: tuple[str, ...] = ()


def figure(name: str, found: Estimate, kind: Kind = "fraction", *, remarks: bool = True) -> Figure:
    """Return how a measure is told; a missing value or interval says why.

    Args:
        name: short, as it stands in a column.
        found: the measure.
        kind: how it is written.
        remarks: whether its note is told although nothing is missing.
    """
    from selfdiag.report import words

    written = {"fraction": words.fraction, "signed": words.signed, "percent": words.percent}[kind](found.value)
    told = remarks or found.value is None or found.ci is None
    note = found.note.replace("under perfect calibration", "if calibrated")
    return Figure(
        name=name,
        value=written,
        interval=words.interval(found, kind=kind),
        remarks=tuple(note.split("; ")) if told and note else (),
    )


class Figures(VerticalScroll):
    """Measures and notes; it scrolls where they do not all fit."""

    DEFAULT_CSS = """
    Figures { scrollbar-size-vertical: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = Drawn("")

    def compose(self) -> ComposeResult:
        """Yield the text."""
        yield self._text

    def show(self, figures: Sequence[Figure], *, below: Rows | None = None, notes: Sequence[str] = ()) -> None:
        """Show measures, and notes below them.

        Args:
            figures: the measures.
            below: draws rows that stand below the measures.
            notes: sentences, each with a mark before it.
        """

        def draw(width: int, plain: bool) -> Content:
            rows = figure_rows(figures, width)
            if below is not None:
                rows += [Content(""), *below(width, plain)]
            for note in notes:
                rows += [Content(""), *_wrapped(note, Content.styled("! ", MUTED), width)]
            return Content("\n").join(rows)

        self._text.show(draw)


def figure_rows(figures: Sequence[Figure], width: int) -> list[Content]:
    """Return measures as rows in columns.

    Args:
        figures: the measures.
        width: columns in all.
    """
    name = 1 + max((len(one.name) for one in figures), default=0)
    value = max((len(one.value) for one in figures), default=0)
    rows: list[Content] = []
    told: set[str] = set()
    for one in figures:
        label = Content.styled(f"{one.name:<{name}}", MUTED)
        if one.value == MISSING and one.remarks:
            rows += _wrapped(shorter("; ".join(one.remarks), told), label, width)
            continue
        rows.append(Content.assemble(label, (f"{one.value:>{value}}", "bold"), (f"  {one.interval}".rstrip(), MUTED)))
        for remark in one.remarks:
            rows += _wrapped(remark, Content("  "), width)
    return rows


def shorter(why: str, told: set[str]) -> str:
    """Return why a value is missing; the second time in a few words.

    Args:
        why: the note of a measure.
        told: what has been told before, to which this is added.
    """
    if why in told:
        return why.partition(":")[0]
    told.add(why)
    return why


def _wrapped(text: str, mark: Content, width: int) -> list[Content]:
    """Return foreign text in lines that stand clear of the mark before the first."""
    lines = line(text, 400).wrap(max(8, width - mark.cell_length))
    blank = Content(" " * mark.cell_length)
    return [Content.assemble(mark if at == 0 else blank, row.stylize(MUTED)) for at, row in enumerate(lines)]
