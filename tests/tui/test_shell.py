"""The shell: what holds on every screen, and how the app begins and ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pexpect
import pytest
from aiohttp.test_utils import make_mocked_request
from aiohttp.web import HTTPForbidden
from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets._toast import Toast

from selfdiag import safety
from selfdiag.cli import serve as browser
from selfdiag.cli.app import open_app
from selfdiag.cli.serve import serve
from selfdiag.safety import SelfdiagError, remember_secret
from selfdiag.settings import config_path
from selfdiag.tui import app as shell
from selfdiag.tui.app import SelfdiagApp
from selfdiag.tui.choices import remembered
from selfdiag.tui.screens.help import HelpScreen
from selfdiag.tui.screens.jump import JumpScreen
from selfdiag.tui.text import block, line
from selfdiag.tui.themes import CONTRAST, DARK, LIGHT, TERMINAL
from selfdiag.tui.widgets.too_small import TooSmall
from tests.tui.waiting import wait_until

SIZES = [(80, 24), (120, 40)]
MARKUP = (
    "[/]",
    "[/INST]",
    "[/some/path]",
    "[link=http://x]y",
    "array[i]",
    "use [A-Z]+ here",
    "a [note] b",
    "[red]hi",
    "[/",
    "ZLEX [b + more",
    '{"a":[true]}',
    "[@click=app.quit]see source[/]",
    "日本語👩‍👩‍👧e\u0301",
)
CANARY = "sk-canary-0123456789abcdef"
LEAVE_ALT_SCREEN = "\x1b[?1049l"


class Plain(Screen[None]):
    """A home screen that looks for nothing."""

    def compose(self) -> ComposeResult:
        yield Static("which model?", id="title")
        yield Footer()


class Desk(Screen[None]):
    """A screen with something to type in and something to choose from."""

    HELP = "What this screen is for."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "mark('d')", "do the deed", id="desk.deed"),
        Binding("f5", "mark('hidden')", "do it unseen", show=False, id="desk.unseen"),
        Binding("x", "mark('never')", "never possible", id="desk.never"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[str] = []
        self.agrees = True
        self.closed = False

    def compose(self) -> ComposeResult:
        yield Input(id="field")
        yield Input(password=True, id="key")
        yield OptionList("one", "two", id="choice")
        yield Static("some text", id="text")
        yield Footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return parameters != ("never",)

    def action_mark(self, name: str) -> None:
        self.marks.append(name)

    async def leaving(self) -> bool:
        self.marks.append("asked")
        return self.agrees

    async def closing(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def plain_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "HomeScreen", Plain)


@pytest.fixture
def secret() -> Iterator[str]:
    before = set(safety._known_secrets)
    remember_secret(CANARY)
    yield CANARY
    safety._known_secrets.clear()
    safety._known_secrets.update(before)


def configured(text: str) -> None:
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text(text, encoding="utf-8")


def painted(app: SelfdiagApp) -> str:
    """Return what is on the screen, as text."""
    return "\n".join("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())


def toasts(app: SelfdiagApp) -> list[str]:
    return [toast._notification.message for toast in app.screen.query(Toast)]


async def desk(pilot: Any) -> Desk:
    screen = Desk()
    await pilot.app.push_screen(screen)
    await wait_until(pilot, lambda: pilot.app.screen is screen and screen.is_mounted)
    return screen


# Text that is not ours.


@pytest.mark.parametrize("size", SIZES)
async def test_TUI_01_02_03_foreign_text_is_shown_as_it_is(size: tuple[int, int]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        screen = await desk(pilot)
        for text in MARKUP:
            for content in (line(text), block(text)):
                screen.query_one("#text", Static).update(content)
                await pilot.pause()
                assert text in painted(app)


async def test_TUI_04_messages_with_brackets_are_told_literally() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        for text in ("closing [/INST] tag", '{"a":[true]}', "[/", "a [note] b"):
            app.clear_notifications()
            app.say(text)
            await wait_until(pilot, lambda text=text: text in painted(app))


async def test_TUI_05_a_link_in_foreign_text_does_nothing() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot)
        screen.query_one("#text", Static).update(line("[@click=app.quit]see source[/]"))
        await pilot.pause()
        await pilot.click("#text", offset=(22, 0))
        await pilot.pause()
        assert "asked" not in screen.marks
        assert app.is_running


async def test_TUI_06_no_escape_character_reaches_the_screen() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        screen = await desk(pilot)
        hostile = "\x1b[2J \x1b]0;owned\x07 \x1b]52;c;eA==\x07 \x00 \x7f"
        screen.query_one("#text", Static).update(block(hostile))
        app.say(hostile)
        await wait_until(pilot, lambda: toasts(app))
        await pilot.pause()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", painted(app))
        assert "\\x1b" in painted(app)


async def test_TUI_21_wide_characters_are_never_cut_in_half() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(60, 20)) as pilot:
        screen = await desk(pilot)
        screen.query_one("#text", Static).update(line("日本語👩‍👩‍👧e\u0301" * 30, 400))
        await pilot.pause()
        assert all(cell_len(row) == 60 for row in painted(app).split("\n"))


# Size, colour, characters.


@pytest.mark.parametrize("size", [(40, 10), (59, 20), (60, 19)])
async def test_TUI_15_too_small_is_said_and_taken_back(size: tuple[int, int]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        said = f"this is {size[0]}x{size[1]}"
        await wait_until(pilot, lambda: said in " ".join(painted(app).split()))
        assert "which model?" not in painted(app)
        await pilot.resize_terminal(60, 20)
        await wait_until(pilot, lambda: not app.screen.query(TooSmall))
        await wait_until(pilot, lambda: "which model?" in painted(app) and "quit" in painted(app))
        await pilot.resize_terminal(30, 8)
        await wait_until(pilot, lambda: app.screen.query(TooSmall))
        await desk(pilot)
        await wait_until(pilot, lambda: app.screen.query(TooSmall))
        await pilot.resize_terminal(80, 24)
        await wait_until(pilot, lambda: not any(screen.query(TooSmall) for screen in app.screen_stack))
        await pilot.press("ctrl+q")
        await wait_until(pilot, lambda: not app.is_running)
    assert app.return_value == 0


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_TUI_15_nothing_is_said_where_there_is_room(size: tuple[int, int]) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert not app.screen.query(TooSmall)


async def test_TUI_16_without_colour_everything_is_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.no_color
        shades = set(re.findall(r"-r\d+ \{ fill: #(\w{6})", app.export_screenshot())) - {"c5c8c6"}  # of the frame
        assert shades
        assert all(shade[:2] == shade[2:4] == shade[4:] for shade in shades)


@pytest.mark.parametrize(
    ("term", "colours", "theme"), [("linux", "", TERMINAL), ("linux", "truecolor", DARK.name), ("xterm", "", DARK.name)]
)
async def test_TUI_18_a_poor_console_keeps_its_own_colours(
    term: str, colours: str, theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLORTERM", colours)
    app = SelfdiagApp()
    async with app.run_test():
        assert app.theme == theme


async def test_TUI_19_plain_plots_can_be_switched_on() -> None:
    configured("[app]\nascii = true\n")
    app = SelfdiagApp()
    async with app.run_test(notifications=True) as pilot:
        assert app.ascii
        app.action_ascii()
        assert not app.ascii
        await wait_until(pilot, lambda: "fine characters" in toasts(app))


# Keys.


async def test_TUI_22_ctrl_c_copies_what_is_selected_and_else_says_how_to_quit(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    app = SelfdiagApp()
    monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        screen = await desk(pilot)
        screen.set_focus(None)
        await pilot.press("ctrl+c")
        await wait_until(pilot, lambda: "q quits; what was answered is always kept" in toasts(app))
        assert copied == []
        field = screen.query_one("#field", Input)
        field.focus()
        await pilot.press(*"words")
        await pilot.press("ctrl+c")
        assert copied == []
        field.action_select_all()
        await pilot.press("ctrl+c")
        assert copied == ["words"]
        await wait_until(pilot, lambda: any("terminal decides" in words for words in toasts(app)))
        screen.set_focus(None)
        screen.text_select_all()
        await pilot.press("ctrl+c")
        assert "some text" in copied[-1]
        assert app.is_running


async def test_TUI_22_a_key_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    app = SelfdiagApp()
    monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        screen = await desk(pilot)
        key = screen.query_one("#key", Input)
        key.value = CANARY
        key.focus()
        key.action_select_all()
        await pilot.press("ctrl+c")
        assert copied == []


async def test_TUI_24_letters_go_into_a_field_that_is_typed_in() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot)
        screen.query_one("#field", Input).focus()
        await pilot.press(*"qwend?")
        assert screen.query_one("#field", Input).value == "qwend?"
        assert screen.marks == []
        assert app.screen is screen


async def test_keys_are_those_of_the_config_file() -> None:
    configured('[app.keys]\n"desk.deed" = "f6"\n"app.quit" = "f10"\n')
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot)
        screen.query_one("#choice").focus()
        await pilot.press("d", "q")
        assert screen.marks == []
        await pilot.press("f6")
        assert screen.marks == ["d"]
        await pilot.press("f10")
        await wait_until(pilot, lambda: not app.is_running)
    assert app.return_value == 0


async def test_a_key_given_to_two_actions_is_told_once() -> None:
    configured('[app.keys]\n"desk.deed" = "f5"\n')
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await desk(pilot)
        await wait_until(pilot, lambda: toasts(app))
        await app.push_screen(HelpScreen(app.screen, None))
        await pilot.press("escape")
        await pilot.pause()
        assert toasts(app) == ["[app.keys] gives f5 to desk.deed and desk.unseen"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[app]\ntheme = 3\n", "[app]"),
        ("[app\n", "no TOML"),
        ('[app]\ntheme = "[/]pink"\n', "'[/]pink' is none of dark"),
    ],
)
async def test_a_damaged_config_is_told_and_the_app_opens(text: str, told: str) -> None:
    configured(text)
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await wait_until(pilot, lambda: toasts(app))
        assert told in toasts(app)[0]
        assert "which model?" in painted(app)


@pytest.mark.parametrize("focus", ["#choice", "#field"])
async def test_the_palette_has_every_action(focus: str) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot)
        screen.query_one(focus).focus()
        await pilot.pause()
        named = {command.title for command in app.get_system_commands(screen)}
        assert {"do the deed", "do it unseen", "help", "quit", "jump to a place", "suspend"} <= named
        assert {"theme: dark", "theme: light", "theme: contrast", "theme: terminal"} <= named
        assert "never possible" not in named


async def test_the_palette_does_what_is_picked() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot)
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: app.screen is not screen)
        await pilot.press(*"do the deed")
        await wait_until(pilot, lambda: app.screen.query_one(OptionList).option_count == 1)
        await pilot.press("enter", "enter")
        await wait_until(pilot, lambda: screen.marks == ["d"])


async def test_a_theme_is_switched_and_remembered() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)):
        assert app.theme == DARK.name
        for name, theme in (("contrast", CONTRAST.name), ("terminal", TERMINAL), ("light", LIGHT.name)):
            app.action_theme(name)
            assert app.theme == theme
    assert remembered().theme == "light"
    again = SelfdiagApp()
    async with again.run_test(size=(80, 24)):
        assert again.theme == LIGHT.name


async def test_help_names_the_nearest_keys_first() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await desk(pilot)
        screen.query_one("#choice").focus()
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: isinstance(app.screen, HelpScreen))
        shown = painted(app)
        assert shown.index("here") < shown.index("on this screen") < shown.index("everywhere")
        assert "What this screen is for." in shown
        assert re.search(r"d +do the deed +desk\.deed", shown)
        assert re.search(r"q +quit +app\.quit", shown)
        assert "never possible" not in shown
        assert "[app.keys]" in shown
        await pilot.press("escape")
        assert app.screen is screen


async def test_jump_reaches_everything_that_takes_the_focus() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot)
        screen.query_one("#choice").focus()
        await pilot.press("ctrl+j")
        await wait_until(pilot, lambda: isinstance(app.screen, JumpScreen))
        targets = app.screen._targets
        assert [target.id for target in targets.values()] == ["field", "key", "choice"]
        letter = next(letter for letter, target in targets.items() if target.id == "key")
        await pilot.press(letter)
        await wait_until(pilot, lambda: app.screen is screen)
        assert app.focused is screen.query_one("#key")
        await pilot.press("ctrl+j")
        await wait_until(pilot, lambda: isinstance(app.screen, JumpScreen))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is screen)
        assert app.focused is screen.query_one("#key")


# The end.


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_the_app_ends_with_0_once_every_screen_agrees(key: str) -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot)
        screen.query_one("#choice").focus()
        screen.agrees = False
        await app.push_screen(HelpScreen(screen, None))
        await pilot.press("escape") if key == "q" else await pilot.pause()
        await pilot.press(key)
        await wait_until(pilot, lambda: screen.marks == ["asked"])
        await pilot.pause()
        assert app.is_running
        screen.agrees = True
        await pilot.press(key)
        await wait_until(pilot, lambda: not app.is_running)
    assert app.return_value == 0


async def test_TUI_27_a_signal_closes_every_screen_without_a_question() -> None:
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await desk(pilot)
        await app.shut_down(130)
        await wait_until(pilot, lambda: not app.is_running)
        assert screen.closed
        assert screen.marks == []
    assert app.return_value == 130


async def test_TUI_31_no_key_in_a_picture(secret: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = SelfdiagApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        screen = await desk(pilot)
        screen.query_one("#key", Input).value = secret
        screen.query_one("#text", Static).update(f"a widget that shows {secret}")
        await pilot.pause()
        app.action_picture()
        await wait_until(pilot, lambda: list(tmp_path.glob("*.svg")))
        await wait_until(pilot, lambda: any(words.startswith("wrote") for words in toasts(app)))
    picture = next(tmp_path.glob("*.svg")).read_text(encoding="utf-8")
    assert "some" not in picture
    assert "shows" in picture
    assert secret not in picture
    assert CANARY[3:] not in picture


async def test_TUI_29_a_picture_that_cannot_be_written_is_told_and_the_old_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("selfdiag.tui.app.stamped", lambda what: "picture")
    (tmp_path / "picture.svg").write_text("the old one")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    app = SelfdiagApp()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        monkeypatch.setattr(os, "replace", full)
        monkeypatch.setattr(Path, "replace", full)
        app.action_picture()
        await wait_until(pilot, lambda: any("No space left on device" in words for words in toasts(app)))
    assert (tmp_path / "picture.svg").read_text() == "the old one"
    assert [path.name for path in tmp_path.iterdir() if path.suffix] == ["picture.svg"]


FAULTY = """
import sys
from selfdiag.cli.app import open_app
from selfdiag.safety import remember_secret
from selfdiag.tui import app as shell
from textual.screen import Screen
from rich.console import Console

