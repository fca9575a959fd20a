"""Checking a reply that should be one JSON object, against a JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from selfdiag.elicit.formal_body import Body


class _Object(dict[str, Any]):
    """A JSON object that remembers whether a key stood in it twice; the last value counts."""

    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__(members)
        self.repeats = len(members) > len(self)


def _number(digits: str) -> int | float:
    # JSON Schema calls 3.0 an integer, and the same value as 3.
    value = float(digits)
    return int(value) if value.is_integer() else value


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


_CLASSES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
_STRICT = json.JSONDecoder(object_pairs_hook=_Object, parse_float=_number, parse_constant=_refuse)


def elements(check: Mapping[str, Any]) -> list[str]:
    """Return the names of what is scored, in order."""
    properties = _STRICT.decode(check["schema"])["properties"]
    return ["only", "parses", "keys", *(f"property {name}" for name in properties)]


def judge(check: Mapping[str, Any], body: Body) -> dict[str, bool]:
    """Return which elements are right; one that is not named is wrong.

    Args:
        check: ``schema``, a JSON Schema for an object as JSON text, of the keywords type, properties, required,
            additionalProperties, items, minItems, maxItems, uniqueItems, enum, minimum, maximum and pattern.
        body: what the reply says.
    """
    text = body.text
    only = body.alone and text.startswith("{") and text.endswith("}")
    try:
        found = _STRICT.decode(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        # Beside faults: nested beyond all reason, or a whole number of thousands of digits.
        return {}
    properties = _STRICT.decode(check["schema"])["properties"]
    return {
        "only": only,
        "parses": True,
        "keys": found.keys() == properties.keys() and not found.repeats,
    } | {f"property {name}": name in found and _fits(found[name], part) for name, part in properties.items()}


def _fits(value: object, schema: Mapping[str, Any]) -> bool:
    try:
        return _valid(value, schema)
    except RecursionError:
        # What can just be read may still be nested too deeply to be compared.
        return False


def _valid(value: object, schema: Mapping[str, Any]) -> bool:
    if "type" in schema and not _has_type(value, schema["type"]):
        return False
    if "enum" in schema and not _forms([value]) <= _forms(schema["enum"]):
        return False
    if isinstance(value, str):
        return "pattern" not in schema or _matches(schema["pattern"], value)
    if isinstance(value, dict):
        return _valid_object(value, schema)
    if isinstance(value, list):
        return _valid_array(value, schema)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    return True


def _has_type(value: object, name: str) -> bool:
    if isinstance(value, bool):
        # Python takes True for the number 1.
        return name == "boolean"
    return isinstance(value, _CLASSES[name])


def _matches(pattern: str, text: str) -> bool:
    # In a JSON Schema $ is the very end, in Python also the place before a last line feed.
    return re.search(re.sub(r"(?<!\\)\$\Z", r"\\Z", pattern), text) is not None


def _valid_object(value: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    properties = schema.get("properties", {})
    if not value.keys() >= set(schema.get("required", [])):
        return False
    if schema.get("additionalProperties") is False and not value.keys() <= properties.keys():
        return False
    return all(_valid(value[name], part) for name, part in properties.items() if name in value)


def _valid_array(value: list[Any], schema: Mapping[str, Any]) -> bool:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    if schema.get("uniqueItems") and len(_forms(value)) < len(value):
        return False
    return all(_valid(member, schema.get("items", {})) for member in value)


def _forms(values: Iterable[object]) -> set[str]:
    """Return the values as texts that are the same for equal values only, which 1 and true are not."""
    return {json.dumps(value, sort_keys=True) for value in values}
