"""Algebra: equations, systems, polynomials and rational maps."""

from __future__ import annotations

from fractions import Fraction

from selfdiag.battery.generators.exact import determinant, product_of
from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import counted, linear_form, listed, polynomial

TEMPLATES = Templates("algebra")


@TEMPLATES.at(1, 2)
def linear_equation(source: Source, level: int) -> Made:
    """Solve a linear equation in one unknown."""
    a = source.integer(2, 9)
    b = source.integer(*{1: (1, 20), 2: (30, 90)}[level])
    x = source.integer(2, 12) * {1: 1, 2: -1}[level]
    c = a * x + b
    return Made(
        answer=str(x),
        questions=(
            f"Solve {a}x + {b} = {c} for x. Answer as a number.",
            f"Which number gives {c} when it is multiplied by {a} and {b} is added to the product? Answer as a number.",
            f"As a number, what is x if {c} = {b} + {a}x?",
        ),
        derivation=f"({c} - {b}) // {a}",
        given={"a": a, "b": b, "c": c},
    )


@TEMPLATES.at(1, 2)
def equal_prices(source: Source, level: int) -> Made:
    """Find a unit price from a total with a fee."""
    low, high = {1: (2, 12), 2: (15, 60)}[level]
    count, price, fee = source.integer(3, 9), source.integer(low, high), source.integer(2, 15)
    total = count * price + fee
    return Made(
        answer=str(price),
        questions=(
            f"An order of {count} equal plates costs {total} euros, including {counted(fee, 'euro')} for "
            "delivery. How many euros does one plate cost? Answer as a number.",
            f"For {count} plates of the same price and a delivery fee of {counted(fee, 'euro')}, a customer "
            f"pays {total} euros in all. As a number of euros, what is the price of a plate?",
            f"Someone pays {total} euros: {counted(fee, 'euro')} for delivery, the rest for {count} "
            "identical plates. Give the price of each plate in euros, as a number.",
        ),
        derivation=f"({total} - {fee}) // {count}",
        given={"count": count, "fee": fee, "total": total},
    )


@TEMPLATES.at(1, 2)
def sum_and_difference(source: Source, level: int) -> Made:
    """Find the larger of two numbers from their sum and difference."""
    low, high = {1: (3, 20), 2: (35, 160)}[level]
    smaller, gap = source.integer(low, high), source.integer(2, high)
    total = 2 * smaller + gap
    return Made(
        answer=str(smaller + gap),
        questions=(
            f"Two numbers add up to {total} and differ by {gap}. What is the larger one? Answer as a number.",
            f"As a number, what is x if x + y = {total} and x - y = {gap}?",
            f"A rope of {total} metres is cut in two, and one piece is {gap} metres longer than the other. "
            "Give the length of the longer piece in metres, as a number.",
        ),
        derivation=f"({total} + {gap}) // 2",
        given={"total": total, "gap": gap},
    )


@TEMPLATES.at(1, 2, 3)
def evaluation(source: Source, level: int) -> Made:
    """Evaluate a polynomial at a point."""
    coefficients = [source.integer(2, 9), *(source.signed(2, 9) for _ in range(level))]
    x = source.integer(*{1: (3, 10), 2: (3, 8), 3: (3, 6)}[level]) * {1: 1, 2: 1, 3: -1}[level]
    value = 0
    for coefficient in coefficients:
        value = value * x + coefficient
    text = polynomial(coefficients)
    terms = [f"{c} * ({x})**{len(coefficients) - 1 - k}" for k, c in enumerate(coefficients)]
    return Made(
        answer=str(value),
        questions=(
            f"What is {text} for x = {x}? Answer as a number.",
            f"Put {x} in the place of x in {text} and give the value as a number.",
            f"Let f(x) = {text}. As a number, what is f({x})?",
        ),
        derivation=" + ".join(terms),
        given={"coefficients": coefficients, "x": x},
    )


