"""Statistics of relations: regression, correlation, rank measures, tables and groups, exactly."""

from __future__ import annotations

from fractions import Fraction

from selfdiag.battery.generators.exact import solved
from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import commas, listed, tuples

TEMPLATES = Templates("statistics")

_FORM = "a fraction in lowest terms"


def _products(xs: list[int], ys: list[int]) -> int:
    """Return n times the sum of the products of the deviations from the means."""
    return len(xs) * sum(x * y for x, y in zip(xs, ys, strict=True)) - sum(xs) * sum(ys)


def _deviations(xs: list[int], ys: list[int]) -> str:
    return (
        f"xs = {xs}\nys = {ys}\nn = len(xs)\nmx, my = Fraction(sum(xs), n), Fraction(sum(ys), n)\n"
        "sxy = sum([(x - mx) * (y - my) for x, y in zip(xs, ys)])\n"
        "sxx = sum([(x - mx) ** 2 for x in xs])\nsyy = sum([(y - my) ** 2 for y in ys])\n"
    )


def _sample(source: Source, count: int, high: int) -> tuple[list[int], list[int]]:
    return sorted(source.sample(range(1, high + 1), count)), source.sample(range(1, high + 1), count)


@TEMPLATES.at(3, 4)
def larger_pairs(source: Source, level: int) -> Made:
    """Count the pairs in which the first sample is larger (the Mann-Whitney statistic)."""
    size, high = {3: (4, 40), 4: (7, 99)}[level]
    values = source.sample(range(1, high + 1), 2 * size)
    first, second = values[:size], values[size:]
    return Made(
        answer=str(sum(x > y for x in first for y in second)),
        questions=(
            f"Sample X is {commas(first)}, sample Y is {commas(second)}. In how many of the pairs of one X "
            "value and one Y value is the X value larger? Answer as a number.",
            "As a number, give the Mann-Whitney statistic U that counts for the groups A = "
            f"({commas(first)}) and B = ({commas(second)}) how often a value of A exceeds a value of B.",
            f"Compare every number of the list {commas(first[::-1])} with every number of the list "
            f"{commas(second[::-1])}. Give the number of comparisons in which the one from the former list "
            "is greater.",
        ),
        derivation=f"len([1 for x, y in product({first}, {second}) if x > y])",
        given={"first": first, "second": second},
    )


@TEMPLATES.at(4)
def covariance(source: Source, level: int) -> Made | None:  # noqa: ARG001
    """Find a sample covariance."""
    xs, ys = _sample(source, 5, 20)
    value = Fraction(_products(xs, ys), 20)
    if value.denominator == 1:
        return None
    return Made(
        answer=str(value),
        questions=(
            f"What is the sample covariance, with divisor n - 1, of x and y for the points (x, y) = "
            f"{tuples(zip(xs, ys, strict=True))}? Answer as {_FORM}.",
            f"The values x = {commas(xs)} were observed with y = {commas(ys)}, in this order. As {_FORM}, "
            "give the unbiased estimate of the covariance of x and y.",
            f"For the pairs {tuples(zip(xs, ys, strict=True))}, multiply the deviations of both members "
            "from their means, add up the products and divide by one less than the number of pairs. Give "
            f"{_FORM}.",
        ),
        derivation=f"{_deviations(xs, ys)}answer = sxy / (n - 1)",
        given={"xs": xs, "ys": ys},
    )


@TEMPLATES.at(4, 5, 6)
def slope(source: Source, level: int) -> Made | None:
    """Find the slope of a regression line."""
    xs, ys = _sample(source, *{4: (4, 15), 5: (7, 60), 6: (12, 400)}[level])
    value = Fraction(_products(xs, ys), _products(xs, xs))
    if value.denominator == 1:
        return None
    points = tuples(zip(xs, ys, strict=True))
    return Made(
        answer=str(value),
        questions=(
            "A straight line is fitted by ordinary least squares, predicting y from x, to the points "
            f"{points}. What is its slope? Answer as {_FORM}.",
            f"As {_FORM}, give the slope of the least-squares regression line of y on x (with intercept) "
            f"through the data points (x, y) = {points}.",
            f"The values x = {commas(xs)} were observed with y = {commas(ys)}, in this order. Regress y on "
            f"x with an intercept by ordinary least squares and give the slope as {_FORM}.",
        ),
        derivation=f"{_deviations(xs, ys)}answer = sxy / sxx",
        given={"xs": xs, "ys": ys},
    )


