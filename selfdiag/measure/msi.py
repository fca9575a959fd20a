"""Self-assessment against measured reliability: criteria, index of a profile, and the distance of two profiles.

A profile holds one reliability in [0, 1] per criterion. The *internal* profile is what a model claims of itself,
the *external* one what graded tasks show.

Two figures printed in the study that introduced the index do not follow from its formulas. For the profile
(.80 .65 .70 .60 .90) it prints a norm of 1.638 and an angle of 4.7 degrees, which are 1.6500 and 8.39; for
(.2 1 1 1 1) an index of .378, which is .37566. The functions here return the computed values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.correlation import kendall_tau, kendall_taus_of_orders
from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.estimate import Estimate, join_notes
from selfdiag.measure.external import Criterion, elements_of, resampled, value_at
from selfdiag.measure.questionnaire import as_instances, column_means
from selfdiag.measure.resampling import (
    DRAWS,
    SEED,
    Jackknife,
    bca_interval,
    item_weights,
    percentile_interval,
)

CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "x1": "hallucination control",
        "x2": "knowledge currency",
        "x3": "formal-structure handling",
        "x4": "source validity",
        "x5": "terminological precision",
    }
)

WEIGHTS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "research": (0.30, 0.15, 0.10, 0.30, 0.15),
        "programming": (0.25, 0.20, 0.35, 0.05, 0.15),
        "general": (0.30, 0.25, 0.10, 0.15, 0.20),
    }
)
"""Weights of x1 to x5 by use, summing to 1: selfdiag's own choice, from no study."""

SHARPNESS = 20.0
"""How closely the soft minimum follows the minimum."""

GROUP_BELOW = 0.70
"""Criteria below this reliability form the weak group: selfdiag's own choice."""

HIGH_CONSISTENCY = 0.10
LOW_CONSISTENCY = 0.15

ACCEPTABLE = 0.15
"""Largest mean absolute difference of two profiles that counts as self-knowledge."""


MOST_ORDERED = 8
"""Rank agreement goes through every order of up to so many criteria: 40,320 orders."""

SIGNIFICANT = 0.05
"""A p-value below this speaks against chance."""

_ROUNDING = 1e-9


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """The index of a profile and its relatives, all None when a criterion is missing.

    ``angle`` is in degrees from the ideal profile of ones. ``msi`` lies in [0, sqrt n], ``msi_per_root_n`` in
    [0, 1] whatever n. ``weighted`` holds a weighted mean per use and is empty unless there are five criteria.
    """

    n: int
    norm: float | None = None
    angle: float | None = None
    msi: float | None = None
    msi_per_root_n: float | None = None
    mean: float | None = None
    weighted: dict[str, float] = {}
    soft_min: float | None = None
    group_min: float | None = None
    note: str = ""


class InternalCriterion(msgspec.Struct, frozen=True, kw_only=True):
    """What a model claims on one criterion: mean and sample SD of ``n`` replies, and how consistent they are."""

    mean: float | None
    sd: float | None
    n: int
    consistency: str | None
    note: str = ""


class Delta(Estimate, frozen=True, kw_only=True):
    """Mean absolute difference of internal and external profile over the ``n`` criteria known on both sides.

    ``signed`` is the mean of internal - external: positive is over-claiming.
    """

    signed: float | None
    signed_ci: tuple[float, float] | None
    verdict: str


def index(profile: Sequence[float | None], *, sharpness: float = SHARPNESS, group_below: float = GROUP_BELOW) -> Index:
    """Return norm, angle, MSI and its variants of a profile of any length.

    With m the least x: MSI = (sum x / sqrt n) m, which is the norm times the cosine of the angle to the ideal
    times m. The soft minimum is -(1/b) ln mean exp(-b x), between m and the mean. The group minimum is the mean
    of the x below ``group_below``, else m; unlike the others it can fall when a criterion rises, by leaving the
    group.

    ``profile`` holds reliabilities in [0, 1], None where missing; ``sharpness`` is b, above 0. Raises
    ``ValueError`` for an empty profile or a value out of range.
    """
    if not profile:
        raise ValueError("a profile has at least one criterion")
    if sharpness <= 0:
        raise ValueError("the sharpness of a soft minimum is above 0")
    n = len(profile)
    x = _reliabilities(profile)
    missing = [_label(i, n) for i in range(n) if math.isnan(x[i])]
    if missing:
        return Index(n=n, note=f"missing: {', '.join(missing)}")
    mean = math.fsum(x) / n
    least, root = float(x.min()), math.sqrt(n)
    # The arc cosine of the textbook form loses half its digits near the ideal direction.
    angle = math.degrees(math.atan2(math.hypot(*(x - mean)), root * mean)) if mean > 0 else None
    weak = x[x < group_below]
    return Index(
        n=n,
        norm=math.hypot(*x),
        angle=angle,
        msi=root * mean * least,
        msi_per_root_n=mean * least,
        mean=mean,
        weighted={use: math.fsum(x * w) for use, w in WEIGHTS.items()} if n == len(CRITERIA) else {},
        soft_min=least - math.log(math.fsum(np.exp(-sharpness * (x - least))) / n) / sharpness,
        group_min=math.fsum(weak) / weak.size if weak.size else least,
        note=join_notes(
            "" if mean > 0 else "no angle: every criterion is 0",
            "" if n == len(CRITERIA) else "no weighted mean: the weights are for five criteria",
        ),
    )


