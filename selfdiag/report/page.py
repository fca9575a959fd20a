"""What every page of a report is made of: its width, wrapped lines, tables in Markdown, and foreign text harmless."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from selfdiag.safety import literal, one_line, redact

WIDTH = 80
INNER = WIDTH - 6
"""Characters of a line inside the card's frame."""
TABLE = "\n\n| "
"""Where a table starts in Markdown of ours: a bar at the start of a foreign text is escaped."""


def cell(text: str, limit: int = 200) -> str:
    """Return foreign text without keys, as one line in which Markdown and HTML mean nothing."""
    shown = " ".join(literal(line) for line in redact(text[:limit]).splitlines())
    shown += "…" if len(text) > limit else ""
    shown = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", shown)
    return shown.replace("&", "&amp;").replace("<", "&lt;")


def excerpt(text: str, limit: int) -> str:
    """Return foreign text without keys, harmless and with its lines, cut at ``limit`` characters where it is longer."""
    shown = literal(redact(text[:limit]), keep_newlines=True)
    return shown if len(text) <= limit else f"{shown}… ({len(text) - limit:,} more characters)"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; its cells are taken as they are."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return a text as lines not wider than ``WIDTH`` characters, each after the indent."""
    return textwrap.wrap(one_line(text, 1200), WIDTH, initial_indent=indent, subsequent_indent=indent)


def notes_lines(notes: Sequence[str], indent: str = "") -> list[str]:
    """Return notes as lines not wider than ``WIDTH`` characters; the first of each is marked."""
    return [
        line
        for note in notes
        for line in textwrap.wrap(
            f"! {one_line(note, 400)}", WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  "
        )
    ]
