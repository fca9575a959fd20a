"""A world in which every text is foreign, and a walk through all screens of the app in it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot

from selfdiag import safety
from selfdiag.battery.items import Battery, Probe
from selfdiag.elicit.prompts import render
from selfdiag.models import registry
from selfdiag.models.base import Call, Listing, ModelInfo, ProviderError, Reply
from selfdiag.runs.calls import CallBook
from selfdiag.runs.plan import Plan
from selfdiag.runs.records import BatteryInfo, RunSettings
from selfdiag.runs.store import MANIFEST, RECORDS
from selfdiag.settings import runs_dir
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens.compare import CompareScreen
from selfdiag.tui.screens.dialog import Question
from selfdiag.tui.screens.home import HomeScreen
from selfdiag.tui.screens.item import ItemScreen
from selfdiag.tui.screens.jump import JumpScreen
from selfdiag.tui.screens.lab import LabScreen
from selfdiag.tui.screens.pick_run import PickRun
from selfdiag.tui.screens.results import TABS, ResultsScreen
from selfdiag.tui.screens.run import RunScreen
from selfdiag.tui.screens.save import SaveDialog
from selfdiag.tui.widgets.claim_slider import ClaimSlider
from selfdiag.tui.widgets.items_tab import ItemTable
from selfdiag.tui.widgets.model_list import ModelList
from selfdiag.tui.widgets.plan_line import PlanLine
from selfdiag.tui.widgets.row_list import RowList
from tests.tui.asked import Model
from tests.tui.result_runs import audit_run
from tests.tui.waiting import wait_until

LITERAL = (
    "[/]",
    "[/INST]",
    "[/some/path]",
    "[link=http://x]y",
    "array[i]",
    "use [A-Z]+ here",
    "a [note] b",
    "[red]hi",
    "[/",
    "ZLEX [b + more",
    "[0] x",
    '{"a":[true]}',
    "[@click=app.quit]see source[/]",
    "日本語",
    "👩\u200d👩\u200d👧",
    "e\u0301x",
    "llama3.2:3b",
    "qwen/qwen3-8b",
    "1abc",
    "a b",
    "[bold]b[/bold]",
    "\\[x] [/x]",
    "[not closed",
)
"""Texts that must stand on the screen as they are, sign by sign."""
ESCAPED = {
    "\x1b[2J": "\\x1b[2J",
    "\x1b]0;owned\x07": "\\x1b]0;owned\\x07",
    "\x1b]52;c;eA==\x07": "\\x1b]52;c;eA==\\x07",
    "\x00nul\x7f": "\\x00nul\\x7f",
    "\u202egnp": "\\u202egnp",
}
"""Texts that a terminal would obey, and how they are made visible."""
CANARY = "canary7f3a9c55e1d04b"
"""A key that must stand nowhere."""
HOSTILE = (*LITERAL, *ESCAPED, f"key {CANARY}")
PLAIN = tuple(f"thing {number}" for number in range(29))
assert len(HOSTILE) == len(PLAIN), "they have no divisor in common with the six outcomes of a made run"


@dataclass
class World:
    """What there is to look at: ``texts`` stand for everything that is not ours."""

    texts: Sequence[str]
    first: Path
    second: Path
    damaged: Path
    plan: Plan
    model: str
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0

    async def answer(self, call: Call) -> str | Reply:
        """Answer with the next text, or raise it; the last call of the run waits until it may."""
        text = self.texts[self.asked % len(self.texts)]
        self.asked += 1
        of_the_run = {prompt.user for prompt in self.plan.prompts.values()}
        if call.user == self.plan.prompt(self.plan.calls[-1]).user:
            await self.may_end.wait()
        elif call.user in of_the_run and self.asked % 9 == 4:
            raise ProviderError("provider", f"the server says {text}")
        elif call.user in of_the_run and self.asked % 9 == 8:
            raise ValueError(text)
        return Reply(text=json.dumps({"answer": text, "confidence": 37 + self.asked}), reasoning=text)


@contextmanager
def world(folder: Path, texts: Sequence[str]) -> Iterator[World]:
    """Make everything the app finds around it, below a folder of one's own, and take it back at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SELFDIAG_HOME", str(folder / "home"))
        patch.chdir(folder)
        patch.setattr(SelfdiagApp, "message_seconds", 600.0)
        hostile = texts is HOSTILE
        names = ("[INST]\x1b[2J 日本語", "[red]b", "[@click=app.quit]damaged") if hostile else ("a", "b", "c")
        model = f"openai:{LITERAL[1]}\x1b[2J" if hostile else "openai:made-up"
        patch.setattr(safety, "_known_secrets", {CANARY})
        first, second, damaged = (runs_dir() / name for name in names)
        runs_dir().mkdir(parents=True)
        audit_run(first, probes=2 * len(texts), traps=len(texts), texts=texts, model=model)
        shutil.copytree(first, second)
        _answer_otherwise(second)
        damaged.mkdir()
        (damaged / MANIFEST).write_text("{[/INST]", encoding="utf-8")
        made = World(texts, first, second, damaged, _plan(texts, model), model)
        info = ModelInfo(provider="openai", name=model, served_name=model, simulated=False)
        patch.setattr(registry, "build", lambda name, options: Model(made.answer, info=info))
        patch.setattr(registry, "discovered", lambda provider="": _listings(texts)[provider])
        patch.setattr("selfdiag.tui.widgets.home_body.provider_names", lambda: list(_listings(texts)))
        yield made


