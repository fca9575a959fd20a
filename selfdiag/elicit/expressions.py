"""Grading expressions: equal as polynomials and rational functions, without ever running text as code."""

from __future__ import annotations

import cmath
import hashlib
import re
from collections.abc import Callable, Iterator
from fractions import Fraction

from selfdiag.battery.items import Probe
from selfdiag.elicit.numbers import plain_arithmetic
from selfdiag.elicit.reading import Reading
from selfdiag.elicit.textforms import clean_text, unwrap, without_lead
from selfdiag.elicit.verdict import Verdict

MAX_EXPRESSION = 300
"""Longer expressions are compared as text."""

PRIME = 2**127 - 1
"""Rational expressions are evaluated exactly in the field of this many elements."""

POINTS = 16
"""So many points are compared."""

NEARNESS = 1e-9
"""Relative difference within which other expressions are equal at a point."""

MAX_EXPONENT = 10_000
"""Larger whole exponents are not evaluated exactly."""

_CONSTANTS: dict[str, complex] = {"pi": complex(cmath.pi), "π": complex(cmath.pi), "e": complex(cmath.e)}
_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "arcsin": cmath.asin,
    "arccos": cmath.acos,
    "arctan": cmath.atan,
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "tanh": cmath.tanh,
    "sqrt": cmath.sqrt,
    "cbrt": lambda value: value ** (1 / 3),
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "cot": lambda value: 1 / cmath.tan(value),
    "sec": lambda value: 1 / cmath.cos(value),
    "csc": lambda value: 1 / cmath.sin(value),
    "exp": cmath.exp,
    "log": cmath.log,
    "ln": cmath.log,
    "abs": lambda value: complex(abs(value)),
}
_GREEK = ("alpha", "beta", "gamma", "delta", "theta", "lambda", "omega", "sigma", "phi", "rho", "mu", "pi")
_TOKEN = re.compile(
    rf"\s*(?:(\d{{1,40}}(?:\.\d{{1,40}})?|\.\d{{1,40}})|({'|'.join(_FUNCTIONS)})|({'|'.join(_GREEK)})(?![a-z])"
    rf"|([^\W\d_])(_\w|_\{{\w{{1,4}}\}})?|(\*\*|[-+*/^()]))"
)
# The usual meaning of "sin^-1(x)" is the inverse function, not 1/sin(x).
_INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
_MINUS_ONE = [("sign", "-"), ("number", "1")]
_TO_MINUS_ONE = ([("sign", "^"), *_MINUS_ONE], [("sign", "^"), ("sign", "("), *_MINUS_ONE, ("sign", ")")])
_LEFT_SIDE = re.compile(r"\s*[A-Za-z]\w{0,3}'{0,3}\s?(?:\([A-Za-z, ]{1,8}\))?\s?|\s*d[a-z]\s?/\s?d[a-z]\s?")

Node = tuple[str, tuple["Node", ...] | str]


class UnreadableExpressionError(Exception):
    """The text is no expression, or one too large to evaluate."""


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise UnreadableExpressionError
        number, function, greek, letter, index, sign = match.groups()
        if number:
            yield "number", number
        elif function:
            yield "function", function
        elif sign:
            yield "sign", "^" if sign == "**" else sign
        else:
            yield "name", (greek or letter) + (index or "").strip("_{}")
        position = match.end()


class IrrationalError(Exception):
    """The expression holds more than sums, products, quotients and whole powers."""


