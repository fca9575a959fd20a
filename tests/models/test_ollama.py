"""The Ollama provider against a server on loopback that does what a recorded one does, and worse."""

import asyncio
import http.client
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_stub import Answer, Stub, as_json
from ollama_stub import (
    CODER,
    PLAIN,
    THINKER,
    Installed,
    OllamaStub,
    Paced,
    end,
    line,
    refused,
    streamed,
    tls_context,
)

from selfdiag.models import ollama
from selfdiag.models.base import MAX_TEXT, Call, Listing, Provider, ProviderError, ProviderOptions, Reply, Token
from selfdiag.models.ollama import Ollama, discover, offer, provider
from selfdiag.models.ollama_address import read_address
from selfdiag.models.ollama_server import key_for
from selfdiag.safety import SelfdiagError

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "ollama"
CALL = Call(system="Answer briefly.", user="Which planet is closest to the Sun?", max_tokens=64)
CANARY = "canary-5f1d0a77c3e94b"
# read before collection, so that every exchange is a test of its own
EXCHANGES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(RECORDED.glob("*.json"))}
CHATS = [name for name, seen in EXCHANGES.items() if seen["request"]["path"] == "/api/chat" and name != "wrong_method"]


@pytest.fixture(autouse=True)
def no_server_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssl, "create_default_context", tls_context)
    for name in ("OLLAMA_HOST", "OLLAMA_KEEP_ALIVE"):
        monkeypatch.delenv(name, raising=False)


def model_of(stub: Stub, name: str = PLAIN.name, **options: Any) -> Ollama:
    return provider(name, ProviderOptions(base_url=stub.url, **options))


async def replied(*answers: Answer, call: Call = CALL, name: str = PLAIN.name, **options: Any) -> Reply:
    with OllamaStub(*answers) as stub:
        async with asyncio.timeout(30), model_of(stub, name, **options) as model:
            return await model.ask(call)


async def failed(*answers: Answer, call: Call = CALL, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await replied(*answers, call=call, **options)
    assert str(caught.value).isprintable()
    return caught.value


async def not_entered(model: Ollama) -> SelfdiagError:
    with pytest.raises(SelfdiagError) as caught:
        async with asyncio.timeout(30), model:
            pass
    assert caught.value.exit_code == 3
    assert str(caught.value).isprintable()
    return caught.value


def kind_of(error: SelfdiagError) -> str:
    assert isinstance(error.__cause__, ProviderError)
    return error.__cause__.kind


async def found_at(url: str, monkeypatch: pytest.MonkeyPatch) -> list[Listing]:
    monkeypatch.setenv("OLLAMA_HOST", url)
    async with asyncio.timeout(30):
        return await discover("ollama")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://example.org", "http://example.org:80"),
        ("HTTP://Example.org:8080/", "http://example.org:8080"),
        ("example.org:8080/ollama/", "http://example.org:8080/ollama"),
        ("http://:1234", "http://127.0.0.1:1234"),
        ("'127.0.0.1:1'", "http://127.0.0.1:1"),
        ('"localhost"', "http://localhost:11434"),
        ("::1", "http://[::1]:11434"),
        ("[fe80::1]:5", "http://[fe80::1]:5"),
    ],
)
def test_more_spellings_of_an_address(text: str, url: str) -> None:
    found = read_address(text, "--base-url")
    assert (found.url, found.note) == (url, "")


@pytest.mark.parametrize(
    ("text", "url", "left"),
    [
        ("localhost:11434/v1/", "http://localhost:11434", "/v1"),
        ("https://h/ollama/api/chat", "https://h:443/ollama", "/api/chat"),
        ("https://h/v1/chat/completions", "https://h:443", "/v1/chat/completions"),
    ],
)
def test_a_path_of_the_api_is_left_away(text: str, url: str, left: str) -> None:
    found = read_address(text, "--base-url")
    assert (found.url, found.note.partition(" ")[0]) == (url, left)


def test_both_changes_of_an_address_are_told() -> None:
    found = read_address("http://0.0.0.0:1/v1", "OLLAMA_HOST")
    assert found.url == "http://127.0.0.1:1"
    assert found.note == (
        "0.0.0.0 is where a server listens, so 127.0.0.1 is asked; "
        "/v1 of the address was left away: the native API is asked"
    )


