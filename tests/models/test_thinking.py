"""What is noted of a model's thinking, and what is advised about keys."""

from typing import Any

import pytest

from selfdiag.models.base import Call
from selfdiag.models.service_keys import key_advice
from selfdiag.models.thinking import REFUSED, ThinkingNote

AGAINST = "the model thinks although it was asked not to"


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        ([], ""),
        ([("off", False)], ""),
        ([("off", True), ("off", False)], AGAINST),
        ([("on", False)], "asked for, but the server refuses the setting"),
        ([("low", False), ("high", True), ("low", False)], ""),
        ([("on", True), ("off", False)], ""),
        ([("off", True), ("on", False)], "asked for, but the server refuses the setting"),
    ],
)
def test_only_what_differs_is_noted(replies: list[tuple[Any, bool]], words: str) -> None:
    note = ThinkingNote()
    for think, thought in replies:
        note.add(Call(system="s", user="u", think=think), thought=thought)
    assert note.words(REFUSED) == words
    assert note.words() == words.replace(REFUSED, "no reply shows any")


def test_the_key_that_is_meant_is_named() -> None:
    assert key_advice("gemini", own_service=True, sent=True) == "check the key in GEMINI_API_KEY"
    assert key_advice("gemini", own_service=False, sent=True) == "check the key in SELFDIAG_GEMINI_API_KEY"
    own = key_advice("gemini", own_service=True, sent=False)
    assert own == "no key was sent: run 'selfdiag keys set gemini' or set GEMINI_API_KEY"
