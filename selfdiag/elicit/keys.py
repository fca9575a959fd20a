"""Whether the grader understands the keys of a battery."""

from __future__ import annotations

from selfdiag.battery.items import Battery
from selfdiag.elicit.grading import grade
from selfdiag.elicit.reading import Reading

STRICT_KINDS = ("number", "expression", "date")
"""Kinds whose key must have their form; the grader would else compare it as plain text."""


def key_faults(battery: Battery) -> dict[str, list[str]]:
    """Return for each probe id what is wrong with its key as the grader reads it; sound probes are left out."""
    faults: dict[str, list[str]] = {}
    for probe in battery.probes:
        own = grade(probe, Reading(answer=probe.answer, parse="strict"))
        found = []
        if own.outcome != "correct" or (probe.kind in STRICT_KINDS and own.rule == "text"):
            found.append(f"the answer {probe.answer!r} cannot be read as kind {probe.kind!r}")
        found += [
            f"the grader does not accept the alias {alias!r}"
            for alias in probe.aliases
            if grade(probe, Reading(answer=alias, parse="strict")).outcome != "correct"
        ]
        wrong = probe.misconception
        if wrong and grade(probe, Reading(answer=wrong, parse="strict")).outcome == "correct":
            found.append(f"the grader accepts the misconception {wrong!r}")
        if found:
            faults[probe.id] = found
    return faults
