"""Self-selections whose answers and picks a test writes."""

from collections.abc import Callable
from pathlib import Path

import msgspec
from claim_runs import Reply, answered

from selfdiag.battery.items import Battery, Probe
from selfdiag.battery.write import write
from selfdiag.runs.earlier import FORWARD
from selfdiag.runs.records import CANDIDATES, PlannedCall, RunSettings
from selfdiag.runs.selection_plan import selection_plan
from selfdiag.runs.store import Run, RunWriter, read_run

Candidate = tuple[str | None, str]
"""Answer and outcome."""
Picks = Callable[[PlannedCall, str], Reply]
"""Confidence, letter and outcome, given the letter of the right answer, or of the first where none is alone right."""


def battery_file(path: Path, sizes: dict[str, int]) -> Path:
    """Write a battery with so many probes by topic."""
    probes = tuple(
        Probe(
            id=f"{name}-{number:03}",
            bin=name,
            difficulty="easy",
            kind="number",
            answer="4",
            questions=(f"How much is 4 in {name} {number}? As a number.",),
            derivation="answer = 4",
        )
        for name, size in sizes.items()
        for number in range(size)
    )
    path.write_text(write(Battery(id="made", version="1", probes=probes), "jsonl"), encoding="utf-8")
    return path


def selection(
    folder: Path,
    battery: Path | str,
    candidates: Callable[[str], tuple[Candidate | None, Candidate | None]],
    picks: Picks,
    *,
    selections: int = 2,
) -> Run:
    """Write a self-selection and read it again; a candidate that is None has not been asked."""
    settings = RunSettings(model="openai:written", battery=str(battery), sections=("selfselect",))
    plan = selection_plan(settings, selections=selections)
    planned = {call.call_id: call for call in plan.calls}

    def reply(call: PlannedCall) -> Reply:
        pair = candidates(call.item_id)
        if call.section == CANDIDATES:
            given = pair[call.replicate]
            return None if given is None else (None, given[0] or "", given[1])
        way = next((way for way, one in enumerate(pair) if one is not None and one[1] == "correct"), 0)
        place = way if call.arm == FORWARD else 1 - way
        return picks(call, "AB"[place])

    made = answered(settings, plan, reply)
    records = [
        msgspec.structs.replace(
            record,
            replicate=planned[record.call_id].replicate,
            answer=record.answer or None,
            parse="strict",
        )
        for record in made.records
    ]
    with RunWriter.create(folder, made.manifest) as writer:
        writer.append(*records)
    return read_run(folder)
