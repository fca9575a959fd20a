"""Any text at all gives a reading and a grade, and the ones that should agree do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import unicodedata
from fractions import Fraction

import fuzz_reading
import pytest
from elicit_probes import TRAP, graded, probe, right
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selfdiag.elicit.confidence import read_confidence
from selfdiag.elicit.grading import grade
from selfdiag.elicit.numbers import read_number
from selfdiag.elicit.questionnaire import read_yes_no
from selfdiag.elicit.reading import Reading, read_reply
from selfdiag.elicit.textforms import fold_text

ITEMS = (
    TRAP,
    probe("number", "8000"),
    probe("number", "5", unit="km", convert=True),
    probe("text", "Paris", aliases=("Lutetia",)),
    probe("choice", "B", options=("Rome", "Paris", "cannot be determined")),
    probe("set", "2, 3, 5"),
    probe("sequence", "red, blue"),
    probe("date", "1990-07-05"),
    probe("expression", "x^2 + 2x + 1"),
    probe("code", "[1, 2]\nNone"),
)
PIECES = [
    *("{", "}", "[", "]", '"', "'", "“", "”", ":", ",", "\\", "\n", " ", "/*", "//", "#", "```json", "```", "|"),
    *('"answer"', '"confidence"', "answer", "confidence", "Answer: ", "Confidence: ", "<think>", "</think>"),
    *(
        "<|channel|>",
        "final",
        "<|message|>",
        "<|im_end|>",
        "\\frac{1}{2}",
        "\\u00e9",
        "\\ud800",
        "\x1b[31m",
        "\u202e",
        "\u200d",
    ),
    *(
        "85",
        "1,234",
        "0.85",
        "NaN",
        "1e999",
        "true",
        "None",
        "-",
        "%",
        "/",
        "^",
        "(",
        ")",
        "sqrt",
        "x",
        "=",
        "½",
        "−",
        "€",
    ),
    *(
        "UNANSWERABLE",
        "I don't know",
        "I can't help with that",
        "Paris",
        "km",
        "m/s^2",
        "July",
        "BC",
        "5",
        "1990",
        "and",
        "the",
    ),
]
text = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join),
)
quiet = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])


@quiet
@given(raw=text, cut=st.booleans())
def test_any_reply_gives_a_reading_and_grades(raw: str, cut: bool) -> None:
    reading = read_reply(raw, cut=cut)
    assert reading.confidence is None or 0 <= reading.confidence <= 100
    answer = reading.answer or ""
    assert not any(unicodedata.category(ch) in ("Cc", "Cs") and ch not in "\n\t" for ch in answer + reading.reasoning)
    answer.encode()
    for item in ITEMS:
        found = grade(item, reading)
        assert found.outcome in ("correct", "incorrect", "abstained", "refused", "unparsed", "truncated", "empty")
        assert grade(item, read_reply(raw, cut=cut)) == found
    assert read_yes_no(raw)[0] in (None, 0.0, 0.5, 1.0)


@quiet
@given(answer=text)
def test_any_answer_gives_a_grade(answer: str) -> None:
    for item in ITEMS:
        found = graded(item, answer)
        assert found.rule
        assert not any(unicodedata.category(ch) == "Cc" and ch not in "\n\t" for ch in found.given)


@quiet
@given(
    answer=st.text(max_size=60),
    confidence=st.integers(2, 100),
    before=st.sampled_from(["", "Sure! ", "```json\n", "<think>{</think>"]),
)
def test_a_proper_reply_reads_back(answer: str, confidence: int, before: str) -> None:
    raw = before + json.dumps({"answer": answer, "confidence": confidence})
    reading = read_reply(raw)
    plain = all(ch.isalnum() or ch in " .-+" for ch in answer)
    if plain and answer.strip() and not answer.strip().startswith("..") and answer.isprintable():
        assert (reading.answer, reading.confidence, reading.truncated) == (answer.strip(), confidence, False)


@quiet
@given(
    value=st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        text,
        st.lists(st.integers()),
        st.dictionaries(st.text(), st.integers()),
    )
)
def test_any_value_gives_a_confidence_or_none(value: object) -> None:
    confidence, flags = read_confidence(value)
    assert confidence is None or (type(confidence) is int and 0 <= confidence <= 100)
    assert len(set(flags)) == len(flags)


@quiet
@given(number=st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**12), max_value=10**12))
def test_numbers_read_back_exactly(number: object) -> None:
    value = Fraction(str(number))
    for form in (
        f"{number}",
        f"{number:,}",
        f"x = {number}",
        f"${number}$",
        f"\\boxed{{{number}}}",
        f"The answer is {number}.",
    ):
        found = read_number(form)
        assert found is not None
        assert found.value == value
    assert right("number", str(number), f"{number:,}".replace(",", "\u202f"))


@quiet
@given(top=st.integers(-999, 999), bottom=st.integers(1, 999), factor=st.integers(1, 99))
def test_fractions_read_back_exactly(top: int, bottom: int, factor: int) -> None:
    assert right("number", f"{top}/{bottom}", f"\\frac{{{top * factor}}}{{{bottom * factor}}}")
    assert not right("number", f"{top}/{bottom}", f"{top * bottom + 1}/{bottom * bottom}")


@quiet
@given(answer=st.text(max_size=60))
def test_folding_is_stable_and_every_text_equals_itself(answer: str) -> None:
    assert (
        fold_text(answer.upper().lower()) == fold_text(answer.upper().lower().upper().lower()) or not answer.isascii()
    )
    folded = fold_text(answer)
    if folded and not set(answer) & set("\\${}"):
        assert grade(probe("text", answer), Reading(answer=answer, parse="strict")).outcome in ("correct", "abstained")


def test_ten_thousand_hostile_replies_have_no_fault() -> None:
    # a process of its own: tracing lines for coverage would make it three times as long
    words = [sys.executable, fuzz_reading.__file__, "--inputs", "10000", "--seed", "0"]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    fuzz = subprocess.run(words, capture_output=True, text=True, check=False, env=path)
    assert (fuzz.returncode, fuzz.stderr) == (0, "")
    assert fuzz.stdout.startswith("10000 inputs of seed 0 in ")
    counts = dict(re.findall(r"(strict|repaired|salvaged|none) (\d+)", fuzz.stdout))
    assert all(int(counts[parse]) >= 50 for parse in ("strict", "repaired", "salvaged", "none"))
    assert sum(map(int, counts.values())) == 10_000


def test_replies_that_once_took_seconds_are_read_at_once() -> None:
    fuzz_reading.load_libraries()
    begin = time.process_time()
    for raw in (
        "//answer: " * 1_700,
        '1990//{"[THINK]' * 66_000,
        "<think>" + "because\\text{<|channel|>percent" * 32_000,
        "<answer>: " + "\t" * 1_000_000,
    ):
        fuzz_reading.check(raw, False, number=11)
    # a tenth of a second each; together more than three before
    assert time.process_time() - begin < fuzz_reading.MAX_SECONDS


def test_the_fuzzer_sees_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsound(raw: str, cut: bool) -> Reading:
        if "}" in raw:
            raise KeyError(raw)
        return Reading(answer="\ud800" if "{" in raw else None, parse="strict", confidence=101 if cut else None)

    monkeypatch.setattr(fuzz_reading, "read_reply", unsound)
    faults = fuzz_reading.run(range(200), seed=0).faults
    assert {fault.split()[3].partition("(")[0] for fault in faults} >= {
        "KeyError",
        "AssertionError",
        "UnicodeEncodeError",
    }
