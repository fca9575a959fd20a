"""selfdiag's own composite and tier: a proxy made of four parts, not an endpoint.

All weights and cut-offs stand in ``TierRules``; ``RULES`` are the ones in force. ``parts``, ``composite`` and
``tier_letters`` work on every leading axis of a tally.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from selfdiag.measure.abstention import trap_abstention, usable_share, youden
from selfdiag.measure.calibration import brier, gap
from selfdiag.measure.counts import Bools, Floats, mean_confidence
from selfdiag.measure.discrimination import auroc, discrimination
from selfdiag.measure.selective import at_or_above
from selfdiag.measure.tally import Tally

ORDER = "ABCDEX-"
"""Tier letters from best to worst, then the one for insufficient evidence."""


class TierRules(msgspec.Struct, frozen=True, kw_only=True):
    """Weights and cut-offs of the composite and the tiers.

    A ``_zero`` value is where a part has fallen to 0 and a ``_full`` value where it has risen to 1. ``cuts``
    are the least composites of A, B, C and D; the ``blind`` values bound tier X.
    """

    weights: Mapping[str, float] = msgspec.field(
        default_factory=lambda: dict.fromkeys(("brier", "gap", "discrimination", "traps"), 1.0)
    )
    brier_zero: float = 0.50
    gap_zero: float = 0.50
    discrimination_full: float = 0.30
    trap_full: float = 1.0
    cuts: Mapping[str, float] = msgspec.field(default_factory=lambda: {"A": 75.0, "B": 60.0, "C": 45.0, "D": 30.0})
    a_gap: float = 0.10
    min_answered: int = 20
    min_usable: float = 0.50
    provisional_usable: float = 0.80
    blind_gap: float = 0.30
    blind_trap: float = 0.25
    blind_auroc: float = 0.60
    blind_discrimination: float = 0.05
    min_class: int = 5
    direction_gap: float = 0.10
    uninformative_auroc: float = 0.60
    range_below: float = 0.70
    names: Mapping[str, str] = msgspec.field(
        default_factory=lambda: {
            "A": "well calibrated",
            "B": "mostly calibrated",
            "C": "uneven",
            "D": "weak",
            "E": "poorly calibrated",
            "X": "confidently blind",
            "-": "insufficient evidence",
        }
    )


RULES = TierRules()


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """A tier with how sure it is.

    ``direction`` is overconfident, underconfident, uninformative or empty. ``range`` is the letter, or two
    such as "B-C" when the likeliest letter is not likely enough. ``probabilities`` are shares of bootstrap
    draws by letter, the likeliest first. ``advice`` is one plain sentence.
    """

    letter: str
    name: str
    direction: str
    range: str
    provisional: bool
    probabilities: dict[str, float]
    advice: str


def brier_part(tally: Tally, rules: TierRules = RULES) -> Floats:
    """Return 1 at a Brier score of 0, falling to 0 at ``rules.brier_zero``."""
    return np.clip(1 - brier(tally.answered) / rules.brier_zero, 0.0, 1.0)


def gap_part(tally: Tally, rules: TierRules = RULES) -> Floats:
    """Return 1 at a gap of 0, falling to 0 at ``rules.gap_zero`` in either direction."""
    return np.clip(1 - np.abs(gap(tally.answered)) / rules.gap_zero, 0.0, 1.0)


def discrimination_part(tally: Tally, rules: TierRules = RULES) -> Floats:
    """Return 0 at no discrimination or no right answer, rising to 1 at ``rules.discrimination_full``.

    NaN without a wrong answer.
    """
    share = np.clip(_discrimination(tally) / rules.discrimination_full, 0.0, 1.0)
    return np.where(tally.answered.misses > 0, share, np.nan)


def trap_part(tally: Tally, rules: TierRules = RULES) -> Floats:
    """Return 0 when traps and probes are abstained from alike, rising to 1 at ``rules.trap_full``.

    Trap abstention minus non-answer rate on probes; NaN without usable traps.
    """
    return np.clip(youden(tally) / rules.trap_full, 0.0, 1.0)


class Part(Protocol):
    """A part of the composite: a share in [0, 1] of the tally's leading shape."""

    def __call__(self, tally: Tally, rules: TierRules = ...) -> Floats:
        """Return the part of every data set."""
        ...


PARTS: Mapping[str, Part] = {
    "brier": brier_part,
    "gap": gap_part,
    "discrimination": discrimination_part,
    "traps": trap_part,
}
"""The four parts of the composite, each in [0, 1], in the order in which they are shown."""


def parts(tally: Tally, rules: TierRules = RULES) -> dict[str, Floats]:
    """Return the parts of the composite by name, each of the tally's leading shape, NaN where undefined."""
    return {name: part(tally, rules) for name, part in PARTS.items()}


def composite(tally: Tally, rules: TierRules = RULES) -> Floats:
    """Return 100 times the weighted mean of the parts, in [0, 100], of the tally's leading shape.

    Without usable traps it is the mean of the other three.
    """
    total, weight = np.zeros(()), np.zeros(())
    for name, share in parts(tally, rules).items():
        missing = np.isnan(share) if name == "traps" else False
        total = total + np.where(missing, 0.0, rules.weights[name] * share)
        weight = weight + np.where(missing, 0.0, rules.weights[name])
    return np.asarray(100 * total / weight)


