"""The app on its run screen, with a model that replies so many times a second; a child of app.py.

Usage: python benchmarks/paced_app.py REPLIES-A-SECOND FILE; the colour of the chosen answer goes into FILE.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from types import TracebackType

from selfdiag.models import registry
from selfdiag.models.base import Call, ModelInfo, Reply
from selfdiag.runs.records import RunSettings
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.widgets.answers_before import AnswersBefore
from selfdiag.tui.widgets.plan_line import PlanLine

REPEAT = 30
"""Times that the battery is asked: more than the measurement takes."""


class Paced:
    """A model whose replies come at even times, whoever asks."""

    concurrency = 16
    takes_schema = False
    max_tokens = 100

    def __init__(self, rate: float) -> None:
        self._pause = 1 / rate
        self._next = 0.0
        self._given = 0

    async def __aenter__(self) -> Paced:
        self._next = asyncio.get_running_loop().time()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def info(self) -> ModelInfo:
        return ModelInfo(provider="openai", name="paced", served_name="paced", simulated=True)

    async def ask(self, call: Call) -> Reply:  # noqa: ARG002 - as every provider
        self._next += self._pause
        await asyncio.sleep(max(self._next - asyncio.get_running_loop().time(), 0.0))
        self._given += 1
        said = {"answer": f"answer {self._given % 90}", "confidence": self._given * 7 % 101}
        return Reply(text=json.dumps(said), prompt_tokens=90, completion_tokens=12, latency_s=0.3)


async def shown(app: SelfdiagApp, kind: type) -> None:
    """Wait until such a widget is on the screen."""
    while not (app.is_running and len(app.screen_stack) > 1 and app.screen.query(kind)):  # noqa: ASYNC110 - no event
        await asyncio.sleep(0.05)


def write_colour(answers: AnswersBefore, place: Path) -> None:
    background = answers.get_component_rich_style("answers--cursor").bgcolor
    assert background is not None
    assert background.triplet is not None
    place.write_text(json.dumps(tuple(background.triplet)), encoding="ascii")


async def main(rate: float, place: Path) -> None:
    registry.build = lambda *_: Paced(rate)
    app = SelfdiagApp()
    running = asyncio.ensure_future(app.run_async())
    await shown(app, PlanLine)
    app.call_later(app.open_run, RunSettings(model="openai:paced", battery="full", repeat=REPEAT))
    await shown(app, AnswersBefore)
    write_colour(app.screen.query_one(AnswersBefore), place)
    await running


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), Path(sys.argv[2])))
