"""Every script of this folder that finds out what a run survives, one after the other.

``python -m tests.endurance.all`` takes forty minutes, with ``--quick`` a few; ``--without NAME,...`` leaves some out.
Each script can be started by itself too, as ``python -m tests.endurance.kills``. The exit code is 1 when a check fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

SCRIPTS = ("kills", "disk", "faults", "silent", "large")
ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the scripts, each in a process of its own, and say which of them failed."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--quick", action="store_true", help="a minute's worth of each")
    words.add_argument("--seed", type=int, default=0, help="of everything that is drawn")
    words.add_argument("--without", default="", metavar="NAME,...", help="leave scripts out")
    chosen = words.parse_args()
    flags = ["--seed", str(chosen.seed), *(["--quick"] if chosen.quick else [])]
    failed = []
    for script in SCRIPTS:
        if script in chosen.without.split(","):
            continue
        done = subprocess.run([sys.executable, "-m", f"tests.endurance.{script}", *flags], cwd=ROOT, check=False)
        failed += [script] if done.returncode else []
    print(f"failed: {', '.join(failed)}" if failed else "nothing failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
