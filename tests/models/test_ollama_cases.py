"""What goes wrong with Ollama in the field, case by case."""

import asyncio
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
import stamina
from http_stub import Answer, Stub, as_json
from ollama_stub import CODER, PLAIN, THINKER, Installed, OllamaStub, Paced, end, line, refused, streamed, tls_context

from selfdiag.elicit.reading import Reading, read_reply
from selfdiag.models import ollama
from selfdiag.models.base import FATAL, Call, ProviderError, ProviderOptions, Reply
from selfdiag.models.ollama import Ollama, discover, keep_alive, provider
from selfdiag.models.ollama_address import read_address
from selfdiag.models.ollama_server import OllamaServer, same_model
from selfdiag.models.ollama_stream import MAX_BLANK, read_stream
from selfdiag.models.transport import RetryPolicy, ask_patiently
from selfdiag.protocols.audit import summarise
from selfdiag.report.how_asked import method_rows
from selfdiag.runs.engine import MAX_CONSECUTIVE_ERRORS
from selfdiag.runs.events import Event, Failed
from selfdiag.runs.plan import make_plan
from selfdiag.runs.records import RunSettings
from selfdiag.runs.replies import grade_reply
from selfdiag.runs.session import Session
from selfdiag.runs.store import read_run
from selfdiag.safety import SelfdiagError

CALL = Call(system="Answer briefly.", user="Which planet is closest to the Sun?", max_tokens=64)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
    },
    "required": ["answer", "confidence"],
    "additionalProperties": False,
}
HELD = Call(system="Answer briefly.", user="Which planet?", max_tokens=64, schema=SCHEMA)
THINKING = Call(system="Answer briefly.", user="Which planet?", max_tokens=64, think="on")
PATIENT = RetryPolicy(retries=4)


@pytest.fixture(autouse=True)
def no_server_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssl, "create_default_context", tls_context)
    for name in ("OLLAMA_HOST", "OLLAMA_KEEP_ALIVE"):
        monkeypatch.delenv(name, raising=False)


def model_of(stub: OllamaStub, name: str = PLAIN.name, **options: Any) -> Ollama:
    return provider(name, ProviderOptions(base_url=stub.url, **options))


@pytest.fixture(autouse=True)
def retries_at_once() -> Iterator[None]:
    with stamina.set_testing(True, attempts=10, cap=True):
        yield


async def replied(*answers: Answer, call: Call = CALL, name: str = PLAIN.name) -> Reply:
    with OllamaStub(*answers) as stub:
        async with asyncio.timeout(30), model_of(stub, name) as model:
            return await model.ask(call)


async def failed(*answers: Answer, call: Call = CALL, **options: Any) -> ProviderError:
    with OllamaStub(*answers) as stub, pytest.raises(ProviderError) as caught:
        async with asyncio.timeout(30), model_of(stub, **options) as model:
            await model.ask(call)
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


def read(reply: Reply) -> Reading:
    return read_reply(reply.text, cut=reply.finish_reason == "length")


def graded(reply: Reply) -> str:
    probe = make_plan(RunSettings(model="ollama:m")).drawn.probes[0]
    return grade_reply(probe, reply.text, reply.finish_reason).outcome


async def ran(session: Session) -> list[Event]:
    async with asyncio.timeout(30), aclosing(session.events()) as events:
        return [event async for event in events]


def unused_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


async def test_OLL_01_thinking_that_eats_the_budget_is_a_cut_reply() -> None:
    cut = streamed(line(thinking="Let me consider…"), end("length", generated=64))
    reply = await replied(cut, call=THINKING, name=THINKER.name)
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("", "Let me consider…", "length")
    assert (reply.completion_tokens, reply.thought) == (64, True)
    # a server that does not say why it ended
    reply = await replied(streamed(line(thinking="Let me"), end(None, generated=64)), call=THINKING, name=THINKER.name)
    assert reply.finish_reason == "length"
    assert (await replied(streamed(line("4"), end(None, generated=63)))).finish_reason == "stop"


async def test_OLL_01_a_run_says_what_gives_such_a_model_room(tmp_path: Path) -> None:
    cut = streamed(line(thinking="Let me consider…"), end("length", generated=64))
    with OllamaStub(*[cut] * 9) as stub:
        settings = RunSettings(
            model=f"ollama:{THINKER.name}", base_url=stub.url, sections=("probes",), limit=1, structured="off"
        )
        session = Session(settings, folder=tmp_path / "run")
        await ran(session)
    assert [chat["options"]["num_predict"] for chat in stub.chats] == [512, 8192, 8192, 16384]
    told = "the model thinks although it was asked not to; replies were cut, so give it room with --num-ctx 18432"
    assert told in summarise(read_run(session.folder), draws=50).notes


async def test_OLL_02_a_schema_is_not_believed_to_have_held() -> None:
    prose = "The capital is Paris. I am 90% sure."
    with OllamaStub(streamed(line(prose), end())) as stub:
        async with model_of(stub, THINKER.name) as model:
            reply = await model.ask(HELD)
    assert reply.text == prose
    assert (stub.chats[0]["think"], stub.chats[0]["format"]) == (False, SCHEMA)
    assert read(reply).parse != "strict"


