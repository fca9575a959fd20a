"""The profile ladder: what an injected competence profile does to stated confidence.

The same items are asked without a profile, with a placebo, with the model's own and with a shuffled one. Source
of the design and of the bounds: the "self-confidence in LLM evaluation" study.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.contrast import Contrast, paired_contrast
from selfdiag.measure.correlation import MIN_FOR_INTERVAL, fisher_interval, pearson
from selfdiag.measure.counts import Counts, Floats, Ints, ratio, tabulate
from selfdiag.measure.discrimination import Z95, auroc
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.itemwise import auroc_estimate
from selfdiag.measure.profiles import bin_codes
from selfdiag.measure.resampling import DRAWS, SEED, holm
from selfdiag.measure.tally import tally_rows

FULL_SIZE = 294
"""Probes of the full draw, the only one that confirms anything."""

OFF_ACCURACY = (0.15, 0.85)
"""Accuracy without a profile outside of which the arms have no room to differ."""

MIN_CLASS = 40
"""Right answers, and wrong ones, that a confirmation needs."""

MIN_OWN_SD = 10.0
"""Points by which the own profile must vary over bins, else there is nothing to inject."""

ASSUMED_AUROC = 0.60
"""AUROC of both arms in the power formula: what published models show."""

ASSUMED_CORRELATION = 0.72
"""Correlation of the AUROCs of two arms on the same items in the power formula: what the study's figures imply."""

POWER_Z = 0.8416212335729143
"""Standard normal quantile of a power of 80 %."""

CONFIRMATORY = ("placebo", "off")
"""Arms that own is compared with under one Holm correction."""

CONTRASTS = (*CONFIRMATORY, "shuffled")
"""Arms that own is compared with."""


class OracleCeiling(msgspec.Struct, frozen=True, kw_only=True):
    """AUROC of a model that states, as its confidence, what its profile says of the bin.

    ``injected`` uses the value that stood in the prompt, ``leave_one_out`` the accuracy of the bin's other
    items. The latter is biased low: a right item lowers the mean of the others, so within a bin right items
    always rank below wrong ones.
    """

    injected: Estimate
    leave_one_out: Estimate


def oracle_ceiling(injected: ArrayLike, bins: ArrayLike, correct: ArrayLike) -> OracleCeiling:
    """Return how well the profile alone would tell right answers from wrong ones.

    All have shape (items,): ``injected`` the percentage shown for the item's bin, NaN for none; ``bins`` the
    bin codes from 0; ``correct`` 1 right, 0 wrong, -1 not graded. Raises ``ValueError`` for a percentage out
    of range.
    """
    shown, code = np.asarray(injected, dtype=np.float64).reshape(-1), bin_codes(bins)
    grade = np.asarray(correct).reshape(-1)
    if not shown.shape == code.shape == grade.shape:
        raise ValueError("one percentage, one bin and one grade for each item")
    graded = grade >= 0
    size = int(code.max(initial=-1)) + 1
    n = np.bincount(code[graded], minlength=size)[code]
    right = np.bincount(code[grade == 1], minlength=size)[code]
    others = ratio(right - (grade == 1), n - 1)
    known, counted = graded & np.isfinite(shown), graded & (n > 1)
    return OracleCeiling(
        injected=auroc_estimate(tabulate(shown[known] / 100, grade[known])),
        leave_one_out=auroc_estimate(tabulate(others[counted], grade[counted])),
    )


