"""Whether an answer abstains or declines instead of answering."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from selfdiag.battery.items import ABSTENTION_TOKEN
from selfdiag.elicit.lexicon import abstention_pattern, refusal_pattern
from selfdiag.elicit.textforms import clean_text, unwrap, without_accents, without_math_markup

MAX_ABSTENTION = 240
"""A longer text is never a short form of "I don't know"."""

MAX_REFUSAL_START = 400
"""A refusal shows in so many first characters."""

_CORE = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)
# The token with a reason after it: "UNANSWERABLE: no such king" abstains, "UNANSWERABLE questions" does not.
_TOKEN_AND_REASON = re.compile(rf"[\W_]*{ABSTENTION_TOKEN}[\"'”’\])*_`]*\s*(?:[,.:;(–—]|- |because\b|since\b|as\b)")


def _plain(text: str) -> str:
    bare = unwrap(without_math_markup(clean_text(text)[0]))
    return " ".join(without_accents(bare.replace("’", "'").replace("‘", "'")).split())


def _core(text: str) -> str:
    """Return a text from its first letter or digit to its last."""
    found = _CORE.search(text)
    return found[0] if found else ""


def abstains(answer: str) -> Literal["token", "free_text"] | None:
    """Return how an answer abstains: by the token, by a free form of "I don't know", or not at all (None).

    Both must be the whole answer; case, quotes, brackets, markdown and punctuation around it do not matter.
    """
    if len(answer) > 10 * MAX_ABSTENTION:
        return None
    folded = _plain(answer)
    core = _core(folded)
    if core == ABSTENTION_TOKEN.casefold():
        return "token"
    if _TOKEN_AND_REASON.match(unicodedata.normalize("NFKC", answer[:MAX_ABSTENTION])):
        return "free_text"
    if len(core) > MAX_ABSTENTION:
        return None
    return "free_text" if any(abstention_pattern().fullmatch(form) for form in (core, folded)) else None


def declines(answer: str) -> bool:
    """Return whether an answer opens by declining to help."""
    return refusal_pattern().match(_core(_plain(answer[:MAX_REFUSAL_START]))) is not None
