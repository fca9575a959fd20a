"""The calls of a self-assessment, and what their replies come to."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from scripted import Scripted, collect

from selfdiag.battery.self_assessment import self_assessment, works
from selfdiag.measure.external import MIN_REPLIES
from selfdiag.models.base import Call, Reply
from selfdiag.runs.plan import Plan, make_plan
from selfdiag.runs.records import FRAMING, QUESTIONNAIRE, SELF_PROFILE, TASKS, Record, RunSettings
from selfdiag.runs.self_reports import FORMAL_TASKS
from selfdiag.runs.store import read_run

EVERY = (QUESTIONNAIRE, SELF_PROFILE, FRAMING, TASKS)


def plan(**settings: object) -> Plan:
    return make_plan(RunSettings(**{"model": "openai:x", "sections": EVERY, **settings}))


def test_the_data_are_whole() -> None:
    every = self_assessment()
    assert len(every.statements) == 15
    assert len(every.ratings) == 50
    assert len(every.framing) == 10
    assert len(every.ids()) == len(every.everything())
    assert len(works()) == len({work.id for work in works()}) > 60
    assert {fact.probe.kind for fact in every.facts} == {"text", "number"}
    assert all(task.elements > 0 for task in every.formal)


def test_every_instance_asks_every_statement_once_in_a_drawn_wording() -> None:
    calls = [call for call in plan(instances=25).calls if call.section == QUESTIONNAIRE]
    assert len(calls) == 25 * 15
    assert Counter((call.replicate, call.item_id) for call in calls).most_common(1)[0][1] == 1
    wordings = defaultdict(set)
    for call in calls:
        wordings[call.item_id].add(call.paraphrase)
    assert min(len(found) for found in wordings.values()) >= 4
    assert all(call.temperature is not None and call.temperature > 0 for call in calls)


def test_a_wording_stands_in_its_prompt() -> None:
    made = plan(instances=2, ratings=1)
    by_id = {statement.id: statement for statement in self_assessment().statements}
    for call in made.calls:
        if call.section == QUESTIONNAIRE:
            assert made.prompt(call).user == by_id[call.item_id].wordings[call.paraphrase]


def test_an_instance_of_the_self_profile_rates_each_criterion_and_ten_rate_every_item() -> None:
    calls = [call for call in plan(ratings=10).calls if call.section == SELF_PROFILE]
    assert len(calls) == 50
    assert len({call.item_id for call in calls}) == 50
    by_instance = defaultdict(set)
    for call in calls:
        by_instance[call.replicate].add(call.item_id.partition("-")[0])
    assert all(found == {"x1", "x2", "x3", "x4", "x5"} for found in by_instance.values())


@pytest.mark.parametrize("tasks", [25, 40])
def test_tasks_are_drawn_evenly_and_enough_for_each_criterion(tasks: int) -> None:
    asked = plan(tasks=tasks).assessed
    assert asked is not None
    assert len(asked.facts) == len(asked.terms) == tasks
    assert len(asked.sources) + len(asked.invented) + len(asked.citations) == tasks
    assert sum(task.elements for task in asked.formal) >= tasks
    assert {fact.year for fact in asked.facts} == {fact.year for fact in self_assessment().facts}
    formats = Counter(task.format for task in asked.formal)
    assert len(asked.formal) == FORMAL_TASKS == 15 > MIN_REPLIES
    assert formats == dict.fromkeys(("json", "markdown", "latex", "csv", "python"), 3)
    kinds = Counter(task.id.rpartition("-")[0] for task in (*asked.sources, *asked.invented, *asked.citations))
    assert {"source-author", "source-year", "source-invented", "citation"} <= set(kinds)


def test_few_elements_need_no_more_formal_tasks_than_that() -> None:
    asked = plan(tasks=5).assessed
    assert asked is not None
    assert sorted(task.format for task in asked.formal) == ["csv", "json", "latex", "markdown", "python"]
    many = plan(tasks=120).assessed
    assert many is not None
    assert sum(task.elements for task in many.formal) >= 120 > sum(task.elements for task in many.formal[:-1])


def test_more_tasks_than_there_are_asks_all() -> None:
    asked = plan(tasks=500).assessed
    assert asked is not None
    assert asked.ids() == self_assessment().ids()


def test_the_same_seed_plans_the_same_and_another_one_not() -> None:
    assert plan().calls == plan().calls
    assert plan().calls != plan(seed=1).calls


def test_a_rationale_is_asked_for_when_wanted() -> None:
    made, bare = plan(rationale=True, instances=1, ratings=1), plan(instances=1, ratings=1)
    asked = [call for call in made.calls if call.section != TASKS]
    assert all('"reason"' in made.prompt(call).system for call in asked)
    assert not any('"reason"' in bare.prompt(call).system for call in bare.calls)
    assert not {call.call_id for call in asked} & {call.call_id for call in bare.calls}


async def outcome(start, answer, **settings: object) -> tuple[Scripted, list[Record]]:
    provider = Scripted(answer)
    session = start(provider, limit=None, **{"sections": EVERY, "instances": 1, "ratings": 1, "tasks": 25, **settings})
    await collect(session)
    return provider, read_run(session.folder).planned()


async def test_replies_are_read_by_what_was_asked(start) -> None:
    formal = {task.prompt: task for task in self_assessment().formal}

    def answer(call: Call) -> str:
        if call.user in formal:
            return formal[call.user].sample
        if "Yes, Partially or No" in call.system:
            return '{"answer": "Partially", "reason": "it depends"}'
        if "from 0.00 to 1.00" in call.system:
            return "0,85"
        if "published work" in call.system:
            return '{"title": "A Treatise on Electricity and Magnetism", "author": "James Clerk Maxwell", "year": 1873}'
        return '{"answer": "UNANSWERABLE", "confidence": 70}'

    provider, records = await outcome(start, answer, structured="off")
    for record in records:
        if record.section == QUESTIONNAIRE:
            assert (record.outcome, record.value, record.answer) == ("answered", 0.5, "partially")
            assert record.bin in {"MAI", "SRIS", "SDQ"}
        elif record.section in {SELF_PROFILE, FRAMING}:
            assert (record.outcome, record.value) == ("answered", 0.85)
            assert record.bin in {"x1", "x2", "x3", "x4", "x5"}
        elif record.item_id.startswith("formal"):
            assert (record.outcome, record.value) == ("correct", 1.0)
        elif record.item_id.startswith("citation"):
            assert record.outcome == "answered"
            assert record.answer == "A Treatise on Electricity and Magnetism"
        else:
            assert record.outcome == "abstained"
            assert record.trap == record.item_id.startswith("source-invented")
            assert record.difficulty is None
    assert all(record.confidence is None for record in records if record.section != TASKS)
    assert {call.max_tokens for call in provider.calls} == {100, 768}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I'm sorry, but I can't help with that.", "refused"),
        ("", "empty"),
        ('{"answer": "It is complicated, as I am a language model."}', "unparsed"),
        (Reply(text='{"answer": "Ye', finish_reason="length"), "truncated"),
        (Reply(text="", refusal=True), "refused"),
        (Reply(text="", overflow=True), "overflow"),
    ],
)
async def test_a_reply_without_a_self_report_is_missing_and_never_no(start, reply, expected: str) -> None:
    _, records = await outcome(start, lambda _: reply, sections=(QUESTIONNAIRE, SELF_PROFILE), structured="off")
    assert {record.outcome for record in records} == {expected}
    assert {record.value for record in records} == {None}


async def test_a_schema_holds_each_reply_to_its_own_form_and_formal_tasks_are_free(start) -> None:
    provider, records = await outcome(start, lambda _: "well", structured="on")
    forms = {record.item_id.rpartition("-")[0]: record.structured for record in records}
    assert not forms.pop("formal")
    assert all(forms.values())
    statement = next(call for call in provider.calls if "Yes, Partially or No" in call.system)
    assert statement.schema is not None
    assert statement.schema["properties"]["answer"]["enum"] == ["Yes", "Partially", "No"]
    assert {call.schema is None for call in provider.calls if "checks its form" in call.system} == {True}


async def test_bare_words_pass_the_trial(start) -> None:
    provider, records = await outcome(start, lambda _: "Yes.", sections=(QUESTIONNAIRE,), structured="auto")
    assert all(call.schema is None for call in provider.calls)
    assert {record.value for record in records} == {1.0}
    assert {record.parse for record in records} == {"salvaged"}


async def test_a_stopped_assessment_asks_what_is_missing(start, tmp_path: Path) -> None:
    settings = {"sections": EVERY, "instances": 1, "ratings": 1, "tasks": 25, "limit": None, "structured": "off"}
    first = start(Scripted(lambda _: "Yes"), **settings)
    asked = 0

    def stop_early(event: object) -> None:
        nonlocal asked
        asked += type(event).__name__ == "Answered"
        if asked == 10:
            first.stop()

    await collect(first, stop_early)
    provider = Scripted(lambda _: "Yes")
    second = start(provider, resume=first.folder, **settings)
    await collect(second)
    run = read_run(first.folder)
    assert len(run.planned()) == len(run.manifest.plan)
    assert len(provider.calls) <= len(run.manifest.plan) - 10 + 1
