"""Combinatorics: selections, arrangements, paths, distributions and words."""

from __future__ import annotations

from itertools import accumulate, combinations
from math import comb, factorial, lcm, perm

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import commas, listed, tuples

TEMPLATES = Templates("combinatorics")


@TEMPLATES.at(1)
def outfits(source: Source, level: int) -> Made:  # noqa: ARG001
    """Count choices of one thing from each of three kinds."""
    a, b, c = source.integers(3, 2, 9)
    return Made(
        answer=str(a * b * c),
        questions=(
            f"A menu has {a} starters, {b} main courses and {c} desserts. How many meals of one starter, "
            "one main course and one dessert are possible? Answer as a number.",
            f"As a number, in how many ways can one hat, one coat and one scarf be picked from {a} hats, "
            f"{b} coats and {c} scarves?",
            f"{a} roads lead from A to B, {b} from B to C and {c} from C to D. Give the number of routes "
            "from A by way of B and C to D.",
        ),
        derivation=f"{a} * {b} * {c}",
        given={"a": a, "b": b, "c": c},
    )


@TEMPLATES.at(1, 2)
def line_up(source: Source, level: int) -> Made:
    """Count the orders of different things."""
    low, high = {1: (3, 5), 2: (6, 8)}[level]
    count = source.integer(low, high)
    what = source.choice(("books", "cups", "flags", "chairs", "bottles", "paintings", "toys", "stones"))
    return Made(
        answer=str(factorial(count)),
        questions=(
            f"In how many orders can {count} different {what} stand in a row? Answer as a number.",
            f"As a number, how many ways are there to arrange {count} distinct {what} one after another in a line?",
            f"Count the sequences that contain each of {count} different {what} exactly once, and give the "
            "count as a number.",
        ),
        derivation=f"math.factorial({count})",
        given={"count": count},
    )


@TEMPLATES.at(1)
def pairs(source: Source, level: int) -> Made:  # noqa: ARG001
    """Count the pairs in a group."""
    count = source.integer(4, 14)
    return Made(
        answer=str(comb(count, 2)),
        questions=(
            f"Each of {count} guests shakes hands once with every other guest. How many handshakes are "
            "there? Answer as a number.",
            f"As a number, how many games are played when each of {count} teams meets every other team exactly once?",
            f"No three of {count} points lie on one line. Give the number of straight lines through two of the points.",
        ),
        derivation=f"len(list(combinations(range({count}), 2)))",
        given={"count": count},
    )


@TEMPLATES.at(1, 2)
def medals(source: Source, level: int) -> Made:
    """Count ordered selections."""
    runners, places, ranks = {
        1: (source.integer(4, 12), 2, "first and second"),
        2: (source.integer(6, 15), 3, "first, second and third"),
    }[level]
    return Made(
        answer=str(perm(runners, places)),
        questions=(
            f"In a race of {runners} runners without ties, how many outcomes are possible for the {ranks} "
            "place? Answer as a number.",
            f"As a number, in how many ways can the {ranks} prize go to different people out of a group of {runners}?",
            f"A judge names the {ranks} of {runners} cakes, in order and without ties. Give the number of "
            "possible verdicts.",
        ),
        derivation=f"len(list(permutations(range({runners}), {places})))",
        given={"runners": runners, "ranks": ranks},
    )


@TEMPLATES.at(2, 3)
def selections(source: Source, level: int) -> Made:
    """Count unordered selections."""
    low, high = {2: (5, 10), 3: (11, 18)}[level]
    total = source.integer(low, high)
    chosen = source.integer(*{2: (2, 4), 3: (3, 6)}[level])
    return Made(
        answer=str(comb(total, chosen)),
        questions=(
            f"In how many ways can {chosen} of {total} books be chosen when the order does not matter? "
            "Answer as a number.",
            f"As a number, how many teams of {chosen} can be formed from {total} people?",
            f"A set has {total} elements. Give the number of its subsets with exactly {chosen} elements.",
        ),
        derivation=f"math.factorial({total}) // (math.factorial({chosen}) * math.factorial({total - chosen}))",
        given={"total": total, "chosen": chosen},
    )


@TEMPLATES.at(2, 3)
def digit_numbers(source: Source, level: int) -> Made | None:
    """Count numbers with different digits from a set."""
    length = source.integer(3, {2: 3, 3: 5}[level])
    digits = sorted(source.sample(range(1, 10), source.integer(length, {2: 5, 3: 7}[level])))
    if level == 3:
        digits[0] = 0
    elif length == len(digits):
        return None
    count = perm(len(digits), length) - (perm(len(digits) - 1, length - 1) if level == 3 else 0)
    zero = " and a first digit other than 0" if level == 3 else ""
    return Made(
        answer=str(count),
        questions=(
            f"How many {length}-digit numbers with {length} different digits{zero} can be written with the "
            f"digits {listed(digits)}? Answer as a number.",
            f"As a number, count the {length}-digit numbers{' (not starting with 0)' if level == 3 else ''} "
            f"whose digits all differ and all come from {commas(digits)}.",
            f"From cards with the digits {listed(digits)}, one card for each digit, {length} are laid side "
            f"by side{', not with 0 at the left end' if level == 3 else ''}. Give the number of different "
            f"{length}-digit numbers that can appear.",
        ),
        derivation=f"len([row for row in permutations({digits}, {length}) if row[0] != 0])",
        given={"length": length, "digits": digits},
    )


