"""What a run would take, in one line."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from textual.timer import Timer
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from selfdiag.safety import SelfdiagError, one_line
from selfdiag.tui.background import begin, in_background
from selfdiag.tui.text import line

if TYPE_CHECKING:
    from selfdiag.models.base import ModelInfo
    from selfdiag.runs.plan import Plan
    from selfdiag.runs.records import RunSettings

PATIENCE = 0.15
"""Seconds in which nothing changes before a plan is made: it costs more than moving through a list."""
COUNTING = "counting the calls…"
NO_PATH = "write the path of your battery: a TOML, JSONL or CSV file, or a folder of them"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a person has chosen so far; ``remote`` and ``remote_host`` are what a list said of the model."""

    model: str
    base_url: str
    battery: str
    sections: tuple[str, ...]
    remote: bool = False
    remote_host: str = ""


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """What a wish comes to: settings, calls and a sentence, or the ``fault`` why there are none."""

    words: str
    settings: RunSettings | None = None
    calls: int = 0
    fault: bool = False


def outlook(wish: Wish) -> Outlook:
    """Return what a wish comes to; it takes a tenth of a second and more, and belongs into a thread."""
    from selfdiag.battery.draw import DRAWS
    from selfdiag.models.base import ProviderOptions
    from selfdiag.models.registry import build
    from selfdiag.runs.plan import make_plan
    from selfdiag.runs.records import RunSettings

    settings = RunSettings(model=wish.model, base_url=wish.base_url, battery=wish.battery, sections=wish.sections)
    try:
        if not wish.battery.strip():
            raise SelfdiagError(NO_PATH)
        # a person's own file may change between two looks
        own = wish.battery not in DRAWS
        plan = make_plan(settings) if own else _stored_plan(wish.battery, wish.sections)
        info = build(wish.model, ProviderOptions(base_url=wish.base_url)).info()
    except SelfdiagError as error:
        return Outlook(words=str(error), fault=True)
    return Outlook(words=_words(plan, info, wish), settings=settings, calls=len(plan.calls))


@lru_cache(maxsize=8)
def _stored_plan(battery: str, sections: tuple[str, ...]) -> Plan:
    """Return a plan as any model gets it: the model only goes into the ids of its calls."""
    from selfdiag.runs.plan import make_plan
    from selfdiag.runs.records import RunSettings

    return make_plan(RunSettings(model="", battery=battery, sections=sections))


def _words(plan: Plan, info: ModelInfo, wish: Wish) -> str:
    from selfdiag.report.words import duration, several

    estimate = plan.estimate(info)
    calls = several(estimate.calls, "call")
    if info.simulated:
        return f"{calls}, simulated: no model is asked, nothing leaves this machine"
    time = "time depends on the model" if estimate.seconds is None else f"about {duration(estimate.seconds)}"
    if not (info.remote or wish.remote):
        return f"{calls}, {time}, nothing leaves this machine"
    place = one_line(wish.remote_host or info.destination(), 80)
    return f"{calls}, {time}, every question goes to {place}"


class PlanLine(Static):
    """Calls, time, and what leaves this machine; made anew in a thread when the choice changes."""

    DEFAULT_CSS = """
    PlanLine { height: auto; max-height: 3; padding: 0 1; }
    PlanLine.-fault { color: $error; }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(COUNTING, id=id, markup=False)
        self._timer: Timer | None = None

    def tell(self, words: str) -> None:
        """Say something of our own instead of an outlook, and drop the one that is being made."""
        self._stop()
        self._show(Outlook(words=words))

    def ask(self, wish: Wish) -> None:
        """Show what a wish comes to, a moment after the last one was told."""
        self._stop()
        self._timer = self.set_timer(PATIENCE, lambda: self._begin(wish))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what went wrong where nobody expected it."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            self._show(Outlook(words=f"{type(error).__name__}: {one_line(str(error))}", fault=True))

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self.workers.cancel_node(self)

    def _begin(self, wish: Wish) -> None:
        begin(self, self._make, wish)

    async def _make(self, wish: Wish) -> None:
        self._show(await in_background(outlook, wish))

    def _show(self, found: Outlook) -> None:
        self.set_class(found.fault, "-fault")
        self.update(line(f"✗ {found.words}" if found.fault else found.words, 400))
