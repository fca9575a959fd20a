"""Number theory: divisors, primes, residues and arithmetic functions."""

from __future__ import annotations

from math import gcd, isqrt, lcm, prod

from selfdiag.battery.generators.exact import factored, is_prime, totient
from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import listed

TEMPLATES = Templates("number_theory")

_PRIMES = tuple(n for n in range(2, 300) if is_prime(n))
_EUCLID = "while b != 0:\n    a, b = b, a % b\n"


def _prime_near(number: int) -> int:
    while not is_prime(number):
        number += 1
    return number


@TEMPLATES.at(1, 2, 3, 5)
def common_divisor(source: Source, level: int) -> Made | None:
    """Find a greatest common divisor."""
    shared, low, high = {
        1: (source.integer(2, 6), 2, 9),
        2: (source.integer(4, 19), 5, 20),
        3: (source.integer(13, 99), 23, 99),
        5: (source.integer(10013, 98989), 10013, 98989),
    }[level]
    a, b = shared * source.integer(low, high), shared * source.integer(low, high)
    if a == b:
        return None
    return Made(
        answer=str(gcd(a, b)),
        questions=(
            f"What is the greatest common divisor of {a} and {b}? Answer as a number.",
            f"As a number, give the largest integer that divides both {b} and {a} without remainder.",
            f"Find the highest common factor of the pair {a}, {b} and answer as a number.",
        ),
        derivation=f"a, b = {a}, {b}\n{_EUCLID}answer = a",
        given={"a": a, "b": b},
    )


@TEMPLATES.at(1, 2, 3)
def common_multiple(source: Source, level: int) -> Made | None:
    """Find a least common multiple."""
    numbers = source.sample(range(*{1: (3, 13), 2: (6, 31), 3: (12, 46)}[level]), {1: 2, 2: 2, 3: 3}[level])
    return Made(
        answer=str(lcm(*numbers)),
        questions=(
            f"What is the least common multiple of {listed(numbers)}? Answer as a number.",
            f"As a number, give the smallest positive integer that {listed(reversed(numbers))} all divide."
            if level == 3
            else f"As a number, give the smallest positive integer that both {listed(reversed(numbers))} divide.",
            f"Lamps blink every {listed(numbers)} seconds and have just blinked together. After how many "
            "seconds does this happen next? Answer as a number.",
        ),
        derivation=(
            f"answer = {max(numbers)}\nwhile any([answer % n != 0 for n in {numbers}]):\n    answer += {max(numbers)}"
        ),
        given={"numbers": numbers},
    )


@TEMPLATES.at(1, 2)
def remainder(source: Source, level: int) -> Made:
    """Find the remainder of a division."""
    low, high, divisor = {1: (20, 99, source.integer(3, 9)), 2: (300, 2999, source.integer(7, 19))}[level]
    number = source.integer(low, high)
    return Made(
        answer=str(number % divisor),
        questions=(
            f"What is the remainder when {number} is divided by {divisor}? Answer as a number.",
            f"From {number} beads, as many full chains of {divisor} beads as possible are made. As a "
            "number, how many beads are left over?",
            f"Give {number} modulo {divisor} as a number.",
        ),
        derivation=f"{number} % {divisor}",
        given={"number": number, "divisor": divisor},
    )


@TEMPLATES.at(1, 2, 3, 5)
def next_prime(source: Source, level: int) -> Made:
    """Find the next prime number."""
    start = source.integer(*{1: (8, 60), 2: (90, 300), 3: (400, 3000), 5: (100000, 999000)}[level])
    answer = _prime_near(start + 1)
    # a number is prime when it shares no factor with the product of all numbers up to its root
    derivation = f"n = {start} + 1\nwhile math.gcd(n, math.factorial(math.isqrt(n))) > 1:\n    n += 1\nanswer = n"
    return Made(
        answer=str(answer),
        questions=(
            f"What is the smallest prime number greater than {start}? Answer as a number.",
            f"Count upwards from {start}, which itself does not count. As a number, which prime do you meet first?",
            f"Give the least prime p with p > {start}, as a number.",
        ),
        derivation=derivation,
        given={"start": start},
    )


