"""A measured competence profile as a file: accuracy by topic, of which model, on which battery."""

from __future__ import annotations

import json
import stat
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from selfdiag.models.base import ModelInfo
from selfdiag.protocols.measured_accuracy import first_grades, grades_by_topic, percent_right
from selfdiag.runs.records import BatteryInfo
from selfdiag.runs.store import Run, replace_file
from selfdiag.safety import SelfdiagError, literal, one_line

SCHEMA = "selfdiag.profile/1"
LARGEST = 1_000_000
"""The most bytes of a file that is read here; a profile of the shipped battery has about 1,500."""
LONGEST_BIN = 60
"""The most characters of a topic's name, which stands in a prompt."""
LONGEST_TEXT = 400

T = TypeVar("T")

Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]
Graded = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]


class ProfileBattery(BatteryInfo, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which battery the accuracy was measured on: its id, version and SHA-256 as a whole."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model was measured to know, by topic.

    ``model`` is PROVIDER:NAME, ``served_name`` and ``digest`` are what its server says of it (empty when unknown),
    ``simulated`` whether a script wrote the replies. ``measured_at`` is when the run ended, ISO 8601 with a zone, and
    ``selfdiag`` the version that measured. ``accuracy`` is in whole percent, None where no answer was graded; ``n`` is
    the number of items with a graded answer. ``note`` says what must be known of the run, such as that it is
    incomplete.

    No field has a default, so that a file which lacks one is refused.
    """

    schema: str
    model: str
    served_name: str
    digest: str
    simulated: bool
    run_id: str
    battery: ProfileBattery
    measured_at: str
    selfdiag: str
    accuracy: dict[str, Percent | None]
    n: dict[str, Graded]
    note: str


def profile_of(run: Run) -> Profile:
    """Return the profile that a run has measured, for every topic it drew items of.

    Accuracy is the share of its probes that are right, of those that are graded; of several wordings of an item the
    first graded one counts.

    Args:
        run: manifest and records; an incomplete run gives a profile whose note says so.

    Raises:
        SelfdiagError: when no answer to a probe was graded, or a topic's name cannot stand in a profile.
    """
    from selfdiag.protocols.audit import standing  # loads the measures, which reading a profile does without

    manifest = run.manifest
    graded = grades_by_topic(manifest.drawn.probes, first_grades(run), manifest.drawn.bins())
    shown = one_line(manifest.run_id, 60)
    if not any(graded.values()):
        raise SelfdiagError(f"the run {shown} has no graded answer to a probe, so there is no accuracy to export")
    stretch = manifest.sessions[-1] if manifest.sessions else None
    profile = Profile(
        schema=SCHEMA,
        model=one_line(full_name(manifest.model), LONGEST_TEXT),
        served_name=one_line(manifest.model.served_name),
        digest=one_line(manifest.model.digest),
        simulated=manifest.model.simulated,
        run_id=one_line(manifest.run_id),
        battery=ProfileBattery(
            id=one_line(manifest.battery.id),
            version=one_line(manifest.battery.version),
            sha256=one_line(manifest.battery.sha256),
        ),
        measured_at=(stretch.ended or stretch.started) if stretch else "",
        selfdiag=one_line(manifest.selfdiag),
        accuracy={name: percent_right(found) for name, found in graded.items()},
        n={name: len(found) for name, found in graded.items()},
        note=one_line("; ".join(standing(run)), LONGEST_TEXT),
    )
    try:
        _check(profile)
    except ValueError as error:
        raise SelfdiagError(f"the run {shown} cannot become a profile: {error}") from None
    return profile


def full_name(model: ModelInfo) -> str:
    """Return a model as PROVIDER:NAME."""
    return f"{model.provider}:{model.name}"


def canonical(profile: Profile) -> bytes:
    """Return the bytes that are signed: JSON in UTF-8 with sorted keys and without blanks."""
    return msgspec.json.encode(profile, order="sorted")


def read_profile(path: Path) -> Profile:
    """Return the profile of a file.

    Raises:
        SelfdiagError: when the file cannot be read, is larger than ``LARGEST``, or is not a profile in every detail.
    """
    data = read_bounded(path)
    try:
        profile = decode_exactly(data, Profile, SCHEMA)
        _check(profile)
    except ValueError as error:
        raise SelfdiagError(f"{one_line(str(path))} is not a profile: {error}") from None
    return profile


def write_profile(path: Path, profile: Profile) -> None:
    """Write a profile as indented JSON, in one step.

    Raises:
        SelfdiagError: when the place cannot be written.
    """
    try:
        replace_file(path, msgspec.json.format(msgspec.json.encode(profile), indent=2) + b"\n")
    except OSError as error:
        raise SelfdiagError(f"{one_line(str(path))} cannot be written ({error.strerror})") from None


def read_bounded(path: Path) -> bytes:
    """Return the bytes of a regular file of at most ``LARGEST`` bytes.

    Raises:
        SelfdiagError: when it is not there, is no regular file, is too large, or cannot be read.
    """
    shown = one_line(str(path))
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device would be read without end
            raise SelfdiagError(f"{shown} is not a regular file")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise SelfdiagError(f"{shown} cannot be read ({error.strerror})") from None
    if len(data) > LARGEST:
        raise SelfdiagError(f"{shown} is larger than {LARGEST:,} bytes, which no file of this kind is")
    return data


def decode_exactly(data: bytes, shape: type[T], schema: str) -> T:
    """Return a JSON document that every reader reads alike: no key stands twice, no field is unknown or left out.

    Args:
        data: the document in UTF-8.
        shape: a Struct that forbids unknown fields and has no defaults.
        schema: what the document's field of that name must be.

    Raises:
        ValueError: with the fault in a few words, harmless to show.
    """
    try:
        text = data.decode("utf-8")
        document = json.loads(text, object_pairs_hook=_each_once)
        if isinstance(document, dict) and document.get("schema", schema) != schema:
            written = one_line(str(document["schema"]), 60)
            raise ValueError(f"it was written as {written!r}, this selfdiag reads {schema!r}")
        return msgspec.json.decode(text, type=shape)
    except UnicodeDecodeError:
        raise ValueError("it is not text in UTF-8") from None
    except RecursionError:
        raise ValueError("it is too deeply nested") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON (line {error.lineno}: {one_line(error.msg, 80)})") from None
    except msgspec.DecodeError as error:
        raise ValueError(one_line(str(error), 120)) from None


def is_plain_line(text: str, longest: int) -> bool:
    """Return whether a text is one line of at most ``longest`` visible characters, with single blanks at most."""
    return len(text) <= longest and literal(text) == text and " ".join(text.split()) == text


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the name {one_line(name, 60)!r} stands twice")
    return document


def _check(profile: Profile) -> None:
    """Raise ``ValueError`` when a profile's parts do not fit each other, or a text is more than one plain line."""
    fields: dict[str, Any] = msgspec.structs.asdict(profile)
    fields |= {f"battery.{name}": text for name, text in msgspec.structs.asdict(profile.battery).items()}
    for name, value in fields.items():
        if isinstance(value, str) and not is_plain_line(value, LONGEST_TEXT):
            raise ValueError(f"its {name} is not one plain line of at most {LONGEST_TEXT} characters")
    if not profile.accuracy:
        raise ValueError("it names no topic")
    for topic in (*profile.accuracy, *profile.n):
        if not topic or not is_plain_line(topic, LONGEST_BIN):
            what = f"one plain line of 1 to {LONGEST_BIN} characters"
            raise ValueError(f"the topic {one_line(topic, LONGEST_BIN)!r} is not {what}")
        if topic not in profile.accuracy or topic not in profile.n:
            raise ValueError(f"the topic {topic!r} stands in one of accuracy and n alone")
        if (profile.accuracy[topic] is None) != (profile.n[topic] == 0):
            raise ValueError(f"the topic {topic!r} must have an accuracy exactly when it has graded answers")
    try:
        zone = datetime.fromisoformat(profile.measured_at).tzinfo
    except ValueError:
        zone = None
    if zone is None:
        raise ValueError("its measured_at is not a time with a zone, as in 2026-01-31T12:00:00Z")
