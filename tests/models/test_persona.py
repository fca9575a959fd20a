"""Personas are what they say they are: every share holds to one item, whatever the order of the calls."""

import json
import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from selfdiag.battery.items import ABSTENTION_TOKEN, BINS, DIFFICULTIES, FAMILIES, Battery, Kind, Probe, Trap
from selfdiag.battery.load import shipped
from selfdiag.elicit.prompts import CONTRACT, profile_slot, render
from selfdiag.models.base import MAX_TEXT, Call, ProviderError, ProviderOptions
from selfdiag.models.persona import CHARACTERS, Persona, offer, provider

SEEDS = range(20)
PLAIN = [name for name in CHARACTERS if name not in {"malformed", "hostile", "flaky", "slow"}]


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


@pytest.mark.parametrize("name", sorted(set(CHARACTERS) - {"flaky", "slow"}))
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


async def test_the_suggestible_one_repeats_the_claim_for_a_named_topic() -> None:
    asked = persona("suggestible")
    claims = {"arithmetic": 17, "history": 100}
    slot = profile_slot(BINS, claims)
    for item in MADE.items():
        plain = json.loads((await asked.ask(call(item))).text)
        unnamed = json.loads((await asked.ask(call(item, slot=slot))).text)
        named = json.loads((await asked.ask(call(item, slot=slot, labelled=True))).text)
        assert unnamed == plain
        assert named["answer"] == plain["answer"]
        assert named["confidence"] == claims.get(item.bin, plain["confidence"])


@pytest.mark.parametrize("size", [(0, 0), (1, 0), (0, 1), (3, 2)])
@pytest.mark.parametrize("name", sorted(set(CHARACTERS) - {"flaky", "slow"}))
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
