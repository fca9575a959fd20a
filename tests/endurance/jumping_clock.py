"""The command line on a machine whose clock is set back and forth: ``python jumping_clock.py SEED WORDS...``.

Only the time of day jumps; the clock that measures how long something takes runs on, as on a real machine.
"""

from __future__ import annotations

import datetime
import sys
import time
from random import Random
from typing import Any

JUMPS = (0.0, -1.0, 5.0, -3600.0, 7200.0, -400 * 86_400.0, 2 * 86_400.0, 3650 * 86_400.0)
"""By how many seconds the clock may be wrong."""
ONE_IN = 4
"""Of so many looks at the clock one finds it set anew."""


class JumpingClock:
    """Tells the time with an error that changes by itself."""

    def __init__(self, seed: int) -> None:
        self._random = Random(f"clock {seed}")
        self._error = 0.0
        self._time, self._gmtime, self._datetime = time.time, time.gmtime, datetime.datetime

    def time(self) -> float:
        """Return the seconds since 1970."""
        if self._random.randrange(ONE_IN) == 0:
            self._error = self._random.choice(JUMPS)
        return self._time() + self._error

    def gmtime(self, seconds: Any = None) -> Any:
        """Return a time in UTC, by default the present one."""
        return self._gmtime(self.time() if seconds is None else seconds)

    def install(self) -> None:
        """Take the place of the system's clock for everything that is imported from now on."""
        clock = self

        class Datetime(self._datetime):  # type: ignore[name-defined,misc]
            @classmethod
            def now(cls, tz: datetime.tzinfo | None = None) -> Any:
                return cls.fromtimestamp(clock.time(), tz)

        time.time, time.gmtime = self.time, self.gmtime
        datetime.datetime = Datetime  # type: ignore[misc]


if __name__ == "__main__":
    JumpingClock(int(sys.argv[1])).install()
    sys.argv = ["selfdiag", *sys.argv[2:]]
    # only now: modules take the clock by its name when they are imported
    from selfdiag.cli.main import main

    main()