async def test_OLL_03_thinking_that_was_asked_for_and_did_not_come_is_told() -> None:
    with OllamaStub(streamed(line("4"), end())) as stub:
        async with model_of(stub, THINKER.name) as model:
            await model.ask(THINKING)
            assert model.info().details["thinking"] == "asked for, but no reply shows any"
            await model.ask(THINKING)  # the stub's own reply thinks
            assert "thinking" not in model.info().details


async def test_OLL_04_a_refusal_of_think_is_met_once_and_remembered() -> None:
    untold = Installed(name="old:latest", digest="0", capabilities=())
    with OllamaStub(models=[untold]) as stub:
        async with model_of(stub, "old") as model:
            for _ in range(2):
                reply = await model.ask(Call(system="s", user="u", think="high"))
                assert reply.text == stub.reply
            info = model.info()
    assert [chat.get("think") for chat in stub.chats] == ["high", None, None]
    assert info.details["asked_without"] == "think"
    assert info.details["thinking"] == "asked for, but this model cannot"


async def test_OLL_04_a_model_known_not_to_think_is_not_asked_to() -> None:
    with OllamaStub() as stub:
        async with model_of(stub) as model:
            await model.ask(THINKING)
            assert model.info().details["thinking"] == "asked for, but this model cannot"
    assert "think" not in stub.chats[0]


async def test_OLL_04_a_level_is_given_up_before_thinking_is() -> None:
    words = "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool"
    with OllamaStub(refused(words), streamed(line("4"), end())) as stub:
        async with model_of(stub, THINKER.name) as model:
            await model.ask(Call(system="s", user="u", think="low"))
            assert model.info().details["asked_without"] == "level of thinking"
    assert [chat["think"] for chat in stub.chats] == ["low", True]


async def test_OLL_04_another_400_is_not_swallowed() -> None:
    with OllamaStub(refused("messages: something is odd")) as stub, pytest.raises(ProviderError) as caught:
        async with model_of(stub, THINKER.name) as model:
            await model.ask(THINKING)
    assert (caught.value.kind, caught.value.retry, len(stub.chats)) == ("config", False, 1)
    assert "answers 400: messages: something is odd" in str(caught.value)


async def test_OLL_05_thoughts_left_in_the_text_are_no_answer() -> None:
    text = '<think>maybe {"answer":"7","confidence":20}</think>\n{"answer":"8","confidence":70}'
    with OllamaStub(streamed(line(text), end())) as stub:
        async with model_of(stub) as model:
            reply = await model.ask(CALL)
            assert model.info().details["thinking"] == "the model thinks although it was asked not to"
    assert reply.text == text
    assert (read(reply).answer, read(reply).confidence) == ("8", 70)


async def test_OLL_06_thinking_that_cannot_be_switched_off_is_told_and_given_room() -> None:
    with OllamaStub(streamed(line(thinking="Hm."), line('{"answer": "4", "confidence": 80}'), end())) as stub:
        async with model_of(stub, THINKER.name) as model:
            assert model.max_tokens == 512
            reply = await model.ask(CALL)
            assert model.max_tokens == 8192
            assert model.info().details["thinking"] == "the model thinks although it was asked not to"
    assert stub.chats[0]["think"] is False
    assert (read(reply).answer, reply.reasoning, reply.thought) == ("4", "Hm.", True)


@pytest.mark.parametrize("reason", ["load", "unload"])
async def test_OLL_07_a_load_is_no_reply(reason: str) -> None:
    error = await failed(as_json({"model": "m", "message": {"content": ""}, "done": True, "done_reason": reason}))
    assert (error.kind, error.retry) == ("provider", False)
    assert f"only {reason}ed the model" in str(error)


async def test_OLL_07_every_request_has_a_user_turn() -> None:
    with OllamaStub() as stub:
        async with model_of(stub) as model:
            await model.ask(Call(system="", user="2+2?"))
    assert stub.chats[0]["messages"] == [{"role": "system", "content": ""}, {"role": "user", "content": "2+2?"}]


@pytest.mark.parametrize(
    ("length", "counted", "overflow"),
    [
        (15_600, 1026, True),  # cut to half the context
        (15_600, 2048, True),  # cut to the whole of it
        (15_600, 1500, True),  # less than half of what was sent
        (9_000, 1700, False),  # long words: it fits
        (15_600, None, False),  # nothing is known
        (2_000, 5, False),  # an older server, which does not count what it had in its cache
        (200, 60, False),
    ],
)
async def test_OLL_08_a_prompt_cut_in_silence_is_an_overflow(length: int, counted: int | None, overflow: bool) -> None:
    call = Call(system="s" * 100, user="u" * (length - 100))
    reply = await replied(streamed(line('{"answer": "x", "confidence": 90}'), end(prompt=counted)), call=call)
    assert reply.overflow is overflow


async def test_OLL_08_no_prompt_is_cut_in_silence_where_the_server_knows_better() -> None:
    with OllamaStub() as stub:
        async with model_of(stub, num_ctx=2048) as model:
            assert (await model.ask(Call(system="s", user="word " * 6000))).overflow
            assert not (await model.ask(CALL)).overflow
    for chat in stub.chats:
        assert (chat["truncate"], chat["shift"], chat["options"]["num_ctx"]) == (False, False, 2048)


