"""Data of curves: telling right from wrong, and what acting on high confidence alone does."""

from __future__ import annotations

import msgspec
import numpy as np

from selfdiag.measure import selective
from selfdiag.measure.counts import Counts, Floats, Ints, accuracy, ratio
from selfdiag.measure.diagrams import RIGHT, ROWS_ALONE, WILSON, Axis, Diagram
from selfdiag.measure.discrimination import roc
from selfdiag.measure.estimate import Estimate, estimate
from selfdiag.measure.graded import VERY_FEW, why_undefined
from selfdiag.measure.itemwise import auroc_estimate
from selfdiag.measure.resampling import SEED, percentile_interval, resample_counts, resample_item_counts, wilson
from selfdiag.measure.sample import MOST_LEVELS, items_kept

POINTS = 200
"""Numbers of answers kept at which a risk-coverage curve is drawn; all of them up to so many answers."""

NOT_ASKED = "no interval: none was asked for"
_SLACK = 1e-9


class RocCurve(Diagram, frozen=True, kw_only=True):
    """Points of a ROC curve from (0, 0) to (1, 1), to be joined by straight lines: ties are diagonal steps.

    Keeping answers stated at ``threshold[i]`` or more keeps ``true_positive_rate[i]`` of the right and
    ``false_positive_rate[i]`` of the wrong ones; the first threshold, above every stated value, is None. ``auroc`` is
    there even where there are too few answers for a curve.
    """

    x: Axis = Axis(label="wrong answers kept")
    y: Axis = Axis(label="right answers kept")
    threshold: tuple[float | None, ...] = ()
    false_positive_rate: tuple[float, ...] = ()
    true_positive_rate: tuple[float, ...] = ()
    auroc: Estimate


def roc_curve(counts: Counts, *, clustered: bool = False) -> RocCurve:
    """Return the ROC curve of one table, empty below ``VERY_FEW`` right or wrong answers.

    ``clustered`` says that items have several rows, which rules out DeLong's interval of the area.
    """
    n, area = int(counts.n), auroc_of_rows(counts, clustered=clustered)
    lacking = [
        f"needs {VERY_FEW} {name} answers, has {number}"
        for name, number in (("right", int(counts.hits)), ("wrong", int(counts.misses)))
        if number < VERY_FEW
    ]
    if lacking:
        return RocCurve(n=n, note=f"not enough data: {'; '.join(lacking)}" if n else why_undefined(counts), auroc=area)
    curve = roc(counts)
    return RocCurve(
        n=n,
        threshold=curve.threshold,
        false_positive_rate=curve.false_alarm_rate,
        true_positive_rate=curve.hit_rate,
        auroc=area,
    )


def auroc_of_rows(counts: Counts, *, clustered: bool) -> Estimate:
    """Return the AUROC with DeLong's interval, or without one when items have several rows (``clustered``)."""
    area = auroc_estimate(counts)
    if clustered and area.ci is not None:
        return estimate(area.value, n=area.n, note="no interval: items have several rows")
    return area


class RiskCoverageCurve(Diagram, frozen=True, kw_only=True):
    """Error rate among the surest answers, from few kept to all; tuples of equal length.

    ``risk`` is the expected one under ties and ``best`` that of a perfect order at this accuracy. ``low`` and ``high``
    are the ends of a pointwise 95 % interval, empty when none was asked for; ``method`` says how it was made. ``error``
    is the error rate of all answers, ``aurc`` the mean risk over every number kept, and ``oracle_aurc`` the least
    possible one, None without answers.
    """

    x: Axis = Axis(label="answers kept")
    y: Axis = Axis(label="wrong among those kept")
    coverage: tuple[float, ...] = ()
    risk: tuple[float, ...] = ()
    kept: tuple[int, ...] = ()
    best: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    method: str = NOT_ASKED
    error: Estimate
    aurc: Estimate
    oracle_aurc: float | None = None


def risk_coverage(
    counts: Counts, *, items: Counts | None = None, draws: int = 0, seed: int = SEED, points: int = POINTS
) -> RiskCoverageCurve:
    """Return the risk-coverage curve of one table.

    The pointwise interval is a percentile bootstrap, and Wilson's where every draw gives the same risk, over the items
    with an answer among those kept when items have several rows.

    Args:
        counts: one table of answers.
        items: the same answers with one table per item, shape (items, k), when items have several rows.
        draws: bootstrap draws; without any there is no interval.
        seed: of the bootstrap.
        points: the curve is given at up to so many numbers of answers kept.
    """
    n, hits, misses = int(counts.n), int(counts.hits), int(counts.misses)
    if not n:
        nothing = estimate(None, note=why_undefined(counts))
        return RiskCoverageCurve(n=0, note=nothing.note, error=nothing, aurc=nothing)
    curve = selective.risk_coverage(counts, points)
    made = RiskCoverageCurve(
        n=n,
        coverage=curve.coverage,
        risk=curve.risk,
        kept=curve.kept,
        best=tuple(max(0, kept - hits) / kept for kept in curve.kept),
        error=_share(misses, n, clustered=items is not None),
        aurc=estimate(float(selective.aurc(counts)), n=n, note=NOT_ASKED),
        oracle_aurc=float(selective.oracle_aurc(counts)),
    )
    if not draws:
        return made
    drawn, how = _drawn(counts, items, draws, seed)
    behind = np.asarray(curve.kept) if items is None else np.minimum(curve.kept, items_kept(items, curve.kept))
    ends = []
    for kept, risk, trials in zip(curve.kept, curve.risk, behind.tolist(), strict=True):
        ci = percentile_interval(selective.error_at_coverage(drawn, kept / n)).ci
        ends.append(ci or wilson(risk * trials, trials) or (0.0, 1.0))
    low, high = zip(*ends, strict=True)
    return msgspec.structs.replace(
        made,
        low=low,
        high=high,
        method=f"{how}; Wilson where every draw gives the same",
        error=made.error if items is None else _bootstrapped(misses / n, 1 - accuracy(drawn), n, how),
        aurc=_bootstrapped(float(selective.aurc(counts)), selective.aurc(drawn), n, how),
    )


