"""The runs on this machine at a glance."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

import msgspec

from selfdiag.measure.tiers import ORDER, tier_letters
from selfdiag.protocols.rows import tally_of
from selfdiag.protocols.sources import run_columns
from selfdiag.runs.plan import open_calls
from selfdiag.runs.records import kind_of
from selfdiag.runs.shelf import run_folders
from selfdiag.runs.store import read_run
from selfdiag.safety import SelfdiagError

State = Literal["complete", "stopped", "not ended", "damaged"]


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run: ``kind`` is that of ``kind_of``, and ``not ended`` one that is being asked, or was killed.

    ``kind`` is empty where it cannot be read, ``tier`` also where the run is no audit.
    """

    run_id: str
    state: State
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


def chosen(
    rows: Sequence[RunRow],
    *,
    model: str = "",
    tiers: Collection[str] = (),
    kind: str = "",
    state: str = "",
    since: date | None = None,
) -> list[RunRow]:
    """Return the runs that fit everything asked for, in their order.

    Args:
        rows: of ``overview``.
        model: part of the model's name, in whatever case.
        tiers: letters; none fits any.
        kind: that of ``kind_of``, empty for any.
        state: one of ``State``, empty for any.
        since: the first day, in UTC, on which a run may have started.
    """
    return [
        row
        for row in rows
        if model.casefold() in row.model.casefold()
        and (not tiers or row.tier in tiers)
        and kind in {"", row.kind}
        and state in {"", row.state}
        and (since is None or _started_since(row, since))
    ]


def ordered(rows: Sequence[RunRow], by: Literal["newest", "tier", "model"]) -> list[RunRow]:
    """Return the runs, the newest first, the best tier first or by the name of the model; equal ones stay in order."""
    if by == "tier":
        # without a tier it stands last
        return sorted(rows, key=lambda row: ORDER.index(row.tier) if row.tier else len(ORDER))
    return sorted(rows, key=lambda row: row.model) if by == "model" else list(rows)


def _started_since(row: RunRow, day: date) -> bool:
    return bool(row.started) and datetime.fromisoformat(row.started).astimezone(UTC).date() >= day


def _row(folder: Path) -> RunRow:
    try:
        run = read_run(folder)
    except (SelfdiagError, ValueError, OSError):
        return RunRow(run_id=folder.name, state="damaged", kind="")
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
