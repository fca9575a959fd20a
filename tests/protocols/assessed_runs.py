"""Runs of a self-assessment: asked of a persona, or with replies that a test writes."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import msgspec

from selfdiag.models.base import ModelInfo
from selfdiag.protocols.assess import SECTIONS
from selfdiag.runs.plan import make_plan
from selfdiag.runs.records import Manifest, PlannedCall, Record, RunSettings, Stretch
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run

DAY = "2026-11-30T12:00:00Z"
"""The personas claim what their knowledge is worth to a run of about this day."""

Reply = Callable[[PlannedCall], dict[str, object] | None]


def asked(folder: Path, persona: str, *, day: str = DAY, **settings: object) -> Run:
    """Ask a persona, as if on ``day``."""
    chosen = {"instances": 25, "ratings": 30, "tasks": 40, "sections": SECTIONS} | settings
    session = Session(RunSettings(model=f"persona:{persona}", **chosen), folder=folder)

    async def ask() -> None:
        async with aclosing(session.events()) as events:
            async for _ in events:
                pass

    asyncio.run(ask())
    return on_day(read_run(session.folder), day)


def on_day(run: Run, day: str) -> Run:
    first = msgspec.structs.replace(run.manifest.sessions[0], started=day)
    manifest = msgspec.structs.replace(run.manifest, sessions=(first, *run.manifest.sessions[1:]))
    return msgspec.structs.replace(run, manifest=manifest)


def written(reply: Reply, *, day: str = DAY, **settings: object) -> Run:
    """Return a run in which each planned call has the fields of a record that ``reply`` gives, or no record."""
    chosen = RunSettings(model="openai:written", **{"sections": SECTIONS, "tasks": 40} | settings)
    plan = make_plan(chosen)
    manifest = Manifest(
        run_id="written",
        selfdiag="0",
        settings=chosen,
        model=ModelInfo(provider="openai", name="written"),
        battery=plan.battery,
        drawn=plan.drawn,
        assessed=plan.assessed,
        prompt_version="1",
        systems=plan.systems,
        prompts=plan.prompts,
        plan=plan.calls,
        versions={},
        max_tokens=100,
        sessions=(Stretch(started=day, ended=day, outcome="complete"),),
    )
    records = []
    for call in plan.calls:
        fields = reply(call)
        if fields is not None:
            base = Record(
                call_id=call.call_id,
                item_id=call.item_id,
                bin="",
                difficulty=None,
                trap=call.section == "traps",
                family=None,
                section=call.section,
                arm=call.arm,
                replicate=call.replicate,
                prompt_sha256=call.prompt,
                outcome="correct",
            )
            records.append(msgspec.structs.replace(base, **fields))
    return Run(folder=Path("written"), manifest=manifest, records=tuple(records))
