"""Text that comes from elsewhere, made harmless, and faults told in one line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_SECRET = re.compile(
    r"(?i)((?:authorization|api[-_]?key)['\"]?\s*[:=]\s*['\"]?(?:(?:bearer|basic)\s+)?|bearer\s+)([^\s,;'\"]{6,})"
)
_IN_ADDRESS = re.compile(r"(?i)(://)[^\s/?#@'\"]+@|([?&](?:key|token|access[-_]token|password|secret)=)[^\s&#'\"]+")
_KEY_SHAPE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|AIza)[-_]?[A-Za-z0-9_\-]{16,}")

SHORTEST_SECRET = 8
"""A shorter key, as servers that want none are given, is a word that may stand anywhere: "none", "test", "ollama"."""

_known_secrets: set[str] = set()


class SelfdiagError(Exception):
    """A fault to tell a person in one line: what happened, where, what to do.

    ``exit_code`` is the process's exit code for it (2 input, 3 provider, 4 incomplete).
    """

    exit_code = 2

    def __init__(self, message: str, *, exit_code: int | None = None) -> None:
        super().__init__(message)
        if exit_code is not None:
            self.exit_code = exit_code


def remember_secret(secret: str | None) -> None:
    """Make ``redact`` replace this text wherever it turns up, as it is or in percents, unless it is too short."""
    from urllib.parse import quote

    if secret and len(secret) >= SHORTEST_SECRET:
        _known_secrets.update({secret, quote(secret, safe="", errors="replace")})


def without_secrets(text: str) -> str:
    """Return the text with every known key replaced by ``[key]``; a server may send back what it was sent."""
    # the longest first: a key may begin with another one
    for secret in sorted(_known_secrets, key=len, reverse=True):
        text = text.replace(secret, "[key]")
    return text


def redact(text: str) -> str:
    """Return the text with every known key, and everything shaped like one, replaced by ``[key]``.

    That includes the name and password in an address, and what follows ``?key=`` there.
    """
    text = without_secrets(text)
    text = _SECRET.sub(lambda match: f"{match.group(1)}[key]", text)
    text = _IN_ADDRESS.sub(
        lambda match: f"{match.group(1)}[key]@" if match.group(1) else f"{match.group(2)}[key]", text
    )
    return _KEY_SHAPE.sub("[key]", text)


def literal(text: str, limit: int | None = None, *, keep_newlines: bool = False) -> str:
    """Return foreign text with control, escape and direction characters made visible.

    Args:
        text: any text, for example a model's reply, a file name or a server's error.
        limit: the longest result in characters; a longer text is cut and says how much is missing.
        keep_newlines: leave line feeds and tabs as they are.
    """
    total = len(text)
    cut = text if limit is None or total <= limit else text[:limit]
    parts = []
    for char in cut:
        if char in "\n\t" and keep_newlines:
            parts.append(char)
        elif char == "\n":
            parts.append("\\n")
        elif char == "\t":
            parts.append("\\t")
        elif _unsafe(char):
            code = ord(char)
            parts.append(f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
        else:
            parts.append(char)
    shown = "".join(parts)
    return shown if len(cut) == total else f"{shown}… ({total - len(cut):,} more characters)"


def one_line(text: str, limit: int = 200) -> str:
    """Return foreign text as one harmless, redacted line of at most ``limit`` characters."""
    # known keys go before the cut, which could leave half of one
    joined = " ".join(redact(without_secrets(text)[: 20 * limit]).split())
    shown = literal(joined)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def nearest(name: str, names: Sequence[str]) -> str:
    """Return a hint such as `` Did you mean 'blind'?`` for a mistyped name, or an empty text."""
    import difflib

    lowered = {known.lower(): known for known in names}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=1)
    return f" Did you mean {lowered[close[0]]!r}?" if close else ""


def _unsafe(char: str) -> bool:
    if char in "‌‍":  # joiners belong to emoji and to Persian, and do no harm
        return False
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
