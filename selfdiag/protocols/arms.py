"""The arms of an experiment with injected profiles: the same rows under each, as columns and as figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from selfdiag.measure import counts
from selfdiag.measure.calibration import brier
from selfdiag.measure.contrast import Contrast, paired_contrast
from selfdiag.measure.correlation import pearson, spearman
from selfdiag.measure.counts import Bools, Counts, Floats, Ints
from selfdiag.measure.discrimination import auroc
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.graded import VERY_FEW
from selfdiag.measure.itemwise import mean_over_items
from selfdiag.measure.ladder import ArmRows, consumption
from selfdiag.measure.resampling import DRAWS, SEED, wilson
from selfdiag.measure.sample import Measure
from selfdiag.measure.summary import all_metrics
from selfdiag.measure.tally import tally_rows
from selfdiag.protocols.measured_accuracy import GRADES
from selfdiag.protocols.summary import SummaryBattery
from selfdiag.runs.columns import columns_of
from selfdiag.runs.ladder_plan import OFF, OWN
from selfdiag.runs.records import InjectedProfile, Record
from selfdiag.runs.store import Run

NOT_ASKED = "not asked"
HALF_NAMES = "AB"
"""What the halves of the items are called."""
FEW_BEHIND = 3
"""With fewer graded items behind a value, a measured profile is little more than a guess."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Arm:
    """What came back under one arm, a row each: its outcome, stated confidence and the claim for its topic.

    ``outcome`` holds outcome words, ``NOT_ASKED`` where there is no record. ``p`` is the stated confidence in [0, 1]
    and ``claim`` the injected accuracy of the item's topic in percent; both are NaN where there is none.
    """

    outcome: tuple[str, ...]
    p: Floats
    claim: Floats

    @property
    def rows(self) -> ArmRows:
        """The rows as the ladder's contrasts take them."""
        correct = np.array([GRADES.get(word, -1) for word in self.outcome], dtype=np.int64)
        return ArmRows(correct=correct, p=self.p)

    @property
    def graded(self) -> Bools:
        """Which rows are right or wrong."""
        return np.array([word in GRADES for word in self.outcome], dtype=np.bool_)

    @property
    def answered(self) -> Bools:
        """Which rows are right or wrong and state a confidence."""
        return np.asarray(self.graded & np.isfinite(self.p))

    @property
    def right(self) -> Floats:
        """1 for right, 0 for wrong, NaN for a row that was not graded."""
        return np.array([GRADES.get(word, np.nan) for word in self.outcome], dtype=np.float64)

    @property
    def abstained(self) -> Floats:
        """1 for a row abstained from, 0 for a graded one, NaN for the rest."""
        return np.where([word == "abstained" for word in self.outcome], 1.0, np.where(self.graded, 0.0, np.nan))


@dataclass(frozen=True, eq=False, kw_only=True)
class Arms:
    """All arms of a section, their rows in one order.

    A row is one wording of an item. ``item``, ``topic`` and ``batch`` have shape (rows,): codes from 0; ``replicate``
    is 0 for the drawn wording. ``bins`` names the topics. ``by_name`` holds the arms by name and by whether the
    question names its topic. ``note`` says how confidences were brought onto one scale.
    """

    item: Ints
    topic: Ints
    batch: Ints
    replicate: Ints
    bins: tuple[str, ...]
    by_name: dict[tuple[str, bool], Arm]
    planned: int
    missing: int
    errors: int
    note: str

    @property
    def items(self) -> int:
        """Number of items."""
        return int(np.unique(self.item).size)


