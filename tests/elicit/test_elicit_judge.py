import pytest
from elicit_probes import TRAP, probe
from hypothesis import given
from hypothesis import strategies as st

from selfdiag.elicit.grading import grade
from selfdiag.elicit.judge import read_opinion, render_judge, undecided
from selfdiag.elicit.profile_judge import PROFILE_JUDGE_SCHEMA, read_letter, render_profile_judge
from selfdiag.elicit.reading import Reading


def is_undecided(item, answer: str) -> bool:
    found = grade(item, Reading(answer=answer, parse="strict"))
    return undecided(item, answer, found.outcome, found.rule, found.flags)


@pytest.mark.parametrize(
    ("item", "answer", "expected"),
    [
        (probe("text", "Danube"), "the mighty Danube", True),
        (probe("text", "Danube"), "Danub", True),
        (probe("text", "Danube"), "Rhine", False),
        (probe("text", "Danube"), "Danube", False),  # right: nothing to decide
        (probe("text", "Vienna"), "Вена", True),
        (probe("number", "24"), "plenty of them", True),
        (probe("number", "24"), "25", False),
        (probe("number", "1.5"), "1,500", True),
        (probe("date", "1990-05-07"), "in the spring of that year", True),
        (probe("date", "1990-05-07"), "1990-05-08", False),
        (probe("expression", "x**2"), "the parabola: see above!", True),
        (probe("expression", "x**2"), "x**3", False),
        (probe("choice", "Paris", options=("Paris", "Rome")), "the capital of France", True),
        (probe("choice", "Paris", options=("Paris", "Rome")), "Rome", False),
        (probe("code", "24"), "it prints twenty-four", False),
        (probe("text", "Danube"), "UNANSWERABLE", False),
        (TRAP, "the mighty Danube", False),
    ],
)
def test_only_what_the_rules_cannot_settle_is_undecided(item, answer: str, expected: bool) -> None:
    assert is_undecided(item, answer) is expected


@pytest.mark.parametrize(
    ("raw", "opinion"),
    [
        ('{"answer": "same"}', "same"),
        ('{"answer": "Different."}', "different"),
        ('```json\n{"answer": "same"}\n```', "same"),
        ("different", "different"),
        ("Answer: same", "same"),
        ('<think>they look different</think>{"answer": "same"}', "same"),
        ('{"answer": "same or different"}', None),
        ('{"answer": "yes"}', None),
        ('{"answer": "sa', None),
        ("", None),
        ("the same thing could be said of both", None),
    ],
)
def test_a_judge_says_one_of_two_words_or_nothing(raw: str, opinion: str | None) -> None:
    assert read_opinion(raw) == opinion


def test_what_a_limit_cut_is_no_opinion() -> None:
    assert read_opinion("<think>the candidate is the same", cut=True) is None


@given(st.text(max_size=800))
def test_a_candidate_cannot_leave_its_line(answer: str) -> None:
    prompt = render_judge(probe("text", "Danube"), "Which river?", answer)
    lines = prompt.user.split("\n")
    assert len(lines) == 3
    assert lines[2].startswith('Candidate: "')
    assert "confidence" not in prompt.system


def test_a_judge_of_profiles_sees_three_lists_without_what_is_missing() -> None:
    prompt = render_profile_judge({"physics": 80, "logic": None}, {"physics": 0, "logic": 55}, {"logic": 100})
    assert prompt.user == (
        "First test:\n- physics: 80%\n\nList A:\n- physics: 0%\n- logic: 55%\n\nList B:\n- logic: 100%"
    )
    assert "own" not in prompt.system.split() and "shuffled" not in prompt.system
    assert PROFILE_JUDGE_SCHEMA["properties"]["answer"]["enum"] == ["A", "B"]
    assert PROFILE_JUDGE_SCHEMA["additionalProperties"] is False


@pytest.mark.parametrize(
    ("raw", "letter"),
    [
        ('{"answer": "A"}', "A"),
        ('{"answer": "b"}', "B"),
        ('{"answer": "List B"}', "B"),
        ("A", "A"),
        ("**List A**", "A"),
        ("Answer: B", "B"),
        ('{"answer": "A or B"}', None),
        ('{"answer": "C"}', None),
        ('{"answer": "A', None),
        ('{"confidence": 90}', None),
        ("", None),
        ("B" + " " * 200 + "is not the second test", "B"),
    ],
)
def test_a_judge_of_profiles_names_one_letter_or_nothing(raw: str, letter: str | None) -> None:
    assert read_letter(raw) == letter


def test_a_hundred_characters_of_a_plain_reply_are_read() -> None:
    assert read_letter("B" + " " * 99 + "and more") == "B"
    assert read_letter("B" + " " * 98 + "and more") is None


def test_a_letter_that_a_limit_cut_is_none() -> None:
    assert read_letter("A", cut=True) is None
