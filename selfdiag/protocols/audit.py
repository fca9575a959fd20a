"""The audit: from the records of a run to every number an auditor asks for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, get_args

import msgspec
import numpy as np

from selfdiag.battery.items import GROUPS
from selfdiag.elicit.confidence import run_scale
from selfdiag.elicit.grading import Outcome
from selfdiag.measure.abstention import bounds
from selfdiag.measure.counts import Counts, mean_confidence, pool
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.reliability import GroupRow, group_rows
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.measure.summary import Composite, confidence_metrics, measure_run
from selfdiag.measure.tally import tally_rows
from selfdiag.measure.tiers import Tier
from selfdiag.protocols.fresh_check import FreshCheck, fresh_check
from selfdiag.runs.engine import TRIAL
from selfdiag.runs.records import MEASURED_SECTIONS, Record
from selfdiag.runs.store import Run

SCHEMA = "selfdiag.summary/1"
OUTCOMES: tuple[str, ...] = get_args(Outcome)
PER_BIN = 10
"""Below so many answers a bin, tables speak of the five groups instead."""
EASY_ABOVE = 0.85
"""Above this accuracy a battery measures next to nothing."""
BOUNDS_BELOW = 0.90
"""Below this usable share the best and the worst case are given too."""


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of an audit as columns of one length, whatever file they came from.

    ``confidence`` is 0-100 or None; ``free_text`` marks abstentions in own words.
    """

    item: tuple[str, ...]
    bin: tuple[str, ...]
    trap: tuple[bool, ...]
    outcome: tuple[str, ...]
    confidence: tuple[int | None, ...]
    free_text: tuple[bool, ...]


class SummaryModel(msgspec.Struct, frozen=True, kw_only=True):
    """Which model was asked."""

    provider: str
    name: str
    served_name: str
    digest: str
    simulated: bool


class SummaryBattery(msgspec.Struct, frozen=True, kw_only=True):
    """Which items were asked: ``probes`` and ``traps`` are numbers of items, ``draw`` the choice made."""

    id: str
    version: str
    sha256: str
    draw: str
    probes: int
    traps: int
    seed: int


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What the run cost. Tokens are None when the server counted none."""

    calls: int
    retries: int
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an audit; ``notes`` are plain sentences about what a reader must know of it.

    ``counts`` has each outcome for probes and traps apart, and ``not_asked`` for calls without a record.
    ``groups`` are the five groups of bins; ``mean_confidence`` is that of the answered probes, 0-100. Fields
    that are None were not part of the run.
    """

    schema: str = SCHEMA
    run_id: str
    model: SummaryModel
    battery: SummaryBattery
    asked_with: dict[str, Any]
    counts: dict[str, dict[str, int]]
    metrics: dict[str, Estimate]
    metrics_attempted: dict[str, Estimate]
    bins: tuple[GroupRow, ...]
    groups: tuple[GroupRow, ...]
    families: dict[str, dict[str, int]]
    composite: Composite
    tier: Tier
    mean_confidence: float | None = None
    questionnaire: dict[str, Any] | None = None
    microprobe: dict[str, Any] | None = None
    anchor: dict[str, Any] | None = None
    fresh_check: FreshCheck | None = None
    consistency: dict[str, Any] | None = None
    sources: dict[str, Any] | None = None
    bounds: dict[str, tuple[float, float] | None] | None = None
    usage: Usage
    notes: tuple[str, ...] = ()


