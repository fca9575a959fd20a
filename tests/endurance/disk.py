"""A disk that is full or cannot be written, a clock that jumps, a file edited by hand, and two processes at once."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from selfdiag.runs.store import MANIFEST, RECORDS, read_run
from tests.endurance.checks import Checks, main
from tests.endurance.command import WATCHDOG, Done, end, said, selfdiag, start, summary
from tests.endurance.serving import ModelServer

SLOTS = 4
LOST = 2 * SLOTS
"""Calls that may be under way when a run ends early: of each slot one reply being written and one call."""
PADDING = 9_000
"""Characters of reasoning with every reply, so that the records soon take more room than the manifest."""
MEGABYTE = 1_000_000
JUMPING_CLOCK = Path(__file__).with_name("jumping_clock.py")
APART = "SELFDIAG_TEST_MOUNTS"
"""Set in the process that may mount file systems of its own."""


class World(NamedTuple):
    """What every check needs: the server, a home, a place for folders, and a run that nothing disturbed."""

    checks: Checks
    server: ModelServer
    home: Path
    place: Path
    reference: Path

    def words(self) -> list[str]:
        return ["run", "openai:stub", "--base-url", self.server.url, "--seed", "7", "--concurrency", str(SLOTS)]

    def compare(self, what: str, folder: Path, without: Sequence[str] = ()) -> None:
        """Check that a run came to what the undisturbed one did, in its replies and in its summary."""
        found, expected = (
            {"replies": said(read_run(one)), "summary": summary(self.home, one)} for one in (folder, self.reference)
        )
        for document in (found, expected):
            for name in without:
                document["summary"].pop(name)
        self.checks.same(f"{what}: every reply and the summary as undisturbed", found, expected)

    def refused(self, what: str, done: Done, code: int, words: str) -> bool:
        """Check that a command ended with one plain line and this code."""
        right = done.code == code and done.one_plain_line and words in done.faults[0]
        return self.checks.check(f"{what}: exit {code} and one line with {words!r}", right, done.told())

    def goes_on(self, what: str, folder: Path) -> None:
        """Check that a run that was broken off goes on to its end."""
        done = selfdiag(self.home, "run", "--resume", str(folder))
        self.checks.check(f"{what}: goes on to the end", done.code == 0 and done.is_plain, done.told())
        self.compare(what, folder)


def disk(checks: Checks) -> None:
    with tempfile.TemporaryDirectory() as name, ModelServer(seed=checks.seed, padding=PADDING) as server:
        place = Path(name)
        world = World(checks, server, place / "home", place, place / "undisturbed")
        done = selfdiag(world.home, *world.words(), "--out", str(world.reference))
        if not checks.check("a run that nothing disturbs ends well", done.code == 0, done.told()):
            return
        _size_limit(world)
        _without_permission(world)
        if APART in os.environ:
            _full_disk(world)
            _read_only(world)
        else:
            for what in ("a full disk", "a disk mounted read-only"):
                checks.skip(what, "this system lets us mount nothing")
        _clock(world)
        _edited(world)
        _two_processes(world)


def _size_limit(world: World) -> None:
    """Files may not grow beyond a limit, as with a quota."""
    what, folder = "a limit on the size of files", world.place / "limited"
    before = world.server.asked
    most = (world.reference / MANIFEST).stat().st_size + 20_000

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = selfdiag(world.home, *world.words(), "--out", str(folder), preexec=limit)
    world.refused(what, done, 4, "make room")
    _nothing_lost(world, what, folder, before)
    world.goes_on(what, folder)
    small = world.place / "small"

    def none() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done = selfdiag(world.home, *world.words(), "--out", str(small), preexec=none)
    world.refused(f"{what}, which the manifest is above", done, 2, "cannot be written")
    world.checks.check(f"{what}: nothing half-written is left", not small.exists())


def _nothing_lost(world: World, what: str, folder: Path, asked_before: int) -> None:
    """Check that a run that ended early has every reply but those that were under way, and can be looked at."""
    run = read_run(folder)
    kept = {(record.prompt_sha256, record.at) for record in run.records}
    asked = world.server.asked - asked_before
    few = asked - len(kept) <= LOST
    world.checks.check(f"{what}: all but {LOST} of the calls made are on file", few, f"{len(kept)} of {asked}")
    done = selfdiag(world.home, "report", str(folder))
    world.checks.check(f"{what}: what is there can be reported", done.code == 0 and done.is_plain, done.told())


@contextmanager
def _mounted(place: Path, size: int) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def _full_disk(world: World) -> None:
    what = "a full disk"
    manifest = (world.reference / MANIFEST).stat().st_size
    with _mounted(world.place / "tmpfs", 8 * MEGABYTE) as mount:
        folder, ballast = mount / "run", mount / "ballast"
        _fill(ballast, mount, leaving=manifest // 2)
        done = selfdiag(world.home, *world.words(), "--out", str(folder))
        world.refused(f"{what} before the start", done, 2, "No space left")
        world.checks.check(f"{what} before the start: nothing half-written is left", not folder.exists())
        # room for the manifest, for the one that takes its place, and for a few records
        _fill(ballast, mount, leaving=2 * manifest + 100_000)
        before = world.server.asked
        done = selfdiag(world.home, *world.words(), "--out", str(folder))
        world.refused(what, done, 4, "make room")
        _nothing_lost(world, what, folder, before)
        kept = said(read_run(folder))
        done = selfdiag(world.home, "run", "--resume", str(folder))
        world.refused(f"{what}, still", done, 4, "make room")
        still = said(read_run(folder))
        world.checks.check(f"{what}, still: nothing is lost", kept.items() <= still.items(), len(kept))
        written = mount / "report.html"
        done = selfdiag(world.home, "report", str(folder), "--format", "html", "-o", str(written))
        world.refused(f"{what}, for a report", done, 2, str(written))
        world.checks.check(f"{what}, for a report: nothing half-written is left", not written.exists())
        ballast.unlink()
        world.goes_on(what, folder)


def _fill(ballast: Path, mount: Path, *, leaving: int) -> None:
    ballast.unlink(missing_ok=True)
    ballast.write_bytes(bytes(shutil.disk_usage(mount).free - leaving))


def _read_only(world: World) -> None:
    what = "a disk mounted read-only"
    with _mounted(world.place / "fixed", 8 * MEGABYTE) as mount:
        folder = mount / "run"
        _half_done(world, folder)
        subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
        _refusals(world, what, folder, mount / "new", selfdiag)
        subprocess.run(["mount", "-o", "remount,rw", str(mount)], check=True)
        world.goes_on(what, folder)


def _without_permission(world: World) -> None:
    what = "a folder without permission to write"
    python: list[str] = []
    if os.geteuid() == 0:
        # root may write anywhere unless it gives that right away
        python = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override", "--"]
        if shutil.which("setpriv") is None:
            world.checks.skip(what, "root ignores permissions, and there is no setpriv")
            return

    def command(home: Path, *words: str) -> Done:
        return selfdiag(home, *words, through=python)

    closed = world.place / "closed"
    folder = closed / "run"
    closed.mkdir()
    _half_done(world, folder)
    for one in (closed, folder, *folder.iterdir()):
        one.chmod(0o555 if one.is_dir() else 0o444)
    _refusals(world, what, folder, closed / "new", command)
    for one in (closed, folder, *folder.iterdir()):
        one.chmod(0o755 if one.is_dir() else 0o644)
    world.goes_on(what, folder)


def _half_done(world: World, folder: Path) -> None:
    done = selfdiag(world.home, *world.words(), "--out", str(folder), "--budget-tokens", "3000")
    world.checks.check("a budget stops a run half-way", done.code == 4 and done.is_plain, done.told())


def _refusals(world: World, what: str, folder: Path, new: Path, command: Callable[..., Done]) -> None:
    """Check what can be done with a run that cannot be written: everything but going on."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    world.refused(f"{what}, a new run", command(world.home, *world.words(), "--out", str(new)), 2, "cannot be written")
    world.checks.check(f"{what}, a new run: nothing half-written is left", not new.exists())
    world.refused(what, command(world.home, "run", "--resume", str(folder)), 2, "cannot be written")
    done = command(world.home, "report", str(folder))
    world.checks.check(f"{what}: the run can be reported", done.code == 0 and done.is_plain, done.told())
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    world.checks.check(f"{what}: no file has changed", files == after, ", ".join(files.keys() ^ after.keys()))


