"""Time and memory of ``selfdiag analyze`` over a million records. Bars: 10 seconds, 300 MB.

Usage: python benchmarks/records.py [--json FILE]; it writes a file of 600 MB to the temporary folder and deletes it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import table

from selfdiag.battery.items import BINS
from selfdiag.runs.records import Record

RECORDS = 1_000_000
ITEMS = 20_000
BYTES = 626


def write(path: Path, records: int = RECORDS) -> None:
    """Write records of probes and traps whose stated confidence says something of being right."""
    draw = random.Random(1)
    encoder = msgspec.json.Encoder()
    with path.open("wb") as file:
        for number in range(records):
            item = number % ITEMS
            confidence = 5 * draw.randint(0, 20)
            trap = item % 8 == 0
            right = draw.random() < 0.2 + confidence / 200
            outcome = ("abstained" if right else "incorrect") if trap else "correct" if right else "incorrect"
            record = Record(
                call_id=f"{number:016x}",
                item_id=f"{BINS[item % len(BINS)]}-{item:05}",
                bin=BINS[item % len(BINS)],
                difficulty=None if trap else "medium",
                trap=trap,
                family="no_such_entity" if trap else None,
                section="traps" if trap else "probes",
                prompt_sha256=f"{item:064x}",
                raw=f'{{"answer": "{item}", "confidence": {confidence}}}',
                answer=str(item),
                confidence=confidence,
                parse="json",
                outcome=outcome,
                rule="number",
                finish_reason="stop",
                latency_s=0.5,
                prompt_tokens=180,
                completion_tokens=14,
                at="2026-01-01T00:00:00Z",
            )
            line = encoder.encode(record)
            padding = max(0, BYTES - len(line) - 1)
            file.write(encoder.encode(msgspec.structs.replace(record, raw=record.raw + " " * padding)) + b"\n")


def rows() -> list[table.Row]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "records.jsonl"
        write(path)
        size = path.stat().st_size / 1e6
        started = time.perf_counter()
        words = [sys.executable, "-m", "selfdiag", "analyze", str(path), "--json"]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        if process.returncode:
            raise SystemExit(f"analyze ended with {process.returncode}")
    return [
        table.Row("analyze 1,000,000 records", seconds, "s", 10.0, note=f"a file of {size:.0f} MB"),
        table.Row("analyze 1,000,000 records, peak memory", used.ru_maxrss / 1024, "MiB", 300.0),
    ]


if __name__ == "__main__":
    table.main("Time analyze over a million records.", rows)