@TEMPLATES.at(5, 6)
def explained_share(source: Source, level: int) -> Made | None:
    """Find the square of a correlation coefficient."""
    xs, ys = _sample(source, *{5: (6, 25), 6: (11, 90)}[level])
    value = Fraction(_products(xs, ys) ** 2, _products(xs, xs) * _products(ys, ys))
    if value.numerator == 0 or value.denominator == 1:
        return None
    points = tuples(zip(xs, ys, strict=True))
    return Made(
        answer=str(value),
        questions=(
            "What is the square of Pearson's correlation coefficient of x and y for the points (x, y) = "
            f"{points}? Answer as {_FORM}.",
            f"As {_FORM}, find the coefficient of determination of the simple linear regression (with "
            f"intercept) of y on x for the data {points}.",
            f"The values x = {commas(xs)} belong to y = {commas(ys)}, in this order. Give r * r as {_FORM}, "
            "where r is the linear correlation of x and y.",
        ),
        derivation=f"{_deviations(xs, ys)}answer = sxy * sxy / (sxx * syy)",
        given={"xs": xs, "ys": ys},
    )


@TEMPLATES.at(4, 5)
def rank_correlation(source: Source, level: int) -> Made | None:
    """Find Spearman's rank correlation."""
    count, high = {4: (6, 30), 5: (10, 99)}[level]
    xs, ys = source.sample(range(1, high + 1), count), source.sample(range(1, high + 1), count)
    ranks = [[sorted(values).index(value) for value in values] for values in (xs, ys)]
    squares = sum((a - b) ** 2 for a, b in zip(*ranks, strict=True))
    value = 1 - Fraction(6 * squares, count * (count**2 - 1))
    if value.denominator == 1:
        return None
    points = tuples(zip(xs, ys, strict=True))
    return Made(
        answer=str(value),
        questions=(
            f"What is Spearman's rank correlation of x and y for the points (x, y) = {points}? Answer as {_FORM}.",
            f"As {_FORM}, find the Pearson correlation of the ranks of x = {commas(xs)} with the ranks of "
            f"the y values observed together with them, {commas(ys)}.",
            f"Two judges gave these pairs of marks: {points}. Replace the marks of each judge by their "
            f"ranks and give the correlation coefficient of the ranks (Spearman's rho) as {_FORM}.",
        ),
        derivation=(
            f"xs = {xs}\nys = {ys}\na = [sorted(xs).index(x) for x in xs]\n"
            "b = [sorted(ys).index(y) for y in ys]\n"
            f"m = Fraction({count - 1}, 2)\nanswer = sum([(p - m) * (q - m) for p, q in zip(a, b)]) / sum([(p - "
            "m) ** 2 for p in a])"
        ),
        given={"xs": xs, "ys": ys},
    )


@TEMPLATES.at(5)
def concordance(source: Source, level: int) -> Made | None:  # noqa: ARG001
    """Find Kendall's rank correlation."""
    xs, ys = source.sample(range(1, 60), 9), source.sample(range(1, 60), 9)
    signs = sum(1 if (xs[i] - xs[j]) * (ys[i] - ys[j]) > 0 else -1 for i in range(9) for j in range(i))
    value = Fraction(signs, 36)
    if value.denominator == 1:
        return None
    points = tuples(zip(xs, ys, strict=True))
    return Made(
        answer=str(value),
        questions=(
            f"What is Kendall's tau of x and y for the points (x, y) = {points}? Answer as {_FORM}.",
            f"As {_FORM}, find the Kendall rank correlation of x = {commas(xs)} with y = {commas(ys)}, the "
            "values being listed in matching order.",
            f"Among all pairs of the points {points}, call a pair concordant if the point with the larger "
            "first coordinate has the larger second one, else discordant. Subtract the number of "
            "discordant pairs from that of concordant pairs, divide by the number of pairs, and give "
            f"{_FORM}.",
        ),
        derivation=(
            f"points = {list(zip(xs, ys, strict=True))}\ntotal = 0\n"
            "for (a, b), (c, d) in combinations(points, 2):\n"
            "    total += 1 if (a < c) == (b < d) else -1\nanswer = Fraction(total, 36)"
        ),
        given={"xs": xs, "ys": ys},
    )


