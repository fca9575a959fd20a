"""Two sources of confidence on the same answers, compared in pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.contrast import Contrast
from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.discrimination import paired_delong
from selfdiag.measure.estimate import estimate
from selfdiag.measure.graded import VERY_FEW
from selfdiag.measure.resampling import DRAWS, SEED, bootstrap_p, item_weights, percentile_interval

_BLOCK = 4_000_000
"""Weights held at once: draws times items."""


def compare_sources(
    first: ArrayLike,
    second: ArrayLike,
    correct: ArrayLike,
    *,
    item: ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Contrast]:
    """Return the differences of Brier score, gap and AUROC between two confidences in the same answers.

    Each difference is the second's value minus the first's. Brier score and gap are means, so theirs are
    bootstrapped over items; the AUROC's interval is DeLong's, and missing when items have several rows.

    Args:
        first: shape (n,), confidences in [0, 1], for example the stated ones.
        second: shape (n,), other confidences in the same answers.
        correct: shape (n,), 1 for a right answer and 0 for a wrong one.
        item: shape (n,), the item of each row; without it every row is an item.
        draws: bootstrap draws over items.
        seed: of the bootstrap.

    Raises:
        ValueError: when the lengths differ or a confidence is missing or out of range.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    y = np.asarray(correct, dtype=np.float64)
    if not a.shape == b.shape == y.shape:
        raise ValueError("both confidences and the labels have one value per answer")
    if not ((a >= 0) & (a <= 1) & (b >= 0) & (b <= 1)).all():
        raise ValueError("a confidence lies between 0 and 1")
    n = a.size
    unit = np.arange(n) if item is None else np.unique(np.asarray(item), return_inverse=True)[1].reshape(-1)
    several = bool(n) and int(unit.max()) + 1 < n
    per_row = np.column_stack([(a - y) ** 2, (b - y) ** 2, a - y, b - y, np.ones(n)])
    sums = np.zeros((int(unit.max()) + 1 if n else 0, per_row.shape[1]))
    np.add.at(sums, unit, per_row)
    drawn = _drawn_sums(sums, draws, np.random.default_rng(seed))
    how = f"{draws} draws of {'items' if several else 'rows'}, paired, seed {seed}"
    return {
        "brier": _of_means(per_row, drawn, 0, how),
        "gap": _of_means(per_row, drawn, 2, how),
        "auroc": _of_auroc(a, b, y, several=several),
    }


def _drawn_sums(sums: Floats, draws: int, rng: np.random.Generator) -> Floats:
    units = sums.shape[0]
    block = max(1, _BLOCK // max(units, 1))
    parts = [_weights(units, min(block, draws - start), rng) @ sums for start in range(0, draws, block)]
    return np.concatenate(parts) if parts else np.zeros((0, sums.shape[1]))


def _weights(units: int, draws: int, rng: np.random.Generator) -> Floats:
    weights: Ints = item_weights(units, draws, rng)
    return weights.astype(np.float64)


def _of_means(per_row: Floats, drawn: Floats, column: int, how: str) -> Contrast:
    n = per_row.shape[0]
    if not n:
        return Contrast(first=None, second=None, difference=estimate(None, note="no data: no row has both"), p=None)
    means = per_row.mean(axis=0)
    spread = (drawn[:, column + 1] - drawn[:, column]) / drawn[:, -1]
    made = percentile_interval(spread)
    difference = estimate(
        means[column + 1] - means[column],
        made.ci,
        n=n,
        method=f"{made.method}, {how}" if made.ci else "",
        note=made.note,
    )
    return Contrast(
        first=float(means[column]), second=float(means[column + 1]), difference=difference, p=bootstrap_p(spread)
    )


def _of_auroc(a: Floats, b: Floats, y: Floats, *, several: bool) -> Contrast:
    # paired_delong subtracts its second signal from its first
    found = paired_delong(b, a, y)
    if found.difference is None:
        note = (
            "no data: no row has both"
            if not y.size
            else "not defined: all answers were " + ("right" if y.all() else "wrong")
        )
        return Contrast(first=None, second=None, difference=estimate(None, n=found.n, note=note), p=None)
    fewest = int(min(y.sum(), y.size - y.sum()))
    if several or found.ci is None or fewest < VERY_FEW:
        lacking = "right" if y.sum() == fewest else "wrong"
        few = f"no interval: needs {VERY_FEW} {lacking} answers, has {fewest}"
        note = "no interval: items have several rows" if several else few if fewest < VERY_FEW else "no interval"
        difference = estimate(found.difference, n=found.n, note=note)
        return Contrast(first=found.second, second=found.first, difference=difference, p=None)
    ci = max(found.ci[0], -1.0), min(found.ci[1], 1.0)
    difference = estimate(found.difference, ci, n=found.n, method="paired DeLong")
    return Contrast(first=found.second, second=found.first, difference=difference, p=found.p)
