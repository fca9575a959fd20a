"""McNemar's exact test: whether as many items went one way as the other."""

from __future__ import annotations


def mcnemar(gained: int, lost: int) -> float:
    """Return the two-sided exact p-value of two numbers of items that changed sides (McNemar 1947).

    Under no difference each changed item goes either way with probability 1/2, so p is twice the binomial chance of
    the smaller number or fewer, at most 1. Items that did not change say nothing.

    Args:
        gained: items that went one way.
        lost: items that went the other way.
    """
    changed = gained + lost
    ways, below = 1, 0
    for count in range(min(gained, lost) + 1):
        below += ways
        ways = ways * (changed - count) // (count + 1)
    chance: float = 2 * below / 2**changed
    return min(1.0, chance)
