"""What a benchmark found, as rows of one table: a bar, what was measured, and whether it holds."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """One measured figure; ``bar`` is None for what is only shown beside the others."""

    name: str
    measured: float
    unit: str
    bar: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        """``met``, ``MISSED``, or nothing when there is no bar."""
        if self.bar is None:
            return ""
        return "met" if (self.measured >= self.bar if self.at_least else self.measured <= self.bar) else "MISSED"


def figure(value: float, unit: str) -> str:
    """Return a figure with its unit: a ratio with three places, a share in percent."""
    if unit == "share":
        return f"{100 * value:.1f} %"
    shown = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{shown} {unit}" if unit != "times" else f"{shown} x"


def lines(rows: Sequence[Row], before: dict[str, float] | None = None) -> list[str]:
    """Return the rows as aligned text, beside the figures of an earlier measurement where there are some."""
    head = ["what", "bar", "measured", "kept", "verdict"]
    table = [head]
    for row in rows:
        bar = "" if row.bar is None else f"{'>=' if row.at_least else '<='} {figure(row.bar, row.unit)}"
        kept = (before or {}).get(row.name)
        shown = "" if kept is None else figure(kept, row.unit)
        table.append([row.name, bar, figure(row.measured, row.unit), shown, row.verdict])
    widths = [max(len(line[column]) for line in table) for column in range(len(head))]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    shown.insert(1, "  ".join("-" * width for width in widths))
    notes = [f"{row.name}: {row.note}" for row in rows if row.note]
    return [*shown, *(["", *notes] if notes else [])]


def to_json(rows: Sequence[Row]) -> str:
    """Return the rows as a JSON list of objects with their verdicts."""
    return json.dumps([row._asdict() | {"verdict": row.verdict} for row in rows], indent=2) + "\n"


def from_json(text: str) -> list[Row]:
    """Return the rows that ``to_json`` wrote."""
    return [Row(**{name: found[name] for name in Row._fields}) for found in json.loads(text)]


def main(description: str, measure: Callable[[], Sequence[Row]]) -> None:
    """Measure, print the table, and write it as JSON where ``--json FILE`` asks for it; exit 1 on a missed bar."""
    words = argparse.ArgumentParser(description=description)
    words.add_argument("--json", type=Path, metavar="FILE", help="write the rows to a file too")
    chosen = words.parse_args()
    rows = measure()
    print("\n".join(lines(rows)))
    if chosen.json is not None:
        chosen.json.write_text(to_json(rows), encoding="utf-8")
    sys.exit(any(row.verdict == "MISSED" for row in rows))
