"""Every metric by name: a finite value with an interval, or a plain reason."""

import csv
import math
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfdiag.measure import calibration, discrimination, selective
from selfdiag.measure.counts import Counts, accuracy, mean_confidence, tabulate
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.summary import Measured, all_metrics, measure_run
from selfdiag.measure.tally import Tally, tally_rows

NONE = math.nan
NAMES = set(
    """
    accuracy brier brier_skill reliability resolution uncertainty corp_miscalibration corp_discrimination
    gap ece ece_equal_mass mce ece_sweep smooth_ece spiegelhalter_z calibration_slope
    calibration_intercept discrimination auroc aurc e_aurc augrc error_at_coverage_80
    error_at_coverage_60 error_at_coverage_40 error_at_coverage_20 high_confidence_error_80
    high_confidence_error_90 high_confidence_error_95 threshold_score_50 threshold_score_75
    threshold_score_90 trap_abstention trap_abstention_token_only non_answer youden abstention_f1
    missed_trap_confidence simpleqa_f omniscience usable_share modal_share distinct_values
    median_confidence
    """.split()
)
PROPORTIONS = {
    name
    for name in NAMES
    if name.startswith(("accuracy", "trap_", "non_answer", "youden", "usable", "modal", "error_at", "high_"))
}
DEGENERATE = {
    "nothing": ([], []),
    "one right": (["correct"], [0.8]),
    "one wrong": (["incorrect"], [0.8]),
    "all right": (["correct"] * 10, [0.9] * 10),
    "all wrong": (["incorrect"] * 10, [0.9] * 10),
    "constant": (["correct"] * 5 + ["incorrect"] * 5, [0.9] * 10),
    "all hundred": (["correct"] * 5 + ["incorrect"] * 5, [1.0] * 10),
    "all zero": (["incorrect"] * 30, [0.0] * 30),
    "no confidence": (["correct"] * 5 + ["incorrect"] * 5, [NONE] * 10),
    "all abstained": (["abstained"] * 10, [NONE] * 10),
    "nothing usable": (["truncated", "unparsed", "empty", "overflow", "error"], [NONE] * 5),
    "separated": (["correct"] * 15 + ["incorrect"] * 15, [0.9] * 15 + [0.1] * 15),
    "one wrong of eight": (["correct"] * 7 + ["incorrect"], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]),
}


def sound(measured: Measured) -> None:
    """Fail when a number is not finite, a reason is missing or an interval of a proportion has no width."""
    estimates = {**measured.metrics, **measured.composite.parts}
    assert set(measured.metrics) == NAMES
    for name, made in estimates.items():
        numbers = [x for x in (made.value, *(made.ci or ())) if x is not None]
        assert all(math.isfinite(x) for x in numbers), name
        assert made.value is not None or made.note, name
        assert made.ci is not None or made.note, name
        assert made.ci is None or (made.ci[0] < made.ci[1] and made.method), name
        assert made.value is not None or made.ci is None, name
        if name in PROPORTIONS and made.value is not None:
            assert made.ci is not None, name
            assert (made.ci[0] <= made.value + 1e-12 and made.value - 1e-12 <= made.ci[1]) or name == "modal_share", (
                name
            )
    msgspec.json.decode(msgspec.json.encode(measured), type=Measured)


@pytest.mark.parametrize("full", [False, True], ids=["", "full"])
@pytest.mark.parametrize("interval", ["percentile", "bca"])
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_runs_give_values_or_reasons(case: str, interval: str, full: bool) -> None:
    outcome, p = DEGENERATE[case]
    tally = tally_rows(outcome, p)
    items = tally_rows(outcome, p, item=[str(i // 2) for i in range(len(outcome))])
    for given_items in (None, items):
        sound(measure_run(tally, given_items, draws=200, interval=interval, full_intervals=full))  # type: ignore[arg-type]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["correct", "incorrect", "abstained", "refused", "truncated", "error"]),
            st.one_of(st.just(NONE), st.integers(0, 100).map(lambda c: c / 100)),
            st.booleans(),
            st.integers(0, 5),
        ),
        max_size=25,
    )
)
def test_any_run_gives_values_or_reasons(rows: list[tuple[str, float, bool, int]]) -> None:
    columns = {
        "outcome": ["incorrect" if trap and o == "correct" else o for o, _, trap, _ in rows],
        "p": [p for _, p, _, _ in rows],
        "trap": np.array([trap for _, _, trap, _ in rows], dtype=bool),
    }
    items = [f"{trap}{item}" for _, _, trap, item in rows]
    tally = tally_rows(**columns)  # type: ignore[arg-type]
    sound(measure_run(tally, draws=60))
    sound(measure_run(tally, tally_rows(**columns, item=items), draws=60))  # type: ignore[arg-type]


