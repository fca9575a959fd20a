"""What two runs were asked with, and where that differs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from selfdiag.protocols.audit import structured_mode
from selfdiag.runs.records import FREE, RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

CALLS_AT_ONCE = "calls at once"
CONFIDENCE = "confidence"
CHANGE_ANSWERS = (
    "prompt version",
    "JSON schema",
    "example",
    "think",
    "temperature",
    "paraphrase",
    "repeat",
    "longest reply",
    "num ctx",
)
"""Settings that can change an answer or a confidence whatever the model."""
RULES = ("reading rules", "grading rules", "lexicon")
_VERSION_NAMES = {"reading": "reading rules", "grading": "grading rules"}
_SHOWN_OTHERWISE = {"model", "battery", "structured", "max_tokens", "base_url"}


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting or surrounding in which two runs differ; a value is empty where a run does not know it."""

    name: str
    first: str
    second: str


def settings_that_differ(first: Run, second: Run) -> tuple[Setting, ...]:
    """Return every setting and surrounding in which two runs differ."""
    one, other = asked_with(first), asked_with(second)
    return tuple(
        Setting(name=name, first=one.get(name, ""), second=other.get(name, ""))
        for name in dict.fromkeys((*one, *other))
        if one.get(name, "") != other.get(name, "")
    )


def asked_with(run: Run) -> dict[str, str]:
    """Return a run's settings and surroundings in words: the model and where it runs, what is asked, with what."""
    manifest, settings, model = run.manifest, run.manifest.settings, run.manifest.model
    asked = {
        field.replace("_", " "): _word(getattr(settings, field))
        for field in RunSettings.__struct_fields__
        if field not in FREE | _SHOWN_OTHERWISE
    }
    return {
        "model": settings.model,
        "served name": model.served_name,
        "digest": model.digest,
        **{name.replace("_", " "): word for name, word in model.details.items()},
        "asked at": model.server or ("another machine" if model.remote else "this machine"),
        "battery": f"{manifest.battery.id} {manifest.battery.version}",
        "battery SHA-256": manifest.battery.sha256,
        "draw": settings.battery,
        **asked,
        "prompt version": manifest.prompt_version,
        "JSON schema": structured_mode(run),
        "longest reply": f"{manifest.max_tokens} tokens",
        CALLS_AT_ONCE: ", ".join(dict.fromkeys(one.concurrency for one in manifest.sessions if one.concurrency)),
        "selfdiag": manifest.selfdiag,
        "git": manifest.git,
        **{_VERSION_NAMES.get(name, name): version for name, version in manifest.versions.items()},
    }


def settings_notes(differing: tuple[Setting, ...]) -> tuple[str, ...]:
    """Return what the settings that differ mean for the comparison, in plain sentences."""
    found = {setting.name: setting for setting in differing}
    notes = []
    sources = [value.partition(", ")[0] for value in _values(found.get(CONFIDENCE))]
    if len(set(sources)) > 1:
        notes.append(
            f"the confidences are of different sources ({' and '.join(sources)}): measures of confidence compare "
            "these, not the models alone"
        )
    if asked := _named(CHANGE_ANSWERS, found):
        notes.append(f"not asked alike, which may be behind a difference: {asked}")
    if CALLS_AT_ONCE in found:
        notes.append(f"{CALLS_AT_ONCE} ({_both(found[CALLS_AT_ONCE])}): on some servers that changes answers")
    if rules := _named(RULES, found):
        notes.append(
            f"read and graded by other rules: {rules}; 'selfdiag analyze RUN --regrade' says what today's would change"
        )
    return tuple(notes)


def _named(names: tuple[str, ...], found: Mapping[str, Setting]) -> str:
    return ", ".join(f"{name} ({_both(found[name])})" for name in names if name in found)


def _both(setting: Setting) -> str:
    return " and ".join(one_line(value, 60) or "unknown" for value in _values(setting))


def _values(setting: Setting | None) -> tuple[str, ...]:
    return () if setting is None else (setting.first, setting.second)


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "all"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
