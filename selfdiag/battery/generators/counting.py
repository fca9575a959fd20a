"""Combinatorics, harder: coins, onto functions, restricted words and fixed points."""

from __future__ import annotations

from math import comb

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import commas, listed

TEMPLATES = Templates("combinatorics")


@TEMPLATES.at(5, 6)
def coins(source: Source, level: int) -> Made | None:
    """Count the ways to pay an amount."""
    values = sorted(source.sample(range(2, 16), {5: 4, 6: 7}[level]))
    amount = source.integer(*{5: (60, 110), 6: (400, 900)}[level])
    ways = [1] + [0] * amount
    for value in values:
        for total in range(value, amount + 1):
            ways[total] += ways[total - value]
    if ways[amount] == 0:
        return None
    derivation = (
        f"ways = [1] + [0] * {amount}\nfor value in {values}:\n    for total in range(value, {amount} + 1):\n"
        f"        ways[total] += ways[total - value]\nanswer = ways[{amount}]"
    )
    return Made(
        answer=str(ways[amount]),
        questions=(
            f"There are coins worth {listed(values)} cents, as many of each as needed. In how many ways can "
            f"exactly {amount} cents be paid when only the number of coins of each kind matters? Answer as "
            "a whole number.",
            f"As a whole number, count the ways to write {amount} as a sum of numbers from the list "
            f"{commas(values)}, repetition allowed and order ignored.",
            f"Stamps with the values {commas(values[::-1])} are in unlimited supply. Give, as a whole "
            f"number, the number of collections of stamps with the total value {amount}.",
        ),
        derivation=derivation,
        given={"values": values, "amount": amount},
    )


@TEMPLATES.at(4, 5, 6)
def nobody_empty(source: Source, level: int) -> Made:
    """Count the distributions of different gifts in which everybody gets one."""
    low, high, least, most = {4: (4, 7, 3, 4), 5: (8, 14, 4, 7), 6: (20, 26, 8, 11)}[level]
    gifts, children = source.integer(low, high), source.integer(least, most)
    answer = sum((-1) ** k * comb(children, k) * (children - k) ** gifts for k in range(children))
    derivation = (
        f"ways = [1] + [0] * {children}\nfor gift in range({gifts}):\n    ways = [0] + [k * (ways[k] + "
        f"ways[k - 1]) for k in range(1, {children + 1})]\nanswer = ways[{children}]"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"In how many ways can {gifts} different gifts be given to {children} children so that every "
            "child gets at least one? Answer as a whole number.",
            f"As a whole number, how many functions from a set of {gifts} elements onto a set of {children} "
            "elements are there (every element is a value)?",
            f"Count the strings of length {gifts} over an alphabet of {children} letters in which every "
            "letter of the alphabet occurs. Give a whole number.",
        ),
        derivation=derivation,
        given={"gifts": gifts, "children": children},
    )


@TEMPLATES.at(5, 6)
def forbidden_pairs(source: Source, level: int) -> Made | None:
    """Count words without certain pairs of neighbouring letters."""
    letters, length, count = {5: ("ABC", source.integer(8, 11), 3), 6: ("ABCDE", source.integer(25, 35), 7)}[level]
    every = [a + b for a in letters for b in letters]
    banned = sorted(source.sample(every, count))
    ends = dict.fromkeys(letters, 1)
    for _ in range(length - 1):
        ends = {b: sum(ends[a] for a in letters if a + b not in banned) for b in letters}
    answer = sum(ends.values())
    if answer < 30:
        return None
    derivation = (
        f"banned = {banned}\nletters = '{letters}'\nends = [1] * {len(letters)}\nfor step in "
        f"range({length - 1}):\n    ends = [sum([ends[i] for i in range(len(letters)) if letters[i] + b not "
        "in banned]) for b in letters]\nanswer = sum(ends)"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"How many strings of {length} letters from {commas(letters)} contain none of {commas(banned)} "
            "as neighbouring letters, in this order? Answer as a whole number.",
            f"As a whole number, count the words of length {length} over the alphabet {commas(letters)} in "
            f"which none of the two-letter pieces {commas(banned[::-1])} occurs anywhere.",
            f"A word of {length} letters is built from {commas(letters)}, with repetition. It must not have "
            f"any of the substrings {commas(banned)}. Give the number of such words as a whole number.",
        ),
        derivation=derivation,
        given={"letters": list(letters), "length": length, "banned": banned},
    )


@TEMPLATES.at(5, 6)
def fixed_points(source: Source, level: int) -> Made:
    """Count permutations with a given number of fixed points."""
    count, fixed = source.integer(*{5: (7, 12), 6: (17, 26)}[level]), source.integer(2, 5)
    deranged = [1, 0]
    for n in range(2, count + 1):
        deranged.append((n - 1) * (deranged[-1] + deranged[-2]))
    derivation = (
        f"n = {count - fixed}\nloose = 0\nfor k in range(n + 1):\n    loose += (-1) ** k * "
        f"(math.factorial(n) // math.factorial(k))\nanswer = math.factorial({count}) // "
        f"(math.factorial({fixed}) * math.factorial(n)) * loose"
    )
    return Made(
        answer=str(comb(count, fixed) * deranged[count - fixed]),
        questions=(
            f"How many permutations of {count} objects leave exactly {fixed} of them in their place? Answer "
            "as a whole number.",
            f"{count} people hand in their hats and each gets one back. As a whole number, in how many ways "
            f"do exactly {fixed} of them get their own hat?",
            f"Each of {count} letters is put into one of {count} addressed envelopes, one letter in each. "
            f"Give, as a whole number, the number of ways in which exactly {fixed} letters are in the right "
            "envelope.",
        ),
        derivation=derivation,
        given={"count": count, "fixed": fixed},
    )
