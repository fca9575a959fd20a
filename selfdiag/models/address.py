"""Addresses of servers: reading what a person writes, and telling this machine from others."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from selfdiag.safety import SelfdiagError, one_line
from selfdiag.settings import key_variable

_CALL = re.compile(r"/(?:(?:chat/)?completions|messages|responses)$")
_MODELS = re.compile(r"/models(?:/[^/]*)?$")
_VERSION = re.compile(r"/v\d[a-z\d]*$")
_NOT_IN_A_HOST = frozenset("\"'<>\\^`{|}*,;")


def base_url(text: str, provider: str, *, version: str, below_paths: bool) -> str:
    """Return the address up to its version for any common spelling of it.

    With the version ``v1``, ``host:8000``, ``http://host:8000``, ``http://host:8000/v1/`` and
    ``http://host:8000/v1/models`` name the same place.

    Args:
        text: as a person writes it after ``--base-url``, with or without scheme, version and the path of a call.
        provider: whose server it is.
        version: the version to ask for when the address names none.
        below_paths: whether that version also comes after a path of the address's own.

    Raises:
        SelfdiagError: when it is not an http address, or holds a name, a password or a query.
    """
    url = text.strip()
    url = (url if "://" in url else f"http://{url}").rstrip("/")
    example = f"http://127.0.0.1:8080/{version}"
    path = http_parts(url, text, provider, origin="--base-url", example=example).path
    url = _CALL.sub("", url)
    models = _MODELS.search(url)
    # without a version before it, it may be where a service's chat completions are
    if models and (below_paths or _VERSION.search(url[: models.start()])):
        url = url[: models.start()]
    return url if _VERSION.search(url) or (path and not below_paths) else f"{url}/{version}"


def http_parts(url: str, text: str, provider: str, *, origin: str, example: str) -> SplitResult:
    """Return the parts of an address that a server can be asked at; its port can be read.

    Args:
        url: the address, with its scheme.
        text: what was written, for the message.
        provider: whose server it is.
        origin: where it was written, for the message.
        example: an address as it could be, for the message.

    Raises:
        SelfdiagError: when it is not an http address, or holds a name, a password or a query.
    """
    # written in percents, it is a name and a password all the same
    if "@" in url or "%40" in url.partition("://")[2].partition("/")[0]:
        variable = key_variable(provider, server=True)
        raise SelfdiagError(f"{origin} must hold no name or password: put the key into {variable}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    sound = bool(host) and _NOT_IN_A_HOST.isdisjoint(host) and port != 0 and parts.scheme in {"http", "https"}
    sound = sound and url.isprintable() and not any(char.isspace() for char in url)
    if not sound or "?" in url or "#" in url:
        # what follows a question mark may be a key
        shown = one_line(re.sub(r"[?#].*", "…", text, flags=re.DOTALL), 80)
        raise SelfdiagError(f"{origin} {shown!r} is not an http address such as {example}")
    return parts


def is_loopback(url: str) -> bool:
    """Return whether an address names this very machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def unencrypted(url: str) -> str:
    """Return in words that others can read what goes to this address; empty where they cannot."""
    return "" if is_loopback(url) or urlsplit(url).scheme == "https" else "unencrypted"


def proxy_applies(url: str) -> bool:
    """Return whether the environment sends calls to this address through a proxy; never to this machine."""
    if is_loopback(url):
        return False
    parts = urlsplit(url)
    found = getproxies()
    return bool(found.get(parts.scheme) or found.get("all")) and not proxy_bypass(parts.hostname or "")
