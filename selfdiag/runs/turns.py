"""One planned call: what it says, and the record that its reply becomes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from selfdiag.battery.items import Probe, Trap
from selfdiag.battery.self_assessment import Asked, CitationTask, FormalTask, FramingPair, Rating, Statement
from selfdiag.elicit.confidence import read_confidence
from selfdiag.elicit.prompts import Prompt, render_posthoc, response_schema
from selfdiag.elicit.questionnaire import read_rating, read_yes_no
from selfdiag.elicit.reading import read_reply
from selfdiag.elicit.selection import pick_schema, render_pick
from selfdiag.elicit.self_prompts import citation_schema, rating_schema, statement_schema
from selfdiag.elicit.token_confidence import answer_probability
from selfdiag.models.base import Call, ProviderError, Reply, clipped
from selfdiag.runs.earlier import LATER, SPOKEN_OF, Answer, answer_of, can_be_spoken_of, spoken_of
from selfdiag.runs.plan import Plan
from selfdiag.runs.records import CANDIDATES, POSTHOC, SELFSELECT, TASKS, Fault, PlannedCall, Record, RunSettings
from selfdiag.runs.replies import (
    GradedReply,
    check_formal_reply,
    grade_reply,
    read_citation_reply,
    read_pick_reply,
    read_self_report,
)
from selfdiag.safety import one_line, without_secrets

WARM_UP_QUESTION = "What is 1 + 1? Answer as a number."
FORMAL_TOKENS = 768
"""Room for the reply to a formal task, which is longer than an answer."""


class Turns:
    """Turns planned calls into calls, and what comes back into records.

    Some calls speak of earlier answers, so these are remembered: ``known`` holds those of a resumed run, ``note`` adds
    each new one.
    """

    def __init__(self, plan: Plan, settings: RunSettings, known: Iterable[Record]) -> None:
        self._plan = plan
        self._settings = settings
        self._items: dict[str, Asked] = {item.id: item for item in plan.asked().items()}
        if plan.assessed is not None:
            self._items |= {item.id: item for item in plan.assessed.everything()}
        self._answers: dict[Answer, Record] = {}
        self._remembers = any(call.section in LATER for call in plan.calls)
        for record in known:
            self.note(record)

    def note(self, record: Record) -> None:
        """Remember an answer, if it is one that will be spoken of."""
        if self._remembers and record.section in SPOKEN_OF:
            self._answers[answer_of(record)] = msgspec.structs.replace(record, raw="", reasoning="")

    def has_answer(self, planned: PlannedCall) -> bool:
        """Return whether the answers that a call speaks of are there."""
        return all(answer in self._answers for answer in spoken_of(planned)) and can_be_spoken_of(self._before(planned))

    def call(self, planned: PlannedCall | None, *, structured: bool, max_tokens: int) -> Call:
        """Return what to ask; None stands for the warm-up, which has the run's own contract."""
        if planned is None:
            prompt = Prompt(system=next(iter(self._plan.systems.values())), user=WARM_UP_QUESTION)
        elif planned.section == POSTHOC:
            (before,) = self._before(planned)
            prompt = render_posthoc(self._question(before), before.answer or "")
        elif planned.section == SELFSELECT:
            first, second = self._before(planned)
            probe = self._items[planned.item_id]
            assert isinstance(probe, Probe)  # noqa: S101 - a plan pairs answers to probes alone
            prompt = render_pick(probe, planned.paraphrase, (first.answer or "", second.answer or ""))
        else:
            prompt = self._plan.prompt(planned)
        temperature, seed = self._settings.temperature, self._settings.seed
        if planned is not None and planned.temperature is not None:
            # resamples at one seed would be copies
            temperature, seed = planned.temperature, seed + planned.replicate
        item = self._items[planned.item_id] if planned is not None else None
        if isinstance(item, FormalTask) and self._settings.max_tokens is None:
            max_tokens = max(max_tokens, FORMAL_TOKENS)
        return Call(
            system=prompt.system,
            user=prompt.user,
            max_tokens=max_tokens,
            temperature=temperature,
            top_p=planned.top_p if planned is not None else None,
            seed=seed,
            schema=self._schema(planned or self._plan.calls[0]) if structured else None,
            think=self._settings.think,
            logprobs="logprob" in self._settings.confidence and self._is_probe(planned),
        )

    def _is_probe(self, planned: PlannedCall | None) -> bool:
        """Return whether a call asks for an answer, of which a token probability can be told."""
        if planned is None:
            return True
        return planned.section not in LATER and isinstance(self._items[planned.item_id], Probe | Trap)

    def takes_schema(self, planned: PlannedCall) -> bool:
        """Return whether a call's reply has a form that a schema can hold it to."""
        return self._schema(planned) is not None

    def _schema(self, planned: PlannedCall) -> dict[str, Any] | None:
        """Return the shape of a call's reply, None where it is free."""
        item = self._items[planned.item_id]
        rationale = self._settings.rationale
        if isinstance(item, FormalTask):
            return None
        if isinstance(item, Statement):
            return statement_schema(rationale=rationale)
        if isinstance(item, Rating | FramingPair):
            return rating_schema(rationale=rationale)
        if isinstance(item, CitationTask):
            return citation_schema()
        if planned.section == POSTHOC:
            return response_schema("confidence")
        if planned.section == SELFSELECT:
            return pick_schema()
        if planned.section == CANDIDATES:
            return response_schema("answer")
        return response_schema(*(("answer", "confidence") if "stated" in self._settings.confidence else ("answer",)))

    def record(self, planned: PlannedCall, result: Reply | ProviderError, *, attempts: int, structured: bool) -> Record:
        """Return the record of a call's reply or fault."""
        item = self._items[planned.item_id]
        base = Record(
            call_id=planned.call_id,
            item_id=item.id,
            bin=_topic(item),
            difficulty=None if planned.section == TASKS else getattr(item, "difficulty", None),
            trap=isinstance(item, Trap),
            family=getattr(item, "family", None),
            section=planned.section,
            arm=planned.arm,
            claim=planned.claim,
            claim_bin=planned.claim_bin,
            labelled=planned.labelled,
            paraphrase=planned.paraphrase,
            replicate=planned.replicate,
            structured=structured and self.takes_schema(planned),
            prompt_sha256=planned.prompt,
            attempts=attempts,
            outcome="error",
            at=now(),
        )
        if isinstance(result, ProviderError):
            fault = Fault(kind=result.kind, message=one_line(str(result), 400))
            return msgspec.structs.replace(base, error=fault)
        if planned.section == SELFSELECT:
            graded = read_pick_reply(
                self._before(planned),
                result.text,
                result.finish_reason,
                overflow=result.overflow,
                declined=result.refusal,
            )
        else:
            graded = _graded(item, result)
        if planned.section == POSTHOC:
            graded = _afterwards(result, graded, self._before(planned)[0])
        return msgspec.structs.replace(
            base,
            raw=_storable(result.text),
            reasoning=_storable(result.reasoning or clipped(graded.reasoning)),
            answer=None if graded.answer is None else _storable(graded.answer),
            confidence=graded.confidence,
            confidence_source=POSTHOC if planned.section == POSTHOC else "stated",
            token_confidence=answer_probability([(t.text, t.logprob) for t in result.tokens], graded.answer),
            parse=graded.parse,
            flags=graded.flags,
            value=graded.value,
            outcome=graded.outcome,
            rule=graded.rule,
            finish_reason=one_line(result.finish_reason, 60),
            latency_s=round(result.latency_s, 4),
            prompt_tokens=result.prompt_tokens,
            completion_tokens=result.completion_tokens,
        )

    def _before(self, planned: PlannedCall) -> list[Record]:
        return [self._answers[answer] for answer in spoken_of(planned)]

    def _question(self, record: Record) -> str:
        return self._plan.prompts[record.prompt_sha256].user


