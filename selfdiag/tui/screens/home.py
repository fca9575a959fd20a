"""The home screen: which model, and what to ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from selfdiag.tui.widgets.hairline import Hairline

if TYPE_CHECKING:
    from selfdiag.tui.widgets.home_body import HomeBody

BREATH = 0.02
"""Seconds for the thread that writes to the terminal: the imports that follow would hold it up."""


class Title(Widget):
    """The name of the app, and how to find everything it can do."""

    def render(self) -> Content:
        """Return the name at the left and the key at the right."""
        name, keys = "selfdiag", "^p all actions"
        gap = " " * max(self.size.width - len(name) - len(keys), 1)
        return Content.assemble((name, "bold $foreground"), gap, keys)


class HomeScreen(Screen[None]):
    """A title and a question, and below them the answers, which are built once the question can be read."""

    HELP = """
    ## selfdiag

    Choose a model, and how much to ask it. `enter` starts. `tab` goes from the models to the last audits, the battery
    and the sections.
    """

    CSS = """
    HomeScreen #question { padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._body: HomeBody | None = None

    def compose(self) -> ComposeResult:
        """Return what is painted first."""
        yield Title(id="title")
        yield Hairline()
        yield Static("which model?", id="question")

    def on_mount(self) -> None:
        """Build the rest once this much has been painted."""
        self.call_after_refresh(self.set_timer, BREATH, self._furnish)

    def on_screen_resume(self) -> None:
        """Read the runs again: coming back from a screen, there may be another one."""
        if self._body is not None and self._body.is_mounted:
            self._body.read_runs()

    async def _furnish(self) -> None:
        # imported here, because its widgets take as long to import as the first paint takes
        from selfdiag.tui.widgets.home_body import HomeBody

        self._body = HomeBody()
        with self.app.batch_update():
            await self.query_one("#question").remove()
            await self.mount(self._body)
