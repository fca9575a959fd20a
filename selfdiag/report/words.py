"""How numbers are worded, the same in every report."""

from __future__ import annotations

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.summary import Composite
from selfdiag.protocols.summary import Summary
from selfdiag.safety import one_line

SUPPORTS = "whether to trust this number from this model at these settings."
SUPPORTS_NOT = "say how good its answers are, or what it knows."

SAYS = {
    "stated": "says",
    "posthoc": "says, asked afterwards,",
    "logprob": "its tokens say",
}


def several(count: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun: 1 trap, 21 traps; ``nouns`` is a plural that is not made by an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {nouns or f'{noun}s'}"


def percent(value: float | None) -> str:
    """Return a share in [0, 1] as whole percent, or a dash."""
    return "–" if value is None else f"{100 * value:.0f} %"


def fraction(value: float | None) -> str:
    """Return a value in [0, 1] with three decimals and no leading zero, or a dash."""
    if value is None:
        return "–"
    text = f"{round(value, 3) + 0.0:.3f}"  # adding 0 takes the sign from a negative zero
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def signed(value: float | None) -> str:
    """Return a difference in [-1, 1] with its sign, or a dash."""
    if value is None:
        return "–"
    text = fraction(abs(value))
    return f"{'-' if round(value, 3) < 0 else '+'}{text}"


def p_value(p: float | None) -> str:
    """Return a p-value with three decimals, or a dash."""
    return "–" if p is None else "<.001" if p < 0.0005 else "1" if p > 0.9995 else fraction(p)


def interval(estimate: Estimate, *, kind: str = "fraction") -> str:
    """Return a 95 % interval in brackets, or an empty text when there is none.

    ``kind`` is ``percent``, ``fraction`` or ``signed``.
    """
    if estimate.ci is None:
        return ""
    low, high = estimate.ci
    if kind == "percent":
        return f"[{100 * low:.0f}, {100 * high:.0f}]"
    if kind == "signed":
        return f"[{_short(low, sign=True)}, {_short(high, sign=True)}]"
    return f"[{_short(low)}, {_short(high)}]"


def if_simulated(simulated: bool) -> str:
    """Return what stands behind the name of a simulated model, and nothing behind that of a real one."""
    return " (simulated)" if simulated else ""


def draw_name(draw: str, limit: int) -> str:
    """Return the name of a draw, or of the file or folder that was asked, in at most ``limit`` characters."""
    return one_line(draw.replace("\\", "/").rstrip("/").rpartition("/")[2], limit)


def sentence(text: str) -> str:
    """Return a remark as a sentence, with a capital and a full stop; an empty one stays empty."""
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def headline(summary: Summary) -> str:
    """Return one sentence: how often it is right and how sure it says it is."""
    probes = summary.counts["probes"]
    if sum(probes.values()) == probes["not_asked"]:
        return "No probe has been asked."
    right = probes["correct"]
    graded = right + probes["incorrect"]
    if not graded:
        return "It gave no answer that could be graded."
    stated = summary.mean_confidence
    if stated is None:
        return f"It answers {right} of {graded} right."
    if source(summary) == "agreement":
        return f"It answers {right} of {graded} right and says the same again {stated:.0f} % of the time."
    return f"It answers {right} of {graded} right and {SAYS[source(summary)]} {stated:.0f} on average."


def source(summary: Summary) -> str:
    """Return which source of confidence the measures speak of."""
    return str((summary.asked_with or {}).get("confidence", "stated"))


def composite(found: Composite) -> str:
    """Return the composite in points with its interval, or an empty text where there is none."""
    if found.value is None:
        return ""
    ends = f" [{found.ci[0]:.0f}, {found.ci[1]:.0f}]" if found.ci else ""
    return f"{found.value:.0f} of 100{ends}"


def attempted_as_wrong(summary: Summary) -> str:
    """Return the figures in which refusals and abstentions with a confidence count as wrong, in one sentence."""
    metrics, stated = summary.metrics_attempted, summary.mean_confidence_attempted
    accuracy, gap, brier, auroc = (metrics[name] for name in ("accuracy", "gap", "brier", "auroc"))
    figures = (
        f"accuracy {percent(accuracy.value)} {interval(accuracy, kind='percent')}",
        f"stated {'–' if stated is None else f'{stated:.0f}'}",
        f"gap {signed(gap.value)} {interval(gap, kind='signed')}",
        f"Brier {fraction(brier.value)} {interval(brier)}",
        f"AUROC {fraction(auroc.value)} {interval(auroc)}",
    )
    return f"Attempted as wrong, n {gap.n}: {', '.join(figure.rstrip() for figure in figures)}"


def opinion_notes(summary: Summary) -> tuple[str, ...]:
    """Return what a judge's second opinion would change, in one sentence, or nothing without a judge."""
    found = summary.second_opinion
    if found is None:
        return ()
    accuracy, gap = found.metrics["accuracy"], found.metrics["gap"]
    share = f"{found.same} of {several(found.undecided, 'undecided answer')}"
    judged = found.same + found.different
    if not judged:
        return (f"judge {found.model}: none of its {found.unread} opinions could be read",)
    if judged < found.undecided:
        share += f" ({found.unread} opinions not readable, {found.not_asked} not asked)"
    return (
        f"judge {found.model}: {share} give the key's answer; with them accuracy {percent(accuracy.value)}, "
        f"gap {signed(gap.value)}, tier {found.tier} (not counted above)",
    )


def duration(seconds: float) -> str:
    """Return a time as a person says it: 41 s, 3 min 20 s, 1 h 05 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def chances(summary: Summary, least: float = 0.03) -> str:
    """Return the tier's probabilities, the likeliest first, those below ``least`` left out."""
    shown = [f"{letter} {100 * p:.0f} %" for letter, p in summary.tier.probabilities.items() if p >= least]
    return " · ".join(shown)


def tier_words(summary: Summary) -> str:
    """Return the tier's name with its direction and reservations."""
    words = [summary.tier.name]
    if summary.tier.direction and summary.tier.letter != "-":
        words.append(summary.tier.direction)
    if summary.tier.provisional and summary.tier.letter != "-":
        words.append("provisional")
    if "without traps" in summary.composite.note:
        words.append("without traps")
    return ", ".join(words)


def _short(value: float, *, sign: bool = False) -> str:
    text = f"{abs(value):.2f}"
    text = text[1:] if text.startswith("0.") else text
    minus = "-" if value < 0 and float(f"{value:.2f}") != 0 else ""
    return f"{minus or ('+' if sign else '')}{text}"
