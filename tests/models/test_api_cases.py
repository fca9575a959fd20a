"""Failures of OpenAI-compatible servers and of the way to them, each by its number, over real HTTP."""

import asyncio
import functools
import gzip
import json
import logging
import ssl
import traceback
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import stamina
from http_stub import Answer, Request, Stub, as_json, completion

from selfdiag import safety
from selfdiag.elicit import prompts
from selfdiag.models import openai
from selfdiag.models.alike_faults import AlikeFaults
from selfdiag.models.base import FATAL, Call, ModelInfo, ProviderError, ProviderOptions, Reply
from selfdiag.models.http import Response, open_client
from selfdiag.models.openai import OpenAICompatible, provider
from selfdiag.models.server_words import error_of, tells_error, words_of
from selfdiag.models.transport import RepetitionBudget, RetryPolicy, ask_patiently
from selfdiag.protocols.audit import summarise
from selfdiag.runs.plan import make_plan
from selfdiag.runs.records import RunSettings
from selfdiag.runs.replies import grade_reply
from selfdiag.runs.session import Session
from selfdiag.runs.store import read_run
from selfdiag.safety import SelfdiagError

CALL = Call(system="Reply as JSON.", user="2 + 2?")
SHAPED = Call(system="Reply as JSON.", user="2 + 2?", schema=prompts.RESPONSE_SCHEMA)
ANSWER = '{"answer":"4","confidence":80}'
CANARY = "canary-7f3a9c55e1d04b"
NOW = datetime(2026, 1, 1, tzinfo=UTC)

_tls_context = functools.cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no test know another one's keys, read the certificates once, and wait nowhere."""
    monkeypatch.setattr(safety, "_known_secrets", set())
    monkeypatch.setattr(ssl, "create_default_context", _tls_context)
    monkeypatch.setattr(openai, "LOADING_PAUSE", 0.0)
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


def model_at(stub: Stub, **options: Any) -> OpenAICompatible:
    return provider("a", ProviderOptions(base_url=stub.url, timeout=10.0, **options))


async def asked(*answers: Answer, call: Call = CALL) -> tuple[Reply | ProviderError, list[Request], dict[str, str]]:
    """Return what one call brings without the retry layer, what was sent for it, and what the provider noted."""
    with Stub(*answers) as stub:
        async with asyncio.timeout(30), model_at(stub) as model:
            result: Reply | ProviderError
            try:
                result = await model.ask(call)
            except ProviderError as error:
                result = error
            return result, stub.requests, model.info().details


async def replied(*answers: Answer, call: Call = CALL) -> Reply:
    result, _, _ = await asked(*answers, call=call)
    assert isinstance(result, Reply), result
    return result


async def failed(*answers: Answer, call: Call = CALL) -> ProviderError:
    result, _, _ = await asked(*answers, call=call)
    assert isinstance(result, ProviderError), result
    assert "\n" not in str(result)
    return result


async def patiently(
    *answers: Answer, retries: int = 4, call: Call = CALL
) -> tuple[Reply | ProviderError, int, list[ProviderError]]:
    """Return what one call brings with the retry layer, how many requests it took, and what was waited for."""
    told: list[ProviderError] = []
    with Stub(*answers) as stub:
        async with asyncio.timeout(30), model_at(stub) as model:
            result: Reply | ProviderError
            try:
                policy = RetryPolicy(retries=retries)
                result, attempts = await ask_patiently(model, call, policy, lambda _, error: told.append(error))
            except ProviderError as error:
                result, attempts = error, error.attempts
        assert attempts == len(stub.requests)
    return result, attempts, told


def graded(reply: Reply) -> str:
    probe = make_plan(RunSettings(model="openai:m")).drawn.probes[0]
    return grade_reply(probe, reply.text, reply.finish_reason).outcome


def refused(message: str, status: int = 400, **fields: Any) -> Answer:
    return as_json({"error": {"message": message, **fields}}, status)


def response(status: int, document: object, headers: dict[str, str] | None = None) -> Response:
    return Response(status=status, headers=headers or {}, body=json.dumps(document).encode())


async def test_API_01_another_name_for_the_limit() -> None:
    wrong = refused("Unsupported parameter: 'max_tokens'", param="max_tokens", code="unsupported_parameter")
    with Stub(wrong, completion()) as stub:
        async with model_at(stub) as model:
            for _ in range(3):
                assert (await model.ask(CALL)).text == "Paris"
            details = model.info().details
    bodies = [request.json() for request in stub.requests]
    assert [("max_tokens" in body, body.get("max_completion_tokens")) for body in bodies] == [
        (True, None),
        *[(False, 256)] * 3,
    ]
    assert details["asked_without"] == "max_tokens: sent as max_completion_tokens"


async def test_API_01_a_server_that_refuses_for_ever_is_left() -> None:
    wrong = refused("Unsupported parameter: 'max_tokens'", param="max_tokens", code="unsupported_parameter")
    result, requests, _ = await asked(wrong)
    assert isinstance(result, ProviderError)
    assert (result.kind, result.retry) == ("config", False)
    assert ["max_tokens" in request.json() for request in requests] == [True, False]


