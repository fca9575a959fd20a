"""The worst of several groups, beside what chance makes of calibrated ones."""

import numpy as np
import pytest

from selfdiag.measure.counts import Counts, tabulate_confidences
from selfdiag.measure.reliability import calibrated_draws, group_rows, worst_group


def group(rng: np.random.Generator, n: int) -> Counts:
    return tabulate_confidences(rng.choice([20, 50, 70, 90, 95], size=n), rng.random(n) < 0.5)


def test_the_band_is_that_of_the_maximum_over_simulated_groups() -> None:
    rng = np.random.default_rng(3)
    groups = {f"g{i}": group(rng, n) for i, n in enumerate((2, 2, 3, 6, 8, 14))}
    found = worst_group(groups)
    assert found is not None
    drawn = [calibrated_draws(counts, draws=40_000, seed=i) for i, counts in enumerate(groups.values())]
    gaps = [np.abs((sets.excess.sum(axis=-1)) / sets.n) for sets in drawn]
    largest = np.max(gaps, axis=0)
    assert found.band.mean == pytest.approx(largest.mean(), abs=0.004)
    # few answers have few possible gaps: the band is the smallest of them that holds 95 %
    assert np.mean(largest <= found.band.upper + 1e-9) >= 0.945
    assert np.mean(largest < found.band.upper - 1e-9) <= 0.955


def test_it_names_the_largest_gap_in_size() -> None:
    groups = {
        "a": tabulate_confidences([80] * 10, [1] * 8 + [0] * 2),
        "b": tabulate_confidences([10] * 10, [1] * 10),
        "c": tabulate_confidences([90] * 10, [1] * 4 + [0] * 6),
    }
    found = worst_group(groups)
    assert found is not None
    assert (found.name, found.gap) == ("b", pytest.approx(-0.9))
    single = {row.name: row.gap_band for row in group_rows(groups)}
    assert found.band.upper >= max(single.values())  # more groups, more chance


def test_one_group_has_no_worst() -> None:
    empty = tabulate_confidences([], [])
    assert worst_group({}) is None
    assert worst_group({"a": tabulate_confidences([80], [1]), "b": empty}) is None
