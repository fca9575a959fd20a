"""Experiments and self-assessments as HTML pages: the Markdown report with drawings where its verdict ends."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from selfdiag.protocols.arms import ArmFigures
from selfdiag.protocols.assess import Assessment
from selfdiag.protocols.diagrams import dose_response_of, radar_of
from selfdiag.protocols.ladder import Ladder
from selfdiag.protocols.microprobe import Microprobe
from selfdiag.protocols.panel_result import CANONICAL, STRICT, PanelResult
from selfdiag.protocols.selfselect import SelfSelection
from selfdiag.protocols.swap import Swap
from selfdiag.protocols.topicpass import TopicPass
from selfdiag.report import words
from selfdiag.report.arms import who_was_asked
from selfdiag.report.drawings import experiments
from selfdiag.report.drawings.claims import dose_response, radar
from selfdiag.report.drawings.experiments import Shown
from selfdiag.report.drawings.svg import Drawing
from selfdiag.report.html_page import drawn, from_markdown, html_page
from selfdiag.report.page import TABLE
from selfdiag.report.panel import model_words
from selfdiag.safety import one_line

_DESIGN = "\n\n## Design\n"


def microprobe_html(found: Microprobe, markdown: str) -> str:
    """Return the page of a microprobe.

    Args:
        found: its result.
        markdown: its report, which the page holds whole.
    """
    drawings = [dose_response(dose_response_of(found))]
    return _page(_title("Microprobe", found.model, found.simulated), markdown, drawings, before=TABLE)


def ladder_html(found: Ladder, markdown: str) -> str:
    """Return the page of a ladder; arguments as above."""
    shown = [
        Shown(
            f"own - {one.against}",
            "confirmatory" if one.confirmatory else "exploratory",
            one.by_item.difference,
            better=True,
        )
        for one in found.contrasts
    ]
    return _experiment("Profile ladder", found, markdown, _of_auroc(shown, found.arms))


def swap_html(found: Swap, markdown: str) -> str:
    """Return the page of a swap; arguments as above."""
    shown = [
        Shown(f"{one.arm} - {one.against}", "exploratory", one.measures["auroc"].difference, better=True)
        for one in found.contrasts
    ]
    return _experiment("Profile swap", found, markdown, _of_auroc(shown, found.arms))


def topicpass_html(found: TopicPass, markdown: str) -> str:
    """Return the page of a topic pass; arguments as above."""
    passes = (("named", found.labelled), ("unnamed", found.unlabelled))
    shown = [Shown(f"topic {name}", "false - true", one.followed) for name, one in passes]
    shown.append(Shown("the name adds", "named - unnamed", found.association))
    drawings = [
        experiments.differences(shown, of="points toward the claim", scale="points"),
        experiments.arms([(f"{arm.arm}, {name}", arm) for name, one in passes for arm in (one.true, one.false)]),
    ]
    return _experiment("Topic pass", found, markdown, drawings)


def selfselect_html(found: SelfSelection, markdown: str) -> str:
    """Return the page of a self-selection; arguments as above."""
    metrics = found.metrics
    shown = [
        Shown("picking adds", "to accuracy", found.solving.gain, better=True),
        Shown("the order", "first - second", found.order.difference),
        Shown("gap", "says - right", metrics["gap"]),
    ]
    drawings = [experiments.differences(shown, of="shares", scale="share")]
    return _experiment("Self-selection", found, markdown, drawings)


def assessment_html(found: Assessment, markdown: str) -> str:
    """Return the page of a self-assessment; arguments as above."""
    title = _title("Self-assessment", found.model.name, found.model.simulated)
    return _page(title, markdown, [radar(radar_of(found))], before=TABLE)


def panel_html(found: PanelResult, markdown: str) -> str:
    """Return the page of a panel; arguments as above."""
    name = STRICT if STRICT in found.codings else CANONICAL
    coded = found.codings[name]
    shown = [
        Shown(one.letter, one_line(model.model.name, 20), one.difference, better=True)
        for one, model in zip(coded.models, found.models, strict=True)
    ]
    drawings = [experiments.differences(shown, of="AUROC, panel - own", scale="share")]
    title = f"Panel: {', '.join(map(model_words, found.models))}"
    return _page(title, markdown, drawings, before="\n\n## Models\n")


def _of_auroc(shown: Sequence[Shown], arms: Sequence[ArmFigures]) -> list[Drawing | str]:
    return [
        experiments.differences(shown, of="AUROC", scale="share"),
        experiments.arms([(arm.arm, arm) for arm in arms]),
    ]


def _experiment(
    kind: str, found: Ladder | Swap | TopicPass | SelfSelection, markdown: str, drawings: Sequence[Drawing | str]
) -> str:
    title = _title(kind, found.model.name, found.model.simulated)
    return _page(title, markdown, drawings, before=_DESIGN, lead=who_was_asked(found.model, found.battery))


def _page(title: str, markdown: str, drawings: Sequence[Drawing | str], *, before: str, lead: str = "") -> str:
    """Return the report as a page; its own title goes, and the drawings stand before the first ``before``."""
    report = markdown.partition("\n")[2].strip()
    verdict, mark, rest = report.partition(before)
    opening, heading, further = verdict.partition("## ")
    parts = [
        Markup("<section>{}</section>").format(from_markdown(opening)) if opening else Markup(),
        from_markdown(heading + further),
        Markup('<div class="pair">{}</div>').format(Markup("\n").join(map(drawn, drawings))),
        from_markdown(mark + rest),
    ]
    return html_page(title, Markup("\n").join(parts), lead=lead)


def _title(kind: str, model: str, simulated: bool) -> str:
    return f"{kind}: {one_line(model, 100)}{words.if_simulated(simulated)}"
