"""Claude through Anthropic's Messages API, over httpx."""

from __future__ import annotations

from typing import Any

import msgspec

from selfdiag.models.address import base_url
from selfdiag.models.base import Call, Listing, ModelInfo, ProviderError, ProviderOptions, Reply, clipped
from selfdiag.models.concessions import Refusal, Step
from selfdiag.models.http import Response
from selfdiag.models.json_values import count, entries, mapping, mappings
from selfdiag.models.plain_schema import plain_schema
from selfdiag.models.service import Service, catalogue
from selfdiag.models.service_keys import key_advice, key_of, offered
from selfdiag.models.thinking import THINKING_BUDGET, THINKING_TOKENS
from selfdiag.safety import SelfdiagError, one_line

DEFAULT_URL = "https://api.anthropic.com/v1"
VERSION = "2023-06-01"

_EFFORT = {1024: "low", 4096: "medium", 16384: "high"}
_SCHEMA_WORDS = frozenset({"type", "properties", "required", "enum", "additionalProperties"})
"""What its structured outputs know; limits of numbers are refused."""
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "filter",
}


def _without(body: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


def _with_effort(body: dict[str, Any]) -> dict[str, Any]:
    thinking = body.get("thinking", {})
    if thinking.get("type") != "enabled":
        return body
    effort = _EFFORT[thinking["budget_tokens"]]
    output = {**body.get("output_config", {}), "effort": effort}
    return {**body, "thinking": {"type": "adaptive"}, "output_config": output}


def _between_tools(body: dict[str, Any]) -> dict[str, Any]:
    if body.get("thinking") != {"type": "disabled"}:
        return body
    return {**body, "thinking": {"type": "between_tools"}}


def _left_to_think(body: dict[str, Any]) -> dict[str, Any]:
    if "thinking" not in body:
        return body
    return {**_without(body, "thinking"), "max_tokens": max(body["max_tokens"], THINKING_TOKENS)}


def _without_output(body: dict[str, Any], name: str) -> dict[str, Any]:
    output = _without(body.get("output_config", {}), name)
    rest = _without(body, "output_config")
    return {**rest, "output_config": output} if output else rest


# a refused budget is answered with words that name the effort too, so the way from one to the other comes first;
# a server that names between_tools takes it in place of disabled, and without tools the two are the same
_STEPS = (
    # some models take either this or a temperature, and name both
    Step(name="top_p", answers=lambda refusal: refusal.names("top_p"), change=lambda body: _without(body, "top_p")),
    Step(
        name="temperature",
        answers=lambda refusal: refusal.names("temperature"),
        change=lambda body: _without(body, "temperature"),
    ),
    Step(name="thinking budget", answers=lambda refusal: refusal.names("thinking"), change=_with_effort),
    Step(
        name="thinking effort",
        answers=lambda refusal: refusal.names("effort"),
        change=lambda body: _without_output(body, "effort"),
    ),
    Step(name="thinking disabled", answers=lambda refusal: refusal.names("between_tools"), change=_between_tools),
    Step(name="thinking", answers=lambda refusal: refusal.names("thinking"), change=_left_to_think),
    Step(
        name="schema",
        answers=lambda refusal: refusal.names("output_config", "output_format", "structured output", "schema"),
        change=lambda body: _without_output(body, "format"),
    ),
)


class Anthropic(Service):
    """One model behind the Messages API."""

    def __init__(self, info: ModelInfo, url: str, key: str | None, timeout: float, on_key: str = "") -> None:
        super().__init__(info, url, "/messages", _headers(key), _STEPS, timeout, on_key)
        self._told_to_think = False

    def _body(self, call: Call) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._info.name,
            "system": call.system,
            "messages": [{"role": "user", "content": call.user}],
            "max_tokens": call.max_tokens,
        }
        if call.think == "off":
            # left unsaid, the newer models think
            body |= {"thinking": {"type": "disabled"}, "temperature": call.temperature}
            if call.top_p is not None:
                body["top_p"] = call.top_p
        else:
            # the budget counts against max_tokens, and a temperature beside it is always refused
            budget = THINKING_BUDGET[call.think]
            body["thinking"] = {"type": "enabled", "budget_tokens": budget}
            body["max_tokens"] = max(call.max_tokens + budget, THINKING_TOKENS)
            self._told_to_think = True
        if call.schema is not None:
            schema = plain_schema(call.schema, _SCHEMA_WORDS)
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body

    def _reply(self, document: Any, call: Call, latency: float) -> Reply:
        said = mapping(document)
        content, reason = said.get("content"), said.get("stop_reason")
        if not isinstance(content, list) and not (content is None and isinstance(reason, str)):
            raise ProviderError("provider", "the server's reply holds no content", retry=True)
        blocks = mappings(content)
        self._served = one_line(str(said.get("model") or self._served), 200)
        thought = any(str(block.get("type")).endswith("thinking") for block in blocks)
        self._thinking.add(call, thought=thought)
        usage = mapping(said.get("usage"))
        finish = one_line(str(reason or "stop"), 60)
        return Reply(
            text=clipped(_joined(blocks, "text")),
            reasoning=clipped(_joined(blocks, "thinking")),
            thought=thought,
            finish_reason=_FINISH.get(finish, finish),
            latency_s=latency,
            prompt_tokens=count(usage.get("input_tokens")),
            completion_tokens=count(usage.get("output_tokens")),
            served_name=self._served,
            refusal=reason == "refusal",
            overflow=reason == "model_context_window_exceeded",
        )

    def _error(self, response: Response, refusal: Refusal) -> ProviderError:
        # an empty account is told as a fault of the request
        if refusal.status == 400 and refusal.names("credit balance", "usage limit"):
            refusal = msgspec.structs.replace(refusal, status=402)
        return super()._error(response, refusal)

    def _is_overflow(self, refusal: Refusal) -> bool:
        return super()._is_overflow(refusal) or refusal.names("exceed context limit")

    def _asked_without(self) -> tuple[str, ...]:
        taken = super()._asked_without()
        return taken if not self._told_to_think or "temperature" in taken else ("temperature", *taken)


