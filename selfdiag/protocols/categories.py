"""Category-constrained diagnostics of graded answers: accurate, and calibrated, topic by topic.

Source of the measures: the category-constrained diagnostics study.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from selfdiag.battery.items import BINS, GROUPS
from selfdiag.measure.constrained import Grid
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.partition import (
    PARTITIONS,
    CategoryItems,
    PartitionTest,
    Spread,
    alternative_categorisations,
    category_items,
    label_flips,
    partition_test,
    volume_estimates,
)
from selfdiag.measure.resampling import DRAWS, SEED, wilson
from selfdiag.protocols.analysis import Part
from selfdiag.protocols.rows import PER_BIN
from selfdiag.runs.columns import Columns
from selfdiag.safety import SelfdiagError, one_line

SMALL = 24
"""With fewer items in a category its figures are mostly chance."""
CLAIM = (
    "It compares models asked the same way and finds topics in which a model fails or misjudges itself. It certifies "
    "nothing, does not carry over to other questions, and estimates no VC dimension."
)
"""What these diagnostics support, and what they do not."""


class CategoryRow(msgspec.Struct, frozen=True, kw_only=True):
    """One category c: ``accuracy`` is s_c over ``n`` answers to ``items``, ``mean_confidence`` q_c and ``error`` e_c.

    All values are fractions.
    """

    name: str
    items: int
    n: int
    accuracy: Estimate
    mean_confidence: float
    error: float


class Diagnostics(msgspec.Struct, frozen=True, kw_only=True):
    """The category-constrained diagnostics of one model's graded answers.

    ``by`` is ``bin`` or ``group``: topics, or the five groups of topics where no topic has ``PER_BIN`` items.
    ``volumes`` are the closed forms and ``paper`` those of the 101 x 101 grid, by name. ``flips`` holds the closed
    volumes after turning the grades of so many percent of the items, ``other_categories`` those of the same items in
    as many random categories. ``claim`` says what all this supports.
    """

    by: str
    items: int
    n: int
    categories: tuple[CategoryRow, ...]
    volumes: dict[str, Estimate]
    paper: dict[str, Estimate]
    worst_gap: PartitionTest
    between_variance: PartitionTest
    flips: dict[str, dict[str, Spread]]
    other_categories: dict[str, Spread]
    claim: str = CLAIM
    notes: tuple[str, ...] = ()

    def of_grid(self, grid: Grid) -> dict[str, Estimate]:
        """Return the volumes by the closed forms or on the study's grid."""
        return self.paper if grid == "paper" else self.volumes


class OfModel(msgspec.Struct, frozen=True, kw_only=True):
    """The diagnostics of one model's rows in one run or file; ``model`` is empty where the file does not name it."""

    model: str
    file: str
    simulated: bool
    diagnostics: Diagnostics
    notes: tuple[str, ...] = ()


class ByCategory(msgspec.Struct, frozen=True, kw_only=True):
    """The diagnostics of every model in every run or file: several batteries are never pooled."""

    schema: str = "selfdiag.categories/1"
    models: tuple[OfModel, ...]


def by_category(parts: Sequence[Part], *, draws: int = DRAWS, seed: int = SEED) -> ByCategory:
    """Return the diagnostics of runs and files of graded answers.

    Args:
        parts: runs and files, at least one.
        draws: bootstrap draws over items.
        seed: of bootstrap and partitions.

    Raises:
        SelfdiagError: when none has an answer.
    """
    if not any(part.model for part in parts):
        raise SelfdiagError(
            f"{one_line(parts[0].file, 120)} holds no answers yet, so there is nothing to tell topic by topic"
        )
    found = []
    for part in parts:
        asked = part.run.manifest.settings.model if part.run is not None else ""
        for model in dict.fromkeys(part.model) or [asked]:
            rows = np.flatnonzero([name == model for name in part.model])
            found.append(
                OfModel(
                    model=model,
                    file=part.file,
                    simulated=part.run is not None and part.run.manifest.model.simulated,
                    diagnostics=diagnostics_of(part.columns.rows(rows), draws=draws, seed=seed),
                    notes=part.notes,
                )
            )
    return ByCategory(models=tuple(found))


