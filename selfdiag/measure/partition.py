"""How sure category-constrained volumes are, from the items behind them.

With a few dozen items a category differs from a random group of items less than it looks. So beside the
volumes stand their bootstrap intervals, the same items in random categories, and the same categories with
some grades turned over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from selfdiag.measure.constrained import (
    NO_ANSWERS,
    VOLUMES,
    Categories,
    Grid,
    battery_note,
    mean_volumes,
    volume_values,
    volumes,
)
from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.estimate import Estimate, estimate, join_notes
from selfdiag.measure.resampling import DRAWS, SEED, item_weights, percentile_interval, quantiles

SMALL = 10
"""Below this many items in a category resampling within categories is noticeably too narrow."""

PARTITIONS = 1000
"""Random partitions unless asked otherwise."""

SEEDS = (0, 1, 2, 3, 4)
"""Seeds of label flips and alternative categorisations unless asked otherwise."""

_BLOCK = 2_000_000
_TIE_SLACK = 1e-10

Value = TypeVar("Value", bound=np.generic)


class CategoryItems(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The answered items of one battery in order of category, each with the sums over its rows.

    ``names`` has length K and ``starts`` shape (K,): where each category's items begin. ``rows``, ``hits`` and
    ``stated`` have shape (items,): how many rows an item has, how many are right, the sum of their p. Made by
    ``category_items``.
    """

    names: tuple[str, ...]
    starts: Ints
    rows: Ints
    hits: Ints
    stated: Floats
    note: str = ""

    @property
    def items(self) -> int:
        """Number of items."""
        return self.rows.size

    @property
    def sizes(self) -> Ints:
        """Items in each category, shape (K,)."""
        return np.diff(self.starts, append=self.items)

    def categories(self) -> Categories:
        """Return the accuracy and confidence of each category."""
        hits, n = _sums(self.hits, self.starts), _sums(self.rows, self.starts)
        stated = _sums(self.stated, self.starts)
        return Categories(
            names=self.names,
            hits=tuple(hits.tolist()),
            n=tuple(n.tolist()),
            error=tuple(_error(hits, n, stated).tolist()),
            mean_confidence=tuple((stated / n).tolist()),
            note=self.note,
        )


def category_items(
    category: ArrayLike, correct: ArrayLike, p: ArrayLike, item: Sequence[str] | None = None
) -> CategoryItems:
    """Sort the graded answers of one battery by category.

    All have shape (n,): ``category`` holds codes or names, ``correct`` 0 or 1, ``p`` the stated confidence in
    [0, 1] or NaN, ``item`` the item of each row when items have several. Rows without a confidence leave, and
    so does a category that has no others; notes say so. Raises ``ValueError`` for columns of different length,
    values out of range and an item in two categories.
    """
    labels, right = np.asarray(category).reshape(-1), np.asarray(correct).reshape(-1)
    stated = np.asarray(p, dtype=np.float64).reshape(-1)
    ids = np.arange(labels.size) if item is None else np.asarray(item).reshape(-1)
    if not labels.size == right.size == stated.size == ids.size:
        raise ValueError("categories, answers, confidences and items differ in number")
    if labels.size and labels.dtype.kind not in "iuU":
        raise ValueError("categories are names or whole numbers, all alike")
    if not np.isin(right, (0, 1)).all():
        raise ValueError("an answer is right (1) or wrong (0)")
    if ((stated < 0) | (stated > 1)).any():
        raise ValueError("a stated confidence lies between 0 and 1")
    kept = ~np.isnan(stated)
    names, code = np.unique(labels[kept], return_inverse=True)
    _, unit = np.unique(ids[kept], return_inverse=True)
    home = np.zeros(unit.max(initial=-1) + 1, dtype=np.int64)
    home[unit] = code
    if (home[unit] != code).any():
        raise ValueError("an item lies in two categories")
    order = np.argsort(home, kind="stable")

    def per_item(weights: ArrayLike) -> Floats:
        return np.asarray(np.bincount(unit, weights, minlength=home.size)[order], dtype=np.float64)

    unstated = int((~kept).sum())
    gone = np.setdiff1d(labels, names)
    return CategoryItems(
        names=tuple(str(name) for name in names),
        starts=np.searchsorted(home[order], np.arange(names.size)),
        rows=per_item(np.ones(unit.size)).astype(np.int64),
        hits=per_item(right[kept]).astype(np.int64),
        stated=per_item(stated[kept]),
        note=join_notes(
            f"{unstated} graded without a confidence left out" if unstated else "",
            f"left out, no answers: {', '.join(str(name) for name in gone)}" if gone.size else "",
        ),
    )


