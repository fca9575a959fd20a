"""The profile ladder: cross-fitted profiles go in, and what a model was built to do with them comes out."""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from made_runs import follower, graded, measured, right, unmoved, written

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import BINS, Probe
from selfdiag.measure.estimate import Estimate
from selfdiag.models import registry
from selfdiag.models.base import Call, ModelInfo, ProviderError, Reply
from selfdiag.protocols.arms import arms_of, differences
from selfdiag.protocols.ladder import ARMS, Ladder, enough_topics, ladder_of, ladder_plan, own_recognised
from selfdiag.protocols.own_profile import experiment_settings, own_profiles, same_model
from selfdiag.protocols.profile_signature import MEASURED_HERE
from selfdiag.report.arms import excluded_sentence
from selfdiag.report.ladder import standing_sentence
from selfdiag.runs.judging import JudgeSettings
from selfdiag.runs.ladder_plan import OFF, OWN, PLACEBO, SHUFFLED
from selfdiag.runs.plan import Plan
from selfdiag.runs.profile_judging import MANIPULATION, judge_profiles
from selfdiag.runs.records import LADDER, PlannedCall, Provenance, RunSettings
from selfdiag.runs.session import Session, plan_of
from selfdiag.runs.store import Run, RunWriter, read_run
from selfdiag.safety import SelfdiagError

DRAWS = 400


def planned(run: Run, **more: object) -> Plan:
    return ladder_plan(experiment_settings(run, LADDER), run, **more)


def laddered(
    tmp_path: Path, reply, *, first=unmoved, name: str = "ladder", plan: dict | None = None, **settings
) -> Run:
    run = measured(tmp_path / f"{name}-measured", first, **settings)
    made = planned(run, **{"replicates": 1, **(plan or {})})
    return written(made, experiment_settings(run, LADDER), reply, tmp_path / name)


def result(run: Run) -> Ladder:
    return ladder_of(run, draws=DRAWS)


# Profiles.


def test_an_item_is_shown_what_the_other_half_of_its_topic_has_measured(tmp_path: Path) -> None:
    run = measured(tmp_path / "run")
    own = own_profiles(run, BINS)
    probes = run.manifest.drawn.probes
    for half in (0, 1):
        for name in BINS:
            here = [probe for probe in probes if probe.bin == name and own.half[probe.id] == half]
            others = [probe for probe in probes if probe.bin == name and own.half[probe.id] != half]
            assert len(here) == len(others) == 7
            assert own.values[half][name] == math.floor(100 * sum(map(right, others)) / 7 + 0.5)
    flipped = measured(
        tmp_path / "flipped",
        lambda call, probe: ("incorrect" if right(probe) == (probe.id == "logic-03") else "correct", 50),
    )
    again = own_profiles(flipped, BINS)
    assert again.half == own.half
    mine = own.half["logic-03"]
    assert again.values[mine] == own.values[mine]
    assert again.values[1 - mine]["logic"] != own.values[1 - mine]["logic"]


def test_made_up_profiles_are_what_they_promise(tmp_path: Path) -> None:
    plan = planned(measured(tmp_path / "run"))
    values = {(p.arm, p.half): np.array(list(p.values.values()), dtype=np.float64) for p in plan.injected}
    assert set(values) == {(arm, half) for arm in ARMS for half in (0, 1)}
    for half in (0, 1):
        own, placebo, shuffled = (values[arm, half] for arm in (OWN, PLACEBO, SHUFFLED))
        assert np.isnan(values[OFF, half]).all()
        assert abs(placebo.mean() - own.mean()) <= 1 and abs(placebo.std() - own.std()) <= 1
        assert abs(np.corrcoef(placebo, own)[0, 1]) < 0.1
        assert sorted(placebo) != sorted(own)
        assert sorted(shuffled) == sorted(own)
        assert np.corrcoef(shuffled, own)[0, 1] <= -0.3
    assert not np.array_equal(values[PLACEBO, 0], values[PLACEBO, 1])
    for profile in plan.injected:
        if profile.arm != OWN:
            assert profile.measured is None and not profile.gate
            continue
        assert profile.gate == str(MEASURED_HERE) and "run run" in profile.origin
        assert profile.measured == Provenance(run_id="run", model="openai:made-up", fewest=7)


