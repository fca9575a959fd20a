"""Combinatorics, probability and statistics: every answer by a second method."""

from __future__ import annotations

import statistics
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations, product
from math import comb, factorial, gcd, lcm, prod
from typing import Any

from seeded import confirm

SLOT = 96
"""Bits per coefficient where a polynomial is held as one large number."""


def pascal(total: int, chosen: int) -> int:
    row = [1]
    for _ in range(total):
        row = [1, *(a + b for a, b in pairwise(row)), 1]
    return row[chosen]


def surjections(things: int, boxes: int) -> int:
    """Return the number of functions onto a set, from Stirling's partition numbers."""
    row = [1] + [0] * boxes
    for _ in range(things):
        row = [0, *(k * row[k] + row[k - 1] for k in range(1, boxes + 1))]
    return row[boxes] * factorial(boxes)


def count_words(letters: str, clause: str) -> int:
    """Count the arrangements letter by letter, with or without equal As side by side."""
    names = sorted(set(letters))

    @cache
    def ways(left: tuple[int, ...], after_a: bool) -> int:
        if not any(left):
            return 1
        total = 0
        for k, count in enumerate(left):
            if count and not (after_a and names[k] == "A" and clause):
                total += ways((*left[:k], count - 1, *left[k + 1 :]), names[k] == "A")
        return total

    return ways(tuple(letters.count(name) for name in names), False)


def paths_around(end: list[int], blocked: list[list[int]]) -> int:
    """Count free paths, less those that meet a blocked point first at each of the points."""
    points = [*sorted(map(tuple, blocked)), tuple(end)]
    free: list[int] = []
    for k, (x, y) in enumerate(points):
        met = sum(free[i] * comb(x - a + y - b, x - a) for i, (a, b) in enumerate(points[:k]) if a <= x and b <= y)
        free.append(comb(x + y, x) - met)
    return free[-1]


