"""Exact arithmetic that several bins share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

Matrix = Sequence[Sequence[int]]


def rank(rows: Matrix) -> int:
    """Return the rank of a matrix of whole numbers, by elimination without division."""
    matrix = [list(row) for row in rows]
    found = 0
    for column in range(len(matrix[0])):
        row = next((r for r in range(found, len(matrix)) if matrix[r][column]), None)
        if row is None:
            continue
        matrix[found], matrix[row] = matrix[row], matrix[found]
        top = matrix[found]
        for other in range(found + 1, len(matrix)):
            factor = matrix[other][column]
            matrix[other] = [a * top[column] - b * factor for a, b in zip(matrix[other], top, strict=True)]
        found += 1
        if found == len(matrix):
            break
    return found


def determinant(rows: Matrix) -> int:
    """Return the determinant of a square matrix of whole numbers, by Bareiss' division-free elimination."""
    matrix = [list(row) for row in rows]
    size, sign, previous = len(matrix), 1, 1
    for k in range(size - 1):
        if matrix[k][k] == 0:
            row = next((r for r in range(k + 1, size) if matrix[r][k]), None)
            if row is None:
                return 0
            matrix[k], matrix[row] = matrix[row], matrix[k]
            sign = -sign
        for i in range(k + 1, size):
            for j in range(k + 1, size):
                value = matrix[i][j] * matrix[k][k] - matrix[i][k] * matrix[k][j]
                matrix[i][j] = value // previous
        previous = matrix[k][k]
    return sign * matrix[-1][-1]


def solved(rows: Matrix, right: Sequence[int], place: int) -> Fraction | None:
    """Return one unknown (0 is the first) of a square linear system by Cramer's rule, or None without a unique one."""
    whole = determinant(rows)
    if whole == 0:
        return None
    replaced = [[*row[:place], value, *row[place + 1 :]] for row, value in zip(rows, right, strict=True)]
    return Fraction(determinant(replaced), whole)


def multiplied(left: Matrix, right: Matrix) -> list[list[int]]:
    """Return the product of two matrices."""
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]


def powered(rows: Matrix, exponent: int) -> list[list[int]]:
    """Return a positive power of a square matrix."""
    result: list[list[int]] = [list(row) for row in rows]
    for digit in bin(exponent)[3:]:
        result = multiplied(result, result)
        if digit == "1":
            result = multiplied(result, rows)
    return result


def factored(number: int) -> dict[int, int]:
    """Return the prime factors of a positive number with their exponents, by trial division."""
    factors: dict[int, int] = {}
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            factors[divisor] = factors.get(divisor, 0) + 1
            number //= divisor
        divisor += 1 if divisor == 2 else 2
    if number > 1:
        factors[number] = factors.get(number, 0) + 1
    return factors


def is_prime(number: int) -> bool:
    """Return whether a number is prime, by trial division."""
    if number < 4:
        return number > 1
    if number % 2 == 0:
        return False
    divisor = 3
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 2
    return True


def totient(factors: dict[int, int]) -> int:
    """Return Euler's totient of the number with these prime factors."""
    return prod(prime ** (power - 1) * (prime - 1) for prime, power in factors.items())


def product_of(polynomials: Sequence[Sequence[int]]) -> list[int]:
    """Return the product of polynomials, coefficients from the constant upwards."""
    result = [1]
    for factor in polynomials:
        longer = [0] * (len(result) + len(factor) - 1)
        for i, a in enumerate(result):
            for j, b in enumerate(factor):
                longer[i + j] += a * b
        result = longer
    return result
