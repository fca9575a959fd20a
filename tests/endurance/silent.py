"""A server that takes a call and never answers it: a run ends when its patience does, and at once at Ctrl-C."""

from __future__ import annotations

import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from selfdiag.runs.store import read_run
from tests.endurance.checks import Checks, main
from tests.endurance.command import WATCHDOG, end, selfdiag, start
from tests.endurance.serving import Decide, ModelServer, sound
from tests.http_stub import Answer

PATIENCE = 60.0
"""Seconds within which a run must end that waits one second and asks twice, and within which Ctrl-C must work: far
more than either takes on a machine that does much else, and far less than the timeout that Ctrl-C cuts short."""
LONG = "3000"


def _silent(whole: Answer) -> Answer:
    return msgspec.structs.replace(whole, fault="silent")


def _stalled(whole: Answer) -> Answer:
    return msgspec.structs.replace(whole, fault="stall")


def _dripping(whole: Answer) -> Answer:
    return msgspec.structs.replace(whole, fault="drip")


def _far_too_soon(_: Answer) -> Answer:
    return Answer(status=429, headers={"retry-after": "3000"})


WAYS: dict[str, Decide] = {
    "never begins": _silent,
    "stops in the middle": _stalled,
    "never ends": _dripping,
}


def silent(checks: Checks) -> None:
    with tempfile.TemporaryDirectory() as name, ModelServer(seed=checks.seed) as server:
        place = Path(name)
        home = place / "home"
        words = ["run", "openai:stub", "--base-url", server.url]
        for number, (what, decide) in enumerate(WAYS.items()):
            server.decide = decide
            folder = place / f"silent-{number}"
            given_up = _gives_up(checks, f"a server that {what}", home, words, folder)
            if given_up and (not checks.quick or number == 0):
                # the fault that a person meets in the middle of a run
                _falls_silent(checks, f"a server that {what} after some answers", server, home, words, place, decide)
        with _full_queue() as url:
            _gives_up(checks, "a server that takes no connection", home, [*words[:-1], url], place / "full")
        for what, decide in {**WAYS, "asks to come back in an hour": _far_too_soon}.items():
            server.decide = decide
            _interrupted(checks, f"a server that {what}", server, home, [*words, "--out", str(place / "interrupted")])
            if checks.quick:
                break


def _gives_up(checks: Checks, what: str, home: Path, words: list[str], folder: Path) -> bool:
    begun = time.monotonic()
    done = selfdiag(home, *words, "--timeout", "1", "--max-retries", "1", "--out", str(folder), seconds=WATCHDOG)
    took = time.monotonic() - begun
    right = done.code == 3 and done.one_plain_line and took < PATIENCE
    checks.check(f"{what}: the run ends within {PATIENCE:.0f} s with exit 3 and one line", right, done.told())
    return checks.check(f"{what}: no run without an answer is kept", not folder.exists())


def _falls_silent(
    checks: Checks, what: str, server: ModelServer, home: Path, words: list[str], place: Path, decide: Decide
) -> None:
    answers = 0

    def at_first(whole: Answer) -> Answer:
        nonlocal answers
        answers += 1
        return whole if answers < 15 else decide(whole)

    server.decide = at_first
    folder = place / what.replace(" ", "-")
    begun = time.monotonic()
    done = selfdiag(home, *words, "--timeout", "1", "--max-retries", "1", "--concurrency", "4", "--out", str(folder))
    took = time.monotonic() - begun
    right = done.code == 3 and done.one_plain_line and took < PATIENCE
    checks.check(f"{what}: the run ends within {PATIENCE:.0f} s with exit 3 and one line", right, done.told())
    answered = [record for record in read_run(folder).records if record.error is None]
    checks.check(f"{what}: what was answered is kept", len(answered) >= 10, len(answered))
    server.decide = sound
    done = selfdiag(home, "run", "--resume", str(folder), "--timeout", "60")
    checks.check(f"{what}: then it goes on to the end", done.code == 0 and done.is_plain, done.told())


def _interrupted(checks: Checks, what: str, server: ModelServer, home: Path, words: list[str]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        for flags in ([], ["--structured", "off", "--concurrency", "8"]):
            before = server.requests
            process = start(home, *words, *flags, "--timeout", LONG)
            _wait_until_asked(process, server, before)
            begun = time.monotonic()
            process.send_signal(number)
            done = end(process)
            took = time.monotonic() - begun
            right = done.code == 130 and done.is_plain and took < PATIENCE
            name = f"{what}: {number.name} ends the run at once{' (8 calls under way)' if flags else ''}"
            checks.check(name, right, f"{took:.1f} s, {done.told()}")
            folder = Path(words[-1])
            done = selfdiag(home, "runs", "rm", str(folder), "--yes")
            checks.check(f"{what}: nothing holds its folder any more", done.code == 0, done.told())


def _wait_until_asked(process: subprocess.Popen[str], server: ModelServer, before: int) -> None:
    until = time.monotonic() + WATCHDOG
    while server.requests == before and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)


@contextmanager
def _full_queue() -> Iterator[str]:
    """Yield the address of a server that lets nobody in: its queue is full; elsewhere than on Linux that refuses."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        try:
            yield f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        finally:
            for client in waiting:
                client.close()


if __name__ == "__main__":
    main(__doc__, silent)
