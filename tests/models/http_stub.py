"""A chat-completions server on loopback that answers, or misbehaves, as each test scripts it."""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import threading
from collections import deque
from typing import Any, Literal

import msgspec

Fault = Literal["", "reset", "close", "half", "garbage", "drip", "endless", "silent"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What one request gets.

    ``fault`` breaks it: ``reset`` and ``close`` end the connection without a byte, ``half`` in the middle of
    the body, ``garbage`` sends no HTTP at all, ``drip`` sends the head and then one space at a time,
    ``endless`` never stops sending, ``silent`` never begins.
    """

    status: int = 200
    headers: dict[str, str] = {}
    body: bytes = b""
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
    """The server; ``with`` starts and stops it. The last answer of the script is given again and again."""

    def __init__(self, *answers: Answer) -> None:
        self.script = deque(answers)
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"

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

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that has had enough hangs up on purpose here."""


class _Handler(socketserver.StreamRequestHandler):
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
        stub.requests.append(Request(method=start[0], target=start[1], headers=headers, body=body))
        self._send(stub.next_answer())

    def _send(self, answer: Answer) -> None:
        if answer.fault == "reset":
            # closing with a linger of 0 seconds sends RST instead of FIN
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif answer.fault == "garbage":
            self.wfile.write(b"\x00\x16 I AM NO WEB SERVER\r\n\r\n")
        elif answer.fault == "silent":
            self.server.stub.stopping.wait(30)
        elif answer.fault != "close":
            self._send_reply(answer)

    def _send_reply(self, answer: Answer) -> None:
        open_ended = answer.fault in {"drip", "endless"}
        headers = {"Content-Type": "application/json", "Connection": "close", **answer.headers}
        headers["Content-Length"] = str(10**9 if open_ended else len(answer.body))
        head = f"HTTP/1.1 {answer.status} Some Words\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.wfile.write(head.encode("latin-1") + b"\r\n")
        if answer.fault == "half":
            self.wfile.write(answer.body[: len(answer.body) // 2])
        elif answer.fault == "endless":
            while not self.server.stub.stopping.is_set():
                self.wfile.write(b" " * 1_000_000)
        elif answer.fault == "drip":
            while not self.server.stub.stopping.wait(0.02):
                self.wfile.write(b" ")
        else:
            self.wfile.write(answer.body)


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
