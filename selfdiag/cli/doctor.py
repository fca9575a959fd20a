"""``selfdiag doctor``: what works on this machine, and what to mend."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import click

from selfdiag.cli.exit_codes import ExitCode
from selfdiag.cli.output import colour_wanted, is_terminal, json_option
from selfdiag.safety import SelfdiagError, one_line

OLLAMA_SECONDS = 2.0
LOW_BYTES = 100_000_000
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


# no msgspec here: this command must work, and say so, when a package is missing
@dataclass(frozen=True, slots=True)
class Finding:
    """What one check has found, and what to do about it; a fault means that selfdiag cannot be used."""

    state: Literal["ok", "warning", "fault"]
    what: str
    said: str
    advice: str = ""


@click.command(
    help="""Check this machine and say what to mend: packages, folders, models, keys, surroundings.

It connects to nothing but this machine and the Ollama server that OLLAMA_HOST names. The exit code is 2 when a fault
makes selfdiag unusable.
"""
)
@json_option
def doctor(as_json: bool) -> int:
    """Check this machine."""
    found = list(findings())
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in found], indent=2))
    else:
        for finding in found:
            click.echo("\n".join(_lines(finding)))
    return ExitCode.USAGE if any(finding.state == "fault" for finding in found) else ExitCode.OK


def findings() -> Iterator[Finding]:
    """Yield what each check finds, in the order in which things depend on each other."""
    yield _python()
    packages = list(_packages())
    yield from packages
    if any(finding.state == "fault" for finding in packages):
        return  # the other checks are made with these packages
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        _terminal,
        _folders,
        _embedded,
        _ollama,
        _keys,
        _network,
        _clock,
    )
    for check in checks:
        try:
            yield from check()
        except Exception as error:  # noqa: BLE001 - one check that fails must not hide the others
            reason = one_line(str(error)) or type(error).__name__
            yield Finding("warning", check.__name__.strip("_"), f"cannot be checked ({reason})")


def _python() -> Finding:
    import platform

    from selfdiag import __version__

    machine = f"{platform.system()} {platform.machine()}".strip()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return Finding("ok", "selfdiag", f"{__version__} on {python}, {machine}")


def _packages() -> Iterator[Finding]:
    from importlib import metadata

    try:
        wanted = metadata.requires("selfdiag") or []
    except metadata.PackageNotFoundError:
        yield Finding(
            "fault",
            "packages",
            "selfdiag runs without being installed, so no provider is found",
            "install it: python -m pip install .",
        )
        return
    fine = []
    for line in wanted:
        need = re.match(r"([\w.-]+)\s*(?:>=\s*([\d.]+))?", line)
        if need is None or ";" in line:  # an extra, or for another machine
            continue
        name, least = need[1], need[2] or "0"
        advice = f'python -m pip install "{name}>={least}"'
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield Finding("fault", "packages", f"{name} is missing", advice)
            continue
        if _release(version) < _release(least):
            yield Finding("warning", "packages", f"{name} {version} is older than {least}", advice)
        else:
            fine.append(f"{name} {version}")
    yield Finding("ok", "packages", ", ".join(fine))


def _release(version: str) -> tuple[int, ...]:
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in numbers[0].split(".")) if numbers else ()


def _terminal() -> Iterator[Finding]:
    import codecs

    encoding = codecs.lookup(sys.stdout.encoding).name
    if is_terminal(sys.stdout):
        columns, lines = shutil.get_terminal_size()
        colour = "colour" if colour_wanted(plain=False) else "no colour"
        said = f"{columns} columns, {lines} lines, {colour}, {encoding}"
    else:
        columns, lines = 80, 24
        said = f"standard output goes elsewhere, {encoding}"
    if encoding != "utf-8":
        yield Finding("warning", "terminal", said, "signs such as ✓ need UTF-8: set PYTHONUTF8=1, or LANG to C.UTF-8")
    elif columns < 80 or lines < 24:
        yield Finding("warning", "terminal", said, "tables need 80 columns and 24 lines: make the window larger")
    else:
        yield Finding("ok", "terminal", said)


def _folders() -> Iterator[Finding]:
    from selfdiag.settings import paths

    for name, folder in paths().items():
        said, fault = _folder(folder)
        variable = "SELFDIAG_CACHE" if name == "cache" else "SELFDIAG_HOME"
        if fault:
            lost = {"config": "no key can be kept", "cache": "no model can be fetched"}.get(name)
            yield Finding(
                "warning" if lost else "fault",
                name,
                f"{said}: {fault}, so {lost or 'no run can be kept'}",
                f"make it a folder that you can write, or set {variable} to one",
            )
        else:
            yield _with_room(name, said, folder, variable)


def _folder(folder: Path) -> tuple[str, str]:
    """Return a folder's path in words, and why it cannot be written, if so."""
    import tempfile

    said = one_line(str(folder))
    try:
        there = _nearest(folder)
        # asking for permission is not enough: a file system may be read-only or full
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        return said, (error.strerror or type(error).__name__).lower()
    return (said if there == folder else f"{said} (made when needed)"), ""


