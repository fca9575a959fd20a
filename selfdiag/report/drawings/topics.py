"""Drawings by topic and by family of traps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from selfdiag.measure.diagrams import WILSON
from selfdiag.measure.topic_diagrams import TopicGaps
from selfdiag.report import words
from selfdiag.report.drawings.rows import ABOVE, GapRow, gap_rows, row_height, row_panel, write_row
from selfdiag.report.drawings.svg import INK, LINE, RIGHT, SMALL, WRONG, Drawing, draw, label, left_out, percents

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 40
"""So many topics are drawn, the largest gaps; the table has all."""


def topics(diagram: TopicGaps, *, groups: bool) -> Drawing | str:
    """Return accuracy and stated confidence topic by topic, the most overconfident first, or words.

    Args:
        diagram: the topics.
        groups: they are groups of topics.
    """
    if diagram.empty:
        return diagram.note
    shown = sorted(sorted(diagram.topics, key=lambda topic: -abs(topic.gap))[:MOST], key=lambda topic: -topic.gap)
    rows = [
        GapRow(topic.name, 100 * topic.accuracy, percents(topic.ci), 100 * topic.mean_confidence, topic.beyond_chance)
        for topic in shown
    ]
    told = [
        f"{label(topic.name.replace('_', ' '))} {words.percent(topic.accuracy)} right, "
        f"{100 * topic.mean_confidence:.0f} stated, n {topic.n}"
        for topic in shown
    ]
    beyond = sum(topic.beyond_chance for topic in diagram.topics)
    what = "group of topics" if groups else "topic"
    among = words.several(len(diagram.topics), what, "groups of topics" if groups else "")
    chance = (
        f"Gaps marked ! are larger than 95 % of perfectly calibrated models show at this n: {beyond} of {among}; by "
        "chance one in twenty is"
    )
    cut = f" The {MOST} largest gaps of {len(diagram.topics)}." if len(shown) < len(diagram.topics) else ""
    method = "95 % Wilson intervals" if diagram.method == WILSON else diagram.method
    return Drawing(
        gap_rows("topics", rows),
        f"Share right and stated confidence by {what}: {'; '.join(told)}.",
        f"Share right with its interval ({method}) and mean stated confidence, n {diagram.n}; the gap is stated minus "
        f"right. {chance}.{cut}{left_out(diagram.left_out)}",
    )


def traps(families: Mapping[str, Mapping[str, int]]) -> Drawing | str:
    """Return how many traps of each family were spotted and how many answered, or words.

    Args:
        families: counts ``asked``, ``abstained`` and ``incorrect`` by family.
    """
    if not families:
        return "no traps were asked"
    most = max(row["asked"] for row in families.values())

    def paint(sheet: Figure) -> None:
        axes = row_panel(sheet, len(families))
        axes.set_xlim(0, max(most, 1))
        axes.set_xticks([])
        for place, (name, row) in enumerate(families.items()):
            spotted, missed = row["abstained"], row["incorrect"]
            other = row["asked"] - spotted - missed
            axes.barh([place], [spotted], height=0.52, color=RIGHT, linewidth=0)
            axes.barh([place], [missed], left=[spotted], height=0.52, color=WRONG, hatch="////", linewidth=0)
            axes.barh([place], [other], left=[spotted + missed], height=0.52, color=LINE, linewidth=0)
            write_row(axes, place, name, f"{spotted} of {row['asked']}")
        for x, colour, hatch, text in (
            (-0.45, RIGHT, "", "✓ spotted"),
            (0.1, WRONG, "////", "! answered"),
            (0.74, LINE, "", "other"),
        ):
            axes.barh([ABOVE], [0.04 * most], left=[x * most], height=0.4, color=colour, hatch=hatch, clip_on=False)
            axes.text((x + 0.06) * most, ABOVE, text, va="center", fontsize=SMALL, color=INK)

    told = [
        f"{label(name.replace('_', ' '))} {row['abstained']} of {row['asked']} spotted, {row['incorrect']} answered"
        for name, row in families.items()
    ]
    asked = sum(row["asked"] for row in families.values())
    return Drawing(
        draw("traps", row_height(len(families)), paint),
        f"Traps by family: {'; '.join(told)}.",
        f"Questions that have no answer, by what is wrong with them, n {asked}. Other: refused, not readable, or the "
        "call failed.",
    )
