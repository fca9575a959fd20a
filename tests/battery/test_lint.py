"""Each fault that the linter knows has a broken example, and the shipped battery has none."""

import json
from pathlib import Path
from typing import Any

import pytest

from selfdiag.battery.items import BINS, DIFFICULTIES, FAMILIES
from selfdiag.battery.lint import lint
from selfdiag.battery.load import shipped_path

PROBE: dict[str, Any] = {
    "id": "sum",
    "bin": "arithmetic",
    "difficulty": "easy",
    "kind": "number",
    "answer": "4",
    "questions": ["What is 2 + 2?", "Add 2 to 2.", "How much do 2 and 2 make?"],
    "derivation": "2 + 2",
}
TEXT: dict[str, Any] = {
    "id": "capital",
    "bin": "geography",
    "difficulty": "easy",
    "kind": "text",
    "answer": "Paris",
    "questions": ["Which city is the capital of France?"],
    "source": "an atlas",
}
CHOICE: dict[str, Any] = {**TEXT, "kind": "choice", "options": ["Lyon", "Paris", "Nice"]}
TRAP: dict[str, Any] = {
    "id": "king",
    "bin": "history",
    "family": "no_such_entity",
    "questions": ["Who is king of Mars?", "Name the monarch of Mars.", "Mars obeys which king?"],
    "note": "Nobody is.",
}


def linted(folder: Path, *rows: dict[str, Any], as_shipped: bool = False) -> list[str]:
    path = folder / "some.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [str(fault) for fault in lint(path, shipped=as_shipped)]


def test_sound_items_have_no_fault(tmp_path: Path) -> None:
    assert linted(tmp_path, PROBE, TEXT, TRAP) == []
    assert linted(tmp_path, CHOICE) == []


@pytest.mark.parametrize(
    ("row", "changed", "found"),
    [
        (PROBE, {"id": "two words"}, "an id has letters, digits, dots, hyphens and underscores only"),
        (PROBE, {"id": "-x"}, "an id has letters, digits, dots, hyphens and underscores only"),
        (TRAP, {"id": "x\n"}, "an id has letters, digits, dots, hyphens and underscores only"),
        (PROBE, {"bin": ""}, "the bin is empty"),
        (TRAP, {"bin": ""}, "the bin is empty"),
        (TRAP, {"questions": ["Who?", " \n"]}, "a question is empty"),
        (PROBE, {"questions": ["What is 2 + 2?", "what is 2+2"]}, "two of its paraphrases are the same"),
        (TRAP, {"questions": ["Who?", "WHO"]}, "two of its paraphrases are the same"),
        (TEXT, {"answer": " "}, "the answer is empty"),
        (TEXT, {"source": ""}, "neither a derivation nor a source says why the answer is right"),
        (PROBE, {"derivation": ""}, "neither a derivation nor a source says why the answer is right"),
        (CHOICE, {"options": ["Paris"]}, "a choice needs at least two options"),
        (CHOICE, {"options": []}, "a choice needs at least two options"),
        (CHOICE, {"options": ["Lyon", "Nice"]}, "the answer is not one of the options"),
        (CHOICE, {"options": ["Lyon", "Paris", " lyon"]}, "two options are the same"),
        (TEXT, {"options": ["Paris", "Lyon"]}, "options belong to kind 'choice', not to 'text'"),
        (
            TEXT,
            {"questions": ["Is it in Paris, France?"]},
            "the answer stands in the question 'Is it in Paris, France?'",
        ),
        (PROBE, {"derivation": "2 + 3"}, "the derivation gives '5', the answer is '4'"),
        (PROBE, {"derivation": "4.0"}, "the derivation gives '4.0', the answer is '4'"),
        (PROBE, {"derivation": "x = 4"}, "the derivation gives no value; write an expression or assign 'answer'"),
        (TRAP, {"note": " "}, "no note says why it has no answer"),
        (TRAP, {"family": "riddle"}, f"unknown trap family 'riddle'; one of {', '.join(FAMILIES)}"),
    ],
)
def test_a_broken_item(tmp_path: Path, row: dict[str, Any], changed: dict[str, Any], found: str) -> None:
    broken = {**row, **changed}
    assert f"some.jsonl:2: {broken['id']}: {found}" in linted(tmp_path, {**PROBE, "id": "sound"}, broken)


@pytest.mark.parametrize("program", ["1 / 0", "import os", "open('x')", "4 +"])
def test_a_derivation_that_does_not_run(tmp_path: Path, program: str) -> None:
    (found,) = linted(tmp_path, {**PROBE, "derivation": program})
    assert found.startswith("some.jsonl:1: sum: the derivation does not run: ")


def test_an_item_may_have_several_faults(tmp_path: Path) -> None:
    assert linted(tmp_path, {**PROBE, "bin": "", "derivation": "5"}) == [
        "some.jsonl:1: sum: the bin is empty",
        "some.jsonl:1: sum: the derivation gives '5', the answer is '4'",
    ]


def test_options_that_differ_in_signs_are_different(tmp_path: Path) -> None:
    assert linted(tmp_path, {**CHOICE, "answer": "-1", "options": ["-1", "1", "+", "-"]}) == []


