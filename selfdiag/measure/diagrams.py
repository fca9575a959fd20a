"""What a diagram shows, apart from how it is drawn: reliability, and stated confidence by outcome.

The same data feed a terminal, an SVG and a page. Confidences, shares and claims are fractions in [0, 1] as
everywhere here, and an axis says whether they are written as percent. A diagram without anything to draw says why
in its ``note``. The other diagrams are in ``curves``, ``topic_diagrams`` and ``comparison_diagrams``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure import reliability
from selfdiag.measure.calibration import BINS, equal_width_bins
from selfdiag.measure.counts import Bools, Counts, Floats
from selfdiag.measure.graded import why_undefined
from selfdiag.measure.reliability import ReliabilityBin

WILSON = "Wilson"
ROWS_ALONE = "Wilson, with every row on its own although items have several: too narrow"

Grouping = Literal["value", "bin"]


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """One axis: its label, its ends, and whether its numbers are shares that are written as percent."""

    label: str
    low: float = 0.0
    high: float = 1.0
    percent: bool = True


STATED = Axis(label="stated confidence")
RIGHT = Axis(label="share right")


class Diagram(msgspec.Struct, frozen=True, kw_only=True):
    """What every diagram has.

    ``n`` is the number of answers drawn, unless a diagram says of what. ``note`` says in plain words why there is
    nothing to draw; it is empty when there is something. ``left_out`` says what is not in the drawing.
    """

    n: int
    note: str = ""
    left_out: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw, for the reason in ``note``."""
        return bool(self.note)


class ReliabilityDiagram(Diagram, frozen=True, kw_only=True):
    """Share of right answers against stated confidence, from low to high confidence.

    Points with ``few`` answers are too small to be read one by one. ``grouped_by`` says whether a point holds one
    stated value, its ``low`` and ``high``, or an equal-width bin. ``method`` says how the points' ``ci`` were made;
    their ``band`` is where 95 % of perfectly calibrated models lie, exact for rows on their own. On the diagonal both
    axes are equal.
    """

    x: Axis = STATED
    y: Axis = RIGHT
    points: tuple[ReliabilityBin, ...] = ()
    grouped_by: Grouping = "bin"
    method: str = WILSON


def reliability_diagram(
    counts: Counts, *, group_by: Grouping | None = None, clustered: bool = False
) -> ReliabilityDiagram:
    """Return a point for each stated value where there are at most ten, else for each of ten equal-width bins.

    Args:
        counts: one table of answers.
        group_by: ``value`` or ``bin`` whatever the number of values, as in a diagram that fills while a run goes on.
        clustered: items have several rows, which the intervals do not know.
    """
    used = counts.occupied()
    if not used.n:
        return ReliabilityDiagram(n=0, note=why_undefined(used))
    by = group_by or ("value" if used.levels.size <= BINS else "bin")
    return ReliabilityDiagram(
        n=int(used.n),
        points=_by_value(used) if by == "value" else reliability.reliability_diagram(used),
        grouped_by=by,
        method=ROWS_ALONE if clustered else WILSON,
    )


def _by_value(used: Counts) -> tuple[ReliabilityBin, ...]:
    points = []
    for at, level in enumerate(used.levels.tolist()):
        one = Counts(used.levels[at : at + 1], used.right[at : at + 1], used.wrong[at : at + 1])
        points += [
            msgspec.structs.replace(point, low=level, high=level) for point in reliability.reliability_diagram(one)
        ]
    return tuple(points)


class OutcomeBars(msgspec.Struct, frozen=True, kw_only=True):
    """How sure the model was in replies with one outcome.

    ``bars`` counts them by confidence, ``n`` is their sum, and ``unstated`` had no confidence. ``note`` says why all
    bars are 0.
    """

    outcome: str
    bars: tuple[int, ...]
    n: int
    unstated: int
    note: str = ""


