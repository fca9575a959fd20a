"""The profile ladder as lines for a terminal, and as Markdown that reads like the results of a small study."""

from __future__ import annotations

from selfdiag.measure.discrimination import Z95
from selfdiag.measure.ladder import POWER_Z
from selfdiag.protocols.ladder import ARMS, Ladder, OwnRecognised, ladder_of
from selfdiag.report import words
from selfdiag.report.arms import (
    arm_lines,
    arm_rows,
    consumption_sentence,
    contrast_row,
    ends,
    excluded_sentence,
    induced_row,
    measured_in,
    method_markdown,
    profile_rows,
    who_was_asked,
    with_ends,
)
from selfdiag.report.page import WIDTH, cell, notes_lines, table, wrapped
from selfdiag.runs.ladder_plan import OFF, OWN, PLACEBO, SHUFFLED
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

_MEANING = {
    OFF: "the slot is there and every topic reads n/a",
    PLACEBO: "made-up values with the mean and spread of the own ones and no correlation with them",
    OWN: "the accuracy measured on the other half of each topic's items",
    SHUFFLED: "the own values on other topics",
}
_QUESTION = (
    "## Question\n\nDoes a language model state its confidence better when it is shown its own measured accuracy by "
    "topic, and is it what the profile says that helps, or having a profile at all?"
)


def ladder_lines(found: Ladder) -> list[str]:
    """Return the result as lines, none wider than ``WIDTH`` characters; the first says what it can confirm."""
    lines = [*wrapped(standing_sentence(found)), *(f"  because: {reason}" for reason in found.standing.reasons)]
    lines += ["", f"profile ladder · {who_was_asked(found.model, found.battery)}"[:WIDTH], *wrapped(_design(found))]
    lines += [*wrapped(measured_in(found.measured_run)), "", *wrapped(found.sentence), "", *arm_lines(found.arms)]
    lines += ["", *_contrast_lines(found), ""]
    for one in found.contrasts:
        lines += wrapped(f"own - {one.against}: {excluded_sentence(one.by_item.difference)}")
    lines += wrapped(width_sentence(found))
    lines += ["", *wrapped(ceiling_sentence(found))]
    for name, followed in found.consumption.items():
        lines += wrapped(consumption_sentence(name, followed))
    lines += wrapped(_abstentions(found))
    if found.recognised is not None:
        lines += wrapped(judge_sentence(found.recognised, one_line(found.recognised.model, 60)))
    return [*lines, *notes_lines(found.notes)]


def standing_sentence(found: Ladder) -> str:
    """Return whether the ladder confirms anything, and the smallest effect it could see."""
    lead = {
        "confirmatory": "Confirmatory",
        "demonstration": "Demonstration, it confirms nothing",
    }[found.standing.label]
    return f"{lead}: {found.standing.power_note}."


def ceiling_sentence(found: Ladder) -> str:
    """Return how far a model could get that states its profile as its confidence."""
    injected, left_out = found.ceiling.injected, found.ceiling.leave_one_out
    return (
        "Oracle ceiling: a model that states what its own profile says of the topic reaches AUROC "
        f"{with_ends(injected)}, n {injected.n}. Leave-one-out ceiling, the topic's other items in place of the "
        f"profile: {with_ends(left_out)}, n {left_out.n}, which is biased low."
    )


def judge_sentence(said: OwnRecognised, model: str) -> str:
    """Return how often an outside judge, shown as ``model``, told the own profile from the shuffled one."""
    lead = f"Judge {model}, shown the accuracies of the items asked and both lists unnamed"
    if said.unread == said.asked:
        return f"{lead}: none of its {words.several(said.asked, 'opinion')} could be read."
    unread = f", {words.several(said.unread, 'opinion')} not readable" if said.unread else ""
    return (
        f"{lead}: took the own profile for the measured one in {said.own} of {said.asked}, the shuffled one in "
        f"{said.shuffled}{unread} ({said.note})."
    )


