"""Agreement with scipy, scikit-learn, relplot and direct, slower computations."""

import math

import numpy as np
import pytest
import relplot
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, auc, brier_score_loss, roc_auc_score, roc_curve

from selfdiag.measure import calibration, discrimination, recalibration, selective
from selfdiag.measure.counts import Counts, accuracy, pool, tabulate, tabulate_confidences
from selfdiag.measure.reliability import calibrated_hits, group_rows, reliability_diagram
from selfdiag.measure.resampling import newcombe, wilson

Rows = list[tuple[int, int]]
TIED = st.one_of(
    st.lists(st.tuples(values, st.integers(0, 1)), min_size=1, max_size=40)
    for values in (st.integers(0, 100), st.sampled_from([0, 30, 50, 60, 70, 95, 100]), st.sampled_from([90, 95]))
)
"""Stated confidences, 0-100, and outcomes: few and many values, from one answer on."""


@pytest.fixture(params=range(4))
def rows(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(request.param)
    n = (30, 60, 200, 500)[request.param]
    p = np.round(rng.beta(3, 2, n) * 20) / 20
    return p, rng.random(n) < 0.2 + 0.6 * p


def columns(answers: Rows) -> tuple[np.ndarray, np.ndarray]:
    return np.array([c for c, _ in answers]) / 100, np.array([y for _, y in answers])


def table(answers: Rows) -> Counts:
    return tabulate_confidences([c for c, _ in answers], [y for _, y in answers])


def of_both_kinds(answers: Rows) -> bool:
    return {y for _, y in answers} == {0, 1}


@given(TIED)
def test_brier_score_and_accuracy_are_those_of_scikit_learn(answers: Rows) -> None:
    p, y = columns(answers)
    counts = table(answers)
    expected = brier_score_loss(y, p, pos_label=1)
    assert float(calibration.brier(counts)) == pytest.approx(expected, abs=1e-12)
    assert float(accuracy(counts)) == pytest.approx(accuracy_score(y, np.ones_like(y)))
    skill = float(calibration.brier_skill(counts))
    if of_both_kinds(answers):
        of_the_rate = brier_score_loss(y, np.full(y.size, y.mean()))
        assert skill == pytest.approx(1 - expected / of_the_rate, abs=1e-9)
    else:
        assert math.isnan(skill)


@given(TIED)
def test_auroc_is_that_of_scikit_learn_and_of_average_ranks(answers: Rows) -> None:
    p, y = columns(answers)
    area = float(discrimination.auroc(table(answers)))
    if not of_both_kinds(answers):
        assert math.isnan(area)
        return
    assert area == pytest.approx(roc_auc_score(y, p), abs=1e-12)
    hits, misses = y.sum(), (1 - y).sum()
    ranks = stats.rankdata(p)
    assert area == pytest.approx((ranks[y == 1].sum() - hits * (hits + 1) / 2) / (hits * misses), abs=1e-12)


@given(TIED)
def test_roc_is_that_of_scikit_learn(answers: Rows) -> None:
    assume(of_both_kinds(answers))
    p, y = columns(answers)
    false_alarm, hit, thresholds = roc_curve(y, p, drop_intermediate=False)
    ours = discrimination.roc(table(answers))
    assert ours.false_alarm_rate == pytest.approx(tuple(false_alarm))
    assert ours.hit_rate == pytest.approx(tuple(hit))
    assert ours.threshold[1:] == pytest.approx(tuple(thresholds[1:]))
    assert auc(ours.false_alarm_rate, ours.hit_rate) == pytest.approx(float(discrimination.auroc(table(answers))))


@given(TIED)
def test_right_closed_bins_are_those_of_scikit_learn(answers: Rows) -> None:
    p, y = columns(answers)
    right, stated = calibration_curve(y, p, n_bins=10, strategy="uniform", pos_label=1)
    ours = reliability_diagram(table(answers), "right")
    assert [b.accuracy for b in ours] == pytest.approx(list(right))
    assert [b.mean_confidence for b in ours] == pytest.approx(list(stated))
    error = sum(b.n * abs(b.accuracy - b.mean_confidence) for b in ours) / y.size
    assert float(calibration.ece(table(answers), "right")) == pytest.approx(error, abs=1e-12)


@given(TIED)
def test_corp_terms_are_those_of_scikit_learns_isotonic_fit(answers: Rows) -> None:
    p, y = columns(answers)
    counts = table(answers)
    fitted = IsotonicRegression().fit_transform(p, y)
    stated, recalibrated = np.mean((p - y) ** 2), np.mean((fitted - y) ** 2)
    assert recalibration.isotonic(counts.right, counts.total) == pytest.approx(
        np.array([fitted[p == level][0] for level in counts.levels]), abs=1e-9
    )
    assert float(recalibration.corp_miscalibration(counts)) == pytest.approx(stated - recalibrated, abs=1e-9)
    assert float(recalibration.corp_discrimination(counts)) == pytest.approx(y.var() - recalibrated, abs=1e-9)


@pytest.mark.parametrize("seed", range(24))
def test_logistic_recalibration_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = (12, 25, 60, 300)[seed % 4]
    p = rng.integers(0, 101, n) / 100 if seed % 2 else rng.choice([0, 0.5, 0.8, 0.9, 0.95, 1], n)
    y = (rng.random(n) < 0.2 + 0.6 * p).astype(int)
    clipped = np.clip(p, recalibration.CLIP, 1 - recalibration.CLIP)
    x = np.log(clipped / (1 - clipped))
    fit = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10).fit(x[:, None], y)
    intercept, slope = recalibration.recalibrate(tabulate(p, y))
    assert float(intercept) == pytest.approx(fit.intercept_[0], abs=1e-6)
    assert float(slope) == pytest.approx(fit.coef_[0, 0], abs=1e-6)


