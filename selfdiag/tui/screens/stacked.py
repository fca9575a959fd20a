"""Screens that are laid over others, and taken away again."""

from __future__ import annotations

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen

T = TypeVar("T")


class Stacked(Screen[T]):
    """A screen whose dismissal takes away itself alone.

    Textual takes away whatever is on top, and after a second click, or when a thread's result comes late, that is
    another screen.
    """

    _late: tuple[T | None] | None = None

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Take this screen away with a result, as soon as it is on top; nothing happens when it is gone already."""
        stack = self.app.screen_stack
        if stack and stack[-1] is self:
            return super().dismiss(result)
        if self in stack:
            self._late = (result,)
        done: AwaitComplete = AwaitComplete.nothing()  # type: ignore[no-untyped-call]
        return done

    def on_screen_resume(self) -> None:
        """Go, if that was wanted while another screen was above."""
        if self._late is not None:
            self.dismiss(*self._late)
