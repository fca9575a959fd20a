"""What the home screen is made of, once it has been painted for the first time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker, WorkerState

from selfdiag.safety import SelfdiagError, literal, one_line
from selfdiag.tui.background import begin, in_background
from selfdiag.tui.discovery import (
    delete_run,
    embedded_is_here,
    find,
    last_runs,
    memory_bytes,
    provider_names,
    run_folder,
    settings_to_resume,
)
from selfdiag.tui.text import line
from selfdiag.tui.widgets.battery_choice import OWN, SIZES, BatteryChoice, SectionChoice
from selfdiag.tui.widgets.hairline import Hairline
from selfdiag.tui.widgets.key_line import KeyLine
from selfdiag.tui.widgets.model_list import ModelList
from selfdiag.tui.widgets.plan_line import PlanLine, Wish, outlook
from selfdiag.tui.widgets.run_list import RunList, about

if TYPE_CHECKING:
    from selfdiag.runs.records import RunSettings
    from selfdiag.tui.app import SelfdiagApp
    from selfdiag.tui.widgets.model_rows import ModelRow

MANY_CALLS = 1000
"""A run of more calls than that is started only when the person says so once more."""
DEFAULT_MODEL = "embedded"


class HomeBody(Vertical):
    """Models to choose from, the last audits, and what the next one would take."""

    SCOPED_CSS = False  # the width of the screen decides
    DEFAULT_CSS = """
    HomeBody { height: 1fr; }
    HomeBody #panes { height: 1fr; }
    HomeBody #left { width: 1fr; }
    HomeBody #right { width: 45%; max-width: 35; }
    .-wide HomeBody #right { width: 46; max-width: 46; }
    HomeBody .pane-title { height: 1; padding: 0 1; }
    .-high HomeBody RowList { margin-top: 1; }
    HomeBody #heading { height: 1; }
    HomeBody #which { width: 1fr; }
    HomeBody #filter { display: none; width: 1fr; }
    HomeBody #filter-mark { display: none; width: 3; color: $accent; }
    HomeBody.-filtering #filter { display: block; }
    HomeBody.-filtering #filter-mark { display: block; }
    HomeBody.-filtering #which { display: none; }
    HomeBody .choice { height: auto; padding: 0 1; }
    HomeBody .choice .label { width: 10; color: $text-muted; }
    .-narrow HomeBody #sections-label { display: none; }
    HomeBody #note { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    HomeBody #own { width: 1fr; margin-left: 2; display: none; }
    HomeBody.-own #own { display: block; }
    .-high HomeBody #plan { margin-top: 1; }
    HomeBody KeyLine { padding-left: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", id="home.filter"),
        Binding("l", "lab", "lab", id="home.lab"),
        Binding("c", "compare", "compare", id="home.compare"),
        Binding("r", "resume", "resume", id="home.resume"),
        Binding("x", "delete", "delete a run", show=False, id="home.delete"),
        Binding("f5", "look_again", "look again", show=False, id="home.look_again"),
        Binding("escape", "show_all", "show all", show=False, id="home.show_all"),
        Binding("up,down", "to_models", "to the models", show=False, id="home.to_models"),
    ]

    @property
    def shell(self) -> SelfdiagApp:
        """The app, by its own type."""
        return cast("SelfdiagApp", self.app)

    def compose(self) -> ComposeResult:
        """Return the panes, with what is known before anything was looked for."""
        chosen = self.shell.choices
        own = "" if chosen.battery in SIZES else chosen.battery
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                with Horizontal(id="heading"):
                    yield Static("which model?", id="which", classes="pane-title")
                    yield Static(" /", id="filter-mark")
                    yield Input(placeholder="part of a name, or PROVIDER:NAME", id="filter")
                yield ModelList(chosen.model or DEFAULT_MODEL, chosen.base_url, id="models")
            yield Hairline(classes="-upright")
            with Vertical(id="right"):
                yield Static("last audits", classes="pane-title")
                yield RunList(id="runs")
        yield Hairline()
        with Horizontal(classes="choice"):
            yield Static("model", classes="label")
            yield Static(id="note", markup=False)
        with Horizontal(classes="choice"):
            yield Static("battery", classes="label")
            yield BatteryChoice(OWN if own else chosen.battery, id="battery")
            # an input shows its value as it is: one with control characters in it is left out
            safe = own if literal(own) == own else ""
            yield Input(safe, placeholder="a TOML, JSONL or CSV file, or a folder", id="own")
        with Horizontal(classes="choice"):
            yield Static("sections", id="sections-label", classes="label")
            yield SectionChoice(chosen.sections, id="sections")
        yield PlanLine(id="plan")
        yield KeyLine(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin where most begin, and look around once all of it is there to be seen."""
        if not self.query(ModelList) or not self.query(BatteryChoice):  # the app has ended before they were put up
            return
        self.set_class(self._battery.choice == OWN, "-own")
        self._models.focus()
        self.call_after_refresh(self._begin)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what went wrong where nobody expected it."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self._tell(event.worker.error)

    def _begin(self) -> None:
        self._look()
        self.read_runs()
        self._ask_plan()

    def _tell(self, error: BaseException) -> None:
        words = str(error) if isinstance(error, SelfdiagError) else f"{type(error).__name__}: {error}"
        self.shell.say(words, severity="error")

    # What is around

    def _look(self) -> None:
        begin(self, self._look_everywhere, group="look")

    async def _look_everywhere(self) -> None:
        names = await in_background(provider_names)
        memory = await in_background(memory_bytes)
        ends = await asyncio.gather(*(self._look_at(name, memory) for name in names), return_exceptions=True)
        for error in ends:  # one provider must not hide the others
            if error is not None:
                self._tell(error)

    async def _look_at(self, provider: str, memory: int | None) -> None:
        self._models.add(await in_background(find, provider), memory)

    def read_runs(self) -> None:
        """Read the runs that are there now."""
        begin(self, self._show_runs, group="runs")

    async def _show_runs(self) -> None:
        self._runs.show(await in_background(last_runs))

    def action_look_again(self) -> None:
        """Look for models and runs again."""
        self._look()
        self.read_runs()

    # What is chosen

    @property
    def _models(self) -> ModelList:
        return self.query_one(ModelList)

    @property
    def _runs(self) -> RunList:
        return self.query_one(RunList)

    @property
    def _battery(self) -> BatteryChoice:
        return self.query_one(BatteryChoice)

    def _wish(self, row: ModelRow) -> Wish:
        own = self.query_one("#own", Input).value.strip()
        return Wish(
            model=row.model,
            base_url=row.base_url,
            battery=own if self._battery.choice == OWN else self._battery.choice,
            sections=self.query_one(SectionChoice).on,
            remote=row.remote,
            remote_host=row.remote_host,
        )

    @on(ModelList.Chosen)
    @on(SectionChoice.Changed)
    @on(Input.Changed, "#own")
    def _ask_plan(self) -> None:
        row = self._models.chosen
        self.query_one("#note", Static).update(line(row.note, 300) if row is not None else "")
        plan = self.query_one(PlanLine)
        if row is None:
            plan.tell("no model is chosen")
        elif row.kind == "model":
            plan.ask(self._wish(row))
        else:
            plan.tell("choose a model to see what asking it takes")

    @on(BatteryChoice.Changed)
    def _battery_changed(self) -> None:
        self.set_class(self._battery.choice == OWN, "-own")
        self._ask_plan()

    @on(Input.Submitted, "#own")
    def _own_written(self) -> None:
        self._models.focus()

    def action_filter(self) -> None:
        """Type part of a name."""
        self.add_class("-filtering")
        self.query_one("#filter").focus()

    def action_to_models(self) -> None:
        """Go to the list, with the filter as it is."""
        if not self.query_one("#filter", Input).value:
            self.remove_class("-filtering")
        self._models.hold()
        self._models.focus()

    def action_show_all(self) -> None:
        """Show every model again."""
        self.query_one("#filter", Input).value = ""
        self.remove_class("-filtering")
        self._models.focus()

    @on(Input.Submitted, "#filter")
    def _filter_submitted(self) -> None:
        self.action_to_models()

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self._models.filter(event.value)

    # What is done

    @on(OptionList.OptionSelected, "#models")
    def _model_picked(self) -> None:
        begin(self, self._start, group="start")

    def action_lab(self) -> None:
        """Open the lab on the model that is chosen."""
        begin(self, self._open_lab, group="start")

    async def _start(self) -> None:
        row = await self._ready_model()
        if row is None:
            return
        found = await in_background(outlook, self._wish(row))
        if found.settings is None:
            self.shell.say(found.words, severity="error")
            return
        if found.calls > MANY_CALLS:
            question = Content(f"start {found.calls:,} calls?")
            if not await self._confirmed(question, line(found.words), "start"):
                return
        await self._keep(found.settings)
        self.shell.open_run(found.settings)

    async def _open_lab(self) -> None:
        row = await self._ready_model()
        if row is not None:
            self.shell.open_lab(row.model, row.base_url)

    async def _ready_model(self) -> ModelRow | None:
        """Return the chosen model once it can be asked; None when the person has to choose something first."""
        from selfdiag.tui.screens.model_dialogs import AddressDialog, FetchDialog, FileDialog

        row = self._models.chosen
        if row is None:
            return None
        if row.kind == "fold":
            self._models.fold()
        elif row.kind == "absent":
            self.shell.say(row.note or row.words, severity="warning")
        elif row.kind in {"file", "address"}:
            dialog = FileDialog() if row.kind == "file" else AddressDialog(row.model)
            named = await self.shell.push_screen_wait(dialog)
            if named is not None:
                self.action_show_all()  # the filter may hide what was named
                self._models.choose(*named)
        elif row.model != DEFAULT_MODEL or await in_background(embedded_is_here):
            return row
        elif await self.shell.push_screen_wait(FetchDialog()):
            self._look()
            return row
        return None

    async def _keep(self, settings: RunSettings) -> None:
        choices = msgspec.structs.replace(
            self.shell.choices,
            model=settings.model,
            base_url=settings.base_url,
            battery=settings.battery,
            sections=settings.sections,
        )
        await in_background(self.shell.keep, choices)

    async def _confirmed(self, question: Content, consequence: Content, yes: str) -> bool:
        from selfdiag.tui.screens.dialog import Question

        answer: bool | None = await self.shell.push_screen_wait(Question(question, consequence, yes=yes))
        return bool(answer)

    # Runs

    @on(OptionList.OptionSelected, "#runs")
    def _run_picked(self) -> None:
        folder = self._highlighted_folder()
        if folder is not None:
            self.shell.open_results(folder)

    def action_compare(self) -> None:
        """Compare the runs that are marked."""
        marked = self._runs.marked
        if len(marked) < 2:
            self.shell.say("mark two or more of the last audits with space, then c compares them")
        else:
            self.shell.open_compare(tuple(run_folder(run_id) for run_id in marked))

    def action_resume(self) -> None:
        """Go on with the highlighted run."""
        run = self._runs.chosen
        if run is None:
            self.shell.say("there is no run to go on with")
        elif run.state == "complete":
            self.shell.say(f"{run.run_id} is complete: nothing is left to ask")
        else:
            begin(self, self._go_on, run_folder(run.run_id), group="start")

    async def _go_on(self, folder: Path) -> None:
        settings = await in_background(settings_to_resume, folder)
        self.shell.open_run(settings, resume=folder)

    def action_delete(self) -> None:
        """Delete the highlighted run."""
        run = self._runs.chosen
        if run is None:
            self.shell.say("there is no run to delete")
        else:
            name = Content.assemble(line(run.model or "a damaged run", 60), " · ", line(about(run), 80))
            begin(self, self._delete, run_folder(run.run_id), name, group="start")

    async def _delete(self, folder: Path, name: Content) -> None:
        consequence = Content.assemble(name, "\n", line(str(folder), 300), "\nEvery reply in it is gone then.")
        if await self._confirmed(Content("delete this run?"), consequence, "delete"):
            await in_background(delete_run, folder)
            self.shell.say(f"deleted {one_line(folder.name, 60)}")
            self.read_runs()

    def _highlighted_folder(self) -> Path | None:
        run = self._runs.chosen
        return None if run is None else run_folder(run.run_id)
