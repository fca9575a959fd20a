"""What the model said to two claims, large enough for a room, and what its replies come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from selfdiag.tui.lab_words import answer_line, claimed, shift_line, verdict_words
from selfdiag.tui.text import line
from selfdiag.tui.widgets.big_pair import BigPair

if TYPE_CHECKING:
    from selfdiag.protocols.microprobe import Microprobe
    from selfdiag.tui.bench import Dose


class ClaimReplies(VerticalScroll):
    """Two replies, the later one with its answer, and the verdict on all of them."""

    DEFAULT_CSS = """
    ClaimReplies { padding: 0 1; scrollbar-size-vertical: 1; }
    ClaimReplies > Static { width: 1fr; }
    ClaimReplies #answer, ClaimReplies #shift { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    ClaimReplies #verdict { height: auto; color: $text-muted; }
    """

    def compose(self) -> ComposeResult:
        """Yield the pair, then words."""
        yield BigPair()
        yield Static(id="answer", markup=False)
        yield Static(id="shift", markup=False)
        yield Static(id="verdict", markup=False)

    def show(self, before: Dose | None, now: Dose | None, found: Microprobe | None, wanted: str) -> None:
        """Show replies.

        Args:
            before: the one that the later one is set against.
            now: the later one.
            found: what all replies to the question show, None below two claims.
            wanted: what a verdict still takes.
        """
        self.query_one(BigPair).show(_side(before), _side(now))
        answer = answer_line(now.reply) if now is not None else ""
        shown = self.query_one("#answer", Static)
        shown.update(line(answer))
        shown.set_classes({"✓": "right", "✗": "wrong"}.get(answer[:1], "muted"))
        replies = (before.reply if before is not None else None, now.reply if now is not None else None)
        self.query_one("#shift", Static).update(line(shift_line(found, *replies)))
        verdict = line(verdict_words(found), 600).plain if found is not None else wanted
        # a number and its sign stay on one line
        self.query_one("#verdict", Static).update(Content(verdict.replace(" %", "\N{NO-BREAK SPACE}%")))


def _side(dose: Dose | None) -> tuple[str, int | None] | None:
    return None if dose is None else (claimed(dose), dose.reply.stated())
