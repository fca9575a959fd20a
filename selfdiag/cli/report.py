"""``selfdiag report``: what a run came out with."""

from __future__ import annotations

from pathlib import Path

import click

from selfdiag.cli.output import deliver, json_option, plain_option

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
@json_option
@plain_option
def report(run: str, form: str, full_intervals: bool, output: Path | None, as_json: bool, plain: bool) -> None:
    """Show or write a report; the help text is ``HELP``."""
    from selfdiag.report.results import result_of
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_run
    from selfdiag.safety import SelfdiagError

    if as_json and form == "md":
        raise SelfdiagError("--json and --format md are two forms: give one of them")
    result = result_of(read_run(find_run(run)), full_intervals=full_intervals)
    deliver(
        result.document,
        lambda: result.markdown() if form == "md" else "\n".join(result.lines(plain)) + "\n",
        as_json=as_json or form == "json",
        output=output,
    )
