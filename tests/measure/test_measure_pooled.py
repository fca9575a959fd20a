"""Several models in one table: ranks within each, and what is left of the pooled AUROC."""

from __future__ import annotations

import numpy as np
import pytest

from selfdiag.measure import pooled, resampling
from selfdiag.measure.counts import tabulate
from selfdiag.measure.discrimination import auroc, rank_normalised
from selfdiag.measure.pooled import pooled_auroc, rank_fractions

# two models that put their answers in the same order, the second less sure and less often right
SURE = [0.9, 0.8, 0.7, 0.4, 0.3, 0.2]
RIGHT = [1, 1, 0, 1, 0, 0]
MODEL = ["a", "a", "a", "b", "b", "b"]
ITEM = [1, 2, 3, 1, 2, 3]


def test_ranks_lie_within_the_model_and_ties_share_theirs() -> None:
    found = rank_fractions([0.5, 0.1, 0.5, 0.2, 0.9], ["a", "b", "a", "b", "a"])
    assert found == pytest.approx([1.5 / 3, 1 / 2, 1.5 / 3, 2 / 2, 3 / 3])


def test_pooled_and_ranked_are_those_of_a_hand_count() -> None:
    found = pooled_auroc(SURE, RIGHT, MODEL, ITEM, draws=100)
    # .9 and .8 beat all of .7 .3 .2, and .4 beats two
    assert found.auroc.value == pytest.approx(8 / 9)
    # ranks 3 2 1 in both: right 3 2 3 against wrong 1 2 1, where 2 ties once
    assert found.rank_normalised.value == pytest.approx(8.5 / 9)
    assert found.between_models.value == pytest.approx(-0.5 / 9)
    assert {one.n for one in (found.auroc, found.rank_normalised, found.between_models)} == {6}


def test_ranks_of_rows_are_those_of_tables() -> None:
    rng = np.random.default_rng(3)
    p, y, model = rng.integers(0, 11, 300) / 10, rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    tables = [tabulate(p[model == one], y[model == one]) for one in range(3)]
    # there, a rank is that of the middle of its answer: half a place lower, which changes no order within a model
    found = pooled_auroc(p, y, model, np.arange(300), draws=10).rank_normalised.value
    assert found == pytest.approx(float(auroc(rank_normalised(tables))), abs=0.005)


def test_one_model_owes_nothing_to_telling_models_apart() -> None:
    rng = np.random.default_rng(5)
    p, y = rng.integers(0, 101, 80) / 100, rng.integers(0, 2, 80)
    found = pooled_auroc(p, y, ["a"] * 80, np.arange(80), draws=100)
    assert found.between_models.value == 0
    assert found.between_models.ci is None
    assert found.between_models.method == ""
    assert found.between_models.note == "no interval: every draw gives the same value"
    assert found.auroc.ci == pytest.approx(found.rank_normalised.ci)


def test_models_that_differ_in_sureness_and_in_nothing_else_are_told_apart() -> None:
    rng = np.random.default_rng(6)
    # one model is right in nine of ten answers, the other in one of ten; neither knows which
    model = np.repeat([0, 1], 200)
    y = (rng.random(400) < np.where(model == 0, 0.9, 0.1)).astype(np.int64)
    p = (np.where(model == 0, 0.8, 0.2) + rng.integers(-9, 10, 400) / 100).round(2)
    found = pooled_auroc(p, y, model, np.tile(np.arange(200), 2), draws=400)
    assert found.auroc.value == pytest.approx(0.9, abs=0.05)
    low, high = found.rank_normalised.ci or (0, 0)
    assert low < 0.5 < high
    low, high = found.between_models.ci or (0, 0)
    assert found.between_models.value is not None
    assert 0.25 < low < found.between_models.value < high < 0.55
    assert found.between_models.method == "percentile bootstrap, 400 draws of items, paired, seed 20260101"


def test_rows_of_an_item_are_drawn_together() -> None:
    rng = np.random.default_rng(8)
    p, y = rng.integers(0, 101, 60) / 100, rng.integers(0, 2, 60)
    model = np.repeat([0, 1], 60)
    together = pooled_auroc(np.tile(p, 2), np.tile(y, 2), model, np.tile(np.arange(60), 2), draws=400).auroc.ci
    apart = pooled_auroc(np.tile(p, 2), np.tile(y, 2), model, np.arange(120), draws=400).auroc.ci
    assert together is not None and apart is not None
    # twice the same rows say no more than once: the interval is wider by the root of two
    assert (together[1] - together[0]) / (apart[1] - apart[0]) == pytest.approx(2**0.5, rel=0.15)


def test_many_items_are_drawn_alike_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    model = np.repeat([0, 1], 300)
    y = (rng.random(600) < np.where(model == 0, 0.8, 0.4)).astype(np.int64)
    p = (np.where(model == 0, 0.5, 0.4) + rng.integers(0, 3, 600) / 10).round(2)
    widths = []
    for many in (2_000, 100):
        monkeypatch.setattr(resampling, "MANY_ITEMS", many)
        found = pooled_auroc(p, y, model, np.tile(np.arange(300), 2), draws=1000).between_models
        assert found.ci is not None and "paired" in found.method
        widths.append(found.ci[1] - found.ci[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.15)


@pytest.mark.parametrize(("y", "why"), [([1, 1], "right"), ([0, 0], "wrong")])
def test_one_class_has_no_auroc(y: list[int], why: str) -> None:
    found = pooled_auroc([0.2, 0.4], y, ["a", "b"], [1, 2], draws=20)
    for one in (found.auroc, found.rank_normalised, found.between_models):
        assert (one.value, one.ci, one.n) == (None, None, 2)
        assert why in one.note


def test_very_many_items_have_values_and_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooled, "MOST_ITEMS", 3)
    assert pooled_auroc(SURE, RIGHT, MODEL, ITEM, draws=100).auroc.ci is not None
    monkeypatch.setattr(pooled, "MOST_ITEMS", 2)
    found = pooled_auroc(SURE, RIGHT, MODEL, ITEM, draws=100)
    values = (found.auroc.value, found.rank_normalised.value, found.between_models.value)
    assert values == pytest.approx((8 / 9, 8.5 / 9, -0.5 / 9))
    for one in (found.auroc, found.rank_normalised, found.between_models):
        assert (one.ci, one.n, one.note) == (None, 6, "no interval: 3 items")
