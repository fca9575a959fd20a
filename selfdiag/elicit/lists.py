"""Grading sets and sequences, with whatever separates their elements."""

from __future__ import annotations

import json
import re
from fractions import Fraction

from selfdiag.battery.items import Probe
from selfdiag.elicit.kinds import close, show_number
from selfdiag.elicit.numbers import plain_arithmetic, read_number
from selfdiag.elicit.phrases import CONJUNCTIONS
from selfdiag.elicit.reading import Reading
from selfdiag.elicit.textforms import MAX_FOLDED, clean_text, fold_text, unwrap, without_lead
from selfdiag.elicit.verdict import Verdict

MAX_ELEMENTS = 200
"""Longer lists are not compared."""

Element = Fraction | str

_ITEM_MARK = re.compile(r"^\s*(?:\(?\d{1,3}[.)]|[-*•–])\s+", re.MULTILINE)
_AND = "|".join(map(re.escape, CONJUNCTIONS))
# From the separators that say most to those that say least; the first that divides the key divides the answer.
_SEPARATORS = (
    ("lines", re.compile(r"\s*\n\s*")),
    ("semicolons", re.compile(rf"\s*[;|]\s*(?:(?:{_AND})\s+(?!=))?")),
    ("arrows", re.compile(r"\s*(?:->|→|=>|⇒|>|<|≺)\s*")),
    # a word for "and" that an equals sign follows is a name: "x = 3, y = -2"
    ("commas", re.compile(rf"\s*[,、，،]\s*(?:(?:{_AND})\s+(?!=))?|\s+(?:{_AND})\s+(?!=)|\s*&\s*")),
    ("slashes", re.compile(r"\s*/\s*")),
    ("spaces", re.compile(r"\s+")),
    ("dashes", re.compile(r"\s*[-–—]\s*")),
)
# "x = 2" as an element, and "±2" as two of them.
_NAME = re.compile(r"[^\W\d_](?:_?\d|[₀-₉])?\s?=\s?(?=[-+\d])")
_BOTH_SIGNS = re.compile(r"±\s?(\d{1,20}(?:[./]\d{1,20})?)")
_FRACTION = re.compile(r"\((\d{1,40})\)/\((\d{1,40})\)")
# "> 5" is a bound and does not divide anything.
_BOUND = re.compile(r"\A[<>≺]|(?<![-=])[<>≺]\Z")
_EMPTY = ("∅", "empty set", "\\emptyset", "\\varnothing")
_BRACKETS = {"{": "}", "[": "]", "(": ")", "<": ">", "⟨": "⟩"}


def _body(text: str) -> str:
    """Return a list without its opening words, its brackets and the name that stands before an equals sign."""
    current = plain_arithmetic_lines(without_lead(unwrap(clean_text(text[:MAX_FOLDED])[0])))
    named = re.match(r"(?!(?:not|except|without)\b)[A-Za-z_]\w{0,20}\s?[=∈:]\s?(?=[{\[(])", current)
    current = current[named.end() :] if named else current
    current = _BOTH_SIGNS.sub(r"-\1; \1", current.strip().rstrip(".;").strip())
    for _ in range(3):
        if len(current) > 1 and _BRACKETS.get(current[0]) == current[-1]:
            current = current[1:-1].strip()
    return _ITEM_MARK.sub("", current)


def plain_arithmetic_lines(text: str) -> str:
    """Return a text of several lines with its number signs written plainly and escaped braces as braces."""
    unescaped = re.sub(r"(?<!\\)\\+([{}])", r"\1", text)
    return "\n".join(plain_arithmetic(line) if line else "" for line in unescaped.split("\n")[:MAX_ELEMENTS])


def _element(text: str) -> Element | None:
    bare = _FRACTION.sub(r"\1/\2", _NAME.sub("", unwrap(text.strip().strip("\"'`"))))
    if not bare:
        return None
    number = read_number(bare) if re.fullmatch(r"[-+]?[\d.,/^*eE %]{1,60}", bare) else None
    if number is not None and not number.rest:
        return number.value / 100 if number.percent else number.value
    return fold_text(bare)


def _json_list(text: str) -> list[Element] | None:
    """Return the elements of a list written in JSON or as Python prints it, whose strings may hold separators."""
    if not text.startswith("["):
        return None
    try:
        values = json.loads(text if '"' in text else text.replace("'", '"'))
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return None
    return [element for value in values if (element := _element(value)) is not None]


def splits(text: str) -> list[tuple[str, list[Element]]]:
    """Return the ways in which a text divides into elements, each with the name of its separator.

    Args:
        text: a list in any notation; brackets, quotes, bullets and a word for "and" are not part of elements.
    """
    listed = _json_list(text.strip()[:MAX_FOLDED])
    found: list[tuple[str, list[Element]]] = [("a list", listed)] if listed is not None else []
    body = _body(text)
    for name, separator in _SEPARATORS:
        if name == "arrows" and _BOUND.search(body):
            continue
        parts = separator.split(body)
        if 1 < len(parts) <= MAX_ELEMENTS:
            elements = [element for part in parts if (element := _element(part)) is not None]
            found.append((name, elements))
    whole = _element(body)
    found.append(("one element", [] if whole is None or body in _EMPTY else [whole]))
    return found


def _same(given: Element, expected: Element, probe: Probe) -> bool:
    if isinstance(given, Fraction) and isinstance(expected, Fraction):
        return close(given, expected, probe)
    if isinstance(given, str) and isinstance(expected, str):
        return given.replace(" ", "") == expected.replace(" ", "")
    return False


def _equal(given: list[Element], expected: list[Element], probe: Probe, *, ordered: bool) -> bool:
    if ordered:
        return len(given) == len(expected) and all(map(lambda a, b: _same(a, b, probe), given, expected))
    return all(any(_same(a, b, probe) for b in expected) for a in given) and all(
        any(_same(a, b, probe) for a in given) for b in expected
    )


def _shown(elements: list[Element]) -> str:
    return ", ".join(show_number(element) if isinstance(element, Fraction) else element for element in elements)


def grade_list(probe: Probe, reading: Reading) -> Verdict:
    """Grade a set (order and repeats do not matter) or a sequence (they do), element by element.

    Elements are numbers within tolerance or folded texts. Separators and brackets are free: an answer is right
    when some usual way of dividing it gives the key's elements, so ``1,234`` is both {1, 234} and {1234}. The key
    itself is divided once, by the strongest separator that it has: lines, semicolons, arrows, commas and words for
    "and", slashes, spaces, dashes.

    Args:
        probe: a probe of kind ``set`` or ``sequence``.
        reading: a reading with an answer.
    """
    ordered = probe.kind == "sequence"
    answer = reading.answer or ""
    given = splits(answer)
    if "\\n" in answer:
        # "a\ne" in JSON is a newline before e, or LaTeX's \ne: here it parts elements if it makes the key's.
        given += splits(answer.replace("\\n", "\n"))
    keys = [splits(key)[0][1] for key in (probe.answer, *probe.aliases)]
    for name, elements in given:
        for key in keys:
            if _equal(elements, key, probe, ordered=ordered):
                rule = f"{probe.kind} divided by {name}" if name != "one element" else f"{probe.kind} of one element"
                return Verdict(right=True, rule=rule, expected=_shown(keys[0]), given=_shown(elements))
    return Verdict(right=False, rule=probe.kind, expected=_shown(keys[0]), given=_shown(given[0][1]))
