"""What a run has cost: calls and time as they were, whatever else stands in its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from made_runs import measured

from selfdiag.protocols.audit import seconds_of, summarise
from selfdiag.runs.plan import trial_id
from selfdiag.runs.records import Stretch
from selfdiag.runs.store import RECORDS, Run, read_run


def calls_after(run: Run, *lines: bytes) -> int:
    """Return how many calls are counted when lines are added to the records."""
    with (run.folder / RECORDS).open("ab") as file:
        file.write(b"".join(line.rstrip(b"\n") + b"\n" for line in lines))
    usage = summarise(read_run(run.folder), draws=50).usage
    assert usage is not None
    return usage.calls


def changed(line: bytes, **fields: Any) -> bytes:
    return json.dumps(json.loads(line) | fields).encode()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return measured(tmp_path / "run", limit=4)


def test_a_line_that_stands_there_twice_is_one_call(run: Run) -> None:
    lines = (run.folder / RECORDS).read_bytes().splitlines()
    assert calls_after(run) == len(lines) == 4
    # another order of the members is the same record
    again = json.dumps(dict(reversed(json.loads(lines[1]).items()))).encode()
    assert calls_after(run, lines[0], lines[0], again) == 4


def test_a_line_of_another_run_is_no_call(run: Run) -> None:
    line = (run.folder / RECORDS).read_bytes().splitlines()[0]
    foreign = changed(line, call_id="0" * 20, prompt_tokens=1_000_000, attempts=9)
    assert calls_after(run, foreign, changed(line, call_id="")) == 4
    usage = summarise(read_run(run.folder), draws=50).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.retries) == (None, 0)


def test_a_call_that_was_made_again_counts_again(run: Run) -> None:
    line = (run.folder / RECORDS).read_bytes().splitlines()[0]
    fault = {"kind": "timeout", "message": "late"}
    later = changed(line, at="2026-01-01T00:05:00Z", outcome="error", error=fault, confidence=None, attempts=3)
    assert calls_after(run, later) == 5


def test_a_trial_whose_replies_were_not_used_counts(run: Run) -> None:
    first, *others = (run.folder / RECORDS).read_bytes().splitlines()
    (run.folder / RECORDS).write_bytes(b"\n".join(changed(line, structured=True) for line in (first, *others)) + b"\n")
    trial = trial_id(run.manifest.plan[0])
    assert calls_after(run, changed(first, call_id=trial, section="trial")) == 5


STRETCHES = [
    ("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", 60.0),
    ("2026-01-01T00:02:00Z", "2026-01-01T00:01:30Z", 0.0),  # the clock was set back
    ("2026-01-01T00:03:00+02:00", "2026-01-01T00:03:30+02:00", 30.0),
]


@pytest.mark.parametrize("chosen", [(0,), (0, 1), (1, 0), (1, 2, 0), (1,), (1, 1)])
def test_a_clock_that_is_set_back_takes_no_time_from_other_stretches(run: Run, chosen: tuple[int, ...]) -> None:
    sessions = tuple(Stretch(started=STRETCHES[at][0], ended=STRETCHES[at][1]) for at in chosen)
    manifest = msgspec.structs.replace(run.manifest, sessions=sessions)
    found = seconds_of(msgspec.structs.replace(run, manifest=manifest))
    assert found == sum(STRETCHES[at][2] for at in chosen)