@pytest.mark.parametrize(
    ("kind", "answer", "question", "leaks"),
    [
        ("text", "Paris", "Why is PARIS, France, famous?", True),
        ("text", "Paris", "Who are the Parisians?", False),
        ("text", "New York", "Where in New York is it?", True),
        ("text", "it", "Is it so?", False),
        ("number", "1234", "What is 1234 + 0?", False),
        ("code", "print", "What does print print?", False),
    ],
)
def test_when_a_question_gives_its_answer_away(
    tmp_path: Path, kind: str, answer: str, question: str, leaks: bool
) -> None:
    row = {**TEXT, "kind": kind, "answer": answer, "questions": [question]}
    assert bool(linted(tmp_path, row)) is leaks


def test_near_duplicates_are_named(tmp_path: Path) -> None:
    first = {**TEXT, "id": "a", "questions": ["Which city is the capital of the French Republic today?"]}
    same = {**TEXT, "id": "b", "questions": ["Which city is THE capital of the french republic, today?"]}
    other = {**TEXT, "id": "c", "questions": ["Which river flows through that city?"]}
    assert linted(tmp_path, first, other, same) == ["some.jsonl:3: b: asks nearly the same as a"]


def test_a_probe_and_a_trap_are_compared_too(tmp_path: Path) -> None:
    assert linted(tmp_path, {**TEXT, "questions": TRAP["questions"][:1]}, TRAP) == [
        "some.jsonl:2: king: asks nearly the same as capital"
    ]


def test_the_same_template_with_other_numbers_is_another_question(tmp_path: Path) -> None:
    rows = [
        {**TEXT, "id": f"n{number}", "questions": [f"What remains of {number} after taking away all but one?"]}
        for number in (17, 18)
    ]
    assert linted(tmp_path, *rows) == []


@pytest.mark.parametrize("content", ["{", "[1]", ""])
def test_what_cannot_be_loaded_is_a_fault_too(tmp_path: Path, content: str) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(content, encoding="utf-8")
    assert len(lint(path)) == 1
    assert len(lint(tmp_path / "none.toml")) == 1


def whole_battery() -> list[dict[str, Any]]:
    """Return one probe of each difficulty for every bin, as the shipped battery wants it."""
    rows = []
    for first, name in enumerate(BINS):
        for second, level in enumerate(DIFFICULTIES):
            word = f"{name}{level}"
            rows.append(
                {
                    **TEXT,
                    "id": f"{name}-{level}",
                    "bin": name,
                    "difficulty": level,
                    "questions": [f"{word} {first} {second} {way}?" for way in ("one", "two", "three")],
                }
            )
    return rows


def test_a_whole_battery_passes_for_shipped(tmp_path: Path) -> None:
    assert linted(tmp_path, *whole_battery(), as_shipped=True) == []


def test_the_shipped_battery_may_have_known_bins_alone(tmp_path: Path) -> None:
    strange = {**PROBE, "bin": "zoology"}
    assert linted(tmp_path, strange) == []
    assert "some.jsonl:64: sum: unknown bin 'zoology'" in linted(tmp_path, *whole_battery(), strange, as_shipped=True)


@pytest.mark.parametrize("row", [PROBE, TRAP])
def test_the_shipped_battery_has_three_wordings(tmp_path: Path, row: dict[str, Any]) -> None:
    short = {**row, "questions": row["questions"][:2]}
    assert linted(tmp_path, short) == []
    expected = f"some.jsonl:64: {row['id']}: 2 paraphrases, not 3"
    assert expected in linted(tmp_path, *whole_battery(), short, as_shipped=True)


def test_the_shipped_battery_is_balanced(tmp_path: Path) -> None:
    rows = whole_battery()
    assert linted(tmp_path, *rows[1:], as_shipped=True) == [
        "some.jsonl: the bin arithmetic has 2 probes where others have 3"
    ]
    assert linted(tmp_path, *rows[3:], as_shipped=True) == [
        "some.jsonl: the bin arithmetic has 0 probes where others have 3"
    ]
    rows[0]["difficulty"] = "hard"
    assert linted(tmp_path, *rows, as_shipped=True) == ["some.jsonl: the bin arithmetic lacks a difficulty"]


def test_the_shipped_battery_is_clean() -> None:
    assert [str(fault) for fault in lint(shipped_path(), shipped=True)] == []


def test_the_shipped_battery_is_checked_with_its_derivations(monkeypatch: pytest.MonkeyPatch) -> None:
    from selfdiag.battery import lint as module
    from selfdiag.battery.derivation import Derived

    asked: list[str] = []

    def off_by_one(programs: list[str]) -> list[Derived]:
        asked.extend(programs)
        return [Derived(value="no such answer") for _ in programs]

    monkeypatch.setattr(module, "derive_each", off_by_one)
    found = lint(shipped_path(), shipped=True)
    assert len(asked) >= 11 * 14
    assert len(found) == len(asked)


def test_every_fault_is_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = linted(
        tmp_path,
        {**PROBE, "id": "a", "derivation": "2 + 3"},
        {**PROBE, "id": "a"},
        {**PROBE, "id": "b", "difficulty": "simple"},
        {**PROBE, "id": "c", "source": "", "derivation": ""},
    )
    assert [row.split(":")[1] for row in found if "nearly the same" not in row] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    "program", ["sum(range(10**12))", "math.factorial(10**8)", "len([0] * 10**10)", "len(list(range(10**9)))"]
)
def test_a_derivation_that_eats_time_or_memory_is_ended(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    from selfdiag.battery import derivation

    monkeypatch.setattr(derivation, "MAX_SECONDS", 1)
    monkeypatch.setattr(derivation, "STARTING_SECONDS", 5)
    before, ended, after = derivation.derive_each(["1 + 1", program, "2 + 2"])
    assert (before.value, after.value) == ("2", "4")
    assert ended.value == ""
    assert ended.fault
