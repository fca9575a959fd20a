"""What a terminal can show, and what becomes of the app when it is small, poor, foreign, or gone."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pexpect
import pytest
from textual.widgets._toast import Toast

import selfdiag
from selfdiag.cli.exit_codes import ExitCode
from selfdiag.runs.store import read_run
from selfdiag.settings import config_path
from selfdiag.tui import terminal
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.screens.compare import CompareScreen
from selfdiag.tui.screens.item import ItemScreen
from selfdiag.tui.screens.lab import LabScreen
from selfdiag.tui.screens.results import ResultsScreen
from tests.tui.asked import text_of
from tests.tui.cases_world import PLAIN, Seen, look, walked, world
from tests.tui.result_runs import audit_run
from tests.tui.waiting import wait_until

SIZE, SMALLEST, TOO_SMALL = (80, 24), (60, 20), (40, 10)
SQUEEZED = (
    "home 0",
    "home run 0",
    "delete 0",
    "run",
    "stop",
    "results calibration",
    "results traps",
    "results items",
    "results of the run",
    "results of nothing",
    "export",
    "help",
    "item 0",
    "pick a run",
    "compare 0",
    "lab 0",
    "topics",
)
"""What is looked at in smaller sizes too."""
ENDS_IN = 5.0
"""Seconds from the last key to the end: two are allowed, the rest is for a busy machine."""
ON_TERMINALS = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")


# Every screen: without colours, with ASCII alone, and small.


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """Every screen as it is without colours and with ASCII alone, at three sizes."""

    async def go() -> dict[str, Seen]:
        found: dict[str, Seen] = {}
        app = SelfdiagApp()
        app.ascii = True
        async with app.run_test(size=SIZE, notifications=True) as pilot:

            async def looked(name: str) -> None:
                await pilot.pause()
                found[name] = look(app, name)
                if name in SQUEEZED:
                    await squeezed(name)

            async def squeezed(name: str) -> None:
                for width, height in (SMALLEST, TOO_SMALL):
                    await pilot.resize_terminal(width, height)
                    await wait_until(pilot, lambda width=width: is_laid_out(width))
                    found[f"{name} {width}"] = look(app, name)
                await pilot.resize_terminal(*SIZE)
                await wait_until(pilot, lambda: is_laid_out(SIZE[0]) and "too small" not in text_of(app))

            def is_laid_out(width: int) -> bool:
                said = width >= SMALLEST[0] or "too small" in text_of(app)
                return app.screen.size.width == width and said and not app.screen._dirty_widgets

            await walked(pilot, here, looked, each=False)
        assert not app.fault
        return found

    with world(tmp_path_factory.mktemp("plain"), PLAIN) as here, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")
        return asyncio.run(go())


def test_TUI_15_the_main_action_and_the_end_are_in_sight_on_a_small_screen(seen: dict[str, Seen]) -> None:
    wanted = {
        "home 0": "start",
        "home run 0": "open",
        "run": "pause",
        "results calibration": "back",
        "results items": "open",
        "results traps": "open",
        "item 0": "back",
        "compare 0": "open",
        "lab 0": "send",
    }
    for name, action in wanted.items():
        last = seen[f"{name} 60"].rows[-1]
        assert action in last and "q quit" in last, f"{name}: {last}"
    for name, action in {
        "delete 0": "delete",
        "stop": "stop and keep",
        "export": "write",
        "pick a run": "compare",
    }.items():
        shown = seen[f"{name} 60"].text
        assert f"enter {action}" in shown and "esc back" in shown, shown


def test_TUI_15_a_screen_too_small_says_so_and_how_to_quit(seen: dict[str, Seen]) -> None:
    small = {name: one for name, one in seen.items() if name.endswith(" 40")}
    assert len(small) == len(SQUEEZED)
    for name, one in small.items():
        assert "this is 40x10" in one.text and "q quits" in one.text, name
        assert len(one.rows) == 10


def test_TUI_16_right_wrong_and_abstained_differ_by_sign_and_word(seen: dict[str, Seen]) -> None:
    for name in ("results items", "results items 60"):
        shown = seen[name].text
        assert all(re.search(words, shown) for words in (r"\+ right", r"x wrong", r"o abstained", r"\? not read"))
    assert "! missed" in seen["results items, its end"].text
    assert re.search(r"\+ right|x wrong", seen["run"].text)
    assert "+ right" in seen["item 0"].text
    assert re.search(r"\+ right \d+", seen["compare 0"].text)


def test_TUI_16_without_colour_everything_is_grey(seen: dict[str, Seen]) -> None:
    for name, one in seen.items():
        shades = set(re.findall(r"fill(?:: |=\")#(\w{6})", one.picture)) - {"c5c8c6", "ff5f57", "febc2e", "28c840"}
        assert shades  # those left out are of the window that a picture is framed with
        assert all(shade[:2] == shade[2:4] == shade[4:] for shade in shades), f"{name}: {shades}"


def test_TUI_19_plots_borders_and_signs_are_of_ascii_alone(seen: dict[str, Seen]) -> None:
    for name, one in seen.items():
        assert not {char for char in one.text if not char.isascii() and char != "\n"}, name


async def test_TUI_19_fine_signs_come_back(tmp_path: Path) -> None:
    app = SelfdiagApp()
    app.ascii = True
    async with app.run_test(size=SIZE) as pilot:
        app.open_results(audit_run(tmp_path / "run"))
        await wait_until(pilot, lambda: isinstance(app.screen, ResultsScreen) and app.screen._measured)
        await pilot.press("7")
        await wait_until(pilot, lambda: "+ right" in text_of(app))
        app.action_ascii()
        await wait_until(pilot, lambda: "✓ right" in text_of(app) and "✗ wrong" in text_of(app))
        app.action_ascii()
        await wait_until(pilot, lambda: text_of(app).isascii())


# What the app learns of its terminal.


@pytest.mark.parametrize(
    ("term", "colours", "encoding", "setting", "theme", "plain"),
    [
        ("xterm-256color", "truecolor", "utf-8", "", "dark", False),
        ("linux", "", "utf-8", "", "terminal", True),
        ("linux", "truecolor", "utf-8", "", "dark", False),
        ("linux", "", "utf-8", "ascii = false", "terminal", False),
        ("xterm", "", "cp1252", "", "dark", True),
        ("xterm", "", "cp437", "", "dark", True),
        ("xterm", "", "latin-1", "", "dark", True),
        ("xterm", "", "no-such-page", "", "dark", True),
        ("xterm", "", "utf-8", "ascii = true", "dark", True),
    ],
)
async def test_TUI_18_19_20_a_poor_terminal_gets_what_it_can_show(
    term: str, colours: str, encoding: str, setting: str, theme: str, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stream:
        pass

    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLORTERM", colours)
    stream = Stream()
    stream.encoding = encoding  # type: ignore[attr-defined]
    monkeypatch.setattr(terminal.sys, "__stderr__", stream)
    config_path().parent.mkdir(parents=True)
    config_path().write_text(f"[app]\n{setting}\n", encoding="utf-8")
    app = SelfdiagApp()
    monkeypatch.undo()
    assert app.ascii is plain
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLORTERM", colours)
    assert app._first_theme() == theme


def test_TUI_20_every_file_that_is_opened_as_text_names_its_encoding() -> None:
    unnamed = [
        f"{path.name}:{node.lineno}"
        for path in sorted(Path(selfdiag.__file__).parent.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _opens_text(node) and not _names_encoding(node)
    ]
    assert unnamed == []


def _opens_text(call: ast.Call) -> bool:
    """Return whether a call reads or writes text; members of archives and screens are opened by other words."""
    words = [
        node.value for node in (*call.args, *(word.value for word in call.keywords)) if isinstance(node, ast.Constant)
    ]
    binary = any(isinstance(word, str) and re.fullmatch(r"[rwxab+]*b[rwxab+]*", word) for word in words)
    if isinstance(call.func, ast.Name):
        return call.func.id == "open" and not binary
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = getattr(call.func.value, "id", "")
    if call.func.attr in {"open", "fdopen"}:
        return not binary and (owner, call.func.attr) != ("os", "open") and owner not in {"self", "wheel"}
    return call.func.attr in {"read_text", "write_text"}


def _names_encoding(call: ast.Call) -> bool:
    return any(word.arg == "encoding" for word in call.keywords)


# Copying.


@pytest.mark.parametrize(
    ("screen", "key", "file"),
    [("results", "e", "e saves"), ("item", "w", "w saves"), ("compare", "e", "e writes"), ("lab", "s", "s writes")],
)
async def test_TUI_23_beside_a_copy_there_is_always_a_file(
    screen: str, key: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = audit_run(tmp_path / "run")
    kinds = {"results": ResultsScreen, "item": ItemScreen, "compare": CompareScreen, "lab": LabScreen}
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        {
            "results": lambda: app.open_results(folder),
            "item": lambda: app.open_item(folder, read_run(folder).manifest.plan[0].call_id),
            "compare": lambda: app.open_compare((folder, folder)),
            "lab": lambda: app.open_lab("persona:blind"),
        }[screen]()
        await wait_until(pilot, lambda: isinstance(app.screen, kinds[screen]) and app.screen.check_action("copy", ()))
        await wait_until(pilot, lambda: screen != "lab" or app.screen._probes)
        await pilot.press("y")
        await wait_until(pilot, lambda: app.screen.query(Toast))
        told = app.screen.query_one(Toast)._notification.message
        assert told.startswith("sent to the terminal")
        assert "whether it was copied, the terminal decides" in told and file in told, told
        assert app.clipboard
        assert key in {binding.key for binding in app.screen._bindings.key_to_bindings[key]}


# Real processes on a terminal.

# a size in the environment, as parallel workers set one, goes before the terminal's own
_NOT_HANDED_ON = {"COLORTERM", "COLUMNS", "LC_ALL", "LINES", "NO_COLOR"}
SCRIPT = """
import socket, sys, time
from selfdiag.cli.app import open_app
from selfdiag.models import registry
from selfdiag.runs.records import RunSettings
from selfdiag.tui.app import SelfdiagApp

