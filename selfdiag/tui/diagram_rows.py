"""Diagrams as rows of text: bars and tracks of characters with their numbers beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from selfdiag.tui.text import line

if TYPE_CHECKING:
    from selfdiag.measure.comparison_diagrams import SelfAssessmentRadar
    from selfdiag.measure.diagrams import ConfidenceByOutcome, OutcomeBars

DIM = "$foreground 25%"
MUTED = "$foreground 60%"
"""Shades of text within content, where the theme's ``$text-muted`` would lose its shade."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, cells: int, *, plain: bool) -> str:
    """Return a bar from the left, at least a sliver long where the share is not 0.

    Args:
        share: of the cells that it fills, 0 to 1.
        cells: there are.
        plain: whether only ASCII may be used.
    """
    if plain:
        return "#" * max(round(share * cells), int(share > 0))
    eighths = max(round(8 * share * cells), int(share > 0))
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def track(value: float | None, ci: tuple[float, float] | None, cells: int, *, plain: bool) -> Content:
    """Return a line from 0 to 1 with the value as a dot on it and the interval as its thick part.

    Args:
        value: 0 to 1; without one the line is empty.
        ci: the ends of the interval, 0 to 1.
        cells: of the line.
        plain: whether only ASCII may be used.
    """
    thin, thick, dot = ("-", "=", "o") if plain else ("─", "━", "●")
    if value is None:
        return Content.styled(thin * cells, DIM)
    at = _cell(value, cells)
    low, high = (_cell(end, cells) for end in ci) if ci is not None else (at, at)
    # an interval that resampling has moved beside its value must not hide the value
    return Content.assemble(
        *(
            (dot, "$accent") if cell == at else (thick, "$accent 60%") if low <= cell <= high else (thin, DIM)
            for cell in range(cells)
        )
    )


def outcome_rows(diagram: ConfidenceByOutcome, width: int, *, plain: bool) -> list[Content]:
    """Return how often each confidence was stated, to the left when wrong and to the right when right.

    What became of the other replies follows in a line each.

    Args:
        diagram: the histograms.
        width: columns.
        plain: whether only ASCII may be used.
    """
    if diagram.empty:
        return [line(diagram.note)]
    by_name = {one.outcome: one for one in diagram.series}
    right, wrong = by_name["right"], by_name["wrong"]
    occupied = [at for at in range(len(diagram.bins)) if any(one.bars[at] for one in (right, wrong))]
    labels = [_bin_label(*ends) for ends in diagram.bins]
    middle = max((len(label) for label in labels), default=4)
    cells = max(4, (width - middle - 12) // 2)
    longest = max((*right.bars, *wrong.bars, 1))
    marks = ("x", "+") if plain else ("✗", "✓")
    rows = [
        Content.assemble(
            (f"{f'{marks[0]} wrong {wrong.n}':>{cells + 4}}", "$error"),
            (f"  {'sure':^{middle}}  ", MUTED),
            (f"{marks[1]} right {right.n}", "$success"),
        )
    ]
    for at in reversed(range(min(occupied, default=0), max(occupied, default=-1) + 1)):
        left = _leftwards(wrong.bars[at] / longest, cells, plain=plain)
        rows.append(
            Content.assemble(
                (f"{_count(wrong.bars[at]):>{cells + 3 - len(left)}} ", MUTED),
                (left, "$error"),
                (f"  {labels[at]:^{middle}}  ", "" if at in occupied else MUTED),
                (bar(right.bars[at] / longest, cells, plain=plain), "$success"),
                (f" {_count(right.bars[at])}", MUTED),
            )
        )
    rows += _others(by_name, diagram.bins, plain=plain)
    return [*rows, line(f"left out: {diagram.left_out}").stylize(MUTED)] if diagram.left_out else rows


def _others(by_name: dict[str, OutcomeBars], bins: Sequence[tuple[float, float]], *, plain: bool) -> list[Content]:
    """Return what was stated in replies that are neither right nor wrong, as the span of their confidences."""
    rows = []
    signs = {"abstained": "o" if plain else "○", "missed trap": "!", "spotted trap": "+" if plain else "✓"}
    for name, sign in signs.items():
        found = by_name[name]
        if not found.n and not found.unstated:
            continue
        held = [at for at, count in enumerate(found.bars) if count]
        said = f"stated {_bin_label(bins[held[0]][0], bins[held[-1]][1])}" if held else "stated nothing"
        silent = f", {found.unstated} without a confidence" if found.unstated and held else ""
        rows.append(Content.assemble(f"{sign} {name} {found.n + found.unstated}", (f"  {said}{silent}", MUTED)))
    return [Content(""), *rows] if rows else []


def radar_rows(radar: SelfAssessmentRadar, width: int, *, plain: bool) -> list[Content]:
    """Return for each criterion what the model claims of itself and what it does, as two tracks.

    Args:
        radar: both profiles.
        width: columns.
        plain: whether only ASCII may be used.
    """
    if radar.empty:
        return [line(radar.note)]
    rows = []
    for spoke in radar.spokes:
        rows.append(Content.assemble((spoke.name, "bold"), f"  {spoke.label}"))
        sd = "" if spoke.internal_sd is None else f" ± {spoke.internal_sd:.2f}"
        claimed = (
            f"{spoke.internal:.2f}{sd}  n {spoke.internal_n}" if spoke.internal is not None else spoke.internal_note
        )
        rows += _profile_rows("claims", spoke.internal, None, claimed, width, plain=plain)
        ci = "" if spoke.external_ci is None else f" [{spoke.external_ci[0]:.2f}, {spoke.external_ci[1]:.2f}]"
        done = f"{spoke.external:.2f}{ci}  n {spoke.external_n}" if spoke.external is not None else spoke.external_note
        rows += _profile_rows("does", spoke.external, spoke.external_ci, done, width, plain=plain)
    return [*rows, Content.styled(radar.left_out, MUTED)] if radar.left_out else rows


def _profile_rows(
    name: str, value: float | None, ci: tuple[float, float] | None, said: str, width: int, *, plain: bool
) -> list[Content]:
    """Return a track with what is said of it; words stand in its place where there is nothing to draw."""
    head = Content.styled(f"    {name:<8}", MUTED)
    if value is not None:
        cells = max(10, min(40, width - 44))
        return [Content.assemble(head, track(value, ci, cells, plain=plain), "  ", line(said))]
    rows = line(said, 400).wrap(max(10, width - head.cell_length))
    blank = Content(" " * head.cell_length)
    return [Content.assemble(blank if at else head, row.stylize(MUTED)) for at, row in enumerate(rows)]


def _leftwards(share: float, cells: int, *, plain: bool) -> str:
    # there are no block characters that grow from the right in eighths
    return ("#" if plain else "█") * max(round(share * cells), int(share > 0))


def _count(number: int) -> str:
    return str(number) if number else ""


def _bin_label(low: float, high: float) -> str:
    if low == high:
        return f"{100 * low:g}"
    return f"{100 * low:.0f}-{100 * high:.0f}"


def _cell(value: float, cells: int) -> int:
    return min(cells - 1, max(0, int(value * cells)))
