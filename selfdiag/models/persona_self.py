"""What a persona says of itself when a self-assessment asks it."""

from __future__ import annotations

import msgspec

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.self_assessment import CriterionName, SelfAssessment, Statement
from selfdiag.models.persona_characters import Character
from selfdiag.models.persona_fates import declined
from selfdiag.models.persona_forms import REASON, Said

REASON_PART = '"reason"'
"""Stands in the system text when a second part with a reason is asked for."""


class _Rated(msgspec.Struct, frozen=True, kw_only=True):
    """What a rating asks for: ``neutral`` is its wording without praise."""

    criterion: CriterionName
    reverse: bool
    neutral: str


class SelfReports:
    """Replies to statements and ratings; each depends on the prompt's text, and on a seed where calls are warm."""

    def __init__(self, character: Character, assessed: SelfAssessment, order: SeededOrder) -> None:
        self._character = character
        self._order = order
        self._asked: dict[str, Statement | _Rated] = {
            wording: statement for statement in assessed.statements for wording in statement.wordings
        }
        for rating in assessed.ratings:
            asked = _Rated(criterion=rating.criterion, reverse=rating.reverse, neutral=rating.text)
            self._asked[rating.text] = asked
        for pair in assessed.framing:
            asked = _Rated(criterion=pair.criterion, reverse=False, neutral=pair.neutral)
            self._asked |= {pair.neutral: asked, pair.affirming: asked}

    def said(self, system: str, user: str, warmth: tuple[str, ...]) -> Said | None:
        """Return the reply to a statement or rating, None when the user turn is neither.

        ``warmth`` is what a reply may vary with beside its prompt: the call's seed, or nothing at temperature 0.
        """
        asked = self._asked.get(user)
        if asked is None:
            return None
        if self._order.pick(100, "withhold", user, *warmth) < 100 * self._character.withholds:
            answer = declined(self._character).answer
        elif isinstance(asked, Statement):
            answer = self._opinion(asked, user, warmth)
        else:
            answer = self._number(asked, user, warmth)
        parts: dict[str, str | int] = {"answer": answer}
        if REASON_PART in system:
            parts["reason"] = REASON
        return Said(kind="statement" if isinstance(asked, Statement) else "rating", parts=parts)

    def _opinion(self, statement: Statement, wording: str, warmth: tuple[str, ...]) -> str:
        image = self._character.image
        replies = image.absolutes if statement.domain == "SDQ" else image.insight
        return replies[self._order.pick(len(replies), "opinion", wording, *warmth)]

    def _number(self, rated: _Rated, text: str, warmth: tuple[str, ...]) -> str:
        image = self._character.image
        off = image.spread[self._order.pick(len(image.spread), "spread", rated.neutral, *warmth)]
        hundredths = min(max(round(100 * image.claims[rated.criterion]) + off, 0), 100)
        if text != rated.neutral:
            hundredths = min(hundredths + image.lift[self._order.pick(len(image.lift), "lift", text, *warmth)], 100)
        if rated.reverse and image.heeds_reversal:
            hundredths = 100 - hundredths
        return f"{hundredths / 100:.2f}"
