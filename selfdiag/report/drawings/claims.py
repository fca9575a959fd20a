"""Drawings of what a model says of itself, and of what moves its confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from selfdiag.measure.comparison_diagrams import DoseLine, DoseResponseDiagram, SelfAssessmentRadar, Spoke
from selfdiag.protocols.anchor import Anchor
from selfdiag.report import words
from selfdiag.report.drawings.svg import (
    ACCENT,
    BAND,
    INK,
    LEFT,
    LINE,
    MUTED,
    OTHER,
    PAPER,
    SIDE,
    SMALL,
    WRONG,
    Drawing,
    diagonal,
    draw,
    left_out,
    panel,
    percent_axes,
    percents,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROUND = 2 * math.pi


def radar(diagram: SelfAssessmentRadar) -> Drawing | str:
    """Return what a model claims of itself and what it does as two outlines over the five criteria, or words."""
    if diagram.empty:
        return diagram.note
    spokes = diagram.spokes
    angles = [_ROUND * place / len(spokes) for place in range(len(spokes))]

    def paint(sheet: Figure) -> None:
        axes = panel(sheet, 0, 20, 400, 320)
        axes.set_aspect("equal")
        axes.set_xlim(-2.0, 2.0)
        axes.set_ylim(-1.25, 1.6)
        axes.set_xticks([])
        axes.set_yticks([])
        for level in (0.25, 0.5, 0.75, 1.0):
            axes.plot(*_around(angles, [level] * len(angles)), color=LINE, linewidth=1)
            axes.text(0.03, level, f"{level:g}", fontsize=10.5, color=MUTED, va="bottom")
        for angle, spoke in zip(angles, spokes, strict=True):
            axes.plot([0, math.sin(angle)], [0, math.cos(angle)], color=LINE, linewidth=1)
            across, up = math.sin(angle), math.cos(angle)
            side = "center" if abs(across) < 0.1 else "left" if across > 0 else "right"
            axes.text(
                1.06 * across,
                (1.3 if up > 0.9 else 1.08) * up,
                f"{spoke.name}\n{_two_lines(spoke.label)}",
                ha=side,
                va="center",
                fontsize=SMALL,
            )
        _outline(axes, angles, [spoke.internal for spoke in spokes], WRONG, "o", PAPER)
        _outline(axes, angles, [spoke.external for spoke in spokes], ACCENT, "D", ACCENT)
        for angle, spoke in zip(angles, spokes, strict=True):
            if spoke.external_ci is not None:
                ends = [(end * math.sin(angle), end * math.cos(angle)) for end in spoke.external_ci]
                axes.plot(*zip(*ends, strict=True), color=ACCENT, linewidth=4, alpha=0.35)
        axes.plot([-1.9], [1.5], marker="o", markersize=7, color=WRONG, markerfacecolor=PAPER, markeredgewidth=1.6)
        axes.text(-1.79, 1.5, "claims", va="center", fontsize=SMALL)
        axes.plot([-1.9], [1.3], marker="D", markersize=6.5, color=ACCENT)
        axes.text(-1.79, 1.3, "does", va="center", fontsize=SMALL)

    told = [_spoke(spoke) for spoke in spokes]
    return Drawing(
        draw("radar", 352, paint),
        f"Self-assessment over five criteria, from 0 to 1: {'; '.join(told)}.",
        "What the model claims of itself and what graded tasks show, from 0 in the middle to 1; thick: the 95 % "
        f"interval of what it does.{left_out(diagram.left_out)}",
    )


def dose_response(diagram: DoseResponseDiagram) -> Drawing | str:
    """Return the stated confidence under each claimed accuracy, a line an item and their mean, or words."""
    if diagram.empty:
        return diagram.note
    kinds: list[tuple[str, str, str, tuple[float, ...], list[DoseLine]]] = [
        ("the topic of the question", "o", ACCENT, (), [item.on_topic for item in diagram.items]),
        ("another topic", "s", WRONG, (6, 2), [item.off_topic for item in diagram.items]),
        (
            "its topic, which the question does not name",
            "^",
            OTHER,
            (2, 2),
            [item.unlabelled for item in diagram.items],
        ),
    ]
    means = [(name, marker, colour, dashes, _means(lines)) for name, marker, colour, dashes, lines in kinds]
    means = [row for row in means if row[4]]

    def paint(sheet: Figure) -> None:
        axes = panel(sheet, LEFT, 48, SIDE, 320)
        percent_axes(axes, "claimed accuracy, %", "stated confidence, %")
        diagonal(axes)
        for item in diagram.items:
            line = item.on_topic
            axes.plot(percents(line.claim), percents(line.confidence), color=BAND, linewidth=1, alpha=0.55)
        for _, marker, colour, dashes, points in means:
            drawn = axes.plot(
                [claim for claim, _, _ in points],
                [stated for _, stated, _ in points],
                color=colour,
                marker=marker,
                markersize=7.5,
                linewidth=2.2,
                markeredgecolor=PAPER,
            )
            if dashes:
                drawn[0].set_dashes(dashes)
        _legend(sheet, axes, [(name, marker, colour) for name, marker, colour, _, _ in means])

    told = [
        f"claim about {name}: "
        + ", ".join(f"{stated:.0f} stated under {claim:.0f} % (n {n})" for claim, stated, n in points)
        for name, _, _, _, points in means
    ]
    return Drawing(
        draw("dose-response", 398 + 18 * len(means), paint),
        f"Stated confidence under a claimed accuracy, mean of items. {'; '.join(told)}.",
        f"Mean stated confidence over {words.several(len(diagram.items), 'item')}, {diagram.n} replies; pale: each "
        "item. On the dashed line the model repeats the claim; a level line ignores it. The table has the intervals "
        f"of the shift.{left_out(diagram.left_out)}",
    )


def anchor(found: Anchor) -> Drawing | str:
    """Return the stated confidence by the example in the prompt beside that without one, or words."""
    shown = [(one.example, one.confidence.value, one.confidence.ci) for one in found.shown]
    known = [(example, stated, ci) for example, stated, ci in shown if stated is not None]
    if not known:
        return "no answer with a confidence where an example was shown"
    bare = found.without

    def paint(sheet: Figure) -> None:
        axes = panel(sheet, LEFT, 48, SIDE, 250)
        percent_axes(axes, "example in the prompt", "stated confidence, %")
        diagonal(axes)
        if bare.value is not None:
            low, high = bare.ci or (bare.value, bare.value)
            axes.axhspan(low, high, color=BAND, alpha=0.3, linewidth=0)
            axes.axhline(bare.value, color=MUTED, linewidth=1.4)
            axes.text(
                1, bare.value + 1.5, f"without an example {bare.value:.0f}", color=MUTED, fontsize=SMALL, va="bottom"
            )
        for example, stated, ci in known:
            if ci is not None:
                axes.plot([example] * 2, ci, color=ACCENT, linewidth=1.8)
            axes.plot([example], [stated], marker="o", markersize=8, color=ACCENT)

    told = [f"{stated:.0f} with {example} shown" for example, stated, _ in known]
    plain = f", {bare.value:.0f} without an example" if bare.value is not None else ""
    return Drawing(
        draw("anchor", 324, paint),
        f"Mean stated confidence by example: {', '.join(told)}{plain}.",
        f"Mean stated confidence with its 95 % interval, {words.several(found.items, 'item')}; grey: without an "
        "example. On the dashed line the model repeats the example.",
    )


def _around(angles: Sequence[float], radii: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return a closed outline as x and y, the first angle upwards and the others clockwise."""
    closed = [*zip(angles, radii, strict=True)]
    closed.append(closed[0])
    return [radius * math.sin(angle) for angle, radius in closed], [
        radius * math.cos(angle) for angle, radius in closed
    ]


