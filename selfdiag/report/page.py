"""What every page of a report is made of: its width, tables in Markdown, and foreign text made harmless."""

from __future__ import annotations

import re
from collections.abc import Sequence

from selfdiag.safety import literal

WIDTH = 80
INNER = WIDTH - 6
"""Characters of a line inside the card's frame."""


def cell(text: str, limit: int = 200) -> str:
    """Return foreign text as one line in which Markdown and HTML mean nothing."""
    shown = " ".join(literal(line) for line in text[:limit].splitlines()) + ("…" if len(text) > limit else "")
    shown = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", shown)
    return shown.replace("&", "&amp;").replace("<", "&lt;")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; its cells are taken as they are."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
