"""Seeded, stratified draws of a battery.

Draws use their own small generator over SHA-256, so that the same seed gives the same items on every
platform and Python version.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import TypeVar

from selfdiag.battery.items import BINS, DIFFICULTIES, Battery, Probe, Trap

T = TypeVar("T")

DRAWS = ("quick", "standard", "full")
PAPER = "paper"
"""All probes and one trap a bin: the size of the published study, 294 + 21."""
_PER_BIN = {"quick": 2, "standard": 6}
_HARD_SHARE = {"quick": 12, "standard": 36}


class SeededOrder:
    """Orders and picks that depend on a seed and labels alone, never on a global generator."""

    def __init__(self, *seed: object) -> None:
        self._seed = "/".join(str(part) for part in seed)

    def key(self, *labels: object) -> int:
        """Return a 64-bit number for these labels, uniform over labels."""
        text = "/".join((self._seed, *(str(label) for label in labels)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def shuffled(self, items: Iterable[T], *labels: object) -> list[T]:
        """Return the items in an order fixed by the seed, the labels and each item's text or id."""
        return sorted(items, key=lambda item: self.key(*labels, getattr(item, "id", item)))

    def pick(self, count: int, *labels: object) -> int:
        """Return a number from 0 to ``count - 1``."""
        return self.key(*labels) % count


def draw(
    battery: Battery,
    size: str = "full",
    *,
    seed: int = 0,
    bins: Sequence[str] = (),
    items: Sequence[str] = (),
    limit: int | None = None,
    traps: bool = True,
) -> Battery:
    """Return the items that a run asks.

    Args:
        battery: the whole battery.
        size: ``quick`` (2 probes a bin of different difficulty, 15 easy 15 medium 12 hard over 21 bins,
            and one trap a bin), ``standard`` (6 probes a bin and one trap a bin) or ``full``. Where a bin
            has fewer items, it gives all it has. ``PAPER`` is all probes and one trap a bin.
        seed: fixes the choice; the same seed draws the same items everywhere.
        bins: keep these bins only; all of them when empty.
        items: keep these item ids only, whatever ``size`` says.
        limit: keep at most this many probes and this many traps, spread evenly over the bins.
        traps: False leaves the traps out.
    """
    order = SeededOrder("draw", seed)
    if items:
        wanted = set(items)
        probes = [probe for probe in battery.probes if probe.id in wanted]
        chosen_traps = [trap for trap in battery.traps if trap.id in wanted and traps]
    else:
        names = [name for name in battery.bins() if not bins or name in bins]
        probes = _probes(battery, size, names, order)
        chosen_traps = _traps(battery, size, names, order) if traps else []
    if limit is not None:
        probes, chosen_traps = _spread(probes, limit, order), _spread(chosen_traps, limit, order)
    return Battery(id=battery.id, version=battery.version, probes=tuple(probes), traps=tuple(chosen_traps))


def wording(item: Probe | Trap, seed: int) -> int:
    """Return the index of the paraphrase that this seed asks."""
    return SeededOrder("wording", seed).pick(len(item.questions), item.id)


def _probes(battery: Battery, size: str, names: list[str], order: SeededOrder) -> list[Probe]:
    by_bin = {name: [probe for probe in battery.probes if probe.bin == name] for name in names}
    if size not in _PER_BIN:
        return [probe for name in names for probe in by_bin[name]]
    quota = _quotas(names, _PER_BIN[size], order)
    chosen: list[Probe] = []
    for name in names:
        taken: list[Probe] = []
        for difficulty, count in quota[name].items():
            pool = [probe for probe in by_bin[name] if probe.difficulty == difficulty]
            taken += order.shuffled(pool, "probe", size)[:count]
        rest = [probe for probe in by_bin[name] if probe not in taken]
        missing = _PER_BIN[size] - len(taken)
        taken += order.shuffled(rest, "fill", size)[: max(missing, 0)]
        chosen += sorted(taken, key=lambda probe: probe.id)
    return chosen


def _quotas(names: list[str], per_bin: int, order: SeededOrder) -> dict[str, dict[str, int]]:
    """Return for each bin how many easy, medium and hard probes it gives.

    With two a bin, each bin leaves one difficulty out: over 21 bins 6 leave out easy, 6 medium, 9 hard, so
    that 15 easy, 15 medium and 12 hard are asked. With six a bin every difficulty has two.
    """
    if per_bin % len(DIFFICULTIES) == 0:
        return {name: {level: per_bin // len(DIFFICULTIES) for level in DIFFICULTIES} for name in names}
    without_hard = round(len(names) * 9 / len(BINS))
    without_easy = (len(names) - without_hard + 1) // 2
    shuffled = order.shuffled(names, "quota")
    quotas: dict[str, dict[str, int]] = {}
    for index, name in enumerate(shuffled):
        if index < without_hard:
            left_out = "hard"
        elif index < without_hard + without_easy:
            left_out = "easy"
        else:
            left_out = "medium"
        quotas[name] = {level: 1 for level in DIFFICULTIES if level != left_out}
    return quotas


def _traps(battery: Battery, size: str, names: list[str], order: SeededOrder) -> list[Trap]:
    by_bin = {name: [trap for trap in battery.traps if trap.bin == name] for name in names}
    if size not in {*_PER_BIN, PAPER}:
        return [trap for name in names for trap in by_bin[name]]
    pools = {name: order.shuffled(by_bin[name], "trap") for name in order.shuffled(names, "traps")}
    chosen = {name: pool[0] for name, pool in pools.items() if pool}
    while exchange := _exchange(chosen, pools):
        chosen |= exchange
    return [chosen[name] for name in names if name in chosen]


def _exchange(chosen: dict[str, Trap], pools: dict[str, list[Trap]]) -> dict[str, Trap]:
    """Return other traps for some bins, so that the families are asked more evenly; nothing when they are even.

    A bin may lead from a family asked too often only to a third one, which another bin then has to leave:
    such chains are searched breadth first.
    """
    asked = Counter(trap.family for trap in chosen.values())
    for crowded, count in asked.most_common():
        ways: dict[str, dict[str, Trap]] = {crowded: {}}
        reached = deque([crowded])
        while reached:
            family = reached.popleft()
            if asked[family] <= count - 2:
                return ways[family]
            for name, trap in chosen.items():
                for other in pools[name] if trap.family == family else []:
                    if other.family not in ways:
                        ways[other.family] = {**ways[family], name: other}
                        reached.append(other.family)
    return {}


def _spread(items: list[T], limit: int, order: SeededOrder) -> list[T]:
    if len(items) <= limit:
        return items
    rank: dict[str, int] = {}
    keyed = []
    for item in order.shuffled(items, "limit"):
        name = getattr(item, "bin", "")
        rank[name] = rank.get(name, -1) + 1
        keyed.append((rank[name], order.key("limit bin", name), item))
    keyed.sort(key=lambda row: row[:2])
    kept = {id(item) for _, _, item in keyed[:limit]}
    return [item for item in items if id(item) in kept]