first, found = SelfdiagApp.on_mount, socket.getaddrinfo

def on_mount(self):
    first(self)
    if len(sys.argv) > 1:
        self.call_later(self.open_run, RunSettings(model="openai:far", base_url=sys.argv[1]))

def slow(host, *words, **more):
    if "slow.invalid" in str(host):
        print("looking up", file=open("asked.txt", "w"))
        time.sleep(120)
    return found(host, *words, **more)

SelfdiagApp.on_mount = on_mount
socket.getaddrinfo = slow
registry.discovered = lambda provider="": []
sys.exit(open_app())
"""


@contextmanager
def opened(folder: Path, *words: str, size: tuple[int, int] = SIZE, **variables: str) -> Iterator[pexpect.spawn]:
    """The app in a process of its own; a name ending in slow.invalid takes two minutes to look up."""
    env = {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON}
    process = pexpect.spawn(
        sys.executable,
        ["-c", SCRIPT, *words],
        env={**env, "TERM": "xterm-256color", **variables},
        dimensions=size[::-1],
        timeout=60,
        encoding="utf-8",
        codec_errors="replace",
        cwd=str(folder),
    )
    process.logfile_read = written = _Written()
    process.written = written
    try:
        yield process
    finally:
        process.close(force=True)


class _Written(list[str]):
    """All that a process has written."""

    def write(self, text: str) -> None:
        self.append(text)

    def flush(self) -> None:
        pass


def quits(process: pexpect.spawn, key: str = "") -> None:
    """Press a key if one is named; the process must have ended long before the look-up has."""
    process.send(key)
    process.expect(pexpect.EOF, timeout=ENDS_IN)
    process.close()


@ON_TERMINALS
def test_TUI_12_q_waits_for_no_name_that_is_being_looked_up(tmp_path: Path) -> None:
    with opened(tmp_path, "http://slow.invalid:8080/v1") as process:
        process.expect("before it starts")
        process.send("\r")
        process.expect("connecting|warming up")
        until = time.monotonic() + 30
        while not (tmp_path / "asked.txt").exists():
            assert time.monotonic() < until
            with suppress(pexpect.TIMEOUT):
                process.expect(pexpect.EOF, timeout=0.05)
        process.send("q")
        process.expect(r"Stop and quit\?")
        quits(process, "\r")
        assert process.exitstatus == ExitCode.OK


@ON_TERMINALS
def test_TUI_15_22_a_terminal_that_grows_again_shows_what_it_showed(tmp_path: Path) -> None:
    with opened(tmp_path) as process:
        process.expect("last audits")
        for size, other in (((10, 40), (24, 80)), ((19, 60), (20, 60)), ((24, 59), (40, 120))):
            process.setwinsize(*size)
            process.expect("too small")
            process.setwinsize(*other)
            process.expect("last audits")
        # through several sizes at once, as when a window is dragged
        for size in ((10, 40), (12, 50), (15, 55), (30, 90)):
            process.setwinsize(*size)
        process.expect("last audits")
        process.send("\x03")
        process.expect("q quits")
        assert process.isalive(), "TUI-22: Ctrl+C alone ends nothing"
        quits(process, "q")
        assert process.exitstatus == ExitCode.OK


@ON_TERMINALS
@pytest.mark.parametrize(
    "variables", [{"TERM": "linux"}, {"PYTHONIOENCODING": "cp1252"}, {"PYTHONIOENCODING": "cp437:strict"}]
)
def test_TUI_18_20_a_poor_terminal_is_written_to_in_its_own_characters(
    variables: dict[str, str], tmp_path: Path, own_home: Path
) -> None:
    audit_run(own_home / "runs" / "one", probes=2, traps=0, model="openai:日本語 ✓")
    with opened(tmp_path, **variables) as process:
        process.expect("last audits")
        process.expect("openai:")
        quits(process, "q")
        assert process.exitstatus == ExitCode.OK
        written = "".join(process.written)
    if variables.get("TERM") == "linux":
        assert set(written) - {char for char in written if char.isascii()} <= set("日本語"), "of the name alone"
        colours = re.findall(r"\x1b\[([0-9;]*)m", written)
        assert colours and not [code for code in colours if re.search(r"(^|;)[34]8;", code)], "16 colours and no more"
        assert not [code for code in colours if re.search(r"(^|;)2(;|$)", code) and code != "0"], "nothing dim"
    else:
        assert written.isascii()
        assert "openai:??? " in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written)


@ON_TERMINALS
def test_TUI_27_hanging_up_while_a_name_is_looked_up_ends_the_process(tmp_path: Path) -> None:
    with opened(tmp_path, "http://slow.invalid:8080/v1") as process:
        process.expect("before it starts")
        process.send("\r")
        process.expect("connecting|warming up")
        process.kill(signal.SIGHUP)
        quits(process)
        assert process.exitstatus == ExitCode.INTERRUPTED
