"""Rewriting a loosely written JSON object as strict JSON, token by token, so that nothing of it is lost."""

from __future__ import annotations

import json
import re

from selfdiag.elicit.latex import keep_commands

MAX_STEPS = 20_000
"""So many tokens and quotes are looked at in one reply, over all attempts at repair."""

MAX_DECODED = 2_200_000
"""So many characters are decoded in one reply, over all attempts."""

MAX_DEPTH = 20
"""Deeper nesting is not a reply to the contract."""

MAX_REBUILDS = 4
"""So many spans of one reply are handed to the repair library."""

_QUOTED_KEY = (
    r"(?:\"[^\"\\\n]{1,60}+\"|'[^'\\\n]{1,60}+'|`[^`\\\n]{1,60}+`|[“”„][^“”\n]{1,60}+[”“]|[‘’][^‘’\n]{1,60}+[’‘])"
    r"\s*+[:：]"
)
_BARE_KEY = r"[A-Za-z_]\w{0,40}+\s*+[:：]\s*+[\"'“\d\[{-]"
_CUT_KEY = r"[\"'“‘][^\"'”’\n]{0,60}+\Z|\w{0,60}+\Z"
_NEXT = rf"{_QUOTED_KEY}|[,，]\s*+(?:{_QUOTED_KEY}|{_BARE_KEY}|//|/\*|#|\}}|{_CUT_KEY})|//|/\*|\Z"
# What may follow the quote that ends a key, a value in an object, or a value in a list. At the outermost level
# a brace followed by more of a string is part of the text.
_AFTER_KEY = re.compile(r"\s*+[:：]")
_AFTER_VALUE = re.compile(rf"\s*+(?:\}}|{_NEXT})")
_AFTER_OUTER_VALUE = re.compile(rf"\s*+(?:\}}(?!\s*+,?+\s*+[\"”])|{_NEXT})")
_AFTER_ELEMENT = re.compile(r"\s*+(?:[,，\]]|\Z)")
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
_BARE = re.compile(r"(?:(?!\s(?://|/\*|#))[^,，:：{}\[\]\n\"“”])++")
_LITERAL = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][+-]?\d++)?+|true|false|null")
_FULL_WIDTH = {"，": ",", "：": ":"}
_PYTHON = {"True": "true", "False": "false", "None": "null"}


class UnreadableError(Exception):
    """This span is not an object, whatever is repaired."""


class Budget:
    """What is left of the work allowed for one reply."""

    def __init__(self) -> None:
        self.steps = MAX_STEPS
        self.characters = MAX_DECODED
        self.rebuilds = MAX_REBUILDS

    def step(self) -> None:
        """Count one token or quote; raise UnreadableError when none are left."""
        self.steps -= 1
        if self.steps < 0 or self.characters < 0:
            raise UnreadableError


class Rewriter:
    """Rewrites one loosely written object as strict JSON, token by token, losing nothing but comments."""

    def __init__(self, text: str, start: int, budget: Budget) -> None:
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
        self.in_string = False

    def run(self) -> None:
        """Rewrite to the end of the object, or to the end of the text (then ``closed`` stays False).

        ``in_string`` is then True when the end came within quotes.
        """
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
            elif ch in _FULL_WIDTH:
                self._separator(_FULL_WIDTH[ch])
                self.repairs["full_width_marks"] = None
            elif ch in _QUOTES:
                if not self._string(ch):
                    return
            elif not self._bare():
                return

    def _comment(self) -> None:
        comment = _COMMENT.match(self.text, self.position)
        if comment is None:
            raise UnreadableError
        self.repairs["comments"] = None
        self.position = comment.end()

    def _open(self, ch: str) -> None:
        self._begin()
        if self.expects != "value" or len(self.stack) >= MAX_DEPTH:
            raise UnreadableError
        self.stack.append(ch)
        self.out.append(ch)
        self.expects = "key" if ch == "{" else "value"
        self.position += 1

    def _close(self, ch: str) -> None:
        if not self.stack or self.stack.pop() != ("{" if ch == "}" else "[") or self.expects == "colon":
            raise UnreadableError
        if self.out[-1] == ",":
            self.out.pop()
            self.repairs["trailing_comma"] = None
        elif self.out[-1] == ":":
            raise UnreadableError
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
            raise UnreadableError
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
            raise UnreadableError
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
                self.in_string = True
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
            raise UnreadableError
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
