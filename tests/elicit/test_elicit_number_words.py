"""Words that multiply a number, and fractions in words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from selfdiag.elicit.names import SCALE_WORDS, SMALL_FRACTIONS
from selfdiag.elicit.numbers import read_number

HUNDRED, THOUSAND, MILLION, BILLION = 100, 1_000, 1_000_000, 1_000_000_000
SCALES = {
    HUNDRED: "hundred",
    THOUSAND: "thousand tausend mille mil",
    10_000: "万 만",
    MILLION: "million millions millionen millones milhões milioni миллион миллиона миллионов",
    100_000_000: "亿 億 억",
    BILLION: "billion billions milliarde milliarden milliard milliards",
    1_000_000_000_000: "trillion trillions",
}


def test_every_word_that_multiplies_is_listed_here() -> None:
    assert {word: scale for scale, words in SCALES.items() for word in words.split()} == SCALE_WORDS


@pytest.mark.parametrize("word", [word for words in SCALES.values() for word in words.split()])
def test_a_word_multiplies_the_number_before_it(word: str) -> None:
    scale = next(scale for scale, words in SCALES.items() if word in words.split())
    found = read_number(f"3 {word}")
    assert found is not None
    assert found.value == 3 * scale


FRACTIONS = [
    ("half", Fraction(1, 2)),
    ("one half", Fraction(1, 2)),
    ("two halves", Fraction(1)),
    ("a third", Fraction(1, 3)),
    ("two thirds", Fraction(2, 3)),
    ("three quarters", Fraction(3, 4)),
    ("a fourth", Fraction(1, 4)),
    ("one fifth", Fraction(1, 5)),
    ("five sixths", Fraction(5, 6)),
    ("six sevenths", Fraction(6, 7)),
    ("seven eighths", Fraction(7, 8)),
    ("an eighth", Fraction(1, 8)),
    ("eight ninths", Fraction(8, 9)),
    ("nine tenths", Fraction(9, 10)),
    ("ten elevenths", Fraction(10, 11)),
    ("eleven twelfths", Fraction(11, 12)),
    ("three hundredths", Fraction(3, 100)),
    ("a thousandth", Fraction(1, 1000)),
    ("die hälfte", Fraction(1, 2)),
    ("ein drittel", Fraction(1, 3)),
    ("zwei drittel", Fraction(2, 3)),
    ("ein viertel", Fraction(1, 4)),
    ("trois quarts", Fraction(3, 4)),
    ("cero", Fraction(0)),
    ("a dozen", Fraction(12)),
    ("a hundred", Fraction(100)),
    ("a thousand", Fraction(1_000)),
    ("a million", Fraction(1_000_000)),
]


@pytest.mark.parametrize(("words", "value"), FRACTIONS)
def test_a_fraction_in_words(words: str, value: Fraction) -> None:
    assert SMALL_FRACTIONS[words] == value
    found = read_number(words)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    ("text", "value", "percent"),
    [
        ("5 percent", 5, True),
        ("5%", 5, True),
        ("5 % of them", 5, True),
        ("5 Prozent", 5, True),
        ("5 percentage points", 5, False),
        ("minus five", -5, False),
        ("twenty-one", 21, False),
        ("three and a half", Fraction(7, 2), False),
        ("two point five", Fraction(5, 2), False),
        ("zero point two five", Fraction(1, 4), False),
    ],
)
def test_words_around_a_number(text: str, value: Fraction | int, percent: bool) -> None:
    found = read_number(text)
    assert found is not None
    assert (found.value, found.percent) == (value, percent)


@pytest.mark.parametrize("text", ["two and counting", "twenty one and more", "three and a quarterback"])
def test_a_number_in_words_and_something_else_is_none(text: str) -> None:
    assert read_number(text) is None
