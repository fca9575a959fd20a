"""Topic by topic: how often right, how sure, the gap between the two, and in how many topics both are good enough."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from selfdiag.tui.diagram_rows import DIM, MUTED
from selfdiag.tui.text import line
from selfdiag.tui.widgets.drawn import Drawn

if TYPE_CHECKING:
    from selfdiag.measure.estimate import Estimate
    from selfdiag.measure.partition import PartitionTest
    from selfdiag.measure.topic_diagrams import ConstrainedSurface, TopicGap, TopicGaps
    from selfdiag.protocols.diagrams import Diagrams
    from selfdiag.protocols.summary import Summary
    from selfdiag.runs.store import Run

_LEAST_BAR = 12
"""Cells below which a dumbbell shows nothing."""
_DOUBTFUL = 0.05
"""A p-value from here on does not speak against chance."""
_SHADES, _PLAIN_SHADES = "·░▒▓█", "-.:*#"
_ACROSS, _UP = 5, 10
"""Percent between two columns and two lines of the surface."""


class TopicFindings(msgspec.Struct, frozen=True, kw_only=True):
    """What beside the diagrams the tab shows: volumes with intervals, and topics beside random groups of answers.

    ``largest`` is the number of answers in the largest of the ``topics``.
    """

    pvc: Estimate
    c_pvc: Estimate
    worst_gap: PartitionTest
    variance: PartitionTest


def topic_findings(run: Run, *, by_group: bool) -> TopicFindings:
    """Return what the answered probes of a run say of its topics.

    Args:
        run: manifest and records.
        by_group: take the five groups of topics.
    """
    import numpy as np

    from selfdiag.battery.items import GROUPS
    from selfdiag.measure.partition import category_items, partition_test, volume_estimates
    from selfdiag.protocols.sources import run_columns

    columns, _ = run_columns(run, run.measured())
    group_of = {name: group for group, names in GROUPS.items() for name in names} if by_group else {}
    rows = [
        row
        for row, outcome in enumerate(columns.outcome)
        if outcome in {"correct", "incorrect"} and not columns.trap[row] and columns.bin[row]
    ]
    items = category_items(
        np.array([group_of.get(columns.bin[row], columns.bin[row]) for row in rows], dtype=np.str_),
        [columns.outcome[row] == "correct" for row in rows],
        columns.confidence[rows],
        [str(item) for item in columns.item[rows].tolist()],
    )
    volumes, tests = volume_estimates(items), partition_test(items)
    return TopicFindings(
        pvc=volumes["pvc_vus"],
        c_pvc=volumes["c_pvc_vus"],
        worst_gap=tests.worst_gap,
        variance=tests.between_variance,
    )


class TopicsTab(VerticalScroll):
    """Topics from the most overconfident one on, and the surface of how many pass two thresholds."""

    HELP = (
        "Right and says of each topic, the most overconfident first. A marked gap is larger than 95 % of perfectly "
        "calibrated models show at this n."
    )
    SCOPED_CSS = False
    DEFAULT_CSS = """
    TopicsTab { padding: 0 1; scrollbar-size-vertical: 1; }
    TopicsTab > .surface { margin-top: 1; }
    .-wide TopicsTab { layout: horizontal; }
    .-wide TopicsTab > .surface { width: 38; margin: 0 0 0 2; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._gaps = Drawn()
        self._surface = Drawn("", classes="surface")

    def compose(self) -> ComposeResult:
        """Yield the topics and the surface."""
        yield self._gaps
        yield self._surface

    def show(self, summary: Summary, diagrams: Diagrams, found: TopicFindings) -> None:
        """Show the topics of a run."""
        self._gaps.show(partial(_gaps, summary, diagrams))
        self._surface.show(partial(_surface, diagrams, found))


def _gaps(summary: Summary, diagrams: Diagrams, width: int, plain: bool) -> Content:
    topics = diagrams.topics
    if topics.empty:
        return Content(topics.note)
    right, says = ("o", "@") if plain else ("○", "●")
    longest = max(len("topic"), *(min(len(topic.name), 24) for topic in topics.topics))
    bar = min(width - longest - 38, 60)
    head = f"{'topic':<{longest}}{'n':>5}  {'right':<15}{'says':>5}{'gap':>8}  "
    scale = f"0{'100':>{bar - 1}}" if bar >= _LEAST_BAR else ""
    lines = [Content.assemble((f"{head}{scale}", MUTED))]
    lines += [_topic(topic, longest, bar, plain=plain) for topic in topics.topics]
    legend = f"{right} right  {says} says  " if bar >= _LEAST_BAR else ""
    lines.append(Content.assemble((f"{legend}! larger than in 95 of 100 calibrated models of this n", MUTED)))
    lines += [line(note, 400).stylize(MUTED) for note in _notes(summary, topics, by_group=diagrams.by_group)]
    return Content("\n").join(lines)


def _topic(topic: TopicGap, longest: int, bar: int, *, plain: bool) -> Content:
    from selfdiag.report import words

    quiet = MUTED if topic.few else ""
    ends = f"[{100 * topic.ci[0]:.0f}, {100 * topic.ci[1]:.0f}]"
    figures = (
        f"{topic.n:>5}  {f'{words.percent(topic.accuracy)} {ends}':<15}{100 * topic.mean_confidence:>5.0f}"
        f"{words.signed(topic.gap):>8}"
    )
    parts = [
        line(topic.name.replace("_", " "), 60).truncate(longest, ellipsis=True, pad=True).stylize(quiet),
        Content.assemble((figures, quiet), (" !" if topic.beyond_chance else "  ", "$error")),
    ]
    if bar >= _LEAST_BAR:
        parts.append(_dumbbell(topic, bar, plain=plain))
    return Content("").join(parts)


def _dumbbell(topic: TopicGap, width: int, *, plain: bool) -> Content:
    """Return accuracy and mean confidence as two dots with a line between, over the interval of the accuracy."""
    thin, thick, right, says, both = ".-o@*" if plain else "·━○●◉"

    def at(value: float) -> int:
        return round(value * (width - 1))

    cells = [(" ", "")] * width
    for place in range(at(topic.ci[0]), at(topic.ci[1]) + 1):
        cells[place] = thin, MUTED
    low, high = sorted((at(topic.accuracy), at(topic.mean_confidence)))
    for place in range(low, high + 1):
        cells[place] = thick, "$error" if topic.beyond_chance else MUTED
    cells[at(topic.accuracy)] = right, "$foreground"
    cells[at(topic.mean_confidence)] = (both if low == high else says), "$accent"
    return Content.assemble(*cells)


def _notes(summary: Summary, topics: TopicGaps, *, by_group: bool) -> list[str]:
    from selfdiag.report import words

    worst = summary.worst_group if by_group else summary.worst_bin
    notes = []
    if by_group:
        notes.append("groups of topics: no single topic has 10 answers")
    if worst is not None:
        mean, upper = words.fraction(worst.band.mean), words.fraction(worst.band.upper)
        notes.append(
            f"the largest gap is {words.signed(worst.gap)} ({worst.name}); of calibrated topics of these sizes the "
            f"worst shows {mean} on average and less than {upper} in 95 of 100 cases"
        )
    notes += [topics.left_out] if topics.left_out else []
    notes += [topics.method] if topics.method != "Wilson" else []
    return notes


def _surface(diagrams: Diagrams, found: TopicFindings, width: int, plain: bool) -> Content:  # noqa: ARG001 - a ``Draw``
    surface = diagrams.surface
    if surface.empty:
        return Content("")
    from selfdiag.report.words import several

    what = "groups" if diagrams.by_group else "topics"
    k = several(surface.categories, what.removesuffix("s"))
    told = [
        Content.assemble((f"accurate and calibrated enough: how many of {k} (C-PVC)", MUTED)),
        *_map(surface, plain=plain),
    ]
    sentences = [
        f"volume {_volume(found.pvc)} of {k} by accuracy alone, {_volume(found.c_pvc)} with the error tolerated",
        _partition(found.worst_gap, f"the largest error of a {what.removesuffix('s')}"),
        _partition(found.variance, f"the variance of accuracy between {what}"),
        "it compares models and finds topics that fail; it certifies nothing",
        surface.left_out,
    ]
    told += [Content(""), *(line(sentence, 400) for sentence in sentences if sentence)]
    return Content("\n").join(told)


def _map(surface: ConstrainedSurface, *, plain: bool) -> list[Content]:
    """Return the surface as characters, the more categories the darker, with both scales."""
    shades = _PLAIN_SHADES if plain else _SHADES
    most = len(shades) - 1
    lines = []
    for g in range(100, -1, -_UP):
        row = surface.cells[g][::_ACROSS]
        cells = [shades[-(-most * count // surface.categories)] for count in row]
        label = f"{g:>4} " if g % 50 == 0 else "     "
        best = f"  {surface.cells[g][100]} of {surface.categories}" if g % 50 == 0 else ""
        drawn = ((cell, DIM if cell == shades[0] else "$accent") for cell in cells)
        lines.append(Content.assemble((label, MUTED), *drawn, (best, MUTED)))
    columns = len(range(0, 101, _ACROSS))
    axis = f"     {'0':<{columns // 2 - 1}}{'50':<{columns // 2 - 2}}{'100':>3}"
    lines.append(Content.assemble((axis, MUTED)))
    up = "(up)" if plain else "↑"
    across = "->" if plain else "→"
    key = f"{up} required accuracy, %   {across} tolerated calibration error, %"
    lines.append(Content.assemble((f"{key}   {shades[0]} none  {shades[1]} some  {shades[-1]} all", MUTED)))
    return lines


def _volume(found: Estimate) -> str:
    if found.value is None:
        return f"– ({found.note})"
    ends = f" [{found.ci[0]:.1f}, {found.ci[1]:.1f}]" if found.ci else ""
    return f"{found.value:.1f}{ends}"


def _partition(test: PartitionTest, what: str) -> str:
    """Return whether topics differ more than random groups of the same answers."""
    from selfdiag.report import words

    if test.observed is None or test.percentile is None or test.p is None:
        return f"{what}: {test.note}"
    verdict = "no more than random groups show" if test.p >= _DOUBTFUL else "more than random groups show"
    return (
        f"{what} is {words.fraction(test.observed)}, larger than in {test.percentile:.0f} % of {test.partitions:,} "
        f"random groupings of the same answers (p {words.fraction(test.p)}): {verdict}"
    )
