"""The shipped figures of the study agree with each other as far as printed digits can."""

import math

import pytest

from selfdiag.measure.published import PUBLISHED, WRONG_WHEN_SURE
from selfdiag.measure.resampling import holm


def test_the_rows_add_up() -> None:
    assert len(PUBLISHED) == 9
    assert sum(row.n for row in PUBLISHED) == 13_446
    assert [row.median for row in PUBLISHED] == [95, 85, 95, 60, 90, 95, 85, 90, 42]
    assert [row.accuracy for row in PUBLISHED] == sorted((row.accuracy for row in PUBLISHED), reverse=True)


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row.maker)
def test_each_row_is_consistent(row) -> None:
    assert abs(row.mean_confidence - row.accuracy - row.gap) <= 0.1 + 1e-9
    assert row.ece >= abs(row.gap) / 100 - 0.001
    # a constant forecast at the mean confidence is the best that a gap allows
    assert row.brier >= (row.gap / 100) ** 2
    low, high = row.auroc_ci
    assert low < row.auroc < high
    if row.error_at_coverage:
        assert row.error_at_coverage[0] == pytest.approx(100 - row.accuracy, abs=0.05)
        assert list(row.error_at_coverage) == sorted(row.error_at_coverage, reverse=True)


def test_wrong_among_the_sure() -> None:
    wrong, sure = WRONG_WHEN_SURE
    assert round(100 * wrong / sure, 1) == 60.1


def test_the_ladders_contrast() -> None:
    """The printed interval of own minus placebo gives its standard error and p-value; Holm doubles the smaller."""
    value, low, high = 0.041, -0.002, 0.086
    se = (high - low) / (2 * 1.959964)
    p = math.erfc(value / se / math.sqrt(2))
    assert p == pytest.approx(0.064, abs=0.005)
    assert holm([0.0425, 0.064]) == pytest.approx((0.085, 0.085))
