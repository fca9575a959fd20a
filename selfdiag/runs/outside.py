"""An audit that another tool asks for us: what it is given with each prompt, and the run that its log amounts to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

import selfdiag
from selfdiag.battery.items import Battery, Probe, Trap
from selfdiag.elicit.prompts import PROMPT_VERSION, Prompt
from selfdiag.models.base import ModelInfo, ProviderError, Reply
from selfdiag.runs.calls import call_id
from selfdiag.runs.manifest_check import check_manifest
from selfdiag.runs.plan import Plan, make_plan
from selfdiag.runs.records import (
    MEASURED_SECTIONS,
    BatteryInfo,
    Manifest,
    PlannedCall,
    PromptText,
    Record,
    RunSettings,
    Stretch,
)
from selfdiag.runs.replies import GradedReply, rule_versions
from selfdiag.runs.store import Run
from selfdiag.runs.turns import Turns
from selfdiag.safety import SelfdiagError, one_line

OUTSIDE_SCHEMA = "selfdiag.outside/1"
KEY = "selfdiag"
"""Under this name another tool's log carries an ``OutsideCall``."""
MOST_EPOCHS = 1000


class OutsideCall(msgspec.Struct, frozen=True, kw_only=True):
    """One planned call with all that is needed to turn its reply into a record, wherever the reply is found.

    ``settings`` are those of the audit, with the other tool's name for a model; ``rules`` the versions of the rules
    by which replies were to be read; ``system`` and ``user`` the prompt. Either ``probe`` or ``trap`` is there.
    """

    schema: str = OUTSIDE_SCHEMA
    selfdiag: str
    settings: RunSettings
    battery: BatteryInfo
    prompt_version: str
    rules: dict[str, str]
    call: PlannedCall
    system: str
    user: str
    probe: Probe | None = None
    trap: Trap | None = None

    @property
    def item(self) -> Probe | Trap:
        """The item that is asked."""
        found = self.probe or self.trap
        assert found is not None, "checked when it was read"  # noqa: S101
        return found


class OutsideAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one call: a reply or a fault, and how it was graded there (None when it was not).

    ``epoch`` counts the passes through the plan, from 0.
    """

    call: OutsideCall
    result: Reply | ProviderError
    graded: GradedReply | None = None
    epoch: int = 0


class OutsideLog(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says of the whole: ``asked`` are the names (``sample_name``) of all samples that were to be asked.

    ``asked`` is None when the log does not tell; ``tool`` is the other tool with its version, and ``notes`` are plain
    sentences on how the log was read.
    """

    path: Path
    run_id: str
    model: ModelInfo
    tool: tuple[str, str]
    asked: tuple[str, ...] | None = None
    epochs: int = 1
    structured: bool = False
    temperature: float = 0.0
    max_tokens: int
    stretches: tuple[Stretch, ...] = ()
    notes: tuple[str, ...] = ()


def outside_calls(settings: RunSettings) -> list[OutsideCall]:
    """Return every probe and trap of an audit, in the order of its plan.

    Raises:
        SelfdiagError: when the settings name something that is not there, or a section that only a run asks.
    """
    others = [name for name in settings.sections if name not in MEASURED_SECTIONS]
    if others:
        listed = " and ".join(MEASURED_SECTIONS)
        raise SelfdiagError(f"another tool can ask the sections {listed}, not {one_line(others[0], 40)!r}")
    plan = make_plan(settings)
    items = {item.id: item for item in plan.asked().items()}
    return [_outside(plan, settings, call, items[call.item_id]) for call in plan.calls]


def _outside(plan: Plan, settings: RunSettings, call: PlannedCall, item: Probe | Trap) -> OutsideCall:
    prompt = plan.prompt(call)
    return OutsideCall(
        selfdiag=selfdiag.__version__,
        settings=settings,
        battery=plan.battery,
        prompt_version=PROMPT_VERSION,
        rules=rule_versions(),
        call=call,
        system=prompt.system,
        user=prompt.user,
        probe=item if isinstance(item, Probe) else None,
        trap=item if isinstance(item, Trap) else None,
    )


def to_log(call: OutsideCall) -> dict[str, Any]:
    """Return a call as plain values; settings that are as usual are left out, to keep logs small."""
    values: dict[str, Any] = msgspec.to_builtins(call)
    usual = msgspec.to_builtins(RunSettings(model=""))
    values["settings"] = {name: value for name, value in values["settings"].items() if value != usual[name]}
    return {name: value for name, value in values.items() if value is not None}


def from_log(value: Any) -> OutsideCall:
    """Return the call that a log carries, as plain values or as their JSON text.

    Raises:
        SelfdiagError: when it is none, or of a newer selfdiag.
    """
    try:
        plain = msgspec.json.decode(value) if isinstance(value, str) else value
        schema = plain.get("schema") if isinstance(plain, Mapping) else None
        if isinstance(schema, str) and schema != OUTSIDE_SCHEMA:
            raise SelfdiagError(f"it was written as {one_line(schema, 40)!r}, this selfdiag reads {OUTSIDE_SCHEMA!r}")
        found = msgspec.convert(plain, OutsideCall)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SelfdiagError(f"its {KEY!r} entry is damaged: {one_line(str(error), 120)}") from None
    item = found.probe or found.trap
    prompt = Prompt(system=found.system, user=found.user)
    if item is None or item.id != found.call.item_id or prompt.sha256() != found.call.prompt:
        raise SelfdiagError(f"its {KEY!r} entry does not hold what it asks")
    return found


def sample_name(call: PlannedCall) -> str:
    """Return the name of a call's sample: its item and the number of its wording, from 1."""
    return f"{call.item_id}.{call.paraphrase + 1}"


