"""What a run came to: its tier, and a tab for everything behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Static
from textual.worker import Worker, WorkerState

from selfdiag.runs.records import TASKS
from selfdiag.tui.background import begin, in_background
from selfdiag.tui.preparation import fault
from selfdiag.tui.reading import Reading, brief, measure, read, size, title
from selfdiag.tui.screens.pick_run import PickRun
from selfdiag.tui.screens.save import SaveDialog, file_name, in_working_folder, write_text
from selfdiag.tui.text import line
from selfdiag.tui.widgets.calibration_tab import CalibrationTab
from selfdiag.tui.widgets.discrimination_tab import DiscriminationTab
from selfdiag.tui.widgets.hairline import Hairline
from selfdiag.tui.widgets.items_tab import ItemsTab, ItemTable
from selfdiag.tui.widgets.key_line import KeyLine
from selfdiag.tui.widgets.result_text import ResultText
from selfdiag.tui.widgets.selective_tab import SelectiveTab
from selfdiag.tui.widgets.self_tab import SelfTab, assessment_findings
from selfdiag.tui.widgets.standing_tab import StandingTab, standing_findings
from selfdiag.tui.widgets.tab_line import TabLine
from selfdiag.tui.widgets.tier_head import TierHead
from selfdiag.tui.widgets.topics_tab import TopicsTab, topic_findings
from selfdiag.tui.widgets.traps_tab import TrapsTab, trap_findings

if TYPE_CHECKING:
    from selfdiag.protocols.diagrams import Diagrams
    from selfdiag.protocols.summary import Summary
    from selfdiag.report.results import Result
    from selfdiag.runs.store import Run
    from selfdiag.tui.app import SelfdiagApp

TABS = ("calibration", "discrimination", "selective", "traps", "topics", "self", "items", "where")
"""Of a run that asked probes or traps."""
TEXT_TABS = ("result", "items")
"""Of any other."""


class ResultsScreen(Screen[None]):
    """The results of one run.

    Args:
        folder: of the run.
    """

    AUTO_FOCUS = ""
    CSS = """
    ResultsScreen #title { text-wrap: nowrap; text-overflow: ellipsis; }
    ResultsScreen #brief { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    ResultsScreen #fault { height: 1fr; padding: 1 1; color: $error; display: none; }
    ResultsScreen ContentSwitcher { height: 1fr; }
    ResultsScreen ContentSwitcher > * { height: 100%; }
    ResultsScreen.-failed #fault { display: block; }
    ResultsScreen.-failed ContentSwitcher, ResultsScreen.-failed TabLine { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", id="results.back"),
        Binding("e", "export", "export", id="results.export"),
        Binding("y", "copy", "copy", id="results.copy"),
        Binding("c", "compare", "compare", id="results.compare"),
        Binding("l", "lab", "lab", id="results.lab"),
        Binding("r", "resume", "go on", id="results.resume"),
        Binding("slash", "filter", "filter", show=False, id="results.filter"),
        Binding("left", "turn(-1)", "tab before", show=False, id="results.before"),
        Binding("right", "turn(1)", "next tab", show=False, id="results.next"),
        *(
            Binding(str(place), f"tab({place})", f"tab {place}: {name}", show=False, id=f"results.tab_{place}")
            for place, name in enumerate(TABS, 1)
        ),
    ]

    if TYPE_CHECKING:
        app: SelfdiagApp

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.reading: Reading | None = None
        self._measured: tuple[Summary, Diagrams] | None = None
        self._result: Result | None = None
        self._tabs: dict[str, Widget] = {}
        self._filled: set[str] = set()
        self._size_read = -1
        self._title = Static("reading…", id="title", markup=False)
        self._line = TabLine()
        self._head = TierHead()
        self._brief = Static(id="brief", markup=False)
        self._fault = Static(id="fault", markup=False)
        self._body = ContentSwitcher()
        self._active = 0

    def compose(self) -> ComposeResult:
        """Yield title, tabs, head and body."""
        yield self._title
        yield self._line
        yield Hairline()
        yield self._head
        yield self._brief
        yield Hairline(classes="under-head")
        yield self._fault
        yield self._body
        yield KeyLine()

    def on_mount(self) -> None:
        """Read the run."""
        self._load()

    def on_screen_resume(self) -> None:
        """Read the run again when more of it has been asked since."""
        if self._size_read >= 0 and self._size_read != size(self.folder):
            self._load()

    def on_resize(self) -> None:
        """Show as much of the head as there is room for."""
        self._arrange()

    def _load(self) -> None:
        self._size_read = size(self.folder)
        begin(self, self._read, group="read")

    async def _read(self) -> None:
        """Read the run, then measure it; its list can be seen meanwhile."""
        self._filled.clear()
        self._measured = self._result = None
        self.reading = reading = await in_background(read, self.folder)
        self._title.update(title(reading))
        self.refresh_bindings()
        await self._build(TABS if reading.audited else TEXT_TABS)
        self._items.show(reading.rows)
        if reading.audited:
            self._measured = await in_background(measure, reading.run)
            self._head.show(self._measured[0])
            self._brief.update(brief(self._measured[0]))
        self._arrange()
        self._fill_open()

    async def _build(self, names: Sequence[str]) -> None:
        """Put up the tabs of a run, where they are not there yet."""
        if tuple(self._tabs) == tuple(names):
            return
        await self._body.remove_children()
        made = {name: _MAKES[name]() for name in names}
        for name, tab in made.items():
            tab.id = f"tab-{name}"
            tab.display = False
        await self._body.mount_all(made.values())
        self._tabs = made
        assessed = self.reading is not None and TASKS in self.reading.run.manifest.settings.sections
        self._open(names.index("self") if assessed and "self" in names else 0)

    @property
    def _shown(self) -> str:
        """The name of the open tab, empty before there is one."""
        return list(self._tabs)[self._active] if self._tabs else ""

    @property
    def _items(self) -> ItemsTab:
        found = self._tabs["items"]
        assert isinstance(found, ItemsTab)  # noqa: S101
        return found

    def _open(self, place: int) -> None:
        """Show a tab and give it the keys."""
        self._active = place
        self._body.current = f"tab-{self._shown}"
        self._line.show(list(self._tabs), place)
        self._arrange()
        self._give_keys(self._tabs[self._shown])
        self._fill_open()

    def _fill_open(self) -> None:
        """Fill the open tab, when that is possible and has not been done."""
        name = self._shown
        ready = self.reading is not None and (self._measured is not None or not self.reading.audited)
        if ready and name != "items" and name not in self._filled:
            self._filled.add(name)
            begin(self, self._fill, name, group=name)

    def _arrange(self) -> None:
        """Show the head whole above the first tab, and above the others as far as there is room."""
        whole = self._active == 0
        measured = self._measured is not None
        self._head.display = measured and (whole or self.has_class("-high"))
        self._head.set_class(not whole, "-brief")
        self._brief.display = measured and not self._head.display
        self.query_one(".under-head").display = measured

    def _give_keys(self, tab: Widget) -> None:
        """Give the keys to what is gone through on a tab, or scrolled."""
        if isinstance(tab, ItemsTab | TrapsTab):
            self.set_focus(tab.listing)
        else:
            self.set_focus(next((widget for widget in (tab, *tab.query("*")) if widget.focusable), None))

    async def _fill(self, name: str) -> None:
        """Work out what a tab shows, and show it."""
        assert self.reading is not None  # noqa: S101
        run, tab = self.reading.run, self._tabs[name]
        if isinstance(tab, ResultText):
            result = await self._whole()
            tab.show(result.lines(self.app.ascii))
            return
        if self._measured is None:
            return
        summary, diagrams = self._measured
        if isinstance(tab, TrapsTab):
            tab.show(await in_background(trap_findings, run, summary), summary)
        elif isinstance(tab, TopicsTab):
            found = await in_background(partial(topic_findings, run, by_group=diagrams.by_group))
            tab.show(summary, diagrams, found)
        elif isinstance(tab, SelfTab):
            await tab.show(summary, await in_background(assessment_findings, run))
        elif isinstance(tab, StandingTab):
            tab.show(await in_background(standing_findings, run))
        elif isinstance(tab, CalibrationTab | DiscriminationTab | SelectiveTab):
            tab.show(summary, diagrams)
        # only where nobody has the keys: a person may be typing a filter meanwhile
        if self.focused is None and name == self._shown:
            self._give_keys(tab)

    async def _whole(self) -> Result:
        """Return the result as it is printed and exported."""
        from selfdiag.report.results import result_of

        assert self.reading is not None  # noqa: S101
        if self._result is None:
            self._result = await in_background(result_of, self.reading.run)
        return self._result

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what went wrong beside the event loop; without the run itself there is nothing else to show."""
        error = event.worker.error
        if event.state != WorkerState.ERROR or not isinstance(error, Exception):
            return
        if event.worker.group == "read" and self.reading is None:
            self._title.update(line(self.folder.name))
            self._fault.update(Content(f"✗ {fault(error)}"))
            self.add_class("-failed")
        else:
            self.app.say(fault(error), severity="error")

    # what other screens ask of this one

    def reading_order(self) -> Sequence[str]:
        """Return the call ids of the list that an item was opened from, in its order."""
        tab = self._tabs.get(self._shown)
        return tab.order if isinstance(tab, ItemsTab | TrapsTab) else ()

    def run_read(self) -> Run | None:
        """Return the run, once it has been read."""
        return self.reading.run if self.reading is not None else None

    def went_to(self, call_id: str) -> None:
        """Put the cursor of the list on the item that was looked at last."""
        if self._tabs:
            self._items.go_to(call_id)

    @on(ItemTable.Opened)
    @on(TrapsTab.Opened)
    def _item_opened(self, event: ItemTable.Opened | TrapsTab.Opened) -> None:
        self.app.open_item(self.folder, event.call_id)

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self._open(event.place)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave out what cannot be done with this run."""
        if action in {"export", "copy", "compare", "lab", "filter", "turn"}:
            return self.reading is not None
        if action == "resume":
            return self.reading is not None and self.reading.left > 0
        if action == "tab":
            return isinstance(parameters[0], int) and parameters[0] <= len(self._tabs)
        return True

    def action_back(self) -> None:
        """Go back to where the results were opened."""
        self.app.pop_screen()

    def action_tab(self, place: int) -> None:
        """Open a tab by its number."""
        self._open(place - 1)

    def action_turn(self, by: int) -> None:
        """Open the tab beside the open one."""
        if self._tabs:
            self._open((self._active + by) % len(self._tabs))

    def action_filter(self) -> None:
        """Filter the list of all records."""
        if self._tabs:
            self._open(list(self._tabs).index("items"))
            self._items.start_filter()

    def action_resume(self) -> None:
        """Ask what has no reply yet."""
        if self.reading is not None:
            # a budget holds for the stretch it was given for
            settings = msgspec.structs.replace(
                self.reading.run.manifest.settings, budget_seconds=None, budget_tokens=None
            )
            self.app.open_run(settings, resume=self.folder)

    def action_lab(self) -> None:
        """Put claims before this model."""
        if self.reading is not None:
            settings = self.reading.run.manifest.settings
            self.app.open_lab(settings.model, settings.base_url)

    def action_compare(self) -> None:
        """Compare this run with another."""

        def compare(other: Path | None) -> None:
            if other is not None:
                self.app.open_compare((self.folder, other))

        self.app.push_screen(PickRun(self.folder), compare)

    def action_copy(self) -> None:
        """Send the card, or what stands for one, to the terminal's clipboard."""
        begin(self, self._copy, group="copy")

    async def _copy(self) -> None:
        result = await self._whole()
        self.app.copy_to_clipboard("\n".join(result.lines(True)))
        self.app.say("sent to the terminal; whether it was copied, the terminal decides: e saves it to a file")

    def action_export(self) -> None:
        """Write the report to a file."""
        if self.reading is None:
            return

        def write(path: Path | None) -> None:
            if path is not None:
                begin(self, self._write, path, group="write")

        default = in_working_folder(file_name("selfdiag", f"{self.reading.run.manifest.run_id}.md"))
        hint = "Markdown; JSON where the name ends in .json"
        self.app.push_screen(SaveDialog("write the report", default, hint), write)

    async def _write(self, path: Path) -> None:
        result = await self._whole()
        form = _json if path.suffix.lower() == ".json" else _markdown
        where = await in_background(write_text, path, await in_background(form, result))
        self.app.say(f"wrote {where}")


_MAKES: dict[str, Callable[[], Widget]] = {
    "calibration": CalibrationTab,
    "discrimination": DiscriminationTab,
    "selective": SelectiveTab,
    "traps": TrapsTab,
    "topics": TopicsTab,
    "self": SelfTab,
    "items": ItemsTab,
    "where": StandingTab,
    "result": ResultText,
}


def _json(result: Result) -> str:
    return msgspec.json.format(msgspec.json.encode(result.document), indent=2).decode() + "\n"


def _markdown(result: Result) -> str:
    return result.markdown()
