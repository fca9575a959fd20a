"""What a model said under each claim or example, with its confidences on one scale."""

from __future__ import annotations

import math

import msgspec

from selfdiag.elicit.confidence import run_scale
from selfdiag.elicit.grading import GRADED
from selfdiag.runs.store import Run

NOT_ASKED = "not_asked"


class ClaimReply(msgspec.Struct, frozen=True, kw_only=True):
    """What the model said under one claim: ``confidence`` is 0-100 or None.

    ``outcome`` is that of the record, or ``not_asked`` where there is none.
    """

    confidence: int | None
    answer: str | None
    outcome: str

    def stated(self) -> int | None:
        """Return the confidence where it speaks of an answer, else None."""
        return self.confidence if self.outcome in GRADED else None

    def points(self) -> float:
        """Return the same as a number, NaN for None."""
        stated = self.stated()
        return math.nan if stated is None else float(stated)


def replies_of(run: Run) -> tuple[dict[str, ClaimReply], str]:
    """Return the reply to every planned call, and a note on the confidences, which are on one scale over the run."""
    records = run.planned()
    stated, note = run_scale([record.confidence for record in records], [record.flags for record in records])
    replies = {
        record.call_id: ClaimReply(confidence=confidence, answer=record.answer, outcome=record.outcome)
        for record, confidence in zip(records, stated, strict=True)
    }
    missing = ClaimReply(confidence=None, answer=None, outcome=NOT_ASKED)
    return {call.call_id: replies.get(call.call_id, missing) for call in run.manifest.plan}, note
