"""Finding JSON objects in a text, and repairing the ways in which models write them slightly wrong."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

import msgspec

from selfdiag.elicit.confidence import NumberText
from selfdiag.elicit.latex import keep_commands
from selfdiag.elicit.rewriting import Budget, Rewriter, UnreadableError

FIRST_STARTS, LAST_STARTS = 60, 240
"""So many opening braces are tried, from the front and from the back of the text."""

MAX_BRACES = 2_000
"""So many braces from the back are looked at for one with a key after it."""

MAX_BACKSLASHES = 20_000
"""In an object with more backslashes no LaTeX is looked for."""

MAX_LIBRARY = 4_000
"""A longer span is not handed to the repair library."""


class Members(tuple[tuple[str, Any], ...]):
    """The members of a JSON object in order, duplicates included."""

    __slots__ = ()


class JsonObject(msgspec.Struct, frozen=True, kw_only=True):
    """One object of a reply: its members, where it stands, and what was repaired in it."""

    members: Members
    start: int
    end: int
    repairs: tuple[str, ...] = ()


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The complete objects of a text in order, and the one that the text ends inside of, if it does."""

    objects: tuple[JsonObject, ...] = ()
    unfinished: JsonObject | None = None


_STRICT = json.JSONDecoder(object_pairs_hook=Members, parse_float=NumberText, parse_constant=NumberText)
_LENIENT = json.JSONDecoder(object_pairs_hook=Members, parse_float=NumberText, parse_constant=NumberText, strict=False)

_START = re.compile(r"\{(?=\s*+(?:[\"'“”‘’„`]|//|/\*|#|[A-Za-z_]\w{0,40}+\s*+:|\Z))")


def _decode(decoder: json.JSONDecoder, text: str, budget: Budget) -> tuple[Members, int] | str:
    """Return the object at the beginning of a text and its length, or what is wrong."""
    if budget.characters < 0:
        return "too long"
    try:
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError as fault:
        budget.characters -= fault.pos + 50
        return fault.msg
    except (RecursionError, ValueError):
        # Nested beyond all reason, or a whole number of thousands of digits.
        budget.characters = -1
        return "too large"
    budget.characters -= end
    return (value, end) if isinstance(value, Members) else "no object"


def _strict(text: str, start: int, budget: Budget) -> JsonObject | None:
    """Return the object that begins here when it is JSON but for raw newlines and LaTeX backslashes."""
    repairs: list[str] = []
    # A slice, because a fault counts all lines before it.
    rest = text[start:]
    found = _decode(_STRICT, rest, budget)
    if isinstance(found, str) and found.startswith("Invalid control"):
        found = _decode(_LENIENT, rest, budget)
        repairs.append("raw_newline")
    if isinstance(found, str):
        return None
    members, length = found
    if 0 < rest.count("\\", 0, length) <= MAX_BACKSLASHES:
        body, kept, _ = keep_commands(rest[:length], inner_quotes=False)
        again = _decode(_LENIENT, body, budget) if kept else "nothing kept"
        if not isinstance(again, str):
            members = again[0]
            repairs.append("latex_backslash")
    return JsonObject(members=members, start=start, end=start + length, repairs=tuple(repairs))


def _characters(value: object) -> str:
    if isinstance(value, dict):
        return "".join(str(key) + _characters(member) for key, member in value.items())
    if isinstance(value, list):
        return "".join(map(_characters, value))
    return "null" if value is None else str(value)


def _by_library(text: str, start: int, end: int) -> JsonObject | None:
    """Return what json-repair makes of a span, if every letter and digit of the span is still there in order."""
    import json_repair

    span = text[start:end]
    try:
        value = json_repair.loads(span)
    except (ValueError, RecursionError, IndexError):
        return None
    if not isinstance(value, dict):
        return None
    kept = [ch for ch in _characters(value).casefold() if ch.isalnum()]
    if kept != [ch for ch in span.casefold() if ch.isalnum()]:
        return None
    if not all(member in span for member in value.values() if isinstance(member, str)):
        return None
    encoded = json.dumps(value)
    members = _LENIENT.decode(encoded)
    return JsonObject(members=members, start=start, end=end, repairs=("rebuilt",))


def _repaired(text: str, start: int, budget: Budget) -> tuple[JsonObject | None, bool]:
    """Return the object that begins here after repair, and whether the text ends inside of it."""
    rewriter = Rewriter(text, start, budget)
    try:
        rewriter.run()
    except UnreadableError:
        budget.rebuilds -= 1
        end = text.find("}", start, start + MAX_LIBRARY)
        return (_by_library(text, start, end + 1) if end > 0 and budget.rebuilds >= 0 else None), False
    if rewriter.in_string and text.rstrip("` \t\r\n").endswith("}"):
        # Not cut, but with quotes or marks that make no object: {"answer" = "8"; "confidence" = 80}
        return None, False
    out = rewriter.out if rewriter.closed else [*rewriter.out[: rewriter.whole_members or 1], "}"]
    found = _decode(_LENIENT, "".join(out), budget)
    if isinstance(found, str):
        return None, not rewriter.closed
    end = rewriter.position if rewriter.closed else len(text)
    repairs = tuple(rewriter.repairs)
    return JsonObject(members=found[0], start=start, end=end, repairs=repairs), not rewriter.closed


def object_starts(text: str) -> list[int]:
    """Return where objects may begin: at an opening brace with a key, a comment or nothing at all after it."""
    first = [match.start() for match in islice(_START.finditer(text), FIRST_STARTS)]
    if len(first) < FIRST_STARTS:
        return first
    last: list[int] = []
    position = len(text)
    for _ in range(MAX_BRACES):
        position = text.rfind("{", first[-1] + 1, position)
        if position < 0 or len(last) >= LAST_STARTS:
            break
        if _START.match(text, position):
            last.append(position)
    return first + last[::-1]


def find_objects(text: str) -> Found:
    """Return the complete JSON objects of a text, outermost only, and the one it ends inside of.

    An object is read strictly where that works; else with trailing commas, comments, single and curly quotes,
    Python literals, missing commas, bare words and unescaped inner quotes repaired, each named in ``repairs``.
    A quote inside a string ends it only when the object goes on after it, so that no value is cut short.

    Args:
        text: any text; work is bounded by ``MAX_STEPS`` and ``MAX_DECODED``.
    """
    budget = Budget()
    objects: list[JsonObject] = []
    unfinished: JsonObject | None = None
    position = 0
    for start in object_starts(text):
        if start < position:
            continue
        found, cut = _strict(text, start, budget), False
        if found is None and budget.steps > 0:
            found, cut = _repaired(text, start, budget)
        if found is None:
            continue
        if cut:
            unfinished = unfinished or found
        else:
            objects.append(found)
            unfinished = None
            position = found.end
    return Found(objects=tuple(objects), unfinished=unfinished)


def string_spans(text: str, start: int, budget: Budget) -> tuple[int, tuple[tuple[int, int], ...]] | None:
    """Return the end of the object that begins at ``start`` and the spans of its strings.

    None when the object has no end, or when its quotes are so irregular that its strings are a guess.
    """
    rewriter = Rewriter(text, start, budget)
    try:
        rewriter.run()
    except UnreadableError:
        return None
    regular = rewriter.closed and "inner_quotes" not in rewriter.repairs
    return (rewriter.position, tuple(rewriter.strings)) if regular else None
