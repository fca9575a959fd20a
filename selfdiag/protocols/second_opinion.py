"""What a judge's second opinion would change; it is shown beside the rules' figures and never mixed into them."""

from __future__ import annotations

import msgspec

from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.protocols.rows import summarise_columns
from selfdiag.protocols.sources import run_columns
from selfdiag.protocols.summary import SecondOpinion, model_of
from selfdiag.runs.judging import undecided_records
from selfdiag.runs.store import Run


def second_opinion(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> SecondOpinion | None:
    """Return what the last judge of a run said, or None when nobody was asked."""
    open_records = undecided_records(run)
    judged = [record for record in open_records if record.judge is not None]
    if not judged:
        return None
    last = judged[-1].judge
    model = last.model if last is not None else ""
    given = {record.call_id: record.judge for record in judged if record.judge and record.judge.model == model}
    opinions = {call_id: judgement.opinion for call_id, judgement in given.items()}
    records = [
        msgspec.structs.replace(record, outcome="correct") if opinions.get(record.call_id) == "same" else record
        for record in run.measured()
    ]
    columns, _ = run_columns(run, records)
    found = summarise_columns(columns, model=model_of(run), draws=draws, seed=seed)
    said = list(opinions.values())
    return SecondOpinion(
        model=model,
        undecided=len(open_records),
        same=said.count("same"),
        different=said.count("different"),
        unread=said.count(None),
        not_asked=len(open_records) - len(said),
        calls=sum(judgement.calls for judgement in given.values()),
        metrics=found.metrics,
        tier=found.tier.letter,
    )