@TEMPLATES.at(2, 3, 4)
def divisor_count(source: Source, level: int) -> Made | None:
    """Count the divisors of a number."""
    low, high = {2: (20, 100), 3: (200, 2000), 4: (20000, 999999)}[level]
    number = prod(source.choice(_PRIMES[:6]) for _ in range(source.integer(3, 3 * level - 2)))
    if not low <= number <= high:
        return None
    return Made(
        answer=str(prod(power + 1 for power in factored(number).values())),
        questions=(
            f"How many positive divisors does {number} have, 1 and the number itself included? Answer as a number.",
            f"As a number, how many positive integers, among them 1, divide {number} without remainder?",
            f"In how many ways can {number} be written as a product of 2 positive integers when the order "
            "of the factors matters and a factor may be 1? Answer as a number.",
        ),
        derivation=f"len([d for d in range(1, {isqrt(number)} + 1) if {number} % d == 0]) * 2"
        + (" - 1" if isqrt(number) ** 2 == number else ""),
        given={"number": number},
    )


@TEMPLATES.at(3, 4, 5)
def divisor_sum(source: Source, level: int) -> Made:
    """Add the divisors of a number."""
    number = source.integer(*{3: (24, 99), 4: (200, 999), 5: (100000, 999999)}[level])
    factors = factored(number)
    total = prod((prime ** (power + 1) - 1) // (prime - 1) for prime, power in factors.items())
    return Made(
        answer=str(total),
        questions=(
            f"What is the sum of all positive divisors of {number}, 1 and the number itself included? "
            "Answer as a whole number.",
            f"Add up every positive integer that divides {number}, from 1 up to {number}, and give the "
            "total as a whole number.",
            f"As a whole number, what is sigma({number}), the sum of all d > 0 that divide it (d = 1 counts too)?",
        ),
        derivation=f"sum([d + {number} // d for d in range(1, {isqrt(number)} + 1) if {number} % d == 0])"
        + (f" - {isqrt(number)}" if isqrt(number) ** 2 == number else ""),
        given={"number": number},
    )


@TEMPLATES.at(2, 3, 4)
def last_digits(source: Source, level: int) -> Made:
    """Find the last digits of a power."""
    base = source.choice((2, 3, 7, 8, 13, 17, 23, 27, 32, 37, 43, 47)) + {2: 0, 3: 100, 4: 0}[level]
    exponent = source.integer(*{2: (5, 30), 3: (100, 999), 4: (101, 999)}[level])
    if level < 4:
        what, again, modulus = "last digit", "What is the digit in the units place of the product", 10
    else:
        what, modulus = "number formed by the last two digits", 100
        again = "What do the last two digits of the product amount to"
    return Made(
        answer=str(pow(base, exponent, modulus)),
        questions=(
            f"What is the {what} of {base}^{exponent}? Answer as a number.",
            f"As a number, find the {what} in the decimal form of {base} raised to the power {exponent}.",
            f"Multiply {exponent} factors of {base} together. {again}, as a number?",
        ),
        derivation=f"answer = 1\nfor step in range({exponent}):\n    answer = answer * {base} % {modulus}",
        given={"base": base, "exponent": exponent, "two": level == 4},
    )


@TEMPLATES.at(3, 4, 5, 6)
def power_remainder(source: Source, level: int) -> Made:
    """Find a remainder of a large power."""
    base, exponent, modulus = {
        3: (source.integer(2, 6), source.integer(8, 20), source.choice((7, 11, 13))),
        4: (source.integer(3, 19), source.integer(50, 400), source.choice((23, 29, 31, 37, 41, 43))),
        5: (source.integer(12, 99), source.integer(20000, 99999), source.integer(5003, 9999)),
        6: (source.integer(10**8, 10**9), source.integer(10**9, 10**10), source.integer(10**9, 10**10)),
    }[level]
    return Made(
        answer=str(pow(base, exponent, modulus)),
        questions=(
            f"What is the remainder when {base}^{exponent} is divided by {modulus}? Answer as a whole "
            f"number from 0 to {modulus - 1}.",
            f"Compute {base} to the power {exponent} modulo {modulus} and give the least non-negative "
            "residue as a whole number.",
            f"Dividing {base}^{exponent} by {modulus} leaves which remainder, as a whole number between 0 "
            f"and {modulus - 1}?",
        ),
        derivation=f"pow({base}, {exponent}, {modulus})",
        given={"base": base, "exponent": exponent, "modulus": modulus},
    )


@TEMPLATES.at(3, 4, 5, 6)
def congruences(source: Source, level: int) -> Made | None:
    """Find the smallest number with given remainders."""
    count, first, last = {3: (2, 1, 6), 4: (3, 1, 7), 5: (4, 4, 14), 6: (7, 20, 60)}[level]
    moduli = source.sample(_PRIMES[first:last], count)
    residues = [source.integer(1, modulus - 1) for modulus in moduli]
    answer, step = 0, 1
    for modulus, residue in zip(moduli, residues, strict=True):
        answer += step * ((residue - answer) * pow(step, -1, modulus) % modulus)
        step *= modulus
    if answer < 3 * max(moduli):
        return None
    clauses = [f"{r} when divided by {m}" for m, r in zip(moduli, residues, strict=True)]
    residue_forms = [f"n ≡ {r} (mod {m})" for m, r in zip(moduli, residues, strict=True)]
    rows = [f"in rows of {m} leaves {r} over" for m, r in zip(moduli, residues, strict=True)]
    derivation = (
        f"answer, step = 0, 1\nfor m, r in {list(zip(moduli, residues, strict=True))}:\n    while answer % m "
        "!= r:\n        answer += step\n    step *= m"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"What is the smallest positive integer that leaves the remainder {listed(clauses)}? Answer as "
            "a whole number.",
            f"As a whole number, give the least n > 0 with {listed(residue_forms)}.",
            f"Placing all coins of a heap {listed(rows)}. Give the smallest possible number of coins.",
        ),
        derivation=derivation,
        given={"moduli": moduli, "residues": residues},
    )


