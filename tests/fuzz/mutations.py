"""Valid files made invalid, or odd: by bytes, by lines, and where they are JSON by values."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

MOST = 4
"""Changes to one file at once; most inputs get one, so that the rest of the file is reached."""
PIECES = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80", b"\x1b[2J", b"\r", b"\n", b"\r\n\r\n"),
    *(
        "\u2028\u202e\u200b".encode(),
        b"\\ud800",
        b"\\u0000",
        b'"',
        b"'",
        b"'''",
        b'"""',
        b"\\",
        b",",
        b";",
        b"\t",
        b"|",
    ),
    *(b"{", b"}", b"[", b"]", b"[[", b"]]", b"=", b"#", b":", b"null", b"true", b"NaN", b"Infinity", b"-0", b"1e999"),
    *(b"9" * 400, b"9" * 5_000, b"0x10", b"1_0", b"[" * 3_000, b'{"a":' * 3_000, b"[" * 100_000, b"x" * 100_000),
    *(b"2026-01-31T12:00:00Z", b"0001-01-01T00:00:00+23:59", b"{{7*7}}", b"%s%n", b"=cmd|' /C calc'!A0", b"../../x"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 50, 100, 101, 1e-300, 1e300, -1e300, 0.5, 2**31, 2**63, 2**64, -(2**63), 10**400),
    *(
        float("nan"),
        float("inf"),
        float("-inf"),
        "",
        " ",
        "0",
        "85",
        "50%",
        "true",
        "none",
        "x" * 70_000,
        "\x00",
        "\ud800",
    ),
    *("\n", "\x1b[2J", "\u202e", "日本語", "selfdiag.run/9", "correct", "answered", "probes", "traps", "trial"),
    *("2026-01-31T12:00:00Z", "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00Z", "2026-01-31", "T"),
    *([], {}, [None], [[]], {"": None}, ["a", 1], {"a": {"b": {}}}, [0] * 2_000, {"x": "y" * 2_000}),
)
"""What is put in the place of a value, whatever it was."""

Change = Callable[[bytes, Random], bytes]


def mutated(data: bytes, random: Random) -> bytes:
    """Return a file after one to ``MOST`` changes."""
    for _ in range(1 if random.random() < 0.6 else random.randint(2, MOST)):
        change = random.choices([change for change, _ in CHANGES], [weight for _, weight in CHANGES])[0]
        data = change(data, random)
    return data


def _place(data: bytes, random: Random) -> int:
    return random.randint(0, len(data))


def _flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randint(1, 6)):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(data: bytes, random: Random) -> bytes:
    return data[: _place(data, random)]


def _without(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    return data[:start] + data[start + random.choice((1, 3, 20, 400)) :]


def _again(data: bytes, random: Random) -> bytes:
    start, length = _place(data, random), random.choice((1, 20, 400))
    return data[: start + length] + data[start:]


def _inserted(data: bytes, random: Random) -> bytes:
    start = random.choice((0, _place(data, random), _place(data, random), len(data)))
    return data[:start] + random.choice(PIECES) + data[start:]


def _replaced(data: bytes, random: Random) -> bytes:
    start = _place(data, random)
    return data[:start] + random.choice(PIECES) + data[start + random.choice((1, 3, 20)) :]


def _lines(data: bytes, random: Random) -> bytes:
    """Return the file with lines dropped, swapped, repeated, garbled or mixed up."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.randrange(6)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 2:
        lines.insert(other, lines[one])
    elif kind == 3:
        lines[one] = lines[one][::-1]
    elif kind == 4:
        half = len(lines[one]) // 2
        lines[one] = lines[one][:half] + lines[other][half:]
    else:
        random.shuffle(lines)
    return b"".join(lines)


def _value(data: bytes, random: Random) -> bytes:
    """Return the file with a value of another kind, where it is JSON or JSON lines; else with another word."""
    try:
        return _in_document(data, random)
    except (ValueError, RecursionError):
        pass
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    place = random.randrange(len(lines))
    try:
        lines[place] = _in_document(lines[place], random) + b"\n"
    except (ValueError, RecursionError):
        return _word(data, random)
    return b"".join(lines)


def _in_document(data: bytes, random: Random) -> bytes:
    document = json.loads(data)
    nodes: list[tuple[Any, Any]] = []
    if isinstance(document, dict | list):
        _collect(document, nodes)
    if not nodes:
        raise ValueError("nothing to change")
    holder, key = random.choice(nodes)
    kind = random.random()
    if kind < 0.15:
        del holder[key]
    elif kind < 0.25 and isinstance(holder, dict):
        holder[random.choice((f"{key} ", "x", "", "schema", "\ud800"))] = holder.pop(key)
    elif kind < 0.35:
        other_holder, other_key = random.choice(nodes)
        if key in _keys(holder) and other_key in _keys(other_holder):
            holder[key], other_holder[other_key] = other_holder[other_key], holder[key]
    elif kind < 0.4 and isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder[key] = random.choice(VALUES)
    return json.dumps(document).encode()


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _collect(found: Any, nodes: list[tuple[Any, Any]]) -> None:
    for key in list(_keys(found)):
        nodes.append((found, key))
        if isinstance(found[key], dict | list):
            _collect(found[key], nodes)


def _word(data: bytes, random: Random) -> bytes:
    """Return the file with what stands between two separators replaced."""
    separators = [index for index, byte in enumerate(data) if byte in b',;\n="|']
    if len(separators) < 2:
        return data
    place = random.randrange(len(separators) - 1)
    value = random.choice(VALUES)
    text = value if isinstance(value, str) and random.random() < 0.5 else json.dumps(value)
    start, end = separators[place] + 1, separators[place + 1]
    return data[:start] + text.encode("utf-8", "surrogatepass") + data[end:]


CHANGES: tuple[tuple[Change, int], ...] = (
    (_value, 40),
    (_word, 10),
    (_lines, 12),
    (_inserted, 12),
    (_replaced, 8),
    (_flip, 8),
    (_without, 4),
    (_again, 3),
    (_cut, 3),
)