def test_spiegelhalter_counts_contradicted_certainty() -> None:
    note = all_metrics(tally_rows(*DEGENERATE["all hundred"]), draws=50)["spiegelhalter_z"].note
    assert note == "not defined: every stated value is 0, 50 or 100; 5 stated 0 or 100 and contradicted"
    both = all_metrics(Tally(answered=tabulate([1, 0, 0.7, 0.7], [0, 1, 1, 0])), draws=50)["spiegelhalter_z"]
    assert both.value is not None
    assert both.note.endswith("2 stated 0 or 100 and contradicted")


def separated_by(right: int, wrong: int) -> Estimate:
    rng = np.random.default_rng(0)
    p = np.round(rng.random(right + wrong), 2)
    return all_metrics(Tally(answered=tabulate(p, [1] * right + [0] * wrong)), draws=400)["auroc"]


def test_auroc_needs_answers_of_both_kinds() -> None:
    few, some, enough = separated_by(30, 4), separated_by(30, 9), separated_by(30, 10)
    assert few.ci is None
    assert few.note == "no interval: needs 5 wrong answers, has 4"
    assert some.ci is not None
    assert some.note.startswith("too few to trust")
    assert enough.ci is not None
    assert enough.note.startswith("percentile bootstrap, 400 draws of rows, seed")
    assert enough.method == "logit-DeLong"


def test_several_rows_per_item_turn_wilson_and_delong_off() -> None:
    rng = np.random.default_rng(2)
    p = np.repeat(np.round(rng.random(40), 1), 3)
    outcome = np.where(np.repeat(rng.random(40), 3) < p, "correct", "incorrect").tolist()
    items = tally_rows(outcome, p, item=np.repeat(np.arange(40), 3).astype(str).tolist())
    by_item, by_row = all_metrics(items.summed(), items), all_metrics(items.summed())
    for name in ("accuracy", "auroc", "high_confidence_error_80"):
        assert by_item[name].method.startswith("percentile bootstrap, 2000 draws of items, seed"), name
    for name in ("accuracy", "brier", "auroc"):
        wide, narrow = by_item[name].ci, by_row[name].ci
        assert wide is not None
        assert narrow is not None
        assert wide[1] - wide[0] > 1.4 * (narrow[1] - narrow[0]), name


def test_refitted_intervals_only_on_demand() -> None:
    rng = np.random.default_rng(3)
    p = np.round(rng.random(80), 1)
    tally = Tally(answered=tabulate(p, rng.random(80) < p))
    plain, full = all_metrics(tally, draws=200), all_metrics(tally, draws=200, full_intervals=True)
    for name in (
        "corp_miscalibration",
        "corp_discrimination",
        "ece_sweep",
        "smooth_ece",
        "calibration_slope",
        "calibration_intercept",
    ):
        assert plain[name].ci is None, name
        assert "no interval: it would need a refit" in plain[name].note, name
        assert full[name].ci is not None, name
        assert "refit" not in full[name].note, name
        assert plain[name].value == pytest.approx(full[name].value), name
    slope = full["calibration_slope"]
    assert slope.ci is not None
    assert slope.value is not None
    assert slope.ci[0] < slope.value < slope.ci[1]


def test_null_bands_stand_in_the_notes() -> None:
    rng = np.random.default_rng(4)
    p = np.round(rng.random(60), 1)
    metrics = all_metrics(Tally(answered=tabulate(p, rng.random(60) < p)), draws=100)
    assert metrics["ece"].note.startswith("10 equal-width bins, closed on the left; under perfect calibration 0.1")
    for name in ("reliability", "ece", "mce"):
        assert "95 % below" in metrics[name].note, name


def test_very_many_distinct_confidences_are_merged_in_the_draws_alone() -> None:
    rng = np.random.default_rng(6)
    p = rng.random(600)
    y = rng.random(600) < p
    tally = Tally(answered=tabulate(p, y))
    rows = np.where(y, "correct", "incorrect").tolist()
    items = tally_rows(rows, p, item=[str(i) for i in range(600)])
    width = 2 * 1.96 * float(np.std((p - y) ** 2)) / math.sqrt(600)
    for made in (all_metrics(tally, draws=500), all_metrics(tally, items, draws=500)):
        assert made["brier"].value == pytest.approx(float(np.mean((p - y) ** 2)))
        assert made["brier"].method.endswith("256 groups of neighbouring confidences")
        assert made["brier"].ci is not None
        assert made["brier"].ci[1] - made["brier"].ci[0] == pytest.approx(width, rel=0.15)
        assert made["reliability"].ci is None
        assert "too many distinct values" in made["reliability"].note
    sound(measure_run(tally, draws=60, interval="bca"))


