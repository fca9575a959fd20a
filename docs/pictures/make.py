"""Writes the pictures of the README from a kept run.

Usage: python docs/pictures/make.py RUN [--item ID] [--only NAME]

``run.svg`` plays the run's own replies again and stops half-way; the time told is the one that they took.
``results.svg`` is its first tab. ``lab.svg`` asks the run's model about one question, live. ``compare.svg`` sets beside
it a simulated model that is well calibrated.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from textual.pilot import Pilot

from selfdiag.models import registry
from selfdiag.models.base import Call, ModelInfo, Reply
from selfdiag.runs.progress import Progress
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.shelf import find_run
from selfdiag.runs.store import Run, read_run
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens.compare import CompareScreen
from selfdiag.tui.screens.lab import LabScreen
from selfdiag.tui.screens.results import ResultsScreen
from selfdiag.tui.screens.run import RunScreen

HERE = Path(__file__).parent
COLUMNS = 96
"""As many as can be read at the width of a README."""
HALF_WAY = 38
PATIENCE = 600.0
Shown = Callable[[Pilot[Any], SelfdiagApp], Awaitable[None]]


class Replay:
    """A provider that gives the replies of a kept run again, and falls silent half-way.

    Args:
        run: with a record of every call that it is asked.
    """

    concurrency = 1
    takes_schema = True

    def __init__(self, run: Run) -> None:
        self._run = run
        self.max_tokens = run.manifest.max_tokens
        self._replies = {run.manifest.prompts[record.prompt_sha256].user: record for record in run.measured()}
        self._given = 0
        self.seconds = 0.0

    async def __aenter__(self) -> Replay:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None

    def info(self) -> ModelInfo:
        """Return what was known of the model."""
        return self._run.manifest.model

    async def ask(self, call: Call) -> Reply:
        """Return the reply that this question got."""
        record = self._replies.get(call.user)
        if record is None:  # the warm-up
            return Reply(text="{}")
        if self._given >= HALF_WAY:
            await asyncio.Event().wait()
        self._given += 1
        self.seconds += record.latency_s or 0.0
        return Reply(
            text=record.raw,
            reasoning=record.reasoning,
            latency_s=record.latency_s or 0.0,
            prompt_tokens=record.prompt_tokens,
            completion_tokens=record.completion_tokens,
        )


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Let the app work until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await pilot.pause(0.05)


def run_half_way(run: Run) -> Shown:
    """Return how to come to the run screen with half of the answers on it."""

    async def shown(pilot: Pilot[Any], app: SelfdiagApp) -> None:
        replay, build = Replay(run), registry.build
        registry.build = lambda *_: replay  # type: ignore[assignment]
        Progress.seconds = lambda _: replay.seconds  # type: ignore[method-assign]
        settings = msgspec.structs.replace(
            run.manifest.settings, sections=("probes", "traps"), structured="on", concurrency=1
        )
        app.open_run(settings)
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and app.screen._so_far is not None)
        screen = app.screen
        assert isinstance(screen, RunScreen)  # noqa: S101
        await until(pilot, lambda: screen._measuring is not None and screen._measuring._landed == HALF_WAY)
        await until(pilot, lambda: screen._measuring is not None and not screen._measuring._busy)
        registry.build = build

    return shown


def results(folder: Path) -> Shown:
    """Return how to come to the first tab of the results."""

    async def shown(pilot: Pilot[Any], app: SelfdiagApp) -> None:
        screen = ResultsScreen(folder)
        await app.push_screen(screen)
        await until(pilot, lambda: screen._measured)

    return shown


def lab(settings: RunSettings, item: str) -> Shown:
    """Return how to come to the lab with every dose asked; this asks the model."""

    async def shown(pilot: Pilot[Any], app: SelfdiagApp) -> None:
        screen = LabScreen(settings.model, settings.base_url, item)
        await app.push_screen(screen)
        await until(pilot, lambda: screen._probes)
        await pilot.press("d")
        await until(pilot, lambda: len(screen._doses) == 9 and not screen._sender.busy and screen._pair[1])

    return shown


def compared(folder: Path, beside: Path) -> Shown:
    """Return how to come to the comparison with a simulated run, which is asked first."""

    async def shown(pilot: Pilot[Any], app: SelfdiagApp) -> None:
        settings = RunSettings(model="persona:calibrated")
        async for _ in Session(settings, folder=beside / "calibrated").events():
            pass
        screen = CompareScreen((folder, beside / "calibrated"))
        await app.push_screen(screen)
        await until(pilot, lambda: screen._compared is not None)

    return shown


async def draw(name: str, lines: int, shown: Shown) -> None:
    """Write one picture of so many lines."""
    app = SelfdiagApp()
    app.ascii = False
    async with app.run_test(size=(COLUMNS, lines)) as pilot:
        await shown(pilot, app)
        await pilot.pause(1.0)
        app.clear_notifications()
        await pilot.pause(0.2)
        drawn = app.export_screenshot(title="selfdiag")
    # the ids are a checksum over all of it: the picture would differ in every line
    (HERE / f"{name}.svg").write_text(re.sub(r"terminal-\d+", name, drawn), encoding="utf-8", newline="\n")


def main() -> None:
    """Write the pictures that are wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="id, unique prefix, latest, or path of a run that asked probes and traps")
    parser.add_argument("--item", default="literature-arts-02", help="question of the lab")
    parser.add_argument("--only", default="", help="write this picture alone")
    given = parser.parse_args()
    folder = find_run(given.run).resolve()
    run = read_run(folder)
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"SELFDIAG_HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        pictures = {
            "run": (28, run_half_way(run)),
            "results": (28, results(folder)),
            "lab": (28, lab(run.manifest.settings, given.item)),
            "compare": (36, compared(folder, Path(home))),
        }
        for name, (lines, shown) in pictures.items():
            if given.only in {"", name}:
                asyncio.run(draw(name, lines, shown))


if __name__ == "__main__":
    main()
