"""Stated confidence, value by value and over a run."""

from __future__ import annotations

from decimal import Decimal

import pytest

from selfdiag.elicit.confidence import NumberText, read_confidence, run_scale

TABLE: list[tuple[object, int | None, tuple[str, ...]]] = [
    (85, 85, ()),
    ("85", 85, ()),
    ("85%", 85, ()),
    ("85 %", 85, ()),
    (85.0, 85, ()),
    ("85.0", 85, ()),
    ("85/100", 85, ()),
    ("8/10", 80, ()),
    ("~85", 85, ()),
    ("~85%", 85, ()),
    (" 85 ", 85, ()),
    ("８５", 85, ()),
    (NumberText("85"), 85, ()),
    (NumberText("8.5e1"), 85, ()),
    (Decimal(85), 85, ()),
    (0, 0, ()),
    (0.0, 0, ()),
    ("0", 0, ()),
    (100, 100, ()),
    ("100%", 100, ()),
    ("100/100", 100, ()),
    (0.85, 85, ("scale_guess",)),
    ("0.85", 85, ("scale_guess",)),
    (".85", 85, ("scale_guess",)),
    (0.5, 50, ("scale_guess",)),
    (0.855, 86, ("scale_guess", "rounded")),
    (0.001, 0, ("scale_guess", "rounded")),
    (1, 1, ("ambiguous_scale",)),
    (1.0, 1, ("ambiguous_scale",)),
    ("1", 1, ("ambiguous_scale",)),
    ("1.0", 1, ("ambiguous_scale",)),
    ("1%", 1, ()),
    ("1/100", 1, ()),
    ("0.5%", 1, ("rounded",)),
    (85.5, 86, ("rounded",)),
    (84.5, 85, ("rounded",)),
    (85.4, 85, ("rounded",)),
    ("85.5%", 86, ("rounded",)),
    (1.5, 2, ("rounded",)),
    (99.5, 100, ("rounded",)),
    (NumberText("85.49999999999999999999999999999999"), 85, ("rounded",)),
    (None, None, ()),
    ("", None, ()),
    ("  ", None, ()),
    *[
        (value, None, ("confidence_out_of_range",))
        for value in (850, -1, 101, 100.4, -0.5, "850", "-1", "150%", 10**400, "12/10")
    ],
    *[(value, None, ("confidence_out_of_range",)) for value in (NumberText("1e999"), NumberText("-1e999"))],
    *[
        (value, None, ("confidence_unreadable",))
        for value in (
            "85-95",
            "85–95",
            "80 to 90",
            "high",
            "eighty-five",
            "85 or 90",
            "85,90",
            "1/0",
            "8/10/2",
            "very sure (90)",
            "0x55",
            "NaN",
        )
    ],
    *[
        (value, None, ("confidence_unreadable",))
        for value in (
            True,
            False,
            [85],
            {"value": 85},
            (85,),
            float("nan"),
            float("inf"),
            NumberText("NaN"),
            NumberText("Infinity"),
            b"85",
        )
    ],
]


@pytest.mark.parametrize(("value", "confidence", "flags"), TABLE, ids=lambda value: repr(value)[:40])
def test_PAR_13_confidence_table(value: object, confidence: int | None, flags: tuple[str, ...]) -> None:
    assert read_confidence(value) == (confidence, flags)
    assert type(read_confidence(value)[0]) in (int, type(None))


@pytest.mark.parametrize("integer", range(2, 101))
def test_PAR_13_every_integer_reads_as_itself(integer: int) -> None:
    for value in (
        integer,
        float(integer),
        str(integer),
        f"{integer}%",
        f"{integer}/100",
        f"~{integer}",
        NumberText(integer),
    ):
        assert read_confidence(value) == (integer, ())


def test_PAR_14_fractions_and_percentages() -> None:
    assert [read_confidence(value)[0] for value in (0.85, "0.85", 1, 1.0, 0.5)] == [85, 85, 1, 1, 50]


GUESS, ONE, PLAIN = ("scale_guess",), ("ambiguous_scale",), ()


def test_run_of_fractions_takes_one_as_hundred() -> None:
    values, note = run_scale([50, 60, 70, 80, 90, 1, 0, None], [GUESS] * 5 + [ONE, PLAIN, PLAIN])
    assert values == (50, 60, 70, 80, 90, 100, 0, None)
    assert "1 readings of 1" in note


def test_run_of_fractions_without_a_one_says_nothing() -> None:
    assert run_scale([50, 60, 70, 80, 90], [GUESS] * 5) == ((50, 60, 70, 80, 90), "")


def test_run_with_mixed_scales_drops_the_doubtful_rows() -> None:
    values, note = run_scale([50, 60, 70, 80, 90, 1, 85, 0], [GUESS] * 5 + [ONE, PLAIN, PLAIN])
    assert values == (None, None, None, None, None, None, 85, 0)
    assert "mixed" in note


def test_run_with_few_fractions_is_left_alone() -> None:
    values, note = run_scale([50, 60, 70, 80, 1, 85], [GUESS] * 4 + [ONE, PLAIN])
    assert values == (50, 60, 70, 80, 1, 85)
    assert note == ""


def test_run_scale_wants_one_set_of_flags_per_row() -> None:
    with pytest.raises(ValueError, match="2 confidences have 1 sets"):
        run_scale([1, 2], [ONE])
    assert run_scale([], []) == ((), "")
