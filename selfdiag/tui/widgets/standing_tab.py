"""Where a run stands: published models and the user's own runs by how right and how sure they are."""

from __future__ import annotations

import string
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from selfdiag.tui.diagram_rows import MUTED
from selfdiag.tui.picture import Picture, Series
from selfdiag.tui.text import line
from selfdiag.tui.widgets.chart import Chart
from selfdiag.tui.widgets.drawn import Drawn

if TYPE_CHECKING:
    from selfdiag.measure.comparison_diagrams import Standing, WhereItStands
    from selfdiag.runs.store import Run

MOST = 12
"""So many other runs stand beside this one, the newest."""
_LOOKED_AT = 60
"""So many folders are looked into for them."""
_THIS = "◆"
_OWN = "123456789" + string.ascii_uppercase
_PUBLISHED = string.ascii_lowercase


class StandingFindings(msgspec.Struct, frozen=True, kw_only=True):
    """A run beside others; ``others`` says how many of the user's runs are not here, or nothing."""

    run_id: str
    where: WhereItStands
    others: str


def standing_findings(run: Run) -> StandingFindings:
    """Return a run beside published models and the newest of the user's own runs that asked probes.

    Args:
        run: manifest and records.
    """
    from selfdiag.protocols.diagrams import where_runs_stand
    from selfdiag.runs.shelf import run_folders
    from selfdiag.runs.store import read_run
    from selfdiag.safety import SelfdiagError

    folders = [folder for folder in reversed(run_folders()) if folder.resolve() != run.folder.resolve()]
    beside: list[Run] = []
    for folder in folders[:_LOOKED_AT]:
        if len(beside) == MOST:
            break
        try:
            other = read_run(folder)
        except (SelfdiagError, OSError, ValueError):
            continue
        if other.measured():
            beside.append(other)
    many = len(folders) > len(beside) and len(beside) == MOST
    return StandingFindings(
        run_id=run.manifest.run_id,
        where=where_runs_stand([run, *beside]),
        others=f"the newest {MOST} of {len(folders)} other runs" if many else "",
    )


class StandingTab(VerticalScroll):
    """One plot, and a table with a letter for every model on it."""

    HELP = "On the diagonal a model is as sure as it is right on average; above it, overconfident."
    SCOPED_CSS = False
    DEFAULT_CSS = """
    StandingTab { padding: 0 1; scrollbar-size-vertical: 1; }
    StandingTab > Chart { height: 16; }
    .-low StandingTab > Chart { height: 13; }
    StandingTab > Drawn { height: auto; width: 1fr; }
    .-wide StandingTab { layout: horizontal; }
    .-wide StandingTab > Chart { width: 1fr; height: 100%; max-height: 34; margin-right: 2; }
    .-wide StandingTab > Drawn { width: 73; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._chart = Chart("reading…")
        self._table = Drawn("")

    def compose(self) -> ComposeResult:
        """Yield the plot and the table."""
        yield self._chart
        yield self._table

    def show(self, found: StandingFindings) -> None:
        """Show where a run stands."""
        marked = _marked(found)
        self._chart.show(_picture(found, marked))
        self._table.show(partial(_table, found, marked))


def _marked(found: StandingFindings) -> list[tuple[str, Standing]]:
    """Return the models with a sign for each: this run, then own ones, then published ones."""
    models = found.where.models
    this = [model for model in models if model.source == "own" and model.run_id == found.run_id][:1]
    own = [model for model in models if model.source == "own" and model not in this]
    printed = [model for model in models if model.source == "published"]
    signs = [*_THIS * len(this), *_OWN[: len(own)], *_PUBLISHED[: len(printed)]]
    return list(zip(signs, [*this, *own, *printed], strict=True))


def _picture(found: StandingFindings, marked: list[tuple[str, Standing]]) -> Picture | str:
    if found.where.empty:
        return found.where.note
    points = [
        Series(
            kind="points",
            x=(100 * model.accuracy,),
            y=(100 * model.mean_confidence,),
            tone="accent" if model.source == "own" else "plain",
            glyph=sign,
        )
        for sign, model in reversed(marked)
    ]
    diagonal = Series(kind="line", x=(0.0, 100.0), y=(0.0, 100.0), tone="muted")
    return Picture(
        x_label="right, %",
        y_label="says on average",
        series=(diagonal, *points),
        caption=f"{found.where.n} models; above the line: surer than right",
    )


def _table(found: StandingFindings, marked: list[tuple[str, Standing]], width: int, plain: bool) -> Content:  # noqa: ARG001
    head = f"  {'':<20} {'right':<14} {'says':>4} {'gap':>6}  {'AUROC':<15} {'n':>5}"
    lines = [Content.assemble((head, MUTED))]
    if not any(model.source == "own" and model.run_id == found.run_id for _, model in marked):
        lines.append(Content("  this run has no answer with a confidence"))
    before = ""
    for sign, model in marked:
        if model.source != before and model.source == "published":
            lines.append(Content.assemble(("  published, named by maker", MUTED)))
        before = model.source
        lines.append(_row("D" if plain and sign == _THIS else sign, model))
    simulated = "sim.: simulated, a script wrote the replies" if any(one.simulated for _, one in marked) else ""
    notes = (simulated, found.others, found.where.left_out, found.where.caution)
    lines += [line(note, 400).stylize(MUTED) for note in notes if note]
    return Content("\n").join(lines)


def _row(sign: str, model: Standing) -> Content:
    from selfdiag.report import words

    simulated = ", sim." if model.simulated else ""
    name = line(model.name.removeprefix("persona:") if simulated else model.name, 80)
    ends = f"[{100 * model.accuracy_ci[0]:.0f}, {100 * model.accuracy_ci[1]:.0f}]" if model.accuracy_ci else ""
    auroc = f"{words.fraction(model.auroc.value)} {words.interval(model.auroc)}".strip()
    return Content.assemble(
        (sign, "$accent" if model.source == "own" else ""),
        " ",
        Content.assemble(name.truncate(20 - len(simulated), ellipsis=True), simulated).truncate(20, pad=True),
        f" {f'{words.percent(model.accuracy)} {ends}':<14} {100 * model.mean_confidence:>4.0f}"
        f" {words.signed(model.gap):>6}  {auroc:<15} {model.n:>5}",
    )
