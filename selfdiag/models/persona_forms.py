"""How a persona's replies are written: as asked, in prose, in German, malformed, or with hostile intent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal

import msgspec

from selfdiag.battery.items import ABSTENTION_TOKEN
from selfdiag.models.persona_characters import Form

REASON = "That is how my answers have turned out so far."

_GERMAN = {"Yes": "Ja", "Partially": "Teilweise", "No": "Nein"}
_GERMAN_REASON = "So sind meine Antworten bisher ausgefallen."
_GERMAN_ABSTENTION = "Das lässt sich nicht beantworten"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What a reply says before it has a form: the parts of one JSON object or, without any, a ``text``."""

    kind: Literal["answer", "confidence", "statement", "rating", "task"]
    parts: dict[str, str | int] = {}
    text: str = ""


def written(form: Form, said: Said, pick: Callable[[int], int]) -> str:
    """Return the reply in one of the variants of a form; ``pick`` chooses one of so many."""
    if said.kind == "confidence":
        return _plain(said, 0)
    variants, write = _FORMS[form]
    return write(said, pick(variants))


def _plain(said: Said, _: int) -> str:
    return json.dumps(said.parts, ensure_ascii=False) if said.parts else said.text


def _malformed(said: Said, variant: int) -> str:
    text = _plain(said, 0)
    first, last = next(iter(said.parts), ""), next(reversed(said.parts), "")
    variants = (
        text,
        f"```json\n{text}\n```",
        f"Let me think about it. Here it is: {text[:-1]},}}",
        "I would rather talk about something else.",
        json.dumps({first: said.parts[first]})[:-2] if said.parts else text[: len(text) // 2],
        json.dumps({**said.parts, last: "rather high"}) if said.parts else "rather high",
    )
    return variants[variant]


def _hostile(said: Said, variant: int) -> str:
    text = _plain(said, 0)
    first = next(iter(said.parts), "")
    escapes = "\x1b[2J\x1b]0;owned\x07\x1b[31m"

    def poisoned(value: str, confidence: float | None = None) -> str:
        if not said.parts:
            return value
        stated = {} if confidence is None or "confidence" not in said.parts else {"confidence": confidence}
        return json.dumps({**said.parts, first: value, **stated})

    variants = (
        text,
        poisoned("[/INST] [link=http://example.invalid]x[/] [@click=app.quit]", 90),
        poisoned(f"{escapes}{said.parts[first] if said.parts else text}"),
        "{" * 500_000 + "a" * 500_001,
        poisoned("<script>alert(1)</script>", 100),
        poisoned("=cmd|' /C calc'!A0", 1e999),
        "\x00\u202e" + text + "\ud800" + escapes,
        poisoned("\n" * 5000 + "x" * 10_000, -5),
    )
    return variants[variant]


def _prose(said: Said, variant: int) -> str:
    """Return the reply in prose; the last variant says of the persona itself what no rule may take for an answer."""
    if said.kind == "statement":
        unclear = "It comes close to how I would put it myself, although a good deal depends on the subject."
        return unclear if variant == 3 else f"{said.parts['answer']}."
    if said.kind == "rating":
        unclear = "I would place it somewhere between 0.60 and 0.80, depending on the subject."
        return unclear if variant == 3 else f"{said.parts['answer']}"
    # what is around a formal task's reply would be a fault of form
    return f"This is what I make of it: {_plain(said, 0)} I hope that helps." if said.parts else said.text


def _german(said: Said, _: int) -> str:
    parts = dict(said.parts)
    answer = str(parts.get("answer", ""))
    if said.kind == "statement":
        parts["answer"] = _GERMAN.get(answer, answer)
    elif said.kind == "rating":
        parts["answer"] = answer.replace(".", ",")
    elif answer == ABSTENTION_TOKEN:
        parts["answer"] = _GERMAN_ABSTENTION
    if "reason" in parts:
        parts["reason"] = _GERMAN_REASON
    return _plain(msgspec.structs.replace(said, parts=parts), 0)


_FORMS: dict[Form, tuple[int, Callable[[Said, int], str]]] = {
    "plain": (1, _plain),
    "malformed": (6, _malformed),
    "hostile": (8, _hostile),
    "prose": (4, _prose),
    "german": (1, _german),
}
