"""Whether stated confidence is higher on right answers than on wrong ones.

Functions of ``Counts`` take shape (..., k) and return shape (...), NaN where undefined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Bools, Counts, Floats, dot, pool, ratio, remembered

Z95 = NormalDist().inv_cdf(0.975)


@remembered
def discrimination(counts: Counts) -> Floats:
    """Return mean confidence of right minus that of wrong answers, in [-1, 1]; undefined with one class."""
    p = counts.levels
    return ratio(dot(counts.right, p), counts.hits) - ratio(dot(counts.wrong, p), counts.misses)


@remembered
def auroc(counts: Counts) -> Floats:
    """Return the chance that a right answer states more than a wrong one, ties counting half, in [0, 1].

    The Mann-Whitney statistic with average ranks over the number of pairs; undefined with one class.
    """
    twice_lost = dot(counts.right, 2 * counts.wrong_above + counts.wrong)
    pairs = counts.hits * counts.misses
    return ratio(2 * pairs - twice_lost, 2 * pairs)


def delong_se(counts: Counts) -> Floats:
    """Return DeLong's standard error of the AUROC (DeLong, DeLong and Clarke-Pearson 1988).

    Undefined with fewer than two right or two wrong answers.
    """
    area = auroc(counts)[..., None]
    hits, misses = counts.hits, counts.misses
    wrong_below = misses[..., None] - counts.wrong_above - counts.wrong / 2
    right_above = counts.total_above - counts.wrong_above + counts.right / 2
    of_right = ratio(wrong_below, misses[..., None])
    of_wrong = ratio(right_above, hits[..., None])
    variance = ratio((counts.right * (of_right - area) ** 2).sum(axis=-1), hits * (hits - 1.0)) + ratio(
        (counts.wrong * (of_wrong - area) ** 2).sum(axis=-1), misses * (misses - 1.0)
    )
    return np.asarray(np.sqrt(variance))


def logit_delong_interval(counts: Counts) -> tuple[float, float] | None:
    """Return the 95 % interval of the AUROC of one table, made on the logit scale and carried back.

    None when the standard error is undefined or zero, as it is when right and wrong are fully separated.
    """
    area, se = float(auroc(counts)), float(delong_se(counts))
    if not (0 < area < 1 and se > 0):
        return None
    centre = math.log(area / (1 - area))
    half = Z95 * se / (area * (1 - area))
    return _expit(centre - half), _expit(centre + half)


class PairedAuroc(msgspec.Struct, frozen=True, kw_only=True):
    """Two signals' AUROCs on the same answers and their difference; None where undefined."""

    first: float | None
    second: float | None
    difference: float | None
    se: float | None
    ci: tuple[float, float] | None
    p: float | None
    n: int


def paired_delong(first: ArrayLike, second: ArrayLike, correct: ArrayLike) -> PairedAuroc:
    """Compare two signals on the same answers by DeLong's test.

    ``first``, ``second`` and ``correct`` have shape (n,); the signals may have any scale, ``correct`` is 0 or
    1. The interval is symmetric and the p-value two-sided (DeLong, DeLong and Clarke-Pearson 1988).
    """
    right = np.asarray(correct).astype(np.bool_)
    n, hits = right.size, int(right.sum())
    if hits in (0, n):
        return PairedAuroc(first=None, second=None, difference=None, se=None, ci=None, p=None, n=n)
    won = np.array([_placements(np.asarray(signal, dtype=np.float64), right) for signal in (first, second)])
    areas = won[:, right].mean(axis=1)
    difference = float(areas[0] - areas[1])
    shared = {"first": float(areas[0]), "second": float(areas[1]), "difference": difference}
    if hits < 2 or n - hits < 2:
        return PairedAuroc(**shared, se=None, ci=None, p=None, n=n)
    contrast = won[0] - won[1]
    variance = contrast[right].var(ddof=1) / hits + contrast[~right].var(ddof=1) / (n - hits)
    se = math.sqrt(variance)
    if se == 0:
        return PairedAuroc(**shared, se=0.0, ci=None, p=None, n=n)
    return PairedAuroc(
        **shared,
        se=se,
        ci=(difference - Z95 * se, difference + Z95 * se),
        p=math.erfc(abs(difference) / se / math.sqrt(2)),
        n=n,
    )


def rank_normalised(tables: Sequence[Counts]) -> Counts:
    """Pool models after replacing each stated confidence by its average rank within its model, over n.

    ``tables`` hold one model each, without leading axes. What the AUROC of ``pool(tables)`` has above the
    AUROC of this table comes from which model answered, not from how sure it was.
    """
    ranked = []
    for table in tables:
        used = table.occupied()
        total = used.total
        through = total.cumsum(axis=-1)
        ranked.append(Counts((2 * through - total + 1) / (2 * max(int(used.n), 1)), used.right, used.wrong))
    return pool(ranked)


class Roc(msgspec.Struct, frozen=True, kw_only=True):
    """Points of a ROC curve from (0, 0) to (1, 1).

    Keeping answers at ``threshold[i]`` or more keeps ``hit_rate[i]`` of the right and ``false_alarm_rate[i]``
    of the wrong ones. The first threshold, above every stated value, is None.
    """

    threshold: tuple[float | None, ...]
    hit_rate: tuple[float, ...]
    false_alarm_rate: tuple[float, ...]


def roc(counts: Counts) -> Roc:
    """Return the ROC curve of one table; empty unless there are both right and wrong answers."""
    used = counts.occupied()
    if not (used.hits and used.misses):
        return Roc(threshold=(), hit_rate=(), false_alarm_rate=())
    hit_rate = np.cumsum(used.right[::-1]) / used.hits
    false_alarm_rate = np.cumsum(used.wrong[::-1]) / used.misses
    return Roc(
        threshold=(None, *used.levels[::-1].tolist()),
        hit_rate=(0.0, *hit_rate.tolist()),
        false_alarm_rate=(0.0, *false_alarm_rate.tolist()),
    )


def _placements(signal: Floats, right: Bools) -> Floats:
    """Return, for each answer, the share of the other class that it beats or is beaten by, ties half."""
    rights, wrongs = np.sort(signal[right]), np.sort(signal[~right])
    below = np.searchsorted(wrongs, signal, "left") + np.searchsorted(wrongs, signal, "right")
    under = np.searchsorted(rights, signal, "left") + np.searchsorted(rights, signal, "right")
    return np.where(right, below / (2 * wrongs.size), 1 - under / (2 * rights.size))


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
