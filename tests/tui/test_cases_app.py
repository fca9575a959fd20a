"""What goes wrong within the app: faults beside the event loop, ids, a held-up loop, and keys while somebody types."""

from __future__ import annotations

import ast
import asyncio
import importlib.metadata
import json
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.screen import Screen
from textual.widgets import Input

import selfdiag.tui
from selfdiag.models.base import Call, Reply
from selfdiag.runs.store import RECORDS, read_run
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens import item as item_module
from selfdiag.tui.screens.compare import CompareScreen
from selfdiag.tui.screens.item import ItemScreen
from selfdiag.tui.screens.model_dialogs import AddressDialog, FileDialog
from selfdiag.tui.screens.results import TABS, ResultsScreen
from selfdiag.tui.screens.run import REPAINT, RunScreen
from selfdiag.tui.screens.save import SaveDialog
from selfdiag.tui.widgets.items_tab import FilterLine, ItemTable
from selfdiag.tui.widgets.plan_line import PlanLine
from tests.tui.asked import Model, asking, text_of
from tests.tui.cases_world import PLAIN, look, world
from tests.tui.result_runs import audit_run
from tests.tui.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(Path(selfdiag.tui.__file__).parent.rglob("*.py"))


def calls(path: Path, name: str) -> list[ast.Call]:
    """Return the calls of a method of this name in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [node for node in found if isinstance(node.func, ast.Attribute) and node.func.attr == name]


def test_TUI_08_no_fault_of_work_in_the_background_ends_the_app() -> None:
    ending = [
        path.name
        for path in SOURCES
        for call in calls(path, "run_worker")
        if not any(
            word.arg == "exit_on_error" and getattr(word.value, "value", True) is False for word in call.keywords
        )
    ]
    assert ending == ["app.py"], "leaving, which ends it anyway"


async def test_TUI_08_a_fault_of_our_own_leaves_the_page_of_a_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("closing [/INST] tag")

    monkeypatch.setattr(item_module, "item_page", broken)
    folder = audit_run(tmp_path / "run", probes=2, traps=0)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.open_item(folder, read_run(folder).manifest.plan[0].call_id)
        await wait_until(pilot, lambda: "ValueError: closing [/INST] tag" in text_of(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(app.screen, ItemScreen))
        assert app.is_running


async def test_TUI_10_a_call_that_was_asked_twice_is_one_row_and_a_run_is_compared_with_itself(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=5, traps=1)
    records = (folder / RECORDS).read_bytes()
    (folder / RECORDS).write_bytes(records + records)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open_results(folder)
        await wait_until(pilot, lambda: isinstance(app.screen, ResultsScreen) and app.screen._measured)
        await pilot.press("7")
        await wait_until(pilot, lambda: "6 records" in text_of(app))
        assert len(app.screen.query_one(ItemTable).rows) == 6
        app.open_compare((folder, folder))
        await wait_until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen._compared)
        assert "no item changed sides" in text_of(app)


MOST_AT_A_STRETCH = 8
"""Yardsticks, of which one is about 40 ms on a machine of today: .3 s."""


class HeldUp:
    """Watches how long the event loop works at a stretch, in seconds of its thread, and how slow the machine is now."""

    def __init__(self) -> None:
        self.worst = 0.0
        self.yardstick = 0.0
        self.during = ""
        self.now = ""

    def measure(self) -> None:
        """Time a fixed piece of work: where two processes share a core's caches, the app's takes as much longer."""
        before = time.thread_time()
        sum(number * number % 7 for number in range(600_000))
        self.yardstick = max(self.yardstick, time.thread_time() - before)

    async def watch(self) -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.05)
            took = time.thread_time() - before
            if took > self.worst:
                self.worst, self.during = took, self.now


async def test_TUI_11_results_of_many_and_of_a_megabyte_hold_up_nothing(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=294, traps=42, long_reply=True)
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_until(pilot, lambda: app.screen.query(PlanLine) and "looking" not in text_of(app))
        held_up = HeldUp()
        held_up.measure()
        watching = asyncio.create_task(held_up.watch())
        held_up.now = "opening"
        app.open_results(folder)
        await wait_until(pilot, lambda: isinstance(app.screen, ResultsScreen) and app.screen._measured)
        screen = app.screen
        assert isinstance(screen, ResultsScreen)
        for place, tab in enumerate(TABS, 1):
            held_up.now = tab
            await pilot.press(str(place))
            await wait_until(pilot, lambda tab=tab: screen._shown == tab and not _works(app))
        held_up.now = "a megabyte"
        app.open_item(folder, read_run(folder).manifest.plan[0].call_id)
        await wait_until(pilot, lambda: "cut here" in _page(app.screen))
        held_up.now = "comparing"
        app.open_compare((folder, folder))
        await wait_until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen._compared)
        watching.cancel()
    held_up.measure()
    assert held_up.worst < MOST_AT_A_STRETCH * held_up.yardstick, f"while {held_up.during}"


def _works(app: SelfdiagApp) -> bool:
    return any(worker.is_running for worker in app.workers)


def _page(screen: Screen[object]) -> str:
    return "\n".join(line.text for line in screen._text._lines) if isinstance(screen, ItemScreen) else ""


async def test_TUI_14_long_answers_one_after_the_other_are_painted_ten_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paints: list[float] = []
    paint = RunScreen._paint

    def counted(screen: RunScreen) -> None:
        paints.append(time.monotonic())
        paint(screen)

    async def at_length(call: Call) -> Reply:
        await asyncio.sleep(0)
        return Reply(text=json.dumps({"answer": "**word** " * 2222, "confidence": 40}))

    monkeypatch.setattr(RunScreen, "_paint", counted)
    monkeypatch.setattr("selfdiag.models.registry.build", lambda name, options: Model(at_length))
    async with asking("openai:x", battery="standard") as (pilot, screen, opened):
        await wait_until(pilot, lambda: opened.results)
        assert len(screen._answers) == 147
        assert "**word** **word**" in text_of(screen.app), "as it is, and not as Markdown"
    # what a stage begins or ends with is painted at once
    assert len(paints) <= (paints[-1] - paints[0]) / REPAINT + 10


FIELDS: dict[str, tuple[Callable[[SelfdiagApp, Path], object], str]] = {
    "filter of models": (lambda app, folder: None, "#filter"),
    "battery of one's own": (lambda app, folder: None, "#own"),
    "GGUF file": (lambda app, folder: app.push_screen(FileDialog()), "#path"),
    "address": (lambda app, folder: app.push_screen(AddressDialog()), "#address"),
    "name": (lambda app, folder: app.push_screen(AddressDialog("openai")), "#name"),
    "file to write": (lambda app, folder: app.push_screen(SaveDialog("write", "", "")), "Input"),
    "filter of records": (lambda app, folder: app.open_results(folder), "FilterLine"),
}


async def test_TUI_24_letters_go_into_every_field_that_is_typed_in(tmp_path: Path) -> None:
    with world(tmp_path, PLAIN) as here:
        app = SelfdiagApp()
        async with app.run_test(size=(80, 24)) as pilot:
            await wait_until(pilot, lambda: app.screen.query(PlanLine))
            home = app.screen
            for name, (show, which) in FIELDS.items():
                show(app, here.first)
                if which.startswith(("#filter", "#own")):
                    app.screen.query_one("HomeBody").set_class(True, "-filtering", "-own")
                if which == "FilterLine":
                    await wait_until(pilot, lambda: isinstance(app.screen, ResultsScreen) and app.screen._measured)
                    await pilot.press("slash")
                await wait_until(pilot, lambda which=which: app.screen.query(which))
                screen = app.screen
                field = screen.query_one(which, FilterLine if which == "FilterLine" else Input)
                field.focus()
                await wait_until(pilot, lambda field=field: app.focused is field)
                await pilot.press(*"qwen? 3")
                assert field.value == "qwen? 3", name
                assert app.screen is screen, name
                if screen is not home:
                    app.pop_screen()
                    await wait_until(pilot, lambda: app.screen is home)
            assert app.is_running


def test_TUI_25_the_major_version_of_textual_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (wanted,) = (one for one in project["dependencies"] if re.match(r"textual\W", one) and "plot" not in one)
    found = re.fullmatch(r"textual>=(\d+)\.\d+(?:\.\d+)?,<(\d+)", wanted)
    assert found, wanted
    lowest, below = int(found[1]), int(found[2])
    assert below == lowest + 1
    assert int(importlib.metadata.version("textual").split(".")[0]) == lowest
    renamed = [path.name for path in SOURCES if re.search(r"\bSelect\b", path.read_text(encoding="utf-8"))]
    assert renamed == [], "its constant has another name from 8.0 on"


async def test_TUI_26_the_same_screen_is_the_same_picture(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run")
    pictures = set()
    for _ in range(3):
        app = SelfdiagApp()
        async with app.run_test(size=(80, 24)) as pilot:
            app.open_results(folder)
            await wait_until(pilot, lambda app=app: isinstance(app.screen, ResultsScreen) and app.screen._measured)
            await pilot.press("7")
            await wait_until(pilot, lambda app=app: "52 records" in text_of(app) and app.focused)
            pictures.add(re.sub(r"terminal-\d+", "terminal", look(app, "items").picture))
    assert len(pictures) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from selfdiag.tui.screens.save import write_text

fsync = os.fsync

def killed(number):
    fsync(number)
    os.kill(os.getpid(), signal.SIGKILL)

os.fsync = killed
write_text(Path("report.md"), "the new one " * 100_000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_TUI_29_a_kill_while_a_report_is_written_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("the old one", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == "the old one"
