"""Any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from selfdiag.models.address import base_url, is_loopback, unencrypted
from selfdiag.models.alike_faults import AlikeFaults
from selfdiag.models.base import Call, Listing, ModelInfo, ProviderError, ProviderOptions, Reply, clipped
from selfdiag.models.chat_request import NO_EFFORT, STEPS, request_of
from selfdiag.models.concessions import Concessions, Refusal
from selfdiag.models.event_stream import unstreamed
from selfdiag.models.http import Response, Wire
from selfdiag.models.json_values import count, mapping, mappings
from selfdiag.models.ollama_address import PORT as OLLAMA_PORT
from selfdiag.models.reply_tokens import spelling_tokens
from selfdiag.models.server_words import document_of, error_of, is_loading, is_overflow, refusal_of, tells_error
from selfdiag.models.service_keys import key_advice, key_of, offered
from selfdiag.models.thinking import REFUSED, ThinkingNote
from selfdiag.safety import one_line, remember_secret

DEFAULT_URL = "https://api.openai.com/v1"
LOADING_LIMIT = 600.0
"""How long a server may load its model, in seconds."""
LOADING_PAUSE = 1.0
ALIKE = 3
"""For how many different calls a 500 comes in the same words before it is taken to last: some servers answer it for
every request they do not understand."""

_FINISH = {"content_filter": "filter", "max_tokens": "length", "model_length": "length", "eos": "stop"}
"""Other servers' words for reasons that have one."""
_REASONING = ("reasoning_content", "reasoning")
_OLLAMA = (
    f"port {OLLAMA_PORT} is Ollama's, which this way cuts prompts to a context of its own without a word; "
    "ollama:NAME sets the context and is told of a prompt that does not fit"
)
"""What is to be said of an address at Ollama's port."""
_REFUSING = frozenset({200, 400, 415, 422, 500, 501})
"""Statuses with which servers refuse a parameter; 200 is an error without a status of its own."""


class OpenAICompatible:
    """One model behind a chat-completions address.

    Parameters that the server refuses are left away from then on, and ``info`` says which. ``think`` is sent as
    ``reasoning_effort``, and not at all when it is off: there is no word for off that every server takes, and a
    model that reasons unless told otherwise will do so; ``info`` says that too. ``waiting`` is called with a plain
    sentence when the server still loads its model, and with what is to be said of its address, if anything. ``on_key``
    is what to do about the key when the server refuses it.
    """

    takes_schema = True
    max_tokens = 512

    def __init__(
        self,
        info: ModelInfo,
        url: str,
        key: str | None,
        timeout: float,
        waiting: Callable[[str], None] | None = None,
        on_key: str = "",
    ) -> None:
        self._info = info
        self._url = url
        self._wire = Wire(url, {"Authorization": f"Bearer {key}"} if key else {}, timeout)
        self._waiting = waiting
        self._concessions = Concessions(STEPS)
        self._alike = AlikeFaults()
        self._served = ""
        self._notes: dict[str, str] = {}
        self._thinking = ThinkingNote()
        self._on_key = on_key
        self._loading = False
        self.concurrency = 1 if is_loopback(url) else 8
        remember_secret(key)

    async def __aenter__(self) -> OpenAICompatible:
        await self._wire.__aenter__()
        note = self._info.details.get("address", "")
        if note and self._waiting is not None:
            self._waiting(note)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._wire.__aexit__(*exc)

    def info(self) -> ModelInfo:
        """Return what is known of the model, with the name that the server gave last."""
        refused = REFUSED if NO_EFFORT in self._concessions.taken else ""
        shown = {
            "connection": unencrypted(self._url),
            "asked_without": "; ".join(self._concessions.taken),
            "thinking": self._thinking.words(refused),
        }
        return msgspec.structs.replace(
            self._info,
            served_name=self._served or self._info.served_name,
            details=self._info.details | {name: words for name, words in (shown | self._notes).items() if words},
        )

    async def ask(self, call: Call) -> Reply:
        """Return the reply to one call, or raise ``ProviderError``."""
        body = request_of(self._info.name, call)
        reply = await self._asked(call, body)
        silent = reply.finish_reason == "stop" and not (reply.text.strip() or reply.refusal or reply.overflow)
        if silent and "response_format" in self._concessions.applied(body):
            self._notes["json_mode"] = "replies came back empty and were asked for again without it"
            del body["response_format"]
            reply = await self._asked(call, body)
        return reply

    async def _asked(self, call: Call, body: dict[str, Any]) -> Reply:
        since = time.monotonic()
        while True:
            sent = self._concessions.applied(body)
            started = time.perf_counter()
            response = await self._wire.post("/chat/completions", sent)
            ended = time.perf_counter()
            if 200 <= response.status < 300:
                document = document_of(unstreamed(response, self._url), self._url)
                fault = _fault(document)
                if fault is None:
                    self._loading = False
                    self._alike.forget()
                    return self._reply(call, document, ended - started)
                response = msgspec.structs.replace(response, body=msgspec.json.encode(fault))
            refusal = refusal_of(response)
            if "content_filter" in refusal.codes:
                return Reply(text=refusal.words, finish_reason="filter", refusal=True, latency_s=ended - started)
            if is_overflow(refusal):
                return Reply(text="", overflow=True, latency_s=ended - started)
            if is_loading(refusal):
                await self._wait_for_model(since)
            elif refusal.status not in _REFUSING or not self._concessions.take(refusal, sent):
                error = self._error(response, refusal)
                if refusal.status == 500:
                    met = self._alike.met(str(error), started, ended, (call.system, call.user))
                    error.retry = error.retry and met < ALIKE
                raise error

    async def _wait_for_model(self, since: float) -> None:
        place = one_line(self._url)
        if time.monotonic() - since > LOADING_LIMIT:
            raise ProviderError("timeout", f"{place} still loads its model after {LOADING_LIMIT / 60:.0f} minutes")
        if not self._loading and self._waiting is not None:
            self._waiting(f"{place} is loading its model")
        self._loading = True
        await asyncio.sleep(LOADING_PAUSE)

    def _error(self, response: Response, refusal: Refusal) -> ProviderError:
        error = error_of(response, self._url, refusal, on_key=self._on_key)
        words = refusal.words.lower()
        if "unexpected endpoint" in words or (refusal.status == 404 and "model" not in words):
            error.args, error.retry = (f"{error}; check the address: most servers want /v1 at its end",), False
        return error

    def _reply(self, call: Call, document: Any, latency: float) -> Reply:
        choice = _first_choice(document)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise ProviderError("provider", f"{one_line(self._url)} sent a reply without a message", retry=True)
        self._served = one_line(str(document.get("model") or self._served), 200)
        usage = mapping(document.get("usage"))
        text, thoughts, declined = _contents(message.get("content"))
        refusal = message["refusal"] if isinstance(message.get("refusal"), str) else declined
        reasoning = next((found for name in _REASONING if (found := _contents(message.get(name))[0])), thoughts)
        said = one_line(str(choice.get("finish_reason") or "stop"), 60)
        reason = _FINISH.get(said, said)
        if reason == "error":
            raise ProviderError("provider", f"{one_line(self._url)} broke off its reply", retry=True)
        counted = count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens"))
        reply = Reply(
            text=clipped(text or refusal),
            reasoning=clipped(reasoning),
            thought=bool(reasoning or counted or "<think" in text),
            finish_reason=reason,
            latency_s=latency,
            prompt_tokens=count(usage.get("prompt_tokens")),
            completion_tokens=count(usage.get("completion_tokens")),
            served_name=self._served,
            refusal=bool(refusal) or reason == "filter",
            tokens=spelling_tokens(mapping(choice.get("logprobs")).get("content"), text or refusal),
        )
        self._compare(call, reply)
        return reply

    def _compare(self, call: Call, reply: Reply) -> None:
        """Note where a reply is not what was asked for."""
        if reply.completion_tokens is not None and reply.completion_tokens > call.max_tokens:
            came = f"{reply.completion_tokens} tokens came for a limit of {call.max_tokens}"
            self._notes["token_limit"] = f"not kept by the server: {came}"
        if call.logprobs and reply.text and not reply.tokens:
            self._notes["logprobs"] = "not given by the server"
        self._thinking.add(call, thought=reply.thought)


