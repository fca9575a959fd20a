"""A run's records as CSV, one row a reply, and the dictionary of its columns."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from selfdiag.elicit.confidence import run_scale
from selfdiag.protocols.sources import run_columns
from selfdiag.report.items import key_of, question_of
from selfdiag.runs.records import MEASURED_SECTIONS, Record
from selfdiag.runs.store import Run
from selfdiag.safety import literal

LONGEST = 32_000
"""Characters of the longest cell: spreadsheets take 32,767."""

# joiners are left in texts and show nothing, so a formula may stand behind them too
_FORMULA = re.compile(r"[\t\r]|[\s\u200c\u200d]*[=+\-@＝＋－＠]")

Cell = str | int | float | bool | None


class Row(NamedTuple):
    """One reply with what its record alone does not say; ``confidence`` is 0-100 or None."""

    run: Run
    record: Record
    confidence: float | None
    source: str
    question: str
    key: str


class Column(NamedTuple):
    """One column: its name, the type of its cells, what they may hold, what they mean, and where they come from."""

    name: str
    kind: str
    values: str
    meaning: str
    of: Callable[[Row], Cell]


COLUMNS: tuple[Column, ...] = (
    Column("run_id", "text", "", "the run", lambda row: row.run.manifest.run_id),
    Column("model", "text", "PROVIDER:NAME", "the model that was asked", lambda row: row.run.manifest.settings.model),
    Column(
        "simulated", "boolean", "", "a script wrote the replies, no model", lambda row: row.run.manifest.model.simulated
    ),
    Column("call_id", "text", "", "the call, the same in every run that asks the same", lambda row: row.record.call_id),
    Column(
        "section",
        "text",
        "probes, traps, ...",
        "the part of the run; audits measure probes and traps",
        lambda row: row.record.section,
    ),
    Column("item", "text", "", "id of what was asked", lambda row: row.record.item_id),
    Column("bin", "text", "", "topic of the item", lambda row: row.record.bin),
    Column("difficulty", "text", "easy, medium, hard", "as its authors rate it", lambda row: row.record.difficulty),
    Column("trap", "boolean", "", "the question has no answer", lambda row: row.record.trap),
    Column("family", "text", "", "why a trap has no answer", lambda row: row.record.family),
    Column(
        "arm",
        "text",
        "none, claim, own, ...",
        "what stood in the place of the profile in the prompt",
        lambda row: row.record.arm,
    ),
    Column("claim", "integer", "0-100 %", "the accuracy that the prompt claimed", lambda row: row.record.claim),
    Column("claim_bin", "text", "", "the topic that the claim was about", lambda row: row.record.claim_bin),
    Column("labelled", "boolean", "", "the question named its topic", lambda row: row.record.labelled),
    Column("paraphrase", "integer", "from 0", "which wording was asked", lambda row: row.record.paraphrase),
    Column("replicate", "integer", "from 0", "which repeat of the same call", lambda row: row.record.replicate),
    Column("question", "text", "", "the question as it was put", lambda row: row.question),
    Column("key", "text", "", "the right answer of a probe", lambda row: row.key),
    Column("raw", "text", "", "the reply as it came", lambda row: row.record.raw),
    Column("reasoning", "text", "", "what it thought aloud before the reply", lambda row: row.record.reasoning),
    Column("answer", "text", "", "the answer read from the reply", lambda row: row.record.answer),
    Column(
        "confidence",
        "number",
        "0-100 %",
        "the confidence that is measured, on one scale over the run",
        lambda row: row.confidence,
    ),
    Column(
        "confidence_source",
        "text",
        "stated, posthoc, logprob, agreement",
        "where that confidence comes from",
        lambda row: row.source,
    ),
    Column("stated", "integer", "0-100 %", "the confidence as read from the reply", lambda row: row.record.confidence),
    Column(
        "token_confidence",
        "number",
        "0-1",
        "joint probability of the tokens of the answer",
        lambda row: row.record.token_confidence,
    ),
    Column(
        "outcome",
        "text",
        "correct, incorrect, abstained, refused, unparsed, truncated, empty, overflow, error, answered",
        "what became of the reply; only correct and incorrect are graded",
        lambda row: row.record.outcome,
    ),
    Column(
        "value", "number", "0-1", "what a reply without a single right answer comes to", lambda row: row.record.value
    ),
    Column("rule", "text", "", "the rule that decided the outcome", lambda row: row.record.rule),
    Column("parse", "text", "strict, repaired, salvaged, none", "how the reply was read", lambda row: row.record.parse),
    Column(
        "flags",
        "text",
        "words with spaces between",
        "what was odd about the reply",
        lambda row: " ".join(row.record.flags),
    ),
    Column(
        "judge",
        "text",
        "PROVIDER:NAME",
        "the model that gave a second opinion, which is in no figure",
        lambda row: row.record.judge.model if row.record.judge else None,
    ),
    Column(
        "judge_opinion",
        "text",
        "same, different",
        "whether it finds answer and key the same; empty if not readable",
        lambda row: row.record.judge.opinion if row.record.judge else None,
    ),
    Column(
        "error_kind",
        "text",
        "timeout, unreachable, ...",
        "why no reply came",
        lambda row: row.record.error.kind if row.record.error else None,
    ),
    Column(
        "error", "text", "", "the same in words", lambda row: row.record.error.message if row.record.error else None
    ),
    Column("finish_reason", "text", "stop, length, ...", "why the reply ended", lambda row: row.record.finish_reason),
    Column("structured", "boolean", "", "a JSON schema bound the reply", lambda row: row.record.structured),
    Column("attempts", "integer", "from 1", "how often the call was made", lambda row: row.record.attempts),
    Column("latency_s", "number", "seconds", "how long the reply took", lambda row: row.record.latency_s),
    Column(
        "prompt_tokens",
        "integer",
        "tokens",
        "length of the prompt, where the server counts",
        lambda row: row.record.prompt_tokens,
    ),
    Column(
        "completion_tokens",
        "integer",
        "tokens",
        "length of the reply, where the server counts",
        lambda row: row.record.completion_tokens,
    ),
    Column("at", "time", "ISO 8601, UTC", "when the reply was written down", lambda row: row.record.at),
    Column(
        "prompt_sha256",
        "text",
        "",
        "SHA-256 of the prompt, whose text is in manifest.json",
        lambda row: row.record.prompt_sha256,
    ),
)
"""Every column in order: the one place that says what the table holds."""


def records_csv(run: Run) -> str:
    """Return the last record of every call that has one, in the order of the plan; the same run gives the same bytes.

    A missing value is an empty cell. A line ends with a line feed alone: every spreadsheet and reader of CSV takes it,
    and so do the tools that work line by line, to which a carriage return is part of the last column. No cell holds a
    line break, so a line is a row.
    """
    return _written([[column.name for column in COLUMNS], *map(_cells, _rows(run))])


def columns_csv() -> str:
    """Return the dictionary of the columns, as CSV too."""
    return _written([["column", "type", "values", "meaning"], *(column[:4] for column in COLUMNS)])


def text_cell(text: str) -> str:
    """Return foreign text as a cell that is no formula, shows what is invisible, and is not too long.

    A text that a spreadsheet would compute, because it begins with ``= + - @``, their full-width forms, a tab or a
    carriage return, also behind space, gets an apostrophe before it.
    """
    shown = literal(text[:LONGEST])
    guard = "'" if _FORMULA.match(text) else ""
    if len(text) > LONGEST or len(guard + shown) > LONGEST:
        shown = f"{shown[:LONGEST]}… (cut: {len(text):,} characters in all)"
    return guard + shown


def _written(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cells(row: Row) -> list[str]:
    return [_cell(column.of(row)) for column in COLUMNS]


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return text_cell(value)
    return f"{value:.10g}" if isinstance(value, float) else str(value).lower()


def _rows(run: Run) -> Iterator[Row]:
    planned, manifest = run.planned(), run.manifest
    said = _confidences(run, planned)
    assessed = manifest.assessed.items() if manifest.assessed is not None else ()
    asked = (*manifest.drawn.items(), *manifest.check, *assessed)
    keys = {item.id: key_of(item) for item in asked}
    for record in planned:
        measured = record.section in MEASURED_SECTIONS
        yield Row(
            run=run,
            record=record,
            confidence=said.get(record.call_id),
            source=manifest.settings.confidence[0] if measured else record.confidence_source,
            question=question_of(run, record),
            key=keys.get(record.item_id, ""),
        )


def _confidences(run: Run, planned: Sequence[Record]) -> dict[str, float]:
    """Return the confidence of every record that has one, 0-100, by call id, as the measures take it."""
    measured = [record for record in planned if record.section in MEASURED_SECTIONS]
    others = [record for record in planned if record.section not in MEASURED_SECTIONS]
    fractions = run_columns(run, measured)[0].confidence.tolist()
    stated, _ = run_scale([record.confidence for record in others], [record.flags for record in others])
    return {
        **{record.call_id: 100 * p for record, p in zip(measured, fractions, strict=True) if math.isfinite(p)},
        **{record.call_id: said for record, said in zip(others, stated, strict=True) if said is not None},
    }
