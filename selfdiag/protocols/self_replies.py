"""What a model said of itself in one section of a run, and which replies are missing and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from selfdiag.runs.records import ANSWERED, QUESTIONNAIRE, STATEMENT_VALUES, PlannedCall, Record
from selfdiag.runs.store import Run

NOT_ASKED = "not asked"
MANY_MISSING = 0.1
"""From this share of missing replies on, what is left may speak of the replies rather than of the model."""


class SelfReplies(msgspec.Struct, frozen=True, kw_only=True):
    """The readable replies of a section with their raw values in [0, 1], and the others counted by reason."""

    answered: tuple[tuple[PlannedCall, float], ...]
    missing: dict[str, int]
    instances: int

    @property
    def asked(self) -> int:
        """The number of planned calls."""
        return len(self.answered) + sum(self.missing.values())


def self_replies(run: Run, section: str) -> SelfReplies:
    """Return the replies to the planned calls of a section, in the order of the plan."""
    latest = run.latest()
    calls = [call for call in run.manifest.plan if call.section == section]
    answered: list[tuple[PlannedCall, float]] = []
    missing: Counter[str] = Counter()
    for call in calls:
        record = latest.get(call.call_id)
        value = _value(record)
        if value is not None:
            answered.append((call, value))
        else:
            missing[_reason(record)] += 1
    return SelfReplies(
        answered=tuple(answered),
        missing=dict(missing.most_common()),
        instances=1 + max((call.replicate for call in calls), default=-1),
    )


def _value(record: Record | None) -> float | None:
    """Return what a reply comes to, None for one that is missing, refused, or no reply to a statement."""
    if record is None or record.outcome != ANSWERED:
        return None
    if record.section == QUESTIONNAIRE and record.value not in STATEMENT_VALUES:
        return None
    return record.value


def _reason(record: Record | None) -> str:
    if record is None:
        return NOT_ASKED
    if record.outcome == ANSWERED:
        return "without a value"
    # of a reply that cannot be read, the rule says what it is instead
    return record.rule if record.outcome == "unparsed" and record.rule else record.outcome


def missing_warning(asked: int, missing: Mapping[str, int]) -> str:
    """Return a sentence when many replies are missing, else an empty text; ``missing`` counts them by reason."""
    count = sum(missing.values())
    if count <= MANY_MISSING * asked:
        return ""
    reasons = ", ".join(f"{number} {reason}" for reason, number in missing.items())
    return f"{count} of {asked} replies are missing ({reasons}), and not at random: the figures speak of the rest"
