"""Every measure of rows that come without a run."""

import numpy as np
import pytest

from selfdiag.measure.calibration import brier
from selfdiag.measure.selective import high_confidence_error
from selfdiag.protocols import rows
from selfdiag.protocols.rows import summarise_columns, tally_of
from selfdiag.protocols.summary import SummaryModel
from selfdiag.runs.columns import Columns

NOBODY = SummaryModel(provider="", name="", served_name="", digest="", simulated=False)


def test_very_many_items_of_several_rows_have_the_values_of_their_own_confidences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    p = rng.integers(0, 101, 400) / 100
    columns = Columns(
        item=np.repeat(np.arange(200), 2),
        bin=("logic",) * 400,
        trap=np.zeros(400, dtype=np.bool_),
        outcome=tuple(np.where(rng.random(400) < p, "correct", "incorrect").tolist()),
        confidence=p,
        free_text=np.zeros(400, dtype=np.bool_),
    )
    monkeypatch.setattr(rows, "MOST_CELLS", 200 * rows.LEAST_LEVELS)
    answered = tally_of(columns).answered
    assert tally_of(columns, by_item=True).answered.levels.size == rows.LEAST_LEVELS < answered.levels.size
    found = summarise_columns(columns, model=NOBODY, draws=200).metrics
    assert found["brier"].value == float(brier(answered))
    assert found["high_confidence_error_90"].value == float(high_confidence_error(answered, 0.9))
    assert found["brier"].method.endswith("draws of items, seed 20260101, 20 groups of neighbouring confidences")