def volume_estimates(
    *batteries: CategoryItems, grid: Grid = "closed", draws: int = DRAWS, seed: int = SEED
) -> dict[str, Estimate]:
    """Return every volume by name with its bootstrap interval, the mean over the batteries.

    For ``grid`` see ``volume_values``. Items are drawn within their category, all rows of an item together:
    whoever made the battery set the categories and their sizes, so these are no matter of chance, and no draw
    loses a category, which would change K. Drawing n_c of n_c items understates the spread by the factor
    sqrt(1 - 1/n_c); a note says so for small categories. Resampling adds calibration error to a category that
    has little, so an interval may lie beside its value, and then says that too. Batteries are drawn
    independently; those without answers leave with a note.
    """
    measured = [battery.categories() for battery in batteries]
    present = [battery for battery in batteries if battery.names]
    if not present:
        return volumes(*measured)
    rng = np.random.default_rng(seed)
    values = mean_volumes([volume_values(*_with_draws(battery, draws, rng), grid) for battery in present])
    smallest = min(int(battery.sizes.min()) for battery in present)
    few = ""
    if smallest < SMALL:
        few = f"smallest category has {smallest} item{'s' * (smallest > 1)}: interval too narrow"
    note = battery_note(measured)
    n = sum(int(battery.rows.sum()) for battery in present)
    how = f"{draws} draws of items within categories, seed {seed}"
    return {name: _estimated(value, n, how, few, note) for name, value in values.items()}


class PartitionTest(msgspec.Struct, frozen=True, kw_only=True):
    """A statistic of the categories beside its values when the same items lie in random categories.

    ``percentile`` (0 to 100) is the share of random partitions below the observed value, ties half; ``p`` in
    (0, 1] is one-sided, (1 + partitions at or above it) / (partitions + 1), cautious when partitions tie with
    the observed value. What cannot be given is None, and ``note`` says why.
    """

    observed: float | None
    percentile: float | None
    p: float | None
    null_median: float | None
    partitions: int
    note: str = ""


class PartitionTests(msgspec.Struct, frozen=True, kw_only=True):
    """Whether categories differ more than random groups of the same sizes.

    ``worst_gap`` tests max e_c, ``between_variance`` the variance of s_c over categories (divided by K).
    """

    worst_gap: PartitionTest
    between_variance: PartitionTest


