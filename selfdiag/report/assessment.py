"""A self-assessment as text: what a model claims of itself beside what it does."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.msi import ACCEPTABLE, CRITERIA, Delta, InternalCriterion
from selfdiag.protocols.assess import Assessment, ExternalCriterion
from selfdiag.protocols.questionnaire import Questionnaire
from selfdiag.protocols.summary import Summary
from selfdiag.report import words
from selfdiag.report.page import INNER, WIDTH
from selfdiag.safety import one_line

BAR = 10
"""Characters of a bar from 0 to 1."""
DOMAIN_WORDS = {
    "MAI": "awareness of its own answers",
    "SRIS": "insight into itself",
    "SDQ": "denies absolute claims",
}
_ONE_SIDED = 0.9
"""From this share of its size on, a difference is told as going one way."""
_LABEL = 29
_HEAD = 10
_NAME = 23


def assessment_lines(assessment: Assessment, *, plain: bool = False) -> list[str]:
    """Return an assessment as lines, none wider than ``WIDTH`` characters.

    Args:
        assessment: the result.
        plain: draw bars of characters that every terminal has.
    """
    title = f"{model_name(assessment)}, self-assessment · run {one_line(assessment.run_id, 40)}"
    lines = [*textwrap.wrap(title, WIDTH), ""]
    for name in CRITERIA:
        lines += _criterion(name, assessment.internal[name], assessment.external[name], plain=plain)
    lines += ["", *_headed("MSI", msi_words(assessment)), *_headed("weighted", weighted_words(assessment))]
    lines += _headed("Delta", delta_words(assessment.delta))
    lines += _headed("order", order_words(assessment.rank_agreement))
    lines += _headed("ratings", ratings_words(assessment)) + _headed("sources", sources_words(assessment))
    if assessment.questionnaire is not None:
        lines += ["", *_questionnaire(assessment.questionnaire, plain=plain)]
    told = warnings_of(assessment)
    return lines + ([""] if told else []) + [line for note in told for line in _warning(note, WIDTH)]


def assessments_lines(assessments: Sequence[Assessment]) -> list[str]:
    """Return several models side by side: their profiles, their indices and their questionnaires."""
    lines = [f"{'':<{_NAME}}{'':<8}" + "".join(f"{name:>8}" for name in CRITERIA)]
    for one in assessments:
        claims = (two(one.internal[name].mean) for name in CRITERIA)
        does = (two(one.external[name].value) for name in CRITERIA)
        lines.append(f"{_starred(one):<{_NAME}}{'claims':<8}" + "".join(f"{value:>8}" for value in claims))
        lines.append(f"{'':<{_NAME}}{'does':<8}" + "".join(f"{value:>8}" for value in does))
    lines += ["", f"{'':<{_NAME}}{'MSI':>6}{'/root n':>9}{'claimed':>9}{'weighted':>10}{'Delta':>7}  verdict"]
    for one in assessments:
        values = (one.msi.msi, one.msi.msi_per_root_n, one.msi_internal.msi, one.weighted.value, one.delta.value)
        row = "".join(f"{two(value):>{size}}" for value, size in zip(values, (6, 9, 9, 10, 7), strict=True))
        lines.append(f"{_starred(one):<{_NAME}}{row}  {one.delta.verdict}")
    asked = [(one, one.questionnaire) for one in assessments if one.questionnaire is not None]
    if asked:
        heads = (*DOMAIN_WORDS, "A", "Yes", "alpha", "retest")
        sizes = (11, 11, 11, 6, 6, 7, 7)
        lines += ["", " " * 21 + "".join(f"{head:>{size}}" for head, size in zip(heads, sizes, strict=True)).rstrip()]
    for one, found in asked:
        cells = [f"{two(domain.mean)} ± {two(domain.sd)}" for domain in found.domains().values()]
        cells += [two(found.index_a.value), words.percent(found.yes_rate.value).replace(" ", "")]
        cells += [two(found.alpha.value), two(found.retest.value)]
        row = "".join(f"{cell:>{size}}" for cell, size in zip(cells, sizes, strict=True))
        lines.append(f"{_starred(one, 20):<21}{row}")
    if any(one.model.simulated for one in assessments):
        lines += ["", "* simulated: these replies were written by a script, not by a model"]
    told = [(one, note) for one in assessments for note in warnings_of(one) if not note.startswith("simulated")]
    lines += [""] if told else []
    return lines + [line for one, note in told for line in _warning(f"{_starred(one)}: {note}", WIDTH)]


def questionnaire_lines(questionnaire: Questionnaire, summary: Summary) -> list[str]:
    """Return what a model claims beside what its audit found, none of the lines wider than a card's inside."""
    lines = [f"{'It claims':<46}It does"]
    lines += [f"{claim:<38}{value:>5}   {deed}" for claim, value, deed in claims_and_deeds(questionnaire, summary)]
    lines += ["", domains_words(questionnaire)]
    for note in questionnaire.warnings:
        lines += _warning(note, INNER)
    return lines


