"""Choosing a battery and the sections of it that are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from selfdiag.tui.widgets.row_list import MUTED

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp

SIZES = {"quick": "42+21", "standard": "126+21", "full": "294+42"}
"""The named draws and how many probes and traps each has."""
OWN = "own path"
CHOICES = (*SIZES, OWN)
SECTIONS = ("probes", "traps", "questionnaire", "microprobe", "anchor", "fresh-check")


class BatteryChoice(Widget, can_focus=True):
    """One of the named draws, or a battery of the person's own; left and right change it."""

    HELP = """
    ## battery

    How much is asked: probes + traps. `quick` takes minutes, `full` asks everything there is; `own path` asks a
    battery of yours, a TOML, JSONL or CSV file or a folder of them. `left` and `right` change it.
    """

    DEFAULT_CSS = """
    BatteryChoice { width: auto; height: 1; }
    BatteryChoice:focus { background: $accent 25%; }
    BatteryChoice:ansi:focus { background: ansi_default; text-style: reverse; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "turn(1)", "change", key_display="←→", id="battery.next"),
        Binding("left", "turn(-1)", "previous battery", show=False, id="battery.previous"),
    ]

    choice: reactive[str] = reactive("quick", layout=True)

    class Changed(Message):
        """Another battery is chosen."""

    def __init__(self, choice: str, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.set_reactive(BatteryChoice.choice, choice if choice in CHOICES else OWN)

    def render(self) -> Content:
        """Return the chosen one between arrows."""
        before, after = ("<", ">") if cast("SelfdiagApp", self.app).ascii else ("‹", "›")
        label = f"{self.choice} {SIZES.get(self.choice, '')}".strip()
        return Content.assemble((f"{before} ", "$accent"), label, (f" {after}", "$accent"))

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 - Textual's signature
        """Return the width of the label with its arrows."""
        return self.render().cell_length

    def action_turn(self, step: int) -> None:
        """Choose the next one, or the one before."""
        self.choice = CHOICES[(CHOICES.index(self.choice) + step) % len(CHOICES)]
        self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        """Go the way of the arrow that is clicked."""
        self.action_turn(-1 if event.x < 2 else 1)


class SectionChoice(Widget, can_focus=True):
    """The sections of a run, each on or off; left and right move, space changes."""

    HELP = """
    ## sections

    What is asked. **probes** have an answer and **traps** have none. **questionnaire** asks the model about itself,
    **microprobe** whether its confidence follows a claimed accuracy, **anchor** whether it echoes an example,
    **fresh-check** whether it knows the stored items better than new ones. `left` and `right` move, `space` changes.
    """

    DEFAULT_CSS = """
    SectionChoice { width: 1fr; height: auto; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "move(1)", "next section", show=False, id="sections.next"),
        Binding("left", "move(-1)", "previous section", show=False, id="sections.previous"),
        Binding("space,enter", "change", "on or off", key_display="space", id="sections.change"),
    ]

    at: reactive[int] = reactive(0)
    on: reactive[tuple[str, ...]] = reactive((), layout=True)

    class Changed(Message):
        """A section was put in or left out."""

    def __init__(self, on: tuple[str, ...], *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.set_reactive(SectionChoice.on, tuple(name for name in SECTIONS if name in on))

    def render(self) -> Content:
        """Return the sections, in as many lines as they need."""
        return Content("\n").join(
            Content("  ").join(self._section(name) for name in names) for names in self._lines(self.size.width)
        )

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - as above
        """Return how many lines the sections need."""
        return len(self._lines(width))

    def action_move(self, step: int) -> None:
        """Go to the next section, or the one before."""
        self.at = (self.at + step) % len(SECTIONS)

    def action_change(self) -> None:
        """Put the section in, or leave it out."""
        chosen = {*self.on} ^ {SECTIONS[self.at]}
        self.on = tuple(name for name in SECTIONS if name in chosen)
        self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        """Change the section that is clicked."""
        index = event.style.meta.get("section")
        if index is not None:
            self.at = index
            self.action_change()

    def on_focus(self) -> None:
        """Show where the next change falls."""
        self.refresh()

    def on_blur(self) -> None:
        """Show it no longer."""
        self.refresh()

    def _section(self, name: str) -> Content:
        box = self._box(name)
        text = Content.assemble((box, "$accent" if name in self.on else MUTED), f" {name}")
        if name not in self.on:
            text = text.stylize(MUTED)
        if self.has_focus and SECTIONS[self.at] == name:
            text = text.stylize("reverse" if self.app.native_ansi_color else "$foreground on $accent 25%")
        return text.stylize(Style.from_meta({"section": SECTIONS.index(name)}))

    def _box(self, name: str) -> str:
        if cast("SelfdiagApp", self.app).ascii:
            return "[x]" if name in self.on else "[ ]"
        return "☑" if name in self.on else "☐"

    def _lines(self, width: int) -> list[list[str]]:
        lines: list[list[str]] = [[]]
        used = 0
        for name in SECTIONS:
            needed = len(self._box(name)) + 1 + len(name)
            if lines[-1] and used + 2 + needed > width:
                lines.append([])
                used = 0
            used += needed + (2 if lines[-1] else 0)
            lines[-1].append(name)
        return lines
