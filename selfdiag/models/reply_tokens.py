"""The tokens of a reply with their probabilities, believed only when they spell its text."""

from __future__ import annotations

import re
from typing import Any

from selfdiag.models.base import Token

LEAST_LOGPROB = -1e6
"""Far below what servers write for a probability of zero."""
ROUNDING = 1e-3
"""How far above 0 the logarithm of a probability may come out."""

_END_MARK = re.compile(r"(<[|/｜\w][^<>\s]*>)?")
"""What stands for the end of a reply: servers that show it among the tokens leave it out of the text."""


_FENCE = re.compile(r"\A```\w*\s|\s*```\Z")
"""A code fence around the whole: llama.cpp leaves it out of the text of a reply that was held to a schema."""


def spelling_tokens(entries: Any, text: str, *, logprob: str = "logprob") -> tuple[Token, ...]:
    """Return the tokens of a text in order, or none at all when they spell another one.

    One token that makes no sense leaves none, for a probability must not go astray. White space and a code fence
    around the text do not count, because some servers take them away, nor does a token that stands for its end.

    Args:
        entries: a server's list of tokens, each with ``token``, its logarithm, and maybe its ``bytes``.
        text: the whole text of the reply.
        logprob: the server's name for the natural logarithm of a token's probability.
    """
    found: list[Token] = []
    pieces: list[bytes] = []
    for entry in entries if isinstance(entries, list) else []:
        token, value = (entry.get("token"), entry.get(logprob)) if isinstance(entry, dict) else (None, None)
        if not isinstance(token, str) or isinstance(value, bool) or not isinstance(value, int | float):
            return ()
        if not LEAST_LOGPROB <= value < ROUNDING:
            return ()
        found.append(Token(text=token, logprob=float(value)))
        # a character may be spread over several tokens, whose texts then show no part of it
        pieces.append(_bytes(entry.get("bytes")) or token.encode("utf-8", "replace"))
    if found and _END_MARK.fullmatch(found[-1].text) and _trimmed(_spelt(pieces)) != _trimmed(text):
        found.pop()
        pieces.pop()
    spelt = _trimmed(_spelt(pieces))
    return tuple(found) if _trimmed(text) in {spelt, _trimmed(_FENCE.sub("", spelt))} else ()


def _spelt(pieces: list[bytes]) -> str:
    return b"".join(pieces).decode("utf-8", "replace")


def _trimmed(text: str) -> str:
    # a reply that is cut within a character may show a mark for the broken half, or nothing
    return text.rstrip("\ufffd").strip()


def _bytes(value: Any) -> bytes:
    try:
        return bytes(value) if isinstance(value, list) else b""
    except (TypeError, ValueError):
        return b""