@pytest.mark.parametrize(
    "text",
    [
        "ftp://h",
        "http://",
        "h:99999",
        "h:0",
        "http://[::1",
        "a b",
        "http://h/?x=1",
        "h#f",
        "h\x1b[2J",
        "h*",
        'http://h"x:80/v1',
        "C:\\ollama",
        "99999",
    ],
)
def test_what_is_no_address_is_one_line(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", text)
    with pytest.raises(
        SelfdiagError, match=r"^OLLAMA_HOST .* is not an http address such as 127\.0\.0\.1:11434 or"
    ) as one:
        provider("m", ProviderOptions())
    assert one.value.exit_code == 2
    assert str(one.value).isprintable()
    with pytest.raises(SelfdiagError, match=r"^--base-url .* is not an http address such as"):
        provider("m", ProviderOptions(base_url=text))


def test_an_address_with_a_password_is_refused_and_not_shown() -> None:
    with pytest.raises(SelfdiagError, match=r"^--base-url must hold no name or password") as caught:
        provider("m", ProviderOptions(base_url=f"http://me:{CANARY}@h:1"))
    assert CANARY not in str(caught.value)


def test_an_address_on_the_command_line_counts_before_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "not an address")
    assert provider("m", ProviderOptions(base_url="h:5")).info().server == "h:5"
    monkeypatch.setenv("OLLAMA_HOST", "h:6")
    assert provider("m", ProviderOptions(base_url=" ")).info().server == "h:6"


async def test_the_clouds_key_goes_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", CANARY)
    with OllamaStub() as stub:
        async with model_of(stub) as model:
            await model.ask(CALL)
        await found_at(stub.url, monkeypatch)
    assert {request.target for request in stub.requests} >= {"/api/version", "/api/tags", "/api/show", "/api/ps"}
    assert not any(CANARY in str(request) for request in stub.requests)
    for url in ("http://ollama.com:80", "https://notollama.com:443", "https://ollama.com.example.org:443"):
        assert key_for(url) is None
    assert key_for("https://ollama.com:443") == key_for("https://api.ollama.com:443") == CANARY


async def test_the_key_of_a_server_goes_there_with_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_OLLAMA_API_KEY", CANARY)
    with OllamaStub(refused(f"no such key: {CANARY}", 401)) as stub:
        async with model_of(stub) as model:
            with pytest.raises(ProviderError) as caught:
                await model.ask(CALL)
            await model.ask(CALL)
            assert CANARY not in str(model.info())
    assert {request.headers["authorization"] for request in stub.requests} == {f"Bearer {CANARY}"}
    assert len(stub.requests) == 6
    assert CANARY not in str(caught.value)
    assert "SELFDIAG_OLLAMA_API_KEY" in str(caught.value)


async def test_entering_learns_what_the_model_is() -> None:
    with OllamaStub() as stub:
        async with model_of(stub, "smollm2-think") as model:
            assert isinstance(model, Provider)
            info = model.info()
            assert (model.takes_schema, model.concurrency, model.max_tokens) == (True, 1, 512)
            assert info.served_name == ""
            await model.ask(CALL)
            assert model.info().served_name == "smollm2-think"
    assert (info.provider, info.name, info.digest) == ("ollama", "smollm2-think", "sha256:e887bd91")
    assert (info.simulated, info.remote, info.server) == (False, False, f"127.0.0.1:{stub.port}")
    assert info.details == {
        "size": "134.52M",
        "disk": "98 MB",
        "quantisation": "Q4_1",
        "context": "8192",
        "capabilities": "completion, thinking",
        "server_version": "0.0.0",
        "num_ctx": "2048",
        "keep_alive": "15m",
    }


async def test_a_name_with_colons_and_slashes_stays_as_it_is() -> None:
    name = "hf.co/Some-Org/Model-GGUF:Q4_K_M"
    with OllamaStub(models=[Installed(name=name, digest="ab")]) as stub:
        async with model_of(stub, name) as model:
            await model.ask(CALL)
            assert model.info().digest == "sha256:ab"
    assert stub.chats[0]["model"] == name


