"""Replies that come as a stream of server-sent events, although nobody asked for one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from selfdiag.models.base import ProviderError
from selfdiag.models.http import Response
from selfdiag.models.json_values import parsed
from selfdiag.models.server_words import tells_error
from selfdiag.safety import one_line

DONE = "[DONE]"
MAX_LINES = 64
"""Most lines over which the payload of one event may go."""
_TEXTS = ("reasoning_content", "reasoning", "refusal")


def unstreamed(response: Response, place: str) -> Response:
    """Return a chat completion with its stream of events put together into one document; any other reply as it is.

    An event that tells of an error stands for the whole reply: what came before it is not complete.

    Raises:
        ProviderError: when the stream ends before its end, or holds an event that is not JSON.
    """
    if not _is_stream(response):
        return response
    return msgspec.structs.replace(response, body=msgspec.json.encode(_document(response.body, place)))


def without_stream(response: Response, place: str) -> Response:
    """Return a stream's first event that tells of an error, in the reply's place; any other reply as it is.

    Raises:
        ProviderError: when a stream tells of no error; its parts are no whole reply.
    """
    if not _is_stream(response):
        return response
    for event in _events(response.body, place):
        if tells_error(event):
            return msgspec.structs.replace(response, body=msgspec.json.encode(event))
    message = f"{one_line(place)} sent a stream of events although a whole reply was asked for"
    raise ProviderError("provider", message)


def _is_stream(response: Response) -> bool:
    media = response.headers.get("content-type", "").lower()
    return media.startswith("text/event-stream") or response.body.startswith((b"event:", b"data:"))


def _document(body: bytes, place: str) -> Any:
    content: list[Any] = []
    tokens: list[Any] = []
    texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
    document: dict[str, Any] = {}
    finish_reason: Any = None
    ended = False
    for event in _events(body, place):
        ended = event == DONE
        if tells_error(event):
            return event
        if not isinstance(event, dict):
            continue
        document |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        for choice in _first_choice(event):
            if choice.get("error"):
                return {"error": choice["error"]}
            delta = choice.get("delta") or choice.get("message")
            if isinstance(delta, dict):
                content += _parts(delta.get("content"))
                for name in _TEXTS:
                    texts[name] += [delta[name]] if isinstance(delta.get(name), str) else []
            logprobs = choice.get("logprobs")
            if isinstance(logprobs, dict) and isinstance(logprobs.get("content"), list):
                tokens += logprobs["content"]
            finish_reason = choice.get("finish_reason") or finish_reason
    if not ended and finish_reason is None:
        raise ProviderError("provider", f"{one_line(place)} broke off in the middle of a stream", retry=True)
    message = {"content": content, **{name: "".join(pieces) for name, pieces in texts.items()}}
    choice = {"message": message, "finish_reason": finish_reason, "logprobs": {"content": tokens}}
    return document | {"choices": [choice]}


def _events(body: bytes, place: str) -> Iterator[Any]:
    """Yield the payload of each event, decoded; comments and the fields ``event``, ``id`` and ``retry`` say nothing."""
    pending: list[str] = []
    done = False
    for line in re.split(r"\r\n|\n|\r", body.decode("utf-8", "replace").removeprefix("\ufeff")):
        name, _, value = line.partition(":")
        if name != "data":
            continue
        done = value.strip() == DONE
        if done:
            break
        # an event's payload may go over several lines, and some servers put no empty line between two events
        pending.append(value)
        try:
            event = parsed("\n".join(pending).encode())
        except ValueError:
            if len(pending) >= MAX_LINES:
                break
            continue
        yield event
        pending = []
    if pending:
        shown = one_line(" ".join(pending), 120)
        raise ProviderError("provider", f"{one_line(place)} sent an event that is not JSON: {shown}", retry=True)
    if done:
        yield DONE


def _first_choice(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and not choice.get("index"):
            yield choice


def _parts(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []
