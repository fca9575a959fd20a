"""All outcomes of one run, or of many draws of it, as counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selfdiag.measure.counts import Bools, Counts, Floats, Ints
from selfdiag.measure.multinomial import multinomial_draws
from selfdiag.measure.resampling import DRAWS, SEED, clustered_draws

UNUSABLE = ("truncated", "unparsed", "empty", "overflow")
"""Outcomes of a reply that came and cannot be used."""

_RIGHT, _WRONG, _ABSTAINED, _REFUSED, _UNUSABLE, _ERROR = range(6)
_KINDS = {
    "correct": _RIGHT,
    "incorrect": _WRONG,
    "abstained": _ABSTAINED,
    "refused": _REFUSED,
    "error": _ERROR,
    **dict.fromkeys(UNUSABLE, _UNUSABLE),
}


def _zero() -> Ints:
    return np.zeros((), dtype=np.int64)


def _no_counts() -> Counts:
    return Counts(np.empty(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tally:
    """How many probes and traps ended in each outcome.

    ``answered`` counts graded probes by stated confidence; ``right_unstated`` and ``wrong_unstated`` are
    graded without one. ``unusable`` replies were truncated, unparsed, empty or too long for the context. For
    traps ``trap_incorrect`` counts all that were answered and ``trap_missed`` those of them that state a
    confidence (as wrong answers); ``trap_abstained`` counts all abstentions and ``trap_abstained_free_text``
    those of them in own words. Each has shape (...), the leading axes of ``answered``, or broadcasts to it.
    Errors stand apart: they enter no measure and are not resampled.
    """

    answered: Counts = field(default_factory=_no_counts)
    right_unstated: Ints = field(default_factory=_zero)
    wrong_unstated: Ints = field(default_factory=_zero)
    abstained: Ints = field(default_factory=_zero)
    refused: Ints = field(default_factory=_zero)
    unusable: Ints = field(default_factory=_zero)
    trap_missed: Counts = field(default_factory=_no_counts)
    trap_incorrect: Ints = field(default_factory=_zero)
    trap_abstained: Ints = field(default_factory=_zero)
    trap_abstained_free_text: Ints = field(default_factory=_zero)
    trap_refused: Ints = field(default_factory=_zero)
    trap_unusable: Ints = field(default_factory=_zero)
    errors: int = 0
    trap_errors: int = 0

    @property
    def right(self) -> Ints:
        """Probes answered right, with or without a confidence."""
        return self.answered.hits + self.right_unstated

    @property
    def wrong(self) -> Ints:
        """Probes answered wrong, with or without a confidence."""
        return self.answered.misses + self.wrong_unstated

    @property
    def graded(self) -> Ints:
        """Probes answered right or wrong."""
        return self.right + self.wrong

    @property
    def usable(self) -> Ints:
        """Probes whose reply says something: graded, abstained or refused."""
        return self.graded + self.abstained + self.refused

    @property
    def asked(self) -> Ints:
        """Probes that got a reply; errors are not among them."""
        return self.usable + self.unusable

    @property
    def trap_usable(self) -> Ints:
        """Traps whose reply says something: abstained, answered or refused."""
        return self.trap_abstained + self.trap_incorrect + self.trap_refused

    def probe_cells(self) -> Ints:
        """Return the probe outcomes as disjoint cells, shape (..., 2k + 5)."""
        rest = (self.right_unstated, self.wrong_unstated, self.abstained, self.refused, self.unusable)
        return _columns(self.answered.right, self.answered.wrong, rest)

    def trap_cells(self) -> Ints:
        """Return the trap outcomes as disjoint cells, shape (..., 2m + 5)."""
        rest = (
            self.trap_incorrect - self.trap_missed.n,
            self.trap_abstained - self.trap_abstained_free_text,
            self.trap_abstained_free_text,
            self.trap_refused,
            self.trap_unusable,
        )
        return _columns(self.trap_missed.right, self.trap_missed.wrong, rest)

    def with_cells(self, probes: Ints, traps: Ints) -> Tally:
        """Return a tally with the same levels and other counts.

        ``probes`` has shape (..., 2k + 5) and ``traps`` (..., 2m + 5), as ``probe_cells`` and ``trap_cells``
        return them; their leading axes become those of the tally.
        """
        k, m = self.answered.levels.size, self.trap_missed.levels.size
        missed = Counts(self.trap_missed.levels, traps[..., :m], traps[..., m : 2 * m])
        abstained_token, abstained_free_text = traps[..., 2 * m + 1], traps[..., 2 * m + 2]
        return Tally(
            answered=Counts(self.answered.levels, probes[..., :k], probes[..., k : 2 * k]),
            right_unstated=probes[..., 2 * k],
            wrong_unstated=probes[..., 2 * k + 1],
            abstained=probes[..., 2 * k + 2],
            refused=probes[..., 2 * k + 3],
            unusable=probes[..., 2 * k + 4],
            trap_missed=missed,
            trap_incorrect=missed.n + traps[..., 2 * m],
            trap_abstained=abstained_token + abstained_free_text,
            trap_abstained_free_text=abstained_free_text,
            trap_refused=traps[..., 2 * m + 3],
            trap_unusable=traps[..., 2 * m + 4],
            errors=self.errors,
            trap_errors=self.trap_errors,
        )

    def merged(self, groups: int) -> Tally:
        """Return the tally with neighbouring confidences of answered probes merged, see ``Counts.merged``."""
        return replace(self, answered=self.answered.merged(groups))

    def summed(self) -> Tally:
        """Return the sum over the first leading axis, for instance over items."""
        return self.with_cells(self.probe_cells().sum(axis=0), self.trap_cells().sum(axis=0))


def tally_rows(
    outcome: Sequence[str],
    p: ArrayLike,
    *,
    trap: ArrayLike = False,
    free_text: ArrayLike = False,
    item: ArrayLike | None = None,
    attempted: bool = False,
) -> Tally:
    """Count rows by outcome and stated confidence.

    ``outcome`` holds outcome words, ``p`` the stated confidence in [0, 1] or NaN, ``trap`` and ``free_text``
    are flags; all have shape (n,), the flags may be one value. With ``item``, the item id or number of each row, the
    result has one entry per item (sorted by id) on a leading axis. ``attempted`` counts probes that were
    refused or abstained from as wrong when they state a confidence. Raises ``ValueError`` for an unknown
    outcome, a confidence out of range or columns of different length.
    """
    kind = _kinds(outcome)
    stated = np.asarray(p, dtype=np.float64).reshape(-1)
    if stated.size != kind.size:
        raise ValueError(f"{stated.size} confidences for {kind.size} outcomes")
    if ((stated < 0) | (stated > 1)).any():
        raise ValueError("a stated confidence lies between 0 and 1")
    is_trap = np.broadcast_to(np.asarray(trap, dtype=np.bool_), kind.shape)
    is_free = np.broadcast_to(np.asarray(free_text, dtype=np.bool_), kind.shape)
    if attempted:
        silent = (kind == _ABSTAINED) | (kind == _REFUSED)
        kind = np.where(silent & ~is_trap & np.isfinite(stated), _WRONG, kind)
    if item is None:
        names, row = 1, np.zeros(kind.size, dtype=np.int64)
    else:
        unique, row = _places(np.asarray(item))
        names = unique.size

    counted = kind != _ERROR
    probe, trapped = counted & ~is_trap, counted & is_trap
    probe_levels, probe_cell = _probe_cells(kind[probe], stated[probe])
    trap_levels, trap_cell = _trap_cells(kind[trapped], stated[trapped], is_free[trapped])
    tally = Tally(
        answered=_empty(probe_levels),
        trap_missed=_empty(trap_levels),
        errors=int((~counted & ~is_trap).sum()),
        trap_errors=int((~counted & is_trap).sum()),
    )
    probes = _table(row[probe], probe_cell, names, 2 * probe_levels.size + 5)
    traps = _table(row[trapped], trap_cell, names, 2 * trap_levels.size + 5)
    return tally.with_cells(probes[0], traps[0]) if item is None else tally.with_cells(probes, traps)


def resample(
    tally: Tally,
    items: Tally | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    point_first: bool = False,
) -> Tally:
    """Bootstrap a run jointly over its items; probes and traps keep their numbers.

    ``tally`` has no leading axis. ``items``, the same rows with one entry per item, is needed when items have
    several rows; all rows of an item then stay together. The result has a leading axis of ``draws``; with
    ``point_first`` the data themselves come before the draws.
    """
    rng = np.random.default_rng(seed)
    if items is None:
        probes = multinomial_draws(tally.probe_cells(), draws, rng)
        traps = multinomial_draws(tally.trap_cells(), draws, rng)
    else:
        tally = items.summed()
        probes, traps = (
            clustered_draws(cells[cells.any(axis=1)], draws, rng) for cells in (items.probe_cells(), items.trap_cells())
        )
    if point_first:
        probes = np.concatenate([tally.probe_cells()[None], probes])
        traps = np.concatenate([tally.trap_cells()[None], traps])
    return tally.with_cells(probes, traps)


def leave_one_out(tally: Tally, items: Tally | None = None) -> tuple[Tally, Ints, Ints]:
    """Return the tally without one unit, for every distinct unit.

    The first result has a leading axis of units, the second says how many units are alike, the third is 0 for
    probes and 1 for traps. Units are rows, or items when ``items`` is given.
    """
    whole = tally if items is None else items.summed()
    probe_units, probe_alike = _units(whole.probe_cells(), None if items is None else items.probe_cells())
    trap_units, trap_alike = _units(whole.trap_cells(), None if items is None else items.trap_cells())
    probes = np.concatenate([whole.probe_cells() - probe_units, _repeat(whole.probe_cells(), len(trap_units))])
    traps = np.concatenate([_repeat(whole.trap_cells(), len(probe_units)), whole.trap_cells() - trap_units])
    stratum = np.repeat([0, 1], [len(probe_units), len(trap_units)])
    return whole.with_cells(probes, traps), np.concatenate([probe_alike, trap_alike]), stratum


def _units(cells: Ints, items: Ints | None) -> tuple[Ints, Ints]:
    if items is not None:
        present = items[items.any(axis=1)]
        return present, np.ones(len(present), dtype=np.int64)
    occupied = np.flatnonzero(cells)
    return np.eye(cells.size, dtype=np.int64)[occupied], cells[occupied]


def _repeat(cells: Ints, times: int) -> Ints:
    return np.broadcast_to(cells, (times, cells.size))


def _columns(right: Ints, wrong: Ints, rest: Sequence[Ints]) -> Ints:
    lead = right.shape[:-1]
    return np.concatenate([right, wrong, *(np.broadcast_to(r, lead)[..., None] for r in rest)], axis=-1)


def _empty(levels: Floats) -> Counts:
    zeros = np.zeros(levels.size, dtype=np.int64)
    return Counts(levels, zeros, zeros)


def _kinds(outcome: Sequence[str]) -> Ints:
    try:
        return np.fromiter((_KINDS[word] for word in outcome), dtype=np.int64, count=len(outcome))
    except KeyError as unknown:
        raise ValueError(f"unknown outcome {unknown.args[0]!r}") from None


def _probe_cells(kind: Ints, stated: Floats) -> tuple[Floats, Ints]:
    levels, at = _levels(stated, np.isfinite(stated) & (kind <= _WRONG))
    k = levels.size
    # _RIGHT and _WRONG index the two blocks of levels, then the same order follows in the unstated cells.
    return levels, np.where(at >= 0, at + k * kind, 2 * k + kind)


def _trap_cells(kind: Ints, stated: Floats, free_text: Bools) -> tuple[Floats, Ints]:
    # A trap graded correct was abstained from: whoever grades it so means the right reply.
    kind = np.where(kind == _RIGHT, _ABSTAINED, kind)
    levels, at = _levels(stated, np.isfinite(stated) & (kind == _WRONG))
    m = levels.size
    place = {_WRONG: 0, _ABSTAINED: 1, _REFUSED: 3, _UNUSABLE: 4}
    rest = np.array([place.get(code, 0) for code in range(6)])[kind]
    rest = np.where((kind == _ABSTAINED) & free_text, 2, rest)
    return levels, np.where(at >= 0, m + at, 2 * m + rest)


def _levels(stated: Floats, chosen: Bools) -> tuple[Floats, Ints]:
    """Return the distinct chosen values and each row's place among them, -1 for rows not chosen."""
    at = np.full(stated.size, -1, dtype=np.int64)
    levels, at[chosen] = _places(stated[chosen])
    return levels, at


def _places(values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct values and each one's place among them."""
    # numpy's own inverse needs five more arrays of this length
    distinct = np.unique(values)
    return distinct, np.searchsorted(distinct, values)


def _table(row: Ints, cell: Ints, rows: int, cells: int) -> Ints:
    return np.bincount(row * cells + cell, minlength=rows * cells).reshape(rows, cells)
