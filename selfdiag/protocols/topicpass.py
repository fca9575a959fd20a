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
    coarse_notes,
    measured_run,
    profile_figures,
    replies_notes,
    share_of_items,
)
from selfdiag.protocols.measured_accuracy import first_grades, grades_by_topic, percent_right
from selfdiag.protocols.own_profile import (
    Given,
    battery_behind,
    fewest,
    measured_probes,
    origin_of,
    provenance,
)
from selfdiag.protocols.profile_signature import MEASURED_HERE
from selfdiag.protocols.summary import SummaryBattery, SummaryModel, model_of
from selfdiag.runs.ladder_plan import FALSE, TRUE, plan_with_profiles, rows_of
from selfdiag.runs.plan import Plan
from selfdiag.runs.records import TOPICPASS, InjectedProfile, RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError

SCHEMA = "selfdiag.topicpass/1"
PER_TOPIC = 1
"""Items of each topic unless asked otherwise: 21 of the shipped battery."""
FALSE_ORIGIN = "the values of the true one in reverse order: the strongest topic shows what the weakest has"
LABELS = (True, False)

_WAYS = {1: "follows the false profile", -1: "moves against the false profile"}
_NOT_SHOWN = "It is not shown that its confidence follows the false profile"


def topicpass_plan(settings: RunSettings, true: Given, whole: Battery, probes: Sequence[Probe]) -> Plan:
    """Plan a pass over items of topics whose accuracy is known.

    The false profile is the true one with its values in reverse order of rank, so mean and spread are the same and
    strong topics look weak. Of equal values the seed decides which comes first.

    Args:
        settings: of the run.
        true: the profile of the arm ``true``, measured on other items than ``probes``.
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
        InjectedProfile(arm=TRUE, values=values, origin=true.origin, gate=str(true.gate), measured=true.measured),
        InjectedProfile(
            arm=FALSE, values=dict.fromkeys(values) | reversed_ranks(known, settings.seed), origin=FALSE_ORIGIN
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
    graded = grades_by_topic(behind, first_grades(measured), whole.bins())
    given = Given(
        accuracy={name: percent_right(found) for name, found in graded.items()},
        origin=f"{origin_of(measured)}, on items not asked here",
        gate=MEASURED_HERE,
        measured=provenance(measured, fewest(map(len, graded.values()))),
    )
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
    """The result of a topic pass over ``items``.

    ``measured_run`` is the id of the run that gave the true profile. ``association`` is what naming the topic adds to
    ``followed``, paired by item; ``sentence`` says what all this shows.
    """

    schema: str = SCHEMA
    run_id: str
    measured_run: str
    model: SummaryModel
    battery: SummaryBattery
    items: int
    sentence: str
    profiles: tuple[ProfileFigures, ...]
    labelled: PassFigures
    unlabelled: PassFigures
    association: Estimate
    notes: tuple[str, ...]

    @property
    def too_few(self) -> bool:
        """Whether there are too few items, or too few of them with a reading, to draw a verdict."""
        return self.labelled.followed.n < SET_SIZE


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
    association = by_items(
        arms,
        _toward_claim(arms, labelled=True) - _toward_claim(arms, labelled=False),
        undefined="no data: no item is answered in all four ways",
        draws=draws,
        seed=seed,
    )
    injected = run.manifest.injected
    return TopicPass(
        run_id=run.manifest.run_id,
        measured_run=measured_run(injected, TRUE),
        model=model_of(run),
        battery=asked_of(run, arms),
        items=arms.items,
        sentence=pass_sentence(arms.items, named, bare, association),
        profiles=profile_figures(injected, beside=TRUE),
        labelled=named,
        unlabelled=bare,
        association=association,
        notes=(*replies_notes(run, arms), *coarse_notes(injected)),
    )


def pass_sentence(items: int, named: PassFigures, bare: PassFigures, association: Estimate) -> str:
    """Return whether confidence follows the false profile, and what naming the topic adds, as far as it is shown.

    That the topic's name makes a difference is said by the paired ``association`` alone: that one pass shows something
    and the other does not is no difference between them.

    Args:
        items: how many were asked.
        named: the pass that names the topic.
        bare: the pass that does not.
        association: toward the claim, named minus not named, paired by item.
    """
    readings = named.followed.n
    if readings < SET_SIZE:
        return (
            f"Too few for a verdict: {readings} of {items} items state a confidence under two claims that differ, and "
            f"{SET_SIZE} are needed: ask more of each topic (--items-per-topic)."
        )
    with_name, without = _direction(named.followed), _direction(bare.followed)
    if not with_name and not without:
        moves = any(_direction(figures.shift) for figures in (named, bare))
        said = ["Its confidence moves, but not with the topic" if moves else _NOT_SHOWN]
    elif with_name == without:
        said = [f"Its confidence {_WAYS[with_name]}, with the topic's name and without it"]
    elif with_name:
        other = f"it {_WAYS[without]}" if without else "that is not shown"
        said = [f"Its confidence {_WAYS[with_name]} where the question names its topic; without the name {other}"]
    else:
        said = [
            f"Its confidence {_WAYS[without]} where the question does not name its topic; with the name that is not "
            "shown"
        ]
    if more := _direction(association):
        said.append(f"it follows {'more' if more > 0 else 'less'} with the name than without")
    elif with_name or without:
        few = f"cannot be said from {association.n} readings" if association.n < SET_SIZE else "is not shown"
        said.append(f"a difference between the two {few}")
    return f"{'; '.join(said)}."


def _direction(found: Estimate) -> int:
    """Return 1 or -1 where a mean over enough items is shown to be above or below 0, else 0."""
    if found.value is None or found.n < SET_SIZE:
        return 0
    # items that all move alike leave no interval, and no doubt
    low, high = found.ci or (found.value, found.value)
    return 1 if low > 0 else -1 if high < 0 else 0


def _figures(arms: Arms, *, labelled: bool, draws: int, seed: int) -> PassFigures:
    true, false = arms.by_name[TRUE, labelled], arms.by_name[FALSE, labelled]
    both = true.answered & false.answered
    fell_silent = np.where(true.graded, false.abstained, np.nan)

    def over_items(values: Floats, undefined: str) -> Estimate:
        return by_items(arms, values, undefined=undefined, draws=draws, seed=seed)

    unanswered = "no data: no item is answered with a confidence under both"
    return PassFigures(
        labelled=labelled,
        true=arm_figures(arms, TRUE, labelled=labelled, against=TRUE, draws=draws, seed=seed),
        false=arm_figures(arms, FALSE, labelled=labelled, against=TRUE, draws=draws, seed=seed),
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
    true, false = arms.by_name[TRUE, labelled], arms.by_name[FALSE, labelled]
    return np.where(true.answered & false.answered, 100 * (false.p - true.p), np.nan)


def _toward_claim(arms: Arms, *, labelled: bool) -> Floats:
    """Return the shift with its sign turned so that following the claim is positive, NaN where both claim the same."""
    direction = np.sign(arms.by_name[FALSE, labelled].claim - arms.by_name[TRUE, labelled].claim)
    return np.where(direction == 0, np.nan, direction) * _shift(arms, labelled=labelled)
