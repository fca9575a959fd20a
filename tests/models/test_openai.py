"""The OpenAI-compatible provider against a server on loopback that does what real ones do, and worse."""

import asyncio
import functools
import gzip
import importlib.util
import json
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from http_stub import Answer, Stub, as_json, completion

from selfdiag import safety
from selfdiag.models import openai
from selfdiag.models.address import base_url, is_loopback
from selfdiag.models.base import Call, ProviderError, ProviderOptions, Reply
from selfdiag.models.openai import provider
from selfdiag.safety import SelfdiagError

CALL = Call(system="Answer briefly.", user="What is the capital of France?")
CANARY = "canary-7f3a9c55e1d04b"
RECORDED = Path(__file__).resolve().parents[3] / "shared" / "fixtures"

_tls_context = functools.cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test know another one's keys, and read the certificates once: that takes longest of all."""
    monkeypatch.setattr(safety, "_known_secrets", set())
    monkeypatch.setattr(ssl, "create_default_context", _tls_context)


async def ask(stub: Stub, call: Call = CALL, patience: float = 10.0) -> Reply:
    options = ProviderOptions(base_url=stub.url, timeout=patience)
    async with asyncio.timeout(30), provider("some-model", options) as model:
        return await model.ask(call)


async def replied(answer: Answer) -> Reply:
    with Stub(answer) as stub:
        return await ask(stub)


async def failed(answer: Answer, patience: float = 10.0) -> ProviderError:
    with Stub(answer) as stub, pytest.raises(ProviderError) as caught:
        await ask(stub, patience=patience)
    return caught.value


def openai_url(text: str) -> str:
    return base_url(text, "openai", version="v1", below_paths=False)


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1:8000",
        "http://127.0.0.1:8000",
        "http://127.0.0.1:8000/",
        " http://127.0.0.1:8000/v1 ",
        "http://127.0.0.1:8000/v1/",
        "http://127.0.0.1:8000/v1/chat/completions",
        "http://127.0.0.1:8000/v1/chat/completions/",
        "http://127.0.0.1:8000/v1/models",
        "http://127.0.0.1:8000/v1/models/some",
    ],
)
def test_every_spelling_of_a_base_url_is_the_same_place(text: str) -> None:
    assert openai_url(text) == "http://127.0.0.1:8000/v1"


def test_a_base_url_keeps_its_own_path_and_scheme() -> None:
    assert openai_url("https://example.invalid/api/openai/") == "https://example.invalid/api/openai"
    assert openai_url("https://example.invalid/models") == "https://example.invalid/models"
    assert openai_url("[::1]:8080") == "http://[::1]:8080/v1"


@pytest.mark.parametrize(
    "text", ["", "  ", "http://", "ftp://127.0.0.1", "http://host:x", "http://host:99999", "http://[::1", "::1"]
)
def test_what_is_no_address_is_one_line(text: str) -> None:
    with pytest.raises(SelfdiagError, match=r"^--base-url .* is not an http address such as") as caught:
        openai_url(text)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://localhost/v1", True),
        ("http://LOCALHOST:80/v1", True),
        ("http://model.localhost/v1", True),
        ("http://[::1]:9/v1", True),
        ("http://10.0.0.1/v1", False),
        ("http://localhost.example.invalid/v1", False),
        ("http://127.0.0.1.example.invalid/v1", False),
        ("https://example.invalid/v1", False),
    ],
)
def test_loopback_is_told_from_elsewhere(url: str, local: bool) -> None:
    assert is_loopback(url) is local
    built = provider("m", ProviderOptions(base_url=url))
    assert built.info().remote is not local
    assert built.concurrency == (1 if local else 8)


async def test_request_says_what_was_asked_and_no_more() -> None:
    with Stub(completion()) as stub:
        await ask(stub)
    (request,) = stub.requests
    assert (request.method, request.target) == ("POST", "/v1/chat/completions")
    assert request.headers["content-type"] == "application/json"
    assert request.json() == {
        "model": "some-model",
        "messages": [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": "What is the capital of France?"},
        ],
        "temperature": 0.0,
        "max_tokens": 256,
        "seed": 0,
    }


async def test_request_carries_settings_and_schema() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    call = Call(system="s", user='ünï\n"q"', max_tokens=7, temperature=0.75, seed=None, schema=schema)
    with Stub(completion()) as stub:
        await ask(stub, call)
    sent = stub.requests[0].json()
    assert sent["messages"][1]["content"] == call.user
    assert (sent["max_tokens"], sent["temperature"]) == (7, 0.75)
    assert "seed" not in sent
    assert sent["response_format"]["type"] == "json_schema"
    assert sent["response_format"]["json_schema"]["schema"] == schema