async def test_a_server_under_a_path_is_asked_there() -> None:
    with OllamaStub() as stub:
        for path in ("version", "tags", "show", "ps", "chat"):
            known = {"show": as_json(PLAIN.shown()), "tags": as_json({"models": []}), "ps": as_json({"models": []})}
            known |= {"version": as_json({"version": "1"}), "chat": streamed(line("4"), end())}
            stub.paths[f"/deep/down/api/{path}"] = known[path]
        async with provider(PLAIN.name, ProviderOptions(base_url=f"{stub.url}/deep/down/")) as model:
            assert (await model.ask(CALL)).text == "4"
            assert model.info().details["context"] == "8192"


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Answer(status=404, body=b"404 page not found"), "config", "it seems to be no Ollama server"),
        (Answer(body=b"<html>hello</html>"), "provider", "hello"),
        (Answer(status=403), "unauthorized", "it takes no calls under this host name"),
        (
            refused("unauthorized", 401),
            "unauthorized",
            "run 'selfdiag keys set ollama --server' or set SELFDIAG_OLLAMA_API_KEY",
        ),
        (refused("not for you", 403), "unauthorized", "no key was sent: run"),
        (Answer(fault="reset"), "provider", "broke off"),
        (Answer(fault="garbage"), "provider", "broke off"),
        (Answer(status=301, headers={"Location": "https://h/"}), "provider", "answers 301"),
    ],
)
async def test_what_is_no_ollama_server_is_not_entered(answer: Answer, kind: str, words: str) -> None:
    with OllamaStub() as stub:
        stub.paths["/api/version"] = answer
        error = await not_entered(model_of(stub))
    assert kind_of(error) == kind
    assert words in str(error)


@pytest.mark.parametrize(
    "shown",
    [
        as_json({}),
        as_json([]),
        as_json(None),
        as_json("x"),
        Answer(body=b"<html>"),
        as_json({"model_info": [], "details": 5}),
        as_json({"model_info": {"general.architecture": ["odd"]}, "details": None, "capabilities": None}),
        as_json({"model_info": {"general.architecture": "x", "x.context_length": "many"}}),
    ],
)
async def test_a_description_that_makes_no_sense_leaves_the_list_of_models(shown: Answer) -> None:
    with OllamaStub() as stub:
        stub.paths["/api/show"] = shown
        async with model_of(stub) as model:
            assert (await model.ask(CALL)).text == stub.reply
            details = model.info().details
    assert (details["size"], details["context"], details["capabilities"]) == ("134.52M", "8192", "completion")


@pytest.mark.parametrize(
    "listed",
    [
        as_json({}),
        as_json([]),
        as_json({"models": None}),
        as_json({"models": [5, None, {"name": 5}, {"name": ""}, {"name": PLAIN.name, "size": "big"}]}),
    ],
)
async def test_a_list_that_makes_no_sense_leaves_the_description(listed: Answer) -> None:
    with OllamaStub() as stub:
        stub.paths["/api/tags"] = listed
        async with model_of(stub) as model:
            info = model.info()
    assert (info.digest, info.details["quantisation"]) == ("", "Q4_1")


@pytest.mark.parametrize("running", [Answer(status=404), as_json([]), as_json({"models": 5}), Answer(fault="close")])
async def test_a_server_that_does_not_say_what_it_has_loaded_is_entered(running: Answer) -> None:
    said: list[str] = []
    with OllamaStub() as stub:
        stub.paths["/api/ps"] = running
        async with model_of(stub, waiting=said.append) as model:
            await model.ask(CALL)
    assert said == []


async def test_another_fault_of_the_description_is_told() -> None:
    with OllamaStub() as stub:
        stub.paths["/api/show"] = refused("the disk is gone", 500)
        error = await not_entered(model_of(stub))
    assert "answers 500: the disk is gone" in str(error)


