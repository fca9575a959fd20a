"""Personas are what they say they are: every share holds to one item, whatever the order of the calls."""

import asyncio
import datetime
import json
import random
import re
from collections import Counter, defaultdict
from statistics import fmean, stdev
from typing import Any

import msgspec
import pytest

from selfdiag.battery.items import ABSTENTION_TOKEN, BINS, DIFFICULTIES, FAMILIES, Battery, Kind, Probe, Trap
from selfdiag.battery.load import shipped
from selfdiag.battery.self_assessment import CRITERIA, SelfAssessment, self_assessment, works
from selfdiag.elicit.citations import judge_citation, read_citation
from selfdiag.elicit.prompts import ANSWER_CONTRACT, CONTRACT, profile_slot, render
from selfdiag.elicit.questionnaire import read_rating, read_yes_no
from selfdiag.elicit.self_prompts import RATIONALE, render_citation, render_formal, render_rating, render_statement
from selfdiag.measure.counts import tabulate_confidences
from selfdiag.measure.discrimination import auroc
from selfdiag.measure.horizon import knowledge_horizon
from selfdiag.models.base import MAX_TEXT, Call, ProviderError, ProviderOptions, Reply
from selfdiag.models.persona import CHARACTERS, Persona, offer, provider
from selfdiag.runs.plan import Plan, make_plan
from selfdiag.runs.records import Record, RunSettings
from selfdiag.runs.replies import grade_reply
from selfdiag.runs.turns import Turns

SEEDS = range(20)
IN_TIME = [name for name in CHARACTERS if name not in {"flaky", "slow"}]
PLAIN = [name for name in IN_TIME if CHARACTERS[name].form == "plain" and name != "number-copier"]
"""Those whose replies show what is built into them as it stands."""


def made_battery(probes: int = 126, traps: int = 21) -> Battery:
    """Return a battery of short questions in all bins, with numbers, words and choices."""
    kinds: tuple[Kind, ...] = ("number", "text", "choice")
    return Battery(
        id="made",
        version="1",
        probes=tuple(
            Probe(
                id=f"p{index:03}",
                bin=BINS[index % len(BINS)],
                difficulty=DIFFICULTIES[index % 3],
                kind=kinds[index % 3],
                answer=("4", "word", "right")[index % 3],
                options=("right", "left", "up") if index % 3 == 2 else (),
                questions=(f"Question {index} in one wording?", f"Another wording of {index}?"),
            )
            for index in range(probes)
        ),
        traps=tuple(
            Trap(
                id=f"t{index:02}",
                bin=BINS[index % len(BINS)],
                family=FAMILIES[index % len(FAMILIES)],
                questions=(f"Trap {index}?", f"Trap {index} again?"),
                note="made up",
            )
            for index in range(traps)
        ),
    )


MADE = made_battery()


def persona(name: str, seed: int = 0, battery: Battery = MADE) -> Persona:
    return provider(name, ProviderOptions(battery=battery, seed=seed))


def call(item: Probe | Trap, paraphrase: int = 0, **how: Any) -> Call:
    prompt = render(item, paraphrase, **how)
    return Call(system=prompt.system, user=prompt.user)


async def answers(name: str, seed: int, battery: Battery = MADE) -> dict[str, dict[str, Any]]:
    """Return the decoded reply to every item's first wording, by item id."""
    asked = persona(name, seed, battery)
    return {item.id: json.loads((await asked.ask(call(item))).text) for item in battery.items()}


def is_answer(text: str) -> bool:
    return text != ABSTENTION_TOKEN and not text.startswith("I'm sorry")


@pytest.mark.parametrize("name", PLAIN)
async def test_share_right_at_each_stated_level(name: str) -> None:
    character = CHARACTERS[name]
    for seed in SEEDS:
        replies = await answers(name, seed)
        right_at: dict[int, list[bool]] = defaultdict(list)
        for probe in MADE.probes:
            reply = replies[probe.id]
            if is_answer(reply["answer"]):
                right_at[reply["confidence"]].append(reply["answer"] == probe.answer)
        assert right_at
        assert set(right_at) <= set(character.levels)
        for level, right in right_at.items():
            intended = character.chance(level)
            assert 0 <= intended <= 1
            # one part in n, and a hair for floating point
            assert abs(sum(right) / len(right) - intended) <= 1 / len(right) + 1e-9, (seed, level)