def consumption(shift: ArrayLike, injected: ArrayLike, true: ArrayLike) -> Estimate:
    """Return whether confidence followed an injected profile: its correlation with the error of the profile.

    All have shape (values,), in points, one entry for each injected value: a bin, or each half of a bin where the
    halves are shown different ones. ``shift`` is the mean confidence under this profile minus that without one,
    ``injected`` and ``true`` the shown and the measured accuracy. Values with a NaN leave. The interval is
    Fisher's. Raises ``ValueError`` when the shapes differ.
    """
    moved, claimed = np.asarray(shift, dtype=np.float64), np.asarray(injected, dtype=np.float64)
    error = claimed - np.asarray(true, dtype=np.float64)
    if moved.shape != error.shape:
        raise ValueError("one shift and one error of the profile for each injected value")
    known = np.isfinite(moved) & np.isfinite(error)
    n = int(known.sum())
    if n < MIN_FOR_INTERVAL:
        return estimate(None, n=n, note=f"not defined: needs {MIN_FOR_INTERVAL} injected values, has {n}")
    r = pearson(moved[known], error[known])
    if r is None:
        return estimate(None, n=n, note=f"not defined: {_constant(moved[known])}")
    ci = fisher_interval(r, n)
    return estimate(r, ci, n=n, method="Fisher" if ci else "", note="" if ci else "no interval: all on one line")


def _constant(moved: Floats) -> str:
    """Return what is the same everywhere, so that there is no correlation."""
    if np.ptp(moved) > 0:
        return "the profile errs by the same everywhere"
    return "its confidence moved by the same everywhere" if moved[0] else "its confidence never changed"


def smallest_effect(items: int, accuracy: float) -> float | None:
    """Return the difference of two arms' AUROCs that is found with 80 % power at a two-sided 5 %.

    ``items`` were answered in both arms, the share ``accuracy`` in [0, 1] of them right. The variance of one
    AUROC is that of Hanley and McNeil (1982) at ``ASSUMED_AUROC``, and that of the difference of two on the same
    items 2 (1 - r) times as large, r = ``ASSUMED_CORRELATION``. About .15 at 63 items, .10 at 147 and .07 at
    294 when half are right. None when less than one right or one wrong answer is to be expected.
    """
    right, wrong = items * accuracy, items * (1 - accuracy)
    if right < 1 or wrong < 1:
        return None
    a = ASSUMED_AUROC
    of_right, of_wrong = a / (2 - a) - a**2, 2 * a**2 / (1 + a) - a**2
    variance = (a * (1 - a) + (right - 1) * of_right + (wrong - 1) * of_wrong) / (right * wrong)
    return (Z95 + POWER_Z) * math.sqrt(2 * (1 - ASSUMED_CORRELATION) * variance)


def power_note(items: int, accuracy: float) -> str:
    """Return one line that says how small a difference of AUROCs such a ladder was expected to see."""
    least = smallest_effect(items, accuracy)
    if least is None:
        return f"{items} items at {accuracy:.0%} right: no difference of AUROCs could be seen"
    return (
        f"{items} items at {accuracy:.0%} right: the smallest AUROC difference expected beforehand to be seen with "
        f"80 % power is about {least:.2f}"
    )


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a ladder confirms anything; ``reasons`` say why it is only a demonstration."""

    label: Literal["confirmatory", "demonstration"]
    reasons: tuple[str, ...]
    smallest_effect: float | None
    power_note: str


def confirmatory(*, probes: int, right: int, wrong: int, own_sd: float) -> Standing:
    """Judge a ladder by its size and its room to differ.

    ``probes`` were asked in each arm; ``right`` and ``wrong`` count the graded answers without a profile (arm
    off); ``own_sd`` is the SD of the own profile over bins, in points.
    """
    n = right + wrong
    accuracy = right / n if n else 0.0
    low, high = OFF_ACCURACY
    reasons = []
    if probes < FULL_SIZE:
        reasons.append(f"{probes} probes, not the full {FULL_SIZE}")
    if not n:
        reasons.append("no graded answer without a profile")
    elif not low <= accuracy <= high:
        reasons.append(f"accuracy without a profile is {accuracy:.2f}, outside {low:.2f} to {high:.2f}")
    if right < MIN_CLASS:
        reasons.append(f"{right} right answers, fewer than {MIN_CLASS}")
    if wrong < MIN_CLASS:
        reasons.append(f"{wrong} wrong answers, fewer than {MIN_CLASS}")
    if not own_sd >= MIN_OWN_SD:
        reasons.append(f"the own profile varies by {own_sd:.1f} points, less than {MIN_OWN_SD:g}")
    return Standing(
        label="demonstration" if reasons else "confirmatory",
        reasons=tuple(reasons),
        smallest_effect=smallest_effect(n, accuracy),
        power_note=power_note(n, accuracy),
    )


class ArmRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one arm, all arms in the same order.

    ``correct`` has shape (rows,): 1 right, 0 wrong, -1 not graded or not asked. ``p`` has the same shape: stated
    confidence in [0, 1], NaN for none.
    """

    correct: Ints
    p: Floats


