"""The probes that every model of a panel was asked in the same words and replied to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from selfdiag.battery.items import Probe
from selfdiag.protocols.compare_items import asked_and_graded, asked_items
from selfdiag.protocols.sources import run_columns
from selfdiag.runs.records import MEASURED_SECTIONS, Record
from selfdiag.runs.store import Run


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """Which probes the panel speaks of: of ``asked`` different ones in the runs, the ``probes`` of every run.

    The others are left out, each for the first reason that fits: ``not_asked_of_all``, ``changed`` (another question
    or key under the same id), ``reworded`` (no wording that all were asked), ``unanswered`` (no wording that all
    replied to; a fault is no reply). ``traps`` are left out because they have no right answer, and ``repeats`` are
    further replies to the probes of the panel, in other wordings or again.
    """

    asked: int
    probes: int
    not_asked_of_all: int
    changed: int
    reworded: int
    unanswered: int
    traps: int
    repeats: int


class Reply(NamedTuple):
    """A reply and the confidence beside it, a fraction or NaN."""

    record: Record
    confidence: float


class SharedProbe(NamedTuple):
    """A probe in one wording, and what each model replied, in the order of the runs."""

    probe: Probe
    paraphrase: int
    replies: tuple[Reply, ...]


class _Asked(NamedTuple):
    """What one run has asked: probes and the numbers of their wordings by id, and the replies by wording."""

    probes: Mapping[str, Probe]
    wordings: Mapping[str, set[int]]
    replies: Mapping[str, dict[int, list[Reply]]]


def shared_probes(runs: Sequence[Run]) -> tuple[list[SharedProbe], Shared, tuple[str, ...]]:
    """Return the probes of the panel, how many others are left out and why, and a note of each run on its confidences.

    The item is the unit: of several wordings the first that all have replied to counts, and of repeats the first.

    Args:
        runs: those of the panel; the result keeps their order. A note is empty where there is nothing to say.
    """
    asked, notes = zip(*map(_asked, runs), strict=True)
    ids = list(dict.fromkeys(item_id for one in asked for item_id in one.probes))
    reasons = dict.fromkeys(("not_asked_of_all", "changed", "reworded", "unanswered"), 0)
    found: list[SharedProbe] = []
    repeats = 0
    for item_id in ids:
        made = _shared(item_id, asked)
        if isinstance(made, str):
            reasons[made] += 1
            continue
        found.append(made)
        told = sum(len(replies) for one in asked for replies in one.replies[item_id].values())
        repeats += told - len(runs)
    traps = {item_id for run in runs for item_id, item in asked_items(run).items() if not isinstance(item, Probe)}
    shared = Shared(asked=len(ids), probes=len(found), traps=len(traps), repeats=repeats, **reasons)
    return found, shared, notes


def left_out(shared: Shared) -> tuple[str, ...]:
    """Return how many probes are left out for each reason, in plain words."""
    reasons = (
        (shared.not_asked_of_all, "not asked of every model"),
        (shared.changed, "with another question or key under the same id"),
        (shared.reworded, "asked in other words"),
        (shared.unanswered, "without a reply of every model"),
    )
    return tuple(f"{count} {reason}" for count, reason in reasons if count)


def _shared(item_id: str, asked: Sequence[_Asked]) -> SharedProbe | str:
    """Return a probe with a reply of every model, or the name of the reason why it is left out."""
    if not all(item_id in one.probes for one in asked):
        return "not_asked_of_all"
    probe = asked[0].probes[item_id]
    if any(asked_and_graded(one.probes[item_id]) != asked_and_graded(probe) for one in asked[1:]):
        return "changed"
    wordings = set.intersection(*(one.wordings[item_id] for one in asked))
    if not wordings:
        return "reworded"
    replied = wordings.intersection(*(one.replies.get(item_id, {}) for one in asked))
    if not replied:
        return "unanswered"
    wording = min(replied)
    return SharedProbe(probe, wording, tuple(one.replies[item_id][wording][0] for one in asked))


def _asked(run: Run) -> tuple[_Asked, str]:
    probes = {item_id: item for item_id, item in asked_items(run).items() if isinstance(item, Probe)}
    wordings: dict[str, set[int]] = {item_id: set() for item_id in probes}
    for call in run.manifest.plan:
        if call.section in MEASURED_SECTIONS and call.item_id in probes:
            wordings[call.item_id].add(call.paraphrase)
    records = run.measured()
    columns, note = run_columns(run, records)
    replies: dict[str, dict[int, list[Reply]]] = {}
    for record, confidence in zip(records, columns.confidence.tolist(), strict=True):
        if record.outcome != "error" and record.item_id in probes:
            replies.setdefault(record.item_id, {}).setdefault(record.paraphrase, []).append(Reply(record, confidence))
    return _Asked(probes, wordings, replies), note
