"""A comparison of runs as lines for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.compare import ComparedRun, Comparison, RunPair
from selfdiag.protocols.compare_items import Flips, ItemPair, ItemReply
from selfdiag.protocols.compare_measures import Difference
from selfdiag.report import words
from selfdiag.report.page import WIDTH, cell, notes_lines, table, wrapped
from selfdiag.safety import one_line

SHOWN = 10
"""So many items of a list stand in the terminal; Markdown and JSON have all."""

_NAMES = {
    "accuracy": "accuracy",
    "brier": "Brier score",
    "gap": "gap",
    "auroc": "AUROC",
    "discrimination": "discrimination",
    "trap_abstention": "trap rate",
    "youden": "Youden index",
    "gap_size": "size of the gap",
    "ece": "ECE",
    "high_confidence_error_80": "wrong at 80 or more",
    "error_at_coverage_80": "wrong of surest 80 %",
    "error_at_coverage_60": "wrong of surest 60 %",
    "error_at_coverage_40": "wrong of surest 40 %",
    "error_at_coverage_20": "wrong of surest 20 %",
    "composite": "composite",
    "usable_share": "usable share",
    "non_answer": "non-answer rate",
}
_OF_100 = "composite"
"""The one measure that is not a fraction."""
_SIGNED = {"gap", "discrimination", "youden"}


def comparison_lines(found: Comparison) -> list[str]:
    """Return the comparison as lines, none wider than ``WIDTH`` characters."""
    lines = [line for run in found.runs for line in _run_lines(run)]
    for pair in found.pairs:
        lines += ["", *_pair_lines(pair)]
    return [*lines, "", *wrapped(_method(found)), *notes_lines(found.notes)]


def comparison_markdown(found: Comparison) -> str:
    """Return the comparison as Markdown that reads well raw; the same runs give the same bytes."""
    runs = [
        [run.letter, cell(_model(run)), cell(run.model.provider), cell(run.run_id), _tier(run), cell(_asked(run))]
        for run in found.runs
    ]
    parts = [
        "# selfdiag: runs compared",
        table(["", "model", "provider", "run", "tier", "asked"], runs),
        _listed([f"{run.letter}: {note}" for run in found.runs for note in run.notes]),
        *(part for pair in found.pairs for part in _pair_markdown(pair)),
        "## How it was compared",
        f"{_method(found)} Youden index: trap rate less the non-answer rate on probes.",
        _listed(found.notes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _run_lines(run: ComparedRun) -> list[str]:
    lines = [f"{run.letter}  {_model(run)} · {one_line(run.model.provider, 12)} · {one_line(run.run_id, 30)}"]
    lines += [*wrapped(f"tier {_tier(run)} · {_asked(run)}", "   "), *notes_lines(run.notes, "   ")]
    return [_cut(line) for line in lines]


def _model(run: ComparedRun) -> str:
    return f"{one_line(run.model.name, 30)}{' (simulated)' if run.model.simulated else ''}"


def _tier(run: ComparedRun) -> str:
    tier = run.tier
    spans = f" ({tier.range})" if tier.range not in {tier.letter, ""} else ""
    said = [tier.name, tier.direction, "provisional" if tier.provisional and tier.letter != "-" else ""]
    return f"{tier.letter}{spans} {', '.join(word for word in said if word)}"


def _asked(run: ComparedRun) -> str:
    battery = run.battery
    draw = one_line(battery.draw.replace("\\", "/").rstrip("/").rpartition("/")[2], 16)
    return f"{draw}, {words.several(battery.probes, 'probe')}, {words.several(battery.traps, 'trap')}"


def _pair_lines(pair: RunPair) -> list[str]:
    lines = [f"{pair.second} against {pair.first} · {_common(pair)}", ""]
    lines += [*wrapped(pair.verdict.sentence, "  "), *notes_lines(pair.notes, "  ")]
    between = f"{pair.second} - {pair.first}"
    lines += ["", _line("", pair.first, pair.second, between, "95 % interval", "n", "p", "Holm")]
    lines += _measure_lines(pair.headline)
    lines += ["", "  exploratory, not corrected for their number", *_measure_lines(pair.exploratory)]
    shift = pair.confidence_shift
    lines += ["", *wrapped(f"mean confidence, answered in both: {_shift(shift)}, n {shift.n}", "  ")]
    for name, flips in (("probes", pair.probes), ("traps", pair.traps)):
        lines += ["", *_flip_lines(name, flips)] if flips.n else []
    if pair.outcomes:
        counts = ", ".join(f"{change} {number}" for change, number in pair.outcomes.items())
        lines += ["", *wrapped(f"came out otherwise: {counts}", "  ")]
    if pair.moved:
        lines += ["", "  confidence moved most"]
        lines += [_item_line(item, f"{item.shift:+.0f}") for item in pair.moved[:SHOWN]]
    if pair.settings:
        lines += ["", _cut(f"  {'asked with':<20}{pair.first:<29}{pair.second}")]
        for one in pair.settings:
            first, second = (one_line(value, 27) or "–" for value in (one.first, one.second))
            lines.append(_cut(f"  {_fit(one_line(one.name, 19), 20)}{_fit(first, 29)}{second}"))
    return lines


def _common(pair: RunPair) -> str:
    common = pair.common
    return f"{words.several(common.probes, 'probe')} and {words.several(common.traps, 'trap')} in common"


def _measure_lines(measures: Mapping[str, Difference]) -> list[str]:
    lines = [_line(_NAMES[name], *_figures(name, found)) for name, found in measures.items()]
    about: dict[str, list[str]] = {}
    for name, found in measures.items():
        if found.difference.note:
            about.setdefault(found.difference.note, []).append(_NAMES[name])
    return [*lines, *notes_lines([f"{', '.join(names)}: {note}" for note, names in about.items()], "  ")]


def _figures(name: str, found: Difference) -> tuple[str, str, str, str, str, str, str]:
    """Return both values, the difference, its interval, n and the p-values in words."""
    difference = found.difference
    if name == _OF_100:
        values = ["–" if value is None else f"{value:.1f}" for value in (found.first, found.second)]
        shown = "–" if difference.value is None else f"{difference.value:+.1f}"
        ends = "" if difference.ci is None else f"[{difference.ci[0]:+.0f}, {difference.ci[1]:+.0f}]"
    else:
        form = words.signed if name in _SIGNED else words.fraction
        values = [form(value) for value in (found.first, found.second)]
        shown = words.signed(difference.value)
        ends = words.interval(difference, kind="signed")
    return values[0], values[1], shown, ends, str(difference.n), _p(found.p), _p(found.holm)


def _line(name: str, first: str, second: str, between: str, ends: str, n: str, p: str, corrected: str) -> str:
    return f"  {name:<20}{first:>7}{second:>7}{between:>7}  {ends:<15}{n:>4}{p:>7}{corrected:>7}".rstrip()


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<.001" if value < 0.0005 else "1" if value > 0.9995 else words.fraction(value)


def _shift(shift: Estimate) -> str:
    if shift.value is None:
        return f"– ({shift.note})"
    ends = f" ({shift.note})" if shift.note else ""
    if shift.ci is not None:
        ends = f" [{shift.ci[0]:+.1f}, {shift.ci[1]:+.1f}]{ends}"
    return f"{shift.value:+.1f} points{ends}"


def _flip_lines(name: str, flips: Flips) -> list[str]:
    lines = wrapped(_flipped(name, flips), "  ")
    for heading, items in (("wrong to right", flips.gained), ("right to wrong", flips.lost)):
        if items:
            lines += [f"  {heading}", *(_item_line(item) for item in items[:SHOWN])]
        if len(items) > SHOWN:
            lines.append(f"    and {len(items) - SHOWN} more; --format md has all")
    return lines


def _flipped(name: str, flips: Flips) -> str:
    return (
        f"{name}: {len(flips.gained)} wrong to right, {len(flips.lost)} right to wrong "
        f"(McNemar's exact p {_p(flips.p)}, exploratory, n {flips.n})"
    )


def _item_line(item: ItemPair, more: str = "") -> str:
    first, second = (_reply(reply) for reply in (item.first, item.second))
    named = f"{_fit(one_line(item.id, 19), 20)}{_fit(one_line(item.bin, 12), 13)}"
    return _cut(f"    {named}{_fit(first, 18)} → {_fit(second, 18)}{more:>4}".rstrip())


def _reply(reply: ItemReply) -> str:
    """Return answer and confidence, and of several replies how many are right, in 18 cells."""
    rest = "   –" if reply.confidence is None else f"{reply.confidence:>4.0f}"
    rest += "" if reply.replies == 1 else f" {reply.right}/{reply.replies}"
    answer = "–" if reply.answer is None else one_line(reply.answer, 18 - len(rest))
    return f"{_fit(answer, 18 - len(rest))}{rest}"


def _pair_markdown(pair: RunPair) -> list[str]:
    between = f"{pair.second} - {pair.first}"
    head = ["measure", pair.first, pair.second, between, "95 % interval", "n", "p", "Holm", "note"]
    shift = pair.confidence_shift
    parts = [
        f"## {pair.second} against {pair.first}",
        f"**{pair.verdict.word}**: {cell(pair.verdict.sentence, 1000)}.",
        _listed(pair.notes),
        f"Over {_common(pair)}; {pair.answered[0]} answers of {pair.first} and {pair.answered[1]} of {pair.second} to "
        "probes state a confidence. The headline measures, corrected together:",
        table(head, [_row(name, found) for name, found in pair.headline.items()]),
        "Exploratory, not corrected for their number:",
        table(
            [name for name in head if name != "Holm"],
            [_row(name, found, corrected=False) for name, found in pair.exploratory.items()],
        ),
        f"Mean confidence in probes answered in both: {cell(_shift(shift))}, n {shift.n}.",
        *_flips_markdown(pair, "probes", pair.probes),
        *_flips_markdown(pair, "traps", pair.traps),
    ]
    if pair.outcomes:
        rows = [[change, str(number)] for change, number in pair.outcomes.items()]
        parts += ["### Came out otherwise", table(["outcome", "items"], rows)]
    if pair.moved:
        rows = [[*_item_row(item), f"{item.shift:+.0f}"] for item in pair.moved]
        parts += ["### Confidence moved most", table([*_item_head(pair), "points"], rows)]
    if pair.settings:
        rows = [[cell(one.name), cell(one.first) or "–", cell(one.second) or "–"] for one in pair.settings]
        parts += ["### Asked with", table(["setting", pair.first, pair.second], rows)]
    return parts


def _row(name: str, found: Difference, *, corrected: bool = True) -> list[str]:
    *values, p, adjusted = _figures(name, found)
    tested = [p or "–", adjusted or "–"] if corrected else [p or "–"]
    return [_NAMES[name], *values, *tested, cell(found.difference.note)]


def _flips_markdown(pair: RunPair, name: str, flips: Flips) -> list[str]:
    if not flips.n:
        return []
    rows = [
        [way, *_item_row(item)]
        for way, items in (("wrong to right", flips.gained), ("right to wrong", flips.lost))
        for item in items
    ]
    shown = [table(["", *_item_head(pair)], rows)] if rows else []
    return [f"### {name.capitalize()} that changed sides", f"{_flipped(name.capitalize(), flips)}.", *shown]


def _item_head(pair: RunPair) -> list[str]:
    sides = [[f"{letter} answers", f"{letter} says"] for letter in (pair.first, pair.second)]
    return ["item", "topic", *sides[0], *sides[1]]


def _item_row(item: ItemPair) -> list[str]:
    row = [cell(item.id, 60), cell(item.bin, 40)]
    for reply in (item.first, item.second):
        several = f" ({reply.right} of {reply.replies} right)" if reply.replies > 1 else ""
        answer = "–" if reply.answer is None else cell(reply.answer, 80)
        row += [f"{answer}{several}", "–" if reply.confidence is None else f"{reply.confidence:.0f}"]
    return row


def _method(found: Comparison) -> str:
    return (
        f"Differences are the later run's value less {found.runs[0].letter}'s, over the items in common; 95 % "
        f"intervals and p from {found.draws} draws of items, paired, seed {found.seed}; Holm: p corrected over the "
        "headline measures."
    )


def _listed(notes: Sequence[str]) -> str:
    return "\n".join(f"- {cell(note, 400)}" for note in notes)


def _fit(text: str, cells: int) -> str:
    """Return the text cut or padded to a width on the screen."""
    from rich.cells import set_cell_size

    return set_cell_size(text, cells)


def _cut(line: str) -> str:
    from rich.cells import cell_len

    return line if cell_len(line) <= WIDTH else _fit(line, WIDTH).rstrip()
