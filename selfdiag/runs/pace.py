"""How many calls are under way at once: fixed, or finding out what a server can take."""

from __future__ import annotations

import asyncio
import time

MOST = 64
"""So many calls at once at most while finding out."""
BETTER = 1.1
"""A higher limit must bring this much more throughput for a still higher one to be tried."""
SLIGHTLY = 1.02
"""With this much more the last limit tried is kept: a server with a queue of its own is busy between two calls."""
CHANCES = 3
"""So many rounds in a row must fail to bring it before a limit is settled on: one may have had bad luck."""
SHORTEST_ROUND = 0.25
"""Seconds: replies of a fast server come and go too unevenly to be counted over less, unless there are many."""
MANY_REPLIES = 8
"""A round of so many times the limit is long enough, however short it was."""


class Pace:
    """Gives leave to start calls.

    ``most`` is the limit; with ``finding`` the limit begins at ``start`` and doubles as long as that brings
    noticeably more replies a second, up to ``most``. A server that says it is asked too much halves the limit, and
    every full round without such a word gives one back.
    """

    def __init__(self, start: int, most: int, *, finding: bool) -> None:
        self.limit = max(1, min(start, most))
        self._most = most
        self._finding = finding
        self._under_way = 0
        self._room = asyncio.Condition()
        self._done = 0
        self._since = 0.0
        self._best = 0.0
        self._best_limit = self.limit
        self._misses = 0
        self._tried = 0.0
        self._overloaded = False
        self._cut = 0.0

    async def __aenter__(self) -> None:
        async with self._room:
            await self._room.wait_for(lambda: self._under_way < self.limit)
            self._under_way += 1
            if not self._since:
                self._since = time.monotonic()

    async def __aexit__(self, *exc: object) -> None:
        async with self._room:
            self._under_way -= 1
            self._done += 1
            if self._is_round_over():
                self._end_round()
            self._room.notify_all()

    def overloaded(self, sent: float) -> None:
        """Take note that the server is asked too much at once: half as many calls from now on.

        Calls refused together count once: ``sent`` is when the refused call went out, and one sent before the last
        cut says nothing of what is under way since.
        """
        if sent < self._cut:
            return
        self._cut = time.monotonic()
        self.limit = max(1, self.limit // 2)
        self._finding = False
        self._overloaded = True
        self.begin_round()

    def _is_round_over(self) -> bool:
        long_enough = time.monotonic() - self._since >= SHORTEST_ROUND or self._done >= MANY_REPLIES * self.limit
        return self._done >= 2 * self.limit and long_enough

    def _end_round(self) -> None:
        rate = self._done / max(time.monotonic() - self._since, 1e-6)
        if self._finding:
            self._climb(rate)
        elif self._overloaded and self.limit < self._most:
            self.limit += 1
        self.begin_round()

    def _climb(self, rate: float) -> None:
        if rate < BETTER * self._best:
            self._misses += 1
            self._tried = max(self._tried, rate)
            if self._misses >= CHANCES:
                self._finding = False
                if self._tried < SLIGHTLY * self._best:
                    self.limit = self._best_limit
            return
        self._best, self._best_limit, self._misses, self._tried = rate, self.limit, 0, 0.0
        if self.limit == self._most:
            self._finding = False
        self.limit = min(2 * self.limit, self._most)

    def begin_round(self) -> None:
        """Count replies a second anew, as after a pause, or when too few calls were left to fill the limit."""
        self._done = 0
        self._since = time.monotonic()
