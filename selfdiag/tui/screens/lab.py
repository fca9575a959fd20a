"""The lab: one question, a claim about the model, and its confidence that follows or does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Rule, Static
from textual.worker import Worker, WorkerState

from selfdiag.safety import SelfdiagError, one_line
from selfdiag.tui.background import begin, in_background
from selfdiag.tui.lab_words import dose_picture, page, still_wanted
from selfdiag.tui.saving import save_here, stamped
from selfdiag.tui.screens.stacked import Stacked
from selfdiag.tui.screens.topics import TopicScreen
from selfdiag.tui.sender import Sender, Sent
from selfdiag.tui.text import line
from selfdiag.tui.widgets.chart import Chart
from selfdiag.tui.widgets.claim_prompt import ClaimPrompt
from selfdiag.tui.widgets.claim_replies import ClaimReplies
from selfdiag.tui.widgets.claim_slider import ClaimSlider
from selfdiag.tui.widgets.key_line import KeyLine
from selfdiag.tui.widgets.lab_status import LabStatus

if TYPE_CHECKING:
    from selfdiag.battery.items import Probe
    from selfdiag.protocols.microprobe import Microprobe
    from selfdiag.runs.records import PlannedCall
    from selfdiag.tui.app import SelfdiagApp
    from selfdiag.tui.bench import Bench, Dose

FIRST_CLAIM = 95


class _Place(NamedTuple):
    """Where a reply stands on the plot."""

    claim: int
    own: bool
    labelled: bool


class LabScreen(Stacked[None]):
    """Claims put before a model, one call at a time, and what it says to them.

    Args:
        model: PROVIDER:NAME.
        base_url: of its server.
        item_id: the question to begin with; one of medium or hard difficulty when empty.
    """

    HELP = "The same question again and again; one number in the prompt is all that changes."
    CSS = """
    LabScreen Rule { margin: 0; height: 1; color: $border; }
    LabScreen #title Static { width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    LabScreen #title #place { width: auto; max-width: 60%; padding-left: 2; }
    LabScreen #below { height: 1fr; }
    LabScreen Chart { width: 1fr; padding: 0 1; }
    LabScreen ClaimReplies { width: 35; }
    LabScreen.-wide ClaimReplies { width: 46; }
    LabScreen.-high #item { max-height: 8; }
    LabScreen.-high ProfileLines { height: 7; }
    LabScreen.-high ClaimReplies { padding-top: 1; }
    LabScreen.-high #shift, LabScreen.-high #verdict { margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "send", "send", id="lab.send"),
        Binding("o", "off_topic", "off topic", id="lab.off_topic"),
        Binding("d", "series", "dose series", id="lab.series"),
        Binding("a", "pick", "auto-pick", id="lab.pick"),
        Binding("escape", "back", "back", id="lab.back"),
        Binding("t", "label", "name the topic or not", show=False, id="lab.label"),
        Binding("n", "item(1)", "next question", show=False, id="lab.next"),
        Binding("p", "item(-1)", "question before", show=False, id="lab.previous"),
        Binding("b", "topic", "choose a topic", show=False, id="lab.topic"),
        Binding("s", "save", "save picture and text", show=False, id="lab.save"),
        Binding("e", "export", "export all replies", show=False, id="lab.export"),
        Binding("y", "copy", "copy as text", show=False, id="lab.copy"),
    ]
    AUTO_FOCUS = "ClaimSlider"

    if TYPE_CHECKING:
        app: SelfdiagApp

    def __init__(self, model: str, base_url: str = "", item_id: str = "") -> None:
        super().__init__()
        self._model = model
        self._base_url = base_url
        self._item_id = item_id
        self._bench: Bench | None = None
        self._probes: Sequence[Probe] = ()
        self._at = 0
        self._topic = ""
        self._picked, self._tried = "", 0
        self._labelled = True
        self._doses: Sequence[Dose] = ()
        self._found: Microprobe | None = None
        self._pair: tuple[_Place | None, _Place | None] = (None, None)
        self._at_ends = False
        self._off_topic = False
        self._sender = Sender(self._landed, self._tell)
        self._worker: Worker[None] | None = None
        self._over = asyncio.Event()

    def compose(self) -> ComposeResult:
        """Yield the question and the profile above, the slider, and below it the plot and what was said."""
        rule = "ascii" if self.app.ascii else "solid"
        with Horizontal(id="title"):
            yield Static(line(f"lab · {self._model}", 80), id="name", classes="name", markup=False)
            yield Static(id="place", markup=False)
        yield Rule(line_style=rule)  # type: ignore[arg-type]
        yield ClaimPrompt()
        yield Rule(line_style=rule)  # type: ignore[arg-type]
        yield ClaimSlider(FIRST_CLAIM)
        with Horizontal(id="below"):
            yield Chart(dose_picture((), FIRST_CLAIM))
            yield ClaimReplies()
        yield LabStatus()
        yield KeyLine(show_command_palette=False)

    def on_mount(self) -> None:
        """Load the questions, and wait for something to send."""
        self._worker = self.run_worker(self._work, group="lab", exit_on_error=False)

    # Asking: one worker, one call at a time; the keys only put calls into its queue.

    async def _work(self) -> None:
        bench: Bench | None = None
        try:
            loop = asyncio.get_running_loop()

            def told(words: str) -> None:  # by a provider, from any thread
                loop.call_soon_threadsafe(self._tell, words)

            try:
                bench = await in_background(_bench, self._model, self._base_url, told)
            except SelfdiagError as error:
                self._tell(str(error), True)
                return
            self._bench = bench
            self._begin(bench)
            await self._sender.run(bench)
        finally:
            try:
                if bench is not None:
                    await bench.close()
            finally:
                self._over.set()

    def _begin(self, bench: Bench) -> None:
        self._probes = bench.probes
        known = [probe.id for probe in self._probes]
        self._at = known.index(self._item_id) if self._item_id in known else 0
        if bench.info.simulated:
            self.query_one("#name", Static).update(line(f"lab (simulated) · {self._model}", 80))
        self._show_item()
        self.refresh_bindings()
        if self._item_id not in {"", *known}:
            self._tell(f"there is no question {one_line(self._item_id, 40)!r} in this battery", True)
        else:
            self._tell("")

    async def _landed(self, sent: Sent) -> None:
        planned = sent.planned
        if sent.purpose == "trial":
            if sent.last and self._bench is not None:
                await self._keep(self._bench)
        elif planned.item_id == self._probe.id:
            place = _Place(planned.claim or 0, planned.claim_bin == self._probe.bin, planned.labelled)
            self._at_ends = sent.purpose == "series"
            if place != self._pair[1]:
                self._pair = (self._pair[1], place)
            self._count()

    async def _keep(self, bench: Bench) -> None:
        """Show the question of a trial that moves most."""
        chosen = await in_background(bench.chosen)
        if chosen.item_id is None:
            self._tell(chosen.note, True)
            return
        self._topic, self._probes = "", bench.probes
        self._picked, self._tried = chosen.item_id, chosen.tried
        self._at = [probe.id for probe in bench.probes].index(chosen.item_id)
        self._show_item(at_ends=True)
        self._tell(chosen.note)

    async def closing(self) -> None:
        """Stop asking and close the connection; everything asked was shown."""
        if self._worker is not None and not self._over.is_set():
            self._worker.cancel()
            await self._over.wait()

    async def leaving(self) -> bool:
        """Close the connection; nothing is lost that would be worth a question."""
        await self.closing()
        return True

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Tell a fault of our own; the screen stays."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            error = event.worker.error
            self._tell(f"a fault in selfdiag itself ({type(error).__name__}: {one_line(str(error))})", True)

    # Showing: figures are computed in a thread, and what has become old meanwhile is not shown.

    @property
    def _probe(self) -> Probe:
        return self._probes[self._at]

    def _show_item(self, *, at_ends: bool = False) -> None:
        self._pair, self._at_ends, self._off_topic = (None, None), at_ends, False
        probe = self._probe
        at = f"{self._at + 1} of {len(self._probes)}"
        picked = f"moved most of {self._tried} tried" if probe.id == self._picked else at
        self.query_one("#place", Static).update(line(f"{one_line(probe.id, 32)} · {picked}"))
        self._doses, self._found = (), None
        self._show_prompt()
        self._show_doses()
        self._count()

    def _show_prompt(self) -> None:
        """Show question, profile and topic label as the next call has them."""
        planned = self._planned(own=not self._off_topic) if self._bench is not None and self._probes else None
        if planned is None or self._bench is None:
            return
        shown = self._bench.shown(planned)
        self.query_one(ClaimPrompt).show(shown, self._probe.answer, own=not self._off_topic)

    def _count(self) -> None:
        if self._bench is not None:
            begin(self, self._figures, self._bench, self._probe, group="figures")

    async def _figures(self, bench: Bench, probe: Probe) -> None:
        self._doses, self._found = await in_background(_counted, bench, probe, self._labelled)
        if self._at_ends:
            self._pair = _judged([dose for dose in self._doses if dose.own and dose.labelled == self._labelled])
        self._show_doses()

    def _show_doses(self) -> None:
        by_place = {_Place(dose.claim, dose.own, dose.labelled): dose for dose in self._doses}
        before, now = (by_place.get(place) if place is not None else None for place in self._pair)
        self.query_one(Chart).show(dose_picture(self._doses, self.query_one(ClaimSlider).value))
        # before anything was asked the plot says how to begin
        wanted = still_wanted(labelled=self._labelled) if self._doses else ""
        self.query_one(ClaimReplies).show(before, now, self._found, wanted)

    def _tell(self, words: str, fault: bool = False) -> None:
        """Show one line of what goes on; a provider may have something to say when the screen is gone already."""
        if not self.is_attached:
            return
        bench = self._bench
        calls, remote = (bench.asked, bench.info.remote) if bench is not None else (0, False)
        self.query_one(LabStatus).tell(words, fault=fault, calls=calls, remote=remote)

    def on_claim_slider_moved(self) -> None:
        """Show the prompt with the other number."""
        self._off_topic = False
        if self._probes:
            self._show_prompt()
            self.query_one(Chart).show(dose_picture(self._doses, self.query_one(ClaimSlider).value))

    # Actions.

    def _planned(self, *, own: bool) -> PlannedCall | None:
        assert self._bench is not None, "the questions are loaded"  # noqa: S101
        claim = self.query_one(ClaimSlider).value
        return self._bench.call(self._probe, claim, own=own, labelled=self._labelled)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        """Offer nothing that needs a question before there is one."""
        return bool(self._probes) or action == "back"

    def action_send(self) -> None:
        """Send the claim on the question's own topic."""
        self._one(own=True)

    def action_off_topic(self) -> None:
        """Send the same claim on another topic's line."""
        self._one(own=False)

    def _one(self, *, own: bool) -> None:
        self._off_topic = not own
        planned = self._planned(own=own)
        if planned is None:
            self._off_topic = False
            self._tell("this battery has no other topic for the claim to stand on", True)
            return
        self._show_prompt()
        self._sender.put([planned], "claim")

    def action_series(self) -> None:
        """Send every dose on this topic, and the two ends on another."""
        assert self._bench is not None, "the questions are loaded"  # noqa: S101
        calls = self._bench.series(self._probe, labelled=self._labelled)
        self._at_ends = True
        if calls:
            self._sender.put(calls, "series")
        else:
            self._count()
            self._tell("every dose was asked already")

    def action_pick(self) -> None:
        """Try many questions under two claims, and keep the one that moves most."""
        if self._bench is not None:
            begin(self, self._try, self._bench, group="trial")

    async def _try(self, bench: Bench) -> None:
        calls = await in_background(_trial, bench, self._labelled)
        if calls:
            self._sender.put(calls, "trial")
        else:
            await self._keep(bench)

    def action_label(self) -> None:
        """Name the topic in the question from now on, or no longer."""
        self._labelled, self._at_ends = not self._labelled, True
        self._show_prompt()
        self._count()

    def action_item(self, step: int) -> None:
        """Go to another question."""
        self._at = (self._at + step) % len(self._probes)
        self._show_item()

    def action_topic(self) -> None:
        """Choose a topic to take questions from."""
        if self._bench is not None:
            self.app.push_screen(TopicScreen(self._bench.bins, self._topic), self._take_topic)

    def _take_topic(self, name: str | None) -> None:
        if name is None or self._bench is None:
            return
        self._topic, self._at = name, 0
        self._probes = [probe for probe in self._bench.probes if not name or probe.bin == name]
        self._show_item()

    def action_back(self) -> None:
        """Stop what is being sent; when nothing is, leave the lab."""
        if self._sender.busy:
            self._sender.stop()
        else:
            self.dismiss(None)

    def _page(self) -> str:
        assert self._bench is not None, "the questions are loaded"  # noqa: S101
        planned = self._planned(own=True)
        question = self._bench.shown(planned).question if planned is not None else ""
        simulated = self._bench.info.simulated
        return page(self._model, self._probe, question, self._doses, self._found, simulated=simulated)

    def action_save(self) -> None:
        """Save the screen as a picture, and the replies to this question as text."""
        self.app.clear_notifications()
        name = stamped("lab")
        picture = self.app.export_screenshot(title=f"selfdiag lab · {one_line(self._model, 60)}")
        save_here(self.app, {f"{name}.svg": picture.encode(), f"{name}.txt": self._page().encode()})

    def action_export(self) -> None:
        """Save every reply of this visit as JSON lines."""
        if self._bench is None or not self._bench.asked:
            self._tell("nothing was asked yet: there is nothing to export", True)
        else:
            save_here(self.app, {f"{stamped('lab')}.jsonl": self._bench.lines()})

    def action_copy(self) -> None:
        """Send the replies to this question to the clipboard."""
        self.app.copy_to_clipboard(self._page())
        self.app.say("sent to the terminal; whether it was copied, the terminal decides. s writes a file")


def _judged(own: Sequence[Dose]) -> tuple[_Place | None, _Place | None]:
    """Return the two replies on a question's own line that its verdict speaks of."""
    from selfdiag.runs.claims import judged_claims

    if not own:
        return None, None
    low, high = judged_claims([dose.claim for dose in own])
    places = {dose.claim: _Place(dose.claim, dose.own, dose.labelled) for dose in own}
    return (places[low] if low != high else None), places[high]


def _bench(model: str, base_url: str, waiting: Callable[[str], None]) -> Bench:
    # in the thread: this imports numpy
    from selfdiag.tui.bench import Bench

    return Bench(model, base_url, waiting)


def _counted(bench: Bench, probe: Probe, labelled: bool) -> tuple[Sequence[Dose], Microprobe | None]:
    return bench.doses(probe), bench.verdict(probe, labelled=labelled)


def _trial(bench: Bench, labelled: bool) -> Sequence[PlannedCall]:
    return bench.trial(labelled=labelled)
