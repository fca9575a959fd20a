"""The sections of an audit's report, as Markdown: the same text and tables stand in every form of it."""

from __future__ import annotations

from typing import NamedTuple

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.reliability import GroupRow
from selfdiag.protocols.rows import PER_BIN
from selfdiag.protocols.summary import Summary
from selfdiag.report import words
from selfdiag.report.page import cell, table

MEASURE_HEAD = ("measure", "value", "95 % interval", "n", "attempted as wrong", "interval by", "note")
WORST = 10
"""So many confident errors are shown."""
PARTS = {
    "brier": "Brier score",
    "gap": "overconfidence gap",
    "discrimination": "discrimination",
    "traps": "traps minus probes",
}
"""The parts of the composite, and how they are told."""
COMPOSITE = "The plain mean of the parts, each from 0 (bad) to 1 (good). It is selfdiag's own proxy, not an endpoint."
CAUTION = "The questions are few, short and author-rated in difficulty, and another prompt is another measurement."
_SMALL = 100
"""Below so many answers these measures say more about the sample than about the model."""
_NOISY = ("ece", "reliability", "mce")
_GRADED = (("probes", "correct"), ("probes", "incorrect"), ("traps", "incorrect"))
"""Outcomes of answers that are right or wrong, by section."""


class Section(NamedTuple):
    """One section: its title as plain text, and its text and its table as Markdown, either of them empty or not."""

    title: str
    text: str = ""
    table: str = ""

    def markdown(self) -> str:
        """Return the section as a part of a report."""
        return "\n\n".join(part for part in (f"## {self.title}", self.text, self.table) if part)


def bounds_section(summary: Summary) -> Section | None:
    """Return what accuracy and gap could be at worst and at best, or None where nearly all replies were used."""
    if summary.bounds is None:
        return None
    rows = []
    for name, limits in summary.bounds.items():
        shown = words.signed if name == "gap" else words.percent
        rows.append([name, *(shown(limit) for limit in limits or (None, None))])
    return Section(
        "Bounds",
        "Replies that could not be used are not missing at random. The ends of the accuracy are what it would be had "
        "all of them been wrong, or right; those of the gap had all of them been right at confidence 0, or wrong at "
        "100:",
        table(["measure", "lowest", "highest"], rows),
    )


def measures_section(summary: Summary) -> Section:
    """Return every measure with its interval, n, method and note."""
    return Section(
        "Measures",
        "Over graded probes with a stated confidence. *Attempted as wrong* also counts as wrong every refusal of a "
        "probe, and every abstention from one, that came with a confidence. A dash means not defined; the note says "
        "why. What each measure is stands in docs/measures.md of selfdiag.",
        table(MEASURE_HEAD, measure_rows(summary)),
    )


def measure_rows(summary: Summary) -> list[list[str]]:
    """Return a row under ``MEASURE_HEAD`` for each measure, by its name."""
    rows = []
    for name, estimate in summary.metrics.items():
        noisy = name in _NOISY and estimate.n < _SMALL
        note = "; ".join(filter(None, (estimate.note, "a small sample: read it beside its null band" if noisy else "")))
        rows.append(
            [
                name,
                _value(estimate),
                _interval(estimate),
                str(estimate.n),
                _value(summary.metrics_attempted.get(name)),
                estimate.method,
                note,
            ]
        )
    return rows


def topics_section(summary: Summary) -> Section | None:
    """Return accuracy and confidence by topic, or by group where topics are too small; None without any."""
    largest = max((row.n for row in summary.bins), default=0)
    few = largest < PER_BIN
    grouped = few and bool(summary.groups)
    rows, worst = (summary.groups, summary.worst_group) if grouped else (summary.bins, summary.worst_bin)
    if not rows:
        return None
    what = "group" if grouped else "topic"
    chance = (
        f" The largest gap of a {what} is {words.signed(worst.gap)} ({cell(worst.name)}); of {what}s of these sizes, "
        f"all calibrated, the worst shows {words.fraction(worst.band.mean)} on average and stays below "
        f"{words.fraction(worst.band.upper)} in 95 % of samples."
        if worst is not None
        else ""
    )
    why = f" Single topics have fewer than {PER_BIN} answers each, too few to speak of them." if few else ""
    again = (
        " Questions were asked more than once: intervals and chance gaps take every reply for a question of its own, "
        "so they are too narrow."
        if summary.consistency is not None
        else ""
    )
    head = [what, "n", "accuracy", "95 % interval", "stated", "gap", "chance gap", "Brier"]
    return Section(
        "Topics",
        "The *chance gap* is what a perfectly calibrated model stays below in 95 % of samples of this size."
        f"{chance}{why}{again}",
        table(head, [_group(row) for row in rows]),
    )


