"""Whether two titles are those of one work, and whether an author is named."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

import msgspec

from selfdiag.elicit.textforms import fold_text, script_of

Agreement = Literal["whole", "part"]

MAX_TITLE = 500
"""So many characters of a title or of a list of authors are compared."""

SAME_WORD, LONG_WORD = 0.85, 5
"""Least similarity of two spellings of one word of a title, and the letters from which on spellings may differ.

Similarity is one less the edit distance over the longer word's length. Spellings and plurals lie above the bound
(behavior and behaviour .89, forest and forests .86), words that tell two works apart below it (mathematical and
mathematics .83, capital and capitalism .70, theorem and theory .71); words that differ by a negation at the front
(tractability and intractability .86) differ in their first letter. Short words, numbers and signs carry the whole
difference between some titles (C, C++ and Go; PEP 8 and PEP 20), and have one spelling only.
"""

SAME_NAME, LONG_NAME = 0.8, 6
"""The same two bounds for a name: Kolmogorov and Kolmogoroff are .82, Wilcoxon and Wilcox .75."""

_UNTELLING = frozenset({"a", "an", "the", "and", "of", "on", "in", "for"})
_SUBTITLE = re.compile(r":(?!\d)|\s[-–—]\s|—|\s–|–\s")
_BRACKETS = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]")
_VOLUME = re.compile(
    r" (?:(?:volumes?|vols?|parts?|books?|band|bd|tome) \w{1,5}|i"
    r"|(?:\d{1,2}(?:st|nd|rd|th)|first|second|third|fourth|fifth|revised|new) ed(?:ition|n)?)\Z"
)
_FIRST_AUTHOR = re.compile(r" (?:and|und|et|y|e|with) |\s?[;&/+]|, ?et al| et al", re.IGNORECASE)
_PARTICLES = frozenset({"von", "van", "de", "der", "den", "di", "del", "da", "la"})
_BODIES = frozenset(
    "collaboration consortium committee group team force society foundation institute university organization"
    " organisation association council ietf iso".split()
)


class _Forms(msgspec.Struct, frozen=True):
    """A title as words: ``whole``, ``volumeless`` without volume and edition, ``head`` without a subtitle as well."""

    whole: tuple[tuple[str, ...], ...]
    volumeless: tuple[str, ...]
    head: tuple[str, ...]
    has_subtitle: bool


def _words(text: str) -> tuple[str, ...]:
    folded = fold_text(text).replace("&", " and ")
    return tuple(folded.split())


def _without_volume(text: str) -> tuple[str, ...]:
    return tuple(_VOLUME.sub("", " ".join(_words(text))).split())


@lru_cache(maxsize=1024)
def _forms(title: str) -> _Forms:
    plain = " ".join(title[:MAX_TITLE].split())
    bare = _BRACKETS.sub(" ", plain)
    subtitle = _SUBTITLE.search(bare, 1)
    head = bare[: subtitle.start()] if subtitle else bare
    whole = dict.fromkeys((_words(plain), _words(bare)))
    return _Forms(
        whole=tuple(words for words in whole if words),
        volumeless=_without_volume(bare),
        head=_without_volume(head),
        has_subtitle=subtitle is not None,
    )


def _same_word(first: str, second: str, least: float, shortest: int) -> bool:
    from rapidfuzz.distance import Levenshtein

    if first == second:
        return True
    if min(len(first), len(second)) < shortest or not (first.isalpha() and second.isalpha()):
        return False
    return first[0] == second[0] and Levenshtein.normalized_similarity(first, second) >= least


def _same_words(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    if not first or not second:
        return False
    # "Go To" and "GOTO", "back-propagating" and "backpropagating"
    if "".join(first) == "".join(second):
        return True
    ours = [word for word in first if word not in _UNTELLING]
    theirs = [word for word in second if word not in _UNTELLING]
    return len(ours) == len(theirs) > 0 and all(
        _same_word(*pair, SAME_WORD, LONG_WORD) for pair in zip(ours, theirs, strict=True)
    )


def same_title(first: str, second: str) -> Agreement | None:
    """Return whether two titles agree as a ``whole``, only in ``part``, or not at all (None).

    Case, accents, punctuation, brackets, articles and a few other small words do not count, and longer words may be
    spelt a little differently; the words have to be the same ones in the same order. Titles agree in part when they
    do so without the subtitle, volume or edition that only one of them has. Two different subtitles make two works.

    Args:
        first: a title.
        second: another one.
    """
    ours, theirs = _forms(first), _forms(second)
    if any(_same_words(one, other) for one in ours.whole for other in theirs.whole):
        return "whole"
    if _same_words(ours.volumeless, theirs.volumeless):
        return "part"
    if ours.has_subtitle and theirs.has_subtitle:
        return None
    return "part" if _same_words(ours.head, theirs.head) else None


def title_likeness(first: str, second: str) -> float:
    """Return how much two titles share, from 0 to 100: the words of one that the other has too weigh most."""
    from rapidfuzz import fuzz

    ours, theirs = (" ".join(_words(title[:MAX_TITLE])) for title in (first, second))
    return float(fuzz.token_set_ratio(ours, theirs))


def first_author(authors: str) -> str:
    """Return the first of several authors, as far as ``and``, ``et al.``, a semicolon or another sign parts them.

    A comma does not: it stands between a surname and a given name as well.
    """
    plain = " ".join(authors[:MAX_TITLE].split())
    return _FIRST_AUTHOR.split(plain, maxsplit=1)[0]


def names_author(authors: str, surname: str) -> bool:
    """Return whether a surname stands among the words of some authors' names.

    Particles such as *von* may be missing, umlauts may be written with an e, and long names may be spelt a little
    differently.
    """
    wanted, given = _name_words(surname), _name_words(authors[:MAX_TITLE])
    while len(wanted) > 1 and wanted[0] in _PARTICLES:
        wanted = wanted[1:]
    return bool(wanted) and any(
        all(_same_word(*pair, SAME_NAME, LONG_NAME) for pair in zip(given[start:], wanted, strict=False))
        for start in range(len(given) - len(wanted) + 1)
    )


def _name_words(name: str) -> list[str]:
    words = _words(name)
    for written in ("ae", "oe", "ue"):
        words = tuple(word.replace(written, written[0]) for word in words)
    return list(words)


def is_comparable_name(authors: str) -> bool:
    """Return whether a name can be compared with a person's: in Latin letters, and not that of a body."""
    return script_of(authors) == "LATIN" and not _BODIES & set(_words(authors[:MAX_TITLE]))
