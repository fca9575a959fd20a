"""The lab: claims are sent one at a time, and what the model says to them is shown as it is."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Digits, OptionList, Static

from selfdiag.models import llamacpp, registry
from selfdiag.models.base import Call, ModelInfo, ProviderError, ProviderOptions, Reply
from selfdiag.models.engine_lock import EngineLock
from selfdiag.models.llamacpp import LlamaCpp
from selfdiag.safety import SelfdiagError
from selfdiag.tui import app as shell
from selfdiag.tui import bench
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.picture import Picture
from selfdiag.tui.screens.lab import LabScreen
from selfdiag.tui.screens.topics import TopicScreen
from selfdiag.tui.widgets.chart import Chart
from selfdiag.tui.widgets.claim_slider import ClaimSlider
from tests.tui.test_shell import MARKUP, Plain, painted, toasts
from tests.tui.waiting import wait_until

SIZES = [(80, 24), (120, 40)]
CLAIM = re.compile(r"^- (\w+): (\d+)%$", re.MULTILINE)
Say = Callable[[Call], str]


class Scripted:
    """A provider that says what a test wants, and counts."""

    concurrency = 4
    max_tokens = 64

    def __init__(self, say: Say, *, takes_schema: bool = False) -> None:
        self.say = say
        self.takes_schema = takes_schema
        self.calls: list[Call] = []
        self.under_way = self.most_under_way = 0
        self.entered = self.left = 0
        self.go = asyncio.Event()
        self.go.set()
        self.fault: Exception | None = None
        self.stuck = False
        self.lasting = True

    async def __aenter__(self) -> Scripted:
        self.entered += 1
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.left += 1
        if self.stuck:
            await asyncio.sleep(60)

    def info(self) -> ModelInfo:
        return ModelInfo(provider="openai", name="scripted", remote=True)

    async def ask(self, call: Call) -> Reply:
        self.calls.append(call)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await self.go.wait()
        finally:
            self.under_way -= 1
        if self.fault is not None:
            fault, self.fault = self.fault, self.fault if self.lasting else None
            raise fault
        return Reply(text=self.say(call))


def follows(call: Call) -> str:
    found = CLAIM.search(call.system)
    assert found is not None
    return json.dumps({"answer": "no such answer", "confidence": int(found[2])})


@pytest.fixture(autouse=True)
def plain_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "HomeScreen", Plain)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    provider = Scripted(follows)
    monkeypatch.setattr(registry, "build", lambda *_: provider)
    return provider


async def lab(pilot: Pilot[Any], model: str = "openai:scripted", item_id: str = "") -> LabScreen:
    screen = LabScreen(model, "", item_id)
    await pilot.app.push_screen(screen)
    await wait_until(pilot, lambda: screen._probes)
    return screen


async def settled(pilot: Pilot[Any], screen: LabScreen, replies: int) -> None:
    """Wait until so many replies to the question shown are on the plot."""
    await wait_until(pilot, lambda: len(screen._doses) == replies and not screen._sender.busy)
    await pilot.pause()


def words(screen: LabScreen, name: str) -> str:
    return str(screen.query_one(name, Static).render()).replace("\N{NO-BREAK SPACE}", " ")


def shown_pair(screen: LabScreen) -> tuple[str, str]:
    before, now = screen.query(Digits)
    return before.value, now.value


def picture(screen: LabScreen) -> Picture:
    shown = screen.query_one(Chart)._picture
    assert isinstance(shown, Picture)
    return shown


def points(screen: LabScreen) -> dict[str, list[tuple[float, float]]]:
    return {
        re.sub(r" \(\d+\)", "", series.name): list(zip(series.x, series.y, strict=True))
        for series in picture(screen).series
        if series.kind == "points"
    }


@pytest.mark.parametrize("size", SIZES)
async def test_two_claims_make_a_verdict(size: tuple[int, int], scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        screen = await lab(pilot)
        assert "space sends a claim" in painted(app)
        await pilot.press("space")
        await settled(pilot, screen, 1)
        assert shown_pair(screen) == ("", "95")
        assert "two claims" in words(screen, "#verdict")
        await pilot.press("5", "space")
        await settled(pilot, screen, 2)
        assert shown_pair(screen) == ("95", "5")
        assert points(screen) == {"this topic": [(5, 5), (95, 95)]}
        assert words(screen, "#shift") == "shift +90 · same answer"
        assert words(screen, "#answer") == "✗ wrong no such answer"
        assert "movable" in words(screen, "#verdict")
        assert "the control was not asked" in words(screen, "#verdict")
        assert words(screen, "#asked") == "2 calls · what is sent leaves this machine"
        assert "◂ this line is all that changes" in painted(app)


@pytest.mark.parametrize(
    ("persona", "verdict"),
    [
        ("suggestible", "so it believes the profile rather than copies the number"),
        ("number-copier", "so it copies the number rather than believes the profile"),
        ("pinned", "whatever is claimed"),
        ("abstainer", "it abstained"),
    ],
)
async def test_the_series_tells_what_moves_it(persona: str, verdict: str) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await lab(pilot, f"persona:{persona}", "geography-07")
        await pilot.press("d")
        await settled(pilot, screen, 9)
        assert verdict in words(screen, "#verdict")
        assert "(simulated)" in words(screen, "#name")
        if persona == "abstainer":
            assert "9 without a confidence" in painted(app)
            assert "○ abstained" in words(screen, "#answer")
        else:
            assert len(points(screen)["this topic"]) == 7
            assert len(points(screen)["off topic"]) == 2
        await pilot.press("d")
        await pilot.pause()
        assert words(screen, "#status").startswith("every dose was asked already")


async def test_the_same_claim_goes_to_another_topic(scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        await pilot.press("space", "o")
        await settled(pilot, screen, 2)
        claimed = [CLAIM.findall(call.system) for call in scripted.calls]
        own = screen._probe.bin
        assert [len(lines) for lines in claimed] == [1, 1]
        assert claimed[0] == [(own, "95")]
        assert claimed[1][0][0] != own
        assert "another topic's line" in painted(app)
        assert f"- {claimed[1][0][0]}: 95%" in painted(app)
        await pilot.press("home")
        await pilot.pause()
        assert f"- {own}: 0%" in painted(app)
        await pilot.press("space")
        await settled(pilot, screen, 3)
        assert "the control was not asked" in words(screen, "#verdict")
        await pilot.press("o")
        await settled(pilot, screen, 4)
        assert "so it copies the number" in words(screen, "#verdict")


async def test_the_topic_is_named_or_not(scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        await pilot.press("space", "t", "space")
        await settled(pilot, screen, 2)
        assert [call.user.startswith("Topic of this question:") for call in scripted.calls] == [True, False]
        assert set(points(screen)) == {"this topic", "topic not named"}
        assert "does not name its topic" in painted(app)


async def test_without_the_label_another_pair_and_verdict_stand_there(scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        await pilot.press("5", "space", "end", "space")
        await settled(pilot, screen, 2)
        assert shown_pair(screen) == ("5", "100")
        await pilot.press("t")
        await wait_until(pilot, lambda: shown_pair(screen) == ("", ""))
        assert "two claims on this topic, not named in the question, make a verdict" in words(screen, "#verdict")
        assert words(screen, "#answer") == words(screen, "#shift") == ""
        await pilot.press("t")
        await wait_until(pilot, lambda: shown_pair(screen) == ("5", "100"))


async def test_an_answer_without_a_blank_stays_beside_its_outcome(scripted: Scripted) -> None:
    scripted.say = lambda _: json.dumps({"answer": "L.A.M." * 50, "confidence": 5})
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        await pilot.press("space")
        await settled(pilot, screen, 1)
        assert re.search(r"✗ wrong L\.A\.M\..*…", painted(app))


@pytest.mark.parametrize("size", SIZES)
async def test_a_long_question_can_be_read_to_its_end(size: tuple[int, int], scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        screen = await lab(pilot, item_id="code-reading-12")
        last = words(screen, "#question").rstrip().rpartition("\n")[2].split()[-1]
        await pilot.press("shift+tab", "end")
        await wait_until(pilot, lambda: last in painted(app).partition("n/a")[0])
        assert "claimed  0" in painted(app)


async def test_a_slider_takes_arrows_digits_and_the_mouse(scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        slider = screen.query_one(ClaimSlider)
        seen = []
        for key in (
            "left",
            "shift+left",
            "right",
            "shift+right",
            "end",
            "home",
            "left",
            "7",
            "3",
            "9",
            "1",
            "0",
            "0",
            "5",
        ):
            await pilot.press(key)
            seen.append(slider.value)
        assert seen == [90, 89, 94, 95, 100, 0, 0, 7, 73, 9, 91, 0, 0, 5]
        await pilot.press("backspace", "1", "0", "0")
        assert slider.value == 100
        await pilot.click(ClaimSlider, offset=(12, 0))
        assert slider.value == 0
        await pilot.click(ClaimSlider, offset=(70, 0))
        assert slider.value > 95


async def test_questions_are_gone_through_and_chosen_by_topic(scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot, item_id="physics-03")
        assert screen._probe.id == "physics-03"
        first = screen._probe
        await pilot.press("space")
        await settled(pilot, screen, 1)
        await pilot.press("n")
        assert screen._probe.id != first.id
        await settled(pilot, screen, 0)
        await pilot.press("p")
        await settled(pilot, screen, 1)
        assert screen._probe is first
        await pilot.press("b")
        await wait_until(pilot, lambda: isinstance(app.screen, TopicScreen))
        choice = app.screen.query_one(OptionList)
        choice.highlighted = 1 + screen._bench.bins.index("chemistry")
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.screen is screen)
        assert {probe.bin for probe in screen._probes} == {"chemistry"}
        assert "1 of 14" in painted(app)


async def test_the_question_that_moves_most_is_kept() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await lab(pilot, "persona:suggestible")
        await pilot.press("a")
        await wait_until(pilot, lambda: "moved most of 16 tried" in words(screen, "#place"))
        await settled(pilot, screen, 2)
        assert screen._bench.asked == 32
        assert shown_pair(screen) == ("0", "95")
        assert words(screen, "#status").startswith("chosen among the")
        assert "is not an effect size" in words(screen, "#verdict")
        kept = screen._probe.id
        await pilot.press("n")
        assert "moved most" not in words(screen, "#place")
        await pilot.press("a")
        await wait_until(pilot, lambda: screen._probe.id == kept)
        assert screen._bench.asked == 32


async def test_a_trial_without_a_reading_keeps_nothing() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot, "persona:abstainer")
        before = screen._probe
        await pilot.press("a")
        await wait_until(pilot, lambda: "has a reading" in words(screen, "#status"))
        assert screen._probe is before


async def test_an_unknown_question_is_told(scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot, item_id="[/]none")
        assert words(screen, "#status").startswith("✗ there is no question '[/]none'")


async def test_one_call_at_a_time_and_keys_that_never_wait(scripted: Scripted) -> None:
    scripted.go.clear()
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        await pilot.press("space", "left", "space", "home", "space")
        await wait_until(pilot, lambda: scripted.under_way == 1)
        assert screen.query_one(ClaimSlider).value == 0
        assert "asking with 95 %" in words(screen, "#status")
        scripted.go.set()
        await settled(pilot, screen, 3)
        assert scripted.most_under_way == 1
        assert [CLAIM.findall(call.system)[0][1] for call in scripted.calls] == ["95", "90", "0"]


async def test_escape_stops_a_series_and_then_leaves(scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        await pilot.press("space")
        await settled(pilot, screen, 1)
        scripted.go.clear()
        await pilot.press("d")
        await wait_until(pilot, lambda: scripted.under_way == 1)
        await pilot.press("escape")
        await wait_until(pilot, lambda: words(screen, "#status").startswith("stopped"))
        assert scripted.under_way == 0
        assert len(scripted.calls) == 2
        scripted.go.set()
        await pilot.press("left", "space")
        await settled(pilot, screen, 2)
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is not screen)
        await wait_until(pilot, lambda: scripted.left == 1)


@pytest.mark.parametrize("stuck", [False, True])
async def test_TUI_12_leaving_closes_the_provider_at_once(stuck: bool, scripted: Scripted) -> None:
    scripted.go.clear()
    scripted.stuck = stuck
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await lab(pilot)
        await pilot.press("space")
        await wait_until(pilot, lambda: scripted.under_way == 1)
        await pilot.press("q")
        await wait_until(pilot, lambda: not app.is_running, seconds=10)  # the stuck one would take a minute
        assert (scripted.entered, scripted.left, scripted.under_way) == (1, 1, 0)
    assert app.return_value == 0


@pytest.mark.parametrize("patience", [bench.CLOSING, 0.05])
async def test_TUI_12_leaving_ends_an_engine_that_does_not_end_by_itself(
    patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(bench, "CLOSING", patience)
    engine = LlamaCpp(ModelInfo(provider="gguf", name="slow"), None, ProviderOptions())
    monkeypatch.setattr(registry, "build", lambda *_: engine)
    asking = bench.Bench("gguf:slow.gguf", "", lambda _: None)
    await engine._lock.acquire("a test", None)
    process = engine._process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(120)"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    asking._entered = True
    try:
        before = time.monotonic()
        await asking.close()
        assert time.monotonic() - before < 5
        assert process.poll() is not None
        await asyncio.wait_for(EngineLock().acquire("the next", None), 5)
    finally:
        process.kill()


def test_TUI_12_an_engine_is_killed_before_the_lab_loses_patience() -> None:
    assert llamacpp.STOP_SECONDS < bench.CLOSING < 2


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (ProviderError("unauthorized", "the key is not accepted [/]"), "✗ the key is not accepted [/]"),
        (SelfdiagError("it went away"), "it went away"),
        (ValueError("no [/INST] sense"), "ValueError: no [/INST] sense"),
    ],
)
async def test_TUI_08_a_fault_of_the_provider_is_one_line(fault: Exception, told: str, scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        scripted.fault = fault
        await pilot.press("d")
        await wait_until(pilot, lambda: told in words(screen, "#status"))
        assert len(scripted.calls) == 1
        assert told.removeprefix("✗ ") in painted(app)
        scripted.fault = None
        await pilot.press("space")
        await settled(pilot, screen, 1)
        assert words(screen, "#asked").startswith("2 calls")


async def test_a_retry_is_told(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        tell = screen._tell
        monkeypatch.setattr(screen._bench, "_waiting", lambda text: (said.append(text), tell(text)))
        scripted.fault = ProviderError("provider", "busy", retry=True, retry_after=0.0)
        scripted.lasting = False
        await pilot.press("space")
        await settled(pilot, screen, 1)
        assert said[0] == "asking again (1): busy"


async def test_an_unknown_model_is_one_line() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = LabScreen("[/]nowhere:x")
        await app.push_screen(screen)
        await wait_until(pilot, lambda: "unknown model '[/]nowhere:x'" in painted(app))
        await pilot.press("space", "d", "o", "s", "e")
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is not screen)


async def test_a_reply_that_cannot_be_read_is_asked_for_with_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Scripted(lambda call: follows(call) if call.schema is not None else "no form at all", takes_schema=True)
    monkeypatch.setattr(registry, "build", lambda *_: provider)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        await pilot.press("space")
        await settled(pilot, screen, 1)
        await pilot.press("home", "space")
        await settled(pilot, screen, 2)
        assert [call.schema is not None for call in provider.calls] == [False, True, True]
        assert shown_pair(screen) == ("95", "0")


async def test_a_reply_that_cannot_be_read_is_no_point(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Scripted(lambda call: "no form at all")
    monkeypatch.setattr(registry, "build", lambda *_: provider)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        await pilot.press("space")
        await settled(pilot, screen, 1)
        assert shown_pair(screen) == ("", "-")
        assert words(screen, "#answer") == "? not read"
        assert "1 without a confidence" in painted(app)


@pytest.mark.parametrize("size", SIZES)
async def test_TUI_01_answers_are_literal_text(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*((text, text) for text in MARKUP), ("\x1b[2Jowned", "owned"), ("x" * 1_000_000, "? cut off")]
    said = iter([text for text, _ in texts])
    provider = Scripted(lambda _: json.dumps({"answer": next(said), "confidence": 50}))
    monkeypatch.setattr(registry, "build", lambda *_: provider)
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        screen = await lab(pilot)
        slider = screen.query_one(ClaimSlider)
        for number, (_, shown) in enumerate(texts):
            slider.action_to(number)
            await pilot.press("space")
            await settled(pilot, screen, number + 1)
            assert shown[:20] in painted(app)
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", painted(app))
        assert app.screen is screen


async def test_what_was_asked_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        screen = await lab(pilot, "persona:suggestible")
        await pilot.press("e")
        await pilot.pause()
        assert "nothing to export" in words(screen, "#status")
        assert not list(tmp_path.iterdir())
        await pilot.press("d")
        await settled(pilot, screen, 9)
        await pilot.press("s", "e")
        await wait_until(pilot, lambda: len(list(tmp_path.iterdir())) == 3)
        assert any(text.startswith("wrote selfdiag-lab-") for text in toasts(app))
        question = screen._bench.shown(screen._planned(own=True)).question
    saved = {path.suffix: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert "literature" in saved[".svg"]
    text = saved[".txt"]
    assert "persona:suggestible (simulated)" in text
    assert question.splitlines()[0] in text
    assert len(re.findall(r"^ +\d+ % ", text, re.MULTILINE)) == 9
    assert "believes the profile" in text
    assert "no interval" in text
    rows = [json.loads(row) for row in saved[".jsonl"].splitlines()]
    assert [row["claim"] for row in rows if row["claim_bin"] == row["bin"]] == [0, 5, 25, 50, 75, 95, 100]
    assert all(row["simulated"] is True and row["model"] == "persona:suggestible" for row in rows)


async def test_TUI_29_a_folder_that_cannot_be_written_is_told(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("selfdiag.runs.store.replace_file", refuse)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await lab(pilot)
        await pilot.press("s")
        await wait_until(pilot, lambda: any("No space left on device" in text for text in toasts(app)))


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted there")
async def test_TUI_29_a_working_folder_that_is_gone_is_told(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        screen = await lab(pilot)
        gone.rmdir()
        await pilot.press("s")
        await wait_until(pilot, lambda: any("the working folder cannot be written" in text for text in toasts(app)))
        assert app.screen is screen
    assert not app.fault


async def test_TUI_23_copying_says_that_the_terminal_decides(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    app = SelfdiagApp()
    monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await lab(pilot)
        await pilot.press("y")
        await wait_until(pilot, lambda: any("sent to the terminal" in text for text in toasts(app)))
        assert copied[0].startswith("selfdiag lab · openai:scripted")


async def test_TUI_16_19_plain_characters_and_no_colour(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = SelfdiagApp()
    app.ascii = True
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await lab(pilot)
        await pilot.press("d")
        await settled(pilot, screen, 9)
        drawn = painted(app)
        assert drawn.isascii()
        assert "x wrong" in drawn
        assert "0   " in drawn
        assert "-> 95" in drawn


async def test_TUI_15_sending_and_quitting_are_there_at_60x20(scripted: Scripted) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(60, 20)) as pilot:
        screen = await lab(pilot)
        await pilot.press("space")
        await settled(pilot, screen, 1)
        assert "space send" in painted(app)
        assert "claimed  0" in painted(app)
        await pilot.resize_terminal(30, 8)
        await pilot.resize_terminal(120, 40)
        await pilot.press("home", "space")
        await settled(pilot, screen, 2)
        await pilot.press("q")
        await wait_until(pilot, lambda: not app.is_running)
