"""The provider of Gemini against a server on loopback that answers as Google's does, and worse."""

import asyncio
import functools
import ssl
import traceback
from typing import Any
from urllib.parse import unquote

import pytest
from http_stub import Answer, Stub, as_json

from selfdiag import safety
from selfdiag.elicit.judge import JUDGE_SCHEMA
from selfdiag.elicit.prompts import RESPONSE_SCHEMA
from selfdiag.models import gemini
from selfdiag.models.base import Call, ModelInfo, Provider, ProviderError, ProviderOptions, Reply, Token
from selfdiag.models.gemini import discover, offer, provider
from selfdiag.safety import SelfdiagError

CALL = Call(system="Answer briefly.", user="What is the capital of France?")
CANARY = "canary-7f3a9c55e1d04b"
TEXT = '{"answer": "Paris", "confidence": 80}'
TYPES = "type.googleapis.com/google.rpc."

_tls_context = functools.cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test know another one's keys, and read the certificates once: that takes longest of all."""
    monkeypatch.setattr(safety, "_known_secrets", set())
    monkeypatch.setattr(ssl, "create_default_context", _tls_context)


def generated(*parts: object, finish: str | None = "STOP", thoughts: int | None = None, **candidate: object) -> Answer:
    """Return a usual reply with one candidate, whose further fields are given by name."""
    usage = {"promptTokenCount": 12, "candidatesTokenCount": 7, "thoughtsTokenCount": thoughts}
    content = {"role": "model", "parts": list(parts)}
    return as_json(
        {
            "candidates": [{"content": content, "finishReason": finish, "index": 0} | candidate],
            "usageMetadata": {name: value for name, value in usage.items() if value is not None},
            "modelVersion": "gemini-served",
        }
    )


GOOD = generated({"text": TEXT})


def fault(code: int, words: str, status: str = "INVALID_ARGUMENT", *details: dict[str, Any], http: int = 0) -> Answer:
    error = {"code": code, "message": words, "status": status, "details": list(details)}
    return as_json({"error": error}, status=http or code)


def place(stub: Stub) -> str:
    return f"http://127.0.0.1:{stub.port}"


async def asked(stub: Stub, *calls: Call) -> tuple[list[Reply], ModelInfo]:
    """Return the replies to calls made one after the other, and what is then known of the model."""
    async with asyncio.timeout(30), provider("gemini-x", ProviderOptions(base_url=place(stub), timeout=10)) as model:
        return [await model.ask(call) for call in calls or (CALL,)], model.info()


async def replied(answer: Answer, call: Call = CALL) -> Reply:
    with Stub(answer) as stub:
        ((reply,), _) = await asked(stub, call)
    return reply


async def failed(answer: Answer) -> ProviderError:
    with Stub(answer) as stub, pytest.raises(ProviderError) as caught:
        await asked(stub)
    return caught.value


def configs(stub: Stub) -> list[dict[str, Any]]:
    return [request.json()["generationConfig"] for request in stub.requests]


async def test_the_request_says_what_was_asked_and_no_more() -> None:
    with Stub(GOOD) as stub:
        await asked(stub)
    (request,) = stub.requests
    assert (request.method, request.target) == ("POST", "/v1beta/models/gemini-x:generateContent")
    assert request.headers["content-type"] == "application/json"
    assert request.json() == {
        "systemInstruction": {"parts": [{"text": "Answer briefly."}]},
        "contents": [{"role": "user", "parts": [{"text": "What is the capital of France?"}]}],
        "generationConfig": {
            "temperature": 0.0,
            "maxOutputTokens": 256,
            "seed": 0,
            "thinkingConfig": {"thinkingBudget": 0},
        },
    }


