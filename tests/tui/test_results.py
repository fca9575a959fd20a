"""The results screen: its tabs, its list of records, and what can be done with a run."""

from __future__ import annotations

import json
import sys
import threading
import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from result_runs import HOSTILE, audit_run
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input
from waiting import wait_until

from selfdiag.protocols.assess import SECTIONS
from selfdiag.protocols.audit import summarise
from selfdiag.protocols.diagrams import diagrams_of
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import RECORDS, RunWriter, read_run
from selfdiag.settings import runs_dir
from selfdiag.tui import reading
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens import results
from selfdiag.tui.screens.item import ItemScreen
from selfdiag.tui.screens.pick_run import PickRun
from selfdiag.tui.screens.results import TABS, TEXT_TABS, ResultsScreen
from selfdiag.tui.screens.save import SaveDialog, file_name
from selfdiag.tui.widgets import standing_tab
from selfdiag.tui.widgets.items_tab import FilterLine, ItemsTab, ItemTable
from selfdiag.tui.widgets.standing_tab import standing_findings
from selfdiag.tui.widgets.tab_line import TabLine
from selfdiag.tui.widgets.topics_tab import topic_findings
from selfdiag.tui.widgets.traps_tab import MissedList, trap_findings

SIZES = ((80, 24), (120, 40))