async def test_a_reply_is_mapped() -> None:
    reply = await replied(
        streamed(line(thinking="Let me "), line(thinking="see."), line("Mer"), line("cury"), end()), name=THINKER.name
    )
    assert (reply.text, reply.reasoning) == ("Mercury", "Let me see.")
    assert (reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == ("stop", 67, 10)
    assert reply.served_name == "smollm2:135m"
    assert reply.latency_s > 0
    assert (reply.refusal, reply.overflow, reply.tokens) == (False, False, ())


@pytest.mark.parametrize(
    ("reason", "finish"), [("stop", "stop"), ("length", "length"), (None, "stop"), ("odd\x1b[2J", "odd\\x1b[2J")]
)
async def test_finish_reasons(reason: str | None, finish: str) -> None:
    assert (await replied(streamed(line("x"), end(reason)))).finish_reason == finish


@pytest.mark.parametrize("count", ["5", True, -1, 1.5, None, []])
async def test_token_counts_that_make_no_sense_are_unknown(count: Any) -> None:
    reply = await replied(streamed(line("x"), end(prompt_eval_count=count, eval_count=count)))
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


def logprobs(*tokens: str | bytes) -> dict[str, Any]:
    entries = []
    for token in tokens:
        spelt = token.encode() if isinstance(token, str) else token
        entries.append({"token": spelt.decode("utf-8", "replace"), "logprob": -0.5, "bytes": list(spelt)})
    return {"logprobs": entries}


async def test_tokens_are_those_of_the_text() -> None:
    reply = await replied(
        streamed(
            line(thinking="Hm", **logprobs("Hm")),
            line("", **logprobs("\n\n")),
            line("caf", **logprobs("caf")),
            line("é!", **logprobs(b"\xc3", b"\xa9", "!")),
            end(),
        ),
        call=Call(system="s", user="u", logprobs=True),
    )
    assert reply.text == "café!"
    assert [token.text for token in reply.tokens] == ["\n\n", "caf", "\ufffd", "\ufffd", "!"]
    assert {token.logprob for token in reply.tokens} == {-0.5}


@pytest.mark.parametrize(
    "given",
    [
        logprobs("another", "text"),
        {"logprobs": [{"token": "Paris"}]},
        {"logprobs": [{"token": 5, "logprob": -1.0}]},
        {"logprobs": [{"token": "Paris", "logprob": "much"}]},
        {"logprobs": ["Paris"]},
        {"logprobs": {"Paris": -1.0}},
        {"logprobs": [{"token": "x", "logprob": -1.0, "bytes": ["P"]}]},
        {"logprobs": [{"token": "x", "logprob": -1.0, "bytes": [900]}]},
    ],
)
async def test_tokens_that_spell_something_else_are_none(given: dict[str, Any]) -> None:
    reply = await replied(streamed(line("Paris", **given), end()))
    assert (reply.text, reply.tokens) == ("Paris", ())


async def test_tokens_without_bytes_count_by_their_text() -> None:
    reply = await replied(streamed(line("Paris", logprobs=[{"token": "Paris", "logprob": -1}]), end()))
    assert reply.tokens == (Token(text="Paris", logprob=-1.0),)


async def test_the_servers_own_stream_gives_tokens_and_limits() -> None:
    with OllamaStub() as stub:
        async with model_of(stub) as model:
            whole = await model.ask(Call(system="s", user="u", logprobs=True))
            cut = await model.ask(Call(system="s", user="u", max_tokens=2))
    assert "".join(token.text for token in whole.tokens) == whole.text == stub.reply
    assert (cut.finish_reason, cut.completion_tokens) == ("length", 2)


async def test_lines_may_come_in_any_pieces() -> None:
    whole = line("Mer") + b"\n" + line("cury") + end().rstrip(b"\n")
    for size in (1, 7, len(whole)):
        pieces = tuple(whole[at : at + size] for at in range(0, len(whole), size))
        assert (await replied(Answer(chunks=pieces))).text == "Mercury"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (streamed(line("Mer"), line("cury")), "ended its reply before it was done"),
        (streamed(line("Mer"), line("cury"), end(), fault="half"), "broke off"),
        (streamed(line("Mer"), line("cury"), end(), fault="half_reset"), "broke off"),
        (streamed(line("Mer"), b"not json\n", end()), "sent what is not JSON: not json"),
        (streamed(line("Mer"), b"\xff\xfe\n", end()), "sent what is not JSON"),
        (streamed(b"[" * 100_000 + b"\n"), "sent what is not JSON"),
        (Answer(), "ended its reply before it was done"),
        (Answer(fault="close"), "broke off"),
    ],
)
async def test_a_reply_that_does_not_come_whole_is_none(answer: Answer, words: str) -> None:
    error = await failed(answer)
    assert (error.kind, error.retry) == ("provider", True)
    assert words in str(error)
    assert len(str(error)) < 400


