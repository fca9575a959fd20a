"""Sequences: next terms, distant terms, sums and processes."""

from __future__ import annotations

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import commas, linear_form, listed, ordinal

TEMPLATES = Templates("sequences")

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@TEMPLATES.at(1)
def next_arithmetic(source: Source, level: int) -> Made:  # noqa: ARG001
    """Continue an arithmetic sequence."""
    first, step = source.integer(2, 40), source.integer(2, 9) * source.choice((1, 1, -1))
    if step < 0:
        first += 60
    terms = [first + step * k for k in range(5)]
    return Made(
        answer=str(terms[4]),
        questions=(
            f"An arithmetic sequence begins {commas(terms[:4])}. What is its next term? Answer as a number.",
            f"Each term of {commas(terms[:4])} differs from the one before by the same amount. Give the "
            "following term as a number.",
            f"Counting in equal steps gives {listed(terms[:4])}. As a number, what comes after that?",
        ),
        derivation=f"{terms[3]} + ({terms[3]} - {terms[2]})",
        given={"terms": terms[:4]},
    )


@TEMPLATES.at(1)
def next_geometric(source: Source, level: int) -> Made:  # noqa: ARG001
    """Continue a geometric sequence."""
    first, ratio = source.integer(1, 12), source.integer(2, 4)
    terms = [first * ratio**k for k in range(4)]
    return Made(
        answer=str(terms[3] * ratio),
        questions=(
            f"A geometric sequence begins {commas(terms)}. What is its next term? Answer as a number.",
            f"Each term of {commas(terms)} is the same multiple of the one before. Give the following term "
            "as a number.",
            f"A quantity grows by the same factor every day: {listed(terms)}. As a number, what is it on the next day?",
        ),
        derivation=f"{terms[3]} * {terms[1]} // {terms[0]}",
        given={"terms": terms},
    )


@TEMPLATES.at(1, 2)
def letters(source: Source, level: int) -> Made | None:
    """Walk through the alphabet."""
    start = source.integer(0, 8)
    if level == 1:
        step = source.integer(2, 4)
        shown = [_ALPHABET[start + step * k] for k in range(4)]
        place, derivation = start + step * 4, f"chr(ord('{shown[3]}') + {step})"
        questions = (
            f"The letters {commas(shown)} follow each other in steps of {step} through the English "
            "alphabet. Which letter comes next? Answer with one letter.",
            f"Going through the alphabet from A to Z, someone names every letter that is {step} places "
            f"after the last: {listed(shown)}. Give the one letter named after that.",
            f"With one letter, continue the row {commas(shown)}, in which each letter stands {step} places "
            "further on in the alphabet than the one before.",
        )
        given = {"start": shown[0], "step": step}
    else:
        first, moves = source.integer(1, 3), source.integer(3, 4)
        place = start + sum(range(first, first + moves))
        derivation = f"chr(ord('{_ALPHABET[start]}') + sum(range({first}, {first + moves})))"
        questions = (
            f"Start at the letter {_ALPHABET[start]} of the English alphabet. Move forward by {first}, then "
            f"by {first + 1}, and so on, one more each time. At which letter are you after {moves} moves? "
            "Answer with one letter.",
            f"A walk through the alphabet from A to Z begins at {_ALPHABET[start]}; its {moves} jumps all "
            f"go forward, the first by {first} and each further one by one letter more than the last. Give "
            "the letter on which it ends.",
            f"With one letter, name the place in the alphabet reached from {_ALPHABET[start]} by {moves} "
            f"steps forward, the first of them {first} long and every other one longer by 1 than the one "
            "before it.",
        )
        given = {"start": _ALPHABET[start], "first": first, "moves": moves}
    if place > 25 or _ALPHABET[place] in "AZI":
        return None
    return Made(answer=_ALPHABET[place], questions=questions, derivation=derivation, given=given, kind="text")


@TEMPLATES.at(1, 2)
def distant_arithmetic(source: Source, level: int) -> Made:
    """Find a later term of an arithmetic sequence."""
    first, step = source.integer(2, 30), source.integer(2, 12)
    place = source.integer(*{1: (6, 10), 2: (20, 60)}[level])
    terms = [first + step * k for k in range(3)]
    return Made(
        answer=str(first + step * (place - 1)),
        questions=(
            f"An arithmetic sequence begins {commas(terms)}. What is its {ordinal(place)} term? Answer as a number.",
            f"As a number, give the {ordinal(place)} term of the arithmetic sequence whose first terms are "
            f"{listed(terms)}.",
            f"A row of numbers with equal steps starts {commas(terms)}. Which number stands in the "
            f"{ordinal(place)} place?",
        ),
        derivation=f"{first} + {place - 1} * ({terms[1]} - {first})",
        given={"terms": terms, "place": place},
    )


