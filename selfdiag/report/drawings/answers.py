"""Drawings of one model's answers: reliability, ROC, confidence by outcome, and risk against coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from selfdiag.measure.curves import AtThreshold, RiskCoverageCurve, RocCurve, ThresholdExplorer
from selfdiag.measure.diagrams import WILSON, ConfidenceByOutcome, OutcomeBars, ReliabilityDiagram
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.reliability import ReliabilityBin
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
    RIGHT,
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

THRESHOLDS = (50, 70, 80, 90, 95)
"""Confidences from which on an answer might be acted on; the drawings and the table beside them speak of these."""
_MARKED = (80, 90, 95)
_APART = 7.0
"""Percent that two labels are apart, so that they can be read."""


def reliability(diagram: ReliabilityDiagram) -> Drawing | str:
    """Return the share right against the stated confidence, with counts below; words where there is nothing to draw.

    Each point has its interval and, behind it, the band in which 95 % of perfectly calibrated models lie.
    """
    if diagram.empty:
        return diagram.note
    points = diagram.points
    stated = [100 * point.mean_confidence for point in points]

    def paint(sheet: Figure) -> None:
        main = panel(sheet, LEFT, 104, SIDE, 290)
        percent_axes(main, "", "right, %")
        main.tick_params(labelbottom=False)
        main.bar(
            stated,
            [100 * (point.band[1] - point.band[0]) for point in points],
            bottom=[100 * point.band[0] for point in points],
            width=2.6,
            color=BAND,
            alpha=0.4,
            linewidth=0,
        )
        diagonal(main)
        for at, point in zip(stated, points, strict=True):
            # a point of few answers is hollow and small, and its wide interval stands back
            main.plot(
                [at, at],
                percents(point.ci),
                color=ACCENT,
                linewidth=1.0 if point.few else 1.6,
                alpha=0.45 if point.few else 1.0,
            )
            main.plot(
                [at],
                [100 * point.accuracy],
                marker="o",
                markersize=_size(point),
                color=ACCENT,
                markerfacecolor=PAPER if point.few else ACCENT,
                markeredgewidth=1.6,
            )
        below = panel(sheet, LEFT, 46, SIDE, 46)
        below.set_xlim(main.get_xlim())
        below.bar(stated, [point.n for point in points], width=2.6, color=MUTED, linewidth=0)
        below.set_ylim(0, 1.45 * max(point.n for point in points))
        below.set_yticks([])
        below.set_xticks(range(0, 101, 20))
        below.set_xlabel("stated confidence, %", labelpad=6)
        _write_counts(below, [(at, point.n) for at, point in zip(stated, points, strict=True)])

    told = [f"stated {_ends(point)}: {words.percent(point.accuracy)} of {point.n} right" for point in points]
    by = "stated value" if diagram.grouped_by == "value" else "tenth of the scale"
    method = "95 % Wilson intervals" if diagram.method == WILSON else f"95 % intervals ({diagram.method})"
    few = " Hollow points hold fewer than 5 answers." if any(point.few for point in points) else ""
    return Drawing(
        draw("reliability", 422, paint),
        f"Reliability diagram of {words.several(diagram.n, 'answer')}. {_listed(told)}",
        f"Share right by {by}, n {diagram.n}, {method}; the bars below count answers. On the dashed line stated "
        f"confidence comes true; below it the model is overconfident. Grey: where 95 % of perfectly calibrated models "
        f"would lie.{few}"
        f"{left_out(diagram.left_out)}",
    )


def roc(curve: RocCurve, thresholds: ThresholdExplorer) -> Drawing | str:
    """Return the right answers kept against the wrong ones kept over every threshold, or words.

    Args:
        curve: the curve.
        thresholds: of the same answers; some are marked on the curve.
    """
    if curve.empty:
        return curve.note
    area = f"AUROC {words.fraction(curve.auroc.value)} {words.interval(curve.auroc)}".rstrip()
    right, wrong = curve.n - thresholds.points[0].errors, thresholds.points[0].errors
    marks = [
        (point.threshold, 100 * point.let_through / wrong, 100 * (point.kept - point.let_through) / right)
        for point in _marked(thresholds)
    ]

    def paint(sheet: Figure) -> None:
        axes = panel(sheet, LEFT, 48, SIDE, 320)
        percent_axes(axes, "wrong answers kept, %", "right answers kept, %")
        diagonal(axes)
        axes.plot(percents(curve.false_positive_rate), percents(curve.true_positive_rate), color=ACCENT, linewidth=2.2)
        _mark(axes, [(f"≥ {threshold}", x, y) for threshold, x, y in marks], (9, -13))
        # the corner in which there is no curve
        good = (curve.auroc.value or 0.0) >= 0.5
        axes.text(*((97, 5) if good else (3, 91)), area, fontsize=14, ha="right" if good else "left", weight="bold")

    kept = [f"at {threshold} or more {y:.0f} % of right and {x:.0f} % of wrong" for threshold, x, y in marks]
    return Drawing(
        draw("roc", 394, paint),
        f"ROC curve of {words.several(curve.n, 'answer')}, {area}. {_listed(kept)}",
        f"What every threshold keeps of {right} right and {wrong} wrong answers. On the dashed line confidence tells "
        f"nothing; the further above it, the better it tells right from wrong.{_why(curve.auroc)}"
        f"{left_out(curve.left_out)}",
    )


class _Look(NamedTuple):
    mark: str
    colour: str
    filled: bool
    hatch: str = ""


_LOOKS = {
    "right": _Look("✓", RIGHT, filled=True),
    "wrong": _Look("✗", WRONG, filled=True, hatch="////"),
    "abstained": _Look("○", OTHER, filled=False),
    "missed trap": _Look("!", WRONG, filled=False),
    "spotted trap": _Look("✓", RIGHT, filled=False),
}


def confidence_by_outcome(diagram: ConfidenceByOutcome) -> Drawing | str:
    """Return a histogram of stated confidence for each outcome, one below the other, or words."""
    if diagram.empty:
        return diagram.note
    shown = [one for one in diagram.series if one.n]
    middles = [50 * (low + high) for low, high in diagram.bins]
    wide = 3.0 if diagram.grouped_by == "value" else 8.6
    tall, gap = 52.0, 28.0
    height = len(shown) * (tall + gap) + 50

    def paint(sheet: Figure) -> None:
        for place, one in enumerate(shown):
            look = _LOOKS[one.outcome]
            axes = panel(sheet, 12, height - (place + 1) * (tall + gap), 376, tall)
            axes.set_xlim(-5, 105)
            axes.set_ylim(0, 1.3 * diagram.y.high)
            axes.set_yticks([])
            axes.set_xticks(range(0, 101, 20), labels=None)
            axes.tick_params(labelbottom=one is shown[-1])
            axes.axhline(0, color=LINE, linewidth=1)
            held = [(at, count) for at, count in zip(middles, one.bars, strict=True) if count]
            axes.bar(
                [at for at, _ in held],
                [count for _, count in held],
                width=wide,
                color=look.colour if look.filled else PAPER,
                edgecolor=look.colour if not look.filled else PAPER,
                linewidth=1.4 if not look.filled else 0,
                hatch=look.hatch,
            )
            unstated = f", {one.unstated} more without a confidence" if one.unstated else ""
            axes.set_title(f"{look.mark} {one.outcome}  {one.n}{unstated}", loc="left", pad=2, color=look.colour)
            _write_counts(axes, held)
            if one is shown[-1]:
                axes.set_xlabel("stated confidence, %", labelpad=6)

    told = [_outcome_words(one, diagram.bins) for one in shown]
    silent = [f"{one.outcome}: {one.note}" for one in diagram.series if not one.n and one.unstated]
    rest = "; ".join([*silent, *([diagram.left_out] if diagram.left_out else [])])
    return Drawing(
        draw("outcomes", height, paint),
        f"Stated confidence by what became of {words.several(diagram.n, 'reply', 'replies')}. {_listed(told)}",
        f"Replies by stated confidence, n {diagram.n}; all rows have one scale. A model that knows when it is wrong "
        f"has its wrong answers further to the left than its right ones.{left_out(rest)}",
    )


def risk_coverage(curve: RiskCoverageCurve, thresholds: ThresholdExplorer) -> Drawing | str:
    """Return the share wrong among the surest answers against how many of them are kept, or words.

    Args:
        curve: with or without intervals.
        thresholds: of the same answers; some are marked on the curve.
    """
    if curve.empty:
        return curve.note
    kept, risk = percents(curve.coverage), percents(curve.risk)
    marks = [
        (point.threshold, 100 * point.coverage, 100 * point.let_through / point.kept) for point in _marked(thresholds)
    ]
    highest = max((*curve.risk, *curve.high))
    top = next(end for end in (20, 40, 60, 80, 100) if 100 * highest <= end + 1e-9)

    def paint(sheet: Figure) -> None:
        axes = panel(sheet, LEFT, 48, SIDE, 320)
        percent_axes(axes, "answers kept, the surest first, %", "wrong among those kept, %")
        axes.set_ylim(-0.03 * top, 1.03 * top)
        axes.set_yticks([top * step / 4 for step in range(5)], labels=[f"{top * step / 4:g}" for step in range(5)])
        if curve.low:
            axes.fill_between(kept, percents(curve.low), percents(curve.high), color=BAND, alpha=0.3, linewidth=0)
        axes.plot(kept, percents(curve.best), color=MUTED, linewidth=1.2, dashes=(4, 3))
        axes.plot(kept, risk, color=ACCENT, linewidth=2.2, marker="o" if len(kept) == 1 else "")
        _mark(axes, [(f"≥ {threshold}", x, y) for threshold, x, y in marks], (6, 9))

    told = [f"at {threshold} or more {x:.0f} % are kept and {y:.0f} % of them are wrong" for threshold, x, y in marks]
    band = f" Grey: 95 %, {curve.method}." if curve.low else ""
    return Drawing(
        draw("risk-coverage", 394, paint),
        f"Risk against coverage of {words.several(curve.n, 'answer')}. Of all, {words.percent(curve.error.value)} are "
        f"wrong. {_listed(told)}",
        f"Acting on the surest answers alone, n {curve.n}. Dashed: the best order at this accuracy, all right answers "
        f"first. Confidence helps where the curve falls to the left.{band}{left_out(curve.left_out)}",
    )


def _marked(thresholds: ThresholdExplorer) -> list[AtThreshold]:
    """Return the thresholds that a drawing marks, without those that keep the same answers as a lower one."""
    found: list[AtThreshold] = []
    for threshold in _MARKED:
        point = thresholds.at_threshold(threshold)
        if point.kept and (not found or found[-1].kept != point.kept):
            found.append(point)
    return found


def _mark(axes: Axes, marks: Sequence[tuple[str, float, float]], offset: tuple[float, float]) -> None:
    """Put dots on a curve and their names beside them, as far as the names do not cover each other."""
    named: list[tuple[float, float]] = []
    for name, x, y in marks:
        axes.plot([x], [y], marker="o", markersize=7, color=INK, markeredgecolor=PAPER, markeredgewidth=1.2)
        if all(abs(x - left) > 2 * _APART or abs(y - up) > _APART for left, up in named):
            end = x > 85
            axes.annotate(
                name,
                (x, y),
                (-offset[0] if end else offset[0], offset[1]),
                textcoords="offset points",
                fontsize=SMALL,
                ha="right" if end else "left",
            )
            named.append((x, y))


def _legible(counts: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return the counts that can be written side by side: where two are too near, the larger one."""
    shown: list[tuple[float, int]] = []
    for at, count in counts:
        if shown and at - shown[-1][0] < 0.6 * _APART:
            if count > shown[-1][1]:
                shown[-1] = at, count
        else:
            shown.append((at, count))
    return shown


def _write_counts(axes: Axes, counts: Sequence[tuple[float, int]]) -> None:
    """Write how many there are above each bar."""
    for at, count in _legible(counts):
        axes.annotate(
            str(count), (at, count), (0, 2), textcoords="offset points", fontsize=10.5, color=MUTED, ha="center"
        )


def _size(point: ReliabilityBin) -> float:
    return 5.5 if point.few else 7.0 if point.n < 10 else 9.0


def _ends(point: ReliabilityBin) -> str:
    if point.low == point.high:
        return f"{100 * point.low:g}"
    return f"{100 * point.low:.0f} to {100 * point.high:.0f}"


def _outcome_words(one: OutcomeBars, bins: Sequence[tuple[float, float]]) -> str:
    held = [at for at, count in enumerate(one.bars) if count]
    return f"{one.outcome}: {one.n}, stated {100 * bins[held[0]][0]:g} to {100 * bins[held[-1]][1]:g}"


def _listed(parts: Sequence[str]) -> str:
    return words.sentence("; ".join(parts))


def _why(found: Estimate) -> str:
    return f" {words.sentence(found.note)}" if found.note else ""
