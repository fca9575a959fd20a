"""The last audits on the home screen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from selfdiag.tui.text import line
from selfdiag.tui.widgets.row_list import MUTED, Row, RowList, columns

if TYPE_CHECKING:
    from selfdiag.protocols.overview import RunRow

AGE_WIDTH = 12


class RunList(RowList):
    """Runs with their tiers, the newest first; some can be marked."""

    HELP = """
    ## last audits

    The tier of each run, the newest first; in brackets while a run has not been asked to its end. `enter` opens one,
    `space` marks it, `c` compares those that are marked, `r` goes on with one that was stopped, `x` deletes one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "open", id="home.open"),
        Binding("space", "mark", "mark", id="home.mark"),
    ]

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._runs: Sequence[RunRow] | None = None
        self._marked: set[str] = set()

    @property
    def chosen(self) -> RunRow | None:
        """The highlighted run."""
        return self._runs[self.highlighted] if self._runs and self.highlighted is not None else None

    @property
    def marked(self) -> tuple[str, ...]:
        """The ids of the runs that are marked, the newest first."""
        return tuple(run.run_id for run in self._runs or () if run.run_id in self._marked)

    def on_mount(self) -> None:
        """Say that the runs are being read."""
        self._say("reading…")

    def show(self, runs: Sequence[RunRow], now: datetime | None = None) -> None:
        """Show runs in place of those before; marks and highlight stay where they were.

        Args:
            runs: the newest first.
            now: the time that ages are counted to; that of the clock when None.
        """
        before = self.chosen
        self._runs = runs
        self._marked &= {run.run_id for run in runs}
        if not runs:
            self._say("none yet: enter starts one")
            return
        moment = now or datetime.now(UTC)
        ids = [run.run_id for run in runs]
        kept = ids.index(before.run_id) if before is not None and before.run_id in ids else self.highlighted or 0
        self.fill(
            [Row(draw=partial(self._row, run, age(run.started, moment)), lines=2) for run in runs],
            min(kept, len(runs) - 1),
        )

    def action_mark(self) -> None:
        """Mark the highlighted run, or take its mark away."""
        if self.chosen is None:
            return
        self._marked ^= {self.chosen.run_id}
        self.redraw()
        self.action_cursor_down()

    def _say(self, words: str) -> None:
        self.fill([Row(draw=lambda width, _: Content(f" {words}").truncate(width, ellipsis=True), picked=False)], None)

    def _row(self, run: RunRow, aged: str, width: int, highlighted: bool) -> Content:
        mark, cursor = ("* ", "> ") if self.plain else ("● ", "▸ ")
        marked = run.run_id in self._marked
        name = run.model.partition(":")[2] or run.model if run.simulated else run.model.removeprefix("ollama:")
        # a letter in brackets speaks of a part of the run only
        tier = run.tier if run.state == "complete" or not run.tier else f"({run.tier})"
        first = columns(
            width,
            (Content(cursor if highlighted else mark if marked else ""), 2, "$accent"),
            (Content(f"{tier:^3} "), 4, "bold"),
            (line(name or run.run_id, 300), width - 6 - (AGE_WIDTH if aged else 0), ""),
            (Content(f" {aged:>{AGE_WIDTH - 2}} "), AGE_WIDTH, MUTED),
        )
        second = columns(
            width,
            (Content(mark if highlighted and marked else ""), 2, "$accent"),
            (Content(""), 4, ""),
            (line(about(run), 300), width, MUTED),
        )
        return Content("\n").join([first, second])


def about(run: RunRow) -> str:
    """Return what a run was, in a few words."""
    if run.state == "damaged":
        return "damaged: it cannot be read"
    words = ["simulated"] if run.simulated else []
    words += [run.kind] if run.kind not in {"audit", ""} else []
    if run.state == "complete":
        words += [run.battery, f"{run.planned} calls"]
    else:
        words += [f"{run.answered} of {run.planned}, {run.state}", run.battery]
    return " · ".join(words)


def age(started: str, now: datetime) -> str:
    """Return how long ago a run began, or an empty text where that is not known.

    Args:
        started: ISO 8601.
        now: the time it is counted to.
    """
    try:
        seconds = (now - datetime.fromisoformat(started)).total_seconds()
    except (TypeError, ValueError):
        return ""
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    if seconds < 86_400:
        return f"{seconds // 3600:.0f} h ago"
    if seconds < 30 * 86_400:
        return f"{seconds // 86_400:.0f} d ago"
    return started[:10]
