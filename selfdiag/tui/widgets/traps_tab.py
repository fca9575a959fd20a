"""Questions without an answer: how many were spotted, how sure the model was of the rest, and what it said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static

from selfdiag.safety import one_line
from selfdiag.tui.diagram_rows import DIM, MUTED
from selfdiag.tui.text import line
from selfdiag.tui.widgets.drawn import Drawn
from selfdiag.tui.widgets.row_list import Row, RowList, columns

if TYPE_CHECKING:
    from selfdiag.protocols.summary import Summary
    from selfdiag.runs.records import Record
    from selfdiag.runs.store import Run

MOST = 500
"""So many missed traps are listed; the list of all records has the rest."""
_BAR, _FIGURES = 10, 37
"""Cells of the bar and of the figures of a family."""
_WIDE = 70
"""Cells from which on there is room for bars."""


class Missed(msgspec.Struct, frozen=True, kw_only=True):
    """A trap that was answered: its question, why it has no answer, and the confidence of the measures or None."""

    record: Record
    confidence: int | None
    question: str
    note: str


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """The traps of one family; ``said`` are the confidences of those that were answered."""

    name: str
    asked: int
    spotted: int
    answered: int
    said: tuple[int, ...]


class TrapFindings(msgspec.Struct, frozen=True, kw_only=True):
    """What the traps of a run came to; ``missed`` has the surest answers first."""

    families: tuple[Family, ...]
    missed: tuple[Missed, ...]


def trap_findings(run: Run, summary: Summary) -> TrapFindings:
    """Return the traps of a run by family, and those that were answered.

    Args:
        run: manifest and records.
        summary: of the run.
    """
    from selfdiag.protocols.sources import run_columns

    records = run.measured()
    columns_, _ = run_columns(run, records)
    notes = {trap.id: trap.note for trap in run.manifest.drawn.traps}
    missed = []
    for record, share in zip(records, columns_.confidence.tolist(), strict=True):
        if record.trap and record.outcome == "incorrect":
            prompt = run.manifest.prompts.get(record.prompt_sha256)
            missed.append(
                Missed(
                    record=record,
                    confidence=round(100 * share) if math.isfinite(share) else None,
                    question=prompt.user if prompt is not None else "",
                    note=notes.get(record.item_id, ""),
                )
            )
    missed.sort(key=lambda one: (one.confidence is None, -(one.confidence or 0)))
    families = tuple(
        Family(
            name=name,
            asked=row["asked"],
            spotted=row["abstained"],
            answered=row["incorrect"],
            said=tuple(one.confidence for one in missed if one.record.family == name and one.confidence is not None),
        )
        for name, row in summary.families.items()
    )
    return TrapFindings(families=families, missed=tuple(missed))


class MissedList(RowList):
    """The traps that were answered, the surest first."""

    HELP = "Traps that were answered, the surest first, each with what was said and why there is no answer."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "open", id="traps.open")]


class TrapsTab(Vertical):
    """Traps by family, and a list of those that were missed."""

    SCOPED_CSS = False
    DEFAULT_CSS = """
    TrapsTab > .families { height: auto; max-height: 60%; padding: 0 1; }
    TrapsTab > .listed { height: auto; padding: 1 1 0 1; color: $text-muted; }
    .-low TrapsTab > .listed { padding: 0 1; }
    """

    class Opened(Message):
        """A missed trap was chosen."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    def __init__(self) -> None:
        super().__init__()
        self._families = Drawn(classes="families")
        self._listed = Static("", classes="listed", markup=False)
        self._list = MissedList(id="missed-traps")
        self._missed: Sequence[Missed] = ()

    def compose(self) -> ComposeResult:
        """Yield the table of families and the list."""
        yield self._families
        yield self._listed
        yield self._list

    def show(self, found: TrapFindings, summary: Summary) -> None:
        """Show what the traps of a run came to."""
        self._missed = found.missed[:MOST]
        self._list.display = bool(self._missed)
        if not found.families:
            self._families.show("no traps were asked: add the section traps")
            return
        self._families.show(partial(_families, found, summary))
        self._listed.update(_listed(found, summary))
        rows = [Row(draw=partial(_missed_row, one), lines=2) for one in self._missed]
        self._list.fill(rows, 0 if rows else None)

    @property
    def order(self) -> list[str]:
        """The call ids of the missed traps in the order in which they are listed."""
        return [one.record.call_id for one in self._missed]

    @property
    def listing(self) -> MissedList | None:
        """What takes the keys, None where there is nothing to go through."""
        return self._list if self._missed else None

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Opened(self._missed[event.option_index].record.call_id))


