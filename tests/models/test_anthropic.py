"""The provider of Claude against a server on loopback that answers as Anthropic's does, and worse."""

import asyncio
import functools
import json
import ssl
import traceback
from typing import Any

import pytest
from http_stub import Answer, Request, Stub, as_json

from selfdiag import safety
from selfdiag.elicit.prompts import RESPONSE_SCHEMA
from selfdiag.models import anthropic, service, service_keys
from selfdiag.models.anthropic import discover, offer, provider
from selfdiag.models.base import Call, ModelInfo, Provider, ProviderError, ProviderOptions, Reply
from selfdiag.runs.plan import make_plan
from selfdiag.runs.records import RunSettings
from selfdiag.runs.replies import grade_reply
from selfdiag.safety import SelfdiagError

CALL = Call(system="Answer briefly.", user="What is the capital of France?")
THINKING = Call(system="s", user="u", think="medium")
CANARY = "canary-7f3a9c55e1d04b"
TEXT = {"type": "text", "text": '{"answer": "Paris", "confidence": 80}'}

_tls_context = functools.cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test know another one's keys, and read the certificates once: that takes longest of all."""
    monkeypatch.setattr(safety, "_known_secrets", set())
    monkeypatch.setattr(ssl, "create_default_context", _tls_context)


def message(*content: object, stop: str | None = "end_turn", **fields: object) -> Answer:
    """Return a usual reply; ``fields`` replace or add top-level fields."""
    document: dict[str, object] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-served",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 7},
    }
    return as_json(document | fields)


def fault(status: int, words: str, kind: str = "invalid_request_error", **headers: str) -> Answer:
    document = {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}
    return as_json(document, status=status, headers=headers)


def events(*documents: dict[str, Any]) -> Answer:
    lines = [f"event: {document['type']}\ndata: {json.dumps(document)}\n\n" for document in documents]
    return Answer(headers={"Content-Type": "text/event-stream; charset=utf-8"}, body="".join(lines).encode())


async def asked(stub: Stub, *calls: Call) -> tuple[list[Reply], ModelInfo]:
    """Return the replies to calls made one after the other, and what is then known of the model."""
    async with asyncio.timeout(30), provider("claude-x", ProviderOptions(base_url=stub.url, timeout=10)) as model:
        return [await model.ask(call) for call in calls or (CALL,)], model.info()


async def replied(answer: Answer, call: Call = CALL) -> Reply:
    with Stub(answer) as stub:
        ((reply,), _) = await asked(stub, call)
    return reply


async def failed(*answers: Answer, call: Call = CALL) -> ProviderError:
    with Stub(*answers) as stub, pytest.raises(ProviderError) as caught:
        await asked(stub, call)
    return caught.value


def sent(stub: Stub) -> list[dict[str, Any]]:
    return [request.json() for request in stub.requests]


async def test_the_request_says_what_was_asked_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_ANTHROPIC_API_KEY", f" {CANARY}\n")
    with Stub(message(TEXT)) as stub:
        await asked(stub)
    (request,) = stub.requests
    assert (request.method, request.target) == ("POST", "/v1/messages")
    assert request.headers["x-api-key"] == CANARY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.headers["content-type"] == "application/json"
    assert request.json() == {
        "model": "claude-x",
        "system": "Answer briefly.",
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
        "max_tokens": 256,
        "temperature": 0.0,
        "thinking": {"type": "disabled"},
    }


async def test_the_schema_is_sent_without_what_is_refused() -> None:
    call = Call(system="s", user="u", schema=RESPONSE_SCHEMA)
    with Stub(message(TEXT)) as stub:
        await asked(stub, call)
    (body,) = sent(stub)
    assert body["output_config"] == {
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {"answer": {"type": "string"}, "confidence": {"type": "integer"}},
                "required": ["answer", "confidence"],
                "additionalProperties": False,
            },
        }
    }
    assert list(body["output_config"]["format"]["schema"]["properties"]) == ["answer", "confidence"]