@TEMPLATES.at(2, 3)
def apart(source: Source, level: int) -> Made:
    """Count the rows in which two people do not stand side by side."""
    count = source.integer(*{2: (4, 5), 3: (6, 8)}[level])
    first, second = source.sample(("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana"), 2)
    return Made(
        answer=str(factorial(count) - 2 * factorial(count - 1)),
        questions=(
            f"In how many ways can {count} people, among them {first} and {second}, form a line so that "
            f"{first} and {second} are not next to each other? Answer as a number.",
            f"As a number, how many orders of {count} people in a queue are there in which at least one "
            f"other person stands between {first} and {second}, who are two of the {count}?",
            f"{first}, {second} and some friends, {count} people in all, sit down on a bench with {count} "
            f"places. Give the number of seatings in which {first} and {second} are not neighbours.",
        ),
        derivation=f"math.factorial({count}) - 2 * math.factorial({count - 1})",
        given={"count": count, "names": [first, second]},
    )


@TEMPLATES.at(3, 4, 5)
def rearrangements(source: Source, level: int) -> Made | None:
    """Count the words made of given letters, in the hardest case without equal letters side by side."""
    size, high = {3: (3, 3), 4: (4, 4), 5: (5, 4)}[level]
    counts = source.integers(size, 1, high)
    total = sum(counts)
    least, most = {3: (5, 7), 4: (8, 10), 5: (11, 13)}[level]
    if not least <= total <= most or max(counts) == 1 or (level == 5 and counts[0] < 3):
        return None
    letters = "".join(letter * count for letter, count in zip("ABCDE", counts, strict=False))
    rest = counts[1:] if level == 5 else counts
    answer = factorial(sum(rest))
    for count in rest:
        answer //= factorial(count)
    if level == 5:
        answer *= comb(sum(rest) + 1, counts[0])
    clause = " without two A's side by side" if level == 5 else ""
    divisor = " // ".join(f"math.factorial({count})" for count in rest)
    places = f" * len(list(combinations(range({sum(rest) + 1}), {counts[0]})))" if level == 5 else ""
    return Made(
        answer=str(answer),
        questions=(
            f"How many different strings{clause} can be made by rearranging all {total} letters of "
            f"{letters}? Answer as a number.",
            f"As a number, how many distinct orders{clause} do the {total} letters {letters} have?",
            f"Using every one of the {total} letters {letters} exactly once, how many different sequences "
            f"of letters{clause} can be written? Give a number.",
        ),
        derivation=f"math.factorial({sum(rest)}) // {divisor}{places}",
        given={"letters": letters, "clause": clause},
    )


@TEMPLATES.at(3, 4)
def committees(source: Source, level: int) -> Made | None:
    """Count mixed selections with a minimum."""
    women, men = source.integers(2, *{3: (3, 6), 4: (7, 12)}[level])
    size, least = {3: (3, 2), 4: (source.integer(5, 6), source.integer(2, 3))}[level]
    if women == men:
        return None
    count = sum(comb(women, k) * comb(men, size - k) for k in range(least, size + 1))
    return Made(
        answer=str(count),
        questions=(
            f"From {women} women and {men} men a committee of {size} people is chosen, at least {least} of "
            "them women. In how many ways is this possible? Answer as a number.",
            f"As a number, how many groups of {size} with no fewer than {least} women can be formed from "
            f"{men} men and {women} women?",
            f"A box holds {women} different red balls and {men} different blue ones. Give the number of "
            f"sets of {size} balls that contain {least} or more red balls.",
        ),
        derivation=f"sum([len(list(combinations(range({women}), k)))"
        f" * len(list(combinations(range({men}), {size} - k))) "
        f"for k in range({least}, {size} + 1)])",
        given={"women": women, "men": men, "size": size, "least": least},
    )


