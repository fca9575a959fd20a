"""Files that a screen writes into the working folder."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfdiag.tui.app import SelfdiagApp


def stamped(what: str) -> str:
    """Return a name for something saved now, without an ending."""
    return f"selfdiag-{what}-{time.strftime('%Y%m%d-%H%M%S')}"


def save_here(app: SelfdiagApp, files: Mapping[str, bytes]) -> None:
    """Write files into the working folder, each in one step, and tell of it, or of why it cannot be done.

    Args:
        app: tells.
        files: their contents by name.
    """
    from selfdiag.runs.store import replace_file

    shown = "the working folder"
    try:
        folder = Path.cwd()  # which may have been deleted
        shown = str(folder)
        for name, data in files.items():
            replace_file(folder / name, data)
    except OSError as error:
        app.say(f"{shown} cannot be written ({error.strerror})", severity="error")
    else:
        app.say(f"wrote {' and '.join(files)}")