def _clock(world: World) -> None:
    what, folder = "a clock that jumps", world.place / "jumped"
    home = world.place / "jumped-home"
    for seed in range(world.checks.seed, world.checks.seed + (1 if world.checks.quick else 10)):
        shutil.rmtree(folder, ignore_errors=True)
        python = [str(JUMPING_CLOCK), str(seed)]
        words = [*world.words(), "--out", str(folder)]
        stretches = 0
        while stretches < 20:
            done = selfdiag(home, *words, "--budget-tokens", "4000", python=python)
            stretches += 1
            if done.code != 4:
                break
            words = ["run", "--resume", "latest"]
        right = done.code == 0 and done.is_plain
        world.checks.check(f"{what}: a run in several stretches ends well", right, f"{stretches}, {done.told()}")
        world.compare(what, folder)
        done = selfdiag(home, "report", "latest", "--json", python=python)
        took = json.loads(done.stdout)["usage"]["seconds"] if done.code == 0 else -1
        world.checks.check(f"{what}: the time it took is no less than nothing", took >= 0, f"{took:.0f} s")
        known = selfdiag(home, "runs", "list", python=python)
        world.checks.check(f"{what}: runs are listed", known.code == 0 and known.is_plain, known.told())


def _edited(world: World) -> None:
    """Somebody has opened the records in an editor."""
    other = world.place / "other"
    words = ["openai:other" if word == "openai:stub" else word for word in world.words()]
    selfdiag(world.home, *words, "--out", str(other), "--limit", "4")
    foreign = (other / RECORDS).read_bytes().splitlines(keepends=True)[-1]
    lines = (world.reference / RECORDS).read_bytes().splitlines(keepends=True)
    random = Random(f"edited {world.checks.seed}")
    first = random.randrange(10, len(lines) - 20)
    second = random.randrange(first + 1, len(lines) - 2)

    def edited(what: str, changed: list[bytes], asked: int, problems: int, without: tuple[str, ...] = ()) -> None:
        what = f"a records file with {what}"
        folder = world.place / "edited"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(world.reference, folder)
        (folder / RECORDS).write_bytes(b"".join(changed))
        found = len(read_run(folder).problems)
        world.checks.check(f"{what}: {problems} named as a problem", found == problems, found)
        done = selfdiag(world.home, "report", str(folder))
        world.checks.check(f"{what}: can be reported", done.code == 0 and done.is_plain, done.told())
        before = world.server.asked
        done = selfdiag(world.home, "run", "--resume", str(folder))
        again = world.server.asked - before
        right = done.code == 0 and done.is_plain and len(done.faults) == (problems if asked else 0)
        world.checks.check(f"{what}: {asked} asked again", right and again == asked, f"{again} asked, {done.told()}")
        world.compare(what, folder, without)

    def line(number: int) -> bytes:
        return lines[number]

    swapped = [*lines[:first], line(second), *lines[first + 1 : second], line(first), *lines[second + 1 :]]
    half = len(line(first)) // 2
    garbled = line(first)[:half] + b'" oops ' + line(first)[half + 40 :]
    edited("two lines swapped", swapped, 0, 0)
    edited("a line garbled in the middle", [*lines[:first], garbled, *lines[first + 1 :]], 1, 1, ("notes",))
    if world.checks.quick:
        return
    edited("a line twice", [*lines[: second + 1], line(second), *lines[second + 1 :]], 0, 0, ("usage",))
    edited("a line deleted", [*lines[:first], *lines[first + 1 :]], 1, 0)
    edited("a line of another run", [*lines[:first], foreign, *lines[first:]], 0, 0, ("usage",))
    edited("other line ends", [text.replace(b"\n", b"\r\n") for text in lines], 0, 0)
    edited("its last line torn", [*lines[:-1], line(-1)[:-40]], 1, 1)
    edited("nothing in it", [], len(said(read_run(world.reference))), 0)


