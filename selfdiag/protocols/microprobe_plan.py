"""Which items a microprobe asks, and its calls."""

from __future__ import annotations

from collections.abc import Sequence

from selfdiag.battery.draw import draw
from selfdiag.battery.items import Battery, Probe
from selfdiag.runs.calls import CallBook
from selfdiag.runs.claims import LOW_AND_HIGH, add_claims, one_a_topic
from selfdiag.runs.plan import Plan, battery_of
from selfdiag.runs.records import BatteryInfo, RunSettings
from selfdiag.safety import SelfdiagError, nearest, one_line


def microprobe_plan(
    settings: RunSettings, *, claims: Sequence[int] = LOW_AND_HIGH, labelled: bool = True, wordings: int = 1
) -> Plan:
    """Return the plan that asks the settings' items, or one of every topic, under claims, with every control.

    Args:
        settings: ``battery``, ``seed``, ``items`` and ``bins`` say which items; all probes of ``bins`` are asked.
        claims: claimed accuracies in percent.
        labelled: name the topic of the question; without it the control that leaves it out has no sense.
        wordings: so many wordings of each item, for the noise.

    Raises:
        SelfdiagError: when the settings name an item or a topic that is not there, or no probe.
    """
    whole, size = battery_of(settings)
    _check(settings, whole)
    drawn = draw(whole, size, seed=settings.seed, bins=settings.bins, items=settings.items, traps=False).probes
    chosen = drawn if settings.items or settings.bins else one_a_topic(drawn, settings.seed)
    if not chosen:
        raise SelfdiagError("no probe to ask: this choice of battery, item and bin has none")
    book = CallBook(settings)
    add_claims(book, chosen, whole.bins(), claims=claims, labelled=labelled, wordings=wordings)
    return claims_plan(book, whole, chosen)


def claims_plan(book: CallBook, whole: Battery, probes: tuple[Probe, ...]) -> Plan:
    """Return a plan of claims alone: the calls of the book, with every probe that the run's reader must know."""
    return Plan(
        battery=BatteryInfo(id=whole.id, version=whole.version, sha256=whole.sha256()),
        drawn=Battery(id=whole.id, version=whole.version, probes=()),
        check=probes,
        systems=book.systems,
        prompts=book.prompts,
        calls=tuple(book.calls),
    )


def _check(settings: RunSettings, battery: Battery) -> None:
    known = [probe.id for probe in battery.probes]
    for item_id in settings.items:
        if item_id not in known:
            shown = one_line(item_id, 40)
            if battery.find(item_id) is not None:
                raise SelfdiagError(f"{shown!r} is a trap, which has no right answer: name a probe with --item")
            raise SelfdiagError(f"unknown item {shown!r} in --item.{nearest(item_id, known)}")
    present = battery.bins()
    for name in settings.bins:
        if name not in present:
            raise SelfdiagError(
                f"unknown bin {one_line(name, 40)!r}: this battery has {one_line(', '.join(present), 400)}."
                f"{nearest(name, present)}"
            )