async def test_API_01_a_server_that_ignores_the_limit_is_told() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 10}
    call = Call(system="s", user="u", max_tokens=4)
    _, _, details = await asked(completion(usage=usage), call=call)
    assert details["token_limit"].endswith(" by the server: 10 tokens came for a limit of 4")
    _, _, details = await asked(completion(usage={"completion_tokens": 4}), call=call)
    assert "token_limit" not in details


async def test_API_02_temperature_is_left_away() -> None:
    words = "Unsupported value: 'temperature' does not support 0 with this model."
    wrong = refused(words, param="temperature", code="unsupported_value")
    result, requests, details = await asked(wrong, completion())
    assert isinstance(result, Reply)
    assert ["temperature" in request.json() for request in requests] == [True, False]
    assert details["asked_without"] == "temperature: provider default"


async def test_API_05_a_limit_used_up_by_thinking_is_a_cut_reply() -> None:
    usage = {"completion_tokens": 200, "completion_tokens_details": {"reasoning_tokens": 199}}
    result, requests, details = await asked(
        completion({"content": ""}, finish_reason="length", usage=usage), call=SHAPED
    )
    assert isinstance(result, Reply)
    assert (result.text, result.finish_reason, result.completion_tokens) == ("", "length", 200)
    assert (result.thought, graded(result)) == (True, "truncated")
    assert details["thinking"] == "the model thinks although it was asked not to"
    assert len(requests) == 1


async def test_API_05_thinking_out_of_sight_gets_more_room_and_is_told(tmp_path: Path) -> None:
    usage = {"completion_tokens": 200, "completion_tokens_details": {"reasoning_tokens": 199}}
    with Stub(completion({"content": ""}, finish_reason="length", usage=usage)) as stub:
        settings = RunSettings(
            model="openai:a", base_url=stub.url, sections=("probes",), limit=1, structured="off", concurrency=1
        )
        session = Session(settings, folder=tmp_path / "run")
        async with asyncio.timeout(30), aclosing(session.events()) as events:
            assert [event async for event in events]
    # the warm-up finds it out, and no call is asked a third time
    assert [request.json()["max_tokens"] for request in stub.requests] == [512, 8192, 8192, 16384]
    found = summarise(read_run(session.folder), draws=50)
    assert found.counts["probes"]["truncated"] == 1
    told = "the model thinks although it was asked not to; replies were cut, so give it room with a larger --max-tokens"
    assert told in found.notes


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
async def test_API_06_both_names_of_the_reasoning(name: str) -> None:
    reply = await replied(completion({"content": ANSWER, name: "hm"}))
    assert (reply.text, reply.reasoning) == (ANSWER, "hm")
    both = await replied(completion({"content": ANSWER, "reasoning": "hm", "reasoning_content": "hm"}))
    assert (both.text, both.reasoning) == (ANSWER, "hm")


async def test_API_07_an_answer_among_the_thoughts_is_no_answer() -> None:
    reply = await replied(completion({"content": None, "reasoning_content": ANSWER}), call=SHAPED)
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("", ANSWER, "stop")
    assert graded(reply) == "empty"


async def test_API_08_content_in_parts() -> None:
    parts: list[Any] = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": '{"answer":"4",'},
        {"type": "text", "text": '"confidence":80}'},
    ]
    reply = await replied(completion({"content": parts}))
    assert (reply.text, reply.reasoning) == (ANSWER, "hm")
    reply = await replied(completion({"content": [{"type": "thinking", "thinking": "hm"}, *parts[1:]]}))
    assert (reply.text, reply.reasoning) == (ANSWER, "hm")


@pytest.mark.parametrize(
    ("fault", "kind", "retry"),
    [
        ({"message": "Provider returned error", "code": 429}, "provider", True),
        ({"message": "Provider returned error", "code": "502"}, "provider", True),
        ({"message": "slow down", "type": "rate_limit_error"}, "provider", True),
        ({"message": "no such key", "code": 401}, "unauthorized", False),
        ({"message": "bad", "type": "invalid_request_error"}, "config", False),
        ({"message": "spent", "code": "insufficient_quota"}, "quota", False),
        ({"message": "engine died"}, "provider", True),
        ("engine died", "provider", True),
    ],
)
async def test_API_09_an_error_inside_a_200_counts_as_its_status(fault: Any, kind: str, retry: bool) -> None:
    error = await failed(as_json({"choices": None, "error": fault}))
    assert (error.kind, error.retry) == (kind, retry)
    inside = await failed(as_json({"choices": [{"finish_reason": "error", "error": fault, "message": {}}]}))
    assert (inside.kind, inside.retry) == (kind, retry)


async def test_API_09_it_is_asked_again_like_a_429() -> None:
    wrong = as_json({"choices": None, "error": {"message": "Provider returned error", "code": 429}})
    result, attempts, told = await patiently(wrong, wrong, completion())
    assert isinstance(result, Reply)
    assert attempts == 3
    assert [error.overloaded for error in told] == [True, True]
    assert "answers 200 with error 429: Provider returned error" in str(told[0])


async def test_API_09_a_reply_that_ends_in_an_error_is_none() -> None:
    error = await failed(completion({"content": '{"answer": "4'}, finish_reason="error"))
    assert (error.kind, error.retry) == ("provider", True)


@pytest.mark.parametrize("document", [{"choices": []}, {}, {"choices": [None]}, {"choices": None}, {"choices": [{}]}])
async def test_API_10_a_reply_without_a_choice(document: object) -> None:
    error = await failed(as_json(document))
    assert (error.kind, error.retry) == ("provider", True)