def _families(found: TrapFindings, summary: Summary, width: int, plain: bool) -> Content:
    from selfdiag.report import words

    spotted = summary.metrics["trap_abstention"]
    share = f"{words.percent(spotted.value)} {words.interval(spotted, kind='percent')}".strip()
    caught = round((spotted.value or 0) * spotted.n)
    whole = f"{caught} of {spotted.n} spotted, {share}" if spotted.n else spotted.note
    bar = _BAR if width >= _WIDE else 0
    name = max(18, *(min(len(family.name), max(18, width - bar - _FIGURES)) for family in found.families))
    lines = [
        Content.assemble("questions without an answer   ", (whole, "bold")),
        Content.assemble(
            (f"{'family':<{name}}  {'spotted':>9} {'':<{bar}}{'answered':>9}  {'said':<9}{'other':>5}", MUTED)
        ),
    ]
    lines += [_family(family, name, bar, plain=plain) for family in found.families]
    if spotted.value is not None:
        silent = summary.metrics["non_answer"]
        lines.append(
            Content.assemble(
                (
                    f"of probes, which have an answer, it leaves {words.percent(silent.value)} unanswered "
                    f"{words.interval(silent, kind='percent')} n {silent.n}",
                    MUTED,
                )
            )
        )
    return Content("\n").join(lines)


def _family(family: Family, name: int, bar: int, *, plain: bool) -> Content:
    full, rest = "#." if plain else "█░"
    filled = round(bar * family.spotted / family.asked) if family.asked else 0
    said = f"{'–':>4}"
    if family.said:
        n = f" n {len(family.said)}" if len(family.said) != family.answered else ""
        said = f"{sum(family.said) / len(family.said):>4.0f}{n}"
    other = family.asked - family.spotted - family.answered
    named = line(family.name.replace("_", " "), 60).truncate(name, ellipsis=True, pad=True)
    return Content.assemble(
        named,
        f"  {family.spotted:>3} of {family.asked:<2} ",
        (full * filled, "$success"),
        (rest * (bar - filled), DIM),
        f"{family.answered:>9}  {said:<9}",
        (f"{other or '–'!s:>5}", MUTED),
    )


def _listed(found: TrapFindings, summary: Summary) -> Content:
    from selfdiag.report import words

    if not found.missed:
        return Content("none was answered")
    mean = summary.metrics["missed_trap_confidence"]
    sure = ""
    if mean.value is not None:
        ends = f" [{mean.ci[0]:.0f}, {mean.ci[1]:.0f}]" if mean.ci else ""
        sure = f", said {mean.value:.0f} on average{ends}"
    more = f"; the first {MOST}, all others in the items: missed" if len(found.missed) > MOST else ""
    return Content(f"{words.several(len(found.missed), 'missed trap')}{sure}{more}")


def _missed_row(one: Missed, width: int, highlighted: bool) -> Content:  # noqa: ARG001 - as the list asks
    sure = "–" if one.confidence is None else str(one.confidence)
    first = columns(
        width,
        (Content(" ! "), 3, "$error"),
        (Content(f"{sure:>3}  "), 5, ""),
        (line(one.record.answer or "", 300), max(width // 4, 12), ""),
        (Content("  "), 2, ""),
        (line(one.question, 600), width, ""),
    )
    why = one_line(one.note, 300)
    second = columns(
        width,
        (Content(""), 8, ""),
        (line(one.record.item_id, 100), max(width // 4, 12), MUTED),
        (Content("  "), 2, ""),
        (Content(why), width, MUTED),
    )
    return Content("\n").join([first, second])
