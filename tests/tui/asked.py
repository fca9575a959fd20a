"""A model whose replies a test writes, and the app with its run screen open on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from waiting import wait_until

from selfdiag.models.base import Call, ModelInfo, Reply
from selfdiag.runs.plan import Plan
from selfdiag.runs.records import RunSettings
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens.run import RunScreen
from selfdiag.tui.widgets.answers_before import AnswersBefore

GOOD = '{"answer": "zzz", "confidence": 40}'
Answer = Callable[[Call], Awaitable[str | Reply]]


class Model:
    """A provider that waits as long as its answer does.

    Args:
        answer: what a call gets; it may raise.
        info: what is known of the model.
        concurrency: calls at once.
    """

    max_tokens = 100
    takes_schema = False

    def __init__(self, answer: Answer, *, info: ModelInfo | None = None, concurrency: int = 1) -> None:
        self.answer = answer
        self.concurrency = concurrency
        self.calls: list[Call] = []
        self.entered = self.left = 0
        self._info = info or ModelInfo(provider="openai", name="made-up", served_name="made-up", simulated=True)

    async def __aenter__(self) -> Model:
        self.entered += 1
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.left += 1

    def info(self) -> ModelInfo:
        return self._info

    async def ask(self, call: Call) -> Reply:
        self.calls.append(call)
        given = await self.answer(call)
        return given if isinstance(given, Reply) else Reply(text=given)


async def well(call: Call) -> str:
    """Answer at once."""
    await asyncio.sleep(0)
    return GOOD


async def never(call: Call) -> str:
    """Leave a call without an answer for as long as anybody waits."""
    await asyncio.Event().wait()
    return GOOD


class Opened:
    """What a run screen has asked the app to open, in place of the real screens."""

    def __init__(self) -> None:
        self.results: list[tuple[Path, bool]] = []
        self.items: list[tuple[Path, str]] = []


@asynccontextmanager
async def asking(
    model: str = "persona:calibrated",
    *,
    size: tuple[int, int] = (80, 24),
    plan: Plan | None = None,
    resume: Path | None = None,
    **settings: object,
) -> AsyncIterator[tuple[Pilot[int], RunScreen, Opened]]:
    """Run the app with the run screen open; results and items are noted instead of shown."""
    app = SelfdiagApp()
    opened = Opened()
    app.open_results = lambda folder, *, instead=False: opened.results.append((folder, instead))  # type: ignore[method-assign]
    app.open_item = lambda folder, call_id: opened.items.append((folder, call_id))  # type: ignore[method-assign]
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        app.open_run(RunSettings(model=model, **settings), plan=plan, resume=resume)  # type: ignore[arg-type]
        await wait_until(pilot, lambda: isinstance(app.screen, RunScreen))
        screen = app.screen
        assert isinstance(screen, RunScreen)
        await wait_until(pilot, lambda: screen.query(AnswersBefore))
        yield pilot, screen, opened


def text_of(app: SelfdiagApp) -> str:
    """Return what stands on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)