def run_of(log: OutsideLog, answers: Sequence[OutsideAnswer]) -> Run:
    """Return the run that a log amounts to: the same shapes as if selfdiag had asked.

    Samples that were to be asked and are not in the log are planned calls without a record, when this selfdiag can
    make the same plan again; else they are counted in a note.

    Raises:
        SelfdiagError: when the answers are of different audits, or do not fit each other.
    """
    if not answers:
        raise SelfdiagError(f"{one_line(str(log.path))} holds no sample of an audit")
    first = answers[0].call
    for answer in answers:
        other = answer.call
        if (other.settings, other.battery) != (first.settings, first.battery):
            raise SelfdiagError(f"{one_line(str(log.path))} holds samples of two different audits: analyse them apart")
    # what was asked with may have been changed on the other tool's command line
    settings = msgspec.structs.replace(
        first.settings,
        model=f"{log.model.provider}:{log.model.name}",
        repeat=min(max(log.epochs, 1), MOST_EPOCHS),
        temperature=log.temperature,
        structured="on" if log.structured else "off",
    )
    once, notes = _planned(log, answers)
    calls = [_at(call, settings, epoch) for call in once for epoch in range(settings.repeat)]
    plan = _plan(once, calls)
    manifest = Manifest(
        run_id=log.run_id,
        selfdiag=first.selfdiag,
        settings=settings,
        model=log.model,
        battery=plan.battery,
        drawn=plan.drawn,
        prompt_version=first.prompt_version,
        systems=plan.systems,
        prompts=plan.prompts,
        plan=plan.calls,
        versions=first.rules | dict([log.tool]),
        structured="on" if log.structured else "off",
        max_tokens=log.max_tokens,
        sessions=log.stretches,
    )
    try:
        check_manifest(manifest)
    except ValueError as error:
        raise SelfdiagError(f"{one_line(str(log.path))} is damaged: {one_line(str(error), 120)}") from None
    records = _records(plan, settings, answers, structured=log.structured)
    return Run(folder=log.path, manifest=manifest, records=tuple(records), problems=(*log.notes, *notes))


def _planned(log: OutsideLog, answers: Sequence[OutsideAnswer]) -> tuple[list[OutsideCall], list[str]]:
    """Return every call of the plan once, those without an answer too, and a note where they are not known."""
    found = {sample_name(answer.call.call): answer.call for answer in answers}
    if log.asked is None:
        return list(found.values()), []
    missing = [name for name in log.asked if name not in found]
    again = _same_plan(answers[0].call) if missing else {}
    unknown = sum(name not in again for name in missing)
    notes = [f"{unknown} samples that were to be asked are not in the log, and nothing is known of them"]
    known = [found.get(name) or again.get(name) for name in log.asked]
    return [call for call in known if call is not None], notes if unknown else []


def _same_plan(call: OutsideCall) -> dict[str, OutsideCall]:
    """Return the whole plan by sample name, empty when this selfdiag would make another one."""
    try:
        made = outside_calls(call.settings)
    except SelfdiagError:
        return {}
    same = made[0].battery == call.battery and call.call in [other.call for other in made]
    return {sample_name(other.call): other for other in made} if same else {}


def _at(call: OutsideCall, settings: RunSettings, epoch: int) -> PlannedCall:
    """Return a call as the plan of one model and one pass has it."""
    planned = call.call
    name = call_id(
        settings,
        planned.section,
        planned.item_id,
        arm=planned.arm,
        paraphrase=planned.paraphrase,
        replicate=epoch,
    )
    return msgspec.structs.replace(planned, call_id=name, replicate=epoch)


def _plan(once: Iterable[OutsideCall], calls: Sequence[PlannedCall]) -> Plan:
    systems: dict[str, str] = {}
    prompts: dict[str, PromptText] = {}
    items: dict[str, Probe | Trap] = {}
    battery = None
    for call in once:
        key = next((key for key, text in systems.items() if text == call.system), f"contract {len(systems) + 1}")
        systems[key] = call.system
        prompts[call.call.prompt] = PromptText(system=key, user=call.user)
        items[call.item.id] = call.item
        battery = call.battery
    assert battery is not None, "a plan has at least one call"  # noqa: S101
    ordered = sorted(items.values(), key=lambda item: item.id)
    drawn = Battery(
        id=battery.id,
        version=battery.version,
        probes=tuple(item for item in ordered if isinstance(item, Probe)),
        traps=tuple(item for item in ordered if isinstance(item, Trap)),
    )
    return Plan(battery=battery, drawn=drawn, systems=systems, prompts=prompts, calls=tuple(calls))


def _records(
    plan: Plan, settings: RunSettings, answers: Sequence[OutsideAnswer], *, structured: bool
) -> Iterable[Record]:
    turns = Turns(plan, settings, ())
    planned = {(call.item_id, call.paraphrase, call.replicate): call for call in plan.calls}
    for answer in answers:
        call = planned.get((answer.call.call.item_id, answer.call.call.paraphrase, answer.epoch))
        if call is None:
            raise SelfdiagError(f"the sample {one_line(sample_name(answer.call.call), 80)!r} was not planned so often")
        record = turns.record(call, answer.result, attempts=1, structured=structured)
        # as in a run, the grade that was given then counts
        yield _graded_then(record, answer.graded)


def _graded_then(record: Record, graded: GradedReply | None) -> Record:
    if graded is None or record.error is not None:
        return record
    fields: tuple[Literal["answer", "confidence", "parse", "flags", "outcome", "rule"], ...]
    fields = ("answer", "confidence", "parse", "flags", "outcome", "rule")
    return msgspec.structs.replace(record, **{name: getattr(graded, name) for name in fields})
