"""What the diagrams show: golden values, and that they agree with the measures they stand beside."""

import itertools
import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfdiag.measure import calibration, discrimination, selective
from selfdiag.measure.comparison_diagrams import (
    OwnModel,
    dose_item,
    dose_response_diagram,
    self_assessment_radar,
    where_it_stands,
)
from selfdiag.measure.constrained import categories, volumes
from selfdiag.measure.counts import Counts, pool, tabulate, tabulate_confidences
from selfdiag.measure.curves import NOT_ASKED, risk_coverage, roc_curve, threshold_explorer
from selfdiag.measure.diagrams import OUTCOMES, ROWS_ALONE, Diagram, confidence_by_outcome, reliability_diagram
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.msi import InternalCriterion
from selfdiag.measure.published import PUBLISHED
from selfdiag.measure.reliability import group_rows
from selfdiag.measure.resampling import percentile_interval, resample_counts, wilson
from selfdiag.measure.tally import tally_rows
from selfdiag.measure.topic_diagrams import constrained_surface, topics

CONFIDENCE = [100, 95, 95, 90, 90, 90, 85, 80, 80, 70, 60, 60, 50, 30, 0, 20]
CORRECT = [1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0]
TABLE = tabulate_confidences(CONFIDENCE, CORRECT)
NOTHING = tabulate_confidences([], [])

Rows = list[tuple[int, bool]]
ROWS = st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=1, max_size=60)
COARSE = st.lists(st.tuples(st.sampled_from([0, 30, 50, 60, 70, 95, 100]), st.booleans()), min_size=1, max_size=60)
ANY_ROWS = st.one_of(ROWS, COARSE)
WORDS = ("correct", "incorrect", "abstained", "refused", "unparsed", "error")
REPLIES = st.lists(
    st.tuples(st.sampled_from(WORDS), st.one_of(st.none(), st.integers(0, 100)), st.booleans()), max_size=60
)


def table(rows: Rows) -> Counts:
    return tabulate_confidences([c for c, _ in rows], [y for _, y in rows])


def leaves(shown: Any) -> Iterator[Any]:
    if isinstance(shown, msgspec.Struct):
        assert shown.__struct_config__.frozen
        yield from itertools.chain.from_iterable(leaves(getattr(shown, name)) for name in shown.__struct_fields__)
    elif isinstance(shown, tuple):
        yield from itertools.chain.from_iterable(leaves(value) for value in shown)
    else:
        yield shown


def check_plain(shown: Diagram) -> None:
    """Every value is plain and finite, and a diagram says why exactly when it has nothing to draw."""
    for value in leaves(shown):
        assert type(value) in {float, int, str, bool, type(None)}, value
        assert not isinstance(value, float) or math.isfinite(value)
    assert json.loads(msgspec.json.encode(shown))
    assert shown.empty == bool(shown.note)


# --- reliability -----------------------------------------------------------------------------------------


def test_golden_reliability_points() -> None:
    shown = reliability_diagram(TABLE)
    assert (shown.n, shown.note, shown.grouped_by, shown.method) == (16, "", "bin", "Wilson")
    assert [(point.low, point.n, round(point.n * point.accuracy)) for point in shown.points] == [
        (0.0, 1, 0),
        (0.2, 1, 0),
        (0.3, 1, 1),
        (0.5, 1, 0),
        (0.6, 2, 1),
        (0.7, 1, 0),
        (0.8, 3, 2),
        (0.9, 6, 4),
    ]
    last = shown.points[-1]
    assert last.mean_confidence == pytest.approx(0.9333333)
    assert last.ci == pytest.approx((0.299993, 0.903229), abs=1e-6)
    assert [point.few for point in shown.points] == [True] * 7 + [False]


def test_null_band_holds_what_a_calibrated_model_shows() -> None:
    last = reliability_diagram(TABLE).points[-1]
    chance = np.zeros(7)
    for right in itertools.product((0, 1), repeat=6):
        chance[sum(right)] += math.prod(
            p if hit else 1 - p for p, hit in zip((0.9, 0.9, 0.9, 0.95, 0.95, 1.0), right, strict=True)
        )
    below = chance.cumsum()
    assert last.band == (int((below < 0.025).sum()) / 6, int((below < 0.975).sum()) / 6)
    assert last.band == pytest.approx((4 / 6, 1.0))
    certain = reliability_diagram(TABLE).points[0]
    assert certain.band == (0.0, 0.0)


