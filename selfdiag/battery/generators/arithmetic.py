"""Arithmetic: sums, products, powers, roots, fractions and number bases."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt, prod

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import listed

TEMPLATES = Templates("arithmetic")


@TEMPLATES.at(1, 2)
def addition(source: Source, level: int) -> Made:
    """Add three numbers."""
    a, b, c = source.integers(3, *{1: (5, 40), 2: (101, 999)}[level])
    return Made(
        answer=str(a + b + c),
        questions=(
            f"What is {a} + {b} + {c}? Answer as a number.",
            f"Add up the three numbers {c}, {a} and {b} and give the total as a number.",
            f"As a number, how much do {b}, {c} and {a} make together?",
        ),
        derivation=f"{a} + {b} + {c}",
        given={"a": a, "b": b, "c": c},
    )


@TEMPLATES.at(1, 2)
def subtraction(source: Source, level: int) -> Made:
    """Take one number from another."""
    low, high = {1: (31, 99), 2: (1001, 9999)}[level]
    a = source.integer(low, high)
    b = source.integer(low // 2, a - 5)
    return Made(
        answer=str(a - b),
        questions=(
            f"A store has {a} chairs and sells {b} of them. How many chairs remain? Answer as a number.",
            f"As a number, what is {a} minus {b}?",
            f"By how much is {a} greater than {b}? Give a number.",
        ),
        derivation=f"{a} - {b}",
        given={"a": a, "b": b},
    )


@TEMPLATES.at(1)
def sum_with_product(source: Source, level: int) -> Made:  # noqa: ARG001
    """Add a product to a number."""
    a, b, c = source.integer(11, 40), source.integer(3, 9), source.integer(3, 9)
    return Made(
        answer=str(a + b * c),
        questions=(
            f"What is {a} + {b} × {c}, with multiplication done before addition? Answer as a number.",
            f"Multiply {b} by {c}, add {a} to the product, and give the result as a number.",
            f"As a number, what is the sum of {a} and the product of {b} and {c}?",
        ),
        derivation=f"{a} + {b} * {c}",
        given={"a": a, "b": b, "c": c},
    )


@TEMPLATES.at(2, 3)
def difference_of_products(source: Source, level: int) -> Made:
    """Subtract one product from another."""
    low, high = {2: (3, 12), 3: (23, 89)}[level]
    a, b, c, d = source.integers(4, low, high)
    return Made(
        answer=str(a * b - c * d),
        questions=(
            f"What is {a} × {b} - {c} × {d}, with multiplication done before subtraction? Answer as a number.",
            f"Take the product of {c} and {d} away from the product of {a} and {b}, and give the result as a number.",
            f"As a number, by how much does {a} times {b} exceed {c} times {d} "
            "(negative if the first product is smaller)?",
        ),
        derivation=f"{a} * {b} - {c} * {d}",
        given={"a": a, "b": b, "c": c, "d": d},
    )


@TEMPLATES.at(1, 2, 3, 4, 5, 6)
def product(source: Source, level: int) -> Made:
    """Multiply two numbers."""
    first, second = {
        1: ((3, 9), (11, 19)),
        2: ((6, 9), (102, 199)),
        3: ((23, 99), (23, 99)),
        4: ((213, 989), (213, 989)),
        5: ((21013, 98989), (21013, 98989)),
        6: ((210000013, 989898989), (210000013, 989898989)),
    }[level]
    a, b = source.integer(*first), source.integer(*second)
    return Made(
        answer=str(a * b),
        questions=(
            f"What is {a} × {b}, exactly? Answer as a whole number.",
            f"Multiply {b} by {a} and give the exact product as a whole number.",
            f"As a whole number, with every digit right: how much is {a} times {b}?",
        ),
        derivation=f"{a} * {b}",
        given={"a": a, "b": b},
    )


@TEMPLATES.at(2, 3, 4, 5, 6)
def fraction_sum(source: Source, level: int) -> Made | None:
    """Add proper fractions."""
    count, low, high = {2: (2, 2, 6), 3: (2, 5, 15), 4: (3, 5, 20), 5: (4, 11, 40), 6: (7, 50, 400)}[level]
    parts = []
    for bottom in source.sample(range(low, high + 1), count):
        top = 1 if level == 2 else source.integer(1, bottom - 1)
        while gcd(top, bottom) > 1:
            top = source.integer(1, bottom - 1)
        parts.append(Fraction(top, bottom))
    total = sum(parts, Fraction())
    if total.denominator == 1:
        return None
    return Made(
        answer=str(total),
        questions=(
            f"What is {' + '.join(map(str, parts))}? Answer as a fraction in lowest terms.",
            f"Add the fractions {listed(parts)}, and give their sum as a fraction in lowest terms.",
            f"As a fraction in lowest terms, how much do {listed(reversed(parts))} make in all?",
        ),
        derivation=" + ".join(f"Fraction({part.numerator}, {part.denominator})" for part in parts),
        given={"parts": [[part.numerator, part.denominator] for part in parts]},
    )


@TEMPLATES.at(2)
def percentage(source: Source, level: int) -> Made:  # noqa: ARG001
    """Take a percentage of a number."""
    percent = source.integer(1, 19) * 5
    whole = source.integer(2, 45) * 20
    return Made(
        answer=str(percent * whole // 100),
        questions=(
            f"What is {percent} percent of {whole}? Answer as a number.",
            f"A village has {whole} inhabitants, and {percent} percent of them are adults. "
            "As a number, how many adults live there?",
            f"Out of {whole} tickets, exactly {percent} percent were sold. Give the number of tickets sold.",
        ),
        derivation=f"{percent} * {whole} // 100",
        given={"percent": percent, "whole": whole},
    )


@TEMPLATES.at(3, 4)
def price_changes(source: Source, level: int) -> Made:
    """Raise a price by a percentage, then lower it by another."""
    step, unit = {3: (10, 100), 4: (5, 400)}[level]
    up, down = source.integer(1, 60 // step) * step, source.integer(1, 60 // step) * step
    price = source.integer(2, 19) * unit
    return Made(
        answer=str(price * (100 + up) * (100 - down) // 10000),
        questions=(
            f"A price of {price} first rises by {up} percent and then falls by {down} percent. "
            "What is the final price, as a number?",
            f"Something costs {price}. Its price goes up by {up} percent, and the new price is later cut by "
            f"{down} percent. As a number, what does it cost in the end?",
            f"Increase {price} by {up} percent, reduce the result by {down} percent, and give what you get "
            "as a number.",
        ),
        derivation=f"{price} * (100 + {up}) * (100 - {down}) // 10000",
        given={"price": price, "up": up, "down": down},
    )


@TEMPLATES.at(3, 4, 5, 6)
def power(source: Source, level: int) -> Made | None:
    """Raise a number to a power."""
    low, high, exponents = {
        3: (23, 99, (2,)),
        4: (13, 49, (3,)),
        5: (213, 989, (3, 4)),
        6: (2013, 9889, (6, 7)),
    }[level]
    base, exponent = source.integer(low, high), source.choice(exponents)
    if base % 10 == 0:
        return None
    factors = " × ".join([str(base)] * exponent)
    return Made(
        answer=str(base**exponent),
        questions=(
            f"What is {base} to the power {exponent}, exactly? Answer as a whole number.",
            f"Give the exact value of {base}^{exponent} as a whole number.",
            f"As a whole number, with every digit right: what is {factors}, that is, {base} taken {exponent} "
            "times as a factor?",
        ),
        derivation=f"{base}**{exponent}",
        given={"base": base, "exponent": exponent},
    )


@TEMPLATES.at(4, 5, 6)
def square_root(source: Source, level: int) -> Made:
    """Take the whole part of a square root."""
    digits = {4: 5, 5: 11, 6: 24}[level]
    number = source.integer(2 * 10 ** (digits - 1), 10**digits - 1)
    return Made(
        answer=str(isqrt(number)),
        questions=(
            f"What is the largest whole number whose square is at most {number}? Answer as a whole number.",
            f"Take the square root of {number} and cut off everything after the decimal point. "
            "Which whole number remains?",
            f"As a whole number, how many positive integers have a square that does not exceed {number}?",
        ),
        derivation=f"math.isqrt({number})",
        given={"number": number},
    )


@TEMPLATES.at(3, 4, 5, 6)
def number_base(source: Source, level: int) -> Made:
    """Write a number in another base."""
    low, high, bases = {
        3: (17, 63, (2, 3)),
        4: (150, 999, (3, 5, 6, 7)),
        5: (10**7, 10**8, (7, 8, 9)),
        6: (10**17, 10**18, (6, 7, 9)),
    }[level]
    number, base = source.integer(low, high), source.choice(bases)
    digits, rest = "", number
    while rest:
        digits, rest = str(rest % base) + digits, rest // base
    return Made(
        answer=digits,
        questions=(
            f"How is the decimal number {number} written in base {base}? Answer with the digits only.",
            f"Convert {number} from base ten to base {base} and reply with nothing but the digits.",
            f"In the number system with base {base}, which string of digits stands for {number} (decimal)? "
            "Give the digits only.",
        ),
        derivation=(
            f"answer = ''\nn = {number}\nwhile n > 0:\n    answer = str(n % {base}) + answer\n    n = n // {base}"
        ),
        given={"number": number, "base": base},
    )


@TEMPLATES.at(5, 6)
def digit_sum(source: Source, level: int) -> Made:
    """Add the digits of a product of several numbers."""
    factors = source.integers({5: 3, 6: 9}[level], 113, 989)
    result = prod(factors)
    return Made(
        answer=str(sum(map(int, str(result)))),
        questions=(
            f"What is the sum of the decimal digits of {' × '.join(map(str, factors))}? Answer as a number.",
            f"Multiply {listed(factors)} together, then add up the digits of the product. Give that sum as a number.",
            f"As a number, give the digit sum, in base ten, of the product of {listed(reversed(factors))}.",
        ),
        derivation=f"sum([int(digit) for digit in str({' * '.join(map(str, factors))})])",
        given={"factors": factors},
    )
