"""Numbers, lists and polynomials as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def listed(items: Iterable[object]) -> str:
    """Return the items as "a, b and c"."""
    texts = [str(item) for item in items]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def commas(items: Iterable[object]) -> str:
    """Return the items as "a, b, c"."""
    return ", ".join(str(item) for item in items)


def tuples(rows: Iterable[Iterable[object]]) -> str:
    """Return the rows as "(a, b), (c, d) and (e, f)"."""
    return listed(f"({commas(row)})" for row in rows)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return the number with its noun, in the plural where the number is not 1."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def ordinal(number: int) -> str:
    """Return "1st", "2nd", "3rd", "4th" and so on."""
    if number % 100 in {11, 12, 13}:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def linear_form(coefficients: Sequence[int], terms: Sequence[str]) -> str:
    """Return "2x - 3y + 5" for the coefficients 2, -3, 5 and the terms "x", "y", "" (a constant)."""
    text = ""
    for coefficient, term in zip(coefficients, terms, strict=True):
        if coefficient:
            size = "" if abs(coefficient) == 1 and term else str(abs(coefficient))
            sign = " - " if coefficient < 0 else " + "
            text += (sign if text else sign.strip(" +")) + size + term
    return text or "0"


def polynomial(coefficients: Sequence[int], variable: str = "x") -> str:
    """Return a polynomial as text, its coefficients given from the highest power down to the constant."""
    degree = len(coefficients) - 1
    powers = [f"{variable}^{power}" for power in range(degree, 1, -1)]
    return linear_form(coefficients, [*powers, variable, ""][-degree - 1 :])
