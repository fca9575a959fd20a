"""A chart: a picture with its axes, legend and caption, or the words that say why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult, RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from selfdiag.tui.diagram_rows import MUTED
from selfdiag.tui.picture import Picture
from selfdiag.tui.text import line
from selfdiag.tui.widgets.character_plot import (
    STYLES,
    character_plot,
    drawable,
    glyphs,
    is_band,
    plain_words,
    shows_something,
)

if TYPE_CHECKING:
    from selfdiag.tui.widgets.fine_plot import FinePlot

NOTHING = "not enough data"
NARROWEST = 20
LOWEST = 6
"""Columns and lines below which a plot is drawn with characters."""
_LEAST = 5
"""Lines that a plot keeps, whatever else there is to say."""
_HIGH = 16
"""Lines from which on the x axis has its label below it."""
_ROOM = 6
"""Columns beside the labels above a plot: those of the numbers on its left."""
_BAND = "$foreground 14%"


class Chart(Widget, can_focus=False):
    """A picture, drawn as finely as the place and the terminal allow; it takes no keys.

    Args:
        picture: shown from the start.
        id: of the widget.
        classes: of the widget.
    """

    DEFAULT_CSS = f"""
    Chart {{ layout: vertical; height: 1fr; min-height: 3; }}
    Chart > Static {{ height: auto; width: 1fr; }}
    Chart > .above, Chart > .below {{ color: $text-muted; }}
    Chart > .plot {{ height: 1fr; }}
    Chart.-words > .plot {{ content-align: center middle; text-align: center; color: $text-muted; }}
    Chart > FinePlot {{ height: 1fr; display: none; }}
    Chart.-fine > FinePlot {{ display: block; }}
    Chart.-fine > .plot, Chart.-fine > .above {{ display: none; }}
    Chart.-words > .above, Chart.-words > .below {{ display: none; }}
    Chart > .chart--accent {{ color: $accent; }}
    Chart > .chart--right {{ color: $success; }}
    Chart > .chart--wrong {{ color: $error; }}
    Chart > .chart--muted {{ color: $foreground 45%; }}
    Chart > .chart--plain {{ color: $foreground; }}
    Chart > .chart--axis {{ color: $border; }}
    Chart > .chart--label {{ color: $foreground 60%; }}
    Chart > .chart--band {{ background: {_BAND}; }}
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"chart--{part}" for part in (*STYLES, "axis", "label", "band")}

    def __init__(
        self,
        picture: Picture | str = NOTHING,
        *,
        id: str | None = None,  # noqa: A002 - Textual's own name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._picture: Picture | str = picture
        self._drawn: object = None
        self._fine: FinePlot | None = None
        self._above = Static(classes="above", markup=False)
        self._plot = Static(classes="plot", markup=False)
        self._below = Static(classes="below", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the label above, the plot, and what stands below it."""
        yield self._above
        yield self._plot
        yield self._below

    def show(self, picture: Picture | str) -> None:
        """Show a picture, or the words that say why there is nothing to draw.

        Args:
            picture: with no point, with one, or with numbers that are none it is no error either.
        """
        self._picture = picture
        self._draw()

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - Textual looks at the signature
        """Draw anew for the new size."""
        self._draw()

    def notify_style_update(self) -> None:
        """Draw anew in the colours of another theme, which are there after this."""
        super().notify_style_update()
        self._drawn = None
        self.call_after_refresh(self._draw)

    def render(self) -> RenderResult:
        """Return the ground of the chart, and see whether plain characters are wanted now, or fine ones again."""
        if self._drawn is not None:
            self.call_later(self._draw)
        return super().render()

    def _draw(self) -> None:
        """Draw what is shown, unless it is there already just so."""
        if not self.is_attached or not self.size.area:
            return
        plain = bool(getattr(self.app, "ascii", False))
        wanted = (self._picture, self.size, plain, self.app.theme)
        if wanted == self._drawn:
            return
        self._drawn = wanted
        picture = drawable(self._picture) if isinstance(self._picture, Picture) else self._picture
        if isinstance(picture, Picture) and not shows_something(picture):
            picture = picture.caption or NOTHING
        if isinstance(picture, str):
            self._show_words(picture)
            return
        colours = not plain and not self.app.no_color and self.app.console.color_system is not None
        fine = colours and self.size.width >= NARROWEST
        above, under, height = self._around(picture, plain=plain, shaded=fine)
        if fine and height < LOWEST:
            fine = False
            above, under, height = self._around(picture, plain=plain, shaded=False)
        self.set_class(fine, "-fine")
        self.remove_class("-words")
        if under != self._below.content:  # what is updated lays out the whole screen again
            self._below.update(under)
        if fine:
            self._draw_finely(picture, above, height)
        else:
            self._above.update(plain_words(above) if plain else above)
            self._plot.update(character_plot(picture, self.size.width, height - 1, plain=plain))

    def _draw_finely(self, picture: Picture, above: str, height: int) -> None:
        from selfdiag.tui.widgets.fine_plot import Colours, FinePlot

        if self._fine is None:
            self._fine = FinePlot()
            self.mount(self._fine, before=self._below)
        parts = {part: self.get_component_rich_style(f"chart--{part}") for part in (*STYLES, "axis", "label")}
        names = {part: style.color.name if style.color else "default" for part, style in parts.items()}
        colours = Colours(
            tones={tone: names[tone] for tone in STYLES}, axis=names["axis"], label=names["label"], band=self._shade()
        )
        self._fine.show(picture, above, colours, Size(self.size.width, height))

    def _shade(self) -> str:
        """Return the ground of bands; a terminal's own colours have no shades, and then it is empty."""
        ground = self.get_component_rich_style("chart--band").bgcolor
        return ground.name if ground is not None and ground.triplet is not None else ""

    def _show_words(self, words: str) -> None:
        self.remove_class("-fine")
        self.add_class("-words")
        self._plot.update(line(words, 400))

    def _around(self, picture: Picture, *, plain: bool, shaded: bool) -> tuple[str, Content, int]:
        """Return what stands above the plot and below it, and the lines that this leaves for the plot.

        Above is the label of the upright axis, in a low place with that of the other one; below are legend and caption.
        """
        above, label = (f"{name} {arrow}" for name, arrow in ((picture.y_label, "↑"), (picture.x_label, "→")))
        low = self.size.height < _HIGH and cell_len(above) + cell_len(label) + _ROOM < self.size.width
        if low:
            above, label = f"{above}   {label}", ""
        rows = self._legend(picture, label, plain=plain, shaded=shaded)
        caption = _worded(picture.caption, plain=plain)
        short = caption.truncate(self.size.width, ellipsis=True)
        choices = [[*rows, caption], [*rows, short]] if picture.caption else []
        for shown in (*choices, rows, rows[:1], []):
            under = Content("\n").join(shown)
            height = self.size.height - (under.get_height({}, max(1, self.size.width)) if shown else 0)
            if height >= max(_LEAST, 0.7 * self.size.height):
                break
        return above, under, height

    def _legend(self, picture: Picture, label: str, *, plain: bool, shaded: bool) -> list[Content]:
        """Return the legend in as many lines as it takes, with the label of the x axis at the end of one."""
        shade = self._shade() if shaded else ""
        lines: list[Content] = []
        for series, sign in zip(picture.series, glyphs(picture.series, plain=plain), strict=True):
            if not series.name:
                continue
            ground = is_band(series) and shade
            mark = Content.styled("  ", f"on {_BAND}") if ground else Content.styled(sign, STYLES[series.tone])
            entry = Content.assemble(mark, " ", _worded(series.name, plain=plain))
            if lines and lines[-1].cell_length + entry.cell_length + 3 <= self.size.width:
                lines[-1] = Content.assemble(lines[-1], "   ", entry)
            else:
                lines.append(entry)
        if not label:
            return lines
        ending = _worded(label, plain=plain)
        room = self.size.width - ending.cell_length - 1
        if not lines or lines[-1].cell_length + 3 > room:
            return [Content.assemble(" " * room, ending), *lines]
        return [*lines[:-1], Content.assemble(lines[-1], " " * (room - lines[-1].cell_length), ending)]


def _worded(text: str, *, plain: bool) -> Content:
    return line(plain_words(text) if plain else text, 300).stylize_before(MUTED)
