"""Probes and readings for the tests of this folder."""

from __future__ import annotations

from typing import Any

from selfdiag.battery.items import Kind, Probe, Trap
from selfdiag.elicit.grading import Grade, grade
from selfdiag.elicit.reading import Reading, read_reply

TRAP = Trap(id="t", bin="history", family="no_such_entity", questions=("Who?",), note="There was no such king.")


def probe(kind: Kind, answer: str, **more: Any) -> Probe:
    return Probe(id="p", bin="history", difficulty="easy", kind=kind, answer=answer, questions=("What?",), **more)


def graded(item: Probe | Trap, answer: str) -> Grade:
    return grade(item, Reading(answer=answer, parse="strict"))


def outcome(item: Probe | Trap, answer: str) -> str:
    return graded(item, answer).outcome


def right(kind: Kind, key: str, answer: str, **more: Any) -> bool:
    found = outcome(probe(kind, key, **more), answer)
    assert found in ("correct", "incorrect"), found
    return found == "correct"


def pair(raw: str) -> tuple[str | None, int | None]:
    reading = read_reply(raw)
    return reading.answer, reading.confidence
