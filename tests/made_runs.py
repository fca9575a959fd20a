"""Runs as a model of a test's own making would leave them: every record written at once, nothing asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import selfdiag
from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import BINS, Probe
from selfdiag.elicit.prompts import PROMPT_VERSION
from selfdiag.models.base import ModelInfo
from selfdiag.runs.plan import Plan, make_plan
from selfdiag.runs.records import Manifest, PlannedCall, Record, RunSettings, Stretch
from selfdiag.runs.store import Run, RunWriter, read_run

Said = tuple[str, int | None]
"""An outcome and a stated confidence."""
Reply = Callable[[PlannedCall, Probe], Said | None]
"""None leaves a call unasked."""

MODEL = "openai:made-up"
ABILITY = {name: 0.15 + 0.75 * rank / (len(BINS) - 1) for rank, name in enumerate(BINS)}
"""How often the model of these tests is right, by topic."""


def right(probe: Probe) -> bool:
    """Whether the model of these tests knows an item, the same under every prompt."""
    return SeededOrder("knows").key(probe.id) / 2**64 < ABILITY[probe.bin]


def graded(probe: Probe) -> str:
    return "correct" if right(probe) else "incorrect"


def follower(call: PlannedCall, probe: Probe) -> Said:
    """Says what the profile says of the topic, and 55 where it says nothing."""
    return graded(probe), 55 if call.claim is None else call.claim


def unmoved(call: PlannedCall, probe: Probe) -> Said:
    """Is a little surer when it is right, whatever the profile says."""
    lead = 20 if right(probe) else 0
    return graded(probe), 40 + lead + SeededOrder("says").pick(40, probe.id)


def written(plan: Plan, settings: RunSettings, reply: Reply, folder: Path) -> Run:
    """Write a run with a reply to every call of a plan, and read it again."""
    info = ModelInfo(provider="openai", name="made-up", served_name="made-up")
    manifest = Manifest(
        run_id=folder.name,
        selfdiag=selfdiag.__version__,
        settings=settings,
        model=info,
        battery=plan.battery,
        drawn=plan.drawn,
        check=plan.check,
        injected=plan.injected,
        prompt_version=PROMPT_VERSION,
        systems=plan.systems,
        prompts=plan.prompts,
        plan=plan.calls,
        versions={},
        structured="off",
        max_tokens=256,
        sessions=(Stretch(started="2026-01-01T00:00:00Z", ended="2026-01-01T00:10:00Z", outcome="complete"),),
    )
    items = {item.id: item for item in plan.asked().items()}
    with RunWriter.create(folder, manifest) as writer:
        for call in plan.calls:
            probe = items[call.item_id]
            assert isinstance(probe, Probe)
            said = reply(call, probe)
            if said is not None:
                writer.append(_record(call, probe, *said))
    return read_run(folder)


def measured(folder: Path, reply: Reply = unmoved, **settings: object) -> Run:
    """Write a run that has asked its probes without a profile."""
    chosen = RunSettings(model=MODEL, **{"battery": "full", "sections": ("probes",), **settings})
    return written(make_plan(chosen), chosen, reply, folder)


def _record(call: PlannedCall, probe: Probe, outcome: str, confidence: int | None) -> Record:
    return Record(
        call_id=call.call_id,
        item_id=call.item_id,
        bin=probe.bin,
        difficulty=probe.difficulty,
        trap=False,
        family=None,
        section=call.section,
        arm=call.arm,
        claim=call.claim,
        claim_bin=call.claim_bin,
        labelled=call.labelled,
        paraphrase=call.paraphrase,
        replicate=call.replicate,
        prompt_sha256=call.prompt,
        answer="x",
        confidence=confidence,
        parse="strict",
        outcome=outcome,
        at="2026-01-01T00:05:00Z",
    )
