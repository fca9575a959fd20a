"""Which calls a run makes: drawn, rendered and frozen before the first one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from selfdiag.battery.draw import DRAWS, PAPER, SeededOrder, draw, wording
from selfdiag.battery.items import Battery, Item, Probe, Trap
from selfdiag.battery.load import BatteryError, load, shipped
from selfdiag.battery.self_assessment import SelfAssessment
from selfdiag.elicit.prompts import Prompt, render, render_posthoc
from selfdiag.models.base import ModelInfo
from selfdiag.runs.calls import CallBook
from selfdiag.runs.claims import add_anchors, add_claims, one_a_topic
from selfdiag.runs.earlier import LATER, SPOKEN_OF, answer_of, can_be_spoken_of, spoken_of
from selfdiag.runs.records import (
    AGREEMENT,
    ANCHOR,
    FRAMING,
    MEASURED_SECTIONS,
    MICROPROBE,
    POSTHOC,
    QUESTIONNAIRE,
    SELF_PROFILE,
    SOURCES,
    TASKS,
    BatteryInfo,
    InjectedProfile,
    PlannedCall,
    PromptText,
    Record,
    RunSettings,
)
from selfdiag.runs.self_reports import add_self_reports, assessed
from selfdiag.safety import SelfdiagError, nearest, one_line
from selfdiag.settings import expanded

FRESH_CHECK = "fresh-check"
SECTIONS = (*MEASURED_SECTIONS, QUESTIONNAIRE, MICROPROBE, ANCHOR, FRESH_CHECK, SELF_PROFILE, FRAMING, TASKS)
RESAMPLES = 5
RESAMPLE_TEMPERATURE = 0.7
"""For the agreement a probe is asked so often more, so warm."""
OWN_ANSWER = "<the answer it gave>"
"""Stands in a planned prompt for what is known only once the model has answered."""
TOKENS_PER_WORD = 1.4
SECONDS_PER_CALL = 1.5
"""Of the embedded model, on two cores."""
CHECK_PAIRS = 20
"""So many stored probes are asked beside as many fresh ones of the same topic and difficulty."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What a run takes: calls, prompt tokens, and seconds where they can be known beforehand."""

    calls: int
    prompt_tokens: int
    seconds: float | None
    remote: bool


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Every call in order, with the text of each distinct prompt once.

    ``drawn`` holds the items of the audit itself, ``check`` the probes of other sections, each once, ``assessed``
    what a self-assessment asks, and ``injected`` the profiles put before the model.
    """

    battery: BatteryInfo
    drawn: Battery
    check: tuple[Probe, ...] = ()
    assessed: SelfAssessment | None = None
    injected: tuple[InjectedProfile, ...] = ()
    systems: dict[str, str]
    prompts: dict[str, PromptText]
    calls: tuple[PlannedCall, ...]

    def asked(self) -> Battery:
        """Return every item of the battery that the plan asks, each once."""
        known = {item.id for item in self.drawn.items()}
        more = {probe.id: probe for probe in self.check if probe.id not in known}
        return msgspec.structs.replace(self.drawn, probes=(*self.drawn.probes, *more.values()))

    def estimate(self, model: ModelInfo) -> Estimate:
        """Return what asking the whole plan takes."""
        words = sum(len(f"{text.system} {text.user}".split()) for text in map(self.prompt, self.calls))
        seconds = SECONDS_PER_CALL * len(self.calls) if model.provider == "embedded" else None
        return Estimate(
            calls=len(self.calls),
            prompt_tokens=round(TOKENS_PER_WORD * words),
            seconds=seconds,
            remote=model.remote,
        )

    def prompt(self, call: PlannedCall) -> Prompt:
        """Return the text of a call's prompt."""
        text = self.prompts[call.prompt]
        return Prompt(system=self.systems[text.system], user=text.user)


