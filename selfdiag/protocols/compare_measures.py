"""The measures that two runs are compared in, each with its paired difference and what it takes to test it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import msgspec
import numpy as np

from selfdiag.measure import abstention, calibration, discrimination, selective
from selfdiag.measure.contrast import Contrast, paired_contrasts
from selfdiag.measure.counts import Counts, Floats, Ints, ratio
from selfdiag.measure.estimate import Estimate, join_notes
from selfdiag.measure.graded import FEW, VERY_FEW
from selfdiag.measure.resampling import holm
from selfdiag.measure.sample import Measure
from selfdiag.measure.tally import Tally
from selfdiag.measure.tiers import composite

SMALL = 100
"""Below so many answers a calibration error says more about the sample than about the model."""
ALIKE = "exact: every item comes out alike"
NO_TRAPS = "no traps in common"
OF_THE_SAMPLE = f"fewer than {SMALL} answers: it says more about the sample than about the model"

Behind = Mapping[str, Callable[[Tally], Ints]]
"""What a measure is made of, by its name in the plural: numbers of rows, one per item."""


class Difference(Contrast, frozen=True, kw_only=True):
    """The second run's value of a measure minus the first's, over the items that both were asked.

    ``holm`` is ``p`` after Holm's correction over the headline measures of this pair of runs. Both are None where there
    is too little to test, and ``holm`` for exploratory measures.
    """

    holm: float | None = None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One measure to compare, and what must be ``behind`` it in at least ``FEW`` items of either run to be tested.

    ``items`` says which items it speaks of: ``probes``, ``traps`` or ``both``. With less than ``interval_from`` behind
    it there is no interval, and below ``small_below`` answers the note says that the sample is small.
    """

    measure: Measure
    behind: Behind
    items: str = "probes"
    interval_from: int = 0
    small_below: int = 0


def differences(
    first: Tally, second: Tally, *, draws: int, seed: int
) -> tuple[dict[str, Difference], dict[str, Difference]]:
    """Return the differences in the headline measures and in the exploratory ones, by name.

    Args:
        first: the baseline, one entry per item on the leading axis.
        second: the other run, the same items in the same order.
        draws: bootstrap draws over items.
        seed: of the bootstrap.
    """
    every, same = {**HEADLINE, **EXPLORATORY}, alike(first, second)
    measures = {name: compared.measure for name, compared in every.items()}
    made = paired_contrasts(first, second, measures, draws=draws, seed=seed)
    found = {name: _difference(compared, made[name], first, second, same=same) for name, compared in every.items()}
    tested = {name: p for name in HEADLINE if (p := found[name].p) is not None}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    headline = {name: msgspec.structs.replace(found[name], holm=corrected.get(name)) for name in HEADLINE}
    return headline, {name: found[name] for name in EXPLORATORY}


def alike(first: Tally, second: Tally) -> bool:
    """Return whether every item has the same outcomes and confidences in both."""
    parts = [
        (arm.answered.levels, arm.trap_missed.levels, arm.probe_cells(), arm.trap_cells()) for arm in (first, second)
    ]
    return all(np.array_equal(a, b) for a, b in zip(*parts, strict=True))


def paired_items(first: Tally, second: Tally) -> dict[str, int]:
    """Return how many probes and traps have a reply in both."""
    cells = {"probes": (first.probe_cells(), second.probe_cells()), "traps": (first.trap_cells(), second.trap_cells())}
    return {name: int((a.any(axis=1) & b.any(axis=1)).sum()) for name, (a, b) in cells.items()}


