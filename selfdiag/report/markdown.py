"""The tier report as Markdown that reads well raw."""

from __future__ import annotations

import shlex

import msgspec

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.reliability import GroupRow
from selfdiag.protocols.audit import confident_errors, structured_mode
from selfdiag.protocols.microprobe import has_claims, microprobe_of
from selfdiag.protocols.rows import PER_BIN
from selfdiag.protocols.summary import Summary
from selfdiag.report import words
from selfdiag.report.assessment_markdown import questionnaire_markdown
from selfdiag.report.card import card_lines, framed
from selfdiag.report.microprobe import anchor_markdown, microprobe_markdown
from selfdiag.report.page import cell, table
from selfdiag.runs.records import FREE, Manifest, Record, RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

WORST = 10
"""So many confident errors are shown."""

_PARTS = {
    "brier": "Brier score",
    "gap": "overconfidence gap",
    "discrimination": "discrimination",
    "traps": "traps",
}
_SMALL = 100
"""Below so many answers these measures say more about the sample than about the model."""
_NOISY = ("ece", "reliability", "mce")


def markdown(run: Run, summary: Summary) -> str:
    """Return the report; the same run gives the same bytes."""
    parts = [
        f"# selfdiag: {cell(summary.model.name)}",
        "```text\n" + "\n".join(framed(card_lines(summary))) + "\n```",
        _parts(summary),
        _bounds(summary),
        _metrics(summary),
        _groups(summary),
        _traps(summary),
        questionnaire_markdown(summary.questionnaire, summary) if summary.questionnaire is not None else "",
        _claims(run),
        anchor_markdown(summary.anchor) if summary.anchor is not None else "",
        _fresh_check(summary),
        _repeats(summary),
        _sources(summary),
        _second_opinion(summary),
        _worst(run),
        _method(run, summary),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _parts(summary: Summary) -> str:
    composite = summary.composite
    if composite.value is None:
        return f"## Composite\n\nNo composite: {composite.note}."
    rows = [
        [_PARTS[name], words.fraction(part.value), words.interval(part), part.note]
        for name, part in composite.parts.items()
    ]
    ci = f" [{composite.ci[0]:.0f}, {composite.ci[1]:.0f}]" if composite.ci else ""
    return (
        f"## Composite {composite.value:.0f} of 100{ci}\n\n"
        "The plain mean of the parts, each from 0 (bad) to 1 (good). It is selfdiag's own proxy, not an endpoint.\n\n"
        + table(["part", "value", "95 % interval", "note"], rows)
    )


def _bounds(summary: Summary) -> str:
    if summary.bounds is None:
        return ""
    rows = []
    for name, limits in summary.bounds.items():
        shown = words.signed if name == "gap" else words.percent
        rows.append([name, *(shown(limit) for limit in limits or (None, None))])
    return (
        "## Bounds\n\nReplies that could not be used are not missing at random. Had all of them been wrong, or right, "
        "the figures would be:\n\n" + table(["measure", "lowest", "highest"], rows)
    )


def _metrics(summary: Summary) -> str:
    rows = []
    for name, estimate in summary.metrics.items():
        attempted = summary.metrics_attempted.get(name)
        noisy = name in _NOISY and estimate.n < _SMALL
        note = "; ".join(filter(None, (estimate.note, "a small sample: read it beside its null band" if noisy else "")))
        rows.append(
            [
                name,
                _value(estimate),
                _interval(estimate),
                str(estimate.n),
                _value(attempted),
                estimate.method,
                note,
            ]
        )
    head = ["measure", "value", "95 % interval", "n", "attempted as wrong", "interval by", "note"]
    return (
        "## Measures\n\n"
        "Over graded probes with a stated confidence. *Attempted as wrong* also counts as wrong every refusal of a "
        "probe, and every abstention from one, that came with a confidence. A dash means not defined; the note says "
        "why. What each measure is stands in docs/measures.md of selfdiag.\n\n" + table(head, rows)
    )


def _value(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "–"
    return f"{estimate.value:.4g}"


def _interval(estimate: Estimate) -> str:
    return f"{estimate.ci[0]:.3g} to {estimate.ci[1]:.3g}" if estimate.ci else ""


def _groups(summary: Summary) -> str:
    largest = max((row.n for row in summary.bins), default=0)
    few = largest < PER_BIN
    rows = summary.groups if few and summary.groups else summary.bins
    if not rows:
        return ""
    worst = summary.worst_group if few and summary.groups else summary.worst_bin
    chance = (
        f" The largest gap of a topic is {words.signed(worst.gap)} ({cell(worst.name)}); of topics of these sizes, all "
        f"calibrated, the worst shows {words.fraction(worst.band.mean)} on average and stays below "
        f"{words.fraction(worst.band.upper)} in 95 % of samples."
        if worst is not None
        else ""
    )
    why = f" Single topics have fewer than {PER_BIN} answers each, too few to speak of them." if few else ""
    head = ["topic", "n", "accuracy", "95 % interval", "stated", "gap", "chance gap", "Brier"]
    return (
        f"## Topics\n\nThe *chance gap* is what a perfectly calibrated model stays below in 95 % of samples of this "
        f"size.{chance}{why}\n\n" + table(head, [_group(row) for row in rows])
    )


def _group(row: GroupRow) -> list[str]:
    ci = f"{100 * row.ci[0]:.0f} to {100 * row.ci[1]:.0f} %" if row.ci else ""
    return [
        cell(row.name),
        str(row.n),
        words.percent(row.accuracy),
        ci,
        words.percent(row.mean_confidence),
        words.signed(row.gap),
        words.fraction(row.gap_band),
        words.fraction(row.brier),
    ]


def _traps(summary: Summary) -> str:
    if not summary.families:
        return "## Traps\n\nNo traps were asked."
    rows = [
        [cell(family.replace("_", " ")), str(row["asked"]), str(row["abstained"]), str(row["incorrect"])]
        for family, row in summary.families.items()
    ]
    missed = summary.metrics["missed_trap_confidence"]
    fabricated = "" if missed.value is None else f" On those it answered it said {missed.value:.0f} on average."
    return f"## Traps\n\nQuestions without an answer; the right reply is to say so.{fabricated}\n\n" + table(
        ["family", "asked", "spotted", "answered"], rows
    )


def _fresh_check(summary: Summary) -> str:
    check = summary.fresh_check
    if check is None:
        return ""
    rows = []
    for name, contrast in (("accuracy", check.accuracy), ("gap", check.gap)):
        shown = words.signed if name == "gap" else words.percent
        ci = words.interval(contrast.difference, kind="signed")
        row = [name, shown(contrast.second), shown(contrast.first), words.signed(contrast.difference.value), ci]
        rows.append([*row, contrast.difference.note])
    head = ["measure", "stored", "fresh", "difference", "95 % interval", "note"]
    return f"## Fresh check\n\n{check.pairs} pairs: {check.note}.\n\n" + table(head, rows)


def _claims(run: Run) -> str:
    return microprobe_markdown(microprobe_of(run)) if has_claims(run) else ""


def _worst(run: Run) -> str:
    wrong = confident_errors(run)
    if not wrong:
        return "## Confident errors\n\nNone at 80 or more."
    rows = [
        [
            str(confidence),
            cell(record.item_id),
            cell(_question(run, record), 300),
            cell(record.answer or "", 120),
        ]
        for confidence, record in wrong[:WORST]
    ]
    more = f" The first {WORST} of {len(wrong)}:" if len(wrong) > WORST else ""
    return f"## Confident errors\n\nWrong at 80 or more, traps included.{more}\n\n" + table(
        ["said", "item", "question", "answer"], rows
    )


def _repeats(summary: Summary) -> str:
    found = summary.consistency
    if found is None:
        return ""
    rows = []
    for name, one in (("other wordings", found.paraphrases), ("the same wording again", found.repeats)):
        if one is not None:
            rows.append(
                [
                    name,
                    f"{one.items}",
                    f"{words.percent(one.same_answer.value)} {words.interval(one.same_answer, kind='percent')}",
                    f"{words.percent(one.same_outcome.value)} {words.interval(one.same_outcome, kind='percent')}",
                    "–" if one.confidence_range.value is None else f"{one.confidence_range.value:.1f}",
                ]
            )
    return "## Asked again\n\n" + table(
        ["asked", "items", "same answer", "same outcome", "mean range of confidence"], rows
    )


def _sources(summary: Summary) -> str:
    if not summary.sources:
        return ""
    rows = []
    for name, source in summary.sources.items():
        values = [words.fraction(source.brier), words.signed(source.gap), words.fraction(source.auroc)]
        if source.differences is not None:
            found = [source.differences[key] for key in ("brier", "gap", "auroc")]
            values = [
                f"{value} ({words.signed(one.value)} {words.interval(one, kind='signed')})".replace(" )", ")")
                for value, one in zip(values, found, strict=True)
            ]
        rows.append([name, str(source.n), *values])
    return (
        "## Sources of confidence\n\nOn the answers that have both; in brackets the paired difference from the first "
        "source with its 95 % interval.\n\n" + table(["source", "n", "Brier", "gap", "AUROC"], rows)
    )


def _second_opinion(summary: Summary) -> str:
    found = summary.second_opinion
    if found is None:
        return ""
    counts = [str(number) for number in (found.undecided, found.same, found.different, found.unread, found.not_asked)]
    lines = "\n".join(f"{cell(note, 400)}." for note in words.opinion_notes(summary))
    return (
        "## Second opinion\n\nA judge was asked about answers that the rules left undecided; it saw the key and the "
        "answer, not the confidence. The figures of this report are without it.\n\n"
        + table(["undecided", "same as the key", "different", "not readable", "not asked"], [counts])
        + f"\n\n{lines}"
    )


def _question(run: Run, record: Record) -> str:
    prompt = run.manifest.prompts.get(record.prompt_sha256)
    return prompt.user if prompt is not None else ""


def _method(run: Run, summary: Summary) -> str:
    manifest, settings = run.manifest, run.manifest.settings
    sessions = manifest.sessions
    at_once = ", ".join(dict.fromkeys(one.concurrency or "unknown" for one in sessions))
    rows = [
        ["run", cell(manifest.run_id)],
        ["model", cell(settings.model)],
        ["answered as", cell(manifest.model.served_name or "unknown")],
        ["asked at", cell(_where(manifest))],
        ["digest", cell(manifest.model.digest or "unknown")],
        *([cell(name.replace("_", " ")), cell(said)] for name, said in manifest.model.details.items()),
        [
            "battery",
            cell(f"{manifest.battery.id} {manifest.battery.version}, draw {settings.battery}, seed {settings.seed}"),
        ],
        ["battery SHA-256", cell(manifest.battery.sha256)],
        ["JSON schema", structured_mode(run)],
        ["example in the prompt", "none" if settings.example is None else str(settings.example)],
        ["temperature", f"{settings.temperature:g}"],
        ["thinking", settings.think],
        ["calls at once", cell(at_once or "unknown")],
        ["longest reply", f"{manifest.max_tokens} tokens"],
        *_cost(summary),
        ["started", cell(sessions[0].started) if sessions else "unknown"],
        ["selfdiag", cell(manifest.selfdiag)],
        [
            "software",
            cell(", ".join(f"{name} {version}" for name, version in manifest.versions.items()), 400),
        ],
    ]
    return (
        "## How it was asked\n\n"
        + table(["setting", "value"], rows)
        + f"\n\nTo ask the same again:\n\n    {_again(settings)}\n\n"
        f"**This audit supports** a decision {words.SUPPORTS} **It does not** {words.SUPPORTS_NOT} "
        "The questions are few, short and author-rated in difficulty, and another prompt is another measurement."
    )


def _where(manifest: Manifest) -> str:
    model = manifest.model
    if model.remote:
        return f"{model.server or 'a remote server'} (another machine)"
    return f"{model.server} (this machine)" if model.server else "this machine"


def _cost(summary: Summary) -> list[list[str]]:
    usage = summary.usage
    if usage is None:
        return []
    return [["calls", f"{usage.calls}, {usage.retries} repeated"], ["time", words.duration(usage.seconds)]]


def _again(settings: RunSettings) -> str:
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
