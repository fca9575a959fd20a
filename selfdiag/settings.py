"""Where selfdiag keeps its files, and the defaults a person can change."""

from __future__ import annotations

import os
from pathlib import Path


def _folder(kind: str) -> Path:
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("selfdiag", appauthor=False)
    return Path(getattr(dirs, f"user_{kind}_dir"))


def data_dir() -> Path:
    """Return the folder for runs; ``SELFDIAG_HOME`` moves it."""
    home = os.environ.get("SELFDIAG_HOME")
    return Path(home).expanduser() if home else _folder("data")


def config_dir() -> Path:
    """Return the folder for configuration and keys; ``SELFDIAG_HOME`` moves it."""
    home = os.environ.get("SELFDIAG_HOME")
    return Path(home).expanduser() / "config" if home else _folder("config")


def cache_dir() -> Path:
    """Return the folder for downloaded models; ``SELFDIAG_CACHE`` moves it."""
    cache = os.environ.get("SELFDIAG_CACHE")
    return Path(cache).expanduser() if cache else _folder("cache")


def runs_dir() -> Path:
    """Return the folder that holds one folder per run."""
    return data_dir() / "runs"


def paths() -> dict[str, Path]:
    """Return every place selfdiag reads or writes, by name."""
    return {"data": data_dir(), "runs": runs_dir(), "config": config_dir(), "cache": cache_dir()}


def api_key(provider: str) -> str | None:
    """Return the key for a provider from its usual environment variable, or None.

    ``SELFDIAG_<PROVIDER>_API_KEY`` comes first, then ``<PROVIDER>_API_KEY``.
    """
    name = provider.upper().replace("-", "_")
    for variable in (f"SELFDIAG_{name}_API_KEY", f"{name}_API_KEY"):
        value = os.environ.get(variable, "").strip()
        if value:
            return value
    return None
