"""What graded tasks show of a model: the five criteria of the external profile, from counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.estimate import Estimate, join_notes
from selfdiag.measure.resampling import DRAWS, SEED, item_weights, percentile_interval, wilson

MIN_ELEMENTS = 25
"""Fewer scored elements than this say nothing about a criterion.

A model that knows its five reliabilities exactly, anywhere between .4 and .9, comes out at ``ACCEPTABLE`` or
below in 71 % of draws with 8 elements per criterion and in 99.6 % with 25. With 8 it depends on where they lie:
65 to 77 % at the published profiles, 83 % anywhere in [0, 1]; with 25 it is 99 % or more at each of these.
"""


class Criterion(Estimate, frozen=True, kw_only=True):
    """What graded tasks show on one criterion: ``value`` = ``numerator`` / ``denominator``, or None.

    ``n`` counts scored elements. In ``unit`` "elements" the numerator counts those in the model's favour; in
    "years" it is the currency left of the ``denominator`` years, and either ``ages`` holds the age of every source
    or ``drawn_ages`` the drawn ages of the horizon, each with how often it was drawn.
    """

    numerator: float | None
    denominator: float
    unit: str = "elements"
    ages: tuple[float, ...] = ()
    drawn_ages: tuple[tuple[float, int], ...] = ()


def hallucination_control(hallucinated: int, attempted: int, total: int) -> Criterion:
    """Return x1 = 1 - hallucinated / total, from open short answers.

    ``hallucinated`` counts wrong answers and answered traps, ``attempted`` all answers, ``total`` all replies,
    abstentions among them. Missing when fewer than half were attempted. Raises ``ValueError`` unless
    0 <= ``hallucinated`` <= ``attempted`` <= ``total``.
    """
    if not 0 <= hallucinated <= attempted <= total:
        raise ValueError("hallucinated answers are some of the attempted, and these of all")
    few = f"only {attempted} of {total} attempted" if 2 * attempted < total else ""
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
    made = percentile_interval(value_at(point, np.repeat(ages, often)))
    return msgspec.structs.replace(
        point,
        ci=made.ci,
        method=f"percentiles of {often.sum()} draws of the horizon" if made.ci else "",
        note=join_notes(note, made.note),
    )


def formal_structure(correct: int, expected: int) -> Criterion:
    """Return x3 = correct / expected formal elements; raises ``ValueError`` unless 0 <= correct <= expected.

    The interval takes elements as independent: several from one reply make it somewhat too narrow.
    """
    return _share(correct, expected)


def source_validity(verified: int, contradicted: int, unknown: int) -> Criterion:
    """Return x4 = 1 - contradicted / (verified + contradicted).

    Missing when the ``unknown`` sources exceed half of all. Raises ``ValueError`` for a negative count.
    """
    if min(verified, contradicted, unknown) < 0:
        raise ValueError("counts are 0 or more")
    total = verified + contradicted + unknown
    unclear = f"{unknown} of {total} sources unknown" if 2 * unknown > total else ""
    return _share(verified, verified + contradicted, unclear)


def terminological_precision(right: int, asked: int) -> Criterion:
    """Return x5 = terms right / terms asked; raises ``ValueError`` unless 0 <= right <= asked."""
    return _share(right, asked)


def _too_few(n: int) -> str:
    return f"cannot say: only {n} of {MIN_ELEMENTS} scored elements" if n < MIN_ELEMENTS else ""


def _share(favourable: int, scored: int, missing: str = "") -> Criterion:
    if not 0 <= favourable <= scored:
        raise ValueError("a share counts some of its elements")
    note = join_notes(_too_few(scored), f"missing: {missing}" if missing else "")
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


def elements_of(criterion: Criterion) -> Floats:
    """Return what is resampled: 1 and 0 for elements, ages for sources, nothing for a horizon."""
    if criterion.unit == "years":
        return np.array(criterion.ages, dtype=np.float64)
    favourable = round(criterion.numerator or 0)
    return np.repeat([1.0, 0.0], [favourable, criterion.n - favourable])


def value_at(criterion: Criterion, mean: Floats) -> Floats:
    """Return the value that a mean over the elements, or over the ages, stands for."""
    return mean if criterion.unit == "elements" else np.maximum(0.0, 1 - mean / criterion.denominator)


def resampled(criterion: Criterion, draws: int, rng: np.random.Generator) -> Floats:
    """Return bootstrap draws of a criterion's value, shape (draws,); a horizon without draws stays as it is."""
    if criterion.drawn_ages:
        ages, often = _drawn_ages(criterion)
        return value_at(criterion, rng.choice(ages, size=draws, p=often / often.sum()))
    elements = elements_of(criterion)
    if not elements.size:
        return np.full(draws, criterion.value, dtype=np.float64)
    return value_at(criterion, item_weights(elements.size, draws, rng) @ elements / elements.size)


def _drawn_ages(criterion: Criterion) -> tuple[Floats, Ints]:
    ages, often = zip(*criterion.drawn_ages, strict=True)
    return np.array(ages, dtype=np.float64), np.array(often, dtype=np.int64)