def _listings(texts: Sequence[str]) -> dict[str, list[Listing]]:
    return {
        "embedded": [Listing(model="embedded", ready=True, remark="here")],
        "gguf": [Listing(model="gguf:PATH", ready=True, remark="any file")],
        "ollama": [
            Listing(model=f"ollama:{text}", ready=place % 5 != 4, remark=text, details={"size": "8B", "context": text})
            for place, text in enumerate((*texts, texts[0]))
        ],
        "openai": [Listing(model="openai:NAME", ready=False, remark="set OPENAI_API_KEY", remote=True)],
        "persona": [Listing(model="persona:blind", ready=True, remark="simulated")],
    }


def _plan(texts: Sequence[str], model: str) -> Plan:
    """Return a plan that asks an item about each text."""
    items = tuple(
        Probe(
            id=f"{text} id",
            bin=f"{texts[place % 3]} topic",
            difficulty="easy",
            kind="text",
            answer=text if place % 2 else "another",
            questions=(f"{text} is what?",),
            source=text,
        )
        for place, text in enumerate(texts)
    )
    book = CallBook(RunSettings(model=model))
    for item in items:
        book.add("probes", item.id, render(item, 0))
    drawn = Battery(id="made", version="1", probes=items)
    return Plan(
        battery=BatteryInfo(id="made", version="1", sha256=drawn.sha256()),
        drawn=drawn,
        systems=book.systems,
        prompts=book.prompts,
        calls=tuple(book.calls),
    )


def _answer_otherwise(folder: Path) -> None:
    """Let every answered item of a run come out the other way."""
    other = {"correct": "incorrect", "incorrect": "correct", "abstained": "incorrect"}
    records = [json.loads(row) for row in (folder / RECORDS).read_text(encoding="utf-8").splitlines()]
    for record in records:
        was = record["outcome"]
        record["outcome"] = "abstained" if record["trap"] and was == "incorrect" else other.get(was, was)
    (folder / RECORDS).write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    manifest = msgspec.json.decode((folder / MANIFEST).read_bytes())
    manifest["run_id"] = folder.name
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))


@dataclass
class Seen:
    """What stood on the screen once: its rows, the ids of its widgets, and the actions that a click would do."""

    name: str
    rows: list[str]
    ids: set[str]
    kinds: set[str]
    clicks: set[str]
    picture: str

    @property
    def text(self) -> str:
        return "\n".join(self.rows)


def look(app: SelfdiagApp, name: str) -> Seen:
    """Look at the screen that is on top."""
    strips = app.screen._compositor.render_strips()
    styles = [segment.style for strip in strips for segment in strip if segment.style is not None]
    widgets = list(app.screen.walk_children())
    return Seen(
        name=name,
        rows=["".join(segment.text for segment in strip) for strip in strips],
        ids={widget.id for widget in widgets if widget.id},
        kinds={type(widget).__name__ for widget in widgets},
        clicks={str(style.meta["@click"]) for style in styles if "@click" in style.meta}
        | {style.link for style in styles if style.link},
        picture=app.export_screenshot(),
    )


