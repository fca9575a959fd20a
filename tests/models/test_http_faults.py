"""The same fault has the same name on httpx's own transport and on aiohttp's."""

import asyncio
import functools
import gc
import socket
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from http_stub import CERTIFICATE, Answer, Stub, as_json, completion

from selfdiag.models import http
from selfdiag.models.address import proxy_applies
from selfdiag.models.base import ProviderError
from selfdiag.models.http import Response, Wire, fault_of, open_client
from selfdiag.safety import SelfdiagError

BODY = completion().body
LINES = (b'{"n": 1}\n', b'{"n": 2}\n', b'{"n": 3}\n', b'{"n": 4}\n')

_tls_context = functools.cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def one_tls_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the certificates once: that takes longest of all."""
    monkeypatch.setattr(ssl, "create_default_context", _tls_context)


@pytest.fixture(autouse=True, params=["httpx", "aiohttp"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make every client use this transport."""
    forced = functools.partial(open_client, proxied=request.param == "httpx")
    monkeypatch.setattr(http, "open_client", forced)
    return str(request.param)


async def posted(url: str, patience: float = 10.0) -> Response:
    async with asyncio.timeout(30), Wire(url, {}, patience) as wire:
        return await wire.post("/chat", {"a": 1})


async def told(url: str, patience: float = 10.0) -> ProviderError:
    outside = sys.exception()
    with pytest.raises(ProviderError) as caught:
        await posted(url, patience)
    assert type(caught.value) is ProviderError
    assert caught.value.__cause__ is None
    assert not isinstance(caught.value.__context__, Exception) or caught.value.__context__ is outside
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    gc.collect()  # what is left open would warn here
    return caught.value


async def streamed(url: str, patience: float = 10.0) -> list[Any]:
    """Return the lines of a stream, and the error that ended it as the last entry."""
    found: list[Any] = []
    try:
        async with (
            asyncio.timeout(30),
            Wire(url, {}, patience) as wire,
            aclosing(wire.lines("/chat", {"a": 1})) as lines,
        ):
            async for line in lines:
                found.append(line)  # noqa: PERF401 - what came before an error counts
    except ProviderError as error:
        found.append(error)
    return found


async def test_requests_say_the_same(transport: str) -> None:
    with Stub(as_json({"ok": 1}, headers={"X-Said": "yes"})) as stub:
        async with Wire(stub.url, {"X-Key": "abc"}, 10.0) as wire:
            reply = await wire.post("/chat", {"a": "ü"})
            again = await wire.get("/models")
    assert (reply.status, reply.body, reply.headers["x-said"]) == (200, b'{"ok": 1}', "yes")
    assert again.status == 200
    first, second = stub.requests
    assert (first.method, first.target, first.json()) == ("POST", "/v1/chat", {"a": "ü"})
    assert (second.method, second.target, second.body) == ("GET", "/v1/models", b"")
    for request in stub.requests:
        assert request.headers["accept-encoding"] == "identity"
        assert request.headers["x-key"] == "abc"
        assert "cookie" not in request.headers


@pytest.mark.parametrize("fault", ["reset", "close", "half", "half_reset", "garbage", "headers"])
async def test_a_broken_reply_may_be_asked_for_again(fault: Any) -> None:
    with Stub(Answer(body=BODY, fault=fault)) as stub:
        error = await told(stub.url)
    assert (error.kind, error.retry) == ("provider", True)
    assert str(error).startswith(f"{stub.url} broke off (")
    assert "()" not in str(error)


async def test_a_chunked_reply_without_its_end_is_broken() -> None:
    with Stub(Answer(chunks=LINES, fault="half")) as stub:
        error = await told(stub.url)
    assert (error.kind, error.retry) == ("provider", True)


@pytest.mark.parametrize("fault", ["silent", "stall", "drip"])
async def test_patience_ends(fault: Any) -> None:
    with Stub(Answer(body=BODY, fault=fault)) as stub:
        error = await told(stub.url, 0.2)
    assert (error.kind, error.retry) == ("timeout", True)
    assert str(error) == f"{stub.url} did not answer in time"