def partition_test(items: CategoryItems, partitions: int = PARTITIONS, seed: int = SEED) -> PartitionTests:
    """Compare the categories with random partitions of the same items into groups of the same sizes.

    The null hypothesis is that items are exchangeable between categories; all rows of an item stay together.
    Without a second category there is no test.
    """
    if len(items.names) < 2:
        reason = "not defined: one category cannot differ from others" if items.names else NO_ANSWERS
        missing = PartitionTest(
            observed=None, percentile=None, p=None, null_median=None, partitions=0, note=join_notes(reason, items.note)
        )
        return PartitionTests(worst_gap=missing, between_variance=missing)
    rng = np.random.default_rng(seed)
    observed = _statistics(*_regrouped(items, np.arange(items.items), items.starts))
    block = max(1, _BLOCK // items.items)
    drawn = []
    for start in range(0, partitions, block):
        order = rng.permuted(np.tile(np.arange(items.items), (min(block, partitions - start), 1)), axis=1)
        drawn.append(_statistics(*_regrouped(items, order, items.starts)))
    null = np.concatenate(drawn, axis=-1) if drawn else np.empty((2, 0))
    worst, variance = (_compared(float(value), row, items.note) for value, row in zip(observed, null, strict=True))
    return PartitionTests(worst_gap=worst, between_variance=variance)


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A volume recomputed under several seeds: its values in order of the seeds, their mean and range."""

    values: tuple[float, ...]
    mean: float | None
    low: float | None
    high: float | None
    note: str = ""


def label_flips(
    items: CategoryItems, percents: Sequence[int] = (10, 20, 30), seeds: Sequence[int] = SEEDS, grid: Grid = "closed"
) -> dict[int, dict[str, Spread]]:
    """Return every volume by name after turning over the grades of some items, by percent of items turned.

    Each of ``percents`` is 0 to 100 of all items, rounded half up; turning an item makes its right rows wrong
    and its wrong rows right and leaves its confidence. One seed turns nested sets, so that percents can be
    compared. Raises ``ValueError`` for a percent out of range.
    """
    if not all(0 <= percent <= 100 for percent in percents):
        raise ValueError("a share of items to turn over lies between 0 and 100 percent")
    # The rank of each item in a random order: a larger share turns these items and more.
    rank = _orders(items.items, seeds)
    result = {}
    for percent in percents:
        turned = (percent * items.items + 50) // 100
        hits = np.where(rank < turned, items.rows - items.hits, items.hits)
        sums = (_sums(hits, items.starts), _sums(items.rows, items.starts), _sums(items.stated, items.starts))
        result[percent] = _spreads(*sums, grid, join_notes(f"{turned} of {items.items} items turned", items.note))
    return result


def alternative_categorisations(
    items: CategoryItems, k: int, seeds: Sequence[int] = SEEDS, grid: Grid = "closed"
) -> dict[str, Spread]:
    """Return every volume by name with the items assigned at random to ``k`` categories, one value per seed.

    The categories are as equal in size as can be. With fewer items than categories there is no value. Raises
    ``ValueError`` when ``k`` is below 1.
    """
    if k < 1:
        raise ValueError("items are assigned to at least one category")
    if items.items < k:
        reason = f"not defined: {items.items} items for {k} categories" if items.items else NO_ANSWERS
        return _no_spreads(join_notes(reason, items.note))
    starts = -(-items.items * np.arange(k) // k)
    return _spreads(*_regrouped(items, _orders(items.items, seeds), starts), grid, items.note)


def _estimated(values: Floats, n: int, how: str, of_interval: str, note: str) -> Estimate:
    """Return an estimate from the value on the data, which comes first, and those on the draws.

    ``of_interval`` is what to say of its interval, where it has one.
    """
    point, made = float(values[0]), percentile_interval(values[1:])
    beside = ""
    if made.ci is not None and not made.ci[0] <= point <= made.ci[1]:
        side = "above" if point < made.ci[0] else "below"
        beside = f"resampling noise moves this volume: its interval lies {side} the value"
    method = f"{made.method}, {how}" if made.ci else ""
    remark = of_interval if made.ci else ""
    return estimate(point, made.ci, n=n, method=method, note=join_notes(made.note, beside, remark, note))


def _with_draws(items: CategoryItems, draws: int, rng: np.random.Generator) -> tuple[Ints, Ints, Floats]:
    """Return hits, answers and calibration error, shape (1 + draws, K), the data themselves first."""
    columns = np.stack([items.hits, items.rows, items.stated], axis=1)
    drawn = [
        np.concatenate([part.sum(axis=0, keepdims=True), *_resampled(part, draws, rng)])
        for part in np.split(columns, items.starts[1:])
    ]
    hits, n, stated = np.moveaxis(np.stack(drawn, axis=1), -1, 0)
    right, total = hits.astype(np.int64), n.astype(np.int64)
    return right, total, _error(right, total, stated)


def _resampled(part: Floats, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    block = max(1, _BLOCK // len(part))
    for start in range(0, draws, block):
        yield item_weights(len(part), min(block, draws - start), rng).astype(np.float64) @ part


def _orders(items: int, seeds: Sequence[int]) -> Ints:
    """Return one random order of the items per seed, shape (seeds, items)."""
    orders = [np.random.default_rng(seed).permutation(items) for seed in seeds]
    return np.array(orders, dtype=np.int64).reshape(len(seeds), items)


def _regrouped(items: CategoryItems, order: Ints, starts: Ints) -> tuple[Ints, Ints, Floats]:
    """Return hits, answers and sums of p, shape (..., K), with the items in another order."""
    return (
        _sums(items.hits[order], starts),
        _sums(items.rows[order], starts),
        _sums(items.stated[order], starts),
    )


def _statistics(hits: Ints, n: Ints, stated: Floats) -> Floats:
    """Return the largest calibration error and the variance of accuracy over categories, shape (2, ...)."""
    return np.stack([_error(hits, n, stated).max(axis=-1), (hits / n).var(axis=-1)])


def _compared(observed: float, null: Floats, note: str) -> PartitionTest:
    if not null.size:
        reason = join_notes("no test: no partitions", note)
        return PartitionTest(observed=observed, percentile=None, p=None, null_median=None, partitions=0, note=reason)
    # The order of a sum changes its last digits: values this close are the same.
    below = int((null < observed - _TIE_SLACK).sum())
    above = int((null > observed + _TIE_SLACK).sum())
    same = "every partition gives the same value" if np.ptp(null) < _TIE_SLACK else ""
    return PartitionTest(
        observed=observed,
        percentile=50 * (null.size + below - above) / null.size,
        p=(1 + null.size - below) / (null.size + 1),
        null_median=float(quantiles(null, 0.5)),
        partitions=null.size,
        note=join_notes(same, note),
    )


def _spreads(hits: Ints, n: Ints, stated: Floats, grid: Grid, note: str) -> dict[str, Spread]:
    """Return the spread of every volume over the leading axis of ``hits``, shape (seeds, K)."""
    if not hits.size:
        return _no_spreads(join_notes(NO_ANSWERS if not n.size else "no data: no seeds", note))
    values = volume_values(hits, np.broadcast_to(n, hits.shape), _error(hits, n, stated), grid)
    return {
        name: Spread(
            values=tuple(value.tolist()),
            mean=float(value.mean()),
            low=float(value.min()),
            high=float(value.max()),
            note=note,
        )
        for name, value in values.items()
    }


def _no_spreads(note: str) -> dict[str, Spread]:
    missing = Spread(values=(), mean=None, low=None, high=None, note=note)
    return dict.fromkeys([*VOLUMES, *(f"{name}_per_category" for name in VOLUMES)], missing)


def _sums(values: NDArray[Value], starts: Ints) -> NDArray[Value]:
    """Return the sums over the items of each category, shape (..., K), of values of shape (..., items)."""
    return np.asarray(np.add.reduceat(values, starts, axis=-1)) if starts.size else values[..., :0]


def _error(hits: Ints, n: Ints, stated: Floats) -> Floats:
    """Return e_c = |q_c - s_c| from right answers, answers and the sum of p."""
    return np.asarray(np.abs(stated - hits) / n)
