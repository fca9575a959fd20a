"""Foreign text on every screen: one walk through a world of hostile texts, looked at for each kind of harm."""

from __future__ import annotations

import ast
import asyncio
import re
import unicodedata
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.widgets import Input
from textual.widgets._toast import Toast

import selfdiag.tui
from selfdiag.runs.store import read_run
from selfdiag.safety import remember_secret
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens.item import ItemScreen
from selfdiag.tui.screens.save import SaveDialog
from selfdiag.tui.widgets.long_text import LongText
from tests.tui.asked import text_of
from tests.tui.cases_world import CANARY, ESCAPED, HOSTILE, LITERAL, Seen, look, walked, world
from tests.tui.result_runs import audit_run
from tests.tui.waiting import wait_until

WIDTH = 120
OF_LIBRARIES = {"plot", "legend", "margin-top", "margin-left", "margin-bottom", "textual-toastrack"}
SOURCES = sorted(Path(selfdiag.tui.__file__).parent.rglob("*.py"))


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Everything that is seen on the way through the app."""

    async def go() -> list[Seen]:
        found: list[Seen] = []
        app = SelfdiagApp()
        app.ascii = False
        async with app.run_test(size=(WIDTH, 40), notifications=True) as pilot:

            async def looked(name: str) -> None:
                await pilot.pause()
                found.append(look(app, name))

            await walked(pilot, here, looked, each=True)
            assert app.is_running
        assert not app.fault
        return found

    with world(tmp_path_factory.mktemp("hostile"), HOSTILE) as here:
        return asyncio.run(go())


def on(seen: list[Seen], name: str) -> str:
    """Return all that stood on the screens of this name, one after the other."""
    found = [one.text for one in seen if re.fullmatch(name, one.name)]
    assert found, f"{name} was not looked at"
    return "\n".join(found)


def visible(text: str) -> str:
    return ESCAPED.get(text, text.replace(CANARY, "[key]"))


@pytest.mark.parametrize(
    ("screen", "which"),
    [
        (r"home \d", slice(None)),
        (r"results items \d", slice(None)),
        ("results traps.*", slice(0, 3)),
        ("results topics", slice(0, 5)),
        (r"compare \d+", slice(0, 11)),
        (r"item \d+", slice(None)),
        (r"toast \d+", slice(None)),
    ],
)
def test_TUI_01_02_03_every_text_stands_there_as_it_is(seen: list[Seen], screen: str, which: slice) -> None:
    shown = on(seen, screen)
    assert [text for text in HOSTILE[which] if visible(text) not in shown] == []


@pytest.mark.parametrize("screen", [r"run|run \d", r"lab \d+"])
def test_TUI_01_02_03_every_answer_stands_there_as_it_is(seen: list[Seen], screen: str) -> None:
    # what a terminal would obey is no part of an answer any more once it is read; of a fault only the beginning fits
    faults = set(HOSTILE[3::9] + HOSTILE[7::9]) if "run" in screen else set()
    shown = on(seen, screen)
    assert [text for text in LITERAL if text not in shown and text not in faults] == []
    assert all(f"ValueError: {visible(text)}"[:18] in shown for text in HOSTILE[7::9] if "run" in screen)


def test_TUI_01_02_03_texts_of_items_are_whole_on_the_page_of_each(seen: list[Seen]) -> None:
    for place, text in enumerate(HOSTILE):
        shown = on(seen, f"item {place}")
        for head in ("question", "key", "reply"):
            assert re.search(rf"^ {head} .*{re.escape(f'{visible(text)} {place}')}", shown, re.MULTILINE), shown


@pytest.mark.parametrize(
    "screen", ["home run .", "run", "results (?!of nothing).*", "compare 0", "lab 0", "pick a run"]
)
def test_TUI_01_names_of_models_stand_there_as_they_are(seen: list[Seen], screen: str) -> None:
    found = [one for one in seen if re.fullmatch(screen, one.name)]
    assert found
    assert [one.name for one in found if "openai:[/INST]\\x1b[2J" not in one.text] == []


@pytest.mark.parametrize("screen", ["home run .", "delete .", "(results|item|compare) of nothing"])
def test_TUI_01_names_of_files_stand_there_as_they_are(seen: list[Seen], screen: str) -> None:
    shown = on(seen, screen)
    assert "[@click=app.quit]damaged" in shown
    assert "is damaged" in shown or "damaged: it cannot be read" in shown


def test_TUI_04_messages_go_through_one_place_that_takes_them_literally() -> None:
    callers = {
        path.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "notify"
    }
    assert callers == {"app.py"}


def test_TUI_05_no_text_is_a_control(seen: list[Seen]) -> None:
    assert all(not one.clicks for one in seen)
    assert sum("[@click=app.quit]" in one.text for one in seen) > 20


async def test_TUI_05_a_click_on_what_looks_like_a_control_does_nothing(tmp_path: Path) -> None:
    text = "[@click=app.quit]see source[/]"
    folder = audit_run(tmp_path / "run", probes=1, traps=0, texts=(text,))
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.open_item(folder, _first_call(folder))
        await wait_until(pilot, lambda: isinstance(app.screen, ItemScreen) and text in text_of(app))
        screen = app.screen
        for y, row in enumerate(text_of(app).split("\n")):
            if "see source" in row:
                await pilot.click(offset=(row.index("see source") + 1, y))
        app.say(text)
        await wait_until(pilot, lambda: app.screen.query(Toast))
        await pilot.click(Toast)
        await pilot.pause()
        assert app.is_running
        assert app.screen is screen


def _first_call(folder: Path) -> str:
    return read_run(folder).manifest.plan[0].call_id


def test_TUI_06_nothing_that_a_terminal_obeys_reaches_a_line(seen: list[Seen]) -> None:
    for one in seen:
        assert [char for row in one.rows for char in row if _is_obeyed(char)] == [], one.name


def _is_obeyed(char: str) -> bool:
    return unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} or (
        unicodedata.category(char) == "Cf" and char not in "\u200c\u200d"
    )


@pytest.mark.skipif("os.name == 'nt'", reason="no such names there")
async def test_TUI_06_not_even_from_a_field_that_is_typed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the working folder is the beginning of a path that is offered; bytes that are no text are surrogates in it
    folder = tmp_path / "\x1b]0;owned\x07\udcff\u202e"
    folder.mkdir()
    monkeypatch.chdir(folder)
    run = audit_run(tmp_path / "run", probes=1, traps=0)
    app = SelfdiagApp()
    async with app.run_test(size=(160, 24)) as pilot:
        app.open_item(run, _first_call(run))
        await wait_until(pilot, lambda: "graded" in text_of(app))
        await pilot.press("w")
        await wait_until(pilot, lambda: isinstance(app.screen, SaveDialog))
        field = app.screen.query_one(Input)
        for value in (f"{folder.name}/x", "\x1b[2J\u2066pasted\x9b/x", field.value):
            field.value = value
            await pilot.pause()
            await wait_until(pilot, lambda value=value: "pasted" in text_of(app) or "pasted" not in value)
            rows = look(app, "save").rows
            assert not [char for row in rows for char in row if _is_obeyed(char)]
            assert {cell_len(row) for row in rows} == {160}
        field.value = str(folder / "reply.txt")
        await pilot.press("enter")
        await wait_until(pilot, (folder / "reply.txt").is_file)


def test_TUI_09_no_id_is_made_of_a_name(seen: list[Seen]) -> None:
    ids = {name for one in seen for name in one.ids if not name.startswith("--")}
    written = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    assert "models" in ids
    assert [name for name in ids if name.removeprefix("tab-") not in written and name not in OF_LIBRARIES] == []


def test_TUI_10_the_same_model_twice_is_two_rows(seen: list[Seen]) -> None:
    shown = on(seen, r"home \d")
    assert f"{len(HOSTILE) + 1} models" in shown
    last = next(one.text for one in seen if one.name == "home 2")
    assert len(re.findall(r"^ [▸ ] \[/\] ", last, re.MULTILINE)) == 1 and "api" in last


def test_TUI_14_foreign_text_is_never_read_as_markdown(seen: list[Seen]) -> None:
    assert {one.name for one in seen if any(kind.startswith("Markdown") for kind in one.kinds)} <= {"help"}


def test_TUI_21_every_line_is_as_wide_as_the_screen(seen: list[Seen]) -> None:
    for one in seen:
        assert {cell_len(row) for row in one.rows} == {WIDTH}, one.name


def test_TUI_21_columns_stand_under_each_other(seen: list[Seen]) -> None:
    texts = ("日本語", "e\u0301x", "1abc")
    home = next(one for one in seen if one.name == "home 1")
    rows = [next(row for row in home.rows if row[1:].startswith((f"  {text} ", f"▸ {text} "))) for text in texts]
    assert len({cell_len(row[: row.index("8B")]) for row in rows}) == 1
    listed = [row for one in seen if re.fullmatch(r"results items \d", one.name) for row in one.rows]
    for text in (*texts, "👩\u200d👩\u200d👧"):
        places = {cell_len(row[: row.rindex("probes")]) for row in listed if f" {text} " in row and "probes" in row}
        assert len(places) == 1, text


def test_TUI_31_no_key_on_any_screen_and_in_no_picture(seen: list[Seen]) -> None:
    assert all(CANARY not in one.text for one in seen)
    assert all(CANARY not in one.picture.replace("&#160;", " ") for one in seen)
    assert "key [key]" in on(seen, r"item \d+")
    assert "key [key]" in on(seen, r"home \d")


async def test_TUI_31_no_half_of_a_key_where_a_line_ends(tmp_path: Path) -> None:
    remember_secret(CANARY)
    run = audit_run(tmp_path / "run", probes=1, traps=0, texts=(f"{'word ' * 12}{CANARY * 3}",))
    app = SelfdiagApp()
    async with app.run_test(size=(79, 40)) as pilot:
        app.open_item(run, _first_call(run))
        await wait_until(pilot, lambda: "graded" in text_of(app))
        page = app.screen.query_one(LongText)
        for width in range(80, 88):
            await pilot.resize_terminal(width, 40)
            await wait_until(pilot, lambda width=width: page.virtual_size.width == width and "graded" in text_of(app))
            text = "".join(line.text for line in page._lines)
            assert "[key][key]" in text
            assert "canary" not in text + app.export_screenshot()
        page.text_select_all()
        await pilot.press("ctrl+c")
        assert "[key]" in app.clipboard and "canary" not in app.clipboard
        await pilot.press("y")
        await wait_until(pilot, lambda: "graded" in app.clipboard)
        assert "[key]" in app.clipboard and "canary" not in app.clipboard
