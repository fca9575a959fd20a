"""The bootstrap, its intervals and its p-values."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from selfdiag.measure import calibration, discrimination, resampling
from selfdiag.measure.contrast import paired_contrast
from selfdiag.measure.counts import Counts, Floats, accuracy, ratio, tabulate
from selfdiag.measure.multinomial import multinomial_draws
from selfdiag.measure.resampling import (
    Jackknife,
    bca_interval,
    bootstrap_p,
    clustered_draws,
    item_weights,
    percentile_interval,
    quantiles,
    resample_counts,
    resample_item_counts,
)
from selfdiag.measure.sample import Sample
from selfdiag.measure.tally import Tally, leave_one_out, resample, tally_rows


def answers(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 21, n) / 20
    return p, rng.random(n) < 0.2 + 0.6 * p


@pytest.mark.parametrize("n", [40, 2000], ids=["by rows", "by cells"])
@pytest.mark.parametrize("measure", [accuracy, calibration.brier, calibration.ece, discrimination.auroc])
def test_counts_and_rows_bootstrap_alike(n: int, measure: Callable[[Counts], Floats]) -> None:
    p, y = answers(n)
    from_counts = measure(resample_counts(tabulate(p, y), draws=3000, seed=1))
    rng = np.random.default_rng(2)
    picks = rng.integers(n, size=(500, n))
    from_rows = np.array([float(measure(tabulate(p[pick], y[pick]))) for pick in picks])
    assert stats.ks_2samp(from_counts, from_rows).pvalue > 1e-3
    assert from_counts.std() == pytest.approx(from_rows.std(), rel=0.15)


def test_every_draw_keeps_the_number_of_rows_and_leaves_empty_cells_empty() -> None:
    rng = np.random.default_rng(0)
    for cells in (
        np.array([3, 0, 5]),
        np.array([300, 0, 500]),
        np.array([0, 0]),
        np.array([], dtype=np.int64),
    ):
        drawn = multinomial_draws(cells, 50, rng)
        assert drawn.shape == (50, cells.size)
        assert (drawn.sum(axis=1) == cells.sum()).all()
        assert not drawn[:, cells == 0].any()


@pytest.mark.parametrize(
    "cells",
    [[1, 2, 1], [3, 1], [5, 9, 2], [40, 25], [90, 60, 50]],
    ids=["by rows", "two cells", "poisson", "poisson, two cells", "cell by cell"],
)
def test_draws_are_multinomial(cells: list[int]) -> None:
    held, draws = np.array(cells), 60_000
    drawn = multinomial_draws(held, draws, np.random.default_rng(1))
    n = int(held.sum())
    for cell, rows in enumerate(cells):
        _fits(np.bincount(drawn[:, cell], minlength=n + 1), stats.binom.pmf(np.arange(n + 1), n, rows / n))
    # given the first cell, the second is binomial among the rest
    left = n - int(np.median(drawn[:, 0]))
    second = drawn[drawn[:, 0] == n - left, 1]
    chance = cells[1] / (n - cells[0])
    _fits(np.bincount(second, minlength=left + 1), stats.binom.pmf(np.arange(left + 1), left, chance))


def _fits(seen: np.ndarray, chance: np.ndarray) -> None:
    """Fail when counts do not come from a distribution, values expected fewer than 10 times taken together."""
    expected = chance * seen.sum()
    common = expected >= 10
    pairs = [(seen[common], expected[common]), ([seen[~common].sum()], [expected[~common].sum()])]
    observed, awaited = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
    kept = awaited > 1e-6
    assert not observed[~kept].any()
    if kept.sum() > 1:
        assert stats.chisquare(observed[kept], awaited[kept], sum_check=False).pvalue > 1e-4


def test_a_very_common_cell_is_drawn_like_any_other() -> None:
    cells = np.array([5000, *(1 + np.arange(199) % 20)])
    drawn = multinomial_draws(cells, 3000, np.random.default_rng(3))
    n = int(cells.sum())
    assert (drawn.sum(axis=1) == n).all()
    spread = np.sqrt(cells * (1 - cells / n))
    assert np.abs((drawn.mean(axis=0) - cells) / spread).max() < 4.5 / math.sqrt(3000)
    assert (drawn.std(axis=0) / spread) == pytest.approx(np.ones(200), abs=0.06)


def test_a_seed_fixes_the_draws() -> None:
    counts = tabulate(*answers(60))
    first, again, other = (resample_counts(counts, 20, seed).right for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_item_weights_are_a_resample_of_items() -> None:
    weights = item_weights(30, 4000, np.random.default_rng(0))
    assert (weights.sum(axis=1) == 30).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(30), abs=0.1)
    assert weights.var() == pytest.approx(1 - 1 / 30, abs=0.05)


def test_copies_of_an_item_add_no_evidence() -> None:
    p, y = answers(50)
    once = Counts(np.unique(p), *_one_row_per_item(p, y))
    thrice = Counts(once.levels, 3 * once.right, 3 * once.wrong)
    spread = accuracy(resample_item_counts(thrice, 4000)).std()
    assert spread == pytest.approx(math.sqrt(y.mean() * (1 - y.mean()) / 50), rel=0.06)
    assert accuracy(resample_item_counts(once, 4000)).std() == pytest.approx(spread, rel=0.06)


def _one_row_per_item(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    column = np.searchsorted(np.unique(p), p)
    right, wrong = np.zeros((2, p.size, np.unique(p).size), dtype=np.int64)
    right[np.arange(p.size), column] = y
    wrong[np.arange(p.size), column] = ~y
    return right, wrong


def test_clustered_draws_in_blocks_keep_all_draws() -> None:
    cells = np.ones((3000, 2), dtype=np.int64)
    drawn = clustered_draws(cells, 3000, np.random.default_rng(0))
    assert drawn.shape == (3000, 2)
    assert (drawn == 3000).all()


def test_percentile_interval_counts_undefined_draws() -> None:
    draws = np.arange(1000) / 1000
    whole = percentile_interval(draws)
    assert whole.ci == pytest.approx((0.024975, 0.974025), abs=1e-9)
    assert whole.note == ""
    draws[:50] = np.nan
    some = percentile_interval(draws)
    assert some.ci is not None
    assert some.note == "undefined in 50 of 1000 draws"
    draws[:200] = np.nan
    many = percentile_interval(draws)
    assert many.ci is None
    assert "undefined in 200 of 1000 draws" in many.note
    assert percentile_interval(np.ones(100)).note == "no interval: every draw gives the same value"
    assert percentile_interval(np.empty(0)).ci is None


def test_quantiles_are_linear() -> None:
    values = np.random.default_rng(0).random(33)
    assert quantiles(values, [0.1, 0.5]) == pytest.approx(np.quantile(values, [0.1, 0.5]))
    assert np.isnan(quantiles(np.empty(0), 0.5))


def test_bca_agrees_with_scipy_on_a_skewed_mean() -> None:
    sample = np.round(np.random.default_rng(4).exponential(1, 40), 1)
    reference = stats.bootstrap((sample,), np.mean, method="BCa", n_resamples=20_000, rng=1).confidence_interval
    values, times = np.unique(sample, return_counts=True)
    drawn = multinomial_draws(times, 20_000, np.random.default_rng(2)) @ values / 40
    left_out = Jackknife(
        values=(sample.sum() - values) / 39, multiplicity=times, stratum=np.zeros(values.size, dtype=np.int64)
    )
    made = bca_interval(float(sample.mean()), drawn, left_out)
    assert made.method == "BCa bootstrap"
    assert made.ci == pytest.approx((reference.low, reference.high), abs=0.02)
    plain = percentile_interval(drawn).ci
    assert plain is not None
    assert made.ci is not None
    assert made.ci[1] > plain[1] + 0.01


def test_draws_without_a_value_are_counted_whatever_becomes_of_the_interval() -> None:
    assert percentile_interval(np.arange(10) / 10).undefined == ""
    for draws in ([0.5] * 19 + [np.nan], [*np.arange(19) / 19, np.nan], [0.5, 0.6] * 9 + [0.5, np.nan]):
        assert percentile_interval(np.array(draws)).undefined == "undefined in 1 of 20 draws"
    many = percentile_interval(np.array([0.5, 0.6, np.nan]))
    assert (many.ci, many.undefined) == (None, "undefined in 1 of 3 draws")


def test_bca_falls_back_to_the_percentiles_and_says_so() -> None:
    draws = np.linspace(1, 2, 100)
    alike = Jackknife(values=np.ones(3), multiplicity=np.ones(3, np.int64), stratum=np.zeros(3, np.int64))
    for point in (1.5, 0.5):
        made = bca_interval(point, draws, alike)
        assert made.ci == percentile_interval(draws).ci
        assert "BCa is degenerate here, percentile instead" in made.note


def test_rows_that_do_not_cluster_have_no_items() -> None:
    assert Sample(Tally(answered=tabulate([0.5], [1])), draws=5).items_of("probes") == 0


def test_bca_of_a_run_differs_from_percentiles_where_a_measure_is_biased() -> None:
    p, y = answers(60)
    tally = Tally(answered=tabulate(p, y))
    by_kind = {
        kind: Sample(tally, interval=kind).bootstrap(lambda t: calibration.ece(t.answered), 60, undefined="")
        for kind in ("percentile", "bca")
    }
    percentile, bca = by_kind["percentile"], by_kind["bca"]
    assert percentile.ci is not None
    assert bca.ci is not None
    assert bca.ci[0] < percentile.ci[0]
    assert bca.ci[1] < percentile.ci[1]
    assert bca.method.startswith("BCa bootstrap, 2000 draws of rows, seed")


def test_leaving_one_out_takes_one_unit_away() -> None:
    rows = ["correct", "correct", "incorrect", "abstained", "incorrect", "abstained"]
    stated = [0.9, 0.9, 0.5, np.nan, 0.7, np.nan]
    trap = [False, False, False, False, True, True]
    tally = tally_rows(rows, stated, trap=trap)
    without, alike, stratum = leave_one_out(tally)
    assert sorted(alike[stratum == 0].tolist()) == [1, 1, 2]
    assert alike.sum() == 6
    assert (without.asked[stratum == 0] == 3).all()
    assert (without.trap_usable[stratum == 0] == 2).all()
    assert (without.trap_usable[stratum == 1] == 1).all()
    items = tally_rows(rows, stated, trap=trap, item=["a", "a", "b", "b", "t", "u"])
    without, alike, stratum = leave_one_out(tally, items)
    assert without.asked.tolist() == [2, 2, 4, 4]
    assert alike.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("differences", "p"),
    [([1.0] * 99, 0.02), ([-1.0] * 99, 0.02), ([1.0] * 50 + [-1.0] * 49, 1.0), ([0.0] * 9, 1.0), ([], None)],
)
def test_bootstrap_p(differences: list[float], p: float | None) -> None:
    assert bootstrap_p(np.array(differences)) == (None if p is None else pytest.approx(p))


def test_bootstrap_p_ignores_a_few_undefined_draws_and_is_none_with_many() -> None:
    assert bootstrap_p(np.array([1.0] * 9 + [np.nan])) == pytest.approx(0.2)
    assert bootstrap_p(np.array([1.0] * 9 + [np.nan] * 2)) is None


def test_one_wrong_answer_is_no_evidence_of_a_difference() -> None:
    outcome, ids = ["incorrect"] + ["correct"] * 39, [f"i{i:02}" for i in range(40)]
    first = tally_rows(outcome, [0.85] + [0.8] * 39, item=ids)
    second = tally_rows(outcome, [0.7] + [0.8] * 39, item=ids)
    contrast = paired_contrast(first, second, lambda tally: discrimination.auroc(tally.answered))
    assert (contrast.first, contrast.second, contrast.difference.value) == (0, 1, 1)
    assert contrast.difference.ci is None and contrast.p is None
    assert contrast.difference.note.startswith("no interval: undefined in 7")


def arms(n: int, lift: float, seed: int = 0) -> tuple[Tally, Tally]:
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    ids = [f"i{i:03}" for i in range(n)]
    made = []
    for shift in (0.0, lift):
        outcome = ["correct" if h < 0.5 + shift else "incorrect" for h in hard]
        made.append(tally_rows(outcome, np.full(n, 0.6), item=ids))
    return made[0], made[1]


def share_right(tally: Tally) -> Floats:
    return ratio(tally.right, tally.graded)


def test_paired_contrast_is_narrower_than_unpaired() -> None:
    first, second = arms(100, 0.1)
    contrast = paired_contrast(first, second, share_right)
    lifted = float(share_right(second.summed()) - share_right(first.summed()))
    assert contrast.difference.value == pytest.approx(lifted)
    assert contrast.difference.ci is not None
    assert contrast.p is not None
    low, high = contrast.difference.ci
    assert low < lifted < high
    assert high - low < 2 * 1.96 * math.sqrt(2 * 0.25 / 100) * 0.6
    assert contrast.p < 0.05
    assert contrast.difference.n == 100
    assert "paired" in contrast.difference.method


def test_paired_contrast_of_equal_arms_is_zero() -> None:
    first, _ = arms(30, 0.0)
    contrast = paired_contrast(first, first, share_right)
    assert (contrast.difference.value, contrast.difference.ci, contrast.p) == (0.0, None, 1.0)


def test_paired_contrast_leaves_out_items_missing_in_one_arm() -> None:
    ids = ["a", "b", "c"]
    first = tally_rows(["correct", "error", "incorrect"], [0.5, np.nan, 0.5], item=ids)
    second = tally_rows(["correct", "correct", "correct"], [0.5, 0.5, 0.5], item=ids)
    contrast = paired_contrast(first, second, share_right)
    assert (contrast.first, contrast.second, contrast.difference.n) == (0.5, 1.0, 2)


def test_paired_contrast_counts_probes_and_traps() -> None:
    outcome = ["correct", "incorrect", "correct", "abstained"]
    tally = tally_rows(outcome, [0.5, 0.5, 0.5, np.nan], item=list("abcd"), trap=[False, False, False, True])
    contrast = paired_contrast(tally, tally, share_right, draws=5)
    assert contrast.difference.n == 4


def test_paired_contrast_without_a_value_says_where() -> None:
    first = tally_rows(["abstained", "abstained"], [np.nan, np.nan], item=["a", "b"])
    second = tally_rows(["correct", "correct"], [0.5, 0.5], item=["a", "b"])
    assert paired_contrast(first, second, share_right).difference.note == "not defined in one arm"
    assert paired_contrast(first, first, share_right).difference.note == "not defined in both arms"


def test_paired_contrast_needs_the_same_items() -> None:
    with pytest.raises(ValueError, match="same items"):
        paired_contrast(arms(3, 0)[0], arms(4, 0)[0], share_right)


def test_probes_and_traps_keep_their_numbers() -> None:
    rows = ["correct"] * 8 + ["incorrect"] * 4 + ["abstained"] * 3 + ["incorrect"] * 2
    trap = [False] * 12 + [True] * 5
    tally = tally_rows(rows, [0.8] * 17, trap=trap)
    drawn = resample(tally, draws=40)
    assert (drawn.asked == 12).all()
    assert (drawn.trap_usable == 5).all()
    items = tally_rows(rows, [0.8] * 17, trap=trap, item=[str(i) for i in range(17)])
    clustered = resample(tally, items, draws=40, point_first=True)
    assert clustered.right.shape == (41,)
    assert clustered.right[0] == 8
    assert (clustered.asked == 12).all()
    assert (clustered.trap_usable == 5).all()


def test_many_items_that_are_alike_are_drawn_as_one_kind_with_the_same_spread(monkeypatch) -> None:
    rng = np.random.default_rng(2)
    cells = rng.integers(0, 2, size=(600, 3))
    plain = resampling.clustered_draws(cells, 20_000, np.random.default_rng(5))
    monkeypatch.setattr(resampling, "MANY_ITEMS", 100)
    folded = resampling.clustered_draws(cells, 20_000, np.random.default_rng(6))
    assert folded.shape == plain.shape
    assert folded.mean(axis=0) == pytest.approx(plain.mean(axis=0), rel=0.01)
    assert np.cov(folded.T) == pytest.approx(np.cov(plain.T), rel=0.06, abs=4)


def test_nothing_is_drawn_of_no_items() -> None:
    rng = np.random.default_rng(0)
    assert item_weights(0, 7, rng).shape == (7, 0)
    assert clustered_draws(np.zeros((0, 3), dtype=np.int64), 7, rng).tolist() == [[0, 0, 0]] * 7


@pytest.mark.parametrize(("items", "by_kind"), [(2_000, False), (2_001, True), (3_000, True)])
def test_very_many_items_of_few_kinds_are_drawn_by_kind(items: int, by_kind: bool) -> None:
    kinds = np.array([[0, 2], [1, 1]])
    cells = kinds[np.arange(items) % 2]
    drawn = clustered_draws(cells, 20, np.random.default_rng(4))
    alike = np.array([(items + 1) // 2, items // 2])
    whole = multinomial_draws(alike, 20, np.random.default_rng(4)) @ kinds
    single = item_weights(items, 20, np.random.default_rng(4)) @ cells
    assert drawn.tolist() == (whole if by_kind else single).tolist()
