"""Every recorded reply reads and grades as judged, and no grade changes without a new version."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from elicit_corpus import Row, current, fault, pinned, rows

from selfdiag.battery.items import Kind
from selfdiag.elicit.reading import Parse

GROUPS = sorted({row.id.partition("-")[0] for row in rows()})


def test_the_corpus_covers_every_kind_parse_and_outcome() -> None:
    ids = [row.id for row in rows()]
    assert len(ids) == len(set(ids)) >= 330
    assert {row.probe.get("kind") for row in rows()} == {*get_args(Kind), None}
    assert any(row.probe.get("unit") and row.probe.get("convert") for row in rows())
    assert {row.expected.parse for row in rows()} == set(get_args(Parse))
    outcomes = {"correct", "incorrect", "abstained", "refused", "unparsed", "truncated", "empty"}
    assert {row.expected.outcome for row in rows()} == outcomes


def mismatches(row: Row) -> list[str]:
    reading, grade = row.read()
    expected = row.expected
    found = {
        "answer": reading.answer,
        "confidence": reading.confidence,
        "parse": reading.parse,
        "truncated": reading.truncated,
        "outcome": grade.outcome,
    }
    wrong = [
        f"{row.id}: {name} is {value!r}, not {getattr(expected, name)!r}"
        for name, value in found.items()
        if value != getattr(expected, name)
    ]
    missing = set(expected.flags) - {*reading.flags, *grade.flags}
    if missing:
        wrong.append(f"{row.id}: without flags {sorted(missing)}")
    if expected.rule not in ("", grade.rule):
        wrong.append(f"{row.id}: rule is {grade.rule!r}, not {expected.rule!r}")
    return wrong


@pytest.mark.parametrize("group", GROUPS)
def test_recorded_replies_read_and_grade_as_judged(group: str) -> None:
    wrong = [found for row in rows() if row.id.partition("-")[0] == group for found in mismatches(row)]
    assert wrong == []


def test_no_grade_changes_without_a_new_version() -> None:
    assert fault(pinned(), current()) == ""


def test_a_changed_grade_is_named_and_asks_for_a_version() -> None:
    now = current()
    other = msgspec.structs.replace(now, sha256="0", grades={**now.grades, "strict-plain": "0" * 12})
    assert "1 replies read or grade differently: strict-plain." in fault(other, now)
    assert "raise READING_VERSION, GRADING_VERSION or LEXICON_VERSION" in fault(other, now)
    raised = msgspec.structs.replace(other, versions={**now.versions, "grading": "0"})
    assert "strict-plain" in fault(raised, now)
    assert "raise" not in fault(raised, now)
    fewer = msgspec.structs.replace(now, sha256="0", grades={"strict-plain": now.grades["strict-plain"]})
    assert fault(fewer, now).startswith("The corpus or a version changed")