CANARY = "canary" + "0123456789abcdef"

class Faulty(Screen):
    def on_mount(self):
        {how}

    async def work(self):
        key = CANARY
        remember_secret(key)
        raise ValueError(f"no good: {{key}}")

    def print_it(self):
        local = CANARY
        self.app.panic(f"here is {{local}}")

shell.HomeScreen = Faulty
sys.exit(open_app("", ""))
"""


@pytest.mark.parametrize(
    "how",
    ["self.run_worker(self.work())", "self.call_later(self.work)", "self.call_later(self.print_it)"],
)
def test_TUI_07_the_end_by_a_fault_shows_no_local_variable(how: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAULTY.format(how=how)],
        env={**os.environ, "TEXTUAL_DRIVER": "textual.drivers.headless_driver:HeadlessDriver"},
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 4
    assert "canary0123456789abcdef" not in done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert "what was answered is kept" in done.stderr
    if "work" in how:
        assert "ValueError" in done.stderr


# The process: on a terminal of its own, and without one.

PLAIN = """
import asyncio
import sys
from textual.screen import Screen
from textual.widgets import Static
from selfdiag.cli.app import open_app
from selfdiag.tui import app as shell

class Home(Screen):
    def compose(self):
        yield Static("which model?")

    async def closing(self):
        # more frames than wait for a terminal that takes none
        for frame in range(40):
            self.query_one(Static).update(str(frame))
            await asyncio.sleep(0.02)
        print("closed", file=open("closed.txt", "w"))

