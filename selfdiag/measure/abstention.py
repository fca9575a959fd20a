"""Knowing when not to answer: abstaining on traps, and not abstaining on probes.

Functions of ``Tally`` return an array of its leading shape, NaN where undefined.
"""

from __future__ import annotations

import msgspec

from selfdiag.measure.counts import Floats, mean_confidence, ratio
from selfdiag.measure.tally import Tally


def trap_abstention(tally: Tally) -> Floats:
    """Return the share of traps abstained from, among abstained, answered and refused, in [0, 1]."""
    return ratio(tally.trap_abstained, tally.trap_usable)


def trap_abstention_token_only(tally: Tally) -> Floats:
    """Return ``trap_abstention`` counting only abstentions that used the agreed token, in [0, 1]."""
    return ratio(tally.trap_abstained - tally.trap_abstained_free_text, tally.trap_usable)


def non_answer(tally: Tally) -> Floats:
    """Return the share of probes that were abstained from or refused, among the usable ones, in [0, 1]."""
    return ratio(tally.abstained + tally.refused, tally.usable)


def youden(tally: Tally) -> Floats:
    """Return trap abstention minus non-answer rate on probes, in [-1, 1] (Youden 1950)."""
    return trap_abstention(tally) - non_answer(tally)


def abstention_precision(tally: Tally) -> Floats:
    """Return the share of traps among everything abstained from, in [0, 1]; it depends on the mix asked."""
    return ratio(tally.trap_abstained, tally.trap_abstained + tally.abstained)


def abstention_f1(tally: Tally) -> Floats:
    """Return the harmonic mean of ``abstention_precision`` and ``trap_abstention``, in [0, 1].

    Traps are the positives and abstaining is the detection; undefined without a usable trap.
    """
    positives, flagged = tally.trap_usable, tally.trap_abstained + tally.abstained
    f1 = ratio(2 * tally.trap_abstained, positives + flagged)
    return ratio(f1 * positives, positives)


def simpleqa_f(tally: Tally) -> Floats:
    """Return 2C / (N + C + I) over usable probes, in [0, 1].

    The harmonic mean of the share right among all N and among those attempted (Wei et al. 2024).
    """
    return ratio(2 * tally.right, tally.usable + tally.graded)


def omniscience(tally: Tally) -> Floats:
    """Return 100 (C - I) / N over usable probes, in [-100, 100]: wrong answers cost what right ones earn."""
    return ratio(100 * (tally.right - tally.wrong), tally.usable)


def missed_trap_confidence(tally: Tally) -> Floats:
    """Return the mean confidence, 0-100, of traps that were answered: confident fabrication."""
    return 100 * mean_confidence(tally.trap_missed)


def usable_share(tally: Tally) -> Floats:
    """Return the share of probe replies that are graded, abstained or refused, in [0, 1]; errors left out."""
    return ratio(tally.usable, tally.asked)


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Worst and best case over the replies that could not be used; None without data."""

    accuracy: tuple[float, float] | None
    gap: tuple[float, float] | None


def bounds(tally: Tally) -> Bounds:
    """Return the lowest and highest accuracy and gap that the unusable replies of one run leave possible.

    An unusable reply could have been right or wrong at any confidence. A graded answer without a confidence
    keeps its grade and could have stated any confidence.
    """
    asked = int(tally.graded + tally.unusable)
    if asked == 0:
        return Bounds(accuracy=None, gap=None)
    right, lost = int(tally.right), int(tally.unusable)
    stated = float(tally.answered.total @ tally.answered.levels) - int(tally.answered.hits)
    return Bounds(
        accuracy=(right / asked, (right + lost) / asked),
        gap=(
            (stated - lost - int(tally.right_unstated)) / asked,
            (stated + lost + int(tally.wrong_unstated)) / asked,
        ),
    )
