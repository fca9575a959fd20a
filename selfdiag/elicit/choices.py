"""Which option of a multiple-choice question an answer picks."""

from __future__ import annotations

import re
import unicodedata

from selfdiag.elicit.phrases import REASON
from selfdiag.elicit.textforms import clean_text, fold_text, unwrap, without_lead, without_math_markup

MAX_CHOICE = 600
"""Longer answers pick nothing."""

_PREFIX = re.compile(r"\(?([A-Za-z])\s?[).:]\s+(?=\S)")
_LETTER_ALONE = re.compile(
    r"(?:(?:option|choice|answer|letter"
    r"|statement)\s{1,4})?[\s(\[*_`\"'{]{0,6}([A-Za-z])[\s)\]*_`\"'}.:,;!]{0,6}",
    re.IGNORECASE,
)
_LETTER_AND_TEXT = re.compile(
    r"(?:(?:option|choice|answer)\s{1,4})?[(\[*_`]{0,4}([A-Za-z])[*_`]{0,3}\s?[)\].:,–—-][*_`]{0,3}\s{0,4}("
    r"\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_TEXT_AND_LETTER = re.compile(r"(\S.*?)\s?[(\[]([A-Za-z])[)\]][*_`.]{0,4}", re.DOTALL)
_IS_CORRECT = re.compile(r"\sis (?:the )?(?:correct|right)(?: (?:answer|option|choice|one))?[.!]?\Z", re.IGNORECASE)
_MARKED_LETTER = re.compile(r"(?<!\w)([A-Z])[).:]\s")
_STATED = re.compile(
    r"\b(?:answer|option|choice|choose|pick|select|correct|antwort|r[ée]ponse|respuesta|resposta|risposta"
    r"|ответ)"
    r"(?:\s(?:is|would be|must be|should be|ist|lautet|est|es|é|è)|\s?[:=])?\s{0,4}(?:option\s|choice\s"
    r"|letter\s)?[(\[*_`\"'{\s]{0,6}"
    r"([A-Z])(?![\w'’])",
)
# With "answer" and "is" in any case, but the letter itself a capital: "the answer is a car" names no option.
_STATED_LOOSE = re.compile(_STATED.pattern.replace("([A-Z])", "(?-i:([A-Z]))"), re.IGNORECASE)


def option_texts(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options in folded form, without the letters that some lists carry in front."""
    lettered = all(
        (match := _PREFIX.match(option)) and match[1].upper() == chr(ord("A") + index)
        for index, option in enumerate(options)
    )
    return tuple(fold_text(_PREFIX.sub("", option, count=1) if lettered else option) for option in options)


def _index(letter: str, count: int) -> int | None:
    index = ord(letter.upper()) - ord("A")
    return index if 0 <= index < count else None


def pick(answer: str, options: tuple[str, ...]) -> tuple[int | None, str]:
    """Return the index of the option that an answer picks and the rule that found it, or None.

    An option's whole text counts before a letter; a letter must be one of the options', and letter and text must
    agree where both stand there. A reason after either ("B because ...") does not matter. In a sentence only a
    capital letter that is stated as the answer counts, never the first capital, an article or a pronoun.

    Args:
        answer: the answer.
        options: the options in order; the first is A.
    """
    if len(answer) > MAX_CHOICE or not options:
        return None, "no option"
    texts = option_texts(options)
    clean = unicodedata.normalize("NFKC", unwrap(without_math_markup(clean_text(answer)[0])))
    bare = without_lead(clean)
    stated_part = _IS_CORRECT.sub("", REASON.sub("", bare))
    for form in (clean, bare, stated_part):
        folded = fold_text(form)
        if folded in texts:
            return texts.index(folded), "option text"
    alone = _LETTER_ALONE.fullmatch(unwrap(stated_part))
    if alone:
        return _index(alone[1], len(options)), "option letter"
    stated = {index for match in _STATED_LOOSE.finditer(clean) if (index := _index(match[1], len(options))) is not None}
    both = _LETTER_AND_TEXT.fullmatch(bare)
    if both and (index := _index(both[1], len(options))) is not None:
        named = fold_text(both[2])
        if named in texts and texts.index(named) != index:
            return None, "letter and text disagree"
        marked = {_index(letter, len(options)) for letter in _MARKED_LETTER.findall(both[2])}
        if _LETTER_ALONE.fullmatch(both[2]) or (stated | marked) - {index, None}:
            return None, "several options"
        return index, "option letter and text"
    ended = _TEXT_AND_LETTER.fullmatch(stated_part)
    if ended and (named := fold_text(ended[1])) in texts:
        agree = _index(ended[2], len(options)) == texts.index(named)
        return (texts.index(named), "option letter and text") if agree else (None, "letter and text disagree")
    if len(stated) == 1:
        return stated.pop(), "option stated"
    return None, "several options" if stated else "no option"