@pytest.mark.parametrize("name", PLAIN)
async def test_share_of_traps_and_of_probes_declined(name: str) -> None:
    character = CHARACTERS[name]
    for seed in SEEDS:
        replies = await answers(name, seed)
        spotted = sum(replies[trap.id]["answer"] == ABSTENTION_TOKEN for trap in MADE.traps)
        assert abs(spotted / len(MADE.traps) - character.trap_rate) <= 1 / len(MADE.traps)
        said = [replies[probe.id]["answer"] for probe in MADE.probes]
        abstained, refused = said.count(ABSTENTION_TOKEN), sum(text.startswith("I'm sorry") for text in said)
        assert abs(abstained - character.abstains * len(said)) <= 1
        assert abs(refused - character.refuses * len(said)) <= 1
        levels = {replies[trap.id]["confidence"] for trap in MADE.traps}
        assert levels == set(character.trap_levels)


async def test_levels_are_spread_evenly() -> None:
    replies = await answers("calibrated", 3)
    used = Counter(replies[probe.id]["confidence"] for probe in MADE.probes if is_answer(replies[probe.id]["answer"]))
    share = Counter(CHARACTERS["calibrated"].levels)
    for level, count in used.items():
        assert abs(count - share[level] * used.total() / 20) <= 2


async def test_the_calibrated_one_has_next_to_no_gap() -> None:
    for seed in SEEDS:
        replies = await answers("calibrated", seed)
        given = [(replies[p.id], p) for p in MADE.probes if is_answer(replies[p.id]["answer"])]
        assert len(given) >= 0.95 * len(MADE.probes)
        stated = sum(reply["confidence"] for reply, _ in given) / 100 / len(given)
        accuracy = sum(reply["answer"] == probe.answer for reply, probe in given) / len(given)
        assert abs(stated - accuracy) <= 1 / len(given) + 1e-9
        assert 0.5 < accuracy < 0.7
        traps = sum(replies[trap.id]["answer"] == ABSTENTION_TOKEN for trap in MADE.traps)
        assert traps == 17  # .8 of 21


@pytest.mark.parametrize(("name", "sign"), [("overconfident", 1), ("underconfident", -1), ("blind", 1), ("pinned", 1)])
async def test_the_others_err_on_their_side(name: str, sign: int) -> None:
    replies = await answers(name, 1)
    stated = sum(replies[p.id]["confidence"] for p in MADE.probes) / 100 / len(MADE.probes)
    accuracy = sum(replies[p.id]["answer"] == p.answer for p in MADE.probes) / len(MADE.probes)
    assert sign * (stated - accuracy) > 0.2


async def test_the_blind_one_misses_every_trap_and_the_pinned_one_says_100() -> None:
    blind, pinned = await answers("blind", 0), await answers("pinned", 0)
    assert not any(blind[trap.id]["answer"] == ABSTENTION_TOKEN for trap in MADE.traps)
    assert {reply["confidence"] for reply in blind.values()} == {95}
    assert {reply["confidence"] for reply in pinned.values()} == {100}


async def test_the_abstainer_and_the_refuser_mostly_do() -> None:
    abstainer, refuser = await answers("abstainer", 0), await answers("refuser", 0)
    assert all(abstainer[trap.id]["answer"] == ABSTENTION_TOKEN for trap in MADE.traps)
    assert sum(abstainer[probe.id]["answer"] == ABSTENTION_TOKEN for probe in MADE.probes) >= 0.89 * 126
    assert sum(refuser[probe.id]["answer"].startswith("I'm sorry") for probe in MADE.probes) >= 0.69 * 126


@pytest.mark.parametrize("name", IN_TIME)
async def test_replies_depend_on_the_prompt_alone(name: str) -> None:
    calls = [call(item, paraphrase) for item in MADE.items()[::3] for paraphrase in (0, 1)]
    first = persona(name, 5)
    replies = {one.user: await first.ask(one) for one in calls}
    random.Random(1).shuffle(calls)
    second = persona(name, 5)
    assert {one.user: await second.ask(one) for one in calls} == replies
    shuffled = Battery(id="made", version="1", probes=MADE.probes[::-1], traps=MADE.traps[::-1])
    third = persona(name, 5, shuffled)
    assert {one.user: await third.ask(one) for one in calls} == replies


@pytest.mark.parametrize("name", ["calibrated", "blind", "refuser"])
async def test_another_seed_gives_other_fates(name: str) -> None:
    assert await answers(name, 0) != await answers(name, 1)


async def test_paraphrases_labels_and_slots_change_nothing_for_most() -> None:
    asked = persona("calibrated")
    slot = profile_slot(BINS, dict.fromkeys(BINS, 3))
    for item in MADE.items():
        plain = await asked.ask(call(item))
        assert (await asked.ask(call(item, 1))).text == plain.text
        assert (await asked.ask(call(item, labelled=True, slot=slot))).text == plain.text


