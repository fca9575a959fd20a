"""Finding JSON objects in a text, and repairing the ways in which models write them slightly wrong."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

import msgspec

from selfdiag.elicit.confidence import NumberText
from selfdiag.elicit.latex import keep_commands

FIRST_STARTS, LAST_STARTS = 60, 240
"""So many opening braces are tried, from the front and from the back of the text."""

MAX_BRACES = 2_000
"""So many braces from the back are looked at for one with a key after it."""

MAX_STEPS = 20_000
"""So many tokens and quotes are looked at in one reply, over all attempts at repair."""

MAX_DECODED = 2_200_000
"""So many characters are decoded in one reply, over all attempts."""

MAX_DEPTH = 20
"""Deeper nesting is not a reply to the contract."""

MAX_BACKSLASHES = 20_000
"""In an object with more backslashes no LaTeX is looked for."""

MAX_LIBRARY, MAX_REBUILDS = 4_000, 4
"""A longer span is not handed to the repair library, and not more of them in one reply."""


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


_STRICT = json.JSONDecoder(
    object_pairs_hook=Members, parse_float=NumberText, parse_int=NumberText, parse_constant=NumberText
)
_LENIENT = json.JSONDecoder(
    object_pairs_hook=Members,
    parse_float=NumberText,
    parse_int=NumberText,
    parse_constant=NumberText,
    strict=False,
)

_START = re.compile(r"\{(?=\s*+(?:[\"'“”‘’„`]|//|/\*|#|[A-Za-z_]\w{0,40}+\s*+:|\Z))")
_QUOTED_KEY = r"(?:\"[^\"\\\n]{1,60}+\"|'[^'\\\n]{1,60}+'|[“”„][^“”\n]{1,60}+[”“]|[‘’][^‘’\n]{1,60}+[’‘])\s*+:"
_BARE_KEY = r"[A-Za-z_]\w{0,40}+\s*+:\s*+[\"'“\d\[{-]"
_CUT_KEY = r"[\"'“‘][^\"'”’\n]{0,60}+\Z|\w{0,60}+\Z"
_NEXT = rf"{_QUOTED_KEY}|,\s*+(?:{_QUOTED_KEY}|{_BARE_KEY}|//|/\*|#|\}}|{_CUT_KEY})|//|/\*|\Z"
# What may follow the quote that ends a key, a value in an object, or a value in a list. At the outermost level
# a brace followed by more of a string is part of the text.
_AFTER_KEY = re.compile(r"\s*+:")
_AFTER_VALUE = re.compile(rf"\s*+(?:\}}|{_NEXT})")
_AFTER_OUTER_VALUE = re.compile(rf"\s*+(?:\}}(?!\s*+,?+\s*+[\"”])|{_NEXT})")
_AFTER_ELEMENT = re.compile(r"\s*+(?:[,\]]|\Z)")
_QUOTES = {
    '"': re.compile(r"[\"\\]"),
    "'": re.compile(r"['\\]"),
    "`": re.compile(r"[`\\]"),
    "“": re.compile(r"[”“\"\\]"),
    "”": re.compile(r"[”\"\\]"),
    "„": re.compile(r"[“”\"\\]"),
    "‘": re.compile(r"[’‘'\\]"),
    "’": re.compile(r"[’'\\]"),
}
_SPACE = re.compile(r"\s*+")
_COMMENT = re.compile(r"(?://|#)[^\n]*+|/\*(?:[^*]|\*(?!/)){0,2000}+\*/")
_BARE = re.compile(r"[^,:{}\[\]\n\"“”]++")
_LITERAL = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][+-]?\d++)?+|true|false|null")
_PYTHON = {"True": "true", "False": "false", "None": "null"}


class Unreadable(Exception):
    """This span is not an object, whatever is repaired."""


class _Budget:
    """What is left of the work allowed for one reply."""

    def __init__(self) -> None:
        self.steps = MAX_STEPS
        self.characters = MAX_DECODED
        self.rebuilds = MAX_REBUILDS

    def step(self) -> None:
        self.steps -= 1
        if self.steps < 0 or self.characters < 0:
            raise Unreadable


class _Rewriter:
    """Rewrites one loosely written object as strict JSON, token by token, losing nothing but comments."""

    def __init__(self, text: str, start: int, budget: _Budget) -> None:
        self.text = text
        self.position = start
        self.budget = budget
        self.out: list[str] = []
        self.stack: list[str] = []
        self.expects = "value"
        self.repairs: dict[str, None] = {}
        self.strings: list[tuple[int, int]] = []
        self.whole_members = 0
        self.closed = False

    def run(self) -> None:
        """Rewrite to the end of the object, or to the end of the text (then ``closed`` stays False)."""
        while not self.closed:
            self.budget.step()
            space = _SPACE.match(self.text, self.position)
            self.position = space.end() if space else self.position
            if self.position >= len(self.text):
                return
            ch = self.text[self.position]
            if ch in "/#":
                self._comment()
            elif ch in "{[":
                self._open(ch)
            elif ch in "}]":
                self._close(ch)
            elif ch in ",:":
                self._separator(ch)
            elif ch in _QUOTES:
                if not self._string(ch):
                    return
            elif not self._bare():
                return

    def _comment(self) -> None:
        comment = _COMMENT.match(self.text, self.position)
        if comment is None:
            raise Unreadable
        self.repairs["comments"] = None
        self.position = comment.end()

    def _open(self, ch: str) -> None:
        self._begin()
        if self.expects != "value" or len(self.stack) >= MAX_DEPTH:
            raise Unreadable
        self.stack.append(ch)
        self.out.append(ch)
        self.expects = "key" if ch == "{" else "value"
        self.position += 1

    def _close(self, ch: str) -> None:
        if not self.stack or self.stack.pop() != ("{" if ch == "}" else "[") or self.expects == "colon":
            raise Unreadable
        if self.out[-1] == ",":
            self.out.pop()
            self.repairs["trailing_comma"] = None
        elif self.out[-1] == ":":
            raise Unreadable
        self.out.append(ch)
        self.position += 1
        self.expects = "separator"
        self._end_of_value()
        self.closed = not self.stack

    def _separator(self, ch: str) -> None:
        if ch == ":" and self.expects == "colon":
            self.expects = "value"
        elif ch == "," and self.expects == "separator":
            self.expects = "key" if self.stack[-1] == "{" else "value"
        else:
            raise Unreadable
        self.out.append(ch)
        self.position += 1

    def _begin(self) -> None:
        """Put in the comma that is missing before a further key."""
        if self.expects == "separator" and self.stack and self.stack[-1] == "{":
            self.out.append(",")
            self.repairs["missing_comma"] = None
            self.expects = "key"

    def _string(self, quote: str) -> bool:
        self._begin()
        if self.expects not in ("key", "value"):
            raise Unreadable
        if self.expects == "key":
            follows = _AFTER_KEY
        elif self.stack[-1] == "[":
            follows = _AFTER_ELEMENT
        else:
            follows = _AFTER_OUTER_VALUE if len(self.stack) == 1 else _AFTER_VALUE
        first = self.position + 1
        at = first
        while True:
            self.budget.step()
            match = _QUOTES[quote].search(self.text, at)
            if match is None:
                self.strings.append((first, len(self.text)))
                return False
            self.budget.characters -= match.end() - at
            at = match.end()
            if match.group() == "\\":
                at += 1
            elif follows.match(self.text, at):
                break
        self.strings.append((first, at - 1))
        if quote != '"':
            self.repairs["curly_quotes" if quote in "“”„‘’" else "single_quotes"] = None
        body, kept, inner = keep_commands(self.text[first : at - 1])
        if kept:
            self.repairs["latex_backslash"] = None
        if inner and quote == '"':
            self.repairs["inner_quotes"] = None
        self.out.append(f'"{body}"')
        self.position = at
        self._after_scalar()
        return True

    def _bare(self) -> bool:
        self._begin()
        match = _BARE.match(self.text, self.position)
        if match is None or self.expects not in ("key", "value"):
            raise Unreadable
        word = match.group().rstrip()
        self.position = match.end()
        if self.position >= len(self.text):
            return False
        if self.expects == "key":
            self.repairs["bare_key"] = None
            self.out.append(json.dumps(word))
        elif _LITERAL.fullmatch(word):
            self.out.append(word)
        elif word in _PYTHON:
            self.repairs["python_literal"] = None
            self.out.append(_PYTHON[word])
        else:
            self.repairs["bare_value"] = None
            self.out.append(json.dumps(word))
        self._after_scalar()
        return True

    def _after_scalar(self) -> None:
        if self.expects == "key":
            self.expects = "colon"
        else:
            self.expects = "separator"
            self._end_of_value()

    def _end_of_value(self) -> None:
        if len(self.stack) == 1:
            self.whole_members = len(self.out)


def _decode(decoder: json.JSONDecoder, text: str, budget: _Budget) -> tuple[Members, int] | str:
    """Return the object at the beginning of a text and its length, or what is wrong."""
    if budget.characters < 0:
        return "too long"
    try:
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError as fault:
        budget.characters -= fault.pos + 50
        return fault.msg
    except RecursionError:
        budget.characters = -1
        return "too deep"
    budget.characters -= end
    return (value, end) if isinstance(value, Members) else "no object"


def _strict(text: str, start: int, budget: _Budget) -> JsonObject | None:
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


def _repaired(text: str, start: int, budget: _Budget) -> tuple[JsonObject | None, bool]:
    """Return the object that begins here after repair, and whether the text ends inside of it."""
    rewriter = _Rewriter(text, start, budget)
    try:
        rewriter.run()
    except Unreadable:
        budget.rebuilds -= 1
        end = text.find("}", start, start + MAX_LIBRARY)
        return (_by_library(text, start, end + 1) if end > 0 and budget.rebuilds >= 0 else None), False
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
    budget = _Budget()
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


def string_spans(text: str, start: int) -> tuple[int, tuple[tuple[int, int], ...]] | None:
    """Return the end of the object that begins at ``start`` and the spans of its strings.

    None when the object has no end, or when its quotes are so irregular that its strings are a guess.
    """
    rewriter = _Rewriter(text, start, _Budget())
    try:
        rewriter.run()
    except Unreadable:
        return None
    regular = rewriter.closed and "inner_quotes" not in rewriter.repairs
    return (rewriter.position, tuple(rewriter.strings)) if regular else None
