"""The diagrams of a run, of the replies so far, or of a file's rows; and of runs and experiments side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from selfdiag.battery.items import GROUPS
from selfdiag.measure.comparison_diagrams import (
    DoseItem,
    DoseResponseDiagram,
    OwnModel,
    SelfAssessmentRadar,
    WhereItStands,
    dose_item,
    dose_response_diagram,
    self_assessment_radar,
    where_it_stands,
)
from selfdiag.measure.constrained import Categories, categories
from selfdiag.measure.counts import Counts, mean_confidence, pool
from selfdiag.measure.curves import (
    RiskCoverageCurve,
    RocCurve,
    ThresholdExplorer,
    risk_coverage,
    roc_curve,
    threshold_explorer,
)
from selfdiag.measure.diagrams import (
    ConfidenceByOutcome,
    Grouping,
    ReliabilityDiagram,
    confidence_by_outcome,
    reliability_diagram,
)
from selfdiag.measure.reliability import group_rows
from selfdiag.measure.resampling import SEED
from selfdiag.measure.tally import tally_rows
from selfdiag.measure.topic_diagrams import ConstrainedSurface, TopicGaps, constrained_surface, topics
from selfdiag.protocols.assess import Assessment
from selfdiag.protocols.claim_replies import ClaimReply
from selfdiag.protocols.microprobe import Microprobe, ProbedItem
from selfdiag.protocols.rows import PER_BIN, tally_of
from selfdiag.protocols.sources import run_columns
from selfdiag.runs.columns import Columns, columns_of
from selfdiag.runs.records import MEASURED_SECTIONS, Record
from selfdiag.runs.store import Run


class Diagrams(msgspec.Struct, frozen=True, kw_only=True):
    """The diagrams of one model's answers.

    ``by_group`` says that ``topics`` and ``surface`` speak of the five groups of topics, because no single topic has
    ``PER_BIN`` answers. ``simulated`` says that a script wrote the replies. ``note`` says what was done to bring the
    confidences on one scale.
    """

    simulated: bool
    reliability: ReliabilityDiagram
    roc: RocCurve
    confidence: ConfidenceByOutcome
    risk_coverage: RiskCoverageCurve
    thresholds: ThresholdExplorer
    topics: TopicGaps
    surface: ConstrainedSurface
    by_group: bool
    note: str = ""


def diagrams_of(run: Run, *, draws: int = 0, seed: int = SEED) -> Diagrams:
    """Return the diagrams of a run, complete or not; a deterministic function of its two files.

    Args:
        run: manifest and records.
        draws: bootstrap draws for the intervals of risk and gain, which take a tenth of a second; without any there
            are none.
        seed: of the bootstrap.
    """
    columns, note = run_columns(run, run.measured())
    return diagrams_of_columns(columns, simulated=run.manifest.model.simulated, note=note, draws=draws, seed=seed)


def diagrams_of_columns(
    columns: Columns, *, simulated: bool = False, note: str = "", draws: int = 0, seed: int = SEED
) -> Diagrams:
    """Return the diagrams of rows, whatever file they came from.

    Args:
        columns: the rows.
        simulated: whether a script wrote the replies.
        note: on the confidences.
        draws: bootstrap draws for the intervals of risk and gain.
        seed: of the bootstrap.
    """
    answered = tally_of(columns).answered
    clustered = _clustered(columns)
    items = tally_of(columns, by_item=True).answered if clustered else None
    rows, by_group = _topics(columns)
    return Diagrams(
        simulated=simulated,
        reliability=reliability_diagram(answered, clustered=clustered),
        roc=roc_curve(answered, clustered=clustered),
        confidence=confidence_by_outcome(columns.outcome, columns.confidence, trap=columns.trap),
        risk_coverage=risk_coverage(answered, items=items, draws=draws, seed=seed),
        thresholds=threshold_explorer(answered, items=items, draws=draws, seed=seed),
        topics=topics(group_rows(rows), clustered=clustered),
        surface=constrained_surface(_categories(rows)),
        by_group=by_group,
        note=note,
    )


def reliability_so_far(records: Sequence[Record], *, group_by: Grouping = "bin") -> ReliabilityDiagram:
    """Return the reliability diagram of the replies so far.

    It groups by bin from the first reply on, so that points do not jump when another value is stated. The confidence
    is the stated one; for a run whose first source is another, ask ``diagrams_of``.

    Args:
        records: of one run, in the order in which they came; other sections than probes and traps are left out.
        group_by: ``bin`` or ``value``.
    """
    columns, _ = columns_of(_measured(records))
    return reliability_diagram(tally_of(columns).answered, group_by=group_by, clustered=_clustered(columns))


def diagrams_so_far(records: Sequence[Record], *, simulated: bool = False) -> Diagrams:
    """Return every diagram of the replies so far, without bootstrap intervals; ``records`` as above.

    ``simulated`` says that a script writes the replies.
    """
    columns, note = columns_of(_measured(records))
    return diagrams_of_columns(columns, simulated=simulated, note=note)


def where_runs_stand(runs: Sequence[Run]) -> WhereItStands:
    """Return runs beside the published models, as accuracy and mean confidence; the attempted-as-wrong set of each."""
    return where_it_stands([_own(run) for run in runs])


def radar_of(assessment: Assessment) -> SelfAssessmentRadar:
    """Return what a model claims of itself beside what it does."""
    return self_assessment_radar(assessment.internal, assessment.external)


def dose_response_of(found: Microprobe) -> DoseResponseDiagram:
    """Return the confidence under every claim, item by item; only answers count."""
    return dose_response_diagram([_dose_item(item) for item in found.items])


def _measured(records: Sequence[Record]) -> list[Record]:
    """Return the last record of each measured call: that one counts."""
    latest = {record.call_id: record for record in records if record.section in MEASURED_SECTIONS}
    return list(latest.values())


def _clustered(columns: Columns) -> bool:
    return bool(np.unique(columns.item).size < len(columns))


def _topics(columns: Columns) -> tuple[dict[str, Counts], bool]:
    """Return the answered probes by topic, or by group of topics where no topic has enough; and which it is.

    A topic of a user's own battery that belongs to no group stays by itself.
    """
    named = np.flatnonzero([bool(name) and not trap for name, trap in zip(columns.bin, columns.trap, strict=True)])
    # an array of texts takes the room of the longest for each, and drops a NUL at the end
    places = {name: place for place, name in enumerate(sorted({columns.bin[row] for row in named}))}
    topic = np.array([places[columns.bin[row]] for row in named], dtype=np.intp)
    outcome = [columns.outcome[row] for row in named]
    answered = tally_rows(outcome, columns.confidence[named], item=topic).answered
    tables = {
        name: Counts(answered.levels, answered.right[place], answered.wrong[place]) for name, place in places.items()
    }
    groups = {name: [tables[member] for member in members if member in tables] for name, members in GROUPS.items()}
    pooled = {name: pool(members) for name, members in groups.items() if members}
    if not pooled or max(int(table.n) for table in tables.values()) >= PER_BIN:
        return tables, False
    grouped = {member for members in GROUPS.values() for member in members}
    return pooled | {name: table for name, table in tables.items() if name not in grouped}, True


def _categories(tables: Mapping[str, Counts]) -> Categories:
    """Return topics as categories with accuracy and mean confidence; those without answers leave with a note."""
    return categories(
        [int(table.hits) for table in tables.values()],
        [int(table.n) for table in tables.values()],
        mean_confidence=[float(mean_confidence(table)) if table.n else None for table in tables.values()],
        names=list(tables),
    )


def _own(run: Run) -> OwnModel:
    columns, _ = run_columns(run, run.measured())
    return OwnModel(
        name=run.manifest.settings.model,
        attempted=tally_of(columns, attempted=True).answered,
        run_id=run.manifest.run_id,
        simulated=run.manifest.model.simulated,
        clustered=_clustered(columns),
    )


def _dose_item(item: ProbedItem) -> DoseItem:
    return dose_item(item.id, *map(_doses, (item.claims, item.off_topic_claims, item.unlabelled_claims)))


def _doses(claims: Mapping[str, ClaimReply]) -> dict[int, float | None]:
    return {int(claim): reply.stated() for claim, reply in claims.items()}
