"""The knowledge horizon: models with a known one, a slow search for the drop, and answers that show none."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from selfdiag.measure.counts import Floats, Ints
from selfdiag.measure.horizon import MAX_CHANCE, Horizon, knowledge_horizon

MONTHS = """
    2008-10 2008-11 2009-10 2009-10 2010-7 2010-10 2011-7 2011-10 2012-2 2012-7 2013-3 2013-6 2014-6 2014-8 2015-5
    2015-10 2016-5 2016-10 2017-5 2017-11 2018-7 2018-8 2019-4 2019-4 2020-2 2020-2 2021-5 2021-7 2021-10 2021-12
    2022-6 2022-7 2022-11 2022-12 2023-7 2023-8 2023-10 2023-11 2024-3 2024-9 2024-10 2024-10 2025-3 2025-5 2025-10
"""
DATES = np.array([int(year) + (int(month) - 1) / 12 for year, month in (m.split("-") for m in MONTHS.split())])
YEARS = np.arange(2000.0, 2030.0)


def horizon(correct: object, dates: object = YEARS, run_year: float = 2030.0, draws: int = 400) -> Horizon:
    return knowledge_horizon(dates, correct, run_year=run_year, draws=draws)  # type: ignore[arg-type]


def answers(rng: np.random.Generator, last: float, before: float, after: float) -> Ints:
    return (rng.random(DATES.size) < np.where(last >= DATES, before, after)).astype(np.int64)


def likeliest(dates: Floats, right: Ints) -> list[float]:
    """Try every split between two dates, as two binomial samples."""
    found: list[tuple[float, float]] = []
    calendar = sorted(set(dates.tolist()))
    for last, following in itertools.pairwise(calendar):
        sides = [right[dates <= last], right[dates > last]]
        if sides[0].mean() > sides[1].mean():
            logs = [np.log(binom.pmf(side, 1, side.mean())).sum() for side in sides]
            found.append((float(sum(logs)), (last + following) / 2))
    best = max(found)[0]
    return [at for value, at in found if value > best - 1e-6]


def test_a_clean_drop_is_found_between_its_facts() -> None:
    made = horizon([1] * 20 + [0] * 10)
    assert made.value == 2019.5 and made.n == 30 and not made.censored
    assert (made.n_before, made.n_after, made.share_before, made.share_after) == (20, 10, 1.0, 0.0)
    assert made.ci is not None and 2016 <= made.ci[0] <= 2019 and 2020 <= made.ci[1] <= 2023
    assert made.note == "20 of 20 facts right up to it, 0 of 10 after it"
    assert "integrated likelihood, 400 draws, seed" in made.method


def test_shares_on_either_side() -> None:
    made = horizon([1, 1, 1, 0, 1] * 4 + [0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    assert (made.value, made.n_before, made.share_before, made.share_after) == (2019.5, 20, 0.8, 0.1)


def test_order_of_facts_and_unusable_ones_do_not_matter() -> None:
    right = np.array([1, 1, 1, 0, 1] * 4 + [0] * 9 + [1])
    shuffled = np.random.default_rng(3).permutation(30)
    plain = horizon(right)
    assert horizon(right[shuffled], YEARS[shuffled]) == plain
    unusable = np.append(YEARS, [2040.0, math.nan, 2029.0])
    assert horizon(np.append(right, [-1, -1, -1]), unusable) == plain


def test_facts_of_one_date_stay_on_one_side() -> None:
    dates = np.repeat([2010.0, 2015.0, 2020.0], 10)
    made = horizon([1] * 14 + [0] * 16, dates)
    assert made.value in {2012.5, 2017.5} and made.n_before % 10 == 0
    assert made.share_before == pytest.approx({10: 1.0, 20: 0.7}[made.n_before])
    assert {at for at, _ in made.drawn} <= {2010.0, 2015.0, 2020.0}


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), min_size=8, max_size=25))
def test_the_drop_is_the_likeliest_one(facts: list[tuple[int, int]]) -> None:
    dates, right = np.array([2010.0 + f[0] for f in facts]), np.array([f[1] for f in facts])
    made = horizon(right, dates, draws=20)
    if made.value is not None and not made.censored:
        assert any(made.value == pytest.approx(at) for at in likeliest(dates, right))
        assert made.share_before == pytest.approx(right[dates < made.value].mean())
        assert made.share_after == pytest.approx(right[dates > made.value].mean())
        assert made.share_after is not None and made.share_before is not None and made.share_after < made.share_before


@pytest.mark.parametrize("right", [[1, 1, 1, 1, 1, 0, 1, 1, 0, 0], [0, 1, 1, 0, 1, 0, 1, 0, 0, 0]])
def test_chance_is_that_of_all_orders(right: list[int]) -> None:
    def gain(order: tuple[int, ...]) -> float:
        best, all_right = 0.0, sum(order)
        flat = binom.logpmf(all_right, 10, all_right / 10) - math.log(math.comb(10, all_right))
        for k in range(1, 10):
            a, b = sum(order[:k]), sum(order[k:])
            if a / k > b / (10 - k):
                split = binom.logpmf(a, k, a / k) - math.log(math.comb(k, a))
                split += binom.logpmf(b, 10 - k, b / (10 - k)) - math.log(math.comb(10 - k, b))
                best = max(best, split - flat)
        return float(best)

    orders = {tuple(int(i in where) for i in range(10)) for where in itertools.combinations(range(10), sum(right))}
    gains = np.array([gain(order) for order in orders])
    expected = (gains >= gain(tuple(right)) - 1e-9).mean()
    made = horizon(right, YEARS[:10])
    assert expected > MAX_CHANCE
    assert float(made.note.split("p = ")[1].split(")")[0]) == pytest.approx(expected, abs=0.035)


def test_knowledge_up_to_the_newest_fact_is_a_lower_bound() -> None:
    for right in ([1] * 30, [1, 1, 1, 0, 1] * 5 + [1, 0, 1, 1, 0], [1] * 10 + [0] * 2 + [1] * 18):
        made = horizon(right)
        assert (made.value, made.censored, made.ci, made.drawn) == (2029.0, True, None, ())
        assert made.note.startswith(f"at least this, the date of the newest fact: {sum(right)} of 30 facts right")
        assert (made.n_before, made.n_after, made.share_after) == (30, 0, None)
        assert made.share_before == pytest.approx(sum(right) / 30)


@pytest.mark.parametrize(
    ("right", "note"),
    [
        ([1, 0, 0, 1, 0] * 6, "cannot say: 12 of 30 facts right, without a drop beyond chance"),
        # Most facts are known, but not the newest.
        ([1, 0, 1, 1, 0] * 5 + [1, 0, 1, 0, 0], "cannot say: 17 of 30 facts right, without a drop beyond chance"),
        # The newest are known, but few of all; and what rises is no drop.
        ([0] * 20 + [1] * 10, "cannot say: 10 of 30 facts right, without a drop beyond chance (p = 1.00)"),
        ([0] * 30, "cannot say: none of 30 facts right"),
        ([-1] * 30, "cannot say: none of 0 facts right"),
        # Two facts are a drop in half of their orders.
        ([1, 0, *[-1] * 28], "cannot say: 1 of 2 facts right, without a drop beyond chance"),
    ],
)
def test_what_shows_no_horizon(right: list[int], note: str) -> None:
    made = horizon(right)
    assert made.value is None and made.ci is None and not made.censored and made.drawn == ()
    assert made.note.startswith(note)
    assert made.n == sum(mark >= 0 for mark in right)


def test_facts_of_a_single_date_show_no_drop() -> None:
    made = horizon([1, 1, 1, 0], [2020.0] * 4)
    assert (made.value, made.censored) == (2020.0, True)


def test_draws_are_those_of_the_interval() -> None:
    made = horizon([1, 1, 1, 0, 1] * 4 + [0] * 9 + [1])
    drawn = np.repeat([at for at, _ in made.drawn], [often for _, often in made.drawn])
    assert drawn.size == 400 and made.ci == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    assert made.ci is not None and made.value is not None and made.ci[0] < made.value < made.ci[1]
    # Either end of the gap of the drop itself is the commonest of all.
    commonest = sorted(made.drawn, key=lambda pair: -pair[1])[:2]
    assert {at for at, _ in commonest} == {2019.0, 2020.0}


def test_horizon_is_seeded() -> None:
    right = [1, 1, 1, 0, 1] * 4 + [0] * 9 + [1]
    assert horizon(right) == horizon(right)
    other = knowledge_horizon(YEARS, right, run_year=2030, draws=400, seed=1)
    assert other.value == horizon(right).value and other.drawn != horizon(right).drawn


@pytest.mark.parametrize(
    ("dates", "correct", "run_year"),
    [
        ([2020.0, 2021.0], [1], 2030),
        ([[2020.0]], [[1]], 2030),
        ([2020.0], [2], 2030),
        ([2020.0], [0.5], 2030),
        ([2020.0], [math.nan], 2030),
        ([2020.0], [1], 2019.9),
        ([2020.0], [1], math.nan),
        ([math.nan], [1], 2030),
        ([-math.inf], [0], 2030),
    ],
)
def test_what_are_no_facts_is_refused(dates: object, correct: object, run_year: float) -> None:
    with pytest.raises(ValueError, match="fact"):
        horizon(correct, dates, run_year)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 1)), max_size=15))
def test_a_horizon_is_never_half_defined(facts: list[tuple[int, int]]) -> None:
    made = horizon([f[1] for f in facts], [2010.0 + f[0] for f in facts], draws=20)
    assert made.n == made.n_before + made.n_after or made.value is None
    assert bool(made.drawn) == (made.ci is not None)
    assert made.ci is None or not made.censored
    assert made.note and (made.value is None) == made.note.startswith("cannot say")


@pytest.mark.parametrize(("before", "after", "found", "error"), [(0.8, 0.1, 0.93, 0.6), (0.4, 0.02, 0.65, 1.6)])
def test_simulated_cut_off_is_recovered(before: float, after: float, found: float, error: float) -> None:
    rng = np.random.default_rng(5)
    last = rng.uniform(2018, 2025, size=120)
    made = [knowledge_horizon(DATES, answers(rng, at, before, after), run_year=2026, draws=400) for at in last]
    known = [(m.value, at, m.ci) for m, at in zip(made, last.tolist(), strict=True) if m.value is not None]
    errors = np.array([value - at for value, at, _ in known])
    assert len(known) >= found * 120
    assert np.abs(errors).mean() < error
    covered = [ci[0] <= at <= ci[1] for _, at, ci in known if ci is not None]
    assert np.mean(covered) >= 0.88


def test_simulated_flat_rates_show_no_horizon() -> None:
    rng = np.random.default_rng(11)
    made = [knowledge_horizon(DATES, answers(rng, 2026, 0.3, 0.3), run_year=2026, draws=1) for _ in range(400)]
    assert np.mean([m.value is None for m in made]) >= 0.93


def test_simulated_models_that_are_up_to_date_are_censored() -> None:
    rng = np.random.default_rng(7)
    made = [knowledge_horizon(DATES, answers(rng, 2026, 0.9, 0.9), run_year=2026, draws=1) for _ in range(100)]
    assert np.mean([m.censored and m.value == DATES[-1] for m in made]) >= 0.85