def test_smooth_ece_is_that_of_relplot() -> None:
    """relplot cuts its kernel off at a distance of .5, searches the width to 1/1024, works on a grid of .001 and
    counts answers at exactly 0 or 1 half: both agree where widths are small and confidences inside."""
    compared = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 400))
        p = rng.integers(1, 100, n) / 100 if seed % 2 else rng.integers(1, 20, n) / 20
        y = rng.random(n) < rng.uniform(0.4, 1) * p + rng.uniform(0, 0.2)
        ours = float(recalibration.smooth_ece(tabulate(p, y)))
        if ours <= 0.15:
            assert ours == pytest.approx(relplot.smECE(p, y.astype(float)), abs=0.002)
            compared += 1
    assert compared > 40


@given(TIED)
def test_risk_coverage_follows_scikit_learns_accuracy_of_the_surest(answers: Rows) -> None:
    p, y = columns(answers)
    for threshold in sorted(set(p.tolist())):
        sure = p >= threshold
        error = 1 - accuracy_score(y[sure], np.ones(sure.sum(), dtype=int))
        assert float(selective.high_confidence_error(table(answers), threshold)) == pytest.approx(error)
        assert float(selective.error_at_coverage(table(answers), sure.mean())) == pytest.approx(error)


@given(TIED)
def test_chances_of_right_answers_are_those_of_adding_answer_by_answer(answers: Rows) -> None:
    p, _ = columns(answers)
    expected = np.ones(1)
    for chance in p:
        expected = np.convolve(expected, [1 - chance, chance])
    assert calibrated_hits(table(answers)) == pytest.approx(expected, abs=1e-13)


def test_auroc_is_mann_whitney(rows: tuple[np.ndarray, np.ndarray]) -> None:
    p, y = rows
    u = stats.mannwhitneyu(p[y], p[~y]).statistic
    assert float(discrimination.auroc(tabulate(p, y))) == pytest.approx(u / (y.sum() * (~y).sum()))


