"""The probability of an answer's tokens, where a server tells the probability of each token of its reply."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

_KEY = re.compile(r"answer[\"'*_`\s]{0,6}[:：=]\s{0,6}", re.IGNORECASE)


def answer_probability(tokens: Sequence[tuple[str, float]], answer: str | None) -> float | None:
    """Return the joint probability of the tokens that spell the answer, in [0, 1], or None when they cannot be told.

    Tokens that hold a part of the answer count whole, a quotation mark and all. The answer is looked for behind its
    key; where there is no key, at its first place.

    Args:
        tokens: the reply's tokens in order, each with the natural logarithm of its probability.
        answer: the answer as it was read.
    """
    if not answer or not tokens:
        return None
    text = "".join(token for token, _ in tokens)
    starts = [match.end() for match in _KEY.finditer(text)]
    for form in (answer, json.dumps(answer)[1:-1], json.dumps(answer, ensure_ascii=False)[1:-1]):
        places = [found for start in reversed(starts) if 0 <= (found := text.find(form, start)) <= start + 1]
        place = places[0] if places else text.find(form) if not starts else -1
        if place >= 0:
            return _joint(tokens, place, place + len(form))
    return None


def _joint(tokens: Sequence[tuple[str, float]], start: int, end: int) -> float | None:
    total, at = 0.0, 0
    for token, logprob in tokens:
        if at < end and at + len(token) > start:
            total += logprob
        at += len(token)
    probability = math.exp(min(total, 0.0)) if not math.isnan(total) else math.nan
    return probability if math.isfinite(probability) else None
