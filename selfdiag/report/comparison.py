"""A comparison of runs as lines for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.compare import ComparedRun, Comparison, RunPair
from selfdiag.protocols.compare_items import Flips, ItemPair, ItemReply
from selfdiag.protocols.compare_measures import Difference
from selfdiag.report import words
from selfdiag.report.measure_words import measure_name
from selfdiag.report.page import WIDTH, cell, notes_lines, table, wrapped
from selfdiag.safety import one_line

SHOWN = 10
"""So many items of a list stand in the terminal; Markdown and JSON have all."""

_OF_100 = "composite"
"""The one measure that is not a fraction."""
VERDICTS = {
    "better": "better",
    "worse": "worse",
    "mixed": "better in one respect, worse in another",
    "other": "different, neither better nor worse",
    "no difference": "no difference",
    "not shown": "no difference shown",
    "too few": "too few items to say",
}
"""What the words of a verdict mean to a reader."""
YOUDEN = "Youden index: trap rate less the non-answer rate on probes."
_SIGNED = {"gap", "discrimination", "youden"}


def comparison_lines(found: Comparison) -> list[str]:
    """Return the comparison as lines, none wider than ``WIDTH`` characters."""
    lines = [line for run in found.runs for line in _run_lines(run)]
    for pair in found.pairs:
        lines += ["", *_pair_lines(pair)]
    return [*lines, "", *wrapped(how_compared(found)), *notes_lines(found.notes)]


def comparison_markdown(found: Comparison) -> str:
    """Return the comparison as Markdown that reads well raw; the same runs give the same bytes."""
    runs = [
        [
            run.letter,
            *map(cell, (model_words(run), run.model.provider, run.run_id, tier_words(run), what_was_asked(run))),
        ]
        for run in found.runs
    ]
    parts = [
        "# selfdiag: runs compared",
        table(["", "model", "provider", "run", "tier", "asked"], runs),
        _listed([f"{run.letter}: {note}" for run in found.runs for note in run.notes]),
        *(part for pair in found.pairs for part in _pair_markdown(pair)),
        "## How it was compared",
        f"{how_compared(found)} {YOUDEN}",
        _listed(found.notes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _run_lines(run: ComparedRun) -> list[str]:
    lines = [f"{run.letter}  {model_words(run)} · {one_line(run.model.provider, 12)} · {one_line(run.run_id, 30)}"]
    lines += [*wrapped(f"tier {tier_words(run)} · {what_was_asked(run)}", "   "), *notes_lines(run.notes, "   ")]
    return [_cut(line) for line in lines]


def model_words(run: ComparedRun) -> str:
    """Return the model's name, marked where it is simulated."""
    return f"{one_line(run.model.name, 30)}{words.if_simulated(run.model.simulated)}"


def tier_words(run: ComparedRun) -> str:
    """Return the tier of all items of a run, with its range and reservations."""
    tier = run.tier
    spans = f" ({tier.range})" if tier.range not in {tier.letter, ""} else ""
    said = [tier.name, tier.direction, "provisional" if tier.provisional and tier.letter != "-" else ""]
    return f"{tier.letter}{spans} {', '.join(word for word in said if word)}"


def what_was_asked(run: ComparedRun) -> str:
    """Return which draw a run has asked, and how many items of it."""
    battery = run.battery
    draw = words.draw_name(battery.draw, 16)
    return f"{draw}, {words.several(battery.probes, 'probe')}, {words.several(battery.traps, 'trap')}"


def _pair_lines(pair: RunPair) -> list[str]:
    lines = [f"{pair.second} against {pair.first} · {in_common(pair)}", ""]
    lines += [*wrapped(pair.verdict.sentence, "  "), *notes_lines(pair.notes, "  ")]
    between = f"{pair.second} - {pair.first}"
    lines += ["", _line("", pair.first, pair.second, between, "95 % interval", "n", "p", "Holm")]
    lines += _measure_lines(pair.headline)
    lines += ["", "  exploratory, not corrected for their number", *_measure_lines(pair.exploratory)]
    shift = pair.confidence_shift
    lines += ["", *wrapped(f"mean confidence, answered in both: {shift_words(shift)}, n {shift.n}", "  ")]
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


def in_common(pair: RunPair) -> str:
    """Return how many probes and traps are compared."""
    common = pair.common
    return f"{words.several(common.probes, 'probe')} and {words.several(common.traps, 'trap')} in common"


