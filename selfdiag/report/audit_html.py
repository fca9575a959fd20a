"""The tier report of an audit as one HTML page that a manager can read and an engineer can check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from selfdiag.measure.curves import AtThreshold
from selfdiag.measure.diagrams import ReliabilityDiagram
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.resampling import DRAWS
from selfdiag.measure.tally import UNUSABLE
from selfdiag.measure.tiers import ORDER, RULES
from selfdiag.protocols.diagrams import Diagrams, diagrams_of, dose_response_of
from selfdiag.protocols.microprobe import has_claims, microprobe_of
from selfdiag.protocols.summary import Summary
from selfdiag.report import words
from selfdiag.report.assessment_markdown import questionnaire_markdown
from selfdiag.report.audit_sections import (
    CAUTION,
    COMPOSITE,
    MEASURE_HEAD,
    PARTS,
    Section,
    bounds_section,
    errors_sentence,
    fresh_check_section,
    measure_rows,
    measures_section,
    repeats_section,
    second_opinion_section,
    sources_section,
    topics_section,
    traps_section,
)
from selfdiag.report.confident_errors import confident_error_cards
from selfdiag.report.drawings import answers, claims, topics
from selfdiag.report.how_asked import again, manifest_rows, method_rows, run_start
from selfdiag.report.html_page import drawn, environment, from_markdown, html_page, html_table
from selfdiag.report.measure_words import measure_meaning, measure_name
from selfdiag.report.microprobe import anchor_markdown, microprobe_markdown
from selfdiag.report.page import TABLE, excerpt
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

_FIELD = 2000
"""Characters of a setting that are shown."""
_LEAST = 0.005
"""Chances of a tier below this are not shown."""


class _KeyFigure(NamedTuple):
    """One figure at the top: its value, and below it the interval, n, and what must be said."""

    name: str
    value: str
    range: str


class _Bar(NamedTuple):
    """A bar from 0 to ``share`` of 1, with the ends of its interval where there is one."""

    name: str
    said: str
    share: float | None
    ends: tuple[float, float] | None
    value: str


class _Part(NamedTuple):
    """A section of what was asked besides probes and traps; ``details`` are of single items."""

    text: Markup
    drawing: Markup
    table: Markup
    details: Markup


def audit_html(run: Run, summary: Summary) -> str:
    """Return the report of a run as a whole page; the same run gives the same bytes.

    Args:
        run: manifest and records, complete or not.
        summary: of the same run.
    """
    diagrams, errors = diagrams_of(run, draws=DRAWS), confident_error_cards(run)
    body = (
        environment()
        .get_template("audit.html.j2")
        .render(
            summary=summary,
            tier=summary.tier,
            tier_words=words.tier_words(summary),
            draws=f"{DRAWS:,}",
            headline=words.headline(summary),
            badges=_badges(summary),
            chances=_chances(summary),
            notes=[words.sentence(one_line(note, 400)) for note in (*summary.notes, *words.opinion_notes(summary))],
            supports=words.SUPPORTS,
            supports_not=words.SUPPORTS_NOT,
            caution=CAUTION,
            key_figures=_key_figures(summary),
            attempted=words.sentence(words.attempted_as_wrong(summary)) if summary.imputed is not None else "",
            composite_explained=COMPOSITE,
            composite=words.composite(summary.composite),
            parts=_parts(summary),
            calibration=_calibration(summary),
            reliability=drawn(answers.reliability(diagrams.reliability)),
            reliability_table=_reliability_table(diagrams.reliability),
            discrimination=_discrimination(summary),
            roc=drawn(answers.roc(diagrams.roc, diagrams.thresholds)),
            outcomes=drawn(answers.confidence_by_outcome(diagrams.confidence)),
            risk_coverage=drawn(answers.risk_coverage(diagrams.risk_coverage, diagrams.thresholds)),
            thresholds_table=_thresholds_table(diagrams),
            topics=_shown(topics_section(summary)),
            topics_drawn=drawn(topics.topics(diagrams.topics, groups=diagrams.by_group)),
            traps=_shown(traps_section(summary)),
            traps_drawn=drawn(topics.traps(summary.families)) if summary.families else "",
            asked_further=_asked_further(run, summary),
            errors=errors,
            errors_sentence=errors_sentence(summary, errors.total),
            bounds=_shown(bounds_section(summary)),
            measures_text=from_markdown(measures_section(summary).text),
            measures=_measures_table(summary),
            meanings=[(measure_name(name), name, measure_meaning(name)) for name in summary.metrics],
            method=html_table(("setting", "value"), _harmless(method_rows(run, summary))),
            manifest=html_table(("field", "value"), _harmless(manifest_rows(run.manifest))),
            again=again(run.manifest.settings),
        )
    )
    title = f"{one_line(summary.model.name, 100)}{words.if_simulated(summary.model.simulated)}"
    return html_page(title, Markup(body), lead=_lead(run, summary))  # noqa: S704  # the template escapes all text


def _lead(run: Run, summary: Summary) -> str:
    """Return in a line what was asked, of whom, and when."""
    battery, usage = summary.battery, summary.usage
    asked = []
    if battery is not None:
        counts = f"{words.several(battery.probes, 'probe')} and {words.several(battery.traps, 'trap')}"
        name = f"{one_line(battery.id, 40)} {one_line(battery.version, 20)}"
        asked.append(f"{counts} of the battery {name} ({words.draw_name(battery.draw, 40)}, seed {battery.seed})")
    began = run_start(run.manifest)
    asked.append(f"{began:%Y-%m-%d, %H:%M} UTC" if began is not None else "date unknown")
    if usage is not None:
        asked.append(words.duration(usage.seconds))
    return f"{one_line(summary.model.provider, 40)} · {' · '.join(asked)} · run {one_line(run.manifest.run_id, 60)}"


def _badges(summary: Summary) -> list[str]:
    found = []
    if summary.model.simulated:
        found.append("simulated")
    if summary.tier.provisional and summary.tier.letter != "-":
        found.append("provisional")
    if "echo" in summary.metrics["modal_share"].note:
        found.append("echo: the number does not vary")
    return found


def _chances(summary: Summary) -> list[_Bar]:
    """Return how likely each tier is, from the best to the worst."""
    found = summary.tier.probabilities
    return [
        _Bar(letter, RULES.names[letter], found[letter], None, words.percent(found[letter]))
        for letter in ORDER
        if found.get(letter, 0.0) >= _LEAST
    ]


def _key_figures(summary: Summary) -> list[_KeyFigure]:
    metrics, probes = summary.metrics, summary.counts["probes"]
    median, spotted, silent = metrics["median_confidence"], metrics["trap_abstention"], metrics["non_answer"]
    stated = summary.mean_confidence
    unusable = sum(probes[outcome] for outcome in UNUSABLE)
    lost = f"; {unusable} not readable" if unusable else ""
    lost += f"; {words.several(probes['error'], 'error')}" if probes["error"] else ""
    source = words.source(summary)
    return [
        _figure("accuracy", metrics["accuracy"], "percent"),
        _KeyFigure(
            f"mean {source} confidence",
            "–" if stated is None else f"{stated:.0f}",
            _why(median) if median.value is None else f"median {median.value:.0f} {_ends(median)} · n {median.n}",
        ),
        _figure("gap: stated minus right", metrics["gap"], "signed"),
        _figure("Brier score", metrics["brier"]),
        _figure("AUROC", metrics["auroc"]),
        _figure("discrimination", metrics["discrimination"], "signed"),
        _KeyFigure(
            "traps spotted",
            f"{round((spotted.value or 0) * spotted.n)} of {spotted.n}" if spotted.n else "–",
            f"{words.percent(spotted.value)} {words.interval(spotted, kind='percent')}" if spotted.n else _why(spotted),
        ),
        _KeyFigure(
            "probes left unanswered",
            f"{round((silent.value or 0) * silent.n)} of {silent.n}" if silent.n else "–",
            f"{words.percent(silent.value)} {words.interval(silent, kind='percent')}{lost}"
            if silent.n
            else f"{_why(silent)}{lost}",
        ),
    ]


def _figure(name: str, found: Estimate, kind: str = "fraction") -> _KeyFigure:
    value = {"percent": words.percent, "signed": words.signed, "fraction": words.fraction}[kind](found.value)
    ends = words.interval(found, kind=kind)
    return _KeyFigure(name, value, f"{ends} · n {found.n}" if ends else f"{_why(found)} · n {found.n}")


def _why(found: Estimate) -> str:
    return one_line(found.note, 120) or "no interval"


def _ends(found: Estimate) -> str:
    return f"[{found.ci[0]:.0f}, {found.ci[1]:.0f}]" if found.ci else ""


def _parts(summary: Summary) -> list[_Bar]:
    metrics = summary.metrics
    beside = {
        "brier": (metrics["brier"], "fraction"),
        "gap": (metrics["gap"], "signed"),
        "discrimination": (metrics["discrimination"], "signed"),
        "traps": (metrics["youden"], "signed"),
    }
    parts = summary.composite.parts
    # without traps the other parts bring all of the hundred points
    most = 100 / max(1, sum(part.value is not None for part in parts.values()))
    bars = []
    for name, part in parts.items():
        found, kind = beside[name]
        shown = words.signed(found.value) if kind == "signed" else words.fraction(found.value)
        said = f"{shown} {words.interval(found, kind=kind)}".rstrip()
        value = one_line(part.note, 60) if part.value is None else f"{most * part.value:.0f} of {most:.0f} points"
        bars.append(_Bar(PARTS[name], said, part.value, part.ci, value))
    return bars


def _calibration(summary: Summary) -> str:
    accuracy, gap, stated = summary.metrics["accuracy"], summary.metrics["gap"], summary.mean_confidence
    if stated is None or gap.value is None:
        return f"It cannot be said: {_why(gap)}."
    side = "more" if gap.value > 0 else "less"
    verdict = f"{100 * abs(gap.value):.0f} points {side} than it earns" if round(abs(gap.value), 2) else "what it earns"
    return (
        f"It states {stated:.0f} on average and is right {words.percent(accuracy.value)} of the time: {verdict} "
        f"(gap {words.signed(gap.value)} {words.interval(gap, kind='signed')}, n {gap.n})."
    )


def _discrimination(summary: Summary) -> str:
    auroc, spread = summary.metrics["auroc"], summary.metrics["discrimination"]
    if auroc.value is None or spread.value is None:
        return f"It cannot be said: {_why(auroc)}."
    side = "above" if spread.value >= 0 else "below"
    told = f"{words.signed(spread.value)} {words.interval(spread, kind='signed')}".rstrip()
    area = f"{words.fraction(auroc.value)} {words.interval(auroc)}".rstrip()
    return (
        f"Right answers are stated {100 * abs(spread.value):.0f} points {side} wrong ones on average (discrimination "
        f"{told}). A right answer is stated surer than a wrong one with a chance of {words.percent(auroc.value)} "
        f"(AUROC {area}, n {auroc.n}); 50 % would tell nothing."
    )


def _reliability_table(diagram: ReliabilityDiagram) -> Markup | str:
    if diagram.empty:
        return ""
    rows = []
    for point in diagram.points:
        low, high = 100 * point.low, 100 * point.high
        rows.append(
            [
                f"{low:g}" if low == high else f"{low:.0f} to {high:.0f}",
                str(point.n),
                words.percent(point.accuracy),
                f"[{100 * point.ci[0]:.0f}, {100 * point.ci[1]:.0f}]",
                f"{100 * point.band[0]:.0f} to {100 * point.band[1]:.0f}",
            ]
        )
    return html_table(("stated", "n", "right", "95 % interval", "if calibrated"), rows)


def _thresholds_table(diagrams: Diagrams) -> Markup | str:
    explorer = diagrams.thresholds
    if explorer.empty:
        return ""
    points = [explorer.at_threshold(threshold) for threshold in answers.THRESHOLDS]
    head = ("stated", "kept", "right", "wrong", "gain")
    return html_table(head, [_threshold_row(point, explorer.n) for point in points])


def _threshold_row(point: AtThreshold, n: int) -> list[str]:
    return [
        f"≥ {point.threshold}",
        f"{point.kept} of {n}",
        f"{words.percent(point.accuracy.value)} {words.interval(point.accuracy, kind='percent') or 'no interval'}",
        f"{point.let_through}",
        f"{words.signed(point.gain.value)} {words.interval(point.gain, kind='signed') or 'no interval'}",
    ]


def _measures_table(summary: Summary) -> Markup:
    rows: list[list[str | Markup]] = []
    for name, *rest in measure_rows(summary):
        rows.append([Markup("{}<br><code>{}</code>").format(measure_name(name), name), *rest])
    return html_table(MEASURE_HEAD, rows)


def _asked_further(run: Run, summary: Summary) -> list[_Part]:
    """Return what else the run has asked, each as a section."""
    found = []
    if summary.questionnaire is not None:
        found.append(_part(questionnaire_markdown(summary.questionnaire, summary)))
    if has_claims(run):
        probed = microprobe_of(run)
        drawing = claims.dose_response(dose_response_of(probed))
        found.append(_part(microprobe_markdown(probed), drawn(drawing), items=True))
    if summary.anchor is not None:
        found.append(_part(anchor_markdown(summary.anchor), drawn(claims.anchor(summary.anchor))))
    sections = (fresh_check_section, repeats_section, sources_section, second_opinion_section)
    return found + [_part(section.markdown()) for made in sections if (section := made(summary)) is not None]


def _part(markdown: str, drawing: Markup | None = None, *, items: bool = False) -> _Part:
    """Return a section in Markdown in parts, so that its drawing comes before its tables.

    ``items`` says that its last table has a row for each item.
    """
    text, mark, tables = markdown.partition(TABLE)
    table, last, details = tables.rpartition(TABLE) if items else (tables, "", "")
    return _Part(from_markdown(text), drawing or Markup(""), from_markdown(mark + table), from_markdown(last + details))


def _shown(section: Section | None) -> tuple[Markup, Markup] | None:
    return None if section is None else (from_markdown(section.text), from_markdown(section.table))


def _harmless(rows: Sequence[tuple[str, str]]) -> list[list[str]]:
    return [[excerpt(text, _FIELD) for text in row] for row in rows]
