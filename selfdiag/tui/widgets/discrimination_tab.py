"""The tab on discrimination: is it surer when it is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal

from selfdiag.tui import pictures
from selfdiag.tui.diagram_rows import outcome_rows
from selfdiag.tui.widgets.chart import Chart
from selfdiag.tui.widgets.figures import Figures, figure

if TYPE_CHECKING:
    from selfdiag.protocols.diagrams import Diagrams
    from selfdiag.protocols.summary import Summary


class DiscriminationTab(Horizontal):
    """The ROC curve, and beside it how sure the model was in right and in wrong answers."""

    DEFAULT_CSS = """
    DiscriminationTab { height: 1fr; padding: 0 1; }
    DiscriminationTab > Chart { width: 1fr; margin-right: 2; }
    DiscriminationTab > Figures { width: 45%; min-width: 36; max-width: 60; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._chart = Chart("reading the run")
        self._figures = Figures()

    def compose(self) -> ComposeResult:
        """Yield the curve and the rows."""
        yield self._chart
        yield self._figures

    def show(self, summary: Summary, diagrams: Diagrams) -> None:
        """Show how far a run's stated confidence tells right from wrong.

        Args:
            summary: of the run.
            diagrams: of the same run.
        """
        self._chart.show(pictures.roc(diagrams.roc))
        metrics = summary.metrics
        self._figures.show(
            [
                figure("AUROC", metrics["auroc"], remarks=False),
                figure("discrimination", metrics["discrimination"], "signed"),
            ],
            below=lambda width, plain: outcome_rows(diagrams.confidence, width, plain=plain),
        )