def what_is_compared(pair: RunPair) -> str:
    """Return in a sentence what the figures of a pair are of."""
    first, second = pair.answered
    return (
        f"Over {in_common(pair)}; {first} answers of {pair.first} and {second} of {pair.second} to probes state a "
        "confidence."
    )


def _measure_lines(measures: Mapping[str, Difference]) -> list[str]:
    lines = [_line(measure_name(name), *figures(name, found)) for name, found in measures.items()]
    about: dict[str, list[str]] = {}
    for name, found in measures.items():
        if found.difference.note:
            about.setdefault(found.difference.note, []).append(measure_name(name))
    return [*lines, *notes_lines([f"{', '.join(names)}: {note}" for note, names in about.items()], "  ")]


def figures(name: str, found: Difference) -> tuple[str, str, str, str, str, str, str]:
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
    tested = ["" if p is None else words.p_value(p) for p in (found.p, found.holm)]
    return values[0], values[1], shown, ends, str(difference.n), tested[0], tested[1]


def _line(name: str, first: str, second: str, between: str, ends: str, n: str, p: str, corrected: str) -> str:
    return f"  {name:<20}{first:>7}{second:>7}{between:>7}  {ends:<15}{n:>4}{p:>7}{corrected:>7}".rstrip()


def shift_words(shift: Estimate) -> str:
    """Return a shift of the confidence in points with its interval, or why there is none."""
    if shift.value is None:
        return f"– ({shift.note})"
    ends = f" ({shift.note})" if shift.note else ""
    if shift.ci is not None:
        ends = f" [{shift.ci[0]:+.1f}, {shift.ci[1]:+.1f}]{ends}"
    return f"{shift.value:+.1f} points{ends}"


def _flip_lines(name: str, flips: Flips) -> list[str]:
    lines = wrapped(flips_words(name, flips), "  ")
    for heading, items in (("wrong to right", flips.gained), ("right to wrong", flips.lost)):
        if items:
            lines += [f"  {heading}", *(_item_line(item) for item in items[:SHOWN])]
        if len(items) > SHOWN:
            lines.append(f"    and {len(items) - SHOWN} more; --format md has all")
    return lines


def flips_words(name: str, flips: Flips) -> str:
    """Return how many items changed sides, and McNemar's test."""
    return (
        f"{name}: {len(flips.gained)} wrong to right, {len(flips.lost)} right to wrong "
        f"(McNemar's exact p {words.p_value(flips.p)}, exploratory, n {flips.n})"
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
    shift = pair.confidence_shift
    parts = [
        f"## {pair.second} against {pair.first}",
        f"**{VERDICTS[pair.verdict.word]}**: {cell(pair.verdict.sentence, 1000)}.",
        _listed(pair.notes),
        f"{what_is_compared(pair)} The headline measures, corrected together:",
        _measures_table(pair, pair.headline, corrected=True),
        "Exploratory, not corrected for their number:",
        _measures_table(pair, pair.exploratory, corrected=False),
        f"Mean confidence in probes answered in both: {cell(shift_words(shift))}, n {shift.n}.",
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


def difference_head(pair: RunPair, *, corrected: bool) -> list[str]:
    """Return the names of the columns of ``difference_row``."""
    between = f"{pair.second} - {pair.first}"
    tested = ["p", "Holm"] if corrected else ["p"]
    return ["measure", pair.first, pair.second, between, "95 % interval", "n", *tested, "note"]


def difference_row(name: str, found: Difference, *, corrected: bool) -> list[str]:
    """Return a difference as cells, with the corrected p-value or without; the note is as it came."""
    *values, p, adjusted = figures(name, found)
    tested = [p or "–", adjusted or "–"] if corrected else [p or "–"]
    return [measure_name(name), *values, *tested, found.difference.note]


def _measures_table(pair: RunPair, measures: Mapping[str, Difference], *, corrected: bool) -> str:
    rows = [difference_row(name, found, corrected=corrected) for name, found in measures.items()]
    return table(difference_head(pair, corrected=corrected), [[*row[:-1], cell(row[-1])] for row in rows])


def _flips_markdown(pair: RunPair, name: str, flips: Flips) -> list[str]:
    if not flips.n:
        return []
    rows = [
        [way, *_item_row(item)]
        for way, items in (("wrong to right", flips.gained), ("right to wrong", flips.lost))
        for item in items
    ]
    shown = [table(["", *_item_head(pair)], rows)] if rows else []
    return [f"### {name.capitalize()} that changed sides", f"{flips_words(name.capitalize(), flips)}.", *shown]


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


def how_compared(found: Comparison) -> str:
    """Return what the differences, intervals and p-values are."""
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
