import pytest

from selfdiag.battery.items import ABSTENTION_TOKEN, BINS, Probe
from selfdiag.elicit.prompts import CONTRACT, RESPONSE_SCHEMA, Prompt, profile_slot, question, render

PROBE = Probe(
    id="physics-01",
    bin="physics",
    difficulty="easy",
    kind="choice",
    answer="both",
    options=("hammer", "both"),
    questions=("Which falls faster?", "Which lands first?"),
    source="a book",
)


def test_the_contract_names_the_form_and_shows_no_example_value() -> None:
    assert CONTRACT.index('"answer"') < CONTRACT.index('"confidence"')
    assert ABSTENTION_TOKEN in CONTRACT
    assert [word for word in CONTRACT.split() if word.strip(".:").isdigit()] == ["0", "100:"]
    assert list(RESPONSE_SCHEMA["properties"]) == RESPONSE_SCHEMA["required"] == ["answer", "confidence"]


def test_the_user_turn_is_the_question_with_its_options() -> None:
    prompt = render(PROBE, 1)
    assert prompt == Prompt(system=CONTRACT, user="Which lands first?\nA) hammer\nB) both")
    assert question(PROBE, 0).startswith("Which falls faster?")


def test_slot_label_and_example_are_the_only_things_that_change() -> None:
    slot = profile_slot(("physics", "logic"), {"physics": 95})
    assert slot.splitlines()[1:] == ["- physics: 95%", "- logic: n/a"]
    plain = render(PROBE, 0)
    claimed = render(PROBE, 0, slot=slot)
    assert claimed.system == f"{plain.system}\n\n{slot}"
    assert claimed.user == plain.user
    labelled = render(PROBE, 0, slot=slot, labelled=True)
    assert labelled.user == f"Topic of this question: physics\n{plain.user}"
    example = render(PROBE, 0, example=85)
    assert example.system.startswith(plain.system)
    assert example.system.count("85") == 1


def test_the_off_slot_is_all_not_available() -> None:
    lines = profile_slot(BINS, {}).splitlines()
    assert len(lines) == 1 + len(BINS)
    assert all(line.endswith(": n/a") for line in lines[1:])


@pytest.mark.parametrize("change", [{"paraphrase": 1}, {"example": 5}, {"labelled": True}, {"slot": "x"}])
def test_every_change_changes_the_hash(change: dict) -> None:
    assert render(PROBE, **{"paraphrase": 0, **change}).sha256() != render(PROBE, 0).sha256()
