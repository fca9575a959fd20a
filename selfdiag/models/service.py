"""One model at a service that has an API of its own: its address, its key, and how it is asked."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from selfdiag.models.base import Call, Listing, ModelInfo, ProviderError, Reply
from selfdiag.models.http import Response, Wire, is_loopback
from selfdiag.models.ladder import Ladder, Refusal, Step
from selfdiag.models.server_words import document_of, error_of, is_overflow, refusal_of
from selfdiag.safety import SelfdiagError, one_line, remember_secret
from selfdiag.settings import api_key, key_variable, server_key

THINKING_TOKENS = 8192
"""Least room for a reply whose model thinks first, in tokens."""
THINKING_BUDGET = {"low": 1024, "medium": 4096, "on": 4096, "high": 16384}
"""How long a model may think, in tokens, by what was asked for."""
DISCOVERY_SECONDS = 3.0


class Service(ABC):
    """One model at a service; a subclass says how calls and replies are written there."""

    takes_schema = True
    max_tokens = 512

    def __init__(
        self, info: ModelInfo, url: str, path: str, headers: Mapping[str, str], steps: Sequence[Step], timeout: float
    ) -> None:
        self._info = msgspec.structs.replace(info, server=urlsplit(url).netloc, remote=not is_loopback(url))
        self._url = url
        self._path = path
        self._wire = Wire(url, headers, timeout)
        self._ladder = Ladder(steps)
        self._served = ""
        self._thinking = ""
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
        shown = {"asked_without": ", ".join(self._asked_without()), "thinking": self._thinking}
        details = self._info.details | {name: words for name, words in shown.items() if words}
        return msgspec.structs.replace(self._info, served_name=self._served, details=details)

    async def ask(self, call: Call) -> Reply:
        """Return the reply to one call, or raise ``ProviderError``."""
        wanted = self._body(call)
        while True:
            sent = self._ladder.applied(wanted)
            started = time.perf_counter()
            response = self._with_its_status(await self._wire.post(self._path, sent))
            latency = time.perf_counter() - started
            if response.status == 200:
                return self._reply(document_of(response, self._url), call, latency)
            refusal = refusal_of(response)
            if response.status in {400, 422} and self._ladder.take(refusal, sent):
                continue
            if response.status in {400, 413, 422} and self._is_overflow(refusal):
                return Reply(text="", overflow=True, latency_s=latency)
            raise self._error(response, refusal)

    @abstractmethod
    def _body(self, call: Call) -> dict[str, Any]:
        """Return the request for a call."""

    @abstractmethod
    def _reply(self, document: Any, call: Call, latency: float) -> Reply:
        """Return what a reply with status 200 says."""

    @abstractmethod
    def _status_of(self, error: Any) -> int:
        """Return the status that belongs to an error found in a reply with status 200."""

    def _error(self, response: Response, refusal: Refusal) -> ProviderError:  # noqa: ARG002 - services tell kinds by it
        return error_of(response, self._url)

    def _is_overflow(self, refusal: Refusal) -> bool:
        return is_overflow(refusal)

    def _asked_without(self) -> tuple[str, ...]:
        return self._ladder.taken

    def _note_thinking(self, call: Call, *, thought: bool) -> None:
        """Remember when a model thought although it should not, or was left to decide."""
        if call.think == "off" and thought:
            self._thinking = "on, although it was to be off"
        elif call.think != "off" and "thinking" in self._ladder.taken:
            self._thinking = "left to the model, the server refuses the setting"

    def _with_its_status(self, response: Response) -> Response:
        """Return the reply with the status it should have: errors come inside a 200 too, in a stream even.

        Raises:
            ProviderError: for a stream without an error; none was asked for, and its parts are no whole reply.
        """
        if response.status != 200:
            return response
        body = response.body
        if _is_stream(response):
            event = _error_event(body)
            if event is None:
                message = f"{one_line(self._url)} sent a stream of events although a whole reply was asked for"
                raise ProviderError("provider", message)
            body = event
        error = error_in(body)
        return msgspec.structs.replace(response, status=self._status_of(error), body=body) if error else response


def key_of(provider: str, *, own_service: bool) -> str | None:
    """Return the key to send, or None for a server that was given none.

    A key goes only to the place it was given for: ``own_service`` says whether that is the provider's own.

    Raises:
        SelfdiagError: when the own service has no key, or the key cannot be one; no message holds it.
    """
    key = api_key(provider) if own_service else server_key(provider)
    if own_service and not key:
        raise SelfdiagError(
            f"no key for {provider}: set {key_variable(provider)}, run 'selfdiag keys set {provider}', "
            "or name another server with --base-url",
            exit_code=3,
        )
    remember_secret(key)
    if key and not (key.isascii() and key.isprintable()):
        raise SelfdiagError(f"the key for {provider} holds characters that no key has: set it again", exit_code=3)
    return key


def address(text: str, provider: str, *, version: str, endpoint: str) -> str:
    """Return the address up to its version for any common spelling of it.

    Args:
        text: as a person writes it, with or without scheme, version and the path of a call.
        provider: whose server it is.
        version: the version to ask for when the address names none.
        endpoint: a pattern for the path of a call below the version.

    Raises:
        SelfdiagError: when it is not an http address.
    """
    url = text.strip()
    url = (url if "://" in url else f"http://{url}").rstrip("/")
    if "@" in url:
        variable = key_variable(provider, server=True)
        raise SelfdiagError(f"--base-url must hold no name or password: put the key into {variable}")
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        sound = sound and not any(char.isspace() for char in url) and not parts.query and not parts.fragment
    except ValueError:
        sound = False
    if not sound:
        raise SelfdiagError(f"--base-url {one_line(text, 80)!r} is not an http address such as http://127.0.0.1:8080")
    url = re.sub(rf"{endpoint}$", "", url)
    return url if re.search(r"/v\d[a-z\d]*$", url) else f"{url}/{version}"


def plain_schema(schema: Mapping[str, Any], kept: frozenset[str]) -> dict[str, Any]:
    """Return a JSON schema with only these keywords, in its properties too."""
    plain = {word: value for word, value in schema.items() if word in kept}
    if "properties" in plain:
        plain["properties"] = {name: plain_schema(shape, kept) for name, shape in plain["properties"].items()}
    return plain


def count(value: Any) -> int | None:
    """Return a number of tokens as a server gives it, or None when it makes no sense."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def mapping(value: Any) -> dict[str, Any]:
    """Return a JSON object as it is, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a JSON list, and none for anything else."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def offered(provider: str, remark: str = "") -> Listing:
    """Return how to name a model.

    It is ready when the provider's own service has a key here, and no remark says why it is not.
    """
    ready = api_key(provider) is not None
    variable = key_variable(provider)
    usual = f"{variable} is set" if ready else f"set {variable}, or name a server with --base-url"
    return Listing(model=f"{provider}:NAME", ready=ready and not remark, remark=remark or usual, remote=True)


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


def entries(document: Any, field: str, name: str) -> list[dict[str, Any]]:
    """Return the entries of a list of models that have a name that can be written and read back."""
    named = [entry for entry in mappings(mapping(document).get(field)) if isinstance(entry.get(name), str)]
    return [entry for entry in named if entry[name] and entry[name] == one_line(entry[name])]


def error_in(body: bytes) -> Any:
    """Return what the field ``error`` of a document holds, of its first document when there are several."""
    found = _decoded(body)
    return mapping(found[0] if isinstance(found, list) and found else found).get("error")


def _is_stream(response: Response) -> bool:
    kind = response.headers.get("content-type", "").lower()
    return kind.startswith("text/event-stream") or response.body.startswith((b"event:", b"data:"))


def _error_event(body: bytes) -> bytes | None:
    """Return the document of the first event in a stream that tells of an error."""
    for line in body.splitlines():
        name, _, data = line.partition(b":")
        if name == b"data" and error_in(data):
            return data
    return None


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
