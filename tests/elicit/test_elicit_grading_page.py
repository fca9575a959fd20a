"""The examples of docs/grading.md hold."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from elicit_corpus import rows
from elicit_probes import TRAP, graded, probe

from selfdiag.battery.items import Kind, Probe
from selfdiag.elicit.reading import read_reply

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "grading.md").read_text(encoding="utf-8")
TOWNS = ("Rome", "Paris", "Lyon", "Nice")
KINDS: tuple[Kind, ...] = ("number", "text", "choice", "set", "sequence", "date", "expression", "code")
Cells = list[str]


def table(name: str) -> list[Cells]:
    """Return the rows of the table that "Examples ``name``" announces, one list of cells each."""
    _, _, rest = PAGE.partition(f"\nExamples {name}")
    lines = rest.partition("|")[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def literal(cell: str) -> str:
    """Return what stands between the backticks of a cell."""
    found = re.fullmatch(r"(`+) ?(.*?) ?\1", cell)
    assert found is not None, cell
    return found[2].replace("↵", "\n").replace("\\|", "|")


def keyed(kind: Kind, cell: str) -> Probe:
    """Return a probe of a kind whose key and settings a cell gives."""
    more: dict[str, Any] = {"options": TOWNS} if kind == "choice" else {}
    for name, value in re.findall(r"(unit|tolerance|alias|options) `([^`]*)`", cell):
        more |= {
            "unit": {"unit": value},
            "tolerance": {"tolerance": float(value) if name == "tolerance" else 0.0},
            "alias": {"aliases": (value,)},
            "options": {"options": tuple(value.split(" / "))},
        }[name]
    return probe(kind, literal(cell.partition(", ")[0] if "`, " in cell else cell), convert="convert" in cell, **more)


def test_no_line_is_too_long() -> None:
    assert [line for line in PAGE.splitlines() if len(line) > 125] == []


def test_replies_read_as_the_page_says() -> None:
    examples = table("of replies:")
    assert len(examples) >= 15
    for reply, answer, confidence, parse, flag in examples:
        reading = read_reply(literal(reply))
        assert reading.answer == (None if answer == "none" else literal(answer)), reply
        assert reading.confidence == (None if confidence == "none" else int(confidence)), reply
        assert reading.parse == parse, reply
        assert not flag or literal(flag) in reading.flags, reply


def test_confidences_read_as_the_page_says() -> None:
    examples = table("of confidence,")
    assert len(examples) >= 25
    for value, confidence, flag in examples:
        reading = read_reply(f'{{"answer": "Paris", "confidence": {literal(value)}}}')
        assert reading.confidence == (None if confidence == "none" else int(confidence)), value
        assert literal(flag) in reading.flags if flag else reading.flags == (), value


def test_answers_to_a_trap_grade_as_the_page_says() -> None:
    examples = table("on a trap:")
    assert len(examples) >= 15
    for answer, outcome, flag in examples:
        found = graded(TRAP, literal(answer))
        assert found.outcome == outcome, answer
        assert found.flags == ((literal(flag),) if flag else ()), answer


@pytest.mark.parametrize("kind", KINDS)
def test_answers_grade_as_the_page_says(kind: Kind) -> None:
    examples = table(f"of {kind}")
    assert len(examples) >= 8
    for key, answer, outcome, *flags in examples:
        found = graded(keyed(kind, key), literal(answer))
        assert found.outcome == outcome, (key, answer, found)
        for flag in flags:
            assert literal(flag) in found.flags if flag else found.flags == (), (key, answer, found)


def test_every_flag_of_the_recorded_replies_is_on_the_page() -> None:
    seen = {flag for row in rows() for part in row.read() for flag in part.flags}
    assert {flag for flag in seen if f"`{flag}`" not in PAGE} == set()


def test_a_wrong_example_would_be_seen() -> None:
    assert graded(keyed("number", "`5`, unit `km`, convert"), literal("`5000 m`")).outcome == "correct"
    assert graded(keyed("number", "`5`, unit `km`"), literal("`5000 m`")).outcome == "incorrect"
    assert json.loads(literal('`{"a": "b"}`')) == {"a": "b"}
