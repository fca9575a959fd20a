"""Logic with truth values: formulas, knights and knaves, rules and codes."""

from __future__ import annotations

from itertools import permutations, product
from operator import eq
from typing import Any

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import counted, listed

TEMPLATES = Templates("logic")

_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo")

Formula = tuple[Any, ...]
"""("var", name), ("not", f), or an operator ("and", "or", "if", "xor") with two formulas."""


def _formula(source: Source, names: str, depth: int) -> Formula:
    if depth == 0:
        return ("var", source.choice(names))
    kind = source.choice(("not", "and", "or", "if", "xor"))
    if kind == "not":
        return ("not", _formula(source, names, depth - 1))
    first = second = _formula(source, names, depth - 1)
    while second == first:
        second = _formula(source, names, source.integer(0, depth - 1))
    return (kind, first, second)


def _value(formula: Formula, values: dict[str, bool]) -> bool:
    kind, *parts = formula
    if kind == "var":
        return values[parts[0]]
    first, *rest = [_value(part, values) for part in parts]
    if kind == "not":
        return not first
    return {"and": first and rest[0], "or": first or rest[0], "if": not first or rest[0], "xor": first != rest[0]}[kind]


def _text(formula: Formula) -> str:
    kind, *parts = formula
    if kind == "var":
        return str(parts[0])
    if kind == "not":
        return f"(not {_text(parts[0])})"
    first, second = map(_text, parts)
    joined = {
        "and": f"{first} and {second}",
        "or": f"{first} or {second}",
        "if": f"{first} implies {second}",
        "xor": f"either {first} or {second} but not both",
    }
    return f"({joined[kind]})"


def _code(formula: Formula) -> str:
    kind, *parts = formula
    if kind == "var":
        return str(parts[0])
    first, *rest = map(_code, parts)
    if kind == "not":
        return f"(not {first})"
    second = rest[0]
    return {
        "and": f"({first} and {second})",
        "or": f"({first} or {second})",
        "if": f"(not {first} or {second})",
        "xor": f"({first} != {second})",
    }[kind]


@TEMPLATES.at(1, 2, 3, 4)
def true_formulas(source: Source, level: int) -> Made | None:
    """Count the true ones among several formulas."""
    variables, count, depth = {1: (2, 3, 1), 2: (3, 4, 1), 3: (4, 4, 2), 4: (5, 6, 2)}[level]
    names = "PQRST"[:variables]
    values = {name: bool(source.integer(0, 1)) for name in names}
    formulas = [_formula(source, names, depth) for _ in range(count)]
    texts = [_text(formula)[1:-1] for formula in formulas]
    if len(set(texts)) < count or len(set(values.values())) == 1:
        return None
    true, false = (listed(name for name in names if values[name] is value) for value in (True, False))
    are = {value: "is" if list(values.values()).count(value) == 1 else "are" for value in (True, False)}
    numbered = "; ".join(f"{chr(97 + k)}) {text}" for k, text in enumerate(texts))
    derivation = (
        ", ".join(names) + f" = {', '.join(str(values[name]) for name in names)}\n"
        f"answer = len([f for f in [{', '.join(map(_code, formulas))}] if f])"
    )
    return Made(
        answer=str(sum(_value(formula, values) for formula in formulas)),
        questions=(
            f"{true} {are[True]} true, {false} {are[False]} false. How many of these statements are true: "
            f"{numbered}? 'Or' alone includes the case of both. Answer as a number.",
            f"As a number, count the true statements in this list, given that {false} {are[False]} false "
            f"and {true} {are[True]} true ('or' means at least one unless said otherwise): {numbered}.",
            f"In classical logic with inclusive 'or', let {true} be true and {false} be false. Evaluate "
            f"each statement: {numbered}. Give the number of true ones.",
        ),
        derivation=derivation,
        given={"values": values, "formulas": formulas, "texts": texts},
    )


