"""The home screen: what is around, what is chosen, and what is handed on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from selfdiag.models import registry, weights
from selfdiag.models.base import Listing
from selfdiag.protocols import overview as overviews
from selfdiag.protocols.overview import RunRow
from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import read_manifest
from selfdiag.safety import SelfdiagError
from selfdiag.settings import runs_dir
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.choices import remembered
from selfdiag.tui.screens.dialog import Question
from selfdiag.tui.screens.home import HomeScreen
from selfdiag.tui.screens.model_dialogs import AddressDialog, FetchDialog, FileDialog
from selfdiag.tui.widgets.battery_choice import BatteryChoice, SectionChoice
from selfdiag.tui.widgets.model_list import ModelList
from selfdiag.tui.widgets.plan_line import PlanLine
from selfdiag.tui.widgets.run_list import RunList, age
from tests.made_runs import measured
from tests.tui.waiting import wait_until

SIZES = [(80, 24), (120, 40)]
QWEN = Listing(
    model="ollama:qwen3:8b",
    ready=True,
    details={"size": "8.2B", "quantisation": "Q4_K_M", "capabilities": "completion, thinking", "disk": "5,225 MB"},
)
LLAMA = Listing(model="ollama:llama3.1:8b", ready=True, details={"size": "8.0B", "quantisation": "Q4_K_M"})
EMBEDDER = Listing(model="ollama:nomic", ready=False, remark="cannot chat")
CLOUD = Listing(model="ollama:big-cloud", ready=True, remote=True, details={"remote_host": "ollama.com"})
HOSTILE = (
    "[/]",
    "[/INST]",
    "[link=http://x]y",
    "[@click=app.quit]x[/]",
    "[b +",
    "array[i]",
    "日本語👩‍👩‍👧",
    "a b",
    "1abc",
)


class Around:
    """What the app finds around it, and what it hands on."""

    def __init__(self) -> None:
        self.models: dict[str, list[Listing]] = {
            "embedded": [Listing(model="embedded", ready=True, remark="here")],
            "gguf": [Listing(model="gguf:PATH", ready=True, remark="any file")],
            "ollama": [QWEN, LLAMA, EMBEDDER],
            "openai": [Listing(model="openai:NAME", ready=False, remark="set OPENAI_API_KEY", remote=True)],
            "persona": [
                Listing(model=f"persona:{name}", ready=True, remark="simulated") for name in ("calibrated", "blind")
            ],
        }
        self.runs: list[RunRow] = []
        self.asked: list[tuple[RunSettings, Path | None]] = []
        self.opened: list[Path] = []
        self.compared: list[tuple[Path, ...]] = []
        self.labs: list[tuple[str, str]] = []
        self.stalled: set[str] = set()

    def discovered(self, provider: str = "") -> list[Listing]:
        if provider in self.stalled:
            threading.Event().wait()
        return self.models[provider]


@pytest.fixture
def around(monkeypatch: pytest.MonkeyPatch) -> Around:
    found = Around()
    monkeypatch.setattr(registry, "discovered", found.discovered)
    monkeypatch.setattr("selfdiag.tui.widgets.home_body.provider_names", lambda: list(found.models))
    monkeypatch.setattr(weights, "ready", lambda: Path("weights.gguf"))
    monkeypatch.setattr(overviews, "overview", lambda: found.runs)
    monkeypatch.setattr(
        SelfdiagApp,
        "open_run",
        lambda _, settings, *, plan=None, resume=None: found.asked.append((settings, resume)),
    )
    monkeypatch.setattr(SelfdiagApp, "open_results", lambda _, folder: found.opened.append(folder))
    monkeypatch.setattr(SelfdiagApp, "open_compare", lambda _, folders: found.compared.append(folders))
    monkeypatch.setattr(SelfdiagApp, "open_lab", lambda _, model, base_url="": found.labs.append((model, base_url)))
    return found


def shown(app: SelfdiagApp) -> str:
    return "\n".join("".join(part.text for part in strip) for strip in app.screen._compositor.render_strips())


def home(app: SelfdiagApp) -> HomeScreen:
    screen = app.screen_stack[1]
    assert isinstance(screen, HomeScreen)
    return screen


def plan(app: SelfdiagApp) -> str:
    return str(home(app).query_one(PlanLine).render())


def chosen(app: SelfdiagApp) -> str:
    row = home(app).query_one(ModelList).chosen
    return row.model if row is not None else ""


async def built(pilot: Pilot[Any], app: SelfdiagApp) -> None:
    """Wait until what is below the title is there."""
    await wait_until(pilot, lambda: len(app.screen_stack) > 1 and app.screen.query(PlanLine))


async def settled(pilot: Pilot[Any], app: SelfdiagApp) -> None:
    """Wait until every provider has answered and the plan is counted."""
    await built(pilot, app)
    await wait_until(pilot, lambda: "looking" not in shown(app) and "reading" not in shown(app))
    await wait_until(pilot, lambda: "counting" not in plan(app))


def row(run_id: str, **fields: Any) -> RunRow:
    usual = {"state": "complete", "tier": "C", "model": "ollama:qwen3:8b", "battery": "quick"}
    return RunRow(run_id=run_id, **{**usual, "answered": 63, "planned": 63, **fields})


@pytest.mark.parametrize("size", SIZES)
async def test_models_are_grouped_by_where_they_run(around: Around, size: tuple[int, int]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        text = shown(app)
        for words in (
            "here",
            "135M · 98 MB · ready",
            "choose a file",
            "ollama · 127.0.0.1:11434 · 3 models",
            "8.2B Q4_K_M · thinks",
            "cannot chat",
            "no key: how to set one",
            "other address…",
            "2 personas to try it",
            "none yet: enter starts one",
            "63 calls, about 1 min 34 s, nothing leaves this machine",
            "‹ quick 42+21 ›",
            "☑ probes  ☑ traps  ☐ questionnaire",
        ):
            assert words in text
        assert "blind" not in text
        assert chosen(app) == "embedded"


async def test_nothing_reachable_is_a_normal_state(around: Around, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = "no server answers at http://127.0.0.1:11434"
    around.models["ollama"] = [Listing(model="ollama:NAME", ready=False, remark=refused)]
    monkeypatch.setattr(weights, "ready", lambda: None)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert chosen(app) == "embedded"
        assert "135M · 93 MB download" in shown(app)
        assert "nothing found" in shown(app)
        await pilot.press("down", "down")
        await wait_until(pilot, lambda: refused in shown(app))
        await pilot.press("enter")
        await pilot.pause()
        assert not around.asked


async def test_what_is_too_big_for_memory_or_runs_elsewhere_says_so(
    around: Around, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfdiag.tui.widgets.home_body.memory_bytes", lambda: 4_000_000_000)
    around.models["ollama"] = [QWEN, CLOUD]
    app = SelfdiagApp("ollama:big-cloud")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        assert "too big for memory · 8.2B Q4_K_M · thinks" in shown(app)
        assert "big-cloud" in shown(app) and "remote" in shown(app)
        await wait_until(pilot, lambda: "every question goes to ollama.com" in plan(app))


@pytest.mark.parametrize("size", SIZES)
async def test_enter_starts_what_is_chosen_and_remembers_it(around: Around, size: tuple[int, int]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        await pilot.press("down", "down")
        assert chosen(app) == "ollama:qwen3:8b"
        await pilot.press("tab", "tab", "right", "tab", "right", "space", "right", "space")
        assert home(app).query_one(BatteryChoice).choice == "standard"
        await wait_until(pilot, lambda: plan(app).startswith("201 calls, time depends on the model"))
        home(app).query_one(ModelList).focus()
        await pilot.press("enter")
        await wait_until(pilot, lambda: around.asked)
    sections = ("probes", "questionnaire")
    wanted = RunSettings(model="ollama:qwen3:8b", battery="standard", sections=sections)
    assert around.asked == [(wanted, None)]
    kept = remembered()
    assert (kept.model, kept.battery, kept.sections) == ("ollama:qwen3:8b", "standard", sections)


async def test_the_last_choice_is_there_before_anything_was_found(around: Around) -> None:
    around.stalled = {"ollama"}
    app = SelfdiagApp("ollama:llama3.1:8b")
    async with app.run_test(size=(80, 24)) as pilot:
        await built(pilot, app)
        await wait_until(pilot, lambda: "llama3.1:8b" in shown(app))
        assert chosen(app) == "ollama:llama3.1:8b"
        await wait_until(pilot, lambda: "63 calls" in plan(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: around.asked)
    assert around.asked[0][0].model == "ollama:llama3.1:8b"


async def test_TUI_11_12_a_stalled_provider_holds_up_neither_keys_nor_the_end(around: Around) -> None:
    around.stalled = {"ollama", "openai"}
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await built(pilot, app)
        await wait_until(pilot, lambda: "ready" in shown(app))
        await pilot.press("down")
        assert chosen(app) == "gguf"
        await pilot.press("q")
    assert app.return_value == 0


async def test_highlight_stays_where_it_is_while_groups_fill_in(around: Around) -> None:
    around.stalled = {"ollama"}
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await built(pilot, app)
        await wait_until(pilot, lambda: "2 personas" in shown(app))
        await pilot.press("end")
        assert chosen(app) == "persona"
        around.stalled = set()
        await pilot.press("f5")
        await wait_until(pilot, lambda: "3 models" in shown(app))
        assert chosen(app) == "persona"


async def test_typing_filters_and_q_does_not_quit(around: Around) -> None:
    """TUI-24."""
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("slash", *"qwen")
        field = home(app).query_one("#filter", Input)
        assert field.value == "qwen" and app.is_running
        await wait_until(pilot, lambda: "llama3.1" not in shown(app))
        assert "qwen3:8b" in shown(app) and "embedded" not in shown(app)
        await pilot.press("enter", "enter")
        await wait_until(pilot, lambda: around.asked)
        assert around.asked[0][0].model == "ollama:qwen3:8b"
        await pilot.press("escape")
        await wait_until(pilot, lambda: "llama3.1" in shown(app))
        assert field.value == "" and chosen(app) == "ollama:qwen3:8b"


async def test_a_provider_counts_by_how_it_begins(around: Around) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("slash", *"llama")
        await wait_until(pilot, lambda: "qwen3" not in shown(app))
        assert "llama3.1:8b" in shown(app)
        await pilot.press(*(["backspace"] * 5), *"ollama")
        await wait_until(pilot, lambda: "qwen3" in shown(app))


async def test_no_match_is_said_in_words_and_a_full_name_can_be_typed(around: Around) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("slash", *"zz")
        await wait_until(pilot, lambda: "no name contains zz; esc shows all" in shown(app))
        await wait_until(pilot, lambda: "no model is chosen" in plan(app))
        await pilot.press("backspace", "backspace", *"persona:bind")
        await wait_until(pilot, lambda: "Did you mean 'blind'?" in plan(app))
        await pilot.press("enter", "enter")
        await pilot.pause(0.1)
        assert not around.asked
        await pilot.press("slash", *(["backspace"] * 3), *"lind", "enter", "enter")
        await wait_until(pilot, lambda: around.asked)
    assert around.asked[0][0].model == "persona:blind"


async def test_simulated_models_are_folded_and_marked(around: Around) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("end", "enter")
        await wait_until(pilot, lambda: "blind" in shown(app))
        await pilot.press("down", "down")
        assert chosen(app) == "persona:blind"
        await wait_until(pilot, lambda: "simulated: no model is asked" in plan(app))
        await pilot.press("up", "up", "enter")
        await wait_until(pilot, lambda: "blind" not in shown(app))


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_names_are_literal_text(around: Around, size: tuple[int, int]) -> None:
    """TUI-09, TUI-21: markup, wide characters, and names that are no identifiers."""
    around.models["ollama"] = [Listing(model=f"ollama:{name}", ready=True, remark="m") for name in HOSTILE]
    around.runs = [row(f"run-{number}", model=name, battery=name) for number, name in enumerate(HOSTILE)]
    app = SelfdiagApp()
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot, app)
        for name in HOSTILE:
            await pilot.press("slash")
            home(app).query_one("#filter", Input).value = name
            await pilot.press("enter")
            await wait_until(pilot, lambda name=name: chosen(app) == f"ollama:{name}")
            await wait_until(pilot, lambda name=name: f" ▸ {name}"[:16] in shown(app))
            await pilot.press("escape")
        assert app.is_running
        await pilot.press("enter")
        await wait_until(pilot, lambda: around.asked)
        assert around.asked[0][0].model == f"ollama:{HOSTILE[-1]}"
        await pilot.press("tab")
        for _ in HOSTILE[:3]:
            await pilot.press("x")
            await wait_until(pilot, lambda: isinstance(app.screen, Question))
            await pilot.press("n", "down")


async def test_TUI_06_long_names_and_escapes_cannot_reach_the_terminal(around: Around) -> None:
    long = "x" * 300
    escape = "\x1b[2J\x1b]0;owned\x07\x00"
    around.models["ollama"] = [Listing(model=f"ollama:{name}", ready=True) for name in (long, escape)]
    around.runs = [row("run-1", model=long), row("run-2", model=escape)]
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("down", "down")
        assert chosen(app) == f"ollama:{long}"
        await pilot.press("down")
        await wait_until(pilot, lambda: "ollama:\\x1b[2J\\x1b]0;owned" in shown(app))
        assert "qwen" not in shown(app) and "xxxx…" in shown(app)
        assert not any(char in shown(app) for char in "\x1b\x07\x00")
        assert all(len(text) <= 80 for text in shown(app).split("\n"))


async def test_a_model_that_is_listed_twice_has_two_rows(around: Around) -> None:
    """TUI-10."""
    around.models["ollama"] = [QWEN, QWEN]
    around.runs = [row("same"), row("same")]
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        models = home(app).query_one(ModelList)
        await pilot.press("down", "down")
        first = models.highlighted
        await pilot.press("down")
        second = models.highlighted
        assert chosen(app) == "ollama:qwen3:8b" and first is not None and second == first + 1
        await pilot.press("f5")
        await settled(pilot, app)
        assert models.highlighted == second


async def test_a_click_chooses_and_a_double_click_starts(around: Around) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        models = home(app).query_one(ModelList)
        at = next(y for y, text in enumerate(shown(app).split("\n")) if "qwen3:8b" in text) - models.region.y
        await pilot.click(models, offset=(6, at))
        assert chosen(app) == "ollama:qwen3:8b"
        await pilot.click(models, offset=(6, at - 1))
        assert chosen(app) == "ollama:qwen3:8b"
        await pilot.pause(0.1)
        assert not around.asked
        await pilot.click(models, offset=(6, at), times=2)
        await wait_until(pilot, lambda: around.asked)
        await pilot.click("#sections", offset=(12, 0))
        assert home(app).query_one(SectionChoice).on == ("probes",)
        await pilot.click("#battery", offset=(0, 0))
        assert home(app).query_one(BatteryChoice).choice == "own path"


async def test_a_battery_of_ones_own(around: Around, tmp_path: Path) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("tab", "tab", "left")
        await wait_until(pilot, lambda: "✗ write the path of your battery" in plan(app))
        await pilot.press("tab", *"/nope.toml")
        await wait_until(pilot, lambda: "/nope.toml" in plan(app) and "✗" in plan(app))
        file = tmp_path / "own.toml"
        file.write_text(OWN_BATTERY, encoding="utf-8")
        home(app).query_one("#own", Input).value = str(file)
        await wait_until(pilot, lambda: plan(app).startswith("1 call, "))
        await pilot.press("enter", "enter")
        await wait_until(pilot, lambda: around.asked)
    assert around.asked[0][0].battery == str(file)


OWN_BATTERY = """
id = "mine"
version = "1"

