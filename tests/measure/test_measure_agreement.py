"""Agreement with scipy and with direct, slower computations."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from selfdiag.measure import calibration, discrimination, recalibration
from selfdiag.measure.counts import Counts, pool, tabulate
from selfdiag.measure.reliability import calibrated_draws, group_rows, null_band, reliability_diagram
from selfdiag.measure.resampling import newcombe, wilson


@pytest.fixture(params=range(4))
def rows(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(request.param)
    n = (30, 60, 200, 500)[request.param]
    p = np.round(rng.beta(3, 2, n) * 20) / 20
    return p, rng.random(n) < 0.2 + 0.6 * p


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


def test_spiegelhalter_is_standard_normal_under_calibration() -> None:
    levels = np.arange(5, 100, 5) / 100
    many = calibrated_draws(Counts(levels, np.full(19, 10), np.zeros(19, dtype=np.int64)), draws=4000)
    z = recalibration.spiegelhalter_z(many)
    assert float(z.mean()) == pytest.approx(0, abs=0.06)
    assert float(z.std()) == pytest.approx(1, abs=0.04)
    assert float((np.abs(z) > 1.96).mean()) == pytest.approx(0.05, abs=0.015)
    assert recalibration.two_sided_p(-1.3) == pytest.approx(2 * stats.norm.sf(1.3))


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


def test_small_samples_look_miscalibrated_under_perfect_calibration() -> None:
    rng = np.random.default_rng(3)
    nu = 0.6 * 0.4 / 0.25**2 - 1
    bands = []
    for seed in range(20):
        p = np.round(rng.beta(0.6 * nu, 0.4 * nu, 42) * 20) / 20
        calibrated = calibrated_draws(tabulate(p, np.ones(42)), seed=seed)
        ece, murphy = null_band(calibrated, calibration.ece), null_band(calibrated, calibration.reliability)
        assert ece is not None
        assert murphy is not None
        bands.append((ece.mean, ece.upper, murphy.mean))
    assert np.mean(bands, axis=0) == pytest.approx([0.15, 0.22, 0.07], abs=0.02)


def test_a_null_band_without_data_is_none() -> None:
    empty = calibrated_draws(tabulate([], []))
    assert null_band(empty, calibration.ece) is None


def test_the_band_of_a_bin_is_where_calibrated_accuracies_lie() -> None:
    (row,) = reliability_diagram(Counts(np.array([0.75]), np.array([10]), np.array([30])))
    expected = stats.binom.ppf([0.025, 0.975], 40, 0.75) / 40
    assert row.band == pytest.approx(tuple(expected), abs=0.026)
    assert (row.low, row.high, row.n, row.mean_confidence, row.accuracy) == (0.7, 0.8, 40, 0.75, 0.25)
    assert row.ci == wilson(10, 40)


def test_group_rows() -> None:
    full, empty = group_rows({"physics": tabulate([0.9, 0.7, 0.8], [1, 0, 1]), "logic": tabulate([], [])})
    assert (full.name, full.n) == ("physics", 3)
    assert (full.accuracy, full.mean_confidence) == pytest.approx((2 / 3, 0.8))
    assert (full.gap, full.brier) == pytest.approx((0.8 - 2 / 3, (0.01 + 0.49 + 0.04) / 3))
    assert full.gap_band is not None
    assert full.gap_band > 0.1
    assert (empty.n, empty.accuracy, empty.ci, empty.gap, empty.brier) == (0, None, None, None, None)
