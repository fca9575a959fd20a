"""Textual's list of options, where keys and clicks come at any moment."""

from __future__ import annotations

from textual import events
from textual.widgets import OptionList


class SteadyList(OptionList):
    """A list that stands a page key where it has no room, and a click on an option that has gone meanwhile."""

    def action_page_up(self) -> None:
        """Go a page up, where there are pages."""
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """Go a page down, where there are pages."""
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]

    def on_click(self, event: events.Click) -> None:
        """Leave out what is clicked when it is no longer there."""
        if self.clicked(event) is None:
            event.prevent_default()

    def clicked(self, event: events.Click) -> int | None:
        """Return the place of the option that is clicked, None where there is none."""
        place: int | None = event.style.meta.get("option")
        return place if place is not None and place < self.option_count else None