def test_few_values_have_a_point_each() -> None:
    counts = tabulate_confidences([80, 85, 85, 90, 90, 90], [1, 0, 1, 1, 1, 0])
    shown = reliability_diagram(counts)
    assert shown.grouped_by == "value"
    assert [(point.low, point.high, point.n) for point in shown.points] == [
        (0.8, 0.8, 1),
        (0.85, 0.85, 2),
        (0.9, 0.9, 3),
    ]
    assert all(point.low == pytest.approx(point.mean_confidence) for point in shown.points)
    in_bins = reliability_diagram(counts, group_by="bin")
    assert [(point.low, point.n) for point in in_bins.points] == [(0.8, 3), (0.9, 3)]


def test_values_give_way_to_bins_at_the_eleventh() -> None:
    ten = tabulate_confidences(range(0, 50, 5), [1] * 10)
    assert reliability_diagram(ten).grouped_by == "value"
    assert reliability_diagram(pool([ten, tabulate([1.0], [0])])).grouped_by == "bin"


def test_intervals_of_clustered_rows_say_that_they_are_too_narrow() -> None:
    assert "too narrow" in reliability_diagram(TABLE, clustered=True).method
    assert topics(group_rows({"a": TABLE}), clustered=True).method == ROWS_ALONE
    assert roc_curve(TABLE).auroc.ci is not None
    area = roc_curve(TABLE, clustered=True).auroc
    assert (area.value, area.ci) == (0.7109375, None)
    assert "several rows" in area.note


@given(ANY_ROWS, st.sampled_from([None, "bin", "value"]))
def test_reliability_points_add_up(rows: Rows, group_by: Any) -> None:
    counts = table(rows)
    shown = reliability_diagram(counts, group_by=group_by)
    check_plain(shown)
    assert sum(point.n for point in shown.points) == shown.n == len(rows)
    off = sum(point.n * abs(point.mean_confidence - point.accuracy) for point in shown.points) / len(rows)
    measure = calibration.ece if shown.grouped_by == "bin" else calibration.ece_by_value
    assert off == pytest.approx(float(measure(counts)), abs=1e-9)
    gap = sum(point.n * (point.mean_confidence - point.accuracy) for point in shown.points) / len(rows)
    assert gap == pytest.approx(float(calibration.gap(counts)), abs=1e-9)


# --- ROC -------------------------------------------------------------------------------------------------


def test_golden_roc() -> None:
    shown = roc_curve(TABLE)
    assert shown.threshold == (None, 1.0, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.3, 0.2, 0.0)
    assert shown.true_positive_rate == tuple(k / 8 for k in (0, 1, 2, 4, 5, 6, 6, 7, 7, 8, 8, 8))
    assert shown.false_positive_rate == tuple(k / 8 for k in (0, 0, 1, 2, 2, 3, 4, 5, 6, 6, 7, 8))
    assert shown.auroc.value == 0.7109375
    assert "too few to trust" in shown.auroc.note


@pytest.mark.parametrize(
    ("right", "wrong", "note"),
    [
        (9, 2, "not enough data: needs 5 wrong answers, has 2"),
        (4, 9, "not enough data: needs 5 right answers, has 4"),
        (0, 3, "not enough data: needs 5 right answers, has 0; needs 5 wrong answers, has 3"),
        (0, 0, "no data: no graded answer states a confidence"),
        (5, 5, ""),
    ],
)
def test_roc_says_what_it_lacks(right: int, wrong: int, note: str) -> None:
    shown = roc_curve(tabulate_confidences([90] * right + [60] * wrong, [1] * right + [0] * wrong))
    assert (shown.note, shown.n) == (note, right + wrong)
    assert shown.empty == (not shown.threshold) == bool(note)
    assert (shown.auroc.value is None) == (not (right and wrong))


