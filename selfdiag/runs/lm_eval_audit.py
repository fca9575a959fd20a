"""Sample logs of the exported lm-evaluation-harness task as the run that they amount to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from selfdiag.models.base import ModelInfo, ProviderError, Reply
from selfdiag.runs.logged import LogFile
from selfdiag.runs.outside import KEY, OutsideAnswer, OutsideCall, OutsideLog, from_log, run_of
from selfdiag.runs.records import Stretch
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

TASK = "selfdiag_audit"
USUAL_TOKENS = 512
"""The longest reply that the task asks for."""
_SAMPLES, _RESULTS = "samples_", "results_"


def is_audit_row(row: Mapping[str, Any]) -> bool:
    """Return whether a line of a sample log is of our task."""
    doc = row.get("doc")
    return isinstance(doc, Mapping) and isinstance(doc.get(KEY), str)


def lm_eval_run(log: LogFile) -> Run:
    """Return the run that a sample log amounts to; its replies are read and graded now.

    The harness logs neither why a reply ended nor tokens and times, so a reply that the token limit cut is known as
    such by its text alone.

    Args:
        log: a ``samples_*.jsonl``; the model's name comes from the ``results_*.json`` beside it, else from its folder.

    Raises:
        SelfdiagError: when a line is no JSON object or not of our task, or the log contradicts itself.
    """
    answers: dict[str, OutsideAnswer] = {}
    changed = 0
    limits: set[int] = set()
    for number, row in log.objects():
        if not is_audit_row(row):
            raise log.fault(number, f"it is of another task than {TASK}")
        try:
            call = from_log(row["doc"][KEY])
        except SelfdiagError as error:
            raise log.fault(number, str(error)) from None
        # with several filters the harness logs every reply once for each
        if call.call.call_id in answers:
            continue
        answers[call.call.call_id] = OutsideAnswer(call=call, result=_result(row))
        sent, options = _request(row)
        changed += not _as_planned(call, sent)
        limits |= {limit for limit in [options.get("max_gen_toks")] if isinstance(limit, int)}
    notes = ["the harness does not log why a reply ended: one that was cut is known by its text alone"]
    if changed:
        notes.append(f"{changed} of {len(answers)} prompts were not sent as they are: use --apply_chat_template alone")
    if log.torn:
        notes.append(log.torn)
    results = _results(log.path)
    found = OutsideLog(
        path=log.path,
        run_id=log.path.stem.removeprefix(_SAMPLES),
        model=_model(log.path, results),
        tool=("lm_eval", one_line(results.lm_eval_version, 40)),
        max_tokens=limits.pop() if len(limits) == 1 else USUAL_TOKENS,
        stretches=_stretches(results),
        notes=tuple(notes),
    )
    return run_of(found, list(answers.values()))


def _result(row: Mapping[str, Any]) -> Reply | ProviderError:
    found = row.get("resps")
    while isinstance(found, list) and found:
        found = found[0]
    if not isinstance(found, str):
        return ProviderError("provider", "no reply in the log")
    return Reply(text=found)


def _request(row: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """Return what was sent, and the options that were sent with it."""
    arguments = row.get("arguments")
    first = arguments.get("gen_args_0") if isinstance(arguments, Mapping) else None
    if not isinstance(first, Mapping):
        return None, {}
    options = first.get("arg_1")
    return first.get("arg_0"), options if isinstance(options, Mapping) else {}


def _as_planned(call: OutsideCall, sent: Any) -> bool:
    """Return whether a prompt was sent as planned, as far as the log tells."""
    # the harness wraps the JSON of chat messages into a list
    text = sent[0] if isinstance(sent, list) and sent else sent
    if not isinstance(text, str):
        return True
    try:
        messages = json.loads(text)
        said = [(message["role"], message["content"]) for message in messages]
    except (ValueError, TypeError, KeyError, RecursionError):
        # a chat template of the model's own has made one text of both
        return call.system in text and text.count(call.user) == 1
    return said == [("system", call.system), ("user", call.user)]


class _Config(msgspec.Struct, frozen=True):
    model: str = ""


class _Results(msgspec.Struct, frozen=True):
    """What the harness writes of a whole evaluation beside its samples."""

    model_name: str = ""
    config: _Config = _Config()
    lm_eval_version: str = ""
    date: float = 0.0
    total_evaluation_time_seconds: str = ""


def _results(path: Path) -> _Results:
    stamp = path.stem.rpartition("_")[2]
    try:
        return msgspec.json.decode(path.with_name(f"{_RESULTS}{stamp}.json").read_bytes(), type=_Results)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Results()


def _model(path: Path, results: _Results) -> ModelInfo:
    name = results.model_name or path.resolve().parent.name
    details = {"asked_through": one_line(results.config.model, 60)} if results.config.model else {}
    return ModelInfo(provider="lm-eval", name=one_line(name, 200), details=details)


def _stretches(results: _Results) -> tuple[Stretch, ...]:
    """Return when the evaluation began and ended, with the time to load its model."""
    try:
        began = datetime.fromtimestamp(results.date, UTC)
        ended = began + timedelta(seconds=float(results.total_evaluation_time_seconds))
    except (ValueError, OverflowError, OSError):
        return ()
    return (Stretch(started=began.isoformat(), ended=ended.isoformat(), outcome="complete"),)
