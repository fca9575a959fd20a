"""Multinomial draws over the occupied cells of a table: the bootstrap of rows, made from counts."""

from __future__ import annotations

import math

import numpy as np

from selfdiag.measure.counts import Floats, Ints

# numpy draws cell by cell, whatever the number of rows; below this ratio completing Poisson counts is cheaper
_ROWS_PER_CELL = 60
_SHORT = 3.0
"""By how many standard deviations the Poisson counts aim below the number of rows."""
_PART = 50_000
"""Counts drawn at a time, few enough to stay in the processor's cache."""


def multinomial_draws(cells: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Resample rows that fall into cells.

    ``cells`` has shape (c,): how many rows each cell holds. Returns shape (draws, c); every draw has the same
    number of rows as the data.
    """
    result = np.zeros((draws, cells.size), dtype=np.int64)
    occupied = np.flatnonzero(cells)
    held, n = cells[occupied], int(cells.sum())
    if n >= _ROWS_PER_CELL * held.size > 0:
        result[:, occupied] = rng.multinomial(n, held / n, size=draws)
    elif n:
        completed = _CompletedPoisson(held)
        for part in np.array_split(result, 1 + result.size // _PART):
            part[:, occupied] = completed.draw(len(part), rng)
    return result


class _CompletedPoisson:
    """Multinomial draws made of Poisson counts that fall short of n, and of single rows for the rest.

    Given their sum, independent Poisson counts are a multinomial draw of that size, and single rows complete
    it to n. A draw whose counts exceed n is made of single rows alone. Both are exact, whatever the aim is.

    Poisson counts come from alias tables, with one look instead of a search (Walker 1977): a value v drawn
    uniformly stays v with a chance of its own and otherwise becomes its alias. Cells that hold equally many
    rows share a table.
    """

    def __init__(self, cells: Ints) -> None:
        self._n = int(cells.sum())
        self._cell_of_row = np.repeat(np.arange(cells.size), cells)
        aim = max(0.1, 1 - _SHORT / math.sqrt(self._n))
        held, table = np.unique(cells, return_inverse=True)
        tables = [_alias_table(_poisson(aim * rows)) for rows in held.tolist()]
        widths = np.array([alias.size for _, alias in tables])
        self._width, self._start = widths[table], (widths.cumsum() - widths)[table]
        self._stays = np.concatenate([stays for stays, _ in tables])
        self._alias = np.concatenate([alias for _, alias in tables])

    def draw(self, draws: int, rng: np.random.Generator) -> Ints:
        cells = self._width.size
        spun = self._width * rng.random((draws, cells))
        value = spun.astype(np.int64)
        place = self._start + value
        drawn = np.where(spun - value < self._stays[place], value, self._alias[place])
        drawn[drawn.sum(axis=1) > self._n] = 0
        missing = self._n - drawn.sum(axis=1)
        picked = self._cell_of_row[rng.integers(self._n, size=int(missing.sum()), dtype=np.uint32)]
        picked += np.repeat(cells * np.arange(draws), missing)
        drawn += np.bincount(picked, minlength=drawn.size).reshape(drawn.shape)
        return drawn


def _poisson(mean: float) -> Floats:
    """Return the chance of each value from 0; those beyond 1e-16 are left out."""
    value = np.arange(int(mean + 9 * math.sqrt(mean) + 20))
    log_factorial = np.cumsum(np.log(np.maximum(value, 1)))
    chance = np.exp(value * math.log(mean) - mean - log_factorial)
    return np.asarray(chance / chance.sum())


def _alias_table(chance: Floats) -> tuple[Floats, Ints]:
    """Return the chance that each value stays, and its alias (Vose 1991)."""
    stays = (chance.size * chance).tolist()
    alias = list(range(chance.size))
    low = [value for value in alias if stays[value] < 1]
    high = [value for value in alias if stays[value] >= 1]
    while low and high:
        lacking, donor = low.pop(), high[-1]
        alias[lacking] = donor
        stays[donor] -= 1 - stays[lacking]
        if stays[donor] < 1:
            low.append(high.pop())
    return np.array(stays), np.array(alias)
