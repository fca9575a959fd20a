"""Where selfdiag keeps its files, and the defaults a person can change."""

from __future__ import annotations

import os
from pathlib import Path


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
    """Return the folder for configuration and keys; ``SELFDIAG_HOME`` moves it."""
    home = os.environ.get("SELFDIAG_HOME")
    return expanded(home) / "config" if home else _folder("config")


def cache_dir() -> Path:
    """Return the folder for downloaded models; ``SELFDIAG_CACHE`` moves it."""
    cache = os.environ.get("SELFDIAG_CACHE")
    return expanded(cache) if cache else _folder("cache")


def runs_dir() -> Path:
    """Return the folder that holds one folder per run."""
    return data_dir() / "runs"


def paths() -> dict[str, Path]:
    """Return every place selfdiag reads or writes, by name."""
    return {"data": data_dir(), "runs": runs_dir(), "config": config_dir(), "cache": cache_dir()}


def api_key(provider: str) -> str | None:
    """Return the key for a provider's own service, from ``<PROVIDER>_API_KEY``, or None."""
    return os.environ.get(f"{provider.upper()}_API_KEY", "").strip() or None


def server_key(provider: str) -> str | None:
    """Return the key for a server named by ``--base-url``, from ``SELFDIAG_<PROVIDER>_API_KEY``, or None."""
    return os.environ.get(f"SELFDIAG_{provider.upper()}_API_KEY", "").strip() or None