Look = Callable[[str], Awaitable[None]]


class Walk:
    """Goes through the screens one by one, and has each looked at.

    Args:
        pilot: of the app.
        world: what there is.
        look: called with a name for what is on the screen now.
        each: whether every text is gone to, or the first ones only.
    """

    def __init__(self, pilot: Pilot[Any], world: World, look: Look, *, each: bool) -> None:
        self.pilot = pilot
        self.world = world
        self.look = look
        self.each = each
        self.count = len(world.texts) if each else 2

    @property
    def app(self) -> SelfdiagApp:
        app = self.pilot.app
        assert isinstance(app, SelfdiagApp)
        return app

    async def until(self, condition: Callable[[], object]) -> None:
        await wait_until(self.pilot, condition)

    async def sees(self, kind: type, condition: Callable[[Any], object] = bool) -> Any:
        """Wait for a screen and for what must be true of it, and return it."""
        await self.until(
            lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted and condition(self.app.screen)
        )
        await self.pilot.pause()
        return self.app.screen

    async def leave(self, times: int = 1) -> None:
        for _ in range(times):
            screen = self.app.screen
            await self.until(lambda screen=screen: screen.is_mounted)
            await self.pilot.press("escape")
            await self.until(lambda screen=screen: self.app.screen is not screen)

    async def pages(self, name: str, most: int) -> None:
        """Look at a list page by page."""
        length = most if self.each else 1
        await self.pilot.press("home")
        for page in range(length):
            await self.look(f"{name} {page}")
            await self.pilot.press("pagedown")

    @property
    def shown(self) -> str:
        return "\n".join("".join(part.text for part in strip) for strip in self.app.screen._compositor.render_strips())

    async def home(self) -> None:
        """Look at the models, the runs, and the question before one is deleted."""
        screen = await self.sees(HomeScreen, lambda screen: screen.query(PlanLine))
        await self.until(lambda: "looking" not in self.shown and "reading" not in self.shown)
        await self.until(lambda: "counting" not in str(screen.query_one(PlanLine).render()))
        await self.pages("home", 4)
        await self.pilot.press("slash", *"[/IN", "enter")
        await self.look("home filtered")
        await self.pilot.press("escape")
        screen.query_one("#runs").focus()
        for place in range(3):
            await self.look(f"home run {place}")
            await self.pilot.press("x")
            await self.sees(Question)
            await self.look(f"delete {place}")
            await self.pilot.press("n")
            await self.sees(HomeScreen)
            await self.pilot.press("down")
        screen.query_one(ModelList).focus()

    async def run(self) -> None:
        """Look at a run under way, at the question before it is stopped, and at its results."""
        self.app.open_run(RunSettings(model=self.world.model, concurrency=1), plan=self.world.plan)
        calls = len(self.world.plan.calls)
        screen = await self.sees(RunScreen, lambda screen: len(screen._answers) == calls - 1)
        await self.until(lambda: "1 in flight" in self.shown)
        await self.look("run")
        await self.pilot.press("down")
        await self.pages("run", 3)
        await self.pilot.press("escape", "escape")
        await self.sees(Question)
        await self.look("stop")
        await self.pilot.press("n")
        await self.sees(RunScreen)
        self.world.may_end.set()
        await self.until(lambda: self.app.screen is not screen)
        await self.sees(ResultsScreen, lambda screen: screen._measured)
        await self.look("results of the run")
        self.app.clear_notifications()
        await self.leave()

    async def results(self) -> None:
        """Look at every tab, and at what can be opened from them."""
        self.app.open_results(self.world.first)
        screen = await self.sees(ResultsScreen, lambda screen: screen._measured)
        for place, tab in enumerate(TABS, 1):
            await self.pilot.press(str(place))
            await self.until(lambda tab=tab: screen._shown == tab and "reading" not in self.shown)
            await self.look(f"results {tab}")
            await self.pilot.press("end")
            await self.look(f"results {tab}, its end")
        self.app.clear_notifications()
        await self.pilot.press("7")
        await self.pages("results items", 5)
        await self.pilot.press("slash", *"[/IN x")
        await self.look("results filtered")
        await self.pilot.press("escape", "e")
        await self.sees(SaveDialog)
        await self.look("export")
        await self.leave()
        await self.pilot.press("question_mark")
        await self.until(lambda: self.app.screen is not screen)
        await self.look("help")
        await self.leave()
        await self.pilot.press("ctrl+j")
        await self.sees(JumpScreen)
        await self.look("jump")
        await self.leave()
        await self.pilot.press("ctrl+p")
        await self.until(lambda: self.app.screen is not screen)
        await self.pilot.press(*"save")
        await self.pilot.pause()
        await self.look("palette")
        await self.leave()

    async def items(self) -> None:
        """Look at the replies one by one, from the list of the results."""
        await self.pilot.press("7", "home")
        await self.until(lambda: isinstance(self.app.focused, ItemTable))
        await self.pilot.press("enter")
        screen = await self.sees(ItemScreen)
        for place in range(self.count):
            head = f"{place + 1} of {3 * len(self.world.texts)}"
            await self.until(lambda head=head: head in self.shown and "section probes" in _page(screen))
            await self.look(f"item {place}")
            await self.pilot.press("n")
        await self.pilot.press("w")
        await self.sees(SaveDialog)
        await self.look("save")
        await self.leave(2)

    async def compare(self) -> None:
        """Look at the comparison with the other run, picked from the list of the results."""
        await self.pilot.press("c")
        picked = await self.sees(PickRun, lambda screen: screen._list._runs)
        await self.look("pick a run")
        names = [run.run_id for run in picked.query_one(RowList)._runs]
        picked.query_one(RowList).highlighted = names.index(self.world.second.name)
        await self.pilot.press("enter")
        screen = await self.sees(CompareScreen, lambda screen: screen._compared)
        screen.query_one(RowList).focus()
        await self.pages("compare", 12)
        await self.leave(2)

    async def lab(self) -> None:
        """Look at what the model says to a claim, text by text."""
        self.app.open_lab(self.world.model)
        screen = await self.sees(LabScreen, lambda screen: screen._probes)
        self.world.asked = 0
        for place in range(self.count):
            screen.query_one(ClaimSlider).action_to(place)
            await self.pilot.press("space")
            await self.until(lambda place=place: len(screen._doses) == place + 1 and not screen._sender.busy)
            await self.pilot.pause()
            await self.look(f"lab {place}")
        await self.pilot.press("b")
        await self.until(lambda: self.app.screen is not screen)
        await self.look("topics")
        await self.leave(2)

    async def faults(self) -> None:
        """Look at what every screen says of something that is not there."""
        app, none = self.app, self.world.damaged
        for name, show in (
            ("results", lambda: app.open_results(none)),
            ("item", lambda: app.open_item(none, "[/] call")),
            ("compare", lambda: app.open_compare((self.world.first, none))),
        ):
            before = app.screen
            show()
            await self.until(lambda before=before: app.screen is not before)
            await self.until(lambda: "malformed" in "".join(self.shown.split()))
            await self.look(f"{name} of nothing")
            await self.leave()

    async def toasts(self) -> None:
        """Look at a message about each text."""
        for place, text in enumerate(self.world.texts[: self.count]):
            self.app.clear_notifications()
            self.app.say(f"said {place}: {text}")
            await self.until(lambda place=place: f"said {place}:" in self.shown)
            await self.look(f"toast {place}")
        self.app.clear_notifications()


def _page(screen: ItemScreen) -> str:
    return "\n".join(line.text for line in screen._text._lines)


async def walked(pilot: Pilot[Any], world: World, look: Look, *, each: bool) -> None:
    """Go through all screens."""
    walk = Walk(pilot, world, look, each=each)
    await walk.home()
    await walk.run()
    await walk.results()
    await walk.items()
    await walk.compare()
    await walk.lab()
    await walk.faults()
    await walk.toasts()
