"""Reading what a server's JSON holds, whatever shape it has come in."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from selfdiag.safety import one_line

MOST = 10**9
"""Greatest number of tokens that is believed."""
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)
"""An escape of a JSON text: a whole surrogate pair, half of one (the group), or any other."""


def parsed(text: bytes) -> Any:
    """Return the value of a JSON text; half a surrogate pair in it, which is no character, becomes U+FFFD.

    Raises:
        ValueError: when it is no JSON.
    """
    try:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            return msgspec.json.decode(with_whole_characters(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def with_whole_characters(text: bytes) -> bytes:
    """Return a JSON text with an escaped U+FFFD in the place of every escape that is half a surrogate pair."""
    return _ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], text)


def decoded(body: bytes) -> Any:
    """Return the JSON of a body, or None when it is none."""
    try:
        return parsed(body)
    except ValueError:
        return None


def count(value: Any) -> int | None:
    """Return a number of tokens as a server gives it, or None when it makes no sense."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST else None


def mapping(value: Any) -> dict[str, Any]:
    """Return a JSON object as it is, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a JSON list, and none for anything else."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def entries(document: Any, field: str, name: str) -> list[dict[str, Any]]:
    """Return the entries of a list of models that have a name that can be written and read back."""
    named = [entry for entry in mappings(mapping(document).get(field)) if isinstance(entry.get(name), str)]
    return [entry for entry in named if entry[name] and entry[name] == one_line(entry[name])]
