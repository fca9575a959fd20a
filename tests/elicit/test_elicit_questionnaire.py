"""Yes, Partially and No in ten languages."""

from __future__ import annotations

import pytest

from selfdiag.elicit.questionnaire import read_yes_no


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