@TEMPLATES.at(2, 3, 4, 5, 6)
def satisfying(source: Source, level: int) -> Made | None:
    """Count the truth assignments that keep several clauses."""
    size, count, width = {2: (3, 2, 2), 3: (4, 3, 2), 4: (5, 4, 3), 5: (7, 7, 3), 6: (12, 18, 3)}[level]
    names = "pqrstuvwxyzm"[:size]
    clauses = [[(k, source.integer(0, 1)) for k in sorted(source.sample(range(size), width))] for _ in range(count)]
    if len({k for clause in clauses for k, _ in clause}) < size or len(set(map(tuple, clauses))) < count:
        return None
    # Every variable is a column of its truth table, held as one large number.
    full = 2**2**size - 1
    columns = [full // (2**2**k + 1) for k in range(size)]
    table = full
    for clause in clauses:
        column = 0
        for k, sign in clause:
            column |= columns[k] if sign else full ^ columns[k]
        table &= column
    if not table:
        return None
    texts = [" or ".join(names[k] if sign else f"not {names[k]}" for k, sign in clause) for clause in clauses]
    derivation = (
        f"full = 2 ** 2**{size} - 1\ncolumns = [full // (2 ** 2**k + 1) for k in range({size})]\ntable = "
        f"full\nfor clause in {clauses}:\n    column = 0\n    for k, sign in clause:\n        column = "
        "column | (columns[k] if sign == 1 else full - columns[k])\n    table = table & column\nanswer = "
        "bin(table).count('1')"
    )
    shown = listed(names)
    return Made(
        answer=str(table.bit_count()),
        questions=(
            f"How many truth assignments to {shown} make this formula true: "
            f"{' and '.join(f'({text})' for text in texts)}? Answer as a whole number.",
            f"As a whole number, count the ways to give truth values to the variables {shown} so that all "
            f"of these hold: {'; '.join(texts)}.",
            f"The variables {shown} are each true or false. The following conditions must be met, 'or' "
            f"being inclusive: {'; '.join(reversed(texts))}. Give the number of possibilities as a whole "
            "number.",
        ),
        derivation=derivation,
        given={"names": list(names), "clauses": [[[names[k], bool(sign)] for k, sign in clause] for clause in clauses]},
    )


def _claim(source: Source, speaker: int, count: int) -> tuple[str, int, int]:
    others = source.sample([p for p in range(count) if p != speaker], 2)
    kind = source.choice(("knave", "same", "different", "either", "total"))
    return ("total", source.integer(1, count - 1), 0) if kind == "total" else (kind, others[0], others[1])


def _holds(claim: tuple[str, int, int], knights: tuple[bool, ...]) -> bool:
    kind, a, b = claim
    if kind == "total":
        return sum(knights) == a
    if kind == "knave":
        return not knights[a]
    if kind == "either":
        return not (knights[a] and knights[b])
    return (knights[a] == knights[b]) == (kind == "same")


@TEMPLATES.at(2, 3, 4, 5, 6)
def knights(source: Source, level: int) -> Made | None:
    """Find the knights among knights and knaves."""
    count = {2: 3, 3: 4, 4: 5, 5: 7, 6: 8}[level]
    people = sorted(source.sample(_NAMES, count))
    hidden = tuple(bool(source.integer(0, 1)) for _ in people)
    claims: list[tuple[str, int, int]] = []
    while len(claims) < count:
        claim = _claim(source, len(claims), count)
        if _holds(claim, hidden) == hidden[len(claims)]:
            claims.append(claim)
    worlds = (
        world
        for world in product((False, True), repeat=count)
        if all(_holds(claim, world) == speaks for claim, speaks in zip(claims, world, strict=True))
    )
    if not any(hidden) or next(worlds) != hidden or next(worlds, None):
        return None

    def said(claim: tuple[str, int, int]) -> str:
        kind, a, b = claim
        return {
            "total": f"'exactly {a} of us {count} {'is a knight' if a == 1 else 'are knights'}'",
            "knave": f"'{people[a]} is a knave'",
            "same": f"'{people[a]} and {people[b]} are of the same kind'",
            "different": f"'{people[a]} and {people[b]} are of different kinds'",
            "either": f"'at least one of {people[a]} and {people[b]} is a knave'",
        }[kind]

    speeches = [f"{name} says {said(claim)}" for name, claim in zip(people, claims, strict=True)]
    by_name = level > 3
    found = [name for name, knight in zip(people, hidden, strict=True) if knight]
    tests = {
        "total": "sum(w) == {a}",
        "knave": "not w[{a}]",
        "same": "w[{a}] == w[{b}]",
        "different": "w[{a}] != w[{b}]",
        "either": "not (w[{a}] and w[{b}])",
    }
    checks = " and ".join(f"(w[{k}] == ({tests[kind].format(a=a, b=b)}))" for k, (kind, a, b) in enumerate(claims))
    end = f"', '.join([n for n, k in zip({people}, w) if k])" if by_name else "sum(w)"
    ask, again, finish = (
        (
            "Who are the knights? Answer with their names, separated by commas.",
            "List the names of all who always tell the truth, with commas between them.",
            "Name every truth-teller, separated by commas.",
        )
        if by_name
        else (
            "How many of them are knights? Answer as a number.",
            "As a number, how many of them always tell the truth?",
            "Give the number of truth-tellers.",
        )
    )
    return Made(
        answer=", ".join(found) if by_name else str(len(found)),
        questions=(
            "Knights always tell the truth and knaves always lie; each person is one of the two. "
            f"{'; '.join(speeches)}. {ask}",
            "On an island live knights, whose every statement is true, and knaves, whose every statement "
            f"is false. You meet {counted(count, 'islander')}. {'; '.join(reversed(speeches))}. {again}",
            f"Each of {listed(people)} is either a truth-teller (a knight) or a liar (a knave). "
            f"{'. '.join(speeches)}. {finish}",
        ),
        derivation=f"for w in product([False, True], repeat={count}):\n    if {checks}:\n        answer = {end}",
        given={"people": people, "claims": [list(claim) for claim in claims], "speeches": speeches, "by_name": by_name},
        kind="set" if by_name else "number",
    )


@TEMPLATES.at(3, 4, 5)
def chained_rules(source: Source, level: int) -> Made | None:
    """Count the statements that follow from facts and rules."""
    letters, count, width = {3: ("ABCDEFG", 6, 1), 4: ("ABCDEFGHIJ", 11, 2), 5: ("ABCDEFGHIJKLMNOP", 22, 2)}[level]
    facts = sorted(source.sample(letters, width))
    rules = []
    for _ in range(count):
        *causes, effect = source.sample(letters, source.integer(1, width) + 1)
        rules.append((sorted(causes), effect))
    known, before = set(facts), set[str]()
    while known != before:
        before = set(known)
        known |= {effect for causes, effect in rules if known.issuperset(causes)}
    if len(known) < {3: 3, 4: 4, 5: 6}[level] or len({(*c, e) for c, e in rules}) < count:
        return None
    lines = "; ".join(f"if {' and '.join(causes)}, then {effect}" for causes, effect in rules)
    again = "; ".join(f"{effect} follows from {' together with '.join(causes)}" for causes, effect in reversed(rules))
    arrows = ", ".join(f"{' & '.join(causes)} -> {effect}" for causes, effect in rules)
    start = listed(facts) + (" is true" if len(facts) == 1 else " are true")
    derivation = (
        f"known = {facts}\nfor step in range({len(letters)}):\n    for causes, effect in {rules}:\n        "
        "if effect not in known and all([c in known for c in causes]):\n            known.append(effect)\n"
        "answer = len(known)"
    )
    return Made(
        answer=str(len(known)),
        questions=(
            f"{start}. These rules hold: {lines}. How many of the statements {letters[0]} to {letters[-1]} "
            f"are certain to be true, {listed(facts)} included? Answer as a number.",
            f"For the statements {letters[0]} to {letters[-1]} it is known that {start}, and that {again}. "
            f"As a number, how many statements can be proved true, counting {listed(facts)} too?",
            f"Apply the rules {arrows} again and again, starting from {listed(facts)}. Give the number of "
            "letters obtained in all, those at the start included.",
        ),
        derivation=derivation,
        given={"facts": facts, "rules": [[causes, effect] for causes, effect in rules]},
    )


def _right(code: tuple[int, ...], guess: tuple[int, ...]) -> int:
    """Return how many digits of a guess are in the right place."""
    return sum(map(eq, code, guess))


def _shared(code: tuple[int, ...], guess: tuple[int, ...]) -> int:
    """Return how many digits of a guess occur in the code, wherever they stand."""
    return len(set(code).intersection(guess))


@TEMPLATES.at(4, 5, 6)
def secret_code(source: Source, level: int) -> Made | None:
    """Count the codes that fit the replies to several guesses."""
    length, top, tries = {4: (2, 5, 1), 5: (3, 6, 2), 6: (4, 7, 3)}[level]
    codes = list(permutations(range(1, top + 1), length))
    secret = source.choice(codes)
    guesses = [source.choice(codes) for _ in range(tries)]
    replies = [(_right(secret, guess), _shared(secret, guess) - _right(secret, guess)) for guess in guesses]
    if len(set(guesses)) < tries or any(sum(reply) == 0 for reply in replies):
        return None
    fitting = codes
    for guess, (right, other) in zip(guesses, replies, strict=True):
        fitting = [c for c in fitting if _right(c, guess) == right and _shared(c, guess) == right + other]
    if len(fitting) < 2:
        return None
    shown = ["".join(map(str, guess)) for guess in guesses]
    lines = "; ".join(
        f"{guess} has {counted(right, 'digit')} in the right place and {counted(other, 'digit')} in a wrong place"
        for guess, (right, other) in zip(shown, replies, strict=True)
    )
    again = "; ".join(
        f"guess {guess}, black {right}, white {other}" for guess, (right, other) in zip(shown, replies, strict=True)
    )
    shared = "; ".join(
        f"with {guess} it has {counted(right + other, 'digit')} in common, {right} of them in the same position"
        for guess, (right, other) in zip(shown, replies, strict=True)
    )
    derivation = (
        f"answer = 0\nfor code in permutations(range(1, {top + 1}), {length}):\n    good = True\n"
        f"    for guess, (right, other) in {list(zip(guesses, replies, strict=True))}:\n"
        "        if good:\n            same = sum([a == b for a, b in zip(code, guess)])\n"
        "            good = same == right and len([d for d in code if d in guess]) == right + other\n"
        "    if good:\n        answer += 1"
    )
    kind = f"{length} different digits from 1 to {top}"
    return Made(
        answer=str(len(fitting)),
        questions=(
            f"A code consists of {kind}. About some guesses this is known: {lines}. How many codes are "
            "possible? Answer as a whole number.",
            f"In a game a secret row of {kind} must be found. Replies give a black peg for each digit of "
            f"the guess in its right place and a white one for each digit that belongs elsewhere: {again}. "
            "As a whole number, how many rows fit?",
            f"A number is written with {kind}. Compare it with other numbers, place by place: {shared}. "
            "Give, as a whole number, how many numbers this can be.",
        ),
        derivation=derivation,
        given={"length": length, "top": top, "guesses": shown, "replies": [list(reply) for reply in replies]},
    )
