"""Results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click

_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """Add ``--json`` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")(command)


def plain_option(command: F) -> F:
    """Add ``--plain`` to a command."""
    return click.option("--plain", is_flag=True, help="Linear text: no frames, no cursor movement, no colour.")(command)


def output_option(command: F) -> F:
    """Add ``--output`` to a command; it is None for standard output, which ``-`` means too."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        callback=_file,
        metavar="PATH",
        help="Write to a file; - is standard output.",
    )(command)


def _file(_ctx: click.Context, _param: click.Parameter, value: Path | None) -> Path | None:
    # by the other name too: where output goes into a file, that file would be replaced, and not written on
    if value is None or value in {Path("-"), Path("/dev/stdout")}:
        return None
    from selfdiag.runs.store import check_output

    check_output(value)
    return value


def chosen_form(form: str, *, as_json: bool) -> str:
    """Return the form that ``--format``, usually ``text``, and ``--json`` ask for together.

    Raises:
        SelfdiagError: when they ask for two.
    """
    from selfdiag.safety import SelfdiagError

    if as_json and form not in {"text", "json"}:
        raise SelfdiagError(f"--json and --format {form} contradict each other: give one of them")
    return "json" if as_json else form


def print_json(document: Any) -> None:
    """Print a document of Structs, lists and dicts as indented JSON."""
    show_document(_json(document))


def show(text: str) -> None:
    """Print a result and a line feed; a reader that has gone, as in '| head', keeps nothing else from being done."""
    _echo(text)


def show_document(text: str) -> None:
    """Print what a program may read, and a line feed: as UTF-8, whatever the code page, unless it is for a screen."""
    _echo(text if sys.stdout.isatty() else text.encode("utf-8", "replace"))


def _echo(text: str | bytes) -> None:
    try:
        click.echo(text)
    except BrokenPipeError:
        point_at_nothing(sys.stdout)


def point_at_nothing(stream: Any) -> None:
    """Let what is still buffered for a stream go nowhere, so that Python's shutdown does not stumble over it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say(message: str) -> None:
    """Print one line for the person to standard error; a reader that has gone is no fault of the run."""
    with suppress(OSError):
        click.echo(message, err=True)


def write_file(path: Path, text: str) -> None:
    """Write a text as UTF-8 in one step, and say so.

    Raises:
        SelfdiagError: when the place cannot be written.
    """
    from selfdiag.runs.store import replace_file
    from selfdiag.safety import SelfdiagError, one_line

    try:
        replace_file(path, text.encode("utf-8"))
    except OSError as error:
        raise SelfdiagError(f"{one_line(str(path))} cannot be written ({error.strerror})") from None
    say(f"wrote {one_line(str(path))}")


def deliver(document: Any, text: Callable[[], str], *, form: str, output: Path | None) -> None:
    """Print a result in a form, or write it to a file and print nothing.

    Args:
        document: the result, as Structs, lists and dicts.
        text: makes the text, with or without a last line feed; it is not called for JSON.
        form: ``json``, ``text`` for a person at a terminal, or another one; a file's name does not decide it.
        output: the file, None for standard output.

    Raises:
        SelfdiagError: when the file cannot be written.
    """
    body = (_json(document) if form == "json" else text()).removesuffix("\n")
    if output is not None:
        write_file(output, f"{body}\n")
    elif form == "text":
        show(body)
    else:
        show_document(body)


def _json(document: Any) -> str:
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    # JSON leaves these as they are, and a terminal would obey them
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal that can move its cursor."""
    return stream is not None and bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def table(rows: Sequence[tuple[str, ...]], *, gap: int = 2) -> str:
    """Return rows as text in columns, aligned by the width in cells."""
    from rich.cells import cell_len

    if not rows:
        return ""
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        lines.append((" " * gap).join(cells).rstrip())
    return "\n".join(lines)


def colour_wanted(*, plain: bool) -> bool:
    """Return whether standard output takes colour."""
    return not plain and "NO_COLOR" not in os.environ and is_terminal(sys.stdout)
