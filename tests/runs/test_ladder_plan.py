"""Plans that put whole profiles before the model: what differs between arms, and in which order they are asked."""

import re
from collections import Counter
from itertools import pairwise

import pytest

from selfdiag.battery.draw import draw, wording
from selfdiag.battery.items import BINS, Battery, Probe
from selfdiag.battery.load import shipped
from selfdiag.elicit.prompts import CONTRACT, question
from selfdiag.runs.ladder_plan import (
    BATCH_ROWS,
    FALSE,
    OFF,
    OTHER,
    OWN,
    PLACEBO,
    SHUFFLED,
    TRUE,
    plan_with_profiles,
    rows_of,
)
from selfdiag.runs.plan import Plan
from selfdiag.runs.records import LADDER, SWAP, TOPICPASS, InjectedProfile, RunSettings

ARM_WORDS = re.compile(
    r"\b(off|placebo|own|shuffled|swap|swapped|other|true|false|fake|arm|half|made-up|control)\b", re.IGNORECASE
)
LADDER_ARMS = (OFF, PLACEBO, OWN, SHUFFLED)


def profiles(*arms: str) -> list[InjectedProfile]:
    """Two halves of each arm, every one with other numbers."""
    found = []
    for place, arm in enumerate(arms):
        for half in (0, 1):
            values = {name: (7 * rank + 30 * place + 3 * half) % 101 for rank, name in enumerate(BINS)}
            found.append(InjectedProfile(arm=arm, half=half, values=dict.fromkeys(BINS) if arm == OFF else values))
    return found


def made(section: str = LADDER, *, seed: int = 0, size: str = "standard", wordings: int = 2, **more: object) -> Plan:
    drawn = draw(shipped(), size, seed=seed, traps=False)
    return plan_with_profiles(
        RunSettings(model="openai:m", seed=seed),
        section,
        shipped(),
        rows_of(drawn.probes, seed, wordings),
        profiles(*LADDER_ARMS),
        **{"halves": {probe.id: index % 2 for index, probe in enumerate(drawn.probes)}, **more},
    )


def test_every_row_is_asked_once_under_every_arm() -> None:
    plan = made()
    seen = Counter((call.item_id, call.paraphrase, call.arm) for call in plan.calls)
    assert len(plan.calls) == len(seen) == 126 * 2 * 4
    assert len({call.call_id for call in plan.calls}) == len(plan.calls)
    assert Counter(call.arm for call in plan.calls) == dict.fromkeys(LADDER_ARMS, 252)
    assert {call.section for call in plan.calls} == {LADDER}
    assert {probe.id for probe in plan.check} == {call.item_id for call in plan.calls}
    assert plan.drawn.items() == ()


def test_the_drawn_wording_comes_first_and_no_wording_twice() -> None:
    probes = draw(shipped(), "quick", traps=False).probes
    rows = rows_of(probes, 5, 3)
    assert len({(row.probe.id, row.paraphrase) for row in rows}) == 3 * len(probes)
    first = [row for row in rows if row.replicate == 0]
    assert [row.paraphrase for row in first] == [wording(probe, 5) for probe in probes]
    single = Probe(id="a", bin="logic", difficulty="easy", kind="text", answer="b", questions=("Which?",))
    assert [(row.paraphrase, row.replicate) for row in rows_of([single], 5, 3)] == [(0, 0)]


def test_the_order_is_drawn_and_cut_into_batches_with_every_arm_mixed() -> None:
    plan = made()
    batches = [call.batch for call in plan.calls]
    assert batches == sorted(batches)
    rows: dict[int, set[tuple[str, int]]] = {}
    for call in plan.calls:
        rows.setdefault(call.batch, set()).add((call.item_id, call.paraphrase))
    assert len(rows) == round(252 / BATCH_ROWS)
    assert {len(found) for found in rows.values()} <= {19, 20}
    for batch, found in rows.items():
        inside = [call for call in plan.calls if call.batch == batch]
        assert len(inside) == 4 * len(found)  # all four arms of its rows, and of no other
        arms = [call.arm for call in inside]
        # were a row's arms asked together, or an arm's rows, half of the calls would repeat a neighbour
        assert 0.1 < sum(a == b for a, b in pairwise(arms)) / len(arms) < 0.45
        assert max(Counter(arms[:20]).values()) < 15
    assert len({call.item_id for call in plan.calls[:4]}) > 1
    assert [call.call_id for call in made().calls] == [call.call_id for call in plan.calls]
    other = plan_with_profiles(
        RunSettings(model="openai:m", seed=1),
        LADDER,
        shipped(),
        rows_of(plan.check, 0, 2),
        profiles(*LADDER_ARMS),
        halves=dict.fromkeys((probe.id for probe in plan.check), 0),
    )
    assert [call.item_id for call in other.calls] != [call.item_id for call in plan.calls]


