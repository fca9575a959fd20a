"""Imputation: a confidence that nobody stated, put where none could be read, as a published study did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from selfdiag.elicit.grading import GRADED
from selfdiag.runs.columns import Columns
from selfdiag.runs.records import Record


class Imputation(msgspec.Struct, frozen=True, kw_only=True):
    """What was imputed, into the attempted-as-wrong figures alone.

    ``imputed`` rows got the ``confidence`` (0-100). They are among the ``malformed`` replies to probes, which count as
    wrong there, and the ``unstated`` answers, which keep their grade.
    """

    confidence: int
    imputed: int
    malformed: int
    unstated: int


def impute(columns: Columns, records: Sequence[Record], confidence: int) -> tuple[Columns, Imputation]:
    """Return the rows of probes with a confidence wherever none was read, and what that changed.

    A malformed reply (outcome ``unparsed``) becomes a wrong answer; a confidence that it does state is kept. Silence is
    no malformed reply: abstentions and refusals without a confidence stay as they are, and so do replies that were
    cut, empty or too long. Source: the study of self-confidence in the evaluation of language models, which counts
    malformed rows as wrong at 50.

    Args:
        columns: the rows.
        records: the same rows as they were read.
        confidence: what to put, 0-100.
    """
    probe = ~columns.trap
    malformed = probe & np.array([record.outcome == "unparsed" for record in records], dtype=np.bool_)
    unread = np.array([record.confidence is None for record in records], dtype=np.bool_)
    unstated = probe & unread & np.array([record.outcome in GRADED for record in records], dtype=np.bool_)
    filled = unread & (malformed | unstated)
    rows = replace(
        columns,
        outcome=tuple(
            "incorrect" if wrong else outcome for outcome, wrong in zip(columns.outcome, malformed, strict=True)
        ),
        confidence=np.where(filled, confidence / 100, columns.confidence),
    )
    return rows, Imputation(
        confidence=confidence,
        imputed=int(filled.sum()),
        malformed=int(malformed.sum()),
        unstated=int(unstated.sum()),
    )


def imputation_note(found: Imputation, confidences: int) -> str:
    """Return what a reader must know of the imputation; ``confidences`` are those of the attempted-as-wrong set."""
    where = "the attempted-as-wrong figures"
    if not found.imputed:
        return f"no confidence had to be imputed as {found.confidence} in {where}"
    return (
        f"{found.imputed} of {confidences} confidences in {where} are imputed as {found.confidence}, as the SCE study "
        f"did (malformed replies, wrong there: {found.malformed}; answers without one: {found.unstated}); tier and "
        "all other figures are without them"
    )
