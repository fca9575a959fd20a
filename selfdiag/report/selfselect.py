"""The self-selection as lines for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping

from selfdiag.elicit.selection import LONGEST_SHOWN
from selfdiag.measure.constrained import Grid
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.selection import ActOrDefer
from selfdiag.protocols.selfselect import Alike, SelfSelection, selfselect_of
from selfdiag.report import words
from selfdiag.report.arms import ends, method_markdown, points, who_was_asked
from selfdiag.report.categories import category_lines, category_markdown
from selfdiag.report.page import WIDTH, cell, notes_lines, table, wrapped
from selfdiag.runs.selection_plan import SELECTIONS, TEMPERATURE, TOP_P
from selfdiag.runs.store import Run

_FIGURES = {"gap": "gap, says - right", "brier": "Brier score", "auroc": "AUROC"}
_NAME = 34


def selfselect_lines(found: SelfSelection, *, grid: Grid = "closed") -> list[str]:
    """Return the result as lines, none wider than ``WIDTH`` characters."""
    lines = [f"self-selection · {who_was_asked(found.model, found.battery)}"[:WIDTH], *wrapped(_design(found))]
    lines += ["", *wrapped(found.sentence), "", *_pair_lines(found)]
    lines += ["", f"{'':<{_NAME}}{'value':>7}  {'95 %':<18}{'n':>5}"]
    lines += _figure_lines(_figures(found))
    lines += ["", "order"]
    lines += _figure_lines({f"  {name}": shown for name, shown in _order_figures(found).items()})
    lines += ["", *_acting_lines("acting on a pick at a confidence or more", found.act_or_defer)]
    if found.consistency is not None:
        lines += ["", f"agreement of {found.selections} picks taken for the confidence"]
        figures = {"most picked right": "accuracy", **{said: name for name, said in _FIGURES.items()}}
        lines += _figure_lines({f"  {said}": found.consistency.metrics[name] for said, name in figures.items()})
        lines += _acting_lines("  acting on it", found.consistency.act_or_defer)
    lines += ["", *category_lines(found.categories, grid=grid)]
    return [*lines, *notes_lines(found.notes)]


def _design(found: SelfSelection) -> str:
    picks = "one pick between them, in an order that the seed draws"
    if found.selections > 1:
        each = "one" if found.selections == SELECTIONS else str(found.selections // 2)
        how = ", sampled the same way" if found.sampled else ""
        picks = f"{found.selections} picks between them, {each} in each order{how}"
    return (
        f"{words.several(found.items, 'item')}, each with two answers to differently worded prompts (temperature "
        f"{TEMPERATURE:g}, top-p {TOP_P:g}) and {picks}. The grader says which answer is right."
    )


def _pair_lines(found: SelfSelection) -> list[str]:
    return [_cut(f"{name:<{_NAME}}{count:>7}  {rest}".rstrip()) for name, count, rest in _pair_rows(found)]


def _pair_rows(found: SelfSelection) -> list[tuple[str, str, str]]:
    pairs = found.pairs
    rows = [
        ("items, one answer right, one wrong", str(pairs.mixed), words.several(found.picks, "pick")),
        ("items, both right", str(pairs.both_right), _apart(found.both_right)),
        ("items, both wrong", str(pairs.both_wrong), _apart(found.both_wrong)),
    ]
    if pairs.identical:
        rows.append(("  of both, the same text twice", str(pairs.identical), "nothing to pick"))
    if pairs.incomplete:
        rows.append(("items, an answer not graded", str(pairs.incomplete), _by_outcome(pairs.missing)))
    if pairs.not_asked:
        rows.append(("items, an answer not there yet", str(pairs.not_asked), ""))
    if found.unread:
        rows.append(("picks that could not be read", str(sum(found.unread.values())), _by_outcome(found.unread)))
    return rows


def _apart(found: Alike) -> str:
    if found.mean_confidence is None:
        return words.several(found.picks, "pick") if found.picks else "no pick"
    sure = f", {words.percent(found.sure.value)} at 80+" if found.sure.value is not None else ""
    return f"{words.several(found.picks, 'pick')}, says {found.mean_confidence:.0f}{sure}"


def _by_outcome(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{outcome} {count}" for outcome, count in counts.items())


def _figures(found: SelfSelection) -> dict[str, Estimate]:
    """Return what is told of solving and picking, by its name."""
    solving = found.solving
    first, second = solving.ways
    return {
        "its answers right": solving.accuracy,
        "  asked the first way": first,
        "  asked the second way": second,
        "right after picking": solving.picked,
        "  what picking adds": solving.gain,
        "picks right (chance .500)": found.metrics["accuracy"],
        **{f"  {said}": found.metrics[name] for name, said in _FIGURES.items()},
    }


def _order_figures(found: SelfSelection) -> dict[str, Estimate]:
    first, second = found.order.accuracy
    return {
        "picks what is shown first": found.order.first_shown,
        "right, right answer first": first,
        "right, right answer second": second,
        "first minus second": found.order.difference,
        "pick turns with the order": found.order.turned,
    }


def _figure_lines(figures: Mapping[str, Estimate]) -> list[str]:
    """Return the figures, and below them why some have no interval, or no value where the line has no room for it."""
    lines: list[str] = []
    lacking: dict[str, list[str]] = {}
    for name, found in figures.items():
        line = _figure_line(name, found)
        if found.ci is None and (found.value is not None or len(line) > WIDTH):
            lacking.setdefault(found.note, []).append(name.strip())
        lines.append(line if len(line) <= WIDTH else _figure_line(name, estimate(None, note="see below")))
    return [*lines, *notes_lines([f"{'; '.join(names)}: {note}" for note, names in lacking.items()], "  ")]


def _figure_line(name: str, found: Estimate) -> str:
    shown = _signed(name)
    if found.value is None:
        return f"{name:<{_NAME}}{'–':>7}  {found.note}"
    value = words.signed(found.value) if shown else words.fraction(found.value)
    interval = ends(found.ci, sign=shown) or "no interval"
    return f"{name:<{_NAME}}{value:>7}  {interval:<18}{found.n:>5}"


def _signed(name: str) -> bool:
    return any(word in name for word in ("gap", "adds", "minus"))


def _acting_lines(heading: str, rows: tuple[ActOrDefer, ...]) -> list[str]:
    penalties = [f"λ {one.penalty:g}" for one in rows[0].utility]
    lines = [f"{heading:<{_NAME + 8}}{'acts':>6}{'wrong':>7}" + "".join(f"{name:>6}" for name in penalties)]
    for row in rows:
        values = "".join(f"{_utility(one.utility.value):>6}" for one in row.utility)
        name = f"  {100 * row.threshold:g}"
        lines.append(
            f"{name:<{_NAME + 8}}{words.percent(row.coverage.value):>6}{words.percent(row.error.value):>7}{values}"
        )
    coverage = rows[0].coverage
    counted = f"n {coverage.n}; each has its interval with --format md" if coverage.n else coverage.note
    return [*lines, *wrapped(counted, "  ")]


def _utility(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:+.2f}".replace("+0.", "+.").replace("-0.", "-.")


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def selfselect_markdown(run: Run, found: SelfSelection | None = None) -> str:
    """Return the report of a self-selection; the same run gives the same bytes.

    Args:
        run: manifest and records.
        found: its result, computed when None.

    Raises:
        SelfdiagError: when the run holds no self-selection.
    """
    found = found or selfselect_of(run)
    rows = [_markdown_row(name, one) for name, one in (_figures(found) | _order_figures(found)).items()]
    flags = ["--selections", str(found.selections)] if found.selections != SELECTIONS else []
    parts = [
        f"# Self-selection: {cell(found.model.name)}{words.if_simulated(found.model.simulated)}",
        f"**{found.sentence}**",
        "\n".join(f"- {cell(note, 400)}" for note in found.notes),
        f"## Design\n\n{_design(found)} The answers are shown as quotations of {LONGEST_SHOWN} characters at most. "
        "Picks between two right or two wrong answers are neither right nor wrong: of the figures below they enter "
        "only the share of picks of what is shown first, and that of picks which turn with the order. Two answers of "
        "the same text leave nothing to pick.",
        table(["pairs", "number", ""], [[name, count, cell(rest)] for name, count, rest in _pair_rows(found)]),
        "## Solving, picking and order\n\nIntervals draw items with all their answers and picks.\n\n"
        + table(["figure", "value", "95 % interval", "n", "note"], rows),
        f"Mean confidence of the graded picks: {points(found.mean_confidence)}.",
        f"## Act or defer\n\n{_ACTING}\n\n{_acting_table(found.act_or_defer)}",
        _consistency(found),
        category_markdown(found.categories),
        "## How it was asked\n\n" + method_markdown(run, "selfselect", flags),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


_ACTING = (
    "Acting on picks stated at the threshold or more: the share acted on, the share of these that is wrong, and the "
    "utility P(act, right) - λ P(act, wrong)."
)


def _consistency(found: SelfSelection) -> str:
    if found.consistency is None:
        return ""
    metrics = found.consistency.metrics
    rows = [_markdown_row(said, metrics[name]) for name, said in {"accuracy": "most picked right", **_FIGURES}.items()]
    return "\n\n".join(
        [
            "## Agreement of picks as a confidence",
            f"The share of the {found.selections} picks of an item that agree, as the confidence in the answer picked "
            "most often.",
            table(["figure", "value", "95 % interval", "n", "note"], rows),
            _acting_table(found.consistency.act_or_defer),
        ]
    )


def _acting_table(rows: tuple[ActOrDefer, ...]) -> str:
    head = ["from", "acts", "wrong", *(f"λ = {one.penalty:g}" for one in rows[0].utility), "note"]
    return table(
        head,
        [
            [
                f"{100 * row.threshold:g}",
                _beside(row.coverage),
                _beside(row.error),
                *(_beside(one.utility, sign=True) for one in row.utility),
                cell("; ".join(filter(None, (row.coverage.note, row.error.note)))),
            ]
            for row in rows
        ],
    )


def _markdown_row(name: str, found: Estimate) -> list[str]:
    sign = _signed(name)
    value = words.signed(found.value) if sign else words.fraction(found.value)
    return [name.strip(), value, ends(found.ci, sign=sign), str(found.n), cell(found.note, 300)]


def _beside(found: Estimate, *, sign: bool = False) -> str:
    value = words.signed(found.value) if sign else words.fraction(found.value)
    return f"{value} {ends(found.ci, sign=sign)}".rstrip()
