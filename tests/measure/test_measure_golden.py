"""Sixteen answers whose measures were worked out by hand or with other software."""

from collections.abc import Callable

import numpy as np
import pytest

from selfdiag.measure import calibration, discrimination, recalibration, selective
from selfdiag.measure.abstention import omniscience, simpleqa_f
from selfdiag.measure.counts import Counts, Floats, accuracy, mean_confidence, tabulate, tabulate_confidences
from selfdiag.measure.resampling import holm
from selfdiag.measure.summary import all_metrics
from selfdiag.measure.tally import Tally

CONFIDENCE = [100, 95, 95, 90, 90, 90, 85, 80, 80, 70, 60, 60, 50, 30, 0, 20]
CORRECT = [1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0]
TABLE = tabulate_confidences(CONFIDENCE, CORRECT)

MEASURES: list[tuple[Callable[[Counts], Floats], float]] = [
    (accuracy, 0.5),
    (mean_confidence, 0.684375),
    (calibration.gap, 0.184375),
    (calibration.brier, 0.26421875),
    (calibration.reliability, 0.12880208),
    (calibration.resolution, 0.11458333),
    (calibration.uncertainty, 0.25),
    (calibration.brier_skill, -0.056875),
    (calibration.ece, 0.271875),
    (calibration.mce, 0.2666667),
    (calibration.ece_by_value, 0.290625),
    (discrimination.auroc, 0.7109375),
    (discrimination.delong_se, 0.1361516),
    (discrimination.discrimination, 0.20625),
    (recalibration.spiegelhalter_z, 2.784662),
    (selective.aurc, 0.3498384),
    (selective.oracle_aurc, 0.1685641),
    (selective.e_aurc, 0.1812744),
    (selective.augrc, 0.2128906),
    (selective.high_confidence_error, 3 / 9),
    (recalibration.corp_miscalibration, 0.07463542),
    (recalibration.corp_discrimination, 0.06041667),
    (recalibration.calibration_intercept, -0.5448807),
    (recalibration.calibration_slope, 0.4785207),
    (recalibration.intercept_at_slope_one, -1.2205298),
]


@pytest.mark.parametrize(("measure", "value"), MEASURES, ids=lambda x: getattr(x, "__name__", ""))
def test_golden(measure: Callable[[Counts], Floats], value: float) -> None:
    assert float(measure(TABLE)) == pytest.approx(value, abs=6e-8)


def test_golden_ece_right_closed() -> None:
    assert float(calibration.ece(TABLE, "right")) == pytest.approx(0.271875, abs=1e-9)


def test_golden_mce_over_all_bins() -> None:
    assert float(calibration.mce(TABLE, min_bin=1)) == pytest.approx(0.7, abs=1e-9)


def test_golden_spiegelhalter_p() -> None:
    z = float(recalibration.spiegelhalter_z(TABLE))
    assert recalibration.two_sided_p(z) == pytest.approx(0.0053584, abs=6e-8)


@pytest.mark.parametrize(("t", "score"), [(0.5, 0.0625), (0.75, -0.1875), (0.9, -0.875)])
def test_golden_threshold_score(t: float, score: float) -> None:
    assert float(selective.threshold_score(TABLE, t)) == pytest.approx(score, abs=1e-9)


def test_golden_abstention_scores() -> None:
    table = Counts(np.array([0.5]), np.array([40]), np.array([35]))
    tally = Tally(answered=table, abstained=np.array(20), refused=np.array(5))
    assert float(simpleqa_f(tally)) == pytest.approx(0.457143, abs=5e-7)
    assert float(omniscience(tally)) == pytest.approx(5.0)


def test_golden_holm() -> None:
    assert holm([0.0425, 0.064]) == pytest.approx((0.085, 0.085))
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))


def test_fractions_and_integers_give_the_same_table() -> None:
    fractions = tabulate([c / 100 for c in CONFIDENCE], CORRECT)
    assert fractions.levels.tolist() == TABLE.levels.tolist()
    assert fractions.right.tolist() == TABLE.right.tolist()
    assert fractions.wrong.tolist() == TABLE.wrong.tolist()


@pytest.mark.parametrize("confidence", range(101))
def test_every_integer_confidence_lies_in_its_own_bin(confidence: int) -> None:
    left = calibration.equal_width_bins(np.array([confidence / 100]))
    right = calibration.equal_width_bins(np.array([confidence / 100]), "right")
    assert left.item() == min(confidence // 10, 9)
    assert right.item() == max(-(-confidence // 10) - 1, 0)


def test_a_binary_rounding_error_moves_no_fraction_over_an_edge() -> None:
    for p, edge in ((0.1 + 0.2, 3), (1 - 0.7, 3), (0.6 - 0.3, 3), (1 - 0.2 - 0.1, 7)):
        assert calibration.equal_width_bins(np.array([p])).item() == edge
        assert calibration.equal_width_bins(np.array([p]), "right").item() == edge - 1


def test_summary_carries_the_golden_values() -> None:
    metrics = all_metrics(Tally(answered=TABLE))
    expected = {
        "accuracy": 0.5,
        "brier": 0.26421875,
        "ece": 0.271875,
        "mce": 0.2666667,
        "auroc": 0.7109375,
        "aurc": 0.3498384,
        "spiegelhalter_z": 2.784662,
        "calibration_slope": 0.4785207,
        "threshold_score_75": -0.1875,
        "high_confidence_error_80": 1 / 3,
        "median_confidence": 80.0,
        "distinct_values": 11,
        "modal_share": 3 / 16,
    }
    for name, value in expected.items():
        assert metrics[name].value == pytest.approx(value, abs=6e-8), name
        assert metrics[name].n in {16, 9}, name
    assert "-1.2205 at slope 1" in metrics["calibration_intercept"].note
    assert "two-sided p = 0.00536" in metrics["spiegelhalter_z"].note


def test_recalibration_converges_where_full_newton_steps_from_one_overshoot() -> None:
    from selfdiag.measure.recalibration import recalibrate

    confidence = [70] * 7 + [80] * 7 + [85] * 7 + [90] * 7 + [95] * 7 + [100] * 7
    right = (
        [1] * 2
        + [0] * 5
        + [1] * 3
        + [0] * 4
        + [1] * 3
        + [0] * 4
        + [1] * 4
        + [0] * 3
        + [1] * 4
        + [0] * 3
        + [1] * 5
        + [0] * 2
    )
    intercept, slope = recalibrate(tabulate_confidences(confidence, right))
    assert abs(float(slope) - 0.3733) < 0.01
    assert abs(float(intercept) + 0.8831) < 0.02
