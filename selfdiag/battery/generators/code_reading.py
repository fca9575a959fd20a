"""Code reading: the output of short Python programs."""

from __future__ import annotations

from collections import Counter

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates

TEMPLATES = Templates("code_reading")

_WORDS = (
    "lantern",
    "orchard",
    "pyramid",
    "teapot",
    "village",
    "whistle",
    "cabbage",
    "mirror",
    "biscuit",
    "feather",
    "glacier",
    "harvest",
    "journey",
    "kitchen",
    "ladder",
    "meadow",
    "needle",
    "pepper",
    "ribbon",
    "saddle",
    "thunder",
    "violin",
    "winter",
    "banana",
)


def asked(program: str, shown: str, answer: object, kind: str = "number") -> Made:
    """Return the question what a program, followed by ``print(shown)``, writes.

    The derivation is the same program with the printed value as its answer.
    """
    form = "as a whole number" if kind == "number" else "with the exact text"
    what = "Which whole number" if kind == "number" else "Which text"
    whole = f"{program}\nprint({shown})"
    return Made(
        answer=str(answer),
        questions=(
            f"What does this Python program print? Answer {form}.\n\n{whole}",
            f"{form.capitalize()}, give the output of the following Python code.\n\n{whole}",
            f"Run the Python program below in your head, to its end. {what} does it write?\n\n{whole}",
        ),
        derivation=f"{program}\nanswer = {shown}",
        given={"program": whole},
        kind=kind,
    )


