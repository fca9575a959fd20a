"""The audit: from the records of a run to every number an auditor asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from selfdiag.measure.calibration import BINS
from selfdiag.measure.estimate import join_notes
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.protocols.anchor import anchor_of
from selfdiag.protocols.fresh_check import fresh_check
from selfdiag.protocols.imputation import Imputation, imputation_note, impute
from selfdiag.protocols.microprobe import has_claims, microprobe_of
from selfdiag.protocols.questionnaire import questionnaire_of
from selfdiag.protocols.repeats import repeats_of
from selfdiag.protocols.rows import summarise_columns
from selfdiag.protocols.second_opinion import second_opinion
from selfdiag.protocols.sources import run_columns, sources_of
from selfdiag.protocols.summary import Summary, SummaryBattery, Usage, model_of
from selfdiag.runs.engine import TRIAL
from selfdiag.runs.plan import open_calls, trial_id
from selfdiag.runs.records import MEASURED_SECTIONS, PlannedCall, Record
from selfdiag.runs.store import Run

CONFIDENT = 80
"""From this confidence on, 0-100, a wrong answer is a confident error."""
AGAINST = "the model thinks although it was asked not to"
"""What a provider's details say of such a model, and the summary after them."""
WITH_CONTEXT = ("embedded", "gguf", "ollama")
"""Providers whose context the run sets; it bounds their replies before any limit does."""


def summarise(
    run: Run,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    full_intervals: bool = False,
    ece_bins: int = BINS,
) -> Summary:
    """Return the summary of a run, complete or not; a deterministic function of its two files.

    Args:
        run: manifest and records.
        draws: bootstrap draws over items.
        seed: of the bootstrap.
        full_intervals: refit the fitted measures (CORP, slope, sweep, smooth ECE) in every draw, which takes seconds.
        ece_bins: equal-width bins of the calibration error.
    """
    manifest = run.manifest
    latest = run.latest()
    planned = [call for call in manifest.plan if call.section in MEASURED_SECTIONS]
    records = run.measured()
    columns, scale_note = run_columns(run, records)
    filling = manifest.settings.impute if manifest.settings.confidence[0] == "stated" else None
    attempting, imputed = (None, None) if filling is None else impute(columns, records, filling)
    claims = microprobe_of(run, draws=draws, seed=seed) if has_claims(run) else None
    measured = summarise_columns(
        columns,
        model=model_of(run),
        attempted_columns=attempting,
        bins=manifest.drawn.bins(),
        draws=draws,
        seed=seed,
        full_intervals=full_intervals,
        ece_bins=ece_bins,
    )
    if imputed is not None:
        measured = _marked(measured, imputed)
    return msgspec.structs.replace(
        measured,
        run_id=manifest.run_id,
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
            "confidence": manifest.settings.confidence[0],
            "think": manifest.settings.think,
        },
        counts=_with_not_asked(measured.counts, planned, latest),
        families=_families(records),
        questionnaire=questionnaire_of(run, draws=draws, seed=seed),
        microprobe=claims.summary if claims is not None else None,
        anchor=anchor_of(run, draws=draws, seed=seed),
        fresh_check=fresh_check(manifest.plan, latest, draws=draws, seed=seed),
        sources=sources_of(run, records, draws=draws, seed=seed),
        consistency=repeats_of(run, draws=draws, seed=seed),
        second_opinion=second_opinion(run, draws=draws, seed=seed),
        usage=_usage(run),
        notes=_run_notes(run, records, scale_note, measured),
    )


def standing(run: Run) -> tuple[str, ...]:
    """Return what must be said of a run wherever its answers are used: that it is simulated, or incomplete."""
    notes = []
    if run.manifest.model.simulated:
        notes.append("simulated: these replies were written by a script, not by a model")
    plan, latest = run.manifest.plan, run.latest()
    left = open_calls(plan, latest)
    errors = sum(call.call_id in latest for call in left)
    if left:
        sections = Counter(call.section for call in left)
        where = ", ".join(f"{section} {count}" for section, count in sections.items())
        within = f" ({where})" if len({call.section for call in plan}) > 1 else ""
        missing = len(left) - errors
        notes.append(f"incomplete: {missing} of {len(plan)} calls not asked, {errors} ended in an error{within}")
    return tuple(notes)


def structured_mode(run: Run) -> str:
    """Return ``on`` or ``off`` as the measured replies were asked for, ``undecided`` while there is none."""
    measured = [record for record in run.records if record.section != TRIAL and record.error is None]
    return "undecided" if not measured else "on" if any(record.structured for record in measured) else "off"


