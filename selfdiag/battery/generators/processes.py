"""Sequences made by a process: counting circles, descriptions, residues and self-reference."""

from __future__ import annotations

from itertools import groupby

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import ordinal

TEMPLATES = Templates("sequences")


@TEMPLATES.at(4, 5)
def description(source: Source, level: int) -> Made:
    """Describe the digits of a number aloud, again and again."""
    start, steps = source.integer(23, 99), {4: 3, 5: source.integer(6, 7)}[level]
    text = str(start)
    for _ in range(steps):
        text = "".join(f"{len(list(run))}{digit}" for digit, run in groupby(text))
    derivation = (
        f"text = '{start}'\nfor step in range({steps}):\n    told = ''\n    i = 0\n    while i < len(text):\n"
        "        j = i\n        while j < len(text) and text[j] == text[i]:\n            j += 1\n        "
        "told += str(j - i) + text[i]\n        i = j\n    text = told\nanswer = text"
    )
    return Made(
        answer=text,
        questions=(
            "In a look-and-say sequence each term describes the runs of equal digits of the term before "
            f"(1211 becomes 111221). Start with {start}. Which term do you get after {steps} steps? Answer "
            "with its digits only.",
            f"Take the digit string {start} and replace it {steps} times by its description, which gives "
            "for each run of equal digits its length and the digit (so 1211 turns into 111221). Reply with "
            "the digits of the result.",
            f"Reading 1211 aloud as 'one 1, one 2, two 1s' gives 111221. Beginning with {start}, read aloud "
            f"and write down {steps} times in a row. Give nothing but the digits of the last number written.",
        ),
        derivation=derivation,
        given={"start": start, "steps": steps},
    )


@TEMPLATES.at(4, 5, 6)
def counting_out(source: Source, level: int) -> Made:
    """Find the survivor of counting out in a circle (the Josephus problem)."""
    people, every = source.integer(*{4: (7, 11), 5: (25, 45), 6: (300, 999)}[level]), source.integer(3, 9)
    last = 0
    for size in range(2, people + 1):
        last = (last + every) % size
    derivation = f"answer = 0\nfor size in range(2, {people} + 1):\n    answer = (answer + {every}) % size\nanswer += 1"
    return Made(
        answer=str(last + 1),
        questions=(
            f"People numbered 1 to {people} stand in a circle. Counting starts at number 1, and again and "
            f"again every {ordinal(every)} person still standing leaves. Which number remains last? Answer "
            "as a number.",
            f"The numbers 1, 2, ..., {people} are written round a circle. Going round from 1, which is "
            f"counted first, cross out each {ordinal(every)} number not yet crossed out. As a number, which "
            "is the last one left?",
            f"A circle of {people} players, numbered in order from 1, plays a counting-out rhyme of {every} "
            "syllables that begins at player 1; whoever gets the last syllable drops out, and the rhyme "
            "goes on with the next player. Give the number of the winner, who is never out.",
        ),
        derivation=derivation,
        given={"people": people, "every": every},
    )


@TEMPLATES.at(5, 6)
def residues(source: Source, level: int) -> Made:
    """Iterate a quadratic map modulo a number."""
    modulus = source.integer(*{5: (60, 150), 6: (1000, 9999)}[level])
    steps = source.integer(*{5: (10, 14), 6: (300, 500)}[level])
    start, add = source.integer(2, 40), source.integer(2, 40)
    value = start
    for _ in range(steps):
        value = (value * value + add) % modulus
    return Made(
        answer=str(value),
        questions=(
            f"Let x(0) = {start}, and let x(n+1) be the remainder of x(n)^2 + {add} after division by "
            f"{modulus}. What is x({steps})? Answer as a whole number.",
            f"Begin with {start}. In each of {steps} steps, square the present number, add {add}, and keep "
            f"the remainder modulo {modulus}. As a whole number, where do you end?",
            f"A random number generator with the state {start} replaces its state s by (s * s + {add}) mod "
            f"{modulus} at every call. Give its state after {steps} calls as a whole number.",
        ),
        derivation=(
            f"answer = {start}\nfor step in range({steps}):\n    answer = (answer * answer + {add}) % {modulus}"
        ),
        given={"start": start, "add": add, "modulus": modulus, "steps": steps},
    )


@TEMPLATES.at(5, 6)
def self_reference(source: Source, level: int) -> Made | None:
    """Find a term of Hofstadter's Q sequence, started with other values."""
    place, a, b = source.integer(*{5: (18, 30), 6: (200, 600)}[level]), 1, source.integer(1, 2)
    row = [0, a, b]
    for n in range(3, place + 1):
        if max(row[-1], row[-2]) >= n:
            return None
        row.append(row[n - row[-1]] + row[n - row[-2]])
    derivation = (
        f"row = [0, {a}, {b}]\nfor n in range(3, {place} + 1):\n    row.append(row[n - row[n - 1]] + row[n - "
        "row[n - 2]])\nanswer = row[-1]"
    )
    return Made(
        answer=str(row[place]),
        questions=(
            f"Let Q(1) = {a}, Q(2) = {b} and Q(n) = Q(n - Q(n-1)) + Q(n - Q(n-2)) for n > 2. What is "
            f"Q({place})? Answer as a whole number.",
            f"A sequence starts with {a}, {b}. The two last terms written, say p and q, tell how far to go "
            "back from the free place: the new term is the sum of the terms p places and q places before "
            f"it. As a whole number, which is term number {place}?",
            f"As a whole number, give the value at {place} of the function f on the positive integers with "
            f"f(1) = {a}, f(2) = {b}, and f(n) = f(n - f(n-1)) + f(n - f(n-2)) from n = 3 on.",
        ),
        derivation=derivation,
        given={"a": a, "b": b, "place": place},
    )
