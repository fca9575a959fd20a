"""The profile ladder: made-up, shuffled and cross-fitted profiles, and what the arms show."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from selfdiag.measure.calibration import brier
from selfdiag.measure.contrast import paired_contrast
from selfdiag.measure.correlation import average_ranks, fisher_interval, pearson, spearman
from selfdiag.measure.counts import Counts
from selfdiag.measure.discrimination import auroc
from selfdiag.measure.ladder import (
    ArmRows,
    Excluded,
    arm_contrasts,
    confirmatory,
    consumption,
    oracle_ceiling,
    power_note,
    smallest_effect,
)
from selfdiag.measure.profiles import cross_fitted, placebo_profile, shuffled_profile
from selfdiag.measure.resampling import holm
from selfdiag.measure.tally import tally_rows

SKEWED = [100.0] * 20 + [50.0]


def own_profile(bins: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if seed % 2:
        return np.round(rng.uniform(20, 95, bins))
    return np.round(100 * rng.binomial(7, 0.3 + 0.6 * rng.random(bins)) / 7)


# Correlations.


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=30))
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert pearson(a, b) is None and spearman(a, b) is None
        return
    assert pearson(a, b) == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-9)
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-9)
    assert average_ranks(a).tolist() == stats.rankdata(a).tolist()


def test_fisher_interval() -> None:
    made = fisher_interval(0.5, 21)
    expected = stats.pearsonr(*correlated(0.5, 21)).confidence_interval()
    assert made == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert fisher_interval(0.5, 3) is None
    assert fisher_interval(-1.0, 9) is None


def correlated(r: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two lists with exactly this correlation."""
    a = np.linspace(-1, 1, n)
    rest = a**2 - (a**2).mean()
    return a, r * a / a.std() + math.sqrt(1 - r * r) * rest / rest.std()


def test_correlation_of_lists_of_different_length() -> None:
    with pytest.raises(ValueError, match="3 and 2"):
        pearson([1, 2, 3], [1, 2])
    assert pearson([], []) is None


# Placebo.


@pytest.mark.parametrize("bins", [5, 10, 21])
def test_a_placebo_looks_like_own_and_says_nothing_about_it(bins: int) -> None:
    for seed in range(60):
        own = own_profile(bins, seed)
        made = placebo_profile(own, seed)
        values = np.array(made.values)
        assert values.shape == own.shape and (values >= 0).all() and (values <= 100).all()
        assert (values == np.floor(values)).all()
        assert abs(values.mean() - own.mean()) <= 1 and abs(values.std() - own.std()) <= 1
        assert abs(stats.pearsonr(values, own).statistic) < 0.10
        assert abs(stats.spearmanr(values, own).statistic) < 0.10
        assert sorted(values) != sorted(own)
        assert (made.mean, made.sd) == (values.mean(), values.std())
        assert (made.own_mean, made.own_sd) == (own.mean(), own.std())
        assert made.pearson == pytest.approx(stats.pearsonr(values, own).statistic)
        assert made.spearman == pytest.approx(stats.spearmanr(values, own).statistic)


def test_few_bins_do_not_wait_for_luck() -> None:
    tries = [placebo_profile(own_profile(5, seed), seed).tries for seed in range(40)]
    assert min(tries) >= 1 and np.mean(tries) < 25


def test_a_placebo_is_written_like_own() -> None:
    made = placebo_profile([35.7, 42.9, 100, 0, 71.4])
    assert any(value != math.floor(value) for value in made.values)
    assert all(round(value, 1) == value for value in made.values)


@pytest.mark.parametrize(
    "own", [SKEWED, [0.0, 100.0] * 10 + [0.0], [50.0, 51.0] * 10], ids=["skewed", "all or nothing", "narrow"]
)
def test_placebo_of_an_odd_profile(own: list[float]) -> None:
    made = placebo_profile(own)
    assert abs(made.mean - made.own_mean) <= 1 and abs(made.sd - made.own_sd) <= 1
    assert max(abs(made.pearson), abs(made.spearman)) < 0.10


