"""Dates as they are read, part by part."""

from __future__ import annotations

import pytest

from selfdiag.elicit.dates import Day, read_date
from selfdiag.elicit.names import MONTHS


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1990-07-05", Day(1990, 7, 5)),
        ("1990-12-31", Day(1990, 12, 31)),
        ("1990-01-01", Day(1990, 1, 1)),
        ("1990-12", Day(1990, 12)),
        ("1990-01", Day(1990, 1)),
        ("1990", Day(1990)),
        ("1990-13-01", None),
        ("1990-00-01", None),
        ("1990-01-32", None),
        ("1990-01-00", None),
        ("1990-", None),
        ("2024年12月31日", Day(2024, 12, 31)),
        ("2024年1月", Day(2024, 1)),
        ("2024年13月1日", None),
        ("12/1990", Day(1990, 12)),
        ("13/1990", None),
        ("13/07/1990", Day(1990, 7, 13)),
        ("07/13/1990", Day(1990, 7, 13)),
        ("12/12/1990", Day(1990, 12, 12)),
        ("05.07.1990", Day(1990, 7, 5)),
        ("31.12.1990", Day(1990, 12, 31)),
        ("12.13.1990", Day(1990, 12, 13)),
        ("13.13.1990", None),
        ("32.12.1990", None),
        ("5 July 1990", Day(1990, 7, 5)),
        ("July 1990", Day(1990, 7)),
        ("5 July", Day(None, 7, 5)),
        ("24 August 79", Day(79, 8, 24)),
        ("44 BC", Day(-44)),
        ("15 March 44 BC", Day(-44, 3, 15)),
        ("someday", None),
        ("", None),
    ],
)
def test_every_part_that_is_given_and_no_other(text: str, day: Day | None) -> None:
    assert read_date(text) == (day, False)


@pytest.mark.parametrize("text", ["07/05/1990", "12/11/1990", "1/12/1990", "12-1-1990"])
def test_either_of_two_days_is_its_year(text: str) -> None:
    assert read_date(text) == (Day(1990), True)


@pytest.mark.parametrize("month", range(1, 13))
def test_every_name_of_a_month(month: int) -> None:
    for name in MONTHS[month - 1]:
        assert read_date(f"5 {name} 1990")[0] in {Day(1990, month, 5), None}
    assert read_date(f"5 {MONTHS[month - 1][1]} 1990") == (Day(1990, month, 5), False)


def test_a_longer_text_is_no_date() -> None:
    assert read_date("1990".ljust(80)) == (Day(1990), False)
    assert read_date("1990".ljust(81)) == (None, False)