def stream(*events: str, end: str = "\n\n", **fields: Any) -> Answer:
    body = "".join(f"{event}{end}" for event in events).encode()
    return Answer(body=body, headers={"Content-Type": "text/event-stream; charset=utf-8"}, **fields)


def chunk(content: str = "", **fields: Any) -> str:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": None, **fields}
    return "data: " + json.dumps({"model": "served-model", "choices": [choice]})


async def test_API_11_an_error_in_a_stream_discards_what_came_before() -> None:
    wrong = 'data: {"error":{"message":"Rate limit exceeded","code":429}}'
    result, attempts, told = await patiently(stream(chunk('{"ans'), wrong), completion())
    assert isinstance(result, Reply)
    assert (attempts, told[0].overloaded) == (2, True)
    assert "Rate limit exceeded" in str(told[0])
    error = await failed(stream(chunk('{"ans'), chunk(error={"message": "died", "code": 502}), "data: [DONE]"))
    assert (error.kind, error.retry) == ("provider", True)


async def test_API_12_a_refusal_is_one() -> None:
    field = await replied(completion({"content": None, "refusal": "I cannot help with that"}))
    part = await replied(completion({"content": [{"type": "refusal", "refusal": "I cannot help with that"}]}))
    prose = await replied(completion({"content": "Sorry.", "refusal": "I cannot help with that"}))
    assert field.refusal and part.refusal and prose.refusal
    assert (field.text, part.text, prose.text) == ("I cannot help with that", "I cannot help with that", "Sorry.")
    assert not (await replied(completion({"content": "Sorry.", "refusal": None}))).refusal


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("5", 5.0),
        ("Wed, 21 Oct 2099 07:28:00 GMT", (datetime(2099, 10, 21, 7, 28, tzinfo=UTC) - NOW).total_seconds()),
        ("Thu, 01 Jan 2026 00:00:30 GMT", 30.0),
        ("1.5", 1.5),
        ("-3", None),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("Wed, 99 Oct 2099 07:28:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0.0),
    ],
)
async def test_API_14_every_form_of_retry_after(said: str, seconds: float | None) -> None:
    document = response(429, {"error": "slow down"}, {"retry-after": said})
    assert error_of(document, "here", now=NOW).retry_after == seconds
    error = await failed(as_json({"error": "slow down"}, 429, {"Retry-After": said}))
    assert error.retry
    assert (error.retry_after is None) is (seconds is None)


@pytest.mark.parametrize("status", [429, 503, 529])
async def test_API_15_retry_after_counts_for_overload_too(status: int) -> None:
    error = await failed(as_json({"error": "overloaded"}, status, {"Retry-After": "2"}))
    assert (error.kind, error.retry, error.retry_after, error.overloaded) == ("provider", True, 2.0, True)


@pytest.mark.parametrize(
    ("requests", "tokens", "seconds"),
    [
        ("7.66s", "", 7.66),
        ("500ms", "", 0.5),
        ("", "1m30s", 90.0),
        ("500ms", "7.66s", 7.66),
        ("9s", "8ms", 9.0),
        ("12", "1s", 12.0),
        ("junk", "1s", 1.0),
        ("junk", "", None),
        ("1s and more", "", None),
    ],
)
async def test_API_16_the_later_reset_counts(requests: str, tokens: str, seconds: float | None) -> None:
    resets = {"x-ratelimit-reset-requests": requests, "x-ratelimit-reset-tokens": tokens}
    headers = {name: value for name, value in resets.items() if value}
    error = await failed(as_json({"error": "slow down"}, 429, headers))
    assert error.retry
    assert error.retry_after == (None if seconds is None else pytest.approx(seconds))
    waited = await failed(as_json({"error": "slow down"}, 429, {**headers, "Retry-After": "3"}))
    assert waited.retry_after == 3.0


@pytest.mark.parametrize(
    ("reset", "spoken"), [("6m0s", "6 min 0 s"), ("121s", "2 min 1 s"), ("23h59m59.5s", "24 h 0 min")]
)
async def test_API_16_a_reset_far_away_ends_the_run(reset: str, spoken: str) -> None:
    answer = as_json({"error": "slow down"}, 429, {"x-ratelimit-reset-requests": reset})
    result, attempts, _ = await patiently(answer)
    assert isinstance(result, ProviderError)
    assert attempts == 1
    assert result.kind in FATAL
    assert str(result).endswith(f"answers 429: slow down; it answers again in {spoken}: come back then")


async def test_API_16_resets_say_nothing_about_other_troubles() -> None:
    error = await failed(as_json({"error": "oops"}, 500, {"x-ratelimit-reset-requests": "6m0s"}))
    assert (error.retry, error.retry_after) == (True, None)


@pytest.mark.parametrize(
    ("document", "kind", "seconds"),
    [
        ({"error": {"message": "Rate limit reached. Please try again in 1m2.5s."}}, "provider", 62.5),
        ({"error": {"message": "Rate limit reached. Please try again in 20ms."}}, "provider", 0.02),
        ({"error": {"message": "Your quota is used. Retry in 3h0m0s."}}, "quota", 10_800.0),
        ({"error": {"message": "Your quota is used.", "details": [{"retryDelay": "34s"}]}}, "provider", 34.0),
        ({"error": {"message": "Please try again in a moment."}}, "provider", None),
    ],
)
def test_API_16_a_wait_told_in_words(document: object, kind: str, seconds: float | None) -> None:
    error = error_of(response(429, document), "http://h")
    assert (error.kind, error.retry, error.retry_after) == (kind, kind == "provider", seconds)


