"""Runs in a real process on a terminal: signals, a terminal that goes away, and quitting while a server is silent."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pexpect
import pytest
from http_stub import Answer, Stub

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")

ENDS_IN = 5.0
"""Seconds from the last key to the end: two are allowed, the rest is for a busy machine."""

SCRIPT = """
import sys
from selfdiag.cli.app import open_app
from selfdiag.runs.records import RunSettings
from selfdiag.tui.app import SelfdiagApp

first = SelfdiagApp.on_mount

def on_mount(self):
    first(self)
    self.call_later(self.open_run, RunSettings(model=sys.argv[1], base_url=sys.argv[2], concurrency=1))

SelfdiagApp.on_mount = on_mount
sys.exit(open_app())
"""


@contextmanager
def running(model: str, base_url: str = "") -> Iterator[pexpect.spawn]:
    """The app with a run open, in a process of its own, on a terminal of 80 by 24."""
    process = pexpect.spawn(
        sys.executable,
        ["-c", SCRIPT, model, base_url],
        env={**os.environ, "TERM": "xterm-256color"},
        dimensions=(24, 80),
        timeout=60,
        encoding="utf-8",
        codec_errors="replace",
    )
    try:
        yield process
    finally:
        if process.child_fd >= 0:
            process.close(force=True)
        else:
            process.kill(signal.SIGKILL)


def the_run(home: Path) -> Run | None:
    """Return the one run there is, as far as it is written."""
    for folder in (home / "runs").glob("*") if (home / "runs").is_dir() else ():
        with suppress(SelfdiagError):
            return read_run(folder)
    return None


def answered(home: Path) -> int:
    run = the_run(home)
    return len(run.planned()) if run is not None else 0


def wait_for(process: pexpect.spawn, condition: Callable[[], object], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it does not come true"
        with suppress(pexpect.TIMEOUT):
            process.expect(pexpect.EOF, timeout=0.02)  # takes what is drawn, so that drawing is not held up
            pytest.fail(f"the process has ended: {process.before}")


def ended(process: pexpect.spawn, seconds: float = 10) -> int | None:
    """Return the exit code of a process that must end in a moment."""
    process.expect(pexpect.EOF, timeout=seconds)
    process.close()
    return process.exitstatus


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_TUI_27_a_process_that_is_ended_keeps_every_answer(number: signal.Signals, own_home: Path) -> None:
    with running("persona:slow") as process:
        wait_for(process, lambda: answered(own_home) >= 5)
        process.kill(number)
        assert ended(process) == ExitCode.INTERRUPTED
    run = the_run(own_home)
    assert run is not None
    assert not run.problems
    assert 5 <= len(run.planned()) < 63
    assert run.manifest.sessions[-1].outcome == "stopped"


def test_TUI_27_a_terminal_that_hangs_up_keeps_every_answer(own_home: Path) -> None:
    with running("persona:slow") as process:
        wait_for(process, lambda: answered(own_home) >= 5)
        process.ptyproc.fileobj.close()  # the descriptor alone would be closed once more, as somebody else's
        process.child_fd, process.closed = -1, True
        until = time.monotonic() + 10
        while process.isalive():
            assert time.monotonic() < until
            time.sleep(0.02)
        run = the_run(own_home)
        assert run is not None
        assert 5 <= len(run.planned()) < 63
        assert run.manifest.sessions[-1].outcome == "stopped"


def test_TUI_12_quitting_waits_for_no_silent_server(own_home: Path) -> None:
    with Stub(Answer(fault="silent")) as server, running("openai:silent", server.url) as process:
        process.expect("warming up")
        assert server.asked.wait(10)
        process.send("q")
        process.expect(r"Stop and quit\?")
        process.send("\r")
        assert ended(process, ENDS_IN) == ExitCode.OK
        assert server.hung_up.wait(5)
        assert "Traceback" not in process.before