@pytest.mark.parametrize(
    ("think", "budget", "room"),
    [("low", 1024, 8192), ("medium", 4096, 8192), ("on", 4096, 8192), ("high", 16384, 16640)],
)
async def test_thinking_gets_a_budget_and_room_for_it(think: Any, budget: int, room: int) -> None:
    with Stub(message(TEXT)) as stub:
        _, info = await asked(stub, Call(system="s", user="u", think=think))
    (body,) = sent(stub)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert body["max_tokens"] == room
    assert "temperature" not in body
    assert info.details == {"asked_without": "temperature", "thinking": "asked for, but no reply shows any"}


async def test_a_longer_reply_beside_thinking_keeps_its_room() -> None:
    with Stub(message(TEXT)) as stub:
        await asked(stub, Call(system="s", user="u", think="low", max_tokens=9000))
    assert sent(stub)[0]["max_tokens"] == 10024


async def test_a_plain_reply_is_mapped() -> None:
    with Stub(message(TEXT)) as stub:
        ((reply,), info) = await asked(stub)
    assert reply.text == TEXT["text"]
    assert (reply.finish_reason, reply.refusal, reply.overflow, reply.reasoning) == ("stop", False, False, "")
    assert (reply.prompt_tokens, reply.completion_tokens) == (12, 7)
    assert reply.latency_s > 0
    assert (info.provider, info.name, info.served_name) == ("anthropic", "claude-x", "claude-served")
    assert (info.server, info.remote, info.details) == (f"127.0.0.1:{stub.port}", False, {})


async def test_API_03_temperature_refused_by_presence_is_left_away_once_and_for_all() -> None:
    refused = fault(400, "temperature is deprecated for this model.")
    with Stub(refused, message(TEXT)) as stub:
        replies, info = await asked(stub, CALL, CALL)
    assert [reply.text for reply in replies] == [TEXT["text"]] * 2
    assert ["temperature" in body for body in sent(stub)] == [True, False, False]
    first, second, _ = sent(stub)
    assert second == {name: value for name, value in first.items() if name != "temperature"}
    assert info.details == {"asked_without": "temperature"}


async def test_API_03_a_refusal_that_goes_on_ends() -> None:
    refused = fault(400, "temperature is deprecated for this model.")
    with Stub(refused) as stub, pytest.raises(ProviderError, match="temperature is deprecated") as caught:
        await asked(stub)
    assert (caught.value.kind, caught.value.retry) == ("config", False)
    assert len(stub.requests) == 2


async def test_API_04_temperature_and_top_p_never_go_together() -> None:
    with Stub(message(TEXT)) as stub:
        await asked(stub, CALL, THINKING, Call(system="s", user="u", temperature=0.7))
    assert all("top_p" not in body and "top_k" not in body for body in sent(stub))
    assert [body.get("temperature") for body in sent(stub)] == [0.0, None, 0.7]


async def test_calls_side_by_side_learn_from_each_other() -> None:
    refused = fault(400, "temperature is deprecated for this model.")

    def answer(request: Request) -> Answer:
        return refused if "temperature" in request.json() else message(TEXT)

    with Stub(decide=answer) as stub:
        async with provider("claude-x", ProviderOptions(base_url=stub.url, timeout=10)) as model:
            replies = await asyncio.gather(*(model.ask(CALL) for _ in range(3)))
            info = model.info()
    assert [reply.text for reply in replies] == [TEXT["text"]] * 3
    assert len(stub.requests) <= 6
    assert info.details == {"asked_without": "temperature"}


