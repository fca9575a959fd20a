"""What the app remembers between two starts, and what a person has set for it in the config file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from selfdiag.safety import SelfdiagError, one_line
from selfdiag.settings import config_path, data_dir, read_config

FILE = "app.json"


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """The last choices on the home screen, and the theme."""

    model: str = ""
    base_url: str = ""
    battery: str = "quick"
    sections: tuple[str, ...] = ("probes", "traps")
    theme: str = "dark"


class Preferences(msgspec.Struct, frozen=True, kw_only=True):
    """The table ``[app]`` of the config file: ``theme``, ``ascii`` characters alone, and ``keys`` by action id.

    Where ``ascii`` is not set, the terminal decides.
    """

    theme: str = ""
    ascii: bool | None = None
    keys: dict[str, str] = {}


def _file() -> Path:
    return data_dir() / FILE


def remembered() -> Choices:
    """Return the last choices; the usual ones when there are none, or they cannot be read."""
    try:
        return msgspec.json.decode(_file().read_bytes(), type=Choices)
    except (OSError, ValueError, msgspec.DecodeError):
        return Choices()


def remember(choices: Choices) -> None:
    """Keep choices for the next start; where they cannot be kept, nothing is lost but that."""
    from selfdiag.runs.store import replace_file

    try:
        data_dir().mkdir(parents=True, exist_ok=True)
        replace_file(_file(), json.dumps(msgspec.to_builtins(choices), indent=2).encode())
    except (OSError, ValueError):
        return


def preferences() -> Preferences:
    """Return what a person has set for the app.

    Raises:
        SelfdiagError: when the config file is damaged, or a setting is none.
    """
    table: Any = read_config().get("app", {})
    try:
        return msgspec.convert(table, Preferences)
    except msgspec.ValidationError as error:
        raise SelfdiagError(f"{one_line(str(config_path()))}: [app]: {one_line(str(error), 120)}") from None
