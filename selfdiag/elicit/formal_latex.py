"""Checking a reply that should be one formula in LaTeX."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from selfdiag.elicit.formal_body import Body


class _Token(msgspec.Struct, frozen=True):
    r"""A command, ``\begin`` or ``\end`` with its name, or a single sign, and where it stands."""

    text: str
    start: int
    end: int


_TOKEN = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}|\\(?:[A-Za-z]+|.)|[{}&$]", re.DOTALL)
_COMMENT = re.compile(r"(\\.)|%[^\n]*", re.DOTALL)
_AFTER_LINE = re.compile(r"\s*\*?\s*(?:\[[^\]]*\]\s*)?")
_CLOSING = {"{": "}", r"\[": r"\]", r"\left": r"\right", r"\begin": r"\end"}


def elements(check: Mapping[str, Any]) -> list[str]:
    """Return the names of what is scored, in order."""
    names = ["only", "balanced", *(f"command {command}" for command in check.get("commands", {}))]
    if "environment" in check:
        names.append(f"environment {check['environment']}")
    return names + [name for name in ("rows", "columns", "absent") if name in check]


def judge(check: Mapping[str, Any], body: Body) -> dict[str, bool]:
    r"""Return which elements are right; one that is not named is wrong.

    A comment, from a percent sign to the end of its line, counts for what must be absent alone.

    Args:
        check: ``opens`` and ``closes``, how the formula may begin and end, and where asked for ``commands`` (how
            often each occurs at least), ``environment``, ``rows``, ``columns`` and ``absent``.
        body: what the reply says.
    """
    opens, closes = tuple(check["opens"]), tuple(check["closes"])
    only = body.alone and body.text.startswith(opens) and body.text.endswith(closes)
    formula = body.text if only else _stretch(body.text, opens, closes)
    text = _COMMENT.sub(r"\1", formula)
    tokens = _tokens(text)
    counts = Counter(token.text for token in tokens)
    commands = check.get("commands", {})
    name = check.get("environment")
    begins = (rf"\begin{{{name}}}", rf"\begin{{{name}*}}") if name else ()
    if not any(counts[token] for token in (*commands, *begins)):
        return {}
    inside = _environment(tokens, begins)
    widths = _line_widths(text, inside) if inside else []
    return {
        "only": only,
        "balanced": _balanced(tokens),
        **{f"command {command}": counts[command] >= least for command, least in commands.items()},
        f"environment {name}": bool(inside),
        "rows": bool(inside) and len(widths) == check.get("rows"),
        "columns": bool(widths) and all(width == check.get("columns") for width in widths),
        "absent": not any(string in formula for string in check.get("absent", [])),
    }


def _stretch(text: str, opens: Sequence[str], closes: Sequence[str]) -> str:
    start = min((text.find(mark) for mark in opens if mark in text), default=len(text))
    end = max((text.rfind(mark) + len(mark) for mark in closes if mark in text), default=0)
    return text[start:end] if start < end else text


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(rf"\{match[1]}{{{match[2]}}}" if match[1] else match[0], match.start(), match.end())
        for match in _TOKEN.finditer(text)
    ]


def _balanced(tokens: Sequence[_Token]) -> bool:
    awaited: list[str] = []
    for token in tokens:
        if token.text.startswith(r"\begin{"):
            awaited.append(token.text.replace("begin", "end", 1))
        elif token.text in _CLOSING:
            awaited.append(_CLOSING[token.text])
        elif not (token.text.startswith(r"\end{") or token.text in _CLOSING.values()):
            continue
        elif not awaited or awaited.pop() != token.text:
            return False
    return not awaited and sum(token.text == "$" for token in tokens) % 2 == 0


def _environment(tokens: Sequence[_Token], begins: Sequence[str]) -> list[_Token]:
    r"""Return the tokens from the first of these ``\begin`` to its own ``\end``, both included, or none."""
    first = next((place for place, token in enumerate(tokens) if token.text in begins), len(tokens))
    depth = 0
    for place in range(first, len(tokens)):
        depth += tokens[place].text == tokens[first].text
        depth -= tokens[place].text == tokens[first].text.replace("begin", "end", 1)
        if not depth:
            return list(tokens[first : place + 1])
    return []


def _line_widths(text: str, environment: Sequence[_Token]) -> list[int]:
    """Return the number of cells in each line of an environment, given by its tokens."""
    begin, *inner, end = environment
    # What stands in braces or in an inner environment parts no cells and lines of this one. Where a brace is missing,
    # no more can be said of them than that they are there.
    nests = _balanced(inner)
    depth = 0
    widths = [1]
    start = begin.end
    for token in inner:
        if nests:
            depth += token.text == "{" or token.text.startswith(r"\begin{")
            depth -= token.text == "}" or token.text.startswith(r"\end{")
        if not depth and token.text == "&":
            widths[-1] += 1
        elif not depth and token.text == r"\\":
            widths.append(1)
            start = token.end
    line_break = _AFTER_LINE.match(text, start, end.start)
    return widths[:-1] if line_break and line_break.end() == end.start else widths
