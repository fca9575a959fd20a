"""One run with its bootstrap draws, and how an interval is put beside a value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from selfdiag.measure.counts import Counts, Floats, Ints
from selfdiag.measure.estimate import Estimate, estimate, join_notes
from selfdiag.measure.resampling import (
    DRAWS,
    SEED,
    Interval,
    Jackknife,
    bca_interval,
    percentile_interval,
    wilson,
)
from selfdiag.measure.tally import Tally, leave_one_out, resample

Kind = Literal["probes", "traps"]
IntervalKind = Literal["percentile", "bca"]
Measure = Callable[[Tally], Floats]
MOST_LEVELS = 256
"""With more distinct confidences than this the draws merge neighbours; the values themselves do not."""

Value = TypeVar("Value", bound=np.generic)


class Sample:
    """A run together with its joint bootstrap over items, made once and shared by all measures.

    ``point`` is the run. ``items``, the run with one entry per item, is needed when items have several rows:
    they are then resampled whole, and Wilson and DeLong intervals give way to the bootstrap (``clustered``).
    ``merged`` tells that the draws merge neighbouring confidences because there are too many, of the run or by item.
    """

    def __init__(
        self,
        tally: Tally,
        items: Tally | None = None,
        *,
        draws: int = DRAWS,
        seed: int = SEED,
        interval: IntervalKind = "percentile",
    ) -> None:
        self.point = tally
        self.clustered = items is not None
        self._items = items
        self._interval = interval
        self._resampled = tally
        self._left_out: tuple[Tally, Jackknife] | None = None
        self._how = f"{draws} draws of {'items' if self.clustered else 'rows'}, seed {seed}"
        levels = tally.answered.levels.size
        if levels > MOST_LEVELS:
            # A column per distinct value and a row per draw would not fit into memory.
            self._resampled = tally.merged(MOST_LEVELS)
            self._items = items.merged(MOST_LEVELS) if items is not None else None
        drawn = self._resampled if self._items is None else self._items
        groups = drawn.answered.levels.size
        # the table by item may come with merged confidences: the values are not to be taken from it
        self.merged = groups < levels
        if self.merged:
            self._how += f", {groups} groups of neighbouring confidences"
        self._stacked = resample(self._resampled, self._items, draws=draws, seed=seed, point_first=True)

    def draws(self, measure: Callable[[Tally], NDArray[Value]]) -> NDArray[Value]:
        """Return a measure on each draw, shape (draws,)."""
        return measure(self._stacked)[1:]

    def value(self, measure: Measure) -> float:
        """Return the measure on the run itself, NaN where undefined."""
        return float(measure(self.point))

    def interval(self, measure: Measure) -> tuple[float, Interval]:
        """Return the measure on the run and its bootstrap interval."""
        values = np.asarray(measure(self._stacked), dtype=np.float64)
        point = self.value(measure) if self.merged else float(values[0])
        draws = values[1:]
        if not math.isfinite(point):
            return point, Interval(ci=None, method="")
        made = self._bca(point, draws, measure) if self._interval == "bca" else percentile_interval(draws)
        method = f"{made.method}, {self._how}" if made.method else ""
        return point, msgspec.structs.replace(made, method=method)

    def bootstrap(self, measure: Measure, n: int, *, undefined: str, note: str = "") -> Estimate:
        """Return the measure with its bootstrap interval.

        ``undefined`` is the note when there is no value, ``note`` one that accompanies a value.
        """
        point, made = self.interval(measure)
        return self._told(point, made, n, undefined, note)

    def _told(self, point: float, made: Interval, n: int, undefined: str, note: str) -> Estimate:
        if not math.isfinite(point):
            return estimate(None, n=n, note=undefined)
        outside = ""
        if made.ci is not None and not made.ci[0] <= point <= made.ci[1]:
            side = "above" if point < made.ci[0] else "below"
            outside = f"resampling noise moves this measure: its interval lies {side} the value"
        return estimate(point, made.ci, n=n, method=made.method, note=join_notes(note, made.note, outside))

    def proportion(self, measure: Measure, n: int, *, undefined: str, note: str = "", of: Kind = "probes") -> Estimate:
        """Return a share of ``n`` rows with Wilson's interval, or with the bootstrap's when rows cluster.

        A bootstrap interval without width, as for 10 right of 10, is replaced by Wilson's over the items.
        """
        if self.clustered:
            return self.share(measure, n, undefined=undefined, note=note, of=of)
        point = self.value(measure)
        if not math.isfinite(point):
            return estimate(None, n=n, note=undefined)
        return estimate(point, wilson(round(point * n), n), n=n, method="Wilson", note=note)

    def share(
        self,
        measure: Measure,
        n: int,
        *,
        undefined: str,
        note: str = "",
        of: Kind = "probes",
        surest: int | None = None,
    ) -> Estimate:
        """Return a share of ``n`` rows that is bootstrapped even when rows do not cluster.

        A bootstrap without an interval gives way to Wilson's, over the items behind the share when rows cluster:
        those with a row in its denominator, or among the ``surest`` answers where it is a share of these.
        """
        point, made = self.interval(measure)
        if made.ci is not None or not math.isfinite(point):
            return self._told(point, made, n, undefined, note)
        trials, over = n, "Wilson"
        if self._items is not None:
            behind = self.items_of(of, measure) if surest is None else int(items_kept(self._items.answered, surest))
            trials, over = min(n, behind), "Wilson over items"
        return estimate(point, wilson(point * trials, trials), n=n, method=over, note=join_notes(note, made.undefined))

    def items_of(self, kind: Kind, behind: Measure | None = None) -> int:
        """Return how many items have rows, with one in the denominator of ``behind``; 0 when rows do not cluster."""
        if self._items is None:
            return 0
        cells = self._items.probe_cells() if kind == "probes" else self._items.trap_cells()
        present = cells.any(axis=1)
        if behind is not None:
            present &= np.isfinite(behind(self._items))
        return int(present.sum())

    def _bca(self, point: float, draws: Floats, measure: Measure) -> Interval:
        if self._left_out is None:
            tally, alike, stratum = leave_one_out(self._resampled, self._items)
            self._left_out = tally, Jackknife(values=np.empty(0), multiplicity=alike, stratum=stratum)
        tally, units = self._left_out
        values = np.asarray(measure(tally), dtype=np.float64)
        return bca_interval(
            point, draws, Jackknife(values=values, multiplicity=units.multiplicity, stratum=units.stratum)
        )


def items_kept(items: Counts, kept: ArrayLike) -> Ints:
    """Return how many items have an answer among the surest ``kept``, those tied with the last of them included.

    ``items`` has shape (items, k), one table per item; ``kept`` has shape (...), from 1 to the number of answers, which
    is the shape of the result.
    """
    from_the_top = items.total[:, ::-1]
    used = from_the_top.any(axis=1)
    surest = np.sort(from_the_top[used].astype(np.bool_).argmax(axis=1))
    reached = np.searchsorted(from_the_top.sum(axis=0).cumsum(), kept)
    return np.asarray(np.searchsorted(surest, reached, side="right"), dtype=np.int64)