@pytest.mark.parametrize(
    ("think", "shown"), [("off", {"type": "disabled"}), ("high", {"type": "enabled", "budget_tokens": 16384})]
)
async def test_a_refused_thinking_setting_is_dropped_and_noted(think: Any, shown: dict[str, Any]) -> None:
    refused = fault(400, "thinking: this model does not support the setting")
    reasoning = "hm" if think == "off" else ""
    last_reply = message(*([{"type": "thinking", "thinking": "hm"}] if reasoning else []), TEXT)
    answers = [refused, last_reply] if think == "off" else [refused, refused, last_reply]
    with Stub(*answers) as stub:
        replies, info = await asked(stub, *[Call(system="s", user="u", think=think)] * 2)
    first, *_, last = sent(stub)
    assert len(sent(stub)) == len(answers) + 1
    assert first["thinking"] == shown
    assert "thinking" not in last
    assert last["max_tokens"] >= 8192
    assert [reply.reasoning for reply in replies] == [reasoning, reasoning]
    words = {
        "off": "the model thinks although it was asked not to",
        "high": "asked for, but the server refuses the setting",
    }
    assert info.details["thinking"] == words[think]
    assert "thinking" in info.details["asked_without"].split("; ")


@pytest.mark.parametrize(
    ("think", "effort"), [("low", "low"), ("on", "medium"), ("medium", "medium"), ("high", "high")]
)
async def test_a_refused_budget_becomes_an_effort(think: Any, effort: str) -> None:
    words = '"thinking.type.enabled" is not supported. Use "thinking.type.adaptive" and "output_config.effort".'
    call = Call(system="s", user="u", think=think, schema=RESPONSE_SCHEMA)
    with Stub(fault(400, words), message(TEXT)) as stub:
        _, info = await asked(stub, call)
    first, second = sent(stub)
    assert second["thinking"] == {"type": "adaptive"}
    assert second["output_config"] == {**first["output_config"], "effort": effort}
    assert second["max_tokens"] == first["max_tokens"]
    assert info.details == {
        "asked_without": "temperature; thinking budget",
        "thinking": "asked for, but no reply shows any",
    }


async def test_a_refused_effort_is_dropped_alone() -> None:
    budget = fault(400, "thinking.type.enabled is not supported for this model")
    effort = fault(400, "This model does not support the effort parameter.")
    with Stub(budget, effort, message(TEXT)) as stub:
        await asked(stub, THINKING)
    last = sent(stub)[-1]
    assert last["thinking"] == {"type": "adaptive"}
    assert "output_config" not in last


async def test_thinking_between_tools_takes_the_place_of_disabled_where_the_server_says_so() -> None:
    words = '"thinking.type.disabled" is not supported for this model. Use "thinking.type.between_tools".'
    with Stub(fault(400, words), message(TEXT)) as stub:
        _, info = await asked(stub)
    assert sent(stub)[-1]["thinking"] == {"type": "between_tools"}
    assert sent(stub)[-1]["max_tokens"] == 256
    assert info.details == {"asked_without": "thinking disabled"}


@pytest.mark.parametrize(
    "words",
    [
        "output_config.format: Extra inputs are not permitted",
        "This model does not support structured outputs.",
        "output_config.format.schema: unknown keyword",
    ],
)
async def test_a_refused_schema_is_dropped(words: str) -> None:
    call = Call(system="s", user="u", schema=RESPONSE_SCHEMA)
    with Stub(fault(400, words), message(TEXT)) as stub:
        _, info = await asked(stub, call)
    assert ["output_config" in body for body in sent(stub)] == [True, False]
    assert info.details == {"asked_without": "schema"}


async def test_API_20_an_overloaded_service_may_be_asked_again() -> None:
    error = await failed(as_json({"type": "error", "error": {"type": "overloaded_error"}}, status=529))
    assert (error.kind, error.retry, error.retry_after) == ("provider", True, None)
    error = await failed(fault(529, "Overloaded", "overloaded_error", **{"Retry-After": "2"}))
    assert (error.kind, error.retry, error.retry_after) == ("provider", True, 2.0)
    assert "answers 529: Overloaded" in str(error)


STARTED = [
    {"type": "message_start", "message": {"id": "msg_1", "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": '{"answer": "4"}'}},
]


