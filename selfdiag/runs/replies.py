"""What one reply comes to: its reading, its grade, and the outcome that a run records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import msgspec

from selfdiag.battery.items import Probe, Trap
from selfdiag.battery.self_assessment import FormalTask
from selfdiag.elicit.abstention import abstains, declines
from selfdiag.elicit.citations import read_citation
from selfdiag.elicit.formal import check_form
from selfdiag.elicit.grading import GRADING_VERSION, Outcome, grade
from selfdiag.elicit.lexicon import LEXICON_VERSION
from selfdiag.elicit.reading import READING_VERSION, Parse, read_reply
from selfdiag.elicit.reasoning import set_reasoning_aside
from selfdiag.elicit.selection import LETTERS, picked
from selfdiag.runs.records import ANSWERED, Record

OVERFLOWED = "the prompt did not fit the context"
DECLINED = "the provider declined"
_MISSING: dict[str, Outcome] = {
    "empty": "empty",
    "truncated": "truncated",
    "refused": "refused",
    "abstained": "abstained",
}
"""Outcomes of a reply that holds no self-report, by the reason its reading gives."""


class GradedReply(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a record that follow from the text of its reply."""

    answer: str | None
    confidence: Annotated[int, msgspec.Meta(ge=0, le=100)] | None
    parse: Parse
    flags: tuple[str, ...]
    outcome: Outcome | Literal["answered"]
    rule: str
    reasoning: str
    value: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


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
    outcome, rule = _unread(text, finish_reason, overflow=overflow, declined=declined) or (
        verdict.outcome,
        verdict.rule,
    )
    return GradedReply(
        answer=reading.answer,
        confidence=reading.confidence,
        parse=reading.parse,
        flags=tuple(dict.fromkeys((*reading.flags, *verdict.flags))),
        outcome=outcome,
        rule=rule,
        reasoning=reading.reasoning,
    )


def read_self_report(
    read: Callable[[str], tuple[float | None, str]],
    text: str,
    finish_reason: str,
    *,
    overflow: bool = False,
    declined: bool = False,
) -> GradedReply:
    """Read what a model says of itself: it is answered or missing, never right or wrong.

    Args:
        read: ``read_yes_no`` or ``read_rating``.
        text: the reply as it came.
        finish_reason: why it ended; ``length`` means that a limit cut it.
        overflow: the server said that the prompt did not fit.
        declined: the provider itself refused.
    """
    reading = read_reply(text, cut=finish_reason == "length")
    value, word = read(text)
    unread = _unread(text, finish_reason, overflow=overflow, declined=declined)
    if unread is None and reading.truncated:
        unread = "truncated", "cut off"
    if unread is None and value is None:
        unread = _MISSING.get(word, "unparsed"), word
    outcome, rule = unread or (ANSWERED, word)
    return GradedReply(
        answer=word if unread is None else reading.answer,
        confidence=None,
        # the bare word is all that is asked for
        parse="salvaged" if unread is None and reading.parse == "none" else reading.parse,
        flags=tuple(flag for flag in reading.flags if not flag.startswith("confidence")),
        outcome=outcome,
        rule=rule,
        reasoning=reading.reasoning,
        value=value if unread is None else None,
    )


def read_pick_reply(
    shown: Sequence[Record], text: str, finish_reason: str, *, overflow: bool = False, declined: bool = False
) -> GradedReply:
    """Read which of two answers a reply picks, and grade it where one of them alone is right.

    Where both are right or both wrong a pick is neither; it is answered.

    Args:
        shown: the records of the two answers, in the order in which they were shown.
        text: the reply as it came.
        finish_reason: why it ended; ``length`` means that a limit cut it.
        overflow: the server said that the prompt did not fit.
        declined: the provider itself refused.
    """
    reading = read_reply(text, cut=finish_reason == "length")
    said = reading.answer or ""
    first, second = shown
    choice = picked(said, (first.answer or "", second.answer or ""))
    unread = _unread(text, finish_reason, overflow=overflow, declined=declined)
    if unread is None and reading.truncated:
        unread = "truncated", "cut off"
    outcome, rule = unread or _pick_outcome(shown, choice, said)
    return GradedReply(
        answer=LETTERS[choice] if unread is None and choice is not None else reading.answer,
        confidence=reading.confidence,
        parse=reading.parse,
        flags=reading.flags,
        outcome=outcome,
        rule=rule,
        reasoning=reading.reasoning,
    )


def _pick_outcome(shown: Sequence[Record], choice: int | None, said: str) -> tuple[Outcome | Literal["answered"], str]:
    if choice is None:
        if abstains(said):
            return "abstained", "picks neither"
        return ("refused", "refusal") if declines(said) else ("unparsed", "no clear pick")
    right = shown[choice].outcome == "correct"
    if len({record.outcome for record in shown}) == 1:
        return ANSWERED, f"both answers {'right' if right else 'wrong'}"
    return "correct" if right else "incorrect", "one answer right"


def read_citation_reply(
    text: str, finish_reason: str, *, overflow: bool = False, declined: bool = False
) -> GradedReply:
    """Read a citation; whether it can be verified is judged later, from the text. Arguments as above."""
    reading = read_reply(text, cut=finish_reason == "length")
    citation, word = read_citation(text, cut=finish_reason == "length")
    unread = _unread(text, finish_reason, overflow=overflow, declined=declined)
    if unread is None and citation is None:
        unread = _MISSING.get(word, "unparsed"), word
    outcome, rule = unread or (ANSWERED, "citation")
    return GradedReply(
        answer=citation.title if citation is not None else None,
        confidence=None,
        parse="strict" if citation is not None and reading.parse == "none" else reading.parse,
        flags=(),
        outcome=outcome,
        rule=rule,
        reasoning=reading.reasoning,
    )


def check_formal_reply(
    task: FormalTask, text: str, finish_reason: str, *, overflow: bool = False, declined: bool = False
) -> GradedReply:
    """Check the form of a reply; it is right when every element is. Arguments as above.

    A reply that has nothing right and opens by declining is refused, and has no form to check.
    """
    elements = check_form(task.format, task.check, text)
    wrong = [name for name, right in elements.items() if not right]
    unread = _unread(text, finish_reason, overflow=overflow, declined=declined)
    if unread is None and finish_reason == "length":
        unread = "truncated", "cut off"
    if unread is None and len(wrong) == len(elements) and declines(set_reasoning_aside(text).content):
        unread = "refused", "refusal"
    rule = f"{len(elements) - len(wrong)} of {len(elements)}" + (f"; wrong: {', '.join(wrong)}" if wrong else "")
    outcome, rule = unread or ("incorrect" if wrong else "correct", rule)
    return GradedReply(
        answer=None,
        confidence=None,
        parse="none" if unread else "strict",
        flags=(),
        outcome=outcome,
        rule=rule,
        reasoning="",
        value=None if unread else (len(elements) - len(wrong)) / len(elements),
    )


def _unread(text: str, finish_reason: str, *, overflow: bool, declined: bool) -> tuple[Outcome, str] | None:
    """Return the outcome of a reply that there is nothing to read of, and why, else None."""
    if overflow:
        return "overflow", OVERFLOWED
    if declined:
        return "refused", DECLINED
    if not text.strip():
        return ("truncated", "cut before any text") if finish_reason == "length" else ("empty", "no text")
    return None


def rule_versions() -> dict[str, str]:
    """Return the versions of the rules by which replies are read and graded."""
    return {"reading": READING_VERSION, "grading": GRADING_VERSION, "lexicon": LEXICON_VERSION}
