"""What can be done here: the focused widget's keys, the screen's, and the app's, and how to change them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from selfdiag.safety import one_line
from selfdiag.settings import config_path
from selfdiag.tui.actions import Action, actions_of, nodes_of
from selfdiag.tui.screens.stacked import Stacked
from selfdiag.tui.text import line

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp

COPIED_BY_THE_APP = "screen.copy_text"
"""Textual's own way to copy: the app's has the same key, and says what became of it."""
_KEYS = 16
_DOES = 30
"""Cells of the columns."""


class HelpScreen(ModalScreen[None], Stacked[None]):
    """The keys that work where it was called, the nearest ones first.

    Args:
        screen: that was shown.
        focused: the widget on it that took the keys, if any.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss", "close", id="help.close"),
    ]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll {
        width: 74; max-width: 100%; height: auto; max-height: 100%;
        background: $surface; padding: 0 2 1 2;
        scrollbar-size-vertical: 1; scrollbar-background: $surface;
    }
    HelpScreen Static { height: auto; }
    HelpScreen .heading { margin-top: 1; color: $accent; }
    HelpScreen .note { color: $text-muted; }
    """

    if TYPE_CHECKING:
        app: SelfdiagApp

    def __init__(self, screen: Screen[object], focused: Widget | None) -> None:
        super().__init__()
        self._screen = screen
        self._focused = focused

    def compose(self) -> ComposeResult:
        """Yield one block for every layer that takes keys."""
        nodes = nodes_of(self._screen, self._focused)
        inner = [node for node in nodes if node is not self._screen and node is not self.app]
        blocks: list[tuple[str, Sequence[DOMNode]]] = [
            ("here", inner),
            ("on this screen", [self._screen]),
            ("everywhere", [self.app]),
        ]
        # the app's own priority keys go before everything
        first = [key for action in actions_of(self.app, self.app.preferences.keys) for key in action.keys]
        taken = {key.key for key in first if key.priority}
        with VerticalScroll():
            for heading, layer in blocks:
                if layer == [self.app]:
                    taken = set()
                actions = [
                    action
                    for node in layer
                    for action in _not_taken(actions_of(node, self.app.preferences.keys), taken)
                ]
                helps = [_help_of(node.HELP) for node in layer if isinstance(node, Widget) and node.HELP]
                ours = [action for action in actions if action.id]
                others = [
                    action
                    for action in actions
                    if not action.id and action.node is not self.app and action.action != COPIED_BY_THE_APP
                ]
                if actions or helps:
                    named = next((name for name, _ in helps if name), "")
                    yield Static(line(f"{heading}: {named}" if named else heading), classes="heading", markup=False)
                for _, text in helps:
                    yield Static(line(text, 1000), classes="note", markup=False)
                if ours:
                    yield Static(self._table(ours), markup=False)
                if others:
                    yield Static(self._in_passing(others), classes="note", markup=False)
            yield Static("other keys", classes="heading", markup=False)
            yield Static(self._remapping(), classes="note", markup=False)

    def on_click(self, event: events.Click) -> None:
        """Close on a click beside the keys."""
        # the event itself always names the screen
        if self.get_widget_at(event.screen_x, event.screen_y)[0] is self:
            self.dismiss()

    def _table(self, actions: Iterable[Action]) -> Content:
        """Return a line for each action: its keys, what it does, and its name in the config file."""
        rows = [
            Content.assemble(
                (f"{one_line(self._shown(action), _KEYS - 1):<{_KEYS}}", "$accent"),
                f"{one_line(action.description, _DOES - 1):<{_DOES}}",
                (action.id, "$foreground 50%"),
            )
            for action in actions
        ]
        return Content("\n").join(rows)

    def _in_passing(self, actions: Iterable[Action]) -> Content:
        """Return keys that cannot be changed, one after the other."""
        return Content(" · ".join(f"{self._shown(action)} {action.description.lower()}" for action in actions))

    def _shown(self, action: Action) -> str:
        return " ".join(dict.fromkeys(self.app.get_key_display(key) for key in action.keys))

    def _remapping(self) -> Content:
        path = one_line(str(config_path()), 300)
        return Content(f'{path}, table [app.keys], by the name on the right: "app.quit" = "f10"')


def _not_taken(actions: Iterable[Action], taken: set[str]) -> Iterator[Action]:
    """Yield actions with the keys that nothing nearer takes, and note these."""
    for action in actions:
        keys = tuple(key for key in action.keys if key.key not in taken)
        taken.update(key.key for key in keys)
        if keys:
            yield action._replace(keys=keys)


def _help_of(text: str) -> tuple[str, str]:
    """Return the heading of a widget's help, empty when it has none, and the rest as one paragraph."""
    lines = [one.strip().replace("`", "") for one in text.strip().splitlines()]
    heading = next((one.lstrip("# ") for one in lines if one.startswith("#")), "")
    return heading, " ".join(one for one in lines if one and not one.startswith("#"))