@pytest.mark.parametrize(
    ("kind", "expected", "retry"),
    [
        ("overloaded_error", "provider", True),
        ("api_error", "provider", True),
        ("rate_limit_error", "provider", True),
        ("authentication_error", "unauthorized", False),
    ],
)
async def test_API_21_an_error_in_a_stream_nobody_asked_for_is_an_error(kind: str, expected: str, retry: bool) -> None:
    error = await failed(events(*STARTED, {"type": "error", "error": {"type": kind, "message": "Too much"}}))
    assert (error.kind, error.retry) == (expected, retry)
    assert ": Too much" in str(error)


@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json"])
async def test_API_21_the_parts_of_a_stream_are_no_reply(content_type: str) -> None:
    stream = events(*STARTED, {"type": "message_stop"})
    error = await failed(Answer(headers={"Content-Type": content_type}, body=stream.body))
    assert (error.kind, error.retry) == ("provider", False)
    assert "a stream of events although a whole reply was asked for" in str(error)


async def test_an_error_inside_a_200_is_treated_by_its_type() -> None:
    error = await failed(fault(200, "Overloaded", "overloaded_error"))
    assert (error.kind, error.retry) == ("provider", True)
    error = await failed(as_json({"error": "engine died"}))
    assert (error.kind, error.retry) == ("provider", True)
    with Stub(fault(200, "temperature is deprecated for this model."), message(TEXT)) as stub:
        await asked(stub)
    assert len(stub.requests) == 2


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ([{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "{…}"}], "{…}", "hm"),
        ([{"type": "redacted_thinking", "data": "zzz"}, {"type": "text", "text": "a"}], "a", ""),
        ([{"type": "text", "text": "a"}, {"type": "tool_use", "text": "no"}, {"type": "text", "text": "b"}], "ab", ""),
        ([{"type": "text", "text": None}, None, "loose", {"text": "no"}, {"type": "text", "text": 5}], "", ""),
        ([{"type": "thinking", "thinking": "one"}, {"type": "thinking", "thinking": "two"}], "", "onetwo"),
    ],
)
async def test_API_30_blocks_are_told_apart_by_type(content: list[Any], text: str, reasoning: str) -> None:
    reply = await replied(message(*content))
    assert (reply.text, reply.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("block", "thinks"),
    [({"type": "thinking", "thinking": ""}, True), ({"type": "redacted_thinking", "data": "z"}, True), (TEXT, False)],
)
async def test_thinking_that_was_not_asked_for_is_noted(block: dict[str, Any], thinks: bool) -> None:
    with Stub(message(block, TEXT)) as stub:
        (reply,), info = await asked(stub)
    assert reply.thought is thinks
    assert info.details.get("thinking", "") == ("the model thinks although it was asked not to" if thinks else "")
    with Stub(message(block, TEXT)) as stub:
        _, info = await asked(stub, THINKING)
    assert info.details.get("thinking", "") == ("" if thinks else "asked for, but no reply shows any")


async def test_API_31_an_empty_reply_keeps_why_it_ended() -> None:
    reply = await replied(as_json({"content": [], "stop_reason": "end_turn"}))
    assert (reply.text, reply.finish_reason, reply.refusal) == ("", "stop", False)
    probe = make_plan(RunSettings(model="anthropic:m")).drawn.probes[0]
    assert grade_reply(probe, reply.text, reply.finish_reason).outcome == "empty"


async def test_API_32_a_refusal_is_told_apart() -> None:
    for content in ([], None, [{"type": "text", "text": "I cannot"}]):
        reply = await replied(as_json({"stop_reason": "refusal", "content": content}))
        assert reply.refusal
        assert reply.finish_reason == "filter"
        assert reply.text == ("I cannot" if content else "")


