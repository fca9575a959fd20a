"""What the reports of experiments with injected profiles share: figures by arm, profiles, and the method."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec

from selfdiag.measure.contrast import Contrast
from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.arms import HALF_NAMES, ArmFigures, ProfileFigures
from selfdiag.protocols.audit import structured_mode
from selfdiag.protocols.summary import SummaryBattery, SummaryModel
from selfdiag.report import words
from selfdiag.report.page import cell, table
from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

MANY_CALLS = 1000
"""More calls than these are made only when the person agrees, or with ``--yes``."""
_ASKED_AGAIN = (
    "battery",
    "seed",
    "fresh",
    "hardness",
    "bins",
    "items",
    "limit",
    "example",
    "structured",
    "base_url",
    "max_tokens",
    "num_ctx",
    "think",
)
"""Settings that the commands of these experiments take as flags of the same name."""


def ends(ci: tuple[float, float] | None, *, sign: bool = False) -> str:
    """Return an interval with three decimals in brackets, or an empty text."""
    if ci is None:
        return ""
    shown = words.signed if sign else words.fraction
    return f"[{shown(ci[0])}, {shown(ci[1])}]"


def with_ends(found: Estimate, *, sign: bool = False) -> str:
    """Return a value with its interval, or with the reason why one of them is missing."""
    shown = words.signed if sign else words.fraction
    if found.value is None or found.ci is None:
        return f"{shown(found.value)} ({one_line(found.note, 120)})" if found.note else shown(found.value)
    return f"{shown(found.value)} {ends(found.ci, sign=sign)}"


def points(value: float | None, *, sign: bool = False) -> str:
    """Return points of a percentage with one decimal, or a dash."""
    if value is None:
        return "–"
    return f"{value + 0.0:+.1f}" if sign else f"{value + 0.0:.1f}"


def points_ends(ci: tuple[float, float] | None) -> str:
    """Return an interval in points in brackets, or an empty text."""
    return "" if ci is None else f"[{points(ci[0], sign=True)}, {points(ci[1], sign=True)}]"


def who_was_asked(model: SummaryModel, battery: SummaryBattery) -> str:
    """Return who was asked and what from, on one line."""
    name = f"{one_line(model.name, 30)}{words.if_simulated(model.simulated)}"
    return f"{name} · {model.provider} · {words.draw_name(battery.draw, 20)} · seed {battery.seed}"


def measured_in(run_id: str) -> str:
    """Return in a sentence which run has measured the model's own accuracy, empty where that is not known."""
    if not run_id:
        return ""
    return f"Its accuracy by topic was measured in run {one_line(run_id, 60)} (--from takes its id, or its folder)."


def arm_lines(arms: Sequence[ArmFigures]) -> list[str]:
    """Return a row of figures for each arm, the interval of its AUROC beside the value."""
    head = ("", "n", "right", "says", "Brier", "ECE", "AUROC", "95 %", "no answer")
    rows = [
        (
            arm.arm,
            str(arm.accuracy.n),
            "–" if arm.accuracy.value is None else f"{100 * arm.accuracy.value:.1f} %",
            points(arm.mean_confidence),
            words.fraction(arm.brier.value),
            words.fraction(arm.ece.value),
            words.fraction(arm.auroc.value),
            ends(arm.auroc.ci) or _short_reason(arm.auroc),
            str(arm.abstained + arm.refused),
        )
        for arm in arms
    ]
    return [_line(row, (10, 6, 9, 7, 7, 7, 7, 16, 11)) for row in (head, *rows)]


def arm_rows(arms: Sequence[ArmFigures]) -> str:
    """Return a Markdown table with every figure of every arm and its interval."""
    head = ["arm", "n", "right", "says", "Brier", "ECE", "AUROC", "abstained", "refused", "not readable", "notes"]
    rows = []
    for arm in arms:
        figures = {"right": arm.accuracy, "Brier": arm.brier, "ECE": arm.ece, "AUROC": arm.auroc}
        why = [f"{name}: {found.note}" for name, found in figures.items() if found.note]
        rows.append(
            [
                arm.arm,
                str(arm.accuracy.n),
                _beside(arm.accuracy),
                points(arm.mean_confidence),
                *map(_beside, (arm.brier, arm.ece, arm.auroc)),
                str(arm.abstained),
                str(arm.refused),
                str(arm.unusable),
                cell("; ".join(why), 400),
            ]
        )
    return table(head, rows)


def induced_row(arm: ArmFigures) -> list[str]:
    """Return how many items an arm silences: counts, and the share of induced abstentions with its interval."""
    found = arm.induced
    shown = "–" if found is None or found.value is None else f"{100 * found.value:.1f} %"
    ci = "" if found is None or found.ci is None else f"[{100 * found.ci[0]:.1f}, {100 * found.ci[1]:.1f}]"
    return [arm.arm, str(arm.abstained), shown, ci, str(found.n if found else 0), cell(found.note if found else "")]


def profile_rows(profiles: Sequence[ProfileFigures]) -> str:
    """Return a Markdown table of what the injected profiles came to."""
    head = ["profile", "half", "topics", "mean", "SD", "Pearson", "Spearman", "as measured", "origin", "signature"]
    rows = [
        [
            cell(found.arm),
            "all" if found.half is None else HALF_NAMES[found.half],
            str(found.topics),
            points(found.mean),
            points(found.sd),
            words.signed(found.pearson) if found.pearson is not None else "",
            words.signed(found.spearman) if found.spearman is not None else "",
            "" if found.unchanged is None else str(found.unchanged),
            cell(found.origin),
            cell(found.gate),
        ]
        for found in profiles
        if found.topics
    ]
    return table(head, rows)


