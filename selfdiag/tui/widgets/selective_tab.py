"""The tab on acting by confidence: what a threshold keeps, and what it lets through."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from selfdiag.tui import pictures
from selfdiag.tui.diagram_rows import DIM, MUTED
from selfdiag.tui.widgets.chart import Chart
from selfdiag.tui.widgets.drawn import Drawn
from selfdiag.tui.widgets.figures import MISSING, Figure, figure, figure_rows

if TYPE_CHECKING:
    from selfdiag.measure.curves import AtThreshold
    from selfdiag.protocols.diagrams import Diagrams
    from selfdiag.protocols.summary import Summary

START = 80
"""The threshold that is shown first: the one that the tier's sentence speaks of."""
_HIGHEST = 100


class ThresholdBar(Widget, can_focus=True):
    """A bar from 0 to 100 with the threshold on it, moved by keys and mouse."""

    DEFAULT_CSS = """
    ThresholdBar { height: 1; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "lower", id="selective.lower"),
        Binding("right", "move(1)", "higher", id="selective.higher"),
        Binding("shift+left", "move(-5)", "lower by 5", show=False, id="selective.lower_by_5"),
        Binding("shift+right", "move(5)", "higher by 5", show=False, id="selective.higher_by_5"),
        Binding("home", "move(-100)", "lowest", show=False, id="selective.lowest"),
        Binding("end", "move(100)", "highest", show=False, id="selective.highest"),
    ]

    threshold: reactive[int] = reactive(START)

    class Moved(Message):
        """The threshold is another one."""

        def __init__(self, threshold: int) -> None:
            super().__init__()
            self.threshold = threshold

    def validate_threshold(self, threshold: int) -> int:
        """Return the nearest threshold that there is."""
        return min(_HIGHEST, max(0, threshold))

    def watch_threshold(self, threshold: int) -> None:
        """Tell that the threshold has moved."""
        self.post_message(self.Moved(threshold))

    def render(self) -> Content:
        """Return the bar: what lies below the threshold is thin, what is acted on thick."""
        plain = bool(getattr(self.app, "ascii", False))
        thin, thick, knob = ("-", "=", "O") if plain else ("─", "━", "●")
        last = max(1, self.size.width - 1)
        at = round(self.threshold / _HIGHEST * last)
        return Content.assemble(
            (thin * at, DIM),
            (knob, "bold $accent" if self.has_focus else "$accent"),
            (thick * (last - at), "$accent 60%"),
        )

    def action_move(self, by: int) -> None:
        """Move the threshold by so many percent."""
        self.threshold += by

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Put the threshold where the mouse is, and keep hold of it."""
        self.capture_mouse()
        self._put(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Let the threshold follow the mouse that holds it."""
        if self.app.mouse_captured is self:
            self._put(event.x)

    def on_mouse_up(self) -> None:
        """Let go of the threshold."""
        self.release_mouse()

    def _put(self, column: int) -> None:
        self.threshold = round(_HIGHEST * column / max(1, self.size.width - 1))


class SelectiveTab(Horizontal):
    """The error rate against the share of answers kept, and beside it what every threshold would do."""

    DEFAULT_CSS = """
    SelectiveTab { height: 1fr; padding: 0 1; }
    SelectiveTab > Chart { width: 1fr; margin-right: 2; }
    SelectiveTab > .explorer { width: 45%; min-width: 37; max-width: 60; }
    SelectiveTab.-nothing > .explorer { display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._chart = Chart("reading the run")
        self._head = Static(markup=False)
        self._bar = ThresholdBar()
        self._reading = Drawn("")
        self._diagrams: Diagrams | None = None

    def compose(self) -> ComposeResult:
        """Yield the curve and the threshold with what it does."""
        yield self._chart
        with Vertical(classes="explorer"):
            yield self._head
            yield self._bar
            yield self._reading

    def show(self, summary: Summary, diagrams: Diagrams) -> None:  # noqa: ARG002 - every tab is shown both
        """Show what acting on high confidence alone would do.

        Args:
            summary: of the run.
            diagrams: of the same run; all thresholds stand in it, so that moving computes nothing.
        """
        self._diagrams = diagrams
        self._move()

    def on_threshold_bar_moved(self, event: ThresholdBar.Moved) -> None:
        """Show what the new threshold does."""
        event.stop()
        self._move()

    def _move(self) -> None:
        if self._diagrams is None:
            return
        explorer = self._diagrams.thresholds
        self.set_class(explorer.empty, "-nothing")
        if explorer.empty:
            self._chart.show(explorer.note)
            return
        point = explorer.at_threshold(self._bar.threshold)
        self._chart.show(pictures.risk_coverage(self._diagrams.risk_coverage, coverage=point.coverage))
        self._head.update(
            Content.assemble(("act on answers stated at ", MUTED), (f"{point.threshold}", "bold"), (" or more", MUTED))
        )
        self._reading.show(lambda width, _: _below(point, explorer.n, width))


def _below(point: AtThreshold, n: int, width: int) -> Content:
    """Return the numbers below the bar, and what the threshold does."""
    rows = figure_rows(_reading(point, n), width)
    return Content("\n").join([Content.styled(_scale(width), MUTED), Content(""), *rows])


def _scale(width: int) -> str:
    """Return the numbers below the bar."""
    cells = [" "] * width
    for tick in (0, 25, 50, 75, 100):
        label = str(tick)
        start = min(max(0, round(tick / _HIGHEST * (width - 1)) - len(label) // 2), width - len(label))
        cells[max(0, start) : start + len(label)] = label
    return "".join(cells)


def _reading(point: AtThreshold, n: int) -> list[Figure]:
    from selfdiag.report import words

    right = point.accuracy
    share = Figure(name="right", value=MISSING, remarks=(right.note,))
    if right.value is not None:
        told = f"{words.percent(right.value)} {words.interval(right, kind='percent')}"
        share = Figure(name="right", value=f"{point.kept - point.let_through} of {point.kept}", interval=told)
    figures = [
        Figure(name="kept", value=f"{point.kept} of {n}", interval=words.percent(point.coverage)),
        share,
        Figure(name="let through", value=f"{point.let_through} of {point.errors}", interval="wrong answers"),
    ]
    return [*figures, figure("gain", point.gain, "signed")] if right.value is not None else figures
