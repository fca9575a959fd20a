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
from selfdiag.measure.counts import Floats
from selfdiag.measure.estimate import Estimate, join_notes
from selfdiag.measure.external import Criterion, resampled
from selfdiag.measure.questionnaire import as_instances, column_means
from selfdiag.measure.resampling import (
    ALPHA,
    DRAWS,
    SEED,
    Interval,
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

FEWEST_CRITERIA = 3
"""The distance of two profiles says nothing of self-knowledge on fewer criteria, or where more than one is missing."""

MOST_ORDERED = 8
"""Rank agreement goes through every order of up to so many criteria: 40,320 orders."""

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
    missing = [i for i in range(n) if math.isnan(x[i])]
    if missing:
        return Index(n=n, note=f"missing: {_labels(missing, n)}")
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


def criteria_needed(n: int) -> int:
    """Return how many of ``n`` criteria must be known on both sides for a verdict: all but one, and at least three."""
    return max(FEWEST_CRITERIA, n - 1)


def delta_avg(instances: ArrayLike, external: Sequence[Criterion], *, draws: int = DRAWS, seed: int = SEED) -> Delta:
    """Return how far a model's claims lie from what it does, with a bootstrap interval and a verdict.

    A draw resamples the instances of the questionnaire and, for each criterion, its elements (``resampled``); one
    whose draws are all the same is named in the note. The interval is that of the signed differences, each turned so
    that it is positive as measured: noise can only add to an absolute difference, so that its own draws lie too high,
    and correcting them for that leaves hardly any spread where a difference is near 0. Turned by its measured sign a
    difference is never smaller than turned by its true one, so that the upper end holds everywhere; for the lower end
    the noise of a difference that is not clear of 0 counts as having added to it.

    The verdict is "acceptable" when the interval ends at ``ACCEPTABLE`` or below, "not acceptable" when it
    begins above, else "cannot say", as always with fewer criteria than ``criteria_needed``. ``instances`` has shape
    (instances, criteria), in [0, 1], NaN where missing. Raises ``ValueError`` when ``external`` has another number of
    criteria or a value is out of range.
    """
    values = as_instances(instances)
    k = len(external)
    if values.shape[1] != k:
        raise ValueError(f"profiles of {values.shape[1]} and {k} criteria")
    replies = (~np.isnan(values)).sum(axis=0)
    known = [i for i in range(k) if replies[i] and external[i].value is not None]
    needed, left_out = criteria_needed(k), [i for i in range(k) if i not in known]
    note = join_notes(
        f"{len(known)} of {k} criteria known on both sides, a verdict needs {needed}" if len(known) < needed else "",
        f"left out: {_labels(left_out, k)}" if left_out else "",
    )
    if not known:
        return Delta(value=None, signed=None, signed_ci=None, verdict="cannot say", note=note)

    values = values[:, known]
    values = values[~np.isnan(values).all(axis=1)]
    criteria = [external[i] for i in known]
    claimed = column_means(values, np.ones((1, len(values))))[0]
    differences = claimed - np.array([c.value for c in criteria], dtype=np.float64)
    point, signed = float(np.abs(differences).mean()), float(differences.mean())
    if int(replies[known].min()) < 2:
        note = join_notes(note, "no interval: a criterion has only one reply, so its spread is unknown")
        return Delta(value=point, n=len(known), signed=signed, signed_ci=None, verdict="cannot say", note=note)

    rng = np.random.default_rng(seed)
    drawn = column_means(values, item_weights(len(values), draws, rng).astype(np.float64))
    shown = np.stack([resampled(c, draws, rng) for c in criteria], axis=1)
    fixed = [known[i] for i in np.flatnonzero(np.ptp(shown, axis=0) < _ROUNDING)]
    drawn -= shown
    made = stretched(point, _distance_interval(differences, drawn))
    return Delta(
        value=point,
        ci=made.ci,
        n=len(known),
        method=f"{made.method}, {draws} draws of instances and elements, seed {seed}" if made.ci else "",
        note=join_notes(note, f"held fixed in the interval: {_labels(fixed, k)}" if fixed else "", made.note),
        signed=signed,
        signed_ci=percentile_interval(drawn.mean(axis=1)).ci,
        verdict=_verdict(made.ci) if len(known) >= needed else "cannot say",
    )


def stretched(point: float, made: Interval) -> Interval:
    """Return an interval that holds the value itself, with a note where it had to be stretched to it."""
    if made.ci is None or made.ci[0] <= point <= made.ci[1]:
        return made
    ends = min(made.ci[0], point), max(made.ci[1], point)
    return Interval(ci=ends, method=made.method, note=join_notes("interval stretched to the value", made.note))


def rank_agreement(internal: Sequence[float | None], external: Sequence[float | None]) -> Estimate:
    """Return Kendall's tau-b of claimed and measured reliabilities: does a model know where it is better?

    It is over the ``n`` criteria known on both sides (not None) and has no interval: so few criteria bear none. The
    note holds the two-sided p-value, the share of all orders of the criteria with a tau as far from 0, and how far
    it must lie for p < .05, which depends on ties; above ``MOST_ORDERED`` criteria there are too many orders. Raises
    ``ValueError`` when the lengths differ or a value lies outside [0, 1].
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
    enough = distance[p_values < ALPHA]
    reach = "no tau reaches" if not enough.size else f"only {_from_distance(float(enough[0]))} reaches"
    ties = ", ties among them" if min(np.unique(claimed).size, np.unique(shown).size) < n else ""
    note = f"{over}; exact p = {p:.3f} two-sided; {reach} p < {ALPHA:g} with {n}{ties}"
    return Estimate(value=tau, n=n, note=note)


def _from_distance(least: float) -> str:
    return "a tau of 1 or -1" if least > 1 - _ROUNDING else f"a tau from {least:.2f} on or to -{least:.2f}"


def _reliabilities(profile: Sequence[float | None]) -> Floats:
    if not all(x is None or 0 <= x <= 1 for x in profile):
        raise ValueError("a reliability lies between 0 and 1")
    return np.array([math.nan if x is None else x for x in profile], dtype=np.float64)


def _labels(places: Sequence[int], n: int) -> str:
    names = [f"x{i + 1}" for i in places]
    return ", ".join(f"{name} {CRITERIA[name]}" if n == len(CRITERIA) else name for name in names)


def _internal(given: Floats) -> InternalCriterion:
    n = given.size
    if n < 2:
        note = "no reply" if n == 0 else "no SD: only one reply"
        return InternalCriterion(mean=float(given[0]) if n else None, sd=None, n=n, consistency=None, note=note)
    sd = float(given.std(ddof=1))
    return InternalCriterion(mean=float(given.mean()), sd=sd, n=n, consistency=consistency(sd))


def _distance_interval(differences: Floats, drawn: Floats) -> Interval:
    """Return the interval of a mean absolute difference.

    ``differences`` has shape (criteria,) and ``drawn`` shape (draws, criteria), NaN where undefined.
    """
    turned = np.where(differences < 0, -drawn, drawn)
    own = [percentile_interval(column).ci for column in drawn.T]
    clear = [ci is not None and not ci[0] <= 0 <= ci[1] for ci in own]
    cautious = np.where(clear, turned, np.abs(differences) - np.abs(drawn - differences))
    upper, lower = percentile_interval(turned.mean(axis=1)), percentile_interval(cautious.mean(axis=1))
    if upper.ci is None or lower.ci is None:
        return upper if upper.ci is None else lower
    ends = max(0.0, lower.ci[0]), upper.ci[1]
    return Interval(ci=ends, method=f"{upper.method} of differences turned one way", note=upper.note)


def _verdict(ci: tuple[float, float] | None) -> str:
    if ci is None:
        return "cannot say"
    if round(ci[1], 9) <= ACCEPTABLE:
        return "acceptable"
    return "not acceptable" if round(ci[0], 9) > ACCEPTABLE else "cannot say"