def untouched(limit: int, divisors: list[int]) -> int:
    """Count the numbers up to a limit that none of the divisors divides, by Legendre's recursion."""
    if not divisors or limit == 0:
        return limit
    first, *rest = divisors
    return untouched(limit, rest) - untouched(limit // first, [d // gcd(d, first) for d in rest])


def within_limits(balls: int, limits: list[int], count: int) -> int:
    total = 0
    for size in range(count + 1):
        for chosen in combinations(limits, size):
            left = balls - sum(chosen) - size
            total += (-1) ** size * comb(left + count - 1, count - 1) if left >= 0 else 0
    return total


def payments(values: list[int], amount: int) -> int:
    """Multiply the series of all coins, held as large numbers: 1/(1-x) = (1+x)(1+x^2)(1+x^4)..."""
    mask = (1 << SLOT * (amount + 1)) - 1
    series = 1
    for value in values:
        step = value
        while step <= amount:
            series = (series + (series << SLOT * step)) & mask
            step *= 2
    return series >> SLOT * amount


def walk_count(rows: list[list[int]], steps: int) -> int:
    """Return the number of walks with this many steps, by squaring the matrix of steps."""
    size = len(rows)

    def times(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
        return [[sum(a[i][k] * b[k][j] for k in range(size)) for j in range(size)] for i in range(size)]

    result = [[int(i == j) for j in range(size)] for i in range(size)]
    while steps:
        if steps & 1:
            result = times(result, rows)
        rows, steps = times(rows, rows), steps >> 1
    return sum(map(sum, result))


def rencontres(count: int, fixed: int) -> int:
    loose = 1
    for n in range(1, count - fixed + 1):
        loose = n * loose + (-1) ** n
    return pascal(count, fixed) * loose


def test_combinatorics() -> None:
    confirm(
        "combinatorics",
        {
            "outfits": lambda a, b, c: sum(1 for _ in product(range(a), range(b), range(c))),
            "line-up": lambda count: prod(range(2, count + 1)),
            "pairs": lambda count: sum(range(count)),
            "medals": lambda runners, ranks: len(list(permutations(range(runners), len(ranks.split()) // 2 + 1))),
            "selections": pascal,
            "digit-numbers": lambda length, digits: sum(row[0] > 0 for row in permutations(digits, length)),
            "apart": lambda count, names: (count - 1) * (count - 2) * factorial(count - len(names)),
            "rearrangements": count_words,
            "committees": lambda women, men, size, least: (
                pascal(women + men, size) - sum(pascal(women, k) * pascal(men, size - k) for k in range(least))
            ),
            "grid-paths": paths_around,
            "multiples": lambda limit, divisors: limit - untouched(limit, divisors),
            "filled-boxes": within_limits,
            "coins": payments,
            "nobody-empty": lambda gifts, children: Fraction(surjections(gifts, children)),
            "forbidden-pairs": lambda letters, length, banned: walk_count(
                [[int(a + b not in banned) for b in letters] for a in letters], length - 1
            ),
            "fixed-points": rencontres,
        },
    )


def of_two_events(a: list[int], b: list[int], both: bool) -> Fraction:
    cases = [x < a[0] and y < b[0] if both else x < a[0] or y < b[0] for x in range(a[1]) for y in range(b[1])]
    return Fraction(sum(cases), len(cases))


def sum_of_dice(dice: int, sides: int, target: int) -> Fraction:
    """Read the chance off a power of the die's polynomial, held as one large number."""
    die = sum(1 << SLOT * face for face in range(1, sides + 1))
    return Fraction((die**dice >> SLOT * target) % (1 << SLOT), sides**dice)


def one_after_the_other(red: int, blue: int, what: str) -> Fraction:
    total = red + blue
    if what == "both red":
        return Fraction(red, total) * Fraction(red - 1, total - 1)
    return Fraction(red, total) * Fraction(blue, total - 1) + Fraction(blue, total) * Fraction(red, total - 1)


def toss_by_toss(tosses: int, wanted: int, chance: list[int]) -> Fraction:
    p = Fraction(*chance) if chance else Fraction(1, 2)
    row = [Fraction(1)]
    for _ in range(tosses):
        row = [a * (1 - p) + b * p for a, b in zip([*row, Fraction()], [Fraction(), *row], strict=True)]
    return row[wanted]


def from_a(shares: list[int], faults: list[int]) -> Fraction:
    parts = Counter({name: share * fault for name, (share, fault) in enumerate(zip(shares, faults, strict=True))})
    return Fraction(parts[0], parts.total())


def draw_by_draw(total: int, special: int, drawn: int, wanted: int, exactly: str) -> Fraction:
    row = {0: Fraction(1)}
    for done in range(drawn):
        after: dict[int, Fraction] = {}
        for found, chance in row.items():
            hit = Fraction(special - found, total - done)
            after[found + 1] = after.get(found + 1, Fraction()) + chance * hit
            after[found] = after.get(found, Fraction()) + chance * (1 - hit)
        row = after
    good = [wanted] if exactly == "exactly" else range(wanted, drawn + 1)
    return sum((row.get(k, Fraction()) for k in good), Fraction())


def all_games(wins: int, chance: list[int]) -> Fraction:
    """Return the chance to win most of 2 wins - 1 games, all of them being played."""
    top, bottom = chance
    games = 2 * wins - 1
    good = sum(comb(games, k) * top**k * (bottom - top) ** (games - k) for k in range(wins, games + 1))
    return Fraction(good, bottom**games)


def mean_distinct(sides: int, rolls: int) -> Fraction:
    hits = sum(k * comb(sides, k) * surjections(rolls, k) for k in range(1, sides + 1))
    return Fraction(hits, sides**rolls)


def no_long_run(tosses: int, run: int) -> Fraction:
    """Count the 2-letter words by the lengths of their runs: walks in the graph of present run lengths."""
    rows = [[int(j in {0, i + 1}) for j in range(run)] for i in range(run)]
    first = walk_count(rows, tosses) - sum(walk_count_from(rows, tosses, i) for i in range(1, run))
    return Fraction(first, 2**tosses)


def walk_count_from(rows: list[list[int]], steps: int, start: int) -> int:
    row = [int(i == start) for i in range(len(rows))]
    for _ in range(steps):
        row = [sum(row[i] * rows[i][j] for i in range(len(rows))) for j in range(len(rows))]
    return sum(row)


def ruin_by_sums(start: int, goal: int, chance: list[int]) -> Fraction:
    top, bottom = chance
    weights = [(bottom - top) ** k * top ** (goal - 1 - k) for k in range(goal)]
    return Fraction(sum(weights[:start]), sum(weights))


def by_residue_classes(total: int, drawn: int, divisor: int) -> Fraction:
    ways = {(0, 0): 1}
    for residue in range(divisor):
        members = len(range(residue or divisor, total + 1, divisor))
        after: Counter[tuple[int, int]] = Counter()
        for (size, rest), count in ways.items():
            for k in range(min(members, drawn - size) + 1):
                after[size + k, (rest + k * residue) % divisor] += count * comb(members, k)
        ways = dict(after)
    return Fraction(ways[drawn, 0], comb(total, drawn))


def test_probability() -> None:
    confirm(
        "probability",
        {
            "urn": lambda red, blue: Fraction(red, len([*range(red), *range(blue)])),
            "high-roll": lambda sides, bound: 1 - Fraction(len(range(1, bound + 1)), sides),
            "independent-events": of_two_events,
            "numbered-card": lambda total, divisors: Fraction(
                sum(total // d for d in divisors) - (total // lcm(*divisors) if len(divisors) > 1 else 0), total
            ),
            "dice-sum": sum_of_dice,
            "two-draws": one_after_the_other,
            "heads": toss_by_toss,
            "faulty-part": from_a,
            "expected-maximum": lambda dice, sides: sum(
                (k * Fraction(k**dice - (k - 1) ** dice, sides**dice) for k in range(1, sides + 1)), Fraction()
            ),
            "sample-count": draw_by_draw,
            "first-to-win": all_games,
            "distinct-values": mean_distinct,
            "no-run": no_long_run,
            "ruin": ruin_by_sums,
            "divisible-sum": by_residue_classes,
            "complete-set": lambda sides, rolls: Fraction(surjections(rolls, sides), sides**rolls),
        },
    )


def exact(values: Any) -> list[Fraction]:
    return [Fraction(value) for value in values]


def pairwise_products(xs: list[int], ys: list[int]) -> int:
    return sum((a - c) * (b - d) for (a, b), (c, d) in combinations(zip(xs, ys, strict=True), 2))


def squared_deviations(values: Any) -> Fraction:
    centre = statistics.mean(exact(values))
    return sum(((value - centre) ** 2 for value in values), Fraction())


def mean_distance(values: list[int]) -> Fraction:
    centre = statistics.mean(exact(values))
    above = [value for value in values if value > centre]
    return 2 * (sum(above) - centre * len(above)) / len(values)


def rank_sum(first: list[int], second: list[int]) -> int:
    order = sorted(first + second)
    return sum(order.index(value) + 1 for value in first) - len(first) * (len(first) + 1) // 2


def correlation_of_ranks(xs: list[int], ys: list[int]) -> Fraction:
    ranks = [[sum(other <= value for other in values) for value in values] for values in (xs, ys)]
    return Fraction(pairwise_products(*ranks), pairwise_products(ranks[0], ranks[0]))


def by_inversions(xs: list[int], ys: list[int]) -> Fraction:
    row = [y for _, y in sorted(zip(xs, ys, strict=True))]
    inversions = sum(a > b for a, b in combinations(row, 2))
    return 1 - Fraction(2 * inversions, comb(len(row), 2))


def cell_by_cell(table: list[list[int]]) -> Fraction:
    total = sum(map(sum, table))
    columns = list(zip(*table, strict=True))
    value = Fraction()
    for row in table:
        for observed, column in zip(row, columns, strict=True):
            expected = Fraction(sum(row) * sum(column), total)
            value += (observed - expected) ** 2 / expected
    return value


def f_statistic(groups: list[list[int]]) -> Fraction:
    everything = [value for group in groups for value in group]
    within = sum(map(squared_deviations, groups), Fraction())
    between = squared_deviations(everything) - within
    return between / (len(groups) - 1) / (within / (len(everything) - len(groups)))


def without_influence(rows: list[list[int]]) -> Fraction:
    """Return the slope of y on that part of x which z does not explain (Frisch, Waugh and Lovell)."""
    xs, zs, ys = map(list, zip(*rows, strict=True))
    share = Fraction(pairwise_products(xs, zs), pairwise_products(zs, zs))
    rest = [x - share * z for x, z in zip(xs, zs, strict=True)]
    return Fraction(pairwise_products(rest, ys), pairwise_products(rest, rest))


def spread_out(values: list[int], counts: list[int]) -> list[Fraction]:
    return exact(value for value, count in zip(values, counts, strict=True) for _ in range(count))


def test_statistics() -> None:
    confirm(
        "statistics",
        {
            "mean": lambda values: statistics.mean(exact(values)),
            "median": lambda values: statistics.median(exact(values)),
            "spread": lambda values: max(abs(a - b) for a, b in combinations(values, 2)),
            "mode": lambda values: Counter(values).most_common(1)[0][1],
            "missing-value": lambda average, known, count: next(
                x for x in range(1000) if sum(known) + x == average * count
            ),
            "combined-mean": lambda sizes, means: statistics.mean(spread_out(means, sizes)),
            "frequency-table": lambda values, counts: statistics.mean(spread_out(values, counts)),
            "population-variance": lambda values: statistics.pvariance(exact(values)),
            "mean-deviation": mean_distance,
            "sample-variance": lambda values: statistics.variance(exact(values)),
            "pooled-variance": lambda first, second: (
                (squared_deviations(first) + squared_deviations(second)) / (len(first) + len(second) - 2)
            ),
            "larger-pairs": rank_sum,
            "covariance": lambda xs, ys: Fraction(pairwise_products(xs, ys), len(xs) * (len(xs) - 1)),
            "slope": lambda xs, ys: Fraction(pairwise_products(xs, ys), pairwise_products(xs, xs)),
            "explained-share": lambda xs, ys: Fraction(
                pairwise_products(xs, ys) ** 2, pairwise_products(xs, xs) * pairwise_products(ys, ys)
            ),
            "rank-correlation": correlation_of_ranks,
            "concordance": by_inversions,
            "chi-square": cell_by_cell,
            "group-comparison": f_statistic,
            "partial-slope": without_influence,
        },
    )
