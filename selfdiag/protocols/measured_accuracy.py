"""Measured accuracy by topic, the same wherever a profile is made of a run: an item counts once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from selfdiag.battery.items import Probe
from selfdiag.runs.store import Run

GRADES = {"correct": 1, "incorrect": 0}


def first_grades(measured: Run) -> dict[str, int]:
    """Return 1 for right and 0 for wrong by item id: the first graded wording of each item counts."""
    grades: dict[str, int] = {}
    for record in measured.measured():
        if not record.trap and record.outcome in GRADES:
            grades.setdefault(record.item_id, GRADES[record.outcome])
    return grades


def grades_by_topic(
    probes: Iterable[Probe], grades: Mapping[str, int], bins: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Return the grades of each topic's items, empty for a topic without a graded one.

    Args:
        probes: the items that count.
        grades: 1 or 0 by item id, as ``first_grades`` returns them.
        bins: every topic to name, in the order of the result.
    """
    by_topic: dict[str, list[int]] = {name: [] for name in bins}
    for probe in probes:
        if probe.id in grades:
            by_topic[probe.bin].append(grades[probe.id])
    return {name: tuple(found) for name, found in by_topic.items()}


def percent_right(grades: Sequence[int]) -> int | None:
    """Return the share of items that are right in whole percent, None without a graded one."""
    return whole(100 * sum(grades) / len(grades)) if grades else None


def whole(percent: float) -> int:
    """Return a percentage as it stands in a prompt: a whole number, halves rounded up."""
    return math.floor(percent + 0.5)
