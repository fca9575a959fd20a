"""Drawings of experiments in which something stands in the place of a profile: what each arm does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.arms import ArmFigures
from selfdiag.report import words
from selfdiag.report.arms import points, points_ends
from selfdiag.report.drawings.effects import Effect, Mark, effects
from selfdiag.report.drawings.rows import GapRow, gap_rows
from selfdiag.report.drawings.svg import Drawing, left_out, percents

Scale = Literal["share", "points"]


class Shown(NamedTuple):
    """A difference by its name: what is told ``below`` it, and whether more of it is ``better``."""

    name: str
    below: str
    found: Estimate
    better: bool = False


def differences(rows: Sequence[Shown], *, of: str, scale: Scale) -> Drawing | str:
    """Return differences with their intervals, or words.

    Args:
        rows: those without a value are left out and named.
        of: what the differences are of, for the axis.
        scale: ``share`` for fractions, ``points`` for points of a percentage.
    """
    known = [_effect(row, row.found.value, scale) for row in rows if row.found.value is not None]
    if not known:
        return rows[0].found.note if rows else "nothing was compared"
    absent = [f"{row.name} ({row.found.note})" for row in rows if row.found.value is None]
    told = [f"{row.name} {row.said} {row.said_ends}" for row in known]
    how = " (round: better, diamond: worse)" if any(row.better for row in rows) else ""
    return Drawing(
        effects("differences", known, axis=of, step=0.1 if scale == "share" else 10),
        f"Differences in {of}: {'; '.join(told)}.",
        f"Differences in {of} with 95 % intervals. Filled: the interval does not hold 0{how}; each by itself, not "
        f"corrected for their number.{left_out('; '.join(absent))}",
    )


def arms(rows: Sequence[tuple[str, ArmFigures]]) -> Drawing | str:
    """Return how often each arm is right and how sure it says it is, or words.

    Args:
        rows: each arm with its name; one without answers is left out and named.
    """
    drawn: list[GapRow] = []
    told: list[str] = []
    absent: list[str] = []
    for name, arm in rows:
        found, stated = arm.accuracy, arm.mean_confidence
        if found.value is None or stated is None:
            absent.append(name)
            continue
        drawn.append(GapRow(name, 100 * found.value, percents(found.ci) if found.ci else None, stated))
        ends = words.interval(found, kind="percent") or "no interval"
        told.append(f"{name} right {words.percent(found.value)} {ends}, stated {stated:.0f}, n {found.n}")
    if not drawn:
        return "no arm has answers with a confidence"
    rest = f" No answers: {', '.join(absent)}." if absent else ""
    return Drawing(
        gap_rows("arms", drawn),
        f"Share right and mean stated confidence by arm: {'; '.join(told)}.",
        "Share of right answers (its 95 % interval is the pale bar) and mean stated confidence under each arm; the gap "
        f"is what it states too much.{rest}",
    )


def _effect(row: Shown, value: float, scale: Scale) -> Effect:
    ends = row.found.ci
    off = ends is not None and not ends[0] <= 0 <= ends[1]
    mark: Mark = "not shown" if not off else "neither" if not row.better else "better" if value > 0 else "worse"
    shares = scale == "share"
    said_ends = words.interval(row.found, kind="signed") if shares else points_ends(ends)
    return Effect(
        name=row.name,
        below=row.below,
        value=value,
        ends=ends,
        said=words.signed(value) if shares else points(value, sign=True),
        said_ends=said_ends or "no interval",
        mark=mark,
    )
