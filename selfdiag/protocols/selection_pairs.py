"""The items of a self-selection as pairs: two answers of a model, and its picks between them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from selfdiag.elicit.selection import LETTERS
from selfdiag.protocols.measured_accuracy import GRADES
from selfdiag.runs.earlier import FORWARD, can_be_spoken_of, spoken_of
from selfdiag.runs.records import ANSWERED, CANDIDATES, SELFSELECT, Record
from selfdiag.runs.store import Run

READ = frozenset({*GRADES, ANSWERED})
"""Outcomes of a reply that picks one of two answers."""


class Pick(msgspec.Struct, frozen=True, kw_only=True):
    """One pick that could be read.

    ``way`` is the answer it takes, 0 or 1, and ``first`` the one that was shown first. ``p`` is the stated confidence
    in [0, 1], NaN where there is none.
    """

    way: int
    first: int
    p: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Pair:
    """One item: its two answers, None where there is no record, and the picks that could be read."""

    answers: tuple[Record | None, Record | None]
    picks: tuple[Pick, ...]

    @property
    def right(self) -> tuple[float, float]:
        """1 for a right answer, 0 for a wrong one, NaN where it was not graded."""
        first, second = (math.nan if one is None else GRADES.get(one.outcome, math.nan) for one in self.answers)
        return first, second

    @property
    def graded(self) -> bool:
        """Whether both answers are right or wrong."""
        return not math.isnan(sum(self.right))

    @property
    def mixed(self) -> bool:
        """Whether one answer is right and the other wrong."""
        return sum(self.right) == 1

    def both(self, grade: int) -> bool:
        """Whether both answers have this grade."""
        return self.right == (grade, grade)

    @property
    def there(self) -> bool:
        """Whether both replies have come."""
        return all(one is not None and one.error is None for one in self.answers)

    @property
    def identical(self) -> bool:
        """Whether both answers are graded and the same text."""
        return self.graded and not can_be_spoken_of([one for one in self.answers if one is not None])

    def hits(self, first: int | None = None) -> list[float]:
        """Return the grade of each picked answer; with ``first``, of the picks alone in which that one stood first."""
        return [self.right[pick.way] for pick in self.picks if first in {None, pick.first}]


def mean(values: list[float]) -> float:
    """Return the mean of some values, NaN without any."""
    return sum(values) / len(values) if values else math.nan


def pairs_of(run: Run, stated: Mapping[str, float]) -> list[Pair]:
    """Return a pair for every item of a self-selection, in the order in which items were drawn.

    Args:
        run: manifest and records.
        stated: the confidence of each pick in [0, 1] or NaN, by call id.
    """
    latest = run.latest()
    plan = run.manifest.plan
    answers = {(call.item_id, call.replicate): latest.get(call.call_id) for call in plan if call.section == CANDIDATES}
    picks: dict[str, list[Pick]] = {}
    calls = [call for call in plan if call.section == SELFSELECT]
    # by their numbers: the first pick of an item is the same whatever the order of the calls
    for call in sorted(calls, key=lambda call: (call.replicate, call.arm != FORWARD)):
        record = latest.get(call.call_id)
        if record is not None and record.outcome in READ and record.answer in LETTERS:
            ways = [way for _, _, _, way in spoken_of(call)]
            pick = Pick(way=ways[LETTERS.index(record.answer)], first=ways[0], p=stated[call.call_id])
            picks.setdefault(call.item_id, []).append(pick)
    return [
        Pair(
            answers=(answers.get((probe.id, 0)), answers.get((probe.id, 1))),
            picks=tuple(picks.get(probe.id, ())),
        )
        for probe in run.manifest.check
    ]
