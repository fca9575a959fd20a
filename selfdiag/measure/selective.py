"""What answering only the surest questions would do to the error rate.

Answers are kept from the highest confidence down. Within a group of equal confidence the order is taken as
random, so errors accrue linearly and nothing depends on the order of the file. Functions of ``Counts`` take
shape (..., k) and return shape (...), NaN where undefined.
"""

from __future__ import annotations

import msgspec
import numpy as np

from selfdiag.measure.counts import Counts, Floats, Ints, dot, ratio, remembered

_SLACK = 1e-9


@remembered
def aurc(counts: Counts) -> Floats:
    """Return the mean error rate among the answers kept, over every number kept, in [0, 1].

    The area under the risk-coverage curve (Geifman and El-Yaniv 2017), in expectation over the order of ties:
    with N0 answers and E0 errors above a group of g answers with error rate r, the risks inside it sum to
    g r + (E0 - r N0) (H(N0 + g) - H(N0)), H being the harmonic numbers.
    """
    harmonic = _harmonic(int(counts.n.max(initial=0)))
    above = counts.total_above
    start = counts.wrong_above - counts.error_rate * above
    return ratio(counts.misses + dot(start, harmonic[above + counts.total] - harmonic[above]), counts.n)


def oracle_aurc(counts: Counts) -> Floats:
    """Return the smallest possible ``aurc`` at this accuracy, with every right answer before every wrong."""
    n, hits, misses = counts.n, counts.hits, counts.misses
    harmonic = _harmonic(int(n.max(initial=0)))
    return ratio(misses - hits * (harmonic[n] - harmonic[hits]), n)


def e_aurc(counts: Counts) -> Floats:
    """Return ``aurc`` minus ``oracle_aurc``, at least 0 (Geifman et al. 2019)."""
    return np.maximum(aurc(counts) - oracle_aurc(counts), 0.0)


def augrc(counts: Counts) -> Floats:
    """Return the mean share of all answers that are kept and wrong, over every number kept, in [0, 1].

    The area under the generalised risk-coverage curve (Traub et al. 2024), in expectation over ties.
    """
    inside = dot(counts.total, counts.wrong_above) + (dot(counts.wrong, counts.total) + counts.misses) / 2
    return ratio(inside, counts.n.astype(np.float64) ** 2)


def error_at_coverage(counts: Counts, coverage: float) -> Floats:
    """Return the expected error rate of the surest ``ceil(coverage * n)`` answers, in [0, 1].

    ``coverage`` lies in (0, 1].
    """
    if not counts.levels.size:
        return np.full(counts.n.shape, np.nan)
    kept = np.ceil(coverage * counts.n - _SLACK).astype(np.int64)
    last = counts.level_of(kept)[..., None]
    above, wrong_above, error_rate = (
        np.take_along_axis(table, last, axis=-1)[..., 0]
        for table in (counts.total_above, counts.wrong_above, counts.error_rate)
    )
    return ratio(wrong_above + (kept - above) * error_rate, kept)


def at_or_above(counts: Counts, threshold: float) -> Counts:
    """Return the part of the table with a stated confidence of ``threshold`` (a fraction) or more."""
    first = int(np.searchsorted(counts.levels, threshold - _SLACK))
    return Counts(counts.levels[first:], counts.right[..., first:], counts.wrong[..., first:])


def high_confidence_error(counts: Counts, threshold: float = 0.8) -> Floats:
    """Return the share of wrong answers among those stated at ``threshold`` or more, in [0, 1]."""
    sure = at_or_above(counts, threshold)
    return ratio(sure.misses, sure.n)


def threshold_score(counts: Counts, threshold: float, silent: Ints | int = 0) -> Floats:
    """Return the mean score when an answer is given only at ``threshold`` confidence or more.

    Right scores 1, wrong ``-threshold / (1 - threshold)``, no answer 0. ``threshold`` lies in [0, 1),
    ``silent`` counts replies without an answer (abstained, refused), shape (...).
    """
    sure = at_or_above(counts, threshold)
    return ratio(sure.hits - threshold / (1 - threshold) * sure.misses, counts.n + silent)


class RiskCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """Points of a risk-coverage curve, from few answers kept to all; three tuples of equal length."""

    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    kept: tuple[int, ...]


def risk_coverage(counts: Counts, points: int = 200) -> RiskCoverage:
    """Return the expected risk-coverage curve of one table at up to ``points`` numbers of answers kept."""
    n = int(counts.n)
    if n == 0:
        return RiskCoverage(coverage=(), risk=(), kept=())
    kept = np.unique(np.linspace(1, n, min(points, n)).round().astype(np.int64))
    used = counts.occupied()
    level = np.searchsorted(-used.total_above, -kept, side="right")
    inside = (kept - used.total_above[level]) * used.error_rate[level]
    wrong = used.wrong_above[level] + inside
    return RiskCoverage(
        coverage=tuple((kept / n).tolist()), risk=tuple((wrong / kept).tolist()), kept=tuple(kept.tolist())
    )


class Operating(msgspec.Struct, frozen=True, kw_only=True):
    """What keeping answers at ``threshold`` or more does: how many are kept, and how many are wrong."""

    threshold: float
    kept: int
    wrong: int
    coverage: float
    accuracy: float | None


def operating_point(counts: Counts, threshold: float) -> Operating:
    """Return what acting only at ``threshold`` (a fraction) or more would do, for one table."""
    sure = at_or_above(counts, threshold)
    kept, wrong, n = int(sure.n), int(sure.misses), int(counts.n)
    return Operating(
        threshold=threshold,
        kept=kept,
        wrong=wrong,
        coverage=kept / n if n else 0.0,
        accuracy=1 - wrong / kept if kept else None,
    )


def _harmonic(n: int) -> Floats:
    """Return the harmonic numbers H(0) to H(n)."""
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1, n + 1))])
