"""What each persona is like: how it answers, what it can do, and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from selfdiag.battery.self_assessment import CRITERIA, CriterionName

Form = Literal["plain", "malformed", "hostile", "prose", "german"]
Opinion = Literal["Yes", "Partially", "No"]


class Abilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a persona does in the graded tasks of a self-assessment.

    ``knows_until`` is the last year and month from which it knows what happened. ``formal`` is the share right of
    formal elements, ``sources`` that of tasks about sources, ``terms`` that of terms; each from 0 to 1. What it does
    about hallucination follows from its probes and traps.
    """

    knows_until: tuple[int, int]
    formal: float
    sources: float
    terms: float


class SelfImage(msgspec.Struct, frozen=True, kw_only=True):
    """What a persona says of itself.

    ``claims`` are the reliabilities it claims by criterion, from 0 to 1; a rating lies so many hundredths from the
    claim as one of ``spread`` says, and an affirming wording raises it by one of ``lift``. ``heeds_reversal`` is
    whether it says 1 - value where a high number speaks against it. ``insight`` are its replies to the statements
    of MAI and SRIS, ``absolutes`` those to the ones of SDQ, each as likely as it stands there often.
    """

    claims: dict[CriterionName, float]
    spread: tuple[int, ...] = (-7, -5, -2, 2, 5, 7)
    lift: tuple[int, ...] = (0,)
    heeds_reversal: bool = True
    insight: tuple[Opinion, ...] = ("Partially",)
    absolutes: tuple[Opinion, ...] = ("No",)


class Character(msgspec.Struct, frozen=True, kw_only=True):
    """What a persona is like.

    ``levels`` are the confidences it states on probes, cycled evenly over the items; ``chance`` gives the
    share right at a level; ``trap_rate`` and ``abstains`` are the shares of traps and of probes it declines
    to answer; ``refuses`` the share of probes it refuses. With ``by_topic`` the share right depends on the topic
    instead, evenly from the first to the second number, and no level says anything of it.

    ``follows_claims`` makes it state the accuracy that the prompt claims for a question's topic, with ``needs_label``
    only where the prompt names that topic; ``copies`` makes it state the first percentage of the system text, or this
    number where there is none. ``withholds`` is the share of the tasks and the self-reports of a self-assessment
    that it declines, in the way it declines probes. Of two answers shown to it, it takes the one that it believes in,
    with ``picks_first`` the one shown first. ``form`` is how its replies are written, ``delay`` the seconds that each
    of them takes.
    """

    levels: tuple[int, ...]
    chance: Callable[[int], float]
    trap_rate: float
    trap_levels: tuple[int, ...] = (50,)
    abstains: float = 0.0
    refuses: float = 0.0
    by_topic: tuple[float, float] | None = None
    follows_claims: bool = False
    needs_label: bool = False
    copies: int | None = None
    abilities: Abilities
    image: SelfImage
    withholds: float = 0.0
    picks_first: bool = False
    form: Form = "plain"
    delay: float = 0.0


def _beta_levels() -> tuple[int, ...]:
    """Return 20 quantiles, in fives from 10 to 100, of a Beta with mean .60 and SD .25."""
    return (10, 20, 25, 30, 35, 40, 45, 50, 55, 60, 60, 65, 70, 75, 80, 85, 85, 90, 95, 100)


def _throughout(value: float) -> dict[CriterionName, float]:
    return dict.fromkeys(CRITERIA, value)


_CALIBRATED = Character(
    levels=_beta_levels(),
    chance=lambda level: level / 100,
    trap_rate=0.8,
    trap_levels=(60, 70, 80, 90),
    abstains=0.04,
    abilities=Abilities(knows_until=(2024, 12), formal=0.8, sources=0.75, terms=0.8),
    image=SelfImage(
        # currency depends on the date of the run: .61 is what knowledge up to the end of 2024 is worth to a run in
        # late 2026, and it is too high by .2 for every year after that
        claims={"x1": 0.67, "x2": 0.61, "x3": 0.8, "x4": 0.75, "x5": 0.8},
        insight=("Yes", "Yes", "Yes", "Partially", "Partially", "Partially", "No"),
        absolutes=("No", "No", "No", "No", "Partially"),
    ),
)

