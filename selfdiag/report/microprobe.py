"""The microprobe and the anchor check as lines for a terminal and as Markdown."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence

from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.anchor import Anchor
from selfdiag.protocols.claim_replies import ClaimReply
from selfdiag.protocols.microprobe import Microprobe, MicroprobeSummary, ProbedItem
from selfdiag.report import words
from selfdiag.report.microprobe_words import ends, figures, item_sentence, points, set_sentence
from selfdiag.report.page import WIDTH, cell, table
from selfdiag.runs.claims import LOW_AND_HIGH, judged_claims
from selfdiag.safety import one_line

BAR = 25
"""Characters of a bar for a confidence of 100."""

OUTCOMES = {
    "correct": "✓ right",
    "incorrect": "✗ wrong",
    "abstained": "○ abstained",
    "refused": "○ refused",
    "unparsed": "? not readable",
    "truncated": "? cut off",
    "empty": "? nothing said",
    "overflow": "? too long",
    "error": "? error",
    "not_asked": "? not asked",
}


def microprobe_lines(found: Microprobe, *, plain: bool = False) -> list[str]:
    """Return the result as lines, none wider than ``WIDTH`` characters: one item in full, several as a table.

    Args:
        found: the result.
        plain: draw bars of letters that every terminal has.
    """
    summary = found.summary
    lines = textwrap.wrap(_what(found), WIDTH)
    if len(found.items) == 1:
        item = found.items[0]
        lines += ["", *_asked(item, summary), "", *_wrapped(item_sentence(item)), "", *_replies(item, plain=plain)]
        if item.wordings > 1:
            moved = f"another wording under the same claim moves it by up to {item.noise:g}"
            lines += ["", f"  {words.several(item.wordings, 'wording')} asked: {moved}"]
    elif found.items:
        lines += ["", *_wrapped(set_sentence(summary)), "", *_figures(summary), "", *_items(found.items)]
    return [*lines, *([""] if summary.notes else []), *_notes(summary.notes)]


def anchor_lines(found: Anchor) -> list[str]:
    """Return what an example does to the confidence, in lines not wider than ``WIDTH`` characters."""
    return [*_wrapped(found.sentence), *_notes(found.notes)]


def microprobe_markdown(found: Microprobe) -> str:
    """Return the section of a report: the verdict, the figures, and every item."""
    summary = found.summary
    low, high = judged_claims(summary.claims) if summary.claims else LOW_AND_HIGH
    sentence = item_sentence(found.items[0]) if len(found.items) == 1 else set_sentence(summary)
    named = "names its topic" if summary.labelled else "does not name its topic"
    rows = [
        [figure.name, figure.value, figure.interval, str(figure.n), cell(figure.note)] for figure in figures(summary)
    ]
    items = [_item_row(item, [str(claim) for claim in summary.claims]) for item in found.items]
    heads = [f"{claim} %" for claim in summary.claims]
    parts = [
        "## Microprobe",
        f"The same question is asked under a claimed accuracy of its topic, from {low} % to {high} %; nothing else in "
        f"the prompt differs, and the question {named}. Shifts are in points of confidence, from the lowest claim to "
        "the highest. *Off topic* is the shift when the claims stand on another topic's line.",
        cell(sentence, 600),
        *(f"{cell(note, 400)}." for note in summary.notes),
        table(["measure", "value", "95 % interval", "n", "note"], rows),
        table(["item", *heads, "shift", "noise", "off topic", "unlabelled", "goes by", "verdict", "answers"], items),
    ]
    return "\n\n".join(parts)


def anchor_markdown(found: Anchor) -> str:
    """Return the section of a report: what each example value does."""
    rows = [["none", points(found.without.value), ends(found.without.ci), "", "", "", "", str(found.without.n)]]
    rows += [
        [
            str(one.example),
            points(one.confidence.value),
            ends(one.confidence.ci),
            _signed(one.shift),
            words.percent(one.echoed.value),
            words.interval(one.echoed, kind="percent"),
            words.percent(one.anyway.value),
            str(one.confidence.n),
        ]
        for one in found.shown
    ]
    head = ["example", "says", "95 % interval", "shift", "repeats it", "95 % interval", "says it anyway", "n"]
    slope = f"{words.signed(found.slope.value)} {words.interval(found.slope, kind='signed')}".rstrip()
    parts = [
        "## Anchor",
        f"{words.several(found.items, 'item')} asked without an example reply and with one. *Shift* is the mean "
        "difference from the same item without one, *says it anyway* the share of replies that state the value "
        f"unprompted. Slope of the confidence on the example: {slope}, n {found.slope.n}"
        f"{f' ({cell(found.slope.note)})' if found.slope.note else ''}.",
        cell(found.sentence, 600),
        *(f"{cell(note, 400)}." for note in found.notes),
        table(head, rows),
    ]
    return "\n\n".join(parts)


def _what(found: Microprobe) -> str:
    summary = found.summary
    claims = ", ".join(str(claim) for claim in summary.claims)
    asked = "" if len(found.items) == 1 else f" · {words.several(summary.asked, 'item')}, {summary.n} with a reading"
    return f"{one_line(found.model, 60)}{words.if_simulated(found.simulated)}{asked} · claimed: {claims} %"


def _asked(item: ProbedItem, summary: MicroprobeSummary) -> list[str]:
    """Return the item, its key, and the line that differs."""
    low, high = item.differs
    named = "names its topic" if summary.labelled else "does not name its topic"
    question = textwrap.wrap(one_line(item.question, 600), WIDTH - 4, initial_indent="  ", subsequent_indent="  ")
    return [
        f"{one_line(item.id, 40)}   answer key: {one_line(item.key, 30)}",
        *question,
        "",
        f"All that differs is one line of the prompt; the question {named}:",
        f"  {one_line(low, 36)}   or   {one_line(high, 36)}",
    ]


def _replies(item: ProbedItem, *, plain: bool) -> list[str]:
    """Return one row a claim with its confidence as a bar, on this topic's line and in the controls."""
    off_topic = f"on the line of another topic ({one_line(item.off_topic_bin, 30)})"
    on_topic = f"on the line of this topic ({one_line(item.bin, 30)})"
    lines = [f"  {'claimed':<9}{'sure':>4}  {'0':<{BAR // 2}}{'50':<{BAR - BAR // 2 - 1}}100  answer"]
    lines += _block(on_topic, item.claims, "#" if plain else "█")
    lines += _block(off_topic, item.off_topic_claims, "-" if plain else "░")
    lines += _block(
        "on the line of this topic, the question not naming it", item.unlabelled_claims, "=" if plain else "▒"
    )
    return lines


