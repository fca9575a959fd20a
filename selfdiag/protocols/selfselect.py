"""Self-selection: can a model tell its right answer from its wrong one, and does it know how well?

Every item gets two candidate answers, and then the model picks one of them and says how sure it is. Source of the
design: the category-constrained diagnostics study.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from selfdiag.elicit.selection import LONGEST_SHOWN
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.itemwise import mean_over_items
from selfdiag.measure.resampling import DRAWS, SEED, wilson
from selfdiag.measure.sample import Sample
from selfdiag.measure.selection import ActOrDefer, OrderEffect, act_or_defer, order_effect
from selfdiag.measure.summary import confidence_metrics
from selfdiag.measure.tally import Tally
from selfdiag.protocols.audit import standing
from selfdiag.protocols.categories import Diagnostics, diagnostics_of
from selfdiag.protocols.measured_accuracy import GRADES
from selfdiag.protocols.rows import tally_of
from selfdiag.protocols.selection_pairs import READ, Pair, mean, pairs_of
from selfdiag.protocols.summary import SummaryBattery, SummaryModel, model_of
from selfdiag.runs.columns import Columns, columns_of
from selfdiag.runs.records import SELFSELECT
from selfdiag.runs.selection_plan import WARM_FROM
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError

SCHEMA = "selfdiag.selfselect/1"
FEWEST = 20
"""With picks from fewer pairs of one right and one wrong answer there is no verdict."""
CHANCE = 0.5
"""Picks that know nothing are right so often."""
SURE = 0.8
"""From this confidence on a model counts as sure."""


class Pairs(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the items: in ``mixed`` pairs one answer is right and the other wrong.

    ``identical`` are those of ``both_right`` and ``both_wrong`` whose answers are the same text, so that nothing is
    left to pick. ``incomplete`` lack a graded answer, ``missing`` says why by outcome, and how often; ``not_asked``
    have not got both replies yet.
    """

    mixed: int
    both_right: int
    both_wrong: int
    identical: int
    incomplete: int
    not_asked: int
    missing: dict[str, int]


class Alike(msgspec.Struct, frozen=True, kw_only=True):
    """Picks between two right answers or two wrong ones, of which no pick is right or wrong.

    ``mean_confidence`` (0-100) and ``sure``, the share stated at 80 or more, are over the picks that state one.
    """

    pairs: int
    picks: int
    mean_confidence: float | None
    sure: Estimate


class Solving(msgspec.Struct, frozen=True, kw_only=True):
    """How often its own answers are right: ``ways`` by the prompt that asked for them, ``accuracy`` an item's mean.

    ``picked`` is the accuracy of the answers it picks, over items with both answers graded, two right or two wrong ones
    included, and ``gain`` what picking adds to the mean of the two; both over items whose pick could be read, or is not
    needed.
    """

    ways: tuple[Estimate, Estimate]
    accuracy: Estimate
    picked: Estimate
    gain: Estimate


class Order(OrderEffect, frozen=True, kw_only=True):
    """Whether the order in which two answers are shown decides the pick.

    ``first_shown`` is the share of picks of the answer shown first over all pairs; ``accuracy`` that of right picks
    where the right answer is shown first and where it is shown second, ``difference`` the first minus the second.
    ``turned`` is how far the share of picks of one answer differs between the two orders: with one pick in each, the
    share of pairs whose pick turns with the order.
    """

    turned: Estimate


class Consistency(msgspec.Struct, frozen=True, kw_only=True):
    """The share of an item's picks that agree, taken for a confidence in the answer picked most often.

    One row is one mixed pair; of answers picked equally often the one picked first counts.
    """

    pairs: int
    metrics: dict[str, Estimate]
    act_or_defer: tuple[ActOrDefer, ...]


