"""Screens as SVG files that look alike wherever they are opened."""

from __future__ import annotations

import re
from html import escape, unescape

from rich.cells import cell_len

FONTS = "Cascadia Mono, Fira Code, Menlo, Consolas, DejaVu Sans Mono, monospace"
"""Fonts of a fixed width that machines have of their own; each text is stretched to its cells all the same."""
_BLANK = "\N{NO-BREAK SPACE}"
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_COMMENT = re.compile(r"\s*<!--.*?-->", re.DOTALL)
_PIECES = re.compile("[\u2800-\u28ff]|[^\u2800-\u28ff]+")
"""Braille comes from another font, whose letters are wider: each of them is placed by itself."""
_TEXT = re.compile(r'(<text class="[^"]*" )x="([\d.]+)"( y="[\d.]+") textLength="([\d.]+)"([^>]*)>([^<]*)</text>')


def self_contained(drawn: str) -> str:
    """Return a screen as it is, of which nothing is fetched from anywhere and every text stands where it belongs.

    Textual's own picture names fonts on a server, and some viewers drop the blanks by which its texts are placed.

    Args:
        drawn: SVG as Textual writes it.
    """
    drawn = _COMMENT.sub("", _FONT_FACE.sub("", drawn))
    drawn = drawn.replace("font-family: Fira Code, monospace", f"font-family: {FONTS}")
    return _TEXT.sub(_placed, drawn)


def _placed(found: re.Match[str]) -> str:
    """Return a text in pieces, each at its own place and without blanks around it."""
    head, x, y, length, rest, escaped = found.groups()
    text = unescape(escaped)
    cell = float(length) / max(cell_len(text), 1)  # an end of line takes no cell
    placed, at = [], float(x)
    for piece in _PIECES.findall(text):
        shown = piece.strip(_BLANK)
        cells = cell_len(shown)
        if cells:
            start = at + cell * (len(piece) - len(piece.lstrip(_BLANK)))
            written = escape(shown, quote=False).replace(_BLANK, "&#160;")
            placed.append(f'{head}x="{start:.1f}"{y} textLength="{cells * cell:.1f}"{rest}>{written}</text>')
        at += cell * cell_len(piece)
    return "\n".join(placed)