def test_a_seed_fixes_the_placebo() -> None:
    own = own_profile(21, 1)
    assert placebo_profile(own, 3) == placebo_profile(own, 3) != placebo_profile(own, 4)


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ([70.0] * 21, "the same in every bin"),
        ([40.0, 60.0, 80.0], "needs 4 bins, the own profile has 3"),
        ([], "needs 4 bins, the own profile has 0"),
        ([0.0, 0.0, 0.0, 100.0], "none of 5000 candidates"),
        ([40.0, 60.0, 80.0, 101.0], "from 0 to 100"),
        ([40.0, 60.0, 80.0, math.nan], "from 0 to 100"),
    ],
)
def test_a_placebo_is_refused(own: list[float], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        placebo_profile(own)


# Shuffled.


@given(st.lists(st.sampled_from([0, 14, 29, 43, 57, 71, 86, 100]), min_size=2, max_size=21), st.integers(0, 9))
@settings(max_examples=60)
def test_shuffling_leaves_no_bin_its_value_where_that_is_possible(own: list[int], seed: int) -> None:
    if len(set(own)) == 1:
        with pytest.raises(ValueError, match="same in every bin"):
            shuffled_profile(own, seed)
        return
    made = shuffled_profile(own, seed)
    assert sorted(made.values) == sorted(own)
    stay = sum(a == b for a, b in zip(made.values, own, strict=True))
    commonest = max(own.count(value) for value in own)
    assert made.kept == stay == max(0, 2 * commonest - len(own))
    assert (f"more than half of them: {stay}" in made.note) == bool(stay)
    assert ("correlation above -0.3" in made.note) == (made.pearson > -0.3)
    assert made.pearson == pytest.approx(stats.pearsonr(made.values, own).statistic, abs=1e-9)


@pytest.mark.parametrize("bins", [5, 10, 21])
def test_shuffled_values_go_against_own(bins: int) -> None:
    for seed in range(1, 20, 2):
        made = shuffled_profile(own_profile(bins, seed), seed)
        assert made.pearson <= -0.3


def test_shuffling_says_when_it_cannot_go_against_own() -> None:
    made = shuffled_profile(SKEWED)
    assert made.kept == 19 and made.pearson == pytest.approx(-1 / 20)
    assert "lowest of 500 arrangements" in made.note


# Cross-fitting.


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([1, 0, -1])), min_size=1, max_size=40),
    st.integers(0, 5),
)
def test_cross_fitting_never_uses_the_items_own_half(rows: list[tuple[int, int]], seed: int) -> None:
    bins, correct = np.array(rows).T
    made = cross_fitted(bins, correct, seed)
    half = np.array(made.half)
    for b in range(bins.max() + 1):
        sizes = np.bincount(half[bins == b], minlength=2)
        assert abs(sizes[0] - sizes[1]) <= 1
        for shown in (0, 1):
            other = correct[(bins == b) & (half != shown) & (correct >= 0)]
            if not other.size or (bins == b).sum() == 1:
                assert made.profiles[shown][b] is None and made.measured[shown][b] == 0
            else:
                assert made.profiles[shown][b] == pytest.approx(100 * other.mean())
                assert made.measured[shown][b] == other.size
    # An item's own grade changes nothing that is shown with its half.
    flipped = correct.copy()
    flipped[0] = 1 - abs(flipped[0])
    assert cross_fitted(bins, flipped, seed).profiles[half[0]] == made.profiles[half[0]]
    assert cross_fitted(bins, flipped, seed).half == made.half


def test_cross_fitting_splits_at_random() -> None:
    bins = np.repeat(np.arange(21), 14)
    first, second = (np.array(cross_fitted(bins, np.ones(294), seed).half) for seed in (1, 2))
    assert first.sum() == second.sum() == 147
    assert 0.3 < (first == second).mean() < 0.7
    # The odd one of three goes to either half.
    assert {sum(cross_fitted([0, 0, 0], [1, 1, 1], seed).half) for seed in range(20)} == {1, 2}


def test_cross_fitting_of_nothing() -> None:
    assert cross_fitted([], []).profiles == ((), ())
    with pytest.raises(ValueError, match="2 bins for 1 items"):
        cross_fitted([0, 1], [1])
    with pytest.raises(ValueError, match="0 or more"):
        cross_fitted([0, -1], [1, 1])


# Oracle ceiling.


