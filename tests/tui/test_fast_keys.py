"""Keys, clicks and results that come faster than screens are built and taken away."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest
from textual.containers import Vertical
from textual.content import Content
from textual.css.query import NoMatches
from textual.events import Click, MouseDown
from textual.geometry import Offset
from textual.screen import Screen
from textual.widgets import Static
from textual.widgets.option_list import Option

from selfdiag.runs.store import read_run
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.background import begin
from selfdiag.tui.measuring import Measuring
from selfdiag.tui.screens.dialog import Question
from selfdiag.tui.screens.help import HelpScreen
from selfdiag.tui.screens.home import HomeScreen
from selfdiag.tui.screens.model_dialogs import FetchDialog
from selfdiag.tui.screens.palette import Palette
from selfdiag.tui.widgets.answers_before import AnswersBefore
from selfdiag.tui.widgets.chart import Chart
from selfdiag.tui.widgets.drawn import Drawn
from selfdiag.tui.widgets.now_asked import NowAsked
from selfdiag.tui.widgets.steady_list import SteadyList
from selfdiag.tui.widgets.too_small import TooSmall
from tests.tui.result_runs import audit_run
from tests.tui.waiting import wait_until


def names(app: SelfdiagApp) -> list[str]:
    return [type(screen).__name__ for screen in app.screen_stack[1:]]


async def test_widgets_without_any_width_are_drawn_all_the_same() -> None:
    app = SelfdiagApp()
    async with app.run_test() as pilot:
        chart = Chart()
        texts = [Drawn("words of no width"), Drawn(lambda _width, _plain: Content("drawn words")), chart, NowAsked()]
        squeezed = Vertical(*texts)
        squeezed.styles.width = 0
        await app.screen.mount(squeezed)
        chart.show("not enough data for a picture")
        texts[3].tell("preparing", "drawing the questions")
        await pilot.pause()
        assert squeezed.size.width == 0
        assert texts[0].get_content_height(app.size, app.size, 0) > 0


async def test_a_screen_that_is_dismissed_twice_takes_no_other_one_along() -> None:
    app = SelfdiagApp()
    async with app.run_test() as pilot:
        app.action_command_palette()
        await wait_until(pilot, lambda: isinstance(app.screen, Palette))
        palette = app.screen
        palette.dismiss()
        palette.dismiss()
        await pilot.pause()
        assert names(app) == ["HomeScreen"]


async def test_a_dialog_answered_behind_another_screen_goes_once_that_one_has_gone() -> None:
    app = SelfdiagApp()
    answers: list[bool | None] = []
    async with app.run_test() as pilot:
        dialog = Question(Content("Really?"), Content(""), yes="do it")
        app.push_screen(dialog, answers.append)
        await wait_until(pilot, lambda: dialog.is_mounted)
        app.action_help()
        await wait_until(pilot, lambda: isinstance(app.screen, HelpScreen))
        dialog.dismiss(True)
        await pilot.pause()
        assert names(app) == ["HomeScreen", "Question", "HelpScreen"]
        assert answers == []
        app.screen.dismiss()
        await wait_until(pilot, lambda: names(app) == ["HomeScreen"])
        assert answers == [True]


async def test_a_palette_is_opened_while_the_one_before_still_goes() -> None:
    app = SelfdiagApp()
    async with app.run_test() as pilot:
        for _ in range(3):
            app.action_command_palette()
            app.pop_screen()
        await pilot.pause()
        assert names(app) == ["HomeScreen"]


async def test_a_key_for_a_screen_that_is_not_built_yet_does_nothing() -> None:
    app = SelfdiagApp()
    async with app.run_test() as pilot:
        dialog = FetchDialog()
        app.push_screen(dialog)
        assert not dialog.is_mounted
        assert await app.run_action("fetch", dialog)
        assert dialog._began is None
        await wait_until(pilot, lambda: dialog.is_mounted)


async def test_an_action_behind_another_screen_does_nothing() -> None:
    app = SelfdiagApp()
    async with app.run_test() as pilot:
        dialog = Question(Content("Really?"), Content(""), yes="do it")
        app.push_screen(dialog)
        app.action_help()
        await wait_until(pilot, lambda: app.screen.is_mounted and dialog.is_mounted)
        assert await app.run_action("yes", dialog)
        app.screen.dismiss()
        await wait_until(pilot, lambda: app.screen is dialog)
        await pilot.pause()
        assert names(app) == ["HomeScreen", "Question"]


async def test_what_a_screen_has_begun_ends_when_it_is_left_and_nothing_more_begins() -> None:
    app = SelfdiagApp()
    ends: list[str] = []

    async def work(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ends.append(name)

    async with app.run_test() as pilot:
        screen: Screen[None] = Screen()
        app.push_screen(screen)
        await wait_until(pilot, lambda: screen.is_mounted)
        begin(screen, work, "before")
        await pilot.pause()
        gone = app.pop_screen()
        begin(screen, work, "after")
        assert not any(worker.node is screen and not worker.is_cancelled for worker in app.workers)
        await gone
        await wait_until(pilot, lambda: ends)
        assert ends == ["before"]


async def test_a_terminal_too_small_is_told_on_a_screen_that_is_not_built_yet() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(40, 10)) as pilot:
        screen: Screen[None] = Screen()
        app.push_screen(screen)
        app._fit()
        await wait_until(pilot, lambda: screen.query(TooSmall))


async def test_page_keys_stand_a_list_without_room() -> None:
    app = SelfdiagApp()
    async with app.run_test() as pilot:
        listed = SteadyList(Option("one"), Option("two"))
        listed.styles.height = 0
        await app.screen.mount(listed)
        await pilot.pause()
        assert not listed.scrollable_content_region
        listed.highlighted = 1
        listed.action_page_down()
        listed.action_page_up()
        assert listed.highlighted == 1


async def test_a_click_on_an_option_that_has_gone_does_nothing() -> None:
    app = SelfdiagApp()
    async with app.run_test() as pilot:
        listed = SteadyList(Option("one"), Option("two"))
        await app.screen.mount(listed)
        for place, wanted in ((1, 1), (2, None)):
            click = Click(listed, 0, 0, 0, 0, 1, False, False, False)
            click._style = click.style + click.style.from_meta({"option": place})
            assert listed.clicked(click) == wanted
            listed.post_message(click)
            await pilot.pause()
        assert app._exception is None


async def test_a_button_pressed_on_what_has_gone_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    app = SelfdiagApp()
    async with app.run_test():
        gone = Static("gone")
        monkeypatch.setattr(app.screen, "get_widget_and_offset_at", lambda x, y: (gone, Offset(0, 0)))
        await app.on_event(MouseDown(None, 3, 3, 0, 0, 1, False, False, False, 3, 3))
        assert app.screen._select_state is None


async def test_a_widget_looked_for_in_vain_is_no_fault_once_the_app_ends() -> None:
    app = SelfdiagApp()
    async with app.run_test() as pilot:
        await wait_until(pilot, lambda: isinstance(app.screen, HomeScreen))
        app.exit(0)
        app._handle_exception(NoMatches("none"))
        assert app.fault == ""


async def test_answers_that_land_lay_nothing_out_once_the_list_is_longer_than_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = read_run(audit_run(tmp_path / "run")).records
    app = SelfdiagApp()
    async with app.run_test() as pilot:
        answers = AnswersBefore()
        await app.screen.mount(answers)
        for _ in range(3):
            answers.add(records)
            await pilot.pause()
        assert answers.show_vertical_scrollbar
        asked: list[Any] = []
        refresh = answers.refresh

        def noted(*regions: Any, layout: bool = False, **rest: Any) -> AnswersBefore:
            asked.append(layout)
            return refresh(*regions, layout=layout, **rest)

        monkeypatch.setattr(answers, "refresh", noted)
        answers.add(records)
        assert asked
        assert not any(asked)
        assert answers.virtual_size.height == len(answers) == 4 * len(records)
        assert answers.vertical_scrollbar.window_virtual_size == len(answers)


async def test_the_garbage_collector_passes_over_the_plan_while_a_run_is_under_way(tmp_path: Path) -> None:
    run = read_run(audit_run(tmp_path / "run"))
    measuring = Measuring(run.folder)
    try:
        await measuring.measure(run.records)
        assert gc.get_freeze_count() > 0
        measuring.end()
        assert gc.get_freeze_count() == 0
        late = Measuring(run.folder)
        late.end()
        await late.measure(run.records)
        assert gc.get_freeze_count() == 0
    finally:
        gc.unfreeze()