@pytest.mark.parametrize("name", ["suggestible", "suggestible-labelled"])
async def test_the_suggestible_ones_repeat_the_claim_for_a_topic(name: str) -> None:
    asked = persona(name)
    claims = {"arithmetic": 17, "history": 100}
    slot = profile_slot(BINS, claims)
    for item in MADE.items():
        plain = json.loads((await asked.ask(call(item))).text)
        unnamed = json.loads((await asked.ask(call(item, slot=slot))).text)
        named = json.loads((await asked.ask(call(item, slot=slot, labelled=True))).text)
        claimed = claims.get(item.bin, plain["confidence"])
        assert unnamed["confidence"] == (claimed if name == "suggestible" else plain["confidence"])
        assert named["confidence"] == claimed
        assert {unnamed["answer"], named["answer"]} == {plain["answer"]}


@pytest.mark.parametrize("name", ["suggestible", "suggestible-labelled"])
async def test_of_the_suggestible_ones_a_topic_is_all_that_tells_right_from_wrong(name: str) -> None:
    battery = shipped()
    easy: list[float] = []
    for seed in SEEDS:
        asked = persona(name, seed, battery)
        plain = {probe.id: json.loads((await asked.ask(call(probe))).text) for probe in battery.probes}
        right = {probe.id: plain[probe.id]["answer"] == probe.answer for probe in battery.probes}
        shares = {topic: fmean(right[p.id] for p in battery.probes if p.bin == topic) for topic in BINS}
        spread = sorted(shares.values())
        for rank, share in enumerate(spread):
            assert abs(share - (0.15 + 0.75 * rank / 20)) <= 1 / 14 + 1e-9, (seed, rank)
        own = {topic: round(100 * share) for topic, share in shares.items()}
        slot = profile_slot(BINS, own)
        shown = [json.loads((await asked.ask(call(p, slot=slot, labelled=True))).text) for p in battery.probes]
        assert [reply["confidence"] for reply in shown] == [own[probe.bin] for probe in battery.probes]
        truth = list(right.values())
        unaided = auroc(tabulate_confidences([plain[probe.id]["confidence"] for probe in battery.probes], truth))
        aided = auroc(tabulate_confidences([reply["confidence"] for reply in shown], truth))
        assert abs(unaided - 0.5) < 0.02, seed
        assert 0.755 < aided < 0.765, (seed, float(aided))
        easy.append(fmean(right[p.id] for p in battery.probes if p.difficulty == "easy"))
    assert abs(fmean(easy) - 0.525) < 0.02


async def test_topics_with_few_probes_are_right_as_often_too() -> None:
    one_topic = Battery(id="made", version="1", probes=tuple(p for p in MADE.probes if p.bin == BINS[0]))
    replies = await answers("suggestible", 0, one_topic)
    right = sum(replies[probe.id]["answer"] == probe.answer for probe in one_topic.probes)
    assert abs(right - 0.525 * len(one_topic.probes)) <= 1


async def test_the_copier_states_the_first_percentage_it_sees() -> None:
    asked = persona("number-copier")
    slots = {
        17: profile_slot(BINS, {"history": 17, "geography": 80}),
        80: profile_slot(BINS, {"geography": 80}),
        0: profile_slot(BINS, {"algebra": 0}),
        100: "It was right in 250 % of cases.",
        50: profile_slot(BINS, {}),
    }
    for item in MADE.items():
        for number, slot in slots.items():
            for labelled in (True, False):
                reply = json.loads((await asked.ask(call(item, slot=slot, labelled=labelled))).text)
                assert reply["confidence"] == number
        assert json.loads((await asked.ask(call(item, example=85))).text)["confidence"] == 50
    replies = await answers("number-copier", 0)
    right = sum(replies[probe.id]["answer"] == probe.answer for probe in MADE.probes)
    assert abs(right - 0.96 * 0.6 * len(MADE.probes)) <= 2


@pytest.mark.parametrize("size", [(0, 0), (1, 0), (0, 1), (3, 2)])
@pytest.mark.parametrize("name", IN_TIME)
async def test_small_batteries_are_no_trouble(name: str, size: tuple[int, int]) -> None:
    battery = made_battery(*size)
    asked = persona(name, 0, battery)
    for item in battery.items():
        assert (await asked.ask(call(item))).text


async def test_an_unknown_question_gets_an_answer_too() -> None:
    reply = await persona("calibrated").ask(Call(system="", user="\n"))
    assert json.loads(reply.text)["confidence"] == 0
    built = provider("calibrated", ProviderOptions())
    assert json.loads((await built.ask(Call(system="", user="x"))).text)["confidence"] == 0


