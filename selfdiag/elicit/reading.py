"""What a raw reply says: its answer and its stated confidence."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from selfdiag.elicit.abstention import MAX_REFUSAL_START, abstains, declines
from selfdiag.elicit.confidence import NumberText, read_confidence
from selfdiag.elicit.jsonobject import JsonObject, Members, find_objects
from selfdiag.elicit.reasoning import set_reasoning_aside, without_template_tokens
from selfdiag.elicit.textforms import clean_text, fold_text, unwrap

Parse = Literal["strict", "repaired", "salvaged", "none"]

READING_VERSION = "1"
"""Raised by every change that reads any reply differently."""

MAX_REPLY = 1_000_000
"""Characters of a reply that are read; the rest is dropped and the reply counts as cut."""

MAX_ANSWER = 10_000
"""Characters of an answer that are kept."""

ANSWER_KEYS = (
    frozenset({"answer", "finalanswer", "ans", "youranswer", "myanswer", "shortanswer", "correctanswer"}),
    frozenset({"response", "result", "solution"}),
)
"""Names of the answer's key, folded; those of the second set count where none of the first is there."""

CONFIDENCE_KEYS = (
    frozenset(
        {
            *(
                "confidence",
                "conf",
                "confidencescore",
                "confidencelevel",
                "confidencepercent",
                "confidencepercentage",
            ),
            *(
                "confidencerating",
                "confidencevalue",
                "answerconfidence",
                "yourconfidence",
                "statedconfidence",
            ),
        }
    ),
    frozenset({"certainty", "probability"}),
)
"""Names of the confidence's key, folded, in the same two ranks."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The content of one reply.

    ``answer`` is the answer text or None; ``confidence`` an integer 0-100 or None; ``parse`` says how the
    object was found; ``flags`` name everything unusual; ``truncated`` is True when the reply ends before
    its object or inside a reasoning block; ``reasoning`` is the text of the reasoning blocks.
    """

    answer: str | None = None
    confidence: int | None = None
    parse: Parse = "none"
    flags: tuple[str, ...] = ()
    truncated: bool = False
    reasoning: str = ""


class _Content(msgspec.Struct, frozen=True, kw_only=True):
    """What one object says, before it is chosen."""

    answer: str | None = None
    confidence: int | None = None
    has_answer: bool = False
    flags: tuple[str, ...] = ()


def _fold_key(key: str) -> str:
    return re.sub(r"[\W_]+", "", key[:60].casefold())


def _values(members: Members, ranks: tuple[frozenset[str], ...]) -> list[Any]:
    """Return the values under the first rank of key names that occurs."""
    for names in ranks:
        values = [value for key, value in members if _fold_key(key) in names]
        if values:
            return values
    return []


def _scalar_text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _list_text(values: list[Any]) -> str:
    """Return a list as it would be printed, so that lists of answers and of numbers read alike."""
    parts = []
    for value in values[:2_000]:
        if isinstance(value, list):
            parts.append(_list_text(value))
        elif isinstance(value, NumberText) or not isinstance(value, str):
            parts.append(_scalar_text(value))
        else:
            parts.append(repr(value[:MAX_ANSWER]))
    return f"[{', '.join(parts)}]"


def _answer_text(value: Any) -> tuple[str | None, tuple[str, ...]]:
    """Return the text of an answer of any JSON type, and flags that name its type where it is no string."""
    if value is None:
        return None, ("answer_missing",)
    if isinstance(value, Members):
        return None, ("object_answer",)
    if isinstance(value, list):
        if len(value) == 1 and not isinstance(value[0], (list, Members)):
            text, flags = _answer_text(value[0])
            return text, ("list_answer", *flags)
        if not value or any(isinstance(element, Members) for element in value):
            return None, ("object_answer",) if value else ("answer_missing",)
        return _list_text(value)[:MAX_ANSWER], ("list_answer",)
    if isinstance(value, bool):
        return _scalar_text(value), ("boolean_answer",)
    if isinstance(value, (int, NumberText)):
        value = str(value)
        whole = re.fullmatch(r"(-?\d+)\.0+", value[:MAX_ANSWER])
        if whole:
            return whole[1], ("number_answer", "whole_decimal")
        return value[:MAX_ANSWER], ("number_answer",)
    text, flags = clean_text(str(value)[: 2 * MAX_ANSWER])
    text = text.strip()
    if len(text) > MAX_ANSWER:
        text, flags = text[:MAX_ANSWER], (*flags, "answer_cut")
    return (text, flags) if text else (None, (*flags, "answer_missing"))


