"""Reliability diagrams, and what a perfectly calibrated model would show at the same sample size."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from selfdiag.measure.calibration import BINS, Closed, brier, equal_width_bins, gap
from selfdiag.measure.counts import Counts, Floats, accuracy, mean_confidence
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
    total = counts.total
    right = np.random.default_rng(seed).binomial(total, counts.levels, size=(draws, total.size))
    return Counts(counts.levels, right, total - right)


def null_band(calibrated: Counts, measure: Callable[[Counts], Floats]) -> NullBand | None:
    """Return what ``measure`` shows on calibrated data sets, or None when it is defined on none.

    ``calibrated`` comes from ``calibrated_draws``.
    """
    values = measure(calibrated)
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    return NullBand(mean=float(values.mean()), upper=float(quantiles(values, 0.95)))


class ReliabilityBin(msgspec.Struct, frozen=True, kw_only=True):
    """One bin of a reliability diagram.

    ``ci`` is the Wilson interval of ``accuracy``; ``band`` is where the accuracy of 95 % of perfectly
    calibrated models would lie at these confidences and this n.
    """

    low: float
    high: float
    n: int
    mean_confidence: float
    accuracy: float
    ci: tuple[float, float]
    band: tuple[float, float]


def reliability_diagram(counts: Counts, closed: Closed = "left", seed: int = SEED) -> tuple[ReliabilityBin, ...]:
    """Return the occupied equal-width bins of one table, in order of confidence."""
    bins = equal_width_bins(counts.levels, closed)
    calibrated = calibrated_draws(counts, seed=seed)
    rows = []
    for index in range(BINS):
        inside = bins == index
        n, hits = int(counts.total[inside].sum()), int(counts.right[inside].sum())
        ci = wilson(hits, n)
        if ci is None:
            continue
        band = quantiles(calibrated.right[:, inside].sum(axis=1) / n, [0.025, 0.975])
        rows.append(
            ReliabilityBin(
                low=index / BINS,
                high=(index + 1) / BINS,
                n=n,
                mean_confidence=float(counts.total[inside] @ counts.levels[inside]) / n,
                accuracy=hits / n,
                ci=ci,
                band=(float(band[0]), float(band[1])),
            )
        )
    return tuple(rows)


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """Calibration within one group of answers; all values in [0, 1] or None when the group has no answer.

    ``ci`` is the Wilson interval of ``accuracy``; ``gap_band`` is the size of gap that a perfectly
    calibrated model stays below in 95 % of samples of this size.
    """

    name: str
    n: int
    accuracy: float | None
    ci: tuple[float, float] | None
    mean_confidence: float | None
    gap: float | None
    gap_band: float | None
    brier: float | None


def group_rows(groups: Mapping[str, Counts], seed: int = SEED) -> tuple[GroupRow, ...]:
    """Return one row per group, in the order given; each group is one table."""
    return tuple(_group_row(name, counts, seed) for name, counts in groups.items())


def _group_row(name: str, counts: Counts, seed: int) -> GroupRow:
    n = int(counts.n)
    if n == 0:
        return GroupRow(
            name=name, n=0, accuracy=None, ci=None, mean_confidence=None, gap=None, gap_band=None, brier=None
        )
    band = null_band(calibrated_draws(counts, seed=seed), lambda sets: np.abs(gap(sets)))
    return GroupRow(
        name=name,
        n=n,
        accuracy=float(accuracy(counts)),
        ci=wilson(int(counts.hits), n),
        mean_confidence=float(mean_confidence(counts)),
        gap=float(gap(counts)),
        gap_band=band.upper if band else None,
        brier=float(brier(counts)),
    )
