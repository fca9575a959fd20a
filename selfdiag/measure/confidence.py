"""What a model states, whatever is right: the profile of its confidence.

Functions of ``Counts`` take shape (..., k) and return shape (...), NaN without answers.
"""

from __future__ import annotations

import numpy as np

from selfdiag.measure.counts import Counts, Floats, Ints, ratio
from selfdiag.measure.selective import at_or_above

ECHO_FROM = 0.80
"""From this share of one value on, the number does not vary and the tier describes the number."""


def confidence_quantile(counts: Counts, at: float) -> Floats:
    """Return a quantile of the stated confidence, 0-100, interpolated linearly between answers.

    ``at`` lies in [0, 1]; .5 is the median.
    """
    if not counts.levels.size:
        return np.full(counts.n.shape, np.nan)
    place = at * np.maximum(counts.n - 1, 0)
    below, above = np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)
    low, high = (counts.levels[counts.level_of(counts.n - at)] for at in (below, above))
    return np.where(counts.n > 0, 100 * (low + (place - below) * (high - low)), np.nan)


def median_confidence(counts: Counts) -> Floats:
    """Return the median stated confidence, 0-100."""
    return confidence_quantile(counts, 0.5)


def distinct_values(counts: Counts) -> Ints:
    """Return how many different confidences are stated."""
    return np.asarray((counts.total > 0).sum(axis=-1))


def modal_share(counts: Counts) -> Floats:
    """Return the share of the commonest stated value, in [0, 1]."""
    return ratio(counts.total.max(axis=-1, initial=0), counts.n)


def sure_share(counts: Counts, threshold: float = 0.8) -> Floats:
    """Return the share of answers stated at ``threshold`` (a fraction) or more, in [0, 1]."""
    return ratio(at_or_above(counts, threshold).n, counts.n)
