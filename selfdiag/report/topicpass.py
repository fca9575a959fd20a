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
    measured_in,
    method_markdown,
    points,
    points_ends,
    profile_rows,
    who_was_asked,
)
from selfdiag.report.page import WIDTH, cell, notes_lines, table, wrapped
from selfdiag.runs.store import Run

PASSES = {True: "topic named", False: "topic not named"}


def topicpass_lines(found: TopicPass) -> list[str]:
    """Return the result as lines, none wider than ``WIDTH`` characters; too few items are told first."""
    sentence = wrapped(found.sentence)
    lines = [*sentence, ""] if found.too_few else []
    lines += [f"topic pass · {who_was_asked(found.model, found.battery)}"[:WIDTH], *wrapped(_design(found))]
    lines += [*wrapped(measured_in(found.measured_run)), ""]
    lines += [] if found.too_few else [*sentence, ""]
    lines.append(f"{'false minus true':<26}{'topic named':<28}topic not named")
    for name, shown in _rows(found):
        lines.append(f"{name:<26}{shown[0]:<28}{shown[1]}".rstrip())
    association = _shown(found.association, "points")
    lines.append(f"toward the claim, named minus not named: {association}, n {found.association.n}")
    for figures in (found.labelled, found.unlabelled):
        lines += ["", PASSES[figures.labelled], *arm_lines((figures.true, figures.false))]
    notes = [*found.notes, *_missing(found)]
    return [*lines, *([""] if notes else []), *notes_lines(notes)]


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


def _missing(found: TopicPass) -> list[str]:
    """Return one note that gathers all figures without an interval, by the reason why there is none."""
    lacking: dict[str, dict[str, list[str]]] = {}
    for name, of, _ in _MEASURED:
        for figures in (found.labelled, found.unlabelled):
            if of(figures).ci is None:
                measures = lacking.setdefault(of(figures).note, {})
                measures.setdefault(name.partition(",")[0], []).append(PASSES[figures.labelled])
    if found.association.ci is None:
        lacking.setdefault(found.association.note, {})["named minus not named"] = list(PASSES.values())
    said = []
    for reason, measures in lacking.items():
        names = [name if len(passes) == len(PASSES) else f"{name}, {passes[0]}" for name, passes in measures.items()]
        said.append(f"{'; '.join(names)} ({reason.removeprefix('no interval: ')})")
    return [f"no interval: {'; '.join(said)}"] if said else []


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
        f"{PASSES[figures.labelled]}:\n\n{arm_rows((figures.true, figures.false))}"
        for figures in (found.labelled, found.unlabelled)
    )
    released = ", ".join(
        f"{figures.released} with the {PASSES[figures.labelled]}" for figures in (found.labelled, found.unlabelled)
    )
    parts = [
        f"# Topic pass: {cell(found.model.name)}{words.if_simulated(found.model.simulated)}",
        f"**{found.sentence}**",
        "\n".join(f"- {cell(note, 400)}" for note in found.notes),
        f"## Design\n\n{_design(found)} The prompts of an item differ in the numbers of the slot and in the line that "
        "names its topic alone; all calls are mixed in an order that the seed draws. "
        + cell(measured_in(found.measured_run)),
        f"## Profiles\n\n{profile_rows(found.profiles)}",
        "## False minus true\n\nMeans over items, paired, with 95 % intervals. *Toward the claim* turns each shift so "
        "that following the claim counts as positive. *Induced abstention* is the share of items abstained from under "
        "the false profile among those answered under the true one; the opposite occurred in rows: "
        f"{released}.\n\n" + table(["measure", "pass", "value", "items", "note"], rows),
        f"## Arms\n\n{arms}",
        "## How it was asked\n\n" + method_markdown(run, "topicpass", _flags(found), measured=found.measured_run),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _flags(found: TopicPass) -> list[str]:
    topics = max((figures.topics for figures in found.profiles), default=0)
    per_topic = round(found.items / topics) if topics else 1
    return ["--items-per-topic", str(per_topic)] if per_topic > 1 else []
