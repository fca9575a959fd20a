"""What intervals and null bands promise, held against many simulated runs."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from selfdiag.measure import calibration, recalibration
from selfdiag.measure.counts import Counts, Floats, Ints, accuracy, tabulate
from selfdiag.measure.discrimination import logit_delong_interval
from selfdiag.measure.reliability import calibrated_draws, group_rows, null_band, reliability_diagram
from selfdiag.measure.sample import Sample
from selfdiag.measure.tally import Tally

SETS = 2000
FIVES = np.arange(0, 101, 5) / 100
STATED = np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 2, 3, 3, 5, 4, 8, 7, 10, 8, 6]) / 69
"""How often a model states each multiple of five: mostly high values, as models do."""


def population(accuracy: float) -> tuple[Floats, Floats]:
    """Return the chances of a right and of a wrong answer at each stated value; confidence tells a little."""
    right = np.clip(accuracy + 0.4 * (FIVES - STATED @ FIVES), 0.02, 0.98)
    right += accuracy - STATED @ right
    return STATED * right, STATED * (1 - right)


def true_values(right: Floats, wrong: Floats) -> dict[str, float]:
    wrong_below = wrong.cumsum() - wrong
    return {
        "brier": right @ (1 - FIVES) ** 2 + wrong @ FIVES**2,
        "gap": STATED @ FIVES - right.sum(),
        "auroc": right @ (wrong_below + wrong / 2) / (right.sum() * wrong.sum()),
    }


def ten_of_each(right: Floats, wrong: Floats, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    while True:
        drawn = rng.multinomial(n, np.concatenate([right, wrong]))
        if min(drawn[:21].sum(), drawn[21:].sum()) >= 10:
            return drawn[:21], drawn[21:]


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 300])
def test_intervals_hold_the_truth_in_95_of_100_runs(n: int) -> None:
    rng = np.random.default_rng(n)
    measures = {"brier": calibration.brier, "gap": calibration.gap}
    held, below = dict.fromkeys(("brier", "gap", "auroc"), 0), dict.fromkeys(("brier", "gap", "auroc"), 0)
    for number in range(SETS):
        right, wrong = population((0.3, 0.4, 0.5, 0.6, 0.7)[number % 5])
        counts = Counts(FIVES, *ten_of_each(right, wrong, n, rng))
        sample = Sample(Tally(answered=counts), seed=number)
        intervals = {
            name: sample.bootstrap(lambda tally, of=of: of(tally.answered), n, undefined="").ci
            for name, of in measures.items()
        }
        intervals["auroc"] = logit_delong_interval(counts)
        for name, truth in true_values(right, wrong).items():
            ci = intervals[name]
            assert ci is not None
            held[name] += ci[0] <= truth <= ci[1]
            below[name] += truth < ci[0]
    for name in held:
        assert 0.92 * SETS <= held[name] <= 0.98 * SETS, name
        # the misses lie on both sides
        assert 0.005 * SETS <= below[name] <= 0.05 * SETS, name


def quick_battery(seed: int) -> Counts:
    """Return 42 answers whose confidences, in fives, are spread as a calibrated model of accuracy .6 spreads them."""
    nu = 0.6 * 0.4 / 0.25**2 - 1
    p = np.random.default_rng(seed).beta(0.6 * nu, 0.4 * nu, 42)
    return tabulate(np.round(p * 20) / 20, np.ones(42))


def test_small_samples_look_miscalibrated_under_perfect_calibration() -> None:
    shown = []
    for seed in range(20):
        calibrated = calibrated_draws(quick_battery(seed))
        ece, murphy = null_band(calibrated, calibration.ece), null_band(calibrated, calibration.reliability)
        assert ece is not None
        assert murphy is not None
        shown.append((ece.mean, ece.upper, murphy.mean))
    assert np.mean(shown, axis=0) == pytest.approx([0.15, 0.22, 0.07], abs=0.02)


@pytest.mark.parametrize("measure", [calibration.ece, calibration.reliability, calibration.mce])
def test_a_null_band_is_exceeded_by_5_of_100_calibrated_runs(measure: Callable[[Counts], Floats]) -> None:
    exceeded = []
    for seed in range(4):
        answers = quick_battery(seed)
        band = null_band(calibrated_draws(answers, draws=2000), measure)
        assert band is not None
        others = measure(calibrated_draws(answers, draws=2000, seed=seed))
        exceeded.append((others > band.upper + 1e-9).mean())
        assert others.mean() == pytest.approx(band.mean, rel=0.05)
    assert np.mean(exceeded) == pytest.approx(0.05, abs=0.015)


def test_a_null_band_without_data_is_none() -> None:
    empty = calibrated_draws(tabulate([], []))
    assert null_band(empty, calibration.ece) is None


@pytest.mark.parametrize("n", [8, 40, 300])
def test_the_gap_band_of_a_group_holds_95_of_100_calibrated_groups(n: int) -> None:
    p = np.random.default_rng(n).integers(1, 20, n) / 20
    answers = tabulate(p, np.ones(n))
    (row,) = group_rows({"physics": answers})
    assert row.gap_band is not None
    gaps = np.abs(calibration.gap(calibrated_draws(answers, draws=20_000)))
    inside = (gaps <= row.gap_band + 1e-9).mean()
    assert inside >= 0.945
    # the band is the narrowest: without its outermost value it holds fewer than 95 of 100
    assert (gaps < row.gap_band - 1e-9).mean() < 0.955


def test_the_band_of_a_bin_holds_95_of_100_calibrated_accuracies() -> None:
    p = np.random.default_rng(6).integers(0, 101, 200) / 100
    answers = tabulate(p, np.ones(200))
    many = calibrated_draws(answers, draws=20_000)
    bins = calibration.equal_width_bins(answers.levels)
    for row, index in zip(reliability_diagram(answers), np.unique(bins), strict=True):
        inside = bins == index
        shares = accuracy(Counts(many.levels[inside], many.right[:, inside], many.wrong[:, inside]))
        # at least 95 of 100, and at most 2.5 beyond either end
        assert (shares < row.band[0] - 1e-9).mean() < 0.029
        assert (shares > row.band[1] + 1e-9).mean() < 0.029
        assert ((shares <= row.band[0] + 1e-9) | (shares >= row.band[1] - 1e-9)).mean() > 0.045


def test_spiegelhalter_is_standard_normal_under_calibration() -> None:
    levels = np.arange(5, 100, 5) / 100
    many = calibrated_draws(Counts(levels, np.full(19, 10), np.zeros(19, dtype=np.int64)), draws=4000)
    z = recalibration.spiegelhalter_z(many)
    assert float(z.mean()) == pytest.approx(0, abs=0.06)
    assert float(z.std()) == pytest.approx(1, abs=0.04)
    assert float((np.abs(z) > 1.96).mean()) == pytest.approx(0.05, abs=0.015)
    assert recalibration.two_sided_p(-1.3) == pytest.approx(2 * stats.norm.sf(1.3))
