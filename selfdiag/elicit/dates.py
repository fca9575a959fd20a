"""Grading dates: any common format, to the precision of the key."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Any

import msgspec

from selfdiag.battery.items import Probe
from selfdiag.elicit.names import BEFORE_CHRIST, MONTHS, WEEKDAYS
from selfdiag.elicit.numbers import plain_arithmetic
from selfdiag.elicit.reading import Reading
from selfdiag.elicit.textforms import clean_text, fold_text, unwrap, without_accents, without_lead
from selfdiag.elicit.verdict import Verdict

MAX_DATE = 80
"""A longer text is not read as a date."""


class Day(msgspec.Struct, frozen=True):
    """A date as far as it is given; years before Christ are negative."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


_ISO = re.compile(r"(-?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:[t ]\d{2}:\d{2}.{0,20})?")
_YEAR = re.compile(
    r"(?:(?:in|the year|year|anno|ad|a\.d\.|um|circa|c\.|ca\.)\s)*(\d{1,4})(?:\s?(?:ad|a\.d\.|ce|c\.e\."
    r"|n\. ?chr\.?))?"
)
_EAST = re.compile(r"(\d{1,4})\s?[年년](?:\s?(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日일])?)?")
_MONTH_AND_YEAR = re.compile(r"(\d{1,2})\s?[./-]\s?(\d{4})")
_NUMERIC = re.compile(r"(\d{1,2})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{4})")
_BEFORE = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(map(re.escape, BEFORE_CHRIST))})\.?")
_SHORT_YEAR = re.compile(r"(?<!\d)(\d{1,3})(?=\D{0,8}\Z)")


@cache
def _parser() -> Any:
    from dateutil import parser

    info = parser.parserinfo
    names = {
        "MONTHS": list(MONTHS),
        "WEEKDAYS": list(WEEKDAYS),
        "JUMP": [*info.JUMP, "de", "del", "do", "the", "den", "le", "il", "el", "года", "г", "am", "on", "o", "er"],
    }
    return parser.parser(type("Names", (info,), names)())


def _checked(year: int | None, month: int | None, day: int | None) -> Day | None:
    if month is not None and not 1 <= month <= 12:
        return None
    if day is not None and not 1 <= day <= 31:
        return None
    return Day(year, month, day)


def _in_words(text: str) -> Day | None:
    """Return what dateutil reads whichever date fills the gaps."""
    if not re.search(r"[^\W\d_]{3}", text):
        return None
    shift = 0
    if len(re.findall(r"\d+", text)) == 2 and not re.search(r"\d{4}", text):
        # The year stands last. dateutil takes two digits for a year near today: ten leap cycles on, it does not.
        shift = 4_000
        text = _SHORT_YEAR.sub(lambda match: str(shift + int(match[1])), text)
    readings = []
    for default in (datetime(2004, 1, 1), datetime(2012, 12, 28)):
        try:
            readings.append(_parser().parse(text, default=default, ignoretz=True, dayfirst=False))
        except (ValueError, OverflowError, TypeError, AttributeError, IndexError, ArithmeticError):
            return None
    first, second = readings
    year = first.year if first.year == second.year else None
    if year is not None and str(year) not in text:
        return None
    return Day(
        None if year is None else year - shift,
        first.month if first.month == second.month else None,
        first.day if first.day == second.day else None,
    )


def read_date(text: str) -> tuple[Day | None, bool]:
    """Return the date that a text gives, and whether its order of day and month is ambiguous (then the year alone).

    Read are ISO dates, dates with the month in words in seven languages, Chinese, Japanese and Korean dates,
    numeric dates where one of the two numbers cannot be a month, years alone, and years before Christ.
    ``07/05/1990`` is either of two days and is not guessed; only its year is certain.

    Args:
        text: an answer; more than ``MAX_DATE`` characters are no date.
    """
    if len(text) > MAX_DATE:
        return None, False
    plain = plain_arithmetic(without_lead(unwrap(clean_text(text)[0])).strip().strip(".,;!"))
    folded = " ".join(without_accents(plain).replace("*", ".").split())
    if folded.endswith("-"):
        return None, False  # "1990-" is a span without its end
    iso = _ISO.fullmatch(folded.replace("/", "-").replace(".", "-"))
    if iso:
        return _checked(int(iso[1]), int(iso[2]) if iso[2] else None, int(iso[3]) if iso[3] else None), False
    before = _BEFORE.search(folded)
    if before:
        rest, _ = read_date(folded.replace(before[0], " ").strip() or "-")
        return (Day(-rest.year, rest.month, rest.day) if rest and rest.year else None), False
    year = _YEAR.fullmatch(folded)
    if year:
        return Day(int(year[1])), False
    east = _EAST.fullmatch(folded)
    if east:
        return _checked(int(east[1]), int(east[2]) if east[2] else None, int(east[3]) if east[3] else None), False
    month = _MONTH_AND_YEAR.fullmatch(folded)
    if month:
        return _checked(int(month[2]), int(month[1]), None), False
    numeric = _NUMERIC.fullmatch(folded)
    if numeric:
        return _numeric_date(int(numeric[1]), int(numeric[3]), int(numeric[4]), numeric[2])
    return _in_words(folded), False


def _numeric_date(first: int, second: int, year: int, mark: str) -> tuple[Day | None, bool]:
    # Dates with points are written day first wherever points are used.
    if first == second or second > 12 or first > 12 or mark == ".":
        day, month = (second, first) if second > 12 else (first, second)
        return _checked(year, month, day), False
    return Day(year), True


def _shown(day: Day) -> str:
    year = "????" if day.year is None else f"{'-' if day.year < 0 else ''}{abs(day.year):04d}"
    if day.month is None:
        return year
    return f"{year}-{day.month:02d}" if day.day is None else f"{year}-{day.month:02d}-{day.day:02d}"


def _agrees(given: Day, key: Day) -> bool:
    return all(
        wanted is None or wanted == stated
        for wanted, stated in ((key.year, given.year), (key.month, given.month), (key.day, given.day))
    )


def grade_date(probe: Probe, reading: Reading) -> Verdict:
    """Grade a date: every part that the key gives must be given and equal; a more precise answer may say more.

    A numeric date that could be either of two days is wrong (flag ``ambiguous_date``), unless the key asks for the
    year alone.

    Args:
        probe: a probe of kind ``date``; its key is best written ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``.
        reading: a reading with an answer.
    """
    answer = reading.answer or ""
    read = {text: read_date(text) for text in (probe.answer, *probe.aliases)}
    keys = [day for day, either in read.values() if day is not None and not either]
    given, ambiguous = read_date(answer)
    shown = _shown(keys[0]) if keys else fold_text(probe.answer)
    right = given is not None and any(_agrees(given, key) for key in keys)
    if ambiguous and not right:
        return Verdict(
            right=False,
            rule="day or month first",
            expected=shown,
            given=fold_text(answer),
            flags=("ambiguous_date",),
        )
    if given is None or not keys:
        same = fold_text(answer) in [fold_text(text) for text, (day, _) in read.items() if day is None]
        return Verdict(right=same, rule="text" if same else "no date", expected=shown, given=fold_text(answer))
    return Verdict(right=right, rule="date", expected=shown, given=_shown(given))
