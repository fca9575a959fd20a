"""Intervals and tests: Wilson, Newcombe, the bootstrap from counts, and Holm's correction.

The unit of resampling is the item. With one row per item a bootstrap is a multinomial draw over the occupied
cells of the table of counts; with several it is a matrix of item weights times an item-by-cell matrix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Counts, Floats, Ints, ratio
from selfdiag.measure.multinomial import multinomial_draws

DRAWS = 2000
"""Bootstrap draws unless asked otherwise."""

SEED = 20260101
"""Seed of the bootstrap unless asked otherwise."""

ALPHA = 0.05
"""A difference is significant when its p-value, corrected where there is a family, is below this."""

MAX_UNDEFINED = 0.1
"""With more than this share of draws undefined there is no interval."""

MANY_ITEMS = 2_000
"""From so many items on a bootstrap looks for items that are alike."""

_NORMAL = NormalDist()
_Z95 = _NORMAL.inv_cdf(0.975)
_BLOCK = 1_000_000
_NO_WIDTH = 1e-12


def wilson(k: float, n: float) -> tuple[float, float] | None:
    """Return Wilson's 95 % score interval of the proportion k/n, or None when n is 0 (Wilson 1927)."""
    if n <= 0:
        return None
    share = k / n
    scale = 1 + _Z95**2 / n
    centre = (share + _Z95**2 / (2 * n)) / scale
    half = _Z95 * math.sqrt(share * (1 - share) / n + _Z95**2 / (4 * n**2)) / scale
    low = 0.0 if k <= 0 else max(0.0, centre - half)
    high = 1.0 if k >= n else min(1.0, centre + half)
    return low, high


def newcombe(k1: float, n1: float, k2: float, n2: float) -> tuple[float, float] | None:
    """Return the 95 % interval of k1/n1 - k2/n2 for independent samples, or None when either is empty.

    Built from the two Wilson intervals (Newcombe 1998, method 10).
    """
    first, second = wilson(k1, n1), wilson(k2, n2)
    if first is None or second is None:
        return None
    a, b = k1 / n1, k2 / n2
    low = a - b - math.hypot(a - first[0], second[1] - b)
    high = a - b + math.hypot(first[1] - a, b - second[0])
    return max(-1.0, low), min(1.0, high)


def item_weights(items: int, draws: int, rng: np.random.Generator) -> Ints:
    """Return how often each item is drawn in a bootstrap over items, shape (draws, items)."""
    if items == 0:
        return np.zeros((draws, 0), dtype=np.int64)
    picked = rng.integers(items, size=(draws, items)) + items * np.arange(draws)[:, None]
    return np.bincount(picked.reshape(-1), minlength=draws * items).reshape(draws, items)


