"""The sources of a run's confidence side by side: stated with the answer, afterwards, from tokens, from agreement."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from selfdiag.battery.items import Probe
from selfdiag.measure.contrast import Contrast
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.measure.sources import compare_sources
from selfdiag.protocols.panel_answers import given_answer
from selfdiag.protocols.summary import Source
from selfdiag.runs.columns import Columns, columns_of
from selfdiag.runs.records import AGREEMENT, POSTHOC, Record
from selfdiag.runs.store import Run

Confidences = dict[str, float]
"""A fraction in [0, 1] by the call id of the answer."""


SOURCE_WORDS = {
    "posthoc": "what the model says afterwards, shown question and answer",
    "logprob": "the probability of the answer's tokens",
    "agreement": "the share of resampled answers that are the same",
}


def run_columns(run: Run, records: Sequence[Record]) -> tuple[Columns, str]:
    """Return a run's measured records as columns, and a note on their confidence.

    The confidence is that of the run's first source, on one scale over all records.
    """
    columns, note = columns_of(records)
    source = run.manifest.settings.confidence[0]
    if source == "stated":
        return columns, note
    said = confidences(run, records, source)
    stating = columns.stating([said.get(record.call_id, math.nan) for record in records])
    return stating, f"the confidence is {SOURCE_WORDS[source]}"


def confidences(run: Run, records: Sequence[Record], source: str) -> Confidences:
    """Return what one source says of each graded or silent probe; answers it says nothing of are left out.

    Args:
        run: manifest and records.
        records: the measured ones.
        source: of ``SOURCES``.
    """
    probes = [record for record in records if not record.trap]
    if source == "logprob":
        found = {record.call_id: record.token_confidence for record in probes}
        return {call_id: value for call_id, value in found.items() if value is not None}
    if source == POSTHOC:
        return _afterwards(run, probes)
    if source == AGREEMENT:
        return _agreement(run, probes)
    columns, _ = columns_of(records)
    pairs = zip(records, columns.confidence.tolist(), strict=True)
    return {record.call_id: value for record, value in pairs if math.isfinite(value) and not record.trap}


def sources_of(
    run: Run, records: Sequence[Record], *, draws: int = DRAWS, seed: int = SEED
) -> dict[str, Source] | None:
    """Return every collected source beside the first, or None when the run collected one alone."""
    chosen = run.manifest.settings.confidence
    if len(chosen) < 2:
        return None
    found = {source: confidences(run, records, source) for source in chosen}
    graded = {
        record.call_id: record for record in records if not record.trap and record.outcome in {"correct", "incorrect"}
    }
    compared: dict[str, Source] = {}
    for source in chosen[1:]:
        shared = [call_id for call_id in graded if call_id in found[chosen[0]] and call_id in found[source]]
        against = compare_sources(
            _column(found[chosen[0]], shared),
            _column(found[source], shared),
            np.array([graded[call_id].outcome == "correct" for call_id in shared], dtype=np.bool_),
            item=np.array([graded[call_id].item_id for call_id in shared], dtype=np.str_),
            draws=draws,
            seed=seed,
        )
        if chosen[0] not in compared or compared[chosen[0]].n < len(shared):
            compared[chosen[0]] = source_of({name: one.first for name, one in against.items()}, len(shared), None)
        compared[source] = source_of({name: one.second for name, one in against.items()}, len(shared), against)
    return compared


def source_of(values: Mapping[str, float | None], n: int, against: Mapping[str, Contrast] | None) -> Source:
    """Return one source's figures on ``n`` answers, with its differences from the first source."""
    return Source(
        n=n,
        brier=values["brier"],
        gap=values["gap"],
        auroc=values["auroc"],
        differences=None if against is None else {name: found.difference for name, found in against.items()},
    )


def _column(found: Confidences, call_ids: Sequence[str]) -> NDArray[np.float64]:
    return np.array([found[call_id] for call_id in call_ids], dtype=np.float64)


def _afterwards(run: Run, probes: Sequence[Record]) -> Confidences:
    later = [record for record in _latest(run, POSTHOC) if record.error is None]
    columns, _ = columns_of(later)
    said = {
        (record.item_id, record.paraphrase, record.replicate): value
        for record, value in zip(later, columns.confidence.tolist(), strict=True)
        if math.isfinite(value)
    }
    units = {record.call_id: (record.item_id, record.paraphrase, record.replicate) for record in probes}
    return {call_id: said[unit] for call_id, unit in units.items() if unit in said}


def _agreement(run: Run, probes: Sequence[Record]) -> Confidences:
    """Return the share of resampled answers that are the first one; those that cannot be read are left out.

    Answers are compared by what they say, right ones as wrong ones: a comparison that knew the key would put the grade
    into the confidence.
    """
    asked = {probe.id: probe for probe in run.manifest.drawn.probes}
    again: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in _latest(run, AGREEMENT):
        if record.outcome in {"correct", "incorrect", "abstained"}:
            again[record.item_id, record.paraphrase].append(record)
    shares = {}
    for record in probes:
        others = again.get((record.item_id, record.paraphrase), [])
        if others and record.replicate == 0 and record.outcome in {"correct", "incorrect"}:
            probe = asked[record.item_id]
            shares[record.call_id] = sum(_same(probe, record, other) for other in others) / len(others)
    return shares


def _same(probe: Probe, first: Record, second: Record) -> bool:
    """Return whether an answer and a resampled one say the same to a question; an abstention says something else."""
    if second.outcome == "abstained":
        return False
    return given_answer(probe, first.answer or "").form == given_answer(probe, second.answer or "").form


def _latest(run: Run, section: str) -> list[Record]:
    return [record for record in run.latest().values() if record.section == section]
