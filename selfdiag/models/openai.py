"""Any server that speaks OpenAI's chat completions, over httpx."""

from __future__ import annotations

import asyncio
import html
import ipaddress
import math
import re
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from selfdiag.models.base import (
    Call,
    ErrorKind,
    Listing,
    ModelInfo,
    ProviderError,
    ProviderOptions,
    Reply,
    clipped,
)
from selfdiag.safety import SelfdiagError, one_line, remember_secret
from selfdiag.settings import api_key, server_key

DEFAULT_URL = "https://api.openai.com/v1"
MAX_BODY_BYTES = 20_000_000
CONNECT_TIMEOUT = 10.0

_STATUS: dict[int, tuple[ErrorKind, bool]] = {
    401: ("unauthorized", False),
    402: ("quota", False),
    403: ("unauthorized", False),
    404: ("model_missing", False),
    408: ("timeout", True),
    409: ("provider", True),
    429: ("provider", True),
}


class OpenAICompatible:
    """One model behind a chat-completions address."""

    takes_schema = True
    max_tokens = 512

    def __init__(self, info: ModelInfo, url: str, key: str | None, timeout: float) -> None:
        self._info = info
        self._url = url
        self._patience = timeout
        self._timeout = httpx.Timeout(timeout, connect=CONNECT_TIMEOUT)
        self._headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._client: httpx.AsyncClient | None = None
        self._served = ""
        self.concurrency = 1 if is_loopback(url) else 8
        remember_secret(key)

    async def __aenter__(self) -> OpenAICompatible:
        try:
            self._client = httpx.AsyncClient(
                headers=self._headers,
                timeout=self._timeout,
                # a proxy from the environment must not catch a call to this very machine
                trust_env=not is_loopback(self._url),
                limits=httpx.Limits(max_connections=128, max_keepalive_connections=128),
            )
        except (ImportError, ValueError) as error:
            raise SelfdiagError(
                f"the proxy set in the environment cannot be used ({one_line(str(error), 120)}): "
                "correct or unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY",
                exit_code=3,
            ) from None
        except OSError as error:
            raise SelfdiagError(
                f"the certificates set in the environment cannot be used ({one_line(str(error), 120)}): "
                "correct or unset SSL_CERT_FILE, SSL_CERT_DIR and SSLKEYLOGFILE",
                exit_code=3,
            ) from None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.aclose()

    def info(self) -> ModelInfo:
        """Return what is known of the model, with the name that the server gave last."""
        return msgspec.structs.replace(self._info, served_name=self._served or self._info.served_name)

    async def ask(self, call: Call) -> Reply:
        """Return the reply to one call, or raise ``ProviderError``."""
        started = time.perf_counter()
        status, headers, body = await self._post(self._body(call))
        latency = time.perf_counter() - started
        document = _document(status, body)
        if status != 200:
            if "content_filter" in _codes(document):
                return Reply(text=_words(document), finish_reason="filter", refusal=True, latency_s=latency)
            if _is_overflow(document):
                return Reply(text="", overflow=True, latency_s=latency)
            raise _refused(status, headers, document, body, self._url)
        return self._reply(document, latency)

    def _body(self, call: Call) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._info.name,
            "messages": [
                {"role": "system", "content": call.system},
                {"role": "user", "content": call.user},
            ],
            "temperature": call.temperature,
            "max_tokens": call.max_tokens,
        }
        if call.seed is not None:
            body["seed"] = call.seed
        if call.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": call.schema, "strict": True},
            }
        return body

    async def _post(self, body: dict[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        assert self._client is not None, "enter the provider before asking"  # noqa: S101
        place = one_line(self._url)
        try:
            # httpx limits each read alone, and a server that drips a byte at a time passes every one of them
            async with (
                asyncio.timeout(self._patience),
                self._client.stream("POST", f"{self._url}/chat/completions", json=body) as response,
            ):
                parts: list[bytes] = []
                size = 0
                packed = response.headers.get("content-encoding", "identity").strip().lower()
                if packed not in {"", "identity"}:
                    # it was asked not to; a few packed bytes can hold gigabytes
                    raise ProviderError("provider", f"{place} sent a packed reply ({one_line(packed, 40)})")
                async for part in response.aiter_raw():
                    size += len(part)
                    if size > MAX_BODY_BYTES:
                        raise ProviderError("provider", f"{place} sent more than 20 MB for one reply")
                    parts.append(part)
                return response.status_code, response.headers, b"".join(parts)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ProviderError(
                "unreachable", f"no server answers at {place} ({one_line(str(error), 100)})", retry=True
            ) from None
        except (httpx.TimeoutException, TimeoutError):
            raise ProviderError("timeout", f"{place} did not answer in time", retry=True) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = one_line(f"{type(error).__name__}: {error}", 120)
            raise ProviderError("provider", f"{place} broke off ({reason})", retry=True) from None

    def _reply(self, document: Any, latency: float) -> Reply:
        if isinstance(document, dict) and document.get("error"):
            raise ProviderError("provider", f"the server says: {_words(document)}", retry=True)
        choices = document.get("choices") if isinstance(document, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise ProviderError("provider", "the server's reply holds no message", retry=True)
        self._served = one_line(str(document.get("model") or self._served), 200)
        usage = document.get("usage") if isinstance(document.get("usage"), dict) else {}
        refusal = message.get("refusal")
        text = _text(message.get("content")) or (refusal if isinstance(refusal, str) else "")
        reason = one_line(str(choice.get("finish_reason") or "stop"), 60)
        return Reply(
            text=clipped(text),
            reasoning=clipped(_text(message.get("reasoning_content") or message.get("reasoning"))),
            finish_reason="filter" if reason == "content_filter" else reason,
            latency_s=latency,
            prompt_tokens=_count(usage.get("prompt_tokens")),
            completion_tokens=_count(usage.get("completion_tokens")),
            served_name=self._served,
            refusal=bool(refusal) or reason == "content_filter",
        )


def provider(name: str, options: ProviderOptions) -> OpenAICompatible:
    """Build the provider of ``openai:NAME``.

    Without a base URL it asks OpenAI itself, with the key from ``OPENAI_API_KEY``. A key is sent only to
    the place it was given for: with a base URL it comes from ``SELFDIAG_OPENAI_API_KEY`` alone.
    """
    url = base_url(options.base_url) if options.base_url else DEFAULT_URL
    key = server_key("openai") if options.base_url else api_key("openai")
    if not options.base_url and not key:
        raise SelfdiagError(
            "no key for openai: set OPENAI_API_KEY, or name another server with --base-url", exit_code=3
        )
    if key and not (key.isascii() and key.isprintable()):
        raise SelfdiagError("the key for openai holds characters that no key has: set it again", exit_code=3)
    server = urlsplit(url).netloc
    info = ModelInfo(provider="openai", name=name, remote=not is_loopback(url), server=server)
    return OpenAICompatible(info, url, key, options.timeout)


def base_url(text: str) -> str:
    """Return the address up to ``/v1`` for any common spelling of it.

    ``host:8000``, ``http://host:8000``, ``http://host:8000/v1/`` and
    ``http://host:8000/v1/chat/completions`` name the same place.

    Raises:
        SelfdiagError: when it is not an http address.
    """
    url = text.strip()
    if "://" not in url:
        url = f"http://{url}"
    url = url.rstrip("/")
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        sound = sound and not any(char.isspace() for char in url) and not parts.query and not parts.fragment
    except ValueError:
        sound = False
    if "@" in url:
        raise SelfdiagError("--base-url must hold no name or password: put the key into SELFDIAG_OPENAI_API_KEY")
    if not sound:
        raise SelfdiagError(
            f"--base-url {one_line(text, 80)!r} is not an http address such as http://127.0.0.1:8080/v1"
        )
    url = url.removesuffix("/chat/completions")
    return url if parts.path.strip("/") else f"{url}/v1"


def is_loopback(url: str) -> bool:
    """Return whether an address names this very machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _document(status: int, body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if status != 200:
            return None
        shown = one_line(_without_tags(body.decode("utf-8", "replace")[:2000]), 120)
        raise ProviderError("provider", f"the server's reply is not JSON: {shown or '(empty)'}", retry=True) from None


def _refused(status: int, headers: httpx.Headers, document: Any, body: bytes, url: str) -> ProviderError:
    words = _words(document) or one_line(_without_tags(body.decode("utf-8", "replace")[:2000]))
    kind, retry = _STATUS.get(status, ("provider", status >= 500))
    if status == 429 and any("quota" in word.lower() for word in (words, *_codes(document))):
        kind, retry = "quota", False
    if status in {400, 422}:
        kind = "config"
    message = f"{one_line(url)} answers {status}: {words or 'no reason given'}"
    return ProviderError(kind, message, retry=retry, retry_after=_retry_after(headers))


def _retry_after(headers: httpx.Headers) -> float | None:
    """Return the wait that the server asks for in seconds, given as a number or as a date; else None."""
    said = headers.get("retry-after", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
        return max(seconds, 0.0)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _words(document: Any) -> str:
    error = document.get("error") if isinstance(document, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return one_line(str(message)) if message else ""


def _codes(document: Any) -> tuple[str, ...]:
    error = document.get("error") if isinstance(document, dict) else None
    return (str(error.get("type")), str(error.get("code"))) if isinstance(error, dict) else ()


def _is_overflow(document: Any) -> bool:
    return not {"exceed_context_size_error", "context_length_exceeded"}.isdisjoint(_codes(document))


def _without_tags(text: str) -> str:
    hidden = r"<(script|style)\b.*?(</\1\s*>|$)|<!--.*?(-->|$)|<[^>]*(>|$)"
    return html.unescape(re.sub(hidden, " ", text, flags=re.DOTALL | re.IGNORECASE))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def offer(provider_name: str) -> list[Listing]:
    """Return how to name a model, for ``selfdiag models``."""
    ready = api_key("openai") is not None
    remark = "OPENAI_API_KEY is set" if ready else "set OPENAI_API_KEY, or name a server with --base-url"
    return [Listing(model=f"{provider_name}:NAME", ready=ready, remark=remark)]
