"""The comparison of runs: the first is the baseline, and every other is set against it, item by item."""

from __future__ import annotations

import string
from collections.abc import Sequence

import msgspec

from selfdiag.measure.estimate import Estimate
from selfdiag.measure.resampling import DRAWS, SEED
from selfdiag.measure.tiers import Tier
from selfdiag.protocols.audit import standing, summarise
from selfdiag.protocols.compare_items import (
    Common,
    Flips,
    Moved,
    Paired,
    asked_items,
    confidence_shift,
    flips,
    outcome_changes,
    pair,
)
from selfdiag.protocols.compare_measures import Difference, alike, differences
from selfdiag.protocols.compare_settings import Setting, settings_notes, settings_that_differ
from selfdiag.protocols.compare_verdict import Verdict, verdict
from selfdiag.protocols.summary import SummaryBattery, SummaryModel
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError, one_line

SCHEMA = "selfdiag.comparison/1"
LETTERS = string.ascii_uppercase


class ComparedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One of the runs: ``letter`` is what the comparison calls it, ``tier`` that of all its own items.

    ``notes`` say what must be known of it: that it is simulated, incomplete, or how its confidence was read.
    """

    letter: str
    run_id: str
    model: SummaryModel
    battery: SummaryBattery
    tier: Tier
    notes: tuple[str, ...]


class RunPair(msgspec.Struct, frozen=True, kw_only=True):
    """One run set against the baseline, over the items that both have replied to.

    ``first`` and ``second`` are letters; every difference is the second's value minus the first's. ``answered`` counts
    the probe answers of either that state a confidence. ``headline`` is the declared family of measures and
    ``exploratory`` the rest. ``outcomes`` counts the items that came out otherwise, as ``incorrect to abstained``.
    ``confidence_shift`` is in points, over the probes answered in both; ``moved`` are those in which it is largest.
    """

    first: str
    second: str
    verdict: Verdict
    common: Common
    answered: tuple[int, int]
    headline: dict[str, Difference]
    exploratory: dict[str, Difference]
    probes: Flips
    traps: Flips
    outcomes: dict[str, int]
    confidence_shift: Estimate
    moved: tuple[Moved, ...]
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Runs compared: the first of ``runs`` is the baseline, and ``pairs`` has every other one against it."""

    schema: str = SCHEMA
    draws: int
    seed: int
    runs: tuple[ComparedRun, ...]
    pairs: tuple[RunPair, ...]
    notes: tuple[str, ...]


def compare(runs: Sequence[Run], *, draws: int = DRAWS, seed: int = SEED) -> Comparison:
    """Compare every run with the first one, paired by item.

    Args:
        runs: two or more, complete or not; the same one may stand twice.
        draws: bootstrap draws over items; with fewer than 280 no difference can pass the correction of seven.
        seed: of the bootstrap.

    Raises:
        SelfdiagError: when there are too few or too many runs, a run has asked no probes and no traps, or one has no
            item in common with the first.
    """
    if not 2 <= len(runs) <= len(LETTERS):
        raise SelfdiagError(f"a comparison takes 2 to {len(LETTERS)} runs, not {len(runs)}")
    for run in runs:
        _must_have_items(run)
    paired = [(LETTERS[place], other, _paired(runs[0], other)) for place, other in enumerate(runs) if place]
    pairs = tuple(_run_pair(letter, (runs[0], other), found, draws=draws, seed=seed) for letter, other, found in paired)
    several = ("each pair of runs is corrected for its own measures, not for the number of runs",)
    return Comparison(
        draws=draws,
        seed=seed,
        runs=tuple(_compared(letter, run, draws=draws, seed=seed) for letter, run in zip(LETTERS, runs, strict=False)),
        pairs=pairs,
        notes=several if len(pairs) > 1 else (),
    )


def _must_have_items(run: Run) -> None:
    if asked_items(run):
        return
    sections = ", ".join(dict.fromkeys(call.section for call in run.manifest.plan)) or "nothing"
    raise SelfdiagError(
        f"run {_named(run)} asks no probes and no traps ({one_line(sections, 80)} alone), so there is nothing to pair: "
        "name runs with the sections probes or traps"
    )


def _paired(first: Run, second: Run) -> Paired:
    found = pair(first, second)
    if found.items:
        return found
    common, both = found.common, f"runs {_named(first)} and {_named(second)}"
    if common.items:
        raise SelfdiagError(
            f"{both} have {common.items} items in common, and none with a reply in both: go on with them by "
            "'selfdiag run --resume RUN'"
        )
    renamed = f" ({common.changed} have the same id, but another question or key)" if common.changed else ""
    raise SelfdiagError(f"{both} have no item in common{renamed}: compare runs of one battery")


def _compared(letter: str, run: Run, *, draws: int, seed: int) -> ComparedRun:
    summary = summarise(run, draws=draws, seed=seed)
    assert summary.battery is not None, "a run has a battery"  # noqa: S101
    return ComparedRun(
        letter=letter,
        run_id=run.manifest.run_id,
        model=summary.model,
        battery=summary.battery,
        tier=summary.tier,
        notes=(*standing(run), *run.problems),
    )


def _run_pair(letter: str, runs: tuple[Run, Run], paired: Paired, *, draws: int, seed: int) -> RunPair:
    first, second = paired.first.tally, paired.second.tally
    same = alike(first, second)
    headline, exploratory = differences(first, second, draws=draws, seed=seed)
    probes = flips(paired, traps=False)
    shift, moved = confidence_shift(paired, same=same, draws=draws, seed=seed)
    settings = settings_that_differ(*runs)
    return RunPair(
        first=LETTERS[0],
        second=letter,
        verdict=verdict(letter, headline, exploratory["gap_size"], same=same, common=paired.common, probes=probes),
        common=paired.common,
        answered=(int(first.answered.n.sum()), int(second.answered.n.sum())),
        headline=headline,
        exploratory=exploratory,
        probes=probes,
        traps=flips(paired, traps=True),
        outcomes=outcome_changes(paired),
        confidence_shift=shift,
        moved=moved,
        settings=settings,
        notes=(*_common_notes(letter, paired), *settings_notes(settings)),
    )


def _common_notes(letter: str, paired: Paired) -> tuple[str, ...]:
    """Return how many items are compared, and why not the others, in plain sentences."""
    common, baseline = paired.common, LETTERS[0]
    notes = []
    if not common.items == common.first == common.second:
        notes.append(
            f"limited to the items in common: {common.items} of {baseline}'s {common.first} and of {letter}'s "
            f"{common.second}; the tiers are of all items of each"
        )
    if common.changed:
        notes.append(f"{common.changed} items have the same id in both, but another question or key: left out")
    if common.unanswered:
        notes.append(f"{common.unanswered} items in common have no reply in one of the runs: left out")
    if common.reworded:
        notes.append(f"{common.reworded} items were asked in other wordings in {letter} than in {baseline}")
    for name, side in ((baseline, paired.first), (letter, paired.second)):
        if side.scale_note:
            notes.append(f"{name}: {side.scale_note}")
    return tuple(notes)


def _named(run: Run) -> str:
    return one_line(run.manifest.run_id, 60)
