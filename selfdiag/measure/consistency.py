"""Whether a model answers alike when the same item is asked again, in other words or in the same."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Bools, Floats, Ints, ratio
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.itemwise import from_draws, mean_over_items
from selfdiag.measure.resampling import DRAWS, SEED, item_weights, wilson

ONCE = "no data: no item was asked twice"

_NOTHING = 1e-12


class Consistency(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of the rows of one item, over the ``items`` with two ``rows`` or more.

    ``same_outcome`` is the share of items with one outcome on all rows (right, wrong or not graded).
    ``same_answer`` is the share with one answer on all rows, of the items with any answer; a row without one
    differs from a row with one. ``flips`` is the share with both a right and a wrong row, of the items with two
    graded rows. ``confidence_sd`` and ``confidence_range`` are means over items with two stated confidences, in
    the unit of the confidences. ``between_items`` is the share of the variance of confidence that lies between
    items, in [0, 1].
    """

    items: int
    rows: int
    same_outcome: Estimate
    same_answer: Estimate
    flips: Estimate
    confidence_sd: Estimate
    confidence_range: Estimate
    between_items: Estimate


def consistency(
    item: ArrayLike,
    answer: ArrayLike,
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Consistency:
    """Compare the rows of each item: paraphrases, or repeats of one wording.

    All have shape (rows,): ``item`` an integer code, ``answer`` an integer code per distinct answer or -1 for
    none, ``correct`` 1 right, 0 wrong, -1 not graded, ``confidence`` a number on any scale or NaN. Rows that
    never got a reply are to be left out before. Shares have Wilson's interval over items, means a bootstrap over
    items. The SD within an item divides by its rows less one; ``between_items`` is the intraclass correlation
    from a one-way analysis of variance, 0 where its estimate is negative (Shrout and Fleiss 1979, form 1). Raises
    ``ValueError`` when the shapes differ.
    """
    codes, code = np.unique(np.asarray(item).reshape(-1), return_inverse=True)
    given, grade = np.asarray(answer).reshape(-1), np.asarray(correct).reshape(-1)
    stated = np.asarray(confidence, dtype=np.float64).reshape(-1)
    if not code.shape == given.shape == grade.shape == stated.shape:
        raise ValueError("item, answer, grade and confidence differ in length")
    size = codes.size
    rows = np.bincount(code, minlength=size)
    twice = rows >= 2
    answered = np.bincount(code[given >= 0], minlength=size) > 0
    right, wrong = (np.bincount(code[grade == value], minlength=size) for value in (1, 0))
    graded_twice = right + wrong >= 2
    has = np.isfinite(stated)
    paired = np.bincount(code[has], minlength=size) >= 2
    used = has & paired[code]
    place, value = np.searchsorted(np.flatnonzero(paired), code[used]), stated[used]
    n = np.bincount(place)
    low, high = _ends(place, value, n.size)
    # Rounding leaves a trace of a deviation where there is none.
    sd = np.where(low == high, 0.0, np.sqrt(_squares(place, value, n) / (n - 1)))
    no_answer = "no data: no item asked twice was answered" if twice.any() else ONCE
    no_grade = "no data: no item was graded twice" if twice.any() else ONCE
    unstated = "no data: no item has two stated confidences" if twice.any() else ONCE
    return Consistency(
        items=int(twice.sum()),
        rows=int(rows[twice].sum()),
        same_outcome=_share(_alike(code, grade, size), twice, ONCE),
        same_answer=_share(_alike(code, given, size), twice & answered, no_answer),
        flips=_share((right > 0) & (wrong > 0), graded_twice, no_grade),
        confidence_sd=mean_over_items(sd, undefined=unstated, draws=draws, seed=seed),
        confidence_range=mean_over_items(high - low, undefined=unstated, draws=draws, seed=seed),
        between_items=_between_items(place, value, n, unstated, draws, seed),
    )


def _alike(code: Ints, value: Ints, size: int) -> Bools:
    """Return whether all rows of each item have one value, shape (items,)."""
    low, high = _ends(code, value, size)
    return np.asarray(low == high)


def _ends(code: Ints, value: ArrayLike, size: int) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of each item, shape (items,)."""
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, code, value)
    np.maximum.at(high, code, value)
    return low, high


def _squares(code: Ints, stated: Floats, n: Ints) -> Floats:
    """Return the squared deviations from the mean of each item, summed, shape (items,)."""
    mean = np.bincount(code, stated, minlength=n.size) / n
    return np.asarray(np.bincount(code, (stated - mean[code]) ** 2, minlength=n.size), dtype=np.float64)


def _share(holds: Bools, among: Bools, undefined: str) -> Estimate:
    k, n = int((holds & among).sum()), int(among.sum())
    return estimate(k / n, wilson(k, n), n=n, method="Wilson over items") if n else estimate(None, note=undefined)


def _between_items(code: Ints, stated: Floats, n: Ints, undefined: str, draws: int, seed: int) -> Estimate:
    items = n.size
    if items < 2:
        return estimate(
            None, n=items, note="not defined: only one item has two stated confidences" if items else undefined
        )
    if np.ptp(stated) == 0:
        return estimate(None, n=items, note="not defined: confidence constant")
    # In units of the overall SD what is left of a variance of 0 after rounding can be told from a small one.
    scaled = (stated - stated.mean()) / stated.std()
    drawn = item_weights(items, draws, np.random.default_rng(seed))
    weights = np.concatenate([np.ones((1, items)), drawn])
    total, rows = np.bincount(code, scaled), weights @ n
    between = (weights @ (total**2 / n) - (weights @ total) ** 2 / rows) / (items - 1)
    within = weights @ _squares(code, scaled, n) / (rows - items)
    typical = (rows - weights @ (n**2) / rows) / (items - 1)
    variance = between + (typical - 1) * within
    share = np.maximum(ratio(between - within, np.where(variance > _NOTHING, variance, 0)), 0)
    return from_draws(float(share[0]), share[1:], n=items, seed=seed, undefined="not defined: confidence constant")
