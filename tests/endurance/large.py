"""A battery of 20,000 items: memory stays flat while they are asked, and what is done with the run stays usable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

from selfdiag.battery.items import BINS
from selfdiag.runs.store import RECORDS
from tests.endurance.checks import Checks, main
from tests.endurance.command import surroundings

ITEMS, QUICK_ITEMS = 20_000, 3_000
SETTLED = 0.25
"""Share of the records after which memory is first looked at: 5,000 of 20,000."""
GROWTH, SLACK = 700, 2 * 2**20
"""Bytes that a run may keep for each record beside a fixed number: that its call has a reply, and what came of it
without the texts. The plan itself is there from the start."""
WATCHDOG = 3_600.0
MEBIBYTE = 2**20


class Seen(NamedTuple):
    """A command that was watched: ``records`` were on file when the process held ``rss`` bytes."""

    code: int | None
    seconds: float
    peak: int
    samples: list[tuple[int, int]]
    stderr: str


def large(checks: Checks) -> None:
    items = QUICK_ITEMS if checks.quick else ITEMS
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        battery, folder = place / "large.jsonl", place / "run"
        _write(battery, items, checks.seed)
        words = ["run", "persona:calibrated", "--battery", str(battery), "--yes", "--out", str(folder)]
        asked = _watched(place, words, folder / RECORDS)
        records = _lines(folder / RECORDS)
        if not checks.check(f"a run of {items:,} items ends well", asked.code == 0 == items - records, _told(asked)):
            return
        _flat(checks, asked, items)
        size = (folder / RECORDS).stat().st_size
        rate = records / max(asked.seconds, 1e-9)
        print(f"    {rate:.0f} records a second from start to summary, {size / records:.0f} bytes a record on disk")
        for what, later in {
            "its report": ["report", str(folder), "--format", "json"],
            "its report as a page": ["report", str(folder), "--format", "html", "-o", str(place / "report.html")],
            "its table": ["report", str(folder), "--format", "csv", "-o", str(place / "report.csv")],
            "the measures of its records": ["analyze", str(folder / RECORDS), "--json"],
            "a resume with nothing left": ["run", "--resume", str(folder)],
            "the list of runs": ["runs", "list"],
        }.items():
            seen = _watched(place, later)
            checks.check(f"{what} ends well", seen.code == 0, _told(seen))
        checks.check("a resume with nothing left asks nothing", _lines(folder / RECORDS) == records)


def _write(path: Path, items: int, seed: int) -> None:
    """Write a battery of seven probes to every trap; their questions are different and of usual length."""
    draw = Random(f"large {seed}")
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"id": "large", "version": "1"}) + "\n")
        for number in range(items):
            ways = [
                f"{way} {draw.randrange(10**6)} times {draw.randrange(10**6)}, the {number}th such product of ours?"
                for way in ("What is", "Please say what comes to be", "How much is, if anything at all,")
            ]
            item: dict[str, object] = {"id": f"large-{number:05}", "bin": BINS[number % len(BINS)], "questions": ways}
            if number % 8 == 7:
                item |= {"family": "no_such_entity", "note": "there is no such product"}
            else:
                level = ("easy", "medium", "hard")[number % 3]
                item |= {"kind": "number", "answer": str(draw.randrange(10**9)), "difficulty": level}
                item |= {"source": "drawn at random"}
            file.write(json.dumps(item) + "\n")


def _watched(place: Path, words: list[str], records: Path | None = None) -> Seen:
    """Run a command, looking at its memory, and at the number of records where a file of them is named."""
    samples: list[tuple[int, int]] = []
    peak = 0
    begun = time.monotonic()
    with (place / "stdout").open("wb") as stdout, (place / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "selfdiag", *words], stdout=stdout, stderr=stderr, env=surroundings(place / "home")
        )
        count, position = 0, 0
        while process.poll() is None and time.monotonic() - begun < WATCHDOG:
            rss = _rss(process.pid)
            peak = max(peak, rss)
            if records is not None and records.exists():
                with records.open("rb") as file:
                    file.seek(position)
                    new = file.read()
                count, position = count + new.count(b"\n"), position + len(new)
                samples.append((count, rss))
            time.sleep(0.02)
        code = process.poll()
        process.kill()
        process.wait()
    told = (place / "stderr").read_text(encoding="utf-8", errors="replace")
    return Seen(code, time.monotonic() - begun, peak, [one for one in samples if one[1]], told)


def _rss(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _flat(checks: Checks, asked: Seen, items: int) -> None:
    # once the last record is written the whole run is read for its summary: that is no part of the asking
    first = next((one for one in asked.samples if one[0] >= SETTLED * items), None)
    last = next((one for one in reversed(asked.samples) if one[0] < items), None)
    if first is None or last is None or last[0] <= first[0]:
        checks.skip("memory stays flat while it asks", "there is no /proc to look at")
        return
    more, records = last[1] - first[1], last[0] - first[0]
    found = f"{_mib(first[1])} after {first[0]:,} records, {_mib(last[1])} after {last[0]:,}"
    what = f"memory grows by no more than {GROWTH:,} bytes a record and {_mib(SLACK)} while it asks"
    checks.check(what, more <= GROWTH * records + SLACK, f"{found}: {more / records:.0f} bytes a record")


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _mib(size: int) -> str:
    return f"{size / MEBIBYTE:.0f} MiB"


def _told(seen: Seen) -> str:
    last = (seen.stderr.splitlines() or [""])[-1]
    code = "" if seen.code == 0 else f", exit {seen.code}: {last[:200]!r}"
    return f"{seen.seconds:.1f} s, {_mib(seen.peak)} at most{code}"


if __name__ == "__main__":
    main(__doc__, large)
