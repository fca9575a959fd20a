"""``selfdiag path``: where the files are."""

from __future__ import annotations

import click

from selfdiag.cli.output import json_option, print_json, table

PLACES = ("data", "runs", "config", "cache")


@click.command(help="Print the folders that selfdiag uses, or the one named.")
@click.argument("place", required=False, type=click.Choice(PLACES))
@json_option
def path(place: str | None, as_json: bool) -> None:
    """Print folders."""
    from selfdiag.settings import paths

    found = paths()
    if place is not None:
        click.echo(str(found[place]))
    elif as_json:
        print_json({name: str(folder) for name, folder in found.items()})
    else:
        click.echo(table([(name, str(folder)) for name, folder in found.items()]))
