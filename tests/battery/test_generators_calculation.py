"""Arithmetic, algebra, geometry and number theory: every answer by a second method."""

from __future__ import annotations

from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from math import comb, factorial, gcd, isqrt, prod
from typing import Any

from seeded import confirm

EXACT = Context(prec=400)


def times(*factors: int) -> int:
    return int(reduce(EXACT.multiply, map(Decimal, factors)))


def only(values: Any) -> Any:
    (value,) = values
    return value


def reduced(top: int, bottom: int) -> str:
    shared = gcd(top, bottom) * (1 if bottom > 0 else -1)
    return str(top // shared) if bottom == shared else f"{top // shared}/{bottom // shared}"


def laplace(rows: list[list[int]]) -> int:
    """Return a determinant by expansion along the rows, one subset of columns after another."""
    size = len(rows)
    value = {0: 1}
    for count, row in enumerate(rows):
        wider: dict[int, int] = {}
        for used, minor in value.items():
            for column in range(size):
                if not used >> column & 1:
                    sign = (-1) ** (used >> column).bit_count()
                    wider[used | 1 << column] = wider.get(used | 1 << column, 0) + sign * row[column] * minor
        value = wider
        assert len(value) == comb(size, count + 1)
    return value[(1 << size) - 1]


def matrix_power(rows: list[list[int]], exponent: int) -> list[list[int]]:
    result = [[int(i == j) for j in range(len(rows))] for i in range(len(rows))]
    columns = list(zip(*rows, strict=True))
    for _ in range(exponent):
        result = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in result]
    return result


