"""The swap: another model's measured profile in the place of a model's own."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from selfdiag.measure.contrast import Contrast
from selfdiag.measure.correlation import MIN_FOR_INTERVAL
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.ladder import OracleCeiling, oracle_ceiling, power_note
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.protocols.arms import (
    ArmFigures,
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
)
from selfdiag.protocols.own_profile import (
    Given,
    Values,
    battery_behind,
    measured_probes,
    off_profiles,
    own_injected,
    own_profiles,
)
from selfdiag.protocols.summary import SummaryBattery, SummaryModel, model_of
from selfdiag.runs.ladder_plan import OFF, OTHER, OWN, plan_with_profiles, rows_of
from selfdiag.runs.plan import Plan
from selfdiag.runs.records import SWAP, InjectedProfile, RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

SCHEMA = "selfdiag.swap/1"
ARMS = (OFF, OWN, OTHER)
COMPARED = ((OWN, OTHER), (OFF, OWN), (OFF, OTHER))
"""Pairs of arms: the second minus the first."""


def swap_plan(
    settings: RunSettings, measured: Run, other: Given, *, replicates: int = 1, labelled: bool = True
) -> Plan:
    """Plan to ask a model's items without values, under its own profile and under another model's.

    The own profile is cross-fitted as in the ladder. Both profiles claim something for the same topics, those that
    both know; the others read ``n/a`` in both.

    Args:
        settings: of the run, as ``experiment_settings`` makes them from the measured run's.
        measured: the run that gives the model's own profile.
        other: the other model's profile.
        replicates: so many wordings of each item, the drawn one first.
        labelled: name the topic of the question in the user turn, in every arm alike.

    Raises:
        SelfdiagError: when the run cannot give a profile, the other profile is of this run too, or the two share too
            few topics.
    """
    run_id = measured.manifest.run_id
    if other.measured is not None and other.measured.run_id == run_id:
        raise SelfdiagError(
            f"the other profile was measured in the run {one_line(run_id, 60)}, which gives the own one too: name "
            "another model's"
        )
    battery = battery_behind(measured)
    probes, own = measured_probes(measured), own_profiles(measured, battery.bins())
    shared = [
        name
        for name in battery.bins()
        if other.accuracy.get(name) is not None and all(values[name] is not None for values in own.values)
    ]
    if len(shared) < MIN_FOR_INTERVAL:
        raise SelfdiagError(
            f"the two profiles share {len(shared)} topics, a swap needs {MIN_FOR_INTERVAL}: measure both models on the "
            "same battery, 2 or more items a topic"
        )
    own = msgspec.structs.replace(own, values=(_only(own.values[0], shared), _only(own.values[1], shared)))
    theirs = {name: other.accuracy[name] if name in shared else None for name in battery.bins()}
    injected = [
        *off_profiles(own),
        *own_injected(own, measured),
        InjectedProfile(arm=OTHER, values=theirs, origin=other.origin, gate=str(other.gate), measured=other.measured),
    ]
    rows = rows_of(probes, settings.seed, replicates)
    return plan_with_profiles(settings, SWAP, battery, rows, injected, halves=own.half, labels=(labelled,))


def _only(values: Values, shared: list[str]) -> Values:
    return {name: value if name in shared else None for name, value in values.items()}


def one_model_notes(injected: Sequence[InjectedProfile]) -> tuple[str, ...]:
    """Return what to tell where own and other profile are of one model, by its name or its digest."""
    measured = {found.arm: found.measured for found in injected}
    own, other = measured.get(OWN), measured.get(OTHER)
    if own is None or other is None:
        return ()
    if own.model != other.model and not (own.digest and own.digest == other.digest):
        return ()
    return (f"both profiles are of one model ({one_line(other.model, 80)}): no other model's is tried here",)


class SwapContrast(msgspec.Struct, frozen=True, kw_only=True):
    """``arm`` minus ``against`` in AUROC, accuracy and Brier score, paired by item; exploratory."""

    arm: str
    against: str
    measures: dict[str, Contrast]


class Swap(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a swap.

    ``items`` were asked in ``rows`` rows, each under every arm, in ``batches`` stretches of the call order.
    ``ceilings`` say how well the own and the other profile alone would tell right answers from wrong ones, over the
    drawn wording of each item. ``consumption`` is the correlation of the confidence shift under the other profile with
    its difference from the own one. ``measured_run`` and ``other_run`` are the ids of the runs that gave the own and
    the other profile; ``sentence`` says what the swap shows.
    """

    schema: str = SCHEMA
    run_id: str
    measured_run: str
    other_run: str
    model: SummaryModel
    battery: SummaryBattery
    labelled: bool
    items: int
    rows: int
    batches: int
    power_note: str
    sentence: str
    profiles: tuple[ProfileFigures, ...]
    arms: tuple[ArmFigures, ...]
    contrasts: tuple[SwapContrast, ...]
    ceilings: dict[str, OracleCeiling]
    consumption: Estimate
    notes: tuple[str, ...]


def swap_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> Swap:
    """Return the result of a swap, complete or not; a deterministic function of the run's two files.

    Args:
        run: manifest and records.
        draws: bootstrap draws over items.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when the run holds no swap.
    """
    arms = arms_of(run, SWAP)
    if not arms.by_name:
        raise SelfdiagError(f"the run {run.manifest.run_id} holds no swap")
    (labelled,) = {named for _, named in arms.by_name}
    drawn = np.flatnonzero(arms.replicate == 0)
    off = arms.by_name[OFF, labelled]
    graded = off.rows.correct[drawn]
    n, right = int((graded >= 0).sum()), int((graded == 1).sum())
    injected = run.manifest.injected
    contrasts = tuple(
        SwapContrast(
            arm=second,
            against=first,
            measures=differences(arms, first, second, labelled=labelled, draws=draws, seed=seed),
        )
        for first, second in COMPARED
    )
    return Swap(
        run_id=run.manifest.run_id,
        measured_run=measured_run(injected),
        other_run=measured_run(injected, OTHER),
        model=model_of(run),
        battery=asked_of(run, arms),
        labelled=labelled,
        items=arms.items,
        rows=arms.item.size,
        batches=batches_of(arms),
        power_note=power_note(n, right / n if n else 0.0),
        sentence=_sentence(contrasts[0].measures["auroc"].difference),
        profiles=profile_figures(injected),
        arms=tuple(arm_figures(arms, name, labelled=labelled, draws=draws, seed=seed) for name in ARMS),
        contrasts=contrasts,
        ceilings={
            name: oracle_ceiling(
                arms.by_name[name, labelled].claim[drawn],
                arms.topic[drawn],
                np.where(off.answered[drawn], graded, -1),
            )
            for name in (OWN, OTHER)
        },
        consumption=followed(arms, OTHER, labelled=labelled),
        notes=(*replies_notes(run, arms), *one_model_notes(injected), *coarse_notes(injected)),
    )


def _sentence(difference: Estimate) -> str:
    """Return what the difference in AUROC, other minus own, says of the two profiles."""
    if difference.value is None:
        return "No answer: AUROC under the other model's profile and under its own cannot be compared here."
    low, high = difference.ci or (0.0, 0.0)
    told = "Under the other model's profile its confidence"
    if low <= 0 <= high:
        return f"{told} is not shown to tell right from wrong any better or worse than under its own."
    return f"{told} tells right from wrong {'better' if low > 0 else 'worse'} than under its own."
