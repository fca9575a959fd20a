"""Whether the grader understands the keys of a battery."""

from __future__ import annotations

from selfdiag.battery.items import Battery
from selfdiag.elicit.grading import grade
from selfdiag.elicit.reading import Reading


def key_faults(battery: Battery) -> dict[str, list[str]]:
    """Return for each probe id what is wrong with its key as the grader reads it; sound probes are left out."""
    faults: dict[str, list[str]] = {}
    for probe in battery.probes:
        found = [
            f"the grader does not accept the {name} {answer!r} as {probe.kind}"
            for name, answer in [("answer", probe.answer), *(("alias", alias) for alias in probe.aliases)]
            if grade(probe, Reading(answer=answer, parse="strict")).outcome != "correct"
        ]
        wrong = probe.misconception
        if wrong and grade(probe, Reading(answer=wrong, parse="strict")).outcome == "correct":
            found.append(f"the grader accepts the misconception {wrong!r}")
        if found:
            faults[probe.id] = found
    return faults
