"""The items that two runs have in common, and what became of each in either."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from selfdiag.battery.items import Item, Trap
from selfdiag.elicit.grading import GRADED
from selfdiag.measure.counts import Floats
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.itemwise import mean_over_items
from selfdiag.measure.mcnemar import mcnemar
from selfdiag.measure.tally import Tally
from selfdiag.protocols.compare_measures import ALIKE
from selfdiag.protocols.rows import tally_of
from selfdiag.protocols.sources import run_columns
from selfdiag.runs.records import MEASURED_SECTIONS, Record
from selfdiag.runs.store import Run

MOVED = 10
"""So many of the items whose confidence moved most are told."""

MIXED = "mixed"
"""Outcome of an item with no commonest one among its replies."""
_LABELS = ("bin", "family", "difficulty", "derivation", "source", "misconception", "note")
"""Fields of an item that change neither what is asked nor how it is graded."""


class ItemReply(msgspec.Struct, frozen=True, kw_only=True):
    """What one run replied to an item: of several replies the commonest outcome or ``mixed``, and an answer with it.

    ``confidence`` is the mean of the stated ones, 0-100, None without one; ``right`` counts correct replies to a probe
    and abstentions from a trap.
    """

    answer: str | None
    outcome: str
    confidence: float | None
    right: int
    replies: int


class ItemPair(msgspec.Struct, frozen=True, kw_only=True):
    """One item as two runs replied to it."""

    id: str
    bin: str
    first: ItemReply
    second: ItemReply


class Flips(msgspec.Struct, frozen=True, kw_only=True):
    """Items that changed sides: ``gained`` went from wrong to right in the second run, ``lost`` the other way.

    A probe is right when it is correct and wrong when it is incorrect, a trap is right when it is abstained from and
    wrong when it is answered or refused. ``n`` items are one or the other in both runs; ``p`` is McNemar's, exact.
    """

    gained: tuple[ItemPair, ...]
    lost: tuple[ItemPair, ...]
    n: int
    p: float


class Moved(ItemPair, frozen=True, kw_only=True):
    """A probe whose confidence moved by ``shift`` points on average, answered in both runs."""

    shift: float


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """Which items are compared: of ``first`` and ``second`` items in the runs, ``items`` are in both and the same.

    ``changed`` have an id of both but another question or key, ``unanswered`` lack a reply in one of the runs, and
    ``reworded`` were asked in other wordings. ``probes`` and ``traps`` are the pairs that are left.
    """

    first: int
    second: int
    items: int
    changed: int
    unanswered: int
    reworded: int
    probes: int
    traps: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
    """One run's replies to the common items, by item in their order, and the same counted.

    ``stated`` has the confidence of each reply as a fraction or NaN; ``scale_note`` says how it was read.
    """

    replies: tuple[tuple[Record, ...], ...]
    stated: tuple[tuple[float, ...], ...]
    tally: Tally
    scale_note: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Paired:
    """Two runs over the items that both have replied to."""

    common: Common
    items: tuple[Item, ...]
    first: Side
    second: Side


def asked_items(run: Run) -> dict[str, Item]:
    """Return the items of the audit that a run's plan asks, by id; none for an experiment."""
    planned = {call.item_id for call in run.manifest.plan if call.section in MEASURED_SECTIONS}
    return {item.id: item for item in run.manifest.drawn.items() if item.id in planned}


def pair(first: Run, second: Run) -> Paired:
    """Return two runs over the items that are in both, with the same questions and key, and replied to in both.

    Items of one battery, by its SHA-256, are the same by their ids.
    """
    mine, others = asked_items(first), asked_items(second)
    named_alike = [item_id for item_id in mine if item_id in others]
    one_battery = first.manifest.battery.sha256 == second.manifest.battery.sha256
    shared = [i for i in named_alike if one_battery or asked_and_graded(mine[i]) == asked_and_graded(others[i])]
    replied = [{record.item_id for record in run.measured() if record.error is None} for run in (first, second)]
    ids = [item_id for item_id in shared if all(item_id in those for those in replied)]
    sides = [_side(run, ids) for run in (first, second)]
    wordings = [[{record.paraphrase for record in replies} for replies in side.replies] for side in sides]
    traps = sum(isinstance(mine[item_id], Trap) for item_id in ids)
    common = Common(
        first=len(mine),
        second=len(others),
        items=len(shared),
        changed=len(named_alike) - len(shared),
        unanswered=len(shared) - len(ids),
        reworded=sum(a != b for a, b in zip(*wordings, strict=True)),
        probes=len(ids) - traps,
        traps=traps,
    )
    return Paired(common=common, items=tuple(mine[i] for i in ids), first=sides[0], second=sides[1])


def flips(paired: Paired, *, traps: bool) -> Flips:
    """Return which probes, or traps, went from wrong to right and back."""
    right, wrong = ({"abstained"}, {"incorrect", "refused"}) if traps else ({"correct"}, {"incorrect"})
    pairs = [_item_pair(paired, place) for place, item in enumerate(paired.items) if isinstance(item, Trap) is traps]
    decided = [found for found in pairs if {found.first.outcome, found.second.outcome} <= right | wrong]
    gained = tuple(found for found in decided if found.first.outcome in wrong and found.second.outcome in right)
    lost = tuple(found for found in decided if found.first.outcome in right and found.second.outcome in wrong)
    return Flips(gained=gained, lost=lost, n=len(decided), p=mcnemar(len(gained), len(lost)))


