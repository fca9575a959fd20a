"""What stands over everything where a terminal is too small to show anything."""

from __future__ import annotations

from textual.geometry import Size
from textual.widgets import Static

NARROWEST = 60
LOWEST = 20
"""Columns and lines below which the app shows nothing else than that."""


def fits(size: Size) -> bool:
    """Return whether the app can be shown in so many columns and lines."""
    return size.width >= NARROWEST and size.height >= LOWEST


class TooSmall(Static):
    """Says how large the terminal is and how large it must be."""

    DEFAULT_CSS = """
    TooSmall {
        overlay: screen;
        dock: top;
        width: 100vw;
        height: 100vh;
        background: $background;
        color: $foreground;
        content-align: center middle;
        text-align: center;
    }
    """

    def __init__(self, size: Size) -> None:
        super().__init__(self.words(size), markup=False)

    @staticmethod
    def words(size: Size) -> str:
        """Return the sentence for a size in columns and lines."""
        return f"too small: {NARROWEST}x{LOWEST} at least, this is {size.width}x{size.height}\nq quits"