def diagnostics_of(
    columns: Columns, *, partitions: int = PARTITIONS, draws: int = DRAWS, seed: int = SEED
) -> Diagnostics:
    """Return the diagnostics of rows; only graded answers to probes with a topic and a confidence count.

    Args:
        columns: the rows, with several for an item or one.
        partitions: random partitions of the items into categories of the same sizes.
        draws: bootstrap draws over items.
        seed: of bootstrap and partitions.
    """
    graded = np.flatnonzero(
        [
            outcome in {"correct", "incorrect"} and not trap and bool(name)
            for outcome, trap, name in zip(columns.outcome, columns.trap.tolist(), columns.bin, strict=True)
        ]
    )
    stating = graded[np.isfinite(columns.confidence[graded])]
    rows = columns.rows(stating)
    by_group, names = _names(rows)
    places = {name: place for place, name in enumerate(names)}
    # as numbers: they keep the order in which topics are shown
    found = category_items(
        np.array([places[_home(name, by_group=by_group)] for name in rows.bin], dtype=np.int64),
        np.array([outcome == "correct" for outcome in rows.outcome], dtype=np.int64),
        rows.confidence,
        [str(one) for one in rows.item.tolist()],
    )
    measured = msgspec.structs.replace(found, names=tuple(names[int(code)] for code in found.names))
    tests = partition_test(measured, partitions, seed)
    table = _rows(measured)
    return Diagnostics(
        by="group" if by_group else "bin",
        items=measured.items,
        n=int(measured.rows.sum()),
        categories=table,
        volumes=volume_estimates(measured, draws=draws, seed=seed),
        paper=volume_estimates(measured, grid="paper", draws=draws, seed=seed),
        worst_gap=tests.worst_gap,
        between_variance=tests.between_variance,
        flips={str(percent): one for percent, one in label_flips(measured).items()},
        other_categories=alternative_categorisations(measured, max(len(table), 1)),
        notes=_notes(measured, unstated=graded.size - stating.size),
    )


def _names(rows: Columns) -> tuple[bool, list[str]]:
    """Return whether topics stand in their groups, and the categories in the order in which they are shown."""
    # an item counts once, whatever the number of its rows
    items = Counter(name for name, _ in set(zip(rows.bin, rows.item.tolist(), strict=True)))
    by_group = any(name in BINS for name in items) and max(items.values(), default=0) < PER_BIN
    present = {_home(name, by_group=by_group) for name in rows.bin}
    usual = [*GROUPS] if by_group else [*BINS]
    return by_group, [*(name for name in usual if name in present), *sorted(present - set(usual))]


def _home(topic: str, *, by_group: bool) -> str:
    """Return the category of a topic; one that is in no group stays by itself."""
    return next((name for name, members in GROUPS.items() if by_group and topic in members), topic)


def _rows(measured: CategoryItems) -> tuple[CategoryRow, ...]:
    found = measured.categories()
    stated = found.mean_confidence or ()
    return tuple(
        CategoryRow(
            name=name,
            items=items,
            n=n,
            accuracy=_share(hits, n, items),
            mean_confidence=q,
            error=error,
        )
        for name, items, n, hits, q, error in zip(
            found.names, measured.sizes.tolist(), found.n, found.hits, stated, found.error, strict=True
        )
    )


def _share(hits: int, n: int, items: int) -> Estimate:
    # rows of one item are no independent answers
    ci = wilson(hits / n * items, items)
    return estimate(hits / n, ci, n=n, method="Wilson" if n == items else "Wilson over items")


def _notes(measured: CategoryItems, unstated: int) -> tuple[str, ...]:
    notes = [f"{unstated} graded without a confidence left out"] if unstated else []
    sizes = measured.sizes.tolist()
    if not sizes:
        notes.append("no answer counts: none is graded, states a confidence and has a topic")
    elif min(sizes) < SMALL:
        notes.append(
            f"the smallest category has {min(sizes)} item{'s' * (min(sizes) > 1)}: most of what sets such small "
            "categories apart is chance, see the random partitions"
        )
    return tuple(notes)
