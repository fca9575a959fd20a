"""JSON as other tools write it: whole documents up to a bound, and NaN where a number is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

import msgspec

from selfdiag.models.json_values import with_whole_characters
from selfdiag.safety import SelfdiagError, one_line

MAX_DOCUMENT = 500_000_000
"""Bytes of one JSON document; it is held in memory as a whole."""

Shape = TypeVar("Shape")


def decode(text: bytes, shape: type[Shape]) -> Shape:
    """Return a JSON text as a shape; Python's ``NaN`` and ``Infinity`` are understood.

    Half a surrogate pair, which a model may write and which is no character, becomes U+FFFD.

    Raises:
        ValueError: when it is no JSON, or of another shape.
    """
    text = text.removeprefix(b"\xef\xbb\xbf")
    try:
        return msgspec.json.decode(text, type=shape)
    except (msgspec.DecodeError, RecursionError):
        text = with_whole_characters(text)
    try:
        return msgspec.json.decode(text, type=shape)
    except (msgspec.DecodeError, RecursionError) as error:
        if b"NaN" not in text and b"Infinity" not in text:
            raise ValueError(str(error)) from None
    # JSON knows no NaN, and only Python's reader takes it
    try:
        return msgspec.convert(json.loads(text), shape)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from None


def read_document(path: Path, shape: type[Shape]) -> Shape:
    """Return a file that is one JSON document as a shape.

    Raises:
        ValueError: when it is no JSON, or of another shape.
        SelfdiagError: when it cannot be read, or is longer than ``MAX_DOCUMENT``.
    """
    shown = one_line(str(path), 120)
    try:
        size = path.stat().st_size
        if size > MAX_DOCUMENT:
            raise SelfdiagError(
                f"{shown} is one JSON document of {size / 1e6:.0f} MB, and {MAX_DOCUMENT / 1e6:.0f} MB is the most "
                "that is read as a whole: have the tool write its other format (Inspect AI .eval, promptfoo .jsonl)"
            )
        return decode(path.read_bytes(), shape)
    except OSError as error:
        raise SelfdiagError(f"{shown} cannot be read ({error.strerror})") from None
