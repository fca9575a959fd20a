"""Which calls put whole profiles before the model: every row under every arm, in an order drawn by the seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from selfdiag.battery.draw import SeededOrder, wording
from selfdiag.battery.items import Battery, Probe
from selfdiag.elicit.prompts import profile_slot, render
from selfdiag.runs.calls import CallBook
from selfdiag.runs.plan import Plan
from selfdiag.runs.records import BatteryInfo, InjectedProfile, RunSettings

OFF = "off"
PLACEBO = "placebo"
OWN = "own"
SHUFFLED = "shuffled"
OTHER = "other"
"""The arm that shows another model's profile."""
TRUE, FALSE = "true", "false"
"""The arms of a topic pass."""
BATCH_ROWS = 20
"""About so many rows, each under every arm, make one batch of the call order."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One wording of an item; ``replicate`` is 0 for the wording that the seed draws."""

    probe: Probe
    paraphrase: int
    replicate: int


def rows_of(probes: Sequence[Probe], seed: int, wordings: int = 1) -> list[Row]:
    """Return up to ``wordings`` rows of each item, the drawn wording first, then those that follow it."""
    rows = []
    for probe in probes:
        first, available = wording(probe, seed), len(probe.questions)
        rows += [
            Row(probe=probe, paraphrase=(first + step) % available, replicate=step)
            for step in range(min(wordings, available))
        ]
    return rows


def plan_with_profiles(
    settings: RunSettings,
    section: str,
    whole: Battery,
    rows: Sequence[Row],
    profiles: Sequence[InjectedProfile],
    *,
    halves: Mapping[str, int] | None = None,
    labels: Sequence[bool] = (True,),
) -> Plan:
    """Plan to ask every row under every arm; the prompts of a row differ in the numbers of the slot alone.

    The rows are put into an order drawn by the seed and cut into batches of about ``BATCH_ROWS``; within a batch the
    calls of all rows and arms are mixed, so that a model or server that drifts drifts alike in every arm. ``claim``
    of a call is what its profile says of the item's own topic.

    Args:
        settings: of the run; its seed draws the order.
        section: of the calls.
        whole: the battery that the items come from; the slot has a line for each of its topics.
        rows: what to ask.
        profiles: what stands in the slot, by arm and half.
        halves: the half of each item, by id; an item without one gets the profiles that have none.
        labels: whether the question names its topic; with both, every arm is asked both ways.
    """
    shown = {(profile.arm, profile.half): profile for profile in profiles}
    arms = tuple(dict.fromkeys(profile.arm for profile in profiles))
    bins = whole.bins()
    order = SeededOrder(section, settings.seed)
    ordered = sorted(rows, key=lambda row: order.key("row", row.probe.id, row.paraphrase))
    batches = max(1, round(len(ordered) / BATCH_ROWS))
    planned = [
        (index * batches // len(ordered), row, arm, labelled)
        for index, row in enumerate(ordered)
        for arm in arms
        for labelled in labels
    ]
    planned.sort(key=lambda call: (call[0], order.key("call", call[1].probe.id, call[1].paraphrase, *call[2:])))
    book = CallBook(settings)
    for batch, row, arm, labelled in planned:
        probe = row.probe
        half = (halves or {}).get(probe.id)
        profile = shown.get((arm, half)) or shown[arm, None]
        claims = {name: value for name, value in profile.values.items() if value is not None}
        claim = claims.get(probe.bin)
        slot = profile_slot(bins, claims)
        book.add(
            section,
            probe.id,
            render(probe, row.paraphrase, slot=slot, labelled=labelled, example=settings.example),
            arm=arm,
            claim=claim,
            claim_bin="" if claim is None else probe.bin,
            labelled=labelled,
            paraphrase=row.paraphrase,
            replicate=row.replicate,
            batch=batch,
        )
    return Plan(
        battery=BatteryInfo(id=whole.id, version=whole.version, sha256=whole.sha256()),
        drawn=Battery(id=whole.id, version=whole.version, probes=()),
        check=tuple({row.probe.id: row.probe for row in rows}.values()),
        injected=tuple(profiles),
        systems=book.systems,
        prompts=book.prompts,
        calls=tuple(book.calls),
    )