def test_an_interval_beside_its_value_is_explained() -> None:
    spread = Counts(np.arange(1, 100) / 100, np.arange(1, 100) * 10, np.arange(99, 0, -1) * 10)
    made = all_metrics(Tally(answered=spread), draws=300)["reliability"]
    assert made.ci is not None
    assert made.value == pytest.approx(0, abs=1e-12)
    assert made.note.endswith("its interval lies above the value")


@pytest.mark.parametrize(("value", "ci"), [(NONE, (0.0, 1.0)), (math.inf, None), (None, (0.0, 1.0))])
def test_an_estimate_is_never_nan(value: float | None, ci: tuple[float, float] | None) -> None:
    assert estimate(value, ci, n=3, method="x") == Estimate(value=None, n=3, note="not defined")


def test_an_interval_is_never_nan() -> None:
    assert estimate(0.5, (NONE, 1.0), n=3).ci is None


def test_published_share_of_wrong_answers_at_80_or_more() -> None:
    counts = Counts(np.array([0.5, 0.9]), np.array([100, 3712]), np.array([36, 5598]))
    made = all_metrics(Tally(answered=counts), draws=50)["high_confidence_error_80"]
    assert made.value == pytest.approx(0.601, abs=5e-4)
    assert made.n == 9310
    assert made.note == "5598 of 9310 wrong"


@pytest.mark.parametrize(("n", "right", "error"), [(1500, 0.103, 0.897), (1500, 0.379, 0.621), (1461, 0.665, 0.335)])
def test_published_error_at_full_coverage_is_the_error_rate(n: int, right: float, error: float) -> None:
    hits = round(n * right)
    counts = Counts(np.array([0.4, 0.9]), np.array([0, hits]), np.array([n - hits, 0]))
    assert float(selective.error_at_coverage(counts, 1.0)) == pytest.approx(error, abs=5e-4)


def test_a_threshold_lies_where_its_name_says() -> None:
    wrong, right = (0.4995, 0.7495, 0.7995, 0.8995, 0.9495), (0.5, 0.75, 0.8, 0.9, 0.95)
    outcomes = [*["incorrect"] * 5, *["correct"] * 5, "abstained", "refused"]
    metrics = all_metrics(tally_rows(outcomes, [*wrong, *right, NONE, NONE]), draws=20)
    expected = {
        "high_confidence_error_80": 2 / 5,
        "high_confidence_error_90": 1 / 3,
        "high_confidence_error_95": 0,
        "threshold_score_50": (5 - 4) / 12,
        "threshold_score_75": (4 - 3 * 3) / 12,
        "threshold_score_90": (2 - 9) / 12,
        # kept of 10: 8 right and wrong by turns from the top, then 6, 4 and 2
        "error_at_coverage_80": 4 / 8,
        "error_at_coverage_60": 3 / 6,
        "error_at_coverage_40": 2 / 4,
        "error_at_coverage_20": 1 / 2,
    }
    for name, value in expected.items():
        assert metrics[name].value == pytest.approx(value), name


STATED = Path(__file__).parents[2].parent / "shared" / "data" / "stated-confidence"


@pytest.mark.skipif(not STATED.is_dir(), reason="the real stated confidences are not beside the checkout")
def test_real_confidences_agree_with_an_independent_computation() -> None:
    rows: dict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
    with (STATED / "rows.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[row["model"], row["set"]].append((float(row["stated_confidence"]), int(row["correct"])))
    with (STATED / "reference.csv").open(encoding="utf-8", newline="") as file:
        reference = list(csv.DictReader(file))
    assert len(reference) == 18
    measures = {
        "accuracy": accuracy,
        "mean_confidence": mean_confidence,
        "gap": calibration.gap,
        "brier": calibration.brier,
        "ece": calibration.ece,
        "auroc": discrimination.auroc,
    }
    for line in reference:
        stated, correct = zip(*rows[line["model"], line["set"]], strict=True)
        counts = tabulate(stated, correct)
        assert int(counts.n) == int(line["n"])
        for name, measure in measures.items():
            assert float(measure(counts)) == pytest.approx(float(line[name]), abs=1e-6), (line["model"], name)


def test_measuring_loads_no_scipy() -> None:
    code = (
        "import sys; from selfdiag.measure import summary, contrast, reliability;"
        "from selfdiag.measure.tally import tally_rows;"
        "summary.measure_run(tally_rows(['correct', 'incorrect'] * 15, [.5, .9] * 15), draws=20);"
        "print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
