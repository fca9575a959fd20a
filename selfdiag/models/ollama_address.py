"""Where an Ollama server is, in every spelling that people give its address."""

from __future__ import annotations

import ipaddress
import os
import re
from urllib.parse import urlsplit

import msgspec

from selfdiag.safety import SelfdiagError, one_line

_PORTS = {"": 11434, "http": 80, "https": 443}
"""The port that counts when none is written, by the scheme as it is written."""
_API_PATH = re.compile(r"/(?:v1|api)(?:/(?:chat(?:/completions)?|completions|generate|tags|models))?$")
_NOT_IN_A_HOST = frozenset("\"'<>\\^`{|}*,;")


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
        SelfdiagError: when it cannot be an address, or holds a name and password.
    """
    bare = text.strip().strip("\"'").strip()
    scheme, separator, rest = bare.partition("://")
    if not separator:
        scheme, rest = "", f":{bare}" if bare.isdecimal() else bare
    rest = f"[{rest}]" if _is_ipv6(rest) else rest
    if "@" in rest:
        raise SelfdiagError(f"{origin} must hold no name or password: put a key into SELFDIAG_OLLAMA_API_KEY")
    try:
        parts = urlsplit(f"{scheme or 'http'}://{rest}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _unreadable(text, origin) from None
    sound = parts.scheme in {"http", "https"} and port != 0 and not parts.query and not parts.fragment
    sound = sound and (bool(host or port is not None) or not bare)
    sound = sound and bare.isprintable() and not any(char.isspace() for char in bare)
    if not sound or not _NOT_IN_A_HOST.isdisjoint(host):
        raise _unreadable(text, origin)
    notes = []
    reachable = _reachable(host or "127.0.0.1")
    if host and reachable != host:
        notes.append(f"{host} is where a server listens, so {reachable} is asked")
    path = parts.path.rstrip("/")
    if found := _API_PATH.search(path):
        notes.append(f"{found.group()} of the address was left away: the native API is asked")
        path = path[: found.start()]
    shown = f"[{reachable}]" if ":" in reachable else reachable
    port = port or _PORTS[scheme and parts.scheme]
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


def _unreadable(text: str, origin: str) -> SelfdiagError:
    return SelfdiagError(
        f"{origin} {one_line(text, 80)!r} is not an address such as 127.0.0.1:11434 or https://example.org"
    )
