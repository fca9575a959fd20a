"""Two confidences in the same answers, and numbers of items that changed sides."""

from __future__ import annotations

import math

import numpy as np
import pytest

from selfdiag.measure import resampling, sources
from selfdiag.measure.mcnemar import mcnemar
from selfdiag.measure.sources import compare_sources

FIRST = [0.9, 0.8, 0.6, 0.7]
SECOND = [0.7, 0.9, 0.8, 0.2]
CORRECT = [1, 1, 0, 0]


def drawn_answers(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    y = (rng.random(n) < 0.6).astype(np.int64)
    a = np.clip(0.5 + 0.15 * y + 0.2 * rng.standard_normal(n), 0, 1).round(2)
    b = np.clip(0.4 + 0.30 * y + 0.2 * rng.standard_normal(n), 0, 1).round(2)
    return a, b, y


def test_values_and_differences_are_those_of_a_hand_count() -> None:
    found = compare_sources(FIRST, SECOND, CORRECT, draws=50)
    # squares of .1 .2 .6 .7 and of .3 .1 .8 .2
    assert (found["brier"].first, found["brier"].second) == pytest.approx((0.225, 0.195))
    assert found["brier"].difference.value == pytest.approx(-0.03)
    # means .75 and .65 less a half
    assert (found["gap"].first, found["gap"].second) == pytest.approx((0.25, 0.15))
    assert found["gap"].difference.value == pytest.approx(-0.1)
    # every right answer is surer than every wrong one; then .7 is not surer than .8
    assert (found["auroc"].first, found["auroc"].second) == (1.0, 0.75)
    assert found["auroc"].difference.value == pytest.approx(-0.25)
    assert {one.difference.n for one in found.values()} == {4}
    assert found["brier"].difference.method == "percentile bootstrap, 50 draws of rows, paired, seed 20260101"


@pytest.mark.parametrize(("right", "wrong", "lacking"), [(4, 9, "right"), (9, 4, "wrong"), (3, 3, "right")])
def test_no_interval_of_the_auroc_below_five_of_a_class(right: int, wrong: int, lacking: str) -> None:
    y = [1] * right + [0] * wrong
    signal = np.linspace(0.1, 0.9, len(y))
    found = compare_sources(signal, signal[::-1] ** 2, y, draws=5)["auroc"]
    assert found.difference.ci is None
    assert found.difference.note == f"no interval: needs 5 {lacking} answers, has {min(right, wrong)}"
    assert found.p is None


def test_five_of_each_class_are_enough_for_an_interval() -> None:
    y = [1, 0] * 5
    found = compare_sources(np.linspace(0.1, 0.9, 10), [0.3, 0.4, 0.9, 0.1, 0.2, 0.8, 0.6, 0.5, 0.7, 0.2], y, draws=5)
    assert found["auroc"].difference.ci is not None
    assert found["auroc"].difference.method == "paired DeLong"


@pytest.mark.parametrize("size", [5, 7])
def test_signals_that_put_answers_in_the_same_order_have_no_interval(size: int) -> None:
    y = [1] * size + [0] * size
    signal = np.linspace(0.1, 0.9, 2 * size)
    found = compare_sources(signal, signal**2, y, draws=5)["auroc"]
    assert (found.difference.value, found.difference.ci, found.p) == (0.0, None, None)
    assert found.difference.note == "no interval"


def test_intervals_have_the_width_of_the_standard_error() -> None:
    a, b, y = drawn_answers()
    found = compare_sources(a, b, y, draws=4000)
    for name, rows in (("brier", (b - y) ** 2 - (a - y) ** 2), ("gap", b - a)):
        ci = found[name].difference.ci
        assert ci is not None
        error = rows.std(ddof=1) / math.sqrt(rows.size)
        assert (ci[1] - ci[0]) / 2 == pytest.approx(1.96 * error, rel=0.08)
        assert (ci[0] + ci[1]) / 2 == pytest.approx(rows.mean(), abs=0.2 * error)


def test_the_other_way_round_every_difference_changes_its_sign() -> None:
    a, b, y = drawn_answers()
    one, other = compare_sources(a, b, y, draws=300), compare_sources(b, a, y, draws=300)
    for name, contrast in one.items():
        low, high = contrast.difference.ci or (math.nan, math.nan)
        assert contrast.difference.value is not None
        assert other[name].difference.value == pytest.approx(-contrast.difference.value)
        assert other[name].difference.ci == pytest.approx((-high, -low))
        assert other[name].p == pytest.approx(contrast.p)
        assert (other[name].first, other[name].second) == (contrast.second, contrast.first)
    assert (one["auroc"].difference.value or 0) > 0.1  # b tells right from wrong better
    assert one["auroc"].p is not None and one["auroc"].p < 0.05


def test_rows_of_an_item_are_drawn_together() -> None:
    a, b, y = drawn_answers(50)
    alone = compare_sources(a, b, y, draws=200)
    twice = compare_sources(np.tile(a, 2), np.tile(b, 2), np.tile(y, 2), item=[*range(50)] * 2, draws=200)
    for name in ("brier", "gap"):
        assert twice[name].difference.value == pytest.approx(alone[name].difference.value)
        assert twice[name].difference.ci == pytest.approx(alone[name].difference.ci)
        assert twice[name].difference.n == 100
        assert "200 draws of items, paired" in twice[name].difference.method
    assert twice["auroc"].difference.value == pytest.approx(alone["auroc"].difference.value)
    assert twice["auroc"].difference.note == "no interval: items have several rows"
    named = compare_sources(a, b, y, item=[f"item {number:02}" for number in range(50)], draws=200)
    assert named == alone


def test_items_of_several_rows_weigh_by_their_rows() -> None:
    # a draw holds k times the first item and 2 - k times the second: (3 k .5 + (2 - k) .1) / (3 k + 2 - k)
    found = compare_sources([0, 0, 0, 0], [0.5, 0.5, 0.5, 0.1], [0, 0, 0, 0], item=[1, 1, 1, 2], draws=2000)["gap"]
    assert found.difference.value == pytest.approx(0.4)
    assert found.difference.ci == pytest.approx((0.1, 0.5))


def test_a_bootstrap_in_blocks_is_one_in_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = compare_sources(FIRST, SECOND, CORRECT, draws=50)
    asked: list[tuple[int, int]] = []
    drawing = resampling.item_weights

    def watched(items: int, draws: int, rng: np.random.Generator) -> np.ndarray:
        asked.append((items, draws))
        return drawing(items, draws, rng)

    monkeypatch.setattr(sources, "item_weights", watched)
    monkeypatch.setattr(sources, "_BLOCK", 4 * 20)
    assert compare_sources(FIRST, SECOND, CORRECT, draws=50) == whole
    assert asked == [(4, 20), (4, 20), (4, 10)]
    monkeypatch.setattr(sources, "_BLOCK", 3)  # more items than a block holds
    assert compare_sources(FIRST, SECOND, CORRECT, draws=50) == whole


def test_nothing_to_compare_says_so() -> None:
    found = compare_sources([], [], [], draws=20)
    for contrast in found.values():
        assert (contrast.first, contrast.second, contrast.p, contrast.difference.value) == (None,) * 4
        assert contrast.difference.note == "no data: no row has both"


@pytest.mark.parametrize(("y", "word"), [([1, 1], "right"), ([0, 0], "wrong")])
def test_one_class_has_no_auroc(y: list[int], word: str) -> None:
    found = compare_sources([0.2, 0.4], [0.3, 0.3], y, draws=20)["auroc"]
    assert found.difference.value is None
    assert found.difference.note == f"not defined: all answers were {word}"


@pytest.mark.parametrize("bad", [-0.01, 1.01, math.nan])
def test_a_confidence_out_of_range_is_refused(bad: float) -> None:
    for first, second in (([0.5, bad], [0.5, 0.5]), ([0.5, 0.5], [bad, 0.5])):
        with pytest.raises(ValueError, match="between 0 and 1"):
            compare_sources(first, second, [0, 1], draws=5)
    assert compare_sources([0, 1], [1, 0], [0, 1], draws=5)["gap"].difference.value == 0


@pytest.mark.parametrize(("first", "second", "y"), [([0.5], [0.5], [0, 1]), ([0.5], [0.5, 0.6], [0])])
def test_lengths_that_differ_are_refused(first: list[float], second: list[float], y: list[int]) -> None:
    with pytest.raises(ValueError, match="one value per answer"):
        compare_sources(first, second, y, draws=5)


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [
        (0, 0, 1.0),
        (0, 1, 1.0),
        (0, 5, 2 / 32),
        (5, 0, 2 / 32),
        (1, 3, 2 * (1 + 4) / 16),
        (2, 6, 2 * (1 + 8 + 28) / 256),
        (7, 7, 1.0),
        (14, 3, 2 * (1 + 17 + 136 + 680) / 2**17),
    ],
)
def test_mcnemar_is_twice_the_smaller_tail(gained: int, lost: int, p: float) -> None:
    assert mcnemar(gained, lost) == pytest.approx(p, rel=1e-12)