[[probe]]
id = "one"
bin = "sums"
difficulty = "easy"
kind = "number"
answer = "2"
questions = ["What is 1 + 1? As a number.", "As a number: 1 + 1?"]
derivation = "1 + 1"
"""


async def test_no_section_is_told_and_not_started(around: Around) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("tab", "tab", "tab", "space", "right", "space")
        await wait_until(pilot, lambda: "✗ nothing is left to ask" in plan(app))
        await pilot.press("shift+tab", "shift+tab", "shift+tab", "enter")
        await pilot.pause(0.1)
        assert not around.asked


async def test_many_calls_are_started_only_when_the_person_says_so_again(
    around: Around, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfdiag.tui.widgets.home_body.MANY_CALLS", 62)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Question) and "start 63 calls?" in shown(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is home(app))
        assert not around.asked
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.press("enter")
        await wait_until(pilot, lambda: around.asked)


async def test_lab_opens_on_the_chosen_model(around: Around) -> None:
    app = SelfdiagApp("openai:mine", "http://127.0.0.1:9/v1")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("l")
        await wait_until(pilot, lambda: around.labs)
    assert around.labs == [("openai:mine", "http://127.0.0.1:9/v1")]


async def test_a_gguf_file_is_asked_for(around: Around, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF and more")
    (tmp_path / "none.gguf").write_bytes(b"no such letters")
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, FileDialog))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "write the path of a file" in shown(app))
        for wrong, words in (("~/nope.gguf", "cannot be opened"), ("~/none.gguf", "is not a GGUF file")):
            app.screen.query_one(Input).value = wrong
            await pilot.press("enter")
            await wait_until(pilot, lambda words=words: words in shown(app).replace("\n", " "))
        app.screen.query_one(Input).value = "~/tiny.gguf"
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.screen is home(app))
        await wait_until(pilot, lambda: chosen(app) == "gguf:~/tiny.gguf" and "tiny.gguf" in shown(app))
        assert not around.asked
        await pilot.press("enter")
        await wait_until(pilot, lambda: around.asked)
    assert around.asked[0][0].model == "gguf:~/tiny.gguf"


async def test_another_address_is_asked_for_and_keys_are_named_only(
    around: Around, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TUI-31."""
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", "canary-0123456789")
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("slash", *"other", "enter", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, AddressDialog))
        await wait_until(pilot, lambda: "key: SELFDIAG_OPENAI_API_KEY in the environment" in shown(app))
        await pilot.press("enter", *"mine", "enter")
        await wait_until(pilot, lambda: "write the server's address" in shown(app))
        await pilot.press(*"ftp://x", "enter", "enter")
        await wait_until(pilot, lambda: "is not an http address" in shown(app))
        app.screen.query_one("#address", Input).value = "http://example.org:8080/v1"
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.screen is home(app))
        await wait_until(pilot, lambda: "every question goes to example.org:8080" in plan(app))
        assert "canary" not in shown(app) + app.export_screenshot()
        await pilot.press("enter")
        await wait_until(pilot, lambda: around.asked)
    asked = around.asked[0][0]
    assert (asked.model, asked.base_url) == ("openai:mine", "http://example.org:8080/v1")


