"""Asking a judge about the answers of a run that the rules left undecided."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import msgspec

from selfdiag.battery.items import Item, Probe
from selfdiag.elicit.judge import JUDGE_SCHEMA, JUDGE_VERSION, Opinion, read_opinion, render_judge, undecided
from selfdiag.models import registry
from selfdiag.models.base import Call, Provider, ProviderError, ProviderOptions, Reply
from selfdiag.models.transport import RetryPolicy, ask_patiently
from selfdiag.runs.pace import Pace
from selfdiag.runs.records import Judgement, Record
from selfdiag.runs.store import Run, RunWriter, read_run
from selfdiag.safety import SelfdiagError, one_line, without_secrets

MAX_TOKENS = 256
"""A judge says one word, in JSON."""
MAX_KEPT = 2_000
"""Characters of a judge's reply that the record keeps."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One answer was judged: how many of ``total`` are done, and what the judge said (None: nothing readable)."""

    item_id: str
    opinion: Opinion | None
    done: int
    total: int


class JudgeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Who judges and how patiently it is asked; ``base_url`` is the address of its server, if it has one.

    ``concurrency`` is the most calls at once, None for as many as suit it.
    """

    model: str
    base_url: str = ""
    timeout: float = 300.0
    max_retries: int = 4
    concurrency: int | None = None


def undecided_records(run: Run) -> list[Record]:
    """Return the measured records that the rules left undecided, in the order of the plan."""
    items = _items(run)
    return [
        record
        for record in run.measured()
        if undecided(items[record.item_id], record.answer, record.outcome, record.rule, record.flags)
    ]


def judge_provider(settings: JudgeSettings, waiting: Callable[[str], None] | None = None) -> Provider:
    """Build the judge; nothing is connected yet.

    Raises:
        SelfdiagError: for an unknown provider or name, a missing key or an address that cannot be meant.
    """
    options = ProviderOptions(base_url=settings.base_url, timeout=settings.timeout, waiting=waiting)
    try:
        return registry.build(settings.model, options)
    except SelfdiagError as error:
        raise SelfdiagError(f"the judge: {error}", exit_code=error.exit_code) from None


async def judge_run(
    folder: Path, settings: JudgeSettings, waiting: Callable[[str], None] | None = None
) -> AsyncGenerator[Judged, None]:
    """Ask a judge about every undecided answer that it has not judged, and write down what it says.

    As many calls are under way as suit the judge, fewer when it is asked too much at once. Each opinion is appended as
    a new line of its record; outcomes stay as the rules have them.

    Args:
        folder: the run.
        settings: the judge.
        waiting: told in a plain sentence when something takes long.

    Raises:
        SelfdiagError: when the judge cannot be asked; opinions given before, and by calls under way then, are kept.
    """
    run = await asyncio.to_thread(read_run, folder)
    pending = [record for record in undecided_records(run) if not _judged_by(record, settings.model)]
    if not pending:
        return
    provider = judge_provider(settings, waiting)
    items = _items(run)
    writer, _ = RunWriter.resume(folder)
    with writer:
        async with provider:
            most = min(provider.concurrency, settings.concurrency or provider.concurrency)
            pace = Pace(most, most, finding=False)
            failed: SelfdiagError | None = None

            async def judged(record: Record) -> tuple[Record, Judgement] | None:
                nonlocal failed
                item = items[record.item_id]
                assert isinstance(item, Probe)  # noqa: S101 - nothing else is undecided
                question = run.manifest.prompts[record.prompt_sha256].user
                async with pace:
                    if failed is not None:
                        return None
                    try:
                        return record, await _ask(provider, item, question, record.answer or "", settings, pace)
                    except SelfdiagError as error:
                        # calls under way are paid for: they are waited for, and no other goes out
                        failed = failed or error
                        return None

            asked = [asyncio.create_task(judged(record)) for record in pending]
            done = 0
            try:
                for landed in asyncio.as_completed(asked):
                    answered = await landed
                    if answered is None:
                        continue
                    record, judge = answered
                    writer.append(msgspec.structs.replace(record, judge=judge))
                    done += 1
                    yield Judged(item_id=record.item_id, opinion=judge.opinion, done=done, total=len(pending))
            finally:
                for task in asked:
                    task.cancel()
                await asyncio.gather(*asked, return_exceptions=True)
            if failed is not None:
                raise failed


async def _ask(
    provider: Provider, item: Probe, question: str, answer: str, settings: JudgeSettings, pace: Pace
) -> Judgement:
    """Ask the judge, once more with a schema when its first reply cannot be read."""
    prompt = render_judge(item, question, answer)
    call = Call(system=prompt.system, user=prompt.user, max_tokens=max(MAX_TOKENS, provider.max_tokens))
    replies = [await judge_reply(provider, call, settings, pace)]
    opinion = _opinion(replies[-1])
    if opinion is None and provider.takes_schema:
        held = msgspec.structs.replace(call, schema=JUDGE_SCHEMA)
        replies.append(await judge_reply(provider, held, settings, pace))
        opinion = _opinion(replies[-1])
    prompt_tokens = [reply.prompt_tokens for reply in replies if reply.prompt_tokens is not None]
    completion_tokens = [reply.completion_tokens for reply in replies if reply.completion_tokens is not None]
    return Judgement(
        model=settings.model,
        served_name=without_secrets(replies[-1].served_name),
        version=JUDGE_VERSION,
        opinion=opinion,
        raw=without_secrets(replies[-1].text)[:MAX_KEPT].encode("utf-8", "replace").decode("utf-8"),
        calls=len(replies),
        prompt_tokens=sum(prompt_tokens) if prompt_tokens else None,
        completion_tokens=sum(completion_tokens) if completion_tokens else None,
    )


def _opinion(reply: Reply) -> Opinion | None:
    return read_opinion(reply.text, cut=reply.finish_reason == "length")


async def judge_reply(provider: Provider, call: Call, settings: JudgeSettings, pace: Pace | None = None) -> Reply:
    """Return a judge's reply to a call, asked as patiently as the settings say; ``pace`` hears when it is too much.

    Raises:
        SelfdiagError: when the judge cannot be asked.
    """
    sent = time.monotonic()

    def retried(_attempt: int, error: ProviderError) -> None:
        nonlocal sent
        if pace is not None and error.overloaded:
            pace.overloaded(sent)
        sent = time.monotonic()

    try:
        reply, _ = await ask_patiently(provider, call, RetryPolicy(retries=settings.max_retries), retried)
    except Exception as error:  # noqa: BLE001 - a fault of any library must not cost the result of the run
        named = "" if isinstance(error, ProviderError) else f"{type(error).__name__}: "
        message = f"the judge {one_line(settings.model, 80)} cannot be asked: {named}{one_line(str(error), 300)}"
        raise SelfdiagError(message, exit_code=3) from None
    return reply


def _items(run: Run) -> dict[str, Item]:
    return {item.id: item for item in (*run.manifest.drawn.items(), *run.manifest.check)}


def _judged_by(record: Record, model: str) -> bool:
    return record.judge is not None and record.judge.model == model
