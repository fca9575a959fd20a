"""What a run came to, whatever it asked: as a document, as lines for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from selfdiag.report import words
from selfdiag.report.page import cell
from selfdiag.runs.records import LADDER, MICROPROBE, SELFSELECT, SWAP, TOPICPASS, kind_of
from selfdiag.runs.store import Run


class Result(NamedTuple):
    """A result: ``document`` for JSON, ``lines`` for a terminal (plain or not), ``markdown`` and ``html`` for files."""

    document: Any
    lines: Callable[[bool], list[str]]
    markdown: Callable[[], str]
    html: Callable[[], str]


def result_of(run: Run, *, full_intervals: bool = False) -> Result:
    """Return the result of a run: of an experiment, of a self-assessment, or else of an audit.

    Args:
        run: manifest and records.
        full_intervals: refit the fitted measures of an audit in every draw, which takes seconds.
    """
    others = {
        LADDER: _ladder,
        TOPICPASS: _topicpass,
        SWAP: _swap,
        MICROPROBE: _microprobe,
        SELFSELECT: _selfselect,
        "assess": _assessment,
    }
    made = others.get(kind_of(run.manifest.settings.sections))
    return made(run) if made is not None else _audit(run, full_intervals)


def _audit(run: Run, full_intervals: bool) -> Result:
    from selfdiag.protocols.audit import summarise
    from selfdiag.report.audit_markdown import audit_markdown
    from selfdiag.report.card import card_lines, framed

    summary = summarise(run, full_intervals=full_intervals)
    lines = card_lines(summary)

    def html() -> str:
        from selfdiag.report.audit_html import audit_html

        return audit_html(run, summary)

    return Result(summary, lambda plain: lines if plain else framed(lines), lambda: audit_markdown(run, summary), html)


def _assessment(run: Run) -> Result:
    from selfdiag.protocols.assess import assess_of
    from selfdiag.report.assessment import assessment_lines
    from selfdiag.report.assessment_markdown import assessment_markdown

    found = assess_of(run)

    def text() -> str:
        return assessment_markdown(run, found)

    def html() -> str:
        from selfdiag.report.experiment_html import assessment_html

        return assessment_html(found, text())

    return Result(found, lambda plain: assessment_lines(found, plain=plain), text, html)


def _microprobe(run: Run) -> Result:
    from selfdiag.protocols.microprobe import microprobe_of
    from selfdiag.report.arms import method_markdown
    from selfdiag.report.microprobe import microprobe_lines, microprobe_markdown

    found = microprobe_of(run)
    title = f"# Microprobe: {cell(found.model)}{words.if_simulated(found.simulated)}"
    flags = [] if found.summary.labelled else ["--no-label"]
    flags += ["--auto"] if found.summary.tried else ["--claims", ",".join(map(str, found.summary.claims))]

    def text() -> str:
        asked = f"## How it was asked\n\n{method_markdown(run, MICROPROBE, flags)}\n"
        return "\n\n".join([title, microprobe_markdown(found), asked])

    def html() -> str:
        from selfdiag.report.experiment_html import microprobe_html

        return microprobe_html(found, text())

    return Result(found.document(), lambda plain: microprobe_lines(found, plain=plain), text, html)


def _ladder(run: Run) -> Result:
    from selfdiag.protocols.ladder import ladder_of
    from selfdiag.report.ladder import ladder_lines, ladder_markdown

    found = ladder_of(run)

    def text() -> str:
        return ladder_markdown(run, found)

    def html() -> str:
        from selfdiag.report.experiment_html import ladder_html

        return ladder_html(found, text())

    return Result(found, lambda _: ladder_lines(found), text, html)


def _topicpass(run: Run) -> Result:
    from selfdiag.protocols.topicpass import topicpass_of
    from selfdiag.report.topicpass import topicpass_lines, topicpass_markdown

    found = topicpass_of(run)

    def text() -> str:
        return topicpass_markdown(run, found)

    def html() -> str:
        from selfdiag.report.experiment_html import topicpass_html

        return topicpass_html(found, text())

    return Result(found, lambda _: topicpass_lines(found), text, html)


def _swap(run: Run) -> Result:
    from selfdiag.protocols.swap import swap_of
    from selfdiag.report.swap import swap_lines, swap_markdown

    found = swap_of(run)

    def text() -> str:
        return swap_markdown(run, found)

    def html() -> str:
        from selfdiag.report.experiment_html import swap_html

        return swap_html(found, text())

    return Result(found, lambda _: swap_lines(found), text, html)


def _selfselect(run: Run) -> Result:
    from selfdiag.protocols.selfselect import selfselect_of
    from selfdiag.report.selfselect import selfselect_lines, selfselect_markdown

    found = selfselect_of(run)

    def text() -> str:
        return selfselect_markdown(run, found)

    def html() -> str:
        from selfdiag.report.experiment_html import selfselect_html

        return selfselect_html(found, text())

    return Result(found, lambda _: selfselect_lines(found), text, html)
