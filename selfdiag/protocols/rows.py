"""From rows to numbers: every measure that follows from the rows alone, whatever file they came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from selfdiag.battery.items import GROUPS
from selfdiag.elicit.grading import Outcome
from selfdiag.measure.abstention import bounds
from selfdiag.measure.calibration import BINS
from selfdiag.measure.counts import Counts, mean_confidence, merge_neighbours, pool
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.graded import GRADED_METRICS
from selfdiag.measure.reliability import group_rows, worst_group
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.measure.sample import MOST_LEVELS
from selfdiag.measure.summary import confidence_metrics, measure_run
from selfdiag.measure.tally import Tally, tally_rows
from selfdiag.protocols.summary import Summary, SummaryModel
from selfdiag.runs.columns import Columns

OUTCOMES: tuple[str, ...] = get_args(Outcome)
PER_BIN = 10
"""Below so many answers a bin, tables speak of the five groups instead."""
EASY_ABOVE = 0.85
"""Above this accuracy a battery measures next to nothing."""
MOST_CELLS = 10_000_000
"""Of a table of items by confidences."""
LEAST_LEVELS = 20
BOUNDS_BELOW = 0.90
"""Below this usable share the best and the worst case are given too."""


def summarise_columns(
    columns: Columns,
    *,
    model: SummaryModel,
    attempted_columns: Columns | None = None,
    bins: Sequence[str] = (),
    draws: int = DRAWS,
    seed: int = SEED,
    full_intervals: bool = False,
    ece_bins: int = BINS,
) -> Summary:
    """Return every number that follows from the rows alone, whatever file they came from.

    Args:
        columns: the rows.
        model: who answered.
        attempted_columns: the rows as the attempted-as-wrong figures read them, None where they read the same.
        bins: topics in the order of the table; those of the rows follow.
        draws: bootstrap draws over items.
        seed: of the bootstrap.
        full_intervals: refit the fitted measures in every draw.
        ece_bins: equal-width bins of the calibration error.
    """
    tally = tally_of(columns)
    attempting = columns if attempted_columns is None else attempted_columns
    attempted = tally_of(attempting, attempted=True)
    several = np.unique(columns.item).size < len(columns)
    by_item = tally_of(columns, by_item=True) if several else None
    measured = measure_run(tally, by_item, draws=draws, seed=seed, full_intervals=full_intervals, ece_bins=ece_bins)
    if attempting is columns and attempted.answered.n == tally.answered.n:
        # nobody stated a confidence without an answer: the same set
        metrics_attempted = {name: measured.metrics[name] for name in GRADED_METRICS}
    else:
        attempted_items = tally_of(attempting, by_item=True, attempted=True) if several else None
        metrics_attempted = confidence_metrics(attempted, attempted_items, draws=draws, seed=seed, ece_bins=ece_bins)
    topics = _tables(columns, bins)
    groups = _pooled_topics(topics)
    usable = measured.metrics["usable_share"].value
    limits = bounds(tally) if usable is not None and usable < BOUNDS_BELOW else None
    return Summary(
        model=model,
        counts=_counts(columns),
        metrics=measured.metrics,
        metrics_attempted=metrics_attempted,
        bins=group_rows(topics),
        groups=group_rows(groups),
        worst_bin=worst_group(topics),
        worst_group=worst_group(groups),
        families={},
        composite=measured.composite,
        tier=measured.tier,
        mean_confidence=_mean_confidence(tally),
        mean_confidence_attempted=_mean_confidence(attempted),
        bounds={"accuracy": limits.accuracy, "gap": limits.gap} if limits else None,
        notes=_notes(measured.metrics),
    )


def tally_of(columns: Columns, *, by_item: bool = False, attempted: bool = False) -> Tally:
    """Return the rows counted by outcome and confidence, with one entry per item on request.

    A table of many items by many confidences would not fit into memory: neighbouring confidences are merged there
    first, as the bootstrap does anyway.
    """
    confidence = columns.confidence
    if by_item:
        items = max(np.unique(columns.item).size, 1)
        confidence = merge_neighbours(confidence, max(LEAST_LEVELS, min(MOST_LEVELS, MOST_CELLS // items)))
    return tally_rows(
        columns.outcome,
        confidence,
        trap=columns.trap,
        free_text=columns.free_text,
        item=columns.item if by_item else None,
        attempted=attempted,
    )


def _mean_confidence(tally: Tally) -> float | None:
    return 100 * float(mean_confidence(tally.answered)) if tally.answered.n else None


def _tables(columns: Columns, names: Sequence[str]) -> dict[str, Counts]:
    """Return the answered probes of each topic by confidence; rows without a topic have no table."""
    places = {name: place for place, name in enumerate(names)}
    nowhere = -1
    topic = np.fromiter(
        (places.setdefault(name, len(places)) if name else nowhere for name in columns.bin), np.int64, len(columns)
    )
    rows = np.flatnonzero((topic != nowhere) & ~columns.trap)
    # every topic has a row of its own, also one without any answer
    spare = np.arange(len(places))
    answered = tally_rows(
        (*(columns.outcome[row] for row in rows), *["error"] * spare.size),
        np.concatenate([columns.confidence[rows], np.full(spare.size, np.nan)]),
        item=np.concatenate([topic[rows], spare]),
    ).answered
    return {
        name: Counts(answered.levels, answered.right[place], answered.wrong[place]).occupied()
        for name, place in places.items()
    }


def _pooled_topics(topics: Mapping[str, Counts]) -> dict[str, Counts]:
    groups = {name: [topics[member] for member in members if member in topics] for name, members in GROUPS.items()}
    return {name: pool(members) for name, members in groups.items() if members}


def _counts(columns: Columns) -> dict[str, dict[str, int]]:
    counts = {}
    for section, is_trap in (("probes", False), ("traps", True)):
        tallied = Counter(o for o, trap in zip(columns.outcome, columns.trap.tolist(), strict=True) if trap == is_trap)
        counts[section] = {outcome: tallied[outcome] for outcome in OUTCOMES} | {"not_asked": 0}
    return counts


def _notes(metrics: Mapping[str, Estimate]) -> tuple[str, ...]:
    notes = []
    usable, accuracy = metrics["usable_share"].value, metrics["accuracy"].value
    if usable is not None and usable < BOUNDS_BELOW:
        notes.append(f"only {100 * usable:.0f} % of the replies to probes could be used; the report has the bounds")
    if accuracy is not None and accuracy > EASY_ABOVE:
        notes.append(f"{100 * accuracy:.0f} % right: too easy to measure much")
    return tuple(notes)
