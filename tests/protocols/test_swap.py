"""The swap: another model's profile in the place of the own one, and whether it was allowed there."""

import asyncio
import json
import math
from pathlib import Path

import msgspec
import pytest
from made_runs import follower, graded, measured, right, unmoved, written

from selfdiag.battery.items import BINS
from selfdiag.protocols.own_profile import Given, experiment_settings, given_profile, own_profiles
from selfdiag.protocols.profile_file import profile_of
from selfdiag.protocols.profile_signature import MEASURED_HERE, Gate
from selfdiag.protocols.swap import Swap, swap_of, swap_plan
from selfdiag.runs.ladder_plan import OFF, OTHER, OWN
from selfdiag.runs.records import SWAP, Provenance, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run
from selfdiag.safety import SelfdiagError

REVERSED = {name: 90 - 4 * rank for rank, name in enumerate(BINS)}
"""The profile of a model that is good at what the model of these tests is bad at."""


UNSIGNED = Gate(state="unsigned", note="nobody vouches for it")


def given(accuracy: dict[str, int | None] | None = None, measured: Provenance | None = None) -> Given:
    values = REVERSED if accuracy is None else accuracy
    return Given(accuracy=values, origin="measured of other:model", gate=UNSIGNED, measured=measured)


def swapped(tmp_path: Path, reply, other: Given | None = None, **more: object) -> Run:
    run = measured(tmp_path / "measured")
    chosen = experiment_settings(run, SWAP)
    return written(swap_plan(chosen, run, other or given(), **more), chosen, reply, tmp_path / "swap")


def result(run: Run) -> Swap:
    return swap_of(run, draws=400)


def test_the_other_profile_stands_in_the_own_slot(tmp_path: Path) -> None:
    run = swapped(tmp_path, unmoved)
    plan = run.manifest.plan
    assert len(plan) == 294 * 3 and {call.arm for call in plan} == {OFF, OWN, OTHER}
    own = own_profiles(read_run(tmp_path / "measured"), BINS)
    for call in plan:
        system = run.manifest.systems[run.manifest.prompts[call.prompt].system]
        values = REVERSED if call.arm == OTHER else own.values[own.half[call.item_id]]
        shown = "n/a" if call.arm == OFF else f"{values['history']}%"
        assert f"- history: {shown}\n" in system
    other = next(profile for profile in run.manifest.injected if profile.arm == OTHER)
    assert (other.half, other.gate) == (None, "unsigned: nobody vouches for it")


def test_both_profiles_speak_of_the_topics_that_both_know(tmp_path: Path) -> None:
    run = swapped(tmp_path, unmoved, given({**REVERSED, "logic": None, "gardening": 12}))
    for profile in run.manifest.injected:
        assert profile.values["logic"] is None
        assert set(profile.values) == set(BINS)
    assert not any("gardening" in system for system in run.manifest.systems.values())


def test_too_few_shared_topics_are_refused(tmp_path: Path) -> None:
    run = measured(tmp_path / "measured", battery="standard")
    chosen = experiment_settings(run, SWAP)
    with pytest.raises(SelfdiagError, match="share 3 topics, a swap needs 4: measure both models on the same battery"):
        swap_plan(chosen, run, given({"logic": 1, "physics": 2, "history": 3, "algebra": None}))
    swap_plan(chosen, run, given({"logic": 1, "physics": 2, "history": 3, "algebra": 4}))
    with pytest.raises(SelfdiagError, match="holds no swap"):
        swap_of(run)


def test_a_run_cannot_be_swapped_with_itself(tmp_path: Path) -> None:
    run = measured(tmp_path / "measured", battery="standard")
    chosen = experiment_settings(run, SWAP)
    with pytest.raises(SelfdiagError, match="was measured in the run measured, which gives the own one too"):
        swap_plan(chosen, run, given_profile(profile_of(run), MEASURED_HERE))


@pytest.mark.parametrize(
    ("model", "digest", "other_digest", "same"),
    [
        ("openai:made-up", "", "", True),
        ("openai:alias", "sha256:ab", "sha256:ab", True),
        ("openai:alias", "", "", False),
        ("openai:alias", "sha256:ab", "sha256:cd", False),
    ],
)
def test_two_profiles_of_one_model_are_told(
    tmp_path: Path, model: str, digest: str, other_digest: str, same: bool
) -> None:
    run = measured(tmp_path / "measured", battery="standard")
    named = msgspec.structs.replace(run.manifest.model, digest=digest)
    run = msgspec.structs.replace(run, manifest=msgspec.structs.replace(run.manifest, model=named))
    other = Provenance(run_id="elsewhere", model=model, digest=other_digest, fewest=6)
    chosen = experiment_settings(run, SWAP)
    found = result(written(swap_plan(chosen, run, given(measured=other)), chosen, unmoved, tmp_path / "swap"))
    assert any("both profiles are of one model" in note for note in found.notes) is same
    assert (found.measured_run, found.other_run) == ("measured", "elsewhere")