async def test_settings_are_carried_over() -> None:
    call = Call(system="s", user='ünï\n"q"', max_tokens=9, temperature=0.75, seed=None, logprobs=True)
    with Stub(GOOD) as stub:
        await asked(stub, call)
    (config,) = configs(stub)
    assert (config["temperature"], config["maxOutputTokens"], config["responseLogprobs"]) == (0.75, 9, True)
    assert "seed" not in config
    assert not {"topP", "topK", "responseSchema", "responseMimeType"} & set(config)
    assert stub.requests[0].json()["contents"][0]["parts"][0]["text"] == call.user


async def test_the_schema_is_a_plain_one_in_googles_words() -> None:
    calls = [Call(system="s", user="u", schema=schema) for schema in (RESPONSE_SCHEMA, JUDGE_SCHEMA)]
    with Stub(GOOD) as stub:
        await asked(stub, *calls)
    first, second = configs(stub)
    assert first["responseMimeType"] == "application/json"
    assert first["responseSchema"] == {
        "type": "OBJECT",
        "properties": {"answer": {"type": "STRING"}, "confidence": {"type": "INTEGER"}},
        "propertyOrdering": ["answer", "confidence"],
        "required": ["answer", "confidence"],
    }
    assert second["responseSchema"]["properties"] == {"answer": {"type": "STRING", "enum": ["same", "different"]}}


@pytest.mark.parametrize(
    ("think", "budget", "room"),
    [("low", 1024, 8192), ("medium", 4096, 8192), ("on", 4096, 8192), ("high", 16384, 16640)],
)
async def test_thinking_gets_a_budget_and_room_for_it(think: Any, budget: int, room: int) -> None:
    with Stub(GOOD) as stub:
        _, info = await asked(stub, Call(system="s", user="u", think=think))
    (config,) = configs(stub)
    assert config["thinkingConfig"] == {"thinkingBudget": budget, "includeThoughts": True}
    assert (config["maxOutputTokens"], config["temperature"]) == (room, 0.0)
    assert info.details == {"thinking": "asked for, but no reply shows any"}


async def test_a_plain_reply_is_mapped() -> None:
    with Stub(generated({"text": "Pa"}, {"text": "ris"}, thoughts=5)) as stub:
        ((reply,), info) = await asked(stub)
    assert reply.text == "Paris"
    assert (reply.finish_reason, reply.refusal, reply.overflow, reply.reasoning) == ("stop", False, False, "")
    assert (reply.prompt_tokens, reply.completion_tokens) == (12, 12)
    assert reply.thought
    assert reply.latency_s > 0
    assert (reply.served_name, info.served_name) == ("gemini-served", "gemini-served")
    assert (info.provider, info.name, info.server) == ("gemini", "gemini-x", f"127.0.0.1:{stub.port}")
    assert not info.remote


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("models/gemini-x", "/v1beta/models/gemini-x:generateContent"),
        ("tunedModels/mine", "/v1beta/tunedModels/mine:generateContent"),
        ("a?key=b&c#d", "/v1beta/models/a?key=b&c#d:generateContent"),
        ("a b:c", "/v1beta/models/a b:c:generateContent"),
    ],
)
async def test_a_name_stays_in_its_place_in_the_path(name: str, target: str) -> None:
    with Stub(GOOD) as stub:
        async with provider(name, ProviderOptions(base_url=place(stub))) as model:
            await model.ask(CALL)
    sent = stub.requests[0].target
    assert not {"?", "#"} & set(sent)
    assert unquote(sent) == target


REFUSED = [
    ("temperature is not supported by this model.", "temperature", "temperature"),
    ("Unknown name \"seed\" at 'generation_config': Cannot find field.", "seed", "seed"),
    ("Logprobs is not enabled for models/x", "responseLogprobs", "logprobs"),
    ("JSON mode is not enabled for models/x", "responseSchema", "schema"),
    ("generation_config.response_schema.properties: should be non-empty", "responseMimeType", "schema"),
]


