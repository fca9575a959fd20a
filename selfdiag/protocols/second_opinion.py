"""What a judge's second opinion would change; it is shown beside the rules' figures and never mixed into them."""

from __future__ import annotations

import msgspec

from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.protocols.rows import summarise_columns
from selfdiag.protocols.summary import SecondOpinion, model_of
from selfdiag.runs.columns import columns_of
from selfdiag.runs.judging import undecided_records
from selfdiag.runs.store import Run


def second_opinion(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> SecondOpinion | None:
    """Return what the last judge of a run said, or None when nobody was asked."""
    open_records = undecided_records(run)
    judged = [record for record in open_records if record.judge is not None]
    if not judged:
        return None
    model = str((judged[-1].judge or {}).get("model", ""))
    opinions = {
        record.call_id: record.judge.get("opinion")
        for record in judged
        if record.judge is not None and record.judge.get("model") == model
    }
    records = [
        msgspec.structs.replace(record, outcome="correct") if opinions.get(record.call_id) == "same" else record
        for record in run.measured()
    ]
    columns, _ = columns_of(records)
    found = summarise_columns(columns, model=model_of(run), draws=draws, seed=seed)
    said = list(opinions.values())
    return SecondOpinion(
        model=model,
        undecided=len(open_records),
        same=said.count("same"),
        different=said.count("different"),
        unread=said.count(None),
        not_asked=len(open_records) - len(said),
        metrics=found.metrics,
        tier=found.tier.letter,
    )
