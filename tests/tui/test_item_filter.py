"""The little language that picks among the records of a run, and their order."""

from __future__ import annotations

import operator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_runs import HOSTILE, audit_run

from selfdiag.runs.records import Record
from selfdiag.runs.store import RECORDS, read_run
from selfdiag.safety import SelfdiagError
from selfdiag.tui.item_filter import COLUMNS, ItemRow, fold, item_row, item_rows, read_filter, shown, sorted_rows

OUTCOMES = ("correct", "incorrect", "abstained", "refused", "unparsed", "truncated", "empty", "overflow", "error")


def record(**fields: object) -> Record:
    usual: dict[str, object] = {
        "call_id": "c1",
        "item_id": "geography-07",
        "bin": "geography",
        "difficulty": "easy",
        "trap": False,
        "family": None,
        "section": "probes",
        "prompt_sha256": "",
        "answer": "Congo",
        "confidence": 95,
        "outcome": "correct",
    }
    return Record(**usual | fields)


def row(question: str = "Which river flows through Kinshasa?", **fields: object) -> ItemRow:
    return item_row(0, record(**fields), fold(question))


def picks(text: str, *rows: ItemRow) -> list[bool]:
    chosen = read_filter(text)
    return [chosen(one) for one in rows]


@pytest.mark.parametrize("text", ["", "  ", "congo", "CONGO", "river kinshasa", '"river flows"', "graphy-0"])
def test_words_are_looked_for_in_id_answer_and_question(text: str) -> None:
    assert picks(text, row()) == [True]


@pytest.mark.parametrize("text", ["nile", "congo nile", '"flows river"'])
def test_every_word_must_be_there(text: str) -> None:
    assert picks(text, row()) == [False]


def test_accents_are_the_same_however_they_are_written() -> None:
    assert picks("cafe\u0301", row(answer="CAFÉ")) == [True]


def test_states_speak_of_what_is_shown() -> None:
    rows = [
        row(outcome="correct"),
        row(outcome="incorrect"),
        row(outcome="abstained"),
        row(outcome="incorrect", trap=True),
        row(outcome="abstained", trap=True),
    ]
    assert picks("right", *rows) == [True, False, False, False, False]
    assert picks("wrong", *rows) == [False, True, False, False, False]
    assert picks("abstained", *rows) == [False, False, True, False, True]
    assert picks("missed", *rows) == [False, False, False, True, False]
    assert picks("trap", *rows) == [False, False, False, True, True]
    assert picks("abstained trap", *rows) == [False, False, False, False, True]
    assert picks("-trap wrong", *rows) == [False, True, False, False, False]


def test_a_quoted_state_is_a_word() -> None:
    told = row(answer="that is wrong", outcome="correct")
    assert picks('"wrong"', told, row()) == [True, False]
    assert picks("wrong", told) == [False]


@pytest.mark.parametrize(
    ("sign", "compare"),
    [(">", operator.gt), (">=", operator.ge), ("<", operator.lt), ("<=", operator.le), ("=", operator.eq)],
)
def test_confidence_is_compared(sign: str, compare: object) -> None:
    stated = [0, 19, 20, 21, 80, 100]
    rows = [row(confidence=value) for value in stated]
    for form in (f"conf{sign}20", f"conf {sign} 20", f"CONF{sign}20%"):
        assert picks(form, *rows) == [compare(value, 20) for value in stated]  # type: ignore[operator]
    assert picks(f"conf{sign}20", row(confidence=None)) == [False]


def test_a_name_begins_with_what_is_written() -> None:
    assert picks("bin:algebra", row(bin="algebra"), row(bin="linear_algebra")) == [True, False]
    assert picks("bin:LINEAR", row(bin="linear_algebra")) == [True]
    assert picks('bin:"linear alg"', row(bin="linear_algebra")) == [True]
    assert picks("section:trap", row(section="traps"), row()) == [True, False]
    assert picks("outcome:inc", row(outcome="incorrect", trap=True), row()) == [True, False]
    assert picks("item:07", row(), row(item_id="geography-08")) == [True, False]
    assert picks("-bin:geo", row(), row(bin="history")) == [False, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("conf>", "conf wants a number"),
        ("conf>101", "conf wants a number"),
        ("conf>x", "conf wants a number"),
        ("-", "a minus leaves out"),
        ('"two words', "a quote opens"),
        ('bin:"x', "a quote opens"),
        ("bin:", "bin: wants a name"),
        ('bin:""', "bin: wants a name"),
        ("bni:physics", "there is no bni:"),
        ("outcome:rihgt", "no outcome rihgt"),
    ],
)
def test_a_fault_is_said(text: str, said: str) -> None:
    with pytest.raises(SelfdiagError, match=said):
        read_filter(text)