def test_oracle_ceiling_by_hand() -> None:
    #  bin 0: 2 of 3 right, bin 1: 2 of 6, bin 2: one item alone
    bins, correct = [0] * 3 + [1] * 6 + [2], [1, 1, 0, 1, 1, 0, 0, 0, 0, 1]
    made = oracle_ceiling([80] * 3 + [40] * 6 + [math.nan], bins, correct)
    # Right items of bin 0 tie with one wrong item and beat four, those of bin 1 lose to one and tie with four.
    assert made.injected.value == pytest.approx((2 * 4.5 + 2 * 2) / 20)
    # Without themselves: right .5 .5 .2 .2, wrong 1 .4 .4 .4 .4.
    assert made.leave_one_out.value == pytest.approx(2 * 4 / 20)
    assert made.injected.n == made.leave_one_out.n == 9
    assert made.injected.note == "no interval: needs 5 right answers, has 4"


def test_leaving_one_out_is_biased_low_and_cross_fitting_is_not() -> None:
    bins = np.repeat(np.arange(21), 14)
    crossed, left_out = [], []
    for seed in range(60):
        correct = (np.random.default_rng(seed).random(294) < 0.6).astype(np.int64)
        made = cross_fitted(bins, correct, seed)
        shown = [made.profiles[half][b] for half, b in zip(made.half, bins, strict=True)]
        ceiling = oracle_ceiling(shown, bins, correct)
        crossed.append(ceiling.injected.value)
        left_out.append(ceiling.leave_one_out.value)
    # No bin is easier than another: a fair ceiling is .5.
    assert np.mean(crossed) == pytest.approx(0.5, abs=0.01)
    assert np.mean(left_out) < 0.49


def test_oracle_ceiling_without_a_right_answer() -> None:
    made = oracle_ceiling([50, 50, 60], [0, 0, 1], [0, 0, -1])
    assert made.injected.value is None and made.injected.note == "not defined: all answers were wrong"
    with pytest.raises(ValueError, match="for each item"):
        oracle_ceiling([50], [0, 0], [1, 0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        oracle_ceiling([150, 50], [0, 0], [1, 0])


# Consumption.


def test_confidence_that_follows_the_injected_profile() -> None:
    rng = np.random.default_rng(0)
    true, injected = rng.uniform(30, 90, 21), rng.uniform(30, 90, 21)
    noise = rng.normal(0, 4, 21)
    followed = consumption(0.5 * (injected - true) + noise, injected, true)
    ignored = consumption(noise, injected, true)
    assert followed.value == pytest.approx(stats.pearsonr(0.5 * (injected - true) + noise, injected - true).statistic)
    assert followed.ci is not None and followed.ci[0] > 0.5 and followed.n == 21
    assert ignored.ci is not None and ignored.ci[0] < 0 < ignored.ci[1]


def test_consumption_is_undefined() -> None:
    injected, true = np.array([50.0, 60, 70, 80, 90]), np.array([60.0, 60, 60, 60, 60])
    assert consumption(np.zeros(5), injected, true).note == "not defined: its confidence never changed"
    assert (
        consumption(np.full(5, 3.0), injected, true).note == "not defined: its confidence moved by the same everywhere"
    )
    same = consumption([1, 2, 3, 4, 5], true + 10, true)
    assert same.note == "not defined: the profile errs by the same everywhere"
    few = consumption([1, 2, 3, math.nan, 5], [50, 60, 70, 80, math.nan], true)
    assert few.value is None and few.n == 3 and few.note == "not defined: needs 4 injected values, has 3"
    line = consumption(injected - true, injected, true)
    assert line.value == pytest.approx(1) and (line.ci is None or line.ci[0] > 0.99)
    with pytest.raises(ValueError, match="for each injected value"):
        consumption([1, 2], injected, true)


# Power and standing.


@pytest.mark.parametrize(("items", "published"), [(63, 0.15), (147, 0.10), (294, 0.07)])
def test_smallest_effect_is_the_published_one(items: int, published: float) -> None:
    assert smallest_effect(items, 0.5) == pytest.approx(published, abs=0.005)
    for accuracy in (0.35, 0.65):
        assert smallest_effect(items, accuracy) == pytest.approx(published, abs=0.02)


def test_smallest_effect_by_hand() -> None:
    variance = (0.24 + 146 * (0.6 / 1.4 - 0.36) + 146 * (0.72 / 1.6 - 0.36)) / 147**2
    assert smallest_effect(294, 0.5) == pytest.approx((1.959964 + 0.841621) * math.sqrt(0.56 * variance), rel=1e-6)


def test_a_lopsided_or_small_sample_sees_less() -> None:
    effects = [smallest_effect(294, accuracy) for accuracy in (0.5, 0.3, 0.15, 0.05)]
    assert None not in effects and effects == sorted(effects, key=lambda e: e or 0)
    for items, accuracy in ((294, 0.0), (294, 1.0), (0, 0.5), (1, 0.5)):
        assert smallest_effect(items, accuracy) is None
        assert "no difference of AUROCs could be seen" in power_note(items, accuracy)
    assert power_note(63, 0.5) == (
        "63 items at 50% right: the smallest AUROC difference expected beforehand to be seen with 80 % power is about "
        "0.15"
    )


def test_confirmatory_at_full_size() -> None:
    made = confirmatory(probes=294, right=180, wrong=110, own_sd=18.0)
    assert made.label == "confirmatory" and made.reasons == ()
    assert made.smallest_effect == smallest_effect(290, 180 / 290)
    assert made.power_note.startswith("290 items at 62% right")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"probes": 147}, "147 probes, not the full 294"),
        ({"right": 40, "wrong": 254}, "accuracy without a profile is 0.14, outside 0.15 to 0.85"),
        ({"right": 250, "wrong": 43}, "accuracy without a profile is 0.85, outside 0.15 to 0.85"),
        ({"right": 39, "wrong": 150}, "39 right answers, fewer than 40"),
        ({"right": 150, "wrong": 39}, "39 wrong answers, fewer than 40"),
        ({"own_sd": 9.94}, "the own profile varies by 9.9 points, less than 10"),
        ({"own_sd": math.nan}, "the own profile varies by nan points, less than 10"),
    ],
)
def test_else_it_is_a_demonstration(changed: dict[str, float], reason: str) -> None:
    given = {"probes": 294, "right": 180, "wrong": 110, "own_sd": 18.0} | changed
    made = confirmatory(**given)  # type: ignore[arg-type]
    assert made.label == "demonstration" and made.reasons == (reason,)


