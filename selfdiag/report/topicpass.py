"""The topic-labelled pass as lines for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Callable

from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.topicpass import PassFigures, TopicPass, topicpass_of
from selfdiag.report import words
from selfdiag.report.arms import (
    arm_lines,
    arm_rows,
    ends,
    method_rows,
    notes_lines,
    points,
    points_ends,
    profile_rows,
    what_was_asked,
    wrapped,
)
from selfdiag.report.page import WIDTH, cell, table
from selfdiag.runs.ladder_plan import OWN, SHUFFLED
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

NAMES = {OWN: "true", SHUFFLED: "false"}
PASSES = {True: "topic named", False: "topic not named"}


def topicpass_lines(found: TopicPass) -> list[str]:
    """Return the result as lines, none wider than ``WIDTH`` characters."""
    lines = [f"topic pass · {what_was_asked(found.model, found.battery)}"[:WIDTH], *wrapped(_design(found)), ""]
    lines += [*wrapped(answer_sentence(found)), ""]
    lines.append(f"{'false minus true':<26}{'topic named':<28}topic not named")
    for name, shown in _rows(found):
        lines.append(f"{name:<26}{shown[0]:<28}{shown[1]}".rstrip())
    for figures in (found.labelled, found.unlabelled):
        lines += ["", PASSES[figures.labelled], *arm_lines((figures.true, figures.false), NAMES)]
    missing = [f"{name}: {one_line(one.note, 100)}" for name, one in _missing(found)]
    return [*lines, *([""] if missing or found.notes else []), *notes_lines([*missing, *found.notes])]


def answer_sentence(found: TopicPass) -> str:
    """Return whether the false profile moved the confidence, and whether that took the topic's name."""
    named, bare = (_moves(figures.followed) for figures in (found.labelled, found.unlabelled))
    if named == "unknown":
        return f"No answer: {one_line(found.labelled.followed.note, 120)}."
    if named == "follows" and bare == "follows":
        return "Its confidence follows the false profile, whether or not the question names its topic."
    if named == "follows":
        return (
            "Its confidence follows the false profile where the question names its topic; that it does so without the "
            "name is not shown."
        )
    if named == "against":
        return "Its confidence moves against the false profile."
    if bare == "follows":
        return "Its confidence follows the false profile only where the question does not name its topic."
    return "It is not shown that its confidence follows the false profile."


def _moves(found: Estimate) -> str:
    if found.value is None:
        return "unknown"
    # several items that all move alike leave no interval, and no doubt
    low, high = found.ci or ((found.value, found.value) if found.n > 1 else (0.0, 0.0))
    return "follows" if low > 0 else "against" if high < 0 else "not shown"


def _design(found: TopicPass) -> str:
    return (
        f"{words.several(found.items, 'item')}, each under the true and a false profile, with and without the topic's "
        "name: strong topics look weak in the false one."
    )


_Measured = tuple[str, Callable[[PassFigures], Estimate], str]
_MEASURED: tuple[_Measured, ...] = (
    ("confidence, points", lambda figures: figures.shift, "points"),
    ("toward the claim, points", lambda figures: figures.followed, "points"),
    ("Brier score", lambda figures: figures.brier, "signed"),
    ("accuracy", lambda figures: figures.accuracy, "signed"),
    ("induced abstention", lambda figures: figures.induced, "share"),
)


def _rows(found: TopicPass) -> list[tuple[str, tuple[str, str]]]:
    return [
        (name, (_shown(of(found.labelled), kind), _shown(of(found.unlabelled), kind))) for name, of, kind in _MEASURED
    ]


def _missing(found: TopicPass) -> list[tuple[str, Estimate]]:
    """Return the figures without a value or an interval, each with the reason in its note."""
    figures = [
        (f"{name}, {PASSES[labelled.labelled]}", of(labelled))
        for name, of, _ in _MEASURED
        for labelled in (found.labelled, found.unlabelled)
    ]
    return [(name, one) for name, one in figures if one.ci is None]


def _shown(found: Estimate, kind: str) -> str:
    if kind == "points":
        return f"{points(found.value, sign=True)} {points_ends(found.ci)}".rstrip()
    if kind == "share":
        return f"{words.fraction(found.value)} {ends(found.ci)}".rstrip()
    return f"{words.signed(found.value)} {ends(found.ci, sign=True)}".rstrip()


def topicpass_markdown(run: Run, found: TopicPass | None = None) -> str:
    """Return the report of a topic pass; the same run gives the same bytes.

    Args:
        run: manifest and records.
        found: its result, computed when None.

    Raises:
        SelfdiagError: when the run holds no topic pass.
    """
    found = found or topicpass_of(run)
    rows = [
        [name, PASSES[figures.labelled], _shown(of(figures), kind), str(of(figures).n), cell(of(figures).note)]
        for name, of, kind in _MEASURED
        for figures in (found.labelled, found.unlabelled)
    ]
    rows.append(
        [
            "toward the claim, points",
            "named minus not named",
            _shown(found.association, "points"),
            str(found.association.n),
            cell(found.association.note),
        ]
    )
    arms = "\n\n".join(
        f"{PASSES[figures.labelled]}:\n\n{arm_rows((figures.true, figures.false), NAMES)}"
        for figures in (found.labelled, found.unlabelled)
    )
    released = ", ".join(
        f"{figures.released} with the {PASSES[figures.labelled]}" for figures in (found.labelled, found.unlabelled)
    )
    parts = [
        f"# Topic pass: {cell(found.model.name)}{' (simulated)' if found.model.simulated else ''}",
        "\n".join(f"- {cell(note, 400)}" for note in found.notes),
        f"**{answer_sentence(found)}**",
        f"## Design\n\n{_design(found)} The prompts of an item differ in the numbers of the slot and in the line that "
        "names its topic alone; all calls are mixed in an order that the seed draws.",
        f"## Profiles\n\n{profile_rows(found.profiles, NAMES)}",
        "## False minus true\n\nMeans over items, paired, with 95 % intervals. *Toward the claim* turns each shift so "
        "that following the claim counts as positive. *Induced abstention* is the share of items abstained from under "
        "the false profile among those answered under the true one; the opposite occurred in rows: "
        f"{released}.\n\n" + table(["measure", "pass", "value", "items", "note"], rows),
        f"## Arms\n\n{arms}",
        "## How it was asked\n\n" + method_rows(run, "topicpass", _flags(found)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _flags(found: TopicPass) -> list[str]:
    topics = max((figures.topics for figures in found.profiles), default=0)
    per_topic = round(found.items / topics) if topics else 1
    return ["--items-per-topic", str(per_topic)] if per_topic > 1 else []
