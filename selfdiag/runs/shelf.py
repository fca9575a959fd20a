"""The user's runs: found by name, remembered, deleted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from selfdiag.runs.store import MANIFEST, read_manifest, replace_file
from selfdiag.safety import SelfdiagError, one_line
from selfdiag.settings import data_dir, expanded, runs_dir

LATEST = "latest-run"


def run_folders() -> list[Path]:
    """Return the folders of the user's runs, oldest first."""
    home = runs_dir()
    if not home.is_dir():
        return []
    return sorted((path for path in home.iterdir() if (path / MANIFEST).is_file()), key=lambda p: p.name)


def find_run(name: str) -> Path:
    """Return the folder of a run named by id, unique prefix, ``latest`` or path.

    Raises:
        SelfdiagError: when none or several match.
    """
    if not name.strip():  # an unset variable of a script must not mean the folder that one is in
        raise SelfdiagError("a run has a name: write an id, its beginning or its end, 'latest', or a path")
    folders = run_folders()
    shown = one_line(name, 80)
    if name == "latest":
        return _latest(folders)
    exact = [folder for folder in folders if folder.name == name]
    matches = exact or [
        folder for folder in folders if folder.name.startswith(name) or folder.name.endswith(f"-{name}")
    ]
    if len(matches) == 1:
        return matches[0]
    path = expanded(name)
    if (path / MANIFEST).is_file():
        return path
    if len(matches) > 1:
        listed = ", ".join(one_line(folder.name, 40) for folder in matches[:4]) + (", …" if len(matches) > 4 else "")
        raise SelfdiagError(f"{shown!r} names {len(matches)} runs ({listed}): write more of the id")
    if path.exists():
        read_manifest(path)  # says why it is no run
    raise SelfdiagError(f"no run {shown!r}: 'selfdiag runs list' shows the runs")


def remember_latest(folder: Path) -> None:
    """Note which run was worked on last, wherever its folder is; ``latest`` then means it."""
    try:
        data_dir().mkdir(parents=True, exist_ok=True)
        replace_file(data_dir() / LATEST, os.fsencode(folder.resolve()))
    except (OSError, ValueError):
        pass  # a convenience: without the note, 'latest' is the newest run of the user's folder


def _latest(folders: list[Path]) -> Path:
    try:
        noted = Path(os.fsdecode((data_dir() / LATEST).read_bytes()))
        if (noted / MANIFEST).is_file():
            return noted
    except (OSError, ValueError):
        pass  # no note, or one that cannot be read: fall back to the newest
    if not folders:
        raise SelfdiagError("there is no run yet: make one with 'selfdiag run MODEL'")
    return folders[-1]


def remove_run(folder: Path) -> None:
    """Delete a run folder.

    Raises:
        SelfdiagError: when it is no run, is being written, or cannot be deleted.
    """
    with _ours_alone(folder):
        try:
            shutil.rmtree(folder.resolve())  # a folder cannot be deleted by the name '.'
        except OSError as error:
            raise SelfdiagError(f"{one_line(str(folder))} cannot be deleted ({error.strerror})") from None


def check_removable(folder: Path) -> None:
    """Check that a run folder could be deleted now.

    Raises:
        SelfdiagError: when it is no run, or is being written.
    """
    with _ours_alone(folder):
        pass


@contextmanager
def _ours_alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a run that may be deleted."""
    read_manifest(folder)
    if folder.is_symlink():
        raise SelfdiagError(f"{one_line(str(folder))} is a link: delete the link or what it points to yourself")
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SelfdiagError(f"another process is writing to {one_line(str(folder))}") from None
    except OSError:
        pass  # a folder that cannot be locked cannot be deleted either, which deleting says
    try:
        yield
    finally:
        lock.release()
