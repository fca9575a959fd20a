"""The tier card: what a person sees at the end of a run and on top of every report."""

from __future__ import annotations

import re
import textwrap

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.tally import UNUSABLE
from selfdiag.protocols.summary import Summary
from selfdiag.report import words
from selfdiag.report.assessment import questionnaire_lines
from selfdiag.report.microprobe_words import set_sentence
from selfdiag.report.page import INNER, WIDTH
from selfdiag.report.table import sources_lines
from selfdiag.safety import one_line

_TIER_LINE = 3
"""Which line of the framed card names the tier."""


def card_lines(summary: Summary) -> list[str]:
    """Return the card's lines without a frame, none wider than ``INNER`` characters."""
    lines = [_what(summary), "", _tier_line(summary), ""]
    lines += [f"  {line}" for line in textwrap.wrap(_sentence(summary), INNER - 2)]
    lines += ["", *(_pair(left, right) for left, right in _figures(summary)), ""]
    for note in (*summary.notes, *words.opinion_notes(summary)):
        lines += textwrap.wrap(f"! {one_line(note, 400)}", INNER, subsequent_indent="  ")
    if lines[-1]:
        lines.append("")
    if summary.imputed is not None:
        lines += [*textwrap.wrap(words.attempted_as_wrong(summary), INNER, subsequent_indent="  "), ""]
    for line in sources_lines(summary.sources or {}):
        lines += [*textwrap.wrap(line, INNER, subsequent_indent="  "), ""]
    if summary.questionnaire is not None:
        lines += [*questionnaire_lines(summary.questionnaire, summary), ""]
    for sentence in _moved(summary):
        lines += [*textwrap.wrap(sentence, INNER, subsequent_indent="  "), ""]
    lines += [f"Supports: {words.SUPPORTS}", f"Does not: {words.SUPPORTS_NOT}"]
    return lines


def _moved(summary: Summary) -> list[str]:
    """Return what moves its confidence, as far as that was asked."""
    moved = []
    if summary.microprobe is not None:
        moved.append(f"Claims: {set_sentence(summary.microprobe)}")
    if summary.anchor is not None:
        moved.append(f"Example: {summary.anchor.sentence}")
    return moved


def framed(lines: list[str]) -> list[str]:
    """Return the lines in a frame of ``WIDTH`` cells, drawn with box characters; what is wider goes on below."""
    from rich.cells import chop_cells, set_cell_size

    pieces = [piece for line in lines for piece in (chop_cells(line, INNER) or [""])]
    body = [f"│  {set_cell_size(piece, INNER)}  │" for piece in pieces]
    edge = "─" * (WIDTH - 2)
    return [f"╭{edge}╮", *body, f"╰{edge}╯"]


def painted(lines: list[str]) -> list[str]:
    """Return a framed card with its tier in colour; other lines as they are."""
    from click import style

    if len(lines) <= _TIER_LINE or not lines[0].startswith("╭"):
        return lines
    edge, tier = lines[_TIER_LINE][0], lines[_TIER_LINE][1:-1]
    return [*lines[:_TIER_LINE], f"{edge}{style(tier, bold=True, fg='cyan')}{edge}", *lines[_TIER_LINE + 1 :]]


def _what(summary: Summary) -> str:
    from rich.cells import cell_len, set_cell_size

    name = one_line(summary.model.name, 30)
    if cell_len(name) > 30:  # characters of some scripts take two cells
        name = f"{set_cell_size(name, 29).rstrip()}…"
    model = f"{name}{words.if_simulated(summary.model.simulated)}"
    battery = summary.battery
    if battery is None or summary.usage is None:
        return _what_file(summary)
    draw = words.draw_name(battery.draw, 16)
    asked = f"{words.several(battery.probes, 'probe')}, {words.several(battery.traps, 'trap')}"
    version = "" if battery.version == "0" else f" {one_line(battery.version, 8)}"
    parts = [
        model,
        summary.model.provider,
        f"{draw}{' fresh' if '-fresh-' in battery.id else ''}{version}",
        asked,
        words.duration(summary.usage.seconds),
    ]
    while cell_len(" · ".join(parts)) > INNER and len(parts) > 3:
        del parts[1]
    return " · ".join(parts)


