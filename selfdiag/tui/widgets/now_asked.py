"""What is asked at the moment, and the answer that came last."""

from __future__ import annotations

import msgspec
from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from selfdiag.runs.records import SELF_REPORTS, Record
from selfdiag.safety import one_line
from selfdiag.tui.diagram_rows import MUTED
from selfdiag.tui.item_filter import Tone, shown
from selfdiag.tui.text import block
from selfdiag.tui.widgets.answers_before import fitted, said

LONGEST = 2000
"""Characters of a question that are laid out; more has no room here anyway."""
COLOURS: dict[Tone, str] = {
    "right": "$success",
    "wrong": "$error",
    "muted": "$foreground",
    "unknown": MUTED,
}
"""Textual's name for the colour of an outcome."""
_MARGIN = 6
"""Cells that the words on the left take."""
_LAST_LINES = 3
"""Lines that the last answer takes, with the blank one before it."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question, and in a few words what it is about."""

    topic: str
    text: str


class NowAsked(Widget):
    """The question under way, steady until its answer is there, and below it the last answer; or plain words."""

    DEFAULT_CSS = """
    NowAsked { height: 9; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._asked: Question | None = None
        self._last: tuple[Record, str] | None = None
        self._words: tuple[str, str] = ("", "")

    def show(self, asked: Question | None, last: tuple[Record, str] | None) -> None:
        """Show what is asked, and the last answer with its question."""
        if (asked, last, ("", "")) != (self._asked, self._last, self._words):
            self._asked, self._last, self._words = asked, last, ("", "")
            self.refresh()

    def tell(self, heading: str, words: str, last: tuple[Record, str] | None = None) -> None:
        """Show plain words in place of a question."""
        if ((heading, words), last) != (self._words, self._last):
            self._words, self._last, self._asked = (heading, words), last, None
            self.refresh()

    def render(self) -> Content:
        """Return the lines that fit."""
        width, height = self.content_size.width, self.content_size.height
        if width < 4 * _MARGIN or not height:
            return Content("")
        below = self._last_lines(width) if height >= 2 * _LAST_LINES else []
        above = self._first_lines(width, height - len(below))
        above += [Content("")] * (height - len(below) - len(above))
        return Content("\n").join([*above, *below])

    def _first_lines(self, width: int, lines: int) -> list[Content]:
        heading, words = self._words
        if heading:
            return [_accented(heading), *_wrapped(words, width, lines - 1)]
        if self._asked is None:
            return []
        topic = fitted(self._asked.topic, width - _MARGIN)
        return [_labelled("now", _accented(topic)), *_wrapped(self._asked.text.strip(), width, lines - 1)]

    def _last_lines(self, width: int) -> list[Content]:
        if self._last is None:
            return []
        record, question = self._last
        room = width - _MARGIN
        glyph, word, tone = shown(record)
        outcome = f"   {glyph} {_in_full(record, word)}"
        tail = "" if record.section in SELF_REPORTS or record.error is not None else f"   {_sure(record)}"
        if cell_len(tail + outcome) > room // 2:
            outcome = f"   {glyph} {word}"
        answer = said(record)
        if cell_len(answer) > room - cell_len(tail + outcome):
            answer = fitted(answer, room - cell_len(tail + outcome))
        asked = Content.assemble((fitted(one_line(question), room), MUTED))
        return [
            Content(""),
            _labelled("last", asked),
            _labelled("said", Content.assemble((answer, "bold"), tail, (outcome, COLOURS[tone]))),
        ]


def _accented(text: str) -> Content:
    return Content.assemble((text, "$accent"))


def _labelled(label: str, rest: Content) -> Content:
    return Content.assemble((f"{label:<{_MARGIN}}", MUTED), rest)


def _sure(record: Record) -> str:
    stated = "no confidence" if record.confidence is None else f"sure {record.confidence}"
    return stated if record.claim is None else f"{stated}, claim {record.claim}"


def _in_full(record: Record, word: str) -> str:
    """Return what became of a reply in words that need no list around them."""
    if record.trap:
        return {"incorrect": "trap missed", "abstained": "abstained from a trap"}.get(record.outcome, word)
    if record.section in SELF_REPORTS and record.outcome not in {"answered", "error"}:
        return f"missing: {word}"
    return word


def _wrapped(text: str, width: int, lines: int) -> list[Content]:
    """Return the lines that foreign text takes, as many as there is room for; a mark shows that it goes on."""
    if lines <= 0 or width <= 0:
        return []
    found = block(text, LONGEST).wrap(width)
    if len(found) <= lines:
        return found
    return [*found[: lines - 1], Content(fitted(f"{found[lines - 1].plain.rstrip():<{width}}…", width))]
