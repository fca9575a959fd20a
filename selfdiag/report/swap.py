"""The swap as lines for a terminal and as Markdown."""

from __future__ import annotations

from selfdiag.protocols.profile_signature import MEASURED_HERE
from selfdiag.protocols.swap import Swap, SwapContrast, swap_of
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
from selfdiag.runs.ladder_plan import OTHER, OWN
from selfdiag.runs.store import Run
from selfdiag.safety import one_line

THEIRS = "other model's"
PUBLISHED = "In the published swaps AUROC changed by .04 at most."


def swap_lines(found: Swap) -> list[str]:
    """Return the result as lines, none wider than ``WIDTH`` characters."""
    lines = [f"swap · {who_was_asked(found.model, found.battery)}"[:WIDTH], *wrapped(_design(found))]
    lines += [*wrapped(f"{found.power_note}."), *wrapped(_source(found, plain=True))]
    lines += [*wrapped(measured_in(found.measured_run)), "", *wrapped(found.sentence), ""]
    lines += [*arm_lines(found.arms), "", f"{'':<14}{'AUROC':>7}  {'95 % by item':<18}{'p':>6}"]
    for contrast in found.contrasts:
        auroc = contrast.measures["auroc"]
        shown = ends(auroc.difference.ci, sign=True) or "no interval"
        lines.append(
            f"{_name(contrast):<14}{words.signed(auroc.difference.value):>7}  {shown:<18}{words.p_value(auroc.p):>6}"
        )
    lines.append("exploratory, not corrected for their number")
    lines += ["", *wrapped(f"{_name(found.contrasts[0])}: {_effect(found)} {PUBLISHED}"), *wrapped(_ceilings(found))]
    lines += wrapped(consumption_sentence(THEIRS, found.consumption))
    return [*lines, *notes_lines(found.notes)]


def _effect(found: Swap) -> str:
    return excluded_sentence(found.contrasts[0].measures["auroc"].difference)


def _design(found: Swap) -> str:
    named = "the question names its topic" if found.labelled else "the question does not name its topic"
    return (
        f"{words.several(found.items, 'item')}, {words.several(found.rows, 'row')}, each without values, under its own "
        "profile and under another model's in the same slot, mixed within "
        f"{words.several(found.batches, 'batch', 'batches')} of the call order; {named}."
    )


def _source(found: Swap, *, plain: bool) -> str:
    other = next(figures for figures in found.profiles if figures.arm == OTHER)
    shown = (one_line(other.origin), one_line(other.gate)) if plain else (cell(other.origin), cell(other.gate))
    return f"The other profile: {shown[0]}. Its signature: {shown[1] or 'unknown'}."


def _ceilings(found: Swap) -> str:
    own, other = (found.ceilings[name].injected for name in (OWN, OTHER))
    return (
        f"Stating the own profile's value of the topic reaches AUROC {with_ends(own)}, the other's {with_ends(other)}, "
        f"n {own.n}."
    )


def _name(contrast: SwapContrast) -> str:
    return f"{contrast.arm} - {contrast.against}"


def swap_markdown(run: Run, found: Swap | None = None) -> str:
    """Return the report of a swap; the same run gives the same bytes.

    Args:
        run: manifest and records.
        found: its result, computed when None.

    Raises:
        SelfdiagError: when the run holds no swap.
    """
    found = found or swap_of(run)
    rows = [
        contrast_row(f"{measure}, {_name(contrast)}", one)
        for contrast in found.contrasts
        for measure, one in contrast.measures.items()
    ]
    head = ["measure", "subtracted", "from", "difference", "95 % by item", "p", "items", "note"]
    induced = [induced_row(arm) for arm in found.arms if arm.induced is not None]
    parts = [
        f"# Profile swap: {cell(found.model.name)}{words.if_simulated(found.model.simulated)}",
        f"**{found.power_note}. {_source(found, plain=False)}**",
        "\n".join(f"- {cell(note, 400)}" for note in found.notes),
        f"**{found.sentence}** {_name(found.contrasts[0])}: {_effect(found)} {PUBLISHED}",
        f"## Design\n\n{_design(found)} The own profile of an item is measured on the other half of its topic's items. "
        "Both profiles speak of the same topics; the prompts of a row differ in the numbers of the slot alone. "
        + cell(measured_in(found.measured_run)),
        "## Profiles\n\nIn percent over topics; correlations are with the own profile of the half.\n\n"
        + profile_rows(found.profiles),
        "## Results by arm\n\nIntervals draw items with all their wordings.\n\n" + arm_rows(found.arms),
        "## Contrasts\n\nThe first arm named minus the second, paired by item; exploratory.\n\n" + table(head, rows),
        "## Abstentions\n\n" + table(["arm", "rows abstained", "induced", "95 % interval", "items", "note"], induced),
        f"## Ceilings\n\n{_ceilings(found)}",
        f"## Was the profile read?\n\n{consumption_sentence(THEIRS, found.consumption)}",
        "## How it was asked\n\n" + method_markdown(run, "swap", _flags(found), measured=found.measured_run),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _flags(found: Swap) -> list[str]:
    wordings = round(found.rows / found.items) if found.items else 1
    return [
        *(["--replicates", str(wordings)] if wordings > 1 else []),
        *([] if found.labelled else ["--no-label"]),
        *_profile_flags(found),
    ]


def _profile_flags(found: Swap) -> list[str]:
    gate = next(figures.gate for figures in found.profiles if figures.arm == OTHER)
    if gate == str(MEASURED_HERE):
        return ["--profile-of", found.other_run]
    return ["--profile", "FILE", *([] if gate.startswith("verified:") else ["--allow-unsigned"])]