def test_delong_se_is_that_of_the_placements(rows: tuple[np.ndarray, np.ndarray]) -> None:
    p, y = rows
    won = (p[y][:, None] > p[~y]) + 0.5 * (p[y][:, None] == p[~y])
    variance = won.mean(axis=1).var(ddof=1) / y.sum() + won.mean(axis=0).var(ddof=1) / (~y).sum()
    assert float(discrimination.delong_se(tabulate(p, y))) == pytest.approx(math.sqrt(variance))


def test_isotonic_fit(rows: tuple[np.ndarray, np.ndarray]) -> None:
    counts = tabulate(*rows)
    fitted = recalibration.isotonic(counts.right, counts.total)
    expected = optimize.isotonic_regression(counts.right / counts.total, weights=counts.total).x
    assert fitted == pytest.approx(expected, abs=1e-9)


def test_logistic_recalibration_is_the_maximum_of_the_likelihood(rows: tuple[np.ndarray, np.ndarray]) -> None:
    p, y = rows
    clipped = np.clip(p, 0.005, 0.995)
    x = np.log(clipped / (1 - clipped))

    def loss(theta: np.ndarray) -> float:
        z = theta[0] + theta[1] * x
        return float((np.logaddexp(0, z) - y * z).sum())

    best = optimize.minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x
    intercept, slope = recalibration.recalibrate(tabulate(p, y))
    assert (float(intercept), float(slope)) == pytest.approx(tuple(best), abs=1e-5)
    held = optimize.brentq(lambda a: (y - 1 / (1 + np.exp(-a - x))).sum(), -20, 20)
    assert float(recalibration.intercept_at_slope_one(tabulate(p, y))) == pytest.approx(held, abs=1e-8)


def test_smooth_ece_is_the_fixed_point_of_the_smoothed_residual(rows: tuple[np.ndarray, np.ndarray]) -> None:
    p, y = rows
    width = float(recalibration.smooth_ece(tabulate(p, y)))
    at = (np.arange(2000) + 0.5) / 2000
    smoothed = np.zeros_like(at)
    for stated, right in zip(p, y, strict=True):
        images = [2 * m + sign * stated for m in range(-3, 4) for sign in (1, -1)]
        smoothed += (right - stated) * sum(stats.norm.pdf(at, image, width) for image in images) / p.size
    assert float(np.abs(smoothed).mean()) == pytest.approx(width, abs=1e-3)


def test_smooth_ece_of_one_stated_value_is_the_gap() -> None:
    counts = Counts(np.array([0.9]), np.array([50]), np.array([50]))
    assert float(recalibration.smooth_ece(counts)) == pytest.approx(0.4, abs=1e-4)


def test_equal_mass_bins_without_ties_are_equal() -> None:
    p = (np.arange(50) + 0.5) / 50
    y = np.random.default_rng(5).random(50) < 0.5
    expected = np.abs(p.reshape(10, 5).mean(axis=1) - y.reshape(10, 5).mean(axis=1)).mean()
    assert float(calibration.ece_equal_mass(tabulate(p, y))) == pytest.approx(expected)


def test_sweep_stops_before_the_first_non_monotone_binning() -> None:
    p = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.95])
    y = np.array([0, 0, 1, 0, 1, 1])
    # Two and three equal bins are monotone (1/3, 2/3 and 0, .5, 1), four (0 0 | 1 | 0 1 ...) are not.
    expected = (2 * abs(0.2 - 0) + 2 * abs(0.6 - 0.5) + 2 * abs(0.925 - 1)) / 6
    assert float(calibration.ece_sweep(tabulate(p, y))) == pytest.approx(expected)


def test_sweep_allows_equal_accuracies() -> None:
    # Two bins have accuracies .5 and .5, three have 0, .5 and 1, four are no longer monotone.
    counts = tabulate([0.1, 0.3, 0.5, 0.7], [0, 1, 0, 1])
    assert float(calibration.ece_sweep(counts)) == pytest.approx((0.1 + 0.2 + 0.3) / 4)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (3, 9), (27, 38), (1, 1)])
