"""Draws are stratified exactly, for every seed, and the same everywhere."""

import functools
import itertools
from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from selfdiag.battery.draw import DRAWS, SeededOrder, draw, wording
from selfdiag.battery.items import BINS, DIFFICULTIES, FAMILIES, Battery, Difficulty, Probe, Trap
from selfdiag.battery.load import shipped

SEEDS = range(500)
PER_BIN: tuple[Difficulty, ...] = ("easy",) * 5 + ("medium",) * 5 + ("hard",) * 4


def probe(name: str, number: int, difficulty: Difficulty) -> Probe:
    return Probe(
        id=f"{name}-{number:02}",
        bin=name,
        difficulty=difficulty,
        kind="text",
        answer="x",
        questions=("One?", "Two?", "Three?"),
        source="made up",
    )


def trap(name: str, number: int, family: str) -> Trap:
    return Trap(id=f"{name}-t{number}", bin=name, family=family, questions=("One?", "Two?", "Three?"), note="made up")


WHOLE = Battery(
    id="whole",
    version="1",
    probes=tuple(probe(name, number, level) for name in BINS for number, level in enumerate(PER_BIN, 1)),
    traps=tuple(
        trap(name, number, FAMILIES[(2 * index + number) % len(FAMILIES)])
        for index, name in enumerate(BINS)
        for number in (1, 2)
    ),
)
SMALL = Battery(
    id="small",
    version="1",
    probes=(
        *(probe("zoology", number, "easy") for number in range(5)),
        probe("botany", 1, "hard"),
        probe("algebra", 1, "medium"),
        probe("algebra", 2, "medium"),
    ),
    traps=(trap("botany", 1, "unknowable"), trap("mining", 1, "unknowable")),
)


def ids(battery: Battery) -> list[str]:
    return [item.id for item in battery.items()]


@functools.cache
def drawn_often(size: str) -> list[Battery]:
    return [draw(WHOLE, size, seed=seed) for seed in SEEDS]


def check_quick(battery: Battery) -> None:
    assert Counter(one.difficulty for one in battery.probes) == {"easy": 15, "medium": 15, "hard": 12}
    levels: dict[str, list[str]] = {}
    for one in battery.probes:
        levels.setdefault(one.bin, []).append(one.difficulty)
    assert sorted(levels) == sorted(BINS)
    assert all(len(pair) == len(set(pair)) == 2 for pair in levels.values())


def check_traps(battery: Battery) -> None:
    assert sorted(one.bin for one in battery.traps) == sorted(BINS)
    families = Counter(one.family for one in battery.traps)
    assert set(families) == set(FAMILIES)
    assert min(families.values()) >= 4


def test_quick_over_many_seeds() -> None:
    for drawn in drawn_often("quick"):
        check_quick(drawn)
        check_traps(drawn)


def test_standard_over_many_seeds() -> None:
    expected = {(name, level): 2 for name in BINS for level in DIFFICULTIES}
    for drawn in drawn_often("standard"):
        assert Counter((one.bin, one.difficulty) for one in drawn.probes) == expected
        check_traps(drawn)


def test_quick_of_the_shipped_battery_over_many_seeds() -> None:
    battery = shipped()
    for seed in SEEDS:
        drawn = draw(battery, "quick", seed=seed)
        check_quick(drawn)
        check_traps(drawn)


def test_standard_of_the_shipped_battery_over_many_seeds() -> None:
    battery = shipped()
    there = Counter(one.bin for one in battery.probes)
    for seed in SEEDS:
        drawn = draw(battery, "standard", seed=seed)
        assert Counter(one.bin for one in drawn.probes) == {name: min(6, there[name]) for name in BINS}
        check_traps(drawn)


def test_full_is_everything_in_the_order_of_bins() -> None:
    for seed in (0, 1):
        drawn = draw(WHOLE, "full", seed=seed)
        assert (len(drawn.probes), len(drawn.traps)) == (294, 42)
        assert drawn.sha256() == WHOLE.sha256()
    assert DRAWS == ("quick", "standard", "full")
    assert draw(WHOLE) == draw(WHOLE, "full")


@pytest.mark.parametrize("size", ["quick", "standard"])
def test_a_seed_fixes_the_draw_and_another_changes_it(size: str) -> None:
    turned = Battery(id="whole", version="1", probes=WHOLE.probes[::-1], traps=WHOLE.traps[::-1])
    drawn = [draw(WHOLE, size, seed=seed) for seed in range(20)]
    for seed, one in enumerate(drawn):
        assert draw(WHOLE, size, seed=seed) == one
        assert draw(turned, size, seed=seed) == one
        assert (one.id, one.version) == ("whole", "1")
        assert len(set(ids(one))) == len(ids(one))
    assert len({one.sha256() for one in drawn}) == 20


def test_every_item_has_its_turn() -> None:
    seen = Counter(name for drawn in drawn_often("quick") for name in ids(drawn))
    assert len(seen) == 294 + 42
    # on average 500 * 42 / 294 = 71 times each; far fewer would mean that the order favours some
    assert min(seen[one.id] for one in WHOLE.probes) > 30


def test_families_are_asked_evenly_however_they_are_spread() -> None:
    pairs = [pair for pair in itertools.permutations(FAMILIES, 2) if "unknowable" in pair]
    others = [("false_premise", "contradiction"), ("no_such_entity", "missing_information")]
    spread = [*pairs, *others * 6, pairs[0]]
    traps = [trap(name, n, spread[i][n]) for i, name in enumerate(BINS) for n in (0, 1)]
    battery = msgspec.structs.replace(WHOLE, traps=tuple(traps))
    for seed in range(50):
        check_traps(draw(battery, "quick", seed=seed))


