"""Files of answers, read into columns."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfdiag.runs.columns import item_number
from selfdiag.runs.importers import Answers, read_answers, read_raw
from selfdiag.runs.table_file import parse_mapping
from selfdiag.safety import SelfdiagError


def record(call: str, **fields: object) -> str:
    usual = {
        "v": 1,
        "call_id": call,
        "item_id": call,
        "bin": "physics",
        "difficulty": "easy",
        "trap": False,
        "family": None,
        "section": "probes",
        "prompt_sha256": "",
        "outcome": "correct",
        "confidence": 80,
        "flags": [],
    }
    return json.dumps(usual | fields)


def records(path: Path, *lines: str, end: str = "\n") -> Answers:
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return read_answers(path, {})


def test_the_last_record_of_a_call_counts(tmp_path) -> None:
    found = records(
        tmp_path / "records.jsonl",
        record("a", outcome="error", confidence=None),
        record("b", confidence=40),
        record("a", outcome="incorrect", confidence=90),
    )
    assert found.columns.outcome == ("correct", "incorrect")
    assert found.columns.confidence.tolist() == [0.4, 0.9]


def test_other_sections_than_probes_and_traps_are_left_out(tmp_path) -> None:
    found = records(
        tmp_path / "records.jsonl",
        record("t", section="trial"),
        record("a", flags=["free_text"], outcome="abstained", confidence=None),
        record("x", section="traps", trap=True),
        record("f", section="fresh-check"),
    )
    columns = found.columns
    assert columns.outcome == ("abstained", "correct")
    assert columns.trap.tolist() == [False, True]
    assert columns.free_text.tolist() == [True, False]
    assert np.isnan(columns.confidence[0])


def test_a_torn_last_line_is_left_out_and_said(tmp_path) -> None:
    found = records(tmp_path / "records.jsonl", record("a"), record("b")[:40], end="")
    assert len(found.columns) == 1
    assert found.notes == ("line 2 is torn and was left out",)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (record("b", outcome="great"), "line 2: not a record"),
        (record("b", confidence=140), "line 2: column 'confidence': '140' is outside 0-100"),
        (record("b", confidence="80"), "line 2: not a record"),
        ("{}", "line 2: not a record"),
    ],
)
def test_a_broken_record_is_named(tmp_path, broken: str, words: str) -> None:
    with pytest.raises(SelfdiagError, match=words.replace("'", ".")):
        records(tmp_path / "records.jsonl", record("a"), broken, record("c"))


def test_a_run_that_states_fractions_keeps_its_surest_answers(tmp_path) -> None:
    lines = [record(str(i), confidence=90, flags=["scale_guess"]) for i in range(5)]
    found = records(tmp_path / "records.jsonl", *lines, record("z", confidence=1, flags=["ambiguous_scale"]))
    assert found.columns.confidence[-1] == 1.0
    assert "1 readings of 1 count as 100" in found.notes[0]


def test_a_table_may_begin_with_blank_lines_and_a_byte_order_mark(tmp_path) -> None:
    path = tmp_path / "excel.csv"
    path.write_bytes(b"\xef\xbb\xbf\r\n\r\nconfidence;correct\r\n80;1\r\n\r\n70;0\r\n")
    found = read_answers(path, {})
    assert found.columns.confidence.tolist() == [0.8, 0.7]
    assert found.columns.outcome == ("correct", "incorrect")


def test_quoted_line_feeds_do_not_shift_the_line_that_is_named(tmp_path) -> None:
    path = tmp_path / "quoted.csv"
    path.write_text('confidence,correct,raw\n80,1,"two\nlines"\n300,1,x\n', encoding="utf-8")
    with pytest.raises(SelfdiagError, match="line 4: column 'confidence': '300' is outside"):
        read_answers(path, {})


def test_a_member_that_the_first_object_leaves_out_is_still_a_column(tmp_path) -> None:
    path = tmp_path / "sparse.jsonl"
    path.write_text('{"correct": 1}\n{"correct": 0, "confidence": 70}\n', encoding="utf-8")
    assert np.isnan(read_answers(path, {}).columns.confidence[0])


def test_bytes_that_are_no_text_are_named(tmp_path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(b"model,confidence,correct\nMeier,80,1\nM\xfcller,80,1\n")
    with pytest.raises(SelfdiagError, match="not UTF-8 text"):
        read_answers(path, {})
    path.write_bytes("confidence,correct\n80,1\n".encode("utf-16"))
    with pytest.raises(SelfdiagError, match="UTF-16: save the file as UTF-8"):
        read_answers(path, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('confidence,correct,note\n90,1,ok\n80,0,"oops\n70,1,fine\n', "line 3: quotes that do not fit"),
        ('model,confidence,correct\n"say \\"",90,1\n"b",20,0\n', "line 2: quotes that do not fit"),
        ('[{"confidence": 90, "correct": 1}]', "line 1: a JSON array"),
        ('{"confidence": 0.9, "confidence": 0.1, "correct": 1}', "line 1: 'confidence' stands there twice"),
        ("confidence,correct\n90,1\n,\n", "line 3"),
        ("confidence,correct\r80,1\r", "line 1"),
    ],
)
def test_what_nobody_can_read_for_sure_is_refused(tmp_path, text: str, words: str) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(text, encoding="utf-8", newline="")
    if words == "line 3":  # a row of nothing but delimiters is a row without a label
        assert read_answers(path, {}).columns.outcome == ("correct", "unparsed")
        return
    with pytest.raises(SelfdiagError, match=words):
        read_answers(path, {})


def test_a_member_that_comes_late_counts_for_every_row(tmp_path) -> None:
    rows = [{"confidence": 80, "correct": 1}] * 60 + [{"confidence": 80, "correct": 0, "trap": True}] * 10
    for order in (rows, rows[::-1]):
        path = tmp_path / "late.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in order), encoding="utf-8")
        assert int(read_answers(path, {}).columns.trap.sum()) == 10


def test_rows_without_an_item_are_items_of_their_own_in_every_file(tmp_path) -> None:
    numbers = []
    for name in ("a.csv", "b.csv"):
        path = tmp_path / name
        path.write_text("confidence,correct\n80,1\n70,0\n", encoding="utf-8")
        numbers += read_answers(path, {}).columns.item.tolist()
    assert len(set(numbers)) == 4


def test_names_are_trimmed_and_one_column_may_stand_for_two_things(tmp_path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text('{"p": 80, "ok": 1, "m": "x "}\n{"p": 70, "ok": 0, "m": "x"}\n', encoding="utf-8")
    found = read_answers(path, parse_mapping("conf=p,correct=ok,model=m,bin=m"))
    assert found.model == found.columns.bin == ("x", "x")


def test_raw_replies_may_be_objects_already(tmp_path) -> None:
    path = tmp_path / "raw.jsonl"
    path.write_text('{"raw": {"answer": "5", "confidence": 80}, "item": 3}\n{"raw": null}\n', encoding="utf-8")
    replies = list(read_raw(path, parse_mapping("raw=raw")))
    assert [(reply.raw, reply.item) for reply in replies] == [('{"answer": "5", "confidence": 80}', "3"), ("", "")]


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_items_keep_apart(first_bin: str, first: str, second_bin: str, second: str) -> None:
    same = (first_bin, first) == (second_bin, second)
    if "\x1f" in first_bin + first + second_bin + second:
        return
    numbers = item_number(first_bin, first), item_number(second_bin, second)
    assert (numbers[0] == numbers[1]) is same
