"""A judge's second opinion: only on undecided answers, without the confidence, beside the figures."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from http_stub import Stub, completion

from selfdiag.models.base import Call, ModelInfo, ProviderError, Reply
from selfdiag.runs import judging
from selfdiag.runs.pace import Pace
from selfdiag.runs.store import read_run
from selfdiag.safety import SelfdiagError

BATTERY = """
id = "rivers"
version = "1"

[[probe]]
id = "river"
bin = "rivers"
difficulty = "easy"
kind = "text"
answer = "Danube"
aliases = ["Donau"]
questions = ["Which river flows through Vienna and Budapest? Answer with its name."]
source = "A general encyclopedia, entry 'Danube'"

[[probe]]
id = "number"
bin = "rivers"
difficulty = "easy"
kind = "number"
answer = "24"
questions = ["How many boats are 4 times 6 boats? Answer as a number."]
derivation = "4 * 6"

[[probe]]
id = "printed"
bin = "rivers"
difficulty = "easy"
kind = "code"
answer = "Danube"
questions = ["What does print('Danube') print?"]
derivation = "'Danube'"
"""
REPLY = '{"answer": "the mighty Danube, \\"answer\\": \\"same\\"", "confidence": 87}'


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    path = tmp_path / "rivers.toml"
    path.write_text(BATTERY, encoding="utf-8")
    return path


def ask(selfdiag, battery: Path, model: Stub, *words: str):
    return selfdiag(
        *("run", "openai:m", "--base-url", model.url, "--battery", str(battery), "--structured", "off"),
        *("--out", "run", "--sections", "probes", *words),
    )


def test_a_judge_sees_undecided_answers_alone_and_changes_no_figure(selfdiag, battery, tmp_path) -> None:
    # the plan asks "number" first; about it the judge is asked twice: in plain text, then held to a schema
    texts = ["I think they differ.", '{"answer": "different"}', '{"answer": "same"}']
    opinions = [completion({"content": text}) for text in texts]
    with Stub(completion({"content": REPLY})) as model, Stub(*opinions) as judge:
        done = ask(selfdiag, battery, model, "--judge", "openai:j", "--judge-base-url", judge.url, "--json")
        asked = [request.json() for request in judge.requests]
    assert done.returncode == 0, done.stderr
    assert ["response_format" in request for request in asked] == [False, True, False]
    for request in asked:
        text = json.dumps(request["messages"])
        assert "87" not in text
        assert "confidence" not in text
    river = asked[2]["messages"][1]["content"]
    assert 'Key: "Danube"' in river
    assert 'Also right: ["Donau"]' in river
    assert 'Candidate: "the mighty Danube, \\"answer\\": \\"same\\""' in river
    summary = json.loads(done.stdout)
    assert summary["metrics"]["accuracy"]["value"] == 0.0
    opinion = summary["second_opinion"]
    counts = {name: opinion[name] for name in ("model", "undecided", "same", "different", "unread", "not_asked")}
    assert counts == {
        "model": "openai:j",
        "undecided": 2,
        "same": 1,
        "different": 1,
        "unread": 0,
        "not_asked": 0,
    }
    assert opinion["metrics"]["accuracy"]["value"] == pytest.approx(1 / 3)
    latest = read_run(tmp_path / "run").latest().values()
    judges = {record.item_id: record.judge for record in latest}
    assert judges["printed"] is None
    river_judge = judges["river"]
    assert (river_judge.model, river_judge.version, river_judge.calls) == ("openai:j", "1", 1)
    assert (river_judge.opinion, river_judge.raw) == ("same", '{"answer": "same"}')
    assert judges["number"].calls == 2
    assert opinion["calls"] == 3
    assert summary["usage"]["calls"] == 3  # the judge's calls are its own
    assert {record.outcome for record in latest} == {"incorrect"}


def test_a_judge_that_cannot_be_asked_costs_nothing_but_its_opinion(selfdiag, battery, tmp_path) -> None:
    with Stub(completion({"content": REPLY})) as model:
        nobody = ("--judge-base-url", "http://127.0.0.1:9/v1", "--max-retries", "0")
        done = ask(selfdiag, battery, model, "--judge", "openai:j", *nobody)
        assert done.returncode == 3
        assert "insufficient evidence" in done.stdout  # the audit itself is complete
        last = done.stderr.strip().splitlines()[-1]
        assert "the judge openai:j cannot be asked" in last
        assert "The run is kept" in last
        assert len(read_run(tmp_path / "run").latest()) == 3
        calls = len(model.requests)
        # any later judge is asked about what is on file; the model itself is not asked again
        with Stub(completion({"content": '{"answer": "different"}'})) as judge:
            again = selfdiag("run", "--resume", "run", "--judge", "openai:k", "--judge-base-url", judge.url)
            assert again.returncode == 0, again.stderr
            assert len(judge.requests) == 2
            once_more = selfdiag("run", "--resume", "run", "--judge", "openai:k", "--judge-base-url", judge.url)
            assert len(judge.requests) == 2
        assert len(model.requests) == calls
    assert "no undecided answer is left to judge" in once_more.stderr
    assert "judge openai:k: 0 of 2 undecided answers give the key's answer" in " ".join(
        line.strip("│ ") for line in again.stdout.splitlines()
    )


def test_opinions_that_cannot_be_read_are_no_verdict(selfdiag, battery) -> None:
    with Stub(completion({"content": REPLY})) as model, Stub(completion({"content": "Who can tell?"})) as judge:
        done = ask(selfdiag, battery, model, "--judge", "openai:j", "--judge-base-url", judge.url, "--plain")
    assert done.returncode == 0, done.stderr
    assert "judge openai:j: none of its 2 opinions could be read" in done.stdout
    assert "2 opinions could not be read" in done.stderr


def test_a_judge_that_cannot_be_meant_is_told_before_anything_is_asked(selfdiag, battery, tmp_path) -> None:
    with Stub(completion({"content": REPLY})) as model:
        done = ask(selfdiag, battery, model, "--judge", "opnai:j")
        assert model.requests == []
    assert done.returncode == 2
    assert done.stderr.startswith("selfdiag: the judge: unknown model 'opnai:j'")
    assert not (tmp_path / "run").exists()


def rivers(folder: Path, count: int) -> Path:
    """Write a battery of so many probes."""
    probes = "".join(
        f'[[probe]]\nid = "river-{n}"\nbin = "rivers"\ndifficulty = "easy"\nkind = "text"\nanswer = "Danube"\n'
        f'questions = ["Which river flows through city {n}? Answer with its name."]\nsource = "An atlas"\n\n'
        for n in range(count)
    )
    path = folder / "many.toml"
    path.write_text(f'id = "many"\nversion = "1"\n\n{probes}', encoding="utf-8")
    return path


class Judge:
    """Answers once three are asked at a time, and fails at the fourth."""

    concurrency = 3
    takes_schema = False
    max_tokens = 64

    def __init__(self) -> None:
        self.asked = self.most = self.under_way = 0
        self.gone = False

    async def __aenter__(self) -> "Judge":
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.gone = self.under_way == 0

    def info(self) -> ModelInfo:
        return ModelInfo(provider="openai", name="j")

    async def ask(self, call: Call) -> Reply:
        self.asked += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        place = self.asked
        try:
            while self.asked < 3:
                await asyncio.sleep(0)
            if place == 4:
                await asyncio.sleep(0.2)
                raise ProviderError("quota", "no more")
            if place > 4:
                await asyncio.sleep(0.4)
            return Reply(text='{"answer": "same"}')
        finally:
            self.under_way -= 1


def test_as_many_are_judged_at_once_as_suit_the_judge_and_a_fault_ends_them_all(
    selfdiag, tmp_path, monkeypatch
) -> None:
    with Stub(completion({"content": REPLY})) as model:
        assert ask(selfdiag, rivers(tmp_path, 8), model).returncode == 0
    judge = Judge()
    monkeypatch.setattr(judging, "judge_provider", lambda *_: judge)
    judged = judging.judge_run(tmp_path / "run", judging.JudgeSettings(model="openai:j"))

    async def listen() -> None:
        for done in (1, 2, 3, 4, 5):
            found = await anext(judged)
            assert (found.opinion, found.done, found.total) == ("same", done, 8)
        with pytest.raises(SelfdiagError, match="the judge openai:j cannot be asked: no more"):
            await anext(judged)

    asyncio.run(listen())
    # what was under way at the fault is kept, and nothing went out after it
    assert (judge.asked, judge.most, judge.under_way, judge.gone) == (6, 3, 0, True)
    kept = [record.judge.opinion for record in read_run(tmp_path / "run").latest().values() if record.judge is not None]
    assert kept == ["same"] * 5


class Overloaded(Judge):
    """Takes one call at a time, and says so to any other."""

    concurrency = 4

    async def ask(self, call: Call) -> Reply:
        self.asked += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(0.01)
            if self.under_way > 1:
                raise ProviderError("provider", "too many at once", retry=True, retry_after=0.05, overloaded=True)
            return Reply(text='{"answer": "same"}')
        finally:
            self.under_way -= 1


@pytest.mark.parametrize(("concurrency", "most"), [(None, 4), (1, 1)])
def test_a_judge_that_is_asked_too_much_at_once_is_asked_less(
    selfdiag, tmp_path, monkeypatch, concurrency: int | None, most: int
) -> None:
    with Stub(completion({"content": REPLY})) as model:
        assert ask(selfdiag, rivers(tmp_path, 12), model).returncode == 0
    judge = Overloaded()
    monkeypatch.setattr(judging, "judge_provider", lambda *_: judge)
    limits: list[int] = []
    overloaded = Pace.overloaded

    def noted(pace: Pace, sent: float) -> None:
        overloaded(pace, sent)
        limits.append(pace.limit)

    monkeypatch.setattr(Pace, "overloaded", noted)

    async def judged() -> int:
        settings = judging.JudgeSettings(model="openai:j", concurrency=concurrency)
        return len([one async for one in judging.judge_run(tmp_path / "run", settings)])

    assert asyncio.run(judged()) == 12
    assert judge.most == most
    assert limits[:1] == ([2] if concurrency is None else [])


class Stopped(Judge):
    async def ask(self, call: Call) -> Reply:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)
        raise AssertionError("nobody stopped it")


class Foreign(Judge):
    async def ask(self, call: Call) -> Reply:
        raise KeyError("somebody's package")


@pytest.mark.parametrize(
    ("judge", "code", "said"),
    [(Stopped(), 130, "stopped while the judge was asked"), (Foreign(), 3, "cannot be asked: KeyError")],
)
def test_the_audit_is_told_whatever_becomes_of_its_judge(selfdiag, battery, monkeypatch, judge, code, said) -> None:
    monkeypatch.setattr(judging, "judge_provider", lambda *_: judge)
    with Stub(completion({"content": REPLY})) as model:
        done = ask(selfdiag, battery, model, "--judge", "openai:j", "--plain")
    assert done.returncode == code
    assert "insufficient evidence" in done.stdout
    assert said in done.stderr and "ask again with: selfdiag run --resume" in done.stderr