def _one_of(readings: list[tuple[Any, tuple[str, ...]]], name: str) -> tuple[Any, tuple[str, ...]]:
    """Return the reading of a key that may stand there twice: None and a flag when the two disagree."""
    if not readings:
        return None, ()
    if any(value != readings[0][0] for value, _ in readings):
        return None, (f"duplicate_{name}",)
    return readings[0]


def _content(members: Members) -> _Content:
    answers = _values(members, ANSWER_KEYS)
    answer, answer_flags = _one_of([_answer_text(value) for value in answers], "answer")
    confidences = _values(members, CONFIDENCE_KEYS)
    confidence, confidence_flags = _one_of([read_confidence(value) for value in confidences], "confidence")
    return _Content(
        answer=answer,
        confidence=confidence,
        has_answer=bool(answers),
        flags=(*answer_flags, *confidence_flags),
    )


_SLOT_WORDS = r"(?:answer|text|string|value|response|integer|number|word|phrase|here|insert)"
_PLACEHOLDER = re.compile(
    rf"(?:<(?=[^<>]{{0,80}}{_SLOT_WORDS})|\[(?=[^\[\]]{{0,80}}{_SLOT_WORDS})|\{{+(?=[^{{}}]{{0,80}}{_SLOT_WORDS}))"
    r"\s?(?:(?:your|the|a|an|my|some|short|final|correct|brief|actual|concise|exact|answer|text|string|value|response"
    r"|here|goes|integer|number|as|in|words?|or|phrase|to|this|question|insert|put)[\s_-]?){1,10}[>\]}]{1,3}"
    r"|(?:your|the|a|an)(?: (?:short|final|correct|brief|concise|exact))*[ _](?:answer|text|string"
    r"|response)(?: (?:goes )?here)?"
    r"|\.{2,6}|…",
    re.IGNORECASE,
)
_TYPE_NAME = re.compile(r"(?:short |final )?answer|text|string|str", re.IGNORECASE)


def _is_placeholder(content: _Content) -> bool:
    """Return whether an object only shows the form of an answer, as an example or a schema does."""
    answer = (content.answer or "").strip()
    if not answer or len(answer) > 120:
        return False
    # "string" can be a real answer, but not beside a confidence that is the name of a type too.
    return _PLACEHOLDER.fullmatch(answer) is not None or (
        _TYPE_NAME.fullmatch(answer) is not None and "confidence_unreadable" in content.flags
    )


def _unwrapped(found: JsonObject) -> tuple[Members, bool]:
    """Return an object's members, or those of the one object right inside of it that holds the answer."""
    if _values(found.members, ANSWER_KEYS[:1]) or _values(found.members, CONFIDENCE_KEYS[:1]):
        return found.members, False
    inner = [
        value
        for key, value in found.members
        if isinstance(value, Members)
        and _fold_key(key) not in ("properties", "schema", "example")
        and (_values(value, ANSWER_KEYS) or _values(value, CONFIDENCE_KEYS))
    ]
    return (inner[-1], True) if len(inner) == 1 else (found.members, False)


def _is_schema(members: Members) -> bool:
    return any(
        isinstance(value, Members) and any(_fold_key(key) in ("type", "description") for key, _ in value)
        for value in _values(members, ANSWER_KEYS)
    )