class ConfidenceByOutcome(Diagram, frozen=True, kw_only=True):
    """Histograms of stated confidence, one for each of ``OUTCOMES``, over the same ``bins`` (low and high end).

    They are counts of replies, to stand side by side: ``y`` reaches to the highest single bar. Probes that are
    abstained from and traps that are answered or spotted are here too; their confidence enters no measure of
    calibration.
    """

    x: Axis = STATED
    y: Axis = Axis(label="replies", percent=False)
    bins: tuple[tuple[float, float], ...] = ()
    grouped_by: Grouping = "bin"
    series: tuple[OutcomeBars, ...] = ()


OUTCOMES = ("right", "wrong", "abstained", "missed trap", "spotted trap")
"""What can become of a reply, probes first: the histograms in their order."""

_TENTHS = [(edge / BINS, (edge + 1) / BINS) for edge in range(BINS)]
_OF_PROBES = {"correct": "right", "incorrect": "wrong", "abstained": "abstained"}
# a trap that is graded correct was abstained from: whoever grades it so means the right reply
_OF_TRAPS = {"correct": "spotted trap", "incorrect": "missed trap", "abstained": "spotted trap"}


def confidence_by_outcome(
    outcome: Sequence[str], p: ArrayLike, *, trap: ArrayLike = False, group_by: Grouping | None = None
) -> ConfidenceByOutcome:
    """Return how sure a model was by what became of its replies; refused and unusable ones are left out.

    Args:
        outcome: an outcome word for each reply.
        p: shape (n,), the stated confidence in [0, 1] or NaN.
        trap: shape (n,) or one value, whether the question has no answer.
        group_by: ``value`` or ``bin``; by value where at most ten are stated when None.

    Raises:
        ValueError: when the lengths differ or a confidence is out of range.
    """
    stated = np.asarray(p, dtype=np.float64).reshape(-1)
    if stated.size != len(outcome):
        raise ValueError(f"{stated.size} confidences for {len(outcome)} outcomes")
    if ((stated < 0) | (stated > 1)).any():
        raise ValueError("a stated confidence lies between 0 and 1")
    is_trap = np.broadcast_to(np.asarray(trap, dtype=np.bool_), stated.shape).tolist()
    became = np.array(
        [(_OF_TRAPS if of_trap else _OF_PROBES).get(word, "") for word, of_trap in zip(outcome, is_trap, strict=True)],
        dtype=np.str_,
    )
    known = np.isfinite(stated) & (became != "")
    rest = Counter(word for word, name in zip(outcome, became.tolist(), strict=True) if not name)
    left_out = ", ".join(f"{number} {word}" for word, number in sorted(rest.items()))
    if not known.any():
        return ConfidenceByOutcome(
            n=0, note="no data: no reply with one of these outcomes states a confidence", left_out=left_out
        )
    values = np.unique(stated[known])
    by = group_by or ("value" if values.size <= BINS else "bin")
    place = np.searchsorted(values, stated) if by == "value" else equal_width_bins(np.nan_to_num(stated))
    ends = [(value, value) for value in values.tolist()] if by == "value" else _TENTHS
    series = tuple(_bars(name, stated[became == name], place[became == name], len(ends)) for name in OUTCOMES)
    highest = max(max(one.bars) for one in series)
    return ConfidenceByOutcome(
        n=int(known.sum()),
        left_out=left_out,
        y=Axis(label="replies", high=float(highest), percent=False),
        bins=tuple(ends),
        grouped_by=by,
        series=series,
    )


def _bars(name: str, stated: Floats, place: ArrayLike, bins: int) -> OutcomeBars:
    known: Bools = np.isfinite(stated)
    n, unstated = int(known.sum()), int((~known).sum())
    return OutcomeBars(
        outcome=name,
        bars=tuple(np.bincount(np.asarray(place)[known], minlength=bins).tolist()),
        n=n,
        unstated=unstated,
        note="" if n else (f"none of {unstated} states a confidence" if unstated else "no such reply"),
    )
