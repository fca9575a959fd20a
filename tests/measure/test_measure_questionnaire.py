"""Scores of the questionnaire, against hand-made replies and independent formulas."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.questionnaire import (
    DOMAINS,
    column_means,
    cronbach_alpha,
    domain_scores,
    framing_shift,
    index_a,
    retest,
    reverse_keyed,
    wording_effect,
    yes_rate,
)

REVERSE = [False] * 10 + [True] * 5
REPLIES = st.sampled_from([0.0, 0.5, 1.0, math.nan])


def tables(columns: int = 15) -> st.SearchStrategy[list[list[float]]]:
    return st.lists(st.lists(REPLIES, min_size=columns, max_size=columns), min_size=1, max_size=6)


def published() -> Floats:
    """Raw replies of 25 instances with the domain means .628, .640 and 0 (before reverse keying)."""
    mai = np.array([1.0] * 78 + [0.5] + [0.0] * 46).reshape(25, 5)
    sris = np.array([1.0] * 80 + [0.0] * 45).reshape(25, 5)
    return np.hstack([mai, sris, np.zeros((25, 5))])


def simulated(instances: int = 12, statements: int = 6, seed: int = 4) -> Floats:
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=(instances, 1)) + rng.normal(size=(instances, statements))
    return np.digitize(trait, [-0.7, 0.7]) / 2


def test_golden_index_a() -> None:
    scored = reverse_keyed(published(), REVERSE)
    domains = domain_scores(scored)
    assert [round(domains[name].mean.value or 0, 3) for name in DOMAINS] == [0.628, 0.640, 1.0]
    made = index_a(scored)
    assert made.value == pytest.approx(0.756, abs=1e-12) and made.n == 375
    assert made.ci is not None and made.ci[0] < 0.756 < made.ci[1]
    assert domains["SDQ"].sd == 0.0 and domains["SDQ"].mean.ci is None
    assert "same value" in domains["SDQ"].mean.note


def test_domain_sd_is_over_instances() -> None:
    scored = np.zeros((3, 15))
    scored[0, :5], scored[1, :5] = 1.0, [1.0, 1.0, 0.5, 0.0, 0.0]
    made = domain_scores(scored)["MAI"]
    assert made.mean.value == pytest.approx(0.5) and made.sd == pytest.approx(0.5)
    assert made.mean.n == 15 and "draws of instances" in made.mean.method


def test_PAR_48_reverse_keying_flips_once_and_keeps_missing_replies_missing() -> None:
    raw = [[0.0, 0.0, math.nan], [0.5, 1.0, math.nan]]
    scored = reverse_keyed(raw, [False, True, True])
    assert np.array_equal(scored, [[0.0, 1.0, math.nan], [0.5, 0.0, math.nan]], equal_nan=True)
    assert raw[0][0] == 0.0 and np.array_equal(reverse_keyed(scored, [False, True, True]), raw, equal_nan=True)


@pytest.mark.parametrize("call", [domain_scores, index_a])
def test_fifteen_statements_are_needed(call: object) -> None:
    with pytest.raises(ValueError, match="14 statements, not 15"):
        call(np.zeros((3, 14)))  # type: ignore[operator]


@pytest.mark.parametrize("call", [yes_rate, cronbach_alpha, retest])
@pytest.mark.parametrize("bad", [[[1.5]], [[-0.5]], [0.5]])
def test_other_values_are_refused(call: object, bad: object) -> None:
    with pytest.raises(ValueError, match="reply|instances"):
        call(bad)  # type: ignore[operator]


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="2 keys for 3 statements"):
        reverse_keyed([[0.0, 0.5, 1.0]], [True, False])
    with pytest.raises(ValueError, match="2 neutral and 3 affirming"):
        framing_shift([0.0, 1.0], [0.0, 1.0, 1.0])


def test_missing_replies_weigh_no_statement_down() -> None:
    scored = np.full((4, 15), 0.5)
    scored[:, 0] = [1.0, math.nan, math.nan, math.nan]
    scored[:, 5] = math.nan
    domains = domain_scores(scored)
    assert domains["MAI"].mean.value == pytest.approx(0.6) and domains["MAI"].mean.n == 17
    assert domains["SRIS"].mean.value == pytest.approx(0.5) and domains["SRIS"].mean.n == 16
    assert "statement 6" in domains["SRIS"].mean.note
    made = index_a(scored)
    assert made.value == pytest.approx((0.6 + 0.5 + 0.5) / 3) and made.n == 53 and "statement 6" in made.note


def test_a_domain_without_replies_leaves_no_index() -> None:
    scored = np.full((3, 15), 0.5)
    scored[:, 5:10] = math.nan
    domains = domain_scores(scored)
    assert domains["SRIS"].mean == Estimate(value=None, note="no replies") and domains["SRIS"].sd is None
    assert index_a(scored) == Estimate(value=None, n=30, note="no reply in SRIS")


def test_no_replies_at_all() -> None:
    for table in (np.empty((0, 15)), np.full((3, 15), math.nan)):
        assert index_a(table).note == "no reply in MAI, SRIS, SDQ"
        assert yes_rate(table) == Estimate(value=None, note="no replies")
        assert cronbach_alpha(table).value is None
        assert retest(table).note == "fewer than two instances with replies"


def test_one_instance_has_no_interval_and_no_sd() -> None:
    scored = np.full((2, 15), math.nan)
    scored[0] = 0.5
    made = domain_scores(scored)["MAI"]
    assert made.mean.value == 0.5 and made.mean.ci is None and made.sd is None and "fewer than two" in made.note
    for value in (made.mean, index_a(scored), yes_rate(scored)):
        assert "only one instance" in value.note


def test_yes_rate_counts_given_raw_replies() -> None:
    made = yes_rate([[1.0, 1.0, 0.5, math.nan], [1.0, 0.0, 0.5, 0.0]])
    assert made.value == pytest.approx(3 / 7) and made.n == 7
    assert made.ci is not None and made.ci == pytest.approx((0.25, 2 / 3))
    agreeing = np.ones((5, 15))
    assert yes_rate(agreeing).value == 1.0
    assert yes_rate(reverse_keyed(agreeing, REVERSE)).value == pytest.approx(2 / 3)


def test_alpha_agrees_with_the_covariance_form() -> None:
    scored = simulated()
    covariance = np.cov(scored.T)
    k = len(covariance)
    made = cronbach_alpha(scored)
    assert made.value == pytest.approx(k / (k - 1) * (1 - np.trace(covariance) / covariance.sum()), abs=1e-12)
    assert made.n == 12 and made.ci is not None and made.ci[0] < (made.value or 0) < made.ci[1] <= 1


def test_alpha_of_copies_and_of_opposites() -> None:
    column = np.array([0.0, 0.5, 1.0, 1.0])[:, None]
    assert cronbach_alpha(np.repeat(column, 4, axis=1)).value == pytest.approx(1.0)
    with_gap = np.vstack([np.repeat(column, 4, axis=1), [0.0, 1.0, math.nan, 0.0]])
    made = cronbach_alpha(with_gap)
    assert made.value == pytest.approx(1.0) and made.n == 4 and "1 of 5 instances left out" in made.note
    opposite = np.hstack([column, 1 - column])
    assert cronbach_alpha(opposite).value is None and "does not vary" in cronbach_alpha(opposite).note


@pytest.mark.parametrize(
    ("scored", "why"),
    [
        (np.full((5, 3), 0.7), "the sum over statements does not vary"),
        (np.array([[0.0], [1.0]]), "fewer than two statements"),
        (np.array([[0.0, 1.0], [math.nan, 1.0]]), "fewer than two complete instances"),
    ],
)
def test_alpha_is_undefined(scored: Floats, why: str) -> None:
    made = cronbach_alpha(scored)
    assert made.value is None and why in made.note


def test_retest_agrees_with_pearson_over_pairs() -> None:
    scored = simulated(instances=7, statements=9)
    scored[2, 4] = math.nan
    correlations = []
    for a, b in itertools.combinations(scored, 2):
        both = ~np.isnan(a) & ~np.isnan(b)
        correlations.append(np.corrcoef(a[both], b[both])[0, 1])
    made = retest(scored)
    assert made.value == pytest.approx(np.mean(correlations)) and made.n == 7
    assert made.ci is not None and made.ci[0] < (made.value or 0) < made.ci[1]


def test_retest_of_equal_and_of_opposite_instances() -> None:
    profile = np.array([0.0, 0.5, 1.0, 1.0])
    same = retest(np.array([profile] * 3))
    assert same.value == pytest.approx(1.0) and "100 % identical" in same.note
    assert retest(np.array([profile, 1 - profile])).value == pytest.approx(-1.0)


def test_retest_of_a_model_that_never_varies() -> None:
    made = retest(np.ones((4, 15)))
    assert made.value is None and "100 % identical" in made.note and "6 of 6 pairs" in made.note


def test_retest_needs_shared_replies() -> None:
    gap = math.nan
    made = retest([[0.0, 1.0, gap, gap], [0.0, 1.0, gap, gap]])
    assert made.value is None and "1 of 1 pairs" in made.note
    apart = retest([[0.0, 1.0, gap, gap], [gap, gap, 0.0, 1.0]])
    assert apart.value is None and "no statement answered twice" in apart.note
    assert retest([[0.0, 1.0, 0.5, gap], [0.0, 1.0, 0.5, gap], [1.0] * 4]).value == pytest.approx(1.0)


def test_framing_shift_is_paired_by_item() -> None:
    neutral, affirming = np.linspace(0, 0.8, 9), np.linspace(0, 0.8, 9) + 0.1
    made = framing_shift(neutral, affirming)
    assert made.value == pytest.approx(0.1) and made.n == 9
    assert made.ci is None and "same value" in made.note
    rng = np.random.default_rng(6)
    noisy = framing_shift(neutral, affirming + rng.uniform(-0.1, 0.1, 9))
    assert noisy.ci is not None and 0 < noisy.ci[0] < (noisy.value or 0) < noisy.ci[1] < 0.2
    assert "paired" in noisy.method


def test_framing_shift_with_repeats_and_missing_replies() -> None:
    neutral = [[0.0, 0.5], [1.0, math.nan], [math.nan, math.nan], [0.5, 0.5]]
    affirming = [[1.0], [1.0], [1.0], [math.nan]]
    made = framing_shift(neutral, affirming)
    assert made.value == pytest.approx((0.75 + 0.0) / 2) and made.n == 2
    assert "2 of 4 items left out" in made.note


def test_framing_shift_without_pairs() -> None:
    assert framing_shift([], []).value is None
    assert framing_shift([math.nan], [1.0]).note.startswith("no item has a reply in both wordings")
    one = framing_shift([0.5], [1.0])
    assert (one.value, one.ci, one.n) == (0.5, None, 1) and "only one item" in one.note


def test_seed_decides_the_interval() -> None:
    scored = np.hstack([simulated(25, 5, seed) for seed in (1, 2, 3)])
    for measure in (index_a, yes_rate, cronbach_alpha, retest):
        first, again, other = measure(scored), measure(scored), measure(scored, seed=2)
        assert first == again and first.value == other.value and first.ci != other.ci
        assert "2000 draws of instances, seed" in first.method


def test_column_means_count_what_is_there() -> None:
    values = np.array([[1.0, math.nan], [0.0, math.nan]])
    made = column_means(values, np.array([[1.0, 1.0], [3.0, 1.0]]))
    assert np.array_equal(made, [[0.5, math.nan], [0.75, math.nan]], equal_nan=True)


@settings(max_examples=40)
@given(tables(), st.randoms(use_true_random=False))
def test_scores_stay_in_range_and_ignore_the_order_of_instances(rows: list[list[float]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for measure in (index_a, yes_rate, cronbach_alpha, retest):
        made, other = measure(rows, draws=20), measure(shuffled, draws=20)
        assert (made.value is None) == (other.value is None) and made.n == other.n
        assert made.value is None or made.value == pytest.approx(other.value, abs=1e-9)
        assert made.ci is not None or made.note
        low = {"cronbach_alpha": -math.inf, "retest": -1.0}.get(measure.__name__, 0.0)
        assert made.value is None or low - 1e-9 <= made.value <= 1 + 1e-9


@settings(max_examples=40)
@given(tables(), st.integers(1, 3))
def test_instances_without_replies_change_nothing(rows: list[list[float]], empty: int) -> None:
    padded = [*rows, *[[math.nan] * 15] * empty]
    for measure in (index_a, yes_rate, retest, domain_scores):
        assert measure(padded, draws=20) == measure(rows, draws=20)
    given = int((~np.isnan(np.array(rows))).sum())
    assert yes_rate(rows, draws=1).n == index_a(rows, draws=1).n == given


@settings(max_examples=40)
@given(tables())
def test_index_is_the_mean_of_the_domains(rows: list[list[float]]) -> None:
    means = [score.mean.value for score in domain_scores(rows, draws=1).values()]
    made = index_a(rows, draws=1).value
    known = [mean for mean in means if mean is not None]
    assert made == (pytest.approx(sum(known) / 3) if len(known) == 3 else None)


def counted_pairs(answers: Floats, wordings: Ints, reworded: bool) -> tuple[int, int]:
    """Count, one by one, pairs that differ and all pairs."""
    pairs = [
        (answers[i, s], answers[j, s])
        for s in range(answers.shape[1])
        for i, j in itertools.combinations(range(len(answers)), 2)
        if min(wordings[i, s], wordings[j, s]) >= 0 and (wordings[i, s] != wordings[j, s]) == reworded
    ]
    known = [(a, b) for a, b in pairs if not (math.isnan(a) or math.isnan(b))]
    return sum(a != b for a, b in known), len(known)


@settings(max_examples=60)
@given(tables(3), st.data())
def test_wording_effect_counts_pairs(answers: list[list[float]], data: st.DataObject) -> None:
    row = st.lists(st.integers(-1, 2), min_size=3, max_size=3)
    wordings = data.draw(st.lists(row, min_size=len(answers), max_size=len(answers)))
    made = wording_effect(answers, wordings, draws=20)
    for estimate, reworded in ((made.different, True), (made.same, False)):
        differ, pairs = counted_pairs(np.array(answers), np.array(wordings), reworded)
        assert estimate.n == pairs
        assert estimate.value == (pytest.approx(differ / pairs) if pairs else None)
        assert estimate.ci is not None or estimate.note


def test_wordings_that_decide_the_answer() -> None:
    wordings = np.random.default_rng(8).integers(3, size=(25, 15))
    made = wording_effect((wordings == 0).astype(float), wordings)
    assert made.same.value == 0 and made.same.ci is None and "same value" in made.same.note
    # Of the three pairs of wordings two give different answers.
    assert made.different.value == pytest.approx(2 / 3, abs=0.05)
    assert made.different.ci is not None and made.different.ci[0] < 2 / 3 < made.different.ci[1]
    assert "2000 draws of instances, seed" in made.different.method
    assert made.different.n + made.same.n == 15 * 25 * 24 // 2


def test_unsteady_answers_differ_whatever_the_wording() -> None:
    rng = np.random.default_rng(9)
    made = wording_effect(rng.integers(2, size=(30, 15)), rng.integers(4, size=(30, 15)))
    for estimate in (made.different, made.same):
        assert estimate.value == pytest.approx(0.5, abs=0.04)
        assert estimate.ci is not None and estimate.ci[0] < 0.5 < estimate.ci[1]


def test_wording_effect_is_seeded() -> None:
    rng = np.random.default_rng(9)
    answers, wordings = rng.integers(2, size=(8, 5)), rng.integers(2, size=(8, 5))
    assert wording_effect(answers, wordings) == wording_effect(answers, wordings)
    assert wording_effect(answers, wordings).same.ci != wording_effect(answers, wordings, seed=1).same.ci


def test_instances_without_a_reply_are_not_drawn() -> None:
    rng = np.random.default_rng(10)
    answers, wordings = rng.integers(2, size=(8, 5)).astype(float), rng.integers(2, size=(8, 5))
    silent = np.vstack([answers, np.full((4, 5), math.nan), np.ones((4, 5))])
    plain = wording_effect(answers, wordings)
    assert wording_effect(silent, np.vstack([wordings, np.zeros((4, 5), int), np.full((4, 5), -1)])) == plain


def test_wordings_never_shared_have_no_base_rate() -> None:
    made = wording_effect([[1.0], [0.0], [1.0]], [[0], [1], [2]])
    assert made.different.value == pytest.approx(2 / 3) and made.different.n == 3
    assert (made.same.value, made.same.n) == (None, 0)
    assert made.same.note == "no statement was answered twice in the same wording"
    assert wording_effect([[1.0]], [[0]]).different.note == "no statement was answered twice in different wordings"
    assert wording_effect(np.empty((0, 3)), np.empty((0, 3), int)).same.value is None


def test_wording_interval_covers_what_a_rerun_would_give() -> None:
    rng = np.random.default_rng(12)
    yes = rng.beta(0.7, 0.7, size=(15, 5))
    between, within = [], []
    for s in range(15):
        differ = yes[s][:, None] * (1 - yes[s]) + (1 - yes[s][:, None]) * yes[s]
        within.append(np.diag(differ).mean())
        between.append((differ.sum() - np.trace(differ)) / 20)
    covered = []
    for _ in range(60):
        wordings = rng.integers(5, size=(25, 15))
        answers = rng.random((25, 15)) < yes[np.arange(15), wordings]
        made = wording_effect(answers, wordings, draws=300)
        for estimate, truth in ((made.different, np.mean(between)), (made.same, np.mean(within))):
            assert estimate.ci is not None
            covered.append(estimate.ci[0] <= truth <= estimate.ci[1])
    assert np.mean(covered) >= 0.88


@pytest.mark.parametrize(
    ("answers", "wordings"),
    [([[1.0]], [0]), ([[1.0, 0.0]], [[0]]), ([[1.0]], [[-2]]), ([[1.0]], [[0.5]]), ([[2.0]], [[0]]), ([1.0], [0])],
)
def test_wording_effect_refuses_other_tables(answers: object, wordings: object) -> None:
    with pytest.raises(ValueError, match="wording|repl"):
        wording_effect(answers, wordings)  # type: ignore[arg-type]
