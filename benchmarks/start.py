"""Time of ``selfdiag --help`` against importing click alone. Bar: a ratio of 1.5.

Usage: python benchmarks/start.py
"""

import statistics
import subprocess
import sys
import time

BAR = 1.5
ROUNDS = 15


def seconds(*words: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    pairs = [(seconds("-m", "selfdiag", "--help"), seconds("-c", "import click")) for _ in range(ROUNDS)]
    ratio = statistics.median(ours / click for ours, click in pairs)
    print(f"selfdiag --help takes {ratio:.2f} times as long as importing click (bar {BAR}): ", end="")
    print("met" if ratio <= BAR else "MISSED")


if __name__ == "__main__":
    main()
