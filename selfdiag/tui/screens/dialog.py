"""Short questions over a screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from selfdiag.tui.screens.stacked import Stacked
from selfdiag.tui.text import line

T = TypeVar("T")
_BETWEEN = "   "
"""Stands between two keys of a hint."""


class Hint(Static):
    """Keys with what they do, in one line; a click on one of them is as good as the key.

    Args:
        keys: each with what it does.
        id: of the widget.
    """

    def __init__(self, *keys: tuple[str, str], id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(_told(keys), id=id, classes="hint", markup=False)
        self._keys = keys

    def tell(self, *keys: tuple[str, str]) -> None:
        """Show other keys."""
        self._keys = keys
        self.update(_told(keys))

    def on_click(self, event: events.Click) -> None:
        """Press the key that is clicked."""
        end = 0
        for key, does in self._keys:
            start, end = end, end + len(f"{key} {does}")
            if start <= event.x < end:
                self.app.simulate_key("escape" if key == "esc" else key)
            end += len(_BETWEEN)


def _told(keys: Sequence[tuple[str, str]]) -> Content:
    return Content(_BETWEEN).join(Content.assemble((key, "$accent"), f" {does}") for key, does in keys)


class Dialog(ModalScreen[T], Stacked[T]):
    """A panel in the middle of the screen; escape leaves it without an answer."""

    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > Vertical {
        width: 72;
        max-width: 92%;
        height: auto;
        max-height: 90%;
        padding: 1 2;
        background: $panel;
    }
    Dialog Static { height: auto; width: 1fr; }
    Dialog .question { text-style: bold; margin-bottom: 1; }
    Dialog .label { color: $text-muted; }
    Dialog Input { background: $background; }
    Dialog Input:focus { background: $background; }
    Dialog .hint { color: $text-muted; margin-top: 1; }
    Dialog .fault { color: $error; display: none; margin-top: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", id="dialog.back")]

    def action_leave(self) -> None:
        """Go back without an answer."""
        self.dismiss()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what went wrong where nobody expected it."""
        if event.state is WorkerState.ERROR:
            self.tell_fault(line(f"{type(event.worker.error).__name__}: {event.worker.error}"))

    def tell_fault(self, words: Content | None) -> None:
        """Show why it does not go on, or nothing any more."""
        fault = self.query_one(".fault", Static)
        fault.display = words is not None
        if words is not None:
            fault.update(Content("✗ ") + words)


class Question(Dialog[bool]):
    """A question that is answered by yes or no.

    Args:
        question: what is asked, in one sentence.
        consequence: what follows from a yes.
        yes: what a yes does, in a word.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "yes", "yes", id="dialog.yes"),
        Binding("n", "leave", "no", id="dialog.no"),
    ]

    def __init__(self, question: Content, consequence: Content, *, yes: str) -> None:
        super().__init__()
        self._question = question
        self._consequence = consequence
        self._yes = yes

    def compose(self) -> ComposeResult:
        """Return the question with its answers."""
        with Vertical():
            yield Static(self._question, classes="question", markup=False)
            yield Static(self._consequence, markup=False)
            yield Hint(("enter", self._yes), ("esc", "back"))

    def action_yes(self) -> None:
        """Answer yes."""
        self.dismiss(True)
