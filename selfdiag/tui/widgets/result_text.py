"""A result that is told as text."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import ScrollableContainer
from textual.widgets import Static

from selfdiag.tui.text import block

MOST = 200_000
"""Characters of a result that are shown."""


class ResultText(ScrollableContainer):
    """A result that is told as text, as the command prints it."""

    HELP = "What the run came to, as the command prints it."
    SCOPED_CSS = False
    DEFAULT_CSS = """
    ResultText { scrollbar-size: 0 0; padding: 0; }
    .-wide ResultText { scrollbar-size-vertical: 1; padding: 0 1; }
    ResultText > Static { width: auto; height: auto; text-wrap: nowrap; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = Static("reading…", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the text."""
        yield self._text

    def show(self, lines: Sequence[str]) -> None:
        """Show a result."""
        self._text.update(block("\n".join(lines), MOST))
