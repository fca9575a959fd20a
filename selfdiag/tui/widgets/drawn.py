"""A text that is drawn for whatever width there is."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

Draw = Callable[[int, bool], Content]
"""Returns the text for a width in cells, and whether only ASCII may be used in bars."""


class Drawn(Widget, can_focus=False):
    """Text that is drawn anew for another width, and for plain characters.

    Args:
        draw: what draws it, or words of the app's own.
        classes: of the widget.
    """

    DEFAULT_CSS = """
    Drawn { height: auto; width: 1fr; }
    """

    def __init__(self, draw: Draw | str = "reading…", *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._draw = draw

    def show(self, draw: Draw | str) -> None:
        """Show another text."""
        self._draw = draw
        self.refresh(layout=True)

    def render(self) -> Content:
        """Return the text for the width there is."""
        return self._drawn(self.content_size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - as Textual
        """Return the lines that the text takes."""
        return self._drawn(width).get_height({}, max(1, width))  # of no width Textual asks too, and cannot wrap to it

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.refresh()

    def _drawn(self, width: int) -> Content:
        if isinstance(self._draw, str):
            return Content(self._draw)
        return self._draw(width, bool(getattr(self.app, "ascii", False)))