async def test_every_shipped_question_is_recognised() -> None:
    battery = shipped()
    asked = persona("calibrated", 0, battery)
    for item in battery.items():
        for paraphrase in range(len(item.questions)):
            for labelled in (False, True):
                text = (await asked.ask(call(item, paraphrase, labelled=labelled))).text
                assert "I see no question I know" not in text, item.id


async def test_wrong_answers_to_shipped_choices_are_options() -> None:
    battery = shipped()
    replies = await answers("blind", 0, battery)
    for probe in battery.probes:
        if probe.options:
            assert replies[probe.id]["answer"] in probe.options


@pytest.mark.parametrize("name", list(CHARACTERS))
async def test_all_are_marked_as_simulated(name: str) -> None:
    async with persona(name) as entered:
        info = entered.info()
    assert (info.provider, info.name, info.simulated, info.remote) == ("persona", name, True, False)
    assert entered.concurrency == (8 if name == "slow" else 1)


def test_the_list_of_models_holds_all_of_them() -> None:
    assert [line.model for line in offer("persona")] == [f"persona:{name}" for name in CHARACTERS]
    assert all(line.ready and line.remark == "simulated" for line in offer("persona"))


async def test_the_malformed_one_uses_every_form() -> None:
    asked = persona("malformed")
    texts = [(await asked.ask(call(item, paraphrase))).text for item in MADE.items() for paraphrase in (0, 1)]
    starts = ("{", "```json\n", "Let me think", "I would rather")
    counts = Counter(next(start for start in starts if text.startswith(start)) for text in texts)
    assert set(counts) == set(starts)
    assert any("rather high" in text for text in texts)
    assert any(not text.endswith(("}", "```", ".")) for text in texts)


async def test_hostile_replies_are_bounded_and_use_every_form() -> None:
    asked = persona("hostile")
    texts = [(await asked.ask(call(item, paraphrase))).text for item in MADE.items() for paraphrase in (0, 1)]
    assert max(map(len, texts)) <= MAX_TEXT + 100
    assert max(map(len, texts)) > MAX_TEXT
    marks = ('{"answer": "word"', "[/INST]", "\\u001b[2J", "[cut: ", "<script>", "=cmd", "\ud800", "xxxxx")
    for mark in marks:
        assert any(mark in text for text in texts), mark


async def test_the_flaky_one_fails_once_for_about_every_third_question() -> None:
    asked = persona("flaky")
    faults = []
    for item in MADE.items():
        try:
            await asked.ask(call(item))
        except ProviderError as error:
            faults.append((error.kind, error.retry, error.retry_after))
        assert set(json.loads((await asked.ask(call(item))).text)) == {"answer", "confidence"}
    assert set(faults) == {("provider", True, 0.0)}
    assert 30 <= len(faults) <= 70


async def test_replies_count_words_as_tokens() -> None:
    reply = await persona("blind").ask(Call(system="one two", user="three"))
    assert (reply.prompt_tokens, reply.completion_tokens) == (3, len(reply.text.split()))
    assert reply.served_name == "blind"


def test_the_abstention_token_is_the_one_that_prompts_ask_for() -> None:
    assert ABSTENTION_TOKEN in CONTRACT


EVERYTHING = self_assessment()
SECTIONS = ("probes", "traps", "questionnaire", "self-profile", "framing", "tasks", "microprobe", "anchor")
RUN_DATE = datetime.date(2026, 11, 30)
RUN_YEAR = 2026.91
CALIBRATED_LIKE = ("calibrated", "number-copier", "german", "prose")


def plan_of(name: str, seed: int = 0, **settings: Any) -> tuple[Plan, Turns]:
    chosen = RunSettings(model=f"persona:{name}", seed=seed, **({"sections": SECTIONS, "instances": 3} | settings))
    plan = make_plan(chosen)
    return plan, Turns(plan, chosen, ())


def built(name: str, plan: Plan, seed: int = 0) -> Persona:
    return provider(name, ProviderOptions(battery=plan.asked(), assessed=plan.assessed, seed=seed))


async def told(asked: Persona, one: Call) -> Reply:
    """Return the reply to a call, to its second attempt where the first one fails."""
    try:
        return await asked.ask(one)
    except ProviderError:
        return await asked.ask(one)


async def records(name: str, seed: int = 0, **settings: Any) -> tuple[Plan, list[Record]]:
    plan, turns = plan_of(name, seed, **settings)
    asked = built(name, plan, seed)
    replies = await asyncio.gather(
        *(told(asked, turns.call(one, structured=False, max_tokens=512)) for one in plan.calls)
    )
    pairs = zip(plan.calls, replies, strict=True)
    return plan, [turns.record(one, reply, attempts=1, structured=False) for one, reply in pairs]