@pytest.mark.parametrize(
    ("stop", "reason", "overflow"),
    [
        ("end_turn", "stop", False),
        ("stop_sequence", "stop", False),
        ("max_tokens", "length", False),
        ("model_context_window_exceeded", "length", True),
        ("tool_use", "tool_use", False),
        (None, "stop", False),
    ],
)
async def test_reasons_to_stop(stop: str | None, reason: str, overflow: bool) -> None:
    reply = await replied(message(TEXT, stop=stop))
    assert (reply.finish_reason, reply.overflow, reply.refusal) == (reason, overflow, False)


@pytest.mark.parametrize("document", [{}, [], "text", {"content": None}, {"content": "x", "stop_reason": "end_turn"}])
async def test_a_200_without_content_may_be_asked_again(document: object) -> None:
    error = await failed(as_json(document))
    assert (error.kind, error.retry) == ("provider", True)
    assert "no content" in str(error)


@pytest.mark.parametrize("usage", [None, [], {"input_tokens": "5", "output_tokens": True}, {"input_tokens": -1}])
async def test_token_counts_that_make_no_sense_are_unknown(usage: object) -> None:
    reply = await replied(message(TEXT, usage=usage))
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


@pytest.mark.parametrize(
    ("answer", "kind", "retry"),
    [
        (fault(401, "invalid x-api-key", "authentication_error"), "unauthorized", False),
        (fault(403, "no permission", "permission_error"), "unauthorized", False),
        (fault(404, "model: claude-x", "not_found_error"), "model_missing", False),
        (fault(429, "This would exceed your organization's rate limit", "rate_limit_error"), "provider", True),
        (fault(500, "Internal server error", "api_error"), "provider", True),
        (fault(402, "pay first", "billing_error"), "quota", False),
        (fault(400, "Your credit balance is too low to access the Anthropic API."), "quota", False),
        (fault(400, "You have reached your specified API usage limits."), "quota", False),
        (fault(400, "max_tokens: 256 > 100"), "config", False),
        (Answer(body=b"<html>Sign in</html>", headers={"Content-Type": "text/html"}), "provider", True),
        (Answer(body=b'{"content": [', fault="half"), "provider", True),
        (Answer(fault="reset"), "provider", True),
    ],
)
async def test_kinds_of_errors(answer: Answer, kind: str, retry: bool) -> None:
    error = await failed(answer)
    assert (error.kind, error.retry) == (kind, retry)


@pytest.mark.parametrize(
    "words",
    [
        "prompt is too long: 201000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 1 + 2 > 2",
    ],
)
async def test_a_prompt_that_does_not_fit_overflows(words: str) -> None:
    reply = await replied(fault(400, words))
    assert reply.overflow
    assert reply.text == ""


@pytest.mark.parametrize(
    "answers",
    [
        [fault(401, f"invalid x-api-key {CANARY}", "authentication_error")],
        [fault(400, f"{CANARY} is odd")],
        [fault(200, f"x-api-key: {CANARY}", "api_error")],
        [Answer(body=f"<p>{CANARY}</p>".encode())],
        [Answer(status=500, body=f"<p>{CANARY}</p>".encode())],
        [events({"type": "error", "error": {"type": "api_error", "message": CANARY}})],
        [Answer(fault="reset")],
        [Answer(fault="garbage")],
    ],
)
async def test_API_37_the_key_is_in_no_message_and_no_repr(
    monkeypatch: pytest.MonkeyPatch, answers: list[Answer]
) -> None:
    monkeypatch.setenv("SELFDIAG_ANTHROPIC_API_KEY", CANARY)
    with Stub(*answers) as stub:
        model = provider("claude-x", ProviderOptions(base_url=stub.url, timeout=10))
        async with model:
            with pytest.raises(ProviderError) as caught:
                await model.ask(CALL)
    shown = "".join(traceback.format_exception(caught.value))
    assert CANARY not in f"{shown} {caught.value!r} {model!r} {model.info()!r} {vars(model)!r}"
    assert all(CANARY not in f"{request.target} {request.body!r}" for request in stub.requests)


