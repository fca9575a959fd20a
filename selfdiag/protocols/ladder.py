"""The profile ladder: does a model's own measured profile, put before it, make its stated confidence better?

The same items are asked with a slot that claims nothing (off), with a made-up profile that looks like the own one
(placebo), with the own one, and with its values on other topics (shuffled). Source of the design: the
"self-confidence in LLM evaluation" study.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.battery.items import Probe
from selfdiag.measure.contrast import Contrast
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.ladder import (
    CONFIRMATORY,
    ArmContrast,
    OracleCeiling,
    Standing,
    arm_contrasts,
    confirmatory,
    oracle_ceiling,
)
from selfdiag.measure.profiles import PLACEBO_BINS, SHUFFLED_CORRELATION, placebo_profile, shuffled_profile
from selfdiag.measure.resampling import ALPHA, DRAWS, SEED, holm
from selfdiag.protocols.arms import (
    HALF_NAMES,
    ArmFigures,
    Arms,
    ProfileFigures,
    arm_figures,
    arms_of,
    asked_of,
    batches_of,
    coarse_notes,
    differences,
    followed,
    measured_run,
    profile_figures,
    replies_notes,
    too_few,
    withheld,
)
from selfdiag.protocols.measured_accuracy import whole
from selfdiag.protocols.own_profile import (
    OwnProfiles,
    Values,
    battery_behind,
    drawn_seed,
    measured_probes,
    off_profiles,
    own_injected,
    own_profiles,
)
from selfdiag.protocols.summary import SummaryBattery, SummaryModel, model_of
from selfdiag.runs.ladder_plan import OFF, OWN, PLACEBO, SHUFFLED, plan_with_profiles, rows_of
from selfdiag.runs.plan import Plan
from selfdiag.runs.profile_judging import MANIPULATION
from selfdiag.runs.records import LADDER, InjectedProfile, RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

SCHEMA = "selfdiag.ladder/1"
ARMS = (OFF, PLACEBO, OWN, SHUFFLED)
REPLICATES = 2
"""Wordings of each item unless asked otherwise."""
MADE_UP = {
    PLACEBO: "made up: mean and spread of the own one, no correlation with it",
    SHUFFLED: "the values of the own one on other topics",
}

_MORE_TOPICS = "ask more of them (leave --bins, --items and --limit away, or name another battery)"

Made = Callable[[ArrayLike, int], Sequence[float]]


def ladder_plan(settings: RunSettings, measured: Run, *, replicates: int = REPLICATES, labelled: bool = True) -> Plan:
    """Plan a ladder over the probes that a run of the same model has measured without a profile.

    Every item is shown the profile measured on the other half of its topic's items; all items of the measured run
    are asked, the ungraded ones too, which are behind no value.

    Args:
        settings: of the ladder, as ``experiment_settings`` makes them from the measured run's.
        measured: the run that gives the profile.
        replicates: so many wordings of each item, the drawn one first.
        labelled: name the topic of the question in the user turn, in every arm alike.

    Raises:
        SelfdiagError: when the run cannot give a profile, or no placebo can be made beside it; says what to do.
    """
    battery = battery_behind(measured)
    probes, own = measured_probes(measured), own_profiles(measured, battery.bins())
    injected = [
        *off_profiles(own),
        *_made(PLACEBO, own, _placebo_values, settings.seed),
        *own_injected(own, measured),
        *_made(SHUFFLED, own, _shuffled_values, settings.seed),
    ]
    return plan_with_profiles(
        settings,
        LADDER,
        battery,
        rows_of(probes, settings.seed, replicates),
        injected,
        halves=own.half,
        labels=(labelled,),
    )


def enough_topics(probes: Sequence[Probe]) -> None:
    """Check that the topics of some probes can give two profiles with a placebo beside each.

    Raises:
        SelfdiagError: when too few topics have an item in both halves.
    """
    topics = Counter(probe.bin for probe in probes)
    usable = sum(count > 1 for count in topics.values())
    if usable < PLACEBO_BINS:
        raise SelfdiagError(
            f"no ladder can be made: a placebo needs {PLACEBO_BINS} topics with 2 or more items each, here "
            f"{'is' if usable == 1 else 'are'} {usable}; {_MORE_TOPICS}"
        )


def _placebo_values(own: ArrayLike, seed: int) -> tuple[float, ...]:
    return placebo_profile(own, seed).values


def _shuffled_values(own: ArrayLike, seed: int) -> tuple[float, ...]:
    return shuffled_profile(own, seed).values


def _made(arm: str, own: OwnProfiles, make: Made, seed: int) -> list[InjectedProfile]:
    return [
        InjectedProfile(
            arm=arm, half=half, values=_beside(values, make, drawn_seed(arm, seed, half)), origin=MADE_UP[arm]
        )
        for half, values in enumerate(own.values)
    ]


def _beside(own: Values, make: Made, seed: int) -> Values:
    """Return made-up values for the topics that have an own one."""
    known = {name: value for name, value in own.items() if value is not None}
    try:
        made = make(list(known.values()), seed)
    except ValueError as error:
        raise SelfdiagError(
            f"no ladder can be made from this run: {error}; {_what_to_do(list(known.values()))}"
        ) from None
    return dict.fromkeys(own) | dict(zip(known, map(whole, made), strict=True))


def _what_to_do(own: Sequence[int]) -> str:
    if len(own) < PLACEBO_BINS:
        return f"{_MORE_TOPICS}; a topic counts when it has graded answers in both halves of its items"
    if len(set(own)) == 1:
        return "measure more items a topic (--battery full), or harder or easier ones (--hardness 1 to 6)"
    return "measure more items a topic (--battery full), so that its values spread"


class OwnRecognised(msgspec.Struct, frozen=True, kw_only=True):
    """How often a judge took the own profile, not the shuffled one, for the measured one.

    It was ``asked`` once for each half in both orders; ``own`` and ``shuffled`` count its choices, ``unread`` the
    replies that could not be read.
    """

    model: str
    asked: int
    own: int
    shuffled: int
    unread: int
    note: str = "a count of few choices, no interval"


def own_recognised(run: Run) -> OwnRecognised | None:
    """Return what a judge has said of a ladder's profiles, or None when none was asked."""
    records = [record for record in run.latest().values() if record.section == MANIPULATION]
    opinions = [record.judge for record in records if record.judge is not None]
    if not opinions:
        return None
    said = [opinion.opinion for opinion in opinions]
    return OwnRecognised(
        model=opinions[-1].model,
        asked=len(said),
        own=said.count("same"),
        shuffled=said.count("different"),
        unread=said.count(None),
    )