def external(plan: Plan, found: list[Record]) -> dict[str, float]:
    """Return the five criteria as the graded tasks of a run show them."""
    assert plan.assessed is not None
    chosen, measured = plan.assessed, [one for one in found if one.section in {"probes", "traps"}]
    tasks = {one.item_id: one for one in found if one.section == "tasks"}
    dates = [fact.year + (fact.month - 1) / 12 for fact in chosen.facts]
    known = [tasks[fact.id].outcome == "correct" for fact in chosen.facts]
    horizon = knowledge_horizon(dates, known, run_year=RUN_YEAR, draws=2)
    assert horizon.value is not None
    assert not horizon.censored
    elements = [(tasks[form.id].value or 0) * form.elements for form in chosen.formal]
    states = Counter(
        {"correct": "verified", "incorrect": "contradicted"}[tasks[one.id].outcome] for one in chosen.sources
    )
    states.update(
        {"abstained": "verified", "incorrect": "contradicted"}[tasks[one.id].outcome] for one in chosen.invented
    )
    for task in chosen.citations:
        citation, reason = read_citation(tasks[task.id].raw)
        assert citation is not None, reason
        states[judge_citation(citation, works(), RUN_DATE).state] += 1
    return {
        "x1": 1 - sum(one.outcome == "incorrect" for one in measured) / len(measured),
        "x2": max(0.0, 1 - (RUN_YEAR - horizon.value) / 5),
        "x3": sum(elements) / sum(form.elements for form in chosen.formal),
        "x4": states["verified"] / (states["verified"] + states["contradicted"]),
        "x5": fmean(tasks[term.id].outcome == "correct" for term in chosen.terms),
    }


def ratings(found: list[Record]) -> dict[str, list[float]]:
    """Return the scored ratings of the self-profile by criterion, those that can be read."""
    by_id = {rating.id: rating for rating in EVERYTHING.ratings}
    scores: dict[str, list[float]] = defaultdict(list)
    for one in found:
        if one.section == "self-profile" and one.value is not None:
            rating = by_id[one.item_id]
            scores[rating.criterion].append(1 - one.value if rating.reverse else one.value)
    return scores


@pytest.mark.parametrize("name", list(CHARACTERS))
async def test_every_persona_answers_every_section(name: str) -> None:
    _, found = await records(name, ratings=4)
    assert {one.section for one in found} == set(SECTIONS)
    assert all(one.raw for one in found)
    assert not any(one.outcome == "error" or "I see no question I know" in one.raw for one in found)
    if name in {"malformed", "hostile"}:
        return
    outcomes = {section: {one.outcome for one in found if one.section == section} for section in SECTIONS}
    withheld = {"abstainer": {"abstained"}, "refuser": {"refused"}, "prose": {"unparsed"}}.get(name, set())
    for section in ("questionnaire", "self-profile", "framing"):
        assert outcomes[section] - withheld == {"answered"}, section
    assert outcomes["tasks"] - withheld <= {"correct", "incorrect", "abstained", "answered"}


@pytest.mark.parametrize("name", IN_TIME)
async def test_replies_to_a_whole_plan_are_the_same_in_any_order_and_after_a_second_build(name: str) -> None:
    plan, turns = plan_of(name, 4, ratings=4)
    calls = [turns.call(one, structured=False, max_tokens=512) for one in plan.calls]
    first = built(name, plan, 4)
    replies = [(await first.ask(one)).text for one in calls]
    order = list(range(len(calls)))
    random.Random(2).shuffle(order)
    second = built(name, plan, 4)
    again = {index: (await second.ask(calls[index])).text for index in order}
    assert [again[index] for index in range(len(calls))] == replies


@pytest.mark.parametrize("name", IN_TIME)
async def test_a_self_assessment_changes_no_reply_to_the_battery(name: str) -> None:
    alone = provider(name, ProviderOptions(battery=MADE, seed=3))
    beside = provider(name, ProviderOptions(battery=MADE, seed=3, assessed=EVERYTHING))
    tasks = SelfAssessment(facts=EVERYTHING.facts)
    facts_alone = provider(name, ProviderOptions(seed=3, assessed=tasks))
    for item in MADE.items():
        assert await alone.ask(call(item)) == await beside.ask(call(item))
    # what is withheld is a share of all tasks
    if not CHARACTERS[name].withholds:
        for fact in EVERYTHING.facts:
            assert await facts_alone.ask(call(fact.probe)) == await beside.ask(call(fact.probe))


