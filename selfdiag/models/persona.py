"""Scripted models with known calibration: oracles for tests, and a way to try selfdiag without a model.

A persona is built with the run's drawn items and seed, and decides each item's fate before the first call.
A reply depends on these and the prompt's text alone, so it is the same in any order and after a resume.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable
from types import TracebackType

import msgspec

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import ABSTENTION_TOKEN, Battery, Item, Probe, Trap
from selfdiag.models.base import (
    Call,
    Listing,
    ModelInfo,
    ProviderError,
    ProviderOptions,
    Reply,
    Token,
    clipped,
)
from selfdiag.safety import SelfdiagError, nearest


class Character(msgspec.Struct, frozen=True, kw_only=True):
    """What a persona is like.

    ``levels`` are the confidences it states on probes, cycled evenly over the items; ``chance`` gives the
    share right at a level; ``trap_rate`` and ``abstains`` are the shares of traps and of probes it declines
    to answer; ``refuses`` the share of probes and traps it refuses.
    """

    levels: tuple[int, ...]
    chance: Callable[[int], float]
    trap_rate: float
    trap_levels: tuple[int, ...] = (50,)
    abstains: float = 0.0
    refuses: float = 0.0
    follows_claims: bool = False
    delay: float = 0.0


def _beta_levels() -> tuple[int, ...]:
    """Return 20 quantiles, in fives from 10 to 100, of a Beta with mean .60 and SD .25."""
    return (10, 20, 25, 30, 35, 40, 45, 50, 55, 60, 60, 65, 70, 75, 80, 85, 85, 90, 95, 100)


_CALIBRATED = Character(
    levels=_beta_levels(),
    chance=lambda level: level / 100,
    trap_rate=0.8,
    trap_levels=(60, 70, 80, 90),
    abstains=0.04,
)

CHARACTERS: dict[str, Character] = {
    "calibrated": _CALIBRATED,
    "overconfident": Character(
        levels=(70, 80, 85, 90, 95, 100),
        chance=lambda level: (level - 60) / 100 * 1.5 + 0.1,
        trap_rate=0.3,
        trap_levels=(80, 90),
    ),
    "underconfident": Character(
        levels=(20, 30, 40, 50, 60),
        chance=lambda level: min(level / 100 + 0.35, 0.95),
        trap_rate=0.8,
        trap_levels=(40,),
    ),
    "blind": Character(levels=(95,), chance=lambda _: 0.4, trap_rate=0.0, trap_levels=(95,)),
    "abstainer": Character(levels=(60, 80), chance=lambda _: 0.7, trap_rate=1.0, abstains=0.9),
    "refuser": Character(levels=(60, 80), chance=lambda _: 0.6, trap_rate=0.1, refuses=0.7),
    "suggestible": Character(levels=(40, 50, 60, 70), chance=lambda _: 0.5, trap_rate=0.5, follows_claims=True),
    "pinned": Character(levels=(100,), chance=lambda _: 0.5, trap_rate=0.2, trap_levels=(100,)),
    "malformed": _CALIBRATED,
    "hostile": _CALIBRATED,
    "flaky": _CALIBRATED,
    "slow": msgspec.structs.replace(_CALIBRATED, delay=0.2),
}
"""Every persona by name."""


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """What is decided for one item: the answer it gets and the confidence stated with it."""

    answer: str
    confidence: int


class Persona:
    """A provider whose replies are written beforehand."""

    takes_schema = False
    max_tokens = 512

    def __init__(self, name: str, battery: Battery, seed: int) -> None:
        self._name = name
        self._character = CHARACTERS[name]
        self._order = SeededOrder("persona", name, seed)
        self._fates = _fates(self._character, battery, self._order)
        self._by_question = {question.strip(): item for item in battery.items() for question in item.questions}
        self._failed_once: set[str] = set()
        self.concurrency = 8 if self._character.delay else 1

    async def __aenter__(self) -> Persona:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def info(self) -> ModelInfo:
        """Return the persona's name, marked as simulated."""
        return ModelInfo(provider="persona", name=self._name, served_name=self._name, simulated=True)

    async def ask(self, call: Call) -> Reply:
        """Return the scripted reply to the prompt's text."""
        if self._character.delay:
            await asyncio.sleep(self._character.delay)
        if self._name == "flaky":
            self._maybe_fail(call.user)
        text = self._text(call)
        words = len(call.system.split()) + len(call.user.split())
        return Reply(
            text=clipped(text),
            latency_s=self._character.delay,
            prompt_tokens=words,
            completion_tokens=len(text.split()),
            served_name=self._name,
            tokens=self._tokens(call, text) if call.logprobs else (),
        )

    def _tokens(self, call: Call, text: str) -> tuple[Token, ...]:
        """Return the reply as three tokens, of which the answer is as probable as its confidence says."""
        item = self._item(call.user)
        fate = self._fates[item.id] if item else None
        written = json.dumps(fate.answer, ensure_ascii=False) if fate else ""
        before, found, after = text.partition(written) if written else (text, "", "")
        if fate is None or not found:
            return ()
        sure = min(max(fate.confidence, 1), 99) / 100
        return (
            Token(text=before, logprob=-0.01),
            Token(text=written, logprob=math.log(sure)),
            Token(text=after, logprob=-0.01),
        )

    def _again(self, item: Probe, fate: Fate, call: Call) -> str:
        """Return the answer of a resample: the same one as often as the persona is sure of it, else another."""
        same = self._order.pick(100, "resample", item.id, str(call.seed)) < fate.confidence
        return fate.answer if same else f"another answer {call.seed}"

    def _item(self, user: str) -> Item | None:
        """Return the item whose wording the user turn is, below a topic label and above options."""
        lines = user.split("\n")
        if lines[0].startswith("Topic of this question:"):
            lines = lines[1:]
        while lines:
            found = self._by_question.get("\n".join(lines).strip())
            if found is not None:
                return found
            lines = lines[:-1]
        return None

    def _maybe_fail(self, user: str) -> None:
        """Fail the first attempt at every third question; the second one works."""
        if user not in self._failed_once and self._order.pick(3, "fault", user) == 0:
            self._failed_once.add(user)
            raise ProviderError("provider", "a simulated fault", retry=True, retry_after=0.0)

    def _text(self, call: Call) -> str:
        item = self._item(call.user)
        fate = self._fates[item.id] if item else Fate(answer="I see no question I know.", confidence=0)
        confidence = fate.confidence
        if self._character.follows_claims and item:
            confidence = _claimed(call, item.bin, confidence)
        if call.user.rpartition("\n")[2].startswith("Answer given: "):
            return json.dumps({"confidence": confidence})
        answer = self._again(item, fate, call) if call.temperature and isinstance(item, Probe) else fate.answer
        text = json.dumps({"answer": answer, "confidence": confidence}, ensure_ascii=False)
        if self._name == "malformed":
            return _malformed(text, self._order.pick(6, "form", call.user))
        if self._name == "hostile":
            return _hostile(text, fate, self._order.pick(8, "form", call.user))
        return text


