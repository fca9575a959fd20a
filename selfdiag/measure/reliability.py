"""Reliability diagrams, and what a perfectly calibrated model would show at the same sample size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from selfdiag.measure.calibration import BINS, MIN_BIN, Closed, brier, equal_width_bins, gap
from selfdiag.measure.counts import Counts, Floats, accuracy, dot, mean_confidence, remembered
from selfdiag.measure.resampling import SEED, quantiles, wilson

NULL_DRAWS = 1000
"""Simulated data sets behind a null band."""


class NullBand(msgspec.Struct, frozen=True, kw_only=True):
    """What a measure shows when every stated confidence is right: its mean and 95th percentile."""

    mean: float
    upper: float


def calibrated_draws(counts: Counts, draws: int = NULL_DRAWS, seed: int = SEED) -> Counts:
    """Return data sets with the same stated confidences in which each answer is right with that probability.

    ``counts`` holds one table; the result has shape (draws, k).
    """
    total, levels = counts.total[:, None], counts.levels[:, None]
    # level by level: numpy prepares a distribution anew whenever it changes from one draw to the next
    right = np.random.default_rng(seed).binomial(total, levels, size=(counts.levels.size, draws)).T
    return Counts(counts.levels, right, counts.total - right)


def null_band(calibrated: Counts, measure: Callable[[Counts], Floats]) -> NullBand | None:
    """Return what ``measure`` shows on calibrated data sets, or None when it is defined on none.

    ``calibrated`` comes from ``calibrated_draws``.
    """
    values = measure(calibrated)
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    return NullBand(mean=float(values.mean()), upper=float(quantiles(values, 0.95)))


@remembered
def calibrated_hits(counts: Counts) -> Floats:
    """Return the chance of each number of right answers, 0 to n, when every stated confidence is right.

    ``counts`` holds one table; the result has shape (n + 1,). The Poisson binomial distribution, exact, from
    its characteristic function (Hong 2013).
    """
    p, n = counts.levels, int(counts.n)
    points = 1 << n.bit_length()
    angle = 2 * np.pi * np.arange(points // 2 + 1) / points
    # the function is at most exp(-variance (1 - cos angle)): leave out what is below 1e-16
    variance = float(dot(counts.total, p * (1 - p)))
    angle = angle[variance * (1 - np.cos(angle)) < -math.log(1e-16)]
    turned = (1 - p + p * np.exp(-1j * angle[:, None])) ** counts.total
    return np.maximum(np.fft.irfft(turned.prod(axis=1), points)[: n + 1], 0.0)


class ReliabilityBin(msgspec.Struct, frozen=True, kw_only=True):
    """One bin of a reliability diagram.

    ``ci`` is the Wilson interval of ``accuracy``; ``band`` is where the accuracy of 95 % of perfectly
    calibrated models would lie at these confidences and this n. ``few`` marks a bin that is too small to enter
    the maximum calibration error.
    """

    low: float
    high: float
    n: int
    mean_confidence: float
    accuracy: float
    ci: tuple[float, float]
    band: tuple[float, float]
    few: bool


def reliability_diagram(counts: Counts, closed: Closed = "left") -> tuple[ReliabilityBin, ...]:
    """Return the occupied equal-width bins of one table, in order of confidence."""
    bins = equal_width_bins(counts.levels, closed)
    rows = []
    for index in range(BINS):
        inside = Counts(*(column[bins == index] for column in (counts.levels, counts.right, counts.wrong)))
        n, hits = int(inside.n), int(inside.hits)
        ci = wilson(hits, n)
        if ci is None:
            continue
        low, high = np.searchsorted(calibrated_hits(inside).cumsum(), [0.025, 0.975]) / n
        rows.append(
            ReliabilityBin(
                low=index / BINS,
                high=(index + 1) / BINS,
                n=n,
                mean_confidence=float(mean_confidence(inside)),
                accuracy=hits / n,
                ci=ci,
                band=(float(low), float(high)),
                few=n < MIN_BIN,
            )
        )
    return tuple(rows)


class GroupRow(msgspec.Struct, frozen=True, kw_only=True, rename={"name": "bin"}):
    """Calibration within one group of answers; all values in [0, 1] or None when the group has no answer.

    In JSON the name of the group is called ``bin``. ``ci`` is the Wilson interval of ``accuracy``;
    ``gap_band`` is the size of gap that a perfectly calibrated model does not exceed in 95 % of samples of
    this size.
    """

    name: str
    n: int
    accuracy: float | None
    ci: tuple[float, float] | None
    mean_confidence: float | None
    gap: float | None
    gap_band: float | None
    brier: float | None


def group_rows(groups: Mapping[str, Counts]) -> tuple[GroupRow, ...]:
    """Return one row per group, in the order given; each group is one table."""
    return tuple(_group_row(name, counts) for name, counts in groups.items())


def _group_row(name: str, counts: Counts) -> GroupRow:
    n = int(counts.n)
    if n == 0:
        return GroupRow(
            name=name, n=0, accuracy=None, ci=None, mean_confidence=None, gap=None, gap_band=None, brier=None
        )
    return GroupRow(
        name=name,
        n=n,
        accuracy=float(accuracy(counts)),
        ci=wilson(int(counts.hits), n),
        mean_confidence=float(mean_confidence(counts)),
        gap=float(gap(counts)),
        gap_band=_gap_band(counts),
        brier=float(brier(counts)),
    )


class WorstGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The group with the largest gap in size, beside the largest that chance brings when all are calibrated.

    With many small groups one of them always looks bad: ``band`` says how bad.
    """

    name: str
    gap: float
    band: NullBand


def worst_group(groups: Mapping[str, Counts]) -> WorstGroup | None:
    """Return the worst of several groups, or None when fewer than two have answers.

    The band is exact: groups are independent, so the chance that none exceeds a size is a product.
    """
    used = {name: counts for name, counts in groups.items() if counts.n}
    if len(used) < 2:
        return None
    gaps = {name: float(gap(counts)) for name, counts in used.items()}
    name = max(gaps, key=lambda group: abs(gaps[group]))
    sizes = [_gap_sizes(counts) for counts in used.values()]
    points = np.unique(np.concatenate([size for size, _ in sizes]))
    none_above = np.ones(points.size)
    for size, within in sizes:
        place = np.searchsorted(size, points, side="right")
        none_above *= np.concatenate([[0.0], within])[place]
    mean = float(points[-1] - dot(np.diff(points), none_above[:-1]))
    upper = float(points[min(int(np.searchsorted(none_above, 0.95)), points.size - 1)])
    return WorstGroup(name=name, gap=gaps[name], band=NullBand(mean=mean, upper=upper))


def _gap_sizes(counts: Counts) -> tuple[Floats, Floats]:
    """Return every size of gap in order, and the chance that a calibrated sample's is no larger."""
    n = int(counts.n)
    size = np.abs(float(mean_confidence(counts)) - np.arange(n + 1) / n)
    order = np.argsort(size, kind="stable")
    return size[order], calibrated_hits(counts)[order].cumsum()


def _gap_band(counts: Counts) -> float:
    """Return the smallest size of gap that holds 95 % of perfectly calibrated samples."""
    size, within = _gap_sizes(counts)
    return float(size[np.searchsorted(within, 0.95)])
