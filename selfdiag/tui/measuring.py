"""Computing a run's figures while it goes on: in a thread, and seldom enough to hold up nothing."""

from __future__ import annotations

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
SHARE = 5
"""So many times as long as a computation took is waited before the next one."""


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
        self._busy = False
        self._not_before = 0.0

    def is_due(self, landed: int) -> bool:
        """Return whether figures on so many answers are wanted now."""
        return landed != self._landed and not self._busy and time.monotonic() >= self._not_before

    async def measure(self, records: tuple[Record, ...]) -> None:
        """Compute the figures of the answers so far; where that fails, it is due no more.

        Raises:
            Exception: whatever went wrong.
        """
        begun = time.monotonic()
        self._busy, self._landed = True, len(records)
        self.figures = await in_background(self._compute, records)
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