@given(ANY_ROWS)
def test_area_under_the_roc_curve_is_the_auroc(rows: Rows) -> None:
    counts = table(rows)
    shown = roc_curve(counts)
    check_plain(shown)
    assert shown.empty == (min(int(counts.hits), int(counts.misses)) < 5)
    if not shown.empty:
        area = np.trapezoid(shown.true_positive_rate, shown.false_positive_rate)
        assert area == pytest.approx(float(discrimination.auroc(counts)))
        assert area == pytest.approx(shown.auroc.value)


# --- confidence by outcome -------------------------------------------------------------------------------


def test_histograms_share_their_bins() -> None:
    shown = confidence_by_outcome(
        ["correct", "correct", "incorrect", "abstained", "incorrect", "abstained", "correct", "refused", "abstained"],
        [0.9, 0.9, 0.9, 0.4, 1.0, 0.7, 0.7, 0.1, math.nan],
        trap=[False, False, False, False, True, True, True, False, False],
    )
    assert shown.bins == ((0.4, 0.4), (0.7, 0.7), (0.9, 0.9), (1.0, 1.0))
    assert {one.outcome: one.bars for one in shown.series} == {
        "right": (0, 0, 2, 0),
        "wrong": (0, 0, 1, 0),
        "abstained": (1, 0, 0, 0),
        "missed trap": (0, 0, 0, 1),
        "spotted trap": (0, 2, 0, 0),
    }
    assert [one.unstated for one in shown.series] == [0, 0, 1, 0, 0]
    assert (shown.n, shown.left_out, shown.y.high) == (7, "1 refused", 2.0)


def test_many_values_are_counted_in_tenths_of_the_whole_number() -> None:
    stated = [0.0, 0.09, 0.3, 0.6, 0.7, 0.29, 0.99, 1.0, 0.5, 0.55, 0.57]
    shown = confidence_by_outcome(["correct"] * 11, stated)
    assert shown.grouped_by == "bin"
    assert shown.bins[3] == (0.3, 0.4)
    assert shown.series[0].bars == (2, 0, 1, 1, 0, 3, 1, 1, 0, 2)
    assert [one.note for one in shown.series] == ["", *["no such reply"] * 4]


def test_histograms_by_value_give_way_at_the_eleventh_value() -> None:
    ten = [place / 20 for place in range(10)]
    assert confidence_by_outcome(["correct"] * 10, ten).grouped_by == "value"
    assert confidence_by_outcome(["correct"] * 11, [*ten, 1.0]).grouped_by == "bin"


def test_histograms_of_nothing_say_so() -> None:
    silent = confidence_by_outcome(["correct", "error", "refused"], [math.nan, math.nan, 0.5])
    assert silent.note == "no data: no reply with one of these outcomes states a confidence"
    assert (silent.series, silent.bins, silent.left_out) == ((), (), "1 error, 1 refused")
    unstated = confidence_by_outcome(["correct", "incorrect"], [0.5, math.nan])
    assert unstated.series[1].note == "none of 1 states a confidence"


def test_histograms_refuse_columns_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="2 confidences for 1 outcomes"):
        confidence_by_outcome(["correct"], [0.1, 0.2])
    with pytest.raises(ValueError, match="between 0 and 1"):
        confidence_by_outcome(["correct"], [80.0])


@given(REPLIES, st.sampled_from([None, "bin", "value"]))
def test_histograms_count_what_the_tally_counts(replies: list[tuple[str, int | None, bool]], group_by: Any) -> None:
    outcome = [word for word, _, _ in replies]
    p = [math.nan if stated is None else stated / 100 for _, stated, _ in replies]
    trap = [of_trap for _, _, of_trap in replies]
    shown = confidence_by_outcome(outcome, p, trap=trap, group_by=group_by)
    check_plain(shown)
    if shown.empty:
        return
    counted = tally_rows(outcome, p, trap=trap)
    of = {one.outcome: one for one in shown.series}
    assert tuple(of) == OUTCOMES
    assert of["right"].n == int(counted.answered.hits)
    assert of["wrong"].n == int(counted.answered.misses)
    assert of["missed trap"].n == int(counted.trap_missed.n)
    assert of["spotted trap"].n + of["spotted trap"].unstated == int(counted.trap_abstained)
    assert of["abstained"].n + of["abstained"].unstated == int(counted.abstained)
    assert all(sum(one.bars) == one.n and len(one.bars) == len(shown.bins) for one in shown.series)
    assert shown.n == sum(one.n for one in shown.series)
    assert shown.y.high == max(max(one.bars) for one in shown.series)


