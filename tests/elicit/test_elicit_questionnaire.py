"""Yes, Partially and No in ten languages."""

from __future__ import annotations

import pytest

from selfdiag.elicit.questionnaire import MAX_FIELD, read_rating, read_yes_no


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        *[
            (word, 1.0)
            for word in (
                "Yes",
                "yes.",
                "**Yes**",
                "Ja",
                "Oui",
                "Sí",
                "Sim",
                "Sì",
                "Да",
                "是",
                "はい",
                "예",
                "Yes, I do.",
            )
        ],
        *[
            (word, 0.5)
            for word in ("Partially", "Partly", "Teilweise", "Partiellement", "Parcialmente", "Parzialmente")
        ],
        *[(word, 0.5) for word in ("Em parte", "Частично", "部分", "部分的に", "부분적으로")],
        *[(word, 0.0) for word in ("No", "NO!", "Nein", "Non", "Não", "Нет", "否", "いいえ", "아니요", "Answer: No")],
        ('{"answer":"Partially"}', 0.5),
        ('{"answer":"No","confidence":90}', 0.0),
        ("<think>Yes?</think>No", 0.0),
        ("No<|im_end|>", 0.0),
        ("<think>" + "well, " * 500 + "</think>No", 0.0),
    ],
)
def test_PAR_47_questionnaire_values(raw: str, value: float) -> None:
    assert read_yes_no(raw)[0] == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("As an AI I have no feelings", "refused"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ('{"answer":"I cannot assist with that."}', "refused"),
        ("I don't know", "abstained"),
        ("", "empty"),
        ("<think>Yes", "truncated"),
        ('{"answer":"Ye', "truncated"),
        ("Yes, but only sometimes", "not a reply"),
        ("Yes and no", "not a reply"),
        ("maybe", "not a reply"),
        ("No one agrees", "not a reply"),
        ("No one knows", "abstained"),
        ("3", "not a reply"),
        ('{"confidence":80}', "not a reply"),
        ("yes " * 500, "not a reply"),
    ],
)
def test_PAR_47_missing_with_a_reason(raw: str, reason: str) -> None:
    assert read_yes_no(raw) == (None, reason)


@pytest.mark.parametrize(
    ("raw", "value", "written"),
    [
        ("0.85", 0.85, "0.85"),
        (".85", 0.85, ".85"),
        ("0,85", 0.85, "0,85"),
        ("0.", 0.0, "0"),
        ("0", 0.0, "0"),
        ("1", 1.0, "1"),
        ("1.00", 1.0, "1.00"),
        ("85 %", 0.85, "85 %"),
        ("100%", 1.0, "100%"),
        ("85.5 percent", 0.855, "85.5 percent"),
        ("85/100", 0.85, "85/100"),
        ("3 out of 4", 0.75, "3 out of 4"),
        ("8.5/10", 0.85, "8.5/10"),
        ("**~0.7.**", 0.7, "0.7"),
        ('{"answer": 0.25}', 0.25, "0.25"),
        ('{"answer": "0.25", "reason": "I know"}', 0.25, "0.25"),
        ("<think>0.9?</think>0.4<|im_end|>", 0.4, "0.4"),
    ],
)
def test_a_rating_is_a_share_a_percentage_or_so_many_out_of_so_many(raw: str, value: float, written: str) -> None:
    found, text = read_rating(raw)
    assert found == pytest.approx(value)
    assert text == written


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("85", "out of range"),
        ("1.01", "out of range"),
        ("101%", "out of range"),
        ("5/4", "out of range"),
        ("-0.5", "out of range"),
        ("3/0", "not a number"),
        ("fairly well", "not a number"),
        ("0.8 or so", "not a number"),
        ('{"confidence": 80}', "not a number"),
        ("I cannot assist with that.", "refused"),
        ("I don't know", "abstained"),
        ("", "empty"),
        ("<think>0.5", "truncated"),
    ],
)
def test_no_rating_has_a_reason(raw: str, reason: str) -> None:
    assert read_rating(raw) == (None, reason)


def test_a_field_of_the_greatest_length_is_a_reply_and_a_longer_one_a_remark() -> None:
    assert read_yes_no("yes" + "." * (MAX_FIELD - 3)) == (1.0, "yes")
    assert read_yes_no("yes" + "." * (MAX_FIELD - 2)) == (None, "not a reply")
