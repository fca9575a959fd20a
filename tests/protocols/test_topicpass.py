"""The topic pass: a false profile, with and without the topic's name, and what it does to the confidence."""

import asyncio
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from made_runs import follower, graded, measured, right, unmoved, written

from selfdiag.battery.items import BINS, Probe
from selfdiag.battery.load import shipped
from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.measured_accuracy import whole
from selfdiag.protocols.own_profile import Given, experiment_settings
from selfdiag.protocols.profile_signature import Gate
from selfdiag.protocols.topicpass import (
    TopicPass,
    measured_topicpass,
    pass_sentence,
    reversed_ranks,
    topicpass_of,
    topicpass_plan,
)
from selfdiag.runs.ladder_plan import FALSE, TRUE
from selfdiag.runs.records import TOPICPASS, PlannedCall, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError

UNSIGNED = Gate(state="unsigned", note="nobody vouches for it")


def passed(tmp_path: Path, reply, *, per_topic: int = 1, name: str = "pass", **settings: object) -> Run:
    run = measured(tmp_path / f"{name}-measured", **{"battery": "standard", **settings})
    chosen = experiment_settings(run, TOPICPASS)
    return written(measured_topicpass(chosen, run, per_topic=per_topic), chosen, reply, tmp_path / name)


def result(run: Run) -> TopicPass:
    return topicpass_of(run, draws=400)


# Plans.


def test_reversing_the_ranks_makes_strong_topics_look_weak() -> None:
    values = {"a": 10, "b": 90, "c": 50, "d": 70}
    assert reversed_ranks(values, 0) == {"a": 90, "b": 10, "c": 70, "d": 50}
    tied = {name: 50 if name < "e" else 100 for name in "abcdef"}
    for seed in range(5):
        made = reversed_ranks(tied, seed)
        assert sorted(made.values()) == sorted(tied.values())
        assert made["e"] == made["f"] == 50
    assert len({tuple(sorted(reversed_ranks(tied, seed).items())) for seed in range(20)}) > 1


