"""Forms of a text: cleaned for showing, folded for comparing, freed of markdown and LaTeX wrapping."""

from __future__ import annotations

import re
import unicodedata

from selfdiag.elicit.latex import COMMANDS
from selfdiag.elicit.phrases import ARTICLES, HEDGES, LEADS

MAX_FOLDED = 2_000
"""Only so many characters of an answer are compared; a short answer is far below."""

MAX_BOXES = 8
"""So many boxes from the back are looked at for a complete one."""

_ESCAPES = re.compile(r"\x1b\[[0-?]{0,64}[ -/]{0,16}[@-~]|\x1b\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)?|\x1b[ -/]?[0-~]?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Zero-width space, word joiner, byte order mark, soft hyphen, and the marks that turn the writing direction.
_INVISIBLE = re.compile("[\u200b\u2060-\u2064\ufeff\u00ad\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_JOINERS = re.compile("(?<=[\u0000-\u024f])[\u200c\u200d](?=[\u0000-\u024f])")


def clean_text(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without terminal escapes, control and invisible characters, and flags for what was removed.

    Newline and tab stay; a carriage return becomes a newline. Joiners stay where scripts and emoji need them
    and go between Latin letters. Lone surrogates, which no file can hold, become U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text, ()
    flags: list[str] = []
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    visible = _CONTROLS.sub("", _ESCAPES.sub("", plain))
    if visible != plain:
        flags.append("control_characters")
    joined = _JOINERS.sub("", _INVISIBLE.sub("", visible))
    if joined != visible:
        flags.append("invisible_characters")
    whole = _SURROGATES.sub("\ufffd", joined)
    if whole != joined:
        flags.append("lone_surrogates")
    return whole, tuple(flags)


_PAIRS = {
    '"': '"',
    "'": "'",
    "`": "`",
    "“": "”",
    "„": "“",
    "”": "”",
    "‘": "’",
    "«": "»",
    "‹": "›",
    "「": "」",
    "『": "』",
}


_OPENING = frozenset("*_$").union(_PAIRS)


def unwrap(text: str) -> str:
    """Return a text without the emphasis marks, quotes, fences and dollar signs that enclose all of it."""
    current = text.strip()
    for _ in range(6):
        if current[:1] not in _OPENING:
            break
        before = current
        if current.endswith((".", "!", ",")) and current[:1] in "*_`\"'“«" and current[-2:-1] in "*_`\"'”»":
            current = current[:-1]  # a full stop after the closing mark: **Paris**.
        if current.startswith("```") and current.endswith("```") and len(current) > 6:
            inner = current[3:-3]
            first, newline, rest = inner.partition("\n")
            current = (rest if newline and re.fullmatch(r"\s*\w{0,20}\s*", first) else inner).strip()
        for mark in ("***", "**", "$$", "*", "_", "$"):
            inner = current[len(mark) : -len(mark)]
            if (
                len(current) > 2 * len(mark)
                and current.startswith(mark)
                and current.endswith(mark)
                and mark not in inner
            ):
                current = inner.strip()
        if len(current) > 2 and _PAIRS.get(current[0]) == current[-1] and current[-1] not in current[1:-1]:
            current = current[1:-1].strip()
        if current == before:
            break
    return current


# A run of backslashes is tried from its first one only: from each of them it would take quadratic time.
_BOX = re.compile(r"(?<!\\)\\+(?:boxed|fbox|framebox)\s{0,8}\{")
_WORDS_IN_MATH = re.compile(
    r"(?<!\\)\\+(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|operatorname|mbox|bf|rm)\s{0,8}\{([^{}]*)\}"
)
_SUBSCRIPT = re.compile(r"(?<=[^\W_])_(?:\{([-+\w]{1,10})\}|([-+\w]))")
_POWER_SIGN = re.compile(r"\^\{([-+\w]{1,10})\}|\^(?=[-+\w])")
_SUPERSCRIPT = re.compile("(?<=\\d)(?=[⁰¹²³⁴-⁹⁺⁻ⁿ])")
_COMMAND = re.compile(r"(?<!\\)\\+([A-Za-z]{2,20})")
_DELIMITERS = re.compile(r"(?<!\\)\\+[\[\]()]|\$")


def last_box(text: str) -> str | None:
    r"""Return the content of the last complete ``\boxed{...}`` with balanced braces, or None."""
    for match in reversed(list(_BOX.finditer(text[:MAX_FOLDED]))[-MAX_BOXES:]):
        depth = 1
        for index in range(match.end(), min(len(text), MAX_FOLDED)):
            depth += {"{": 1, "}": -1}.get(text[index], 0)
            if depth == 0:
                return text[match.end() : index].strip()
    return None


def without_math_markup(text: str) -> str:
    r"""Return the content of the last box if there is one, without math delimiters and ``\text{}`` wrapping."""
    current = text[:MAX_FOLDED]
    if "\\" not in current:
        return current.replace("$", "").strip()
    for _ in range(4):
        boxed = last_box(current)
        if boxed is None:
            break
        current = boxed
    for _ in range(4):
        inner = _WORDS_IN_MATH.sub(r"\1", current)
        if inner == current:
            break
        current = inner
    return _DELIMITERS.sub("", current).strip()


def without_lead(text: str) -> str:
    """Return a text without openings such as "The answer is" or "I'm not sure, but"."""
    current = text.strip()
    for _ in range(4):
        rest = current
        for pattern in (HEDGES, LEADS):
            match = pattern.match(rest)
            if match and match.end() < len(rest):
                rest = rest[match.end() :].lstrip()
        if rest == current:
            break
        current = rest
    return current


_LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"})
_APOSTROPHES = frozenset("'’‘`´ʼ")
_MARK = re.compile("[-‐‑‒–—―−.,;:!?\"'`()\\[\\]{}«»‹›“”„‘’‚…¿¡、。・「」『』,´ʼ]")
_THOUSAND = re.compile(r",\d{3}(?!\d)")
_ACCENTS = re.compile("[\u0300-\u036f]+")


def without_accents(text: str) -> str:
    """Return a text in NFKC form, case-folded, without the accents of Latin, Greek and Cyrillic letters."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
    parts = unicodedata.normalize("NFD", folded)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", parts))


def _fold_mark(match: re.Match[str]) -> str:
    mark, text, at = match[0], match.string, match.start()
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if mark in _APOSTROPHES and before.isalpha() and after.isalpha():
        return ""
    if mark == "," and before.isdigit() and _THOUSAND.match(text, at):
        return ""
    if mark == "." and before.isdigit() and after.isdigit():
        return "."
    if mark in "-−" and after.isdigit() and not before.isalnum():
        return "-"
    # Initials and abbreviations close up (U.S.A. is USA); other marks part words.
    return "" if mark == "." and before.isalpha() else " " if mark not in "´ʼ" else mark


def _without_caret(match: re.Match[str]) -> str:
    before = match.string[: match.start()][-1:]
    raised = match[1] or ""
    return raised if before.isalpha() or before in (")", "]") else f"^{raised}"


def fold_text(text: str) -> str:
    r"""Return the form in which texts are compared.

    NFKC, case, accents, punctuation, white space and a leading article are folded; signs that carry meaning
    (``+ # & % / < > =`` and others) stay, and a text made of signs alone keeps them all. Sub- and superscripts are
    set on the line, in LaTeX as in Unicode (``n²`` and ``n^2`` are ``n2``), but a power of a number keeps its
    caret (``10²`` is ``10^2``). A LaTeX command such as ``\rho`` is its name.
    """
    clean = clean_text(text[:MAX_FOLDED])[0]
    bare = unwrap(without_math_markup(clean))
    if "\\" in clean or "$" in clean:
        bare = _SUBSCRIPT.sub(lambda m: m[1] or m[2], _COMMAND.sub(lambda m: m[1] if m[1] in COMMANDS else m[0], bare))
    bare = _POWER_SIGN.sub(_without_caret, _SUPERSCRIPT.sub("^", bare))
    bare = without_accents(bare).replace("\u2044", "/")
    words = _MARK.sub(_fold_mark, bare).split()
    if not any(ch.isalnum() for word in words for ch in word):
        return "".join(bare.split())
    if len(words) > 1 and words[0] in ARTICLES:
        words = words[1:]
    return " ".join(words)


# Greek letters that pass for Latin ones; others stand beside Latin letters in honest units and formulas.
_GREEK_LOOKALIKES = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονχ")


def has_mixed_script(text: str) -> bool:
    """Return whether some word mixes Latin with Cyrillic letters or with Greek ones that look Latin."""
    for word in re.findall(r"[^\W\d_]+", text[:MAX_FOLDED]):
        if word.isascii():
            continue
        scripts = set()
        for ch in word:
            script = unicodedata.name(ch, "").partition(" ")[0]
            if script == "GREEK" and ch not in _GREEK_LOOKALIKES:
                continue
            scripts.add(script)
        if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK"}:
            return True
    return False


def script_of(text: str) -> str:
    """Return the script of the first letter, as Unicode names it (``LATIN``, ``CYRILLIC``, ``CJK``), or ''."""
    return next((unicodedata.name(ch, "").partition(" ")[0] for ch in text[:MAX_FOLDED] if ch.isalpha()), "")
