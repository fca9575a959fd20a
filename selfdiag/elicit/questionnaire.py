"""Reading a questionnaire's Yes, Partially or No."""

from __future__ import annotations

import re

from selfdiag.elicit.abstention import abstains, declines
from selfdiag.elicit.phrases import YES_PARTLY_NO
from selfdiag.elicit.reading import read_reply
from selfdiag.elicit.reasoning import set_reasoning_aside, without_template_tokens
from selfdiag.elicit.textforms import fold_text, without_lead

_VALUES = {"yes": 1.0, "partially": 0.5, "no": 0.0}
_WORDS = {fold_text(word): name for name, words in YES_PARTLY_NO.items() for word in words}

MAX_FIELD = 200
"""A longer field is a remark, not a reply."""


def read_yes_no(raw: str) -> tuple[float | None, str]:
    """Return 1 for Yes, .5 for Partially, 0 for No in any of ten languages, else None, and which word or why not.

    The whole field must be the reply: the ``answer`` of an object where there is one, else the reply itself.
    A refusal is missing, never 0.

    Args:
        raw: the reply as it came.

    Returns:
        The value, and ``yes``, ``partially``, ``no``, or the reason it is missing: ``empty``, ``truncated``,
        ``refused``, ``abstained`` or ``not a reply``.
    """
    reading = read_reply(raw)
    if reading.truncated:
        return None, "truncated"
    if "empty" in reading.flags:
        return None, "empty"
    field = reading.answer if reading.parse != "none" else _plain_reply(raw)
    if field is None:
        return None, "not a reply"
    text = field.strip()
    if declines(text):
        return None, "refused"
    if abstains(text):
        return None, "abstained"
    if len(text) > MAX_FIELD:
        return None, "not a reply"
    for form in (text, without_lead(text)):
        name = _WORDS.get(re.sub(r"\s+", " ", fold_text(form)))
        if name is not None:
            return _VALUES[name], name
    return None, "not a reply"


def _plain_reply(raw: str) -> str:
    return without_template_tokens(set_reasoning_aside(raw[: 100 * MAX_FIELD]).content)


def score(raw_value: float | None, reverse: bool) -> float | None:
    """Return the scored value of a reply: reversed once for a reverse-keyed item; a missing value stays missing.

    Args:
        raw_value: 0, .5, 1 (or any value in [0, 1]) or None.
        reverse: whether No is the answer that speaks for the trait.
    """
    return None if raw_value is None else 1.0 - raw_value if reverse else raw_value
