"""A picture drawn with characters alone, for small places, terminals without colour, and plain ASCII."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from string import ascii_lowercase

import msgspec
from textual.content import Content

from selfdiag.tui.diagram_rows import MUTED
from selfdiag.tui.picture import Picture, Series, Tone

STYLES: dict[Tone, str] = {
    "accent": "$accent",
    "right": "$success",
    "wrong": "$error",
    "muted": "$foreground 45%",
    "plain": "$foreground",
}
"""Textual's name for the colour of each tone."""

_PLAIN = {
    "●": "o",
    "○": "O",
    "▲": "A",
    "△": "v",
    "◆": "D",
    "◇": "d",
    "■": "#",
    "▪": "#",
    "✗": "x",
    "✓": "v",
    "•": "*",
    "◦": "+",
}
_PLAIN |= {"·": ".", "│": "|", "░": ":", "█": "#"}
_WORDED = str.maketrans(
    {"–": "-", "≥": ">=", "≤": "<=", "±": "+-", "·": "-", "→": "->", "…": "...", "×": "x", "↑": "(up)"}
)
_SPREAD = 0.03
"""The share of an axis that is left free beyond both of its ends: what lies on an end would touch the frame."""


def plain_words(text: str) -> str:
    """Return text with the signs that are not ASCII written out; names in other scripts stay."""
    return text.translate(_WORDED)


def drawable(picture: Picture) -> Picture:
    """Return a picture without points that are no numbers, and without series that have no points."""
    kept = tuple(series for series in map(_finite, picture.series) if series.x)
    return msgspec.structs.replace(picture, series=kept)


def shows_something(picture: Picture) -> bool:
    """Return whether a drawable picture has more in it than guides, which are muted."""
    return any(series.tone != "muted" for series in picture.series)