@TEMPLATES.at(2)
def both_sides(source: Source, level: int) -> Made:  # noqa: ARG001
    """Solve an equation with the unknown on both sides."""
    c, extra, x = source.integer(2, 9), source.integer(2, 9), source.integer(2, 15)
    a, b = c + extra, source.integer(2, 30)
    d = extra * x + b
    return Made(
        answer=str(x),
        questions=(
            f"Solve {a}x + {b} = {c}x + {d} for x. Answer as a number.",
            f"Multiplying a number by {a} and adding {b} gives the same as multiplying it by {c} and adding "
            f"{d}. Which number is it? Answer as a number.",
            f"As a number, where do the lines y = {a}x + {b} and y = {c}x + {d} meet? Give the x coordinate.",
        ),
        derivation=f"({d} - {b}) // ({a} - {c})",
        given={"a": a, "b": b, "c": c, "d": d},
    )


@TEMPLATES.at(2, 3)
def two_unknowns(source: Source, level: int) -> Made | None:
    """Solve a system of two linear equations."""
    high = {2: 3, 3: 9}[level]
    (a, b), (c, d) = source.integers(2, 2, high + 1), source.integers(2, 2, high + 1)
    x, y = (source.signed(2, 12) if level == 3 else source.integer(2, 12) for _ in range(2))
    if a * d == b * c:
        return None
    e, f = a * x + b * y, c * x + d * y
    return Made(
        answer=str(x),
        questions=(
            f"Given {a}x + {b}y = {e} and {c}x + {d}y = {f}, what is x? Answer as a number.",
            f"Solve the system {c}x + {d}y = {f}, {a}x + {b}y = {e} and give the value of x as a number.",
            f"Two numbers x and y satisfy {e} = {a}x + {b}y and also {f} = {c}x + {d}y. As a number, find x.",
        ),
        derivation=f"Fraction({e} * {d} - {b} * {f}, {a} * {d} - {b} * {c})",
        given={"a": a, "b": b, "c": c, "d": d, "e": e, "f": f},
    )


