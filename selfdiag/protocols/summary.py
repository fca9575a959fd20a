"""The shape of a summary: every number an auditor asks for, from one run or one file of graded answers."""

from __future__ import annotations

from typing import Any

import msgspec

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.pooled import PooledAuroc
from selfdiag.measure.reliability import GroupRow, WorstGroup
from selfdiag.measure.summary import Composite
from selfdiag.measure.tiers import Tier
from selfdiag.protocols.anchor import Anchor
from selfdiag.protocols.fresh_check import FreshCheck
from selfdiag.protocols.imputation import Imputation
from selfdiag.protocols.microprobe import MicroprobeSummary
from selfdiag.protocols.questionnaire import Questionnaire
from selfdiag.protocols.repeats import Repeats
from selfdiag.runs.store import Run

SCHEMA = "selfdiag.summary/1"


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows of an analysis a summary speaks of; a field that did not divide them is None."""

    model: str | None = None
    bin: str | None = None
    file: str | None = None


class SummaryModel(msgspec.Struct, frozen=True, kw_only=True):
    """Which model was asked.

    ``remote`` says that it is on another machine; ``details`` are its provider's words on it.
    """

    provider: str
    name: str
    served_name: str
    digest: str
    simulated: bool
    remote: bool = False
    details: dict[str, str] = {}


class SummaryBattery(msgspec.Struct, frozen=True, kw_only=True):
    """Which items were asked: ``probes`` and ``traps`` are numbers of items, ``draw`` the choice made."""

    id: str
    version: str
    sha256: str
    draw: str
    probes: int
    traps: int
    seed: int


def model_of(run: Run) -> SummaryModel:
    """Return who answered a run."""
    info = run.manifest.model
    return SummaryModel(
        provider=info.provider,
        name=info.name,
        served_name=info.served_name,
        digest=info.digest,
        simulated=info.simulated,
        remote=info.remote,
        details=info.details,
    )


class SecondOpinion(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's view of the answers that the rules left ``undecided``; the run's own figures are without it.

    ``same`` were found to give the key's answer, ``different`` not, ``unread`` got no readable opinion and
    ``not_asked`` none at all; ``calls`` were made to the judge. ``metrics`` and ``tier`` are the run's with the
    ``same`` ones counted as right.
    """

    model: str
    undecided: int
    same: int
    different: int
    unread: int
    not_asked: int
    calls: int
    metrics: dict[str, Estimate]
    tier: str


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What the run cost. Tokens are None when the server counted none."""

    calls: int
    retries: int
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One source of confidence on the ``n`` answers for which the first one is there too.

    ``differences`` holds the paired differences of ``brier``, ``gap`` and ``auroc``, this source's minus the
    first's; the first source has none.
    """

    n: int
    brier: float | None
    gap: float | None
    auroc: float | None
    differences: dict[str, Estimate] | None = None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an audit; ``notes`` are plain sentences about what a reader must know of it.

    ``counts`` has each outcome for probes and traps apart, and ``not_asked`` for calls without a record.
    ``groups`` are the five groups of bins; ``worst_bin`` and ``worst_group`` have the largest gaps.
    ``mean_confidence`` is that of the answered probes, 0-100, and ``mean_confidence_attempted`` that of the
    attempted-as-wrong set; ``imputed`` tells what was put there where none was stated. Fields that are None were not
    part of the run.
    """

    schema: str = SCHEMA
    run_id: str | None = None
    group: Group | None = None
    model: SummaryModel
    battery: SummaryBattery | None = None
    asked_with: dict[str, Any] | None = None
    counts: dict[str, dict[str, int]]
    metrics: dict[str, Estimate]
    metrics_attempted: dict[str, Estimate]
    bins: tuple[GroupRow, ...]
    groups: tuple[GroupRow, ...]
    worst_bin: WorstGroup | None = None
    worst_group: WorstGroup | None = None
    families: dict[str, dict[str, int]]
    composite: Composite
    tier: Tier
    mean_confidence: float | None = None
    mean_confidence_attempted: float | None = None
    imputed: Imputation | None = None
    questionnaire: Questionnaire | None = None
    microprobe: MicroprobeSummary | None = None
    anchor: Anchor | None = None
    fresh_check: FreshCheck | None = None
    consistency: Repeats | None = None
    sources: dict[str, Source] | None = None
    second_opinion: SecondOpinion | None = None
    bounds: dict[str, tuple[float, float] | None] | None = None
    usage: Usage | None = None
    notes: tuple[str, ...] = ()


class Pooled(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of an analysis together; ``auroc`` is None when they are of one model."""

    models: int
    mean_confidence: float | None
    mean_confidence_attempted: float | None
    metrics: dict[str, Estimate]
    metrics_attempted: dict[str, Estimate]
    auroc: PooledAuroc | None


class Summaries(msgspec.Struct, frozen=True, kw_only=True):
    """An analysis of several groups of rows; ``pooled`` is None when there is one group only."""

    schema: str = "selfdiag.summaries/1"
    models: tuple[Summary, ...]
    pooled: Pooled | None
