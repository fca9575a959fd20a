"""The probability of an answer's tokens."""

from __future__ import annotations

import math

import pytest

from selfdiag.elicit.token_confidence import answer_probability

HALF, FIFTH, SURE = math.log(0.5), math.log(0.2), 0.0
Tokens = list[tuple[str, float]]


@pytest.mark.parametrize(
    ("tokens", "answer", "probability"),
    [
        ([('{"answer": "', -3.0), ("Pa", HALF), ("ris", FIFTH), ('", "confidence": 90}', -3.0)], "Paris", 0.1),
        # a token that holds a part of the answer counts whole, at both ends; its neighbours do not
        ([('{"answer":', -3.0), (' "Pa', HALF), ("ris", FIFTH), ('"}', -3.0)], "Paris", 0.1),
        ([('{"answer": "', -3.0), ("Par", HALF), ('is"', FIFTH), ("}", -3.0)], "Paris", 0.1),
        # one answer after another: the last; a word before its key does not count
        ([("Paris?", -3.0), (' "answer": ', -3.0), ("Paris", HALF)], "Paris", 0.5),
        ([('"answer": "', SURE), ("Rom", HALF), ('" no, "answer": "', SURE), ("Rom", FIFTH)], "Rom", 0.2),
        # the key may stand without quotes and with other signs
        ([("ANSWER： ", SURE), ("7", HALF)], "7", 0.5),
        ([("answer = ", SURE), ("7", HALF)], "7", 0.5),
        # with a key, only what stands right behind it
        ([('"answer": "', SURE), ("not ", HALF), ("Rom", FIFTH)], "Rom", None),
        ([('"answer": ', SURE), ('"', SURE), ("Rom", FIFTH)], "Rom", 0.2),
        # without a key, its first place
        ([("It is ", SURE), ("7", HALF), (" or ", SURE), ("7", FIFTH)], "7", 0.5),
        ([("7", HALF), (" it is", FIFTH)], "7", 0.5),
        # as JSON writes it
        ([('{"answer": "', SURE), ('a \\"b\\"', HALF), ('"}', SURE)], 'a "b"', 0.5),
        ([('{"answer": "', SURE), ("caf\\u00e9", HALF), ('"}', SURE)], "café", 0.5),
        ([('{"answer": "', SURE), ("é \\\\ x", HALF), ('"}', SURE)], "é \\ x", 0.5),
        ([("no such word", HALF)], "Rom", None),
        ([("Rom", HALF)], "", None),
        ([("Rom", HALF)], None, None),
        ([], "Rom", None),
        # a token without text, such as the first bytes of a character, counts within the answer and not beside it
        ([("", -3.0), ("R", HALF), ("", FIFTH), ("om", SURE), ("", -3.0)], "Rom", 0.1),
    ],
)
def test_the_tokens_of_the_answer_and_no_others(tokens: Tokens, answer: str | None, probability: float | None) -> None:
    assert answer_probability(tokens, answer) == (None if probability is None else pytest.approx(probability))


@pytest.mark.parametrize(
    ("logprob", "probability"), [(0.5, 1.0), (-math.inf, 0.0), (math.nan, None), (math.inf, 1.0), (HALF, 0.5)]
)
def test_what_is_no_logarithm_of_a_probability(logprob: float, probability: float | None) -> None:
    assert answer_probability([("Rom", logprob)], "Rom") == probability