WORDS = st.text(alphabet=st.characters(exclude_characters='"'), min_size=1, max_size=20)
TERMS = st.sampled_from(
    [
        "wrong",
        "right",
        "trap",
        "missed",
        "abstained",
        "conf>80",
        "conf<=20",
        "bin:geo",
        "outcome:ref",
        "item:07",
        "congo",
    ]
)
ROWS = st.builds(
    row,
    outcome=st.sampled_from(OUTCOMES),
    trap=st.booleans(),
    confidence=st.none() | st.integers(0, 100),
    answer=st.none() | st.text(max_size=20) | st.sampled_from(HOSTILE),
    bin=st.sampled_from(["geography", "history", "", *HOSTILE]),
)


@given(st.text(max_size=60) | st.lists(TERMS | st.text('"-: confbin<>=09', max_size=8)).map(" ".join), ROWS)
def test_any_text_is_a_filter_or_a_fault_in_one_plain_line(text: str, one: ItemRow) -> None:
    said = ""
    try:
        assert read_filter(text)(one) in {True, False}
    except SelfdiagError as fault:
        said = str(fault)
    assert not said or said.isprintable()


@given(TERMS, ROWS)
def test_a_minus_leaves_out_what_a_term_picks(term: str, one: ItemRow) -> None:
    assert read_filter(f"-{term}")(one) != read_filter(term)(one)


@given(st.lists(TERMS, min_size=1, max_size=5), ROWS)
def test_every_term_must_hold(terms: list[str], one: ItemRow) -> None:
    assert read_filter(" ".join(terms))(one) == all(read_filter(term)(one) for term in terms)


@given(WORDS)
def test_quotes_take_any_text_as_it_stands(text: str) -> None:
    assert picks(f'"{text}"', row(answer=f"so {text} it is")) == [True]


@given(st.lists(ROWS, max_size=12), st.sampled_from(COLUMNS), st.booleans())
def test_sorting_loses_no_row_and_puts_missing_confidences_last(rows: list[ItemRow], by: str, backwards: bool) -> None:
    ordered = sorted_rows(rows, by, backwards=backwards)  # type: ignore[arg-type]
    assert sorted(map(id, ordered)) == sorted(map(id, rows))
    if by == "conf":
        stated = [one.record.confidence for one in ordered]
        known = [value for value in stated if value is not None]
        assert stated[: len(known)] == sorted(known, reverse=not backwards)


def test_what_calls_for_a_look_comes_first() -> None:
    rows = [
        row(outcome="correct"),
        row(outcome="abstained"),
        row(outcome="incorrect"),
        row(outcome="incorrect", trap=True),
    ]
    assert [one.word for one in sorted_rows(rows, "outcome")] == ["missed", "wrong", "abstained", "right"]


@pytest.mark.parametrize("outcome", [*OUTCOMES, "answered"])
def test_TUI_16_every_outcome_has_a_glyph_and_a_word(outcome: str) -> None:
    glyph, word, _ = shown(record(outcome=outcome))
    assert len(glyph) == 1 and word.isprintable() and len(word) <= 9


def test_rows_stand_in_the_order_of_the_plan_and_the_last_record_counts(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=4, traps=1)
    run = read_run(folder)
    first = run.records[0]
    again = msgspec.structs.replace(first, answer="on second thought", outcome="incorrect")
    stray = msgspec.structs.replace(first, call_id="trial", section="trial")
    with (folder / RECORDS).open("ab") as file:
        for one in (stray, again):
            file.write(msgspec.json.encode(one) + b"\n")
    rows = item_rows(read_run(folder))
    assert [one.record.call_id for one in rows] == [call.call_id for call in run.manifest.plan] + ["trial"]
    assert rows[0].record.answer == "on second thought"
    assert read_filter("second thing wrong")(rows[0])  # answer and question
