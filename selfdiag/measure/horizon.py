"""The knowledge horizon of a model: the date up to which it knows dated facts, read off a drop in its right answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Bools, Floats, Ints
from selfdiag.measure.estimate import Estimate, join_notes
from selfdiag.measure.resampling import DRAWS, SEED, percentile_interval

PERMUTATIONS = 2000
"""Orders of the answers that show what drop chance makes; apart from the draws, so that these move no value."""

MAX_CHANCE = 0.05
"""A drop that chance makes more often than this is none."""

KNOWN = 0.5
"""From this share right on, facts count as known where no drop is seen."""

NEWEST = 3
"""So many of the newest facts, and any of the same date, say whether knowledge reaches to the end of the facts."""

_RATES = np.arange(1, 50) / 50

_ROUNDING = 1e-9


class Horizon(Estimate, frozen=True, kw_only=True):
    """The date up to which facts are known, in decimal years, or None where right answers show no horizon.

    The value lies half way between the last fact before the drop and the first after it. ``n`` counts usable
    facts, ``n_before`` and ``n_after`` those on either side, ``share_before`` and ``share_after`` what part of
    these is right. Where ``censored``, no drop was seen and the horizon is the value or later. ``drawn`` holds
    the horizons drawn for the interval, each with how often it was drawn, and is empty without an interval.
    """

    share_before: float | None = None
    share_after: float | None = None
    n_before: int = 0
    n_after: int = 0
    censored: bool = False
    drawn: tuple[tuple[float, int], ...] = ()


def knowledge_horizon(
    dates: ArrayLike, correct: ArrayLike, *, run_year: float, draws: int = DRAWS, seed: int = SEED
) -> Horizon:
    """Return the change point of a share right that may only fall.

    Facts up to the horizon are right at one rate, later ones at a lower one; horizon and rates maximise the
    likelihood. The drop must raise it by more than chance does: with the answers permuted over the dates, at most
    ``MAX_CHANCE`` of the ``PERMUTATIONS`` do as well. Where none is seen, the horizon is at least the newest fact
    when ``KNOWN`` of all facts and more of the ``NEWEST`` are right, else there is no value. Facts of one date stay
    on one side.

    The interval is that of the likelihood with both rates integrated out, every pair of falling rates and every
    date between the oldest and the newest fact being as likely beforehand. A bootstrap over facts would not do: no
    draw holds a right answer later than the last one, so that of a model with few right answers it misses
    horizons some time after it, and covers a drop from 40 to 5 % in 65 % of samples.

    ``dates`` has shape (facts,): when each fact became known, as year + (month - 1) / 12. ``correct`` has the same
    shape: 1 right, 0 wrong or abstained, -1 not usable. ``run_year`` is the date of the run in decimal years.
    Raises ``ValueError`` when the shapes differ, ``correct`` holds another number, or a usable fact has no finite
    date or one after the run.
    """
    known_from, right = _usable(dates, correct, run_year)
    n, hits = right.size, int(right.sum())
    if not hits:
        return Horizon(value=None, n=n, note=f"cannot say: none of {n} facts right")
    calendar, first = np.unique(known_from, return_index=True)
    rng = np.random.default_rng(seed)
    chance = _chance(right, first, rng)
    if chance > MAX_CHANCE:
        return _without_drop(known_from, right, chance)
    known, facts = (np.cumsum(np.add.reduceat(part, first)) for part in (right, np.ones_like(right)))
    found = int(np.argmax(_gains(right[None], np.ones((1, n), dtype=np.int64), first)[0]))
    before = known_from <= calendar[found]
    early, late = right[before], right[~before]
    at = rng.choice(calendar.size - 1, size=draws, p=_plausible(known, facts, np.diff(calendar)))
    # Within the gap between two facts nothing tells where the horizon lies: either end counts.
    drawn = calendar[at + rng.integers(2, size=draws)]
    made = percentile_interval(drawn)
    horizons, often = np.unique(drawn, return_counts=True)
    return Horizon(
        value=float(calendar[found : found + 2].mean()),
        ci=made.ci,
        n=n,
        method=f"integrated likelihood, {draws} draws, seed {seed}" if made.ci else "",
        note=join_notes(
            f"{early.sum()} of {early.size} facts right up to it, {late.sum()} of {late.size} after it",
            made.note,
        ),
        share_before=float(early.mean()),
        share_after=float(late.mean()),
        n_before=early.size,
        n_after=late.size,
        drawn=tuple(zip(horizons.tolist(), often.tolist(), strict=True)) if made.ci else (),
    )


def _usable(dates: ArrayLike, correct: ArrayLike, run_year: float) -> tuple[Floats, Ints]:
    """Return dates and right answers of the usable facts, oldest first."""
    known_from, marks = np.asarray(dates, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if known_from.ndim != 1 or known_from.shape != marks.shape:
        raise ValueError("every fact has one date and one mark")
    if not np.isin(marks, (-1, 0, 1)).all():
        raise ValueError("a fact is right (1), wrong (0) or not usable (-1)")
    known_from, right = known_from[marks >= 0], marks[marks >= 0].astype(np.int64)
    if not (np.isfinite(known_from) & (known_from <= run_year)).all():
        raise ValueError("a fact became known before the run")
    order = np.argsort(known_from, kind="stable")
    return known_from[order], right[order]


def _without_drop(known_from: Floats, right: Ints, chance: float) -> Horizon:
    n, hits = right.size, int(right.sum())
    seen = f"{hits} of {n} facts right, without a drop beyond chance (p = {chance:.2f})"
    newest = right[known_from >= known_from[-min(NEWEST, n)]]
    if hits < KNOWN * n or newest.sum() <= KNOWN * newest.size:
        return Horizon(value=None, n=n, note=f"cannot say: {seen}")
    return Horizon(
        value=float(known_from[-1]),
        n=n,
        note=f"at least this, the date of the newest fact: {seen}",
        share_before=hits / n,
        n_before=n,
        censored=True,
    )


def _chance(right: Ints, first: Ints, rng: np.random.Generator) -> float:
    """Return how often answers in a random order show a drop as clear as the one seen."""
    orders = rng.permuted(np.tile(right, (PERMUTATIONS, 1)), axis=1)
    gains = _gains(np.concatenate([right[None], orders]), np.ones((1, right.size), dtype=np.int64), first)
    clearest = gains.max(axis=1, initial=0.0)
    return float((clearest >= clearest[0] - _ROUNDING).mean())


def _plausible(hits: Ints, facts: Ints, gaps: Floats) -> Floats:
    """Return the weight of each gap between two dates: its length times its likelihood over all falling rates."""
    late, early = np.meshgrid(_RATES, _RATES)
    falling = early > late
    rates = np.log([early[falling], 1 - early[falling], late[falling], 1 - late[falling]])
    seen = np.stack([hits, facts - hits, hits[-1] - hits, facts[-1] - facts - hits[-1] + hits], axis=1)[:-1]
    logs = seen @ rates
    weights = gaps * np.exp(logs - logs.max()).sum(axis=1)
    return np.asarray(weights / weights.sum())


def _gains(right: Ints, total: Ints, first: Ints) -> Floats:
    """Return by how much a drop after each date but the last raises the log-likelihood, 0 where nothing drops.

    ``right`` and ``total`` have shape (rows, facts), facts oldest first, and ``first`` holds the place of the
    first fact of each date; the result has shape (rows, dates - 1).
    """
    hits, facts = (np.cumsum(np.add.reduceat(part, first, axis=1), axis=1) for part in (right, total))
    all_hits, all_facts = hits[:, -1:], facts[:, -1:]
    hits, facts = hits[:, :-1], facts[:, :-1]
    drops: Bools = hits * (all_facts - facts) > (all_hits - hits) * facts
    flat = _likelihood(all_hits, all_facts)
    return np.where(drops, _likelihood(hits, facts) + _likelihood(all_hits - hits, all_facts - facts) - flat, 0.0)


def _likelihood(hits: Ints, facts: Ints) -> Floats:
    """Return the log-likelihood of right answers at their own rate."""
    return _x_log_x(hits) + _x_log_x(facts - hits) - _x_log_x(facts)


def _x_log_x(counts: Ints) -> Floats:
    return np.asarray(counts * np.log(np.maximum(counts, 1)))
