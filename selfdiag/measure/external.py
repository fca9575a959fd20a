"""What graded tasks show of a model: the five criteria of the external profile, from counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.estimate import Estimate, join_notes
from selfdiag.measure.resampling import (
    DRAWS,
    SEED,
    Jackknife,
    bca_interval,
    item_weights,
    percentile_interval,
    wilson,
)

MIN_ELEMENTS = 25
"""Fewer scored elements than this say nothing about a criterion.

A model that knows its five reliabilities exactly, anywhere between .4 and .9, comes out at ``ACCEPTABLE`` or
below in 71 % of draws with 8 elements per criterion and in 99.6 % with 25. With 8 it depends on where they lie:
65 to 77 % at the published profiles, 83 % anywhere in [0, 1]; with 25 it is 99 % or more at each of these.
"""

MIN_REPLIES = 12
"""Elements that come several a reply say nothing when they come from fewer replies: these are what varies."""


class Criterion(Estimate, frozen=True, kw_only=True):
    """What graded tasks show on one criterion: ``value`` = ``numerator`` / ``denominator``, or None.

    ``n`` counts scored elements. In ``unit`` "elements" the numerator counts those in the model's favour; in
    "years" it is the currency left of the ``denominator`` years, and either ``ages`` holds the age of every source
    or ``drawn_ages`` the drawn ages of the horizon, each with how often it was drawn. Where elements come several a
    reply, ``replies`` holds how many are right and expected in each.
    """

    numerator: float | None
    denominator: float
    unit: str = "elements"
    ages: tuple[float, ...] = ()
    drawn_ages: tuple[tuple[float, int], ...] = ()
    replies: tuple[tuple[int, int], ...] = ()


def hallucination_control(hallucinated: int, attempted: int, total: int) -> Criterion:
    """Return x1 = 1 - hallucinated / total, from open short answers.

    ``hallucinated`` counts wrong answers and answered traps, ``attempted`` all answers, ``total`` all replies,
    abstentions among them. Missing when fewer than half were attempted. Raises ``ValueError`` unless
    0 <= ``hallucinated`` <= ``attempted`` <= ``total``.
    """
    if not 0 <= hallucinated <= attempted <= total:
        raise ValueError("hallucinated answers are some of the attempted, and these of all")
    few = f"missing: only {attempted} of {total} attempted" if 2 * attempted < total else ""
    return _share(total - hallucinated, total, few)


def knowledge_currency(ages: ArrayLike, *, years: float = 5.0, draws: int = DRAWS, seed: int = SEED) -> Criterion:
    """Return x2 = max(0, 1 - A / N), A the mean age of the verified sources and N ``years``.

    The interval is a percentile bootstrap over sources. ``ages`` has shape (n,), in years before the run, 0 or
    more. Raises ``ValueError`` for a negative or non-finite age, or ``years`` not above 0.
    """
    known = np.asarray(ages, dtype=np.float64).reshape(-1)
    if not (np.isfinite(known) & (known >= 0)).all():
        raise ValueError("the age of a source is 0 years or more")
    age = math.fsum(known) / known.size if known.size else None
    point = _currency(age, years, known.size, tuple(known.tolist()))
    if point.value is None or age is None:
        return point
    made = percentile_interval(resampled(point, draws, np.random.default_rng(seed)))
    return msgspec.structs.replace(
        point,
        ci=made.ci,
        method=f"{made.method}, {draws} draws of sources, seed {seed}" if made.ci else "",
        note=join_notes(f"mean age {age:.1f} years", made.note),
    )


def currency_from_horizon(
    horizon: float | None,
    run_year: float,
    *,
    facts: int,
    drawn: Sequence[tuple[float, int]] = (),
    censored: bool = False,
    note: str = "",
    years: float = 5.0,
) -> Criterion:
    """Return x2 = max(0, 1 - A / N), A the date of the run minus the knowledge horizon and N ``years``.

    ``horizon`` and ``run_year`` are decimal years, ``facts`` counts the dated facts behind the horizon and ``note``
    is what is to say of it, or why it is None. ``drawn`` holds horizons drawn for its interval with how often each
    was drawn; the interval of x2 lies between their percentiles, and without them there is none. A ``censored``
    horizon, and with it x2, is a lower bound. Raises ``ValueError`` when a horizon lies after the run, ``facts`` is
    negative or ``years`` is not above 0.
    """
    horizons = [at for at, _ in drawn] if horizon is None else [horizon, *(at for at, _ in drawn)]
    if not all(at <= run_year for at in horizons):
        raise ValueError("a knowledge horizon lies before the run")
    point = _currency(None if horizon is None else run_year - horizon, years, facts)
    if point.value is None or horizon is None:
        return msgspec.structs.replace(point, note=join_notes(point.note, note))
    note = join_notes("at least this: so is the horizon" if censored else "", f"horizon {horizon:g}", note)
    if not drawn:
        return msgspec.structs.replace(point, note=join_notes(note, "no interval: the horizon comes without draws"))
    point = msgspec.structs.replace(point, drawn_ages=tuple((run_year - at, often) for at, often in drawn))
    ages, often = _drawn_ages(point)
    made = percentile_interval(_left(np.repeat(ages, often), years))
    return msgspec.structs.replace(
        point,
        ci=made.ci,
        method=f"percentiles of {often.sum()} draws of the horizon" if made.ci else "",
        note=join_notes(note, made.note),
    )


def formal_structure(replies: Sequence[tuple[int, int]], *, draws: int = DRAWS, seed: int = SEED) -> Criterion:
    """Return x3, the share of formal elements that are right, over all replies.

    The elements of one reply stand and fall together, so replies are resampled, and the interval is BCa (Efron 1987).
    Where every draw gives the same value, as when everything is right, it is Wilson's with each reply as one element.
    Missing with fewer than ``MIN_REPLIES`` replies.

    ``replies`` holds the right and the expected elements of each. Raises ``ValueError`` unless at least one is
    expected in each, and the right are some of these.
    """
    if not all(0 <= right <= expected and expected > 0 for right, expected in replies):
        raise ValueError("the right elements of a reply are some of those expected")
    n = len(replies)
    few = f"cannot say: only {n} of {MIN_REPLIES} replies" if n < MIN_REPLIES else ""
    right, expected = (np.array([counts[i] for counts in replies], dtype=np.int64) for i in (0, 1))
    point = _share(int(right.sum()), int(expected.sum()), few)
    value = point.value
    if value is None:
        return point
    point = msgspec.structs.replace(point, replies=tuple(replies))
    without = (right.sum() - right) / (expected.sum() - expected)
    jackknife = Jackknife(values=without, multiplicity=np.ones_like(right), stratum=np.zeros_like(right))
    made = bca_interval(value, resampled(point, draws, np.random.default_rng(seed)), jackknife)
    if made.ci is None:
        method = "Wilson, each reply as one element: every draw of replies gives the same value"
        return msgspec.structs.replace(point, ci=wilson(value * n, n), method=method)
    method = f"{made.method}, {draws} draws of {n} replies, seed {seed}"
    return msgspec.structs.replace(point, ci=made.ci, method=method, note=made.note)


def source_validity(verified: int, contradicted: int, unknown: int) -> Criterion:
    """Return x4 = 1 - contradicted / (verified + contradicted).

    Missing when the ``unknown`` sources exceed half of all. Raises ``ValueError`` for a negative count.
    """
    if min(verified, contradicted, unknown) < 0:
        raise ValueError("counts are 0 or more")
    total = verified + contradicted + unknown
    unclear = f"missing: {unknown} of {total} sources unknown" if 2 * unknown > total else ""
    return _share(verified, verified + contradicted, unclear)


def terminological_precision(right: int, asked: int) -> Criterion:
    """Return x5 = terms right / terms asked; raises ``ValueError`` unless 0 <= right <= asked."""
    return _share(right, asked)


def _too_few(n: int) -> str:
    return f"cannot say: only {n} of {MIN_ELEMENTS} scored elements" if n < MIN_ELEMENTS else ""


def _share(favourable: int, scored: int, missing: str = "") -> Criterion:
    if not 0 <= favourable <= scored:
        raise ValueError("a share counts some of its elements")
    note = join_notes(_too_few(scored), missing)
    if note:
        return Criterion(value=None, n=scored, note=note, numerator=favourable, denominator=scored)
    return Criterion(
        value=favourable / scored,
        ci=wilson(favourable, scored),
        n=scored,
        method="Wilson",
        numerator=favourable,
        denominator=scored,
    )


def _currency(age: float | None, years: float, n: int, ages: tuple[float, ...] = ()) -> Criterion:
    if not (years > 0 and n >= 0):
        raise ValueError("currency needs a span above 0 years and a count of 0 or more")
    left = None if age is None else max(0.0, years - age)
    few = _too_few(n)
    value = None if few or left is None else left / years
    return Criterion(value=value, n=n, note=few, numerator=left, denominator=years, unit="years", ages=ages)


def _left(age: Floats, years: float) -> Floats:
    return np.maximum(0.0, 1 - age / years)


def resampled(criterion: Criterion, draws: int, rng: np.random.Generator) -> Floats:
    """Return bootstrap draws of a criterion's value, shape (draws,).

    Ages of sources and replies with several elements are drawn with replacement, other elements binomially, and a
    horizon from its own draws; one without draws stays as it is. Raises ``ValueError`` for a missing criterion.
    """
    if criterion.value is None:
        raise ValueError("a missing criterion has nothing to resample")
    if criterion.drawn_ages:
        ages, often = _drawn_ages(criterion)
        return _left(rng.choice(ages, size=draws, p=often / often.sum()), criterion.denominator)
    if criterion.ages:
        mean_age = item_weights(len(criterion.ages), draws, rng) @ np.array(criterion.ages) / len(criterion.ages)
        return _left(mean_age, criterion.denominator)
    if criterion.unit == "years":
        return np.full(draws, criterion.value)
    if criterion.replies:
        drawn = item_weights(len(criterion.replies), draws, rng) @ np.array(criterion.replies)
        return np.asarray(drawn[:, 0] / drawn[:, 1])
    return rng.binomial(criterion.n, criterion.value, size=draws) / criterion.n


def _drawn_ages(criterion: Criterion) -> tuple[Floats, Ints]:
    ages, often = zip(*criterion.drawn_ages, strict=True)
    return np.array(ages, dtype=np.float64), np.array(often, dtype=np.int64)
