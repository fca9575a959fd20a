"""What is left away of a request to Ollama when a server refuses it."""

from __future__ import annotations

from typing import Any

from selfdiag.models.concessions import Refusal, Step
from selfdiag.models.plain_schema import plain_schema

NO_THINKING = "think"
"""The name of the step after which nothing is said of thinking."""
_PLAIN_SCHEMA = frozenset({"type", "properties", "required", "enum"})


def ollama_steps() -> list[Step]:
    """Return what can be left away of a request, the least first."""
    return [
        Step(
            name="level of thinking",
            answers=lambda refusal: refusal.names("think value", "chatrequest.think"),
            change=lambda body: {**body, "think": True} if isinstance(body.get("think"), str) else body,
        ),
        Step(
            name=NO_THINKING,
            answers=lambda refusal: refusal.names("support thinking", "think value", "chatrequest.think"),
            change=lambda body: _without(body, "think"),
        ),
        Step(
            name="limits in the schema",
            answers=_is_about_format,
            change=lambda body: (
                {**body, "format": plain_schema(body["format"], _PLAIN_SCHEMA)}
                if isinstance(body.get("format"), dict)
                else body
            ),
        ),
        Step(
            name="schema",
            answers=_is_about_format,
            change=lambda body: {**body, "format": "json"} if "format" in body else body,
        ),
        Step(name="format", answers=_is_about_format, change=lambda body: _without(body, "format")),
        Step(
            name="logprobs",
            answers=lambda refusal: refusal.names("logprob"),
            change=lambda body: _without(body, "logprobs"),
        ),
    ]


def _is_about_format(refusal: Refusal) -> bool:
    return refusal.names("schema", "grammar", "invalid format")


def _without(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}
