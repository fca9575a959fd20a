"""Runs of claims whose replies a test writes, and runs of personas."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from selfdiag.models.base import ModelInfo
from selfdiag.runs.plan import Plan
from selfdiag.runs.records import Manifest, PlannedCall, Record, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run

Reply = tuple[int | None, str, str] | None
"""Confidence, answer and outcome; None is a call without a record."""


def answered(
    settings: RunSettings, plan: Plan, reply: Callable[[PlannedCall], Reply], flags: tuple[str, ...] = ()
) -> Run:
    """Return a run of the plan in which every call has the reply that the test gives it."""
    bins = {item.id: item.bin for item in plan.asked().items()}
    records = []
    for call in plan.calls:
        given = reply(call)
        if given is None:
            continue
        confidence, answer, outcome = given
        records.append(
            Record(
                call_id=call.call_id,
                item_id=call.item_id,
                bin=bins[call.item_id],
                difficulty=None,
                trap=False,
                family=None,
                section=call.section,
                arm=call.arm,
                claim=call.claim,
                claim_bin=call.claim_bin,
                labelled=call.labelled,
                paraphrase=call.paraphrase,
                prompt_sha256=call.prompt,
                answer=answer,
                confidence=confidence,
                outcome=outcome,
                flags=flags,
            )
        )
    manifest = Manifest(
        run_id="written",
        selfdiag="0",
        settings=settings,
        model=ModelInfo(provider="openai", name="written", served_name="written"),
        battery=plan.battery,
        drawn=plan.drawn,
        check=plan.check,
        prompt_version="1",
        systems=plan.systems,
        prompts=plan.prompts,
        plan=plan.calls,
        versions={},
        max_tokens=100,
    )
    return Run(folder=Path("written"), manifest=manifest, records=tuple(records))


def asked(settings: RunSettings, folder: Path, plan: Plan | None = None) -> Run:
    """Return a whole run of a persona."""
    session = Session(settings, folder=folder, plan=plan)

    async def ask() -> None:
        async with aclosing(session.events()) as events:
            async for _ in events:
                pass

    asyncio.run(ask())
    return read_run(folder)