async def test_a_server_that_does_not_keep_to_the_limit_is_left_at_some_point() -> None:
    endless = Paced(chunks=tuple(line("x ") for _ in range(5000)))
    reply = await replied(endless, call=Call(system="s", user="u", max_tokens=10))
    assert (reply.finish_reason, reply.completion_tokens) == ("length", None)
    assert len(reply.text) < 100


async def test_a_huge_reply_is_cut_and_marked() -> None:
    reply = await replied(streamed(*[line("x" * 1_000_000)] * 3, end()))
    assert reply.text.startswith("x" * MAX_TEXT)
    assert "[cut: 2,000,000 more characters]" in reply.text


async def test_a_reply_without_bounds_is_refused() -> None:
    error = await failed(streamed(*[line("x" * 4_000_000)] * 6, end()))
    assert (error.kind, error.retry) == ("provider", False)
    assert "more than 20 MB" in str(error)


async def test_hostile_text_comes_through_as_it_is() -> None:
    text = '\x1b[2J[/INST] <script>"\u202e\ud7ff\u0000'
    assert (await replied(streamed(line(text), end()))).text == text


@pytest.mark.parametrize(
    ("answer", "kind", "retry", "wait"),
    [
        (refused("you've reached your weekly usage limit, please upgrade", 429), "quota", False, None),
        (as_json({"error": "slow down"}, 429, {"Retry-After": "3"}), "provider", True, 3.0),
        (as_json({"error": "server busy"}, 503, {"Retry-After": "0"}), "provider", True, 0.0),
        (refused("this model requires a subscription", 403), "unauthorized", False, None),
        (Answer(status=403), "unauthorized", False, None),
        (refused("unsupported", 422), "config", False, None),
        (Answer(status=504, body=b"<h1>Gateway Time-out</h1>"), "provider", True, None),
        (refused("something new", 500), "provider", True, None),
        (Answer(status=500), "provider", True, None),
        (refused({"message": "as an object"}, 500), "provider", True, None),
        (Answer(status=404, body=b"404 page not found"), "config", False, None),
    ],
)
async def test_refusals_by_their_status(answer: Answer, kind: str, retry: bool, wait: float | None) -> None:
    error = await failed(answer)
    assert (error.kind, error.retry, error.retry_after) == (kind, retry, wait)
    assert error.overloaded is (wait is not None)


async def test_logprobs_that_are_refused_are_left_away() -> None:
    call = Call(system="s", user="u", logprobs=True)
    with OllamaStub(refused("logprobs are not supported by this model")) as stub:
        async with model_of(stub) as model:
            await model.ask(call)
            await model.ask(call)
            assert model.info().details["asked_without"] == "logprobs"
    assert ["logprobs" in chat for chat in stub.chats] == [True, False, False]


async def test_calls_side_by_side_learn_from_each_other() -> None:
    untold = Installed(name="old:latest", digest="0", capabilities=())
    with OllamaStub(models=[untold]) as stub:
        async with model_of(stub, "old") as model:
            replies = await asyncio.gather(*(model.ask(Call(system="s", user="u", think="on")) for _ in range(4)))
    assert {reply.text for reply in replies} == {stub.reply}
    assert len(stub.chats) == 8


async def test_the_list_of_models_says_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Installed(name="embed:latest", digest="1", capabilities=("embedding",))
    cloud = Installed(name="big:120b-cloud", digest="2", size=384, remote_host="https://ollama.com:443")
    with OllamaStub(models=[CODER, embedder, cloud]) as stub:
        found = await found_at(stub.url, monkeypatch)
    assert found[0] == Listing(
        model="ollama:qwen-coder:0.5b",
        ready=True,
        details={
            "size": "630.17M",
            "disk": "98 MB",
            "quantisation": "Q4_K_M",
            "context": "32768",
            "capabilities": "completion",
        },
    )
    assert (found[1].model, found[1].ready, found[1].remark) == ("ollama:embed:latest", False, "cannot chat")
    assert (found[2].ready, found[2].remote, "disk" in found[2].details) == (True, True, False)
    assert [request.target for request in stub.requests] == ["/api/tags"]


