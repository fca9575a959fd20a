"""Gemini through Google's generateContent, over httpx."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import msgspec

from selfdiag.models.address import base_url
from selfdiag.models.base import Call, Listing, ModelInfo, ProviderError, ProviderOptions, Reply, Token, clipped
from selfdiag.models.concessions import Refusal, Step
from selfdiag.models.http import Response
from selfdiag.models.json_values import count, decoded, entries, mapping, mappings
from selfdiag.models.plain_schema import plain_schema
from selfdiag.models.reply_tokens import spelling_tokens
from selfdiag.models.server_words import LONGEST_WORDS, error_of, words_of
from selfdiag.models.service import Service, catalogue
from selfdiag.models.service_keys import key_advice, key_of, offered
from selfdiag.models.thinking import THINKING_BUDGET, THINKING_TOKENS
from selfdiag.safety import SelfdiagError, one_line

DEFAULT_URL = "https://generativelanguage.googleapis.com/v1beta"

_LEVEL = {0: "minimal", 1024: "low", 4096: "medium", 16384: "high"}
_SCHEMA_WORDS = frozenset({"type", "properties", "required", "enum"})
_FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
_FILTERS = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})
_SAYS_NOTHING = "request contains an invalid argument"


def _configured(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the request with other settings; None leaves one away."""
    config = {**body["generationConfig"], **changes}
    return {**body, "generationConfig": {name: value for name, value in config.items() if value is not None}}


def _by_level(body: dict[str, Any]) -> dict[str, Any]:
    thinking = body["generationConfig"].get("thinkingConfig", {})
    if "thinkingBudget" not in thinking:
        return body
    rest = {name: value for name, value in thinking.items() if name != "thinkingBudget"}
    level = _LEVEL[thinking["thinkingBudget"]]
    return _roomy(_configured(body, thinkingConfig={**rest, "thinkingLevel": level}))


def _at_least_low(body: dict[str, Any]) -> dict[str, Any]:
    if body["generationConfig"].get("thinkingConfig") != {"thinkingLevel": "minimal"}:
        return body
    return _configured(body, thinkingConfig={"thinkingLevel": "low"})


def _left_to_think(body: dict[str, Any]) -> dict[str, Any]:
    if "thinkingConfig" not in body["generationConfig"]:
        return body
    return _roomy(_configured(body, thinkingConfig=None))


def _roomy(body: dict[str, Any]) -> dict[str, Any]:
    # what the model thinks counts against the limit
    return _configured(body, maxOutputTokens=max(body["generationConfig"]["maxOutputTokens"], THINKING_TOKENS))


def _system_folded(body: dict[str, Any]) -> dict[str, Any]:
    if "systemInstruction" not in body:
        return body
    (system,), (question,) = body["systemInstruction"]["parts"], body["contents"][0]["parts"]
    rest = {name: value for name, value in body.items() if name != "systemInstruction"}
    return {**rest, "contents": [_turn(f"{system['text']}\n\n{question['text']}")]}


def _turn(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}


def _on_thinking(refusal: Refusal) -> bool:
    # some models say no more than that an argument is invalid; it is this one then
    return refusal.names("thinking", "budget", _SAYS_NOTHING)


_STEPS = (
    Step(
        name="logprobs",
        answers=lambda refusal: refusal.names("logprobs"),
        change=lambda body: _configured(body, responseLogprobs=None),
    ),
    Step(name="thinking budget", answers=_on_thinking, change=_by_level),
    Step(name="minimal thinking", answers=_on_thinking, change=_at_least_low),
    Step(name="thinking", answers=_on_thinking, change=_left_to_think),
    Step(
        name="top_p",
        answers=lambda refusal: refusal.names("topp", "top_p"),
        change=lambda body: _configured(body, topP=None),
    ),
    Step(
        name="temperature",
        answers=lambda refusal: refusal.names("temperature"),
        change=lambda body: _configured(body, temperature=None),
    ),
    Step(
        name="seed",
        answers=lambda refusal: refusal.names("seed"),
        change=lambda body: _configured(body, seed=None),
    ),
    Step(
        name="system text",
        answers=lambda refusal: refusal.names(
            "developer instruction", "system instruction", "systeminstruction", "system_instruction"
        ),
        change=_system_folded,
    ),
    Step(
        name="schema",
        answers=lambda refusal: refusal.names("schema", "json mode", "mime"),
        change=lambda body: _configured(body, responseMimeType=None, responseSchema=None),
    ),
)


