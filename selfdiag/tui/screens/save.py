"""Asks where to write a file, and writes it in one step."""

from __future__ import annotations

from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from selfdiag.safety import SelfdiagError, one_line
from selfdiag.settings import expanded
from selfdiag.tui.screens.dialog import Dialog, Hint


class SaveDialog(Dialog[Path]):
    """Asks for the path of a file.

    Args:
        question: what is written, in a few words.
        default: the path that is there to begin with.
        hint: what else is to be known of it.
    """

    def __init__(self, question: str, default: str, hint: str) -> None:
        super().__init__()
        self._question = question
        self._default = default
        self._hint = hint

    def compose(self) -> ComposeResult:
        """Return a line to write the path in."""
        with Vertical():
            yield Static(self._question, classes="question", markup=False)
            yield Static(self._hint, classes="label", markup=False)
            yield Input(self._default, select_on_focus=False)
            yield Static(classes="fault", markup=False)
            yield Hint(("enter", "write"), ("esc", "back"))

    @on(Input.Changed)
    def look(self, event: Input.Changed) -> None:
        """Say that a file is there already: it would be replaced."""
        there = _is_file(event.value.strip())
        self.tell_fault(Content("a file is there already: enter replaces it") if there else None)

    @on(Input.Submitted)
    def submit(self, event: Input.Submitted) -> None:
        """Answer with the path."""
        path = event.value.strip()
        if path:
            self.dismiss(expanded(path))
        else:
            self.tell_fault(Content("write the path of a file"))


def _is_file(text: str) -> bool:
    try:
        return expanded(text).is_file()
    except (OSError, ValueError):
        return False


def write_text(path: Path, text: str) -> str:
    """Write a text as UTF-8, so that a reader finds the old file or the new one; return where it is.

    Raises:
        SelfdiagError: when the place cannot be written, or holds a file of a run.
    """
    from selfdiag.runs.store import check_output, replace_file

    shown = one_line(str(path))
    try:
        check_output(path)
        # half a surrogate pair, as a model may write one, has no bytes of its own
        replace_file(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise SelfdiagError(f"{shown} cannot be written ({error.strerror})") from None
    except ValueError as error:
        raise SelfdiagError(f"{shown} is no path: {one_line(str(error), 80)}") from None
    return one_line(str(path.resolve()), 300)


def in_working_folder(name: str) -> str:
    """Return the path of a file in the working folder, or its name alone where that folder has been deleted."""
    try:
        return str(Path.cwd() / name)
    except OSError:
        return name


def file_name(*parts: str) -> str:
    """Return a name for a file from foreign texts: letters, digits, points and hyphens, and no more than 80 of them."""
    joined = "-".join(parts)
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in joined)
    return kept.lstrip(".")[:80] or "selfdiag"
