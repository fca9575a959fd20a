"""One reply of a run with everything that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from selfdiag.runs.store import Run, read_run
from selfdiag.tui.background import begin, in_background
from selfdiag.tui.item_filter import item_rows
from selfdiag.tui.item_page import ItemPage, item_page
from selfdiag.tui.preparation import fault
from selfdiag.tui.screens.save import SaveDialog, file_name, in_working_folder, write_text
from selfdiag.tui.widgets.hairline import Hairline
from selfdiag.tui.widgets.key_line import KeyLine
from selfdiag.tui.widgets.long_text import LongText, Part

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp


@runtime_checkable
class ListsItems(Protocol):
    """A screen that items are opened from."""

    def reading_order(self) -> Sequence[str]:
        """Return the call ids of its list, in its order."""
        ...

    def run_read(self) -> Run | None:
        """Return the run, if the screen has read it."""
        ...

    def went_to(self, call_id: str) -> None:
        """Put its cursor on the item that was looked at last."""
        ...


class ItemScreen(Screen[None]):
    """A reply, its question, and how it was read and graded.

    Args:
        folder: of the run.
        call_id: of the reply.
    """

    AUTO_FOCUS = "LongText"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", id="item.back"),
        Binding("n,j", "turn(1)", "next", id="item.next"),
        Binding("p,k", "turn(-1)", "previous", id="item.previous"),
        Binding("y", "copy", "copy", id="item.copy"),
        Binding("w", "write", "save the reply", id="item.write"),
    ]

    if TYPE_CHECKING:
        app: SelfdiagApp

    def __init__(self, folder: Path, call_id: str) -> None:
        super().__init__()
        self.folder = folder
        self.call_id = call_id
        self._run: Run | None = None
        self._order: Sequence[str] = ()
        self._page: ItemPage | None = None
        self._title = Static("reading…", id="title", markup=False)
        self._text = LongText()

    def compose(self) -> ComposeResult:
        """Yield title, text and keys."""
        yield self._title
        yield Hairline()
        yield self._text
        yield KeyLine()

    def on_mount(self) -> None:
        """Read the run, and take over the order of the list that this was opened from."""
        below = self._below()
        if below is not None:
            self._order, self._run = below.reading_order(), below.run_read()
        self._show(self.call_id)

    def _below(self) -> ListsItems | None:
        stack = self.app.screen_stack
        place = stack.index(self)
        below = stack[place - 1] if place else None
        return below if isinstance(below, ListsItems) else None

    def _show(self, call_id: str) -> None:
        self.call_id = call_id
        begin(self, self._look_up, call_id, group="page")

    async def _look_up(self, call_id: str) -> None:
        if self._run is None:
            self._run = await in_background(read_run, self.folder)
        run = self._run
        if call_id not in self._order:
            self._order = await in_background(_plan_order, run)
        self._page = page = await in_background(item_page, run, call_id)
        self.refresh_bindings()
        if page is None:
            self._title.update("no such reply")
            self._text.show([Part(head="? unknown", text="the run has no reply to this call", tone="unknown")])
            return
        place = f"{self._order.index(call_id) + 1:,} of {len(self._order):,}" if call_id in self._order else ""
        self._title.update(Content.assemble((page.title, "bold $foreground"), f"   {place}"))
        self._text.show(page.parts)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what went wrong beside the event loop."""
        error = event.worker.error
        if event.state != WorkerState.ERROR or not isinstance(error, Exception):
            return
        if event.worker.group == "page":
            self._title.update("no such reply")
            self._text.show([Part(head="✗ fault", text=fault(error), tone="wrong")])
        else:
            self.app.say(fault(error), severity="error")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - as Textual
        """Leave out what cannot be done with this reply."""
        if action == "copy":
            return self._page is not None
        if action == "write":
            return self._page is not None and bool(self._page.record.raw)
        if action == "turn":
            return len(self._order) > 1
        return True

    def action_back(self) -> None:
        """Go back to the list, on the item that was looked at last."""
        below = self._below()
        if below is not None:
            below.went_to(self.call_id)
        self.app.pop_screen()

    def action_turn(self, by: int) -> None:
        """Show the next or the previous reply of the list."""
        if self.call_id not in self._order:
            return
        place = self._order.index(self.call_id) + by
        if 0 <= place < len(self._order):
            self._show(self._order[place])
        else:
            self.app.say("that was the last one" if by > 0 else "that was the first one")

    def action_copy(self) -> None:
        """Send the page to the terminal's clipboard."""
        if self._page is not None:
            self.app.copy_to_clipboard(self._page.text())
            self.app.say("sent to the terminal; whether it was copied, the terminal decides: w saves the reply")

    def action_write(self) -> None:
        """Write the reply as it came to a file."""
        page = self._page
        if page is None:
            return

        def write(path: Path | None) -> None:
            if path is not None:
                begin(self, self._write, path, page.record.raw, group="write")

        default = in_working_folder(file_name(page.record.item_id, "reply.txt"))
        hint = f"all {len(page.record.raw):,} characters as they came, in UTF-8"
        self.app.push_screen(SaveDialog("write the reply", default, hint), write)

    async def _write(self, path: Path, raw: str) -> None:
        where = await in_background(write_text, path, raw)
        self.app.say(f"wrote {where}")


def _plan_order(run: Run) -> list[str]:
    return [row.record.call_id for row in item_rows(run)]
