"""Known ways to get these statistics wrong, one by one."""

import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfdiag.measure import abstention, calibration, confidence, discrimination, recalibration, selective
from selfdiag.measure.correlation import pearson, spearman
from selfdiag.measure.counts import Counts, merge_neighbours, tabulate, tabulate_confidences
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.reliability import group_rows, reliability_diagram
from selfdiag.measure.resampling import newcombe, wilson
from selfdiag.measure.sample import IntervalKind
from selfdiag.measure.summary import Measured, all_metrics, measure_run
from selfdiag.measure.tally import Tally, tally_rows

NONE = math.nan
ROWS = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 1)), min_size=1, max_size=40)


def answered(stated: list[int], correct: list[int]) -> Tally:
    return Tally(answered=tabulate_confidences(stated, correct))


def ece(stated: list[int], correct: list[int]) -> float | None:
    return all_metrics(answered(stated, correct), draws=50)["ece"].value


def silent_about_nothing(measured: Measured) -> None:
    """Fail when a number is missing without a reason, is not finite, or an interval has no width."""
    for name, made in {**measured.metrics, **measured.composite.parts}.items():
        assert made.value is not None or made.note, name
        assert made.ci is not None or made.note, name
        assert all(math.isfinite(x) for x in (made.value or 0, *(made.ci or ()))), name
        assert made.ci is None or made.ci[0] < made.ci[1], name


def test_STA_01_a_confidence_of_100_lies_in_the_last_bin() -> None:
    assert ece([95, 100], [1, 0]) == pytest.approx(0.475)
    (last,) = reliability_diagram(tabulate_confidences([95, 100], [1, 0]))
    assert (last.low, last.high, last.n) == (0.9, 1.0, 2)


def test_STA_02_a_confidence_of_0_lies_in_the_first_bin() -> None:
    assert ece([0], [1]) == 1
    assert ece([0], [0]) == 0
    for closed in ("left", "right"):
        assert calibration.equal_width_bins(np.array([0.0]), closed).item() == 0  # type: ignore[arg-type]


@given(ROWS)
def test_STA_03_no_bin_is_skipped(rows: list[tuple[int, int]]) -> None:
    counts = tabulate_confidences([c for c, _ in rows], [y for _, y in rows])
    assert sum(b.n for b in reliability_diagram(counts)) == len(rows)
    for bins in (5, 10, 15):
        index = calibration.equal_width_bins(counts.levels, bins=bins)
        assert index.min() >= 0
        assert index.max() <= bins - 1
        by_bin = [abs(float(counts.excess[index == number].sum())) for number in range(bins)]
        assert float(calibration.ece(counts, bins=bins)) == pytest.approx(sum(by_bin) / len(rows), abs=1e-12)


def test_STA_04_number_and_rule_of_bins_stand_beside_every_ece() -> None:
    rng = np.random.default_rng(4)
    p = rng.integers(0, 101, 200) / 100
    tally = Tally(answered=tabulate(p, rng.random(200) < 0.2 + 0.5 * p))
    values = set()
    for bins in (5, 10, 15):
        metrics = all_metrics(tally, draws=50, ece_bins=bins)
        assert metrics["ece"].note.startswith(f"{bins} equal-width bins, closed on the left")
        assert metrics["mce"].note.startswith(f"{bins} equal-width bins, those of 5 or more")
        values.add(metrics["ece"].value)
    assert len(values) == 3
    assert metrics["ece_equal_mass"].note.startswith("10 bins of about equal size")
    assert metrics["ece_sweep"].note.startswith(f"{calibration.sweep_bins(tally.answered)} bins of about equal size")
    assert metrics["smooth_ece"].note.startswith("no bins")
    assert sum(b.n for b in reliability_diagram(tally.answered)) == 200