async def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        error = await told(url)
    assert (error.kind, error.retry) == ("unreachable", True)
    assert str(error).startswith(f"no server answers at {url} (")


async def test_a_name_that_nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    error = await told("http://nowhere.invalid/v1")
    assert (error.kind, error.retry) == ("unreachable", True)
    assert "Name or service not known" in str(error)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a full queue refuses")
async def test_a_host_that_takes_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "CONNECT_TIMEOUT", 0.2)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        error = await told(f"http://127.0.0.1:{full.getsockname()[1]}/v1")
        for client in waiting:
            client.close()
    assert (error.kind, error.retry) == ("unreachable", True)
    assert "cancel" not in str(error).lower()


async def test_API_50_a_certificate_of_its_own_making(monkeypatch: pytest.MonkeyPatch) -> None:
    with Stub(completion(), tls=True) as stub:
        error = await told(stub.url)
        assert (error.kind, error.retry) == ("unreachable", False)
        assert str(error).startswith(f"the certificate of {stub.url} cannot be trusted (")
        assert "SSL_CERT_FILE" in str(error)
        assert stub.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert (await posted(stub.url)).status == 200


async def test_API_50_certificates_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent/ca.pem")
    with pytest.raises(SelfdiagError, match=r"^the certificates set in the environment .*SSL_CERT_FILE") as caught:
        async with Wire("https://model.invalid/v1", {}, 1.0):
            pass
    assert caught.value.exit_code == 3


async def test_a_packed_reply_is_left_packed() -> None:
    with Stub(Answer(body=b"plain", headers={"Content-Encoding": "gzip"})) as stub:
        error = await told(stub.url)
    assert (error.kind, error.retry) == ("provider", False)
    assert str(error) == f"{stub.url} sent a packed reply (gzip)"


async def test_an_endless_reply_is_left() -> None:
    with Stub(Answer(fault="endless")) as stub:
        error = await told(stub.url)
        (line,) = await streamed(stub.url)
    for fault in (error, line):
        assert (fault.kind, fault.retry) == ("provider", False)
        assert str(fault) == f"{stub.url} sent more than 20 MB for one reply"


async def test_lines_come_as_they_are_sent() -> None:
    parts = (b'{"n"', b": 1}\n\n", b'{"n": 2}\n{"n', b'": 3}')
    with Stub(Answer(chunks=parts)) as stub:
        assert await streamed(stub.url) == [b'{"n": 1}', b"", b'{"n": 2}', b'{"n": 3}']


async def test_lines_of_an_open_stream_come_at_once() -> None:
    with Stub(Answer(chunks=LINES, fault="stall")) as stub:
        *lines, error = await streamed(stub.url, 0.3)
    assert lines == [b'{"n": 1}', b'{"n": 2}']
    assert (error.kind, error.retry) == ("timeout", True)


@pytest.mark.parametrize("fault", ["half", "half_reset"])
async def test_a_stream_cut_before_its_end_is_told(fault: Any) -> None:
    with Stub(Answer(chunks=LINES, fault=fault)) as stub:
        *lines, error = await streamed(stub.url)
    assert lines in ([b'{"n": 1}', b'{"n": 2}'], [])  # a reset may overtake them
    assert (error.kind, error.retry) == ("provider", True)
    assert " broke off (" in str(error)


async def test_the_end_of_a_stream_without_a_length_cannot_be_told() -> None:
    with Stub(Answer(body=b"one\ntw", fault="untold")) as stub:
        assert await streamed(stub.url) == [b"one", b"tw"]


async def test_a_stream_that_is_refused_is_one_reply() -> None:
    with Stub(as_json({"error": "a\nb"}, status=404)) as stub:
        (reply,) = await streamed(stub.url)
    assert (reply.status, reply.body) == (404, b'{"error": "a\\nb"}')


@asynccontextmanager
async def under_way(stub: Stub, wire: Wire) -> AsyncIterator[asyncio.Task[Response]]:
    task = asyncio.create_task(wire.post("/chat", {}))
    assert await asyncio.to_thread(stub.asked.wait, 10)
    yield task