# --- risk and coverage -----------------------------------------------------------------------------------


def test_golden_risk_coverage() -> None:
    shown = risk_coverage(TABLE)
    assert shown.risk[:4] == pytest.approx((0, 0.25, 1 / 3, 1 / 3))
    assert np.mean(shown.risk) == pytest.approx(0.3498384, abs=6e-8)
    assert np.mean(shown.best) == pytest.approx(0.1685641, abs=6e-8)
    assert (shown.aurc.value, shown.oracle_aurc) == pytest.approx((0.3498384, 0.1685641), abs=6e-8)
    assert (shown.risk[-1], shown.coverage[-1], shown.kept[-1], shown.error.value) == (0.5, 1.0, 16, 0.5)
    assert shown.error.ci == wilson(8, 16)
    assert (shown.low, shown.high, shown.method, shown.aurc.note) == ((), (), NOT_ASKED, NOT_ASKED)


def test_pointwise_interval_is_that_of_the_measure() -> None:
    shown = risk_coverage(TABLE, draws=400, seed=3)
    drawn = resample_counts(TABLE, 400, 3)
    for kept in (5, 10, 16):
        expected = percentile_interval(selective.error_at_coverage(drawn, kept / 16)).ci
        assert (shown.low[kept - 1], shown.high[kept - 1]) == expected
    assert shown.aurc.ci == percentile_interval(selective.aurc(drawn)).ci
    assert len(shown.low) == len(shown.high) == 16
    assert "400 draws of rows, seed 3" in shown.method


def test_where_all_draws_agree_the_interval_is_wilsons() -> None:
    shown = risk_coverage(tabulate_confidences([90] * 12, [1] * 12), draws=50)
    assert shown.risk == (0.0,) * 12
    assert (shown.low[-1], shown.high[-1]) == wilson(0, 12)
    assert (shown.low[2], shown.high[2]) == wilson(0, 3)


def test_wilsons_interval_counts_items_where_they_have_several_rows() -> None:
    items = Counts(np.array([0.9]), np.full((4, 1), 3), np.zeros((4, 1), dtype=np.int64))
    shown = risk_coverage(tabulate_confidences([90] * 12, [1] * 12), items=items, draws=50)
    assert (shown.low[-1], shown.high[-1]) == wilson(0, 4)
    assert (shown.low[2], shown.high[2]) == wilson(0, 3)