@TEMPLATES.at(3, 4, 5, 6)
def coprime_count(source: Source, level: int) -> Made | None:
    """Count the smaller numbers without a common factor (Euler's totient)."""
    if level < 5:
        number = source.integer(*{3: (20, 99), 4: (150, 999)}[level])
        factors = factored(number)
    else:
        primes = source.sample(_PRIMES[4:] if level == 6 else _PRIMES[2:20], {5: 3, 6: 5}[level])
        factors = {**dict.fromkeys(primes, 1), primes[0]: 2, 2: source.integer(1, 3)}
        number = prod(prime**power for prime, power in factors.items())
    if len(factors) < 2:
        return None
    derivation = (
        f"n, answer, d = {number}, {number}, 2\nwhile n > 1:\n    if n % d == 0:\n        answer = answer // "
        "d * (d - 1)\n        while n % d == 0:\n            n = n // d\n    d += 1"
    )
    return Made(
        answer=str(totient(factors)),
        questions=(
            f"How many of the integers from 1 to {number} have no common factor with {number} except 1? "
            "Answer as a whole number.",
            f"As a whole number, what is Euler's totient phi({number})? It counts the k from 1 to {number} "
            f"that are coprime to {number}.",
            f"Count the fractions k/{number} that are in lowest terms, for k running from 1 to {number}. "
            "Give a whole number.",
        ),
        derivation=derivation,
        given={"number": number},
    )


@TEMPLATES.at(4, 5, 6)
def largest_prime_factor(source: Source, level: int) -> Made | None:
    """Find the largest prime factor of a number."""
    low, high, count = {4: (11, 60, 2), 5: (130, 480, 3), 6: (10000, 30000, 2)}[level]
    primes = [_prime_near(source.integer(low, high)) for _ in range(count)]
    if len(set(primes)) < count:
        return None
    number = prod(primes)
    derivation = (
        f"n = {number}\nfor step in range({count - 1}):\n"
        "    n = n // [d for d in range(3, math.isqrt(n) + 1, 2) if n % d == 0][0]\nanswer = n"
    )
    return Made(
        answer=str(max(primes)),
        questions=(
            f"What is the largest prime factor of {number}? Answer as a number.",
            f"Split {number} into primes and give the greatest of them as a number.",
            f"As a number, which is the biggest prime that divides {number}?",
        ),
        derivation=derivation,
        given={"number": number},
    )


