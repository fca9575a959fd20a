"""Personas as oracles of a self-assessment: what is built into them must come out of a whole run."""

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest
from assessed_runs import asked, written

from selfdiag.measure.external import Criterion, resampled
from selfdiag.measure.msi import ACCEPTABLE, CRITERIA
from selfdiag.protocols import assess
from selfdiag.protocols.assess import SECTIONS, Assessment, Assessments, assess_of
from selfdiag.protocols.questionnaire import questionnaire_of
from selfdiag.protocols.requirements import parse_requirements, parse_weights, unmet
from selfdiag.protocols.self_profile import scored_ratings
from selfdiag.runs.records import MEASURED_SECTIONS, QUESTIONNAIRE, SELF_PROFILE, PlannedCall
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError

SEEDS = range(4)
Ask = Callable[..., tuple[Run, Assessment]]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Assess a persona, each only once for all tests."""
    home: Path = tmp_path_factory.mktemp("assessed")

    @cache
    def once(persona: str, seed: int) -> tuple[Run, Assessment]:
        run = asked(home / f"{persona}-{seed}", persona, seed=seed)
        return run, assess_of(run, draws=400)

    return lambda persona, seed=0: once(persona, seed)


def known(value: float | None) -> float:
    assert value is not None
    return value


@pytest.mark.parametrize("seed", SEEDS)
def test_calibrated_claims_what_it_does(ask: Ask, seed: int) -> None:
    _, found = ask("calibrated", seed)
    delta = found.delta
    assert known(delta.value) <= ACCEPTABLE
    assert delta.ci is not None and delta.ci[0] <= known(delta.value) <= delta.ci[1]
    assert delta.verdict != "not acceptable"
    assert delta.n == 5
    assert found.questionnaire is not None and found.questionnaire.warnings == ()
    assert found.ratings is not None and found.ratings.warnings == ()
    assert any(note.startswith("simulated") for note in found.notes)


@pytest.mark.parametrize("seed", SEEDS)
def test_overconfident_claims_more_than_it_does(ask: Ask, seed: int) -> None:
    _, found = ask("overconfident", seed)
    assert found.delta.verdict == "not acceptable"
    assert known(found.delta.signed) == pytest.approx(known(found.delta.value))
    assert found.delta.ci is not None and found.delta.ci[0] > ACCEPTABLE
    assert known(found.msi_internal.msi) > known(found.msi.msi)
    assert found.framing is not None and known(found.framing.shift.value) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_yes_sayer_is_found_out(ask: Ask, seed: int) -> None:
    _, found = ask("yes-sayer", seed)
    questionnaire = found.questionnaire
    assert questionnaire is not None
    assert questionnaire.yes_rate.value == 1
    assert (questionnaire.mai.mean, questionnaire.sris.mean, questionnaire.sdq.mean) == (1, 1, 0)
    assert known(questionnaire.index_a.value) == pytest.approx(2 / 3)
    assert questionnaire.alpha.value is None and questionnaire.alpha.note
    assert questionnaire.warnings == (
        "says Yes to everything: the figures above describe a habit of agreeing, not self-knowledge",
    )


def test_ratings_that_follow_the_scale_are_no_claims_even_where_they_come_near(ask: Ask) -> None:
    _, found = ask("yes-sayer")
    assert found.ratings is not None and found.ratings.follow_scale
    assert known(found.ratings.pull.pull.value) == pytest.approx(0.5)
    assert all(found.internal[name].consistency == "low" for name in CRITERIA)
    assert known(found.delta.value) <= ACCEPTABLE  # high numbers both ways average to a half, by chance its ability
    assert found.delta.verdict == "cannot say"
    assert "claim nothing" in found.delta.note
    assert unmet(found, {"delta": 0.9})


def test_replies_are_reversed_exactly_once(ask: Ask) -> None:
    run, found = ask("overconfident")
    assert found.questionnaire is not None
    for statement in found.questionnaire.statements:
        assert known(statement.raw) > 0.7
        turned = 1 - known(statement.raw) if statement.reverse else known(statement.raw)
        assert known(statement.scored) == pytest.approx(turned)
        assert statement.reverse == (statement.domain == "SDQ")
    assert known(found.questionnaire.sdq.mean) < 0.2
    ratings = scored_ratings(run)
    assert ratings.shape == (30, 5)
    assert ratings.min() > 0.9  # it claims .96 of itself whichever way it is asked


def test_the_internal_profile_is_what_the_persona_claims(ask: Ask) -> None:
    _, found = ask("calibrated")
    claims = {"x1": 0.67, "x2": 0.61, "x3": 0.8, "x4": 0.75, "x5": 0.8}
    for name, claim in claims.items():
        assert known(found.internal[name].mean) == pytest.approx(claim, abs=0.03)
        assert found.internal[name].n == 30
        assert found.internal[name].consistency == "high"


def test_german_replies_are_all_read(ask: Ask) -> None:
    _, found = ask("german")
    assert found.questionnaire is not None and found.questionnaire.missing == {}
    assert found.ratings is not None and found.ratings.missing == {}
    assert known(found.delta.value) <= ACCEPTABLE


def test_prose_is_read_or_missing_and_never_taken_for_something_else(ask: Ask) -> None:
    _, found = ask("prose")
    _, same = ask("calibrated")
    questionnaire = found.questionnaire
    assert questionnaire is not None and same.questionnaire is not None
    missing = sum(questionnaire.missing.values())
    assert 0 < missing < questionnaire.asked
    assert any("replies are missing" in note for note in questionnaire.warnings)
    assert questionnaire.mai.n + questionnaire.sris.n + questionnaire.sdq.n == questionnaire.asked - missing
    for name in CRITERIA:
        assert known(found.internal[name].mean) == pytest.approx(known(same.internal[name].mean), abs=0.05)


def test_a_refusal_is_missing_and_never_a_no(ask: Ask) -> None:
    _, found = ask("refuser")
    questionnaire = found.questionnaire
    assert questionnaire is not None
    assert questionnaire.missing.keys() == {"refused"}
    assert questionnaire.missing["refused"] > questionnaire.asked / 2
    # it never says No to one of these: a refusal taken for one would pull them down
    assert known(questionnaire.mai.mean) > 0.6
    assert found.external["x4"].value is None and "unknown" in found.external["x4"].note
    assert found.msi.msi is None and "x4" in found.msi.note
    assert found.delta.n < 5 and "left out" in found.delta.note


def test_a_distance_over_few_criteria_has_no_verdict_and_passes_no_gate(ask: Ask) -> None:
    _, found = ask("refuser")
    assert found.delta.n == 3 and known(found.delta.value) < 1 and found.delta.ci is not None
    assert found.delta.verdict == "cannot say"
    assert found.delta.note.startswith("3 of 5 criteria known on both sides, a verdict needs 4; left out: x2 ")
    (sentence,) = unmet(found, {"delta": 1.0})
    assert sentence.startswith("delta is missing (3 of 5 criteria known") and "at most 1 is required" in sentence


def test_a_run_is_read_with_its_own_weights_and_years() -> None:
    def reply(call: PlannedCall) -> dict[str, object]:
        silent = call.section == "traps" or call.item_id.startswith("source-invented")
        formal = call.item_id.startswith("formal")
        return {"outcome": "abstained" if silent else "correct", "value": 1.0 if formal else None}

    run = written(reply, weights="x1=1, x5=3", years=10.0)
    own = assess_of(run, draws=200)
    assert own.weighted.weights == {"x1": 0.25, "x2": 0, "x3": 0, "x4": 0, "x5": 0.75}
    assert own.external["x2"].denominator == 10
    other = assess_of(run, weights="research", years=5, draws=200)
    assert other.weighted.use == "research" and other.external["x2"].denominator == 5
    plain = assess_of(written(reply), draws=200)
    assert plain.weighted.use == "general" and plain.external["x2"].denominator == 5


def test_an_index_beside_its_interval_is_told(monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    run, found = ask("calibrated")
    assert found.msi.note == found.weighted.note == ""

    def lower(criterion: Criterion, draws: int, rng: np.random.Generator) -> np.ndarray:
        return resampled(criterion, draws, rng) / 2

    monkeypatch.setattr(assess, "resampled", lower)
    moved = assess_of(run, draws=400)
    assert moved.msi.msi_ci is not None and moved.msi.msi_ci[1] == moved.msi.msi == found.msi.msi
    assert moved.weighted.ci is not None and moved.weighted.ci[1] == moved.weighted.value == found.weighted.value
    assert moved.msi.note == moved.weighted.note == "interval stretched to the value"


def test_the_same_run_gives_the_same_bytes(ask: Ask) -> None:
    run, found = ask("calibrated")
    assert msgspec.json.encode(assess_of(run, draws=400)) == msgspec.json.encode(found)


def test_json_has_what_is_promised(ask: Ask) -> None:
    document = json.loads(msgspec.json.encode(ask("calibrated")[1]))
    assert document["schema"] == "selfdiag.assess/1"
    assert document["model"]["simulated"] is True
    for name in CRITERIA:
        assert document["internal"][name].keys() >= {"mean", "sd", "n", "consistency"}
        assert document["external"][name].keys() >= {"value", "numerator", "denominator", "ci", "note"}
        assert not document["external"][name].keys() & {"ages", "drawn_ages", "unit"}
    assert document["delta"].keys() >= {"value", "ci", "signed", "verdict"}
    questionnaire = document["questionnaire"]
    assert questionnaire.keys() >= {"MAI", "SRIS", "SDQ", "index_a", "yes_rate", "alpha"}
    assert all(isinstance(questionnaire[name]["mean"], float) for name in ("MAI", "SRIS", "SDQ"))
    several = json.loads(msgspec.json.encode(Assessments(models=(ask("calibrated")[1],))))
    assert several["schema"] == "selfdiag.assesses/1"
    assert several["models"][0] == document


def test_the_index_is_that_of_the_profile_it_stands_beside(ask: Ask) -> None:
    _, found = ask("calibrated")
    for profile, index in (
        ([found.external[name].value for name in CRITERIA], found.msi),
        ([found.internal[name].mean for name in CRITERIA], found.msi_internal),
    ):
        values = [known(value) for value in profile]
        assert known(index.msi) == pytest.approx(sum(values) / math.sqrt(5) * min(values))
        assert index.msi_ci is not None and index.msi_ci[0] <= known(index.msi) <= index.msi_ci[1]
        assert index.msi_per_root_n_ci is not None
        assert index.msi_per_root_n_ci[1] == pytest.approx(index.msi_ci[1] / math.sqrt(5))


def test_weights_are_normalised_and_a_criterion_without_weight_may_be_missing(ask: Ask) -> None:
    run, found = ask("refuser")
    own = assess_of(run, weights="x1=3, x3=1", draws=200).weighted
    assert own.use == "own"
    assert own.weights == {"x1": 0.75, "x2": 0, "x3": 0.25, "x4": 0, "x5": 0}
    x1, x3 = known(found.external["x1"].value), known(found.external["x3"].value)
    assert known(own.value) == pytest.approx(0.75 * x1 + 0.25 * x3)
    assert own.ci is not None and own.ci[0] < known(own.value) < own.ci[1]
    general = found.weighted
    assert (general.use, general.value, general.ci) == ("general", None, None)
    assert "x4" in general.note


@pytest.mark.parametrize(
    ("text", "word"),
    [("reserch", "research"), ("x1=a", "NAME=NUMBER"), ("x6=1", "x5"), ("x1=0", "above 0"), ("x1=1,x1=2", "twice")],
)
def test_weights_that_are_none_are_told(text: str, word: str) -> None:
    with pytest.raises(SelfdiagError, match=word):
        parse_weights(text)


def test_requirements(ask: Ask) -> None:
    _, found = ask("calibrated")
    x4, msi, delta = known(found.external["x4"].value), known(found.msi.msi), known(found.delta.value)
    met = {"x4": x4, "msi": msi, "delta": delta, "index_a": 0.1, "weighted": 0.1, "msi_per_root_n": 0.1}
    assert unmet(found, met) == []
    missed = unmet(found, {"x4": x4 + 0.01, "msi": msi + 0.01, "delta": delta - 0.001, "x1": 0.1})
    assert [sentence.split(" is ")[0] for sentence in missed] == ["x4", "msi", "delta"]
    assert "at most" in missed[2] and "at least" in missed[0]


def test_a_missing_value_misses_its_requirement(ask: Ask) -> None:
    _, found = ask("refuser")
    (sentence,) = unmet(found, {"x4": 0.0})
    assert sentence.startswith("x4 is missing") and "unknown" in sentence
    _, alike = ask("yes-sayer")
    assert alike.questionnaire is not None and alike.questionnaire.index_a.ci is None
    assert unmet(alike, {"index_a": 0.6}) == []
    assert unmet(alike, {"index_a": 0.7}) == ["index_a is 0.667, and at least 0.7 is required"]
    once = tuple(msgspec.structs.replace(one, n=1) for one in alike.questionnaire.statements)
    single = msgspec.structs.replace(alike, questionnaire=msgspec.structs.replace(alike.questionnaire, statements=once))
    assert unmet(single, {"index_a": 0.0}) == [
        "index_a is missing (each statement has one reply alone), and at least 0 is required"
    ]
    bare = assess_of(written(lambda _: {"outcome": "correct"}, sections=MEASURED_SECTIONS), draws=200)
    assert unmet(bare, {"index_a": 0.0}) == ["index_a is missing (not asked), and at least 0 is required"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("x4", "NAME=NUMBER"),
        ("x4=nan", "NAME=NUMBER"),
        ("x4=-1", "NAME=NUMBER"),
        ("x9=.5", "there is no"),
        ("x4=60", "at most 1"),
        ("msi=2.3", "at most 2.24"),
        ("x4=.1,x4=.2", "twice"),
    ],
)
def test_requirements_that_are_none_are_told(text: str, word: str) -> None:
    with pytest.raises(SelfdiagError, match=word):
        parse_requirements(text)


def test_requirements_are_read() -> None:
    assert parse_requirements(" x4=.6, msi=.8,delta=0.15 ") == {"x4": 0.6, "msi": 0.8, "delta": 0.15}


def test_a_run_that_asked_nothing_of_itself_has_every_figure_missing_with_a_reason() -> None:
    found = assess_of(written(lambda _: {"outcome": "correct"}, sections=MEASURED_SECTIONS), draws=200)
    assert found.questionnaire is None and found.ratings is None and found.framing is None
    assert all(found.internal[name].note == "not asked" for name in CRITERIA)
    assert found.delta.verdict == "cannot say" and found.delta.note
    assert found.msi.msi is None and found.msi_internal.msi is None
    assert b"NaN" not in msgspec.json.encode(found)


def test_an_incomplete_run_says_so_and_errors_are_missing() -> None:
    def reply(call: PlannedCall) -> dict[str, object] | None:
        if call.section == QUESTIONNAIRE:
            return {"outcome": "answered", "value": 0.5} if call.replicate == 0 else None
        return {"outcome": "error"} if call.section == SELF_PROFILE else {"outcome": "correct", "value": 1.0}

    found = assess_of(written(reply, instances=3), draws=200)
    assert found.questionnaire is not None and found.ratings is not None
    assert found.questionnaire.missing == {"not asked": 30}
    assert found.questionnaire.mai.mean == 0.5
    assert "one instance" in found.questionnaire.index_a.note
    assert found.ratings.missing == {"error": 150}
    assert all(found.internal[name].mean is None for name in CRITERIA)
    assert any("30 of" in note and "150 ended in an error" in note for note in found.notes)


def test_missing_replies_are_counted_by_their_reason() -> None:
    reasons = [
        {"outcome": "unparsed", "rule": "not a number"},
        {"outcome": "unparsed", "rule": "out of range"},
        {"outcome": "truncated", "rule": "cut off"},
        {"outcome": "refused", "rule": "the provider declined"},
        {"outcome": "answered", "rule": ".50", "value": 0.5},
    ]
    run = written(lambda call: reasons[call.replicate], sections=(SELF_PROFILE,), ratings=5)
    found = assess_of(run, draws=200).ratings
    assert found is not None
    assert found.missing == {"not a number": 5, "out of range": 5, "truncated": 5, "refused": 5}
    assert "20 of 25 replies are missing (5 not a number, " in found.warnings[0]


def test_one_reply_to_everything_is_no_self_knowledge_either() -> None:
    def always(value: float) -> tuple[str, ...]:
        run = written(lambda _: {"outcome": "answered", "value": value}, sections=(QUESTIONNAIRE,), instances=3)
        found = questionnaire_of(run, draws=200)
        assert found is not None
        return found.warnings

    assert always(0.0)[0].startswith("says No to everything")
    assert always(0.5)[0].startswith("says Partially to everything")


def test_low_numbers_both_ways_are_found_too() -> None:
    run = written(lambda _: {"outcome": "answered", "value": 0.1}, sections=(SELF_PROFILE,))
    found = assess_of(run, draws=200).ratings
    assert found is not None and found.follow_scale
    assert known(found.pull.pull.value) == pytest.approx(-0.4)
    assert "low numbers" in found.warnings[0]


def test_another_wording_that_changes_the_reply_is_told_apart_from_unsteadiness() -> None:
    run = written(
        lambda call: {"outcome": "answered", "value": float(call.paraphrase % 2)},
        sections=(QUESTIONNAIRE,),
        instances=10,
    )
    found = questionnaire_of(run, draws=200)
    assert found is not None
    assert found.wording.same.value == 0
    assert known(found.wording.different.value) > 0.4


def test_the_sections_are_those_of_a_run(ask: Ask) -> None:
    run, _ = ask("calibrated")
    assert {call.section for call in run.manifest.plan} == set(SECTIONS)
