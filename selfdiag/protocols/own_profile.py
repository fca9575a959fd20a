"""A model's own measured accuracy by topic, from a run that asked without a profile, as it is put before the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import Battery, Probe
from selfdiag.measure.profiles import cross_fitted
from selfdiag.protocols.audit import structured_mode
from selfdiag.protocols.measured_accuracy import first_grades, whole
from selfdiag.protocols.profile_file import Profile, full_name
from selfdiag.protocols.profile_signature import MEASURED_HERE, Gate
from selfdiag.runs.ladder_plan import OFF, OWN
from selfdiag.runs.plan import battery_of
from selfdiag.runs.records import InjectedProfile, Provenance, RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

Values = dict[str, int | None]
"""Accuracy in whole percent by topic, None for ``n/a``, in the order of the slot's lines."""


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A profile taken to be true: accuracy in percent by topic, where it comes from, and the state of its signature.

    ``measured`` is the run that has measured it, None where that is not known.
    """

    accuracy: Values
    origin: str
    gate: Gate
    measured: Provenance | None = None


class OwnProfiles(msgspec.Struct, frozen=True, kw_only=True):
    """Two profiles of one model, each measured on the items that the other is shown with.

    ``half`` is 0 or 1 by item id; ``values[h]`` is shown with the items of half h and measured on those of the other.
    ``fewest[h]`` is the number of graded items behind the value of it that has the fewest.
    """

    half: dict[str, int]
    values: tuple[Values, Values]
    fewest: tuple[int, int]


def own_profiles(measured: Run, bins: Sequence[str]) -> OwnProfiles:
    """Return the profiles that a run has measured, cross-fitted over its probes and rounded to whole percent.

    An item that was not graded is in a half like any other, and behind no value.

    Args:
        measured: asked its probes without a profile.
        bins: every topic of the battery, in the order of the slot's lines.
    """
    probes = measured_probes(measured)
    grades = first_grades(measured)
    made = cross_fitted(
        [bins.index(probe.bin) for probe in probes],
        [grades.get(probe.id, -1) for probe in probes],
        seed=drawn_seed("halves", measured.manifest.settings.seed),
    )
    first, second = (
        {
            name: None if value is None else whole(value)
            for name, value in zip(bins, _filled(profile, bins), strict=True)
        }
        for profile in made.profiles
    )
    behind, others = made.measured
    return OwnProfiles(
        half={probe.id: half for probe, half in zip(probes, made.half, strict=True)},
        values=(first, second),
        fewest=(fewest(behind), fewest(others)),
    )


def fewest(behind: Iterable[int]) -> int:
    """Return the smallest number of graded items behind a value, of those that have one; 0 when none has."""
    return min((count for count in behind if count), default=0)


def measured_probes(measured: Run) -> tuple[Probe, ...]:
    """Return the probes that a run has measured.

    Raises:
        SelfdiagError: when it has asked none, has not asked all, or none of them was graded.
    """
    run_id = one_line(str(measured.folder), 120)
    calls = [call for call in measured.manifest.plan if call.section == "probes"]
    if not calls:
        raise SelfdiagError(f"the run {run_id} has asked no probes, so it has measured no accuracy: name another run")
    latest = measured.latest()
    if any(call.call_id not in latest for call in calls):
        raise SelfdiagError(
            f"the run {run_id} is not complete, so its accuracy by topic is not known: "
            f"finish it with 'selfdiag run --resume {run_id}'"
        )
    if not first_grades(measured):
        raise SelfdiagError(f"the run {run_id} has no graded answer, so it has measured no accuracy: name another run")
    return measured.manifest.drawn.probes


def off_profiles(own: OwnProfiles) -> list[InjectedProfile]:
    """Return the profiles of the arm that claims nothing."""
    return [
        InjectedProfile(arm=OFF, half=half, values=dict.fromkeys(values), origin="no values")
        for half, values in enumerate(own.values)
    ]


def own_injected(own: OwnProfiles, measured: Run) -> list[InjectedProfile]:
    """Return the own profiles of both halves as they are put before the model."""
    return [
        InjectedProfile(
            arm=OWN,
            half=half,
            values=values,
            origin=f"{origin_of(measured)}, on the other half of the items",
            gate=str(MEASURED_HERE),
            measured=provenance(measured, own.fewest[half]),
        )
        for half, values in enumerate(own.values)
    ]


def battery_behind(measured: Run) -> Battery:
    """Return the whole battery that a run has drawn its items from.

    Raises:
        SelfdiagError: when it is not there any more, or has changed.
    """
    battery, _ = battery_of(measured.manifest.settings)
    if battery.sha256() != measured.manifest.battery.sha256:
        raise SelfdiagError(
            f"the battery {one_line(battery.id, 60)!r} has changed since the run "
            f"{one_line(str(measured.folder), 120)} was made: measure again"
        )
    return battery


def drawn_seed(purpose: str, seed: int, half: int = 0) -> int:
    """Return the seed of one random choice, 0 or more, another for every purpose and half."""
    return SeededOrder(purpose, seed).key(half)


def experiment_settings(measured: Run, section: str) -> RunSettings:
    """Return the settings of an experiment that asks as the measured run did, with the schema mode it came to."""
    mode = structured_mode(measured)
    settings = measured.manifest.settings
    return msgspec.structs.replace(
        settings,
        sections=(section,),
        confidence=("stated",),
        paraphrase="one",
        repeat=1,
        structured=settings.structured if mode == "undecided" else mode,
        judge="",
        judge_base_url="",
    )


def same_model(measured: Run, model: str) -> None:
    """Check that a run was made with a model.

    Raises:
        SelfdiagError: when it asked another one.
    """
    asked = measured.manifest.settings.model
    if asked != model:
        raise SelfdiagError(
            f"the run {one_line(str(measured.folder), 120)} asked {one_line(asked, 80)}, not {one_line(model, 80)}: "
            "a model's own profile is measured on itself"
        )


def origin_of(measured: Run) -> str:
    """Return in plain words where a profile comes from that a run has measured."""
    manifest = measured.manifest
    return _origin(manifest.settings.model, manifest.run_id, simulated=manifest.model.simulated)


def provenance(measured: Run, fewest: int) -> Provenance:
    """Return which run has measured a profile, for the manifest of the run that shows it."""
    manifest = measured.manifest
    return Provenance(
        run_id=manifest.run_id, model=full_name(manifest.model), digest=manifest.model.digest, fewest=fewest
    )


def given_profile(profile: Profile, gate: Gate) -> Given:
    """Return an exported profile as one that can be put before a model, with what its gate has found."""
    origin = _origin(profile.model, profile.run_id, simulated=profile.simulated)
    return Given(
        accuracy=dict(profile.accuracy),
        origin=f"{origin} ({one_line(profile.note, 200)})" if profile.note else origin,
        gate=gate,
        measured=Provenance(
            run_id=profile.run_id, model=profile.model, digest=profile.digest, fewest=fewest(profile.n.values())
        ),
    )


def _origin(model: str, run_id: str, *, simulated: bool) -> str:
    return f"measured of {one_line(model, 80)}{' (simulated)' if simulated else ''} in run {one_line(run_id, 60)}"


def _filled(profile: Sequence[float | None], bins: Sequence[str]) -> list[float | None]:
    """Return a value for each topic: the last ones may have no item, and then no place in the profile."""
    return [*profile, *[None] * (len(bins) - len(profile))]
