"""Words around a number that bound or deny it, and words like them that do not."""

from __future__ import annotations

import time

import pytest
from elicit_probes import outcome, probe, right

from selfdiag.elicit.bounds import REACH, bounded, bounded_after, bounded_before
from selfdiag.elicit.grading import grade
from selfdiag.elicit.reading import Reading


@pytest.mark.parametrize(
    "before",
    [
        *("at least ", "At most: ", "up to about ", "under ", "just over $", "max. ", "less than or equal to "),
        *(
            "not ",
            "isn't ",
            "cannot be exactly ",
            "anything but ",
            "I don't think the answer is ",
            "≥ ",
            "x ≠ ",
            "post-",
            "<",
        ),
        *("höchstens ", "ho\u0308chstens ", "au plus ", "por lo menos ", "no máximo ", "al massimo ", "не ", "至少"),
    ],
)
def test_words_before_a_number_bound_it(before: str) -> None:
    assert bounded_before(before)
    assert bounded(before, "")


@pytest.mark.parametrize(
    "before",
    [
        *(
            "",
            "about ",
            "exactly ",
            "the answer is ",
            "the maximum is ",
            "Minimum: ",
            "Above all: ",
            "moreover ",
            "another ",
        ),
        *(
            "no doubt ",
            "not even, so ",
            "the number that is not prime is ",
            "no more, no less: ",
            "knot ",
            "pup to ",
            "x = ",
        ),
    ],
)
def test_other_words_before_a_number_do_not(before: str) -> None:
    assert not bounded(before, "")


@pytest.mark.parametrize(
    "after",
    [
        *(
            "or more",
            "(or fewer)",
            "and up",
            "km or more",
            "square metres at most",
            ", at least.",
            "max",
            "plus",
            "≤ x",
        ),
        *(
            "is wrong",
            ", which is wrong",
            "(wrong)",
            "km is too low",
            "isn't the answer",
            "cannot be",
            "oder mehr",
            "ou plus",
            "以上",
        ),
    ],
)
def test_words_after_a_number_bound_it(after: str) -> None:
    assert bounded_after(after)
    assert bounded("", after)


@pytest.mark.parametrize(
    "after",
    [
        *(
            "",
            "km",
            "or so",
            ", more or less",
            "is the maximum",
            "(at least that is what I get)",
            "at most three times",
        ),
        *(
            ", everything else is wrong",
            "and later it grew",
            ", or more precisely five",
            "is right",
            "unless I am wrong",
            "(plus rounding)",
        ),
    ],
)
def test_other_words_after_a_number_do_not(after: str) -> None:
    assert not bounded("", after)


def test_an_order_in_time_needs_something_after_it() -> None:
    assert bounded("after ", ".")
    assert not bounded("after ", "days")


def test_words_far_away_do_not_count() -> None:
    assert bounded_before("at least" + " " + "about ")
    assert not bounded_before("at least" + " " * REACH)
    assert not bounded_after(" " * REACH + "or more")


@pytest.mark.parametrize(
    "answer", ["about {}", "{} or so", "exactly {}", "The answer is {}.", "{} because less is impossible", "~{}"]
)
@pytest.mark.parametrize("number", ["5", "-5", "0", "1990", "2.5", "3/4"])
def test_a_plain_statement_counts_whatever_its_number(answer: str, number: str) -> None:
    assert right("number", number, answer.format(number))


@pytest.mark.parametrize(
    "answer", ["at least {}", "{} or more", "not {}", "nearly {}", "{} is wrong", ">= {}", "!= {}"]
)
@pytest.mark.parametrize("number", ["5", "-5", "0", "1990", "2.5", "3/4", "1,234", "$5", "50%", "1.5e3"])
def test_a_bound_never_counts_whatever_its_number(answer: str, number: str) -> None:
    assert not right("number", number.lstrip("$"), answer.format(number))


def test_a_date_that_is_left_open_is_no_date_even_if_it_folds_to_the_key() -> None:
    assert not right("date", "1990", "1990-")
    assert right("date", "1990", "Year of the Horse", aliases=("year of the horse",))


def test_repeated_bounds_are_graded_at_once() -> None:
    item = probe("number", "5")
    answers = [
        (part * 1_000_000)[:length] for part in ("not it is ", "5 or maybe even ", "(5 at ") for length in (400, 10**6)
    ]
    begin = time.process_time()
    for answer in answers:
        assert grade(item, Reading(answer=answer, parse="strict")).outcome in ("correct", "incorrect")
    # about a hundredth of a second
    assert time.process_time() - begin < 2


def test_an_empty_box_is_no_fault() -> None:
    assert outcome(probe("number", "5"), "7\\boxed{}") == "incorrect"
