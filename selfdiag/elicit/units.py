"""Units of measurement after a number: the same, convertible, or another."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache, lru_cache
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
_TEMPERATURE = re.compile(r"\bdeg(?:ree)?s?\s(celsius|centigrade|fahrenheit|kelvin|[CFK])\b", re.IGNORECASE)
_POWERS = str.maketrans("²³⁻¹", "23-1")


@cache
def _registry() -> UnitRegistry[Any]:
    import pint

    # Exact: 120 minutes are 2 hours, not 2.000000000000004.
    return pint.UnitRegistry(cache_folder=None, non_int_type=Fraction)


@lru_cache(maxsize=1_000)
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
    warm = _TEMPERATURE.sub(lambda m: f"deg{m[1][0].upper()}", text.strip())
    # pint takes "amps" for atto-metres per second
    named = re.sub(r"\bamps\b", "ampere", warm)
    squared = re.sub(r"\b(?:square|sq\.?)\s(\w{1,20})", r"\1^2", named, flags=re.IGNORECASE)
    cubed = re.sub(r"\b(?:cubic|cu\.?)\s(\w{1,20})", r"\1^3", squared, flags=re.IGNORECASE)
    return re.sub(r"(?<=[^\W\d_])([²³]|⁻[¹²³])", lambda m: "^" + m[1].translate(_POWERS), cubed)


def in_unit(value: Fraction, given: str, unit: str, *, convert: bool) -> tuple[Fraction | None, str]:
    """Return a value in the expected unit and how it got there, or None where the unit is another one.

    The case of a unit is ignored unless the two cases are units of the same kind (``mW`` and ``MW``).

    Args:
        value: the number before the unit.
        given: what stands after the number; words that are no unit ("in total") count as none stated.
        unit: the expected unit.
        convert: allow another unit of the same dimension.
    """
    stated = given.strip().strip(".,;:!()").strip()
    if not stated:
        return value, "unit left out"
    expected = _parsed(_spelled(unit))
    words = stated.split()
    if fold_text(stated) == fold_text(unit):
        other = _parsed(_spelled(stated))
        if other is None or expected is None or other == expected or other.dimensionality != expected.dimensionality:
            return value, "same unit"
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
        converted = _registry().Quantity(value, other).to(expected).magnitude
        return Fraction(converted), "unit converted"
    except (ValueError, TypeError, AttributeError, ArithmeticError):
        return None, "another unit"