@TEMPLATES.at(4, 5, 6)
def inverse(source: Source, level: int) -> Made | None:
    """Find a multiplicative inverse modulo a number."""
    modulus = source.integer(*{4: (23, 70), 5: (2003, 9999), 6: (10**11, 10**12)}[level])
    number = source.integer(modulus // 7, modulus - 2)
    if gcd(number, modulus) > 1:
        return None
    derivation = (
        f"a, b, x, y = {number}, {modulus}, 1, 0\nwhile b != 0:\n    q = a // b\n    a, b = b, a - q * b\n"
        f"    x, y = y, x - q * y\nanswer = x % {modulus}"
    )
    return Made(
        answer=str(pow(number, -1, modulus)),
        questions=(
            f"Which x from 1 to {modulus - 1} makes {number}x leave the remainder 1 when divided by "
            f"{modulus}? Answer as a whole number.",
            f"As a whole number between 0 and {modulus}, give the multiplicative inverse of {number} modulo {modulus}.",
            f"Find the least positive integer x with {number} * x ≡ 1 (mod {modulus}) and give it as a whole number.",
        ),
        derivation=derivation,
        given={"number": number, "modulus": modulus},
    )


@TEMPLATES.at(3, 4, 5, 6)
def trailing_zeros(source: Source, level: int) -> Made:
    """Count the zeros at the end of a factorial."""
    low, high, bases = {
        3: (21, 120, (10,)),
        4: (1001, 9999, (10,)),
        5: (2001, 9999, (12, 18, 24, 45, 48, 72)),
        6: (10**9, 10**10, (432, 360, 720, 864, 1296)),
    }[level]
    number, base = source.integer(low, high), source.choice(bases)
    counts = []
    for prime, power in factored(base).items():
        rest, total = number, 0
        while rest:
            rest //= prime
            total += rest
        counts.append(total // power)
    derivation = (
        f"found = []\nfor prime, power in {list(factored(base).items())}:\n    rest, total = {number}, 0\n   "
        " while rest > 0:\n        rest = rest // prime\n        total += rest\n    found.append(total // "
        "power)\nanswer = min(found)"
    )
    return Made(
        answer=str(min(counts)),
        questions=(
            f"With how many zeros does {number}! end when it is written in base {base}? Answer as a whole number.",
            f"As a whole number, what is the largest k for which {base}^k divides {number}! (the factorial)?",
            f"The product of all integers from 1 to {number} is divided by {base} again and again, as long "
            "as no remainder occurs. Give the number of divisions.",
        ),
        derivation=derivation,
        given={"number": number, "base": base},
    )


@TEMPLATES.at(5, 6)
def square_sums(source: Source, level: int) -> Made | None:
    """Count the ways to write a number as a sum of two squares."""
    primes = source.sample((5, 13, 17, 29, 37, 41), {5: 2, 6: 4}[level])
    number = prod(primes) * source.choice(primes) * source.choice((1, 2, 5))
    low, high = {5: (1000, 20000), 6: (200000, 3000000)}[level]
    if not low <= number <= high:
        return None
    ways = 0
    for a in range(1, isqrt(number // 2) + 1):
        rest = number - a * a
        ways += isqrt(rest) ** 2 == rest
    derivation = (
        f"n, answer, b = {number}, 0, {isqrt(number)}\nfor a in range(1, {isqrt(number)} + 1):\n    while b "
        "> 0 and a * a + b * b > n:\n        b -= 1\n    if a <= b and a * a + b * b == n:\n        answer "
        "+= 1"
    )
    return Made(
        answer=str(ways),
        questions=(
            f"In how many ways is {number} a sum a^2 + b^2 of 2 positive squares, order ignored? Answer as a number.",
            f"As a number, count the pairs of integers a and b with 0 < a ≤ b and a^2 + b^2 = {number}.",
            "How many points (x, y) with whole-number coordinates and 0 < x ≤ y lie on the circle x^2 + "
            f"y^2 = {number}? Answer as a number.",
        ),
        derivation=derivation,
        given={"number": number},
    )
