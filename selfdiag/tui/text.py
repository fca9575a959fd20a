"""Foreign text for widgets: literal, with nothing in it that a terminal or Textual would obey."""

from __future__ import annotations

from textual.content import Content

from selfdiag.safety import literal, one_line, without_secrets

LONGEST = 20_000
"""Characters of one foreign text that a widget shows; the item screen says how to see the rest."""


def line(text: str, limit: int = 200) -> Content:
    """Return foreign text as one harmless line of content: markup in it stays text."""
    return Content(one_line(text, limit))


def block(text: str, limit: int = LONGEST) -> Content:
    """Return foreign text of several lines as harmless content, without any known key."""
    return Content(literal(without_secrets(text), limit, keep_newlines=True).expandtabs(4))