def text_of(app: SelfdiagApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def words_of(app: SelfdiagApp) -> str:
    return " ".join(text_of(app).split())


@asynccontextmanager
async def showing(
    folder: Path, size: tuple[int, int] = (80, 24), *, plain: bool = False
) -> AsyncIterator[tuple[Pilot[int], ResultsScreen]]:
    """The app with the results of a run on it, read and measured as far as they can be."""
    app = SelfdiagApp()
    app.ascii = plain
    async with app.run_test(size=size, notifications=True) as pilot:
        app.open_results(folder)
        await wait_until(pilot, lambda: isinstance(app.screen, ResultsScreen) and ready(app.screen))
        screen = app.screen
        assert isinstance(screen, ResultsScreen)
        yield pilot, screen
    assert not app.fault


def ready(screen: ResultsScreen) -> bool:
    if screen.has_class("-failed"):
        return True
    known = screen.reading is not None and bool(screen._tabs)
    return known and (screen._measured is not None or tuple(screen._tabs) == TEXT_TABS)


async def asked(settings: RunSettings, folder: Path) -> Path:
    async with aclosing(Session(settings, folder=folder).events()) as events:
        async for _ in events:
            pass
    return folder


async def shows(pilot: Pilot[int], *words: str) -> None:
    app = pilot.app
    assert isinstance(app, SelfdiagApp)
    try:
        await wait_until(pilot, lambda: all(word in words_of(app) for word in words))
    except TimeoutError:
        pytest.fail(f"not all of {words} stand in\n{text_of(app)}")


def rows(screen: ResultsScreen) -> list[str]:
    return [row.word for row in screen.query_one(ItemTable).rows]


@pytest.mark.parametrize("size", SIZES)
async def test_every_tab_shows_what_it_is_named_for(tmp_path: Path, size: tuple[int, int]) -> None:
    async with showing(audit_run(tmp_path / "run"), size) as (pilot, _):
        await shows(pilot, "It answers 14 of 21 right", "Brier")
        for key, top, bottom in (
            ("4", ("5 of 10 spotted", "5 missed traps", "Which of none is", "there is none"), ()),
            ("5", ("calculation", "○ right"), ("random groupings", "certifies nothing")),
            ("6", ("not asked: add the section questionnaire", "add the section microprobe"), ()),
            ("7", ("52 records", "✗ wrong", "item-00001", "answer 1"), ()),
            ("8", ("made-up", "above the line"), ("google", "refusals and abstentions")),
        ):
            await pilot.press(key)
            await shows(pilot, *top)
            if bottom:
                await pilot.press("end")
                await shows(pilot, *bottom)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("plain", [False, True])
async def test_TUI_01_06_21_hostile_texts_are_text_on_every_tab(
    tmp_path: Path, size: tuple[int, int], plain: bool
) -> None:
    folder = audit_run(tmp_path / "run", texts=HOSTILE, long_reply=True, model="openai:[/]\x1b[2J[red]x")
    async with showing(folder, size, plain=plain) as (pilot, screen):
        for place in range(1, len(TABS) + 1):
            await pilot.press(str(place))
            await wait_until(pilot, lambda place=place: screen._shown == TABS[place - 1])
            await wait_until(pilot, lambda: "reading" not in words_of(pilot.app))
            shown = text_of(pilot.app)
            assert "openai:[/]\\x1b[2J[red]x" in shown
            assert not [char for char in shown if unicodedata.category(char) in {"Cc", "Cs"} and char != "\n"]
        await pilot.press("4")
        await shows(pilot, "[/INST] and [red]hi")


async def test_TUI_19_nothing_but_ascii_is_drawn_where_that_is_wanted(tmp_path: Path) -> None:
    async with showing(audit_run(tmp_path / "run"), (120, 40), plain=True) as (pilot, _):
        for key in "4568":
            await pilot.press(key)
            await wait_until(pilot, lambda: "reading" not in words_of(pilot.app))
            drawn = set(text_of(pilot.app))
            assert not drawn & set("─━█░▒▓●○◉◆│┤╶╴▾")


async def test_the_head_shrinks_on_a_low_screen(tmp_path: Path) -> None:
    async with showing(audit_run(tmp_path / "run")) as (pilot, screen):
        whole = screen._body.size.height
        await pilot.press("7")
        await wait_until(pilot, lambda: screen._body.size.height > whole)
        assert screen._brief.size.height == 1
        await pilot.resize_terminal(80, 40)
        await wait_until(pilot, lambda: screen._head.display and not screen._brief.display)


async def test_a_folder_that_is_no_run_is_said_in_one_line(tmp_path: Path) -> None:
    async with showing(tmp_path / "none") as (pilot, screen):
        await shows(pilot, "is not a run")
        await pilot.press("1", "e", "y", "c", "l", "r", "slash", "left", "right")
        assert pilot.app.screen is screen
        await pilot.press("escape")
        await wait_until(pilot, lambda: pilot.app.screen is not screen)


async def test_TUI_08_the_list_stays_when_the_measures_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(run: object) -> None:
        raise ValueError("[/] out of range")

    monkeypatch.setattr(results, "measure", broken)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.open_results(audit_run(tmp_path / "run"))
        await shows(pilot, "[/] out of range")
        await pilot.press("7")
        await shows(pilot, "52 records", "answer 1")


async def test_TUI_04_08_a_fault_beside_the_event_loop_is_told_and_the_app_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(run: object) -> None:
        raise ValueError("closing [/INST] tag")

    monkeypatch.setattr(results, "standing_findings", broken)
    async with showing(audit_run(tmp_path / "run")) as (pilot, _):
        await pilot.press("8")
        await shows(pilot, "closing [/INST] tag")
        await pilot.press("7")
        await shows(pilot, "52 records")


@pytest.mark.parametrize("size", SIZES)
async def test_an_experiment_is_told_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    settings = RunSettings(model="persona:blind", sections=("microprobe",), limit=3)
    folder = await asked(settings, tmp_path / "run")
    async with showing(folder, size) as (pilot, screen):
        assert tuple(screen._tabs) == TEXT_TABS
        await shows(pilot, "simulated", "inconclusive", "1 result", "2 items")
        await pilot.press("2")
        await shows(pilot, "microprobe", "records")
        await pilot.press("3")
        assert screen._shown == "items"


async def test_a_self_assessment_opens_on_what_the_model_says_of_itself(tmp_path: Path) -> None:
    settings = RunSettings(model="persona:blind", sections=SECTIONS, instances=2, ratings=3, tasks=5)
    folder = await asked(settings, tmp_path / "run")
    async with showing(folder, (120, 50)) as (pilot, screen):
        assert screen._shown == "self"
        await shows(pilot, "x1 hallucination control", "Delta", "MSI", "notices when it is likely wrong")


async def test_TUI_24_a_filter_is_typed_and_no_letter_of_it_is_an_action(tmp_path: Path) -> None:
    async with showing(audit_run(tmp_path / "run")) as (pilot, screen):
        await pilot.press("slash")
        await wait_until(pilot, lambda: isinstance(pilot.app.focused, FilterLine))
        await pilot.press(*"wrong")
        assert pilot.app.screen is screen
        assert screen.query_one(FilterLine).value == "wrong"
        assert set(rows(screen)) == {"wrong"}
        await shows(pilot, "7 of 52 records")
        await pilot.press("enter")
        assert isinstance(pilot.app.focused, ItemTable)
        await pilot.press("slash", "escape")
        await shows(pilot, "52 records")
        assert pilot.app.screen is screen and len(rows(screen)) == 52


async def test_a_fault_of_the_filter_is_said_and_the_rows_stay(tmp_path: Path) -> None:
    async with showing(audit_run(tmp_path / "run")) as (pilot, screen):
        await pilot.press("slash", *"conf", "greater_than_sign", *"90")
        picked = rows(screen)
        assert 0 < len(picked) < 52
        await pilot.press("0")
        await shows(pilot, "conf wants a number from 0 to 100")
        assert rows(screen) == picked
        await pilot.press("backspace", *" nothing")
        await shows(pilot, "no record matches")
        assert "conf wants" not in words_of(pilot.app)


async def test_measures_that_come_late_leave_the_keys_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def late(run: object) -> object:
        gate.wait(20)
        return reading.measure(run)  # type: ignore[arg-type]

    monkeypatch.setattr(results, "measure", late)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open_results(audit_run(tmp_path / "run"))
        await wait_until(pilot, lambda: isinstance(app.screen, ResultsScreen) and bool(app.screen._tabs))
        screen = app.screen
        assert isinstance(screen, ResultsScreen)
        await pilot.press("slash", *"ye")
        gate.set()
        await wait_until(pilot, lambda: screen._measured is not None)
        await pilot.press(*"s")
        assert app.screen is screen and screen.query_one(FilterLine).value == "yes"


async def test_rows_are_sorted_by_key_and_by_click(tmp_path: Path) -> None:
    async with showing(audit_run(tmp_path / "run"), (120, 40)) as (pilot, screen):
        await pilot.press("7", "s")
        await wait_until(pilot, lambda: rows(screen)[0] == "missed")
        assert rows(screen)[-1] == "right"
        await pilot.press("S")
        await wait_until(pilot, lambda: rows(screen)[0] == "right")
        head = text_of(pilot.app).splitlines()
        line = next(line for line in head if "outcome" in line and "section" in line)
        table = screen.query_one(ItemTable)
        await pilot.click(ItemTable, offset=(line.index("conf") + 1, 0))
        await wait_until(pilot, lambda: table.by == "conf")
        stated = [row.record.confidence for row in table.rows if row.record.confidence is not None]
        assert stated == sorted(stated, reverse=True)
        assert table.rows[-1].record.confidence is None


async def test_of_many_rows_only_those_in_sight_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    draw = ItemTable._row

    def counted(self: ItemTable, row: object, *under: str) -> object:
        drawn.append(1)
        return draw(self, row, *under)  # type: ignore[arg-type]

    folder = audit_run(tmp_path / "run", probes=9_900, traps=100)
    async with showing(folder) as (pilot, _):
        await pilot.press("7")
        await shows(pilot, "10,000 records")
        monkeypatch.setattr(ItemTable, "_row", counted)
        await pilot.press("slash", *"wrong")
        await shows(pilot, "1,650 of 10,000 records")
        await pilot.press("enter", "end")
        await shows(pilot, "item-09895")
        assert 0 < len(drawn) < 20 * 24


async def test_a_record_is_opened_and_the_cursor_follows_what_was_looked_at(tmp_path: Path) -> None:
    async with showing(audit_run(tmp_path / "run")) as (pilot, screen):
        await pilot.press("slash", *"wrong", "enter", "down", "enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ItemScreen))
        await shows(pilot, "item-00007", "2 of 7")
        await pilot.press("n")
        await shows(pilot, "item-00013", "3 of 7")
        await pilot.press("escape")
        await wait_until(pilot, lambda: pilot.app.screen is screen)
        table = screen.query_one(ItemTable)
        assert table.rows[table.cursor].record.item_id == "item-00013"


async def test_a_missed_trap_is_opened(tmp_path: Path) -> None:
    async with showing(audit_run(tmp_path / "run")) as (pilot, _):
        await pilot.press("4")
        await wait_until(pilot, lambda: isinstance(pilot.app.focused, MissedList))
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ItemScreen))
        await shows(pilot, "! missed", "2 of 5")