def contrast_row(name: str, found: Contrast) -> list[str]:
    """Return a contrast as cells: both values, the difference, its interval, p, n and note."""
    difference = found.difference
    return [
        name,
        words.fraction(found.first),
        words.fraction(found.second),
        words.signed(difference.value),
        ends(difference.ci, sign=True),
        words.p_value(found.p),
        str(difference.n),
        cell(difference.note),
    ]


def method_markdown(
    run: Run, command: str, flags: Sequence[str], *, measured: str = "", takes_battery: bool = True
) -> str:
    """Return how an experiment was asked: settings, versions, and the command that asks the same again.

    Args:
        run: the experiment's run.
        command: such as ``ladder``, ``topicpass`` or ``swap``.
        flags: those of the experiment itself, as words.
        measured: id of the run that gave the model's own profile; with it a second command takes the profile from it.
        takes_battery: whether the command has the flag ``--battery``.
    """
    manifest, settings = run.manifest, run.manifest.settings
    sessions = manifest.sessions
    rows = [
        ["run", cell(manifest.run_id)],
        ["model", cell(settings.model)],
        ["answered as", cell(manifest.model.served_name or "unknown")],
        ["digest", cell(manifest.model.digest or "unknown")],
        ["battery", cell(f"{manifest.battery.id} {manifest.battery.version}, draw {settings.battery}")],
        ["battery SHA-256", cell(manifest.battery.sha256)],
        ["seed", str(settings.seed)],
        ["JSON schema", structured_mode(run)],
        ["example in the prompt", "none" if settings.example is None else str(settings.example)],
        ["temperature", f"{settings.temperature:g}"],
        ["thinking", settings.think],
        ["calls", str(len(manifest.plan))],
        ["started", sessions[0].started if sessions else "unknown"],
        ["selfdiag", f"{cell(manifest.selfdiag)}, prompts {cell(manifest.prompt_version)}"],
    ]
    # an experiment with a profile of its own measures that first, with a call for each of its items at least
    anew = len(manifest.plan) + (len(manifest.check) if measured else 0)
    parts = [
        table(["setting", "value"], rows),
        "To ask the same again:",
        _command(command, settings.model, [*_changed(settings, takes_battery), *flags], calls=anew),
    ]
    if measured:
        parts += [
            f"With the profile of run {cell(measured, 60)}, not a newly measured one; where it is not among your runs, "
            "name its folder:",
            _command(command, settings.model, ["--from", measured, *flags], calls=len(manifest.plan)),
        ]
    return "\n\n".join(parts)


def _command(command: str, model: str, flags: Sequence[str], *, calls: int) -> str:
    agreed = ["--yes"] if calls > MANY_CALLS else []
    return f"    {one_line(shlex.join(['selfdiag', command, model, *flags, *agreed]), 2000)}"


def _changed(settings: RunSettings, takes_battery: bool) -> list[str]:
    usual = {field.name: field.default for field in msgspec.structs.fields(RunSettings)}
    flags = []
    for name in _ASKED_AGAIN:
        value = getattr(settings, name)
        # every command has its own usual battery
        if takes_battery if name == "battery" else value != usual[name]:
            shown = ",".join(value) if isinstance(value, tuple) else str(value)
            flags += [f"--{name.replace('_', '-')}", shown]
    return flags


def excluded_sentence(difference: Estimate) -> str:
    """Return a difference of AUROCs and what its interval rules out."""
    if difference.ci is None:
        return f"{with_ends(difference, sign=True)}: without an interval nothing is excluded."
    low, high = difference.ci
    shown = f"{words.signed(difference.value)} {ends(difference.ci, sign=True)}"
    if low <= 0 <= high:
        return (
            f"{shown}: the interval holds 0, and excludes gains above {words.fraction(high)} and losses above "
            f"{words.fraction(-low)}."
        )
    beyond = f"gains above {words.fraction(high)}" if low > 0 else f"losses above {words.fraction(-low)}"
    return f"{shown}: the interval excludes 0, and {beyond}."


def consumption_sentence(name: str, found: Estimate) -> str:
    """Return whether confidence followed an injected profile."""
    if found.value is None:
        why = found.note.removeprefix("not defined: ")
        return f"Whether confidence followed the {name} profile cannot be said: {why}."
    low, high = found.ci or (found.value, found.value)
    verdict = f"It is not shown that confidence followed the {name} profile"
    if low > 0:
        verdict = f"Confidence followed the {name} profile"
    elif high < 0:
        verdict = f"Confidence went against the {name} profile"
    return f"{verdict}: r = {with_ends(found, sign=True)} over {words.several(found.n, 'injected value')}."


def _beside(found: Estimate) -> str:
    return f"{words.fraction(found.value)} {ends(found.ci)}".rstrip()


def _short_reason(found: Estimate) -> str:
    """Return why an interval is missing in at most 16 characters."""
    if found.value is None:
        return "one class" if "all answers were" in found.note else "no data"
    lacking = found.note.partition("no interval: needs ")[2]
    return f"few {lacking.split()[1]}" if lacking else "no interval"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    return (f"{first[0]:<{first[1]}}" + "".join(f"{text:>{width}}" for text, width in rest)).rstrip()