@pytest.mark.parametrize("name", CALIBRATED_LIKE)
async def test_the_calibrated_ones_claim_what_they_do(name: str) -> None:
    intended = {"x1": 0.68, "x2": 0.61, "x3": 0.8, "x4": 0.75, "x5": 0.8}
    for seed in range(3):
        for tasks in (40, 1000):
            plan, found = await records(name, seed, tasks=tasks, ratings=30)
            shown, claimed = external(plan, found), ratings(found)
            for criterion, value in intended.items():
                # a run of 40 elements has some seven formal tasks
                assert abs(shown[criterion] - value) <= (0.02 if tasks == 1000 else 0.06), (seed, criterion)
                assert abs(fmean(claimed[criterion]) - value) <= 0.04, (seed, criterion)
                assert 0.03 <= stdev(claimed[criterion]) <= 0.07
            assert fmean(abs(shown[one] - fmean(claimed[one])) for one in CRITERIA) <= 0.05


@pytest.mark.parametrize(
    ("name", "claim", "does"),
    [
        ("overconfident", 0.96, {"x1": 0.43, "x2": 0.3, "x3": 0.6, "x4": 0.5, "x5": 0.6}),
        ("underconfident", 0.3, {"x1": 0.76, "x2": 0.61, "x3": 0.7, "x4": 0.7, "x5": 0.7}),
        # flawed replies keep half of their elements
        ("blind", 0.95, {"x1": 0.27, "x2": 0.4, "x3": 0.52, "x4": 0.4, "x5": 0.4}),
        ("pinned", 1.0, {"x1": 0.4, "x2": 0.47, "x3": 0.52, "x4": 0.5, "x5": 0.5}),
        ("suggestible", 0.5, {"x1": 0.52, "x2": 0.47, "x3": 0.54, "x4": 0.5, "x5": 0.5}),
    ],
)
async def test_the_others_do_something_else_than_they_claim(name: str, claim: float, does: dict[str, float]) -> None:
    for seed in range(3):
        plan, found = await records(name, seed, tasks=1000, ratings=30)
        shown, claimed = external(plan, found), ratings(found)
        for criterion, value in does.items():
            assert abs(shown[criterion] - value) <= 0.06, (seed, criterion, shown)
            assert abs(fmean(claimed[criterion]) - claim) <= 0.03, (seed, criterion)


async def test_tasks_are_answered_with_and_without_a_stated_confidence() -> None:
    asked = provider("calibrated", ProviderOptions(assessed=EVERYTHING))
    for item in EVERYTHING.items():
        with_it, without = await asked.ask(call(item)), await asked.ask(call(item, stated=False))
        assert call(item, stated=False).system == ANSWER_CONTRACT
        assert json.loads(with_it.text)["answer"] == json.loads(without.text)["answer"]


async def test_formal_tasks_get_their_sample_or_their_flawed_reply() -> None:
    asked = provider("calibrated", ProviderOptions(assessed=EVERYTHING))
    kinds = Counter()
    for task in EVERYTHING.formal:
        prompt = render_formal(task)
        text = (await asked.ask(Call(system=prompt.system, user=prompt.user))).text
        kinds[{task.sample: "sample", task.flawed: "flawed"}[text]] += 1
    assert set(kinds) == {"sample", "flawed"}


async def test_citations_are_right_contradicted_or_unknown() -> None:
    states: Counter[str] = Counter()
    for seed in range(5):
        asked = provider("calibrated", ProviderOptions(assessed=EVERYTHING, seed=seed))
        for task in EVERYTHING.citations:
            texts = set()
            for paraphrase in range(len(task.questions)):
                prompt = render_citation(task, paraphrase)
                texts.add((await asked.ask(Call(system=prompt.system, user=prompt.user))).text)
            (text,) = texts
            assert set(json.loads(text)) == {"title", "author", "year"}
            citation, _ = read_citation(text)
            assert citation is not None
            states[judge_citation(citation, works(), RUN_DATE).state] += 1
    assert states["unknown"] == 5 * 2
    assert abs(states["verified"] / (states["verified"] + states["contradicted"]) - 0.75) < 0.1


def rated(text: str, *, rationale: bool = False, **how: Any) -> Call:
    prompt = render_rating(text, rationale=rationale)
    return Call(system=prompt.system, user=prompt.user, **how)


def stating(wording: str, *, rationale: bool = False, **how: Any) -> Call:
    prompt = render_statement(wording, rationale=rationale)
    return Call(system=prompt.system, user=prompt.user, **how)


WORDINGS = [(statement, wording) for statement in EVERYTHING.statements for wording in statement.wordings]