def provider(name: str, options: ProviderOptions) -> Anthropic:
    """Build the provider of ``anthropic:NAME``.

    Without a base URL it asks Anthropic itself, with the key from ``ANTHROPIC_API_KEY``; with one, the server there,
    with the key from ``SELFDIAG_ANTHROPIC_API_KEY`` alone.
    """
    own = not options.base_url
    url = DEFAULT_URL if own else base_url(options.base_url, "anthropic", version="v1", below_paths=True)
    key = key_of("anthropic", own_service=own)
    on_key = key_advice("anthropic", own_service=own, sent=key is not None)
    return Anthropic(ModelInfo(provider="anthropic", name=name), url, key, options.timeout, on_key)


def offer(provider_name: str) -> list[Listing]:
    """Return how to name a model, for ``selfdiag models``."""
    return [offered(provider_name)]


async def discover(provider_name: str) -> list[Listing]:
    """Return the models that the key gives access to, or how to name one when they cannot be listed."""
    offers = offer(provider_name)
    if not offers[0].ready:
        return offers
    try:
        key = key_of("anthropic", own_service=True)
        document = await catalogue(DEFAULT_URL, "/models?limit=1000", _headers(key))
    except (ProviderError, SelfdiagError) as error:
        return [offered(provider_name, one_line(str(error)))]
    return [
        Listing(
            model=f"{provider_name}:{entry['id']}",
            ready=True,
            remark=one_line(str(entry.get("display_name") or ""), 80),
            remote=True,
        )
        for entry in entries(document, "data", "id")
    ] or offers


def _headers(key: str | None) -> dict[str, str]:
    return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


def _joined(blocks: list[dict[str, Any]], kind: str) -> str:
    texts = [block.get(kind) for block in blocks if block.get("type") == kind]
    return "".join(text for text in texts if isinstance(text, str))