async def test_API_37_a_key_is_hidden_wherever_it_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_keys, "server_key", lambda _: CANARY)
    error = await failed(fault(400, f"{CANARY} is odd"))
    assert str(error).endswith(": [key] is odd")


async def test_API_37_a_key_for_another_place_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setenv("SELFDIAG_GEMINI_API_KEY", CANARY)
    with Stub(message(TEXT)) as stub:
        await asked(stub)
    assert "x-api-key" not in stub.requests[0].headers
    assert CANARY not in repr(stub.requests[0])


@pytest.mark.parametrize("key", [f"{CANARY}é", f"{CANARY}\n{CANARY}", f"{CANARY}\x1b"])
def test_a_key_that_no_header_can_hold_is_one_line_without_it(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("SELFDIAG_ANTHROPIC_API_KEY", key)
    with pytest.raises(SelfdiagError, match="key for anthropic holds characters that no key has") as caught:
        provider("m", ProviderOptions(base_url="127.0.0.1:1"))
    assert caught.value.exit_code == 3
    assert CANARY not in str(caught.value)


def test_anthropic_itself_needs_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_ANTHROPIC_API_KEY", CANARY)
    with pytest.raises(SelfdiagError, match="set ANTHROPIC_API_KEY, run 'selfdiag keys set anthropic', or") as caught:
        provider("claude-x", ProviderOptions())
    assert caught.value.exit_code == 3
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    model = provider("claude-x", ProviderOptions())
    assert isinstance(model, Provider)
    assert (model.info().server, model.info().remote, model.concurrency) == ("api.anthropic.com", True, 8)
    assert (model.takes_schema, model.max_tokens) == (True, 512)


async def test_the_own_service_gets_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setenv("SELFDIAG_ANTHROPIC_API_KEY", "another-key")
    with Stub(message(TEXT)) as stub:
        monkeypatch.setattr(anthropic, "DEFAULT_URL", stub.url)
        async with provider("claude-x", ProviderOptions()) as model:
            await model.ask(CALL)
    assert stub.requests[0].headers["x-api-key"] == CANARY


@pytest.mark.parametrize(
    "tail", ["", "/", "/v1", "/v1/", "/v1/messages", "/v1/messages/", "/v1/models", "/v1/models/claude-x"]
)
async def test_API_22_every_spelling_of_a_base_url_is_the_same_place(tail: str) -> None:
    with Stub(message(TEXT)) as stub:
        async with provider("m", ProviderOptions(base_url=f"http://127.0.0.1:{stub.port}{tail}")) as model:
            await model.ask(CALL)
    assert stub.requests[0].target == "/v1/messages"


async def test_API_22_an_address_keeps_its_own_path() -> None:
    with Stub(message(TEXT)) as stub:
        async with provider("m", ProviderOptions(base_url=f"127.0.0.1:{stub.port}/api/anthropic")) as model:
            await model.ask(CALL)
    assert stub.requests[0].target == "/api/anthropic/v1/messages"


@pytest.mark.parametrize(
    "text",
    ["  ", "http://", "ftp://h", "http://h:x", "http://[::1", "http://h?key=1", "http://h h", 'http://h"x:80/v1'],
)
def test_what_is_no_address_is_one_line(text: str) -> None:
    with pytest.raises(SelfdiagError, match=r"^--base-url .* is not an http address such as") as caught:
        provider("m", ProviderOptions(base_url=text))
    assert caught.value.exit_code == 2


def test_a_password_in_the_address_is_refused_without_showing_it() -> None:
    with pytest.raises(SelfdiagError, match="put the key into SELFDIAG_ANTHROPIC_API_KEY") as caught:
        provider("m", ProviderOptions(base_url=f"http://someone:{CANARY}@127.0.0.1:1"))
    assert CANARY not in str(caught.value)
    for odd in (f"http://someone:{CANARY}%40127.0.0.1:1", f"http://h/v1?key={CANARY}", f"http://h/v1#{CANARY}"):
        with pytest.raises(SelfdiagError) as caught:
            provider("m", ProviderOptions(base_url=odd))
        assert CANARY not in str(caught.value)


def test_loopback_is_told_from_elsewhere() -> None:
    near, far = (provider("m", ProviderOptions(base_url=url)) for url in ("localhost:1", "http://10.0.0.1"))
    assert (near.info().remote, near.concurrency) == (False, 1)
    assert (far.info().remote, far.concurrency, far.info().server) == (True, 8, "10.0.0.1")


def test_where_questions_go_unencrypted_is_told() -> None:
    urls = ("http://127.0.0.1:1", "https://far.example", "http://10.0.0.1", "10.0.0.1:8000")
    told = [provider("m", ProviderOptions(base_url=url)).info().destination() for url in urls]
    assert told == ["127.0.0.1:1", "far.example", "10.0.0.1, unencrypted", "10.0.0.1:8000, unencrypted"]


def test_the_offer_says_whether_a_key_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = offer("anthropic")
    assert (line.model, line.ready, line.remote) == ("anthropic:NAME", False, True)
    assert line.remark == "set ANTHROPIC_API_KEY, run 'selfdiag keys set anthropic', or name a server with --base-url"
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    (line,) = offer("anthropic")
    assert (line.ready, line.remark) == (True, "ANTHROPIC_API_KEY is set")


async def test_the_models_of_the_account_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    entries = [{"type": "model", "id": "claude-a", "display_name": "Claude A"}, {"id": "claude-b"}]
    with Stub(
        as_json({"data": [*entries, None, {"id": ""}, {"id": 5}, {"id": "x\x1b[2J"}], "has_more": False})
    ) as stub:
        monkeypatch.setattr(anthropic, "DEFAULT_URL", stub.url)
        found = await discover("anthropic")
    assert [(line.model, line.remark) for line in found] == [
        ("anthropic:claude-a", "Claude A"),
        ("anthropic:claude-b", ""),
    ]
    assert all(line.ready and line.remote for line in found)
    (request,) = stub.requests
    assert (request.method, request.target) == ("GET", "/v1/models?limit=1000")
    assert request.headers["x-api-key"] == CANARY
    assert request.headers["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    "answer",
    [fault(401, f"bad key {CANARY}", "authentication_error"), Answer(body=b"<p>Sign in"), Answer(fault="silent")],
)
async def test_a_list_that_cannot_be_had_leaves_the_offer(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setattr(service, "DISCOVERY_SECONDS", 0.2)
    with Stub(answer) as stub:
        monkeypatch.setattr(anthropic, "DEFAULT_URL", stub.url)
        async with asyncio.timeout(2):
            (line,) = await discover("anthropic")
    assert (line.model, line.ready) == ("anthropic:NAME", False)
    assert str(stub.port) in line.remark
    assert CANARY not in line.remark


@pytest.mark.parametrize("document", [{}, [], {"data": None}, {"data": []}])
async def test_a_list_of_nothing_leaves_the_offer(monkeypatch: pytest.MonkeyPatch, document: object) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    with Stub(as_json(document)) as stub:
        monkeypatch.setattr(anthropic, "DEFAULT_URL", stub.url)
        assert await discover("anthropic") == offer("anthropic")


async def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with Stub(message(TEXT)) as stub:
        monkeypatch.setattr(anthropic, "DEFAULT_URL", stub.url)
        assert await discover("anthropic") == offer("anthropic")
    assert stub.requests == []


async def test_a_key_that_no_header_can_hold_lists_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", f"{CANARY}é")
    (line,) = await discover("anthropic")
    assert not line.ready
    assert "characters that no key has" in line.remark


async def test_an_oversized_text_is_cut_and_marked() -> None:
    reply = await replied(message({"type": "text", "text": "x" * 1_500_000}))
    assert reply.text.endswith("[cut: 500,000 more characters]")
