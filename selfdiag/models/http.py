"""Speaking HTTP with a model's server: bounded, patient, and with one name for each way it can fail."""

from __future__ import annotations

import os
import ssl
import sys
from asyncio import timeout as time_limit
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

import httpx
import msgspec

from selfdiag.models.address import proxy_applies
from selfdiag.models.base import ProviderError
from selfdiag.safety import SelfdiagError, one_line

MAX_BODY_BYTES = 20_000_000
CONNECT_TIMEOUT = 10.0
CONNECTIONS = 256
"""As many as there can be calls at once: a call that waited for a connection would look like a slow server."""


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """What a server sent: header names in lower case, the body as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """Connections to one server; ``async with`` opens and closes them.

    ``timeout`` is the longest wait in seconds: for a whole reply, or for the next piece of a stream. Calls to this
    very machine never go through a proxy. Where no proxy applies they go through aiohttp, which is several times
    faster than httpx's own transport.
    """

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float) -> None:
        self._url = url
        self._patience = timeout
        # a few packed bytes can hold gigabytes, so replies come as they are
        self._headers = {"Accept-Encoding": "identity", **headers}
        self._client: httpx.AsyncClient | None = None
        self._addresses: dict[str, httpx.URL] = {}

    async def __aenter__(self) -> Wire:
        self._client = open_client(self._url, self._headers, self._patience, straight=True)
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def post(self, path: str, body: Any) -> Response:
        """Send a JSON document to a path below the address, and return the whole reply.

        Raises:
            ProviderError: when no complete reply came.
        """
        return await self._whole(self._request("POST", path, body))

    async def get(self, path: str) -> Response:
        """Return the whole reply to a request without a body; errors are those of ``post``."""
        return await self._whole(self._request("GET", path))

    async def lines(self, path: str, body: Any) -> AsyncGenerator[bytes | Response, None]:
        """Send a JSON document and yield the lines of the reply as they come, without their line feeds.

        A reply whose status is not 200 is yielded whole, as a ``Response``, and ends the stream. A server that gives
        neither a length nor chunks can end early unnoticed: what is complete shows only in the lines themselves.

        Raises:
            ProviderError: when the connection fails, ends early, or is silent for longer than the timeout.
        """
        request = self._request("POST", path, body)
        outside = sys.exception()
        try:
            async with request as response:
                if response.status_code != 200:
                    yield await self._read(response)
                    return
                rest = bytearray()
                async with aclosing(self._parts(response)) as parts:
                    async for part in parts:
                        rest += part
                        if b"\n" in part:
                            *whole, rest = rest.split(b"\n")
                            for line in whole:
                                yield bytes(line)
                if rest:
                    yield bytes(rest)
                return
        except Exception as error:  # noqa: BLE001 - the transports let exceptions of several libraries through
            fault = fault_of(error, self._url, outside)
        # not from within the handler: what was caught may hold the request's headers, and with them the key
        raise fault

    @asynccontextmanager
    async def _request(self, method: str, path: str, body: Any = None) -> AsyncGenerator[httpx.Response, None]:
        assert self._client is not None, "enter the provider before asking"  # noqa: S101
        # made here and not by the client, which would take every address and header apart again for every call
        address = self._addresses.get(path)
        if address is None:
            address = self._addresses[path] = httpx.URL(f"{self._url}{path}")
        headers = self._client.headers
        content = None
        if body is not None:
            headers = httpx.Headers([*headers.raw, (b"Content-Type", b"application/json")])
            content = msgspec.json.encode(body)
        patience = {"timeout": self._client.timeout.as_dict()}
        request = httpx.Request(method, address, headers=headers, content=content, extensions=patience)
        response = await self._client.send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    async def _whole(self, request: AbstractAsyncContextManager[httpx.Response]) -> Response:
        outside = sys.exception()
        try:
            # each read alone is limited too, but a server that drips a byte at a time would pass every one of them
            async with time_limit(self._patience), request as response:
                return await self._read(response)
        except Exception as error:  # noqa: BLE001 - as above
            fault = fault_of(error, self._url, outside)
        raise fault

    async def _read(self, response: httpx.Response) -> Response:
        body = b"".join([part async for part in self._parts(response)])
        return Response(status=response.status_code, headers=response.headers, body=body)

    async def _parts(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        packed = response.headers.get("content-encoding", "identity").strip().lower()
        if packed not in {"", "identity"}:
            raise ProviderError("provider", f"{one_line(self._url)} sent a packed reply ({one_line(packed, 40)})")
        size = 0
        async for part in response.aiter_raw():
            size += len(part)
            if size > MAX_BODY_BYTES:
                raise ProviderError("provider", f"{one_line(self._url)} sent more than 20 MB for one reply")
            yield part


class _DirectClient(httpx.AsyncClient):
    """A client that hands requests to its transport as they are: it follows nothing, and keeps no cookie.

    What httpx does besides takes as long as everything that aiohttp does.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport, headers: Mapping[str, str], timeout: httpx.Timeout) -> None:
        super().__init__(transport=transport, headers=dict(headers), timeout=timeout, trust_env=False)
        self._straight = transport

    async def send(self, request: httpx.Request, *, stream: bool = False, **_: Any) -> httpx.Response:
        """Return the response to a request, read where it is not to be streamed."""
        response = await self._straight.handle_async_request(request)
        if not stream:
            await response.aread()
        return response


