"""What a person asks of an assessment: weights of the criteria, and values that a model must reach."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from selfdiag.measure.msi import CRITERIA, WEIGHTS, criteria_needed
from selfdiag.safety import SelfdiagError, nearest, one_line

if TYPE_CHECKING:  # which reads the weights of a run
    from selfdiag.protocols.assess import Assessment

DELTA = "delta"
"""The only requirement that a value must not exceed."""

_MSI_MAX = math.sqrt(len(CRITERIA))
_ROUNDING = 1e-9

LARGEST: Mapping[str, float] = {
    **dict.fromkeys(CRITERIA, 1.0),
    "msi": _MSI_MAX,
    "msi_per_root_n": 1.0,
    "weighted": 1.0,
    DELTA: 1.0,
    "index_a": 1.0,
}
"""What can be required, and the largest value that each can have."""


def parse_weights(text: str) -> tuple[str, dict[str, float]]:
    """Return the name of a use and the weights of x1 to x5, which sum to 1.

    Args:
        text: ``research``, ``programming``, ``general``, or weights such as ``x1=.3,x2=.7``; a criterion that is not
            named weighs nothing.

    Raises:
        SelfdiagError: for another name, a criterion that does not exist, or weights that are no weights.
    """
    name = text.strip()
    if name in WEIGHTS:
        return name, dict(zip(CRITERIA, WEIGHTS[name], strict=True))
    if "=" not in name:
        listed = ", ".join(WEIGHTS)
        raise SelfdiagError(
            f"--weights {one_line(name, 40)!r}: it is {listed}, or weights such as x1=.3,x2=.7."
            f"{nearest(name, list(WEIGHTS))}"
        )
    given = _pairs("--weights", name, dict.fromkeys(CRITERIA, math.inf))
    total = math.fsum(given.values())
    if not 0 < total < math.inf:
        raise SelfdiagError("--weights: at least one weight is above 0, and their sum is finite")
    return "own", {criterion: given.get(criterion, 0.0) / total for criterion in CRITERIA}


def parse_requirements(text: str) -> dict[str, float]:
    """Return what is required by name, from a text such as ``x4=.6,msi=.8``.

    Raises:
        SelfdiagError: when a name does not exist or stands twice, or a value is no number in its range.
    """
    return _pairs("--require", text, LARGEST)


def _pairs(option: str, text: str, largest: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, number = (word.strip() for word in part.partition("="))
        if not equals or not re.fullmatch(r"\d{0,9}\.?\d{1,9}|\d{1,9}\.", number):
            raise SelfdiagError(f"{option} {one_line(part, 40)!r}: write NAME=NUMBER, for example x4=.6")
        if name not in largest:
            raise SelfdiagError(
                f"{option}: there is no {one_line(name, 40)!r}, but {', '.join(largest)}.{nearest(name, list(largest))}"
            )
        if name in found:
            raise SelfdiagError(f"{option} names {name} twice")
        if float(number) > largest[name] + _ROUNDING:
            raise SelfdiagError(f"{option} {name}={number}: it is at most {largest[name]:.3g}")
        found[name] = float(number)
    if not found:
        raise SelfdiagError(f"{option} is empty: write for example x4=.6")
    return found


def unmet(assessment: Assessment, required: Mapping[str, float]) -> list[str]:
    """Return a sentence for each requirement that an assessment misses; a missing value misses it.

    ``required`` is as ``parse_requirements`` returns it: the least value of each name, and the largest of ``delta``.
    """
    missed = []
    for name, bound in required.items():
        value, note = _VALUES.get(name, _of_criterion(name))(assessment)
        at_most = name == DELTA
        wanted = f"{'at most' if at_most else 'at least'} {bound:.3g}"
        if value is None:
            missed.append(f"{name} is missing ({one_line(note or 'not asked', 200)}), and {wanted} is required")
        elif value - bound > _ROUNDING if at_most else bound - value > _ROUNDING:
            missed.append(f"{name} is {value:.3f}, and {wanted} is required")
    return missed


Valued = tuple[float | None, str]


def _of_criterion(name: str) -> Callable[[Assessment], Valued]:
    def value(assessment: Assessment) -> Valued:
        found = assessment.external[name]
        return found.value, found.note

    return value


def _index_a(assessment: Assessment) -> Valued:
    """Return index A, None where a statement has no reply or none has two, which is one pass alone."""
    found = assessment.questionnaire
    if found is None:
        return None, ""
    silent = sum(statement.n == 0 for statement in found.statements)
    if silent:
        return None, f"{silent} of {len(found.statements)} statements have no reply"
    if all(statement.n == 1 for statement in found.statements):
        return None, "each statement has one reply alone"
    return found.index_a.value, found.index_a.note


def _delta(assessment: Assessment) -> Valued:
    """Return the distance, None where it says nothing of self-knowledge."""
    found, ratings = assessment.delta, assessment.ratings
    no_claims = ratings is not None and ratings.follow_scale
    if no_claims or found.n < criteria_needed(len(CRITERIA)) or found.ci is None:
        return None, found.note
    return found.value, found.note


_VALUES: Mapping[str, Callable[[Assessment], Valued]] = {
    "msi": lambda found: (found.msi.msi, found.msi.note),
    "msi_per_root_n": lambda found: (found.msi.msi_per_root_n, found.msi.note),
    "weighted": lambda found: (found.weighted.value, found.weighted.note),
    DELTA: _delta,
    "index_a": _index_a,
}
