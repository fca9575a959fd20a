"""Probability: draws, dice, coins, conditional probabilities and expectations, as exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import comb

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import counted, listed

TEMPLATES = Templates("probability")

_FORM = "a fraction in lowest terms"


def _proper(source: Source, low: int, high: int) -> Fraction:
    """Return a fraction between 0 and 1."""
    bottom = source.integer(low, high)
    return Fraction(source.integer(1, bottom - 1), bottom)


def _written(value: Fraction) -> str:
    return f"Fraction({value.numerator}, {value.denominator})"


def _pair(value: Fraction) -> list[int]:
    return [value.numerator, value.denominator]


@TEMPLATES.at(1)
def urn(source: Source, level: int) -> Made:  # noqa: ARG001
    """Draw one ball of a colour."""
    red, blue = source.integer(2, 12), source.integer(2, 12)
    return Made(
        answer=str(Fraction(red, red + blue)),
        questions=(
            f"A bag holds {red} red and {blue} blue balls. One is drawn at random. What is the probability "
            f"that it is red? Answer as {_FORM}.",
            f"As {_FORM}, how likely is a random pick from {blue} blue and {red} red marbles to be a red one?",
            f"In a box are {red} red pens and {blue} blue pens, and someone takes one without looking. Give "
            f"the chance of a red pen as {_FORM}.",
        ),
        derivation=f"Fraction({red}, {red} + {blue})",
        given={"red": red, "blue": blue},
    )


@TEMPLATES.at(1)
def high_roll(source: Source, level: int) -> Made:  # noqa: ARG001
    """Roll more than a bound."""
    sides = source.choice((6, 8, 10, 12, 20))
    bound = source.integer(2, sides - 2)
    return Made(
        answer=str(Fraction(sides - bound, sides)),
        questions=(
            f"A fair die has the numbers 1 to {sides} on its sides. What is the probability of a roll "
            f"greater than {bound}? Answer as {_FORM}.",
            f"As {_FORM}, how likely is a fair {sides}-sided die, numbered from 1, to show more than {bound}?",
            f"A whole number from 1 to {sides} is chosen, each with the same chance. Give the probability "
            f"that it exceeds {bound} as {_FORM}.",
        ),
        derivation=f"Fraction(len([n for n in range(1, {sides} + 1) if n > {bound}]), {sides})",
        given={"sides": sides, "bound": bound},
    )


@TEMPLATES.at(1, 2)
def independent_events(source: Source, level: int) -> Made | None:
    """Combine two independent events."""
    a, b = _proper(source, 2, 9), _proper(source, 2, 9)
    if a == b:
        return None
    both = level == 1
    what, again = ("both", "A and B together") if both else ("at least one of them", "A or B or both")
    answer = a * b if both else 1 - (1 - a) * (1 - b)
    return Made(
        answer=str(answer),
        questions=(
            f"Two independent events have the probabilities {a} and {b}. What is the probability that "
            f"{what} will happen? Answer as {_FORM}.",
            f"The events A and B do not influence each other, P(A) = {a} and P(B) = {b}. As {_FORM}, how "
            f"likely is {again}?",
            f"One machine fails today with probability {a}, another, independently, with probability {b}. "
            f"Give the probability that {'both fail' if both else 'at least one of the two fails'} as "
            f"{_FORM}.",
        ),
        derivation=f"{_written(a)} * {_written(b)}" if both else f"1 - (1 - {_written(a)}) * (1 - {_written(b)})",
        given={"a": _pair(a), "b": _pair(b), "both": both},
    )


@TEMPLATES.at(1, 2)
def numbered_card(source: Source, level: int) -> Made | None:
    """Draw a number with a given divisor."""
    total = source.integer(*{1: (10, 30), 2: (30, 100)}[level])
    divisors = source.sample(range(2, 8), level)
    if level == 2 and (divisors[0] % divisors[1] == 0 or divisors[1] % divisors[0] == 0):
        return None
    hits = sum(any(n % d == 0 for d in divisors) for n in range(1, total + 1))
    by = f"divisible by {' or '.join(map(str, divisors))}" + (" (or both)" if level == 2 else "")
    test = " or ".join(f"n % {d} == 0" for d in divisors)
    return Made(
        answer=str(Fraction(hits, total)),
        questions=(
            f"Cards are numbered from 1 to {total}, and one is drawn at random. What is the probability "
            f"that its number is {by}? Answer as {_FORM}.",
            f"As {_FORM}, how likely is a random integer from 1 to {total} (all equally likely) to be {by}?",
            f"A wheel stops with equal chance at each of the numbers 1, 2, ..., {total}. Give the "
            f"probability of a number {by}, as {_FORM}.",
        ),
        derivation=f"Fraction(len([n for n in range(1, {total} + 1) if {test}]), {total})",
        given={"total": total, "divisors": divisors},
    )


@TEMPLATES.at(2, 3, 4, 5, 6)
def dice_sum(source: Source, level: int) -> Made:
    """Roll a given sum with several dice."""
    dice, kinds = {2: (2, (6, 8)), 3: (3, (4, 6)), 4: (4, (4, 6, 8)), 5: (6, (6, 8)), 6: (9, (10, 12, 20))}[level]
    sides = source.choice(kinds)
    middle = dice * (sides + 1) // 2
    target = middle + source.integer(-dice, dice)
    ways = [1]
    for _ in range(dice):
        below = list(accumulate([*ways, *[0] * sides], initial=0))
        ways = [below[total] - below[max(0, total - sides)] for total in range(len(below))]
    derivation = (
        "answer = 0\n"
        f"for k in range({(target - dice) // sides} + 1):\n"
        f"    answer += (-1)**k * math.comb({dice}, k) * math.comb({target} - {sides} * k - 1, {dice} - 1)\n"
        f"answer = Fraction(answer, {sides}**{dice})"
    )
    return Made(
        answer=str(Fraction(ways[target], sides**dice)),
        questions=(
            f"{dice} fair dice, each with the numbers 1 to {sides}, are rolled. What is the probability "
            f"that they sum to {target}? Answer as {_FORM}.",
            f"As {_FORM}, how likely is a total of {target} when a fair {sides}-sided die (numbered from 1) "
            f"is thrown {dice} times?",
            f"Numbers from 1 to {sides} are drawn {dice} times, independently and each with the same "
            f"chance. Give the probability that they add up to {target}, as {_FORM}.",
        ),
        derivation=derivation,
        given={"dice": dice, "sides": sides, "target": target},
    )


@TEMPLATES.at(2, 3)
def two_draws(source: Source, level: int) -> Made:
    """Draw two balls without replacement."""
    red, blue = source.integers(2, *{2: (2, 6), 3: (7, 15)}[level])
    pairs = comb(red + blue, 2)
    same = level == 2
    answer = Fraction(comb(red, 2) if same else red * blue, pairs)
    what = "both red" if same else "of different colours"
    hits = "a == 1 and b == 1" if same else "a != b"
    return Made(
        answer=str(answer),
        questions=(
            f"A bag holds {red} red and {blue} blue balls. Two are drawn at random without replacement. "
            f"What is the probability that they are {what}? Answer as {_FORM}.",
            f"As {_FORM}, how likely are two socks, taken at the same time and blindly from {blue} blue and "
            f"{red} red single socks, to be {what}?",
            f"Two of {red + blue} cards, {red} of them red and {blue} blue, are dealt at random. Give the "
            f"probability that they are {what}, as {_FORM}.",
        ),
        derivation=(
            f"deck = [1] * {red} + [0] * {blue}\n"
            f"answer = Fraction(len([1 for a, b in combinations(deck, 2) if {hits}]), "
            f"len(list(combinations(deck, 2))))"
        ),
        given={"red": red, "blue": blue, "what": what},
    )


@TEMPLATES.at(2, 3, 4)
def heads(source: Source, level: int) -> Made:
    """Toss a given number of heads."""
    tosses = source.integer(*{2: (3, 5), 3: (6, 9), 4: (5, 6)}[level])
    wanted = source.integer(1, tosses - 1)
    chance = Fraction(1, 2) if level < 4 else _proper(source, 3, 5)
    answer = comb(tosses, wanted) * chance**wanted * (1 - chance) ** (tosses - wanted)
    coin = "a fair coin" if level < 4 else f"a coin that shows heads with probability {chance}"
    derivation = (
        f"answer = Fraction(0)\nfor row in product([0, 1], repeat={tosses}):\n    if sum(row) == {wanted}:\n"
        f"        answer += {_written(chance)} ** {wanted} * (1 - {_written(chance)}) ** {tosses - wanted}"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"{coin.capitalize()} is tossed {tosses} times. What is the probability of exactly "
            f"{counted(wanted, 'head')}? Answer as {_FORM}.",
            f"As {_FORM}, how likely is it that {coin} lands on heads exactly {counted(wanted, 'time')} in "
            f"{tosses} independent tosses?",
            f"In {tosses} independent throws of {coin}, heads is counted. Give the probability that the "
            f"count is {wanted}, as {_FORM}.",
        ),
        derivation=derivation,
        given={"tosses": tosses, "wanted": wanted, "chance": _pair(chance) if level == 4 else []},
    )


@TEMPLATES.at(3, 4)
def faulty_part(source: Source, level: int) -> Made:
    """Find the origin of a faulty part (Bayes' rule)."""
    names = "ABC"[: level - 1]
    shares = [source.integer(2, 6) * 10]
    if level == 4:
        shares.append(source.integer(1, 9 - shares[0] // 10) * 10)
    shares.append(100 - sum(shares))
    faults = source.sample(range(1, 10), len(names))
    answer = Fraction(shares[0] * faults[0], sum(s * f for s, f in zip(shares, faults, strict=True)))
    both = listed(
        f"{name} (share {share} percent, fault rate {fault} percent)"
        for name, share, fault in zip(names, shares, faults, strict=True)
    )
    return Made(
        answer=str(answer),
        questions=(
            f"The machines {listed(names)} make {listed(shares)} percent of all parts, and {listed(faults)} "
            "percent of their parts are faulty, each in this order. A random part turns out to be faulty. "
            f"What is the probability that A made it? Answer as {_FORM}.",
            f"A shop buys its lamps from the makers {both}. As {_FORM}, how likely is it that a randomly "
            "picked lamp is from A, given that it is faulty?",
            f"Letters are typed by {both}, where the share is the part of all letters and the fault rate "
            f"the part with an error. A random letter has an error. Give, as {_FORM}, the probability that "
            "A typed it.",
        ),
        derivation=f"Fraction({shares[0]} * {faults[0]}, "
        f"{' + '.join(f'{s} * {f}' for s, f in zip(shares, faults, strict=True))})",
        given={"shares": shares, "faults": faults},
    )


@TEMPLATES.at(3, 4)
def expected_maximum(source: Source, level: int) -> Made | None:
    """Find the expected largest value of several dice."""
    dice, sides = {3: (2, source.integer(4, 20)), 4: (3, source.integer(4, 20))}[level]
    answer = sides - Fraction(sum(k**dice for k in range(1, sides)), sides**dice)
    if answer.denominator == 1:
        return None
    return Made(
        answer=str(answer),
        questions=(
            f"{dice} fair dice with the numbers 1 to {sides} are rolled. What is the expected value of the "
            f"largest number shown? Answer as {_FORM}.",
            f"As {_FORM}, what is the mean of the maximum of {dice} independent rolls of a fair "
            f"{sides}-sided die that is numbered from 1?",
            f"A player rolls {dice} fair dice numbered 1 to {sides} and keeps only the best roll. Give the "
            f"expectation of the roll kept, as {_FORM}.",
        ),
        derivation=f"rolls = product(range(1, {sides} + 1), repeat={dice})\n"
        f"answer = Fraction(sum([max(row) for row in rolls]), {sides}**{dice})",
        given={"dice": dice, "sides": sides},
    )