@pytest.mark.parametrize(
    "fault",
    [
        {"message": "spent", "type": "insufficient_quota", "code": "insufficient_quota"},
        {"message": "You exceeded your current quota, please check your plan."},
    ],
)
async def test_API_17_a_used_up_quota_ends_the_run(fault: dict[str, str]) -> None:
    result, attempts, _ = await patiently(as_json({"error": fault}, 429))
    assert isinstance(result, ProviderError)
    assert (result.kind, attempts, result.overloaded) == ("quota", 1, False)
    assert "quota or balance is filled up" in str(result)


@pytest.mark.parametrize(("status", "words"), [(402, "Insufficient Balance"), (400, "Your credit balance is too low")])
async def test_API_18_no_balance_ends_the_run(status: int, words: str) -> None:
    result, attempts, _ = await patiently(refused(words, status))
    assert isinstance(result, ProviderError)
    assert (result.kind, attempts) == ("quota", 1)
    assert words in str(result)


async def test_API_19_a_wrong_key_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", CANARY)
    result, attempts, told = await patiently(refused(f"Incorrect API key provided: {CANARY}", 401))
    assert isinstance(result, ProviderError)
    assert (result.kind, attempts, told) == ("unauthorized", 1, [])
    assert result.kind in FATAL
    assert CANARY not in str(result)
    assert str(result).endswith("; check the key in SELFDIAG_OPENAI_API_KEY")


@pytest.mark.parametrize("status", [401, 403])
async def test_API_19_a_call_without_a_key_says_how_to_give_one(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    error = await failed(refused("You must log in", status))
    told = str(error).partition("You must log in; ")[2]
    assert told.startswith("no key was sent: run 'selfdiag keys set openai --server' or set SELFDIAG_OPENAI_API_KEY (")
    assert "OPENAI_API_KEY is sent to the service itself alone" in told
    assert CANARY not in str(error)


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("http://{}", "/v1/chat/completions"),
        ("http://{}/", "/v1/chat/completions"),
        ("http://{}/v1", "/v1/chat/completions"),
        ("http://{}/v1/", "/v1/chat/completions"),
        ("http://{}/v1/chat/completions", "/v1/chat/completions"),
        ("http://{}/api/v1", "/api/v1/chat/completions"),
        ("http://{}/v1beta/openai/", "/v1beta/openai/chat/completions"),
        ("{}", "/v1/chat/completions"),
    ],
)
async def test_API_22_every_spelling_of_an_address(address: str, target: str) -> None:
    with Stub(completion()) as stub:
        url = address.format(f"127.0.0.1:{stub.port}")
        async with provider("a", ProviderOptions(base_url=url)) as model:
            await model.ask(CALL)
    assert [request.target for request in stub.requests] == [target]


async def test_API_23_a_wrong_path_answered_with_200() -> None:
    words = "Unexpected endpoint or method. (POST /chat/completions)"
    result, attempts, _ = await patiently(as_json({"error": words}))
    assert isinstance(result, ProviderError)
    assert (result.kind, attempts) == ("provider", 1)
    assert words in str(result) and "/v1" in str(result).partition("; check the address")[2]


async def test_API_23_a_wrong_path_answered_with_404() -> None:
    assert "check the address" in str(await failed(refused("File Not Found", 404)))
    assert "check the address" not in str(await failed(refused("model 'a' not found", 404)))


