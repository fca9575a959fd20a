"""Reading a streamed chat reply of Ollama, line by line, until it is whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from selfdiag.models.base import ProviderError, Token, clipped
from selfdiag.models.http import Response
from selfdiag.models.json_values import count, mapping, parsed
from selfdiag.models.reply_tokens import spelling_tokens
from selfdiag.models.server_words import excerpt
from selfdiag.safety import one_line

MAX_BLANK = 256
"""White space in a row, in characters, after which a reply is taken to be stuck: some models, held to JSON, emit
line feeds until their limit."""
_PAGE_LINES = 40
"""How much of something that is no JSON is read, to say what it is."""


class Streamed(msgspec.Struct, frozen=True, kw_only=True):
    """A whole reply: text and thoughts apart, why it ended, and the counts as far as the server gives them."""

    text: str
    thinking: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    served_name: str
    tokens: tuple[Token, ...]


async def read_stream(
    lines: AsyncIterator[bytes | Response], *, first: float, idle: float, limit: int, place: str
) -> Streamed | Response:
    """Return the reply that a stream of JSON lines makes up, or the refusal that came in its place.

    A line with an error, in a reply that began well, is returned as a refusal with status 200: what was said before
    it is no answer.

    Args:
        lines: the lines as they come; a ``Response`` among them is a refusal.
        first: longest wait for the first line in seconds; a server may have to load the model before it.
        idle: longest wait for each further line in seconds.
        limit: tokens that were asked for; a server that goes on far beyond them is not listened to for ever.
        place: the server, for messages.

    Raises:
        ProviderError: when a wait is too long, when what comes is no chat reply, or ends before it is done.
    """
    reading = _Reading(limit)
    patience = first
    while not reading.ended:
        line = await _next_line(lines, patience, place)
        if isinstance(line, Response):
            return line
        if line is None:
            raise ProviderError("provider", f"{place} ended its reply before it was done", retry=True)
        try:
            part = parsed(line)
        except ValueError:
            page = [line]
            while len(page) < _PAGE_LINES and isinstance(more := await _next_line(lines, idle, place), bytes):
                page.append(more)
            shown = excerpt(b" ".join(page)) or "(nothing readable)"
            raise ProviderError("provider", f"{place} sent what is not JSON: {shown}", retry=True) from None
        if isinstance(part, dict) and part.get("error"):
            return Response(status=200, headers={}, body=line)
        reading.add(part)
        patience = idle
    return reading.reply(place)


async def _next_line(lines: AsyncIterator[bytes | Response], patience: float, place: str) -> bytes | Response | None:
    """Return the next line that says something, or None at the end."""
    try:
        async with asyncio.timeout(patience):
            async for line in lines:
                if isinstance(line, Response) or line.strip():
                    return line
    except TimeoutError:
        message = f"{place} sent nothing for {patience:g} seconds"
        raise ProviderError("timeout", message, retry=True) from None
    return None


class _Reading:
    """What has come of a reply so far."""

    def __init__(self, limit: int) -> None:
        self.ended = False
        self._limit = limit
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._logprobs: list[Any] = []
        self._last: dict[str, Any] = {}
        self._message = False
        self._parts = 0
        self._blank = 0

    def add(self, part: Any) -> None:
        """Take in one line's document."""
        self._last = mapping(part)
        self._message = self._message or isinstance(self._last.get("message"), dict)
        message = mapping(self._last.get("message"))
        content, thinking = _text(message.get("content")), _text(message.get("thinking"))
        self._text.append(content)
        self._thinking.append(thinking)
        logprobs = self._last.get("logprobs")
        if isinstance(logprobs, list) and not (thinking and not content):
            self._logprobs += logprobs
        said = content or thinking
        self._parts += bool(said)
        self._blank = len(said) - len(said.rstrip()) + (0 if said.strip() else self._blank)
        # a part is a token or more; thinking and answer may each have the whole limit
        endless = self._blank >= MAX_BLANK or self._parts > 2 * self._limit + 16
        self.ended = bool(self._last.get("done")) or endless

    def reply(self, place: str) -> Streamed:
        """Return the whole."""
        done = bool(self._last.get("done"))
        reason = self._last.get("done_reason")
        if done and reason in {"load", "unload"}:
            raise ProviderError("provider", f"{place} only {reason}ed the model and generated nothing")
        if not self._message:
            raise ProviderError("provider", f"{place} sent a reply that holds no message", retry=True)
        text = "".join(self._text)
        ends = len(text.rstrip())
        generated = count(self._last.get("eval_count"))
        if not done or (not reason and generated is not None and generated >= self._limit):
            reason = "length"
        return Streamed(
            text=clipped(text[: ends + MAX_BLANK]),
            thinking=clipped("".join(self._thinking)),
            finish_reason=one_line(str(reason or "stop"), 60),
            prompt_tokens=count(self._last.get("prompt_eval_count")),
            completion_tokens=generated,
            served_name=one_line(_text(self._last.get("model")), 200),
            tokens=spelling_tokens(self._logprobs, text),
        )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
