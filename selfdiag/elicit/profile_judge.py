"""Asking a judge which of two profiles was measured: a check that a shuffled profile can be told from the own one.

The judge sees numbers by topic and the letters A and B; neither what an arm is called nor which list is which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from selfdiag.elicit.prompts import Prompt
from selfdiag.elicit.reading import read_reply
from selfdiag.elicit.textforms import fold_text

PROFILE_JUDGE_VERSION = "profiles-1"
"""Raised by every change of the wording below."""

Letter = Literal["A", "B"]

_CONTRACT = (
    "Somebody took two tests on the same topics. You see how often they were right in the first test, by topic, and "
    "two lists, A and B. One list is how often they were right in the second test. The other list has the same "
    "numbers, but on other topics. Decide which list is the second test. "
    'Reply with one JSON object that has one member, "answer": "A" or "B".'
)

PROFILE_JUDGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["A", "B"]}},
    "required": ["answer"],
    "additionalProperties": False,
}

Values = Mapping[str, int | None]


def render_profile_judge(observed: Values, first: Values, second: Values) -> Prompt:
    """Return the prompt that asks which of two profiles belongs to observed accuracies.

    All are in whole percent by topic; topics without a value are left out.

    Args:
        observed: what was measured on other items.
        first: the list A.
        second: the list B.
    """
    parts = [("First test", observed), ("List A", first), ("List B", second)]
    return Prompt(system=_CONTRACT, user="\n\n".join(f"{title}:\n{_lines(values)}" for title, values in parts))


def read_letter(raw: str, cut: bool = False) -> Letter | None:
    """Return which list a judge chose, or None when its reply is not one of the two letters.

    Args:
        raw: the judge's reply as it came; it is read by the same rules as any reply.
        cut: whether a limit ended it.
    """
    reading = read_reply(raw, cut)
    if reading.truncated:
        return None
    said = fold_text(reading.answer if reading.answer is not None else raw[:100]).removeprefix("list ")
    return "A" if said == "a" else "B" if said == "b" else None


def _lines(values: Values) -> str:
    return "\n".join(f"- {name}: {value}%" for name, value in values.items() if value is not None)
