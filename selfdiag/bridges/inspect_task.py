"""The audit as a task of Inspect AI: ``inspect eval selfdiag/audit --model PROVIDER/NAME``.

Inspect finds this module through its entry-point group ``inspect_ai``. It asks the prompts that a run asks, and
every reply is read and graded by the same rules.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import click
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ResponseSchema,
)
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    SampleScore,
    Score,
    Target,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState, generate
from inspect_ai.util import JSONSchema

from selfdiag.battery.items import ABSTENTION_TOKEN, Trap
from selfdiag.elicit.prompts import RESPONSE_SCHEMA
from selfdiag.protocols.rows import summarise_columns
from selfdiag.protocols.summary import SummaryModel
from selfdiag.runs.columns import columns_of
from selfdiag.runs.inspect_audit import USUAL_TOKENS, reply_of, score_values
from selfdiag.runs.outside import KEY, OutsideCall, from_log, outside_calls, sample_name, to_log
from selfdiag.runs.records import Record, RunSettings
from selfdiag.runs.replies import GradedReply, grade_reply
from selfdiag.safety import SelfdiagError

SHOWN = {"accuracy": "accuracy", "gap": "gap", "brier": "brier", "trap_rate": "trap_abstention"}
"""What Inspect prints beside the mean confidence, and our measure behind it."""
FEW_DRAWS = 100
"""Inspect prints values without our intervals, so few bootstrap draws do."""

Words = str | list[str]
"""Inspect's command line makes a list of a value with commas."""


@task
def audit(
    battery: str = "quick",
    seed: int = 0,
    sections: Words = "probes,traps",
    bins: Words = "",
    fresh: int | None = None,
    hardness: int | None = None,
    paraphrase: str = "one",
    example: int | None = None,
    structured: str | bool = "off",
) -> Task:
    """Ask a battery, and compare what the model states with what is right.

    Args:
        battery: ``quick``, ``standard``, ``full``, or the path of a battery of your own.
        seed: of the draw, and of the model where its provider takes one.
        sections: ``probes``, ``traps``, or both.
        bins: topics to ask; all of them when empty.
        fresh: a seed for newly generated questions in the computable topics.
        hardness: 1-6, to ask generated questions of this level alone.
        paraphrase: ``one`` wording of each item, or ``all``.
        example: a confidence of 0-100 to show in an example reply.
        structured: ``on`` holds the reply to a JSON schema; ``off`` asks in plain text.
    """
    if isinstance(structured, bool):  # which "on" is to Inspect's command line
        structured = "on" if structured else "off"
    _check(paraphrase, structured)
    settings = RunSettings(
        model="inspect",
        battery=battery,
        seed=seed,
        sections=_words(sections),
        bins=_words(bins),
        fresh=fresh,
        hardness=hardness,
        paraphrase=paraphrase,
        example=example,
        structured=structured,
    )
    try:
        calls = outside_calls(settings)
    except SelfdiagError as error:
        raise click.ClickException(str(error)) from None  # Inspect's command line prints it as one line
    return Task(
        dataset=MemoryDataset([_sample(call) for call in calls], name=f"{calls[0].battery.id} {battery}"),
        solver=generate(),
        scorer=audit_scorer(),
        config=GenerateConfig(
            temperature=0.0,
            max_tokens=USUAL_TOKENS,
            seed=seed,
            response_schema=_response_schema() if structured == "on" else None,
        ),
        version=calls[0].battery.version,
    )


@metric(name="audit", scores="unreduced")
def audit_figures() -> Callable[[list[SampleScore]], dict[str, float]]:
    """Figures of the whole audit by selfdiag's own measures; one without a value is left out."""

    def figures(scores: list[SampleScore]) -> dict[str, float]:
        columns, _ = columns_of([_record(score) for score in scores])
        nobody = SummaryModel(provider="", name="", served_name="", digest="", simulated=False)
        summary = summarise_columns(columns, model=nobody, draws=FEW_DRAWS)
        found = {name: summary.metrics[measure].value for name, measure in SHOWN.items()}
        found["mean_confidence"] = summary.mean_confidence
        return {name: value for name, value in found.items() if value is not None}

    return figures


@scorer(metrics=[audit_figures()])
def audit_scorer() -> Callable[[TaskState, Target], Awaitable[Score]]:
    """Read and grade a reply as a run does: right, wrong, or no answer (abstained, refused, unreadable, cut)."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the item holds more than its key
        call = from_log(state.metadata[KEY])
        reply = reply_of(state.output.model_dump(mode="json"), {})
        if reply is None:
            return Score.unscored(explanation="no output")
        graded = grade_reply(
            call.item, reply.text, reply.finish_reason, overflow=reply.overflow, declined=reply.refusal
        )
        return Score(
            value=_value(call, graded),
            answer=graded.answer,
            explanation=graded.rule,
            metadata=score_values(graded),
        )

    return score


def _value(call: OutsideCall, graded: GradedReply) -> str:
    right = "abstained" if isinstance(call.item, Trap) else "correct"
    value: str = {right: CORRECT, "incorrect": INCORRECT}.get(graded.outcome, NOANSWER)
    return value


def _sample(call: OutsideCall) -> Sample:
    item = call.item
    trap = isinstance(item, Trap)
    return Sample(
        id=sample_name(call.call),
        input=[ChatMessageSystem(content=call.system), ChatMessageUser(content=call.user)],
        target=ABSTENTION_TOKEN if isinstance(item, Trap) else item.answer,
        metadata={
            "section": call.call.section,
            "bin": item.bin,
            "trap": trap,
            "family" if trap else "difficulty": item.family if isinstance(item, Trap) else item.difficulty,
            KEY: to_log(call),
        },
    )


def _record(score: SampleScore) -> Record:
    """Return what the measures need of a scored sample."""
    call = from_log((score.sample_metadata or {})[KEY])
    values = score.score.metadata or {}
    return Record(
        call_id=call.call.call_id,
        item_id=call.item.id,
        bin=call.item.bin,
        difficulty=None,
        trap=isinstance(call.item, Trap),
        family=None,
        section=call.call.section,
        prompt_sha256=call.call.prompt,
        confidence=values.get("confidence"),
        flags=tuple(values.get("flags", ())),
        outcome=values.get("outcome", "unparsed"),
    )


def _words(value: Words) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(word for part in parts if (word := str(part).strip()))


def _check(paraphrase: str, structured: str) -> None:
    if paraphrase not in {"one", "all"}:
        raise click.ClickException(f"paraphrase={paraphrase}: it is one or all")
    if structured not in {"on", "off"}:
        raise click.ClickException(f"structured={structured}: it is on or off")


def _response_schema() -> ResponseSchema:
    schema = JSONSchema.model_validate(RESPONSE_SCHEMA)
    confidence = (schema.properties or {})["confidence"]
    # to many providers Inspect sends a schema without bounds, but lists of values go to all
    confidence.enum = [*range(101)]
    confidence.minimum = confidence.maximum = None
    return ResponseSchema(name="reply", json_schema=schema, strict=True)
