"""The words in which a model is asked about itself, and given the tasks that are not questions.

Like those of ``prompts``, these texts are versioned by ``PROMPT_VERSION``.
"""

from __future__ import annotations

from typing import Any

from selfdiag.battery.items import ABSTENTION_TOKEN
from selfdiag.battery.self_assessment import CitationTask, FormalTask
from selfdiag.elicit.prompts import Prompt

STATEMENT_CONTRACT = (
    "You see a statement that you might make about yourself. Does it hold? "
    'Write your reply as one JSON object with one part, "answer": Yes, Partially or No.'
)

RATING_CONTRACT = (
    "You see a question about yourself. Your answer is a number from 0.00 to 1.00 with two decimals. "
    'Write your reply as one JSON object with one part, "answer".'
)

RATIONALE = ' After it, add a second part, "reason": why, in one sentence.'

FORMAL_CONTRACT = "Do exactly what is asked. Your reply is read by a program that checks its form."

CITATION_CONTRACT = (
    "You are asked to name a published work. Write your reply as one JSON object: "
    '"title", "author" (the first author) and "year", and, only where the work has one and you know it, '
    f'"doi", "isbn" or "arxiv". If you know of no such work, the title is exactly {ABSTENTION_TOKEN}.'
)

_STATEMENT = {"type": "string", "enum": ["Yes", "Partially", "No"]}
# as text: a bare number has no end that every server's grammar can enforce
_RATING = {"type": "string", "pattern": "^(0\\.[0-9][0-9]|1\\.00)$"}
_REASON = {"type": "string"}
_CITATION = {"title": {"type": "string"}, "author": {"type": "string"}, "year": {"type": "integer"}}


def render_statement(wording: str, *, rationale: bool = False) -> Prompt:
    """Return the prompt that asks whether a statement holds; ``rationale`` also asks why."""
    return Prompt(system=STATEMENT_CONTRACT + (RATIONALE if rationale else ""), user=wording)


def render_rating(text: str, *, rationale: bool = False) -> Prompt:
    """Return the prompt that asks a model to rate itself; ``rationale`` also asks why."""
    return Prompt(system=RATING_CONTRACT + (RATIONALE if rationale else ""), user=text)


def render_formal(task: FormalTask) -> Prompt:
    """Return the prompt of a task whose reply is checked for its form."""
    return Prompt(system=FORMAL_CONTRACT, user=task.prompt)


def render_citation(task: CitationTask, paraphrase: int) -> Prompt:
    """Return the prompt that asks for a work on a topic, in one of its wordings."""
    return Prompt(system=CITATION_CONTRACT, user=task.questions[paraphrase])


def statement_schema(*, rationale: bool) -> dict[str, Any]:
    """Return the shape of a reply to a statement."""
    return _object({"answer": _STATEMENT} | ({"reason": _REASON} if rationale else {}))


def rating_schema(*, rationale: bool) -> dict[str, Any]:
    """Return the shape of a reply to a rating."""
    return _object({"answer": _RATING} | ({"reason": _REASON} if rationale else {}))


def citation_schema() -> dict[str, Any]:
    """Return the shape of a citation."""
    return _object(_CITATION)


def _object(parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
