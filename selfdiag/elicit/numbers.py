"""Reading a number, exactly, in the many ways in which an answer can write it."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

import msgspec

from selfdiag.elicit.bounds import bounded, bounded_after, bounded_before
from selfdiag.elicit.names import NUMBER_LANGUAGES, PERCENT_WORDS, SCALE_WORDS, SMALL_FRACTIONS
from selfdiag.elicit.phrases import CONJUNCTIONS, REASON
from selfdiag.elicit.textforms import clean_text, last_box, unwrap, without_lead, without_math_markup

MAX_NUMBER_TEXT = 400
"""Longer answers are not read as a number."""

MAX_EXPONENT = 400
"""Powers of ten beyond this are not read."""


class Numeral(msgspec.Struct, frozen=True, kw_only=True):
    """A number found in a text: its exact value, what stands after it, and how it was written."""

    value: Fraction
    rest: str = ""
    percent: bool = False
    rule: str = "number"
    ambiguous: bool = False


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_MINUS = str.maketrans(
    {
        "−": "-",
        "‐": "-",
        "‑": "-",
        "‒": "-",
        "–": "-",
        "﹣": "-",
        "－": "-",
        "×": "*",
        "⋅": "*",
        "·": "*",
        "∗": "*",
        "✕": "*",
    }
)
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000\t]")
_FRACTION = re.compile(r"(?<!\\)\\+[dtc]?frac\s{0,4}(?:\{([^{}]{0,80})\}|(\d))\s{0,4}(?:\{([^{}]{0,80})\}|(\d))")
_MARKUP = re.compile(r"[\\{~]")
_LATEX_SIGNS = (
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"(?<!\\)\\+(?:times|cdot|ast)(?![A-Za-z])"), "*"),
    (re.compile(r"(?<!\\)\\+pm(?![A-Za-z])"), "±"),
    (re.compile(r"(?<!\\)\\+(?:lt|ll|leq?(?:q|slant)?|lesssim)(?![A-Za-z])"), "<"),
    (re.compile(r"(?<!\\)\\+(?:gt|gg|geq?(?:q|slant)?|gtrsim)(?![A-Za-z])"), ">"),
    (re.compile(r"(?<!\\)\\+(?:neq?(?![A-Za-z])|not\s?=)"), "≠"),
    (re.compile(r"(?<!\\)\\+div(?![A-Za-z])"), "/"),
    (re.compile(r"(?<!\\)\\+(?:to|rightarrow)(?![A-Za-z])"), "→"),
    (re.compile(r"(?<!\\)\\+(?:approx|simeq|sim)(?![A-Za-z])"), "≈"),
    (re.compile(r"(?<!\\)\\+%"), "%"),
    (re.compile(r"\^\s{0,4}\{?\s{0,4}(?<!\\)\\+(?:circ|degree)\}?|(?<!\\)\\+(?:degree|textdegree)(?![A-Za-z])"), "°"),
    (re.compile(r"(?<!\\)\\+(?:left|right|displaystyle|quad|qquad)(?![A-Za-z])|(?<!\\)\\+[,;:! ]|(?<=\d)~(?=\d)"), " "),
    (re.compile(r"\^\s{0,4}\{\s{0,4}([-+]?\w{0,40})\s{0,4}\}"), r"^\1"),
)


def _fraction(match: re.Match[str]) -> str:
    above, below = match[1] or match[2] or "", match[3] or match[4] or ""
    mixed = above.isdecimal() and below.isdecimal() and match.string[: match.start()][-1:].isdecimal()
    return f" {above}/{below}" if mixed else f"({above})/({below})"


def plain_arithmetic(text: str) -> str:
    """Return a text with LaTeX and typographic number signs written plainly: ``-``, ``*``, ``/``, ``^``, ASCII digits.

    Fractions become ``n/d`` (after a whole number: ``w n/d``), superscripts a power, every kind of space a space.
    """
    current = without_math_markup(text[:MAX_NUMBER_TEXT])
    for _ in range(4):
        inner = _FRACTION.sub(_fraction, current)
        if inner == current:
            break
        current = inner
    if _MARKUP.search(current):
        for pattern, sign in _LATEX_SIGNS:
            current = pattern.sub(sign, current)
    if current.isascii():
        return current.replace("\t", " ").strip()
    out: list[str] = []
    raised = False
    for ch in _SPACES.sub(" ", current).translate(_MINUS):
        form = unicodedata.decomposition(ch)
        if form.startswith("<super>") and ch.translate(_SUPERSCRIPTS) != ch:
            out.append(ch.translate(_SUPERSCRIPTS) if raised else "^" + ch.translate(_SUPERSCRIPTS))
            raised = True
            continue
        raised = False
        if form.startswith("<fraction>"):
            out.append(" " + unicodedata.normalize("NFKC", ch).replace("\u2044", "/"))
        elif unicodedata.category(ch) == "Nd":
            out.append(str(unicodedata.decimal(ch)))
        elif form.startswith("<sub>"):
            out.append("_" + unicodedata.normalize("NFKC", ch))
        else:
            out.append(unicodedata.normalize("NFKC", ch).replace("\u2044", "/"))
    return "".join(out).replace("’", "'").replace("‘", "'").strip()


_DIGITS = r"\d{1,400}"
_GROUPED = r"\d{1,3}(?P<g>[ ',_.])\d{3}(?:(?P=g)\d{3}){0,130}(?!\d)(?:[.,]\d{1,400})?"
_NUMERAL = re.compile(
    rf"(?P<sign>[-+]\s?)?(?P<money>[$€£¥]\s?)?"
    rf"(?P<body>{_GROUPED}|{_DIGITS}(?:[.,]\d{{1,400}})?|[.,]\d{{1,400}})(?P<dot>\.(?=\s|\Z))?"
    r"(?:(?P<mixed>\s\d{1,40}/\d{1,40})|\s?/\s?(?P<below>\d{1,400}(?:\.\d{1,100})?)(?![\d/])"
    r"|\s?(?:\*|x|X)\s?10\s?(?:\^|\*\*)?\s?\(?(?P<power>[-+]?\s?\d{1,6})\)?"
    r"|[eE](?P<exponent>[-+]?\d{1,6})(?![\w.])|\s?\^\s?\(?(?P<of>[-+]?\d{1,6})\)?)?"
)
_BRACKETS = re.compile(r"\(\s?([-+]?[\d., ]{1,80})\s?\)\s?/\s?\(\s?([-+]?[\d., ]{1,80})\s?\)")
_ENCLOSED = re.compile(r"([-+]?)\(([^()]{1,120})\)")


def _plain_value(body: str) -> tuple[Fraction, bool] | None:
    """Return the value of digits with separators, and whether one comma before three digits made them ambiguous.

    The rule: a comma, point, space, apostrophe or underscore groups thousands when one to three digits stand
    before the first and exactly three after each; a single point is always a decimal mark; a single comma is a
    decimal mark unless it could group, so ``1,234`` is always 1234 (flagged) while ``3,14``, ``0,125`` and
    ``1234,567`` have decimals. Of point and comma together the last, if it stands once, is the decimal mark.
    """
    ambiguous = False
    if " " in body or "'" in body or "_" in body:
        body = re.sub("[ '_]", "", body)
    commas, points = body.count(","), body.count(".")
    if commas and points:
        decimal = "," if body.rfind(",") > body.rfind(".") else "."
        other = "." if decimal == "," else ","
        whole, _, part = body.rpartition(decimal)
        if decimal in whole or not re.fullmatch(rf"\d{{1,3}}(?:{re.escape(other)}\d{{3}})+", whole):
            return None
        body = f"{whole.replace(other, '')}.{part}"
    elif commas == 1 and re.fullmatch(r"[1-9]\d{0,2},\d{3}", body):
        body = body.replace(",", "")
        ambiguous = True
    elif commas == 1:
        body = body.replace(",", ".")
    elif commas or points > 1:
        body = body.replace(",", "").replace(".", "")
    return Fraction(body if not body.startswith(".") else "0" + body), ambiguous


def _value_of(match: re.Match[str]) -> tuple[Fraction, str, bool] | None:
    plain = _plain_value(match["body"])
    if plain is None:
        return None
    value, ambiguous = plain
    rule = "number"
    if match["mixed"]:
        above, _, below = match["mixed"].strip().partition("/")
        if int(below) == 0 or value.denominator != 1:
            return None
        value, rule = value + Fraction(int(above), int(below)), "fraction"
    elif match["below"]:
        below_value = Fraction(match["below"])
        if below_value == 0:
            return None
        value, rule = value / below_value, "fraction"
    elif match["power"] or match["exponent"]:
        exponent = int((match["power"] or match["exponent"]).replace(" ", ""))
        if abs(exponent) > MAX_EXPONENT:
            return None
        value, rule = value * Fraction(10) ** exponent, "scientific notation"
    elif match["of"]:
        exponent = int(match["of"])
        if value != 10 or abs(exponent) > MAX_EXPONENT:
            return None
        value, rule = Fraction(10) ** exponent, "scientific notation"
    negative = (match["sign"] or "").startswith("-")
    return (-value if negative else value), rule, ambiguous


def _numeral(text: str) -> Numeral | None:
    """Return the number that a text begins with."""
    opened = _BRACKETS.match(text)
    if opened:
        above, below = (
            _plain_value(part.replace(" ", "").lstrip("+-")) if re.search(r"\d", part) else None
            for part in opened.groups()
        )
        if above is None or below is None or below[0] == 0:
            return None
        negative = (opened[1].startswith("-")) != (opened[2].startswith("-"))
        value = above[0] / below[0]
        return _with_rest(-value if negative else value, text[opened.end() :], "fraction", False)
    signed = re.match(r"-\s?(?=\()", text)
    if signed:
        inner = _numeral(text[signed.end() :])
        return msgspec.structs.replace(inner, value=-inner.value) if inner and inner.rule == "fraction" else None
    match = _NUMERAL.match(text)
    if match is None:
        return None
    found = _value_of(match)
    return None if found is None else _with_rest(found[0], text[match.end() :], found[1], found[2])


def _with_rest(value: Fraction, rest: str, rule: str, ambiguous: bool) -> Numeral | None:
    if re.match(r"[\d_^]|[.,]\d", rest):
        return None
    rest = rest.strip()
    word = re.match(r"[^\W\d_]+\.?", rest)
    if word and word[0].casefold().rstrip(".") in SCALE_WORDS:
        value *= SCALE_WORDS[word[0].casefold().rstrip(".")]
        rest = rest[word.end() :].strip()
        rule = "number word"
    percent = False
    for sign in ("%", "％", *PERCENT_WORDS):
        if rest.casefold().startswith(sign) and not rest[len(sign) : len(sign) + 1].isalpha():
            percent = True
            rest = rest[len(sign) :].strip()
            break
    rest = re.sub(r"^[$€£¥]", "", rest).strip()
    return Numeral(value=value, rest=rest, percent=percent, rule="percent" if percent else rule, ambiguous=ambiguous)


def _spoken(text: str) -> Numeral | None:
    """Return the number that a text begins with in words, in the languages that are known."""
    words = re.sub(r"[^\w\s'-]", " ", text.casefold()).split()
    if not words or len(words) > 24 or any(ch.isdigit() for ch in text):
        return None
    from text_to_num import text2num

    negative = words[0] in ("minus", "negative", "meno", "moins", "menos")
    words = words[1:] if negative else words
    for length in range(len(words), max(len(words) - 4, 0), -1):
        phrase = " ".join(words[:length])
        if len(phrase) > 200:
            continue
        value = _spoken_value(phrase, text2num)
        if value is not None:
            if words[length : length + 1] == ["and"]:
                return None
            return Numeral(value=-value if negative else value, rest=" ".join(words[length:]), rule="number word")
    return None


def _spoken_value(phrase: str, text2num: object) -> Fraction | None:
    spaced = phrase.replace("-", " ")
    if spaced in SMALL_FRACTIONS:
        return SMALL_FRACTIONS[spaced]
    before, _, part = spaced.rpartition(" and ")
    if before and 0 < SMALL_FRACTIONS.get(part, 0) < 1:
        units = _spoken_value(before, text2num)
        return units + SMALL_FRACTIONS[part] if units is not None and units.denominator == 1 else None
    whole, point, decimals = phrase.partition(" point ")
    for language in NUMBER_LANGUAGES:
        try:
            value = Fraction(text2num(whole, language))  # type: ignore[operator]
            digits = [int(text2num(word, language)) for word in decimals.split()] if point else []  # type: ignore[operator]
        except (ValueError, OverflowError):
            continue
        if point and (not digits or any(digit > 9 for digit in digits)):
            continue
        return value + (Fraction(int("".join(map(str, digits))), 10 ** len(digits)) if digits else 0)
    return None


# A calculation, a list or a term of a polynomial, which hold numbers but state none.
_CALCULATION = re.compile(
    r"[√*+]\s?\d|\d\s?[*+]|\d/\d+/|\d[^\W\d_]+\d|\d\s?[,;]\s[-+]?\d|\d[nxyz]\s?\^|\d\s(?:squared|cubed|factorial)\b"
)
_REASON = re.compile(r"[,;.]?\s?(?:\(|because\b|since\b|as\b|for\b|so\b)(?!.{0,200}\bor\b)", re.DOTALL)
_IN_SENTENCE = re.compile(r"(?<![\w.,/^])(?<!\^[-+])(?:(?<![\w)])[-+])?[$€£¥]?(?:\d|[.,]\d)")
# "au moins", "al menos" and "pelo menos" are "at least"; "más o menos" is "more or less".
_MINUS_WORD = re.compile(
    r"(?<!\bau )(?<!\bal )(?<!\blo )(?<!\bpelo )(?<!\bao )"
    r"(?<!plus or )(?<!plus ou )(?<!m[áa]s o )(?<!mais ou )(?<!più o )"
    r"\b(?:minus|negative|meno|moins|menos)\s(?=[.,]?\d)",
    re.IGNORECASE,
)
_UNEQUAL = ((re.compile(r">="), "≥"), (re.compile(r"<=|=<"), "≤"), (re.compile(r"!==?|=/=|<>"), "≠"))
_BOX_MARKS = re.compile(r"[\s$\\(\[]*\\(?:boxed|fbox|framebox)\s{0,8}\{\s*\Z")
_TAG_OR_ARROW = re.compile(r"</?[a-z]\w{0,15}>|[-=]{1,3}>", re.IGNORECASE)
_BOLD = re.compile(r"(?<![\w)*])\*\*(?=\S)([^*]{1,100})(?<=\S)\*\*(?![\w(*])")
_CLAUSE_END = re.compile(rf"[,;](?!\d)|\b(?:{'|'.join(map(re.escape, CONJUNCTIONS))})\b(?!\s?=)")
_SOLUTION = re.compile(r"\s*[^\W\d_](?:_?\w)?\s?=\s?([^=]{1,80})")


def _only_numeral(text: str) -> Numeral | None:
    """Return the number of a sentence that holds just one, however often it repeats it."""
    if _CALCULATION.search(text):
        return None
    found: list[Numeral] = []
    position = 0
    while len(found) < 40:
        match = _IN_SENTENCE.search(text, position)
        if match is None:
            break
        numeral_match = _NUMERAL.match(text, match.start())
        numeral = _numeral(text[match.start() :])
        position = numeral_match.end() if numeral_match else match.end()
        if numeral is None or bounded(text[: match.start()], numeral.rest):
            return None
        found.append(numeral)
    if not found or any((n.value, n.percent) != (found[0].value, found[0].percent) for n in found):
        return None
    return msgspec.structs.replace(found[0], rule="number in a sentence")


def read_number(text: str) -> Numeral | None:
    r"""Return the number that an answer states, or None when it states none or several.

    Read are thousands separators and decimal marks, fractions, mixed numbers, scientific notation, percent, number
    words of six languages, LaTeX (``\frac``, ``\boxed``, ``\times``), a leading ``x =``, signs of currency,
    openings such as "The answer is", and a sentence that holds one number only. A single comma that could group
    thousands does: ``1,234`` is 1234. Of several equated parts the last number counts, but ``x = 2 or x = 3``
    states two. "About 4" states 4; "not 4", "at least 4", "4 or more", "nearly 4" and "> 4" state none.

    Args:
        text: the answer; at most ``MAX_NUMBER_TEXT`` characters of it are read.
    """
    if len(text) > MAX_NUMBER_TEXT:
        return None
    clean = unwrap(clean_text(text)[0].strip())
    if box := last_box(clean):  # an empty one bounds nothing
        before, _, after = clean.rpartition(box)
        if bounded(f"{_plain(_BOX_MARKS.sub('', before))} ", _plain(after.lstrip("}$\\)] "))):
            return None
    arithmetic = without_lead(_plain(clean))
    arithmetic = _BOLD.sub(r"\1", re.sub(r"^[~≈=\s]+", "", arithmetic)).replace("**", "^")
    arithmetic = _MINUS_WORD.sub("-", arithmetic).strip()
    stated = REASON.sub("", arithmetic)
    if stated and stated != arithmetic and (before_reason := _stated(stated)) is not None:
        return before_reason
    return _stated(arithmetic)


def _plain(text: str) -> str:
    arithmetic = _TAG_OR_ARROW.sub(" ", unwrap(plain_arithmetic(text)))
    for pattern, sign in _UNEQUAL:
        arithmetic = pattern.sub(sign, arithmetic)
    return arithmetic


def _stated(arithmetic: str) -> Numeral | None:
    parts = [part.strip() for part in re.split(r"[=≈]", arithmetic)]
    if len(parts) == 1:
        return _whole(arithmetic) or _only_numeral(arithmetic)
    opening = re.match(r"([^\d,;:]*)\d(?!.*[,;:]\s)", parts[0], re.DOTALL)
    if _several_solutions(arithmetic) or bounded_after(re.split(r"\d", arithmetic)[-1]):
        return None
    if opening and bounded_before(opening[1]):
        return None
    for index in reversed(range(len(parts))):
        numeral = _whole(parts[index])
        if numeral is not None:
            denied = index > 0 and bounded_before("=".join(parts[:index]) + "=")
            return None if denied else msgspec.structs.replace(numeral, rule="last of equated parts")
    return None


def exact_form(text: str) -> Numeral | None:
    """Return the number before a sign of approximation, as in "1/3 ≈ 0.333", or None where there is none."""
    exact, sign, _ = plain_arithmetic(text).partition("≈") if len(text) <= MAX_NUMBER_TEXT else ("", "", "")
    return read_number(exact) if sign and exact.strip() else None


def _several_solutions(text: str) -> bool:
    """Return whether single letters are equated with different numbers, the last of them at the end."""
    clauses = [_SOLUTION.fullmatch(clause) for clause in _CLAUSE_END.split(text)]
    found = [numeral.value for clause in clauses if clause and (numeral := _whole(clause[1]))]
    return clauses[-1] is not None and len(set(found)) > 1


def _whole(text: str) -> Numeral | None:
    text = re.sub(r"^[$€£¥]\s?(?=[-+])", "", unwrap(text).rstrip(" .;!"))
    enclosed = _ENCLOSED.fullmatch(text)
    if enclosed:
        inner = _whole(enclosed[2])
        return msgspec.structs.replace(inner, value=-inner.value) if inner and enclosed[1] == "-" else inner
    numeral = _numeral(text)
    if numeral is not None and bounded_after(numeral.rest):
        return None
    if numeral is not None and not re.search(r"\d|^[^\W\d_]{0,20}[*/^+-]|^(?:squared|cubed|factorial)\b", numeral.rest):
        return numeral
    if numeral is not None and _REASON.match(numeral.rest):
        return numeral
    spoken = _spoken(text) if not re.search(r"\d", text) else None
    return None if spoken is None or bounded_after(spoken.rest) else spoken
