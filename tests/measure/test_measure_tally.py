"""From rows to counts, and the measures of abstaining."""

import math

import numpy as np
import pytest

from selfdiag.measure import abstention
from selfdiag.measure.counts import Counts, tabulate, tabulate_confidences
from selfdiag.measure.summary import all_metrics, confidence_metrics
from selfdiag.measure.tally import Tally, tally_rows

NONE = math.nan
OUTCOMES = ["correct", "correct", "incorrect", "incorrect", "abstained", "refused", "truncated", "unparsed"]
STATED = [0.9, NONE, 0.8, NONE, 0.7, NONE, 0.6, NONE]


def test_every_outcome_has_its_place() -> None:
    tally = tally_rows([*OUTCOMES, "empty", "overflow", "error"], [*STATED, NONE, NONE, NONE])
    assert (int(tally.answered.hits), int(tally.answered.misses)) == (1, 1)
    assert (int(tally.right_unstated), int(tally.wrong_unstated)) == (1, 1)
    assert (int(tally.abstained), int(tally.refused), int(tally.unusable), tally.errors) == (1, 1, 4, 1)
    assert (int(tally.right), int(tally.wrong), int(tally.graded)) == (2, 2, 4)
    assert (int(tally.usable), int(tally.asked)) == (6, 10)
    assert int(tally.trap_usable) == 0


def test_every_trap_outcome_has_its_place() -> None:
    outcome = ["abstained", "abstained", "incorrect", "incorrect", "refused", "truncated", "error"]
    free = [False, True, False, False, False, False, False]
    tally = tally_rows(outcome, [0.9, 0.2, 0.8, NONE, 0.5, 0.4, NONE], trap=True, free_text=free)
    assert (int(tally.trap_abstained), int(tally.trap_abstained_free_text)) == (2, 1)
    assert (int(tally.trap_incorrect), int(tally.trap_missed.n)) == (2, 1)
    assert (int(tally.trap_refused), int(tally.trap_unusable), tally.trap_errors) == (1, 1, 1)
    assert (int(tally.trap_usable), int(tally.asked), int(tally.answered.n)) == (5, 0, 0)
    assert float(abstention.trap_abstention(tally)) == pytest.approx(2 / 5)
    assert float(abstention.trap_abstention_token_only(tally)) == pytest.approx(1 / 5)
    assert float(abstention.missed_trap_confidence(tally)) == pytest.approx(80)


def test_attempted_counts_silence_with_a_confidence_as_wrong() -> None:
    tally = tally_rows(OUTCOMES, STATED, attempted=True)
    assert (int(tally.answered.hits), int(tally.answered.misses)) == (1, 2)
    assert (int(tally.abstained), int(tally.refused)) == (0, 1)
    assert int(tally_rows(["refused"], [0.9], attempted=True).wrong) == 1
    trap = tally_rows(["abstained"], [0.9], trap=True, attempted=True)
    assert (int(trap.trap_abstained), int(trap.answered.n)) == (1, 0)
    metrics = confidence_metrics(tally, draws=50)
    assert metrics["accuracy"].value == pytest.approx(2 / 5)
    assert "trap_abstention" not in metrics


def test_items_add_up_to_the_run() -> None:
    items = tally_rows(OUTCOMES, STATED, item=["b", "a", "b", "a", "c", "c", "d", "d"])
    assert items.asked.tolist() == [2, 2, 2, 2]
    run = tally_rows(OUTCOMES, STATED)
    assert np.array_equal(items.summed().probe_cells(), run.probe_cells())
    assert np.array_equal(items.summed().trap_cells(), run.trap_cells())


def test_cells_carry_everything() -> None:
    tally = Tally(
        answered=tabulate([0.1, 0.5, 0.5], [0, 1, 0]),
        right_unstated=np.array(1),
        wrong_unstated=np.array(2),
        abstained=np.array(3),
        refused=np.array(4),
        unusable=np.array(5),
        trap_missed=tabulate([0.9, 0.9], [0, 0]),
        trap_incorrect=np.array(6),
        trap_abstained=np.array(7),
        trap_abstained_free_text=np.array(2),
        trap_refused=np.array(8),
        trap_unusable=np.array(9),
        errors=10,
        trap_errors=11,
    )
    again = tally.with_cells(tally.probe_cells(), tally.trap_cells())
    for name in [
        "right_unstated",
        "wrong_unstated",
        "abstained",
        "refused",
        "unusable",
        "trap_incorrect",
        "trap_abstained",
        "trap_abstained_free_text",
        "trap_refused",
        "trap_unusable",
        "errors",
        "trap_errors",
        "graded",
        "asked",
        "trap_usable",
    ]:
        assert int(getattr(again, name)) == int(getattr(tally, name)), name
    assert again.answered.right.tolist() == tally.answered.right.tolist()
    assert again.trap_missed.wrong.tolist() == tally.trap_missed.wrong.tolist()
    assert int(tally.probe_cells().sum()) == 3 + 1 + 2 + 3 + 4 + 5
    assert int(tally.trap_cells().sum()) == 6 + 7 + 8 + 9