def _what_file(summary: Summary) -> str:
    """Return what a summary of imported answers speaks of."""
    group = summary.group
    names = [group.model, group.bin, group.file] if group is not None else []
    asked = sum(summary.counts["probes"].values()), sum(summary.counts["traps"].values())
    parts = [one_line(name, 30) for name in names if name]
    parts += [words.several(number, noun) for number, noun in zip(asked, ("answer", "trap"), strict=True) if number]
    return " · ".join(parts)[:INNER]


def _tier_line(summary: Summary) -> str:
    letter = summary.tier.letter
    shown = letter if summary.tier.range in {letter, ""} else f"{letter} ({summary.tier.range})"
    left = f" {shown}   {words.tier_words(summary)}"
    right = words.chances(summary) if letter != "-" else ""
    while right and len(left) + len(right) + 2 > INNER:
        right = right.rpartition(" · ")[0]
    return f"{left}{right:>{INNER - len(left)}}".rstrip()


def _sentence(summary: Summary) -> str:
    return f"{words.headline(summary)} {summary.tier.advice}"


def _figures(summary: Summary) -> list[tuple[str, str]]:
    metrics = summary.metrics
    accuracy, brier, gap = metrics["accuracy"], metrics["brier"], metrics["gap"]
    auroc, spread, spotted = metrics["auroc"], metrics["discrimination"], metrics["trap_abstention"]
    probes = summary.counts["probes"]
    stated, median = summary.mean_confidence, metrics["median_confidence"].value
    modal = metrics["modal_share"]
    echo = " ⚑ echo" if "echo" in modal.note else ""
    silent = probes["abstained"] + probes["refused"]
    unusable = sum(probes[outcome] for outcome in UNUSABLE)
    label = words.source(summary)
    said = f"{label:<10} –" if stated is None else f"{label:<10} {stated:.0f}"
    caught = round((spotted.value or 0) * spotted.n)
    found = f"traps spotted   {caught} of {spotted.n}  {words.interval(spotted, kind='percent')} %"
    return [
        (
            _figure("accuracy", words.percent(accuracy.value), words.interval(accuracy, kind="percent"))
            + f"  n {accuracy.n}",
            said + ("" if median is None else f"   median {median:.0f}"),
        ),
        (
            _figure("Brier", words.fraction(brier.value), words.interval(brier) or _why(brier)),
            "" if modal.value is None else f"the same number in {words.percent(modal.value)}{echo}",
        ),
        (
            _figure("gap", words.signed(gap.value), words.interval(gap, kind="signed") or _why(gap)),
            f"discrimination  {words.signed(spread.value)} {words.interval(spread, kind='signed') or _why(spread)}",
        ),
        (
            _figure("AUROC", words.fraction(auroc.value), words.interval(auroc) or _why(auroc)),
            found if spotted.n else "without traps",
        ),
        (
            f"{'no answer':<9} {silent:>6} of {metrics['non_answer'].n}",
            f"not readable    {unusable}" + (f", errors {probes['error']}" if probes["error"] else ""),
        ),
    ]


def _figure(name: str, value: str, ci: str) -> str:
    return f"{name:<9} {value:>6}  {ci}"


def _why(estimate: Estimate) -> str:
    """Return in at most 20 characters why a value or its interval is missing."""
    note = estimate.note
    if estimate.value is None:
        reason = note.removeprefix("not defined: ").replace("all answers were ", "all ")
        return "no data" if note.startswith("no data") else reason if len(reason) <= 20 else "not defined"
    for part in note.split("; "):
        found = re.fullmatch(r"no interval: needs \d+ (right|wrong) answers, has (\d+)", part)
        if found:
            return f"no interval: {found[2]} {found[1]}"
    return "constant confidence" if "confidence constant" in note else "no interval"


def _pair(left: str, right: str) -> str:
    return f"{left:<40}{right}"[:INNER].rstrip()
