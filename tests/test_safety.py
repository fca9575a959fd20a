import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfdiag.safety import literal, one_line, redact, remember_secret


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, Ünïcode 日本 ✓", "plain text, Ünïcode 日本 ✓"),
        ("\x1b[2Jx\x07\x00", "\\x1b[2Jx\\x07\\x00"),
        ("a\nb\tc\r", "a\\nb\\tc\\x0d"),
        ("\u202esiraP", "\\u202esiraP"),
        ("Par\u200bis", "Par\\u200bis"),
        ("\U000e0041", "\\ue0041"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("[/INST] [red]x[/]", "[/INST] [red]x[/]"),
        ("\ud800", "\\ud800"),
    ],
)
def test_control_and_direction_characters_are_visible(text: str, shown: str) -> None:
    assert literal(text) == shown


def test_line_feeds_can_be_kept() -> None:
    assert literal("a\n\tb\x1b", keep_newlines=True) == "a\n\tb\\x1b"


def test_a_long_text_is_cut_and_says_so() -> None:
    assert literal("x" * 1005, 5) == "xxxxx… (1,000 more characters)"


@given(st.text(max_size=200))
def test_what_is_shown_is_printable(text: str) -> None:
    joiners = str.maketrans("", "", "\u200c\u200d")
    assert all(char.isprintable() or char.isspace() for char in literal(text).translate(joiners))
    assert "\n" not in one_line(text)
    assert len(one_line(text, 50)) <= 50


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer sk-canary1234567890abcdef",
        "the key sk-canary1234567890abcdef is wrong",
        "x-api-key=canary1234567890",
        "{'x-goog-api-key': 'canary1234567890'}",
        "AIzaSycanary1234567890canary",
    ],
)
def test_everything_shaped_like_a_key_is_taken_out(text: str) -> None:
    assert "canary" not in redact(text)


def test_a_known_key_is_taken_out_whatever_its_shape() -> None:
    remember_secret("correct horse")
    assert redact("said correct horse twice: correct horse") == "said [key] twice: [key]"
    remember_secret("ab")
    assert redact("abacus") == "abacus"