async def test_a_plain_reply_is_mapped() -> None:
    reply = await replied(completion())
    assert reply.text == "Paris"
    assert reply.finish_reason == "stop"
    assert (reply.prompt_tokens, reply.completion_tokens) == (12, 3)
    assert reply.served_name == "served-model"
    assert reply.latency_s > 0
    assert (reply.refusal, reply.overflow, reply.reasoning) == (False, False, "")


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "x", "reasoning_content": "because"}, "x", "because"),
        ({"content": "x", "reasoning": "because"}, "x", "because"),
        ({"content": "x", "reasoning_content": None}, "x", ""),
        ({"content": None, "reasoning_content": "only thoughts"}, "", "only thoughts"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", ""),
        ({"content": [{"type": "image"}, "loose", None, {"type": "text", "text": 5}]}, "", ""),
        ({"content": ""}, "", ""),
        ({"content": {"odd": 1}}, "", ""),
        ({"role": "assistant"}, "", ""),
    ],
)
async def test_content_in_every_form(message: dict[str, Any], text: str, reasoning: str) -> None:
    reply = await replied(completion(message))
    assert (reply.text, reply.reasoning) == (text, reasoning)


async def test_a_refusal_is_marked_and_its_words_kept() -> None:
    reply = await replied(completion({"content": None, "refusal": "I cannot help with that."}))
    assert reply.refusal
    assert reply.text == "I cannot help with that."
    assert not (await replied(completion({"content": "x", "refusal": None}))).refusal


@pytest.mark.parametrize(
    ("sent", "reason", "refusal"),
    [
        ("content_filter", "filter", True),
        ("length", "length", False),
        ("tool_calls", "tool_calls", False),
        (None, "stop", False),
    ],
)
async def test_finish_reasons(sent: str | None, reason: str, refusal: bool) -> None:
    reply = await replied(completion({"content": "Par"}, finish_reason=sent))
    assert (reply.finish_reason, reply.refusal, reply.text) == (reason, refusal, "Par")


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        "many",
        {},
        {"prompt_tokens": "5", "completion_tokens": True},
        {"prompt_tokens": -1},
        {"prompt_tokens": 10**9 + 1},
    ],
)
async def test_token_counts_that_make_no_sense_are_unknown(usage: object) -> None:
    reply = await replied(completion(usage=usage))
    assert reply.prompt_tokens is None
    assert reply.completion_tokens is None


async def test_the_name_the_server_gave_stays_in_info() -> None:
    with Stub(completion(), completion(model=None)) as stub:
        async with provider("some-model", ProviderOptions(base_url=stub.url)) as model:
            assert model.info().served_name == ""
            await model.ask(CALL)
            again = await model.ask(CALL)
            info = model.info()
    assert again.served_name == "served-model"
    assert (info.provider, info.name, info.served_name) == ("openai", "some-model", "served-model")
    assert (info.server, info.remote, info.simulated) == (f"127.0.0.1:{stub.port}", False, False)


async def test_an_oversized_text_is_cut_and_marked() -> None:
    reply = await replied(completion({"content": "x" * 1_500_000}))
    assert len(reply.text) < 1_000_100
    assert reply.text.endswith("[cut: 500,000 more characters]")


@pytest.mark.parametrize(
    "document",
    [
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"finish_reason": "stop"}]},
        {"choices": [{"message": None}]},
        {"choices": {"message": {"content": "x"}}},
        {},
        [],
        None,
        "text",
    ],
)
async def test_a_200_without_a_message_may_be_asked_again(document: object) -> None:
    error = await failed(as_json(document))
    assert (error.kind, error.retry) == ("provider", True)
    assert str(error).endswith("/v1 sent a reply without a message")


@pytest.mark.parametrize("fault", [{"message": "engine died\x1b[2J"}, "engine died\x1b[2J"])
async def test_an_error_inside_a_200_is_shown(fault: object) -> None:
    error = await failed(as_json({"error": fault}))
    assert (error.kind, error.retry) == ("provider", True)
    assert str(error).endswith("/v1 answers 200 with an error: engine died\\x1b[2J")


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"<html><body><h1>Sign in</h1></body></html>", "Sign in"),
        (b'{"choices": [{"mess', '{"choices": [{"mess'),
        (b"\xff\xfe\x00", "\ufffd\ufffd\\x00"),
        (b"[" * 100_000, "[" * 199 + "…"),
    ],
)
async def test_a_200_that_is_not_json(body: bytes, shown: str) -> None:
    error = await failed(Answer(body=body, headers={"Content-Type": "text/html; charset=x"}))
    assert (error.kind, error.retry) == ("provider", True)
    assert str(error).endswith(f"/v1 sent what is not JSON (text/html): {shown}")