def _topic(item: Asked) -> str:
    if isinstance(item, Probe | Trap):
        return item.bin
    return item.criterion if isinstance(item, Rating | FramingPair) else item.domain


def _graded(item: Asked, reply: Reply) -> GradedReply:
    """Read one reply by the rules of what was asked, and grade it where it can be right or wrong."""
    text, finish = reply.text, reply.finish_reason
    if isinstance(item, FormalTask):
        return check_formal_reply(item, text, finish, overflow=reply.overflow, declined=reply.refusal)
    if isinstance(item, CitationTask):
        return read_citation_reply(text, finish, overflow=reply.overflow, declined=reply.refusal)
    if isinstance(item, Probe | Trap):
        return grade_reply(item, text, finish, overflow=reply.overflow, declined=reply.refusal)
    read = read_yes_no if isinstance(item, Statement) else read_rating
    return read_self_report(read, text, finish, overflow=reply.overflow, declined=reply.refusal)


def _afterwards(reply: Reply, graded: GradedReply, before: Record) -> GradedReply:
    """Return how sure a model says it is of its earlier answer, beside that answer and its outcome.

    The whole reply may be the number.
    """
    reading = read_reply(reply.text, cut=reply.finish_reason == "length")
    confidence, flags = reading.confidence, reading.flags
    if confidence is None and reading.parse == "none" and not reading.truncated:
        confidence, flags = read_confidence(reply.text[:200].strip())
    unusable = graded.outcome in {"overflow", "refused", "empty", "truncated"}
    if confidence is None and not unusable:
        graded = msgspec.structs.replace(graded, outcome="unparsed", rule="no confidence found")
    if confidence is None or unusable:
        return msgspec.structs.replace(graded, answer=before.answer, confidence=None, flags=flags)
    return GradedReply(
        answer=before.answer,
        confidence=confidence,
        parse="salvaged" if reading.parse == "none" else reading.parse,
        flags=flags,
        outcome=before.outcome,
        rule=before.rule,
        reasoning=reading.reasoning,
    )


def now() -> str:
    """Return the time in UTC to the millisecond, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _storable(text: str) -> str:
    """Return the text without keys, and with lone surrogates replaced: they have no UTF-8 form."""
    return without_secrets(text).encode("utf-8", "replace").decode("utf-8")
