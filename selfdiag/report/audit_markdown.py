"""The tier report as Markdown that reads well raw."""

from __future__ import annotations

from selfdiag.protocols.audit import confident_errors
from selfdiag.protocols.microprobe import has_claims, microprobe_of
from selfdiag.protocols.summary import Summary
from selfdiag.report import words
from selfdiag.report.assessment_markdown import questionnaire_markdown
from selfdiag.report.audit_sections import (
    CAUTION,
    COMPOSITE,
    PARTS,
    WORST,
    bounds_section,
    errors_sentence,
    fresh_check_section,
    measures_section,
    repeats_section,
    second_opinion_section,
    sources_section,
    topics_section,
    traps_section,
)
from selfdiag.report.card import card_lines, framed
from selfdiag.report.how_asked import again, method_rows
from selfdiag.report.items import question_of
from selfdiag.report.microprobe import anchor_markdown, microprobe_markdown
from selfdiag.report.page import cell, table
from selfdiag.runs.store import Run

_CELL = 400
"""Characters of a setting that are shown."""


def audit_markdown(run: Run, summary: Summary) -> str:
    """Return the report; the same run gives the same bytes."""
    sections = [
        bounds_section(summary),
        measures_section(summary),
        topics_section(summary),
        traps_section(summary),
    ]
    extra = [
        fresh_check_section(summary),
        repeats_section(summary),
        sources_section(summary),
        second_opinion_section(summary),
    ]
    parts = [
        f"# selfdiag: {cell(summary.model.name)}{words.if_simulated(summary.model.simulated)}",
        "```text\n" + "\n".join(framed(card_lines(summary))) + "\n```",
        _parts(summary),
        *(section.markdown() for section in sections if section is not None),
        questionnaire_markdown(summary.questionnaire, summary) if summary.questionnaire is not None else "",
        microprobe_markdown(microprobe_of(run)) if has_claims(run) else "",
        anchor_markdown(summary.anchor) if summary.anchor is not None else "",
        *(section.markdown() for section in extra if section is not None),
        _worst(run, summary),
        _method(run, summary),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _parts(summary: Summary) -> str:
    composite = summary.composite
    if composite.value is None:
        return f"## Composite\n\nNo composite: {composite.note}."
    rows = [
        [PARTS[name], words.fraction(part.value), words.interval(part), part.note]
        for name, part in composite.parts.items()
    ]
    return f"## Composite {words.composite(composite)}\n\n{COMPOSITE}\n\n" + table(
        ["part", "value", "95 % interval", "note"], rows
    )


def _worst(run: Run, summary: Summary) -> str:
    wrong = confident_errors(run)
    head = f"## Confident errors\n\n{errors_sentence(summary, len(wrong))}"
    if not wrong:
        return head
    rows = [
        [
            str(confidence),
            cell(record.item_id),
            cell(question_of(run, record), 300),
            cell(record.answer or "", 120),
        ]
        for confidence, record in wrong[:WORST]
    ]
    return f"{head}\n\n{table(['said', 'item', 'question', 'answer'], rows)}"


def _method(run: Run, summary: Summary) -> str:
    rows = [(cell(name), cell(said, _CELL)) for name, said in method_rows(run, summary)]
    return (
        "## How it was asked\n\n"
        + table(["setting", "value"], rows)
        + f"\n\nTo ask the same again:\n\n    {again(run.manifest.settings)}\n\n"
        f"**This audit supports** a decision {words.SUPPORTS} **It does not** {words.SUPPORTS_NOT} {CAUTION}"
    )
