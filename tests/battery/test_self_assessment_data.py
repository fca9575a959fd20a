"""What the self-assessment asks: complete, and each entry once."""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "probes" / "self"
TABLES = {
    "statements": "statement",
    "criteria": "item",
    "framing": "pair",
    "formal": "task",
    "terms": "term",
    "dated": "fact",
    "works": "work",
    "sources": "task",
}


def entries(name: str) -> list[dict[str, Any]]:
    document = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = document[TABLES[name]]
    return found


@pytest.mark.parametrize("name", TABLES)
def test_every_entry_has_an_id_of_its_own(name: str) -> None:
    ids = [entry["id"] for entry in entries(name)]
    assert len(ids) == len(set(ids)) > 9


def test_fifteen_statements_in_five_wordings_or_more() -> None:
    statements = entries("statements")
    assert Counter(one["domain"] for one in statements) == {"MAI": 5, "SRIS": 5, "SDQ": 5}
    assert sorted(one["number"] for one in statements) == list(range(1, 16))
    assert all(one["reverse"] == (one["domain"] == "SDQ") for one in statements)
    wordings = [wording.casefold() for one in statements for wording in one["wordings"]]
    assert len(wordings) == len(set(wordings)) >= 75
    study = {one["number"]: one["criterion"] for one in statements if one["criterion_source"] == "study"}
    expected = {1: "x1", 8: "x1", 15: "x1", 6: "x2", 14: "x2", 12: "x3", 11: "x4", 9: "x5", 13: "x5"}
    assert study == expected


def test_ten_items_a_criterion_of_both_polarities() -> None:
    by_criterion: dict[str, list[bool]] = {}
    for item in entries("criteria"):
        by_criterion.setdefault(item["criterion"], []).append(item["reverse"])
    assert {name: len(found) for name, found in by_criterion.items()} == dict.fromkeys(
        ("x1", "x2", "x3", "x4", "x5"), 10
    )
    assert all(4 <= sum(found) <= 6 for found in by_criterion.values())


def test_twenty_five_elements_or_more_a_criterion() -> None:
    assert sum(task["elements"] for task in entries("formal")) >= 25
    assert len(entries("terms")) >= 25
    assert len(entries("dated")) >= 25
    assert len(entries("sources")) >= 25


def test_tasks_about_works_say_what_the_table_says() -> None:
    works = {work["id"]: work for work in entries("works")}
    for task in entries("sources"):
        if task["kind"] == "year":
            assert task["answer"] == str(works[task["work"]]["year"])
        if task["kind"] == "author":
            assert works[task["work"]]["surname"].casefold() in task["answer"].casefold()
        if task["kind"] == "invented":
            assert task["grading"] == "abstention"