def _difference(compared: Compared, made: Contrast, first: Tally, second: Tally, *, same: bool) -> Difference:
    numbers = paired_items(first, second)
    n = sum(numbers.values()) if compared.items == "both" else numbers[compared.items]
    found, p = msgspec.structs.replace(made.difference, n=n), made.p
    if found.value is None:
        without_traps = _TRAPS.keys() <= compared.behind.keys() and not numbers["traps"]
        where = "second run" if made.second is None else "first run"
        undefined = f"not defined in {'both runs' if made.first is made.second is None else f'the {where}'}"
        found = msgspec.structs.replace(found, note=NO_TRAPS if without_traps else undefined)
    elif same:
        found, p = Estimate(value=0.0, ci=(0.0, 0.0), n=n, method=ALIKE), 1.0
    else:
        what, fewest = _scarcest(compared.behind, first, second)
        lacking = f"too few to test: needs {FEW} {what} in each run, has {fewest}" if fewest < FEW else ""
        p = None if lacking else p
        if fewest < compared.interval_from:
            found = msgspec.structs.replace(found, ci=None, method="")
        small = min(int(arm.answered.n.sum()) for arm in (first, second)) < compared.small_below
        found = msgspec.structs.replace(found, note=join_notes(found.note, lacking, OF_THE_SAMPLE if small else ""))
    return Difference(first=made.first, second=made.second, difference=found, p=p)


def _scarcest(behind: Behind, first: Tally, second: Tally) -> tuple[str, int]:
    """Return which part of a measure the fewest items have, over both runs, and how many they are."""
    items = {what: min(int((rows(arm) > 0).sum()) for arm in (first, second)) for what, rows in behind.items()}
    what = min(items, key=items.__getitem__)
    return what, items[what]


def _of_answers(measure: Callable[[Counts], Floats]) -> Measure:
    return lambda tally: measure(tally.answered)


def _accuracy(tally: Tally) -> Floats:
    return ratio(tally.right, tally.graded)


def _gap_size(tally: Tally) -> Floats:
    return np.abs(calibration.gap(tally.answered))


_GRADED: Behind = {"graded answers": lambda tally: tally.graded}
_ANSWERED: Behind = {"answers with a confidence": lambda tally: tally.answered.n}
_SURE: Behind = {"answers at 80 or more": lambda tally: selective.at_or_above(tally.answered, 0.8).n}
_SORTED: Behind = {
    "right answers": lambda tally: tally.answered.hits,
    "wrong answers": lambda tally: tally.answered.misses,
}
_TRAPS: Behind = {"usable traps": lambda tally: tally.trap_usable}
_PROBES: Behind = {"usable probes": lambda tally: tally.usable}

HEADLINE: Mapping[str, Compared] = {
    "accuracy": Compared(measure=_accuracy, behind=_GRADED),
    "brier": Compared(measure=_of_answers(calibration.brier), behind=_ANSWERED),
    "gap": Compared(measure=_of_answers(calibration.gap), behind=_ANSWERED),
    "auroc": Compared(measure=_of_answers(discrimination.auroc), behind=_SORTED, interval_from=VERY_FEW),
    "discrimination": Compared(measure=_of_answers(discrimination.discrimination), behind=_SORTED),
    "trap_abstention": Compared(measure=abstention.trap_abstention, behind=_TRAPS, items="traps"),
    "youden": Compared(measure=abstention.youden, behind={**_TRAPS, **_PROBES}, items="both"),
}
"""The declared family, corrected together; what a verdict speaks of."""

EXPLORATORY: Mapping[str, Compared] = {
    "gap_size": Compared(measure=_gap_size, behind=_ANSWERED),
    "ece": Compared(measure=_of_answers(calibration.ece), behind=_ANSWERED, small_below=SMALL),
    "high_confidence_error_80": Compared(
        measure=_of_answers(partial(selective.high_confidence_error, threshold=0.8)), behind=_SURE
    ),
    **{
        f"error_at_coverage_{percent}": Compared(
            measure=_of_answers(partial(selective.error_at_coverage, coverage=percent / 100)), behind=_ANSWERED
        )
        for percent in (80, 60, 40, 20)
    },
    "composite": Compared(
        measure=composite, behind={**_ANSWERED, "wrong answers": _SORTED["wrong answers"]}, items="both"
    ),
    "usable_share": Compared(measure=abstention.usable_share, behind={"replies": lambda tally: tally.asked}),
    "non_answer": Compared(measure=abstention.non_answer, behind=_PROBES),
}
"""Shown beside the family, not corrected."""