class Ladder(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a ladder.

    ``items`` were asked in ``wordings`` wordings, ``rows`` rows in all, each under every arm, in ``batches`` stretches
    of the call order. ``contrasts`` compare AUROC, own minus the other arm; ``exploratory`` the other measures, by the
    arm that own is compared with. ``consumption`` is the correlation of confidence shift and error of the profile.
    ``ceiling`` is over the drawn wording of each item under the own arm. ``recognised`` is None without a judge.
    ``measured_run`` is the id of the run that gave the own profile; ``sentence`` says what the ladder shows.
    """

    schema: str = SCHEMA
    run_id: str
    measured_run: str
    model: SummaryModel
    battery: SummaryBattery
    labelled: bool
    items: int
    rows: int
    wordings: int
    batches: int
    standing: Standing
    sentence: str
    profiles: tuple[ProfileFigures, ...]
    arms: tuple[ArmFigures, ...]
    contrasts: tuple[ArmContrast, ...]
    exploratory: dict[str, dict[str, Contrast]]
    ceiling: OracleCeiling
    consumption: dict[str, Estimate]
    recognised: OwnRecognised | None
    notes: tuple[str, ...]


def ladder_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> Ladder:
    """Return the result of a ladder, complete or not; a deterministic function of the run's two files.

    Args:
        run: manifest and records of the ladder's own run.
        draws: bootstrap draws over items.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when the run holds no ladder.
    """
    arms = arms_of(run, LADDER)
    if not arms.by_name:
        raise SelfdiagError(f"the run {run.manifest.run_id} holds no ladder")
    (labelled,) = {named for _, named in arms.by_name}
    injected = run.manifest.injected
    profiles = profile_figures(injected)
    own, off = arms.by_name[OWN, labelled], arms.by_name[OFF, labelled]
    drawn = np.flatnonzero(arms.replicate == 0)
    right, wrong = (int((off.rows.correct[drawn] == grade).sum()) for grade in (1, 0))
    standing = confirmatory(probes=arms.items, right=right, wrong=wrong, own_sd=least_spread(profiles))
    contrasts = _with_enough(
        arm_contrasts(
            {name: arms.by_name[name, labelled].rows for name in ARMS}, arms.item, arms.batch, draws=draws, seed=seed
        ),
        arms,
        labelled=labelled,
    )
    recognised = own_recognised(run)
    return Ladder(
        run_id=run.manifest.run_id,
        measured_run=measured_run(injected),
        model=model_of(run),
        battery=asked_of(run, arms),
        labelled=labelled,
        items=arms.items,
        rows=arms.item.size,
        wordings=int(arms.replicate.max(initial=0)) + 1,
        batches=batches_of(arms),
        standing=standing,
        sentence=ladder_sentence(contrasts, standing),
        profiles=profiles,
        arms=tuple(arm_figures(arms, name, labelled=labelled, draws=draws, seed=seed) for name in ARMS),
        contrasts=contrasts,
        exploratory={
            name: _secondary(arms, name, labelled=labelled, draws=draws, seed=seed) for name in (PLACEBO, OFF, SHUFFLED)
        },
        ceiling=oracle_ceiling(
            own.claim[drawn], arms.topic[drawn], np.where(own.answered[drawn], own.rows.correct[drawn], -1)
        ),
        consumption={name: followed(arms, name, labelled=labelled) for name in (PLACEBO, SHUFFLED)},
        recognised=recognised,
        notes=(
            *replies_notes(run, arms),
            *coarse_notes(injected),
            *_profile_notes(profiles),
            *_judge_notes(recognised),
        ),
    )


def _with_enough(made: Sequence[ArmContrast], arms: Arms, *, labelled: bool) -> tuple[ArmContrast, ...]:
    """Return contrasts of AUROCs without interval and p-value where too few items are right or wrong.

    Holm's correction is made anew; its family stays at two tests when one of them has no p-value.
    """
    kept = {}
    for one in made:
        why = too_few(arms, one.against, OWN, labelled=labelled)
        kept[one.against] = msgspec.structs.replace(
            one,
            by_item=withheld(one.by_item, why),
            by_batch=withheld(one.by_batch, why),
            excludes=None if why else one.excludes,
        )
    family = {name: kept[name].by_item.p for name in CONFIRMATORY}
    corrected = dict(zip(family, holm([1.0 if p is None else p for p in family.values()]), strict=True))
    return tuple(
        msgspec.structs.replace(one, adjusted_p=corrected.get(name) if one.by_item.p is not None else None)
        for name, one in kept.items()
    )


def ladder_sentence(contrasts: Sequence[ArmContrast], standing: Standing) -> str:
    """Return what a ladder says of its question, as far as its corrected contrasts say anything."""
    better = {one.against: _better(one) for one in contrasts if one.confirmatory}
    untested = {one.against: one.by_item.difference for one in contrasts if better.get(one.against, "") is None}
    if untested:
        which = f"No answer: own against {' and '.join(untested)}"
        if all(difference.value is None for difference in untested.values()):
            return f"{which} is not defined here."
        why = dict.fromkeys(difference.note for difference in untested.values())
        return f"{which} cannot be tested ({'; '.join(why)})."
    gains = [name for name, known in better.items() if known == "better"]
    losses = [name for name, known in better.items() if known == "worse"]
    hedge = "In this demonstration its" if standing.label == "demonstration" else "Its"
    if len(gains) == len(better):
        return (
            f"{hedge} own profile makes its confidence tell right from wrong better than a made-up one, and than none."
        )
    if losses:
        return f"{hedge} own profile makes its confidence tell right from wrong worse than {' and '.join(losses)}."
    if gains == [OFF]:
        return (
            f"{hedge} confidence tells right from wrong better with its own profile than without values, but a made-up "
            "profile is not shown to be worse: what it says of the topics need not be the reason."
        )
    if gains:
        return f"{hedge} own profile is better than a made-up one, but not shown to be better than no values at all."
    return f"{hedge} own profile is not shown to make its confidence tell right from wrong any better."


def _better(one: ArmContrast) -> str | None:
    difference, p = one.by_item.difference.value, one.adjusted_p
    if difference is None or p is None:
        return None
    return "not shown" if p >= ALPHA else "better" if difference > 0 else "worse"


def least_spread(profiles: Sequence[ProfileFigures]) -> float:
    """Return the smaller SD over topics of the own profiles, in points."""
    return min((found.sd for found in profiles if found.arm == OWN and found.sd is not None), default=0.0)


def _profile_notes(profiles: Sequence[ProfileFigures]) -> list[str]:
    """Return what the shuffled profiles have left of the own ones, where that is more than wanted."""
    notes = []
    for found in (found for found in profiles if found.arm == SHUFFLED):
        which = f"the shuffled profile of half {HALF_NAMES[found.half or 0]}"
        if found.pearson is not None and found.pearson > SHUFFLED_CORRELATION:
            notes.append(
                f"{which} correlates {found.pearson:+.2f} with the own one, "
                f"above the {SHUFFLED_CORRELATION:+.2f} wanted"
            )
        if found.unchanged:
            notes.append(f"{which}: {found.unchanged} of {found.topics} topics kept their true value by chance")
    return notes


def _judge_notes(recognised: OwnRecognised | None) -> list[str]:
    if recognised is None or not recognised.unread:
        return []
    return [
        f"{recognised.unread} of {recognised.asked} opinions of the judge {one_line(recognised.model, 60)} could not "
        "be read"
    ]


def _secondary(arms: Arms, against: str, *, labelled: bool, draws: int, seed: int) -> dict[str, Contrast]:
    found = differences(arms, against, OWN, labelled=labelled, draws=draws, seed=seed)
    del found["auroc"]  # the contrast itself
    return found
