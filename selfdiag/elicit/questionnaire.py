"""Reading what a model says of itself: Yes, Partially or No, and numbers from 0 to 1."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from selfdiag.elicit.abstention import abstains, declines
from selfdiag.elicit.phrases import YES_PARTLY_NO
from selfdiag.elicit.reading import read_reply
from selfdiag.elicit.reasoning import set_reasoning_aside, without_template_tokens
from selfdiag.elicit.textforms import fold_text, without_lead

_VALUES = {"yes": 1.0, "partially": 0.5, "no": 0.0}
_WORDS = {fold_text(word): name for name, words in YES_PARTLY_NO.items() for word in words}

_SHARE = re.compile(r"(?:0?[.,]\d{1,6}|0|1|1[.,]0{1,6}|0[.,])")
_PERCENT = re.compile(r"(\d{1,3}(?:[.,]\d{1,4})?)\s?(?:%|percent|per cent)")
_OUT_OF = re.compile(r"(\d{1,4}(?:[.,]\d{1,4})?)\s?(?:/|out of)\s?(\d{1,4})")
_A_NUMBER = re.compile(r"[-+]?\d{1,300}(?:[.,]\d{1,300})?\s?%?")

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
    return _read(raw, _yes_partially_no)


def read_rating(raw: str) -> tuple[float | None, str]:
    """Return a number from 0 to 1, else None, and the number as written or why it is missing.

    ``0.85``, ``.85``, ``0,85``, ``"85 %"`` and ``"85/100"`` are .85. A bare 85 is missing, not .85, and nothing is
    clamped into the range. The whole field must be the number; a refusal is missing, never 0.

    Args:
        raw: the reply as it came.

    Returns:
        The value, and its text, or the reason it is missing: ``empty``, ``truncated``, ``refused``, ``abstained``,
        ``out of range`` or ``not a number``.
    """
    return _read(raw, _share)


def _read(raw: str, meaning: Callable[[str], tuple[float | None, str]]) -> tuple[float | None, str]:
    """Return what the answer of a reply means, or None and the reason why there is none."""
    reading = read_reply(raw)
    if reading.truncated:
        return None, "truncated"
    if "empty" in reading.flags:
        return None, "empty"
    field = reading.answer if reading.parse != "none" else _plain_reply(raw)
    text = (field or "").strip()
    if declines(text):
        return None, "refused"
    if abstains(text):
        return None, "abstained"
    return meaning(text[: MAX_FIELD + 1])


def _yes_partially_no(text: str) -> tuple[float | None, str]:
    for form in (text, without_lead(text)) if len(text) <= MAX_FIELD else ():
        name = _WORDS.get(re.sub(r"\s+", " ", fold_text(form)))
        if name is not None:
            return _VALUES[name], name
    return None, "not a reply"


def _share(text: str) -> tuple[float | None, str]:
    clean = unicodedata.normalize("NFKC", text).strip(" \t\r\n*_`'\"~≈").removesuffix(".")
    value = None
    if _SHARE.fullmatch(clean):
        value = float(clean.replace(",", "."))
    elif found := _PERCENT.fullmatch(clean.casefold()):
        value = float(found[1].replace(",", ".")) / 100
    elif (found := _OUT_OF.fullmatch(clean.casefold())) and float(found[2]) > 0:
        value = float(found[1].replace(",", ".")) / float(found[2])
    if value is None:
        return None, "out of range" if _A_NUMBER.fullmatch(clean) else "not a number"
    return (value, clean) if value <= 1 else (None, "out of range")


def _plain_reply(raw: str) -> str:
    return without_template_tokens(set_reasoning_aside(raw[: 100 * MAX_FIELD]).content)
