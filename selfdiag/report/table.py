"""Summaries as plain tables: one line a group, or one line a metric."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.raw_replies import Found
from selfdiag.protocols.regrade import Regraded
from selfdiag.protocols.summary import Group, Pooled, Source, Summaries
from selfdiag.report import words
from selfdiag.safety import one_line

LEAST_NAME = 19
"""Characters of a group's name that fit a terminal of 80 beside the figures."""
_WIDTHS = (6, 8, 6, 9, 9, 9, 9, 5)
_KIND_WORDS = {
    "parsed": "one JSON object, as asked for",
    "repaired": "an object with faults that could be mended",
    "salvaged": "no object, but lines such as 'Answer: X'",
    "unparsed": "no answer found",
    "truncated": "cut off",
    "empty": "nothing said",
}
_HEAD = ("n", "right", "says", "gap", "Brier", "ECE", "AUROC", "tier")
"""The gap is in points; tier is a letter, or a range where no letter is likely enough."""


def groups_table(summaries: Summaries, *, attempted: bool = False, width: int = 80) -> str:
    """Return one row a group, its 95 % intervals on the line below, and the pooled rows at the end.

    Args:
        summaries: the analysis.
        attempted: show the set in which refusals and abstentions that state a confidence count as wrong.
        width: of the terminal, in characters.
    """
    rows = [
        _Row(
            name=group_name(summary.group),
            metrics=summary.metrics_attempted if attempted else summary.metrics,
            says=summary.mean_confidence_attempted if attempted else summary.mean_confidence,
            tier=summary.tier.range or summary.tier.letter,
        )
        for summary in summaries.models
    ]
    pooled = summaries.pooled
    if pooled is not None:
        metrics = pooled.metrics_attempted if attempted else pooled.metrics
        says = pooled.mean_confidence_attempted if attempted else pooled.mean_confidence
        rows.append(_Row(name="all together", metrics=metrics, says=says, tier=""))
    longest = max(len(row.name) for row in rows)
    room = min(longest, max(width - sum(_WIDTHS), LEAST_NAME))
    shown = _shortened([row.name for row in rows], room)
    rows = [row._replace(name=name) for row, name in zip(rows, shown, strict=True)]
    lines = [_line("", _HEAD, room)]
    for row in rows:
        lines += ([""] if row is rows[-1] and pooled is not None else []) + _lines_of(row, room)
    if any(row.metrics["brier"].n != row.metrics["accuracy"].n for row in rows):
        lines += ["", "n and right count graded answers; the other figures use those of them that state a confidence."]
    return "\n".join(lines)


def metrics_table(metrics: dict[str, Estimate]) -> str:
    """Return one line a metric: name, value, interval, n and note."""
    lines = [f"{'':<26}{'value':>10}  {'95 % interval':<20}{'n':>8}"]
    for name, found in metrics.items():
        value = "–" if found.value is None else _number(found.value)
        ci = "" if found.ci is None else f"[{_number(found.ci[0])}, {_number(found.ci[1])}]"
        note = f"  {one_line(found.note)}" if found.note else ""
        lines.append(f"{name:<26}{value:>10}  {ci:<20}{found.n:>8}{note}")
    return "\n".join(lines)


def pooled_lines(pooled: Pooled) -> list[str]:
    """Return what pooling says of the differences between models."""
    if pooled.auroc is None:
        return []
    found = pooled.auroc
    return [
        f"AUROC of all {pooled.models} models' answers together {_with_interval(found.auroc)}; "
        f"ranked within each model {_with_interval(found.rank_normalised)}; "
        f"from telling models apart {_with_interval(found.between_models, sign=True)}."
    ]


def sources_lines(sources: dict[str, Source], group: Group | None = None) -> list[str]:
    """Return each other source of confidence beside the first, on the answers that have both."""
    lines = []
    first = next((name for name, source in sources.items() if source.differences is None), "")
    whose = f"{group_name(group)}: " if group is not None else ""
    for name, source in sources.items():
        if source.differences is None:
            continue
        differences = ", ".join(
            f"{metric} {_with_interval(found, sign=True)}" for metric, found in source.differences.items()
        )
        lines.append(f"{whose}{name} minus {first} confidence, {source.n} answers: {differences}")
    return lines


def group_name(group: Group | None) -> str:
    """Return a group's name: its model, topic and file, as far as they divide the rows."""
    if group is None:
        return "all rows"
    parts = [one_line(part, 40) if part else "(no name)" for part in (group.model, group.bin) if part is not None]
    if group.file is not None:
        parts.append(_end(one_line(group.file, 400), 40))
    return " · ".join(parts) or "all rows"


def _shortened(names: Sequence[str], room: int) -> list[str]:
    """Return the beginnings of names that are too long, or their ends where these alone tell them apart."""
    begun = [name if len(name) <= room else f"{name[: room - 1]}…" for name in names]
    return begun if len(set(begun)) == len(set(names)) else [_end(name, room) for name in names]


