"""Computing a run's figures while it goes on: in a thread, and seldom enough to hold up nothing."""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from selfdiag.runs.store import read_manifest
from selfdiag.tui.background import in_background

if TYPE_CHECKING:
    from selfdiag.runs.records import Manifest, Record
    from selfdiag.tui.figures_so_far import Figures

PAUSE = 0.3
"""Seconds between two computations, at least."""
SHARE = 29
"""So many times as long as a computation took is waited before the next one: meanwhile keys take twice their time."""
SWITCH = 0.0005
"""Seconds after which a computation lets a key in, instead of Python's 5 ms: one key asks for many such turns."""


class Measuring:
    """The figures of one run, brought up to date as its answers land.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: Path) -> None:
        self.figures: Figures | None = None
        self._folder = folder
        self._manifest: Manifest | None = None
        self._landed = 0
        self._busy = self._over = False
        self._not_before = 0.0

    def is_due(self, landed: int) -> bool:
        """Return whether figures on so many answers are wanted now."""
        return landed != self._landed and not self._busy and time.monotonic() >= self._not_before

    def end(self) -> None:
        """Take note that the run is over: the garbage collector looks at everything again."""
        self._over = True
        gc.unfreeze()

    async def measure(self, records: tuple[Record, ...]) -> None:
        """Compute the figures of the answers so far; where that fails, it is due no more.

        Raises:
            Exception: whatever went wrong.
        """
        begun, first = time.monotonic(), self.figures is None
        self._busy, self._landed = True, len(records)
        usual = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            self.figures = await in_background(self._compute, records)
        finally:
            sys.setswitchinterval(usual)
        if first and not self._over:
            # all is planned and imported by now. Python stops everything else while it looks for garbage, and every
            # few seconds it would look at the plan and at hundreds of modules: a tenth of a second without any key
            gc.freeze()
        self._busy = False
        now = time.monotonic()
        self._not_before = now + max(PAUSE, SHARE * (now - begun))

    def _compute(self, records: tuple[Record, ...]) -> Figures:
        from selfdiag.tui.figures_so_far import figures_so_far

        manifest = self._manifest or read_manifest(self._folder)
        self._manifest = manifest
        return figures_so_far(self._folder, manifest, records)


def warm_up() -> None:
    """Import what the first figures need; a thread does it while the run is being prepared."""
    import selfdiag.tui.figures_so_far  # noqa: F401
