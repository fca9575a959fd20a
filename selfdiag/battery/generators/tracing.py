"""Code reading, harder: nested loops, recursion, queues, bits, generators and cells."""

from __future__ import annotations

from selfdiag.battery.generators.code_reading import asked
from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates

TEMPLATES = Templates("code_reading")


@TEMPLATES.at(4, 5, 6)
def nested_loops(source: Source, level: int) -> Made:
    """Trace nested loops with break and continue."""
    stop = source.integer(*{4: (5, 6), 5: (11, 14), 6: (40, 60)}[level])
    m1, m2, m3 = source.choice((5, 7)), source.choice((3, 4)), source.choice((9, 11, 13))
    r1, r2 = source.integer(1, m1 - 1), source.integer(0, m2 - 1)
    total = 0
    for i in range(1, stop):
        for j in range(i, stop):
            if i * j % m1 == r1:
                break
            if (i + j) % m2 == r2:
                continue
            total += i * j % m3
    program = (
        f"total = 0\nfor i in range(1, {stop}):\n    for j in range(i, {stop}):\n        if i * j % {m1} == "
        f"{r1}:\n            break\n        if (i + j) % {m2} == {r2}:\n            continue\n        total "
        f"+= i * j % {m3}"
    )
    return asked(program, "total", total)


@TEMPLATES.at(4, 5)
def recursion(source: Source, level: int) -> Made:
    """Trace a function that calls itself twice."""
    start = source.integer(*{4: (7, 10), 5: (18, 24)}[level])
    back, divisor, add = source.integer(2, 3), source.integer(2, 3), source.integer(1, 6)
    values: list[int] = []
    for n in range(start + 1):
        values.append(n + 1 if n < back else values[n - back] + values[n // divisor] + add)
    program = (
        f"def f(n):\n    if n < {back}:\n        return n + 1\n    return f(n - {back}) + f(n // {divisor}) + {add}\n\n"
    )
    made = asked(program, f"f({start})", values[start])
    return made._replace(
        derivation=(
            f"row = []\nfor n in range({start} + 1):\n    if n < {back}:\n"
            "        row.append(n + 1)\n    else:\n"
            f"        row.append(row[n - {back}] + row[n // {divisor}] + {add})\nanswer = row[-1]"
        )
    )


@TEMPLATES.at(4, 5, 6)
def bits(source: Source, level: int) -> Made:
    """Trace shifts and exclusive or."""
    width, rounds = {4: (6, 1), 5: (8, 4), 6: (16, 40)}[level]
    start, mask = source.integer(5, 2**width - 1), 2**width - 1
    left, right = source.integer(1, 3), source.integer(1, 3)
    x = start
    for _ in range(rounds):
        x ^= x << left & mask
        x ^= x >> right
    lines = [f"x = x ^ ((x << {left}) & {mask})", f"x = x ^ (x >> {right})"]
    if level > 4:
        lines = [f"for step in range({rounds}):", *(f"    {line}" for line in lines)]
    program = "\n".join([f"x = {start}", *lines])
    return asked(program, "x", x)


@TEMPLATES.at(5, 6)
def generator(source: Source, level: int) -> Made:
    """Trace a linear congruential generator."""
    modulus = source.integer(*{5: (40, 120), 6: (1000, 9999)}[level])
    rounds = source.integer(*{5: (10, 14), 6: (150, 250)}[level])
    factor, add, start = source.integer(3, 19), source.integer(1, 19), source.integer(1, 19)
    split = source.integer(3, 5)
    x, total = start, 0
    for step in range(rounds):
        x = (x * factor + add) % modulus
        if x % split == 0:
            total -= step
        else:
            total += x % split
    program = (
        f"x = {start}\ntotal = 0\nfor step in range({rounds}):\n    x = (x * {factor} + {add}) % {modulus}\n"
        f"    if x % {split} == 0:\n        total -= step\n    else:\n        total += x % {split}"
    )
    return asked(program, "total * 10000 + x", total * 10000 + x)


@TEMPLATES.at(5, 6)
def queue(source: Source, level: int) -> Made:
    """Trace a queue that shrinks."""
    count = source.integer(*{5: (9, 12), 6: (60, 90)}[level])
    factor, modulus = source.integer(2, 5), source.choice((17, 19, 23, 29, 31))
    row, moves = list(range(1, count + 1)), 0
    while len(row) > 1:
        a, b = row.pop(0), row.pop(0)
        row.append((a * factor + b) % modulus)
        if row[-1] % 2 == 0:
            row.append(row.pop(0))
            moves += 1
    program = (
        f"row = list(range(1, {count + 1}))\nmoves = 0\nwhile len(row) > 1:\n    a = row.pop(0)\n    b = "
        f"row.pop(0)\n    row.append((a * {factor} + b) % {modulus})\n    if row[-1] % 2 == 0:\n        "
        "row.append(row.pop(0))\n        moves += 1"
    )
    return asked(program, "moves * 100 + row[0]", moves * 100 + row[0])


@TEMPLATES.at(5, 6)
def cells(source: Source, level: int) -> Made:
    """Trace a row of cells that depend on their neighbours."""
    count = source.integer(*{5: (9, 12), 6: (50, 70)}[level])
    rounds, every = {5: 4, 6: 30}[level], source.integer(2, 4)
    weight, modulus = source.integer(2, 4), source.choice((3, 5))
    row = [int(i % every == 1) for i in range(count)]
    for _ in range(rounds):
        row = [(row[i - 1] + weight * row[i] + row[(i + 1) % count]) % modulus for i in range(count)]
    shown = sum(i * value for i, value in enumerate(row))
    program = (
        f"n = {count}\nrow = [1 if i % {every} == 1 else 0 for i in range(n)]\nfor step in range({rounds}):\n"
        f"    new = []\n    for i in range(n):\n        new.append((row[i - 1] + {weight} * row[i] + row[(i "
        f"+ 1) % n]) % {modulus})\n    row = new"
    )
    return asked(program, "sum([i * row[i] for i in range(n)])", shown)
