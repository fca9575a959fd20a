"""Seeded choices that are the same on every platform and Python version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Source:
    """A stream of choices that depends on its seed alone.

    Choice number k is read from the SHA-256 of the seed's parts and k, taken as a 256-bit number and reduced
    modulo the number of possibilities; with at most 2^128 possibilities the bias is below 2^-128.
    """

    def __init__(self, *seed: object) -> None:
        self._seed = "".join(f"{part}/" for part in seed)
        self._drawn = 0

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        self._drawn += 1
        digest = hashlib.sha256(f"{self._seed}{self._drawn}".encode()).digest()
        return low + int.from_bytes(digest, "big") % (high - low + 1)

    def integers(self, count: int, low: int, high: int) -> list[int]:
        """Return ``count`` whole numbers from ``low`` to ``high``, which may repeat."""
        return [self.integer(low, high) for _ in range(count)]

    def signed(self, low: int, high: int) -> int:
        """Return a whole number whose size lies from ``low`` to ``high``, negative half of the time."""
        return self.integer(low, high) * self.choice((1, -1))

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.integer(0, len(items) - 1)]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return ``count`` different items in random order (a Fisher-Yates shuffle that stops early)."""
        pool = list(items)
        for index in range(count):
            other = self.integer(index, len(pool) - 1)
            pool[index], pool[other] = pool[other], pool[index]
        return pool[:count]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """Return all items in random order."""
        pool = list(items)
        return self.sample(pool, len(pool))
