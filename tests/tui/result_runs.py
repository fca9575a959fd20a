"""Runs for the results screens: written at once, with as many records as wanted and with hostile texts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import selfdiag
from selfdiag.battery.items import BINS, FAMILIES, Battery, Probe, Trap
from selfdiag.elicit.prompts import PROMPT_VERSION, render
from selfdiag.models.base import ModelInfo
from selfdiag.runs.records import (
    BatteryInfo,
    Fault,
    Manifest,
    PlannedCall,
    PromptText,
    Record,
    RunSettings,
    Stretch,
)
from selfdiag.runs.store import RunWriter

HOSTILE = (
    "[/]",
    "[/INST] and [red]hi",
    "[link=http://x]y",
    "[@click=app.quit]x[/]",
    "\x1b[2J\x1b]0;owned\x07",
    "日本語👩\u200d👩\u200d👧 e\u0301 \u202eabc",
    "array[i] \x00 {'a': [true]}",
)
"""Texts that markup, a terminal, or a careless column would stumble over."""
MEGABYTE = 1_000_000


def audit_run(
    folder: Path,
    *,
    probes: int = 42,
    traps: int = 10,
    unasked: int = 0,
    texts: Sequence[str] = (),
    long_reply: bool = False,
    model: str = "openai:made-up",
    sections: tuple[str, ...] = ("probes", "traps"),
) -> Path:
    """Write a run whose records come out in every way there is.

    Args:
        folder: to write it to.
        probes: that are asked.
        traps: that are asked; every other one is answered.
        unasked: calls at the end without a record.
        texts: stand in every place for foreign text, in turn; plain ones when there are none.
        long_reply: the first reply has a megabyte.
        model: its name.
        sections: of its settings.
    """

    def foreign(place: int, plain: str) -> str:
        return f"{texts[place % len(texts)]} {place}" if texts else plain

    items: list[Probe | Trap] = [
        Probe(
            id=foreign(place, f"item-{place:05}"),
            bin=foreign(place % 5, "") if texts else BINS[place % len(BINS)],
            difficulty="easy",
            kind="text",
            answer=foreign(place, f"key {place}"),
            aliases=(foreign(place, "alias"),),
            questions=(foreign(place, f"What is thing {place}?"),),
            source="a book",
        )
        for place in range(probes)
    ]
    items += [
        Trap(
            id=foreign(probes + place, f"trap-{place:03}"),
            bin=BINS[place % len(BINS)],
            family=foreign(place % 3, "") if texts else FAMILIES[place % len(FAMILIES)],
            questions=(foreign(place, f"Which of none is {place}?"),),
            note=foreign(place, "there is none"),
        )
        for place in range(traps)
    ]
    drawn = Battery(
        id="made",
        version="1",
        probes=tuple(item for item in items if isinstance(item, Probe)),
        traps=tuple(item for item in items if isinstance(item, Trap)),
    )
    prompts, plan, records = {}, [], []
    for place, item in enumerate(items):
        prompt = render(item, 0)
        key = prompt.sha256()
        prompts[key] = PromptText(system="contract", user=prompt.user)
        trap = isinstance(item, Trap)
        call = PlannedCall(
            call_id=hashlib.sha256(f"{place}".encode()).hexdigest()[:20],
            item_id=item.id,
            section="traps" if trap else "probes",
            prompt=key,
        )
        plan.append(call)
        if place < len(items) - unasked:
            records.append(_record(call, item, place, foreign(place, f"answer {place}"), long_reply=long_reply))
    manifest = Manifest(
        run_id=folder.name,
        selfdiag=selfdiag.__version__,
        settings=RunSettings(model=model, sections=sections),
        model=ModelInfo(provider="openai", name=model, served_name=model),
        battery=BatteryInfo(id="made", version="1", sha256=drawn.sha256()),
        drawn=drawn,
        prompt_version=PROMPT_VERSION,
        systems={"contract": foreign(0, "Answer the question.")},
        prompts=prompts,
        plan=tuple(plan),
        versions={},
        structured="off",
        max_tokens=256,
        sessions=(Stretch(started="2026-01-01T00:00:00Z", ended="2026-01-01T00:10:00Z", outcome="complete"),),
    )
    with RunWriter.create(folder, manifest) as writer:
        for record in records:
            writer.append(record)
    return folder


def _record(call: PlannedCall, item: Probe | Trap, place: int, answer: str, *, long_reply: bool) -> Record:
    trap = isinstance(item, Trap)
    kinds = (
        ("incorrect", "abstained") if trap else ("correct", "incorrect", "correct", "abstained", "unparsed", "error")
    )
    outcome = kinds[place % len(kinds)]
    said = outcome in {"correct", "incorrect", "abstained"}
    return Record(
        call_id=call.call_id,
        item_id=item.id,
        bin=item.bin,
        difficulty=None if trap else "easy",
        trap=trap,
        family=item.family if isinstance(item, Trap) else None,
        section=call.section,
        prompt_sha256=call.prompt,
        raw="x" * MEGABYTE if long_reply and place == 0 else f'{{"answer": "{answer}"}}',
        reasoning=answer if place % 7 == 0 else "",
        answer=answer if said else None,
        confidence=(place * 7) % 101 if said else None,
        parse="strict" if said else "none",
        flags=("free_text",) if outcome == "abstained" else (),
        outcome=outcome,  # type: ignore[arg-type]
        rule="text" if said else "no answer found",
        error=Fault(kind="timeout", message=f"too late: {answer}") if outcome == "error" else None,
        prompt_tokens=40,
        completion_tokens=9,
        latency_s=0.5,
        at="2026-01-01T00:05:00Z",
    )
