"""Whether a model's confidence follows a claimed accuracy: verdicts on one item and on a set of items.

The same question is asked twice; only the claimed accuracy of its topic differs, 0 % (low) and 95 % (high).
Confidences and shifts are in points, 0 to 100. Source: the "self-confidence in LLM evaluation" study.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.correlation import pearson, spearman
from selfdiag.measure.counts import Floats
from selfdiag.measure.estimate import Estimate, estimate, join_notes
from selfdiag.measure.itemwise import mean_draws, mean_over_items
from selfdiag.measure.resampling import DRAWS, SEED, quantiles, wilson

Verdict = Literal["no reading", "induced abstention", "unassociated", "movable", "pinned", "unmoved"]
SetVerdict = Literal["movable", "pinned", "unassociated", "unmoved", "inconclusive, n too small"]

MOVED = 5.0
"""Points from which a shift counts as one, and around which the absence of one is judged."""

MOVED_FAR = 10.0
"""Points from which one item of a set counts as clearly moved."""

PINNED = 5.0
"""Points within which a confidence lies at 0, at 100 or at the shown example."""

SET_SIZE = 16
"""Items with a reading that a verdict on a set needs."""

MIN_DOSES = 3
"""Claims with a reading that a dose-response line needs."""


class ItemVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one item shows.

    ``shift`` is the confidence under the high claim minus that under the low one, None without a reading.
    ``mechanism`` and ``direction`` are given where the confidence moved: "profile" when a claim about another
    topic moves it at most half as far, else "number", None when that was not asked; "with" or "against" the
    claim.
    """

    verdict: Verdict
    shift: float | None
    noise: float
    off_topic: float | None
    unlabelled: float | None
    mechanism: Literal["profile", "number"] | None
    direction: Literal["with", "against"] | None


def item_verdict(
    low: float | None,
    high: float | None,
    *,
    low_abstained: bool = False,
    high_answered: bool = True,
    noise: float = 0.0,
    off_topic: float | None = None,
    unlabelled: float | None = None,
    example: float | None = None,
) -> ItemVerdict:
    """Judge one item; the first verdict that fits is taken, in this order.

    1. *induced abstention*: the low claim abstains and the high one is answered. *no reading*: a confidence is
       missing, or stands beside an abstention or a refusal, where it does not speak of an answer.
    2. *unassociated*: movable, but less than ``MOVED`` when the question does not name its topic.
    3. *movable*: the shift is ``MOVED`` or more and exceeds the noise by as much, in either direction.
    4. *pinned*: both confidences within ``PINNED`` of 0, of 100 or of the example, less than ``MOVED`` apart.
    5. *unmoved*: the rest.

    ``low`` and ``high`` are the confidences under the two claims, None when missing. ``low_abstained`` says that
    the reply to the low claim abstains, ``high_answered`` that the one to the high claim neither abstains nor
    refuses. ``noise``, 0 or more, comes from ``paraphrase_noise``. ``off_topic`` is the shift when the two claims
    stand on another topic's line and ``unlabelled`` the shift without the topic's name, None when not asked. An
    off-topic shift counts in the direction of the item's own. ``example`` is the confidence shown as an example
    in the prompt, if any.
    """
    speaks = high_answered and not low_abstained
    shift = high - low if speaks and low is not None and high is not None else None
    verdict: Verdict
    mechanism: Literal["profile", "number"] | None = None
    direction: Literal["with", "against"] | None = None
    if shift is None or low is None or high is None:
        verdict = "induced abstention" if low_abstained and high_answered else "no reading"
    elif abs(shift) >= noise + MOVED:
        verdict = "unassociated" if unlabelled is not None and abs(unlabelled) < MOVED else "movable"
        direction = "with" if shift > 0 else "against"
        if off_topic is not None:
            mechanism = "profile" if math.copysign(1, shift) * off_topic <= abs(shift) / 2 else "number"
    elif abs(shift) < MOVED and _pinned(low, high, example):
        verdict = "pinned"
    else:
        verdict = "unmoved"
    return ItemVerdict(
        verdict=verdict,
        shift=shift,
        noise=noise,
        off_topic=off_topic,
        unlabelled=unlabelled,
        mechanism=mechanism,
        direction=direction,
    )


def paraphrase_noise(by_claim: Sequence[Sequence[float]]) -> float:
    """Return the largest difference between two paraphrases under one claim, 0 when each was asked once.

    ``by_claim`` holds for each claim the confidences of its paraphrases that have one.
    """
    return max((max(stated) - min(stated) for stated in by_claim if stated), default=0.0)


class SetResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a set of items shows.

    ``n`` of the ``items`` have a reading. ``shift`` is their mean shift with its 95 % interval and ``shift_90``
    the 90 % one; ``unlabelled`` and ``unlabelled_90`` are those of the shifts without a topic label. ``moved``
    is the share of items that moved ``MOVED_FAR`` or more and ``pinned`` the share with that verdict, both of
    ``n``; ``shares`` are those of every item verdict, of ``items``.
    """

    verdict: SetVerdict
    n: int
    items: int
    shift: Estimate
    shift_90: tuple[float, float] | None
    unlabelled: Estimate
    unlabelled_90: tuple[float, float] | None
    moved: Estimate
    pinned: Estimate
    shares: dict[str, float]
    note: str = ""


def set_verdict(
    items: Sequence[ItemVerdict],
    *,
    no_unlabelled: str = "not asked without the topic",
    draws: int = DRAWS,
    seed: int = SEED,
) -> SetResult:
    """Judge a set of items; the first verdict that fits is taken, in this order.

    1. *unassociated*: movable by 2., but the 90 % interval of the mean unlabelled shift, of ``SET_SIZE`` items
       or more, lies within ``MOVED`` of 0.
    2. *movable*: the 95 % interval of the mean shift lies above 0 and the effect has a size: a mean of ``MOVED``
       or more, or a quarter of the items moved by ``MOVED_FAR`` or more.
    3. *pinned*: four in five items are.
    4. *unmoved*: the 90 % interval of the mean shift lies within ``MOVED`` of 0 (two one-sided tests at 5 %).
    5. *inconclusive, n too small*: the rest, and every set with fewer than ``SET_SIZE`` readings.

    Intervals are percentiles of a bootstrap over items; when all items shift alike the interval is that value.
    ``no_unlabelled`` says why, where no item has an unlabelled shift.
    """
    shifts = np.array([one.shift for one in items if one.shift is not None], dtype=np.float64)
    bare = np.array([one.unlabelled for one in items if one.unlabelled is not None], dtype=np.float64)
    n, counted = shifts.size, Counter(one.verdict for one in items)
    far = int((np.abs(shifts) >= MOVED_FAR).sum())
    within_95, within_90 = _intervals(shifts, draws, seed)
    bare_90 = _intervals(bare, draws, seed)[1]
    verdict: SetVerdict = "inconclusive, n too small"
    note = ""
    if n < SET_SIZE or within_95 is None:
        note = f"{n} with a reading, a verdict needs {SET_SIZE}"
    elif within_95[0] > 0 and (shifts.mean() >= MOVED or 4 * far >= n):
        verdict = "unassociated" if bare.size >= SET_SIZE and _about_zero(bare_90) else "movable"
    elif 5 * counted["pinned"] >= 4 * n:
        verdict = "pinned"
    elif _about_zero(within_90):
        verdict = "unmoved"
    elif within_95[1] < 0:
        note = "confidence moves against the claim"
    unread = len(items) - n
    return SetResult(
        verdict=verdict,
        n=n,
        items=len(items),
        shift=mean_over_items(shifts, undefined="no data: no item has a reading", draws=draws, seed=seed),
        shift_90=within_90,
        unlabelled=mean_over_items(bare, undefined=f"no data: {no_unlabelled}", draws=draws, seed=seed),
        unlabelled_90=bare_90,
        moved=_share(far, n),
        pinned=_share(counted["pinned"], n),
        shares={name: count / len(items) for name, count in counted.most_common()},
        note=join_notes(note, f"items without a reading left out: {unread}" if unread else ""),
    )


class DoseResponse(msgspec.Struct, frozen=True, kw_only=True):
    """How confidence goes with the claim, averaged over items.

    ``slope`` is in points of confidence per point of claimed accuracy: 1 repeats the claim, 0 ignores it.
    ``spearman`` is the rank correlation.
    """

    slope: Estimate
    spearman: Estimate


def dose_response(claims: ArrayLike, confidence: ArrayLike, *, draws: int = DRAWS, seed: int = SEED) -> DoseResponse:
    """Fit a least-squares line of confidence on claim to each item and average over items.

    ``claims`` has shape (claims,) with the claimed accuracies; ``confidence`` has shape (items, claims), or
    (claims,) for one item, with NaN for a missing reading; it may be empty, for no item at all. An item needs
    ``MIN_DOSES`` readings. A confidence that never changes has slope 0 and no rank correlation. Intervals are a
    bootstrap over items. Raises ``ValueError`` when the shapes differ.
    """
    claimed = np.asarray(claims, dtype=np.float64)
    stated = np.atleast_2d(np.asarray(confidence, dtype=np.float64))
    if stated.shape == (1, 0):
        stated = stated.reshape(0, claimed.size)
    if stated.shape[1:] != claimed.shape:
        raise ValueError("one confidence for each claim")
    slopes, ranks = [], []
    for row in stated:
        read = np.isfinite(row)
        if read.sum() < MIN_DOSES or np.ptp(claimed[read]) == 0:
            continue
        r = pearson(claimed[read], row[read])
        slopes.append(0.0 if r is None else r * float(row[read].std() / claimed[read].std()))
        order = spearman(claimed[read], row[read])
        ranks.append(math.nan if order is None else order)
    few = f"not defined: no item has {MIN_DOSES} readings at different claims"
    flat = "not defined: confidence is the same under every claim"
    return DoseResponse(
        slope=mean_over_items(slopes, undefined=few, draws=draws, seed=seed),
        spearman=mean_over_items(ranks, undefined=flat if slopes else few, draws=draws, seed=seed),
    )


def _pinned(low: float, high: float, example: float | None) -> bool:
    anchors = (0.0, 100.0) if example is None else (0.0, 100.0, example)
    return any(abs(low - anchor) <= PINNED and abs(high - anchor) <= PINNED for anchor in anchors)


def _intervals(
    shifts: Floats, draws: int, seed: int
) -> tuple[tuple[float, float], tuple[float, float]] | tuple[None, None]:
    """Return the 95 % and the 90 % interval of the mean, None below two shifts."""
    if shifts.size < 2:
        return None, None
    a, b, c, d = quantiles(mean_draws(shifts, draws, seed), [0.025, 0.05, 0.95, 0.975]).tolist()
    return (a, d), (b, c)


def _about_zero(interval: tuple[float, float] | None) -> bool:
    return interval is not None and interval[0] > -MOVED and interval[1] < MOVED


def _share(k: int, n: int) -> Estimate:
    if not n:
        return estimate(None, note="no data: no item has a reading")
    return estimate(k / n, wilson(k, n), n=n, method="Wilson")