def provider(name: str, options: ProviderOptions) -> Persona:
    """Build the provider of ``persona:NAME`` from the run's drawn battery and seed."""
    if name not in CHARACTERS:
        listed = ", ".join(CHARACTERS)
        raise SelfdiagError(f"no persona {name!r}; there are {listed}.{nearest(name, list(CHARACTERS))}")
    battery = options.battery or Battery(id="none", version="0", probes=())
    return Persona(name, battery, options.seed)


def _fates(character: Character, battery: Battery, order: SeededOrder) -> dict[str, Fate]:
    fates: dict[str, Fate] = {}
    probes = order.shuffled(battery.probes, "probes")
    silent = _systematic([character.abstains] * len(probes))
    refused = _systematic([character.refuses] * len(probes))
    answering: list[Probe] = []
    for probe, abstain, refuse in zip(probes, silent, refused, strict=True):
        if abstain:
            fates[probe.id] = Fate(answer=ABSTENTION_TOKEN, confidence=50)
        elif refuse:
            fates[probe.id] = Fate(answer="I'm sorry, but I can't help with that.", confidence=0)
        else:
            answering.append(probe)
    count = len(answering)
    levels = sorted(character.levels[index * len(character.levels) // max(count, 1)] for index in range(count))
    right = _systematic([character.chance(level) for level in levels])
    for probe, level, is_right in zip(answering, levels, right, strict=True):
        answer = probe.answer if is_right else _wrong(probe)
        fates[probe.id] = Fate(answer=answer, confidence=level)
    fates |= _trap_fates(character, battery, order)
    return fates


def _trap_fates(character: Character, battery: Battery, order: SeededOrder) -> dict[str, Fate]:
    traps: list[Trap] = order.shuffled(battery.traps, "traps")
    spotted = _systematic([character.trap_rate] * len(traps))
    fates = {}
    for index, (trap, spot) in enumerate(zip(traps, spotted, strict=True)):
        level = character.trap_levels[index % len(character.trap_levels)]
        fates[trap.id] = Fate(answer=ABSTENTION_TOKEN if spot else "17", confidence=level)
    return fates


def _systematic(chances: list[float]) -> list[bool]:
    """Return outcomes whose running count never differs from the running sum of chances by 1 or more.

    Systematic sampling instead of coin flips: within any stretch of equal chances the share of True is the
    intended one to one part in the stretch's length.
    """
    outcomes = []
    total, given = 0.0, 0
    for chance in chances:
        total += chance
        # the half makes the first of a stretch neither always nor never True
        hit = total - given >= 0.5
        given += hit
        outcomes.append(hit)
    return outcomes


def _wrong(probe: Probe) -> str:
    if probe.options:
        return next(option for option in probe.options if option != probe.answer)
    if probe.kind == "number":
        return "987654321.5"
    return "zzyzx"


def _claimed(call: Call, topic: str, unclaimed: int) -> int:
    """Return the accuracy claimed for the topic, when the prompt also names the question's topic."""
    if not call.user.startswith(f"Topic of this question: {topic}\n"):
        return unclaimed
    found = re.search(rf"^- {re.escape(topic)}: (\d{{1,3}})%$", call.system, re.MULTILINE)
    return min(int(found.group(1)), 100) if found else unclaimed


def _malformed(text: str, form: int) -> str:
    document = json.loads(text)
    forms = (
        text,
        f"```json\n{text}\n```",
        f"Let me think about it. Here it is: {text[:-1]},}}",
        "I would rather talk about something else.",
        json.dumps({"answer": document["answer"]})[:-2],
        json.dumps({"answer": document["answer"], "confidence": "rather high"}),
    )
    return forms[form]


def _hostile(text: str, fate: Fate, form: int) -> str:
    escapes = "\x1b[2J\x1b]0;owned\x07\x1b[31m"
    forms = (
        text,
        json.dumps({"answer": "[/INST] [link=http://example.invalid]x[/] [@click=app.quit]", "confidence": 90}),
        json.dumps({"answer": f"{escapes}{fate.answer}", "confidence": fate.confidence}),
        "{" * 500_000 + "a" * 500_001,
        json.dumps({"answer": "<script>alert(1)</script>", "confidence": 100}),
        json.dumps({"answer": "=cmd|' /C calc'!A0", "confidence": 1e999}),
        "\x00\u202e" + text + "\ud800" + escapes,
        json.dumps({"answer": "\n" * 5000 + "x" * 10_000, "confidence": -5}),
    )
    return forms[form]


def offer(provider_name: str) -> list[Listing]:
    """Return every persona, for ``selfdiag models``."""
    return [Listing(model=f"{provider_name}:{name}", ready=True, remark="simulated") for name in CHARACTERS]