async def test_an_older_server_is_asked_for_each_model(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [Installed(name=f"m{number}:latest", digest=str(number)) for number in range(9)]
    embedder = Installed(name="embed:latest", digest="1", capabilities=("embedding",))
    with OllamaStub(models=[*many, embedder], old=True) as stub:
        found = await found_at(stub.url, monkeypatch)
    assert [listing.ready for listing in found] == [True] * 9 + [False]
    assert {listing.details["context"] for listing in found} == {"8192"}
    assert sorted(request.json()["model"] for request in stub.requests if request.target == "/api/show") == sorted(
        model.name for model in [*many, embedder]
    )


@pytest.mark.parametrize("fault", [Answer(fault="silent"), refused("no", 500), refused("no", 404)])
async def test_what_a_server_does_not_tell_in_time_stays_open(fault: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "DISCOVERY_TIMEOUT", 1.0)
    with OllamaStub(models=[PLAIN, CODER], old=True) as stub:
        stub.paths["/api/show"] = fault
        found = await found_at(stub.url, monkeypatch)
    assert [(listing.model, listing.ready) for listing in found] == [
        ("ollama:smollm2:135m", True),
        ("ollama:qwen-coder:0.5b", True),
    ]
    assert "capabilities" not in found[0].details


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(fault="silent"), "did not answer within 0.2 seconds"),
        (Answer(status=403), "it takes no calls under this host name"),
        (Answer(status=404, body=b"404 page not found"), "it seems to be no Ollama server"),
        (as_json({"models": []}), "has no models yet: fetch one with  ollama pull NAME"),
        (as_json({"models": [{"name": "\x1b[2J"}]}), "has no models yet"),
    ],
)
async def test_an_empty_list_says_why(answer: Answer, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "DISCOVERY_TIMEOUT", 0.2)
    with OllamaStub() as stub:
        stub.paths["/api/tags"] = answer
        (listing,) = await found_at(stub.url, monkeypatch)
    assert (listing.model, listing.ready) == ("ollama:NAME", False)
    assert words in listing.remark
    assert listing.remark.isprintable()


async def test_an_address_that_is_none_is_told_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "h:99999")
    for (listing,) in (offer("ollama"), await discover("ollama")):
        assert not listing.ready
        assert listing.remark.startswith("OLLAMA_HOST 'h:99999' is not an http address")


def test_an_offer_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    (here,) = offer("ollama")
    assert (here.model, here.ready, here.remote) == ("ollama:NAME", False, False)
    assert "http://127.0.0.1:11434" in here.remark
    monkeypatch.setenv("OLLAMA_HOST", "10.0.0.1")
    assert offer("ollama")[0].remote