async def test_a_service_without_a_key_says_how_to_set_one(around: Around, monkeypatch: pytest.MonkeyPatch) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("slash", *"openai", "enter", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, AddressDialog))
        await wait_until(pilot, lambda: "no key: selfdiag keys set openai, or set OPENAI_API_KEY" in shown(app))
        await pilot.press(*"some-model", "enter")
        await wait_until(pilot, lambda: "✗ no key for openai" in shown(app))
        monkeypatch.setenv("OPENAI_API_KEY", "canary-0123456789")
        await pilot.press("enter")
        await wait_until(pilot, lambda: chosen(app) == "openai:some-model")
        await wait_until(pilot, lambda: "every question goes to api.openai.com" in plan(app))
        await pilot.press("f5")


class Download:
    """Fetching that waits until it is told to go on, as the real one does."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.stopped = False
        self.fault = ""

    def __call__(self, say: Callable[[str], None], stopped: threading.Event) -> Path:
        say("downloading [/] it")
        while not self.done.wait(0.01):
            if stopped.is_set():
                self.stopped = True
                raise SelfdiagError("stopped while the embedded model was being fetched", exit_code=130)
        if self.fault:
            raise SelfdiagError(self.fault)
        return Path("weights.gguf")


@pytest.fixture
def download(monkeypatch: pytest.MonkeyPatch) -> Download:
    made = Download()
    monkeypatch.setattr(weights, "ready", lambda: None)
    monkeypatch.setattr(weights, "obtain", made)
    return made


async def test_embedded_is_fetched_first_and_the_run_goes_on(around: Around, download: Download) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, FetchDialog) and "93 MB to download" in shown(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "downloading [/] it" in shown(app))
        download.fault = "no network [/]"
        download.done.set()
        await wait_until(pilot, lambda: "✗ no network [/]" in shown(app) and "try again" in shown(app))
        assert not around.asked
        download.fault = ""
        await pilot.press("enter")
        await wait_until(pilot, lambda: around.asked)
    assert around.asked[0][0].model == "embedded"


async def test_fetching_can_be_given_up(around: Around, download: Download) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, FetchDialog))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is home(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, FetchDialog))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "downloading" in shown(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is home(app))
        assert download.stopped and not around.asked


async def test_leaving_the_app_stops_the_download(around: Around, download: Download) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, FetchDialog))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "downloading" in shown(app))
        await pilot.press("ctrl+q")
        await wait_until(pilot, lambda: download.stopped)
    assert app.return_value == 0


@pytest.mark.parametrize("size", SIZES)
async def test_last_audits_have_tier_model_and_state(around: Around, size: tuple[int, int]) -> None:
    around.runs = [
        row("a"),
        row("b", state="stopped", tier="B", answered=38, planned=147, battery="standard"),
        row("c", model="persona:blind", simulated=True, tier="X"),
        RunRow(run_id="d", state="damaged"),
    ]
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        text = shown(app)
        for words in ("C  qwen3:8b", "quick · 63 calls", "(B) ", "38 of 147, stopped", "X  blind", "simulated · quick"):
            assert words in text
        assert "damaged: it cannot be read" in text


async def test_runs_are_opened_marked_and_compared(around: Around) -> None:
    around.runs = [row("a"), row("b"), row("c")]
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot, app)
        await pilot.press("tab", "down", "enter")
        await wait_until(pilot, lambda: around.opened)
        assert around.opened == [runs_dir() / "b"]
        await pilot.press("c")
        await wait_until(pilot, lambda: "mark two or more" in shown(app))
        await pilot.press("home", "space", "space", "space", "up", "space", "c")
        await wait_until(pilot, lambda: around.compared)
        assert around.compared == [(runs_dir() / "a", runs_dir() / "b")]
        assert "● " in shown(app)
        around.runs = [row("b"), row("c")]
        await pilot.press("f5")
        await wait_until(pilot, lambda: home(app).query_one(RunList).marked == ("b",))


async def test_an_unfinished_run_is_resumed_with_its_own_settings(around: Around) -> None:
    folder = runs_dir() / "half"
    whole = measured(folder, limit=3, seed=7, budget_seconds=5.0)
    around.runs = [row("full"), row("half", state="stopped", answered=1, planned=3)]
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot, app)
        await pilot.press("r")
        await wait_until(pilot, lambda: "full is complete" in shown(app))
        await pilot.press("tab", "down", "r")
        await wait_until(pilot, lambda: around.asked)
    settings, resumed = around.asked[0]
    assert resumed == folder
    assert settings.budget_seconds is None and whole.manifest.settings.budget_seconds == 5.0
    assert (settings.seed, settings.limit, settings.model) == (7, 3, whole.manifest.settings.model)


async def test_a_run_is_deleted_only_after_a_question(around: Around) -> None:
    folder = runs_dir() / "gone"
    measured(folder, limit=1)
    around.runs = [row("gone")]
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await pilot.press("tab", "x")
        await wait_until(pilot, lambda: isinstance(app.screen, Question) and "delete this run?" in shown(app))
        await pilot.press("n")
        await wait_until(pilot, lambda: app.screen is home(app))
        assert read_manifest(folder)
        await pilot.press("x")
        await wait_until(pilot, lambda: isinstance(app.screen, Question))
        around.runs = []
        await pilot.press("y")
        await wait_until(pilot, lambda: not folder.exists())
        await wait_until(pilot, lambda: "none yet" in shown(app))


async def test_what_fails_unexpectedly_is_told_and_the_app_lives(
    around: Around, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TUI-04, TUI-08."""

    def fails() -> list[RunRow]:
        raise ValueError("closing [/INST] tag")

    monkeypatch.setattr(overviews, "overview", fails)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await built(pilot, app)
        await wait_until(pilot, lambda: "closing [/INST] tag" in shown(app))
        await pilot.press("down")
        assert chosen(app) == "gguf"


