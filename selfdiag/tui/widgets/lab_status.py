"""The lab's line of what goes on, and of what was asked so far."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from selfdiag.tui.text import line

REMOTE = "what is sent leaves this machine"


class LabStatus(Horizontal):
    """What goes on at the left, which gives way, and at the right what must be seen of it at any time."""

    DEFAULT_CSS = """
    LabStatus { height: 1; padding: 0 1; }
    LabStatus > Static { color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    LabStatus > #status { width: 1fr; }
    LabStatus > #status.-fault { color: $error; }
    LabStatus > #asked { width: auto; padding-left: 2; }
    """

    def compose(self) -> ComposeResult:
        """Yield both sides."""
        yield Static(id="status", markup=False)
        yield Static(id="asked", markup=False)

    def tell(self, words: str, *, fault: bool, calls: int, remote: bool) -> None:
        """Show one line.

        Args:
            words: foreign text among them.
            fault: whether they tell a fault.
            calls: made so far.
            remote: whether they leave this machine.
        """
        status, asked = self.query(Static)
        status.set_class(fault, "-fault")
        status.update(line(f"✗ {words}" if fault else words, 300))
        counted = f"{calls} {'call' if calls == 1 else 'calls'}" if calls else ""
        asked.update(" · ".join(filter(None, (counted, REMOTE if remote else ""))))