@pytest.mark.parametrize(("words", "field", "step"), REFUSED)
async def test_what_is_refused_is_left_away_once_and_for_all(words: str, field: str, step: str) -> None:
    call = Call(system="s", user="u", schema=RESPONSE_SCHEMA, logprobs=True)
    with Stub(fault(400, words), GOOD) as stub:
        replies, info = await asked(stub, call, call)
    assert [reply.text for reply in replies] == [TEXT, TEXT]
    assert [field in config for config in configs(stub)] == [True, False, False]
    kept = {"temperature", "seed", "responseLogprobs", "thinkingConfig", "maxOutputTokens"} - {field}
    assert all(configs(stub)[-1][name] == configs(stub)[0][name] for name in kept)
    assert info.details == {"asked_without": step}


async def test_API_03_a_refusal_that_goes_on_ends() -> None:
    refused = fault(400, "temperature is not supported by this model.")
    with Stub(refused) as stub, pytest.raises(ProviderError, match="temperature is not supported") as caught:
        await asked(stub)
    assert (caught.value.kind, caught.value.retry) == ("config", False)
    assert len(stub.requests) == 2


async def test_API_41_a_refused_system_text_goes_into_the_question() -> None:
    with Stub(fault(400, "Developer instruction is not enabled for models/gemma"), GOOD) as stub:
        _, info = await asked(stub)
    body = stub.requests[-1].json()
    assert "systemInstruction" not in body
    text = "Answer briefly.\n\nWhat is the capital of France?"
    assert body["contents"] == [{"role": "user", "parts": [{"text": text}]}]
    assert info.details == {"asked_without": "system text"}


async def test_a_model_that_must_think_thinks_as_little_as_it_can() -> None:
    answers = [
        fault(400, "Budget 0 is invalid. This model only works in thinking mode."),
        fault(400, "'minimal' is not a supported thinking level for this model."),
        generated({"text": TEXT}, thoughts=40),
    ]
    with Stub(*answers) as stub:
        _, info = await asked(stub, CALL, CALL)
    assert [config["thinkingConfig"] for config in configs(stub)] == [
        {"thinkingBudget": 0},
        {"thinkingLevel": "minimal"},
        {"thinkingLevel": "low"},
        {"thinkingLevel": "low"},
    ]
    assert [config["maxOutputTokens"] for config in configs(stub)] == [256, 8192, 8192, 8192]
    assert info.details == {
        "asked_without": "thinking budget; minimal thinking",
        "thinking": "the model thinks although it was asked not to",
    }


@pytest.mark.parametrize(
    "words", ["Thinking budget is not supported for this model.", "Request contains an invalid argument."]
)
async def test_a_refused_thinking_setting_is_dropped(words: str) -> None:
    refused = fault(400, words)
    with Stub(refused, refused, refused, GOOD) as stub:
        _, info = await asked(stub)
    assert "thinkingConfig" not in configs(stub)[-1]
    assert configs(stub)[-1]["maxOutputTokens"] == 8192
    assert info.details == {"asked_without": "thinking budget; minimal thinking; thinking"}


@pytest.mark.parametrize(("think", "level"), [("low", "low"), ("medium", "medium"), ("on", "medium"), ("high", "high")])
async def test_a_refused_budget_becomes_a_level(think: Any, level: str) -> None:
    refused = fault(400, "Thinking budget is not supported for this model.")
    call = Call(system="s", user="u", think=think)
    with Stub(refused, GOOD) as stub:
        await asked(stub, call)
    first, second = configs(stub)
    assert second["thinkingConfig"] == {"includeThoughts": True, "thinkingLevel": level}
    assert second["maxOutputTokens"] == first["maxOutputTokens"]
    with Stub(refused, refused, GOOD) as stub:
        _, info = await asked(stub, call)
    assert info.details == {
        "asked_without": "thinking budget; thinking",
        "thinking": "asked for, but the server refuses the setting",
    }