_OVERCONFIDENT = Character(
    levels=(70, 80, 85, 90, 95, 100),
    chance=lambda level: (level - 60) / 100 * 1.5 + 0.1,
    trap_rate=0.3,
    trap_levels=(80, 90),
    abilities=Abilities(knows_until=(2023, 7), formal=0.6, sources=0.5, terms=0.6),
    image=SelfImage(
        claims=_throughout(0.96),
        spread=(-3, -2, -1, 0, 1, 2, 3),
        lift=(3, 4, 5),
        insight=("Yes",) * 19 + ("Partially",),
        absolutes=("Yes",) * 19 + ("Partially",),
    ),
)

_SUGGESTIBLE = Character(
    levels=(40, 50, 60, 70),
    chance=lambda _: 0.525,
    trap_rate=0.5,
    by_topic=(0.15, 0.9),
    follows_claims=True,
    abilities=Abilities(knows_until=(2024, 3), formal=0.5, sources=0.5, terms=0.5),
    image=SelfImage(claims=_throughout(0.5), lift=(10, 15, 20), absolutes=("Partially", "No")),
)

CHARACTERS: dict[str, Character] = {
    "calibrated": _CALIBRATED,
    "overconfident": _OVERCONFIDENT,
    "underconfident": Character(
        levels=(20, 30, 40, 50, 60),
        chance=lambda level: min(level / 100 + 0.35, 0.95),
        trap_rate=0.8,
        trap_levels=(40,),
        abilities=Abilities(knows_until=(2024, 12), formal=0.7, sources=0.7, terms=0.7),
        image=SelfImage(claims=_throughout(0.3), insight=("Partially", "Partially", "No")),
    ),
    "blind": Character(
        levels=(95,),
        chance=lambda _: 0.4,
        trap_rate=0.0,
        trap_levels=(95,),
        abilities=Abilities(knows_until=(2023, 11), formal=0.4, sources=0.4, terms=0.4),
        image=SelfImage(claims=_throughout(0.95), spread=(0,), insight=("Yes",), absolutes=("Yes",)),
    ),
    "abstainer": Character(
        levels=(60, 80),
        chance=lambda _: 0.7,
        trap_rate=1.0,
        abstains=0.9,
        abilities=Abilities(knows_until=(2024, 12), formal=0.7, sources=0.7, terms=0.7),
        image=SelfImage(claims=_throughout(0.7), insight=("Yes", "Partially")),
        withholds=0.9,
    ),
    "refuser": Character(
        levels=(60, 80),
        chance=lambda _: 0.6,
        trap_rate=0.1,
        refuses=0.7,
        abilities=Abilities(knows_until=(2024, 12), formal=0.6, sources=0.6, terms=0.6),
        image=SelfImage(claims=_throughout(0.6), insight=("Yes", "Partially")),
        withholds=0.7,
    ),
    "suggestible": _SUGGESTIBLE,
    "suggestible-labelled": msgspec.structs.replace(_SUGGESTIBLE, needs_label=True),
    "pinned": Character(
        levels=(100,),
        chance=lambda _: 0.5,
        trap_rate=0.2,
        trap_levels=(100,),
        abilities=Abilities(knows_until=(2024, 3), formal=0.5, sources=0.5, terms=0.5),
        image=SelfImage(claims=_throughout(1.0), spread=(0,), insight=("Yes",), absolutes=("Yes",)),
    ),
    "yes-sayer": msgspec.structs.replace(
        _OVERCONFIDENT,
        image=SelfImage(
            claims=_throughout(1.0), spread=(0,), heeds_reversal=False, insight=("Yes",), absolutes=("Yes",)
        ),
    ),
    "number-copier": msgspec.structs.replace(_CALIBRATED, copies=50),
    "first-picker": msgspec.structs.replace(_CALIBRATED, picks_first=True),
    "prose": msgspec.structs.replace(_CALIBRATED, form="prose"),
    "german": msgspec.structs.replace(_CALIBRATED, form="german"),
    "malformed": msgspec.structs.replace(_CALIBRATED, form="malformed"),
    "hostile": msgspec.structs.replace(_CALIBRATED, form="hostile"),
    "flaky": _CALIBRATED,
    "slow": msgspec.structs.replace(_CALIBRATED, delay=0.2),
}
"""Every persona by name."""
