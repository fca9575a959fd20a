"""A chat-completions server on loopback that keeps the time itself; a process of its own.

Usage: python benchmarks/stub_server.py [--latency SECONDS] [--slots N]; it prints its port. ``GET /timing`` tells what
was asked since the last ``DELETE /timing``: requests, seconds from the first request's last byte to the last reply's
first, replies a second in the second half, and the most requests at once. With ``--slots`` no more than so many are
answered at once, as an engine would do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
REPLY = json.dumps(
    {
        "id": "stub",
        "object": "chat.completion",
        "created": 1767225600,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": '{"answer": "Paris", "confidence": 80}'},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 120, "completion_tokens": 12, "total_tokens": 132},
    }
).encode()


class Timing:
    """What was asked since the start or the last reset."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.requests = self.at_once = self.most = 0
        self.first = 0.0
        self.answers: list[float] = []

    def asked(self) -> None:
        self.first = self.first or time.perf_counter()
        self.requests += 1
        self.at_once += 1
        self.most = max(self.most, self.at_once)

    def answered(self) -> None:
        self.at_once -= 1
        self.answers.append(time.perf_counter())

    def body(self) -> bytes:
        if len(self.answers) < 2:
            return b"null"
        late = self.answers[len(self.answers) // 2 :]
        seen = {
            "requests": self.requests,
            "seconds": self.answers[-1] - self.first,
            "late_rate": (len(late) - 1) / max(late[-1] - late[0], 1e-9),
            "most": self.most,
        }
        return json.dumps(seen).encode()


class Answering(asyncio.Protocol):
    """One connection: reads a whole request, answers it after its latency and when a slot is free."""

    timing: Timing
    latency: float
    free: int
    waiting: deque[Answering]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, there, body = self.buffer.partition(b"\r\n\r\n")
        if not there:
            return
        length = _LENGTH.search(head)
        if length is not None and len(body) < int(length[1]):
            return
        self.buffer = b""
        method, target = head.split(b" ", 2)[:2]
        if target == b"/timing":
            if method == b"DELETE":
                self.timing.reset()
            self.send(self.timing.body())
        elif method == b"GET":
            self.send(b'{"object": "list", "data": [{"id": "stub", "object": "model"}]}')
        else:
            self.timing.asked()
            self.queue()

    def queue(self) -> None:
        kind = type(self)
        if kind.free <= 0:
            kind.waiting.append(self)
            return
        kind.free -= 1
        if kind.latency > 0:
            asyncio.get_running_loop().call_later(kind.latency, self.answer)
        else:
            self.answer()

    def answer(self) -> None:
        kind = type(self)
        self.timing.answered()
        self.send(REPLY)
        kind.free += 1
        if kind.waiting:
            kind.waiting.popleft().queue()

    def send(self, body: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)


async def serve(latency: float, slots: int) -> None:
    Answering.timing, Answering.latency = Timing(), latency
    Answering.free, Answering.waiting = slots, deque()
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


class Timed(NamedTuple):
    """What the server saw; ``late_rate`` is replies a second in the second half, ``most`` the requests at once."""

    requests: int
    seconds: float
    late_rate: float
    most: int


class StubServer:
    """The running server, seen from the process that measures."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}"
        self.url = f"{self.root}/v1"

    def reset(self) -> None:
        self._ask("DELETE")

    def timed(self) -> Timed:
        return Timed(**json.loads(self._ask("GET")))

    def _ask(self, method: str) -> bytes:
        request = urllib.request.Request(f"{self.root}/timing", method=method)  # noqa: S310 - loopback, our own server
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            body: bytes = answer.read()
        return body


@contextmanager
def stub_server(*, latency: float = 0.0, slots: int = 10_000) -> Iterator[StubServer]:
    """Start the server in a process of its own and yield it."""
    words = [sys.executable, str(Path(__file__)), "--latency", str(latency), "--slots", str(slots)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield StubServer(int(process.stdout.readline()))
        finally:
            process.terminate()


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--latency", type=float, default=0.0)
    options.add_argument("--slots", type=int, default=10_000)
    chosen = options.parse_args()
    asyncio.run(serve(chosen.latency, chosen.slots))
