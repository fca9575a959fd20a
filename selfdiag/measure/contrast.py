"""Differences between two arms or two models that were asked the same items."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
import numpy as np

from selfdiag.measure.counts import Bools, Floats, Ints
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.resampling import DRAWS, SEED, bootstrap_p, item_weights, percentile_interval
from selfdiag.measure.sample import Measure
from selfdiag.measure.tally import Tally


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """The second arm's value minus the first's, paired by item.

    ``p`` is the two-sided bootstrap p-value of the difference, None where there is no difference to test and where too
    many draws are undefined for an interval.
    """

    first: float | None
    second: float | None
    difference: Estimate
    p: float | None


def paired_contrast(first: Tally, second: Tally, measure: Measure, *, draws: int = DRAWS, seed: int = SEED) -> Contrast:
    """Compare a measure between two arms by a bootstrap that draws the same items in both.

    ``first`` and ``second`` have one entry per item on their leading axis, the same items in the same order.
    An item without rows in an arm (all of them errors) leaves both arms. Probes and traps are resampled
    apart.
    Raises ``ValueError`` when the numbers of items differ.
    """
    return paired_contrasts(first, second, {"": measure}, draws=draws, seed=seed)[""]


def paired_contrasts(
    first: Tally, second: Tally, measures: Mapping[str, Measure], *, draws: int = DRAWS, seed: int = SEED
) -> dict[str, Contrast]:
    """Compare several measures between two arms in the same draws of items, as ``paired_contrast`` does one.

    Returns a contrast for each name of ``measures``. Raises ``ValueError`` when the numbers of items differ.
    """
    if first.answered.n.shape != second.answered.n.shape:
        raise ValueError("a paired contrast needs the same items in both arms")
    rng = np.random.default_rng(seed)
    probes = _shared(first.probe_cells(), second.probe_cells())
    traps = _shared(first.trap_cells(), second.trap_cells())
    weights = (_weights(int(probes.sum()), draws, rng), _weights(int(traps.sum()), draws, rng))
    arms = []
    for arm in (first, second):
        cells = (arm.probe_cells()[probes], arm.trap_cells()[traps])
        drawn = [(w @ c.astype(np.float64)).astype(np.int64) for w, c in zip(weights, cells, strict=True)]
        arms.append(arm.with_cells(drawn[0], drawn[1]))
    n, how = int(probes.sum() + traps.sum()), f"{draws} draws of items, paired, seed {seed}"
    return {name: _contrast(arms[0], arms[1], measure, n, how) for name, measure in measures.items()}


def _contrast(first: Tally, second: Tally, measure: Measure, n: int, how: str) -> Contrast:
    """Return the contrast of two arms whose leading axis has the data themselves before the draws."""
    values = [np.asarray(measure(arm), dtype=np.float64) for arm in (first, second)]
    # equal values may have been summed in another order: a rounding error must not count as a difference
    differences = np.round(values[1] - values[0], 12)
    point, spread = float(differences[0]), differences[1:]
    shown = [float(v[0]) if math.isfinite(v[0]) else None for v in values]
    if not math.isfinite(point):
        where = "both arms" if shown == [None, None] else "one arm"
        missing = estimate(None, n=n, note=f"not defined in {where}")
        return Contrast(first=shown[0], second=shown[1], difference=missing, p=None)
    made = percentile_interval(spread)
    difference = estimate(
        point,
        made.ci,
        n=n,
        method=f"{made.method}, {how}" if made.ci else "",
        note=made.note,
    )
    return Contrast(first=shown[0], second=shown[1], difference=difference, p=bootstrap_p(spread))


def _shared(first: Ints, second: Ints) -> Bools:
    return np.asarray(first.any(axis=1) & second.any(axis=1))


def _weights(items: int, draws: int, rng: np.random.Generator) -> Floats:
    """Return item weights with a first row of ones: the data themselves."""
    drawn = item_weights(items, draws, rng)
    return np.concatenate([np.ones((1, items)), drawn])