shell.HomeScreen = Home
sys.exit(open_app())
"""


class OnTerminal:
    """The app on a pseudo-terminal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = pexpect.spawn(
            sys.executable,
            ["-c", PLAIN],
            env={**os.environ, "TERM": "xterm-256color"},
            dimensions=(24, 80),
            timeout=30,
            encoding="utf-8",
            codec_errors="replace",
            cwd=str(folder),
        )
        self.process.expect("which model")

    def state(self) -> str:
        return Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def ended(self) -> int:
        self.process.expect(pexpect.EOF)
        self.process.close()
        assert self.process.exitstatus is not None
        return self.process.exitstatus


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[OnTerminal]:
    app = OnTerminal(tmp_path)
    yield app
    if app.process.child_fd >= 0:
        app.process.close(force=True)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_q_ends_the_process_with_0_and_gives_the_terminal_back(terminal: OnTerminal) -> None:
    terminal.process.send("q")
    terminal.process.expect(re.escape(LEAVE_ALT_SCREEN))
    assert terminal.ended() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_TUI_27_a_signal_ends_the_process_in_order(terminal: OnTerminal, number: int) -> None:
    terminal.process.kill(number)
    terminal.process.expect(re.escape(LEAVE_ALT_SCREEN))
    assert terminal.ended() == 130
    assert (terminal.folder / "closed.txt").read_text() == "closed\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_TUI_27_a_terminal_that_hangs_up_ends_the_process_in_order(terminal: OnTerminal) -> None:
    terminal.process.ptyproc.fileobj.close()  # the descriptor alone would be closed once more
    terminal.process.child_fd = -1
    terminal.process.closed = True
    deadline = time.monotonic() + 20
    ended = 0
    while not ended and time.monotonic() < deadline:
        ended, status = os.waitpid(terminal.process.pid, os.WNOHANG)
    assert ended
    assert os.waitstatus_to_exitcode(status) == 130
    assert (terminal.folder / "closed.txt").read_text() == "closed\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it looks at /proc")