def _block(name: str, claims: Mapping[str, ClaimReply], filled: str) -> list[str]:
    lines = [f"  {name}"] if claims else []
    for claim, reply in claims.items():
        bar = filled * math.ceil((reply.stated() or 0) / 100 * BAR)
        answer = one_line(reply.answer or "", WIDTH - BAR - 37)
        row = f"  {claim + ' %':>6}   {_sure(reply):>4}  {bar:<{BAR}}    {_outcome(reply):<14} {answer}"
        lines.append(row.rstrip())
    return lines


def _figures(summary: MicroprobeSummary) -> list[str]:
    lines = []
    for figure in figures(summary):
        why = figure.note.removeprefix("no interval: ").removeprefix("no data: ")
        beside = figure.interval or one_line(why, 40)
        lines.append(f"  {figure.name:<26}{figure.value:>7}  n {figure.n:<4}{beside}".rstrip())
    return lines


def _items(items: Sequence[ProbedItem]) -> list[str]:
    low, high = (f"{end(items[0].claims, key=int)} %" for end in (min, max))
    lines = [f"  {'item':<19}{low:>7}{high:>7}{'shift':>6}{'off topic':>10}{'unnamed':>8}  verdict"]
    for item in items:
        said = [f"{_sure(reply)} {_outcome(reply)[0]}" for reply in item.ends()]
        shifts = [points(value, sign=True) for value in (item.shift, item.off_topic, item.unlabelled)]
        verdict = f"{item.verdict}{' ≠' if item.answer_changed else ''}"
        name = one_line(item.id, 18)
        lines.append(f"  {name:<19}{said[0]:>7}{said[1]:>7}{shifts[0]:>6}{shifts[1]:>10}{shifts[2]:>8}  {verdict}")
    if any(item.answer_changed for item in items):
        lines.append("  ≠ the answer is another one under the highest claim")
    return lines


def _item_row(item: ProbedItem, claims: Sequence[str]) -> list[str]:
    replies = [item.claims.get(claim) for claim in claims]
    said = ["–" if reply is None else _sure(reply) for reply in replies]
    answers = " → ".join(f"{cell(reply.answer or '–', 40)} ({_outcome(reply)})" for reply in item.ends())
    noise = points(item.noise) if item.wordings > 1 else "–"
    shifts = [points(item.shift, sign=True), noise, points(item.off_topic, sign=True)]
    bare = points(item.unlabelled, sign=True)
    return [cell(item.id, 60), *said, *shifts, bare, item.mechanism or "–", item.verdict, answers]


def _sure(reply: ClaimReply) -> str:
    stated = reply.stated()
    return "–" if stated is None else str(stated)


def _outcome(reply: ClaimReply) -> str:
    return OUTCOMES.get(reply.outcome, f"? {reply.outcome}")


def _signed(found: Estimate) -> str:
    return f"{points(found.value, sign=True)} {ends(found.ci, sign=True)}".rstrip()


def _notes(notes: Sequence[str]) -> list[str]:
    wrapped = (textwrap.wrap(f"! {one_line(note, 400)}", WIDTH, subsequent_indent="  ") for note in notes)
    return [line for lines in wrapped for line in lines]


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(one_line(sentence, 600), WIDTH)
