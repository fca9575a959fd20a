"""Share of a run's wall time in which the embedded engine has nothing to do. Bar: 5 %.

Usage: python benchmarks/engine_idle.py [RUN FOLDER]; without a folder it audits the embedded model first.
"""

import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

from selfdiag.runs.store import read_run

BAR = 0.05


def idle_share(folder: Path) -> float:
    run = read_run(folder)
    stretch = run.manifest.sessions[-1]
    wall = datetime.fromisoformat(stretch.ended) - datetime.fromisoformat(stretch.started)
    busy = sum(record.latency_s for record in run.records if record.at >= stretch.started)
    # the warm-up leaves no record, so its time counts as idle: the figure is an upper bound
    return 1 - busy / wall.total_seconds()


def main() -> None:
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
    else:
        folder = Path(tempfile.mkdtemp()) / "run"
        subprocess.run([sys.executable, "-m", "selfdiag", "run", "embedded", "--out", str(folder)], check=True)
    share = idle_share(folder)
    print(f"engine idle at most {share:.1%} of the run (bar {BAR:.0%}): {'met' if share <= BAR else 'MISSED'}")


if __name__ == "__main__":
    main()
