"""Runs compared: what is different between them, and the items that changed sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, ScrollableContainer, Vertical
from textual.content import Content
from textual.widgets import OptionList, Rule, Static
from textual.worker import Worker, WorkerState

from selfdiag.safety import SelfdiagError, one_line
from selfdiag.tui.background import begin, in_background
from selfdiag.tui.saving import save_here, stamped
from selfdiag.tui.screens.stacked import Stacked
from selfdiag.tui.text import block, line
from selfdiag.tui.widgets.drawn import Drawn
from selfdiag.tui.widgets.key_line import KeyLine
from selfdiag.tui.widgets.row_list import MUTED, Row, RowList, columns

if TYPE_CHECKING:
    from selfdiag.protocols.compare_items import ItemPair, ItemReply
    from selfdiag.runs.store import Run
    from selfdiag.tui.app import SelfdiagApp

READING = "reading the runs and drawing the intervals"
NOTHING_FLIPPED = "no item changed sides"
PROBE_WAYS = ("✓ right", "✗ wrong")
TRAP_WAYS = ("○ spotted", "! missed")


class Flip(NamedTuple):
    """One item that changed sides between the first run and another: ``way`` by glyph and word."""

    way: str
    style: str
    other: int
    item: ItemPair


class Compared(NamedTuple):
    """A comparison as it is shown: its lines, the same as Markdown, the flips, and each run's calls by item."""

    lines: Sequence[str]
    markdown: str
    title: str
    flips: Sequence[Flip]
    calls: Sequence[Mapping[str, str]]


class CompareScreen(Stacked[None]):
    """Runs set against the first of them, item by item.

    Args:
        folders: of the runs, the baseline first.
    """

    HELP = "Every other run against the first one, over the items that both have replied to."
    CSS = """
    CompareScreen Rule { margin: 0; height: 1; color: $border; }
    CompareScreen #title Static { width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    CompareScreen #title #seen { width: auto; padding-left: 2; }
    CompareScreen #body { height: 1fr; }
    CompareScreen #lines { height: 2fr; scrollbar-size: 0 0; }
    CompareScreen #lines Static { width: auto; height: auto; text-wrap: nowrap; }
    CompareScreen #flipped { height: 1fr; min-height: 6; }
    CompareScreen Drawn.heading { height: auto; padding: 0 1; }
    CompareScreen RowList { padding: 0 1; }
    CompareScreen.-fault #flipped, CompareScreen.-fault #between { display: none; }
    CompareScreen.-fault #lines { padding: 1; }
    CompareScreen.-fault #lines Static { width: 1fr; text-wrap: wrap; color: $error; }
    CompareScreen.-wide #body { layout: horizontal; }
    CompareScreen.-wide #lines { width: 82; height: 1fr; padding: 0 1; }
    CompareScreen.-wide #between { display: none; }
    CompareScreen.-wide #flipped { width: 1fr; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open(1)", "open", id="compare.open", priority=True),
        Binding("o", "open(0)", "open in A", id="compare.open_first"),
        Binding("e", "export", "export", id="compare.export"),
        Binding("y", "copy", "copy", id="compare.copy"),
        Binding("escape", "back", "back", id="compare.back"),
    ]
    AUTO_FOCUS = "#lines"

    if TYPE_CHECKING:
        app: SelfdiagApp

    def __init__(self, folders: tuple[Path, ...]) -> None:
        super().__init__()
        self._folders = folders
        self._compared: Compared | None = None
        self._heading = Drawn("", classes="heading")

    def compose(self) -> ComposeResult:
        """Yield the lines of the comparison, and the flipped items below or beside them."""
        rule = "ascii" if self.app.ascii else "solid"
        with Horizontal(id="title"):
            yield Static("compare", id="name", classes="name", markup=False)
            yield Static(id="seen", markup=False)
        yield Rule(line_style=rule)  # type: ignore[arg-type]
        with Container(id="body"):
            with ScrollableContainer(id="lines"):
                yield Static(READING, id="text", markup=False)
            yield Rule(line_style=rule, id="between")  # type: ignore[arg-type]
            with Vertical(id="flipped"):
                yield self._heading
                yield RowList(id="flips")
        yield KeyLine(show_command_palette=False)

    def on_mount(self) -> None:
        """Compare, in a thread."""
        self.watch(self.query_one("#lines"), "scroll_y", self._show_place, init=False)
        begin(self, self._compare)

    async def _compare(self) -> None:
        try:
            found = await in_background(compared, self._folders)
        except SelfdiagError as error:
            self._fail(str(error))
            return
        self._compared = found
        self.query_one("#name", Static).update(line(f"compare · {found.title}"))
        self.query_one("#text", Static).update(block("\n".join(found.lines)))
        self._heading.show(partial(_heading, found.flips))
        several = len(self._folders) > 2
        rows = [Row(draw=partial(_row, flip, several)) for flip in found.flips]
        self.query_one("#flips", RowList).fill(rows, 0 if rows else None)
        self.refresh_bindings()
        self.call_after_refresh(self._show_place)

    def _fail(self, words: str) -> None:
        self.add_class("-fault")
        self.query_one("#text", Static).update(Content("✗ ") + line(words, 400))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Tell a fault of our own; the app stays."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            error = event.worker.error
            self._fail(f"a fault in selfdiag itself ({type(error).__name__}: {one_line(str(error))})")

    def on_resize(self) -> None:
        """Say anew what is in sight."""
        self.call_after_refresh(self._show_place)

    def _show_place(self) -> None:
        """Say which lines are in sight, where not all are."""
        if self._compared is None:
            return
        view, total = self.query_one("#lines"), len(self._compared.lines)
        first = round(view.scroll_y) + 1
        last = min(first + view.size.height - 1, total)
        self.query_one("#seen", Static).update("" if (first, last) == (1, total) else f"line {first}-{last} of {total}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        """Offer to open an item where there is one, and to export once there is something."""
        if action == "open":
            return self._compared is not None and bool(self._compared.flips)
        return action not in {"export", "copy"} or self._compared is not None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the item that is picked, as the later run replied to it."""
        event.stop()
        self.action_open(1)

    def action_open(self, side: int) -> None:
        """Open the highlighted item: 0 as the first run replied to it, 1 as the other one did."""
        place = self.query_one("#flips", RowList).highlighted
        if self._compared is None or place is None:
            return
        flip = self._compared.flips[place]
        run = flip.other if side else 0
        call_id = self._compared.calls[run].get(flip.item.id)
        if call_id is not None:
            self.app.open_item(self._folders[run], call_id)

    def action_export(self) -> None:
        """Save the whole comparison as Markdown."""
        if self._compared is not None:
            save_here(self.app, {f"{stamped('compare')}.md": self._compared.markdown.encode()})

    def action_copy(self) -> None:
        """Send the comparison to the clipboard."""
        if self._compared is not None:
            self.app.copy_to_clipboard("\n".join(self._compared.lines))
            self.app.say("sent to the terminal; whether it was copied, the terminal decides. e writes a file")

    def action_back(self) -> None:
        """Go back to where this was called."""
        self.dismiss(None)