def test_wilsons_interval_counts_the_items_among_those_kept() -> None:
    stated, right = np.repeat([90, 40], 20), np.repeat([1, 0], 20)
    items = tally_rows(np.where(right, "correct", "incorrect").tolist(), stated / 100, item=np.arange(40) // 4).answered
    shown = risk_coverage(tabulate_confidences(stated, right), items=items, draws=300)
    assert shown.kept[:6] == (1, 2, 3, 4, 5, 6)
    assert (shown.low[5], shown.high[5]) == wilson(0, 5)


def test_rows_of_one_item_are_drawn_together() -> None:
    single = np.random.default_rng(1).random(40) < 0.5
    stated = np.tile([60, 80], 20)
    rows = tabulate_confidences(np.repeat(stated, 4), np.repeat(single, 4))
    items = tally_rows(
        ["correct" if y else "incorrect" for y in np.repeat(single, 4)],
        np.repeat(stated, 4) / 100,
        item=np.repeat(np.arange(40), 4),
    ).answered
    alone = risk_coverage(tabulate_confidences(stated, single), draws=1000)
    clustered, naive = risk_coverage(rows, items=items, draws=1000), risk_coverage(rows, draws=1000)
    width = {
        name: made.high[-1] - made.low[-1] for name, made in (("one", alone), ("items", clustered), ("rows", naive))
    }
    assert width["items"] == pytest.approx(width["one"], rel=0.15)
    assert width["rows"] < 0.6 * width["one"]
    assert "draws of items" in clustered.method
    assert clustered.error.ci == pytest.approx((clustered.low[-1], clustered.high[-1]))
    assert risk_coverage(rows, items=items).error.method == ROWS_ALONE
    kept = threshold_explorer(rows, items=items, draws=1000).at_threshold(80)
    narrow = threshold_explorer(rows, items=items).at_threshold(80)
    assert narrow.accuracy.method == ROWS_ALONE
    assert kept.accuracy.ci is not None and narrow.accuracy.ci is not None
    assert np.ptp(kept.accuracy.ci) > 1.5 * np.ptp(narrow.accuracy.ci)
    assert kept.accuracy.value == narrow.accuracy.value == (kept.kept - kept.let_through) / kept.kept


def test_many_values_are_merged_before_they_are_drawn() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(600)
    counts = tabulate(p, rng.random(600) < p)
    shown = risk_coverage(counts, draws=100)
    assert len(shown.kept) == 200
    assert "256 groups" in shown.method
    assert all(
        low < risk < high for low, risk, high in zip(shown.low, shown.risk, shown.high, strict=True) if risk > 0.2
    )


@given(ANY_ROWS)
def test_mean_of_the_risk_curve_is_the_aurc(rows: Rows) -> None:
    counts = table(rows)
    shown = risk_coverage(counts)
    check_plain(shown)
    assert shown.kept == tuple(range(1, len(rows) + 1))
    assert np.mean(shown.risk) == pytest.approx(float(selective.aurc(counts)), abs=1e-9)
    assert np.mean(shown.best) == pytest.approx(float(selective.oracle_aurc(counts)), abs=1e-9)
    assert all(best <= risk + 1e-12 for best, risk in zip(shown.best, shown.risk, strict=True))


# --- thresholds ------------------------------------------------------------------------------------------


def test_golden_threshold() -> None:
    at = threshold_explorer(TABLE).at_threshold(80)
    assert (at.kept, at.coverage, at.let_through, at.errors) == (9, 9 / 16, 3, 8)
    assert at.accuracy.value == pytest.approx(2 / 3)
    assert (at.accuracy.n, at.accuracy.ci) == (9, wilson(6, 9))
    assert at.gain.value == pytest.approx(1 / 6)
    assert (at.gain.ci, at.gain.note) == (None, NOT_ASKED)


def test_gain_has_a_paired_interval_when_it_is_asked_for() -> None:
    counts = pool([TABLE] * 12)
    shown = threshold_explorer(counts, draws=500, seed=5)
    gain = shown.at_threshold(80).gain
    drawn = resample_counts(counts, 500, 5)
    sure = selective.at_or_above(drawn, 0.8)
    assert gain.ci == percentile_interval(sure.hits / sure.n - drawn.hits / drawn.n).ci
    assert gain.ci is not None and gain.ci[0] < 1 / 6 < gain.ci[1]
    all_kept = shown.at_threshold(0).gain
    assert (all_kept.value, all_kept.ci) == (0.0, None)
    assert "every draw gives the same value" in all_kept.note


def test_threshold_above_every_answer_keeps_none() -> None:
    at = threshold_explorer(tabulate_confidences([60, 70], [1, 0]), draws=20).at_threshold(71)
    assert (at.kept, at.coverage, at.let_through, at.errors) == (0, 0.0, 0, 1)
    assert (at.accuracy.value, at.gain.value, at.gain.ci) == (None, None, None)
    assert at.accuracy.note == at.gain.note == "no answer states 71 or more"


def test_thresholds_are_whole_percents() -> None:
    shown = threshold_explorer(TABLE)
    for wrong in (-1, 101):
        with pytest.raises(ValueError, match="whole percent"):
            shown.at_threshold(wrong)
    with pytest.raises(ValueError, match="no graded answer"):
        threshold_explorer(NOTHING).at_threshold(0)


@given(ANY_ROWS)
def test_every_threshold_does_what_the_measure_says(rows: Rows) -> None:
    counts = table(rows)
    shown = threshold_explorer(counts)
    check_plain(shown)
    assert [at.threshold for at in shown.points] == list(range(101))
    for at in shown.points:
        point = selective.operating_point(counts, at.threshold / 100)
        assert (at.kept, at.let_through, at.coverage) == (point.kept, point.wrong, point.coverage)
        assert at.accuracy.value == (None if point.accuracy is None else pytest.approx(point.accuracy))
        assert at.errors == int(counts.misses)
    assert shown.at_threshold(0).gain.value == 0


# --- topics and the surface ------------------------------------------------------------------------------


def test_topics_stand_in_order_of_their_gap() -> None:
    tables = {
        "calibrated": tabulate_confidences([50] * 10, [1] * 5 + [0] * 5),
        "silent": NOTHING,
        "modest": tabulate_confidences([10] * 10, [1] * 9 + [0]),
        "blind": tabulate_confidences([95] * 4, [0] * 4),
    }
    shown = topics(group_rows(tables))
    check_plain(shown)
    assert [topic.name for topic in shown.topics] == ["blind", "calibrated", "modest"]
    assert [topic.gap for topic in shown.topics] == pytest.approx([0.95, 0.0, -0.8])
    assert [topic.beyond_chance for topic in shown.topics] == [True, False, True]
    assert [topic.few for topic in shown.topics] == [True, False, False]
    assert (shown.n, shown.left_out) == (24, "no answers: silent")
    blind = shown.topics[0]
    assert (blind.accuracy, blind.ci, blind.mean_confidence) == (0.0, wilson(0, 4), pytest.approx(0.95))
    # three of four right is 18 % likely, two of four 1 %: the band reaches to three
    assert blind.band == pytest.approx((0.75, 1.0))


@given(st.lists(ANY_ROWS, min_size=1, max_size=5))
def test_gaps_of_topics_add_up_to_the_gap(sets: list[Rows]) -> None:
    tables = {str(place): table(rows) for place, rows in enumerate(sets)}
    shown = topics(group_rows(tables))
    check_plain(shown)
    whole = pool(list(tables.values()))
    mean = sum(topic.n * topic.gap for topic in shown.topics) / shown.n
    assert mean == pytest.approx(float(calibration.gap(whole)), abs=1e-9)
    for topic in shown.topics:
        inside = topic.band[0] - 1e-9 <= topic.accuracy <= topic.band[1] + 1e-9
        assert topic.beyond_chance != inside


FIXTURE = categories([30, 27, 36, 20], [45] * 4, error=[0.10, 0.25, 0.05, 0.40])


def test_golden_surface() -> None:
    shown = constrained_surface(FIXTURE)
    check_plain(shown)
    assert (shown.n, shown.categories, len(shown.cells)) == (180, 4, 101)
    assert shown.accuracy[60] == shown.tolerance[60] == 0.6
    assert (shown.cells[60][10], shown.cells[60][9], shown.cells[61][100], shown.cells[0][100]) == (2, 1, 2, 4)
    assert (shown.pvc_vus.value, shown.c_pvc_vus.value) == pytest.approx((2.511111, 2.076667), abs=1e-6)
    under = np.trapezoid(np.trapezoid(shown.cells, shown.tolerance), shown.accuracy)
    assert under == pytest.approx(2.0966)
    assert under == pytest.approx(volumes(FIXTURE, grid="paper")["c_pvc_vus"].value)


def test_coarser_surface_is_a_part_of_the_fine_one() -> None:
    fine, coarse = constrained_surface(FIXTURE), constrained_surface(FIXTURE, 5)
    assert coarse.accuracy == tuple(percent / 100 for percent in range(0, 101, 5))
    assert coarse.cells == tuple(row[::5] for row in fine.cells[::5])
    for step in (0, 3):
        with pytest.raises(ValueError, match="divides 100"):
            constrained_surface(FIXTURE, step)


# --- comparisons -----------------------------------------------------------------------------------------


def test_own_models_stand_beside_the_published_ones() -> None:
    shown = where_it_stands(
        [
            OwnModel(name="mine", attempted=TABLE, run_id="r1"),
            OwnModel(name="script", attempted=TABLE, simulated=True, clustered=True),
            OwnModel(name="mute", attempted=NOTHING),
        ]
    )
    check_plain(shown)
    assert [model.name for model in shown.models] == [*(row.maker for row in PUBLISHED), "mine", "script"]
    assert (shown.n, shown.left_out) == (11, "no answers: mute")
    google, mine, script = shown.models[0], *shown.models[-2:]
    assert (google.accuracy, google.mean_confidence, google.gap) == pytest.approx((0.665, 0.928, 0.263))
    assert (google.auroc.value, google.auroc.ci, google.n) == (0.746, (0.722, 0.770), 1461)
    assert google.accuracy_ci == pytest.approx((0.6405, 0.6887), abs=1e-3)
    assert (mine.accuracy, mine.mean_confidence, mine.gap) == pytest.approx((0.5, 0.684375, 0.184375))
    assert (mine.auroc.value, mine.accuracy_ci, mine.run_id, mine.source) == (0.7109375, wilson(8, 16), "r1", "own")
    assert (script.simulated, mine.simulated, script.auroc.ci, script.method) == (True, False, None, ROWS_ALONE)
    assert "count as wrong" in shown.caution
    assert where_it_stands([]).caution == ""


def test_radar_keeps_missing_criteria_missing() -> None:
    shown = self_assessment_radar(
        {
            "x1": InternalCriterion(mean=0.8, sd=0.1, n=30, consistency="high"),
            "x3": InternalCriterion(mean=None, sd=None, n=0, consistency=None, note="no replies"),
        },
        {"x1": Estimate(value=0.5, ci=(0.4, 0.6), n=80), "x2": Estimate(value=None, n=3, note="cannot say")},
    )
    check_plain(shown)
    assert [spoke.name for spoke in shown.spokes] == ["x1", "x2", "x3", "x4", "x5"]
    first, second, third, *_ = shown.spokes
    assert (first.internal, first.internal_sd, first.internal_n) == (0.8, 0.1, 30)
    assert (first.external, first.external_ci, first.external_n) == (0.5, (0.4, 0.6), 80)
    assert (second.internal, second.internal_note, second.external, second.external_note) == (
        None,
        "not asked",
        None,
        "cannot say",
    )
    assert (third.internal, third.internal_note, third.external_note) == (None, "no replies", "not asked")
    assert (shown.n, shown.left_out) == (1, "missing internal: x2, x3, x4, x5; external: x2, x3, x4, x5")


def test_doses_are_points_in_order_of_the_claim() -> None:
    items = [
        dose_item("geography-07", {95: 97.0, 0: 4.0, 50: None}, off_topic={0: 95.0, 95: 96.0}),
        dose_item("history-01", {0: None, 95: None}),
    ]
    shown = dose_response_diagram(items)
    check_plain(shown)
    (item,) = shown.items
    assert (item.name, item.on_topic.claim, item.on_topic.confidence) == ("geography-07", (0.0, 0.95), (0.04, 0.97))
    assert (item.off_topic.confidence, item.on_topic.missing, item.unlabelled.claim) == ((0.95, 0.96), 1, ())
    assert (shown.n, shown.left_out) == (4, "replies without a confidence: 3")


def test_every_diagram_of_nothing_says_why() -> None:
    empty = [
        reliability_diagram(NOTHING),
        roc_curve(NOTHING),
        confidence_by_outcome([], []),
        risk_coverage(NOTHING, draws=10),
        threshold_explorer(NOTHING, draws=10),
        topics([]),
        constrained_surface(categories([], [], error=[])),
        where_it_stands([], ()),
        self_assessment_radar({}, {}),
        dose_response_diagram([dose_item("a", {0: None})]),
    ]
    for shown in empty:
        check_plain(shown)
        assert shown.empty and shown.n == 0
        drawn = [value for value in leaves(shown) if isinstance(value, float) and value not in {0.0, 1.0}]
        assert not drawn


@settings(max_examples=20)
@given(ANY_ROWS)
def test_nothing_depends_on_the_order_of_the_answers(rows: Rows) -> None:
    for make in (reliability_diagram, roc_curve, risk_coverage, threshold_explorer):
        assert make(table(rows)) == make(table(rows[::-1]))