def test_API_24_no_address_is_not_the_cloud(selfdiag: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for flag in ("--base-url", "--judge-base-url"):
        done = selfdiag("run", "openai:x", flag, " ", OPENAI_API_KEY=CANARY)
        assert done.returncode == 2
        assert f"'{flag}': it is empty" in done.stderr
        assert CANARY not in done.stderr + done.stdout
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with pytest.raises(SelfdiagError, match="is not an http address"):
        provider("x", ProviderOptions(base_url=" "))


async def test_API_25_forms_of_structure_one_after_the_other() -> None:
    wrong = as_json({"error": "'response_format.type' must be 'text'"}, 400)
    with Stub(wrong, wrong, wrong, completion()) as stub:
        async with model_at(stub) as model:
            for _ in range(2):
                assert (await model.ask(SHAPED)).text == "Paris"
            details = model.info().details
    formats = [request.json().get("response_format", {}).get("type") for request in stub.requests]
    assert formats == ["json_schema", "json_schema", "json_object", None, None]
    assert details["asked_without"].endswith("response_format: json_object; response_format: none")


async def test_API_25_a_server_that_takes_schemas_alone() -> None:
    result, requests, details = await asked(completion(), call=SHAPED)
    assert isinstance(result, Reply)
    assert requests[0].json()["response_format"]["type"] == "json_schema"
    assert "asked_without" not in details


async def test_API_26_prompts_say_json() -> None:
    contracts = [text for name, text in vars(prompts).items() if name.endswith("CONTRACT")]
    assert len(contracts) >= 2
    assert all("JSON" in text for text in contracts if "reply" in text)
    wrong = as_json({"error": "json_schema is not supported"}, 400)
    mute = Call(system="Bitte kurz.", user="2 + 2?", schema=prompts.RESPONSE_SCHEMA)
    _, requests, _ = await asked(wrong, wrong, completion(), call=mute)
    formats = [request.json().get("response_format", {}).get("type") for request in requests]
    assert formats == ["json_schema", "json_schema", None]


async def test_API_28_an_empty_reply_in_json_mode_is_asked_for_once_more() -> None:
    result, requests, details = await asked(completion({"content": ""}), completion(), call=SHAPED)
    assert isinstance(result, Reply)
    assert result.text == "Paris"
    assert ["response_format" in request.json() for request in requests] == [True, False]
    assert "json_mode" in details
    result, requests, _ = await asked(completion({"content": " "}), call=SHAPED)
    assert isinstance(result, Reply)
    assert (result.text, len(requests), graded(result)) == (" ", 2, "empty")
    for call, answer in (
        (CALL, completion({"content": ""})),
        (SHAPED, completion({"content": ""}, finish_reason="length")),
        (SHAPED, completion({"content": None}, finish_reason="content_filter")),
    ):
        _, requests, _ = await asked(answer, call=call)
        assert len(requests) == 1


@pytest.mark.parametrize(
    "words",
    [
        "In context=('properties', 'confidence'), 'minimum' is not permitted.",
        "For 'integer' type, properties maximum, minimum are not supported",
        "'additionalProperties' is required to be supplied and to be false",
    ],
)
async def test_API_29_a_keyword_refused_leaves_the_bare_schema(words: str) -> None:
    result, requests, details = await asked(refused(words), completion(), call=SHAPED)
    assert isinstance(result, Reply)
    schema = requests[1].json()["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {"answer": {"type": "string"}, "confidence": {"type": "integer"}}
    assert schema["additionalProperties"] is False
    assert details["asked_without"] == "response_format: schema without limits"


@pytest.mark.parametrize("proxied", [True, False])
async def test_API_37_no_channel_shows_the_key(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, proxied: bool
) -> None:
    from selfdiag.models import http

    monkeypatch.setattr(http, "open_client", functools.partial(open_client, proxied=proxied))
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", CANARY)
    shown: list[str] = []
    echo = {"error": {"message": f"You sent Bearer {CANARY}", "type": CANARY, "param": CANARY}}
    faults = [Answer(body=completion().body, fault=fault) for fault in ("reset", "half", "garbage", "headers")]
    answers = [
        *(as_json(echo, status) for status in (200, 400, 401, 404, 429, 500, 503)),
        Answer(body=f"<p>{CANARY}</p>".encode()),
        Answer(body=CANARY.encode(), headers={"Content-Encoding": "gzip"}),
        stream(f"data: {CANARY}"),
        completion(model=CANARY),
        *faults,
    ]
    with caplog.at_level(logging.DEBUG):
        for answer in answers:
            with Stub(answer) as stub:
                model = model_at(stub)
                async with model:
                    try:
                        reply = await model.ask(CALL)
                        shown += [reply.served_name, reply.finish_reason]
                    except ProviderError as error:
                        shown += [str(error), repr(error), *traceback.format_exception(error)]
                        shown += [repr(link) for link in (error.__cause__, error.__context__)]
                    shown += [repr(model), repr(model._wire), repr(model._wire._client), repr(model.info())]
    assert len(shown) > 6 * len(answers)
    assert CANARY not in "\n".join([*shown, caplog.text])


@pytest.mark.parametrize("key", [f"{CANARY}\n", f"  {CANARY}\r\n"])
async def test_API_38_a_newline_after_the_key(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", key)
    result, requests, _ = await asked(completion())
    assert isinstance(result, Reply)
    assert requests[0].headers["authorization"] == f"Bearer {CANARY}"


async def test_API_38_a_newline_within_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", f"{CANARY}\n{CANARY}")
    with Stub(completion()) as stub, pytest.raises(SelfdiagError) as caught:
        model_at(stub)
    assert CANARY not in str(caught.value)
    assert stub.requests == []


@pytest.mark.parametrize("key", ["", "  ", "\n"])
async def test_API_39_an_empty_key_is_not_sent(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", key)
    result, requests, _ = await asked(completion())
    assert isinstance(result, Reply)
    assert "authorization" not in requests[0].headers


async def test_API_39_nor_when_it_comes_from_elsewhere() -> None:
    with Stub(completion()) as stub:
        async with OpenAICompatible(ModelInfo(provider="gguf", name="a"), stub.url, "", 10.0) as model:
            await model.ask(CALL)
    assert "authorization" not in stub.requests[0].headers


async def test_API_40_token_probabilities() -> None:
    call = Call(system="s", user="u", logprobs=True)
    told = [{"token": "Par", "logprob": -0.25, "top_logprobs": []}, {"token": "is", "logprob": 0}]
    choice = {"message": {"content": "Paris"}, "finish_reason": "stop", "logprobs": {"content": told}}
    result, requests, details = await asked(completion(choices=[choice]), call=call)
    assert isinstance(result, Reply)
    assert requests[0].json()["logprobs"] is True
    assert [(token.text, token.logprob) for token in result.tokens] == [("Par", -0.25), ("is", 0.0)]
    assert "logprobs" not in details
    _, requests, _ = await asked(completion())
    assert "logprobs" not in requests[0].json()


@pytest.mark.parametrize(
    "logprobs",
    [None, [], {}, {"content": None}, {"content": [None]}, {"content": [{"token": "Paris"}]}]
    + [{"content": [{"token": "a", "logprob": -1}]}]
    + [{"content": [{"token": "Paris", "logprob": value}]} for value in (None, "x", True, 0.5, -1e7, 10**400)]
    + [{"content": [{"token": 1, "logprob": -1}, {"token": "Paris", "logprob": -1}]}],
)
async def test_API_40_probabilities_that_make_no_sense_are_none(logprobs: object) -> None:
    choice = {"message": {"content": "Paris"}, "finish_reason": "stop", "logprobs": logprobs}
    call = Call(system="s", user="u", logprobs=True)
    result, _, details = await asked(completion(choices=[choice]), call=call)
    assert isinstance(result, Reply)
    assert (result.text, result.tokens) == ("Paris", ())
    assert details["logprobs"] == "not given by the server"


@pytest.mark.parametrize(
    ("text", "told", "kept"),
    [
        ("Paris", [" Par", "is"], 2),
        ("Paris", ["Par", "is", "<|im_end|>"], 2),
        ("Paris", ["Par", "is", ""], 3),
        ("Paris", ["Par", "is", "!"], 0),
        ("a <b>", ["a ", "<b>"], 2),
        ("Par", ["Par", "\ufffd"], 2),
        ("Paris", ["<think>", "Paris"], 0),
    ],
)
async def test_API_40_probabilities_belong_to_the_text_or_to_nothing(text: str, told: list[str], kept: int) -> None:
    entries = [{"token": token, "logprob": -0.5} for token in told]
    choice = {"message": {"content": text}, "finish_reason": "stop", "logprobs": {"content": entries}}
    reply = await replied(completion(choices=[choice]), call=Call(system="s", user="u", logprobs=True))
    assert [token.text for token in reply.tokens] == told[:kept]


async def test_API_40_a_character_over_several_tokens() -> None:
    halves = [{"token": "\ufffd", "logprob": -0.5, "bytes": [byte]} for byte in "é".encode()]
    choice = {"message": {"content": "é"}, "finish_reason": "stop", "logprobs": {"content": halves}}
    reply = await replied(completion(choices=[choice]), call=Call(system="s", user="u", logprobs=True))
    assert len(reply.tokens) == 2


async def test_API_40_probabilities_refused_are_left_away() -> None:
    call = Call(system="s", user="u", logprobs=True)
    wrong = refused("Logprobs is not enabled for models/x")
    result, requests, details = await asked(wrong, completion(), call=call)
    assert isinstance(result, Reply)
    assert (result.text, result.tokens) == ("Paris", ())
    assert ["logprobs" in request.json() for request in requests] == [True, False]
    assert details["asked_without"] == "logprobs: none"


async def test_API_41_system_text_goes_into_the_user_message() -> None:
    result, requests, details = await asked(refused("System role not supported"), completion())
    assert isinstance(result, Reply)
    assert requests[1].json()["messages"] == [{"role": "user", "content": "Reply as JSON.\n\n2 + 2?"}]
    assert details["asked_without"] == "system role: folded into the user message"


LOADING = refused("Loading model", 503, type="unavailable_error", code=503)


async def test_API_42_a_server_that_still_loads_is_waited_for() -> None:
    said: list[str] = []
    with Stub(*[LOADING] * 5, completion(), LOADING, completion()) as stub:
        async with model_at(stub, waiting=said.append) as model:
            reply, attempts = await ask_patiently(model, CALL, RetryPolicy(retries=0), lambda *_: None)
            assert (reply.text, attempts, len(stub.requests)) == ("Paris", 1, 6)
            assert said == [f"{stub.url} is loading its model"]
            await model.ask(CALL)
    assert len(said) == 2


async def test_API_42_loading_has_a_limit_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "LOADING_LIMIT", -60.0)
    result, attempts, told = await patiently(LOADING)
    assert isinstance(result, ProviderError)
    assert (result.kind, attempts, told) == ("timeout", 1, [])
    assert "still loads its model" in str(result)


@pytest.mark.parametrize(
    "answer",
    [
        refused("the request exceeds the available context size", type="exceed_context_size_error"),
        refused("the request exceeds the available context size", 500, type="exceed_context_size_error"),
        refused("the request exceeds the available context size", 200, type="exceed_context_size_error"),
        refused("too long", code="context_length_exceeded"),
        refused("This model's maximum context length is 2048 tokens"),
        as_json({"object": "error", "message": "maximum context length is 2048", "code": 400}, 400),
    ],
)
async def test_API_43_a_prompt_that_does_not_fit_is_no_fault(answer: Answer) -> None:
    result, attempts, _ = await patiently(answer, call=SHAPED)
    assert isinstance(result, Reply)
    assert (result.overflow, result.text, attempts) == (True, "", 1)


async def test_API_44_a_stream_although_nobody_asked() -> None:
    first, second = ANSWER[:12], ANSWER[12:]
    usage = {"prompt_tokens": 5, "completion_tokens": 9}
    last = "data:" + json.dumps({"model": "b", "choices": [], "usage": usage})
    body = (
        "\ufeff: OPENROUTER PROCESSING\r\n\r\n"
        f"event: message\r\nid: 1\r\nretry: 5\r\ndata:{chunk(first)[6:]}\r\n\r\n: ping\n\n"
        f"{chunk(second)}\n\n{chunk(finish_reason='stop')}\r{last}\n\ndata: [DONE]\n\ndata: junk\n\n"
    )
    for headers in ({"Content-Type": "text/event-stream"}, {"Content-Type": "Text/Event-Stream; charset=utf-8"}):
        reply = await replied(Answer(body=body.encode(), headers=headers))
        plain = await replied(completion({"content": ANSWER}, model="b", usage=usage))
        for field in ("text", "finish_reason", "prompt_tokens", "completion_tokens", "served_name", "refusal"):
            assert getattr(reply, field) == getattr(plain, field)


async def test_API_44_a_stream_with_everything_in_it() -> None:
    tokens = [{"token": "Pa", "logprob": -1.0}, {"token": "ris", "logprob": -2.0}]
    reply = await replied(
        stream(
            chunk(delta={"role": "assistant", "reasoning_content": "h"}),
            chunk(delta={"reasoning_content": "m"}),
            chunk("Pa", logprobs={"content": tokens[:1]}),
            chunk("other", index=1),
            chunk(delta={"content": [{"type": "text", "text": "ris"}]}, logprobs={"content": tokens[1:]}),
            "data: null",
            chunk(finish_reason="length"),
        )
    )
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Paris", "hm", "length")
    assert [token.text for token in reply.tokens] == ["Pa", "ris"]


async def test_API_44_a_payload_over_several_lines() -> None:
    lines = json.dumps(json.loads(chunk("Paris")[6:]), indent=1).splitlines()
    event = "\n".join(f"data: {line}" for line in lines)
    reply = await replied(stream(f"\ufeff{event}", "data: [DONE]"))
    assert (reply.text, reply.finish_reason) == ("Paris", "stop")


@pytest.mark.parametrize(
    "answer",
    [
        stream(chunk("Par")),
        stream(chunk("Par"), 'data: {"choices": [{"del'),
        stream("data: no JSON", "data: [DONE]"),
        stream("data: [", *["data: 1,"] * 100, "data: 1]", chunk("Paris"), "data: [DONE]"),
        Answer(body=b": only a comment\n\n", headers={"Content-Type": "text/event-stream"}),
    ],
)
async def test_API_44_a_stream_without_its_end_is_no_reply(answer: Answer) -> None:
    error = await failed(answer)
    assert (error.kind, error.retry) == ("provider", True)


@pytest.mark.parametrize("fault", ["half", "half_reset"])
async def test_API_45_a_cut_reply_is_asked_for_again(fault: Any) -> None:
    result, attempts, told = await patiently(Answer(body=completion().body, fault=fault), completion())
    assert isinstance(result, Reply)
    assert (result.text, attempts) == ("Paris", 2)
    assert " broke off (" in str(told[0]) and "\n" not in str(told[0])


async def test_API_46_a_page_in_place_of_json() -> None:
    page = Answer(body=b"<html><title>Sign in</title></html>", headers={"Content-Type": "text/html"})
    error = await failed(page)
    assert (error.kind, error.retry) == ("provider", True)
    assert str(error).endswith("not JSON (text/html): Sign in")


@pytest.mark.parametrize("body", [b"plain bytes", gzip.compress(completion().body)])
async def test_API_47_a_wrong_encoding(body: bytes) -> None:
    error = await failed(Answer(body=body, headers={"Content-Encoding": "gzip"}))
    assert (error.kind, error.retry) == ("provider", False)


@pytest.mark.parametrize("empty", [Answer(status=204), Answer(), Answer(body=b" \n")])
async def test_API_48_an_empty_body(empty: Answer) -> None:
    result, attempts, told = await patiently(empty, completion())
    assert isinstance(result, Reply)
    assert attempts == 2
    assert (told[0].kind, f"sent an empty reply ({empty.status})" in str(told[0])) == ("provider", True)


@pytest.mark.parametrize(
    "document",
    [
        {"error": "s"},
        {"error": {"message": "s"}},
        {"object": "error", "message": "s"},
        {"detail": [{"msg": "s"}]},
        {"detail": "s"},
        {"message": "s"},
        [{"error": {"message": "s"}}],
        {"error": json.dumps({"error": {"message": "s"}})},
        {"error": {"message": json.dumps({"error": "s"})}},
    ],
)
async def test_API_49_every_shape_of_an_error(document: object) -> None:
    assert words_of(document) == "s"
    assert " answers 418: s" in str(await failed(as_json(document, 418)))


def test_API_49_what_has_no_words() -> None:
    deep: Any = {"error": "s"}
    for _ in range(400):
        deep = {"error": deep}
    mute: list[Any] = [None, 5, [], {}, {"error": None}, {"error": {}}, {"detail": [[]]}, deep]
    assert not any(map(words_of, mute))
    sound: list[Any] = [{"detail": "s"}, [], [5], None, {"error": None}, {"object": "chat.completion"}]
    assert not any(map(tells_error, sound))
    faulty: list[Any] = [{"error": "s"}, [{"error": {}, "object": "error"}], {"type": "error", "error": {}}]
    assert all(map(tells_error, faulty))


async def test_API_50_certificates_that_are_not_there_are_no_matter_before_the_first_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
    model = provider("a", ProviderOptions(base_url="https://model.invalid/v1"))
    assert model.info().name == "a"
    with pytest.raises(SelfdiagError, match="SSL_CERT_FILE"):
        async with model:
            pass


async def test_API_51_another_model_answers() -> None:
    with Stub(completion(model="b")) as stub:
        async with model_at(stub) as model:
            reply = await model.ask(CALL)
            info = model.info()
    assert stub.requests[0].json()["model"] == "a"
    assert (reply.served_name, info.name, info.served_name) == ("b", "a", "b")


async def test_API_52_a_whole_run_has_a_budget_of_repetitions() -> None:
    budget = RepetitionBudget(60)
    policy = RetryPolicy(retries=4)
    with Stub(refused("slow down", 429)) as stub:
        async with model_at(stub) as model:
            calls = [ask_patiently(model, CALL, policy, lambda *_: None, budget) for _ in range(50)]
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(result, ProviderError) for result in results)
            assert (len(stub.requests), budget.used) == (110, 60)
            assert sum(result.attempts for result in results if isinstance(result, ProviderError)) == 110
            with pytest.raises(ProviderError):
                await ask_patiently(model, CALL, policy, lambda *_: None, budget)
            assert (len(stub.requests), budget.used) == (111, 60)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_what_passes_is_asked_again(status: int) -> None:
    result, attempts, told = await patiently(refused("oops", status), completion())
    assert isinstance(result, Reply)
    assert (attempts, len(told)) == (2, 1)
    _, attempts, told = await patiently(refused("oops", status), retries=0)
    assert (attempts, told) == (1, [])


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 501])
async def test_what_stays_is_not_asked_again(status: int) -> None:
    result, attempts, told = await patiently(refused("oops", status))
    assert isinstance(result, ProviderError)
    assert (attempts, told) == (1, [])


