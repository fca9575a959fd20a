"""``selfdiag compare``: runs set against the first of them, item by item."""

from __future__ import annotations

from pathlib import Path

import click

from selfdiag.cli.output import deliver, json_option

HELP = """Compare runs with the first one, paired by item: differences with intervals, and what changed.

RUN is an id, a unique part of it, 'latest', or a path. The first RUN is the baseline. Only items that are in both runs,
with the same question and key, are compared; a difference is claimed when it is left after Holm's correction over the
headline measures (accuracy, Brier score, gap, AUROC, discrimination, trap rate, Youden index).

\b
Examples:
  selfdiag compare RUN RUN
  selfdiag compare RUN latest --format md -o comparison.md
  selfdiag compare RUN RUN RUN --json
"""


@click.command(help=HELP)
@click.argument("names", nargs=-1, required=True, metavar="RUN RUN...")
@click.option("--format", "form", type=click.Choice(["text", "md", "json"]), help="Default text.")
@json_option
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="Write to a file.")
@click.pass_context
def compare(ctx: click.Context, names: tuple[str, ...], form: str | None, as_json: bool, output: Path | None) -> None:
    """Compare runs; the help text is ``HELP``."""
    if len(names) < 2:
        raise click.UsageError("name two runs or more: the first is the baseline", ctx)
    if as_json and form not in {None, "json"}:
        raise click.UsageError(f"--json and --format {form} contradict each other: give one of them", ctx)

    from selfdiag.protocols.compare import compare as compared
    from selfdiag.report.comparison import comparison_lines, comparison_markdown
    from selfdiag.runs.shelf import find_run
    from selfdiag.runs.store import read_run

    found = compared([read_run(find_run(name)) for name in names])
    wanted = "json" if as_json else form or "text"
    deliver(
        found,
        lambda: comparison_markdown(found) if wanted == "md" else "\n".join(comparison_lines(found)),
        as_json=wanted == "json",
        output=output,
    )