class Gemini(Service):
    """One model behind generateContent."""

    def __init__(self, info: ModelInfo, url: str, key: str | None, timeout: float, on_key: str = "") -> None:
        # of the names with a folder, those of the lists are written out
        full = info.name if info.name.startswith(("models/", "tunedModels/")) else f"models/{info.name}"
        super().__init__(info, url, f"/{quote(full)}:generateContent", _headers(key), _STEPS, timeout, on_key)

    def _body(self, call: Call) -> dict[str, Any]:
        config: dict[str, Any] = {"temperature": call.temperature, "maxOutputTokens": call.max_tokens}
        if call.top_p is not None:
            config["topP"] = call.top_p
        if call.seed is not None:
            config["seed"] = call.seed
        if call.logprobs:
            config["responseLogprobs"] = True
        if call.schema is not None:
            config["responseMimeType"] = "application/json"
            config["responseSchema"] = _in_googles_words(plain_schema(call.schema, _SCHEMA_WORDS))
        if call.think == "off":
            config["thinkingConfig"] = {"thinkingBudget": 0}
        else:
            budget = THINKING_BUDGET[call.think]
            config["thinkingConfig"] = {"thinkingBudget": budget, "includeThoughts": True}
            config["maxOutputTokens"] = max(call.max_tokens + budget, THINKING_TOKENS)
        return {
            "systemInstruction": {"parts": [{"text": call.system}]},
            "contents": [_turn(call.user)],
            "generationConfig": config,
        }

    def _reply(self, document: Any, call: Call, latency: float) -> Reply:
        said = mapping(document)
        candidates = mappings(said.get("candidates"))
        if not candidates and mapping(said.get("promptFeedback")).get("blockReason"):
            candidates = [{"finishReason": "SAFETY"}]
        if not candidates:
            raise ProviderError("provider", "the server's reply holds no candidate", retry=True)
        candidate = candidates[0]
        self._served = one_line(str(said.get("modelVersion") or self._served), 200)
        parts = mappings(mapping(candidate.get("content")).get("parts"))
        reasoning, text = (_joined(parts, thought=thought) for thought in (True, False))
        usage = mapping(said.get("usageMetadata"))
        spent, thought_of = count(usage.get("candidatesTokenCount")), count(usage.get("thoughtsTokenCount"))
        thought = bool(reasoning or thought_of)
        self._thinking.add(call, thought=thought)
        reason = one_line(str(candidate.get("finishReason") or "STOP"), 60)
        return Reply(
            text=clipped(text),
            reasoning=clipped(reasoning),
            thought=thought,
            finish_reason="filter" if reason in _FILTERS else _FINISH.get(reason, reason),
            latency_s=latency,
            prompt_tokens=count(usage.get("promptTokenCount")),
            completion_tokens=None if spent is None and thought_of is None else (spent or 0) + (thought_of or 0),
            served_name=self._served,
            refusal=reason in _FILTERS,
            tokens=_tokens(candidate, text) if call.logprobs else (),
        )

    def _error(self, response: Response, refusal: Refusal) -> ProviderError:
        document = decoded(response.body)
        # a wrong key is told as a fault of the request
        if refusal.status == 400 and ("API_KEY_INVALID" in _reasons(document) or refusal.names("api key")):
            refusal = msgspec.structs.replace(refusal, status=401)
        words = words_of(document, longest=LONGEST_WORDS)
        return error_of(
            response,
            self._url,
            refusal,
            spent=lambda said, waits: said.status == 429 and _is_spent(words, waits=waits),
            on_key=self._on_key,
        )

    def _is_overflow(self, refusal: Refusal) -> bool:
        return super()._is_overflow(refusal) or refusal.names("input token count", "maximum number of tokens allowed")