async def test_API_33_a_candidate_without_parts_is_a_cut_reply() -> None:
    usage = {"thoughtsTokenCount": 2999}
    for candidate in ({"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}, {"finishReason": "MAX_TOKENS"}):
        reply = await replied(as_json({"candidates": [candidate], "usageMetadata": usage}))
        assert (reply.text, reply.finish_reason, reply.refusal) == ("", "length", False)
        assert (reply.prompt_tokens, reply.completion_tokens) == (None, 2999)
        assert (reply.thought, reply.reasoning) == (True, "")


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT"])
async def test_API_34_a_blocked_prompt_is_a_refusal(reason: str) -> None:
    for candidates in ({}, {"candidates": []}, {"candidates": None}):
        reply = await replied(as_json({"promptFeedback": {"blockReason": reason}, **candidates}))
        assert reply.refusal
        assert (reply.text, reply.finish_reason) == ("", "filter")


@pytest.mark.parametrize(
    ("finish", "reason", "refusal"),
    [
        ("STOP", "stop", False),
        ("MAX_TOKENS", "length", False),
        ("SAFETY", "filter", True),
        ("RECITATION", "filter", True),
        ("PROHIBITED_CONTENT", "filter", True),
        ("BLOCKLIST", "filter", True),
        ("SPII", "filter", True),
        ("OTHER", "OTHER", False),
        ("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL", False),
        (None, "stop", False),
    ],
)
async def test_reasons_to_finish(finish: str | None, reason: str, refusal: bool) -> None:
    reply = await replied(generated({"text": "Par"}, finish=finish))
    assert (reply.finish_reason, reply.refusal, reply.text) == (reason, refusal, "Par")


@pytest.mark.parametrize(
    ("parts", "text", "reasoning"),
    [
        ([{"text": "hm", "thought": True}, {"text": "{…}"}], "{…}", "hm"),
        ([{"text": "a"}, {"text": "hm", "thought": True}, {"text": "b", "thought": False}], "ab", "hm"),
        ([{"text": "a", "thoughtSignature": "xyz"}, {"executableCode": {"code": "1"}}, {"text": 5}, None], "a", ""),
        ([], "", ""),
    ],
)
async def test_API_35_thoughts_are_no_part_of_the_answer(parts: list[Any], text: str, reasoning: str) -> None:
    reply = await replied(generated(*parts))
    assert (reply.text, reply.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("answer", "thinks"),
    [
        (generated({"text": "a"}, thoughts=3), True),
        (generated({"text": "hm", "thought": True}), True),
        (generated({"text": "a"}, thoughts=0), False),
        (GOOD, False),
    ],
)
async def test_thinking_that_was_not_asked_for_is_noted(answer: Answer, thinks: bool) -> None:
    with Stub(answer) as stub:
        _, info = await asked(stub)
        _, told = await asked(stub, Call(system="s", user="u", think="on"))
    assert info.details.get("thinking", "") == ("the model thinks although it was asked not to" if thinks else "")
    assert told.details.get("thinking", "") == ("" if thinks else "asked for, but no reply shows any")


def chosen(*tokens: tuple[object, object]) -> dict[str, object]:
    return {
        "chosenCandidates": [{"token": token, "tokenId": 1, "logProbability": logprob} for token, logprob in tokens]
    }


async def test_probabilities_of_tokens_are_read_when_asked_for() -> None:
    answer = generated({"text": "Paris"}, logprobsResult=chosen(("Par", -0.25), ("is", 0)))
    reply = await replied(answer, Call(system="s", user="u", logprobs=True))
    assert reply.tokens == (Token(text="Par", logprob=-0.25), Token(text="is", logprob=0.0))
    assert (await replied(answer)).tokens == ()


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        {},
        {"chosenCandidates": None},
        chosen(("Par", -0.25)),
        chosen(("Paris", None)),
        chosen((5, -1), ("Paris", -1)),
    ],
)
async def test_probabilities_that_do_not_fit_the_text_are_none(result: object) -> None:
    answer = generated({"text": "Paris"}, logprobsResult=result)
    reply = await replied(answer, Call(system="s", user="u", logprobs=True))
    assert (reply.text, reply.tokens) == ("Paris", ())


