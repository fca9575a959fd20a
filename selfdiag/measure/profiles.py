"""Competence profiles made for the ladder: a placebo, a shuffled one, and cross-fitted ones.

A profile is a list of percentages, one per bin of the battery, as they stand in the prompt. Source of the design
and of the bounds: the "self-confidence in LLM evaluation" study.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.correlation import pearson, spearman
from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.resampling import SEED

PLACEBO_TOLERANCE = 1.0
"""Mean and SD of a placebo are those of the own profile within this many points."""

PLACEBO_CORRELATION = 0.10
"""Both correlations of a placebo with the own profile are smaller than this."""

PLACEBO_BINS = 4
"""With fewer bins no ranking is free of correlation with the own one."""

SHUFFLED_CORRELATION = -0.30
"""A shuffled profile should correlate with the own one at most this much."""

_TRIES = 5000
_SHUFFLES = 500


class Placebo(msgspec.Struct, frozen=True, kw_only=True):
    """A profile of made-up values that looks like the own one and says nothing about it.

    ``values`` are percentages per bin; mean, SD (over bins, divided by their number) and correlations are the
    achieved ones, after rounding. ``tries`` counts the candidates drawn.
    """

    values: tuple[float, ...]
    mean: float
    sd: float
    own_mean: float
    own_sd: float
    pearson: float
    spearman: float
    tries: int


def placebo_profile(own: ArrayLike, seed: int = SEED) -> Placebo:
    """Return new values with mean and SD of ``own`` and no correlation with it.

    ``own`` has shape (bins,), percentages as they stand in the prompt. The values are whole numbers when those
    of ``own`` are, else they have one decimal, so that the two cannot be told apart by their look. Mean and SD
    lie within ``PLACEBO_TOLERANCE`` points and both correlations within ``PLACEBO_CORRELATION``; candidates are
    drawn until one does. Raises ``ValueError``, with the reason in plain words, below ``PLACEBO_BINS`` bins,
    when ``own`` does not vary, or when no candidate fits.
    """
    given = _percentages(own)
    if given.size < PLACEBO_BINS:
        raise ValueError(f"no placebo: it needs {PLACEBO_BINS} bins, the own profile has {given.size}")
    if given.min() == given.max():
        raise ValueError("no placebo: the own profile is the same in every bin")
    decimals = 0 if (given == np.floor(given)).all() else 1
    mean, sd = float(given.mean()), float(given.std())
    centred = given - mean
    # A rank correlation of exactly .1 comes out just below it.
    limit = PLACEBO_CORRELATION - 1e-9
    rng = np.random.default_rng(seed)
    for tries in range(1, _TRIES + 1):
        noise = rng.permutation(centred) + rng.normal(0, sd * rng.uniform(0.02, 1), given.size)
        # With few bins hardly any noise is free of correlation by luck, so every other candidate is made so.
        # The rest keep the shape of the own profile, which a skewed one needs to stay between 0 and 100.
        if tries % 2:
            noise -= centred * float(np.vecdot(noise, centred) / np.vecdot(centred, centred))
        noise -= noise.mean()
        values = np.clip(np.round(mean + noise * sd / noise.std(), decimals), 0, 100) + 0.0
        close = abs(values.mean() - mean) <= PLACEBO_TOLERANCE and abs(values.std() - sd) <= PLACEBO_TOLERANCE
        if not close or np.array_equal(np.sort(values), np.sort(given)):
            continue
        linear = pearson(values, given)
        if linear is None or not abs(linear) < limit:
            continue
        ranked = spearman(values, given)
        if ranked is not None and abs(ranked) < limit:
            return Placebo(
                values=tuple(values.tolist()),
                mean=float(values.mean()),
                sd=float(values.std()),
                own_mean=mean,
                own_sd=sd,
                pearson=linear,
                spearman=ranked,
                tries=tries,
            )
    raise ValueError(f"no placebo: none of {_TRIES} candidates is like the own profile and uncorrelated with it")


class Shuffled(msgspec.Struct, frozen=True, kw_only=True):
    """The values of the own profile on other bins.

    ``kept`` counts the bins that still show their own value; ``note`` says why, and whether the correlation is
    above the preferred one.
    """

    values: tuple[float, ...]
    pearson: float
    spearman: float
    kept: int
    note: str = ""


def shuffled_profile(own: ArrayLike, seed: int = SEED) -> Shuffled:
    """Return the values of ``own`` rearranged so that no bin keeps its value, as far as that is possible.

    ``own`` has shape (bins,), percentages. A value that stands in more than half of the bins cannot leave them
    all: of c equal values among k, 2c - k stay, and no more do. The first arrangement with a correlation of at
    most ``SHUFFLED_CORRELATION`` is taken, else the lowest of many. Raises ``ValueError`` when ``own`` is the
    same in every bin.
    """
    given = _percentages(own)
    if not given.size or given.min() == given.max():
        raise ValueError("no shuffled profile: the own profile is the same in every bin")
    rng = np.random.default_rng(seed)
    lowest, best = math.inf, given
    for _ in range(_SHUFFLES):
        candidate = _deranged(given, rng)
        r = pearson(candidate, given) or 0.0
        if r < lowest:
            lowest, best = r, candidate
        if r <= SHUFFLED_CORRELATION:
            break
    kept = int((best == given).sum())
    notes = []
    if kept:
        notes.append(f"bins that keep their value, which stands in more than half of them: {kept}")
    if lowest > SHUFFLED_CORRELATION:
        notes.append(f"correlation above {SHUFFLED_CORRELATION:g}: the lowest of {_SHUFFLES} arrangements")
    return Shuffled(
        values=tuple(best.tolist()),
        pearson=lowest,
        spearman=spearman(best, given) or 0.0,
        kept=kept,
        note="; ".join(notes),
    )


def _deranged(given: Floats, rng: np.random.Generator) -> Floats:
    values = rng.permutation(given)
    for at in np.flatnonzero(values == given):
        # A swap with such a bin frees this one and fixes none; there is one unless the value is in the majority.
        partners = np.flatnonzero((values != given[at]) & (given != values[at]))
        if values[at] == given[at] and partners.size:
            other = rng.choice(partners)
            values[[at, other]] = values[[other, at]]
    return values


class CrossFit(msgspec.Struct, frozen=True, kw_only=True):
    """Two profiles of one model, each measured on the items that the other is used for.

    ``half`` is 0 or 1 for each item. ``profiles[h]`` is shown with the items of half h and measured on those of
    the other half: accuracy in percent per bin, None where nothing was measured. ``measured[h]`` counts the
    graded items behind each of its values.
    """

    half: tuple[int, ...]
    profiles: tuple[tuple[float | None, ...], tuple[float | None, ...]]
    measured: tuple[tuple[int, ...], tuple[int, ...]]


def cross_fitted(bins: ArrayLike, correct: ArrayLike, seed: int = SEED) -> CrossFit:
    """Split the items of each bin at random into halves, which differ by one item at most, and measure both.

    ``bins`` has shape (items,): bin codes from 0. ``correct`` has the same shape: 1 right, 0 wrong, -1 not
    graded. A bin with a single item has no value in either profile. Raises ``ValueError`` when the shapes
    differ.
    """
    code, grade = bin_codes(bins), np.asarray(correct).reshape(-1).astype(np.int64)
    if code.shape != grade.shape:
        raise ValueError(f"{code.size} bins for {grade.size} items")
    rng = np.random.default_rng(seed)
    half = np.zeros(code.size, dtype=np.int64)
    for items in (np.flatnonzero(code == b) for b in np.unique(code)):
        half[rng.permutation(items)] = (np.arange(items.size) + rng.integers(2)) % 2
    size = int(code.max(initial=-1)) + 1
    single = np.bincount(code, minlength=size) == 1
    profiles, measured = [], []
    for shown in (0, 1):
        source = (half != shown) & (grade >= 0) & ~single[code]
        n = np.bincount(code[source], minlength=size)
        right = np.bincount(code[source & (grade == 1)], minlength=size)
        profiles.append(tuple(100 * k / m if m else None for k, m in zip(right.tolist(), n.tolist(), strict=True)))
        measured.append(tuple(n.tolist()))
    return CrossFit(half=tuple(half.tolist()), profiles=(profiles[0], profiles[1]), measured=(measured[0], measured[1]))


def _percentages(profile: ArrayLike) -> Floats:
    values = np.asarray(profile, dtype=np.float64).reshape(-1)
    if not ((values >= 0) & (values <= 100)).all():
        raise ValueError("a profile holds percentages from 0 to 100")
    return values


def bin_codes(bins: ArrayLike) -> Ints:
    """Return bin codes as integers, shape (items,); raises ``ValueError`` for a code below 0."""
    code = np.asarray(bins, dtype=np.int64).reshape(-1)
    if (code < 0).any():
        raise ValueError("a bin code is 0 or more")
    return code
