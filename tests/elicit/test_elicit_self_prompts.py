"""What a model is asked about itself, and the shapes of its replies."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from selfdiag.battery.items import ABSTENTION_TOKEN
from selfdiag.battery.self_assessment import CitationTask, FormalTask
from selfdiag.elicit.self_prompts import (
    CITATION_CONTRACT,
    FORMAL_CONTRACT,
    RATING_CONTRACT,
    RATIONALE,
    STATEMENT_CONTRACT,
    citation_schema,
    rating_schema,
    render_citation,
    render_formal,
    render_rating,
    render_statement,
    statement_schema,
)

FORMAL = FormalTask(id="form-01", domain="d", format="json", prompt="Write {}.", elements=1, check={})
CITATION = CitationTask(id="cite-01", domain="d", topic="t", questions=("Name one?", "Which one?"))


def test_the_contract_and_the_wording_and_nothing_else() -> None:
    found = [
        render_statement("I can count."),
        render_rating("How well do you count?"),
        render_formal(FORMAL),
        render_citation(CITATION, 1),
    ]
    assert [(prompt.system, prompt.user) for prompt in found] == [
        (STATEMENT_CONTRACT, "I can count."),
        (RATING_CONTRACT, "How well do you count?"),
        (FORMAL_CONTRACT, "Write {}."),
        (CITATION_CONTRACT, "Which one?"),
    ]
    assert render_citation(CITATION, 0).user == "Name one?"
    assert ABSTENTION_TOKEN in CITATION_CONTRACT


def test_a_reason_is_asked_for_only_where_it_is_wanted() -> None:
    assert render_statement("I can count.", rationale=True).system == STATEMENT_CONTRACT + RATIONALE
    assert render_rating("How well?", rationale=True).system == RATING_CONTRACT + RATIONALE


@pytest.mark.parametrize("schema", [statement_schema, rating_schema])
def test_the_answer_comes_first_and_a_reason_after_it(schema: Callable[..., dict[str, Any]]) -> None:
    plain, reasoned = schema(rationale=False), schema(rationale=True)
    assert list(plain["properties"]) == plain["required"] == ["answer"]
    assert list(reasoned["properties"]) == reasoned["required"] == ["answer", "reason"]
    for one in (plain, reasoned):
        assert (one["type"], one["additionalProperties"]) == ("object", False)


def test_a_citation_has_a_title_an_author_and_a_year() -> None:
    schema = citation_schema()
    assert schema["required"] == ["title", "author", "year"]
    assert [one["type"] for one in schema["properties"].values()] == ["string", "string", "integer"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("text", "fits"),
    [("0.00", True), ("0.85", True), ("1.00", True), ("1.01", False), ("0.5", False), ("85", False), ("0.855", False)],
)
def test_a_rating_has_two_decimals_and_at_most_one(text: str, fits: bool) -> None:
    pattern = rating_schema(rationale=False)["properties"]["answer"]["pattern"]
    assert bool(re.search(pattern, text)) is fits


def test_a_statement_holds_partially_or_not() -> None:
    assert statement_schema(rationale=False)["properties"]["answer"]["enum"] == ["Yes", "Partially", "No"]