@pytest.mark.parametrize(
    "document",
    [{}, [], "text", {"candidates": []}, {"candidates": [None]}, {"promptFeedback": {}}, {"promptFeedback": 1}],
)
async def test_a_200_without_a_candidate_may_be_asked_again(document: object) -> None:
    error = await failed(as_json(document))
    assert (error.kind, error.retry) == ("provider", True)
    assert "no candidate" in str(error)


@pytest.mark.parametrize("usage", [None, [], {"promptTokenCount": "5", "candidatesTokenCount": True}])
async def test_token_counts_that_make_no_sense_are_unknown(usage: object) -> None:
    reply = await replied(as_json({"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": usage}))
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


EXHAUSTED = "RESOURCE_EXHAUSTED"
PLAN = "You exceeded your current quota, please check your plan and billing details. For more information see the docs."
METRIC = "\n* Quota exceeded for metric: generate_content_free_tier_requests, limit: {}, model: gemini-x\n"


def retry_in(delay: str) -> dict[str, str]:
    return {"@type": f"{TYPES}RetryInfo", "retryDelay": delay}


@pytest.mark.parametrize(
    ("answer", "kind", "retry", "wait"),
    [
        (fault(429, PLAN + METRIC.format(20), EXHAUSTED, retry_in("36s")), "provider", True, 36.0),
        (fault(429, PLAN, EXHAUSTED, retry_in("36.429760048s")), "provider", True, 36.429760048),
        (fault(429, f"{PLAN}{METRIC.format(20)}Please retry in 7.5s.", EXHAUSTED), "provider", True, 7.5),
        (fault(429, "Resource has been exhausted (e.g. check quota).", EXHAUSTED), "provider", True, None),
        (fault(429, PLAN, EXHAUSTED, retry_in("soon")), "quota", False, None),
        (fault(429, PLAN, EXHAUSTED), "quota", False, None),
        (fault(429, PLAN, EXHAUSTED, retry_in("43200s")), "quota", False, 43200.0),
        (fault(429, PLAN, EXHAUSTED, retry_in("121s")), "quota", False, 121.0),
        (fault(429, PLAN, EXHAUSTED, retry_in("120s")), "provider", True, 120.0),
        (fault(429, PLAN + "." * 300 + METRIC.format(0), EXHAUSTED, retry_in("36s")), "quota", False, 36.0),
        (fault(429, PLAN + METRIC.format(0), EXHAUSTED, retry_in("36s")), "quota", False, 36.0),
        (fault(429, "Your prepayment credits are depleted.", EXHAUSTED), "quota", False, None),
        (fault(503, "The model is overloaded.", "UNAVAILABLE", retry_in("2s")), "provider", True, 2.0),
        (fault(500, "An internal error has occurred.", "INTERNAL"), "provider", True, None),
        (fault(403, "Permission denied.", "PERMISSION_DENIED"), "unauthorized", False, None),
        (fault(404, "models/gemini-x is not found", "NOT_FOUND"), "model_missing", False, None),
        (fault(400, "API key not valid. Please pass a valid API key."), "unauthorized", False, None),
        (
            fault(400, "Renew it.", "INVALID_ARGUMENT", {"@type": f"{TYPES}ErrorInfo", "reason": "API_KEY_INVALID"}),
            "unauthorized",
            False,
            None,
        ),
        (fault(400, "User location is not supported.", "FAILED_PRECONDITION"), "config", False, None),
        (fault(429, PLAN, EXHAUSTED, retry_in("3s"), http=200), "provider", True, 3.0),
        (as_json([{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}]), "provider", True, None),
        (as_json({"error": "engine died"}), "provider", True, None),
        (Answer(body=b'data: {"error": {"code": 429, "message": "slow down"}}\n\n'), "provider", True, None),
        (Answer(body=b"<html>Sign in</html>"), "provider", True, None),
        (Answer(status=429, body=b"<html>no</html>", headers={"Retry-After": "4"}), "provider", True, 4.0),
        (Answer(fault="reset"), "provider", True, None),
    ],
)
async def test_kinds_of_errors(answer: Answer, kind: str, retry: bool, wait: float | None) -> None:
    error = await failed(answer)
    assert (error.kind, error.retry, error.retry_after) == (kind, retry, wait)
    if answer.status == 429:
        assert error.overloaded is retry


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (fault(429, PLAN, EXHAUSTED, retry_in("36s")), ""),
        (fault(429, "Check quota.", EXHAUSTED), ""),
        (fault(429, PLAN, EXHAUSTED, retry_in("3600s")), "it answers again in 1 h 0 min: come back then"),
        (fault(429, PLAN, EXHAUSTED), "nothing more is answered until its quota or balance is filled up"),
        (fault(400, "API key not valid."), "no key was sent: run 'selfdiag keys set gemini --server'"),
    ],
)
async def test_a_message_advises_what_is_done(answer: Answer, advice: str) -> None:
    _, _, told = str(await failed(answer)).partition("; ")
    assert told.startswith(advice)
    assert bool(told) is bool(advice)


