"""Calls that speak of earlier answers: which ones, and whether there is something to say of them."""

from __future__ import annotations

from collections.abc import Sequence

from selfdiag.runs.records import CANDIDATES, POSTHOC, SELFSELECT, PlannedCall, Record

LATER = (POSTHOC, SELFSELECT)
"""Sections that can be asked once the answers they speak of are there."""
SPOKEN_OF = ("probes", CANDIDATES)
"""Sections whose answers are spoken of."""
FORWARD, BACKWARD = "forward", "backward"
"""The two orders in which a pair of candidates is shown: as they were asked for, and the other way round."""

Answer = tuple[str, str, int, int]
"""Section, item, wording and replicate of an answer."""


def answer_of(found: PlannedCall | Record) -> Answer:
    """Return which answer a call asks for, or a record holds."""
    return found.section, found.item_id, found.paraphrase, found.replicate


def spoken_of(call: PlannedCall) -> tuple[Answer, ...]:
    """Return the answers that a call speaks of, in the order in which it shows them; none for any other call."""
    if call.section == POSTHOC:
        return (("probes", call.item_id, call.paraphrase, call.replicate),)
    if call.section == SELFSELECT:
        ways = (0, 1) if call.arm == FORWARD else (1, 0)
        return tuple((CANDIDATES, call.item_id, call.paraphrase, way) for way in ways)
    return ()


def can_be_spoken_of(records: Sequence[Record]) -> bool:
    """Return whether there is something to say of earlier answers: each was graded, and no two are the same text."""
    return all(can_be_asked_afterwards(record) for record in records) and len(
        {record.answer for record in records}
    ) == len(records)


def can_be_asked_afterwards(record: Record) -> bool:
    """Return whether an answer is there of which the model can say how sure it is."""
    return record.answer is not None and record.outcome in {"correct", "incorrect"}
