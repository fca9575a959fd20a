"""What the model says of itself beside what it does, and what moves its confidence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from selfdiag.tui.diagram_rows import DIM, MUTED, radar_rows
from selfdiag.tui.text import line
from selfdiag.tui.widgets.drawn import Drawn

if TYPE_CHECKING:
    from selfdiag.protocols.assess import Assessment
    from selfdiag.protocols.questionnaire import Questionnaire
    from selfdiag.protocols.summary import Summary
    from selfdiag.runs.store import Run

_BAR = 10
_CLAIM = 33
_NONE = "–"
"""How a missing value is worded."""
_NOT_ASKED = {
    "questionnaire": "what it says of itself",
    "microprobe": "whether its confidence follows a claimed accuracy",
    "anchor": "whether an example in the prompt pulls its confidence",
}
"""Sections of an audit, and the question that each answers."""


def assessment_findings(run: Run) -> Assessment | None:
    """Return the self-assessment of a run, or None when it asked for none."""
    from selfdiag.runs.records import TASKS

    if TASKS not in run.manifest.settings.sections:
        return None
    from selfdiag.protocols.assess import assess_of

    return assess_of(run)


class Paragraph(Horizontal):
    """A word or two, and a text beside it that wraps."""

    DEFAULT_CSS = """
    Paragraph { height: auto; }
    Paragraph > .head { width: 14; height: auto; color: $text-muted; }
    Paragraph > .told { width: 1fr; height: auto; }
    """

    def __init__(self, head: str, told: Content) -> None:
        super().__init__(Static(head, classes="head", markup=False), Static(told, classes="told", markup=False))


class Block(Vertical):
    """A heading with what belongs to it."""

    DEFAULT_CSS = """
    Block { height: auto; margin-bottom: 1; }
    Block > .heading { color: $text-muted; height: auto; }
    """

    def __init__(self, heading: str, *told: Widget) -> None:
        super().__init__(Static(heading, classes="heading", markup=False), *told)


class SelfTab(VerticalScroll):
    """Claims and deeds: of a questionnaire, of a self-assessment, of claims put before the model."""

    HELP = "What the model claims of itself beside what its answers show, and what moves its confidence."
    DEFAULT_CSS = """
    SelfTab { padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def compose(self) -> ComposeResult:
        """Yield nothing yet."""
        yield Static("reading…", markup=False)

    async def show(self, summary: Summary, assessment: Assessment | None) -> None:
        """Show what a run says of the model itself.

        Args:
            summary: of the run.
            assessment: of the same run, if it asked for one.
        """
        blocks = []
        if assessment is not None:
            blocks += [_radar(assessment), _indices(assessment)]
        asked = assessment.questionnaire if assessment is not None else summary.questionnaire
        if asked is not None:
            blocks.append(_questionnaire(asked, summary))
        moved = _moved(summary)
        if moved:
            blocks.append(Block("what moves its confidence", *moved))
        missing = [
            Paragraph(name, Content(f"not asked: add the section {name} to see {_NOT_ASKED[name]}"))
            for name, found in (
                ("questionnaire", asked),
                ("microprobe", summary.microprobe),
                ("anchor", summary.anchor),
            )
            if found is None
        ]
        if missing:
            blocks.append(Block("", *missing))
        await self.query("*").remove()
        await self.mount_all(blocks)


def _radar(assessment: Assessment) -> Block:
    from selfdiag.protocols.diagrams import radar_of

    radar = radar_of(assessment)

    def rows(width: int, plain: bool) -> Content:
        return Content("\n").join(radar_rows(radar, width, plain=plain))

    return Block("what it claims of itself, and what it does, from 0 to 1", Drawn(rows))


def _bar(value: float | None, colour: str, *, plain: bool) -> Content:
    full, rest = "#." if plain else "█░"
    filled = round(_BAR * value) if value is not None else 0
    return Content.assemble((full * filled, colour), (rest * (_BAR - filled), DIM))


def _indices(assessment: Assessment) -> Block:
    from selfdiag.report import assessment as told

    pairs = [
        ("Delta", told.delta_words(assessment.delta)),
        ("MSI", told.msi_words(assessment)),
        ("weighted", told.weighted_words(assessment)),
        ("order", told.order_words(assessment.rank_agreement)),
        ("ratings", told.ratings_words(assessment)),
        ("sources", told.sources_words(assessment)),
    ]
    notes = [("!", note) for note in told.warnings_of(assessment)]
    return Block("how far apart", *(Paragraph(head, line(text, 900)) for head, text in (*pairs, *notes) if text))


def _questionnaire(found: Questionnaire, summary: Summary) -> Block:
    from selfdiag.report.assessment import claims_and_deeds

    passes = f"{found.instances} {'pass' if found.instances == 1 else 'passes'}"
    return Block(
        f"questionnaire, {passes} through {len(found.statements)} statements; yes is 1, partially .5, no 0",
        Drawn(partial(_claims, claims_and_deeds(found, summary))),
        Drawn(partial(_domains, found)),
        *(Paragraph("!", line(note, 400)) for note in found.warnings),
    )


def _domains(found: Questionnaire, width: int, plain: bool) -> Content:  # noqa: ARG001 - a ``Draw``
    from selfdiag.report import words
    from selfdiag.report.assessment import DOMAIN_WORDS, two

    rows = [Content("")]
    for name, domain in found.domains().items():
        ends = f"[{two(domain.ci[0])}, {two(domain.ci[1])}]" if domain.ci else ""
        told = f"{ends} n {domain.n}".strip() if domain.mean is not None else domain.note
        label = f"{name} {DOMAIN_WORDS[name]}"
        bar = _bar(domain.mean, "$accent", plain=plain)
        rows.append(Content.assemble(f"{label:<{_CLAIM}}{two(domain.mean):>4} ", bar, "  ", line(told, 100)))
    index, agreed = found.index_a, found.yes_rate
    ends = f" [{two(index.ci[0])}, {two(index.ci[1])}]" if index.ci else ""
    share = f"{words.percent(agreed.value)} {words.interval(agreed, kind='percent')}".strip()
    rows.append(
        Content.assemble((f"index A {two(index.value)}{ends} n {index.n}; says Yes to {share} n {agreed.n}", MUTED))
    )
    return Content("\n").join(rows)


def _claims(pairs: Sequence[tuple[str, str, str]], width: int, plain: bool) -> Content:  # noqa: ARG001 - a ``Draw``
    rows = [Content.assemble((f"{'it claims':<{_CLAIM}}{'yes':>4} {'':<{_BAR}}  it does", MUTED))]
    for claim, value, deed in pairs:
        bar = _bar(float(value) if value != _NONE else None, "$accent", plain=plain)
        rows.append(Content.assemble(f"{claim:<{_CLAIM}}{value:>4} ", bar, "  ", line(deed, 100)))
    return Content("\n").join(rows)


def _moved(summary: Summary) -> list[Paragraph]:
    from selfdiag.report.microprobe_words import set_sentence

    told = []
    if summary.microprobe is not None:
        told.append(Paragraph("claims", line(set_sentence(summary.microprobe), 900)))
    if summary.anchor is not None:
        told.append(Paragraph("example", line(summary.anchor.sentence, 900)))
    return told
