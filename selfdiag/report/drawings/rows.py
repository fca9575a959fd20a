"""Drawings with one row below the other: a name to the left, a figure to the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from selfdiag.report import words
from selfdiag.report.drawings.svg import ACCENT, BAND, MUTED, PAPER, SMALL, WRONG, draw, label, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ABOVE = -0.95
"""Where a legend stands: so many rows below the first one."""
_NAME = 23
"""Characters of a name."""
_ROW, _TOP, _BELOW = 27.0, 36.0, 42.0
"""Pixels of a row, above the first for a legend, and below the last for an axis."""


class GapRow(NamedTuple):
    """Share right with the ``ends`` of its interval, None without one, and mean ``stated`` confidence, in percent.

    ``marked`` puts a sign of attention beside the gap.
    """

    name: str
    right: float
    ends: Sequence[float] | None
    stated: float
    marked: bool = False


def gap_rows(name: str, rows: Sequence[GapRow]) -> str:
    """Return how far stated confidence lies from the share right, row by row.

    Args:
        name: of the drawing, unique on its page.
        rows: at least one, the first on top.
    """

    def paint(sheet: Figure) -> None:
        axes = row_panel(sheet, len(rows))
        axes.set_xlim(-3, 103)
        axes.set_xticks(range(0, 101, 20))
        axes.grid(visible=True, axis="x")
        axes.set_xlabel("%", labelpad=4)
        for place, row in enumerate(rows):
            if row.ends is not None:
                axes.plot(row.ends, [place, place], color=BAND, alpha=0.45, linewidth=7)
            axes.plot([row.right, row.stated], [place, place], color=MUTED, linewidth=1.4)
            _right(axes, row.right, place)
            _stated(axes, row.stated, place)
            gap = words.signed((row.stated - row.right) / 100)
            write_row(axes, place, row.name, f"{gap}{' !' if row.marked else ''}")
        _right(axes, 0, ABOVE)
        axes.text(4.5, ABOVE, "right", color=ACCENT, va="center", fontsize=SMALL)
        _stated(axes, 34, ABOVE)
        axes.text(38.5, ABOVE, "stated", color=WRONG, va="center", fontsize=SMALL)
        axes.text(1.03, ABOVE, "gap", color=MUTED, va="center", fontsize=SMALL, transform=axes.get_yaxis_transform())

    return draw(name, row_height(len(rows)), paint)


def row_height(count: int) -> float:
    """Return the height of a drawing of so many rows, in pixels."""
    return _TOP + _ROW * count + _BELOW


def row_panel(sheet: Figure, count: int) -> Axes:
    """Return axes with a row for each of so many names, the first on top, and room for a legend above them."""
    axes = panel(sheet, 164, _BELOW, 168, _ROW * count)
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_yticks([])
    return axes


def write_row(axes: Axes, place: int, name: str, figure: str) -> None:
    """Write the name of a row, which may be foreign, to its left, and a figure to its right."""
    across = axes.get_yaxis_transform()
    shown = label(name.replace("_", " "), _NAME)
    axes.text(-0.05, place, shown, ha="right", va="center", fontsize=SMALL, transform=across)
    axes.text(1.03, place, figure, ha="left", va="center", fontsize=SMALL, transform=across)


def _right(axes: Axes, x: float, y: float) -> None:
    axes.plot([x], [y], marker="D", markersize=6.5, color=ACCENT, clip_on=False)


def _stated(axes: Axes, x: float, y: float) -> None:
    axes.plot(
        [x], [y], marker="o", markersize=7.5, color=WRONG, markerfacecolor=PAPER, markeredgewidth=1.6, clip_on=False
    )