async def opinions(name: str) -> dict[str, Counter[str]]:
    """Return how often each reply is given to the wordings of a domain's statements, as it is read."""
    given: dict[str, Counter[str]] = defaultdict(Counter)
    for seed in range(10):
        asked = provider(name, ProviderOptions(assessed=EVERYTHING, seed=seed))
        for statement, wording in WORDINGS:
            given[statement.domain][read_yes_no((await asked.ask(stating(wording))).text)[1]] += 1
    return given


@pytest.mark.parametrize("name", ["calibrated", "number-copier", "german"])
async def test_the_calibrated_ones_speak_modestly_of_themselves(name: str) -> None:
    given = await opinions(name)
    for domain in ("MAI", "SRIS"):
        share = {word: count / given[domain].total() for word, count in given[domain].items()}
        assert set(share) == {"yes", "partially", "no"}
        assert share["no"] < 0.25
        assert min(share["yes"], share["partially"]) > 0.3
    assert set(given["SDQ"]) == {"no", "partially"}
    assert given["SDQ"]["no"] > 0.7 * given["SDQ"].total()


async def test_the_overconfident_one_says_yes_to_nearly_all_and_the_yes_sayer_to_all() -> None:
    nearly, all_of_it = await opinions("overconfident"), await opinions("yes-sayer")
    for domain in ("MAI", "SRIS", "SDQ"):
        assert set(nearly[domain]) == {"yes", "partially"}
        assert nearly[domain]["yes"] > 0.9 * nearly[domain].total()
        assert set(all_of_it[domain]) == {"yes"}


async def test_the_yes_sayer_rates_everything_1_and_does_what_the_overconfident_one_does() -> None:
    asked = provider("yes-sayer", ProviderOptions(assessed=EVERYTHING))
    texts = [rating.text for rating in EVERYTHING.ratings]
    texts += [text for pair in EVERYTHING.framing for text in (pair.neutral, pair.affirming)]
    for text in texts:
        for how in ({}, {"temperature": 0.7, "seed": 3}):
            assert json.loads((await asked.ask(rated(text, **how))).text) == {"answer": "1.00"}
    sayer, overconfident = CHARACTERS["yes-sayer"], CHARACTERS["overconfident"]
    assert msgspec.structs.replace(sayer, image=overconfident.image) == overconfident


async def test_reversed_ratings_are_answered_the_other_way_round() -> None:
    for name, low in (("calibrated", 0.5), ("overconfident", 0.9), ("blind", 0.95)):
        asked = provider(name, ProviderOptions(assessed=EVERYTHING))
        for rating in EVERYTHING.ratings:
            text = json.loads((await asked.ask(rated(rating.text))).text)["answer"]
            assert re.fullmatch(r"0\.\d\d|1\.00", text)
            assert (1 - float(text) if rating.reverse else float(text)) > low - 1e-9


async def test_praise_raises_the_numbers_of_the_overconfident_one_alone() -> None:
    raised: dict[str, list[float]] = defaultdict(list)
    for name in ("overconfident", "calibrated", "suggestible", "pinned"):
        for seed in range(5):
            asked = provider(name, ProviderOptions(assessed=EVERYTHING, seed=seed))
            for pair in EVERYTHING.framing:
                neutral, affirming = [
                    float(json.loads((await asked.ask(rated(text))).text)["answer"])
                    for text in (pair.neutral, pair.affirming)
                ]
                assert affirming == 1 or name != "overconfident" or 0.029 < affirming - neutral < 0.051
                raised[name].append(affirming - neutral)
    assert 0.03 < fmean(raised["overconfident"]) < 0.05
    assert min(raised["suggestible"]) > 0.09
    assert set(raised["calibrated"]) == set(raised["pinned"]) == {0}


async def test_warm_self_reports_vary_with_the_seed_and_cold_ones_do_not() -> None:
    asked = provider("calibrated", ProviderOptions(assessed=EVERYTHING))
    for make, texts in ((rated, [r.text for r in EVERYTHING.ratings]), (stating, [w for _, w in WORDINGS])):
        kinds = []
        for text in texts:
            cold = {(await asked.ask(make(text, seed=seed))).text for seed in range(8)}
            warm = [(await asked.ask(make(text, temperature=0.7, seed=seed))).text for seed in range(8)]
            again = [(await asked.ask(make(text, temperature=0.7, seed=seed))).text for seed in range(8)]
            assert len(cold) == 1
            assert warm == again
            kinds.append(len(set(warm)))
        assert fmean(kinds) > 1.5