def width_sentence(found: Ladder) -> str:
    """Return which difference the intervals found here would have shown with 80 % power."""
    widths = {
        one.against: one.by_item.difference.ci[1] - one.by_item.difference.ci[0]
        for one in found.contrasts
        if one.confirmatory and one.by_item.difference.ci is not None
    }
    if not widths:
        return ""
    seen = [f"{words.fraction((Z95 + POWER_Z) / (2 * Z95) * width)} against {name}" for name, width in widths.items()]
    return f"From the intervals found, 80 % power was there for differences of {' and '.join(seen)}."


def _design(found: Ladder) -> str:
    wordings = f"{words.several(found.items, 'item')} x {words.several(found.wordings, 'wording')}"
    named = "the question names its topic" if found.labelled else "the question does not name its topic"
    return (
        f"{wordings} = {words.several(found.rows, 'row')}, each under 4 arms, mixed within "
        f"{words.several(found.batches, 'batch', 'batches')} of the call order; {named}."
    )


def _contrast_lines(found: Ladder) -> list[str]:
    lines = [f"{'own minus':<11}{'AUROC':>7}  {'95 % by item':<17}{'by item x batch':<17}{'p':>6}{'Holm':>7}"]
    for one in found.contrasts:
        by_item, by_batch = one.by_item.difference, one.by_batch.difference
        holm = words.p_value(one.adjusted_p) if one.confirmatory else "expl."
        lines.append(
            f"{one.against:<11}{words.signed(by_item.value):>7}  {ends(by_item.ci, sign=True) or 'no interval':<17}"
            f"{ends(by_batch.ci, sign=True) or 'no interval':<17}{words.p_value(one.by_item.p):>6}{holm:>7}"
        )
    return [*lines, "Holm over own - placebo and own - off; expl. = exploratory, not corrected"]


def _abstentions(found: Ladder) -> str:
    parts = []
    for arm in found.arms:
        share = arm.induced
        if share is not None and share.value is not None:
            ci = "" if share.ci is None else f" [{100 * share.ci[0]:.1f}, {100 * share.ci[1]:.1f}]"
            parts.append(f"{arm.arm} {100 * share.value:.1f} %{ci}")
    if not parts:
        return "Induced abstentions: no item is answered without values."
    return f"Abstained from here and answered without values, share of items: {', '.join(parts)}."