async def test_what_the_server_wishes_in_its_header_counts_first() -> None:
    document = {"error": {"code": 429, "message": PLAN, "status": EXHAUSTED, "details": [retry_in("36s")]}}
    error = await failed(as_json(document, status=429, headers={"Retry-After": "5"}))
    assert (error.kind, error.retry_after) == ("provider", 5.0)


async def test_a_prompt_that_does_not_fit_overflows() -> None:
    words = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    reply = await replied(fault(400, words))
    assert reply.overflow
    assert reply.text == ""


async def test_API_36_the_key_is_in_its_header_and_never_in_the_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_GEMINI_API_KEY", f" {CANARY}\n")
    with Stub(fault(400, "seed?"), fault(400, "JSON mode"), GOOD) as stub:
        await asked(stub, Call(system="s", user="u", schema=RESPONSE_SCHEMA), CALL)
    assert len(stub.requests) == 4
    for request in stub.requests:
        assert request.headers.pop("x-goog-api-key") == CANARY
        assert "?" not in request.target
        assert CANARY not in f"{request.target} {request.headers} {request.body!r}"


@pytest.mark.parametrize(
    "answer",
    [
        fault(400, f"API key not valid: {CANARY}"),
        fault(400, f"{CANARY} is odd"),
        fault(403, CANARY, "PERMISSION_DENIED"),
        fault(500, f"x-goog-api-key: {CANARY}", "INTERNAL", http=200),
        Answer(body=f"<p>{CANARY}</p>".encode()),
        Answer(status=500, body=f"<p>{CANARY}</p>".encode()),
        Answer(fault="reset"),
        Answer(fault="garbage"),
    ],
)
async def test_API_37_the_key_is_in_no_message_and_no_repr(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    monkeypatch.setenv("SELFDIAG_GEMINI_API_KEY", CANARY)
    with Stub(answer) as stub:
        model = provider("gemini-x", ProviderOptions(base_url=place(stub), timeout=10))
        async with model:
            with pytest.raises(ProviderError) as caught:
                await model.ask(CALL)
    shown = "".join(traceback.format_exception(caught.value))
    assert CANARY not in f"{shown} {caught.value!r} {model!r} {model.info()!r} {vars(model)!r}"


async def test_API_37_a_key_for_another_place_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", CANARY)
    monkeypatch.setenv("SELFDIAG_ANTHROPIC_API_KEY", CANARY)
    with Stub(GOOD) as stub:
        await asked(stub)
    assert "x-goog-api-key" not in stub.requests[0].headers
    assert CANARY not in repr(stub.requests[0])


@pytest.mark.parametrize("key", [f"{CANARY}é", f"{CANARY}\n{CANARY}", f"{CANARY}\x1b"])
def test_a_key_that_no_header_can_hold_is_one_line_without_it(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", key)
    with pytest.raises(SelfdiagError, match="key for gemini holds characters that no key has") as caught:
        provider("m", ProviderOptions())
    assert caught.value.exit_code == 3
    assert CANARY not in str(caught.value)


def test_google_itself_needs_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_GEMINI_API_KEY", CANARY)
    with pytest.raises(SelfdiagError, match="set GEMINI_API_KEY") as caught:
        provider("gemini-x", ProviderOptions())
    assert caught.value.exit_code == 3
    monkeypatch.setenv("GEMINI_API_KEY", CANARY)
    model = provider("gemini-x", ProviderOptions())
    assert isinstance(model, Provider)
    info = model.info()
    assert (info.server, info.remote, model.concurrency) == ("generativelanguage.googleapis.com", True, 8)
    assert (model.takes_schema, model.max_tokens) == (True, 512)


@pytest.mark.parametrize(
    ("tail", "target"),
    [
        ("", "/v1beta"),
        ("/", "/v1beta"),
        ("/v1beta", "/v1beta"),
        ("/v1beta/", "/v1beta"),
        ("/v1beta/models", "/v1beta"),
        ("/v1beta/models/other:generateContent", "/v1beta"),
        ("/v1", "/v1"),
        ("/v1/models", "/v1"),
        ("/api/google", "/api/google/v1beta"),
    ],
)
async def test_API_22_every_spelling_of_a_base_url_is_the_same_place(tail: str, target: str) -> None:
    with Stub(GOOD) as stub:
        async with provider("m", ProviderOptions(base_url=f"{place(stub)}{tail}")) as model:
            await model.ask(CALL)
    assert stub.requests[0].target == f"{target}/models/m:generateContent"


def test_a_password_in_the_address_is_refused_without_showing_it() -> None:
    with pytest.raises(SelfdiagError, match="put the key into SELFDIAG_GEMINI_API_KEY") as caught:
        provider("m", ProviderOptions(base_url=f"http://someone:{CANARY}@127.0.0.1:1"))
    assert CANARY not in str(caught.value)


async def test_the_models_of_the_account_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", CANARY)
    writes = {"supportedGenerationMethods": ["generateContent", "countTokens"]}
    entries = [
        {"name": "models/gemini-a", "displayName": "Gemini A", "inputTokenLimit": 1048576, **writes},
        {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
        {"name": "models/gemini-b", **writes},
        {"name": "tunedModels/mine", **writes},
        {"name": "models/odd"},
        {"displayName": "nameless", **writes},
    ]
    with Stub(as_json({"models": entries})) as stub:
        monkeypatch.setattr(gemini, "DEFAULT_URL", f"{place(stub)}/v1beta")
        found = await discover("gemini")
    assert [line.model for line in found] == ["gemini:gemini-a", "gemini:gemini-b", "gemini:tunedModels/mine"]
    assert (found[0].remark, found[0].details) == ("Gemini A", {"context": "1048576"})
    assert (found[1].remark, found[1].details) == ("", {})
    assert all(line.ready and line.remote for line in found)
    (request,) = stub.requests
    assert (request.method, request.target) == ("GET", "/v1beta/models?pageSize=1000")
    assert request.headers["x-goog-api-key"] == CANARY


async def test_a_list_that_cannot_be_had_leaves_the_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", CANARY)
    with Stub(fault(400, f"API key not valid: {CANARY}")) as stub:
        monkeypatch.setattr(gemini, "DEFAULT_URL", f"{place(stub)}/v1beta")
        (line,) = await discover("gemini")
    assert (line.model, line.ready) == ("gemini:NAME", False)
    assert "answers 400: API key not valid: [key]" in line.remark


async def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with Stub(GOOD) as stub:
        monkeypatch.setattr(gemini, "DEFAULT_URL", f"{place(stub)}/v1beta")
        assert await discover("gemini") == offer("gemini")
    assert stub.requests == []
    assert not offer("gemini")[0].ready