def summarise(run: Run, *, draws: int = DRAWS, seed: int = SEED, full_intervals: bool = False) -> Summary:
    """Return the summary of a run, complete or not; a deterministic function of its two files.

    Args:
        run: manifest and records.
        draws: bootstrap draws over items.
        seed: of the bootstrap.
        full_intervals: refit the fitted measures (CORP, slope, sweep, smooth ECE) in every draw, which takes seconds.
    """
    manifest = run.manifest
    latest = run.latest()
    planned = [call for call in manifest.plan if call.section in MEASURED_SECTIONS]
    records = [latest[call.call_id] for call in planned if call.call_id in latest]
    columns, scale_note = columns_of(records)
    tally = tally_rows(columns.outcome, _fractions(columns), trap=columns.trap, free_text=columns.free_text)
    several = len(set(columns.item)) < len(columns.item)
    by_item = _by_item(columns, attempted=False) if several else None
    measured = measure_run(tally, by_item, draws=draws, seed=seed, full_intervals=full_intervals)
    attempted = tally_rows(
        columns.outcome, _fractions(columns), trap=columns.trap, free_text=columns.free_text, attempted=True
    )
    attempted_items = _by_item(columns, attempted=True) if several else None
    usable = measured.metrics["usable_share"].value
    limits = bounds(tally) if usable is not None and usable < BOUNDS_BELOW else None
    info = manifest.model
    return Summary(
        run_id=manifest.run_id,
        model=SummaryModel(
            provider=info.provider,
            name=info.name,
            served_name=info.served_name,
            digest=info.digest,
            simulated=info.simulated,
        ),
        battery=SummaryBattery(
            id=manifest.battery.id,
            version=manifest.battery.version,
            sha256=manifest.battery.sha256,
            draw=manifest.settings.battery,
            probes=len(manifest.drawn.probes),
            traps=len(manifest.drawn.traps),
            seed=manifest.settings.seed,
        ),
        asked_with={
            "structured": structured_mode(run),
            "max_tokens": manifest.max_tokens,
            "temperature": manifest.settings.temperature,
            "example": manifest.settings.example,
            "prompt_version": manifest.prompt_version,
        },
        counts=_counts(records, [call.section for call in planned]),
        metrics=measured.metrics,
        metrics_attempted=confidence_metrics(attempted, attempted_items, draws=draws, seed=seed),
        bins=group_rows(_tables(columns, _bin_order(run))),
        groups=group_rows(_group_tables(columns)),
        families=_families(records),
        composite=measured.composite,
        tier=measured.tier,
        mean_confidence=100 * float(mean_confidence(tally.answered)) if tally.answered.n else None,
        fresh_check=fresh_check(manifest.plan, latest, draws=draws, seed=seed),
        bounds={"accuracy": limits.accuracy, "gap": limits.gap} if limits else None,
        usage=_usage(run),
        notes=_notes(run, records, len(planned), scale_note, measured.metrics),
    )


def structured_mode(run: Run) -> str:
    """Return ``on`` or ``off`` as the measured replies were asked for, ``undecided`` while there is none."""
    measured = [record for record in run.records if record.section != TRIAL and record.error is None]
    return "undecided" if not measured else "on" if measured[0].structured else "off"


def confident_errors(run: Run, least: int = 80) -> list[tuple[int, Record]]:
    """Return the wrong answers stated at ``least`` or more, traps included, the surest first.

    Confidences are those of the measures: on one scale over the whole run.
    """
    latest = run.latest()
    calls = [call for call in run.manifest.plan if call.section in MEASURED_SECTIONS and call.call_id in latest]
    records = [latest[call.call_id] for call in calls]
    columns, _ = columns_of(records)
    found = [
        (confidence, record)
        for confidence, record in zip(columns.confidence, records, strict=True)
        if record.outcome == "incorrect" and confidence is not None and confidence >= least
    ]
    return sorted(found, key=lambda row: (-row[0], row[1].item_id))


def columns_of(records: Sequence[Record]) -> tuple[Columns, str]:
    """Return records as columns, with their confidences on one scale, and a note on the scale."""
    flags = [record.flags for record in records]
    confidences, note = run_scale([record.confidence for record in records], flags)
    columns = Columns(
        item=tuple(record.item_id for record in records),
        bin=tuple(record.bin for record in records),
        trap=tuple(record.trap for record in records),
        outcome=tuple(record.outcome for record in records),
        confidence=tuple(confidences),
        free_text=tuple("free_text" in marks for marks in flags),
    )
    return columns, note


def answered_counts(columns: Columns, rows: Sequence[int] | None = None) -> Counts:
    """Return the answered probes among the rows, all when None, as right and wrong by confidence."""
    chosen = range(len(columns.item)) if rows is None else rows
    kept = [index for index in chosen if not columns.trap[index]]
    outcome = [columns.outcome[index] for index in kept]
    return tally_rows(outcome, _fractions(columns)[kept]).answered


def _fractions(columns: Columns) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([np.nan if c is None else c / 100 for c in columns.confidence], dtype=np.float64)


def _by_item(columns: Columns, *, attempted: bool) -> Any:
    return tally_rows(
        columns.outcome,
        _fractions(columns),
        trap=columns.trap,
        free_text=columns.free_text,
        item=columns.item,
        attempted=attempted,
    )


