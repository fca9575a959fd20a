"""Reading what a server's JSON holds, whatever shape it has come in."""

from __future__ import annotations

from typing import Any

import msgspec

from selfdiag.safety import one_line

MOST = 10**9
"""Greatest number of tokens that is believed."""


def decoded(body: bytes) -> Any:
    """Return the JSON of a body, or None when it is none."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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
