"""Time of ``selfdiag --help`` against importing click alone. Bar: a ratio of 1.5.

Usage: python benchmarks/start.py [--json FILE]
"""

import statistics
import subprocess
import sys
import time

import table

BAR = 1.5
ROUNDS = 15


def seconds(*words: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def rows() -> list[table.Row]:
    pairs = [(seconds("-m", "selfdiag", "--help"), seconds("-c", "import click")) for _ in range(ROUNDS)]
    ratio = statistics.median(ours / click for ours, click in pairs)
    return [table.Row("selfdiag --help, against importing click", ratio, "times", BAR)]


if __name__ == "__main__":
    table.main("Time selfdiag --help.", rows)
