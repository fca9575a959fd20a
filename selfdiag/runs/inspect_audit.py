"""A log of the Inspect task ``selfdiag/audit`` as the run that it amounts to.

The functions take the log's own JSON documents: its header, and one document a sample.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from selfdiag.elicit.prompts import Prompt
from selfdiag.models.base import ModelInfo, ProviderError, Reply
from selfdiag.runs.outside import (
    KEY,
    OutsideAnswer,
    OutsideCall,
    OutsideLog,
    from_log,
    run_of,
    sample_name,
)
from selfdiag.runs.records import Stretch
from selfdiag.runs.replies import GradedReply
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

TASK = "selfdiag/audit"
SCORER = "audit_scorer"
USUAL_TOKENS = 512
"""The longest reply that the task asks for, where nobody says otherwise."""
MOCK = "mockllm"
"""Inspect's own provider of made-up replies."""
_ATTACHMENT = "attachment://"
_FINISH = {"max_tokens": "length", "content_filter": "filter"}
"""Inspect's words for reasons that have one of ours."""
_FAILED_CALL = re.compile(r"\w+\((['\"])\\nRequest:\\n")
"""How Inspect's word of a failed call begins: Python's form of a text with the whole request before the fault."""
_BETWEEN = r"\n\n"
"""What stands between the request and the fault."""


def is_audit(header: Mapping[str, Any]) -> bool:
    """Return whether a log's header is that of our task, by its name or, where it ran from a file, by its scorer."""
    spec = _mapping(header.get("eval"))
    scorers = spec.get("scorers")
    names = [_mapping(one).get("name") for one in scorers] if isinstance(scorers, list) else []
    return spec.get("task") == TASK or SCORER in names


def audit_run(header: Mapping[str, Any], samples: Iterable[Mapping[str, Any]], path: Path) -> Run:
    """Return the run that a log amounts to, number for number.

    What the task's scorer graded counts as it was graded then. A reply without such a score is read and graded now,
    and a note says so.

    Args:
        header: the document with ``eval``, ``plan`` and ``stats``.
        samples: every sample's document, in any order.
        path: of the log, to speak of it.

    Raises:
        SelfdiagError: when a sample is not of this task, or the log contradicts itself.
    """
    answers: list[OutsideAnswer] = []
    ungraded = changed = 0
    for number, sample in enumerate(samples, 1):
        call = _call(sample, number, path)
        answer = _answer(call, sample)
        answers.append(answer)
        ungraded += answer.graded is None and isinstance(answer.result, Reply)
        changed += _asked_otherwise(call, sample)
    notes = []
    if ungraded:
        notes.append(f"{ungraded} replies have no score in the log and were read and graded now")
    if changed:
        notes.append(f"{changed} of {len(answers)} prompts were changed in Inspect: these are not the battery's own")
    spec = _mapping(header.get("eval"))
    if _config(header).get("system_message"):
        notes.append("asked with a system message beside the battery's own")
    if header.get("status") not in {None, "success"}:
        error = one_line(error_text(header.get("error")), 120)
        notes.append(f"the eval ended with the status {one_line(str(header['status']), 20)!r}{error and f': {error}'}")
    return run_of(_log(header, spec, answers, path, tuple(notes)), answers)


def reply_of(output: Mapping[str, Any], attachments: Mapping[str, Any]) -> Reply | None:
    """Return a model's output as a reply, None where there is none.

    Args:
        output: Inspect's ``ModelOutput`` as plain values.
        attachments: the sample's long texts by their hash, for which a reference stands in the output.
    """
    choices = output.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    choice = _mapping(choices[0])
    text, reasoning, declined = _content(_mapping(choice.get("message")).get("content"), attachments)
    reason = str(choice.get("stop_reason", "stop"))
    usage = _mapping(output.get("usage"))
    overflow = reason == "model_length"
    return Reply(
        # what Inspect puts there is the server's complaint
        text="" if overflow else text,
        reasoning=reasoning,
        finish_reason=_FINISH.get(reason, reason),
        latency_s=_number(output.get("time")) or 0.0,
        prompt_tokens=_prompt_tokens(usage),
        completion_tokens=_count(usage.get("output_tokens")),
        served_name=str(output.get("model", "")),
        refusal=declined or reason == "content_filter",
        overflow=overflow,
    )


