"""Right and wrong answers counted by stated confidence: the table that every measure starts from.

A model states few distinct confidences, so a run is a small table whatever its number of rows. Leading axes
of the table are bootstrap draws or simulated data sets; measures work along the last axis and keep the
others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Counts:
    """Numbers of right and wrong answers at each distinct stated confidence.

    ``levels`` has shape (k,): the distinct confidences as fractions in [0, 1], ascending. ``right`` and
    ``wrong`` have shape (..., k). Raises ``ValueError`` when the shapes do not fit or the levels are not
    ascending fractions.
    """

    levels: Floats
    right: Ints
    wrong: Ints
    _known: dict[str, Floats] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.levels.ndim != 1 or self.right.shape[-1:] != self.levels.shape:
            raise ValueError("counts need one column per level")
        if self.right.shape != self.wrong.shape:
            raise ValueError("right and wrong counts differ in shape")
        if self.levels.size and not (self.levels[0] >= 0 and self.levels[-1] <= 1):
            raise ValueError("levels lie between 0 and 1")
        if not (self.levels[1:] > self.levels[:-1]).all():
            raise ValueError("levels are ascending and distinct")

    @cached_property
    def total(self) -> Ints:
        """Answers at each level, shape (..., k)."""
        return self.right + self.wrong

    @cached_property
    def hits(self) -> Ints:
        """Right answers, shape (...)."""
        return np.asarray(self.right.sum(axis=-1))

    @cached_property
    def misses(self) -> Ints:
        """Wrong answers, shape (...)."""
        return np.asarray(self.wrong.sum(axis=-1))

    @cached_property
    def n(self) -> Ints:
        """All answers, shape (...)."""
        return np.asarray(self.hits + self.misses)

    @cached_property
    def total_above(self) -> Ints:
        """Answers with a higher confidence than each level, shape (..., k)."""
        return np.asarray(self.n[..., None] - self.total.cumsum(axis=-1))

    @cached_property
    def wrong_above(self) -> Ints:
        """Wrong answers with a higher confidence than each level, shape (..., k)."""
        return np.asarray(self.misses[..., None] - self.wrong.cumsum(axis=-1))

    @cached_property
    def error_rate(self) -> Floats:
        """Share of wrong answers at each level, shape (..., k); 0 where a level has none."""
        return np.asarray(self.wrong / np.maximum(self.total, 1))

    @cached_property
    def excess(self) -> Floats:
        """Stated minus actual number of right answers at each level, shape (..., k)."""
        return self.total * self.levels - self.right

    def level_of(self, rank: Ints) -> Ints:
        """Return the index of the level that holds the answer of a rank, shape (...).

        Ranks of shape (...) run from 1, the highest confidence, to n.
        """
        reached = np.count_nonzero(self.total_above >= rank[..., None], axis=-1)
        return np.asarray(np.minimum(reached, self.levels.size - 1))

    def occupied(self) -> Counts:
        """Return the same table without the levels that no data set on the leading axes uses."""
        used = self.total.any(axis=tuple(range(self.right.ndim - 1)))
        return Counts(self.levels[used], self.right[..., used], self.wrong[..., used])

    def merged(self, groups: int) -> Counts:
        """Return the table with neighbouring levels added up into at most ``groups`` of about equal size.

        The level of a group is the mean confidence in it, so sums over all answers stay as they are.
        """
        used = self.occupied()
        total = used.total.sum(axis=tuple(range(used.right.ndim - 1)))
        starts = np.flatnonzero(np.diff(equal_mass_bins(total, groups), prepend=-1))
        levels = np.add.reduceat(total * used.levels, starts) / np.add.reduceat(total, starts)
        right, wrong = (np.add.reduceat(table, starts, axis=-1) for table in (used.right, used.wrong))
        return Counts(levels, right, wrong)


def equal_mass_bins(total: Ints, bins: int) -> Ints:
    """Return the bin, 0 to ``bins`` - 1, of the middle rank of each level, so that bins hold about equally many.

    ``total`` has shape (..., k), the answers at each level in order of confidence.
    """
    # Doubled ranks are integers; their quotient is rounded, but never up to the next whole number.
    twice_middle = 2 * total.cumsum(axis=-1) - total
    twice_n = 2 * np.maximum(total.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.minimum(bins * twice_middle / twice_n, bins - 1), dtype=np.int64)


def merge_neighbours(p: ArrayLike, groups: int) -> Floats:
    """Return each confidence, or NaN, replaced by the mean of its group of neighbours, of about equal size.

    ``p`` has shape (n,); with no more than ``groups`` distinct values it comes back as it is.
    """
    given = np.asarray(p, dtype=np.float64)
    known = np.isfinite(given)
    levels, inverse, total = np.unique(given[known], return_inverse=True, return_counts=True)
    if levels.size <= groups:
        return given
    group = equal_mass_bins(total.astype(np.int64), groups)
    sums, sizes = np.bincount(group, weights=total * levels), np.bincount(group, weights=total)
    merged = given.copy()
    merged[known] = (sums / np.maximum(sizes, 1))[group][inverse.reshape(-1)]
    return merged


def tabulate(p: ArrayLike, correct: ArrayLike) -> Counts:
    """Count right and wrong answers by stated confidence.

    ``p`` has shape (n,) with fractions in [0, 1], ``correct`` has shape (n,) with 0 or 1. Raises
    ``ValueError`` when the shapes differ or a confidence is missing or out of range.
    """
    fractions = np.asarray(p, dtype=np.float64).reshape(-1)
    right = _as_bools(correct)
    if fractions.shape != right.shape:
        raise ValueError(f"{fractions.size} confidences for {right.size} answers")
    if not ((fractions >= 0) & (fractions <= 1)).all():
        raise ValueError("a stated confidence lies between 0 and 1")
    levels, where = np.unique(fractions, return_inverse=True)
    cells = np.bincount(2 * where.reshape(-1) + right, minlength=2 * levels.size).reshape(-1, 2)
    return Counts(levels, cells[:, 1].copy(), cells[:, 0].copy())


def tabulate_confidences(confidence: ArrayLike, correct: ArrayLike) -> Counts:
    """Count right and wrong answers by stated confidence.

    ``confidence`` has shape (n,) with integers from 0 to 100, ``correct`` has shape (n,) with 0 or 1. Raises
    ``ValueError`` when the shapes differ or a confidence is not an integer from 0 to 100.
    """
    stated = np.asarray(confidence, dtype=np.float64)
    if not (np.floor(stated) == stated).all():
        raise ValueError("a stated confidence is an integer from 0 to 100")
    return tabulate(stated / 100, correct)


def pool(tables: Sequence[Counts]) -> Counts:
    """Return the sum of several tables over the union of their levels; leading axes must agree."""
    levels = np.unique(np.concatenate([table.levels for table in tables])) if tables else np.empty(0)
    lead = tables[0].right.shape[:-1] if tables else ()
    right = np.zeros((*lead, levels.size), dtype=np.int64)
    wrong = np.zeros_like(right)
    for table in tables:
        columns = np.searchsorted(levels, table.levels)
        right[..., columns] += table.right
        wrong[..., columns] += table.wrong
    return Counts(levels, right, wrong)


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Divide elementwise, giving NaN without a warning where the denominator is 0."""
    below = np.asarray(denominator, dtype=np.float64)
    above = np.asarray(numerator, dtype=np.float64)
    result = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=result, where=below != 0)
    return result