def confident_errors(run: Run) -> list[tuple[int, Record]]:
    """Return the wrong answers stated at ``CONFIDENT`` or more with what they state, traps included, the surest first.

    Confidences are those of the measures: on one scale over the whole run.
    """
    records = run.measured()
    columns, _ = run_columns(run, records)
    found = [
        (round(100 * confidence), record)
        for confidence, record in zip(columns.confidence.tolist(), records, strict=True)
        if record.outcome == "incorrect" and 100 * confidence >= CONFIDENT
    ]
    return sorted(found, key=lambda row: (-row[0], row[1].item_id))


def _marked(measured: Summary, imputed: Imputation) -> Summary:
    """Return a summary in which every figure that rests on imputed confidences says so."""
    note = f"{imputed.imputed} confidences imputed as {imputed.confidence}" if imputed.imputed else ""
    figures = {
        name: msgspec.structs.replace(one, note=join_notes(one.note, note))
        for name, one in measured.metrics_attempted.items()
    }
    said = imputation_note(imputed, measured.metrics_attempted["gap"].n)
    return msgspec.structs.replace(measured, metrics_attempted=figures, imputed=imputed, notes=(said, *measured.notes))


def _with_not_asked(
    counts: dict[str, dict[str, int]], planned: Sequence[PlannedCall], latest: Mapping[str, Record]
) -> dict[str, dict[str, int]]:
    missing = Counter(call.section for call in planned if call.call_id not in latest)
    return {section: counts[section] | {"not_asked": missing[section]} for section in MEASURED_SECTIONS}


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
    ours = {call_id for call in run.manifest.plan for call_id in (call.call_id, trial_id(call))}
    # a judge's opinion repeats its record, and is no call to the model; nor is a line that stands there twice, and one
    # of another run
    records = [
        record
        for record in dict.fromkeys(run.records)
        if record.judge is None and record.call_id in ours and not (plain and record.section == TRIAL)
    ]
    prompt = [record.prompt_tokens for record in records if record.prompt_tokens is not None]
    completion = [record.completion_tokens for record in records if record.completion_tokens is not None]
    return Usage(
        calls=len(records),
        retries=sum(record.attempts - 1 for record in records),
        prompt_tokens=sum(prompt) if prompt else None,
        completion_tokens=sum(completion) if completion else None,
        seconds=round(seconds_of(run), 3),
    )


def seconds_of(run: Run) -> float:
    """Return the time spent asking; a stretch that was killed has no end, so its last record stands in.

    A stretch that ends before it begins, because the clock was set back, took no time that is known.
    """
    total = 0.0
    stretches = run.manifest.sessions
    for stretch, following in zip(stretches, [*(later.started for later in stretches[1:]), "~"], strict=False):
        within = [record.at for record in run.records if stretch.started <= record.at < following]
        end = stretch.ended or max(within, default=stretch.started)
        took = (datetime.fromisoformat(end) - datetime.fromisoformat(stretch.started)).total_seconds()
        total += max(took, 0.0)
    return total


def _run_notes(run: Run, records: Sequence[Record], scale_note: str, measured: Summary) -> tuple[str, ...]:
    manifest = run.manifest
    notes = list(standing(run))
    if scale_note:
        notes.append(scale_note)
    notes += [
        f"{note}; try harder ones with --fresh 1 --hardness 5" if "too easy" in note else note
        for note in measured.notes
    ]
    notes += _thinking_notes(run, records)
    if "logprob" in manifest.settings.confidence and not any(r.token_confidence is not None for r in records):
        notes.append("the server gives no token probabilities")
    if any(record.outcome == "overflow" for record in records):
        notes.append("some prompts did not fit the context: raise --num-ctx")
    if structured_mode(run) == "on" and manifest.settings.structured == "auto":
        notes.append("asked with a JSON schema: its plain replies did not hold the form")
    served, name = manifest.model.served_name, manifest.model.name
    if served and served != name and manifest.model.provider == "openai":
        notes.append(f"the server says that {served!r} answered, not {name!r}")
    notes += run.problems
    return tuple(notes)


def _thinking_notes(run: Run, records: Sequence[Record]) -> list[str]:
    """Return what must be said of a model that thinks unasked, or that its limit has cut while it thought."""
    model, settings = run.manifest.model, run.manifest.settings
    cut = [record for record in records if record.outcome == "truncated"]
    if settings.think != "off":
        # thoughts without an end, or none shown
        if any("unclosed_reasoning" in record.flags or not record.raw.strip() for record in cut):
            return ["replies were cut while the model was thinking: give it room with a larger --max-tokens"]
        return []
    # a service may count thoughts and show none
    if not (any(record.reasoning for record in records) or model.details.get("thinking") == AGAINST):
        return []
    room = "--num-ctx 18432" if model.provider in WITH_CONTEXT else "a larger --max-tokens"
    return [f"{AGAINST}; replies were cut, so give it room with {room}" if cut else AGAINST]