async def test_a_500_that_meets_every_call_is_not_asked_again() -> None:
    retries = []
    with Stub(refused("bad option", 500)) as stub:
        async with model_at(stub) as model:
            for number in (1, 1, 1, 2, 3, 4):
                with pytest.raises(ProviderError) as caught:
                    await model.ask(Call(system="s", user=f"question {number}"))
                retries.append(caught.value.retry)
            stub.script.extend([completion(), refused("bad option", 500)])
            stub.script.popleft()
            await model.ask(CALL)
            with pytest.raises(ProviderError) as caught:
                await model.ask(CALL)
    assert retries == [True, True, True, True, False, False]
    assert caught.value.retry


def test_500s_count_one_after_the_other() -> None:
    questions = [("s", str(number)) for number in range(9)]
    together = AlikeFaults()
    assert {together.met("crash", 0.0, 1.0, question) for question in questions} == {1}
    apart = AlikeFaults()
    times = [(2.0 * n, 2.0 * n + 1) for n in range(4)]
    assert [apart.met("crash", *when, question) for when, question in zip(times, questions, strict=False)] == [
        1,
        2,
        3,
        4,
    ]
    assert apart.met("crash", 20.0, 21.0, questions[0]) == 4
    assert apart.met("another", 20.0, 21.0, questions[0]) == 1
    assert [apart.met("no question", 2.0 * n, 2.0 * n + 1) for n in range(3)] == [1, 2, 3]
    apart.forget()
    assert apart.met("crash", 30.0, 31.0, questions[0]) == 1


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("10.0.0.1:11434", True),
        ("http://127.0.0.1:8080/v1", False),
        ("http://example.org/v1", False),
    ],
)
async def test_OLL_43_the_native_provider_is_named_at_its_port(address: str, told: bool) -> None:
    said: list[str] = []
    async with provider("a", ProviderOptions(base_url=address, waiting=said.append)) as model:
        details = model.info().details
    assert said == ([details["address"]] if told else [])
    assert ("ollama:NAME" in details.get("address", "")) is told