def clustered_draws(cells: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Resample items with all their rows together.

    ``cells`` has shape (items, c): how many rows of each item fall into each cell. Returns shape (draws, c).
    """
    items = cells.shape[0]
    if items > MANY_ITEMS:
        # items with the same rows are alike: how often each kind is drawn is a multinomial over few kinds
        kinds, alike = np.unique(cells, axis=0, return_counts=True)
        if kinds.shape[0] < items / 2:
            return _sums(multinomial_draws(alike, draws, rng), kinds)
    matrix = cells.astype(np.float64)
    block = max(1, _BLOCK // max(items, 1))
    parts = [
        item_weights(items, min(block, draws - start), rng).astype(np.float64) @ matrix
        for start in range(0, draws, block)
    ]
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros((0, cells.shape[1]), np.int64)


def resample_counts(counts: Counts, draws: int = DRAWS, seed: int = SEED) -> Counts:
    """Bootstrap one table of counts, one row per item; the result has shape (draws, k)."""
    k = counts.levels.size
    drawn = multinomial_draws(np.concatenate([counts.right, counts.wrong]), draws, np.random.default_rng(seed))
    return Counts(counts.levels, drawn[:, :k], drawn[:, k:])


def resample_item_counts(items: Counts, draws: int = DRAWS, seed: int = SEED) -> Counts:
    """Bootstrap over items with all rows of an item together.

    ``items`` has shape (items, k), one table per item; the result has shape (draws, k).
    """
    k = items.levels.size
    cells = np.concatenate([items.right, items.wrong], axis=1)
    drawn = clustered_draws(cells, draws, np.random.default_rng(seed))
    return Counts(items.levels, drawn[:, :k], drawn[:, k:])


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A 95 % bootstrap interval, or None with the reason in ``note``; ``method`` names how it was made.

    ``undefined`` counts the draws without a value in words, and is empty when there are none.
    """

    ci: tuple[float, float] | None
    method: str
    note: str = ""
    undefined: str = ""


def percentile_interval(draws: Floats) -> Interval:
    """Return the interval between the 2.5th and 97.5th percentiles of the draws.

    ``draws`` has shape (b,) and may hold NaN, which are counted in the note; above ``MAX_UNDEFINED`` of them
    there is no interval, nor when every draw gives the same value.
    """
    return _between(draws, 0.025, 0.975, "percentile bootstrap")


class Jackknife(msgspec.Struct, frozen=True, kw_only=True):
    """Values of a measure with one unit left out, for the acceleration of a BCa interval.

    ``stratum[i]`` is the sample from which a unit was left out, ``multiplicity[i]`` how many units of it give
    exactly ``values[i]``.
    """

    values: Floats
    multiplicity: Ints
    stratum: Ints


def bca_interval(point: float, draws: Floats, jackknife: Jackknife) -> Interval:
    """Return the bias-corrected and accelerated interval (Efron 1987).

    ``point`` is the value on the data and ``draws`` has shape (b,). Falls back to the percentile interval,
    and says so, when the draws lie all on one side of the point or the acceleration is undefined. With
    several strata the acceleration is that of Davison and Hinkley (1997, section 5.4).
    """
    finite = draws[np.isfinite(draws)]
    acceleration = _acceleration(jackknife)
    below = float((finite < point).mean() + (finite == point).mean() / 2) if finite.size else 0.0
    if not (0 < below < 1) or not math.isfinite(acceleration):
        plain = percentile_interval(draws)
        note = "; ".join(filter(None, [plain.note, "BCa is degenerate here, percentile instead"]))
        return msgspec.structs.replace(plain, note=note)
    bias = _NORMAL.inv_cdf(below)

    def adjusted(z: float) -> float:
        return _NORMAL.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))

    return _between(draws, adjusted(-_Z95), adjusted(_Z95), "BCa bootstrap")


def bootstrap_p(differences: Floats) -> float | None:
    """Return the two-sided bootstrap p-value of a difference from 0.

    ``differences`` has shape (b,). p = min(1, 2 (1 + min(#d <= 0, #d >= 0)) / (b + 1)) over the defined
    draws, None when there is none or more than ``MAX_UNDEFINED`` of them are undefined, as there is no interval then.
    """
    defined = differences[np.isfinite(differences)]
    if not defined.size or differences.size - defined.size > MAX_UNDEFINED * differences.size:
        return None
    fewer = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * (1 + fewer) / (defined.size + 1))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return Holm's adjusted p-values of one declared family, in the order given (Holm 1979)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for step, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[i]))
        adjusted[i] = largest
    return tuple(adjusted)


def quantiles(values: Floats, at: ArrayLike) -> Floats:
    """Return linearly interpolated quantiles of finite values; NaN when there are none."""
    if not values.size:
        return np.full(np.shape(at), np.nan)
    return np.asarray(np.interp(np.asarray(at) * (values.size - 1), np.arange(values.size), np.sort(values)))


def _between(draws: Floats, low: float, high: float, method: str) -> Interval:
    finite = draws[np.isfinite(draws)]
    undefined = draws.size - finite.size
    note = f"undefined in {undefined} of {draws.size} draws" if undefined else ""
    if not draws.size or undefined > MAX_UNDEFINED * draws.size:
        return Interval(ci=None, method="", note=f"no interval: {note or 'no draws'}", undefined=note)
    ends = quantiles(finite, [low, high])
    if ends[1] - ends[0] < _NO_WIDTH:
        same = "no interval: every draw gives the same value"
        return Interval(ci=None, method="", note=f"{same}; {note}" if note else same, undefined=note)
    return Interval(ci=(float(ends[0]), float(ends[1])), method=method, note=note, undefined=note)


def _acceleration(jackknife: Jackknife) -> float:
    skew = spread = 0.0
    for stratum in np.unique(jackknife.stratum):
        inside = jackknife.stratum == stratum
        weight, values = jackknife.multiplicity[inside], jackknife.values[inside]
        n = float(weight.sum())
        influence = (n - 1) * (float(ratio(weight @ values, n)) - values)
        skew += float(weight @ influence**3) / n**3
        spread += float(weight @ influence**2) / n**2
    return skew / (6 * spread**1.5) if spread > 0 else math.nan


def _sums(weights: Ints, cells: Ints) -> Ints:
    return np.asarray((weights.astype(np.float64) @ cells.astype(np.float64)).astype(np.int64))
