"""``selfdiag report``: what a run came out with."""

from __future__ import annotations

from pathlib import Path

import click

from selfdiag.cli.output import print_json, write_file

HELP = """Show or write the report of RUN (an id, a unique part of it, 'latest', or a path).

\b
Examples:
  selfdiag report latest
  selfdiag report latest --format md -o report.md
  selfdiag report latest --format json
"""


@click.command(help=HELP)
@click.argument("run", default="latest")
@click.option("--format", "form", type=click.Choice(["text", "md", "json"]), default="text", help="Default text.")
@click.option("--full-intervals", is_flag=True, help="Intervals for the fitted measures too (takes seconds).")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="Write to a file.")
def report(run: str, form: str, full_intervals: bool, output: Path | None) -> None:
    """Show or write a report; the help text is ``HELP``."""
    import msgspec

    from selfdiag.report.results import result_of
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_run

    result = result_of(read_run(find_run(run)), full_intervals=full_intervals)
    if form == "json" and output is None:
        print_json(result.document)
        return
    if form == "json":
        text = msgspec.json.format(msgspec.json.encode(result.document), indent=2).decode() + "\n"
    elif form == "md":
        text = result.markdown()
    else:
        text = "\n".join(result.lines(False)) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    write_file(output, text)
