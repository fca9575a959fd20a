"""The run screen, with simulated models through the real engine."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest
from asked import GOOD, Model, asking, never, text_of, well
from textual.pilot import Pilot
from waiting import wait_until

from selfdiag.models import registry
from selfdiag.models.base import Call, ModelInfo, ProviderError, Reply
from selfdiag.protocols.audit import summarise
from selfdiag.runs import session
from selfdiag.runs.plan import make_plan
from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import read_run
from selfdiag.tui.screens.dialog import Question
from selfdiag.tui.screens.run import TOO_MANY_TO_READ, RunScreen
from selfdiag.tui.widgets.answers_before import AnswersBefore
from selfdiag.tui.widgets.chart import Chart

REMOTE = ModelInfo(provider="openai", name="far", served_name="far", remote=True, server="far.example", simulated=True)


class Gates:
    """Lets so many calls be answered, and holds up the others."""

    def __init__(self, open_ones: int) -> None:
        self._gate = asyncio.Semaphore(open_ones)

    def open(self, count: int) -> None:
        for _ in range(count):
            self._gate.release()

    async def answer(self, call: Call) -> str:
        await self._gate.acquire()
        return GOOD


def use(monkeypatch: pytest.MonkeyPatch, model: Model) -> Model:
    monkeypatch.setattr(registry, "build", lambda name, options: model)
    return model


def landed(screen: RunScreen) -> int:
    return len(screen.query_one(AnswersBefore))


def stands(screen: RunScreen, *words: str) -> bool:
    shown = " ".join(text_of(screen.app).split())
    return all(word in shown for word in words)


async def sees(pilot: Pilot[int], screen: RunScreen, *words: str) -> None:
    """Wait until all words stand on the screen; what stands there instead is told."""
    try:
        await wait_until(pilot, lambda: stands(screen, *words))
    except TimeoutError:
        pytest.fail(f"{words} not in\n{text_of(screen.app)}")


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("persona:calibrated", (80, 24)),
        ("persona:hostile", (120, 40)),
        ("persona:flaky", (80, 24)),
        ("persona:malformed", (80, 24)),
    ],
)
async def test_a_run_completes_and_its_results_are_opened(model: str, size: tuple[int, int]) -> None:
    async with asking(model, size=size, limit=8) as (pilot, screen, opened):
        await wait_until(pilot, lambda: opened.results)
        ((folder, instead),) = opened.results
        assert instead
        run = read_run(folder)
        assert len(run.planned()) == 16
        assert run.manifest.sessions[-1].outcome == "complete"
        await sees(pilot, screen, "16 of 16", "probes 8 of 8", "traps 8 of 8", "simulated")
        assert landed(screen) == 16


async def test_what_is_asked_is_seen_and_what_is_said_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = asyncio.Semaphore(0)

    async def on_demand(call: Call) -> str:
        await gate.acquire()
        return '{"answer": "Caracas", "confidence": 95}'

    use(monkeypatch, Model(on_demand))
    plan = make_plan(RunSettings(model="openai:x", limit=4))
    async with asking("openai:x", limit=4) as (pilot, screen, opened):
        for number, call in enumerate(plan.calls):
            item = plan.drawn.find(call.item_id)
            assert item is not None
            first_words = " ".join(plan.prompt(call).user.split()[:4])
            about = f"{item.bin} · trap" if call.section == "traps" else f"{item.bin} · {item.difficulty}"
            await sees(pilot, screen, about, first_words, f"{number} of 8")
            missed = call.section == "traps"
            gate.release()
            if number < 7:
                await sees(pilot, screen, "said Caracas sure 95")
                row = "! missed 95 Caracas trap" if missed else "✗ wrong 95 Caracas"
                await sees(pilot, screen, row, f"{number + 1} of 8")
        await wait_until(pilot, lambda: opened.results)


async def test_figures_come_with_their_n_and_are_those_of_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking("persona:overconfident") as (pilot, screen, opened):
        await wait_until(pilot, lambda: opened.results)
        summary = summarise(read_run(opened.results[0][0]), draws=50)
        probes, traps = summary.counts["probes"], summary.counts["traps"]
        brier, gap = summary.metrics["brier"], summary.metrics["gap"]
        assert brier.value is not None and gap.value is not None
        graded = probes["correct"] + probes["incorrect"]
        await wait_until(
            pilot,
            lambda: stands(
                screen,
                f"right {probes['correct']} of {graded}",
                f"Brier {brier.value:.2f} n {brier.n}".replace("0.", "."),
                f"gap +{gap.value:.2f}".replace("0.", "."),
                f"{traps['abstained']} of {summary.metrics['trap_abstention'].n}",
                "not read 0",
                f"stated against right n {brier.n}",
            ),
        )


async def test_too_few_answers_have_words_in_place_of_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = Gates(4)
    use(monkeypatch, Model(gates.answer))
    async with asking("openai:x", size=(120, 40), sections=("probes",), limit=8) as (pilot, screen, _):
        await sees(pilot, screen, "Brier, gap – need 5 answers, have 4")
        gates.open(1)
        await sees(pilot, screen, "n 5")
        assert not stands(screen, "need 5")


async def test_pause_and_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = Gates(2)
    model = use(monkeypatch, Model(gates.answer, concurrency=2))
    async with asking("openai:x", limit=5) as (pilot, screen, opened):
        await sees(pilot, screen, "2 of 10", "p pause", "2 in flight")
        await pilot.press("p")
        await sees(pilot, screen, "paused, 2 still under way", "p go on")
        gates.open(10)
        await sees(pilot, screen, "4 of 10", "0 in flight", "Nothing is asked until you go on")
        for _ in range(20):
            await pilot.pause(0.01)
        assert len(model.calls) == 4
        await pilot.press("p")
        await wait_until(pilot, lambda: opened.results)
        assert len(read_run(opened.results[0][0]).planned()) == 10


async def test_TUI_27_escape_asks_once_and_keeps_and_r_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = Gates(3)
    use(monkeypatch, Model(gates.answer))
    async with asking("openai:x", limit=5) as (pilot, screen, opened):
        await wait_until(pilot, lambda: landed(screen) == 3 and stands(screen, "1 in flight", "esc stop and keep"))
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(screen.app.screen, Question))
        await pilot.press("escape")
        gates.open(1)
        await wait_until(pilot, lambda: landed(screen) == 4 and screen.app.screen is screen)
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(screen.app.screen, Question))
        await pilot.press("enter")
        await sees(pilot, screen, "stopped", "4 of 10 calls are answered and kept.", "r resume")
        folder = screen._resume
        assert folder is not None
        run = read_run(folder)
        assert len(run.planned()) == 4
        assert run.manifest.sessions[-1].outcome == "stopped"
        await pilot.press("enter")
        assert opened.results == [(folder, False)]
        gates.open(10)
        await pilot.press("r")
        await wait_until(pilot, lambda: len(opened.results) == 2)
        run = read_run(folder)
        assert opened.results[1] == (folder, True)
        assert [stretch.outcome for stretch in run.manifest.sessions] == ["stopped", "complete"]
        assert len(run.records) == len({record.call_id for record in run.records}) == 10


@pytest.mark.parametrize(("a_look", "painted"), [(TOO_MANY_TO_READ, 6), (TOO_MANY_TO_READ + 1, 3)])
def test_answers_too_many_to_read_are_painted_half_as_often(
    monkeypatch: pytest.MonkeyPatch, a_look: int, painted: int
) -> None:
    screen = RunScreen(RunSettings(model="openai:x"))
    landed: list[int] = []
    paints: list[int] = []

    def paint(screen: RunScreen) -> None:
        paints.append(len(landed))
        screen._listed = len(landed)

    monkeypatch.setattr(RunScreen, "_so_far", SimpleNamespace(records=landed))
    monkeypatch.setattr(RunScreen, "_paint", paint)
    for _ in range(6):
        landed.extend([0] * a_look)
        screen._look()
    assert len(paints) == painted
    assert paints[-1] >= len(landed) - a_look


async def test_the_question_is_there_before_the_next_key(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = Gates(1)
    use(monkeypatch, Model(gates.answer))
    async with asking("openai:x", limit=2) as (pilot, screen, _):
        await sees(pilot, screen, "1 in flight", "1 of 4")
        assert screen.check_action("stop", ())
        screen.action_stop()
        assert isinstance(screen.app.screen, Question)
        await pilot.press("escape")
        await wait_until(pilot, lambda: screen.app.screen is screen)
        screen.action_stop()
        await pilot.press("enter")
        await sees(pilot, screen, "stopped", "1 of 4 calls are answered and kept.")


async def test_a_question_that_is_late_goes_away_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = Gates(1)
    use(monkeypatch, Model(gates.answer))
    async with asking("openai:x", limit=2) as (pilot, screen, opened):
        await sees(pilot, screen, "1 in flight", "1 of 4")
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(screen.app.screen, Question))
        gates.open(9)
        await wait_until(pilot, lambda: opened.results)
        assert screen.app.screen is screen


async def test_a_run_at_rest_stops_without_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = Gates(1)
    use(monkeypatch, Model(gates.answer))
    async with asking("openai:x", limit=5) as (pilot, screen, _):
        await sees(pilot, screen, "1 in flight", "1 of 10")
        await pilot.press("p")
        gates.open(1)
        await sees(pilot, screen, "0 in flight")
        await pilot.press("escape")
        await sees(pilot, screen, "stopped", "2 of 10 calls are answered and kept.")


async def test_TUI_08_a_provider_that_raises_is_one_error_of_one_item(monkeypatch: pytest.MonkeyPatch) -> None:
    async def seventh_fails(call: Call) -> str:
        if len(model.calls) == 7:
            raise ValueError("[/] no such thing")
        return GOOD

    model = use(monkeypatch, Model(seventh_fails))
    async with asking("openai:x", limit=5) as (pilot, screen, opened):
        await wait_until(pilot, lambda: opened.results)
        assert screen.app.is_running
        records = read_run(opened.results[0][0]).planned()
        assert [record.outcome == "error" for record in records] == [False] * 6 + [True] + [False] * 3
        assert records[6].error is not None and records[6].error.kind == "internal"
        screen.app.clear_notifications()  # the message may stand over the figures
        await sees(pilot, screen, "errors 1", "? error")


async def test_TUI_11_a_silent_server_takes_no_keys_away(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Model(never))
    async with asking("openai:x") as (pilot, screen, _):
        await sees(pilot, screen, "1 in flight")
        worst = await longest_hold_up(pilot, 10)
        await pilot.press("p")
        await sees(pilot, screen, "paused, 1 still under way")
        assert worst < 0.3, "seconds"


async def test_TUI_11_answers_of_a_megabyte_hold_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = itertools.cycle(
        ("x" * 1_000_000, "{" * 1_000_000, f'{{"answer": "{"日本語" * 300_000}", "confidence": 9}}')
    )

    async def at_length(call: Call) -> str:
        await asyncio.sleep(0.2)
        return next(texts)

    use(monkeypatch, Model(at_length))
    async with asking("openai:x", limit=5) as (pilot, screen, opened):
        await wait_until(pilot, lambda: landed(screen) > 1)
        worst = await longest_hold_up(pilot, 10)
        await wait_until(pilot, lambda: opened.results)
        assert worst < 0.3


async def longest_hold_up(pilot: object, ticks: int) -> float:
    """Return the most seconds of work that the event loop did between two looks, a tenth of a second apart."""
    worst = 0.0
    for _ in range(ticks):
        before = time.thread_time()
        await asyncio.sleep(0.1)
        worst = max(worst, time.thread_time() - before)
    return worst


async def test_TUI_15_resizing_during_a_run() -> None:
    async with asking("persona:slow", limit=16) as (pilot, screen, opened):
        for size in ((60, 20), (40, 10), (120, 40), (20, 5), (200, 60), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            text_of(screen.app)
        await wait_until(pilot, lambda: opened.results)
        assert stands(screen, "32 of 32")


async def test_TUI_01_05_06_21_hostile_text_is_shown_as_it_is_and_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = (
        "[/]",
        "[link=http://x]y",
        "[@click=app.quit]x[/]",
        "\x1b[2J\x1b]0;owned\x07\x00",
        "日本語👩‍👩‍👧 é",
        "x" * 9000,
    )
    answers = iter(texts * 2)

    async def hostile(call: Call) -> Reply:
        return Reply(text=json.dumps({"answer": next(answers), "confidence": 50}))

    use(monkeypatch, Model(hostile))
    async with asking("openai:[/red]\x1b[31m", size=(120, 40), limit=6) as (pilot, screen, opened):
        await wait_until(pilot, lambda: opened.results and landed(screen) == 12)
        await sees(pilot, screen, "[/]", "[link=http://x]y", "[@click=app.quit]x[/]", "日本語")
        shown = text_of(screen.app)
        assert not any(unicodedata.category(char) == "Cc" and char != "\n" for char in shown)
        assert "openai:[/red]" in shown
        rows = screen.query_one(AnswersBefore)
        for place in range(12):
            await pilot.click(AnswersBefore, offset=(20, place % max(rows.size.height, 1)))
        assert screen.app.is_running


async def test_the_answers_can_be_gone_through_while_new_ones_land(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = asyncio.Semaphore(5)

    async def on_demand(call: Call) -> str:
        await gate.acquire()
        return f'{{"answer": "number {len(model.calls)}", "confidence": 40}}'

    model = use(monkeypatch, Model(on_demand))
    async with asking("openai:x", limit=8) as (pilot, screen, opened):
        await wait_until(pilot, lambda: landed(screen) == 5)
        answers = screen.query_one(AnswersBefore)
        await pilot.press("down", "down")
        assert answers.has_focus
        assert stands(screen, "open the answer", "back to the newest")
        await pilot.press("enter")
        assert len(opened.items) == 1
        folder, call_id = opened.items[0]
        chosen = next(record for record in read_run(folder).records if record.call_id == call_id)
        assert chosen.answer == "number 4"
        for _ in range(3):
            gate.release()
        await wait_until(pilot, lambda: landed(screen) == 8)
        await pilot.press("enter")
        assert opened.items[1] == opened.items[0]
        await pilot.press("home", "enter", "end", "enter", "pageup", "pagedown", "enter")
        answered = [record.call_id for record in read_run(folder).records]
        assert [call_id for _, call_id in opened.items[2:]] == [answered[-1], answered[0], answered[0]]
        await pilot.press("escape")
        assert not answers.has_focus
        assert not isinstance(screen.app.screen, Question)


async def test_what_leaves_this_machine_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    model = use(monkeypatch, Model(well, info=REMOTE))
    async with asking("openai:far", limit=3) as (pilot, screen, opened):
        await sees(pilot, screen, "leaves this machine and goes to far.example", "6 calls, about")
        assert not model.entered
        await sees(pilot, screen, "start", "esc back")
        await pilot.press("enter")
        await wait_until(pilot, lambda: opened.results)
        assert len(model.calls) == 6
    async with asking("openai:far", limit=3) as (pilot, screen, opened):
        await sees(pilot, screen, "far.example")
        await pilot.press("escape")
        await wait_until(pilot, lambda: screen.app.screen is not screen)
        assert model.entered == 1


async def test_many_calls_are_agreed_to_first(monkeypatch: pytest.MonkeyPatch) -> None:
    model = use(monkeypatch, Model(never))
    async with asking("openai:x", battery="full", repeat=3) as (pilot, screen, _):
        await sees(pilot, screen, "1,008 calls", "long run")
        assert not model.entered
        await pilot.press("enter")
        await sees(pilot, screen, "0 of 1008")


async def test_a_missing_key_is_told_and_can_be_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking("openai:gpt", limit=2) as (pilot, screen, opened):
        await wait_until(
            pilot, lambda: stands(screen, "the run cannot begin", "OPENAI_API_KEY", "r try again", "esc back")
        )
        use(monkeypatch, Model(well))
        await pilot.press("r")
        await wait_until(pilot, lambda: opened.results)


async def test_a_model_that_is_not_reached_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(call: Call) -> str:
        raise ProviderError("unreachable", "nobody is at 127.0.0.1:9")

    info = ModelInfo(provider="openai", name="made-up", served_name="made-up")
    use(monkeypatch, Model(refuse, info=info))
    async with asking("openai:x", max_retries=0) as (pilot, screen, opened):
        await wait_until(
            pilot, lambda: stands(screen, "nobody is at 127.0.0.1:9", "Nothing was written", "r try again")
        )
        await pilot.press("escape")
        await wait_until(pilot, lambda: screen.app.screen is not screen)
        assert not opened.results


async def test_stopping_while_the_model_loads_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loading(Model):
        async def __aenter__(self) -> Model:
            self.entered += 1
            if self.entered == 1:
                await asyncio.Event().wait()
            return self

    model = use(monkeypatch, Loading(well))
    async with asking("openai:x", limit=2) as (pilot, screen, opened):
        await sees(pilot, screen, "connecting", "esc stop and keep")
        await wait_until(pilot, lambda: model.entered)
        assert not stands(screen, "p pause")
        await pilot.press("escape")
        await sees(pilot, screen, "stopped before the first call", "Nothing was written.")
        await pilot.press("r")
        await wait_until(pilot, lambda: opened.results)


async def test_stopping_before_the_model_is_reached_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, go_on = threading.Event(), threading.Event()

    def looking() -> str:
        looked.set()
        go_on.wait(20)
        return ""

    monkeypatch.setattr(session, "_git_state", looking)
    model = use(monkeypatch, Model(well))
    async with asking("openai:x", limit=2) as (pilot, screen, _):
        await wait_until(pilot, looked.is_set)
        await sees(pilot, screen, "esc stop and keep")
        await pilot.press("escape")
        await sees(pilot, screen, "stopped before the first call", "r try again")
        go_on.set()
    assert not model.entered


async def test_a_trial_of_the_form_lists_no_answer_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = Gates(3)
    model = use(monkeypatch, Model(gates.answer))
    model.takes_schema = True
    async with asking("openai:x", limit=4) as (pilot, screen, opened):
        await sees(pilot, screen, "trying the form first", "said zzz", "0 of 8", "none yet")
        gates.open(20)
        await wait_until(pilot, lambda: opened.results)
        await wait_until(pilot, lambda: landed(screen) == 8)
        assert len(model.calls) == 8


async def test_a_model_that_refuses_midway_keeps_what_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async def three(call: Call) -> str:
        if len(model.calls) > 3:
            raise ProviderError("quota", "your [quota] is used up")
        return GOOD

    model = use(monkeypatch, Model(three))
    async with asking("openai:x", limit=5) as (pilot, screen, opened):
        await wait_until(
            pilot, lambda: stands(screen, "the model cannot be asked any more", "your [quota] is used up.")
        )
        assert stands(screen, "gave up (quota)", "of 10 calls are answered and kept")
        assert not opened.results
        model.answer = well
        await pilot.press("r")
        await wait_until(pilot, lambda: opened.results)
        assert {record.outcome for record in read_run(opened.results[0][0]).planned()} <= {"correct", "incorrect"}


async def test_a_budget_ends_a_stretch_and_not_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def counted(call: Call) -> Reply:
        return Reply(text=GOOD, prompt_tokens=10, completion_tokens=5)

    use(monkeypatch, Model(counted))
    async with asking("openai:x", limit=5, budget_tokens=40) as (pilot, screen, opened):
        await sees(pilot, screen, "the budget is used up", "3 of 10 calls are answered and kept")
        await pilot.press("r")
        await wait_until(pilot, lambda: opened.results)


async def test_retries_and_a_changed_form_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def once_more(call: Call) -> str:
        if len(model.calls) == 1:
            raise ProviderError("timeout", "no answer within 5 s", retry=True, retry_after=0.0)
        if call.schema is None:
            return "I would rather talk."
        await asyncio.Event().wait()
        return GOOD

    model = use(monkeypatch, Model(once_more))
    model.takes_schema = True
    async with asking("openai:x", size=(120, 40)) as (pilot, screen, _):
        await sees(pilot, screen, "none of 5 plain replies held the form", "1 retry")
        assert stands(screen, "! asking again (timeout): no answer within 5 s")


async def test_a_questionnaire_has_neither_right_nor_wrong() -> None:
    async with asking("persona:abstainer", sections=("questionnaire",), instances=1) as (pilot, screen, opened):
        await wait_until(pilot, lambda: opened.results)
        await sees(pilot, screen, "questionnaire 15 of 15", "answered", "missing:")
        assert not screen.query_one(Chart).region.area
        assert not stands(screen, "right", "Brier")


async def test_claims_are_drawn_against_what_is_stated() -> None:
    async with asking("persona:suggestible", sections=("microprobe",)) as (pilot, screen, opened):
        await wait_until(pilot, lambda: opened.results)
        await sees(pilot, screen, "claimed against stated", "off 95 %", "stated ↑")
        figures = screen._measuring and screen._measuring.figures
        assert figures is not None and not isinstance(figures.picture, str)
        points = figures.picture.series[-1]
        assert points.name == "this topic"
        assert set(zip(points.x, points.y, strict=True)) == {(0.0, 0.0), (95.0, 95.0)}


async def test_a_screen_that_is_left_stops_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    model = use(monkeypatch, Model(never))
    async with asking("openai:x") as (pilot, screen, _):
        await sees(pilot, screen, "1 in flight")
        folder = screen._asking.session.folder
        await screen.app.pop_screen()
        await wait_until(pilot, lambda: model.left == 1)
        assert read_run(folder).manifest.sessions[-1].outcome == "stopped"
        assert screen.app.is_running


async def test_a_run_that_is_complete_behind_another_screen_waits_with_its_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = asyncio.Event()

    async def later(call: Call) -> str:
        await gate.wait()
        return GOOD

    use(monkeypatch, Model(later))
    async with asking("openai:x", limit=3) as (pilot, screen, opened):
        await sees(pilot, screen, "1 in flight")
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: screen.app.screen is not screen)
        gate.set()
        await wait_until(pilot, lambda: screen._stage == "ended")
        assert not opened.results
        await pilot.press("escape")
        await wait_until(pilot, lambda: opened.results)


async def test_TUI_27_quitting_asks_and_then_stops_and_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    async def four(call: Call) -> str:
        return await (well if len(model.calls) <= 4 else never)(call)

    model = use(monkeypatch, Model(four))
    async with asking("openai:x", limit=5) as (pilot, screen, _):
        await wait_until(pilot, lambda: landed(screen) == 4)
        app, folder = screen.app, screen._asking.session.folder
        await pilot.press("q")
        await wait_until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is screen)
        assert app.is_running and not model.left
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: app.screen is not screen)
        await pilot.press("ctrl+q")
        await wait_until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.press("enter")
        await wait_until(pilot, lambda: model.left == 1)
        await wait_until(pilot, lambda: not app.is_running)
    run = read_run(folder)
    assert len(run.planned()) == 4
    assert run.manifest.sessions[-1].outcome == "stopped"
    model.answer = well
    async with asking("openai:x", limit=5, resume=folder) as (pilot, screen, opened):
        await wait_until(pilot, lambda: opened.results)
        assert len(read_run(folder).records) == 10


async def test_a_run_with_nothing_left_shows_its_results_at_once(tmp_path: Path) -> None:
    async with asking(limit=2) as (pilot, _, opened):
        await wait_until(pilot, lambda: opened.results)
        folder = opened.results[0][0]
    async with asking(limit=2, resume=folder) as (pilot, _, opened):
        await wait_until(pilot, lambda: opened.results == [(folder, True)])
    assert len(read_run(folder).manifest.sessions) == 1


async def test_every_action_has_an_id_and_lower_case_words() -> None:
    for kind in (RunScreen, AnswersBefore):
        for binding in kind.BINDINGS:
            assert binding.id
            assert binding.description == binding.description.lower()


async def test_TUI_19_plain_characters_on_request() -> None:
    async with asking("persona:slow", limit=16) as (pilot, screen, _):
        await wait_until(pilot, lambda: landed(screen) > 6)
        screen.app.action_ascii()
        await wait_until(pilot, lambda: "\n-----" in text_of(screen.app) and "|" in text_of(screen.app).split("\n")[4])
        lines = text_of(screen.app).split("\n")
        assert lines[0].split("simulated")[1].isascii()
        assert all(line.isascii() for line in lines if line.startswith("---"))
