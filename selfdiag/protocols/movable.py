"""The automatic choice of an item whose confidence moves: many are tried, one is kept and asked again."""

from __future__ import annotations

import msgspec

from selfdiag.battery.draw import SeededOrder, draw
from selfdiag.battery.items import Battery, Probe
from selfdiag.protocols.microprobe import Microprobe, ProbedItem, microprobe_of
from selfdiag.protocols.microprobe_plan import claims_plan
from selfdiag.runs.calls import CallBook
from selfdiag.runs.claims import LOW_AND_HIGH, add_claims
from selfdiag.runs.plan import Plan, battery_of
from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError

TRIES = 16
KEPT_CLAIMS = (0, 25, 75, 95)
"""Claims for the kept item: the two it was chosen by, and two that had no part in the choice."""


class Pick(msgspec.Struct, frozen=True, kw_only=True):
    """The kept item: its id, None when none has a reading, how many were ``tried``, and how it was chosen."""

    item_id: str | None
    tried: int
    note: str


def spread_of(battery: Battery, k: int = TRIES, seed: int = 0) -> tuple[Probe, ...]:
    """Return a spread of probes over the topics, those of medium and hard difficulty first.

    Wrong answers are wanted, and easy items give few. No topic comes again before every topic has come.

    Args:
        battery: its probes are chosen from.
        k: how many, fewer when there are not so many.
        seed: of the choice.
    """
    order = SeededOrder("movable", seed)
    rank: dict[str, int] = {}
    ranked = []
    for probe in sorted(battery.probes, key=lambda probe: (probe.difficulty == "easy", order.key(probe.id))):
        rank[probe.bin] = rank.get(probe.bin, -1) + 1
        ranked.append((rank[probe.bin], order.key("topic", probe.bin), probe))
    ranked.sort(key=lambda row: row[:2])
    return tuple(probe for _, _, probe in ranked[:k])


def trial_plan(settings: RunSettings, *, k: int = TRIES, labelled: bool = True) -> Plan:
    """Return the plan of the trial: a spread of items under the two claims alone, without any control.

    Args:
        settings: ``battery`` and ``seed`` say what is chosen from.
        k: how many items are tried.
        labelled: name the topic of each question.

    Raises:
        SelfdiagError: when the battery has no probe.
    """
    whole, size = battery_of(settings)
    tried = spread_of(draw(whole, size, seed=settings.seed, traps=False), k, settings.seed)
    if not tried:
        raise SelfdiagError("no probe to ask: this battery has none")
    book = CallBook(settings)
    add_claims(book, tried, whole.bins(), claims=LOW_AND_HIGH, labelled=labelled, control=False, unlabelled=False)
    return claims_plan(book, whole, tried)


def pick(run: Run) -> Pick:
    """Return the item of a trial that moves most among those answered wrongly under both claims.

    Wrong under both, so that it is the confidence that moves and not the answer that gets better. When there is no
    such item, all that have a reading are candidates. Among equal moves one with the claim goes first.

    Args:
        run: of ``trial_plan``.
    """
    found = microprobe_of(run)
    tried = found.items
    read = [item for item in tried if item.shift is not None]
    if not read:
        return Pick(
            item_id=None, tried=len(tried), note=f"none of the {len(tried)} items tried has a reading, so none is kept"
        )
    wrong = [item for item in read if all(reply.outcome == "incorrect" for reply in item.ends())]
    note = (
        f"chosen among the {len(wrong)} of {len(tried)} that were answered wrongly under both claims"
        if wrong
        else f"none of the {len(tried)} was answered wrongly under both claims: chosen among all that have a reading"
    )
    return Pick(item_id=min(wrong or read, key=_rank).id, tried=len(tried), note=note)


def kept_plan(settings: RunSettings, trial: Run, item_id: str, *, labelled: bool = True, wordings: int = 1) -> Plan:
    """Return the plan that asks the kept item of a trial again, under more claims and with every control.

    Its manifest holds every item tried, so that its reader knows of how many this one was kept.

    Args:
        settings: as of the trial.
        trial: manifest and records.
        item_id: of the item kept.
        labelled: name the topic of the question.
        wordings: so many wordings of it, for the noise.
    """
    whole, _ = battery_of(settings)
    book = CallBook(settings)
    kept = [probe for probe in trial.manifest.check if probe.id == item_id]
    add_claims(book, kept, whole.bins(), claims=KEPT_CLAIMS, labelled=labelled, wordings=wordings)
    return claims_plan(book, whole, trial.manifest.check)


def nothing_kept(run: Run, why: str) -> Microprobe:
    """Return the result of a trial that kept no item: its figures, and why there is no item.

    Args:
        run: of ``trial_plan``, complete or not.
        why: a plain sentence.
    """
    found = microprobe_of(run)
    notes = (*found.summary.notes, why)
    summary = msgspec.structs.replace(found.summary, verdict=None, tried=len(found.items), notes=notes)
    return msgspec.structs.replace(found, summary=summary, items=())


def _rank(item: ProbedItem) -> tuple[float, float, str]:
    shift = item.shift or 0.0
    return -abs(shift), -shift, item.id