def test_ctrl_z_suspends_and_the_app_comes_back(terminal: OnTerminal) -> None:
    terminal.process.send("\x1a")
    terminal.process.expect(re.escape(LEAVE_ALT_SCREEN))
    deadline = time.monotonic() + 20
    while terminal.state() != "T":
        assert time.monotonic() < deadline
    terminal.process.kill(signal.SIGCONT)
    terminal.process.expect(re.escape("\x1b[?1049h"))
    terminal.process.expect("which")
    terminal.process.send("q")
    assert terminal.ended() == 0


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"TERM": "xterm-256color"}])
def test_TUI_17_without_a_terminal_there_is_one_line_and_no_escape(variables: dict[str, str], tmp_path: Path) -> None:
    code = (
        "from types import SimpleNamespace; import selfdiag.cli.main as line; from selfdiag.cli.app import open_app\n"
        "line.selfdiag = SimpleNamespace(main=lambda **_: open_app())\nline.main()"
    )
    with (tmp_path / "out").open("w") as out:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert (tmp_path / "out").read_text() == ""
    assert "\x1b" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "selfdiag run MODEL" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_TUI_17_a_dumb_terminal_gets_no_escape(tmp_path: Path) -> None:
    code = "from selfdiag.cli.app import open_app\ntry: open_app()\nexcept Exception as fault: print('REFUSED', fault)"
    process = pexpect.spawn(
        sys.executable,
        ["-c", code],
        env={**os.environ, "TERM": "dumb"},
        encoding="utf-8",
        timeout=30,
        cwd=str(tmp_path),
    )
    process.expect(pexpect.EOF)
    assert "REFUSED the app needs a terminal, and TERM says" in process.before
    assert "\x1b" not in process.before