async def test_a_provider_that_fails_hides_no_other(around: Around) -> None:
    around.models = {"odd": None, **around.models}  # type: ignore[dict-item]
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await built(pilot, app)
        await wait_until(pilot, lambda: "TypeError" in shown(app))
        assert "3 models" in shown(app)


async def test_coming_back_reads_the_runs_again(around: Around) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        await app.push_screen(Question(Static("x").render(), Static("y").render(), yes="yes"))  # type: ignore[arg-type]
        around.runs = [row("new")]
        app.pop_screen()
        await wait_until(pilot, lambda: "C  qwen3:8b" in shown(app))


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (200, 60)])
async def test_plain_characters_alone_where_they_are_wanted(around: Around, size: tuple[int, int]) -> None:
    """TUI-19."""
    around.runs = [row("a"), row("b")]
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        await settled(pilot, app)
        await pilot.press("tab", "space", "shift+tab")
        assert {"▸", "●", "☑", "‹", "─"} <= set(shown(app))
        app.action_ascii()
        await wait_until(pilot, lambda: not {"▸", "●", "☑", "☐", "‹", "─", "│"} & set(shown(app)))
        assert " > embedded" in shown(app) and "[x] probes" in shown(app) and "< quick 42+21 >" in shown(app)


async def test_what_is_chosen_can_be_told_without_colours(around: Around, monkeypatch: pytest.MonkeyPatch) -> None:
    """TUI-16."""
    monkeypatch.setenv("NO_COLOR", "1")
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        assert app.no_color and " ▸ embedded" in shown(app) and "☐ anchor" in shown(app)


