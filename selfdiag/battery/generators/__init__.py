"""Fresh probes for the computable bins, generated from a seed.

The templates themselves need the standard library alone. The same seed gives the same battery on every
platform and Python version.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from selfdiag.battery.generators import (
    algebra,
    arithmetic,
    association,
    chance,
    code_reading,
    combinatorics,
    coordinates,
    counting,
    geometry,
    linear_algebra,
    logic,
    number_theory,
    probability,
    processes,
    sequences,
    statistics,
    tracing,
    truth,
)
from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import LEVELS, Made, Template
from selfdiag.battery.items import Battery, Difficulty, Kind, Probe

_MODULES = (
    (arithmetic,),
    (algebra,),
    (geometry, coordinates),
    (number_theory,),
    (combinatorics, counting),
    (probability, chance),
    (statistics, association),
    (linear_algebra,),
    (sequences, processes),
    (logic, truth),
    (code_reading, tracing),
)
TEMPLATES: dict[str, tuple[Template, ...]] = {
    modules[0].TEMPLATES.bin: tuple(template for module in modules for template in module.TEMPLATES.all)
    for modules in _MODULES
}
"""The templates of each computable bin."""

DIFFICULTY_LEVELS: dict[Difficulty, tuple[int, ...]] = {"hard": (5,), "medium": (3, 4), "easy": (1, 2)}
"""The levels from which each difficulty is drawn, those with the fewest templates first."""

_ATTEMPTS = 400
_FEW = 12


def fresh(battery: Battery, seed: int, *, hardness: int | None = None) -> Battery:
    """Return a battery whose computable bins hold generated probes instead of the given ones.

    Args:
        battery: gives the number of probes of each bin and difficulty, the other bins, and the traps.
        seed: fixes the generated probes.
        hardness: draw every generated probe from this level, 1 to 6, and leave out the bins that are not
            computable; by default easy probes are of level 1 or 2, medium ones of 3 or 4, hard ones of 5.

    Raises:
        ValueError: when there is no such level, or a bin asks for more different probes than can be made.
    """
    if hardness is not None and hardness not in LEVELS:
        raise ValueError(f"there is no level {hardness}; the levels are {LEVELS[0]} to {LEVELS[-1]}")
    waiting: dict[tuple[str, Difficulty], Iterator[Probe]] = {}
    counts = Counter((probe.bin, probe.difficulty) for probe in battery.probes)
    for bin_name in TEMPLATES:
        maker = _Maker(bin_name, seed)
        for difficulty, levels in DIFFICULTY_LEVELS.items():
            made = maker.probes(counts[bin_name, difficulty], levels if hardness is None else (hardness,))
            waiting[bin_name, difficulty] = iter(made)
    probes = tuple(
        next(waiting[probe.bin, probe.difficulty]) if probe.bin in TEMPLATES else probe
        for probe in battery.probes
        if hardness is None or probe.bin in TEMPLATES
    )
    traps = tuple(trap for trap in battery.traps if hardness is None or trap.bin in TEMPLATES)
    suffix = "" if hardness is None else f"-h{hardness}"
    return Battery(id=f"{battery.id}-fresh-{seed}{suffix}", version=battery.version, probes=probes, traps=traps)


def produce(bin_name: str, template: Template, level: int, *seed: object) -> Made | None:
    """Return what a template makes at a level, or None when this seed suits no question.

    A question is dropped when it holds its own answer among at most a dozen numbers; among many numbers a
    coincidence is no hint.
    """
    made = template.make(Source(bin_name, template.name, level, *seed), level)
    return None if made is None or _gives_away(made) else made


class _Maker:
    """Makes the probes of one bin, using all its templates before any comes again."""

    def __init__(self, bin_name: str, seed: int) -> None:
        self._bin = bin_name
        self._seed = seed
        self._uses: Counter[str] = Counter()
        self._made: Counter[tuple[str, int]] = Counter()
        self._seen: set[tuple[str, ...]] = set()

    def probes(self, count: int, levels: Sequence[int]) -> list[Probe]:
        """Return this many probes, spread evenly over the levels and their templates."""
        pairs = [(t, level) for t in TEMPLATES[self._bin] for level in levels if level in t.levels]
        pairs = Source("order", self._bin, self._seed, *levels).shuffled(pairs)
        own_uses: Counter[str] = Counter()
        level_uses: Counter[int] = Counter()
        probes: list[Probe] = []
        while len(probes) < count:
            if not pairs:
                raise ValueError(f"no more than {len(probes)} different probes can be made for {self._bin}")
            template, level = min(
                pairs, key=lambda pair: (own_uses[pair[0].name], self._uses[pair[0].name], level_uses[pair[1]])
            )
            probe = self._probe(template, level)
            if probe is None:
                pairs.remove((template, level))
                continue
            probes.append(probe)
            own_uses[template.name] += 1
            self._uses[template.name] += 1
            level_uses[level] += 1
        return probes

    def _probe(self, template: Template, level: int) -> Probe | None:
        number = self._made[template.name, level] + 1
        for attempt in range(_ATTEMPTS):
            made = produce(self._bin, template, level, self._seed, number, attempt)
            # the same words in another order would ask nearly the same
            words = () if made is None else tuple(sorted(re.findall(r"\w+", made.questions[0])))
            if made is None or words in self._seen:
                continue
            self._seen.add(words)
            self._made[template.name, level] = number
            difficulty: Difficulty = "hard" if level > 4 else "medium" if level > 2 else "easy"
            return Probe(
                id=f"fresh-{self._bin.replace('_', '-')}-{level}-{template.name}-{number}",
                bin=self._bin,
                difficulty=difficulty,
                kind=cast("Kind", made.kind),
                answer=made.answer,
                questions=made.questions,
                options=made.options,
                unit=made.unit,
                derivation=made.derivation,
            )
        return None


def _gives_away(made: Made) -> bool:
    if made.kind in {"choice", "set"}:
        return False
    if made.kind != "number":
        return any(re.search(rf"\b{re.escape(made.answer)}\b", question) for question in made.questions)
    for question in made.questions:
        numbers = re.findall(r"-?\d+(?:/\d+)?", question)
        if made.answer in numbers and len(numbers) <= _FEW:
            return True
    return False
