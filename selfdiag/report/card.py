"""The tier card: what a person sees at the end of a run and on top of every report."""

from __future__ import annotations

import textwrap

from selfdiag.protocols.audit import Summary
from selfdiag.report import words
from selfdiag.safety import one_line

WIDTH = 80
INNER = WIDTH - 6


def card_lines(summary: Summary) -> list[str]:
    """Return the card's lines without a frame, none wider than ``INNER`` characters."""
    lines = [_what(summary), "", _tier_line(summary), ""]
    lines += [f"  {line}" for line in textwrap.wrap(_sentence(summary), INNER - 2)]
    lines += ["", *(_pair(left, right) for left, right in _figures(summary)), ""]
    for note in summary.notes:
        lines += textwrap.wrap(f"! {one_line(note, 400)}", INNER, subsequent_indent="  ")
    if summary.notes:
        lines.append("")
    lines += [f"Supports: {words.SUPPORTS}", f"Does not: {words.SUPPORTS_NOT}"]
    return lines


def framed(lines: list[str]) -> list[str]:
    """Return the lines in a frame of ``WIDTH`` characters, drawn with box characters."""
    from rich.cells import cell_len

    blank = " " * (WIDTH - 2)
    body = [f"│  {line}{' ' * max(INNER - cell_len(line), 0)}  │" for line in lines]
    return [f"╭{'─' * (WIDTH - 2)}╮", *body, f"╰{blank.replace(' ', '─')}╯"]


def _what(summary: Summary) -> str:
    model = one_line(summary.model.name, 30)
    simulated = " (simulated)" if summary.model.simulated else ""
    battery = summary.battery
    draw = one_line(battery.draw.replace("\\", "/").rstrip("/").rpartition("/")[2], 16)
    asked = f"{battery.probes} probes, {battery.traps} traps"
    parts = [
        f"{model}{simulated}",
        summary.model.provider,
        f"{draw} {'fresh ' if '-fresh-' in battery.id else ''}{one_line(battery.version, 8)}",
        asked,
        words.duration(summary.usage.seconds),
    ]
    while len(" · ".join(parts)) > INNER and len(parts) > 3:
        del parts[1]
    return " · ".join(parts)


def _tier_line(summary: Summary) -> str:
    letter = summary.tier.letter
    shown = letter if summary.tier.range in {letter, ""} else f"{letter} ({summary.tier.range})"
    left = f" {shown}   {words.tier_words(summary)}"
    right = words.chances(summary) if letter != "-" else ""
    while right and len(left) + len(right) + 2 > INNER:
        right = right.rpartition(" · ")[0]
    return f"{left}{right:>{INNER - len(left)}}"


def _sentence(summary: Summary) -> str:
    return f"{words.headline(summary)} {summary.tier.advice}"


def _figures(summary: Summary) -> list[tuple[str, str]]:
    metrics = summary.metrics
    accuracy, brier, gap = metrics["accuracy"], metrics["brier"], metrics["gap"]
    auroc, spread = metrics["auroc"], metrics["discrimination"]
    probes, traps = summary.counts["probes"], summary.counts["traps"]
    stated, median = words.mean_stated(summary), metrics["median_confidence"].value
    modal = metrics["modal_share"]
    echo = " ⚑ echo" if "echo" in modal.note else ""
    trap_usable = traps["abstained"] + traps["incorrect"] + traps["refused"]
    silent = probes["abstained"] + probes["refused"]
    unusable = sum(probes[outcome] for outcome in ("unparsed", "truncated", "empty", "overflow"))
    return [
        (
            _figure("accuracy", words.percent(accuracy.value), words.interval(accuracy, kind="percent"))
            + f"  n {accuracy.n}",
            f"stated     {'–' if stated is None else f'{stated:.0f}'}"
            + ("" if median is None else f"   median {median:.0f}"),
        ),
        (
            _figure("Brier", words.fraction(brier.value), words.interval(brier)),
            "" if modal.value is None else f"the same number in {words.percent(modal.value)}{echo}",
        ),
        (
            _figure("gap", words.signed(gap.value), words.interval(gap, kind="signed")),
            f"discrimination  {words.signed(spread.value)} {words.interval(spread, kind='signed')}",
        ),
        (
            _figure("AUROC", words.fraction(auroc.value), words.interval(auroc) or _why(auroc.note)),
            f"traps spotted   {traps['abstained']} of {trap_usable}" if trap_usable else "without traps",
        ),
        (
            f"{'no answer':<9} {silent:>6} of {sum(probes.values()) - probes['not_asked']}",
            f"not readable    {unusable}" + (f", errors {probes['error']}" if probes["error"] else ""),
        ),
    ]


def _figure(name: str, value: str, ci: str) -> str:
    return f"{name:<9} {value:>6}  {ci}"


def _why(note: str) -> str:
    """Return the reason of a missing interval in few words, such as ``needs 5 right, has 3``."""
    for part in note.split("; "):
        if part.startswith("no interval: needs"):
            return part.removeprefix("no interval: ").replace(" answers", "")
    return "constant confidence" if "confidence constant" in note else note.partition(";")[0][:20]


def _pair(left: str, right: str) -> str:
    return f"{left:<40}{right}"[:INNER].rstrip()