def test_the_official_client_is_loaded_when_a_server_is_asked_and_not_before() -> None:
    script = (
        "import sys; from selfdiag.models import ollama; from selfdiag.models.base import ProviderOptions\n"
        "ollama.provider('m', ProviderOptions()); ollama.offer('ollama')\n"
        "print(sorted({'ollama', 'pydantic', 'aiohttp', 'httpx_aiohttp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def answer_of(exchange: dict[str, Any]) -> Answer:
    response = exchange["response"]
    body = json.dumps(response["json"]) if "json" in response else "\n".join(response["lines"])
    return Answer(status=response["status"], body=body.encode())


def call_of(exchange: dict[str, Any]) -> tuple[Call, int]:
    """Return the recorded question and its context."""
    body = exchange["request"].get("body", {})
    told = {message["role"]: message["content"] for message in body.get("messages", [])}
    options = body.get("options", {})
    user = told.get("user", "")
    if "overflow" in exchange["name"]:
        user = "The quick brown fox jumps over the lazy dog. " * 700  # the record holds its beginning alone
    call = Call(system=told.get("system", ""), user=user, max_tokens=options.get("num_predict", 128))
    return call, options.get("num_ctx", 2048)


@pytest.mark.parametrize("name", CHATS or [pytest.param("", marks=pytest.mark.skip(reason="no recorded exchanges"))])
async def test_recorded_replies_are_understood(name: str) -> None:
    exchange = EXCHANGES[name]
    response = exchange["response"]
    call, num_ctx = call_of(exchange)
    asking = replied(answer_of(exchange), call=call, num_ctx=num_ctx)
    if response["status"] == 200 and name not in {"load_only", "engine_dies_stream"}:
        parts = [response["json"]] if "json" in response else [json.loads(part) for part in response["lines"] if part]
        reply = await asking
        assert reply.text == "".join(part["message"]["content"] for part in parts)
        assert reply.reasoning == "".join(part["message"].get("thinking", "") for part in parts)
        assert reply.finish_reason == parts[-1]["done_reason"]
        assert (reply.prompt_tokens, reply.completion_tokens) == (
            parts[-1]["prompt_eval_count"],
            parts[-1]["eval_count"],
        )
        assert [token.logprob for token in reply.tokens] == [
            entry["logprob"] for entry in parts[-1].get("logprobs", [])
        ]
        assert reply.overflow is (name in {"chat_overflow_default", "chat_ctx_too_small"})
    elif name == "chat_overflow_no_truncate":
        assert (await asking).overflow
    else:
        with pytest.raises(ProviderError) as caught:
            await asking
        kinds = {404: "model_missing", 200: "provider", 400: "config", 500: "config"}
        kind = "provider" if name == "engine_dies" else kinds[response["status"]]
        assert (caught.value.kind, caught.value.retry) == (kind, name.startswith("engine_dies"))
        assert '{"' not in str(caught.value)  # nested words come unwrapped


def sent_to(stub: OllamaStub, request: dict[str, Any]) -> tuple[int, str, list[Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", stub.port, timeout=10)
    body = request.get("raw", json.dumps(request["body"]) if "body" in request else None)
    connection.request(request["method"], request["path"], body)
    response = connection.getresponse()
    text = response.read().decode()
    kind = (response.getheader("content-type") or "").partition(";")[0]
    connection.close()
    return response.status, kind, [json.loads(part) for part in text.splitlines()] if "json" in kind else [text]


SHORTENED = {"chat_overflow_default", "chat_overflow_no_truncate"}
BROKEN = {"engine_dies", "engine_dies_stream"}
KNOWN = {"/", "/api/chat", "/api/show", "/api/version", "/api/tags", "/api/ps", "/api/nothing"}
ALIKE = [
    name
    for name, seen in EXCHANGES.items()
    if seen["request"]["path"] in KNOWN and seen["response"]["status"] != 403 and name not in SHORTENED | BROKEN
]


@pytest.fixture(scope="module")
def shared_stub() -> Iterator[OllamaStub]:
    with OllamaStub() as stub:
        yield stub


@pytest.mark.parametrize("name", ALIKE or [pytest.param("", marks=pytest.mark.skip(reason="no recorded exchanges"))])
def test_the_stub_does_as_the_recorded_server_did(name: str, shared_stub: OllamaStub) -> None:
    exchange = EXCHANGES[name]
    shared_stub.models = [CODER, PLAIN] if name == "chat_deleted" else [THINKER, CODER, PLAIN]
    shared_stub.loaded = [PLAIN.name] if name in {"ps_loaded", "ps_two"} else []
    status, kind, parts = sent_to(shared_stub, exchange["request"])
    response = exchange["response"]
    assert status == response["status"]
    assert kind == response["headers"]["content-type"].partition(";")[0]
    if "json" not in response and "json" not in kind:
        assert parts == response["lines"]
        return
    recorded = [response["json"]] if "json" in response else [json.loads(part) for part in response["lines"] if part]
    for mine, theirs in ((parts[0], recorded[0]), (parts[-1], recorded[-1])):
        if exchange["request"]["path"] == "/api/show" and status == 200:
            assert set(mine) <= set(theirs)
        else:
            assert set(mine) == set(theirs)
        assert mine.get("error") == theirs.get("error")
        assert set(mine.get("message", {})) == set(theirs.get("message", {}))
        assert (mine.get("done_reason") == "load") is (theirs.get("done_reason") == "load")
        for model in theirs.get("models", [])[:1]:
            assert set(mine["models"][0]) <= set(model)


def test_the_stub_refuses_foreign_hosts_as_the_recorded_server_did() -> None:
    with OllamaStub() as stub:
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            connection = http.client.HTTPConnection("127.0.0.1", stub.port, timeout=10)
            connection.request("GET", "/api/tags", headers=headers)
            response = connection.getresponse()
            assert (response.status, response.read()) == (403, b"")
            connection.close()
