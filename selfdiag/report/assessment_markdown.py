"""A self-assessment as Markdown, and its questionnaire as a section of an audit's report."""

from __future__ import annotations

from collections.abc import Sequence

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.msi import CRITERIA
from selfdiag.protocols.assess import (
    INSTANCES,
    RATINGS,
    SECTIONS,
    TASK_ELEMENTS,
    Assessment,
    ProfileIndex,
)
from selfdiag.protocols.external_profile import Kind
from selfdiag.protocols.questionnaire import Questionnaire
from selfdiag.protocols.summary import Summary
from selfdiag.report import words
from selfdiag.report.arms import method_markdown
from selfdiag.report.assessment import (
    DOMAIN_WORDS,
    claims_and_deeds,
    delta_words,
    elements_words,
    model_name,
    order_words,
    ratings_words,
    sources_words,
    two,
    two_ends,
    warnings_of,
    weighted_words,
)
from selfdiag.report.page import cell, table
from selfdiag.runs.records import QUESTIONNAIRE, SELF_PROFILE, TASKS, RunSettings
from selfdiag.runs.self_reports import SELF_REPORT_TEMPERATURE
from selfdiag.runs.store import Run

_SOURCES = {"study": "the study", "ours": "selfdiag"}


def assessment_markdown(run: Run, assessment: Assessment) -> str:
    """Return the report of a run that was assessed; the same run gives the same bytes."""
    parts = [
        f"# Self-assessment: {cell(model_name(assessment))}",
        "## Claims and deeds",
        *_findings(assessment),
        f"## How it was asked\n\n{_method(run)}",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def assessments_markdown(runs: Sequence[Run], assessments: Sequence[Assessment]) -> str:
    """Return several models side by side, then each of them by itself; ``runs`` are those of the assessments."""
    profiles = [
        [
            cell(model_name(one)),
            *(f"{two(one.internal[name].mean)} / {two(one.external[name].value)}" for name in CRITERIA),
        ]
        for one in assessments
    ]
    indices = [
        [
            cell(model_name(one)),
            *map(two, (one.msi.msi, one.msi.msi_per_root_n, one.msi_internal.msi, one.weighted.value, one.delta.value)),
            two_ends(one.delta.ci),
            one.delta.verdict,
        ]
        for one in assessments
    ]
    asked = [(one, one.questionnaire) for one in assessments if one.questionnaire is not None]
    domains = [
        [
            cell(model_name(one)),
            *(f"{two(domain.mean)} ± {two(domain.sd)}" for domain in found.domains().values()),
            two(found.index_a.value),
            words.percent(found.yes_rate.value),
            two(found.alpha.value),
        ]
        for one, found in asked
    ]
    parts = [
        f"# Self-assessment of {words.several(len(assessments), 'model')}",
        "## Side by side\n\nClaimed / shown on each criterion.",
        table(["model", *CRITERIA], profiles),
        table(["model", "MSI", "per root of n", "claimed", "weighted", "Delta", "95 % interval", "verdict"], indices),
        table(["model", *DOMAIN_WORDS, "index A", "Yes", "alpha"], domains) if domains else "",
    ]
    for run, one in zip(runs, assessments, strict=True):
        parts += [f"## {cell(model_name(one))}", *_findings(one), f"### How it was asked\n\n{_method(run)}"]
    return "\n\n".join(filter(None, parts)) + "\n"


def questionnaire_markdown(questionnaire: Questionnaire, summary: Summary) -> str:
    """Return the section of an audit's report that holds what the model claims against what the audit found."""
    rows = [[claim, value, cell(deed)] for claim, value, deed in claims_and_deeds(questionnaire, summary)]
    parts = [
        "## What it says of itself",
        "How far it affirms a statement, from 0 (No) to 1 (Yes), beside what this audit found.",
        *(f"**{cell(note, 400)}.**" for note in questionnaire.warnings),
        table(["it claims", "affirmed", "it does"], rows),
        _domains(questionnaire),
        _statements(questionnaire),
    ]
    return "\n\n".join(parts)


def _findings(assessment: Assessment) -> list[str]:
    """Return the parts of a report that say what was found, empty texts among them."""
    questionnaire = assessment.questionnaire
    return [
        f"What {cell(model_name(assessment))} claims of itself beside what graded tasks show, from 0 to 1.",
        *(f"**{cell(note, 400)}.**" for note in warnings_of(assessment)),
        _profiles(assessment),
        f"**Distance of the profiles.** {cell(delta_words(assessment.delta), 600)}.",
        f"**Order.** {cell(order_words(assessment.rank_agreement), 400)}.",
        f"**Weighted.** {cell(weighted_words(assessment), 400)}.",
        f"**Ratings.** {cell(ratings_words(assessment), 600)}." if assessment.ratings else "",
        _index(assessment),
        _kinds(assessment.kinds),
        _citations(assessment),
        "" if questionnaire is None else _domains(questionnaire),
        "" if questionnaire is None else _statements(questionnaire),
    ]


def _method(run: Run) -> str:
    settings = run.manifest.settings
    if settings.sections == SECTIONS:
        asked = method_markdown(run, "assess", _flags(settings), takes_battery=False)
    else:
        asked = method_markdown(run, "run", ["--sections", ",".join(settings.sections)])
    sizes = {
        QUESTIONNAIRE: f"{words.several(settings.instances, 'pass', 'passes')} through the statements",
        SELF_PROFILE: f"{words.several(settings.ratings, 'rating')} of each criterion",
        TASKS: f"tasks with {words.several(settings.tasks, 'scored element')} of each criterion",
    }
    return (
        f"Asked for: {', '.join(sizes[section] for section in settings.sections if section in sizes)}; every call is a "
        f"conversation of its own. Statements and ratings are asked at temperature {SELF_REPORT_TEMPERATURE:g}, all "
        f"else at that of the run. Knowledge that ends {settings.years:g} years before the run counts 0.\n\n{asked}"
    )


def _flags(settings: RunSettings) -> list[str]:
    """Return the flags of the command itself that are not the usual ones."""
    given = (
        ("--instances", f"{settings.instances}", f"{INSTANCES}"),
        ("--questionnaires", f"{settings.ratings}", f"{RATINGS}"),
        ("--tasks", f"{settings.tasks}", f"{TASK_ELEMENTS}"),
        ("--weights", settings.weights, "general"),
        ("--years", f"{settings.years:g}", "5"),
    )
    flags = [word for flag, value, usual in given if value != usual for word in (flag, value)]
    return [*flags, *(["--rationale"] if settings.rationale else [])]


def _profiles(assessment: Assessment) -> str:
    rows = []
    for name, title in CRITERIA.items():
        claimed, shown = assessment.internal[name], assessment.external[name]
        known = claimed.mean is not None and shown.value is not None
        rows.append(
            [
                f"{name} {title}",
                two(claimed.mean),
                two(claimed.sd),
                claimed.consistency or claimed.note,
                two(shown.value),
                elements_words(shown),
                two_ends(shown.ci),
                two((claimed.mean or 0) - (shown.value or 0), sign=True) if known else "–",
                cell("; ".join(filter(None, (shown.method, shown.note))), 400),
            ]
        )
    head = ["criterion", "claims", "SD", "consistency", "does", "counts", "95 % interval", "difference", "how"]
    return table(head, rows)


def _index(assessment: Assessment) -> str:
    def row(name: str, found: ProfileIndex) -> list[str]:
        values = (found.norm, found.angle, found.msi, found.msi_per_root_n, found.mean, found.soft_min, found.group_min)
        return [name, *map(two, values), two_ends(found.msi_ci), cell(found.note)]

    head = ["profile", "norm", "angle", "MSI", "per root of n", "mean", "soft min", "group min", "MSI, 95 %", "note"]
    return "### Index\n\n" + table(
        head, [row("what it does", assessment.msi), row("what it claims", assessment.msi_internal)]
    )


def _kinds(kinds: dict[str, tuple[Kind, ...]]) -> str:
    rows = [
        [name, cell(one.kind), str(one.right), str(one.wrong), str(one.silent), str(one.left_out)]
        for name, found in kinds.items()
        for one in found
    ]
    if not rows:
        return ""
    return (
        "### By kind of task\n\nScored elements. *No answer* are abstentions, refusals and sources that stay unknown; "
        "*left out* came without a usable reply.\n\n"
        + table(["criterion", "kind", "right", "wrong", "no answer", "left out"], rows)
    )


def _citations(assessment: Assessment) -> str:
    found = assessment.citations
    if found is None:
        return ""
    current = found.currency
    study = (
        f"Knowledge currency in the study's form, from the age of the verified ones: {two(current.value)} "
        f"{two_ends(current.ci) or cell(f'({current.note})')}"
    )
    rows = [[cell(one.item_id), cell(one.title), cell(one.reason)] for one in found.refuted]
    refuted = "\n\n" + table(["task", "cited as", "contradicted by"], rows) if rows else ""
    return f"### Cited works\n\n{sources_words(assessment)}. {study}.{refuted}"


def _domains(found: Questionnaire) -> str:
    rows = [
        [
            f"{name}, {DOMAIN_WORDS[name]}",
            two(domain.mean),
            two(domain.sd),
            two_ends(domain.ci),
            str(domain.n),
            domain.note,
        ]
        for name, domain in found.domains().items()
    ]
    for name, figure in (
        ("index A", found.index_a),
        ("share of Yes", found.yes_rate),
        ("Cronbach's alpha", found.alpha),
        ("retest", found.retest),
        ("replies that differ, other words", found.wording.different),
        ("replies that differ, same words", found.wording.same),
    ):
        rows.append([name, *_estimate(figure)])
    missing = sum(found.missing.values())
    reasons = ", ".join(f"{number} {cell(reason)}" for reason, number in found.missing.items())
    told = f" {missing} of {found.asked} replies are missing ({reasons})." if missing else ""
    return (
        f"### Questionnaire\n\n{found.instances} passes through {len(found.statements)} statements. Yes is 1, "
        f"Partially .5, No 0; in SDQ, whose claims hold of no model, No counts 1.{told}\n\n"
        + table(["", "mean", "SD", "95 % interval", "n", "note"], rows)
    )


def _estimate(found: Estimate) -> list[str]:
    return [two(found.value), "", two_ends(found.ci), str(found.n), cell(found.note)]


def _statements(found: Questionnaire) -> str:
    rows = [
        [
            str(one.number),
            one.domain,
            cell(one.about),
            f"{one.criterion} ({_SOURCES[one.criterion_source]})",
            two(one.raw),
            two(one.scored),
            str(one.n),
        ]
        for one in found.statements
    ]
    return "### Statements\n\n" + table(["no.", "domain", "about", "criterion (by)", "raw", "scored", "n"], rows)