@pytest.mark.parametrize(
    "answer",
    [
        refused("the prompt is too long: 7900 tokens, context length 4096"),
        refused('{"error":{"code":400,"message":"request (7067 tokens) exceeds the available context size"}}'),
        refused("request (7067 tokens) exceeds the available context size (4096 tokens)", 500),
        streamed(line("{"), b'{"error": "request (5000 tokens) exceeds the available context size"}\n'),
        streamed(line("4"), end(prompt=2050)),
    ],
)
async def test_OLL_09_both_ways_to_say_it_are_one_outcome(answer: Answer) -> None:
    reply = await replied(answer, call=Call(system="s", user="u" * 31_600))
    assert reply.overflow


async def test_OLL_11_endless_white_space_is_left_at_some_point() -> None:
    whole, begun = '{"answer":"4","confidence":80}', "{"
    for text in (whole, begun):
        spaces = [line("\n" * 50) for _ in range(100)]
        with OllamaStub(Paced(chunks=(line(text), *spaces), between=0.0)) as stub:
            async with model_of(stub) as model:
                reply = await model.ask(CALL)
        assert reply.finish_reason == "length"
        assert len(reply.text) <= len(text) + MAX_BLANK
        found = read(reply)
        expected = ("4", 80, False) if text == whole else (None, None, True)
        assert (found.answer, found.confidence, found.truncated) == expected


async def test_OLL_11_white_space_in_one_piece_is_cut_too() -> None:
    reply = await replied(streamed(line('{"answer":"4","confidence":80}' + "\n" * 5000, done=True, done_reason="stop")))
    assert len(reply.text) <= 30 + MAX_BLANK
    assert (reply.finish_reason, read(reply).answer, read(reply).confidence) == ("stop", "4", 80)
    pieces = [line("x" + " " * 200) for _ in range(3)]
    assert (await replied(streamed(*pieces, end()))).text == ("x" + " " * 200) * 3


@pytest.mark.parametrize("text", ["{}", "{} \n"])
async def test_OLL_12_an_empty_object_is_a_reply_that_does_not_parse(text: str) -> None:
    reply = await replied(streamed(line(text), end()))
    assert reply.text == text
    assert read(reply).answer is None


@pytest.mark.parametrize("status", [400, 500])
async def test_OLL_13_a_refused_schema_is_asked_for_less_and_less(status: int) -> None:
    refusal = refused("invalid JSON schema in format", status)
    with OllamaStub(refusal, refusal, refusal, streamed(line("4"), end())) as stub:
        async with model_of(stub) as model:
            assert (await model.ask(HELD)).text == "4"
            await model.ask(HELD)
            assert model.info().details["asked_without"] == "limits in the schema; schema; format"
    plain = {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "confidence": {"type": "integer"}},
        "required": ["answer", "confidence"],
    }
    assert [chat.get("format") for chat in stub.chats] == [SCHEMA, plain, "json", None, None]


async def test_OLL_13_what_is_accepted_is_kept() -> None:
    with OllamaStub(refused("failed to parse grammar"), streamed(line("{}"), end())) as stub:
        async with model_of(stub) as model:
            await model.ask(HELD)
            await model.ask(CALL)
            assert model.info().details["asked_without"] == "limits in the schema"
    assert "minimum" not in stub.chats[1]["format"]["properties"]["confidence"]
    assert "format" not in stub.chats[2]


async def test_OLL_14_a_number_outside_the_schema_comes_through_unchanged() -> None:
    reply = await replied(streamed(line('{"answer":"x","confidence":150}'), end()), call=HELD)
    assert reply.text == '{"answer":"x","confidence":150}'
    assert read(reply).confidence != 150


async def test_OLL_15_the_first_byte_may_take_as_long_as_the_run_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ProviderOptions().timeout >= 300
    monkeypatch.setattr(ollama, "IDLE_TIMEOUT", 0.1)
    said: list[str] = []
    with OllamaStub(Paced(before=0.25, chunks=(line("4"), end()))) as stub:
        async with model_of(stub, waiting=said.append) as model:
            assert (await model.ask(CALL)).text == "4"
            await model.ask(CALL)
    assert said == [f"loading {PLAIN.name} at {stub.url}"]


async def test_OLL_15_a_model_in_memory_is_not_said_to_load() -> None:
    said: list[str] = []
    with OllamaStub() as stub:
        stub.loaded = [PLAIN.name]
        async with model_of(stub, waiting=said.append) as model:
            await model.ask(CALL)
    assert said == []


async def test_OLL_15_a_wait_can_be_cancelled_and_the_server_notices() -> None:
    with OllamaStub(Answer(fault="silent")) as stub:
        async with model_of(stub) as model:
            task = asyncio.create_task(model.ask(CALL))
            await asyncio.to_thread(stub.asked.wait, 5)
            while not stub.chats:
                await asyncio.sleep(0.005)
            started = time.perf_counter()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.perf_counter() - started < 1
            assert await asyncio.to_thread(stub.hung_up.wait, 5)


