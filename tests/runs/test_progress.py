from pathlib import Path

import pytest

from selfdiag.runs import progress
from selfdiag.runs.events import Answered, Finished, Paused, Started
from selfdiag.runs.progress import Progress
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import read_run


async def test_a_resumed_run_counts_what_was_answered_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = RunSettings(model="persona:calibrated", limit=5)
    session = Session(settings, folder=tmp_path / "run")
    first = Progress(session.plan.calls)
    async for event in session.events():
        first.count(event)
    assert {name: (section.done, section.total) for name, section in first.sections.items()} == {
        "probes": (5, 5),
        "traps": (5, 5),
    }
    assert first.seconds_left() is None
    records = read_run(tmp_path / "run").records
    later = Progress(session.plan.calls)
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    later.count(Started(total=10, answered=records[:4]))
    assert sum(section.done for section in later.sections.values()) == 4
    assert later.seconds_left() is None
    for record in records[4:7]:
        later.count(Answered(record=record))
    now = 106.0
    assert later.seconds_left() == pytest.approx(6.0)
    later.count(Finished(outcome="stopped"))
    outcomes = sum(sum(section.outcomes.values()) for section in later.sections.values())
    assert outcomes == 7


def test_a_pause_counts_as_no_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((99.0, 100.0, 103.0, 160.0, 165.0))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    counted = Progress(())
    counted.count(Started(total=0))
    for event in (
        Paused(paused=True),
        Paused(paused=True),
        Paused(paused=False),
        Paused(paused=False),
        Finished(outcome="stopped"),
        Finished(outcome="stopped"),
    ):
        counted.count(event)
    assert counted.seconds() == pytest.approx(8.0)