def test_STA_05_empty_and_small_bins_give_no_nan_and_are_marked() -> None:
    counts = tabulate_confidences([15, 55, 95], [0, 1, 1])
    bins = reliability_diagram(counts)
    assert [(b.low, b.n, b.few) for b in bins] == [(0.1, 1, True), (0.5, 1, True), (0.9, 1, True)]
    assert all(b.ci[1] - b.ci[0] > 0.7 for b in bins)
    measured = measure_run(Tally(answered=counts), draws=200)
    silent_about_nothing(measured)
    assert measured.metrics["ece"].value == pytest.approx((0.15 + 0.45 + 0.05) / 3)
    assert measured.metrics["mce"].note == "not defined: no bin holds 5 answers"
    assert not reliability_diagram(tabulate_confidences([95] * 5, [1] * 5))[0].few


@pytest.mark.parametrize(("correct", "word"), [(1, "right"), (0, "wrong")])
def test_STA_06_auroc_of_one_class_is_not_defined(correct: int, word: str) -> None:
    metrics = all_metrics(answered([50, 60, 70, 80, 90], [correct] * 5))
    assert metrics["auroc"] == Estimate(value=None, n=5, note=f"not defined: all answers were {word}")
    for name in ("discrimination", "brier_skill", "calibration_slope"):
        assert metrics[name].value is None, name
        assert metrics[name].note == f"not defined: all answers were {word}", name


OF_COUNTS: list[Callable[[Counts], object]] = [
    calibration.brier,
    calibration.brier_skill,
    calibration.reliability,
    calibration.resolution,
    calibration.uncertainty,
    calibration.gap,
    calibration.ece,
    calibration.mce,
    calibration.ece_by_value,
    calibration.ece_equal_mass,
    calibration.ece_sweep,
    calibration.sweep_bins,
    confidence.median_confidence,
    confidence.modal_share,
    confidence.sure_share,
    discrimination.auroc,
    discrimination.delong_se,
    discrimination.discrimination,
    discrimination.logit_delong_interval,
    discrimination.roc,
    recalibration.corp_miscalibration,
    recalibration.corp_discrimination,
    recalibration.recalibrate,
    recalibration.intercept_at_slope_one,
    recalibration.smooth_ece,
    recalibration.spiegelhalter_z,
    selective.aurc,
    selective.e_aurc,
    selective.augrc,
    selective.high_confidence_error,
    selective.risk_coverage,
    lambda counts: selective.error_at_coverage(counts, 0.8),
    lambda counts: selective.operating_point(counts, 0.8),
    lambda counts: selective.threshold_score(counts, 0.75),
    reliability_diagram,
    lambda counts: group_rows({"physics": counts}),
]


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_STA_07_no_data_and_one_item_raise_nothing(interval: IntervalKind) -> None:
    for stated, correct in (([], []), ([80], [1]), ([80], [0])):
        tally = answered(stated, correct)
        for measure in OF_COUNTS:
            value = measure(tally.answered)
            assert stated or not isinstance(value, np.ndarray) or np.isnan(value), measure
        silent_about_nothing(measure_run(tally, draws=100, interval=interval, full_intervals=True))
        assert abstention.bounds(tally).accuracy == (None if not stated else (correct[0], correct[0]))
    assert wilson(0, 0) is None
    assert newcombe(0, 0, 1, 1) is None
    nothing = all_metrics(answered([], []))
    assert nothing["brier"] == Estimate(value=None, n=0, note="no data: no graded answer states a confidence")
    assert nothing["accuracy"] == Estimate(value=None, n=0, note="no data: no answer was graded")
    one = all_metrics(answered([80], [1]))
    assert one["brier"].value == pytest.approx(0.04)
    assert one["brier"].ci is None
    assert one["accuracy"].ci == wilson(1, 1)


def test_STA_08_an_auroc_of_tied_confidences_is_no_measurement() -> None:
    constant = all_metrics(answered([90] * 20, [1] * 12 + [0] * 8))
    assert constant["auroc"].value == 0.5
    assert constant["auroc"].note.startswith("confidence constant")
    assert constant["auroc"].ci is None
    assert constant["calibration_slope"].note == "not defined: confidence constant"
    assert constant["modal_share"].note.startswith("echo")
    varied = all_metrics(answered([90] * 19 + [95], [1] * 12 + [0] * 8))
    assert "confidence constant" not in varied["auroc"].note


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_STA_09_identical_answers_have_no_interval_of_zero_width(interval: IntervalKind) -> None:
    metrics = all_metrics(answered([90] * 10, [1] * 10), interval=interval)
    assert metrics["accuracy"].ci == wilson(10, 10)
    assert metrics["accuracy"].ci == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert metrics["accuracy"].method == "Wilson"
    assert metrics["brier"].value == pytest.approx(0.01)
    assert metrics["brier"].ci is None
    assert metrics["brier"].note.startswith("no interval: every draw gives the same value")


