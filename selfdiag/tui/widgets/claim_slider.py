"""A slider of the claimed accuracy, moved by arrows, digits or the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp

MOST = 100
_BEFORE, _AFTER = "claimed  0 ", 6
"""What stands before the track, and the cells of the value after it."""


class ClaimSlider(Widget, can_focus=True):
    """A claimed accuracy from 0 to 100 percent.

    Args:
        value: at the start.
        id: of the widget.
    """

    HELP = "The claimed accuracy. Digits type a value: 9 5 is 95."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "by(-5)", "5 less", show=False, id="slider.less"),
        Binding("right", "by(5)", "5 more", show=False, id="slider.more"),
        Binding("shift+left", "by(-1)", "1 less", show=False, id="slider.one_less"),
        Binding("shift+right", "by(1)", "1 more", show=False, id="slider.one_more"),
        Binding("home", "to(0)", "0 %", show=False, id="slider.least"),
        Binding("end", "to(100)", "100 %", show=False, id="slider.most"),
    ]
    DEFAULT_CSS = """
    ClaimSlider { height: 1; width: 1fr; padding: 0 1; }
    """

    value: reactive[int] = reactive(0)

    class Moved(Message):
        """The claimed accuracy is another one."""

        def __init__(self, value: int) -> None:
            super().__init__()
            self.value = value

    if TYPE_CHECKING:
        app: SelfdiagApp

    def __init__(self, value: int, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.set_reactive(ClaimSlider.value, value)
        self._typed = ""
        self._dragged = False

    def validate_value(self, value: int) -> int:
        """Keep the value within 0 and 100."""
        return max(0, min(MOST, value))

    def watch_value(self, value: int) -> None:
        """Tell the screen."""
        self.post_message(self.Moved(value))

    def action_by(self, step: int) -> None:
        """Move by so many points."""
        self.action_to(self.value + step)

    def action_to(self, value: int) -> None:
        """Move to a value."""
        self._typed = ""
        self.value = value

    def on_key(self, event: events.Key) -> None:
        """Type a value; a digit that would make it larger than 100 begins a new one."""
        digit = event.character or ""
        if event.key == "backspace":
            self._typed = str(self.value)[:-1]
        elif digit.isascii() and digit.isdigit():
            longer = self._typed + digit
            self._typed = longer if int(longer) <= MOST else digit
        else:
            return
        event.stop()
        self.value = int(self._typed or "0")

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go to where the mouse is, and follow it."""
        self._dragged = True
        self.capture_mouse()
        self._go_to(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse while its button is down."""
        if self._dragged:
            self._go_to(event.x)

    def on_mouse_up(self) -> None:
        """Let go."""
        self._dragged = False
        self.release_mouse()

    def on_blur(self) -> None:
        """Begin a new number next time."""
        self._typed = ""

    def render(self) -> Content:
        """Return label, track and value."""
        track, knob = ("-", "O") if self.app.ascii else ("─", "●")
        length = self._track()
        at = round(self.value / MOST * (length - 1))
        done = "=" if self.app.ascii else "━"
        colour = "$accent" if self.has_focus else "$foreground"
        return Content.assemble(
            (_BEFORE, "$foreground 60%"),
            (done * at, colour),
            (knob, colour),
            (track * (length - 1 - at), "$border"),
            (f" {self.value:>3} %", f"bold {colour}"),
        )

    def _track(self) -> int:
        return max(2, self.content_size.width - len(_BEFORE) - _AFTER)

    def _go_to(self, x: int) -> None:
        share = (x - self.styles.padding.left - len(_BEFORE)) / (self._track() - 1)
        self.action_to(round(MOST * max(0.0, min(1.0, share))))