class SelfSelection(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a self-selection over ``items``, each with ``selections`` picks planned.

    ``metrics`` and ``act_or_defer`` are over the picks between a right and a wrong answer, and so are the categories;
    their intervals draw items with all their picks. ``unread`` counts replies that pick nothing, by outcome.
    ``consistency`` is None with fewer picks than it needs.
    """

    schema: str = SCHEMA
    run_id: str
    model: SummaryModel
    battery: SummaryBattery
    items: int
    selections: int
    sampled: bool
    sentence: str
    pairs: Pairs
    picks: int
    unread: dict[str, int]
    solving: Solving
    mean_confidence: float | None
    metrics: dict[str, Estimate]
    both_right: Alike
    both_wrong: Alike
    order: Order
    act_or_defer: tuple[ActOrDefer, ...]
    consistency: Consistency | None
    categories: Diagnostics
    notes: tuple[str, ...]


def selfselect_of(run: Run, *, draws: int = DRAWS, seed: int = SEED) -> SelfSelection:
    """Return the result of a self-selection, complete or not; a deterministic function of the run's two files.

    Args:
        run: manifest and records.
        draws: bootstrap draws over items.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when the run holds no self-selection.
    """
    manifest, latest = run.manifest, run.latest()
    calls = [call for call in manifest.plan if call.section == SELFSELECT]
    if not calls:
        raise SelfdiagError(f"the run {manifest.run_id} holds no self-selection")
    records = [latest[call.call_id] for call in calls if call.call_id in latest]
    columns, scale_note = columns_of(records)
    stated = {record.call_id: p for record, p in zip(records, columns.confidence.tolist(), strict=True)}
    pairs = pairs_of(run, stated)
    mixed = [pair for pair in pairs if pair.mixed]
    graded = columns.rows(np.flatnonzero([record.outcome in GRADES for record in records]))
    selections = max(Counter(call.item_id for call in calls).values())
    tally, by_item = _tallies(graded)
    metrics = confidence_metrics(tally, by_item, draws=draws, seed=seed)
    solving = _solving(pairs, draws, seed)
    confidences = graded.confidence[np.isfinite(graded.confidence)]
    return SelfSelection(
        run_id=manifest.run_id,
        model=model_of(run),
        battery=SummaryBattery(
            id=manifest.battery.id,
            version=manifest.battery.version,
            sha256=manifest.battery.sha256,
            draw=manifest.settings.battery,
            probes=len(pairs),
            traps=0,
            seed=manifest.settings.seed,
        ),
        items=len(pairs),
        selections=selections,
        sampled=selections >= WARM_FROM,
        sentence=selection_sentence(
            sum(bool(pair.picks) for pair in mixed), len(pairs), metrics["accuracy"], metrics["gap"]
        ),
        pairs=_counts(pairs),
        picks=len(graded),
        unread=dict(Counter(record.outcome for record in records if record.outcome not in READ)),
        solving=solving,
        mean_confidence=100 * float(confidences.mean()) if confidences.size else None,
        metrics=metrics,
        both_right=_alike([pair for pair in pairs if pair.both(1)], draws, seed),
        both_wrong=_alike([pair for pair in pairs if pair.both(0)], draws, seed),
        order=_order(pairs, draws, seed) if selections > 1 else _order_of_singles(pairs),
        act_or_defer=act_or_defer(Sample(tally, by_item, draws=draws, seed=seed)),
        consistency=_consistency(mixed, draws, seed) if selections >= WARM_FROM else None,
        categories=diagnostics_of(graded, draws=draws, seed=seed),
        notes=_notes(run, pairs, solving, scale_note),
    )


def selection_sentence(picked: int, items: int, accuracy: Estimate, gap: Estimate) -> str:
    """Return whether the picks are better than chance, and whether the model knows how good they are.

    Args:
        picked: pairs of one right and one wrong answer with a pick that could be read.
        items: all items.
        accuracy: share of right picks between them.
        gap: mean confidence minus that share.
    """
    if accuracy.value is None:
        return f"Nothing to tell: in none of {items} items it picked between a right and a wrong answer."
    if picked < FEWEST:
        return (
            f"Too few for a verdict: in {picked} of {items} items it picked between a right and a wrong answer, and "
            f"{FEWEST} are needed: ask more items (--battery full), or easier or harder ones (--hardness)."
        )
    low, high = accuracy.ci or (accuracy.value, accuracy.value)
    verdict = "which is not shown to be better than chance"
    if low > CHANCE:
        verdict = "better than chance"
    elif high < CHANCE:
        verdict = "worse than chance"
    said = f"Between its right and its wrong answer it picks the right one {100 * accuracy.value:.0f} % of the time"
    return f"{said}, {verdict}; {_of_gap(gap)}."


def _of_gap(gap: Estimate) -> str:
    if gap.value is None or gap.ci is None:
        return "whether it is as sure as that cannot be said"
    low, high = gap.ci
    if low > 0:
        return "it says that it is surer than that"
    if high < 0:
        return "it says that it is less sure than that"
    return "how sure it says it is may fit that"


def _tallies(columns: Columns) -> tuple[Tally, Tally | None]:
    """Return the graded picks by confidence, and once more by item where items have several."""
    several = np.unique(columns.item).size < len(columns)
    return tally_of(columns), tally_of(columns, by_item=True) if several else None


def _counts(pairs: Sequence[Pair]) -> Pairs:
    lacking = [pair for pair in pairs if pair.there and not pair.graded]
    outcomes = [one.outcome for pair in lacking for one in pair.answers if one is not None]
    return Pairs(
        mixed=sum(pair.mixed for pair in pairs),
        both_right=sum(pair.both(1) for pair in pairs),
        both_wrong=sum(pair.both(0) for pair in pairs),
        identical=sum(pair.identical for pair in pairs),
        incomplete=len(lacking),
        not_asked=sum(not pair.there for pair in pairs),
        missing=dict(Counter(outcome for outcome in outcomes if outcome not in GRADES)),
    )


def _alike(pairs: Sequence[Pair], draws: int, seed: int) -> Alike:
    stating = [[pick.p for pick in pair.picks if math.isfinite(pick.p)] for pair in pairs]
    every = [p for one in stating for p in one]
    sure = [mean([float(p >= SURE) for p in one]) for one in stating]
    return Alike(
        pairs=len(pairs),
        picks=sum(len(pair.picks) for pair in pairs),
        mean_confidence=100 * mean(every) if every else None,
        sure=_share(sure, "no data: no pick between them states a confidence", draws, seed),
    )


def _solving(pairs: Sequence[Pair], draws: int, seed: int) -> Solving:
    none, unpicked = "no data: no answer was graded", "no data: no item has a pick, or two answers that need none"
    first, second = (_share([pair.right[way] for pair in pairs], none, draws, seed) for way in (0, 1))
    means = [mean([grade for grade in pair.right if not math.isnan(grade)]) for pair in pairs]
    # of two right or two wrong answers whichever is picked has the same grade
    picked = [mean(pair.hits()) if pair.mixed else sum(pair.right) / 2 for pair in pairs]
    gain = [value - sum(pair.right) / 2 for pair, value in zip(pairs, picked, strict=True)]
    return Solving(
        ways=(first, second),
        accuracy=_share(means, none, draws, seed),
        picked=_share(picked, unpicked, draws, seed),
        gain=mean_over_items(gain, undefined=unpicked, draws=draws, seed=seed),
    )


def _order(pairs: Sequence[Pair], draws: int, seed: int) -> Order:
    """Return the order effect where every item is asked in both orders; each figure pairs them by item."""
    shares = [
        [mean([float(pick.way == 0) for pick in pair.picks if pick.first == first]) for first in (0, 1)]
        for pair in pairs
    ]
    mixed = [pair for pair in pairs if pair.mixed]
    by_place = [
        # the place of the right answer: shown first, and shown second
        (mean(pair.hits(pair.right.index(1))), mean(pair.hits(pair.right.index(0))))
        for pair in mixed
    ]
    none, alone = "no data: no pick in this order", "no data: nothing in both orders"
    return Order(
        # the first answer when it stands first, and the second one when that does
        first_shown=_share([(forward + 1 - backward) / 2 for forward, backward in shares], alone, draws, seed),
        accuracy=(
            _share([first for first, _ in by_place], none, draws, seed),
            _share([second for _, second in by_place], none, draws, seed),
        ),
        difference=mean_over_items(
            [first - second for first, second in by_place], undefined=alone, draws=draws, seed=seed
        ),
        turned=_share([abs(forward - backward) for forward, backward in shares], alone, draws, seed),
    )


def _order_of_singles(pairs: Sequence[Pair]) -> Order:
    """Return the order effect where every item is asked in one order alone."""
    picked = [(pair, pair.picks[0]) for pair in pairs if pair.picks]
    # by the place of the right answer
    hits: tuple[list[float], list[float]] = ([], [])
    for pair, pick in picked:
        if pair.mixed:
            hits[pair.right[pick.first] == 0].append(pair.right[pick.way])
    found = order_effect(
        picked_first=sum(pick.way == pick.first for _, pick in picked),
        picks=len(picked),
        hits=(int(sum(hits[0])), int(sum(hits[1]))),
        n=(len(hits[0]), len(hits[1])),
    )
    return Order(
        first_shown=found.first_shown,
        accuracy=found.accuracy,
        difference=found.difference,
        turned=estimate(None, note="not defined: one order an item"),
    )


def _consistency(mixed: Sequence[Pair], draws: int, seed: int) -> Consistency:
    rows = []
    for pair in mixed:
        counted = Counter(pick.way for pick in pair.picks)
        # of equal ones the counter names that which came first
        for way, count in counted.most_common(1):
            rows.append((pair.right[way], count / len(pair.picks)))
    columns = Columns(
        item=np.arange(len(rows)),
        bin=("",) * len(rows),
        trap=np.zeros(len(rows), dtype=np.bool_),
        outcome=tuple("correct" if right else "incorrect" for right, _ in rows),
        confidence=np.array([share for _, share in rows], dtype=np.float64),
        free_text=np.zeros(len(rows), dtype=np.bool_),
    )
    tally = tally_of(columns)
    return Consistency(
        pairs=len(rows),
        metrics=confidence_metrics(tally, draws=draws, seed=seed),
        act_or_defer=act_or_defer(Sample(tally, draws=draws, seed=seed)),
    )


def _share(values: Sequence[float], undefined: str, draws: int, seed: int) -> Estimate:
    """Return the mean of a share of each item; where every draw gives the same, with Wilson's interval."""
    found = mean_over_items(values, undefined=undefined, draws=draws, seed=seed)
    if found.value is None or found.ci is not None:
        return found
    return estimate(found.value, wilson(found.value * found.n, found.n), n=found.n, method="Wilson over items")


def _notes(run: Run, pairs: Sequence[Pair], solving: Solving, scale_note: str) -> tuple[str, ...]:
    notes = [*standing(run)]
    if scale_note:
        notes.append(scale_note)
    if 0 < solving.picked.n < solving.accuracy.n:
        notes.append(
            f"what picking adds is over {solving.picked.n} items, those with both answers graded and a pick where one "
            f"is needed; its answers right is over {solving.accuracy.n}, so the two do not add up"
        )
    answers = [one.answer or "" for pair in pairs for one in pair.answers if one is not None]
    long = sum(len(answer) > LONGEST_SHOWN for answer in answers)
    if long:
        notes.append(f"{long} answers were longer than the {LONGEST_SHOWN} characters that are shown of each")
    without = run.manifest.model.details.get("asked_without", "")
    if "top_p" in without or "temperature" in without:
        notes.append(f"the server does not take every sampling parameter, it was asked without: {without}")
    return (*notes, *run.problems)
