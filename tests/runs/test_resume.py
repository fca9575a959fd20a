"""A run that is killed at any moment and resumed is the undisturbed run."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from selfdiag.runs import session as session_module
from selfdiag.runs.events import Finished
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.shelf import find_run
from selfdiag.runs.store import read_run

KILLS = 20
CALLS = 126 + 21
WORDS = ["run", "persona:slow", "--battery", "standard", "--seed", "3", "--concurrency", "3"]


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def _start(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "selfdiag", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def test_TUI_27_28_twenty_kills_and_then_the_same_calls_each_once(selfdiag, tmp_path: Path) -> None:
    whole = selfdiag(*WORDS, "--out", "whole", "--concurrency", "60")
    assert whole.returncode == 0, whole.stderr
    undisturbed = read_run(tmp_path / "whole")

    folder = tmp_path / "killed"
    file = folder / "records.jsonl"
    words = [*WORDS, "--out", str(folder)]
    for kill in range(KILLS):
        seen = _lines(file)
        process = _start(words)
        deadline = time.monotonic() + 60
        while _lines(file) < seen + 1 + kill % 3:
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        words = ["run", "--resume", "latest", "--concurrency", "3"]
    assert 0 < len(read_run(folder).latest()) < CALLS

    last = selfdiag("run", "--resume", "latest", "--concurrency", "60")
    assert last.returncode == 0, last.stderr
    assert find_run("latest") == folder
    resumed = read_run(folder)
    times = Counter(record.call_id for record in resumed.records)
    assert set(times.values()) == {1}
    assert set(times) == {record.call_id for record in undisturbed.records}
    assert len(times) == CALLS

    def said(run) -> dict[str, tuple[str, str]]:
        return {call_id: (r.raw, r.outcome) for call_id, r in run.latest().items()}

    assert said(resumed) == said(undisturbed)


def test_a_kill_before_the_first_record_leaves_a_run_that_goes_on(selfdiag, tmp_path: Path) -> None:
    folder = tmp_path / "early"
    process = _start([*WORDS, "--out", str(folder)])
    deadline = time.monotonic() + 60
    while not (folder / "manifest.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = selfdiag("run", "--resume", str(folder), "--concurrency", "60")
    assert done.returncode == 0, done.stderr
    assert len(read_run(folder).latest()) == CALLS


def test_other_settings_are_refused_by_name(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("run", "persona:calibrated", "--out", "run", "--limit", "3")
    assert done.returncode == 0
    for words, named in (
        (("--seed", "9"), "seed was 0 and is now 9"),
        (("--example", "85"), "example was None and is now 85"),
        (("--battery", "full"), "battery was 'quick' and is now 'full'"),
        (("persona:blind",), "model was 'persona:calibrated' and is now 'persona:blind'"),
    ):
        refused = selfdiag("run", "--resume", "run", *words)
        assert refused.returncode == 2
        assert named in refused.stderr
        assert refused.stdout == ""
    allowed = selfdiag("run", "--resume", "run", "--concurrency", "3", "--timeout", "9", "--max-retries", "1")
    assert allowed.returncode == 0


def test_a_changed_battery_or_version_is_refused(selfdiag, tmp_path: Path) -> None:
    battery = tmp_path / "mine.toml"
    text = (
        'id = "mine"\nversion = "1"\n[[probe]]\nid = "a"\nbin = "logic"\ndifficulty = "easy"\nkind = "number"\n'
        'answer = "2"\nquestions = ["What is 1 + 1? As a number."]\nderivation = "1 + 1"\n'
    )
    battery.write_text(text)
    assert selfdiag("run", "persona:calibrated", "--battery", "mine.toml", "--out", "run").returncode == 0
    battery.write_text(text.replace("What is", "How much is"))
    refused = selfdiag("run", "--resume", "run")
    assert refused.returncode == 2
    assert "battery 'mine' has changed" in refused.stderr
    battery.write_text(text)
    manifest = tmp_path / "run" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"selfdiag": "', '"selfdiag": "9.'))
    refused = selfdiag("run", "--resume", "run")
    assert refused.returncode == 2
    assert "was made with selfdiag 9." in refused.stderr
    manifest.write_text(manifest.read_text().replace('"selfdiag": "9.', '"selfdiag": "\\u001b[31m' + "9" * 500))
    refused = selfdiag("run", "--resume", "run")
    assert refused.returncode == 2
    assert "\x1b" not in refused.stderr and len(refused.stderr) < 400


async def test_TUI_27_a_stop_in_the_first_moment_is_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_git_state", lambda: time.sleep(0.3) or "")
    session = Session(RunSettings(model="persona:calibrated", limit=2), folder=tmp_path / "run")
    asyncio.get_running_loop().call_later(0.05, session.stop)
    assert [event async for event in session.events()] == [Finished(outcome="stopped")]
    assert not (tmp_path / "run").exists()


def test_errors_are_asked_again(selfdiag, tmp_path: Path) -> None:
    done = selfdiag("run", "persona:flaky", "--out", "run", "--max-retries", "0", "--seed", "5")
    assert done.returncode == 4, done.stderr
    first = read_run(tmp_path / "run")
    failed = {r.call_id for r in first.records if r.outcome == "error"}
    assert failed
    assert "Ask them again with" in done.stderr
    again = selfdiag("run", "--resume", "run", "--max-retries", "4")
    assert again.returncode == 0, again.stderr
    second = read_run(tmp_path / "run")
    times = Counter(r.call_id for r in second.records)
    assert {call_id for call_id, n in times.items() if n == 2} == failed
    assert all(r.error is None for r in second.latest().values())


def test_TUI_22_27_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "selfdiag", *WORDS, "--out", str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    file = tmp_path / "run" / "records.jsonl"
    deadline = time.monotonic() + 60
    while _lines(file) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "selfdiag run --resume" in stderr
    assert "Traceback" not in stderr
    assert "insufficient evidence" in stdout
    run = read_run(tmp_path / "run")
    assert run.problems == ()
    assert run.manifest.sessions[-1].outcome == "stopped"
    assert 3 <= len(run.records) < CALLS


def test_a_budget_holds_for_the_stretch_it_was_given_for(selfdiag, tmp_path: Path) -> None:
    done = selfdiag(
        "run", "persona:slow", "--limit", "8", "--concurrency", "2", "--budget-seconds", "0.3", "--out", "run"
    )
    assert done.returncode == 4, done.stderr
    assert "the budget is used up" in done.stderr
    assert 0 < len(read_run(tmp_path / "run").records) < 16
    again = selfdiag("run", "--resume", "run")
    assert again.returncode == 0, again.stderr
    assert len(read_run(tmp_path / "run").latest()) == 16


def test_resuming_a_complete_run_asks_nothing_and_changes_nothing(selfdiag, tmp_path: Path) -> None:
    assert selfdiag("run", "persona:calibrated", "--limit", "2", "--out", "run").returncode == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    again = selfdiag("run", "--resume", "run")
    assert again.returncode == 0
    assert "nothing is left to ask" in again.stderr
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before


def test_many_calls_are_asked_about_only_while_some_are_left(selfdiag, tmp_path: Path) -> None:
    words = ["run", "persona:calibrated", "--battery", "full", "--repeat", "3", "--out", "run"]
    assert selfdiag(*words, "--yes", "--budget-tokens", "1").returncode == 4
    refused = selfdiag("run", "--resume", "run")
    assert refused.returncode == 2
    assert "calls: add --yes" in refused.stderr
    assert selfdiag("run", "--resume", "run", "--yes").returncode == 0
    again = selfdiag("run", "--resume", "run")
    assert again.returncode == 0, again.stderr
    assert "nothing is left to ask" in again.stderr