def make_plan(settings: RunSettings) -> Plan:
    """Draw the items and render every prompt that the settings ask for.

    Raises:
        SelfdiagError: when a setting names something that is not there, or nothing is left to ask.
    """
    whole, size = battery_of(settings)
    _check(settings, whole)
    drawn = drawn_items(settings, whole, size, traps="traps" in settings.sections)
    topics = one_a_topic(drawn.probes, settings.seed)
    if "probes" not in settings.sections:
        drawn = msgspec.structs.replace(drawn, probes=())
    check = _fresh_check(settings) if FRESH_CHECK in settings.sections else ()
    chosen = assessed(settings)
    book = CallBook(settings)
    order = SeededOrder("call order", settings.seed)
    # probes and traps mixed: a run that stops early has asked some of each
    asked = [(item, "traps" if isinstance(item, Trap) else "probes") for item in order.shuffled(drawn.items())]
    asked += [(probe, FRESH_CHECK) for probe in check]
    for item, section in asked:
        measured = section != FRESH_CHECK
        wordings = _wordings(item, settings) if measured else [wording(item, settings.seed)]
        for paraphrase in wordings:
            prompt = render(item, paraphrase, example=settings.example, stated="stated" in settings.confidence)
            for number in range(settings.repeat if measured else 1):
                book.add(section, item.id, prompt, paraphrase=paraphrase, replicate=number)
    probes = [call for call in book.calls if call.section == "probes"]
    if AGREEMENT in settings.confidence:
        _add_resamples(book, probes)
    if MICROPROBE in settings.sections:
        add_claims(book, topics, whole.bins(), unlabelled=False)
    if ANCHOR in settings.sections:
        add_anchors(book, topics)
    if {MICROPROBE, ANCHOR} & set(settings.sections):
        check = (*check, *topics)
    if chosen is not None:
        add_self_reports(book, chosen)
    if POSTHOC in settings.confidence:
        for call in probes:
            prompt = render_posthoc(book.prompts[call.prompt].user, OWN_ANSWER)
            book.add(POSTHOC, call.item_id, prompt, paraphrase=call.paraphrase, replicate=call.replicate)
    if not book.calls:
        raise SelfdiagError("nothing is left to ask: the choice of sections, bins, items and limit is empty")
    return Plan(
        battery=BatteryInfo(id=whole.id, version=whole.version, sha256=whole.sha256()),
        drawn=drawn,
        check=tuple({probe.id: probe for probe in check}.values()),
        assessed=chosen,
        systems=book.systems,
        prompts=book.prompts,
        calls=tuple(book.calls),
    )


def _add_resamples(book: CallBook, probes: Sequence[PlannedCall]) -> None:
    """Plan to ask each probe again, at a temperature at which answers may differ."""
    for call in [call for call in probes if call.replicate == 0]:
        text = book.prompts[call.prompt]
        prompt = Prompt(system=book.systems[text.system], user=text.user)
        for number in range(1, RESAMPLES + 1):
            book.add(
                AGREEMENT,
                call.item_id,
                prompt,
                paraphrase=call.paraphrase,
                replicate=number,
                temperature=RESAMPLE_TEMPERATURE,
            )


def open_calls(calls: Sequence[PlannedCall], latest: Mapping[str, Record]) -> list[PlannedCall]:
    """Return the calls that still want a reply.

    Those that speak of earlier answers want one only when these are there, were graded, and differ.
    """
    answered = {answer_of(call): latest.get(call.call_id) for call in calls if call.section in SPOKEN_OF}
    wanted = []
    for call in calls:
        record = latest.get(call.call_id)
        if record is not None and record.error is None:
            continue
        if call.section in LATER:
            before = [found for answer in spoken_of(call) if (found := answered.get(answer)) and found.error is None]
            # an answer that is not there yet may still come
            if len(before) == len(spoken_of(call)) and not can_be_spoken_of(before):
                continue
        wanted.append(call)
    return wanted


def trial_id(call: PlannedCall) -> str:
    """Return the id under which a call's plain reply is kept when the run turns a schema on."""
    return hashlib.sha256(f"trial\0{call.call_id}".encode()).hexdigest()[:20]


def _wordings(item: Item, settings: RunSettings) -> list[int]:
    if settings.paraphrase == "all":
        return list(range(len(item.questions)))
    return [wording(item, settings.seed)]


