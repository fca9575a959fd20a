"""Keys for models: from the environment, a private file, or the system keyring, under one name everywhere."""

from __future__ import annotations

import importlib
import os
import re
import secrets
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Literal

import msgspec

from selfdiag.safety import SelfdiagError, one_line, remember_secret

SERVICE = "selfdiag"
"""The name under which the system keyring files selfdiag's keys."""
LONGEST = 4096
_NOT_A_KEY = re.compile(r"""[\s"'`]|^[A-Z_]+=""")
INSTALL = 'python -m pip install "selfdiag[keyring]"'
"""Double quotes work in every shell, Windows' too."""

_HEAD = b"""\
# Keys for models, written by 'selfdiag keys'. Nobody but you may read this file.
# NAME = "KEY", or NAME = true when the system keyring holds the key.

"""

Kept = str | bool
"""A value of the file: a key, or true for one that the system keyring holds.

A keyring can't be listed, and asking one may open a dialog: only a key that was put there is looked for there.
"""


class KeySource(msgspec.Struct, frozen=True, kw_only=True):
    """A place that holds a key, never the key itself.

    ``variable`` is the key's name, ``origin`` where it lies in words. ``used`` is false where another place comes
    first, or where the key cannot be read.
    """

    variable: str
    place: Literal["environment", "file", "keyring"]
    origin: str
    used: bool


def look_up(path: Path, variable: str) -> str | None:
    """Return a key, or None: from the environment, else from the file, else from the system keyring.

    Args:
        path: the file of keys.
        variable: the key's name, as an environment variable.

    Raises:
        SelfdiagError: when the file is damaged, or open to others than its owner.
    """
    key = _from_environment(variable)
    if not key:
        kept = _read(path).get(variable, "")
        key = kept.strip() if isinstance(kept, str) else _from_keyring(variable) if kept else ""
    remember_secret(key)
    return key or None


def sources(path: Path, variables: Iterable[str]) -> list[KeySource]:
    """Return the places that hold these keys or any other of the file; for each key, the first one is used.

    Raises:
        SelfdiagError: as ``look_up`` does.
    """
    stored = _read(path)
    found = []
    for variable in dict.fromkeys([*variables, *stored]):
        used = bool(_from_environment(variable))
        if used:
            found.append(KeySource(variable=variable, place="environment", origin="environment", used=True))
        kept = stored.get(variable)
        if isinstance(kept, str):
            readable = not used and bool(kept.strip())
            found.append(KeySource(variable=variable, place="file", origin=one_line(str(path)), used=readable))
        elif kept:
            readable = not used and bool(_from_keyring(variable))
            found.append(KeySource(variable=variable, place="keyring", origin="system keyring", used=readable))
    return found


def store(path: Path, variable: str, key: str, *, keyring: bool = False) -> None:
    """Keep a key in place of an earlier one.

    Args:
        path: the file of keys; it is made when it is not there, for its owner alone.
        variable: the key's name.
        key: the key; blanks and line ends around it are dropped.
        keyring: whether the system keyring holds it instead; the file then says so.

    Raises:
        SelfdiagError: when the key is empty, too long, or holds characters that no key has; when its place cannot be
            written; when an earlier key could not be taken out of the keyring. No message holds the key.
    """
    key = key.strip()
    remember_secret(key)
    if not key:
        raise SelfdiagError("no key was given: nothing is changed")
    if len(key) > LONGEST:
        raise SelfdiagError(f"that is longer than {LONGEST:,} characters, which no key is: nothing is changed")
    if not (key.isascii() and key.isprintable()):
        raise SelfdiagError(
            "that holds characters that no key has (control characters, or any outside ASCII): nothing is changed"
        )
    if _NOT_A_KEY.search(key):
        raise SelfdiagError(
            "give the key alone, without quotes, blanks, 'export', 'Bearer' or a name before it: nothing is changed"
        )
    if keyring:
        _read(path)  # a file that is refused is told before anything is kept
        _into_keyring(variable, key)
    before = _change(path, variable, True if keyring else key)
    if before is True and not keyring:
        _out_of_keyring(variable)