def test_STA_09_ten_of_ten_items_with_three_rows_each() -> None:
    outcome, p, item = ["correct"] * 30, [0.9] * 30, [str(i // 3) for i in range(30)]
    made = all_metrics(tally_rows(outcome, p), tally_rows(outcome, p, item=item))["accuracy"]
    assert made.method == "Wilson over items"
    assert made.ci == wilson(10, 10)
    traps = all_metrics(
        tally_rows(["abstained"] * 30, p, trap=True), tally_rows(["abstained"] * 30, p, trap=True, item=item)
    )
    assert traps["trap_abstention"].ci == wilson(10, 10)


def sure_of_few(sure: int, outcomes: list[str]) -> tuple[list[str], list[float], list[int]]:
    """Two rows for each of 60 items, the first ``sure`` of them at 95 with these outcomes, the rest at 50."""
    outcome = [*outcomes, *["correct", "incorrect"] * (60 - sure)]
    return outcome, [0.95] * 2 * sure + [0.5] * 2 * (60 - sure), [i // 2 for i in range(120)]


def test_STA_09_wilson_counts_the_items_behind_the_share() -> None:
    outcome, p, item = sure_of_few(4, ["correct"] * 8)
    made = all_metrics(tally_rows(outcome, p), tally_rows(outcome, p, item=item))
    sure = made["high_confidence_error_90"]
    assert (sure.value, sure.n, sure.method, sure.ci) == (0, 8, "Wilson over items", wilson(0, 4))
    assert sure.note.startswith("0 of 8 wrong; undefined in ")
    outcome, p = ["correct"] * 60 + ["incorrect"] * 60, [0.95] * 60 + [0.5] * 60
    by_item = tally_rows(outcome, p, item=[i // 6 for i in range(120)])
    kept = all_metrics(tally_rows(outcome, p), by_item)["error_at_coverage_20"]
    assert (kept.value, kept.n, kept.method, kept.ci) == (0, 24, "Wilson over items", wilson(0, 10))


def test_STA_10_where_draws_are_undefined_a_share_has_wilsons_interval_over_its_items_and_says_so() -> None:
    outcome, p, item = sure_of_few(2, ["correct"] * 2 + ["incorrect"] * 2)
    made = all_metrics(tally_rows(outcome, p), tally_rows(outcome, p, item=item))["high_confidence_error_90"]
    assert (made.value, made.ci, made.method) == (0.5, wilson(1, 2), "Wilson over items")
    assert made.note.startswith("2 of 4 wrong; undefined in ")


def test_rows_of_one_item_are_no_test_of_calibration() -> None:
    outcome, p, item = sure_of_few(15, ["correct", "incorrect"] * 15)
    rows = tally_rows(outcome, p)
    alone, clustered = all_metrics(rows), all_metrics(rows, tally_rows(outcome, p, item=item))
    assert "two-sided p = " in alone["spiegelhalter_z"].note
    assert "no p: rows of one item counted as independent" in clustered["spiegelhalter_z"].note
    assert clustered["spiegelhalter_z"].value == alone["spiegelhalter_z"].value
    for name in ("ece", "mce", "reliability"):
        assert "too narrow: rows of one item" in clustered[name].note and "too narrow" not in alone[name].note


def test_values_do_not_come_from_a_table_by_item_with_merged_confidences() -> None:
    rng = np.random.default_rng(2)
    p = np.repeat(rng.integers(0, 101, 150) / 100, 2)
    outcome, item = np.where(rng.random(300) < p, "correct", "incorrect").tolist(), np.repeat(np.arange(150), 2)
    rows, merged = tally_rows(outcome, p), tally_rows(outcome, merge_neighbours(p, 20), item=item)
    found, plain = all_metrics(rows, merged, draws=200), all_metrics(rows, draws=200)
    for name in ("brier", "auroc", "aurc", "median_confidence", "high_confidence_error_90"):
        assert found[name].value == plain[name].value
    assert "20 groups of neighbouring confidences" in found["brier"].method


def test_STA_10_undefined_resamples_are_counted_and_too_many_leave_no_interval() -> None:
    eight = all_metrics(answered([90, 80, 70, 60, 50, 40, 30, 20], [1] * 7 + [0]))
    # a share of (7/8)^8 = .34 of the resamples lacks the wrong answer
    missing = eight["brier_skill"]
    assert missing.value is not None
    assert missing.ci is None
    assert missing.note.startswith("no interval: undefined in ")
    assert undefined_draws(missing) == pytest.approx(2000 * (7 / 8) ** 8, abs=100)
    assert eight["auroc"].note == "no interval: needs 5 wrong answers, has 1"
    twenty = all_metrics(answered(list(range(0, 100, 5)), [0, 0, 0] + [1] * 17))["discrimination"]
    assert twenty.ci is not None
    assert undefined_draws(twenty) == pytest.approx(2000 * (17 / 20) ** 20, abs=40)


def undefined_draws(made: Estimate) -> int:
    words = made.note.split("undefined in ")[1].split()
    assert words[1:4] == ["of", "2000", "draws"]
    return int(words[0])


def test_STA_11_nothing_is_written_to_the_screen() -> None:
    code = (
        "from selfdiag.measure.summary import measure_run; from selfdiag.measure.tally import tally_rows\n"
        "for right, wrong in ((10, 0), (0, 10), (1, 0), (0, 0), (5, 5)):\n"
        "    for interval in ('percentile', 'bca'):\n"
        "        tally = tally_rows(['correct'] * right + ['incorrect'] * wrong, [.9] * (right + wrong))\n"
        "        measure_run(tally, draws=50, interval=interval, full_intervals=True)\n"
    )
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_STA_15_failures_are_not_wrong_answers() -> None:
    outage = measure_run(tally_rows(["error"] * 20, [NONE] * 20))
    assert all(made.value is None for made in outage.metrics.values())
    assert outage.metrics["accuracy"].note.startswith("no data")
    assert outage.tier.letter == "-"
    assert outage.tier.advice == "Not enough to judge: no probe got a reply."
    tally = tally_rows(["correct"] * 12 + ["incorrect"] * 3 + ["error"] * 5, [0.8] * 15 + [NONE] * 5)
    metrics = all_metrics(tally)
    assert (metrics["accuracy"].value, metrics["accuracy"].n) == (12 / 15, 15)
    assert metrics["usable_share"].value == 1
    assert (int(tally.graded), int(tally.asked) + tally.errors) == (15, 20)


def test_STA_17_percents_and_fractions_do_not_mix() -> None:
    assert all_metrics(answered([80], [1]), draws=50)["brier"].value == pytest.approx(0.04)
    assert float(calibration.brier(tabulate([0.8], [1]))) == pytest.approx(0.04)
    with pytest.raises(ValueError, match="between 0 and 1"):
        tabulate([80], [1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        tally_rows(["correct"], [80])
    with pytest.raises(ValueError, match="integer from 0 to 100"):
        tabulate_confidences([0.8], [1])


def test_STA_18_an_answer_without_confidence_counts_for_accuracy_alone() -> None:
    metrics = all_metrics(tally_rows(["correct"] * 10, [0.8] * 6 + [NONE] * 4))
    assert (metrics["accuracy"].n, metrics["brier"].n, metrics["ece"].n) == (10, 6, 6)
    assert metrics["brier"].value == pytest.approx(0.04)
    assert metrics["brier"].note.startswith("4 graded without a confidence left out")


def test_STA_19_abstaining_on_everything_is_seen_from_both_sides() -> None:
    measured = measure_run(tally_rows(["abstained"] * 20, [NONE] * 20, trap=[True] * 10 + [False] * 10))
    metrics = measured.metrics
    assert (metrics["trap_abstention"].value, metrics["trap_abstention"].n) == (1, 10)
    assert (metrics["non_answer"].value, metrics["non_answer"].n) == (1, 10)
    assert metrics["youden"].value == 0
    assert metrics["abstention_f1"].note.startswith("precision 0.500; at this mix of probes and traps")
    assert measured.composite.parts["traps"].value == 0
    assert measured.tier.letter == "-"


def test_STA_20_an_answer_that_cannot_be_read_earns_nothing() -> None:
    read = tally_rows(["correct"] * 3 + ["incorrect"] * 5, [0.9] * 8)
    unread = tally_rows(["correct"] * 3 + ["incorrect"] * 5 + ["unparsed"] * 4, [0.9] * 12)
    assert int(unread.right) == 3
    before, after = all_metrics(read), all_metrics(unread)
    for name in ("accuracy", "brier", "simpleqa_f", "omniscience"):
        assert (after[name].value, after[name].n) == (before[name].value, before[name].n), name
    assert after["usable_share"].value == pytest.approx(8 / 12)
    assert abstention.bounds(unread).accuracy == pytest.approx((3 / 12, 7 / 12))


def test_STA_21_three_answers_look_like_three_answers() -> None:
    measured = measure_run(answered([70, 80, 90], [0, 1, 1]))
    silent_about_nothing(measured)
    assert measured.metrics["auroc"].value == 1
    assert measured.metrics["auroc"].ci is None
    assert measured.metrics["auroc"].note == "no interval: needs 5 wrong answers, has 1"
    assert measured.tier.letter == "-"
    (row,) = group_rows({"physics": tabulate([0.7, 0.8, 0.9], [0, 1, 1])})
    assert row.n == 3
    assert row.ci is not None
    assert row.ci[1] - row.ci[0] > 0.6
    assert row.gap_band is not None
    assert row.gap_band > 0.4


def test_STA_22_a_constant_correlates_with_nothing() -> None:
    for correlation in (pearson, spearman):
        assert correlation([90.0] * 5, [1.0, 0, 1, 1, 0]) is None
        assert correlation([1.0, 0, 1, 1, 0], [90.0] * 5) is None
    for name in ("calibration_slope", "calibration_intercept"):
        made = all_metrics(answered([90] * 6, [1, 1, 1, 0, 0, 0]), draws=50)[name]
        assert (made.value, made.note) == (None, "not defined: confidence constant")


def test_STA_23_values_are_not_rounded() -> None:
    thirds = all_metrics(answered([50] * 3, [1, 0, 0]), draws=50)
    assert thirds["accuracy"].value == 1 / 3
    eighth = all_metrics(answered([50] * 8, [1] + [0] * 7), draws=50)
    assert eighth["accuracy"].value == 0.125
    rng = np.random.default_rng(23)
    measured = measure_run(answered([60] * 45, (rng.random(45) < 0.5).astype(int).tolist()))
    assert len(measured.tier.probabilities) > 1
    assert math.fsum(measured.tier.probabilities.values()) == pytest.approx(1, abs=1e-12)


def test_STA_24_the_same_run_gives_the_same_numbers_and_names_the_seed() -> None:
    rng = np.random.default_rng(24)
    p = rng.integers(0, 21, 60) / 20
    outcome = np.where(rng.random(60) < p, "correct", "incorrect").tolist()
    item = [str(number // 2) for number in range(60)]
    first, again = (measure_run(tally_rows(outcome, p), tally_rows(outcome, p, item=item)) for _ in range(2))
    assert first == again
    assert measure_run(tally_rows(outcome[::-1], p[::-1])) == measure_run(tally_rows(outcome, p))
    seeded, other = (all_metrics(tally_rows(outcome, p), seed=seed)["brier"] for seed in (5, 6))
    assert seeded.method.endswith("seed 5")
    assert seeded.value == other.value
    assert seeded.ci != other.ci