def _nearest(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that is there."""
    return next(place for place in (folder, *folder.parents, Path()) if place.exists())


def _with_room(name: str, said: str, folder: Path, variable: str) -> Finding:
    free = shutil.disk_usage(_nearest(folder)).free
    said = f"{said}, {free / 1e9:,.1f} GB free"
    if free < LOW_BYTES:
        return Finding("warning", name, said, f"make room, or set {variable} to a folder on another disk")
    return Finding("ok", name, said)


def _embedded() -> Iterator[Finding]:
    from importlib import metadata

    from selfdiag.models import weights
    from selfdiag.models.llamacpp import INSTALL

    try:
        yield Finding("ok", "engine", f"xllamacpp {metadata.version('xllamacpp')}")
    except metadata.PackageNotFoundError:
        yield Finding("warning", "engine", "xllamacpp is missing: embedded and gguf cannot be asked", INSTALL)
    here, cached = weights.ready(), weights.cached()
    if here is not None:
        yield Finding("ok", "embedded", f"{one_line(str(here))}, {weights.SIZE:,} bytes, SHA-256 as it should be")
    elif cached.exists():
        yield Finding(
            "warning",
            "embedded",
            f"{one_line(str(cached))} is damaged: {cached.stat().st_size:,} bytes of {weights.SIZE:,}",
            "selfdiag pull embedded",
        )
    else:
        yield Finding("ok", "embedded", "not here (93 MB)", "the first run fetches it, or: selfdiag pull embedded")


def _ollama() -> Iterator[Finding]:
    from selfdiag.models.base import ProviderError
    from selfdiag.models.ollama_address import ollama_address
    from selfdiag.models.ollama_server import OllamaServer, key_for
    from selfdiag.models.registry import run_briefly

    async def version() -> str:
        async with OllamaServer(address.url, key_for(address.url), OLLAMA_SECONDS) as server:
            return await server.version()

    origin = "OLLAMA_HOST" if os.environ.get("OLLAMA_HOST", "").strip() else "the default"
    try:
        address = ollama_address()
    except SelfdiagError as error:
        yield Finding("warning", "ollama", str(error))
        return
    said = f"{one_line(address.url)} ({origin}{'; ' if address.note else ''}{address.note})"
    try:
        told = run_briefly(version(), OLLAMA_SECONDS + 1.0)  # getting ready to ask takes time too
        reason = "" if told else "what answers there is not Ollama"
    except (ProviderError, SelfdiagError, TimeoutError) as error:
        reason = one_line(str(error)) or "no answer in time"
    if reason:
        advice = "'ollama serve' starts one here; OLLAMA_HOST names one elsewhere"
        yield Finding("warning", "ollama", f"{said}: {reason}", advice)
    else:
        yield Finding("ok", "ollama", f"version {told} at {said}")


def _keys() -> Iterator[Finding]:
    from selfdiag.cli.keys import purposes
    from selfdiag.keys import look_up, sources
    from selfdiag.settings import keys_path

    known = purposes()
    path = keys_path()
    try:
        found = sources(path, known)
    except SelfdiagError as error:
        yield Finding("warning", "keys", str(error))
        return
    taken = {source.variable for source in found if source.used}
    for source in found:
        said = f"{one_line(source.variable, 80)} for {known.get(source.variable, 'no provider here')}, {source.origin}"
        if not source.used and source.variable not in taken:
            yield Finding("warning", "keys", f"{said}: cannot be read", "set it again, or selfdiag keys rm NAME")
        elif source.used and not _could_be_sent(look_up(path, source.variable) or ""):
            yield Finding("warning", "keys", f"{said}: holds characters that no key has", "set it again")
        else:
            yield Finding("ok", "keys", said if source.used else f"{said} (not used: another comes first)")
    if not found:
        yield Finding("ok", "keys", "none set", "'selfdiag keys set NAME' keeps one, for services that ask for it")


def _could_be_sent(key: str) -> bool:
    return key.isascii() and key.isprintable()


def _network() -> Iterator[Finding]:
    proxies = [name for name in PROXIES if os.environ.get(name) or os.environ.get(name.lower())]
    named = ", ".join(name for name in CERTIFICATES if os.environ.get(name)) or "the usual ones"
    # what is in a variable is not shown: a proxy's address may hold a password
    if not _can_connect(proxied=False):
        advice = "let them name files that can be read, or unset them"
        yield Finding("warning", "network", f"the certificates cannot be used ({named})", advice)
    elif not _can_connect(proxied=bool(proxies)):
        advice = "correct or unset them; a socks:// proxy needs the package httpx[socks]"
        yield Finding("warning", "network", f"the proxy of {', '.join(proxies)} cannot be used", advice)
    else:
        said = f"{', '.join(proxies)} set: for calls to other machines, never to this one" if proxies else "no proxy"
        yield Finding("ok", "network", f"{said}; certificates: {named}")
    if os.environ.get("SSLKEYLOGFILE"):
        advice = "unset SSLKEYLOGFILE, unless you are looking for a fault in a connection"
        yield Finding("warning", "network", "SSLKEYLOGFILE lets whoever reads that file read keys and replies", advice)


def _can_connect(*, proxied: bool) -> bool:
    """Return whether what a call to another machine needs can be made; nobody is called."""
    import asyncio

    from selfdiag.models.http import open_client

    try:
        client = open_client("https://selfdiag.invalid", {}, 1.0, proxied=proxied)
    except Exception:  # noqa: BLE001 - a malformed address is refused in several ways
        return False
    asyncio.run(client.aclose())
    return True


def _clock() -> Iterator[Finding]:
    import time
    from datetime import UTC, datetime

    now = time.time()
    said = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d %H:%M UTC")
    if now < Path(__file__).stat().st_mtime - 86_400:
        advice = "set the clock: certificates are refused, and runs are listed in the wrong order"
        yield Finding("warning", "clock", f"{said}, earlier than selfdiag's own files", advice)
    else:
        yield Finding("ok", "clock", said)


def _lines(finding: Finding) -> list[str]:
    width = max(shutil.get_terminal_size((100, 24)).columns, 40)
    head = f"{finding.state:8} {finding.what:9} "
    indent = " " * len(head)
    shown = textwrap.wrap(finding.said, width, initial_indent=head, subsequent_indent=indent)
    if finding.advice:
        shown += textwrap.wrap(f"-> {finding.advice}", width, initial_indent=indent, subsequent_indent=indent + "   ")
    return shown
