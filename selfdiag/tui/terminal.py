"""What a terminal can show, and the last look at every line before it is sent there."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from io import TextIOWrapper

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_SIGNS = {
    "✓": "+",
    "✗": "x",
    "○": "o",
    "☑": "x",
    "☐": "-",
    "·": "-",
    "–": "-",
    "…": "~",
    "×": "x",
    "⚑": "!",
    "•": "*",
    "←": "<",
    "↑": "^",
    "→": ">",
    "↓": "v",
    "▸": ">",
    "▾": "v",
    "◂": "<",
    "▴": "^",
    "‹": "<",
    "›": ">",
    "░": ".",
    "▒": ":",
    "▓": "%",
    "╱": "/",
    "╲": "\\",
    "╳": "X",
    "\N{NO-BREAK SPACE}": " ",
    "\N{BRAILLE PATTERN BLANK}": " ",
}
_GROUPS = (
    ("─━┄┅┈┉╌╍═╴╶╸╺╼╾▔▀", "-"),
    ("│┃┆┇┊┋╎╏║╵╷╹╻╽╿▏▎▍▌▋▊▉▐▕", "|"),
    ("▁▂▃▄▅", "_"),
)
_BLOCKS = (("\u2500", "\u257f", "+"), ("\u2580", "\u259f", "#"), ("\u25a0", "\u25ff", "*"), ("\u2800", "\u28ff", ":"))


def _plain_characters() -> dict[int, str]:
    found = {code: sign for first, last, sign in _BLOCKS for code in range(ord(first), ord(last) + 1)}
    found |= {ord(char): sign for chars, sign in _GROUPS for char in chars}
    return found | {ord(char): sign for char, sign in _SIGNS.items()}


_PLAIN = _plain_characters()
"""What stands for each sign that is drawn, in as many cells as the sign: one."""


def has_few_colours() -> bool:
    """Return whether the terminal is a console with 16 colours, which has better ones of its own than ours."""
    return os.environ.get("TERM") == "linux" and not os.environ.get("COLORTERM")


def has_few_characters() -> bool:
    """Return whether the signs of the app may not be shown: on such a console, and with an old code page."""
    if os.environ.get("TEXTUAL_DRIVER"):  # drawn elsewhere, as in a browser
        return False
    encodings = (getattr(stream, "encoding", None) for stream in (sys.__stdout__, sys.__stderr__))
    return has_few_colours() or not all(_is_unicode(encoding) for encoding in encodings if encoding)


def never_fail_to_write() -> None:
    """Let a question mark stand for what the terminal's code page does not have; an error would end the drawing."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if isinstance(stream, TextIOWrapper) and not _is_unicode(stream.encoding):
            with suppress(OSError, ValueError):
                stream.reconfigure(errors="replace")


def _is_unicode(encoding: str) -> bool:
    try:
        "✓─語".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class Harmless(LineFilter):
    """Takes out of every line what a terminal would obey: a name typed or pasted into a field may hold it."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's signature
        """Return the segments of a line, as wide as before."""
        return list(_changed(segments, str.isprintable, _harmless))


class Plain(LineFilter):
    """Draws with ASCII alone: the signs of foreign texts too, while letters of every script stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - as above
        """Return the segments of a line, as wide as before."""
        return list(_changed(segments, str.isascii, _in_ascii))


def _changed(
    segments: Iterable[Segment], is_right: Callable[[str], bool], change: Callable[[str], str]
) -> Iterable[Segment]:
    for segment in segments:
        text = segment.text
        yield segment if segment.control or is_right(text) else Segment(change(text), segment.style)


@lru_cache(1024)
def _harmless(text: str) -> str:
    return "".join(char if _is_harmless(char) else "?" * cell_len(char) for char in text)


def _is_harmless(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


@lru_cache(1024)
def _in_ascii(text: str) -> str:
    return text.translate(_PLAIN)
