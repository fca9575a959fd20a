"""Where selfdiag keeps its files, and under which names it looks for keys."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any


def _folder(kind: str) -> Path:
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("selfdiag", appauthor=False)
    return Path(getattr(dirs, f"user_{kind}_dir"))


def expanded(text: str) -> Path:
    """Return a path with ``~`` replaced where that can be done, else as it is written."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def data_dir() -> Path:
    """Return the folder for runs; ``SELFDIAG_HOME`` moves it."""
    home = os.environ.get("SELFDIAG_HOME")
    return expanded(home) if home else _folder("data")


def config_dir() -> Path:
    """Return the folder for keys; ``SELFDIAG_HOME`` moves it."""
    home = os.environ.get("SELFDIAG_HOME")
    return expanded(home) / "config" if home else _folder("config")


def cache_dir() -> Path:
    """Return the folder for downloaded models; ``SELFDIAG_CACHE`` moves it."""
    cache = os.environ.get("SELFDIAG_CACHE")
    return expanded(cache) if cache else _folder("cache")


def runs_dir() -> Path:
    """Return the folder that holds one folder per run."""
    return data_dir() / "runs"


def keys_path() -> Path:
    """Return the path of the file of keys, whether it is there or not."""
    return config_dir() / "keys.toml"


def paths() -> dict[str, Path]:
    """Return every place selfdiag reads or writes, by name."""
    return {"data": data_dir(), "runs": runs_dir(), "config": config_dir(), "cache": cache_dir()}


def key_variable(provider: str, *, server: bool = False) -> str:
    """Return the name of a provider's key, in the environment and wherever else keys are kept.

    ``server`` asks for the name of the key for servers named by ``--base-url``.
    """
    name = re.sub(r"[^A-Z0-9]", "_", provider.upper()) + "_API_KEY"
    return f"SELFDIAG_{name}" if server else name


def api_key(provider: str) -> str | None:
    """Return the key for a provider's own service, or None.

    It is ``<PROVIDER>_API_KEY`` in the environment, in the file of keys or in the system keyring, in this order.

    Raises:
        SelfdiagError: when the file of keys is damaged, or open to others than its owner.
    """
    from selfdiag.keys import look_up

    return look_up(keys_path(), key_variable(provider))


def server_key(provider: str) -> str | None:
    """Return the key for a server named by ``--base-url``, or None.

    It is ``SELFDIAG_<PROVIDER>_API_KEY`` in the same places, so that a service's own key never goes elsewhere.
    Errors are those of ``api_key``.
    """
    from selfdiag.keys import look_up

    return look_up(keys_path(), key_variable(provider, server=True))


def config_path() -> Path:
    """Return the path of the file a person may write settings in, whether it is there or not."""
    return config_dir() / "config.toml"


def read_config() -> dict[str, Any]:
    """Return what stands in the config file, nothing when there is none.

    Raises:
        SelfdiagError: when the file cannot be read or is no TOML.
    """
    import tomllib

    from selfdiag.safety import SelfdiagError, one_line

    path = config_path()
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SelfdiagError(f"{one_line(str(path))} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise SelfdiagError(f"{one_line(str(path))} is no TOML: {one_line(str(error), 120)}") from None
