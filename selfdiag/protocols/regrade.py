"""Re-grading: a run's raw replies read and graded by today's rules, beside what its records say."""

from __future__ import annotations

from collections import Counter

import msgspec

from selfdiag.runs.earlier import LATER
from selfdiag.runs.records import Record
from selfdiag.runs.replies import DECLINED, OVERFLOWED, GradedReply, grade_reply, rule_versions
from selfdiag.runs.store import Run

_COMPARED = ("answer", "confidence", "outcome", "parse", "flags", "rule")


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One reply that comes out otherwise today; ``before`` and ``now`` hold the fields that differ."""

    call_id: str
    item_id: str
    raw: str
    before: dict[str, object]
    now: dict[str, object]


class Regraded(msgspec.Struct, frozen=True, kw_only=True):
    """All replies of a run by today's rules.

    ``outcomes`` counts changed outcomes, ``"unparsed to correct": 2``; ``confidences`` how many stated
    confidences changed; ``rules`` the versions of the rules then and now (empty where the run has none).
    """

    schema: str = "selfdiag.regrade/1"
    run_id: str
    replies: int
    changes: tuple[Change, ...]
    outcomes: dict[str, int]
    confidences: int
    rules: dict[str, tuple[str, str]]


def regrade(run: Run) -> Regraded:
    """Return what changes; nothing is written.

    Calls that ended in an error have no reply, and those that speak of earlier answers none with an answer of their
    own: they are left out.
    """
    manifest = run.manifest
    items = {item.id: item for item in (*manifest.drawn.items(), *manifest.check)}
    records = [
        record
        for record in run.latest().values()
        if record.error is None and record.item_id in items and record.section not in LATER
    ]
    changes = []
    outcomes: Counter[str] = Counter()
    confidences = 0
    for record in records:
        today = grade_reply(
            items[record.item_id],
            record.raw,
            record.finish_reason,
            overflow=record.rule == OVERFLOWED,
            declined=record.rule == DECLINED,
        )
        fields = [name for name in _COMPARED if getattr(record, name) != getattr(today, name)]
        if not fields:
            continue
        changes.append(_change(record, today, fields))
        confidences += "confidence" in fields
        if "outcome" in fields:
            outcomes[f"{record.outcome} to {today.outcome}"] += 1
    versions = {name: (manifest.versions.get(name, ""), version) for name, version in rule_versions().items()}
    return Regraded(
        run_id=manifest.run_id,
        replies=len(records),
        changes=tuple(changes),
        outcomes=dict(outcomes.most_common()),
        confidences=confidences,
        rules=versions,
    )


def _change(record: Record, today: GradedReply, fields: list[str]) -> Change:
    return Change(
        call_id=record.call_id,
        item_id=record.item_id,
        raw=record.raw,
        before={name: getattr(record, name) for name in fields},
        now={name: getattr(today, name) for name in fields},
    )