@pytest.mark.parametrize("fault", ["silent", "stall"])
async def test_a_cancelled_call_hangs_up_at_once(fault: Any) -> None:
    with Stub(Answer(body=BODY, fault=fault)) as stub:
        async with Wire(stub.url, {}, 30.0) as wire, under_way(stub, wire) as task:
            await asyncio.sleep(0.05)  # let the beginning of a stalled reply arrive
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(stub.hung_up.wait, 1.0)


async def test_leaving_a_stream_hangs_up_at_once() -> None:
    with Stub(Answer(chunks=LINES, fault="stall")) as stub:
        async with Wire(stub.url, {}, 30.0) as wire:
            async with aclosing(wire.lines("/chat", {})) as lines:
                assert await anext(lines) == b'{"n": 1}'
            assert await asyncio.to_thread(stub.hung_up.wait, 1.0)


async def test_a_call_that_ran_out_of_time_hangs_up_at_once() -> None:
    with Stub(Answer(fault="silent")) as stub:
        async with Wire(stub.url, {}, 0.1) as wire:
            with pytest.raises(ProviderError):
                await wire.post("/chat", {})
            assert await asyncio.to_thread(stub.hung_up.wait, 1.0)


async def test_leaving_closes_everything(monkeypatch: pytest.MonkeyPatch, transport: str) -> None:
    opened = []

    def noted(*words: Any, **named: Any) -> Any:
        opened.append(open_client(*words, **named, proxied=transport == "httpx"))
        return opened[-1]

    monkeypatch.setattr(http, "open_client", noted)
    with Stub(completion()) as stub:
        await posted(stub.url)
    (client,) = opened
    assert client.is_closed
    if transport == "aiohttp":
        assert vars(client._transport)["client"].closed


async def test_what_went_wrong_before_is_not_the_reason() -> None:
    with Stub(Answer(body=BODY, fault="half")) as stub:
        try:
            raise ssl.SSLCertVerificationError("an earlier one")
        except ssl.SSLError:
            error = await told(stub.url)
    assert (error.kind, error.retry) == ("provider", True)
    assert "earlier" not in str(error)


def test_our_own_errors_pass() -> None:
    for mine in (ProviderError("quota", "x"), SelfdiagError("y")):
        assert fault_of(mine, "http://h") is mine


@pytest.mark.parametrize("strange", [ValueError("odd"), UnicodeDecodeError("ascii", b"\xff", 0, 1, "odd"), Exception()])
def test_exceptions_that_nobody_expects_have_a_name_too(strange: Exception) -> None:
    fault = fault_of(strange, "http://h")
    assert isinstance(fault, ProviderError)
    assert (fault.kind, fault.retry) == ("provider", True)
    assert str(fault).startswith("http://h broke off (")
    assert "odd" in str(fault) or "Exception" in str(fault)


@pytest.mark.parametrize(
    ("url", "variables", "applies"),
    [
        ("http://model.invalid/v1", {"HTTP_PROXY": "http://p:1"}, True),
        ("https://model.invalid/v1", {"HTTP_PROXY": "http://p:1"}, False),
        ("https://model.invalid/v1", {"ALL_PROXY": "http://p:1"}, True),
        ("http://model.invalid/v1", {"http_proxy": "http://p:1", "NO_PROXY": "model.invalid"}, False),
        ("http://127.0.0.1:1/v1", {"HTTP_PROXY": "http://p:1"}, False),
        ("http://localhost:1/v1", {"ALL_PROXY": "http://p:1"}, False),
        ("http://model.invalid/v1", {}, False),
    ],
)
def test_where_a_proxy_applies(
    monkeypatch: pytest.MonkeyPatch, url: str, variables: dict[str, str], applies: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_applies(url) is applies


async def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "open_client", open_client)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{taken.getsockname()[1]}")
        error = await told("http://model.invalid/v1")
    assert (error.kind, error.retry) == ("unreachable", True)
    assert "no server answers at http://model.invalid/v1 through the proxy of HTTP_PROXY (" in str(error)
