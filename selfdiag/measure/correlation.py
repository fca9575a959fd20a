"""Correlation of two short lists of numbers, None where one of them does not vary."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Floats
from selfdiag.measure.discrimination import Z95

MIN_FOR_INTERVAL = 4
"""Fisher's interval needs this many pairs."""


def average_ranks(values: ArrayLike) -> Floats:
    """Return ranks from 1, ties sharing their average, of values of shape (n,)."""
    given = np.asarray(values, dtype=np.float64)
    ordered = np.sort(given)
    before, through = np.searchsorted(ordered, given, "left"), np.searchsorted(ordered, given, "right")
    return np.asarray((before + through + 1) / 2)


def pearson(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the product-moment correlation of two lists of shape (n,), None when either is constant."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"a correlation of {a.size} and {b.size} values")
    if not a.size or a.min() == a.max() or b.min() == b.max():
        return None
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(np.vecdot(a, a))) * math.sqrt(float(np.vecdot(b, b)))
    return min(1.0, max(-1.0, float(np.vecdot(a, b)) / scale)) if scale else None


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the correlation of average ranks of two lists of shape (n,), None when either is constant."""
    return pearson(average_ranks(first), average_ranks(second))


def fisher_interval(r: float, n: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a correlation of ``n`` pairs on Fisher's z scale (Fisher 1921).

    None below ``MIN_FOR_INTERVAL`` pairs and for a correlation of 1 or -1.
    """
    if n < MIN_FOR_INTERVAL or abs(r) >= 1:
        return None
    half = Z95 / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