async def test_OLL_16_a_load_that_was_given_up_is_explained_and_tried_once_more() -> None:
    words = "timed out waiting for llama runner to start - progress 0.00"
    with OllamaStub(*[refused(words, 500) for _ in range(5)]) as stub:
        async with model_of(stub) as model:
            told: list[ProviderError] = []
            with pytest.raises(ProviderError) as caught:
                await ask_patiently(model, CALL, PATIENT, lambda _, error: told.append(error))
    assert len(stub.chats) == 2
    assert [error.kind for error in told] == ["timeout"]
    assert caught.value.kind in FATAL  # the run of this model stops
    assert words in str(caught.value)
    assert "OLLAMA_LOAD_TIMEOUT" in str(caught.value)
    assert "memory" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sent"),
    [("-1", -1), ("0", 0), ("300", 300), ("1.5", 1.5), ("5m", "5m"), ("1h30m", "1h30m"), (" -1m ", "-1m"), ("", "15m")],
)
async def test_OLL_17_lengths_of_time_are_sent_as_the_server_reads_them(
    text: str, sent: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_KEEP_ALIVE", text)
    assert keep_alive(text) == sent
    with OllamaStub() as stub:
        async with model_of(stub) as model:
            await model.ask(CALL)
            assert model.info().details["keep_alive"] == str(sent)
    assert stub.chats[0]["keep_alive"] == sent
    assert type(stub.chats[0]["keep_alive"]) is type(sent)


@pytest.mark.parametrize("text", ["soon", "m", "5 m", "--1", "5m!", "1e3"])
def test_OLL_17_nonsense_is_told_before_anything_is_asked(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_KEEP_ALIVE", text)
    with pytest.raises(SelfdiagError, match=r"^OLLAMA_KEEP_ALIVE .* is no length of time such as 300, 5m or -1"):
        provider("m", ProviderOptions())


async def test_OLL_18_a_missing_model_is_told_with_the_command_that_fetches_it() -> None:
    with OllamaStub() as stub:
        error = await not_entered(model_of(stub, "no-such-model"))
    assert kind_of(error) == "model_missing"
    assert str(error) == f"{stub.url} has no model 'no-such-model': fetch it with  ollama pull no-such-model"
    assert stub.chats == []


async def test_OLL_18_a_model_that_vanishes_later_ends_the_run_too() -> None:
    with OllamaStub() as stub:
        async with model_of(stub) as model:
            await model.ask(CALL)
            stub.models.remove(PLAIN)
            with pytest.raises(ProviderError, match="ollama pull smollm2:135m") as caught:
                await model.ask(CALL)
    assert (caught.value.kind, caught.value.retry) == ("model_missing", False)


@pytest.mark.parametrize(
    ("asked", "found"), [("qwen3", True), ("gemma3", False), ("qwen3:1b", False), ("qwen3:latest", True)]
)
async def test_OLL_19_a_bare_name_means_latest_and_nothing_else(asked: str, found: bool) -> None:
    installed = [Installed(name="qwen3:latest", digest="aa"), Installed(name="gemma3:4b", digest="bb")]
    assert any(same_model(asked, model.name) for model in installed) is found
    with OllamaStub(models=installed) as stub:
        if found:
            async with model_of(stub, asked) as model:
                assert model.info().digest == "sha256:aa"
        else:
            error = await not_entered(model_of(stub, asked))
            assert kind_of(error) == "model_missing"
            if asked == "gemma3":
                assert str(error).endswith(". Did you mean 'gemma3:4b'?")


async def test_OLL_20_a_dead_server_is_one_fault_whoever_asks() -> None:
    url = f"http://127.0.0.1:{unused_port()}"
    messages = set()
    async with OllamaServer(url, None, 5) as server:
        for asking in (
            server.models(),
            server.describe("m"),
            read_stream(server.chat({}), first=5, idle=5, limit=1, place=url),
        ):
            with pytest.raises(ProviderError) as caught:
                await asking
            assert (caught.value.kind, caught.value.retry) == ("unreachable", True)
            messages.add(str(caught.value))
    assert len(messages) == 1
    error = await not_entered(provider("m", ProviderOptions(base_url=url)))
    assert kind_of(error) == "unreachable"
    assert url in str(error)
    (listing,) = await discover_at(url)
    assert not listing.ready
    assert url in listing.remark


async def discover_at(url: str) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OLLAMA_HOST", url)
        return await discover("ollama")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),  # noqa: S104 - nothing is bound to it
        ("0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("[::]:11434", "http://[::1]:11434"),
    ],
)
def test_OLL_21_the_address_a_server_listens_at_becomes_one_to_ask(text: str, url: str) -> None:
    found = read_address(text, "OLLAMA_HOST")
    assert found.url == url
    assert "is where a server listens, so" in found.note


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        (":56789", "http://127.0.0.1:56789"),
        ("example.org", "http://example.org:11434"),
        ("https://example.org", "https://example.org:443"),
        ("https://example.org/", "https://example.org:443"),
        ("http://h:1234/path/", "http://h:1234/path"),
        ("[::1]", "http://[::1]:11434"),
        ("11434", "http://127.0.0.1:11434"),
        ("  localhost ", "http://localhost:11434"),
    ],
)
def test_OLL_22_every_spelling_of_an_address(text: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_address(text, "OLLAMA_HOST")
    assert (found.url, found.note) == (url, "")
    monkeypatch.setenv("OLLAMA_HOST", text)
    assert provider("m", ProviderOptions()).info().server == url.partition("://")[2].partition("/")[0]


async def test_OLL_23_a_path_of_the_api_is_left_away_with_a_note() -> None:
    found = read_address("http://localhost:11434/v1", "OLLAMA_HOST")
    assert found.url == "http://localhost:11434"
    assert found.note == "/v1 of the address was left away: the native API is asked"
    said: list[str] = []
    with OllamaStub() as stub:
        options = ProviderOptions(base_url=f"{stub.url}/v1/", waiting=said.append)
        async with provider(PLAIN.name, options) as model:
            assert said == [found.note]
            await model.ask(CALL)
            assert model.info().details["address"] == found.note


EMBEDDER = Installed(name="nomic-embed-text:latest", digest="cc", capabilities=("embedding",))


async def test_OLL_24_a_model_that_only_embeds_cannot_be_chosen() -> None:
    with OllamaStub(models=[EMBEDDER, PLAIN]) as stub:
        listed = {listing.model: listing for listing in await discover_at(stub.url)}
        error = await not_entered(model_of(stub, "nomic-embed-text"))
    assert not listed["ollama:nomic-embed-text:latest"].ready
    assert listed["ollama:nomic-embed-text:latest"].remark == "cannot chat"
    assert listed[f"ollama:{PLAIN.name}"].ready
    assert kind_of(error) == "config"
    assert str(error) == "nomic-embed-text cannot chat (it does: embedding)"


async def test_OLL_24_a_server_that_knows_no_capabilities_says_so_itself() -> None:
    error = await failed(refused('"nomic-embed-text" does not support chat'))
    assert (error.kind, error.retry) == ("config", False)
    assert "does not support chat" in str(error)


@pytest.mark.parametrize("capabilities", [None, ()])
async def test_OLL_25_unknown_capabilities_hide_nothing(capabilities: tuple[str, ...] | None) -> None:
    untold = Installed(name="m:latest", digest="dd", capabilities=())
    with OllamaStub(models=[untold], old=True) as stub:
        shown = untold.shown()
        if capabilities is None:
            del shown["capabilities"]
        stub.paths["/api/show"] = as_json(shown)
        (listing,) = await discover_at(stub.url)
        async with model_of(stub, "m") as model:
            assert (await model.ask(CALL)).text == stub.reply
            assert "capabilities" not in model.info().details
    assert listing.ready


async def test_OLL_27_an_error_within_a_stream_discards_what_was_said() -> None:
    broken = streamed(
        line('{"answer":"4'), b'{"error":"an error was encountered while running the model: unexpected EOF"}\n'
    )
    with OllamaStub(broken, broken, broken) as stub:
        async with model_of(stub) as model:
            with pytest.raises(ProviderError, match="an error was encountered while running the model") as caught:
                await ask_patiently(model, CALL, PATIENT, lambda *_: None)
    assert (caught.value.kind, caught.value.attempts, len(stub.chats)) == ("provider", 2, 2)
    with OllamaStub(broken) as stub:
        async with model_of(stub) as model:
            reply, attempts = await ask_patiently(model, CALL, PATIENT, lambda *_: None)
    assert (reply.text, attempts) == (stub.reply, 2)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"error": "the model has gone"}, "the model has gone"),
        ({"error": '{"error":{"code":500,"message":"nested words"}}'}, "an error: nested words"),
        ({"model": "m", "done": True}, "holds no message"),
        ({"model": "m", "message": "text", "done": True}, "holds no message"),
        ([], "ended its reply before it was done"),
        (5, "ended its reply before it was done"),
    ],
)
async def test_OLL_28_a_200_without_a_message_is_told_in_plain_words(document: object, words: str) -> None:
    error = await failed(as_json(document))
    assert error.kind == "provider"
    assert words in str(error)
    assert "validation" not in str(error)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=502, body=b"<html><body>502 Bad Gateway</body></html>"), "answers 502: 502 Bad Gateway"),
        (Answer(body=b"<html>login</html>"), "sent what is not JSON: login"),
        (
            Answer(body=b"<!DOCTYPE html>\n<html>\n<b>Sign in</b>\n" + b"<p>x</p>\n" * 9000),
            "sent what is not JSON: Sign in x x",
        ),
        (Answer(body=b"<html>\n</html>"), "sent what is not JSON: (nothing readable)"),
        (Answer(body=b'{"message": {"con'), "sent what is not JSON"),
    ],
)
async def test_OLL_29_a_page_is_told_in_a_few_words(answer: Answer, words: str) -> None:
    error = await failed(answer)
    assert (error.kind, error.retry) == ("provider", True)
    assert words in str(error)
    assert len(str(error)) < 300
    assert "<" not in str(error)


