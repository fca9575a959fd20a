"""Linear algebra, sequences, logic and code reading: every answer by a second method."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import comb, gcd
from pathlib import Path
from typing import Any

from seeded import confirm, made_for_seeds

LARGE_PRIME = 2**61 - 1
Matrix = list[list[int]]


def laplace(rows: Matrix) -> int:
    value = {0: 1}
    for row in rows:
        wider: dict[int, int] = {}
        for used, minor in value.items():
            for column, entry in enumerate(row):
                if not used >> column & 1:
                    sign = -1 if (used >> column).bit_count() % 2 else 1
                    wider[used | 1 << column] = wider.get(used | 1 << column, 0) + sign * entry * minor
        value = wider
    return value[(1 << len(rows)) - 1]


def by_columns(rows: Matrix, v: list[int]) -> list[int]:
    result = [0] * len(rows)
    for factor, column in zip(v, zip(*rows, strict=True), strict=True):
        result = [a + factor * b for a, b in zip(result, column, strict=True)]
    return result


def commas(values: Any) -> str:
    return ", ".join(map(str, values))


def minor(rows: Matrix, i: int, j: int) -> Matrix:
    return [row[:j] + row[j + 1 :] for k, row in enumerate(rows) if k != i]


def largest_eigenvalue(rows: Matrix) -> int:
    (a, b), (c, d) = rows
    return max(x for x in range(-99, 100) if (a - x) * (d - x) == b * c)


def rank_modulo_prime(rows: Matrix) -> int:
    rest = [[value % LARGE_PRIME for value in row] for row in rows]
    rank = 0
    while rest:
        lead = rest.pop()
        column = next((k for k, value in enumerate(lead) if value), None)
        if column is None:
            continue
        rank += 1
        inverse = pow(lead[column], -1, LARGE_PRIME)
        rest = [[(a - row[column] * inverse * b) % LARGE_PRIME for a, b in zip(row, lead, strict=True)] for row in rest]
    return rank


def inverse_by_minors(rows: Matrix, i: int, j: int) -> Fraction:
    return Fraction((-1) ** (i + j) * laplace(minor(rows, j - 1, i - 1)), laplace(rows))


def closed_walks(rows: Matrix, exponent: int) -> int:
    total = 0
    for start in range(len(rows)):
        v = [int(k == start) for k in range(len(rows))]
        for _ in range(exponent):
            v = by_columns(rows, v)
        total += v[start]
    return total


def gauss(rows: Matrix, right: list[int], place: int) -> Fraction:
    table = [[Fraction(value) for value in (*row, end)] for row, end in zip(rows, right, strict=True)]
    size = len(table)
    for k in range(size):
        swap = next(r for r in range(k, size) if table[r][k])
        table[k], table[swap] = table[swap], table[k]
        for r in range(k + 1, size):
            if factor := table[r][k] / table[k][k]:
                table[r] = [a - factor * b for a, b in zip(table[r], table[k], strict=True)]
    found: list[Fraction] = [Fraction()] * size
    for k in reversed(range(size)):
        known = sum((table[k][c] * found[c] for c in range(k + 1, size)), Fraction())
        found[k] = (table[k][-1] - known) / table[k][k]
    return found[place - 1]


def principal_minors(rows: Matrix) -> int:
    size = len(rows)
    kept = combinations(range(size), size - 2)
    total = sum(laplace([[rows[i][j] for j in chosen] for i in chosen]) for chosen in kept)
    return -total if size % 2 else total


def polarized(u: list[int], v: list[int]) -> int:
    pairs = list(zip(u, v, strict=True))
    return (sum((a + b) ** 2 for a, b in pairs) - sum((a - b) ** 2 for a, b in pairs)) // 4


def test_linear_algebra() -> None:
    confirm(
        "linear_algebra",
        {
            "dot-product": polarized,
            "combination": lambda u, v, s, t: commas(by_columns([list(p) for p in zip(u, v, strict=True)], [s, t])),
            "length": lambda v: next(n for n in range(999) if n * n == sum(x * x for x in v)),
            "trace": lambda rows: -laplace_slope(rows),
            "determinant-value": laplace,
            "image": lambda rows, v: commas(by_columns(rows, v)),
            "product-entry": lambda a, b, i, j: by_columns(a, [row[j - 1] for row in b])[i - 1],
            "cross-product": lambda u, v: commas(
                (-1) ** k * laplace([u[:k] + u[k + 1 :], v[:k] + v[k + 1 :]]) for k in range(3)
            ),
            "larger-eigenvalue": largest_eigenvalue,
            "rank": rank_modulo_prime,
            "inverse-entry": inverse_by_minors,
            "power-trace": closed_walks,
            "unknown": gauss,
            "characteristic-coefficient": principal_minors,
            "projection": lambda u, v: v[0] * Fraction(polarized(u, v), polarized(v, v)),
        },
    )


def laplace_slope(rows: Matrix) -> int:
    """Return the coefficient of x^2 in det(xI - A) of a 3 by 3 matrix, from four values of the polynomial."""

    def at(x: int) -> int:
        return laplace([[x * (i == j) - value for j, value in enumerate(row)] for i, row in enumerate(rows)])

    return (at(1) - 2 * at(0) + at(-1)) // 2


def by_differences(terms: list[int], growth: int, place: int) -> int:
    first, second, third = terms
    assert third - 2 * second + first == growth
    return first + (second - first) * comb(place - 1, 1) + growth * comb(place - 1, 2)


@cache
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def horner(terms: list[int], count: int) -> int:
    total = 0
    for _ in range(count):
        total = total * (terms[1] // terms[0]) + terms[0]
    return total


def matrix_recurrence(factors: list[int], start: list[int], place: int) -> int:
    size = len(factors)
    rows = [list(factors), *([int(j == i) for j in range(size)] for i in range(size - 1))]
    v = start[::-1]
    for _ in range(place - size):
        v = by_columns(rows, v)
    return v[0]


def digit_products(start: int, steps: int) -> int:
    value = start
    for _ in range(steps):
        rest, factor = value, 1
        while rest:
            rest, digit = divmod(rest, 10)
            factor *= max(digit, 1)
        value += factor
    return value


def collatz(start: int) -> int:
    if start == 1:
        return 0
    return 1 + collatz(start // 2 if start % 2 == 0 else 3 * start + 1)


def read_aloud(start: int, steps: int) -> str:
    text = str(start)
    for _ in range(steps):
        text = re.sub(r"(\d)\1*", lambda run: f"{len(run[0])}{run[1]}", text)
    return text


def last_in_circle(people: int, every: int) -> int:
    circle = deque(range(1, people + 1))
    while len(circle) > 1:
        circle.rotate(1 - every)
        circle.popleft()
    return circle[0]


def by_cycle(start: int, add: int, modulus: int, steps: int) -> int:
    seen: dict[int, int] = {}
    row: list[int] = []
    value = start if steps else 0
    while value not in seen:
        seen[value] = len(row)
        row.append(value)
        value = (pow(value, 2, modulus) + add) % modulus
    begin = seen[value]
    return row[steps] if steps < len(row) else row[begin + (steps - begin) % (len(row) - begin)]


def hofstadter(a: int, b: int, place: int) -> int:
    known = {1: a, 2: b}
    for n in range(3, place + 1):
        known[n] = known[n - known[n - 1]] + known[n - known[n - 2]]
    return known[place]


def test_sequences() -> None:
    confirm(
        "sequences",
        {
            "next-arithmetic": lambda terms: 2 * terms[-1] - terms[-2],
            "next-geometric": lambda terms: Fraction(terms[-1] ** 2, terms[-2]),
            "letters": lambda start, step=0, first=0, moves=4: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[
                "ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(start) + (moves * step or moves * first + comb(moves, 2))
            ],
            "distant-arithmetic": lambda terms, place: range(terms[0], 10**4, terms[1] - terms[0])[place - 1],
            "growing-steps": by_differences,
            "two-before": lambda a, b, place: a * fibonacci(place - 2) + b * fibonacci(place - 1),
            "alternation": lambda start, add, factor, rounds: (
                start * factor**rounds + add * sum(factor**k for k in range(1, rounds + 1))
            ),
            "arithmetic-sum": lambda terms, count: sum(range(terms[0], 10**6, terms[1] - terms[0])[:count]),
            "geometric-sum": horner,
            "recurrence": matrix_recurrence,
            "digit-steps": digit_products,
            "halve-or-triple": collatz,
            "description": read_aloud,
            "counting-out": last_in_circle,
            "residues": by_cycle,
            "self-reference": hofstadter,
        },
    )


def placed(steps: list[list[str]], count: int, place: list[int]) -> str:
    below: dict[str, set[str]] = {}
    for _ in range(count):
        for upper, lower in steps:
            below.setdefault(upper, set()).update({lower}, below.setdefault(lower, set()))
    return next(name for name, lower in below.items() if len(lower) == count - place[0])


def members_of_two(total: int, a: int, b: int, both: int) -> tuple[int, int]:
    first = set(range(a))
    second = set(range(a - both, a - both + b))
    everyone = set(range(total))
    return len(everyone - first - second), len(first ^ second)


def regions_of_three(total: int, single: list[int], double: list[int], triple: int) -> tuple[int, int]:
    ab, ac, bc = (n - triple for n in double)
    exactly_one = sum(single) - 2 * (ab + ac + bc) - 3 * triple
    return total - exactly_one - ab - ac - bc - triple, exactly_one


def weekday_by_calendar(today: str, days: int, back: bool) -> str:
    monday = date(2024, 1, 1)
    start = next(d for d in (monday + timedelta(k) for k in range(7)) if f"{d:%A}" == today)
    return f"{start + timedelta(-days if back else days):%A}"


def unluckiest(stock: list[int], colours: list[str], goal: list[Any]) -> int:
    """Let an adversary draw for as long as the goal is missed."""
    taken = [0] * len(stock)
    while True:
        spare = [
            k
            for k, count in enumerate(stock)
            if taken[k] < count and (k > 0 if goal == colours[:1] else taken[k] + 1 < goal[0])
        ]
        if not spare:
            return sum(taken) + 1
        taken[spare[0]] += 1


def odd_minus_even(limit: int, divisors: list[int]) -> int:
    """Return, over 1 to limit, the numbers with an even count of divisors in the list less those with an odd one."""
    if not divisors or limit == 0:
        return limit
    first, *rest = divisors
    return odd_minus_even(limit, rest) - 2 * odd_minus_even(limit // first, [d // gcd(d, first) for d in rest])


def orders(people: list[str], before: list[list[str]], apart: list[list[str]]) -> int:
    needs = {name: {a for a, b in before if b == name} for name in people}
    foes = {name: {a for pair in apart if name in pair for a in pair} for name in people}

    def grow(row: tuple[str, ...]) -> int:
        if len(row) == len(people):
            return 1
        used = set(row)
        return sum(
            grow((*row, name))
            for name in people
            if name not in used and needs[name] <= used and not (row and row[-1] in foes[name])
        )

    return grow(())


def as_number(formula: Any, values: dict[str, bool]) -> int:
    kind, *parts = formula
    if kind == "var":
        return int(values[parts[0]])
    x, *rest = (as_number(part, values) for part in parts)
    if kind == "not":
        return 1 - x
    y = rest[0]
    return {"and": x * y, "or": x + y - x * y, "if": 1 - x + x * y, "xor": (x - y) ** 2}[kind]


def models(names: list[str], clauses: list[list[list[Any]]]) -> int:
    """Count assignments by splitting on the variables of the shortest clause."""
    if not clauses:
        return 1 << len(names)
    shortest = min(clauses, key=len)
    if not shortest:
        return 0
    name, total = shortest[0][0], 0
    rest = [other for other in names if other != name]
    for value in (True, False):
        kept = [clause for clause in clauses if [name, value] not in clause]
        total += models(rest, [[part for part in clause if part[0] != name] for clause in kept])
    return total


SAID: list[tuple[str, Callable[[dict[str, bool], Any], bool]]] = [
    (r"exactly (\d+) of us", lambda w, m: sum(w.values()) == int(m[1])),
    (r"'(\w+) is a knave'", lambda w, m: not w[m[1]]),
    (r"'(\w+) and (\w+) are of the same kind'", lambda w, m: w[m[1]] is w[m[2]]),
    (r"'(\w+) and (\w+) are of different kinds'", lambda w, m: w[m[1]] is not w[m[2]]),
    (r"at least one of (\w+) and (\w+) is a knave", lambda w, m: not w[m[1]] or not w[m[2]]),
]


def truth_tellers(people: list[str], claims: list[Any], speeches: list[str], by_name: bool) -> object:
    """Understand the speeches as they stand and try every distribution of the two kinds."""
    understood = []
    for name, speech in zip(people, speeches, strict=True):
        assert speech.startswith(f"{name} says ")
        rule, match = next((rule, m) for pattern, rule in SAID if (m := re.search(pattern, speech)))
        understood.append((name, rule, match))
    assert len(claims) == len(understood)
    possible = []
    for kinds in product((True, False), repeat=len(people)):
        world = dict(zip(people, kinds, strict=True))
        if all(rule(world, match) is world[name] for name, rule, match in understood):
            possible.append([name for name in people if world[name]])
    (knights,) = possible
    return ", ".join(knights) if by_name else len(knights)


def worked_off(facts: list[str], rules: list[Any]) -> int:
    missing = [set(causes) for causes, _ in rules]
    waiting, known = list(facts), set(facts)
    while waiting:
        fact = waiting.pop()
        for open_causes, (_, effect) in zip(missing, rules, strict=True):
            open_causes.discard(fact)
            if not open_causes and effect not in known:
                known.add(effect)
                waiting.append(effect)
    return len(known)


def fitting_codes(length: int, top: int, guesses: list[str], replies: list[list[int]]) -> int:
    found = 0
    for row in permutations("123456789"[:top], length):
        code = "".join(row)
        for guess, (right, other) in zip(guesses, replies, strict=True):
            places = [code.find(digit) - k for k, digit in enumerate(guess) if digit in code]
            if len(places) != right + other or places.count(0) != right:
                break
        else:
            found += 1
    return found


def test_logic() -> None:
    confirm(
        "logic",
        {
            "heights": placed,
            "overlap": lambda neither, **given: members_of_two(**given)[0 if neither else 1],
            "three-sets": lambda none, **given: regions_of_three(**given)[0 if none else 1],
            "weekday": weekday_by_calendar,
            "least-overlap": lambda total, sizes: total - sum(total - size for size in sizes),
            "blind-draw": unluckiest,
            "lamps": lambda total, rounds, **_: (total - odd_minus_even(total, rounds)) // 2,
            "seating": orders,
            "true-formulas": lambda values, formulas, **_: sum(as_number(f, values) for f in formulas),
            "satisfying": models,
            "knights": truth_tellers,
            "chained-rules": worked_off,
            "secret-code": fitting_codes,
        },
        unstated=("formulas", "claims", "replies"),
    )


def test_code_reading(tmp_path: Path) -> None:
    many = [made for group in made_for_seeds("code_reading").values() for made in group]
    script = tmp_path / "programs.py"
    script.write_text("\n".join(made.given["program"] for made in many))
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60)
    for made, printed in zip(many, run.stdout.splitlines(), strict=True):
        assert printed == made.answer, made.given["program"]
        for question in made.questions:
            assert question.endswith(f"\n\n{made.given['program']}")
