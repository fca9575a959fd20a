"""What a refusal of an Ollama server means, and whether asking again can help."""

from __future__ import annotations

import os
import re
import time

import msgspec

from selfdiag.models.address import proxy_applies
from selfdiag.models.alike_faults import AlikeFaults
from selfdiag.models.base import ErrorKind, ProviderError
from selfdiag.models.concessions import Refusal
from selfdiag.models.http import Response
from selfdiag.models.server_words import error_of, is_overflow, refusal_of
from selfdiag.safety import one_line

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_SIGN_IN = re.compile(r"\S*/connect\?\S*")
"""An address that signs a machine in: it holds a key."""


class _Inside(msgspec.Struct, frozen=True, kw_only=True):
    """A fault inside the server, known by its words.

    ``retries`` is how often it may be met again before a reply comes in between; from then on it is of the kind
    ``lasting``.
    """

    words: tuple[str, ...]
    retries: int
    advice: str = ""
    kind: ErrorKind = "provider"
    lasting: ErrorKind = "provider"


_INSIDE = (
    _Inside(
        words=("timed out waiting for llama runner", "timed out waiting for server to start"),
        retries=1,
        advice="; the model loads too slowly: free memory, take a smaller model, or set OLLAMA_LOAD_TIMEOUT higher "
        "where the server runs",
        kind="timeout",
        lasting="config",
    ),
    _Inside(
        words=("requires more system memory",),
        retries=0,
        advice="; free memory, or take a smaller model or context",
        lasting="config",
    ),
    _Inside(
        words=("invalid format", "must be of type", "cannot unmarshal", "does not support"), retries=0, lasting="config"
    ),
)
_STREAMED = _Inside(words=(), retries=1)
_OTHER = _Inside(words=(), retries=2)


def variables_set(*names: str) -> list[str]:
    """Return which of these environment variables are set, in capitals or not."""
    return [name for name in names if os.environ.get(name) or os.environ.get(name.lower())]


def overflows(response: Response, refusal: Refusal) -> bool:
    """Return whether a refusal says that the prompt does not fit the context."""
    return is_overflow(refusal) and (response.status != 500 or "available context" in refusal.words)


class Faults:
    """Turns refusals into errors, and remembers the server's own faults until a reply comes in between.

    A fault that every call meets is not repeated for every call. ``on_key`` is what to do about the key when the
    server refuses it.
    """

    def __init__(self, url: str, on_key: str = "") -> None:
        self._url = url
        self._place = one_line(url)
        self._on_key = on_key
        self._alike = AlikeFaults()

    def forget(self) -> None:
        """A reply has come: whatever was wrong is over."""
        self._alike.forget()

    def error(self, response: Response, model: str, asked_at: float) -> ProviderError:
        """Return the error that a refusal stands for.

        Args:
            response: the refusal; status 200 means that it came in a reply that had begun well.
            model: the model's name, for what to do about it.
            asked_at: when the call was sent, by ``time.perf_counter``.
        """
        said = _SIGN_IN.sub("", refusal_of(response).words).strip()
        lowered = said.lower()
        if response.status == 200:
            return self._inside(f"{self._place} ends a reply with an error: {said}", lowered, asked_at, _STREAMED)
        message = f"{self._place} answers {response.status}: {said or 'no reason given'}"
        if response.status == 500:
            return self._inside(message, lowered, asked_at, _OTHER)
        if response.status == 404:
            return self._missing(lowered, message, model)
        if response.status == 401:
            if b"signin_url" in response.body:
                message = f"{one_line(model)} runs in Ollama's cloud, and its server is not signed in there"
                return ProviderError("unauthorized", f"{message}: run  ollama signin  where the server runs")
            return ProviderError("unauthorized", f"{message}; {self._on_key}" if self._on_key else message)
        if response.status == 403 and said and self._on_key:
            return ProviderError("unauthorized", f"{message}; {self._on_key}")
        if response.status == 403 and not said:
            hint = "it takes no calls under this host name: use an IP address, or set OLLAMA_HOST where it runs"
            return ProviderError("unauthorized", f"{self._place} answers 403 without a word; {hint}")
        if response.status == 429 and "usage limit" in lowered:
            return ProviderError("quota", message)
        if response.status in {407, 502, 503, 504} and proxy_applies(self._url):
            names = " and ".join(variables_set(*PROXIES)) or "this system"
            message += f"; the call went through the proxy of {names}: NO_PROXY can name hosts to reach directly"
        told, overloaded = error_of(response, self._url), response.status in {429, 503}
        return ProviderError(told.kind, message, retry=told.retry, retry_after=told.retry_after, overloaded=overloaded)

    def _missing(self, lowered: str, message: str, model: str) -> ProviderError:
        if "model" in lowered and "not found" in lowered:
            name = one_line(model)
            return ProviderError(
                "model_missing", f"{self._place} has no model {name!r}: fetch it with  ollama pull {name}"
            )
        hint = "it seems to be no Ollama server; an OpenAI-compatible one is asked as openai:NAME with --base-url"
        return ProviderError("config", f"{message}; {hint}")

    def _inside(self, message: str, lowered: str, asked_at: float, unknown: _Inside) -> ProviderError:
        known = (fault for fault in _INSIDE if any(words in lowered for words in fault.words))
        fault = next(known, unknown)
        heals = self._alike.met(lowered, asked_at, time.perf_counter()) <= fault.retries
        return ProviderError(fault.kind if heals else fault.lasting, f"{message}{fault.advice}", retry=heals)