async def saved(pilot: Pilot[int], path: Path) -> None:
    await pilot.press("e")
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, SaveDialog))
    pilot.app.screen.query_one(Input).value = str(path)
    await pilot.press("enter")


async def test_the_report_is_written_as_markdown_or_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with showing(audit_run(tmp_path / "run"), (120, 40)) as (pilot, _):
        await pilot.press("e")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, SaveDialog))
        assert Path(pilot.app.screen.query_one(Input).value) == tmp_path / "selfdiag-run.md"
        await pilot.press("enter")
        await wait_until(pilot, (tmp_path / "selfdiag-run.md").exists)
        await shows(pilot, "wrote")
        assert (tmp_path / "selfdiag-run.md").read_text(encoding="utf-8").startswith("# selfdiag: openai:made-up")
        await saved(pilot, tmp_path / "report.JSON")
        await wait_until(pilot, (tmp_path / "report.JSON").exists)
        document = json.loads((tmp_path / "report.JSON").read_text(encoding="utf-8"), parse_constant=pytest.fail)
        assert document["schema"] == "selfdiag.summary/1"


async def test_TUI_29_a_file_is_replaced_knowingly_and_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    old = tmp_path / "report.md"
    old.write_text("old", encoding="utf-8")
    async with showing(audit_run(tmp_path / "run")) as (pilot, _):
        await pilot.press("e")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, SaveDialog))
        pilot.app.screen.query_one(Input).value = str(old)
        await shows(pilot, "a file is there already: enter replaces it")
        await pilot.press("escape")
        assert old.read_text(encoding="utf-8") == "old"
        await saved(pilot, old)
        await wait_until(pilot, lambda: old.read_text(encoding="utf-8").startswith("# selfdiag"))
        await saved(pilot, Path("no", "such", "folder.md"))
        await shows(pilot, "cannot be", "(No such file")  # a toast is narrow and may part the words
        assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["report.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted there")