def _bin_order(run: Run) -> tuple[str, ...]:
    return run.manifest.drawn.bins()


def _tables(columns: Columns, names: Sequence[str]) -> dict[str, Counts]:
    rows: dict[str, list[int]] = {name: [] for name in names}
    for index, name in enumerate(columns.bin):
        rows.setdefault(name, []).append(index)
    return {name: answered_counts(columns, indices) for name, indices in rows.items()}


def _group_tables(columns: Columns) -> dict[str, Counts]:
    tables = _tables(columns, ())
    groups = {name: [tables[member] for member in members if member in tables] for name, members in GROUPS.items()}
    return {name: pool(members) for name, members in groups.items() if members}


def _counts(records: Sequence[Record], sections: Sequence[str]) -> dict[str, dict[str, int]]:
    counts = {}
    for section in MEASURED_SECTIONS:
        outcomes: list[str] = [record.outcome for record in records if record.section == section]
        counts[section] = {outcome: outcomes.count(outcome) for outcome in OUTCOMES}
        counts[section]["not_asked"] = sections.count(section) - len(outcomes)
    return counts


def _families(records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Return for each trap family how many were asked, spotted and answered."""
    families: dict[str, dict[str, int]] = {}
    for record in records:
        if record.trap and record.family:
            row = families.setdefault(record.family, {"asked": 0, "abstained": 0, "incorrect": 0})
            row["asked"] += 1
            if record.outcome in row:
                row[record.outcome] += 1
    return dict(sorted(families.items()))


def _usage(run: Run) -> Usage:
    # where plain text does, the trial's replies stand in the file once more as the run's own
    plain = structured_mode(run) == "off"
    records = [record for record in run.records if not (plain and record.section == TRIAL)]
    prompt = [record.prompt_tokens for record in records if record.prompt_tokens is not None]
    completion = [record.completion_tokens for record in records if record.completion_tokens is not None]
    return Usage(
        calls=len(records),
        retries=sum(record.attempts - 1 for record in records),
        prompt_tokens=sum(prompt) if prompt else None,
        completion_tokens=sum(completion) if completion else None,
        seconds=round(_seconds(run), 3),
    )


def _seconds(run: Run) -> float:
    """Return the time spent asking; a stretch that was killed has no end, so its last record stands in."""
    total = 0.0
    stretches = run.manifest.sessions
    for stretch, following in zip(stretches, [*(later.started for later in stretches[1:]), "~"], strict=True):
        within = [record.at for record in run.records if stretch.started <= record.at < following]
        end = stretch.ended or max(within, default=stretch.started)
        total += (datetime.fromisoformat(end) - datetime.fromisoformat(stretch.started)).total_seconds()
    return max(total, 0.0)


def _notes(
    run: Run, records: Sequence[Record], planned: int, scale_note: str, metrics: dict[str, Estimate]
) -> tuple[str, ...]:
    manifest = run.manifest
    notes = []
    if manifest.model.simulated:
        notes.append("simulated: these replies were written by a script, not by a model")
    missing = planned - len(records)
    errors = sum(record.outcome == "error" for record in records)
    if missing or errors:
        notes.append(f"incomplete: {missing} of {planned} calls not asked, {errors} ended in an error")
    if scale_note:
        notes.append(scale_note)
    usable, accuracy = metrics["usable_share"].value, metrics["accuracy"].value
    if usable is not None and usable < BOUNDS_BELOW:
        notes.append(f"only {100 * usable:.0f} % of the replies to probes could be used; the report has the bounds")
    if accuracy is not None and accuracy > EASY_ABOVE:
        notes.append(
            f"{100 * accuracy:.0f} % right: too easy to measure much; try harder ones with --fresh 1 --hardness 5"
        )
    named = {record.outcome for record in records}
    if "overflow" in named:
        notes.append("some prompts did not fit the context: raise --num-ctx")
    if structured_mode(run) == "on" and manifest.settings.structured == "auto":
        notes.append("asked with a JSON schema: its plain replies did not hold the form")
    served, name = manifest.model.served_name, manifest.model.name
    if served and served != name and manifest.model.provider == "openai":
        notes.append(f"the server says that {served!r} answered, not {name!r}")
    notes += run.problems
    return tuple(notes)
