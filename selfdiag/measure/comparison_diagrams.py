"""Data of diagrams that set one thing beside another: models, claims of oneself and deeds, claim and confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from selfdiag.measure.counts import Counts, accuracy, mean_confidence
from selfdiag.measure.curves import auroc_of_rows
from selfdiag.measure.diagrams import RIGHT, ROWS_ALONE, STATED, WILSON, Axis, Diagram
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.msi import CRITERIA, InternalCriterion
from selfdiag.measure.published import PUBLISHED, Published
from selfdiag.measure.resampling import wilson

AS_THE_STUDY = (
    "refusals and abstentions with a confidence count as wrong, as in the study; it also counts 50 where no confidence "
    "could be read, which is left out here"
)
"""How an own model's figures differ from the published ones."""


class OwnModel(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A model of the user's: ``attempted`` is its table of the attempted-as-wrong set, as the published ones are.

    ``clustered`` says that items have several rows.
    """

    name: str
    attempted: Counts
    run_id: str = ""
    simulated: bool = False
    clustered: bool = False


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One model among others: a point at its ``accuracy`` and ``mean_confidence``, their difference ``gap``, its AUROC.

    ``accuracy_ci`` is Wilson's, ``method`` says with what reserve; mean confidence and gap have no interval here.
    ``run_id`` is empty for a published model, whose ``name`` is its maker.
    """

    name: str
    source: Literal["published", "own"]
    run_id: str = ""
    simulated: bool = False
    n: int
    accuracy: float
    accuracy_ci: tuple[float, float] | None
    method: str = WILSON
    mean_confidence: float
    gap: float
    auroc: Estimate


class WhereItStands(Diagram, frozen=True, kw_only=True):
    """Mean confidence against accuracy, published models first; ``n`` counts models.

    On the diagonal a model is as sure as it is right on average; above it, overconfident. ``caution`` says how own and
    published figures differ, empty without both.
    """

    x: Axis = RIGHT
    y: Axis = Axis(label="mean stated confidence")
    models: tuple[Standing, ...] = ()
    caution: str = ""


def where_it_stands(own: Sequence[OwnModel], published: Sequence[Published] = PUBLISHED) -> WhereItStands:
    """Return the user's models beside published ones; those without answers are left out and named."""
    answering = [model for model in own if model.attempted.n]
    silent = [model.name for model in own if not model.attempted.n]
    models = (*map(_printed, published), *map(_measured, answering))
    return WhereItStands(
        n=len(models),
        note="" if models else "no data: no model has answers with a confidence",
        left_out=f"no answers: {', '.join(silent)}" if silent and models else "",
        models=models,
        caution=AS_THE_STUDY if answering and published else "",
    )


def _printed(row: Published) -> Standing:
    share = row.accuracy / 100
    return Standing(
        name=row.maker,
        source="published",
        n=row.n,
        accuracy=share,
        accuracy_ci=wilson(share * row.n, row.n),
        mean_confidence=row.mean_confidence / 100,
        gap=row.gap / 100,
        auroc=estimate(row.auroc, row.auroc_ci, n=row.n, method="as published"),
    )


def _measured(model: OwnModel) -> Standing:
    table = model.attempted
    n, share, stated = int(table.n), float(accuracy(table)), float(mean_confidence(table))
    return Standing(
        name=model.name,
        source="own",
        run_id=model.run_id,
        simulated=model.simulated,
        n=n,
        accuracy=share,
        accuracy_ci=wilson(int(table.hits), n),
        method=ROWS_ALONE if model.clustered else WILSON,
        mean_confidence=stated,
        gap=stated - share,
        auroc=auroc_of_rows(table, clustered=model.clustered),
    )


class Spoke(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion: what the model claims of itself (``internal``) and what its tasks show (``external``).

    Both lie in [0, 1] and are None where missing, for the reason in their note. ``internal_sd`` is the standard
    deviation of the ``internal_n`` replies, ``external_ci`` the 95 % interval over ``external_n`` elements.
    """

    name: str
    label: str
    internal: float | None
    internal_sd: float | None
    internal_n: int
    internal_note: str
    external: float | None
    external_ci: tuple[float, float] | None
    external_n: int
    external_note: str


class SelfAssessmentRadar(Diagram, frozen=True, kw_only=True):
    """The internal and the external profile over x1 to x5; ``n`` counts the criteria known on either side."""

    axis: Axis = Axis(label="reliability", percent=False)
    spokes: tuple[Spoke, ...] = ()


def self_assessment_radar(
    internal: Mapping[str, InternalCriterion], external: Mapping[str, Estimate]
) -> SelfAssessmentRadar:
    """Return both profiles, criterion by criterion; one that a profile lacks is missing there.

    Args:
        internal: what the model claims, by criterion.
        external: what graded tasks show, by criterion.
    """
    spokes = tuple(_spoke(name, internal.get(name), external.get(name)) for name in CRITERIA)
    known = sum(spoke.internal is not None or spoke.external is not None for spoke in spokes)
    missing = [
        f"{side}: {', '.join(names)}"
        for side in ("internal", "external")
        if (names := [spoke.name for spoke in spokes if getattr(spoke, side) is None])
    ]
    return SelfAssessmentRadar(
        n=known,
        note="" if known else "no data: no criterion is known on either side",
        left_out=f"missing {'; '.join(missing)}" if known and missing else "",
        spokes=spokes if known else (),
    )


_NOT_ASKED = "not asked"


def _spoke(name: str, claimed: InternalCriterion | None, shown: Estimate | None) -> Spoke:
    return Spoke(
        name=name,
        label=CRITERIA[name],
        internal=claimed.mean if claimed else None,
        internal_sd=claimed.sd if claimed else None,
        internal_n=claimed.n if claimed else 0,
        internal_note=claimed.note if claimed else _NOT_ASKED,
        external=shown.value if shown else None,
        external_ci=shown.ci if shown else None,
        external_n=shown.n if shown else 0,
        external_note=shown.note if shown else _NOT_ASKED,
    )


class DoseLine(msgspec.Struct, frozen=True, kw_only=True):
    """Stated confidence by claimed accuracy, in order of the claim; two tuples of equal length.

    ``missing`` counts the claims under which no confidence was stated in an answer.
    """

    claim: tuple[float, ...] = ()
    confidence: tuple[float, ...] = ()
    missing: int = 0


class DoseItem(msgspec.Struct, frozen=True, kw_only=True):
    """One item: the claim stands on the line of its topic, on that of another, or the question names no topic."""

    name: str
    on_topic: DoseLine
    off_topic: DoseLine = DoseLine()
    unlabelled: DoseLine = DoseLine()


class DoseResponseDiagram(Diagram, frozen=True, kw_only=True):
    """What a claimed accuracy does to the stated confidence, item by item; ``n`` counts the points of all lines.

    On the diagonal the model repeats the claim, on a level line it ignores it. A point is one reply, so none has an
    interval.
    """

    x: Axis = Axis(label="claimed accuracy")
    y: Axis = STATED
    items: tuple[DoseItem, ...] = ()


Doses = Mapping[int, float | None]
"""Stated confidence, 0 to 100 or None where there is none, by claimed accuracy in percent."""


def dose_item(name: str, on_topic: Doses, off_topic: Doses | None = None, unlabelled: Doses | None = None) -> DoseItem:
    """Return the lines of one item.

    Args:
        name: of the item.
        on_topic: replies to claims about its topic.
        off_topic: replies to claims about another topic.
        unlabelled: replies to claims about its topic when the question does not name it.
    """
    return DoseItem(
        name=name, on_topic=_line(on_topic), off_topic=_line(off_topic or {}), unlabelled=_line(unlabelled or {})
    )


def dose_response_diagram(items: Sequence[DoseItem]) -> DoseResponseDiagram:
    """Return the items that have a point, in the order given."""
    lines = [line for item in items for line in (item.on_topic, item.off_topic, item.unlabelled)]
    n, missing = sum(len(line.claim) for line in lines), sum(line.missing for line in lines)
    drawn = tuple(item for item in items if item.on_topic.claim or item.off_topic.claim or item.unlabelled.claim)
    return DoseResponseDiagram(
        n=n,
        note="" if n else "no data: no reply under a claim is an answer with a confidence",
        left_out=f"replies without a confidence: {missing}" if n and missing else "",
        items=drawn,
    )


def _line(doses: Doses) -> DoseLine:
    read = [(claim / 100, stated / 100) for claim, stated in sorted(doses.items()) if stated is not None]
    return DoseLine(
        claim=tuple(claim for claim, _ in read),
        confidence=tuple(stated for _, stated in read),
        missing=len(doses) - len(read),
    )
