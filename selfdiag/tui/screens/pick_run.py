"""Asks for another run to compare with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.worker import Worker

from selfdiag.tui.background import begin, in_background
from selfdiag.tui.preparation import fault
from selfdiag.tui.screens.dialog import Dialog, Hint
from selfdiag.tui.widgets.run_list import RunList

if TYPE_CHECKING:
    from selfdiag.protocols.overview import RunRow


class PickRun(Dialog[Path]):
    """The user's runs, without the one that is shown.

    Args:
        folder: of the run that is shown.
    """

    CSS = """
    PickRun RunList { height: auto; max-height: 14; background: $panel; scrollbar-background: $panel; }
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._list = RunList(id="others")

    def compose(self) -> ComposeResult:
        """Return the list."""
        with Vertical():
            yield Static("compare with which run?", classes="question", markup=False)
            yield self._list
            yield Static(classes="fault", markup=False)
            yield Hint(("enter", "compare"), ("esc", "back"))

    def on_mount(self) -> None:
        """Read the runs."""
        self._list.focus()
        begin(self, self._read)

    async def _read(self) -> None:
        runs = await in_background(_others, self._folder)
        self._list.show(runs)
        if not runs:
            self._list.display = False
            self.tell_fault(Content("there is no other run yet"))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say why the runs cannot be read."""
        if isinstance(event.worker.error, Exception):
            self._list.display = False
            self.tell_fault(Content(fault(event.worker.error)))

    @on(OptionList.OptionSelected)
    def picked(self) -> None:
        """Answer with the folder of the chosen run."""
        from selfdiag.settings import runs_dir

        chosen = self._list.chosen
        if chosen is not None:
            self.dismiss(runs_dir() / chosen.run_id)


def _others(folder: Path) -> list[RunRow]:
    from selfdiag.protocols.overview import overview
    from selfdiag.settings import runs_dir

    home = runs_dir()
    return [row for row in overview() if row.state != "damaged" and (home / row.run_id).resolve() != folder.resolve()]
