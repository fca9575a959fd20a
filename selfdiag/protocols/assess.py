"""The self-assessment of a run: what a model claims of itself beside what it does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from selfdiag.measure.counts import Floats
from selfdiag.measure.estimate import Estimate, join_notes
from selfdiag.measure.external import Criterion, resampled
from selfdiag.measure.horizon import Horizon
from selfdiag.measure.msi import (
    CRITERIA,
    Delta,
    Index,
    InternalCriterion,
    delta_avg,
    index,
    rank_agreement,
    stretched,
)
from selfdiag.measure.questionnaire import column_means
from selfdiag.measure.resampling import DRAWS, SEED, item_weights, percentile_interval
from selfdiag.protocols.audit import standing, structured_mode
from selfdiag.protocols.cited import Cited
from selfdiag.protocols.external_profile import CitedSources, Kind, external_profile_of
from selfdiag.protocols.questionnaire import Questionnaire, questionnaire_of
from selfdiag.protocols.requirements import parse_weights
from selfdiag.protocols.self_profile import (
    FramingCheck,
    Ratings,
    SelfProfile,
    framing_of,
    scored_ratings,
    self_profile_of,
)
from selfdiag.protocols.summary import SummaryModel, model_of
from selfdiag.runs.records import FRAMING, MEASURED_SECTIONS, QUESTIONNAIRE, SELF_PROFILE, TASKS
from selfdiag.runs.self_reports import SELF_REPORT_TEMPERATURE
from selfdiag.runs.store import Run

SCHEMA = "selfdiag.assess/1"
SECTIONS = (*MEASURED_SECTIONS, QUESTIONNAIRE, SELF_PROFILE, FRAMING, TASKS)
"""What a self-assessment asks."""
INSTANCES, RATINGS, TASK_ELEMENTS = 25, 30, 40
"""Passes through the statements, ratings of each criterion, and scored elements of each, unless asked otherwise."""

_NO_RATINGS = InternalCriterion(mean=None, sd=None, n=0, consistency=None, note="not asked")


class ExternalCriterion(Estimate, frozen=True, kw_only=True):
    """What graded tasks show on one criterion: ``value`` = ``numerator`` / ``denominator``, or None with a note.

    ``n`` counts scored elements. The numerator and denominator of x2 are years: those left, and those that count.
    """

    numerator: float | None
    denominator: float


class ProfileIndex(Index, frozen=True, kw_only=True):
    """The index of a profile with the 95 % intervals of ``msi`` and ``msi_per_root_n``.

    The least criterion of a resample lies below the least of the sample on average, so the intervals lie a little low.
    """

    msi_ci: tuple[float, float] | None = None
    msi_per_root_n_ci: tuple[float, float] | None = None
    method: str = ""


class Weighted(Estimate, frozen=True, kw_only=True):
    """The mean of the external profile under the ``weights`` of one ``use``; ``claimed`` is the internal one's."""

    use: str
    weights: dict[str, float]
    claimed: float | None


class KnowledgeHorizon(Estimate, frozen=True, kw_only=True):
    """The date up to which facts are known, in decimal years; where ``censored`` it is the value or later."""

    share_before: float | None
    share_after: float | None
    censored: bool


class Citations(msgspec.Struct, frozen=True, kw_only=True):
    """The open citations by state, and knowledge currency in the study's form: from the age of verified ones alone.

    ``mean_age`` is in years before the run, ``looked_up`` counts DOIs that a resolver was asked about.
    """

    verified: int
    contradicted: int
    unknown: int
    looked_up: int
    mean_age: float | None
    currency: ExternalCriterion
    refuted: tuple[Cited, ...]