def claims_and_deeds(questionnaire: Questionnaire, summary: Summary) -> list[tuple[str, str, str]]:
    """Return statements that an audit can be held against: the claim, how far it is affirmed, and what was found."""
    affirmed = {statement.number: two(statement.raw) for statement in questionnaire.statements}
    found = summary.metrics
    traps, right = found["trap_abstention"], found["accuracy"]
    return [
        ("notices when it is likely wrong", affirmed[1], f"AUROC {_measured(found['auroc'])}"),
        ("warns when it is unsure", affirmed[2], f"gap {_measured(found['gap'], sign=True)}"),
        ("notices what it cannot answer", affirmed[4], f"traps spotted {_share(traps)}"),
        ("is reliable on any topic", affirmed[15], f"right {_share(right)}"),
    ]


def domains_words(found: Questionnaire) -> str:
    """Return the three domains, the index and the yes-rate in one line."""
    domains = " · ".join(f"{name} {two(domain.mean)}" for name, domain in found.domains().items())
    return f"{domains} · index A {two(found.index_a.value)} · Yes to {words.percent(found.yes_rate.value)}"


def warnings_of(assessment: Assessment) -> tuple[str, ...]:
    """Return every plain sentence that limits what an assessment can bear."""
    return (
        *assessment.notes,
        *(f"questionnaire: {note}" for note in (assessment.questionnaire.warnings if assessment.questionnaire else ())),
        *(f"ratings: {note}" for note in (assessment.ratings.warnings if assessment.ratings else ())),
    )


def model_name(assessment: Assessment) -> str:
    """Return who was asked, marked when it is simulated."""
    model = assessment.model
    return f"{one_line(f'{model.provider}:{model.name}', 40)}{words.if_simulated(model.simulated)}"


def two(value: float | None, *, sign: bool = False) -> str:
    """Return a value with two decimals and no leading zero, or a dash."""
    if value is None:
        return "–"
    size = f"{abs(value):.2f}"
    minus = "-" if value < 0 and float(size) else "+" if sign else ""
    return f"{minus}{size[1:] if size.startswith('0.') else size}"


def two_ends(ci: tuple[float, float] | None, *, sign: bool = False) -> str:
    """Return an interval with two decimals in brackets, or an empty text."""
    return "" if ci is None else f"[{two(ci[0], sign=sign)}, {two(ci[1], sign=sign)}]"


def elements_words(found: ExternalCriterion) -> str:
    """Return the counts behind a criterion, or the years."""
    if found.numerator is None:
        return ""
    if float(found.numerator).is_integer() and found.denominator == found.n:
        return f"{found.numerator:.0f} of {found.denominator:.0f}"
    return f"{found.numerator:.1f} of {found.denominator:g} y"


