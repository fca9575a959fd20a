"""What a persona does when it is asked for two answers to an item and then to pick one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import msgspec

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import ABSTENTION_TOKEN, Battery, Probe
from selfdiag.models.persona_characters import Character
from selfdiag.models.persona_fates import Fate, declined, fates_of_answered, systematic, wrong_answers

MIXED = 0.5
"""Share of the items it answers to which one of its two answers alone is right."""

_WAYS = ("Solve the task.", "Work out what is asked")
"""How the contracts begin that ask for its first and its second answer."""
_SHOWN = re.compile(r"^Answer A: (?P<first>.*)\nAnswer B: (?P<second>.*)\Z", re.MULTILINE)


class _Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The answers to one item; of ``picks`` the pick knows, and states ``confidence``."""

    answers: tuple[str, str]
    picks: str
    confidence: int


class Pairs:
    """Candidates and picks of a persona, decided before the first call so that shares hold to one item.

    Where one answer of two is right, the pick is right as often as the persona's answers are at that confidence.
    """

    def __init__(self, character: Character, battery: Battery, fates: Mapping[str, Fate], order: SeededOrder) -> None:
        self._picks_first = character.picks_first
        silent = {ABSTENTION_TOKEN, declined(character).answer}
        answering = [probe for probe in battery.probes if fates[probe.id].answer not in silent]
        shuffled = order.shuffled(answering, "pairs")
        is_mixed = systematic([MIXED] * len(shuffled))
        mixed = [probe for probe, one_right in zip(shuffled, is_mixed, strict=True) if one_right]
        choices = fates_of_answered(character, mixed, order)
        self._pairs = {
            probe.id: _Pair(answers=(fates[probe.id].answer,) * 2, picks="", confidence=fates[probe.id].confidence)
            for probe in battery.probes
        }
        for probe, one_right in zip(shuffled, is_mixed, strict=True):
            wrong, other = wrong_answers(probe)
            fate = fates[probe.id]
            if one_right:
                choice = choices[probe.id]
                first_right = order.pick(2, "right answer", probe.id) == 0
                answers = (probe.answer, wrong) if first_right else (wrong, probe.answer)
                self._pairs[probe.id] = _Pair(answers=answers, picks=choice.answer, confidence=choice.confidence)
            elif fate.answer != probe.answer:
                self._pairs[probe.id] = _Pair(answers=(wrong, other), picks=wrong, confidence=fate.confidence)

    def candidate(self, system: str, probe: Probe) -> str | None:
        """Return its answer to a probe, None where the system text does not ask for one of two."""
        way = next((way for way, opening in enumerate(_WAYS) if system.startswith(opening)), None)
        return None if way is None else self._pairs[probe.id].answers[way]

    def pick(self, user: str, probe: Probe) -> tuple[str, int] | None:
        """Return the letter it picks and how sure it is, None where the user turn does not show two answers."""
        shown = _SHOWN.search(user)
        if shown is None:
            return None
        pair = self._pairs[probe.id]
        is_second = not self._picks_first and json.loads(shown["second"]) == pair.picks
        return "AB"[is_second], pair.confidence