def traps_section(summary: Summary) -> Section:
    """Return the traps by family, or that none was asked."""
    if not summary.families:
        return Section("Traps", "No traps were asked.")
    rows = [
        [cell(family.replace("_", " ")), str(row["asked"]), str(row["abstained"]), str(row["incorrect"])]
        for family, row in summary.families.items()
    ]
    missed = summary.metrics["missed_trap_confidence"]
    fabricated = "" if missed.value is None else f" On those it answered it said {missed.value:.0f} on average."
    return Section(
        "Traps",
        f"Questions without an answer; the right reply is to say so.{fabricated}",
        table(["family", "asked", "spotted", "answered"], rows),
    )


def errors_sentence(summary: Summary, total: int) -> str:
    """Return how many wrong answers were stated at 80 or more, and how many of them are shown."""
    if not total:
        graded = any(summary.counts[section][outcome] for section, outcome in _GRADED)
        return "No answer stated at 80 or more is wrong." if graded else "No answer was graded."
    return f"Wrong at 80 or more, traps included: {f'the {WORST} surest of ' if total > WORST else ''}{total}."


def fresh_check_section(summary: Summary) -> Section | None:
    """Return stored against freshly made items, or None when none were made."""
    check = summary.fresh_check
    if check is None:
        return None
    rows = []
    for name, contrast in (("accuracy", check.accuracy), ("gap", check.gap)):
        shown = words.signed if name == "gap" else words.percent
        ci = words.interval(contrast.difference, kind="signed")
        row = [name, shown(contrast.second), shown(contrast.first), words.signed(contrast.difference.value), ci]
        rows.append([*row, contrast.difference.note])
    head = ["measure", "stored", "fresh", "difference", "95 % interval", "note"]
    return Section("Fresh check", f"{check.pairs} pairs: {check.note}.", table(head, rows))


def repeats_section(summary: Summary) -> Section | None:
    """Return how alike its replies are when it is asked again, or None when it was not."""
    found = summary.consistency
    if found is None:
        return None
    rows = []
    for name, one in (("other wordings", found.paraphrases), ("the same wording again", found.repeats)):
        if one is not None:
            rows.append(
                [
                    name,
                    f"{one.items}",
                    f"{words.percent(one.same_answer.value)} {words.interval(one.same_answer, kind='percent')}",
                    f"{words.percent(one.same_outcome.value)} {words.interval(one.same_outcome, kind='percent')}",
                    "–" if one.confidence_range.value is None else f"{one.confidence_range.value:.1f}",
                ]
            )
    head = ["asked", "items", "same answer", "same outcome", "mean range of confidence"]
    return Section("Asked again", table=table(head, rows))


def sources_section(summary: Summary) -> Section | None:
    """Return the sources of confidence side by side, or None when there is one."""
    if not summary.sources:
        return None
    rows = []
    for name, source in summary.sources.items():
        values = [words.fraction(source.brier), words.signed(source.gap), words.fraction(source.auroc)]
        if source.differences is not None:
            found = [source.differences[key] for key in ("brier", "gap", "auroc")]
            values = [
                f"{value} ({words.signed(one.value)} {words.interval(one, kind='signed')})".replace(" )", ")")
                for value, one in zip(values, found, strict=True)
            ]
        rows.append([name, str(source.n), *values])
    return Section(
        "Sources of confidence",
        "On the answers that have both; in brackets the paired difference from the first source with its 95 % "
        "interval.",
        table(["source", "n", "Brier", "gap", "AUROC"], rows),
    )


def second_opinion_section(summary: Summary) -> Section | None:
    """Return what a judge made of undecided answers, or None without a judge."""
    found = summary.second_opinion
    if found is None:
        return None
    counts = [str(number) for number in (found.undecided, found.same, found.different, found.unread, found.not_asked)]
    lines = "\n".join(f"{cell(note, 400)}." for note in words.opinion_notes(summary))
    return Section(
        "Second opinion",
        "A judge was asked about answers that the rules left undecided; it saw the key and the answer, not the "
        f"confidence. The figures of this report are without it.\n\n{lines}",
        table(["undecided", "same as the key", "different", "not readable", "not asked"], [counts]),
    )


def _value(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "–"
    return f"{estimate.value:.4g}"


def _interval(estimate: Estimate) -> str:
    return f"{estimate.ci[0]:.3g} to {estimate.ci[1]:.3g}" if estimate.ci else ""


def _group(row: GroupRow) -> list[str]:
    ci = f"{100 * row.ci[0]:.0f} to {100 * row.ci[1]:.0f} %" if row.ci else ""
    return [
        cell(row.name),
        str(row.n),
        words.percent(row.accuracy),
        ci,
        words.percent(row.mean_confidence),
        words.signed(row.gap),
        words.fraction(row.gap_band),
        words.fraction(row.brier),
    ]
