"""Stated confidence: what number between 0 and 100 a reply gives, if it gives one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal

MIN_GUESSES = 5
"""So many readings between 0 and 1 show that a run states fractions."""

_PLAIN = re.compile(r"[~≈+]?\s?(\d{1,12}(?:\.\d{0,30})?|\.\d{1,30})\s?(%|per ?cent)?", re.IGNORECASE)
_OUT_OF = re.compile(r"[~≈+]?\s?(\d{1,12}(?:\.\d{1,30})?)\s?(?:/|out of)\s?(\d{1,12}(?:\.\d{1,30})?)", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?")


class NumberText(str):
    """A number as it stood in the reply, digit for digit."""

    __slots__ = ()


def _scaled(value: Decimal, *, explicit: bool) -> tuple[int | None, tuple[str, ...]]:
    flags: list[str] = []
    if not explicit and 0 < value < 1:
        value *= 100
        flags.append("scale_guess")
    elif not explicit and value == 1:
        flags.append("ambiguous_scale")
    if not 0 <= value <= 100:
        return None, ("confidence_out_of_range",)
    whole = value.quantize(Decimal(1), rounding=ROUND_HALF_UP)
    if whole != value:
        flags.append("rounded")
    return int(whole), tuple(flags)


def read_confidence(value: object) -> tuple[int | None, tuple[str, ...]]:
    """Return a stated confidence as an integer 0-100, or None, and flags.

    ``85``, ``85.0``, ``"85"``, ``"85%"``, ``"85 percent"``, ``"~85"``, ``"85/100"`` and ``"85 out of 100"`` are 85,
    ``"8/10"`` is 80. A number strictly
    between 0 and 1 counts as a fraction (flag ``scale_guess``); 1 stays 1 (flag ``ambiguous_scale``); a percent
    sign or a denominator settles the scale. Other fractions of a point are rounded half up (flag ``rounded``).
    Ranges, words, booleans, lists, objects, null, non-finite numbers and numbers outside 0-100 give None; a
    number is never clamped.

    Args:
        value: what stood under the confidence key: any decoded JSON value.
    """
    if value is None:
        return None, ()
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        return None, ("confidence_unreadable",)
    if isinstance(value, NumberText) or not isinstance(value, str):
        if isinstance(value, int) and abs(value) > 100:
            return None, ("confidence_out_of_range",)
        literal = str(value)
        if not _NUMBER.fullmatch(literal):
            return None, ("confidence_unreadable",)
        number = Decimal(literal)
        return _scaled(number, explicit=False) if number.adjusted() < 20 else (None, ("confidence_out_of_range",))
    text = unicodedata.normalize("NFKC", value[:200]).strip(" \t\r\n*_`'\"")
    if not text:
        return None, ()
    plain = _PLAIN.fullmatch(text)
    if plain:
        return _scaled(Decimal(plain[1]), explicit=plain[2] is not None)
    out_of = _OUT_OF.fullmatch(text)
    if out_of and Decimal(out_of[2]) > 0:
        return _scaled(Decimal(out_of[1]) * 100 / Decimal(out_of[2]), explicit=True)
    if re.fullmatch(r"-\s?\d{1,12}(?:\.\d{1,30})?\s?%?", text):
        return None, ("confidence_out_of_range",)
    return None, ("confidence_unreadable",)


def run_scale(
    confidences: Sequence[int | None], flags: Sequence[Collection[str]]
) -> tuple[tuple[int | None, ...], str]:
    """Return the confidences of a whole run on one scale, and a note that says what was decided ('' if nothing).

    When at least five readings are ``scale_guess`` and no other reading is above 1, the run states fractions and
    an ``ambiguous_scale`` 1 counts as 100. When readings above 1 occur too, the run mixes scales: readings with
    either flag become None, which takes them out of the confidence measures.

    Args:
        confidences: one reading per row, 0-100 or None.
        flags: the flags of the same rows.

    Raises:
        ValueError: when the two differ in length.
    """
    if len(confidences) != len(flags):
        raise ValueError(f"{len(confidences)} confidences have {len(flags)} sets of flags")

    def rows() -> Iterator[tuple[int | None, Collection[str]]]:
        return zip(confidences, flags, strict=True)  # a list of pairs would hold 64 bytes a row

    guesses = sum("scale_guess" in marks for value, marks in rows() if value is not None)
    if guesses < MIN_GUESSES:
        return tuple(confidences), ""
    ones = sum("ambiguous_scale" in marks for value, marks in rows() if value is not None)
    above = sum(value > 1 and "scale_guess" not in marks for value, marks in rows() if value is not None)
    if above == 0:
        fractions = tuple(100 if value == 1 and "ambiguous_scale" in marks else value for value, marks in rows())
        return (
            fractions,
            f"confidence was stated as a fraction: {ones} readings of 1 count as 100" if ones else "",
        )
    kept = tuple(None if {"scale_guess", "ambiguous_scale"} & set(marks) else value for value, marks in rows())
    return kept, (
        f"fractions and percentages are mixed: {guesses + ones} readings of 1 or below leave the confidence measures, "
        f"{above} above 1 stay"
    )
