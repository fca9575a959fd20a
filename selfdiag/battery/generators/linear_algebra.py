"""Linear algebra: vectors, determinants, inverses, ranks, powers and systems, exactly."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from selfdiag.battery.generators.exact import determinant, multiplied, powered, solved
from selfdiag.battery.generators.exact import rank as rank_of
from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import commas, linear_form, ordinal, tuples

TEMPLATES = Templates("linear_algebra")

_FORM = "a fraction in lowest terms"
_TIMES = "[[sum([a[i][k] * b[k][j] for k in range(len(b))]) for j in range(len(b[0]))] for i in range(len(a))]"
_ELIMINATE = (
    "n, det, rank = len(m), Fraction(1), 0\nfor c in range(len(m[0])):\n    rows = [r for r in range(rank, "
    "n) if m[r][c] != 0]\n    if len(rows) > 0 and rank < n:\n        if rows[0] != rank:\n            "
    "m[rank], m[rows[0]] = m[rows[0]], m[rank]\n            det = -det\n        det *= m[rank][c]\n        "
    "m[rank] = [v / Fraction(m[rank][c]) for v in m[rank]]\n        for r in range(n):\n            if r != "
    "rank:\n                f = m[r][c]\n                m[r] = [m[r][j] - f * m[rank][j] for j in "
    "range(len(m[0]))]\n        rank += 1\n"
)


def _matrix(source: Source, rows: int, columns: int, high: int) -> list[list[int]]:
    return [[source.integer(-high, high) for _ in range(columns)] for _ in range(rows)]


def _vector(source: Source, size: int, high: int) -> list[int]:
    return [source.signed(1, high) for _ in range(size)]


def _shown(vector: list[int]) -> str:
    return f"({commas(vector)})"


def _plain(rows: list[list[int]]) -> str:
    return "; ".join(" ".join(map(str, row)) for row in rows)


@TEMPLATES.at(1, 2)
def dot_product(source: Source, level: int) -> Made:
    """Find a dot product."""
    size, high = {1: (2, 9), 2: (4, 9)}[level]
    u, v = _vector(source, size, high), _vector(source, size, high)
    return Made(
        answer=str(sum(a * b for a, b in zip(u, v, strict=True))),
        questions=(
            f"What is the dot product of {_shown(u)} and {_shown(v)}? Answer as a number.",
            f"As a number, give the scalar product of the vectors {_shown(v)} and {_shown(u)}.",
            f"Take u = {_shown(u)} and v = {_shown(v)}. Compute u · v and answer as a number.",
        ),
        derivation=f"sum([a * b for a, b in zip({u}, {v})])",
        given={"u": u, "v": v},
    )


@TEMPLATES.at(1, 2)
def combination(source: Source, level: int) -> Made:
    """Find a linear combination of two vectors."""
    size, high = {1: (2, 9), 2: (3, 12)}[level]
    u, v = _vector(source, size, high), _vector(source, size, high)
    s, t = source.integer(2, 5), source.signed(2, 5) if level == 2 else 1
    text = linear_form((s, t), ("u", "v"))
    numbers = {2: "two", 3: "three"}[size]
    return Made(
        answer=commas(s * a + t * b for a, b in zip(u, v, strict=True)),
        questions=(
            f"Let u = {_shown(u)} and v = {_shown(v)}. What is {text}? Answer with the {numbers} "
            "coordinates in order, separated by commas.",
            f"Give the coordinates of the vector {text}, in order and separated by commas, for v = "
            f"{_shown(v)} and u = {_shown(u)}.",
            f"Which vector is {text} if u is {_shown(u)} and v is {_shown(v)}? Write its {numbers} "
            "coordinates in order with commas between them.",
        ),
        derivation=f"', '.join([str({s} * a + ({t}) * b) for a, b in zip({u}, {v})])",
        given={"u": u, "v": v, "s": s, "t": t},
        kind="sequence",
    )


_LENGTHS = tuple(
    (a, b, c)
    for a in range(1, 13)
    for b in range(a, 13)
    for c in range(b, 15)
    if isqrt(a * a + b * b + c * c) ** 2 == a * a + b * b + c * c
)


@TEMPLATES.at(1, 2)
def length(source: Source, level: int) -> Made:
    """Find the length of a vector."""
    if level == 1:
        factor = source.integer(1, 6)
        v = [factor * side for side in source.choice(((3, 4), (5, 12), (8, 15)))]
    else:
        v = list(source.choice(_LENGTHS))
    v = [value * source.choice((1, -1)) for value in source.shuffled(v)]
    return Made(
        answer=str(isqrt(sum(value * value for value in v))),
        questions=(
            f"What is the length (Euclidean norm) of the vector {_shown(v)}? Answer as a number.",
            f"As a number, how far is the point {_shown(v)} from the origin?",
            f"Add the squares of the coordinates of {_shown(v)} and give the square root of the sum as a number.",
        ),
        derivation=f"math.isqrt(sum([a * a for a in {v}]))",
        given={"v": v},
    )


@TEMPLATES.at(1)
def trace(source: Source, level: int) -> Made:  # noqa: ARG001
    """Find the trace of a matrix."""
    rows = _matrix(source, 3, 3, 9)
    return Made(
        answer=str(sum(rows[i][i] for i in range(3))),
        questions=(
            f"What is the trace of the matrix with the rows {tuples(rows)}? Answer as a number.",
            f"As a number, give the sum of the entries on the main diagonal of {rows} (a matrix, row by row).",
            f"A matrix reads, row by row: {_plain(rows)}. Find its trace and answer as a number.",
        ),
        derivation=f"m = {rows}\nanswer = m[0][0] + m[1][1] + m[2][2]",
        given={"rows": rows},
    )


@TEMPLATES.at(2, 3, 4, 5, 6)
def determinant_value(source: Source, level: int) -> Made:
    """Find a determinant."""
    size, high = {2: (2, 9), 3: (3, 6), 4: (4, 5), 5: (5, 9), 6: (7, 12)}[level]
    rows = _matrix(source, size, size, high)
    return Made(
        answer=str(determinant(rows)),
        questions=(
            f"What is the determinant of the matrix with the rows {tuples(rows)}? Answer as a whole number.",
            f"As a whole number, give det A for the square matrix A = {rows}, written row by row.",
            f"A matrix reads, row by row: {_plain(rows)}. Compute its determinant and answer as a whole number.",
        ),
        derivation=f"m = {rows}\n{_ELIMINATE}answer = det if rank == n else 0",
        given={"rows": rows},
    )


@TEMPLATES.at(2, 3)
def image(source: Source, level: int) -> Made:
    """Multiply a matrix by a vector."""
    size, high = {2: (2, 6), 3: (3, 9)}[level]
    rows, v = _matrix(source, size, size, high), _vector(source, size, high)
    return Made(
        answer=commas(sum(a * b for a, b in zip(row, v, strict=True)) for row in rows),
        questions=(
            f"Let A be the matrix with the rows {tuples(rows)}, and v = {_shown(v)} a column vector. What "
            "is Av? Answer with its coordinates in order, separated by commas.",
            f"Multiply the matrix {rows} (row by row) by the column vector {_shown(v)}. Give the "
            "coordinates of the product in order, with commas between them.",
            f"A linear map has the matrix {_plain(rows)} (rows separated by semicolons). To which vector "
            f"does it send {_shown(v)}? Write the coordinates in order, separated by commas.",
        ),
        derivation=f"', '.join([str(sum([a * b for a, b in zip(row, {v})])) for row in {rows}])",
        given={"rows": rows, "v": v},
        kind="sequence",
    )


@TEMPLATES.at(2, 3)
def product_entry(source: Source, level: int) -> Made:
    """Find an entry of a matrix product."""
    size, high = {2: (2, 7), 3: (3, 12)}[level]
    a, b = _matrix(source, size, size, high), _matrix(source, size, size, high)
    i, j = source.integer(1, size), source.integer(1, size)
    return Made(
        answer=str(multiplied(a, b)[i - 1][j - 1]),
        questions=(
            f"A has the rows {tuples(a)} and B the rows {tuples(b)}. Which entry does AB have in row {i}, "
            f"column {j}? Answer as a number.",
            f"As a number, give the entry in row {i} and column {j} of the matrix product {a} times {b} "
            "(both row by row).",
            f"Multiply the matrix with the rows {_plain(a)} from the right by the matrix with the rows "
            f"{_plain(b)}. What stands in row {i}, column {j} of the product? Answer as a number.",
        ),
        derivation=f"a = {a}\nb = {b}\nanswer = {_TIMES}[{i - 1}][{j - 1}]",
        given={"a": a, "b": b, "i": i, "j": j},
    )


@TEMPLATES.at(3)
def cross_product(source: Source, level: int) -> Made:  # noqa: ARG001
    """Find a cross product."""
    (a, b, c), (d, e, f) = u, v = _vector(source, 3, 9), _vector(source, 3, 9)
    return Made(
        answer=commas((b * f - c * e, c * d - a * f, a * e - b * d)),
        questions=(
            f"What is the cross product {_shown(u)} × {_shown(v)}? Answer with the three coordinates in "
            "order, separated by commas.",
            f"Let u = {_shown(u)} and v = {_shown(v)}. Give the coordinates of the vector product u × v in "
            "order, with commas between them.",
            "Write the three coordinates, in order and separated by commas, of the vector product whose "
            f"first factor is {_shown(u)} and whose second factor is {_shown(v)}.",
        ),
        derivation=(
            f"(a, b, c), (d, e, f) = {u}, {v}\n"
            "answer = ', '.join([str(x) for x in [b * f - c * e, c * d - a * f, a * e - b * d]])"
        ),
        given={"u": u, "v": v},
        kind="sequence",
    )


@TEMPLATES.at(3, 4)
def larger_eigenvalue(source: Source, level: int) -> Made | None:
    """Find the larger eigenvalue of a matrix with whole-number eigenvalues."""
    low, high = {3: (1, 7), 4: (4, 25)}[level]
    p, q = source.signed(low, high), source.signed(low, high)
    a = source.integer(-high, high)
    d = p + q - a
    product = a * d - p * q
    divisors = [n for n in range(2, 30) if product % n == 0]
    if p == q or product == 0 or not divisors:
        return None
    b = source.choice(divisors)
    rows = [[a, b], [product // b, d]]
    c = product // b
    return Made(
        answer=str(max(p, q)),
        questions=(
            f"What is the larger eigenvalue of the matrix with the rows {tuples(rows)}? Answer as a number.",
            f"As a number, find the greatest x for which the matrix {rows} (row by row) minus x times the "
            "identity matrix is singular.",
            f"The matrix that reads {_plain(rows)}, row by row, stretches some vectors without turning them "
            "out of their line. Give the greater of its two eigenvalues as a number.",
        ),
        derivation=f"Fraction({a} + ({d}) + math.isqrt(({a} - ({d}))**2 + 4 * ({b}) * ({c})), 2)",
        given={"rows": rows},
    )


@TEMPLATES.at(3, 4, 5)
def rank(source: Source, level: int) -> Made | None:
    """Find the rank of a matrix."""
    size, columns, inner = {
        3: (3, 4, source.integer(1, 2)),
        4: (4, 5, source.integer(2, 4)),
        5: (6, 7, source.integer(3, 5)),
    }[level]
    rows = multiplied(_matrix(source, size, inner, 3), _matrix(source, inner, columns, 4))
    if not all(map(any, rows)):
        return None
    return Made(
        answer=str(rank_of(rows)),
        questions=(
            f"What is the rank of the matrix with the rows {tuples(rows)}? Answer as a number.",
            f"As a number, how many dimensions does the space spanned by the vectors {tuples(rows)} have?",
            f"A matrix reads, row by row: {_plain(rows)}. Give the largest number of linearly independent rows in it.",
        ),
        derivation=f"m = {rows}\n{_ELIMINATE}answer = rank",
        given={"rows": rows},
    )


@TEMPLATES.at(4, 5, 6)
def inverse_entry(source: Source, level: int) -> Made | None:
    """Find an entry of an inverse matrix."""
    size, high = {4: (3, 5), 5: (4, 7), 6: (6, 9)}[level]
    rows = _matrix(source, size, size, high)
    i, j = source.integer(1, size), source.integer(1, size)
    found = solved(rows, [int(k == j - 1) for k in range(size)], i - 1)
    if found is None or found.denominator == 1:
        return None
    minor = [row[: i - 1] + row[i:] for k, row in enumerate(rows) if k != j - 1]
    derivation = (
        f"dets = []\nfor m in [{rows}, {minor}]:\n    "
        f"{_ELIMINATE.rstrip().replace(chr(10), chr(10) + '    ')}\n    dets.append(det if rank == n else "
        f"0)\nanswer = {(-1) ** (i + j)} * dets[1] / Fraction(dets[0])"
    )
    return Made(
        answer=str(found),
        questions=(
            f"Invert the matrix with the rows {tuples(rows)}. Which entry stands in row {i}, column {j} of "
            f"the inverse? Answer as {_FORM}.",
            f"As {_FORM}, give the entry in row {i} and column {j} of the inverse of the matrix {rows}, "
            "which is written row by row.",
            f"A matrix A reads, row by row: {_plain(rows)}. Let B be its inverse and give the entry of B in "
            f"row {i}, column {j}, as {_FORM}.",
        ),
        derivation=derivation,
        given={"rows": rows, "i": i, "j": j},
    )


@TEMPLATES.at(4, 5, 6)
def power_trace(source: Source, level: int) -> Made:
    """Find the trace of a power of a matrix."""
    size, high, low, top = {4: (2, 4, 4, 5), 5: (3, 4, 5, 6), 6: (4, 6, 9, 11)}[level]
    rows, exponent = _matrix(source, size, size, high), source.integer(low, top)
    result = powered(rows, exponent)
    return Made(
        answer=str(sum(result[i][i] for i in range(size))),
        questions=(
            f"Let A be the matrix with the rows {tuples(rows)}. What is the trace of A^{exponent}? Answer "
            "as a whole number.",
            f"As a whole number, give the sum of the diagonal entries of the power with exponent {exponent} "
            f"of the matrix {rows}, written row by row.",
            f"A matrix reads, row by row: {_plain(rows)}. Multiply {exponent} copies of it together and "
            "give the trace of the product as a whole number.",
        ),
        derivation=f"b = {rows}\na = {rows}\nfor step in range({exponent - 1}):\n    a = {_TIMES}\n"
        f"answer = sum([a[i][i] for i in range({size})])",
        given={"rows": rows, "exponent": exponent},
    )


@TEMPLATES.at(4, 5, 6)
def unknown(source: Source, level: int) -> Made | None:
    """Find one unknown of a linear system."""
    size, high = {4: (3, 6), 5: (4, 9), 6: (6, 15)}[level]
    rows, right = _matrix(source, size, size, high), _vector(source, size, 3 * high)
    place = source.integer(1, size)
    found = solved(rows, right, place - 1)
    if found is None or found.denominator == 1:
        return None
    joined = [[*row, value] for row, value in zip(rows, right, strict=True)]
    derivation = f"m = {joined}\n{_ELIMINATE}answer = m[{place - 1}][n]"
    return Made(
        answer=str(found),
        questions=(
            f"Let A have the rows {tuples(rows)} and let b = {_shown(right)}. What is the {ordinal(place)} "
            f"coordinate of the solution x of Ax = b? Answer as {_FORM}.",
            f"As {_FORM}, give the {ordinal(place)} coordinate of the vector that the matrix {rows} (row by "
            f"row) sends to {_shown(right)}.",
            f"A linear system has the coefficient matrix {_plain(rows)} (rows separated by semicolons) and "
            f"the right-hand side {_shown(right)}. Give its {ordinal(place)} unknown as {_FORM}.",
        ),
        derivation=derivation,
        given={"rows": rows, "right": right, "place": place},
    )


@TEMPLATES.at(5, 6)
def characteristic_coefficient(source: Source, level: int) -> Made:
    """Find a coefficient of a characteristic polynomial, by the Faddeev-LeVerrier recurrence."""
    size, high = {5: (4, 7), 6: (6, 9)}[level]
    rows = _matrix(source, size, size, high)
    current = [[int(i == j) for j in range(size)] for i in range(size)]
    value = 1
    for step in range(1, size - 1):
        current = multiplied(rows, current)
        value = -sum(current[i][i] for i in range(size)) // step
        for i in range(size):
            current[i][i] += value
    derivation = (
        f"a = {rows}\nb = [[int(i == j) for j in range({size})] for i in range({size})]\nfor step in "
        f"range(1, {size - 1}):\n    b = {_TIMES}\n    answer = -sum([b[i][i] for i in range({size})]) // "
        f"step\n    b = [[b[i][j] + answer * int(i == j) for j in range({size})] for i in range({size})]"
    )
    return Made(
        answer=str(value),
        questions=(
            "What is the coefficient of x^2 in det(xI - A) if A is the matrix with the rows "
            f"{tuples(rows)}? Answer as a whole number.",
            f"The characteristic polynomial det(xI - A) of A = {rows} (row by row) has the leading "
            "coefficient 1. As a whole number, what is its coefficient of x^2?",
            f"A square matrix reads, row by row: {_plain(rows)}. Subtract it from x times the identity "
            "matrix and expand the determinant in powers of x. Give the coefficient of x^2 as a whole "
            "number.",
        ),
        derivation=derivation,
        given={"rows": rows},
    )


@TEMPLATES.at(4)
def projection(source: Source, level: int) -> Made | None:  # noqa: ARG001
    """Find a coordinate of an orthogonal projection."""
    u, v = _vector(source, 3, 9), _vector(source, 3, 9)
    value = Fraction(sum(a * b for a, b in zip(u, v, strict=True)) * v[0], sum(b * b for b in v))
    if value.denominator == 1:
        return None
    return Made(
        answer=str(value),
        questions=(
            f"The vector {_shown(u)} is projected orthogonally onto the line spanned by {_shown(v)}. What "
            f"is the first coordinate of the projection? Answer as {_FORM}.",
            f"As {_FORM}, give the first coordinate of the point nearest to {_shown(u)} on the straight "
            f"line through the origin and {_shown(v)}.",
            f"Write {_shown(u)} as the sum of a multiple of {_shown(v)} and a vector perpendicular to it. "
            f"Give the first coordinate of the multiple as {_FORM}.",
        ),
        derivation=(
            f"u, v = {u}, {v}\nanswer = Fraction(sum([a * b for a, b in zip(u, v)]) * v[0], sum([b * b for b in v]))"
        ),
        given={"u": u, "v": v},
    )