def test_wilson(k: int, n: int) -> None:
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    interval = wilson(k, n)
    assert interval is not None
    assert interval == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert interval[0] < interval[1]


def test_newcombe_reproduces_his_first_example() -> None:
    interval = newcombe(56, 70, 48, 80)
    assert interval is not None
    assert interval == pytest.approx((0.0524, 0.3339), abs=1e-4)
    assert newcombe(1, 2, 0, 0) is None


def test_paired_delong_against_a_constant_is_the_single_test(rows: tuple[np.ndarray, np.ndarray]) -> None:
    p, y = rows
    counts = tabulate(p, y)
    paired = discrimination.paired_delong(p, np.full(p.size, 3.0), y)
    assert paired.first == pytest.approx(float(discrimination.auroc(counts)))
    assert paired.second == pytest.approx(0.5)
    assert paired.se == pytest.approx(float(discrimination.delong_se(counts)))
    assert paired.p is not None
    assert paired.se is not None
    assert paired.difference is not None
    assert paired.p == pytest.approx(2 * stats.norm.sf(abs(paired.difference) / paired.se))
    same = discrimination.paired_delong(p, p, y)
    assert (same.difference, same.ci, same.p) == (0.0, None, None)


@pytest.mark.parametrize("correct", [[1, 0, 0], [1, 0, 0, 0], [1, 1, 0], [1, 1, 1, 0]])
def test_paired_delong_with_one_answer_of_a_class_has_no_interval(correct: list[int]) -> None:
    n = len(correct)
    made = discrimination.paired_delong(np.arange(n), np.arange(n)[::-1], correct)
    assert made.difference is not None
    assert (made.se, made.ci, made.p, made.n) == (None, None, None, n)


def test_paired_delong_with_one_class_says_nothing() -> None:
    one = discrimination.paired_delong([0.1, 0.2], [0.2, 0.1], [1, 1])
    assert (one.first, one.difference, one.p, one.n) == (None, None, None, 2)
    few = discrimination.paired_delong([0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [1, 0, 1])
    assert few.difference is not None
    assert few.se is None


def test_rank_normalising_uses_average_ranks_and_removes_identity() -> None:
    low = tabulate([0.1, 0.2, 0.2, 0.3], [0, 0, 1, 1])
    high = tabulate([0.7, 0.8, 0.8, 0.9], [1, 1, 1, 1])
    ranks = stats.rankdata([0.1, 0.2, 0.2, 0.3]) / 4
    assert discrimination.rank_normalised([low]).levels.tolist() == pytest.approx(sorted(set(ranks)))
    assert float(discrimination.auroc(pool([low, high]))) > float(
        discrimination.auroc(discrimination.rank_normalised([low, high]))
    )


def test_the_band_of_a_bin_is_where_calibrated_accuracies_lie() -> None:
    (row,) = reliability_diagram(Counts(np.array([0.75]), np.array([10]), np.array([30])))
    expected = stats.binom.ppf([0.025, 0.975], 40, 0.75) / 40
    assert row.band == pytest.approx(tuple(expected), abs=1e-12)
    assert (row.low, row.high, row.n, row.mean_confidence, row.accuracy) == (0.7, 0.8, 40, 0.75, 0.25)
    assert row.ci == wilson(10, 40)


def test_group_rows() -> None:
    full, empty = group_rows({"physics": tabulate([0.9, 0.7, 0.8], [1, 0, 1]), "logic": tabulate([], [])})
    assert (full.name, full.n) == ("physics", 3)
    assert (full.accuracy, full.mean_confidence) == pytest.approx((2 / 3, 0.8))
    assert (full.gap, full.brier) == pytest.approx((0.8 - 2 / 3, (0.01 + 0.49 + 0.04) / 3))
    # 0 to 3 right have the chances .006, .092, .398 and .504: only 0 right, a gap of .8, is left out.
    assert full.gap_band == pytest.approx(0.8 - 1 / 3)
    assert (empty.n, empty.accuracy, empty.ci, empty.gap, empty.brier) == (0, None, None, None, None)