def test_a_terminal_is_wanted_before_anything_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfdiag.cli.app._missing", lambda: "stdout is none")
    monkeypatch.setattr("selfdiag.tui.app.SelfdiagApp", _must_not_be_made)
    with pytest.raises(SelfdiagError, match="stdout is none"):
        open_app("persona:blind")


def _must_not_be_made(*_: object) -> Callable[..., None]:
    raise AssertionError("the app was made")


# The app in a browser.


def test_serve_without_its_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    with pytest.raises(SelfdiagError, match=r"pip install \"selfdiag\[web\]\""):
        serve.main([], standalone_mode=False)


def test_serve_says_that_its_port_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SelfdiagError, match=f"port {port} cannot be used"):
            browser._must_be_free(port)


@pytest.mark.parametrize(
    ("host", "origin", "local"),
    [
        ("127.0.0.1:8642", None, True),
        ("localhost:8642", "http://localhost:8642", True),
        ("127.0.0.1:8642", "http://127.0.0.1:8642", True),
        ("elsewhere.example:8642", None, False),
        ("127.0.0.1:8000", None, False),
        ("127.0.0.1:8642", "http://elsewhere.example", False),
        ("127.0.0.1:8642", "http://127.0.0.1:8000", False),
        ("127.0.0.1:8642", "null", False),
        ("192.0.2.1:8642", "http://192.0.2.1:8642", False),
    ],
)
def test_serve_answers_pages_from_here_alone(host: str, origin: str | None, local: bool) -> None:
    headers = {"Host": host} | ({} if origin is None else {"Origin": origin})
    request = make_mocked_request("GET", "/", headers=headers)
    if local:
        browser._must_be_local(request, 8642)
    else:
        with pytest.raises(HTTPForbidden):
            browser._must_be_local(request, 8642)


def test_serve_starts_the_app_with_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/a place/python")
    monkeypatch.setattr(sys, "platform", "linux")
    assert browser._command() == "'/a place/python' -m selfdiag"
