"""The terminal app: which screens there are, and the actions that hold on all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from rich.console import RenderableType
from textual import events
from textual.actions import ActionParseResult
from textual.app import App, ScreenStackError, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen
from textual.widget import MountError, Widget
from textual.worker import Worker, WorkerFailed

from selfdiag.safety import SelfdiagError, one_line, redact, without_secrets
from selfdiag.tui.actions import Action, actions_of, nodes_of
from selfdiag.tui.choices import Choices, Preferences, preferences, remember, remembered
from selfdiag.tui.saving import save_here, stamped
from selfdiag.tui.screens.home import HomeScreen
from selfdiag.tui.screens.palette import Palette
from selfdiag.tui.terminal import Harmless, Plain, has_few_characters, has_few_colours
from selfdiag.tui.themes import NAMES, TERMINAL, THEMES
from selfdiag.tui.widgets.too_small import LOWEST, NARROWEST, TooSmall, fits

if TYPE_CHECKING:
    from selfdiag.runs.plan import Plan
    from selfdiag.runs.records import RunSettings

PATIENCE = 1.5
"""So many seconds a screen has to stop what it does when the app must end."""


class SelfdiagApp(App[int]):
    """selfdiag at a terminal.

    A screen that asks a model may define ``async leaving() -> bool``, which asks the person whether to leave it, and
    ``async closing() -> None``, which stops asking and keeps what is answered without a question.

    Args:
        model: chosen on the home screen from the start, if named.
        base_url: of its server.
    """

    TITLE = "selfdiag"
    message_seconds: ClassVar[float] = 6
    """So long a short message stays."""
    CSS_PATH = "app.tcss"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual's own declaration
        (0, "-too-narrow"),
        (NARROWEST, "-narrow"),
        (110, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 - as above
        (0, "-too-low"),
        (LOWEST, "-low"),
        (34, "-high"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", id="app.help"),
        Binding("q", "leave", "quit", id="app.quit"),
        Binding("ctrl+q", "quit", "quit from anywhere", show=False, id="app.quit_from_anywhere", priority=True),
        Binding("ctrl+c", "copy_or_tell", "copy what is selected", show=False, id="app.copy", priority=True),
        Binding("ctrl+p", "command_palette", "all actions", show=False, id="app.palette", priority=True),
        Binding("ctrl+j", "jump", "jump to a place", show=False, id="app.jump"),
        Binding("ctrl+z", "suspend_process", "suspend", show=False, id="app.suspend"),
    ]

    def __init__(self, model: str = "", base_url: str = "") -> None:
        super().__init__()
        self.choices = remembered()
        if model:
            self.choices = msgspec.structs.replace(self.choices, model=model, base_url=base_url)
        self.trouble = ""
        try:
            self.preferences = preferences()
        except SelfdiagError as error:
            self.preferences = Preferences()
            self.trouble = str(error)
        wanted = self.preferences.ascii
        self.ascii = has_few_characters() if wanted is None else wanted
        self._last_looks = Harmless(), Plain()
        self.fault = ""
        self._clashes: set[str] = set()
        self._begin_in(NAMES[self._first_theme()])

    def _begin_in(self, name: str) -> None:
        """Take a theme before the styles are read: taken later, it has all of them read a second time."""
        for theme in THEMES:
            self.register_theme(theme)
        if name == TERMINAL:
            return  # Textual draws otherwise in it, and sets that up when the theme changes
        self.set_reactive(SelfdiagApp.theme, name)
        self.stylesheet.set_variables(self.get_css_variables())
        self.set_class(self.current_theme.dark, "-dark-mode", update=False)
        self.set_class(not self.current_theme.dark, "-light-mode", update=False)

    def on_mount(self) -> None:
        """Show the home screen in the person's theme and with their keys."""
        self.theme = NAMES[self._first_theme()]
        if self.preferences.keys:
            self.set_keymap(self.preferences.keys)
        self.animation_level = "none"
        self.screen_change_signal.subscribe(self, self._changed)
        self.push_screen(HomeScreen())
        if self.trouble:
            self.say(self.trouble, severity="warning")

    def _first_theme(self) -> str:
        wanted = self.preferences.theme
        if wanted and wanted not in NAMES:
            self.trouble = f"[app] theme: {one_line(wanted, 40)!r} is none of {', '.join(NAMES)}"
            wanted = ""
        remembered = self.choices.theme if self.choices.theme in NAMES else "dark"
        return wanted or ("terminal" if has_few_colours() else remembered)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what every line goes through before it is sent to the terminal."""
        harmless, plain = self._last_looks
        filters: Sequence[LineFilter] = super().get_line_filters()
        if self.native_ansi_color:
            # Textual chooses at the start, when the theme is another one; the terminal's own colours it makes all black
            filters = [NoColor() if isinstance(one, Monochrome) else one for one in filters]
        return [*filters, harmless, *([plain] if self.ascii else [])]

    def _changed(self, screen: Screen[object]) -> None:
        self.call_later(self._fit)
        self.call_later(self._tell_clashes, screen)

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002 - Textual looks at the signature
        """Say that the terminal is too small, or take that back."""
        self.call_later(self._fit)  # the size is the new one only after this

    def _fit(self) -> None:
        """Cover the screen where nothing fits on it, and uncover it when it does again."""
        if not self.is_running or self._exit:
            return
        for screen in self.screen_stack:
            if not screen.is_mounted:
                screen.call_later(self._fit)
                continue
            covers = screen.query(TooSmall)
            if fits(self.size):
                covers.remove()
            elif covers:
                covers.first().update(TooSmall.words(self.size))
            elif screen is self.screen:
                screen.mount(TooSmall(self.size))

    def say(self, message: str, *, severity: str = "information") -> None:
        """Show a short message; whatever stands in it is literal text."""
        shown = one_line(message, 400)
        self.notify(shown, severity=severity, markup=False, timeout=self.message_seconds)  # type: ignore[arg-type]

    def keep(self, choices: Choices) -> None:
        """Remember choices for the next start."""
        self.choices = choices
        remember(choices)

    # Each screen's module is imported when it is first shown: the home screen must not wait for any of them.

    def open_run(self, settings: RunSettings, *, plan: Plan | None = None, resume: Path | None = None) -> None:
        """Ask a model, or go on with a run."""
        from selfdiag.tui.screens.run import RunScreen

        self.push_screen(RunScreen(settings, plan=plan, resume=resume))

    def open_results(self, folder: Path, *, instead: bool = False) -> None:
        """Show what a run came to; ``instead`` of the screen that is there, or above it."""
        from selfdiag.tui.screens.results import ResultsScreen

        screen = ResultsScreen(folder)
        if instead:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def open_item(self, folder: Path, call_id: str) -> None:
        """Show one reply of a run with everything that is known of it."""
        from selfdiag.tui.screens.item import ItemScreen

        self.push_screen(ItemScreen(folder, call_id))

    def open_lab(self, model: str, base_url: str = "", item_id: str = "") -> None:
        """Open the lab on a model, and on an item if one is named."""
        from selfdiag.tui.screens.lab import LabScreen

        self.push_screen(LabScreen(model, base_url, item_id))

    def open_compare(self, folders: tuple[Path, ...]) -> None:
        """Compare runs."""
        from selfdiag.tui.screens.compare import CompareScreen

        self.push_screen(CompareScreen(folders))

    # Keys and clicks may come faster than screens are built and taken away.

    async def on_event(self, event: events.Event) -> None:
        """Take in an event, but no button pressed on what is painted still and gone already."""
        if isinstance(event, events.MouseDown) and self.screen_stack:
            widget, _ = self.screen.get_widget_and_offset_at(event.x, event.y)
            if widget is not None and not widget.is_attached:
                return
        await super().on_event(event)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do something, but not on what is not built yet, is gone already, or has another screen above it."""
        node = default_namespace
        if isinstance(node, Widget) and not (node.is_mounted and node.is_attached and node.screen is self.screen):
            return True
        return await super().run_action(action, default_namespace, namespaces)

    def pop_screen(self) -> AwaitComplete:
        """Take away the screen on top."""
        self._end_work(self.screen)
        return super().pop_screen()

    def switch_screen(self, screen: Screen[Any] | str) -> AwaitComplete:
        """Show a screen in place of the one on top."""
        self._end_work(self.screen)
        return super().switch_screen(screen)

    def _end_work(self, screen: Screen[object]) -> None:
        """Give up what a screen has begun: its widgets are taken apart one by one, and work would find some gone."""
        for node in screen.walk_children(with_self=True):
            self.workers.cancel_node(node)

    def action_command_palette(self) -> None:
        """Show every action."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(Palette())  # without Textual's id: the one before may still be going

    def get_key_display(self, binding: Binding) -> str:
        """Return how a key is shown: by a word where its sign is no plain character."""
        shown = super().get_key_display(binding)
        return shown.replace("⏎", "enter") if self.ascii else shown

    def action_help(self) -> None:
        """Show what can be done here."""
        from selfdiag.tui.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen, self.focused))

    def action_jump(self) -> None:
        """Put a letter over everything that can be reached, and go where one is pressed."""
        from selfdiag.tui.screens.jump import JumpScreen

        targets = [widget for widget in self.screen.focus_chain if widget.region.area]
        if targets:
            self.push_screen(JumpScreen(targets))

    def action_leave(self) -> None:
        """Leave the app; screens that are asking a model are asked first, the top one before the others."""
        # in a worker: a screen may show a question and wait for its answer
        _: Worker[None] = self.run_worker(self._leave, group="leaving")

    async def action_quit(self) -> None:
        """Do the same for Textual's own way to quit."""
        self.action_leave()

    async def _leave(self) -> None:
        for screen in reversed(self.screen_stack):
            leaving = getattr(screen, "leaving", None)
            if leaving is not None and not await leaving():
                return
        self.exit(0)

    async def shut_down(self, code: int) -> None:
        """End the app without a question, because a signal says so; what was answered is kept.

        Args:
            code: the process's exit code.
        """
        closings = (getattr(screen, "closing", None) for screen in reversed(self.screen_stack))
        tasks = [asyncio.ensure_future(closing()) for closing in closings if closing is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=PATIENCE)
        self.exit(code)

    def action_copy_or_tell(self) -> None:
        """Copy what is selected, or say how to quit: a run is never ended by Ctrl-C alone."""
        field = self.focused
        selected = getattr(field, "selected_text", "") or self.screen.get_selected_text()
        if getattr(field, "password", False):
            self.say("a key is not copied")
        elif selected:
            self.copy_to_clipboard(selected)
            self.say("sent to the terminal; whether it was copied, the terminal decides. ctrl+p saves a picture")
        else:
            self.say("q quits; what was answered is always kept")

    def action_theme(self, name: str) -> None:
        """Show the app in another theme, and remember it."""
        self.theme = NAMES[name]
        self.keep(msgspec.structs.replace(self.choices, theme=name))

    def action_ascii(self) -> None:
        """Draw with plain characters, or with fine ones again."""
        self.ascii = not self.ascii
        self.refresh_css()
        for screen in self.screen_stack:
            for widget in screen.walk_children(with_self=True):
                widget.refresh(layout=True)
            screen.refresh_bindings()
        self.say("plain characters" if self.ascii else "fine characters")

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return every action for the palette: those of the focused widget, of the screen, then of the app."""
        for node in nodes_of(screen, screen.focused):
            for action in actions_of(node, self.preferences.keys):
                if action.id and action.action != "command_palette":
                    keys = " ".join(self.get_key_display(key) for key in action.keys)
                    yield SystemCommand(action.description, f"key: {keys}", lambda action=action: self._do(action))
        for name in NAMES:
            yield SystemCommand(f"theme: {name}", "colours of the app", lambda name=name: self.action_theme(name))
        yield SystemCommand("plain characters", "ASCII alone, or fine signs again", self.action_ascii)
        yield SystemCommand("save a picture", "the screen as an SVG file", self.action_picture)

    def _do(self, action: Action) -> None:
        self.call_later(self.run_action, action.action, action.node)

    def _tell_clashes(self, screen: Screen[object]) -> None:
        """Say once that a person has given one key to two actions, of which only one can have it."""
        chosen = self.preferences.keys
        for node in nodes_of(screen, screen.focused) if chosen else ():
            by_key: dict[str, set[str]] = {}
            for action in actions_of(node, chosen):
                for key in action.keys:
                    by_key.setdefault(key.key, set()).add(action.id)
            for name, ids in by_key.items():
                words = f"[app.keys] gives {name} to {' and '.join(sorted(ids))}"
                if len(ids) > 1 and ids & chosen.keys() and words not in self._clashes:
                    self._clashes.add(words)
                    self.say(words, severity="warning")

    def action_picture(self) -> None:
        """Save the screen as an SVG file in the working folder."""
        self.clear_notifications()
        self.call_after_refresh(self._save_picture)

    def _save_picture(self) -> None:
        save_here(self, {f"{stamped('screen')}.svg": self.export_screenshot().encode()})

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """Return the screen as SVG that fetches nothing; no known key stands in it, whatever a widget shows."""
        from selfdiag.tui.svg_file import self_contained

        return self_contained(without_secrets(super().export_screenshot(title=title, simplify=simplify)))

    def _handle_exception(self, error: Exception) -> None:
        # once the app ends its widgets are taken apart, and what is still under way may look for one in vain
        cause = error.error if isinstance(error, WorkerFailed) else error
        if not (self._exit and isinstance(cause, NoMatches | MountError | ScreenStackError)):
            super()._handle_exception(error)

    def panic(self, *renderables: RenderableType) -> None:  # noqa: ARG002 - they hold local variables
        """End the app with one line, whatever Textual would print."""
        self._fatal_error()

    def _fatal_error(self) -> None:
        """End the app with one line: a traceback would show local variables, and with them keys."""
        error: BaseException | None = self._exception
        while isinstance(error, WorkerFailed):
            error = error.error
        if error is None:
            said = "the terminal cannot be read"
        else:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            place = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace is not None else ""
            said = f"a fault in selfdiag itself ({type(error).__name__}{place}: {one_line(redact(str(error)))})"
        self.fault = self.fault or f"{said}; what was answered is kept. Please report this line"
        self._close_messages_no_wait()