@TEMPLATES.at(4, 5, 6)
def chi_square(source: Source, level: int) -> Made | None:
    """Find the chi-square statistic of a contingency table."""
    rows, columns, low, high = {4: (2, 2, 4, 16), 5: (2, 3, 5, 40), 6: (3, 4, 5, 90)}[level]
    table = [source.integers(columns, low, high) for _ in range(rows)]
    across, down = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    shares = sum(
        (Fraction(table[i][j] ** 2, across[i] * down[j]) for i in range(rows) for j in range(columns)), Fraction()
    )
    value = sum(across) * (shares - 1)
    if value.denominator == 1:
        return None
    derivation = (
        f"table = {table}\nn = sum([sum(row) for row in table])\nanswer = Fraction(0)\nfor row in table:\n   "
        f" for j in range({columns}):\n        expected = Fraction(sum(row) * sum([other[j] for other in "
        "table]), n)\n        answer += (row[j] - expected) ** 2 / expected"
    )
    return Made(
        answer=str(value),
        questions=(
            f"A contingency table has the rows {tuples(table)}. What is Pearson's chi-square statistic for "
            f"independence, without correction? Answer as {_FORM}.",
            f"As {_FORM}, compute the sum of (observed - expected)^2 / expected over all cells of the table "
            f"of counts {table}, the expected counts being those under independence of rows and columns.",
            f"Counts were cross-classified as {'; '.join(commas(row) for row in table)} (row by row). Give "
            f"the chi-square test statistic of independence, with no continuity correction, as {_FORM}.",
        ),
        derivation=derivation,
        given={"table": table},
    )


@TEMPLATES.at(5, 6)
def group_comparison(source: Source, level: int) -> Made | None:
    """Find the F statistic of a one-way analysis of variance."""
    sizes, high = {5: ((3, 3, 4), 20), 6: ((4, 5, 5, 6), 90)}[level]
    groups = [source.sample(range(1, high + 1), size) for size in sizes]
    total, count = sum(map(sum, groups)), sum(sizes)
    raw = sum(value * value for group in groups for value in group)
    parts = sum((Fraction(sum(group) ** 2, len(group)) for group in groups), Fraction())
    between = (parts - Fraction(total**2, count)) / (len(groups) - 1)
    within = (raw - parts) / (count - len(groups))
    value = between / within if within else Fraction()
    if value.denominator == 1:
        return None
    derivation = (
        f"groups = {groups}\nn = sum([len(g) for g in groups])\nm = Fraction(sum([sum(g) for g in groups]), "
        "n)\nbetween, within = Fraction(0), Fraction(0)\nfor g in groups:\n    own = Fraction(sum(g), "
        "len(g))\n    between += len(g) * (own - m) ** 2\n    within += sum([(v - own) ** 2 for v in g])\n"
        "answer = (between / (len(groups) - 1)) / (within / (n - len(groups)))"
    )
    shown = tuples(groups)
    return Made(
        answer=str(value),
        questions=(
            f"What is the F statistic of a one-way analysis of variance for the groups {shown}? Answer as {_FORM}.",
            f"As {_FORM}, divide the mean square between groups by the mean square within groups for these "
            f"samples: {'; '.join(commas(group) for group in groups)}.",
            f"Several treatments gave the results {listed(groups)}, one list per treatment. Give the "
            f"one-way ANOVA test statistic F as {_FORM}.",
        ),
        derivation=derivation,
        given={"groups": groups},
    )


@TEMPLATES.at(6)
def partial_slope(source: Source, level: int) -> Made | None:  # noqa: ARG001
    """Find a coefficient of a regression with two predictors."""
    rows = [source.integers(3, 1, 60) for _ in range(8)]
    design = [[1, x, z] for x, z, _ in rows]
    normal = [[sum(row[i] * row[j] for row in design) for j in range(3)] for i in range(3)]
    right = [sum(row[i] * y for row, (_, _, y) in zip(design, rows, strict=True)) for i in range(3)]
    found = solved(normal, right, 1)
    if found is None or found.denominator == 1:
        return None
    derivation = (
        f"rows = {rows}\nn = len(rows)\nm = [Fraction(sum([row[k] for row in rows]), n) for k in range(3)]\n"
        "s = [[sum([(row[i] - m[i]) * (row[j] - m[j]) for row in rows]) for j in range(3)] for i in "
        "range(3)]\nanswer = (s[0][2] * s[1][1] - s[1][2] * s[0][1]) / (s[0][0] * s[1][1] - s[0][1] ** 2)"
    )
    return Made(
        answer=str(found),
        questions=(
            "The model y = a + bx + cz is fitted by ordinary least squares to the data (x, z, y) = "
            f"{tuples(rows)}. What is b? Answer as {_FORM}.",
            f"As {_FORM}, give the coefficient of x in the least-squares regression of y on x and z, with "
            f"intercept, for the triples (x, z, y) = {tuples(rows[::-1])}.",
            "Regress the third number of each triple on the first two, with an intercept, by ordinary "
            f"least squares: {tuples(rows)}. Give the coefficient of the first number as {_FORM}.",
        ),
        derivation=derivation,
        given={"rows": rows},
    )
