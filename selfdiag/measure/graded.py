"""The metrics of graded probes by name, each with its interval, n, method and note."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from selfdiag.measure import calibration, confidence, counts, discrimination, recalibration, selective
from selfdiag.measure.calibration import BINS
from selfdiag.measure.counts import Counts, Floats
from selfdiag.measure.estimate import Estimate, estimate, join_notes
from selfdiag.measure.reliability import NULL_DRAWS, calibrated_draws, null_band
from selfdiag.measure.sample import Measure, Sample
from selfdiag.measure.tally import Tally

FEW = 10
"""With fewer right or fewer wrong answers than this an AUROC is too uncertain to trust."""

VERY_FEW = 5
"""With fewer right or fewer wrong answers than this an AUROC has no interval."""

TOO_MANY_VALUES = "no interval: too many distinct values to resample by value"

ROWS_AS_ITEMS = "rows of one item counted as independent"

REFITTED = "no interval: it would need a refit in every draw (--full-intervals does that)"

GRADED_METRICS = (
    "accuracy",
    "brier",
    "brier_skill",
    "reliability",
    "resolution",
    "uncertainty",
    "corp_miscalibration",
    "corp_discrimination",
    "gap",
    "ece",
    "ece_equal_mass",
    "mce",
    "ece_sweep",
    "smooth_ece",
    "spiegelhalter_z",
    "calibration_slope",
    "calibration_intercept",
    "discrimination",
    "auroc",
    "aurc",
    "e_aurc",
    "augrc",
    "error_at_coverage_80",
    "error_at_coverage_60",
    "error_at_coverage_40",
    "error_at_coverage_20",
    "high_confidence_error_80",
    "high_confidence_error_90",
    "high_confidence_error_95",
    "threshold_score_50",
    "threshold_score_75",
    "threshold_score_90",
    "modal_share",
    "distinct_values",
    "median_confidence",
)
"""Their names, in the order in which they are shown."""

_OfCounts = Callable[[Counts], Floats]


def why_undefined(answered: Counts) -> str:
    """Return why a measure of one table has no value, in plain words."""
    if not answered.n:
        return "no data: no graded answer states a confidence"
    if not answered.misses:
        return "not defined: all answers were right"
    if not answered.hits:
        return "not defined: all answers were wrong"
    return "not defined"


def graded_metrics(sample: Sample, seed: int, full_intervals: bool, ece_bins: int = BINS) -> dict[str, Estimate]:
    """Return every metric of ``GRADED_METRICS``.

    ``seed`` draws the null bands; ``full_intervals`` refits CORP, slope, sweep and smooth ECE in every draw;
    ``ece_bins`` is the number of equal-width bins.
    """
    tally, answered = sample.point, sample.point.answered
    n = int(answered.n)
    undefined = why_undefined(answered)

    def bootstrap(measure: _OfCounts, note: str = "", missing: str = undefined) -> Estimate:
        return sample.bootstrap(_answered(measure), n, undefined=missing, note=note)

    def fitted(measure: _OfCounts, missing: str, note: str = "") -> Estimate:
        if full_intervals:
            return bootstrap(measure, note, missing)
        value = sample.value(_answered(measure))
        return estimate(value, n=n, note=join_notes(note, REFITTED) if math.isfinite(value) else missing)

    calibrated = calibrated_draws(answered.occupied(), _null_draws(answered), seed)

    def null(measure: _OfCounts) -> str:
        band = null_band(calibrated, measure)
        if band is None:
            return ""
        narrow = f", too narrow: {ROWS_AS_ITEMS}" if sample.clustered else ""
        return f"under perfect calibration {band.mean:.3f} on average, 95 % below {band.upper:.3f}{narrow}"

    def by_value(measure: _OfCounts, note: str = "") -> Estimate:
        if not sample.merged:
            return bootstrap(measure, note)
        return estimate(sample.value(_answered(measure)), n=n, note=join_notes(note, TOO_MANY_VALUES))

    def ece(counts: Counts) -> Floats:
        return calibration.ece(counts, bins=ece_bins)

    def mce(counts: Counts) -> Floats:
        return calibration.mce(counts, bins=ece_bins)

    unstated = int(tally.graded) - n
    left_out = f"{unstated} graded without a confidence left out" if unstated else ""
    metrics = {
        "accuracy": sample.proportion(
            lambda t: counts.ratio(t.right, t.graded),
            int(tally.graded),
            undefined="no data: no answer was graded",
        ),
        "brier": bootstrap(calibration.brier, left_out),
        "brier_skill": bootstrap(calibration.brier_skill),
        "reliability": by_value(calibration.reliability, null(calibration.reliability)),
        "resolution": by_value(calibration.resolution),
        "uncertainty": bootstrap(calibration.uncertainty),
        "corp_miscalibration": fitted(recalibration.corp_miscalibration, undefined),
        "corp_discrimination": fitted(recalibration.corp_discrimination, undefined),
        "gap": bootstrap(calibration.gap),
        "ece": bootstrap(ece, join_notes(f"{ece_bins} equal-width bins, closed on the left", null(ece))),
        "mce": bootstrap(
            mce,
            join_notes(f"{ece_bins} equal-width bins, those of {calibration.MIN_BIN} or more", null(mce)),
            f"not defined: no bin holds {calibration.MIN_BIN} answers" if n else undefined,
        ),
        "ece_equal_mass": bootstrap(
            calibration.ece_equal_mass, f"{BINS} bins of about equal size, equal values together"
        ),
        "ece_sweep": fitted(
            calibration.ece_sweep,
            undefined,
            f"{calibration.sweep_bins(answered)} bins of about equal size, the most with monotone accuracy",
        ),
        "smooth_ece": fitted(recalibration.smooth_ece, undefined, "no bins: a Gaussian kernel"),
        "spiegelhalter_z": _spiegelhalter(answered, clustered=sample.clustered),
        **_recalibration(fitted, answered),
        "discrimination": bootstrap(discrimination.discrimination),
        "auroc": _auroc(sample, undefined),
        **_selective(sample, undefined, left_out),
        **_profile(sample, undefined),
    }
    return {name: metrics[name] for name in GRADED_METRICS}


def _spiegelhalter(answered: Counts, *, clustered: bool) -> Estimate:
    against = int(recalibration.contradicted(answered))
    note = f"{against} stated 0 or 100 and contradicted" if against else ""
    z = float(recalibration.spiegelhalter_z(answered))
    n = int(answered.n)
    if math.isnan(z):
        reason = "not defined: every stated value is 0, 50 or 100" if n else why_undefined(answered)
        return estimate(None, n=n, note=join_notes(reason, note))
    p = f"no p: {ROWS_AS_ITEMS}" if clustered else f"two-sided p = {recalibration.two_sided_p(z):.3g}"
    return estimate(z, n=n, method="Spiegelhalter", note=join_notes(p, "a test statistic, no interval", note))


def _recalibration(fitted: Callable[[_OfCounts, str, str], Estimate], answered: Counts) -> dict[str, Estimate]:
    missing = why_undefined(answered)
    if answered.hits and answered.misses:
        constant = confidence.distinct_values(answered) == 1
        missing = (
            "not defined: confidence constant" if constant else "not defined: confidence separates right from wrong"
        )
    clipped = "logit of p clipped to [.005, .995]"
    at_one = float(recalibration.intercept_at_slope_one(answered))
    held = f"{at_one:.4f} at slope 1" if math.isfinite(at_one) else ""
    return {
        "calibration_slope": fitted(recalibration.calibration_slope, missing, clipped),
        "calibration_intercept": fitted(recalibration.calibration_intercept, missing, join_notes(clipped, held)),
    }


def _auroc(sample: Sample, undefined: str) -> Estimate:
    answered = sample.point.answered
    n, fewest = int(answered.n), min(int(answered.hits), int(answered.misses))
    value, made = sample.interval(_answered(discrimination.auroc))
    if math.isnan(value):
        return estimate(None, n=n, note=undefined)
    notes = []
    if confidence.distinct_values(answered) == 1:
        notes.append("confidence constant: it cannot tell right from wrong")
    if fewest < VERY_FEW:
        lacking = "right" if answered.hits == fewest else "wrong"
        notes.append(f"no interval: needs {VERY_FEW} {lacking} answers, has {fewest}")
        return estimate(value, n=n, note=join_notes(*notes))
    if fewest < FEW:
        notes.append("too few to trust")
    if sample.clustered:
        return estimate(value, made.ci, n=n, method=made.method, note=join_notes(*notes, made.note))
    ci = discrimination.logit_delong_interval(answered)
    if ci is None:
        notes.append("no interval: DeLong's standard error is 0")
    if made.ci is not None:
        notes += [f"{made.method}: {made.ci[0]:.3f} to {made.ci[1]:.3f}", made.note]
    return estimate(value, ci, n=n, method="logit-DeLong" if ci else "", note=join_notes(*notes))


def _selective(sample: Sample, undefined: str, left_out: str) -> dict[str, Estimate]:
    answered = sample.point.answered
    n = int(answered.n)
    result = {
        name: sample.bootstrap(_answered(measure), n, undefined=undefined)
        for name, measure in (
            ("aurc", selective.aurc),
            ("e_aurc", selective.e_aurc),
            ("augrc", selective.augrc),
        )
    }
    for percent in (80, 60, 40, 20):
        kept = -(-percent * n // 100)
        result[f"error_at_coverage_{percent}"] = sample.share(
            _answered(partial(selective.error_at_coverage, coverage=percent / 100)),
            kept,
            undefined=undefined,
            note=f"the surest {kept} of {n}",
            surest=kept,
        )
    for percent in (80, 90, 95):
        sure = selective.at_or_above(answered, percent / 100)
        result[f"high_confidence_error_{percent}"] = sample.proportion(
            _answered(partial(selective.high_confidence_error, threshold=percent / 100)),
            int(sure.n),
            undefined=f"not defined: no answer states {percent} or more" if n else undefined,
            note=f"{int(sure.misses)} of {int(sure.n)} wrong",
        )
    silent = int(sample.point.abstained + sample.point.refused)
    for percent in (50, 75, 90):
        result[f"threshold_score_{percent}"] = sample.bootstrap(
            partial(_threshold_score, threshold=percent / 100),
            n + silent,
            undefined="no data: no probe was answered, abstained from or refused",
            note=left_out,
        )
    return result


def _profile(sample: Sample, undefined: str) -> dict[str, Estimate]:
    answered = sample.point.answered
    n = int(answered.n)
    share = float(confidence.modal_share(answered))
    echo = "echo: the number does not vary, the tier describes the number" if share >= confidence.ECHO_FROM else ""
    low, high = (float(confidence.confidence_quantile(answered, q)) for q in (0.25, 0.75))
    spread = f"quartiles {low:g} and {high:g}, {float(confidence.sure_share(answered)):.0%} at 80 or more"
    distinct = int(confidence.distinct_values(answered))
    return {
        "modal_share": sample.proportion(_answered(confidence.modal_share), n, undefined=undefined, note=echo),
        "distinct_values": estimate(distinct if n else None, n=n, note="a count, no interval" if n else undefined),
        "median_confidence": sample.bootstrap(
            _answered(confidence.median_confidence), n, undefined=undefined, note=spread
        ),
    }


def _null_draws(answered: Counts) -> int:
    """Return fewer draws than usual where a draw has very many levels."""
    return max(100, min(NULL_DRAWS, 1_000_000 // max(answered.levels.size, 1)))


def _answered(measure: _OfCounts) -> Measure:
    """Return a measure of the answered probes as a measure of the whole tally."""
    return lambda tally: measure(tally.answered)


def _threshold_score(tally: Tally, threshold: float) -> Floats:
    return selective.threshold_score(tally.answered, threshold, tally.abstained + tally.refused)