def test_a_swap_with_what_nobody_knows_the_origin_of_is_no_fault(tmp_path: Path) -> None:
    found = result(swapped(tmp_path, unmoved))
    assert (found.other_run, found.notes) == ("", ())


def test_a_model_that_states_its_profile_loses_by_the_wrong_one(tmp_path: Path) -> None:
    found = result(swapped(tmp_path, follower))
    arms = {arm.arm: arm for arm in found.arms}
    assert arms[OWN].auroc.value == found.ceilings[OWN].injected.value > 0.6
    assert arms[OTHER].auroc.value == found.ceilings[OTHER].injected.value < 0.4
    by_pair = {(one.arm, one.against): one.measures for one in found.contrasts}
    assert set(by_pair) == {(OTHER, OWN), (OWN, OFF), (OTHER, OFF)}
    lost = by_pair[OTHER, OWN]["auroc"].difference
    assert lost.value == pytest.approx(arms[OTHER].auroc.value - arms[OWN].auroc.value)
    assert lost.ci[1] < 0 and lost.n == 294
    assert by_pair[OTHER, OWN]["brier"].difference.ci[0] > 0
    assert by_pair[OTHER, OWN]["accuracy"].difference.value == 0
    assert found.consumption.ci[0] > 0.5
    assert found.sentence == (
        "Under the other model's profile its confidence tells right from wrong worse than under its own."
    )
    assert [arm.arm for arm in found.arms] == ["off", "own", "other"]
    assert found.power_note.startswith("294 items at ")
    shown = {(one.arm, one.half): one for one in found.profiles}
    assert shown[OTHER, 0].pearson < -0.5 and shown[OTHER, 1].pearson < -0.5


def test_a_model_that_ignores_profiles_is_not_moved(tmp_path: Path) -> None:
    found = result(swapped(tmp_path, unmoved, replicates=2, labelled=False))
    assert {one.measures["auroc"].difference.value for one in found.contrasts} == {0.0}
    assert not found.labelled and found.rows == 588 and found.items == 294
    assert found.consumption.value is None
    assert "is not shown to tell right from wrong any better or worse than under its own" in found.sentence


def test_an_incomplete_swap_says_so(tmp_path: Path) -> None:
    found = result(swapped(tmp_path, lambda call, probe: None))
    assert "incomplete: 882 of 882 calls not asked, 0 ended in an error" in found.notes
    assert found.arms[0].auroc.value is None
    assert found.sentence.startswith("No answer: AUROC")
    json.loads(msgspec.json.encode(found))


def test_the_profile_of_a_run_can_be_swapped_in(tmp_path: Path) -> None:
    def asked(name: str, settings: RunSettings, plan=None) -> Run:
        session = Session(settings, folder=tmp_path / name, plan=plan)

        async def ask() -> None:
            async for _ in session.events():
                pass

        asyncio.run(ask())
        return read_run(session.folder)

    runs = [
        asked(name, RunSettings(model=f"persona:{name}", battery="standard", sections=("probes",)))
        for name in ("suggestible", "calibrated")
    ]
    chosen = experiment_settings(runs[0], SWAP)
    plan = swap_plan(chosen, runs[0], given_profile(profile_of(runs[1]), MEASURED_HERE))
    found = result(asked("swap", chosen, plan))
    other = next(profile for profile in found.profiles if profile.arm == OTHER)
    assert other.gate == str(MEASURED_HERE)
    assert f"measured of persona:calibrated (simulated) in run {runs[1].manifest.run_id} (simulated: " in other.origin
    assert (found.measured_run, found.other_run) == tuple(run.manifest.run_id for run in runs)
    assert found.arms[2].auroc.value == found.ceilings[OTHER].injected.value
    assert found.model.simulated


def test_percentages_are_rounded_half_up(tmp_path: Path) -> None:
    own = own_profiles(measured(tmp_path / "run", lambda call, probe: (graded(probe), 50)), BINS)
    values = {value for half in own.values for value in half.values()}
    assert values <= {math.floor(100 * hits / 7 + 0.5) for hits in range(8)}
    assert any(right(probe) for probe in read_run(tmp_path / "run").manifest.drawn.probes)
