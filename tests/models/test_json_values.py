"""Reading a server's JSON: half a surrogate pair, which a model may write, costs one character and no reply."""

import asyncio
import json
import ssl
from typing import Any

import pytest
from http_stub import Answer, Stub, as_json, completion
from ollama_stub import PLAIN, OllamaStub, end, line, streamed, tls_context

from selfdiag.models import anthropic, gemini, ollama, openai
from selfdiag.models.base import Call, ProviderOptions
from selfdiag.models.json_values import decoded, parsed

CALL = Call(system="Answer briefly.", user="What is the capital of France?")
SAID = 'Paris \ud83d "ok" \\ud800 \U0001f600'
"""Half of a pair, a backslash before what only looks like half of one, and a whole pair."""
READ = SAID.replace("\ud83d", "\ufffd")


@pytest.fixture(autouse=True)
def certificates_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssl, "create_default_context", tls_context)


def events(*texts: str) -> Answer:
    chunks = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return Answer(headers={"Content-Type": "text/event-stream"}, body=f"{lines}data: [DONE]\n\n".encode())


CLAUDE = as_json(
    {
        "type": "message",
        "content": [{"type": "text", "text": SAID}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 12, "output_tokens": 7},
    }
)
GEMINI = as_json({"candidates": [{"content": {"parts": [{"text": SAID}]}, "finishReason": "STOP"}]})


@pytest.mark.parametrize(
    ("build", "name", "stub"),
    [
        (openai.provider, "m", lambda: Stub(completion({"role": "assistant", "content": SAID}))),
        (openai.provider, "m", lambda: Stub(events(SAID[:9], SAID[9:]))),
        (anthropic.provider, "claude-x", lambda: Stub(CLAUDE)),
        (gemini.provider, "gemini-x", lambda: Stub(GEMINI)),
        (ollama.provider, PLAIN.name, lambda: OllamaStub(streamed(line(SAID[:9]), line(SAID[9:]), end()))),
    ],
    ids=["openai", "a stream of openai", "anthropic", "gemini", "ollama"],
)
async def test_half_a_surrogate_pair_is_one_visible_character_of_the_reply(build: Any, name: str, stub: Any) -> None:
    with stub() as server:
        async with asyncio.timeout(30), build(name, ProviderOptions(base_url=server.url, timeout=10)) as model:
            reply = await model.ask(CALL)
    assert reply.text == READ


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (rb'"\ud800"', "\ufffd"),
        (rb'"\uDFFFx"', "\ufffdx"),
        (rb'"\ud800\ud800\udc00"', "\ufffd\U00010000"),
        (rb'"\udc00\ud800"', "\ufffd\ufffd"),
        (rb'"\\ud800 \ud800"', "\\ud800 \ufffd"),
        (rb'{"\ud800": "\u00e9\n"}', {"\ufffd": "é\n"}),
    ],
)
def test_every_half_becomes_one_character(text: bytes, value: object) -> None:
    assert parsed(text) == value


@pytest.mark.parametrize("text", [b"", b"{", rb'"\ud80"', rb'"\ud800', rb'{"a": \ud800}', b'"\xff"', b"[" * 100_000])
def test_what_is_no_json_stays_none(text: bytes) -> None:
    with pytest.raises(ValueError, match="."):
        parsed(text)
    assert decoded(text) is None
