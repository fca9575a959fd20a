"""Where a confidence can come from: with the answer, afterwards, from tokens, from agreement; never pooled."""

import json
import math

import pytest
from http_stub import Answer, Request, Stub, as_json, completion
from scripted import Scripted, collect

from selfdiag.elicit.prompts import ANSWER_CONTRACT, POSTHOC_CONTRACT
from selfdiag.elicit.token_confidence import answer_probability
from selfdiag.models.base import Call, ProviderError, Reply, Token
from selfdiag.protocols.audit import summarise
from selfdiag.runs.plan import RESAMPLES, open_calls
from selfdiag.runs.store import read_run


def is_posthoc(call: Call) -> bool:
    return call.system == POSTHOC_CONTRACT


async def test_afterwards_the_model_sees_question_and_answer_and_nothing_else(start, tmp_path) -> None:
    replies = {False: '{"answer": "say \\"no\\"", "confidence": 40}', True: '{"confidence": 70}'}
    provider = Scripted(lambda call: replies[is_posthoc(call)])
    await collect(start(provider, confidence=("stated", "posthoc"), sections=("probes",)))
    run = read_run(tmp_path / "run")
    later = [call for call in provider.calls if is_posthoc(call)]
    assert len(later) == 6
    first = {prompt.user for prompt in run.manifest.prompts.values()}
    for call in later:
        question, _, answer = call.user.partition("\nAnswer given: ")
        assert question in first
        assert json.loads(answer) == 'say "no"'
        assert "40" not in call.user
    records = [record for record in run.latest().values() if record.section == "posthoc"]
    assert {(record.confidence, record.confidence_source, record.answer, record.outcome) for record in records} == {
        (70, "posthoc", 'say "no"', "incorrect")
    }
    summary = summarise(run, draws=100)
    assert summary.mean_confidence == pytest.approx(40)
    assert summary.counts["probes"]["incorrect"] == 6
    assert summary.sources is not None
    gap = summary.sources["posthoc"].differences["gap"]
    assert gap.value == pytest.approx(0.3)
    assert open_calls(run.manifest.plan, run.latest()) == []


async def test_posthoc_alone_asks_for_the_answer_alone_and_measures_what_comes_afterwards(start, tmp_path) -> None:
    provider = Scripted(lambda call: '{"confidence": 70}' if is_posthoc(call) else '{"answer": "zzz"}')
    await collect(start(provider, confidence=("posthoc",)))
    assert {call.system for call in provider.calls} == {ANSWER_CONTRACT, POSTHOC_CONTRACT}
    summary = summarise(read_run(tmp_path / "run"), draws=100)
    assert summary.mean_confidence == pytest.approx(70)
    assert summary.metrics["gap"].value == pytest.approx(0.7)
    assert summary.sources is None
    assert "afterwards" in " ".join(summary.notes)


async def test_only_answers_that_were_graded_are_asked_about(start, tmp_path) -> None:
    silent = '{"answer": "I don\'t know", "confidence": 3}'
    provider = Scripted(lambda call: '{"confidence": 70}' if is_posthoc(call) else silent)
    await collect(start(provider, confidence=("stated", "posthoc")))
    run = read_run(tmp_path / "run")
    assert not any(is_posthoc(call) for call in provider.calls)
    assert open_calls(run.manifest.plan, run.latest()) == []


async def test_a_run_stopped_between_the_two_goes_on_with_the_second(start, tmp_path) -> None:
    def failing(call: Call) -> str | ProviderError:
        return ProviderError("unauthorized", "no") if is_posthoc(call) else '{"answer": "zzz", "confidence": 40}'

    await collect(start(Scripted(failing), confidence=("stated", "posthoc"), sections=("probes",)))
    assert len(open_calls(read_run(tmp_path / "run").manifest.plan, read_run(tmp_path / "run").latest())) == 6
    again = Scripted(lambda call: '{"confidence": 55}')
    await collect(start(again, confidence=("stated", "posthoc"), sections=("probes",), resume=tmp_path / "run"))
    assert all(is_posthoc(call) for call in again.calls[1:])  # after the warm-up
    assert sum(is_posthoc(call) for call in again.calls) == 6
    run = read_run(tmp_path / "run")
    assert open_calls(run.manifest.plan, run.latest()) == []


@pytest.mark.parametrize(
    ("reply", "confidence", "outcome"),
    [
        ("85", 85, "incorrect"),
        ("85%", 85, "incorrect"),
        ('{"confidence": "8/10"}', 80, "incorrect"),
        ("Confidence: 60%", None, "unparsed"),
        ("quite sure", None, "unparsed"),
        ('{"confidence": 400}', None, "unparsed"),
        ("", None, "empty"),
    ],
)
async def test_a_number_alone_is_enough_and_nothing_is_guessed(start, tmp_path, reply, confidence, outcome) -> None:
    provider = Scripted(lambda call: reply if is_posthoc(call) else '{"answer": "zzz", "confidence": 40}')
    await collect(start(provider, confidence=("stated", "posthoc"), sections=("probes",)))
    records = [record for record in read_run(tmp_path / "run").latest().values() if record.section == "posthoc"]
    assert {(record.confidence, record.outcome) for record in records} == {(confidence, outcome)}


