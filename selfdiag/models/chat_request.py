"""The body of a chat-completions request, and what can be left out of it when a server refuses it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from selfdiag.models.base import Call
from selfdiag.models.concessions import Refusal, Step
from selfdiag.models.plain_schema import plain_schema

Body = dict[str, Any]

NO_EFFORT = "reasoning_effort: none"
"""The name of the step after which nothing is said of thinking."""
_EFFORT = {"on": "medium", "low": "low", "medium": "medium", "high": "high"}
_TOO_LARGE = re.compile(r"(?i)too (large|high|big)|at most|exceeds?\b|greater than|less than")
_SYSTEM_ROLE = re.compile(
    r"(?i)(system|developer)['\"`]?[ _-](role|message|prompt|instruction)|role['\"`]? ?:? ['\"`]?system"
    r"|roles must alternate|only user|messages\[0\]\.role"
)
_SEED = re.compile(r"(?i)\bseed\b")
_SHAPE = (
    "response_format",
    "response format",
    "schema",
    "structured",
    "json_object",
    "json mode",
    "grammar",
    "additionalproperties",
    "minimum",
    "maximum",
    "maxlength",
)
_SCHEMA_KEYWORDS = frozenset({"type", "properties", "required", "items", "enum", "additionalProperties"})


def request_of(name: str, call: Call) -> Body:
    """Return the request for one call of the model ``name``, before anything is left out of it."""
    body: Body = {
        "model": name,
        "messages": [
            {"role": "system", "content": call.system},
            {"role": "user", "content": call.user},
        ],
        "temperature": call.temperature,
        "max_tokens": call.max_tokens,
    }
    if call.top_p is not None:
        body["top_p"] = call.top_p
    if call.seed is not None:
        body["seed"] = call.seed
    if call.schema is not None:
        body["response_format"] = _schema_format(call.schema)
    if call.logprobs:
        body["logprobs"] = True
    if call.think != "off":
        body["reasoning_effort"] = _EFFORT[call.think]
    return body


def _schema_format(schema: Any) -> Body:
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}


def _without(name: str) -> Callable[[Body], Body]:
    return lambda body: {key: value for key, value in body.items() if key != name}


def _wants_other_limit(refusal: Refusal) -> bool:
    # both names of the limit also stand in complaints about a limit that is too large
    return refusal.names("max_tokens") and not _TOO_LARGE.search(refusal.words)


def _other_limit(body: Body) -> Body:
    return {"max_completion_tokens" if key == "max_tokens" else key: value for key, value in body.items()}


def _one_message(body: Body) -> Body:
    text = "\n\n".join(message["content"] for message in body["messages"])
    return {**body, "messages": [{"role": "user", "content": text}]}


def _plain_schema(body: Body) -> Body:
    shape = body.get("response_format", {})
    if shape.get("type") != "json_schema":
        return body
    return {**body, "response_format": _schema_format(plain_schema(shape["json_schema"]["schema"], _SCHEMA_KEYWORDS))}


def _json_object(body: Body) -> Body:
    if body.get("response_format", {}).get("type") != "json_schema":
        return body
    # servers refuse this form when the word is nowhere in the prompt
    if not any("json" in message["content"].lower() for message in body["messages"]):
        return _without("response_format")(body)
    return {**body, "response_format": {"type": "json_object"}}


def _about_shape(refusal: Refusal) -> bool:
    return refusal.names(*_SHAPE)


STEPS = (
    Step(name="max_tokens: sent as max_completion_tokens", answers=_wants_other_limit, change=_other_limit),
    Step(
        name="temperature: provider default",
        answers=lambda refusal: refusal.names("temperature"),
        change=_without("temperature"),
    ),
    Step(
        name="system role: folded into the user message",
        answers=lambda refusal: _SYSTEM_ROLE.search(f"{refusal.param} {refusal.words}") is not None,
        change=_one_message,
    ),
    Step(
        name="logprobs: none",
        answers=lambda refusal: refusal.names("logprob"),
        change=_without("logprobs"),
    ),
    Step(
        name="seed: none",
        answers=lambda refusal: _SEED.search(f"{refusal.param} {refusal.words}") is not None,
        change=_without("seed"),
    ),
    Step(
        name=NO_EFFORT,
        answers=lambda refusal: refusal.names("reasoning", "thinking"),
        change=_without("reasoning_effort"),
    ),
    Step(name="response_format: schema without limits", answers=_about_shape, change=_plain_schema),
    Step(name="response_format: json_object", answers=_about_shape, change=_json_object),
    Step(name="response_format: none", answers=_about_shape, change=_without("response_format")),
    Step(name="top_p: provider default", answers=lambda refusal: refusal.names("top_p"), change=_without("top_p")),
)
"""What is tried when a server refuses a request, in this order."""