def outcome_changes(paired: Paired) -> dict[str, int]:
    """Return how many items came out otherwise, such as ``incorrect to abstained``, the commonest change first."""
    changes: Counter[str] = Counter()
    for one, other in zip(paired.first.replies, paired.second.replies, strict=True):
        before, after = _outcome(one), _outcome(other)
        if before != after:
            changes[f"{before} to {after}"] += 1
    return dict(changes.most_common())


def confidence_shift(paired: Paired, *, same: bool, draws: int, seed: int) -> tuple[Estimate, tuple[Moved, ...]]:
    """Return the mean shift of the confidence in probes answered in both runs, in points, and those that moved most.

    Args:
        paired: the runs.
        same: every item comes out alike in both, so that the shift is exactly 0.
        draws: bootstrap draws over items.
        seed: of the bootstrap.
    """
    shifts = _answered(paired.second) - _answered(paired.first)
    answered = np.flatnonzero(np.isfinite(shifts))
    order = sorted(answered.tolist(), key=lambda place: (-abs(shifts[place]), paired.items[place].id))
    moved = tuple(
        Moved(**msgspec.structs.asdict(_item_pair(paired, place)), shift=float(shifts[place]))
        for place in order[:MOVED]
        if shifts[place]
    )
    if same and answered.size:
        return Estimate(value=0.0, ci=(0.0, 0.0), n=answered.size, method=ALIKE), moved
    nothing = "no data: no probe was answered with a confidence in both runs"
    return mean_over_items(shifts, undefined=nothing, draws=draws, seed=seed), moved


def stated_in_both(paired: Paired) -> tuple[tuple[float, float], ...]:
    """Return both runs' confidence in each probe that is answered in both, in points."""
    both = zip(_answered(paired.first).tolist(), _answered(paired.second).tolist(), strict=True)
    return tuple((first, second) for first, second in both if math.isfinite(first) and math.isfinite(second))


def asked_and_graded(item: Item) -> tuple[type[Item], dict[str, object]]:
    """Return everything of an item that a model's answer or its grade depends on."""
    return type(item), {name: part for name, part in msgspec.structs.asdict(item).items() if name not in _LABELS}


def _side(run: Run, ids: Sequence[str]) -> Side:
    places = {item_id: place for place, item_id in enumerate(ids)}
    records = run.measured()
    columns, note = run_columns(run, records)
    rows = np.array([r for r, record in enumerate(records) if record.item_id in places], dtype=np.int64)
    numbers = np.array([places[records[row].item_id] for row in rows], dtype=np.int64)
    # by the place among the common items, so that both runs count them in the same order
    chosen = replace(columns.rows(rows), item=numbers)
    replies: list[list[Record]] = [[] for _ in ids]
    stated: list[list[float]] = [[] for _ in ids]
    for row, place in zip(rows.tolist(), numbers.tolist(), strict=True):
        if records[row].error is None:
            replies[place].append(records[row])
            stated[place].append(float(columns.confidence[row]))
    return Side(
        replies=tuple(map(tuple, replies)),
        stated=tuple(map(tuple, stated)),
        tally=tally_of(chosen, by_item=True),
        scale_note=note,
    )


def _outcome(replies: Sequence[Record]) -> str:
    """Return the outcome of an item: the one that more of its replies have than any other."""
    (outcome, most), *others = Counter(record.outcome for record in replies).most_common(2)
    return MIXED if others and others[0][1] == most else outcome


def _item_pair(paired: Paired, place: int) -> ItemPair:
    item = paired.items[place]
    sides = [_reply(item, side.replies[place], side.stated[place]) for side in (paired.first, paired.second)]
    return ItemPair(id=item.id, bin=item.bin, first=sides[0], second=sides[1])


def _reply(item: Item, replies: Sequence[Record], stated: Sequence[float]) -> ItemReply:
    outcome = _outcome(replies)
    like = [record for record in replies if record.outcome == outcome] or list(replies)
    known = [value for value in stated if math.isfinite(value)]
    right = "abstained" if isinstance(item, Trap) else "correct"
    return ItemReply(
        answer=like[0].answer,
        outcome=outcome,
        confidence=_points(known) if known else None,
        right=sum(record.outcome == right for record in replies),
        replies=len(replies),
    )


def _answered(side: Side) -> Floats:
    """Return the mean confidence of each probe's graded replies in points, NaN where there is none and for traps."""
    means = np.full(len(side.replies), np.nan)
    for place, (replies, stated) in enumerate(zip(side.replies, side.stated, strict=True)):
        known = [
            value
            for record, value in zip(replies, stated, strict=True)
            if not record.trap and record.outcome in GRADED and math.isfinite(value)
        ]
        if known:
            means[place] = _points(known)
    return means


def _points(fractions: Sequence[float]) -> float:
    """Return the mean of some confidences in points, without the rounding error of the fractions."""
    return round(100 * sum(fractions) / len(fractions), 6)
