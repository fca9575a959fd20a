"""What is left out of a request when a server refuses it, and that it is learnt once."""

import asyncio
from typing import Any

import pytest
from http_stub import Answer, Request, Stub, as_json, completion

from selfdiag.elicit.prompts import RESPONSE_SCHEMA
from selfdiag.models.base import Call, ProviderError, ProviderOptions
from selfdiag.models.chat_request import STEPS, request_of
from selfdiag.models.concessions import Concessions, Refusal, Step
from selfdiag.models.openai import OpenAICompatible, provider

FULL = Call(system="Reply as JSON.", user="2 + 2?", top_p=0.9, schema=RESPONSE_SCHEMA, think="high", logprobs=True)


def refusal(words: str, *, status: int = 400, param: str = "", codes: tuple[str, ...] = ()) -> Refusal:
    return Refusal(status=status, words=words, param=param, codes=codes)


def without(name: str) -> Step:
    return Step(
        name=f"no {name}",
        answers=lambda said: said.names(name),
        change=lambda body: {key: value for key, value in body.items() if key != name},
    )


def asked(*answers: Answer, **options: Any) -> tuple[Stub, OpenAICompatible]:
    stub = Stub(*answers, **options)
    return stub, provider("m", ProviderOptions(base_url=stub.url))


def test_a_refusal_names_by_text_or_parameter() -> None:
    assert refusal("Temperature is not welcome").names("temperature")
    assert refusal("not supported", param="temperature").names("seed", "temperature")
    assert not refusal("not supported").names("temperature")


def test_a_step_is_taken_once_and_for_all() -> None:
    concessions = Concessions([without("a"), without("b")])
    sent = {"a": 1, "b": 2, "c": 3}
    assert concessions.applied(sent) == sent
    assert concessions.take(refusal("b is unknown"), sent)
    assert concessions.taken == ("no b",)
    assert concessions.applied(sent) == {"a": 1, "c": 3}
    assert sent == {"a": 1, "b": 2, "c": 3}
    assert not concessions.take(refusal("b is unknown"), {"a": 1, "c": 3})
    assert concessions.taken == ("no b",)


def test_a_step_that_would_change_nothing_is_not_taken() -> None:
    concessions = Concessions([without("a")])
    assert not concessions.take(refusal("a is unknown"), {"c": 3})
    assert not concessions.take(refusal("something else"), {"a": 1})
    assert concessions.taken == ()


def test_a_step_that_another_call_took_meanwhile_is_reason_enough() -> None:
    concessions = Concessions([without("a"), without("b")])
    sent = {"a": 1, "b": 2}
    assert concessions.take(refusal("a is unknown"), sent)
    assert concessions.take(refusal("a is unknown"), sent)
    assert concessions.take(refusal("whatever"), sent)
    assert concessions.taken == ("no a",)


def test_the_full_request() -> None:
    assert request_of("m", FULL) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Reply as JSON."}, {"role": "user", "content": "2 + 2?"}],
        "temperature": 0.0,
        "max_tokens": 256,
        "top_p": 0.9,
        "seed": 0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": RESPONSE_SCHEMA, "strict": True},
        },
        "logprobs": True,
        "reasoning_effort": "high",
    }


@pytest.mark.parametrize(
    ("think", "effort"), [("off", None), ("on", "medium"), ("low", "low"), ("medium", "medium"), ("high", "high")]
)
def test_thinking_is_an_effort_and_off_is_not_sent(think: Any, effort: str | None) -> None:
    assert request_of("m", Call(system="s", user="u", think=think)).get("reasoning_effort") == effort


@pytest.mark.parametrize(
    ("said", "step"),
    [
        (refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.", param="max_tokens"), 0),
        (refusal("Extra inputs are not permitted", param="body.max_tokens", status=422), 0),
        (refusal("'temperature' does not support 0 with this model", param="temperature"), 1),
        (refusal("`temperature` must be strictly positive", status=422), 1),
        (refusal("System role not supported"), 2),
        (refusal("Unsupported value: 'messages[0].role' does not support 'system'", param="messages[0].role"), 2),
        (refusal("Conversation roles must alternate user/assistant/user"), 2),
        (refusal("Developer instruction is not enabled for models/g"), 2),
        (refusal("Only user and assistant roles are supported!"), 2),
        (refusal("Jinja Exception: System role not supported", status=500), 2),
        (refusal("Logprobs is not enabled for models/x"), 3),
        (refusal("'logprobs' is not supported with reasoning models"), 3),
        (refusal("Unknown parameter: 'seed'"), 4),
        (refusal('"m" does not support thinking'), 5),
        (refusal("Unrecognized request argument supplied: reasoning_effort"), 5),
        (refusal("In context=('properties', 'confidence'), 'minimum' is not permitted"), 6),
        (refusal("Invalid schema for response_format 'reply'", param="response_format"), 6),
        (refusal("Unsupported parameter: 'top_p' is not supported with this model.", param="top_p"), 9),
    ],
)
def test_which_step_answers(said: Refusal, step: int) -> None:
    concessions = Concessions(STEPS)
    body = request_of("m", FULL)
    assert concessions.take(said, body)
    assert concessions.taken == (STEPS[step].name,)
    assert concessions.applied(body) == STEPS[step].change(body) != body


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 256. This model supports at most 128",
        "'messages' is required",
        "model not loaded",
        "we must proceed, indeed",
        "",
    ],
)
def test_what_no_step_answers(words: str) -> None:
    concessions = Concessions(STEPS)
    assert not concessions.take(refusal(words), request_of("m", FULL))
    assert concessions.taken == ()


