"""What holds for every set of answers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfdiag.measure import calibration, confidence, discrimination, recalibration, selective
from selfdiag.measure.counts import Counts, accuracy, mean_confidence, pool, tabulate, tabulate_confidences
from selfdiag.measure.reliability import reliability_diagram
from selfdiag.measure.summary import all_metrics
from selfdiag.measure.tally import Tally

Rows = list[tuple[int, bool]]
ROWS = st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=1, max_size=40)
COARSE = st.lists(st.tuples(st.sampled_from([0, 30, 50, 60, 70, 95, 100]), st.booleans()), min_size=1, max_size=40)
ANY_ROWS = st.one_of(ROWS, COARSE)

IN_UNIT = [
    accuracy,
    mean_confidence,
    calibration.brier,
    calibration.reliability,
    calibration.resolution,
    calibration.uncertainty,
    calibration.ece,
    calibration.ece_by_value,
    calibration.ece_equal_mass,
    calibration.ece_sweep,
    calibration.mce,
    discrimination.auroc,
    recalibration.corp_miscalibration,
    recalibration.corp_discrimination,
    recalibration.smooth_ece,
    selective.aurc,
    selective.oracle_aurc,
    selective.e_aurc,
    selective.augrc,
    selective.high_confidence_error,
    confidence.modal_share,
]
VECTORISED = [
    *IN_UNIT,
    calibration.brier_skill,
    calibration.gap,
    discrimination.discrimination,
    discrimination.delong_se,
    recalibration.spiegelhalter_z,
    recalibration.calibration_slope,
    recalibration.intercept_at_slope_one,
    confidence.median_confidence,
    confidence.distinct_values,
]


def table(rows: Rows) -> Counts:
    return tabulate_confidences([c for c, _ in rows], [y for _, y in rows])


@given(ANY_ROWS)
def test_shares_and_errors_lie_between_0_and_1(rows: Rows) -> None:
    counts = table(rows)
    for measure in IN_UNIT:
        value = float(measure(counts))
        assert math.isnan(value) or -1e-12 <= value <= 1 + 1e-9, measure.__name__


RANGES = {
    "gap": (-1, 1),
    "discrimination": (-1, 1),
    "youden": (-1, 1),
    "brier_skill": (-math.inf, 1),
    "resolution": (0, 0.25),
    "uncertainty": (0, 0.25),
    "corp_discrimination": (0, 0.25),
    "threshold_score_50": (-1, 1),
    "threshold_score_75": (-3, 1),
    "threshold_score_90": (-9, 1),
    "omniscience": (-100, 100),
    "median_confidence": (0, 100),
    "missed_trap_confidence": (0, 100),
    "distinct_values": (1, 101),
    **dict.fromkeys(("spiegelhalter_z", "calibration_slope", "calibration_intercept"), (-math.inf, math.inf)),
}
"""Where a metric can lie; all others lie between 0 and 1."""


@settings(max_examples=30)
@given(ANY_ROWS, st.integers(0, 3), st.integers(0, 3))
def test_metrics_and_their_intervals_stay_in_range(rows: Rows, missed: int, spotted: int) -> None:
    tally = Tally(
        answered=table(rows),
        trap_missed=tabulate_confidences([90] * missed, [0] * missed),
        trap_incorrect=np.array(missed),
        trap_abstained=np.array(spotted),
        abstained=np.array(1),
    )
    for name, made in all_metrics(tally, draws=40, full_intervals=True).items():
        low, high = RANGES.get(name, (0, 1))
        for value in (made.value, *(made.ci or ())):
            assert value is None or low - 1e-9 <= value <= high + 1e-9, name


@given(ANY_ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(rows: Rows, random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for measure in VECTORISED:
        assert np.array_equal(measure(table(rows)), measure(table(shuffled)), equal_nan=True)


@given(ANY_ROWS)
def test_murphy_terms_add_up_to_the_brier_score(rows: Rows) -> None:
    counts = table(rows)
    terms = calibration.reliability(counts) - calibration.resolution(counts) + calibration.uncertainty(counts)
    assert float(terms) == pytest.approx(float(calibration.brier(counts)), abs=1e-12)


@given(ANY_ROWS)
def test_corp_terms_add_up_to_the_brier_score(rows: Rows) -> None:
    counts = table(rows)
    terms = (
        recalibration.corp_miscalibration(counts)
        - recalibration.corp_discrimination(counts)
        + calibration.uncertainty(counts)
    )
    assert float(terms) == pytest.approx(float(calibration.brier(counts)), abs=1e-12)


@given(ANY_ROWS)
def test_no_binned_error_is_below_the_gap(rows: Rows) -> None:
    counts = table(rows)
    gap = abs(float(calibration.gap(counts)))
    for measure in (calibration.ece, calibration.ece_equal_mass, calibration.ece_sweep):
        assert gap - 1e-9 <= float(measure(counts)) <= float(calibration.ece_by_value(counts)) + 1e-9


@given(ANY_ROWS)
def test_auroc_is_symmetric_when_labels_flip(rows: Rows) -> None:
    area = float(discrimination.auroc(table(rows)))
    flipped = float(discrimination.auroc(table([(c, not y) for c, y in rows])))
    assert (math.isnan(area) and math.isnan(flipped)) or area + flipped == pytest.approx(1)


@given(ANY_ROWS)
def test_auroc_is_symmetric_when_confidence_flips(rows: Rows) -> None:
    area = float(discrimination.auroc(table(rows)))
    flipped = float(discrimination.auroc(table([(100 - c, y) for c, y in rows])))
    assert (math.isnan(area) and math.isnan(flipped)) or area + flipped == pytest.approx(1)
    both = float(discrimination.auroc(table([(100 - c, not y) for c, y in rows])))
    assert both == pytest.approx(area, nan_ok=True)


@given(ANY_ROWS)
def test_monotone_transforms_leave_order_based_measures_alone(rows: Rows) -> None:
    counts = table(rows)
    bent = Counts((counts.levels**3 + counts.levels) / 2, counts.right, counts.wrong)
    for measure in (discrimination.auroc, discrimination.delong_se, selective.aurc, selective.augrc):
        assert np.array_equal(measure(counts), measure(bent), equal_nan=True)
    assert selective.risk_coverage(counts) == selective.risk_coverage(bent)


@given(ANY_ROWS)
def test_bin_counts_add_up_to_n(rows: Rows) -> None:
    for closed in ("left", "right"):
        bins = reliability_diagram(table(rows), closed)
        assert sum(b.n for b in bins) == len(rows)
        assert all(b.low - 1e-9 <= b.mean_confidence <= b.high + 1e-9 for b in bins)
        assert all(b.ci[0] <= b.accuracy <= b.ci[1] for b in bins)


@given(ANY_ROWS)
def test_diagram_and_ece_agree(rows: Rows) -> None:
    bins = reliability_diagram(table(rows))
    from_bins = sum(b.n * abs(b.mean_confidence - b.accuracy) for b in bins) / len(rows)
    assert float(calibration.ece(table(rows))) == pytest.approx(from_bins, abs=1e-9)


@given(ANY_ROWS)
def test_risk_under_ties_is_the_expected_risk(rows: Rows) -> None:
    risks, rest = [], sorted(rows, key=lambda row: -row[0])
    kept = errors = 0
    while rest:
        tied = [row for row in rest if row[0] == rest[0][0]]
        rate = sum(not y for _, y in tied) / len(tied)
        risks += [(errors + place * rate) / (kept + place) for place in range(1, len(tied) + 1)]
        kept, errors = kept + len(tied), errors + sum(not y for _, y in tied)
        rest = rest[len(tied) :]
    counts = table(rows)
    assert float(selective.aurc(counts)) == pytest.approx(np.mean(risks), abs=1e-9)
    shares = [risk * (i + 1) / len(rows) for i, risk in enumerate(risks)]
    assert float(selective.augrc(counts)) == pytest.approx(np.mean(shares), abs=1e-9)
    for percent in (100, 80, 60, 40, 20):
        m = -(-percent * len(rows) // 100)
        at = float(selective.error_at_coverage(counts, percent / 100))
        assert at == pytest.approx(risks[m - 1], abs=1e-9)
    assert selective.risk_coverage(counts).risk == pytest.approx(tuple(risks), abs=1e-9)


@given(ANY_ROWS)
def test_augrc_follows_from_auroc_and_accuracy(rows: Rows) -> None:
    counts = table(rows)
    area, right = float(discrimination.auroc(counts)), float(accuracy(counts))
    if not math.isnan(area):
        n, wrong = len(rows), 1 - right
        expected = (1 - area) * right * wrong + wrong**2 / 2 + wrong / (2 * n)
        assert float(selective.augrc(counts)) == pytest.approx(expected, abs=1e-9)


@given(st.lists(ANY_ROWS, min_size=2, max_size=4))
def test_many_tables_at_once_give_what_each_gives_alone(sets: list[Rows]) -> None:
    singles = [table(rows) for rows in sets]
    levels = pool(singles).levels
    empty = Counts(levels, np.zeros(levels.size, dtype=np.int64), np.zeros(levels.size, dtype=np.int64))
    wide = [pool([empty, single]) for single in singles]
    stacked = Counts(levels, np.stack([t.right for t in wide]), np.stack([t.wrong for t in wide]))
    for measure in VECTORISED:
        alone = np.array([float(measure(single)) for single in singles])
        assert measure(stacked) == pytest.approx(alone, abs=1e-7, nan_ok=True), measure.__name__


@given(ANY_ROWS)
def test_profile_agrees_with_numpy(rows: Rows) -> None:
    stated = [c for c, _ in rows]
    for q in (0.25, 0.5, 0.75):
        assert float(confidence.confidence_quantile(table(rows), q)) == pytest.approx(np.quantile(stated, q))
    assert int(confidence.distinct_values(table(rows))) == len(set(stated))
    assert float(confidence.sure_share(table(rows))) == pytest.approx(np.mean([c >= 80 for c in stated]))


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_any_fraction_is_a_confidence(rows: list[tuple[float, bool]]) -> None:
    counts = tabulate([p for p, _ in rows], [y for _, y in rows])
    for measure in IN_UNIT:
        value = float(measure(counts))
        assert math.isnan(value) or -1e-9 <= value <= 1 + 1e-9, measure.__name__
    plain = float(np.mean([(p - y) ** 2 for p, y in rows]))
    assert float(calibration.brier(counts)) == pytest.approx(plain, abs=1e-12)


@given(ANY_ROWS)
def test_roc_encloses_the_auroc(rows: Rows) -> None:
    curve = discrimination.roc(table(rows))
    area = float(discrimination.auroc(table(rows)))
    if math.isnan(area):
        assert curve.threshold == ()
    else:
        assert np.trapezoid(curve.hit_rate, curve.false_alarm_rate) == pytest.approx(area)
        assert (curve.hit_rate[-1], curve.false_alarm_rate[-1]) == pytest.approx((1, 1))
        assert curve.threshold[0] is None


@given(ANY_ROWS, st.integers(1, 20))
def test_merging_neighbours_keeps_sums_and_order(rows: Rows, groups: int) -> None:
    counts = table(rows)
    merged = counts.merged(groups)
    assert merged.levels.size <= groups
    assert (int(merged.hits), int(merged.misses)) == (int(counts.hits), int(counts.misses))
    assert float(calibration.gap(merged)) == pytest.approx(float(calibration.gap(counts)), abs=1e-12)
    assert np.array_equal(discrimination.auroc(counts.merged(1000)), discrimination.auroc(counts), equal_nan=True)


def test_curves_of_no_answers_are_empty() -> None:
    assert selective.risk_coverage(table([])).kept == ()
    assert discrimination.roc(table([])).threshold == ()
    assert selective.operating_point(table([]), 0.5).coverage == 0


@given(ANY_ROWS, st.integers(0, 100))
def test_operating_point_counts_what_is_let_through(rows: Rows, threshold: int) -> None:
    point = selective.operating_point(table(rows), threshold / 100)
    kept = [y for c, y in rows if c >= threshold]
    assert (point.kept, point.wrong) == (len(kept), sum(not y for y in kept))
    assert point.coverage == pytest.approx(len(kept) / len(rows))
    assert point.accuracy == (pytest.approx(np.mean(kept)) if kept else None)
