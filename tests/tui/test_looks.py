"""Themes, the line of keys, hints, and pictures of the screen: what every screen shares."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.style import Style
from textual.pilot import Pilot

from selfdiag.tui import app as shell
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.choices import Choices, remember
from selfdiag.tui.screens.dialog import Question
from selfdiag.tui.screens.help import HelpScreen
from selfdiag.tui.screens.jump import JumpScreen
from selfdiag.tui.screens.results import ResultsScreen
from selfdiag.tui.svg_file import self_contained
from selfdiag.tui.text import line
from selfdiag.tui.themes import NAMES
from selfdiag.tui.widgets.items_tab import ItemTable
from tests.tui.result_runs import audit_run
from tests.tui.screen_picture import letters, svg_rows
from tests.tui.test_shell import Plain, painted
from tests.tui.waiting import wait_until


@pytest.fixture(autouse=True)
def plain_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "HomeScreen", Plain)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


async def results(pilot: Pilot[Any], folder: Path, tab: str) -> ResultsScreen:
    screen = ResultsScreen(audit_run(folder / "run", probes=80))
    await pilot.app.push_screen(screen)
    await wait_until(pilot, lambda: screen._measured)
    await pilot.press(tab)
    await pilot.pause()
    return screen


def styles(app: SelfdiagApp) -> list[tuple[str, Style]]:
    strips = app.screen._compositor.render_strips()
    return [(segment.text, segment.style or Style()) for strip in strips for segment in strip if segment.text.strip()]


@pytest.mark.parametrize("name", NAMES)
async def test_a_theme_is_there_at_the_first_paint(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(Choices(theme=name))
    parsed = []
    refresh = SelfdiagApp.refresh_css
    monkeypatch.setattr(SelfdiagApp, "refresh_css", lambda app, animate=True: (parsed.append(1), refresh(app, animate)))
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.theme == NAMES[name]
        assert app.current_theme.dark == app.has_class("-dark-mode") != app.has_class("-light-mode")
        # all styles are read a second time for the terminal's own colours alone
        assert bool(parsed) == (name == "terminal")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("no_color", [False, True])
async def test_tui_16_every_theme_can_be_read(
    name: str, no_color: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    remember(Choices(theme=name))
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await results(pilot, tmp_path, "7")
        await wait_until(pilot, lambda: "✗ wrong" in painted(app))
        for text, style in styles(app):
            same = style.color == style.bgcolor and style.color is not None and not style.color.is_default
            assert not same, f"{text!r} is {style}"
        cursor = screen.query_one(ItemTable)._style("cursor")
        assert cursor.reverse or cursor.bgcolor != screen.query_one(ItemTable)._style().bgcolor
        tab = next(style for text, style in styles(app) if text == "7 items")
        assert tab.reverse or tab.bgcolor != next(style for text, style in styles(app) if text == "8").bgcolor


@pytest.mark.parametrize(
    ("width", "tab", "there", "gone"),
    [
        (120, "3", ("→ higher", "l lab", "? help", "q quit", "^p all actions"), ()),
        (80, "3", ("→ higher", "l lab", "? help", "q quit"), ("all actions",)),
        (80, "1", ("l lab", "r go on", "? help", "q quit"), ("all actions",)),
        (60, "3", ("→ higher", "? help", "q quit"), ("all actions", "lab")),
    ],
)
async def test_keys_are_whole_and_the_last_ones_stay(
    width: int, tab: str, there: tuple[str, ...], gone: tuple[str, ...], tmp_path: Path
) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(width, 24)) as pilot:
        await results(pilot, tmp_path, tab)

        def last() -> str:
            return painted(app).split("\n")[-1]

        await wait_until(pilot, lambda: all(words in last() for words in there))
        assert not any(words in last() for words in gone)


async def test_keys_come_back_with_the_room_for_them(tmp_path: Path) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(60, 24)) as pilot:
        await results(pilot, tmp_path, "3")
        await wait_until(pilot, lambda: "q quit" in painted(app) and "all actions" not in painted(app))
        await pilot.resize_terminal(120, 24)
        await wait_until(pilot, lambda: "^p all actions" in painted(app))


@pytest.mark.parametrize(("clicked", "answer"), [("enter stop", True), ("esc back", None), ("What is", "open")])
async def test_a_click_on_a_hint_is_its_key(clicked: str, answer: object) -> None:
    app = SelfdiagApp()
    answers: list[object] = []
    async with app.run_test(size=(80, 24)) as pilot:
        question = Question(line("Stop here?"), line("What is answered is kept."), yes="stop")
        app.push_screen(question, answers.append)
        await wait_until(pilot, lambda: clicked in painted(app))
        rows = painted(app).split("\n")
        y = next(place for place, row in enumerate(rows) if clicked in row)
        await pilot.click(offset=(rows[y].index(clicked) + 1, y))
        await pilot.pause()
        assert answers == ([] if answer == "open" else [answer])


async def test_a_click_beside_the_help_closes_it() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: isinstance(app.screen, HelpScreen) and "everywhere" in painted(app))
        await pilot.click(offset=(60, 20))
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        await pilot.click(offset=(1, 1))
        await wait_until(pilot, lambda: not isinstance(app.screen, HelpScreen))


async def test_a_click_on_a_letter_goes_where_it_stands(tmp_path: Path) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await results(pilot, tmp_path, "7")
        await pilot.press("ctrl+j")
        await wait_until(pilot, lambda: isinstance(app.screen, JumpScreen) and len(app.screen.children) > 1)
        letters_ = list(app.screen.children)
        targets = [widget for widget in screen.focus_chain if widget.region.area]
        assert screen.focused is targets[1]
        await pilot.click(offset=(letters_[0].region.x + 1, letters_[0].region.y))
        await wait_until(pilot, lambda: app.screen is screen)
        assert screen.focused is targets[0]


async def test_the_selective_tab_has_its_intervals(tmp_path: Path) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await results(pilot, tmp_path, "3")
        await wait_until(pilot, lambda: re.search(r"gain +[+-]\.\d+ +\[[+-]\.\d+, [+-]\.\d+\]", painted(app)))
        assert "none was asked for" not in painted(app)


async def test_a_picture_of_the_screen_fetches_nothing_and_keeps_its_places() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: isinstance(app.screen, HelpScreen) and "everywhere" in painted(app))
        drawn, seen = app.export_screenshot(), painted(app)
    assert re.findall(r"https?://[^\"' )]*", drawn) == ["http://www.w3.org/2000/svg"]
    assert svg_rows(drawn) == letters(seen.split("\n"))
    rows = seen.split("\n")
    for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"):  # noqa: S314 - our own
        if "clip-path" in element.attrib:
            row = rows[int(element.attrib["clip-path"].rpartition("-")[2].rstrip(")"))]
            at = round(float(element.attrib["x"]) / 12.2)
            text = (element.text or "").replace("\N{NO-BREAK SPACE}", " ")
            assert row[at : at + len(text)] == text
            assert float(element.attrib["textLength"]) == pytest.approx(12.2 * len(text), abs=0.2)


def test_texts_of_a_picture_begin_and_end_with_what_can_be_seen() -> None:
    head, tail = '<text class="t-r1" ', ' y="20" textLength="{}" clip-path="url(#t-line-0)">'
    drawn = (
        f'{head}x="12.2"{tail.format("61")}&#160;&#160;a&#160;b</text>'
        f'{head}x="0"{tail.format("48.8")}&lt;&#160;&#160;&#160;</text>'
        f'{head}x="0"{tail.format("24.4")}&#160;&#160;</text>'
        f'{head}x="0"{tail.format("61")}日本&#160;</text>'
        f'{head}x="0"{tail.format("61")}●⠉⠑&#160;─</text>'
        f'{head}x="61"{tail.format("0")}\n</text>'
    )
    assert self_contained(drawn) == (
        f'{head}x="36.6"{tail.format("36.6")}a&#160;b</text>'
        f'{head}x="0.0"{tail.format("12.2")}&lt;</text>'
        f'{head}x="0.0"{tail.format("48.8")}日本</text>'
        f'{head}x="0.0"{tail.format("12.2")}●</text>\n'
        f'{head}x="12.2"{tail.format("12.2")}⠉</text>\n'
        f'{head}x="24.4"{tail.format("12.2")}⠑</text>\n'
        f'{head}x="48.8"{tail.format("12.2")}─</text>'
    )