@TEMPLATES.at(2, 3)
def growing_steps(source: Source, level: int) -> Made:
    """Find a term of a sequence whose steps grow evenly."""
    first, step, growth = source.integer(1, 20), source.integer(2, 9), source.integer(2, 6)
    place = source.integer(*{2: (5, 6), 3: (15, 40)}[level])
    terms = [first, first + step, first + 2 * step + growth]
    rest = place - 1
    return Made(
        answer=str(first + rest * step + growth * rest * (rest - 1) // 2),
        questions=(
            f"A sequence begins {commas(terms)}, and the step from term to term grows by {growth} each "
            f"time. What is the {ordinal(place)} term? Answer as a number.",
            f"The differences between neighbouring terms of a sequence increase by {growth} at every step. "
            f"Its first terms are {listed(terms)}. As a number, give its {ordinal(place)} term.",
            f"Someone writes {commas(terms)} and goes on, always adding {growth} more than the time before. "
            f"Which number is the {ordinal(place)} in the row?",
        ),
        derivation=(
            f"answer, step = {first}, {step}\nfor k in range({rest}):\n    answer += step\n    step += {growth}"
        ),
        given={"terms": terms, "growth": growth, "place": place},
    )


@TEMPLATES.at(2, 3, 4)
def two_before(source: Source, level: int) -> Made:
    """Find a term of a sequence in which each term is the sum of the two before it."""
    place = source.integer(*{2: (5, 7), 3: (10, 14), 4: (20, 26)}[level])
    a, b = source.integer(1, 12), source.integer(1, 12)
    first, second = a, b
    for _ in range(place - 2):
        first, second = second, first + second
    return Made(
        answer=str(second),
        questions=(
            f"A sequence begins {a}, {b}, and every further term is the sum of the two terms before it. "
            f"What is the {ordinal(place)} term? Answer as a number.",
            f"Let a(1) = {a}, a(2) = {b} and a(n) = a(n-1) + a(n-2). As a number, give a({place}).",
            f"Write {a} and then {b}; after that, always write the sum of the last two numbers. Which "
            f"number stands in the {ordinal(place)} place of the row?",
        ),
        derivation=f"a, b = {a}, {b}\nfor k in range({place - 2}):\n    a, b = b, a + b\nanswer = b",
        given={"a": a, "b": b, "place": place},
    )


@TEMPLATES.at(2, 3)
def alternation(source: Source, level: int) -> Made:
    """Apply two operations in turn."""
    start, add, factor = source.integer(2, 9), source.integer(2, 9), source.integer(2, 3)
    rounds = source.integer(*{2: (2, 2), 3: (5, 7)}[level])
    value = start
    for _ in range(rounds):
        value = (value + add) * factor
    return Made(
        answer=str(value),
        questions=(
            f"Start with {start} and do this {rounds} times: add {add}, then multiply by {factor}. What is "
            "the result? Answer as a number.",
            f"A number is {start} at first. In each of {rounds} rounds {add} is added to it and the sum is "
            f"multiplied by {factor}. As a number, what is it in the end?",
            f"Let x(0) = {start} and x(n+1) = {factor} * (x(n) + {add}). Give x({rounds}) as a number.",
        ),
        derivation=f"answer = {start}\nfor k in range({rounds}):\n    answer = (answer + {add}) * {factor}",
        given={"start": start, "add": add, "factor": factor, "rounds": rounds},
    )


@TEMPLATES.at(3)
def arithmetic_sum(source: Source, level: int) -> Made:  # noqa: ARG001
    """Add an arithmetic sequence."""
    first, step, count = source.integer(2, 30), source.integer(2, 12), source.integer(15, 60)
    terms = [first + step * k for k in range(3)]
    return Made(
        answer=str(count * first + step * count * (count - 1) // 2),
        questions=(
            f"An arithmetic sequence begins {commas(terms)}. What is the sum of its first {count} terms? "
            "Answer as a number.",
            f"As a number, add up the first {count} numbers of the row that starts {commas(terms)} and goes "
            "on in equal steps.",
            f"The rows of a hall have {listed(terms)} seats and so on, always the same number more than the "
            f"row before. Give the number of seats in {count} rows.",
        ),
        derivation=f"sum([{first} + {step} * k for k in range({count})])",
        given={"terms": terms, "count": count},
    )


@TEMPLATES.at(3, 4)
def geometric_sum(source: Source, level: int) -> Made:
    """Add a geometric sequence."""
    first = source.integer(2, 12)
    ratio = source.integer(*{3: (2, 3), 4: (4, 7)}[level])
    count = source.integer(*{3: (6, 8), 4: (9, 12)}[level])
    terms = [first * ratio**k for k in range(3)]
    return Made(
        answer=str(first * (ratio**count - 1) // (ratio - 1)),
        questions=(
            f"A geometric sequence begins {commas(terms)}. What is the sum of its first {count} terms? "
            "Answer as a whole number.",
            f"As a whole number, add up the first {count} numbers of the row {commas(terms)} and so on, in "
            "which each number is the same multiple of the one before.",
            f"Let a(1) = {terms[0]}, a(2) = {terms[1]}, a(3) = {terms[2]}, with a constant ratio of "
            f"neighbouring terms. Give a(1) + ... + a({count}) as a whole number.",
        ),
        derivation=f"sum([{first} * {ratio}**k for k in range({count})])",
        given={"terms": terms, "count": count},
    )


@TEMPLATES.at(4, 5, 6)
def recurrence(source: Source, level: int) -> Made:
    """Find a term of a linear recurrence."""
    place = source.integer(*{4: (6, 8), 5: (13, 17), 6: (35, 45)}[level])
    order = 3 if level == 6 else 2
    factors = [source.signed(2, 5) for _ in range(order)]
    start = source.integers(order, 1, 9)
    values = list(start)
    while len(values) < place:
        values.append(sum(f * v for f, v in zip(factors, values[::-1], strict=False)))
    rule = linear_form(factors, [f"a(n-{k + 1})" for k in range(order)])
    names = listed(f"a({k + 1}) = {value}" for k, value in enumerate(start))
    derivation = (
        f"row = {start}\nwhile len(row) < {place}:\n    "
        f"row.append({' + '.join(f'({f}) * row[-{k + 1}]' for k, f in enumerate(factors))})\nanswer = row[-1]"
    )
    return Made(
        answer=str(values[-1]),
        questions=(
            f"Let {names}, and a(n) = {rule} for every larger n. What is a({place})? Answer as a whole number.",
            f"A sequence starts with {commas(start)} and obeys the rule a(n) = {rule}. As a whole number, "
            f"give its term a({place}), where a(1) = {start[0]}.",
            f"The terms of a sequence follow from those before them by a(n) = {rule}, and the first terms "
            f"are {listed(start)}. Give the {ordinal(place)} term as a whole number.",
        ),
        derivation=derivation,
        given={"factors": factors, "start": start, "place": place},
    )


@TEMPLATES.at(5, 6)
def digit_steps(source: Source, level: int) -> Made:
    """Add the product of the non-zero digits, again and again."""
    start, steps = source.integer(5, 99), source.integer(*{5: (25, 35), 6: (150, 250)}[level])
    value = start
    for _ in range(steps):
        factor = 1
        for digit in str(value):
            factor *= int(digit) or 1
        value += factor
    derivation = (
        f"answer = {start}\nfor step in range({steps}):\n    factor = 1\n    for digit in str(answer):\n"
        "        if digit != '0':\n            factor *= int(digit)\n    answer += factor"
    )
    return Made(
        answer=str(value),
        questions=(
            f"A sequence has a(0) = {start}. Each further term is the term before it plus the product of "
            f"that term's non-zero decimal digits. What is a({steps})? Answer as a whole number.",
            f"Begin with {start} and do the following {steps} times: multiply the decimal digits of the "
            "present number together, zeros left out, and add the product to the number. As a whole "
            "number, where do you end?",
            f"A counter shows {start}. At every tick it grows by the product of all its digits that are not "
            f"zero. Give, as a whole number, what it shows after {steps} ticks.",
        ),
        derivation=derivation,
        given={"start": start, "steps": steps},
    )


@TEMPLATES.at(4, 5, 6)
def halve_or_triple(source: Source, level: int) -> Made | None:
    """Count the steps of the 3n + 1 process."""
    start = source.integer(*{4: (9, 60), 5: (100, 999), 6: (10**5, 10**6)}[level])
    value, steps = start, 0
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    low, high = {4: (10, 22), 5: (40, 90), 6: (120, 400)}[level]
    if not low <= steps <= high:
        return None
    derivation = (
        f"n, answer = {start}, 0\nwhile n != 1:\n    if n % 2 == 0:\n        n = n // 2\n    else:\n        "
        "n = 3 * n + 1\n    answer += 1"
    )
    return Made(
        answer=str(steps),
        questions=(
            f"Start with {start}. An even number is halved, an odd number n is replaced by 3n + 1, and so "
            "on. After how many steps is 1 reached for the first time? Answer as a number.",
            f"As a number, how many steps does the 3n + 1 (Collatz) process take from {start} to 1, each "
            "halving and each tripling with the added 1 being a step?",
            f"Let x(0) = {start}, and let x(k+1) be x(k)/2 if x(k) is even, else 3x(k) + 1. Give the "
            "smallest k with x(k) = 1, as a number.",
        ),
        derivation=derivation,
        given={"start": start},
    )
