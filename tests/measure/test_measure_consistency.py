"""Whether rows of one item agree."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfdiag.measure.consistency import ONCE, Consistency, consistency
from selfdiag.measure.resampling import wilson

NAN = math.nan
Row = tuple[int, int, int, float]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.integers(-1, 3),
        st.sampled_from([1, 0, -1]),
        st.one_of(st.just(NAN), st.integers(0, 10).map(lambda c: c / 10)),
    ),
    max_size=25,
)


def of(rows: list[Row], draws: int = 200) -> Consistency:
    item, answer, correct, confidence = ([row[k] for row in rows] for k in range(4))
    return consistency(item, answer, correct, confidence, draws=draws)


#  item, answer, correct, confidence
BY_HAND: list[Row] = [
    (0, 1, 1, 0.8),
    (1, 2, 1, 0.5),
    (0, 1, 1, 0.6),
    (2, 4, 1, 0.9),  # asked once
    (1, 3, 0, 0.9),
    (3, -1, -1, NAN),
    (3, -1, -1, 0.4),
    (4, 5, 0, 0.7),
    (4, -1, -1, NAN),
]


def test_by_hand() -> None:
    made = of(BY_HAND)
    assert (made.items, made.rows) == (4, 8)
    assert (made.same_outcome.value, made.same_outcome.n) == (0.5, 4)
    assert made.same_outcome.ci == wilson(2, 4)
    assert (made.same_answer.value, made.same_answer.n) == (pytest.approx(1 / 3), 3)
    assert (made.flips.value, made.flips.n) == (0.5, 2)
    assert made.confidence_sd.value == pytest.approx((0.2 + 0.4) / math.sqrt(2) / 2)
    assert made.confidence_range.value == pytest.approx(0.3)
    assert made.confidence_sd.n == made.confidence_range.n == 2
    # Both items have the mean .7: nothing lies between them.
    assert made.between_items.value == 0


def test_share_of_variance_between_items_by_hand() -> None:
    made = of([(0, 1, 1, 0.0), (0, 1, 1, 2.0), (1, 1, 1, 10.0), (1, 1, 1, 12.0)])
    # Mean squares: 100 between, 2 within.
    assert made.between_items.value == pytest.approx((100 - 2) / (100 + 2))


def test_share_of_variance_between_items_is_recovered() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 5, 1500)
    item = np.repeat(np.arange(1500), sizes)
    confidence = rng.normal(0, 3, 1500)[item] + rng.normal(0, 2, item.size)
    made = consistency(item, item, np.ones(item.size), confidence, draws=200)
    assert made.between_items.value == pytest.approx(9 / 13, abs=0.04)
    assert made.between_items.ci is not None
    assert made.between_items.ci[0] < made.between_items.value < made.between_items.ci[1]


def test_exact_repeats_are_wholly_consistent() -> None:
    made = of([row for row in BY_HAND[:2] for _ in range(3)])
    assert made.same_outcome.value == made.same_answer.value == 1
    assert made.flips.value == made.confidence_sd.value == made.confidence_range.value == 0
    assert made.between_items.value == pytest.approx(1)


def test_a_constant_confidence_has_no_variance_to_share() -> None:
    made = of([(item, 1, 1, 0.1) for item in range(3) for _ in range(3)])
    assert made.between_items.value is None and made.between_items.note == "not defined: confidence constant"
    assert made.confidence_sd.value == 0


def test_one_item_alone() -> None:
    made = of([(7, 1, 1, 0.5), (7, 1, 1, 0.7)])
    assert made.items == 1 and made.same_answer.value == 1
    assert made.between_items.note == "not defined: only one item has two stated confidences"
    assert made.confidence_sd.ci is None


@pytest.mark.parametrize("rows", [[], [(0, 1, 1, 0.5)], [(0, 1, 1, 0.5), (1, 1, 1, 0.5)]])
def test_no_item_was_asked_twice(rows: list[Row]) -> None:
    made = of(rows)
    assert (made.items, made.rows) == (0, 0)
    for part in (made.same_outcome, made.same_answer, made.flips, made.confidence_sd, made.between_items):
        assert part.value is None and part.note == ONCE


def test_what_is_missing_is_said() -> None:
    made = of([(0, -1, -1, NAN), (0, -1, -1, 0.5)])
    assert made.same_outcome.value == 1
    assert made.same_answer.note == "no data: no item asked twice was answered"
    assert made.flips.note == "no data: no item was graded twice"
    assert made.confidence_range.note == "no data: no item has two stated confidences"


def test_columns_of_different_length() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        consistency([0, 0], [1, 1], [1], [0.5, 0.5])


@given(ROWS)
def test_against_a_direct_count(rows: list[Row]) -> None:
    made = of(rows, draws=50)
    groups = [[row for row in rows if row[0] == item] for item in {row[0] for row in rows}]
    groups = [group for group in groups if len(group) >= 2]

    def share(flags: list[bool]) -> float | None:
        return sum(flags) / len(flags) if flags else None

    assert made.items == len(groups) and made.rows == sum(map(len, groups))
    assert made.same_outcome.value == share([all(a[2] == b[2] for a, b in pairwise(group)) for group in groups])
    answered = [group for group in groups if any(row[1] >= 0 for row in group)]
    assert made.same_answer.value == share([len({row[1] for row in group}) == 1 for group in answered])
    graded = [[row[2] for row in group if row[2] >= 0] for group in groups]
    assert made.flips.value == share([len(set(grades)) == 2 for grades in graded if len(grades) >= 2])
    stated = [[row[3] for row in group if row[3] == row[3]] for group in groups]
    stated = [values for values in stated if len(values) >= 2]
    if stated:
        assert made.confidence_sd.value == pytest.approx(np.mean([np.std(v, ddof=1) for v in stated]))
        assert made.confidence_range.value == pytest.approx(np.mean([max(v) - min(v) for v in stated]))
    else:
        assert made.confidence_sd.value is None and made.confidence_range.value is None
    if made.between_items.value is not None:
        assert 0 <= made.between_items.value <= 1 + 1e-9


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[Row], random) -> None:  # type: ignore[no-untyped-def]
    mixed = rows.copy()
    random.shuffle(mixed)
    first, second = of(rows, draws=20), of(mixed, draws=20)
    for name in ("same_outcome", "same_answer", "flips", "confidence_sd", "confidence_range", "between_items"):
        assert getattr(first, name).value == pytest.approx(getattr(second, name).value, nan_ok=False)
