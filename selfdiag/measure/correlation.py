"""Correlation of two short lists of numbers, None where one of them does not vary."""

from __future__ import annotations

import itertools
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


def kendall_tau(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Kendall's rank correlation with ties, tau-b, of two lists of shape (n,) (Kendall 1945).

    With P pairs in the same order on both sides, Q in the opposite one and A and B pairs that differ in the first
    and in the second list: (P - Q) / sqrt(A B). None when either list is constant or holds a NaN. Raises
    ``ValueError`` when the lengths differ.
    """
    a, b = _signs(first), _signs(second)
    if a.shape != b.shape:
        raise ValueError(f"a correlation of {len(a)} and {len(b)} values")
    scale = _scale(a, b)
    return float((a * b).sum()) / scale if scale > 0 else None


def kendall_taus_of_orders(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return tau-b of the first list with every order of the second, shape (n!,), for lists that vary."""
    a, b = _signs(first), _signs(second)
    orders = np.array(list(itertools.permutations(range(len(b)))))
    total = sum(a[i, j] * b[orders[:, i], orders[:, j]] for i, j in itertools.combinations(range(len(a)), 2))
    return np.asarray(2 * total / _scale(a, b))


def fisher_interval(r: float, n: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a correlation of ``n`` pairs on Fisher's z scale (Fisher 1921).

    None below ``MIN_FOR_INTERVAL`` pairs and for a correlation of 1 or -1.
    """
    if n < MIN_FOR_INTERVAL or abs(r) >= 1:
        return None
    half = Z95 / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def _signs(values: ArrayLike) -> Floats:
    """Return 1, 0 or -1 for each two values as the first is above, equal to or below the second."""
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    return np.sign(given[:, None] - given)


def _scale(a: Floats, b: Floats) -> float:
    return math.sqrt(float(np.abs(a).sum()) * float(np.abs(b).sum()))