def test_bad_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown outcome 'right'"):
        tally_rows(["right"], [0.5])
    with pytest.raises(ValueError, match="between 0 and 1"):
        tally_rows(["correct"], [80])
    with pytest.raises(ValueError, match="2 confidences for 1 outcomes"):
        tally_rows(["correct"], [0.5, 0.5])


@pytest.mark.parametrize(
    ("p", "correct"),
    [([80], [1]), ([-0.1], [1]), ([NONE], [1]), ([0.5], [2]), ([0.5], [0, 1]), ([0.5], [NONE])],
)
def test_bad_answers_are_refused(p: list[float], correct: list[float]) -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1|right \(1\) or wrong \(0\)|confidences for"):
        tabulate(p, correct)


@pytest.mark.parametrize("confidence", [[101], [-1], [0.5], [NONE]])
def test_confidences_are_integers_from_0_to_100(confidence: list[float]) -> None:
    with pytest.raises(ValueError, match="confidence"):
        tabulate_confidences(confidence, [1])


def test_bad_tables_are_refused() -> None:
    one = np.array([1])
    for levels, right, wrong, message in (
        ([0.5, 0.6], one, one, "one column per level"),
        ([0.5], one, np.array([[1]]), "differ in shape"),
        ([1.5], one, one, "between 0 and 1"),
        ([0.6, 0.5], np.array([1, 1]), np.array([1, 1]), "ascending"),
    ):
        with pytest.raises(ValueError, match=message):
            Counts(np.array(levels), right, wrong)


def test_abstention_rates() -> None:
    tally = Tally(
        answered=tabulate([0.5] * 12, [1] * 7 + [0] * 5),
        abstained=np.array(3),
        refused=np.array(1),
        unusable=np.array(4),
        trap_abstained=np.array(6),
        trap_abstained_free_text=np.array(2),
        trap_incorrect=np.array(3),
        trap_refused=np.array(1),
    )
    expected = {
        abstention.trap_abstention: 0.6,
        abstention.trap_abstention_token_only: 0.4,
        abstention.non_answer: 4 / 16,
        abstention.youden: 0.35,
        abstention.abstention_precision: 6 / 9,
        abstention.abstention_f1: 2 * (6 / 9) * 0.6 / (6 / 9 + 0.6),
        abstention.simpleqa_f: 14 / (16 + 12),
        abstention.omniscience: 100 * 2 / 16,
        abstention.usable_share: 16 / 20,
    }
    for measure, value in expected.items():
        assert float(measure(tally)) == pytest.approx(value), measure.__name__


def test_f1_without_any_abstention_is_0_and_without_traps_missing() -> None:
    missed = Tally(answered=tabulate([0.5], [1]), trap_incorrect=np.array(4))
    assert float(abstention.abstention_f1(missed)) == 0
    assert math.isnan(float(abstention.abstention_f1(Tally(abstained=np.array(2)))))


def test_threshold_score_counts_silence_as_nothing() -> None:
    tally = tally_rows(["correct", "incorrect", "abstained", "refused"], [0.9, 0.9, NONE, NONE])
    assert all_metrics(tally)["threshold_score_75"].value == pytest.approx((1 - 3) / 4)


def test_bounds_move_every_unusable_reply_both_ways() -> None:
    tally = tally_rows(["correct"] * 6 + ["incorrect"] * 2 + ["truncated"] * 2 + ["abstained"], [0.9] * 7 + [NONE] * 4)
    bounds = abstention.bounds(tally)
    assert bounds.accuracy == pytest.approx((0.6, 0.8))
    known = 7 * 0.9 - 6
    assert bounds.gap == pytest.approx(((known - 2) / 10, (known + 2 + 1) / 10))
    unstated = abstention.bounds(tally_rows(["correct", "correct", "incorrect"], [0.9, NONE, NONE]))
    assert unstated.accuracy == pytest.approx((2 / 3, 2 / 3))
    assert unstated.gap == pytest.approx(((-0.1 - 1) / 3, (-0.1 + 1) / 3))
    assert abstention.bounds(Tally()).accuracy is None


@pytest.mark.parametrize("levels", [1, 2, 3, 5])
def test_every_confidence_of_a_missed_trap_has_its_own_cell(levels: int) -> None:
    stated = [(level + 1) / 10 for level in range(levels) for _ in range(level + 1)]
    missed = tally_rows(["incorrect"] * len(stated), stated, trap=True).trap_missed
    assert missed.wrong.tolist() == list(range(1, levels + 1))
    assert missed.right.tolist() == [0] * levels
