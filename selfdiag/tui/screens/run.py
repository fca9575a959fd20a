"""The run screen: a model is asked, and what its answers come to is seen while they land."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, cast

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Rule, Static

from selfdiag.runs.records import MEASURED_SECTIONS, RunSettings
from selfdiag.safety import one_line
from selfdiag.tui.asking import Asking, Ending
from selfdiag.tui.background import begin, in_background
from selfdiag.tui.measuring import Measuring, warm_up
from selfdiag.tui.preparation import fault, prepare
from selfdiag.tui.screens.dialog import Question as YesNo
from selfdiag.tui.widgets.answers_before import AnswersBefore
from selfdiag.tui.widgets.chart import Chart
from selfdiag.tui.widgets.key_line import KeyLine
from selfdiag.tui.widgets.now_asked import NowAsked, Question
from selfdiag.tui.widgets.running_figures import RunningFigures, RunProgress, span

if TYPE_CHECKING:
    from selfdiag.runs.plan import Plan
    from selfdiag.tui.app import SelfdiagApp
    from selfdiag.tui.figures_so_far import Figures
    from selfdiag.tui.run_so_far import RunSoFar

REPAINT = 0.25
"""Seconds between two looks at what has happened."""
TOO_MANY_TO_READ = 4
"""With more answers than these since the last look, every other look is left out: painting them holds up keys."""
STOPPING = 1.0
"""Seconds that a run may take to stop when the app is left; its answers are on the disk before."""

Stage = Literal["preparing", "confirming", "asking", "ended", "failed"]
"""A run that has ``ended`` can go on or be looked at, of one that has ``failed`` nothing was kept."""
_STAGES: dict[str, tuple[Stage, ...]] = {
    "start": ("confirming",),
    "resume": ("ended",),
    "results": ("ended",),
    "try_again": ("failed",),
    "back": ("preparing", "confirming", "ended", "failed"),
    "stop": ("asking",),
}


class RunScreen(Screen[None]):
    """One run from its plan to its last answer.

    Args:
        settings: what to ask.
        plan: the calls of an experiment; of the settings' own sections when None.
        resume: the folder of a run to go on with.
    """

    HELP = "The model is asked; whatever it answers is on the disk before it is shown here."
    AUTO_FOCUS = ""
    CSS = """
    RunScreen Rule { margin: 0; color: $border; }
    RunScreen #body { height: 1fr; }
    RunScreen #said { width: 1fr; padding: 0 1; }
    RunScreen #drawn { width: 43%; padding: 0 1; border-left: solid $border; }
    RunScreen.-plain #drawn { border-left: ascii $border; }
    RunScreen.-undrawn #drawn, RunScreen.-unasked #drawn { display: none; }
    RunScreen.-unasked #before, RunScreen.-unasked AnswersBefore { display: none; }
    RunScreen NowAsked { max-height: 58%; }
    RunScreen.-high NowAsked { height: 10; }
    RunScreen.-high RunningFigures { height: 4; }
    RunScreen.-unasked NowAsked { height: 1fr; max-height: 100%; }
    RunScreen #before { margin-top: 1; }
    RunScreen Chart { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "start", id="run.start"),
        Binding("p", "pause", "pause", id="run.pause"),
        Binding("p", "go_on", "go on", id="run.go_on"),
        Binding("r", "resume", "resume", id="run.resume"),
        Binding("r", "try_again", "try again", id="run.try_again"),
        Binding("enter", "results", "results", id="run.results"),
        Binding("escape", "stop", "stop and keep", id="run.stop"),
        Binding("escape", "back", "back", id="run.back"),
        Binding("up,down", "answers", "go through the answers", show=False, id="run.answers"),
    ]

    def __init__(self, settings: RunSettings, *, plan: Plan | None = None, resume: Path | None = None) -> None:
        super().__init__()
        self._settings = settings
        self._plan = plan
        self._resume = resume
        self._stage: Stage = "preparing"
        self._offered: tuple[object, ...] = ()
        self._words = ("", "")
        self._waiting = ""
        self._asking: Asking | None = None
        self._agreed = asyncio.Event()
        self._dialog: YesNo | None = None
        self._complete = False
        self._listed = 0
        self._left_out = False
        self._measuring: Measuring | None = None
        self._progress = RunProgress()
        self._now = NowAsked()
        self._answers = AnswersBefore()
        self._rules = Rule(), Rule()
        self._title = Static(classes="heading", markup=False)
        self._chart = Chart()
        self._counts = RunningFigures()

    @property
    def _so_far(self) -> RunSoFar | None:
        return self._asking.so_far if self._asking is not None else None

    @property
    def _shell(self) -> SelfdiagApp:
        return cast("SelfdiagApp", self.app)

    def compose(self) -> ComposeResult:
        """Yield what is asked and said on the left, the diagram on the right, figures above and below."""
        yield self._progress
        yield self._rules[0]
        with Horizontal(id="body"):
            with Vertical(id="said"):
                yield self._now
                yield Static("answers, newest first", id="before", classes="heading", markup=False)
                yield self._answers
            with Vertical(id="drawn"):
                yield self._title
                yield self._chart
        yield self._rules[1]
        yield self._counts
        yield KeyLine()

    def on_mount(self) -> None:
        """Begin at once."""
        self.set_interval(REPAINT, self._look)
        begin(self, in_background, warm_up, group="warm-up")
        self._begin()

    # Asking: prepared in a thread, agreed to where that is needed, then event by event.

    def _begin(self) -> None:
        self._asking = self._measuring = None
        self._complete = False
        self._listed = 0
        self._answers.clear()
        self._tell("preparing", "preparing", "drawing the questions")
        begin(self, self._execute, group="run")

    async def _execute(self) -> None:
        try:
            ready = await in_background(prepare, self._settings, self._plan, self._resume, self._wait)
        except Exception as error:  # noqa: BLE001 - whatever it is, the app stays and tells it
            self._tell("failed", "the run cannot begin", fault(error))
            return
        if not ready.left:
            self._complete = True
            self._tell("ended", "nothing is left to ask", "Every call of this run has its answer.")
            self._show_results()
            return
        if (warning := ready.warning()) and not self._agreed.is_set():
            self._tell("confirming", "before it starts", f"{warning}\n\nenter starts, esc goes back")
            await self._agreed.wait()
        await self._ask(Asking(ready.session))

    def _wait(self, words: str) -> None:
        self._waiting = words

    async def _ask(self, asking: Asking) -> None:
        measuring = Measuring(asking.session.folder)
        self._asking, self._measuring = asking, measuring
        calls = asking.session.plan.calls
        drawn = any(call.section in MEASURED_SECTIONS or call.claim is not None for call in calls)
        self.set_class(not drawn, "-undrawn")
        self._tell("asking", "", "")
        try:
            ending = await asking.until_over()
        finally:
            measuring.end()
        self._waiting = ""
        self._conclude(asking, ending)

    def _conclude(self, asking: Asking, ending: Ending) -> None:
        """Tell how it ended, where it did not end well; else show what it came to."""
        self._close_dialog()
        if ending.kept:
            self._resume = asking.session.folder
        self._complete = ending.complete
        self._tell("ended" if ending.kept else "failed", ending.heading, ending.words)
        if ending.complete and ending.errors:
            self._shell.say(f"calls that ended in an error: {ending.errors}; resumed, the run asks them again")
        self._show_results()

    def _show_results(self) -> None:
        """Show the results in place of this screen, unless somebody is looking at something above it."""
        if self._complete and self._resume is not None and self.app.screen is self:
            self._shell.open_results(self._resume, instead=True)

    def on_screen_resume(self) -> None:
        """Show the results of a run that was completed behind another screen."""
        self._show_results()

    def _tell(self, stage: Stage, heading: str, words: str) -> None:
        self._stage = stage
        self._words = (heading, words)
        self.set_focus(None)
        self._paint()

    # Showing: everything is painted from what has been counted, a few times a second.

    def _look(self) -> None:
        so_far = self._so_far
        many = so_far is not None and len(so_far.records) - self._listed > TOO_MANY_TO_READ
        self._left_out = many and not self._left_out
        if not self._left_out:
            self._paint()

    def _paint(self) -> None:
        plain, so_far = self._shell.ascii, self._so_far
        self.set_class(plain, "-plain")
        self.set_class(so_far is None, "-unasked")
        for rule in self._rules:
            rule.line_style = "ascii" if plain else "solid"
        offered = (self._stage, so_far is not None and so_far.started, so_far is not None and so_far.paused)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()
        self._progress.show(self._settings.model, self._what(), so_far, self._state())
        heading, words = self._words_now()
        if so_far is None or self._measuring is None:
            self._now.tell(heading, words)
            return
        self._answers.add(so_far.records[self._listed :])
        self._listed = len(so_far.records)
        latest, asked = so_far.latest, so_far.asked_now()
        last = (latest, so_far.asked(latest)) if latest is not None else None
        if heading:
            self._now.tell(heading, words, last)
        else:
            question = Question(topic=so_far.topic(asked), text=so_far.question(asked)) if asked is not None else None
            self._now.show(question, last)
        self._counts.show(so_far, self._measuring.figures)
        self._paint_figures(self._measuring.figures)
        if self._measuring.is_due(len(so_far.records)):
            begin(self, self._measure, self._measuring, so_far, group="figures")

    def _paint_figures(self, figures: Figures | None) -> None:
        title, n = (f"{figures.title}   n {figures.shown}", f"n {figures.shown}") if figures is not None else ("", "")
        if len(title) > self._title.content_size.width:
            title = n
        if title != self._title.content:  # whatever is updated is laid out again
            self._title.update(title, layout=False)
        self._chart.show(figures.picture if figures is not None else "no answer yet")

    def _words_now(self) -> tuple[str, str]:
        """Return heading and words that stand in place of a question, or empty texts."""
        so_far = self._so_far
        if self._stage != "asking" or so_far is None or so_far.under_way:
            return ("", "") if self._stage == "asking" else self._words
        if not so_far.started:
            return "connecting", self._waiting or "A model that is not loaded yet is loaded now."
        if so_far.warming_up:
            return "warming up", "One call comes first that is not counted; a model that is not loaded is loaded now."
        return ("paused", "Nothing is asked until you go on.") if so_far.paused else ("", "")

    def _what(self) -> str:
        place = self._settings.battery.replace("\\", "/").rstrip("/").rpartition("/")[2]
        simulated = " · simulated" if self._settings.model.startswith("persona:") else ""
        return f" · {one_line(place, 20)}{simulated}"

    def _state(self) -> str:
        so_far = self._so_far
        if so_far is None or self._stage != "asking":
            return ""
        if so_far.paused:
            return f"paused, {so_far.in_flight} still under way" if so_far.in_flight else "paused"
        if so_far.trying:
            return "trying the form first"
        seconds = so_far.progress.seconds_left()
        return "" if seconds is None else f"about {span(seconds)} left"

    async def _measure(self, measuring: Measuring, so_far: RunSoFar) -> None:
        try:
            await measuring.measure(tuple(so_far.records))
        except Exception as error:  # noqa: BLE001 - the run goes on without them
            self._shell.say(f"the figures cannot be computed: {fault(error)}", severity="warning")

    # What a person can do.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what can be done at this stage, and nothing else."""
        if action in {"pause", "go_on"}:
            so_far = self._so_far
            running = self._stage == "asking" and so_far is not None and so_far.started
            return running and so_far is not None and so_far.paused == (action == "go_on")
        if action == "answers":
            return len(self._answers) > 0
        return self._stage in _STAGES[action] if action in _STAGES else super().check_action(action, parameters)

    def action_start(self) -> None:
        """Agree to what was told, and start."""
        self._agreed.set()

    def action_pause(self) -> None:
        """Ask nothing more for now."""
        self._rest(resting=True)

    def action_go_on(self) -> None:
        """Go on asking."""
        self._rest(resting=False)

    def _rest(self, *, resting: bool) -> None:
        if self._asking is not None:
            self._asking.rest(resting=resting)
            self._paint()

    def action_stop(self) -> None:
        """Stop the run and keep what is answered; asks once when a call is under way."""
        asking = self._asking
        if asking is None or self._stage != "asking":
            return
        if asking.so_far.started and asking.so_far.in_flight:
            # no worker: the question must be there before the next key is
            self._ask_first("Stop here?", "stop and keep", lambda agreed: asking.stop() if agreed else None)
        else:
            asking.stop()

    def action_back(self) -> None:
        """Go back to where the run was started."""
        self.app.pop_screen()

    def action_results(self) -> None:
        """Show what the answers so far come to."""
        if self._resume is not None:
            self._shell.open_results(self._resume)

    def action_resume(self) -> None:
        """Go on with the run; a budget held for the stretch before."""
        self._settings = msgspec.structs.replace(self._settings, budget_seconds=None, budget_tokens=None)
        self._begin()

    def action_try_again(self) -> None:
        """Begin once more."""
        self._begin()

    def action_answers(self) -> None:
        """Go through the answers."""
        self._answers.focus()

    @on(AnswersBefore.Opened)
    def _open_answer(self, event: AnswersBefore.Opened) -> None:
        if self._asking is not None:
            self._shell.open_item(self._asking.session.folder, event.call_id)

    async def leaving(self) -> bool:
        """Return whether the app may be left; a run under way asks first, and is then stopped and kept."""
        asking = self._asking
        running = asking is not None and self._stage == "asking" and asking.so_far.started
        if running and self._dialog is not None:
            self._close_dialog()  # what is asked a second time needs no answer
        elif running:
            agreed = asyncio.get_running_loop().create_future()
            self._ask_first("Stop and quit?", "stop and quit", agreed.set_result)
            if not await agreed:
                return False
        await self.closing()
        return True

    async def closing(self) -> None:
        """Stop a run under way, without a question."""
        if self._asking is not None and self._stage == "asking":
            self._asking.stop()
            await self._asking.stopped(STOPPING)

    def _ask_first(self, question: str, yes: str, then: Callable[[bool], None]) -> None:
        words = "What is answered is kept, and the run can go on later; calls under way are dropped."
        dialog = self._dialog = YesNo(Content(question), Content(words), yes=yes)

        def answered(agreed: bool | None) -> None:
            if self._dialog is dialog:
                self._dialog = None
            then(bool(agreed))

        self.app.push_screen(dialog, answered)

    def _close_dialog(self) -> None:
        if self._dialog is not None:
            self._dialog.dismiss(False)