@TEMPLATES.at(3, 4, 5, 6)
def grid_paths(source: Source, level: int) -> Made | None:
    """Count shortest grid paths around blocked points."""
    low, high, count = {3: (3, 4, 2), 4: (4, 6, 2), 5: (7, 9, 3), 6: (14, 18, 5)}[level]
    width, height = source.integer(low, high), source.integer(low, high)
    blocked = sorted({(source.integer(0, width), source.integer(0, height)) for _ in range(count)})
    ways = {(0, 0): 1}
    for x in range(width + 1):
        for y in range(height + 1):
            if (x, y) != (0, 0):
                ways[x, y] = 0 if (x, y) in blocked else ways.get((x - 1, y), 0) + ways.get((x, y - 1), 0)
    answer = ways[width, height]
    if len(blocked) < count or (0, 0) in blocked or answer == 0:
        return None
    derivation = (
        f"blocked = {blocked}\nrow = [1] + [0] * {width}\nfor y in range({height + 1}):\n    for x in "
        f"range({width + 1}):\n        if x > 0:\n            row[x] += row[x - 1]\n        if (x, y) in "
        "blocked:\n            row[x] = 0\nanswer = row[-1]"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"A path on the integer grid goes from (0, 0) to ({width}, {height}) in steps of 1 to the right "
            f"or 1 up. How many such paths avoid the points {tuples(blocked)}? Answer as a whole number.",
            f"As a whole number, count the ways to walk from (0, 0) to ({width}, {height}) when each step "
            f"adds 1 to one coordinate and none of the points {tuples(blocked[::-1])} may be visited.",
            "A robot starts at (0, 0), moves only right or up by one unit at a time, and must reach "
            f"({width}, {height}) without touching {tuples(blocked)}. Give the number of its possible "
            "routes as a whole number.",
        ),
        derivation=derivation,
        given={"end": [width, height], "blocked": [list(point) for point in blocked]},
    )


@TEMPLATES.at(4, 5, 6)
def multiples(source: Source, level: int) -> Made | None:
    """Count the numbers divisible by at least one of several numbers."""
    limit, low, high, count = {
        4: (source.integer(5, 40) * 25, 4, 15, 2),
        5: (source.integer(20, 99) * 1000 + 1, 6, 30, 4),
        6: (source.integer(10**9, 10**10), 6, 60, 6),
    }[level]
    divisors = sorted(source.sample(range(low, high + 1), count))
    if any(b % a == 0 for a, b in combinations(divisors, 2)):
        return None
    answer = 0
    for size in range(1, count + 1):
        answer -= (-1) ** size * sum(limit // lcm(*chosen) for chosen in combinations(divisors, size))
    derivation = (
        f"answer = 0\nfor size in range(1, {count + 1}):\n    for chosen in combinations({divisors}, size):\n"
        "        multiple = 1\n        for n in chosen:\n            multiple = multiple * n // "
        f"math.gcd(multiple, n)\n        answer -= (-1) ** size * ({limit} // multiple)"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"How many integers from 1 to {limit} are divisible by at least one of {listed(divisors)}? "
            "Answer as a whole number.",
            f"Count the integers n with 1 ≤ n ≤ {limit} that are a multiple of one or more of the numbers "
            f"{commas(divisors[::-1])}. Give the count as a whole number.",
            f"As a whole number: among the first {limit} positive integers, how many have some member of "
            f"the list {commas(divisors)} as a divisor?",
        ),
        derivation=derivation,
        given={"limit": limit, "divisors": divisors},
    )


@TEMPLATES.at(4, 5, 6)
def filled_boxes(source: Source, level: int) -> Made:
    """Count the distributions of equal balls over boxes with limits."""
    low, high, count = {4: (2, 6, 3), 5: (3, 9, 5), 6: (6, 25, 9)}[level]
    limits = source.integers(count, low, high)
    balls = sum(limits) // 2 + source.integer(-1, 1)
    ways = [1]
    for limit in limits:
        below = list(accumulate([*ways, *[0] * limit], initial=0))
        ways = [below[n + 1] - below[max(0, n - limit)] for n in range(len(below) - 1)]
    answer = ways[balls]
    derivation = (
        f"ways = [1] + [0] * {balls}\nfor limit in {limits}:\n    sums = [0]\n    for way in ways:\n        "
        "sums.append(sums[-1] + way)\n    ways = [sums[n + 1] - sums[max(0, n - limit)] for n in "
        f"range({balls + 1})]\nanswer = ways[{balls}]"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"In how many ways can {balls} equal balls be put into {count} different boxes that hold at "
            f"most {listed(limits)} balls, in this order? All balls are used and boxes may stay empty. "
            "Answer as a whole number.",
            f"As a whole number, count the lists of {count} non-negative integers with the sum {balls} "
            f"whose entries are, in order, at most {listed(limits)}.",
            f"A shop has {count} kinds of sweets, with {listed(limits)} pieces of them in stock. Pieces of "
            "one kind are alike. Give, as a whole number, the number of different bags with exactly "
            f"{balls} sweets.",
        ),
        derivation=derivation,
        given={"balls": balls, "limits": limits, "count": count},
    )