async def test_a_reason_is_given_where_one_is_asked_for() -> None:
    for name in ("calibrated", "refuser", "german"):
        asked = provider(name, ProviderOptions(assessed=EVERYTHING))
        for one in (stating(WORDINGS[0][1], rationale=True), rated(EVERYTHING.ratings[0].text, rationale=True)):
            assert RATIONALE in one.system
            reply = json.loads((await asked.ask(one)).text)
            assert list(reply) == ["answer", "reason"]
            assert len(reply["reason"].split()) > 4
            plain = msgspec.structs.replace(one, system=one.system.removesuffix(RATIONALE))
            assert json.loads((await asked.ask(plain)).text) == {"answer": reply["answer"]}


async def test_the_abstainer_and_the_refuser_withhold_self_reports_and_tasks() -> None:
    for name, outcome, share in (("abstainer", "abstained", 0.9), ("refuser", "refused", 0.7)):
        plan, found = await records(name, 1, tasks=1000)
        assert plan.assessed is not None
        formal = {task.id for task in plan.assessed.formal}
        for sections in (("questionnaire", "self-profile", "framing"), ("tasks",)):
            asked = [one for one in found if one.section in sections and one.item_id not in formal]
            assert abs(sum(one.outcome == outcome for one in asked) / len(asked) - share) < 0.1


async def test_the_german_one_is_read_as_it_means() -> None:
    asked = provider("german", ProviderOptions(battery=MADE, assessed=EVERYTHING))
    words: Counter[str] = Counter()
    for _, wording in WORDINGS:
        text = (await asked.ask(stating(wording))).text
        said, (value, name) = json.loads(text)["answer"], read_yes_no(text)
        assert (value, name) == {"Ja": (1, "yes"), "Teilweise": (0.5, "partially"), "Nein": (0, "no")}[said]
        words[said] += 1
    assert set(words) == {"Ja", "Teilweise", "Nein"}
    for rating in EVERYTHING.ratings:
        text = (await asked.ask(rated(rating.text))).text
        said = json.loads(text)["answer"]
        assert re.fullmatch(r"0,\d\d", said)
        assert read_rating(text)[0] == float(said.replace(",", "."))
    outcomes: Counter[str] = Counter()
    spotted = 0
    for item in (*MADE.items(), *EVERYTHING.items()):
        text = (await asked.ask(call(item))).text
        said = json.loads(text)["answer"]
        graded = grade_reply(item, text, "stop")
        assert ABSTENTION_TOKEN not in text
        assert (graded.outcome == "abstained") == (said == "Das lässt sich nicht beantworten")
        assert ("free_text" in graded.flags) == (graded.outcome == "abstained")
        outcomes[graded.outcome] += 1
        spotted += item in MADE.traps and graded.outcome == "abstained"
    assert spotted == 17
    assert set(outcomes) == {"correct", "incorrect", "abstained"}


async def test_the_one_that_writes_prose_is_read_where_it_can_be() -> None:
    asked = provider("prose", ProviderOptions(battery=MADE, assessed=EVERYTHING))
    reports = [(read_yes_no, stating(wording)) for _, wording in WORDINGS]
    reports += [(read_rating, rated(rating.text)) for rating in EVERYTHING.ratings]
    unread = Counter()
    for read, one in reports:
        text = (await asked.ask(one)).text
        value, reason = read(text)
        plain = re.fullmatch(r"(Yes|Partially|No)\.|[01]\.\d\d", text)
        assert (value is None) == (plain is None), text
        assert plain or reason in {"not a reply", "not a number"}
        unread[read.__name__, value is None] += 1
    for read in (read_yes_no, read_rating):
        assert unread[read.__name__, False] > unread[read.__name__, True] > 0
    calibrated = CHARACTERS["calibrated"]
    right = spotted = 0
    for item in MADE.items():
        text = (await asked.ask(call(item))).text
        assert not text.startswith("{")
        assert not text.endswith("}")
        graded = grade_reply(item, text, "stop")
        assert graded.confidence in {*calibrated.levels, *calibrated.trap_levels}
        right += graded.outcome == "correct"
        spotted += isinstance(item, Trap) and graded.outcome == "abstained"
    assert abs(right - 0.96 * 0.6 * len(MADE.probes)) <= 2
    assert spotted == 17


@pytest.mark.parametrize("name", ["malformed", "hostile"])
async def test_self_reports_and_tasks_are_deformed_too(name: str) -> None:
    _, found = await records(name, 1, sections=SECTIONS[2:6], ratings=4, tasks=20)
    for section in ("questionnaire", "self-profile", "framing", "tasks"):
        outcomes = Counter(one.outcome for one in found if one.section == section)
        bad = sum(count for outcome, count in outcomes.items() if outcome in {"unparsed", "truncated", "incorrect"})
        assert 0.2 < bad / outcomes.total() < 0.95, (section, outcomes)