def open_client(
    url: str, headers: Mapping[str, str], timeout: float, *, proxied: bool | None = None, straight: bool = False
) -> httpx.AsyncClient:
    """Return a client for one server; ``proxied`` overrides whether a proxy of the environment applies.

    With ``straight``, where no proxy applies, a request goes to the transport as it is: no redirect, no cookie.

    Raises:
        SelfdiagError: when a proxy or a certificate of the environment cannot be used.
    """
    through_proxy = proxy_applies(url) if proxied is None else proxied
    limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
    patience = httpx.Timeout(timeout, connect=min(CONNECT_TIMEOUT, timeout))
    try:
        if straight and not through_proxy:
            return _DirectClient(_direct(url, limits), headers, patience)
        return httpx.AsyncClient(
            headers=dict(headers),
            timeout=patience,
            trust_env=through_proxy,
            limits=limits,
            transport=None if through_proxy else _direct(url, limits),
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        # what is wrong with an address may be told with a part of its password
        reason = "it is no address" if isinstance(error, httpx.InvalidURL) else one_line(str(error), 120)
        raise SelfdiagError(
            f"the proxy set in the environment cannot be used ({reason}): "
            "correct or unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY",
            exit_code=3,
        ) from None
    except OSError as error:
        raise SelfdiagError(
            f"the certificates set in the environment cannot be used ({one_line(str(error), 120)}): "
            "correct or unset SSL_CERT_FILE, SSL_CERT_DIR and SSLKEYLOGFILE",
            exit_code=3,
        ) from None


def _direct(url: str, limits: httpx.Limits) -> httpx.AsyncBaseTransport:
    from httpx_aiohttp import AiohttpTransport

    # reading every authority's certificate takes a while; where nothing is encrypted none is needed, and none trusted
    verify = url.lower().startswith("https:") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # here trust_env concerns certificates alone
    return AiohttpTransport(verify=verify, limits=limits, trust_env=True)


def fault_of(error: Exception, url: str, outside: BaseException | None = None) -> Exception:
    """Return whatever a transport raises as a ``ProviderError`` of the right kind, and our own errors as they are.

    It is ``unreachable`` when no connection could be made, ``timeout`` when one fell silent, and ``provider`` when it
    broke; all of them but an untrusted certificate may heal. No library's exception type decides alone, because the
    same fault has other types on other transports.

    Args:
        error: what was raised.
        url: the address it was raised for.
        outside: what was being handled when the call began; it is no cause of anything.
    """
    if isinstance(error, ProviderError | SelfdiagError):
        return error
    import aiohttp

    def found(*kinds: type[BaseException]) -> bool:
        return any(isinstance(link, kinds) for link in links)

    place = one_line(url)
    links = list(_chain(error, outside))
    if found(aiohttp.ClientError):
        # httpx's name for it is a guess: a reset connection is a ConnectTimeout there
        links = [link for link in links if not isinstance(link, httpx.HTTPError)]
    reason = one_line(_reason(links), 120)
    if found(ssl.SSLCertVerificationError):
        advice = "SSL_CERT_FILE can name the authority that signed it"
        return ProviderError("unreachable", f"the certificate of {place} cannot be trusted ({reason}): {advice}")
    if found(
        httpx.ConnectError,
        httpx.ConnectTimeout,
        httpx.ProxyError,
        aiohttp.ClientConnectorError,
        aiohttp.ConnectionTimeoutError,
    ):
        through = f" through the proxy of {_proxy_variables()}" if proxy_applies(url) else ""
        return ProviderError("unreachable", f"no server answers at {place}{through} ({reason})", retry=True)
    if found(httpx.TimeoutException, TimeoutError):
        return ProviderError("timeout", f"{place} did not answer in time", retry=True)
    return ProviderError("provider", f"{place} broke off ({reason})", retry=True)


def _chain(error: BaseException, outside: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and what it came from, down to the first; not what was being handled before."""
    link: BaseException | None = error
    while link is not None and link is not outside:
        yield link
        # httpcore hides causes, and leaves them as contexts
        link = link.__cause__ or link.__context__


def _reason(links: list[BaseException]) -> str:
    """Return what the innermost exception that says anything says."""
    telling = [link for link in links if isinstance(link, Exception) and str(link)]
    if not telling:
        return "no connection in time" if isinstance(links[0], httpx.TimeoutException) else type(links[0]).__name__
    # aiohttp writes a status of its own before its words, as if the server had sent it
    return str(getattr(telling[-1], "message", "") or telling[-1])


def _proxy_variables() -> str:
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    found = [name for name in names if os.environ.get(name) or os.environ.get(name.lower())]
    return " and ".join(found) or "this system"
