"""JSON schemas with nothing but the keywords that a server knows."""

from __future__ import annotations

from typing import Any


def plain_schema(schema: Any, kept: frozenset[str]) -> Any:
    """Return a JSON schema with only these keywords, in its properties and items too.

    Args:
        schema: a schema; what is no object is returned as it is.
        kept: the keywords. With ``additionalProperties`` among them, every object with properties forbids others:
            the servers that know the word insist on it.
    """
    if not isinstance(schema, dict):
        return schema
    plain = {word: value for word, value in schema.items() if word in kept}
    if isinstance(plain.get("properties"), dict):
        plain["properties"] = {name: plain_schema(shape, kept) for name, shape in plain["properties"].items()}
        if "additionalProperties" in kept:
            plain["additionalProperties"] = False
    if "items" in plain:
        plain["items"] = plain_schema(plain["items"], kept)
    return plain
