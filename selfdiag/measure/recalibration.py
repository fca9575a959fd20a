"""Measures that fit or test something: CORP, smooth ECE, logistic recalibration, Spiegelhalter's Z.

Every function of ``Counts`` takes shape (..., k) and returns shape (...), NaN where undefined.
"""

from __future__ import annotations

import math

import numpy as np

from selfdiag.measure.calibration import brier, uncertainty
from selfdiag.measure.counts import Counts, Floats, Ints, ratio, remembered

CLIP = 0.005
"""Stated fractions are brought into [CLIP, 1 - CLIP] before their logit is taken."""

_STEPS = 100
_LONGEST_STEP = 2.0
_TOLERANCE = 1e-10
_WAVES = 512


def isotonic(levels_right: Ints, levels_total: Ints) -> Floats:
    """Return the non-decreasing accuracies closest to those observed, by pooling adjacent violators.

    Both arguments have shape (k,), in order of confidence, with totals above 0 (Ayer et al. 1955).
    """
    blocks: list[tuple[int, int, int]] = []
    for right, total in zip(levels_right.tolist(), levels_total.tolist(), strict=True):
        block = (right, total, 1)
        # Cross-multiplied, so that equal shares are recognised exactly.
        while blocks and blocks[-1][0] * block[1] >= block[0] * blocks[-1][1]:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    shares = [right / total for right, total, _ in blocks]
    return np.repeat(np.array(shares, dtype=np.float64), [width for _, _, width in blocks])


def corp_miscalibration(counts: Counts) -> Floats:
    """Return the Brier score that isotonic recalibration would save, in [0, 1].

    With ``corp_discrimination``, Brier = miscalibration - discrimination + uncertainty (Dimitriadis, Gneiting
    and Jordan 2021).
    """
    return np.maximum(brier(counts) - _recalibrated_brier(counts), 0.0)


def corp_discrimination(counts: Counts) -> Floats:
    """Return how much better isotonically recalibrated confidence is than the accuracy alone, in [0, .25]."""
    return np.maximum(uncertainty(counts) - _recalibrated_brier(counts), 0.0)


def spiegelhalter_z(counts: Counts) -> Floats:
    """Return Spiegelhalter's statistic, standard normal under perfect calibration (Spiegelhalter 1986).

    Positive when confidence is too extreme. Undefined when every stated value is 0, .5 or 1, for then the
    statistic has no variance.
    """
    p = counts.levels
    weight = 1 - 2 * p
    drift = counts.right @ (weight * (1 - p)) - counts.wrong @ (weight * p)
    return ratio(drift, np.sqrt(counts.total @ (weight**2 * p * (1 - p))))


def two_sided_p(z: float) -> float:
    """Return the two-sided p-value of a standard normal statistic."""
    return math.erfc(abs(z) / math.sqrt(2))


def contradicted(counts: Counts) -> Ints:
    """Return how many answers stated 0 and were right or stated 1 and were wrong, shape (...)."""
    return np.asarray(
        counts.right[..., counts.levels == 0].sum(axis=-1) + counts.wrong[..., counts.levels == 1].sum(axis=-1)
    )


def recalibrate(counts: Counts) -> tuple[Floats, Floats]:
    """Return intercept and slope of a logistic regression of the outcome on the logit of stated confidence.

    0 and 1 under perfect calibration; a slope below 1 means confidence too extreme (Cox 1958). Stated
    fractions are clipped by ``CLIP``. Undefined when one value is stated throughout, with one class, or when
    confidence separates right from wrong.
    """
    x = _logit(counts.levels)
    # from the fit without confidence Newton's steps do not overshoot, as they do from slope 1
    share = np.clip(np.nan_to_num(ratio(counts.hits, counts.n), nan=0.5), CLIP, 1 - CLIP)
    intercept, slope = np.log(share / (1 - share)), np.zeros(counts.n.shape)
    step = np.full((2, *counts.n.shape), np.inf)
    for _ in range(_STEPS):
        chance = _expit(intercept[..., None] + slope[..., None] * x)
        surplus = counts.right - counts.total * chance
        weight = counts.total * chance * (1 - chance)
        h00, h01, h11 = weight.sum(axis=-1), weight @ x, weight @ x**2
        g0, g1 = surplus.sum(axis=-1), surplus @ x
        determinant = h00 * h11 - h01**2
        determinant = np.where(determinant > 1e-9 * h00 * h11, determinant, 0.0)
        step = np.stack([ratio(h11 * g0 - h01 * g1, determinant), ratio(h00 * g1 - h01 * g0, determinant)])
        step = np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        intercept, slope = intercept + step[0], slope + step[1]
        if not (np.abs(step) > _TOLERANCE).any():
            break
    settled = (np.abs(step) <= _TOLERANCE).all(axis=0)
    return np.where(settled, intercept, np.nan), np.where(settled, slope, np.nan)