async def test_an_html_502_is_shown_as_short_visible_text() -> None:
    page = (
        "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>body { color: #333 }</style>"
        "<script>if (1 < 2) { alert('x') }</script></head><!-- hidden > comment --><body>"
        f"<center><h1>502&nbsp;Bad\nGateway</h1></center>{'<p>proxy&amp;co</p>' * 200}</body></html>"
    )
    error = await failed(Answer(status=502, body=page.encode(), headers={"Content-Type": "text/html"}))
    assert (error.kind, error.retry) == ("provider", True)
    place, _, words = str(error).partition(" answers 502: ")
    assert place.endswith("/v1")
    assert words.startswith("502 Bad Gateway 502 Bad Gateway proxy&co proxy&co")
    assert len(words) == 200
    assert not set("<>\n") & set(words)


@pytest.mark.parametrize("code", ["exceed_context_size_error", "context_length_exceeded"])
@pytest.mark.parametrize("field", ["type", "code"])
async def test_overflow_is_a_reply_not_a_fault(code: str, field: str) -> None:
    reply = await replied(as_json({"error": {"message": "too long", field: code}}, status=400))
    assert reply.overflow
    assert reply.text == ""


@pytest.mark.parametrize(
    ("status", "kind", "retry"),
    [
        (400, "config", False),
        (401, "unauthorized", False),
        (402, "quota", False),
        (403, "unauthorized", False),
        (404, "model_missing", False),
        (408, "timeout", True),
        (409, "provider", True),
        (418, "provider", False),
        (422, "config", False),
        (429, "provider", True),
        (500, "provider", True),
        (502, "provider", True),
        (503, "provider", True),
        (504, "provider", True),
        (301, "provider", False),
        (413, "config", False),
        (501, "provider", False),
        (520, "provider", True),
        (529, "provider", True),
    ],
)
async def test_every_status_has_its_kind(status: int, kind: str, retry: bool) -> None:
    error = await failed(as_json({"error": {"message": "the reason of the model"}}, status=status))
    assert (error.kind, error.retry, error.retry_after) == (kind, retry, None)
    assert error.overloaded is (status in {429, 503, 529})
    assert f"/v1 answers {status}: the reason of the model" in str(error)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0", 0.0), ("1.5", 1.5), ("-3", None), ("soon", None), ("", None), ("nan", None)],
)
async def test_retry_after_is_read(header: str, seconds: float | None) -> None:
    error = await failed(as_json({}, status=429, headers={"Retry-After": header}))
    assert error.retry
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    "fault",
    [
        {"message": "You exceeded your current quota, please check your plan."},
        {"message": "Out of credits.", "code": "insufficient_quota"},
        {"message": "Out of credits.", "type": "insufficient_quota"},
    ],
)
async def test_a_used_up_quota_is_no_reason_to_wait(fault: dict[str, str]) -> None:
    error = await failed(as_json({"error": fault}, status=429))
    assert (error.kind, error.retry) == ("quota", False)


async def test_reasons_in_other_shapes_are_shown() -> None:
    assert str(await failed(as_json({"error": "plain words"}, status=500))).endswith("500: plain words")
    assert "model not loaded" in str(await failed(as_json({"detail": "model not loaded"}, status=500)))
    assert str(await failed(Answer(status=500, body=b"\x1b]0;owned\x07"))).endswith("500: \\x1b]0;owned\\x07")


async def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        async with provider("m", ProviderOptions(base_url=url)) as model:
            with pytest.raises(ProviderError) as caught:
                await model.ask(CALL)
    assert (caught.value.kind, caught.value.retry) == ("unreachable", True)
    assert str(caught.value).startswith(f"no server answers at {url} (")


async def test_a_server_that_never_begins_times_out() -> None:
    error = await failed(Answer(fault="silent"), patience=0.2)
    assert (error.kind, error.retry) == ("timeout", True)
    assert str(error).endswith("/v1 did not answer in time")


async def test_a_slow_drip_times_out_although_every_read_succeeds() -> None:
    error = await failed(Answer(fault="drip"), patience=0.3)
    assert (error.kind, error.retry) == ("timeout", True)


