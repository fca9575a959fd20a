"""Every metric of a run by name, each with its interval, n, method and note."""

from __future__ import annotations

import math
from functools import partial

import msgspec

from selfdiag.measure import abstention
from selfdiag.measure.calibration import BINS
from selfdiag.measure.estimate import Estimate, estimate, join_notes
from selfdiag.measure.graded import graded_metrics, why_undefined
from selfdiag.measure.resampling import DRAWS, SEED, newcombe
from selfdiag.measure.sample import IntervalKind, Sample
from selfdiag.measure.tally import Tally
from selfdiag.measure.tiers import PARTS, RULES, Tier, TierRules, composite, tier, tier_letters


class Composite(msgspec.Struct, frozen=True, kw_only=True):
    """The composite, 0-100, with its interval and its four parts, each in [0, 1] or None."""

    value: float | None
    ci: tuple[float, float] | None
    parts: dict[str, Estimate]
    note: str = ""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """All that is computed from one run."""

    metrics: dict[str, Estimate]
    composite: Composite
    tier: Tier


def measure_run(
    tally: Tally,
    items: Tally | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    interval: IntervalKind = "percentile",
    full_intervals: bool = False,
    ece_bins: int = BINS,
    rules: TierRules = RULES,
) -> Measured:
    """Return metrics, composite and tier of one run from one joint bootstrap.

    ``tally`` has no leading axis; ``items``, the same rows with one entry per item, is needed when items
    have several rows. ``interval`` is "percentile" or "bca". ``full_intervals`` refits CORP, slope, sweep
    and smooth ECE in every draw; ``ece_bins`` is the number of equal-width bins.
    """
    sample = Sample(tally, items, draws=draws, seed=seed, interval=interval)
    return Measured(
        metrics=graded_metrics(sample, seed, full_intervals, ece_bins) | _abstention_metrics(sample),
        composite=_composite(sample, rules),
        tier=tier(sample.point, sample.draws(partial(tier_letters, rules=rules)), rules),
    )


def all_metrics(
    tally: Tally,
    items: Tally | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    interval: IntervalKind = "percentile",
    full_intervals: bool = False,
    ece_bins: int = BINS,
) -> dict[str, Estimate]:
    """Return every metric by name; the arguments are those of ``measure_run``."""
    sample = Sample(tally, items, draws=draws, seed=seed, interval=interval)
    return graded_metrics(sample, seed, full_intervals, ece_bins) | _abstention_metrics(sample)


def confidence_metrics(
    tally: Tally,
    items: Tally | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    interval: IntervalKind = "percentile",
    full_intervals: bool = False,
    ece_bins: int = BINS,
) -> dict[str, Estimate]:
    """Return the metrics of graded probes alone, for another set such as attempted-as-wrong.

    The rest of ``all_metrics`` speaks of abstaining and does not depend on how the set is drawn. The
    arguments are those of ``measure_run``.
    """
    sample = Sample(tally, items, draws=draws, seed=seed, interval=interval)
    return graded_metrics(sample, seed, full_intervals, ece_bins)


def _abstention_metrics(sample: Sample) -> dict[str, Estimate]:
    tally = sample.point
    traps, probes = int(tally.trap_usable), int(tally.usable)
    no_traps = "no data: no trap got a usable reply"
    no_probes = "no data: no probe got a usable reply"
    mixed = sample.bootstrap(
        abstention.abstention_f1, traps + probes, undefined=no_traps, note="at this mix of probes and traps"
    )
    precision = sample.value(abstention.abstention_precision)
    if mixed.value is not None and math.isfinite(precision):
        mixed = msgspec.structs.replace(mixed, note=join_notes(f"precision {precision:.3f}", mixed.note))
    return {
        "trap_abstention": sample.proportion(abstention.trap_abstention, traps, undefined=no_traps, of="traps"),
        "trap_abstention_token_only": sample.proportion(
            abstention.trap_abstention_token_only, traps, undefined=no_traps, of="traps"
        ),
        "non_answer": sample.proportion(abstention.non_answer, probes, undefined=no_probes),
        "youden": _youden(sample, no_traps if not traps else no_probes),
        "abstention_f1": mixed,
        "missed_trap_confidence": sample.bootstrap(
            abstention.missed_trap_confidence,
            int(tally.trap_missed.n),
            undefined="not defined: no trap was answered with a confidence" if traps else no_traps,
        ),
        "simpleqa_f": sample.bootstrap(abstention.simpleqa_f, probes, undefined=no_probes),
        "omniscience": sample.bootstrap(abstention.omniscience, probes, undefined=no_probes),
        "usable_share": sample.proportion(
            abstention.usable_share, int(tally.asked), undefined="no data: no probe got a reply"
        ),
    }


def _youden(sample: Sample, undefined: str) -> Estimate:
    tally = sample.point
    n = int(tally.trap_usable + tally.usable)
    value, method = sample.value(abstention.youden), "Newcombe"
    if math.isnan(value):
        return estimate(None, n=n, note=undefined)
    traps, probes = int(tally.trap_usable), int(tally.usable)
    if sample.clustered:
        made = sample.bootstrap(abstention.youden, n, undefined=undefined)
        if made.ci is not None:
            return made
        # As for a single share: a bootstrap without an interval gives way to the closed form over items.
        traps = min(traps, sample.items_of("traps", abstention.trap_abstention))
        probes = min(probes, sample.items_of("probes", abstention.non_answer))
        method = "Newcombe over items"
    spotted, silent = sample.value(abstention.trap_abstention), sample.value(abstention.non_answer)
    return estimate(value, newcombe(spotted * traps, traps, silent * probes, probes), n=n, method=method)


def _composite(sample: Sample, rules: TierRules) -> Composite:
    value, made = sample.interval(partial(composite, rules=rules))
    n, traps = int(sample.point.answered.n), int(sample.point.trap_usable)
    shown = {
        name: sample.bootstrap(
            partial(part, rules=rules),
            traps + int(sample.point.usable) if name == "traps" else n,
            undefined="without traps" if name == "traps" else why_undefined(sample.point.answered),
        )
        for name, part in PARTS.items()
    }
    if math.isnan(value):
        return Composite(value=None, ci=None, parts=shown, note=why_undefined(sample.point.answered))
    return Composite(value=value, ci=made.ci, parts=shown, note=join_notes("" if traps else "without traps", made.note))
