"""How far stated confidence lies from the share of right answers.

Every function takes ``Counts`` of shape (..., k) and returns an array of shape (...), NaN where undefined.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from selfdiag.measure.counts import Counts, Floats, Ints, dot, equal_mass_bins, ratio, remembered

BINS = 10
"""Equal-width bins of the expected calibration error."""

MIN_BIN = 5
"""A bin with fewer answers than this does not enter the maximum calibration error."""

Closed = Literal["left", "right"]


@remembered
def brier(counts: Counts) -> Floats:
    """Return the mean squared difference between stated confidence and outcome, in [0, 1] (Brier 1950)."""
    p = counts.levels
    return ratio(dot(counts.right, (1 - p) ** 2) + dot(counts.wrong, p**2), counts.n)


def brier_skill(counts: Counts) -> Floats:
    """Return 1 minus the Brier score over that of always stating the accuracy; at most 1.

    Undefined when all answers are right or all are wrong.
    """
    return 1 - ratio(brier(counts), uncertainty(counts))


def uncertainty(counts: Counts) -> Floats:
    """Return accuracy times error rate, in [0, .25]: the part of the Brier score set by the questions."""
    return ratio(counts.hits * counts.misses, counts.n.astype(np.float64) ** 2)


def reliability(counts: Counts) -> Floats:
    """Return the mean squared distance between each stated value and the accuracy at it, in [0, 1].

    Grouping by distinct value makes reliability - resolution + uncertainty equal the Brier score (Murphy
    1973).
    """
    return ratio(dot(counts.total, (counts.levels + counts.error_rate - 1) ** 2), counts.n)


def resolution(counts: Counts) -> Floats:
    """Return the mean squared distance between the accuracy at each stated value and overall, in [0, .25].

    Grouped by distinct value, see ``reliability``.
    """
    overall = ratio(counts.misses, counts.n)[..., None]
    return ratio(dot(counts.total, (counts.error_rate - overall) ** 2), counts.n)


@remembered
def gap(counts: Counts) -> Floats:
    """Return mean stated confidence minus accuracy, in [-1, 1]; positive is overconfident."""
    return ratio(dot(counts.total, counts.levels) - counts.hits, counts.n)


def equal_width_bins(levels: Floats, closed: Closed = "left", bins: int = BINS) -> Ints:
    """Return the bin, 0 to ``bins`` - 1, of each stated fraction; what follows speaks of ten.

    Left-closed bins are [0, .1) to [.9, 1], which is ``min(confidence // 10, 9)`` for integer confidences;
    right-closed ones are [0, .1] to (.9, 1]. The multiple is rounded to nine decimals first, so that a
    fraction such as .1 + .2 does not miss its edge by a binary rounding error.
    """
    scaled = np.round(levels * bins, 9)
    index = np.floor(scaled) if closed == "left" else np.ceil(scaled) - 1
    return np.clip(index, 0, bins - 1).astype(np.int64)


def ece(counts: Counts, closed: Closed = "left", bins: int = BINS) -> Floats:
    """Return the expected calibration error over equal-width bins, in [0, 1].

    The mean over answers of each bin's |mean confidence - accuracy| (Naeini et al. 2015).
    """
    per_bin = np.add.reduceat(counts.excess, _bin_starts(counts, closed, bins), axis=-1)
    return ratio(np.abs(per_bin).sum(axis=-1), counts.n)


def ece_by_value(counts: Counts) -> Floats:
    """Return the expected calibration error with one bin per distinct stated value, in [0, 1]."""
    return ratio(np.abs(counts.excess).sum(axis=-1), counts.n)


def mce(counts: Counts, min_bin: int = MIN_BIN, closed: Closed = "left", bins: int = BINS) -> Floats:
    """Return the largest |mean confidence - accuracy| of the equal-width bins, in [0, 1].

    Only bins of ``min_bin`` answers or more count; undefined when there is none.
    """
    starts = _bin_starts(counts, closed, bins)
    per_bin = np.abs(np.add.reduceat(counts.excess, starts, axis=-1))
    size = np.add.reduceat(counts.total, starts, axis=-1)
    large = size >= max(min_bin, 1)
    worst = np.where(large, per_bin / np.maximum(size, 1), -1.0).max(axis=-1, initial=-1.0)
    return np.where(large.any(axis=-1), worst, np.nan)


def ece_equal_mass(counts: Counts, bins: int = BINS) -> Floats:
    """Return the expected calibration error over bins of about equal size, in [0, 1].

    Equal values stay together: a stated value falls into the bin of the middle of its ranks, so a common
    value can make a bin large and leave its neighbours empty (Nixon et al. 2019, with ties).
    """
    sets = counts.n.size
    index = equal_mass_bins(counts.total.reshape(sets, counts.levels.size), bins)
    cell = index + bins * np.arange(sets)[:, None]
    per_bin = np.bincount(cell.reshape(-1), weights=counts.excess.reshape(-1), minlength=bins * sets)
    off = np.abs(per_bin.reshape(-1, bins)).sum(axis=-1)
    return ratio(off.reshape(counts.n.shape), counts.n)


def ece_sweep(counts: Counts) -> Floats:
    """Return the equal-mass calibration error at the largest number of bins with monotone accuracy.

    The number of bins grows from one until the accuracies of the bins, in order of confidence, stop being
    non-decreasing; the last number before that is used (Roelofs et al. 2022). Equal values stay together.
    """
    shape = (counts.n.size, counts.levels.size)
    sets = zip(counts.right.reshape(shape), counts.total.reshape(shape), strict=True)
    return np.array([_sweep(counts.levels, right, total)[0] for right, total in sets]).reshape(counts.n.shape)


def sweep_bins(counts: Counts) -> int:
    """Return how many bins hold the answers in ``ece_sweep`` of one table, 0 without answers."""
    return _sweep(counts.levels, counts.right, counts.total)[1]


def _sweep(levels: Floats, right: Ints, total: Ints) -> tuple[float, int]:
    n = int(total.sum())
    if n == 0:
        return float("nan"), 0
    used = total > 0
    levels, right, total = levels[used], right[used], total[used]
    excess = total * levels - right
    best, filled = abs(float(excess.sum())), 1
    for bins in range(2, n + 1):
        starts = np.flatnonzero(np.diff(equal_mass_bins(total, bins), prepend=-1))
        share = np.add.reduceat(right, starts) / np.add.reduceat(total, starts)
        if (np.diff(share) < 0).any():
            break
        best, filled = float(np.abs(np.add.reduceat(excess, starts)).sum()), starts.size
        if filled == total.size:
            break
    return best / n, filled


def _bin_starts(counts: Counts, closed: Closed, bins: int) -> Ints:
    """Return the index of the lowest level in each bin that has levels."""
    return np.flatnonzero(np.diff(equal_width_bins(counts.levels, closed, bins), prepend=-1))