def test_the_items_are_not_behind_the_profile(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", battery="standard")
    drawn = {probe.id for probe in run.manifest.drawn.probes}
    chosen = experiment_settings(run, TOPICPASS)
    for per_topic in (1, 8):
        plan = measured_topicpass(chosen, run, per_topic=per_topic)
        assert len(plan.check) == 21 * per_topic and len(plan.calls) == 84 * per_topic
        assert not drawn & {probe.id for probe in plan.check}
        assert {probe.bin for probe in plan.check} == set(BINS)
    # nine of fourteen: three of a topic must be the run's own, and leave the profile
    plan = measured_topicpass(chosen, run, per_topic=11)
    asked = {probe.id for probe in plan.check}
    assert len(asked) == 231 and len(asked & drawn) == 63
    behind = [probe for probe in run.manifest.drawn.probes if probe.bin == "logic" and probe.id not in asked]
    true = next(profile for profile in plan.injected if profile.arm == TRUE)
    assert len(behind) == 3
    assert true.values["logic"] == whole(100 * sum(map(right, behind)) / 3)
    full = measured(tmp_path / "full")
    plan = measured_topicpass(experiment_settings(full, TOPICPASS), full)
    behind = [probe for probe in shipped().probes if probe.bin == "logic" and probe not in plan.check]
    true = next(profile for profile in plan.injected if profile.arm == TRUE)
    assert len(behind) == 13
    assert true.values["logic"] == whole(100 * sum(map(right, behind)) / 13)


def test_every_item_is_asked_in_four_ways_that_differ_in_numbers_and_label(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", battery="standard")
    plan = measured_topicpass(experiment_settings(run, TOPICPASS), run)
    ways: dict[str, set[tuple[str, bool]]] = {}
    for call in plan.calls:
        ways.setdefault(call.item_id, set()).add((call.arm, call.labelled))
        assert call.section == TOPICPASS
    assert set(map(len, ways.values())) == {4}
    assert len(plan.systems) == 2
    true, false = (next(p.values for p in plan.injected if p.arm == arm) for arm in (TRUE, FALSE))
    assert sorted(true.values()) == sorted(false.values())
    assert np.corrcoef(list(true.values()), list(false.values()))[0, 1] < -0.8
    order = [(call.arm, call.labelled) for call in plan.calls]
    assert order != sorted(order)


def test_a_topic_without_a_value_is_left_out(tmp_path: Path) -> None:
    run = measured(
        tmp_path / "run",
        lambda call, probe: ("refused" if probe.bin == "logic" else graded(probe), 50),
        battery="standard",
    )
    plan = measured_topicpass(experiment_settings(run, TOPICPASS), run)
    assert {probe.bin for probe in plan.check} == set(BINS) - {"logic"}
    assert all(profile.values["logic"] is None for profile in plan.injected)


def test_a_profile_of_any_origin_can_be_reversed() -> None:
    given = Given(accuracy={"logic": 20, "physics": 80}, origin="a book", gate=UNSIGNED)
    probes = [probe for probe in shipped().probes if probe.bin in {"logic", "physics", "history"}]
    plan = topicpass_plan(RunSettings(model="openai:m"), given, shipped(), probes)
    assert {probe.bin for probe in plan.check} == {"logic", "physics"}
    true, false = plan.injected
    assert (true.origin, true.gate, true.measured) == ("a book", "unsigned: nobody vouches for it", None)
    assert (false.values["logic"], false.values["physics"], false.values["history"]) == (80, 20, None)


def test_it_is_refused_in_plain_words(tmp_path: Path) -> None:
    flat = measured(tmp_path / "flat", lambda call, probe: ("correct", 50), battery="standard")
    with pytest.raises(SelfdiagError, match="the true one is the same in every topic; measure more items"):
        measured_topicpass(experiment_settings(flat, TOPICPASS), flat)
    with pytest.raises(SelfdiagError, match="no item is left"):
        topicpass_plan(RunSettings(model="openai:m"), Given(accuracy={}, origin="", gate=UNSIGNED), shipped(), [])
    with pytest.raises(SelfdiagError, match="holds no topic pass"):
        topicpass_of(flat)


# Results.


def claims(run: Run) -> dict[str, tuple[int, int]]:
    """The true and the false claim for each item."""
    found: dict[str, dict[str, int]] = {}
    for call in run.manifest.plan:
        found.setdefault(call.item_id, {})[call.arm] = call.claim
    return {item: (arms[TRUE], arms[FALSE]) for item, arms in found.items()}


def test_a_model_that_follows_claims_is_seen(tmp_path: Path) -> None:
    run = passed(tmp_path, follower)
    found = result(run)
    pairs = claims(run)
    probes = {probe.id: probe for probe in run.manifest.check}
    moved = [abs(false - true) for true, false in pairs.values() if true != false]
    for figures in (found.labelled, found.unlabelled):
        assert figures.shift.value == pytest.approx(np.mean([false - true for true, false in pairs.values()]))
        assert figures.followed.value == pytest.approx(np.mean(moved))
        assert (figures.shift.n, figures.followed.n) == (21, len(moved))
        expected = np.mean(
            [
                (false / 100 - right(probes[item])) ** 2 - (true / 100 - right(probes[item])) ** 2
                for item, (true, false) in pairs.items()
            ]
        )
        assert figures.brier.value == pytest.approx(expected)
        assert figures.brier.ci[0] < expected < figures.brier.ci[1]
        assert figures.accuracy.value == 0 and figures.induced.value == 0
    assert found.association.value == 0
    assert found.sentence == (
        "Its confidence follows the false profile, with the topic's name and without it; a difference between the two "
        "is not shown."
    )
    assert found.items == 21 and found.notes == () and not found.too_few
    assert found.measured_run == "pass-measured"


def test_a_model_that_needs_the_topics_name_is_told_apart(tmp_path: Path) -> None:
    def needs_name(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return follower(call, probe) if call.labelled else (graded(probe), 60)

    found = result(passed(tmp_path, needs_name))
    assert found.labelled.followed.ci[0] > 10
    assert found.unlabelled.followed.value == 0
    assert found.association.value == pytest.approx(found.labelled.followed.value)
    assert found.association.ci[0] > 10
    assert found.sentence == (
        "Its confidence follows the false profile where the question names its topic; without the name that is not "
        "shown; it follows more with the name than without."
    )


def test_a_model_that_ignores_it_and_one_that_goes_against_it(tmp_path: Path) -> None:
    found = result(passed(tmp_path, unmoved, name="unmoved"))
    assert found.labelled.shift.value == found.labelled.brier.value == 0
    assert found.sentence == "It is not shown that its confidence follows the false profile."

    def contrary(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return graded(probe), 100 - call.claim

    against = result(passed(tmp_path, contrary, name="against"))
    assert against.labelled.followed.ci[1] < 0
    assert against.sentence.startswith("Its confidence moves against the false profile, with the topic's name and ")


def test_a_model_that_copies_a_number_moves_but_not_with_the_topic(tmp_path: Path) -> None:
    def copies(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return graded(probe), 100 if call.arm == FALSE else 17

    found = result(passed(tmp_path, copies))
    assert found.labelled.shift.value == 83 and found.labelled.followed.ci[0] < 0 < found.labelled.followed.ci[1]
    assert found.sentence == "Its confidence moves, but not with the topic."


def estimated(value: float, low: float, high: float, n: int = 20) -> Estimate:
    return Estimate(value=value, ci=(low, high), n=n)


UP, DOWN, OPEN = estimated(9, 1, 17), estimated(-9, -17, -1), estimated(4, -2, 10)
FEW = estimated(9, 1, 17, n=15)


WITH = "follows the false profile where the question names its topic; without the name"
WITHOUT = "follows the false profile where the question does not name its topic; with the name"
NOT_SHOWN = "It is not shown that its confidence follows the false profile"
MORE, LESS = ("it follows more with the name than without.", "it follows less with the name than without.")
NO_DIFFERENCE = "a difference between the two is not shown."


@pytest.mark.parametrize(
    ("named", "bare", "association", "said"),
    [
        # one shown and one not is no difference between them
        (UP, OPEN, OPEN, f"{WITH} that is not shown; {NO_DIFFERENCE}"),
        (OPEN, UP, OPEN, f"{WITHOUT} that is not shown; {NO_DIFFERENCE}"),
        (OPEN, UP, DOWN, f"{WITHOUT} that is not shown; {LESS}"),
        (UP, DOWN, UP, f"{WITH} it moves against the false profile; {MORE}"),
        (UP, UP, UP, f"with the topic's name and without it; {MORE}"),
        (OPEN, OPEN, UP, f"{NOT_SHOWN}; {MORE}"),
        (OPEN, OPEN, OPEN, f"{NOT_SHOWN}."),
        (UP, FEW, FEW, f"{WITH} that is not shown; a difference between the two cannot be said from 15 readings."),
        (FEW, UP, UP, "and 16 are needed: ask more of each topic (--items-per-topic)."),
    ],
)
def test_a_difference_between_the_passes_is_told_by_their_paired_difference_alone(
    tmp_path: Path, named: Estimate, bare: Estimate, association: Estimate, said: str
) -> None:
    found = result(passed(tmp_path, unmoved))
    passes = (
        msgspec.structs.replace(figures, followed=followed)
        for figures, followed in ((found.labelled, named), (found.unlabelled, bare))
    )
    assert pass_sentence(20, *passes, association).endswith(said)


def test_silence_and_changed_answers_are_counted(tmp_path: Path) -> None:
    def shy(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        if call.labelled and call.claim < 35:
            return "abstained", 90
        if not call.labelled and call.arm == FALSE:
            return "incorrect", 50
        return graded(probe), 50

    run = passed(tmp_path, shy, per_topic=3)
    found = result(run)
    pairs = claims(run)
    answered = [item for item, (true, _) in pairs.items() if true >= 35]
    silenced = [item for item in answered if pairs[item][1] < 35]
    assert found.labelled.induced.value == pytest.approx(len(silenced) / len(answered))
    assert found.labelled.induced.n == len(answered)
    assert found.labelled.released == sum(true < 35 <= false for true, false in pairs.values()) > 0
    share = sum(map(right, run.manifest.check)) / 63
    assert found.unlabelled.accuracy.value == pytest.approx(-share)
    assert found.unlabelled.accuracy.ci[1] < 0
    assert found.unlabelled.induced.value == 0 and found.unlabelled.induced.ci[1] < 0.07


def test_few_items_and_missing_replies_are_told(tmp_path: Path) -> None:
    run = passed(tmp_path, lambda call, probe: None, bins=BINS[:5], name="none")
    found = result(run)
    assert any("20 of 20 calls not asked" in note for note in found.notes)
    assert found.labelled.followed.value is None
    assert found.too_few
    assert found.sentence.startswith("Too few for a verdict: 0 of 5 items state a confidence under two claims")
    json.loads(msgspec.json.encode(found))


def test_few_readings_of_many_items_are_too_few(tmp_path: Path) -> None:
    def mostly_silent(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return follower(call, probe) if BINS.index(probe.bin) < 6 else ("refused", 50)

    found = result(passed(tmp_path, mostly_silent))
    assert found.items == 21 and found.labelled.followed.n <= 6 and found.too_few
    assert " of 21 items state a confidence" in found.sentence


@pytest.mark.parametrize(("battery", "behind"), [("quick", "2 graded items"), ("standard", "")])
def test_a_true_profile_of_few_items_is_told(tmp_path: Path, battery: str, behind: str) -> None:
    found = result(passed(tmp_path, follower, battery=battery))
    told = [note for note in found.notes if "graded item" in note]
    assert told == (
        [
            f"the true profile has topics with {behind} behind the value, which may be chance: measure more of each "
            "(--battery standard or full)"
        ]
        if behind
        else []
    )


def test_a_suggestible_persona_follows(tmp_path: Path) -> None:
    def asked(session: Session) -> Run:
        async def ask() -> None:
            async for _ in session.events():
                pass

        asyncio.run(ask())
        return read_run(session.folder)

    settings = RunSettings(model="persona:suggestible", battery="standard", sections=("probes",))
    run = asked(Session(settings, folder=tmp_path / "measured"))
    chosen = experiment_settings(run, TOPICPASS)
    found = result(asked(Session(chosen, folder=tmp_path / "pass", plan=measured_topicpass(chosen, run))))
    moved = [abs(false - true) for true, false in claims(read_run(tmp_path / "pass")).values() if true != false]
    assert found.labelled.followed.value == pytest.approx(np.mean(moved))
    assert found.model.simulated