class AtThreshold(msgspec.Struct, frozen=True, kw_only=True):
    """What acting only on answers stated at ``threshold`` percent or more does.

    ``kept`` of the answers are acted on, the share ``coverage``; ``let_through`` of these are wrong, of ``errors``
    wrong ones in all. ``accuracy`` is that of the answers kept, ``gain`` what it has above that of all.
    """

    threshold: int
    kept: int
    coverage: float
    let_through: int
    errors: int
    accuracy: Estimate
    gain: Estimate


class ThresholdExplorer(Diagram, frozen=True, kw_only=True):
    """What every threshold from 0 to 100 would do, worked out once: ``points`` by whole percent."""

    x: Axis = Axis(label="act at this confidence or more")
    y: Axis = RIGHT
    points: tuple[AtThreshold, ...] = ()

    def at_threshold(self, threshold: int) -> AtThreshold:
        """Return what one threshold does.

        Args:
            threshold: whole percent, 0 to 100.

        Raises:
            ValueError: when it is out of range, or there is no answer to keep.
        """
        if self.empty:
            raise ValueError(self.note)
        if not 0 <= threshold < len(self.points):
            raise ValueError("a threshold is a whole percent from 0 to 100")
        return self.points[threshold]


def threshold_explorer(
    counts: Counts, *, items: Counts | None = None, draws: int = 0, seed: int = SEED
) -> ThresholdExplorer:
    """Return what acting at each confidence or more would do.

    Args:
        counts: one table of answers.
        items: the same answers with one table per item, shape (items, k), when items have several rows; the interval
            of the accuracy is then a bootstrap too.
        draws: bootstrap draws; without any the gain has no interval.
        seed: of the bootstrap.
    """
    n, errors = int(counts.n), int(counts.misses)
    if not n:
        return ThresholdExplorer(n=0, note=why_undefined(counts))
    kept, right = (values.tolist() for values in _at_every_threshold(counts))
    overall = float(accuracy(counts))
    drawn, how = _drawn(counts, items, draws, seed) if draws else (None, "")
    shares: Floats | None = None
    if drawn is not None:
        drawn_kept, drawn_right = _at_every_threshold(drawn)
        shares = ratio(drawn_right, drawn_kept)
    points = []
    for t, (held, hits) in enumerate(zip(kept, right, strict=True)):
        if not held:
            share = gain = estimate(None, note=f"no answer states {t} or more")
        else:
            share = _share(hits, held, clustered=items is not None)
            gain = estimate(hits / held - overall, n=held, note=NOT_ASKED)
            if shares is not None:
                gain = _bootstrapped(hits / held - overall, shares[:, t] - shares[:, 0], held, how)
                if items is not None:
                    share = _bootstrapped(hits / held, shares[:, t], held, how)
        points.append(
            AtThreshold(
                threshold=t,
                kept=held,
                coverage=held / n,
                let_through=held - hits,
                errors=errors,
                accuracy=share,
                gain=gain,
            )
        )
    return ThresholdExplorer(n=n, points=tuple(points))


def _at_every_threshold(counts: Counts) -> tuple[Ints, Ints]:
    """Return how many answers reach each whole percent, and how many of them are right, shape (..., 101)."""
    first = np.searchsorted(counts.levels, np.arange(101) / 100 - _SLACK)
    return _from_each_level(counts.total)[..., first], _from_each_level(counts.right)[..., first]


def _from_each_level(table: Ints) -> Ints:
    """Return the sum from each level on, shape (..., k + 1): past the last level there is nothing."""
    sums = table[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return np.concatenate([sums, np.zeros((*table.shape[:-1], 1), dtype=np.int64)], axis=-1)


def _drawn(counts: Counts, items: Counts | None, draws: int, seed: int) -> tuple[Counts, str]:
    """Return bootstrap draws of a table, shape (draws, k), and how they were made."""
    if items is not None:
        return resample_item_counts(items, draws, seed), f"percentile bootstrap, {draws} draws of items, seed {seed}"
    how = f"percentile bootstrap, {draws} draws of rows, seed {seed}"
    if counts.levels.size <= MOST_LEVELS:
        return resample_counts(counts, draws, seed), how
    # a column per distinct value and a row per draw would not fit into memory
    merged = resample_counts(counts.merged(MOST_LEVELS), draws, seed)
    return merged, f"{how}, {MOST_LEVELS} groups of neighbouring confidences"


def _share(k: int, n: int, *, clustered: bool) -> Estimate:
    return estimate(k / n, wilson(k, n), n=n, method=ROWS_ALONE if clustered else WILSON)


def _bootstrapped(value: float, draws: Floats, n: int, how: str) -> Estimate:
    made = percentile_interval(draws)
    return estimate(value, made.ci, n=n, method=how if made.ci else "", note=made.note)