def test_bounds_are_inclusive() -> None:
    assert confirmatory(probes=294, right=40, wrong=200, own_sd=10.0).label == "confirmatory"
    assert confirmatory(probes=294, right=17 * 17, wrong=3 * 17, own_sd=10.0).label == "confirmatory"


def test_nothing_answered_has_every_reason() -> None:
    made = confirmatory(probes=63, right=0, wrong=0, own_sd=0.0)
    assert len(made.reasons) == 5 and "no graded answer without a profile" in made.reasons
    assert made.smallest_effect is None


# Contrasts.


def simulated(items: int = 200, seed: int = 0) -> dict[str, ArmRows]:
    """Own tells right from wrong; the others state what they like, and the same when the arm is off."""
    rng = np.random.default_rng(seed)
    arms = {}
    for name, tells in (("off", 0), ("placebo", 0), ("own", 3), ("shuffled", 0)):
        right = (rng.random(items) < 0.6).astype(np.int64)
        arms[name] = ArmRows(correct=right, p=(rng.integers(10, 18, items) + tells * right) / 20)
    return arms


def test_contrasts_of_a_ladder() -> None:
    arms, items = simulated(), np.arange(200)
    made = arm_contrasts(arms, items, np.zeros(200), draws=400)
    assert [(one.against, one.confirmatory) for one in made] == [
        ("placebo", True),
        ("off", True),
        ("shuffled", False),
    ]
    for one in made:
        other, own = (
            tally_rows(
                ["correct" if y else "incorrect" for y in arms[name].correct],
                arms[name].p,
                item=[str(i) for i in items],
            )
            for name in (one.against, "own")
        )
        assert one.by_item == paired_contrast(other, own, lambda t: auroc(t.answered), draws=400)
        assert one.by_batch.difference.value == one.by_item.difference.value
        assert one.by_item.difference.ci is not None and one.by_item.difference.ci[0] > 0
        high = one.by_item.difference.ci[1]
        assert one.excludes == Excluded(gain_above=high, loss_above=0.0, zero=True)
    # The smaller p doubles, the larger is at least that.
    first, second = made[0].by_item.p, made[1].by_item.p
    assert first is not None and second is not None
    assert (made[0].adjusted_p, made[1].adjusted_p) == pytest.approx((2 * first, 2 * second))
    assert made[2].by_item.p is not None and made[2].adjusted_p is None


