"""Whether the parts of a manifest fit each other, and a record the plan: after an edit by hand they may not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from selfdiag.battery.items import Probe
from selfdiag.battery.self_assessment import FormalTask, SelfAssessment, Statement, self_assessment
from selfdiag.elicit.formal import check_form
from selfdiag.elicit.grading import GRADED
from selfdiag.runs.claims import CLAIM, EXAMPLE
from selfdiag.runs.earlier import BACKWARD, FORWARD, LATER, answer_of, spoken_of
from selfdiag.runs.ladder_plan import FALSE, OFF, OTHER, OWN, PLACEBO, SHUFFLED, TRUE
from selfdiag.runs.plan import FRESH_CHECK
from selfdiag.runs.records import (
    AGREEMENT,
    ANCHOR,
    ANSWERED,
    CANDIDATES,
    FRAMING,
    LADDER,
    MICROPROBE,
    POSTHOC,
    QUESTIONNAIRE,
    SCHEMA,
    SELF_PROFILE,
    SELF_REPORTS,
    SELFSELECT,
    SOURCES,
    STATEMENT_VALUES,
    SWAP,
    TASKS,
    TOPICPASS,
    InjectedProfile,
    Manifest,
    PlannedCall,
    Record,
    kind_of,
)
from selfdiag.runs.self_reports import AFFIRMING, NEUTRAL

MOST_REPLICATES = 1000
NONE = "none"
"""The arm of a call that nothing is put before."""
DOMAINS = ("MAI", "SRIS", "SDQ")
REVERSED = "SDQ"
"""The domain in which No speaks for the trait."""
PER_DOMAIN = 5

_PROBES = ("probes", POSTHOC, AGREEMENT, FRESH_CHECK, CANDIDATES)
_WITH_PROFILES: dict[str, frozenset[str]] = {
    TOPICPASS: frozenset({TRUE, FALSE}),
    LADDER: frozenset({OFF, PLACEBO, OWN, SHUFFLED}),
    SWAP: frozenset({OFF, OWN, OTHER}),
}
_ARMS: dict[str, frozenset[str]] = {
    **dict.fromkeys((*_PROBES, "traps", QUESTIONNAIRE, SELF_PROFILE, TASKS), frozenset({NONE})),
    FRAMING: frozenset({NEUTRAL, AFFIRMING}),
    MICROPROBE: frozenset({CLAIM}),
    ANCHOR: frozenset({NONE, EXAMPLE}),
    SELFSELECT: frozenset({FORWARD, BACKWARD}),
    **_WITH_PROFILES,
}
_SHARED = ("item_id", "section", "arm", "claim", "claim_bin", "labelled", "paraphrase", "replicate")
"""What a planned call and its record both say."""
# the standard library takes any character between day and time
_TIME = re.compile(r"[0-9TZ:.+-]+")
_KEYS_OF_STATEMENT = ("domain", "number", "criterion", "reverse")


def check_manifest(manifest: Manifest) -> None:
    """Check that what a manifest says can be the manifest of a run.

    Raises:
        ValueError: naming the first thing that does not fit.
    """
    if manifest.schema != SCHEMA:
        raise ValueError(f"its schema is {manifest.schema!r}")
    if not manifest.settings.confidence or not set(manifest.settings.confidence) <= set(SOURCES):
        raise ValueError(f"no such sources of confidence: {manifest.settings.confidence}")
    for stretch in manifest.sessions:
        _check_time(stretch.started)
        if stretch.ended:
            _check_time(stretch.ended)
    if manifest.assessed is not None:
        _check_assessed(manifest.assessed)
    _check_injected(manifest.injected)
    _check_plan(manifest)


def check_record(record: Record, planned: Mapping[str, PlannedCall]) -> None:
    """Check that a record speaks of the call that its id names, and that its value fits its outcome.

    Args:
        record: one line; a reply that the plan does not name, such as a judge's, has nothing to agree with.
        planned: every planned call, by call id.

    Raises:
        ValueError: naming what does not fit.
    """
    call = planned.get(record.call_id)
    # written out: a run has many records, and a loop over _SHARED takes three times as long
    if call is not None and not (
        call.item_id == record.item_id
        and call.section == record.section
        and call.arm == record.arm
        and call.claim == record.claim
        and call.claim_bin == record.claim_bin
        and call.labelled is record.labelled
        and call.paraphrase == record.paraphrase
        and call.replicate == record.replicate
        and call.prompt == record.prompt_sha256
    ):
        name = next((name for name in _SHARED if getattr(call, name) != getattr(record, name)), "prompt")
        said = record.prompt_sha256 if name == "prompt" else getattr(record, name)
        raise ValueError(f"the plan's call has another {name} than {said!r}")
    if record.value is not None and not _value_fits(record, record.value):
        raise ValueError(f"value {record.value:g} beside the outcome {record.outcome!r}")
    if record.at and datetime.fromisoformat(record.at).tzinfo is None:
        raise ValueError("its time has no zone")


def _value_fits(record: Record, value: float) -> bool:
    if record.section == QUESTIONNAIRE and value not in STATEMENT_VALUES:
        return False
    if record.section in SELF_REPORTS:
        return record.outcome == ANSWERED
    return record.section == TASKS and record.outcome in GRADED


def _check_time(text: str) -> None:
    if not _TIME.fullmatch(text):
        raise ValueError(f"{text!r} is no time in ISO 8601")
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"the time {text!r} has no zone")
    # the first and the last year of the calendar cannot be brought to another zone
    if not 1970 <= moment.year <= 9998:
        raise ValueError(f"the time {text!r} is of no run")


def _check_assessed(assessed: SelfAssessment) -> None:
    if assessed.statements:
        _check_statements(assessed.statements)
    for task in assessed.formal:
        _check_formal(task)
    for fact in assessed.facts:
        if not (0 < fact.year < 10_000 and 1 <= fact.month <= 12):
            raise ValueError(f"the fact {fact.id!r} has no date")


def _check_statements(statements: Iterable[Statement]) -> None:
    ordered = sorted(statements, key=lambda statement: statement.number)
    domains = [name for name in DOMAINS for _ in range(PER_DOMAIN)]
    if len({one.id for one in ordered}) < len(ordered) or [one.domain for one in ordered] != domains:
        raise ValueError(f"its statements are not the {len(domains)} of the questionnaire")
    shipped = {statement.id: statement for statement in self_assessment().statements}
    for one in ordered:
        known = shipped.get(one.id, one)
        changed = [name for name in _KEYS_OF_STATEMENT if getattr(one, name) != getattr(known, name)]
        if changed or one.reverse != (one.domain == REVERSED):
            raise ValueError(f"the statement {one.id!r} has another {changed[0] if changed else 'reverse'}")


def _check_formal(task: FormalTask) -> None:
    try:
        elements = len(check_form(task.format, task.check, ""))
    except Exception:  # noqa: BLE001 - a table of any content goes wrong in as many ways
        elements = 0
    if not 0 < elements == task.elements:
        raise ValueError(f"the formal task {task.id!r} does not have {task.elements} elements to check")


def _check_injected(profiles: Iterable[InjectedProfile]) -> None:
    topics: set[str] | None = None
    for profile in profiles:
        if topics is not None and profile.values.keys() != topics:
            raise ValueError("its injected profiles have different topics")
        topics = set(profile.values)
        if profile.half not in {None, 0, 1}:
            raise ValueError(f"an injected profile is for the half {profile.half}")
        if not all(value is None or 0 <= value <= 100 for value in profile.values.values()):
            raise ValueError(f"the injected profile {profile.arm!r} claims what is no percentage")


def _check_plan(manifest: Manifest) -> None:
    kind = kind_of(manifest.settings.sections)
    if not manifest.plan and kind != "audit":
        raise ValueError(f"its plan is empty, and a run of the kind {kind} needs calls")
    if len({call.call_id for call in manifest.plan}) < len(manifest.plan):
        raise ValueError("the plan names a call twice")
    wordings = _wordings(manifest)
    number = Counter(call.section for call in manifest.plan)
    for call in manifest.plan:
        text = manifest.prompts.get(call.prompt)
        if text is None or text.system not in manifest.systems:
            raise ValueError(f"the plan's call {call.call_id!r} has no prompt")
        available = wordings.get(call.section, {}).get(call.item_id)
        if available is None:
            raise ValueError(f"the plan's call {call.call_id!r} has no item for its section")
        counted = {
            "paraphrase": (call.paraphrase, available - 1),
            "replicate": (call.replicate, min(MOST_REPLICATES, number[call.section])),
            "batch": (call.batch, len(manifest.plan)),
            "claim": (call.claim or 0, 100),
        }
        for name, (value, most) in counted.items():
            if not 0 <= value <= most:
                raise ValueError(f"the plan's call {call.call_id!r} has the {name} {value}")
        _check_arm(call)
    if number[FRESH_CHECK] % 2:
        raise ValueError("a question of its fresh check stands in no pair")
    asked = {answer_of(call) for call in manifest.plan if call.section not in LATER}
    unasked = next((call for call in manifest.plan if not asked.issuperset(spoken_of(call))), None)
    if unasked is not None:
        raise ValueError(f"the plan's call {unasked.call_id!r} speaks of an answer that the plan does not ask for")
    _check_profiles(manifest)


def _check_arm(call: PlannedCall) -> None:
    if call.arm not in _ARMS[call.section]:
        raise ValueError(f"the plan's call {call.call_id!r} has the arm {call.arm!r}")
    unclaimed = call.arm in {CLAIM, EXAMPLE} and call.claim is None
    if unclaimed or (call.arm == NONE and call.claim is not None):
        raise ValueError(f"the plan's call {call.call_id!r} has the arm {call.arm!r} and the claim {call.claim}")


def _check_profiles(manifest: Manifest) -> None:
    """Check that every call under a profile has one, with a line for the topic of its item, and no arm is missing."""
    shown = {profile.arm for profile in manifest.injected}
    topics = manifest.injected[0].values if manifest.injected else {}
    bins = {probe.id: probe.bin for probe in _probes(manifest)}
    for call in manifest.plan:
        if call.section in _WITH_PROFILES and not (call.arm in shown and bins[call.item_id] in topics):
            raise ValueError(f"the plan's call {call.call_id!r} has no injected profile for its item")
    for section, arms in _WITH_PROFILES.items():
        asked = {(call.arm, call.labelled) for call in manifest.plan if call.section == section}
        ways = {labelled for _, labelled in asked}
        # a topic pass asks with the topic's name and without it, the others in one way
        if asked and (len(ways) != (2 if section == TOPICPASS else 1) or len(asked) < len(arms) * len(ways)):
            raise ValueError(f"the plan does not ask every arm of a {section}")


def _wordings(manifest: Manifest) -> dict[str, dict[str, int]]:
    """Return for each section the items that it can ask, and how many wordings each has."""
    assessed = manifest.assessed or SelfAssessment()
    probes = {probe.id: len(probe.questions) for probe in _probes(manifest)}
    tasks = {item.id: len(item.questions) for item in (*assessed.items(), *assessed.citations)}
    return {
        **dict.fromkeys((*_PROBES, MICROPROBE, ANCHOR, SELFSELECT, *_WITH_PROFILES), probes),
        "traps": {trap.id: len(trap.questions) for trap in manifest.drawn.traps},
        QUESTIONNAIRE: {statement.id: len(statement.wordings) for statement in assessed.statements},
        SELF_PROFILE: {rating.id: 1 for rating in assessed.ratings},
        FRAMING: {pair.id: 2 for pair in assessed.framing},
        TASKS: tasks | {task.id: 1 for task in assessed.formal},
    }


def _probes(manifest: Manifest) -> tuple[Probe, ...]:
    return (*manifest.drawn.probes, *manifest.check)