def common_denominator(parts: list[list[int]]) -> str:
    bottom = prod(part[1] for part in parts)
    return reduced(sum(top * (bottom // own) for top, own in parts), bottom)


def root_by_bisection(number: int) -> int:
    low, high = 0, number
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle * middle <= number else (low, middle)
    return low


def greedy_digits(number: int, base: int) -> str:
    place = 1
    while place * base <= number:
        place *= base
    digits = ""
    while place:
        digits += str(number // place)
        number -= number // place * place
        place //= base
    return digits


def test_arithmetic() -> None:
    confirm(
        "arithmetic",
        {
            "addition": lambda a, b, c: EXACT.add(EXACT.add(Decimal(c), Decimal(b)), Decimal(a)),
            "subtraction": lambda a, b: EXACT.subtract(Decimal(a), Decimal(b)),
            "sum-with-product": lambda a, b, c: a + sum([b] * c),
            "difference-of-products": lambda a, b, c, d: sum([a] * b) - sum([c] * d),
            "product": lambda a, b: sum(a * int(d) * 10**k for k, d in enumerate(reversed(str(b)))),
            "fraction-sum": common_denominator,
            "percentage": lambda percent, whole: Fraction(percent, 100) * whole,
            "price-changes": lambda price, up, down: (p := price + price * Fraction(up, 100)) - p * Fraction(down, 100),
            "power": lambda base, exponent: times(*[base] * exponent),
            "square-root": root_by_bisection,
            "number-base": greedy_digits,
            "digit-sum": lambda factors: sum(map(int, str(times(*factors)))),
        },
    )


def larger_rational_root(coefficients: list[int]) -> Fraction:
    a, b, c = coefficients
    return max(Fraction(p, a) for p in range(-150, 151) if p * p + b * p + a * c == 0)


def companion_trace(lower: list[int], power: int) -> int:
    size = len(lower)
    rows = [[int(j == i + 1) for j in range(size)] for i in range(size - 1)] + [[-c for c in reversed(lower)]]
    result = matrix_power(rows, power)
    return sum(result[i][i] for i in range(size))


def multinomial_coefficient(base: list[int], exponent: int, place: int) -> int:
    constant, *others = reversed(base)
    total = 0
    for powers in product(*(range(place // (k + 1) + 1) for k in range(len(others)))):
        rest = exponent - sum(powers)
        if sum((k + 1) * n for k, n in enumerate(powers)) == place and rest >= 0:
            ways = factorial(exponent) // prod(map(factorial, [*powers, rest]))
            total += ways * constant**rest * prod(c**n for c, n in zip(others, powers, strict=True))
    return total


def by_square_root(total: int, power: int) -> int:
    """Return x^n + 1/x^n from x = (t + sqrt(t^2 - 4)) / 2, powers being held as (a + b sqrt(d)) / 2."""
    d = total * total - 4
    a, b = 2, 0
    for _ in range(power):
        a, b = (a * total + b * d) // 2, (a + b * total) // 2
    return a


def cramer(rows: list[list[int]], right: list[int]) -> Fraction:
    replaced = [[value, *row[1:]] for row, value in zip(rows, right, strict=True)]
    return Fraction(laplace(replaced), laplace(rows))


def squared_remainder(power: int, p: int, q: int) -> int:
    """Return the coefficient of x in x^power modulo x^2 + px + q, by repeated squaring."""
    a, b = 0, 1
    for digit in f"{power:b}":
        a, b = 2 * a * b - p * a * a, b * b - q * a * a
        if digit == "1":
            a, b = b - p * a, -q * a
    return a


def moebius(a: int, b: int, c: int, d: int, start: int, steps: int) -> str:
    (p, q), (r, s) = matrix_power([[a, b], [c, d]], steps)
    return reduced(p * start + q, r * start + s)


def test_algebra() -> None:
    confirm(
        "algebra",
        {
            "linear-equation": lambda a, b, c: only(x for x in range(-50, 50) if a * x + b == c),
            "equal-prices": lambda count, fee, total: only(x for x in range(100) if count * x + fee == total),
            "sum-and-difference": lambda total, gap: only(x for x in range(total) if x - (total - x) == gap),
            "evaluation": lambda coefficients, x: sum(c * x**k for k, c in enumerate(reversed(coefficients))),
            "both-sides": lambda a, b, c, d: only(x for x in range(100) if a * x + b == c * x + d),
            "two-unknowns": lambda a, b, c, d, e, f: only(
                x for x in range(-15, 16) for y in range(-15, 16) if a * x + b * y == e and c * x + d * y == f
            ),
            "ages": lambda times, later, years: only(
                x for x in range(1, 100) if times * x + years == later * (x + years)
            ),
            "larger-root": larger_rational_root,
            "power-sums": companion_trace,
            "coefficient": multinomial_coefficient,
            "reciprocal-powers": by_square_root,
            "several-unknowns": cramer,
            "polynomial-remainder": squared_remainder,
            "iterated-map": moebius,
        },
    )


def painted(sides: list[int], word: str) -> int:
    wanted = {"no painted face": 0, "one painted face": 1, "two painted faces": 2}[word]
    return sum(
        sum(x in {0, side - 1} for x, side in zip(cube, sides, strict=True)) == wanted
        for cube in product(*map(range, sides))
    )


def apex(sides: list[int]) -> tuple[Fraction, Fraction]:
    """Return the third corner of a triangle whose longest side lies on the x axis, from (0, 0) on."""
    a, b, c = sorted(sides)
    x = Fraction(b * b + c * c - a * a, 2 * c)
    square = b * b - x * x
    return x, Fraction(isqrt(square.numerator), isqrt(square.denominator))


def circle_through_corners(sides: list[int]) -> Fraction:
    (x, y), c = apex(sides), max(sides)
    up = (x * x + y * y - c * x) / (2 * y)
    square = Fraction(c * c, 4) + up * up
    return Fraction(isqrt(square.numerator), isqrt(square.denominator))


def trapezoids(corners: list[list[int]]) -> Fraction:
    edges = zip(corners, corners[1:] + corners[:1], strict=True)
    return abs(sum((Fraction((y1 + y2) * (x1 - x2), 2) for (x1, y1), (x2, y2) in edges), Fraction()))


def points_by_rows(corners: list[list[int]]) -> int:
    """Return the number of lattice points inside a triangle, row by row between its borders."""
    (x1, low), (x2, middle), (x3, high) = sorted(corners, key=lambda corner: corner[1])
    found = 0
    for y in range(low + 1, high):
        # the long side and the short side at this height, as numerators and denominators
        sides = [(x1 * (high - low) + (y - low) * (x3 - x1), high - low)]
        if y < middle:
            sides.append((x1 * (middle - low) + (y - low) * (x2 - x1), middle - low))
        elif y > middle or middle == high:
            sides.append((x2 * (high - middle) + (y - middle) * (x3 - x2), high - middle))
        else:
            sides.append((x2, 1))
        (p, q), (r, s) = sides if sides[0][0] * sides[1][1] <= sides[1][0] * sides[0][1] else sides[::-1]
        found += max(0, -(-r // s) - p // q - 1)
    return found


def crossing(points: list[list[int]]) -> Fraction:
    """Return the x coordinate at which two lines ax + by = c meet."""
    lines = [(y2 - y1, x1 - x2, x1 * y2 - x2 * y1) for (x1, y1), (x2, y2) in (points[:2], points[2:])]
    (a, b, c), (d, e, f) = lines
    return Fraction(c * e - b * f, a * e - b * d)


def barycentric_centre(points: list[list[int]]) -> Fraction:
    squares = [(p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 for p, q in combinations(reversed(points), 2)]
    weights = [s * (sum(squares) - 2 * s) for s in squares]
    return Fraction(sum(w * x for w, (x, _) in zip(weights, points, strict=True)), sum(weights))


def third_side(legs: tuple[int, ...] | list[int] = (), hypotenuse: Any = (0,), leg: Any = (0,)) -> int:
    square = sum(side * side for side in legs) if legs else hypotenuse[0] ** 2 - leg[0] ** 2
    return next(n for n in range(1, 2000) if n * n == square)


def test_geometry() -> None:
    confirm(
        "geometry",
        {
            "rectangle": lambda a, b: sum(1 for _ in product(range(a), range(b))),
            "third-angle": lambda a, b: only(c for c in range(180) if a + b + c == 180),
            "triangle": lambda base, height: trapezoids([[0, 0], [base, 0], [7, height]]),
            "cuboid": lambda a, b, c: sum(b * c for _ in range(a)),
            "surface": lambda a, b, c: (a + b + c) ** 2 - a * a - b * b - c * c,
            "rectangle-perimeter": lambda area, side: 2 * side + 2 * only(b for b in range(99) if b * side == area),
            "right-triangle": third_side,
            "trapezoid": lambda a, c, height: min(a, c) * height + Fraction(abs(a - c) * height, 2),
            "diagonals": lambda corners: sum(
                (b - a) % corners not in {1, corners - 1} for a, b in combinations(range(corners), 2)
            ),
            "painted-block": painted,
            "three-sides": lambda sides: apex(sides)[1] * max(sides) / 2,
            "circumradius": circle_through_corners,
            "polygon-area": trapezoids,
            "lattice-points": points_by_rows,
            "line-crossing": crossing,
            "tetrahedron": lambda corners: Fraction(abs(laplace([[*corner, 1] for corner in corners])), 6),
            "circle-centre": barycentric_centre,
        },
    )


def binary_gcd(a: int, b: int) -> int:
    shift = 0
    while (a | b) & 1 == 0:
        a, b, shift = a >> 1, b >> 1, shift + 1
    while a:
        while a & 1 == 0:
            a >>= 1
        while b & 1 == 0:
            b >>= 1
        a, b = (a - b, b) if a >= b else (b - a, a)
    return b << shift


def primes_of(number: int) -> Counter[int]:
    found: Counter[int] = Counter()
    divisor = 2
    while number > 1:
        while number % divisor == 0:
            number //= divisor
            found[divisor] += 1
        divisor += 1
        if divisor * divisor > number > 1:
            found[number] += 1
            break
    return found


def probable_prime(number: int) -> bool:
    """Return whether a number below 3 * 10^9 is prime (Miller and Rabin's test to four bases is exact there)."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7):
        if number % base == 0:
            return number == base
        powers = [pow(base, odd << k, number) for k in range(twos)]
        if powers[0] != 1 and number - 1 not in powers:
            return False
    return True


def all_divisors(number: int) -> list[int]:
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def squared_power(base: int, exponent: int, modulus: int) -> int:
    result = 1
    for digit in f"{exponent:b}":
        result = result * result % modulus
        if digit == "1":
            result = result * base % modulus
    return result


def bezout(number: int, modulus: int) -> int:
    a, b, x, y = number, modulus, 1, 0
    while b:
        a, b, x, y = b, a % b, y, x - a // b * y
    return x % modulus


def gauss(moduli: list[int], residues: list[int]) -> int:
    whole = prod(moduli)
    return sum(r * (whole // m) * bezout(whole // m % m, m) for m, r in zip(moduli, residues, strict=True)) % whole


def coprimes(number: int) -> object:
    if number < 1000:
        return sum(gcd(k, number) == 1 for k in range(1, number + 1))
    return number * prod((1 - Fraction(1, p) for p in primes_of(number)), start=Fraction(1))


def zeros(number: int, base: int) -> int:
    """Return the zeros at the end of a factorial by Legendre's formula with digit sums."""
    return min((number - sum(digits(number, p))) // (p - 1) // k for p, k in primes_of(base).items())


def digits(number: int, base: int) -> list[int]:
    return [] if number == 0 else [*digits(number // base, base), number % base]


def two_squares(number: int) -> int:
    """Return the sums of two positive squares by Jacobi's theorem, all odd prime factors being 1 modulo 4."""
    every = 4 * prod(k + 1 for p, k in primes_of(number).items() if p > 2)
    square, double = isqrt(number) ** 2 == number, number % 2 == 0 and isqrt(number // 2) ** 2 == number // 2
    return (every - 4 * square - 4 * double) // 8 + double


def test_number_theory() -> None:
    confirm(
        "number_theory",
        {
            "common-divisor": binary_gcd,
            "common-multiple": lambda numbers: prod(
                p**k for p, k in reduce(lambda a, b: a | b, map(primes_of, numbers)).items()
            ),
            "remainder": lambda number, divisor: (
                number - only(k * divisor for k in range(number) if 0 <= number - k * divisor < divisor)
            ),
            "next-prime": lambda start: next(n for n in range(start + 1, 2 * start) if probable_prime(n)),
            "divisor-count": lambda number: len(all_divisors(number)),
            "divisor-sum": lambda number: sum(all_divisors(number)),
            "last-digits": lambda base, exponent, two: int(str(base**exponent)[-2 if two else -1 :]),
            "power-remainder": squared_power,
            "congruences": gauss,
            "coprime-count": coprimes,
            "largest-prime-factor": lambda number: max(primes_of(number)),
            "inverse": bezout,
            "trailing-zeros": zeros,
            "square-sums": two_squares,
        },
    )