@pytest.mark.parametrize("fault", ["reset", "close", "half", "garbage"])
async def test_a_broken_connection_may_be_tried_again(fault: Any) -> None:
    error = await failed(Answer(body=completion().body, fault=fault))
    assert (error.kind, error.retry) == ("provider", True)
    assert "broke off (" in str(error)
    assert "\n" not in str(error)


async def test_a_packed_body_is_refused_unopened() -> None:
    for packed in (gzip.compress(b" " * 30_000_000), b"not gzip"):
        error = await failed(Answer(body=packed, headers={"Content-Encoding": "gzip, gzip"}))
        assert (error.kind, error.retry) == ("provider", False)
        assert str(error).endswith("sent a packed reply (gzip, gzip)")


async def test_a_reply_of_more_than_20_mb_is_left() -> None:
    error = await failed(Answer(fault="endless"))
    assert (error.kind, error.retry) == ("provider", False)
    assert str(error).endswith("sent more than 20 MB for one reply")


async def test_one_fault_does_not_spoil_the_next_call() -> None:
    with Stub(Answer(fault="reset"), Answer(status=500), completion()) as stub:
        async with provider("m", ProviderOptions(base_url=stub.url)) as model:
            for _ in range(2):
                with pytest.raises(ProviderError):
                    await model.ask(CALL)
            assert (await model.ask(CALL)).text == "Paris"


async def test_a_redirect_is_not_followed_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", CANARY)
    with Stub(completion()) as elsewhere:
        error = await failed(Answer(status=307, headers={"Location": f"{elsewhere.url}/chat/completions"}))
    assert elsewhere.requests == []
    assert " answers 307" in str(error)


async def test_the_key_goes_into_the_header_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", f" {CANARY}\n")
    with Stub(completion()) as stub:
        await ask(stub)
    (request,) = stub.requests
    assert request.headers.pop("authorization") == f"Bearer {CANARY}"
    assert CANARY not in f"{request.target} {request.headers} {request.body!r}"


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"])
async def test_a_key_for_another_place_is_not_sent(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, CANARY)
    with Stub(completion()) as stub:
        await ask(stub)
    assert "authorization" not in stub.requests[0].headers
    assert CANARY not in repr(stub.requests[0])