def remove(path: Path, variable: str) -> bool:
    """Remove a key from the file and the system keyring; return whether it was there.

    Raises:
        SelfdiagError: when the file cannot be read or written, or the key not be taken out of the keyring.
    """
    before = _change(path, variable, None)
    if before is True:
        _out_of_keyring(variable)
    return before is not None


def _from_environment(variable: str) -> str:
    return os.environ.get(variable, "").strip()


def _read(path: Path) -> dict[str, Kept]:
    shown = one_line(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe or a device would be read without end
            raise SelfdiagError(f"{shown} is not a regular file")
        if os.name == "posix" and status.st_mode & 0o077:
            command = one_line(f"chmod 600 {shlex.quote(str(path))}", 400)
            raise SelfdiagError(f"{shown} is open to others than you, so its keys are not used: run {command}")
        return msgspec.toml.decode(path.read_bytes(), type=dict[str, Kept])
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SelfdiagError(f"{shown} cannot be read ({error.strerror})") from None
    except msgspec.ValidationError:
        # its message could hold a key that stands in the wrong place
        reason = 'a line must be NAME = "KEY"'
    except RecursionError:
        reason = "too deeply nested"
    except msgspec.DecodeError as error:
        reason = one_line(str(error), 120)  # names the fault, line and column
    raise SelfdiagError(f"{shown} is damaged ({reason}): correct it, or delete it and set the keys again")


def _change(path: Path, variable: str, kept: Kept | None) -> Kept | None:
    """Put an entry into the file, or take it out; return the one that was there before."""
    from filelock import FileLock, Timeout

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock"), timeout=10):  # two at once must not lose a key
            stored = _read(path)
            before = stored.pop(variable, None)
            if kept is not None:
                stored[variable] = kept
            if kept != before:
                _replace_private(path, _HEAD + msgspec.toml.encode(stored, order="sorted"))
            return before
    except Timeout:
        raise SelfdiagError(f"another process keeps {one_line(str(path))} locked: try again") from None
    except OSError as error:
        raise SelfdiagError(f"{one_line(str(path))} cannot be written ({error.strerror})") from None


def _replace_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, in one step; a link is followed."""
    target = path.resolve()
    part = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # private before its first byte
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)  # noqa: PTH105 - replaces in one step on every platform
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _from_keyring(variable: str) -> str:
    try:
        found = _keyring().get_password(SERVICE, variable)
    except Exception:  # noqa: BLE001 - a keyring that is absent, locked or broken holds no key for us
        return ""
    return found.strip() if isinstance(found, str) else ""


def _into_keyring(variable: str, key: str) -> None:
    try:
        keyring = _keyring()
    except ImportError:
        raise SelfdiagError(f"the keyring package is not installed: run {INSTALL}, or leave --keyring away") from None
    advice = "leave --keyring away to keep the key in a file"
    try:
        keyring.set_password(SERVICE, variable, key)
        held = keyring.get_password(SERVICE, variable)
    except Exception as error:  # noqa: BLE001 - its backends raise what they like
        raise SelfdiagError(f"the system keyring cannot be used ({_reason(error)}): {advice}") from None
    if held != key:  # there are backends that drop everything without a word
        raise SelfdiagError(f"the system keyring does not keep what it is given: {advice}")


def _out_of_keyring(variable: str) -> None:
    try:
        keyring = _keyring()
        if keyring.get_password(SERVICE, variable) is not None:
            keyring.delete_password(SERVICE, variable)
    except Exception as error:  # noqa: BLE001 - as above
        raise SelfdiagError(
            f"the file of keys is changed, but the system keyring cannot be opened ({_reason(error)}): "
            f"it may still hold the earlier key, as {variable} of {SERVICE}"
        ) from None


def _reason(error: Exception) -> str:
    return one_line(str(error), 120) or type(error).__name__


def _keyring() -> ModuleType:
    return importlib.import_module("keyring")  # not always installed, so no import statement that type checks