async def test_OLL_30_a_proxy_does_not_catch_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_port()}")
    assert (await replied()).text


async def test_OLL_30_a_proxy_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with Stub(Answer(status=503, body=b"<html>no such host</html>")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        error = await not_entered(provider("m", ProviderOptions(base_url="http://ollama.example.invalid:11434")))
    assert "answers 503: no such host; the call went through the proxy of HTTP_PROXY" in str(error)


def test_OLL_31_a_proxy_that_breaks_the_client_breaks_nothing_else() -> None:
    script = """
import asyncio
from selfdiag.models import ollama, persona
from selfdiag.models.base import Call, ProviderOptions
from selfdiag.safety import SelfdiagError
from ollama_stub import OllamaStub

async def main():
    print((await persona.provider("blind", ProviderOptions()).ask(Call(system="s", user="u"))).finish_reason)
    print(ollama.offer("ollama")[0].model)
    with OllamaStub() as stub:
        try:
            await ollama.provider("smollm2:135m", ProviderOptions(base_url=stub.url)).__aenter__()
        except SelfdiagError as error:
            print(error.__cause__.kind, error)

asyncio.run(main())
"""
    env = {**os.environ, "ALL_PROXY": "socks5://127.0.0.1:1", "PYTHONWARNINGS": "error"}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, check=False)
    assert done.stderr == ""
    first, second, third = done.stdout.splitlines()
    assert (first, second) == ("stop", "ollama:NAME")
    assert third.startswith("config the official ollama client cannot be loaded (Using SOCKS proxy")
    assert third.endswith("correct or unset ALL_PROXY")