def error_text(error: Any) -> str:
    """Return what an error in a log says, without the request that stands before the fault of a failed call.

    Args:
        error: the log's own entry, or None.
    """
    message = str(_mapping(error).get("message") or "")
    failed = _FAILED_CALL.match(message)
    if failed is None or not message.endswith(f"{failed[1]})"):
        return message
    body = message[failed.end() : -2]
    said = body.partition(rf"\n}}{_BETWEEN}")[2]
    if not said and body.startswith(_BETWEEN):
        said = body.removeprefix(_BETWEEN)  # there was no request
    return said.replace("\\'", "'") or message


def score_values(graded: GradedReply) -> dict[str, Any]:
    """Return what a score carries of a graded reply beside its answer and explanation."""
    return {
        "outcome": graded.outcome,
        "confidence": graded.confidence,
        "parse": graded.parse,
        "flags": list(graded.flags),
    }


def _call(sample: Mapping[str, Any], number: int, path: Path) -> OutsideCall:
    shown = f"{one_line(str(path))}: sample {one_line(str(sample.get('id', number)), 60)!r}"
    entry = _mapping(sample.get("metadata")).get(KEY)
    if entry is None:
        raise SelfdiagError(f"{shown} has no {KEY!r} entry in its metadata: it is of another task")
    try:
        return from_log(entry)
    except SelfdiagError as error:
        raise SelfdiagError(f"{shown}: {error}") from None


def _answer(call: OutsideCall, sample: Mapping[str, Any]) -> OutsideAnswer:
    epoch = max((_count(sample.get("epoch")) or 1) - 1, 0)
    error = sample.get("error")
    reply = reply_of(_mapping(sample.get("output")), _mapping(sample.get("attachments")))
    if error or reply is None:
        limit = _mapping(sample.get("limit")).get("type")
        said = error_text(error) or (f"stopped by the {limit} limit" if limit else "no output")
        return OutsideAnswer(call=call, result=ProviderError("provider", one_line(said, 400)), epoch=epoch)
    return OutsideAnswer(call=call, result=reply, graded=_graded(sample), epoch=epoch)


def _graded(sample: Mapping[str, Any]) -> GradedReply | None:
    """Return the grade that the task's scorer gave, None where the log has none that can be read."""
    score = _mapping(_mapping(sample.get("scores")).get(SCORER))
    values = _mapping(score.get("metadata"))
    if "outcome" not in values:
        return None
    rule = score.get("explanation") or ""
    try:
        return msgspec.convert(
            {**values, "answer": score.get("answer"), "rule": rule, "reasoning": ""}, type=GradedReply
        )
    except msgspec.ValidationError:
        return None


def _asked_otherwise(call: OutsideCall, sample: Mapping[str, Any]) -> bool:
    """Return whether the sample's messages begin with another prompt than the planned one."""
    messages = sample.get("messages")
    if not isinstance(messages, list) or not messages:
        return False
    attachments = _mapping(sample.get("attachments"))
    before = [_mapping(message) for message in messages]
    texts = [(message.get("role"), _content(message.get("content"), attachments)[0]) for message in before[:2]]
    if [role for role, _ in texts] != ["system", "user"]:
        return True
    return Prompt(system=texts[0][1], user=texts[1][1]).sha256() != call.call.prompt


