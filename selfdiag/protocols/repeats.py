"""Whether a run's answers stay the same when an item is asked again, in other words or in the same."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from selfdiag.elicit.textforms import fold_text
from selfdiag.measure.consistency import Consistency, consistency
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.runs.columns import columns_of
from selfdiag.runs.records import Record
from selfdiag.runs.store import Run

_GRADES = {"correct": 1, "incorrect": 0}


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """``paraphrases`` compares the wordings of an item, ``repeats`` the repeats of one wording.

    Either is None when the run did not ask for it.
    """

    paraphrases: Consistency | None
    repeats: Consistency | None


def repeats_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> Repeats | None:
    """Return how alike the answers to one probe are, or None when every probe was asked once.

    Traps and errors take no part. Two answers are the same when they are equal once case, accents, articles,
    punctuation and space are folded.
    """
    settings = run.manifest.settings
    records = [record for record in run.measured() if not record.trap and record.error is None]
    by_wording = by_repeat = None
    if settings.paraphrase == "all":
        first = [record for record in records if record.replicate == 0]
        by_wording = _compared(first, [record.item_id for record in first], draws, seed)
    if settings.repeat > 1:
        by_repeat = _compared(records, [f"{record.item_id}\x1f{record.paraphrase}" for record in records], draws, seed)
    return Repeats(paraphrases=by_wording, repeats=by_repeat) if by_wording or by_repeat else None


def _compared(records: Sequence[Record], units: Sequence[str], draws: int, seed: int) -> Consistency:
    stated = columns_of(records)[0].confidence
    answers: dict[str, int] = {}
    codes = [
        -1 if record.answer is None else answers.setdefault(fold_text(record.answer), len(answers))
        for record in records
    ]
    return consistency(
        np.unique(np.array(units, dtype=np.str_), return_inverse=True)[1],
        np.array(codes, dtype=np.int64),
        np.array([_GRADES.get(record.outcome, -1) for record in records], dtype=np.int64),
        100 * stated,
        draws=draws,
        seed=seed,
    )