async def test_OLL_32_a_full_queue_is_waited_for() -> None:
    busy = refused("server busy, please try again.  maximum pending requests exceeded", 503)
    told: list[ProviderError] = []
    with OllamaStub(busy, busy, busy) as stub:
        async with model_of(stub) as model:
            reply, attempts = await ask_patiently(model, CALL, PATIENT, lambda _, error: told.append(error))
    assert (reply.text, attempts) == (stub.reply, 4)
    assert all(error.overloaded and error.retry and error.kind == "provider" for error in told)
    assert "server busy" in str(told[0])


async def test_OLL_33_a_crash_is_waited_for_a_little_and_not_for_every_item() -> None:
    crash = refused("model runner has unexpectedly stopped, this may be due to resource limitations", 500)
    with OllamaStub(crash, crash) as stub:
        async with model_of(stub) as model:
            assert (await ask_patiently(model, CALL, PATIENT, lambda *_: None))[1] == 3
            stub.script.extend([crash] * 9)
            for attempts in (3, 1, 1):
                with pytest.raises(ProviderError, match="unexpectedly stopped") as caught:
                    await ask_patiently(model, CALL, PATIENT, lambda *_: None)
                assert (caught.value.kind, caught.value.attempts) == ("provider", attempts)
            stub.script.clear()
            await model.ask(CALL)  # a reply in between: the next crash is another one
            stub.script.append(crash)
            assert (await ask_patiently(model, CALL, PATIENT, lambda *_: None))[1] == 2


async def test_OLL_33_one_crash_of_several_calls_counts_once() -> None:
    crash = Paced(before=0.1, status=500, chunks=(b'{"error": "model runner has unexpectedly stopped"}',))
    with OllamaStub(*[crash] * 4) as stub:
        async with model_of(stub) as model:
            asked = [ask_patiently(model, CALL, PATIENT, lambda *_: None) for _ in range(4)]
            replies = await asyncio.gather(*asked)
    assert [attempts for _, attempts in replies] == [2, 2, 2, 2]


async def test_OLL_33_a_run_ends_after_some_crashes_and_what_was_answered_counts(tmp_path: Path) -> None:
    crash = refused("model runner has unexpectedly stopped, this may be due to resource limitations", 500)
    answered = streamed(line('{"answer": "zzz", "confidence": 40}'), end())
    # the warm-up is the eighth
    with OllamaStub(*[answered] * 8, *[crash] * 40) as stub:
        settings = RunSettings(
            model=f"ollama:{PLAIN.name}", base_url=stub.url, sections=("probes",), limit=20, structured="off"
        )
        session = Session(settings, folder=tmp_path / "run")
        (failure,) = [event for event in await ran(session) if isinstance(event, Failed)]
    assert failure.kind == "provider"
    assert failure.message.startswith(f"{MAX_CONSECUTIVE_ERRORS} calls in a row failed")
    assert "unexpectedly stopped" in failure.message
    found = summarise(read_run(session.folder), draws=50)
    counts = found.counts["probes"]
    # one more may have landed before the stop
    assert counts["error"] in {MAX_CONSECUTIVE_ERRORS, MAX_CONSECUTIVE_ERRORS + 1}
    assert (counts["incorrect"], counts["not_asked"]) == (7, 20 - 7 - counts["error"])
    assert found.metrics["accuracy"].n == 7
    assert (
        f"incomplete: {counts['not_asked']} of 20 calls not asked, {counts['error']} ended in an error" in found.notes
    )