def _end(text: str, room: int) -> str:
    return text if len(text) <= room else f"…{text[1 - room :]}"


class _Row(NamedTuple):
    """What one line of the table speaks of."""

    name: str
    metrics: dict[str, Estimate]
    says: float | None
    tier: str


def _lines_of(row: _Row, room: int) -> list[str]:
    accuracy, gap = row.metrics["accuracy"], row.metrics["gap"]
    rest = [row.metrics[key] for key in ("brier", "ece", "auroc")]
    values = (
        str(accuracy.n),
        "–" if accuracy.value is None else f"{100 * accuracy.value:.1f} %",
        "" if row.says is None else f"{row.says:.1f}",
        "–" if gap.value is None else f"{100 * gap.value:+.1f}",
        *(words.fraction(found.value) for found in rest),
        row.tier,
    )
    intervals = (
        "",
        "" if accuracy.ci is None else f"{100 * accuracy.ci[0]:.0f}-{100 * accuracy.ci[1]:.0f} %",
        "",
        "" if gap.ci is None else f"{100 * gap.ci[0]:+.0f} {100 * gap.ci[1]:+.0f}",
        *("" if found.ci is None else f"{_short(found.ci[0])}-{_short(found.ci[1])}" for found in rest),
        "",
    )
    lines = [_line(row.name, values, room)]
    return [*lines, _line("", intervals, room)] if any(intervals) else lines


def _line(name: str, cells: Sequence[str], room: int) -> str:
    return (f"{name:<{room}}" + "".join(f"{cell:>{size}}" for cell, size in zip(cells, _WIDTHS, strict=True))).rstrip()


def _short(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") if abs(value) < 1000 else f"{value:.1f}"


def _with_interval(found: Estimate, *, sign: bool = False) -> str:
    if found.value is None:
        return f"– ({one_line(found.note)})" if found.note else "–"
    shown = words.signed if sign else words.fraction
    ends = "" if found.ci is None else f" [{shown(found.ci[0])}, {shown(found.ci[1])}]"
    return f"{shown(found.value)}{ends}"


def regrade_lines(found: Regraded, most: int = 40) -> list[str]:
    """Return what changes when a run is graded again, one line a reply."""
    run = one_line(found.run_id, 40)
    if not found.changes:
        return [f"run {run}: all {words.several(found.replies, 'reply', 'replies')} come out as recorded"]
    lines = [
        f"run {run}: {len(found.changes)} of {words.several(found.replies, 'reply', 'replies')} come out otherwise "
        f"today, {found.confidences} in their confidence"
    ]
    lines += [f"  {count} x {change}" for change, count in found.outcomes.items()]
    for change in found.changes[:most]:
        fields = "; ".join(
            f"{name} {one_line(repr(old), 60)} now {one_line(repr(change.now[name]), 60)}"
            for name, old in change.before.items()
        )
        lines.append(f"  {one_line(change.item_id, 40)}: {fields}")
    if len(found.changes) > most:
        lines.append(f"  and {len(found.changes) - most} more; --json has all")
    return [*lines, "The records are left as they are."]


def replies_lines(found: Found) -> list[str]:
    """Return what a file of raw replies holds: counts, then examples of everything but plain objects."""
    lines = [words.several(found.replies, "reply", "replies"), ""]
    lines += [f"  {kind:<12}{count:>7}  {_KIND_WORDS[kind]}" for kind, count in found.kinds.items()]
    lines += ["", f"  {'abstained':<12}{found.abstained:>7}  of those with an answer"]
    lines += [f"  {'refused':<12}{found.refused:>7}", f"  {'confidence':<12}{found.with_confidence:>7}  stated one"]
    if len(found.models) > 1:
        heads = list(found.kinds)
        lines += ["", f"  {'model':<32}" + "".join(f"{head:>11}" for head in heads)]
        for name, counts in found.models.items():
            lines.append(f"  {one_line(name, 30):<32}" + "".join(f"{counts[head]:>11}" for head in heads))
    if found.flags:
        flags = ", ".join(f"{name} {count}" for name, count in found.flags.items())
        lines += ["", *textwrap.wrap(f"flags: {flags}", 100, initial_indent="  ", subsequent_indent="    ")]
    if found.note:
        lines += ["", f"  {found.note}"]
    for kind, rows in found.examples.items():
        if kind == "parsed":
            continue
        lines += ["", f"{kind}, for example:"]
        for row in rows:
            answer = "no answer" if row.answer is None else repr(one_line(row.answer, 60))
            stated = "no confidence" if row.confidence is None else str(row.confidence)
            where = " ".join(one_line(part, 40) for part in (row.model, row.item) if part)
            lines.append(f"  line {row.line}{f' ({where})' if where else ''}: {answer}, {stated}")
            lines.append(f"    {one_line(row.raw, 110)}")
    return lines