def arms_of(run: Run, section: str) -> Arms:
    """Return the arms of a run's section; rows without a record stay, as not asked."""
    calls = [call for call in run.manifest.plan if call.section == section]
    latest = run.latest()
    records = [latest[call.call_id] for call in calls if call.call_id in latest]
    columns, note = columns_of(records)
    stated = {record.call_id: value for record, value in zip(records, columns.confidence.tolist(), strict=True)}
    items = {item.id: item.bin for item in (*run.manifest.drawn.items(), *run.manifest.check)}
    bins = tuple(run.manifest.injected[0].values) if run.manifest.injected else run.manifest.drawn.bins()
    keys = sorted({(call.item_id, call.paraphrase) for call in calls})
    place = {key: row for row, key in enumerate(keys)}
    code = {item_id: number for number, item_id in enumerate(dict.fromkeys(item_id for item_id, _ in keys))}
    batch, replicate = np.zeros((2, len(keys)), dtype=np.int64)
    names = list(dict.fromkeys((call.arm, call.labelled) for call in calls))
    outcome = {name: [NOT_ASKED] * len(keys) for name in names}
    p = {name: np.full(len(keys), np.nan) for name in names}
    claim = {name: np.full(len(keys), np.nan) for name in names}
    for call in calls:
        name, row = (call.arm, call.labelled), place[call.item_id, call.paraphrase]
        batch[row], replicate[row] = call.batch, call.replicate
        if call.claim is not None:
            claim[name][row] = call.claim
        record: Record | None = latest.get(call.call_id)
        if record is not None:
            outcome[name][row] = record.outcome
            p[name][row] = stated[call.call_id]
    return Arms(
        item=np.array([code[item_id] for item_id, _ in keys], dtype=np.int64),
        topic=np.array([bins.index(items[item_id]) for item_id, _ in keys], dtype=np.int64),
        batch=batch,
        replicate=replicate,
        bins=bins,
        by_name={name: Arm(outcome=tuple(outcome[name]), p=p[name], claim=claim[name]) for name in names},
        planned=len(calls),
        missing=len(calls) - len(records),
        errors=sum(record.error is not None for record in records),
        note=note,
    )


class ArmFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What one arm came out with.

    ``rows`` got a reply. AUROC, Brier score and ECE are over the graded ones that state a confidence, whose mean is
    ``mean_confidence`` (0-100); ``accuracy`` is over the graded ones. ``abstained`` and ``refused`` count rows.
    ``induced`` is the share of items abstained from here and answered under the arm it is compared with.
    """

    arm: str
    labelled: bool
    rows: int
    mean_confidence: float | None
    accuracy: Estimate
    auroc: Estimate
    brier: Estimate
    ece: Estimate
    abstained: int
    refused: int
    unusable: int
    induced: Estimate | None


def arm_figures(
    arms: Arms, name: str, *, labelled: bool, against: str = OFF, draws: int = DRAWS, seed: int = SEED
) -> ArmFigures:
    """Return the figures of one arm; its intervals draw items with all their rows.

    Args:
        arms: all arms.
        name: of the arm.
        labelled: whether the question names its topic.
        against: the arm beside which an abstention counts as induced.
        draws: bootstrap draws over items.
        seed: of the bootstrap.
    """
    arm = arms.by_name[name, labelled]
    asked = np.flatnonzero([word != NOT_ASKED for word in arm.outcome])
    outcome = [arm.outcome[row] for row in asked]
    tally = tally_rows(outcome, arm.p[asked])
    several = arms.items < arms.item.size
    by_item = tally_rows(outcome, arm.p[asked], item=arms.item[asked]) if several else None
    metrics = all_metrics(tally, by_item, draws=draws, seed=seed)
    stated = float(counts.mean_confidence(tally.answered)) if tally.answered.n else None
    other = arms.by_name.get((against, labelled))
    induced = None
    if other is not None and name != against:
        fell_silent = np.where(other.graded, arm.abstained, np.nan)
        induced = share_of_items(
            arms, fell_silent, undefined="no data: no item is answered there", draws=draws, seed=seed
        )
    return ArmFigures(
        arm=name,
        labelled=labelled,
        rows=int(tally.asked),
        mean_confidence=None if stated is None else 100 * stated,
        accuracy=metrics["accuracy"],
        auroc=metrics["auroc"],
        brier=metrics["brier"],
        ece=metrics["ece"],
        abstained=int(tally.abstained),
        refused=int(tally.refused),
        unusable=int(tally.unusable),
        induced=induced,
    )


def by_items(arms: Arms, values: Floats, *, undefined: str, draws: int = DRAWS, seed: int = SEED) -> Estimate:
    """Return the mean over items of a value per row; rows with NaN leave, and an item is the mean of its rows.

    ``values`` has shape (rows,). ``undefined`` is the note when no row has a value.
    """
    known = np.isfinite(values)
    n = np.bincount(arms.item[known], minlength=arms.items)
    total = np.bincount(arms.item[known], weights=values[known], minlength=arms.items)
    return mean_over_items(counts.ratio(total, n), undefined=undefined, draws=draws, seed=seed)


def share_of_items(arms: Arms, values: Floats, *, undefined: str, draws: int = DRAWS, seed: int = SEED) -> Estimate:
    """Return ``by_items`` of values from 0 to 1; where every draw gives the same, Wilson's interval takes its place."""
    found = by_items(arms, values, undefined=undefined, draws=draws, seed=seed)
    if found.value is None or found.ci is not None:
        return found
    return estimate(found.value, wilson(found.value * found.n, found.n), n=found.n, method="Wilson over items")


