"""The profile as the prompt holds it, with the one line that changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from selfdiag.safety import one_line

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp


class ProfileLines(Widget):
    """As many lines of a profile as there is room for, around the one that is marked."""

    DEFAULT_CSS = """
    ProfileLines { height: 3; width: 1fr; padding: 0 1; }
    """

    if TYPE_CHECKING:
        app: SelfdiagApp

    def __init__(self) -> None:
        super().__init__()
        self._lines: tuple[str, ...] = ()
        self._marked = 0
        self._remark = ""

    def show(self, lines: Sequence[str], marked: int, remark: str) -> None:
        """Show a profile.

        Args:
            lines: of the prompt, one a topic.
            marked: place of the line that changes.
            remark: says so beside it.
        """
        self._lines, self._marked, self._remark = tuple(lines), marked, remark
        self.refresh()

    def render(self) -> Content:
        """Return the lines."""
        room = max(1, self.size.height)
        first = max(0, min(self._marked - room // 2, len(self._lines) - room))
        shown = range(first, min(first + room, len(self._lines)))
        return Content("\n").join(self._line(place) for place in shown)

    def _line(self, place: int) -> Content:
        text = one_line(self._lines[place], 60)
        if place != self._marked:
            return Content.styled(f"  {text}", "$foreground 60%")
        arrow = "<" if self.app.ascii else "◂"
        return Content.assemble((f"  {text}", "bold $accent"), (f"   {arrow} {self._remark}", "$foreground 60%"))