def provider(name: str, options: ProviderOptions) -> Gemini:
    """Build the provider of ``gemini:NAME``.

    Without a base URL it asks Google itself, with the key from ``GEMINI_API_KEY``; with one, the server there, with
    the key from ``SELFDIAG_GEMINI_API_KEY`` alone.
    """
    own = not options.base_url
    url = DEFAULT_URL if own else base_url(options.base_url, "gemini", version="v1beta", below_paths=True)
    key = key_of("gemini", own_service=own)
    on_key = key_advice("gemini", own_service=own, sent=key is not None)
    return Gemini(ModelInfo(provider="gemini", name=name), url, key, options.timeout, on_key)


def offer(provider_name: str) -> list[Listing]:
    """Return how to name a model, for ``selfdiag models``."""
    return [offered(provider_name)]


async def discover(provider_name: str) -> list[Listing]:
    """Return the models that the key gives access to, or how to name one when they cannot be listed."""
    offers = offer(provider_name)
    if not offers[0].ready:
        return offers
    try:
        key = key_of("gemini", own_service=True)
        document = await catalogue(DEFAULT_URL, "/models?pageSize=1000", _headers(key))
    except (ProviderError, SelfdiagError) as error:
        return [offered(provider_name, one_line(str(error)))]
    return [
        Listing(
            model=f"{provider_name}:{entry['name'].removeprefix('models/')}",
            ready=True,
            remark=one_line(str(entry.get("displayName") or ""), 80),
            remote=True,
            details={} if count(entry.get("inputTokenLimit")) is None else {"context": str(entry["inputTokenLimit"])},
        )
        for entry in entries(document, "models", "name")
        if _writes_text(entry)
    ] or offers


def _headers(key: str | None) -> dict[str, str]:
    return {"x-goog-api-key": key} if key else {}


def _writes_text(entry: dict[str, Any]) -> bool:
    methods = entry.get("supportedGenerationMethods")
    return isinstance(methods, list) and "generateContent" in methods


def _in_googles_words(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with types in capitals and the order of its properties written out."""
    worded = dict(schema)
    if isinstance(schema.get("type"), str):
        worded["type"] = schema["type"].upper()
    if "properties" in schema:
        worded["properties"] = {name: _in_googles_words(shape) for name, shape in schema["properties"].items()}
        worded["propertyOrdering"] = list(schema["properties"])
    return worded


def _joined(parts: list[dict[str, Any]], *, thought: bool) -> str:
    texts = [part.get("text") for part in parts if (part.get("thought") is True) is thought]
    return "".join(text for text in texts if isinstance(text, str))


def _tokens(candidate: dict[str, Any], text: str) -> tuple[Token, ...]:
    told = mapping(candidate.get("logprobsResult")).get("chosenCandidates")
    return spelling_tokens(told, text, logprob="logProbability")


def _reasons(document: Any) -> set[str]:
    """Return the reasons that the details of an error give."""
    error = mapping(mapping(document[0] if isinstance(document, list) and document else document).get("error"))
    return {str(detail.get("reason")) for detail in mappings(error.get("details"))}


def _is_spent(words: str, *, waits: bool) -> bool:
    """Return whether a limit is one that no waiting heals: none is granted at all, or the account is empty.

    Every limit is called a quota here, also one that is over in a few seconds.
    """
    if re.search(r"limit: 0\b", words):
        return True
    return not waits and re.search(r"(?i)billing|credit|per day|daily|spend", words) is not None
