"""``selfdiag compare``: runs set against the first of them, item by item."""

from __future__ import annotations

from pathlib import Path

import click

from selfdiag.cli.output import chosen_form, deliver, json_option, output_option

HELP = """Compare runs with the first one, paired by item: differences with intervals, and what changed.

RUN is an id, its beginning or end, 'latest', or a path; the log of an audit that Inspect AI or lm-evaluation-harness
asked stands for a run too. The first RUN is the baseline. Only items that are in both runs, with the same question and
key, are compared; a difference is claimed when it is left after Holm's correction over the headline measures (accuracy,
Brier score, gap, AUROC, discrimination, trap rate, Youden index).

\b
Examples:
  selfdiag compare RUN RUN
  selfdiag compare RUN latest --format html -o comparison.html
  selfdiag compare RUN RUN RUN --json
"""


@click.command(help=HELP)
@click.argument("names", nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--format", "form", type=click.Choice(["text", "md", "html", "json"]), default="text", help="Default text."
)
@json_option
@output_option
@click.pass_context
def compare(ctx: click.Context, names: tuple[str, ...], form: str, as_json: bool, output: Path | None) -> None:
    """Compare runs; the help text is ``HELP``."""
    if len(names) < 2:
        raise click.UsageError("name two runs or more: the first is the baseline", ctx)
    wanted = chosen_form(form, as_json=as_json)

    from selfdiag.protocols.compare import compare as compared
    from selfdiag.report.comparison import comparison_lines, comparison_markdown
    from selfdiag.runs.audit_log import named_run

    there = [named_run(name) for name in names]
    found = compared(there)

    def text() -> str:
        if wanted == "html":
            from selfdiag.report.comparison_html import comparison_html

            return comparison_html(found, there)
        return comparison_markdown(found) if wanted == "md" else "\n".join(comparison_lines(found))

    deliver(found, text, form=wanted, output=output)