def provider(name: str, options: ProviderOptions) -> OpenAICompatible:
    """Build the provider of ``openai:NAME``.

    Without a base URL it asks OpenAI itself, with the key from ``OPENAI_API_KEY``. A key is sent only to
    the place it was given for: with a base URL it comes from ``SELFDIAG_OPENAI_API_KEY`` alone.
    """
    own = not options.base_url
    url = DEFAULT_URL if own else base_url(options.base_url, "openai", version="v1", below_paths=False)
    key = key_of("openai", own_service=own)
    on_key = key_advice("openai", own_service=own, sent=key is not None)
    info = ModelInfo(
        provider="openai",
        name=name,
        remote=not is_loopback(url),
        server=urlsplit(url).netloc,
        details={"address": _OLLAMA} if urlsplit(url).port == OLLAMA_PORT else {},
    )
    return OpenAICompatible(info, url, key, options.timeout, options.waiting, on_key)


def _first_choice(document: Any) -> dict[str, Any]:
    choices = mapping(document).get("choices")
    return mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _fault(document: Any) -> Any:
    """Return the error document in a reply with a good status, or None."""
    if tells_error(document):
        return document
    error = _first_choice(document).get("error")
    return {"error": error} if error else None


def _contents(content: Any) -> tuple[str, str, str]:
    """Return the text, the reasoning and the refusal in a message's content: a text, or a list of parts."""
    if isinstance(content, str):
        return content, "", ""
    texts: dict[str, list[str]] = {"text": [], "thinking": [], "refusal": []}
    for part in mappings(content):
        kind = str(part.get("type", "text"))
        kind = {"output_text": "text", "reasoning": "thinking"}.get(kind, kind)
        inner = part.get(kind) or part.get("text")
        if kind in texts:
            # a thinking part may hold parts of its own
            pieces = [inner, *(piece.get("text") for piece in mappings(inner))]
            texts[kind] += [piece for piece in pieces if isinstance(piece, str)]
    return "".join(texts["text"]), "".join(texts["thinking"]), "".join(texts["refusal"])


def offer(provider_name: str) -> list[Listing]:
    """Return how to name a model, for ``selfdiag models``."""
    return [offered(provider_name)]
