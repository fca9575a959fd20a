"""What a run came to, whatever it asked: as a document, as lines for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from selfdiag.report.page import cell
from selfdiag.runs.records import LADDER, MICROPROBE, SWAP, TOPICPASS, kind_of
from selfdiag.runs.store import Run


class Result(NamedTuple):
    """A result: ``document`` for JSON, ``lines`` for a terminal (plain or not), ``markdown`` for a file."""

    document: Any
    lines: Callable[[bool], list[str]]
    markdown: Callable[[], str]


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
        "assess": _assessment,
    }
    made = others.get(kind_of(run.manifest.settings.sections))
    return made(run) if made is not None else _audit(run, full_intervals)


def _audit(run: Run, full_intervals: bool) -> Result:
    from selfdiag.protocols.audit import summarise
    from selfdiag.report.card import card_lines, framed
    from selfdiag.report.markdown import markdown

    summary = summarise(run, full_intervals=full_intervals)
    lines = card_lines(summary)
    return Result(summary, lambda plain: lines if plain else framed(lines), lambda: markdown(run, summary))


def _assessment(run: Run) -> Result:
    from selfdiag.protocols.assess import assess_of
    from selfdiag.report.assessment import assessment_lines
    from selfdiag.report.assessment_markdown import assessment_markdown

    found = assess_of(run)
    return Result(found, lambda plain: assessment_lines(found, plain=plain), lambda: assessment_markdown(run, found))


def _microprobe(run: Run) -> Result:
    from selfdiag.protocols.microprobe import microprobe_of
    from selfdiag.report.arms import method_rows
    from selfdiag.report.microprobe import microprobe_lines, microprobe_markdown

    found = microprobe_of(run)
    title = f"# Microprobe: {cell(found.model)}{' (simulated)' if found.simulated else ''}"
    flags = [] if found.summary.labelled else ["--no-label"]
    flags += ["--auto"] if found.summary.tried else ["--claims", ",".join(map(str, found.summary.claims))]
    return Result(
        found.document(),
        lambda plain: microprobe_lines(found, plain=plain),
        lambda: "\n\n".join(
            [title, microprobe_markdown(found), f"## How it was asked\n\n{method_rows(run, MICROPROBE, flags)}\n"]
        ),
    )


def _ladder(run: Run) -> Result:
    from selfdiag.protocols.ladder import ladder_of
    from selfdiag.report.ladder import ladder_lines, ladder_markdown

    found = ladder_of(run)
    return Result(found, lambda _: ladder_lines(found), lambda: ladder_markdown(run, found))


def _topicpass(run: Run) -> Result:
    from selfdiag.protocols.topicpass import topicpass_of
    from selfdiag.report.topicpass import topicpass_lines, topicpass_markdown

    found = topicpass_of(run)
    return Result(found, lambda _: topicpass_lines(found), lambda: topicpass_markdown(run, found))


def _swap(run: Run) -> Result:
    from selfdiag.protocols.swap import swap_of
    from selfdiag.report.swap import swap_lines, swap_markdown

    found = swap_of(run)
    return Result(found, lambda _: swap_lines(found), lambda: swap_markdown(run, found))
