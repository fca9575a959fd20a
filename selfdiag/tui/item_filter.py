"""The records of a run as rows of a list, and the little language that picks among them."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

import msgspec

from selfdiag.elicit.grading import Outcome
from selfdiag.runs.records import ANSWERED, Record
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

Tone = Literal["right", "wrong", "muted", "unknown"]

SHOWN: dict[str, tuple[str, str, Tone]] = {
    "correct": ("✓", "right", "right"),
    "incorrect": ("✗", "wrong", "wrong"),
    "abstained": ("○", "abstained", "muted"),
    "refused": ("○", "refused", "muted"),
    ANSWERED: ("·", "answered", "muted"),
    "unparsed": ("?", "not read", "unknown"),
    "truncated": ("?", "cut off", "unknown"),
    "empty": ("?", "empty", "unknown"),
    "overflow": ("?", "no room", "unknown"),
    "error": ("?", "error", "unknown"),
}
"""Glyph, word and tone of each outcome of a record."""
MISSED: tuple[str, str, Tone] = ("!", "missed", "wrong")
"""Those of an answer to a trap."""

LONGEST = 10_000
"""Characters of an answer in which words are looked for."""


class ItemRow(msgspec.Struct, frozen=True, kw_only=True):
    """One record in the list of a run: its ``place`` in the plan, and with which ``word`` its outcome is told.

    ``text`` is where words are looked for: id, answer and question, folded.
    """

    place: int
    record: Record
    word: str
    text: str


def item_rows(run: Run) -> list[ItemRow]:
    """Return the record that counts of every call that has one: those of the plan in its order, then all others."""
    planned = {call.call_id: place for place, call in enumerate(run.manifest.plan)}
    ordered = sorted(run.latest().values(), key=lambda record: planned.get(record.call_id, len(planned)))
    questions = {key: fold(prompt.user) for key, prompt in run.manifest.prompts.items()}
    return [item_row(place, record, questions.get(record.prompt_sha256, "")) for place, record in enumerate(ordered)]


def item_row(place: int, record: Record, question: str = "") -> ItemRow:
    """Return a record as a row; ``question`` is folded already."""
    answer = record.answer or (record.error.message if record.error is not None else "")
    text = "\n".join((fold(record.item_id), fold(answer[:LONGEST]), question))
    return ItemRow(place=place, record=record, word=shown(record)[1], text=text)


def shown(record: Record) -> tuple[str, str, Tone]:
    """Return glyph, word and tone of what became of a record."""
    return MISSED if record.trap and record.outcome == "incorrect" else SHOWN[record.outcome]


def fold(text: str) -> str:
    """Return a text in the form in which it is compared: accents composed, capitals as small letters."""
    return unicodedata.normalize("NFC", text).casefold()


Picks = Callable[[ItemRow], bool]


_STATES: dict[str, Picks] = {
    "right": lambda row: row.word == "right",
    "wrong": lambda row: row.word == "wrong",
    "abstained": lambda row: row.word == "abstained",
    "missed": lambda row: row.word == "missed",
    "trap": lambda row: row.record.trap,
}
_OUTCOMES = (*get_args(Outcome), ANSWERED)
_NAMED: dict[str, Callable[[ItemRow], str]] = {
    "bin": lambda row: row.record.bin,
    "section": lambda row: row.record.section,
    "outcome": lambda row: row.record.outcome,
    "item": lambda row: row.record.item_id,
}
_KNOWN = ", ".join(f"{key}:" for key in _NAMED)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
}
_TERM = re.compile(
    r"(?P<leave>-?)(?:"
    r"conf\s*(?P<sign>[<>]=?|=)\s*(?P<number>\S*)"
    r'|(?:(?P<key>[A-Za-z]+):)?(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]*))'
    r")",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,9})?(?=%?\Z)")


def read_filter(text: str) -> Picks:
    """Return what picks the rows that a filter means; every term of it must hold.

    A word is looked for in the item's id, the answer and the question; ``wrong``, ``right``, ``abstained``,
    ``missed`` and ``trap`` are what became of it, ``conf>80`` (also with other signs) its stated confidence where
    there is one, ``bin:``, ``section:`` and ``outcome:`` what a name begins with, ``item:`` what is in an id.
    Quotes hold words together and take a word as it stands, and a minus leaves out what a term picks.

    Args:
        text: the filter; an empty one picks everything.

    Raises:
        SelfdiagError: when a term cannot be read.
    """
    terms = list(_terms(text))
    return lambda row: all(term(row) for term in terms)


def _terms(text: str) -> Iterator[Picks]:
    if text.count('"') % 2:
        raise SelfdiagError("a quote opens and none closes it")
    # as quotes come in pairs, only white space gives an empty match
    for found in filter(lambda term: term[0], _TERM.finditer(text)):
        picks = _term(found)
        yield _leaving_out(picks) if found["leave"] else picks


def _leaving_out(picks: Picks) -> Picks:
    return lambda row: not picks(row)


def _term(found: re.Match[str]) -> Picks:
    if found["sign"]:
        return _stated(found["sign"], found["number"])
    key, quoted, bare = found["key"], found["quoted"], found["bare"] or ""
    said = quoted if quoted is not None else bare
    if key is not None:
        return _named(key.lower(), said)
    if quoted is None and not bare:
        raise SelfdiagError("a minus leaves out what follows it: -trap")
    word = fold(said)
    if quoted is None and word in _STATES:
        return _STATES[word]
    return lambda row: word in row.text


def _stated(sign: str, number: str) -> Picks:
    read = _PERCENT.match(number)
    if read is None or float(read[0]) > 100:
        raise SelfdiagError("conf wants a number from 0 to 100: conf>80")
    limit, compare = float(read[0]), _SIGNS[sign]
    return lambda row: row.record.confidence is not None and compare(row.record.confidence, limit)


def _named(key: str, said: str) -> Picks:
    name = _NAMED.get(key)
    if name is None:
        raise SelfdiagError(f"there is no {one_line(key, 20)}: but {_KNOWN}; in quotes it is text")
    wanted = _plain(said)
    if not wanted:
        raise SelfdiagError(f"{key}: wants a name after it, without a space")
    if key == "item":
        return lambda row: wanted in _plain(row.record.item_id)
    if key == "outcome" and not any(_plain(word).startswith(wanted) for word in _OUTCOMES):
        raise SelfdiagError(f"no outcome {one_line(said, 20)}: {', '.join(_OUTCOMES)}")
    return lambda row: _plain(name(row)).startswith(wanted)


@lru_cache(maxsize=8192)
def _plain(name: str) -> str:
    return fold(name).replace("_", " ")


Column = Literal["plan", "outcome", "conf", "topic", "item", "answer", "section"]
COLUMNS: tuple[Column, ...] = get_args(Column)
"""What rows are sorted by: the order of the plan, or a column of the list."""
_BECAME = {
    word: place
    for place, word in enumerate(
        ("missed", "wrong", "error", "not read", "cut off", "no room", "empty", "refused", "abstained", "answered")
    )
}
"""What calls for a look, before the rest."""
_KEYS: dict[Column, Callable[[ItemRow], Any]] = {
    "plan": lambda row: row.place,
    "outcome": lambda row: _BECAME.get(row.word, len(_BECAME)),
    "conf": lambda row: -(row.record.confidence or 0),
    "topic": lambda row: row.record.bin,
    "item": lambda row: row.record.item_id,
    "answer": lambda row: fold((row.record.answer or "")[:60]),
    "section": lambda row: row.record.section,
}


def sorted_rows(rows: Sequence[ItemRow], by: Column = "plan", *, backwards: bool = False) -> list[ItemRow]:
    """Return rows sorted by a column, equal ones in the order they had.

    Args:
        rows: the rows.
        by: the column; by confidence the surest come first.
        backwards: turn the order round; what has no confidence comes last either way.
    """
    ordered = sorted(rows, key=_KEYS[by], reverse=backwards)
    if by == "conf":
        ordered.sort(key=lambda row: row.record.confidence is None)
    return ordered