def test_quick_is_pinned() -> None:
    # a changed draw would make old runs incomparable with new ones
    assert ids(draw(WHOLE, "quick", seed=7)) == PINNED.split()


def test_wordings_are_pinned() -> None:
    assert [wording(one, 7) for one in WHOLE.probes[:12]] == WORDINGS


def test_wordings_are_used_evenly() -> None:
    used = Counter(wording(one, seed) for seed in range(10) for one in WHOLE.items())
    assert set(used) == {0, 1, 2}
    assert min(used.values()) > 0.28 * used.total()


def test_bins_narrow_the_draw() -> None:
    drawn = draw(WHOLE, "quick", seed=3, bins=["history", "algebra"])
    assert [one.bin for one in drawn.probes] == ["algebra", "algebra", "history", "history"]
    assert [one.bin for one in drawn.traps] == ["algebra", "history"]
    assert draw(WHOLE, "full", bins=["nowhere"]).items() == ()


def test_items_are_taken_by_id_whatever_the_size() -> None:
    wanted = ["history-02", "algebra-t2", "algebra-14", "nobody"]
    for size in DRAWS:
        drawn = draw(WHOLE, size, items=wanted, bins=["logic"])
        assert ids(drawn) == ["algebra-14", "history-02", "algebra-t2"]


def test_traps_can_be_left_out() -> None:
    drawn = draw(WHOLE, "quick", seed=1, traps=False)
    assert drawn.traps == ()
    assert drawn.probes == draw(WHOLE, "quick", seed=1).probes


@pytest.mark.parametrize("limit", [0, 1, 5, 20, 21, 22, 30, 42, 43, 10_000])
def test_a_limit_is_spread_over_the_bins(limit: int) -> None:
    for seed in range(20):
        whole = draw(WHOLE, "quick", seed=seed)
        drawn = draw(WHOLE, "quick", seed=seed, limit=limit)
        assert (len(drawn.probes), len(drawn.traps)) == (min(limit, 42), min(limit, 21))
        per_bin = Counter(one.bin for one in drawn.probes)
        counts = [per_bin[name] for name in BINS]
        assert max(counts) - min(counts) <= 1
        assert [one for one in whole.probes if one in drawn.probes] == list(drawn.probes)


def test_a_limit_holds_for_items_too() -> None:
    drawn = draw(WHOLE, items=["history-02", "history-03", "algebra-14", "algebra-t1", "algebra-t2"], limit=1)
    assert (len(drawn.probes), len(drawn.traps)) == (1, 1)


def test_a_small_battery_gives_what_it_has() -> None:
    for seed in range(50):
        quick = draw(SMALL, "quick", seed=seed)
        assert Counter(one.bin for one in quick.probes) == {"zoology": 2, "botany": 1, "algebra": 2}
        assert len(quick.traps) == 2
        standard = draw(SMALL, "standard", seed=seed)
        assert sorted(ids(standard)) == sorted(ids(SMALL))
    assert len({tuple(ids(draw(SMALL, "quick", seed=seed))) for seed in range(50)}) > 1


@pytest.mark.parametrize("size", DRAWS)
def test_a_battery_of_nothing(size: str) -> None:
    assert draw(Battery(id="none", version="0", probes=()), size, limit=3).items() == ()


def test_orders_depend_on_seed_and_labels_alone() -> None:
    order = SeededOrder("a", 1)
    letters = list("abcdefgh")
    assert order.shuffled(letters, "x") == order.shuffled(letters[::-1], "x")
    assert sorted(order.shuffled(letters, "x")) == letters
    different: list[Callable[[], list[str]]] = [
        lambda: order.shuffled(letters, "x"),
        lambda: order.shuffled(letters, "y"),
        lambda: SeededOrder("a", 2).shuffled(letters, "x"),
        lambda: SeededOrder("b", 1).shuffled(letters, "x"),
    ]
    assert len({tuple(one()) for one in different}) == 4
    assert {order.pick(3, "label", number) for number in range(50)} == {0, 1, 2}


PINNED = """
arithmetic-04 arithmetic-06 algebra-04 algebra-08 geometry-05 geometry-12 calculus-01 calculus-12
number_theory-04 number_theory-12 combinatorics-02 combinatorics-12 probability-03 probability-11
statistics-04 statistics-08 linear_algebra-09 linear_algebra-14 sequences-01 sequences-09 logic-05
logic-10 code_reading-08 code_reading-13 physics-04 physics-09 chemistry-07 chemistry-13 biology-09
biology-14 earth_space-03 earth_space-06 history-05 history-07 geography-06 geography-14
literature_arts-04 literature_arts-12 language-02 language-09 computing-08 computing-13
arithmetic-t1 algebra-t2 geometry-t1 calculus-t1 number_theory-t1 combinatorics-t1 probability-t1
statistics-t1 linear_algebra-t2 sequences-t2 logic-t2 code_reading-t1 physics-t2 chemistry-t2
biology-t2 earth_space-t1 history-t2 geography-t2 literature_arts-t1 language-t1 computing-t2
"""
WORDINGS = [0, 2, 1, 2, 1, 2, 2, 2, 1, 2, 1, 1]