def test_every_step_can_be_done_twice_and_all_of_them_together() -> None:
    body = request_of("m", FULL)
    for step in STEPS:
        once = step.change(body)
        assert step.change(once) == once
        body = once
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Reply as JSON.\n\n2 + 2?"}],
        "max_completion_tokens": 256,
    }


def test_the_shape_is_asked_for_less_and_less() -> None:
    body = request_of("m", FULL)
    shapes: list[Any] = []
    for step in STEPS[6:9]:
        body = step.change(body)
        shapes.append(body.get("response_format"))
    bare, free, none = shapes
    assert bare["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "confidence": {"type": "integer"}},
        "required": ["answer", "confidence"],
        "additionalProperties": False,
    }
    assert (free, none) == ({"type": "json_object"}, None)


def test_a_schema_without_its_limits() -> None:
    number = {"type": "integer", "minimum": 0}
    schema = {"type": "object", "title": "x", "properties": {"a": {"type": "array", "items": number, "maxItems": 3}}}
    body = STEPS[6].change(request_of("m", Call(system="s", user="u", schema=schema)))
    assert body["response_format"]["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "integer"}}},
        "additionalProperties": False,
    }


def picky(request: Request) -> Answer:
    """Refuse everything that some server somewhere refuses, one thing at a time."""
    body = request.json()
    complaints = {
        "max_tokens": "Unsupported parameter: 'max_tokens'",
        "temperature": "temperature must be the default",
        "seed": "Unknown parameter: 'seed'",
        "logprobs": "logprobs are not available",
        "reasoning_effort": "this model does not support reasoning",
        "response_format": "response_format is not supported",
        "top_p": "Unsupported parameter: 'top_p'",
    }
    for name, words in complaints.items():
        if name in body:
            return as_json({"error": {"message": words}}, status=400)
    if body["messages"][0]["role"] == "system":
        return as_json({"error": "System role not supported"}, status=400)
    return completion()


async def test_a_server_that_refuses_everything_is_learnt_once() -> None:
    stub, model = asked(decide=picky)
    with stub:
        async with model:
            assert (await model.ask(FULL)).text == "Paris"
            learning = len(stub.requests)
            for _ in range(3):
                assert (await model.ask(FULL)).text == "Paris"
            taken = model.info().details["asked_without"]
    assert learning == 1 + len(STEPS)
    assert len(stub.requests) == learning + 3
    assert taken.split("; ") == [
        step.name for step in (STEPS[0], STEPS[1], *STEPS[4:5], STEPS[3], *STEPS[5:], STEPS[2])
    ]
    assert stub.requests[-1].json() == {
        "model": "m",
        "messages": [{"role": "user", "content": "Reply as JSON.\n\n2 + 2?"}],
        "max_completion_tokens": 256,
    }


async def test_calls_side_by_side_learn_together() -> None:
    stub, model = asked(decide=picky)
    with stub:
        async with model:
            replies = await asyncio.gather(*(model.ask(FULL) for _ in range(8)))
            taken = model.info().details["asked_without"].split("; ")
    assert {reply.text for reply in replies} == {"Paris"}
    assert sorted(taken) == sorted(step.name for step in STEPS)


async def test_nothing_is_learnt_from_other_troubles() -> None:
    for status in (401, 403, 404, 429, 503):
        words = "temperature, seed, schema and max_tokens of the model"
        stub, model = asked(as_json({"error": words}, status=status))
        with stub:
            async with model:
                with pytest.raises(ProviderError):
                    await model.ask(FULL)
        assert len(stub.requests) == 1
        assert "asked_without" not in model.info().details


async def test_a_refusal_that_stays_ends_with_its_words() -> None:
    stub, model = asked(as_json({"error": "temperature is wrong"}, status=400))
    with stub:
        async with model:
            with pytest.raises(ProviderError, match="temperature is wrong") as caught:
                await model.ask(FULL)
    assert (caught.value.kind, caught.value.retry) == ("config", False)
    assert len(stub.requests) == 2