def dot(table: Ints | Floats, weights: Ints | Floats) -> Floats:
    """Return the weighted sum over levels, shape (...), of a table of shape (..., k).

    ``weights`` have shape (k,) or that of the table.
    """
    # The matrix product would start threads, which cost more than the sum on a busy machine.
    return np.asarray(np.vecdot(table, weights), dtype=np.float64)


def remembered(measure: Callable[[Counts], Floats]) -> Callable[[Counts], Floats]:
    """Let a measure be computed once per table, for measures that others are built on."""
    name = f"{measure.__module__}.{measure.__qualname__}"

    @wraps(measure)
    def once(counts: Counts) -> Floats:
        if name not in counts._known:
            counts._known[name] = measure(counts)
        return counts._known[name]

    return once


def accuracy(counts: Counts) -> Floats:
    """Return the share of right answers, shape (...), in [0, 1]."""
    return ratio(counts.hits, counts.n)


def mean_confidence(counts: Counts) -> Floats:
    """Return the mean stated confidence, shape (...), in [0, 1]."""
    return ratio(dot(counts.total, counts.levels), counts.n)


def _as_bools(correct: ArrayLike) -> Bools:
    values = np.asarray(correct).reshape(-1)
    flags = values.astype(np.bool_)
    if not (flags == values).all():
        raise ValueError("an answer is right (1) or wrong (0)")
    return flags
