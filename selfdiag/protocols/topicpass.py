"""The topic-labelled pass: does a false profile move confidence, and does the model need to be told the topic?

The same items are asked under the true profile and under a false one, each with and without the topic's name beside
the question. Source of the design: the "self-confidence in LLM evaluation" study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import Battery, Probe
from selfdiag.measure.counts import Floats
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.microprobe import SET_SIZE
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.protocols.arms import (
    ArmFigures,
    Arms,
    ProfileFigures,
    arm_figures,
    arms_of,
    asked_of,
    by_items,
    profile_figures,
    replies_notes,
    share_of_items,
)
from selfdiag.protocols.own_profile import (
    MEASURED_HERE,
    Given,
    accuracy_by_topic,
    battery_behind,
    first_grades,
    measured_probes,
    origin_of,
)
from selfdiag.protocols.summary import SummaryBattery, SummaryModel, model_of
from selfdiag.runs.ladder_plan import OWN, SHUFFLED, plan_with_profiles, rows_of
from selfdiag.runs.plan import Plan
from selfdiag.runs.records import TOPICPASS, InjectedProfile, RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError

SCHEMA = "selfdiag.topicpass/1"
PER_TOPIC = 1
"""Items of each topic unless asked otherwise: 21 of the shipped battery."""
FALSE_ORIGIN = "the values of the true one in reverse order: the strongest topic shows what the weakest has"
LABELS = (True, False)


def topicpass_plan(settings: RunSettings, true: Given, whole: Battery, probes: Sequence[Probe]) -> Plan:
    """Plan a pass over items of topics whose accuracy is known.

    The false profile stands in the arm ``shuffled``: it is the true one with its values in reverse order of rank, so
    mean and spread are the same and strong topics look weak. Of equal values the seed decides which comes first.

    Args:
        settings: of the run.
        true: the profile of the arm ``own``, measured on other items than ``probes``.
        whole: the battery; the slot has a line for each of its topics.
        probes: the items to ask; those of a topic without a value are left out.

    Raises:
        SelfdiagError: when no item is left, or the profile is the same in every topic.
    """
    values = {name: true.accuracy.get(name) for name in whole.bins()}
    known = {name: value for name, value in values.items() if value is not None}
    asked = [probe for probe in probes if probe.bin in known]
    if not asked:
        raise SelfdiagError("no item is left for a topic pass: the profile has no value for a topic of the battery")
    if len(set(known.values())) < 2:
        raise SelfdiagError(
            "no false profile can be made: the true one is the same in every topic; measure more items a topic "
            "(--battery full), or harder or easier ones (--hardness 1 to 6)"
        )
    injected = [
        InjectedProfile(arm=OWN, values=values, origin=true.origin, gate=true.gate),
        InjectedProfile(
            arm=SHUFFLED, values=dict.fromkeys(values) | reversed_ranks(known, settings.seed), origin=FALSE_ORIGIN
        ),
    ]
    return plan_with_profiles(settings, TOPICPASS, whole, rows_of(asked, settings.seed), injected, labels=LABELS)


def measured_topicpass(settings: RunSettings, measured: Run, *, per_topic: int = PER_TOPIC) -> Plan:
    """Plan a pass with the profile of a run, over items that are not behind it.

    They are items that the run has not asked; where its topic has too few of those left, some of the run's own are
    taken, and the profile is measured on the rest.

    Args:
        settings: of the run to plan.
        measured: the run of the same model that gives the true profile.
        per_topic: items of each measured topic.

    Raises:
        SelfdiagError: when the run cannot give a profile, or no item is left beside it.
    """
    whole = battery_behind(measured)
    probes = measured_probes(measured)
    topics = {probe.bin for probe in probes}
    drawn = {probe.id for probe in probes}
    order = SeededOrder("topic pass", settings.seed)
    chosen: list[Probe] = []
    for name in (name for name in whole.bins() if name in topics):
        of_topic = order.shuffled(probe for probe in whole.probes if probe.bin == name)
        chosen += sorted(of_topic, key=lambda probe: probe.id in drawn)[:per_topic]
    taken = {probe.id for probe in chosen}
    behind = [probe for probe in probes if probe.id not in taken]
    accuracy = accuracy_by_topic(behind, first_grades(measured), whole.bins())
    given = Given(accuracy=accuracy, origin=f"{origin_of(measured)}, on items not asked here", gate=MEASURED_HERE)
    return topicpass_plan(settings, given, whole, chosen)


def reversed_ranks(values: Mapping[str, int], seed: int) -> dict[str, int]:
    """Return the same values by topic in reverse order of rank; of equal ones the seed decides which comes first."""
    order = SeededOrder("reversed ranks", seed)
    ranked = sorted(values, key=lambda name: (values[name], order.key(name)))
    return {name: values[other] for name, other in zip(ranked, reversed(ranked), strict=True)}


class PassFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What the false profile does, with or without the topic's name beside the question.

    All are means over items of differences, false minus true: ``shift`` of the confidence in points, over items
    answered with a confidence under both; ``followed`` is that shift in the direction of the claim, over those of them
    whose claim differs; ``brier`` and ``accuracy`` likewise. ``induced`` is the share of items abstained from under the
    false profile among those answered under the true one, ``released`` counts the opposite.
    """

    labelled: bool
    true: ArmFigures
    false: ArmFigures
    shift: Estimate
    followed: Estimate
    brier: Estimate
    accuracy: Estimate
    induced: Estimate
    released: int


