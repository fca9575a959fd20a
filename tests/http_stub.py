"""A chat-completions server on loopback that answers, or misbehaves, as each test scripts it."""

from __future__ import annotations

import json
import select
import socket
import socketserver
import ssl
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

Fault = Literal[
    "", "reset", "close", "half", "half_reset", "garbage", "headers", "drip", "endless", "silent", "stall", "untold"
]

CERTIFICATE = Path(__file__).parent / "data" / "self_signed.pem"
"""A certificate for 127.0.0.1 that nobody vouches for, with its key."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What one request gets.

    ``chunks`` are sent as a chunked body, in place of ``body``. ``fault`` breaks the answer: ``reset`` and ``close``
    end the connection without a byte, ``half`` and ``half_reset`` in the middle of the body, ``garbage`` sends no
    HTTP at all, ``headers`` one header line without end, ``drip`` sends the head and then one space at a time,
    ``endless`` never stops sending, ``silent`` never begins, ``stall`` falls silent in the middle of the body,
    ``untold`` says nothing of a length and ends the body by hanging up.
    """

    status: int = 200
    headers: dict[str, str] = {}
    body: bytes = b""
    chunks: tuple[bytes, ...] = ()
    fault: Fault = ""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a client sent: header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Stub:
    """The server; ``with`` starts and stops it. The last answer of the script is given again and again.

    With ``decide`` there is no script: it is called with each request, and returns the answer.
    ``hung_up`` is set when a client leaves a connection on which the server was ``silent`` or had come to a ``stall``.
    With ``tls`` it speaks https with a certificate of its own making.
    """

    def __init__(self, *answers: Answer, decide: Callable[[Request], Answer] | None = None, tls: bool = False) -> None:
        self.script = deque(answers)
        self.decide = decide
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self.asked = threading.Event()
        self.hung_up = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stub = self
        if tls:
            self._server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._server.tls.load_cert_chain(CERTIFICATE)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.port: int = self._server.server_address[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}/v1"

    def next_answer(self) -> Answer:
        return self.script.popleft() if len(self.script) > 1 else self.script[0]

    def __enter__(self) -> Stub:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    request_queue_size = 128
    stub: Stub
    tls: ssl.SSLContext | None = None

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        if self.tls is not None:
            # the handshake belongs to the thread of the connection
            connection = self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that has had enough hangs up on purpose here."""


class _Handler(socketserver.StreamRequestHandler):
    timeout = 10.0
    server: _Server

    def handle(self) -> None:
        start = self.rfile.readline().decode("latin-1").split()
        if len(start) < 2:
            return
        headers: dict[str, str] = {}
        while line := self.rfile.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", "0")))
        stub = self.server.stub
        request = Request(method=start[0], target=start[1], headers=headers, body=body)
        stub.requests.append(request)
        answer = stub.decide(request) if stub.decide is not None else stub.next_answer()
        stub.asked.set()
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        if answer.fault == "reset":
            self._reset()
        elif answer.fault == "garbage":
            self.wfile.write(b"\x00\x16 I AM NO WEB SERVER\r\n\r\n")
        elif answer.fault == "headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not self.server.stub.stopping.is_set():
                self.wfile.write(b"x" * 100_000)
        elif answer.fault == "silent":
            self._await_hang_up()
        elif answer.fault != "close":
            self._send_reply(answer)

    def _send_reply(self, answer: Answer) -> None:
        self.wfile.write(_head(answer))
        whole = [b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in answer.chunks] or [answer.body]
        cut = [*whole[: len(whole) // 2], whole[len(whole) // 2][: len(whole[len(whole) // 2]) // 2]]
        if answer.fault in {"half", "half_reset", "stall"}:
            self.wfile.write(b"".join(cut))
            if answer.fault == "half_reset":
                # what was sent must not be overtaken by the reset
                time.sleep(0.05)
                self._reset()
            elif answer.fault == "stall":
                self._await_hang_up()
        elif answer.fault == "endless":
            while not self.server.stub.stopping.is_set():
                self.wfile.write(b" " * 1_000_000)
        elif answer.fault == "drip":
            while not self.server.stub.stopping.wait(0.02):
                self.wfile.write(b" ")
        else:
            for part in [*whole, b"0\r\n\r\n"] if answer.chunks else whole:
                self.wfile.write(part)

    def _reset(self) -> None:
        # closing with a linger of 0 seconds sends RST instead of FIN
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _await_hang_up(self) -> None:
        stub = self.server.stub
        while not stub.stopping.is_set():
            if select.select([self.connection], [], [], 0.02)[0]:
                stub.hung_up.set()
                return


def _head(answer: Answer) -> bytes:
    headers = {"content-type": "application/json", "connection": "close"}
    headers |= {name.lower(): value for name, value in answer.headers.items()}
    if answer.chunks:
        headers["transfer-encoding"] = "chunked"
    elif answer.fault != "untold":
        headers["content-length"] = str(10**9 if answer.fault in {"drip", "endless"} else len(answer.body))
    head = f"HTTP/1.1 {answer.status} Some Words\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return head.encode("latin-1") + b"\r\n"


def as_json(document: object, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """Return an answer whose body is a JSON document."""
    return Answer(status=status, headers=headers or {}, body=json.dumps(document).encode())


def completion(
    message: dict[str, Any] | None = None, *, finish_reason: str | None = "stop", **fields: object
) -> Answer:
    """Return a usual chat completion with one choice; ``fields`` replace or add top-level fields."""
    document: dict[str, Any] = {
        "object": "chat.completion",
        "model": "served-model",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message or {"content": "Paris"}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        **fields,
    }
    return as_json(document)
