"""The tab on calibration: is it as often right as it says it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal

from selfdiag.tui import pictures
from selfdiag.tui.widgets.chart import Chart
from selfdiag.tui.widgets.figures import MISSING, Figure, Figures, figure

if TYPE_CHECKING:
    from selfdiag.protocols.diagrams import Diagrams
    from selfdiag.protocols.summary import Summary


class CalibrationTab(Horizontal):
    """The reliability diagram, with the measures of calibration and all notes beside it."""

    DEFAULT_CSS = """
    CalibrationTab { height: 1fr; padding: 0 1; }
    CalibrationTab > Chart { width: 1fr; margin-right: 2; }
    CalibrationTab > Figures { width: 36%; min-width: 33; max-width: 48; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._chart = Chart("reading the run")
        self._figures = Figures()

    def compose(self) -> ComposeResult:
        """Yield the diagram and the measures."""
        yield self._chart
        yield self._figures

    def show(self, summary: Summary, diagrams: Diagrams) -> None:
        """Show how far a run's stated confidence is right.

        Args:
            summary: of the run.
            diagrams: of the same run.
        """
        from selfdiag.report import words

        self._chart.show(pictures.reliability(diagrams.reliability))
        metrics = summary.metrics
        stated, median = summary.mean_confidence, metrics["median_confidence"].value
        said = Figure(
            name=words.source(summary),
            value=MISSING if stated is None else f"{stated:.0f}",
            interval="none" if median is None else f"median {median:.0f}",
        )
        self._figures.show(
            [
                Figure(name="answers", value=str(metrics["accuracy"].n)),
                figure("right", metrics["accuracy"], "percent"),
                said,
                figure("Brier", metrics["brier"]),
                figure("gap", metrics["gap"], "signed"),
                figure("reliability", metrics["reliability"]),
                figure("resolution", metrics["resolution"]),
                figure("ECE", metrics["ece"]),
                figure("same number", metrics["modal_share"], "percent"),
            ],
            notes=(*summary.notes, *words.opinion_notes(summary)),
        )
