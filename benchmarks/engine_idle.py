"""Share of a run's wall time in which the embedded engine has nothing to do, and whether ``auto`` slows it. Bar: 5 %.

``--concurrency auto`` must ask as many calls a second as one call at a time does; 5 % are left to chance.

Usage: python benchmarks/engine_idle.py [--json FILE]; it audits the embedded model three times.
"""

import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import table

from selfdiag.runs.store import read_run

BAR = 0.05


def idle_share(folder: Path) -> float:
    run = read_run(folder)
    stretch = run.manifest.sessions[-1]
    wall = datetime.fromisoformat(stretch.ended) - datetime.fromisoformat(stretch.started)
    busy = sum(record.latency_s for record in run.records if record.at >= stretch.started)
    # the warm-up leaves no record, so its time counts as idle: the figure is an upper bound
    return 1 - busy / wall.total_seconds()


def calls_a_second(folder: Path) -> float:
    """Return the calls a second between the first record and the last: loading the model is not counted."""
    landed = sorted(datetime.fromisoformat(record.at) for record in read_run(folder).records)
    return (len(landed) - 1) / (landed[-1] - landed[0]).total_seconds()


def audit(folder: Path, *words: str) -> Path:
    command = [sys.executable, "-m", "selfdiag", "run", "embedded", *words, "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder


def rows() -> list[table.Row]:
    with tempfile.TemporaryDirectory() as place:
        plain, auto, again = (
            audit(Path(place) / name, *words)
            for name, words in (("plain", ()), ("auto", ("--concurrency", "auto")), ("again", ()))
        )
        alone = max(map(calls_a_second, (plain, again)))
        ratio = calls_a_second(auto) / alone
        note = f"{alone:.2f} calls a second one at a time, the better of two audits"
        return [
            table.Row("embedded engine idle in a quick audit", idle_share(plain), "share", BAR),
            table.Row("auto on the embedded engine", ratio, "times", 0.95, at_least=True, note=note),
        ]


if __name__ == "__main__":
    table.main("Audit the embedded model and tell how long its engine had nothing to do.", rows)