def compared(folders: Sequence[Path]) -> Compared:
    """Read runs and compare them; in a thread, as the intervals take their time.

    Raises:
        SelfdiagError: when one of them is no run, or they have nothing in common.
    """
    from selfdiag.protocols.compare import compare
    from selfdiag.report.comparison import comparison_lines, comparison_markdown
    from selfdiag.runs.store import read_run

    runs = [read_run(folder) for folder in folders]
    found = compare(runs)
    flips = [
        Flip(way, style, other, item)
        for other, pair in enumerate(found.pairs, 1)
        for way, style, items in (
            (PROBE_WAYS[0], "$success", pair.probes.gained),
            (PROBE_WAYS[1], "$error", pair.probes.lost),
            (TRAP_WAYS[0], "$success", pair.traps.gained),
            (TRAP_WAYS[1], "$error", pair.traps.lost),
        )
        for item in items
    ]
    names = [
        f"{run.letter} {one_line(run.model.name, 24)}{' (simulated)' if run.model.simulated else ''}"
        for run in found.runs
    ]
    return Compared(
        lines=comparison_lines(found),
        markdown=comparison_markdown(found),
        title=" · ".join(names),
        flips=flips,
        calls=[_calls(run) for run in runs],
    )


def _calls(run: Run) -> dict[str, str]:
    """Return the first call of every item of a run's audit that has a record."""
    found: dict[str, str] = {}
    for record in run.measured():
        found.setdefault(record.item_id, record.call_id)
    return found


def _heading(flips: Sequence[Flip], width: int, _plain: bool) -> Content:
    """Return how many items changed sides, and to which; traps in a line of their own where one is too short."""
    counts = Counter(flip.way for flip in flips)
    probes, traps = (
        "  ".join(f"{way} {n}" for way, n in counts.items() if (way in PROBE_WAYS) == wanted)
        for wanted in (True, False)
    )
    whole = Content("  ".join(filter(None, ("now", probes, traps))) if flips else NOTHING_FLIPPED)
    return whole if whole.cell_length <= width else Content("\n".join(filter(None, (probes, traps))))


def _row(flip: Flip, several: bool, width: int, _highlighted: bool) -> Content:
    """Return one flipped item in so many cells."""
    letter = f"{chr(ord('A') + flip.other)} " if several else ""
    item = flip.item
    head = 11 + len(letter)
    named = 22 if width >= 70 else max(0, width - head)
    answers = max(0, width - head - named - 3) // 2
    return columns(
        width,
        (Content(f"{letter}{flip.way}"), head, flip.style),
        (line(item.id, 60), named, ""),
        *(
            (
                (_reply(item.first, answers), answers, MUTED),
                (Content(" → "), 3, MUTED),
                (_reply(item.second, answers), answers, ""),
            )
            if answers
            else ()
        ),
    )


def _reply(reply: ItemReply, room: int) -> Content:
    """Return answer and confidence in so many cells; the answer gives way."""
    stated = "  –" if reply.confidence is None else f"{reply.confidence:>3.0f}"
    answer = line(reply.answer, 60) if reply.answer is not None else Content("–")
    return answer.truncate(max(1, room - 4), ellipsis=True, pad=True) + Content(f" {stated}")