def consistency(sd: float) -> str:
    """Return "high" for an SD up to .10, "low" from .15 on, "moderate" strictly between."""
    # An SD of two-decimal replies that is .10 on paper must not turn on its last binary digit.
    spread = round(sd, 9)
    return "high" if spread <= HIGH_CONSISTENCY else "low" if spread >= LOW_CONSISTENCY else "moderate"


def internal_profile(instances: ArrayLike) -> dict[str, InternalCriterion]:
    """Return mean, sample SD (ddof 1) and consistency of each criterion, by name x1, x2, ...

    ``instances`` has shape (instances, criteria) with values in [0, 1], NaN where missing; missing replies are
    in no mean and no count. Raises ``ValueError`` for another shape or a value out of range.
    """
    values = as_instances(instances)
    return {f"x{i + 1}": _internal(column[~np.isnan(column)]) for i, column in enumerate(values.T)}


def profile_distance(
    internal: Sequence[float | None], external: Sequence[float | None]
) -> tuple[float | None, float | None]:
    """Return the mean absolute and the mean signed difference, internal - external, of two profiles.

    Criteria missing on either side (None) are left out; both are None when none is left. Raises ``ValueError``
    when the lengths differ or a value lies outside [0, 1].
    """
    if len(internal) != len(external):
        raise ValueError(f"profiles of {len(internal)} and {len(external)} criteria")
    differences = _reliabilities(internal) - _reliabilities(external)
    known = differences[~np.isnan(differences)]
    return (float(np.abs(known).mean()), float(known.mean())) if known.size else (None, None)


def delta_avg(instances: ArrayLike, external: Sequence[Criterion], *, draws: int = DRAWS, seed: int = SEED) -> Delta:
    """Return how far a model's claims lie from what it does, with a bootstrap interval and a verdict.

    A draw resamples the instances of the questionnaire and, for each criterion, its elements: binomially from
    the counts, or the ages of its sources, or the draws of its horizon. A horizon without draws, as a censored
    one, stays fixed, and the note names it. Sampling noise can only add to an absolute difference, so a
    percentile interval lies too high (a model with perfect self-knowledge would hardly ever pass with 25
    elements); the interval is BCa (Efron 1987). Where BCa leaves out the value itself, the percentile interval
    stretched to the value takes its place, and the note says so.

    The verdict is "acceptable" when the interval ends at ``ACCEPTABLE`` or below, "not acceptable" when it
    begins above, else "cannot say". ``instances`` has shape (instances, criteria), in [0, 1], NaN where
    missing. Raises ``ValueError`` when ``external`` has another number of criteria or a value is out of range.
    """
    values = as_instances(instances)
    k = len(external)
    if values.shape[1] != k:
        raise ValueError(f"profiles of {values.shape[1]} and {k} criteria")
    replies = (~np.isnan(values)).sum(axis=0)
    known = [i for i in range(k) if replies[i] and external[i].value is not None]
    left_out = ", ".join(_label(i, k) for i in range(k) if i not in known)
    note = f"left out: {left_out}" if left_out else ""
    if not known:
        note = join_notes("no criterion is known on both sides", note)
        return Delta(value=None, signed=None, signed_ci=None, verdict="cannot say", note=note)

    values = values[:, known]
    values = values[~np.isnan(values).all(axis=1)]
    criteria = [external[i] for i in known]
    claimed = column_means(values, np.ones((1, len(values))))[0]
    shown = np.array([c.value for c in criteria], dtype=np.float64)
    point, signed = float(np.abs(claimed - shown).mean()), float((claimed - shown).mean())
    if int(replies[known].min()) < 2:
        note = join_notes(note, "no interval: a criterion has only one reply, so its spread is unknown")
        return Delta(value=point, n=len(known), signed=signed, signed_ci=None, verdict="cannot say", note=note)

    years = [i for i in known if external[i].unit == "years"]
    fixed = ", ".join(_label(i, k) for i in years if not (external[i].ages or external[i].drawn_ages))
    note = join_notes(note, f"held fixed in the interval: {fixed}" if fixed else "")
    rng = np.random.default_rng(seed)
    drawn = column_means(values, item_weights(len(values), draws, rng).astype(np.float64))
    drawn = drawn - np.stack([resampled(c, draws, rng) for c in criteria], axis=1)
    ci, method, remark = _distance_interval(point, np.abs(drawn).mean(axis=1), _jackknife(values, criteria))
    return Delta(
        value=point,
        ci=ci,
        n=len(known),
        method=f"{method}, {draws} draws of instances and elements, seed {seed}" if ci else "",
        note=join_notes(note, remark),
        signed=signed,
        signed_ci=percentile_interval(drawn.mean(axis=1)).ci,
        verdict=_verdict(ci),
    )


