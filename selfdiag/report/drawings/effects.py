"""Drawing of differences with their intervals, one above the other, around nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from selfdiag.report.drawings.svg import FAINT, INK, MUTED, PAPER, RIGHT, SMALL, TEXT, WRONG, draw, label, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Mark = Literal["better", "worse", "neither", "not shown"]
"""What a difference is shown to be."""


class Effect(NamedTuple):
    """One row: a difference with the ``ends`` of its interval, or None without one.

    ``name`` and the smaller ``below`` stand to its left, ``said`` and ``said_ends`` to its right.
    """

    name: str
    below: str
    value: float
    ends: tuple[float, float] | None
    said: str
    said_ends: str
    mark: Mark


_MARKS: dict[Mark, tuple[str, str, str]] = {
    "better": ("o", RIGHT, RIGHT),
    "worse": ("D", WRONG, WRONG),
    "neither": ("s", INK, INK),
    "not shown": ("o", MUTED, PAPER),
}
"""Marker, edge and inside."""
_ROW = 44.0
_NAMED, _PLOT, _TOP, _BELOW = 120.0, 164.0, 10.0, 46.0
"""Pixels left of the plot, its width, above it and below it."""


def effects(name: str, rows: Sequence[Effect], *, axis: str, step: float) -> str:
    """Return the rows as a drawing.

    Args:
        name: of the drawing, unique on its page.
        rows: at least one.
        axis: what the differences are.
        step: the scale ends at a multiple of it.
    """
    furthest = max(abs(end) for row in rows for end in (row.ends or (row.value, row.value)))
    reach = step * max(-(-furthest // step), 1)
    ticks = [share * reach for share in (-1, -0.5, 0, 0.5, 1)]

    def paint(sheet: Figure) -> None:
        axes = panel(sheet, _NAMED, _BELOW, _PLOT, _ROW * len(rows))
        axes.set_xlim(-1.04 * reach, 1.04 * reach)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xticks(ticks, [f"{tick:+.3g}".replace("0.", ".") if tick else "0" for tick in ticks])
        axes.set_yticks([])
        axes.grid(visible=True, axis="x")
        axes.axvline(0, color=FAINT, linewidth=1.6)
        axes.set_xlabel(axis, labelpad=7)
        for place, row in enumerate(rows):
            _row(axes, place, row)

    return draw(name, _TOP + _ROW * len(rows) + _BELOW, paint)


def _row(axes: Axes, place: int, row: Effect) -> None:
    marker, edge, inside = _MARKS[row.mark]
    if row.ends is not None:
        axes.plot(row.ends, [place, place], color=edge, linewidth=2)
    axes.plot(
        [row.value],
        [place],
        marker=marker,
        markersize=8,
        color=edge,
        markerfacecolor=inside,
        markeredgewidth=1.8,
    )
    across = axes.get_yaxis_transform()
    for x, side, upper, lower in ((-0.06, "right", row.name, row.below), (1.05, "left", row.said, row.said_ends)):
        up = 0.14 if lower else 0.0
        axes.text(x, place - up, label(upper, 20), ha=side, va="center", fontsize=TEXT, transform=across)
        axes.text(x, place + 0.2, lower, ha=side, va="center", fontsize=SMALL - 1.5, color=MUTED, transform=across)
