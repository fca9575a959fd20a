"""Thin lines between the parts of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.content import Content
from textual.widget import Widget

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp


class Hairline(Widget):
    """A line across, or from top to bottom with the class ``-upright``; of plain characters where these are wanted."""

    DEFAULT_CSS = """
    Hairline { width: 1fr; height: 1; color: $border; }
    Hairline.-upright { width: 1; height: 1fr; }
    """

    def render(self) -> Content:
        """Return as much of the line as there is room for."""
        plain = cast("SelfdiagApp", self.app).ascii
        if self.has_class("-upright"):
            return Content("\n".join("|" if plain else "│" for _ in range(self.size.height)))
        return Content(("-" if plain else "─") * self.size.width)