@pytest.mark.parametrize(
    "words",
    [
        'option "temperature" must be of type float32',
        'invalid format: "yaml"; expected "json" or a valid JSON Schema object',
        "model requires more system memory (8.4 GiB) than is available (3.1 GiB)",
    ],
)
async def test_OLL_33_a_fault_that_every_call_would_meet_is_met_once(words: str) -> None:
    error = await failed(refused(words, 500))
    assert (error.kind, error.retry) == ("config", False)
    assert words in str(error)


async def test_OLL_34_each_setting_is_where_the_server_looks_for_it() -> None:
    call = Call(system="s", user="u", max_tokens=7, temperature=0.75, seed=3, schema=SCHEMA, logprobs=True)
    with OllamaStub() as stub:
        async with model_of(stub, THINKER.name, num_ctx=3000) as model:
            await model.ask(call)
            await model.ask(Call(system="s", user="u", seed=None))
    assert stub.chats[0] == {
        "model": THINKER.name,
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "stream": True,
        "options": {"temperature": 0.75, "seed": 3, "num_ctx": 3000, "num_predict": 7},
        "think": False,
        "format": SCHEMA,
        "keep_alive": "15m",
        "truncate": False,
        "shift": False,
        "logprobs": True,
    }
    assert "seed" not in stub.chats[1]["options"]
    assert not {"format", "logprobs"} & set(stub.chats[1])


async def test_OLL_35_two_replies_to_the_same_call_may_differ() -> None:
    first, second = streamed(line("Venus"), end()), streamed(line("Mercury"), end())
    with OllamaStub(first, second) as stub:
        async with model_of(stub) as model:
            assert [(await model.ask(CALL)).text for _ in range(2)] == ["Venus", "Mercury"]
    assert stub.chats[0] == stub.chats[1]


@pytest.mark.parametrize("base_url", ["", "http://127.0.0.1:1", "https://example.org"])
def test_OLL_36_one_call_at_a_time_unless_somebody_says_otherwise(base_url: str) -> None:
    assert provider("m", ProviderOptions(base_url=base_url)).concurrency == 1


async def test_OLL_37_the_context_is_the_same_for_every_call_of_a_run() -> None:
    calls = [
        CALL,
        HELD,
        Call(system="s", user="u" * 3000, max_tokens=900),
        Call(system="s", user="u", max_tokens=16_384, think="high"),
    ]
    with OllamaStub(streamed(line(thinking="Hm."), line("4"), end())) as stub:
        async with model_of(stub, THINKER.name, num_ctx=10_240) as model:
            for call in calls:
                await model.ask(call)
            assert model.info().details["num_ctx"] == "10240"
    assert {chat["options"]["num_ctx"] for chat in stub.chats} == {10_240}
    assert [chat["options"]["num_predict"] for chat in stub.chats] == [64, 64, 900, 16_384]


@pytest.mark.parametrize("generated", [0, None])
async def test_OLL_38_an_empty_body_is_asked_for_once_more(generated: int | None) -> None:
    nothing = streamed(end(generated=generated))
    with OllamaStub(nothing) as stub:
        async with model_of(stub) as model:
            assert (await model.ask(CALL)).text == stub.reply
    with OllamaStub(nothing, nothing) as stub:
        async with model_of(stub) as model:
            reply = await model.ask(CALL)
    assert (reply.text, reply.finish_reason, len(stub.chats)) == ("", "stop", 2)
    assert graded(reply) == "empty"


async def test_OLL_38_what_was_generated_and_not_shown_is_not_asked_for_again() -> None:
    with OllamaStub(streamed(line(thinking="Hm."), end(generated=3))) as stub:
        async with model_of(stub, THINKER.name) as model:
            reply = await model.ask(THINKING)
    assert (reply.text, reply.reasoning, len(stub.chats)) == ("", "Hm.", 1)
    assert graded(reply) == "empty"


async def test_OLL_39_signing_in_is_a_command_and_no_address() -> None:
    address = "https://ollama.com/connect?name=host&key=c2VjcmV0LWNhbmFyeQ"
    for answer in (refused("unauthorized", 401, signin_url=address), refused(f"sign in at {address} first", 401)):
        error = await failed(answer)
        assert (error.kind, error.retry) == ("unauthorized", False)
        assert "connect?" not in str(error)
        assert "c2VjcmV0" not in str(error)
    error = await failed(refused("unauthorized", 401, signin_url=address))
    assert str(error).endswith("not signed in there: run  ollama signin  where the server runs")


@pytest.mark.parametrize(
    ("model", "remote"),
    [
        (Installed(name="gpt-oss:120b-cloud", digest="1"), True),
        (Installed(name="glm-5:cloud", digest="1"), True),
        (Installed(name="mine:latest", digest="1", remote_host="https://ollama.com:443"), True),
        (Installed(name="cloud:latest", digest="1"), False),
        (CODER, False),
    ],
)
async def test_OLL_40_a_model_that_runs_elsewhere_is_said_to(model: Installed, remote: bool) -> None:
    said: list[str] = []
    with OllamaStub(models=[model]) as stub:
        (listing,) = await discover_at(stub.url)
        async with model_of(stub, model.name, waiting=said.append) as entered:
            info = entered.info()
            await entered.ask(CALL)
    assert (listing.remote, info.remote) == (remote, remote)
    assert any("loading" in words for words in said) is not remote  # nothing is loaded here
    assert provider(model.name, ProviderOptions(base_url="http://10.0.0.1")).info().remote


