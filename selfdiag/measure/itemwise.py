"""Values of small experiments, where the unit is the item, with their intervals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Counts, Floats
from selfdiag.measure.discrimination import auroc, logit_delong_interval
from selfdiag.measure.estimate import Estimate, estimate, join_notes
from selfdiag.measure.graded import FEW, VERY_FEW, why_undefined
from selfdiag.measure.resampling import DRAWS, SEED, item_weights, percentile_interval


def from_draws(point: float, draws: Floats, *, n: int, seed: int, undefined: str, note: str = "") -> Estimate:
    """Return a value with the percentile interval of its draws over items.

    ``point`` is NaN where undefined and ``draws`` has shape (b,). ``undefined`` is the note when there is no
    value, ``note`` one that accompanies a value.
    """
    if not math.isfinite(point):
        return estimate(None, n=n, note=undefined)
    made = percentile_interval(draws)
    method = f"{made.method}, {draws.size} draws of items, seed {seed}" if made.ci else ""
    return estimate(point, made.ci, n=n, method=method, note=join_notes(note, made.note))


def mean_draws(values: Floats, draws: int = DRAWS, seed: int = SEED) -> Floats:
    """Return the mean of each bootstrap draw of items, shape (draws,); ``values`` has shape (items,), at least one."""
    weights = item_weights(values.size, draws, np.random.default_rng(seed))
    return np.asarray(np.vecdot(weights, values) / values.size, dtype=np.float64)


def mean_over_items(
    values: ArrayLike, *, undefined: str, note: str = "", draws: int = DRAWS, seed: int = SEED
) -> Estimate:
    """Return the mean of one number per item.

    ``values`` has shape (items,); NaN are items without the number and leave. ``undefined`` is the note when
    none is left.
    """
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    given = given[np.isfinite(given)]
    if not given.size:
        return estimate(None, note=undefined)
    drawn = mean_draws(given, draws, seed)
    return from_draws(float(given.mean()), drawn, n=given.size, seed=seed, undefined=undefined, note=note)


def auroc_estimate(counts: Counts) -> Estimate:
    """Return the AUROC of one table with one row per item and its logit-DeLong interval.

    The interval is left out below ``VERY_FEW`` right or wrong answers, and below ``FEW`` the note says that they
    are too few to trust.
    """
    n, hits, misses = int(counts.n), int(counts.hits), int(counts.misses)
    if not (hits and misses):
        return estimate(None, n=n, note=why_undefined(counts))
    value, fewest = float(auroc(counts)), min(hits, misses)
    if fewest < VERY_FEW:
        lacking = "right" if hits == fewest else "wrong"
        return estimate(value, n=n, note=f"no interval: needs {VERY_FEW} {lacking} answers, has {fewest}")
    ci = logit_delong_interval(counts)
    note = join_notes(
        "too few to trust" if fewest < FEW else "", "" if ci else "no interval: DeLong's standard error is 0"
    )
    return estimate(value, ci, n=n, method="logit-DeLong" if ci else "", note=note)