class _Parser:
    """Reads sums of products of powers; a product needs no sign between its factors."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.at = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, sign: str) -> bool:
        if self.peek() == ("sign", sign):
            self.at += 1
            return True
        return False

    def whole(self) -> Node:
        node = self.sum()
        if self.peek()[0] != "end":
            raise UnreadableExpressionError
        return node

    def sum(self) -> Node:
        node = self.product()
        while True:
            if self.take("+"):
                node = ("+", (node, self.product()))
            elif self.take("-"):
                node = ("-", (node, self.product()))
            else:
                return node

    def product(self) -> Node:
        node = self.signed()
        while True:
            if self.take("*"):
                node = ("*", (node, self.signed()))
            elif self.take("/"):
                node = ("/", (node, self.signed()))
            elif self.peek()[0] in ("number", "name", "function") or self.peek() == ("sign", "("):
                node = ("*", (node, self.power()))
            else:
                return node

    def signed(self) -> Node:
        if self.take("-"):
            return ("-", (("number", "0"), self.signed()))
        return self.signed() if self.take("+") else self.power()

    def power(self) -> Node:
        base = self.atom()
        return ("^", (base, self.signed())) if self.take("^") else base

    def atom(self) -> Node:
        kind, text = self.peek()
        self.at += 1
        if kind in ("number", "name"):
            return (kind, text)
        if kind == "function":
            return self.application(text)
        if (kind, text) == ("sign", "("):
            node = self.sum()
            if not self.take(")"):
                raise UnreadableExpressionError
            return node
        raise UnreadableExpressionError

    def application(self, name: str) -> Node:
        for marks in _TO_MINUS_ONE:
            if name in _INVERSES and self.tokens[self.at : self.at + len(marks)] == marks:
                self.at += len(marks)
                name = _INVERSES[name]
        raised = self.power_of_function()
        if self.take("("):
            argument = self.sum()
            if not self.take(")"):
                raise UnreadableExpressionError
        else:
            argument = self.power()
            while self.peek()[0] in ("number", "name"):
                argument = ("*", (argument, self.power()))
        node: Node = (name, (argument,))
        return ("^", (node, raised)) if raised else node

    def power_of_function(self) -> Node | None:
        return self.atom() if self.take("^") else None


def _letter(name: str, point: int) -> int:
    """Return a fixed number of 64 bits for a variable at a point."""
    return int.from_bytes(hashlib.sha256(f"{name} {point}".encode()).digest()[:8], "big")


def _constant(node: Node) -> Fraction | None:
    """Return the value of a node made of numbers alone, unless it is very large."""
    kind, parts = node
    if isinstance(parts, str):
        return Fraction("0" + parts) if kind == "number" else None
    if kind not in ("+", "-", "*", "/"):
        return None
    left, right = _constant(parts[0]), _constant(parts[1])
    if left is None or right is None or (kind == "/" and right == 0):
        return None
    value = (
        left + right if kind == "+" else left - right if kind == "-" else left * right if kind == "*" else left / right
    )
    return value if max(abs(value.numerator), value.denominator) < 10**60 else None


def _exactly(node: Node, point: int) -> int:
    """Return a rational expression's value at a point of the field."""
    kind, parts = node
    if isinstance(parts, str):
        if kind == "number":
            number = Fraction("0" + parts)
            return number.numerator * pow(number.denominator, -1, PRIME) % PRIME
        if parts in _CONSTANTS:
            raise IrrationalError
        return _letter(parts, point)
    if kind == "^":
        exponent = _constant(parts[1])
        if exponent is None or exponent.denominator != 1 or abs(exponent) > MAX_EXPONENT:
            raise IrrationalError
        base = _exactly(parts[0], point)
        if base == 0 and exponent < 0:
            raise UnreadableExpressionError
        return pow(base, int(exponent), PRIME)
    if kind not in ("+", "-", "*", "/"):
        raise IrrationalError
    left, right = _exactly(parts[0], point), _exactly(parts[1], point)
    if kind == "/":
        if right == 0:
            raise UnreadableExpressionError
        return left * pow(right, -1, PRIME) % PRIME
    return (left + right if kind == "+" else left - right if kind == "-" else left * right) % PRIME


def _nearly(node: Node, point: int, sign: int) -> complex:
    """Return any expression's complex value where its variables lie between .3 and 1.7, times a sign."""
    kind, parts = node
    if isinstance(parts, str):
        if kind == "number":
            return complex(float(parts))
        return _CONSTANTS[parts] if parts in _CONSTANTS else complex(sign * (0.3 + 1.4 * _letter(parts, point) / 2**64))
    values = [_nearly(part, point, sign) for part in parts]
    if kind == "+":
        return values[0] + values[1]
    if kind == "-":
        return values[0] - values[1]
    if kind == "*":
        return values[0] * values[1]
    if kind == "/":
        return values[0] / values[1]
    return values[0] ** values[1] if kind == "^" else _FUNCTIONS[kind](values[0])


def _has_absolute_value(node: Node) -> bool:
    return node[0] == "abs" or (not isinstance(node[1], str) and any(map(_has_absolute_value, node[1])))


def _near_values(node: Node, *, signed: bool) -> list[complex | None]:
    """Return values at all points; None where one is undefined or too large or small to compare.

    Variables are positive, as identities of roots and logarithms suppose, or ``signed``: negative at every other point.
    """
    values: list[complex | None] = []
    for point in range(POINTS):
        try:
            value = _nearly(node, point, -1 if signed and point % 2 else 1)
            values.append(value if abs(value) == 0 or 1e-150 < abs(value) < 1e150 else None)
        except (ArithmeticError, ValueError):
            values.append(None)
    return values


