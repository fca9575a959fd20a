"""Which calls make a self-selection: two candidate answers to every item, and the picks between them."""

from __future__ import annotations

from collections.abc import Sequence

from selfdiag.battery.draw import SeededOrder, wording
from selfdiag.battery.items import Battery, Probe
from selfdiag.elicit.selection import SOLVE_CONTRACTS, placeholder, render_pick, render_solve
from selfdiag.runs.calls import CallBook
from selfdiag.runs.earlier import BACKWARD, FORWARD
from selfdiag.runs.plan import Plan, battery_of, drawn_items
from selfdiag.runs.records import CANDIDATES, SELFSELECT, BatteryInfo, RunSettings
from selfdiag.safety import SelfdiagError, nearest, one_line

SELECTIONS = 2
"""Picks for each item unless asked otherwise: one in each order."""
WARM_FROM = 3
"""With so many picks an item they are sampled: at temperature 0 a third one would be a copy."""
TEMPERATURE, TOP_P = 0.7, 0.9
"""How candidates, and several picks in one order, are sampled."""


def selection_plan(settings: RunSettings, *, selections: int = SELECTIONS) -> Plan:
    """Plan two candidate answers to every drawn probe, and picks between them.

    With one pick the seed draws the order in which an item's answers are shown, otherwise half of the picks have
    either order. Two picks or fewer are asked at the run's own temperature, more are sampled.

    Args:
        settings: of the run; traps have no right answer and are not asked.
        selections: picks for each item, 1 or an even number.

    Raises:
        SelfdiagError: when the settings name an item or a topic that is not there, or no probe.
        ValueError: for another number of picks.
    """
    if selections != 1 and (selections < 1 or selections % 2):
        raise ValueError("an item has one pick, or as many in one order as in the other")
    whole, size = battery_of(settings)
    _check(settings, whole)
    drawn = drawn_items(settings, whole, size, traps=False).probes
    if not drawn:
        raise SelfdiagError("no probe to ask: this choice of battery, bins, items and limit has none")
    book = CallBook(settings)
    order = SeededOrder(SELFSELECT, settings.seed)
    # those with one contract after the other: a local engine then reads it once
    for way in range(len(SOLVE_CONTRACTS)):
        for probe in order.shuffled(drawn, "candidates"):
            index = wording(probe, settings.seed)
            prompt = render_solve(probe, index, way)
            book.add(
                CANDIDATES,
                probe.id,
                prompt,
                paraphrase=index,
                replicate=way,
                temperature=TEMPERATURE,
                top_p=TOP_P,
            )
    _add_picks(book, drawn, order, selections)
    return Plan(
        battery=BatteryInfo(id=whole.id, version=whole.version, sha256=whole.sha256()),
        drawn=Battery(id=whole.id, version=whole.version, probes=()),
        check=tuple(drawn),
        systems=book.systems,
        prompts=book.prompts,
        calls=tuple(book.calls),
    )


def _add_picks(book: CallBook, probes: Sequence[Probe], order: SeededOrder, selections: int) -> None:
    """Plan the picks, all items and orders mixed."""
    warm = selections >= WARM_FROM
    picks: list[tuple[Probe, str, int]] = []
    for probe in probes:
        if selections == 1:
            picks.append((probe, (FORWARD, BACKWARD)[order.pick(2, "order", probe.id)], 0))
        else:
            # sampled ones are counted from 1: they are other calls than those at the run's own temperature
            numbers = [number + warm for number in range(selections // 2)]
            picks += [(probe, arm, number) for arm in (FORWARD, BACKWARD) for number in numbers]
    picks.sort(key=lambda one: order.key("pick", one[0].id, *one[1:]))
    for probe, arm, number in picks:
        index = wording(probe, book.settings.seed)
        ways = (0, 1) if arm == FORWARD else (1, 0)
        book.add(
            SELFSELECT,
            probe.id,
            render_pick(probe, index, (placeholder(ways[0]), placeholder(ways[1]))),
            arm=arm,
            paraphrase=index,
            replicate=number,
            temperature=TEMPERATURE if warm else None,
            top_p=TOP_P if warm else None,
        )


def _check(settings: RunSettings, whole: Battery) -> None:
    known = [probe.id for probe in whole.probes]
    for item_id in settings.items:
        if item_id not in known:
            what = "a trap, which has no right answer" if whole.find(item_id) else "no item of this battery"
            raise SelfdiagError(f"--items: {one_line(item_id, 40)!r} is {what}.{nearest(item_id, known)}")
