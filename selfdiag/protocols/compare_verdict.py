"""What a comparison of two runs comes to, in words: only what is left after the correction for several measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.resampling import ALPHA
from selfdiag.protocols.compare_items import Common, Flips
from selfdiag.protocols.compare_measures import Difference

NAMES = {
    "accuracy": "accuracy",
    "brier": "Brier score",
    "gap": "gap",
    "auroc": "AUROC",
    "discrimination": "discrimination",
    "trap_abstention": "trap rate",
    "youden": "Youden index (trap rate less non-answer rate)",
}
"""The headline measures as a sentence names them."""

_WORDS = {
    "brier": ("states a confidence that fits its answers better", "states a confidence that fits its answers less"),
    "accuracy": ("is right more often", "is right less often"),
    "auroc": (
        "tells its right answers from its wrong ones better",
        "tells its right answers from its wrong ones worse",
    ),
    "discrimination": (
        "separates its right answers from its wrong ones more",
        "separates its right answers from its wrong ones less",
    ),
    "trap_abstention": ("spots more traps", "spots fewer traps"),
    "youden": ("keeps silent in the right places more", "keeps silent in the right places less"),
}
_DIRECTIONS = {1: "better", -1: "worse", 0: "other"}
_ORDER = ("gap", "brier", "accuracy", "auroc", "discrimination", "trap_abstention", "youden")
_ALIKE = {"brier": "gap", "discrimination": "auroc", "youden": "trap_abstention"}
"""Measures of one side of the matter."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the second run is to the first.

    ``word`` is ``better``, ``worse``, ``mixed``, ``other`` (a difference that is neither), ``no difference`` (every
    item comes out alike), ``not shown`` or ``too few``; ``sentence`` says it with the figures.
    """

    word: str
    sentence: str


class _Claim(NamedTuple):
    """One difference in words; ``direction`` is 1 for better, -1 for worse and 0 for neither."""

    direction: int
    text: str


def verdict(
    letter: str,
    headline: Mapping[str, Difference],
    gap_size: Difference,
    *,
    same: bool,
    common: Common,
    probes: Flips,
) -> Verdict:
    """Return the verdict on the second of two runs.

    Args:
        letter: what the second run is called.
        headline: the declared family of differences.
        gap_size: the difference in the size of the gap, whichever its direction.
        same: every item comes out alike in both.
        common: the items compared.
        probes: which probes changed sides.
    """
    items = _items(common)
    if same:
        return Verdict(word="no difference", sentence=f"no difference: each of {items} comes out alike")
    tested = {name: found for name, found in headline.items() if found.holm is not None}
    if not tested:
        return Verdict(word="too few", sentence=f"{items} in common are too few to tell a difference")
    shown = {name: found for name, found in tested.items() if found.holm is not None and found.holm < ALPHA}
    claims = _claims(shown, gap_size)
    changed = _changed(probes)
    if claims:
        directions = {claim.direction for claim in claims if claim.direction}
        word = "mixed" if len(directions) > 1 else _DIRECTIONS[directions.pop() if directions else 0]
        said = [f"{letter if place == 0 else 'it'} {claim.text}" for place, claim in enumerate(claims)]
        return Verdict(word=word, sentence="; ".join([*said, *changed]))
    parts = [*_not_excluded(tested), *_alone(tested), *_not_tested(headline), *changed]
    return Verdict(word="not shown", sentence="; ".join([f"no difference that these {items} can show", *parts]))


def _claims(shown: Mapping[str, Difference], gap_size: Difference) -> list[_Claim]:
    """Return what is shown, each side of the matter once: a second measure of it only where it says otherwise."""
    made = {
        name: (_gap_claim(found, way) if name == "gap" else _claim(name, found, way))
        for name, found in shown.items()
        for way in [direction(name, found, gap_size)]
    }
    for name, alike in _ALIKE.items():
        if name in made and alike in made and made[name].direction == made[alike].direction:
            del made[name]
    return [made[name] for name in _ORDER if name in made]


def direction(name: str, found: Difference, gap_size: Difference) -> int:
    """Return whether a difference in a headline measure is for the better (1), for the worse (-1), or neither (0).

    A gap is better when it is smaller, and neither when it is as wide the other way.
    """
    if name == "gap":
        wider, ci = gap_size.difference.value or 0.0, gap_size.difference.ci
        if not wider or (ci is not None and ci[0] <= 0 <= ci[1]):
            return 0
        return 1 if wider < 0 else -1
    return 1 if ((found.difference.value or 0.0) > 0) is (name != "brier") else -1


def _claim(name: str, found: Difference, way: int) -> _Claim:
    better, worse = _WORDS[name]
    size = _size(NAMES[name], found.difference, ("larger", "smaller") if name == "brier" else ("higher", "lower"))
    return _Claim(way, f"{better if way > 0 else worse}: its {size}")


def _gap_claim(found: Difference, way: int) -> _Claim:
    """Return whether it is better calibrated, or, where its gap is as wide the other way, where it leans."""
    before, after, difference = found.first or 0.0, found.second or 0.0, found.difference
    if before * after >= 0:
        # both too high or both too low: a difference of that sign is one in size
        turned = difference if before + after > 0 else _negative(difference)
        size = _size(NAMES["gap"], turned, ("larger", "smaller"))
    else:
        size = f"gap is {_sign(after)} against {_sign(before)}, a difference of {_short(abs(difference.value or 0.0))}"
        size += _ends(difference)
    if way:
        return _Claim(way, f"is {'better' if way > 0 else 'worse'} calibrated: its {size}")
    more = "more" if (difference.value or 0.0) > 0 else "less"
    return _Claim(0, f"is {more} sure for what it gets right: its {size}")


def _negative(found: Estimate) -> Estimate:
    ci = None if found.ci is None else (-found.ci[1], -found.ci[0])
    return msgspec.structs.replace(found, value=-(found.value or 0.0), ci=ci)


def _size(name: str, found: Estimate, words: tuple[str, str]) -> str:
    """Return how much larger or smaller a measure is, with the interval turned the same way."""
    value = found.value or 0.0
    return f"{name} is {_short(abs(value))} {words[0] if value > 0 else words[1]}{_ends(found)}"


def _ends(found: Estimate) -> str:
    """Return the interval of the size of a difference."""
    if found.ci is None:
        # what can be tested and has no interval is a difference that no draw changes
        return " in every draw"
    low, high = found.ci if (found.value or 0.0) > 0 else (-found.ci[1], -found.ci[0])
    return f" [{_short(low)}, {_short(high)}]"


def _not_excluded(tested: Mapping[str, Difference]) -> list[str]:
    for name in ("gap", "accuracy", "trap_abstention"):
        ci = tested[name].difference.ci if name in tested else None
        if ci is not None:
            return [f"a {NAMES[name]} difference of less than {_short(max(-ci[0], ci[1]))} is not excluded"]
    return []


def _alone(tested: Mapping[str, Difference]) -> list[str]:
    names = [NAMES[name] for name, found in tested.items() if found.p is not None and found.p < ALPHA]
    if not names:
        return []
    differ = "differ" if len(names) > 1 else "differs"
    return [f"{_listed(names)} {differ} when tested alone, not after the correction for {len(tested)} measures"]


def _not_tested(headline: Mapping[str, Difference]) -> list[str]:
    names = [
        NAMES[name] for name, found in headline.items() if found.holm is None and found.difference.value is not None
    ]
    return [f"too few items to test {_listed(names)}"] if names else []


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _changed(probes: Flips) -> list[str]:
    gained, lost = len(probes.gained), len(probes.lost)
    if not gained + lost:
        return []
    there, number, back = ("wrong to right", gained, lost) if gained else ("right to wrong", lost, gained)
    return [f"{number} {'item' if number == 1 else 'items'} went from {there} and {back or 'none'} back"]


def _items(common: Common) -> str:
    numbers = (("probe", common.probes), ("trap", common.traps))
    return " and ".join(f"{number} {noun}{'' if number == 1 else 's'}" for noun, number in numbers if number)


def _short(value: float) -> str:
    text = f"{round(value, 2) + 0.0:.2f}"  # adding 0 takes the sign from a negative zero
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _sign(value: float | None) -> str:
    return "–" if value is None else f"{'-' if round(value, 2) < 0 else '+'}{_short(abs(value))}"
