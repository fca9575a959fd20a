"""What acting on a stated confidence is worth, and whether a choice between two answers follows their order."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from selfdiag.measure.counts import Floats, ratio
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.graded import why_undefined
from selfdiag.measure.resampling import newcombe, wilson
from selfdiag.measure.sample import Sample
from selfdiag.measure.selective import at_or_above, high_confidence_error
from selfdiag.measure.tally import Tally

THRESHOLDS = (0.8, 0.9, 0.95)
"""Confidences from which to act, unless asked otherwise."""

PENALTIES = (0.5, 1.0, 2.0, 5.0)
"""What acting on a wrong answer costs, in units of what a right one gains, unless asked otherwise."""


class Utility(msgspec.Struct, frozen=True, kw_only=True):
    """P(act, right) - ``penalty`` P(act, wrong): from -``penalty`` to 1, 0 when nothing is acted on."""

    penalty: float
    utility: Estimate


class ActOrDefer(msgspec.Struct, frozen=True, kw_only=True):
    """What acting on answers stated at ``threshold`` or more, and deferring the rest, would do.

    ``coverage`` is the share of answers acted on, ``error`` the share of these that are wrong.
    """

    threshold: float
    coverage: Estimate
    error: Estimate
    utility: tuple[Utility, ...]


def act_or_defer(
    sample: Sample, thresholds: Sequence[float] = THRESHOLDS, penalties: Sequence[float] = PENALTIES
) -> tuple[ActOrDefer, ...]:
    """Return coverage, error and utility at each threshold, over the graded answers with a confidence.

    ``thresholds`` are fractions in [0, 1], ``penalties`` 0 or more. Shares have Wilson's interval with one row
    per item and the bootstrap's otherwise, utilities always the bootstrap's. The utility is that of the
    category-constrained diagnostics study. Raises ``ValueError`` for values out of range.
    """
    if not all(0 <= threshold <= 1 for threshold in thresholds):
        raise ValueError("a confidence from which to act lies between 0 and 1")
    if not all(0 <= penalty < np.inf for penalty in penalties):
        raise ValueError("a penalty is 0 or more")
    return tuple(_at(sample, threshold, penalties) for threshold in thresholds)


class OrderEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the order in which two answers are shown decides which one is picked.

    ``first_shown`` is the share of picks of the answer shown first, .5 without position bias when the orders
    are balanced. ``accuracy`` is the share of right picks in either order, ``difference`` the first minus the
    second.
    """

    first_shown: Estimate
    accuracy: tuple[Estimate, Estimate]
    difference: Estimate


def order_effect(*, picked_first: int, picks: int, hits: tuple[int, int], n: tuple[int, int]) -> OrderEffect:
    """Return position bias and order effect from counts.

    ``picked_first`` of ``picks`` selections took the answer shown first, whatever the pair; ``hits[i]`` of
    ``n[i]`` selections in order i were right, over pairs of which exactly one answer is right. Intervals are
    Wilson's and, for the difference, Newcombe's; they take selections as independent, so count one for each
    item. Raises ``ValueError`` when a part exceeds its whole or a count is negative.
    """
    if not all(0 <= part <= whole for part, whole in zip((picked_first, *hits), (picks, *n), strict=True)):
        raise ValueError("selections are counted from 0, and no part exceeds its whole")
    none = "no data: no selections in this order"
    accuracy = (_share(hits[0], n[0], none), _share(hits[1], n[1], none))
    first, second = accuracy[0].value, accuracy[1].value
    if first is None or second is None:
        difference = estimate(None, n=sum(n), note="not defined: it needs selections in both orders")
    else:
        ci = newcombe(hits[0], n[0], hits[1], n[1])
        difference = estimate(first - second, ci, n=sum(n), method="Newcombe")
    return OrderEffect(
        first_shown=_share(picked_first, picks, "no data: no selections"), accuracy=accuracy, difference=difference
    )


def _at(sample: Sample, threshold: float, penalties: Sequence[float]) -> ActOrDefer:
    answered = sample.point.answered
    n, sure = int(answered.n), at_or_above(answered, threshold)
    kept, wrong = int(sure.n), int(sure.misses)
    undefined = why_undefined(answered)

    def coverage(tally: Tally) -> Floats:
        return ratio(at_or_above(tally.answered, threshold).n, tally.answered.n)

    def error(tally: Tally) -> Floats:
        return high_confidence_error(tally.answered, threshold)

    def utility(penalty: float) -> Estimate:
        def measure(tally: Tally) -> Floats:
            acted = at_or_above(tally.answered, threshold)
            return ratio(acted.hits - penalty * acted.misses, tally.answered.n)

        return sample.bootstrap(measure, n, undefined=undefined)

    return ActOrDefer(
        threshold=threshold,
        coverage=sample.proportion(coverage, n, undefined=undefined, note=f"acts on {kept} of {n}"),
        error=sample.proportion(
            error,
            kept,
            undefined=f"not defined: no answer states {100 * threshold:g} or more" if n else undefined,
            note=f"{wrong} of {kept} wrong",
        ),
        utility=tuple(Utility(penalty=penalty, utility=utility(penalty)) for penalty in penalties),
    )


def _share(k: int, n: int, undefined: str) -> Estimate:
    if n == 0:
        return estimate(None, note=undefined)
    return estimate(k / n, wilson(k, n), n=n, method="Wilson")