async def test_TUI_29_a_working_folder_that_is_gone_is_told_and_another_place_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    async with showing(audit_run(tmp_path / "run")) as (pilot, _):
        gone.rmdir()
        await pilot.press("e")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, SaveDialog))
        assert pilot.app.screen.query_one(Input).value == "selfdiag-run.md"
        await pilot.press("enter")
        await shows(pilot, "cannot be", "(No such file")
        await saved(pilot, tmp_path / "report.md")
        await wait_until(pilot, (tmp_path / "report.md").exists)


async def test_TUI_23_the_card_is_copied_and_a_file_offered(tmp_path: Path) -> None:
    async with showing(audit_run(tmp_path / "run")) as (pilot, _):
        await pilot.press("y")
        await shows(pilot, "sent to the terminal", "e saves it to a file")
        assert "It answers 14 of 21 right" in " ".join(pilot.app.clipboard.split())


async def test_only_an_incomplete_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr(SelfdiagApp, "open_run", lambda self, settings, *, resume: opened.append((settings, resume)))
    folder = audit_run(tmp_path / "run", unasked=3, probes=6, traps=0)
    writer, run = RunWriter.resume(folder)
    settings = run.manifest.settings
    with writer:
        used_up = msgspec.structs.replace(settings, budget_tokens=5, budget_seconds=1.0)
        writer.save(msgspec.structs.replace(run.manifest, settings=used_up))
    async with showing(folder) as (pilot, _):
        await shows(pilot, "3 of 6 calls open: r goes on")
        await pilot.press("r")
        assert opened == [(settings, folder)]
    opened.clear()
    async with showing(audit_run(tmp_path / "whole", probes=2, traps=2)) as (pilot, _):
        assert "goes on" not in words_of(pilot.app)
        await pilot.press("r")
        assert not opened


