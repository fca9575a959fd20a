"""Panels: agreement of other models as a signal, beside stated confidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from selfdiag.measure import discrimination
from selfdiag.measure.counts import Ints, pool, tabulate
from selfdiag.measure.panel import (
    AGREE,
    DISAGREE,
    INDETERMINATE,
    Panel,
    canonical_agreement,
    label_free_agreement,
    panel,
    panel_signal,
)

ANSWERS = np.array([[0, 0, 1, -1], [0, 1, 1, 0], [1, 1, 2, 0]])
CORRECT = np.array([[1, 0, 1, -1], [1, 1, 1, 0], [1, 1, 0, 0]])
BY_WORDING = [[1, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]]


def independent(models: int = 3, items: int = 300, seed: int = 0) -> tuple[Ints, Ints, np.ndarray]:
    """Models that are right independently and spread their errors over five wrong answers."""
    rng = np.random.default_rng(seed)
    right = (rng.random((models, items)) < 0.6).astype(np.int64)
    answers = np.where(right == 1, 0, rng.integers(1, 6, right.shape))
    confidence = np.clip(rng.integers(10, 20, right.shape) + right, 0, 20) / 20
    return answers, right, confidence


def of_wording(answers: Ints, right: Ints, confidence: np.ndarray, draws: int = 200) -> Panel:
    return panel(panel_signal(label_free_agreement(answers)), right, confidence, draws=draws)


def test_signal_counts_equal_answers_of_others() -> None:
    assert panel_signal(label_free_agreement(ANSWERS)).tolist() == BY_WORDING


def test_refusals_do_not_agree_with_each_other() -> None:
    refused = np.full((3, 2), -1)
    assert not panel_signal(label_free_agreement(refused)).any()
    assert not panel_signal(label_free_agreement(refused, np.ones((3, 3, 2))), "lenient").any()
    assert not panel_signal(canonical_agreement(refused, refused)).any()


def test_canonical_takes_two_right_answers_for_the_same() -> None:
    # On item 0 the third model is right in other words; nothing else changes.
    expected = [[2, 0, 1, 0], [2, 1, 1, 1], [2, 1, 0, 1]]
    assert panel_signal(canonical_agreement(ANSWERS, CORRECT)).tolist() == expected


def test_partial_overlap_is_bracketed() -> None:
    overlap = np.full((3, 3, 4), DISAGREE)
    overlap[0, 2, 0] = overlap[2, 0, 0] = INDETERMINATE
    overlap[0, 1, 1] = overlap[1, 0, 1] = AGREE
    # A refusal has no words to share.
    overlap[0, 1, 3] = overlap[1, 0, 3] = INDETERMINATE
    pairs = label_free_agreement(ANSWERS, overlap)
    assert panel_signal(pairs, "strict").tolist() == [[1, 1, 1, 0], [1, 2, 1, 1], [0, 1, 0, 1]]
    assert panel_signal(pairs, "lenient").tolist() == [[2, 1, 1, 0], [1, 2, 1, 1], [1, 1, 0, 1]]


@given(hnp.arrays(np.int64, st.tuples(st.integers(3, 6), st.integers(1, 12)), elements=st.integers(-1, 4)))
def test_a_models_own_record_never_counts_for_itself(answers: Ints) -> None:
    pairs = label_free_agreement(answers)
    direct = [
        [sum(row[k] != -1 and row[k] == other[k] for j, other in enumerate(answers) if j != i) for k in range(row.size)]
        for i, row in enumerate(answers)
    ]
    assert panel_signal(pairs).tolist() == direct
    diagonal = np.arange(len(answers))
    for value in (AGREE, DISAGREE, INDETERMINATE):
        pairs[diagonal, diagonal] = value
        assert panel_signal(pairs, "lenient").tolist() == direct


@given(hnp.arrays(np.int64, (3, 6), elements=st.integers(-1, 3)), st.randoms(use_true_random=False))
def test_lenient_is_strict_plus_the_indeterminate(answers: Ints, random) -> None:  # type: ignore[no-untyped-def]
    overlap = np.array([[[random.choice([-1, 0, 1]) for _ in range(6)] for _ in range(3)] for _ in range(3)])
    upper = np.triu(np.ones((3, 3), dtype=bool))[:, :, None]
    pairs = label_free_agreement(answers, np.where(upper, overlap, overlap.swapaxes(0, 1)))
    undecided = (pairs == INDETERMINATE) & ~np.eye(3, dtype=bool)[:, :, None]
    assert (panel_signal(pairs, "lenient") - panel_signal(pairs)).tolist() == undecided.sum(axis=1).tolist()


def test_independent_errors_make_agreement_tell_more_than_confidence() -> None:
    made = of_wording(*independent())
    assert len(made.models) == 3
    for one in (*made.models, made.pooled, made.rank_normalised):
        assert one.own.value is not None and one.panel.value is not None and one.difference.ci is not None
        assert one.panel.value > 0.8 and one.own.value < 0.65
        assert one.difference.value == pytest.approx(one.panel.value - one.own.value)
        assert one.difference.ci[0] > 0.1
        assert one.p is not None and one.p < 0.02
        assert one.panel.ci is not None and one.panel.ci[0] < one.panel.value < one.panel.ci[1]
    assert made.pooled.own.n == made.pooled.difference.n == 900
    assert made.models[0].own.method == "logit-DeLong"
    assert made.pooled.own.method.startswith("percentile bootstrap")
    assert made.lifted == made.replicated == 3
    assert made.mean_lift.value is not None and made.mean_lift.value > 0.25
    assert made.mean_error_correlation.value == pytest.approx(0, abs=0.12)


def test_copies_of_one_model_lift_nothing() -> None:
    answers, right, confidence = (np.repeat(table[:1], 3, axis=0) for table in independent())
    made = of_wording(answers, right, confidence)
    assert [one.panel.value for one in made.models] == [0.5, 0.5, 0.5]
    assert made.mean_lift.value == pytest.approx(0)
    assert made.replicated == 0
    assert [pair.phi.value for pair in made.error_correlations] == pytest.approx([1, 1, 1])


def test_difference_has_the_spread_of_delongs_test() -> None:
    answers, right, confidence = independent(items=400)
    signal = panel_signal(label_free_agreement(answers))
    made = panel(signal, right, confidence, draws=1000).models[0]
    paired = discrimination.paired_delong(signal[0], confidence[0], right[0])
    assert made.difference.value == pytest.approx(paired.difference)
    assert made.difference.ci is not None and paired.ci is not None
    assert made.difference.ci == pytest.approx(paired.ci, abs=0.012)


def test_rows_of_an_item_stay_together() -> None:
    # The same record thrice is no more evidence than once.
    answers, right, confidence = independent(items=120)
    signal = panel_signal(label_free_agreement(answers))[:1].repeat(3, axis=0)
    made = panel(signal, right[:1].repeat(3, axis=0), confidence[:1].repeat(3, axis=0), draws=1500)
    alone, together = made.models[0].difference.ci, made.pooled.difference.ci
    assert alone is not None and together is not None
    assert together[1] - together[0] == pytest.approx(alone[1] - alone[0], rel=0.1)


def test_pooling_by_ranks_leaves_out_which_model_answered() -> None:
    _, right, confidence = independent(items=80)
    confidence = confidence * np.array([[0.2], [0.6], [1.0]])
    right[0, :60], right[2, :70] = 0, 1
    made = panel(np.ones((3, 80)), right, confidence, draws=20)
    tables = [tabulate(p, y) for p, y in zip(confidence, right, strict=True)]
    assert made.pooled.own.value == pytest.approx(float(discrimination.auroc(pool(tables))))
    by_rank = discrimination.auroc(discrimination.rank_normalised(tables))
    assert made.rank_normalised.own.value == pytest.approx(float(by_rank))
    assert made.rank_normalised.panel.value == pytest.approx(0.5)


def test_many_distinct_confidences_are_merged_without_harm() -> None:
    answers, right, _ = independent(items=500)
    confidence = np.random.default_rng(1).random(right.shape) * 0.5 + 0.4 * right
    made = of_wording(answers, right, confidence, draws=20)
    exact = discrimination.auroc(tabulate(confidence.ravel(), right.ravel()))
    assert made.pooled.own.value == pytest.approx(float(exact), abs=1e-9)
    for one in (*made.models, made.pooled):
        assert one.own.value is not None and one.panel.value is not None and one.difference.ci is not None
        assert one.difference.value == pytest.approx(one.panel.value - one.own.value)
        assert one.difference.ci[0] < one.difference.value < one.difference.ci[1]


def test_lift_by_hand() -> None:
    #           all agree on items 0, 1, 2, where two of three are right; 2 of 5 are right overall
    signal = np.array([[2, 2, 2, 1, 0], [2, 2, 2, 0, 1], [2, 2, 2, 1, 1]])
    correct = np.array([[1, 1, 0, 0, 0], [1, 1, 0, 1, -1], [0, 0, -1, 1, 1]])
    made = panel(signal, correct, np.full((3, 5), np.nan), draws=50)
    assert [one.agreed.value for one in made.lifts] == pytest.approx([2 / 3, 2 / 3, 0])
    assert [one.base.value for one in made.lifts] == pytest.approx([2 / 5, 3 / 4, 2 / 4])
    assert [one.lift.value for one in made.lifts] == pytest.approx([4 / 15, -1 / 12, -1 / 2])
    assert [one.lift.n for one in made.lifts] == [3, 3, 2]
    assert (made.replicated, made.lifted) == (0, 3)
    assert made.mean_lift.value == pytest.approx((4 / 15 - 1 / 12 - 1 / 2) / 3)
    assert made.pooled.own.note == "no data: no graded answer states a confidence"


@pytest.mark.parametrize(
    ("agreed", "note"), [(4, "no interval: needs 5"), (5, "too few to trust"), (9, "too few to trust"), (10, "")]
)
def test_a_lift_of_few_agreeing_answers_is_not_replicated(agreed: int, note: str) -> None:
    # Right wherever all agree: draws of these alone would leave the interval next to no width.
    signal = np.zeros((3, 40), dtype=np.int64)
    signal[:, :agreed] = 2
    correct = np.tile((np.arange(40) < 20).astype(np.int64), (3, 1))
    made = panel(signal, correct, np.full((3, 40), 0.5), draws=200)
    assert made.lifts[0].lift.value == pytest.approx(0.5)
    assert made.lifts[0].lift.note.startswith(note)
    assert (made.lifts[0].lift.ci is None) == (made.replicated == 0) == (agreed < 5)
    assert made.mean_lift.value == pytest.approx(0.5)
    assert (
        (made.mean_lift.ci is None) == made.mean_lift.note.startswith("no interval: 3 of the 3 lifts") == (agreed < 5)
    )


def test_error_correlation_by_hand() -> None:
    correct = np.array([[1, 1, 0, 0, -1], [1, 0, 0, 1, 0], [1, 1, 1, 0, 0]])
    made = panel(np.zeros((3, 5)), correct, np.full((3, 5), 0.5), draws=50)
    # Errors on the shared items: {2, 3} and {1, 2}; {2, 3} and {3}; {1, 2, 4} and {3, 4} of five.
    expected = [0.0, (4 * 1 - 2 * 1) / np.sqrt(2 * 2 * 1 * 3), (5 * 1 - 3 * 2) / np.sqrt(3 * 2 * 2 * 3)]
    assert [pair.phi.value for pair in made.error_correlations] == pytest.approx(expected)
    assert [(pair.first, pair.second, pair.phi.n) for pair in made.error_correlations] == [
        (0, 1, 4),
        (0, 2, 4),
        (1, 2, 5),
    ]
    assert made.mean_error_correlation.value == pytest.approx(sum(expected) / 3)
    assert made.mean_error_correlation.n == 3


def test_a_model_that_is_never_wrong_has_no_correlation_and_no_auroc() -> None:
    answers, right, confidence = independent(items=100)
    right[0] = 1
    made = of_wording(answers, right, confidence)
    first, second, third = made.error_correlations
    assert first.phi.value is None and second.phi.value is None and third.phi.value is not None
    assert first.phi.note == "not defined: a model is all right or all wrong on the shared items"
    assert made.mean_error_correlation.value == third.phi.value
    assert made.mean_error_correlation.note == "mean of 1 of 3 pairs of models"
    assert made.models[0].own.value is None and made.models[0].p is None
    assert made.models[0].difference.note == "not defined: all answers were right"
    assert made.models[1].own.value is not None


def test_models_that_never_agree_have_no_lift() -> None:
    _, right, confidence = independent(items=30)
    made = panel(np.zeros((3, 30)), right, confidence, draws=20)
    assert made.lifts[0].lift.value is None and made.lifts[0].agreed.value is None
    assert made.lifts[0].lift.note == "not defined: on no graded item do all panel-mates agree"
    assert made.mean_lift.value is None and made.lifted == 0
    assert made.models[0].difference.value is not None


def test_few_errors_have_no_delong_interval() -> None:
    _, right, confidence = independent(items=40)
    right[0] = 1
    right[0, :4] = 0
    made = panel(np.ones((3, 40)), right, confidence, draws=20)
    assert made.models[0].own.ci is None
    assert made.models[0].own.note == "no interval: needs 5 wrong answers, has 4"


def test_nothing_was_answered() -> None:
    for items in (0, 3):
        made = panel(np.zeros((3, items)), np.full((3, items), -1), np.full((3, items), np.nan), draws=20)
        assert made.pooled.difference.value is None and made.mean_error_correlation.value is None
        assert made.error_correlations[0].phi.note == "no data: no item was graded for both"
        assert made.lifts[0].lift.note == "no data: no answer was graded"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: panel_signal(np.ones((2, 2, 4))), "a panel needs 3 models or more, has 2"),
        (lambda: panel(np.ones((2, 4)), np.ones((2, 4)), np.ones((2, 4))), "a panel needs 3 models"),
        (lambda: panel(np.ones((3, 4)), np.ones((3, 5)), np.ones((3, 4))), "differ in shape"),
        (lambda: panel(np.full((3, 4), 3), np.ones((3, 4)), np.ones((3, 4))), "counts panel-mates"),
        (lambda: panel(np.ones((3, 4)), np.full((3, 4), 2), np.ones((3, 4))), "a grade is 1, 0 or -1"),
        (lambda: panel(np.ones((3, 4)), np.full((3, 4), np.nan), np.ones((3, 4))), "one whole number"),
        (lambda: panel(np.ones((3, 4)), np.ones((3, 4)), np.full((3, 4), 95)), "between 0 and 1"),
        (lambda: panel_signal(np.ones((3, 4))), "for each pair of models"),
        (lambda: canonical_agreement(ANSWERS, CORRECT[:2]), "differ in shape"),
        (lambda: label_free_agreement(ANSWERS, np.ones((3, 3, 3))), "for each pair of models"),
        (lambda: label_free_agreement(ANSWERS, np.full((3, 3, 4), 2)), "holds 1, 0 or -1"),
        (lambda: label_free_agreement(ANSWERS, np.tri(3)[:, :, None].repeat(4, axis=2)), "does not depend"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        call()
