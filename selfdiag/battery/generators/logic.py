"""Logic in words: orders, overlaps, certainties, calendars and lamps."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import lcm

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import counted, listed, ordinal

TEMPLATES = Templates("logic")

_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jill", "Karl", "Lena", "Max", "Nora")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@TEMPLATES.at(1, 2, 3, 4)
def heights(source: Source, level: int) -> Made:
    """Find a place in an order given by comparisons."""
    people = source.sample(_NAMES, level + 2)
    place = source.choice((1, len(people))) if level == 1 else source.integer(2, len(people) - 1)
    steps = source.shuffled(pairwise(people))
    clues = listed(f"{a} is taller than {b}" if source.integer(0, 1) else f"{b} is shorter than {a}" for a, b in steps)
    above = listed(f"{a} stands above {b}" for a, b in reversed(steps))
    older = listed(f"{b} is younger than {a}" for a, b in steps)
    rank = ordinal(place) + " "
    end = "tallest" if place == 1 else "shortest"
    what = end if level == 1 else f"{rank}tallest"
    wanted = {1: "at the top", 3: "at the bottom"}.get(place, "") if level == 1 else f"in the {rank}place from the top"
    old = {1: "the oldest", 3: "the youngest"}.get(place, "") if level == 1 else f"the {rank}oldest"
    order = "people = " + repr(sorted(people)) + "\nsteps = " + repr(steps)
    derivation = (
        f"{order}\nfor row in permutations(people):\n    if all([row.index(a) < row.index(b) for a, b in "
        f"steps]):\n        answer = row[{place - 1}]"
        if level < 4
        else f"{order}\nabove = {{}}\nfor a, b in steps:\n    above[b] = a\nfor p in people:\n    n, q = 1, p\n"
        f"    while q in above:\n        q = above[q]\n        n += 1\n    if n == {place}:\n        answer "
        "= p"
    )
    return Made(
        answer=people[place - 1],
        questions=(
            f"{clues}. Who is the {what} of the {len(people)} people? Answer with the letter of the right option.",
            f"{len(people)} names are written in a column, one below the other: {above}, though not always "
            f"directly. Which name stands {wanted}? Reply with the letter of the option.",
            f"Answer with one letter. {older}. Who of these {len(people)} people is {old}?",
        ),
        derivation=derivation,
        given={"steps": [list(step) for step in steps], "count": len(people), "place": [place]},
        kind="choice",
        options=tuple(sorted(people)),
    )


@TEMPLATES.at(1, 2)
def overlap(source: Source, level: int) -> Made:
    """Count the members of a group who have neither or just one of two properties."""
    only_a, only_b, both, neither = source.integers(4, 2, {1: 9, 2: 30}[level])
    a, b, total = only_a + both, only_b + both, only_a + only_b + both + neither
    answer = neither if level == 1 else only_a + only_b
    end = "neither" if level == 1 else "exactly one of the two"
    return Made(
        answer=str(answer),
        questions=(
            f"Of {total} people, {a} like tea, {b} like coffee and {both} like both. How many like {end}? "
            "Answer as a number.",
            f"A class has {total} pupils. {a} of them play chess, {b} play football, and {both} do both. As "
            f"a number, how many pupils do {end}?",
            f"Among {total} words, {a} contain the letter R, {b} the letter S, and {both} contain R as well "
            f"as S. Give the number of words that contain {end}.",
        ),
        derivation=f"{total} - ({a} + {b} - {both})" if level == 1 else f"{a} + {b} - 2 * {both}",
        given={"total": total, "a": a, "b": b, "both": both, "neither": level == 1},
    )


@TEMPLATES.at(3, 4)
def three_sets(source: Source, level: int) -> Made:
    """Count the members of a group with none or exactly one of three properties."""
    parts = source.integers(8, *{3: (2, 9), 4: (11, 60)}[level])
    regions = dict(zip(range(8), parts, strict=True))
    single = [sum(n for region, n in regions.items() if region >> k & 1) for k in range(3)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    double = [sum(n for r, n in regions.items() if r >> i & 1 and r >> j & 1) for i, j in pairs]
    total, triple = sum(parts), regions[7]
    answer = regions[0] if level == 3 else regions[1] + regions[2] + regions[4]
    end = "none of the three" if level == 3 else "exactly one of the three"
    (a, b, c), (ab, ac, bc) = single, double
    derivation = (
        f"{total} - ({a} + {b} + {c} - {ab} - {ac} - {bc} + {triple})"
        if level == 3
        else f"{a} + {b} + {c} - 2 * ({ab} + {ac} + {bc}) + 3 * {triple}"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"Of {total} people, {a} speak Dutch, {b} speak Finnish and {c} speak Greek; {ab} speak Dutch "
            f"and Finnish, {ac} Dutch and Greek, {bc} Finnish and Greek, and {triple} speak all three (who "
            f"are counted among those before). How many speak {end}? Answer as a number.",
            f"The sets A, B and C are parts of a set of {total} elements and have {a}, {b} and {c} "
            f"elements. A and B share {ab}, A and C share {ac}, B and C share {bc}, and {triple} lie in "
            f"every one of them. As a number, how many of the {total} elements lie in {end}?",
            f"A farm survey covers {total} farms: {a} keep cows, {b} hens, {c} sheep; {ab} keep at least "
            f"cows and hens, {ac} at least cows and sheep, {bc} at least hens and sheep, and {triple} keep "
            f"all these animals. Give the number of farms that keep {end} kinds.",
        ),
        derivation=derivation,
        given={"total": total, "single": single, "double": double, "triple": triple, "none": level == 3},
    )


@TEMPLATES.at(1, 2, 3)
def weekday(source: Source, level: int) -> Made | None:
    """Find a weekday some days away."""
    today = source.integer(0, 6)
    days = source.integer(*{1: (3, 13), 2: (20, 99), 3: (500, 2000)}[level])
    back = level > 1 and bool(source.integer(0, 1))
    shift = -days if back else days
    if days % 7 == 0:
        return None
    name = _DAYS[today]
    when = f"was {days} days ago" if back else f"is {days} days from now"
    again = f"{days} days earlier" if back else f"{days} days later"
    sign = "-" if back else "+"
    return Made(
        answer=_DAYS[(today + shift) % 7],
        questions=(
            f"Today is a {name}. Which day of the week {when}? Answer in one word.",
            f"A certain date falls on a {name}. In one word, on which day of the week falls the date {again}?",
            f"From a {name}, someone counts {days} days {'back' if back else 'forward'} in the calendar. "
            "Name the day of the week that is reached, in one word.",
        ),
        derivation=f"days = {list(_DAYS)}\nanswer = days[(days.index('{name}') {sign} {days}) % 7]",
        given={"today": name, "days": days, "back": back},
        kind="text",
    )


@TEMPLATES.at(2, 3, 4)
def least_overlap(source: Source, level: int) -> Made | None:
    """Find how many members must have several properties at once."""
    count = {2: 2, 3: 3, 4: 4}[level]
    total = source.integer(*{2: (20, 60), 3: (50, 150), 4: (200, 900)}[level])
    sizes = [total - source.integer(2, total // (count + 1)) for _ in range(count)]
    answer = sum(sizes) - (count - 1) * total
    if len(set(sizes)) < count:
        return None
    things = ("a bicycle", "a radio", "a camera", "a piano")[:count]
    own = listed(f"{size} own {thing}" for size, thing in zip(sizes, things, strict=True))
    every = "both" if count == 2 else f"all {count}"
    return Made(
        answer=str(answer),
        questions=(
            f"Of {total} people, {own}. At least how many must own {every} of these things? Answer as a number.",
            f"A test with {count} questions was taken by {total} pupils, and {listed(sizes)} pupils got the "
            "questions right, in this order. As a number, what is the smallest possible number of pupils "
            f"with {every} questions right?",
            f"A set with {total} elements has {count} subsets, of {listed(sizes)} elements. Give the least "
            f"number of elements that can lie in {every} subsets at once.",
        ),
        derivation=f"max(0, {total} - sum([{total} - size for size in {sizes}]))",
        given={"total": total, "sizes": sizes},
    )


@TEMPLATES.at(1, 2, 3)
def blind_draw(source: Source, level: int) -> Made | None:
    """Find how many things must be drawn to be certain."""
    colours = source.sample(("red", "blue", "green", "black", "white", "grey", "brown"), level + 1)
    stock = source.integers(len(colours), *{1: (3, 12), 2: (5, 15), 3: (6, 25)}[level])
    if len(set(stock)) < len(stock):
        return None
    if level == 3:
        wanted, answer = f"{colours[0]} one", sum(stock[1:]) + 1
        goal, again = f"a {wanted}", f"that at least one of them is {colours[0]}"
        wish = f"at least one {colours[0]} item"
        derivation = f"sum({stock}) - {stock[0]} + 1"
    else:
        same = source.integer(2, 3) if level == 1 else source.integer(3, 4)
        answer = sum(min(same - 1, count) for count in stock) + 1
        goal, again = f"{same} of the same colour", f"that {same} of them have the same colour"
        wish = f"{same} items of one and the same colour"
        derivation = f"sum([min({same} - 1, count) for count in {stock}]) + 1"
    stocked = listed(f"{count} {colour}" for count, colour in zip(stock, colours, strict=True))
    return Made(
        answer=str(answer),
        questions=(
            f"A drawer holds {stocked} socks. How many must be taken out in the dark to be sure of having "
            f"{goal}? Answer as a number.",
            f"A bag contains {stocked} balls. Someone draws balls without looking. As a number, how many "
            f"are needed to make it certain {again}?",
            f"Of {stocked} items a blindfolded person picks some. Give the smallest number of items that "
            f"guarantees {wish}.",
        ),
        derivation=derivation,
        given={"stock": stock, "colours": colours, "goal": [colours[0]] if level == 3 else [same]},
    )


@TEMPLATES.at(4, 5, 6)
def lamps(source: Source, level: int) -> Made | None:
    """Count the lamps that are on after several rounds of switching."""
    total, low, high, count = {
        4: (source.integer(20, 40), 2, 7, 3),
        5: (source.integer(300, 900), 3, 20, 4),
        6: (source.integer(10**6, 10**7), 4, 40, 6),
    }[level]
    rounds = source.sample(range(low, high + 1), count)
    if any(a % b == 0 or b % a == 0 for a, b in combinations(rounds, 2)):
        return None
    answer = 0
    for size in range(1, count + 1):
        answer += (-2) ** (size - 1) * sum(total // lcm(*chosen) for chosen in combinations(rounds, size))
    derivation = (
        f"answer = 0\nfor size in range(1, {count + 1}):\n    for chosen in combinations({rounds}, size):\n  "
        "      multiple = 1\n        for n in chosen:\n            multiple = multiple * n // "
        f"math.gcd(multiple, n)\n        answer += (-2) ** (size - 1) * ({total} // multiple)"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"{total} lamps, numbered from 1, are off. {count} people pass by: the first switches every "
            f"lamp whose number is a multiple of {rounds[0]}, the others those with multiples of "
            f"{listed(rounds[1:])}, in turn. Switching turns an unlit lamp on and a lit one off. How many "
            "lamps are on in the end? Answer as a number.",
            f"As a number, how many of the integers from 1 to {total} are divisible by an odd number of "
            f"members of the list {listed(rounds)}, which has {count} members?",
            f"Cards numbered 1 to {total} lie face down. In {count} rounds, all cards with a number "
            f"divisible by {listed(rounds)} (one of these divisors per round) are turned over. Give the "
            "number of cards that lie face up at last.",
        ),
        derivation=derivation,
        given={"total": total, "rounds": rounds, "count": count},
    )


@TEMPLATES.at(4, 5, 6)
def seating(source: Source, level: int) -> Made | None:
    """Count the orders that keep several conditions."""
    count, befores, aparts = {4: (4, 1, 1), 5: (6, 3, 2), 6: (7, 3, 3)}[level]
    people = sorted(source.sample(_NAMES, count))
    pairs = source.sample(list(combinations(range(count), 2)), befores + aparts)
    before = [pair if source.integer(0, 1) else pair[::-1] for pair in pairs[:befores]]
    apart = pairs[befores:]
    neighbours = {(a, b) for a, b in apart} | {(b, a) for a, b in apart}
    # ways[mask, last]: orders of the people in mask, from left to right, that end with last
    ways: dict[tuple[int, int], int] = {}
    for mask in range(1, 1 << count):
        for last in range(count):
            rest = mask ^ 1 << last
            if not mask >> last & 1 or any(b == last and not rest >> a & 1 for a, b in before):
                continue
            if any(a == last and rest >> b & 1 for a, b in before):
                continue
            ends = [p for p in range(count) if rest >> p & 1 and (p, last) not in neighbours]
            ways[mask, last] = sum(ways.get((rest, p), 0) for p in ends) if rest else 1
    answer = sum(ways.get(((1 << count) - 1, last), 0) for last in range(count))
    if answer < {4: 4, 5: 15, 6: 80}[level]:
        return None
    left = [f"{people[a]} stands somewhere to the left of {people[b]}" for a, b in before]
    beside = [f"{people[a]} is not next to {people[b]}" for a, b in apart]
    earlier = [f"{people[b]} speaks later than {people[a]}" for a, b in before]
    not_after = [f"{people[a]} and {people[b]} do not speak directly one after the other" for a, b in apart]
    rules = [f"{people[a]} before {people[b]} (not necessarily directly)" for a, b in before]
    separate = [f"{people[a]} and {people[b]} not side by side" for a, b in apart]
    derivation = (
        f"before = {before}\napart = {apart}\nrows = [[]]\nfor place in range({count}):\n    longer = []\n   "
        f" for row in rows:\n        for p in range({count}):\n            if p not in row and all([a in row "
        "for a, b in before if b == p]):\n                if row == [] or ((row[-1], p) not in apart and "
        "(p, row[-1]) not in apart):\n                    longer.append(row + [p])\n    rows = longer\n"
        "answer = len(rows)"
    )
    return Made(
        answer=str(answer),
        questions=(
            f"{listed(people)} stand in a row. {'; '.join(left + beside)}. In how many orders is this "
            "possible? Answer as a whole number.",
            f"As a whole number, in how many ways can a list of {counted(count, 'speaker')} be drawn up "
            f"from {listed(people)}, each speaking once, under these conditions: "
            f"{'; '.join(earlier + not_after)}?",
            f"Count the arrangements of {listed(people)} from left to right with these conditions: "
            f"{'; '.join(rules + separate)}. Give a whole number.",
        ),
        derivation=derivation,
        given={
            "people": people,
            "before": [[people[a], people[b]] for a, b in before],
            "apart": [[people[a], people[b]] for a, b in apart],
        },
    )