async def test_records_that_come_later_are_read_when_the_screen_is_seen_again(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run")
    lines = (folder / RECORDS).read_bytes().splitlines(keepends=True)
    (folder / RECORDS).write_bytes(b"".join(lines[:-5]))
    async with showing(folder) as (pilot, screen):
        await pilot.press("7", "enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ItemScreen))
        (folder / RECORDS).write_bytes(b"".join(lines))
        await pilot.press("escape")
        await wait_until(pilot, lambda: pilot.app.screen is screen)
        await shows(pilot, "52 records")


async def test_the_lab_and_a_comparison_are_opened_on_this_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr(SelfdiagApp, "open_lab", lambda self, model, base_url: opened.append((model, base_url)))
    monkeypatch.setattr(SelfdiagApp, "open_compare", lambda self, folders: opened.append(folders))
    home = runs_dir()
    home.mkdir(parents=True)
    folder = audit_run(home / "20260101-000000-aaaa")
    async with showing(folder) as (pilot, screen):
        await pilot.press("l")
        assert opened == [("openai:made-up", "")]
        await pilot.press("c")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, PickRun))
        await shows(pilot, "there is no other run yet")
        await pilot.press("escape")
        other = audit_run(home / "20260102-000000-bbbb", model="openai:[/] other")
        await pilot.press("c")
        await shows(pilot, "compare with which run?", "[/] other")
        await pilot.press("enter")
        await wait_until(pilot, lambda: pilot.app.screen is screen)
        assert opened[1:] == [(folder, other)]


async def test_tabs_are_turned_with_the_arrows_and_clicked(tmp_path: Path) -> None:
    async with showing(audit_run(tmp_path / "run")) as (pilot, screen):
        await pilot.press("7", "right", "right")
        assert screen._shown == "calibration"
        await pilot.press("left", "left")
        assert screen._shown == "items"
        line = text_of(pilot.app).splitlines()[1]
        await pilot.click(offset=(line.index("5 topics") + 3, 1))
        await wait_until(pilot, lambda: screen._shown == "topics")


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_TUI_30_an_empty_run_says_so_on_every_tab(tmp_path: Path, size: tuple[int, int]) -> None:
    folder = audit_run(tmp_path / "run", probes=4, traps=0, unasked=4)
    async with showing(folder, size) as (pilot, screen):
        for place in range(1, len(TABS) + 1):
            await pilot.press(str(place))
            await wait_until(pilot, lambda place=place: screen._shown == TABS[place - 1])
            await wait_until(pilot, lambda: "reading" not in words_of(pilot.app))
        await pilot.press("4")
        await shows(pilot, "no traps were asked: add the section traps")
        await pilot.press("7")
        await shows(pilot, "no record yet")