def _two_processes(world: World) -> None:
    what, folder = "two processes on one run", world.place / "shared"
    world.server.most = world.server.asked + 20
    first = start(world.home, *world.words(), "--out", str(folder))
    until = time.monotonic() + WATCHDOG
    while world.server.asked < world.server.most and time.monotonic() < until:
        time.sleep(0.01)
    for words in (["run", "--resume", str(folder)], ["run", "--resume", "latest", "--concurrency", "2"]):
        world.refused(what, selfdiag(world.home, *words), 2, "another process is writing")
    done = selfdiag(world.home, *world.words(), "--out", str(folder))
    world.refused(f"{what}, the second as a new one", done, 2, "is not empty")
    done = selfdiag(world.home, "runs", "rm", str(folder), "--yes")
    world.refused(f"{what}, the second deletes it", done, 2, "another process is writing")
    done = selfdiag(world.home, "report", str(folder))
    world.checks.check(f"{what}: the second may look at it", done.code == 0 and done.is_plain, done.told())
    world.server.most = float("inf")
    done = end(first)
    world.checks.check(f"{what}: the first is not disturbed", done.code == 0 and done.is_plain, done.told())
    world.compare(what, folder)


def _with_mounts() -> None:
    """Begin again in a process that may mount file systems which nobody else sees, where the system allows that."""
    unshare = shutil.which("unshare")
    if APART in os.environ or unshare is None:
        return
    for words in ([unshare, "--mount"], [unshare, "--user", "--map-root-user", "--mount"]):
        with tempfile.TemporaryDirectory() as place:
            trial = [*words, "mount", "-t", "tmpfs", "tmpfs", place]
            if subprocess.run(trial, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                again = [*words, sys.executable, "-m", "tests.endurance.disk", *sys.argv[1:]]
                os.execve(words[0], again, os.environ | {APART: "1"})  # noqa: S606


if __name__ == "__main__":
    _with_mounts()
    main(__doc__, disk)
