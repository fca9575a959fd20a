"""Where an Ollama server is, in every spelling that people give its address."""

from __future__ import annotations

import ipaddress
import os
import re

import msgspec

from selfdiag.models.address import http_parts

PORT = 11434
"""Where an Ollama server listens unless it is told otherwise."""
_PORTS = {"": PORT, "http": 80, "https": 443}
"""The port that counts when none is written, by the scheme as it is written."""
_API_PATH = re.compile(r"/(?:v1|api)(?:/(?:chat(?:/completions)?|completions|generate|tags|models))?$")


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """The address that is asked, and in plain words how it differs from what was written."""

    url: str
    note: str = ""


def ollama_address(base_url: str = "") -> Address:
    """Return the address of ``--base-url``, else of the variable ``OLLAMA_HOST``, else Ollama's own default.

    Raises:
        SelfdiagError: when it cannot be an address.
    """
    if base_url.strip():
        return read_address(base_url, "--base-url")
    return read_address(os.environ.get("OLLAMA_HOST", ""), "OLLAMA_HOST")


def read_address(text: str, origin: str) -> Address:
    """Return the address that a text stands for, as Ollama's own programs read it where that makes sense.

    A port alone (``11434``, ``:11434``) and an empty text mean this machine. Without a scheme the port is 11434,
    with one it is that scheme's own. An address that only a server can listen at becomes loopback, and a path of
    the API is left away; the note tells of both.

    Args:
        text: the address as somebody wrote it.
        origin: where it was written, for the message.

    Raises:
        SelfdiagError: when it cannot be an address, or holds a name, a password or a query.
    """
    bare = text.strip().strip("\"'").strip()
    scheme, separator, rest = bare.partition("://")
    if not separator:
        scheme, rest = "", f":{bare}" if bare.isdecimal() else bare
    rest = f"[{rest}]" if _is_ipv6(rest) else rest
    if not bare or re.match(r":\d", rest):
        rest = f"127.0.0.1{rest}"
    example = "127.0.0.1:11434 or https://example.org"
    parts = http_parts(f"{scheme or 'http'}://{rest}", text, "ollama", origin=origin, example=example)
    host = parts.hostname or ""
    notes = []
    reachable = _reachable(host)
    if reachable != host:
        notes.append(f"{host} is where a server listens, so {reachable} is asked")
    path = parts.path.rstrip("/")
    if found := _API_PATH.search(path):
        notes.append(f"{found.group()} of the address was left away: the native API is asked")
        path = path[: found.start()]
    shown = f"[{reachable}]" if ":" in reachable else reachable
    port = parts.port or _PORTS[scheme and parts.scheme]
    return Address(url=f"{parts.scheme}://{shown}:{port}{path}", note="; ".join(notes))


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).version == 6
    except ValueError:
        return False


def _reachable(host: str) -> str:
    """Return the loopback address in place of one that means every interface of a server."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if not address.is_unspecified:
        return host
    return "127.0.0.1" if address.version == 4 else "::1"
