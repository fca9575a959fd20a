"""Share of a run's wall time in which the embedded engine has nothing to do. Bar: 5 %.

Usage: python benchmarks/engine_idle.py [--json FILE]; it audits the embedded model first.
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


def rows() -> list[table.Row]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        words = [sys.executable, "-m", "selfdiag", "run", "embedded", "--out", str(folder)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return [table.Row("embedded engine idle in a quick audit", idle_share(folder), "share", BAR)]


if __name__ == "__main__":
    table.main("Audit the embedded model and tell how long its engine had nothing to do.", rows)