async def test_start_and_quit_are_in_sight_at_the_smallest_size(around: Around) -> None:
    """TUI-15."""
    app = SelfdiagApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot, app)
        last = shown(app).split("\n")[-1]
        assert "start" in last and "q quit" in last
        await pilot.resize_terminal(40, 10)
        await pilot.press("down")
        assert chosen(app) == "gguf"


async def test_every_action_has_an_id_and_a_lower_case_description(around: Around) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, app)
        for _ in range(4):
            ours = [found.binding for found in app.screen.active_bindings.values() if found.binding.id]
            assert {"home.filter", "home.lab", "home.compare", "home.resume", "home.delete"} <= {b.id for b in ours}
            assert all(binding.description == binding.description.lower() for binding in ours)
            await pilot.press("tab")


@pytest.mark.parametrize(
    ("started", "words"),
    [
        ("2026-01-10T11:59:30Z", "just now"),
        ("2026-01-10T12:00:30Z", "just now"),
        ("2026-01-10T11:01:00Z", "59 min ago"),
        ("2026-01-10T09:50:00Z", "2 h ago"),
        ("2026-01-08T11:00:00Z", "2 d ago"),
        ("2025-11-01T11:00:00Z", "2025-11-01"),
        ("2026-01-10T11:00:00", ""),
        ("[/]", ""),
        ("", ""),
    ],
)
def test_ages(started: str, words: str) -> None:
    assert age(started, datetime(2026, 1, 10, 12, tzinfo=UTC)) == words