class Assessment(msgspec.Struct, frozen=True, kw_only=True):
    """What a model claims of itself beside what it does; ``notes`` are what a reader must know of it.

    ``internal`` and ``external`` are the two profiles, x1 to x5. ``msi`` is the index of what the model does,
    ``msi_internal`` that of what it claims. ``delta`` is the distance of the two profiles, ``rank_agreement`` whether
    they put the criteria in the same order, ``ratings`` how the internal profile came about, ``kinds`` the counts
    behind the external one by kind of task.
    """

    schema: str = SCHEMA
    run_id: str
    model: SummaryModel
    asked_with: dict[str, Any]
    internal: dict[str, InternalCriterion]
    external: dict[str, ExternalCriterion]
    msi: ProfileIndex
    msi_internal: ProfileIndex
    weighted: Weighted
    delta: Delta
    rank_agreement: Estimate
    questionnaire: Questionnaire | None
    ratings: Ratings | None
    framing: FramingCheck | None
    horizon: KnowledgeHorizon | None
    citations: Citations | None
    kinds: dict[str, tuple[Kind, ...]]
    notes: tuple[str, ...]


class Assessments(msgspec.Struct, frozen=True, kw_only=True):
    """Several models' assessments side by side."""

    schema: str = "selfdiag.assesses/1"
    models: tuple[Assessment, ...]


