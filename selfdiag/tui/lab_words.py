"""What the lab shows of its replies: the plot, and the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from selfdiag.safety import one_line
from selfdiag.tui.picture import Picture, Series

if TYPE_CHECKING:
    from selfdiag.battery.items import Probe
    from selfdiag.protocols.claim_replies import ClaimReply
    from selfdiag.protocols.microprobe import Microprobe
    from selfdiag.tui.bench import Dose

OUTCOMES = {
    "correct": "✓ right",
    "incorrect": "✗ wrong",
    "abstained": "○ abstained",
    "refused": "○ refused",
    "truncated": "? cut off",
}
"""Any other outcome is a reply that could not be read."""
NOT_READ = "? not read"
EMPTY = "space sends a claim; each reply is a point"
ALONE = "one question, one reply a claim: no interval"


def where(dose: Dose) -> str:
    """Return where a claim stood, and how."""
    if not dose.own:
        return "off topic"
    return "this topic" if dose.labelled else "topic not named"


def dose_picture(doses: Sequence[Dose], claim: int) -> Picture | str:
    """Return stated confidence against claimed accuracy, with a line where the next claim will be.

    Args:
        doses: replies to one question.
        claim: in percent, as the slider has it.
    """
    read = [dose for dose in doses if dose.reply.stated() is not None]
    unread = len(doses) - len(read)
    left_out = f"{unread} without a confidence" if unread else ""
    if not read:
        return f"no point yet: {left_out}" if doses else EMPTY
    kinds = {"off topic": "○", "topic not named": "◇", "this topic": "●"}
    groups = [(name, glyph, [dose for dose in read if where(dose) == name]) for name, glyph in kinds.items()]
    series = [
        Series(kind="vertical", x=(float(claim),), tone="muted"),
        Series(kind="line", x=(0.0, 100.0), y=(0.0, 100.0), tone="muted"),
    ]
    for name, glyph, members in groups:
        x = tuple(float(dose.claim) for dose in members)
        y = tuple(dose.reply.points() for dose in members)
        own = name == "this topic"
        if own and len(members) > 1:
            series.append(Series(kind="line", x=x, y=y))
        if members:
            counted = f"{name} ({len(members)})"
            series.append(Series(kind="points", name=counted, x=x, y=y, glyph=glyph, tone="accent" if own else "plain"))
    return Picture(
        x_label="claimed, %",
        y_label="stated confidence",
        series=tuple(series),
        caption=left_out,
    )


def claimed(dose: Dose) -> str:
    """Return the claim of a reply in at most 15 cells."""
    place = "claimed" if dose.own and dose.labelled else "off topic" if not dose.own else "not named"
    return f"{place} {dose.claim} %"


def outcome(reply: ClaimReply) -> str:
    """Return what became of a reply, by glyph and word."""
    return OUTCOMES.get(reply.outcome, NOT_READ)


def answer_line(reply: ClaimReply, limit: int = 60) -> str:
    """Return the outcome of a reply, and its answer."""
    return f"{outcome(reply)}  {one_line(reply.answer, limit) if reply.answer is not None else ''}".rstrip()


def shift_line(found: Microprobe | None, first: ClaimReply | None, last: ClaimReply | None) -> str:
    """Return the shift between the ends of the claims, and what became of the answer between two replies."""
    from selfdiag.report.microprobe_words import points

    shift = None if found is None else found.items[0].shift
    parts = [] if shift is None else [f"shift {points(shift, sign=True)}"]
    changed = None if found is None else found.items[0].answer_changed
    if changed is not None:
        parts.append("answer changed" if changed else "same answer")
    elif first is not None and last is not None and first.answer is not None and first.answer == last.answer:
        parts.append("same answer")
    return " · ".join(parts)


def still_wanted(*, labelled: bool) -> str:
    """Return what a verdict still takes, where the question names its topic or does not."""
    named = "" if labelled else ", not named in the question,"
    return (
        f"two claims on this topic{named} make a verdict: move the slider and send again, or d sends the whole series"
    )


def verdict_words(found: Microprobe) -> str:
    """Return what the question shows in a sentence."""
    from selfdiag.report.microprobe_words import item_sentence

    return " ".join(
        [item_sentence(found.items[0]), *(f"{note[:1].upper()}{note[1:]}." for note in found.summary.notes)]
    )


def page(
    model: str, probe: Probe, question: str, doses: Sequence[Dose], found: Microprobe | None, *, simulated: bool
) -> str:
    """Return everything shown of one question as plain text.

    Args:
        model: who was asked.
        probe: what was asked.
        question: its wording.
        doses: the replies.
        found: what they show.
        simulated: no model was asked.
    """
    lines = [
        f"selfdiag lab · {one_line(model)}{' (simulated)' if simulated else ''}",
        f"{one_line(probe.id)} · {one_line(probe.bin)}",
        "",
        *(one_line(text, 400) for text in question.splitlines()),
        f"key: {one_line(probe.answer, 400)}",
        "",
        "claimed  stated  where",
    ]
    for dose in doses:
        stated = dose.reply.stated()
        shown = "–" if stated is None else str(stated)
        lines.append(f"{dose.claim:>5} %  {shown:>6}  {where(dose):<15}  {answer_line(dose.reply, 200)}")
    lines += ["", verdict_words(found) if found is not None else "no verdict: fewer than two claims", ALONE]
    return "\n".join(lines) + "\n"
