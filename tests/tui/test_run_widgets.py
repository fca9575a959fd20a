"""The parts of the run screen on their own, and what they are painted from."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult

from selfdiag.runs.events import Answered, Asked, Failed, Finished, Retried, Started, Structured
from selfdiag.runs.plan import Plan, make_plan, trial_id
from selfdiag.runs.records import PlannedCall, Record, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import read_manifest, read_run
from selfdiag.tui.figures_so_far import figures_so_far
from selfdiag.tui.picture import Picture
from selfdiag.tui.run_so_far import RunSoFar
from selfdiag.tui.widgets import answers_before
from selfdiag.tui.widgets.answers_before import AnswersBefore, fitted, said
from selfdiag.tui.widgets.now_asked import NowAsked, Question
from selfdiag.tui.widgets.running_figures import _sections, span


def reply(call: PlannedCall, **changes: object) -> Record:
    record = Record(
        call_id=call.call_id,
        item_id=call.item_id,
        bin="history",
        difficulty="easy",
        trap=call.section == "traps",
        family=None,
        section=call.section,
        prompt_sha256=call.prompt,
        answer="1789",
        confidence=80,
        parse="strict",
        outcome="incorrect",
        at="2026-01-01T00:00:00Z",
    )
    return msgspec.structs.replace(record, **changes)


@pytest.fixture
def plan() -> Plan:
    return make_plan(RunSettings(model="persona:blind", limit=4))


@pytest.mark.parametrize("text", ["", "abc", "日本語日本語", "👩‍👩‍👧👩‍👩‍👧", "e\u0301e\u0301e\u0301", "x" * 50])
@pytest.mark.parametrize("cells", [0, 1, 2, 3, 7, 20])
def test_TUI_21_text_is_cut_by_cells_and_never_within_a_character(text: str, cells: int) -> None:
    shown = fitted(text, cells)
    assert cell_len(shown) == cells
    kept = shown.rstrip(" ").removesuffix("…")
    assert text.startswith(kept.rstrip())
    assert not kept.endswith("\u200d")
    if cell_len(text) > cells > 0:
        assert shown.rstrip(" ").endswith("…")


def test_what_a_reply_says_is_one_harmless_line(plan: Plan) -> None:
    record = reply(plan.calls[0])
    assert said(record) == "1789"
    assert said(msgspec.structs.replace(record, answer="a\n\x1b[2J\tb")) == "a \\x1b[2J b"
    assert said(msgspec.structs.replace(record, answer=None, raw="I would\nrather not")) == "I would rather not"
    assert said(msgspec.structs.replace(record, answer=None, value=0.5, rule="3 of 6; wrong: title")).startswith(
        "3 of 6"
    )


def test_what_is_counted_follows_the_events(plan: Plan) -> None:
    so_far = RunSoFar(plan)
    assert not so_far.started
    first, second, third = plan.calls[:3]
    so_far.count(Started(total=8, answered=(reply(third),)))
    assert (so_far.started, so_far.done, len(so_far.records)) == (True, 1, 1)
    so_far.count(Asked(call=None))
    assert (so_far.warming_up, so_far.in_flight) == (True, 1)
    so_far.count(Asked(call=first))
    so_far.count(Asked(call=second))
    assert so_far.asked_now() == second
    so_far.count(Answered(record=reply(first, raw="r" * 10**6, answer="y" * 10**6, completion_tokens=7)))
    assert (so_far.warming_up, so_far.in_flight, so_far.done) == (False, 1, 2)
    assert so_far.latest is not None and len(so_far.latest.answer or "") < 10**4 and not so_far.latest.raw
    assert so_far.asked_now() == second
    so_far.count(Answered(record=reply(second, outcome="error")))
    assert so_far.asked_now() == second  # until another is asked: it must not come and go
    assert (so_far.done, so_far.errors) == (3, 1)
    so_far.count(Retried(attempt=1, kind="timeout", message="slow"))
    so_far.count(Failed(kind="quota", message="spent"))
    so_far.count(Finished(outcome="failed"))
    assert so_far.newest_lines(1) == ["gave up (quota): spent"]
    assert len(so_far.newest_lines(9)) == 2
    assert so_far.newest_lines(0) == []
    assert (so_far.outcome, so_far.retries, so_far.in_flight) == ("failed", 1, 0)
    seconds = so_far.seconds()
    assert so_far.seconds() == seconds
    assert so_far.tokens_a_second() == pytest.approx(7 / seconds)


def test_what_is_tried_first_is_no_answer_of_the_run_yet(plan: Plan) -> None:
    so_far = RunSoFar(plan)
    so_far.count(Started(total=8))
    call = plan.calls[0]
    so_far.count(Asked(call=call))
    so_far.count(Answered(record=reply(call, call_id=trial_id(call), section="trial")))
    assert (so_far.trying, so_far.done, so_far.in_flight, len(so_far.records)) == (1, 0, 0, 0)
    so_far.count(Structured(on=False, parsed=5, asked=5))
    so_far.count(Answered(record=reply(call)))
    assert (so_far.trying, so_far.done, len(so_far.records)) == (0, 1, 1)
    assert so_far.newest_lines(5) == []


def test_a_topic_says_what_no_audit_asks_and_whose_claim_it_is() -> None:
    plan = make_plan(RunSettings(model="persona:blind", sections=("microprobe",)))
    so_far = RunSoFar(plan)
    topics = {so_far.topic(call) for call in plan.calls}
    assert "microprobe · history · claim 95 %" in topics
    assert any(topic.startswith("microprobe · history · claim 95 % on ") for topic in topics)


async def test_figures_are_told_by_the_source_that_is_measured(tmp_path: Path) -> None:
    session = Session(
        RunSettings(model="persona:calibrated", confidence=("logprob",), limit=12), folder=tmp_path / "run"
    )
    async for _ in session.events():
        pass
    run = read_run(session.folder)
    figures = figures_so_far(session.folder, read_manifest(session.folder), run.records)
    assert figures.n == figures.shown > 0
    assert isinstance(figures.picture, Picture)
    nothing = figures_so_far(session.folder, run.manifest, ())
    assert (nothing.n, nothing.brier, nothing.gap) == (0, None, None)
    assert isinstance(nothing.picture, str)


def test_sections_that_do_not_fit_are_counted() -> None:
    sections = [
        ("probes", 42, 42),
        ("traps", 21, 21),
        ("questionnaire", 3, 75),
        ("microprobe", 0, 84),
        ("anchor", 0, 84),
    ]
    assert _sections(sections, 200).startswith("probes 42 of 42   traps 21 of 21   questionnaire 3 of 75")
    assert _sections(sections, 60) == "2 done   questionnaire 3 of 75   2 more to come"
    assert _sections(sections, 30) == "2 done   3 more to come"
    assert _sections(sections, 5) == ""


def test_a_time_stands_still_for_a_second() -> None:
    assert [span(value) for value in (0.4, 3.6, 41, 200)] == ["0 s", "4 s", "41 s", "3 min 20 s"]


class Alone(App[None]):
    def compose(self) -> ComposeResult:
        yield NowAsked()
        yield AnswersBefore()


async def test_only_so_many_answers_are_listed(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_before, "MOST", 10)
    app = Alone()
    async with app.run_test(size=(60, 24)) as pilot:
        answers = app.query_one(AnswersBefore)
        answers.add(reply(plan.calls[0], call_id=f"id-{number}") for number in range(8))
        answers.focus()
        await pilot.press("end")
        answers.add(reply(plan.calls[0], call_id=f"more-{number}") for number in range(8))
        await pilot.pause()
        assert len(answers) == 10
        assert answers.cursor == 9
        answers.clear()
        await pilot.pause()
        assert (len(answers), answers.cursor) == (0, 0)
        await pilot.press("enter", "down", "pagedown", "end")


async def test_a_question_that_has_no_room_says_that_it_goes_on(plan: Plan) -> None:
    app = Alone()
    async with app.run_test(size=(40, 20)) as pilot:
        now = app.query_one(NowAsked)
        now.show(Question(topic="geography", text="[b]word[/] " * 100), (reply(plan.calls[0]), "Which year?"))
        await pilot.pause()
        lines = now.render().plain.split("\n")
        assert lines[0].split() == ["now", "geography"]
        assert lines[1].startswith("[b]word[/] ")
        assert lines[5].rstrip().endswith("word[/]…")
        assert lines[-2].split() == ["last", "Which", "year?"]
        assert all(cell_len(line) <= 40 for line in lines)
        now.tell("paused", "[/] nothing")
        await pilot.pause()
        assert now.render().plain.split("\n")[:2] == ["paused", "[/] nothing"]
