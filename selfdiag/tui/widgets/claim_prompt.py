"""The prompt of the lab: the question with its key, the profile, and the line that names the topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from selfdiag.safety import one_line
from selfdiag.tui.text import block, line
from selfdiag.tui.widgets.profile_lines import ProfileLines

if TYPE_CHECKING:
    from selfdiag.tui.bench import Shown

LOADING = "loading the questions"
NOT_NAMED = "(the question does not name its topic)"


class ClaimPrompt(Vertical):
    """What is put before the model, as far as a person needs to see it."""

    DEFAULT_CSS = """
    ClaimPrompt { height: auto; }
    ClaimPrompt #item { height: auto; min-height: 2; max-height: 4; padding: 0 1; scrollbar-size-vertical: 1; }
    ClaimPrompt #question { height: auto; }
    ClaimPrompt #named { height: 1; padding: 0 1; }
    ClaimPrompt #named Static { text-wrap: nowrap; text-overflow: ellipsis; }
    ClaimPrompt #label { width: 1fr; }
    ClaimPrompt #key { width: auto; max-width: 50%; padding-left: 2; color: $text-muted; }
    """

    def compose(self) -> ComposeResult:
        """Yield the question, the profile, then the topic and beside it the key, which is no part of the prompt."""
        with VerticalScroll(id="item"):
            yield Static(LOADING, id="question", markup=False)
        yield ProfileLines()
        with Horizontal(id="named"):
            yield Static(id="label", markup=False)
            yield Static(id="key", markup=False)

    def show(self, shown: Shown, key: str, *, own: bool) -> None:
        """Show a prompt.

        Args:
            shown: its parts.
            key: the right answer.
            own: whether the claim stands on the line of the question's own topic.
        """
        self.query_one("#question", Static).update(block(shown.question, 1000))
        self.query_one("#key", Static).update(Content.assemble("key  ", (one_line(key, 60), "$foreground")))
        remark = "this line is all that changes" if own else "another topic's line"
        self.query_one(ProfileLines).show(shown.profile, shown.changing, remark)
        label = self.query_one("#label", Static)
        label.update(line(shown.label or NOT_NAMED))
        label.set_class(not shown.label, "muted")
