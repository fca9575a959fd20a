"""The fresh check: whether a model does better on stored questions than on new ones of the same kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from selfdiag.elicit.confidence import run_scale
from selfdiag.measure import counts
from selfdiag.measure.calibration import gap
from selfdiag.measure.contrast import Contrast, paired_contrast
from selfdiag.measure.estimate import join_notes
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.measure.tally import Tally, tally_rows
from selfdiag.runs.plan import FRESH_CHECK
from selfdiag.runs.records import PlannedCall, Record

NOTE = "stored minus fresh, paired by topic and difficulty; a lead of the stored ones can mean that they were memorised"


class FreshCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Stored against fresh probes: ``pairs`` asked, and the differences in accuracy and gap.

    ``note`` says how to read them, and how confidences were brought onto one scale.
    """

    pairs: int
    accuracy: Contrast
    gap: Contrast
    note: str = NOTE


def fresh_check(
    plan: Sequence[PlannedCall], latest: Mapping[str, Record], *, draws: int = DRAWS, seed: int = SEED
) -> FreshCheck | None:
    """Return the comparison, or None when the plan holds no fresh check.

    Args:
        plan: the run's calls; those of the section stand in pairs, stored before fresh.
        latest: the record of each call id; all of them decide the scale of the confidences.
        draws: bootstrap draws over pairs.
        seed: of the bootstrap.
    """
    calls = [call for call in plan if call.section == FRESH_CHECK]
    if not calls:
        return None
    pairs = [
        (latest[old.call_id], latest[new.call_id])
        for old, new in zip(calls[::2], calls[1::2], strict=True)
        if old.call_id in latest and new.call_id in latest
    ]
    asked = [latest[call.call_id] for call in plan if call.call_id in latest]
    scaled, scale_note = run_scale([record.confidence for record in asked], [record.flags for record in asked])
    stated = {record.call_id: confidence for record, confidence in zip(asked, scaled, strict=True)}
    stored = _tally([old for old, _ in pairs], stated)
    fresh = _tally([new for _, new in pairs], stated)
    return FreshCheck(
        pairs=len(pairs),
        accuracy=paired_contrast(fresh, stored, _accuracy, draws=draws, seed=seed),
        gap=paired_contrast(fresh, stored, lambda tally: gap(tally.answered), draws=draws, seed=seed),
        note=join_notes(NOTE, scale_note),
    )


def _accuracy(tally: Tally) -> counts.Floats:
    return counts.ratio(tally.right, tally.graded)


def _tally(records: Sequence[Record], stated: Mapping[str, int | None]) -> Tally:
    confidences = [stated[record.call_id] for record in records]
    fractions = np.array([np.nan if c is None else c / 100 for c in confidences], dtype=np.float64)
    pairs = [f"{number:06d}" for number in range(len(records))]
    return tally_rows([record.outcome for record in records], fractions, item=pairs)
