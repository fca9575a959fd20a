"""A self-assessment as a section of a Markdown report."""

from __future__ import annotations

from collections.abc import Sequence

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.msi import CRITERIA
from selfdiag.protocols.assess import Assessment, ProfileIndex
from selfdiag.protocols.external_profile import Kind
from selfdiag.protocols.questionnaire import Questionnaire
from selfdiag.protocols.summary import Summary
from selfdiag.report import words
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
    warnings_of,
    weighted_words,
)

_SOURCES = {"study": "the study", "ours": "selfdiag"}


def assessment_markdown(assessment: Assessment) -> str:
    """Return what a model claims of itself beside what it does; the same assessment gives the same bytes."""
    questionnaire = assessment.questionnaire
    parts = [
        "## Self-assessment",
        f"{_cell(model_name(assessment))}: what it claims of itself beside what graded tasks show, from 0 to 1.",
        *(f"**{_cell(note, 400)}.**" for note in warnings_of(assessment)),
        _profiles(assessment),
        f"**Distance of the profiles.** {_cell(delta_words(assessment.delta), 600)}.",
        f"**Order.** {_cell(order_words(assessment.rank_agreement), 400)}.",
        f"**Weighted.** {_cell(weighted_words(assessment), 400)}.",
        f"**Ratings.** {_cell(ratings_words(assessment), 600)}." if assessment.ratings else "",
        _index(assessment),
        _kinds(assessment.kinds),
        _citations(assessment),
        "" if questionnaire is None else _domains(questionnaire),
        "" if questionnaire is None else _statements(questionnaire),
    ]
    return "\n\n".join(filter(None, parts))


def assessments_markdown(assessments: Sequence[Assessment]) -> str:
    """Return several models side by side, then each of them by itself."""
    profiles = [
        [
            _cell(model_name(one)),
            *(f"{two(one.internal[name].mean)} / {two(one.external[name].value)}" for name in CRITERIA),
        ]
        for one in assessments
    ]
    indices = [
        [
            _cell(model_name(one)),
            *map(two, (one.msi.msi, one.msi.msi_per_root_n, one.msi_internal.msi, one.weighted.value, one.delta.value)),
            _ends(one.delta.ci),
            one.delta.verdict,
        ]
        for one in assessments
    ]
    asked = [(one, one.questionnaire) for one in assessments if one.questionnaire is not None]
    domains = [
        [
            _cell(model_name(one)),
            *(f"{two(domain.mean)} ± {two(domain.sd)}" for domain in found.domains().values()),
            two(found.index_a.value),
            words.percent(found.yes_rate.value),
            two(found.alpha.value),
        ]
        for one, found in asked
    ]
    parts = [
        "## Models side by side\n\nClaimed / shown on each criterion.",
        _table(["model", *CRITERIA], profiles),
        _table(["model", "MSI", "per root of n", "claimed", "weighted", "Delta", "95 % interval", "verdict"], indices),
        _table(["model", *DOMAIN_WORDS, "index A", "Yes", "alpha"], domains) if domains else "",
        *(assessment_markdown(one) for one in assessments),
    ]
    return "\n\n".join(filter(None, parts))


def questionnaire_markdown(questionnaire: Questionnaire, summary: Summary) -> str:
    """Return the section of an audit's report that holds what the model claims against what the audit found."""
    rows = [[claim, value, _cell(deed)] for claim, value, deed in claims_and_deeds(questionnaire, summary)]
    parts = [
        "## What it says of itself",
        "How far it affirms a statement, from 0 (No) to 1 (Yes), beside what this audit found.",
        *(f"**{_cell(note, 400)}.**" for note in questionnaire.warnings),
        _table(["it claims", "affirmed", "it does"], rows),
        _domains(questionnaire),
        _statements(questionnaire),
    ]
    return "\n\n".join(parts)


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
                _ends(shown.ci),
                two((claimed.mean or 0) - (shown.value or 0), sign=True) if known else "–",
                _cell("; ".join(filter(None, (shown.method, shown.note))), 400),
            ]
        )
    head = ["criterion", "claims", "SD", "consistency", "does", "counts", "95 % interval", "difference", "how"]
    return _table(head, rows)


def _index(assessment: Assessment) -> str:
    def row(name: str, found: ProfileIndex) -> list[str]:
        values = (found.norm, found.angle, found.msi, found.msi_per_root_n, found.mean, found.soft_min, found.group_min)
        return [name, *map(two, values), _ends(found.msi_ci), _cell(found.note)]

    head = ["profile", "norm", "angle", "MSI", "per root of n", "mean", "soft min", "group min", "MSI, 95 %", "note"]
    return "### Index\n\n" + _table(
        head, [row("what it does", assessment.msi), row("what it claims", assessment.msi_internal)]
    )


def _kinds(kinds: dict[str, tuple[Kind, ...]]) -> str:
    rows = [
        [name, _cell(one.kind), str(one.right), str(one.wrong), str(one.silent), str(one.left_out)]
        for name, found in kinds.items()
        for one in found
    ]
    if not rows:
        return ""
    return (
        "### By kind of task\n\nScored elements. *No answer* are abstentions, refusals and sources that stay unknown; "
        "*left out* came without a usable reply.\n\n"
        + _table(["criterion", "kind", "right", "wrong", "no answer", "left out"], rows)
    )


def _citations(assessment: Assessment) -> str:
    found = assessment.citations
    if found is None:
        return ""
    current = found.currency
    study = (
        f"Knowledge currency in the study's form, from the age of the verified ones: {two(current.value)} "
        f"{_ends(current.ci) or _cell(f'({current.note})')}"
    )
    rows = [[_cell(one.item_id), _cell(one.title), _cell(one.reason)] for one in found.refuted]
    table = "\n\n" + _table(["task", "cited as", "contradicted by"], rows) if rows else ""
    return f"### Cited works\n\n{sources_words(assessment)}. {study}.{table}"


def _domains(found: Questionnaire) -> str:
    rows = [
        [
            f"{name}, {DOMAIN_WORDS[name]}",
            two(domain.mean),
            two(domain.sd),
            _ends(domain.ci),
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
    reasons = ", ".join(f"{number} {_cell(reason)}" for reason, number in found.missing.items())
    told = f" {missing} of {found.asked} replies are missing ({reasons})." if missing else ""
    return (
        f"### Questionnaire\n\n{found.instances} passes through {len(found.statements)} statements. Yes is 1, "
        f"Partially .5, No 0; in SDQ, whose claims hold of no model, No counts 1.{told}\n\n"
        + _table(["", "mean", "SD", "95 % interval", "n", "note"], rows)
    )


def _estimate(found: Estimate) -> list[str]:
    return [two(found.value), "", _ends(found.ci), str(found.n), _cell(found.note)]


def _statements(found: Questionnaire) -> str:
    rows = [
        [
            str(one.number),
            one.domain,
            _cell(one.about),
            f"{one.criterion} ({_SOURCES[one.criterion_source]})",
            two(one.raw),
            two(one.scored),
            str(one.n),
        ]
        for one in found.statements
    ]
    return "### Statements\n\n" + _table(["no.", "domain", "about", "criterion (by)", "raw", "scored", "n"], rows)


def _ends(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else f"{two(ci[0])} to {two(ci[1])}"


def _cell(text: str, limit: int = 200) -> str:
    # the module of the whole report takes this one in
    from selfdiag.report.page import cell

    return cell(text, limit)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
