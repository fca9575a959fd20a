"""Probability, harder: runs, games, samples and collections, as exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates

TEMPLATES = Templates("probability")

_FORM = "a fraction in lowest terms"


@TEMPLATES.at(4, 5)
def sample_count(source: Source, level: int) -> Made | None:
    """Draw a number of special items in a sample without replacement."""
    total, special, drawn = {
        4: (source.integer(8, 12), source.integer(3, 5), source.integer(3, 4)),
        5: (source.integer(25, 40), source.integer(8, 14), source.integer(7, 10)),
    }[level]
    wanted = source.integer(2, 3)
    if level == 4:
        hits, exactly = comb(special, wanted) * comb(total - special, drawn - wanted), "exactly"
    else:
        ways = range(wanted, min(special, drawn) + 1)
        hits, exactly = sum(comb(special, k) * comb(total - special, drawn - k) for k in ways), "at least"
    if hits == 0:
        return None
    last = wanted if level == 4 else min(special, drawn)
    derivation = (
        "hits = 0\n"
        f"for k in range({wanted}, {last} + 1):\n    if {drawn} - k <= {total - special}:\n"
        f"        hits += math.comb({special}, k) * math.comb({total - special}, {drawn} - k)\n"
        f"answer = Fraction(hits, math.comb({total}, {drawn}))"
    )
    return Made(
        answer=str(Fraction(hits, comb(total, drawn))),
        questions=(
            f"Of {total} lamps, {special} are broken. A random sample of {drawn} lamps is taken without "
            f"replacement. What is the probability that it has {exactly} {wanted} broken lamps? Answer as "
            f"{_FORM}.",
            f"As {_FORM}, how likely is it that {drawn} people, drawn by lot from {total} people of whom "
            f"{special} are doctors, include {exactly} {wanted} doctors?",
            f"A deck of {total} cards has {special} red cards. Someone is dealt {drawn} cards at random. "
            f"Give the probability of {exactly} {wanted} red cards, as {_FORM}.",
        ),
        derivation=derivation,
        given={"total": total, "special": special, "drawn": drawn, "wanted": wanted, "exactly": exactly},
    )


@TEMPLATES.at(4, 5)
def first_to_win(source: Source, level: int) -> Made:
    """Win a series of games."""
    wins = source.integer(*{4: (2, 4), 5: (5, 8)}[level])
    chance = Fraction(*source.choice(((2, 3), (1, 3), (3, 5), (2, 5), (3, 4), (1, 4), (4, 7), (3, 7))))
    answer = sum(
        (comb(wins - 1 + lost, lost) * chance**wins * (1 - chance) ** lost for lost in range(wins)), Fraction()
    )
    derivation = (
        f"p = Fraction({chance.numerator}, {chance.denominator})\nrow = [Fraction(1)] * {wins + 1}\nfor a in "
        f"range({wins}):\n    better = [Fraction(0)]\n    for b in range(1, {wins} + 1):\n        "
        "better.append(p * row[b] + (1 - p) * better[b - 1])\n    row = better\nanswer = row[-1]"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"Ann and Bob play games without draws until one of them has won {wins} games. Ann wins each "
            f"game with probability {chance}, independently. What is the probability that Ann gets there "
            f"first? Answer as {_FORM}.",
            f"As {_FORM}, how likely is a team to win a series that goes to the first side with {wins} "
            f"victories, if it wins every single match with probability {chance}, independently of the "
            "others, and no match is drawn?",
            f"A coin shows heads with probability {chance} in every toss. It is tossed until one of its two "
            f"sides has come up {wins} times. Give the probability that this side is heads, as {_FORM}.",
        ),
        derivation=derivation,
        given={"wins": wins, "chance": [chance.numerator, chance.denominator]},
    )


@TEMPLATES.at(4, 5)
def distinct_values(source: Source, level: int) -> Made:
    """Find the expected number of different values."""
    sides, rolls = source.integer(*{4: (4, 12), 5: (7, 15)}[level]), source.integer(*{4: (3, 4), 5: (6, 9)}[level])
    return Made(
        answer=str(sides - Fraction((sides - 1) ** rolls, sides ** (rolls - 1))),
        questions=(
            f"A fair die with {sides} sides is rolled {rolls} times. What is the expected number of "
            f"different sides that come up at least once? Answer as {_FORM}.",
            f"Each of {rolls} people picks one of {sides} dishes at random, all with the same chance and "
            f"independently. As {_FORM}, what is the mean number of dishes that somebody picks?",
            f"{rolls} balls fall independently into {sides} boxes, each box being equally likely for each "
            f"ball. Give the expectation of the number of boxes that are not empty, as {_FORM}.",
        ),
        derivation=f"answer = Fraction(0)\nfor roll in range({rolls}):\n    answer = answer + 1 - answer / {sides}",
        given={"sides": sides, "rolls": rolls},
    )


@TEMPLATES.at(4, 5, 6)
def no_run(source: Source, level: int) -> Made:
    """Toss a coin without a long run of heads."""
    low, high, runs = {4: (5, 9, (2,)), 5: (10, 16, (2, 3, 4)), 6: (28, 60, (3, 4, 5))}[level]
    tosses, run = source.integer(low, high), source.choice(runs)
    good = [2**n for n in range(run)]
    while len(good) <= tosses:
        good.append(sum(good[-run:]))
    derivation = (
        f"ends = [1] + [0] * {run - 1}\nfor toss in range({tosses}):\n    ends = [sum(ends)] + ends[:-1]\n"
        f"answer = Fraction(sum(ends), 2**{tosses})"
    )
    return Made(
        answer=str(Fraction(good[tosses], 2**tosses)),
        questions=(
            f"A fair coin is tossed {tosses} times. What is the probability that heads never comes up {run} "
            f"times in a row? Answer as {_FORM}.",
            f"As {_FORM}, how likely is a random string of {tosses} bits, each 0 or 1 with the same chance, "
            f"to contain no {run} consecutive ones?",
            f"In {tosses} tosses of a fair coin, let R be the length of the longest unbroken series of "
            f"heads. Give the probability of R < {run}, as {_FORM}.",
        ),
        derivation=derivation,
        given={"tosses": tosses, "run": run},
    )


@TEMPLATES.at(5, 6)
def ruin(source: Source, level: int) -> Made:
    """Reach a goal before losing everything."""
    goal = source.integer(*{5: (5, 8), 6: (14, 20)}[level])
    start = source.integer(2, goal - 2)
    chance = Fraction(*source.choice(((2, 5), (3, 5), (3, 7), (4, 7), (4, 9), (5, 9))))
    ratio = (1 - chance) / chance
    derivation = (
        f"p = Fraction({chance.numerator}, {chance.denominator})\nh = [Fraction(0), Fraction(1)]\nfor n in "
        f"range(1, {goal}):\n    h.append((h[n] - (1 - p) * h[n - 1]) / p)\nanswer = h[{start}] / h[{goal}]"
    )
    return Made(
        answer=str((1 - ratio**start) / (1 - ratio**goal)),
        questions=(
            f"A player has {start} euros and bets 1 euro again and again, winning 1 euro with probability "
            f"{chance} and losing it otherwise, until there are {goal} euros or none. What is the "
            f"probability of ending with {goal} euros? Answer as {_FORM}.",
            f"A walk on the integers starts at {start} and goes up by 1 with probability {chance}, else "
            f"down by 1, each step independent of the others. As {_FORM}, how likely is it to reach {goal} "
            "before 0?",
            f"Two people own {goal} tokens together, the first one {start} of them. In every round the "
            f"first wins a token from the second with probability {chance} and otherwise loses one to the "
            f"second, until one of them has all. Give the probability that the first does, as {_FORM}.",
        ),
        derivation=derivation,
        given={"start": start, "goal": goal, "chance": [chance.numerator, chance.denominator]},
    )


@TEMPLATES.at(5, 6)
def divisible_sum(source: Source, level: int) -> Made | None:
    """Draw different numbers whose sum has a given divisor."""
    total, drawn, divisor = {
        5: (source.integer(13, 20), source.integer(4, 5), source.choice((5, 6, 7, 8))),
        6: (source.integer(40, 60), source.integer(7, 9), source.choice((9, 11, 12, 13))),
    }[level]
    ways = [[0] * divisor for _ in range(drawn + 1)]
    ways[0][0] = 1
    for number in range(1, total + 1):
        for size in range(drawn, 0, -1):
            before = ways[size - 1]
            ways[size] = [old + before[(rest - number) % divisor] for rest, old in enumerate(ways[size])]
    if Fraction(ways[drawn][0], comb(total, drawn)) == Fraction(1, divisor):
        return None
    derivation = (
        f"ways = [[0] * {divisor} for size in range({drawn + 1})]\nways[0][0] = 1\nfor n in range(1, "
        f"{total + 1}):\n    for size in range({drawn}, 0, -1):\n        for r in range({divisor}):\n        "
        f"    ways[size][(r + n) % {divisor}] += ways[size - 1][r]\nanswer = Fraction(ways[{drawn}][0], "
        f"math.comb({total}, {drawn}))"
    )
    return Made(
        answer=str(Fraction(ways[drawn][0], comb(total, drawn))),
        questions=(
            f"{drawn} cards are drawn at random without replacement from {total} cards numbered 1 to "
            f"{total}. What is the probability that the sum of their numbers is divisible by {divisor}? "
            f"Answer as {_FORM}.",
            f"As {_FORM}: how likely is it that {drawn} different numbers picked at random from 1, 2, ..., "
            f"{total} add up to a multiple of {divisor}?",
            f"A set of {drawn} integers is chosen uniformly among all {drawn}-element subsets of the "
            f"integers from 1 to {total}. Give, as {_FORM}, the probability that {divisor} divides the "
            "total of the set.",
        ),
        derivation=derivation,
        given={"total": total, "drawn": drawn, "divisor": divisor},
    )


@TEMPLATES.at(5, 6)
def complete_set(source: Source, level: int) -> Made:
    """See every side of a die."""
    sides, low, high = {5: (source.integer(4, 7), 8, 14), 6: (source.integer(10, 13), 22, 32)}[level]
    rolls = source.integer(low, high)
    hits = sum((-1) ** k * comb(sides, k) * (sides - k) ** rolls for k in range(sides))
    derivation = (
        f"ways = [1] + [0] * {sides}\nfor roll in range({rolls}):\n"
        f"    ways = [0] + [k * ways[k] + ({sides + 1} - k) * ways[k - 1] for k in range(1, {sides + 1})]\n"
        f"answer = Fraction(ways[{sides}], {sides}**{rolls})"
    )
    return Made(
        answer=str(Fraction(hits, sides**rolls)),
        questions=(
            f"A fair die with {sides} sides is rolled {rolls} times. What is the probability that every "
            f"side comes up at least once? Answer as {_FORM}.",
            f"Each of {rolls} packets contains one of {sides} pictures, all with the same chance and "
            f"independently. As {_FORM}, how likely is it that someone who opens all the packets has the "
            "complete set of pictures?",
            f"{rolls} balls fall independently into {sides} boxes, each box being equally likely for each "
            f"ball. Give the probability that no box stays empty, as {_FORM}.",
        ),
        derivation=derivation,
        given={"sides": sides, "rolls": rolls},
    )