def assess_of(
    run: Run,
    *,
    weights: str | None = None,
    years: float | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Assessment:
    """Return the self-assessment of a run, complete or not; a deterministic function of its two files.

    What a run did not ask is missing and says so.

    Args:
        run: manifest and records.
        weights: as ``parse_weights`` reads them; those of the run's settings when None.
        years: a knowledge horizon so long before the run counts 0; as the run's settings say when None.
        draws: bootstrap draws.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when the weights are none, or the manifest does not say when the run began.
    """
    use, weight = parse_weights(run.manifest.settings.weights if weights is None else weights)
    ratings = scored_ratings(run)
    claimed = self_profile_of(run, draws=draws, seed=seed)
    shown = external_profile_of(run, years=years, draws=draws, seed=seed)
    internal = claimed.criteria if claimed else dict.fromkeys(CRITERIA, _NO_RATINGS)
    criteria = [shown.criteria[name] for name in CRITERIA]
    claims = [internal[name].mean for name in CRITERIA]
    values = [criterion.value for criterion in criteria]
    drawn = _drawn_values(criteria, draws, seed)
    how = f"{draws} draws of elements, seed {seed}"
    return Assessment(
        run_id=run.manifest.run_id,
        model=model_of(run),
        asked_with=_asked_with(run),
        internal=internal,
        external={name: _plain(criterion) for name, criterion in shown.criteria.items()},
        msi=_with_interval(index(values), drawn, how),
        msi_internal=_with_interval(
            index(claims), _drawn_claims(ratings, draws, seed), f"{draws} draws of instances, seed {seed}"
        ),
        weighted=_weighted(use, weight, values, claims, drawn, how),
        delta=_delta(delta_avg(ratings, criteria, draws=draws, seed=seed), claimed),
        rank_agreement=rank_agreement(claims, values),
        questionnaire=questionnaire_of(run, draws=draws, seed=seed),
        ratings=claimed.ratings if claimed else None,
        framing=framing_of(run, draws=draws, seed=seed),
        horizon=_horizon(shown.horizon),
        citations=_citations(shown.cited),
        kinds=shown.kinds,
        notes=_notes(run),
    )


def _delta(found: Delta, claimed: SelfProfile | None) -> Delta:
    """Return a distance without a verdict where the ratings claim nothing that could be kept."""
    if claimed is None or not claimed.ratings.follow_scale or found.value is None:
        return found
    note = join_notes("its ratings follow the scale, not the question, so that they claim nothing", found.note)
    return msgspec.structs.replace(found, verdict="cannot say", note=note)


def _plain(criterion: Criterion) -> ExternalCriterion:
    """Return a criterion without what only resampling needs."""
    return ExternalCriterion(**{name: getattr(criterion, name) for name in ExternalCriterion.__struct_fields__})


def _drawn_claims(ratings: Floats, draws: int, seed: int) -> Floats:
    """Return bootstrap draws of the internal profile, shape (draws, 5)."""
    weights = item_weights(len(ratings), draws, np.random.default_rng(seed))
    return column_means(ratings, weights.astype(np.float64))


def _drawn_values(criteria: Sequence[Criterion], draws: int, seed: int) -> Floats:
    """Return bootstrap draws of the external profile, shape (draws, 5), NaN where a criterion is missing."""
    rng = np.random.default_rng(seed)
    missing = np.full(draws, np.nan)
    return np.stack([missing if one.value is None else resampled(one, draws, rng) for one in criteria], axis=1)


def _with_interval(found: Index, drawn: Floats, how: str) -> ProfileIndex:
    fields = {name: getattr(found, name) for name in Index.__struct_fields__}
    if found.msi_per_root_n is None:
        return ProfileIndex(**fields)
    made = stretched(found.msi_per_root_n, percentile_interval(drawn.mean(axis=1) * drawn.min(axis=1)))
    fields["note"] = join_notes(found.note, made.note)
    if made.ci is None:
        return ProfileIndex(**fields)
    low, high = made.ci
    root = math.sqrt(found.n)
    return ProfileIndex(
        **fields, msi_ci=(root * low, root * high), msi_per_root_n_ci=made.ci, method=f"{made.method}, {how}"
    )


def _weighted(
    use: str,
    weights: Mapping[str, float],
    values: Sequence[float | None],
    claims: Sequence[float | None],
    drawn: Floats,
    how: str,
) -> Weighted:
    weight = np.array([weights[name] for name in CRITERIA])
    heavy = weight > 0
    missing = [name for name, counts, value in zip(CRITERIA, heavy, values, strict=True) if counts and value is None]
    value, claimed = _mean_of(values, weight), _mean_of(claims, weight)
    if value is None:
        note = f"missing: {', '.join(missing)}"
        return Weighted(use=use, weights=dict(weights), value=None, n=int(heavy.sum()), note=note, claimed=claimed)
    made = stretched(value, percentile_interval(drawn[:, heavy] @ weight[heavy]))
    return Weighted(
        use=use,
        weights=dict(weights),
        value=value,
        ci=made.ci,
        n=int(heavy.sum()),
        method=f"{made.method}, {how}" if made.ci else "",
        note=made.note,
        claimed=claimed,
    )


def _mean_of(values: Sequence[float | None], weight: Floats) -> float | None:
    """Return a weighted mean, None when a criterion that weighs something is missing."""
    known = [(value, w) for value, w in zip(values, weight.tolist(), strict=True) if w > 0]
    return None if any(value is None for value, _ in known) else math.fsum((value or 0) * w for value, w in known)


def _horizon(found: Horizon | None) -> KnowledgeHorizon | None:
    if found is None:
        return None
    return KnowledgeHorizon(**{name: getattr(found, name) for name in KnowledgeHorizon.__struct_fields__})


def _citations(found: CitedSources | None) -> Citations | None:
    if found is None:
        return None
    fields = {name: getattr(found, name) for name in Citations.__struct_fields__}
    return Citations(**fields | {"currency": _plain(found.currency)})


def _asked_with(run: Run) -> dict[str, Any]:
    manifest, settings = run.manifest, run.manifest.settings
    return {
        "sections": settings.sections,
        "instances": settings.instances,
        "ratings": settings.ratings,
        "tasks": settings.tasks,
        "seed": settings.seed,
        "rationale": settings.rationale,
        "structured": structured_mode(run),
        "temperature": settings.temperature,
        "self_report_temperature": SELF_REPORT_TEMPERATURE,
        "prompt_version": manifest.prompt_version,
        "think": settings.think,
    }


def _notes(run: Run) -> tuple[str, ...]:
    manifest = run.manifest
    records = run.planned()
    notes = list(standing(run))
    mine = [call for call in manifest.plan if call.section not in MEASURED_SECTIONS]
    answered = [record for record in records if record.section not in MEASURED_SECTIONS]
    errors = sum(record.outcome == "error" for record in answered)
    if len(answered) < len(mine) or errors:
        notes.append(
            f"self-assessment incomplete: {len(mine) - len(answered)} of {len(mine)} calls not asked, "
            f"{errors} ended in an error"
        )
    if structured_mode(run) == "on" and manifest.settings.structured == "auto":
        notes.append("asked with a JSON schema: its plain replies did not hold the form")
    if any(record.outcome == "overflow" for record in records):
        notes.append("some prompts did not fit the context: raise --num-ctx")
    return (*notes, *run.problems)