def drawn_items(settings: RunSettings, whole: Battery, size: str, *, traps: bool) -> Battery:
    """Return what the settings draw from their battery.

    Raises:
        SelfdiagError: when they name a topic that is not there.
    """
    present = whole.bins()
    for name in settings.bins:
        if name not in present:
            listed = one_line(", ".join(present), 400)
            raise SelfdiagError(
                f"unknown bin {one_line(name, 40)!r}: this battery has {listed}.{nearest(name, present)}"
            )
    return draw(
        whole,
        size,
        seed=settings.seed,
        bins=settings.bins,
        items=settings.items,
        limit=settings.limit,
        traps=traps,
    )


def battery_of(settings: RunSettings) -> tuple[Battery, str]:
    """Return the battery that the settings mean, and the size of the draw from it."""
    if settings.paper_size and settings.battery != "full":
        raise SelfdiagError("--paper-size is a draw from the full battery: add --battery full")
    battery, size = _stored(settings.battery)
    if settings.fresh is not None or settings.hardness is not None:
        battery = _fresh(battery, settings.fresh or 0, settings.hardness)
    return battery, PAPER if settings.paper_size else size


def _fresh(battery: Battery, seed: int, hardness: int | None) -> Battery:
    from selfdiag.battery.generators import fresh

    try:
        return fresh(battery, seed, hardness=hardness)
    except ValueError as error:
        raise SelfdiagError(f"no fresh battery: {error}") from None


def _fresh_check(settings: RunSettings) -> tuple[Probe, ...]:
    """Return pairs of a stored and a fresh probe of the same topic and difficulty, one after the other."""
    from selfdiag.battery.generators import TEMPLATES

    stored = shipped()
    again = _fresh(stored, settings.fresh if settings.fresh is not None else settings.seed + 1, None)
    pairs = [(old, new) for old, new in zip(stored.probes, again.probes, strict=True) if old.bin in TEMPLATES]
    order = SeededOrder("fresh check", settings.seed)
    by_bin: dict[str, list[tuple[Probe, Probe]]] = {}
    for pair in sorted(pairs, key=lambda pair: order.key(pair[0].id)):
        by_bin.setdefault(pair[0].bin, []).append(pair)
    # one pair of every topic before a topic comes again
    ranked = [(rank, order.key(name), pair) for name, found in by_bin.items() for rank, pair in enumerate(found)]
    ranked.sort(key=lambda row: row[:2])
    return tuple(probe for _, _, pair in ranked[:CHECK_PAIRS] for probe in pair)


def _stored(name: str) -> tuple[Battery, str]:
    if name in DRAWS:
        return shipped(), name
    path = expanded(name)
    if not path.exists() and "/" not in name and "\\" not in name and not path.suffix:
        listed = ", ".join(DRAWS)
        raise SelfdiagError(
            f"no battery {one_line(name, 60)!r}: it is {listed}, or the path of a file or folder.{nearest(name, DRAWS)}"
        )
    try:
        return load(path).battery, "full"
    except BatteryError as error:
        place = "" if str(path) in str(error) else f" {one_line(str(path))}:"
        raise SelfdiagError(
            f"the battery cannot be used:{place} {one_line(str(error), 300)}; "
            f"'selfdiag probes lint {one_line(name)}' lists every fault"
        ) from None


def _check(settings: RunSettings, battery: Battery) -> None:
    unknown = [section for section in settings.sections if section not in SECTIONS]
    if unknown:
        raise SelfdiagError(
            f"unknown section {one_line(unknown[0], 40)!r}: there are {', '.join(SECTIONS)}."
            f"{nearest(unknown[0], SECTIONS)}"
        )
    sources = settings.confidence
    strange = next((name for name in sources if name not in SOURCES), None)
    if strange is not None or not sources or len(set(sources)) < len(sources):
        known = ", ".join(SOURCES)
        what = "nothing" if strange is None and not sources else one_line(strange or ", ".join(sources), 40)
        raise SelfdiagError(f"--confidence: {what!r} is not a choice of {known}.{nearest(strange or '', SOURCES)}")
    for item_id in settings.items:
        if battery.find(item_id) is None:
            hint = nearest(item_id, [item.id for item in battery.items()])
            raise SelfdiagError(f"unknown item {one_line(item_id, 40)!r} in --items.{hint}")