@TEMPLATES.at(1)
def division(source: Source, level: int) -> Made:  # noqa: ARG001
    """Add a quotient and a remainder."""
    a, b = source.integer(17, 99), source.integer(3, 9)
    return asked(f"a = {a}\nb = {b}", "a // b + a % b", a // b + a % b)


@TEMPLATES.at(1)
def list_length(source: Source, level: int) -> Made:  # noqa: ARG001
    """Count the members of a list."""
    values, extra, times = source.integers(3, 1, 9), source.integer(1, 9), source.integer(2, 6)
    return asked(f"row = {values} + [{extra}] * {times}\nrow.append({extra + 1})", "len(row)", 4 + times)


@TEMPLATES.at(1, 2)
def part_of_word(source: Source, level: int) -> Made:
    """Take a part of a word."""
    word = source.choice(_WORDS)
    if level == 1:
        return asked(f"word = '{word}'", "word[::-1]", word[::-1], "code")
    start, end = source.integer(1, 2), source.integer(3, 5)
    part = word[start:end]
    program = f"word = '{word}'\npart = word[{start}:{end}]"
    return asked(program, "part + word[-1] + part", part + word[-1] + part, "code")


@TEMPLATES.at(1, 2)
def running_sum(source: Source, level: int) -> Made:
    """Add up over a loop."""
    start, factor = source.integer(1, 4), source.integer(2, 5)
    stop = start + source.integer(*{1: (3, 4), 2: (5, 7)}[level])
    program = f"total = 0\nfor i in range({start}, {stop}):\n    total += i * {factor}"
    return asked(program, "total", sum(i * factor for i in range(start, stop)))


@TEMPLATES.at(1, 2)
def exchange(source: Source, level: int) -> Made:
    """Exchange two variables while changing them."""
    a, b = first, second = source.sample(range(2, 20), 2)
    times = {1: 1, 2: 3}[level]
    for _ in range(times):
        a, b = b, a + b
    loop = f"for step in range({times}):\n    " if times > 1 else ""
    program = f"a = {first}\nb = {second}\n{loop}a, b = b, a + b"
    return asked(program, "a * 2 + b", a * 2 + b)


@TEMPLATES.at(2, 3)
def branches(source: Source, level: int) -> Made:
    """Add or subtract by a condition."""
    stop = source.integer(*{2: (6, 8), 3: (12, 16)}[level])
    modulus, offset = source.integer(2, 4), source.integer(1, 5)
    total = 0
    for i in range(1, stop):
        if (i + offset) % modulus == 0:
            total += 3 * i
        else:
            total -= 1
    program = (
        f"total = 0\nfor i in range(1, {stop}):\n    if (i + {offset}) % {modulus} == 0:\n        total += 3 "
        "* i\n    else:\n        total -= 1"
    )
    return asked(program, "total", total)


@TEMPLATES.at(2, 3)
def shrinking(source: Source, level: int) -> Made:
    """Count the rounds of a loop that shrinks a number."""
    number, divisor = source.integer(*{2: (30, 120), 3: (500, 5000)}[level]), source.integer(2, 3)
    value, rounds, total = number, 0, 0
    while value > divisor:
        value = value // divisor + 1
        rounds += 1
        total += value
        if value == value // divisor + 1:
            break
    program = (
        f"n = {number}\nrounds = 0\ntotal = 0\nwhile n > {divisor}:\n    n = n // {divisor} + 1\n    rounds "
        f"+= 1\n    total += n\n    if n == n // {divisor} + 1:\n        break"
    )
    if level == 2:
        return asked(program, "rounds", rounds)
    return asked(program, "rounds * 1000 + total", rounds * 1000 + total)


@TEMPLATES.at(3)
def aliases(source: Source, level: int) -> Made:  # noqa: ARG001
    """Tell a second name of a list from a copy."""
    values, x, y = source.integers(3, 2, 30), source.integer(2, 30), source.integer(2, 30)
    first, copy = [*values, x], [*values, y]
    first[0] = y
    program = f"a = {values}\nb = a\nc = a[:]\nb.append({x})\nc.append({y})\nb[0] = {y}"
    return asked(program, "sum(a) + 100 * len(a) + sum(c)", sum(first) + 100 * len(first) + sum(copy))


@TEMPLATES.at(3, 4)
def letter_counts(source: Source, level: int) -> Made:
    """Count letters with a dictionary."""
    text = "".join(source.sample(_WORDS, level - 1))
    counts = Counter(text)
    limit = source.integer(1, 2)
    total = sum(n * n for n in counts.values() if n > limit) + len(counts)
    program = (
        f"counts = {{}}\nfor letter in '{text}':\n    counts[letter] = counts.get(letter, 0) + 1\ntotal = "
        f"len(counts)\nfor letter in counts:\n    if counts[letter] > {limit}:\n        total += "
        "counts[letter] ** 2"
    )
    return asked(program, "total", total)


@TEMPLATES.at(3, 4)
def shifted_letters(source: Source, level: int) -> Made:
    """Shift the letters of a word."""
    word, shift = source.choice(_WORDS), source.integer(2, 9)
    step = {3: 0, 4: source.integer(2, 5)}[level]
    result = "".join(chr((ord(c) - 97 + shift + step * i) % 26 + 97) for i, c in enumerate(word))
    move = f"{shift} + {step} * i" if step else str(shift)
    program = (
        f"word = '{word}'\nresult = ''\nfor i in range(len(word)):\n    n = ord(word[i]) - ord('a')\n"
        f"    result += chr((n + {move}) % 26 + ord('a'))"
    )
    return asked(program, "result", result, "code")


@TEMPLATES.at(4)
def kept_list(source: Source, level: int) -> Made:  # noqa: ARG001
    """Keep a list between calls."""
    a, b, c = source.integers(3, 2, 30)
    box = [a, b, c]
    answer = sum(sum(box[: k + 1]) * (k + 1) for k in range(3))
    program = "def add(x, box=[]):\n    box.append(x)\n    return sum(box) * len(box)\n\n"
    made = asked(program, f"add({a}) + add({b}) + add({c})", answer)
    return made._replace(
        derivation=f"box = []\nanswer = 0\nfor x in {box}:\n    box.append(x)\n    answer += sum(box) * len(box)"
    )


@TEMPLATES.at(4, 5)
def exchanges(source: Source, level: int) -> Made:
    """Count the exchanges of a sort."""
    values = source.sample(range(1, 100), {4: 6, 5: 13}[level])
    swaps = sum(a > b for i, a in enumerate(values) for b in values[i + 1 :])
    program = (
        f"a = {values}\nswaps = 0\nfor i in range(len(a)):\n    for j in range(len(a) - 1):\n        if a[j] "
        "> a[j + 1]:\n            a[j], a[j + 1] = a[j + 1], a[j]\n            swaps += 1"
    )
    return asked(program, "swaps", swaps)