class TopicPass(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a topic pass over ``items``; ``association`` is what naming the topic adds to ``followed``."""

    schema: str = SCHEMA
    run_id: str
    model: SummaryModel
    battery: SummaryBattery
    items: int
    profiles: tuple[ProfileFigures, ...]
    labelled: PassFigures
    unlabelled: PassFigures
    association: Estimate
    notes: tuple[str, ...]


def topicpass_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> TopicPass:
    """Return the result of a topic pass, complete or not; a deterministic function of the run's two files.

    Args:
        run: manifest and records.
        draws: bootstrap draws over items.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when the run holds no topic pass.
    """
    arms = arms_of(run, TOPICPASS)
    if not arms.by_name:
        raise SelfdiagError(f"the run {run.manifest.run_id} holds no topic pass")
    named, bare = (_figures(arms, labelled=labelled, draws=draws, seed=seed) for labelled in LABELS)
    few = f"only {arms.items} items: {SET_SIZE} or more are needed to speak of a set"
    return TopicPass(
        run_id=run.manifest.run_id,
        model=model_of(run),
        battery=asked_of(run, arms),
        items=arms.items,
        profiles=profile_figures(run.manifest.injected),
        labelled=named,
        unlabelled=bare,
        association=by_items(
            arms,
            _toward_claim(arms, labelled=True) - _toward_claim(arms, labelled=False),
            undefined="no data: no item is answered in all four ways",
            draws=draws,
            seed=seed,
        ),
        notes=(*replies_notes(run, arms), *([few] if arms.items < SET_SIZE else [])),
    )


def _figures(arms: Arms, *, labelled: bool, draws: int, seed: int) -> PassFigures:
    true, false = arms.by_name[OWN, labelled], arms.by_name[SHUFFLED, labelled]
    both = true.answered & false.answered
    fell_silent = np.where(true.graded, false.abstained, np.nan)

    def over_items(values: Floats, undefined: str) -> Estimate:
        return by_items(arms, values, undefined=undefined, draws=draws, seed=seed)

    unanswered = "no data: no item is answered with a confidence under both"
    return PassFigures(
        labelled=labelled,
        true=arm_figures(arms, OWN, labelled=labelled, against=OWN, draws=draws, seed=seed),
        false=arm_figures(arms, SHUFFLED, labelled=labelled, against=OWN, draws=draws, seed=seed),
        shift=over_items(_shift(arms, labelled=labelled), unanswered),
        followed=over_items(
            _toward_claim(arms, labelled=labelled), "no data: no item with another claim is answered under both"
        ),
        brier=over_items(np.where(both, (false.p - false.right) ** 2 - (true.p - true.right) ** 2, np.nan), unanswered),
        accuracy=over_items(false.right - true.right, "no data: no item is graded under both"),
        induced=share_of_items(
            arms, fell_silent, undefined="no data: no item is answered under the true profile", draws=draws, seed=seed
        ),
        released=int((false.graded & (true.abstained == 1)).sum()),
    )


def _shift(arms: Arms, *, labelled: bool) -> Floats:
    """Return confidence under the false profile minus that under the true one, in points, NaN where one is missing."""
    true, false = arms.by_name[OWN, labelled], arms.by_name[SHUFFLED, labelled]
    return np.where(true.answered & false.answered, 100 * (false.p - true.p), np.nan)


def _toward_claim(arms: Arms, *, labelled: bool) -> Floats:
    """Return the shift with its sign turned so that following the claim is positive, NaN where both claim the same."""
    direction = np.sign(arms.by_name[SHUFFLED, labelled].claim - arms.by_name[OWN, labelled].claim)
    return np.where(direction == 0, np.nan, direction) * _shift(arms, labelled=labelled)