def test_achieved_values_are_computed_from_the_manifest(tmp_path: Path) -> None:
    run = laddered(tmp_path, follower)
    found = {(one.arm, one.half): one for one in result(run).profiles}
    for half in (0, 1):
        own, placebo = (
            np.array(next(list(p.values.values()) for p in run.manifest.injected if (p.arm, p.half) == (arm, half)))
            for arm in (OWN, PLACEBO)
        )
        one = found[PLACEBO, half]
        assert (one.mean, one.sd) == pytest.approx((placebo.mean(), placebo.std()))
        assert one.pearson == pytest.approx(np.corrcoef(own, placebo)[0, 1])
        assert one.unchanged == int((own == placebo).sum())
        assert found[OWN, half].pearson is None and found[OFF, half].mean is None


def test_a_profile_of_few_items_is_told(tmp_path: Path) -> None:
    assert not any("graded item" in note for note in result(laddered(tmp_path, follower, name="full")).notes)
    few = result(laddered(tmp_path, follower, name="quick", battery="quick"))
    told = "the own profile has topics with 1 graded item behind the value, which may be chance: measure more of each "
    assert few.notes.count(f"{told}(--battery standard or full)") == 1


def test_ungraded_items_are_asked_too_and_stand_behind_no_value(tmp_path: Path) -> None:
    def silent_on_some(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return ("abstained" if probe.id.endswith("-01") else graded(probe)), 50

    run = measured(tmp_path / "run", silent_on_some)
    plan = planned(run, replicates=1)
    assert len({call.item_id for call in plan.calls}) == 294
    own = own_profiles(run, BINS)
    behind = [
        probe
        for probe in run.manifest.drawn.probes
        if probe.bin == "history" and own.half[probe.id] == 1 and not probe.id.endswith("-01")
    ]
    assert own.values[0]["history"] == math.floor(100 * sum(map(right, behind)) / len(behind) + 0.5)


def test_the_ladder_asks_as_the_measured_run_did(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", example=85, seed=7, limit=210, max_tokens=99, confidence=("posthoc",))
    settings = experiment_settings(run, LADDER)
    assert (settings.example, settings.seed, settings.max_tokens, settings.structured) == (85, 7, 99, "off")
    assert (settings.sections, settings.confidence) == ((LADDER,), ("stated",))
    plan = planned(run, replicates=3)
    assert len(plan.calls) == 210 * 3 * 4
    assert all('"confidence": 85' in system for system in plan.systems.values())


@pytest.mark.parametrize(
    ("reply", "settings", "words"),
    [
        (lambda call, probe: ("correct", 50), {}, "no ladder.*the same in every bin; .*--battery full.*--hardness"),
        (unmoved, {"bins": ("logic", "physics", "history")}, "needs 4 bins, the own profile has 3; ask more of them"),
        (lambda call, probe: ("refused", None), {}, "has no graded answer"),
        (lambda call, probe: None if probe.bin == "logic" else (graded(probe), 9), {}, "not complete.*run --resume"),
        (
            lambda call, probe: ("correct" if probe.bin != "logic" else "incorrect", 50),
            {"battery": "quick", "bins": ("logic", "physics", "history", "algebra")},
            "none of 5000 candidates.*; measure more items a topic",
        ),
    ],
)
def test_it_is_refused_in_plain_words(tmp_path: Path, reply, settings: dict, words: str) -> None:
    run = measured(tmp_path / "run", reply, **settings)
    with pytest.raises(SelfdiagError, match=words):
        planned(run)


def test_a_run_of_other_things_or_of_another_model_gives_no_profile(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", limit=42)
    with pytest.raises(SelfdiagError, match="asked openai:made-up, not openai:other"):
        same_model(run, "openai:other")
    same_model(run, "openai:made-up")
    ladder = laddered(tmp_path, follower, limit=105)
    with pytest.raises(SelfdiagError, match="has asked no probes"):
        planned(ladder)
    with pytest.raises(SelfdiagError, match="holds no ladder"):
        ladder_of(run)
    changed = msgspec.structs.replace(
        run.manifest, battery=msgspec.structs.replace(run.manifest.battery, sha256="0" * 64)
    )
    with pytest.raises(SelfdiagError, match="has changed since the run"):
        planned(msgspec.structs.replace(run, manifest=changed))


def test_too_few_topics_are_told_before_anything_is_asked() -> None:
    probes = [
        Probe(id=f"{name}{number}", bin=name, difficulty="easy", kind="text", answer="x", questions=("?",))
        for name, count in (("a", 2), ("b", 2), ("c", 2), ("d", 1))
        for number in range(count)
    ]
    with pytest.raises(SelfdiagError, match="needs 4 topics with 2 or more items each, here are 3; ask more"):
        enough_topics(probes)
    enough_topics([*probes, msgspec.structs.replace(probes[-1], id="d1")])


# Results.


def few_wrong(wrong: Callable[[PlannedCall], int]) -> Callable[[PlannedCall, Probe], tuple[str, int]]:
    """Answers all items right but the first few of history, which it is less sure of under its own profile alone."""

    def reply(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        missed = probe.bin == "history" and int(probe.id.rpartition("-")[2]) <= wrong(call)
        return ("incorrect", 20 if call.arm == OWN else 95) if missed else ("correct", 80)

    return reply


def test_a_few_wrong_answers_decide_nothing(tmp_path: Path) -> None:
    run = laddered(tmp_path, few_wrong(lambda call: 4))
    found = result(run)
    why = "no interval: needs 5 items with a wrong answer in each arm, has 4"
    for one in found.contrasts:
        assert (one.by_item.first, one.by_item.second) == (0, 1)
        for contrast in (one.by_item, one.by_batch):
            assert contrast.difference == Estimate(value=1, n=contrast.difference.n, note=why) and contrast.p is None
        assert one.adjusted_p is None and one.excludes is None
    assert found.sentence == f"No answer: own against placebo and off cannot be tested ({why})."
    apart = differences(arms_of(run, LADDER), OFF, OWN, labelled=True, draws=DRAWS)
    assert (apart["auroc"].p, apart["auroc"].difference.ci, apart["auroc"].difference.note) == (None, None, why)
    assert apart["brier"].p is not None
    enough = result(laddered(tmp_path, few_wrong(lambda call: 5), name="enough"))
    assert all(one.by_item.p is not None and one.by_item.p < 0.01 for one in enough.contrasts)
    assert "better than a made-up one, and than none" in enough.sentence


def test_a_contrast_that_cannot_be_tested_leaves_the_family_at_two(tmp_path: Path) -> None:
    found = result(laddered(tmp_path, few_wrong(lambda call: 2 if call.arm == PLACEBO else 8)))
    placebo, off, _ = found.contrasts
    assert placebo.by_item.p is None and placebo.adjusted_p is None
    assert off.by_item.p is not None and off.adjusted_p == pytest.approx(2 * off.by_item.p)
    assert found.sentence == (
        "No answer: own against placebo cannot be tested (no interval: needs 5 items with a wrong answer in each arm, "
        "has 2)."
    )


def test_a_model_that_states_its_profile_reaches_the_ceiling(tmp_path: Path) -> None:
    found = result(laddered(tmp_path, follower))
    arms = {arm.arm: arm for arm in found.arms}
    assert arms[OWN].auroc.value == found.ceiling.injected.value
    assert arms[OWN].auroc.ci == found.ceiling.injected.ci
    assert arms[OFF].auroc.value == 0.5 and arms[OFF].mean_confidence == pytest.approx(55)
    for one in found.contrasts:
        expected = arms[OWN].auroc.value - arms[one.against].auroc.value
        low, high = one.by_item.difference.ci
        assert one.by_item.difference.value == pytest.approx(expected)
        assert low <= found.ceiling.injected.value - arms[one.against].auroc.value <= high
        assert low > 0 and one.by_item.difference.n == 294
    assert {arm.accuracy.value for arm in found.arms} == {sum(map(right, probes_of(found))) / 294}
    assert found.standing.label == "confirmatory" and found.standing.reasons == ()
    assert (found.measured_run, found.notes) == ("ladder-measured", ())
    assert standing_sentence(found).startswith("Confirmatory: 294 items")
    assert "better than a made-up one, and than none" in found.sentence
    for estimate in found.consumption.values():
        assert estimate.ci is not None and estimate.ci[0] > 0.3
    assert found.exploratory[SHUFFLED]["brier"].difference.ci[1] < 0
    assert set(found.exploratory[OFF]) == {"accuracy", "brier"}


def probes_of(found: Ladder) -> list[Probe]:
    from selfdiag.battery.load import shipped

    assert found.items == 294
    return list(shipped().probes)


def test_a_model_that_ignores_profiles_claims_no_effect(tmp_path: Path) -> None:
    found = result(laddered(tmp_path, unmoved))
    assert {arm.auroc.value for arm in found.arms} == {found.arms[0].auroc.value}
    for one in found.contrasts:
        assert one.by_item.difference.value == 0 and one.by_item.p == 1.0
    assert "not shown" in found.sentence
    for estimate in found.consumption.values():
        assert estimate.note == "not defined: its confidence never changed"


def test_noise_in_every_arm_is_no_effect_either(tmp_path: Path) -> None:
    def noisy(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return graded(probe), SeededOrder("noise").pick(101, call.call_id)

    found = result(laddered(tmp_path, noisy))
    for one in found.contrasts:
        low, high = one.by_item.difference.ci
        assert low < 0 < high
        assert one.excludes is not None and not one.excludes.zero
    assert "not shown" in found.sentence
    for estimate in found.consumption.values():
        assert estimate.ci[0] < 0 < estimate.ci[1]


def test_a_fixed_gain_under_any_values_is_not_laid_to_what_they_say(tmp_path: Path) -> None:
    def surer_with_any(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        lead = 25 if call.arm != OFF and right(probe) else 0
        return graded(probe), 30 + lead + SeededOrder("base").pick(45, probe.id, call.arm)

    found = result(laddered(tmp_path, surer_with_any))
    assert "without values, but a made-up profile is not shown to be worse" in found.sentence
    by_name = {one.against: one for one in found.contrasts}
    assert by_name[OFF].adjusted_p < 0.05 < by_name[PLACEBO].adjusted_p
    assert by_name[SHUFFLED].adjusted_p is None


def test_induced_abstentions_are_counted_beside_off(tmp_path: Path) -> None:
    def shy(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        low = call.claim is not None and call.claim < 40
        already = probe.id.endswith("-02")
        return ("abstained" if low or already else graded(probe)), 50

    run = laddered(tmp_path, shy)
    found = result(run)
    for arm in found.arms[1:]:
        calls = [call for call in run.manifest.plan if call.arm == arm.arm]
        answered = [call for call in calls if not call.item_id.endswith("-02")]
        induced = [call for call in answered if call.claim is not None and call.claim < 40]
        assert arm.induced.n == len(answered) == 273
        assert arm.induced.value == pytest.approx(len(induced) / len(answered))
        assert arm.induced.ci[0] < arm.induced.value < arm.induced.ci[1]
        assert arm.abstained > len(induced)
    assert found.arms[0].induced is None and found.arms[0].abstained == 21


def test_no_abstention_at_all_still_has_an_interval(tmp_path: Path) -> None:
    share = result(laddered(tmp_path, follower)).arms[1].induced
    assert share.value == 0 and share.ci[0] == 0 and 0.01 < share.ci[1] < 0.02 and share.method == "Wilson over items"


def test_further_wordings_are_no_further_items(tmp_path: Path) -> None:
    def by_wording(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return graded(probe), SeededOrder("w").pick(101, probe.id, call.arm, call.paraphrase)

    one = result(laddered(tmp_path, by_wording, name="one"))
    run = laddered(tmp_path, by_wording, name="two", plan={"replicates": 2})
    two = result(run)
    assert (one.wordings, two.wordings, two.items, two.rows) == (1, 2, 294, 588)
    assert two.standing.power_note == one.standing.power_note
    assert two.ceiling.injected.n == one.ceiling.injected.n == 294
    assert two.arms[2].accuracy.n == 588 and "draws of items" in two.arms[2].auroc.method
    placebo = two.contrasts[0]
    assert placebo.by_item.difference.n == 294
    batches = {(call.item_id, call.paraphrase): call.batch for call in run.manifest.plan}
    cells = len({(item, batch) for (item, _), batch in batches.items()})
    assert placebo.by_batch.difference.n == cells > 560


def test_a_small_ladder_is_a_demonstration_that_says_what_it_could_see(tmp_path: Path) -> None:
    found = result(laddered(tmp_path, follower, battery="standard", limit=63))
    assert found.standing.label == "demonstration"
    assert "63 probes, not the full 294" in found.standing.reasons
    assert standing_sentence(found).startswith("Demonstration, it confirms nothing: 63 items")
    assert found.standing.smallest_effect == pytest.approx(0.15, abs=0.02)


def test_an_incomplete_ladder_says_so_and_breaks_nothing(tmp_path: Path) -> None:
    half = laddered(tmp_path, lambda call, probe: follower(call, probe) if call.batch < 5 else None, name="part")
    found = result(half)
    missing = sum(call.batch >= 5 for call in half.manifest.plan)
    assert f"incomplete: {missing} of 1176 calls not asked, 0 ended in an error" in found.notes
    assert found.arms[0].rows == sum(call.batch < 5 for call in half.manifest.plan) / 4
    assert found.contrasts[0].by_item.difference.n == found.arms[0].rows

    nothing = result(laddered(tmp_path, lambda call, probe: None, name="nothing"))
    assert nothing.arms[0].rows == 0 and nothing.arms[0].auroc.value is None and nothing.arms[0].auroc.note
    assert nothing.contrasts[0].by_item.difference.value is None
    assert nothing.standing.smallest_effect is None
    assert "No answer" in nothing.sentence
    errors = result(laddered(tmp_path, lambda call, probe: ("error", None), name="errors"))
    assert errors.arms[0].rows == 0
    json.loads(msgspec.json.encode(errors))  # no NaN


def test_the_shuffled_profile_says_when_it_is_too_like_the_own_one(tmp_path: Path) -> None:
    run = laddered(tmp_path, follower)
    assert result(run).notes == ()
    own = {profile.half: profile.values for profile in run.manifest.injected if profile.arm == OWN}
    likened = tuple(
        msgspec.structs.replace(profile, values=own[profile.half]) if profile.arm == SHUFFLED else profile
        for profile in run.manifest.injected
    )
    altered = msgspec.structs.replace(run, manifest=msgspec.structs.replace(run.manifest, injected=likened))
    assert result(altered).notes == tuple(
        f"the shuffled profile of half {half}{what}"
        for half in "AB"
        for what in (
            " correlates +1.00 with the own one, above the -0.30 wanted",
            ": 21 of 21 topics kept their true value by chance",
        )
    )


def test_published_interval_in_words() -> None:
    published = Estimate(value=0.041, ci=(-0.002, 0.086), n=294)
    assert excluded_sentence(published) == (
        "+.041 [-.002, +.086]: the interval holds 0, and excludes gains above .086 and losses above .002."
    )
    above = Estimate(value=0.1, ci=(0.02, 0.18), n=294)
    assert excluded_sentence(above) == "+.100 [+.020, +.180]: the interval excludes 0, and gains above .180."
    below = Estimate(value=-0.1, ci=(-0.18, -0.02), n=294)
    assert excluded_sentence(below) == "-.100 [-.180, -.020]: the interval excludes 0, and losses above .180."
    missing = Estimate(value=None, n=0, note="not defined in one arm")
    assert excluded_sentence(missing) == "– (not defined in one arm): without an interval nothing is excluded."


# Whole runs.


def asked(session: Session) -> Run:
    async def ask() -> None:
        async for _ in session.events():
            pass

    asyncio.run(ask())
    return read_run(session.folder)


def whole(tmp_path: Path, persona: str) -> Run:
    settings = RunSettings(model=f"persona:{persona}", battery="full", sections=("probes",))
    run = asked(Session(settings, folder=tmp_path / "measured"))
    chosen = experiment_settings(run, LADDER)
    return asked(Session(chosen, folder=tmp_path / "ladder", plan=planned(run, replicates=1)))


def test_a_suggestible_persona_shows_what_is_built_into_it(tmp_path: Path) -> None:
    run = whole(tmp_path, "suggestible")
    found = result(run)
    arms = {arm.arm: arm for arm in found.arms}
    ceiling = found.ceiling.injected.value
    assert arms[OWN].auroc.value == ceiling
    (off,) = (one for one in found.contrasts if one.against == OFF)
    low, high = off.by_item.difference.ci
    assert low <= ceiling - arms[OFF].auroc.value <= high
    for estimate in found.consumption.values():
        assert estimate.value > 0.5
    assert found.model.simulated and "simulated" in found.notes[0]
    assert plan_of(run.manifest).injected == run.manifest.injected
    assert result(read_run(run.folder)) == found


def test_a_calibrated_persona_claims_no_effect(tmp_path: Path) -> None:
    found = result(whole(tmp_path, "calibrated"))
    assert len({arm.auroc.value for arm in found.arms}) == 1
    assert all(one.by_item.difference.value == 0 for one in found.contrasts)
    assert "not shown" in found.sentence


# The judge of the manipulation.


class Judge:
    """Takes the list that goes with the first test, or says what it is told to say."""

    takes_schema = True
    max_tokens = 50
    concurrency = 1

    def __init__(self, says: str | Exception = "") -> None:
        self.says = says
        self.calls: list[Call] = []

    async def __aenter__(self) -> "Judge":
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None

    def info(self) -> ModelInfo:
        return ModelInfo(provider="openai", name="judge", served_name="judge-1")

    async def ask(self, call: Call) -> Reply:
        self.calls.append(call)
        if isinstance(self.says, Exception):
            raise self.says
        first, a, b = (
            np.array([int(line.rpartition(" ")[2][:-1]) for line in part.splitlines()[1:]])
            for part in call.user.split("\n\n")
        )
        better = "A" if np.corrcoef(first, a)[0, 1] > np.corrcoef(first, b)[0, 1] else "B"
        return Reply(text=self.says or json.dumps({"answer": better}), served_name="judge-1")


def judged(run: Run, judge: Judge, monkeypatch: pytest.MonkeyPatch) -> Ladder:
    monkeypatch.setattr(registry, "build", lambda model, options: judge)
    asyncio.run(judge_profiles(run.folder, JudgeSettings(model="openai:judge", max_retries=0)))
    return result(read_run(run.folder))


def test_a_judge_that_can_see_it_tells_own_from_shuffled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = laddered(tmp_path, follower)
    before = result(run)
    assert before.recognised is None
    judge = Judge()
    found = judged(run, judge, monkeypatch)
    said = found.recognised
    assert said is not None
    assert (said.model, said.asked, said.own, said.shuffled, said.unread) == ("openai:judge", 4, 4, 0, 0)
    # it changes nothing else
    assert msgspec.structs.replace(found, recognised=None) == before
    lists = [call.user.split("\n\n") for call in judge.calls]
    assert [(one[1][7:], one[2][7:]) for one in lists[:2]] == [
        (lists[1][2][7:], lists[1][1][7:]),
        (lists[0][2][7:], lists[0][1][7:]),
    ]
    for call in judge.calls:
        words = set(f"{call.system} {call.user}".lower().replace(",", " ").split())
        assert not words & {"own", "shuffled", "placebo", "off", "profile", "real", "fake"}
        assert call.schema is not None
    # shown what was measured on the items that the profile was put beside
    shown = {(p.arm, p.half): p.values for p in run.manifest.injected}
    for call, half, kept in zip(lists, (0, 0, 1, 1), (1, 2, 1, 2), strict=True):
        for part, one in ((0, 1 - half), (kept, half)):
            assert call[part].splitlines()[1:] == [f"- {name}: {value}%" for name, value in shown[OWN, one].items()]
    again = judged(run, Judge(), monkeypatch)
    assert again.recognised == said  # the last word counts, not the sum


def test_a_judge_that_cannot_see_it_or_says_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = laddered(tmp_path, follower)
    always_a = judged(run, Judge('{"answer": "A"}'), monkeypatch).recognised
    assert (always_a.own, always_a.shuffled) == (2, 2)
    lost = judged(run, Judge("either could be it"), monkeypatch).recognised
    assert (lost.own, lost.shuffled, lost.unread) == (0, 0, 4)
    assert "4 of 4 opinions of the judge openai:judge could not be read" in result(read_run(run.folder)).notes
    records = [record for record in read_run(run.folder).records if record.section == MANIPULATION]
    assert Counter(record.outcome for record in records) == {"correct": 2, "incorrect": 2, "unparsed": 4}
    assert read_run(run.folder).problems == ()


def test_a_judge_that_cannot_be_asked_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = laddered(tmp_path, follower)
    failing = Judge(ProviderError("unauthorized", "no key"))
    with pytest.raises(SelfdiagError, match="the judge openai:judge cannot be asked: no key") as told:
        judged(run, failing, monkeypatch)
    assert told.value.exit_code == 3
    assert own_recognised(read_run(run.folder)) is None
    with RunWriter.resume(run.folder)[0]:
        pass  # the folder is free again
