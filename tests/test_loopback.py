"""Nothing but this machine can reach selfdiag, and a key reaches nobody but the server it was given for."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from http_stub import CERTIFICATE, Answer, Request, Stub, as_json, completion

CANARY = "canary-5f1e0c77b2"
LISTENING = "0A"
"""The state of a socket that waits for connections, in the words of /proc/net/tcp."""
KEYS = ("OPENAI", "ANTHROPIC", "GEMINI", "OLLAMA")
ALL_KEYS = {f"{prefix}{name}_API_KEY": CANARY for prefix in ("", "SELFDIAG_") for name in KEYS}

linux = pytest.mark.skipif(sys.platform != "linux", reason="sockets are read from /proc")


def listening(process: int) -> list[str]:
    """Return the addresses at which a process waits for connections, as in ``127.0.0.1:8642``."""
    inodes = set()
    for link in Path(f"/proc/{process}/fd").iterdir():
        try:
            inodes.add(str(link.readlink()).removeprefix("socket:[").removesuffix("]"))
        except OSError:  # it was closed meanwhile
            continue
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENING and words[9] in inodes:
                host, port = words[1].split(":")
                raw = b"".join(bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8))
                family = socket.AF_INET if table == "tcp" else socket.AF_INET6
                found.append(f"{socket.inet_ntop(family, raw)}:{int(port, 16)}")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    port = free_port()
    command = [sys.executable, "-m", "selfdiag", "serve", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"http://127.0.0.1:{port}\n"
        _wait_for(port)  # the address is told first
        yield process, port
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def _wait_for(port: int) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port} after half a minute")


def asked_as(port: int, **headers: str) -> int:
    """Return the status of the page, asked for under other names."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers=headers)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@linux
def test_the_browser_app_listens_on_loopback_alone(served: tuple[subprocess.Popen[str], int]) -> None:
    process, port = served
    status = asked_as(port)
    assert status == 200
    assert listening(process.pid) == [f"127.0.0.1:{port}"]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.2:{port}"):
        assert asked_as(port, Host=host) == 403, host
    assert asked_as(port, Origin="http://evil.example") == 403
    assert asked_as(port, Origin=f"http://localhost:{port}") == 200


@linux
def test_a_run_listens_nowhere(tmp_path: Path) -> None:
    ports: list[list[str]] = []
    children: list[subprocess.Popen[bytes]] = []

    def answer(_: Request) -> Answer:
        ports.append(listening(children[0].pid))
        return completion({"content": '{"answer": "x", "confidence": 50}'})

    with Stub(decide=answer) as stub:
        words = ["run", "openai:m", "--base-url", stub.url, "--limit", "2", "--structured", "off", "--out", "run"]
        command = [sys.executable, "-m", "selfdiag", *words]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path) as child:
            children.append(child)
            assert child.wait(60) == 0
    assert len(ports) >= 4
    assert all(found == [] for found in ports)


def address_of(stub: Stub, provider: str) -> str:
    return stub.url.removesuffix("/v1") if provider in {"ollama", "gemini"} else stub.url


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
def test_no_redirect_takes_a_call_or_a_key_elsewhere(selfdiag: Any, provider: str, status: int) -> None:
    with Stub(completion()) as elsewhere:

        def away(request: Request) -> Answer:
            return Answer(status=status, headers={"Location": f"http://localhost:{elsewhere.port}{request.target}"})

        with Stub(decide=away) as server:
            words = ("run", f"{provider}:m", "--base-url", address_of(server, provider), "--max-retries", "0")
            done = selfdiag(*words, "--limit", "1", **ALL_KEYS)
            assert server.requests
            if provider == "ollama":
                selfdiag("models", "--provider", "ollama", OLLAMA_HOST=f"127.0.0.1:{server.port}", **ALL_KEYS)
        assert done.returncode in {3, 4}
        assert f"{status}" in done.stderr
        assert done.stderr.count(CANARY) == 0
    assert elsewhere.requests == []


def test_no_redirect_takes_a_key_out_of_encryption(selfdiag: Any) -> None:
    with Stub(completion()) as plain:
        away = Answer(status=307, headers={"Location": f"{plain.url}/chat/completions"})
        with Stub(away, tls=True) as server:
            words = ("run", "openai:m", "--base-url", server.url, "--limit", "1", "--max-retries", "0")
            done = selfdiag(*words, SSL_CERT_FILE=str(CERTIFICATE), **ALL_KEYS)
            assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {CANARY}"}
        assert done.returncode in {3, 4}
    assert plain.requests == []


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
def test_another_server_gets_the_key_of_servers_and_no_other(selfdiag: Any, provider: str) -> None:
    others = {name: f"other-{number}-key" for number, name in enumerate(ALL_KEYS)}
    name = f"SELFDIAG_{provider.upper()}_API_KEY"
    with Stub(as_json({"error": {"message": "no"}}, 400)) as server:
        words = (
            "run",
            f"{provider}:m",
            "--base-url",
            address_of(server, provider),
            "--limit",
            "1",
            "--max-retries",
            "0",
        )
        selfdiag(*words, **{**others, name: CANARY})
        sent = [f"{request.target} {request.headers} {request.body!r}" for request in server.requests]
    assert sent
    assert any(CANARY in text for text in sent)
    assert not any("other-" in text for text in sent)


def test_an_address_without_encryption_is_asked_as_it_is_written(selfdiag: Any) -> None:
    with Stub(as_json({"error": {"message": "no"}}, 400)) as proxy:
        words = ("run", "openai:m", "--limit", "1", "--max-retries", "0", "--base-url")
        through = {"HTTP_PROXY": f"http://127.0.0.1:{proxy.port}", "HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"}
        done = selfdiag(*words, "http://far.invalid", **through, **ALL_KEYS)
        plain, proxy.requests = proxy.requests, []
        selfdiag(*words, "https://far.invalid", **through, **ALL_KEYS)
        encrypted = proxy.requests
    assert "every question goes to far.invalid" in done.stderr
    assert {request.target for request in plain} == {"http://far.invalid/v1/chat/completions"}
    assert {request.headers.get("authorization") for request in plain} == {f"Bearer {CANARY}"}
    # the proxy learns which host, and nothing else
    assert {(request.method, request.target) for request in encrypted} == {("CONNECT", "far.invalid:443")}
    assert CANARY not in str(encrypted)


def test_a_call_to_this_machine_goes_through_no_proxy(selfdiag: Any) -> None:
    with Stub(completion()) as proxy, Stub(as_json({"error": {"message": "no"}}, 400)) as server:
        through = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), f"http://127.0.0.1:{proxy.port}")
        selfdiag("run", "openai:m", "--limit", "1", "--base-url", server.url, **through, **ALL_KEYS)
        assert server.requests
    assert proxy.requests == []
