"""The answers that were wrong although the model was sure, as cards with prompt and raw reply."""

from __future__ import annotations

from typing import NamedTuple

from selfdiag.battery.items import Trap
from selfdiag.protocols.audit import confident_errors
from selfdiag.report.audit_sections import WORST
from selfdiag.report.items import question_of, shown_key
from selfdiag.report.page import excerpt
from selfdiag.runs.records import Record
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

_PROMPT, _ANSWER, _RAW = 1500, 300, 4000
"""Characters of a prompt, an answer and a raw reply that are shown."""


class ErrorCard(NamedTuple):
    """One confident error; all texts are harmless and bounded."""

    confidence: int
    item: str
    topic: str
    question: str
    answer: str
    truth: str
    raw: str
    rule: str


class ErrorCards(NamedTuple):
    """The surest errors, how many there are in all, and the instructions that stood before their questions."""

    shown: list[ErrorCard]
    total: int
    instructions: list[str]


def confident_error_cards(run: Run) -> ErrorCards:
    """Return the ``WORST`` surest wrong answers of a run, traps included."""
    found = confident_errors(run)
    shown = found[:WORST]
    prompts = [run.manifest.prompts.get(record.prompt_sha256) for _, record in shown]
    systems = dict.fromkeys(run.manifest.systems.get(prompt.system, "") for prompt in prompts if prompt is not None)
    return ErrorCards(
        shown=[_card(run, confidence, record) for confidence, record in shown],
        total=len(found),
        instructions=[excerpt(text, _PROMPT) for text in systems if text],
    )


def _card(run: Run, confidence: int, record: Record) -> ErrorCard:
    return ErrorCard(
        confidence=confidence,
        item=one_line(record.item_id, 80),
        topic=one_line(record.bin.replace("_", " "), 40),
        question=excerpt(question_of(run, record), _PROMPT),
        answer=one_line(record.answer or "", _ANSWER),
        truth=_truth(run, record),
        raw=excerpt(record.raw, _RAW),
        rule=one_line(record.rule, 80),
    )


def _truth(run: Run, record: Record) -> str:
    """Return what would have been right."""
    item = run.manifest.drawn.find(record.item_id)
    if item is None:
        return "unknown: the run does not hold this item"
    note = one_line(item.note, _ANSWER) if isinstance(item, Trap) else ""
    return f"{shown_key(item, _ANSWER)}{f': {note}' if note else ''}"
