"""How far a run is, what its answers come to so far, and how the asking goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from selfdiag.runs.progress import SectionProgress
from selfdiag.runs.records import MEASURED_SECTIONS
from selfdiag.safety import one_line
from selfdiag.tui.diagram_rows import MUTED
from selfdiag.tui.item_filter import SHOWN
from selfdiag.tui.widgets.answers_before import fitted

if TYPE_CHECKING:
    from selfdiag.tui.figures_so_far import Figures
    from selfdiag.tui.run_so_far import RunSoFar

LEAST = 5
"""So many answers are needed before Brier score and gap are told: with fewer they jump with every answer."""
_BAR = 24
_LEAST_ROOM = 8
_GAP = "   "
_NARROW_GAP = "  "
_USABLE = ("correct", "incorrect", "abstained", "refused")
_UNREAD = ("unparsed", "truncated", "empty", "overflow")


class RunProgress(Widget):
    """Two lines: who is asked and how far the run is, and below that each section and the time left."""

    DEFAULT_CSS = """
    RunProgress { height: 2; padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[object, ...] = ()
        self._model = self._what = self._state = ""
        self._done = self._total = 0
        self._sections: tuple[tuple[str, int, int], ...] = ()

    def show(self, model: str, what: str, so_far: RunSoFar | None, state: str) -> None:
        """Show how far a run is.

        Args:
            model: who is asked, foreign text.
            what: the battery, and whether a script answers.
            so_far: what has become of it, None before its calls are known.
            state: the words at the right end, as the time left.
        """
        sections = sorted(so_far.progress.sections.items(), key=_audit_first) if so_far is not None else ()
        self._model, self._what, self._state = one_line(model, 60), what, state
        self._done, self._total = (so_far.done, so_far.total) if so_far is not None else (0, 0)
        self._sections = tuple((name, section.done, section.total) for name, section in sections)
        rows = (self._model, self._what, self._state, self._done, self._sections, self._plain)
        if rows != self._rows:
            self._rows = rows
            self.refresh()

    @property
    def _plain(self) -> bool:
        return bool(getattr(self.app, "ascii", False))

    def render(self) -> Content:
        """Return both lines."""
        width = self.content_size.width
        if width < 2 * _BAR:
            return Content("")
        count = f"{self._done} of {self._total}" if self._total else ""
        right = Content.assemble(self._bar(_BAR), "  ", (count, "bold")) if self._total else Content("")
        room = width - right.cell_length - 2
        model = self._model if cell_len(self._model) <= room else fitted(self._model, room)
        left = room - cell_len(model)
        what = fitted(self._what, left) if left >= _LEAST_ROOM else ""
        first = Content.assemble((model, "bold"), (what, MUTED))
        sections = _sections(self._sections, width - cell_len(self._state) - 2)
        second = _apart(_muted(sections), _muted(self._state), width)
        return Content("\n").join([_apart(first, right, width), second])

    def _bar(self, cells: int) -> Content:
        full, half, empty = ("=", ">", "-") if self._plain else ("━", "╸", "─")
        filled = cells * self._done // self._total
        tip = half if filled < cells and self._done else ""
        rest = empty * (cells - filled - len(tip))
        return Content.assemble((full * filled + tip, "$accent"), (rest, "$border"))


class RunningFigures(Widget):
    """What the answers come to, how the asking goes, and what went wrong in it."""

    DEFAULT_CSS = """
    RunningFigures { height: 3; padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[Content] = []

    def show(self, so_far: RunSoFar, figures: Figures | None) -> None:
        """Show the figures of a run.

        Args:
            so_far: what has become of it.
            figures: what its answers come to, None as long as there are none.
        """
        rows = _figures(so_far, figures, max(self.content_size.width, 1))
        if self.content_size.height <= 3:
            rows = rows[-1:]
        rows.append(_muted(_asking(so_far)))
        room = max(self.content_size.height - len(rows), 0)
        rows += [Content.assemble((f"! {one_line(text, 300)}", "$warning")) for text in so_far.newest_lines(room)]
        if rows != self._rows:
            self._rows = rows
            self.refresh()

    def render(self) -> Content:
        """Return the lines, each cut where the screen ends."""
        return Content("\n").join(row.truncate(max(self.content_size.width, 1), ellipsis=True) for row in self._rows)


def span(seconds: float) -> str:
    """Return a time in whole seconds, as a person says it: it must not change with every look."""
    from selfdiag.report.words import duration

    return duration(seconds) if seconds >= 10 else f"{seconds:.0f} s"


def _figures(so_far: RunSoFar, figures: Figures | None, room: int) -> list[Content]:
    """Return a line on the audit, as far as it is asked, and one on the section under way where that is another."""
    sections = so_far.progress.sections
    rows = []
    if any(name in sections for name in MEASURED_SECTIONS):
        rows.append(_audit(so_far, figures, room))
    section = so_far.records[-1].section if so_far.records else ""
    if section and section not in MEASURED_SECTIONS:
        seen = sections[section].outcomes
        told = [f"{glyph} {word} {seen[outcome]}" for outcome, (glyph, word, _) in SHOWN.items() if seen[outcome]]
        rows.append(Content.assemble((f"{section}{_GAP}", MUTED), _GAP.join(told)))
    return rows


def _audit(so_far: RunSoFar, figures: Figures | None, room: int) -> Content:
    """Return what the audit comes to, with less of it the narrower it gets."""
    sections = so_far.progress.sections
    probes = sections["probes"].outcomes if "probes" in sections else Counter[str]()
    traps = sections["traps"].outcomes if "traps" in sections else Counter[str]()
    graded = probes["correct"] + probes["incorrect"]
    usable = sum(traps[outcome] for outcome in _USABLE)
    spotted = f"{traps['abstained']} of {usable}" if usable else "–"
    unread = sum(probes[outcome] + traps[outcome] for outcome in _UNREAD)
    errors = probes["error"] + traps["error"]
    right = _figure("right", f"{probes['correct']} of {graded}" if graded else "–")
    lost = [_figure("not read", str(unread))] + ([_figure("errors", str(errors))] if errors else [])

    def told(gap: str, *, full: bool, named: bool, all_of_it: bool = True) -> Content:
        parts = [right, *_calibration(figures, full=full)]
        if "traps" in sections:
            parts.append(_figure("traps spotted" if named else "traps", spotted))
        return Content(gap).join([*parts, *(lost if all_of_it or unread or errors else ())])

    tellings = (
        told(_GAP, full=True, named=True),
        told(_NARROW_GAP, full=True, named=True),
        told(_NARROW_GAP, full=False, named=True),
        told(_NARROW_GAP, full=False, named=False),
        told(_NARROW_GAP, full=False, named=False, all_of_it=False),
    )
    return next((telling for telling in tellings if telling.cell_length <= room), tellings[-1])


def _calibration(figures: Figures | None, *, full: bool) -> list[Content]:
    """Return Brier score and gap, the n of which is the same, or how many answers they need."""
    n = figures.n if figures is not None else 0
    if figures is None or figures.brier is None or figures.gap is None:
        why = f"– need {LEAST} answers, have {n}" if full else f"– need {LEAST}, have {n}"
        return [_figure("Brier, gap", why)]
    gap = f"{'-' if figures.gap < 0 else '+'}{_decimals(abs(figures.gap))}"
    return [
        _figure("Brier", f"{_decimals(figures.brier)} n {n}"),
        _figure("gap", f"{gap} n {n}" if full else gap),
    ]


def _asking(so_far: RunSoFar) -> str:
    from selfdiag.report.words import several

    rate = so_far.tokens_a_second()
    parts = [] if so_far.outcome else [f"{so_far.in_flight} in flight"]
    parts.append(several(so_far.retries, "retry", "retries"))
    parts.append("tokens not counted" if rate is None else f"{rate:.0f} tokens/s")
    parts.append(span(so_far.seconds()))
    return " · ".join(parts)


def _audit_first(section: tuple[str, SectionProgress]) -> int:
    name = section[0]
    return MEASURED_SECTIONS.index(name) if name in MEASURED_SECTIONS else len(MEASURED_SECTIONS)


def _sections(sections: Sequence[tuple[str, int, int]], room: int) -> str:
    """Return how far each section is; where they do not fit, those that are done or to come are only counted."""
    told = [f"{name} {done} of {total}" for name, done, total in sections]
    if cell_len(_GAP.join(told)) <= room:
        return _GAP.join(told)
    finished = sum(done >= total for _, done, total in sections)
    open_ones = [text for text, (_, done, total) in zip(told, sections, strict=True) if done < total]
    begun = [f"{finished} done"] if finished else []
    for kept in range(len(open_ones), -1, -1):
        later = len(open_ones) - kept
        parts = [*begun, *open_ones[:kept], *([f"{later} more to come"] if later else [])]
        if cell_len(_GAP.join(parts)) <= room:
            return _GAP.join(parts)
    return ""


def _figure(name: str, value: str) -> Content:
    return Content.assemble((f"{name} ", MUTED), value)


def _decimals(value: float) -> str:
    """Return a number in [0, 1] with two decimals and no leading zero."""
    return f"{value:.2f}".removeprefix("0")


def _muted(text: str) -> Content:
    return Content.assemble((text, MUTED))


def _apart(left: Content, right: Content, width: int) -> Content:
    return Content.assemble(left, " " * max(width - left.cell_length - right.cell_length, 0), right)
