"""A picture drawn with textual-plot."""

from __future__ import annotations

from contextlib import suppress

import msgspec
from textual import events
from textual.css.query import NoMatches
from textual.geometry import Size
from textual_hires_canvas import Canvas
from textual_plot import HiResMode, PlotWidget

from selfdiag.tui.picture import Picture, Series, Tone
from selfdiag.tui.widgets.character_plot import (
    band_reach,
    bar_reach,
    glyphs,
    heights,
    is_band,
    limits,
    marked,
    tick_label,
    with_room,
)


class Colours(msgspec.Struct, frozen=True):
    """Rich's names of the colours of a plot; ``band`` is a ground, empty where the terminal has no shades."""

    tones: dict[Tone, str]
    axis: str
    label: str
    band: str


class FinePlot(PlotWidget, can_focus=False, inherit_bindings=False):
    """A plot with two axes in place of a frame, and without focus, keys, zoom, or a legend of its own."""

    DEFAULT_CSS = """
    FinePlot > .plot--tick { color: $text-muted; text-style: none; }
    """

    def __init__(self) -> None:
        super().__init__(allow_pan_and_zoom=False)
        self._shown: tuple[Picture, str, Colours, Size] | None = None
        self._ready = False

    def on_mount(self) -> None:
        """Draw what was shown before there was a place for it."""
        self.margin_top = 0
        self.margin_bottom = 1
        # the base class clears the plot when this is over
        self.call_next(self._begin)

    # A screen can go while its plot is being put up: the parts that the base class asks for are gone by then.

    def _update_margin_sizes(self) -> None:
        with suppress(NoMatches):
            super()._update_margin_sizes()

    def _update_legend(self) -> None:
        with suppress(NoMatches):
            super()._update_legend()

    def _begin(self) -> None:
        self._ready = True
        if self._shown is not None:
            self.show(*self._shown)

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        # the base class would keep the wheel from whatever scrolls around the plot
        event.prevent_default()

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.prevent_default()

    def show(self, picture: Picture, above: str, colours: Colours, room: Size) -> None:
        """Draw a picture in place of the last one.

        Args:
            picture: what to draw, without points that are no numbers.
            above: its label, in the line above the plot.
            colours: of its tones.
            room: columns and lines of the whole plot; its own size may still be that of the last picture.
        """
        self._shown = (picture, above, colours, room)
        if not self._ready:
            return
        self.margin_left = 1 + max((len(tick_label(tick)) for tick in picture.y_ticks), default=0)
        roomy = with_room(picture, room.width - self.margin_left - 2, room.height - 3)
        self.clear()
        self.set_xlimits(*limits(picture.x_range))
        self.set_ylimits(*heights(picture))
        self.set_xticks(roomy.x_ticks)
        self.set_yticks(roomy.y_ticks)
        for series, sign in zip(picture.series, glyphs(picture.series, plain=False), strict=True):
            if not is_band(series):
                self._add(series, sign, colours.tones[series.tone], 2 * room.height)

    def _add(self, series: Series, sign: str, colour: str, steps: int) -> None:
        if series.kind == "bars":
            self.bar(series.x, series.y, width=2 * bar_reach(series.x), bar_style=colour, hires_mode=HiResMode.QUADRANT)
        elif series.kind == "line" and len(series.x) > 1:
            self.plot(series.x, series.y, line_style=colour, hires_mode=HiResMode.BRAILLE)
            if marked(series):
                self.scatter(series.x, series.y, marker=sign, marker_style=colour)
        elif series.kind in ("points", "line"):
            self.scatter(series.x, series.y, marker=sign, marker_style=colour)
        else:
            low, high = heights(self._shown[0]) if self._shown else (0.0, 1.0)
            ends = zip(series.low, series.high, strict=True) if series.low else ((low, high) for _ in series.x)
            for x, (start, end) in zip(series.x, ends, strict=True):
                rows = [start + (end - start) * step / steps for step in range(steps + 1)]
                self.scatter([x] * len(rows), rows, marker=sign, marker_style=colour)

    def _render_plot(self) -> None:
        canvas = next(iter(self.query("#plot").results(Canvas)), None)
        if canvas is None:
            return
        # a canvas asks to be painted with every cell that changes
        with canvas.batch_refresh():
            super()._render_plot()
            if self._shown is None or not canvas.size.area:
                return
            picture, above, colours, _ = self._shown
            self._draw_axes(canvas, colours.axis)
            for column, letter in enumerate(above):
                canvas.set_pixel(column, 0, letter, colours.label)
            for series in picture.series:
                if is_band(series):
                    self._draw_bands(canvas, series, colours)

    def _draw_axes(self, canvas: Canvas, colour: str) -> None:
        """Draw axes on the left and below, where the base class draws a frame with four sides."""
        last, lowest = canvas.size.width - 1, canvas.size.height - 1
        canvas.set_pixels([(column, 0) for column in range(last + 1)], " ", "")
        canvas.set_pixels([(last, row) for row in range(lowest + 1)], " ", "")
        canvas.set_pixels([(0, row) for row in range(1, lowest)], "│", colour)
        canvas.set_pixels([(column, lowest) for column in range(1, last)], "─", colour)
        canvas.set_pixel(0, lowest, "└", colour)
        for tick in self._y_ticks or ():
            canvas.set_pixel(0, self.get_pixel_from_coordinate(0, tick)[1], "┤", colour)
        for tick in self._x_ticks or ():
            canvas.set_pixel(self.get_pixel_from_coordinate(tick, 0)[0], lowest, "┬", colour)

    def _draw_bands(self, canvas: Canvas, series: Series, colours: Colours) -> None:
        """Colour the ground behind intervals, under whatever is drawn there; without shades, fill what is blank."""
        last, lowest = canvas.size.width - 2, canvas.size.height - 2
        reach = band_reach([self.get_pixel_from_coordinate(x, 0)[0] for x in series.x])
        cells: set[tuple[int, int]] = set()
        for x, low, high in zip(series.x, series.low, series.high, strict=True):
            column, bottom = self.get_pixel_from_coordinate(x, low)
            _, top = self.get_pixel_from_coordinate(x, high)
            columns = range(max(1, column - reach), min(column + reach, last) + 1)
            cells.update((beside, row) for row in range(max(1, top), min(bottom, lowest) + 1) for beside in columns)
        for cell in cells:
            sign, style = canvas.get_pixel(*cell)
            if colours.band:
                canvas.set_pixel(*cell, sign, f"{style} on {colours.band}".strip())
            elif sign == " ":
                canvas.set_pixel(*cell, "░", colours.tones["muted"])
