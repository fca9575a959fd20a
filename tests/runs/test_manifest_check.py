"""Runs edited by hand: their manifests are refused in one line, and their records left out and named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from selfdiag.battery.items import BINS, Probe
from selfdiag.battery.load import shipped
from selfdiag.models.base import ModelInfo
from selfdiag.runs.ladder_plan import FALSE, OFF, OTHER, OWN, PLACEBO, SHUFFLED, TRUE, Row, plan_with_profiles
from selfdiag.runs.plan import Plan, make_plan
from selfdiag.runs.records import (
    FRAMING,
    LADDER,
    MICROPROBE,
    QUESTIONNAIRE,
    SELF_PROFILE,
    SWAP,
    TASKS,
    TOPICPASS,
    InjectedProfile,
    Manifest,
    PlannedCall,
    Record,
    RunSettings,
    Stretch,
)
from selfdiag.runs.store import RunWriter, read_manifest, read_run
from selfdiag.safety import SelfdiagError

EVERYTHING = ("probes", "traps", QUESTIONNAIRE, SELF_PROFILE, FRAMING, TASKS, MICROPROBE, "anchor", "fresh-check")
Document = dict[str, Any]
Edit = Callable[[Document], None]


def manifest_of(settings: RunSettings, plan: Plan) -> Manifest:
    return Manifest(
        run_id="written",
        selfdiag="0",
        settings=settings,
        model=ModelInfo(provider="openai", name="written"),
        battery=plan.battery,
        drawn=plan.drawn,
        check=plan.check,
        assessed=plan.assessed,
        injected=plan.injected,
        prompt_version="1",
        systems=plan.systems,
        prompts=plan.prompts,
        plan=plan.calls,
        versions={},
        max_tokens=100,
        sessions=(Stretch(started="2026-01-01T00:00:00.000Z", ended="2026-01-01T00:10:00Z"),),
    )


@pytest.fixture(scope="module")
def everything() -> Manifest:
    """The manifest of a run that asks something in every section that has no profile."""
    settings = RunSettings(
        model="openai:written",
        sections=EVERYTHING,
        confidence=("stated", "posthoc", "agreement"),
        limit=2,
        instances=2,
        ratings=2,
        tasks=20,
    )
    return manifest_of(settings, make_plan(settings))


def experiment(section: str, arms: tuple[str, ...], labels: tuple[bool, ...] = (True,)) -> Manifest:
    settings = RunSettings(model="openai:written", battery="full", sections=(section,))
    whole = shipped()
    rows = [Row(probe=probe, paraphrase=0, replicate=0) for probe in whole.probes[:3]]
    profiles = [InjectedProfile(arm=arm, values=dict.fromkeys(BINS, 50)) for arm in arms]
    return manifest_of(settings, plan_with_profiles(settings, section, whole, rows, profiles, labels=labels))


def ladder() -> Manifest:
    return experiment(LADDER, (OFF, PLACEBO, OWN, SHUFFLED))


def refused(folder: Path, manifest: Manifest, edit: Edit) -> str:
    """Return why a manifest cannot be read once it is edited; as it was it can be."""
    RunWriter.create(folder, manifest).close()
    assert read_manifest(folder) == manifest
    file = folder / "manifest.json"
    document = json.loads(file.read_text())
    edit(document)
    file.write_text(json.dumps(document))
    with pytest.raises(SelfdiagError) as caught:
        read_manifest(folder)
    text = str(caught.value)
    assert caught.value.exit_code == 2
    assert "/manifest.json is damaged: " in text and "\n" not in text
    return text.partition("is damaged: ")[2]


def set_call(section: str, field: str, value: object, arm: str | None = None) -> Edit:
    def edit(document: Document) -> None:
        next(call for call in document["plan"] if call["section"] == section and (arm is None or call["arm"] == arm))[
            field
        ] = value

    return edit


@pytest.mark.parametrize("section", EVERYTHING)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("replicate", -1),
        ("replicate", 1001),
        ("replicate", 10**30),
        ("batch", -1),
        ("batch", 10**30),
        ("claim", -1),
        ("claim", 101),
        ("paraphrase", -1),
        ("paraphrase", 3),
        ("arm", "nonsense"),
        ("section", "nonsense"),
    ],
)
def test_a_call_that_no_plan_has(
    tmp_path: Path, everything: Manifest, section: str, field: str, value: int | str
) -> None:
    if (section, field, value) == (QUESTIONNAIRE, "paraphrase", 3):
        value = 99  # a statement has more wordings
    reason = refused(tmp_path / "run", everything, set_call(section, field, value))
    assert "the plan's call '" in reason
    assert (f"the {field} {value!r}" if field != "section" else "no item for its section") in reason


def test_a_fresh_check_asks_in_pairs(tmp_path: Path, everything: Manifest) -> None:
    def edit(document: Document) -> None:
        document["plan"].remove(next(call for call in document["plan"] if call["section"] == "fresh-check"))

    assert refused(tmp_path / "run", everything, edit) == "a question of its fresh check stands in no pair"


def test_more_replicates_than_there_are_calls(tmp_path: Path, everything: Manifest) -> None:
    asked = sum(call.section == QUESTIONNAIRE for call in everything.plan)
    reason = refused(tmp_path / "run", everything, set_call(QUESTIONNAIRE, "replicate", asked + 1))
    assert f"the replicate {asked + 1}" in reason


@pytest.mark.parametrize(
    ("section", "arm", "claim"),
    [(MICROPROBE, "claim", None), ("anchor", "example", None), ("anchor", "none", 15), ("probes", "none", 50)],
)
def test_an_arm_and_a_claim_that_do_not_go_together(
    tmp_path: Path, everything: Manifest, section: str, arm: str, claim: int | None
) -> None:
    reason = refused(tmp_path / "run", everything, set_call(section, "claim", claim, arm))
    assert f"has the arm '{arm}' and the claim {claim}" in reason


@pytest.mark.parametrize(
    ("section", "other"),
    [
        ("probes", "traps"),
        ("traps", "probes"),
        ("traps", MICROPROBE),
        (QUESTIONNAIRE, SELF_PROFILE),
        (SELF_PROFILE, FRAMING),
        (FRAMING, QUESTIONNAIRE),
        (TASKS, "probes"),
        ("probes", TASKS),
    ],
)
def test_a_section_of_another_kind_of_item(tmp_path: Path, everything: Manifest, section: str, other: str) -> None:
    assert "has no item for its section" in refused(tmp_path / "run", everything, set_call(section, "section", other))


@pytest.mark.parametrize(("section", "wordings"), [(FRAMING, 2), (SELF_PROFILE, 1)])
def test_what_is_asked_in_fewer_wordings(tmp_path: Path, everything: Manifest, section: str, wordings: int) -> None:
    reason = refused(tmp_path / "run", everything, set_call(section, "paraphrase", wordings))
    assert f"the paraphrase {wordings}" in reason


@pytest.mark.parametrize("field", ["started", "ended"])
@pytest.mark.parametrize(
    "time_of",
    [
        "0001-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59-10:00",
        "2026-01-01T00:00:00",
        "2026-01-01|00:00:00Z",
        "2026-01-01\n00:00:00Z",
        "yesterday",
    ],
)
def test_a_session_at_no_time(tmp_path: Path, everything: Manifest, field: str, time_of: str) -> None:
    def edit(document: Document) -> None:
        document["sessions"][0][field] = time_of

    refused(tmp_path / "run", everything, edit)


def test_a_session_without_a_start(tmp_path: Path, everything: Manifest) -> None:
    def edit(document: Document) -> None:
        document["sessions"][0]["started"] = ""

    assert "is no time in ISO 8601" in refused(tmp_path / "run", everything, edit)


def statement(document: Document, number: int) -> Document:
    return next(one for one in document["assessed"]["statements"] if one["number"] == number)


def rename(document: Document, number: int) -> None:
    """Give a statement an id that is not shipped, in the plan too."""
    one = statement(document, number)
    for call in document["plan"]:
        if call["item_id"] == one["id"]:
            call["item_id"] = "own-1"
    one["id"] = "own-1"


def one_missing(document: Document) -> None:
    document["assessed"]["statements"].pop()


def another_criterion(document: Document) -> None:
    statement(document, 1)["criterion"] = "x5"


def two_numbers_changed(document: Document) -> None:
    first, second = statement(document, 1), statement(document, 2)
    first["number"], second["number"] = 2, 1


def not_reversed(document: Document) -> None:
    rename(document, 11)
    statement(document, 11)["reverse"] = False


def reversed_too(document: Document) -> None:
    rename(document, 1)
    statement(document, 1)["reverse"] = True


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (one_missing, "not the 15 of the questionnaire"),
        (another_criterion, "has another criterion"),
        (two_numbers_changed, "has another number"),
        (not_reversed, "'own-1' has another reverse"),
        (reversed_too, "'own-1' has another reverse"),
    ],
)
def test_other_statements(tmp_path: Path, everything: Manifest, edit: Edit, words: str) -> None:
    assert words in refused(tmp_path / "run", everything, edit)


def test_a_statement_of_ones_own_is_no_damage(tmp_path: Path, everything: Manifest) -> None:
    RunWriter.create(tmp_path / "run", everything).close()
    file = tmp_path / "run" / "manifest.json"
    document = json.loads(file.read_text())
    rename(document, 11)
    file.write_text(json.dumps(document))
    read = read_manifest(tmp_path / "run")
    assert read != everything and read.plan == msgspec.convert(document["plan"], tuple[PlannedCall, ...])


@pytest.mark.parametrize(
    "change",
    [
        {"elements": 0},
        {"elements": 0, "check": {}},
        {"elements": -3},
        {"elements": 99},
        {"check": {}},
        {"check": {"schema": "["}},
        {"format": "csv"},
    ],
)
def test_a_formal_task_with_other_elements_than_its_check_has(
    tmp_path: Path, everything: Manifest, change: Document
) -> None:
    def edit(document: Document) -> None:
        next(task for task in document["assessed"]["formal"] if task["format"] == "json").update(change)

    assert "elements to check" in refused(tmp_path / "run", everything, edit)


@pytest.mark.parametrize("change", [{"month": 0}, {"month": 13}, {"year": 10**400}])
def test_a_fact_without_a_date(tmp_path: Path, everything: Manifest, change: Document) -> None:
    def edit(document: Document) -> None:
        document["assessed"]["facts"][0].update(change)

    refused(tmp_path / "run", everything, edit)


@pytest.mark.parametrize("section", [MICROPROBE, LADDER, SWAP, TOPICPASS, TASKS])
def test_an_empty_plan_is_damage_where_calls_are_needed(tmp_path: Path, everything: Manifest, section: str) -> None:
    def edit(document: Document) -> None:
        document["settings"]["sections"] = [section]
        document["plan"] = []

    assert "its plan is empty" in refused(tmp_path / "run", everything, edit)


def test_an_audit_with_an_empty_plan_is_read(tmp_path: Path, everything: Manifest) -> None:
    settings = msgspec.structs.replace(everything.settings, sections=("probes",))
    RunWriter.create(tmp_path / "run", msgspec.structs.replace(everything, settings=settings, plan=())).close()
    assert read_run(tmp_path / "run").records == ()


# Profiles.


def set_profile(**fields: object) -> Edit:
    return lambda document: document["injected"][1].update(fields)


@pytest.mark.parametrize(
    "edit",
    [
        set_profile(half=2),
        set_profile(half=-1),
        set_profile(values=dict.fromkeys(BINS, 101)),
        set_profile(values=dict.fromkeys(BINS, -1)),
        set_profile(values={"logic": 50}),
        set_profile(arm="other"),
        lambda document: document.update(injected=[]),
        set_call(LADDER, "arm", "claim"),
        set_call(LADDER, "labelled", False),
        lambda document: document.update(plan=[call for call in document["plan"] if call["arm"] != OWN]),
    ],
)
def test_profiles_that_no_ladder_has(tmp_path: Path, edit: Edit) -> None:
    refused(tmp_path / "run", ladder(), edit)


def test_an_item_whose_topic_no_profile_has(tmp_path: Path) -> None:
    def edit(document: Document) -> None:
        document["check"][0]["bin"] = "cooking"

    assert "no injected profile for its item" in refused(tmp_path / "run", ladder(), edit)


def test_a_swap_and_a_topic_pass_ask_every_arm(tmp_path: Path) -> None:
    swap = experiment(SWAP, (OFF, OWN, OTHER))
    topicpass = experiment(TOPICPASS, (TRUE, FALSE), labels=(True, False))

    def without(document: Document) -> None:
        document["plan"] = [call for call in document["plan"] if call["arm"] not in {OTHER, FALSE}]

    def named_alone(document: Document) -> None:
        document["plan"] = [call for call in document["plan"] if call["labelled"]]

    assert "every arm of a swap" in refused(tmp_path / "swap", swap, without)
    assert "every arm of a topicpass" in refused(tmp_path / "arm", topicpass, without)
    assert "every arm of a topicpass" in refused(tmp_path / "label", topicpass, named_alone)


# Records.


def record_of(call: PlannedCall, **fields: object) -> Record:
    base = Record(
        call_id=call.call_id,
        item_id=call.item_id,
        bin="logic",
        difficulty=None,
        trap=False,
        family=None,
        section=call.section,
        arm=call.arm,
        claim=call.claim,
        claim_bin=call.claim_bin,
        labelled=call.labelled,
        paraphrase=call.paraphrase,
        replicate=call.replicate,
        prompt_sha256=call.prompt,
        outcome="correct",
        at="2026-01-01T00:00:01.000Z",
    )
    return msgspec.structs.replace(base, **fields)


def left_out(folder: Path, manifest: Manifest, record: Record) -> str:
    """Return why a record was left out, empty where it was read."""
    with RunWriter.create(folder, manifest) as writer:
        writer.append(record)
    run = read_run(folder)
    assert len(run.records) + len(run.problems) == 1
    return run.problems[0] if run.problems else ""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("item_id", "b"),
        ("section", "probes"),
        ("arm", OFF),
        ("claim", 51),
        ("claim", None),
        ("claim_bin", "cooking"),
        ("labelled", False),
        ("paraphrase", 1),
        ("replicate", 1),
        ("prompt_sha256", "0"),
    ],
)
def test_a_record_of_another_call_than_its_id_names_is_left_out(tmp_path: Path, field: str, value: object) -> None:
    manifest = ladder()
    call = next(call for call in manifest.plan if call.arm == OWN)
    assert left_out(tmp_path / "as it was", manifest, record_of(call)) == ""
    reason = left_out(tmp_path / "run", manifest, record_of(call, **{field: value}))
    assert reason.startswith("records.jsonl line 1 is not a record and was left out")
    assert f"another {field.removesuffix('_sha256')} than {value!r}" in reason


def test_of_many_lines_that_are_no_records_the_first_are_named(tmp_path: Path) -> None:
    RunWriter.create(tmp_path / "run", ladder()).close()
    (tmp_path / "run" / "records.jsonl").write_text("{}\n" * 2000 + '{"torn')
    problems = read_run(tmp_path / "run").problems
    assert [problem.partition(" is not")[0] for problem in problems[:3]] == [
        f"records.jsonl line {number}" for number in (1, 2, 3)
    ]
    assert problems[3:] == (
        "records.jsonl line 2001 is torn and was left out",
        "1,997 more lines of records.jsonl are not records and were left out",
    )


def test_a_reply_that_is_no_call_of_the_plan_has_nothing_to_agree_with(tmp_path: Path) -> None:
    manifest = ladder()
    trial = record_of(manifest.plan[0], call_id="trial", section="trial", arm="none", item_id="b", claim=None)
    assert left_out(tmp_path / "run", manifest, trial) == ""


def test_a_time_without_a_zone_is_left_out(tmp_path: Path) -> None:
    manifest = ladder()
    reason = left_out(tmp_path / "run", manifest, record_of(manifest.plan[0], at="2026-01-01T00:00:00"))
    assert "no zone" in reason


@pytest.mark.parametrize(
    ("section", "outcome", "value", "kept"),
    [
        (QUESTIONNAIRE, "answered", 0.0, True),
        (QUESTIONNAIRE, "answered", 0.5, True),
        (QUESTIONNAIRE, "answered", 1.0, True),
        (QUESTIONNAIRE, "answered", 0.25, False),
        (QUESTIONNAIRE, "refused", 0.0, False),
        (QUESTIONNAIRE, "refused", None, True),
        (QUESTIONNAIRE, "error", 0.0, False),
        (SELF_PROFILE, "answered", 0.25, True),
        (SELF_PROFILE, "error", 0.0, False),
        (FRAMING, "truncated", 0.5, False),
        (FRAMING, "correct", 0.5, False),
        (TASKS, "incorrect", 0.5, True),
        (TASKS, "correct", 1.0, True),
        (TASKS, "refused", 0.0, False),
        (TASKS, "answered", 1.0, False),
        ("probes", "correct", 1.0, False),
    ],
)
def test_a_value_needs_an_outcome_that_has_one(
    tmp_path: Path, everything: Manifest, section: str, outcome: str, value: float | None, kept: bool
) -> None:
    call = next(call for call in everything.plan if call.section == section)
    reason = left_out(tmp_path / "run", everything, record_of(call, outcome=outcome, value=value))
    assert reason == "" if kept else f"value {value:g} beside the outcome '{outcome}'" in reason


def test_the_probes_of_a_run_may_have_as_many_wordings_as_they_like(tmp_path: Path) -> None:
    settings = RunSettings(model="openai:written", sections=("probes",), limit=1)
    plan = make_plan(settings)
    probe = plan.drawn.probes[0]
    assert isinstance(probe, Probe)
    call = msgspec.structs.replace(plan.calls[0], paraphrase=4)
    more = msgspec.structs.replace(probe, questions=("?",) * 5)
    drawn = msgspec.structs.replace(plan.drawn, probes=(more,))
    manifest = manifest_of(settings, msgspec.structs.replace(plan, drawn=drawn, calls=(call,)))
    RunWriter.create(tmp_path / "run", manifest).close()
    assert read_manifest(tmp_path / "run") == manifest
