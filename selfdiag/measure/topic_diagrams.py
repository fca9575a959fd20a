"""Data of diagrams by topic: where accuracy and confidence part, and how many topics pass two thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from selfdiag.measure.calibration import MIN_BIN
from selfdiag.measure.constrained import NO_ANSWERS, Categories, surface, volumes
from selfdiag.measure.diagrams import ROWS_ALONE, WILSON, Axis, Diagram
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.reliability import GroupRow

_TIE_SLACK = 1e-9


class TopicGap(msgspec.Struct, frozen=True, kw_only=True):
    """One topic: two dots, ``accuracy`` with its Wilson interval ``ci`` and ``mean_confidence``, and their ``gap``.

    ``band`` is where the accuracy of 95 % of perfectly calibrated models would lie at these confidences and this n, and
    ``beyond_chance`` says that this one lies outside: of many topics one in twenty does by chance. ``few`` marks a
    topic with fewer than ``MIN_BIN`` answers.
    """

    name: str
    n: int
    accuracy: float
    ci: tuple[float, float]
    mean_confidence: float
    gap: float
    band: tuple[float, float]
    beyond_chance: bool
    few: bool


class TopicGaps(Diagram, frozen=True, kw_only=True):
    """Accuracy and mean confidence of each topic, the most overconfident first; ``method`` is that of the intervals."""

    x: Axis = Axis(label="share right, mean stated confidence")
    topics: tuple[TopicGap, ...] = ()
    method: str = WILSON


def topics(rows: Sequence[GroupRow], *, clustered: bool = False) -> TopicGaps:
    """Return the topics that have answers in order of their gap, the largest first; equal ones stay in their order.

    Args:
        rows: topics or groups of topics, as ``reliability.group_rows`` returns them.
        clustered: items have several rows, which the intervals do not know.
    """
    found = sorted((topic for row in rows if (topic := _topic(row)) is not None), key=lambda topic: -topic.gap)
    silent = [row.name for row in rows if not row.n]
    return TopicGaps(
        n=sum(topic.n for topic in found),
        note="" if found else "no data: no topic has an answer with a confidence",
        left_out=f"no answers: {', '.join(silent)}" if silent and found else "",
        topics=tuple(found),
        method=ROWS_ALONE if clustered else WILSON,
    )


def _topic(row: GroupRow) -> TopicGap | None:
    stated, gap, size = row.mean_confidence, row.gap, row.gap_band
    if row.accuracy is None or row.ci is None or stated is None or gap is None or size is None:
        return None
    return TopicGap(
        name=row.name,
        n=row.n,
        accuracy=row.accuracy,
        ci=row.ci,
        mean_confidence=stated,
        gap=gap,
        band=(max(0.0, stated - size), min(1.0, stated + size)),
        beyond_chance=abs(gap) > size + _TIE_SLACK,
        few=row.n < MIN_BIN,
    )


class ConstrainedSurface(Diagram, frozen=True, kw_only=True):
    """In how many categories a model is accurate enough and calibrated enough: C-PVC as a heat map.

    ``cells[i][j]`` counts the categories with an accuracy of ``accuracy[i]`` or more and a calibration error of
    ``tolerance[j]`` or less, from 0 to ``categories``. ``pvc_vus`` and ``c_pvc_vus`` are the volumes over all
    thresholds without and with the tolerance, in categories.
    """

    x: Axis = Axis(label="tolerated calibration error t")
    y: Axis = Axis(label="required accuracy g")
    accuracy: tuple[float, ...] = ()
    tolerance: tuple[float, ...] = ()
    cells: tuple[tuple[int, ...], ...] = ()
    categories: int
    pvc_vus: Estimate
    c_pvc_vus: Estimate


def constrained_surface(measured: Categories, step: int = 1) -> ConstrainedSurface:
    """Return the C-PVC surface of one battery.

    Args:
        measured: its categories.
        step: percent between thresholds, a divisor of 100; 5 gives 21 x 21 cells.

    Raises:
        ValueError: when the step does not divide 100.
    """
    if step < 1 or 100 % step:
        raise ValueError("the step between thresholds divides 100")
    volume = volumes(measured)
    k = len(measured.names)
    made = ConstrainedSurface(
        n=sum(measured.n),
        note="" if k else NO_ANSWERS,
        left_out=measured.note,
        categories=k,
        pvc_vus=volume["pvc_vus"],
        c_pvc_vus=volume["c_pvc_vus"],
    )
    if not k:
        return made
    steps = tuple(percent / 100 for percent in range(0, 101, step))
    cells = tuple(map(tuple, surface(measured)[::step, ::step].tolist()))
    return msgspec.structs.replace(made, accuracy=steps, tolerance=steps, cells=cells)
