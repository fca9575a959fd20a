"""Index of a profile, internal and external profiles, and the distance between the two."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from selfdiag.measure.correlation import kendall_tau, kendall_taus_of_orders
from selfdiag.measure.external import (
    MIN_ELEMENTS,
    MIN_REPLIES,
    Criterion,
    currency_from_horizon,
    formal_structure,
    hallucination_control,
    knowledge_currency,
    resampled,
    source_validity,
    terminological_precision,
)
from selfdiag.measure.horizon import knowledge_horizon
from selfdiag.measure.msi import (
    ACCEPTABLE,
    CRITERIA,
    WEIGHTS,
    Index,
    consistency,
    delta_avg,
    index,
    internal_profile,
    profile_distance,
    rank_agreement,
    stretched,
)
from selfdiag.measure.resampling import Interval, wilson

FIRST = [0.80, 0.65, 0.70, 0.60, 0.90]
SECOND = [0.55, 0.50, 0.45, 0.40, 0.75]
THIRD = [0.65, 0.55, 0.60, 0.50, 0.80]
PROFILES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def msi(profile: list[float]) -> float:
    value = index(profile).msi
    assert value is not None
    return value


def shares(*values: float, n: int = 100) -> list[Criterion]:
    return [terminological_precision(round(value * n), n) for value in values]


@pytest.mark.parametrize(
    ("profile", "value", "digits"),
    [
        (FIRST, 0.97940, 5),
        (SECOND, 0.47405, 5),
        (THIRD, 0.69318, 5),
        ([0.2, 1, 1, 1, 1], 0.37566, 5),
        ([0.7] * 5, 1.09567, 5),
        ([1.0] * 5, 2.23607, 5),
    ],
)
def test_golden_msi(profile: list[float], value: float, digits: int) -> None:
    assert round(msi(profile), digits) == value


def test_golden_norm_angle_mean_and_soft_minimum() -> None:
    first = index(FIRST)
    assert (round(first.norm or 0, 4), round(first.angle or 0, 2)) == (1.65, 8.39)
    assert round(first.soft_min or 0, 4) == 0.6594
    assert index([0.2, 1, 1, 1, 1]).mean == pytest.approx(0.84)


def test_index_agrees_with_norm_times_cosine_times_minimum() -> None:
    for profile in (FIRST, SECOND, THIRD, [0.3, 0.9]):
        made = index(profile)
        assert made.norm is not None and made.angle is not None
        assert made.msi == pytest.approx(made.norm * math.cos(math.radians(made.angle)) * min(profile))
        assert made.msi_per_root_n == pytest.approx((made.msi or 0) / math.sqrt(len(profile)))


def test_weighted_means_by_use() -> None:
    assert all(sum(row) == pytest.approx(1) and len(row) == 5 for row in WEIGHTS.values())
    assert set(WEIGHTS) == {"research", "programming", "general"}
    only_structure = index([0.0, 0.0, 1.0, 0.0, 0.0]).weighted
    assert only_structure == pytest.approx({"research": 0.10, "programming": 0.35, "general": 0.10})
    assert index([0.5, 0.5]).weighted == {} and "five criteria" in index([0.5, 0.5]).note


def test_group_minimum_is_the_mean_of_the_weak_or_the_least() -> None:
    assert index(FIRST).group_min == pytest.approx(0.625)
    assert index([0.7, 0.8]).group_min == pytest.approx(0.7)
    assert index([0.5, 0.6, 0.9], group_below=0.55).group_min == pytest.approx(0.5)


def test_a_missing_criterion_leaves_no_index() -> None:
    made = index([0.5, None, 0.5, None, 0.5])
    assert made == Index(n=5, note="missing: x2 knowledge currency, x4 source validity")
    assert index([None, 0.5]).note == "missing: x1"


def test_zero_profile_has_no_angle() -> None:
    made = index([0.0] * 5)
    assert made.angle is None and "no angle" in made.note
    assert (made.norm, made.msi, made.soft_min) == (0.0, 0.0, 0.0)
    assert index([0.0, 0.0, 0.0, 0.0, 1.0]).angle is not None


@pytest.mark.parametrize("profile", [[], [1.01], [-0.01, 0.5], [math.nan]])
def test_index_refuses_what_is_no_profile(profile: list[float]) -> None:
    with pytest.raises(ValueError, match="criterion|between 0 and 1"):
        index(profile)


def test_a_soft_minimum_needs_sharpness() -> None:
    with pytest.raises(ValueError, match="sharpness"):
        index(FIRST, sharpness=0)


@given(PROFILES)
def test_bounds(profile: list[float]) -> None:
    made = index(profile)
    assert made.norm is not None and made.msi is not None and made.mean is not None and made.soft_min is not None
    assert 0 <= made.msi <= made.norm + 1e-12 and made.norm <= math.sqrt(len(profile)) + 1e-12
    assert min(profile) - 1e-9 <= made.soft_min <= made.mean + 1e-9
    assert made.group_min is not None and min(profile) - 1e-9 <= made.group_min
    assert made.angle is None or 0 <= made.angle <= 90
    assert (made.angle is None) == (not any(profile))


@given(PROFILES, st.randoms(use_true_random=False))
def test_order_of_criteria_does_not_matter(profile: list[float], random: object) -> None:
    shuffled = list(profile)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for name in ("norm", "angle", "msi", "mean", "soft_min", "group_min"):
        assert getattr(index(shuffled), name) == pytest.approx(getattr(index(profile), name), abs=1e-9)


@given(PROFILES, st.integers(0, 11), st.floats(0, 1))
def test_raising_a_criterion_never_lowers_the_index(profile: list[float], at: int, to: float) -> None:
    raised = list(profile)
    raised[at % len(raised)] = max(to, raised[at % len(raised)])
    before, after = index(profile), index(raised)
    for name in ("norm", "msi", "mean", "soft_min"):
        assert getattr(after, name) >= getattr(before, name) - 1e-9


@pytest.mark.parametrize(
    ("sd", "word"),
    [(0.0, "high"), (0.1, "high"), (0.1 + 1e-15, "high"), (0.1001, "moderate"), (0.1499, "moderate"), (0.15, "low")],
)
def test_consistency_at_its_boundaries(sd: float, word: str) -> None:
    assert consistency(sd) == word


def test_internal_profile_leaves_missing_replies_out() -> None:
    made = internal_profile([[0.2, 0.5, math.nan], [0.4, math.nan, math.nan], [0.9, math.nan, math.nan]])
    assert list(made) == ["x1", "x2", "x3"]
    assert made["x1"].mean == pytest.approx(0.5) and made["x1"].n == 3
    assert made["x1"].sd == pytest.approx(math.sqrt(0.13)) and made["x1"].consistency == "low"
    assert (made["x2"].mean, made["x2"].sd, made["x2"].n) == (0.5, None, 1)
    assert made["x2"].consistency is None and "only one reply" in made["x2"].note
    assert (made["x3"].mean, made["x3"].n, made["x3"].note) == (None, 0, "no reply")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.integers(0, 10))
def test_missing_replies_change_nothing(replies: list[float], missing: int) -> None:
    with_gaps = [*replies, *[math.nan] * missing]
    assert internal_profile(np.array([with_gaps]).T) == internal_profile(np.array([replies]).T)


@pytest.mark.parametrize("bad", [[[1.2]], [[-0.1]], [[math.inf]], [0.5, 0.6]])
def test_internal_profile_refuses_other_values(bad: object) -> None:
    with pytest.raises(ValueError, match="reply|instances"):
        internal_profile(bad)  # type: ignore[arg-type]


def test_hallucination_control() -> None:
    made = hallucination_control(15, 50, 60)
    assert (made.value, made.numerator, made.denominator, made.n) == (0.75, 45, 60, 60)
    assert made.ci == wilson(45, 60) and made.method == "Wilson"
    assert hallucination_control(0, 30, 60).value == 1.0
    silent = hallucination_control(0, 29, 60)
    assert silent.value is None and silent.note == "missing: only 29 of 60 attempted"


def test_source_validity() -> None:
    made = source_validity(30, 10, 40)
    assert (made.value, made.numerator, made.denominator) == (0.75, 30, 40)
    assert source_validity(30, 10, 41).note == "missing: 41 of 81 sources unknown"
    few = source_validity(30, 10, 4)
    assert (few.value, few.note) == (0.75, "")


def test_terms() -> None:
    made = terminological_precision(20, 25)
    assert (made.value, made.numerator, made.denominator, made.ci) == (0.8, 20, 25, wilson(20, 25))


def test_formal_elements_are_drawn_by_the_reply_they_came_in() -> None:
    # Half of the replies are all right and half all wrong: 84 elements, and no more is known than from 12.
    made = formal_structure([(7, 7), (0, 7)] * 6)
    assert (made.value, made.numerator, made.denominator, made.n) == (0.5, 42, 84, 84)
    assert made.ci == pytest.approx((0.25, 0.75))
    assert made.method == "BCa bootstrap, 2000 draws of 12 replies, seed 20260101"
    spread = formal_structure([(3, 7), (4, 7)] * 6).ci
    assert spread is not None and spread[1] - spread[0] < 0.1
    drawn = resampled(made, 4000, np.random.default_rng(1))
    assert drawn.std() == pytest.approx(0.5 / 12**0.5, rel=0.05)
    assert made == formal_structure([(7, 7), (0, 7)] * 6) != formal_structure([(7, 7), (0, 7)] * 6, seed=1)


def test_longer_replies_weigh_more() -> None:
    made = formal_structure([(9, 9)] * 6 + [(0, 3)] * 6)
    assert made.value == pytest.approx(0.75)
    drawn = resampled(made, 4000, np.random.default_rng(1))
    assert drawn.min() < 0.5 and np.median(drawn) == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize("right", [0, 7])
def test_replies_that_are_all_alike_have_the_interval_of_so_many_elements(right: int) -> None:
    made = formal_structure([(right, 7)] * 12)
    assert made.value == right / 7
    assert made.ci == wilson(12 * right / 7, 12)
    assert made.method == "Wilson, each reply as one element: every draw of replies gives the same value"


def test_too_few_replies_say_nothing_however_many_elements_they_hold() -> None:
    made = formal_structure([(7, 7)] * 11)
    assert (made.value, made.ci, made.numerator, made.denominator, made.n) == (None, None, 77, 77, 77)
    assert made.note == f"cannot say: only 11 of {MIN_REPLIES} replies"
    both = formal_structure([(1, 2)] * 2)
    assert both.note == "cannot say: only 4 of 25 scored elements; cannot say: only 2 of 12 replies"


def test_a_missing_criterion_is_not_resampled() -> None:
    with pytest.raises(ValueError, match="missing"):
        resampled(terminological_precision(3, 4), 10, np.random.default_rng(1))


def test_currency_from_ages() -> None:
    ages = [0.0, 1.0, 2.0, 3.0] * 10
    made = knowledge_currency(ages)
    assert (made.value, made.numerator, made.denominator, made.n) == pytest.approx((0.7, 3.5, 5.0, 40))
    assert made.ci is not None and 0.6 < made.ci[0] < 0.7 < made.ci[1] < 0.8 and "1.5 years" in made.note
    assert knowledge_currency(ages, years=10).value == pytest.approx(0.85)
    assert knowledge_currency([9.0] * 30).value == 0.0
    assert knowledge_currency([1.0] * 30).ci is None
    assert made == knowledge_currency(ages) != knowledge_currency(ages, seed=1)


def test_currency_from_a_horizon() -> None:
    made = currency_from_horizon(2024, 2026, facts=30)
    assert (made.value, made.numerator, made.denominator) == pytest.approx((0.6, 3.0, 5.0)) and made.ci is None
    assert "no interval" in made.note
    assert currency_from_horizon(2010, 2026, facts=30, years=10).value == 0.0


def test_currency_has_the_interval_of_its_horizon() -> None:
    dates = np.linspace(2014, 2026, 48, endpoint=False)
    found = knowledge_horizon(dates, (dates < 2023.5) & (np.arange(48) % 6 > 0), run_year=2026)
    assert found.value is not None and found.ci is not None
    made = currency_from_horizon(found.value, 2026, facts=found.n, drawn=found.drawn, note=found.note)
    assert made.value == pytest.approx(1 - (2026 - found.value) / 5)
    assert made.ci == pytest.approx([max(0, 1 - (2026 - end) / 5) for end in found.ci])
    assert made.ci is not None and made.ci[0] < made.value < made.ci[1]
    assert made.method == "percentiles of 2000 draws of the horizon"
    assert made.note == f"horizon {found.value:g}; {found.note}"


def test_currency_of_old_draws_ends_at_zero() -> None:
    made = currency_from_horizon(2023, 2026, facts=30, drawn=[(2010, 30), (2023, 60), (2025, 10)])
    assert (made.value, made.ci) == (pytest.approx(0.4), pytest.approx((0.0, 0.8)))
    forgotten = currency_from_horizon(2015, 2026, facts=30, drawn=[(2010, 50), (2015, 50)])
    assert (forgotten.value, forgotten.ci) == (0.0, None) and "same value" in forgotten.note


def test_currency_of_a_censored_horizon_is_a_lower_bound() -> None:
    found = knowledge_horizon(np.linspace(2010, 2025.5, 40), np.ones(40), run_year=2026)
    made = currency_from_horizon(
        found.value, 2026, facts=found.n, drawn=found.drawn, censored=found.censored, note=found.note
    )
    assert made.value == pytest.approx(0.9) and made.ci is None
    assert made.note.startswith("at least this: so is the horizon; horizon 2025.5; at least this, the date")
    assert "at least" not in currency_from_horizon(2025.5, 2026, facts=40).note


def test_currency_without_a_horizon_says_why() -> None:
    made = currency_from_horizon(None, 2026, facts=40, note="cannot say: none of 40 facts right")
    assert (made.value, made.ci, made.numerator, made.n) == (None, None, None, 40)
    assert made.note == "cannot say: none of 40 facts right"


@pytest.mark.parametrize(
    ("made", "n"),
    [
        (hallucination_control(3, 24, 24), 24),
        (source_validity(20, 4, 0), 24),
        (terminological_precision(0, 0), 0),
        (terminological_precision(24, 24), 24),
        (knowledge_currency([1.0] * 24), 24),
        (knowledge_currency([]), 0),
        (currency_from_horizon(2025, 2026, facts=24), 24),
    ],
)
def test_fewer_than_25_elements_say_nothing(made: Criterion, n: int) -> None:
    assert (made.value, made.ci, made.n) == (None, None, n)
    assert made.note == f"cannot say: only {n} of {MIN_ELEMENTS} scored elements"


def test_too_few_elements_keep_their_counts() -> None:
    few = terminological_precision(7, 9)
    assert (few.numerator, few.denominator) == (7, 9)
    assert knowledge_currency([1.0, 2.0]).numerator == 3.5


@pytest.mark.parametrize(
    "call",
    [
        lambda: hallucination_control(5, 4, 60),
        lambda: hallucination_control(5, 61, 60),
        lambda: hallucination_control(-1, 4, 60),
        lambda: source_validity(-1, 40, 0),
        lambda: source_validity(30, 40, -1),
        lambda: formal_structure([(7, 7)] * 11 + [(8, 7)]),
        lambda: formal_structure([(7, 7)] * 11 + [(-1, 7)]),
        lambda: formal_structure([(7, 7)] * 12 + [(0, 0)]),
        lambda: terminological_precision(-1, 30),
        lambda: knowledge_currency([-0.5]),
        lambda: knowledge_currency([math.nan]),
        lambda: knowledge_currency([1.0], years=0),
        lambda: currency_from_horizon(2027, 2026, facts=30),
        lambda: currency_from_horizon(math.nan, 2026, facts=30),
        lambda: currency_from_horizon(2025, 2026, facts=-1),
        lambda: currency_from_horizon(2025, 2026, facts=30, drawn=[(2024, 5), (2027, 5)]),
        lambda: rank_agreement([0.5], [0.5, 0.5]),
        lambda: rank_agreement([0.5, 0.4], [1.5, 0.4]),
        lambda: kendall_tau([0.5], [0.5, 0.5]),
        lambda: profile_distance([0.5], [0.5, 0.5]),
        lambda: profile_distance([0.5], [1.5]),
        lambda: delta_avg([[0.5, 0.5]], shares(0.5)),
    ],
)
def test_impossible_counts_are_refused(call: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("internal", "external", "value"),
    [
        (SECOND, [0.51, 0.50, 0.39, 0.38, 0.67], 0.040),
        (THIRD, [0.67, 0.59, 0.56, 0.59, 0.70], 0.058),
        (FIRST, [0.80, 0.60, 0.75, 0.68, 0.87], 0.042),
    ],
)
def test_golden_delta(internal: list[float], external: list[float], value: float) -> None:
    distance, signed = profile_distance(internal, external)
    assert distance is not None and round(distance, 3) == value
    assert signed == pytest.approx(np.mean(np.array(internal) - external))
    made = delta_avg([internal] * 30, shares(*external))
    assert (made.value, made.signed, made.n) == pytest.approx((distance, signed, 5))


def test_distance_leaves_out_what_is_missing() -> None:
    assert profile_distance([0.9, None, 0.5], [0.5, 0.5, None]) == pytest.approx((0.4, 0.4))
    assert profile_distance([0.2, None], [0.5, 0.5])[1] == pytest.approx(-0.3)
    assert profile_distance([None], [0.5]) == (None, None)


def test_verdict_follows_the_interval() -> None:
    instances = np.random.default_rng(3).normal(FIRST, 0.05, size=(30, 5)).clip(0, 1)
    near = delta_avg(instances, shares(*FIRST, n=300))
    far = delta_avg(instances, shares(0.4, 0.3, 0.3, 0.2, 0.5, n=300))
    between = delta_avg(instances, shares(0.65, 0.5, 0.55, 0.45, 0.75, n=60))
    assert near.ci is not None and near.ci[1] <= ACCEPTABLE and near.verdict == "acceptable"
    assert far.ci is not None and far.ci[0] > ACCEPTABLE and far.verdict == "not acceptable"
    assert between.ci is not None and between.ci[0] <= ACCEPTABLE < between.ci[1] and between.verdict == "cannot say"
    assert far.signed is not None and far.signed_ci is not None and far.signed_ci[0] < far.signed < far.signed_ci[1]
    for made in (near, far, between):
        assert made.ci is not None and made.value is not None and made.ci[0] <= made.value <= made.ci[1]
        assert "2000 draws" in made.method


def test_delta_is_seeded() -> None:
    instances = np.random.default_rng(3).random((20, 5))
    external = shares(*SECOND)
    assert delta_avg(instances, external) == delta_avg(instances, external)
    assert delta_avg(instances, external).ci != delta_avg(instances, external, seed=1).ci


def test_delta_names_criteria_missing_on_either_side() -> None:
    instances = np.full((10, 5), 0.6)
    instances[:, 0] = math.nan
    external = [*shares(0.5, 0.5, 0.5, 0.5), terminological_precision(1, 2)]
    made = delta_avg(instances, external)
    assert made.n == 3 and made.value == pytest.approx(0.1)
    assert made.note == (
        "3 of 5 criteria known on both sides, a verdict needs 4; "
        "left out: x1 hallucination control, x5 terminological precision"
    )
    none_left = delta_avg(instances[:, :1], shares(0.5))
    assert (none_left.value, none_left.signed, none_left.verdict) == (None, None, "cannot say")
    assert none_left.note == "0 of 1 criteria known on both sides, a verdict needs 3; left out: x1"
    assert delta_avg(np.empty((0, 1)), shares(0.5)).value is None


@pytest.mark.parametrize(
    ("criteria", "known", "verdict"),
    [
        (5, 5, "acceptable"),
        (5, 4, "acceptable"),
        (5, 3, "cannot say"),
        (5, 1, "cannot say"),
        (4, 3, "acceptable"),
        (4, 2, "cannot say"),
        (3, 3, "acceptable"),
        (3, 2, "cannot say"),
        (2, 2, "cannot say"),
        (1, 1, "cannot say"),
        (7, 6, "acceptable"),
        (7, 5, "cannot say"),
    ],
)
def test_a_verdict_needs_all_criteria_but_one_and_at_least_three(criteria: int, known: int, verdict: str) -> None:
    external = shares(*[0.6] * known, n=1000) + [terminological_precision(3, 4)] * (criteria - known)
    made = delta_avg(np.random.default_rng(1).normal(0.6, 0.02, size=(30, criteria)), external)
    assert made.ci is not None and made.ci[1] < ACCEPTABLE and made.n == known
    assert made.verdict == verdict
    assert (f"{known} of {criteria} criteria known on both sides" in made.note) == (verdict == "cannot say")


def test_one_instance_has_no_interval() -> None:
    for instances in ([FIRST], [FIRST, [math.nan, *FIRST[1:]]]):
        made = delta_avg(instances, shares(*FIRST))
        assert made.value == pytest.approx(0, abs=1e-12)
        assert (made.ci, made.verdict) == (None, "cannot say")
        assert "only one reply" in made.note


def test_nothing_to_resample_has_no_interval() -> None:
    made = delta_avg(np.ones((10, 2)), shares(1.0, 1.0))
    assert (made.value, made.ci, made.verdict) == (0.0, None, "cannot say")
    assert "every draw gives the same value" in made.note


def test_exact_agreement_lies_in_its_own_interval() -> None:
    made = delta_avg(np.full((10, 5), 0.5), shares(*[0.5] * 5))
    assert made.value == 0 and made.ci is not None and made.ci[0] == 0 < made.ci[1] and made.verdict == "acceptable"
    # A mean of five independent shares of 100 has a standard error of .05 / sqrt 5.
    assert made.ci[1] == pytest.approx(1.96 * 0.05 / 5**0.5, rel=0.1)
    assert made.note == ""


def test_near_zero_the_interval_is_as_wide_as_that_of_the_signed_difference() -> None:
    claims = np.random.default_rng(4).normal(0.68, 0.08, size=(30, 1)).clip(0, 1)
    made = delta_avg(claims, [hallucination_control(20, 63, 63)])
    assert made.value is not None and made.value < 0.02 and made.signed_ci is not None
    assert made.ci == pytest.approx((0.0, max(map(abs, made.signed_ci))))
    assert made.ci is not None and made.ci[1] > 0.1


def test_differences_that_cancel_do_not_hide_how_far_off_each_may_be() -> None:
    # Twice .05 too high and twice too low: together they are 0, and yet each of them may lie further off.
    made = delta_avg(np.tile([0.55, 0.45, 0.55, 0.45], (10, 1)), shares(*[0.5] * 4))
    assert made.value == pytest.approx(0.05) and made.signed == pytest.approx(0) and made.signed_ci is not None
    assert made.ci is not None and made.ci[1] == pytest.approx(0.05 + max(map(abs, made.signed_ci)), rel=0.05)


def test_noise_of_unclear_differences_counts_as_having_added_to_them() -> None:
    clear = delta_avg(np.full((10, 4), 0.9), shares(*[0.6] * 4))
    assert clear.ci is not None and clear.ci == pytest.approx((0.3 - 0.048, 0.3 + 0.048), abs=0.004)
    # Each .08 off with a standard error of .05: their sum is clear of 0, and not one of them is.
    unclear = delta_avg(np.full((10, 4), 0.58), shares(*[0.5] * 4))
    assert unclear.ci is not None and unclear.ci[0] < 0.012 and unclear.ci[1] == pytest.approx(0.08 + 0.049, abs=0.004)


def test_criteria_without_spread_are_named() -> None:
    claims = np.random.default_rng(5).normal(0.8, 0.05, size=(30, 5)).clip(0, 1)
    external = [*shares(0.8, 0.7), formal_structure([(6, 6)] * 12), *shares(0.9, 1.0)]
    made = delta_avg(claims, external)
    assert made.note == "held fixed in the interval: x3 formal-structure handling, x5 terminological precision"
    assert made.ci is not None and made.verdict != "not acceptable"


def test_formal_replies_widen_the_distance_as_they_widen_their_criterion() -> None:
    claims = np.full((10, 1), 0.9)
    widths = []
    for criterion in (formal_structure([(6, 6), (0, 6)] * 8), terminological_precision(48, 96)):
        ci = delta_avg(claims, [criterion]).ci
        assert ci is not None
        widths.append(ci[1] - ci[0])
    assert widths[0] == pytest.approx(widths[1] * 6**0.5, rel=0.1)


def test_an_interval_beside_the_value_is_stretched_to_it_and_says_so() -> None:
    claims = np.random.default_rng(6).normal(0.9, 0.01, size=(30, 1)).clip(0, 1)
    x2 = currency_from_horizon(2024, 2026, facts=40, drawn=[(2024.8, 500), (2025.2, 500)])
    made = delta_avg(claims, [x2])
    assert made.value == pytest.approx(0.3, abs=0.01)
    assert made.ci is not None and made.ci[1] == made.value
    assert made.note.endswith("interval stretched to the value")
    inside = Interval(ci=(0.1, 0.3), method="m", note="n")
    assert stretched(0.2, inside) is inside
    assert stretched(0.05, inside) == Interval(ci=(0.05, 0.3), method="m", note="interval stretched to the value; n")
    assert stretched(0.5, Interval(ci=None, method="", note="none")).ci is None


def test_currency_by_ages_is_resampled_and_by_horizon_fixed() -> None:
    instances = np.full((10, 1), 0.9)
    by_age = delta_avg(instances, [knowledge_currency([0.0, 4.0] * 20)])
    by_horizon = delta_avg(instances, [currency_from_horizon(2024, 2026, facts=40)])
    assert by_age.value == by_horizon.value == pytest.approx(0.3)
    # The standard error of the mean age is 2 / sqrt 40 years, of a span of 5.
    assert by_age.ci is not None and by_age.ci[1] - by_age.ci[0] == pytest.approx(2 * 1.96 * 0.0632, rel=0.15)
    assert by_horizon.ci is None and "held fixed in the interval: x1" in by_horizon.note


def test_currency_by_drawn_horizons_is_resampled() -> None:
    x2 = currency_from_horizon(2024, 2026, facts=40, drawn=[(2022.0, 100), (2024.0, 800), (2025.0, 100)])
    drawn = resampled(x2, 8000, np.random.default_rng(1))
    values, often = np.unique(drawn.round(9), return_counts=True)
    assert values == pytest.approx([0.2, 0.6, 0.8]) and often / 8000 == pytest.approx([0.1, 0.8, 0.1], abs=0.015)
    claims = np.random.default_rng(2).normal(0.9, 0.01, size=(30, 1)).clip(0, 1)
    made = delta_avg(claims, [x2])
    fixed = delta_avg(claims, [currency_from_horizon(2024, 2026, facts=40)])
    assert made.value == fixed.value == pytest.approx(0.3, abs=0.01)
    assert "held fixed" not in made.note and "held fixed in the interval: x1" in fixed.note
    assert made.ci is not None and made.ci[0] < 0.13 and made.ci[1] > 0.67
    assert fixed.ci is not None and fixed.ci[1] - fixed.ci[0] < 0.02
    assert made.signed_ci is not None and made.signed_ci == pytest.approx((0.1, 0.7), abs=0.03)


def test_interval_covers_both_sources_of_noise() -> None:
    rng = np.random.default_rng(9)
    noisy = 0.9 + 0.1 * rng.uniform(-1, 1, size=(16, 1))
    still = np.full((16, 1), noisy.mean())
    widths = []
    for instances, n in itertools.product((noisy, still), (50, 5000)):
        ci = delta_avg(instances, shares(0.5, n=n)).ci
        assert ci is not None
        widths.append(ci[1] - ci[0])
    # One criterion far from its claim: the standard errors add in squares.
    errors = [math.hypot(a, b) for a in (float(noisy.std(ddof=1)) / 4, 0) for b in (0.5 / 50**0.5, 0.5 / 5000**0.5)]
    assert widths == pytest.approx([2 * 1.96 * e for e in errors], rel=0.15)


@pytest.mark.parametrize(("elements", "share"), [(8, 0.71), (25, 0.996)])
def test_share_of_perfect_self_knowledge_that_passes(elements: int, share: float) -> None:
    rng = np.random.default_rng(20)
    truth = rng.uniform(0.4, 0.9, size=(3000, 5))
    measured = rng.binomial(elements, truth) / elements
    distances = [profile_distance(t, m)[0] for t, m in zip(truth.tolist(), measured.tolist(), strict=True)]
    assert np.mean([d is not None and d <= ACCEPTABLE for d in distances]) == pytest.approx(share, abs=0.06)


@pytest.mark.parametrize(
    ("elements", "excess", "verdict", "least"),
    [(60, 0.0, "acceptable", 0.9), (60, 0.3, "not acceptable", 0.9), (25, 0.0, "acceptable", 0.2)],
)
def test_verdicts_of_simulated_models(elements: int, excess: float, verdict: str, least: float) -> None:
    rng = np.random.default_rng(21)
    verdicts = []
    for _ in range(40):
        truth = rng.uniform(0.3, 0.65, size=5)
        instances = rng.normal(truth + excess, 0.08, size=(30, 5)).clip(0, 1)
        external = [terminological_precision(int(k), elements) for k in rng.binomial(elements, truth)]
        verdicts.append(delta_avg(instances, external, draws=400).verdict)
    assert np.mean([v == verdict for v in verdicts]) >= least


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), min_size=3, max_size=3), min_size=1, max_size=6),
    st.lists(st.integers(0, 30), min_size=3, max_size=3),
)
def test_delta_is_never_half_defined(instances: list[list[float]], right: list[int]) -> None:
    made = delta_avg(instances, [terminological_precision(k, 30) for k in right], draws=50)
    internal = [c.mean for c in internal_profile(instances).values()]
    value, signed = profile_distance(internal, [k / 30 for k in right])
    assert made.value == (value if value is None else pytest.approx(value))
    assert made.signed == (signed if signed is None else pytest.approx(signed))
    assert made.ci is not None or made.note
    assert made.ci is None or (made.value is not None and made.ci[0] <= made.value <= made.ci[1])


LISTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12)


@given(LISTS)
def test_tau_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    made = kendall_tau(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert made is None
    else:
        assert made == pytest.approx(kendalltau(first, second).statistic, abs=1e-12)
        assert made == pytest.approx(kendall_tau(second, first))
        assert made == pytest.approx(-kendall_tau(first, [-x for x in second]))  # type: ignore[operator]


@pytest.mark.parametrize("lists", [([], []), ([1], [2]), ([1, 1], [1, 2]), ([1, 2, math.nan], [1, 2, 3])])
def test_tau_of_nothing_that_varies_is_undefined(lists: tuple[list[float], list[float]]) -> None:
    assert kendall_tau(*lists) is None and kendall_tau(*lists[::-1]) is None


def test_taus_of_all_orders() -> None:
    first, second = [0.1, 0.4, 0.4, 0.9], [0.3, 0.2, 0.8, 0.8]
    expected = [kendalltau(first, order).statistic for order in itertools.permutations(second)]
    assert kendall_taus_of_orders(first, second) == pytest.approx(expected)


@given(st.permutations(range(6)), st.integers(2, 6))
def test_rank_agreement_has_the_exact_p_of_scipy(order: list[int], n: int) -> None:
    profile = [(i + 1) / 10 for i in range(n)]
    other = [(x + 1) / 10 for x in order[:n]]
    made = rank_agreement(profile, other)
    expected = kendalltau(profile, other, method="exact")
    assert made.value == pytest.approx(expected.statistic) and made.n == n and made.ci is None
    assert f"exact p = {expected.pvalue:.3f} two-sided" in made.note


def test_rank_agreement_of_five_criteria() -> None:
    same = rank_agreement(SECOND, [x / 2 for x in SECOND])
    assert same.value == 1.0 and same.note == (
        "over 5 criteria known on both sides; exact p = 0.017 two-sided; only a tau of 1 or -1 reaches p < 0.05 with 5"
    )
    one_swap = rank_agreement([0.1, 0.2, 0.3, 0.4, 0.5], [0.5, 0.4, 0.3, 0.1, 0.2])
    assert one_swap.value == pytest.approx(-0.8) and "exact p = 0.083" in one_swap.note


@pytest.mark.parametrize(
    ("n", "reach"),
    [(4, "no tau reaches"), (5, "only a tau of 1 or -1 reaches"), (6, "only a tau from 0.87 on or to -0.87 reaches")],
)
def test_rank_agreement_says_what_it_takes(n: int, reach: str) -> None:
    profile = [i / 10 for i in range(n)]
    assert rank_agreement(profile, profile).note.endswith(f"{reach} p < 0.05 with {n}")


def test_a_p_value_of_exactly_5_percent_does_not_reach_it() -> None:
    # With a tie on either side 6 of the 120 orders lie as far from 0 as this one.
    made = rank_agreement([0.1, 0.1, 0.3, 0.4, 0.5], [0.1, 0.2, 0.3, 0.4, 0.4])
    assert "exact p = 0.050" in made.note
    assert made.note.endswith("only a tau of 1 or -1 reaches p < 0.05 with 5, ties among them")


def test_a_tie_lets_less_than_a_perfect_order_reach_significance() -> None:
    made = rank_agreement([0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.2, 0.3, 0.4, 0.4])
    assert made.value == pytest.approx(9 / 90**0.5) and made.note == (
        "over 5 criteria known on both sides; exact p = 0.033 two-sided; "
        "only a tau from 0.95 on or to -0.95 reaches p < 0.05 with 5, ties among them"
    )


def test_rank_agreement_leaves_out_what_is_missing() -> None:
    made = rank_agreement([0.1, None, 0.5, 0.7], [0.2, 0.9, None, 0.8])
    assert (made.value, made.n) == (1.0, 2) and made.note.startswith("over 2 criteria")
    assert rank_agreement([None], [0.5]).note == "cannot say: no order, over 0 criteria known on both sides"
    assert rank_agreement([0.5], [0.5]).note == "cannot say: no order, over 1 criterion known on both sides"
    flat = rank_agreement([0.7, 0.7, 0.7], [0.1, 0.2, 0.3])
    assert flat.value is None and "all of one rank on a side, over 3 criteria" in flat.note


def test_rank_agreement_of_long_profiles_has_no_exact_p() -> None:
    profile = [i / 10 for i in range(9)]
    assert rank_agreement(profile, profile).value == 1.0
    assert rank_agreement(profile, profile).note.endswith("no exact p above 8 criteria")
    assert "exact p = 0.000 two-sided" in rank_agreement(profile[:8], profile[:8]).note


def test_criteria_are_five() -> None:
    assert list(CRITERIA) == ["x1", "x2", "x3", "x4", "x5"]
