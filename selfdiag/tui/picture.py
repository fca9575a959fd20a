"""What a chart shows: axes and series of plain numbers, whichever way they are drawn."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["line", "points", "intervals", "bars", "vertical"]
Tone = Literal["accent", "right", "wrong", "muted", "plain"]


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One series of a picture; ``x`` and ``y`` are in the units of the axes and of equal length.

    ``intervals`` has the ends of each interval in ``low`` and ``high``, which need not be symmetric about ``y``.
    ``bars`` stand on 0. ``vertical`` draws a line from bottom to top at each ``x`` and has no ``y``. ``glyph`` marks
    the points, so that a series can be told without its colour.
    """

    kind: Kind
    name: str = ""
    x: tuple[float, ...]
    y: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    tone: Tone = "accent"
    glyph: str = "●"


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """Axes and series, back to front; ``caption`` is one plain line with n and what is to be seen."""

    x_label: str
    y_label: str
    x_range: tuple[float, float] = (0.0, 100.0)
    y_range: tuple[float, float] = (0.0, 100.0)
    x_ticks: tuple[float, ...] = (0.0, 25.0, 50.0, 75.0, 100.0)
    y_ticks: tuple[float, ...] = (0.0, 25.0, 50.0, 75.0, 100.0)
    series: tuple[Series, ...]
    caption: str = ""