async def test_agreement_is_the_share_of_resamples_that_say_the_same(start, tmp_path) -> None:
    def answer(call: Call) -> str:
        said = {1: "The Zzz", 2: "zzz"}.get(call.seed or 0, f"other {call.seed}")
        return json.dumps({"answer": said if call.temperature else "zzz", "confidence": 90})

    provider = Scripted(answer)
    await collect(start(provider, confidence=("stated", "agreement"), sections=("probes",)))
    warm = [call for call in provider.calls if call.temperature > 0]
    assert len(warm) == 6 * RESAMPLES
    assert {call.seed for call in warm} == {1, 2, 3, 4, 5}
    summary = summarise(read_run(tmp_path / "run"), draws=100)
    assert summary.metrics["accuracy"].n == 6  # resamples are no answers of the audit
    assert summary.sources is not None
    assert summary.sources["agreement"].gap == pytest.approx(2 / 5)
    assert summary.sources["stated"].gap == pytest.approx(0.9)


async def test_token_probabilities_stand_beside_the_stated_confidence(start, tmp_path) -> None:
    tokens = (
        Token(text='{"answer": "', logprob=-0.1),
        Token(text="zz", logprob=math.log(0.5)),
        Token(text='z", ', logprob=math.log(0.8)),
        Token(text='"confidence": 90}', logprob=-0.1),
    )
    text = "".join(token.text for token in tokens)
    provider = Scripted(lambda call: Reply(text=text, tokens=tokens if call.logprobs else ()))
    await collect(start(provider, confidence=("stated", "logprob"), sections=("probes",)))
    run = read_run(tmp_path / "run")
    assert {round(record.token_confidence, 6) for record in run.latest().values()} == {0.4}
    assert {record.confidence for record in run.latest().values()} == {90}
    sources = summarise(run, draws=100).sources
    assert sources is not None
    assert sources["logprob"].differences["gap"].value == pytest.approx(-0.5)


async def test_a_server_without_token_probabilities_is_said(start, tmp_path) -> None:
    await collect(start(Scripted(lambda _: '{"answer": "zzz", "confidence": 40}'), confidence=("stated", "logprob")))
    summary = summarise(read_run(tmp_path / "run"), draws=100)
    assert "the server gives no token probabilities" in summary.notes
    assert summary.sources is not None
    assert summary.sources["logprob"].n == 0


@pytest.mark.parametrize(
    ("pieces", "answer", "expected"),
    [
        ([("Par", 0.5), ("is", 0.5)], "Paris", 0.25),
        ([('{"answer": "', 0.9), ("Paris", 0.5), ('"}', 0.9)], "Paris", 0.5),
        ([("The answer in Paris: ", 0.1), ('{"answer": ', 0.9), ('"Paris"', 0.6), ("}", 0.9)], "Paris", 0.6),
        ([('{"answer": "', 0.9), ('say \\"no\\"', 0.3), ('"}', 0.9)], 'say "no"', 0.3),
        ([('{"answer": ', 0.9), ("42", 0.7), (', "confidence": 42}', 0.9)], "42", 0.7),
        ([("Answer: ", 0.9), ("42", 0.7)], "42", 0.7),
        ([('{"answer": "x"}', 0.9)], "y", None),
        ([], "y", None),
        ([("y", 0.5)], None, None),
    ],
)
def test_probability_of_the_answers_tokens(pieces, answer, expected) -> None:
    found = answer_probability([(text, math.log(p)) for text, p in pieces], answer)
    assert found == (None if expected is None else pytest.approx(expected))


def test_a_source_that_is_none_is_refused(selfdiag) -> None:
    done = selfdiag("run", "persona:blind", "--confidence", "stated,logprobs")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("Did you mean 'logprob'?")


async def test_a_reply_cut_while_thinking_gets_one_more_try_with_twice_the_room(start, tmp_path) -> None:
    def answer(call: Call) -> Reply:
        if call.max_tokens < 8192:
            return Reply(text="", reasoning="let me see", finish_reason="length")
        return Reply(text='{"answer": "zzz", "confidence": 40}', reasoning="so")

    provider = Scripted(answer, takes_schema=False, concurrency=1)
    await collect(start(provider))
    rooms = [call.max_tokens for call in provider.calls]
    assert rooms[:2] == [100, 8192]  # the warm-up finds it out
    assert set(rooms[1:]) == {8192}
    assert read_run(tmp_path / "run").manifest.max_tokens == 8192
    summary = summarise(read_run(tmp_path / "run"), draws=100)
    assert summary.counts["probes"]["truncated"] == 0
    assert "the model thinks although it was asked not to" in summary.notes


async def test_a_limit_that_was_set_stays(start, tmp_path) -> None:
    provider = Scripted(lambda _: Reply(text="", reasoning="hm", finish_reason="length"), takes_schema=False)
    await collect(start(provider, max_tokens=300))
    assert {call.max_tokens for call in provider.calls} == {300}
    assert read_run(tmp_path / "run").manifest.max_tokens == 300


async def test_a_plain_reply_that_is_cut_is_not_asked_again(start) -> None:
    provider = Scripted(lambda _: Reply(text='{"answer": "z', finish_reason="length"), takes_schema=False)
    await collect(start(provider, sections=("probes",)))
    assert len(provider.calls) == 7  # six and the warm-up


def test_calls_that_failed_after_the_answers_make_a_run_incomplete(selfdiag, tmp_path) -> None:
    def answer(request: Request) -> Answer:
        if request.json()["messages"][0]["content"] == POSTHOC_CONTRACT:
            return as_json({"error": {"message": "gone"}}, 501)
        return completion({"content": '{"answer": "zzz", "confidence": 40}'})

    with Stub(decide=answer) as stub:
        words = ("--limit", "2", "--sections", "probes", "--structured", "off", "--max-retries", "0", "--json")
        done = selfdiag("run", "openai:m", "--base-url", stub.url, "--confidence", "stated,posthoc", *words)
    assert done.returncode == 4
    assert "2 calls ended in an error" in done.stderr
    assert json.loads(done.stdout)["counts"]["probes"]["error"] == 0
