"""What a script of this folder finds: one line for each check, and an exit code that counts the failed ones."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any


class Checks:
    """The checks of one script.

    Args:
        quick: whether a minute's worth is wanted instead of the whole.
        seed: of everything that is drawn.
    """

    def __init__(self, *, quick: bool, seed: int) -> None:
        self.quick = quick
        self.seed = seed
        self.failed = 0

    def check(self, what: str, holds: bool, found: object = "") -> bool:
        """Print one check with a tick or a cross and return whether it holds; ``found`` is what was seen."""
        self.failed += not holds
        said = f": {found}" if found != "" else ""
        print(f"  {'✓' if holds else '✗'} {what}{said}", flush=True)
        return holds

    def same(self, what: str, found: Any, expected: Any) -> bool:
        """Check that two values are equal, and say where they part."""
        parts = _difference(found, expected)
        return self.check(what, parts == "", parts)

    def skip(self, what: str, reason: str) -> None:
        """Print a check that cannot be made here, and why."""
        print(f"  ○ {what}: skipped, {reason}", flush=True)


def _difference(found: Any, expected: Any, place: str = "") -> str:
    """Return the first place where two documents differ and what stands there; empty when they are equal."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in [*expected, *(key for key in found if key not in expected)]:
            if parts := _difference(found.get(key), expected.get(key), f"{place}.{key}"):
                return parts
        return ""
    if found == expected:
        return ""
    return f"{place.lstrip('.')} is {_short(found)} and should be {_short(expected)}".strip()


def _short(value: Any) -> str:
    shown = json.dumps(value, default=str, ensure_ascii=False)
    return shown if len(shown) <= 120 else shown[:119] + "…"


def main(description: str, body: Callable[[Checks], None]) -> None:
    """Make the checks of a script; the exit code is 1 when one of them failed."""
    words = argparse.ArgumentParser(description=description)
    words.add_argument("--quick", action="store_true", help="a minute's worth")
    words.add_argument("--seed", type=int, default=0, help="of everything that is drawn")
    chosen = words.parse_args()
    print(description)
    checks = Checks(quick=chosen.quick, seed=chosen.seed)
    begin = time.monotonic()
    body(checks)
    print(f"  {checks.failed or 'no'} check{'s' * (checks.failed != 1)} failed, {time.monotonic() - begin:.0f} s")
    sys.exit(checks.failed > 0)