class Excluded(msgspec.Struct, frozen=True, kw_only=True):
    """What the 95 % interval of a difference rules out.

    Gains larger than ``gain_above`` and losses larger than ``loss_above``, both 0 or more, and with ``zero``
    no difference at all.
    """

    gain_above: float
    loss_above: float
    zero: bool


class ArmContrast(msgspec.Struct, frozen=True, kw_only=True):
    """Own against another arm, on the rows answered in both: ``second`` of a contrast is own.

    ``by_item`` draws items with all their rows, ``by_batch`` the rows of an item in one call-order batch.
    ``adjusted_p`` is Holm's over the confirmatory family, from ``by_item``, None outside of it. ``excludes`` is
    None without an interval.
    """

    against: str
    confirmatory: bool
    by_item: Contrast
    by_batch: Contrast
    adjusted_p: float | None
    excludes: Excluded | None


def arm_contrasts(
    arms: Mapping[str, ArmRows],
    items: ArrayLike,
    batches: ArrayLike,
    *,
    measure: Callable[[Counts], Floats] = auroc,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[ArmContrast, ...]:
    """Compare own with placebo, off and shuffled, as far as these arms are there.

    Row r of every arm is the same item in the same wording and batch. ``items`` and ``batches`` have shape
    (rows,): integer codes from 0 of the item and of the call-order batch. ``measure`` turns a table of counts
    into the value compared, AUROC unless said otherwise. The confirmatory family stays at two tests when one of
    its arms is missing or has no p-value. Raises ``ValueError`` without an own arm or for rows that do not fit.
    """
    if "own" not in arms:
        raise ValueError("the ladder has no own arm")
    item, batch = np.asarray(items, dtype=np.int64), np.asarray(batches, dtype=np.int64)
    shapes = {batch.shape, *(column.shape for arm in arms.values() for column in (arm.correct, arm.p))}
    if shapes != {item.shape}:
        raise ValueError("every arm has one row for each item and batch given")
    cell = item * (int(batch.max(initial=0)) + 1) + batch
    made = {
        name: [_contrast(arms[name], arms["own"], cluster, measure, draws, seed) for cluster in (item, cell)]
        for name in CONTRASTS
        if name in arms
    }
    family = [made[name][0].p if name in made else None for name in CONFIRMATORY]
    adjusted = dict(zip(CONFIRMATORY, holm([1.0 if p is None else p for p in family]), strict=True))
    return tuple(
        ArmContrast(
            against=name,
            confirmatory=name in CONFIRMATORY,
            by_item=by_item,
            by_batch=by_batch,
            adjusted_p=adjusted.get(name) if by_item.p is not None else None,
            excludes=_excluded(by_item.difference.ci),
        )
        for name, (by_item, by_batch) in made.items()
    )


def _contrast(
    other: ArmRows, own: ArmRows, cluster: Ints, measure: Callable[[Counts], Floats], draws: int, seed: int
) -> Contrast:
    paired = (other.correct >= 0) & (own.correct >= 0) & np.isfinite(other.p) & np.isfinite(own.p)
    names = cluster[paired].astype(np.str_).tolist()
    first, second = (
        tally_rows(np.where(arm.correct[paired] == 1, "correct", "incorrect").tolist(), arm.p[paired], item=names)
        for arm in (other, own)
    )
    return paired_contrast(first, second, lambda tally: measure(tally.answered), draws=draws, seed=seed)


def _excluded(ci: tuple[float, float] | None) -> Excluded | None:
    if ci is None:
        return None
    return Excluded(gain_above=max(ci[1], 0.0), loss_above=max(-ci[0], 0.0), zero=not ci[0] <= 0 <= ci[1])
