"""One reply with everything that is known of it, whatever stands in it."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_runs import HOSTILE, MEGABYTE, audit_run
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input
from waiting import wait_until

from selfdiag.battery.items import Probe, Trap
from selfdiag.elicit.prompts import render
from selfdiag.runs.records import Fault, Judgement, PlannedCall, PromptText, Record
from selfdiag.runs.store import Run, read_run
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.item_page import item_page
from selfdiag.tui.screens.item import ItemScreen
from selfdiag.tui.screens.save import SaveDialog
from selfdiag.tui.text import LONGEST
from selfdiag.tui.widgets.long_text import LongText, Part, laid_out

CHOICE = Probe(
    id="physics-01",
    bin="physics",
    difficulty="hard",
    kind="choice",
    answer="4.2 kJ",
    aliases=("4200 J",),
    options=("4.2 J", "4.2 kJ"),
    questions=("How much heat warms a kilogram of water by a kelvin?",),
    source="a handbook",
    misconception="4.2 J",
)
NUMBER = Probe(
    id="physics-02",
    bin="physics",
    difficulty="easy",
    kind="number",
    answer="9.81",
    unit="m/s^2",
    tolerance=0.02,
    questions=("How fast does it fall?",),
    source="a handbook",
)
TRAP = Trap(id="physics-t1", bin="physics", family="no_such_entity", questions=("Who is X?",), note="X never lived")


def text_of(app: SelfdiagApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def words_of(app: SelfdiagApp) -> str:
    return " ".join(text_of(app).split())


def run_of(tmp_path: Path, item: Probe | Trap, **fields: object) -> Run:
    """A run with one reply about an item."""
    base = read_run(audit_run(tmp_path / "run", probes=1, traps=0))
    prompt = render(item, 0)
    call = PlannedCall(call_id="c1", item_id=item.id, section="probes", prompt=prompt.sha256())
    usual: dict[str, object] = {
        "call_id": "c1",
        "item_id": item.id,
        "bin": item.bin,
        "difficulty": None,
        "trap": isinstance(item, Trap),
        "family": None,
        "section": "probes",
        "prompt_sha256": call.prompt,
        "outcome": "correct",
    }
    drawn = msgspec.structs.replace(
        base.manifest.drawn,
        probes=(item,) if isinstance(item, Probe) else (),
        traps=(item,) if isinstance(item, Trap) else (),
    )
    manifest = msgspec.structs.replace(
        base.manifest,
        drawn=drawn,
        plan=(call,),
        prompts={call.prompt: PromptText(system="contract", user=prompt.user)},
    )
    return msgspec.structs.replace(base, manifest=manifest, records=(Record(**usual | fields),))


def parts(run: Run) -> dict[str, str]:
    page = item_page(run, "c1")
    assert page is not None
    return {part.head: part.text for part in page.parts}


@asynccontextmanager
async def showing(
    folder: Path, call_id: str, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Pilot[int], ItemScreen]]:
    app = SelfdiagApp()
    async with app.run_test(size=size, notifications=True) as pilot:
        app.open_item(folder, call_id)
        await wait_until(pilot, lambda: isinstance(app.screen, ItemScreen) and app.screen._text._lines)
        screen = app.screen
        assert isinstance(screen, ItemScreen)
        yield pilot, screen
    assert not app.fault


async def shows(pilot: Pilot[int], *words: str) -> None:
    app = pilot.app
    assert isinstance(app, SelfdiagApp)
    try:
        await wait_until(pilot, lambda: all(word in words_of(app) for word in words))
    except TimeoutError:
        pytest.fail(f"not all of {words} stand in\n{text_of(app)}")


def test_a_right_choice_has_its_options_its_key_and_what_was_compared(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        CHOICE,
        raw='{"answer": "B", "confidence": 80}',
        answer="B",
        confidence=80,
        parse="strict",
        rule="option letter",
        latency_s=1.25,
        prompt_tokens=1234,
        completion_tokens=9,
        attempts=2,
        finish_reason="stop",
    )
    found = parts(run)
    assert found["✓ right"] == "said B   sure 80"
    assert "How much heat" in found["question"] and "B) 4.2 kJ" in found["question"]
    assert found["options"] == "A) 4.2 J\nB) 4.2 kJ"
    assert found["key"] == "4.2 kJ\nalso 4200 J"
    assert found["often said"] == "4.2 J" and found["source"] == "a handbook"
    assert "answer B; confidence 80" in found["read"] and "in the form it was asked for (strict)" in found["read"]
    assert found["graded"].startswith("correct: the option named by its letter (option letter)")
    assert "key 'B: 4.2 kJ', answer 'B: 4.2 kJ'" in found["graded"]
    assert found["took"] == "1.25 s · 1,234 prompt and 9 reply tokens · 2 attempts · ended by stop"
    assert found["system"] == "Answer the question."


def test_a_number_says_its_unit_and_tolerance(tmp_path: Path) -> None:
    raw = '{"answer": "10 s", "confidence": 5}'
    run = run_of(
        tmp_path, NUMBER, raw=raw, answer="10 s", confidence=5, parse="strict", outcome="incorrect", rule="another unit"
    )
    found = parts(run)
    assert found["key"] == "9.81\nunit m/s^2\nwithin 0.02"
    assert "the answer is in another unit" in found["graded"]


def test_a_missed_trap_says_why_there_is_no_answer(tmp_path: Path) -> None:
    raw = '{"answer": "a king", "confidence": 90}'
    run = run_of(
        tmp_path,
        TRAP,
        raw=raw,
        answer="a king",
        confidence=90,
        parse="strict",
        outcome="incorrect",
        rule="answer to a trap",
    )
    found = parts(run)
    assert found["! missed"] == "said a king   sure 90"
    assert "no such entity" in found["key"] and found["why"] == "X never lived"
    assert "there is no answer, and it gave one" in found["graded"]


def test_a_grade_that_comes_out_otherwise_today_is_said(tmp_path: Path) -> None:
    raw = '{"answer": "A", "confidence": 5}'
    run = run_of(
        tmp_path, CHOICE, raw=raw, answer="A", confidence=5, parse="strict", outcome="correct", rule="an old rule"
    )
    assert "correct: an old rule\nby today's rules: incorrect (option letter)" in parts(run)["graded"]


def test_a_call_without_a_reply_has_its_fault(tmp_path: Path) -> None:
    run = run_of(tmp_path, CHOICE, outcome="error", error=Fault(kind="timeout", message="no answer in 300 s"))
    found = parts(run)
    assert found["error"] == "timeout: no answer in 300 s"
    assert found["reply"] == "none" and "no answer; no confidence" in found["read"]
    assert found["? error"] == "nothing"


def test_flags_reasoning_claims_and_a_judge_are_shown(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        CHOICE,
        raw="B",
        answer="B",
        parse="salvaged",
        rule="option letter",
        reasoning="let me think",
        flags=("free_text", "scale_guess"),
        arm="claim",
        claim=95,
        claim_bin="physics",
        labelled=True,
        structured=True,
        token_confidence=0.42,
        judge=Judgement(model="judge", version="1", opinion="same", raw="SAME"),
    )
    found = parts(run)
    assert found["reasoning"] == "let me think"
    assert "to be known: free text, scale guess" in found["read"] and "its tokens say 42" in found["read"]
    assert "claim 95 % for physics · topic named · with a JSON schema" in found["asked"]
    assert found["judge"] == "judge: same; not counted\nSAME"


def test_a_run_without_the_reply_or_its_item_is_no_fault(tmp_path: Path) -> None:
    run = run_of(tmp_path, CHOICE, raw="B")
    assert item_page(run, "no such call") is None
    stray = msgspec.structs.replace(run.records[0], item_id="gone", prompt_sha256="gone", rule="")
    found = parts(msgspec.structs.replace(run, records=(stray,)))
    assert found["question"] == "its prompt is not in the run" and "no rule" in found["graded"]


@given(st.text(max_size=300) | st.sampled_from(HOSTILE), st.integers(22, 120))
def test_TUI_21_no_line_is_wider_than_the_screen_and_no_word_is_lost(text: str, width: int) -> None:
    lines = laid_out([Part(head="reply", text=text)], width)
    assert all(cell_len(line.text) <= width - 12 for line in lines)
    shown = "".join(line.text for line in lines)
    assert not [char for char in shown if unicodedata.category(char) in {"Cc", "Cs"}]
    kept = [char for char in text if char.isalnum()]
    assert [char for char in shown if char.isalnum()][: len(kept)] == kept or "\\" in shown


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
@pytest.mark.parametrize("place", range(len(HOSTILE)))
async def test_TUI_01_05_06_hostile_texts_are_text(tmp_path: Path, size: tuple[int, int], place: int) -> None:
    folder = audit_run(tmp_path / "run", probes=len(HOSTILE), traps=0, texts=HOSTILE)
    call = read_run(folder).manifest.plan[place]
    async with showing(folder, call.call_id, size) as (pilot, screen):
        await wait_until(pilot, lambda: "graded" in text_of(pilot.app))
        shown = text_of(pilot.app)
        assert not [char for char in shown if unicodedata.category(char) in {"Cc", "Cs"} and char != "\n"]
        plain = {0: "[/] 0", 1: "[/INST] and [red]hi 1", 2: "[link=http://x]y 2", 3: "[@click=app.quit]x[/] 3"}
        assert plain.get(place, str(place)) in shown
        await pilot.click(LongText, offset=(15, 2))
        assert pilot.app.screen is screen


async def test_TUI_11_a_megabyte_is_cut_with_a_word_and_written_whole_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = audit_run(tmp_path / "run", probes=2, traps=0, long_reply=True)
    call_id = read_run(folder).manifest.plan[0].call_id
    async with showing(folder, call_id) as (pilot, screen):
        lines = [line.text for line in screen._text._lines]
        assert sum(line.count("x") for line in lines) <= LONGEST + 10
        assert any("980,000 more characters" in line for line in lines)
        assert any("cut here: w saves all 1,000,000 characters to a file" in line for line in lines)
        await pilot.press("w")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, SaveDialog))
        assert Path(pilot.app.screen.query_one(Input).value) == tmp_path / "item-00000-reply.txt"
        await pilot.press("enter")
        await shows(pilot, "wrote")
        assert (tmp_path / "item-00000-reply.txt").read_text(encoding="utf-8") == "x" * MEGABYTE


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted there")
async def test_TUI_29_a_working_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = audit_run(tmp_path / "run", probes=2, traps=0)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    async with showing(folder, read_run(folder).manifest.plan[0].call_id) as (pilot, _):
        gone.rmdir()
        await pilot.press("w")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, SaveDialog))
        assert pilot.app.screen.query_one(Input).value == "item-00000-reply.txt"
        await pilot.press("enter")
        await shows(pilot, "cannot be", "(No such file")


async def test_the_next_and_the_previous_reply_in_the_order_of_the_plan(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=3, traps=0)
    first = read_run(folder).manifest.plan[0].call_id
    async with showing(folder, first) as (pilot, _):
        await shows(pilot, "item-00000", "1 of 3")
        await pilot.press("n")
        await shows(pilot, "item-00001", "2 of 3")
        await pilot.press("j")
        await shows(pilot, "item-00002", "3 of 3")
        await pilot.press("n")
        await shows(pilot, "that was the last one", "item-00002")
        await pilot.press("p", "k", "k")
        await shows(pilot, "item-00000", "that was the first one")


async def test_a_new_reply_begins_at_its_top(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=2, traps=0, long_reply=True)
    first = read_run(folder).manifest.plan[0].call_id
    async with showing(folder, first) as (pilot, screen):
        await wait_until(pilot, lambda: screen._text.allow_vertical_scroll)
        await pilot.press("end")
        await wait_until(pilot, lambda: screen._text.scroll_offset.y > 100)
        await pilot.press("n")
        await shows(pilot, "item-00001")
        await wait_until(pilot, lambda: screen._text.scroll_offset.y == 0)


async def test_texts_are_wrapped_anew_for_another_width(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=1, traps=0, long_reply=True)
    async with showing(folder, read_run(folder).manifest.plan[0].call_id) as (pilot, screen):
        before = len(screen._text._lines)
        await pilot.resize_terminal(120, 40)
        await wait_until(pilot, lambda: len(screen._text._lines) < before)
        assert max(cell_len(line.text) for line in screen._text._lines) > 80


async def test_TUI_22_what_is_marked_with_the_mouse_can_be_copied(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=2, traps=0)
    async with showing(folder, read_run(folder).manifest.plan[1].call_id) as (pilot, screen):
        await shows(pilot, "What is thing 1?")
        place = next(y for y, line in enumerate(screen._text._lines) if line.text == "What is thing 1?")
        await pilot.mouse_down(LongText, offset=(13, place))
        await pilot.hover(LongText, offset=(13 + len("What is thing"), place))
        await pilot.mouse_up(LongText, offset=(13 + len("What is thing"), place))
        await wait_until(pilot, screen.get_selected_text)
        assert (screen.get_selected_text() or "").strip().startswith("What is thing")
        await pilot.press("ctrl+c")
        assert pilot.app.clipboard.strip().startswith("What is thing")


async def test_TUI_06_23_the_page_is_copied_harmless(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=5, traps=0, texts=HOSTILE)
    call_id = read_run(folder).manifest.plan[4].call_id
    async with showing(folder, call_id) as (pilot, _):
        await pilot.press("y")
        await shows(pilot, "sent to the terminal", "w saves the reply")
        assert "\x1b" not in pilot.app.clipboard and "\\x1b[2J" in pilot.app.clipboard
        assert "graded" in pilot.app.clipboard


async def test_a_reply_that_is_not_there_is_said(tmp_path: Path) -> None:
    folder = audit_run(tmp_path / "run", probes=2, traps=0)
    async with showing(folder, "[/] none") as (pilot, screen):
        await shows(pilot, "the run has no reply to this call")
        await pilot.press("y", "w", "n", "p")
        assert pilot.app.screen is screen
        await pilot.press("escape")
        await wait_until(pilot, lambda: pilot.app.screen is not screen)


async def test_a_folder_that_is_no_run_is_said(tmp_path: Path) -> None:
    async with showing(tmp_path / "none", "c1") as (pilot, _):
        await shows(pilot, "is not a run")
