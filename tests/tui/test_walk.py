"""One walk through the whole app, by keys, by mouse, and with the real embedded model."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Digits

from selfdiag.runs.store import read_run
from selfdiag.settings import runs_dir
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.choices import Choices, remember
from selfdiag.tui.screens.compare import CompareScreen
from selfdiag.tui.screens.help import HelpScreen
from selfdiag.tui.screens.home import HomeScreen
from selfdiag.tui.screens.item import ItemScreen
from selfdiag.tui.screens.jump import JumpScreen
from selfdiag.tui.screens.lab import LabScreen
from selfdiag.tui.screens.pick_run import PickRun
from selfdiag.tui.screens.results import TABS, ResultsScreen
from tests.tui.test_shell import painted
from tests.tui.waiting import wait_until

S = TypeVar("S")
TAB_WORDS = {
    "calibration": "95 % Wilson intervals",
    "discrimination": "AUROC",
    "selective": "act on answers stated at",
    "traps": "questions without an answer",
    "topics": "accurate and calibrated enough",
    "self": "not asked: add the section questionnaire",
    "items": "filter: words",
    "where": "published, named by maker",
}
"""Words that are there once a tab is filled."""

SMALL = """
id = "small"
version = "1"
"""
PROBE = """
[[probe]]
id = "sum-{n}"
bin = "sums"
difficulty = "easy"
kind = "number"
answer = "{answer}"
questions = ["What is {n} + 3? Answer as a number."]
derivation = "{n} + 3"
"""
TRAP = """
[[trap]]
id = "ferry-t{n}"
bin = "journeys"
family = "missing_information"
questions = ["A ferry leaves at {n}:40 and is under way for some time. When does it arrive? Answer as a time."]
note = "How long the ferry is under way is not said."
"""


class Walk:
    """A person at the terminal, who sees what is painted and waits until it is what was expected."""

    def __init__(self, app: SelfdiagApp, pilot: Pilot[Any], patience: float = 60.0) -> None:
        self.app = app
        self.pilot = pilot
        self.patience = patience

    async def until(self, condition: Callable[[], object], what: str = "something") -> None:
        try:
            await wait_until(self.pilot, condition, self.patience)
        except TimeoutError:
            pytest.fail(f"{what} did not come:\n{painted(self.app)}")

    async def sees(self, words: str) -> None:
        await self.until(lambda: words in painted(self.app), repr(words))

    async def is_at(self, kind: type[S]) -> S:
        await self.until(lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted, kind.__name__)
        assert isinstance(self.app.screen, kind)
        return self.app.screen

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def click(self, words: str, *, times: int = 1) -> None:
        """Click on words that can be seen; on the lowest ones, as keys stand at the bottom."""
        await self.sees(words)
        rows = painted(self.app).split("\n")
        y = max(at for at, row in enumerate(rows) if words in row)
        before = rows[y].partition(words)[0]
        await self.pilot.click(offset=(cell_len(before) + 1, y), times=times)

    async def reads_the_tab(self, name: str) -> None:
        await self.sees(TAB_WORDS[name])

    async def ends(self) -> None:
        await self.until(lambda: not self.app.is_running)
        assert self.app.return_value == 0


def stated(screen: LabScreen) -> list[str]:
    return [digits.value for digits in screen.query(Digits)]


async def test_by_keys() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        walk = Walk(app, pilot)
        for persona in ("suggestible", "calibrated"):
            home = await walk.is_at(HomeScreen)
            await walk.sees("personas to try")
            await walk.press("slash", *f"persona:{persona}", "enter")
            await walk.sees("63 calls, simulated")
            await walk.press("enter")
            results = await walk.is_at(ResultsScreen)
            await walk.reads_the_tab("calibration")
            assert "simulated" in painted(app)
            if persona == "calibrated":
                break
            for place, name in enumerate(TABS, 1):
                await walk.press(str(place))
                await walk.reads_the_tab(name)
            await walk.press("7", "enter")
            item = await walk.is_at(ItemScreen)
            await walk.sees("graded")
            first = item.call_id
            await walk.press("n")
            await walk.until(lambda: item.call_id != first)  # noqa: B023 - it is awaited at once
            await walk.press("escape")
            assert await walk.is_at(ResultsScreen) is results
            await walk.press("l")
            await in_the_lab(walk)
            await walk.press("escape")
            assert await walk.is_at(ResultsScreen) is results
            await walk.press("escape")
            assert await walk.is_at(HomeScreen) is home
            await walk.press("escape")
        await compares_and_leaves(walk)
    assert [read_run(folder).manifest.settings.model for folder in sorted(runs_dir().glob("2*"))] == [
        "persona:suggestible",
        "persona:calibrated",
    ]


async def compares_and_leaves(walk: Walk) -> None:
    """From the results: compare with the other run, look at help, jump, quit."""
    await walk.press("c")
    await walk.is_at(PickRun)
    await walk.sees("suggestible")
    await walk.press("enter")
    await walk.is_at(CompareScreen)
    await walk.sees("42 probes and 21 traps in common")
    await walk.press("enter")
    await walk.is_at(ItemScreen)
    await walk.sees("graded")
    await walk.press("escape", "question_mark")
    await walk.is_at(HelpScreen)
    await walk.sees("compare.open_first")
    await walk.press("escape")
    compare = await walk.is_at(CompareScreen)
    await walk.press("ctrl+j")
    await walk.is_at(JumpScreen)
    await walk.press("s")
    await walk.is_at(CompareScreen)
    assert compare.focused is compare.query_one("#flips")
    await walk.press("q")
    await walk.ends()


async def in_the_lab(walk: Walk) -> None:
    """Send a claim, the whole series, and have a question picked."""
    lab = await walk.is_at(LabScreen)
    await walk.sees("space sends a claim")
    await walk.press("5", "space")
    await walk.until(lambda: stated(lab)[1])
    await walk.press("d")
    await walk.sees("this topic (7)")
    await walk.sees("off topic (2)")
    assert stated(lab)[0] == "0", "the persona says what is claimed"
    await walk.press("a")
    await walk.sees("moved most of 16 tried")


async def test_by_mouse() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        walk = Walk(app, pilot)
        await walk.sees("f5 looks again")
        await walk.click("personas to try", times=2)
        for persona in ("suggestible", "pinned"):
            home = await walk.is_at(HomeScreen)
            await walk.click(f"{persona}  ")
            await walk.sees("63 calls, simulated")
            await walk.click("⏎ start")
            results = await walk.is_at(ResultsScreen)
            await walk.reads_the_tab("calibration")
            if persona == "pinned":
                break
            for place, name in enumerate(TABS, 1):
                await walk.click(f"{place} {name}")
                await walk.reads_the_tab(name)
            await walk.click("7 items")
            await walk.click("algebra")
            await walk.click("⏎ open")
            await walk.is_at(ItemScreen)
            await walk.sees("graded")
            await walk.click("esc back")
            assert await walk.is_at(ResultsScreen) is results
            await walk.click("l lab")
            await by_mouse_in_the_lab(walk)
            await walk.click("esc back")
            assert await walk.is_at(ResultsScreen) is results
            await walk.click("esc back")
            assert await walk.is_at(HomeScreen) is home
        await walk.click("c compare")
        await walk.is_at(PickRun)
        await walk.click("suggestible")
        await walk.click("enter compare")
        await walk.is_at(CompareScreen)
        await walk.sees("42 probes and 21 traps in common")
        await walk.click("? help")
        await walk.is_at(HelpScreen)
        await pilot.click(offset=(2, 2))
        await walk.is_at(CompareScreen)
        await walk.click("q quit")
        await walk.ends()


async def by_mouse_in_the_lab(walk: Walk) -> None:
    lab = await walk.is_at(LabScreen)
    await walk.click("space send")
    await walk.until(lambda: stated(lab) == ["", "95"])
    await walk.click("claimed  0 ━━━━")
    await walk.sees("  0 %")
    await walk.click("space send")
    await walk.until(lambda: stated(lab) == ["95", "0"])
    await walk.click("o off topic")
    await walk.sees("off topic (1)")
    await walk.click("d dose series")
    await walk.sees("this topic (7)")
    await walk.click("a auto-pick")
    await walk.sees("moved most of 16 tried")


@pytest.mark.engine
async def test_with_the_real_model(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    from selfdiag.models import weights

    weights.obtain(print)
    battery = tmp_path / "small.toml"
    items = [PROBE.format(n=n, answer=n + 3) for n in range(1, 5)] + [TRAP.format(n=n) for n in (1, 2)]
    battery.write_text(SMALL + "".join(items), encoding="utf-8")
    remember(Choices(model="embedded", battery=str(battery)))
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        walk = Walk(app, pilot, patience=300.0)
        await walk.sees("6 calls, about")
        await walk.press("enter")
        results = await walk.is_at(ResultsScreen)
        await walk.reads_the_tab("calibration")
        assert "Not enough to judge" in re.sub(r"\s+", " ", painted(app))
        for place, name in enumerate(TABS, 1):
            await walk.press(str(place))
            await walk.reads_the_tab(name)
        await walk.press("7", "enter")
        await walk.is_at(ItemScreen)
        await walk.sees("with a JSON schema")
        await walk.press("escape", "l")
        lab = await walk.is_at(LabScreen)
        await walk.sees("space sends a claim")
        await walk.press("space")
        await walk.until(lambda: len(lab._doses) == 1)
        await walk.press("5", "space")
        await walk.until(lambda: len(lab._doses) == 2)
        assert lab._bench is not None and not lab._bench.info.simulated
        await walk.sees("the control was not asked")
        await walk.press("escape")
        assert await walk.is_at(ResultsScreen) is results
        await walk.press("q")
        await walk.ends()
    run = read_run(next(runs_dir().glob("2*")))
    assert run.manifest.sessions[-1].outcome == "complete"
    assert len(run.measured()) == 6
