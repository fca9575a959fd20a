"""The head of the results screen: the tier, one sentence on it, and the four parts it is made of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from selfdiag.tui.diagram_rows import MUTED, track
from selfdiag.tui.text import line
from selfdiag.tui.widgets.drawn import Drawn
from selfdiag.tui.widgets.figures import shorter

if TYPE_CHECKING:
    from selfdiag.measure.estimate import Estimate
    from selfdiag.protocols.summary import Summary

LETTERS = {
    "A": ("┏━┓", "┣━┫", "╹ ╹"),
    "B": ("┳━┓", "┣━┫", "┻━┛"),
    "C": ("┏━╸", "┃  ", "┗━╸"),
    "D": ("┳━┓", "┃ ┃", "┻━┛"),
    "E": ("┏━╸", "┣━╸", "┗━╸"),
    "X": ("╲ ╱", " ╳ ", "╱ ╲"),
    "-": ("   ", "╺━╸", "   "),
}
"""Tier letters three lines high."""
_BESIDE = 108
"""Columns from which on the parts stand beside the tier."""


class TierHead(Vertical):
    """The tier large, what it rests on, and below or beside it the four parts.

    The class ``-brief`` leaves the parts out.
    """

    DEFAULT_CSS = """
    TierHead { height: auto; padding: 0 1; }
    TierHead > .parts { margin-top: 1; }
    TierHead.-brief > .parts { display: none; }
    TierHead.-beside { layout: horizontal; }
    TierHead.-beside > .tier { width: 1fr; padding-right: 3; }
    TierHead.-beside > .parts { width: 1fr; margin-top: 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._tier = Drawn("", classes="tier")
        self._parts = Drawn("", classes="parts")

    def compose(self) -> ComposeResult:
        """Yield the tier and its parts."""
        yield self._tier
        yield self._parts

    def show(self, summary: Summary) -> None:
        """Show the tier of a run.

        Args:
            summary: of a run, complete or not.
        """
        self._tier.show(partial(_tier, summary))
        self._parts.show(partial(_parts, summary))

    def on_resize(self, event: events.Resize) -> None:
        """Put the parts beside the tier where there is room."""
        self.set_class(event.size.width >= _BESIDE, "-beside")


def _tier(summary: Summary, width: int, plain: bool) -> Content:
    from selfdiag.report import words

    tier = summary.tier
    letter = LETTERS[tier.letter] if not plain else (f" {tier.letter} ", "   ", "   ")
    name = Content.styled(words.tier_words(summary), "bold")
    if tier.range not in {tier.letter, ""}:
        name = Content.assemble(name, (f"  {tier.range}", "$accent"))
    if summary.model.simulated:
        name = Content.assemble(name, ("  simulated", MUTED))
    beside = max(10, width - 6)
    sentence = line(f"{words.headline(summary)} {tier.advice}", 400)
    told = [*_with_chances(name, summary, beside), *sentence.wrap(beside)]
    told += [Content("")] * (3 - len(told))
    marks = [*letter, *["   "] * (len(told) - 3)]
    return Content("\n").join(
        Content.assemble((mark, "bold $accent"), "   ", said) for mark, said in zip(marks, told, strict=True)
    )


def _with_chances(name: Content, summary: Summary, width: int) -> list[Content]:
    """Return the tier's name with the two likeliest letters or more beside it, or all of them in a line below it."""
    from selfdiag.report import words

    if summary.tier.letter == "-":
        return [name]
    likeliest = words.chances(summary).split(" · ")
    for shown in range(len(likeliest), min(2, len(likeliest)) - 1, -1):
        chances = " · ".join(likeliest[:shown])
        room = width - name.cell_length - len(chances)
        if room >= 2:
            return [Content.assemble(name, " " * room, (chances, MUTED))]
    return [name, Content.styled(words.chances(summary), MUTED)]


def _parts(summary: Summary, width: int, plain: bool) -> Content:
    from selfdiag.report import words

    metrics, parts = summary.metrics, summary.composite.parts
    brier, gap, spread, spotted = (metrics[name] for name in ("brier", "gap", "discrimination", "trap_abstention"))
    caught = round((spotted.value or 0) * spotted.n)
    rows = (
        ("Brier", words.fraction(brier.value), words.interval(brier), parts["brier"]),
        ("gap", words.signed(gap.value), words.interval(gap, kind="signed"), parts["gap"]),
        ("discr.", words.signed(spread.value), words.interval(spread, kind="signed"), parts["discrimination"]),
        ("traps", f"{caught} of {spotted.n}", f"{words.interval(spotted, kind='percent')} %", parts["traps"]),
    )
    # without traps the other parts bring all of the hundred points
    points = 100 / max(1, sum(part.value is not None for part in parts.values()))
    told: set[str] = set()
    return Content("\n").join(_part(*row, points, width, told, plain=plain) for row in rows)


def _part(
    name: str, value: str, ci: str, part: Estimate, most: float, width: int, told: set[str], *, plain: bool
) -> Content:
    """Return one part: the measure with its interval, and how much of its points it brings."""
    label = Content.assemble((f"{name:<7}", MUTED))
    if part.value is None:
        return Content.assemble(label, line(shorter(part.note or "not defined", told)).stylize(MUTED))
    cells = min(36, max(8, width - 46))
    points = f"{most * part.value:>2.0f} of {most:.0f}"
    return Content.assemble(
        label,
        (f"{value:>8}", "bold"),
        (f" {ci or 'no interval':<14} ", MUTED),
        track(part.value, part.ci, cells, plain=plain),
        ("  part ", MUTED),
        (points, ""),
    )