def _equal(given: Node, key: Node) -> bool:
    try:
        return all(_exactly(given, point) == _exactly(key, point) for point in range(POINTS))
    except IrrationalError:
        pass
    signed = _has_absolute_value(given) or _has_absolute_value(key)
    values = zip(_near_values(given, signed=signed), _near_values(key, signed=signed), strict=True)
    pairs = [(a, b) for a, b in values if a is not None and b is not None]
    return len(pairs) >= POINTS // 2 and all(abs(a - b) <= NEARNESS * max(abs(a), abs(b), NEARNESS) for a, b in pairs)


def _plain(text: str) -> str:
    current = plain_arithmetic(unwrap(without_lead(unwrap(clean_text(text)[0]))))
    for _ in range(4):
        inner = re.sub(r"(?<!\\)\\+[dtc]?frac\s{0,4}\{([^{}]{1,80})\}\s{0,4}\{([^{}]{1,80})\}", r"((\1)/(\2))", current)
        inner = re.sub(r"(?<!\\)\\+sqrt\s{0,4}\{([^{}]{1,80})\}", r"sqrt(\1)", inner)
        inner = re.sub(r"(?<!\\)\\+sqrt\s{0,4}\[([^\[\]{}]{1,20})\]\s{0,4}\{([^{}]{1,80})\}", r"((\2)^(1/(\1)))", inner)
        inner = re.sub(r"\^\s{0,4}\{([^{}]{1,80})\}", r"^(\1)", inner)
        if inner == current:
            break
        current = inner
    current = re.sub(r"\|([^|]{1,80})\|", r"abs(\1)", current)
    current = re.sub(r"√\s?\(", "sqrt(", re.sub(r"√\s?(\d{1,20}|[^\W\d_])", r"sqrt(\1)", current))
    current = re.sub(r"(?<!\\)\\+(?=[A-Za-z])", "", current).replace("π", "pi").replace("[", "(").replace("]", ")")
    current = current.replace("{", "(").replace("}", ")").rstrip(" .,;")
    left, equals, right = current.rpartition("=")
    return right if equals and _LEFT_SIDE.fullmatch(left) else current


def read_expression(text: str) -> Node | None:
    """Return an expression as a tree of operators, numbers, names and functions, or None where it is none.

    Args:
        text: an expression in plain or LaTeX notation, with or without a left side such as ``f(x) =``.
    """
    if len(text) > MAX_EXPRESSION:
        return None
    try:
        return _Parser(_plain(text)).whole()
    except (UnreadableExpressionError, RecursionError):
        return None


def same_expression(given: str, key: str) -> bool | None:
    """Return whether two texts are equal expressions, or None where either cannot be read.

    Two rational functions are compared exactly, at fixed points of a finite field: unequal ones of degree d
    agree at all points with a chance of about (d / PRIME) ** POINTS. With roots, ``pi`` or functions such as
    ``sin`` the comparison is numerical, within a relative error of ``NEARNESS``. ``log`` is the natural one.

    Args:
        given: an expression in plain or LaTeX notation.
        key: the other expression.
    """
    trees = read_expression(given), read_expression(key)
    if trees[0] is None or trees[1] is None:
        return None
    try:
        return _equal(trees[0], trees[1])
    except (UnreadableExpressionError, RecursionError):
        return None


def _without_spaces(text: str) -> str:
    return re.sub(r"\s", "", _plain(text[:MAX_EXPRESSION]))


def grade_expression(probe: Probe, reading: Reading) -> Verdict:
    r"""Grade an expression: equal to the key or an alias, whatever its form; where unreadable, the same characters.

    Products without a sign bind like those with one, from the left: ``1/2x`` is x/2. ``log`` is the natural one and
    ``sin^{-1}`` the inverse function. Variables count as positive, unless an absolute value occurs; they may be
    written in the other case where the key does not use both.

    Args:
        probe: a probe of kind ``expression``.
        reading: a reading with an answer.
    """
    answer = reading.answer or ""
    shown, given = _plain(probe.answer[:MAX_EXPRESSION]).strip(), _plain(answer[:MAX_EXPRESSION]).strip()
    readable = True
    for key in (probe.answer, *probe.aliases):
        same = same_expression(answer, key)
        if same:
            return Verdict(right=True, rule="equal expressions", expected=shown, given=given)
        letters = set(re.findall(r"[^\W\d_]", key))
        if len({letter.casefold() for letter in letters}) == len(letters) and same_expression(
            answer.casefold(), key.casefold()
        ):
            return Verdict(right=True, rule="equal but for capitals", expected=shown, given=given)
        readable = readable and same is not None
        if same is None and _without_spaces(answer) == _without_spaces(key):
            return Verdict(right=True, rule="text", expected=shown, given=given)
    return Verdict(right=False, rule="other expression" if readable else "no expression", expected=shown, given=given)
