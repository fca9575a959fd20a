"""Texts without what nobody sees, and without the marks that enclose them."""

from __future__ import annotations

import pytest

from selfdiag.elicit.choices import option_texts
from selfdiag.elicit.textforms import clean_text, last_box, unwrap


@pytest.mark.parametrize(
    ("text", "clean", "flags"),
    [
        ("Paris", "Paris", ()),
        ("東京", "東京", ()),
        ("two\nlines\tand a tab", "two\nlines\tand a tab", ()),
        ("Pa\x07ris", "Paris", ("control_characters",)),
        ("Paris\x07", "Paris", ("control_characters",)),
        ("\x1b[1mParis\x1b[0m", "Paris", ("control_characters",)),
        ("Pa\u200bris", "Paris", ("invisible_characters",)),
        ("Paris\u200b", "Paris", ("invisible_characters",)),
        ("東\u200b京", "東京", ("invisible_characters",)),
        ("Par\ud800", "Par\ufffd", ("lone_surrogates",)),
        ("\x07\u200b\ud800", "\ufffd", ("control_characters", "invisible_characters", "lone_surrogates")),
    ],
)
def test_what_nobody_sees_is_removed_and_said(text: str, clean: str, flags: tuple[str, ...]) -> None:
    assert clean_text(text) == (clean, flags)


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("**Paris**", "Paris"),
        ("**Paris**.", "Paris"),
        ("“Paris”", "Paris"),
        ("'\"Paris\"'", "Paris"),
        ("```text\nParis\n```", "Paris"),
        ("$$x$$", "x"),
        # marks that enclose parts
        ('"a" and "b"', '"a" and "b"'),
        ("**a** and **b**", "**a** and **b**"),
        # an inner opening mark does not matter, an inner closing mark does
        ("«a« b»", "a« b"),
        ("«a» b»", "«a» b»"),
        ("„a“ b“", "„a“ b“"),
        ('""', '""'),
        ('"a"', "a"),
        ("**", "**"),
        ("*a*", "a"),
        ("(a)", "(a)"),
    ],
)
def test_only_what_encloses_the_whole_is_taken_off(text: str, inner: str) -> None:
    assert unwrap(text) == inner


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{4}", "4"),
        (r"\boxed{4} or \boxed{5}", "5"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{{a}{b}} }", "{a}{b}"),
        (r"\boxed{4} and \boxed{5", "4"),
        (r"\boxed{4", None),
        ("4", None),
    ],
)
def test_the_last_box_that_is_closed(text: str, content: str | None) -> None:
    assert last_box(text) == content


def test_letters_before_options_go_only_when_all_are_in_order() -> None:
    assert option_texts(("A) hammer", "B) both")) == ("hammer", "both")
    assert option_texts(("B) hammer", "C) both")) == ("b hammer", "c both")
    # folding takes the A for an article
    assert option_texts(("A) hammer", "C) both")) == ("hammer", "c both")
