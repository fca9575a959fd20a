"""The verdicts of a microprobe in plain sentences, and its figures worded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.claim_replies import ClaimReply
from selfdiag.protocols.microprobe import MicroprobeSummary, ProbedItem
from selfdiag.report import words
from selfdiag.runs.claims import LOW_AND_HIGH, judged_claims

_UNREAD = {
    "abstained": "it abstained",
    "refused": "it refused",
    "unparsed": "its reply could not be read",
    "truncated": "its reply was cut off",
    "empty": "it said nothing",
    "overflow": "the prompt did not fit",
    "error": "the call failed",
    "not_asked": "it was not asked",
}


STRAYED = 10
"""Points of confidence from which on replies to other claims contradict that it does not move."""


class Figure(NamedTuple):
    """One figure as text; ``note`` says why a value or its interval is missing."""

    name: str
    value: str
    interval: str
    n: int
    note: str


def item_sentence(item: ProbedItem) -> str:
    """Return the verdict on one item and what it means, in one plain sentence."""
    return f"{item.verdict}: {_item_words(item)}."


def set_sentence(found: MicroprobeSummary) -> str:
    """Return the verdict on a set of items and what it means, in plain sentences."""
    return f"{found.set_verdict}: {_set_words(found)}."


def _item_words(item: ProbedItem) -> str:
    low, high = judged_claims([int(claim) for claim in item.claims])
    first, last = item.ends()
    said = f"{first.confidence} at {low} %, {last.confidence} at {high} %"
    if item.verdict == "movable":
        if item.direction == "against":
            return f"it goes against the claimed accuracy: {said}; {_control(item)}"
        what = "number" if item.mechanism == "number" else "accuracy"
        return f"it follows the claimed {what}: {said}; {_control(item)}"
    if item.verdict == "unassociated":
        alone = points(item.unlabelled, sign=True)
        return f"it follows the claim only where the question names its topic: {said}, and {alone} without the name"
    if item.verdict == "pinned":
        return f"it says {said}{_strays(item) or ', whatever is claimed'}"
    if item.verdict == "unmoved":
        noise = f"; another wording alone moves it by {points(item.noise)}" if item.noise else ""
        return f"it does not follow the claimed accuracy: {said}{noise}{_strays(item)}"
    if item.verdict == "induced abstention":
        return f"the claim decides whether it answers: it abstains at {low} % and answers at {high} %"
    return " and ".join(
        f"at {claim} % {_unread(reply)}" for claim, reply in ((low, first), (high, last)) if reply.stated() is None
    )


def _strays(item: ProbedItem) -> str:
    """Return how far it goes at other claims than the two that are judged, empty where it stays with them."""
    stated = [value for reply in item.claims.values() if (value := reply.stated()) is not None]
    judged = [value for reply in item.ends() if (value := reply.stated()) is not None]
    if max(stated) - max(judged) < STRAYED and min(judged) - min(stated) < STRAYED:
        return ""
    return f", yet at other claims it goes from {min(stated)} to {max(stated)}"


def _set_words(found: MicroprobeSummary) -> str:
    low, high = judged_claims(found.claims) if found.claims else LOW_AND_HIGH
    shift = f"{points(found.shift.value, sign=True)} points on average {ends(found.shift.ci, sign=True)}".rstrip()
    if found.set_verdict == "movable":
        moved = round((found.moved.value or 0) * found.n)
        copies = found.mechanisms.get("number", 0) > found.mechanisms.get("profile", 0)
        what = "number that is claimed, whichever topic it is about" if copies else "claimed accuracy"
        return (
            f"confidence follows the {what}, {shift} from {low} % to {high} %, and {moved} of "
            f"{words.several(found.n, 'item')} move by 10 or more{_mechanisms(found.mechanisms)}{_unasked(found)}"
        )
    if found.set_verdict == "unassociated":
        alone = points(found.unlabelled.value, sign=True)
        return (
            f"confidence follows the claim only where the question names its topic, {shift}, and {alone} without the "
            "name"
        )
    if found.set_verdict == "pinned":
        pinned = round((found.pinned.value or 0) * found.n)
        return f"on {pinned} of {found.n} items it says the same, whatever is claimed"
    if found.set_verdict == "unmoved":
        return (
            f"confidence does not follow the claimed accuracy, {shift}, within 5 of 0 "
            f"(90 % interval {ends(found.shift_90, sign=True)})"
        )
    why = found.note or "the interval is too wide"
    if found.shift.value is None:
        return why
    return f"{why}; {shift} from {low} % to {high} %{_mechanisms(found.mechanisms)}"


def figures(found: MicroprobeSummary) -> list[Figure]:
    """Return the figures of a set of items, in the order in which they are shown."""
    rows = [
        _points("shift", found.shift, sign=True),
        _points("size of the shift", found.absolute_shift),
        _points("the same, off topic", found.off_topic),
    ]
    if found.labelled:
        rows.append(_points("shift, topic not named", found.unlabelled, sign=True))
    if found.noise.value is not None:
        rows.append(_points("noise between wordings", found.noise))
    rows += [
        _share("moved by 10 or more", found.moved),
        _share("abstains at the low claim", found.induced_abstention),
        _share("answer changed", found.answer_changed),
        _share("right, then wrong", found.right_to_wrong),
        _share("wrong, then right", found.wrong_to_right),
    ]
    if found.dose is not None:
        rows += [
            _slope("points a claimed point", found.dose.slope),
            _slope("rank correlation", found.dose.spearman),
        ]
    return rows


def points(value: float | None, *, sign: bool = False) -> str:
    """Return points of confidence with a decimal where it is not 0, or a dash."""
    if value is None:
        return "–"
    text = f"{round(value, 1):{'+' if sign else ''}.1f}".removesuffix(".0")
    return "0" if text in {"+0", "-0"} else text


def ends(interval: tuple[float, float] | None, *, sign: bool = False) -> str:
    """Return an interval in points in brackets, or an empty text."""
    if interval is None:
        return ""
    low, high = (points(end, sign=sign) for end in interval)
    return f"[{low}, {high}]"


def _points(name: str, found: Estimate, *, sign: bool = False) -> Figure:
    return Figure(name, points(found.value, sign=sign), ends(found.ci, sign=sign), found.n, found.note)


def _share(name: str, found: Estimate) -> Figure:
    return Figure(name, words.percent(found.value), words.interval(found, kind="percent"), found.n, found.note)


def _slope(name: str, found: Estimate) -> Figure:
    return Figure(name, words.signed(found.value), words.interval(found, kind="signed"), found.n, found.note)


def _control(item: ProbedItem) -> str:
    """Return what the claim on another topic's line says of an item that moved."""
    if item.mechanism is None or item.off_topic is None or item.shift is None:
        asked = "has no reading" if item.off_topic_claims else "was not asked"
        return f"whether it believes the profile or copies the number is open, as the control {asked}"
    other_way = " the other way" if item.shift * item.off_topic < 0 else ""
    moved = f"the same claim about another topic moves it by {points(abs(item.off_topic))}{other_way}"
    if item.mechanism == "number":
        return f"{moved}, so it copies the number rather than believes the profile"
    return f"{moved}, so it believes the profile rather than copies the number"


def _unread(reply: ClaimReply) -> str:
    return _UNREAD.get(reply.outcome, "it stated no confidence")


def _unasked(found: MicroprobeSummary) -> str:
    if found.unlabelled.n or not found.labelled:
        return ""
    why = found.unlabelled.note.removeprefix("no data: ")
    return f"; whether it does without the topic's name is open: {why}"


def _mechanisms(counts: Mapping[str, int]) -> str:
    numbers, profiles = counts.get("number", 0), counts.get("profile", 0)
    if not numbers + profiles:
        return ""
    return (
        f"; of the {numbers + profiles} that move, {numbers} follow the number on another topic's line too, "
        f"{profiles} do not"
    )