def _log(
    header: Mapping[str, Any],
    spec: Mapping[str, Any],
    answers: list[OutsideAnswer],
    path: Path,
    notes: tuple[str, ...],
) -> OutsideLog:
    config = _config(header)
    model = str(spec.get("model", ""))
    served = {answer.result.served_name for answer in answers if isinstance(answer.result, Reply)} - {""}
    version = str(_mapping(spec.get("packages")).get("inspect_ai", ""))
    asked = _mapping(spec.get("dataset")).get("sample_ids")
    temperature = _number(config.get("temperature"))
    return OutsideLog(
        path=path,
        run_id=one_line(str(spec.get("eval_id") or spec.get("run_id") or path.stem), 60),
        model=ModelInfo(
            provider="inspect",
            name=one_line(model, 200),
            served_name=one_line(served.pop(), 200) if len(served) == 1 else "",
            simulated=model.startswith(f"{MOCK}/"),
            details={"server": one_line(str(spec["model_base_url"]), 200)} if spec.get("model_base_url") else {},
        ),
        tool=("inspect_ai", one_line(version, 40)),
        asked=_asked(asked, answers),
        epochs=max([_count(_mapping(spec.get("config")).get("epochs")) or 1, *(one.epoch + 1 for one in answers)]),
        structured=bool(config.get("response_schema")),
        temperature=0.0 if temperature is None else temperature,
        max_tokens=_count(config.get("max_tokens")) or USUAL_TOKENS,
        stretches=_stretches(header),
        notes=notes,
    )


def _asked(names: Any, answers: list[OutsideAnswer]) -> tuple[str, ...] | None:
    """Return the names of all samples to ask in the order of the plan, None when the header does not tell."""
    if not isinstance(names, list):
        return None
    asked = [str(name) for name in names]
    known = set(asked)
    return None if any(sample_name(answer.call.call) not in known for answer in answers) else tuple(asked)


def _config(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return how replies were asked for: the task's own settings, and above them those of the command line."""
    own = _mapping(_mapping(header.get("plan")).get("config"))
    given = _mapping(_mapping(header.get("eval")).get("model_generate_config"))
    return {**own, **{name: value for name, value in given.items() if value is not None}}


def _stretches(header: Mapping[str, Any]) -> tuple[Stretch, ...]:
    stats = _mapping(header.get("stats"))
    started, ended = stats.get("started_at"), stats.get("completed_at")
    try:
        moments = [datetime.fromisoformat(str(moment)) for moment in (started, ended)]
    except ValueError:
        return ()
    if any(moment.tzinfo is None for moment in moments):
        return ()
    outcome = "complete" if header.get("status") == "success" else "stopped"
    return (Stretch(started=str(started), ended=str(ended), outcome=outcome),)


def _content(content: Any, attachments: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Return the text and the reasoning of a message's content, and whether the provider marked it as a refusal."""
    if isinstance(content, str):
        return _whole(content, attachments), "", False
    texts: list[str] = []
    thoughts: list[str] = []
    declined = False
    for part in content if isinstance(content, list) else []:
        kind = _mapping(part).get("type")
        if kind == "text":
            texts.append(_whole(part.get("text"), attachments))
            declined = declined or part.get("refusal") is True
        elif kind == "reasoning":
            thoughts.append(_whole(part.get("reasoning"), attachments))
    return "\n".join(texts), "\n".join(thoughts), declined


def _whole(text: Any, attachments: Mapping[str, Any]) -> str:
    """Return a text, from the attachments where a reference to one stands in its place."""
    if not isinstance(text, str):
        return ""
    name = text.removeprefix(_ATTACHMENT)
    found = attachments.get(name) if name != text else None
    return found if isinstance(found, str) else text


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _prompt_tokens(usage: Mapping[str, Any]) -> int | None:
    """Return the tokens of a prompt: Inspect counts those that a server had in its cache apart."""
    new = _count(usage.get("input_tokens"))
    cached = (_count(usage.get(f"input_tokens_cache_{way}")) or 0 for way in ("read", "write"))
    return None if new is None else new + sum(cached)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
