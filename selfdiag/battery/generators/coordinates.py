"""Geometry with coordinates: areas, lattice points, crossings, volumes and circles, exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key
from math import gcd

from selfdiag.battery.generators.exact import determinant
from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import tuples

TEMPLATES = Templates("geometry")

Point = tuple[int, int]

_TWICE_AREA = (
    "twice = 0\nfor (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1]):\n    twice += x1 * y2 - x2 * y1\n"
)


def _cross(first: Point, second: Point) -> int:
    return first[0] * second[1] - first[1] * second[0]


def _polygon(source: Source, corners: int, reach: int) -> list[Point] | None:
    """Return a polygon without self-crossings: seen from a point inside, its corners go round once."""
    points = [(source.integer(-reach, reach), source.integer(-reach, reach)) for _ in range(corners)]

    def compare(first: Point, second: Point) -> int:
        halves = [point[1] < 0 or (point[1] == 0 and point[0] < 0) for point in (first, second)]
        return halves[0] - halves[1] or -_cross(first, second)

    points.sort(key=cmp_to_key(compare))
    if any(_cross(a, b) <= 0 for a, b in zip(points, points[1:] + points[:1], strict=True)):
        return None
    right, up = source.integer(-reach, reach), source.integer(-reach, reach)
    return [(x + right, y + up) for x, y in points]


def _twice_area(corners: list[Point]) -> int:
    return sum(_cross(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True))


@TEMPLATES.at(3, 4, 5, 6)
def polygon_area(source: Source, level: int) -> Made | None:
    """Find the area of a polygon from its corners."""
    count, reach = {3: (3, 8), 4: (4, 25), 5: (7, 600), 6: (12, 60000)}[level]
    corners = _polygon(source, count, reach)
    if corners is None or _twice_area(corners) % 2:
        return None
    shifted = corners[2:] + corners[:2]
    return Made(
        answer=str(_twice_area(corners) // 2),
        questions=(
            f"A polygon has the corners {tuples(corners)}, in this order. What is its exact area? Answer as a number.",
            f"As a number, give the exact area of the figure with {count} straight sides whose vertices in "
            f"sequence are {tuples(corners[::-1])}.",
            f"Connect the points {tuples(shifted)} in turn and close the outline. Exactly how large is the "
            "enclosed area, as a number?",
        ),
        derivation=f"corners = {corners}\n{_TWICE_AREA}answer = abs(twice) // 2",
        given={"corners": [list(corner) for corner in corners]},
    )


@TEMPLATES.at(4, 5, 6)
def lattice_points(source: Source, level: int) -> Made | None:
    """Count the lattice points inside a triangle (Pick's theorem)."""
    corners = _polygon(source, 3, {4: 6, 5: 60, 6: 900}[level])
    if corners is None:
        return None
    edges = zip(corners, corners[1:] + corners[:1], strict=True)
    border = sum(gcd(a[0] - b[0], a[1] - b[1]) for a, b in edges)
    inside = (_twice_area(corners) - border + 2) // 2
    if inside < {4: 10, 5: 500, 6: 20000}[level]:
        return None
    derivation = (
        f"corners = {corners}\n{_TWICE_AREA}border = 0\n"
        "for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1]):\n"
        "    border += math.gcd(x1 - x2, y1 - y2)\nanswer = (abs(twice) - border + 2) // 2"
    )
    return Made(
        answer=str(inside),
        questions=(
            "How many points with two whole-number coordinates lie strictly inside the triangle with the "
            f"corners {tuples(corners)}? Answer as a whole number.",
            f"A triangle has the vertices {tuples(corners[::-1])}. Count the points (x, y) in its interior, "
            "not on its sides, for which x and y are integers, and give a whole number.",
            f"As a whole number, how many grid points (both coordinates integers) does the triangle "
            f"{tuples(corners[1:] + corners[:1])} contain, those on its boundary left out?",
        ),
        derivation=derivation,
        given={"corners": [list(corner) for corner in corners]},
    )


@TEMPLATES.at(4, 5, 6)
def line_crossing(source: Source, level: int) -> Made | None:
    """Find where two lines cross, each given by two points."""
    reach = {4: 6, 5: 40, 6: 5000}[level]
    a, b, c, d = ((source.integer(-reach, reach), source.integer(-reach, reach)) for _ in range(4))
    across = _cross((b[0] - a[0], b[1] - a[1]), (d[0] - c[0], d[1] - c[1]))
    if across == 0:
        return None
    x = Fraction(_cross(a, b) * (c[0] - d[0]) - (a[0] - b[0]) * _cross(c, d), across)
    if x.denominator == 1:
        return None
    derivation = (
        f"(x1, y1), (x2, y2), (x3, y3), (x4, y4) = {[a, b, c, d]}\nacross = (x2 - x1) * (y4 - y3) - (y2 - "
        "y1) * (x4 - x3)\nalong = (x3 - x1) * (y4 - y3) - (y3 - y1) * (x4 - x3)\nanswer = x1 + "
        "Fraction(along, across) * (x2 - x1)"
    )
    return Made(
        answer=str(x),
        questions=(
            f"One line passes through {tuples((a, b))}, another through {tuples((c, d))}. What is the x "
            "coordinate of the point where they cross? Answer as a fraction in lowest terms.",
            f"The straight line through the points {tuples((c, d))} meets the straight line through "
            f"{tuples((b, a))}. As a fraction in lowest terms, at which x does this happen?",
            f"Draw a line through {tuples((b, a))} and a second line through {tuples((d, c))}, both without "
            "end. Give the first coordinate of their common point as a fraction in lowest terms.",
        ),
        derivation=derivation,
        given={"points": [list(point) for point in (a, b, c, d)]},
    )


@TEMPLATES.at(5, 6)
def tetrahedron(source: Source, level: int) -> Made | None:
    """Find the volume of a tetrahedron from its corners."""
    reach = {5: 25, 6: 9000}[level]
    corners = [source.integers(3, -reach, reach) for _ in range(4)]
    sides = [[a - b for a, b in zip(corner, corners[0], strict=True)] for corner in corners[1:]]
    volume = Fraction(abs(determinant(sides)), 6)
    if volume.denominator == 1:
        return None
    derivation = (
        f"p = {corners}\n"
        "(a, b, c), (d, e, f), (g, h, i) = [[p[k][j] - p[0][j] for j in range(3)] for k in range(1, 4)]\n"
        "answer = Fraction(abs(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)), 6)"
    )
    return Made(
        answer=str(volume),
        questions=(
            f"A tetrahedron has the corners {tuples(corners)}. What is its volume? Answer as a fraction in "
            "lowest terms.",
            f"As a fraction in lowest terms, give the volume of the triangular pyramid with the vertices "
            f"{tuples(corners[::-1])}.",
            f"The four points {tuples(corners[2:] + corners[:2])} span a solid with four triangular faces. "
            "How large is its volume, as a fraction in lowest terms?",
        ),
        derivation=derivation,
        given={"corners": corners},
    )


@TEMPLATES.at(5, 6)
def circle_centre(source: Source, level: int) -> Made | None:
    """Find the centre of the circle through three points."""
    reach = {5: 25, 6: 3000}[level]
    points = [(source.integer(-reach, reach), source.integer(-reach, reach)) for _ in range(3)]
    (ax, ay), (bx, by), (cx, cy) = points
    across = 2 * (ax * (by - cy) + bx * (cy - ay) + cx * (ay - by))
    if across == 0:
        return None
    squares = [x * x + y * y for x, y in points]
    x = Fraction(squares[0] * (by - cy) + squares[1] * (cy - ay) + squares[2] * (ay - by), across)
    if x.denominator == 1:
        return None
    derivation = (
        f"(x1, y1), (x2, y2), (x3, y3) = {points}\n"
        "a, b, e = 2 * (x2 - x1), 2 * (y2 - y1), x2**2 + y2**2 - x1**2 - y1**2\n"
        "c, d, f = 2 * (x3 - x1), 2 * (y3 - y1), x3**2 + y3**2 - x1**2 - y1**2\n"
        "answer = Fraction(e * d - b * f, a * d - b * c)"
    )
    return Made(
        answer=str(x),
        questions=(
            f"A circle passes through {tuples(points)}. What is the x coordinate of its centre? Answer as a "
            "fraction in lowest terms.",
            "As a fraction in lowest terms, give the first coordinate of the point that has the same "
            f"distance from {tuples(points[::-1])}.",
            f"The triangle with the corners {tuples(points[1:] + points[:1])} has a circumscribed circle. "
            "At which x does its centre lie? Give a fraction in lowest terms.",
        ),
        derivation=derivation,
        given={"points": [list(point) for point in points]},
    )
