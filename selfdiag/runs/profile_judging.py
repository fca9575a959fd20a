"""Asking a judge whether a ladder's shuffled profile can be told from the own one."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path

from selfdiag.elicit.profile_judge import (
    PROFILE_JUDGE_SCHEMA,
    PROFILE_JUDGE_VERSION,
    Letter,
    read_letter,
    render_profile_judge,
)
from selfdiag.elicit.prompts import Prompt
from selfdiag.models.base import Call, Provider
from selfdiag.runs.judging import MAX_KEPT, MAX_TOKENS, JudgeSettings, judge_provider, judge_reply
from selfdiag.runs.ladder_plan import OWN, SHUFFLED
from selfdiag.runs.records import Judgement, Record
from selfdiag.runs.store import RunWriter, read_run
from selfdiag.runs.turns import now
from selfdiag.safety import one_line, without_secrets

MANIPULATION = "manipulation-check"
"""Section of the judge's replies; they are no calls of the plan."""
HALVES = (0, 1)


async def judge_profiles(folder: Path, settings: JudgeSettings, waiting: Callable[[str], None] | None = None) -> None:
    """Ask a judge, for each half and in both orders, which profile was measured, and write down what it says.

    It is shown the accuracies of the items that the profile was put beside, which the profile itself was not measured
    on. Its choices are kept in the run's records, ``same`` for the own profile and ``different`` for the shuffled one.

    Args:
        folder: the ladder's run.
        settings: the judge.
        waiting: told in a plain sentence when something takes long.

    Raises:
        SelfdiagError: when the judge cannot be asked; nothing is written then.
    """
    run = await asyncio.to_thread(read_run, folder)
    values = {(profile.arm, profile.half): profile.values for profile in run.manifest.injected}
    provider = judge_provider(settings, waiting)
    made = []
    async with provider:
        for half in HALVES:
            own, shuffled = values[OWN, half], values[SHUFFLED, half]
            for swapped in (False, True):
                pair = (shuffled, own) if swapped else (own, shuffled)
                # what is shown with the other half was measured on this one
                prompt = render_profile_judge(values[OWN, 1 - half], *pair)
                right: Letter = "B" if swapped else "A"
                made.append(await _asked(provider, prompt, right, settings, half=half, swapped=swapped))
    writer, _ = RunWriter.resume(folder)
    with writer:
        writer.append(*made)


async def _asked(
    provider: Provider, prompt: Prompt, right: Letter, settings: JudgeSettings, *, half: int, swapped: bool
) -> Record:
    call = Call(
        system=prompt.system,
        user=prompt.user,
        max_tokens=max(MAX_TOKENS, provider.max_tokens),
        schema=PROFILE_JUDGE_SCHEMA if provider.takes_schema else None,
    )
    reply = await judge_reply(provider, call, settings)
    letter = read_letter(reply.text, cut=reply.finish_reason == "length")
    raw = without_secrets(reply.text)[:MAX_KEPT].encode("utf-8", "replace").decode("utf-8")
    parts = (MANIPULATION, settings.model, PROFILE_JUDGE_VERSION, str(half), str(swapped))
    return Record(
        call_id=hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20],
        item_id=f"profiles-{half}",
        bin="",
        difficulty=None,
        trap=False,
        family=None,
        section=MANIPULATION,
        arm=SHUFFLED,
        replicate=int(swapped),
        prompt_sha256=prompt.sha256(),
        raw=raw,
        answer=letter,
        parse="none" if letter is None else "strict",
        outcome="unparsed" if letter is None else "correct" if letter == right else "incorrect",
        rule=f"the own profile is {right}",
        finish_reason=one_line(reply.finish_reason, 60),
        latency_s=round(reply.latency_s, 4),
        judge=Judgement(
            model=settings.model,
            served_name=without_secrets(reply.served_name),
            version=PROFILE_JUDGE_VERSION,
            opinion=None if letter is None else "same" if letter == right else "different",
            raw=raw,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
        ),
        at=now(),
    )
