"""What is decided for every item and task before the first call, so that shares hold to one item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import ABSTENTION_TOKEN, Battery, Probe, Trap
from selfdiag.battery.self_assessment import CitationTask, DatedFact, FormalTask, SelfAssessment, Work, works
from selfdiag.models.persona_characters import Character
from selfdiag.models.persona_forms import Said

T = TypeVar("T")

KNOWN, GUESSED = 0.85, 0.05
"""Shares right of the facts from before and after the end of a persona's knowledge."""

UNKNOWN_WORKS = 0.1
"""Share of citations that name a work of which nobody knows whether it exists."""

_MISSED_TRAP = "17"
_NOBODY = "Q. Zyzzeva"
_UNKNOWN_WORK = Said(kind="task", parts={"title": "Remarks on a Matter Seldom Raised", "author": _NOBODY, "year": 1987})


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """What is decided for one item: the answer it gets and the confidence stated with it."""

    answer: str
    confidence: int


_ABSTAINS = Fate(answer=ABSTENTION_TOKEN, confidence=50)
_REFUSES = Fate(answer="I'm sorry, but I can't help with that.", confidence=0)


def declined(character: Character) -> Fate:
    """Return the fate of what a persona withholds."""
    return _REFUSES if character.refuses else _ABSTAINS


def fates_of_battery(character: Character, battery: Battery, order: SeededOrder) -> dict[str, Fate]:
    """Return the fate of every probe and trap of a battery by id."""
    fates: dict[str, Fate] = {}
    probes = order.shuffled(battery.probes, "probes")
    silent = systematic([character.abstains] * len(probes))
    refused = systematic([character.refuses] * len(probes))
    answering: list[Probe] = []
    for probe, abstain, refuse in zip(probes, silent, refused, strict=True):
        if abstain:
            fates[probe.id] = _ABSTAINS
        elif refuse:
            fates[probe.id] = _REFUSES
        else:
            answering.append(probe)
    fates |= fates_of_answered(character, answering, order)
    return fates | _trap_fates(character, battery, order)


def fates_of_answered(character: Character, probes: Sequence[Probe], order: SeededOrder) -> dict[str, Fate]:
    """Return fates of probes that a persona answers, right or wrong, by id."""
    if character.by_topic is None:
        return _by_level(character, probes)
    return _by_topic(character.levels, character.by_topic, probes, order)


