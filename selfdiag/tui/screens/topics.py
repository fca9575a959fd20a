"""Choosing a topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from selfdiag.tui.screens.stacked import Stacked
from selfdiag.tui.text import line
from selfdiag.tui.widgets.steady_list import SteadyList

EVERY = "all topics"


class TopicScreen(ModalScreen[str | None], Stacked[str | None]):
    """Topics to choose one from; closes with its name, an empty one for all, None for no choice.

    Args:
        topics: their names.
        chosen: the one that is chosen now, empty for all.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "back", id="topics.back"),
        Binding("j", "down", "next", show=False, id="topics.next"),
        Binding("k", "up", "previous", show=False, id="topics.previous"),
    ]
    CSS = """
    TopicScreen { align: center middle; }
    TopicScreen > OptionList {
        width: 34; height: auto; max-height: 90%; padding: 1 2; background: $panel;
        scrollbar-size-vertical: 1; scrollbar-background: $panel;
    }
    TopicScreen .option-list--option-highlighted { background: $accent 25%; color: $foreground; text-style: none; }
    TopicScreen:ansi .option-list--option-highlighted { background: ansi_white; color: ansi_black; text-style: bold; }
    """

    def __init__(self, topics: Sequence[str], chosen: str) -> None:
        super().__init__()
        self._names = ("", *topics)
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        """Yield the list."""
        yield SteadyList(*(Option(line(name or EVERY, 40)) for name in self._names), markup=False)

    def on_mount(self) -> None:
        """Begin at what is chosen."""
        self.query_one(OptionList).highlighted = self._names.index(self._chosen) if self._chosen in self._names else 0

    def on_click(self, event: events.Click) -> None:
        """Close without a choice on a click beside the list."""
        # the event itself always names the screen
        if self.get_widget_at(event.screen_x, event.screen_y)[0] is self:
            self.dismiss()

    def action_down(self) -> None:
        """Go to the next one."""
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        """Go to the one before."""
        self.query_one(OptionList).action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with what is chosen."""
        self.dismiss(self._names[event.option_index])