@pytest.mark.parametrize("key", ["e", "y", "c", "l", "r", "slash", "1", "8", "left"])
async def test_keys_before_the_run_is_read_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    gate = threading.Event()
    read: Callable[[Path], reading.Reading] = reading.read

    def late(folder: Path) -> reading.Reading:
        gate.wait(20)
        return read(folder)

    monkeypatch.setattr(results, "read", late)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open_results(audit_run(tmp_path / "run", probes=3, traps=1))
        await wait_until(pilot, lambda: isinstance(app.screen, ResultsScreen))
        await pilot.press(key)
        gate.set()
        await wait_until(pilot, lambda: isinstance(app.screen, ResultsScreen) and bool(app.screen.query(ItemsTab)))
    assert not app.fault


def test_missed_traps_stand_with_the_surest_first(tmp_path: Path) -> None:
    run = read_run(audit_run(tmp_path / "run", probes=6, traps=12))
    unstated = [msgspec.structs.replace(run.records[6], confidence=None), *run.records[:6], *run.records[7:]]
    run = msgspec.structs.replace(run, records=tuple(unstated))
    found = trap_findings(run, summarise(run, draws=20))
    said = [one.confidence for one in found.missed]
    assert said[-1] is None and said[:-1] == sorted(said[:-1], reverse=True) and len(said) == 6
    assert {(family.asked, family.spotted + family.answered) for family in found.families} == {(2, 2), (3, 3)}
    assert sum(len(family.said) for family in found.families) == 5
    assert all(one.note == "there is none" and "Which of none" in one.question for one in found.missed)


@pytest.mark.parametrize("probes", [42, 600])
def test_volumes_of_the_topics_are_those_of_the_diagram(tmp_path: Path, probes: int) -> None:
    run = read_run(audit_run(tmp_path / "run", probes=probes))
    diagrams = diagrams_of(run)
    assert diagrams.by_group == (probes == 42)
    found = topic_findings(run, by_group=diagrams.by_group)
    assert found.pvc.value == pytest.approx(diagrams.surface.pvc_vus.value)
    assert found.c_pvc.value == pytest.approx(diagrams.surface.c_pvc_vus.value)
    assert found.worst_gap.observed == pytest.approx(max(abs(topic.gap) for topic in diagrams.topics.topics))


async def test_only_the_newest_other_runs_stand_beside_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing_tab, "MOST", 2)
    home = runs_dir()
    home.mkdir(parents=True)
    for day in range(1, 5):
        audit_run(home / f"2026010{day}-000000-aaaa", model=f"openai:day-{day}", probes=12)
    (home / "20260105-000000-aaaa").mkdir()
    (home / "20260105-000000-aaaa" / "manifest.json").write_text("{", encoding="utf-8")
    found = standing_findings(read_run(home / "20260101-000000-aaaa"))
    own = [model.name for model in found.where.models if model.source == "own"]
    assert own == ["openai:day-1", "openai:day-4", "openai:day-3"]
    assert found.others == "the newest 2 of 4 other runs"
    async with showing(home / "20260101-000000-aaaa", (120, 40)) as (pilot, _):
        await pilot.press("8")
        await shows(pilot, "◆ openai:day-1", "1 openai:day-4", "2 openai:day-3", "the newest 2 of 4 other runs")


@pytest.mark.parametrize("width", range(60, 130, 3))
async def test_the_names_of_the_tabs_fit(width: int) -> None:
    line = TabLine()

    class Alone(App[None]):
        def compose(self) -> ComposeResult:
            yield line

    async with Alone().run_test(size=(width, 20)):
        line.show(TABS, 4)
        shown = line.render().plain.rstrip()
        assert len(shown) <= width - 2 and "5 topics" in shown and "8" in shown


@pytest.mark.parametrize("foreign", [*HOSTILE, "../../etc/passwd", "", "…" * 300, "a" * 300])
def test_a_file_name_from_foreign_text_is_harmless(foreign: str) -> None:
    name = file_name(foreign, "reply.txt")
    assert name == Path(name).name and 0 < len(name) <= 80
    assert not name.startswith(".") and name.isascii() and name.isprintable()
