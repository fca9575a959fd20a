"""The documents of an Inspect log as the task leaves them, with replies that a test writes, and a run with the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from selfdiag.models.base import ModelInfo, Reply
from selfdiag.runs.inspect_audit import SCORER, audit_run, reply_of, score_values
from selfdiag.runs.outside import KEY, OutsideCall, outside_calls, sample_name, to_log
from selfdiag.runs.records import RunSettings
from selfdiag.runs.replies import grade_reply
from selfdiag.runs.store import Run

SETTINGS = RunSettings(model="inspect", bins=("physics", "history"))
LOG = Path("logs/audit.eval")
planned = cache(outside_calls)
Documents = tuple[dict[str, Any], list[dict[str, Any]]]
Say = Callable[[OutsideCall], str]


def says(call: OutsideCall) -> str:
    """Right on probes but for one, and taken in by every trap."""
    if call.probe is None:
        return '{"answer": "Paris", "confidence": 90}'
    if call.item.id.endswith("1"):
        return "I would rather not say"
    answer = call.probe.answer.replace('"', '\\"')
    return f'{{"answer": "{answer}", "confidence": {60 + len(call.user) % 40}}}'


def output(text: str, stop_reason: str = "stop") -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": text}, "stop_reason": stop_reason}
    usage = {"input_tokens": 90, "output_tokens": 12, "total_tokens": 102}
    return {"model": "served", "choices": [choice], "completion": text, "usage": usage, "time": 0.25}


def documents(say: Say = says, *, settings: RunSettings = SETTINGS, epochs: int = 1, scored: bool = True) -> Documents:
    """Return the header and the samples of a log, in the order in which Inspect keeps them: as they came in."""
    calls = planned(settings)
    samples = [_sample(call, epoch, output(say(call)), scored) for epoch in range(1, epochs + 1) for call in calls]
    header = {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": "an-eval",
            "task": "selfdiag/audit",
            "model": "openai-api/site/some-model",
            "dataset": {"sample_ids": [sample_name(call.call) for call in calls]},
            "config": {"epochs": epochs},
            "model_generate_config": {},
            "packages": {"inspect_ai": "0.3.285"},
        },
        "plan": {"config": {"temperature": 0.0, "max_tokens": 512, "seed": 0}},
        "stats": {"started_at": "2026-01-01T10:00:00+00:00", "completed_at": "2026-01-01T10:01:30+00:00"},
    }
    return header, samples[::-1]


def _sample(call: OutsideCall, epoch: int, said: dict[str, Any], scored: bool) -> dict[str, Any]:
    asked = [{"role": "system", "content": call.system}, {"role": "user", "content": call.user}]
    reply = reply_of(said, {})
    assert reply is not None
    graded = grade_reply(call.item, reply.text, reply.finish_reason)
    score = {"answer": graded.answer, "explanation": graded.rule, "metadata": score_values(graded)}
    return {
        "id": sample_name(call.call),
        "epoch": epoch,
        "messages": [*asked, said["choices"][0]["message"]],
        "output": said,
        "scores": {SCORER: score} if scored else {},
        "metadata": {KEY: to_log(call)},
    }


def read(found: Documents) -> Run:
    return audit_run(*found, LOG)


class Asked:
    """A provider of our own that says what the log's model said."""

    takes_schema = False
    max_tokens = 512
    concurrency = 1

    def __init__(self, say: Say, settings: RunSettings = SETTINGS) -> None:
        self._replies = {call.user: say(call) for call in planned(settings)}

    async def __aenter__(self) -> Asked:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None

    def info(self) -> ModelInfo:
        return ModelInfo(provider="inspect", name="openai-api/site/some-model", served_name="served")

    async def ask(self, call: Any) -> Reply:
        text = self._replies.get(call.user, "")
        return Reply(text=text, prompt_tokens=90, completion_tokens=12, served_name="served")