def rank_agreement(internal: Sequence[float | None], external: Sequence[float | None]) -> Estimate:
    """Return Kendall's tau-b of claimed and measured reliabilities: does a model know where it is better?

    It is over the ``n`` criteria known on both sides (not None) and has no interval: so few criteria bear none. The
    note holds the two-sided p-value, the share of all orders of the criteria with a tau as far from 0, and how far
    it must lie for p < .05; above ``MOST_ORDERED`` criteria there are too many orders. Raises ``ValueError`` when
    the lengths differ or a value lies outside [0, 1].
    """
    if len(internal) != len(external):
        raise ValueError(f"profiles of {len(internal)} and {len(external)} criteria")
    claimed, shown = _reliabilities(internal), _reliabilities(external)
    known = ~np.isnan(claimed - shown)
    claimed, shown, n = claimed[known], shown[known], int(known.sum())
    over = f"over {n} criteri{'on' if n == 1 else 'a'} known on both sides"
    tau = kendall_tau(claimed, shown)
    if tau is None:
        why = "all of one rank on a side" if n > 1 else "no order"
        return Estimate(value=None, n=n, note=f"cannot say: {why}, {over}")
    if n > MOST_ORDERED:
        return Estimate(value=tau, n=n, note=f"{over}; no exact p above {MOST_ORDERED} criteria")
    distance = np.sort(np.abs(kendall_taus_of_orders(claimed, shown)))
    # Of equal distances each has the p-value of the first.
    p_values = (distance.size - np.searchsorted(distance, distance - _ROUNDING)) / distance.size
    p = float(p_values[np.searchsorted(distance, abs(tau) - _ROUNDING)])
    enough = distance[p_values < SIGNIFICANT]
    reach = "no tau reaches" if not enough.size else f"only {_from_distance(float(enough[0]))} reaches"
    return Estimate(value=tau, n=n, note=f"{over}; exact p = {p:.3f} two-sided; {reach} p < {SIGNIFICANT:g} with {n}")


def _from_distance(least: float) -> str:
    return "a tau of 1 or -1" if least > 1 - _ROUNDING else f"a tau from {least:.2f} on or to -{least:.2f}"


def _reliabilities(profile: Sequence[float | None]) -> Floats:
    if not all(x is None or 0 <= x <= 1 for x in profile):
        raise ValueError("a reliability lies between 0 and 1")
    return np.array([math.nan if x is None else x for x in profile], dtype=np.float64)


def _label(i: int, n: int) -> str:
    name = f"x{i + 1}"
    return f"{name} {CRITERIA[name]}" if n == len(CRITERIA) else name


def _internal(given: Floats) -> InternalCriterion:
    n = given.size
    if n < 2:
        note = "no reply" if n == 0 else "no SD: only one reply"
        return InternalCriterion(mean=float(given[0]) if n else None, sd=None, n=n, consistency=None, note=note)
    sd = float(given.std(ddof=1))
    return InternalCriterion(mean=float(given.mean()), sd=sd, n=n, consistency=consistency(sd))


def _jackknife(values: Floats, criteria: Sequence[Criterion]) -> Jackknife:
    """Leave out one instance, or one element of one criterion, at a time.

    A horizon has no part in it: one fact less moves it not at all or by a leap, which is no derivative.
    """
    claimed = column_means(values, np.ones((1, len(values))))[0]
    shown = np.array([c.value for c in criteria], dtype=np.float64)
    parts = [np.abs(column_means(values, 1 - np.eye(len(values))) - shown).mean(axis=1)]
    for i, criterion in enumerate(criteria):
        elements = elements_of(criterion)
        rest = np.repeat(shown[None], elements.size, axis=0)
        rest[:, i] = value_at(criterion, (elements.sum() - elements) / (elements.size - 1))
        parts.append(np.abs(claimed - rest).mean(axis=1))
    stratum: Ints = np.repeat(np.arange(len(parts)), [part.size for part in parts])
    return Jackknife(values=np.concatenate(parts), multiplicity=np.ones_like(stratum), stratum=stratum)


def _distance_interval(
    point: float, spread: Floats, jackknife: Jackknife
) -> tuple[tuple[float, float] | None, str, str]:
    made = bca_interval(point, spread, jackknife)
    if made.ci is not None and made.ci[0] <= point <= made.ci[1]:
        return made.ci, made.method, made.note
    plain = percentile_interval(spread)
    if plain.ci is None:
        return None, "", plain.note
    remark = join_notes("BCa leaves out the value: percentile interval stretched to it", plain.note)
    return (min(plain.ci[0], point), max(plain.ci[1], point)), plain.method, remark


def _verdict(ci: tuple[float, float] | None) -> str:
    if ci is None:
        return "cannot say"
    if round(ci[1], 9) <= ACCEPTABLE:
        return "acceptable"
    return "not acceptable" if round(ci[0], 9) > ACCEPTABLE else "cannot say"
