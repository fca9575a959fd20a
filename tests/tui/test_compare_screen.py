"""The comparison of runs on the screen."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from selfdiag.protocols.compare import compare
from selfdiag.report.comparison import comparison_lines
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import RECORDS, read_run
from selfdiag.tui import app as shell
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens import compare as module
from selfdiag.tui.screens.compare import CompareScreen
from selfdiag.tui.screens.help import HelpScreen
from selfdiag.tui.widgets.row_list import RowList
from tests.tui.test_shell import MARKUP, Plain, painted, toasts
from tests.tui.waiting import wait_until

SIZES = [(80, 24), (120, 40)]
FLIPPED = ("arithmetic-01", "geography-11")
"""Drawn probes that the second run answers the other way."""


@pytest.fixture(autouse=True)
def plain_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "HomeScreen", Plain)


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was asked once for all tests."""
    folder = tmp_path_factory.mktemp("runs") / "a"

    async def asked() -> None:
        async for _ in Session(RunSettings(model="persona:calibrated"), folder=folder).events():
            pass

    asyncio.run(asked())
    return folder


@pytest.fixture
def folders(first_run: Path, tmp_path: Path) -> tuple[Path, Path]:
    """That run, and one in which some items came out the other way."""
    other = tmp_path / "b"
    shutil.copytree(first_run, other)
    rewrite(other, other_way)
    return first_run, other


def rewrite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    records = [json.loads(row) for row in (folder / RECORDS).read_text(encoding="utf-8").splitlines()]
    for record in records:
        change(record)
    (folder / RECORDS).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def other_way(record: dict[str, Any]) -> None:
    if record["item_id"] in FLIPPED:
        record["outcome"] = {"correct": "incorrect", "incorrect": "correct"}[record["outcome"]]
    elif record["trap"] and record["outcome"] == "abstained":
        record["outcome"] = "incorrect"


async def opened(pilot: Pilot[Any], *folders: Path) -> CompareScreen:
    screen = CompareScreen(folders)
    await pilot.app.push_screen(screen)
    await wait_until(pilot, lambda: screen._compared is not None or screen.has_class("-fault"))
    await pilot.pause()
    return screen


@pytest.mark.parametrize("size", SIZES)
async def test_the_lines_of_the_report_and_the_flips(size: tuple[int, int], folders: tuple[Path, Path]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        screen = await opened(pilot, *folders)
        lines = comparison_lines(compare([read_run(folder) for folder in folders]))
        text = str(screen.query_one("#text", Static).render())
        assert text == "\n".join(lines)
        drawn = painted(app)
        assert lines[0].rstrip() in drawn
        assert {flip.item.id for flip in screen._compared.flips if flip.way[0] in "✓✗"} == set(FLIPPED)
        missed = sum(flip.way == "! missed" for flip in screen._compared.flips)
        assert re.search(rf"!\s+missed\s+{missed}", drawn)
        assert "arithmetic-01" in drawn
        assert re.search(r"line 1-\d+ of \d+", drawn)
        await pilot.press("end")
        await wait_until(pilot, lambda: f"-{len(lines)} of {len(lines)}" in painted(app))


async def test_a_flipped_item_opens_in_either_run(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Path, str]] = []
    app = SelfdiagApp()
    monkeypatch.setattr(app, "open_item", lambda folder, call_id: seen.append((folder, call_id)))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot, *folders)
        flip = screen._compared.flips[0]
        await pilot.press("enter", "o")
        rows = screen.query_one(RowList)
        rows.focus()
        await pilot.press("down", "enter")
        second = screen._compared.flips[1]
    asked = [
        {record.call_id: record.item_id for record in read_run(folder).measured()}
        for folder in (folders[1], folders[0])
    ]
    assert [folder for folder, _ in seen] == [folders[1], folders[0], folders[1]]
    assert asked[0][seen[0][1]] == asked[1][seen[1][1]] == flip.item.id
    assert asked[0][seen[2][1]] == second.item.id


async def test_runs_without_a_flip_say_so(folders: tuple[Path, Path]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, folders[0], folders[0])
        assert "no item changed sides" in painted(app)
        await pilot.press("enter", "o")
        assert isinstance(app.screen, CompareScreen)


async def test_three_runs_have_letters(folders: tuple[Path, Path]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(pilot, folders[0], folders[0], folders[1])
        assert {flip.other for flip in screen._compared.flips} == {2}
        assert re.search(r"C [✓✗] (right|wrong) +arithmetic-01", painted(app))


@pytest.mark.parametrize("size", SIZES)
async def test_a_fault_is_one_line(size: tuple[int, int], folders: tuple[Path, Path]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size, notifications=True) as pilot:
        await opened(pilot, folders[0], Path("[/]none"))
        assert "[/]none is not a run" in painted(app)
        await pilot.press("enter", "o", "e", "y")
        assert not toasts(app)
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(app.screen, CompareScreen))


async def test_tui_08_a_fault_of_our_own_leaves_the_app(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ValueError("no [/INST] sense")

    monkeypatch.setattr(module, "compared", broken)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, *folders)
        assert "ValueError: no [/INST] sense" in painted(app)
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: isinstance(app.screen, HelpScreen))


async def test_tui_01_answers_are_literal_text(folders: tuple[Path, Path]) -> None:
    texts = (*MARKUP, "\x1b[2J")

    def hostile(record: dict[str, Any]) -> None:
        if record["item_id"] in flipped:
            record["answer"] = texts[flipped.index(record["item_id"]) % len(texts)]

    flipped = [flip.item.id for flip in module.compared(folders).flips]
    assert len(flipped) >= len(texts)
    rewrite(folders[1], hostile)
    app = SelfdiagApp()
    async with app.run_test(size=(109, 90)) as pilot:
        await opened(pilot, *folders)
        drawn = painted(app)
        assert [text for text in texts[:-1] if text[:20] not in drawn] == []
        assert "\\x1b[2J" in drawn
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", drawn)


async def test_tui_23_the_comparison_is_saved_and_copied(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copied: list[str] = []
    app = SelfdiagApp()
    monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot, *folders)
        await pilot.press("e", "y")
        await wait_until(pilot, lambda: len(toasts(app)) == 2)
    saved = next(tmp_path.glob("selfdiag-compare-*.md")).read_text(encoding="utf-8")
    assert saved.startswith("# selfdiag: runs compared")
    assert "B against A" in copied[0]


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_tui_15_back_and_quit_are_in_sight(size: tuple[int, int], folders: tuple[Path, Path]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        await opened(pilot, *folders)
        await pilot.pause()
        assert "esc back" in painted(app)
        await pilot.press("q")
        await wait_until(pilot, lambda: not app.is_running)
    assert app.return_value == 0
