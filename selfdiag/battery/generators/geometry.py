"""Geometry: lengths, angles, areas and volumes of simple figures, as whole numbers or exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates

TEMPLATES = Templates("geometry")

_TRIPLES = {
    2: ((3, 4, 5), (5, 12, 13), (8, 15, 17)),
    3: ((7, 24, 25), (20, 21, 29), (12, 35, 37), (9, 40, 41), (28, 45, 53), (11, 60, 61), (33, 56, 65)),
}


def _heronian(source: Source, high: int) -> tuple[list[int], int] | None:
    """Return the sides and the area of a triangle for which all four are whole numbers (Brahmagupta)."""
    m, n, k = source.integers(3, 1, high)
    if m * n <= k * k or m <= n:
        return None
    sides = [n * (m * m + k * k), m * (n * n + k * k), (m + n) * (m * n - k * k)]
    shared = gcd(*sides)
    return [side // shared for side in sides], k * m * n * (m + n) * (m * n - k * k) // shared**2


@TEMPLATES.at(1)
def rectangle(source: Source, level: int) -> Made | None:  # noqa: ARG001
    """Find the area of a rectangle."""
    a, b = source.integer(3, 15), source.integer(3, 15)
    if a == b:
        return None
    return Made(
        answer=str(a * b),
        questions=(
            f"What is the area, in square centimetres, of a rectangle {a} cm long and {b} cm wide? Answer as a number.",
            f"Two neighbouring sides of a rectangle measure {b} cm and {a} cm. As a number of square "
            "centimetres, how large is it?",
            f"A sheet of paper is {a} cm by {b} cm. Give its area in square centimetres, as a number.",
        ),
        derivation=f"{a} * {b}",
        given={"a": a, "b": b},
        unit="cm^2",
    )


@TEMPLATES.at(1)
def third_angle(source: Source, level: int) -> Made:  # noqa: ARG001
    """Find the third angle of a triangle."""
    a, b = source.integer(20, 85), source.integer(20, 85)
    return Made(
        answer=str(180 - a - b),
        questions=(
            f"Two angles of a triangle measure {a} and {b} degrees. How many degrees does the third angle "
            "measure? Answer as a number.",
            f"In a triangle ABC the angle at A is {a} degrees and the angle at B is {b} degrees. As a "
            "number of degrees, what is the angle at C?",
            f"A triangle has an angle of {b} degrees and another of {a} degrees. Give the size of the "
            "remaining angle in degrees, as a number.",
        ),
        derivation=f"180 - {a} - {b}",
        given={"a": a, "b": b},
        unit="degree",
    )


@TEMPLATES.at(1)
def triangle(source: Source, level: int) -> Made:  # noqa: ARG001
    """Find the area of a triangle from its base and height."""
    base, height = source.integer(2, 10) * 2, source.integer(3, 15)
    return Made(
        answer=str(base * height // 2),
        questions=(
            f"A triangle has a base of {base} cm and a height of {height} cm above it. What is its area in "
            "square centimetres? Answer as a number.",
            f"As a number of square centimetres, how large is a triangle with a side of {base} cm and an "
            f"altitude of {height} cm on that side?",
            f"One corner of a triangle lies {height} cm from the line through the other two, which are "
            f"{base} cm apart. Give its area in square centimetres, as a number.",
        ),
        derivation=f"{base} * {height} // 2",
        given={"base": base, "height": height},
        unit="cm^2",
    )


@TEMPLATES.at(1, 2)
def cuboid(source: Source, level: int) -> Made:
    """Find the volume of a box."""
    a, b, c = source.sample(range(2, {1: 7, 2: 16}[level]), 3)
    return Made(
        answer=str(a * b * c),
        questions=(
            f"A rectangular box measures {a} cm by {b} cm by {c} cm. What is its volume in cubic "
            "centimetres? Answer as a number.",
            f"As a number, how many cubes with edges of 1 cm fill a box that is {c} cm long, {a} cm wide "
            f"and {b} cm high?",
            f"The edges of a rectangular block are {b} cm, {c} cm and {a} cm long. Give its volume in cubic "
            "centimetres, as a number.",
        ),
        derivation=f"{a} * {b} * {c}",
        given={"a": a, "b": b, "c": c},
        unit="cm^3",
    )


@TEMPLATES.at(2)
def surface(source: Source, level: int) -> Made:  # noqa: ARG001
    """Find the surface of a box."""
    a, b, c = source.sample(range(2, 13), 3)
    return Made(
        answer=str(2 * (a * b + b * c + c * a)),
        questions=(
            f"A closed rectangular box measures {a} cm by {b} cm by {c} cm. What is its total surface in "
            "square centimetres? Answer as a number.",
            f"As a number of square centimetres, how much paper just covers all six faces of a block {c} cm "
            f"long, {b} cm wide and {a} cm high?",
            f"The edges of a rectangular solid are {b} cm, {a} cm and {c} cm long. Add the areas of all its "
            "faces and give the sum in square centimetres, as a number.",
        ),
        derivation=f"2 * ({a} * {b} + {b} * {c} + {c} * {a})",
        given={"a": a, "b": b, "c": c},
        unit="cm^2",
    )


@TEMPLATES.at(2)
def rectangle_perimeter(source: Source, level: int) -> Made:  # noqa: ARG001
    """Find the perimeter of a rectangle from its area and one side."""
    a, b = source.integer(3, 20), source.integer(3, 20)
    return Made(
        answer=str(2 * (a + b)),
        questions=(
            f"A rectangle has an area of {a * b} square centimetres, and one of its sides is {a} cm long. "
            "What is its perimeter in centimetres? Answer as a number.",
            f"As a number of centimetres, how long is the outline of a rectangle that is {a} cm wide and "
            f"has an area of {a * b} square centimetres?",
            f"A rectangular card covers {a * b} square centimetres and is {a} cm long in one direction. "
            "Give the distance once around it in centimetres, as a number.",
        ),
        derivation=f"2 * ({a} + {a * b} // {a})",
        given={"area": a * b, "side": a},
        unit="cm",
    )


@TEMPLATES.at(2, 3)
def right_triangle(source: Source, level: int) -> Made:
    """Find a side of a right triangle from the two others."""
    triple, factor = source.choice(_TRIPLES[level]), source.integer(2, {2: 5, 3: 12}[level])
    a, b, c = (side * factor for side in triple)
    if level == 2:
        answer, derivation = c, f"math.isqrt({a}**2 + {b}**2)"
        questions = (
            f"The legs of a right triangle are {a} cm and {b} cm long. How long is its hypotenuse, in "
            "centimetres? Answer as a number.",
            f"As a number of centimetres, how long is the diagonal of a rectangle {b} cm long and {a} cm wide?",
            f"Someone walks {a} cm straight ahead on a floor plan, turns by a right angle and walks {b} cm. "
            "How many centimetres lie between start and end, in a straight line? Answer as a number.",
        )
        given = {"legs": [a, b]}
    else:
        answer, derivation = a, f"math.isqrt({c}**2 - {b}**2)"
        questions = (
            f"A right triangle has a hypotenuse of {c} cm and a leg of {b} cm. How long is the other leg, in "
            "centimetres? Answer as a number.",
            f"As a number of centimetres, how wide is a rectangle that is {b} cm long and has a diagonal of {c} cm?",
            f"A stick {c} cm long leans against a vertical wall and touches it {b} cm above the level "
            "floor. How many centimetres from the wall does it stand? Answer as a number.",
        )
        given = {"hypotenuse": [c], "leg": [b]}
    return Made(answer=str(answer), questions=questions, derivation=derivation, given=given, unit="cm")


@TEMPLATES.at(2, 3)
def trapezoid(source: Source, level: int) -> Made | None:
    """Find the area of a trapezoid."""
    a, c, height = source.integers(3, *{2: (3, 15), 3: (17, 95)}[level])
    if (a + c) * height % 2 or a == c:
        return None
    return Made(
        answer=str((a + c) * height // 2),
        questions=(
            f"The parallel sides of a trapezoid are {a} cm and {c} cm long and lie {height} cm apart. What "
            "is its area in square centimetres? Answer as a number.",
            "As a number of square centimetres, how large is a four-sided figure with two parallel sides "
            f"of {c} cm and {a} cm at a distance of {height} cm?",
            f"A trapezoid is {height} cm high, and its two parallel sides measure {a} cm and {c} cm. Give "
            "its area in square centimetres, as a number.",
        ),
        derivation=f"({a} + {c}) * {height} // 2",
        given={"a": a, "c": c, "height": height},
        unit="cm^2",
    )


@TEMPLATES.at(3)
def diagonals(source: Source, level: int) -> Made:  # noqa: ARG001
    """Count the diagonals of a convex polygon."""
    corners = source.integer(9, 40)
    return Made(
        answer=str(corners * (corners - 3) // 2),
        questions=(
            f"How many diagonals does a convex polygon with {corners} corners have? Answer as a number.",
            f"As a number, how many straight lines join two corners of a convex {corners}-sided polygon "
            "that are not neighbours?",
            f"In a regular polygon with {corners} sides, every pair of corners that is not joined by a side "
            "is joined by a diagonal. Give the number of diagonals.",
        ),
        derivation=f"len([1 for a, b in combinations(range({corners}), 2) if b - a > 1 and b - a < {corners - 1}])",
        given={"corners": corners},
    )


@TEMPLATES.at(3)
def painted_block(source: Source, level: int) -> Made | None:  # noqa: ARG001
    """Count the unit cubes of a painted block by their painted faces."""
    a, b, c = sorted(source.sample(range(3, 10), 3))
    faces, word = source.choice(((1, "one painted face"), (2, "two painted faces"), (0, "no painted face")))
    inner = [a - 2, b - 2, c - 2]
    count = {
        0: inner[0] * inner[1] * inner[2],
        1: 2 * (inner[0] * inner[1] + inner[1] * inner[2] + inner[2] * inner[0]),
        2: 4 * sum(inner),
    }[faces]
    derivation = (
        f"answer = 0\nfor x, y, z in product(range({a}), range({b}), range({c})):\n"
        f"    painted = (x == 0) + (x == {a - 1}) + (y == 0) + (y == {b - 1}) + (z == 0) + (z == {c - 1})\n"
        f"    if painted == {faces}:\n        answer += 1"
    )
    exactly = word if faces == 0 else f"exactly {word}"
    return Made(
        answer=str(count),
        questions=(
            f"A wooden block of {a} by {b} by {c} centimetres is painted on all six faces and then sawn "
            f"into cubes with edges of 1 cm. How many of these have {exactly}? Answer as a number.",
            f"Unit cubes are stacked to a solid block {c} long, {b} wide and {a} high, whose whole outside "
            f"is painted. As a number, how many of the unit cubes end up with {exactly}?",
            f"A block measures {b} x {a} x {c} units. Its entire surface is coloured with paint, and the "
            f"block is cut into unit cubes. Give the number of cubes with {exactly}.",
        ),
        derivation=derivation,
        given={"sides": [a, b, c], "word": word},
    )


@TEMPLATES.at(3, 4)
def three_sides(source: Source, level: int) -> Made | None:
    """Find the area of a triangle from its three sides."""
    found = _heronian(source, {3: 6, 4: 9}[level])
    if found is None or not {3: 12, 4: 40}[level] < max(found[0]) < {3: 90, 4: 600}[level]:
        return None
    (a, b, c), area = found
    return Made(
        answer=str(area),
        questions=(
            f"A triangle has sides of {a} cm, {b} cm and {c} cm. What is its area in square centimetres? "
            "Answer as a number.",
            f"As a number of square centimetres, how large is the triangle whose three sides are {c} cm, "
            f"{a} cm and {b} cm long?",
            f"Three sticks of {b} cm, {c} cm and {a} cm are laid end to end to form a triangle. Give the "
            "enclosed area in square centimetres, as a number.",
        ),
        derivation=f"math.isqrt({(a + b + c)} * {b + c - a} * {a + c - b} * {a + b - c}) // 4",
        given={"sides": [a, b, c]},
        unit="cm^2",
    )


@TEMPLATES.at(4, 5)
def circumradius(source: Source, level: int) -> Made | None:
    """Find the radius of the circle through the corners of a triangle."""
    found = _heronian(source, {4: 5, 5: 12}[level])
    if found is None:
        return None
    (a, b, c), area = found
    radius = Fraction(a * b * c, 4 * area)
    if radius.denominator == 1 or not ({4: 10, 5: 100}[level] < max(a, b, c) < {4: 90, 5: 2500}[level]):
        return None
    return Made(
        answer=str(radius),
        questions=(
            f"A triangle has sides of length {a}, {b} and {c}. What is the radius of the circle through its "
            "three corners? Answer as a fraction in lowest terms.",
            f"As a fraction in lowest terms, find the circumradius of the triangle with the sides {c}, {a} and {b}.",
            f"All corners of a triangle lie on one circle, and the sides of the triangle are {b}, {c} and "
            f"{a} long. Give the radius of the circle as a fraction in lowest terms.",
        ),
        derivation=f"Fraction({a} * {b} * {c}, math.isqrt({(a + b + c)} * {b + c - a} * {a + c - b} * {a + b - c}))",
        given={"sides": [a, b, c]},
    )
