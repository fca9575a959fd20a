"""Two numbers so large that a room can read them: what it said before, and what it says now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Digits, Static

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp


class BigPair(Horizontal):
    """A stated confidence before and now, each under the claim that was made."""

    DEFAULT_CSS = """
    BigPair { height: 4; }
    BigPair > Vertical { width: 15; height: 4; }
    BigPair > .arrow { width: 3; height: 4; padding-top: 2; color: $text-muted; }
    BigPair .claim { height: 1; color: $text-muted; }
    BigPair Digits { width: 1fr; height: 3; }
    BigPair .plain { display: none; height: 3; padding-top: 1; text-style: bold; }
    BigPair .now { color: $accent; }
    BigPair.-plain Digits { display: none; }
    BigPair.-plain .plain { display: block; }
    """

    if TYPE_CHECKING:
        app: SelfdiagApp

    def __init__(self) -> None:
        super().__init__()
        self._claims = (Static(classes="claim", markup=False), Static(classes="claim", markup=False))
        self._digits = (Digits(), Digits(classes="now"))
        self._plain = (Static(classes="plain", markup=False), Static(classes="plain now", markup=False))
        self._arrow = Static(classes="arrow", markup=False)

    def compose(self) -> ComposeResult:
        """Yield both numbers with an arrow between them."""
        for place in (0, 1):
            if place:
                yield self._arrow
            with Vertical():
                yield self._claims[place]
                yield self._digits[place]
                yield self._plain[place]

    def show(self, before: tuple[str, int | None] | None, now: tuple[str, int | None] | None) -> None:
        """Show two confidences from 0 to 100, each with the words for its claim; None where there is none yet."""
        self.set_class(self.app.ascii, "-plain")
        arrow = "->" if self.app.ascii else "→"
        self._arrow.update(arrow if before is not None and now is not None else "")
        for place, side in enumerate((before, now)):
            words, stated = side if side is not None else ("", None)
            shown = "" if side is None else "-" if stated is None else str(stated)
            self._claims[place].update(words)
            self._digits[place].update(shown)
            self._plain[place].update(shown)
