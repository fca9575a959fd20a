"""Screens as they look, each against a picture of it in ``snapshots/``.

``SELFDIAG_SNAPSHOTS=new`` writes the pictures anew instead; then look at the SVG files, and at what git shows of the
text files.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot

from selfdiag.battery.items import BINS, FAMILIES
from selfdiag.models import registry
from selfdiag.models.base import Call, Provider, ProviderOptions, Reply
from selfdiag.protocols.overview import RunRow
from selfdiag.runs.progress import Progress
from selfdiag.runs.records import RunSettings
from selfdiag.tui import app as shell
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens.compare import CompareScreen
from selfdiag.tui.screens.help import HelpScreen
from selfdiag.tui.screens.item import ItemScreen
from selfdiag.tui.screens.lab import LabScreen
from selfdiag.tui.screens.results import ResultsScreen
from selfdiag.tui.screens.run import RunScreen
from tests.tui.result_runs import audit_run
from tests.tui.screen_picture import letters, picture, svg, svg_rows, text_of
from tests.tui.test_home import Around, around, settled
from tests.tui.test_shell import Plain, painted
from tests.tui.waiting import wait_until

__all__ = ["around"]

KEPT = Path(__file__).parent / "snapshots"
ANEW = os.environ.get("SELFDIAG_SNAPSHOTS") == "new"
NARROW, WIDE = (80, 24), (120, 40)
ANSWERED = 30
"""Calls of the run that is looked at in its middle."""
SECONDS = 24.0
"""That it has taken, whatever the clock says."""

Walk = Callable[[Pilot[Any], SelfdiagApp, Path], Awaitable[None]]


@pytest.fixture(autouse=True)
def same_terminal_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let neither the terminal, the clock, nor the place of the config file show in a picture."""
    for name in ("NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setattr("selfdiag.tui.screens.help.config_path", lambda: Path("config.toml"))
    monkeypatch.setattr("selfdiag.tui.widgets.run_list.age", lambda started, _: started[:10])
    monkeypatch.setattr("selfdiag.tui.widgets.home_body.memory_bytes", lambda: 16 * 2**30)
    monkeypatch.setattr(Progress, "seconds", lambda _: SECONDS)


@pytest.fixture
def silent_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every model fall silent after so many answers."""
    build = registry.build

    def built(model: str, options: ProviderOptions) -> Provider:
        provider = build(model, options)
        reply, asked = provider.ask, count()

        async def ask(call: Call) -> Reply:
            if next(asked) >= ANSWERED:
                await asyncio.Event().wait()
            return await reply(call)

        monkeypatch.setattr(provider, "ask", ask)
        return provider

    monkeypatch.setattr(registry, "build", built)


@pytest.fixture
def some_runs(around: Around) -> None:
    """Let there be models and runs on the home screen."""
    around.runs = [
        RunRow(run_id="a", state="complete", tier="C", model="ollama:qwen3:8b", battery="quick", planned=63),
        RunRow(run_id="b", state="stopped", tier="B", model="openai:small", battery="full", answered=38, planned=336),
        RunRow(run_id="c", state="complete", kind="ladder", model="embedded", battery="standard", planned=1008),
        RunRow(
            run_id="d", state="complete", tier="X", model="persona:blind", simulated=True, battery="quick", planned=63
        ),
    ]
    for place, run in enumerate(around.runs):
        around.runs[place] = msgspec.structs.replace(run, started=f"2026-03-0{4 - place}T12:00:00Z")


def _battery(folder: Path) -> Path:
    """Write a battery that stays as it is, whatever becomes of the stored one."""
    lines = ['id = "made"', 'version = "1"']
    for n in range(24):
        lines += [
            "[[probe]]",
            f'id = "sum-{n:02}"',
            f'bin = "{BINS[n % 21]}"',
            'difficulty = "easy"',
            'kind = "number"',
        ]
        lines += [
            f'answer = "{n + 3}"',
            f'questions = ["What is {n} + 3? Answer as a number."]',
            f'derivation = "{n} + 3"',
        ]
    for n in range(12):
        lines += ["[[trap]]", f'id = "ferry-{n:02}"', f'bin = "{BINS[n]}"', f'family = "{FAMILIES[n % 5]}"']
        lines += [f'questions = ["A ferry leaves at {n}:40. When does it arrive? Answer as a time."]']
        lines += ['note = "How long it is under way is not said."']
    path = folder / "made.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


async def _home(pilot: Pilot[Any], app: SelfdiagApp, folder: Path) -> None:
    await settled(pilot, app)


async def _run(pilot: Pilot[Any], app: SelfdiagApp, folder: Path) -> None:
    app.open_run(RunSettings(model="persona:overconfident", battery=str(_battery(folder)), concurrency=1))
    await wait_until(pilot, lambda: isinstance(app.screen, RunScreen))
    screen = app.screen
    assert isinstance(screen, RunScreen)

    def measured() -> bool:
        so_far, measuring = screen._so_far, screen._measuring
        if so_far is None or measuring is None or len(so_far.records) < ANSWERED or not so_far.under_way:
            return False
        return measuring._landed == ANSWERED and not measuring._busy

    await wait_until(pilot, measured)
    seen = screen._measuring.figures if screen._measuring is not None else None
    assert seen is not None
    await wait_until(pilot, lambda: f"{ANSWERED} of " in painted(app) and f" n {seen.n}   traps" in painted(app))


def _tab(name: str, words: str) -> Walk:
    async def walk(pilot: Pilot[Any], app: SelfdiagApp, folder: Path) -> None:
        screen = ResultsScreen(audit_run(folder / "run-1"))
        await app.push_screen(screen)
        await wait_until(pilot, lambda: screen._measured)
        await pilot.press(name)
        await wait_until(pilot, lambda: words in painted(app) and not re.search("reading(…| the run)", painted(app)))

    return walk


async def _item(pilot: Pilot[Any], app: SelfdiagApp, folder: Path) -> None:
    await _tab("7", "outcome")(pilot, app, folder)
    await pilot.press("down", "enter")
    await wait_until(pilot, lambda: isinstance(app.screen, ItemScreen) and "graded" in painted(app))


async def _lab(pilot: Pilot[Any], app: SelfdiagApp, folder: Path) -> None:
    screen = LabScreen("persona:suggestible", "", "geography-07")
    await app.push_screen(screen)
    await wait_until(pilot, lambda: screen._probes)
    await pilot.press("d")
    await wait_until(pilot, lambda: len(screen._doses) == 9 and not screen._sender.busy and screen._pair[1])
    await wait_until(pilot, lambda: "9 calls" in painted(app) and "this topic (7)" in painted(app))


async def _compare(pilot: Pilot[Any], app: SelfdiagApp, folder: Path) -> None:
    runs = audit_run(folder / "run-1"), audit_run(folder / "run-2", traps=20, unasked=7, model="openai:another")
    screen = CompareScreen(runs)
    await app.push_screen(screen)
    await wait_until(pilot, lambda: screen._compared is not None)
    await wait_until(pilot, lambda: "line 1-" in painted(app))


async def _help(pilot: Pilot[Any], app: SelfdiagApp, folder: Path) -> None:
    await _tab("7", "outcome")(pilot, app, folder)
    await pilot.press("question_mark")
    await wait_until(pilot, lambda: isinstance(app.screen, HelpScreen) and "items.open" in painted(app))


SCREENS: dict[str, tuple[Walk, tuple[int, int]]] = {
    "home": (_home, NARROW),
    "run": (_run, WIDE),
    "calibration": (_tab("1", "Wilson intervals"), NARROW),
    "selective": (_tab("3", "act on answers"), NARROW),
    "topics": (_tab("5", "accurate and calibrated"), WIDE),
    "items": (_tab("7", "outcome"), NARROW),
    "where": (_tab("8", "published"), WIDE),
    "item": (_item, NARROW),
    "lab": (_lab, NARROW),
    "lab-wide": (_lab, WIDE),
    "compare": (_compare, WIDE),
    "help": (_help, NARROW),
}


@pytest.mark.parametrize("name", SCREENS)
async def test_tui_26_it_looks_as_before(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if name == "home":
        request.getfixturevalue("some_runs")
    else:
        monkeypatch.setattr(shell, "HomeScreen", Plain)
    if name == "run":
        request.getfixturevalue("silent_half_way")
    walk, size = SCREENS[name]
    app = SelfdiagApp()
    app.ascii = False
    async with app.run_test(size=size) as pilot:
        await walk(pilot, app, tmp_path)
        await pilot.pause()
        seen, drawn = picture(app), svg(app, f"selfdiag: {name}")
    golden, looked_at = KEPT / f"{name}.txt", KEPT / f"{name}.svg"
    if ANEW:
        KEPT.mkdir(exist_ok=True)
        golden.write_text(seen + "\n", encoding="utf-8", newline="\n")
        looked_at.write_text(drawn, encoding="utf-8", newline="\n")
    (tmp_path / f"{name}.svg").write_text(drawn, encoding="utf-8")
    assert seen + "\n" == golden.read_text(encoding="utf-8"), f"it looks as in {tmp_path / name}.svg now"
    assert svg_rows(looked_at.read_text(encoding="utf-8")) == letters(text_of(seen))
