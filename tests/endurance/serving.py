"""A chat server on loopback whose reply follows from the prompt alone, and which fails as it is told to."""

from __future__ import annotations

import asyncio
import json
import math
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from random import Random
from typing import Any

from selfdiag.battery.load import shipped
from selfdiag.models.base import Call, ProviderOptions
from selfdiag.models.persona import provider
from selfdiag.runs.turns import WARM_UP_QUESTION
from tests.http_stub import Answer, as_json

LATENCY = (0.01, 0.03)
ODD_REPLIES = ("I would say it is seven.", "I'm sorry, but I can't help with that.", "")
"""Replies without the form that is asked for; one in thirty is of them."""
PIECE, PAUSE = b" ", 0.02
"""What a reply that never ends consists of, and the seconds between two pieces."""

Decide = Callable[[Answer], Answer]


def sound(answer: Answer) -> Answer:
    """Answer as one should."""
    return answer


class ModelServer:
    """A persona behind a chat-completions address, in a thread of its own; connections are kept open.

    ``requests`` counts all requests and ``asked`` those for a planned call, of which no more than ``most`` are
    answered: the others wait until it is raised. ``answered`` holds the user turn of every one whose reply was sent
    whole and sound.

    Args:
        decide: gets the sound answer to a request and returns what is sent; may be replaced at any time.
        seed: of the latency.
        padding: so many characters of reasoning come with every reply.
    """

    def __init__(self, *, decide: Decide = sound, seed: int = 0, padding: int = 0) -> None:
        self.decide = decide
        self.requests = self.asked = 0
        self.most = math.inf
        self.answered: list[str] = []
        self.latency = LATENCY
        self._padding = padding
        self._random = Random(f"latency {seed}")
        self._persona = provider("calibrated", ProviderOptions(battery=shipped()))
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.url = ""

    def __enter__(self) -> ModelServer:
        self._server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        connections = asyncio.all_tasks() - {asyncio.current_task()}
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone, as a killed one does, or this server closes
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request and return whether another may follow."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("\r\ncontent-length:")[2].split("\r\n")[0])
        body = json.loads(await reader.readexactly(length))
        system, user = (message["content"] for message in body["messages"])
        planned = user != WARM_UP_QUESTION
        self.requests += 1
        self.asked += planned
        number = self.asked
        whole = await self._completion(system, user)
        sent = self.decide(whole)
        await asyncio.sleep(self._random.uniform(*self.latency))
        while planned and number > self.most:
            await asyncio.sleep(PAUSE)
        await _send(writer, sent)
        packed = any(name.lower() == "content-encoding" for name in sent.headers)
        if planned and sent.body == whole.body and sent.status == 200 and not (sent.fault or packed):
            self.answered.append(user)
        return not sent.fault

    async def _completion(self, system: str, user: str) -> Answer:
        kind = int(sha256(user.encode()).hexdigest(), 16) % (30 * len(ODD_REPLIES))
        said = await self._persona.ask(Call(system=system, user=user))
        text = said.text if kind >= len(ODD_REPLIES) else ODD_REPLIES[kind]
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if self._padding:
            message["reasoning_content"] = "so " * (self._padding // 3)
        usage = {"prompt_tokens": said.prompt_tokens, "completion_tokens": said.completion_tokens}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return as_json({"object": "chat.completion", "model": "stub", "choices": [choice], "usage": usage})


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
    fault = answer.fault
    if fault == "garbage":
        writer.write(b"\x00\x16 no web server\r\n\r\n")
    elif fault in {"close", "reset"}:
        pass
    elif fault == "silent":
        await _wait_for_hang_up(writer, b"")
    else:
        unended = fault in {"drip", "stall"}
        headers = {"content-type": "application/json", "content-length": str(10**9 if unended else len(answer.body))}
        headers |= {name.lower(): value for name, value in answer.headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {answer.status} Some Words\r\n{lines}\r\n".encode("latin-1"))
        writer.write(answer.body[: len(answer.body) // 2] if fault else answer.body)
        if unended:
            await _wait_for_hang_up(writer, PIECE if fault == "drip" else b"")
    await writer.drain()
    if fault in {"reset", "half_reset"}:
        await asyncio.sleep(PAUSE if fault == "half_reset" else 0)  # what was sent must not be overtaken
        with suppress(OSError):
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


async def _wait_for_hang_up(writer: asyncio.StreamWriter, piece: bytes) -> None:
    """Send the same piece again and again, or nothing, until the client has gone."""
    while not writer.is_closing():
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(PAUSE)