def ladder_markdown(run: Run, found: Ladder | None = None) -> str:
    """Return the report of a ladder; the same run gives the same bytes.

    Args:
        run: the ladder's own run.
        found: its result, computed when None.

    Raises:
        SelfdiagError: when the run holds no ladder.
    """
    found = found or ladder_of(run)
    parts = [
        f"# Profile ladder: {cell(found.model.name)}{words.if_simulated(found.model.simulated)}",
        f"**{standing_sentence(found)}**",
        _reasons(found),
        "\n".join(f"- {cell(note, 400)}" for note in found.notes),
        _QUESTION,
        f"**{found.sentence}**",
        _design_section(found),
        _manipulation(found),
        _results(found),
        _contrasts(found),
        f"## Ceiling\n\n{ceiling_sentence(found)}",
        _consumption(found),
        _silence(found),
        _limits(found),
        "## How it was asked\n\n" + method_markdown(run, "ladder", _flags(found), measured=found.measured_run),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _reasons(found: Ladder) -> str:
    if not found.standing.reasons:
        return ""
    return "Why it confirms nothing:\n\n" + "\n".join(f"- {reason}" for reason in found.standing.reasons)


def _design_section(found: Ladder) -> str:
    rows = [[name, _MEANING[name]] for name in ARMS]
    return (
        f"## Design\n\n{_design(found)} The prompts of a row differ in the numbers of the profile slot alone; no "
        "prompt names an arm. Each item is shown the profile measured on the other half of its topic's items "
        "(cross-fitted), so that no item is behind the value shown with it. The seed draws halves, made-up values and "
        f"order. {cell(measured_in(found.measured_run))}\n\n" + table(["arm", "what stands in the slot"], rows)
    )


def _manipulation(found: Ladder) -> str:
    said = found.recognised
    judged = f"\n\n{judge_sentence(said, cell(said.model, 60))}" if said is not None else ""
    return (
        "## Profiles\n\nWhat stood in the prompts, in percent over topics; correlations are with the own profile of "
        "the same half. A placebo has mean and SD within 1 point of own and both correlations below .10.\n\n"
        f"{profile_rows(found.profiles)}{judged}"
    )


def _results(found: Ladder) -> str:
    return (
        "## Results by arm\n\nAUROC, Brier score and ECE over graded answers with a stated confidence; intervals draw "
        "items with all their wordings.\n\n" + arm_rows(found.arms)
    )


def _contrasts(found: Ladder) -> str:
    rows = [
        [
            f"own - {one.against}",
            "confirmatory" if one.confirmatory else "exploratory",
            words.fraction(one.by_item.first),
            words.fraction(one.by_item.second),
            words.signed(one.by_item.difference.value),
            ends(one.by_item.difference.ci, sign=True),
            ends(one.by_batch.difference.ci, sign=True),
            words.p_value(one.by_item.p),
            words.p_value(one.adjusted_p),
            str(one.by_item.difference.n),
            cell(one.by_item.difference.note),
        ]
        for one in found.contrasts
    ]
    head = ["AUROC of", "family", "other", "own", "difference", "95 % by item", "95 % by item x batch", "p", "Holm"]
    excluded = "\n".join(
        f"- own - {one.against}: {excluded_sentence(one.by_item.difference)}" for one in found.contrasts
    )
    others = [
        contrast_row(f"{measure}, own - {against}", one)
        for against, measures in found.exploratory.items()
        for measure, one in measures.items()
    ]
    return (
        "## Contrasts\n\nPaired by item, over the rows answered with a confidence in both arms, so a difference need "
        "not be that of the figures by arm. Holm's correction is over the two confirmatory ones.\n\n"
        f"{table([*head, 'items', 'note'], rows)}\n\n{excluded}\n\n{width_sentence(found)}\n\n"
        "Exploratory, not corrected for their number:\n\n"
        + table(["measure", "other", "own", "difference", "95 % by item", "p", "items", "note"], others)
    )


def _consumption(found: Ladder) -> str:
    sentences = "\n".join(f"- {consumption_sentence(name, one)}" for name, one in found.consumption.items())
    return (
        "## Was the profile read?\n\nFor each injected value of a topic, the shift of the mean confidence from the arm "
        "without values is set against the injected minus the own value. A model that ignores the slot shows no "
        f"correlation, and then no other figure here speaks of profiles.\n\n{sentences}"
    )


def _silence(found: Ladder) -> str:
    rows = [induced_row(arm) for arm in found.arms if arm.induced is not None]
    head = ["arm", "rows abstained", "induced", "95 % interval", "items", "note"]
    return (
        "## Abstentions\n\n*Induced* is the share of items abstained from under the arm, among those answered without "
        "values.\n\n" + table(head, rows)
    )


def _limits(found: Ladder) -> str:
    said = [
        "One model, one prompt, short author-rated questions: another prompt is another measurement.",
        "The own profile rests on few items a topic, so it is itself uncertain; that lowers the ceiling.",
        "The model may know or not know that a value is made up; what it says about its reasons is not asked.",
    ]
    if found.wordings > 1:
        said.append("Further wordings of an item steady its figures; they are no further items.")
    if not found.labelled:
        said.append("The question does not name its topic: a model that cannot tell the topic cannot use the profile.")
    if found.standing.label == "demonstration":
        said.append("A difference that is not shown here may well be there: see the first line.")
    if found.model.simulated:
        said.append("The replies are simulated: they show that the method works, and nothing about a model.")
    return "## Limitations\n\n" + "\n".join(f"- {line}" for line in said)


def _flags(found: Ladder) -> list[str]:
    judged = ["--judge", found.recognised.model] if found.recognised is not None else []
    return ["--replicates", str(found.wordings), *([] if found.labelled else ["--no-label"]), *judged]
