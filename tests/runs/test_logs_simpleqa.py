"""SimpleQA-style results: the forms in which graders leave their verdict."""

import numpy as np
import pytest
from tool_logs import outcomes, read, write_lines

GRADES = [("CORRECT", "A", "correct"), ("INCORRECT", "B", "incorrect"), ("NOT_ATTEMPTED", "C", "abstained")]


def reply(number: int) -> str:
    return f"Answer: Paris\nConfidence: {60 + number}%"


@pytest.mark.parametrize("form", ["word", "letter", "flags", "score_name"])
def test_every_form_of_the_verdict_is_read(tmp_path, form: str) -> None:
    rows = []
    for number, (word, letter, _) in enumerate(GRADES):
        row = {"problem": f"question {number}", "answer": "Paris", "predicted_answer": reply(number)}
        if form == "flags":
            row |= {f"is_{other.lower()}": other == word for other, _, _ in GRADES}
        else:
            row |= {
                "word": {"grade": word},
                "letter": {"grade_letter": letter},
                "score_name": {"score_name": f"is_{word.lower()}"},
            }[form]
        rows.append(row)
    found = read(write_lines(tmp_path / "simpleqa.jsonl", *rows))
    assert list(found.columns.outcome) == [outcome for _, _, outcome in GRADES]
    assert found.columns.confidence.tolist() == pytest.approx([0.6, 0.61, 0.62])


def test_a_member_confidence_counts_before_the_reply(tmp_path) -> None:
    rows = [
        {
            "question": f"q{n}",
            "response": reply(n),
            "grade": "CORRECT",
            "confidence": 0.25,
            "metadata": {"topic": "art"},
        }
        for n in range(3)
    ]
    del rows[1]["confidence"]
    found = read(write_lines(tmp_path / "simpleqa.jsonl", *rows))
    assert found.columns.confidence.tolist()[::2] == [0.25, 0.25] and np.isnan(found.columns.confidence[1])
    assert set(found.columns.bin) == {"art"}
    assert any("1 of 3 answers state no confidence" in note and "line 2" in note for note in found.notes)


def test_a_grade_that_failed_is_shown_and_not_wrong(tmp_path) -> None:
    rows = [{"problem": f"q{n}", "response": reply(n), "grade": "INCORRECT"} for n in range(2)]
    rows += [
        {"problem": "q7", "response": reply(7), "grade": "GRADING_\u202eFAILED"},
        {"problem": "q8", "response": reply(8)},
    ]
    found = read(write_lines(tmp_path / "simpleqa.jsonl", *rows))
    assert outcomes(found) == {"incorrect": 2, "unparsed": 2}
    (note,) = (note for note in found.notes if "no verdict" in note)
    assert "line 3: grade GRADING_" in note and "line 4: no score" in note and "\u202e" not in note


def test_a_table_of_our_own_stays_a_table(tmp_path) -> None:
    rows = [{"grade": "A", "correct": n % 2, "confidence": 70} for n in range(4)]
    assert outcomes(read(write_lines(tmp_path / "own.jsonl", *rows))) == {"correct": 2, "incorrect": 2}
    named = [{"grade": "A", "label": n % 2, "confidence": 70} for n in range(4)]
    found = read(write_lines(tmp_path / "named.jsonl", *named), "correct=label")
    assert outcomes(found) == {"correct": 2, "incorrect": 2}
