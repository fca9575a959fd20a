"""Faults of a server that come again in the same words."""

from __future__ import annotations

import math


class AlikeFaults:
    """Counts faults by their words until a reply comes in between, to tell those that last from those that pass.

    Faults of calls that were under way together count as one: one crash ends them all.
    """

    def __init__(self) -> None:
        self._met: dict[str, _Met] = {}

    def met(self, words: str, started: float, ended: float, call: tuple[str, str] | None = None) -> int:
        """Return how often these words have come by now, one after the other.

        Args:
            words: what the server said.
            started: when the call was sent, by any clock.
            ended: when the answer came, by the same clock.
            call: what was asked, if further answers to the same question are not to count.
        """
        known = self._met.setdefault(words, _Met())
        if started >= known.last and (call is None or call not in known.calls):
            known.count += 1
            known.last = ended
            if call is not None:
                known.calls.add(call)
        return known.count

    def forget(self) -> None:
        """Begin anew, because a call worked."""
        self._met.clear()


class _Met:
    def __init__(self) -> None:
        self.count = 0
        self.last = -math.inf
        self.calls: set[tuple[str, str]] = set()
