"""What one reply comes to: its reading, its grade, and the outcome that a run records."""

from __future__ import annotations

import msgspec

from selfdiag.battery.items import Probe, Trap
from selfdiag.elicit.grading import GRADING_VERSION, Outcome, grade
from selfdiag.elicit.lexicon import LEXICON_VERSION
from selfdiag.elicit.reading import READING_VERSION, Parse, read_reply

OVERFLOWED = "the prompt did not fit the context"
DECLINED = "the provider declined"


class GradedReply(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a record that follow from the text of its reply."""

    answer: str | None
    confidence: int | None
    parse: Parse
    flags: tuple[str, ...]
    outcome: Outcome
    rule: str
    reasoning: str


def grade_reply(
    item: Probe | Trap, text: str, finish_reason: str, *, overflow: bool = False, declined: bool = False
) -> GradedReply:
    """Read and grade one reply by today's rules.

    Args:
        item: what was asked.
        text: the reply as it came.
        finish_reason: why it ended; ``length`` means that a limit cut it.
        overflow: the server said that the prompt did not fit.
        declined: the provider itself refused, as a content filter does.
    """
    reading = read_reply(text, cut=finish_reason == "length")
    verdict = grade(item, reading)
    outcome, rule = verdict.outcome, verdict.rule
    if overflow:
        outcome, rule = "overflow", OVERFLOWED
    elif declined:
        outcome, rule = "refused", DECLINED
    elif not text.strip():
        outcome, rule = ("truncated", "cut before any text") if finish_reason == "length" else ("empty", "no text")
    return GradedReply(
        answer=reading.answer,
        confidence=reading.confidence,
        parse=reading.parse,
        flags=tuple(dict.fromkeys((*reading.flags, *verdict.flags))),
        outcome=outcome,
        rule=rule,
        reasoning=reading.reasoning,
    )


def rule_versions() -> dict[str, str]:
    """Return the versions of the rules by which replies are read and graded."""
    return {"reading": READING_VERSION, "grading": GRADING_VERSION, "lexicon": LEXICON_VERSION}