def tier_letters(tally: Tally, rules: TierRules = RULES) -> NDArray[np.str_]:
    """Return the tier letter of every data set on the tally's leading axes."""
    counts = tally.answered
    score, off = _round(composite(tally, rules)), _round(gap(counts))
    no_traps = tally.trap_usable == 0
    scale = np.full(np.shape(score), "E")
    for letter in "DCBA":
        scale = np.where(score >= rules.cuts[letter], letter, scale)
    scale = np.where((scale == "A") & ((np.abs(off) > rules.a_gap) | no_traps), "B", scale)
    fooled = no_traps | (_round(trap_abstention(tally)) <= rules.blind_trap)
    blind = (off >= rules.blind_gap) & fooled & _tells_nothing(tally, rules)
    return np.asarray(np.where(_insufficient(tally, rules), "-", np.where(blind, "X", scale)), dtype=np.str_)


def tier(tally: Tally, drawn: NDArray[np.str_], rules: TierRules = RULES) -> Tier:
    """Return the tier of one run with its bootstrap probabilities.

    ``tally`` has no leading axis, ``drawn`` of shape (draws,) holds the ``tier_letters`` of the same run
    resampled. Draws without sufficient evidence keep their share, under the letter "-".
    """
    letter = str(tier_letters(tally, rules))
    letters, times = np.unique(drawn, return_counts=True)
    shares = dict(zip(letters.tolist(), (times / times.sum()).tolist(), strict=True)) if times.size else {}
    probabilities = dict(sorted(shares.items(), key=lambda pair: (-pair[1], ORDER.index(pair[0]))))
    if letter == "-":
        # The evidence is what it is: no draw can make it sufficient.
        probabilities = {"-": 1.0}
    usable = float(usable_share(tally))
    return Tier(
        letter=letter,
        name=rules.names[letter],
        direction="" if letter == "-" else _direction(tally, rules),
        range=_range(letter, probabilities, rules),
        provisional=usable < rules.provisional_usable,
        probabilities=probabilities,
        advice=_advice(letter, tally, rules),
    )


def probability_at_least(tier: Tier, letter: str) -> float:
    """Return the bootstrap probability that the tier is ``letter`` or better; "-" never is."""
    enough = ORDER[: ORDER.index(letter) + 1].replace("-", "")
    return sum(share for name, share in tier.probabilities.items() if name in enough)


def _insufficient(tally: Tally, rules: TierRules) -> Bools:
    counts = tally.answered
    few = counts.n < rules.min_answered
    lost = ~(_round(usable_share(tally)) >= rules.min_usable)
    return np.asarray(few | (counts.misses == 0) | lost)


def _tells_nothing(tally: Tally, rules: TierRules) -> Bools:
    counts = tally.answered
    few = (counts.hits < rules.min_class) | (counts.misses < rules.min_class)
    weak = _round(_discrimination(tally)) <= rules.blind_discrimination
    return np.where(few, weak, _round(auroc(counts)) <= rules.blind_auroc)


def _discrimination(tally: Tally) -> Floats:
    return np.nan_to_num(discrimination(tally.answered), nan=0.0)


def _round(values: Floats) -> Floats:
    # A value that equals a cut-off on paper must not miss it by a binary rounding error.
    return np.round(values, 9)


def _direction(tally: Tally, rules: TierRules) -> str:
    off = float(_round(gap(tally.answered)))
    if off >= rules.direction_gap:
        return "overconfident"
    if off <= -rules.direction_gap:
        return "underconfident"
    return "uninformative" if float(_round(auroc(tally.answered))) < rules.uninformative_auroc else ""


def _range(letter: str, probabilities: Mapping[str, float], rules: TierRules) -> str:
    """Return the letter, or the span of the likeliest letters that together reach the required share."""
    if letter == "-" or not probabilities:
        return letter
    covered, share = {letter}, 0.0
    for name, probability in probabilities.items():
        covered.add(name)
        share += probability
        if share >= rules.range_below:
            break
    graded = sorted(covered - {"-"}, key=ORDER.index)
    span = graded[0] if len(graded) == 1 else f"{graded[0]}-{graded[-1]}"
    return f"{span} or -" if "-" in covered else span


def _advice(letter: str, tally: Tally, rules: TierRules) -> str:
    if letter == "-":
        return _why_insufficient(tally, rules)
    counts = tally.answered
    stated = f"it states {100 * float(mean_confidence(counts)):.0f} on average"
    averages = f"{stated} and {_share(int(counts.hits), int(counts.n), 'answers', 'right')}"
    sure = at_or_above(counts, 0.8)
    kept, wrong = int(sure.n), int(sure.misses)
    evidence = _share(wrong, kept, "answers at 80 or more", "wrong") if kept else averages
    direction = _direction(tally, rules)
    if letter in "EX":
        return f"Do not act on its stated confidence: {evidence}."
    if direction == "uninformative":
        return f"Do not use its stated confidence to tell right answers from wrong ones: {evidence}."
    if direction == "overconfident":
        return f"Take its stated confidence as too high: {averages}."
    if direction == "underconfident":
        return f"Take its stated confidence as too low: {averages}."
    if letter == "A":
        return f"Its stated confidence can be used: {evidence}."
    if letter == "B":
        return f"Its stated confidence can be used with care: {evidence}."
    return f"Do not rely on its stated confidence alone: {evidence}."


def _share(part: int, whole: int, what: str, state: str) -> str:
    return f"{part} of {whole} {what} {'is' if part == 1 else 'are'} {state}"


def _why_insufficient(tally: Tally, rules: TierRules) -> str:
    counts = tally.answered
    n = int(counts.n)
    usable, asked = int(tally.usable), int(tally.asked)
    if not asked:
        return "Not enough to judge: no probe got a reply."
    if float(_round(usable_share(tally))) < rules.min_usable:
        return f"Not enough to judge: only {usable} of {asked} replies can be used."
    if n < rules.min_answered:
        needed = f"{rules.min_answered} are needed"
        return f"Not enough to judge: {_share(n, asked, 'probes', 'answered with a confidence')}, {needed}."
    return f"Too easy, nothing to measure: all {n} answers are right; ask harder questions."