_CONFIDENCE_LABEL = r"confidence(?: (?:level|score|rating))?[\"'*_`\s]{0,6}(?:[:：=]|is\b)"
_ANSWER_LABEL = re.compile(
    r"(?:^|(?<=[\n.;,/|]))[\s*_#>`\"'-]{0,12}(?:the |my )?(?:final |short |correct )?answer[\"'*_`\s]{0,6}[:：=]"
    # the answer may stand on the next line
    rf"[ \t*_`]{{0,6}}(?:\n\s{{0,8}}(?![\s*_#>`\"'-]{{0,8}}(?:my |stated )?{_CONFIDENCE_LABEL}))?",
    re.IGNORECASE,
)
_CONFIDENCE_AFTER = re.compile(rf"(?:my |stated )?{_CONFIDENCE_LABEL}", re.IGNORECASE)
_CONFIDENCE_LINE = re.compile(
    rf"\b{_CONFIDENCE_LABEL}[\s*_`\"']{{0,6}}"
    r"(?P<value>[~≈]?\s?[^\s\"'*_`,;)}]{1,40}(?: ?%)?"
    # a range or a denominator belongs to the number: "80 to 90" is not 80
    r"(?: {0,3}(?:/|-|–|—|to|or|out of) {0,3}\d[\d.]{0,20} ?%?)?)",
    re.IGNORECASE,
)
_ANSWER_TAG = re.compile(r"<answer>\s{0,20}(?P<value>[^<]{1,2000}?)\s{0,20}</answer>", re.IGNORECASE)
_CONFIDENCE_TAG = re.compile(r"<confidence>\s{0,20}(?P<value>[^<]{1,60}?)\s{0,20}</confidence>", re.IGNORECASE)
MAX_LINE = 2_000
"""Longer lines hold no answer."""

MAX_SALVAGED = 20_000
"""Lines such as "Answer: X" are looked for in so many last characters."""


def _answer_lines(text: str) -> list[str]:
    """Return what follows each ``Answer:`` to the end of its line, or to the confidence that is stated there."""
    values = []
    position = 0
    while (label := _ANSWER_LABEL.search(text, position)) is not None:
        start = label.end()
        newline = text.find("\n", start)
        position = len(text) if newline < 0 else newline
        confidence = _CONFIDENCE_AFTER.search(text, start, position)
        if confidence is not None:
            position = confidence.start()
        if position - start <= MAX_LINE:
            value = text[start:position]
            values.append(value.rstrip(" \t*_`\"'.,;/|(-") if confidence is not None else value)
    return values


def _salvage(text: str) -> _Content | None:
    """Return what lines such as ``Answer: X`` and ``Confidence: N%`` say, or a whole reply that only abstains."""
    plain = without_template_tokens(text[-MAX_SALVAGED:]).strip()
    answers = [*(match["value"] for match in _ANSWER_TAG.finditer(plain)), *_answer_lines(plain)]
    answers = [answer.strip(" \t*_`\"'").removesuffix("/").rstrip(" ,;/|") for answer in answers]
    answers = [answer for answer in answers if answer and not _is_placeholder(_Content(answer=answer))]
    if not answers:
        short = unwrap(plain)
        if len(text) <= MAX_SALVAGED and short and (abstains(short) or declines(short)):
            answer, flags = _answer_text(short[:MAX_REFUSAL_START])
            return _Content(answer=answer, has_answer=True, flags=flags)
        return None
    stated = [match["value"].rstrip(".") for p in (_CONFIDENCE_TAG, _CONFIDENCE_LINE) for match in p.finditer(plain)]
    answer, flags = _answer_text(answers[-1])
    confidence, confidence_flags = read_confidence(stated[-1]) if stated else (None, ())
    if len({fold_text(answer) for answer in answers}) > 1:
        flags = (*flags, "multiple_answers")
    return _Content(answer=answer, confidence=confidence, has_answer=True, flags=(*flags, *confidence_flags))


