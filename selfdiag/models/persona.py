"""Scripted models with known calibration: oracles for tests, and a way to try selfdiag without a model.

A persona is built with the run's drawn items and seed, and decides each item's fate before the first call.
A reply depends on these, the prompt's text and, above temperature 0, the call's seed alone, so it is the same in any
order and after a resume.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from types import TracebackType

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import Battery, Item, Probe
from selfdiag.battery.self_assessment import SelfAssessment
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
from selfdiag.models.persona_characters import CHARACTERS
from selfdiag.models.persona_fates import Fate, fates_of_battery, fates_of_tasks
from selfdiag.models.persona_forms import Said, written
from selfdiag.models.persona_pairs import Pairs
from selfdiag.models.persona_self import SelfReports
from selfdiag.safety import SelfdiagError, nearest

__all__ = ["CHARACTERS", "Persona", "offer", "provider"]

_TOPIC_LABEL = "Topic of this question:"
_ANSWER_GIVEN = "Answer given: "
_UNKNOWN = Fate(answer="I see no question I know.", confidence=0)


class Persona:
    """A provider whose replies are written beforehand.

    Args:
        name: one of ``CHARACTERS``.
        battery: the items that the run asks.
        seed: the run's; another one gives other fates.
        assessed: what the run asks of a self-assessment; its fates change none of the battery's.
    """

    takes_schema = False
    max_tokens = 512

    def __init__(self, name: str, battery: Battery, seed: int, assessed: SelfAssessment | None = None) -> None:
        self._name = name
        self._character = CHARACTERS[name]
        self._order = SeededOrder("persona", name, seed)
        assessed = assessed or SelfAssessment()
        graded, replies = fates_of_tasks(self._character, assessed, self._order)
        fates = fates_of_battery(self._character, battery, self._order)
        asked = [(item, graded[item.id]) for item in assessed.items()]
        asked += [(item, fates[item.id]) for item in battery.items()]
        self._by_question: dict[str, tuple[Item, Fate]] = {
            question.strip(): pair for pair in asked for question in pair[0].questions
        }
        self._replies = {task.prompt.strip(): replies[task.id] for task in assessed.formal}
        self._replies |= {text.strip(): replies[task.id] for task in assessed.citations for text in task.questions}
        self._pairs = Pairs(self._character, battery, fates, self._order)
        self._self_reports = SelfReports(self._character, assessed, self._order)
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
        item, fate = self._asked(call.user)
        written_answer = json.dumps(fate.answer, ensure_ascii=False)
        before, found, after = text.partition(written_answer)
        if item is None or not found:
            return ()
        sure = min(max(fate.confidence, 1), 99) / 100
        return (
            Token(text=before, logprob=-0.01),
            Token(text=written_answer, logprob=math.log(sure)),
            Token(text=after, logprob=-0.01),
        )

    def _again(self, item: Probe, fate: Fate, call: Call) -> str:
        """Return the answer of a resample: the same one as often as the persona is sure of it, else another."""
        same = self._order.pick(100, "resample", item.id, str(call.seed)) < fate.confidence
        return fate.answer if same else f"another answer {call.seed}"

    def _asked(self, user: str) -> tuple[Item | None, Fate]:
        """Return the item whose wording the user turn is, below a topic label and above options, and its fate."""
        lines = user.split("\n")
        if lines[0].startswith(_TOPIC_LABEL):
            lines = lines[1:]
        while lines:
            found = self._by_question.get("\n".join(lines).strip())
            if found is not None:
                return found
            lines = lines[:-1]
        return None, _UNKNOWN

    def _maybe_fail(self, user: str) -> None:
        """Fail the first attempt at every third question; the second one works."""
        if user not in self._failed_once and self._order.pick(3, "fault", user) == 0:
            self._failed_once.add(user)
            raise ProviderError("provider", "a simulated fault", retry=True, retry_after=0.0)

    def _text(self, call: Call) -> str:
        warmth = (str(call.seed),) if call.temperature else ()
        said = self._self_reports.said(call.system, call.user, warmth)
        said = said or self._replies.get(call.user.strip()) or self._answer(call)
        return written(self._character.form, said, lambda count: self._order.pick(count, "form", call.user))

    def _answer(self, call: Call) -> Said:
        item, fate = self._asked(call.user)
        confidence = self._confidence(call, item, fate)
        if call.user.rpartition("\n")[2].startswith(_ANSWER_GIVEN):
            return Said(kind="confidence", parts={"confidence": confidence})
        if isinstance(item, Probe):
            if (candidate := self._pairs.candidate(call.system, item)) is not None:
                return Said(kind="answer", parts={"answer": candidate})
            if (picked := self._pairs.pick(call.user, item)) is not None:
                letter, sure = picked
                stated = self._confidence(call, item, Fate(answer=letter, confidence=sure))
                return Said(kind="answer", parts={"answer": letter, "confidence": stated})
        answer = self._again(item, fate, call) if call.temperature and isinstance(item, Probe) else fate.answer
        return Said(kind="answer", parts={"answer": answer, "confidence": confidence})

    def _confidence(self, call: Call, item: Item | None, fate: Fate) -> int:
        """Return the confidence decided beforehand, or the number that the prompt puts in its place."""
        if item is None:
            return fate.confidence
        character = self._character
        if character.copies is not None:
            return _percentage(r"(\d{1,3})\s?%", call.system, character.copies)
        named = call.user.startswith(f"{_TOPIC_LABEL} {item.bin}\n")
        if character.follows_claims and (named or not character.needs_label):
            return _percentage(rf"^- {re.escape(item.bin)}: (\d{{1,3}})%$", call.system, fate.confidence)
        return fate.confidence


def _percentage(pattern: str, system: str, otherwise: int) -> int:
    """Return the first percentage that a pattern finds, 100 at most."""
    found = re.search(pattern, system, re.MULTILINE)
    return min(int(found[1]), 100) if found else otherwise


def provider(name: str, options: ProviderOptions) -> Persona:
    """Build the provider of ``persona:NAME`` from the run's drawn items and seed."""
    if name not in CHARACTERS:
        listed = ", ".join(CHARACTERS)
        raise SelfdiagError(f"no persona {name!r}; there are {listed}.{nearest(name, list(CHARACTERS))}")
    battery = options.battery or Battery(id="none", version="0", probes=())
    return Persona(name, battery, options.seed, options.assessed)


def offer(provider_name: str) -> list[Listing]:
    """Return every persona, for ``selfdiag models``."""
    return [Listing(model=f"{provider_name}:{name}", ready=True, remark="simulated") for name in CHARACTERS]
