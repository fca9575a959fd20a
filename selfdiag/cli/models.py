"""``selfdiag models``: what can be asked from here."""

from __future__ import annotations

import click

from selfdiag.cli.output import json_option, print_json, table


@click.command(help="List the models that can be asked, provider by provider.")
@json_option
def models(as_json: bool) -> None:
    """List models."""
    from selfdiag.models.registry import listings

    found = listings()
    if as_json:
        print_json(found)
        return
    click.echo(table([(entry.model, "ready" if entry.ready else "-", entry.remark) for entry in found]))