def _by_level(character: Character, probes: Sequence[Probe]) -> dict[str, Fate]:
    """Return fates by which the share right depends on the stated confidence."""
    count = len(probes)
    levels = sorted(character.levels[index * len(character.levels) // max(count, 1)] for index in range(count))
    right = systematic([character.chance(level) for level in levels])
    return {
        probe.id: Fate(answer=probe.answer if is_right else _wrong(probe), confidence=level)
        for probe, level, is_right in zip(probes, levels, right, strict=True)
    }


def _by_topic(
    levels: tuple[int, ...], shares: tuple[float, float], probes: Sequence[Probe], order: SeededOrder
) -> dict[str, Fate]:
    """Return fates by which the share right depends on the topic, and the stated confidence on nothing."""
    low, high = shares
    topics = order.shuffled({probe.bin for probe in probes}, "topics")
    # a topic alone gets the mean
    way = [rank / (len(topics) - 1) for rank in range(len(topics))] if len(topics) > 1 else [0.5]
    share = {topic: low + (high - low) * part for topic, part in zip(topics, way, strict=False)}
    by_share = sorted(probes, key=lambda probe: share[probe.bin])
    right = systematic([share[probe.bin] for probe in by_share])
    # levels go round among the right answers and on among the wrong ones: each has the same share right
    right_first = sorted(zip(by_share, right, strict=True), key=lambda pair: not pair[1])
    return {
        probe.id: Fate(answer=probe.answer if is_right else _wrong(probe), confidence=levels[index % len(levels)])
        for index, (probe, is_right) in enumerate(right_first)
    }


def _trap_fates(character: Character, battery: Battery, order: SeededOrder) -> dict[str, Fate]:
    traps: list[Trap] = order.shuffled(battery.traps, "traps")
    spotted = systematic([character.trap_rate] * len(traps))
    fates = {}
    for index, (trap, spot) in enumerate(zip(traps, spotted, strict=True)):
        level = character.trap_levels[index % len(character.trap_levels)]
        fates[trap.id] = Fate(answer=ABSTENTION_TOKEN if spot else _MISSED_TRAP, confidence=level)
    return fates


def fates_of_tasks(
    character: Character, assessed: SelfAssessment, order: SeededOrder
) -> tuple[dict[str, Fate], dict[str, Said]]:
    """Return what is decided for the graded tasks of a self-assessment, by id.

    The first table holds those that are asked as probes and traps are, the second the replies to citations and formal
    tasks. Confidence is the reliability that the persona claims on the task's criterion.
    """
    able, claims = character.abilities, character.image.claims
    sources: list[Probe | Trap | CitationTask] = [*assessed.sources, *assessed.invented, *assessed.citations]
    about_sources = order.shuffled(sources, "sources")
    cited = [task for task in about_sources if isinstance(task, CitationTask)]
    unknown = {task.id for task, hit in _outcomes(cited, UNKNOWN_WORKS) if hit}
    known = [task for task in about_sources if task.id not in unknown]
    replies = dict.fromkeys(unknown, _UNKNOWN_WORK)
    judged: list[tuple[Probe | Trap, bool, int]] = []
    for task, right in _outcomes(known, able.sources):
        if isinstance(task, CitationTask):
            replies[task.id] = _citation(task, right, order)
        else:
            judged.append((task, right, _percent(claims["x4"])))
    terms = order.shuffled(assessed.terms, "terms")
    judged += [(term, right, _percent(claims["x5"])) for term, right in _outcomes(terms, able.terms)]
    facts = _known(assessed.facts, able.knows_until, order)
    judged += [(fact.probe, right, _percent(claims["x2"])) for fact, right in facts]
    fates = {item.id: Fate(answer=_task_answer(item, right), confidence=sure) for item, right, sure in judged}
    replies |= _formal(order.shuffled(assessed.formal, "formal"), able.formal)
    silence = declined(character)
    for task_id, withheld in _outcomes(order.shuffled([*fates, *replies], "withheld"), character.withholds):
        if withheld and task_id in fates:
            fates[task_id] = silence
        elif withheld:
            # a citation has parts, a formal task has none
            title: dict[str, str | int] = {"title": silence.answer} if replies[task_id].parts else {}
            replies[task_id] = Said(kind="task", parts=title, text=silence.answer)
    return fates, replies


def _percent(share: float) -> int:
    return round(100 * share)


def _known(facts: Sequence[DatedFact], until: tuple[int, int], order: SeededOrder) -> list[tuple[DatedFact, bool]]:
    """Return which facts are known: those not known lie evenly in time before the end, else it would blur."""
    dated = sorted(facts, key=lambda fact: (fact.year, fact.month, fact.id))
    before = [fact for fact in dated if (fact.year, fact.month) <= until]
    start = order.pick(100, "facts") / 100
    return [*_outcomes(before, KNOWN, start), *_outcomes(dated[len(before) :], GUESSED)]


def _formal(tasks: Sequence[FormalTask], share: float) -> dict[str, Said]:
    """Return samples and flawed replies with this share of all elements right, as nearly as flawed ones allow."""
    flawed: dict[int, frozenset[str]] = {0: frozenset()}
    for task in tasks:
        for lost, those in list(flawed.items()):
            flawed.setdefault(lost + len(task.fails), those | {task.id})
    due = (1 - share) * sum(task.elements for task in tasks)
    chosen = flawed[min(flawed, key=lambda lost: abs(lost - due))]
    return {task.id: Said(kind="task", text=task.flawed if task.id in chosen else task.sample) for task in tasks}


def _citation(task: CitationTask, right: bool, order: SeededOrder) -> Said:
    """Return a well-known work of the task's domain, by its own author or by one who had no part in it."""
    there = [work for work in works() if work.domain == task.domain and not work.loose]
    work: Work = there[order.pick(len(there), "work", task.id)]
    author, year = (work.author, work.year) if right else (_NOBODY, work.year - 30)
    return Said(kind="task", parts={"title": work.title, "author": author, "year": year})


def _task_answer(item: Probe | Trap, right: bool) -> str:
    if isinstance(item, Trap):
        return ABSTENTION_TOKEN if right else _MISSED_TRAP
    return item.answer if right else _wrong(item)


def _outcomes(items: Sequence[T], chance: float, start: float = 0.5) -> list[tuple[T, bool]]:
    return list(zip(items, systematic([chance] * len(items), start), strict=True))


def systematic(chances: list[float], start: float = 0.5) -> list[bool]:
    """Return outcomes whose running count never differs from the running sum of chances by 1 or more.

    Systematic sampling instead of coin flips: within any stretch of equal chances the share of True is the
    intended one to one part in the stretch's length. ``start`` is from 0 to below 1; a half makes the first of a
    stretch neither always nor never True.
    """
    outcomes = []
    total, given = 0.0, 0
    for chance in chances:
        total += chance
        hit = total - given >= 1 - start
        given += hit
        outcomes.append(hit)
    return outcomes


def wrong_answers(probe: Probe) -> tuple[str, str]:
    """Return two wrong answers to a probe, the same one twice where it has no other option."""
    if probe.options:
        others = [option for option in probe.options if option != probe.answer]
        return others[0], others[-1]
    if probe.kind == "number":
        return "987654321.5", "-987654321.5"
    return "zzyzx", "qwfpg"


def _wrong(probe: Probe) -> str:
    return wrong_answers(probe)[0]