FIRST_PAINT = """
import asyncio, importlib.metadata, sys
asked = []
real = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda *words, **more: asked.append(1) or real(*words, **more)
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens.home import HomeScreen
HEAVY = ("numpy", "scipy", "httpx", "ollama", "textual_plot", "selfdiag.models.registry", "selfdiag.runs.plan")
seen = []

display = SelfdiagApp._display

def watched(self, screen, renderable):
    display(self, screen, renderable)
    if not seen and isinstance(screen, HomeScreen):
        strips = screen._compositor.render_strips()
        text = "".join(part.text for strip in strips for part in strip)
        if "which model?" in text:
            seen.append([name for name in HEAVY if name in sys.modules] + ["entry_points"] * len(asked))

SelfdiagApp._display = watched

async def main():
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(1000):
            await pilot.pause(0.02)
            picture = app.export_screenshot().replace("&#160;", " ")
            if asked and "personas to try" in picture:
                break
        else:
            print("nothing was found:", picture)
    print("before:", *seen[0])
    print("after:", *[name for name in HEAVY if name in sys.modules], "entry_points" if asked else "")

asyncio.run(main())
"""


def test_the_first_paint_waits_for_nothing_heavy(tmp_path: Path) -> None:
    env = {**os.environ, "SELFDIAG_HOME": str(tmp_path), "SELFDIAG_CACHE": str(tmp_path), "OLLAMA_HOST": "127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PAINT], capture_output=True, text=True, check=False, env=env, timeout=120
    )
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.splitlines()
    assert before.split() == ["before:"]
    assert "selfdiag.models.registry" in after and "entry_points" in after


def test_TUI_12_asyncio_is_not_held_up_by_work_in_the_background() -> None:
    from selfdiag.tui.background import in_background

    async def main() -> int:
        stuck = asyncio.ensure_future(in_background(threading.Event().wait))
        with pytest.raises(ZeroDivisionError):
            await in_background(lambda: 1 // 0)
        answer = await in_background(pow, 2, 5)
        stuck.cancel()
        return answer

    assert asyncio.run(main()) == 32