COMPARED: dict[str, Callable[[Counts], Floats]] = {"auroc": auroc, "accuracy": counts.accuracy, "brier": brier}


def differences(
    arms: Arms, first: str, second: str, *, labelled: bool, draws: int = DRAWS, seed: int = SEED
) -> dict[str, Contrast]:
    """Return the second arm minus the first in AUROC, accuracy and Brier score, paired by item.

    They are over the rows that are graded and state a confidence in both. That in AUROC has neither interval nor
    p-value where ``too_few`` says why.
    """
    one, other = arms.by_name[first, labelled], arms.by_name[second, labelled]
    both = np.flatnonzero(one.answered & other.answered)
    tallies = [
        tally_rows([arm.outcome[row] for row in both], arm.p[both], item=arms.item[both]) for arm in (one, other)
    ]
    found = {
        name: paired_contrast(tallies[0], tallies[1], _of_answered(measure), draws=draws, seed=seed)
        for name, measure in COMPARED.items()
    }
    return found | {"auroc": withheld(found["auroc"], too_few(arms, first, second, labelled=labelled))}


def too_few(arms: Arms, first: str, second: str, *, labelled: bool) -> str:
    """Return why a difference of AUROCs between two arms bears no interval and no test, empty where it does.

    Both arms need ``VERY_FEW`` items with a right and as many with a wrong answer, among the rows that are graded and
    state a confidence in both.
    """
    pair = arms.by_name[first, labelled], arms.by_name[second, labelled]
    both = pair[0].answered & pair[1].answered
    items = {
        word: min(np.unique(arms.item[both & (arm.right == grade)]).size for arm in pair)
        for word, grade in (("right", 1), ("wrong", 0))
    }
    word = min(items, key=items.__getitem__)
    if items[word] >= VERY_FEW:
        return ""
    return f"no interval: needs {VERY_FEW} items with a {word} answer in each arm, has {items[word]}"


def withheld(found: Contrast, why: str) -> Contrast:
    """Return a contrast without interval and p-value for the reason ``why``, unchanged without a reason or a value."""
    if not why or found.difference.value is None:
        return found
    return msgspec.structs.replace(
        found, difference=msgspec.structs.replace(found.difference, ci=None, method="", note=why), p=None
    )


def _of_answered(measure: Callable[[Counts], Floats]) -> Measure:
    return lambda tally: measure(tally.answered)


def followed(arms: Arms, name: str, *, labelled: bool) -> Estimate:
    """Return whether confidence followed an arm's profile: a correlation over the values that were injected.

    For each value of a topic in a half it takes the shift of the mean confidence from the arm without values, and the
    claim of this arm minus that of the own one; the rows are those answered with a confidence under both arms.
    """
    off, own, arm = (arms.by_name[key, labelled] for key in (OFF, OWN, name))
    known = off.answered & arm.answered & np.isfinite(own.claim) & np.isfinite(arm.claim)
    # halves of a topic differ in what is claimed; where they do not, they are one value
    shown = np.stack([arms.topic, arm.claim, own.claim])[:, known]
    values, cell = np.unique(shown, axis=1, return_inverse=True)
    cell = cell.reshape(-1)
    shift = counts.ratio(np.bincount(cell, weights=100 * (arm.p - off.p)[known]), np.bincount(cell))
    return consumption(shift, values[1], values[2])


class ProfileFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One injected profile as the prompts held it, beside the measured one of the same half.

    ``topics`` have a value; ``mean`` and ``sd`` (over topics, divided by their number) are in points. The
    correlations with the measured profile are None for itself, and where a profile does not vary; ``unchanged``
    topics show the measured value.
    """

    arm: str
    half: int | None
    topics: int
    mean: float | None
    sd: float | None
    pearson: float | None = None
    spearman: float | None = None
    unchanged: int | None = None
    origin: str = ""
    gate: str = ""


def profile_figures(injected: Sequence[InjectedProfile], *, beside: str = OWN) -> tuple[ProfileFigures, ...]:
    """Return the achieved values of every injected profile, computed from what stood in the prompts.

    A profile that was shown with all items is compared with the measured one of each half.

    Args:
        injected: the profiles.
        beside: the arm of the measured ones, which the others are compared with.
    """
    own = {profile.half: profile for profile in injected if profile.arm == beside}
    found = []
    for profile in injected:
        for half in own if profile.half is None else [profile.half]:
            measured = own.get(half, own.get(None))
            found.append(_figures(profile, half, None if profile.arm == beside else measured))
    return tuple(found)


def _figures(profile: InjectedProfile, half: int | None, own: InjectedProfile | None) -> ProfileFigures:
    values = np.array([value for value in profile.values.values() if value is not None], dtype=np.float64)
    made = ProfileFigures(
        arm=profile.arm,
        half=half,
        topics=values.size,
        mean=float(values.mean()) if values.size else None,
        sd=float(values.std()) if values.size else None,
        origin=profile.origin,
        gate=profile.gate,
    )
    if own is None or not values.size:
        return made
    pairs = [(value, own.values.get(name)) for name, value in profile.values.items() if value is not None]
    shown, true = np.array([pair for pair in pairs if pair[1] is not None], dtype=np.float64).reshape(-1, 2).T
    return msgspec.structs.replace(
        made, pearson=pearson(shown, true), spearman=spearman(shown, true), unchanged=int((shown == true).sum())
    )


def asked_of(run: Run, arms: Arms) -> SummaryBattery:
    """Return which items an experiment has asked."""
    manifest = run.manifest
    return SummaryBattery(
        id=manifest.battery.id,
        version=manifest.battery.version,
        sha256=manifest.battery.sha256,
        draw=manifest.settings.battery,
        probes=arms.items,
        traps=0,
        seed=manifest.settings.seed,
    )


def replies_notes(run: Run, arms: Arms) -> tuple[str, ...]:
    """Return what a reader must know of an experiment's replies, in plain sentences."""
    notes = []
    if run.manifest.model.simulated:
        notes.append("simulated: these replies were written by a script, not by a model")
    if arms.missing or arms.errors:
        notes.append(f"incomplete: {arms.missing} of {arms.planned} calls not asked, {arms.errors} ended in an error")
    return (*notes, *([arms.note] if arms.note else []), *run.problems)


def measured_run(injected: Sequence[InjectedProfile], arm: str = OWN) -> str:
    """Return the id of the run that has measured an arm's profile, empty where that is not known."""
    return next((found.measured.run_id for found in injected if found.arm == arm and found.measured is not None), "")


def coarse_notes(injected: Sequence[InjectedProfile]) -> tuple[str, ...]:
    """Return which measured profiles rest on so few items that their values may be chance, in plain sentences."""
    fewest: dict[str, int] = {}
    for found in injected:
        if found.measured is not None and found.measured.fewest < FEW_BEHIND:
            fewest[found.arm] = min(found.measured.fewest, fewest.get(found.arm, FEW_BEHIND))
    return tuple(
        f"the {arm} profile has topics with {count} graded {'item' if count == 1 else 'items'} behind the value, which "
        "may be chance: measure more of each (--battery standard or full)"
        for arm, count in fewest.items()
    )


def batches_of(arms: Arms) -> int:
    """Return how many stretches of the call order the rows are cut into."""
    return int(arms.batch.max(initial=-1)) + 1
