"""From the data of a diagram to a picture of it, or to the words that say why there is none.

Shares are fractions in the data and percent in a picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from selfdiag.tui.picture import Picture, Series

if TYPE_CHECKING:
    from selfdiag.measure.curves import RiskCoverageCurve, RocCurve
    from selfdiag.measure.diagrams import ReliabilityDiagram
    from selfdiag.measure.reliability import ReliabilityBin

MANY = 10
"""Answers from which on a point of a reliability diagram is drawn large."""
_DENSE = 100
"""Intervals side by side that leave no gap in a plot of any usual width."""
_DIAGONAL = Series(kind="line", x=(0.0, 100.0), y=(0.0, 100.0), tone="muted")


def reliability(diagram: ReliabilityDiagram) -> Picture | str:
    """Return the share right against the stated confidence: three sizes of points, intervals, and bands behind them.

    A band is where a calibrated model's share would lie, 95 times in 100.
    """
    if diagram.empty:
        return diagram.note
    points = diagram.points
    stated = tuple(100 * point.mean_confidence for point in points)
    sizes = (
        ("◦", "<5", [point for point in points if point.few]),
        ("•", f"5-{MANY - 1}", [point for point in points if not point.few and point.n < MANY]),
        ("●", f"{MANY}+", [point for point in points if not point.few and point.n >= MANY]),
    )
    shown = [(glyph, name, members) for glyph, name, members in sizes if members]
    last = shown[-1][1]
    named = "value" if diagram.grouped_by == "value" else "tenth"
    method = "95 % Wilson intervals" if diagram.method == "Wilson" else diagram.method
    return Picture(
        x_label="stated confidence, %",
        y_label="right, %",
        series=(
            Series(
                kind="intervals",
                name="if calibrated",
                x=stated,
                low=tuple(100 * point.band[0] for point in points),
                high=tuple(100 * point.band[1] for point in points),
                tone="muted",
            ),
            _DIAGONAL,
            Series(
                kind="intervals",
                x=stated,
                low=tuple(100 * point.ci[0] for point in points),
                high=tuple(100 * point.ci[1] for point in points),
            ),
            *(_points(members, glyph, f"{name} answers" if name == last else name) for glyph, name, members in shown),
        ),
        caption=_joined(f"n {diagram.n}, by {named}, {method}", diagram.left_out),
    )


def roc(curve: RocCurve) -> Picture | str:
    """Return the right answers kept against the wrong ones kept, over every threshold."""
    if curve.empty:
        return curve.note
    return Picture(
        x_label="wrong kept, %",
        y_label="right kept, %",
        series=(
            _DIAGONAL,
            Series(kind="line", x=_percent(curve.false_positive_rate), y=_percent(curve.true_positive_rate)),
        ),
        caption=_joined(f"n {curve.n}, every threshold; dotted: chance", curve.left_out),
    )


def risk_coverage(curve: RiskCoverageCurve, *, coverage: float | None = None) -> Picture | str:
    """Return the share wrong among the surest answers against how many of them are kept.

    Args:
        curve: with or without intervals.
        coverage: share of the answers kept, 0 to 1, that is marked by an upright line.
    """
    if curve.empty:
        return curve.note
    kept, risk = _percent(curve.coverage), _percent(curve.risk)
    highest = 100 * max((*curve.risk, *curve.high))
    top = next(end for end in (20.0, 40.0, 60.0, 80.0, 100.0) if highest <= end + 1e-9)
    series = [
        Series(kind="line", name="best order", x=kept, y=_percent(curve.best), tone="muted"),
        Series(kind="line", name="surest first", x=kept, y=risk),
    ]
    if curve.low:
        series.insert(0, _area(kept, _percent(curve.low), _percent(curve.high)))
    if coverage is not None:
        series.append(Series(kind="vertical", x=(100 * coverage,), tone="plain"))
    return Picture(
        x_label="answers kept, %",
        y_label="wrong, %",
        y_range=(0.0, top),
        y_ticks=tuple(top * step / 4 for step in range(5)),
        series=tuple(series),
        caption=_joined(f"n {curve.n}", "upright: the threshold" if coverage is not None else "", curve.left_out),
    )


def _points(members: Sequence[ReliabilityBin], glyph: str, name: str) -> Series:
    return Series(
        kind="points",
        name=name,
        x=tuple(100 * point.mean_confidence for point in members),
        y=tuple(100 * point.accuracy for point in members),
        glyph=glyph,
    )


def _area(x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Series:
    """Return intervals as a ground without gaps: each one holds for all that is nearer to it than to another."""
    copies = math.ceil(_DENSE / len(x))
    gap = (x[-1] - x[0]) / max(1, len(x) - 1)
    offsets = [gap * ((copy + 0.5) / copies - 0.5) for copy in range(copies)]
    return Series(
        kind="intervals",
        name="95 %",
        x=tuple(min(x[-1], max(x[0], at + offset)) for at in x for offset in offsets),
        low=tuple(end for end in low for _ in offsets),
        high=tuple(end for end in high for _ in offsets),
        tone="muted",
    )


def _percent(shares: Sequence[float]) -> tuple[float, ...]:
    return tuple(100 * share for share in shares)


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