def calibration_slope(counts: Counts) -> Floats:
    """Return the slope of ``recalibrate``."""
    return recalibrate(counts)[1]


def calibration_intercept(counts: Counts) -> Floats:
    """Return the intercept of ``recalibrate``, fitted together with the slope."""
    return recalibrate(counts)[0]


def intercept_at_slope_one(counts: Counts) -> Floats:
    """Return the intercept of the logistic recalibration whose slope is held at 1: calibration in the large.

    Negative when overconfident; undefined with one class.
    """
    x = _logit(counts.levels)
    intercept = np.zeros(counts.n.shape)
    step = np.full(counts.n.shape, np.inf)
    for _ in range(_STEPS):
        chance = _expit(intercept[..., None] + x)
        curvature = (counts.total * chance * (1 - chance)).sum(axis=-1)
        step = ratio((counts.right - counts.total * chance).sum(axis=-1), curvature)
        step = np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        intercept = intercept + step
        if not (np.abs(step) > _TOLERANCE).any():
            break
    return np.where(np.abs(step) <= _TOLERANCE, intercept, np.nan)


_MOST_LEVELS = 5_000
"""With more distinct confidences smooth ECE merges neighbours, which lie closer than its kernel is wide."""


def smooth_ece(counts: Counts) -> Floats:
    """Return the smooth calibration error, in [0, 1] (Blasiok and Nakkiran 2024).

    The residuals outcome - confidence are smoothed along the confidence axis with a Gaussian kernel
    reflected at 0 and 1; the value is the kernel width at which the integral of the smoothed residual's size
    equals that width. In the cosine basis the reflected kernel only damps each wave, which makes every width
    cheap.
    """
    if counts.levels.size > _MOST_LEVELS:
        counts = counts.merged(_MOST_LEVELS)
    residual = ratio(-counts.excess, counts.n[..., None])
    wave = np.arange(_WAVES)
    strength = residual @ np.cos(np.pi * np.outer(counts.levels, wave))
    strength[..., 1:] *= 2

    def smoothed(width: Floats) -> Floats:
        damped = strength * np.exp(-0.5 * (np.pi * wave * width[..., None]) ** 2)
        return np.asarray(np.abs(_sum_of_cosines(damped)).mean(axis=-1))

    low, high = np.full(counts.n.shape, 1e-3), np.ones(counts.n.shape)
    for _ in range(16):
        width = (low + high) / 2
        above = smoothed(width) > width
        low, high = np.where(above, width, low), np.where(above, high, width)
    return np.where(counts.n > 0, smoothed(high), np.nan)


def _sum_of_cosines(strength: Floats) -> Floats:
    """Return the sum of strength[j] cos(pi j x), shape (..., m), at the middles x of m steps in [0, 1]."""
    waves = strength.shape[-1]
    turned = strength * np.exp(0.5j * np.pi * np.arange(waves) / waves)
    return np.asarray(2 * waves * np.fft.ifft(turned, n=2 * waves)[..., :waves].real)


@remembered
def _recalibrated_brier(counts: Counts) -> Floats:
    shape = (counts.n.size, counts.levels.size)
    scores = []
    for right, total in zip(counts.right.reshape(shape), counts.total.reshape(shape), strict=True):
        used = total > 0
        fitted = isotonic(right[used], total[used])
        scores.append(right[used] @ (1 - fitted) ** 2 + (total - right)[used] @ fitted**2)
    return ratio(np.array(scores).reshape(counts.n.shape), counts.n)


def _logit(levels: Floats) -> Floats:
    clipped = np.clip(levels, CLIP, 1 - CLIP)
    return np.asarray(np.log(clipped / (1 - clipped)))


def _expit(x: Floats) -> Floats:
    return np.asarray((1 + np.tanh(x / 2)) / 2)