@pytest.mark.parametrize("labelled", [True, False])
def test_prompts_of_a_row_differ_in_the_numbers_of_the_slot_alone(labelled: bool) -> None:
    plan = made(labels=(labelled,))
    items = {probe.id: probe for probe in plan.check}
    rows: dict[tuple[str, int], dict[str, str]] = {}
    for call in plan.calls:
        prompt = plan.prompt(call)
        probe = items[call.item_id]
        asked = question(probe, call.paraphrase)
        assert prompt.user == (f"Topic of this question: {probe.bin}\n{asked}" if labelled else asked)
        rows.setdefault((call.item_id, call.paraphrase), {})[call.arm] = prompt.system
    for systems in rows.values():
        assert len({re.sub(r": (\d{1,3}%|n/a)$", ": ?", text, flags=re.MULTILINE) for text in systems.values()}) == 1
        assert len(set(systems.values())) == 4
        assert systems[OFF].startswith(CONTRACT)
        assert systems[OFF].count(": n/a") == 21 and "%" not in systems[OFF]
        assert systems[OWN].count("%") == 21


@pytest.mark.parametrize(
    ("section", "arms"),
    [(LADDER, LADDER_ARMS), (TOPICPASS, (TRUE, FALSE)), (SWAP, (OFF, OWN, OTHER))],
)
def test_no_prompt_names_an_arm(section: str, arms: tuple[str, ...]) -> None:
    drawn = draw(shipped(), "quick", traps=False)
    plan = plan_with_profiles(
        RunSettings(model="openai:m", example=85),
        section,
        shipped(),
        rows_of(drawn.probes, 0, 3),
        profiles(*arms),
        halves={probe.id: index % 2 for index, probe in enumerate(drawn.probes)},
        labels=(True, False),
    )
    assert {call.arm for call in plan.calls} == set(arms)
    items = {probe.id: probe for probe in drawn.probes}
    for call in plan.calls:
        prompt = plan.prompt(call)
        assert ARM_WORDS.search(prompt.system) is None
        asked = question(items[call.item_id], call.paraphrase)
        assert prompt.user.endswith(asked)
        # a question may use such a word; what is put before it may not
        assert ARM_WORDS.search(prompt.user.removesuffix(asked)) is None
    assert ARM_WORDS.search("your own profile")  # the pattern itself works


def test_each_half_is_shown_its_profile_and_a_profile_without_half_goes_to_all() -> None:
    drawn = draw(shipped(), "quick", traps=False)
    halves = {probe.id: index % 2 for index, probe in enumerate(drawn.probes)}
    theirs = InjectedProfile(arm=OTHER, values=dict.fromkeys(BINS, 40) | {"logic": None})
    shown = [*profiles(OWN), theirs]
    plan = plan_with_profiles(
        RunSettings(model="openai:m"), SWAP, shipped(), rows_of(drawn.probes, 0), shown, halves=halves
    )
    assert plan.injected == tuple(shown)
    items = {probe.id: probe for probe in drawn.probes}
    for call in plan.calls:
        topic = items[call.item_id].bin
        values = theirs.values if call.arm == OTHER else shown[halves[call.item_id]].values
        assert call.claim == values[topic]
        assert call.claim_bin == ("" if call.claim is None else topic)
        system = plan.prompt(call).system
        for name, value in values.items():
            assert f"\n- {name}: {'n/a' if value is None else f'{value}%'}" in system


def test_labels_are_recorded_and_make_other_calls() -> None:
    plan = made(size="quick", wordings=1, labels=(True, False))
    assert Counter(call.labelled for call in plan.calls) == {True: 168, False: 168}
    assert len({call.call_id for call in plan.calls}) == 336


def test_a_battery_of_other_topics_has_a_line_for_each() -> None:
    probes = tuple(
        Probe(id=f"{name}-{number}", bin=name, difficulty="easy", kind="text", answer="x", questions=("Which?",))
        for name in ("tea", "logic")
        for number in range(2)
    )
    own = InjectedProfile(arm=OWN, values={"logic": 50, "tea": 25})
    plan = plan_with_profiles(
        RunSettings(model="openai:m"), LADDER, Battery(id="b", version="1", probes=probes), rows_of(probes, 0), [own]
    )
    assert plan.prompt(plan.calls[0]).system.endswith("\n- logic: 50%\n- tea: 25%")
    assert {call.batch for call in plan.calls} == {0}
    assert plan.battery.id == "b"
