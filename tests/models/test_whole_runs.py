"""Whole audits over real HTTP: the same model behind two interfaces, and behind a server that fails a lot."""

import asyncio
import json
import random

import msgspec
import pytest
import stamina
from http_stub import Answer, Request, Stub, as_json, completion
from ollama_stub import OllamaStub, end, line, streamed

from selfdiag.models.base import Call
from selfdiag.models.persona import Persona
from selfdiag.runs.plan import make_plan
from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import read_run


class Speaker:
    """A model that answers the quick battery as a persona does."""

    def __init__(self) -> None:
        plan = make_plan(RunSettings(model="persona:calibrated"))
        self._persona = Persona("calibrated", plan.asked(), 0)

    def says(self, body: dict) -> str:
        system, user = (message["content"] for message in body["messages"])
        return asyncio.run(self._persona.ask(Call(system=system, user=user))).text


class SpeakingOllama(OllamaStub):
    speaker: Speaker

    def next_answer(self) -> Answer:
        request = self.requests.own.last
        if request.target == "/api/chat" and request.json().get("messages"):
            return streamed(line(self.speaker.says(request.json())), end())
        return super().next_answer()


def summary(selfdiag, *words: str, code: int = 0) -> dict:
    done = selfdiag("run", *words, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_one_model_behind_two_interfaces_has_one_summary(selfdiag) -> None:
    speaker = Speaker()
    with SpeakingOllama() as native:
        native.speaker = speaker
        first = summary(selfdiag, "ollama:smollm2:135m", "--base-url", native.url)
    with Stub(decide=lambda request: completion({"content": speaker.says(request.json())})) as compatible:
        second = summary(selfdiag, "openai:stub", "--base-url", compatible.url)
    for name in ("counts", "metrics", "metrics_attempted", "bins", "groups", "tier", "composite", "families"):
        assert first[name] == second[name], name
    assert first["metrics"]["accuracy"]["n"] == 40
    assert first["model"]["details"]["quantisation"] == "Q4_1"
    assert first["model"]["digest"] == "sha256:fd5f44c0"


@pytest.fixture
def without_waiting():
    with stamina.set_testing(True, attempts=5):
        yield


class Unreliable:
    """A server that breaks a given share of its replies, each time in another way."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._speaker = Speaker()
        self._dice = random.Random(5)
        self.broken = 0

    def __call__(self, request: Request) -> Answer:
        text = self._speaker.says(request.json())
        if self._dice.random() >= self._share:
            return completion({"content": text})
        self.broken += 1
        whole = completion({"content": text})
        return self._dice.choice(
            [
                Answer(fault="reset"),
                Answer(fault="close"),
                Answer(fault="garbage"),
                msgspec.structs.replace(whole, fault="half"),
                as_json({"error": {"message": f"worker {self.broken} has died"}}, 500),
                as_json({"error": {"message": "slow down"}}, 429, {"Retry-After": "0"}),
                as_json({"choices": []}),
                Answer(body=b"<html>busy</html>"),
                as_json({"choices": None, "error": {"message": "upstream", "code": 502}}),
            ]
        )


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_failures_are_neither_wrong_answers_nor_silent(selfdiag, without_waiting, tmp_path, share: float) -> None:
    server = Unreliable(share)
    with Stub(decide=server) as stub:
        done = selfdiag("run", "openai:stub", "--base-url", stub.url, "--out", "run", "--json")
    assert server.broken > 63 * share * 0.7
    run = read_run(tmp_path / "run")
    latest = {call_id: record for call_id, record in run.latest().items() if record.section != "trial"}
    assert set(latest) == {call.call_id for call in run.manifest.plan}
    assert len([record for record in run.records if record.section != "trial"]) == len(latest)  # each once
    found = json.loads(done.stdout)
    errors = found["counts"]["probes"]["error"] + found["counts"]["traps"]["error"]
    assert done.returncode == (4 if errors else 0)
    if errors:
        assert f"{errors} calls ended in an error" in done.stderr
        assert any("incomplete" in note for note in found["notes"])
    # what did come is graded as if nothing had happened
    whole = summary(selfdiag, "persona:calibrated")
    for section in ("probes", "traps"):
        for outcome in ("correct", "incorrect", "abstained"):
            assert found["counts"][section][outcome] <= whole["counts"][section][outcome]
        missing = whole["counts"][section]["correct"] + whole["counts"][section]["incorrect"]
        missing += whole["counts"][section]["abstained"]
        assert (
            missing - sum(found["counts"][section][o] for o in ("correct", "incorrect", "abstained"))
            == (found["counts"][section]["error"])
        )
    retries = sum(record.attempts - 1 for record in latest.values())
    assert retries > 0
