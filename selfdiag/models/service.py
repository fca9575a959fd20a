"""One model at a service that has an API of its own: how it is asked, and what its replies mean."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from selfdiag.models.address import is_loopback, unencrypted
from selfdiag.models.base import Call, ModelInfo, ProviderError, Reply
from selfdiag.models.concessions import Concessions, Refusal, Step
from selfdiag.models.event_stream import without_stream
from selfdiag.models.http import Response, Wire
from selfdiag.models.server_words import document_of, error_of, is_overflow, refusal_of, tells_error
from selfdiag.models.thinking import REFUSED, ThinkingNote

DISCOVERY_SECONDS = 3.0


class Service(ABC):
    """One model at a service; a subclass says how calls and replies are written there.

    ``on_key`` is what to do about the key when the service refuses it.
    """

    takes_schema = True
    max_tokens = 512

    def __init__(
        self,
        info: ModelInfo,
        url: str,
        path: str,
        headers: Mapping[str, str],
        steps: Sequence[Step],
        timeout: float,
        on_key: str = "",
    ) -> None:
        self._info = msgspec.structs.replace(info, server=urlsplit(url).netloc, remote=not is_loopback(url))
        self._url = url
        self._path = path
        self._wire = Wire(url, headers, timeout)
        self._concessions = Concessions(steps)
        self._served = ""
        self._thinking = ThinkingNote()
        self._on_key = on_key
        self.concurrency = 1 if is_loopback(url) else 8

    async def __aenter__(self) -> Service:
        await self._wire.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._wire.__aexit__(kind, error, trace)

    def info(self) -> ModelInfo:
        """Return what is known of the model, with what the replies so far have shown."""
        refused = REFUSED if "thinking" in self._concessions.taken else ""
        shown = {
            "connection": unencrypted(self._url),
            "asked_without": "; ".join(self._asked_without()),
            "thinking": self._thinking.words(refused),
        }
        details = self._info.details | {name: words for name, words in shown.items() if words}
        return msgspec.structs.replace(self._info, served_name=self._served, details=details)

    async def ask(self, call: Call) -> Reply:
        """Return the reply to one call, or raise ``ProviderError``."""
        wanted = self._body(call)
        while True:
            sent = self._concessions.applied(wanted)
            started = time.perf_counter()
            response = await self._wire.post(self._path, sent)
            latency = time.perf_counter() - started
            if 200 <= response.status < 300:
                response = without_stream(response, self._url)
                document = document_of(response, self._url)
                if not tells_error(document):
                    return self._reply(document, call, latency)
            refusal = refusal_of(response)
            if refusal.status in {400, 422} and self._concessions.take(refusal, sent):
                continue
            if refusal.status in {400, 413, 422} and self._is_overflow(refusal):
                return Reply(text="", overflow=True, latency_s=latency)
            raise self._error(response, refusal)

    @abstractmethod
    def _body(self, call: Call) -> dict[str, Any]:
        """Return the request for a call."""

    @abstractmethod
    def _reply(self, document: Any, call: Call, latency: float) -> Reply:
        """Return what a reply that tells of no error says."""

    def _error(self, response: Response, refusal: Refusal) -> ProviderError:
        return error_of(response, self._url, refusal, on_key=self._on_key)

    def _is_overflow(self, refusal: Refusal) -> bool:
        return is_overflow(refusal)

    def _asked_without(self) -> tuple[str, ...]:
        return self._concessions.taken


async def catalogue(url: str, path: str, headers: Mapping[str, str]) -> Any:
    """Return a service's list of models as it comes, within 3 seconds.

    Raises:
        ProviderError: when there is none.
    """
    async with Wire(url, headers, DISCOVERY_SECONDS) as wire:
        response = await wire.get(path)
    if response.status != 200:
        raise error_of(response, url)
    return document_of(response, url)
