"""Units of measurement after a number: the same, convertible, or another."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from selfdiag.elicit.textforms import fold_text

if TYPE_CHECKING:
    from pint import UnitRegistry

MAX_UNIT = 40
"""A longer text is not read as a unit."""

# Letters with the signs by which units combine; no numbers but small powers, so nothing is computed on the way.
_UNIT_TEXT = re.compile(
    r"[^\W\d_]{1,30}[.]?(?:\s?(?:[*/·]|per\s|\^|\*\*)?\s?(?:[^\W\d_]{1,30}|-?[1-9](?!\d))){0,5}|[°%][CFK]?"
)
# Short words that pint takes for inch, are or atto-something when more words follow.
_NOT_UNITS = frozenset({"in", "a", "at", "as", "are", "per", "to", "or", "and", "is"})
_POWERS = str.maketrans("²³⁻¹", "23-1")


@cache
def _registry() -> UnitRegistry[Any]:
    import pint

    return pint.UnitRegistry(cache_folder=None)


@cache
def _parsed(text: str) -> Any:
    """Return pint's unit for a text, or None when it knows none."""
    import tokenize

    if len(text) > MAX_UNIT or not _UNIT_TEXT.fullmatch(text):
        return None
    plain = text.replace("·", "*")
    for form in (plain, plain.casefold(), plain.rstrip(".").casefold()):
        try:
            return _registry().parse_units(form)
        except (
            ValueError,
            TypeError,
            AttributeError,
            KeyError,
            ArithmeticError,
            SyntaxError,
            tokenize.TokenError,
        ):
            continue
    return None


def _spelled(text: str) -> str:
    squared = re.sub(r"\b(?:square|sq\.?)\s(\w{1,20})", r"\1^2", text.strip(), flags=re.IGNORECASE)
    cubed = re.sub(r"\b(?:cubic|cu\.?)\s(\w{1,20})", r"\1^3", squared, flags=re.IGNORECASE)
    return re.sub(r"(?<=[^\W\d_])([²³]|⁻[¹²³])", lambda m: "^" + m[1].translate(_POWERS), cubed)


def in_unit(value: Fraction, given: str, unit: str, *, convert: bool) -> tuple[Fraction | None, str]:
    """Return a value in the expected unit and how it got there, or None where the unit is another one.

    Args:
        value: the number before the unit.
        given: what stands after the number; words that are no unit ("in total") count as none stated.
        unit: the expected unit.
        convert: allow another unit of the same dimension.
    """
    stated = given.strip().strip(".,;:!()").strip()
    if not stated:
        return value, "unit left out"
    if fold_text(stated) == fold_text(unit):
        return value, "same unit"
    expected = _parsed(_spelled(unit))
    words = stated.split()
    if expected is None:
        return value, "unit not known"
    for length in range(min(len(words), 4), 0, -1):
        if length == 1 < len(words) and words[0].casefold() in _NOT_UNITS:
            continue
        other = _parsed(_spelled(" ".join(words[:length]).strip(",;:()")))
        if other is None:
            continue
        if other == expected:
            return value, "same unit"
        if other.dimensionality != expected.dimensionality:
            if length == len(words):
                return None, "another unit"
            continue
        if not convert:
            return None, "another unit"
        return _converted(value, other, expected)
    return value, "unit left out"


def _converted(value: Fraction, other: Any, expected: Any) -> tuple[Fraction | None, str]:
    try:
        one = _registry().Quantity(1.0, other).to(expected).magnitude
        zero = _registry().Quantity(0.0, other).to(expected).magnitude
    except (ValueError, TypeError, AttributeError, ArithmeticError):
        return None, "another unit"
    # Fifteen digits undo the binary rounding of factors that are exact in decimal.
    offset = Fraction(f"{zero:.15g}")
    return value * (Fraction(f"{one:.15g}") - offset) + offset, "unit converted"
