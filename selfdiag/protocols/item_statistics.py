"""What runs say of the items themselves."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import msgspec
import numpy as np

from selfdiag.runs.plan import FRESH_CHECK
from selfdiag.runs.records import MEASURED_SECTIONS, Record
from selfdiag.runs.store import Run

FEW = 3
"""Below so many runs a correlation over runs says nothing."""
DIFFICULTY_RANK = {"easy": 0, "medium": 1, "hard": 2}


class ItemStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """One item over several runs.

    ``n`` counts usable replies; ``share_right`` is the share that were right (for a trap: abstained);
    ``rest_correlation`` is the Pearson correlation over runs between being right here and the share right on
    the other items; ``paraphrase_spread`` is the largest minus the smallest share right of its wordings.
    """

    id: str
    bin: str
    difficulty: str | None
    n: int
    share_right: float | None
    rest_correlation: float | None
    paraphrase_spread: float | None
    remarks: tuple[str, ...] = ()


class BatteryStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """All items that were asked, and notes on what cannot be said."""

    schema: str = "selfdiag.items/1"
    runs: int
    items: tuple[ItemStatistics, ...]
    notes: tuple[str, ...] = ()


def item_statistics(runs: Sequence[Run]) -> BatteryStatistics:
    """Return the statistics of every item over the runs; replies that cannot be used are left out."""
    scores: dict[str, dict[int, list[tuple[int, bool]]]] = defaultdict(lambda: defaultdict(list))
    known: dict[str, Record] = {}
    for index, run in enumerate(runs):
        for record in run.latest().values():
            right = _right(record)
            if right is not None and record.section in {*MEASURED_SECTIONS, FRESH_CHECK}:
                scores[record.item_id][index].append((record.paraphrase, right))
                known[record.item_id] = record
    shares = {
        item_id: {index: float(np.mean([right for _, right in rows])) for index, rows in by_run.items()}
        for item_id, by_run in scores.items()
    }
    by_level = _shares_by_level(shares, known)
    items = tuple(_item(item_id, scores[item_id], shares, known[item_id], by_level) for item_id in sorted(scores))
    notes = []
    if len(runs) < FEW:
        notes.append(f"the correlation with the rest needs {FEW} runs of different models, here are {len(runs)}")
    return BatteryStatistics(runs=len(runs), items=items, notes=tuple(notes))


def _right(record: Record) -> bool | None:
    if record.trap:
        usable = record.outcome in {"abstained", "incorrect", "refused"}
        return record.outcome == "abstained" if usable else None
    usable = record.outcome in {"correct", "incorrect", "abstained", "refused"}
    return record.outcome == "correct" if usable else None


def _item(
    item_id: str,
    by_run: dict[int, list[tuple[int, bool]]],
    shares: dict[str, dict[int, float]],
    record: Record,
    by_level: dict[tuple[str, str], float],
) -> ItemStatistics:
    rows = [row for found in by_run.values() for row in found]
    share = float(np.mean([right for _, right in rows]))
    wordings: dict[int, list[bool]] = defaultdict(list)
    for paraphrase, right in rows:
        wordings[paraphrase].append(right)
    means = [float(np.mean(found)) for found in wordings.values()]
    remarks = []
    if share == 1.0 and len(by_run) >= FEW:
        remarks.append("never missed")
    if share == 0.0 and len(by_run) >= FEW:
        remarks.append("never hit")
    if _out_of_order(record, share, by_level):
        remarks.append("difficulty out of order")
    return ItemStatistics(
        id=item_id,
        bin=record.bin,
        difficulty=record.difficulty,
        n=len(rows),
        share_right=share,
        rest_correlation=_rest_correlation(item_id, shares),
        paraphrase_spread=max(means) - min(means) if len(means) > 1 else None,
        remarks=tuple(remarks),
    )


def _rest_correlation(item_id: str, shares: dict[str, dict[int, float]]) -> float | None:
    own, rest = [], []
    for index, share in shares[item_id].items():
        others = [by_run[index] for other, by_run in shares.items() if other != item_id and index in by_run]
        if others:
            own.append(share)
            rest.append(float(np.mean(others)))
    if len(own) < FEW or len(set(own)) == 1 or len(set(rest)) == 1:
        return None
    value = float(np.corrcoef(own, rest)[0, 1])
    return value if math.isfinite(value) else None


def _shares_by_level(shares: dict[str, dict[int, float]], known: dict[str, Record]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item_id, by_run in shares.items():
        record = known[item_id]
        if record.difficulty is not None:
            found[record.bin, record.difficulty] += by_run.values()
    return {key: float(np.mean(values)) for key, values in found.items()}


def _out_of_order(record: Record, share: float, by_level: dict[tuple[str, str], float]) -> bool:
    """Say whether an item is right more often than an easier level of its bin, or less often than a harder one."""
    if record.difficulty is None:
        return False
    own = DIFFICULTY_RANK[record.difficulty]
    for level, rank in DIFFICULTY_RANK.items():
        other = by_level.get((record.bin, level))
        if other is not None and ((rank < own and share > other) or (rank > own and share < other)):
            return True
    return False