def test_an_interval_over_zero_bounds_gain_and_loss() -> None:
    arms = simulated()
    arms["own"] = simulated(seed=5)["off"]
    one = arm_contrasts(arms, np.arange(200), np.zeros(200), draws=400)[0]
    assert one.by_item.difference.ci is not None and one.excludes is not None
    low, high = one.by_item.difference.ci
    assert low < 0 < high
    assert one.excludes == Excluded(gain_above=high, loss_above=-low, zero=False)


def test_rows_of_an_item_are_one_item_and_several_batches() -> None:
    arms = {name: ArmRows(correct=np.tile(arm.correct, 4), p=np.tile(arm.p, 4)) for name, arm in simulated(100).items()}
    items, batches = np.tile(np.arange(100), 4), np.repeat(np.arange(4), 100)
    one = arm_contrasts(arms, items, batches, draws=1000)[0]
    by_item, by_batch = one.by_item.difference, one.by_batch.difference
    assert (by_item.n, by_batch.n) == (100, 400)
    assert by_item.ci is not None and by_batch.ci is not None
    assert by_item.ci[1] - by_item.ci[0] == pytest.approx(2 * (by_batch.ci[1] - by_batch.ci[0]), rel=0.12)


def test_the_family_is_that_of_the_tests_over_items() -> None:
    arms = simulated(100)
    arms["own"] = simulated(100, seed=5)["off"]
    tiled = {name: ArmRows(correct=np.tile(arm.correct, 4), p=np.tile(arm.p, 4)) for name, arm in arms.items()}
    made = arm_contrasts(tiled, np.tile(np.arange(100), 4), np.repeat(np.arange(4), 100), draws=400)[:2]
    by_item = [math.nan if one.by_item.p is None else one.by_item.p for one in made]
    assert [one.adjusted_p for one in made] == pytest.approx(holm(by_item))
    assert all(one.by_batch.p != one.by_item.p for one in made)


def test_only_rows_answered_in_both_arms_count() -> None:
    arms = simulated()
    placebo, own = arms["placebo"], arms["own"]
    ungraded, unstated = placebo.correct.copy(), own.p.copy()
    ungraded[:30], unstated[20:50] = -1, np.nan
    arms["placebo"] = ArmRows(correct=ungraded, p=placebo.p)
    arms["own"] = ArmRows(correct=own.correct, p=unstated)
    made = arm_contrasts(arms, np.arange(200), np.zeros(200), draws=50)
    assert [one.by_item.difference.n for one in made] == [150, 170, 170]


def test_a_missing_arm_leaves_the_family_at_two() -> None:
    arms = simulated()
    del arms["placebo"], arms["shuffled"]
    (off,) = arm_contrasts(arms, np.arange(200), np.zeros(200), draws=400)
    assert off.against == "off" and off.by_item.p is not None
    assert off.adjusted_p == pytest.approx(2 * off.by_item.p)


def test_contrasts_without_both_classes() -> None:
    arms = simulated(20)
    arms["own"] = ArmRows(correct=np.ones(20, dtype=np.int64), p=arms["own"].p)
    one = arm_contrasts(arms, np.arange(20), np.zeros(20), draws=50)[0]
    assert one.by_item.difference.value is None and one.adjusted_p is None and one.excludes is None
    assert one.by_item.difference.note == "not defined in one arm"


def test_another_measure_can_be_compared() -> None:
    def mean_brier(counts: Counts) -> np.ndarray:
        return brier(counts)

    one = arm_contrasts(simulated(), np.arange(200), np.zeros(200), measure=mean_brier, draws=50)[0]
    own = simulated()["own"]
    assert one.by_item.second == pytest.approx(float(((own.p - own.correct) ** 2).mean()))


def test_rows_that_do_not_fit() -> None:
    arms = simulated(10)
    with pytest.raises(ValueError, match="one row for each item and batch"):
        arm_contrasts(arms, np.arange(9), np.zeros(9))
    del arms["own"]
    with pytest.raises(ValueError, match="no own arm"):
        arm_contrasts(arms, np.arange(10), np.zeros(10))