@pytest.mark.parametrize(
    "answer",
    [
        as_json({"error": {"message": f"Incorrect API key provided: {CANARY}."}}, status=401),
        as_json({"error": f"Bearer {CANARY}"}),
        Answer(body=f"<p>{CANARY}</p>".encode()),
        Answer(status=500, body=f"<p>{CANARY}</p>".encode()),
    ],
)
async def test_a_server_that_echoes_the_key_does_not_get_it_shown(
    monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", CANARY)
    error = await failed(answer)
    assert CANARY not in str(error)
    assert "[key]" in str(error)


def test_a_password_in_the_base_url_is_refused_without_showing_it() -> None:
    with pytest.raises(SelfdiagError, match="must hold no name or password") as caught:
        provider("m", ProviderOptions(base_url=f"http://someone:{CANARY}@127.0.0.1:1"))
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "seconds"), [("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("Wed, 99 Oct 2015 07:28:00 GMT", None)]
)
async def test_a_date_in_retry_after_is_read(said: str, seconds: float | None) -> None:
    error = await failed(as_json({}, status=429, headers={"Retry-After": said}))
    assert error.retry_after == seconds


async def test_a_content_filter_is_a_refusal() -> None:
    filtered = as_json({"error": {"message": "filtered", "code": "content_filter"}}, status=400)
    with Stub(filtered) as stub:
        async with provider("m", ProviderOptions(base_url=stub.url)) as model:
            reply = await model.ask(CALL)
    assert reply.refusal
    assert reply.finish_reason == "filter"


@pytest.mark.parametrize(
    "url", ["http://h:0/v1", "http://h/v1?key=x", "http://h/v1#x", "http://h h/v1", 'http://h"x:80/v1', "http://h/v1?"]
)
def test_addresses_that_cannot_be_meant(url: str) -> None:
    with pytest.raises(SelfdiagError, match="is not an http address"):
        openai_url(url)


@pytest.mark.parametrize("key", [f"{CANARY}é", f"{CANARY}\n{CANARY}", f"{CANARY}\x1b"])
def test_a_key_that_no_header_can_hold_is_one_line_without_it(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", key)
    with pytest.raises(SelfdiagError, match="characters that no key has") as caught:
        provider("m", ProviderOptions(base_url="127.0.0.1:1"))
    assert caught.value.exit_code == 3
    assert CANARY not in str(caught.value)


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SelfdiagError, match="set OPENAI_API_KEY") as caught:
        provider("gpt", ProviderOptions())
    assert caught.value.exit_code == 3
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    info = provider("gpt", ProviderOptions()).info()
    assert (info.server, info.remote) == ("api.openai.com", True)
    assert CANARY not in repr(info)


def test_the_list_of_models_says_whether_a_key_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = openai.offer("openai")
    assert (line.model, line.ready) == ("openai:NAME", False)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    (line,) = openai.offer("openai")
    assert line.ready
    assert CANARY not in line.remark


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_a_proxy_does_not_catch_a_call_to_this_machine(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    with Stub(completion()) as stub:
        assert (await ask(stub)).text == "Paris"


async def test_a_proxy_is_used_for_a_place_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    with Stub(completion()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        async with provider("m", ProviderOptions(base_url="http://model.invalid")) as model:
            assert (await model.ask(CALL)).text == "Paris"
    assert proxy.requests[0].target == "http://model.invalid/v1/chat/completions"


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "nonsense://127.0.0.1:1"])
async def test_a_proxy_of_an_unknown_kind_is_one_line(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    if proxy.startswith("socks5") and importlib.util.find_spec("socksio") is not None:
        pytest.skip("this installation can speak to SOCKS proxies")
    with pytest.raises(SelfdiagError, match="the proxy set in the environment cannot be used") as caught:
        async with provider("m", ProviderOptions(base_url="http://model.invalid")):
            pass
    assert caught.value.exit_code == 3
    async with provider("m", ProviderOptions(base_url="127.0.0.1:1")):
        pass


def _exchanges() -> list[Any]:
    """Return the recorded chat exchanges that our own kind of request can bring about."""
    found = []
    for path in [*sorted(RECORDED.glob("llama-server/*.json")), *sorted(RECORDED.glob("ollama/v1_*.json"))]:
        exchange = json.loads(path.read_text(encoding="utf-8"))
        found.append(pytest.param(exchange, id=f"{path.parent.name}-{path.stem}"))
    return found or [pytest.param(None, marks=pytest.mark.skip(reason="no recorded exchanges here"))]


def _replayed(recorded: Any) -> Answer:
    if "json" in recorded:
        return as_json(recorded["json"], recorded["status"], recorded["headers"])
    lines = tuple(f"{line}\n".encode() for line in recorded["lines"])
    return Answer(status=recorded["status"], headers=recorded["headers"], chunks=lines)


@pytest.mark.parametrize("exchange", _exchanges())
async def test_recorded_exchange_of_a_real_server(exchange: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "LOADING_LIMIT", -1.0)
    recorded = exchange["response"]
    answer = _replayed(recorded)
    document = recorded.get("json", {})
    if recorded["status"] == 200 and "lines" in recorded:
        reply = await replied(answer)
        events = [json.loads(line[6:]) for line in recorded["lines"] if line.startswith("data: {")]
        deltas = [event["choices"][0]["delta"].get("content") for event in events if event["choices"]]
        assert reply.text == "".join(delta or "" for delta in deltas) != ""
        assert reply.finish_reason == "length"
        assert reply.served_name == exchange["request"]["body"]["model"]
        assert reply.completion_tokens == exchange["request"]["body"]["max_tokens"]
    elif recorded["status"] == 200 and "choices" in document:
        reply = await replied(answer)
        first = document["choices"][0]
        assert reply.text == first["message"]["content"]
        assert reply.finish_reason == first["finish_reason"]
        assert reply.served_name == document["model"]
        assert reply.prompt_tokens == document["usage"]["prompt_tokens"]
        assert reply.completion_tokens == document["usage"]["completion_tokens"]
        assert (reply.refusal, reply.overflow) == (False, False)
        told = first.get("logprobs", {}).get("content", [])
        assert [(token.text, token.logprob) for token in reply.tokens] == [(t["token"], t["logprob"]) for t in told]
        assert len(reply.tokens) in {0, reply.completion_tokens}
    elif recorded["status"] == 200:  # the list of models or the state of health: no completion
        assert (await failed(answer)).kind == "provider"
    elif document["error"]["type"] == "exceed_context_size_error":
        assert (await replied(answer)).overflow
    else:
        error = await failed(answer)
        kinds = {400: "config", 401: "unauthorized", 404: "model_missing", 503: "timeout"}
        assert error.kind == kinds[recorded["status"]]
        assert not error.retry
        if recorded["status"] != 503:
            assert document["error"]["message"][:150] in str(error)