@pytest.mark.parametrize(
    ("name", "remote_host", "before", "place"),
    [
        ("glm-5:cloud", "", "Ollama's cloud through ", "Ollama's cloud through "),
        ("GPT-OSS:120b-Cloud", "", "Ollama's cloud through ", "Ollama's cloud through "),
        ("glm-5:cloud", "https://ollama.com:443", "Ollama's cloud through ", "https://ollama.com:443 through "),
        ("mine:latest", "https://ollama.com:443", "", "https://ollama.com:443 through "),
        ("mine:latest", "far\x1b[2J.example", "", "far\\x1b[2J.example through "),
        ("mine:latest", "", "", ""),
    ],
)
async def test_OLL_40_where_prompts_go_is_told(name: str, remote_host: str, before: str, place: str) -> None:
    said: list[str] = []
    with OllamaStub(models=[Installed(name=name, digest="1", remote_host=remote_host)]) as stub:
        here = f"127.0.0.1:{stub.port}"
        (listing,) = await discover_at(stub.url)
        model = model_of(stub, name, waiting=said.append)
        assert (model.info().destination(), model.info().remote) == (before + here, bool(before))
        async with model:
            assert model.info().destination() == place + here
    assert listing.details.get("remote_host", "") == place.removesuffix(" through ")
    # what the name says was known before anybody agreed to the run
    late = bool(place and not before)
    assert said == [f"every question leaves this machine and goes to {place}{here}"] * late


async def test_OLL_40_the_report_names_the_place(tmp_path: Path) -> None:
    with OllamaStub(models=[Installed(name="mine:latest", digest="1", remote_host="https://ollama.com:443")]) as stub:
        settings = RunSettings(model="ollama:mine:latest", base_url=stub.url, sections=("probes",), limit=1)
        session = Session(settings, folder=tmp_path / "run")
        await ran(session)
    run = read_run(session.folder)
    rows = dict(method_rows(run, summarise(run, draws=50)))
    assert rows["asked at"] == f"https://ollama.com:443 through 127.0.0.1:{stub.port} (another machine)"


@pytest.mark.parametrize("fault", ["silent", "stall", "drip"])
async def test_OLL_41_a_stalled_server_is_left(fault: str) -> None:
    lines = () if fault == "drip" else (line("4"), line("4"), line("4"), end())
    answer = Answer(chunks=lines, fault=fault)  # type: ignore[arg-type]
    error = await failed(answer, timeout=0.2)
    assert (error.kind, error.retry) == ("timeout", True)


async def test_OLL_41_a_server_stalled_from_the_start_is_not_entered() -> None:
    with OllamaStub() as stub:
        stub.paths["/api/version"] = Answer(fault="silent")
        error = await not_entered(model_of(stub, timeout=0.2))
        stub.paths = {"/api/show": Answer(fault="silent")}
        assert kind_of(await not_entered(model_of(stub, timeout=0.2))) == "timeout"
    assert kind_of(error) == "timeout"


async def test_OLL_42_slow_is_not_hung(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "IDLE_TIMEOUT", 0.15)
    slow = Paced(chunks=(*(line(str(digit)) for digit in range(6)), end()), between=0.05)
    with OllamaStub(slow) as stub:
        async with model_of(stub) as model:
            reply = await model.ask(CALL)
    assert (reply.text, reply.finish_reason) == ("012345", "stop")
    assert reply.latency_s > 0.15
    stalled = Paced(chunks=(line("0"), b"\n", b"\n", b"\n", b"\n", b"\n", b"\n", end()), between=0.05)
    error = await failed(stalled)  # blank lines are no sign of life
    assert error.kind == "timeout"
    assert "sent nothing for 0.15 seconds" in str(error)


async def test_OLL_43_the_native_provider_sets_the_context_where_v1_would_not() -> None:
    with OllamaStub() as stub:
        async with provider(PLAIN.name, ProviderOptions(base_url=f"{stub.url}/v1", num_ctx=4096)) as model:
            await model.ask(CALL)
    assert stub.chats[0]["options"]["num_ctx"] == 4096
    assert {request.target for request in stub.requests if request.method == "POST"} == {"/api/show", "/api/chat"}


async def test_OLL_44_both_shapes_of_thinking_give_the_same_answer() -> None:
    answer = '{"answer": "8", "confidence": 70}'
    older = await replied(streamed(line(f"<think>Hm.</think>\n{answer}"), end()))
    newer = await replied(streamed(line(thinking="Hm."), line(answer), end()), name=THINKER.name)
    assert read(older).answer == read(newer).answer == "8"
    assert read(older).confidence == read(newer).confidence == 70
    assert read(older).reasoning == newer.reasoning == "Hm."
    with OllamaStub() as stub:
        stub.paths["/api/version"] = as_json({"version": "0.12.5"})
        async with model_of(stub) as model:
            assert model.info().details["server_version"] == "0.12.5"
