"""Category-constrained volumes, the doubts about them, and acting on a stated confidence."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import integrate

from selfdiag.measure.constrained import (
    VOLUMES,
    Categories,
    c_pvc,
    categories,
    pvc,
    surface,
    volumes,
)
from selfdiag.measure.estimate import Estimate
from selfdiag.measure.partition import (
    CategoryItems,
    PartitionTest,
    Spread,
    alternative_categorisations,
    category_items,
    label_flips,
    partition_test,
    volume_estimates,
)
from selfdiag.measure.sample import Sample
from selfdiag.measure.selection import act_or_defer, order_effect
from selfdiag.measure.selective import operating_point
from selfdiag.measure.tally import tally_rows

NAMES = {*VOLUMES, *(f"{name}_per_category" for name in VOLUMES)}
FIXTURE = categories([30, 27, 36, 20], [45] * 4, error=[0.10, 0.25, 0.05, 0.40])
STEPS = np.arange(101)


def values(measured: dict[str, Estimate]) -> dict[str, float]:
    result = {}
    for name, estimate in measured.items():
        assert estimate.value is not None, name
        result[name] = estimate.value
    return result


def battery(per_category: int = 45, k: int = 4, seed: int = 0) -> CategoryItems:
    """Answers that are right as often as stated."""
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 21, k * per_category) / 20
    return category_items(np.repeat(np.arange(k), per_category), rng.random(p.size) < p, p)


@st.composite
def tables(draw: st.DrawFn, most: int = 6) -> Categories:
    n = draw(st.lists(st.integers(1, 60), min_size=1, max_size=most))
    hits = [draw(st.integers(0, total)) for total in n]
    error = [draw(st.one_of(st.just(0.0), st.floats(0, 1), st.integers(0, 100).map(lambda t: t / 100))) for _ in n]
    return categories(hits, n, error=error)


# --- the volumes -----------------------------------------------------------------------------------------


def test_closed_forms_on_the_fixture() -> None:
    assert values(volumes(FIXTURE)) == pytest.approx(
        {
            "pvc_vus": 2.511111,
            "c_pvc_vus": 2.076667,
            "vus_gap": 0.434444,
            "pm_pvc": 1.133333,
            "pm_c_pvc": 0.351992,
            "pm_sc": 335.1992,
            "pvc_vus_per_category": 2.511111 / 4,
            "c_pvc_vus_per_category": 2.076667 / 4,
            "vus_gap_per_category": 0.434444 / 4,
            "pm_pvc_per_category": 1.133333 / 4,
            "pm_c_pvc_per_category": 0.351992 / 4,
            "pm_sc_per_category": 335.1992 / 4,
        },
        abs=5e-7,
        rel=1e-7,
    )


def test_paper_grid_on_the_fixture() -> None:
    found = values(volumes(FIXTURE, grid="paper"))
    assert found["pvc_vus"] == pytest.approx(2.52, abs=1e-12)
    assert found["c_pvc_vus"] == pytest.approx(2.0966, abs=1e-12)
    assert found["vus_gap"] == pytest.approx(0.4234, abs=1e-12)
    assert found["pm_pvc"] == pytest.approx(1.016953, abs=5e-7)
    assert found["pm_c_pvc"] == pytest.approx(0.358482, abs=5e-7)
    assert found["pm_sc"] == pytest.approx(319.3806, abs=5e-5)
    assert found["pm_sc_per_category"] == pytest.approx(319.3806 / 4, abs=5e-5)


def test_the_border_of_the_paper_region_is_decided_in_integers() -> None:
    nothing_right = categories([0], [45], error=[0.0])
    floor = values(volumes(nothing_right, grid="paper"))["pm_sc"]
    g, t = STEPS[:, None] / 100, STEPS / 100
    weight = 2 / np.maximum(g - 0.5, 1e-9)
    by_floats = np.trapezoid(np.trapezoid(300 * weight * (g > t + 0.5), dx=0.01), dx=0.01)
    assert round(floor, 2) == 283.53
    assert floor / 300 == pytest.approx(0.945108, abs=5e-7)
    assert round(float(by_floats), 2) == 284.29
    assert values(volumes(nothing_right))["pm_sc"] == 300


@given(tables())
@settings(max_examples=40)
def test_paper_volumes_are_trapezoids_over_the_surface(table: Categories) -> None:
    counted = surface(table)
    inside = STEPS[:, None] - STEPS > 50
    weight = np.where(inside, 2 / np.maximum(STEPS[:, None] / 100 - 0.5, 0.005), 0)

    def trapezoid(heights: np.ndarray) -> float:
        return float(np.trapezoid(np.trapezoid(heights, dx=0.01), dx=0.01))

    reached = np.broadcast_to(counted[:, -1:], counted.shape)
    found = values(volumes(table, grid="paper"))
    assert found["pvc_vus"] == pytest.approx(trapezoid(reached), abs=1e-9)
    assert found["c_pvc_vus"] == pytest.approx(trapezoid(counted), abs=1e-9)
    assert found["pm_pvc"] == pytest.approx(trapezoid(weight * reached), abs=1e-9)
    assert found["pm_c_pvc"] == pytest.approx(trapezoid(weight * counted), abs=1e-9)
    assert found["pm_sc"] == pytest.approx(trapezoid(weight * (300 + 100 * counted)), abs=1e-7)


@given(tables(most=3))
@example(categories([45, 0, 10], [45, 45, 20], error=[0.0, 1.0, 0.0]))
@example(categories([45], [45], error=[5e-324]))
@example(categories([45], [45], error=[0.5]))
@settings(max_examples=20)
def test_closed_forms_are_the_integrals(table: Categories) -> None:
    fine = 300
    cell = np.arange(fine)
    g, t = (cell[:, None] + 0.5) / fine, (cell + 0.5) / fine
    accuracy = np.array(table.hits) / np.array(table.n)
    reached = sum((s >= g) & (t >= 0) for s in accuracy)
    passed = sum((s >= g) & (t >= e) for s, e in zip(accuracy, table.error, strict=True))
    # Half of each cell on the border lies inside.
    inside = (1 + np.sign(cell[:, None] - cell - fine // 2)) / 2
    weight = inside * 2 / np.maximum(g - 0.5, 0.5 / fine)
    found = values(volumes(table))
    close = {"abs": 0.01 * len(table.names)}
    assert found["pvc_vus"] == pytest.approx(np.mean(reached), **close)
    assert found["c_pvc_vus"] == pytest.approx(np.mean(passed), **close)
    assert found["vus_gap"] == pytest.approx(found["pvc_vus"] - found["c_pvc_vus"], abs=1e-12)
    assert found["pm_pvc"] == pytest.approx(np.mean(weight * reached), **close)
    assert found["pm_c_pvc"] == pytest.approx(np.mean(weight * passed), **close)
    assert found["pm_sc"] == pytest.approx(np.mean(weight * (300 + 100 * passed)), abs=1 + len(table.names))


@pytest.mark.parametrize(("hits", "error"), [(30, 0.1), (40, 0.3), (45, 0.02), (45, 0.499)])
def test_closed_pm_volume_to_many_digits(hits: int, error: float) -> None:
    found = values(volumes(categories([hits], [45], error=[error])))
    by_quadrature, _ = integrate.dblquad(
        lambda t, g: 2 / (g - 0.5), 0.5 + error, max(hits / 45, 0.5 + error), error, lambda g: g - 0.5
    )
    assert found["pm_c_pvc"] == pytest.approx(by_quadrature, abs=1e-9)


@given(tables())
@settings(max_examples=50)
def test_volumes_keep_their_order_and_bounds(table: Categories) -> None:
    for grid in ("closed", "paper"):
        found = values(volumes(table, grid=grid))
        k = len(table.names)
        assert found.keys() == NAMES
        assert -1e-12 <= found["c_pvc_vus"] <= found["pvc_vus"] + 1e-12 <= k + 1e-9
        assert -1e-12 <= found["pm_c_pvc"] <= found["pm_pvc"] + 1e-12 <= k + 1e-9
        for name in VOLUMES:
            assert found[f"{name}_per_category"] == pytest.approx(found[name] / k)


@pytest.mark.parametrize(
    ("k", "accuracy", "printed"), [(8, 597, 4.776), (10, 613, 6.13), (10, 604, 6.04), (8, 581, 4.648), (7, 561, 3.927)]
)
def test_k_times_mean_accuracy_is_the_pvc_volume(k: int, accuracy: int, printed: float) -> None:
    # Categories apart from each other, with the published mean.
    spread = [accuracy + 100 * (-1) ** i * (i // 2 * 2 + 2 <= k) for i in range(k)]
    found = values(volumes(categories(spread, [1000] * k, error=[0.1] * k)))
    assert found["pvc_vus"] == pytest.approx(printed, abs=1e-9)
    assert found["pvc_vus_per_category"] == pytest.approx(accuracy / 1000)


def test_batteries_are_averaged_not_pooled() -> None:
    # Pooled, the two errors would cancel: 10 of 20 right at a mean confidence of .5.
    sure = categories([0], [10], mean_confidence=[1.0])
    unsure = categories([10], [10], mean_confidence=[0.0])
    apart = categories([8, 6], [10, 10], mean_confidence=[0.8, 0.6])
    found = volumes(sure, unsure, apart)
    assert values(found)["pvc_vus"] == pytest.approx((0 + 1 + 1.4) / 3)
    assert values(found)["c_pvc_vus"] == pytest.approx((0 + 0 + 1.4) / 3)
    assert values(found)["pvc_vus_per_category"] == pytest.approx((0 + 1 + 0.7) / 3)
    assert found["pvc_vus"].n == 40
    assert "mean of 3 batteries" in found["pvc_vus"].note


# --- counting categories ---------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 100), min_size=1, max_size=30), st.data())
@settings(max_examples=60)
def test_thresholds_are_compared_exactly(stated: list[int], data: st.DataObject) -> None:
    right = data.draw(st.lists(st.integers(0, 1), min_size=len(stated), max_size=len(stated)))
    n, hits = len(stated), sum(right)
    error = abs(Fraction(sum(stated), 100) - hits) / n
    tables = (
        category_items(["c"] * n, right, [c / 100 for c in stated]).categories(),
        categories([hits], [n], mean_confidence=[float(np.mean(np.array(stated) / 100))]),
        categories([hits], [n], error=[float(error)]),
    )
    for table in tables:
        for g in {100 * hits // n, -(-100 * hits // n), data.draw(st.integers(0, 100))}:
            assert int(pvc(table, g)) == (Fraction(hits, n) >= Fraction(g, 100))
            for t in {math.floor(100 * error), math.ceil(100 * error), data.draw(st.integers(0, 100))}:
                passes = Fraction(hits, n) >= Fraction(g, 100) and error <= Fraction(t, 100)
                assert int(c_pvc(table, g, t)) == passes


def test_an_error_at_the_tolerance_passes_however_it_was_rounded() -> None:
    for hits in range(91):
        table = categories([hits], [100], mean_confidence=[hits / 100 + 0.10])
        assert int(c_pvc(table, 0, 10)) == 1
        assert int(c_pvc(table, 0, 9)) == 0
        assert int(c_pvc(table, hits, 10)) == 1
        assert int(c_pvc(table, hits + 1, 10)) == 0


def test_counts_broadcast_over_thresholds() -> None:
    assert pvc(FIXTURE, [0, 44, 45, 60, 61, 66, 67, 80, 81]).tolist() == [4, 4, 3, 3, 2, 2, 1, 1, 0]
    assert c_pvc(FIXTURE, 0, [4, 5, 10, 24, 25, 40]).tolist() == [0, 1, 2, 2, 3, 4]
    drawn = surface(FIXTURE)
    assert drawn.shape == (101, 101)
    assert drawn[60, 25] == 3
    assert drawn[61, 25] == 2
    assert (np.diff(drawn, axis=0) <= 0).all()
    assert (np.diff(drawn, axis=1) >= 0).all()
    assert drawn[:, 100].tolist() == pvc(FIXTURE, STEPS).tolist()


@pytest.mark.parametrize("threshold", [-1, 101, 50.5, math.nan])
def test_a_threshold_is_a_whole_percent(threshold: float) -> None:
    with pytest.raises(ValueError, match="whole percent"):
        pvc(FIXTURE, threshold)
    with pytest.raises(ValueError, match="whole percent"):
        c_pvc(FIXTURE, 50, threshold)


# --- what goes in ----------------------------------------------------------------------------------------


def test_a_category_without_answers_leaves() -> None:
    table = categories([3, 0, 2], [4, 0, 5], mean_confidence=[0.5, None, 0.9], names=["law", "art", "logic"])
    assert table.names == ("law", "logic")
    assert table.error == pytest.approx((0.25, 0.5))
    assert table.note == "left out, no answers: art"
    assert "art" in volumes(table)["pvc_vus"].note


@pytest.mark.parametrize(
    "build",
    [
        lambda: categories([5], [4], error=[0.1]),
        lambda: categories([-1], [4], error=[0.1]),
        lambda: categories([1], [0], error=[0.1]),
        lambda: categories([1], [-2], error=[0.1]),
        lambda: categories([1.5], [4], error=[0.1]),
        lambda: categories([math.nan], [4], error=[0.1]),
        lambda: categories([1], [4], error=[1.1]),
        lambda: categories([1], [4], error=[-0.1]),
        lambda: categories([1], [4], error=[math.nan]),
        lambda: categories([1], [4], mean_confidence=[None]),
        lambda: categories([1], [4], mean_confidence=[80]),
        lambda: categories([1], [4]),
        lambda: categories([1], [4], mean_confidence=[0.5], error=[0.25]),
        lambda: categories([1, 2], [4], error=[0.1]),
        lambda: categories([1, 2], [4, 4], error=[0.1]),
        lambda: categories([1, 2], [4, 4], error=[0.1, 0.1], names=["a"]),
        lambda: categories([1, 2], [4, 4], error=[0.1, 0.1], names=["a", "a"]),
        lambda: Categories(names=("a",), hits=(0,), n=(0,), error=(0.0,)),
        lambda: Categories(names=("a",), hits=(0,), n=(1,), error=(0.0, 0.1)),
        lambda: category_items(["a"], [1], [1.2]),
        lambda: category_items(["a"], [2], [0.5]),
        lambda: category_items(["a", "b"], [1], [0.5]),
        lambda: category_items([None, "b"], [1, 0], [0.5, 0.5]),
        lambda: category_items(["a", "b"], [1, 0], [0.5, 0.5], ["same", "same"]),
        lambda: category_items(["a", "b"], [1, 0], [0.5, 0.5], ["one"]),
        lambda: label_flips(battery(), percents=[101]),
        lambda: alternative_categorisations(battery(), 0),
    ],
)
def test_nonsense_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        build()


@pytest.mark.parametrize(
    "other", [{"names": ()}, {"hits": ()}, {"n": ()}, {"error": ()}, {"error": (0.0, 0.1)}, {"mean_confidence": ()}]
)
def test_every_column_has_one_value_per_name(other: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match="one value per name"):
        Categories(**{"names": ("a",), "hits": (0,), "n": (1,), "error": (0.0,)} | other)  # type: ignore[arg-type]


def test_items_are_sorted_by_category_with_all_their_rows() -> None:
    items = category_items(
        ["b", "a", "b", "b", "c", "a"],
        [1, 1, 0, 1, 1, 0],
        [0.9, 0.5, 0.7, 0.8, math.nan, math.nan],
        ["q1", "q2", "q1", "q3", "q4", "q5"],
    )
    assert items.names == ("a", "b")
    assert items.sizes.tolist() == [1, 2]
    assert items.rows.tolist() == [1, 2, 1]
    assert items.hits.tolist() == [1, 1, 1]
    assert items.stated.tolist() == pytest.approx([0.5, 1.6, 0.8])
    assert items.note == "2 graded without a confidence left out; left out, no answers: c"
    table = items.categories()
    assert (table.hits, table.n) == ((1, 2), (1, 3))
    assert table.mean_confidence == pytest.approx((0.5, 0.8))
    assert table.error == pytest.approx((0.5, 0.8 - 2 / 3))
    assert table.note == items.note


# --- intervals -------------------------------------------------------------------------------------------


def test_intervals_surround_the_values_and_name_their_draws() -> None:
    items = battery()
    for grid in ("closed", "paper"):
        found = volume_estimates(items, grid=grid, seed=5)
        assert values(found) == pytest.approx(values(volumes(items.categories(), grid=grid)))
        assert found.keys() == NAMES
        for name, estimate in found.items():
            assert estimate.ci is not None, name
            assert estimate.ci[0] < estimate.ci[1]
            assert estimate.n == 180
            assert "2000 draws of items within categories, seed 5" in estimate.method
    assert volume_estimates(items, seed=1) == volume_estimates(items, seed=1)
    assert volume_estimates(items, seed=1) != volume_estimates(items, seed=2)


def test_items_are_drawn_within_their_category() -> None:
    # Drawn across categories, the share of all-right categories among the draws would vary.
    fixed = category_items(["a"] * 30 + ["b"] * 30, [1] * 30 + [0] * 30, [0.8] * 60)
    for estimate in volume_estimates(fixed).values():
        assert estimate.ci is None
        assert "every draw gives the same value" in estimate.note
    rng = np.random.default_rng(3)
    shares, sizes = (0.9, 0.5, 0.2), (40, 80, 20)
    right = np.concatenate([np.arange(n) < share * n for share, n in zip(shares, sizes, strict=True)])
    varied = category_items(np.repeat([0, 1, 2], sizes), right, rng.random(140))
    low, high = volume_estimates(varied, draws=8000)["pvc_vus"].ci or (0, 0)
    spread = math.sqrt(sum(s * (1 - s) / n for s, n in zip(shares, sizes, strict=True)))
    assert high - low == pytest.approx(2 * 1.96 * spread, rel=0.04)


def test_copies_of_a_row_add_no_evidence() -> None:
    rng = np.random.default_rng(0)
    category, right, p = np.repeat([0, 1], 30), rng.integers(0, 2, 60), rng.integers(0, 11, 60) / 10
    once = volume_estimates(category_items(category, right, p, [f"q{i:02}" for i in range(60)]))
    thrice = volume_estimates(
        category_items(*(np.repeat(c, 3) for c in (category, right, p)), [f"q{i // 3:02}" for i in range(180)])
    )
    for name, estimate in once.items():
        assert thrice[name].ci == pytest.approx(estimate.ci)
        assert thrice[name].n == 180


def test_the_mean_of_batteries_is_surer_than_one() -> None:
    one, two = battery(seed=1), battery(seed=2)
    found = volume_estimates(one, two)
    assert values(found) == pytest.approx(values(volumes(one.categories(), two.categories())))
    single = volume_estimates(one)["pvc_vus"].ci or (0, 0)
    both = found["pvc_vus"].ci or (0, 0)
    assert (both[1] - both[0]) / (single[1] - single[0]) == pytest.approx(math.sqrt(0.5), abs=0.12)
    assert "mean of 2 batteries" in found["pvc_vus"].note


def test_small_categories_and_moved_intervals_are_said() -> None:
    assert "smallest category has 2 items" in volume_estimates(battery(2, 21))["pvc_vus"].note
    assert "smallest" not in volume_estimates(battery(10))["pvc_vus"].note
    # Where every draw gives the same value there is no interval to be too narrow.
    fixed = volume_estimates(category_items(["a"] * 2 + ["b"] * 2, [1] * 4, [0.8] * 4))["pvc_vus"]
    assert fixed.ci is None and "narrow" not in fixed.note
    # No calibration error in any category, and some in every draw.
    exact = category_items(np.repeat(np.arange(10), 10), [1, 0] * 50, [0.5] * 100)
    assert "lies above the value" in volume_estimates(exact)["vus_gap"].note


# --- random categories and turned grades -----------------------------------------------------------------


def test_partition_test_agrees_with_all_partitions() -> None:
    right, p = np.array([1, 1, 0, 1, 0]), np.array([0.9, 0.6, 0.8, 0.3, 0.5])
    found = partition_test(category_items(["a", "a", "b", "b", "b"], right, p), partitions=6000)
    worst, variance = [], []
    for first in itertools.combinations(range(5), 2):
        groups = [list(first), [i for i in range(5) if i not in first]]
        worst.append(max(abs(p[g].mean() - right[g].mean()) for g in groups))
        variance.append(np.var([right[g].mean() for g in groups]))
    for test, every in ((found.worst_gap, worst), (found.between_variance, variance)):
        observed = every[0]
        assert test.observed == pytest.approx(observed)
        assert test.p == pytest.approx(np.mean(np.array(every) >= observed - 1e-9), abs=0.02)
        below, same = np.mean(np.array(every) < observed - 1e-9), np.mean(np.abs(np.array(every) - observed) < 1e-9)
        assert test.percentile == pytest.approx(100 * (below + same / 2), abs=2)
        assert min(every) <= (test.null_median or -1) <= max(every)
        assert test.partitions == 6000


def test_p_is_uniform_when_categories_are_random() -> None:
    rng = np.random.default_rng(7)
    tests = []
    for _ in range(400):
        p = rng.random(72)
        items = category_items(np.repeat([0, 1, 2], [12, 24, 36]), rng.random(72) < p, p)
        tests.append(partition_test(items, partitions=99, seed=int(rng.integers(2**31))))
    worst = np.array([test.worst_gap.p for test in tests])
    variance = np.array([test.between_variance.p for test in tests])
    halved = np.array([test.between_variance.percentile for test in tests]) / 100
    for level in (0.1, 0.25, 0.5, 0.75):
        margin = 3.5 * math.sqrt(level * (1 - level) / 400)
        assert np.mean(worst <= level) == pytest.approx(level, abs=margin)
        # Accuracies take few values, so partitions tie: the percentile counts half of them, p all of them.
        assert np.mean(halved <= level) == pytest.approx(level, abs=margin)
        assert np.mean(variance <= level) <= level + margin


def test_one_bad_category_is_found() -> None:
    good = battery(24, 5)
    rng = np.random.default_rng(1)
    p = np.concatenate([rng.choice([0.7, 0.8, 0.9], 120), np.full(24, 0.9)])
    right = np.concatenate([rng.random(120) < p[:120], rng.random(24) < 0.2])
    tests = partition_test(category_items(np.repeat(np.arange(6), 24), right, p))
    for test in (tests.worst_gap, tests.between_variance):
        assert test.p is not None and test.p < 0.005
        assert test.percentile is not None and test.percentile > 99.5
        assert (test.null_median or 1) < (test.observed or 0)
    assert (partition_test(good).worst_gap.p or 0) > 0.05


def test_partitions_keep_all_rows_of_an_item_together() -> None:
    # One category per item: whatever is drawn, the groups are the items.
    items = category_items([0, 0, 1, 1, 2], [1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.5], ["a", "a", "b", "b", "c"])
    for test in (partition_test(items).worst_gap, partition_test(items).between_variance):
        assert test.p == 1
        assert test.percentile == 50
        assert test.null_median == pytest.approx(test.observed)
        assert "same value" in test.note


def test_turning_no_grade_changes_nothing() -> None:
    items = battery()
    flipped = label_flips(items, percents=[0])[0]
    for name, value in values(volumes(items.categories())).items():
        assert flipped[name].values == (value,) * 5
        assert flipped[name].low == flipped[name].high == value


def test_grades_are_turned_by_share_of_items() -> None:
    all_right = category_items(["a"] * 50, [1] * 50, [1.0] * 50)
    flips = label_flips(all_right)
    assert list(flips) == [10, 20, 30]
    for percent, spreads in flips.items():
        assert spreads["pvc_vus"].values == pytest.approx((1 - percent / 100,) * 5)
        assert spreads["c_pvc_vus"].mean == pytest.approx((1 - percent / 100) ** 2)
        assert f"{percent // 2} of 50 items turned" in spreads["pvc_vus"].note
    # Both rows of an item turn: one right and one wrong stay one right and one wrong.
    halves = category_items([0, 0, 1, 1], [1, 0, 1, 0], [0.5] * 4, ["a", "a", "b", "b"])
    assert label_flips(halves, percents=[100])[100]["pvc_vus"].values == (1.0,) * 5
    assert label_flips(battery(), percents=[100])[100]["pvc_vus"].mean == pytest.approx(
        4 - values(volumes(battery().categories()))["pvc_vus"]
    )


def test_turned_grades_and_other_categories_vary_with_the_seed() -> None:
    items = battery()
    for spreads in (label_flips(items, [20])[20], alternative_categorisations(items, 4)):
        found = spreads["c_pvc_vus"]
        assert len(set(found.values)) > 1
        assert found.low == min(found.values)
        assert found.high == max(found.values)
        assert found.mean == pytest.approx(np.mean(found.values))
    assert label_flips(items, [20], seeds=[3]) == label_flips(items, [20], seeds=[3])
    assert label_flips(items, [20], seeds=[3]) != label_flips(items, [20], seeds=[4])


def test_other_categories_hold_the_same_items() -> None:
    items = category_items([0] * 3 + [1] * 9, [1] * 6 + [0] * 6, [0.5] * 12)
    # Of equal size, categories have the accuracy of the whole as their mean; one category is the whole.
    assert alternative_categorisations(items, 3)["pvc_vus_per_category"].values == pytest.approx((0.5,) * 5)
    assert alternative_categorisations(items, 1)["c_pvc_vus"].values == (0.5,) * 5
    single = alternative_categorisations(items, 12)
    assert single["pvc_vus"].values == (6.0,) * 5
    assert alternative_categorisations(items, 5)["pvc_vus"].mean is not None
    paper = alternative_categorisations(items, 1, grid="paper")
    assert paper["pvc_vus"].mean == pytest.approx(0.505)


# --- small and empty samples -----------------------------------------------------------------------------

NONE = math.nan
DEGENERATE = {
    "nothing": ([], [], []),
    "no confidence": (["a", "b"], [1, 0], [NONE, NONE]),
    "one right": (["a"], [1], [1.0]),
    "one wrong": (["a"], [0], [1.0]),
    "one category": (["a"] * 5, [1, 0, 1, 0, 1], [0.6] * 5),
    "one item each": (["a", "b", "c"], [1, 0, 1], [0.9, 0.5, 0.1]),
    "all right and sure": (["a", "b"] * 5, [1] * 10, [1.0] * 10),
    "all wrong and sure": (["a", "b"] * 5, [0] * 10, [1.0] * 10),
    "all wrong and unsure": (["a", "b"] * 5, [0] * 10, [0.0] * 10),
    "half missing": (["a", "b", "c"] * 2, [1, 0] * 3, [0.5, 0.4, NONE] * 2),
}


def all_values(node: object) -> list[float]:
    """Return every number in plain data."""
    if isinstance(node, dict):
        return [value for child in node.values() for value in all_values(child)]
    if isinstance(node, (list, tuple)):
        return [value for child in node for value in all_values(child)]
    return [float(node)] if isinstance(node, (int, float)) else []


@pytest.mark.parametrize("rows", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("grid", ["closed", "paper"])
def test_what_is_undefined_is_none_with_a_reason(rows: tuple[list[str], list[int], list[float]], grid: str) -> None:
    items = category_items(*rows)
    table = items.categories()
    flips, others = label_flips(items, grid=grid), alternative_categorisations(items, 2, grid=grid)
    tests = partition_test(items, partitions=50)
    estimates = [*volumes(table, grid=grid).values(), *volume_estimates(items, grid=grid, draws=50).values()]
    spreads = [spread for group in (*flips.values(), others) for spread in group.values()]
    for estimate in estimates:
        assert estimate.value is None or math.isfinite(estimate.value)
        assert estimate.ci is not None or estimate.note
        assert (estimate.value is None) == (not table.names)
    for spread in spreads:
        assert (spread.mean is None) == (not spread.values)
        assert spread.mean is not None or "no data" in spread.note or "not defined" in spread.note
    for test in (tests.worst_gap, tests.between_variance):
        assert (test.p is None) == (len(table.names) < 2)
        assert test.p is not None or test.note
    shown = msgspec.to_builtins([estimates, spreads, tests, surface(table).tolist()])
    assert all(math.isfinite(value) for value in all_values(shown))


def test_no_battery_no_partitions_no_draws_no_seeds() -> None:
    assert {e.value for e in volumes().values()} == {None}
    assert volumes().keys() == volume_estimates().keys() == NAMES
    empty = category_items([], [], [])
    found = volume_estimates(battery(), empty)
    assert values(found)["pvc_vus"] == values(volumes(battery().categories()))["pvc_vus"]
    assert found["pvc_vus"].note == "batteries without answers left out: 1"
    assert "no draws" in volume_estimates(battery(), draws=0)["pvc_vus"].note
    unpartitioned = partition_test(battery(), partitions=0).worst_gap
    assert unpartitioned == PartitionTest(
        observed=unpartitioned.observed,
        percentile=None,
        p=None,
        null_median=None,
        partitions=0,
        note="no test: no partitions",
    )
    unseeded = label_flips(battery(), [10], seeds=[])[10]["pvc_vus"]
    assert unseeded == Spread(
        values=(), mean=None, low=None, high=None, note="no data: no seeds; 18 of 180 items turned"
    )


def test_surface_without_categories_is_flat() -> None:
    assert not surface(categories([], [], error=[])).any()


# --- acting on a confidence, and the order of answers ----------------------------------------------------

STATED = [1.0, 0.95, 0.9, 0.8, 0.8, 0.79, 0.5, 0.3, 0.2, 0.0]
RIGHT = [1, 1, 0, 1, 0, 1, 0, 1, 0, 0]


def sample(repeats: int = 1) -> Sample:
    outcome = ["correct" if right else "incorrect" for right in RIGHT] * repeats
    ids = [f"q{i % 10}" for i in range(10 * repeats)]
    rows = tally_rows(outcome, STATED * repeats)
    return Sample(rows, tally_rows(outcome, STATED * repeats, item=ids) if repeats > 1 else None, draws=500)


@pytest.mark.parametrize("repeats", [1, 3])
def test_acting_at_a_threshold(repeats: int) -> None:
    found = {acted.threshold: acted for acted in act_or_defer(sample(repeats))}
    assert list(found) == [0.8, 0.9, 0.95]
    expected = {0.8: (3, 2), 0.9: (2, 1), 0.95: (2, 0)}
    for threshold, (right, wrong) in expected.items():
        acted = found[threshold]
        point = operating_point(sample(repeats).point.answered, threshold)
        assert acted.coverage.value == pytest.approx((right + wrong) / 10) == pytest.approx(point.coverage)
        assert acted.error.value == pytest.approx(wrong / (right + wrong))
        assert acted.error.n == (right + wrong) * repeats
        assert acted.coverage.ci is not None and acted.error.ci is not None
        assert [u.penalty for u in acted.utility] == [0.5, 1, 2, 5]
        for u in acted.utility:
            assert u.utility.value == pytest.approx((right - u.penalty * wrong) / 10)
            assert u.utility.ci is not None
            assert "bootstrap, 500 draws" in u.utility.method
    assert found[0.8].coverage.method.startswith("Wilson" if repeats == 1 else "percentile")


def test_acting_on_nothing() -> None:
    unsure = Sample(tally_rows(["correct", "incorrect"], [0.2, 0.4]), draws=50)
    silent = Sample(tally_rows(["abstained", "refused"], [NONE, NONE]), draws=50)
    for acted in act_or_defer(unsure):
        assert acted.coverage.value == 0
        assert acted.error.value is None
        assert f"no answer states {100 * acted.threshold:g} or more" in acted.error.note
        assert {u.utility.value for u in acted.utility} == {0}
    for acted in act_or_defer(silent):
        for estimate in (acted.coverage, acted.error, *(u.utility for u in acted.utility)):
            assert estimate.value is None
            assert "no data" in estimate.note


@pytest.mark.parametrize("bad", [{"thresholds": [80]}, {"penalties": [-1]}, {"penalties": [NONE]}])
def test_acting_refuses_nonsense(bad: dict[str, list[float]]) -> None:
    with pytest.raises(ValueError, match="between|or more"):
        act_or_defer(sample(), **bad)


def test_order_effect_from_counts() -> None:
    # Intervals as printed in Wilson's and Newcombe's literature: 81 of 263; 56 of 70 against 48 of 80.
    found = order_effect(picked_first=81, picks=263, hits=(56, 48), n=(70, 80))
    assert found.first_shown.value == pytest.approx(81 / 263)
    assert found.first_shown.ci == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert [a.value for a in found.accuracy] == [0.8, 0.6]
    assert all(a.ci is not None and a.method == "Wilson" for a in found.accuracy)
    assert found.difference.value == pytest.approx(0.2)
    assert found.difference.ci == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert (found.first_shown.n, found.difference.n) == (263, 150)


def test_order_effect_without_selections() -> None:
    found = order_effect(picked_first=0, picks=0, hits=(0, 2), n=(0, 3))
    assert found.first_shown.value is None and "no data" in found.first_shown.note
    assert found.accuracy[0].value is None and "no data" in found.accuracy[0].note
    assert found.accuracy[1].value == pytest.approx(2 / 3)
    assert found.difference.value is None and "both orders" in found.difference.note


@pytest.mark.parametrize(
    ("picked", "picks", "hits", "n"),
    [(3, 2, (1, 1), (1, 1)), (1, 2, (2, 1), (1, 1)), (1, 2, (1, -1), (1, 1)), (-1, 2, (1, 1), (1, 1))],
)
def test_order_effect_refuses_nonsense(picked: int, picks: int, hits: tuple[int, int], n: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no part exceeds"):
        order_effect(picked_first=picked, picks=picks, hits=hits, n=n)