def msi_words(assessment: Assessment) -> str:
    """Return the index of what a model does and of what it claims."""
    does, claims = assessment.msi, assessment.msi_internal
    limit = two(does.n**0.5)
    if does.msi is None:
        shown = f"– for what it does ({one_line(does.note, 200)})"
    else:
        values = {name: found.value for name, found in assessment.external.items() if found.value is not None}
        least = min(values, key=lambda name: values[name])
        shown = (
            f"{two(does.msi)}{_ends(does.msi_ci)} of {limit} for what it does, "
            f"{two(does.msi_per_root_n)} per root of n; held down by {least} {CRITERIA[least]}"
        )
        shown += f" ({one_line(does.note, 200)})" if does.note else ""
    claimed = f"{two(claims.msi)}{_ends(claims.msi_ci)}" if claims.msi is not None else "–"
    why = f" ({one_line(claims.note, 200)})" if claims.msi is not None and claims.note else ""
    return f"{shown}; {claimed} for what it claims{why}"


def weighted_words(assessment: Assessment) -> str:
    """Return the weighted mean of the external profile for the chosen use."""
    found = assessment.weighted
    use = f"{found.use} use" if found.use != "own" else "the weights given"
    weights = ", ".join(f"{name} {two(weight)}" for name, weight in found.weights.items())
    why = f" ({one_line(found.note, 120)})" if found.note else ""
    return f"{two(found.value)}{_ends(found.ci)} for {use}{why}; claimed {two(found.claimed)}. Weights: {weights}"


def delta_words(delta: Delta) -> str:
    """Return how far claims and deeds are apart, and whether that is acceptable, in words."""
    if delta.value is None or delta.signed is None:
        return f"cannot say: {one_line(delta.note, 200)}"
    size, limit = two(delta.value), two(ACCEPTABLE)
    way = "more" if delta.signed > 0 else "less"
    if abs(delta.signed) >= _ONE_SIDED * delta.value and delta.value > 0:
        apart = f"claims {size} {way} than it does on average"
    else:
        balance = two(abs(delta.signed))
        balance = "neither way" if balance == ".00" else f"{balance} {way}"
        apart = f"claims and deeds are {size} apart on average, {balance} on balance"
    unsure = "cannot say whether acceptable" if delta.verdict == "cannot say" else delta.verdict
    verdict = f"{unsure} (limit {limit})"
    note = f"; {one_line(delta.note, 300)}" if delta.note else ""
    return f"{size}{_ends(delta.ci)}: {apart}: {verdict}{note}"


def order_words(found: Estimate) -> str:
    """Return whether a model claims most where it is best."""
    return f"Kendall's tau {two(found.value, sign=True)} of claims and deeds, {one_line(found.note, 200)}"


def ratings_words(assessment: Assessment) -> str:
    """Return how the claims came about: readable ratings, their pull, and what affirming words do."""
    parts = []
    ratings, framing = assessment.ratings, assessment.framing
    if ratings is not None:
        read = ratings.asked - sum(ratings.missing.values())
        pull = ratings.pull.pull
        parts.append(f"{read} of {ratings.asked} readable")
        parts.append(f"pull to high numbers {two(pull.value, sign=True)}{_ends(pull.ci)}")
    if framing is not None:
        shift = framing.shift
        why = f" ({one_line(shift.note, 120)})" if shift.note else ""
        parts.append(f"affirming words move them by {two(shift.value, sign=True)}{_ends(shift.ci)}, n {shift.n}{why}")
    return "; ".join(parts)


def sources_words(assessment: Assessment) -> str:
    """Return what the cited works come to."""
    found = assessment.citations
    if found is None:
        return ""
    named = found.verified + found.contradicted + found.unknown
    age = "" if found.mean_age is None else f", mean age of the verified {found.mean_age:.0f} years"
    looked_up = f"; {words.several(found.looked_up, 'DOI')} looked up" if found.looked_up else ""
    return (
        f"{named} open citations: {found.verified} verified, {found.contradicted} contradicted, "
        f"{found.unknown} unknown{age}{looked_up}"
    )


