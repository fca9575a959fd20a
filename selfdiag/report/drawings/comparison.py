"""Drawings of runs compared: where they stand, the headline differences, and how the confidence moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from selfdiag.measure.comparison_diagrams import AS_THE_STUDY, Standing, WhereItStands
from selfdiag.measure.resampling import ALPHA
from selfdiag.protocols.compare import RunPair
from selfdiag.protocols.compare_items import ItemPair
from selfdiag.protocols.compare_verdict import direction
from selfdiag.report import words
from selfdiag.report.comparison import shift_words
from selfdiag.report.drawings.effects import Effect, Mark, effects
from selfdiag.report.drawings.svg import (
    ACCENT,
    FAINT,
    LEFT,
    LINE,
    MUTED,
    PAPER,
    RIGHT,
    SIDE,
    SMALL,
    TEXT,
    WRONG,
    Drawing,
    diagonal,
    draw,
    panel,
    percent_axes,
    percents,
)
from selfdiag.report.measure_words import measure_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BETTER = {"brier": "lower", "gap": "nearer 0"}
"""Where better lies, where it is not higher."""
_MARKS: Mapping[int, Mark] = {1: "better", -1: "worse", 0: "neither"}


class _Bubble(NamedTuple):
    """So many probes stand at this place."""

    first: float
    second: float
    n: int


def where_runs_stand(diagrams: Mapping[str, WhereItStands]) -> Drawing | str:
    """Return mean confidence against accuracy, the runs among published models, or words.

    Args:
        diagrams: of each run by itself beside the published models, by what the comparison calls it.
    """
    models = [(letter, model) for letter, diagram in diagrams.items() for model in diagram.models]
    named = [(letter, model) for letter, model in models if model.source == "own"]
    if not named:
        return "no run has answers with a confidence"
    published = {model.name: model for _, model in models if model.source == "published"}

    def paint(sheet: Figure) -> None:
        axes = panel(sheet, LEFT, 46, SIDE, 300)
        percent_axes(axes, "right, %", "mean stated confidence, %")
        diagonal(axes)
        axes.text(3, 96, "▲ overconfident", color=MUTED, fontsize=SMALL)
        axes.text(97, 3, "underconfident ▼", color=MUTED, fontsize=SMALL, ha="right")
        for model in published.values():
            axes.plot(*_place(model), marker="o", markersize=4.5, color=FAINT)
        for letter, model in named:
            right, stated = _place(model)
            if model.accuracy_ci is not None:
                axes.plot(percents(model.accuracy_ci), [stated] * 2, color=ACCENT, linewidth=1.6)
            axes.plot(right, stated, marker="o", markersize=9, color=ACCENT, markeredgecolor=PAPER)
            offset = (8, 7) if right < 80 else (-8, 7)
            axes.annotate(
                letter,
                (right, stated),
                offset,
                textcoords="offset points",
                fontsize=TEXT + 1,
                fontweight="bold",
                ha="left" if right < 80 else "right",
            )

    told = [
        f"{letter} right {words.percent(model.accuracy)}{_percent_ends(model)}, "
        f"stated {100 * model.mean_confidence:.0f}"
        for letter, model in named
    ]
    return Drawing(
        draw("where-runs-stand", 374, paint),
        f"Accuracy and mean stated confidence: {'; '.join(told)}.",
        f"Each run over all its own items, with the 95 % interval of the share right; grey: {len(published)} published "
        f"models. On the dashed line a model is as sure as it is right. For runs and models alike, {AS_THE_STUDY}.",
    )


def difference_mark(pair: RunPair, name: str) -> Mark:
    """Return whether a headline difference is shown to be for the better or the worse, as the verdict has it."""
    found = pair.headline[name]
    if found.difference.value is None or found.holm is None or found.holm >= ALPHA:
        return "not shown"
    return _MARKS[direction(name, found, pair.exploratory["gap_size"])]


def differences(pair: RunPair) -> Drawing | str:
    """Return the headline differences with their intervals, one above the other, or words."""
    rows = [
        Effect(
            name=measure_name(name),
            below=f"better: {_BETTER.get(name, 'higher')}",
            value=found.difference.value,
            ends=found.difference.ci,
            said=words.signed(found.difference.value),
            said_ends=words.interval(found.difference, kind="signed") or "no interval",
            mark=difference_mark(pair, name),
        )
        for name, found in pair.headline.items()
        if found.difference.value is not None
    ]
    if not rows:
        return "no headline measure is defined in both runs"
    told = [f"{row.name} {row.said} {row.said_ends}, {row.mark}" for row in rows]
    absent = [measure_name(name) for name, found in pair.headline.items() if found.difference.value is None]
    rest = f" Not defined in both: {', '.join(absent)}." if absent else ""
    return Drawing(
        effects(f"differences-{pair.second.lower()}", rows, axis=f"{pair.second} minus {pair.first}", step=0.1),
        f"Differences, {pair.second} minus {pair.first}: {'; '.join(told)}.",
        f"{pair.second} minus {pair.first} with 95 % intervals, over the items in common. Filled: a difference that is "
        f"left after the correction for {len(pair.headline)} measures (round better, diamond worse, square neither); "
        f"hollow: not shown to differ, or too few items to test.{rest}",
    )


def confidence_shift(pair: RunPair, stated: Sequence[tuple[float, float]]) -> Drawing | str:
    """Return the confidence of one run against that of the other, probe by probe, or words.

    Args:
        pair: the runs.
        stated: both confidences of each probe that is answered in both, in points.
    """
    if not stated:
        return pair.confidence_shift.note or "no probe was answered with a confidence in both runs"
    bubbles = [_Bubble(first, second, n) for (first, second), n in sorted(Counter(stated).items())]
    gained, lost = (_places(items) for items in (pair.probes.gained, pair.probes.lost))

    def paint(sheet: Figure) -> None:
        axes = panel(sheet, LEFT, 46, SIDE, 300)
        percent_axes(axes, f"{pair.first} states, %", f"{pair.second} states, %")
        diagonal(axes)
        for one in bubbles:
            size = 6.5 + 3.2 * (one.n - 1) ** 0.5
            axes.plot(one.first, one.second, marker="o", markersize=size, color=LINE, markeredgecolor=MUTED)
        for places, marker, colour in ((gained, "^", RIGHT), (lost, "v", WRONG)):
            axes.plot(*places, marker=marker, markersize=10, linestyle="none", color=colour, markeredgecolor=PAPER)

    higher, same = (sum(test) for test in ([b > a for a, b in stated], [a == b for a, b in stated]))
    lower = len(stated) - higher - same
    n = words.several(len(stated), "probe")
    return Drawing(
        draw(f"confidence-shift-{pair.second.lower()}", 374, paint),
        f"Stated confidence of {pair.second} against {pair.first} in {n}: higher in {higher}, lower in {lower}, the "
        f"same in {same}. Mean shift {shift_words(pair.confidence_shift)}.",
        f"{n} answered in both; larger: several at one place. Above the dashed line {pair.second} is surer ({higher}), "
        f"on it the same ({same}), below it less sure ({lower}). ▲ wrong to right, ▼ right to wrong. Mean shift "
        f"{shift_words(pair.confidence_shift)}.",
    )


def _place(model: Standing) -> tuple[float, float]:
    return 100 * model.accuracy, 100 * model.mean_confidence


def _percent_ends(model: Standing) -> str:
    if model.accuracy_ci is None:
        return ""
    return f" [{100 * model.accuracy_ci[0]:.0f}, {100 * model.accuracy_ci[1]:.0f}]"


def _places(items: Sequence[ItemPair]) -> tuple[list[float], list[float]]:
    known = [
        (item.first.confidence, item.second.confidence)
        for item in items
        if item.first.confidence is not None and item.second.confidence is not None
    ]
    return [first for first, _ in known], [second for _, second in known]
