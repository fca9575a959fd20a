"""The runs on this machine at a glance."""

from __future__ import annotations

from pathlib import Path

import msgspec

from selfdiag.measure.tiers import tier_letters
from selfdiag.protocols.rows import tally_of
from selfdiag.protocols.sources import run_columns
from selfdiag.runs.plan import open_calls
from selfdiag.runs.records import kind_of
from selfdiag.runs.shelf import run_folders
from selfdiag.runs.store import read_run
from selfdiag.safety import SelfdiagError


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run: ``state`` is complete, stopped, not ended or damaged; ``kind`` is that of ``kind_of``.

    ``tier`` is empty where the run is no audit, or cannot be read.
    """

    run_id: str
    state: str
    kind: str = "audit"
    tier: str = ""
    model: str = ""
    simulated: bool = False
    battery: str = ""
    answered: int = 0
    planned: int = 0
    started: str = ""


def overview() -> list[RunRow]:
    """Return the user's runs, the newest first."""
    return [_row(folder) for folder in reversed(run_folders())]


def _row(folder: Path) -> RunRow:
    try:
        run = read_run(folder)
    except (SelfdiagError, ValueError, OSError):
        return RunRow(run_id=folder.name, state="damaged")
    manifest, latest = run.manifest, run.latest()
    answered = len(manifest.plan) - len(open_calls(manifest.plan, latest))
    kind = kind_of(manifest.settings.sections)
    stretches = manifest.sessions
    ended = bool(stretches) and bool(stretches[-1].ended)
    return RunRow(
        run_id=folder.name,
        state="complete" if answered == len(manifest.plan) else ("stopped" if ended else "not ended"),
        kind=kind,
        tier=str(tier_letters(tally_of(run_columns(run, run.measured())[0]))) if kind == "audit" else "",
        model=manifest.settings.model,
        simulated=manifest.model.simulated,
        battery=manifest.settings.battery,
        answered=answered,
        planned=len(manifest.plan),
        started=stretches[0].started if stretches else "",
    )
