"""The runs on this machine at a glance."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from selfdiag.measure.tally import tally_rows
from selfdiag.measure.tiers import tier_letters
from selfdiag.protocols.audit import columns_of
from selfdiag.runs.records import MEASURED_SECTIONS
from selfdiag.runs.shelf import run_folders
from selfdiag.runs.store import read_run
from selfdiag.safety import SelfdiagError


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run: ``state`` is complete, stopped, not ended or damaged; ``tier`` is empty when it cannot be read."""

    run_id: str
    state: str
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
    answered = sum(call.call_id in latest and latest[call.call_id].error is None for call in manifest.plan)
    measured = [
        latest[call.call_id] for call in manifest.plan if call.section in MEASURED_SECTIONS and call.call_id in latest
    ]
    columns, _ = columns_of(measured)
    fractions = np.array([np.nan if c is None else c / 100 for c in columns.confidence], dtype=np.float64)
    tally = tally_rows(columns.outcome, fractions, trap=columns.trap, free_text=columns.free_text)
    stretches = manifest.sessions
    ended = bool(stretches) and bool(stretches[-1].ended)
    return RunRow(
        run_id=folder.name,
        state="complete" if answered == len(manifest.plan) else ("stopped" if ended else "not ended"),
        tier=str(tier_letters(tally)),
        model=manifest.settings.model,
        simulated=manifest.model.simulated,
        battery=manifest.settings.battery,
        answered=answered,
        planned=len(manifest.plan),
        started=stretches[0].started if stretches else "",
    )
