"""How an audit was asked: its settings as rows, its manifest in full, and the command that asks the same again."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

import msgspec

from selfdiag.protocols.audit import structured_mode
from selfdiag.protocols.summary import Summary
from selfdiag.report import words
from selfdiag.runs.records import FREE, Manifest, RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

_COUNTED = ("drawn", "check", "assessed", "injected", "looked_up", "prompts", "plan", "systems", "sessions")
"""Parts of a manifest that are too long for a row."""
_NONE = "none"


def method_rows(run: Run, summary: Summary) -> list[tuple[str, str]]:
    """Return what was asked, of whom and how, as pairs of a setting and its value; foreign text as it came."""
    manifest, settings = run.manifest, run.manifest.settings
    sessions = manifest.sessions
    at_once = ", ".join(dict.fromkeys(one.concurrency or "unknown" for one in sessions))
    return [
        ("run", manifest.run_id),
        ("model", settings.model),
        ("answered as", manifest.model.served_name or "unknown"),
        ("asked at", _where(manifest)),
        ("digest", manifest.model.digest or "unknown"),
        *((name.replace("_", " "), said) for name, said in manifest.model.details.items()),
        (
            "battery",
            f"{manifest.battery.id} {manifest.battery.version}, draw {settings.battery}, seed {settings.seed}",
        ),
        ("battery SHA-256", manifest.battery.sha256),
        ("JSON schema", structured_mode(run)),
        ("example in the prompt", "none" if settings.example is None else str(settings.example)),
        ("temperature", f"{settings.temperature:g}"),
        ("thinking", settings.think),
        ("calls at once", at_once or "unknown"),
        ("longest reply", f"{manifest.max_tokens} tokens"),
        *_cost(summary),
        ("started", sessions[0].started if sessions else "unknown"),
        ("selfdiag", manifest.selfdiag),
        ("software", ", ".join(f"{name} {version}" for name, version in manifest.versions.items())),
    ]


def run_start(manifest: Manifest) -> datetime | None:
    """Return when a run began, in UTC, or None where its manifest does not say."""
    if not manifest.sessions:
        return None
    return datetime.fromisoformat(manifest.sessions[0].started).astimezone(UTC)


def manifest_rows(manifest: Manifest) -> list[tuple[str, str]]:
    """Return a manifest as pairs of a name and a value; long parts are counted, foreign text is as it came."""
    rows = []
    for field in msgspec.structs.fields(manifest):
        value = getattr(manifest, field.name)
        if field.name not in _COUNTED:
            rows += _flat(field.name, msgspec.to_builtins(value))
    drawn = manifest.drawn
    rows += [
        ("drawn", f"{words.several(len(drawn.probes), 'probe')}, {words.several(len(drawn.traps), 'trap')}"),
        ("drawn.sha256", drawn.sha256()),
        ("check", words.several(len(manifest.check), "probe")),
        ("plan", words.several(len(manifest.plan), "call")),
        ("prompts", words.several(len(manifest.prompts), "text")),
    ]
    for place, stretch in enumerate(manifest.sessions):
        rows += _flat(f"sessions.{place}", msgspec.to_builtins(stretch))
    return rows


def again(settings: RunSettings) -> str:
    """Return the command that asks the same again: every setting that is not the default."""
    command = ["selfdiag", "run", settings.model]
    for field in msgspec.structs.fields(RunSettings):
        value = getattr(settings, field.name)
        if field.name == "model" or field.name in FREE or value == field.default:
            continue
        option = f"--{field.name.replace('_', '-')}"
        if value is True:
            command.append(option)
        else:
            command += [option, ",".join(value) if isinstance(value, tuple) else str(value)]
    return one_line(shlex.join(command), 2000)


def _flat(name: str, value: object) -> list[tuple[str, str]]:
    """Return a value as rows, one for each of its innermost ones."""
    if isinstance(value, dict) and value:
        return [row for key, inner in value.items() for row in _flat(f"{name}.{key}", inner)]
    if isinstance(value, list | tuple):
        return [(name, ", ".join(map(str, value)) or _NONE)]
    if isinstance(value, bool):
        return [(name, "yes" if value else "no")]
    return [(name, _NONE if value is None or value in ("", {}) else str(value))]


def _where(manifest: Manifest) -> str:
    model = manifest.model
    if model.remote:
        return f"{model.place() or 'a remote server'} (another machine)"
    return f"{model.server} (this machine)" if model.server else "this machine"


def _cost(summary: Summary) -> list[tuple[str, str]]:
    usage = summary.usage
    if usage is None:
        return []
    return [("calls", f"{usage.calls}, {usage.retries} repeated"), ("time", words.duration(usage.seconds))]