def _unique(*groups: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(flag for group in groups for flag in group))


def read_reply(raw: str, cut: bool = False) -> Reading:
    """Return what a reply says, whatever it is: any text gives a reading, none an exception.

    Reasoning is set aside; of the JSON objects with an answer the last complete one counts (flag
    ``multiple_answers`` when an earlier one differs), never one that only echoes a placeholder. Without any
    object, lines such as ``Answer: X`` and ``Confidence: N%`` are read, and a reply that consists of nothing but
    the abstention token, a form of "I don't know" or a refusal is its own answer.

    Args:
        raw: the reply as it came.
        cut: True when the provider says that a limit ended the reply. It is then truncated unless only white
            space follows a complete object.
    """
    text = raw.removeprefix("\ufeff")
    oversized = len(text.rstrip()) > MAX_REPLY
    text = text[:MAX_REPLY]
    cut = cut or oversized
    size_flags = ("oversized",) if oversized else ()
    if not text.strip("\ufeff\u200b \t\r\n\f\v\u00a0"):
        return Reading(flags=("empty",), truncated=cut)
    parts = set_reasoning_aside(text)
    reasoning = clean_text(parts.reasoning)[0]
    if parts.unclosed:
        return Reading(flags=_unique(("unclosed_reasoning",), size_flags), truncated=True, reasoning=reasoning)
    if not without_template_tokens(parts.content).strip():
        return Reading(flags=_unique(("empty",), size_flags), truncated=cut, reasoning=reasoning)
    return _read_content(parts.content, cut, size_flags, reasoning)


def _read_content(text: str, cut: bool, flags: tuple[str, ...], reasoning: str) -> Reading:
    found = find_objects(text)
    chosen: tuple[JsonObject, _Content, bool] | None = None
    answers: list[str | None] = []
    for candidate in found.objects:
        members, wrapped = _unwrapped(candidate)
        content = _content(members)
        known = content.has_answer or bool(_values(members, CONFIDENCE_KEYS))
        if not known or _is_schema(members):
            continue
        if _is_placeholder(content):
            flags = (*flags, "placeholder")
            continue
        if content.has_answer:
            answers.append(content.answer and fold_text(content.answer))
        if chosen is None or content.has_answer or not chosen[1].has_answer:
            wrapped = wrapped or text[max(candidate.start - 40, 0) : candidate.start].rstrip().endswith("[")
            chosen = (candidate, content, wrapped)
    several = ("multiple_answers",) if len(set(answers)) > 1 else ()
    if found.unfinished is not None:
        content = _content(found.unfinished.members) if chosen is None else chosen[1]
        return Reading(
            answer=content.answer,
            confidence=content.confidence,
            parse="none" if content.answer is None else "repaired",
            flags=_unique(flags, several, content.flags, ("unfinished_object",)),
            truncated=True,
            reasoning=reasoning,
        )
    if chosen is not None:
        candidate, content, wrapped = chosen
        repairs = (*(("repaired",) if candidate.repairs else ()), *candidate.repairs)
        parse: Parse = "repaired" if candidate.repairs else "strict"
        return Reading(
            answer=content.answer,
            confidence=content.confidence,
            parse=parse,
            flags=_unique(flags, several, ("wrapped",) if wrapped else (), repairs, content.flags),
            truncated=cut and bool(text[candidate.end :].strip()),
            reasoning=reasoning,
        )
    content_or_none = None if "placeholder" in flags else _salvage(text)
    if content_or_none is None:
        return Reading(flags=_unique(flags), truncated=cut, reasoning=reasoning)
    return Reading(
        answer=content_or_none.answer,
        confidence=content_or_none.confidence,
        parse="salvaged",
        flags=_unique(flags, content_or_none.flags),
        truncated=cut,
        reasoning=reasoning,
    )
