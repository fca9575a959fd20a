"""``selfdiag models``: what can be asked from here."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from selfdiag.cli.output import json_option, print_json

if TYPE_CHECKING:
    from selfdiag.models.base import Listing

NARROWEST_NOTE = 24
"""A note with less room than this, in cells, goes on lines of its own."""
COLUMNS = ("model", "ready", "size", "quantisation", "context", "where")


@click.command(help="List the models that can be asked, provider by provider; each is asked what it has.")
@click.option("--provider", default="", metavar="NAME", help="Only this provider.")
@json_option
def models(provider: str, as_json: bool) -> None:
    """List models."""
    from selfdiag.models.registry import discovered

    found = discovered(provider)
    if as_json:
        print_json(found)
        return
    # a pipe has no width, and nothing must be cut for it
    click.echo("\n".join(lines(found, shutil.get_terminal_size((10_000, 24)).columns)))


def lines(found: list[Listing], width: int) -> list[str]:
    """Return a table with a heading, fitted to a width in cells: a blank line parts the providers.

    A column that holds nothing is left out. Model strings are shown whole, because they are there to be copied; what
    finds no room beside them goes on lines below.
    """
    from rich.cells import cell_len

    rows = [_row(listing) for listing in found]
    shown = [column for column in range(len(COLUMNS)) if column < 2 or any(row[column] for row in rows)]
    cells = [[row[column] for column in shown] for row in [COLUMNS, *rows]]
    notes = ["notes", *(_note(listing) for listing in found)]
    others = [max(cell_len(row[column]) for row in cells) for column in range(1, len(shown))]
    # one long name must not push everything else out of the window
    room = max(min(width // 2, width - sum(others) - 2 * len(others)), len(COLUMNS[0]))
    first = max(cell_len(row[0]) for row in cells if cell_len(row[0]) <= room)
    widths = [first, *others]
    before = sum(widths) + 2 * len(widths)
    beside = width - before >= NARROWEST_NOTE
    out: list[str] = []
    provider = ""
    for row, note, listing in zip(cells, notes, [None, *found], strict=True):
        if listing is not None and (named := listing.model.partition(":")[0]) != provider:
            out += [""] if provider else []
            provider = named
        if cell_len(row[0]) > first:
            out += _wrapped(row[0], width)
            row = ["", *row[1:]]  # noqa: PLW2901 - its name stands above
        line = "  ".join(text + " " * (size - cell_len(text)) for text, size in zip(row, widths, strict=True))
        if beside:
            start, *rest = _wrapped(note, width - before) or [""]
            out += [f"{line}  {start}".rstrip(), *(" " * before + text for text in rest)]
        else:
            out.append(line.rstrip())
            out += [f"    {text}" for text in _wrapped(note, max(width - 4, 1))] if listing is not None else []
    return out


def _row(listing: Listing) -> tuple[str, ...]:
    from selfdiag.safety import one_line

    details = (one_line(listing.details.get(column, ""), 24) for column in COLUMNS[2:5])
    where = "remote" if listing.remote else "local"
    return (one_line(listing.model, 300), "ready" if listing.ready else "-", *details, where if listing.ready else "")


def _note(listing: Listing) -> str:
    """Return what a model can do, and the remark."""
    words = (listing.details.get("capabilities", ""), listing.remark)
    return " · ".join(word for word in words if word)


def _wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines that are no wider than so many cells."""
    from rich.console import Console
    from rich.text import Text

    console = Console(width=width, no_color=True, markup=False)
    return [line.plain.rstrip() for line in Text(text).wrap(console, width)]
