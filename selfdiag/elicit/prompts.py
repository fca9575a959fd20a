"""The words a model is asked with: contract, profile slot and question.

The text of this module is versioned: a change of any wording raises ``PROMPT_VERSION``, because prompts
with other words are another measurement.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from selfdiag.battery.items import ABSTENTION_TOKEN, Item, Probe

PROMPT_VERSION = "1"

CONTRACT = (
    "Answer the question in as few words as possible. Your reply has two parts. "
    '"answer" is the answer to the question. "confidence" is a whole number from 0 to 100: how sure you are that '
    "the answer is right. If the question has no correct answer, the answer is exactly "
    f"{ABSTENTION_TOKEN}, and confidence is how sure you are of that. Write the two parts as one JSON object."
)

ANSWER_CONTRACT = (
    "Answer the question in as few words as possible. If the question has no correct answer, the answer is exactly "
    f'{ABSTENTION_TOKEN}. Write your reply as one JSON object with one part, "answer".'
)
"""The contract of a run that asks for the confidence afterwards, or takes it from elsewhere."""

POSTHOC_CONTRACT = (
    "You see a question and an answer that was given to it. How sure are you that the answer is right? "
    'Write your reply as one JSON object with one part, "confidence": a whole number from 0 to 100.'
)

EXAMPLE = '\nThe form of a reply: {{"answer": "<short answer>", "confidence": {value}}}'

SLOT_HEADING = "Your measured accuracy by topic, from earlier tests of you:"

_PARTS: dict[str, dict[str, Any]] = {
    "answer": {"type": "string"},
    "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
}


def response_schema(*parts: str) -> dict[str, Any]:
    """Return the shape of a reply for servers that enforce one; its parts come in the order given."""
    return {
        "type": "object",
        "properties": {part: _PARTS[part] for part in parts},
        "required": list(parts),
        "additionalProperties": False,
    }


RESPONSE_SCHEMA = response_schema("answer", "confidence")
"""The usual shape; the answer comes first here too."""


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """What one call says: the system text (contract and slot) and the user turn (the question)."""

    system: str
    user: str

    def sha256(self) -> str:
        """Return the SHA-256 of both texts, separated by a null byte."""
        return hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()


def profile_slot(bins: Sequence[str], claims: Mapping[str, int]) -> str:
    """Return the text of the profile slot.

    Args:
        bins: every topic, in the order of its line.
        claims: claimed accuracy in whole percent for some topics; the others read ``n/a``.
    """
    lines = [f"- {name}: {claims[name]}%" if name in claims else f"- {name}: n/a" for name in bins]
    return "\n".join([SLOT_HEADING, *lines])


def render(
    item: Item,
    paraphrase: int,
    *,
    slot: str = "",
    labelled: bool = False,
    example: int | None = None,
    stated: bool = True,
) -> Prompt:
    """Return the prompt that asks one wording of an item.

    Args:
        item: the probe or trap.
        paraphrase: index of the wording.
        slot: text from ``profile_slot``, or empty for no slot.
        labelled: name the question's topic in the user turn.
        example: a confidence value to show in an example reply (0-100); None shows no example.
        stated: ask for the confidence with the answer.
    """
    system = CONTRACT if stated else ANSWER_CONTRACT
    if example is not None:
        system += EXAMPLE.format(value=example)
    if slot:
        system += f"\n\n{slot}"
    user = question(item, paraphrase)
    if labelled:
        user = f"Topic of this question: {item.bin}\n{user}"
    return Prompt(system=system, user=user)


def render_posthoc(asked: str, answer: str) -> Prompt:
    """Return the prompt that asks how sure the model is of an answer it gave.

    Args:
        asked: the question as it was asked.
        answer: the answer as it was read; it is shown as a JSON string, so that nothing in it can pass for ours.
    """
    return Prompt(system=POSTHOC_CONTRACT, user=f"{asked}\nAnswer given: {json.dumps(answer, ensure_ascii=False)}")


def question(item: Item, paraphrase: int) -> str:
    """Return one wording of an item, with its options where it has any."""
    text = item.questions[paraphrase]
    if isinstance(item, Probe) and item.options:
        letters = (f"{chr(ord('A') + index)}) {option}" for index, option in enumerate(item.options))
        text = "\n".join([text, *letters])
    return text