_AGES = tuple(
    (times, later, years, years * (later - 1) // (times - later))
    for times in range(4, 12)
    for later in (2, 3)
    for years in range(2, 30)
    if times > later
    and years * (later - 1) % (times - later) == 0
    and 18 <= (times - 1) * years * (later - 1) // (times - later) <= 42
)


@TEMPLATES.at(2, 3)
def ages(source: Source, level: int) -> Made | None:
    """Find an age from two ratios."""
    times, later, years, age = source.choice(_AGES)
    if later != {2: 2, 3: 3}[level] or age < 2:
        return None
    return Made(
        answer=str(age),
        questions=(
            f"A mother is {times} times as old as her daughter. In {years} years she will be {later} times "
            "as old as her daughter. How old is the daughter now, in years? Answer as a number.",
            f"Tom's father is now {times} times Tom's age; {years} years from now he will be {later} times "
            "Tom's age. As a number of years, what is Tom's age today?",
            f"An aunt's age is {times} times the age of her niece, and {years} years later it will be "
            f"{later} times the niece's age. Give the niece's present age in years, as a number.",
        ),
        derivation=f"{years} * ({later} - 1) // ({times} - {later})",
        given={"times": times, "later": later, "years": years},
    )


@TEMPLATES.at(3, 4)
def larger_root(source: Source, level: int) -> Made | None:
    """Find the larger root of a quadratic equation with rational roots."""
    bottom = {3: 1, 4: source.integer(3, 7)}[level]
    top, other = source.signed(2, 14), source.signed(2, 9)
    larger = Fraction(top, bottom)
    if larger <= other or larger.denominator != bottom or top + bottom * other == 0:
        return None
    coefficients = [bottom, -top - bottom * other, top * other]
    text = polynomial(coefficients)
    form = "a fraction in lowest terms" if level == 4 else "a number"
    a, b, c = coefficients
    return Made(
        answer=str(larger),
        questions=(
            f"What is the larger solution of {text} = 0? Answer as {form}.",
            f"The equation {text} = 0 has two real roots. Give the greater of them as {form}.",
            f"As {form}, find the largest x at which the function f(x) = {text} has the value 0.",
        ),
        derivation=f"(Fraction({-b}) + math.isqrt(({b})**2 - 4 * {a} * ({c}))) / (2 * {a})",
        given={"coefficients": coefficients},
    )


@TEMPLATES.at(4, 5, 6)
def power_sums(source: Source, level: int) -> Made:
    """Add equal powers of all roots of a polynomial, by Newton's identities."""
    degree, power = {4: (2, 3), 5: (3, 8), 6: (4, 17)}[level]
    lower = [source.signed(2, 7) for _ in range(degree)]
    sums = [degree]
    for n in range(1, power + 1):
        terms = [-lower[k - 1] * sums[n - k] for k in range(1, min(n - 1, degree) + 1)]
        sums.append(sum(terms) - (n * lower[n - 1] if n <= degree else 0))
    text = polynomial([1, *lower])
    names = "abcd"[:degree]
    derivation = (
        f"lower = {lower}\nsums = [{degree}]\nfor n in range(1, {power + 1}):\n"
        "    total = -n * lower[n - 1] if n <= len(lower) else 0\n"
        "    for k in range(1, min(n - 1, len(lower)) + 1):\n        total -= lower[k - 1] * sums[n - k]\n"
        "    sums.append(total)\nanswer = sums[-1]"
    )
    return Made(
        answer=str(sums[-1]),
        questions=(
            f"The equation {text} = 0 has the complex roots {listed(names)}, counted with multiplicity. "
            f"What is {' + '.join(f'{name}^{power}' for name in names)}? Answer as a whole number.",
            f"Raise each complex root of the polynomial {text} to the power {power} (a repeated root as "
            "often as it occurs) and add the results. Give the sum as a whole number.",
            f"As a whole number, find the sum of the {power}th powers of all solutions of {text} = 0 in the "
            "complex numbers, with multiplicity."
            if power > 3
            else f"As a whole number, find the sum of the cubes (exponent {power}) of the two complex solutions of "
            f"{text} = 0, with multiplicity.",
        ),
        derivation=derivation,
        given={"lower": lower, "power": power},
    )


@TEMPLATES.at(3, 4, 5, 6)
def coefficient(source: Source, level: int) -> Made:
    """Find a coefficient of a power of a polynomial."""
    size, exponent = {
        3: (1, source.integer(3, 4)),
        4: (1, source.integer(6, 7)),
        5: (2, source.integer(8, 10)),
        6: (3, source.integer(17, 19)),
    }[level]
    base = [1 if level == 3 else source.integer(2, 3), *(source.signed(2, 5) for _ in range(size))]
    expanded = product_of([base[::-1]] * exponent)
    place = source.integer(2, min(len(expanded) - 2, 9))
    text = f"({polynomial(base)})^{exponent}"
    derivation = (
        f"base = {base[::-1]}\npowers = [1]\nfor step in range({exponent}):\n    longer = [0] * (len(powers) "
        f"+ {size})\n    for i in range(len(powers)):\n        for j in range(len(base)):\n            "
        f"longer[i + j] += powers[i] * base[j]\n    powers = longer\nanswer = powers[{place}]"
    )
    return Made(
        answer=str(expanded[place]),
        questions=(
            f"What is the coefficient of x^{place} in {text}? Answer as a whole number.",
            f"Multiply out {text} and collect equal powers of x. As a whole number, by what is x^{place} multiplied?",
            f"As a whole number, which factor stands before x^{place} in the expansion of {text}?",
        ),
        derivation=derivation,
        given={"base": base, "exponent": exponent, "place": place},
    )


@TEMPLATES.at(3, 4, 5, 6)
def reciprocal_powers(source: Source, level: int) -> Made:
    """Find x^n + 1/x^n from x + 1/x."""
    low, high = {3: (2, 3), 4: (4, 6), 5: (10, 14), 6: (25, 40)}[level]
    power, total = source.integer(low, high), source.integer(3, 15)
    values = [2, total]
    while len(values) <= power:
        values.append(total * values[-1] - values[-2])
    return Made(
        answer=str(values[power]),
        questions=(
            f"If x + 1/x = {total}, what is x^{power} + 1/x^{power}? Answer as a whole number.",
            f"A number and its reciprocal add up to {total}. Give the sum of their powers with exponent "
            f"{power} as a whole number.",
            f"Let x be a number with x + 1/x = {total}. Raise both x and 1/x to the power {power}; as a "
            "whole number, what do the two results add up to?",
        ),
        derivation=f"a, b = 2, {total}\nfor step in range({power - 1}):\n    a, b = b, {total} * b - a\nanswer = b",
        given={"total": total, "power": power},
    )


@TEMPLATES.at(4, 5)
def several_unknowns(source: Source, level: int) -> Made | None:
    """Solve a system of three or four linear equations."""
    size = {4: 3, 5: 4}[level]
    names = ("x", "y", "z", "w")[:size]
    rows = [[source.signed(2, 9) for _ in names] for _ in names]
    values = [source.signed(2, 15) for _ in names]
    whole = determinant(rows)
    if whole == 0:
        return None
    right = [sum(a * b for a, b in zip(row, values, strict=True)) for row in rows]
    equations = [f"{linear_form(row, names)} = {value}" for row, value in zip(rows, right, strict=True)]
    derivation = (
        f"rows = {[[*row, value] for row, value in zip(rows, right, strict=True)]}\nn = len(rows)\n"
        "for k in range(n):\n    for swap in range(k + 1, n):\n        if rows[k][k] == 0:\n"
        "            rows[k], rows[swap] = rows[swap], rows[k]\n    for i in range(n):\n        if i != k:\n"
        "            factor = Fraction(rows[i][k]) / rows[k][k]\n"
        "            rows[i] = [rows[i][j] - factor * rows[k][j] for j in range(n + 1)]\n"
        "answer = rows[0][n] / rows[0][0]"
    )
    return Made(
        answer=str(values[0]),
        questions=(
            f"What is x if {listed(equations)}? Answer as a whole number.",
            f"Solve this system of {size} linear equations: {'; '.join(reversed(equations))}. Give x as a "
            "whole number.",
            f"As a whole number, find the value of x that belongs to the only solution of {', '.join(equations)}.",
        ),
        derivation=derivation,
        given={"rows": rows, "right": right},
    )


@TEMPLATES.at(4, 5, 6)
def polynomial_remainder(source: Source, level: int) -> Made:
    """Find the remainder of a power of x after division by a quadratic."""
    power = source.integer(*{4: (4, 5), 5: (11, 14), 6: (35, 45)}[level])
    p, q = source.signed(2, 6), source.signed(2, 6)
    first, second = 1, 0
    for _ in range(power - 1):
        first, second = p * first + second, q * first
    text = polynomial([1, -p, -q])
    derivation = (
        f"rest = [1] + [0] * {power}\nfor k in range({power - 1}):\n    lead = rest[k]\n    rest[k] = 0\n"
        f"    rest[k + 1] += lead * ({p})\n    rest[k + 2] += lead * ({q})\nanswer = rest[-2]"
    )
    return Made(
        answer=str(first),
        questions=(
            f"Dividing x^{power} by {text} leaves a remainder ax + b. What is a? Answer as a whole number.",
            "As a whole number, give the coefficient of x in the remainder of the polynomial division of "
            f"x^{power} by {text}.",
            f"Reduce x^{power} modulo the polynomial {text} to the form ax + b and give a as a whole number.",
        ),
        derivation=derivation,
        given={"power": power, "p": -p, "q": -q},
    )


@TEMPLATES.at(5, 6)
def iterated_map(source: Source, level: int) -> Made | None:
    """Apply a rational function many times."""
    steps = {5: 6, 6: 24}[level]
    a, b, c, d = source.sample(range(2, 10), 4)
    start = source.integer(2, 9)
    value = Fraction(start)
    for _ in range(steps):
        value = (a * value + b) / (c * value + d)
    if value.denominator == 1 or a * d == b * c:
        return None
    rule = f"({a}x + {b}) / ({c}x + {d})"
    return Made(
        answer=str(value),
        questions=(
            f"Let f(x) = {rule}. Starting from x = {start}, f is applied {steps} times in a row. What is "
            "the result? Answer as a fraction in lowest terms.",
            f"Begin with the number {start} and replace x by {rule} exactly {steps} times. As a fraction in "
            "lowest terms, which number do you get?",
            f"A sequence has x(0) = {start}, and each term x is followed by {rule}. Give x({steps}) as a "
            "fraction in lowest terms.",
        ),
        derivation=(
            f"x = Fraction({start})\nfor step in range({steps}):\n    x = ({a} * x + {b}) / ({c} * x + {d})\nanswer = x"
        ),
        given={"a": a, "b": b, "c": c, "d": d, "start": start, "steps": steps},
    )
