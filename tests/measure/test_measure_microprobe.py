"""Verdicts of the microprobe on one item and on a set, and the dose-response line."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from selfdiag.measure.microprobe import (
    ItemVerdict,
    dose_response,
    item_verdict,
    paraphrase_noise,
    set_verdict,
)

CLAIMS = [0, 5, 25, 50, 75, 95, 100]
CONFIDENCE = st.one_of(st.none(), st.integers(0, 100).map(float))
SHIFT = st.one_of(st.none(), st.integers(-100, 100).map(float))


def moved_by(*shifts: float, unlabelled: float | None = None) -> list[ItemVerdict]:
    """Items at 40 under the low claim, far from every end."""
    return [item_verdict(40, 40 + shift, unlabelled=unlabelled) for shift in shifts]


# One item.


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(50, 95, "movable"), (80, 95, "movable"), (90, 100, "movable"), (90, 95, "movable"), (100, 100, "pinned")],
    ids=["glm4:9b", "llama3.2:3b", "mistral:7b", "phi4-mini", "qwen3:8b"],
)
def test_published_microprobes(low: float, high: float, verdict: str) -> None:
    made = item_verdict(low, high)
    assert made.verdict == verdict and made.shift == high - low
    assert made.direction == ("with" if verdict == "movable" else None)
    assert made.mechanism is None


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (40, 45, "movable"),
        (40, 44, "unmoved"),
        (45, 40, "movable"),
        (44, 40, "unmoved"),
        (0, 4, "pinned"),
        (5, 5, "pinned"),
        (2, 6, "unmoved"),
        (95, 96, "pinned"),
        (94, 95, "unmoved"),
        (0, 100, "movable"),
        (0, 5, "movable"),
    ],
)
def test_edges(low: float, high: float, verdict: str) -> None:
    assert item_verdict(low, high).verdict == verdict


def test_pinned_to_the_shown_example() -> None:
    assert item_verdict(83, 86).verdict == "unmoved"
    assert item_verdict(83, 86, example=85).verdict == "pinned"
    assert item_verdict(80, 79, example=85).verdict == "unmoved"
    # Each is near an end, not near the same one.
    assert item_verdict(4, 7, example=12).verdict == "unmoved"


def test_noise_raises_the_bar_of_moving() -> None:
    assert item_verdict(50, 64, noise=10).verdict == "unmoved"
    assert item_verdict(50, 65, noise=10).verdict == "movable"
    # Far apart is not pinned, however noisy.
    assert item_verdict(95, 100, noise=10).verdict == "unmoved"


@pytest.mark.parametrize(
    ("low", "high", "off_topic", "mechanism"),
    [
        (50, 90, 0, "profile"),
        (50, 90, 20, "profile"),
        (50, 90, 21, "number"),
        (50, 90, -40, "profile"),
        (50, 90, None, None),
        (90, 50, -20, "profile"),
        (90, 50, -21, "number"),
        (90, 50, 40, "profile"),
        (50, 52, 40, None),
    ],
)
def test_mechanism(low: float, high: float, off_topic: float | None, mechanism: str | None) -> None:
    assert item_verdict(low, high, off_topic=off_topic).mechanism == mechanism


def test_direction() -> None:
    assert item_verdict(50, 90).direction == "with"
    assert item_verdict(90, 50).direction == "against"
    assert item_verdict(50, 52).direction is None


def test_unassociated_comes_before_movable() -> None:
    made = item_verdict(50, 90, unlabelled=4, off_topic=30)
    assert (made.verdict, made.mechanism, made.direction) == ("unassociated", "number", "with")
    assert item_verdict(50, 90, unlabelled=-4).verdict == "unassociated"
    assert item_verdict(50, 90, unlabelled=5).verdict == "movable"
    assert item_verdict(50, 90, unlabelled=-5).verdict == "movable"
    assert item_verdict(50, 90).verdict == "movable"
    # Nothing that does not move with the label can lack the association.
    assert item_verdict(50, 52, unlabelled=0).verdict == "unmoved"
    assert item_verdict(100, 100, unlabelled=0).verdict == "pinned"


@pytest.mark.parametrize(
    ("low", "high", "low_abstained", "high_answered", "verdict"),
    [
        (None, 90, False, True, "no reading"),
        (90, None, False, True, "no reading"),
        (None, None, False, True, "no reading"),
        (None, 90, True, True, "induced abstention"),
        (100, 100, True, True, "induced abstention"),
        (None, None, True, True, "induced abstention"),
        (100, 100, True, False, "no reading"),
        (50, 90, False, False, "no reading"),
    ],
)
def test_no_reading(
    low: float | None, high: float | None, low_abstained: bool, high_answered: bool, verdict: str
) -> None:
    made = item_verdict(low, high, low_abstained=low_abstained, high_answered=high_answered, off_topic=0, unlabelled=0)
    assert made.verdict == verdict
    assert made.shift is None and made.mechanism is None and made.direction is None


@given(CONFIDENCE, CONFIDENCE, st.booleans(), st.booleans(), st.integers(0, 30), SHIFT, SHIFT, CONFIDENCE)
def test_every_reading_has_one_verdict(
    low: float | None,
    high: float | None,
    low_abstained: bool,
    high_answered: bool,
    noise: int,
    off_topic: float | None,
    unlabelled: float | None,
    example: float | None,
) -> None:
    made = item_verdict(
        low,
        high,
        low_abstained=low_abstained,
        high_answered=high_answered,
        noise=noise,
        off_topic=off_topic,
        unlabelled=unlabelled,
        example=example,
    )
    d = None if low is None or high is None or low_abstained or not high_answered else high - low
    assert made.shift == d
    moves = d is not None and abs(d) >= max(5, noise + 5)
    assert (made.verdict in {"movable", "unassociated"}) == moves
    assert (made.direction is not None) == moves
    assert (made.mechanism is not None) == (moves and off_topic is not None)
    assert (made.verdict in {"no reading", "induced abstention"}) == (d is None)
    if made.verdict == "pinned":
        assert d is not None and abs(d) < 5


def test_noise_is_the_widest_claim() -> None:
    assert paraphrase_noise([[50, 60, 55], [90, 95]]) == 10
    assert paraphrase_noise([[50], [90]]) == 0
    assert paraphrase_noise([[], [90, 92]]) == 2
    assert paraphrase_noise([]) == 0


# A set.


def test_a_set_that_moves() -> None:
    made = set_verdict(moved_by(*[20, 30] * 10))
    assert made.verdict == "movable" and (made.n, made.items) == (20, 20)
    assert made.shift.value == 25 and made.shift.n == 20
    assert made.shift.ci is not None and made.shift_90 is not None
    assert made.shift.ci[0] <= made.shift_90[0] < 25 < made.shift_90[1] <= made.shift.ci[1]
    assert made.shift.ci != made.shift_90
    assert made.moved.value == 1 and made.shares == {"movable": 1.0}


def test_a_quarter_that_moves_far_is_enough() -> None:
    quarter = set_verdict(moved_by(*[10] * 4, *[0] * 12))
    assert quarter.verdict == "movable" and quarter.shift.value == 2.5 and quarter.moved.value == 0.25
    # The 90 % interval lies within 5 of 0 as well: movable comes first.
    assert quarter.shift_90 is not None and quarter.shift_90[1] < 5
    less = set_verdict(moved_by(*[10] * 4, *[0] * 13))
    assert less.verdict == "unmoved"


def test_moving_to_both_sides_is_not_following_the_claim() -> None:
    assert set_verdict(moved_by(*[10, -10] * 2, *[0] * 12)).verdict == "unmoved"
    assert set_verdict(moved_by(*[60, -60] * 8)).verdict == "inconclusive, n too small"


def test_a_set_that_is_pinned() -> None:
    ends = [item_verdict(100, 100)] * 13
    made = set_verdict([*ends, *moved_by(1, 2, -3)])
    assert made.verdict == "pinned" and made.pinned.value == 13 / 16
    # Twelve of sixteen are fewer than four in five.
    assert set_verdict([*ends[:12], *moved_by(1, 2, -3, 0)]).verdict == "unmoved"
    # A few items that move very far come first.
    assert set_verdict([*ends, *ends[:3], *moved_by(*[60] * 4)]).verdict == "movable"


def test_a_set_without_any_spread() -> None:
    assert set_verdict([item_verdict(100, 100)] * 16).verdict == "pinned"
    assert set_verdict(moved_by(*[0] * 16)).verdict == "unmoved"
    assert set_verdict(moved_by(*[5] * 16)).verdict == "movable"
    made = set_verdict(moved_by(*[5] * 16))
    assert made.shift.ci is None and made.shift_90 == (5, 5)


def test_a_set_that_needs_the_label() -> None:
    shifts = [20, 30] * 8
    assert set_verdict(moved_by(*shifts, unlabelled=1)).verdict == "unassociated"
    assert set_verdict(moved_by(*shifts, unlabelled=9)).verdict == "movable"
    assert set_verdict(moved_by(*shifts)).verdict == "movable"
    # Too few were asked without the label to say that they do not move.
    few = [*moved_by(*shifts[:15], unlabelled=1), *moved_by(20)]
    assert set_verdict(few).verdict == "movable"
    # What does not move with the label is unmoved, whatever it does without.
    assert set_verdict(moved_by(*[0, 1] * 8, unlabelled=1)).verdict == "unmoved"


def test_wide_shifts_are_inconclusive() -> None:
    made = set_verdict(moved_by(*[30, -25, 5, -10] * 4))
    assert made.verdict == "inconclusive, n too small"
    assert made.shift.value == 0


def test_too_few_items() -> None:
    made = set_verdict([*moved_by(*[30] * 15), item_verdict(None, 90)])
    assert made.verdict == "inconclusive, n too small" and made.shift.value == 30
    assert made.note == "15 with a reading, a verdict needs 16; items without a reading left out: 1"
    assert made.shares == {"movable": 15 / 16, "no reading": 1 / 16}


def test_confidence_against_the_claim_is_said() -> None:
    made = set_verdict(moved_by(*[-20, -30] * 8))
    assert made.verdict == "inconclusive, n too small" and made.note == "confidence moves against the claim"


def test_a_missing_unlabelled_shift_says_why() -> None:
    assert set_verdict(moved_by(1)).unlabelled.note == "no data: not asked without the topic"
    asked = set_verdict(moved_by(1), no_unlabelled="no item has a reading there")
    assert asked.unlabelled.note == "no data: no item has a reading there"


def test_an_empty_set() -> None:
    for items in ([], [item_verdict(None, None)]):
        made = set_verdict(items)
        assert made.verdict == "inconclusive, n too small"
        assert made.shift.value is None and made.shift_90 is None and made.moved.value is None


@given(st.lists(st.integers(-40, 60), min_size=16, max_size=30))
def test_set_verdicts_follow_their_intervals(shifts: list[int]) -> None:
    made = set_verdict(moved_by(*shifts), draws=300)
    assert made.shift.value == pytest.approx(np.mean(shifts))
    interval = made.shift.ci or made.shift_90
    if made.verdict == "movable":
        assert interval is not None and interval[0] > 0
    if made.verdict == "unmoved":
        assert made.shift_90 is not None and made.shift_90[0] > -5 and made.shift_90[1] < 5
    assert made.verdict in {"movable", "unmoved", "inconclusive, n too small"}
    assert sum(made.shares.values()) == pytest.approx(1)


# Dose and response.


def test_dose_response_is_least_squares() -> None:
    confidence = [30, 35, 40, 60, 70, 95, 90]
    made = dose_response(CLAIMS, confidence)
    assert made.slope.value == pytest.approx(stats.linregress(CLAIMS, confidence).slope)
    assert made.spearman.value == pytest.approx(stats.spearmanr(CLAIMS, confidence).statistic)
    assert made.slope.n == 1 and made.slope.ci is None


def test_repeating_the_claim_and_ignoring_it() -> None:
    echo = dose_response(CLAIMS, CLAIMS)
    assert (echo.slope.value, echo.spearman.value) == (pytest.approx(1), pytest.approx(1))
    flat = dose_response(CLAIMS, [80] * 7)
    assert flat.slope.value == 0 and flat.spearman.value is None
    assert flat.spearman.note == "not defined: confidence is the same under every claim"


def test_items_are_averaged() -> None:
    claims = np.array(CLAIMS, dtype=float)
    confidence = np.array([claims, 50 + 0.2 * claims, np.full(7, 80.0), [math.nan] * 5 + [80, 90]])
    made = dose_response(claims, confidence)
    assert made.slope.value == pytest.approx(0.4) and made.slope.n == 3 and made.slope.ci is not None
    assert made.spearman.value == pytest.approx(1) and made.spearman.n == 2


def test_missing_doses() -> None:
    gaps = [30, math.nan, 40, math.nan, 70, math.nan, 90]
    made = dose_response(CLAIMS, gaps)
    assert made.slope.value == pytest.approx(stats.linregress([0, 25, 75, 100], [30, 40, 70, 90]).slope)
    few = dose_response(CLAIMS, [30, math.nan, math.nan, math.nan, math.nan, math.nan, 90])
    assert few.slope.value is None and few.slope.note.startswith("not defined: no item has 3 readings")
    assert few.spearman.note == few.slope.note
    assert dose_response([50, 50, 50], [1, 2, 3]).slope.value is None
    with pytest.raises(ValueError, match="one confidence for each claim"):
        dose_response(CLAIMS, [1, 2])


def test_no_item_has_no_dose_response() -> None:
    for none in ([], np.empty((0, 7))):
        made = dose_response(CLAIMS, none)
        assert made.slope.value is None and made.slope.note.startswith("not defined: no item has 3 readings")
    with pytest.raises(ValueError, match="one confidence for each claim"):
        dose_response(CLAIMS, np.empty((2, 0)))