def _criterion(name: str, claimed: InternalCriterion, shown: ExternalCriterion, *, plain: bool) -> list[str]:
    label = f"{name} {CRITERIA[name]}"
    claims = f"± {two(claimed.sd)} {claimed.consistency}" if claimed.sd is not None else one_line(claimed.note, 22)
    counts = f"{elements_words(shown)}{_ends(shown.ci)}"
    known = claimed.mean is not None and shown.value is not None
    difference = two((claimed.mean or 0) - (shown.value or 0), sign=True) if known else ""
    bars = [_bar(value, plain=plain) for value in (claimed.mean, shown.value)]
    lines = [
        f"{label:<{_LABEL}}claims {two(claimed.mean):>4} {claims:<22} {bars[0]}",
        f"{'':<{_LABEL}}does   {two(shown.value):>4} {counts:<22} {bars[1]:<{BAR}} {difference:>5}",
    ]
    note = one_line(shown.note, 300)
    lines += textwrap.wrap(note, WIDTH, initial_indent=" " * (_LABEL + 7), subsequent_indent=" " * (_LABEL + 7))
    return [line.rstrip() for line in lines]


def _bar(value: float | None, *, plain: bool) -> str:
    """Return a bar for a value in [0, 1], empty when there is none."""
    if value is None:
        return ""
    full = round(BAR * value)
    mark, rest = "#." if plain else "█·"
    return mark * full + rest * (BAR - full)


def _questionnaire(found: Questionnaire, *, plain: bool) -> list[str]:
    lines = [f"questionnaire, {found.instances} passes through {len(found.statements)} statements"]
    for name, domain in found.domains().items():
        label = f"  {name:<5}{DOMAIN_WORDS[name]:<30}{two(domain.mean):>4}"
        if domain.mean is None:
            lines.append(f"{label} {f'({one_line(domain.note, 36)})' if domain.note else ''}".rstrip())
            continue
        spread = f"± {two(domain.sd)}" if domain.sd is not None else ""
        figures = f"{label} {spread}{_ends(domain.ci)}"
        lines.append(f"{figures:<67} {_bar(domain.mean, plain=plain)}".rstrip())
    rest = [
        f"index A {_measured(found.index_a)}",
        f"Yes to {_share(found.yes_rate)}",
        f"alpha {_measured(found.alpha)}",
        f"retest {_measured(found.retest)}",
        f"replies to one statement differ in {_share(found.wording.different)} of pairs in other words, "
        f"in {_share(found.wording.same)} in the same words",
    ]
    wrapped = textwrap.wrap("; ".join(rest), WIDTH, initial_indent="  ", subsequent_indent="  ")
    return lines + wrapped


def _headed(head: str, text: str) -> list[str]:
    if not text:
        return []
    return textwrap.wrap(text, WIDTH, initial_indent=f"{head:<{_HEAD}}", subsequent_indent=" " * _HEAD)


def _warning(note: str, width: int) -> list[str]:
    return textwrap.wrap(f"! {one_line(note, 400)}", width, subsequent_indent="  ")


def _starred(assessment: Assessment, most: int = _NAME - 1) -> str:
    model = assessment.model
    star = "*" if model.simulated else ""
    return f"{one_line(f'{model.provider}:{model.name}', most - len(star))}{star}"


def _ends(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else f" {two_ends(ci)}"


def _measured(found: Estimate, *, sign: bool = False) -> str:
    if found.value is None:
        return f"– ({one_line(found.note, 60)})" if found.note else "–"
    return f"{two(found.value, sign=sign)} {two_ends(found.ci, sign=sign)}".rstrip()


def _share(found: Estimate) -> str:
    ends = words.interval(found, kind="percent")
    return f"{words.percent(found.value)}{f' {ends}' if ends else ''}"
