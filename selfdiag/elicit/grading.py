"""Whether an answer is right, and by which rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from selfdiag.battery.items import ABSTENTION_TOKEN, Kind, Probe, Trap
from selfdiag.elicit.abstention import abstains, declines
from selfdiag.elicit.dates import grade_date
from selfdiag.elicit.expressions import grade_expression
from selfdiag.elicit.kinds import grade_choice, grade_code, grade_number, grade_text
from selfdiag.elicit.lists import grade_list
from selfdiag.elicit.reading import MAX_ANSWER, Reading
from selfdiag.elicit.textforms import clean_text, fold_text, has_mixed_script
from selfdiag.elicit.verdict import Verdict

Outcome = Literal["correct", "incorrect", "abstained", "refused", "unparsed", "truncated", "empty", "overflow", "error"]
GRADED = frozenset({"correct", "incorrect"})
"""The outcomes of an answer that was graded: all others are neither right nor wrong."""

GRADING_VERSION = "2"
"""Raised by every change that grades any reading differently."""

MAX_SHOWN = 300
"""Characters of a normalised form that a grade shows."""


class Grade(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one reading: outcome, the rule that fired, both normalised forms, and flags."""

    outcome: Outcome
    rule: str
    expected: str = ""
    given: str = ""
    flags: tuple[str, ...] = ()


_KINDS: dict[Kind, Callable[[Probe, Reading], Verdict]] = {
    "number": grade_number,
    "text": grade_text,
    "choice": grade_choice,
    "set": grade_list,
    "sequence": grade_list,
    "date": grade_date,
    "expression": grade_expression,
    "code": grade_code,
}


def _shown(text: str) -> str:
    clean = clean_text(text[: 2 * MAX_SHOWN])[0]
    return clean if len(clean) <= MAX_SHOWN else clean[: MAX_SHOWN - 1] + "…"


def _unanswered(reading: Reading) -> Grade | None:
    """Return the grade of a reading that holds no complete answer, or None when it holds one."""
    if reading.truncated:
        return Grade(outcome="truncated", rule="cut off", given=_shown(reading.answer or ""))
    if "empty" in reading.flags:
        return Grade(outcome="empty", rule="nothing said")
    if reading.answer is None or not clean_text(reading.answer[:MAX_ANSWER])[0].strip():
        return Grade(outcome="unparsed", rule="no answer found" if reading.parse == "none" else "object without answer")
    return None


def grade(item: Probe | Trap, reading: Reading) -> Grade:
    """Return the outcome of one reading, the rule that decided it and both normalised forms.

    On a trap any answer but an abstention or a refusal is incorrect. On a probe an answer that is right counts
    as right even if its words could be an abstention. A free-text abstention carries the flag ``free_text``.

    Args:
        item: the probe or trap that was asked.
        reading: what its reply says; any reading gives a grade. Of its answer ``MAX_ANSWER`` characters count.
    """
    missing = _unanswered(reading)
    if missing is not None:
        return missing
    answer = (reading.answer or "")[:MAX_ANSWER]
    reading = msgspec.structs.replace(reading, answer=answer)
    mixed = ("mixed_script",) if has_mixed_script(answer) else ()
    expected = ABSTENTION_TOKEN if isinstance(item, Trap) else item.answer
    form = abstains(answer)
    if form == "token":
        return Grade(outcome="abstained", rule="abstention token", expected=_shown(expected), given=ABSTENTION_TOKEN)
    verdict = None if isinstance(item, Trap) else _KINDS[item.kind](item, reading)
    if verdict is not None and (verdict.right or verdict.settled):
        return Grade(
            outcome="correct" if verdict.right else "incorrect",
            rule=verdict.rule,
            expected=_shown(verdict.expected),
            given=_shown(verdict.given),
            flags=(*verdict.flags, *mixed),
        )
    given = _shown(verdict.given if verdict else fold_text(answer))
    expected = _shown(verdict.expected if verdict else expected)
    if form == "free_text":
        return Grade(
            outcome="abstained",
            rule="abstention in free text",
            expected=expected,
            given=_shown(fold_text(answer)),
            flags=("free_text", *mixed),
        )
    if declines(answer):
        return Grade(outcome="refused", rule="refusal", expected=expected, given=_shown(fold_text(answer)), flags=mixed)
    return Grade(
        outcome="incorrect",
        rule=verdict.rule if verdict else "answer to a trap",
        expected=expected,
        given=given,
        flags=(*(verdict.flags if verdict else ()), *mixed),
    )