async def test_thinking_that_was_not_asked_for_is_noted() -> None:
    thinking = Call(system="s", user="u", think="low")
    thought = completion({"content": "x", "reasoning_content": "hm"})
    for call, answer, note in (
        (CALL, completion(), None),
        (CALL, thought, "the model thinks although it was asked not to"),
        (CALL, completion({"content": "<think>hm</think>x"}), "the model thinks although it was asked not to"),
        (thinking, thought, None),
        (thinking, completion(), "asked for, but no reply shows any"),
    ):
        _, _, details = await asked(answer, call=call)
        assert details.get("thinking") == note
    with Stub(completion(), thought, completion()) as stub:
        async with model_at(stub) as model:
            for _ in range(3):
                await model.ask(thinking)
            assert "thinking" not in model.info().details


async def test_thinking_refused_is_left_away() -> None:
    wrong = refused('"a" does not support thinking', type="invalid_request_error", param=None, code=None)
    _, requests, details = await asked(wrong, completion(), call=Call(system="s", user="u", think="high"))
    assert [request.json().get("reasoning_effort") for request in requests] == ["high", None]
    assert details["asked_without"] == "reasoning_effort: none"
    assert details["thinking"] == "asked for, but the server refuses the setting"


@pytest.mark.parametrize(
    ("said", "reason"), [("max_tokens", "length"), ("model_length", "length"), ("eos", "stop"), ("odd", "odd")]
)
async def test_other_words_for_the_end(said: str, reason: str) -> None:
    assert (await replied(completion(finish_reason=said))).finish_reason == reason
