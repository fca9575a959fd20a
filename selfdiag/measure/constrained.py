"""Category-constrained diagnostics: in how many categories a model is right, and knows how right it is.

A category c has accuracy s_c, the share of its answers that are right, mean confidence q_c and calibration
error e_c = |q_c - s_c|. PVC(g) counts the categories with s_c >= g, C-PVC(g, t) those of them with e_c <= t.
Their volumes over all thresholds g and t need no choice of threshold. The source of all formulas is the
category-constrained diagnostics study. The numbers compare models and find categories that fail; they certify
nothing and estimate no VC dimension.

Several batteries are measured one by one and averaged, never pooled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.estimate import Estimate, estimate, join_notes

Grid = Literal["closed", "paper"]

VOLUMES = ("pvc_vus", "c_pvc_vus", "vus_gap", "pm_pvc", "pm_c_pvc", "pm_sc")
"""The volumes by name, in units of categories; each also as ``<name>_per_category``, divided by K."""

NO_ANSWERS = "no data: no category has an answer with a confidence"
"""Why a battery without categories has no volume."""

_STEPS = 100
_SCORE_BASE, _SCORE_PER_CATEGORY = 300, 100
# In percent. Far above the rounding of a mean and far below 1/n, the least distance of two different errors
# that come from whole confidences.
_TIE_SLACK = 1e-7


class Categories(msgspec.Struct, frozen=True, kw_only=True):
    """The K categories of one battery, as columns of equal length.

    ``hits`` of ``n`` answers were right, ``error`` is e_c in [0, 1], ``mean_confidence`` is q_c in [0, 1] or
    None where only e_c is known. ``note`` says what was left out. Raises ``ValueError`` for columns of
    different length, a name that occurs twice, a category without answers and values out of range.
    """

    names: tuple[str, ...]
    hits: tuple[int, ...]
    n: tuple[int, ...]
    error: tuple[float, ...]
    mean_confidence: tuple[float, ...] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        k = len(self.names)
        stated = self.error if self.mean_confidence is None else self.mean_confidence
        if not len(self.hits) == len(self.n) == len(self.error) == len(stated) == k:
            raise ValueError("categories need one value per name in every column")
        if len(set(self.names)) < k:
            raise ValueError("a category occurs twice")
        if not all(0 <= hits <= n and n > 0 for hits, n in zip(self.hits, self.n, strict=True)):
            raise ValueError("a category has at least one answer, and no more right answers than answers")
        if not all(0 <= value <= 1 for value in (*self.error, *stated)):
            raise ValueError("calibration errors and mean confidences lie between 0 and 1")


def categories(
    hits: ArrayLike,
    n: ArrayLike,
    *,
    mean_confidence: Sequence[float | None] | Floats | None = None,
    error: Sequence[float | None] | Floats | None = None,
    names: Sequence[str] | None = None,
) -> Categories:
    """Return the categories of a battery from their counts; those without answers leave with a note.

    ``hits`` and ``n`` are whole numbers of shape (K,). One of ``mean_confidence`` (q_c) and ``error`` (e_c),
    both fractions of shape (K,), is given; it may be None where n is 0. ``names`` defaults to "1" to "K".
    Raises ``ValueError`` when both or neither are given and for everything that ``Categories`` refuses.
    """
    if (mean_confidence is None) == (error is None):
        raise ValueError("give the mean confidences or the calibration errors, one of the two")
    right, total = _whole(hits), _whole(n)
    values = np.asarray(mean_confidence if error is None else error, dtype=np.float64).reshape(-1)
    labels = [str(i + 1) for i in range(total.size)] if names is None else list(names)
    if not right.size == total.size == values.size == len(labels):
        raise ValueError("categories need one value per name in every column")
    if ((total == 0) & (right != 0)).any():
        raise ValueError("a category without answers has no right ones")
    kept = np.flatnonzero(total)
    gone = [labels[i] for i in np.flatnonzero(total == 0)]
    right, total, values = right[kept], total[kept], values[kept]
    return Categories(
        names=tuple(labels[i] for i in kept),
        hits=tuple(right.tolist()),
        n=tuple(total.tolist()),
        error=tuple((values if error is not None else np.abs(values - right / total)).tolist()),
        mean_confidence=tuple(values.tolist()) if error is None else None,
        note=_left_out(gone),
    )


def pvc(measured: Categories, g: ArrayLike) -> Ints:
    """Return how many categories reach accuracy ``g``: #{s_c >= g}, shape (...).

    ``g`` has shape (...) in whole percent, 0 to 100, and is compared in integers: 100 hits >= g n. Raises
    ``ValueError`` for other values.
    """
    return c_pvc(measured, g, 100)


def c_pvc(measured: Categories, g: ArrayLike, t: ArrayLike) -> Ints:
    """Return how many categories reach accuracy ``g`` with a calibration error within ``t``, shape (...).

    ``g`` and ``t`` broadcast to shape (...), both in whole percent, 0 to 100. Accuracy is compared as in
    ``pvc``. An error counts as within t when it exceeds it by less than 1e-9, so that an e_c of .10 passes
    10 % however its mean was rounded; for whole stated confidences and fewer than a million answers in a category
    this is the comparison of the exact fractions. Raises ``ValueError`` for other values.
    """
    accurate = _percent(g)[..., None] <= _accuracy_step(np.array(measured.hits, np.int64), np.array(measured.n))
    calibrated = _percent(t)[..., None] >= _tolerance_step(np.array(measured.error, np.float64))
    return np.asarray((accurate & calibrated).sum(axis=-1), dtype=np.int64)


def surface(measured: Categories) -> Ints:
    """Return C-PVC at every pair of whole percents, shape (101, 101): accuracy g first, tolerance t second."""
    steps = np.arange(_STEPS + 1)
    return c_pvc(measured, steps[:, None], steps)


def volume_values(hits: Ints, n: Ints, error: Floats, grid: Grid = "closed") -> dict[str, Floats]:
    """Return every volume of one battery, in units of categories and per category; each has shape (...).

    ``hits``, ``n`` (1 or more) and ``error`` have shape (..., K), K at least 1; leading axes are draws.

    The closed forms integrate over all g and t in [0, 1]: ``pvc_vus`` = sum s_c, ``c_pvc_vus`` =
    sum s_c (1 - e_c), ``vus_gap`` = sum s_c e_c. The PM volumes are over g > t + 1/2 with weight
    2 / (g - 1/2), whose own volume is 1: with a = s_c - 1/2, ``pm_pvc`` = sum 2 max(a, 0) and ``pm_c_pvc`` =
    sum over a > e_c of 2 (a - e_c - e_c ln(a / e_c)), which is 2 a at e_c = 0. ``pm_sc`` is the volume there
    of the score 300 + 100 C-PVC(g, t): 300 + 100 ``pm_c_pvc``.

    ``grid="paper"`` gives them by the trapezoid rule on the 101 x 101 whole percents, as the study prints
    them. A point belongs to the PM region when k_g - k_t > 50 in integers. The region then has the volume
    sum over m = 1 to 49 of (2 - 1/m) / 100, plus (2 - 1/50) / 200, = .945108, so ``pm_sc`` is
    283.53 + 100 ``pm_c_pvc`` (with g > t + .5 in floating point, rounding lets in points of the border and
    makes it 284.29).
    """
    pick = _closed_terms if grid == "closed" else _paper_terms
    total, calibrated, pm_total, pm_calibrated, pm_volume = pick(hits, n, error)
    pm_c_pvc = pm_calibrated.sum(axis=-1)
    values = {
        "pvc_vus": total.sum(axis=-1),
        "c_pvc_vus": calibrated.sum(axis=-1),
        "vus_gap": (total - calibrated).sum(axis=-1),
        "pm_pvc": pm_total.sum(axis=-1),
        "pm_c_pvc": pm_c_pvc,
        "pm_sc": _SCORE_BASE * pm_volume + _SCORE_PER_CATEGORY * pm_c_pvc,
    }
    return values | {f"{name}_per_category": values[name] / hits.shape[-1] for name in VOLUMES}


def volumes(*batteries: Categories, grid: Grid = "closed") -> dict[str, Estimate]:
    """Return every volume by name, the mean over the batteries, without intervals.

    For ``grid`` see ``volume_values``. Batteries without categories leave with a note; without any other every
    value is None.
    """
    values = mean_volumes(
        [volume_values(np.array(b.hits), np.array(b.n), np.array(b.error), grid) for b in batteries if b.names]
    )
    note = battery_note(batteries)
    if not values:
        names = [*VOLUMES, *(f"{name}_per_category" for name in VOLUMES)]
        return {name: estimate(None, note=join_notes(NO_ANSWERS, note)) for name in names}
    n = sum(sum(b.n) for b in batteries)
    note = join_notes("no interval: it needs the items", note)
    return {name: estimate(float(value), n=n, note=note) for name, value in values.items()}


def mean_volumes(batteries: Sequence[dict[str, Floats]]) -> dict[str, Floats]:
    """Return the mean of each volume over batteries, shape (...), or nothing when there is no battery."""
    names = batteries[0] if batteries else ()
    return {name: np.mean([battery[name] for battery in batteries], axis=0) for name in names}


def battery_note(batteries: Sequence[Categories]) -> str:
    """Return how many batteries a mean is over and what was left out of each."""
    present = sum(bool(b.names) for b in batteries)
    gone = len(batteries) - present
    return join_notes(
        f"mean of {present} batteries" if present > 1 else "",
        f"batteries without answers left out: {gone}" if present and gone else "",
        *(b.note for b in batteries),
    )


_Terms = tuple[Floats, Floats, Floats, Floats, float]


def _closed_terms(hits: Ints, n: Ints, error: Floats) -> _Terms:
    """Return what each category adds to PVC, C-PVC and their PM volumes, and the volume of the PM region."""
    accuracy = hits / n
    above = np.maximum(accuracy - 0.5, 0.0)
    inside = (above > error) & (error > 0)
    # A difference of logarithms: the ratio itself overflows at the smallest errors.
    log_ratio = np.log(above, out=np.zeros_like(above), where=inside)
    log_ratio -= np.log(error, out=np.zeros_like(above), where=inside)
    pm_calibrated = 2 * np.maximum(above - error - error * log_ratio, 0.0)
    return accuracy, accuracy * (1 - error), 2 * above, pm_calibrated, 1.0


def _paper_terms(hits: Ints, n: Ints, error: Floats) -> _Terms:
    """Return the same as ``_closed_terms`` on the grid, looked up by the last g and the first t that pass."""
    tables = _paper_tables()
    g, t = _accuracy_step(hits, n), _tolerance_step(error)
    total = tables.up_to_g[g]
    return total, total * tables.from_t[t], tables.pm_up_to_g[g], tables.pm_inside[g, t], tables.pm_volume


class _PaperTables(NamedTuple):
    up_to_g: Floats
    from_t: Floats
    pm_up_to_g: Floats
    pm_inside: Floats
    pm_volume: float


@cache
def _paper_tables() -> _PaperTables:
    """Return trapezoid sums of the weight over g up to each step and over t from each step on."""
    steps = np.arange(_STEPS + 1)
    width = np.full(steps.size, 1 / _STEPS)
    width[[0, -1]] /= 2
    member = steps[:, None] - steps > _STEPS // 2
    weight = 2 / np.where(steps > _STEPS // 2, steps / _STEPS - 0.5, np.inf)
    pm = member * (weight * width)[:, None] * width
    pm_inside = pm[:, ::-1].cumsum(axis=1)[:, ::-1].cumsum(axis=0)
    return _PaperTables(
        up_to_g=width.cumsum(),
        from_t=width[::-1].cumsum()[::-1],
        pm_up_to_g=pm_inside[:, 0],
        pm_inside=pm_inside,
        pm_volume=float(pm.sum()),
    )


def _accuracy_step(hits: Ints, n: Ints) -> Ints:
    """Return the largest whole percent g with 100 hits >= g n."""
    return np.asarray(100 * hits // n, dtype=np.int64)


def _tolerance_step(error: Floats) -> Ints:
    """Return the smallest whole percent t that an error is within."""
    return np.ceil(100 * error - _TIE_SLACK).astype(np.int64)


def _percent(values: ArrayLike) -> Ints:
    stated = np.asarray(values, dtype=np.float64)
    if not ((stated >= 0) & (stated <= 100) & (np.floor(stated) == stated)).all():
        raise ValueError("a threshold is a whole percent from 0 to 100")
    return stated.astype(np.int64)


def _whole(values: ArrayLike) -> Ints:
    counts = np.asarray(values).reshape(-1)
    whole = counts.astype(np.float64)
    if not ((whole >= 0) & (np.floor(whole) == whole) & np.isfinite(whole)).all():
        raise ValueError("hits and n are whole numbers, 0 or more")
    return counts.astype(np.int64)


def _left_out(names: Sequence[str]) -> str:
    return f"left out, no answers: {', '.join(names)}" if names else ""
