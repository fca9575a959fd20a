"""Every benchmark, one after the other, as one table beside the last result that was kept.

Usage: python benchmarks/all.py [--keep] [--without NAME,...] [--json FILE]; ``--keep`` makes this result the one to
compare with. Nothing else should run on the machine meanwhile.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import table

HERE = Path(__file__).resolve().parent
KEPT = HERE / "kept.json"
SCRIPTS = ("start", "app", "throughput", "pace", "engine_idle", "measures", "records", "peers")


def measured(script: str) -> list[table.Row]:
    """Run one script in a process of its own and return its rows."""
    with tempfile.TemporaryDirectory() as place:
        found = Path(place) / "rows.json"
        words = [sys.executable, str(HERE / f"{script}.py"), "--json", str(found)]
        done = subprocess.run(words, stdout=subprocess.DEVNULL, cwd=HERE.parent, env=_surroundings(), check=False)
        if not found.is_file():
            sys.exit(f"benchmarks/{script}.py ended with {done.returncode} and measured nothing")
        return table.from_json(found.read_text(encoding="utf-8"))


def _surroundings() -> dict[str, str]:
    # so that a script finds the package of this checkout, installed or not
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))}


def main() -> None:
    words = argparse.ArgumentParser(description="Run every benchmark.")
    words.add_argument("--keep", action="store_true", help="compare with this result from now on")
    words.add_argument("--without", default="", metavar="NAME,...", help="leave scripts out")
    words.add_argument("--json", type=Path, metavar="FILE", help="write the rows to a file too")
    chosen = words.parse_args()
    before = table.from_json(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else []
    rows: list[table.Row] = []
    for script in SCRIPTS:
        if script in chosen.without.split(",") or not (HERE / f"{script}.py").is_file():
            continue
        print(f"{script} ...", file=sys.stderr, flush=True)
        rows += measured(script)
    print("\n".join(table.lines(rows, {row.name: row.measured for row in before})))
    for path in filter(None, (chosen.json, KEPT if chosen.keep else None)):
        path.write_text(table.to_json(rows), encoding="utf-8")
    sys.exit(any(row.verdict == "MISSED" for row in rows))


if __name__ == "__main__":
    main()