def limits(ends: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of an axis with some room beyond both, also when they are equal or no numbers."""
    low, high = ends if all(map(math.isfinite, ends)) else (0.0, 1.0)
    low, high = min(low, high), max(low, high)
    room = _SPREAD * (high - low) or 0.5
    return low - room, high + room


def heights(picture: Picture) -> tuple[float, float]:
    """Return the ends of the upright axis; below bars there is no room, as they stand on it."""
    low, high = limits(picture.y_range)
    stand = any(series.kind == "bars" for series in picture.series) and min(picture.y_range) == 0
    return (-1e-6 * high if stand else low), high


def glyphs(series: Sequence[Series], *, plain: bool) -> list[str]:
    """Return the sign of each series; ``plain`` signs are ASCII, and no two named series share one.

    Args:
        series: of one picture.
        plain: whether only ASCII may be used.
    """
    chosen: list[str] = []
    for one in series:
        sign = _sign(one)
        if plain:
            sign = _PLAIN.get(sign, sign if sign.isascii() else "")
            if one.name and (not sign or (one.kind == "points" and sign in chosen)):
                sign = next((letter for letter in ascii_lowercase if letter not in chosen), "?")
            sign = sign or "?"
        chosen.append(sign)
    return chosen


def tick_label(tick: float) -> str:
    """Return a tick as it stands on an axis."""
    return f"{tick:g}"


def character_plot(picture: Picture, width: int, height: int, *, plain: bool) -> Content:
    """Return axes, ticks and series in so many columns and lines.

    Args:
        picture: what to draw.
        width: columns, of which the labels on the left take some.
        height: lines, of which the axis and its labels take two.
        plain: whether only ASCII may be used.
    """
    margin = 1 + max((len(tick_label(tick)) for tick in picture.y_ticks), default=0)
    columns, lines = max(1, width - margin), max(1, height - 2)
    picture = with_room(picture, columns, lines)
    grid: list[list[tuple[str, str]]] = [[(" ", "")] * columns for _ in range(lines)]
    across, up = _Scale(limits(picture.x_range), columns), _Scale(heights(picture), lines)
    for series, sign in zip(picture.series, glyphs(picture.series, plain=plain), strict=True):
        for column, line in _cells(series, across, up):
            if 0 <= column < columns and 0 <= line < lines:
                grid[lines - 1 - line][column] = (sign, STYLES[series.tone])
    rows = _with_left_axis(grid, picture, up, margin, plain=plain) + _bottom_axis(
        picture, across, margin, columns, plain=plain
    )
    return Content("\n").join(_content(row) for row in rows)


def with_room(picture: Picture, columns: int, lines: int) -> Picture:
    """Return a picture with so few ticks that their labels stand apart in so many columns and lines."""
    widest = max((len(tick_label(tick)) for tick in picture.x_ticks), default=1)
    return msgspec.structs.replace(
        picture,
        x_ticks=_thinned(picture.x_ticks, columns // (widest + 2)),
        y_ticks=_thinned(picture.y_ticks, (lines + 1) // 2),
    )


def is_band(series: Series) -> bool:
    """Return whether a series is a ground behind others: muted intervals."""
    return series.kind == "intervals" and series.tone == "muted"


def marked(series: Series) -> bool:
    """Return whether the points of a line are marked with a sign of its own."""
    return series.kind == "line" and series.glyph != Series(kind="line", x=()).glyph


class _Scale(msgspec.Struct, frozen=True):
    """Where a number lies among so many cells."""

    ends: tuple[float, float]
    cells: int

    def at(self, value: float) -> int:
        low, high = self.ends
        return math.floor((value - low) / (high - low) * self.cells)

    def value(self, cell: int) -> float:
        low, high = self.ends
        return low + (cell + 0.5) / self.cells * (high - low)


def _finite(series: Series) -> Series:
    columns = {name: getattr(series, name) for name in ("x", "y", "low", "high") if getattr(series, name)}
    lengths = {len(column) for column in columns.values()}
    size = min(lengths, default=0)
    kept = [at for at in range(size) if all(math.isfinite(column[at]) for column in columns.values())]
    if lengths == {len(kept)}:
        return series
    return msgspec.structs.replace(
        series, **{name: tuple(column[at] for at in kept) for name, column in columns.items()}
    )


def _sign(series: Series) -> str:
    if series.kind == "points":
        return series.glyph
    if series.kind == "bars":
        return "█"
    if series.kind == "line":
        return series.glyph if marked(series) else ("·" if series.tone == "muted" else "•")
    return "░" if is_band(series) else "│"


def _cells(series: Series, across: _Scale, up: _Scale) -> Iterator[tuple[int, int]]:
    """Yield the column and line, from the bottom, of everything that a series covers."""
    if series.kind == "vertical":
        yield from ((across.at(x), line) for x in series.x for line in range(up.cells))
    elif series.kind == "intervals":
        more = band_reach([across.at(x) for x in series.x]) if is_band(series) else 0
        beside = range(-more, more + 1)
        for x, low, high in zip(series.x, series.low, series.high, strict=True):
            for line in range(max(0, up.at(low)), min(up.cells - 1, up.at(high)) + 1):
                yield from ((across.at(x) + step, line) for step in beside)
    elif series.kind == "bars":
        reach = bar_reach(series.x)
        for x, y in zip(series.x, series.y, strict=True):
            first, last = across.at(x - reach), max(across.at(x - reach), across.at(x + reach) - 1)
            top = up.at(y)
            lowest = max(0, up.at(0.0))
            yield from ((column, line) for column in range(first, last + 1) for line in range(lowest, top + 1) if y)
    elif series.kind == "points" or len(series.x) == 1:
        yield from ((across.at(x), up.at(y)) for x, y in zip(series.x, series.y, strict=True))
    else:
        points = list(zip(series.x, series.y, strict=True))
        for start, end in itertools.pairwise(points):
            yield from _stroke(across.at(start[0]), up.at(start[1]), across.at(end[0]), up.at(end[1]))


def bar_reach(x: Sequence[float]) -> float:
    """Return how far a bar reaches to either side of its middle: two fifths of the least distance of two bars."""
    places = sorted(set(x))
    apart = min((high - low for low, high in itertools.pairwise(places)), default=10.0)
    return 0.4 * apart


def band_reach(columns: Sequence[int]) -> int:
    """Return how many columns a band covers on either side: none where neighbours would just touch."""
    places = sorted(set(columns))
    nearest = min((right - left for left, right in itertools.pairwise(places)), default=9)
    return 0 if nearest in {2, 3} else 1


def _stroke(x0: int, y0: int, x1: int, y1: int) -> Iterator[tuple[int, int]]:
    steps = max(abs(x1 - x0), abs(y1 - y0), 1)
    for step in range(steps + 1):
        yield round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps)


def _with_left_axis(
    grid: list[list[tuple[str, str]]], picture: Picture, up: _Scale, margin: int, *, plain: bool
) -> list[list[tuple[str, str]]]:
    lines = len(grid)
    labels = {lines - 1 - up.at(tick): tick_label(tick) for tick in picture.y_ticks}
    rows = []
    for at, cells in enumerate(grid):
        label, bar = labels.get(at, ""), "|" if plain else ("┤" if at in labels else "│")
        rows.append([(f"{label:>{margin - 1}}", MUTED), (bar, "$border"), *cells])
    return rows


def _bottom_axis(
    picture: Picture, across: _Scale, margin: int, columns: int, *, plain: bool
) -> list[list[tuple[str, str]]]:
    marks = {across.at(tick) for tick in picture.x_ticks}
    bar, mark, corner = ("-", "+", "+") if plain else ("─", "┬", "└")
    axis = "".join(mark if at in marks else bar for at in range(columns))
    labels = [" "] * columns
    for tick in picture.x_ticks:
        text = tick_label(tick)
        start = min(max(0, across.at(tick) - (len(text) - 1) // 2), columns - len(text))
        if start >= 0:
            labels[start : start + len(text)] = text
    return [
        [(" " * (margin - 1), ""), (corner + axis, "$border")],
        [(" " * margin + "".join(labels).rstrip(), MUTED)],
    ]


def _thinned(ticks: tuple[float, ...], room: int) -> tuple[float, ...]:
    """Return evenly chosen ticks, first and last among them, of which at most ``room`` are needed."""
    gaps = len(ticks) - 1
    steps = [step for step in range(1, gaps + 1) if gaps % step == 0 and gaps // step < max(room, 2)]
    return ticks[:: steps[0]] if steps else ticks


def _content(row: Sequence[tuple[str, str]]) -> Content:
    """Return one line; neighbours of one style are put together, as every piece costs time."""
    pieces: list[tuple[str, str]] = []
    for text, style in row:
        if pieces and pieces[-1][1] == style:
            pieces[-1] = (pieces[-1][0] + text, style)
        else:
            pieces.append((text, style))
    return Content.assemble(*pieces)