def _outline(
    axes: Axes, angles: Sequence[float], values: Sequence[float | None], colour: str, marker: str, inside: str
) -> None:
    """Draw a profile; beside a criterion that is missing it has no line."""
    x, y = _around(angles, [math.nan if value is None else value for value in values])
    if None not in values:
        axes.fill(x, y, color=colour, alpha=0.1, linewidth=0)
    axes.plot(
        x, y, color=colour, linewidth=2, marker=marker, markersize=6.5, markerfacecolor=inside, markeredgewidth=1.6
    )


def _spoke(spoke: Spoke) -> str:
    claims = "claims unknown" if spoke.internal is None else f"claims {spoke.internal:.2f}"
    does = "deeds unknown" if spoke.external is None else f"does {spoke.external:.2f} (n {spoke.external_n})"
    return f"{spoke.name} {spoke.label} {claims}, {does}"


def _two_lines(text: str) -> str:
    """Return a text parted at the blank nearest to its middle."""
    blanks = [at for at, char in enumerate(text) if char == " "]
    if len(text) < 14 or not blanks:
        return text
    at = min(blanks, key=lambda blank: abs(blank - len(text) / 2))
    return f"{text[:at]}\n{text[at + 1 :]}"


def _means(lines: Sequence[DoseLine]) -> list[tuple[float, float, int]]:
    """Return claim, mean confidence and n of the items that have a reply under every claim, so that they compare."""
    claims = sorted({claim for line in lines for claim in line.claim})
    whole = [line for line in lines if len(line.claim) == len(claims)]
    if not whole or not claims:
        return []
    return [
        (100 * claim, 100 * fmean(line.confidence[place] for line in whole), len(whole))
        for place, claim in enumerate(claims)
    ]


def _legend(sheet: Figure, axes: Axes, rows: Sequence[tuple[str, str, str]]) -> None:
    """Write below the plot what its lines are; the axes move up for it."""
    height = sheet.get_figheight() * 72
    room = 18 * len(rows)
    left, bottom, width, tall = axes.get_position().bounds
    axes.set_position((left, bottom + room / height, width, tall))
    for place, (name, marker, colour) in enumerate(rows):
        legend = panel(sheet, LEFT, room - 18 * (place + 1) + 2, SIDE, 18)
        legend.set_xlim(0, SIDE)
        legend.set_ylim(0, 18)
        legend.set_xticks([])
        legend.set_yticks([])
        legend.plot([8], [9], marker=marker, markersize=7, color=colour)
        legend.text(20, 9, f"claim about {name}", va="center", fontsize=SMALL, color=INK)
